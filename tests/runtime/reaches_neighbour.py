# Races of tiles that reach into another program's part for lack of a mask or a boundary_check, and the ways out of
# accesses of one element and of offsets that count bytes.
# RUN: %status 5 %tilec run %s --device=sim -k unmasked --grid 4 --arg x=fp32[100]=zeros --arg n=100 | FileCheck %s --check-prefix=UNMASKED
# RUN: %status 5 %tilec run %s --device=sim -k unchecked --grid 2 --arg x=fp32[64]=zeros | FileCheck %s --check-prefix=UNCHECKED
# RUN: %status 5 %tilec run %s --device=sim -k masked --grid 4 --arg x=fp32[100]=zeros --arg n=100 | FileCheck %s --check-prefix=MASKED
# RUN: %status 5 %tilec run %s --device=sim -k apart --grid 4 --arg x=fp32[4]=zeros | FileCheck %s --check-prefix=APART
# RUN: %status 5 %tilec run %s --device=sim -k in_bytes --grid 1 --arg x=i32[32]=zeros | FileCheck %s --check-prefix=BYTES
import triton
import triton.language as tl


@triton.jit
def unmasked(x, n):
    o = tl.program_id(0) * 20 + tl.arange(0, 32)
    # UNMASKED: reaches_neighbour.py:[[#@LINE+2]]:5: error: race: program
    # UNMASKED: {{^}}note: programs of the grid do not wait for each other: {{.*}}; this store has no mask: mask=offs < n leaves out
    tl.store(x + o, tl.program_id(0) + 0.5)


@triton.jit
def unchecked(x):
    p = tl.make_block_ptr(x + tl.program_id(0) * 24, (24,), (1,), (0,), (32,), (0,))
    # UNCHECKED: {{^}}note: programs of the grid do not wait for each other: {{.*}}; nothing checks axis 0 of this block pointer
    tl.store(p, tl.zeros([32], tl.float32) + tl.program_id(0) + 1)


@triton.jit
def masked(x, n):
    o = tl.program_id(0) * 20 + tl.arange(0, 32)
    # MASKED: {{^}}note: programs of the grid do not wait for each other: use an atomic (tl.atomic_add …), or let each program write its own place{{$}}
    tl.store(x + o, tl.program_id(0) + 0.5, mask=o < n)


@triton.jit
def apart(x):
    # APART: reaches_neighbour.py:[[#@LINE+2]]:5: error: out-of-bounds store: program (1, 0, 0) stores element 128 of x
    # APART: {{^}}note: `tl.program_id(0) * 128` grows with program_id(0), which is 1 here: compare it with the elements that there are, or do this store under an `if`
    tl.store(x + tl.program_id(0) * 128, 1.0)


@triton.jit
def in_bytes(x):
    # BYTES: {{^}}note: adding to a pointer counts elements, not bytes: leave out the factor of 4 if it is their size; otherwise, this atomic access has no mask
    tl.atomic_add(x + tl.arange(0, 32) * 4, 1)
