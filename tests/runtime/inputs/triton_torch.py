"""PyTorch's custom operators over Triton's kernels, and torch.compile, on tensors of the host."""
import logging

import torch
import torch._inductor.config
import triton
import triton.language as tl
from torch.library import triton_op, wrap_triton

torch._inductor.config.cpu_backend = "triton"   # without a GPU
logging.disable(logging.WARNING)


@triton.autotune([triton.Config({"B": 64}), triton.Config({"B": 128})], key=["n"])
@triton.jit
def multiply(x, y, out, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + o, tl.load(x + o, o < n) * tl.load(y + o, o < n), o < n)


@triton_op("mine::product", mutates_args={})
def product(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x, y = x.contiguous(), y.contiguous()
    out, n = torch.empty_like(x), x.numel()
    wrap_triton(multiply)[lambda meta: (triton.cdiv(n, meta["B"]),)](x, y, out, n)
    return out


def backward(context, g):
    x, y = context.saved_tensors
    return product(g, y), product(g, x)


product.register_autograd(backward, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs))
x, y = torch.randn(100), torch.randn(100)
a, b = x.clone().requires_grad_(), y.clone().requires_grad_()
product(a, b).sum().backward()
print("operator:", torch.equal(product(x, y), x * y), torch.equal(a.grad, y), torch.equal(b.grad, x))


def function(x, y):
    return torch.softmax(x.reshape(10, 10) + y.reshape(10, 10), -1).sum(0)


def gated(x, y):
    return product(x, y).sin() + x


for f in (function, gated):
    print("compiled:", f.__name__, torch.allclose(torch.compile(f)(x, y), f(x, y), atol=1e-5))

from torch._inductor.runtime.triton_helpers import get_backend_options, set_driver_to_gpu

active = triton.runtime.driver.active
set_driver_to_gpu()   # what torch.compile calls before it compiles a kernel for a GPU
print("driver kept:", triton.runtime.driver.active is active, get_backend_options()["num_warps"])
