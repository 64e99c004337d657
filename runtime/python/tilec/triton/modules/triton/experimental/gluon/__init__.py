"""Gluon over tilec: see docs/gluon.md."""
from . import language, nvidia   # noqa: F401
from ._runtime import constexpr_function, jit   # noqa: F401
from ...language.core import must_use_result   # noqa: F401
