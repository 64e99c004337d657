# broadcast_to a shape that does not fit
# tilec broadcast_shape.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    o = tl.arange(0, B)
    v = tl.load(x + o, mask=o < n)
    w = tl.broadcast_to(v[None, :], (64, 64))
    tl.store(y + tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :], w)
