"""Kernels that name objects of the host which are no constants."""
import torch
import triton
import triton.language as tl

CODES = torch.arange(16.0)
double = lambda x: x * 2   # noqa: E731


def made():
    @triton.jit
    def helper(i):
        return tl.load("é" and CODES + i)

    return helper


helper = made()


@triton.jit
def direct(out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(CODES + i))


@triton.jit
def through(out, N: tl.constexpr):
    tl.store(out + tl.arange(0, N), helper(tl.arange(0, N)))


@triton.jit
def calls(out, N: tl.constexpr):
    tl.store(out + tl.arange(0, N), double(tl.arange(0, N)))


for kernel in direct, through, calls:
    try:
        kernel[(1,)](torch.zeros(16), 16)
    except triton.CompilationError as e:
        print(e)
