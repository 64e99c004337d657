# Reports of an access out of bounds begin with the place in the source, the program and the element, and say what to
# do by what the access has: the same on the simulator and the interpreter.
# DEFINE: %{args} = --grid 'cdiv(n,BLOCK)' --arg x=fp32[1000]=randn:1 --arg out=fp32[1000]=zeros --arg n=1000 -D BLOCK=256
# RUN: %status 5 %tilec run %s --device=sim -k unmasked %{args} | FileCheck %s --check-prefixes=UNMASKED,UNMASKED-SIM
# RUN: %status 5 %tilec run %s --device=interp -k unmasked %{args} | FileCheck %s --check-prefix=UNMASKED
# RUN: %status 5 %tilec run %s --device=sim -k in_bytes %{args} | FileCheck %s --check-prefix=BYTES
# RUN: %status 5 %tilec run %s --device=interp -k in_bytes %{args} | FileCheck %s --check-prefix=BYTES
# RUN: %status 5 %tilec run %s --device=sim -k counts %{args} | FileCheck %s --check-prefix=ATOMIC
# RUN: %status 5 %tilec run %s --device=interp -k counts %{args} | FileCheck %s --check-prefix=ATOMIC
# RUN: %status 5 %tilec run %s --device=sim -k swaps %{args} | FileCheck %s --check-prefix=SWAPS
# DEFINE: %{matrix} = --grid 4 --arg x=fp32[100,60]=randn:1 --arg out=fp32[100,60]=zeros --arg n=60
# RUN: %status 5 %tilec run %s --device=sim -k unchecked %{matrix} -D AXES='()' | FileCheck %s --check-prefixes=UNCHECKED,BOTH
# RUN: %status 5 %tilec run %s --device=interp -k unchecked %{matrix} -D AXES='()' | FileCheck %s --check-prefixes=UNCHECKED,BOTH
# RUN: %status 5 %tilec run %s --device=sim -k unchecked %{matrix} -D AXES='(1,)' | FileCheck %s --check-prefixes=UNCHECKED,FIRST
# RUN: %status 5 %tilec run %s --device=sim -k unchecked %{matrix} -D AXES='(0, 1)' -D ROWS=128 | FileCheck %s --check-prefixes=UNCHECKED,SHAPE
# RUN: %status 5 %tilec run %s --device=interp -k described --grid 1 --arg x=fp32[8,64]=ones --arg out=fp32[16,64]=zeros --arg n=16 | FileCheck %s --check-prefix=DESC
# What lies before the first element; what tl.where discards; what no product with the size of an element made.
# DEFINE: %{gather} = --grid 1 --arg x=fp32[64]=arange --arg idx=i32[64]=randint:3:-1:64 --arg out=fp32[64]=zeros --arg n=64
# RUN: %status 5 %tilec run %s --device=sim -k gathers %{gather} | FileCheck %s --check-prefixes=GATHERS
# RUN: %status 5 %tilec run %s --device=interp -k gathers %{gather} | FileCheck %s --check-prefixes=GATHERS
# RUN: %status 5 %tilec run %s --device=sim -k rolls %{gather} | FileCheck %s --check-prefixes=ROLLS
# RUN: %status 5 %tilec run %s --device=interp -k rolls %{gather} | FileCheck %s --check-prefixes=ROLLS
# RUN: %status 5 %tilec run %s --device=sim -k chooses %{gather} -D HOW=0 | FileCheck %s --check-prefixes=FIRST-ARM
# RUN: %status 5 %tilec run %s --device=interp -k chooses %{gather} -D HOW=0 | FileCheck %s --check-prefixes=FIRST-ARM
# RUN: %status 5 %tilec run %s --device=sim -k chooses %{gather} -D HOW=1 | FileCheck %s --check-prefixes=SECOND-ARM
# RUN: %status 5 %tilec run %s --device=sim -k chooses %{gather} -D HOW=2 | FileCheck %s --check-prefixes=MASKED-ARM
# RUN: %status 5 %tilec run %s --device=sim -k chooses %{gather} -D HOW=3 | FileCheck %s --check-prefixes=OTHER-USE
# RUN: %status 5 %tilec run %s --device=sim -k too_long %{gather} | FileCheck %s --check-prefixes=TOO-LONG
# RUN: %status 5 %tilec run %s --device=sim -k by_strides %{gather} -D STEP=4 | FileCheck %s --check-prefixes=STRIDES
# Arithmetic in 16 bits; the largest int32, which stands for nothing; a negative number taken as unsigned.
# RUN: %status 5 %tilec run %s --device=sim -k narrow %{gather} | FileCheck %s --check-prefixes=NARROW
# RUN: %status 5 %tilec run %s --device=interp -k narrow %{gather} | FileCheck %s --check-prefixes=NARROW
# RUN: %status 5 %tilec run %s --device=sim -k sentinel %{gather} | FileCheck %s --check-prefixes=LARGEST
# RUN: %status 5 %tilec run %s --device=interp -k sentinel %{gather} | FileCheck %s --check-prefixes=LARGEST
# RUN: %status 5 %tilec run %s --device=sim -k unsigned %{gather} | FileCheck %s --check-prefixes=UNSIGNED
# Copies of one access by a loop, of which the first cannot lie before the buffer; a product; indices not in the mask.
# RUN: %status 5 %tilec run %s --device=sim -k convolves %{gather} | FileCheck %s --check-prefixes=CONVOLVES
# RUN: %status 5 %tilec run %s --device=interp -k convolves %{gather} | FileCheck %s --check-prefixes=CONVOLVES
# RUN: %status 5 %tilec run %s --device=sim -k rows %{gather} | FileCheck %s --check-prefixes=PRODUCT
# RUN: %status 5 %tilec run %s --device=sim -k half_masked %{gather} | FileCheck %s --check-prefixes=HALF
# A block pointer that boundary_check keeps to its shape where the block may leave it.
# RUN: %status 5 %tilec run %s --device=sim -k heads --grid 4 --arg x=fp32[4,40,16]=ones --arg out=fp32[4,16]=zeros --arg n=40 -D D=16 | FileCheck %s --check-prefixes=HEADS
# RUN: %status 5 %tilec run %s --device=interp -k heads --grid 4 --arg x=fp32[4,40,16]=ones --arg out=fp32[4,16]=zeros --arg n=40 -D D=16 | FileCheck %s --check-prefixes=HEADS
# TMA, which passes choose for the loads: the parameter that points into the buffer.
# RUN: %status 5 %tilec run %s --device=sim -k inner --grid 1 --arg x=fp32[32,64]=ones --arg y=fp32[48,32]=ones --arg out=fp32[32,32]=zeros --arg n=32 --arg m=64 | FileCheck %s --check-prefixes=INNER
# The element is counted in the type that the access has.
# RUN: %status 5 %tilec run %s --device=sim -k as_bytes --grid 1 --arg x=fp32[16]=ones --arg out=fp32[16]=ones --arg n=1 | FileCheck %s --check-prefix=CAST
# RUN: %status 5 %tilec run %s --device=sim -k unmasked %{args} --diagnostics-format=json | FileCheck %s --check-prefix=JSON
import triton
import triton.language as tl


