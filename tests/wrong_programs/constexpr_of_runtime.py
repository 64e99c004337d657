# a constexpr made of a run-time value
# tilec constexpr_of_runtime.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    half: tl.constexpr = n // 2
    o = tl.arange(0, half)
    tl.store(y + o, tl.load(x + o))
