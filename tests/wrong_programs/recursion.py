# a helper that calls itself
# tilec recursion.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def total(x, n):
    if n == 0:
        return 0.0
    return tl.load(x + n - 1) + total(x, n - 1)


@triton.jit
def k(x, y, n, B: tl.constexpr):
    tl.store(y, total(x, n))