@triton.jit
def unmasked(x, out, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offs, mask=offs < n, other=0.0)
    # UNMASKED: {{^.*}}out_of_bounds_advice.py:[[#@LINE+7]]:5: error: out-of-bounds store: program (3, 0, 0) stores element 1000 of out, which has 1000{{$}}
    # UNMASKED-NEXT: {{^      }}tl.store(out + offs, v)
    # UNMASKED-NEXT: {{^      \^~~~~~~~~~~~~~~~~~~~~~~$}}
    # UNMASKED-NEXT: {{^}}note: this store has no mask: mask=offs < n leaves out the elements that do not exist
    # UNMASKED-SIM-NEXT: {{^}}out-of-bounds access: write of 8 bytes at
    # JSON: {"level": "error", "file": "{{.*}}out_of_bounds_advice.py", "line": [[#@LINE+2]], "column": 5, "end_line": [[#@LINE+2]], "end_column": 28, "name": null, "text": "out-of-bounds store: program (3, 0, 0) stores element 1000
    # JSON-SAME: "text": "this store has no mask: {{.*}}"text": "out-of-bounds access: write of 8 bytes at
    tl.store(out + offs, v)


@triton.jit
def in_bytes(x, out, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    # BYTES: :[[#@LINE+2]]:9: error: out-of-bounds load: program (0, 0, 0) loads element 1000 of x, which has 1000{{$}}
    # BYTES: {{^}}note: adding to a pointer counts elements, not bytes: leave out the factor of 4 if it is their size; otherwise, the mask of this load lets it through: compare the mask with what the offset reaches
    v = tl.load(x + offs * 4, mask=offs < n, other=0.0)
    tl.store(out + offs, v, mask=offs < n)


@triton.jit
def counts(x, out, n, BLOCK: tl.constexpr):
    # ATOMIC: error: out-of-bounds atomic access: program (0, 0, 0) updates element 1000 of out, which has 1000{{$}}
    # ATOMIC: note: this atomic access is of one element: compare its offset with the elements that there are
    tl.atomic_add(out + n + tl.program_id(0), 1.0)


@triton.jit
def swaps(x, out, n, BLOCK: tl.constexpr):
    # SWAPS: note: compare what the offset reaches with the elements that there are
    tl.atomic_cas(out.to(tl.pointer_type(tl.int32)) + n, 0, 1)


@triton.jit
def unchecked(x, out, n, AXES: tl.constexpr, ROWS: tl.constexpr = 100):
    row = tl.program_id(0) * 32
    p = tl.make_block_ptr(x, (ROWS, n), (n, 1), (row, 0), (32, 64), (1, 0))
    q = tl.make_block_ptr(out, (ROWS, n), (n, 1), (row, 0), (32, 64), (1, 0))
    # UNCHECKED: error: out-of-bounds load: program (3, 0, 0) loads element {{[0-9]+}} of x, which has 6000{{$}}
    # BOTH: note: nothing checks axes 0 and 1 of this block pointer: tl.load(p, boundary_check=(0, 1)) reads zeros outside of its shape
    # FIRST: note: nothing checks axis 0 of this block pointer: tl.load(p, boundary_check=(0, 1)) reads zeros outside of its shape
    # SHAPE: note: boundary_check keeps to the shape of the block pointer: its shape and strides reach past the buffer
    v = tl.load(p, boundary_check=AXES)
    tl.store(q, v, boundary_check=(0, 1))


@triton.jit
def described(x, out, n):
    d = tl.make_tensor_descriptor(x, shape=[n, 64], strides=[64, 1], block_shape=[16, 64])
    # DESC: error: out-of-bounds load: program (0, 0, 0) loads element 512 of x, which has 512{{$}}
    # DESC: note: the shape and strides of the descriptor reach past the buffer
    o = tl.arange(0, 16)[:, None] * 64 + tl.arange(0, 64)[None, :]
    tl.store(out + o, d.load([0, 0]))


@triton.jit
def as_bytes(x, out, n):
    p = out.to(tl.pointer_type(tl.int8))
    # CAST: error: out-of-bounds store: program (0, 0, 0) stores element 64 of out, which has 64{{$}}
    tl.store(p + 64 * n + tl.arange(0, 16), 0)


@triton.jit
def gathers(x, idx, out, n):
    i = tl.arange(0, 64)
    j = tl.load(idx + i)
    # GATHERS: error: out-of-bounds load: program (0, 0, 0) loads element -1 of x, which has 64{{$}}
    # GATHERS: {{^}}note: this load has no mask: mask=j >= 0 leaves out what lies before the first element{{$}}
    tl.store(out + i, tl.load(x + j))


@triton.jit
def rolls(x, idx, out, n):
    i = tl.arange(0, 64)
    # ROLLS: error: out-of-bounds load: program (0, 0, 0) loads element -3 of x, which has 64{{$}}
    # ROLLS: {{^}}note: the mask of this load lets it through: bound the offset from below, too: mask=(i < n) & ((i - 3) >= 0){{$}}
    tl.store(out + i, tl.load(x + (i - 3), mask=i < n))


@triton.jit
def chooses(x, idx, out, n, HOW: tl.constexpr):
    i = tl.arange(0, 64)
    j = tl.load(idx + i)
    ok = i < n
    if HOW == 0:
        # FIRST-ARM: note: tl.where computes both of its arms, so its condition belongs into the mask of the load: mask=j >= 0{{$}}
        v = tl.where(j >= 0, tl.load(x + j), 0.0)
    elif HOW == 1:
        # SECOND-ARM: note: tl.where computes both of its arms, so the opposite of its condition belongs into the mask of the load: mask=~(j < 0){{$}}
        v = tl.where(j < 0, 0.0, tl.load(x + j).to(tl.float16))
    elif HOW == 2:
        # MASKED-ARM: note: tl.where computes both of its arms, so its condition belongs into the mask of the load: mask=ok & (j >= 0){{$}}
        v = tl.where(j >= 0, tl.load(x + j, mask=ok), 0.0)
    else:
        # OTHER-USE: note: the mask of this load lets it through: bound the offset from below, too: mask=ok & (j >= 0){{$}}
        v = tl.load(x + j, mask=ok)
        v += tl.where(j >= 0, v, 0.0)
    tl.store(out + i, v)


@triton.jit
def too_long(x, idx, out, n):
    i = tl.arange(0, 64)
    # TOO-LONG: note: this load has no mask: mask=offs >= 0 leaves out what lies before the first element{{$}}
    tl.store(out + i, tl.load(x + i - 2))


@triton.jit
def by_strides(x, idx, out, n, STEP: tl.constexpr):
    i = tl.arange(0, 64)
    # STRIDES: note: the mask of this load lets it through: compare the mask with what the offset reaches{{$}}
    tl.store(out + i, tl.load(x + i * 3, mask=i < n))


@triton.jit
def narrow(x, idx, out, n):
    i = tl.arange(0, 64)
    r = (tl.load(idx + i) + 200).to(tl.int16)
    # NARROW: :[[#@LINE+2]]:9: error: out-of-bounds load: program (0, 0, 0) loads element -
    # NARROW: {{^}}note: {{.*}}out_of_bounds_advice.py:[[#@LINE+1]]:21 is computed in int16, which ends at 32767: convert its operands first, x.to(tl.int32)
    v = tl.load(x + r * 200)
    tl.store(out + i, v)


@triton.jit
def sentinel(x, idx, out, n):
    i = tl.arange(0, 64)
    first = tl.min(tl.where(tl.load(idx + i) > 64, i, 2147483647), 0)
    # LARGEST: loads element 2147483647 of x, which has 64
    # LARGEST: {{^}}note: 2147483647 is the largest int32, which often stands for something that was not found: leave it out before it is an offset
    tl.store(out, tl.load(x + first))


@triton.jit
def unsigned(x, idx, out, n):
    i = tl.arange(0, 64).to(tl.uint32)
    # UNSIGNED: loads element 4294967{{[0-9]+}} of x, which has 64
    # UNSIGNED: {{^}}note: a negative offset may have become unsigned (uint32), and large: keep offsets signed
    tl.store(out + i, tl.load(x + (i - 8)))


@triton.jit
def convolves(x, idx, out, n):
    i = tl.program_id(0) * 64 + tl.arange(0, 64)
    v = tl.zeros([64], tl.float32)
    for t in tl.static_range(4):
        pos = i - t
        # CONVOLVES: {{^}}note: the mask of this load lets it through: bound the offset from below, too: mask=(pos < n) & (pos >= 0){{$}}
        v += tl.load(x + pos, mask=pos < n, other=0.0)
    tl.store(out + i, v, mask=i < n)


@triton.jit
def rows(x, idx, out, n):
    d = tl.arange(0, 64)
    row = tl.load(idx) - 1000
    # PRODUCT: {{^}}note: this load has no mask: mask=row >= 0 leaves out what lies before the first element{{$}}
    tl.store(out + d, tl.load(x + row * 64 + d))


@triton.jit
def half_masked(x, idx, out, n):
    i = tl.arange(0, 4)[:, None]
    j = tl.program_id(0) * 32 + tl.arange(0, 32)[None, :]
    # HALF: {{^}}note: the mask of this store lets it through: it does not bound j; compare the mask with what the offset reaches{{$}}
    tl.store(out + i * 16 + j, 0.0, mask=i < n)


@triton.jit
def heads(x, out, n, D: tl.constexpr):
    h = tl.program_id(0)
    p = tl.make_block_ptr(x + h * n * D, (4 * n, D), (D, 1), (0, 0), (32, D), (1, 0))
    acc = tl.zeros([D], tl.float32)
    for _ in range(0, n, 32):
        # HEADS: error: out-of-bounds load: program (3, 0, 0)
        # HEADS: {{^}}note: shape and strides of the block pointer reach past the buffer: they count from its base, which was moved from the buffer's begin, so the shape must leave out what lies before{{$}}
        acc += tl.sum(tl.load(p, boundary_check=(0,)), 0)
        p = tl.advance(p, (32, 0))
    tl.store(out + h * D + tl.arange(0, D), acc)


@triton.jit
def inner(x, y, out, n, m):
    row = tl.arange(0, 32)[:, None]
    column = tl.arange(0, 32)[None, :]
    acc = tl.zeros((32, 32), dtype=tl.float32)
    for i in range(0, m, 16):
        k = i + tl.arange(0, 16)
        a = tl.load(x + row * m + k[None, :], mask=k[None, :] < m, other=0.0)
        # INNER: error: out-of-bounds load: program (0, 0, 0) loads element 1536 of y, which has 1536{{$}}
        b = tl.load(y + k[:, None] * n + column, mask=k[:, None] < m, other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(out + row * n + column, acc)
