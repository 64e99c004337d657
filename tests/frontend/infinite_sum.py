# Sums and products of what a load gives whose elements outside the mask are infinite.
# RUN: %tilec %s -n sums -s "*fp32, *fp32, i32, 64" -o - 2>&1 >/dev/null | FileCheck %s --check-prefix=SUMS --implicit-check-not=warning:
# RUN: %tilec %s -n right -s "*fp32, *fp32, i32, 64" -o - 2>&1 >/dev/null | count 0
import triton
import triton.language as tl


@triton.jit
def sums(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    # SUMS: infinite_sum.py:[[#@LINE+2]]:9: warning: the elements that the mask of this load leaves out count as -inf in the sum [-Winfinite-sum]
    # SUMS: {{^}}note: give them a value that changes nothing: other=0.0, or tl.where(mask, x, 0.0) before it{{$}}
    v = tl.load(x + i, mask=i < n, other=float("-inf"))
    # SUMS: infinite_sum.py:[[#@LINE+2]]:9: warning: the elements that the mask of this load leaves out count as inf in the product
    # SUMS: {{^}}note: give them a value that changes nothing: other=1.0, or tl.where(mask, x, 1.0) before it{{$}}
    w = tl.load(x + i, mask=i < n, other=float("inf"))
    tl.store(y, tl.sum(v))
    tl.store(y + i, tl.cumprod(w))


@triton.jit
def right(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=float("-inf"))
    e = tl.exp(v - tl.max(v))
    tl.store(y + i, e / tl.sum(e), mask=i < n)
