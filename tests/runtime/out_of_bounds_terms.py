# Where the number of an element out of bounds comes from: the terms of its offset, in the same words on the simulator and
# the interpreter.
# DEFINE: %{args} = --arg x=fp32[576]=randn:1 --arg at=i32[8]=arange --arg out=fp32[576]=zeros --arg n=72 --arg stride=72
# DEFINE: %{grid} = 8
# DEFINE: %{kernel} = twice
# DEFINE: %{sim} = %status 5 %tilec run %s --device=sim -k %{kernel} --grid %{grid} %{args} | FileCheck %s --check-prefix
# DEFINE: %{interp} = %status 5 %tilec run %s --device=interp -k %{kernel} --grid %{grid} %{args} | FileCheck %s --check-prefix
# RUN: %{sim} TWICE
# RUN: %{interp} TWICE
# REDEFINE: %{kernel} = advances
# RUN: %{sim} ADVANCES
# RUN: %{interp} ADVANCES
# REDEFINE: %{kernel} = steps
# RUN: %{sim} STEPS
# RUN: %{interp} STEPS
# REDEFINE: %{kernel} = polls
# RUN: %{sim} POLLS
# RUN: %{interp} POLLS
# REDEFINE: %{kernel} = tile
# RUN: %{sim} TILE
# RUN: %{interp} TILE
# REDEFINE: %{kernel} = before
# RUN: %{sim} BEFORE
# RUN: %{interp} BEFORE
# REDEFINE: %{kernel} = packed
# RUN: %{sim} PACKED
# RUN: %{interp} PACKED
# REDEFINE: %{kernel} = sequences
# RUN: %{sim} SEQUENCES
# RUN: %{interp} SEQUENCES
# REDEFINE: %{kernel} = channel
# RUN: %{sim} CHANNEL
# RUN: %{interp} CHANNEL
# REDEFINE: %{kernel} = shapes
# RUN: %{sim} SHAPES
# RUN: %{interp} SHAPES
# REDEFINE: %{kernel} = gathers
# RUN: %{sim} GATHERS
# RUN: %{interp} GATHERS
# REDEFINE: %{kernel} = long
# RUN: %{sim} LONG
# RUN: %{interp} LONG
# REDEFINE: %{kernel} = apart
# RUN: %{sim} APART
# RUN: %{interp} APART
# REDEFINE: %{kernel} = starts
# RUN: %{sim} STARTS
# RUN: %{interp} STARTS
# REDEFINE: %{kernel} = narrow
# RUN: %{sim} NARROW
# RUN: %{interp} NARROW
# REDEFINE: %{kernel} = pairs
# RUN: %{sim} PAIRS
# RUN: %{interp} PAIRS
# REDEFINE: %{kernel} = blocks
# RUN: %{sim} BLOCKS
# RUN: %{interp} BLOCKS
import triton
import triton.language as tl


@triton.jit
def twice(x, at, out, n, stride):
    row = tl.program_id(0)
    x += row * stride
    cols = tl.arange(0, 128)
    # TWICE: error: out-of-bounds load: program (4, 0, 0) loads element 576 of x, which has 576
    # TWICE: {{^}}note: element 576 is `row * stride` (line [[#@LINE-3]]: 4 * 72 = 288) + `row * stride` (line [[#@LINE+2]]: 4 * 72 = 288) + `cols` (line [[#@LINE-2]]: 0){{$}}
    # TWICE-NEXT: {{^}}note: `row * stride` is added twice, on lines [[#@LINE-4]] and [[#@LINE+1]]: leave one out{{$}}
    tl.store(out + row * stride + cols, tl.load(x + row * stride + cols, mask=cols < n), mask=cols < n)


# The loop adds to the pointer, and its variable once more.
@triton.jit
def advances(x, at, out, n, stride):
    p = x + tl.arange(0, 64)
    for k in range(0, n * 8, 64):
        # ADVANCES: error: out-of-bounds load: program (0, 0, 0) loads element 640 of x, which has 576
        # ADVANCES: {{^}}note: element 640 is `tl.arange(0, 64)` (line [[#@LINE-3]]) + `p += 64` in each iteration (line [[#@LINE+3]]) + `k` (line [[#@LINE-2]]){{$}}
        # ADVANCES-NEXT: {{^}}note: `k` and `p += 64` add the same number, on lines [[#@LINE-3]] and [[#@LINE+2]]: leave one out{{$}}
        tl.store(out + tl.arange(0, 64), tl.load(p + k))
        p += 64


