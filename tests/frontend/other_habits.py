# Habits from NumPy and Python: several axes, a function of the module math at run time, an ellipsis.
# RUN: not %tilec %s -k sums -s "*fp32, *fp32, i32" 2>&1 | FileCheck %s --check-prefix=SUMS
# RUN: not %tilec %s -k exponential -s "*fp32, *fp32, i32" 2>&1 | FileCheck %s --check-prefix=EXP
# RUN: not %tilec %s -k rest -s "*fp32, *fp32, i32" 2>&1 | FileCheck %s --check-prefix=REST --implicit-check-not=error:
# RUN: not %tilec %s -k pair -s "*fp32, *fp32, i32" 2>&1 | FileCheck %s --check-prefix=PAIR
# RUN: not %tilec %s -k shaped -s "*fp32, *fp32, i32" 2>&1 | FileCheck %s --check-prefix=SHAPED
# RUN: not %tilec %s -k fourth -s "*fp32, *fp32, i32" 2>&1 | FileCheck %s --check-prefix=FOURTH
# RUN: %tilec %s -k renamed -s "*fp32, *fp32, i32" -o - | FileCheck %s --check-prefix=RENAMED
# RUN: %tilec %s -k scoped -s "*fp32, *fp32, i32" -o - | FileCheck %s --check-prefix=SCOPED
# RUN: not %tilec %s -k again -s "tensordesc<fp32[16,16]>, *fp32" 2>&1 | FileCheck %s --check-prefix=AGAIN
import math

try:
    import torch
    import numpy as np
    import triton
    import triton.language as tl
    HAS_TRITON = True
except ImportError:
    HAS_TRITON = False
import triton.profiler.language as pl
from triton.profiler.language import scope


@triton.jit
def sums(x, out, n):
    i = tl.arange(0, 16)
    # SUMS: other_habits.py:[[#@LINE+2]]:19: error: `axis` of `sum` must be a constant integer, not a tuple of 2
    # SUMS: {{^}}note: reduce along one axis after the other, or along all with axis=None
    tl.store(out, tl.sum(tl.load(x + i[:, None] * n + i[None, :]), axis=(0, 1)))


@triton.jit
def exponential(x, out, n):
    # EXP: error: `math.exp` runs at compile time, but this argument is a scalar fp32
    # EXP: {{^}}note: on run-time values write tl.exp(…)
    tl.store(out, math.exp(tl.load(x)))


@triton.jit
def rest(x, out, n):
    i = tl.arange(0, 16)
    # REST: error: a tensor is indexed by `:` and `None` only
    # REST: {{^}}note: in place of ... write a `:` for each axis, as in x[:, None]
    tl.store(out + i, tl.load(x + i[..., None]))


@triton.jit
def pair(x, out, n):
    # PAIR: error: cannot unpack a scalar fp32 into 2 names
    # PAIR: {{^}}note: tl.max and tl.min also give the index with return_indices=True
    value, index = tl.max(tl.load(x + tl.arange(0, 16)), 0)
    # PAIR: error: `^` works on integers, not on fp32 and i32
    # PAIR: {{^}}note: `^` is an exclusive or: a square is x * x, another power libdevice.pow(x, y)
    tl.store(out, tl.load(x) ^ 2)
    # PAIR: error: `cumsum` has no parameter `exclusive`
    # PAIR: {{^}}note: of a sum subtract each element's own part: tl.cumsum(x, 0) - x
    tl.store(out, tl.cumsum(tl.load(x + tl.arange(0, 16)), 0, exclusive=True))


@triton.jit
def shaped(x, out, n):
    # SHAPED: error: static assertion failed: an offset is a tensor of integers, one for each number: not a shape
    tl.store(out, tl.sum(tl.randn(n, (16, 16))))


@triton.jit
def fourth(x, out, n):
    # FOURTH: error: axis of `program_id` must be 0, 1 or 2, not 3
    # FOURTH: {{^}}note: a grid has three axes: put two into one, and take them apart by // and %
    tl.store(out + tl.program_id(3), 1.0)
    # FOURTH: note: write tl.make_block_ptr(x, (16, 16), (16, 1), (0, 0), (16, 16), (1, 0))
    tl.make_block_ptr(x, (16, 16), (16, 1), (0, 0), (16, 16))


# A kernel that a call decorates has the name of the variable, too.
def plain(x, out, n):
    tl.store(out, 1.0)


# RENAMED: .entry plain(
renamed = triton.jit(plain)

# torch and numpy, which a `try` imports, are there, and scopes of the profiler do nothing.
if HAS_TRITON:
    # SCOPED: .entry scoped(
    @triton.jit
    def scoped(x, out, n):
        pl.enter_scope("all")
        with scope("store"):
            tl.store(out, 2.0)
        pl.exit_scope("all")


@triton.jit
def again(x, out):
    # AGAIN: error: `base` of `make_tensor_descriptor` must be a tensor or a number, not a tensor descriptor
    # AGAIN: {{^}}note: it is a descriptor already: load a block by x.load([row, column])
    d = tl.make_tensor_descriptor(x, [16, 16], [16, 1], [16, 16])
    tl.store(out, d.load([0, 0]).sum())
