#!/usr/bin/env python3
"""Matrix products against float64, on the GPU, the simulator or the interpreter, through libtile's Python module.

usage: right.py [--device gpu|sim|interp] [--full] [--suite pointers,descriptors,grouped,guide,persistent] [--only TEXT] [-j N] [--seeds FOLDER]

pointers, descriptors   examples/matmul.tile and matmul_descriptors.tile in every type, at ragged sizes
grouped                 examples/matmul_grouped.tile: tensor maps that the kernel writes, one set per product
guide                   the products of the practice guide, from its own text, at multiples of their blocks
persistent              the notebook's persistent product, from its own text, every configuration of its autotune list with that
                        configuration's own hook; fp16 and fp8
The bound c is for K up to 2000 and grows with K from there, for a tensor core truncates every sum. Off the GPU sizes end at 208×416×304 (127 without --full). Memory between rows holds NaNs and must come back untouched. An element may be off by
u·|exact| + c·r, where u is the output's precision, r the root of the sum of squared products, c what the operands' type costs.
TILE_LIBRARY names libtile.so (default: that of a build folder). On the GPU it needs PyTorch, elsewhere nothing."""
import argparse
import itertools
import math
import multiprocessing
import os
import random
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import types

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(ROOT, "runtime", "python"), os.path.join(ROOT, "tests", "conformance")]
import expect  # noqa: E402
from tile_ctypes import library_path  # noqa: E402

# operands, accumulator, result, precision, c
TYPES = {
    "fp16": ("fp16", "fp32", "fp16", None, 2 ** -12),
    "fp16_acc": ("fp16", "fp16", "fp16", None, 2 ** -5),
    "bf16": ("bf16", "fp32", "bf16", None, 2 ** -12),
    "tf32": ("fp32", "fp32", "fp32", "tf32", 2 ** -7),
    "ieee": ("fp32", "fp32", "fp32", "ieee", 2 ** -16),
    "tf32x3": ("fp32", "fp32", "fp32", "tf32x3", 2 ** -14),
    "bf16x3": ("fp32", "fp32", "fp32", "bf16x3", 2 ** -12),
    "bf16x6": ("fp32", "fp32", "fp32", "bf16x6", 2 ** -14),
    "fp64": ("fp64", "fp64", "fp64", None, 2 ** -44),
    "int8": ("i8", "i32", "i32", None, 0.0),
    # The tensor cores' fp8 sums keep about 14 bits.
    "e4m3": ("fp8e4nv", "fp32", "fp16", None, 2 ** -6),
    "e5m2": ("fp8e5", "fp32", "fp16", None, 2 ** -6),
}
PRECISION = {"fp64": 2 ** -52, "fp32": 2 ** -23, "fp16": 2 ** -11, "bf16": 2 ** -8, "fp8e4nv": 2 ** -4, "fp8e5": 2 ** -3, "i32": 0.0}
TEXT = {"fp16": "float16", "fp32": "float32", "fp64": "float64", "i32": "int32"}
SMALL = [(1, 1, 1), (17, 17, 17), (127, 127, 127), (208, 416, 304)]
LARGE = [(2000, 1000, 2000), (4096, 4096, 4096)]
GUARD = 64   # elements after each matrix


def size_of(dtype):
    return expect.bits(dtype) // 8


