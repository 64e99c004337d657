"""Launch kernels of .tile and Triton files from Python through libtile, without Triton.

    import tile, torch
    k = tile.load("matmul.tile").matmul_kernel
    k[lambda meta: (tile.cdiv(M, meta["BM"]) * tile.cdiv(N, meta["BN"]),)](a, b, c, M, N, K, ..., BM=128, BN=128, BK=32, GROUP=8)

Arguments are positional or by name, as of the @triton.jit function: anything with data_ptr() and dtype (a PyTorch tensor), with
__cuda_array_interface__ (CuPy, Numba) or __dlpack__, tile.ptr(address, "fp16"), tile.desc(tensor, block), int, float, bool, None; constexprs take
strings, dtypes and tuples too. A parameter may be a tuple of these, nested, or a namedtuple of the kernel's file by its name; a constexpr in
one is tile.constexpr(64), or tile.expression("name") as the source would write it. num_warps, num_stages, num_ctas, maxnreg and stream are keywords of a launch. On a gpu the stream
is PyTorch's current one if PyTorch is loaded.

Needs ctypes and libtile.so alone (found by TILE_LIBRARY, beside this file, or by the system's loader). Safe from several threads.
"""
import ctypes
import functools
import numbers
import operator
import os
import struct
import sys
import threading
from ctypes import POINTER, Structure, byref, c_bool, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p, py_object

__all__ = ["load", "loads", "open_device", "default_device", "ptr", "desc", "dtype", "constexpr", "expression", "cdiv", "Error", "Device", "Program", "Kernel"]

# In the order of tile_type: the name in signatures, in triton.language, the bits, DLPack's type code.
# Made from ir/dtypes.def by tools/docs.sh.
_DTYPES = (
    ("void", "void", 0, -1),
    ("i1", "int1", 1, 6),
    ("i8", "int8", 8, 0),
    ("i16", "int16", 16, 0),
    ("i32", "int32", 32, 0),
    ("i64", "int64", 64, 0),
    ("u8", "uint8", 8, 1),
    ("u16", "uint16", 16, 1),
    ("u32", "uint32", 32, 1),
    ("u64", "uint64", 64, 1),
    ("fp8e4nv", "float8e4nv", 8, 10),
    ("fp8e5", "float8e5", 8, 12),
    ("fp8e4b15", "float8e4b15", 8, -1),
    ("fp8e4b8", "float8e4b8", 8, -1),
    ("fp8e5b16", "float8e5b16", 8, -1),
    ("fp16", "float16", 16, 2),
    ("bf16", "bfloat16", 16, 4),
    ("fp32", "float32", 32, 2),
    ("fp64", "float64", 64, 2),
)  # the end of what is made
_TYPE_CODES = {name: code for code, row in enumerate(_DTYPES) if code for name in row[:2]}
_TYPE_CODES.update({alias: _TYPE_CODES[name] for alias, name in (
    ("bool", "i1"), ("float8_e4m3fn", "fp8e4nv"), ("float8_e5m2", "fp8e5"), ("half", "fp16"), ("float", "fp32"), ("double", "fp64"), ("long", "i64"), ("int", "i32"))})
_DLPACK_TYPES = {(dlpack, max(bits, 8)): code for code, (_, _, bits, dlpack) in enumerate(_DTYPES) if dlpack >= 0}
# By the type's letter and bytes in __cuda_array_interface__.
_INTERFACE_TYPES = {f"{letter}{bits // 8}": code for (dlpack, bits), code in _DLPACK_TYPES.items() for letter in {0: "i", 1: "u", 2: "f", 6: "b"}.get(dlpack, "")}
_INT, _FLOAT, _POINTER, _TENSOR, _DEFAULT, _NONE, _BOOL, _TEXT, _TUPLE = range(9)


class _Tensor(Structure):
    _fields_ = [("base", c_uint64), ("rank", c_uint32), ("shape", c_int64 * 5), ("strides", c_int64 * 5), ("type", c_int), ("block", c_int64 * 5), ("pad_nan", c_bool)]


