# A pointer that the kernel never uses, while it stores to what it also loads.
# RUN: %tilec %s -n forgotten -s "*fp32, *fp32, i32" -o - 2>&1 >/dev/null | FileCheck %s
# RUN: %tilec %s -n forgotten -s "*fp32, *fp32, i32" -Wno-unused-parameter -o - 2>&1 >/dev/null | count 0
# RUN: %tilec %s -n other -s "*fp32, *fp32, *fp32" -o - 2>&1 >/dev/null | count 0
# RUN: %tilec %s -n named -s "*fp32, *fp32, i32" -D HAS=False -o - 2>&1 >/dev/null | count 0
# RUN: %tilec %s -n counted -s "*fp32, *i32, *fp32" -o - 2>&1 >/dev/null | count 0
# RUN: %tilec %s -n exempt -s "*fp32, *fp32" -o - 2>&1 >/dev/null | count 0
import triton
import triton.language as tl


@triton.jit
# CHECK: unused_parameter.py:[[#@LINE+2]]:18: warning: `out` is a pointer that the kernel never uses, and its stores go to `x`, which it also loads [-Wunused-parameter]
# CHECK: {{^}}note: store through `out` if it is the output; otherwise remove it, or begin its name with `_`{{$}}
def forgotten(x, out, n):
    p = x + tl.arange(0, 16)
    for _ in range(n):
        tl.store(p, tl.load(p) * 2)
        p += 16


@triton.jit
def other(x, y, unused):   # y is an output of its own
    tl.store(y, tl.load(x))


@triton.jit
def named(x, out, n, HAS: tl.constexpr):
    if HAS:
        tl.store(out, 1.0)
    tl.store(x, tl.load(x) + n)


@triton.jit
def counted(x, count, unused):   # an atomic operation has a result, too
    tl.store(x, tl.load(x) + 1)
    tl.atomic_add(count, 1)


@triton.jit
def exempt(x, _out):   # by its name
    tl.store(x, tl.load(x) + 1)
