# split of a last axis that is not 2
# tilec split_shape.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    r = tl.arange(0, 16)
    a = tl.load(x + r[:, None] * 16 + r[None, :])
    b, c = tl.split(a)
    tl.store(y + r[:, None], b)
