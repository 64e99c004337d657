from . import blackwell, hopper   # noqa: F401
