# Ways out of arguments that are exchanged, of the wrong kind or in the wrong place, and of None where a loop or a
# function needs a value.
# RUN: not %tilec %s -n mistakes -s "*fp32, i32" --emit=tile -o - 2>&1 | FileCheck %s
# RUN: not %tilec %s -n loops -s "*fp32, i32, fp32" --emit=tile -o - 2>&1 | FileCheck %s --check-prefix=LOOPS
# RUN: not %tilec %s -n names -s "*fp32, i32" --emit=tile -o - 2>&1 | FileCheck %s --check-prefix=NAMES
import triton
import triton.language as tl


@triton.jit
def pair(v, HAS: tl.constexpr):
    if HAS:
        return v, v * 2
    return v


@triton.jit
def triple(v):
    return v, v


@triton.jit
def mistakes(p, n):
    o = tl.arange(0, 16)
    v = tl.load(p + o)
    m = v[:, None] + v[None, :]
    # CHECK: ways_out_arguments.py:[[#@LINE+2]]:22: error: `dtype` is given twice to `zeros`
    # CHECK: {{^}}note: the shape is one argument: [16, 32]{{$}}
    tl.zeros(16, 32, dtype=tl.float32)
    # CHECK: ways_out_arguments.py:[[#@LINE+3]]:13: error: `shape` of `full` must be a constant integer, not the constant 0.0
    # CHECK: {{^}}note: the shape comes first: tl.full((16,), 0.0, …){{$}}
    # CHECK-NOT: note: write //
    tl.full(0.0, (16,), tl.float32)
    # CHECK: ways_out_arguments.py:[[#@LINE+2]]:15: error: `assume` takes a condition on numbers, not i1[16]
    # CHECK: {{^}}note: of a tile tl.multiple_of, tl.max_contiguous and tl.max_constancy tell the compiler more; tl.device_assert checks it{{$}}
    tl.assume(o < n)
    # CHECK: ways_out_arguments.py:[[#@LINE+2]]:24: error: `input_precision` of `dot` must be a string, not the type fp32
    # CHECK: {{^}}note: positional arguments take the first parameters, here `input_precision`: write out_dtype=tl.float32{{$}}
    tl.dot(m, m, None, tl.float32)
    # CHECK: ways_out_arguments.py:[[#@LINE+2]]:8: error: `!=` does not combine a scalar *fp32 and a scalar i32
    # CHECK: {{^}}note: for an array that may be missing pass None, and test `if p is not None:`{{$}}
    if p != 0:
        tl.store(p, 0.0)
    # CHECK: ways_out_arguments.py:[[#@LINE+3]]:5: error: `sum` works on numbers, not on *fp32[16]
    # CHECK: {{^}}note: inside `sum`, which is written in the language itself
    # CHECK: {{^}}note: load the elements first: tl.load(…){{$}}
    tl.sum(p + o)
    # CHECK: ways_out_arguments.py:[[#@LINE+2]]:12: error: `exp` works on fp32 and fp64, not on *fp32[16]
    # CHECK: {{^}}note: load the elements first: tl.load(p + o){{$}}
    tl.exp(p + o)
    # CHECK: ways_out_arguments.py:[[#@LINE+2]]:13: error: `sqrt` works on fp32 and fp64, not on *fp32[16]
    # CHECK: {{^}}note: load the elements first: tl.load(…){{$}}
    tl.sqrt(p + o)
    # CHECK: ways_out_arguments.py:[[#@LINE+2]]:5: error: the right operand of `where` must be a tensor or a number, not None
    # CHECK: {{^}}note: write a number in place of None, such as 0.0{{$}}
    tl.where(o < n, v, None)
    # CHECK: ways_out_arguments.py:[[#@LINE+2]]:19: error: `minimum` has no parameter `axis`
    # CHECK: {{^}}note: it combines two tensors; tl.max, tl.min and tl.sum reduce one along an axis{{$}}
    tl.minimum(v, axis=0)
    # CHECK: ways_out_arguments.py:[[#@LINE+2]]:5: error: `//` divides integers, not fp32
    # CHECK: {{^}}note: write a / b for the quotient, or tl.floor(a / b){{$}}
    v // n
    # CHECK: ways_out_arguments.py:[[#@LINE+2]]:20: error: `mask` of `load` must be a tensor or a number, not a list of 2
    # CHECK: {{^}}note: combine conditions by `&`: (a < b) & (c < d){{$}}
    tl.load(p + o, mask=[o < n, o >= 0])
    # CHECK: {{^}}note: leave out the quotes: o < n{{$}}
    tl.load(p + o, mask="o < n")
    # CHECK: ways_out_arguments.py:[[#@LINE+2]]:13: error: `load` needs a pointer, this is a tuple of 2
    # CHECK: {{^}}note: access them one by one, as in tl.load(p[0], …){{$}}
    tl.load((p + o, p + o))
    # CHECK: ways_out_arguments.py:[[#@LINE+2]]:5: error: cannot unpack fp32[16] into 2 names
    # CHECK: ways_out_arguments.py:[[#@LINE-61]]:5: note: `pair` is defined here, and this call of it gives one value
    a, b = pair(v, False)
    # CHECK: ways_out_arguments.py:[[#@LINE+2]]:5: error: cannot unpack a tuple of 2 into 3 names
    # CHECK: ways_out_arguments.py:[[#@LINE-57]]:5: note: `triple` is defined here, and this call of it gives a tuple of 2
    a, b, c = triple(v)


