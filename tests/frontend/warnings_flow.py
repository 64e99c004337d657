# -Wunreachable, -Wmissing-store, -Wredefinition: each fires, and near misses do not.
# RUN: %tilec %s -o - 2>&1 >/dev/null | FileCheck %s --implicit-check-not=warning:
# RUN: %tilec %s -Wno-all -o - 2>&1 >/dev/null | count 0
# RUN: not %tilec %s -Werror -Wno-error=redefinition -o - 2>&1 >/dev/null | FileCheck %s --check-prefix=ERROR
# ERROR: warning: `twice` is defined again
# ERROR: error: this statement cannot be reached [-Werror=unreachable]
# ERROR: error: kernel `loads` stores nothing, so it has no effect [-Werror=missing-store]
import functools
import typing

import triton
import triton.language as tl


@triton.jit
def twice(x):
    return x * 2


# CHECK: warnings_flow.py:[[#@LINE+4]]:5: warning: `twice` is defined again, and the first one is never used [-Wredefinition]
# CHECK-NEXT: def twice
# CHECK: warnings_flow.py:[[#@LINE-6]]:5: note: the first one is here: remove or rename one of them
@triton.jit
def twice(x):
    return x + x


# Definitions that are used before the next one, overloads, `_`, and those of branches.
def wrapped(x):
    return x


wrapped = functools.lru_cache(wrapped)


def wrapped(x):
    return x


@typing.overload
def overloaded(x: int):
    ...


def overloaded(x):
    return x


def _(x):
    return x


def _(y):
    return y


if tl:
    def chosen(x):
        return x
else:
    def chosen(x):
        return x + 1


@triton.jit
def exits(x, N: tl.constexpr):
    for i in range(4):
        if x > i:
            break
# CHECK: warnings_flow.py:[[#@LINE+2]]:13: warning: this statement cannot be reached [-Wunreachable]
# CHECK: warnings_flow.py:[[#@LINE-2]]:13: note: no path leads past this statement; remove what follows it
            x += 1
        elif x == 2:
            continue
        x += i
    if N == 1:
        return x
        "a text is no code"
    elif N == 2:
        tl.static_assert(False, "N")
# CHECK: warnings_flow.py:[[#@LINE+1]]:9: warning: this statement cannot be reached
        x = 2
    elif N == 3:
        raise ValueError("N")
    if N > 4:
        return x
    else:
        return x + 1
# CHECK: warnings_flow.py:[[#@LINE+1]]:5: warning: this statement cannot be reached
    return x + 2


# After an `if` of which one arm goes on, and in a branch that this specialisation does not take, code can be reached.
@triton.jit
def reached(x, N: tl.constexpr):
    if N == 1:
        return x
    if x > 3:
        x += 1
    else:
        return x
    while x > 10:
        x -= 1
        if x == 4:
            break
        else:
            pass
    tl.static_assert(N > 1)
    return x


@triton.jit
def kernel(out: "*i32", n: "i32"):
    tl.store(out, twice(exits(n, 16)))
    tl.store(out + 1, reached(n, 16))


@triton.jit
def load_only(x):
    return tl.load(x)


# CHECK: warnings_flow.py:[[#@LINE+4]]:5: warning: kernel `loads` stores nothing, so it has no effect [-Wmissing-store]
# CHECK-NEXT: def loads
# CHECK: note: write its results to memory with tl.store(…)
@triton.jit
def loads(x: "*fp32", n: "i32"):
    tl.assume(n > 0)
    if n > 3:
        _y = load_only(x) + 1


@triton.jit
def unwritten(x: "*fp32"):
    """To be written."""
    pass


# Effects: an atomic operation, a print, an assertion that only --debug keeps, assembly, and a store in a branch that
# this specialisation does not take.
@triton.jit
def adds(x: "*fp32"):
    _old = tl.atomic_add(x, 1.0)


@triton.jit
def prints(n: "i32"):
    tl.device_print("n", n)


@triton.jit
def asserts(n: "i32"):
    # CHECK: warnings_flow.py:[[#@LINE+2]]:5: warning: this assertion is not checked [-Wignored-assert]
    # CHECK: note: --debug compiles it
    assert n > 0, "n"


@triton.jit
def assembly(n: "i32"):
    _r = tl.inline_asm_elementwise("nanosleep.u32 $1; mov.u32 $0, 0;", "=r,r", [n], tl.int32, is_pure=False, pack=1)


@triton.jit
def pruned(x: "*fp32", STORE: tl.constexpr = False):
    if STORE:
        tl.store(x, 1.0)


@triton.jit
def pruned_assignment(x: "*fp32", STORE: tl.constexpr = False):
    if STORE:
        _old = tl.atomic_add(x, 1.0)


@triton.jit
def no_iteration(x: "*fp32", N: tl.constexpr = 0):
    for i in tl.static_range(N):
        tl.store(x + i, 1.0)
