#!/usr/bin/env python3
"""Ours against the peers on one GPU, in one process, interleaved.

usage: bench.py SUITE…      suites: memory matmul fp8 attention list16 list8      LIBTILE names libtile.so
options: --rounds N (20) --quick (5 rounds, fewer shapes) --json FILE
         --peer-attention FILE   Python file whose attention_forward(q, k, v, o, causal, scale) on [batch, heads, sequence, D] tensors
                                 is timed beside ours (it tunes itself on its first call)
         --seed FILE             text with the persistent TMA kernel for list16 and list8: every configuration of its autotune list, ours
                                 and Triton's, then best against best (TILE_PTXAS: assembles ours in parallel)

Every row is checked before it is timed. A ratio is the median over the rounds of peer's time over ours; both are timed within a
round, in alternating order, as triton.testing.do_bench does (L2 flushed before every launch, at least 100 ms)."""
import argparse
import concurrent.futures
import importlib.machinery
import importlib.util
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

import torch
import triton

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tile_ctypes  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLES = os.path.join(ROOT, "examples")
OPTIONS = None      # the command line
DTYPE = {torch.float16: "fp16", torch.bfloat16: "bf16", torch.float32: "fp32", torch.float8_e4m3fn: "fp8e4nv"}


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
        self.rounds, self.rows, self.copy = rounds, [], None
        self.flush = torch.empty(256 * 1024 * 1024, dtype=torch.int8, device="cuda")

    def once(self, fn, ms=100):
        """Median milliseconds of fn over at least `ms` of launches, L2 flushed before each."""
        begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
        begin.record(); self.flush.zero_(); fn(); end.record(); torch.cuda.synchronize()
        n = max(5, min(500, int(ms / max(begin.elapsed_time(end), 1e-3))))
        events = [(torch.cuda.Event(True), torch.cuda.Event(True)) for _ in range(n)]
        for a, b in events:
            self.flush.zero_(); a.record(); fn(); b.record()
        torch.cuda.synchronize()
        return statistics.median(a.elapsed_time(b) for a, b in events)

    def compare(self, name, fns, unit, amount, group=None):
        """fns: {"ours": f, peer: f, …}. amount / milliseconds is reported in `unit`. Rows of one group differ in blocks and warps
        only: best() sets our best against each peer's."""
        for f in fns.values():
            for _ in range(3): f()
        torch.cuda.synchronize()
        times = {k: [] for k in fns}
        for r in range(self.rounds):
            for k in (list(fns) if r % 2 == 0 else list(reversed(fns))):
                times[k].append(self.once(fns[k]))
        row = {"name": name, "unit": unit, "times_ms": times, "group": group}
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
        groups = {}
        for row in self.rows:
            if row.get("group"): groups.setdefault(row["group"], []).append(row)
        label = lambda row: row["name"].split(row["group"])[-1].strip()
        for group, rows in groups.items():
            if len(rows) == 1: continue
            top = {k: max(rows, key=lambda row: row[k]) for k in rows[0]["times_ms"]}
            text = f"best {group:39s} ours {top['ours']['ours']:7.0f} ({label(top['ours'])})"
            for k in top:
                if k == "ours": continue
                ratios = sorted(p / o for p, o in zip(top[k]["times_ms"][k], top["ours"]["times_ms"]["ours"]))
                text += f" {k} {top[k][k]:7.0f} ({label(top[k])}) | {statistics.median(ratios):.3f} ({ratios[0]:.3f}–{ratios[-1]:.3f})"
            if self.copy and top['ours']['unit'] == "GB/s": text += f" | {top['ours']['ours'] / self.copy:.2f} of the copy"
            print(text, flush=True)

    def fail(self, name, why):
        text = str(why).strip().splitlines()
        print(f"{name:44s} FAILED: {' / '.join(text[:4])[:400]}", flush=True)
        self.rows.append({"name": name, "failed": str(why)})


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


# ---- memory-bound kernels ----

