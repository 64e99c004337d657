# Ways out of a choice between an address and a number, of bits that do not fit, and of a body without a statement.
# RUN: not %tilec %s -n chooses -s '*fp32,i32' -o - 2>&1 | FileCheck %s --check-prefix=CHOOSES
# RUN: not %tilec %s -n halves -s '*u32' -o - 2>&1 | FileCheck %s --check-prefix=HALVES
# RUN: printf 'def f():\n    # nothing yet\n' > %t.py && not %tilec %t.py -o - 2>&1 | FileCheck %s --check-prefix=EMPTY
# EMPTY: error: expected an indented block
# EMPTY: note: a body has a statement at least, and a comment is none: pass does nothing
import triton
import triton.language as tl


@triton.jit
def chooses(x, n):
    o = tl.arange(0, 32)
    # CHOOSES: [[#@LINE+2]]:9: error: `where` cannot choose between *fp32[32] and i32[32]
    # CHOOSES: note: no number is an address: leave the addresses, and mask the access, tl.load(p, mask, other)
    p = tl.where(o < n, x + o, 0)
    tl.store(p, 1.0)


@triton.jit
def halves(x):
    v = tl.load(x)
    # HALVES: [[#@LINE+2]]:17: error: cannot bitcast u32 (32 bits) to fp16 (16 bits): the widths differ
    # HALVES: note: x.to(tl.float16) converts the value; for the lowest 16 bits, x.to(tl.uint16).to(tl.float16, bitcast=True), and for the ones above, x >> 16 first
    tl.store(x, v.to(tl.float16, bitcast=True))
