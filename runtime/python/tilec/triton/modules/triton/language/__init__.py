import sys as _sys

from . import core
from ._modules import of_names as _of_names
from ._names import FUNCTIONS as _FUNCTIONS
from .core import *   # noqa: F401,F403
from .core import PropagateNan, TRITON_MAX_TENSOR_NUMEL, must_use_result, slice, str_to_ty, tuple   # noqa: F401

math = _of_names(
    "triton.language.math",
    "abs ceil cos div_rn erf exp exp2 fdiv floor fma log log2 rsqrt sin sqrt sqrt_rn umulhi".split())
for _name in _FUNCTIONS:
    globals()[_name] = getattr(core, _name)
# Where a function stands in Triton says nothing here.
standard = random = _sys.modules["triton.language.standard"] = _sys.modules["triton.language.random"] = core
from . import extra, target_info   # noqa: E402,F401
libdevice = _sys.modules["triton.language.libdevice"] = extra.libdevice   # where Triton 2 had it


def __getattr__(name):
    return getattr(core, name)
