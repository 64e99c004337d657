# a memory order that does not exist
# tilec sem_relax.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    o = tl.arange(0, B)
    v = tl.load(x + o, mask=o < n)
    tl.atomic_add(y + o, v, mask=o < n, sem='seq_cst')
