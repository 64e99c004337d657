"""What programs ask of triton beside kernels, and constants that they compute by others' classes."""
import importlib.util
import sys
import types

import triton
import triton.language as tl
import triton.testing

from ints import Numbers

BITS = 4


class Floats(Numbers):
    dtype, code = "torch.float32", "f"


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


x = Floats(*[0] * 4)
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


class finfo:   # PyTorch's, as far as a kernel reads it
    def __init__(self, dtype):
        if not dtype.startswith("float"):
            raise TypeError(dtype)
        self.bits, self.max, self.dtype = int(dtype[5:]), 65504.0, dtype


class iinfo:
    def __init__(self, dtype):
        if not dtype.startswith("int"):
            raise TypeError(dtype)
        self.bits, self.min = int(dtype[3:]), -1 << int(dtype[3:]) - 1


finfo.__module__ = iinfo.__module__ = "torch"
torch = types.ModuleType("torch")
vars(torch).update(finfo=finfo, iinfo=iinfo, float16="float16", float32="float32", int8="int8", int32="int32")


@triton.jit
def largest(x, D: tl.constexpr, I: tl.constexpr):
    info = torch.finfo(D)
    tl.store(x, info.max if info.bits == 16 else 1.0)
    tl.store(x + 1, torch.iinfo(I).min)
    tl.store(x + 2, torch.finfo(x.dtype.element_ty).bits)
    tl.store(x + 3, torch.iinfo(torch.int8).bits)


sys.modules["torch"] = torch
for dtypes in ((tl.float16, tl.int8), (tl.float32, tl.int32), (tl.float32, tl.float16)):
    try:
        largest[(1,)](x, *dtypes)
        print("limits:", x.data.tolist())
    except triton.CompilationError as e:
        print("limits:", str(e).replace("\n", " "))


@triton.must_use_result("it writes nothing")
@triton.jit
def negated(x):
    return -x


@triton.jit
def forgets(x):
    _ = negated(tl.load(x))
    negated(tl.load(x))


try:
    forgets[(1,)](x)
except triton.CompilationError as e:
    print("forgotten:", str(e).replace("\n", " "))
