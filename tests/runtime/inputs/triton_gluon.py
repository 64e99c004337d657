"""A Gluon program that knows nothing of tilec. Its arrays lie in the host's memory."""
import array
import collections
import struct

import triton
from triton.backends.compiler import GPUTarget
from triton.experimental import gluon
from triton.experimental.gluon import constexpr_function, jit, must_use_result
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonASTSource
from triton.experimental.gluon.language.amd.cdna3 import mfma
from triton.experimental.gluon.language.nvidia import blackwell
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.blackwell import TensorMemoryLayout, tcgen05_mma
from triton.experimental.gluon.language.nvidia.hopper import (fence_async_shared, mbarrier, tma, warpgroup_mma,
                                                              warpgroup_mma_accumulator, warpgroup_mma_init,
                                                              warpgroup_mma_wait)
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor
from triton.language.core import _aggregate as aggregate

Dtype = collections.namedtuple("Dtype", "name itemsize is_floating_point")
Dtype.__str__ = lambda self: f"torch.{self.name}"


class Tensor:
    """A tensor of PyTorch's, as far as a kernel asks."""

    is_cuda, device = False, "cpu"

    def __init__(self, code, name, values, *shape):
        self.code, self.shape = code, shape
        self.data = array.array("B", struct.pack(f"={len(values)}{code}", *values))
        self.dtype = Dtype(name, struct.calcsize(code), True)

    def data_ptr(self):
        return self.data.buffer_info()[0]

    def stride(self):
        return (self.shape[1], 1)

    def values(self):
        return list(struct.unpack(f"={len(self.data) // self.dtype.itemsize}{self.code}", self.data))


