"""A tensor of integers on the host, for machines without PyTorch."""
import array


class Ints:
    dtype, device, is_cuda = "torch.int32", "cpu", False

    def __init__(self, *values):
        self.data = array.array("i", values)
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