class _Tuple(Structure):
    _fields_ = [("items", c_void_p), ("num_items", c_uint32), ("type_name", c_void_p)]


class _JitOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("policy", c_int), ("on_event", c_void_p), ("user", c_void_p), ("no_cache", c_bool), ("cache_dir", c_char_p),
                ("include_paths", POINTER(c_char_p)), ("num_include_paths", c_size_t), ("options", POINTER(c_char_p)), ("num_options", c_size_t),
                ("tune", c_int), ("tune_file", c_char_p), ("tune_seconds", c_double), ("hooks", c_void_p), ("compile_seconds", c_double),
                ("isolate", c_bool), ("tilec", c_char_p)]


class _Launch(Structure):
    _fields_ = [("struct_size", c_size_t), ("grid", c_uint32 * 3), ("grid_fn", c_void_p), ("grid_user", c_void_p), ("stream", c_void_p),
                ("num_warps", c_int), ("num_stages", c_int), ("num_ctas", c_int), ("maxnreg", c_int),
                ("arg_bytes", POINTER(c_size_t)), ("num_arg_bytes", c_size_t), ("arg_shapes", POINTER(_Tensor)), ("num_arg_shapes", c_size_t)]


_LAUNCH_SIZE, _ONE = ctypes.sizeof(_Launch), (c_uint32 * 3)(1, 1, 1)


class _Event(Structure):
    _fields_ = [("kind", c_int), ("kernel", c_char_p), ("variant", c_char_p), ("milliseconds", c_double)]


_EVENT_FN = ctypes.CFUNCTYPE(None, c_void_p, POINTER(_Event))
_GRID_FN = ctypes.CFUNCTYPE(None, c_void_p, c_void_p, POINTER(c_uint32))
EVENTS = ("compile_begin", "compile_end", "cache_hit", "cache_miss", "unprepared", "tune_step", "tune_skip", "launch", "load")


