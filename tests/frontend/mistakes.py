# Mistakes of people who know Triton: where a message points, and the way out that it gives.
# RUN: not %tilec %s -n vary -s *fp32,*fp32,i32,128 -o - 2>&1 | FileCheck %s --check-prefix=VARY
# RUN: not %tilec %s -n moved -s *fp32,*fp32,i32,128 -o - 2>&1 | FileCheck %s --check-prefix=MOVED
# RUN: not %tilec %s -n total -s *fp32,*fp32,i32,128 -o - 2>&1 | FileCheck %s --check-prefix=TOTAL
# RUN: not %tilec %s -n shapes -s *fp32,*fp32,i32,128 -o - 2>&1 | FileCheck %s --check-prefix=SHAPES
# RUN: not %tilec %s -n calls -s *i8,*fp32,i32,128 -o - 2>&1 | FileCheck %s --check-prefix=CALLS
# RUN: not %tilec %s -n desc -s *fp32,*fp32,i32,128 -o - 2>&1 | FileCheck %s --check-prefix=DESC
# RUN: not %tilec %s -n keys -s *fp32,*fp32,i32,128 -o - 2>&1 | FileCheck %s --check-prefix=KEYS
# RUN: not %tilec %s -n host -s *fp32,*fp32,i32,128 -o - 2>&1 | FileCheck %s --check-prefix=HOST
# RUN: not %tilec %s -n tuned -s *fp32,*fp32,i32 -o - 2>&1 | FileCheck %s --check-prefix=TUNED
# RUN: %tilec %s -Wno-autotune-name -n masked -s *fp32,*fp32,i32,128 -o - 2>&1 >/dev/null | FileCheck %s --check-prefix=MASKED --implicit-check-not=warning:
# RUN: %tilec %s -Wno-all -n masked -s *fp32,*fp32,i32,128 -o - 2>&1 >/dev/null | count 0
# RUN: not %tilec %s -n vary -s *fp32,*fp32,i32,128 -o - 2>&1 | FileCheck %s --check-prefix=NAMES
# RUN: not %tilec %s -n exchanged -s "*fp32, *fp32, i32, 128" -o - 2>&1 | FileCheck %s --check-prefix=EXCHANGED --implicit-check-not=error:
# RUN: not %tilec %s -n halved -s "*fp32, *fp32, i32, 128" -o - 2>&1 | FileCheck %s --check-prefix=HALVED --implicit-check-not=error:
# RUN: not %tilec %s -n kept -s "*fp32, *fp32, i32, 128" -o - 2>&1 | FileCheck %s --check-prefix=KEPT --implicit-check-not=error:
# RUN: not %tilec %s -n under -s "*fp32, *fp32, i32, 128" -D HAS=False -o - 2>&1 | FileCheck %s --check-prefix=UNDER --implicit-check-not=error:
# RUN: not %tilec %s -n comments -s "*fp32, *fp32, i32, 128" -o - 2>&1 | FileCheck %s --check-prefix=COMMENTS --implicit-check-not=error:
# RUN: %tilec %s -Wno-autotune-name -n right -s "*fp32, *i32, i32, 128" -o - 2>&1 >/dev/null | count 0
import torch
import triton
import triton.language as tl

NUMBERS = {"x": 1, "y": 2}
LIMIT = torch.finfo(torch.float32).max


@triton.jit
def vary(x, y, n, B: tl.constexpr):
    # VARY: mistakes.py:[[#@LINE+5]]:9: error: `v` is *fp32[128] after one arm of the `if` and i32[128] after the other
    # VARY: mistakes.py:[[#@LINE+2]]:5: note: assigned i32[128] here
    # VARY: note: an address is not a number: load the element with tl.load(…), or use two names
    v = tl.arange(0, B)
    if n > 0:
        v = x + v
    tl.store(y + tl.arange(0, B), tl.load(v))


@triton.jit
def moved(x, y, n, B: tl.constexpr):
    for i in range(0, n, B):
        # MOVED: mistakes.py:[[#@LINE+2]]:9: error: `x` changes its type in the loop
        # MOVED: note: give the moved pointers another name, or add tl.arange(…) to both
        x = x + tl.arange(0, B)
        tl.store(y + tl.arange(0, B), tl.load(x))


@triton.jit
def total(x, y, n, B: tl.constexpr):
    v = 0.0
    for i in range(0, n):
        # TOTAL: mistakes.py:[[#@LINE+2]]:9: error: `v` changes its type in the loop: a scalar fp32 before, fp32[128]
        # TOTAL: note: give both one shape: tl.full([128], …, tl.float32) makes a tensor, tl.sum and tl.max a scalar
        v += tl.load(x + tl.arange(0, B))
    tl.store(y, v)


