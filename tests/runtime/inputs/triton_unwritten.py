"""Outputs of which no launch writes some elements. What follows a launch says whether it is warned of."""
import sys

import torch
import triton
import triton.language as tl

N, BLOCK = 1000, 64


@triton.jit
def copy(x_ptr, out_ptr, n, step, BLOCK: tl.constexpr):
    at = tl.program_id(0) * step + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)


@triton.jit
def rows(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + tl.program_id(0) * n + at, tl.load(x_ptr + tl.program_id(0) * n + at, mask=at < n), mask=at < n)


@triton.jit
def quiet(x_ptr, out_ptr, BLOCK: tl.constexpr):   # tilec: ignore[unwritten-output]
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at))


@triton.jit
def add(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at) + tl.load(out_ptr + at))


x = torch.rand(N)
grid = (triton.cdiv(N, BLOCK),)


def one(step):
    out = torch.empty_like(x)
    copy[grid](x, out, N, step, BLOCK)   # the tail, of step 1
    return out


def whole():
    out = torch.empty(2, N)
    copy[grid](x, out[0], N, BLOCK, BLOCK)   # a part alone is passed
    out = torch.empty_like(x)
    copy[(4,)](x, out, N, BLOCK, BLOCK)   # the next launch writes the rest
    copy[grid](x, out, N, BLOCK, BLOCK)
    out = torch.empty_like(x)
    copy[(4,)](x, out, N, BLOCK, BLOCK)   # the host writes the rest
    out[4 * BLOCK:] = 0
    out, sums = torch.empty_like(x), torch.zeros(BLOCK)
    copy[(4,)](x, out, N, BLOCK, BLOCK)   # what another kernel loads is for kernels
    add[(1,)](out, sums, BLOCK)
    out = torch.empty_like(x)
    copy[(4,)](x, out, N, BLOCK, BLOCK)   # tilec: ignore[unwritten-output]
    quiet[(1,)](x, torch.empty(N), BLOCK)
    out = torch.zeros_like(x)
    copy[(4,)](x, out, N, BLOCK, BLOCK)   # zeros are values


def failed():
    out = torch.empty_like(x)
    copy[(4,)](x, out, N, BLOCK, BLOCK)
    try:
        copy[(1,)](x[1:], out, N, N - BLOCK + 1, N)   # N is no power of two
    except Exception as e:
        print("failed:", type(e).__name__)


if sys.argv[1:] == ["error"]:
    out = one(1)
    raise KeyError("no comparison")
if sys.argv[1:] == ["compared"]:
    out = one(1)
    torch.testing.assert_close(out, x)
print("whole", flush=True)
one(BLOCK)
whole()
failed()
print("parts", flush=True)
one(1)
one(1)   # told once
square = x[:960].view(8, 120)
out = torch.empty_like(square)
rows[(8,)](square, out, 120, BLOCK)
out = torch.empty(120, 8).t()
rows[(7,)](x, out, 120, 128)   # in memory it is the end
view = out[0]
del out
print("held", flush=True)
del view
out = torch.empty(N, dtype=torch.int8)
copy[grid](x, out, N, 2 * BLOCK, BLOCK)
del out
last = torch.empty_like(x)
copy[grid](x, last[:-1], N - 2, BLOCK, BLOCK)
copy[(15,)](x, last, N, BLOCK, BLOCK)
print("end", flush=True)
