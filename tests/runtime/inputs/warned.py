# A kernel with three mistakes, of which two are reported by default.
import triton
import triton.language as tl


@triton.jit
def warned(x: "*fp32", N: tl.constexpr = 16):

    unread = 1
    if N is not 3:
        tl.store(x, 2.0)
    if N == None:
        tl.store(x, 3.0)