def numbers(seed, rows, columns, code="e", name="float16"):
    return Tensor(code, name, [(i * seed + i // 7) % 11 - 5 for i in range(rows * columns)], rows, columns)


def zeros(rows, columns, code="f", name="float32"):
    return Tensor(code, name, [0] * (rows * columns), rows, columns)


def described(tensor, block, **layout):
    layout = gl.NVMMASharedLayout.get_default_for(block, getattr(gl, tensor.dtype.name), **layout)
    return TensorDescriptor.from_tensor(tensor, block, layout)


def product(a, b, m, n, k):
    a, b = a.values(), b.values()
    return [sum(a[i * k + t] * b[t * n + j] for t in range(k)) for i in range(m) for j in range(n)]


# ---- layouts are objects of the host, and constants of kernels ----
TILE = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
PADDED: gl.constexpr = gl.PaddedSharedLayout.with_identity_for([[32, 4]], [32, 64], [1, 0])


@gluon.jit
def turned(x, y, layout: gl.constexpr, out: gl.constexpr):
    rows = gl.arange(0, 32, layout=gl.SliceLayout(1, layout))
    columns = gl.arange(0, 64, layout=gl.SliceLayout(0, layout))
    buffer = gl.allocate_shared_memory(gl.float32, [32, 64], PADDED)
    async_copy.async_copy_global_to_shared(buffer, x + rows[:, None] * 64 + columns[None, :])
    async_copy.commit_group()
    async_copy.wait_group(0)
    m = gl.arange(0, 32, layout=gl.SliceLayout(1, out))
    n = gl.arange(0, 64, layout=gl.SliceLayout(0, out))
    gl.store(y + m[:, None] + n[None, :] * 32, buffer.load(out))
    gl.static_assert(isinstance(layout, gl.BlockedLayout) and layout == TILE)


# ---- a ring between partitions, aggregates, a product ----
@gluon.constexpr_function
def accumulator(n, warps):
    return gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[warps, 1], instr_shape=[16, n, 16])


@aggregate
class Ring:
    a: gl.shared_memory_descriptor
    b: gl.shared_memory_descriptor
    full: gl.shared_memory_descriptor
    empty: gl.shared_memory_descriptor
    slots: gl.constexpr

    @gluon.constexpr_function
    def __init__(self, a, b, full, empty, slots):
        self.a = a
        self.b = b
        self.full = full
        self.empty = empty
        self.slots = gl.constexpr(slots)

    @gluon.jit
    def create(a: tma.tensor_descriptor, b: tma.tensor_descriptor, slots: gl.constexpr):
        full = gl.allocate_shared_memory(gl.int64, [slots, 1], mbarrier.MBarrierLayout())
        empty = gl.allocate_shared_memory(gl.int64, [slots, 1], mbarrier.MBarrierLayout())
        for i in gl.static_range(slots):
            mbarrier.init(full.index(i), count=1)
            mbarrier.init(empty.index(i), count=1)
        return Ring(gl.allocate_shared_memory(a.dtype, [slots] + a.block_type.shape, a.layout),
                    gl.allocate_shared_memory(b.dtype, [slots] + b.block_type.shape, b.layout), full, empty, slots)


@aggregate
class Sum:
    acc: warpgroup_mma_accumulator

    @constexpr_function
    def __init__(self, acc):
        self.acc = acc

    @must_use_result
    @jit
    def plus(self, a, b):
        return Sum(warpgroup_mma(a, b, self.acc, is_async=True))


@gluon.jit
def load(ring, a, b, steps):
    for i in range(steps):
        slot = i % ring.slots
        mbarrier.wait(ring.empty.index(slot), (i // ring.slots & 1) ^ 1)
        mbarrier.expect(ring.full.index(slot), a.block_type.nbytes + b.block_type.nbytes)
        k = i * a.block_type.shape[1]
        tma.async_copy_global_to_shared(a, [0, k], ring.full.index(slot), ring.a.index(slot))
        tma.async_copy_global_to_shared(b, [k, 0], ring.full.index(slot), ring.b.index(slot))


@gluon.jit
def multiply(ring, steps, layout: gl.constexpr, N: gl.constexpr):
    total = Sum(warpgroup_mma_init(gl.zeros([64, N], gl.float32, layout)))
    for i in range(steps):
        slot = i % ring.slots
        mbarrier.wait(ring.full.index(slot), i // ring.slots & 1)
        total = total.plus(ring.a.index(slot), ring.b.index(slot))
        total = Sum(warpgroup_mma_init(warpgroup_mma_wait(0, deps=(total.acc, ))))
        mbarrier.arrive(ring.empty.index(slot), count=1)
    return warpgroup_mma_wait(0, deps=(total.acc, ))


@gluon.jit
def matmul(a, b, out, Kind: gl.constexpr, SLOTS: gl.constexpr, num_warps: gl.constexpr):
    N: gl.constexpr = out.block_type.shape[1]
    ring = Kind.create(a, b, SLOTS)
    steps = a.shape[1] // a.block_type.shape[1]
    acc = gl.warp_specialize([(multiply, (ring, steps, accumulator(N, num_warps), N)), (load, (ring, a, b, steps))],
                             [1], [24])
    tile = gl.allocate_shared_memory(out.dtype, out.block_type.shape, out.layout, acc)
    fence_async_shared()
    tma.async_copy_shared_to_global(out, [0, 0], tile)
    tma.store_wait(pendings=0)


@gluon.jit
def halves(src, dst, layout: gl.constexpr):
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout(cga_layout=[[0]]))
    tile = gl.allocate_shared_memory(src.dtype, src.block_type.shape, src.layout)
    gl.static_assert(src.layout.cga_layout == layout.cga_layout)
    mbarrier.init(bar, count=1)
    mbarrier.expect(bar, src.nbytes_per_cta)
    tma.async_copy_global_to_shared(src, [0, 0], bar, tile)
    mbarrier.wait(bar, 0)
    tile.store(tile.load(layout) * 2)
    fence_async_shared()
    tma.async_copy_shared_to_global(dst, [0, 0], tile)
    tma.store_wait(pendings=0)


@gluon.jit
def newer(x, WHAT: gl.constexpr):
    if WHAT == 1:
        layout: gl.constexpr = TensorMemoryLayout([128, 128], col_stride=1)
    elif WHAT == 2:
        tcgen05_mma(x, x, x)
    elif WHAT == 3:
        blackwell.tma.async_gather(x, x, x, x, x)


def fails(act):
    try:
        act()
    except Exception as e:
        print(f"{type(e).__name__}: {e}")
        return
    raise AssertionError("it went through")


assert matmul.is_gluon() and {TILE: 1}[gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])] == 1
assert gl.SliceLayout(0, TILE) is gl.SliceLayout(dim=0, parent=TILE), "a launch knows it again"
bases = gl.SharedLinearLayout([[0, 1], [1, 0]]).offset_bases
bases[0] = bases.pop()
assert gl.SharedLinearLayout([[0, 1], [1, 0]]).offset_bases == [[0, 1], [1, 0]], "a list that was read is the reader's"
print(TILE, gl.SliceLayout(0, TILE).rank, mbarrier.MBarrierLayout())
print(gl.NVMMASharedLayout.get_default_for([128, 32], gl.float16, cga_layout=[[1, 0]]))
print(PADDED)
linear = gl.DistributedLinearLayout([[0, 1]], [[1, 0], [2, 0], [4, 0], [8, 0], [0, 2]], [[16, 0], [0, 0], [0, 4]], [], [32, 8])
print(gl._layouts.warps_per_cta(gl.SliceLayout(0, TILE), [64]), gl._layouts.warps_per_cta(linear, [32, 8]))

x, y = numbers(3, 32, 64, "f", "float32"), zeros(64, 32)
compiled = turned[(1,)](x, y, TILE, gl.BlockedLayout([4, 1], [8, 4], [1, 4], [0, 1]))
assert y.values() == [v for column in range(64) for v in x.values()[column::64]] and "cp.async" in compiled.asm["ptx"]

a, b, c = numbers(3, 64, 128), numbers(5, 128, 32), zeros(64, 32)
compiled = matmul[(1,)](described(a, [64, 32]), described(b, [32, 32]), described(c, [64, 32]), Ring, 3, num_warps=4,
                        maxnreg=128)
assert c.values() == product(a, b, 64, 32, 128)
print("right", compiled.metadata.num_warps, compiled.metadata.maxnreg)

x, y = numbers(3, 32, 64, "f", "float32"), zeros(32, 64)
for axis in (0, 1):
    cga = [[1 - axis, axis]]
    layout = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0], cga)
    y = zeros(32, 64)
    compiled = halves[(1,)](described(x, [32, 64], cga_layout=cga), described(y, [32, 64], cga_layout=cga), layout,
                            num_ctas=2)
    assert y.values() == [2 * v for v in x.values()] and compiled.metadata.num_ctas == 2

