# RUN: not %tilec %s -n k -s "*i32" --emit=tile -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def k(x):
    a = tl.load(x)
    a.__add__(1, 2)
    # CHECK: [[#@LINE-1]]:5: error: `__add__` takes one operand
    # CHECK: note: write the operator: x + y, x >> y
    a.__nonsense__(1)
    # CHECK: [[#@LINE-1]]:5: error: a scalar i32 has no attribute `__nonsense__`
