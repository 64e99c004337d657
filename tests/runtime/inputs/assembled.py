from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, warpgroup_mma, warpgroup_mma_init, warpgroup_mma_wait


@gluon.jit
def nothing(out):
    gl.store(out, 1)


@gluon.jit
def multiply(a, b, out):
    acc_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 128, 16])
    acc = warpgroup_mma(a, b, gl.zeros([64, 128], gl.float32, acc_layout))
    m = gl.arange(0, 64, layout=gl.SliceLayout(1, acc_layout))
    n = gl.arange(0, 128, layout=gl.SliceLayout(0, acc_layout))
    gl.store(out + m[:, None] * 128 + n[None, :], acc)


@gluon.jit
def starved(out):
    shared: gl.constexpr = gl.NVMMASharedLayout(128, 16)
    a = gl.allocate_shared_memory(gl.float16, [64, 64], shared)
    b = gl.allocate_shared_memory(gl.float16, [64, 128], shared)
    gl.warp_specialize([(nothing, (out, )), (multiply, (a, b, out))], [4], [24])


@gluon.jit
def wide(out, K):
    shared: gl.constexpr = gl.NVMMASharedLayout(128, 16)
    acc_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 256, 16])
    a = gl.allocate_shared_memory(gl.float16, [128, 64], shared)
    b = gl.allocate_shared_memory(gl.float16, [64, 256], shared)
    acc = warpgroup_mma_init(gl.zeros([128, 256], gl.float32, acc_layout))
    for k in range(K):
        acc = warpgroup_mma(a, b, acc, is_async=True)
        acc = warpgroup_mma_init(warpgroup_mma_wait(1, deps=(acc, )))
    acc = warpgroup_mma_wait(0, deps=(acc, ))
    m = gl.arange(0, 128, layout=gl.SliceLayout(1, acc_layout))
    n = gl.arange(0, 256, layout=gl.SliceLayout(0, acc_layout))
    gl.store(out + m[:, None] * 256 + n[None, :], acc)


@gluon.jit
def swapped(out, K):
    shared: gl.constexpr = gl.NVMMASharedLayout(128, 16)
    acc_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    a = gl.allocate_shared_memory(gl.float16, [64, 64], shared)
    p = warpgroup_mma_init(gl.zeros([64, 64], gl.float32, acc_layout))
    q = warpgroup_mma_init(gl.full([64, 64], 1, gl.float32, acc_layout))
    for k in range(K):
        p = warpgroup_mma(a, a, p, is_async=True)
        q = warpgroup_mma(a, a, q, is_async=True)
        p, q = q, p
    p, q = warpgroup_mma_wait(0, deps=(p, q))
    m = gl.arange(0, 64, layout=gl.SliceLayout(1, acc_layout))
    n = gl.arange(0, 64, layout=gl.SliceLayout(0, acc_layout))
    gl.store(out + m[:, None] * 64 + n[None, :], p + 2 * q)