@triton.jit
def shapes(x, y, n, B: tl.constexpr):
    # SHAPES: mistakes.py:[[#@LINE+4]]:9: error: `v` is fp32[64] after one arm of the `if` and fp32[128] after the other
    # SHAPES: note: give the value of the other shape another name
    v = tl.load(x + tl.arange(0, B))
    if n > 0:
        v = tl.load(x + tl.arange(0, 64))
    tl.store(y, tl.sum(v))


@triton.jit
def calls(x, y, n, B: tl.constexpr):
    o = tl.arange(0, B)
    # CALLS: mistakes.py:[[#@LINE+2]]:5: error: `atomic_add` does not exist for i8
    # CALLS: note: it works on integers and floats of 32 and 64 bits, fp16 and bf16: let the pointer point to one of them
    tl.atomic_add(x + o, 1)
    # CALLS: error: `atomic_max` does not exist for i8
    # CALLS: note: it works on integers and floats of 32 and 64 bits: let the pointer point to one of them
    tl.atomic_max(x + o, 1)
    # CALLS: error: `atomic_cas` does not exist for i8
    # CALLS: note: it works on elements of 16, 32 and 64 bits: let the pointer point to one of them
    tl.atomic_cas(x + o, 1, 2)
    # CALLS: mistakes.py:[[#@LINE+2]]:9: error: `cat` needs two tensors of one type and shape, got fp32[128] and fp32[64]
    # CALLS: note: an axis is a power of two, which sizes that differ do not add up to: load both parts with masks, or store each by itself
    c = tl.cat(tl.load(y + o), tl.load(y + tl.arange(0, 64)))
    # CALLS: error: `cat` needs two tensors of one type and shape, got fp32[128] and i8[128]
    # CALLS: note: convert one with .to(…)
    c = tl.cat(tl.load(y + o), tl.load(x + o))
    # CALLS: note: tl.join makes a tensor of two scalars
    c = tl.cat(tl.load(y), tl.load(y + 1))


@triton.jit
def desc(x, y, n, B: tl.constexpr):
    i = tl.arange(0, 16)
    # DESC: mistakes.py:[[#@LINE+2]]:{{[0-9]+}}: error: the last stride of a descriptor must be the constant 1
    # DESC: note: axis 0 is the contiguous one: put it last in shape, strides, block_shape and offsets, then permute what is loaded, as in desc.load(…).T
    d = tl.make_tensor_descriptor(x, shape=[n, n], strides=[1, n], block_shape=[16, 16])
    # DESC: error: the last stride of a descriptor must be the constant 1
    # DESC: note: write 1 for it
    d = tl.make_tensor_descriptor(x, shape=[n, n], strides=[n, n], block_shape=[16, 16])
    e = tl.make_tensor_descriptor(x, shape=[n, n], strides=[n, 1], block_shape=[16, 16])
    # DESC: mistakes.py:[[#@LINE+2]]:{{[0-9]+}}: error: `descriptor.load` has no parameter `mask`
    # DESC: note: leave it out: what lies outside the descriptor's shape is padding when loaded, and is not stored
    a = e.load([0, 0], mask=i[:, None] < n)


@triton.jit
def keys(x, y, n, B: tl.constexpr):
    # KEYS: mistakes.py:[[#@LINE+1]]:17: error: no entry for key 'z'; its keys are 'x', 'y'
    tl.store(x, NUMBERS["z"])


@triton.jit
def host(x, y, n, B: tl.constexpr):
    # HOST: mistakes.py:[[#@LINE+2]]:17: error: 'torch.finfo(...).max' is not known at compile time
    # HOST: note: write the number itself, or float("inf"); a module-level `LIMIT = tl.constexpr(…)` gives it a name
    tl.store(x, LIMIT)


# TUNED: mistakes.py:[[#@LINE+4]]:5: error: kernel `tuned` has no parameter `WIDTH`, given by the autotune configuration
# TUNED: note: its parameters: x, y, n, B
@triton.autotune(configs=[triton.Config({"WIDTH": 128})], key=["n"])
@triton.jit
def tuned(x, y, n, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), 1.0)


# NAMES: mistakes.py:[[#@LINE+6]]:60: warning: `num_elements` in key of autotune is no parameter of `renamed` [-Wautotune-name]
# NAMES: note: it has no effect: remove it, or name a parameter
# NAMES: warning: `ou_ptr` in reset_to_zero of autotune is no parameter of `renamed`
# NAMES: note: did you mean `out_ptr`?
# NAMES-NOT: `n` in key
# NAMES-NOT: is no parameter
@triton.autotune(configs=[triton.Config({"B": 128})], key=["num_elements", "n"], reset_to_zero=["ou_ptr"])
@triton.jit
def renamed(x, out_ptr, n, B: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, B), tl.load(x + tl.arange(0, B)))


