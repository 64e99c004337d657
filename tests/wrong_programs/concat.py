# tl.concat of a tuple along an axis
# tilec concat.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    o = tl.arange(0, B)
    v = tl.load(x + o, mask=o < n)
    w = tl.concat((v, v), axis=0)
    tl.store(y + tl.arange(0, 2 * B), w)
