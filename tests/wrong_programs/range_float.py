# range up to a float
# tilec range_float.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    s = 0.0
    for i in range(0, n / 2):
        s += tl.load(x + i)
    tl.store(y, s)
