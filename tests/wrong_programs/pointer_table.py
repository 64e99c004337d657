# a pointer loaded as an integer
# tilec pointer_table.py -n k -s "*i64, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    o = tl.arange(0, B)
    p = tl.load(x)
    v = tl.load(p + o)
    tl.store(y + o, v)
