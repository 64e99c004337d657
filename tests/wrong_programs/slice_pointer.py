# a slice of a pointer
# tilec slice_pointer.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    i = tl.program_id(0)
    v = x[i * B:(i + 1) * B]
    tl.store(y + tl.arange(0, B), v)