@triton.jit
def masked(x, y, n, B: tl.constexpr):
    o = tl.arange(0, B)
    # MASKED: mistakes.py:[[#@LINE+4]]:13: warning: `&` binds more tightly than the comparisons on both sides of it [-Wbitwise-compare]
    # MASKED-NEXT: m = o < n & o > 0
    # MASKED-NEXT: {{^}}              ^~~~~{{$}}
    # MASKED: note: write (a < b) & (c < d); if this is meant, put parentheses around it
    m = o < n & o > 0
    # MASKED: mistakes.py:[[#@LINE+1]]:{{[0-9]+}}: warning: `|` binds more tightly
    tl.store(y + o, tl.load(x + o, m), mask=o < n | o == 5)
    # What says what it means.
    tl.store(y + o, 2.0, mask=(o < n) & (o > 0))
    tl.store(y + o, 3.0, mask=0 < (o & n) < 9)
    tl.store(y + o, 4.0, mask=o & 1 == 0)
    tl.store(y + o, 5.0, mask=0 < o < n)


@triton.jit
def exchanged(x, y, n, B: tl.constexpr):
    o = tl.arange(0, B)
    mask = o < n
    # EXCHANGED: mistakes.py:[[#@LINE+2]]:24: error: a mask must be int1, this is fp32[128]
    # EXCHANGED-NEXT: v = tl.load(x + o, 0.0, mask)
    v = tl.load(x + o, 0.0, mask)
    # EXCHANGED: note: other and mask seem exchanged: write tl.load(x + o, mask, 0.0)
    w = tl.load(x + o, mask, 0.0)
    # EXCHANGED: mistakes.py:[[#@LINE+2]]:27: error: a mask must be int1, this is fp32[128]
    # EXCHANGED: note: value and mask seem exchanged: write tl.store(y + o, w, mask)
    tl.store(y + o, mask, w)
    # EXCHANGED: error: a mask must be int1, this is i32[128]
    # EXCHANGED: note: value and mask seem exchanged: write tl.atomic_add(y + o, 1, o < 3)
    tl.atomic_add(y + o, o < 3, 1)
    # EXCHANGED: error: a mask must be int1, this is fp16[128]
    # EXCHANGED: note: value and mask seem exchanged: write tl.store(y + o, w.to(tl.float16), mask)
    tl.store(y + o, value=mask, mask=w.to(tl.float16))
    # EXCHANGED: error: a mask must be int1, this is a scalar fp32
    # EXCHANGED: note: value and mask seem exchanged: write tl.store(y, 1.0, n > 0)
    tl.store(y, n > 0, 1.0)
    # A bool is stored, and the mask is a number.
    # EXCHANGED: mistakes.py:[[#@LINE+2]]:30: error: a mask must be int1, this is i32[128]
    # EXCHANGED: note: compare: mask != 0
    tl.store(y + o, w > 0.0, mask=o)


@triton.jit
def halved(x, y, n, B: tl.constexpr):
    s = B // 2
    while s > 0:
        # HALVED: mistakes.py:[[#@LINE+2]]:26: error: `end` of `arange` must be a constant integer, not a scalar i32
        # HALVED: note: `s` changes in a run-time loop; in `for i in tl.static_range(…):`, `s: tl.constexpr = …` may be computed from i and constants
        o = tl.arange(0, s)
        t: tl.constexpr = s * 2
        # HALVED: error: entry 0 of `shape` of `zeros` must be a constant integer, not a scalar i32
        # HALVED: note: declared a constexpr here
        # HALVED: note: `s` changes in a run-time loop
        tl.store(x, tl.sum(tl.zeros([t], tl.float32)))
        s //= 2
    for i in range(1, 4):
        # HALVED: error: `end` of `arange` must be a constant integer, not a scalar i32
        # HALVED: note: `i` counts a run-time loop; in `for i in tl.static_range(…):` it is a constant{{$}}
        tl.store(x + tl.arange(0, 1 << i), 1.0)
    for i in range(1, 4):
        u = B >> i
        # HALVED: error: `end` of `arange` must be a constant integer, not a scalar i32
        # HALVED: note: `i` counts a run-time loop; in `for i in tl.static_range(…):` it is a constant, and `u: tl.constexpr = …` may be computed from it
        tl.store(x + tl.arange(0, u), 1.0)
    for i in range(n):
        # HALVED: error: `end` of `arange` must be a constant integer, not a scalar i32
        # HALVED: note: a plain assignment makes a run-time value
        tl.store(x + tl.arange(0, i * 2), 1.0)
    for i in range(4):
        w = tl.load(y + i).to(tl.int32)
        # HALVED: error: `end` of `arange` must be a constant integer, not a scalar i32
        # HALVED: note: a plain assignment makes a run-time value
        tl.store(x + tl.arange(0, w), 1.0)


