# Names that only the other arm of an `if` assigns; buffers that change their type in a loop; a partition that is None.
# RUN: %status 1 %tilec %s -n uses_other_arm -s "uses_other_arm(*fp32, i32)" -o %t.ptx | FileCheck %s --check-prefix=ARM
# RUN: %status 1 %tilec %s -n rebinds -s "rebinds(*fp32, i32)" -o %t.ptx | FileCheck %s --check-prefix=REBINDS
# RUN: %status 1 %tilec %s -n nobody -s "nobody(*fp32)" -o %t.ptx | FileCheck %s --check-prefix=NOBODY
import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@triton.jit
def uses_other_arm(x, B: tl.constexpr):
    for i in range(tl.load(x).to(tl.int32)):
        if i % 2 == 0:
            b = tl.load(x + i)
            tl.store(x, b)
        else:
            # ARM: arms_and_buffers.py:[[#@LINE+5]]:29: error: `b` is not defined
            # ARM: arms_and_buffers.py:[[#@LINE-4]]:13: note: it is assigned here, in the other arm of the `if`
            # ARM: {{^}}note: give it a value in this arm, too, or before the `if`
            # ARM-NOT: did you mean
            # ARM-NOT: other arm
            tl.store(x + 1, b)
    # ARM: arms_and_buffers.py:[[#@LINE+1]]:17: error: `c` is not defined
    tl.store(x, c)


# REBINDS: error: `smem` changes its type in the loop: a shared-memory buffer of fp32[2, 32, 32] before,
# REBINDS: {{^}}note: give each buffer a name of its own{{$}}
@gluon.jit
def rebinds(x, n):
    flat: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    smem = gl.allocate_shared_memory(gl.float32, [2, 32, 32], flat)
    for i in range(n):
        smem = smem.index(i % 2)


@gluon.jit
def worker(x):
    gl.store(x, 1.0)


# NOBODY: arms_and_buffers.py:[[#@LINE+4]]:26: error: a partition is a function, this is None
# NOBODY: {{^}}note: a partition without work is a function, too: @gluon.jit def idle(): pass
@gluon.jit
def nobody(x):
    gl.warp_specialize([(None, ()), (worker, (x,))], [4], [24])
