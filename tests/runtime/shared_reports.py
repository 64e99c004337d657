# What leads the simulator's reports of shared memory: threads that race for it, and values that nothing has stored.
# DEFINE: %{run} = %status 5 %tilec run %s --device=sim --arch=sm_90a --grid 1 --arg y=i32[128]=zeros
# RUN: %{run} -k shared_race | FileCheck %s --check-prefix=RACE
# RUN: %{run} -k never_stored | FileCheck %s --check-prefix=UNDEFINED
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


# RACE: {{^.*}}shared_reports.py:[[#@LINE+12]]:42: error: race: program (0, 0, 0) loads shared memory, which another of its threads stores without a barrier in between
# RACE-NEXT: gl.store(y + gl.arange(0, 128, lay), buf.load(lay))
@gluon.jit
def writer(buf, y):
    lay: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    # RACE: {{^.*}}shared_reports.py:[[#@LINE+1]]:5: note: the other thread stores it here
    buf.store(gl.arange(0, 128, lay))


@gluon.jit
def reader(buf, y):
    lay: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    gl.store(y + gl.arange(0, 128, lay), buf.load(lay))
# RACE: {{^}}note: an mbarrier orders partitions of warps, gl.barrier() the warps of one
# RACE: {{^}}race: reads shared+0x{{[0-9a-f]+}} of CTA 0, which thread {{[0-9]+}} of CTA 0 at ptx:{{[0-9]+}} writes without a barrier in between


@gluon.jit
def shared_race(y):
    buf = gl.allocate_shared_memory(gl.int32, [128], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    lay: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    buf.store(gl.arange(0, 128, lay) * 2)
    gl.warp_specialize([(writer, (buf, y)), (reader, (buf, y))], [4], [64])


@gluon.jit
def never_stored(y):
    buf = gl.allocate_shared_memory(gl.int32, [128], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    lay: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    gl.store(y + gl.arange(0, 128, lay), buf.load(lay))
# UNDEFINED: {{^.*}}shared_reports.py:[[#@LINE-1]]:5: error: use of an undefined value in program (0, 0, 0): a value stored to global memory has never been set (or was computed from a value that has not)
# UNDEFINED: {{^}}note: memory has no value until the host or the kernel stores one: shared memory has none at first
# UNDEFINED: {{^}}use of an undefined value: a value stored to global memory
# UNDEFINED: {{^}}launching never_stored on {{.*}}: CUDA_ERROR_LAUNCH_FAILED
