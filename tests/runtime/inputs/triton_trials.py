"""Autotuned kernels that another run gives another result, names in key that nothing has, assertions without debug."""
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


p, g, total, seen = torch.zeros(64), torch.ones(64), torch.zeros(1), torch.zeros(64)
step[(4,)](p, g, total, seen, 64)
restored[(4,)](p, 64)
print("done")
