# A minimum counts 0 for what a masked load leaves out, and so does a maximum. One of magnitudes may, one of integers is
# mostly of counts, and `other` or a select says what is meant.
# RUN: %tilec %s -n warned -s *fp32,*i32,i32 -o %t.ptx 2>&1 | FileCheck %s
# RUN: %tilec %s -n silent -s *fp32,*i32,i32 -Werror -o %t.ptx
import triton
import triton.language as tl


@triton.jit
def warned(x, i, n):
    o = tl.arange(0, 128)
    # CHECK: padded_minimum.py:[[#@LINE+2]]:9: warning: the elements that the mask of this load leaves out count as 0 in the minimum [-Wpadded-minimum]
    # CHECK: {{^}}note: give them another value: other=float("inf")
    v = tl.load(x + o, mask=o < n)
    tl.store(x, tl.min(v, axis=0))
    # CHECK: padded_minimum.py:[[#@LINE+2]]:27: warning: the elements
    # CHECK: {{^}}note: give them a value above all others, of 32 bits: other=2**31 - 1, or 2**32 - 1 if it has no sign
    tl.store(i, tl.argmin(tl.load(i + o, mask=o < n), axis=0))
    # CHECK: padded_minimum.py:[[#@LINE+2]]:28: warning: the elements that the mask of this load leaves out count as 0 in the maximum, and 0 is above all negative ones [-Wpadded-minimum]
    # CHECK: {{^}}note: give them another value: other=-float("inf")
    tl.store(x + 1, tl.max(tl.load(x + o, mask=o < n).to(tl.float64), axis=0))


@triton.jit
def silent(x, i, n):
    o = tl.arange(0, 128)
    v = tl.load(x + o, mask=o < n)
    tl.store(x, tl.min(tl.load(x + o, mask=o < n, other=float("inf")), axis=0))
    tl.store(x + 1, tl.min(tl.where(o < n, v, 1e30), axis=0))
    tl.store(x + 2, tl.max(tl.abs(v), axis=0) + tl.min(tl.load(x + o), axis=0))
    tl.store(i, tl.sum(tl.load(i + o, mask=o < n), axis=0) + tl.max(tl.load(i + o, mask=o < n), axis=0))
    # Masks of whole rows, of the program, and of no element.
    live = tl.program_id(0) < n
    tl.store(x + 3, tl.min(tl.load(x + o, mask=live), axis=0), mask=live)
    tl.store(x + 4, tl.min(tl.load(x + o, mask=o < 128), axis=0))
    r = tl.arange(0, 4)
    tl.store(x + r, tl.min(tl.load(x + r[:, None] * 128 + o[None, :], mask=r[:, None] < n), axis=1), mask=r < n)
