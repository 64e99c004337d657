# What atomic_cas compares, an index of gather that has another rank, a rounding that a type has: the way out compiles.
# RUN: not %tilec %s -k bits -o - 2>&1 | FileCheck %s --check-prefix=BITS --implicit-check-not=error:
# RUN: not %tilec %s -k floats -o - 2>&1 | FileCheck %s --check-prefix=FLOATS --implicit-check-not=error:
# RUN: not %tilec %s -k narrow -o - 2>&1 | FileCheck %s --check-prefix=NARROW --implicit-check-not=error:
# RUN: not %tilec %s -k rows -o - 2>&1 | FileCheck %s --check-prefix=ROWS --implicit-check-not=error:
# RUN: not %tilec %s -k cols -o - 2>&1 | FileCheck %s --check-prefix=COLS --implicit-check-not=error:
# RUN: not %tilec %s -k roundings -o - 2>&1 | FileCheck %s --check-prefix=ROUND
# RUN: %tilec %s -k fine -o - >/dev/null
import triton
import triton.language as tl


@triton.jit
def bits(best: "*fp32", m: "fp32"):
    old = tl.atomic_add(best, 0.0)
    # BITS: operand_types.py:[[#@LINE+3]]:25: error: `atomic_cas` compares and stores fp32, which is what the pointer points to; this is i32
    # BITS: ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
    # BITS: note: pass fp32, or, to compare bits, cast the pointer: best.to(tl.pointer_type(tl.int32))
    tl.atomic_cas(best, old.to(tl.int32, bitcast=True), m.to(tl.int32, bitcast=True))


@triton.jit
def floats(lock: "*i32", m: "fp32"):
    # FLOATS: operand_types.py:[[#@LINE+2]]:28: error: `atomic_cas` compares and stores i32, which is what the pointer points to; this is fp32
    # FLOATS: note: convert it: m.to(tl.int32)
    tl.atomic_cas(lock, 0, m)


@triton.jit
def narrow(lock: "*i32", n: "i64"):
    # NARROW: operand_types.py:[[#@LINE+2]]:25: error: `atomic_cas` compares and stores i32, which is what the pointer points to; this is i64
    # NARROW: note: convert it: n.to(tl.int32)
    tl.atomic_cas(lock, n, 1)


@triton.jit
def rows(x: "*fp32", ids: "*i32"):
    r, c, t = tl.arange(0, 64), tl.arange(0, 32), tl.arange(0, 16)
    table = tl.load(x + r[:, None] * 32 + c[None, :])
    i = tl.load(ids + t)
    # ROWS: error: `gather` needs tensors of one rank, got fp32[64, 32] and i32[16]
    # ROWS: note: for all elements at these positions of the axis: tl.gather(table, tl.broadcast_to(i[:, None], [16, 32]), axis=0)
    tl.store(x + t[:, None] * 32 + c[None, :], tl.gather(table, i, 0))


@triton.jit
def cols(x: "*fp32", ids: "*i32"):
    r, c, t = tl.arange(0, 64), tl.arange(0, 32), tl.arange(0, 16)
    table = tl.load(x + r[:, None] * 32 + c[None, :])
    i = tl.load(ids + t)
    # COLS: error: `gather` needs tensors of one rank, got fp32[64, 32] and i32[16]
    # COLS: note: for all elements at these positions of the axis: tl.gather(table, tl.broadcast_to(i[None, :], [64, 16]), axis=1)
    tl.store(x + r[:, None] * 16 + t[None, :], tl.gather(table, i, 1))


@triton.jit
def roundings(x: "*fp32", y: "fp32"):
    # ROUND: operand_types.py:[[#@LINE+2]]:25: error: `fp_downcast_rounding` of `to` cannot be "rne"
    # ROUND: note: the choices are "rtne"{{$}}
    y.to(tl.float8e4nv, fp_downcast_rounding="rne")
    # ROUND: operand_types.py:[[#@LINE+2]]:22: error: `fp_downcast_rounding` of `to` cannot be "rne"
    # ROUND: note: the choices are "rtne", "rtz"{{$}}
    y.to(tl.float16, fp_downcast_rounding="rne")
    # ROUND: note: the choices are "rtne", "rtz"{{$}}
    y.to(tl.float8e5, fp_downcast_rounding="rne")
    tl.store(x, y)


@triton.jit
def fine(best: "*fp32", wide: "*i64", x: "*fp32", ids: "*i32", m: "fp32", n: "i32"):
    old = tl.atomic_cas(best, 0, m)
    same = old.to(tl.int32, bitcast=True)
    tl.atomic_cas(best.to(tl.pointer_type(tl.int32)), same, m.to(tl.int32, bitcast=True))
    tl.atomic_cas(wide, n, n + 1)
    r, c, t = tl.arange(0, 64), tl.arange(0, 32), tl.arange(0, 16)
    table = tl.load(x + r[:, None] * 32 + c[None, :])
    i = tl.load(ids + t)
    tl.store(x + t[:, None] * 32 + c[None, :], tl.gather(table, tl.broadcast_to(i[:, None], [16, 32]), axis=0))
    tl.store(x + r[:, None] * 16 + t[None, :], tl.gather(table, tl.broadcast_to(i[None, :], [64, 16]), axis=1))
