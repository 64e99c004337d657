"""Kernels and their launches."""
import ast
import ctypes
import functools
import numbers
import operator
import struct
import sys
from ctypes import byref, c_size_t, c_uint32, c_void_p, py_object

from . import _dtypes
from ._arguments import DEFAULT, INT, desc, dtype, expression_of, leaves, words
from ._arrays import address_of, device_address_of, is_array, is_on_host, num_bytes
from ._device import check
from ._host import HostMemory
from ._library import GRID_FN, Launch, Tensor, held, lib

_LAUNCH_SIZE, _ONE = ctypes.sizeof(Launch), (c_uint32 * 3)(1, 1, 1)
_LAUNCH_NUMBERS = ("num_warps", "num_stages", "num_ctas", "maxnreg")


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
        count = lib.tile_jit_num_params(handle)
        self.params = tuple(lib.tile_jit_param_name(handle, i).decode() for i in range(count))
        self._index = {p: i for i, p in enumerate(self.params)}
        self._constexpr = tuple(lib.tile_jit_param_is_constexpr(handle, i) for i in range(count))
        self._pack = struct.Struct(f"{max(2 * count, 1)}Q" if count else "8x").pack
        self._metas = {}
        self._is_gpu = program.device.kind == "gpu"
        capsule = c_void_p()
        quick = held.tile_jit_python_launcher(
            handle, self._slow, _dtypes.code_of, lambda variant: self._meta(c_void_p(variant)),
            device_address_of, byref(capsule))
        self._capsule = capsule.value
        # The launcher came with a reference of its own.
        self._launch = _take(quick) if quick else self._slow

    def __repr__(self):
        return f"<tilec.Kernel {self.__name__}({', '.join(self.params)}) of {self._program.name}>"

    def __getitem__(self, grid):
        return functools.partial(self._launch if self._is_gpu else self._launch_here, grid)

    def _launch_here(self, grid, *args, **kwargs):
        """Launches on sim or interp, so that Ctrl-C ends it."""
        return self._program.device.interruptible(lambda: self._launch(grid, *args, **kwargs))

    def _forget(self):
        """The program is closed: the launcher in C must not use its handle."""
        if self._capsule is not None:
            held.tile_jit_python_close(self._capsule)

    @property
    def num_variants(self):
        return lib.tile_jit_num_variants(self._handle)

    def warmup(self, *args, grid=None, **kwargs):
        """Compiles and loads what a launch with these arguments needs, and launches nothing."""
        packed, launch = self._bind(args, kwargs, address_of)
        failures, kept = [], None
        if grid is not None:
            kept = self._grid_with(launch, grid, args, kwargs, failures), self._tune_with(launch, args, kwargs)
        self._program.device.interruptible(lambda: self._variant(packed, launch))
        del kept

    def run(self, grid, args, kwargs):
        device, memory = self._program.device, None
        if not self._is_gpu:
            memory = HostMemory(device, self._host_arrays(args, kwargs))
        else:
            for name, array in self._host_arrays(args, kwargs):
                where = getattr(array, "device", "the host")
                raise TypeError(f"{self.__name__}: argument '{name}' is a tensor on {where}, not on a gpu")
        if not memory or not memory.ranges:
            return self._run(grid, args, kwargs, address_of)
        with memory:
            self._run(grid, args, kwargs, memory.place)
            device.synchronize()
            memory.copy_back(self.__name__)

    def _host_arrays(self, args, kwargs):
        """Returns (name, array) of each array among the arguments that lies on the host."""
        found = []
        for name, value in (*zip(self.params, args), *kwargs.items()):
            for item in leaves(value):
                array = item.base if type(item) is desc else item
                if is_array(array) and is_on_host(array):
                    found.append((name, array))
        return found

    def _run(self, grid, args, kwargs, place):
        packed, launch = self._bind(args, kwargs, place)
        failures, e = [], c_void_p()
        kept = self._grid_with(launch, grid, args, kwargs, failures), self._tune_with(launch, args, kwargs)
        status = lib.tile_jit_launch(self._handle, byref(launch), packed, len(self.params), byref(e))
        del kept
        if failures:
            if e:
                lib.tile_error_free(e)
            raise failures[0]
        check(status, e)

    def _bind(self, args, kwargs, place):
        """Returns the packed arguments of a launch, and the launch without its grid."""
        self._program.handle   # raises if it is closed
        count = len(self.params)
        if len(args) > count:
            raise TypeError(f"{self.__name__} takes {count} arguments, got {len(args)}")
        packed, keep, launch = [], [], Launch(_LAUNCH_SIZE, _ONE)
        for i, value in enumerate(args):
            if type(value) is int and 0 <= value < 1 << 63:
                packed.append(INT)
                packed.append(value)
            else:
                packed += self._words(i, value, keep, place)
        packed += (DEFAULT, 0) * (count - len(args))
        for name, value in kwargs.items():
            i = self._index.get(name)
            if name in _LAUNCH_NUMBERS:
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
                packed[2 * i:2 * i + 2] = self._words(i, value, keep, place)
        if self._is_gpu and ("stream" not in kwargs or "stream" in self._index):
            stream_of = _stream_function()
            launch.stream = stream_of(self._program.device.ordinal) if stream_of else None
        if keep:
            launch.keep = keep
        return self._pack(*packed), launch

    def _words(self, i, value, keep, place):
        try:
            return words(value, self._constexpr[i], keep, place)
        except (TypeError, OverflowError) as e:
            raise type(e)(f"{self.__name__}: argument '{self.params[i]}': {e}") from None

    def _variant(self, packed, launch):
        variant, e, count = c_void_p(), c_void_p(), len(self.params)
        check(lib.tile_jit_prepare(self._handle, byref(launch), packed, count, byref(variant), byref(e)), e)
        return variant

    def _tune_with(self, launch, args, kwargs):
        """Gives a launch the bytes and shapes of its arrays, for tuning and hooks. The result keeps them alive."""
        sizes, shapes = (c_size_t * len(self.params))(), (Tensor * len(self.params))()
        for name, value in (*zip(self.params, args), *kwargs.items()):
            if name in self._index:
                i = self._index[name]
                sizes[i] = num_bytes(value.base if type(value) is desc else value)
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

        callback = GRID_FN(of_variant)
        launch.grid_fn = ctypes.cast(callback, c_void_p)
        return callback

    def _meta(self, variant):
        meta = self._metas.get(variant.value)
        if meta is None:
            meta = self._metas[variant.value] = {}
            for i in range(lib.tile_variant_num_constexprs(variant)):
                name = lib.tile_variant_constexpr_name(variant, i)
                meta[name.decode()] = _literal(lib.tile_variant_constexpr(variant, name).decode())
        return meta

    def _slow(self, grid, *args, **kwargs):
        """Launches with any arguments, and teaches the launcher to do the next launch like this one itself."""
        self.run(grid, args, kwargs)
        if self._capsule is None:
            return
        given = (*enumerate(args), *((self._index.get(name, -1), value) for name, value in kwargs.items()))
        for i, value in given:
            if i >= 0 and self._constexpr[i] and isinstance(value, (str, *_dtype_types())):
                held.tile_jit_python_learn_text(self._capsule, value, expression_of(value).encode())
                continue
            for item in leaves(value):
                self._learn_type(item)
        stream_of = _stream_function() if self._is_gpu else None
        if stream_of:
            held.tile_jit_python_use_stream(self._capsule, stream_of, self._program.device.ordinal)

    def _learn_type(self, value):
        if not self._is_gpu and (type(value) is desc or is_array(value) and is_on_host(value)):
            return   # arrays of the host are copied for each launch
        if type(value) is desc:
            held.tile_jit_python_learn_type(self._capsule, desc, 2)
        elif hasattr(value, "data_ptr") and hasattr(value, "dtype"):
            kind = 3 if self._is_gpu and hasattr(value, "is_cuda") else 0
            held.tile_jit_python_learn_type(self._capsule, type(value), kind)
        elif hasattr(value, "__cuda_array_interface__") or hasattr(value, "__dlpack__"):
            held.tile_jit_python_learn_type(self._capsule, type(value), 1)


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
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


