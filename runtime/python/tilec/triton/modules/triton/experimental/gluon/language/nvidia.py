"""gluon.language.nvidia and its modules, which have nothing but names."""
from ....language._modules import of_names
from ._core import HOPPER, MODULE, OfBlackwell, functions_of, tensor_descriptor, tensor_descriptor_type
from ._core import warpgroup_mma_accumulator, warpgroup_mma_accumulator_type
from ._layouts import MBarrierLayout


def _module(name, functions, **members):
    module = of_names(f"{MODULE}.nvidia.{name}", functions)
    vars(module).update(members)
    return module


def _of_blackwell(module, names):
    return {name: OfBlackwell(f"{MODULE}.nvidia.{module}", name) for name in names.split()}


def _mbarrier(of):
    return _module(f"{of}.mbarrier", functions_of("mbarrier"), MBarrierLayout=MBarrierLayout)


_descriptor = dict(tensor_descriptor=tensor_descriptor, tensor_descriptor_type=tensor_descriptor_type)
_async_copy = _module("ampere.async_copy", functions_of("async_copy"))
ampere = _module("ampere", ["mma_v2"], async_copy=_async_copy, mbarrier=_mbarrier("ampere"))
hopper = _module("hopper", HOPPER, async_copy=_async_copy, mbarrier=_mbarrier("hopper"),
                 tma=_module("hopper.tma", functions_of("tma"), **_descriptor),
                 warpgroup_mma_accumulator=warpgroup_mma_accumulator,
                 warpgroup_mma_accumulator_type=warpgroup_mma_accumulator_type)
blackwell = _module(
    "blackwell", ["fence_async_shared", "mma_v2"], async_copy=_async_copy, mbarrier=hopper.mbarrier,
    tma=_module("blackwell.tma", functions_of("tma"), **_descriptor,
                **_of_blackwell("blackwell.tma", "async_gather async_scatter")),
    float2=_module("blackwell.float2", (), **_of_blackwell(
        "blackwell.float2", "Float2Tensor fma full_like pack pack2 unpack unpack2")),
    **_of_blackwell("blackwell", """TensorMemoryLayout TensorMemoryScalesLayout allocate_tensor_memory
        get_tmem_reg_layout tcgen05_commit tcgen05_copy tcgen05_mma tcgen05_mma_scaled tensor_memory_descriptor
        tensor_memory_descriptor_type"""))
