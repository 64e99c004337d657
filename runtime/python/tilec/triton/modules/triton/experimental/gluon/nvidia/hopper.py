from dataclasses import dataclass

from ....tools.tensor_descriptor import Descriptor
from ..language._layouts import NVMMASharedLayout


@dataclass
class TensorDescriptor(Descriptor):
    """A descriptor as an argument of a Gluon kernel: it also says how a block lies in shared memory."""

    layout: NVMMASharedLayout
    padding: str = "zero"

    def __post_init__(self):
        layout, rank, bits = self.layout, len(self.block_shape), self.base.dtype.itemsize * 8
        assert isinstance(layout, NVMMASharedLayout), "Layout must be NVMMASharedLayout"
        assert layout.rank == rank, f"the block has {rank} axes, not those of {layout}"
        assert layout.element_bitwidth == bits, f"elements have {bits} bits, not those of {layout}"
        super().__post_init__()

    @staticmethod
    def from_tensor(tensor, block_shape, layout, padding="zero"):
        return TensorDescriptor(tensor, tensor.shape, tensor.stride(), block_shape, layout, padding)
