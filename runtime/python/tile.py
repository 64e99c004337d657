"""Launch kernels of .tile and Triton files from Python through libtile, without Triton.

    import tile, torch
    k = tile.load("matmul.tile").matmul_kernel
    grid = lambda meta: (tile.cdiv(M, meta["BM"]) * tile.cdiv(N, meta["BN"]),)
    k[grid](a, b, c, M, N, K, ..., BM=128, BN=128, BK=32, GROUP=8)

Arguments are positional or by name, like those of the @triton.jit function. An argument is

- an array: anything with data_ptr() and dtype (a PyTorch tensor), with __cuda_array_interface__ (CuPy, Numba) or
  with __dlpack__; tile.ptr(address, "fp16"); or tile.desc(tensor, block), in Gluon with its layout;
- an int, a float, a bool or None;
- for a constexpr, also a string, a dtype, a tuple or tile.expression("name"), a name of the kernel's file;
- a tuple of these, which may nest, or a namedtuple, which has the name of a class in the kernel's file. A constexpr in
  a tuple is tile.constexpr(64), or tile.expression("name") as the source would write it.

num_warps, num_stages, num_ctas, maxnreg and stream are keywords of a launch. On a gpu the default stream is PyTorch's
current one if PyTorch is loaded.

The module needs ctypes and libtile.so alone. TILE_LIBRARY names libtile.so; without it the module takes the one beside
this file, then the one that the system's loader finds. Several threads may use the module at once.
"""
import ctypes
import functools
import numbers
import operator
import os
import struct
import sys
import threading
from ctypes import byref, c_char_p, c_size_t, c_uint32, c_uint64, c_void_p, py_object

from _tile_arguments import (_DEFAULT, _INT, _address, _device_address, _expression, _leaves, _num_bytes, _on_host,
                             _type_code, _words, constexpr, desc, dtype, expression, ptr)
from _tile_library import _EVENT_FN, _GRID_FN, _JitOptions, _Launch, _Tensor, _held, _lib

__all__ = ["load", "loads", "open_device", "default_device", "ptr", "desc", "dtype", "constexpr", "expression", "cdiv",
           "Error", "Device", "Program", "Kernel"]
for _public in (ptr, desc, dtype, constexpr, expression):
    _public.__module__ = __name__   # the module that messages, help() and pickle name

# In the order of tile_event_kind.
EVENTS = ("compile_begin", "compile_end", "cache_hit", "cache_miss", "unprepared", "tune_step", "tune_skip", "launch",
          "load")
_LAUNCH_SIZE, _ONE = ctypes.sizeof(_Launch), (c_uint32 * 3)(1, 1, 1)


class Error(RuntimeError):
    """A failure reported by libtile. `status` is its tile_status."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def _check(status, error):
    if status == 0:
        return
    message = _lib.tile_error_message(error).decode("utf-8", "replace") if error else "failed"
    _lib.tile_error_free(error)
    raise Error(status, message)


def cdiv(a, b):
    return -(-a // b)


class Device:
    """gpu, gpu:N, sim or interp. The memory calls serve programs without a tensor library."""

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
    """Returns the process's one Device of that spec."""
    with _devices_lock:
        if spec not in _devices:
            _devices[spec] = Device(spec)
        return _devices[spec]


def default_device():
    return open_device(None)


def _take(address):
    """Takes over a reference from the library and returns its object."""
    value = ctypes.cast(address, py_object).value
    ctypes.pythonapi.Py_DecRef(py_object(value))
    return value


def _stream_function():
    """Returns the function that maps a device's ordinal to its current stream, an integer; None without PyTorch."""
    torch = sys.modules.get("torch")
    if torch is None:
        return None
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    return raw or (lambda ordinal: torch.cuda.current_stream(ordinal).cuda_stream)


