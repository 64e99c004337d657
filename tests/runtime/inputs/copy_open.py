# A kernel whose parameters have no types.
import triton
import triton.language as tl


@triton.jit
def copy(x, y):
    tl.store(y, tl.load(x))
