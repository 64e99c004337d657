import array
import sys

import tile

device = tile.open_device("sim")


class Tensor:
    """What the module needs of a tensor, over the simulator's memory."""

    def __init__(self, values, dtype, shape):
        self.code = {"torch.float32": "f", "torch.float16": "e"}[dtype]
        self.dtype, self.shape, self.count = dtype, shape, len(values)
        self.data = device.alloc(max(len(values) * 4, 16))
        device.upload(self.data, pack(self.code, values))

    def data_ptr(self):
        return self.data

    def values(self):
        import struct
        size = struct.calcsize(self.code)
        return list(struct.unpack(f"<{self.count}{self.code}", device.download(self.data, self.count * size)))


def pack(code, values):
    import struct
    return struct.pack(f"<{len(values)}{code}", *values)


def f32(values, *shape):
    return Tensor(values, "torch.float32", shape)


examples = sys.argv[1]
program = tile.load(f"{examples}/vector_add.tile", device=device, cache=False)
n = 1000
x, y, out = f32([float(i) for i in range(n)]), f32([2.0 * i for i in range(n)]), f32([0.0] * n)
program.add[(1,)](x, y, out, n)
device.synchronize()
assert out.values() == [3.0 * i for i in range(n)]
raw = array.array("f", [0.0] * n)
device.upload(out.data, raw.tobytes())
program.add[lambda meta: (tile.cdiv(meta["n"], meta["BLOCK"]),)](x, tile.ptr(y.data, "fp32"), out=out, n=n, BLOCK=256, num_warps=2)
device.synchronize()
assert out.values() == [3.0 * i for i in range(n)]
print("add ok")

matmul = tile.load(f"{examples}/matmul.tile", device=device, cache=False).matmul_kernel
M, N, K = 32, 48, 40
a = Tensor([float(i % 7 - 3) for i in range(M * K)], "torch.float16", (M, K))
b = Tensor([float(i % 5 - 2) for i in range(K * N)], "torch.float16", (K, N))
c = Tensor([0.0] * (M * N), "torch.float16", (M, N))
grid = lambda meta: (tile.cdiv(M, meta["BM"]) * tile.cdiv(N, meta["BN"]),)
for again in range(2):
    matmul[grid](a, b, c, M, N, K, K, 1, N, 1, N, 1, BM=32, BN=32, BK=32, GROUP=8, num_warps=4, num_stages=2)
device.synchronize()
av, bv = a.values(), b.values()
assert c.values() == [float(sum(av[i * K + k] * bv[k * N + j] for k in range(K))) for i in range(M) for j in range(N)]
print(f"matmul ok, {matmul.num_variants} variant")