source = GluonASTSource(halves, {"src": f"tensordesc<fp32[32,64],{gl.NVMMASharedLayout(64, 32, cga_layout=cga)}>",
                                 "dst": f"tensordesc<fp32[32, 64], {gl.NVMMASharedLayout(64, 32, cga_layout=cga)}>"},
                        {"layout": layout})
built = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_ctas": 2})
assert "cp.async.bulk.tensor" in built.asm["ptx"] and built.metadata.num_ctas == 2

newer[(1,)](x, 0)
for what in (1, 2, 3):
    fails(lambda: newer[(1,)](x, what))
fails(lambda: TensorMemoryLayout([128, 128], col_stride=1))
fails(lambda: gl.BlockedLayout([1, 1], [32], [4], [0]))
fails(lambda: gl.nothing)
fails(lambda: described(a, [48, 32]))
fails(lambda: TensorDescriptor.from_tensor(a, [64, 32], gl.NVMMASharedLayout(64, 32)))
fails(lambda: TensorDescriptor.from_tensor(a, [64, 32], TILE))
fails(lambda: matmul[(1,)](described(a, [64, 32], transposed=True), described(b, [32, 32]), described(c, [64, 32]),
                           Ring, 3, num_warps=4))


# ---- AMD's names, which a program for several vendors imports and compares with

@gluon.jit
def for_amd(x, LAYOUT: gl.constexpr):
    if LAYOUT is None:
        mfma(x, x, x)
    i = gl.arange(0, 128, layout=LAYOUT)
    gl.store(x + i, i)


matrix = gl.amd.AMDMFMALayout(version=3, instr_shape=[32, 32, 8])
print(matrix, matrix == gl.amd.AMDMFMALayout(version=3, instr_shape=[32, 32, 8]),
      isinstance(gl.BlockedLayout([1], [32], [4], [0]), gl.amd.AMDMFMALayout))
fails(lambda: for_amd[(1,)](x, None))
fails(lambda: for_amd[(1,)](x, matrix))
for_amd[(1,)](x, gl.BlockedLayout([1], [32], [4], [0]))
fails(lambda: gl.amd.rdna4.wmma())
