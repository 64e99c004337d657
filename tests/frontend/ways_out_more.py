# Ways out of mistakes with pointers, types, tuples and indices.
# RUN: not %tilec %s -n mistakes -s *fp32,*fp16,i32 --emit=tile -o - 2>&1 | FileCheck %s
# RUN: not %tilec %s -n scales -s *fp32,*u8 --emit=tile -o - 2>&1 | FileCheck %s --check-prefix=SCALES
# RUN: not %tilec %s -n tuples -s "*fp32,(fp32)" --emit=tile -o - 2>&1 | FileCheck %s --check-prefix=COMMA
import triton
import triton.language as tl


@triton.jit
def mistakes(p, h, n):
    o = tl.arange(0, 16)
    v = tl.load(p + o)
    # CHECK: ways_out_more.py:[[#@LINE+2]]:10: error: `dtype` of `to` must be a type
    # CHECK: {{^}}note: it takes the type that the pointer points to: tl.pointer_type(tl.float32)
    v.to(tl.pointer_type)
    # CHECK: ways_out_more.py:[[#@LINE+2]]:10: error: there is no builtin `tl.fp8e4m3fn`
    # CHECK: {{^}}note: write tl.float8e4nv
    v.to(tl.fp8e4m3fn)
    q = p + o,
    # CHECK: ways_out_more.py:[[#@LINE+2]]:13: error: `load` needs a pointer, this is a tuple of 1
    # CHECK: ways_out_more.py:[[#@LINE-2]]:5: note: `q` is made a tuple here: a comma at the end makes one
    tl.load(q)
    # CHECK: ways_out_more.py:[[#@LINE+1]]:12: error: `x` of `exp` must be a tensor or a number, not a tuple of 1
    tl.exp(q)
    # CHECK: ways_out_more.py:[[#@LINE+3]]:5: error: `join` needs one element type, got fp32[16] and a scalar *fp32
    # CHECK: {{^}}note: inside `interleave`
    # CHECK: {{^}}note: load what the pointer points to: tl.load(pointer)
    tl.interleave(v, p)
    # CHECK: {{^}}note: convert one with .to(…)
    tl.join(v, tl.load(h + o))
    b = tl.make_block_ptr(p, (n,), (1,), (0,), (16,), (0,))
    # CHECK: ways_out_more.py:[[#@LINE+2]]:19: error: `atomic_add` needs a pointer, this is a block pointer to fp32[16]
    # CHECK: {{^}}note: block pointers are for tl.load and tl.store: add offsets to the pointer that it was made of
    tl.atomic_add(b, v)
    # CHECK: ways_out_more.py:[[#@LINE+3]]:37: error: `load` has no parameter `padding`
    # CHECK: padding_option
    # CHECK: {{^}}note: did you mean `padding_option`?
    tl.load(b, boundary_check=(0,), padding="zero")
    # CHECK: ways_out_more.py:[[#@LINE+1]]:26: error: `max_contiguous` takes positive numbers, not -7
    tl.max_contiguous(o, -7)
    # CHECK: {{^}}note: add the start in 64 bits: start + tl.arange(0, N).to(tl.int64)
    tl.arange(2**32, 2**32 + 16)
    # CHECK: {{^}}note: load the part that you need from memory, take elements with tl.gather or tl.split, or choose by a condition: tl.where(mask, x, 0), also for a sum
    v[o > 3]
    # CHECK: error: constant 9223372036854775807 is out of range for type i32
    # CHECK: {{^}}note: it takes the type of the other operand: widen that first, x.to(tl.int64)
    tl.where(v > 0, o, 9223372036854775807)
    # CHECK: error: shapes [1, 16, 16] and [2, 16, 16] do not multiply: they have different numbers of matrices
    # CHECK: {{^}}note: repeat the one with tl.broadcast_to
    tl.dot(tl.zeros([1, 16, 16], tl.float16), tl.zeros([2, 16, 16], tl.float16))


@triton.jit
def scale(v, *, factor):
    return v * factor


@triton.jit
def tuples(p, n):
    # COMMA: error: `x` of `exp` must be a tensor or a number, not a tuple of 1
    # COMMA-NOT: comma at the end
    tl.store(p, tl.exp(n))
    # COMMA: error: `scale` takes 1 positional argument, 2 are given
    # COMMA: {{^}}note: what stands after `*` is given by its name: factor=…
    tl.store(p, scale(1.0, 2.0))


@triton.jit
def scales(p, e):
    r = tl.arange(0, 32)
    x = tl.load(e + r[:, None] * 32 + r[None, :])
    # SCALES: ways_out_more.py:[[#@LINE+2]]:5: error: static assertion failed: lhs_scale of dot_scaled is uint8
    # SCALES-SAME: or float8e4nv, not fp32: multiply the product by wider scales
    tl.dot_scaled(x, tl.load(p + r)[:, None], "e4m3", x, None, "e4m3")
    # SCALES: error: static assertion failed: lhs of dot_scaled is uint8, which is not of the format bf16
    tl.dot_scaled(x, None, "bf16", x, None, "e4m3")
