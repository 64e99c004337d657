# Ways out of values of the wrong kind: pointers and tensors where something else belongs, numbers that lack brackets, a
# variable with the name of a module.
# RUN: not %tilec %s -n mistakes -s "*fp32, *i32, i32" --emit=tile -o - 2>&1 | FileCheck %s
# RUN: not %tilec %s -n pairs -s "*fp32" --emit=tile -o - 2>&1 | FileCheck %s --check-prefix=PAIRS
# RUN: not %tilec %s -n hidden -s "*fp32, i32" --emit=tile -o - 2>&1 | FileCheck %s --check-prefix=HIDDEN --implicit-check-not=error:
import triton
import triton.language as tl


@triton.jit
def mistakes(p, i, n):
    o = tl.arange(0, 16)
    v, w = tl.load(p + o), tl.load(i + o)
    d = tl.make_tensor_descriptor(p, [64, 64], [64, 1], [16, 16])
    # CHECK: ways_out_kinds.py:[[#@LINE+2]]:5: error: `-` does not work on pointers
    # CHECK: {{^}}note: load the elements first: tl.load(…){{$}}
    -(p + o)
    # CHECK: ways_out_kinds.py:[[#@LINE+2]]:12: error: `abs` does not work on pointers
    # CHECK: {{^}}note: load the elements first: tl.load(p + o){{$}}
    tl.abs(p + o)
    # CHECK: ways_out_kinds.py:[[#@LINE+2]]:20: error: the value of `full` must be a scalar, not fp32[16]
    # CHECK: {{^}}note: repeat a tensor along axes of size 1 by tl.broadcast_to(x, shape){{$}}
    tl.full((16,), v, tl.float32)
    # CHECK: ways_out_kinds.py:[[#@LINE+2]]:18: error: `cat` takes two tensors, and this is a third
    # CHECK: {{^}}note: put pairs together: tl.cat(tl.cat(a, b), tl.cat(c, d)){{$}}
    tl.cat(v, v, v, v)
    # CHECK: ways_out_kinds.py:[[#@LINE+3]]:5: error: the call of `cat` lacks `other`
    # CHECK: {{^}}note: it takes two tensors, not a list: tl.cat(a, b); of four write tl.cat(tl.cat(a, b), tl.cat(c, d)){{$}}
    # CHECK-NOT: note: write
    tl.cat([v, v])
    # CHECK: ways_out_kinds.py:[[#@LINE+2]]:28: error: axis 1 of fp32[1, 16] is not of size 1
    # CHECK: {{^}}note: axis 0 is{{$}}
    tl.squeeze(v[None, :], 1)
    # CHECK: ways_out_kinds.py:[[#@LINE+2]]:19: error: axis 0 of fp32[16] is not of size 1
    # CHECK: {{^}}note: tl.sum, tl.max and tl.min reduce an axis; tl.reshape merges axes{{$}}
    tl.squeeze(v, 0)
    # CHECK: ways_out_kinds.py:[[#@LINE+2]]:5: error: `gather` needs tensors of one rank, got fp32[16] and i32[16, 1]
    # CHECK: {{^}}note: to index a vector by a matrix, flatten the index, and give the result its shape: tl.gather(x, tl.ravel(index), 0).reshape([16, 1]){{$}}
    tl.gather(v, w[:, None], 0)
    # CHECK: ways_out_kinds.py:[[#@LINE+2]]:5: error: `gather` needs tensors of one rank, got a scalar fp32 and i32[16]
    # CHECK: {{^}}note: gather from a tensor: tl.load(p + tl.arange(0, …)){{$}}
    tl.gather(tl.load(p), w, 0)
    # CHECK: ways_out_kinds.py:[[#@LINE+2]]:18: error: an index must be an integer tensor, not fp32[16]
    # CHECK: {{^}}note: convert it with .to(tl.int32){{$}}
    tl.gather(v, v, 0)
    # CHECK: ways_out_kinds.py:[[#@LINE+2]]:18: error: an index must be an integer tensor, not *i32[16]
    # CHECK: {{^}}note: load the indices first: tl.load(…){{$}}
    tl.gather(v, i + o, 0)
    # CHECK: ways_out_kinds.py:[[#@LINE+2]]:5: error: `>>` works on integers, not on i32 and fp32
    # CHECK: {{^}}note: the number of bits to shift by is an integer: convert it with .to(tl.int32){{$}}
    w >> v
    # CHECK: ways_out_kinds.py:[[#@LINE+2]]:5: error: constant 2654435761 is out of range for type i32
    # CHECK: {{^}}note: it takes the type of the other operand: widen that first, x.to(tl.int64), or compute without a sign, x.to(tl.uint32){{$}}
    w * 2654435761
    # CHECK: ways_out_kinds.py:[[#@LINE+2]]:5: error: constant 1099511627776 is out of range for type i32
    # CHECK: {{^}}note: it takes the type of the other operand: widen that first, x.to(tl.int64){{$}}
    w * 1099511627776
    # CHECK: ways_out_kinds.py:[[#@LINE+2]]:5: error: `%` does not combine u8 and i32: their signedness differs
    # CHECK: {{^}}note: convert the side without a sign by .to(tl.int32), or the other, where it is never negative, by .to(tl.uint32){{$}}
    w.to(tl.uint8) % n
    # CHECK: ways_out_kinds.py:[[#@LINE+2]]:12: error: `offsets` of `descriptor.load` has 1 entry for a rank of 2
    # CHECK: {{^}}note: write them in brackets: [n * 16, 0]{{$}}
    d.load(n * 16, 0)
    # CHECK: ways_out_kinds.py:[[#@LINE+3]]:32: error: `boundary_check` of `load` must be a constant integer, not the constant '.cg'
    # CHECK: {{^}}note: positional arguments take the first parameters, here `boundary_check`: write cache_modifier=".cg"{{$}}
    # CHECK-NOT: block pointers
    tl.load(p + o, o < n, 0.0, ".cg")
    # CHECK: {{^}}note: positional arguments take the first parameters, here `boundary_check`: write eviction_policy="evict_first"{{$}}
    tl.store(p + o, v, o < n, "evict_first")
    # CHECK: ways_out_kinds.py:[[#@LINE+3]]:5: error: the call of `clamp` lacks `max`
    # CHECK: {{^}}note: for one bound write tl.maximum(v, 0.0){{$}}
    # CHECK-NOT: note: write
    tl.clamp(v, min=0.0)
    # CHECK: {{^}}note: for one bound write tl.minimum(v, 6.0){{$}}
    tl.clamp(v, max=6.0)


