import triton
import triton.language as tl
@triton.autotune(configs=[triton.Config({}, num_warps=2)], key=[])
@triton.jit
def two(out: "*i32"):
    tl.store(out, 1)


@triton.autotune(configs=[triton.Config({}, num_warps=8)], key=[])
@triton.jit
def eight(out: "*i32"):
    tl.store(out, 1)

@triton.jit
def untyped(out, n, BLOCK: tl.constexpr = 4):
    tl.store(out + tl.arange(0, BLOCK), n)
