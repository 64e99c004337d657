from dataclasses import dataclass
from typing import Any, List

from tilec.triton._missing import explains_calls


@dataclass
class Descriptor:
    """What Triton's descriptors and Gluon's have in common. tilec makes the tensor map at the launch."""

    base: Any
    shape: List[int]
    strides: List[int]
    block_shape: List[int]

    def __post_init__(self):
        rank = len(self.shape)
        assert len(self.strides) == rank and len(self.block_shape) == rank, \
            (f"rank mismatch: shape {list(self.shape)}, strides {list(self.strides)} and block_shape "
             f"{list(self.block_shape)} have one entry per axis")
        assert 0 < rank <= 5, "rank must be 1 to 5"
        off = self.base.data_ptr() % 16
        assert off == 0, f"base must be 16-byte aligned, and lies {off} bytes after such an address: pass x.clone()"
        for n in self.block_shape:
            if n <= 0 or n & (n - 1):
                raise ValueError(f"Shape element {n} of a block must be a power of 2")
        size = self.base.dtype.itemsize
        assert all(s * size % 16 == 0 for s in self.strides[:-1]), "strides must be 16-byte aligned"
        assert all(n > 0 for n in self.shape), "shape must be positive"
        assert self.strides[-1] == 1, "Last dimension must be contiguous"
        assert self.padding in ("zero", "nan"), "Illegal value for padding"
        assert self.padding == "zero" or self.base.dtype.is_floating_point, \
            "Padding option `nan` is only supported for floating point tensors"

    @property
    def address(self):
        """The address of its tile_tensor, as tilec's launcher asks for it."""
        return self.as_desc().address

    def as_desc(self):
        """Returns it as a tilec.desc, made anew when something of it has changed."""
        key = (self.base.data_ptr(), *self.shape, *self.strides, *self.block_shape, self.padding, self.layout)
        made = self.__dict__.get("_made")
        if made is None or made[0] != key:
            from tilec import desc
            made = self.__dict__["_made"] = key, desc(self.base, self.block_shape, shape=self.shape,
                                                      strides=self.strides, pad_nan=self.padding == "nan",
                                                      layout=self.layout)
        return made[1]


@explains_calls
@dataclass
class TensorDescriptor(Descriptor):
    """A descriptor as an argument of a kernel."""

    padding: str = "zero"
    layout = None   # the kernel chooses it

    @classmethod
    def from_tensor(cls, tensor, block_shape, padding="zero"):
        return cls(tensor, tensor.shape, tensor.stride(), block_shape, padding)
