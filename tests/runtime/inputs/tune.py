import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"B": b}, num_warps=w) for b, w in ((64, 2), (32, 1), (512, 4), (48, 1), (128, 4))], key=["n"])
@triton.jit
def add(x, y, n, B: tl.constexpr, STEP: tl.constexpr = 1):
    o = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + o, tl.load(x + o, mask=o < n) + STEP, mask=o < n)


@triton.jit
def plain(x):
    tl.store(x, 1.0)
