# len() of a pointer
# tilec len_of_pointer.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    for i in range(0, len(x), B):
        o = i + tl.arange(0, B)
        tl.store(y + o, tl.load(x + o))
