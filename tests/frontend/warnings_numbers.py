# -Wbool-sum, -Wnan-compare, -Wrow-stride and -Wlost-fraction of stores. What is meant is not reported.
# RUN: %tilec %s -n wrong -s "*fp32, *i32, *i64, i32, i32" --emit=tile -o - 2>&1 >/dev/null | FileCheck %s --implicit-check-not=warning:
# RUN: %tilec %s -n right -s "*fp32, *i32, *i64, *i8, i32, i32" --emit=tile -o - 2>&1 >/dev/null | count 0
import triton
import triton.language as tl


@triton.jit
def wrong(x, counts, labels, M, N):
    o = tl.arange(0, 16)
    v = tl.load(x + o)
    # CHECK: warnings_numbers.py:[[#@LINE+2]]:26: warning: a sum of int1 is int1: True + True is False [-Wbool-sum]
    # CHECK: {{^}}note: to count, write a.to(tl.int32) + b; for either, a | b
    tl.store(counts + o, ((v > 0) + (v > 1)).to(tl.int32))
    # CHECK: warnings_numbers.py:[[#@LINE+2]]:18: warning: nothing equals NaN, not even NaN: this is always false [-Wnan-compare]
    # CHECK: {{^}}note: x != x holds for NaN alone
    v = tl.where(v == float("nan"), 0.0, v)
    # CHECK: warnings_numbers.py:[[#@LINE+1]]:18: warning: nothing equals NaN, not even NaN: this is always true [-Wnan-compare]
    v = tl.where(float("nan") != v, v, 0.0)
    # CHECK: warnings_numbers.py:[[#@LINE+2]]:26: warning: fp32[16] is rounded toward zero to i64 before `store` [-Wlost-fraction]
    # CHECK: {{^}}note: let the pointer point to float32, or write .to(tl.int64) if whole numbers are meant
    tl.store(labels + o, v / 2)
    # CHECK: warnings_numbers.py:[[#@LINE+2]]:52: warning: these strides put rows as far apart as the shape has rows, whatever their length [-Wrow-stride]
    # CHECK: {{^}}note: in memory without gaps rows are as far apart as each is long: the shape is (rows, columns), the strides are (columns, 1)
    d = tl.make_tensor_descriptor(x, shape=[N, M], strides=[N, 1], block_shape=[16, 16])
    # CHECK: warnings_numbers.py:[[#@LINE+1]]:38: warning: these strides put rows as far apart
    p = tl.make_block_ptr(x, (M, N), strides=(M, 1), offsets=(0, 0), block_shape=(16, 16), order=(1, 0))
    tl.store(p, d.load([0, 0]))


@triton.jit
def right(x, counts, labels, bytes, M, N):
    o = tl.arange(0, 16)
    v = tl.load(x + o)
    tl.store(counts + o, (v > 0).to(tl.int32) + (v > 1) + (M > 1) * 2)
    v = tl.where((v != v) | ((v > 0) | (v < -1)), 0.0, v)
    tl.store(labels + o, tl.floor(v))
    tl.store(labels + o, (v / 2).to(tl.int64))
    tl.store(bytes + o, v / 2)
    d = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[16, 16])
    p = tl.make_block_ptr(x, (M, N), strides=(1, M), offsets=(0, 0), block_shape=(16, 16), order=(0, 1))
    tl.store(p, d.load([0, 0]))
    q = tl.make_tensor_descriptor(x, shape=[M, M], strides=[M, 1], block_shape=[16, 16])
    q.store([0, 0], tl.load(p))
