"""Objects that parameters cannot take, and attributes that objects do not have: each exception's text, a line each."""
import array
import warnings
from dataclasses import dataclass

import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def k(x_ptr, n, C: tl.constexpr):
    tl.store(x_ptr + n, tl.load(x_ptr + n) + 1.0)


@dataclass
class Options:
    block: int = 128


class Dtype:
    itemsize = 4

    def __str__(self):
        return "float32"


class Array:
    """A tensor as PyTorch has them, of 4 x 8 floats."""

    def __init__(self, layout="torch.strided", shape=(4, 8), strides=(8, 1), is_nested=False):
        self.layout, self.shape, self.strides, self.is_nested = layout, shape, strides, is_nested
        self.is_cuda, self.dtype, self.owner = False, Dtype(), array.array("f", [0] * 36)

    def data_ptr(self):
        return (self.owner.buffer_info()[0] + 15) // 16 * 16

    def stride(self):
        return self.strides


class Batched(Array):

    def untyped_storage(self):
        raise NotImplementedError("Cannot access storage of BatchedTensorImpl\nmore of it")


class Wrapper(Array):
    """A subclass of torch.Tensor that wraps others."""

    def untyped_storage(self):
        return self

    def data_ptr(self):
        raise RuntimeError("Attempted to access the data pointer on an invalid python storage.")


class Proxy:
    """An object that has any attribute and no truth, as torch.fx traces with."""

    def __getattr__(self, name):
        return Proxy()

    def __bool__(self):
        raise RuntimeError("symbolically traced variables cannot be used as inputs to control flow")


Proxy.__module__ = "torch.fx.proxy"


def shown(name, call):
    try:
        print(f"{name}:", call())
    except BaseException as e:
        print(f"{name}: {type(e).__name__}: {e}")


x = tensor = Array()
shown("dataclass", lambda: k[(1,)](x, 0, Options()))
shown("in a tuple", lambda: k[(1,)](x, 0, (1, Options())))
shown("array", lambda: k[(1,)](x, 0, x))
shown("module", lambda: k[(1,)](x, 0, array))
shown("method", lambda: k[(1,)](x, 0, [].append))
shown("dict", lambda: k[(1,)](x, {}, 0))
shown("blocks", lambda: k[(1,)](Array("torch.sparse_bsr"), 0, 0))
shown("columns", lambda: k[(1,)](Array("torch.sparse_csc"), 0, 0))
shown("jagged", lambda: k[(1,)](Array("torch.jagged", is_nested=True), 0, 0))
shown("other layout", lambda: k[(1,)](Array("torch._mkldnn"), 0, 0))
shown("nested", lambda: k[(1,)](Array(is_nested=True), 0, 0))
shown("batched", lambda: k[(1,)](Batched(), 0, 0))
shown("wrapper", lambda: k[(1,)](Wrapper(), 0, 0))
shown("traced", lambda: k[(1,)](Proxy(), 0, 0))
shown("traced constant", lambda: k[(1,)](x, 0, (1, Proxy())))
for text in ("torch.qint8", "torch.uint4", "torch.complex64", "datetime64[ns]", "[('a', '<i4')]", "<U3", "float128"):
    other = Array()
    other.dtype = type("Named", (), {"__str__": lambda self, text=text: text})()
    shown("dtype", lambda: k[(1,)](other, 0, 0))
shown("no elements", lambda: k[(1,)](Array(shape=(0, 8)), 0, 0))
shown("tensor as grid", lambda: k[tensor](x, 0, 0))
shown("no grid", lambda: k[lambda meta: None](x, 0, 0))
shown("asm", lambda: k.asm)
shown("shared", lambda: triton.autotune([triton.Config({})], [])(k).shared)
shown("best_config", lambda: k.best_config)
compiled = k[(1,)](x, 0, 0)
shown("ptx", lambda: compiled.ptx)

shown("exchanged", lambda: TensorDescriptor(tensor, [8, 1], [4, 8], [4, 8]))
shown("block first", lambda: TensorDescriptor(tensor, [4, 8], [4, 8], [8, 1]))
shown("transposed", lambda: TensorDescriptor(Array(), [8, 4], [4, 8], [4, 8]))
shown("no tensor", lambda: TensorDescriptor([4, 8], tensor, [8, 1], [4, 8]))
shown("no shape", lambda: TensorDescriptor(tensor, tensor, [8, 1], [4, 8]))
shown("not called", lambda: TensorDescriptor(tensor, tensor.shape, tensor.stride, [4, 8]))
shown("number", lambda: TensorDescriptor.from_tensor(tensor, 16))
shown("order", lambda: TensorDescriptor.from_tensor([4, 8], tensor))

bench = triton.testing.Benchmark(["n"], [1], "provider", ["a"], ["A"], "plot", {})
shown("called", lambda: triton.testing.perf_report(bench)(shown)(1, "a"))
shown("attribute", lambda: triton.testing.perf_report(bench)(shown).rum)
shown("bare", lambda: triton.testing.perf_report(shown))
with warnings.catch_warnings():
    warnings.simplefilter("error")
    shown("warps", lambda: triton.Config({"BLOCK": 64, "num_warps": 8}))
    shown("stages", lambda: triton.Config({"num_stages": 4}, num_stages=2))
    shown("same", lambda: triton.Config({"num_warps": 4}))
    shown("left to it", lambda: triton.Config({"num_warps": 8}, num_warps=None))


@triton.jit
def biased(x_ptr, bias_ptr, out_ptr):
    if bias_ptr is not None:
        tl.store(out_ptr, tl.load(x_ptr) + tl.load(bias_ptr + tl.program_id(0)))


@triton.jit
def ranged(x_ptr, n, w_ptr):
    for i in range(n):
        tl.store(x_ptr + i, 1.0)


@triton.jit
def scaled(x_ptr, n, w_ptr):
    offs = tl.arange(0, 16)
    tl.store(x_ptr + offs, tl.load(x_ptr, mask=offs < n), mask=offs < n)


@triton.jit
def gathered(x_ptr, ids_ptr, w_ptr):
    tl.store(x_ptr + tl.load(ids_ptr), tl.load(w_ptr))


@triton.jit
def summed(xs, out_ptr):
    for i in tl.static_range(len(xs)):
        tl.store(out_ptr, tl.load(xs[i]))


config = triton.Config({"BLOCK": 64})
shown("constant", lambda: config.BLOCK)
shown("option", lambda: config["num_warps"])
shown("item", lambda: config["BLOCK"])
shown("called tuner", lambda: triton.autotune([config], [])(k)(x, 0, 0))
shown("called compiled", lambda: compiled(x, 0, 0))
shown("asm.ptx", lambda: compiled.asm.ptx)
shown("descriptor", lambda: TensorDescriptor.from_tensor(tensor, [4, 8]).dtype)
shown("False", lambda: biased[(1,)](x, False, x))
shown("one", lambda: biased[(1,)](x, 1, x))
shown("ranged", lambda: ranged[(1,)](x, x, 500))
shown("other order", lambda: scaled[(1,)](x, x, 500))
shown("float ids", lambda: gathered[(1,)](x, x, x))
shown("one tensor", lambda: summed[(1,)](x, x))
shown("list of one", lambda: gathered[(1,)]([x], x, x))
