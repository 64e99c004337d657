# A mistake is reported once: what depends on a list or dictionary whose change was refused, or on a body that was
# left out, says nothing more.
# RUN: not %tilec %s -n appends -s "*fp32, i32" -o - 2>&1 | FileCheck %s --check-prefix=APPENDS --implicit-check-not=error:
# RUN: not %tilec %s -n loops -s "*fp32, i32" -o - 2>&1 | FileCheck %s --check-prefix=LOOPS --implicit-check-not=error:
# RUN: not %tilec %s -n refused -s "*fp32, i32" -o - 2>&1 | FileCheck %s --check-prefix=REFUSED --implicit-check-not=error:
# RUN: not %tilec %s -n entries -s "*fp32, i32" -o - 2>&1 | FileCheck %s --check-prefix=ENTRIES --implicit-check-not=error:
import triton
import triton.language as tl


@triton.jit
def appends(x, n):
    first, second, third = [], [], []
    # APPENDS: follow_ups.py:[[#@LINE+2]]:5: error: a list has no attribute `append`
    # APPENDS: note: make a new list: l = l + [x], in a loop over tl.static_range
    first.append(1)
    first.append(2)
    tl.store(x, first[1] + len(first))
    for i in tl.static_range(4):
        # APPENDS: follow_ups.py:[[#@LINE+1]]:9: error: a list has no attribute `extend`
        second.extend([i, i])
    tl.store(x, second[3])
    if n > 3:
        # APPENDS: follow_ups.py:[[#@LINE+1]]:9: error: a list has no attribute `insert`
        third.insert(0, n)
    for item in third:
        tl.store(x, item[0])


@triton.jit
def entries(x, n):
    d = {"a": 1}
    # ENTRIES: follow_ups.py:[[#@LINE+2]]:5: error: elements cannot be assigned in a kernel: values do not change
    # ENTRIES: note: make a new dictionary: d = d | {key: value}
    d["b"] = 2
    tl.store(x, d["b"])
    e = {"a": 1}
    e = e | {"b": 2}
    tl.store(x, e["b"])


@triton.jit
def loops(x, n):
    # LOOPS: follow_ups.py:[[#@LINE+1]]:14: error: `foo` is not defined
    for i in foo:
        a = i
    tl.store(x, a)
    for i in a:
        b = i
    tl.store(x, b)
    # LOOPS: follow_ups.py:[[#@LINE+2]]:14: error: the end of a range must be a scalar integer, not a scalar fp32
    # LOOPS: note: write a // b in place of a / b, or x.to(tl.int32)
    for i in range(n / 2):
        c = i
    tl.store(x, c)
    # LOOPS: follow_ups.py:[[#@LINE+2]]:14: error: the end of a range must be a scalar integer, not i32[16]
    # LOOPS: note: tl.max(x) makes a scalar of a tile
    for i in range(tl.arange(0, 16)):
        d = i
    tl.store(x, d)
    # LOOPS: follow_ups.py:[[#@LINE+1]]:26: error: `range` has no parameter `bar`
    for i in tl.range(n, bar=1):
        e = i
    tl.store(x, e)
    # LOOPS: follow_ups.py:[[#@LINE+1]]:14: error: static_range needs bounds known at compile time, this is a scalar i32
    for i in tl.static_range(n):
        f = i
    tl.store(x, f)
    # LOOPS: follow_ups.py:[[#@LINE+3]]:5: error: `for … else` is not supported in kernels
    for i in range(n):
        h = i
    else:
        n = 3
    tl.store(x, h)
    # LOOPS: follow_ups.py:[[#@LINE+3]]:5: error: `while … else` is not supported in kernels
    while n:
        h = 3
    else:
        n = 3
    tl.store(x, h)


@triton.jit
def refused(x, n):
    # REFUSED: follow_ups.py:[[#@LINE+1]]:5: error: kernels cannot import
    from math import sqrt, cos as cosine
    tl.store(x, sqrt(n) + cosine(n))
    # REFUSED: follow_ups.py:[[#@LINE+1]]:5: error: kernels cannot import
    import os.path
    tl.store(x, os.path.sep)
    # REFUSED: follow_ups.py:[[#@LINE+1]]:5: error: a function cannot be defined inside a kernel
    def f(a):
        return a
    tl.store(x, f(n))
    # REFUSED: follow_ups.py:[[#@LINE+1]]:5: error: a class cannot be defined inside a kernel
    class C:
        pass
    tl.store(x, C())
    # REFUSED: follow_ups.py:[[#@LINE+1]]:5: error: kernels have no exceptions
    try:
        v = tl.load(x)
    except ValueError:
        w = 0.0
    tl.store(x, v + w)
    # REFUSED: follow_ups.py:[[#@LINE+1]]:5: error: `match` is not supported in kernels
    match n:
        case 1:
            u = 3
    tl.store(x, u)
    # REFUSED: follow_ups.py:[[#@LINE+1]]:9: error: the value does not fit 64 bits: 99999999999999999999999999
    q = 99999999999999999999999999
    # REFUSED: follow_ups.py:[[#@LINE+2]]:17: error: cannot cast a pointer to fp32
    # REFUSED: note: tl.load(pointer) gives the element there
    tl.store(x, x)
    # REFUSED: follow_ups.py:[[#@LINE+2]]:22: error: static_assert needs a condition known at compile time
    # REFUSED: note: check values of the run by tl.device_assert(condition, "message"), and compile with --debug
    tl.static_assert(n > 3)
    # REFUSED: follow_ups.py:[[#@LINE+2]]:5: error: arange(4, 0) is empty
    # REFUSED: note: arange(0, N) counts from 0 to N - 1
    tl.arange(4, 0)
