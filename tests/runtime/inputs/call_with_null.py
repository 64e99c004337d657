"""Calls every function of the headers with NULL: all parameters, and all but the first. None may crash.

call_with_null.py LIBRARY PACKAGE HEADER…: of the functions in the headers, those that the library exports."""
import ctypes
import re
import sys
from ctypes import byref, c_char_p, c_size_t, c_void_p

STATUS_USAGE = 2
SOURCE = b"@kernel\ndef k(x: *fp32, B: constexpr = 16):\n    store(x + arange(0, B), 1.0)\n"
library = ctypes.CDLL(sys.argv[1])
functions = {}
for header in sys.argv[3:]:
    text = re.sub(r"/\*.*?\*/", "", open(header).read(), flags=re.S)
    for result, name, params in re.findall(r"TILE_API\s+([\w\s]+?[\s*]+)(tile_\w+)\(([^)]*)\);", text):
        params = [p.strip() for p in params.split(",") if p.strip() != "void"]
        functions[name] = " ".join(result.split()), params


def call(name, *given):
    """Returns the result; all further parameters are NULL, 0 or false."""
    result, params = functions[name]
    f = getattr(library, name)
    f.restype = {"tile_status": ctypes.c_int, "bool": ctypes.c_bool, "void": None}.get(result, c_size_t)
    return f(*given, *[c_void_p(None)] * (len(params) - len(given)))


def made(name, *given):
    """An object that a function makes: the parameter before the error, or the last one, receives it."""
    out = c_void_p()
    status = call(name, *given, byref(out))
    assert status == 0, (name, status)
    return out


def objects():
    """An object for each type of a first parameter."""
    all_of = {}
    has_compiler = "tile_compile_memory" in functions and hasattr(library, "tile_compile_memory")
    device = all_of["tile_device *"] = made("tile_device_open", c_char_p(b"sim"))
    all_of["tile_stream_event *"] = made("tile_stream_event_create", device)
    error = c_void_p()
    call("tile_device_open", c_char_p(b"no device"), byref(c_void_p()), byref(error))
    all_of["tile_error *"] = error
    package = all_of["tile_package *"] = made("tile_package_open_file", c_char_p(sys.argv[2].encode()))
    all_of["tile_family *"] = made("tile_family_load", device, package, None)
    if not has_compiler:
        return all_of
    program = all_of["tile_program *"] = made("tile_compile_memory", c_char_p(b"k.tile"), c_char_p(SOURCE),
                                              c_size_t(len(SOURCE)), None)
    all_of["tile_kernel *"] = made("tile_kernel_load", device, program, None)
    jit = all_of["tile_jit *"] = made("tile_jit_open_memory", device, c_char_p(b"k.tile"), c_char_p(SOURCE),
                                      c_size_t(len(SOURCE)), None)
    kernel = all_of["tile_jit_kernel *"] = made("tile_jit_get_kernel", jit, None)
    args = (ctypes.c_uint64 * 2)(2 | 17 << 16, 1 << 20)   # a pointer to fp32
    all_of["tile_variant *"] = made("tile_jit_prepare", kernel, None, args, c_size_t(1))
    return all_of


exported = [name for name in functions if hasattr(library, name)]
have = objects()
for name in exported:
    result, params = functions[name]
    got = call(name)
    # A status says that something is missing, but for what NULL or 0 is fine for; other results are 0.
    fine = re.search(r"free|destroy|prepare_all", name) or name == "tile_error_status"
    if result == "tile_status" and not fine:
        assert got == STATUS_USAGE, (name, got)
    if result == "bool":
        assert got is False, name
for name in exported:
    result, params = functions[name]
    first = re.sub(r"^const |\w+$", "", params[0]).strip() if params else ""
    if first in have and not re.search(r"_(free|close|destroy|synchronize)$|python", name):
        call(name, have[first])
print(f"{len(exported)} functions, {len(have)} kinds of objects")