def padded(columns, dtype):
    each = 16 // size_of(dtype)
    return -(-columns // each) * each


class Matrix:
    """Rows of a device array; `exact` holds its values as doubles, in the form the backend computes with."""

    def __init__(self, address, dtype, rows, columns, stride, exact, storage):
        self.address, self.dtype, self.rows, self.columns, self.stride = address, dtype, rows, columns, stride
        self.exact, self.storage = exact, storage

    def data_ptr(self):
        return self.address


class PlainBackend:
    """Python's own numbers, and memory of the simulator or the interpreter."""

    def __init__(self, device):
        self.device, self.completed = device, 0

    def _new(self, dtype, rows, columns, stride, values, empty):
        bits, fill = expect.bits(dtype), self.filler(dtype)
        code = {8: "B", 16: "H", 32: "I", 64: "Q"}[bits]
        codes = {}
        data = [fill] * (rows * stride + GUARD)
        for i in range(0 if empty else rows):
            for j, v in enumerate(values[i]):
                if v not in codes:
                    codes[v] = expect.encode(dtype, v)
                data[i * stride + j] = codes[v]
        raw = struct.pack(f"<{len(data)}{code}", *data)
        address = self.device.alloc(len(raw))
        self.device.upload(address, raw)
        return Matrix(address, dtype, rows, columns, stride, values, len(raw))

    def filler(self, dtype):
        return expect.encode(dtype, math.nan) if expect.is_float(dtype) else (1 << expect.bits(dtype) - 1) - 1

    def random(self, dtype, rows, columns, stride, seed):
        r = random.Random(seed)
        draw = (lambda: r.randrange(-128, 128)) if dtype == "i8" else (lambda: expect.rnd(dtype, r.gauss(0, 1)))
        return self._new(dtype, rows, columns, stride, [[draw() for _ in range(columns)] for _ in range(rows)], False)

    def empty(self, dtype, rows, columns, stride):
        return self._new(dtype, rows, columns, stride, None, True)

    def free(self, *matrices):
        for m in matrices:
            self.device.free(m.address)

    def product(self, a, b):
        """The exact product and r, row by row."""
        columns = list(zip(*b.exact))
        squares = [[y * y for y in c] for c in columns]
        mul, exact, r = __import__("operator").mul, [], []
        for row in a.exact:
            exact.append([sum(map(mul, row, c)) for c in columns])
            row2 = [x * x for x in row]
            r.append([math.sqrt(sum(map(mul, row2, s))) for s in squares])
        return exact, r

    def worst(self, c, product, u, k, floor):
        """The largest error as a part of what is allowed, and how many elements outside the matrix were written."""
        data = self._read(c)
        fill = self.filler(c.dtype)
        # A TMA store completes the last 16 bytes of a row: the simulator does as the GPU.
        end = padded(c.columns, c.dtype) if self.device.kind == "sim" else c.columns
        outside = sum(data[i] != fill for i in range(len(data)) if i >= c.rows * c.stride or i % c.stride >= end)
        return self.compare([data[i * c.stride:i * c.stride + c.columns] for i in range(c.rows)], c.dtype, product, u, k, floor), outside

    def _read(self, c):
        self.device.synchronize()
        raw = self.device.download(c.address, c.storage)
        code = {8: "B", 16: "H", 32: "I", 64: "Q"}[expect.bits(c.dtype)]
        return struct.unpack(f"<{len(raw) // size_of(c.dtype)}{code}", raw)

    def rows(self, c, first, count, most):
        """Some rows of a dense matrix, and how many elements were written in those that follow, up to `most`."""
        data, fill, n = self._read(c), self.filler(c.dtype), c.columns
        return [data[i * n:(i + 1) * n] for i in range(first, first + count)], sum(x != fill for x in data[(first + count) * n:(first + most) * n])

    def compare(self, cells, dtype, product, u, k, floor):
        worst = 0.0
        for row, exact, r in zip(cells, *product):
            for code, want, size in zip(row, exact, r):
                e = abs(expect.decode(dtype, code) - want) / (u * abs(want) + k * size + floor)
                worst = max(worst, math.inf if e != e else e)
        return worst

    def integers(self, dtype, values):
        raw = struct.pack(f"<{len(values)}{'q' if dtype == 'i64' else 'i'}", *values)
        address = self.device.alloc(len(raw))
        self.device.upload(address, raw)
        return Matrix(address, dtype, 1, len(values), len(values), None, len(raw))


class TorchBackend:
    """PyTorch's arrays on the GPU."""

    def __init__(self):
        import torch
        self.torch, self.completed = torch, 0   # bytes written in the last 16 bytes of rows, after the matrix
        self.names = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32, "fp64": torch.float64, "i8": torch.int8,
                      "i32": torch.int32, "fp8e4nv": torch.float8_e4m3fn, "fp8e5": torch.float8_e5m2}

    def _storage(self, dtype, rows, stride):
        # All bits set is a NaN in every float type; an integer's array shows writes by it as well.
        return self.torch.full(((rows * stride + GUARD) * size_of(dtype),), 0xFF, dtype=self.torch.uint8, device="cuda")

    def _cells(self, storage, dtype, rows, columns, stride):
        """As integers: copies between strided fp8 arrays are not in every PyTorch."""
        whole = {1: self.torch.uint8, 2: self.torch.int16, 4: self.torch.int32, 8: self.torch.int64}[size_of(dtype)]
        return storage.view(whole)[: rows * stride].view(rows, stride)[:, :columns]

    def random(self, dtype, rows, columns, stride, seed):
        t = self.torch
        g = t.Generator(device="cuda").manual_seed(seed)
        x = t.randint(-128, 128, (rows, columns), generator=g, device="cuda") if dtype == "i8" else t.randn(rows, columns, generator=g, device="cuda", dtype=t.float64)
        x = x.float().to(self.names[dtype]) if size_of(dtype) < 4 and dtype != "i8" else x.to(self.names[dtype])
        storage = self._storage(dtype, rows, stride)
        cells = self._cells(storage, dtype, rows, columns, stride)
        cells.copy_(x.contiguous().view(cells.dtype))
        return Matrix(storage.data_ptr(), dtype, rows, columns, stride, x.double(), storage)

    def empty(self, dtype, rows, columns, stride):
        storage = self._storage(dtype, rows, stride)
        return Matrix(storage.data_ptr(), dtype, rows, columns, stride, None, storage)

    def free(self, *matrices):
        pass

    def product(self, a, b):
        return a.exact @ b.exact, ((a.exact ** 2) @ (b.exact ** 2)).sqrt()

    def worst(self, c, product, u, k, floor):
        t = self.torch
        t.cuda.synchronize()
        rows = c.storage[: c.rows * c.stride * size_of(c.dtype)].view(c.rows, -1)
        # A TMA store may complete the last 16 bytes of a row: those are looked at, but are no error here.
        unit = padded(c.columns, c.dtype) * size_of(c.dtype)
        self.completed += int((rows[:, c.columns * size_of(c.dtype):unit] != 0xFF).sum().item())
        outside = (rows[:, unit:] != 0xFF).sum() + (c.storage[rows.numel():] != 0xFF).sum()
        return self.compare(self._cells(c.storage, c.dtype, c.rows, c.columns, c.stride), c.dtype, product, u, k, floor), int(outside.item())

    def rows(self, c, first, count, most):
        """Some rows of a dense matrix, and how many elements were written in those that follow, up to `most`."""
        self.torch.cuda.synchronize()
        cells = self._cells(c.storage, c.dtype, c.rows, c.columns, c.stride)
        return cells[first:first + count], int((cells[first + count:first + most] != -1).sum().item())

    def compare(self, cells, dtype, product, u, k, floor):
        got = cells.contiguous().view(self.names[dtype])
        got = (got.float() if size_of(dtype) < 4 else got).double()
        e = (got - product[0]).abs() / (u * product[0].abs() + k * product[1] + floor)
        return e.nan_to_num(math.inf).max().item()

    def integers(self, dtype, values):
        t = self.torch.tensor(list(values), dtype=self.torch.int64 if dtype == "i64" else self.torch.int32, device="cuda")
        return Matrix(t.data_ptr(), dtype, 1, len(values), len(values), None, t)


