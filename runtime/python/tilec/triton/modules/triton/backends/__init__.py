"""The one backend, under the name that programs look for."""
from types import SimpleNamespace

from . import compiler   # noqa: F401
from .compiler import BaseBackend   # noqa: F401
from .driver import DriverBase   # noqa: F401


class _Backends(dict):

    def __missing__(self, name):
        if name != "nvidia":
            raise KeyError(name)
        from ..compiler.compiler import _Backend
        from ..runtime.driver import Driver
        self[name] = SimpleNamespace(compiler=_Backend, driver=Driver)
        return self[name]

    def __contains__(self, name):
        return name == "nvidia"


backends = _Backends()