@triton.jit
def pairs(p):
    v = tl.load(p + tl.arange(0, 16))
    c = tl.broadcast(v[:, None], v[None, :])
    # PAIRS: ways_out_kinds.py:[[#@LINE+2]]:5: error: `*` does not combine fp8e5 and i32
    # PAIRS: {{^}}note: convert one side with .to(…){{$}}
    v.to(tl.float8e5) * tl.arange(0, 16)
    # PAIRS: ways_out_kinds.py:[[#@LINE+2]]:5: error: `*` does not combine a tuple of 2 and fp32[16]
    # PAIRS: {{^}}note: tl.broadcast gives both operands in their common shape: a, b = tl.broadcast(a, b); operators broadcast by themselves{{$}}
    c * v
    # PAIRS: ways_out_kinds.py:[[#@LINE+2]]:5: error: `+` does not combine a tuple of 2 and fp32[16]
    # PAIRS: {{^}}note: tl.broadcast gives both operands
    tl.broadcast(v[None, :], tl.zeros([16, 16], tl.float32)) + v
    # PAIRS: ways_out_kinds.py:[[#@LINE+2]]:5: error: the constant 'exp' cannot be called
    # PAIRS: {{^}}note: pass the function itself, not its name{{$}}
    "exp"(v)


@triton.jit
def hidden(p, n):
    o = tl.arange(0, 16)
    # HIDDEN: ways_out_kinds.py:[[#@LINE+5]]:5: error: `tl` is a variable here, which hides the module `tl`
    # HIDDEN: ways_out_kinds.py:[[#@LINE+1]]:5: note: it is assigned here: give it another name
    tl = n // 2
    # The variable's own attributes are found.
    q = tl.to(tl.dtype)
    tl.store(p + o, q)
