"""The helpers of Triton's own tests, which tests of other packages import, too: targets, random data, any tensors.

Every function of a target answers for the device that kernels run on; the GPUs of other makers are never there.
"""
import re

import numpy as np
import pytest
import torch

from . import knobs
from .language import core as tl
from .runtime.driver import driver
from .runtime.jit import TensorWrapper, reinterpret, type_canonicalisation_dict

int_dtypes = [f"int{bits}" for bits in (8, 16, 32, 64)]
uint_dtypes = [f"u{name}" for name in int_dtypes]
integral_dtypes = int_dtypes + uint_dtypes
float_dtypes = ["float16", "float32", "float64"]
float_dtypes_with_bfloat16 = [*float_dtypes, "bfloat16"]
dtypes = integral_dtypes + float_dtypes
dtypes_with_bfloat16 = [*dtypes, "bfloat16"]
torch_float8_dtypes = ["float8_e4m3fn", "float8_e5m2"]
torch_dtypes = ["bool", *int_dtypes, "uint8", *float_dtypes_with_bfloat16]
tma_dtypes = sorted(name for name in dtypes_with_bfloat16 if not name.endswith("64"))


# ---- the target

def is_interpreter():
    return knobs.runtime.interpret


def get_current_target():
    return None if is_interpreter() else driver.active.get_current_target()


def _capability():
    target = get_current_target()
    return divmod(target.arch, 10) if target else (0, 0)


def is_cuda():
    return not is_interpreter()


def is_ampere_or_newer():
    return _capability()[0] >= 8


def is_hopper():
    return _capability()[0] == 9


def is_hopper_or_newer():
    return _capability()[0] >= 9


def is_blackwell():
    return _capability()[0] == 10


def is_sm12x():
    return _capability()[0] == 12


def is_hip():
    return False


is_xpu = is_hip_cdna = is_hip_cdna2 = is_hip_cdna3 = is_hip_cdna4 = is_hip
is_hip_gfx11 = is_hip_gfx12 = is_hip_gfx1250 = is_hip


def get_hip_lds_size():
    return 65536


def get_arch():
    target = get_current_target()
    return str(target.arch) if target else ""


def supports_tma(byval_only=False):
    return is_interpreter() or is_hopper_or_newer()


supports_ws = supports_tma


def tma_skip_msg(byval_only=False):
    return "descriptors in memory need Hopper or newer"


requires_tma = pytest.mark.skipif("not __import__('triton')._internal_testing.supports_tma()", reason=tma_skip_msg())


# ---- data

def numpy_random(shape, dtype_str, rs=None, low=None, high=None):
    """Returns random numbers of a type: normal ones of floats; of integers all, zero left out, within [low, high)."""
    rs = np.random.RandomState(seed=17) if rs is None else rs
    shape = (shape,) if isinstance(shape, int) else shape
    if dtype_str in integral_dtypes:
        limits = np.iinfo(dtype_str)
        low = limits.min if low is None else max(low, limits.min)
        high = limits.max if high is None else min(high, limits.max)
        x = rs.randint(low, high, shape, dtype=dtype_str)
        x[x == 0] = 1   # a divisor
        return x
    if "float8" in dtype_str:
        return rs.randint(20, 40, shape, dtype=np.int8)   # the bits of ordinary numbers
    x = rs.normal(0, 1, shape)
    if dtype_str in ("bool", "bool_", "int1"):
        return x > 0
    if dtype_str == "bfloat16":   # an fp32 whose low half is zero
        return (x.astype(np.float32).view(np.uint32) & np.uint32(0xffff0000)).view(np.float32)
    if dtype_str in float_dtypes:
        return x.astype(dtype_str)
    raise RuntimeError(f"Unknown dtype {dtype_str}")


def to_triton(x, device, dst_type=None):
    """Returns an array as a tensor that a kernel reads as dst_type, or as the array's own type."""
    kind = x.dtype.name
    if kind in uint_dtypes:
        return reinterpret(torch.tensor(x.astype(kind[1:]), device=device), getattr(tl, kind))
    tensor = torch.tensor(x, device=device)
    if dst_type and "float8" in dst_type:
        return reinterpret(tensor, getattr(tl, dst_type))
    return tensor.bfloat16() if kind == "float32" and dst_type == "bfloat16" else tensor


def str_to_triton_dtype(x):
    return tl.str_to_ty(type_canonicalisation_dict[x], None)


def torch_dtype_name(dtype):
    if isinstance(dtype, tl.dtype):
        return dtype.name
    if isinstance(dtype, torch.dtype):
        return re.sub(r"^torch\.", "", str(dtype))
    raise TypeError(f"not a triton or torch dtype: {type(dtype)}")


def to_numpy(x):
    if isinstance(x, TensorWrapper):
        return x.base.cpu().numpy().astype(torch_dtype_name(x.dtype))
    if isinstance(x, torch.Tensor):
        return (x.cpu().float() if x.dtype is torch.bfloat16 else x.cpu()).numpy()
    raise ValueError(f"Not a triton-compatible tensor: {x}")


def unwrap_tensor(t):
    return t.base if isinstance(t, TensorWrapper) else t


def default_alloc_fn(size, align, _):
    return torch.empty(size, dtype=torch.int8, device=driver.active.get_active_torch_device())


def _fresh_knobs_impl(skipped_attr=None):
    """Returns a function that gives Triton's settings as a fresh process has them, and one that undoes it."""
    groups = {name: group for name, group in vars(knobs).items()
              if isinstance(group, knobs.base_knobs) and name not in (skipped_attr or ())}
    environment = pytest.MonkeyPatch()

    def fresh():
        for name, group in groups.items():
            setattr(knobs, name, group.copy().reset())
            for key in group.environment():
                environment.delenv(key, raising=False)
        return knobs

    def undo():
        vars(knobs).update(groups)
        environment.undo()

    return fresh, undo
