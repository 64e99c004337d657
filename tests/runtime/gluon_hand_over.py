# What reports of Gluon kernels say of copies that no wait covers, of mbarriers and of memory that nothing has written.
# DEFINE: %{run} = %status 5 %tilec run %s --device=sim --grid 1 --arg x=fp32[512]=arange --arg y=fp32[512]=zeros
# RUN: %{run} -k no_group | FileCheck %s --check-prefix=GROUP
# RUN: %{run} -k arrives_first | FileCheck %s --check-prefix=FIRST
# RUN: %{run} -k ended | FileCheck %s --check-prefix=ENDED
# RUN: %{run} -k other_ended | FileCheck %s --check-prefix=OTHER
# RUN: %{run} -k not_begun | FileCheck %s --check-prefix=BEGUN
# RUN: %{run} -k begun_again | FileCheck %s --check-prefix=AGAIN
# RUN: %{run} -k too_many | FileCheck %s --check-prefix=MANY
# RUN: %{run} -k unwritten | FileCheck %s --check-prefix=UNWRITTEN
# RUN: %status 5 %tilec run %s --device=sim --grid 1 -k few_bytes --arg "x=desc(fp16[32,64]=arange,[32,64])" --arg y=fp16[32,64]=zeros | FileCheck %s --check-prefix=BYTES
import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma

ROW = gl.BlockedLayout([4], [32], [4], [0])
FLAT = gl.SwizzledSharedLayout(1, 1, 1, order=[0])


@gluon.jit
def no_group(x, y):
    o = gl.arange(0, 512, ROW)
    smem = gl.allocate_shared_memory(gl.float32, [512], FLAT)
    async_copy.async_copy_global_to_shared(smem, x + o)
    async_copy.wait_group(0)
    # GROUP: error: program (0, 0, 0) reads smem before the copy of {{.*}}:[[#@LINE-2]] has arrived
    # GROUP: {{^}}note: async_copy.commit_group() after the copy makes it a group, for which async_copy.wait_group(0) waits
    gl.store(y + o, smem.load(ROW))


@gluon.jit
def arrives_first(x, y):
    o = gl.arange(0, 512, ROW)
    smem = gl.allocate_shared_memory(gl.float32, [512], FLAT)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    async_copy.mbarrier_arrive(bar)
    async_copy.async_copy_global_to_shared(smem, x + o)
    mbarrier.arrive(bar, count=1)
    mbarrier.wait(bar, 0)
    # FIRST: {{^}}note: async_copy.mbarrier_arrive(bar) covers the copies before it: put it after this copy, and then mbarrier.wait(bar, phase)
    gl.store(y + o, smem.load(ROW))


@gluon.jit
def ended(x, y):
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    for i in range(2):
        # ENDED: gluon_hand_over.py:{{[0-9]+}}:9: error: mbarrier misused
        mbarrier.arrive(bar, count=1)
        mbarrier.wait(bar, i & 1)
        # ENDED: gluon_hand_over.py:[[#@LINE+1]]:9: note: this ends an mbarrier
        mbarrier.invalidate(bar)
        # ENDED: {{^}}note: invalidate an mbarrier after the last wait for it


@gluon.jit
def other_ended(x, y):
    a = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    b = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(a, count=1)
    mbarrier.arrive(a, count=1)
    mbarrier.wait(a, 0)
    mbarrier.invalidate(a)
    # OTHER-NOT: this ends an mbarrier
    # OTHER: {{^}}note: mbarrier.init(bar, count=1) comes before the other uses
    mbarrier.arrive(b, count=1)


@gluon.jit
def not_begun(x, y):
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    # BEGUN: gluon_hand_over.py:[[#@LINE+2]]:5: error: mbarrier misused
    # BEGUN: {{^}}note: mbarrier.init(bar, count=1) comes before the other uses
    mbarrier.arrive(bar, count=1)


@gluon.jit
def begun_again(x, y):
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    for i in range(2):
        # AGAIN: gluon_hand_over.py:[[#@LINE+2]]:9: error: mbarrier misused
        # AGAIN: {{^}}note: an mbarrier is initialised once, before a loop, in which its phases alternate, as in mbarrier.wait(bar, i & 1); to begin anew, mbarrier.invalidate(bar) first
        mbarrier.init(bar, count=1)
        mbarrier.arrive(bar, count=1)
        mbarrier.wait(bar, 0)


@gluon.jit
def too_many(x, y):
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    mbarrier.arrive(bar, count=1)
    mbarrier.arrive(bar, count=1)
    # MANY: gluon_hand_over.py:[[#@LINE+1]]:5: error: deadlock: {{.*}}2 phases are complete{{$}}
    mbarrier.wait(bar, 0)
    mbarrier.invalidate(bar)


@gluon.jit
def unwritten(x, y):
    o = gl.arange(0, 512, ROW)
    smem = gl.allocate_shared_memory(gl.float32, [512], FLAT)
    # UNWRITTEN: gluon_hand_over.py:[[#@LINE+4]]:5: error: use of an undefined value
    # UNWRITTEN: gluon_hand_over.py:[[#@LINE+1]]:9: note: this loads shared memory that nothing has written: if another partition
    v = smem.load(ROW)
    o += 0
    gl.store(y + o, v)


@gluon.jit
def few_bytes(x, y):
    wide: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    a = gl.allocate_shared_memory(gl.float16, [32, 64], x.layout)
    b = gl.allocate_shared_memory(gl.float16, [32, 64], x.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    mbarrier.expect(bar, 4096)
    tma.async_copy_global_to_shared(x, [0, 0], bar, a)
    tma.async_copy_global_to_shared(x, [0, 0], bar, b)
    mbarrier.wait(bar, 0)
    # BYTES: error: program (0, 0, 0) reads {{[ab]}} before the copy of
    # BYTES: note: this copy; an mbarrier expects 4096 bytes less than its copies bring, so that a wait ends too early: mbarrier.expect counts all
    m = gl.arange(0, 32, gl.SliceLayout(1, wide))
    n = gl.arange(0, 64, gl.SliceLayout(0, wide))
    gl.store(y + m[:, None] * 64 + n[None, :], a.load(wide) + b.load(wide))
