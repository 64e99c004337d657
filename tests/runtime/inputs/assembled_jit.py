"""Prints what libtile tells while a kernel is compiled and loaded, and then while its cubin is made."""
import ctypes
import os

import tile
from tilec._kernel import Bound
from tilec._library import lib

EMIT_CUBIN = 128
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "assembled.py")
program = tile.load(path, cache=False, on_log=lambda level, text: print(f"{level}: {text}"))
variant = Bound(program["starved"], (tile.ptr(4096, "float32"),), {}).variant((1,))
print("loaded")
data, size, error = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_void_p()
status = lib.tile_variant_output(variant, EMIT_CUBIN, *map(ctypes.byref, (data, size, error)))
print("status", status, "cubin", size.value > 1000)
