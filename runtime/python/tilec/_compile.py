"""Compilation ahead of time: of a text for an architecture, without a device."""
import ctypes
import os
from ctypes import byref, c_size_t, c_void_p

from ._device import check
from ._library import CompileOptions, lib
from ._program import source_ranges

# Of TILE_EMIT_…
EMIT = {"ptx": 32, "metadata": 64, "cubin": 128}


def archs():
    """Returns the names of the architectures that tilec compiles for."""
    names = []
    while lib.tile_arch_name(len(names)) is not None:
        names.append(lib.tile_arch_name(len(names)).decode())
    return names


def compile_text(name, text, kernel, signature, arch, emit, num_warps=0, num_stages=0, source_map=()):
    """Returns a kernel's outputs, bytes by the names of EMIT. signature: "*fp32:16, i32, 1024"."""
    file, data = os.fsencode(name), text.encode()
    o = CompileOptions(
        struct_size=ctypes.sizeof(CompileOptions), kernel=kernel.encode(), signature=signature.encode(),
        arch=arch.encode(), num_warps=num_warps, num_stages=num_stages, emit=sum(EMIT[kind] for kind in emit),
        source_map=source_ranges(source_map, file), num_source_map=len(source_map))
    program, size, e = c_void_p(), c_size_t(), c_void_p()
    check(lib.tile_compile_memory(file, data, len(data), byref(o), byref(program), byref(e)), e)
    try:
        outputs = {}
        for kind in emit:
            address = lib.tile_program_output(program, EMIT[kind], byref(size))
            outputs[kind] = ctypes.string_at(address, size.value) if address else None
        return outputs
    finally:
        lib.tile_program_free(program)
