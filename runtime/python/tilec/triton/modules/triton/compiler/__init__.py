from tilec.triton._missing import no_attribute as _no_attribute

from . import compiler, errors   # noqa: F401
from .compiler import ASTSource, CompiledKernel, IRSource, LazyDict, compile, make_backend   # noqa: F401
from .errors import CompilationError   # noqa: F401


def __getattr__(name):
    raise _no_attribute("triton.compiler", name)
