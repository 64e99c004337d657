"""A suite written for a GPU, with mistakes that only some schedules show."""
import os
import time

import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def count(out, ids, N: tl.constexpr, E: tl.constexpr):
    tl.store(out + tl.arange(0, E), tl.zeros([E], tl.int32))   # a barrier is missing below
    tl.atomic_add(out + tl.load(ids + tl.arange(0, N)), tl.full([N], 1, tl.int32))


def test_race():
    out = torch.full((8,), 77, dtype=torch.int32, device="cuda")
    count[(1,)](out, (torch.arange(128, device="cuda") % 8).to(torch.int32), 128, 8)
    assert out.tolist() == [16] * 8


@triton.jit
def fill(out, N: tl.constexpr):
    tl.store(out + tl.arange(0, N), 1)


def test_outside():
    fill[(1,)](torch.zeros(8, device="cuda"), 1024)


@triton.autotune([triton.Config({"B": 32}), triton.Config({"B": 64})], key=[])
@triton.jit
def scale(x, y, n, B: tl.constexpr):
    offsets = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + offsets, tl.load(x + offsets, offsets < n) * 2, offsets < n)


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        assert x.is_cuda and x.device == torch.device("cuda:0")
        y = torch.empty_like(x, device=x.device)
        with torch.cuda.device(x.device), torch.cuda.stream(torch.cuda.Stream()):
            scale[lambda meta: (triton.cdiv(x.numel(), meta["B"]),)](x, y, x.numel())
        return y

    @staticmethod
    def backward(ctx, dy):
        assert dy.is_cuda
        return Scale.apply(dy.contiguous()).to("cuda")


@pytest.mark.skipif(torch.cuda.get_device_capability() < (9, 0), reason="asks for a Hopper")
@pytest.mark.parametrize("n, unused", [(64, (2, 3)), (33, (1, 1)), (33, (1, 2))])
def test_right(n, unused):
    x = torch.randn(n, requires_grad=True, device="cuda")
    Scale.apply(x.cuda()).sum().backward()
    torch.cuda.synchronize()
    torch.testing.assert_close(x.grad, torch.full((n,), 2.0, device=torch.device("cuda:0")))
    assert scale.best_config.kwargs["B"] == 32 and len(scale.configs) == 1


def test_slow():
    fill[(1,)](torch.zeros(8, device="cuda"), 8)
    time.sleep(1000)


def test_ends():
    os._exit(7)


def test_skips():
    pytest.skip("of its own")
