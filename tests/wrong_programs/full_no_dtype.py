# full without a dtype
# tilec full_no_dtype.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    o = tl.arange(0, B)
    acc = tl.full([B], 0)
    tl.store(y + o, acc)
