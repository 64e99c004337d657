"""The package `triton` over tilec: see docs/triton-programs.md. tilec.triton.install() puts it in Triton's place."""
__version__ = "3.6.0"   # of Triton, whose interface this is

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


@constexpr_function
def cdiv(x, y):
    return (x + y - 1) // y


@constexpr_function
def next_power_of_2(n):
    if isinstance(n, float):
        raise TypeError(f"next_power_of_2 takes an integer, not {n}: write a // b to divide integers")
    return 1 << (n - 1).bit_length() if n > 0 else 0


language.core.import_from("triton", cdiv, next_power_of_2)


def __getattr__(name):
    raise no_attribute("triton", name)
