# a block unpacked into two names
# tilec unpack_tensor.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    a, b = tl.load(x + tl.arange(0, 2))
    tl.store(y, a + b)
