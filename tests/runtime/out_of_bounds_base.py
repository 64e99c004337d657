# Where a mask is not the answer to an access out of bounds: what moves the block as a whole, in the same words on the
# simulator and the interpreter.
# DEFINE: %{args} = --arg x=fp32[768]=randn:1 --arg one=fp32[1]=ones --arg out=fp32[2048]=zeros --arg n=768
# RUN: %status 5 %tilec run %s --device=sim -k heads --grid 1,4 %{args} | FileCheck %s --check-prefix=HEADS
# RUN: %status 5 %tilec run %s --device=interp -k heads --grid 1,4 %{args} | FileCheck %s --check-prefix=HEADS
# RUN: %status 5 %tilec run %s --device=sim -k rows --grid 4 %{args} | FileCheck %s --check-prefix=ROWS
# RUN: %status 5 %tilec run %s --device=sim --sim-seed=2 -k rows --grid 4 %{args} | FileCheck %s --check-prefix=ROWS
# RUN: %status 5 %tilec run %s --device=interp -k rows --grid 4 %{args} | FileCheck %s --check-prefix=ROWS
# RUN: %status 5 %tilec run %s --device=sim -k tail --grid 4 %{args} | FileCheck %s --check-prefix=TAIL
# RUN: %status 5 %tilec run %s --device=sim --sim-seed=2 -k tail --grid 4 %{args} | FileCheck %s --check-prefix=TAIL
# RUN: %status 5 %tilec run %s --device=sim -k scales --grid 2 %{args} | FileCheck %s --check-prefix=SCALES
# RUN: %status 5 %tilec run %s --device=interp -k scales --grid 2 %{args} | FileCheck %s --check-prefix=SCALES
# RUN: %status 5 %tilec run %s --device=sim -k neighbours --grid 768 %{args} | FileCheck %s --check-prefix=ONE
# RUN: %status 5 %tilec run %s --device=sim -k moves --grid 1 %{args} | FileCheck %s --check-prefix=MOVES
# RUN: %status 5 %tilec run %s --device=interp -k moves --grid 1 %{args} | FileCheck %s --check-prefix=MOVES
# RUN: %status 5 %tilec run %s --device=sim -k counts --grid 1 %{args} | FileCheck %s --check-prefix=COUNTS
# RUN: %status 5 %tilec run %s --device=sim -k polls --grid 1 %{args} | FileCheck %s --check-prefix=POLLS
import triton
import triton.language as tl


@triton.jit
def heads(x, one, out, n):
    head = tl.program_id(1)
    r = tl.arange(0, 32)
    c = tl.arange(0, 16)
    # HEADS: error: out-of-bounds load: program (0, 2, 0) loads element 768 of x, which has 768
    # HEADS: note: the mask of this load lets it through, and does not bound `head * 16`, which grows with program_id(1), 2 here: compare that index and its stride with what x has, then the mask
    v = tl.load(x + head * 16 + r[:, None] * 32 + c[None, :], mask=r[:, None] < 24)
    tl.store(out + head * 512 + r[:, None] * 16 + c[None, :], v)


@triton.jit
def rows(x, one, out, n):
    row = tl.program_id(0)
    offs = tl.arange(0, 256)
    # ROWS: error: out-of-bounds load: program (2, 0, 0) loads element {{1[0-9]+}} of x, which has 768
    # ROWS: note: all of the block is outside, so that a mask would leave nothing of it: `row * 500` grows with program_id(0), which is 2 here; take an index or a stride that stays inside x, or launch fewer programs along axis 0
    v = tl.load(x + row * 500 + offs)
    tl.store(out + row * 256 + offs, v)


@triton.jit
def tail(x, one, out, n):
    row = tl.program_id(0)
    offs = tl.arange(0, 256)
    # TAIL: error: out-of-bounds load: program (3, 0, 0) loads element {{[79][0-9]+}} of x, which has 768
    # TAIL: note: this load has no mask
    v = tl.load(x + row * 240 + offs)
    tl.store(out + row * 256 + offs, v)


@triton.jit
def scales(x, one, out, n):
    pid = tl.program_id(0)
    # SCALES: error: out-of-bounds load: program (1, 0, 0) loads element 32 of one, which has 1
    # SCALES: note: one has a single element, and `pid * 32` grows with program_id(0), which is 1 here: leave it out of the offset, or pass an array with an element for each program
    tl.store(out + pid, tl.load(one + pid * 32))


@triton.jit
def neighbours(x, one, out, n):
    pid = tl.program_id(0)
    # ONE: error: out-of-bounds load: program (767, 0, 0) loads element 768 of x, which has 768
    # ONE: note: `pid` grows with program_id(0), which is 767 here: compare it with the elements that there are, or do this load under an `if`
    tl.store(out + pid, tl.load(x + pid + 1))


@triton.jit
def moves(x, one, out, n):
    p = x + tl.arange(0, 64)
    for i in range(0, 1024, 64):
        # MOVES: error: out-of-bounds load: program (0, 0, 0) loads element 768 of x, which has 768
        # MOVES: note: all of the block is outside, so that a mask would leave nothing of it: earlier iterations of the loop were inside, and line [[#@LINE+3]] (`p += 64`) moves this load in each: leave that out if each iteration takes the same elements, otherwise let the loop end earlier
        v = tl.load(p)
        tl.store(out + i + tl.arange(0, 64), v)
        p += 64


@triton.jit
def counts(x, one, out, n):
    # COUNTS: error: out-of-bounds load: program (0, 0, 0) loads element 768 of x, which has 768
    # COUNTS: note: earlier iterations of the loop were inside, and `i` of the loop of line [[#@LINE+1]] moves this load in each
    for i in range(n + 4):
        tl.store(out + i, tl.load(x + i))


@triton.jit
def polls(x, one, out, n):
    p = x + tl.arange(0, 64)
    acc = tl.zeros((64,), tl.float32)
    i = 0
    while i < n:
        # POLLS: error: out-of-bounds load: program (0, 0, 0) loads element 768 of x, which has 768
        # POLLS: note: all of the block is outside, {{.*}} and line [[#@LINE+2]] (`p += 128`) moves this load in each
        acc += tl.load(p)
        p += 128
        i += 64
    tl.store(out + tl.arange(0, 64), acc)
