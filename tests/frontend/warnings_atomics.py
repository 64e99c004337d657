# -Wleft-out-atomic: lanes that the mask of a load leaves out take part in an atomic operation without a mask.
# RUN: %tilec %s -n inserts -s "*i32, *i32, i32, i32" -o /dev/null 2>&1 | FileCheck %s --check-prefix=CAS
# RUN: %tilec %s -n counts -s "*i32, *i32, i32, i32" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ADD
# RUN: %tilec %s -n right -s "*i32, *i32, i32, i32" -o /dev/null 2>&1 | count 0
import triton
import triton.language as tl


@triton.jit
def inserts(keys, table, n, size):
    i = tl.program_id(0) * 64 + tl.arange(0, 64)
    key = tl.load(keys + i, mask=i < n, other=0)
    # CAS: warnings_atomics.py:[[#@LINE+3]]:5: warning: the elements that the mask of a load leaves out take part in this atomic operation: they count as 0 [-Wleft-out-atomic]
    # CAS-NEXT: tl.atomic_cas(
    # CAS: note: atomic_cas has no mask: give the elements left out a place of their own, as the last of a longer table, tl.where(mask, offsets, size), or compare them with a value that no place has
    tl.atomic_cas(table + key % size, tl.full((64,), -1, tl.int32), key)


@triton.jit
def counts(keys, table, n, size):
    i = tl.program_id(0) * 64 + tl.arange(0, 64)
    mask = i < n
    key = tl.load(keys + i, mask=mask)
    # ADD: warnings_atomics.py:[[#@LINE+3]]:5: warning: the elements that the mask of a load leaves out take part in this atomic operation: they count as 0 [-Wleft-out-atomic]
    # ADD: note: pass the mask of the load: mask=i < n
    # ADD-NOT: warning
    tl.atomic_add(table + key, 1)


# A mask; values that are 0 for the elements left out; a place or a value of their own; one element.
@triton.jit
def right(keys, table, n, size):
    i = tl.program_id(0) * 64 + tl.arange(0, 64)
    mask = i < n
    key = tl.load(keys + i, mask=mask)
    tl.atomic_add(table + key, 1, mask=mask)
    tl.atomic_add(table + key, tl.load(keys + i, mask=mask))
    tl.atomic_cas(table + tl.where(mask, key, size), tl.full((64,), -1, tl.int32), key)
    last = tl.load(keys + i, mask=mask, other=7)
    tl.atomic_add(table + last, 1)
    tl.atomic_add(table + tl.load(keys), 1)
