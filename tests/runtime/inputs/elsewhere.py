import triton
import triton.language as tl


@triton.jit
def elsewhere(out: "*i32"):
    tl.store(out, 1)
