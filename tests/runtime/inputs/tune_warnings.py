# A kernel with a warning, one of whose configurations is wrong.
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"B": 32}), triton.Config({"B": 48})], key=["n"])
@triton.jit
def copy(x, y, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    unused = 3
    tl.store(y + o, tl.load(x + o, o < n), o < n)
