# -Wloop-variable: an assignment to a for's variable that the next iteration undoes unread.
# RUN: %tilec %s -W -o - 2>&1 >/dev/null | FileCheck %s --implicit-check-not=warning:
# RUN: %tilec %s -Wno-loop-variable -o - 2>&1 >/dev/null | count 0
import triton
import triton.language as tl


@triton.jit
def skip(x: "*fp32", out: "*fp32", n: "i32"):
    total = 0.0
    for i in range(0, n):
        v = tl.load(x + i)
        if v < 0:
            # CHECK: loop_variable_set.py:[[#@LINE+4]]:13: warning: the next iteration sets `i` anew, and nothing reads it before: this assignment has no effect [-Wloop-variable]
            # CHECK-NEXT: i += 1
            # CHECK-NEXT: ^~~~~~
            # CHECK-NEXT: note: to skip iterations, loop with `while`, and raise `i` in its body
            i += 1
        else:
            total += v
    for i in tl.static_range(4):
        total += i
        # CHECK: loop_variable_set.py:[[#@LINE+1]]:9: warning: the next iteration sets `i` anew
        i = i + 2
        total += 2
    for i in range(0, n):
        while total < 8:
            total += 1
            # CHECK: loop_variable_set.py:[[#@LINE+1]]:13: warning: the next iteration sets `i` anew
            i = i + 2
    tl.store(out, total)


# Read after it, in the next iteration of an inner loop, or after the loop; a hint; at the end, as in a `while`.
@triton.jit
def uses(x: "*fp32", out: "*fp32", n: "i32"):
    total = 0.0
    for i in range(0, n):
        i = i * 4
        total += tl.load(x + i)
    for i in range(0, n):
        while i > 0:
            i = i // 2
        total += 1
    for i in range(0, n):
        if total < 0:
            i = n
    for k in range(0, n, 4):
        k = tl.multiple_of(k, 4)
        total += 1
    for k in range(0, n, 4):
        total += 1
        k += 4
    for _ in range(0, n):
        total, _ = total + 1, 0
        _ = total
    tl.store(out + i, total)
