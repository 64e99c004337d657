"""The names of gluon.language beside its layouts: those of triton.language that Gluon has too, and its own."""
from ....language import core
from ....language._names import FUNCTIONS, GLUON_FUNCTIONS
from ....language.core import *   # noqa: F401,F403
from ....language.core import _unwrap_if_constexpr, base_type, base_value, block_type   # noqa: F401

MODULE = "triton.experimental.gluon.language"
# What nvidia.hopper has beside its modules.
HOPPER = [name for name in GLUON_FUNCTIONS if name.startswith(("warpgroup_mma", "fence_", "mma_"))]


def functions_of(module):
    """Returns the functions of a module of nvidia.hopper."""
    return [name.partition(".")[2] for name in GLUON_FUNCTIONS if name.startswith(module + ".")]


class OfBlackwell(core.Builtin):

    def __call__(self, *args, **kwargs):
        raise NotImplementedError(f"{self.__name__} is of Blackwell (sm_100); tilec's Gluon has Hopper's instructions")


class tensor(base_value):
    _tile_module = MODULE


class distributed_type(block_type):
    _tile_module = MODULE

    def __init__(self, element_ty, shape, layout):
        super().__init__(element_ty, shape)
        self.layout = layout


class shared_memory_descriptor_type(base_type):
    _tile_module = MODULE


class shared_memory_descriptor(base_value):
    _tile_module = MODULE


class tensor_descriptor_type(base_type):
    _tile_module = MODULE + ".nvidia.hopper.tma"


class tensor_descriptor(base_value):
    _tile_module = MODULE + ".nvidia.hopper.tma"


class warpgroup_mma_accumulator_type(base_type):
    _tile_module = MODULE + ".nvidia.hopper"


class warpgroup_mma_accumulator(base_value):
    _tile_module = MODULE + ".nvidia.hopper"


_FUNCTIONS = {*FUNCTIONS, *(name for name in GLUON_FUNCTIONS if "." not in name), "to_linear_layout"}
for _name in _FUNCTIONS - {*HOPPER, "constexpr"}:
    globals()[_name] = core.Builtin(MODULE, _name)
