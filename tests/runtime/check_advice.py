# After --check or --expect has failed, a note says what to try next, by what is known.
# DEFINE: %{add} = %tilec run %s --device=sim -k add --arg n=1000 -D BLOCK=256 --arg x=fp32[1000]=randn:1 --arg out=fp32[1000]=zeros
# RUN: %status 5 %{add} --grid "n//BLOCK" --expect "out=x+1" | FileCheck %s --check-prefix=TAIL
# TAIL: FAILED
# TAIL-NEXT: 232 of 1000 elements differ; the first is [768]
# TAIL-NEXT: {{^}}note: no program stores to out[768:1000]: do the grid's programs and the masks cover it?
# RUN: %status 5 %{add} --grid 4 --expect "x=x+1" | FileCheck %s --check-prefix=NONE
# NONE: {{^}}note: no program stores to x{{$}}
# RUN: %status 5 %tilec run %s --device=sim -k add --arg n=1000 -D BLOCK=256 --arg x=fp32[10,100]=randn:1 --arg out=fp32[10,100]=zeros --grid "n//BLOCK" --expect "out=x+1" | FileCheck %s --check-prefix=ROWS
# ROWS: {{^}}note: no program stores to out from [7,68] on: do the grid's programs and the masks cover it?
# RUN: %status 5 %tilec run %s --device=sim -k head --arg x=fp32[4,100]=randn:1 --arg out=fp32[4,100]=zeros --grid 4 --expect "out=x+1" | FileCheck %s --check-prefix=COLUMNS
# COLUMNS: {{^}}note: no program stores to out[0:4, 64:100]: do the grid's programs and the masks cover it?
# RUN: %status 5 %tilec run %s --device=sim --debug -k back --grid 1 --arg x=fp32[8]=ones --arg step=-1 | FileCheck %s --check-prefix=STEP
# STEP: check_advice.py:{{[0-9]+}}:14: error: assertion failed in program (0, 0, 0): the step of this loop is not positive: a negative one must be a constexpr
# A wrong result that is stored everywhere has no such note; integers overflowed, unless --debug has looked.
# RUN: %status 5 %{add} --grid 4 --expect "out=x+2" | FileCheck %s --check-prefix=PLAIN --implicit-check-not="{{note: [^p]}}"
# PLAIN: FAILED
# DEFINE: %{square} = %tilec run %s --device=sim -k square --grid 1 --arg x=i32[16]=fill:65536 --arg out=i32[16]=ones
# RUN: %status 5 %{square} --expect "out=x*x" | FileCheck %s --check-prefix=INTEGERS
# INTEGERS: {{^}}note: --debug stops where integers overflow
# RUN: %status 5 %tilec run %s --device=sim -k square --grid 1 --arg x=i32[16]=ones --arg out=i32[16]=ones --expect "out=x*x+100" | FileCheck %s --check-prefix=PLAIN --implicit-check-not="{{note: [^p]}}"
# RUN: %status 5 %{square} --expect "out=x*x+1" --debug --no-sanitize-overflow | FileCheck %s --check-prefix=PLAIN --implicit-check-not="{{note: [^p]}}"
# --debug itself says where, from the operator on, and the way out.
# RUN: %status 5 %{square} --debug | FileCheck %s --check-prefixes=WHERE
# A scan combines in an order of its own, which shows that a function is not associative.
# DEFINE: %{scan} = %tilec run %s --grid 1 --arg x=fp32[64]=ones --arg out=fp32[64]=zeros
# RUN: %status 5 %{scan} --device=sim -k scan --check | FileCheck %s --check-prefix=SCAN
# RUN: %status 5 %{scan} --device=interp -k scan --expect "out=x" | FileCheck %s --check-prefix=SCAN
# RUN: %status 5 %{scan} --device=interp -k pairs --expect "out=x-1" | FileCheck %s --check-prefix=PAIRS
# RUN: %status 5 %{scan} --device=interp -k branches --expect "out=x-1" | FileCheck %s --check-prefix=BRANCHES
# RUN: %status 5 %{scan} --device=interp -k associative --expect "out=x-1" | FileCheck %s --check-prefix=PLAIN --implicit-check-not="{{note: [^p]}}"
import triton
import triton.language as tl


@triton.jit
def add(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


@triton.jit
def square(x, out):
    i = tl.arange(0, 16)
    v = tl.load(x + i)
    # WHERE: {{^.*}}check_advice.py:[[#@LINE+3]]:25: error: assertion failed in program (0, 0, 0): i32 overflow in *: widen first, x.to(tl.int64) * y
    # WHERE-NEXT: {{^      }}tl.store(out + i, v * v + v)
    # WHERE-NEXT: {{^                          \^~~$}}
    tl.store(out + i, v * v + v)


@triton.jit
def discounted(a, b):
    return a * 0.5 + b


@triton.jit
def scan(x, out):
    i = tl.arange(0, 64)
    # SCAN: {{^}}note: a scan or reduction combines in any order, and `discounted` ({{.*}}check_advice.py:[[#@LINE-6]]) is not associative: discounted(discounted(1, 2), 4) is 5.25, discounted(1, discounted(2, 4)) is 5.5{{$}}
    tl.store(out + i, tl.associative_scan(tl.load(x + i), 0, discounted))


@triton.jit
def pair(a, b, c, d):
    return a + c, b - d


@triton.jit
def pairs(x, out):
    i = tl.arange(0, 64)
    v = tl.load(x + i)
    s, t = tl.associative_scan((v, v), 0, pair)
    # PAIRS: {{^}}note: a scan or reduction combines in any order, and `pair` ({{.*}}) is not associative{{$}}
    tl.store(out + i, s + t)


@triton.jit
def either(a, b):
    if a > b:
        b = a * 2
    return b


@triton.jit
def branches(x, out):
    i = tl.arange(0, 64)
    # BRANCHES: {{^}}note: a scan or reduction combines in any order: is `either` ({{.*}}) associative?{{$}}
    tl.store(out + i, tl.associative_scan(tl.load(x + i), 0, either))


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def associative(x, out):
    i = tl.arange(0, 64)
    v = tl.associative_scan(tl.load(x + i), 0, larger)
    tl.store(out + i, v + tl.sum(v, 0))


@triton.jit
def head(x, out):
    i = tl.program_id(0) * 100 + tl.arange(0, 64)
    tl.store(out + i, tl.load(x + i) + 1)


@triton.jit
def halved(x):
    i = tl.arange(0, 16)
    tl.store(x + i, tl.load(x + i) // 2)


@triton.jit
def back(x, step):
    for i in range(7, -1, step):
        tl.store(x + i, 2.0)
