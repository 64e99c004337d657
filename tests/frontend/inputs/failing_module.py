import triton
import triton.language as tl

CONFIG = {"depth": 3}
WIDTH = CONFIG["width"]


def size(x):
    return x.nosuch


DEPTH = size(CONFIG["depth"])
GOOD = tl.constexpr(5)
DERIVED = WIDTH + 1
if WIDTH > 3:
    LIMIT = tl.constexpr(4)
else:
    LIMIT = tl.constexpr(5)


@triton.jit
def doubled(x):
    return x * 2


@triton.jit
def widened(a):
    for i in range(4):
        a += i
    tl.store(a, WIDTH)
