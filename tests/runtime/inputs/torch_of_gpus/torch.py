"""The part of PyTorch that tilec.triton asks for gpus: two of them, and tensors of 32-bit integers by libtile's memory."""
import struct

import tilec

_current, _streams = [0], [0, 0]


class dtype:
    pass


class cuda:
    is_available = staticmethod(lambda: True)
    current_device = staticmethod(lambda: _current[0])

    @staticmethod
    def set_device(ordinal):
        _current[0] = ordinal


class _C:
    _cuda_getDevice = staticmethod(lambda: _current[0])
    _cuda_getCurrentRawStream = staticmethod(lambda ordinal: _streams[ordinal])


class Tensor:
    dtype, is_cuda = "torch.int32", True

    def __init__(self, *values):
        self.ordinal, self.shape = _current[0], (len(values),)
        self.memory = tilec.open_device(f"gpu:{self.ordinal}")
        self.address = self.memory.alloc(4 * len(values))
        self.memory.upload(self.address, struct.pack(f"{len(values)}i", *values))

    def data_ptr(self):
        return self.address

    def numel(self):
        return self.shape[0]

    def element_size(self):
        return 4

    def stride(self):
        return (1,)

    def tolist(self):
        self.memory.synchronize()
        return list(struct.unpack(f"{self.shape[0]}i", self.memory.download(self.address, 4 * self.shape[0])))


class HostTensor(Tensor):
    """In memory of the host; a gpu reaches it if it is pinned."""
    is_cuda, device = False, "cpu"

    def __init__(self, pinned, *values):
        super().__init__(*values)
        self.pinned = pinned

    def is_pinned(self):
        return self.pinned
