# Functions of other releases and forks of Triton: what to write, or where the functions are listed.
# RUN: not %tilec %s -n k -s *fp32 -o - 2>&1 | FileCheck %s
# RUN: not %tilec %s -n g -s *fp32 -o - 2>&1 | FileCheck %s --check-prefix=GLUON
import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.language.extra import libdevice


@triton.jit
def k(x):
    v = tl.load(x + tl.arange(0, 8))
    # CHECK: [[#@LINE+2]]:5: error: there is no builtin `tl.atomic_load`
    # CHECK: {{^}}note: write tl.atomic_add(pointer, 0, sem="acquire"), which reads and changes nothing
    tl.atomic_load(x)
    # CHECK: [[#@LINE+2]]:5: error: there is no builtin `tl.extract_slice`
    # CHECK: {{^}}note: load the part by its own offsets; tl.gather
    tl.extract_slice(v, (0,), (4,), (1,))
    # CHECK: [[#@LINE+2]]:5: error: there is no builtin `libdevice.min`
    # CHECK: {{^}}note: write tl.minimum(x, y)
    libdevice.min(v, v)
    # CHECK: [[#@LINE+2]]:5: error: there is no builtin `tl.math.exq`
    # CHECK: {{^}}note: the nearest name is `exp`
    tl.math.exq(v)
    # CHECK: [[#@LINE+2]]:5: error: there is no builtin `tl.extra.cuda.smidd`
    # CHECK: {{^}}note: the nearest name is `smid`
    tl.extra.cuda.smidd()
    # CHECK: [[#@LINE+2]]:5: error: there is no builtin `tl.frobnicate`
    # CHECK: {{^}}note: docs/reference-builtins.md lists the functions of the language
    tl.frobnicate(v)


@gluon.jit
def g(x):
    # GLUON: [[#@LINE+2]]:5: error: there is no builtin `gl.amd.cdna4.buffer_copy`
    # GLUON: {{^}}note: it is of AMD's GPUs, and kernels are compiled for NVIDIA's
    gl.amd.cdna4.buffer_copy(x)
    # GLUON: [[#@LINE+2]]:5: error: there is no builtin `gl.frobnicate`
    # GLUON: {{^}}note: docs/reference-builtins.md lists the functions of the language
    gl.frobnicate(x)
