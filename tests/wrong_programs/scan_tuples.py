# a combine function that takes tuples: https://github.com/triton-lang/triton/issues/2657
# tilec scan_tuples.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def op(left, right):
    a, b = left
    c, d = right
    return a * d + c, b * d


@triton.jit
def k(x, y, n, B: tl.constexpr):
    o = tl.arange(0, B)
    v = tl.load(x + o, mask=o < n)
    s, _ = tl.associative_scan((v, v), 0, op)
    tl.store(y + o, s)
