# Warnings of the simulator about numbers: NaN that a program makes and stores, and what is too large for 16 bits.
# DEFINE: %{args} = --device=sim --grid 1 --arg x=fp32[64]=randn:1 --arg out=fp32[64]=zeros --arg half=fp16[64]=zeros --arg n=50
# RUN: %tilec run %s -k masked %{args} 2>&1 | FileCheck %s --check-prefix=MASKED
# RUN: %tilec run %s -k empty_row %{args} 2>&1 | FileCheck %s --check-prefix=ROW
# RUN: %tilec run %s -k divides %{args} 2>&1 | FileCheck %s --check-prefix=DIVIDES
# RUN: %tilec run %s -k roots %{args} 2>&1 | FileCheck %s --check-prefix=ROOTS
# RUN: %tilec run %s -k left_out %{args} 2>&1 | FileCheck %s --check-prefix=LEFT-OUT
# RUN: %tilec run %s -k sums %{args} 2>&1 | FileCheck %s --check-prefix=SUMS
# RUN: %tilec run %s -k converts %{args} 2>&1 | FileCheck %s --check-prefix=CONVERTS
# Off, by an option, a comment and the simulator's variable; and what is no finding: NaN that is masked off or chosen away,
# NaN and infinite numbers that were loaded, and those that the code names.
# RUN: %tilec run %s -k masked %{args} -Wno-nan-store 2>&1 | count 0
# RUN: %tilec run %s -k converts %{args} -Wno-to-infinity 2>&1 | count 0
# RUN: env TILE_SIM_CHECKS=15 %tilec run %s -k masked %{args} 2>&1 | count 0
# RUN: %tilec run %s -k ignored %{args} 2>&1 | count 0
# RUN: %tilec run %s -k right %{args} 2>&1 | count 0
# RUN: %tilec run %s -k loaded --device=sim --grid 1 --arg x=fp32[64]=fill:nan --arg out=fp32[64]=zeros --arg half=fp16[64]=zeros --arg n=50 2>&1 | count 0
# RUN: %tilec run %s -k loaded --device=sim --grid 1 --arg x=fp32[64]=fill:inf --arg out=fp32[64]=zeros --arg half=fp16[64]=zeros --arg n=50 2>&1 | count 0
# Products and sums of int32 that wrap around and are widened; hashes, and what does not wrap, are no findings.
# DEFINE: %{ints} = --device=sim --grid 1 --arg a=i32[64]=fill:100000000 --arg wide=i64[64]=zeros --arg row=70000 --arg n=65536
# RUN: %tilec run %s -k widens %{ints} 2>&1 | FileCheck %s --check-prefix=WIDENS
# RUN: %tilec run %s -k sums_up %{ints} 2>&1 | FileCheck %s --check-prefix=SUMS-UP
# RUN: %tilec run %s -k draws %{ints} 2>&1 | FileCheck %s --check-prefix=DRAWS
# RUN: %tilec run %s -k hashes %{ints} 2>&1 | count 0
# RUN: %tilec run %s -k widens %{ints} -Wno-overflow 2>&1 | count 0
# RUN: %tilec run %s -k widens --device=sim --grid 1 --arg a=i32[64]=ones --arg wide=i64[64]=zeros --arg row=7 --arg n=65536 2>&1 | count 0
import triton
import triton.language as tl


@triton.jit
def masked(x, out, half, n):
    i = tl.arange(0, 64)
    v = tl.load(x + i, mask=i < 32, other=float("-inf"))
    # MASKED: {{^(tilec: warning: )?.*}}numbers.py:[[#@LINE+5]]:5: warning: program (0, 0, 0) stores NaN to element 32 of out, and has loaded no NaN [-Wnan-store]
    # MASKED-NEXT: tl.store(out + i, w, mask=i < n)
    # MASKED: numbers.py:[[#@LINE+2]]:9: note: this makes it of numbers that are not NaN
    # MASKED: note: zero times an infinite number is NaN: choose by tl.where(condition, x, 0.0) in place of a product with 0 and 1
    w = v * (i < 32).to(tl.float32)
    tl.store(out + i, w, mask=i < n)


@triton.jit
def empty_row(x, out, half, n):
    i = tl.arange(0, 64)
    v = tl.load(x + i, mask=i < 0, other=float("-inf"))
    # ROW: numbers.py:[[#@LINE+4]]:5: warning: program (0, 0, 0) stores NaN to element 0 of out, and has loaded no NaN [-Wnan-store]
    # ROW: numbers.py:[[#@LINE+2]]:16: note: this makes it
    # ROW: note: the difference of two infinite numbers is NaN: where all of a row is masked, its maximum is -inf; take tl.where(m == float("-inf"), 0.0, m) in its place
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + i, e / tl.sum(e, 0), mask=i < n)


@triton.jit
def divides(x, out, half, n):
    i = tl.arange(0, 64)
    v = tl.load(x + i, mask=i < n, other=0.0)
    z = v - v
    # DIVIDES: numbers.py:[[#@LINE+2]]:5: warning: program (0, 0, 0) stores NaN to element {{[0-9]+}} of out
    # DIVIDES: note: zero divided by zero, or an infinite number by another, is NaN: bound the divisor from below
    tl.store(out + i, z / tl.sum(z, 0), mask=i < n)


