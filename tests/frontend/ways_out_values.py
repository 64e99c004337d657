# Ways out of mistakes with values: loaded values as pointers, transposes, places of pointers, texts.
# RUN: not %tilec %s -n values -s *fp32,i32 --emit=tile -o - 2>&1 | FileCheck %s
# RUN: cd %S && %status 2 %tilec %s -n pointers --emit=tile -o - | FileCheck %s --check-prefix=ELSEWHERE
import triton
import triton.language as tl
from ways_out import pointers


@triton.jit
def values(p, n):
    o = tl.arange(0, 8)
    v = tl.load(p + o)
    tl.load(v)
    w = tl.full([2, 4, 8], 1.0, tl.float32)
    w.T
    p[tl.abs(o)]
    tl.exp(f"{n}")
    tl.store(p + o, v)
    tl.arange(0, 16 / 2)
    tl.load(p + n / 2 + o)
    tl.load(p + 16 / 2 + o)
    tl.cumsum(v[::-1], axis=0)[::-1]


# CHECK: ways_out_values.py:13:13: error:
# CHECK: note: a pointer is a parameter such as `x: *fp32` plus offsets; what tl.load gave is a value already
# CHECK: ways_out_values.py:15:5: error: `.T` is for tensors of rank 2
# CHECK: note: write tl.permute(x, (0, 2, 1))
# CHECK: ways_out_values.py:16:5: error:
# CHECK: note: write tl.load(p + tl.abs(o), mask)
# CHECK: ways_out_values.py:17:12: error:
# CHECK: note: print it with tl.device_print(f"…")
# CHECK: ways_out_values.py:19:18: error: `end` of `arange` must be a constant integer, not the constant 8.0
# CHECK: note: write // to divide integers: / gives a float
# CHECK: ways_out_values.py:20:13: error: `+` does not combine a scalar *fp32 and a scalar fp32
# CHECK: note: an offset is an integer: write a // b in place of a / b
# CHECK: ways_out_values.py:21:13: error: `+` does not combine a scalar *fp32 and a scalar fp32
# CHECK: note: an offset is an integer, not 8.0: write // to divide integers
# CHECK: ways_out_values.py:22:17: error: a tensor is indexed by `:` and `None` only
# CHECK: note: tl.flip(x, 0) reverses this axis
# CHECK: ways_out_values.py:22:32: error: a tensor is indexed by `:` and `None` only
# ELSEWHERE: note: `pointers` comes from another file: compile that one
