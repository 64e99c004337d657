# int() of a loaded value
# tilec int_of_tensor.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    i = int(tl.load(x))
    tl.store(y + i, 1.0)
