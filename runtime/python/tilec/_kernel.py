"""Kernels and their launches."""
import ast
import ctypes
import difflib
import functools
import numbers
import operator
import struct
from ctypes import byref, c_char_p, c_size_t, c_uint32, c_void_p

from ._arguments import DEFAULT, INT, Named, desc, leaves, ptr, words
from ._arrays import address_of, is_array, is_on_host, is_pinned, num_bytes
from ._device import Error, check
from . import _order as order
from . import _unwritten as unwritten
from ._host import HostMemory
from ._launcher import Launcher, stream_function
from ._library import GRID_FN, Launch, Tensor, lib

_LAUNCH_SIZE, _ONE = ctypes.sizeof(Launch), (c_uint32 * 3)(1, 1, 1)
_LAUNCH_NUMBERS = ("num_warps", "num_stages", "num_ctas", "maxnreg")


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
        self._pack_words = struct.Struct(f"{max(2 * count, 1)}Q" if count else "8x").pack
        self._metas = {}
        self._is_gpu = program.device.kind == "gpu"
        self._launchers = []
        self._launcher = self.launcher(self._slow)

    @property
    def handle(self):
        self._program.handle   # raises if it is closed
        return self._handle

    @property
    def is_open(self):
        return self._program.is_open

    @property
    def device(self):
        return self._program.device

    @property
    def text(self):
        return self._program.text

    @property
    def is_gpu(self):
        return self._is_gpu

    def is_constexpr(self, name):
        return name in self._index and self._constexpr[self._index[name]]

    def launcher(self, slow, result_of=None):
        """Returns a new Launcher, which is closed with the program."""
        self._launchers.append(Launcher(self, slow, result_of))
        return self._launchers[-1]

    def close(self):
        for launcher in self._launchers:
            launcher.close()

    def __repr__(self):
        return f"<tilec.Kernel {self.__name__}({', '.join(self.params)}) of {self._program.name}>"

    def __call__(self, *args, **kwargs):
        raise TypeError(f"a launch needs a grid: {self.__name__}[grid](…), as in {self.__name__}[(16,)](…)")

    def __getitem__(self, grid):
        return functools.partial(self._launcher.launch if self._is_gpu else self._launch_here, grid)

    def _launch_here(self, grid, *args, **kwargs):
        """Launches on sim or interp, so that Ctrl-C ends it."""
        return self.device.interruptible(lambda: self._launcher.launch(grid, *args, **kwargs))

    @property
    def num_variants(self):
        return lib.tile_jit_num_variants(self._handle)

    def warmup(self, *args, grid=None, **kwargs):
        """Compiles and loads what a launch with these arguments needs, and launches nothing."""
        Bound(self, args, kwargs).variant(grid)

    def run(self, grid, args, kwargs):
        with Bound(self, args, kwargs) as bound:
            bound.launch(grid)

    def host_arrays(self, args, kwargs):
        """Returns (name, array) of each array among the arguments that lies on the host."""
        found = []
        for name, value in (*zip(self.params, args), *kwargs.items()):
            for item in leaves(value):
                array = item.base if type(item) is desc else item
                if is_array(array) and is_on_host(array):
                    found.append((name, array))
        return found

    def pack(self, args, kwargs, place):
        """Returns the packed arguments of a launch, and the launch without its grid."""
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
                setattr(launch, name, 0 if value is None else self._launch_number(name, value))
            elif name == "stream" and i is None:
                launch.stream = getattr(value, "cuda_stream", value)
                continue
            elif i is None:
                near = difflib.get_close_matches(name, (*self.params, *_LAUNCH_NUMBERS, "stream"), 1)
                raise TypeError(f"{self.__name__} has no parameter '{name}'; " +
                                (f"did you mean '{near[0]}'?" if near else f"it has {', '.join(self.params)}"))
            if i is not None:
                if i < len(args):
                    raise TypeError(f"{self.__name__}: '{name}' is given twice")
                packed[2 * i:2 * i + 2] = self._words(i, value, keep, place)
        if self._is_gpu and ("stream" not in kwargs or "stream" in self._index):
            stream_of = stream_function()
            launch.stream = stream_of(self.device.ordinal) if stream_of else None
        if keep:
            launch.keep = keep
        return self._pack_words(*packed), launch

    def _launch_number(self, name, value):
        try:
            number = operator.index(value)
        except TypeError:
            raise TypeError(f"{self.__name__}: {name} is an integer, not {value!r}") from None
        if not -1 << 31 <= number < 1 << 31:
            raise OverflowError(f"{self.__name__}: {name}={number} does not fit 32 bits")
        if number == 0 and name in ("num_warps", "num_ctas"):
            raise ValueError(f"{self.__name__}: {name}=0 is no number of {name[4:]}: it is a power of two; leave it "
                             "out for the default")
        return number

    def _words(self, i, value, keep, place):
        try:
            return words(value, self._constexpr[i], keep, place)
        except (TypeError, OverflowError) as e:
            raise type(e)(f"{self.__name__}: argument '{self.params[i]}': {e}") from None

    def meta(self, variant):
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
        self._launcher.learn(args, kwargs)


