# -Wplain-unlock: a plain store to what an atomic_cas in a loop waits for; other stores are not meant.
# RUN: %tilec %s -W -o - 2>&1 >/dev/null | FileCheck %s --implicit-check-not=warning:
# RUN: %tilec %s -Wno-store-conflict -k scalar -o - 2>&1 >/dev/null | FileCheck %s --check-prefix=ALONE
# ALONE: [-Wplain-unlock]
# RUN: %tilec %s -Wno-plain-unlock -o - 2>&1 >/dev/null | count 0
# RUN: %tilec run %s -k scalar --device=interp --grid 1 --arg lock=i32[1]=zeros --arg out=i32[1]=zeros 2>&1 | count 0
import triton
import triton.language as tl


@triton.jit
def scalar(lock: "*i32", out: "*i32"):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(out, tl.load(out) + tl.program_id(0))
    tl.debug_barrier()
    # CHECK: plain_unlock.py:[[#@LINE+4]]:5: warning: programs wait for this place by the atomic_cas of {{.*}}plain_unlock.py:[[#@LINE-4]], and a plain store releases no lock [-Wplain-unlock]
    # CHECK-NEXT: tl.store(lock, 0)
    # CHECK-NEXT: ^~~~~~~~~~~~~~~~~
    # CHECK-NEXT: note: write tl.atomic_xchg(lock, 0)
    tl.store(lock, 0)


@triton.jit
def taken(locks, g):
    while True:
        if tl.atomic_cas(locks + g * 2, 0, 1) == 0:
            break


@triton.jit
def computed(locks: "*i32", out: "*i32", n: "i32"):
    g = tl.program_id(0) % n
    tl.store(locks + n, 0)
    taken(locks, g)
    tl.store(out + g, tl.load(out + g) + 1)
    tl.store(locks + 1 + g * 2, 0)
    tl.store(locks + g + 2, 0)
    # CHECK: plain_unlock.py:[[#@LINE+2]]:5: warning: programs wait for this place by the atomic_cas of {{.*}}plain_unlock.py:[[#@LINE-12]]
    # CHECK: note: write tl.atomic_xchg(locks + g * 2, 0, mask=n > 0)
    tl.store(locks + g * 2, 0, mask=n > 0)


@triton.jit
def right(lock: "*i32", out: "*i32"):
    tl.store(lock + 1, 0)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(out, tl.load(out) + tl.program_id(0))
    tl.atomic_xchg(lock, 0)


@triton.jit
def in_lines(lock: "*i32"):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    # CHECK: plain_unlock.py:[[#@LINE+2]]:5: warning: programs wait for this place
    # CHECK: note: write tl.atomic_xchg(pointer, value)
    tl.store(lock,
             0)
