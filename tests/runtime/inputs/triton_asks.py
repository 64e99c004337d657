"""What programs ask of triton beside kernels, and constants that they compute by others' classes."""
import array
import importlib.util

import triton
import triton.language as tl
import triton.testing

BITS = 4


class Floats:
    dtype, device = "torch.float32", "cpu"

    def __init__(self, n):
        self.data, self.shape = array.array("f", [0] * n), (n,)

    def data_ptr(self):
        return self.data.buffer_info()[0]

    def numel(self):
        return len(self.data)

    def element_size(self):
        return self.data.itemsize

    def is_contiguous(self):
        return True


class Half:
    """PyTorch's float16, as far as the peak of a machine depends on it."""

    itemsize, is_floating_point = 2, True


class Whole:
    itemsize, is_floating_point = 4, False


def limits(self, bits):
    self.max, self.tiny = 2.0 ** bits, 2.0 ** -bits


Info = type("Info", (), {"__init__": limits})   # a class without source, as those written in C


@triton.jit
def put(x, N: tl.constexpr):
    LARGEST: tl.constexpr = Info(3).max + Info(BITS).tiny
    tl.store(x + tl.arange(0, N), LARGEST + tl.zeros([N], tl.float32))


x = Floats(4)
put[(1,)](x, 4)
print("limits:", x.data.tolist())
BITS = 1
try:
    put[(1,)](x, 4)
except RuntimeError as e:
    print(str(e)[:28])


def found(name):
    spec = importlib.util.find_spec(name)
    if spec is None:
        return None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.rsqrt


print("found:", found("triton.language.nothing"), found("triton.language.extra.libdevice") is tl.extra.libdevice.rsqrt)
try:
    import triton.nothing   # noqa: F401
except ModuleNotFoundError as e:
    print("import:", e)
print("peak:", triton.testing.get_max_simd_tflops(Half, 1000000) > 0)
try:
    triton.testing.get_max_simd_tflops(Whole, 1000000)
except RuntimeError as e:
    print("peak:", e)
try:
    print("nvsmi:", type(triton.testing.nvsmi(["clocks.max.sm"])[0]).__name__)
except OSError:
    print("nvsmi: int")   # no driver on this machine
