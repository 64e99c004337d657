# Inline assembly with the operand names of CUDA, and with a register that each element declares.
# RUN: %status 4 %tilec run %s --device=sim -k percent --grid 1 --arg x=u32[64]=zeros | FileCheck %s --check-prefix=PERCENT
# RUN: %status 4 %tilec run %s --device=sim -k twice --grid 1 --arg x=u32[64]=zeros | FileCheck %s --check-prefix=TWICE
# PERCENT: note: operands are written $0, $1, …: results first, then arguments
# TWICE: note: the text stands there once for each element: put braces around it, { .reg .f32 t; … }
import triton
import triton.language as tl


@triton.jit
def percent(x):
    o = x + tl.arange(0, 64)
    y = tl.inline_asm_elementwise("add.u32 %0, %1, 1;", "=r,r", [tl.load(o)], tl.uint32, True, 1)
    tl.store(o, y)


@triton.jit
def twice(x):
    o = x + tl.arange(0, 256) % 64
    y = tl.inline_asm_elementwise(".reg .b32 t; add.u32 t, $1, 1; mov.b32 $0, t;", "=r,r", [tl.load(o)], tl.uint32, True, 1)
    tl.store(o, y)
