# Constants that a plain assignment makes run-time values, also by unpacking, and fp8 types of other GPUs.
# RUN: not %tilec %s -n unpacked -s "*fp32, *fp32" -D N=64 -o - 2>&1 | FileCheck %s --check-prefix=UNPACKED
# RUN: not %tilec %s -n foreign -s "*fp8e4b8, *fp32" -D N=64 -o - 2>&1 | FileCheck %s --check-prefix=FOREIGN
import triton
import triton.language as tl

TILE = (16, 32)


@triton.jit
def unpacked(x, y, N: tl.constexpr):
    # UNPACKED: kept_constants.py:[[#@LINE+7]]:18: error: `end` of `arange` must be a constant integer, not a scalar i32
    # UNPACKED: kept_constants.py:[[#@LINE+5]]:5: note: `a` is assigned here: a plain assignment makes a run-time value
    # UNPACKED: {{^}}note: keep the constant: write a: tl.constexpr = TILE[0] there{{$}}
    # UNPACKED: error: entry 0 of `shape` of `zeros` must be a constant integer, not a scalar i32
    # UNPACKED: kept_constants.py:[[#@LINE+2]]:8: note: `b` is assigned here: a plain assignment makes a run-time value
    # UNPACKED: {{^}}note: keep the constant: write b: tl.constexpr = TILE[1] there{{$}}
    a, b = TILE
    tl.arange(0, a)
    tl.zeros((b, 4), tl.float32)
    # UNPACKED: {{^}}note: keep the constant: write half: tl.constexpr = N // 2 there{{$}}
    half = N // 2
    tl.store(y + tl.arange(0, half), 1.0)


@triton.jit
def foreign(x, y, N: tl.constexpr):
    # FOREIGN: kept_constants.py:[[#@LINE+4]]:9: error: type fp8e4b8 (float8_e4m3fnuz of PyTorch) does not exist on NVIDIA GPUs; fp8e4nv (float8_e4m3fn), fp8e5 (float8_e5m2) and fp8e4b15 do
    # FOREIGN: kept_constants.py:[[#@LINE-2]]:13: note: fp8e4b8[64] is loaded through `x`, which is *fp8e4b8 by --signature
    # FOREIGN: {{^}}note: convert it on the host: pass x.to(torch.float32).to(torch.float8_e4m3fn){{$}}
    i = tl.arange(0, N)
    v = tl.load(x + i).to(tl.float32)
    tl.store(y + i, v)
