# One value unpacked into several names: what the function gives, and how to get both.
# RUN: not %tilec %s -n k -s *fp32,*i32,i32 --emit=tile -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def k(x, lock, n):
    v = tl.load(x + tl.arange(0, 16))
    # CHECK: error: cannot unpack fp32[8] into 2 names
    # CHECK: {{^}}note: tl.topk gives the values alone: for their places, take int64 keys
    a, i = tl.topk(v, 8)
    # CHECK: error: cannot unpack fp32[16] into 2 names
    # CHECK: {{^}}note: tl.sort gives the values alone: for the order, sort int64 keys
    b, j = tl.sort(v)
    # CHECK: error: cannot unpack a scalar i32 into 2 names
    # CHECK: {{^}}note: tl.argmax gives the index alone: tl.max(x, axis, return_indices=True) gives the maximum and its
    c, h = tl.argmax(v, 0)
    # CHECK: error: cannot unpack a scalar fp32 into 2 names
    # CHECK: {{^}}note: tl.max and tl.min also give the index with return_indices=True
    d, g = tl.max(v, 0)
    # CHECK: error: cannot unpack a scalar i32 into 2 names
    # CHECK: {{^}}note: an atomic operation gives the old value alone
    old, ok = tl.atomic_cas(lock, 0, 1)
    # CHECK: error: cannot unpack i32[4] into 2 names
    # CHECK: {{^}}note: tl.histogram gives the counts alone
    counts, edges = tl.histogram(v.to(tl.int32), 4)
    m = tl.zeros((16, 16), tl.float16)
    # CHECK: error: cannot unpack fp32[16, 16] into 2 names
    # CHECK: {{^}}note: tl.dot gives one tensor: with tl.dot(a, b, acc), the new acc
    e, f = tl.dot(m, m)
    # CHECK: error: cannot unpack a tuple of 1 into 2 names
    # CHECK: {{^}}note: a shape has one number per axis: this one is of 1 axis
    rows, columns = v.shape
    # CHECK: error: cannot unpack the constant 3 into 2 names
    # CHECK: {{^}}note: to give both names this value, write a = b = …
    y, z = 3
    # CHECK: error: cannot unpack the constant 5 into 2 names
    # CHECK: {{^}}note: each item of (5, 6) is one number: write one name before `in`, or make 2 of each item, as in ((a, b), (c, d)); with enumerate(…) an item is its index and its value
    sums = [r + s for r, s in (5, 6)]
    # CHECK: error: cannot unpack the constant 0 into 3 names
    # CHECK: {{^}}note: each item of tl.static_range(2) is one number: write one name before `in`, or make 3 of each item
    for r, s, t in tl.static_range(2):
        tl.store(lock, r)
    # CHECK: error: cannot unpack a scalar i32 into 2 names
    # CHECK: {{^}}note: each item of range(n) is one number: write one name before `in`
    for r, s in range(n):
        tl.store(lock, r)
    desc = tl.make_tensor_descriptor(x, [n, 16], [16, 1], [8, 16])
    # CHECK: {{^}}note: load a block, which is one tensor
    p, q = desc