def suite_memory(bench, lib, quick):
    bench.measure_copy()

    def row_kernel(file, kernel, make_args, reference, warps_list):
        module, path = source(file)
        fn = plain(getattr(module, kernel))
        for rows, cols in [(32768, 4096), (16384, 8192), (8192, 16384)][: 1 if quick else 3]:
            for warps in warps_list:
                name = f"{kernel} {rows}x{cols} w{warps}"

                def run():
                    args, out, ref = make_args(rows, cols)
                    block = triton.next_power_of_2(cols)
                    f = ours(lib, path, kernel, (rows,), args, {"BLOCK": block}, num_warps=warps)
                    g = lambda: fn[(rows,)](*args, BLOCK=block, num_warps=warps)
                    out.fill_(float("nan")); f(); check(out, ref, 2e-3)
                    bench.compare(name, {"ours": f, "triton": g}, "GB/s", 2 * rows * cols * 2 / 1e6, f"{kernel} {rows}x{cols}")
                guarded(bench, name, run)

    def softmax(rows, cols):
        x = torch.randn(rows, cols, device="cuda", dtype=torch.float16); y = torch.empty_like(x)
        return (y, x, cols, cols, rows, cols), y, torch.softmax(x.float(), 1)

    def layer_norm(rows, cols):
        x = torch.randn(rows, cols, device="cuda", dtype=torch.float16); y = torch.empty_like(x)
        w, b = torch.randn(cols, device="cuda", dtype=torch.float16), torch.randn(cols, device="cuda", dtype=torch.float16)
        m, r = torch.empty(rows, device="cuda"), torch.empty(rows, device="cuda")
        return (x, y, w, b, m, r, cols, cols, 1e-5), y, torch.nn.functional.layer_norm(x.float(), (cols,), w.float(), b.float())

    def rms_norm(rows, cols):
        x = torch.randn(rows, cols, device="cuda", dtype=torch.float16); y = torch.empty_like(x)
        w = torch.randn(cols, device="cuda", dtype=torch.float16)
        ref = x.float() * torch.rsqrt((x.float() ** 2).mean(1, keepdim=True) + 1e-6) * w.float()
        return (x, w, y, cols, cols, 1e-6), y, ref

    warps = [8] if quick else [4, 8, 16]
    module, path = source("vector_add_triton.tile")
    n = 2**28

    def add(block, w):
        def run():
            x, y = torch.randn(n, device="cuda"), torch.randn(n, device="cuda"); out = torch.empty_like(x)
            grid = (triton.cdiv(n, block),)
            f = ours(lib, path, "add_kernel", grid, (x, y, out, n), {"BLOCK": block}, num_warps=w)
            out.fill_(float("nan")); f(); check(out, x + y, 1e-7)
            bench.compare(f"add 2^28 fp32 block {block} w{w}", {"ours": f, "triton": lambda: module.add_kernel[grid](x, y, out, n, BLOCK=block, num_warps=w)},
                          "GB/s", 12 * n / 1e6, "add 2^28 fp32")
        guarded(bench, f"add block {block}", run)
    for block, w in [(1024, 4)] if quick else [(1024, 4), (4096, 4), (2048, 8)]:
        add(block, w)

    smod, spath = source("sum.tile")

    def total(block, w):
        def run():
            m = 2**29
            x = torch.randn(m, device="cuda"); out, out2 = torch.zeros(1, device="cuda"), torch.zeros(1, device="cuda")
            grid = (triton.cdiv(m, block),)
            f = ours(lib, spath, "sum_kernel", grid, (x, out, m), {"BLOCK": block}, num_warps=w)
            f(); assert abs(out.item() - x.double().sum().item()) < 5.0, out.item()
            bench.compare(f"sum 2^29 fp32 block {block} w{w}", {"ours": f, "triton": lambda: smod.sum_kernel[grid](x, out2, m, BLOCK=block, num_warps=w)},
                          "GB/s", 4 * m / 1e6, "sum 2^29 fp32")
        guarded(bench, f"sum block {block}", run)
    for block, w in [(8192, 8)] if quick else [(4096, 4), (8192, 8), (16384, 16)]:
        total(block, w)
    row_kernel("softmax.tile", "softmax_kernel", softmax, None, warps)
    row_kernel("layer_norm.tile", "layer_norm_fwd", layer_norm, None, warps)
    row_kernel("rms_norm.tile", "rms_norm_kernel", rms_norm, None, warps)


# ---- matmul ----

SHAPES = [(8192, 8192, 8192), (4096, 4096, 4096), (8192, 8192, 1024), (2048, 2048, 2048), (4096, 4096, 14336)]


def library_product(a, b, c):
    """torch's own product of a [m, k] and b [k, n] into c: cuBLAS, for fp8 with its fast accumulation as the kernels here."""
    if a.dtype == torch.float16: return lambda: torch.matmul(a, b, out=c)
    one = torch.ones((), device="cuda")
    return lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.float16, use_fast_accum=True)


