"""Tensors of the host, for machines without PyTorch."""
import array


class Numbers:
    """As an object around a tensor: it does not say is_cuda."""

    dtype, device, code = "torch.int32", "cpu", "i"

    def __init__(self, *values):
        self.data = array.array(self.code, values)
        self.shape = (len(values),)

    def data_ptr(self):
        return self.data.buffer_info()[0]

    def numel(self):
        return len(self.data)

    def element_size(self):
        return self.data.itemsize

    def is_contiguous(self):
        return True

    def stride(self):
        return (1,)


class Ints(Numbers):
    is_cuda = False
