# a mask of floats
# tilec float_mask.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    o = tl.arange(0, B)
    v = tl.load(x + o, mask=(o < n) * 1.0)
    tl.store(y + o, v)
