# dot of a matrix and a column: https://github.com/triton-lang/triton/issues/2266
# tilec matvec.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    r = tl.arange(0, 16)
    a = tl.load(x + r[:, None] * 16 + r[None, :])
    b = tl.load(x + r)
    c = tl.dot(a, b[:, None])
    tl.store(y + r[:, None], c, mask=r[:, None])
