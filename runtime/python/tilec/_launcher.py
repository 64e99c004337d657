"""The launcher in C of one kernel (runtime/jit/python.c): it repeats earlier launches without running Python code."""
import ctypes
import sys
from ctypes import byref, c_void_p, py_object

from . import _dtypes
from ._arguments import desc, dtype, expression_of, leaves
from ._arrays import device_address_of, is_array, is_on_host
from ._library import held

# How the launcher reads an object of a type that it has learned.
_TENSOR, _OTHER_ARRAY, _DESCRIPTOR, _CUDA_TENSOR = range(4)


def stream_function():
    """Returns the function that maps a device's ordinal to its current stream, an integer; None without PyTorch."""
    torch = sys.modules.get("torch")
    if torch is None:
        return None
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    return raw or (lambda ordinal: torch.cuda.current_stream(ordinal).cuda_stream)


class Launcher:
    """launch(grid, *args, **kwargs) launches a variant that exists, and calls slow with the same for everything else.

    result_of(variant's address), if it is given, makes what a launch of that variant returns; it is asked once.
    """

    def __init__(self, kernel, slow, result_of=None):
        self._kernel = kernel
        capsule = c_void_p()
        quick = held.tile_jit_python_launcher(
            kernel.handle, slow, _dtypes.code_of, lambda variant: kernel.meta(c_void_p(variant)), device_address_of,
            byref(capsule))
        self._capsule = capsule.value
        # The launcher came with a reference of its own.
        self.launch = _take(quick) if quick else slow
        if quick and result_of is not None:
            held.tile_jit_python_use_results(self._capsule, result_of)

    def close(self):
        """The kernel is about to be freed."""
        if self._capsule is not None:
            held.tile_jit_python_close(self._capsule)

    def guarded(self, guards, device_of, otherwise):
        """Returns a launch that calls otherwise if a guard (tile/jit.h) fails or device_of() is another device."""
        guarded = self._capsule and held.tile_jit_python_guard(self._capsule, tuple(guards), device_of, otherwise)
        return _take(guarded) if guarded else otherwise

    def of_variant(self, variant, free, slow):
        """Returns a launch of one variant by position (tile_jit_python_variant in tile/jit.h); free: the indices of the
        parameters whose values it does not have."""
        run = self._capsule and held.tile_jit_python_variant(self._capsule, variant, tuple(free), slow)
        return _take(run) if run else slow

    def learn(self, args, kwargs, texts=()):
        """Teaches it to do a launch like this one, which has succeeded. texts: (value, text) of constexprs."""
        if self._capsule is None:
            return
        kernel = self._kernel
        for value, text in texts:
            held.tile_jit_python_learn_text(self._capsule, value, text.encode())
        for name, value in (*zip(kernel.params, args), *kwargs.items()):
            if kernel.is_constexpr(name) and isinstance(value, (str, *_dtype_types())):
                held.tile_jit_python_learn_text(self._capsule, value, expression_of(value).encode())
                continue
            for item in leaves(value):
                self._learn_type(item)
        stream_of = stream_function() if kernel.is_gpu else None
        if stream_of:
            held.tile_jit_python_use_stream(self._capsule, stream_of, kernel.device.ordinal)

    def _learn_type(self, value):
        is_gpu = self._kernel.is_gpu
        is_desc = type(value) is desc or hasattr(value, "as_desc")
        if not is_gpu and (is_desc or is_array(value) and is_on_host(value)):
            return   # arrays of the host are copied for each launch
        if is_desc:
            kind = _DESCRIPTOR
        elif hasattr(value, "data_ptr") and hasattr(value, "dtype"):
            kind = _CUDA_TENSOR if is_gpu and hasattr(value, "is_cuda") else _TENSOR
        elif hasattr(value, "__cuda_array_interface__") or hasattr(value, "__dlpack__"):
            kind = _OTHER_ARRAY
        else:
            return
        held.tile_jit_python_learn_type(self._capsule, type(value), kind)


TUNED, CHOSEN = range(2)


def layer_method(slow, kind, run=None):
    """Returns a launch in C for a class of layers around kernels (runtime/jit/python_layers.c), or None if there is
    none. With run, objects whose method `run` is another function are launched by slow."""
    method = held.tile_jit_python_layer_of_run(slow, kind, run) if run else held.tile_jit_python_layer(slow, kind)
    return _take(method) if method else None


def _take(address):
    """Takes over a reference from the library and returns its object."""
    value = ctypes.cast(address, py_object).value
    ctypes.pythonapi.Py_DecRef(py_object(value))
    return value


def _dtype_types():
    torch = sys.modules.get("torch")
    return (dtype, torch.dtype) if torch else (dtype,)
