"""The examples of example_cases.py: timed on the GPU beside Triton and PyTorch, or compiled alone, or checked at a small size on a
device without a GPU."""
import atexit
import ctypes
import os
import re
import shutil
import sys
import tempfile
import time

import tile_ctypes
from example_cases import CASES

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# What the examples in the short spelling (@kernel) use of the language.
LANGUAGE = ("program_id arange load store maximum where exp log sum max debug_barrier cumsum rand swizzle2d sigmoid zeros dot "
            "float32 int64").split()
ELEMENT = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp8e4nv": "float8_e4m3fn", "u8": "uint8", "i8": "int8", "i32": "int32", "i64": "int64"}
folder = None


def in_tritons_spelling(name):
    """The path of an example's text as both compilers take it: a kernel in the short spelling loses its types and gets `tl.`."""
    path = os.path.join(ROOT, "examples", name)
    text = open(path).read()
    if "@kernel" not in text: return path
    global folder
    if not folder:
        folder = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, folder)
    untyped = lambda m: re.sub(r": \*?(?!constexpr)\w+", "", m[0]).replace(": constexpr", ": tl.constexpr")
    text = re.sub(r"^def .*:$", untyped, text, flags=re.M)
    text = re.sub(r"^@(kernel|jit)$", "@triton.jit", text, flags=re.M)
    text = re.sub(rf"^(?!#|def ).*$", lambda m: re.sub(rf"(?<![\w.])({'|'.join(LANGUAGE)})\b(?!=)", r"tl.\1", m[0]), text, flags=re.M)
    out = os.path.join(folder, name)
    with open(out, "w") as f: f.write("import triton\nimport triton.language as tl\n\n\n" + text)
    return out


class Described:
    def __init__(self, dtype, shape):
        self.dtype, self.shape = dtype, shape


class Describe:
    """Arguments as types and shapes alone."""
    torch = None

    def pick(self, large, small):
        return large

    def tensor(self, dtype, *shape):
        return Described(dtype, shape)
    randn = uniform = zeros = empty = tensor

    def randint(self, dtype, low, high, *shape):
        return Described(dtype, shape)

    def steps(self, dtype, step, n):
        return Described(dtype, (n,))

    def values(self, dtype, items):
        return Described(dtype, (len(items),))


class Make:
    """Arguments as PyTorch's tensors."""

    def __init__(self, device):
        import torch
        self.torch, self.device = torch, device
        torch.manual_seed(1)

    def pick(self, large, small):
        return large if self.device == "cuda" else small

    def dtype(self, name):
        return getattr(self.torch, ELEMENT[name])

    def full(self, dtype, shape, value):
        return self.torch.full(shape, value, dtype=self.dtype(dtype), device=self.device)

    def randn(self, dtype, *shape):
        direct = self.dtype(dtype) if dtype in ("fp16", "bf16", "fp32") else None
        return self.torch.randn(shape, device=self.device, dtype=direct).to(self.dtype(dtype))

    def uniform(self, dtype, *shape):
        return self.torch.rand(shape, device=self.device).to(self.dtype(dtype))

    def randint(self, dtype, low, high, *shape):
        return self.torch.randint(low, high, shape, device=self.device, dtype=self.dtype(dtype))

    def zeros(self, dtype, *shape):
        return self.full(dtype, shape, 0)

    def empty(self, dtype, *shape):
        """What the kernel must write everywhere: values that no result has."""
        return self.full(dtype, shape, float("nan") if dtype.startswith(("fp", "bf")) else 99)

    def steps(self, dtype, step, n):
        return self.torch.arange(n, device=self.device, dtype=self.dtype(dtype)) * step

    def values(self, dtype, items):
        return self.torch.tensor(items, device=self.device, dtype=self.dtype(dtype))


def type_of(tensor):
    return next(k for k, v in ELEMENT.items() if tensor.dtype == k or str(tensor.dtype) == "torch." + v)


def signature(args):
    """Triton's specialisation of the arguments; every tensor begins at a multiple of 16 bytes."""
    out = []
    for a in args:
        if isinstance(a, tuple): out.append(f"tensordesc<{type_of(a[1])}[{','.join(map(str, a[2]))}]>")
        elif isinstance(a, float): out.append("fp32")
        elif isinstance(a, int): out.append("i32" + (":1" if a == 1 else ":16" if a % 16 == 0 else ""))
        else: out.append(f"*{type_of(a)}:16")
    return ", ".join(out)


def of_meta(x, meta):
    return x(meta) if callable(x) else x


def chosen(options):
    cases = [c for c in CASES if options.only in c.name]
    if not cases: sys.exit(f"no case has {options.only!r} in its name; there are: " + ", ".join(c.name for c in CASES))
    return cases


def label(meta, warps, stages):
    return " ".join([f"{k}{v}" for k, v in meta.items()] + [f"w{warps}", f"s{stages}"])


