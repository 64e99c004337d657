# -Wpointer-type, -Wlost-constant, -Wfloat-bits, -Wclamp-bounds, -Wsoftmax-axis, shifts by a tensor or a negative number,
# and a function whose `return` ends itself alone. What is meant is not reported.
# RUN: %tilec %s -n wrong -s "*fp32, *fp16, *i32, *i64, i32" --emit=tile -o - 2>&1 >/dev/null | FileCheck %s --implicit-check-not=warning:
# RUN: %tilec %s -n right -s "*fp32, *fp16, *i32, *i64, i32" --emit=tile -o - 2>&1 >/dev/null | count 0
# RUN: %tilec %s -n wrong -s "*fp32, *fp16, *i32, *i64, i32" -Wno-pointer-type -Wno-lost-constant -Wno-float-bits -Wno-clamp-bounds -Wno-softmax-axis -Wno-wide-shift -Wno-unused-value --emit=tile -o - 2>&1 >/dev/null | count 0
import triton
import triton.language as tl


@triton.jit
def guard(pid, n):
    if pid >= n:
        return


@triton.jit
def wrong(x, h, i, w, n):
    o = tl.arange(0, 64)
    v, u, k = tl.load(x + o), tl.load(h + o), tl.load(i + o)
    # CHECK: warnings_kinds.py:[[#@LINE+2]]:5: warning: this call of `guard` does nothing: it stores nothing and returns nothing [-Wunused-value]
    # CHECK: warnings_kinds.py:[[#@LINE-8]]:9: note: this ends `guard` alone, and its caller goes on: return the condition, and test it in an `if` there
    guard(tl.program_id(0), n)
    # CHECK: warnings_kinds.py:[[#@LINE+2]]:8: warning: *fp16, the type of a pointer, never equals fp16 [-Wpointer-type]
    # CHECK: {{^}}note: the type of the elements that it points to is .dtype.element_ty
    if h.dtype == tl.float16:
        u = u * 2
    # CHECK: warnings_kinds.py:[[#@LINE+2]]:9: warning: 1e-08 takes the type of the other operand, fp16, and is 0 there [-Wlost-constant]
    # CHECK: {{^}}note: compute in float32: convert the other operand with .to(tl.float32)
    u = u + 1e-8
    # CHECK: warnings_kinds.py:[[#@LINE+1]]:9: warning: 1000000.0 takes the type of the other operand, fp16, and is infinite there [-Wlost-constant]
    u = u * 1e6
    # CHECK: warnings_kinds.py:[[#@LINE+2]]:5: warning: `atomic_or` of fp32 works on the bits of the numbers, not on their values [-Wfloat-bits]
    # CHECK: {{^}}note: for flags use integers; for the larger value tl.atomic_max
    tl.atomic_or(x + o, v)
    # CHECK: warnings_kinds.py:[[#@LINE+2]]:5: warning: `atomic_xor` of fp32 works on the bits
    # CHECK: {{^}}note: for flags use integers{{$}}
    tl.atomic_xor(x + o, v)
    # CHECK: warnings_kinds.py:[[#@LINE+2]]:9: warning: the lower bound 6 of this clamp is above the upper one, 0: every element becomes 0 [-Wclamp-bounds]
    # CHECK: {{^}}note: the lower bound comes first: tl.clamp(v, 0, 6)
    v = tl.clamp(v, 6.0, 0.0)
    # CHECK: warnings_kinds.py:[[#@LINE+2]]:9: warning: softmax without dim goes along axis 0 of fp32[8, 8]: the sum of each column is 1 [-Wsoftmax-axis]
    # CHECK: {{^}}note: write dim=1 for the last axis, dim=0 for this one
    s = tl.softmax(tl.reshape(v, (8, 8)))
    # CHECK: warnings_kinds.py:[[#@LINE+2]]:21: warning: a shift by 32 or more of integers of 32 bits (i32) gives 0, and the number of bits goes up to 63 here [-Wwide-shift]
    # CHECK: {{^}}note: widen it first: tl.full([], 1, tl.int64) << …
    tl.store(w + o, 1 << o)
    # CHECK: warnings_kinds.py:[[#@LINE+2]]:28: warning: a shift by 64 or more of integers of 64 bits (i64) gives 0, and the number of bits goes up to 127 here [-Wwide-shift]
    # CHECK: {{^}}note: shift by less than 64
    tl.store(w + o, tl.sum(tl.full([], 1, tl.int64) << tl.arange(0, 128)))
    # CHECK: warnings_kinds.py:[[#@LINE+2]]:21: warning: a shift by the negative number -1 [-Wwide-shift]
    # CHECK: {{^}}note: shift the other way: k >> 1
    tl.store(i + o, k << -1)
    tl.store(x + o, v + tl.reshape(s, (64,)))
    tl.store(h + o, u)


@triton.jit
def right(x, h, i, w, n):
    o = tl.arange(0, 64)
    v, u, k = tl.load(x + o), tl.load(h + o), tl.load(i + o)
    if h.dtype.element_ty == tl.float16 and x.dtype != h.dtype:
        u = tl.where(k > 0, u, -1e30)
    u = tl.maximum(u, -1e6) + 0.0 + 1e-6 + float("inf")
    v = tl.clamp(v, 0.0, 6.0) + 1e-8
    s = tl.softmax(tl.reshape(v, (8, 8)), dim=1) + tl.softmax(tl.reshape(v, (8, 8)), dim=0)
    tl.atomic_or(i + o, k)
    tl.store(w + o, tl.full([], 1, tl.int64) << o)
    tl.store(i + tl.arange(0, 32), 1 << tl.arange(0, 32))
    tl.store(x + o, v + tl.reshape(s, (64,)) + tl.softmax(v))
    tl.store(h + o, u)