class Error(RuntimeError):
    """A failure reported by libtile. `status` is its tile_status."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def _open_library():
    here = os.path.dirname(os.path.abspath(__file__))
    named = os.environ.get("TILE_LIBRARY")
    candidates = [named] if named else [p for p in (os.path.join(here, "libtile.so"), os.path.join(here, "libtile.so.0")) if os.path.exists(p)] or ["libtile.so.0"]
    lib = ctypes.CDLL(candidates[0])
    error, out = POINTER(c_void_p), POINTER(c_void_p)
    functions = {
        "tile_error_message": (c_char_p, c_void_p), "tile_error_free": (None, c_void_p),
        "tile_device_open": (c_int, c_char_p, out, error), "tile_device_kind": (c_char_p, c_void_p), "tile_device_name": (c_char_p, c_void_p),
        "tile_device_close": (None, c_void_p), "tile_device_synchronize": (c_int, c_void_p, error),
        "tile_memory_alloc": (c_int, c_void_p, c_size_t, POINTER(c_uint64), error), "tile_memory_free": (c_int, c_void_p, c_uint64, error),
        "tile_memory_upload": (c_int, c_void_p, c_uint64, c_void_p, c_size_t, error), "tile_memory_download": (c_int, c_void_p, c_void_p, c_uint64, c_size_t, error),
        "tile_jit_open_file": (c_int, c_void_p, c_char_p, POINTER(_JitOptions), out, error),
        "tile_jit_open_memory": (c_int, c_void_p, c_char_p, c_char_p, c_size_t, POINTER(_JitOptions), out, error),
        "tile_jit_close": (None, c_void_p), "tile_jit_num_kernels": (c_size_t, c_void_p), "tile_jit_kernel_name": (c_char_p, c_void_p, c_size_t),
        "tile_jit_get_kernel": (c_int, c_void_p, c_char_p, out, error), "tile_jit_num_params": (c_size_t, c_void_p),
        "tile_jit_param_name": (c_char_p, c_void_p, c_size_t), "tile_jit_param_is_constexpr": (c_bool, c_void_p, c_size_t),
        "tile_jit_is_tuned": (c_bool, c_void_p),
        "tile_jit_launch": (c_int, c_void_p, POINTER(_Launch), c_void_p, c_size_t, error),
        "tile_jit_prepare": (c_int, c_void_p, POINTER(_Launch), c_void_p, c_size_t, out, error), "tile_jit_num_variants": (c_size_t, c_void_p),
        "tile_variant_num_constexprs": (c_size_t, c_void_p), "tile_variant_constexpr_name": (c_char_p, c_void_p, c_size_t),
        "tile_variant_constexpr": (c_char_p, c_void_p, c_char_p),
        "tile_variant_launch": (c_int, c_void_p, POINTER(c_uint32 * 3), c_void_p, c_void_p, c_size_t, error),
    }
    for name, (result, *params) in functions.items():
        f = getattr(lib, name)
        f.restype, f.argtypes = result, params
    held = ctypes.PyDLL(candidates[0])   # calls that keep the interpreter's lock
    held.tile_jit_python_launcher.restype = c_void_p
    held.tile_jit_python_launcher.argtypes = [c_void_p, py_object, py_object, py_object, py_object, POINTER(c_void_p)]
    for name, params in (("type", [c_void_p, py_object, c_int]), ("text", [c_void_p, py_object, c_char_p])):
        f = getattr(held, f"tile_jit_python_learn_{name}")
        f.restype, f.argtypes = None, params
    held.tile_jit_python_use_stream.restype, held.tile_jit_python_use_stream.argtypes = None, [c_void_p, py_object, py_object]
    return lib, held


_lib, _held = _open_library()


def _check(status, error):
    if status == 0:
        return
    message = _lib.tile_error_message(error).decode("utf-8", "replace") if error else "failed"
    _lib.tile_error_free(error)
    raise Error(status, message)


def cdiv(a, b):
    return -(-a // b)


class Device:
    """gpu, gpu:N, sim or interp. Memory calls are for programs without a tensor library."""

    def __init__(self, spec=None):
        self._handle, e = c_void_p(), c_void_p()
        _check(_lib.tile_device_open(spec.encode() if spec else None, byref(self._handle), byref(e)), e)
        self.kind = _lib.tile_device_kind(self._handle).decode()
        self.name = _lib.tile_device_name(self._handle).decode()
        number = (spec or os.environ.get("TILE_DEVICE") or "").partition(":")[2]
        self.ordinal = int(number) if number else 0

    def alloc(self, size):
        address, e = c_uint64(), c_void_p()
        _check(_lib.tile_memory_alloc(self._handle, size, byref(address), byref(e)), e)
        return address.value

    def free(self, address):
        e = c_void_p()
        _check(_lib.tile_memory_free(self._handle, address, byref(e)), e)

    def upload(self, address, data):
        data, e = bytes(data), c_void_p()
        _check(_lib.tile_memory_upload(self._handle, address, data, len(data), byref(e)), e)

    def download(self, address, size):
        data, e = ctypes.create_string_buffer(size), c_void_p()
        _check(_lib.tile_memory_download(self._handle, data, address, size, byref(e)), e)
        return data.raw

    def synchronize(self):
        e = c_void_p()
        _check(_lib.tile_device_synchronize(self._handle, byref(e)), e)


_devices, _devices_lock = {}, threading.Lock()


def open_device(spec=None):
    """One Device per spec and process."""
    with _devices_lock:
        if spec not in _devices:
            _devices[spec] = Device(spec)
        return _devices[spec]


def default_device():
    return open_device(None)


class ptr:
    """A raw device address as an argument: ptr(address, "fp16")."""

    __slots__ = ("address", "dtype")

    def __init__(self, address, dtype):
        self.address, self.dtype = address, dtype

    def data_ptr(self):
        return self.address


class dtype:
    """An element type as the value of a constexpr: dtype("fp16"). PyTorch's own do as well."""

    __slots__ = ("name",)

    def __init__(self, name):
        if name not in _TYPE_CODES:
            raise TypeError(f"there is no kernel type {name}")
        self.name = name

    def __str__(self):
        return self.name


