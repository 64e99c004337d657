# arange with one argument
# tilec arange_one.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    o = tl.arange(B)
    tl.store(y + o, tl.load(x + o))
