from . import compiler, errors   # noqa: F401
from .compiler import ASTSource, CompiledKernel, IRSource, LazyDict, compile, make_backend   # noqa: F401
from .errors import CompilationError   # noqa: F401