class constexpr:
    """A constexpr among the items of a tuple: constexpr(64), constexpr("fp16"), constexpr(torch.float16)."""

    __slots__ = ("text",)

    def __init__(self, value):
        self.text = repr(value) if value is None or isinstance(value, (bool, int, float)) else _expression(value)


class expression(constexpr):
    """A constexpr that is written as in the source: expression("saxpy"), a function of its file."""

    __slots__ = ()

    def __init__(self, text):
        self.text = text


class desc:
    """A tensor descriptor: the tensor (or ptr), its block, and shape and strides in elements where the tensor does not tell."""

    __slots__ = ("base", "tensor", "address")

    def __init__(self, tensor, block, shape=None, strides=None, pad_nan=False):
        address, code = _address(tensor)
        own_shape, own_strides = _layout(tensor) if shape is None or strides is None else (None, None)
        if shape is None:
            if own_shape is None:
                raise TypeError(f"the shape of a descriptor of {type(tensor).__name__} must be given")
            shape = own_shape
        elif strides is None and (own_shape is None or len(shape) != len(own_shape)):
            own_strides = None   # strides belong to the tensor's own axes
        if strides is None:
            strides = own_strides if own_strides is not None else _dense(shape)
        if not len(shape) == len(strides) == len(block) <= 5:
            raise ValueError("shape, strides and block of a descriptor must have the same length, at most 5")
        self.base = tensor
        self.tensor = _Tensor(address, len(shape), _int64s(shape), _int64s(strides), code, _int64s(block), pad_nan)
        self.address = ctypes.addressof(self.tensor)


def _int64s(values):
    """What ctypes would silently cut to 64 bits is refused."""
    values = [operator.index(v) for v in values]
    for v in values:
        if not -1 << 63 <= v < 1 << 63:
            raise OverflowError(f"{v} does not fit 64 bits")
    return (c_int64 * 5)(*values)


def _dense(shape):
    """Strides of an array without gaps, the last axis innermost."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= operator.index(n)
    return strides[::-1]


def _layout(value):
    """Shape and strides in elements as an array tells them. Strides None: dense; shape None: it does not tell."""
    stride, shape = getattr(value, "stride", None), getattr(value, "shape", None)
    if callable(stride):
        return tuple(shape), tuple(stride())
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None:
        strides, size = interface.get("strides"), int(interface["typestr"][2:])
        if strides is not None and any(s % size for s in strides):
            raise ValueError("strides that are no multiple of the element's size cannot be a kernel's")
        return tuple(interface["shape"]), None if strides is None else tuple(s // size for s in strides)
    if hasattr(value, "__dlpack__") and not hasattr(value, "data_ptr"):
        return _dlpack(value)[2:]
    return None if shape is None else tuple(shape), None


_dtype_codes = {}   # dtype objects as they come, to their codes


def _type_code(dtype):
    name = str(dtype).rpartition(".")[2]
    code = _TYPE_CODES.get(name)
    if code is None:
        raise TypeError(f"there is no kernel type for dtype {dtype}")
    try:
        _dtype_codes[dtype] = code
    except TypeError:
        pass
    return code


def _address(value):
    data_ptr = getattr(value, "data_ptr", None)
    if data_ptr is not None:
        return data_ptr(), _dtype_codes.get(value.dtype) or _type_code(value.dtype)
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is None:
        if hasattr(value, "__dlpack__"):
            return _dlpack(value)[:2]
        raise TypeError(f"{type(value).__name__} is no tensor: it has neither data_ptr() nor __cuda_array_interface__ nor __dlpack__")
    code = _INTERFACE_TYPES.get(interface["typestr"][1:])
    if code is None or interface["typestr"][0] == ">":
        raise TypeError(f"there is no kernel type for {interface['typestr']}")
    return interface["data"][0], code


def _device_address(value):
    """_address of an array that a gpu can read."""
    if _on_host(value):
        raise TypeError(f"{type(value).__name__} is an array on the host, not on a gpu")
    return _address(value)


_GPU_MEMORY = (2, 3, 13)   # DLPack's kinds of memory: CUDA, pinned, managed


def _on_host(value):
    is_cuda = getattr(value, "is_cuda", None)
    if is_cuda is not None or hasattr(value, "__cuda_array_interface__"):
        return is_cuda is False
    device = getattr(value, "__dlpack_device__", None)
    return device is not None and device()[0] not in _GPU_MEMORY


class _DLTensor(Structure):
    _fields_ = [("data", c_uint64), ("device_type", c_int), ("device_id", c_int), ("ndim", c_int), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = c_void_p, [py_object, c_char_p]


def _dlpack(value):
    """Of an array that only DLPack gives: address, type's code, shape, strides or None. The capsule is let go, the array stays its owner's."""
    capsule = value.__dlpack__()
    t = _DLTensor.from_address(_capsule_pointer(capsule, b"dltensor"))
    code = _DLPACK_TYPES.get((t.code, t.bits)) if t.lanes == 1 else None
    if code is None:
        raise TypeError(f"there is no kernel type for DLPack's {t.lanes} lanes of code {t.code} with {t.bits} bits")
    return (t.data or 0) + t.byte_offset, code, tuple(t.shape[:t.ndim]), tuple(t.strides[:t.ndim]) if t.strides else None


def _expression(value):
    """A constexpr's value as the source would write it."""
    if isinstance(value, str):
        return str.__repr__(value)   # of an enum's member too
    if isinstance(value, (tuple, list)):
        return repr(value)
    name = str(value).rpartition(".")[2]
    if name in _TYPE_CODES:
        return _DTYPES[_TYPE_CODES[name]][0]
    raise TypeError(f"{value!r} cannot be the value of a constexpr")


