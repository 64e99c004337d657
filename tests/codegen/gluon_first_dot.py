# A loop holds its sums in PTX registers of its own only if no dot is in flight when it begins: ptxas serialises all
# dots if their registers are moved meanwhile.
# RUN: %tilec %s -n matmul -s "tensordesc<fp16[64,64]>, tensordesc<fp16[64,64]>, tensordesc<fp16[64,64]>, i32, True" -o - | FileCheck %s --check-prefix=IN-FLIGHT
# RUN: %tilec %s -n matmul -s "tensordesc<fp16[64,64]>, tensordesc<fp16[64,64]>, tensordesc<fp16[64,64]>, i32, False" -o - | FileCheck %s --check-prefix=WAITED
# IN-FLIGHT-NOT: %sum
# IN-FLIGHT: wgmma.mma_async
# IN-FLIGHT-NOT: %sum
# WAITED: .reg .b32 %sum0_<32>;
# WAITED: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%sum0_0,
# Both give the product.
# RUN: bash -c 'for f in True False; do %tilec run %s -n matmul -q --device=sim --check --grid 1 --arg "a_desc=desc(fp16[64,192]=randint:1:-3:4,[64,64])" --arg "b_desc=desc(fp16[192,64]=randint:2:-3:4,[64,64])" --arg "c_desc=desc(fp16[64,64]=zeros,[64,64])" --arg K=192 -D FLYING=$f --expect "c_desc=a_desc @ b_desc" || exit 1; done'
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait)


@gluon.jit
def add(acc, a_desc, b_desc, k, a, b, bar, phase, FLYING: gl.constexpr):
    mbarrier.expect(bar, a_desc.block_type.nbytes + b_desc.block_type.nbytes)
    acc = warpgroup_mma_wait(0, deps=(acc,))
    tma.async_copy_global_to_shared(a_desc, [0, k], bar, a)
    tma.async_copy_global_to_shared(b_desc, [k, 0], bar, b)
    mbarrier.wait(bar, phase)
    acc = warpgroup_mma(a, b, acc, is_async=True)
    return acc if FLYING else warpgroup_mma_wait(0, deps=(acc,))


@gluon.jit
def matmul(a_desc, b_desc, c_desc, K, FLYING: gl.constexpr):
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    a = gl.allocate_shared_memory(a_desc.dtype, a_desc.block_type.shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, b_desc.block_type.shape, b_desc.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    acc = gl.zeros((64, 64), gl.float32, layout)
    acc = add(acc, a_desc, b_desc, 0, a, b, bar, 0, FLYING)
    phase = 1
    for k in range(64, K, 64):
        acc = add(acc, a_desc, b_desc, k, a, b, bar, phase, FLYING)
        phase ^= 1
    acc = warpgroup_mma_wait(0, deps=(acc,))
    c = gl.allocate_shared_memory(c_desc.dtype, c_desc.block_type.shape, c_desc.layout)
    c.store(acc.to(c_desc.dtype))
    fence_async_shared()
    tma.async_copy_shared_to_global(c_desc, [0, 0], c)
    tma.store_wait(0)
