"""Kernels of which the compiler and the simulator warn."""
import warnings

import torch
import triton
import triton.language as tl

import tilec


@triton.jit
def kernel(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x + i
    tl.store(out + i, tl.load(x + i) / 0.0)


@triton.jit
def large(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    v = (v * 65536).to(tl.float16)
    tl.store(out + i, v)


x = torch.zeros(64)
kernel[(1,)](x, torch.zeros(64), 64)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    large[(1,)](torch.ones(64), torch.zeros(64, dtype=torch.float16), 64)
print("caught:", caught[0].lineno, caught[0].message.column, end=": ")
print(caught[0].message)
shown = warnings.formatwarning("wrong\n  x\n  ^", tilec.Warning, "k.py", 3)   # as pytest asks
print("of pytest:", shown, end="")
print("of the host:", warnings.formatwarning("wrong", tilec.Warning, "k.py", 3), end="")
print("of another:", warnings.formatwarning("wrong", UserWarning, "k.py", 3), end="")
print("done")
