# The simulator says in the words of a Gluon kernel which operation is not waited for, and how to wait for it.
# RUN: %status 5 %tilec run %s -k copied --device=sim --grid 1 --arg x=fp32[512]=arange --arg y=fp32[512]=zeros | FileCheck %s --check-prefix=COPIED
# RUN: %status 5 %tilec run %s -k overwritten --device=sim --grid 1 --arg x=fp32[512]=arange --arg y=fp32[512]=zeros | FileCheck %s --check-prefix=OVERWRITTEN
# RUN: %status 5 %tilec run %s -k left_over --device=sim --grid 1 --arg x=fp32[512]=arange --arg y=fp32[512]=zeros | FileCheck %s --check-prefix=LEFT
# RUN: %status 5 %tilec run %s -k early --device=sim --sim-seed=1 --grid 1 --arg "x=desc(fp16[64,64]=randn:1,[64,64])" --arg y=fp16[64]=zeros | FileCheck %s --check-prefix=EARLY
# RUN: %status 5 %tilec run %s -k stored --device=sim --grid 1 --arg "x=desc(fp32[32,32]=zeros,[32,32])" | FileCheck %s --check-prefix=STORED
# RUN: %status 5 %tilec run %s -k product --device=sim --grid 1 --arg y=fp32[64,64]=zeros | FileCheck %s --check-prefix=PRODUCT
# RUN: %status 5 %tilec run %s -k operand --device=sim --grid 1 --arg y=fp32[64,64]=zeros | FileCheck %s --check-prefix=OPERAND
# RUN: %status 5 %tilec run %s -k again --device=sim --sim-seed=1 --grid 1 --buf "x=fp16[256,64]=randn:1" --arg "rows=desc(x,[64,64])" --arg y=fp16[64]=zeros | FileCheck %s --check-prefix=AGAIN
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait

FLAT = gl.constexpr(gl.BlockedLayout([4], [32], [4], [0]))
PLAIN = gl.constexpr(gl.SwizzledSharedLayout(1, 1, 1, [0]))
ROWS = gl.constexpr(gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0]))
TILE = gl.constexpr(gl.NVMMASharedLayout(128, 16, 2))


@gluon.jit
def copied(x, y):
    i = gl.arange(0, 512, FLAT)
    smem = gl.allocate_shared_memory(gl.float32, [512], PLAIN)
    async_copy.async_copy_global_to_shared(smem, x + i)
    async_copy.commit_group()
    # COPIED: {{^.*}}gluon_waits.py:[[#@LINE+5]]:9: error: program (0, 0, 0) reads smem before the copy of {{.*}}gluon_waits.py:[[#@LINE-2]] has arrived{{$}}
    # COPIED: {{^.*}}gluon_waits.py:[[#@LINE-3]]:5: note: this copy
    # COPIED: {{^}}note: wait for it first: async_copy.wait_group(0)
    # COPIED-NEXT: {{^}}asynchronous operation misused: reads shared+0x
    # COPIED-NOT: misused
    v = smem.load(FLAT)
    gl.store(y + i, v * 2)


@gluon.jit
def overwritten(x, y):
    i = gl.arange(0, 512, FLAT)
    ring = gl.allocate_shared_memory(gl.float32, [2, 512], PLAIN)
    slot = ring.index(1)
    async_copy.async_copy_global_to_shared(ring.index(1), x + i)
    async_copy.commit_group()
    # OVERWRITTEN: error: program (0, 0, 0) overwrites slot before the copy of {{.*}}gluon_waits.py:[[#@LINE-2]] has arrived{{$}}
    slot.store(gl.load(y + i))
    async_copy.wait_group(0)


@gluon.jit
def left_over(x, y):
    i = gl.arange(0, 512, FLAT)
    smem = gl.allocate_shared_memory(gl.float32, [512], PLAIN)
    # LEFT: {{^.*}}gluon_waits.py:[[#@LINE+2]]:5: error: program (0, 0, 0) ends while this copy may still access its shared memory
    # LEFT: {{^}}note: wait for it before the end: async_copy.wait_group(0)
    async_copy.async_copy_global_to_shared(smem, x + i)
    async_copy.commit_group()


