"""The part of libtile's interface (runtime/tile/*.h) that this package calls, declared for ctypes."""
import ctypes
import glob
import os
from ctypes import (POINTER, Structure, c_bool, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint8, c_uint32,
                    c_uint64, c_void_p, py_object)


HOOKS_STOP_FN = ctypes.CFUNCTYPE(c_bool, c_void_p)
HOOKS_LOG_FN = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_char_p)


class Tensor(Structure):
    _fields_ = [("base", c_uint64), ("rank", c_uint32), ("type", c_int), ("shape", c_int64 * 5),
                ("strides", c_int64 * 5), ("block", c_int64 * 5), ("pad_nan", c_bool), ("swizzle", c_uint8),
                ("num_cga", c_uint8), ("cga", c_uint8 * 4), ("reserved", c_uint8 * 33)]


class Tuple(Structure):
    _fields_ = [("items", c_void_p), ("num_items", c_uint32), ("type_name", c_void_p), ("reserved", c_uint64)]


class SourceRange(Structure):
    _fields_ = [("first_line", c_uint32), ("file_line", c_uint32), ("file", c_char_p), ("reserved", c_uint64 * 2)]


class Hooks(Structure):
    _fields_ = [("struct_size", c_size_t), ("user", c_void_p), ("alloc", c_void_p), ("free", c_void_p),
                ("event", c_void_p), ("log", HOOKS_LOG_FN), ("should_stop", HOOKS_STOP_FN)]


class CompileOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("kernel", c_char_p), ("signature", c_char_p), ("arch", c_char_p),
                ("defines", POINTER(c_char_p)), ("num_defines", c_size_t), ("include_paths", POINTER(c_char_p)),
                ("num_include_paths", c_size_t), ("num_warps", c_int), ("num_stages", c_int), ("num_ctas", c_int),
                ("maxnreg", c_int), ("emit", c_uint32), ("options", POINTER(c_char_p)), ("num_options", c_size_t),
                ("hooks", POINTER(Hooks)), ("seconds", c_double), ("source_map", POINTER(SourceRange)),
                ("num_source_map", c_size_t)]


class JitOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("policy", c_int), ("on_event", c_void_p), ("user", c_void_p),
                ("no_cache", c_bool), ("cache_dir", c_char_p), ("include_paths", POINTER(c_char_p)),
                ("num_include_paths", c_size_t), ("options", POINTER(c_char_p)), ("num_options", c_size_t),
                ("tune", c_int), ("tune_file", c_char_p), ("tune_seconds", c_double), ("hooks", POINTER(Hooks)),
                ("compile_seconds", c_double), ("isolate", c_bool), ("tilec", c_char_p),
                ("source_map", POINTER(SourceRange)), ("num_source_map", c_size_t)]


class Launch(Structure):
    _fields_ = [("struct_size", c_size_t), ("grid", c_uint32 * 3), ("grid_fn", c_void_p), ("grid_user", c_void_p),
                ("stream", c_void_p), ("num_warps", c_int), ("num_stages", c_int), ("num_ctas", c_int),
                ("maxnreg", c_int), ("arg_bytes", POINTER(c_size_t)), ("num_arg_bytes", c_size_t),
                ("arg_shapes", POINTER(Tensor)), ("num_arg_shapes", c_size_t),
                ("options", POINTER(c_char_p)), ("num_options", c_size_t)]


class DeviceOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("hooks", POINTER(Hooks))]


class Resources(Structure):
    _fields_ = [("struct_size", c_size_t), ("threads", c_uint32), ("shared_bytes", c_uint32), ("is_assembled", c_bool),
                ("registers", c_uint32), ("local_bytes", c_uint32), ("spill_bytes", c_uint32),
                ("blocks_per_sm", c_uint32), ("warps_per_sm", c_uint32), ("blocks_by_threads", c_uint32),
                ("blocks_by_registers", c_uint32), ("blocks_by_shared", c_uint32)]


class DeviceProperties(Structure):
    _fields_ = [("struct_size", c_size_t), ("kind", c_char_p), ("name", c_char_p), ("arch", c_char_p),
                *((name, c_uint32) for name in (
                    "ordinal", "compute_major", "compute_minor", "driver_version", "num_sms", "warp_size",
                    "threads_per_block", "threads_per_sm", "warps_per_block", "warps_per_sm", "blocks_per_sm",
                    "registers_per_block", "registers_per_sm", "shared_per_block", "shared_per_sm", "l2_bytes")),
                ("memory_bytes", c_uint64), ("clock_khz", c_uint32), ("memory_clock_khz", c_uint32),
                ("memory_bus_bits", c_uint32)]


class Event(Structure):
    _fields_ = [("struct_size", c_size_t), ("kind", c_int), ("kernel", c_char_p), ("variant", c_char_p),
                ("milliseconds", c_double)]


EVENT_FN = ctypes.CFUNCTYPE(None, c_void_p, POINTER(Event))
GRID_FN = ctypes.CFUNCTYPE(None, c_void_p, c_void_p, POINTER(c_uint32))
_NAME = "libtile.so.1"
_ERROR = _OUT = POINTER(c_void_p)