def suite_matmul(bench, lib, quick):
    pointers(bench, lib, SHAPES[: 2 if quick else 5], torch.float16, [(128, 256, 64, 3, 8), (128, 128, 64, 4, 4)])
    persistent(bench, lib, SHAPES[: 2 if quick else 5], torch.float16, [(128, 256, 64, 3, 8, True), (128, 256, 64, 4, 8, True), (128, 256, 64, 3, 8, False)])


def suite_fp8(bench, lib, quick):
    pointers(bench, lib, SHAPES[:1], torch.float8_e4m3fn, [(128, 256, 128, 3, 8), (128, 256, 128, 2, 8), (128, 128, 128, 4, 4), (128, 256, 64, 4, 8)])
    persistent(bench, lib, SHAPES[:1], torch.float8_e4m3fn, [(128, 256, 128, s, 8, sub) for s in (3, 4) for sub in (True, False)] + [(128, 128, 128, 4, 4, True)])


def operands(m, n, k, dtype):
    """a [m, k], b [n, k], c [m, n] and what it should be."""
    a, b = torch.randn(m, k, device="cuda").to(dtype), torch.randn(n, k, device="cuda").to(dtype)
    return a, b, torch.empty(m, n, device="cuda", dtype=torch.float16), a.to(torch.float16) @ b.to(torch.float16).T


# The tensor cores' fp8 sums keep about 14 bits (docs/simulator.md).
PRODUCT_BOUND = {torch.float16: 2e-3, torch.float8_e4m3fn: 5e-3}


def pointers(bench, lib, shapes, dtype, configs):
    """The grouped product on plain pointers. fp16 has b in rows of n; tensor cores take fp8 only with k innermost."""
    module, path = source("matmul.tile")
    fn = plain(module.matmul_kernel)
    for m, n, k in shapes:
        a, b, c, ref = operands(m, n, k, dtype)
        kn = b.T.contiguous() if dtype == torch.float16 else b.T
        for bm, bn, bk, s, w in configs:
            name = f"matmul ptr {DTYPE[dtype]} {m}x{n}x{k} {bm}x{bn}x{bk} s{s} w{w}"

            def run():
                args = (a, kn, c, m, n, k, k, 1, *kn.stride(), n, 1)
                grid = (triton.cdiv(m, bm) * triton.cdiv(n, bn),)
                meta = {"BM": bm, "BN": bn, "BK": bk, "GROUP": 8}
                f = ours(lib, path, "matmul_kernel", grid, args, meta, num_warps=w, num_stages=s)
                c.fill_(float("nan")); f(); check(c, ref, PRODUCT_BOUND[dtype])
                bench.compare(name, {"ours": f, "triton": lambda: fn[grid](*args, **meta, num_warps=w, num_stages=s),
                                     "cublas": library_product(a, kn, c)}, "TFLOP/s", 2 * m * n * k / 1e9, group=f"ptr {DTYPE[dtype]} {m}x{n}x{k}")
            guarded(bench, name, run)


def persistent(bench, lib, shapes, dtype, configs):
    """The persistent product on descriptors."""
    from triton.tools.tensor_descriptor import TensorDescriptor
    module, path = source("matmul_persistent.tile")
    fn = plain(module.matmul_persistent)
    sms = torch.cuda.get_device_properties(0).multi_processor_count
    for m, n, k in shapes:
        a, b, c, ref = operands(m, n, k, dtype)
        for bm, bn, bk, s, w, sub in configs:
            name = f"matmul tma {DTYPE[dtype]} {m}x{n}x{k} {bm}x{bn}x{bk} s{s} w{w} sub{int(sub)}"

            def run():
                cb = [bm, bn // 2 if sub else bn]
                meta = {"BM": bm, "BN": bn, "BK": bk, "GROUP": 8, "SUBTILE": sub, "NUM_SMS": sms}
                grid = (min(sms, triton.cdiv(m, bm) * triton.cdiv(n, bn)),)
                args = (("desc", a, [bm, bk]), ("desc", b, [bn, bk]), ("desc", c, cb), m, n, k)
                f = ours(lib, path, "matmul_persistent", grid, args, meta, num_warps=w, num_stages=s)
                c.fill_(float("nan")); f(); check(c, ref, PRODUCT_BOUND[dtype])
                td = [TensorDescriptor.from_tensor(a, [bm, bk]), TensorDescriptor.from_tensor(b, [bn, bk]), TensorDescriptor.from_tensor(c, cb)]
                bench.compare(name, {"ours": f, "triton": lambda: fn[grid](*td, m, n, k, **meta, num_warps=w, num_stages=s),
                                     "cublas": library_product(a, b.T, c)}, "TFLOP/s", 2 * m * n * k / 1e9, group=f"tma {DTYPE[dtype]} {m}x{n}x{k}")
            guarded(bench, name, run)


# ---- the seed's own kernel, its whole autotune list ----

SEED_LIST = [(128, bn, bk, s, w, sub) for bn in (128, 256) for bk in (64, 128) for s in (2, 3, 4) for w in (4, 8) for sub in (True, False)]


def seed_kernel(text):
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "persistent_seed.py")
    subprocess.run([sys.executable, os.path.join(ROOT, "tests", "extract_kernels.py"), text, path], check=True, stdout=subprocess.DEVNULL)
    return load_module(path), path


