"""gluon.language.amd and its modules: names to import and to compare with. A kernel that uses them is refused."""
from ....language import core
from ....language._modules import of_names
from ._core import MODULE
from ._layouts import DistributedLayout

_BUFFERS = "buffer_load buffer_store " + " ".join(f"buffer_atomic_{op}" for op in "add and max min or xchg xor".split())


def _refused(name):
    return f"{name} is of AMD's GPUs, and tilec compiles for NVIDIA's"


class OfAmd(core.Builtin):

    def __call__(self, *args, **kwargs):
        raise NotImplementedError(_refused(self.__name__))


class _Layout(DistributedLayout):
    """A layout with whatever fields it is given: programs make theirs for every vendor and choose later."""

    def __init__(self, *args, **kwargs):
        object.__setattr__(self, "given", (args, tuple(kwargs.items())))

    def __hash__(self):
        return hash((type(self), repr(self.given)))

    def __eq__(self, other):
        return type(self) is type(other) and self.given == other.given

    def __repr__(self):
        args, named = self.given
        return f"{type(self).__name__}({', '.join([*map(repr, args), *(f'{k}={v!r}' for k, v in named)])})"

    def _tile_expression(self):
        raise NotImplementedError(_refused(type(self).__name__))


class AMDMFMALayout(_Layout):
    pass


class AMDWMMALayout(_Layout):
    pass


def _module(name, names, **members):
    module = of_names(f"{MODULE}.amd.{name}", ())
    vars(module).update({n: OfAmd(f"{MODULE}.amd.{name}", n) for n in names.split()}, **members)
    return module


cdna3 = _module("cdna3", _BUFFERS + " mfma")
cdna4 = _module("cdna4", _BUFFERS + " mfma mfma_scaled get_mfma_scale_layout", async_copy=_module(
    "cdna4.async_copy", "global_load_to_shared buffer_load_to_shared commit_group wait_group load_shared_relaxed"))
rdna3, rdna4 = _module("rdna3", "wmma"), _module("rdna4", "wmma")
gfx1250 = _module(
    "gfx1250", "wmma wmma_scaled buffer_load buffer_store get_wmma_scale_layout",
    async_copy=_module("gfx1250.async_copy", "global_to_shared commit_group wait_group mbarrier_arrive"),
    tdm=_module("gfx1250.tdm", "async_load async_wait make_tensor_descriptor tensor_descriptor "
                "tensor_descriptor_type"),
    mbarrier=_module("gfx1250.mbarrier", "MBarrierLayout init wait arrive"))