# The result and the parameters of each function.
_FUNCTIONS = {
    "tile_error_message": (c_char_p, c_void_p),
    "tile_error_free": (None, c_void_p),
    "tile_error_resource": (c_bool, c_void_p, POINTER(c_int), POINTER(c_uint64), POINTER(c_uint64)),
    "tile_version": (c_char_p,),
    "tile_arch_name": (c_char_p, c_size_t),
    "tile_compile_memory": (c_int, c_char_p, c_char_p, c_size_t, POINTER(CompileOptions), _OUT, _ERROR),
    "tile_program_output": (c_void_p, c_void_p, c_uint32, POINTER(c_size_t)),
    "tile_program_free": (None, c_void_p),
    "tile_device_open_with": (c_int, c_char_p, POINTER(DeviceOptions), _OUT, _ERROR),
    "tile_device_close": (None, c_void_p),
    "tile_device_arch": (c_char_p, c_void_p),
    "tile_device_kind": (c_char_p, c_void_p),
    "tile_device_name": (c_char_p, c_void_p),
    "tile_device_synchronize": (c_int, c_void_p, _ERROR),
    "tile_memory_alloc": (c_int, c_void_p, c_size_t, POINTER(c_uint64), _ERROR),
    "tile_memory_free": (c_int, c_void_p, c_uint64, _ERROR),
    "tile_memory_upload": (c_int, c_void_p, c_uint64, c_void_p, c_size_t, _ERROR),
    "tile_memory_download": (c_int, c_void_p, c_void_p, c_uint64, c_size_t, _ERROR),
    "tile_jit_open_file": (c_int, c_void_p, c_char_p, POINTER(JitOptions), _OUT, _ERROR),
    "tile_jit_open_memory": (c_int, c_void_p, c_char_p, c_char_p, c_size_t, POINTER(JitOptions), _OUT, _ERROR),
    "tile_jit_close": (None, c_void_p),
    "tile_jit_num_kernels": (c_size_t, c_void_p),
    "tile_jit_kernel_name": (c_char_p, c_void_p, c_size_t),
    "tile_jit_get_kernel": (c_int, c_void_p, c_char_p, _OUT, _ERROR),
    "tile_jit_num_params": (c_size_t, c_void_p),
    "tile_jit_param_name": (c_char_p, c_void_p, c_size_t),
    "tile_jit_param_is_constexpr": (c_bool, c_void_p, c_size_t),
    "tile_jit_is_tuned": (c_bool, c_void_p),
    "tile_jit_launch": (c_int, c_void_p, POINTER(Launch), c_void_p, c_size_t, _ERROR),
    "tile_jit_prepare": (c_int, c_void_p, POINTER(Launch), c_void_p, c_size_t, _OUT, _ERROR),
    "tile_jit_num_variants": (c_size_t, c_void_p),
    "tile_variant_num_constexprs": (c_size_t, c_void_p),
    "tile_variant_constexpr_name": (c_char_p, c_void_p, c_size_t),
    "tile_device_get_properties": (c_int, c_void_p, POINTER(DeviceProperties), _ERROR),
    "tile_variant_kernel": (c_void_p, c_void_p),
    "tile_variant_output": (c_int, c_void_p, c_uint32, POINTER(c_void_p), POINTER(c_size_t), _ERROR),
    "tile_variant_resources": (c_int, c_void_p, POINTER(Resources), _ERROR),
    "tile_kernel_function": (c_void_p, c_void_p),
    "tile_kernel_num_threads": (c_uint32, c_void_p),
    "tile_kernel_num_ctas": (c_uint32, c_void_p),
    "tile_variant_constexpr": (c_char_p, c_void_p, c_char_p),
}
# These take and return Python's objects: the caller keeps the interpreter's lock.
_LOCKED_FUNCTIONS = {
    "tile_jit_python_launcher": (c_void_p, c_void_p, py_object, py_object, py_object, py_object, _OUT),
    "tile_jit_python_learn_type": (None, c_void_p, py_object, c_int),
    "tile_jit_python_learn_text": (None, c_void_p, py_object, c_char_p),
    "tile_jit_python_close": (None, c_void_p),
    "tile_jit_python_use_results": (None, c_void_p, py_object),
    "tile_jit_python_use_stream": (None, c_void_p, py_object, py_object),
    "tile_jit_python_guard": (c_void_p, c_void_p, py_object, py_object, py_object),
    "tile_jit_python_variant": (c_void_p, c_void_p, c_void_p, py_object, py_object),
    "tile_jit_python_layer": (c_void_p, py_object, c_int),
    "tile_jit_python_layer_of_run": (c_void_p, py_object, c_int, py_object),
}


def _library_path():
    """Returns TILE_LIBRARY, or the library beside this package, or that of the tree or prefix around it, or the name
    that the system's loader finds."""
    named = os.environ.get("TILE_LIBRARY")
    if named:
        return named
    here = folder = os.path.dirname(os.path.abspath(__file__))
    found = [os.path.join(here, _NAME)]
    for _ in range(4):   # PREFIX/share/tile/python/tilec, and runtime/python/tilec of the sources
        folder = os.path.dirname(folder)
        found += [os.path.join(folder, "build", _NAME), *sorted(glob.glob(os.path.join(folder, "lib*", _NAME))),
                  *sorted(glob.glob(os.path.join(folder, "lib", "*-linux-gnu", _NAME)))]
    return next(filter(os.path.exists, found), _NAME)


def _declared(library, functions):
    for name, (result, *params) in functions.items():
        f = getattr(library, name)
        f.restype, f.argtypes = result, params
    return library


def _opened():
    try:
        return ctypes.CDLL(_library_path())
    except OSError as error:
        named = os.environ.get("TILE_LIBRARY")
        why = f"TILE_LIBRARY names {named}, which cannot be loaded" if named else \
            "libtile is neither beside this package nor where the system looks; TILE_LIBRARY can name it"
        raise OSError(f"{why}: {error}") from None


lib = _declared(_opened(), _FUNCTIONS)
held = _declared(ctypes.PyDLL(_library_path()), _LOCKED_FUNCTIONS)
