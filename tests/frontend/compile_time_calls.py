# A function that runs at compile time calls one of the language, and imports of modules that are not there: no note
# asks for an import that the file has.
# RUN: not %tilec %s -n k -s *fp32,8 -o - 2>&1 | FileCheck %s --implicit-check-not="add the line"
# RUN: not %tilec %s -n forks -s *fp32,8 -o - 2>&1 | FileCheck %s --check-prefix=FORK --implicit-check-not="add the line"
import triton
import triton.language as tl
import triton.language.extra.tlx as tlx
import triton.language.extra.frob as frob
from triton.language.extra.cann import extension as al
from triton.language.extra.hip import libdevice

PROGRAMS = tl.num_programs(0)


@triton.constexpr_function
def total(b):
    return tl.num_programs(0) * b


def plain(b):
    return tl.program_id(0) * b


@triton.constexpr_function
def through(b):
    return total(b)


@triton.jit
def k(x, B: tl.constexpr):
    # CHECK: [[#@LINE+3]]:17: error: 'tl.num_programs(...)' is not known at compile time
    # CHECK: [[#@LINE-15]]:12: note: 'tl.num_programs' cannot be called at compile time
    # CHECK: {{^}}note: `total` runs at compile time: with @triton.jit in place of its decorator it is a function of ker
    tl.store(x, total(B))
    # CHECK: error: 'tl.program_id(...)' is not known at compile time
    # CHECK: {{^}}note: `plain` runs at compile time: with @triton.jit it is a function of kernels
    tl.store(x, plain(B))
    # CHECK: error: 'tl.num_programs(...)' is not known at compile time
    # CHECK: {{^}}note: it runs in kernels: call it there, or in a function with @triton.jit
    tl.store(x, through(B))
    # CHECK: error: 'tl.num_programs(...)' is not known at compile time
    # CHECK: {{^}}note: it runs in kernels: call it there
    tl.store(x, PROGRAMS)


@triton.jit
def forks(x, B: tl.constexpr):
    # FORK: [[#@LINE+3]]:5: error: 'triton.language.extra.tlx' is not known at compile time
    # FORK: note: no module 'triton.language.extra.tlx' is built in
    # FORK: {{^}}note: tl.load gives a tile, and the compiler places it; in Gluon write gl.allocate_shared_memory
    tlx.local_alloc((B,), tl.float32, 1)
    # FORK: error: 'triton.language.extra.cann.extension' is not known at compile time
    # FORK: {{^}}note: it is an extension for Ascend's processors: compute with tl's functions on whole tiles
    al.matmul_into(x)
    # FORK: error: 'triton.language.extra.frob' is not known at compile time
    # FORK: {{^}}note: docs/reference-builtins.md lists the functions of the language
    frob.nicate(x)
    # FORK: error: 'triton.language.extra.hip.libdevice' is not known at compile time
    # FORK: {{^}}note: write `from triton.language.extra import libdevice`
    libdevice.exp(x)
