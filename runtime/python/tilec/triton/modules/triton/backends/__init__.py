"""The one backend, under the name that programs look for."""
from functools import cached_property

from . import compiler   # noqa: F401
from .compiler import BaseBackend   # noqa: F401
from .driver import DriverBase   # noqa: F401


class Backend:
    """What Triton has for a kind of GPU; the classes are imported when somebody asks for them."""

    @cached_property
    def compiler(self):
        from ..compiler.compiler import _Backend
        return _Backend

    @cached_property
    def driver(self):
        from ..runtime.driver import Driver
        return Driver


backends = {"nvidia": Backend()}