class HostArrayError(TypeError):
    """An argument of a kernel on a gpu lies in memory of the host that the gpu does not reach."""


class Bound:
    """A launch's arguments on the kernel's device. A context: arrays of the host are copied in and out by it.

    options are of tilec, for this launch's variant: "enable-fp-fusion=0".
    """

    def __init__(self, kernel, args, kwargs, options=()):
        self.kernel, self._args, self._kwargs, self._options = kernel, args, kwargs, options
        self._memory, self._launch, self._packed, self._failures = None, None, None, []

    def __enter__(self):
        arrays = self.kernel.host_arrays(self._args, self._kwargs)
        if self.kernel.is_gpu:
            arrays = [(name, array) for name, array in arrays if not is_pinned(array)]
        if arrays and self.kernel.is_gpu:
            name, array = arrays[0]
            where = getattr(array, "device", "the host")
            raise HostArrayError(f"{self.kernel.__name__}: argument '{name}' is a tensor on {where}, not on a gpu")
        if arrays:
            self._memory = HostMemory(self.kernel.device, arrays)
            self._memory.__enter__()
        return self

    def __exit__(self, *exception):
        if exception[0] is not None:
            unwritten.forget()
        if self._memory is not None:
            self._memory.__exit__(*exception)

    def _prepare(self):
        if self._launch is None:
            place = self._memory.place if self._memory is not None else address_of
            self._packed, self._launch = self.kernel.pack(self._args, self._kwargs, place)
            if self._options:
                self._launch.options = (c_char_p * len(self._options))(*(o.encode() for o in self._options))
                self._launch.num_options = len(self._options)
            self._describe_arrays()

    def variant(self, grid=None):
        """Compiles and loads the variant if it does not exist, and returns its address. A grid is for tuning alone."""
        self._prepare()
        if grid is not None:
            self._use_grid(grid)
        variant, e = c_void_p(), c_void_p()
        self._call(lambda: lib.tile_jit_prepare(self.kernel.handle, byref(self._launch), self._packed,
                                                len(self.kernel.params), byref(variant), byref(e)), e)
        return variant.value

    def _refuse_foreign(self):
        """Refuses an array whose address is no memory of the simulator, which a kernel's access would end."""
        device = self.kernel.device
        for name, value in (*zip(self.kernel.params, self._args), *self._kwargs.items()):
            for item in leaves(value):
                array = item.base if type(item) is desc else item
                if type(array) is ptr or not hasattr(array, "data_ptr") or is_on_host(array):
                    continue
                address = array.data_ptr()
                if address and not (device.has(address) or device.has(address - 1)):   # an empty array may lie at an end
                    raise TypeError(
                        f"{self.kernel.__name__}: argument '{name}': data_ptr() of {type(array).__name__} is "
                        f"{address:#x}, which is no memory of the simulator but perhaps of the host: pass the array "
                        "itself, or give the object device = 'cpu' and a shape, so that it is copied")

    def launch(self, grid):
        if self.kernel.device.kind == "sim":
            self._refuse_foreign()
        self._prepare()
        self._use_grid(grid)
        e = c_void_p()
        try:
            self._call(lambda: lib.tile_jit_launch(self.kernel.handle, byref(self._launch), self._packed,
                                                   len(self.kernel.params), byref(e)), e)
            if self._memory is not None:
                self.kernel.device.synchronize()
        except Error as error:
            if self._memory is not None:
                self._memory.explain(error)
            raise
        if self._memory is not None:
            self._check_order()
            self._memory.copy_back(self.kernel)

    def _check_order(self):
        every = [(name, item) for name, value in (*zip(self.kernel.params, self._args), *self._kwargs.items())
                 for item in (value if type(value) in (tuple, list) else (value,))]
        arrays = [(name, value) for name, value in every if is_array(value)]
        if len(arrays) > 1:
            order.check(self.kernel.__name__, self.kernel.text, arrays, [(n, v) for n, v in every if not is_array(v)])

    def _call(self, call, e):
        status = self.kernel.device.interruptible(call)
        if self._failures:
            if e:
                lib.tile_error_free(e)
            raise self._failures[0]
        check(status, e)

    def _describe_arrays(self):
        """Gives the launch the bytes and shapes of its arrays, for tuning and hooks."""
        params, launch = self.kernel.params, self._launch
        sizes, shapes = (c_size_t * len(params))(), (Tensor * len(params))()
        for name, value in (*zip(params, self._args), *self._kwargs.items()):
            if name in params:
                i = params.index(name)
                sizes[i] = num_bytes(value.base if type(value) is desc else value)
                shape, stride = getattr(value, "shape", None), getattr(value, "stride", None)
                if shape is not None and callable(stride) and len(shape) <= 5:
                    shapes[i].rank = len(shape)
                    shapes[i].shape[:len(shape)], shapes[i].strides[:len(shape)] = tuple(shape), tuple(stride())
        launch.arg_bytes, launch.num_arg_bytes = sizes, len(sizes)
        launch.arg_shapes, launch.num_arg_shapes = shapes, len(shapes)

    def _use_grid(self, grid):
        """Gives the launch its grid. What a grid's function raises goes to self._failures."""
        if not callable(grid):
            self._launch.grid = grid_of(grid)
            return

        def of_variant(user, variant, out):
            try:
                values = {**self.kernel.meta(c_void_p(variant)), **dict(zip(self.kernel.params, self._args)),
                          **self._kwargs}
                out[0], out[1], out[2] = grid_of(grid(Named("the grid's function", values)))
            except BaseException as failure:   # it must not go through the library
                self._failures.append(failure)
                out[0] = (1 << 32) - 1         # more than can be launched

        self._grid_fn = GRID_FN(of_variant)   # the library keeps a pointer to it
        self._launch.grid_fn = ctypes.cast(self._grid_fn, c_void_p)


def grid_of(grid):
    axes = (grid,) if isinstance(grid, numbers.Integral) else grid
    if isinstance(axes, str) or not hasattr(axes, "__iter__"):
        raise TypeError(f"a grid is a number, a tuple of 1 to 3 numbers or a function that gives one, not {grid!r}")
    axes = tuple(axes)
    for n in axes:
        if not hasattr(n, "__index__"):
            way = "; write tilec.cdiv(a, b), not a / b" if isinstance(n, numbers.Real) else ""
            raise TypeError(f"the axes of a grid are integers, not {n!r}{way}")
    axes = [operator.index(n) for n in axes]
    if not 1 <= len(axes) <= 3:
        raise ValueError(f"a grid has 1 to 3 axes, not {len(axes)}")
    for i, n in enumerate(axes):
        if not 0 <= n < 1 << 32:
            raise ValueError(f"a grid of {n} is impossible: axis {i} of {tuple(axes)} counts the programs along it")
    return (c_uint32 * 3)(*axes, *([1] * (3 - len(axes))))


def _literal(text):
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


