# A function, a method, a module or a type in place of a value, and arguments by position that belong to a parameter
# further on.
# RUN: not %tilec %s -n values -s "*fp32, *fp32, i32, 16" -o - 2>&1 | FileCheck %s --check-prefix=VALUES
# RUN: not %tilec %s -n truths -s "*fp32, *fp32, i32, 16" -o - 2>&1 | FileCheck %s --check-prefix=TRUTHS
# RUN: not %tilec %s -n places -s "*fp32, *fp32, i32, 16" -o - 2>&1 | FileCheck %s --check-prefix=PLACES
# RUN: %tilec %s -n chosen -s "*fp32, *fp32, i32, 16" -D F=twice -o - 2>&1 >/dev/null | count 0
import math
from typing import NamedTuple

import triton
import triton.language as tl


class Pair(NamedTuple):
    a: tl.tensor
    b: tl.tensor


@triton.jit
def twice(a, b=2):
    return a * b


@triton.jit
def one():
    return 1


@triton.jit
def values(x, y, n, B: tl.constexpr):
    v = tl.load(x)
    # VALUES: uncalled.py:[[#@LINE+2]]:5: error: the right operand of `+` must be a tensor or a number, not the function twice
    # VALUES: {{^}}note: call it: twice(a, …){{$}}
    v + twice
    # VALUES: uncalled.py:[[#@LINE+2]]:17: error: `value` of `store` must be a tensor or a number, not the method sum
    # VALUES: {{^}}note: call it: x.sum(…){{$}}
    tl.store(y, v.sum)
    # VALUES: uncalled.py:[[#@LINE+2]]:14: error: the right operand of `+` must be a tensor or a number, not the builtin tl.program_id
    # VALUES: {{^}}note: call it: tl.program_id(axis){{$}}
    tl.store(y + tl.program_id, v)
    # VALUES: uncalled.py:[[#@LINE+2]]:17: error: the right operand of `*` must be a tensor or a number, not the module math
    # VALUES: {{^}}note: a module is no value: write what it has, as in math.NAME{{$}}
    tl.store(y, v * math)
    # VALUES: uncalled.py:[[#@LINE+2]]:31: error: `end` of `arange` must be a constant integer, not the function one
    # VALUES: {{^}}note: call it: one(){{$}}
    tl.store(y + tl.arange(0, one), v)
    # VALUES: uncalled.py:[[#@LINE+2]]:17: error: the left operand of `<` must be a tensor or a number, not the function one
    # VALUES: {{^}}note: call it: one(){{$}}
    tl.store(y, one < 2)
    # VALUES: uncalled.py:[[#@LINE+2]]:17: error: the operand of `-` must be a tensor or a number, not the function one
    # VALUES: {{^}}note: call it: one(){{$}}
    tl.store(y, -one)
    # VALUES: uncalled.py:[[#@LINE+2]]:5: error: the right operand of `+` must be a tensor or a number, not the class Pair
    # VALUES: {{^}}note: make an object of it: Pair(…){{$}}
    v + Pair


@triton.jit
def truths(x, y, n, B: tl.constexpr):
    # TRUTHS: uncalled.py:[[#@LINE+2]]:8: error: the condition of `if` must be a bool, an int or None, not the function one
    # TRUTHS: {{^}}note: call it: one(){{$}}
    if one:
        tl.store(y, 1.0)
    # TRUTHS: uncalled.py:[[#@LINE+2]]:12: error: the function one is no condition: it is always true
    # TRUTHS: {{^}}note: call it: one(){{$}}
    if not one:
        tl.store(y, 1.0)
    # TRUTHS: uncalled.py:[[#@LINE+2]]:8: error: the function twice is no condition: it is always true
    # TRUTHS: {{^}}note: call it: twice(a, …){{$}}
    if twice and n > 0:
        tl.store(y, 1.0)
    # TRUTHS: uncalled.py:[[#@LINE+2]]:22: error: static_assert needs a condition, this is the function one
    # TRUTHS: {{^}}note: call it: one(){{$}}
    tl.static_assert(one)


@triton.jit
def places(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i[:, None] * B + i[None, :])
    # PLACES: uncalled.py:[[#@LINE+2]]:18: error: the accumulator of `dot` is a scalar i1, but the product is fp32[16, 16]
    # PLACES: {{^}}note: positional arguments take the first parameters, here `acc`: write allow_tf32=True{{$}}
    tl.dot(a, a, True)
    # PLACES: uncalled.py:[[#@LINE+2]]:18: error: `acc` of `dot` must be a tensor or a number, not the constant 'ieee'
    # PLACES: {{^}}note: positional arguments take the first parameters, here `acc`: write input_precision="ieee"{{$}}
    tl.dot(a, a, "ieee")
    # PLACES: uncalled.py:[[#@LINE+3]]:5: error: `keep_dims` of `sum` must be a constant bool, not the type fp32
    # PLACES: {{^}}note: inside `sum`, which is written in the language itself
    # PLACES: {{^}}note: positional arguments take the first parameters, here `keep_dims`: write dtype=tl.float32{{$}}
    tl.sum(a, 0, tl.float32)
    # PLACES: uncalled.py:[[#@LINE+2]]:20: error: a mask must be int1, this is fp32[16]
    # PLACES: {{^}}note: positional arguments take the first parameters, here `mask`: write other=0.0{{$}}
    tl.load(x + i, 0.0)
    # PLACES: uncalled.py:[[#@LINE+3]]:27: error: `mask` of `atomic_add` must be a tensor or a number, not the constant 'relaxed'
    # PLACES-NOT: leave out the quotes
    # PLACES: {{^}}note: positional arguments take the first parameters, here `mask`: write sem="relaxed"{{$}}
    tl.atomic_add(y, 1.0, "relaxed")
    # PLACES: uncalled.py:[[#@LINE+3]]:5: error: axis 1 of `sort` is outside a tensor of rank 1
    # PLACES: {{^}}note: inside `sort`, which is written in the language itself
    # PLACES: {{^}}note: positional arguments take the first parameters, here `dim`: write descending=True{{$}}
    tl.sort(i, True)
    # PLACES: uncalled.py:[[#@LINE+1]]:37: error: `to` takes at most 3 positional arguments, 4 are given
    a.to(tl.float16, "rtne", False, 1)


@triton.jit
def chosen(x, y, n, B: tl.constexpr, F: tl.constexpr = None):
    v = tl.load(x)
    if F and n > 0:
        v = F(v)
    if not F:
        v += 1
    tl.store(y, v)
