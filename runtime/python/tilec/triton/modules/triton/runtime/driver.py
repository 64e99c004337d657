"""The device that kernels run on, as programs ask Triton for it: PyTorch's current GPU; without one, what TILE_DEVICE
says, or else the simulator."""
import os
import sys
import types

import tilec
from tilec.triton._missing import Explains, no_attribute

from ..backends.compiler import GPUTarget
from ..backends.driver import DriverBase


def _cuda():
    """Returns torch.cuda if PyTorch is there and has a GPU."""
    try:
        import torch
    except ImportError:
        return None
    return torch.cuda if torch.cuda.is_available() else None


_has_cuda = None


def has_cuda():
    global _has_cuda
    if _has_cuda is None:
        _has_cuda = os.environ.get("TILE_DEVICE", "gpu").startswith("gpu") and _cuda() is not None
    return _has_cuda


def current_device(interpret=False):
    """Returns the tilec.Device of the next launch."""
    if interpret:
        return tilec.open_device("interp")
    if has_cuda():
        import torch
        return tilec.open_device(f"gpu:{torch.cuda.current_device()}")
    asked = os.environ.get("TILE_DEVICE")
    try:
        return tilec.open_device(asked or "sim")
    except tilec.Error as e:
        if not asked or e.kind != "usage":
            raise
        why = e
    raise tilec.Error(why.status, f"TILE_DEVICE: {why}")


class CudaUtils(Explains):

    def get_device_properties(self, device=0):
        p = current_device().properties()
        return {"max_shared_mem": p["shared_per_block"], "max_num_regs": p["registers_per_block"],
                "multiprocessor_count": p["num_sms"], "warpSize": p["warp_size"] or 32,
                "sm_clock_rate": p["clock_khz"], "mem_clock_rate": p["memory_clock_khz"],
                "mem_bus_width": p["memory_bus_bits"]}


class Driver(DriverBase, Explains):
    binary_ext = "cubin"

    def __init__(self):
        self.utils = CudaUtils()

    @classmethod
    def is_active(cls):
        return True

    def get_current_target(self):
        p = current_device().properties()
        return GPUTarget("cuda", (p["compute_major"] or 9) * 10 + p["compute_minor"], 32)

    def map_python_to_cpp_type(self, ty):
        from ..backends.nvidia.driver import ty_to_cpp
        return ty_to_cpp(ty)

    def get_current_device(self):
        return current_device().ordinal

    def set_current_device(self, device):
        if has_cuda():
            _cuda().set_device(device)

    def get_current_stream(self, device=None):
        return _cuda().current_stream(device).cuda_stream if has_cuda() else 0

    def get_active_torch_device(self):
        import torch
        return torch.device("cuda", self.get_current_device()) if has_cuda() else torch.device("cpu")

    def get_device_interface(self):
        import torch
        return torch.cuda

    def get_empty_cache_for_benchmark(self):
        import torch
        return torch.empty(256 << 18 if has_cuda() else 1, dtype=torch.int32, device=self.get_active_torch_device())

    def clear_cache(self, cache):
        cache.zero_()

    def get_benchmarker(self):
        from ..testing import do_bench
        return do_bench


class DriverConfig:

    def __init__(self):
        self._default = self._active = None

    @property
    def default(self):
        self._default = self._default or Driver()
        return self._default

    @property
    def active(self):
        self._active = self._active or self.default
        return self._active

    def set_active(self, driver):
        self._active = driver

    def reset_active(self):
        self._active = self.default


driver = DriverConfig()


def __getattr__(name):
    raise no_attribute(__name__, name)


class _Module(types.ModuleType):
    """triton.runtime.driver is this module and, once the package is imported, an object; both have `active`."""

    active = property(lambda self: self.driver.active)
    default = property(lambda self: self.driver.default)
    set_active = property(lambda self: self.driver.set_active)
    reset_active = property(lambda self: self.driver.reset_active)


sys.modules[__name__].__class__ = _Module
