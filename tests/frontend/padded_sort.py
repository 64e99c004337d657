# A sort takes what a masked load leaves out for 0, as the place of a maximum does. `other` or a select says otherwise.
# RUN: %tilec %s -n warned -s *fp32,*i32,i32 -o %t.ptx 2>&1 | FileCheck %s
# RUN: %tilec %s -n silent -s *fp32,*i32,*u32,i32 -Werror -o %t.ptx
import triton
import triton.language as tl


@triton.jit
def warned(x, i, n):
    o = tl.arange(0, 128)
    # CHECK: padded_sort.py:[[#@LINE+2]]:9: warning: the elements that the mask of this load leaves out are sorted as 0 among the others [-Wpadded-sort]
    # CHECK: {{^}}note: give them another value: other=-float("inf")
    v = tl.load(x + o, mask=o < n)
    tl.store(x + o, tl.sort(v, descending=True))
    # CHECK: padded_sort.py:[[#@LINE+2]]:29: warning: the elements {{.*}} are sorted as 0
    # CHECK: {{^}}note: give them a value above all others, of 32 bits: other=2**31 - 1, or 2**32 - 1 if it has no sign
    tl.store(i + o, tl.sort(tl.load(i + o, mask=o < n)))
    # CHECK: padded_sort.py:[[#@LINE+2]]:43: warning: the elements {{.*}} are sorted as 0
    # CHECK: {{^}}note: give them a value below all others, of 32 bits: other=-2**31
    tl.store(i + tl.arange(0, 8), tl.topk(tl.load(i + o, mask=o < n), 8))
    # CHECK: padded_sort.py:[[#@LINE+2]]:27: warning: the elements that the mask of this load leaves out count as 0 in the maximum, and 0 is above all negative ones [-Wpadded-minimum]
    # CHECK: {{^}}note: give them another value: other=-float("inf")
    tl.store(i, tl.argmax(tl.load(x + o, mask=o < n), axis=0))
    # CHECK-NOT: warning


@triton.jit
def silent(x, i, u, n):
    o = tl.arange(0, 128)
    v = tl.load(x + o, mask=o < n)
    tl.store(x + o, tl.sort(tl.load(x + o, mask=o < n, other=float("inf"))))
    tl.store(x + o, tl.sort(tl.where(o < n, v, -1e30), descending=True))
    tl.store(u + o, tl.sort(tl.load(u + o, mask=o < n), descending=True))
    tl.store(x + o, tl.sort(tl.load(x + o)))
    tl.store(x, tl.max(tl.abs(v), axis=0))
    tl.store(i, tl.argmax(tl.abs(v), axis=0) + tl.argmax(tl.load(u + o, mask=o < n), axis=0))
