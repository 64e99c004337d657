# After --expect has failed: which elements no program stores, what programs differ by, what rounding explains, and else
# which store wrote the first wrong element.
# DEFINE: %{run} = %status 5 %tilec run %s --device=sim
# RUN: %{run} -k scan --grid 4 --arg x=fp32[1000]=uniform:1 --arg y=fp32[1000]=zeros --arg n=1000 -D BLOCK=256 --expect "y=cumsum(x)" | FileCheck %s --check-prefix=SCAN
# RUN: %{run} -k best --grid 16 --arg x=fp32[16,1000]=randn:1 --arg out=i32[16]=zeros --arg n=1000 -D BLOCK=256 --expect "out=argmax(x, axis=1)" | FileCheck %s --check-prefix=BEST
# RUN: %{run} -k assumed --grid 4 --arg x=fp32[1000]=randn:1 --arg y=fp32[1000]=zeros --arg n=1000 -D BLOCK=256 --expect "y=x*0.5" | FileCheck %s --check-prefix=ASSUMED
# RUN: %tilec run %s --device=sim -k tally --grid 4 --arg x=i32[1]=zeros --expect "x=4" > %t && grep "ok" %t
# RUN: %tilec run %s --device=sim -k tally --grid 4 --arg x=i32[1]=zeros -q 2>&1 | count 0
# RUN: %{run} -k diagonal --grid 4,4 --arg x=fp32[128,128]=randn:1 --arg y=fp32[128,128]=zeros --expect "y=x*2" 2>&1 | FileCheck %s --check-prefix=DIAGONAL
# RUN: %{run} -k swapped --grid 2,3 --arg y=fp32[64,96]=zeros --arg m=64 --arg n=96 --expect "y=1" | FileCheck %s --check-prefix=SWAPPED
# RUN: %{run} -k late --grid 4 --arg y=fp32[128]=zeros --expect "y=1" | FileCheck %s --check-prefix=LATE
# RUN: %{run} -k queue --grid 4 --arg count=i32[1]=zeros --arg y=fp32[4]=zeros --expect "y=2" 2>&1 | FileCheck %s --check-prefix=QUEUE --implicit-check-not=axis
# RUN: %tilec run %s --device=sim -k tally --grid 4 --arg x=i32[1]=zeros --expect "x=4" > %t && grep "ok" %t
# RUN: %tilec run %s --device=sim -k tally --grid 4 --arg x=i32[1]=zeros -q 2>&1 | count 0
# RUN: %{run} -k variance --grid 1 --arg x=fp32[256]=randn:1 --arg out=fp32[1]=zeros --arg shift=5000.0 --expect "out=x.var()" --rtol 0.01 | FileCheck %s --check-prefix=VARIANCE
# RUN: %{run} -k largest --grid 8 --arg x=fp32[8,100]=fill:-3.5 --arg out=fp32[8]=zeros --arg n=100 --expect "out=max(x, 1)" | FileCheck %s --check-prefix=LARGEST
# RUN: %{run} -k smallest --grid 8 --arg x=i32[8,100]=fill:7 --arg out=i32[8]=ones --arg n=100 --expect "out=min(x, 1)" | FileCheck %s --check-prefix=SMALLEST
# RUN: %{run} -k kept --grid 4 --arg x=fp32[4,32]=fill:-2.25 --arg out=fp32[32]=zeros --arg which=0 --expect "out=max(x, 0)" | FileCheck %s --check-prefix=KEPT
# RUN: %{run} -k kept --grid 4 --arg x=fp32[4,32]=fill:2.25 --arg out=fp32[32]=zeros --arg which=1 --expect "out=min(x, 0)" | FileCheck %s --check-prefix=LEAST
# RUN: %{run} -k entropy --grid 4 --arg p=fp32[4,100]=uniform:3 --arg out=fp32[4]=zeros --arg n=100 --expect "out=-sum(p*log(p), 1)" | FileCheck %s --check-prefix=ENTROPY
# RUN: %{run} -k nibble --grid 1 --arg q=i8[64]=fill:-37 --arg out=i32[64]=zeros --expect "out=13" | FileCheck %s --check-prefix=NIBBLE
# RUN: %{run} -k bins --grid 1 --arg x=i32[64]=fill:8 --arg out=i32[8]=zeros --expect "out=64*(arange(8)==7)" | FileCheck %s --check-prefix=BINS
# RUN: %{run} -k filled --grid 1 --arg out=fp64[16]=zeros --arg value=3.1415926 --expect "out=3.1415926" --rtol 1e-12 | FileCheck %s --check-prefix=FILLED
import triton
import triton.language as tl


