"""Autotuned kernels that another run gives another result, names in key that nothing has, assertions without debug,
grids that do not follow the choice of a block."""
import torch
import triton
import triton.language as tl

CONFIGS = [triton.Config({"BLOCK": 16}), triton.Config({"BLOCK": 32})]


@triton.autotune(CONFIGS, key=["seen"])
@triton.jit
def step(p_ptr, g_ptr, total_ptr, seen_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    places = tl.multiple_of(p_ptr + o, 16)
    g = tl.load(g_ptr + o, mask=o < n, other=0.0)
    tl.store(places, tl.load(places, mask=o < n) - g, mask=o < n)
    tl.atomic_add(total_ptr, tl.sum(g))
    tl.store(seen_ptr + o, g, mask=o < n)


@triton.autotune(CONFIGS, key=["n"], restore_value=["p_ptr"])
@triton.jit
def restored(p_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.device_assert(o >= 0, "never")
    tl.store(p_ptr + o, tl.load(p_ptr + o, mask=o < n) + 1, mask=o < n)


@triton.autotune(CONFIGS, key=["n"])
@triton.jit
def scattered(p_ptr, n, BLOCK: tl.constexpr):
    first = (tl.program_id(0) + 1) // 2 * BLOCK
    tl.store(p_ptr + first + tl.arange(0, BLOCK), 1.0)


@triton.autotune(CONFIGS, key=["n"])
@triton.jit
def persistent(p_ptr, n, BLOCK: tl.constexpr):
    for i in range(tl.program_id(0), tl.cdiv(n, BLOCK), tl.num_programs(0)):
        tl.store(p_ptr + i * BLOCK + tl.arange(0, BLOCK), 1.0)


@triton.autotune(CONFIGS, key=["n"])
@triton.jit
def rows(p_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    for first in range(0, n, BLOCK):
        o = row * n + first + tl.arange(0, BLOCK)
        tl.store(p_ptr + o, 1.0)


p, g, total, seen = torch.zeros(64), torch.ones(64), torch.zeros(1), torch.zeros(64)
by_block = lambda META: (triton.cdiv(64, META["BLOCK"]),)
step[by_block](p, g, total, seen, 64)
restored[by_block](p, 64)
scattered[(2,)](p, 64)
scattered[by_block](p, 64)
persistent[(2,)](p, 64)
rows[(2,)](p, 32)
print("done")
