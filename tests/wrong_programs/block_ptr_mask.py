# a mask for a block pointer
# tilec block_ptr_mask.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    o = tl.arange(0, B)
    p = tl.make_block_ptr(x, (n,), (1,), (0,), (B,), (0,))
    v = tl.load(p, mask=o < n)
    tl.store(y + o, v)
