"""Annotations of kernels: those of the host say nothing, those that a decorator gives count."""
from __future__ import annotations

import array
from typing import Optional

import triton
import triton.language as tl
from triton.language import constexpr

from ints import Ints


def typed(**types):
    def decorate(f):
        f.__annotations__ = {**types, "return": None}
        return f
    return decorate


def helper() -> Ints:
    return Ints(0)


@triton.jit
def added(x: Ints, y: Optional[
        Ints] = None, z: "anything" = 4) -> Ints:
    return x + z


@triton.jit
def first(out: Ints, n: helper, large: int, B: constexpr, *, more: array.array = 1) -> None:
    tl.static_assert(large.dtype == tl.int64)
    tl.store(out + tl.arange(0, B), added(n) + more)


@triton.jit
@typed(out=array.array, v="tl.uint8", w=tl.float16, B="tl.constexpr")
def second(out, v, w, B):
    tl.static_assert(v.dtype == tl.uint8)
    tl.static_assert(w.dtype == tl.float16)
    tl.store(out + tl.arange(0, B), v + w.to(tl.int32))


out = Ints(0, 0, 0, 0)
first[(1,)](out, 3, 1 << 40, 4)
print(out.data.tolist(), first.params[3].is_constexpr, repr(first.params[0].annotation))
second[(1,)](out, 250, 7.0, 4)
print(out.data.tolist(), second.params[1].annotation_type)


@triton.jit
def narrow(out, seed: tl.int32):
    tl.store(out, seed)


try:
    narrow[(1,)](out, 1 << 40)
except OverflowError as e:
    print(e)
