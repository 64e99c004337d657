# -Winverted-lock: a loop that waits while it takes the lock. Waiting for a flag by an exchange of equal values is none.
# RUN: %tilec %s -W -o - 2>&1 >/dev/null | FileCheck %s --implicit-check-not=warning:
# RUN: %tilec %s -Wno-inverted-lock -o - 2>&1 >/dev/null | count 0
import triton
import triton.language as tl


@triton.jit
def locked(lock: "*i32", out: "*i32"):
    # CHECK: inverted_lock.py:[[#@LINE+4]]:11: warning: this loop goes on while it takes the lock, and ends where another program holds it [-Winverted-lock]
    # CHECK-NEXT: while tl.atomic_cas
    # CHECK-NEXT: ^~~
    # CHECK-NEXT: note: atomic_cas returns what was there before: loop while that is not the free value, as in `while tl.atomic_cas(lock, 0, 1) != 0:`
    while tl.atomic_cas(lock, 0, 1) == 0:
        pass
    # CHECK: inverted_lock.py:[[#@LINE+1]]:11: warning: this loop goes on
    while tl.atomic_cas(lock, 0, 1) != 1:
        pass
    tl.atomic_xchg(lock, 0)


@triton.jit
def right(lock: "*i32", flag: "*i32", out: "*i32"):
    while tl.atomic_cas(lock, 0, 1) != 0:
        pass
    while tl.atomic_cas(flag, 0, 0) == 0:
        pass
    while tl.atomic_cas(lock, 1, 2) == 1:
        tl.atomic_add(out, 1)
    tl.atomic_xchg(lock, 0)
