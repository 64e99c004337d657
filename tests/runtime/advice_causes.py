# After --expect has failed, notes say which operation of the kernel is the reason, if one is.
# DEFINE: %{run} = %tilec run %s --device=sim --grid 1 -Wno-nan-store -Wno-to-infinity -Wno-overflow
# RUN: %status 5 %{run} -k masked --arg n=0 --arg x=fp32[16]=randn:1 --arg out=fp32[16]=ones --expect "out=0*x" | FileCheck %s --check-prefix=MASKED --implicit-check-not=note:
# RUN: %status 5 %{run} -k masked --arg n=9 --arg x=fp32[16]=randn:1 --arg out=fp32[16]=ones --expect "out=0*x" | FileCheck %s --check-prefix=PLAIN --implicit-check-not="{{note: [^p]}}"
# PLAIN: FAILED
# RUN: %status 5 %{run} -k functions --arg x=fp32[16]=fill:180 --arg out=fp32[16]=zeros --expect "out=x" | FileCheck %s --check-prefix=EXP --implicit-check-not=note:
# RUN: %status 5 %{run} -k functions --arg x=fp32[16]=zeros --arg out=fp32[16]=ones --expect "out=x+5" | FileCheck %s --check-prefix=LOG --implicit-check-not=note:
# Infinities that do not reach the element are no reason, nor are those that the kernel is given.
# RUN: %status 5 %{run} -k harmless --arg x=fp32[16]=arange --arg out=fp32[16]=zeros --expect "out=x" | FileCheck %s --check-prefix=PLAIN --implicit-check-not="{{note: [^p]}}"
# Several elements are each enough to make the sum infinite.
# RUN: %status 5 %{run} -k squares --arg x=fp16[64]=fill:300 --arg out=fp16[64]=ones --expect "out=x/300" | FileCheck %s --check-prefix=SQUARES --implicit-check-not=note:
# RUN: %status 5 %{run} -k narrow --arg x=fp32[16]=fill:70000 --arg out=fp16[16]=zeros --expect "out=x/2" | FileCheck %s --check-prefix=NARROW --implicit-check-not=note:
# Of several programs it is the one that stored the first wrong element.
# RUN: %status 5 %tilec run %s --device=sim --grid 4 -Wno-nan-store -k quotient --arg x=fp32[4]=arange --arg out=fp32[4]=ones --expect "out=0*x" | FileCheck %s --check-prefix=QUOTIENT --implicit-check-not=note:
# RUN: %status 5 %{run} -k largest --arg x=fp32[16]=arange --arg out=fp32[1]=zeros --expect "out=sqrt(0-x[3])" | FileCheck %s --check-prefix=LARGEST --implicit-check-not=note:
# RUN: %{run} -k largest_nan --arg x=fp32[16]=arange --arg out=fp32[1]=zeros --expect "out=sqrt(0-x[3])"
# RUN: %status 5 %{run} -k product --arg x=fp32[16,16]=arange --arg out=fp32[16,16]=zeros --expect "out=x" | FileCheck %s --check-prefix=PRODUCT --implicit-check-not=note:
# RUN: %status 5 %{run} -k floors --arg x=i32[16]=fill:-7 --arg out=i32[16]=zeros --expect "out=x//2" | FileCheck %s --check-prefix=FLOORS --implicit-check-not=note:
# RUN: %{run} -k floors_down --arg x=i32[16]=fill:-7 --arg out=i32[16]=zeros --expect "out=x//2"
# RUN: %status 5 %{run} -k ring --arg x=i32[16]=arange --arg out=i32[16]=zeros --expect "out=(x-3)%%16" | FileCheck %s --check-prefix=RING --implicit-check-not=note:
# RUN: %{run} -k ring_positive --arg x=i32[16]=arange --arg out=i32[16]=zeros --expect "out=(x-3)%%16"
# RUN: %status 5 %{run} -k unsigned --arg x=u32[16]=arange --arg out=fp32[16]=zeros --expect "out=x*1.0-8" | FileCheck %s --check-prefix=UNSIGNED --implicit-check-not=note:
# RUN: %status 5 %{run} -k unsigned_wide --arg x=u8[16]=arange --arg out=i32[16]=zeros --expect "out=x*1-8" | FileCheck %s --check-prefix=WIDE --implicit-check-not=note:
import triton
import triton.language as tl


@triton.jit
def masked(x, out, n):
    i = tl.arange(0, 16)
    s = tl.where(i < n, tl.load(x + i), float("-inf"))
    m = tl.max(s, 0)
    # MASKED: {{^}}{{.*}}advice_causes.py:[[#@LINE+3]]:16: note: `s - m` is NaN: -inf - -inf; select a finite number there by tl.where (program (0, 0, 0))
    # MASKED-NEXT: {{^}}      p = tl.exp(s - m)
    # MASKED-NEXT: {{^}}                 ^~~~~{{$}}
    p = tl.exp(s - m)
    tl.store(out + i, p)