@triton.jit
def scan(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    # SCAN: advice_programs.py:[[#@LINE+1]]:21: note: program (0, 0, 0) is right, and all elements of program (1, 0, 0) are {{[0-9.]+}} too small: this scan begins anew in each program
    tl.store(y + i, tl.cumsum(tl.load(x + i, i < n, 0.0), 0), i < n)


@triton.jit
def best(x, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    most = -float("inf")
    where = 0
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        v = tl.load(x + row * n + i, i < n, -float("inf"))
        m = tl.max(v, 0)
        if m > most:
            where = tl.argmax(v, 0)
            most = m
    # BEST: {{^}}note: all wrong elements are off by multiples of 256, which is BLOCK
    # BEST: advice_programs.py:[[#@LINE+1]]:5: note: program ({{[0-9]+}}, 0, 0) writes the wrong element here
    tl.store(out + row, where)


@triton.jit
def assumed(x, y, n, BLOCK: tl.constexpr):
    # ASSUMED: {{^}}note: the interpreter stops in this run:
    # ASSUMED-NEXT: advice_programs.py:[[#@LINE+1]]:5: error: what is assumed here does not hold
    tl.assume(n % BLOCK == 0)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, i < n), i < n)


@triton.jit
def tally(x):
    tl.atomic_add(x, 1)


@triton.jit
def diagonal(x, y):
    # DIAGONAL: {{^}}diagonal: the grid has 4 programs along axis 1, and the kernel does not ask for tl.program_id(1): they all do the same
    # DIAGONAL: {{^}}note: no program stores to 12288 of the 16384 elements of y; the first is [0,32]: do the grid's programs and the masks cover them?
    m = tl.program_id(0) * 32 + tl.arange(0, 32)
    i = m[:, None] * 128 + m[None, :]
    tl.store(y + i, tl.load(x + i) * 2)


@triton.jit
def swapped(y, m, n):
    i = tl.program_id(0) * 32 + tl.arange(0, 32)[:, None]
    k = tl.program_id(1) * 32 + tl.arange(0, 32)[None, :]
    # SWAPPED: {{^}}note: no program stores to y[0:64, 64:96]: do the grid's programs and the masks cover it?
    # SWAPPED-NEXT: advice_programs.py:[[#@LINE+1]]:5: note: in program (0, 2, 0) the mask leaves out [0,64] here
    tl.store(y + i * n + k, 1.0, (i < n) & (k < m))