@triton.jit
def steps(x, at, out, n, stride):
    p = out + tl.program_id(0) * stride + tl.arange(0, 32)
    for k in range(0, n):
        # STEPS: error: out-of-bounds store: program (0, 0, 0) stores element 576 of out, which has 576
        # STEPS: {{^}}note: element 576 is `tl.program_id(0) * stride` (line [[#@LINE-3]]: 0) + `tl.arange(0, 32)` (line [[#@LINE-3]]: 0) + `p += stride` 8 times (line [[#@LINE+2]]: 576){{$}}
        tl.store(p, 1.0)
        p += stride


@triton.jit
def polls(x, at, out, n, stride):
    p = x + tl.arange(0, 64)
    i = 0
    while i < n:
        # POLLS: error: out-of-bounds load: program (0, 0, 0) loads element 576 of x, which has 576
        # POLLS: {{^}}note: element 576 is `tl.arange(0, 64)` (line [[#@LINE-4]]: 0) + `p += stride` 8 times (line [[#@LINE+2]]: 576){{$}}
        tl.store(out + tl.arange(0, 64), tl.load(p))
        p += stride
        i += 1


@triton.jit
def tile(x, at, out, n, stride):
    rows = tl.program_id(0) * 16 + tl.arange(0, 16)
    cols = tl.arange(0, 64)
    # TILE: error: out-of-bounds load: program (0, 0, 0) loads element 576 of x, which has 576
    # TILE: {{^}}note: element 576 is `rows[:, None] * stride` (line [[#@LINE+1]]: 8 * 72 = 576) + `cols` (line [[#@LINE-2]]: 0){{$}}
    v = tl.load(x + rows[:, None] * stride + cols[None, :], mask=cols[None, :] < n)
    tl.store(out + rows[:, None] * 0 + cols[None, :], v)


@triton.jit
def before(x, at, out, n, stride):
    row = tl.program_id(0)
    cols = tl.arange(0, 64)
    # BEFORE: error: out-of-bounds load: program (0, 0, 0) loads element -72 of x, which has 576
    # BEFORE: {{^}}note: element -72 is `row * stride` (line [[#@LINE+1]]: 0) - `stride` (72) + `cols` (line [[#@LINE-2]]: 0){{$}}
    tl.store(out + row * stride + cols, tl.load(x + row * stride - stride + cols))


# A number that a scalar load of the kernel gives is looked up in memory.
@triton.jit
def packed(x, at, out, n, stride):
    begin = tl.load(at + tl.program_id(0))
    pos = tl.arange(0, 128)
    # PACKED: error: out-of-bounds atomic access: program (2, 0, 0) updates element 576 of out, which has 576
    # PACKED: {{^}}note: element 576 is `begin * 256` (line [[#@LINE+1]]: 2 * 256 = 512) + `pos` (line [[#@LINE-2]]: 64){{$}}
    tl.atomic_add(out + begin * 256 + pos, 1.0, mask=pos < n)


@triton.jit
def sequences(x, at, out, n, stride):
    start = tl.load(at + 6)
    end = tl.load(at + 7)
    pos = tl.arange(0, 8)
    # SEQUENCES: error: out-of-bounds load: program (0, 0, 0) loads element 8 of at, which has 8
    # SEQUENCES: {{^}}note: element 8 is `start` (line [[#@LINE-4]]: 6) + `pos` (line [[#@LINE-2]]: 2){{$}}
    # SEQUENCES-NEXT: {{^}}note: the mask compares `pos` with `end`, which at holds beside `start`, and the offset adds `start`, too: if both are counted from the buffer's begin, write pos < end - start{{$}}
    tl.store(out + tl.program_id(0) * 8 + pos, tl.load(at + start + pos, mask=pos < end))


@triton.jit
def channel(x, at, out, n, stride):
    offs = tl.program_id(0) * 256 + tl.arange(0, 256)
    c = offs // n
    # CHANNEL: error: out-of-bounds load: program (2, 0, 0) loads element 8 of at, which has 8
    # CHANNEL: {{^}}note: element 8 is `offs // n` (line [[#@LINE-2]]: ... // 72 = 8){{$}}
    # CHANNEL-NEXT: {{^}}note: `offs // n` is 8 here, and at has 8 elements: a quotient counts on over all outer axes; if it is the index of one of them, take it % the size of that axis{{$}}
    tl.store(out + offs, tl.load(at + c, mask=offs < n * 16), mask=offs < n * 8)


# An ordinary block that reaches past the end needs no explanation.
@triton.jit
def shapes(x, at, out, n, stride):
    offs = tl.program_id(0) * 128 + tl.arange(0, 128)
    # SHAPES: error: out-of-bounds load: program (4, 0, 0) loads element 576 of x, which has 576
    # SHAPES-NOT: note: element
    # SHAPES: {{^}}note: this load has no mask
    tl.store(out + offs, tl.load(x + offs), mask=offs < n)


