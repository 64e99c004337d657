# -Wpointer-type, -Wlost-constant, -Wfloat-bits, -Wclamp-bounds, -Wsoftmax-axis, shifts by a tensor or a negative number,
# a function whose `return` ends itself alone, -Wtrans-order, -Wkeep-dims, -Wlost-fraction, -Wwidened-load,
# -Wsign-after-equals, -Wsame-tile, -Wempty-range and -Wsquare-broadcast. What is meant is not reported.
# RUN: %tilec %s -n more -s "*fp32, *i32, i32" --emit=tile -o - 2>&1 >/dev/null | FileCheck %s --check-prefix=MORE --implicit-check-not=warning:
# RUN: %tilec %s -n right_again -s "*fp32, *i32, i32" --emit=tile -o - 2>&1 >/dev/null | count 0
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


@triton.jit
def more(x, i, n):
    o = tl.arange(0, 16)
    v = tl.load(x + o[:, None] * 16 + o[None, :])
    # MORE: warnings_kinds.py:[[#@LINE+2]]:9: warning: this keeps the axes in their order: dims names the axis that comes first, then the next [-Wtrans-order]
    # MORE: {{^}}note: write tl.trans(v) to exchange them
    t = tl.trans(v, 0, 1)
    # MORE: warnings_kinds.py:[[#@LINE+2]]:9: warning: the number 1 is keep_dims here, and no second axis [-Wkeep-dims]
    # MORE: {{^}}note: reduce along one axis after the other, or along all with axis=None; if it is meant, write keep_dims=True
    s = tl.sum(t, 0, 1)
    # MORE: warnings_kinds.py:[[#@LINE+2]]:35: warning: fp32[1, 16] is rounded toward zero to i32 before `atomic_add` [-Wlost-fraction]
    # MORE: {{^}}note: let the pointer point to float32, or write .to(tl.int32) if whole numbers are meant
    tl.atomic_add(i + o[None, :], s)
    # MORE: warnings_kinds.py:[[#@LINE+2]]:33: warning: the mask lacks an axis, so that this loads [16, 16] through pointers [16, 1] [-Wwidened-load]
    # MORE: {{^}}note: give the mask the axes of the pointers, as in (o < n)[:, None]
    w = tl.load(x + o[:, None], mask=o < n)
    # MORE: warnings_kinds.py:[[#@LINE+3]]:7: warning: `=+` assigns the number that follows with this sign [-Wsign-after-equals]
    # MORE: {{^}}note: `+=` adds
    k = n
    k =+ 1
    # MORE: warnings_kinds.py:[[#@LINE+2]]:7: warning: `=-` assigns
    # MORE: {{^}}note: `-=` subtracts
    k =- k
    acc = tl.zeros((16,), tl.float32)
    # MORE: warnings_kinds.py:[[#@LINE+2]]:9: warning: `j` is not used, and every iteration loads the same elements [-Wsame-tile]
    # MORE: {{^}}note: add it to the offsets, or move the pointers by the step at the end of each iteration
    for j in range(0, n, 16):
        acc += tl.load(x + tl.arange(0, 16), mask=o < n, other=0.0)
    tl.store(x + o, acc + k)
    # MORE: warnings_kinds.py:[[#@LINE+1]]:48: warning: `&` binds more tightly than `==`: it combines the constant 0 and i1[16, 16] first [-Wbitwise-compare]
    tl.store(x + o[:, None] + o, tl.where(o == 0 & (w > 0), v, 0.0))
    # MORE: warnings_kinds.py:[[#@LINE+2]]:34: warning: the reduction along axis 1 has one value for each row, and is combined here as if it had one for each column [-Wsquare-broadcast]
    # MORE: {{^}}note: keep the axis in the reduction by keep_dims=True, or write x[:, None]
    tl.store(x + o[:, None] + o, v - tl.max(v, axis=1) * 2.0)
    e = tl.exp(v)
    # MORE: warnings_kinds.py:[[#@LINE+1]]:34: warning: the reduction along axis 1 has one value for each row
    tl.store(x + o[:, None] + o, e / tl.sum(e, axis=1))
    # MORE: warnings_kinds.py:[[#@LINE+2]]:14: warning: this range counts up, and is empty unless it begins below its end [-Wempty-range]
    # MORE: {{^}}note: a range that counts down has the step -1: range(n - 1, -1, -1)
    for j in range(n - 1, 0):
        tl.store(i + j, j)
    # MORE: warnings_kinds.py:[[#@LINE+1]]:14: warning: this range counts up
    for j in tl.static_range(3, -1):
        tl.store(i + j, j)


@triton.jit
def right_again(x, i, n):
    o = tl.arange(0, 16)
    v = tl.load(x + o[:, None] * 16 + o[None, :], mask=(o < n)[:, None])
    t = tl.trans(v, 1, 0) + tl.trans(v)
    s = tl.sum(t, 0, keep_dims=True) + tl.sum(t, 0, True) + tl.sum(t, 0, 0)
    tl.atomic_add(i + o[None, :], s.to(tl.int32))
    w = tl.load(x + o[:, None], mask=(o < n)[None, :]) + tl.load(x + o[None, :], mask=o < n)
    k = +1
    k = -k
    p = x + o
    acc = tl.zeros((16,), tl.float32)
    for j in range(0, n, 16):
        acc += tl.load(p)
        p += 16
    for j in range(0, n, 16):
        acc += tl.load(x + j + o)
    for j in range(n):
        acc *= tl.load(x + o)
    for _ in range(0, n, 16):
        acc *= tl.load(x + o)
    for j in range(0, n, 16):
        acc *= 2
        tl.store(x + o, tl.load(x + o) + acc)
    tl.store(x + o, acc + k)
    tl.store(x + o[:, None] + o, tl.where((o == 0) & (w > 0), v, 0.0))
    t = v - tl.max(v, axis=1)[:, None] - tl.max(v, axis=0) - tl.sum(v, 1, keep_dims=True) - tl.sum(v, 1)[None, :]
    # Another tile of the same size may have one value of the reduction for each of its columns.
    t += tl.load(x + 256 + o[:, None] * 16 + o[None, :]) * tl.sum(v, axis=1)
    for j in range(-4, 0):
        t += j
    for j in range(n, -1, -1):
        t += j
    for j in tl.range(0, 0):
        t += j
    tl.store(x + o[:, None] + o, t)
