#!/usr/bin/env python3
"""Measures tilec as a whole process: time and peak memory of the examples, and growth with a tile's size, stores, loop
   depth and elements per thread.
   tools/compile_time.py TILEC [RUNS [PAGE]]      figures are medians; `cpu` is user plus system time
PAGE, docs/results/compile-time.md, is overwritten with them."""
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import results

SOURCE = '''import triton
import triton.language as tl


@triton.jit
def block(x, y, R: tl.constexpr, C: tl.constexpr):
    offs = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    v = tl.load(x + offs)
    tl.store(y + offs, v * 2.0 + tl.exp(v))


@triton.jit
def elements(x, y, n, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + offs, mask=offs < n)
    tl.store(y + offs, tl.exp(v - tl.sum(v, axis=0)), mask=offs < n)


@triton.jit
def turn(x, y, M, N, B: tl.constexpr):
    r, c = tl.program_id(0) * B + tl.arange(0, B), tl.program_id(1) * B + tl.arange(0, B)
    m = (r < M)[:, None] & (c < N)[None, :]
    tl.store(y + c[None, :] * M + r[:, None], tl.load(x + r[:, None] * N + c[None, :], mask=m), mask=m)


@triton.jit
def stores(x, N: tl.constexpr):
    for i in tl.static_range(N):
        tl.store(x + i, i)
'''


def deep(depth):
    lines = ["", "", "@triton.jit", f"def deep{depth}(x, n):",
             "    acc = tl.zeros((128,), tl.float32)", "    offs = tl.arange(0, 128)"]
    for i in range(depth):
        lines.append("    " * (i + 1) + f"for i{i} in range(n):")
        lines.append("    " * (i + 2) + f"acc += tl.load(x + offs + i{i})")
    return "\n".join(lines + ["    tl.store(x + offs, acc)", ""])


ROWS = []


def measure(name, runs, command):
    wall, cpu, peak = [], [], 0
    for _ in range(runs):
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        if status:
            sys.exit(f"{name}: tilec failed")
        wall.append((time.perf_counter() - start) * 1e3)
        cpu.append((used.ru_utime + used.ru_stime) * 1e3)
        peak = max(peak, used.ru_maxrss / 1024)
    wall, cpu = statistics.median(wall), statistics.median(cpu)
    print(f"{name:32} {wall:8.1f} ms  cpu {cpu:8.1f} ms  peak {peak:6.1f} MiB", flush=True)
    ROWS.append((name, runs, f"{wall:.1f}", f"{cpu:.1f}", f"{peak:.1f}"))


def main():
    tilec, runs = os.path.realpath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20
    page = os.path.realpath(sys.argv[3]) if len(sys.argv) > 3 else None
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    with tempfile.TemporaryDirectory() as folder:
        out, source = os.path.join(folder, "k.ptx"), os.path.join(folder, "k.tile")
        with open(source, "w") as f:
            f.write(SOURCE + "".join(deep(d) for d in range(1, 11)))
        measure("vector_add", runs, [tilec, "examples/vector_add.tile", "-o", out])
        measure("softmax", runs, [tilec, "examples/softmax.tile", "-o", out,
                                  "-s", "*fp32:16,*fp32:16,i32:16,i32:16,i32,i32,1024"])
        half, whole = "*fp16:16", "i32:16"
        strides = ["1", whole, "1", whole, "1"]
        measure("matmul 128x256x64", runs,
                [tilec, "examples/matmul.tile", "-k", "matmul_kernel", "-w", "8", "--num-stages=3", "-o", out,
                 "-s", ",".join([half] * 3 + [whole] * 4 + strides + ["128,256,64,8"])])
        measure("attention 128x128, D 128", runs,
                [tilec, "examples/attention.tile", "-k", "attention_fwd", "-w", "8", "--num-stages=3", "-o", out,
                 "-s", ",".join([half] * 4 + [whole, "fp32", "128,128,128,False"])])
        tile = "tensordesc<fp16[128,128]>"
        measure("gluon matmul 128x128x128", runs,
                [tilec, "examples/gluon_matmul.tile", "-k", "matmul", "-w", "4", "-o", out,
                 "-s", ",".join([tile] * 3 + ["i32"] * 3 + ["128,128,128,2"])])
        few = max(1, runs // 4)
        measure("block of 4 x 65536", few, [tilec, source, "-k", "block", "-s", "*fp32:16,*fp32:16,4,65536", "-o", out])
        for size, warps in ((64, 4), (128, 4), (128, 1), (256, 4)):
            measure(f"transpose {size}x{size}, {warps} warp{'s' * (warps > 1)}", few,
                    [tilec, source, "-k", "turn", "-w", str(warps), "-s", f"*fp16,*fp16,i32,i32,{size}", "-o", out])
        for count in (5000, 10000, 20000):
            measure(f"{count} stores", few, [tilec, source, "-k", "stores", "-s", f"*fp32,{count}", "-o", out])
        for depth in range(1, 11):
            measure(f"loops {depth} deep", few, [tilec, source, "-k", f"deep{depth}", "-s", "*fp32:16,i32", "-o", out])
        for per_thread in (1 << k for k in range(10)):
            measure(f"{per_thread} elements per thread", few,
                    [tilec, source, "-k", "elements", "-s", f"*fp32:16,*fp32:16,i32,{per_thread * 128}", "-o", out])
    if page:
        with open("/proc/cpuinfo") as f: cpu = re.search("^model name.*: (.*)$", f.read(), re.M)
        version = subprocess.run([tilec, "--version"], capture_output=True, text=True).stdout
        versions = ", ".join(version.split("\n")[:2])
        processor = cpu[1] if cpu else "an unknown processor"
        results.write(page, "Compile time", f"{versions}, on {os.cpu_count()} cores of {processor}",
                      "Whole processes of the static release build: medians of wall time, of user plus system time, "
                      "and peak memory.",
                      results.table("Compilations", ["kernel", "runs", "wall ms", "CPU ms", "peak MiB"], ROWS))


main()
