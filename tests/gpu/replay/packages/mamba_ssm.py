"""mamba_ssm 2.3.2: the Triton kernels of Mamba, Mamba-2 and Mamba-3, at the sizes of released models."""

import importlib
import os
import sys

import torch
import torch.nn.functional as F

from packages import stand_ins
from packages.common import BarePackages, stub
from packages.mamba_ssm_models import CASES

PATHS = ["mamba_ssm"]


def convolve(x, weight, bias, seq_idx, initial, final, activate):
    """What causal_conv1d computes of a batch whose sequences begin with zeros; channels lie next to each other."""
    length, taps = x.shape[-1], weight.shape[-1]
    padded = F.pad(x, (taps - 1, 0))
    sums = bias[:, None] + sum(weight[:, i, None] * padded[..., i : i + length] for i in range(taps))
    out = (F.silu(sums) if activate else sums).to(x.dtype)
    return out.transpose(1, 2).contiguous().transpose(1, 2)


def convolve_backward(x, weight, bias, dout, seq_idx, initial, dfinal, dx, return_dinitial, activate):
    with torch.enable_grad():
        leaves = [t.detach().requires_grad_() for t in (x, weight, bias)]
        out = convolve(*leaves, seq_idx, initial, None, activate)
    found, *rest = torch.autograd.grad(out, leaves, dout)
    return dx.copy_(found), *rest, None


def load():
    stand_ins.install()
    BarePackages("mamba_ssm", next(p for p in sys.path if os.path.isdir(os.path.join(p, "mamba_ssm", "ops"))))
    stub("causal_conv1d", causal_conv1d_fn=None)
    stub(
        "causal_conv1d.cpp_functions",
        causal_conv1d_fwd_function=convolve,
        causal_conv1d_bwd_function=convolve_backward,
        causal_conv1d_update_function=None,
    )


def kernels(module):
    return importlib.import_module("mamba_ssm.ops.triton." + module)


def cases():
    load()
    for name, case in CASES.items():
        yield name, lambda case=case: case(kernels)
