"""Launch kernels of .tile and Triton files from Python through libtile, without Triton.

    import tilec, torch
    k = tilec.load("matmul.tile").matmul_kernel
    grid = lambda meta: (tilec.cdiv(M, meta["BM"]) * tilec.cdiv(N, meta["BN"]),)
    k[grid](a, b, c, M, N, K, ..., BM=128, BN=128, BK=32, GROUP=8)

Arguments are positional or by name, like those of the @triton.jit function. An argument is

- an array: anything with data_ptr() and dtype (a PyTorch tensor), with __cuda_array_interface__ (CuPy, Numba), with
  __array_interface__ (NumPy), with __dlpack__ or with a buffer (array.array); tilec.ptr(address, "fp16"); or
  tilec.desc(tensor, block), in Gluon with its layout;
- an int, a float, a bool or None;
- for a constexpr, also a string, a dtype, a tuple, a function of the kernel's file or tilec.expression("name"), a name
  there;
- a tuple of these, which may nest, or a namedtuple, which has the name of a class in the kernel's file. A constexpr in
  a tuple is tilec.constexpr(64), or tilec.expression("name") as the source would write it.

num_warps, num_stages, num_ctas, maxnreg and stream are keywords of a launch. On a gpu the default stream is PyTorch's
current one if PyTorch is loaded.

Warnings of the compiler are Python warnings of the class tilec.Warning; static_print prints. A Program's on_log
changes that.

Arrays in the host's memory are for the simulator and the interpreter (tilec.open_device("sim"), or TILE_DEVICE=sim):
each launch copies in what they and the arrays that they are views of hold, waits, and copies back what has changed.

The package needs ctypes and libtile alone. TILE_LIBRARY names the library; without it the package takes the one that it
was installed with, then the one that the system's loader finds. Several threads may use the package at once.
"""
from ._arguments import constexpr, desc, dtype, expression, ptr
from ._device import Device, Error, OutOfResources, Warning, default_device, open_device
from ._kernel import Kernel
from ._library import lib as _lib
from ._program import EVENTS, Program, load, loads

__version__ = _lib.tile_version().decode()
__all__ = ["load", "loads", "open_device", "default_device", "ptr", "desc", "dtype", "constexpr", "expression", "cdiv",
           "Error", "OutOfResources", "Warning", "Device", "Program", "Kernel", "EVENTS"]
for _public in (ptr, desc, dtype, constexpr, expression, Error, OutOfResources, Warning, Device, Program, Kernel):
    _public.__module__ = __name__   # the module that messages, help() and pickle name


def cdiv(a, b):
    return -(-a // b)
