# An offset that is a `%` of a difference may be negative, and a mask is no way out then.
# DEFINE: %{args} = --grid 1 --arg x=fp32[100]=arange --arg out=fp32[100]=zeros --arg n=100
# RUN: %status 5 %tilec run %s --device=sim -k rolls %{args} | FileCheck %s --check-prefix=ROLLS
# RUN: %status 5 %tilec run %s --device=interp -k rolls %{args} | FileCheck %s --check-prefix=ROLLS
# RUN: %status 5 %tilec run %s --device=sim -k hashes %{args} | FileCheck %s --check-prefix=HASHES
# RUN: %status 5 %tilec run %s --device=interp -k hashes %{args} | FileCheck %s --check-prefix=HASHES
# RUN: %status 5 %tilec run %s --device=sim -k wraps %{args} | FileCheck %s --check-prefix=WRAPS
# RUN: %tilec run %s --device=sim -k rolls_right %{args} --expect "out[3:]=x[:97]"
# An offset that was a number of half precision is rounded.
# RUN: %status 5 %tilec run %s -k from_half --device=sim --grid 1 --arg x=fp32[4096]=zeros --arg at=fp16[16]=fill:4095 --arg out=fp32[16]=zeros | FileCheck %s --check-prefix=HALF
# RUN: %status 5 %tilec run %s -k from_half --device=interp --grid 1 --arg x=fp32[500]=zeros --arg at=bf16[16]=fill:499 --arg out=fp32[16]=zeros | FileCheck %s --check-prefix=BRAIN
import triton
import triton.language as tl


@triton.jit
def rolls(x, out, n):
    i = tl.arange(0, 128)
    src = (i - 3) % n
    # ROLLS: out_of_bounds_rest.py:[[#@LINE+2]]:23: error: out-of-bounds load: program (0, 0, 0) loads element -3 of x, which has 100{{$}}
    # ROLLS: {{^}}note: the `%` of {{.*}}out_of_bounds_rest.py:[[#@LINE-2]]:11 has the sign of its left operand, as in C: (a % b + b) % b has the sign of b
    tl.store(out + i, tl.load(x + src, mask=i < n), mask=i < n)


@triton.jit
def hashes(x, out, n):
    i = tl.arange(0, 128) + 700
    slot = (i * 73856093) % n
    # HASHES: error: out-of-bounds load: program (0, 0, 0) loads element -{{[0-9]+}} of x, which has 100{{$}}
    # HASHES: {{^}}note: the `%` of {{.*}}out_of_bounds_rest.py:[[#@LINE-2]]:12 has the sign of its left operand, as in C
    tl.store(out + i - 700, tl.load(x + slot), mask=i < n + 700)


@triton.jit
def wraps(x, out, n):
    i = tl.arange(0, 128)
    # WRAPS: error: out-of-bounds load: program (0, 0, 0) loads element
    # WRAPS: {{^}}note: this load has no mask
    tl.store(out + i, tl.load(x + i % (n + 20)), mask=i < n)


@triton.jit
def rolls_right(x, out, n):
    i = tl.arange(0, 128)
    tl.store(out + i, tl.load(x + ((i - 3) % n + n) % n, mask=i < n), mask=i < n)


@triton.jit
def from_half(x, at, out):
    o = tl.arange(0, 16)
    # HALF: out_of_bounds_rest.py:[[#@LINE+4]]:23: error: out-of-bounds load: program (0, 0, 0) loads element 4096 of x, which has 4096
    # HALF: {{^}}note: the offset comes from fp16 at {{.*}}out_of_bounds_rest.py:[[#@LINE+2]]:9, which holds whole numbers up to 2048: keep it an integer, or compute in float32{{$}}
    # BRAIN: {{^}}note: the offset comes from bf16 at {{.*}}out_of_bounds_rest.py:[[#@LINE+1]]:9, which holds whole numbers up to 256: keep it an integer, or compute in float32{{$}}
    j = tl.load(at + o).to(tl.int32)
    tl.store(out + o, tl.load(x + j))