def dry_run(options):
    """Compiles every configuration at the benchmark's sizes, and says what failed."""
    library, failed, count, t = tile_ctypes.Library(device="interp"), 0, 0, Describe()
    for case in chosen(options):
        work, path = case.build(t), in_tritons_spelling(case.file)
        for meta, warps, stages in case.configs:
            count += 1
            start = time.perf_counter()
            try:
                library.build(path, case.kernel, signature(of_meta(work.args, meta)), meta, num_warps=warps, num_stages=stages)
                print(f"{case.name:24s} {label(meta, warps, stages):44s} {1000 * (time.perf_counter() - start):6.0f} ms")
            except tile_ctypes.TileError as e:
                failed += 1
                print(f"{case.name:24s} {label(meta, warps, stages):44s} FAILED: {e}")
    print(f"compiled: {count - failed} of {count}")
    return failed > 0


def compare(case, work, got, want, whose):
    """Raises where a result is farther from another than the case allows."""
    for i, (g, w) in enumerate(zip(work.view(*got), want, strict=True)):
        g, w = g.double(), w.double()
        norm = w.norm().item()
        error = (g - w).norm().item()
        if not error <= case.bound * norm: raise AssertionError(f"result {i} is off from {whose} by {error / norm if norm else error:.3g}, {case.bound} allowed")


def small(options):
    """Every case at a small size on the simulator or the interpreter, against PyTorch."""
    library, failed, count, t = tile_ctypes.Library(device=options.device), 0, 0, Make("cpu")
    for case in chosen(options):
        path = in_tritons_spelling(case.file)
        for meta, warps, stages in case.configs:
            count += 1
            name = f"{case.name:24s} {label(meta, warps, stages):44s}"
            try:
                work = case.build(t)
                want = work.want() if work.want else None
                args = of_meta(work.args, meta)
                kernel = library.compile(path, case.kernel, signature(args), meta, num_warps=warps, num_stages=stages)
                arrays = {}
                passed = []
                for a in args:
                    tensor = a[1] if isinstance(a, tuple) else a if hasattr(a, "data_ptr") else None
                    if tensor is not None:
                        size = tensor.numel() * tensor.element_size()
                        array = arrays[tensor.data_ptr()] = library.array((ctypes.c_char * size).from_address(tensor.data_ptr()))
                        passed.append(("desc", array, tensor.shape, tensor.stride()) if isinstance(a, tuple) else array)
                    elif a != 1 or isinstance(a, float): passed.append(a)
                kernel.launch(of_meta(work.grid, meta), *passed)
                for o in work.out: arrays[o.data_ptr()].read()
                if want: compare(case, work, work.out, want, "PyTorch")
                print(f"{name} ok{'' if want else ' (ran)'}", flush=True)
            except Exception as e:
                failed += 1
                print(f"{name} FAILED: {e}", flush=True)
    print(f"{options.device}: {count - failed} of {count}")
    return failed > 0


def suite_examples(bench, library, options):
    import torch
    import triton
    from triton.tools.tensor_descriptor import TensorDescriptor
    from bench_common import guarded, load_module, plain
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    whole, bench.reading_ms = bench.reading_ms, 40

    def timed_peer(case, work):
        if not work.peer: return {}
        try:
            work.peer()
            torch.cuda.synchronize()
            return {"torch": work.peer}
        except Exception as e:
            print(f"  {case.name}: PyTorch's own op: {str(e).strip().splitlines()[0][:150]}", flush=True)
            return {}

    def row(case, work, path, fn, config, first, want):
        meta, warps, stages = config
        args, grid = of_meta(work.args, meta), of_meta(work.grid, meta)
        theirs = [TensorDescriptor.from_tensor(a[1], a[2]) if isinstance(a, tuple) else a for a in args]
        compiled = library.compile(path, case.kernel, signature(args), meta, num_warps=warps, num_stages=stages)
        f = compiled.bind(grid, *[a for a in args if not (isinstance(a, int) and a == 1)])
        g = lambda: fn[grid](*theirs, **meta, num_warps=warps, num_stages=stages)

        def result(launch):
            before = [o.clone() for o in work.out]
            launch()
            torch.cuda.synchronize()
            after = [o.clone() for o in work.out]
            for o, b in zip(work.out, before): o.copy_(b)
            return after
        fns, others = {"ours": f}, []
        got = result(f)
        if want: compare(case, work, got, want, "PyTorch")
        if want and not bench.rounds: return
        try:
            others = work.view(*result(g))
            fns["triton"] = g
        except Exception as e:
            print(f"  {case.name} {label(*config)}: Triton: {str(e).strip().splitlines()[0][:150]}", flush=True)
        if others: compare(case, work, got, others, "Triton")
        if first and bench.rounds: fns.update(timed_peer(case, work))
        del got, others
        before = [o.clone() for o in work.out]
        bench.compare(f"{case.name} {label(*config)}", fns, work.unit, work.amount, case.name,
                      "memory-bound" if work.unit == "GB/s" else "matmuls")
        for o, b in zip(work.out, before): o.copy_(b)

    def run(case):
        work, path = case.build(Make("cuda")), in_tritons_spelling(case.file)
        want = [w.clone() for w in work.want()] if work.want else None
        fn = plain(getattr(load_module(path), case.kernel))
        for i, config in enumerate(case.configs[:1] if options.quick else case.configs):
            guarded(bench, f"{case.name} {label(*config)}", lambda: row(case, work, path, fn, config, i == 0, want))
    for case in chosen(options):
        guarded(bench, case.name, lambda: run(case))
        torch.cuda.empty_cache()
    bench.reading_ms = whole
