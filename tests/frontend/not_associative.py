# -Wnot-associative: of functions for which f(f(a, b), c) differs from f(a, f(b, c)); those that compute the same are not
# reported, whatever they return.
# RUN: %tilec %s -n wrong -s "*fp32, 64" --emit=tile -o /dev/null 2>&1 | FileCheck %s
# RUN: %tilec %s -n right -s "*fp32, *i32, 64" --emit=tile -o /dev/null 2>&1 | count 0
# RUN: %tilec %s -n wrong -s "*fp32, 64" -Wno-not-associative --emit=tile -o /dev/null 2>&1 | count 0
import triton
import triton.language as tl


@triton.jit
def minus(a, b):
    return a - b


@triton.jit
def decay(a, b):
    return a * 0.5 + b


@triton.jit
def pair_minus(a, i, b, j):
    return a - b, i + j


@triton.jit
def wrong(x, B: tl.constexpr):
    o = tl.arange(0, B)
    v = tl.load(x + o)
    # CHECK: not_associative.py:[[#@LINE+5]]:9: warning: the result depends on the order in which `minus` combines the elements, which is not from left to right [-Wnot-associative]
    # CHECK-NEXT: a = tl.reduce(v, 0, minus)
    # CHECK-NEXT: ^~~~
    # CHECK-NEXT: {{^}}note: minus(minus(1, 1), 3) is -3, and minus(1, minus(1, 3)) is 3: both must be equal
    # CHECK-NEXT: {{^}}note: reduce by what does not depend on it, such as a + b, and do the rest before or after
    a = tl.reduce(v, 0, minus)
    # CHECK: not_associative.py:[[#@LINE+3]]:9: warning: the result depends on the order in which `decay` combines
    # CHECK: {{^}}note: decay(decay({{.*}}: both must be equal
    # CHECK-NEXT: {{^}}note: a recurrence s = g * s + x is a scan of pairs (g, x) by a function that returns g1 * g2, x1 * g2 + x2
    s = tl.associative_scan(v, 0, decay)
    # CHECK: not_associative.py:[[#@LINE+3]]:12: warning: the result depends on the order in which `pair_minus` combines
    # CHECK-NOT: both must be equal
    # CHECK: {{^}}note: reduce by
    b, _ = tl.reduce((v, v), 0, pair_minus)
    tl.store(x + o, s + a + b)


@triton.jit
def mul(a, b):
    return a * b


@triton.jit
def logaddexp(a, b):
    m = tl.maximum(a, b)
    return m + tl.log(tl.exp(a - m) + tl.exp(b - m))


@triton.jit
def first(a, b):
    return tl.where(a != 0, a, b)


@triton.jit
def recurrence(g, x, h, y):
    return g * h, x * h + y


@triton.jit
def online_softmax(m, s, n, t):
    most = tl.maximum(m, n)
    return most, s * tl.exp(m - most) + t * tl.exp(n - most)


@triton.jit
def welford(mean, m2, w, mean_b, m2_b, w_b):
    delta = mean_b - mean
    total = w + w_b
    share = tl.where(total == 0.0, 0.0, w_b / total)
    return mean + delta * share, m2 + m2_b + delta * delta * w * share, total


@triton.jit
def segmented(v, f, w, g):
    return tl.where(g != 0, w, v + w), f | g


@triton.jit
def largest(v, i, w, j):
    takes = (v > w) | ((v == w) & (i < j))
    return tl.where(takes, v, w), tl.where(takes, i, j)


@triton.jit
def hypot(a, b):
    return tl.sqrt(a * a + b * b)


@triton.jit
def capped(a, b):
    return tl.minimum(a + b, 100)


# A function that does more than arithmetic is not judged.
@triton.jit
def keeps(a, b):
    if a == -1:
        return a
    return b


@triton.jit
def right(x, i, B: tl.constexpr):
    o = tl.arange(0, B)
    v = tl.load(x + o)
    n = tl.load(i + o)
    r = tl.reduce(v, 0, mul) + tl.reduce(v, 0, logaddexp) + tl.reduce(v, 0, first) + tl.reduce(v, 0, hypot)
    _, s = tl.associative_scan((v, v), 0, recurrence)
    _, t = tl.reduce((v, v), 0, online_softmax)
    mean, m2, w = tl.reduce((v, v, v), 0, welford)
    u, _ = tl.associative_scan((v, n), 0, segmented)
    most, at = tl.reduce((v, n), 0, largest)
    c = tl.associative_scan(n, 0, capped) + tl.associative_scan(n, 0, keeps)
    tl.store(x + o, r + s + t + mean + m2 + w + u + most + at + c + tl.sum(v) + tl.max(v))
