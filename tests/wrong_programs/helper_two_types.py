# a helper that returns a number or a block
# tilec helper_two_types.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def pick(v, n):
    if n > 0:
        return v
    return 0.0


@triton.jit
def k(x, y, n, B: tl.constexpr):
    o = tl.arange(0, B)
    v = tl.load(x + o, mask=o < n)
    tl.store(y + o, pick(v, n))
