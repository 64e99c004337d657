# With --debug, the negation of the smallest integer is an overflow, as a subtraction from 0 is; of unsigned numbers it
# is meant to wrap.
# RUN: not %tilec run %s --device=interp --debug -k signed --grid 1 --arg 'x=i32[4]=zeros' 2>&1 | FileCheck %s
# RUN: %tilec run %s --device=interp --debug -k unsigned --grid 1 --arg 'x=u32[4]=zeros'
import triton
import triton.language as tl


@triton.jit
def signed(x):
    # CHECK: overflow_of_minus.py:[[#@LINE+1]]:17: error: device_assert failed: i32 overflow in -: widen first, -x.to(tl.int64)
    tl.store(x, -(tl.load(x) - 2147483647 - 1))


@triton.jit
def unsigned(x):
    tl.store(x, -(tl.load(x) + 5))
