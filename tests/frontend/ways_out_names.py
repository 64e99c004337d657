# Ways out of wrong names and constants: options of the launch, fields of a tuple, propagate_nan, a failed assertion, a
# pair to sort, a descriptor's shape.
# RUN: not %tilec %s -k options -o - 2>&1 | FileCheck %s --check-prefix=OPTIONS
# RUN: not %tilec %s -k fields -o - 2>&1 | FileCheck %s --check-prefix=FIELDS
# RUN: not %tilec %s -k values -s "*fp32,16,32" -o - 2>&1 | FileCheck %s --check-prefix=VALUES
# RUN: not %tilec %s -k shapes -s "tensordesc<fp32[32,32]>,*fp32,16" -o - 2>&1 | FileCheck %s --check-prefix=SHAPES
from typing import NamedTuple

import triton
import triton.language as tl


class Strides(NamedTuple):
    row: tl.tensor
    col: tl.tensor


@triton.jit
def options(x: "*fp32"):
    # OPTIONS: ways_out_names.py:[[#@LINE+3]]:9: error: `num_warps` is an option of the launch, and no number in a kernel
    # OPTIONS: note: give the kernel a parameter for it, such as WARPS: tl.constexpr, and pass it
    # OPTIONS: ways_out_names.py:[[#@LINE+2]]:9: error: `num_stages` is not defined
    a = num_warps * 32
    b = num_stages + 1
    tl.store(x + a + b, 0)


@triton.jit
def fields(x: "*fp32", n: "i32"):
    s = Strides(n, n + 1)
    # FIELDS: ways_out_names.py:[[#@LINE+4]]:18: error: Strides has no attribute `rows`
    # FIELDS: note: did you mean `row`?
    # FIELDS-NEXT: note: its fields are `row`, `col`
    # FIELDS: ways_out_names.py:[[#@LINE+1]]:27: error: Strides has no attribute `pitch`
    tl.store(x + s.rows + s.pitch, 0)
    # FIELDS: ^~~
    # FIELDS-NEXT: note: its fields are `row`, `col`


@triton.jit
def values(x, N: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    # VALUES: ways_out_names.py:[[#@LINE+3]]:5: error: static assertion failed
    # VALUES: note: here N = 16, K = 32
    # VALUES-NOT: note
    tl.static_assert(N > K and N > i.shape[0] - 1)
    # VALUES: ways_out_names.py:[[#@LINE+2]]:26: error: `propagate_nan` must be tl.PropagateNan.ALL or NONE, not True
    # VALUES: note: write propagate_nan=tl.PropagateNan.ALL
    a = tl.maximum(v, 0, propagate_nan=True)
    # VALUES: ways_out_names.py:[[#@LINE+2]]:27: error: `propagate_nan` must be tl.PropagateNan.ALL or NONE, not False
    # VALUES: note: write propagate_nan=tl.PropagateNan.NONE
    b = tl.clamp(v, 0, 1, propagate_nan=False)
    # VALUES: ways_out_names.py:[[#@LINE+3]]:12: error: `sort` needs a tensor, this is a tuple of 2
    # VALUES: note: inside `sort`, which is written in the language itself
    # VALUES-NEXT: note: it sorts one tensor: to carry indices along, sort key.to(tl.int64) << 32 | index and take that apart; the key of a float32 is k ^ (k >> 31 & 0x7fffffff) with k = x.to(tl.int32, bitcast=True)
    c, d = tl.sort((v, i))
    tl.store(x + i, v)


@triton.jit
def shapes(desc, x, B: tl.constexpr):
    i = tl.arange(0, B)
    a = desc.load([0, 0])
    # SHAPES: ways_out_names.py:[[#@LINE+3]]:49: error: shapes [32, 32] and [16, 16] do not broadcast: dimension 0 is 32 on the left and 16 on the right
    # SHAPES: ways_out_names.py:[[#@LINE-2]]:9: note: shape [32, 32] comes from here
    # SHAPES: note: it is the block_shape of `desc`, which the host makes: make that for each configuration, in a pre_hook of its triton.Config
    tl.store(x + (i[:, None] * B + i[None, :]), a + tl.load(x + (i[:, None] * B + i[None, :])))
