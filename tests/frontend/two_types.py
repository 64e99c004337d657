# Variables that change their type: a first value that is a number, an annotation, and a reduction that gives a wider type.
# RUN: not %tilec %s -n annotated -s "*fp32, *fp32, i32" -o - 2>&1 | FileCheck %s --check-prefix=ANNOTATED
# RUN: not %tilec %s -n numbers -s "*fp32, *fp32, i32" -o - 2>&1 | FileCheck %s --check-prefix=NUMBERS
# RUN: not %tilec %s -n arms -s "*fp32, *fp32, i32" -o - 2>&1 | FileCheck %s --check-prefix=ARMS
# RUN: not %tilec %s -n widened -s "*i16, *u8, i32" -o - 2>&1 | FileCheck %s --check-prefix=WIDENED
# RUN: %tilec %s -n right -s "*fp32, *fp32, i32" -o - 2>&1 >/dev/null | count 0
import triton
import triton.language as tl


@triton.jit
def annotated(x, y, n):
    # ANNOTATED: two_types.py:[[#@LINE+6]]:9: error: `acc` changes its type in the loop: a scalar i32 before, a scalar fp32 after an iteration
    # ANNOTATED: two_types.py:[[#@LINE+3]]:5: note: acc gets its first value here
    # ANNOTATED: {{^}}note: the annotation of `acc` converts nothing: the value has the type that it is computed with{{$}}
    # ANNOTATED-NEXT: {{^}}note: write acc = 0.0 there, which is fp32{{$}}
    acc: tl.float32 = 0
    for i in range(n):
        acc += tl.load(x + i)
    # ANNOTATED: note: the annotation of `k` converts nothing
    # ANNOTATED-NEXT: {{^}}note: write k = n.to(tl.int64) there, which is i64{{$}}
    k: tl.int64 = n
    while k > 3:
        k = k.to(tl.int64) // 2
    tl.store(y, acc + k)


@triton.jit
def numbers(x, y, n):
    # NUMBERS: error: `a` changes its type
    # NUMBERS: {{^}}note: write a = -1.0 there, which is fp32{{$}}
    # NUMBERS: error: `b` changes its type
    # NUMBERS: {{^}}note: write b = tl.full((), 0, tl.float16) there, which is fp16{{$}}
    a = -1
    b, c = 0, 1
    for i in range(n):
        v = tl.load(x + i)
        a = tl.maximum(a, v)
        b += v.to(tl.float16)
    tl.store(y, a + b + c)


@triton.jit
def arms(x, y, n):
    if n > 3:
        s = tl.load(x)
    else:
        # ARMS: two_types.py:[[#@LINE+2]]:9: error: `s` is a scalar i32 after one arm of the `if` and a scalar fp32 after the other
        # ARMS: {{^}}note: write s = 0.0 there, which is fp32{{$}}
        s = 0
    tl.store(y, s)


@triton.jit
def widened(x, y, n):
    i = tl.arange(0, 16)
    low = tl.full((16,), 0, tl.int16)
    count = tl.full((), 0, tl.uint8)
    for k in range(n):
        # WIDENED: two_types.py:[[#@LINE+3]]:9: error: `low` changes its type in the loop: i16[16] before, i32[16] after an iteration
        # WIDENED: two_types.py:[[#@LINE+2]]:31: note: tl.min of i16 gives i32: it computes with narrow numbers in 32 bits
        # WIDENED: {{^}}note: a variable that lives across iterations keeps one type: give it that type before the loop, or convert with .to(tl.int32){{$}}
        low = tl.minimum(low, tl.min(tl.load(x + k + i[:, None] + i[None, :]), axis=1))
        # WIDENED: two_types.py:[[#@LINE+1]]:18: note: tl.sum of u8 gives u32: it computes with narrow numbers in 32 bits
        count += tl.sum(tl.load(y + i))
    tl.store(x + i, low)
    tl.store(y, count)


@triton.jit
def right(x, y, n):
    acc: tl.float32 = 0.0
    for i in range(n):
        acc += tl.load(x + i)
    tl.store(y, acc)
