# a histogram of floats
# tilec histogram_floats.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    o = tl.arange(0, B)
    v = tl.load(x + o, mask=o < n)
    h = tl.histogram(v, 16)
    tl.store(y + tl.arange(0, 16), h)
