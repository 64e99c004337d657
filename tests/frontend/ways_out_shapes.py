# The way out of an argument of the wrong shape, kind or width, and of a call that changes nothing for its caller.
# RUN: not %tilec %s -n arguments -s "*fp32, *fp16, *i32, i32, 64" -o - 2>&1 | FileCheck %s --check-prefix=ARGS
# RUN: not %tilec %s -n combine -s "*fp32, *fp32, i32, 64" -o - 2>&1 | FileCheck %s --check-prefix=COMBINE '--implicit-check-not=error:'
# RUN: not %tilec %s -n blocks -s "*fp32, *fp16:16, i32, i32:16, 64" -o - 2>&1 | FileCheck %s --check-prefix=BLOCKS
# RUN: not %tilec %s -n buffers -s "*fp16, *fp32" -o - 2>&1 | FileCheck %s --check-prefix=BUFFERS
# RUN: %tilec %s -n helpers -s "*fp32, *fp32, i32, 64" -o - 2>&1 >/dev/null | FileCheck %s --check-prefix=HELPERS '--implicit-check-not=warning:'
import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import warpgroup_mma


@triton.jit
def arguments(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    # ARGS: [[#@LINE+2]]:24: error: `other` without `mask` has no meaning
    # ARGS: note: leave it out, or say with mask= which elements to load: the others become `other`
    v = tl.load(x + i, other=0.0)
    v = tl.load(x + i)
    # ARGS: error: cannot cast fp32 to a pointer, only an integer
    # ARGS: note: p.dtype of a pointer is the pointer's type; its elements have p.dtype.element_ty
    tl.store(y + i, v.to(y.dtype))
    tl.store(y + i, v.to(y.dtype.element_ty))
    # ARGS: error: cannot bitcast fp32 (32 bits) to i16 (16 bits): the widths differ
    # ARGS: note: x.to(tl.int16) converts the value; for its bits, bitcast to tl.int32 and convert that
    tl.store(z + i, v.to(tl.int16, bitcast=True))
    tl.store(z + i, v.to(tl.int32, bitcast=True).to(tl.int16))
    # ARGS: error: cannot bitcast i16 (16 bits) to fp32 (32 bits): the widths differ
    # ARGS: note: x.to(tl.float32) converts each value; for several in one, load through a pointer that was cast, p.to(tl.pointer_type(tl.float32)), or shift and combine their bits
    tl.store(x + i, v.to(tl.int16).to(tl.float32, bitcast=True))
    tl.store(x + i, tl.load(y.to(tl.pointer_type(tl.float32)) + i))
    # ARGS: error: a tensor is indexed by `:` and `None` only
    # ARGS: note: tl.flip(x, 0) reverses this axis
    tl.store(x + i, v[::-1])
    # ARGS: error: a tensor is indexed by `:` and `None` only
    # ARGS: note: load the part that you need
    tl.store(x + i, v[::2])
    # ARGS: error: `sort` has no parameter `return_indices`
    # ARGS: note: values alone are sorted: for the order, sort int64 keys, each the value as an integer times 2**32 plus its index
    tl.sort(v, return_indices=True)
    # ARGS: error: `atomic_cas` has no parameter `mask`
    # ARGS: note: leave it out, and replace what is masked off: tl.where(mask, x, 0), or tl.where(mask, pointer, spare) of addresses
    tl.atomic_cas(z + i, 0, 1, mask=i < n)
    # ARGS: error: there are 2 constraints for 1 register of results and 2 of arguments: 3 in all, those of results with `=`, separated by commas
    tl.store(x + i, tl.inline_asm_elementwise("add.f32 $0, $1, $2;", "=f,f", [v, v], tl.float32, True, 1))


@triton.jit
def combine(x, y, n, BLOCK: tl.constexpr):
    v = tl.load(x + tl.arange(0, BLOCK))
    # COMBINE: [[#@LINE+2]]:33: error: tl.min reduces a tensor; `reduce` needs a function that combines two elements
    # COMBINE: note: write tl.min(x, axis), or give `reduce` tl.minimum
    tl.store(y, tl.reduce(v, 0, combine_fn=tl.min))
    # COMBINE: error: tl.sum reduces a tensor; `associative_scan` needs a function that combines two elements
    # COMBINE: note: write tl.sum(x, axis), or give `associative_scan` a function that returns a + b
    tl.store(y + tl.arange(0, BLOCK), tl.associative_scan(v, 0, tl.sum))
    tl.store(y, tl.reduce(v, 0, tl.minimum))


@triton.jit
def blocks(x, y, n, stride, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    p = tl.make_block_ptr(x, (1, n), (n, 1), (0, 0), (1, BLOCK), (1, 0))
    # BLOCKS: error: cannot store fp32[64] through a block pointer to fp32[1, 64]
    # BLOCKS: note: give it 2 axes: x[None, :] adds one, tl.reshape(x, [1, 64]) makes the block's shape
    tl.store(p, tl.load(x + i))
    tl.store(p, tl.load(x + i)[None, :])
    # BLOCKS: error: `order` must name each of the 2 axes once
    # BLOCKS: note: axes count from 0, and the fastest comes first: order=(1, 0) of a matrix stored by rows
    tl.make_block_ptr(x, (1, n), (n, 1), (0, 0), (1, BLOCK), (2, 1))
    d = tl.make_tensor_descriptor(y, (n, n), (stride, 1), (BLOCK, BLOCK))
    # BLOCKS: error: entry 0 of `offsets` must be a scalar integer, not i32[64]
    # BLOCKS: note: give the number that the block begins with, without tl.arange: the block's shape says how many follow
    d.store([0, 0], d.load([i, i]))


@gluon.jit
def buffers(x, y):
    rows: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    shared: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)
    # BUFFERS: error: `layout` of `allocate_shared_memory` must be a shared layout, not the constant gl.BlockedLayout
    # BUFFERS: note: as gl.NVMMASharedLayout.get_default_for(shape, dtype), which TMA and warpgroup_mma read, or gl.SwizzledSharedLayout(vec, per_phase, max_phase, order)
    gl.allocate_shared_memory(gl.float16, [64, 64], rows)
    a = gl.allocate_shared_memory(gl.float16, [64, 64], shared)
    b = gl.full([64, 64], 0.0, gl.float16, rows)
    product: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    # BUFFERS: error: `warpgroup_mma` needs a shared-memory buffer, this is fp16[64, 64]
    # BUFFERS: note: put the tensor there: gl.allocate_shared_memory(x.dtype, x.shape, layout, x)
    warpgroup_mma(a, b, gl.full([64, 64], 0.0, gl.float32, product))


@triton.jit
def accumulate(acc, p):
    acc += tl.load(p)


@triton.jit
def put(p, v):
    v = v * 2
    tl.store(p, v)


@triton.jit
def debug(v, ON: tl.constexpr):
    if ON:
        v = v + 1
        tl.device_print("v", v)


@triton.jit
def helpers(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    acc = tl.load(x + i)
    # HELPERS: [[#@LINE+4]]:5: warning: this call of `accumulate` does nothing: it stores nothing and returns nothing [-Wunused-value]
    # HELPERS: accumulate(acc, y + i)
    # HELPERS: note: `acc` is this function's own variable: return it, and assign what the call gives
    # HELPERS: acc += tl.load(p)
    accumulate(acc, y + i)
    put(y + i, acc)
    debug(acc, False)
