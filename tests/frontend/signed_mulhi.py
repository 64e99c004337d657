# -Wsigned-mulhi: tl.umulhi of two signed tensors; not of the reciprocal of a divisor, nor of unsigned integers.
# RUN: %tilec %s -W -o - 2>&1 >/dev/null | FileCheck %s --implicit-check-not=warning:
# RUN: %tilec %s -Wno-signed-mulhi -o - 2>&1 >/dev/null | count 0
import triton
import triton.language as tl


@triton.jit
def high(x: "*i32", y: "*i64", z: "*u32", magic: "i32"):
    i = tl.arange(0, 64)
    a = tl.load(x + i)
    b = tl.load(y + i)
    # CHECK: signed_mulhi.py:[[#@LINE+4]]:21: warning: `umulhi` multiplies i32 as unsigned integers: of a negative number the result is another [-Wsigned-mulhi]
    # CHECK-NEXT: tl.store
    # CHECK-NEXT: ^~~
    # CHECK-NEXT: note: of signed numbers write (x.to(tl.int64) * y) >> 32; if none is negative, convert them with .to(tl.uint32)
    tl.store(x + i, tl.umulhi(a, a + 1))
    # CHECK: signed_mulhi.py:[[#@LINE+3]]:21: warning: `umulhi` multiplies i64 as unsigned integers
    # CHECK: ^~~
    # CHECK-NEXT: note: if no number is negative, convert them with .to(tl.uint64)
    tl.store(y + i, tl.umulhi(b, b + 1))
    tl.store(x + i, tl.umulhi(a, magic) + tl.umulhi(a, 77))
    tl.store(z + i, tl.umulhi(tl.load(z + i), a.to(tl.uint32)))
