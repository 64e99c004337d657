"""What the groups of bench.py share: kernels as modules, signatures of arguments, timing in turn, checks."""
import importlib.machinery
import importlib.util
import os
import statistics

import torch

import bench_report

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLES = os.path.join(ROOT, "examples")
DTYPE = {torch.float16: "fp16", torch.bfloat16: "bf16", torch.float32: "fp32", torch.float8_e4m3fn: "fp8e4nv",
         torch.int8: "i8", torch.uint8: "u8", torch.int32: "i32", torch.int64: "i64"}


def source(name):
    """A .tile file as a Python module, so that Triton compiles the very same text."""
    path = os.path.join(EXAMPLES, name)
    return load_module(path), path


def load_module(path):
    loader = importlib.machinery.SourceFileLoader(os.path.basename(path).replace(".", "_"), path)
    spec = importlib.util.spec_from_loader(loader.name, loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def plain(fn):
    """The jit function under autotune and heuristics decorators."""
    while not hasattr(fn, "arg_names") or hasattr(fn, "configs"):
        fn = fn.fn
    return fn


def spec(*args):
    """Triton's specialisation of the arguments as a signature."""
    out = []
    for a in args:
        if isinstance(a, tuple):
            out.append(f"tensordesc<{DTYPE[a[1].dtype]}[{','.join(map(str, a[2]))}]>")
        elif isinstance(a, torch.Tensor):
            out.append("*" + DTYPE[a.dtype] + (":16" if a.data_ptr() % 16 == 0 else ""))
        elif isinstance(a, float):
            out.append("fp32")
        else:
            kind = "i32" if -2**31 <= a < 2**31 else "i64"
            out.append(kind + (":1" if a == 1 else ":16" if a % 16 == 0 else ""))
    return ", ".join(out)


def ours(library, path, kernel, grid, args, meta, **options):
    compiled = library.compile(path, kernel, spec(*args), meta, **options)
    passed = [a for a in args if not (isinstance(a, int) and a == 1)]
    return compiled.bind(grid, *passed)


class Bench:
    def __init__(self, rounds):
        self.rounds, self.reading_ms, self.rows, self.copy = rounds, 100, [], None
        self.flush = torch.empty(256 * 1024 * 1024, dtype=torch.int8, device="cuda")

    def once(self, fn, ms=None):
        """Median milliseconds of fn over at least `ms` of launches, L2 flushed before each."""
        begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
        begin.record(); self.flush.zero_(); fn(); end.record(); torch.cuda.synchronize()
        n = max(5, min(500, int((ms or self.reading_ms) / max(begin.elapsed_time(end), 1e-3))))
        events = [(torch.cuda.Event(True), torch.cuda.Event(True)) for _ in range(n)]
        for a, b in events:
            self.flush.zero_(); a.record(); fn(); b.record()
        torch.cuda.synchronize()
        return statistics.median(a.elapsed_time(b) for a, b in events)

    def compare(self, name, fns, unit, amount, group=None, family=None):
        """fns: {"ours": f, peer: f, …}. amount / milliseconds is reported in `unit`. Rows of one group differ in blocks and warps
        only: best() sets our best against each peer's. The distribution of the ratios is told family by family. Without
        rounds nothing is timed."""
        if not self.rounds: return
        for f in fns.values():
            for _ in range(3): f()
        torch.cuda.synchronize()
        times = {k: [] for k in fns}
        for r in range(self.rounds):
            for k in (list(fns) if r % 2 == 0 else list(reversed(fns))):
                times[k].append(self.once(fns[k]))
        row = {"name": name, "unit": unit, "times_ms": times, "group": group, "family": family or bench_report.family(name)}
        text = f"{name:44s}"
        for k in fns:
            row[k] = amount / statistics.median(times[k])
            text += f" {k} {row[k]:7.0f}"
        for k in fns:
            if k == "ours": continue
            ratios = sorted(p / o for p, o in zip(times[k], times["ours"]))
            q = lambda f: ratios[min(len(ratios) - 1, int(f * len(ratios)))]
            row["ratio_" + k] = (statistics.median(ratios), q(0.1), q(0.9))
            text += f" | vs {k} {statistics.median(ratios):.3f} ({q(.1):.3f}–{q(.9):.3f})"
        if self.copy and unit == "GB/s": text += f" | {row['ours'] / self.copy:.2f} of the copy"
        print(text + f"  [{unit}]", flush=True)
        self.rows.append(row)

    def measure_copy(self):
        a, b = (torch.empty(2**30, dtype=torch.int8, device="cuda") for _ in range(2))
        self.copy = 2 * 2**30 / 1e6 / statistics.median(self.once(lambda: b.copy_(a)) for _ in range(5))
        print(f"{'copy (torch, 1 GiB)':44s} {self.copy:7.0f} GB/s", flush=True)

    def best(self):
        """Our best configuration against each peer's best, per group; the ratio per round, as in compare."""
        for best in bench_report.best_of(self.rows):
            text = f"best {best['name']:39s} ours {best['ours']:7.0f} ({best['label_ours']})"
            for k in bench_report.peers_of([best]): text += f" {k} {best[k]:7.0f} ({best['label_' + k]}) | {bench_report.spread(best['ratio_' + k])}"
            if self.copy and best["unit"] == "GB/s": text += f" | {best['ours'] / self.copy:.2f} of the copy"
            print(text, flush=True)

    def fail(self, name, why):
        why = str(why).replace(ROOT + os.sep, "")
        text = why.strip().splitlines()
        print(f"{name:44s} FAILED: {' / '.join(text[:4])[:400]}", flush=True)
        self.rows.append({"name": name, "failed": why})


def relative_error(got, want):
    got, want = got.double(), want.double()
    return (torch.linalg.vector_norm(got - want) / torch.linalg.vector_norm(want)).item()


def check(got, want, bound):
    e = relative_error(got, want)
    if not e <= bound:
        raise AssertionError(f"relative error {e:.3g} > {bound}")


def guarded(bench, name, run):
    try:
        run()
    except Exception as e:  # a row that fails must not take the others with it
        bench.fail(name, e)
