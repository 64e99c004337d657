# After --expect or --check has failed, notes say what the kernel has that explains the difference.
# DEFINE: %{run} = %tilec run %s --device=sim --grid 1
# RUN: %status 5 %{run} -k product --rtol 1e-5 --arg a=fp32[32,32]=randn:1 --arg b=fp32[32,32]=randn:2 --arg c=fp32[32,32]=zeros --expect "c=a@b" | FileCheck %s --check-prefix=TF32 --implicit-check-not=note:
# RUN: %status 5 %{run} -k product --rtol 1e-5 --arg a=fp32[32,32]=randn:1 --arg b=fp32[32,32]=randn:2 --arg c=fp32[32,32]=zeros --expect "c=b@a" | FileCheck %s --check-prefix=PLAIN --implicit-check-not="{{note: [^p]}}"
# PLAIN: FAILED
# A sum along one axis of a square meets the other axis.
# DEFINE: %{square} = --arg x=fp32[32,32]=uniform:1 --arg out=fp32[32,32]=zeros --expect "out=x/x.sum(1,keepdims=True)"
# RUN: %status 5 %{run} -k rows -Wno-square-broadcast %{square} | FileCheck %s --check-prefix=ROWS --implicit-check-not=note:
# RUN: %status 5 %{run} -k columns %{square} | FileCheck %s --check-prefix=COLUMN
# RUN: %{run} -k kept %{square}
# What a mask left out reaches a sum.
# DEFINE: %{row} = --arg n=10 --arg x=fp32[10]=uniform:1 --arg out=fp32[1]=zeros
# RUN: %status 5 %{run} -k variance %{row} --expect "out=x.var()" | FileCheck %s --check-prefix=LEFT
# RUN: %{run} -k selected %{row} --expect "out=x.var()"
# RUN: %status 5 %{run} -k selected %{row} --expect "out=2*x.var()" | FileCheck %s --check-prefix=PLAIN --implicit-check-not="{{note: [^p]}}"
# An accumulator has what was loaded and what was left out in one element, so it is no proof.
# RUN: %status 5 %{run} -k accumulates --arg n=20 --arg x=fp32[20]=uniform:1 --arg out=fp32[1]=zeros --expect "out=2*x.sum()" | FileCheck %s --check-prefix=PLAIN --implicit-check-not="{{note: [^p]}}"
# The expected elements in another order.
# RUN: %status 5 %{run} -k reshaped --arg x=fp32[8,32]=arange --arg out=fp32[32,8]=zeros --expect "out=x.T" | FileCheck %s --check-prefix=TRANSPOSED --implicit-check-not="{{note: [^po]}}"
# TRANSPOSED: {{^}}note: out holds the expected elements in another order, transposed: tl.trans swaps the axes, and tl.reshape keeps the order of the elements
# RUN: %status 5 %{run} -k joined --arg x=fp32[16]=arange --arg y=fp32[16]=arange --arg out=fp32[32]=zeros --buf want=i32[32]=arange --expect "out=want%%16+want//16*100" | FileCheck %s --check-prefix=INTERLEAVED --implicit-check-not="{{note: [^po]}}"
# INTERLEAVED: {{^}}note: out holds the expected elements in another order, the two halves interleaved: tl.join and tl.interleave alternate between two tensors, and tl.cat puts one after the other
# RUN: %status 5 %{run} -k concatenated --arg x=fp32[16]=arange --arg y=fp32[16]=arange --arg out=fp32[32]=zeros --buf want=i32[32]=arange --expect "out=want//2+want%%2*100" | FileCheck %s --check-prefix=HALVES --implicit-check-not="{{note: [^po]}}"
# HALVES: {{^}}note: out holds the expected elements in another order, as two halves instead of interleaved: tl.cat puts one tensor after the other, and tl.join and tl.interleave alternate
# RUN: %status 5 %{run} -k copied --arg x=fp32[16]=arange --arg out=fp32[16]=zeros --expect "out=flip(x)" | FileCheck %s --check-prefix=OTHER --implicit-check-not="{{note: [^po]}}"
# OTHER: {{^}}note: out holds the expected elements in another order{{$}}
# RUN: %status 5 %{run} -k copied --arg x=fp32[16]=ones --arg out=fp32[16]=zeros --expect "out=where(x==1,2,x)" | FileCheck %s --check-prefix=PLAIN --implicit-check-not="{{note: [^p]}}"
# Which of equal elements a reduction takes is no error of the compiler; another element is.
# DEFINE: %{last} = %tilec run %s --device=sim --grid 8 -k last --arg x=i32[8,1024]=randint:4:0:5 --arg out=i32[8]=zeros
# RUN: %{last} --check | FileCheck %s --check-prefix=TIES
# RUN: %status 5 %{last} --expect "out=1023-argmax(flip(x,1),axis=1)" | FileCheck %s --check-prefix=TIED --implicit-check-not=note:
# TIES: check out: {{.*}}: ok
import triton
import triton.language as tl


