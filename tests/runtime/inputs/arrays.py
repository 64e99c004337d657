"""Arrays that give no more than an interface, and numbers that are not Python's own: what the kernel gets of them."""
import ctypes
import enum
import numbers

import tile
from tilec._arrays import DLTensor as _DLTensor, num_bytes

device = tile.open_device("sim")


class Array:
    """16 floats in the simulator's memory, seen as `shape` with `strides` in elements (None: dense)."""

    def __init__(self, shape, strides=None):
        self.data, self.own_shape, self.own_strides = device.alloc(64), shape, strides
        self.fill([float(i) for i in range(16)])

    def fill(self, values):
        device.upload(self.data, (ctypes.c_float * 16)(*values))

    def values(self):
        device.synchronize()
        return list((ctypes.c_float * 16).from_buffer_copy(device.download(self.data, 64)))


class Interface(Array):
    nbytes, order = 64, "<"

    @property
    def __cuda_array_interface__(self):
        strides = None if self.own_strides is None else tuple(4 * s for s in self.own_strides)
        return {"typestr": f"{self.order}f4", "data": (self.data, False), "shape": self.own_shape, "strides": strides, "version": 3}


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class DLPack(Array):
    memory = 2

    def __dlpack_device__(self):
        return self.memory, 0

    def __dlpack__(self, stream=None):
        rank = len(self.own_shape)
        self.kept = (ctypes.c_int64 * rank)(*self.own_shape), (ctypes.c_int64 * rank)(*self.own_strides) if self.own_strides else None
        self.tensor = _DLTensor(self.data, self.memory, 0, rank, 2, 32, 1, self.kept[0], self.kept[1], 0)
        return new_capsule(ctypes.addressof(self.tensor), b"dltensor", None)


class Integral:
    """As NumPy's integers are."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value

    def __float__(self):
        return float(self.value)


numbers.Integral.register(Integral)


class Real:
    def __float__(self):
        return 0.25


numbers.Real.register(Real)


class Bool:
    dtype = "bool"

    def __init__(self, value):
        self.value = value

    def __bool__(self):
        return self.value

    def __float__(self):
        return float(self.value)


class Mode(str, enum.Enum):
    A = "a"


class Size(enum.IntEnum):
    FOUR = 4


program = tile.loads("""import triton, triton.language as tl
@triton.jit
def copy(src, dst, BM: tl.constexpr, BN: tl.constexpr):
    dst.store([0, 0], src.load([0, 0]))
@triton.jit
def put(out, flag, n, x, MODE: tl.constexpr, WIDE: tl.constexpr):
    tl.store(out, tl.where(flag, n, -1.0))
    tl.store(out + 1, x)
    if MODE == 'a':
        tl.store(out + 2, (WIDE >> 60).to(tl.float32) if isinstance(WIDE, tl.tensor) else WIDE // 1152921504606846976)
@triton.jit
def streamed(out, stream, num_warps: tl.constexpr):
    tl.store(out, stream + num_warps)
""", device=device, cache=False, name="arrays.py")
spread = [float(i) for i in (0, 1, 2, 3, 8, 9, 10, 11)]
for kind in (Interface, DLPack):
    for strides, expected in ((None, [float(i) for i in range(8)]), ((8, 1), spread)):
        array, out = kind((2, 4), strides), kind((2, 4))
        program.copy[1](tile.desc(array, [2, 4]), tile.desc(out, (Integral(2), Size.FOUR)), 2, 4)
        assert out.values()[:8] == expected, (kind, strides, out.values())
array, raw = Array((2, 4)), Array((2, 4))
program.copy[Integral(1)](tile.desc(tile.ptr(array.data, "fp32"), [2, 4], shape=[2, 4], strides=[8, 1]), tile.desc(tile.ptr(raw.data, "fp32"), [2, 4], shape=[2, 4]), Integral(2), Size.FOUR)
assert raw.values()[:8] == spread
print("strides ok")

out = Interface((16,))
for again in range(2):
    for flag, n, x, wide, expected in ((Bool(True), Integral(3), Real(), 1 << 63, [3.0, 0.25, 8.0]), (Bool(False), 7, 2.0, Integral(5 << 60), [-1.0, 2.0, 5.0]), (True, 7, Size.FOUR, (1 << 64) - 1, [7.0, 4.0, 15.0]), (True, 7, 2.0, tile.constexpr(Size.FOUR), [7.0, 2.0, 0.0])):
        program.put[1](out, flag, n, x, Mode.A, wide)
        assert out.values()[:3] == expected, (expected, out.values()[:3])
        program.streamed[1](out, stream=5, num_warps=2)
        assert out.values()[0] == 7.0, out.values()[0]
        program.streamed[1](out, 6, num_warps=4)
        assert out.values()[0] == 10.0
print("numbers ok")

gaps = Interface((4, 2), (4, 1))
assert num_bytes(gaps) == 0 and num_bytes(out) == 64


def fails(what, launch):
    try:
        launch()
    except what as e:
        print("refused:", e)
    else:
        raise AssertionError("it went through")


big = Interface((4,))
big.order = ">"
odd = Interface((4, 4), (1.5, 1))
fails(TypeError, lambda: program.put[1](big, True, 1, 1.0, "b", 1))
fails(ValueError, lambda: tile.desc(odd, [4, 4]))
fails(TypeError, lambda: tile.desc(tile.ptr(out.data, "fp32"), [4, 4]))
fails(OverflowError, lambda: tile.desc(out, [4], shape=[1 << 64]))
fails(OverflowError, lambda: program.put[1](out, True, 1, 1.0, "b", 1, num_warps=(1 << 32) + 4))
fails(TypeError, lambda: program.put[1](out, True, 1, 1.0, "b", 1, num_warps=4.0))
fails(AttributeError, lambda: tile.Program.__new__(tile.Program).kernels)
print("all done")