@triton.jit
def late(y):
    pid = tl.program_id(0)
    # LATE: {{^}}note: 2 of 4 programs have wrong elements, the first is program (2, 0, 0)
    # LATE-NEXT: advice_programs.py:[[#@LINE+1]]:5: note: program (2, 0, 0) writes the wrong element here
    tl.store(y + pid * 32 + tl.arange(0, 32), 1 + pid // 2 * 1.0)


# Programs that share work by an atomic need not ask for their numbers.
@triton.jit
def queue(count, y):
    # QUEUE: FAILED
    tl.store(y + tl.atomic_add(count, 1), 1.0)


@triton.jit
def count(x, out):
    row = tl.program_id(0)
    total = tl.zeros([], tl.float16)
    for start in range(0, 8192, 128):
        v = tl.load(x + row * 8192 + start + tl.arange(0, 128))
        # COUNT: advice_programs.py:[[#@LINE+1]]:9: note: rounding explains the difference: with the results of `total += (tl.sum(v, 0) - 0.3).to(tl.float16)` rounded to fp16 in another way the element moves by as much as {{[0-9.]+}}; compute in fp32: .to(tl.float32)
        total += (tl.sum(v, 0) - 0.3).to(tl.float16)
    tl.store(out + row, total + 0.3 * 64)


@triton.jit
def variance(x, out, shift):
    v = tl.load(x + tl.arange(0, 256)) + shift
    mean = tl.sum(v, 0) / 256
    # VARIANCE: advice_programs.py:{{[0-9]+}}:{{[0-9]+}}: note: rounding explains the difference: with the results of {{.*}} rounded to fp32 in another way the element moves by as much as {{[0-9.]+}}; subtract large numbers before, not after, or compute in fp64: .to(tl.float64)
    tl.store(out, tl.sum(v * v, 0) / 256 - mean * mean)


@triton.jit
def largest(x, out, n):
    i = tl.arange(0, 128)
    # LARGEST: advice_programs.py:[[#@LINE+1]]:45: note: what the mask leaves out here is 0, and the largest of all: other=-float("inf")
    tl.store(out + tl.program_id(0), tl.max(tl.load(x + tl.program_id(0) * n + i, i < n, 0.0), 0))


@triton.jit
def smallest(x, out, n):
    i = tl.arange(0, 128)
    # SMALLEST: advice_programs.py:[[#@LINE+1]]:45: note: what the mask leaves out here is 0, and the smallest of all: other=2147483647
    tl.store(out + tl.program_id(0), tl.min(tl.load(x + tl.program_id(0) * n + i, i < n, 0), 0))


@triton.jit
def kept(x, out, which: tl.constexpr):
    i = tl.arange(0, 32)
    v = tl.load(x + tl.program_id(0) * 32 + i)
    if which == 0:
        # KEPT: advice_programs.py:[[#@LINE+1]]:9: note: this keeps the larger of its operand and what out held before, at first 0: let it begin with -inf
        tl.atomic_max(out + i, v)
    else:
        # LEAST: advice_programs.py:[[#@LINE+1]]:9: note: this keeps the smaller of its operand and what out held before, at first 0: let it begin with inf
        tl.atomic_min(out + i, v)


@triton.jit
def entropy(p, out, n):
    i = tl.arange(0, 128)
    # ENTROPY: advice_programs.py:[[#@LINE+3]]:50: note: `tl.log(v)` is -inf for 0 (program (0, 0, 0))
    # ENTROPY: advice_programs.py:[[#@LINE+1]]:9: note: what the mask leaves out here, as 0, becomes that: keep it out of the result by tl.where(mask, …, 0.0), or load another number by other=
    v = tl.load(p + tl.program_id(0) * n + i, i < n, 0.0)
    tl.store(out + tl.program_id(0), -tl.sum(v * tl.log(v), 0))


@triton.jit
def nibble(q, out):
    i = tl.arange(0, 64)
    # NIBBLE: advice_programs.py:[[#@LINE+1]]:23: note: `tl.load(q + i) >> 4` keeps the sign: -37 >> 4 is -3; shift an unsigned number, x.to(tl.uint8, bitcast=True), or take the low bits by & afterwards (program (0, 0, 0))
    tl.store(out + i, tl.load(q + i) >> 4)


@triton.jit
def bins(x, out):
    # BINS: advice_programs.py:[[#@LINE+1]]:37: note: this leaves out 64 values, one of them 8, which are outside of the bins 0 to 7: clamp them, or have more bins
    tl.store(out + tl.arange(0, 8), tl.histogram(tl.load(x + tl.arange(0, 64)), 8))


@triton.jit
def filled(out, value):
    # FILLED: {{^}}note: `value` is fp32, which makes 3.1415925{{[0-9]*}} of 3.1415926{{[0-9]*}}: declare it `value: tl.float64`
    tl.store(out + tl.arange(0, 16), value)
