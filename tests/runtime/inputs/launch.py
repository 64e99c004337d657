import triton
import triton.language as tl
from collections import namedtuple
from elsewhere import elsewhere

Point = namedtuple("Point", ["x", "y"])
Plain = 3


@triton.autotune(configs=[triton.Config({}, num_warps=3)], key=[])
@triton.jit
def warps(out: "*i32"):
    tl.store(out, 1)


@triton.autotune(configs=[triton.Config({}, num_ctas=3)], key=[])
@triton.jit
def ctas(out: "*i32"):
    tl.store(out, 1)


@triton.jit
def plain(out: "*i32"):
    tl.store(out, 1)


@triton.jit
def eight(outputs: "*i32"):
    tl.store(outputs, 1)


@triton.jit
def twice(out: "*i32", t, t_0):
    tl.store(out, t_0 + t[0])


@triton.autotune(configs=[triton.Config({}, num_warps=64)], key=[])
@triton.jit
def wide(out: "*i32"):
    tl.store(out, 1)
