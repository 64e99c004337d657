# -Wwide-shift, -Wadded-twice, -Wunmasked-histogram; what is meant is not reported.
# RUN: %tilec %s -W -o - 2>&1 >/dev/null | FileCheck %s --implicit-check-not=warning:
# RUN: %tilec %s -Wno-wide-shift -Wno-added-twice -Wno-unmasked-histogram -o - 2>&1 >/dev/null | count 0
import triton
import triton.language as tl


@triton.jit
def shifts(b: "*u8", i: "*i32", u: "*u64", s: "*i16", BY: tl.constexpr = 16):
    k = tl.arange(0, 16)
    hi, w, v, h = tl.load(b + k), tl.load(i + k), tl.load(u + k), tl.load(s + k)
    # CHECK: warnings_values.py:[[#@LINE+3]]:21: warning: a shift by 8 of integers of 8 bits (u8) always gives 0 [-Wwide-shift]
    # CHECK: ^~~~~~~
    # CHECK: note: widen it first: hi.to(tl.int32) << 8
    tl.store(b + k, (hi << 8) | hi)
    # CHECK: warnings_values.py:[[#@LINE+2]]:21: warning: a shift by 32 of integers of 32 bits (i32) always gives 0 [-Wwide-shift]
    # CHECK: note: widen it first: w.to(tl.int64) << 32
    tl.store(i + k, w << 32)
    # CHECK: warnings_values.py:[[#@LINE+2]]:21: warning: a shift by 64 of integers of 64 bits (u64) always gives 0 [-Wwide-shift]
    # CHECK: note: shift by less than 64
    tl.store(u + k, v >> 64)
    # CHECK: warnings_values.py:[[#@LINE+2]]:5: warning: a shift by 16 of integers of 16 bits (i16) always gives 0 or -1 [-Wwide-shift]
    # CHECK: note: shift by less than 16
    h >>= BY
    tl.store(s + k, h)
    tl.store(b + k, (hi << 7) + (hi >> 7) + (hi.to(tl.int32) << 8 >> 24))
    tl.store(i + k, (w << 31) + (1 << w) + (w << hi))
    tl.store(u + k, v << 63)
    tl.store(i + k, h.to(tl.int32) << 31)


@triton.jit
def added(a: "*fp16", b: "*fp16", c: "*fp32"):
    r = tl.arange(0, 32)
    at = r[:, None] * 32 + r[None, :]
    acc = tl.zeros((32, 32), tl.float32)
    other = tl.zeros((32, 32), tl.float32)
    for k in range(0, 4):
        x, y = tl.load(a + k * 1024 + at), tl.load(b + k * 1024 + at)
        # CHECK: warnings_values.py:[[#@LINE+3]]:16: warning: this dot has added its accumulator already: the sum has it twice [-Wadded-twice]
        # CHECK: ^~~~~~~~~~~~~~~~~
        # CHECK: note: assign the result: acc = tl.dot(x, y, acc)
        acc += tl.dot(x, y, acc)
        # CHECK: warnings_values.py:[[#@LINE+1]]:17: warning: this dot has added its accumulator already
        other = tl.dot(x, y, acc=other) + other
        # CHECK: warnings_values.py:[[#@LINE+2]]:18: warning: this dot has added its accumulator already
        # CHECK: note: assign the result: acc = tl.dot(a, b, acc)
        other += tl.dot(tl.load(a + 4096 + k * 1024 + at), tl.load(b + 4096 + k * 1024 + at), other)
        other += tl.dot(x, y)
        other += tl.dot(x, y, acc)
        acc = tl.dot(x, y, acc)
    zero = tl.zeros((32, 32), tl.float32)
    zero += tl.dot(tl.load(a + at), tl.load(b + at), zero)
    tl.store(c + at, acc + other + zero)


@triton.jit
def counts(x: "*i32", h: "*i32", n: "i32", BINS: tl.constexpr = 16):
    i = tl.arange(0, 64)
    v = tl.load(x + i, mask=i < n)
    # CHECK: warnings_values.py:[[#@LINE+3]]:9: warning: this also counts the elements that the mask of the load leaves out: each counts as 0 [-Wunmasked-histogram]
    # CHECK: ^~~~~~~~~~~~~~~~~~~~~
    # CHECK: note: pass the mask of the load: tl.histogram(v, BINS, mask=i < n)
    r = tl.histogram(v, BINS)
    mask = i < n
    bytes_ = tl.load(x + i, mask, other=3).to(tl.int64)
    # CHECK: warnings_values.py:[[#@LINE+2]]:10: warning: this also counts the elements that the mask of the load leaves out: each counts as 3 [-Wunmasked-histogram]
    # CHECK: note: pass the mask of the load: tl.histogram(bytes_, BINS, mask=i < n)
    r += tl.histogram(bytes_, BINS)
    r += tl.histogram(v, BINS, mask=i < n)
    r += tl.histogram(tl.load(x + i, mask, other=-1), BINS)
    r += tl.histogram(tl.load(x + i, mask, other=BINS), BINS)
    r += tl.histogram(tl.load(x + i), BINS)
    r += tl.histogram(tl.where(mask, v, -1), BINS)
    tl.store(h + tl.arange(0, BINS), r)