@triton.jit
def roots(x, out, half, n):
    i = tl.arange(0, 64)
    v = tl.load(x + i, mask=i < n, other=0.0)
    # ROOTS: numbers.py:[[#@LINE+2]]:5: warning: program (0, 0, 0) stores NaN to element 0 of out
    # ROOTS: note: the root or the logarithm of a negative number is NaN: bound it from below by tl.maximum(x, 0.0)
    tl.store(out + i, tl.sqrt(-1.0 - v * v), mask=i < n)


@triton.jit
def left_out(x, out, half, n):
    i = tl.arange(0, 64)
    v = tl.load(x + i, mask=i < 32, other=float("-inf"))
    # LEFT-OUT: numbers.py:[[#@LINE+4]]:5: warning: program (0, 0, 0) stores an infinite number to element 32 of out in place of NaN, which a minimum or maximum has left out [-Wnan-store]
    # LEFT-OUT: numbers.py:[[#@LINE+2]]:9: note: this makes it
    # LEFT-OUT: note: zero times an infinite number is NaN
    w = v * (i < 32).to(tl.float32)
    tl.store(out + i, tl.maximum(v, w), mask=i < n)


@triton.jit
def sums(x, out, half, n):
    i = tl.arange(0, 64)
    v = tl.load(x + i, mask=i < n, other=0.0)
    h = (v * 0 + 3000.0).to(tl.float16)
    # SUMS: numbers.py:[[#@LINE+4]]:5: warning: program (0, 0, 0) stores an infinite number to element 0 of half, and has loaded none [-Wto-infinity]
    # SUMS: numbers.py:[[#@LINE+2]]:9: note: this computes with {{[0-9]+}} and {{[0-9]+}} in float16, whose largest number is 65504
    # SUMS: note: compute in float32, x.to(tl.float32), and store what fits, or store float32
    s = tl.sum(h, 0)
    tl.store(half, s / 50)


@triton.jit
def converts(x, out, half, n):
    i = tl.arange(0, 64)
    v = tl.load(x + i, mask=i < n, other=0.0)
    # CONVERTS: numbers.py:[[#@LINE+2]]:5: warning: program (0, 0, 0) stores an infinite number to element 0 of half, and has loaded none [-Wto-infinity]
    # CONVERTS: note: 100000 does not fit float16, whose largest number is 65504: compute in float32
    tl.store(half + i, v * 0 + 100000.0, mask=i < n)


@triton.jit
def ignored(x, out, half, n):
    i = tl.arange(0, 64)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(out + i, tl.sqrt(-1.0 - v * v), mask=i < n)  # tilec: ignore[nan-store]
    tl.store(half + i, v * 0 + 100000.0, mask=i < n)  # tilec: ignore[to-infinity]


@triton.jit
def right(x, out, half, n):
    i = tl.arange(0, 64)
    v = tl.load(x + i, mask=i < n, other=float("-inf"))
    tl.store(out + i, v - tl.where(i < n, 0.0, v), mask=i < n)
    tl.store(out + i, tl.where(v > 9.0, tl.sqrt(-1.0 - v * v), 0.0))
    tl.store(half + i, tl.where(i < n, 0.0, float("-inf")))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + i, e / tl.sum(e, 0))


@triton.jit
def loaded(x, out, half, n):
    i = tl.arange(0, 64)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(out + i, v * 2)
    tl.store(half + i, v.to(tl.float16) * 2)


@triton.jit
def widens(a, wide, row, n):
    i = tl.arange(0, 64)
    # WIDENS: numbers.py:[[#@LINE+2]]:12: warning: program (0, 0, 0) computes 70000 * 65536 in int32, which wraps around to 292552704 before it is widened [-Woverflow]
    # WIDENS: note: convert a factor first: x.to(tl.int64) * y
    offs = row * n + i
    tl.store(wide + i, offs.to(tl.int64))


@triton.jit
def sums_up(a, wide, row, n):
    # SUMS-UP: numbers.py:[[#@LINE+2]]:20: warning: program (0, 0, 0) computes a sum of {{[0-9]+}} in int32, which wraps around to {{-?[0-9]+}} before it is widened [-Woverflow]
    # SUMS-UP: note: a sum of int32 is an int32: convert the elements first, tl.sum(x.to(tl.int64))
    tl.store(wide, tl.sum(tl.load(a + tl.arange(0, 64)), 0))


@triton.jit
def draws(a, wide, row, n):
    i = tl.arange(0, 64)
    # DRAWS: numbers.py:[[#@LINE+1]]:20: warning: program (0, 0, 0) computes 70000 * 65536 in int32, which wraps around
    v = tl.rand(7, row * n + i)
    tl.store(a + i, (v * 100).to(tl.int32))


@triton.jit
def hashes(a, wide, row, n):
    i = tl.arange(0, 64)
    h = tl.load(a + i) * 31 + i
    h = (h ^ (h >> 15)) * 0x2c1b3c6d
    tl.store(wide + i, (h % 1024).to(tl.int64))
    tl.store(wide + i, (tl.load(a + i) * 1664525).to(tl.int64) & 0xff)
    u = tl.load(a + i).to(tl.uint32)
    tl.store(wide + i, (u * u).to(tl.int64))
    tl.store(wide, tl.sum(tl.load(a + i).to(tl.int64), 0))
