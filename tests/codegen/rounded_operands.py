# Operands of tf32 products that were bf16 are not rounded, though they go through shared memory to the product's layout.
# RUN: %tilec %s -n widened -s *bf16:16,*fp32:16,*fp32:16 -w2 -o - | FileCheck %s
# RUN: %tilec run %s -k widened --device=sim -w2 --check --grid 1 --arg x=bf16[16,64]=randn:1 --arg w=fp32[64,16]=randn:2 --arg y=fp32[16,16]=zeros --expect "y=x @ w + sum(x, axis=1, keepdims=True)"
# The right operand, 64x16 numbers in two warps, 16 in each thread's words; none of the left one.
# CHECK-COUNT-16: cvt.rna.tf32.f32
# CHECK-NOT: cvt.rna.tf32.f32
# CHECK: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
import triton
import triton.language as tl


@triton.jit
def widened(x, w, y):
    m, k = tl.arange(0, 16), tl.arange(0, 64)
    a = tl.load(x + m[:, None] * 64 + k[None, :]).to(tl.float32)
    b = tl.load(w + k[:, None] * 16 + m[None, :])
    y += m[:, None] * 16 + m[None, :]
    tl.store(y, tl.dot(a, b) + tl.sum(a, axis=1)[:, None])