class DType:
    """A type as the value of a constexpr."""

    def __init__(self, name):
        self.name = name

    def __str__(self):
        return "tile." + self.name


class Config:
    """What stands in for triton.Config where there is no Triton: the texts' lists and hooks are plain Python."""

    def __init__(self, kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, pre_hook=None, ir_override=None):
        self.kwargs, self.num_warps, self.num_stages, self.pre_hook = kwargs, num_warps, num_stages, pre_hook


def host_side(path, kernel):
    """The autotune list of a kernel, by running its file with a triton of our own: nothing of it is compiled here."""
    class Anything(types.ModuleType):
        def __getattr__(self, name):
            return Anything(name)

        def __call__(self, *args, **kwargs):
            return args[0] if args and callable(args[0]) and not kwargs else Anything("result")

    def autotune(configs, **kwargs):
        def mark(fn):
            fn.configs = configs
            return fn
        return mark
    triton = Anything("triton")
    triton.Config, triton.autotune, triton.jit = Config, autotune, lambda fn: fn
    triton.language = Anything("triton.language")
    names = {"triton": triton, "triton.language": triton.language, "triton.tools": Anything("t"), "triton.tools.tensor_descriptor": Anything("d")}
    saved = {n: sys.modules.get(n) for n in names}
    sys.modules.update(names)
    try:
        scope = {"__name__": "kernels"}
        with open(path, encoding="utf-8") as f:
            exec(compile(f.read(), path, "exec"), scope)
    finally:
        for n, m in saved.items():
            if m is None:
                del sys.modules[n]
            else:
                sys.modules[n] = m
    return scope[kernel].configs


