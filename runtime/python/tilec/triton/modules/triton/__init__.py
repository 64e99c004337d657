"""The package `triton` over tilec: see docs/triton-programs.md. tilec.triton.install() puts it in Triton's place."""
__version__ = "3.6.0"   # of Triton, whose interface this is

import operator

from tilec.triton._missing import no_attribute

from .errors import TritonError   # noqa: F401
from . import knobs   # noqa: F401
from .compiler.errors import CompilationError   # noqa: F401
from . import language   # noqa: F401
from .runtime.jit import JITFunction, KernelInterface, MockTensor, TensorWrapper   # noqa: F401
from .runtime.jit import constexpr_function, jit, reinterpret   # noqa: F401
from .runtime.autotuner import Autotuner, Config, Heuristics, autotune, heuristics   # noqa: F401
from .runtime._allocation import set_allocator   # noqa: F401
from .runtime.errors import InterpreterError, OutOfResources   # noqa: F401
from .compiler import compile   # noqa: F401
from . import compiler, experimental, runtime, testing, tools   # noqa: F401
from .language.core import must_use_result   # noqa: F401


class AsyncCompileMode:
    """Compilations in the background: tilec's take milliseconds, and are done at once."""

    def __init__(self, executor, ignore_errors=False):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False


def _refuse(name, *values):
    """Raises TypeError for the first value that is no integer, which the function of that name was given."""
    for value in values:
        if not hasattr(value, "__index__") or len(getattr(value, "shape", ())) > 0:
            shown = f"a {type(value).__name__}" if hasattr(value, "shape") else repr(value)
            way = ("write a // b to divide integers" if isinstance(value, float) else
                   "x.numel() and x.shape[0] are numbers" if hasattr(value, "shape") or hasattr(value, "numel") else
                   "call it, with an axis or none" if callable(value) else
                   "convert a text by int(…)" if isinstance(value, str) else "pass a number")
            raise TypeError(f"{name} takes integers, not {shown}: {way}") from None


@constexpr_function
def cdiv(x, y):
    try:
        return (x + y - 1) // y
    except TypeError:
        _refuse("cdiv", x, y)
        raise
    except ZeroDivisionError:
        raise ZeroDivisionError(f"cdiv({x}, {y}) divides by zero") from None


@constexpr_function
def next_power_of_2(n):
    _refuse("next_power_of_2", n)
    n = operator.index(n)
    return 1 << (n - 1).bit_length() if n > 0 else 0


language.core.import_from("triton", cdiv, next_power_of_2)


def __getattr__(name):
    raise no_attribute("triton", name)
