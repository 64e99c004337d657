# Misspelt names of Gluon's functions and of those of its modules: the nearest one of the same module, or the function
# whose name is a part of it.
# RUN: not %tilec %s -s *i32 -o - 2>&1 | FileCheck %s
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma


@gluon.jit
def k(x):
    # CHECK: [[#@LINE+4]]:5: error: there is no builtin `gl.local_barrier`
    # CHECK: note: the nearest name is `barrier`
    # CHECK: [[#@LINE+3]]:5: error: there is no builtin `gl.thread_barier`
    # CHECK: note: the nearest name is `thread_barrier`
    gl.local_barrier()
    gl.thread_barier()
    b = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    # CHECK: [[#@LINE+4]]:5: error: there is no builtin `gl.nvidia.hopper.mbarrier.initt`
    # CHECK: note: the nearest name is `init`
    # CHECK: [[#@LINE+3]]:5: error: there is no builtin `gl.nvidia.hopper.tma.async_copy_global_to_shred`
    # CHECK: note: the nearest name is `async_copy_global_to_shared`
    mbarrier.initt(b, count=1)
    tma.async_copy_global_to_shred(b)
