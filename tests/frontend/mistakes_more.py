# More mistakes of people who know Triton: where a message points, and the way out that it gives.
# RUN: not %tilec %s -n grow -s *i32,i32 -o - 2>&1 | FileCheck %s --check-prefix=GROW --implicit-check-not=error:
# RUN: not %tilec %s -n wide -s *fp16,*fp32,i32,128 -o - 2>&1 | FileCheck %s --check-prefix=WIDE --implicit-check-not=error:
# RUN: not %tilec %s -n packed -s *fp16,*fp32 -o - 2>&1 | FileCheck %s --check-prefix=PACKED --implicit-check-not=error:
# RUN: not %tilec %s -n halves -s *fp32,i32,128 -o - 2>&1 | FileCheck %s --check-prefix=HALVES
# RUN: not %tilec %s -n picked -s *fp32,*i32 -o - 2>&1 | FileCheck %s --check-prefix=PICKED --implicit-check-not=error:
# RUN: not %tilec %s -n meta -D BLOCK=4 -o - 2>&1 | FileCheck %s --check-prefix=META --implicit-check-not=error:
# RUN: not %tilec run %s -k meta --device=interp --grid 1 --arg x=fp32[4]=ones 2>&1 | FileCheck %s --check-prefix=META --implicit-check-not=error:
# RUN: not %tilec %s -n wide -s "*fp16, *fp32, 128" -o - 2>&1 | FileCheck %s --check-prefix=CONSTANT --implicit-check-not=error:
# RUN: not %tilec run %s -k ranged --device=interp --grid 1 --arg x=fp32[4]=ones --arg n=1e3 2>&1 | FileCheck %s --check-prefix=RANGED --implicit-check-not=error:
# RUN: %tilec %s -n tuned -s *fp32,i32,128 -o - 2>&1 >/dev/null | FileCheck %s --check-prefix=TUNED
# RUN: not %tilec %s -n hosted -s *fp32 -o - 2>&1 | FileCheck %s --check-prefix=HOSTED --implicit-check-not=error:
import torch
import triton
import triton.language as tl


@triton.jit
def grow(out, n):
    # GROW: mistakes_more.py:[[#@LINE+5]]:9: error: `step` is a constexpr and cannot become a run-time value in a loop
    # GROW: mistakes_more.py:[[#@LINE+2]]:5: note: step is declared `tl.constexpr` here
    # GROW: note: loop with tl.static_range, which unrolls the loop at compile time, or let the loop change a variable that is declared without tl.constexpr
    step: tl.constexpr = 1
    for i in range(n):
        step = step * 2
    tl.store(out, step)


@triton.jit
def wide(x, w, n, B: tl.constexpr):
    # CONSTANT: mistakes_more.py:[[#@LINE-1]]:5: error: the value of constexpr `B` of kernel `wide` is not known
    # CONSTANT: mistakes_more.py:[[#@LINE-2]]:16: note: `n` is the constant 128 by --signature; the type of a run-time parameter stands there, as i32
    # WIDE: mistakes_more.py:[[#@LINE+5]]:9: error: `v` is fp32[128] after one arm of the `if` and fp16[128] after the other
    # WIDE: mistakes_more.py:[[#@LINE+2]]:5: note: assigned fp16[128] here
    # WIDE: note: a variable keeps its type across a run-time `if`; convert with .to(tl.float32)
    v = tl.load(x + tl.arange(0, B))
    if n > 0:
        v = v * tl.load(w)
    tl.store(x + tl.arange(0, B), v)


@triton.jit
def packed(x, y):
    i = tl.arange(0, 128)
    v = tl.load(x + i)
    # PACKED: error: constraint 1 is `=h`: the first 1 are results, with `=`, the others are arguments
    # PACKED: note: "=r,r" fits: with pack=2, 2 narrow elements share a register of 32 bits, which suits instructions like add.f16x2
    v = tl.inline_asm_elementwise("add.f16 $0, $2, $2;", "=h,=h,h,h", [v], dtype=tl.float16, is_pure=True, pack=2)
    # PACKED: error: constraint 1 is `r`: the first 4 are results
    # PACKED: note: each of the 4 results has a register of its own; those of a narrow dtype, as tl.int8, share one
    # PACKED: note: "=r,=r,=r,=r,r,r" fits: with pack=4, 2 narrow elements share a register
    tl.inline_asm_elementwise("and.b32 $0, $1, 1;", "=r,r", [tl.load(x + i)], dtype=tl.int32, is_pure=False, pack=4)
    # PACKED: error: constraint 0 is `=r`: the first 0 are results
    # PACKED: note: "r" fits: with pack=2, 2 narrow elements share a register
    tl.inline_asm_elementwise("// $0", "=r", [tl.load(x + i)], dtype=(), is_pure=False, pack=2)
    # PACKED: error: there are 2 constraints for 1 register of results and 2 of arguments
    # PACKED: note: "=d,f,h" fits
    tl.inline_asm_elementwise("add $0, $1, $2;", "=d,f", [tl.load(y + i), tl.load(x + i)], dtype=tl.float64, is_pure=False, pack=1)


