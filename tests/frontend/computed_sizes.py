# Steps, sizes and divisors that are 0 or no power of two because of constants: what they were computed from.
# RUN: not %tilec %s -n k -s *fp32,i32,128 --emit=tile -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl

UNIT: tl.constexpr = 256


@triton.jit
def unused(size):
    return tl.arange(0, size)


@triton.jit
def k(x, n, B: tl.constexpr):
    STEP: tl.constexpr = B // 256
    # CHECK: [[#@LINE+2]]:14: error: the step of a range must not be 0
    # CHECK: {{^}}note: B // UNIT is 0 for B = 128, UNIT = 256
    for i in range(0, n, B // UNIT):
        tl.store(x + i, 0.0)
    # CHECK: error: the step of a range must not be 0
    # CHECK: [[#@LINE-6]]:5: note: `STEP` is 0 here
    # CHECK: STEP: tl.constexpr = B // 256
    for i in range(0, n, step=STEP):
        tl.store(x + i, 0.0)
    # CHECK: error: the step of a range must not be 0
    # CHECK: {{^}}note: B // 256 is 0 for B = 128
    for i in tl.static_range(0, 4, B // 256):
        tl.store(x + i, 0.0)
    # CHECK: error: arange(0, 0) is empty
    # CHECK: {{^}}note: B // 256 is 0 for B = 128
    tl.arange(0, B // 256)
    # CHECK: error: arange of 384 elements: the length must be a power of two
    # CHECK: {{^}}note: 3 * B is 384 for B = 128
    tl.arange(0, 3 * B)
    # CHECK: error: dimension 1 of a tensor is 0, it must be positive
    # CHECK: {{^}}note: B // 256 is 0 for B = 128
    # CHECK: {{^}}note: a tensor has at least one element
    tl.zeros((B, B // 256), tl.float32)
    # CHECK: error: dimension 0 of a tensor is 127, not a power of two
    # CHECK: {{^}}note: B - 1 is 127 for B = 128
    tl.zeros([B - 1], tl.float32)
    # CHECK: error: integer division by zero
    # CHECK: {{^}}note: B // 256 is 0 for B = 128
    n // (B // 256)
    # What a literal or a caller gives was not computed there.
    # CHECK: error: dimension 0 of a tensor is 3, not a power of two
    # CHECK-NEXT: tl.zeros
    # CHECK-NEXT: ^
    # CHECK-NEXT: {{^}}note: use 4
    tl.zeros((3,), tl.float32)
    # CHECK: error: arange(0, 0) is empty
    # CHECK-NOT: is 0 here
    # CHECK: {{^}}note: arange(0, N) counts
    unused(0)
