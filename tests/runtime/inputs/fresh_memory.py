"""Host memory that nothing has written, as PyTorch's empty tensors have it on the simulator."""
import array
import sys
import types

import tilec
from tilec import _fresh

# The parts that are written, of 64 bytes at an address that is no multiple of 16.
data = bytearray((_fresh._PATTERN * 6)[4:68])
print("none:", list(_fresh.written(bytes(data), 4)))
data[20:24] = b"abcd"
print("some:", list(_fresh.written(bytes(data), 4)))
print("all:", list(_fresh.written(bytes(64), 4)), list(_fresh.written(bytes(data), 5)))
print("long:", list(_fresh.written(b"x" + _fresh._LONG * 2 + _fresh._PATTERN + b"y", 15)))


class Storage:
    def __init__(self, size):
        self.bytes = array.array("B", bytes(size))

    def data_ptr(self):
        return self.bytes.buffer_info()[0]

    def nbytes(self):
        return len(self.bytes)


class Cpu(str):
    type = "cpu"


class Tensor:
    device, layout, dtype, ndim = Cpu("cpu"), "strided", "torch.float32", 1

    def __init__(self, n):
        self.storage, self.shape, self.n = Storage(4 * n), (n,), n

    def new_empty(self, n):
        return Tensor(n)

    new_empty_strided = new_empty

    def untyped_storage(self):
        return self.storage

    def data_ptr(self):
        return self.storage.data_ptr()

    def stride(self):
        return (1,)

    def numbers(self):
        return list(array.array("f", self.storage.bytes.tobytes()))


# A word that holds the pattern counts where the storage was filled, and while it lives.
storage = Storage(12)
address = storage.data_ptr()
word = bytes(8) + _fresh._PATTERN[(address + 8) % 16:][:4]
print("by chance:", list(_fresh.written(word, address)))
_fresh._fill(storage)
print("one word:", list(_fresh.written(word, address)))
del storage
print("freed:", list(_fresh.written(word, address)))

# As much of PyTorch as makes empty tensors.
torch = types.SimpleNamespace(
    Tensor=Tensor, empty=Tensor, empty_like=lambda t: Tensor(t.n), empty_strided=lambda n, s: Tensor(n),
    strided="strided", compiler=types.SimpleNamespace(is_compiling=lambda: False),
    cuda=types.SimpleNamespace(is_available=lambda: False))
sys.modules["torch"] = torch
_fresh.watch()
_fresh.watch()   # the second time changes nothing
print("filled:", [all(x != x for x in t.numbers()) for t in (
    torch.empty(8), torch.empty_like(Tensor(8)), torch.empty_strided(8, 1), Tensor(8).new_empty(8))])


class Hidden:
    """The storage of a tensor of torch.vmap, or, if it has a size, of one that is traced."""

    def __init__(self, size):
        self.size = size

    def data_ptr(self):
        if self.size is None:
            raise NotImplementedError("Cannot access storage of BatchedTensorImpl")
        return 0

    def nbytes(self):
        return self.size


def hidden(size):
    tensor = Tensor(8)
    tensor.storage = Hidden(size)
    return tensor


# Such a tensor is made, and left alone.
print("without memory:", [_fresh._filling(torch, hidden)(size).shape for size in (None, 32)])
print("made:", all(x == 0 for x in Tensor(8).numbers()))

text = """
@kernel
def adds(x: *fp32, n: i32, BLOCK: constexpr = 64):
    i = arange(0, BLOCK)
    store(x + i, load(x + i) + 1, i < n)

@kernel
def sets(x: *fp32, n: i32, BLOCK: constexpr = 64):
    i = arange(0, BLOCK)
    store(x + i, 1.0, i < n)
"""


def launch(kernel, x, n):
    with tilec.open_device("sim") as device:
        try:
            getattr(tilec.loads(text, name="fresh.tile", device=device), kernel)[(1,)](x, n)
        except tilec.Error as e:
            print("  ", str(e).splitlines()[0])
            print("  ", str(e).splitlines()[-1])
    return x.numbers()


x = torch.empty(64)
print("adds:")
launch("adds", x, 64)
print("sets:", launch("sets", x, 32)[:32] == [1.0] * 32)
print("adds to what is set:", launch("adds", x, 32)[:32] == [2.0] * 32)
print("adds to more:")
launch("adds", x, 64)

# The load that such a value comes from, and where other programs of the launch store to the same array.
text = """
@kernel
def smooths(x: *fp32, n: i32, BLOCK: constexpr = 64):
    pid = program_id(0)
    store(x + pid, pid.to(fp32))
    if load(x + pid + 1) > 0:
        store(x + n + pid, 1.0)

@kernel
def counts(x: *fp32, n: i32, BLOCK: constexpr = 64):
    atomic_add(x + n + arange(0, BLOCK), 1.0)

@kernel
def reduces(x: *fp32, n: i32, BLOCK: constexpr = 64):
    total = sum(load(x + n + arange(0, BLOCK)))
    store(x, total)
"""


def shows(kernel, n, grid):
    with tilec.open_device("sim") as device:
        try:
            getattr(tilec.loads(text, name="fresh.tile", device=device), kernel)[(grid,)](torch.empty(512), n)
        except tilec.Error as e:
            print(kernel + ":")
            for line in str(e).splitlines():
                if "note: " in line or " error: " in line:
                    print("  ", line)


shows("smooths", 256, 4)
shows("counts", 16, 1)
shows("reduces", 128, 1)
