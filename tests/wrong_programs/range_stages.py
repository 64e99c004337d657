# num_stages for Python's range
# tilec range_stages.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    o = tl.arange(0, B)
    s = 0.0
    for i in range(0, n, B, num_stages=3):
        s += tl.sum(tl.load(x + i + o))
    tl.store(y, s)
