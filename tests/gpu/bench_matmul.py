"""Matrix products in fp16 and fp8 beside cuBLAS: on pointers, on descriptors, and an autotune list of the seed's own kernel."""
import concurrent.futures
import os
import subprocess
import sys
import tempfile

import torch
import triton

from bench_common import DTYPE, ROOT, check, guarded, load_module, ours, plain, source, spec


SHAPES = [(8192, 8192, 8192), (4096, 4096, 4096), (8192, 8192, 1024), (2048, 2048, 2048), (4096, 4096, 14336)]


def library_product(a, b, c):
    """torch's own product of a [m, k] and b [k, n] into c: cuBLAS, for fp8 with its fast accumulation as the kernels here."""
    if a.dtype == torch.float16: return lambda: torch.matmul(a, b, out=c)
    one = torch.ones((), device="cuda")
    return lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.float16, use_fast_accum=True)


def suite_matmul(bench, lib, options):
    pointers(bench, lib, SHAPES[: 2 if options.quick else 5], torch.float16, [(128, 256, 64, 3, 8), (128, 128, 64, 4, 4)])
    persistent(bench, lib, SHAPES[: 2 if options.quick else 5], torch.float16, [(128, 256, 64, 3, 8, True), (128, 256, 64, 4, 8, True), (128, 256, 64, 3, 8, False)])


def suite_fp8(bench, lib, options):
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


def seed_list(bench, lib, options, dtype, sizes):
    from triton.tools.tensor_descriptor import TensorDescriptor
    module, path = seed_kernel(options.seed)
    fn = plain(module._matmul_tma_persistent_kernel)
    fp8 = dtype != torch.float16
    sms = torch.cuda.get_device_properties(0).multi_processor_count
    if options.quick: sizes = sizes[:1]

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
            figures = {who: amount / t for who, t in times.items()}
            if len(times) == 2: figures["ratio_triton"] = (times["triton"] / times["ours"],)
            bench.rows.append({"name": f"list {DTYPE[dtype]} {n} {config}", "family": f"list {n}", "unit": "TFLOP/s", "times_ms": times, **figures})
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


def suite_list16(bench, lib, options):
    seed_list(bench, lib, options, torch.float16, [8192, 4096])


def suite_list8(bench, lib, options):
    seed_list(bench, lib, options, torch.float8_e4m3fn, [8192])
