# Mistakes with the shapes and types of accumulators and operands, with tuples of helpers and with names.
# RUN: not %tilec %s -n clamps -s "*i32" -o - 2>&1 | FileCheck %s --check-prefix=CLAMP
# RUN: not %tilec %s -n grows -s "*fp32" -o - 2>&1 | FileCheck %s --check-prefix=GROWS
# RUN: not %tilec %s -n adds_up -s "*i8,*i32" -o - 2>&1 | FileCheck %s --check-prefix=ADDS
# RUN: not %tilec %s -n multiplies -s "*fp16" -o - 2>&1 | FileCheck %s --check-prefix=SHAPES
# RUN: not %tilec %s -n divides -s "*fp32,i32" -o - 2>&1 | FileCheck %s --check-prefix=DIVIDES
# RUN: not %tilec %s -n unpacks -s "*fp32,i32" -o - 2>&1 | FileCheck %s --check-prefix=TUPLE
# RUN: not %tilec %s -n chooses -s "*fp32" -o - 2>&1 | FileCheck %s --check-prefix=NAME
# RUN: not %tilec %s -n scattered -s "*fp32,*i32" -o - 2>&1 | FileCheck %s --check-prefix=ROWS
import triton
import triton.language as tl


@triton.jit
def clamps(p):
    o = tl.arange(0, 16)
    x = tl.load(p + o)
    # CLAMP: :[[#@LINE+2]]:21: error: `clamp` works on floats, not on i32[16]
    # CLAMP: {{^}}note: write tl.minimum(tl.maximum(x, 0), 255), which take integers, too
    tl.store(p + o, tl.clamp(x, 0, 255))
    # CLAMP: :[[#@LINE+2]]:21: error: `div_rn` works on floats, not on i32[16]
    # CLAMP: {{^}}note: write x / 3 for a quotient in float32, or // for one that is an integer
    tl.store(p + o, tl.div_rn(x, 3))


@triton.jit
def grows(p):
    x = tl.load(p + tl.arange(0, 16)[:, None] * 32 + tl.arange(0, 32)[None, :])
    column = tl.zeros([16, 1], tl.float32)
    for _ in range(0, 4):
        # GROWS: :[[#@LINE+2]]:9: error: `column` changes its type in the loop: fp32[16, 1] before, fp32[16, 16] after
        # GROWS: {{^}}note: a value of shape [16] makes it grow: keep_dims=True gives the reduction the shape [16, 1]; or begin with [16]
        column += tl.sum(x, axis=1)
    tl.store(p + tl.arange(0, 16)[:, None], column)
    indexed = tl.zeros([16, 1], tl.float32)
    for _ in range(0, 4):
        # GROWS: {{^}}note: a value of shape [16] makes it grow: index that with None to have the shape [16, 1]; or begin with [16]
        indexed += tl.load(p + tl.arange(0, 16))
    tl.store(p + tl.arange(0, 16)[:, None], indexed)
    tile = tl.zeros([1, 32], tl.float32)
    for _ in range(0, 4):
        # GROWS: {{^}}note: a value of shape [16, 32] makes it grow: begin with what it grows to, tl.zeros([16, 32], tl.float32)
        tile += x
    tl.store(p + tl.arange(0, 32)[None, :], tile)


@triton.jit
def adds_up(p, out):
    i = tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :]
    acc = tl.zeros((32, 32), dtype=tl.float32)
    for _ in range(0, 4):
        # ADDS: :[[#@LINE+3]]:54: error: the accumulator of `dot` is fp32[32, 32], but the product is i32[32, 32]
        # ADDS: :[[#@LINE-3]]:5: note: `acc` gets its type here: create it with dtype=tl.int32
        # ADDS: {{^}}note: int8 and uint8 are multiplied and added up in int32{{$}}
        acc = tl.dot(tl.load(p + i), tl.load(p + i), acc)
    tl.store(out + i, acc)


@triton.jit
def multiplies(p):
    x = tl.load(p + tl.arange(0, 32)[:, None] * 64 + tl.arange(0, 64)[None, :])
    y = tl.load(p + tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :])
    z = tl.load(p + tl.arange(0, 128)[:, None] * 32 + tl.arange(0, 32)[None, :])
    # SHAPES: :[[#@LINE+4]]:5: error: shapes [32, 64] and [32, 32] do not multiply
    # SHAPES: :[[#@LINE-4]]:5: note: `x` has the shape [32, 64]: its K is 64
    # SHAPES: :[[#@LINE-4]]:5: note: `y` has the shape [32, 32]: its K is 32
    # SHAPES: {{^}}note: load both with one K, or, if one lies transposed, transpose the first: tl.dot(tl.trans(x), y)
    tl.dot(x, y)
    # SHAPES: {{^}}note: load both with one K: (…, M, K) times (…, K, N)
    tl.dot(x, z)


@triton.jit
def divides(p, n):
    # DIVIDES: :[[#@LINE+3]]:18: error: `//` divides integers, not fp32
    # DIVIDES: :[[#@LINE+2]]:{{[0-9]+}}: note: this division gives a float
    # DIVIDES: {{^}}note: divide integers by `//` there: (n // 2)
    tl.store(p + (tl.arange(0, 16) // (n / 2)), 0.0)


@triton.jit
def pair(pid, n):
    return pid % n, pid // n


@triton.jit
def unpacks(p, n):
    m = pair(tl.program_id(0), n)
    # TUPLE: :[[#@LINE+3]]:18: error: `+` does not combine a tuple of 8 and i32[16]
    # TUPLE: :[[#@LINE-8]]:5: note: `pair` is defined here, and returns a tuple
    # TUPLE: {{^}}note: unpack what it returns: a, b = pair(…)
    tl.store(p + (m * 4 + tl.arange(0, 16)), 0.0)
    # TUPLE: {{^}}note: unpack what it returns: a, b = pair(…)
    tl.store(p + tl.arange(0, 16), tl.exp(m))


@triton.jit
def pick(cond, a, b):
    # NAME: :[[#@LINE+2]]:21: error: `condition` is not defined
    # NAME: {{^}}note: did you mean `cond`?
    return tl.where(condition, a, b)


@triton.jit
def chooses(p):
    x = tl.load(p + tl.arange(0, 16))
    tl.store(p + tl.arange(0, 16), pick(x > 0, x, 0.0))


@triton.jit
def scattered(p, rows):
    row = tl.load(rows + tl.arange(0, 16))
    # ROWS: error: entry 0 of `offsets` must be a scalar integer, not i32[16]
    # ROWS: {{^}}note: a block of a block pointer or a descriptor is contiguous: for rows that lie apart use pointers, base + rows[:, None] * stride + columns[None, :], and a mask
    b = tl.make_block_ptr(p, (64, 64), (64, 1), (row, 0), (16, 64), (1, 0))
    tl.store(b, tl.zeros([16, 64], tl.float32))
