# The way out of a call that lacks an argument or has a wrong one, and of a name or a loop that kernels do not have.
# RUN: not %tilec %s -n lacks -s *fp32,*fp32,i32,16 -o - 2>&1 | FileCheck %s --check-prefix=LACKS
# RUN: not %tilec %s -n wrong -s *fp32,*fp32,i32,16 -o - 2>&1 | FileCheck %s --check-prefix=WRONG '--implicit-check-not=py:{{[0-9]+:[0-9]+}}: error'
# RUN: not %tilec %s -n loops -s *fp32,*fp32,i32,16 -o - 2>&1 | FileCheck %s --check-prefix=LOOPS
import triton
import triton.language as tl


@triton.jit
def lacks(x, y, n, BLOCK: tl.constexpr):
    # LACKS: ways_out_calls.py:[[#@LINE+3]]:5: error: the call of `arange` lacks `end`
    # LACKS: note: its parameters: start, end
    # LACKS: note: write tl.arange(0, BLOCK)
    tl.arange(BLOCK)
    # LACKS: note: write tl.arange(0, BLOCK)
    tl.arange()
    # LACKS: note: write tl.program_id(0)
    tl.program_id()
    # LACKS: note: write tl.zeros((BLOCK,), tl.float32)
    tl.zeros((BLOCK,))
    # LACKS: note: write tl.full((BLOCK,), 0.0, tl.float32)
    tl.full((BLOCK,), 0.0)
    # LACKS: note: write tl.full([BLOCK], value=1, dtype=tl.float32)
    tl.full(value=1)
    # LACKS: note: write tl.store(x, value, mask=n > 0)
    tl.store(x, mask=n > 0)
    # LACKS: note: write tl.argmax(x, 0)
    tl.argmax(x)
    v = tl.load(x + tl.arange(0, BLOCK))
    # LACKS: error: the call of `argmin` lacks `axis`
    # LACKS: note: its parameters: input, axis, tie_break_left, keep_dims
    # LACKS: note: write v.argmin(0)
    v.argmin()
    m = v[:, None] + v[None, :]
    # LACKS: note: write tl.argmax(m, 1) for the last axis, or tl.argmax(tl.reshape(m, ([[#SQUARE:]],)), 0) for all elements
    tl.argmax(m)
    # LACKS: note: write m.argmin(1) for the last axis, or tl.reshape(m, ([[#SQUARE]],)).argmin(0) for all elements
    m.argmin()
    # LACKS: error: the call of `arange` lacks `start`, `end`
    # LACKS-NEXT: tl.arange(*())
    # LACKS: note: its parameters: start, end
    # LACKS-NOT: note: write
    tl.arange(*())


@triton.jit
def helper(a, b):
    return a + b


@triton.jit
def wrong(x, y, n, BLOCK: tl.constexpr):
    v = tl.load(x + tl.arange(0, BLOCK))
    # WRONG: ways_out_calls.py:[[#@LINE+3]]:15: error: `helper` has no parameter `c`
    # WRONG: note: its parameters: a, b
    # WRONG: note: what has no value is `b`
    helper(1, c=2)
    # WRONG: ways_out_calls.py:[[#@LINE+2]]:17: error: `store` has no parameter `val`
    # WRONG: note: what has no value is `value`
    tl.store(x, val=1)
    # WRONG: ways_out_calls.py:[[#@LINE+2]]:27: error: `max` takes 5 positional arguments, 6 are given
    # WRONG: note: its parameters: input, axis, return_indices, return_indices_tie_break_left, keep_dims
    tl.max(v, 0, 1, 2, 3, 4)
    # WRONG: ways_out_calls.py:[[#@LINE+2]]:55: error: `other` of `load` must be a tensor or a number, not the constant 'zero'
    # WRONG: note: it takes a number, such as 0.0, or a tensor
    tl.load(x + tl.arange(0, 8), tl.arange(0, 8) < n, other="zero")
    # WRONG: ways_out_calls.py:[[#@LINE+2]]:17: error: `value` of `store` must be a tensor or a number, not the constant '1'
    # WRONG: note: leave out the quotes: 1
    tl.store(x, "1")
    # WRONG: ways_out_calls.py:[[#@LINE+2]]:5: error: there is no builtin `tl.shared_memory`
    # WRONG: note: the compiler places tiles in shared memory itself: tl.zeros([BLOCK], tl.float32), or what tl.load gives
    tl.shared_memory((32,), tl.float32)
    # WRONG: ways_out_calls.py:[[#@LINE+2]]:5: error: there is no builtin `tl.debug_print`
    # WRONG: note: write tl.device_print("text", value)
    tl.debug_print(n)


@triton.jit
def loops(x, y, n, BLOCK: tl.constexpr):
    # LOOPS: ways_out_calls.py:[[#@LINE+2]]:5: error: cannot unpack a scalar fp32 into 2 names
    # LOOPS: note: one address holds one value: a = tl.load(p), b = tl.load(p + 1)
    a, b = tl.load(x)
    # LOOPS: ways_out_calls.py:[[#@LINE+2]]:5: error: cannot unpack a scalar i32 into 2 names
    # LOOPS: note: a function gives several values by `return a, b`
    a, b = n + 1
    # LOOPS: ways_out_calls.py:[[#@LINE+2]]:27: error: range over run-time bounds works in a `for` only
    # LOOPS: note: compute in the body of `for i in range(n):`, backwards `for i in range(n - 1, -1, -1):`, or declare the bound `n: tl.constexpr`
    c = [i for i in range(n)]
    # LOOPS: ways_out_calls.py:[[#@LINE+2]]:21: error: a comprehension in a kernel goes over a tuple or constants, not over a scalar i32
    # LOOPS: note: compute in the body of `for i in range(n):`, or declare the bound `n: tl.constexpr`
    d = [i for i in n]
    # LOOPS: ways_out_calls.py:[[#@LINE+2]]:21: error: a comprehension in a kernel goes over a tuple or constants, not over i32[8]
    # LOOPS: note: a tile has no loop over its elements: compute on the whole of it
    e = [i for i in tl.arange(0, 8)]