@triton.jit
def loops(p, n, f):
    o = tl.arange(0, 16)
    acc, total, at = None, None, None
    for j in range(n):
        v = tl.load(p + j * 16 + o)
        # LOOPS: ways_out_arguments.py:[[#@LINE+3]]:9: error: `acc` is None before the loop, and fp32[16] after an iteration
        # LOOPS: ways_out_arguments.py:[[#@LINE-4]]:5: note: acc gets its first value here
        # LOOPS: {{^}}note: a loop at run time keeps one type: begin with tl.zeros([16], tl.float32), or what changes nothing{{$}}
        acc = v if acc is None else acc + v
        # LOOPS: error: `total` is None before the loop, and a scalar fp32 after an iteration
        # LOOPS: {{^}}note: a loop at run time keeps one type: begin with a number, or what changes nothing{{$}}
        total = tl.sum(v)
        # LOOPS: error: `at` is None before the loop, and *fp32[16] after an iteration
        # LOOPS: {{^}}note: a loop at run time keeps one type: begin with a pointer{{$}}
        at = p + o
    # LOOPS: error: `//` divides integers, not fp32
    # LOOPS: {{^}}note: `cdiv` takes integers: convert with .to(tl.int32){{$}}
    tl.store(p + tl.cdiv(f, 16), 0.0)


@triton.jit
def names(p, n):
    o = tl.arange(0, 16)
    v = tl.load(p + o)
    # NAMES: error: there is no builtin `tl.eye`
    # NAMES: {{^}}note: compare indices: i = tl.arange(0, N); tl.where(i[:, None] == i[None, :], 1.0, 0.0){{$}}
    tl.eye(16)
    # NAMES: error: there is no builtin `tl.logsumexp`
    # NAMES: {{^}}note: write m = tl.max(x, axis=0), then m + tl.log(tl.sum(tl.exp(x - m), axis=0)){{$}}
    tl.logsumexp(v, 0)
    # NAMES: error: there is no builtin `tl.scatter`
    # NAMES: {{^}}note: write tl.store(out + index, value, mask){{$}}
    tl.scatter(p, o, v)
    # NAMES: error: there is no builtin `tl.block_id`
    # NAMES: {{^}}note: write tl.program_id(0){{$}}
    tl.block_id(0)
    # NAMES: error: `pl` is not defined
    # NAMES: {{^}}note: write tl.program_id{{$}}
    pl.program_id(0)
    # NAMES: error: `pltpu` is not defined
    # NAMES: {{^}}note: this is Pallas: a block is loaded by tl.load(pointer + offsets, mask), and the program's number is tl.program_id(0){{$}}
    pltpu.ds(0, 16)
    # NAMES: error: `other` of `dot` must be a tensor or a number, not a list of 2
    # NAMES: {{^}}note: a list is no tile: load the numbers from memory, or compute them from tl.arange; one of them is t[0]{{$}}
    tl.dot(v, [1.0, 2.0])