@triton.jit
def functions(x, out):
    i = tl.arange(0, 16)
    v = tl.load(x + i)
    # EXP: advice_causes.py:[[#@LINE+2]]:27: note: `tl.exp(v)` is inf for 180; the largest fp32 number is 3.40282e+38 (program (0, 0, 0))
    # LOG: advice_causes.py:[[#@LINE+1]]:39: note: `tl.log(v)` is -inf for 0 (program (0, 0, 0))
    tl.store(out + i, v + tl.exp(v) + tl.log(v))


@triton.jit
def harmless(x, out):
    i = tl.arange(0, 16)
    v = tl.load(x + i)
    tl.store(out + i, tl.where(i < 20, v + 1, tl.exp(v * 1000)) + tl.exp(v - float("inf")))


@triton.jit
def squares(x, out):
    i = tl.arange(0, 64)
    v = tl.load(x + i)
    # SQUARES: advice_causes.py:[[#@LINE+1]]:16: note: `v * v` is inf: 300 * 300; the largest fp16 number is 65504, so widen first: .to(tl.float32) (program (0, 0, 0))
    s = tl.sum(v * v, 0)
    tl.store(out + i, v / tl.sqrt(s.to(tl.float32)))


@triton.jit
def narrow(x, out):
    i = tl.arange(0, 16)
    # NARROW: advice_causes.py:[[#@LINE+1]]:9: note: `tl.load(x + i).to(tl.float16)` is inf for 70000; the largest fp16 number is 65504 (program (0, 0, 0))
    h = tl.load(x + i).to(tl.float16)
    tl.store(out + i, h * 0.5)


@triton.jit
def quotient(x, out):
    i = tl.program_id(0)
    # QUOTIENT: advice_causes.py:[[#@LINE+1]]:9: note: `1 / (tl.load(x + i) - 2)` is inf: 1 / 0 (program (2, 0, 0))
    v = 1 / (tl.load(x + i) - 2)
    tl.store(out + i, v * 0)


@triton.jit
def largest(x, out):
    v = tl.load(x + tl.arange(0, 16))
    # LARGEST: advice_causes.py:[[#@LINE+1]]:19: note: `tl.max(tl.sqrt(2 - v), 0)` ignores NaN: tl.maximum and tl.minimum keep it with propagate_nan=tl.PropagateNan.ALL, also as the function of tl.reduce (program (0, 0, 0))
    tl.store(out, tl.max(tl.sqrt(2 - v), 0))


@triton.jit
def larger(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def largest_nan(x, out):
    v = tl.load(x + tl.arange(0, 16))
    tl.store(out, tl.reduce(tl.sqrt(2 - v), 0, larger))


@triton.jit
def product(x, out):
    i = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    v = tl.load(x + i)
    v = tl.where(v < 200, v, float("-inf"))
    # PRODUCT: advice_causes.py:[[#@LINE+1]]:23: note: `tl.dot(tl.where(v > 20, v, 0.0), v)` is NaN; select a finite number there by tl.where (program (0, 0, 0))
    tl.store(out + i, tl.dot(tl.where(v > 20, v, 0.0), v))


@triton.jit
def floors(x, out):
    i = tl.arange(0, 16)
    # FLOORS: advice_causes.py:[[#@LINE+1]]:23: note: `tl.load(x + i) // 2` rounds toward zero, as in C: -7 // 2 is -3; a // b - (a % b < 0) rounds down for b > 0 (program (0, 0, 0))
    tl.store(out + i, tl.load(x + i) // 2)


@triton.jit
def floors_down(x, out):
    i = tl.arange(0, 16)
    a = tl.load(x + i)
    tl.store(out + i, a // 2 - (a % 2 < 0))


@triton.jit
def ring(x, out):
    i = tl.arange(0, 16)
    # RING: advice_causes.py:[[#@LINE+1]]:23: note: `(tl.load(x + i) - 3) % 16` has the sign of its left operand, as in C: -3 % 16 is -3; (a % b + b) % b has the sign of b (program (0, 0, 0))
    tl.store(out + i, (tl.load(x + i) - 3) % 16)


@triton.jit
def ring_positive(x, out):
    i = tl.arange(0, 16)
    a = tl.load(x + i) - 3
    tl.store(out + i, (a % 16 + 16) % 16)


@triton.jit
def unsigned(x, out):
    i = tl.arange(0, 16)
    w = tl.load(x + i) - tl.full([16], 8, tl.uint32)
    # UNSIGNED: advice_causes.py:[[#@LINE+1]]:23: note: `w.to(tl.float32)` is of a number without a sign, which is 4294967288 in place of -8: convert the operands of the difference first, x.to(tl.int32) (program (0, 0, 0))
    tl.store(out + i, w.to(tl.float32))


@triton.jit
def unsigned_wide(x, out):
    i = tl.arange(0, 16)
    w = tl.load(x + i) - tl.full([16], 8, tl.uint8)
    # WIDE: advice_causes.py:[[#@LINE+1]]:23: note: `w.to(tl.int32)` is of a number without a sign, which is 248 in place of -8
    tl.store(out + i, w.to(tl.int32))
