# and between masks
# tilec and_blocks.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    o = tl.arange(0, B)
    mask = (o > 0) and (o < n)
    tl.store(y + o, tl.load(x + o, mask=mask), mask=mask)
