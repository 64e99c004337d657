"""The part of libtile's interface (runtime/tile/tile.h and jit.h) that tile.py calls, declared for ctypes."""
import ctypes
import os
from ctypes import (POINTER, Structure, c_bool, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint8, c_uint32,
                    c_uint64, c_void_p, py_object)


class _Tensor(Structure):
    _fields_ = [("base", c_uint64), ("rank", c_uint32), ("type", c_int), ("shape", c_int64 * 5),
                ("strides", c_int64 * 5), ("block", c_int64 * 5), ("pad_nan", c_bool), ("swizzle", c_uint8),
                ("reserved", c_uint8 * 38)]


class _Tuple(Structure):
    _fields_ = [("items", c_void_p), ("num_items", c_uint32), ("type_name", c_void_p), ("reserved", c_uint64)]


class _JitOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("policy", c_int), ("on_event", c_void_p), ("user", c_void_p),
                ("no_cache", c_bool), ("cache_dir", c_char_p), ("include_paths", POINTER(c_char_p)),
                ("num_include_paths", c_size_t), ("options", POINTER(c_char_p)), ("num_options", c_size_t),
                ("tune", c_int), ("tune_file", c_char_p), ("tune_seconds", c_double), ("hooks", c_void_p),
                ("compile_seconds", c_double), ("isolate", c_bool), ("tilec", c_char_p),
                ("source_map", c_void_p), ("num_source_map", c_size_t)]


class _Launch(Structure):
    _fields_ = [("struct_size", c_size_t), ("grid", c_uint32 * 3), ("grid_fn", c_void_p), ("grid_user", c_void_p),
                ("stream", c_void_p), ("num_warps", c_int), ("num_stages", c_int), ("num_ctas", c_int),
                ("maxnreg", c_int), ("arg_bytes", POINTER(c_size_t)), ("num_arg_bytes", c_size_t),
                ("arg_shapes", POINTER(_Tensor)), ("num_arg_shapes", c_size_t),
                ("options", POINTER(c_char_p)), ("num_options", c_size_t)]


class _Event(Structure):
    _fields_ = [("struct_size", c_size_t), ("kind", c_int), ("kernel", c_char_p), ("variant", c_char_p),
                ("milliseconds", c_double)]


_EVENT_FN = ctypes.CFUNCTYPE(None, c_void_p, POINTER(_Event))
_GRID_FN = ctypes.CFUNCTYPE(None, c_void_p, c_void_p, POINTER(c_uint32))
_ERROR = _OUT = POINTER(c_void_p)

# The result and the parameters of each function.
_FUNCTIONS = {
    "tile_error_message": (c_char_p, c_void_p),
    "tile_error_free": (None, c_void_p),
    "tile_device_open": (c_int, c_char_p, _OUT, _ERROR),
    "tile_device_kind": (c_char_p, c_void_p),
    "tile_device_name": (c_char_p, c_void_p),
    "tile_device_synchronize": (c_int, c_void_p, _ERROR),
    "tile_memory_alloc": (c_int, c_void_p, c_size_t, POINTER(c_uint64), _ERROR),
    "tile_memory_free": (c_int, c_void_p, c_uint64, _ERROR),
    "tile_memory_upload": (c_int, c_void_p, c_uint64, c_void_p, c_size_t, _ERROR),
    "tile_memory_download": (c_int, c_void_p, c_void_p, c_uint64, c_size_t, _ERROR),
    "tile_jit_open_file": (c_int, c_void_p, c_char_p, POINTER(_JitOptions), _OUT, _ERROR),
    "tile_jit_open_memory": (c_int, c_void_p, c_char_p, c_char_p, c_size_t, POINTER(_JitOptions), _OUT, _ERROR),
    "tile_jit_num_kernels": (c_size_t, c_void_p),
    "tile_jit_kernel_name": (c_char_p, c_void_p, c_size_t),
    "tile_jit_get_kernel": (c_int, c_void_p, c_char_p, _OUT, _ERROR),
    "tile_jit_num_params": (c_size_t, c_void_p),
    "tile_jit_param_name": (c_char_p, c_void_p, c_size_t),
    "tile_jit_param_is_constexpr": (c_bool, c_void_p, c_size_t),
    "tile_jit_is_tuned": (c_bool, c_void_p),
    "tile_jit_launch": (c_int, c_void_p, POINTER(_Launch), c_void_p, c_size_t, _ERROR),
    "tile_jit_prepare": (c_int, c_void_p, POINTER(_Launch), c_void_p, c_size_t, _OUT, _ERROR),
    "tile_jit_num_variants": (c_size_t, c_void_p),
    "tile_variant_num_constexprs": (c_size_t, c_void_p),
    "tile_variant_constexpr_name": (c_char_p, c_void_p, c_size_t),
    "tile_variant_constexpr": (c_char_p, c_void_p, c_char_p),
}
# These take and return Python's objects: the caller keeps the interpreter's lock.
_LOCKED_FUNCTIONS = {
    "tile_jit_python_launcher": (c_void_p, c_void_p, py_object, py_object, py_object, py_object, _OUT),
    "tile_jit_python_learn_type": (None, c_void_p, py_object, c_int),
    "tile_jit_python_learn_text": (None, c_void_p, py_object, c_char_p),
    "tile_jit_python_use_stream": (None, c_void_p, py_object, py_object),
}


def _library_path():
    named = os.environ.get("TILE_LIBRARY")
    if named:
        return named
    here = os.path.dirname(os.path.abspath(__file__))
    beside = (os.path.join(here, name) for name in ("libtile.so", "libtile.so.1"))
    return next(filter(os.path.exists, beside), "libtile.so.1")


def _declared(library, functions):
    for name, (result, *params) in functions.items():
        f = getattr(library, name)
        f.restype, f.argtypes = result, params
    return library


_lib = _declared(ctypes.CDLL(_library_path()), _FUNCTIONS)
_held = _declared(ctypes.PyDLL(_library_path()), _LOCKED_FUNCTIONS)
