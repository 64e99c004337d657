# What tf32 products read more of from shared memory than threads store there is rounded when it is stored: once before
# the loop, and what the loop carries once for both warps.
# RUN: %tilec %s -n power -s *fp32:16,*fp32:16 -w2 -o - | FileCheck %s
# RUN: %tilec run %s -k power --device=sim -w2 --check --grid 1 --arg x=fp32[32,32]=randint:1:-2:3 --arg y=fp32[32,32]=zeros --expect "y=x @ (x @ x + 1) + 1"
# 32x32 numbers of two warps: 16 in a thread. Their lower bits stay, because the tensor cores cut them.
# CHECK-COUNT-16: @!p add.u32 %{{r[0-9]+}}, %{{r[0-9]+}}, 4096;
# CHECK: $L__BB0_1:
# CHECK-COUNT-16: @!p add.u32 %{{r[0-9]+}}, %{{r[0-9]+}}, 4096;
# CHECK-NOT: add.u32 %{{r[0-9]+}}, %{{r[0-9]+}}, 4096;
# CHECK-NOT: cvt.rna.tf32.f32
# CHECK: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
# CHECK-NOT: cvt.rna.tf32.f32
import triton
import triton.language as tl


@triton.jit
def power(x, y):
    m = tl.arange(0, 32)
    at = m[:, None] * 32 + m[None, :]
    a = tl.load(x + at)
    b = a
    for _ in range(2):
        b = tl.dot(a, b) + 1.0
    tl.store(y + at, b)
