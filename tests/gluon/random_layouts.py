#!/usr/bin/env python3
"""Random layouts at work: conversions between pairs of them, and tiles through shared memory in them.

    random_layouts.py TILEC [--conversions 500] [--buffers 200] [--seed N] [-j N]

The layouts are those of recorded/. A kernel computes on the simulator, and on the interpreter (--check), what Python
says: each element at its own place.
"""
import argparse
import ast
import concurrent.futures
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
HEAD = """from triton.experimental import gluon
from triton.experimental.gluon import language as gl
B, S, L, D = gl.BlockedLayout, gl.SliceLayout, gl.DistributedLinearLayout, gl.DotOperandLayout
M, N, W, H = gl.NVMMADistributedLayout, gl.NVMMASharedLayout, gl.SwizzledSharedLayout, gl.SharedLinearLayout


@gluon.jit
def k(y, LINE: gl.constexpr):
    a: gl.constexpr = {a}
    b: gl.constexpr = {b}
    i = gl.arange(0, {n}, layout=LINE).reshape({shape})
    v = gl.convert_layout((i * 3 + 1).to(y.dtype.element_ty), a)
    {middle}
    gl.store(y + gl.convert_layout(i, b), w)
"""


def read(name):
    with open(os.path.join(HERE, "recorded", name), encoding="utf-8") as f:
        for line in f:
            layout, shape, columns = line.rstrip("\n").split("|")
            yield layout, ast.literal_eval(shape), columns.split(";")


def numel(shape):
    n = 1
    for s in shape:
        n *= s
    return n


def run(tilec, folder, number, text, n, dtype, warps):
    path = os.path.join(folder, f"k{number}.tile")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    command = [tilec, "run", path, "--device=sim", "--grid", "1", "-w", str(warps), "-D",
               f"LINE=gl.BlockedLayout([1],[32],[{warps}],[0])", "--arg", f"y={dtype}[{n}]=zeros", "--check",
               "--print=y"]
    r = subprocess.run(command, capture_output=True, text=True, timeout=120)
    got = r.stdout.split("\n", 1)[-1].split("]")[0].lstrip("[").split()
    bits = int(dtype[1:])
    want = [(3 * i + 1 + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1) for i in range(n)]
    # Long arrays are printed with "..." in the middle.
    seen = len(got) == n or (len(got) == 7 and got[3] == "...")
    right = got[:3] == [str(x) for x in want[:3]] and got[-3:] == [str(x) for x in want[-3:]]
    ok = r.returncode == 0 and seen and right and (len(got) == 7 or got == [str(x) for x in want])
    return "" if ok else f"{' '.join(command)}\n{text}\n{r.stdout[:300]}\n{r.stderr}"


def main():
    args = argparse.ArgumentParser()
    args.add_argument("tilec")
    args.add_argument("--conversions", type=int, default=500)
    args.add_argument("--buffers", type=int, default=200)
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("-j", type=int, default=2)
    args = args.parse_args()
    rng = random.Random(args.seed)
    groups, cases = {}, []
    for layout, shape, columns in read("layouts.txt"):
        warps = 1 << len(columns[2].split())
        if not columns[3].strip():
            groups.setdefault((tuple(shape), warps), []).append(layout)
    pairs = [key for key, group in groups.items() if len(group) > 1]
    for _ in range(args.conversions):
        shape, warps = rng.choice(pairs)
        a, b = rng.sample(groups[shape, warps], 2)
        cases.append((HEAD.format(a=a, b=b, n=numel(shape), shape=list(shape), middle="w = gl.convert_layout(v, b)"),
                      numel(shape), "i32", warps))
    for layout, shape, _ in rng.sample(list(read("shared.txt")), args.buffers):
        fits = [key for key in groups if key[0] == tuple(shape)]
        r = len(shape)
        spread = f"[1] * {r}, [1] * {r - 1} + [32], [1] * {r - 1} + [4], list(range({r}))"
        warps = rng.choice(fits)[1] if fits else 4
        a = rng.choice(groups[tuple(shape), warps]) if fits else f"B({spread})"
        b = rng.choice(groups[tuple(shape), warps]) if fits else f"B({spread})"
        bits = int(layout.split(",")[1]) if layout[0] == "N" else rng.choice([8, 16, 32])
        middle = f"w = gl.allocate_shared_memory(y.dtype.element_ty, {shape}, {layout}, v).load(b)"
        text = HEAD.format(a=a, b=b, n=numel(shape), shape=shape, middle=middle)
        cases.append((text, numel(shape), f"i{bits}", warps))
    failures = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        jobs = [pool.submit(run, args.tilec, folder, i, *c) for i, c in enumerate(cases)]
        for job in jobs:
            if job.result():
                failures += 1
                print(job.result())
    print(f"random layouts: {len(cases) - failures} of {len(cases)} passed")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
