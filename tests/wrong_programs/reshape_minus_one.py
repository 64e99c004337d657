# reshape to -1
# tilec reshape_minus_one.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    r = tl.arange(0, 16)
    a = tl.load(x + r[:, None] * 16 + r[None, :])
    tl.store(y + tl.arange(0, 256), tl.reshape(a, (-1,)))
