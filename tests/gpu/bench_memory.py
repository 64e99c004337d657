"""Memory-bound kernels: addition, sum, and norms over rows."""
import torch
import triton

from bench_common import check, guarded, ours, plain, source


def row_kernel(bench, lib, file, kernel, make_args, shapes, warps_list):
    module, path = source(file)
    fn = plain(getattr(module, kernel))
    for rows, cols in shapes:
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


ROW_KERNELS = [("softmax.tile", "softmax_kernel", softmax), ("layer_norm.tile", "layer_norm_fwd", layer_norm), ("rms_norm.tile", "rms_norm_kernel", rms_norm)]


def suite_small(bench, lib, options):
    """Launches of few rows, where what counts is how long one block takes and how many waves there are."""
    shapes = [(rows, cols) for cols in (4096, 8192) for rows in ((132, 1056) if options.quick else (1, 132, 528, 1056, 2112, 4224))]
    for kernel in ROW_KERNELS: row_kernel(bench, lib, *kernel, shapes, (4, 8))


def suite_memory(bench, lib, options):
    quick = options.quick
    bench.measure_copy()

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
    shapes = [(32768, 4096), (16384, 8192), (8192, 16384)][: 1 if quick else 3]
    for kernel in ROW_KERNELS: row_kernel(bench, lib, *kernel, shapes, warps)