# Two numbers of memory: which they are is not known.
@triton.jit
def gathers(x, at, out, n, stride):
    i = tl.arange(0, 8)
    a = tl.load(at + i)
    b = tl.load(at + i + 0 * n)
    # GATHERS: error: out-of-bounds load: program (0, 0, 0) loads element
    # GATHERS: {{^}}note: element {{[0-9]+}} is `a` (line [[#@LINE-3]]) + `b * stride * 2` (line [[#@LINE+1]]){{$}}
    tl.store(out + i, tl.load(x + a + b * stride * 2))


# A long sum is shown without what is 0.
@triton.jit
def long(x, at, out, n, stride):
    first_index, second_index = tl.program_id(0), tl.program_id(1)
    third_index = tl.program_id(2)
    # LONG: error: out-of-bounds load: program (1, 0, 0) loads element 576 of x, which has 576
    # LONG: {{^}}note: element 576 is `first_index * stride * 8` (line [[#@LINE+1]]: 72 * 8 = 576){{$}}
    tl.store(out, tl.load(x + first_index * stride * 8 + second_index * stride * 4 + third_index * stride * 2 + tl.program_id(1) * stride))


# In a tile two equal ranges are two indices.
@triton.jit
def apart(x, at, out, n, stride):
    r = tl.arange(0, 16)
    # APART: error: out-of-bounds load: program (0, 0, 0) loads element 576 of x, which has 576
    # APART: {{^}}note: element 576 is `r` (line [[#@LINE-2]]: 0) + `r` (line [[#@LINE-2]]: 0) + `stride * 8` (line [[#@LINE+2]]: 72 * 8 = 576){{$}}
    # APART-NEXT: {{^}}note: this load has no mask
    v = tl.load(x + r[:, None] + r[None, :] + stride * 8)
    tl.store(out + tl.program_id(0) * 16 + r, tl.sum(v, 1))


# A sum in 8 bits may have wrapped around: its terms are not told.
@triton.jit
def narrow(x, at, out, n, stride):
    i = tl.arange(0, 8)
    a = tl.load(at + i).to(tl.int8)
    # NARROW: error: out-of-bounds load: program (0, 0, 0) loads element -56 of x, which has 576
    # NARROW: {{^}}note: element -56 is `(a + 100 + 100)` (line [[#@LINE+1]]: -56) + `stride` (72) - `stride` (72){{$}}
    tl.store(out + tl.program_id(0) * 8 + i, tl.load(x + (a + 100 + 100) + stride - stride))


# A pointer may move by the same step several times.
@triton.jit
def starts(x, at, out, n, stride):
    i = tl.arange(0, 8)
    x += stride
    # STARTS: error: out-of-bounds load: program (6, 0, 0) loads element 576 of x, which has 576
    # STARTS: {{^}}note: element 576 is `stride` (72) + `stride` (72) + `tl.program_id(0) * stride` (line [[#@LINE+2]]: 6 * 72 = 432) + `i` (line [[#@LINE-3]]: 0){{$}}
    # STARTS-NEXT: {{^}}note: all of the block is outside
    tl.store(out + tl.program_id(0) * stride + i, tl.load(x + stride + tl.program_id(0) * stride + i))


@triton.jit
def pairs(x, at, out, n, stride):
    i = tl.arange(0, 64)
    p = x + i
    for k in range(0, n):
        # PAIRS: error: out-of-bounds load: program (0, 0, 0) loads element 576 of x, which has 576
        # PAIRS: {{^}}note: element 576 is `i` (line [[#@LINE-4]]) + `p += stride` in each iteration (line [[#@LINE+5]]) + `p += stride` in each iteration (line [[#@LINE+3]]){{$}}
        # PAIRS-NOT: twice
        tl.store(out + i, tl.load(p))
        p += stride
        tl.store(out + i, tl.load(p))
        p += stride


@triton.jit
def blocks(x, at, out, n, stride):
    p = tl.make_block_ptr(x, (8, n), (stride, 1), (tl.program_id(0) * 16, 0), (16, 64), (1, 0))
    # BLOCKS: error: out-of-bounds load: program (0, 0, 0) loads element 576 of x, which has 576
    # BLOCKS-NOT: note: element
    # BLOCKS: {{^}}note: nothing checks axis 0 of this block pointer
    tl.store(out + tl.arange(0, 16), tl.sum(tl.load(p, boundary_check=(1,)), 1))
