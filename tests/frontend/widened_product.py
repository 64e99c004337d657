# -Wwidened-product: program_id * stride in 32 bits that becomes an i64; not if program_id is converted first.
# RUN: %tilec %s -W -o - 2>&1 >/dev/null | FileCheck %s --implicit-check-not=warning:
# RUN: %tilec %s -Wno-widened-product -o - 2>&1 >/dev/null | count 0
import triton
import triton.language as tl


@triton.jit
def places(out: "*i64", x: "*fp32", stride: "i32", BLOCK: tl.constexpr = 64):
    # CHECK: widened_product.py:[[#@LINE+4]]:13: warning: this product has 32 bits, and wraps around from 2147483648 on, before it becomes i64 [-Wwidened-product]
    # CHECK-NEXT: start =
    # CHECK-NEXT: ^~~~
    # CHECK-NEXT: note: convert first: tl.program_id(1).to(tl.int64) * stride
    start = tl.program_id(1) * stride
    tl.store(out + tl.program_id(1), start)
    # CHECK: widened_product.py:[[#@LINE+1]]:10: warning: this product has 32 bits
    x += (stride * tl.program_id(0)).to(tl.int64)
    tl.store(x, 1.0)
    tl.store(out + tl.program_id(0), tl.program_id(0).to(tl.int64) * stride)
    tl.store(out + tl.program_id(0), tl.program_id(0) * BLOCK)
    tl.store(out.to(tl.pointer_type(tl.int32)) + tl.program_id(1), start)