class Kernel:
    """A kernel, launched by kernel[grid](args…).

    The grid is an int, a tuple of up to three, or a function of the dict of all arguments and constexprs.
    """

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
        quick = _held.tile_jit_python_launcher(
            handle, self._slow, _type_code, lambda variant: self._meta(c_void_p(variant)),
            _device_address if self._is_gpu else _address, byref(capsule))
        self._capsule = capsule.value
        # The launcher came with a reference of its own.
        self._launch = _take(quick) if quick else self._slow

    def __getitem__(self, grid):
        return functools.partial(self._launch, grid)

    @property
    def num_variants(self):
        return _lib.tile_jit_num_variants(self._handle)

    def warmup(self, *args, grid=None, **kwargs):
        """Compiles and loads what a launch with these arguments needs, and launches nothing."""
        packed, launch = self._bind(args, kwargs)
        failures, kept = [], None
        if grid is not None:
            kept = self._grid_with(launch, grid, args, kwargs, failures), self._tune_with(launch, args, kwargs)
        self._variant(packed, launch)
        del kept

    def _bind(self, args, kwargs):
        """Returns the packed arguments of a launch, and the launch without its grid."""
        count = len(self.params)
        if len(args) > count:
            raise TypeError(f"{self.__name__} takes {count} arguments, got {len(args)}")
        for name, value in (*zip(self.params, args), *kwargs.items()) if self._is_gpu else ():
            for item in _leaves(value):
                tensor = item.base if type(item) is desc else item
                if _on_host(tensor):
                    place = getattr(tensor, "device", "the host")
                    raise TypeError(f"{self.__name__}: argument '{name}' is a tensor on {place}, not on a gpu")
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
        variant, e, count = c_void_p(), c_void_p(), len(self.params)
        _check(_lib.tile_jit_prepare(self._handle, byref(launch), packed, count, byref(variant), byref(e)), e)
        return variant

    def _tune_with(self, launch, args, kwargs):
        """Gives a launch the bytes and shapes of its arrays, for tuning and hooks. The result keeps them alive."""
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
        """Gives a launch its grid. The result keeps it alive; what a grid's function raises goes to failures."""
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
                out[0] = (1 << 32) - 1         # more than can be launched

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
        """Launches with any arguments, and teaches the launcher to do the next launch like this one itself."""
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
            kind = 3 if self._is_gpu and hasattr(value, "is_cuda") else 0
            _held.tile_jit_python_learn_type(self._capsule, type(value), kind)
        elif hasattr(value, "__cuda_array_interface__") or hasattr(value, "__dlpack__"):
            _held.tile_jit_python_learn_type(self._capsule, type(value), 1)


def _dtype_types():
    torch = sys.modules.get("torch")
    return (dtype, torch.dtype) if torch else (dtype,)


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


def _path(path):
    return os.fsencode(path) if path else None


def _report(on_event, event):
    on_event(EVENTS[event.kind], event.kernel.decode(), event.variant.decode(), event.milliseconds)


class Program:
    """The kernels of a file, as attributes or by program["name"]."""

    def __init__(self, path, text=None, device=None, policy="allow", cache=True, cache_dir=None, include=(),
                 options=(), on_event=None, tune="off", tune_file=None, tune_seconds=0.0, compile_seconds=0.0,
                 isolate=False, tilec=None):
        self.device = device if isinstance(device, Device) else open_device(device)
        self.policy = policy
        self._kernels, self._handle, e = {}, c_void_p(), c_void_p()
        o = _JitOptions(
            struct_size=ctypes.sizeof(_JitOptions), policy=("allow", "warn", "forbid").index(policy),
            no_cache=not cache, cache_dir=_path(cache_dir), tune=("off", "saved", "on").index(tune),
            tune_file=_path(tune_file), tune_seconds=tune_seconds, compile_seconds=compile_seconds, isolate=isolate,
            tilec=_path(tilec))
        if on_event:
            # The library keeps a pointer to it.
            self._on_event = _EVENT_FN(lambda user, event: _report(on_event, event[0]))
            o.on_event = ctypes.cast(self._on_event, c_void_p)
        o.include_paths, o.num_include_paths = (c_char_p * len(include))(*map(os.fsencode, include)), len(include)
        o.options, o.num_options = (c_char_p * len(options))(*(s.encode() for s in options)), len(options)
        name = os.fsencode(path)
        if text is None:
            status = _lib.tile_jit_open_file(self.device._handle, name, byref(o), byref(self._handle), byref(e))
        else:
            data = text.encode()
            status = _lib.tile_jit_open_memory(self.device._handle, name, data, len(data), byref(o),
                                               byref(self._handle), byref(e))
        _check(status, e)
        self.kernels = tuple(_lib.tile_jit_kernel_name(self._handle, i).decode()
                             for i in range(_lib.tile_jit_num_kernels(self._handle)))

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
