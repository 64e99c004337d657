# -Wwrapped-difference: u8 - u8 that becomes a float; not of constants, nor if the sides are converted first.
# RUN: %tilec %s -W -o - 2>&1 >/dev/null | FileCheck %s --implicit-check-not=warning:
# RUN: %tilec %s -Wno-wrapped-difference -o - 2>&1 >/dev/null | count 0
import triton
import triton.language as tl


@triton.jit
def dequant(q: "*u8", z: "*u8", w: "*u16", y: "*fp32", out: "*u8"):
    i = tl.arange(0, 64)
    a = tl.load(q + i)
    b = tl.load(z)
    c = tl.load(w + i)
    # CHECK: wrapped_difference.py:[[#@LINE+4]]:21: warning: this difference is one of u8, where less than 0 becomes 255 and less, before it is converted to fp32 [-Wwrapped-difference]
    # CHECK-NEXT: tl.store
    # CHECK-NEXT: ^~~~~
    # CHECK-NEXT: note: convert both sides of the minus, then subtract
    tl.store(y + i, (a - b).to(tl.float32))
    # CHECK: wrapped_difference.py:[[#@LINE+1]]:21: warning: this difference is one of u16, where less than 0 becomes 65535 and less, before it is converted to i32
    tl.store(y + i, (c - tl.load(w)).to(tl.int32))
    tl.store(y + i, a.to(tl.float32) - b)
    tl.store(y + i, (255 - a).to(tl.float32))
    tl.store(out + i, (a - b).to(tl.uint8))
    tl.store(y + i, (a - b).to(tl.uint16))
