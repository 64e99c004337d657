# Shapes of different ranks: the index that added an axis, and whether it can be left out.
# RUN: not %tilec %s -n loop -s *fp16,*fp32,i32 --emit=tile -o - 2>&1 | FileCheck %s
# RUN: not %tilec %s -n operands -s *fp16,*fp32,i32 --emit=tile -o - 2>&1 | FileCheck %s --check-prefix=OPERANDS
import triton
import triton.language as tl


@triton.jit
def loop(x, s, n):
    r = tl.arange(0, 32)
    acc = tl.zeros((32, 32), tl.float32)
    row = tl.zeros((32,), tl.float32)
    for i in range(n):
        a = tl.load(x + i + r[:, None] * 32 + r[None, :])
        scale = tl.load(s + r[:, None])
        # CHECK: error: `acc` changes its type in the loop: fp32[32, 32] before, fp32[32, 32, 32] after an iteration
        # CHECK: [[#@LINE+3]]:31: note: an axis is added here: shape [32, 1] becomes [32, 1, 1]
        # CHECK: acc += tl.dot(a, a) * scale[:, None]
        # CHECK: {{^}}note: leave out [:, None]: the shape [32, 1] fits
        acc += tl.dot(a, a) * scale[:, None]
        # CHECK: error: `row` changes its type in the loop: fp32[32] before, fp32[32, 32] after an iteration
        # CHECK: note: an axis is added here: shape [32] becomes [32, 1]
        # CHECK: {{^}}note: leave out [:, None]: the shape [32] fits
        row += tl.sum(a, 0)[:, None]
    tl.store(s + r, row)
    tl.store(s + r[:, None] * 32 + r[None, :], acc)


@triton.jit
def operands(x, s, n):
    r = tl.arange(0, 32)
    c = tl.arange(0, 16)
    m = tl.load(s + r[:, None] * 16 + c[None, :])
    v = tl.load(s + r[:, None])
    # OPERANDS: error: cannot broadcast shape [32, 32, 16] to [32, 16]: its rank is higher
    # OPERANDS: note: an axis is added here: shape [32, 1] becomes [32, 1, 1]
    # OPERANDS: {{^}}note: leave out [:, None]: the shape [32, 1] fits
    tl.store(s + r[:, None] * 16 + c[None, :], m * v[:, None])
    # Two indices make a matrix of two vectors: neither is too much.
    # OPERANDS: error: cannot broadcast shape [16, 32] to [16]: its rank is higher
    # OPERANDS-NOT: leave out
    # OPERANDS: {{^}}note: reduce this one
    tl.store(s + c, c[:, None] + r[None, :])
    # OPERANDS: error: shapes [16, 1, 32] and [32, 16], which counts as [1, 32, 16], do not broadcast
    # OPERANDS: note: an axis is added here: shape [16, 32] becomes [16, 1, 32]
    # OPERANDS-NOT: leave out
    # OPERANDS: {{^}}note: index with [:, None] or [None, :]
    tl.trans(m)[:, None, :] + m
    # OPERANDS: error: cannot broadcast shape [16, 1] to [16]: its rank is higher
    # OPERANDS: note: an axis is added here: shape [16] becomes [16, 1]
    # OPERANDS: {{^}}note: leave that axis out: the shape [16] fits
    tl.store(s + c, tl.expand_dims(c, 1) + 1)