@triton.jit
def kept(x, y, n, B: tl.constexpr):
    r, c = tl.arange(0, 16), tl.arange(0, 64)
    v = tl.load(x + r[:, None] * 64 + c[None, :])
    # KEPT: mistakes.py:[[#@LINE+2]]:21: error: cannot broadcast shape [16, 1] to [16]: its rank is higher
    # KEPT: note: leave out keep_dims, or write p[:, None] for the other operand
    tl.store(y + r, tl.sum(v, axis=1, keep_dims=True))
    # KEPT: error: cannot broadcast shape [1, 64] to [64]: its rank is higher
    # KEPT: note: leave out keep_dims, or write p[None, :] for the other operand
    tl.store(y + c, tl.argmax(v, 0, keep_dims=True) * 2)
    # KEPT: error: cannot broadcast shape [16, 1] to [16]: its rank is higher
    # KEPT: {{^}}note: leave out [:, None]: the shape [16] fits
    tl.store(y + r, tl.sum(v, 1)[:, None])
    # KEPT: error: cannot broadcast shape [16, 1] to [16]: its rank is higher
    # KEPT: note: write x.reshape([16]) for this one, or p[:, None] for the other operand
    tl.store(y + r, tl.zeros((16, 1), tl.float32))
    # KEPT: error: a scalar pointer takes a scalar, not fp32[1, 1]
    # KEPT: note: leave out keep_dims: a reduction of all axes gives a scalar
    tl.store(y, tl.sum(v, keep_dims=True))


@triton.jit
def under(x, y, n, B: tl.constexpr, HAS: tl.constexpr):
    o = tl.arange(0, B)
    if HAS:
        b = tl.load(x + o)
    # UNDER: mistakes.py:[[#@LINE+6]]:21: error: `b` is not defined
    # UNDER-NEXT: tl.store(y + o, b)
    # UNDER-NEXT: {{^}}                      ^{{$}}
    # UNDER-NEXT: mistakes.py:[[#@LINE-4]]:9: note: it is assigned here, under a condition that is False in this compilation
    # UNDER: note: give it a value before the `if`, or use it under the same condition
    # UNDER-NOT: did you mean
    tl.store(y + o, b)
    if B == 128:
        c = 1.0
    elif B == 64:
        c, d = 2.0, 3.0
    else:
        for i in range(4):
            d = 4.0
    # UNDER: mistakes.py:[[#@LINE+2]]:25: error: `d` is not defined
    # UNDER: mistakes.py:[[#@LINE-5]]:12: note: it is assigned here, in the `else` of a condition that is True in this compilation
    tl.store(y + o, c + d)


@triton.jit
def comments(x, y, n, B: tl.constexpr):
    o = tl.arange(0, B)
    v = tl.load(x + o)
    # COMMENTS: mistakes.py:[[#@LINE+2]]:28: error: `done` is not defined
    # COMMENTS: note: a comment begins with #
    tl.store(y + o, v)  // done
    # COMMENTS: error: the left operand of `//` must be a tensor or a number, not None
    # COMMENTS: note: a comment begins with #
    tl.store(y + o, v) // v
    # COMMENTS: error: the right operand of `//` must be a tensor or a number, not the builtin input
    # COMMENTS: note: a comment begins with #
    w = v * 2  // input
    BLOCK: tl.constexpr = 8
    # COMMENTS: error: `BLOK` is not defined
    # COMMENTS: note: did you mean `BLOCK`?
    u = n // BLOK


# What resembles these mistakes and is none.
@triton.jit
def right(x, y, n, B: tl.constexpr):
    o = tl.arange(0, B)
    tl.store(y + o, o < n, o > 3)
    tl.store(x + o, tl.load(x + o, o < n, o > 3))
    for i in tl.static_range(7):
        s: tl.constexpr = (B // 2) >> i
        p = tl.arange(0, s)
        tl.store(x + p, tl.load(x + p) + tl.load(x + s + p))
    r = tl.arange(0, 16)
    v = tl.load(x + r[:, None] * 64 + tl.arange(0, 64)[None, :])
    tl.store(x + r[:, None], tl.sum(v, 1, keep_dims=True))
    tl.store(x + r, tl.sum(v, 1))
    if B == 64:
        b = 1.0
        tl.store(x, b)
    if B == 64:
        c = 2.0
    c = 1.0
    tl.store(x, c * (n // B))
    m = n \
        // B
    tl.store(y, m)