@gluon.jit
def early(x, y):
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    tile = gl.allocate_shared_memory(x.dtype, [64, 64], x.layout)
    mbarrier.expect(bar, x.block_type.nbytes)
    tma.async_copy_global_to_shared(x, [0, 0], bar, tile)
    # EARLY: {{^.*}}gluon_waits.py:[[#@LINE+2]]:18: error: program (0, 0, 0) reads tile before the copy of {{.*}}gluon_waits.py:[[#@LINE-1]] has arrived{{$}}
    # EARLY: {{^}}note: wait for it first: mbarrier.wait(bar, phase)
    row = gl.sum(tile.load(ROWS), 0)
    gl.store(y + gl.arange(0, 64, gl.SliceLayout(0, ROWS)), row)
    mbarrier.wait(bar, 0)


@gluon.jit
def again(rows, y):
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    tile = gl.allocate_shared_memory(rows.dtype, [64, 64], rows.layout)
    acc = gl.zeros([64, 64], gl.float32, ROWS)
    for i in range(4):
        mbarrier.expect(bar, rows.block_type.nbytes)
        tma.async_copy_global_to_shared(rows, [i * 64, 0], bar, tile)
        # AGAIN: {{^.*}}gluon_waits.py:[[#@LINE+1]]:9: note: this waits for the same phase of the mbarrier again, which is over: phases alternate, as in mbarrier.wait(bar, i & 1)
        mbarrier.wait(bar, 0)
        acc += tile.load(ROWS).to(gl.float32)
        gl.barrier()
    gl.store(y + gl.arange(0, 64, gl.SliceLayout(0, ROWS)), gl.sum(acc, 0).to(gl.float16))


@gluon.jit
def stored(x):
    tile = gl.allocate_shared_memory(gl.float32, [32, 32], x.layout, gl.full([32, 32], 1.0, gl.float32, ROWS))
    fence_async_shared()
    tma.async_copy_shared_to_global(x, [0, 0], tile)
    # STORED: error: the store of program (0, 0, 0) reads tile, which {{.*}}gluon_waits.py:[[#@LINE+3]] overwrites at the same time{{$}}
    # STORED: note: the other access
    # STORED: {{^}}note: an access after this store waits for it by tma.store_wait(0); gl.barrier(), or an mbarrier, orders it after an earlier access
    tile.store(gl.full([32, 32], 2.0, gl.float32, ROWS))
    tma.store_wait(0)


@gluon.jit
def product(y):
    acc_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    a = gl.allocate_shared_memory(gl.float16, [64, 64], TILE, gl.full([64, 64], 1.0, gl.float16, ROWS))
    b = gl.allocate_shared_memory(gl.float16, [64, 64], TILE, gl.full([64, 64], 1.0, gl.float16, ROWS))
    fence_async_shared()
    acc = gl.zeros([64, 64], gl.float32, acc_layout)
    acc = warpgroup_mma(a, b, acc, is_async=True)
    acc = warpgroup_mma_wait(1, deps=[acc])  # one product may still run
    rows = gl.arange(0, 64, gl.SliceLayout(1, acc_layout))
    cols = gl.arange(0, 64, gl.SliceLayout(0, acc_layout))
    # PRODUCT: error: program (0, 0, 0) uses the result of the product of {{.*}}gluon_waits.py:[[#@LINE-4]] before that is done{{$}}
    # PRODUCT: {{^}}note: wait for it first: warpgroup_mma_wait(0, deps=[acc])
    gl.store(y + rows[:, None] * 64 + cols[None, :], acc)


@gluon.jit
def operand(y):
    acc_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    a = gl.allocate_shared_memory(gl.float16, [64, 64], TILE, gl.full([64, 64], 1.0, gl.float16, ROWS))
    b = gl.allocate_shared_memory(gl.float16, [64, 64], TILE, gl.full([64, 64], 1.0, gl.float16, ROWS))
    fence_async_shared()
    acc = gl.zeros([64, 64], gl.float32, acc_layout)
    acc = warpgroup_mma(a, b, acc, is_async=True)
    # OPERAND: error: program (0, 0, 0) overwrites b before the product of {{.*}}gluon_waits.py:[[#@LINE-1]] has read it{{$}}
    # OPERAND: {{^}}note: wait for it first: warpgroup_mma_wait(0, deps=[acc])
    b.store(gl.full([64, 64], 2.0, gl.float16, ROWS))
    acc = warpgroup_mma_wait(0, deps=[acc])
    rows = gl.arange(0, 64, gl.SliceLayout(1, acc_layout))
    cols = gl.arange(0, 64, gl.SliceLayout(0, acc_layout))
    gl.store(y + rows[:, None] * 64 + cols[None, :], acc)
