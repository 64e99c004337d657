# static_range up to a run-time value
# tilec static_range_runtime.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    s = 0.0
    for i in tl.static_range(n):
        s += tl.load(x + i)
    tl.store(y, s)
