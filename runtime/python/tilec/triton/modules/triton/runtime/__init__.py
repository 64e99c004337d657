from . import cache, driver, jit   # noqa: F401
from ._allocation import set_allocator   # noqa: F401
from .autotuner import Autotuner, Config, Heuristics, autotune, heuristics   # noqa: F401
from .cache import RedisRemoteCacheBackend, RemoteCacheBackend   # noqa: F401
from .driver import driver   # noqa: F401,F811
from .errors import InterpreterError, OutOfResources   # noqa: F401
from .jit import JITFunction, KernelInterface, MockTensor, TensorWrapper, reinterpret   # noqa: F401