_MASK = (1 << 64) - 1
_double, _word = struct.Struct("<d"), struct.Struct("<Q")


def _words(value, is_constexpr, keep):
    """A tile_arg as two 64-bit words (kind and type, value), which struct packs quicker than ctypes fills structures. What the
    second one points to goes to keep."""
    kind = type(value)
    if kind is int:
        if -1 << 63 <= value < 1 << 63:
            return _INT, value & _MASK
        if value < 0 or value > _MASK:
            raise OverflowError(f"{value} does not fit 64 bits")
        return _INT | _TYPE_CODES["u64"] << 32, value
    if kind is float:
        return _FLOAT, _word.unpack(_double.pack(value))[0]
    if kind is bool:
        return _BOOL, int(value)
    if value is None:
        return _NONE, 0
    is_array = hasattr(value, "data_ptr") or hasattr(value, "__cuda_array_interface__") or hasattr(value, "__dlpack__")
    if not is_array and isinstance(value, numbers.Integral):
        return _words(operator.index(value), is_constexpr, keep)
    if not is_array and isinstance(value, numbers.Real):
        return _words(float(value), is_constexpr, keep)
    if not is_array and str(getattr(value, "dtype", "")) == "bool":
        return _BOOL, int(bool(value))   # NumPy's
    if is_constexpr:
        text = ctypes.create_string_buffer(_expression(value).encode())
        keep.append(text)
        return _TEXT, ctypes.addressof(text)
    if isinstance(value, tuple):
        return _tuple_words(value, keep)
    if isinstance(value, constexpr):
        text = ctypes.create_string_buffer(value.text.encode())
        keep.append(text)
        return _TEXT, ctypes.addressof(text)
    if kind is desc:
        keep.append(value)
        return _TENSOR, ctypes.addressof(value.tensor)
    if is_array or not hasattr(value, "__float__"):
        address, code = _address(value)
        return _POINTER | code << 32, address
    # Something else that stands for a number.
    return _words(value.__index__() if hasattr(value, "__index__") else float(value), is_constexpr, keep)


def _tuple_words(value, keep):
    """A tuple; one with names is the source's of the same name."""
    words = [word for item in value for word in _words(item, False, keep)]
    items = (c_uint64 * max(len(words), 1))(*words)
    name = ctypes.create_string_buffer(type(value).__name__.encode()) if hasattr(value, "_fields") else None
    t = _Tuple(ctypes.addressof(items), len(value), ctypes.addressof(name) if name else None)
    keep += (items, name, t)
    return _TUPLE, ctypes.addressof(t)


