import math
from dataclasses import dataclass
from typing import Any, List

from tilec.triton._missing import Explains, explains_calls


@dataclass
class Descriptor(Explains):
    """What Triton's descriptors and Gluon's have in common. tilec makes the tensor map at the launch."""

    base: Any
    shape: List[int]
    strides: List[int]
    block_shape: List[int]

    def _shown(self):
        """Returns how the arguments follow each other, and what was given."""
        name = type(self).__name__
        parts = ", ".join(f"{part}={list(getattr(self, part))}" for part in ("shape", "strides", "block_shape"))
        return f"{name}(base, shape, strides, block_shape) was given {parts}"

    def _way_to_strides(self):
        """Returns how to mend strides of which the last is not 1, or another is no multiple of 16 bytes."""
        if self.strides[-1] == 1:
            per = 16 // math.gcd(16, self.base.dtype.itemsize)
            odd = next((s for s in self.strides[:-1] if s % per), 0)
            return f"; pad {odd} elements to {-(-odd // per) * per}, and pass a view of those that count" if odd else ""
        part = next((part for part in ("shape", "block_shape") if getattr(self, part)[-1] == 1), None)
        return (f"; {part} and strides look exchanged" if part else
                "; pass x.contiguous(), or the tensor before it is transposed and transpose the blocks in the kernel")

    def _check_kinds(self):
        if not hasattr(self.base, "data_ptr"):
            raise TypeError(f"base of {type(self).__name__} is a tensor, not of type {type(self.base).__name__}: the "
                            "order is base, shape, strides, block_shape")
        for part in ("shape", "strides", "block_shape"):
            value = getattr(self, part)
            if hasattr(value, "data_ptr") or isinstance(value, str) or not hasattr(value, "__len__"):
                is_array = hasattr(value, "data_ptr")
                hint = (": the order is base, shape, strides, block_shape" if is_array else
                        ": call it" if callable(value) else f": [{value}]" if isinstance(value, int) else "")
                raise TypeError(f"{part} of {type(self).__name__} is a list of numbers, one for each axis, not "
                                f"{'a tensor' if is_array else repr(value)}{hint}")
            for n in value:
                if not hasattr(n, "__index__"):
                    way = ": write a // b to divide integers" if isinstance(n, float) else ""
                    raise TypeError(f"{part} of {type(self).__name__} has integers, not {n!r}{way}")

    def __post_init__(self):
        self._check_kinds()
        rank = len(self.shape)
        assert len(self.strides) == rank and len(self.block_shape) == rank, \
            (f"rank mismatch: shape {list(self.shape)}, strides {list(self.strides)} and block_shape "
             f"{list(self.block_shape)} have one entry per axis: give block_shape {rank} entries, 1 for an axis of which "
             "a block has one row, or pass a view of the tensor with fewer axes")
        assert 0 < rank <= 5, f"rank must be 1 to 5: the shape {list(self.shape)} has {rank} axes"
        off = self.base.data_ptr() % 16
        assert off == 0, f"base must be 16-byte aligned, and lies {off} bytes after such an address: pass x.clone()"
        for n in self.block_shape:
            if n <= 0 or n & (n - 1):
                raise ValueError(f"Shape element {n} of a block must be a power of 2: {self._shown()}")
        size = self.base.dtype.itemsize
        way = self._way_to_strides()
        assert all(s * size % 16 == 0 for s in self.strides[:-1]), \
            f"strides must be 16-byte aligned, and an element has {size} bytes: {self._shown()}{way}"
        assert all(n > 0 for n in self.shape), f"shape must be positive: {self._shown()}"
        assert self.strides[-1] == 1, \
            f"Last dimension must be contiguous, with a stride of 1: {self._shown()}{way}"
        assert self.padding in ("zero", "nan"), \
            f"Illegal value for padding: it is 'zero' or 'nan', not {self.padding!r}"
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
        if not hasattr(tensor, "stride"):
            raise TypeError(f"TensorDescriptor.from_tensor takes a tensor, not a value of type {type(tensor).__name__}"
                            ": the order is tensor, block_shape")
        return cls(tensor, tensor.shape, tensor.stride(), block_shape, padding)
