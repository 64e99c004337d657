#!/usr/bin/env python3
"""Random layouts at work: conversions between pairs of them, and tiles through shared memory in them.

    random_layouts.py TILEC [--conversions 500] [--buffers 200] [--parts 200] [--seed N] [-j N]

The layouts are those of recorded/; half of the buffers are padded instead. `--parts` also changes a random slice of
each buffer. A kernel computes on the simulator, and on the interpreter (--check), what Python says: each element at its
own place.
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


def in_slice(i, shape, axis, start, length):
    inner = numel(shape[axis + 1:])
    return start <= i // inner % shape[axis] < start + length


def padded(rng, shape):
    intervals = rng.sample([1 << k for k in range(2, 10)], rng.choice([1, 1, 2]))
    pads = [[i, min(i // 2, 1 << rng.randrange(6))] for i in sorted(intervals)]
    return f"gl.PaddedSharedLayout.with_identity_for({pads}, {shape}, {rng.sample(range(len(shape)), len(shape))})"


def spread(rng, rank, warps):
    """A blocked layout for any shape of that rank."""
    axis = rng.randrange(rank)
    along = lambda n: [n if d == axis else 1 for d in range(rank)]
    size = [1 << rng.randrange(4) for _ in range(rank)]
    return f"B({size}, {along(32)}, {along(warps)}, {rng.sample(range(rank), rank)})"


def change_part(rng, shape, warps):
    """Source that adds 5 to a slice of the buffer, and what tells which elements those are."""
    axis = rng.randrange(len(shape))
    length = 1 << rng.randrange(shape[axis].bit_length())
    start = rng.randrange(shape[axis] // length) * length
    p, q = spread(rng, len(shape), warps), spread(rng, len(shape), warps)
    return (f"part = buf.slice({start}, {length}, {axis})\n"
            f"    part.store(gl.convert_layout(part.load({p}) + 5, {q}))\n    ", (shape, axis, start, length))


def run(tilec, folder, number, text, n, dtype, warps, part=None):
    path = os.path.join(folder, f"k{number}.tile")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    command = [tilec, "run", path, "--device=sim", "--grid", "1", "-w", str(warps), "-D",
               f"LINE=gl.BlockedLayout([1],[32],[{warps}],[0])", "--arg", f"y={dtype}[{n}]=zeros", "--check",
               "--print=y"]
    r = subprocess.run(command, capture_output=True, text=True, timeout=120)
    got = r.stdout.split("\n", 1)[-1].split("]")[0].lstrip("[").split()
    bits = int(dtype[1:])
    half = 1 << bits - 1
    want = [3 * i + 1 + (5 if part and in_slice(i, *part) else 0) for i in range(n)]
    want = [(x + half) % (2 * half) - half for x in want]
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
    args.add_argument("--parts", type=int, default=200)
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
    shared = list(read("shared.txt"))
    for layout, shape, _ in rng.choices(shared, k=args.buffers + args.parts):
        fits = [key for key in groups if key[0] == tuple(shape)]
        warps = rng.choice(fits)[1] if fits else 4
        a = rng.choice(groups[tuple(shape), warps]) if fits else spread(rng, len(shape), warps)
        b = rng.choice(groups[tuple(shape), warps]) if fits else spread(rng, len(shape), warps)
        if rng.random() < 0.5:
            layout = padded(rng, shape)
        bits = int(layout.split(",")[1]) if layout[0] == "N" else rng.choice([8, 16, 32])
        change, part = change_part(rng, shape, warps) if len(cases) >= args.conversions + args.buffers else ("", None)
        middle = (f"buf = gl.allocate_shared_memory(y.dtype.element_ty, {shape}, {layout}, v)\n    "
                  f"{change}w = buf.load(b)")
        text = HEAD.format(a=a, b=b, n=numel(shape), shape=shape, middle=middle)
        cases.append((text, numel(shape), f"i{bits}", warps, part))
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