move = tile.loads("""
@kernel
def move(src, dst, BM: constexpr, BN: constexpr):
    dst.store([program_id(0) * BM, 0], src.load([program_id(0) * BM, 4]))
""", device=device, cache=False).move
src, dst = f32([float(i) for i in range(64)], 8, 8), f32([0.0] * 32, 8, 4)
move[2](tile.desc(src, [4, 4]), tile.desc(dst, [4, 4]), BM=4, BN=4)
device.synchronize()
assert dst.values() == [float(i // 4 * 8 + 4 + i % 4) for i in range(32)]
print("copy ok")

steps = []
double = tile.loads("""
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"B": b}, num_warps=w) for b, w in ((32, 1), (64, 2))], key=["n"])
@triton.jit
def double(x, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + o, 2 * tl.load(x + o, mask=o < n), mask=o < n)
""", device=device, cache=False, tune="on", on_event=lambda kind, *rest: steps.append(kind)).double
x.nbytes = n * 4
for again in range(3):
    double[lambda meta: (tile.cdiv(meta["n"], meta["B"]),)](x, n)
device.synchronize()
assert x.values() == [8.0 * i for i in range(n)] and steps.count("tune_step") == 2
print("tuned ok")

hooked = tile.loads("""
import triton
import triton.language as tl


def before(args):
    assert args["x"].shape == (4, 8) and args["x"].stride(0) == 8 and args["x"].numel() == 32 and args["x"].is_contiguous()
    args["x"].fill_(args["n"] / 2)


@triton.autotune(configs=[triton.Config({"B": 32}, pre_hook=before)], key=[])
@triton.jit
def hooked(x, n, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), 7.0, mask=tl.arange(0, B) < n)
""", device=device, cache=False).hooked
shaped = f32([0.0] * 32, 4, 8)
shaped.nbytes, shaped.stride = 128, lambda: (8, 1)
for k in (3, 5, 3):
    hooked[1](shaped, k)
    device.synchronize()
    assert shaped.values() == [7.0] * k + [k / 2] * (32 - k)
print("hooks ok")

bad = Tensor([0.0] * 8, "torch.float32", (8,))
bad.dtype = "complex64"
for attempt in (lambda: program.add[(1,)](x, y, out), lambda: program.add[(1,)](x, y, out, m=3), lambda: program.add[(1,)](x, y, bad, n), lambda: program.sub):
    try:
        attempt()
        print("not refused")
    except (tile.Error, TypeError, AttributeError) as e:
        print("refused:", e)


class Interface:
    """Only the array interface."""

    def __init__(self, tensor):
        self.__cuda_array_interface__ = {"typestr": "<f4", "data": (tensor.data_ptr(), False), "shape": (tensor.count,), "strides": None, "version": 3}


class Raises:
    dtype = "torch.float32"

    def data_ptr(self):
        raise RuntimeError("this tensor is gone")


# What the launcher in C does alone the second time, and what it hands back.
blocks = []


def counted(meta):
    blocks.append(meta["BLOCK"])
    return tile.cdiv(meta["n"], meta["BLOCK"])


for again in range(3):
    for launch in (
        lambda: program.add[(tile.cdiv(n, 256), 1)](x, Interface(y), out, n, BLOCK=256),
        lambda: program.add[tile.cdiv(n, 256)](x, y, out, n, 256, num_warps=8, stream=None if again == 2 else 0),
        lambda: program.add[counted](x, y, out, n=n, BLOCK=256),
    ):
        device.upload(out.data, raw.tobytes())
        launch()
        device.synchronize()
        assert out.values() == [10.0 * i for i in range(n)]
assert blocks == [256] * 3
assert program.add.num_variants == 4
MODES = """import triton, triton.language as tl
@triton.jit
def pick(out, MODE: tl.constexpr, T: tl.constexpr, flag, x):
    tl.store(out, tl.cast(1.5, T).to(tl.float32) * x if MODE == 'a' else tl.where(flag, 7.0, 8.0))
"""
pick = tile.loads(MODES, device=device, cache=False).pick
for again in range(2):
    for mode, dtype, flag, factor, expected in (("a", "fp32", True, 2.0, 3.0), ("a", "i32", True, 2.0, 2.0), ("b", "fp32", True, 2.0, 7.0), ("b", "fp32", False, 2.0, 8.0)):
        pick[1](out, mode, tile.dtype(dtype), flag, factor)
        device.synchronize()
        assert out.values()[0] == expected, (mode, dtype, flag, out.values()[0])


def fails(what, launch):
    for again in range(2):
        try:
            launch()
        except what as e:
            text = str(e)
        else:
            raise AssertionError("it went through")
    print("refused:", text.splitlines()[0])


def bad_grid(meta):
    raise KeyError("no such meta")


fails(RuntimeError, lambda: program.add[(1,)](x, Raises(), out, n, 256))
fails(KeyError, lambda: program.add[bad_grid](x, y, out, n, BLOCK=256))
before = list(out.values())
for none in (0,), (1, 0), lambda meta: (0,):
    for again in range(2):
        program.add[none](out, out, out, n, BLOCK=256)
device.synchronize()
assert list(out.values()) == before
print("nothing launched")
fails(TypeError, lambda: program.add[(1,)](x, y, out, n, BLOCK=256, x=x))
fails(ValueError, lambda: program.add[(1, 1, 1, 1)](x, y, out, n, BLOCK=256))
fails(TypeError, lambda: program.add[(1,)](x, y, out, n, 256, warps=4))
fails(OverflowError, lambda: program.add[(1,)](x, y, out, 1 << 80, BLOCK=256))
forbidding = tile.load(f"{examples}/vector_add.tile", device=device, cache=False, policy="forbid").add
fails(tile.Error, lambda: forbidding[counted](x, y, out, n, BLOCK=256))
forbidding.warmup(x, y, out, n, BLOCK=256)
forbidding[counted](x, y, out, n, BLOCK=256)
print("launcher ok")
print("all done")
