"""On a gpu (here: the stub), a tensor in the host's memory is refused by name, the first time and when its type is known."""
import ctypes

import tile
from tilec._arrays import DLTensor as _DLTensor

SOURCE = """import triton, triton.language as tl
@triton.jit
def fill(out, n, B: tl.constexpr):
    tl.store(out + tl.arange(0, B), n)
"""


class Tensor:
    dtype = "torch.float32"

    def __init__(self, is_cuda):
        self.is_cuda, self.device = is_cuda, "cuda:0" if is_cuda else "cpu"

    def data_ptr(self):
        return 4096


fill = tile.loads(SOURCE, name="fill.py", device="gpu", cache=False).fill
for is_cuda in (False, True, True, False, True):
    try:
        fill[1](Tensor(is_cuda), 16, 32)
        print("launched")
    except TypeError as e:
        print("refused:", e)


class DLPack:
    """Only DLPack, in memory of kind 2 (a gpu's) or 1 (the host's)."""

    def __init__(self, memory):
        self.memory = memory

    def __dlpack_device__(self):
        return self.memory, 0

    def __dlpack__(self, stream=None):
        self.tensor = _DLTensor(4096, self.memory, 0, 0, 2, 32, 1, None, None, 0)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.tensor), b"dltensor", None)


for memory in (1, 2, 2, 1, 2):
    try:
        fill[1](DLPack(memory), 16, 32)
        print("launched")
    except TypeError as e:
        print("refused:", e)
