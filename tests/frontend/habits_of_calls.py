# Habits of NumPy, PyTorch and CUDA in a kernel: the note gives the way out.
# RUN: not %tilec %s -n calls -s *fp32,*fp32,i32,128 -o - 2>&1 | FileCheck %s --check-prefix=CALLS
# RUN: not %tilec %s -n blocks -s *fp32,*fp32,i32,128 -o - 2>&1 | FileCheck %s --check-prefix=BLOCKS
# RUN: not %tilec %s -n counts -s *fp32,*fp32,i32,128 -o - 2>&1 | FileCheck %s --check-prefix=COUNTS
import triton
import triton.language as tl


@triton.jit
def calls(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    # CALLS: habits_of_calls.py:[[#@LINE+3]]:9: error: fp32[128, 1] cannot be called
    # CALLS: note: leave out the parentheses
    w = v[:, None]
    w = w()
    # CALLS: habits_of_calls.py:[[#@LINE+2]]:9: error: a tuple of 1 cannot be called
    # CALLS: note: leave out the parentheses
    s = v.shape()
    # CALLS: habits_of_calls.py:[[#@LINE+2]]:23: error: `mask` is given twice to `load`
    # CALLS: note: add offsets to the pointer: p + offsets
    t = tl.load(x, i, mask=i < n)
    # CALLS: habits_of_calls.py:[[#@LINE+2]]:26: error: `mask` is given twice to `load`
    # CALLS: note: its parameters: pointer, mask=None, {{.*}}; positional arguments take the first ones
    t = tl.load(x, True, mask=True)
    # CALLS: habits_of_calls.py:[[#@LINE+3]]:9: error: `axis` of `max` must be a constant integer, not the constant 0.0
    # CALLS: note: `max` reduces one tensor; write tl.maximum(a, b) for two
    # CALLS-NOT: write //
    m = tl.max(v, 0.0)
    # CALLS: error: `sort` has no parameter `reverse`
    # CALLS: note: write descending=
    v = tl.sort(v, reverse=True)


@triton.jit
def blocks(x, y, n, B: tl.constexpr):
    p = tl.make_block_ptr(x, (n, ), (1, ), (0, ), (B, ), (0, ))
    # BLOCKS: habits_of_calls.py:[[#@LINE+2]]:5: error: the left operand of `+` must be a tensor or a number, not a block pointer to fp32[128]
    # BLOCKS: note: it moves as a whole: p = tl.advance(p, (rows, columns)); where each row has an offset of its own, load through pointers: x + row[:, None] * stride + column[None, :]
    p += B


@triton.jit
def counts(x, y, n, B: tl.constexpr):
    count: tl.constexpr = tl.load(x).to(tl.int32)
    # COUNTS: habits_of_calls.py:[[#@LINE+4]]:18: error: entry 0 of `shape` of `zeros` must be a constant integer, not a scalar i32
    # COUNTS: habits_of_calls.py:[[#@LINE-2]]:5: note: declared a constexpr here, but this value is known only at run time
    # COUNTS: note: compute it on the host, and pass it as a constexpr parameter
    # COUNTS-NOT: note: shapes are known
    v = tl.zeros([count], tl.float32)
    # COUNTS: habits_of_calls.py:[[#@LINE+3]]:22: error: `end` of `arange` must be a constant integer, not a scalar i32
    # COUNTS: habits_of_calls.py:[[#@LINE-7]]:5: note: declared a constexpr here, but this value is known only at run time
    # COUNTS: note: compute it on the host, and pass it as a constexpr parameter
    w = tl.arange(0, count)
    size = n * 2
    # COUNTS: habits_of_calls.py:[[#@LINE+2]]:22: error: `end` of `arange` must be a constant integer, not a scalar i32
    # COUNTS: note: a plain assignment makes a run-time value; keep a constant with `x: tl.constexpr = …`, computed from constants, or a constexpr parameter
    u = tl.arange(0, size)
