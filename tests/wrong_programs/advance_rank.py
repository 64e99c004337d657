# advance by one offset for two axes: https://github.com/triton-lang/triton/issues/2001
# tilec advance_rank.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    p = tl.make_block_ptr(x, (n, n), (n, 1), (0, 0), (16, 16), (1, 0))
    p = tl.advance(p, (16,))
    r = tl.arange(0, 16)
    tl.store(y + r[:, None] * n + r[None, :], tl.load(p))
