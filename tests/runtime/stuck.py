# Loops whose condition never changes again, though memory or other variables do: the simulator names the loop.
# RUN: bash -c 'for k in zero_step nested; do not %tilec run %s -n $k --device=sim --grid 1 --arg x=fp32[16]=ones --arg out=fp32[2]=zeros --arg n=16 --arg step=0 2>&1 || exit 1; done' | FileCheck %s --check-prefix=STEP
# RUN: not %tilec run %s -n tiles --device=sim --grid 2 --arg x=fp32[256]=ones --arg out=fp32[256]=zeros --arg n=256 --arg steps=i32[1]=zeros -D B=128 2>&1 | FileCheck %s --check-prefix=TILES
# RUN: not %tilec run %s -n forgotten --device=sim --grid 1 --arg x=fp32[16]=ones --arg out=fp32[2]=zeros --arg n=16 2>&1 | FileCheck %s --check-prefix=FORGOTTEN
# RUN: not %tilec run %s -n loaded_once --device=sim --grid 2 --arg flag=i32[2]=zeros --arg out=i32[2]=zeros 2>&1 | FileCheck %s --check-prefix=ONCE
# A loop that begins again in the same way each time ends each time.
# RUN: bash -c 'for n in 1 2 3; do %tilec run %s -n again --device=sim --grid 1 --arg x=fp32[16]=ones --arg out=fp32[2]=zeros --arg n=$n --arg m=10000 --arg step=1 2>&1 || exit 1; done; echo fine' | FileCheck %s --check-prefix=AGAIN --implicit-check-not=error
# AGAIN: fine
import triton
import triton.language as tl


@triton.jit
def zero_step(x, out, n, step):
    total = 0.0
    # STEP: stuck.py:[[#@LINE+4]]:5: error: deadlock: the step of this loop is 0 in program (0, 0, 0): it never ends
    # STEP-NEXT: for i in range(0, n, step):
    # STEP: {{^}}note: range needs a step that is not 0: tl.maximum(step, 1), or an `if` around the loop
    # STEP: deadlock: no iteration of this loop changes what decides whether it ends
    for i in range(0, n, step):
        total += tl.load(x + i) + 1
        tl.store(out + 1, total)
    tl.store(out, total)


@triton.jit
def nested(x, out, n, step):
    total = 0.0
    # STEP: stuck.py:[[#@LINE+1]]:5: error: deadlock: the step of this loop is 0
    for i in range(0, n, step):
        for j in range(i, n):
            total += tl.load(x + j) + 1
    tl.store(out, total)


@triton.jit
def tiles(x, out, n, steps, B: tl.constexpr):
    offs = tl.arange(0, B)
    total = tl.zeros((B,), tl.float32)
    # TILES: stuck.py:[[#@LINE+1]]:5: error: deadlock: the step of this loop is 0 in program ({{[01]}}, 0, 0): it never ends
    for i in range(tl.program_id(0) * B, n, tl.load(steps)):
        total += tl.sum(tl.load(x + i + offs, mask=i + offs < n, other=0.0))
    tl.store(out + tl.program_id(0) * B + offs, total)


@triton.jit
def forgotten(x, out, n):
    i = 0
    total = 0.0
    # FORGOTTEN: stuck.py:[[#@LINE+2]]:5: error: deadlock: this loop of program (0, 0, 0) never ends: no iteration changes its condition
    # FORGOTTEN: {{^}}note: give what it compares a new value in the loop: count on, or load again what it waits for
    while i < n:
        total += tl.load(x + i) + 1.0
    tl.store(out, total)


@triton.jit
def loaded_once(flag, out):
    if tl.program_id(0) == 0:
        tl.atomic_xchg(flag, 1)
    else:
        seen = tl.load(flag + 1)
        polls = 0
        # ONCE: stuck.py:[[#@LINE+1]]:9: error: deadlock: this loop of program (1, 0, 0) never ends: no iteration changes its condition
        while seen == 0:
            polls += 1
        tl.store(out, polls)


@triton.jit
def again(x, out, n, m, step):
    total = 0.0
    for j in range(m):
        i = 0
        while i < n:
            total += tl.load(x + i)
            i += step
        for i in range(0, n, step):
            total += tl.load(x + i)
    tl.store(out, total)


# A step of 0 in a loop that reads memory, and one below 0, which does not count down.
# DEFINE: %{loads} = --grid 1 --arg x=fp32[64]=ones --arg n=8
# RUN: %status 5 %tilec run %s --device=sim -k adds_up %{loads} --arg step=0 | FileCheck %s --check-prefix=LOADS
# RUN: %status 5 %tilec run %s --device=sim -k adds_up %{loads} --arg step=-1 | FileCheck %s --check-prefix=DOWN
# RUN: %status 5 %tilec run %s --device=interp -k adds_up %{loads} --arg step=-1 | FileCheck %s --check-prefix=INTERP
@triton.jit
def adds_up(x, n, step):
    s = 0.0
    # LOADS: stuck.py:[[#@LINE+4]]:5: error: deadlock: the step of this loop is 0 in program (0, 0, 0): it never ends
    # LOADS: note: range needs a step that is not 0: tl.maximum(step, 1), or an `if` around the loop
    # DOWN: note: earlier iterations of the loop were inside, and `i` of the loop of line [[#@LINE+2]] (whose step must be positive) moves this load in each
    # INTERP: stuck.py:[[#@LINE+1]]:5: error: the step of this loop is -1; it must be positive
    for i in tl.range(0, n, step):
        s += tl.load(x + i)
    tl.store(x, s)