def seed_list(bench, lib, quick, dtype, sizes):
    from triton.tools.tensor_descriptor import TensorDescriptor
    module, path = seed_kernel(OPTIONS.seed)
    fn = plain(module._matmul_tma_persistent_kernel)
    fp8 = dtype != torch.float16
    sms = torch.cuda.get_device_properties(0).multi_processor_count
    if quick: sizes = sizes[:1]

    def case(size, config):
        """Arguments of both, for one configuration."""
        a, b, c = size["a"], size["b"], size["c"]
        bm, bn, bk, s, w, sub = config
        boxes = ([bm, bk], [bn, bk], [bm, bn // 2 if sub else bn])
        n = size["n"]
        meta = {"BM": bm, "BN": bn, "BK": bk, "GROUP_SIZE_M": 8, "EPILOGUE_SUBTILE": sub, "FP8_OUTPUT": fp8, "NUM_SMs": sms, "WARP_SPECIALIZE": False}
        args = tuple(("desc", t, box) for t, box in zip((a, b, c), boxes)) + (n, n, n)
        theirs = [TensorDescriptor.from_tensor(t, box) for t, box in zip((a, b, c), boxes)] + [n, n, n]
        return args, theirs, meta, (min(sms, triton.cdiv(n, bm) * triton.cdiv(n, bn)),)

    def tensors(n):
        a, b = torch.randn(n, n, device="cuda").to(dtype), torch.randn(n, n, device="cuda").to(dtype)
        # An fp8 result would overflow; the product of smaller numbers does not.
        if fp8: a = (a.float() / 64).to(dtype)
        return {"n": n, "a": a, "b": b, "c": torch.empty(n, n, device="cuda", dtype=dtype), "ref": a.to(torch.float16) @ b.to(torch.float16).T}

    size = tensors(sizes[0])
    built, theirs_built = {}, set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        def build(config):
            args, _, meta, _ = case(size, config)
            return lib.build(path, "_matmul_tma_persistent_kernel", spec(*args), meta, num_warps=config[4], num_stages=config[3], assemble=bool(os.environ.get("TILE_PTXAS")))
        jobs = {config: pool.submit(build, config) for config in SEED_LIST}
        for config, job in jobs.items():
            try:
                built[config] = lib.load(job.result())
            except Exception as e:
                print(f"  ours refuses {config}: {str(e).splitlines()[0][:150]}", flush=True)
        with triton.AsyncCompileMode(pool, ignore_errors=True):
            for config in SEED_LIST:
                _, theirs, meta, grid = case(size, config)
                fn.warmup(*theirs, **meta, num_warps=config[4], num_stages=config[3], grid=grid)
    for n in sizes:
        size = tensors(n) if n != size["n"] else size
        amount, best = 2 * n**3 / 1e9, {}
        for config in SEED_LIST:
            args, theirs, meta, grid = case(size, config)
            row = {}
            if config in built:
                row["ours"] = built[config].bind(grid, *args)
            row["triton"] = lambda theirs=theirs, meta=meta, config=config, grid=grid: fn[grid](*theirs, **meta, num_warps=config[4], num_stages=config[3])
            times = {}
            for who, f in row.items():
                try:
                    size["c"].fill_(0); f(); check(size["c"].float(), size["ref"], 6e-2 if fp8 else 2e-3)
                    times[who] = min(bench.once(f, 20), bench.once(f, 20))
                    if who not in best or times[who] < best[who][0]: best[who] = (times[who], config, f)
                except Exception as e:
                    print(f"  {who} {config}: {str(e).splitlines()[0][:120]}", flush=True)
            text = "  ".join(f"{who} {amount / t:6.0f}" for who, t in times.items())
            ratio = f"  ratio {times['triton'] / times['ours']:.3f}" if len(times) == 2 else ""
            print(f"  {n} BN{config[1]} BK{config[2]} s{config[3]} w{config[4]} sub{int(config[5])}: {text}{ratio}", flush=True)
            bench.rows.append({"name": f"list {DTYPE[dtype]} {n} {config}", "times_ms": times})
        fns = {who: f for who, (_, _, f) in best.items()}
        a, b = size["a"], size["b"]
        if fp8:
            one = torch.ones((), device="cuda")
            fns["cublas"] = lambda: torch._scaled_mm(a, b.T, scale_a=one, scale_b=one, out_dtype=torch.float16, use_fast_accum=True)
        else:
            out = torch.empty_like(size["c"])
            fns["cublas"] = lambda: torch.matmul(a, b.T, out=out)
        for who, (_, config, _) in best.items(): print(f"  best of {who}: {config}")
        bench.compare(f"best of the list {DTYPE[dtype]} {n}^3", fns, "TFLOP/s", amount)


def suite_list16(bench, lib, quick):
    seed_list(bench, lib, quick, torch.float16, [8192, 4096])


def suite_list8(bench, lib, quick):
    seed_list(bench, lib, quick, torch.float8_e4m3fn, [8192])


# ---- attention ----

def suite_attention(bench, lib, quick):
    peer = load_module(OPTIONS.peer_attention) if OPTIONS.peer_attention else None
    module, path = source("attention.tile")
    fn = plain(module.attention_fwd)
    for batch, heads, seq, dim in [(4, 16, 4096, 128), (1, 16, 16384, 128), (4, 32, 4096, 64)][: 1 if quick else 3]:
        for causal in (False, True):
            name = f"attention {batch}x{heads}x{seq}x{dim} {'causal' if causal else 'full'}"

            def run():
                q, k, v = (torch.randn(batch * heads, seq, dim, device="cuda", dtype=torch.float16) for _ in range(3))
                o = torch.empty_like(q)
                meta = {"BM": 128, "BN": 128, "D": dim, "CAUSAL": causal}
                grid = (triton.cdiv(seq, 128), batch * heads)
                args = (q, k, v, o, seq, dim ** -0.5 * math.log2(math.e))
                f = ours(lib, path, "attention_fwd", grid, args, meta, num_warps=8, num_stages=3)
                ref = torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=causal)[0]
                o.fill_(float("nan")); f(); check(o, ref, 5e-3)
                flops = 4 * batch * heads * seq * seq * dim * (0.5 if causal else 1)
                fns = {"ours": f, "triton": lambda: fn[grid](*args, **meta, num_warps=8, num_stages=3)}
                if peer:
                    q4, k4, v4, o4 = (t.view(batch, heads, seq, dim) for t in (q, k, v, torch.empty_like(o)))
                    fns["peer"] = lambda: peer.attention_forward(q4, k4, v4, o4, causal, dim ** -0.5)
                    fns["peer"](); check(o4.view_as(o), ref, 5e-3)
                bench.compare(name, fns, "TFLOP/s", flops / 1e9)
            guarded(bench, name, run)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("suites", nargs="+", choices=["memory", "matmul", "fp8", "attention", "list16", "list8"])
    p.add_argument("--rounds", type=int, default=20)
    p.add_argument("--quick", action="store_true")
    p.add_argument("--json")
    p.add_argument("--peer-attention")
    p.add_argument("--seed", default=os.path.join(os.environ.get("TILE_SEEDS", os.path.join(ROOT, "..", "shared", "seeds")), "matmul_tma_persistent.txt"))
    o = p.parse_args()
    global OPTIONS
    OPTIONS = o
    bench = Bench(5 if o.quick and o.rounds == 20 else o.rounds)
    lib = tile_ctypes.Library()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, triton {triton.__version__}, {bench.rounds} rounds")
    for s in o.suites:
        guarded(bench, s, lambda: globals()["suite_" + s](bench, lib, o.quick))
    bench.best()
    if o.json:
        json.dump(bench.rows, open(o.json, "w"))


if __name__ == "__main__":
    main()