@triton.jit
def product(a, b, c):
    i = tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :]
    # TF32: advice_kernel.py:[[#@LINE+1]]:21: note: the product rounds its fp32 operands to TF32, which has 10 bits of fraction; input_precision="ieee" does not, and takes longer
    tl.store(c + i, tl.dot(tl.load(a + i), tl.load(b + i)))


@triton.jit
def rows(x, out):
    i = tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :]
    v = tl.load(x + i)
    # ROWS: advice_kernel.py:[[#@LINE+1]]:23: note: `tl.sum(v, 1)` is along axis 1, and its elements meet those along axis 0 here: keep_dims=True keeps the axis
    tl.store(out + i, v / tl.sum(v, 1))


@triton.jit
def columns(x, out):
    i = tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :]
    v = tl.load(x + i)
    # COLUMN: advice_kernel.py:[[#@LINE+1]]:28: note: `tl.sum(v, 1)[None, :]` has its elements along axis 1; along axis 0, by [:, None], the wrong element is right
    tl.store(out + i, 1 / (tl.sum(v, 1)[None, :] / v))


@triton.jit
def kept(x, out):
    i = tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :]
    v = tl.load(x + i)
    tl.store(out + i, v / tl.sum(v, 1, keep_dims=True))


@triton.jit
def variance(x, out, n):
    i = tl.arange(0, 16)
    # LEFT: advice_kernel.py:[[#@LINE+4]]:19: note: `tl.sum(d * d, 0)` also adds what a mask left out, as 0.{{[0-9]+}}: 6 of 16 terms; select 0 there by tl.where(mask, x, 0.0)
    # LEFT: advice_kernel.py:[[#@LINE+1]]:9: note: this load has the mask
    v = tl.load(x + i, mask=i < n, other=0.0)
    d = v - tl.sum(v, 0) / n
    tl.store(out, tl.sum(d * d, 0) / n)


@triton.jit
def accumulates(x, out, n):
    s = tl.zeros((16,), tl.float32)
    for at in range(0, n, 16):
        i = at + tl.arange(0, 16)
        s += tl.load(x + i, mask=i < n, other=0.0)
    tl.store(out, tl.sum(s, 0))


@triton.jit
def selected(x, out, n):
    i = tl.arange(0, 16)
    v = tl.load(x + i, mask=i < n, other=0.0)
    d = tl.where(i < n, v - tl.sum(v, 0) / n, 0.0)
    tl.store(out, tl.sum(d * d, 0) / n)


@triton.jit
def reshaped(x, out):
    i = tl.arange(0, 8)[:, None] * 32 + tl.arange(0, 32)[None, :]
    o = tl.arange(0, 32)[:, None] * 8 + tl.arange(0, 8)[None, :]
    tl.store(out + o, tl.reshape(tl.load(x + i), (32, 8)))


@triton.jit
def joined(x, y, out):
    i = tl.arange(0, 16)
    tl.store(out + tl.arange(0, 32), tl.interleave(tl.load(x + i), tl.load(y + i) + 100))


@triton.jit
def concatenated(x, y, out):
    i = tl.arange(0, 16)
    tl.store(out + tl.arange(0, 32), tl.cat(tl.load(x + i), tl.load(y + i) + 100))


@triton.jit
def copied(x, out):
    i = tl.arange(0, 16)
    tl.store(out + i, tl.load(x + i))


@triton.jit
def last(x, out):
    v = tl.load(x + tl.program_id(0) * 1024 + tl.arange(0, 1024))
    # TIED: advice_kernel.py:[[#@LINE+2]]:38: note: `tl.argmax(v, 0, tie_break_left=False)` may give the index of any
    # TIES: advice_kernel.py:[[#@LINE+1]]:38: note: `tl.argmax(v, 0, tie_break_left=False)` may give the index of any of several equal elements; tie_break_left=True takes the first
    tl.store(out + tl.program_id(0), tl.argmax(v, 0, tie_break_left=False))