def _take(address):
    """The object of a reference that is ours."""
    value = ctypes.cast(address, py_object).value
    ctypes.pythonapi.Py_DecRef(py_object(value))
    return value


def _stream_function():
    """Gives a device's current stream as an integer, by ordinal; None without PyTorch."""
    torch = sys.modules.get("torch")
    if torch is None:
        return None
    return getattr(torch._C, "_cuda_getCurrentRawStream", None) or (lambda ordinal: torch.cuda.current_stream(ordinal).cuda_stream)


class Kernel:
    """kernel[grid](args…). The grid: an int, a tuple of up to three, or a function of the dict of all arguments and constexprs."""

    def __init__(self, program, handle, name):
        self._program, self._handle, self.__name__ = program, handle, name
        count = _lib.tile_jit_num_params(handle)
        self.params = tuple(_lib.tile_jit_param_name(handle, i).decode() for i in range(count))
        self._index = {p: i for i, p in enumerate(self.params)}
        self._constexpr = tuple(_lib.tile_jit_param_is_constexpr(handle, i) for i in range(count))
        self._pack = struct.Struct(f"{max(2 * count, 1)}Q" if count else "8x").pack
        self._metas = {}
        self._is_gpu = program.device.kind == "gpu"
        self._is_tuned = _lib.tile_jit_is_tuned(handle)
        capsule = c_void_p()
        quick = _held.tile_jit_python_launcher(handle, self._slow, _type_code, lambda variant: self._meta(c_void_p(variant)), _device_address if self._is_gpu else _address, byref(capsule))
        self._capsule = capsule.value
        # The launcher came with a reference, which the cast does not take over.
        self._launch = _take(quick) if quick else self._slow

    def __getitem__(self, grid):
        return functools.partial(self._launch, grid)

    @property
    def num_variants(self):
        return _lib.tile_jit_num_variants(self._handle)

    def warmup(self, *args, grid=None, **kwargs):
        """Compiles and loads what a launch with such arguments needs; launches nothing."""
        packed, launch = self._bind(args, kwargs)
        failures = []
        kept = (self._grid_with(launch, grid, args, kwargs, failures), self._tune_with(launch, args, kwargs)) if grid is not None else None
        self._variant(packed, launch)
        del kept

    def _bind(self, args, kwargs):
        count = len(self.params)
        if len(args) > count:
            raise TypeError(f"{self.__name__} takes {count} arguments, got {len(args)}")
        for name, value in (*zip(self.params, args), *kwargs.items()) if self._is_gpu else ():
            for item in _leaves(value):
                tensor = item.base if type(item) is desc else item
                if _on_host(tensor):
                    raise TypeError(f"{self.__name__}: argument '{name}' is a tensor on {getattr(tensor, 'device', 'the host')}, not on a gpu")
        words, keep, launch = [], [], _Launch(_LAUNCH_SIZE, _ONE)
        constexpr = self._constexpr
        for i, value in enumerate(args):
            if type(value) is int and 0 <= value < 1 << 63:
                words.append(_INT)
                words.append(value)
            else:
                words += _words(value, constexpr[i], keep)
        words += (_DEFAULT, 0) * (count - len(args))
        for name, value in kwargs.items():
            i = self._index.get(name)
            if name in ("num_warps", "num_stages", "num_ctas", "maxnreg"):
                number = operator.index(value or 0)
                if not -1 << 31 <= number < 1 << 31:
                    raise OverflowError(f"{self.__name__}: {name}={number} does not fit 32 bits")
                setattr(launch, name, number)
            elif name == "stream" and i is None:
                launch.stream = getattr(value, "cuda_stream", value)
                continue
            elif i is None:
                raise TypeError(f"{self.__name__} has no parameter '{name}'; it has {', '.join(self.params)}")
            if i is not None:
                if i < len(args):
                    raise TypeError(f"{self.__name__}: '{name}' is given twice")
                words[2 * i:2 * i + 2] = _words(value, constexpr[i], keep)
        device = self._program.device
        if self._is_gpu and ("stream" not in kwargs or "stream" in self._index):
            stream_of = _stream_function()
            launch.stream = stream_of(device.ordinal) if stream_of else None
        if keep:
            launch.keep = keep
        return self._pack(*words), launch

    def _variant(self, packed, launch):
        variant, e = c_void_p(), c_void_p()
        _check(_lib.tile_jit_prepare(self._handle, byref(launch), packed, len(self.params), byref(variant), byref(e)), e)
        return variant

    def _tune_with(self, launch, args, kwargs):
        """Gives a launch the sizes and shapes of its arrays, which tuning and hooks need. The result keeps them alive."""
        sizes, shapes = (c_size_t * len(self.params))(), (_Tensor * len(self.params))()
        for name, value in (*zip(self.params, args), *kwargs.items()):
            if name in self._index:
                i = self._index[name]
                sizes[i] = _num_bytes(value.base if type(value) is desc else value)
                shape, stride = getattr(value, "shape", None), getattr(value, "stride", None)
                if shape is not None and callable(stride) and len(shape) <= 5:
                    shapes[i].rank = len(shape)
                    shapes[i].shape[:len(shape)], shapes[i].strides[:len(shape)] = tuple(shape), tuple(stride())
        launch.arg_bytes, launch.num_arg_bytes = sizes, len(sizes)
        launch.arg_shapes, launch.num_arg_shapes = shapes, len(shapes)
        return sizes, shapes

    def _grid_with(self, launch, grid, args, kwargs, failures):
        """Gives a launch its grid. The result keeps it alive; what a function raises goes to failures."""
        if not callable(grid):
            launch.grid = _grid(grid)
            return None

        def of_variant(user, variant, out):
            try:
                meta = dict(self._meta(c_void_p(variant)))
                meta.update(zip(self.params, args))
                meta.update(kwargs)
                out[0], out[1], out[2] = _grid(grid(meta))
            except BaseException as failure:   # it must not go through the library
                failures.append(failure)
                out[0] = 0

        callback = _GRID_FN(of_variant)
        launch.grid_fn = ctypes.cast(callback, c_void_p)
        return callback

    def _meta(self, variant):
        meta = self._metas.get(variant.value)
        if meta is None:
            meta = self._metas[variant.value] = {}
            for i in range(_lib.tile_variant_num_constexprs(variant)):
                name = _lib.tile_variant_constexpr_name(variant, i)
                meta[name.decode()] = _literal(_lib.tile_variant_constexpr(variant, name).decode())
        return meta

    def run(self, grid, args, kwargs):
        packed, launch = self._bind(args, kwargs)
        failures, e = [], c_void_p()
        kept = self._grid_with(launch, grid, args, kwargs, failures), self._tune_with(launch, args, kwargs)
        status = _lib.tile_jit_launch(self._handle, byref(launch), packed, len(self.params), byref(e))
        del kept
        if failures:
            if e:
                _lib.tile_error_free(e)
            raise failures[0]
        _check(status, e)

    def _slow(self, grid, *args, **kwargs):
        """A launch of any kind; the launcher learns what it needs to do the next one like it."""
        self.run(grid, args, kwargs)
        if self._capsule is None:
            return
        for i, value in (*enumerate(args), *((self._index.get(name, -1), value) for name, value in kwargs.items())):
            if i >= 0 and self._constexpr[i] and isinstance(value, (str, *_dtype_types())):
                _held.tile_jit_python_learn_text(self._capsule, value, _expression(value).encode())
                continue
            for item in _leaves(value):
                self._learn_type(item)
        stream_of = _stream_function() if self._is_gpu else None
        if stream_of:
            _held.tile_jit_python_use_stream(self._capsule, stream_of, self._program.device.ordinal)


    def _learn_type(self, value):
        if type(value) is desc:
            _held.tile_jit_python_learn_type(self._capsule, desc, 2)
        elif hasattr(value, "data_ptr") and hasattr(value, "dtype"):
            _held.tile_jit_python_learn_type(self._capsule, type(value), 3 if self._is_gpu and hasattr(value, "is_cuda") else 0)
        elif hasattr(value, "__cuda_array_interface__") or hasattr(value, "__dlpack__"):
            _held.tile_jit_python_learn_type(self._capsule, type(value), 1)