class Session:
    """One process: its device, loaded programs, and the operands it made last."""

    def __init__(self, options):
        import tile
        self.tile, self.options, self.programs, self.operands = tile, options, {}, {}
        self.device = tile.open_device(options.device)
        self.backend = TorchBackend() if options.device == "gpu" else PlainBackend(self.device)

    def kernel(self, path, name):
        if path not in self.programs:
            self.programs[path] = self.tile.load(path, device=self.device, cache=False)
        return self.programs[path][name]

    def inputs(self, dtype, m, n, k, lda, ldb, transposed):
        key = (dtype, m, n, k, lda, ldb, transposed)
        if key not in self.operands:
            if len(self.operands) >= 4:
                old = self.operands.pop(next(iter(self.operands)))
                self.backend.free(*old[:2])
            a = self.backend.random(dtype, m, k, lda, 1)
            b = self.backend.random(dtype, n if transposed else k, k if transposed else n, ldb, 2)
            right = b
            if transposed:
                exact = b.exact.T if hasattr(b.exact, "T") else [list(c) for c in zip(*b.exact)]
                right = Matrix(b.address, dtype, k, n, ldb, exact, b.storage)
            self.operands[key] = a, b, self.backend.product(a, right)
        return self.operands[key]

    def judge(self, c, product, u, k):
        floor = expect.smallest(c.dtype) if expect.is_float(c.dtype) else 0.5
        worst, outside = self.backend.worst(c, product, u, k, floor)
        self.backend.free(c)
        if outside:
            return f"{outside} elements outside the result were written"
        return f"an element is {worst:.3g} times as far off as allowed" if worst > 1 else worst

    # ---- the project's own ----

    def own(self, kind, name, m, n, k):
        operand, acc, out, precision, bound = TYPES[name]
        large = m > 512
        bm, bn, bk = (128, 128, 64 // size_of(operand)) if large else (64, 64, 32)
        if operand == "fp64":
            bm, bn, bk = 64, 64, 16
        bk = max(bk, 32 if size_of(operand) == 1 else 16)
        dense = kind == "pointers"
        lda, ldb, ldc = (k, n, n) if dense else (padded(k, operand), padded(n, operand), padded(n, out) + 16 // size_of(out))
        a, b, product = self.inputs(operand, m, n, k, lda, ldb, False)
        c = self.backend.empty(out, m, n, ldc)
        t = self.tile
        meta = {"BM": bm, "BN": bn, "BK": bk, "ACC": DType(TEXT[acc]), "PREC": precision, "num_warps": 8 if large else 4, "num_stages": 3}
        if dense:
            kernel = self.kernel(os.path.join(ROOT, "examples", "matmul.tile"), "matmul_kernel")
            kernel[t.cdiv(m, bm) * t.cdiv(n, bn)](a, b, c, m, n, k, lda, 1, ldb, 1, ldc, 1, GROUP=8, **meta)
        else:
            kernel = self.kernel(os.path.join(ROOT, "examples", "matmul_descriptors.tile"), "matmul_descriptors")
            d = lambda x, block: t.desc(x, block, [x.rows, x.columns], [x.stride, 1])
            kernel[(t.cdiv(m, bm), t.cdiv(n, bn))](d(a, [bm, bk]), d(b, [bk, bn]), d(c, [bm, bn]), m, n, k, **meta)
        return self.judge(c, product, PRECISION[out], bound * max(1, k / 2000))

    def grouped(self, rows, n, k, blocks, stages, warps):
        """Products of 1 … most rows; all of A lies in one array, as does all of C, whose rows beyond a product's stay NaN."""
        b, most, count = self.backend, max(rows), len(rows)
        a, w = b.random("fp16", count * most, k, k, 1), b.random("fp16", count * k, n, n, 2)
        c = b.empty("fp16", count * most, n, n)
        kernel = self.kernel(os.path.join(ROOT, "examples", "matmul_grouped.tile"), "matmul_grouped")
        slot, sizes = b.integers("i64", range(count)), b.integers("i32", rows)
        bm, bn, bk = blocks
        programs = 132 if self.options.device == "gpu" else 3
        kernel[programs](a, w, c, slot, sizes, count, most, n, k, BM=bm, BN=bn, BK=bk, PROGRAMS=programs, num_warps=warps, num_stages=stages)
        worst = 0.0
        for g in range(count):
            part = lambda m, first, size: Matrix(m.address, "fp16", size, m.columns, m.stride, m.exact[first:first + size], m.storage)
            got, outside = b.rows(c, g * most, rows[g], most)
            product = b.product(part(a, g * most, rows[g]), part(w, g * k, k))
            if outside:
                return f"{outside} elements outside product {g} were written"
            worst = max(worst, b.compare(got, "fp16", product, PRECISION["fp16"], TYPES["fp16"][4], expect.smallest("fp16")))
        b.free(a, w, c, slot, sizes)
        return f"an element is {worst:.3g} times as far off as allowed" if worst > 1 else worst

    # ---- from the texts ----

    def guide(self, name, config, m, n, k):
        a, b, product = self.inputs("fp16", m, n, k, k, n, False)
        c = self.backend.empty("fp16", m, n, n)
        kernel = self.kernel(os.path.join(self.options.texts, "guide.py"), name)
        grid = (self.tile.cdiv(m, config.kwargs["bm"]), self.tile.cdiv(n, config.kwargs["bn"]))
        kernel[grid](a, b, c, m, n, k, k, 1, n, 1, n, 1, **config.kwargs, num_warps=config.num_warps, num_stages=config.num_stages)
        return self.judge(c, product, PRECISION["fp16"], TYPES["fp16"][4])

    def persistent(self, dtype, config, m, n, k):
        lda, ldc = padded(k, dtype), padded(n, dtype) + 16 // size_of(dtype)
        a, b, product = self.inputs(dtype, m, n, k, lda, lda, True)
        c = self.backend.empty(dtype, m, n, ldc)
        args = {x: types.SimpleNamespace(block_shape=[1, 1]) for x in ("a_desc", "b_desc", "c_desc")}
        if config.pre_hook:
            config.pre_hook({**args, **config.kwargs, "M": m, "N": n, "K": k})
        d = lambda x, name: self.tile.desc(x, args[name].block_shape, [x.rows, x.columns], [x.stride, 1])
        kernel = self.kernel(os.path.join(self.options.texts, "persistent.py"), "_matmul_tma_persistent_kernel")
        programs = 132 if self.options.device == "gpu" else 3
        grid = min(programs, self.tile.cdiv(m, config.kwargs["BM"]) * self.tile.cdiv(n, config.kwargs["BN"]))
        kernel[grid](d(a, "a_desc"), d(b, "b_desc"), d(c, "c_desc"), m, n, k, **config.kwargs, FP8_OUTPUT=dtype == "fp8e4nv", NUM_SMs=programs,
                     WARP_SPECIALIZE=False, num_warps=config.num_warps, num_stages=config.num_stages)
        return self.judge(c, product, PRECISION[dtype], TYPES["fp16" if dtype == "fp16" else "e4m3"][4])


def describe(config):
    return " ".join(f"{k}={v}" for k, v in config.kwargs.items()) + f" w{config.num_warps} s{config.num_stages}"


def all_cases(o):
    """(title, may be too large for shared memory, method, arguments), those that share a compilation or inputs side by side."""
    on_gpu = o.device == "gpu"
    sizes = SMALL + LARGE if on_gpu else SMALL if o.full else SMALL[:3]
    names = TYPES if on_gpu or o.full else ("fp16", "tf32", "e4m3", "int8", "fp64")
    for kind in ("pointers", "descriptors"):
        for name in names if kind in o.suite else ():
            for size in sizes:
                yield f"{kind} {name} {size}", False, "own", (kind, name, *size)
    if "grouped" in o.suite:
        shapes = [((513, 1, 2000, 128, 77), 768, 520, (128, 128, 64), 3, 8), ((300, 64, 5), 264, 1000, (64, 64, 32), 4, 4)] if on_gpu else [((70, 1, 32), 48, 72, (32, 32, 32), 3, 4)]
        for rows, n, k, blocks, stages, warps in shapes:
            yield f"grouped fp16 {blocks} (rows {rows}, {n}, {k})", False, "grouped", (rows, n, k, blocks, stages, warps)
    if "guide" in o.suite and o.texts:
        path = os.path.join(o.texts, "guide.py")
        plain = [Config({"bm": bm, "bn": bn, "bk": bk}, num_warps=w) for bm, bn, bk, w in ((16, 16, 16, 4), (64, 64, 64, 4), (128, 64, 32, 8))]
        grouped = [Config({**c.kwargs, "group_sz": g}, num_warps=c.num_warps) for c, g in zip(plain, (32, 8, 8))]
        for kernel, configs in (("naive_matmul_k", plain), ("grouped_matmul_k", grouped), ("grouped_autotuned_matmul_k", host_side(path, "grouped_autotuned_matmul_k"))):
            for config in configs:
                for size in ((512, 512, 512), (1024, 512, 2048), (4096, 4096, 4096)) if on_gpu else ((256, 256, 128),):
                    yield f"{kernel} {describe(config)} {size}", False, "guide", (kernel, config, *size)
    if "persistent" in o.suite and o.texts:
        configs = host_side(os.path.join(o.texts, "persistent.py"), "_matmul_tma_persistent_kernel")
        chosen = configs if on_gpu else configs[:: 8 if o.full else 24]
        for dtype, config in itertools.product(("fp16", "fp8e4nv"), chosen):
            for size in ((517, 777, 333), (1999, 1003, 2005), (131, 4093, 1027)) if on_gpu else ((145, 270, 83),):
                yield f"persistent {dtype} {describe(config)} {size}", True, "persistent", (dtype, config, *size)


_session = None


def run_group(task):
    """Cases that share a compilation, in one process."""
    global _session
    options, indices = task
    if _session is None:
        _session = Session(options)
    cases, out = list(all_cases(options)), []
    for i in indices:
        title, may_not_fit, method, arguments = cases[i]
        start = time.monotonic()
        try:
            result = getattr(_session, method)(*arguments)
        except _session.tile.Error as e:
            text = str(e)
            result = None if may_not_fit and "shared memory" in text else text
        except Exception:
            result = traceback.format_exc()
        out.append((title, result, time.monotonic() - start))
    completed, _session.backend.completed = _session.backend.completed, 0
    return out, completed


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--device", default="gpu", choices=["gpu", "sim", "interp"])
    p.add_argument("--full", action="store_true")
    p.add_argument("--suite", default="pointers,descriptors,grouped,guide,persistent", type=lambda s: s.split(","))
    p.add_argument("--only", default="")
    p.add_argument("-j", type=int, default=min(12, os.cpu_count()))
    p.add_argument("--seeds", default=os.environ.get("TILE_SEEDS", os.path.join(ROOT, "seeds")))
    o = p.parse_args()
    os.environ["TILE_LIBRARY"] = library_path()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        o.texts = None
        sources = [(os.path.join(o.seeds, name), out) for name, out in (("triton_guide.md", "guide.py"), ("matmul_tma_persistent.txt", "persistent.py"))]
        if all(os.path.exists(s) for s, _ in sources):
            o.texts = folder
            for source, out in sources:
                subprocess.run([sys.executable, os.path.join(ROOT, "tests", "extract_kernels.py"), source, os.path.join(folder, out)], check=True)
        elif {"guide", "persistent"} & set(o.suite):
            print(f"right: the texts are not in {o.seeds}, their kernels are left out")
        groups = {}
        for i, (title, _, method, arguments) in enumerate(all_cases(o)):
            if o.only in title:
                groups.setdefault((method, title.rpartition(" (")[0]), []).append(i)
        tasks = [(o, g) for g in groups.values()]
        tasks.reverse()   # what compiles longest comes last in the list
        count = failed = skipped = completed = 0
        worst = {}
        with multiprocessing.get_context("spawn").Pool(min(o.j, max(len(tasks), 1))) as pool:
            for results, bytes_completed in pool.imap_unordered(run_group, tasks):
                completed += bytes_completed
                for title, result, seconds in results:
                    if result is None:
                        skipped += 1
                    elif isinstance(result, str):
                        failed += 1
                        print(f"FAIL {title}\n    " + "\n    ".join(result.strip().splitlines()[-8:]), flush=True)
                    else:
                        count += 1
                        key = " ".join(title.split()[:2]) if not title.startswith(("naive", "grouped")) else title.split()[0]
                        worst[key] = max(worst.get(key, 0.0), result)
        for key, value in sorted(worst.items()):
            print(f"  {key:32s} at most {value:.3f} of what is allowed")
        if completed:
            print(f"  {completed} bytes behind a matrix, in the last 16 bytes of its rows, were written by TMA stores")
        print(f"right: {count} of {count + failed} right, {skipped} configurations that shared memory does not hold, {time.monotonic() - begin:.0f} s")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
