# Habits from NumPy and Python: several axes, a function of the module math at run time, an ellipsis.
# RUN: not %tilec %s -k sums -s "*fp32, *fp32, i32" 2>&1 | FileCheck %s --check-prefix=SUMS
# RUN: not %tilec %s -k exponential -s "*fp32, *fp32, i32" 2>&1 | FileCheck %s --check-prefix=EXP
# RUN: not %tilec %s -k rest -s "*fp32, *fp32, i32" 2>&1 | FileCheck %s --check-prefix=REST --implicit-check-not=error:
import math

import triton
import triton.language as tl


@triton.jit
def sums(x, out, n):
    i = tl.arange(0, 16)
    # SUMS: other_habits.py:[[#@LINE+2]]:19: error: `axis` of `reduce` must be a constant integer, not a tuple of 2
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