@triton.jit
def halves(x, n, B: tl.constexpr):
    i = tl.arange(0, B)
    half = n / 2
    j = tl.where(i < half, i + half, i - half)
    # HALVES: mistakes_more.py:[[#@LINE+4]]:13: error: `+` does not combine a scalar *fp32 and fp32[128]
    # HALVES: mistakes_more.py:[[#@LINE-3]]:12: note: this division gives a float
    # HALVES-NEXT: half = n / 2
    # HALVES: note: an offset is an integer: write a // b in place of a / b
    tl.load(x + j)
    # HALVES: mistakes_more.py:[[#@LINE+2]]:9: error: `*` does not combine a scalar *fp32 and a scalar i32
    # HALVES: note: load the elements first with tl.load(…)
    y = x * 2
    # HALVES: mistakes_more.py:[[#@LINE+2]]:9: error: `*` does not combine a scalar *fp32 and a scalar *fp32
    # HALVES: note: pointers are moved by integers; load the elements first with tl.load(…)
    z = x * x
    # HALVES: mistakes_more.py:[[#@LINE+2]]:13: error: `+` does not combine a scalar *fp32 and fp32[128]
    # HALVES: note: an offset is an integer: convert it with .to(tl.int32); to compute with the elements, load them first with tl.load(…)
    tl.load(x + tl.load(x + i))
    # HALVES: mistakes_more.py:[[#@LINE+2]]:17: error: there is no builtin `tl.argsort`
    # HALVES: note: tl.sort gives values alone: sort int64 keys that hold the value above the index, and take their low bits
    tl.store(x, tl.argsort(i))


@triton.jit
def picked(x, index):
    v = tl.load(x + tl.arange(0, 16)[:, None] * 64 + tl.arange(0, 64))
    i = tl.load(index + tl.arange(0, 16))
    # PICKED: error: `gather` needs tensors of one rank, got fp32[16, 64] and i32[16]
    # PICKED: note: for one element along the axis: tl.gather(v, tl.expand_dims(i, 1), axis=1).reshape([16])
    tl.store(x + tl.arange(0, 16), tl.gather(v, i, axis=1))
    tl.store(x + tl.arange(0, 16), tl.gather(v, tl.expand_dims(i, 1), axis=1).reshape([16]))


@triton.jit
def meta(x, **META):
    # META: mistakes_more.py:[[#@LINE-1]]:13: error: a kernel cannot have `**META`: its parameters are its binary interface
    # META: note: name each parameter, constexprs as `NAME: tl.constexpr`; functions that the kernel calls may have `*args`
    tl.store(x, META["BLOCK"])


@triton.jit
def ranged(x, n):
    # RANGED: error: the end of a range must be a scalar integer, not a scalar fp32
    # RANGED: note: write a // b in place of a / b, or x.to(tl.int32)
    # RANGED: mistakes_more.py:[[#@LINE-3]]:15: note: `n` is fp32 by --arg; an integer is written without a point or exponent: --arg n=1000
    for i in range(n):
        tl.store(x + i, 1.0)


# TUNED: mistakes_more.py:[[#@LINE+4]]:10: warning: `size` in key of autotune is no parameter of `tuned` [-Wautotune-name]
# TUNED-NEXT: "size"
@triton.autotune(
    configs=[triton.Config({"B": 128})],
    key=["size"],
)
@triton.jit
def tuned(x, n, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), n)


@triton.jit
def hosted(x):
    # HOSTED: mistakes_more.py:[[#@LINE+5]]:17: error: 'torch' is not known at compile time
    # HOSTED-NEXT: tl.store
    # HOSTED: mistakes_more.py:[[#@LINE-113]]:8: note: 'torch' belongs to the host: nothing of it runs here
    # HOSTED-NEXT: import torch
    # HOSTED: note: write tl.exp
    tl.store(x, torch.exp(tl.load(x)))
