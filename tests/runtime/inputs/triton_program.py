"""A program that knows nothing of tilec: its kernels and host code are Triton's. Its arrays lie in the host's memory."""
import array
import collections
import pickle

import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.tools.tensor_descriptor import TensorDescriptor

SCALE = tl.constexpr(3)
OFFSETS = tl.constexpr((1, 2))
WIDE: tl.constexpr = tl.float32


class Dtype:
    """PyTorch's float32, as far as a kernel asks."""

    itemsize, is_floating_point = 4, True

    def __str__(self):
        return "torch.float32"


class Tensor:
    dtype, is_cuda, device = Dtype(), False, "cpu"

    def __init__(self, values, *shape):
        self.values, self.shape = array.array("f", values), shape or (len(values),)

    def data_ptr(self):
        return self.values.buffer_info()[0]

    def stride(self):
        return (self.shape[1], 1) if len(self.shape) == 2 else (1,)

    def zero_(self):
        self.values[:] = array.array("f", [0.0] * len(self.values))


@triton.jit
def relu(x):
    return tl.maximum(x, 0.0)


@triton.constexpr_function
def half(n):
    return n // 2


@triton.jit
def scaled(x, act: tl.constexpr):
    return act(x) * SCALE + OFFSETS[0]


@triton.autotune(configs=[triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 256}, num_warps=2)], key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def kernel(x, y, n, ACT: tl.constexpr, EVEN: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = None if EVEN else offs < n
    tl.store(y + offs, scaled(tl.load(x + offs, mask=mask), ACT), mask=mask)


def made(power):
    """Kernels may come from a function, and see its variables."""
    @triton.jit
    def raised(x, y, N: tl.constexpr):
        offs = tl.arange(0, half(N))
        v = tl.load(x + offs).to(WIDE)
        for _ in tl.static_range(power - 1):
            v *= tl.load(x + offs)
        tl.store(y + offs, v)
    return raised


Pair = collections.namedtuple("Pair", ["src", "by"])


@triton.jit
def paired(pair, y, N: tl.constexpr, dtype: tl.constexpr = tl.float32):
    tl.static_print("pairs of", N)
    spare = 1   # noqa: F841  (no warning, as in Triton)
    offs = tl.arange(0, N)
    tl.store(y + offs, (tl.load(pair.src + offs) * pair.by).to(dtype))


@triton.jit
def described(src, dst, M: tl.constexpr, N: tl.constexpr):
    dst.store([0, 0], libdevice.pow(src.load([0, 0]), tl.full([M, N], 2.0, tl.float32)))


@triton.jit
def wrong(x, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(x + offs, nothing)


@triton.jit
def large(x, y, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    a = tl.load(x + offs[:, None] * BLOCK + offs[None, :])
    tl.store(y + offs[:, None] * BLOCK + offs[None, :], tl.dot(a, a))


def fails(launch):
    try:
        launch()
    except Exception as e:
        print(f"{type(e).__name__}: {e}")
        return e
    raise AssertionError("it went through")


x, y = Tensor([float(i - 500) for i in range(1000)]), Tensor([0.0] * 1000)
for again in range(2):
    compiled = kernel[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](x, y, 1000, ACT=relu)
    assert list(y.values) == [max(v, 0.0) * 3 + 1 for v in x.values]
print("tuned", kernel.best_config)
assert compiled.metadata.num_warps == 4 and not compiled._known_kernel, "its metadata compiled it once more"
assert ".entry kernel" in compiled.asm["ptx"] and "ttir" not in compiled.asm
assert compiled.metadata.target.backend == "cuda"

for power in (2, 3):
    made(power)[(1,)](x, y, 64)
    assert all(abs(got / v ** power - 1) < 1e-6 for got, v in zip(y.values[:32], x.values)), power
paired[(1,)](Pair(x, 2.5), y, 64)
assert list(y.values)[:64] == [v * 2.5 for v in list(x.values)[:64]]
paired[(1,)](Pair(x, 2.5), y, 64, dtype=tl.int32)
assert list(y.values)[:64] == [int(v * 2.5) for v in list(x.values)[:64]], "a dtype as a constant"
a, b = Tensor([float(i) for i in range(256)], 16, 16), Tensor([0.0] * 256, 16, 16)
described[(1,)](TensorDescriptor.from_tensor(a, [16, 16]), TensorDescriptor.from_tensor(b, [16, 16]), 16, 16)
assert all(abs(got - v * v) <= 1e-6 * v * v for got, v in zip(b.values, a.values)), b.values
print("right")

assert pickle.loads(pickle.dumps(relu)) is relu and triton.next_power_of_2(1000) == 1024
assert tl.constexpr(4) + 1 == 5 and tl.float16.primitive_bitwidth == 16 and tl.int8.get_int_max_value() == 127
warm = made(2).warmup(triton.MockTensor(tl.float32), triton.MockTensor(tl.float32), 64, grid=(1,))
assert warm.n_spills == 0

seen = []
triton.knobs.runtime.launch_enter_hook.add(lambda metadata: seen.append(metadata.get()["name"]))
paired[(1,)](Pair(x, 2.0), y, 64)
triton.knobs.runtime.launch_enter_hook.calls.clear()
print("hook saw", seen)

e = fails(lambda: wrong[(1,)](x, 16))
assert isinstance(e, triton.CompilationError)
fails(lambda: wrong(x))
fails(lambda: paired[(1,)](Pair(x, 2.0), y))
fails(lambda: paired[(1,)](Pair(x, 2.0), y, 64, what=1))
fails(lambda: tl.sum(x))
fails(lambda: tl.cdiv(1000, 64))
if not triton.knobs.runtime.interpret:   # the interpreter has room for everything
    e = fails(lambda: large[(1,)](Tensor([0.0] * 65536), Tensor([0.0] * 65536), 256, num_warps=1))
    assert e.required > e.limit and e.name == "shared memory"
SCALE = tl.constexpr(4)
fails(lambda: kernel[(4,)](x, y, 1000, ACT=relu))