def _leaves(value):
    if not isinstance(value, tuple):
        return (value,)
    return tuple(leaf for item in value for leaf in _leaves(item))


def _dtype_types():
    torch = sys.modules.get("torch")
    return (dtype, torch.dtype) if torch else (dtype,)


def _num_bytes(value):
    """Of a dense tensor; 0 where it is none or has gaps, and tuning then leaves it alone."""
    if hasattr(value, "numel") and hasattr(value, "element_size"):
        return value.numel() * value.element_size() if value.is_contiguous() else 0
    size = getattr(value, "nbytes", 0)
    shape, strides = _layout(value) if size else (None, None)
    return size if strides is None or list(strides) == _dense(shape) else 0


def _grid(grid):
    axes = (grid,) if isinstance(grid, numbers.Integral) else tuple(grid)
    axes = [operator.index(n) for n in axes]
    if not 1 <= len(axes) <= 3:
        raise ValueError(f"a grid has 1 to 3 axes, not {len(axes)}")
    for n in axes:
        if not 0 <= n < 1 << 32:
            raise ValueError(f"a grid of {n} is impossible")
    return (c_uint32 * 3)(*axes, *([1] * (3 - len(axes))))


def _literal(text):
    import ast
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


class Program:
    """The kernels of a file, as attributes or by program["name"]."""

    def __init__(self, path, text=None, device=None, policy="allow", cache=True, cache_dir=None, include=(), options=(), on_event=None,
                 tune="off", tune_file=None, tune_seconds=0.0, compile_seconds=0.0, isolate=False, tilec=None):
        self.device = device if isinstance(device, Device) else open_device(device)
        self.policy = policy
        self._kernels, self._handle, e = {}, c_void_p(), c_void_p()
        self._on_event = _EVENT_FN(lambda user, event: on_event(EVENTS[event[0].kind], event[0].kernel.decode(), event[0].variant.decode(), event[0].milliseconds)) if on_event else None
        o = _JitOptions(struct_size=ctypes.sizeof(_JitOptions), policy=("allow", "warn", "forbid").index(policy), no_cache=not cache,
                        cache_dir=os.fsencode(cache_dir) if cache_dir else None, on_event=ctypes.cast(self._on_event, c_void_p) if self._on_event else None)
        o.include_paths, o.num_include_paths = (c_char_p * len(include))(*map(os.fsencode, include)), len(include)
        o.options, o.num_options = (c_char_p * len(options))(*(s.encode() for s in options)), len(options)
        o.tune, o.tune_file, o.tune_seconds = ("off", "saved", "on").index(tune), os.fsencode(tune_file) if tune_file else None, tune_seconds
        o.compile_seconds, o.isolate, o.tilec = compile_seconds, isolate, os.fsencode(tilec) if tilec else None
        name = os.fsencode(path)
        if text is None:
            status = _lib.tile_jit_open_file(self.device._handle, name, byref(o), byref(self._handle), byref(e))
        else:
            data = text.encode()
            status = _lib.tile_jit_open_memory(self.device._handle, name, data, len(data), byref(o), byref(self._handle), byref(e))
        _check(status, e)
        self.kernels = tuple(_lib.tile_jit_kernel_name(self._handle, i).decode() for i in range(_lib.tile_jit_num_kernels(self._handle)))

    def __getitem__(self, name):
        if name not in self._kernels:
            handle, e = c_void_p(), c_void_p()
            _check(_lib.tile_jit_get_kernel(self._handle, name.encode(), byref(handle), byref(e)), e)
            self._kernels[name] = Kernel(self, handle, name)
        return self._kernels[name]

    def __getattr__(self, name):
        if name.startswith("_") or name not in self.__dict__.get("kernels", ()):
            raise AttributeError(f"no kernel '{name}'; there are {', '.join(self.__dict__.get('kernels', ()))}")
        return self[name]


def load(path, **options):
    return Program(path, **options)


def loads(text, name="<string>", **options):
    return Program(name, text, **options)
