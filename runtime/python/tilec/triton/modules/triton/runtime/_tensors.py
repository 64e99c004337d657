"""Objects that stand for tensors: one read as another type, and one that is not there."""


class TensorWrapper:
    """A tensor whose elements are read as another type of the same size."""

    def __init__(self, base, dtype):
        self.base, self.dtype = base, dtype
        self.data, self.device, self.shape, self.is_cuda = base.data, base.device, base.shape, base.is_cuda

    def data_ptr(self):
        return self.base.data_ptr()

    def stride(self, *args):
        return self.base.stride(*args)

    def element_size(self):
        return self.base.element_size()

    def numel(self):
        return self.base.numel()

    def is_contiguous(self):
        return self.base.is_contiguous()

    def untyped_storage(self):
        return self.base.untyped_storage()

    def cpu(self):
        return TensorWrapper(self.base.cpu(), self.dtype)

    def copy_(self, other):
        self.base.copy_(other.base)

    def clone(self):
        return TensorWrapper(self.base.clone(), self.dtype)

    def to(self, device):
        return TensorWrapper(self.base.to(device), self.dtype)

    def new_empty(self, sizes):
        return TensorWrapper(self.base.new_empty(sizes), self.dtype)

    def __str__(self):
        return f"TensorWrapper[{self.dtype}]({self.base})"


def reinterpret(tensor, dtype):
    if isinstance(tensor, TensorWrapper):
        return tensor.base if dtype == tensor.base.dtype else TensorWrapper(tensor.base, dtype)
    if hasattr(tensor, "data_ptr"):
        return TensorWrapper(tensor, dtype)
    raise TypeError(f"Cannot reinterpret a {type(tensor)}.")


class MockTensor:
    """Stands for a tensor where nothing is launched."""

    def __init__(self, dtype, shape=None, address=16):
        self.dtype, self.shape, self.address = dtype, shape or [1], address   # 16: it is aligned

    @staticmethod
    def wrap_dtype(value):
        is_dtype = type(value).__name__ == "dtype" and type(value).__module__ == "torch"
        return MockTensor(value) if is_dtype else value

    def stride(self):
        strides = [1]
        for n in self.shape[:0:-1]:
            strides.append(strides[-1] * n)
        return tuple(reversed(strides))

    def data_ptr(self):
        return self.address

    @staticmethod
    def ptr_range():
        return 0
