"""Launches whose results go where the program does not look: beside a view's elements, or into a tensor that dies."""
import atexit

import torch
import triton
import triton.language as tl


@triton.jit
def double(x, n, step, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at * step, tl.load(x + at * step, mask=at < n) * 2, mask=at < n)


@triton.jit
def fill(x, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 1.0)


square = torch.ones(16, 16)
double[(1,)](square[:, 3], 16, 1, 16)                       # warned of: the strides are ignored
double[(1,)](square[:, 3], 16, square.stride(0), 16)
double[(4,)](square.t(), 256, 1, 64)
double[(4,)](square.view(-1), 256, 1, 64)
for _ in range(2):
    double[(4,)](square.t().contiguous(), 256, 1, 64)       # warned of, once: the copy dies
tuned = triton.autotune([triton.Config({"BLOCK": n}) for n in (64, 32)], ["n"])(double)
tuned[(8,)](square.double(), 256, 1)                        # warned of: the copy dies
kept = square.t().contiguous()
double[(4,)](kept, 256, 1, 64)
del kept
fill[(1,)](torch.empty(16), 16)                             # memory for the kernel alone
fill[(1,)](torch.zeros(16), 16)
print("end", square.sum())
held = [torch.full((16,), 3.0)]
fill[(1,)](held[0], 16)
atexit.register(held.clear)                                 # it dies at the end, when no code runs
