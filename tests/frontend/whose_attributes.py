# Attributes asked of the wrong thing: a value, a type, an address or a block pointer.
# RUN: not %tilec %s -n values -s *fp32,i32,16 --emit=tile -o - 2>&1 | FileCheck %s
# RUN: not %tilec %s -n types -s *fp32,i32 --emit=tile -o - 2>&1 | FileCheck %s --check-prefix=TYPE
# RUN: not %tilec %s -n blocks -s *fp32,i32 --emit=tile -o - 2>&1 | FileCheck %s --check-prefix=BLOCK
import triton
import triton.language as tl


@triton.jit
def values(x, n, B: tl.constexpr):
    v = tl.load(x + tl.arange(0, 16))
    # CHECK: error: a tensor has no attribute `element_ty`
    # CHECK: {{^}}note: x.dtype is the type of the elements
    v.element_ty
    # CHECK: error: a scalar *fp32 has no attribute `elem_type`
    # CHECK: {{^}}note: write x.dtype.element_ty for the type of what it points to
    x.elem_type
    # CHECK: error: a tensor has no attribute `primitive_bitwidth`
    # CHECK: {{^}}note: the type has it: x.dtype.primitive_bitwidth
    v.primitive_bitwidth
    # CHECK: error: a tensor has no attribute `is_bf16`
    # CHECK: {{^}}note: the type has it: x.dtype.is_bf16
    v.is_bf16()
    # CHECK: error: a tensor has no attribute `float16`
    # CHECK: {{^}}note: write x.to(tl.float16)
    v.float16()
    # CHECK: error: a scalar *fp32 has no attribute `size`
    # CHECK: {{^}}note: an address has no extents: pass them to the kernel as parameters of their own
    x.size(0)
    # CHECK: error: the constant 16 cannot be called
    # CHECK: {{^}}note: leave out the parentheses
    v.numel()
    # CHECK: error: a type is called with one value to cast it
    # CHECK: {{^}}note: leave out the parentheses
    v.dtype()
    # CHECK: error: `item` needs a tensor of one element, this is fp32[16]
    # CHECK: {{^}}note: load the one element, or reduce the tensor: tl.sum(x), tl.max(x)
    v.item()


@triton.jit
def types(x, n):
    v = tl.load(x + tl.arange(0, 16))
    # TYPE: error: the type fp32 has no attribute `element_ty`
    # TYPE: {{^}}note: this is the type of the elements already: leave `.element_ty` out; pointer types have element_ty
    tl.zeros((16,), v.dtype.element_ty)
    # TYPE: error: the type *fp32 has no attribute `elem_type`
    # TYPE: {{^}}note: write .element_ty for the type of what it points to
    tl.zeros((16,), x.dtype.elem_type)
    # TYPE: error: the type <[16], fp32> has no attribute `dtype`
    # TYPE: {{^}}note: write .element_ty for the type of the elements
    v.type.dtype
    # TYPE: error: the type fp32 has no attribute `max`
    # TYPE: {{^}}note: write the number itself
    v.dtype.max
    # TYPE: {{^}}note: write .primitive_bitwidth for its bits, .itemsize for its bytes
    v.dtype.bits
    # TYPE: {{^}}note: write .is_floating()
    v.dtype.is_floating_point()
    # TYPE: {{^}}note: write .is_int_signed()
    v.dtype.is_signed()
    # TYPE: {{^}}note: this is a type; the value has it: x.to(…)
    v.dtype.to(tl.float32)


@triton.jit
def blocks(x, n):
    p = tl.make_block_ptr(x, (n,), (1,), (0,), (16,), (0,))
    # BLOCK: error: a block pointer has no attribute `load`
    # BLOCK: {{^}}note: call the function: tl.load(p, boundary_check=(…))
    p.load()
    # BLOCK: {{^}}note: call the function: tl.store(p, x, boundary_check=(…))
    p.store(0)
    # BLOCK: {{^}}note: keep what tl.make_block_ptr is given in variables: it is not read back
    p.shape
    # BLOCK: {{^}}note: its type has it: p.dtype.element_ty.element_ty
    p.element_ty
    # BLOCK: {{^}}note: load what it points to: tl.load(p, boundary_check=(…))
    p.to(tl.float32)
    # BLOCK: {{^}}note: it has advance, dtype and type; tl.load and tl.store take it
    p.frobnicate
