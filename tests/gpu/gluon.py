#!/usr/bin/env python3
"""Gluon on a GPU, beside Triton's, within a time: what is right, what tests say, and what it costs.

usage: gluon.py [PART…] [--seconds N] [--rounds N] [--file TESTS.py] [--seed FILE.py] [--json FILE]
       gluon.py --dry-run        compiles what `times` would time, by libtile and, if it is installed, by Triton: no GPU
parts, in this order, all of them by default:
    right   every Gluon conformance case and the `tilec run` line of every Gluon example (TILEC names tilec)
    tests   --file, a file for pytest: through tilec.triton and through Triton, and where the two verdicts differ
    times   the Gluon examples by libtile (TILE_LIBRARY) and the same text by Triton, interleaved in one process, every row
            checked; the ratio is Triton's time over ours, the median of the rounds, and MHz is the clock meanwhile
    seed    --seed, a program that times by triton.testing.do_bench: through both at once, which take turns at the GPU
            row by row (turns.py); the ratio is the median of the rounds
A part begins only while time is left, and is stopped when it is over."""
import argparse
import glob
import json
import os
import queue
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "tools")]
import results  # noqa: E402
import turns  # noqa: E402
from tile_ctypes import library_path  # noqa: E402

PARTS = ("right", "tests", "times", "seed")
FP16_BOUND = 2e-3
MARK = "@ "              # begins a line from the process that times to the one that started it
QUIET_SECONDS = 60


class Budget:
    def __init__(self, seconds):
        self.end = time.monotonic() + seconds

    def left(self):
        return self.end - time.monotonic()

    def run(self, command, **kwargs):
        """Returns the exit status and what was written; None if the time was over."""
        if self.left() <= 0:
            return None, ""
        with tempfile.TemporaryFile("w+") as out:
            process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, cwd=ROOT, **kwargs)
            try:
                status = process.wait(self.left())
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                status = None
            out.seek(0)
            return status, out.read()


def tail(text, lines=12):
    return "\n".join("    " + line for line in text.strip().splitlines()[-lines:])


# ---- right ----
def part_right(budget, options):
    tilec, jobs = os.environ.get("TILEC", os.path.join(ROOT, "build", "tilec")), str(os.cpu_count())
    cases = sorted(glob.glob(os.path.join(ROOT, "tests", "conformance", "gluon_*.tile")))
    commands = {"conformance": [sys.executable, "tests/conformance/run.py", tilec, f"--device={options.device}", f"-j{jobs}", *cases],
                "examples": ["tools/run_lines.sh", tilec, "-j", jobs, "-o", f"-q --device={options.device} --check", *examples()]}
    failed = 0
    for name, command in commands.items():
        status, said = budget.run(command)
        failed += status != 0
        print(f"{name}: {'ok' if status == 0 else 'no time' if status is None else f'FAILED, status {status}'}\n{tail(said)}", flush=True)
    return failed


def examples():
    return sorted(glob.glob(os.path.join(ROOT, "examples", "gluon_*.tile")))


# ---- tests ----
def environment():
    path = os.pathsep.join([os.path.join(ROOT, "runtime", "python"), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "TILE_LIBRARY": library_path(), "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


def through(who):
    return [sys.executable, "-m", "tilec.triton"] if who == "tilec" else [sys.executable]


def verdicts(said):
    return dict((name, word) for word, name in re.findall(r"^(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (\S+::\S+)", said, re.M))


def part_tests(budget, options):
    if not options.file:
        print("no --file: nothing to run")
        return 0
    found = {}
    for who in options.peers:
        command = [*through(who), "-m", "pytest", "-p", "no:cacheprovider", "-q", "-rA", "--tb=line", options.file]
        status, said = budget.run(command, env=environment())
        found[who] = verdicts(said)
        last = said.strip().splitlines()[-1:] or [""]
        print(f"{who:8} {'no time' if status is None else f'status {status}'}: {last[0]}", flush=True)
        if not found[who]: print(tail(said))
    ours = found["tilec"]
    for name in sorted({n for f in found.values() for n in f}):
        words = {who: f.get(name, "missing") for who, f in found.items()}
        if len(set(words.values())) > 1 or ours.get(name) in ("FAILED", "ERROR"):
            print("  " + ", ".join(f"{who} {word}" for who, word in words.items()) + f": {name}")
    return not ours or any(word in ("FAILED", "ERROR") for word in ours.values())


# ---- times ----
GEMM_SIZES = [(8192, 8192, 8192), (4096, 4096, 4096), (8192, 8192, 1024), (2048, 2048, 2048)]
ATTENTION_SIZES = [(16, 4096), (8, 16384), (64, 1024)]     # heads, sequence


def gemm_cases():
    """Names, files, blocks of the operands from the constants, constants, and warps."""
    yield "persistent", "gluon_persistent.tile", dict(BM=128, BN=256, BK=64, STAGES=3), 8, lambda c: (c["BM"], c["BN"], c["BK"])
    yield "persistent", "gluon_persistent.tile", dict(BM=128, BN=128, BK=64, STAGES=4), 4, lambda c: (c["BM"], c["BN"], c["BK"])
    yield "pipelined", "gluon_matmul.tile", dict(BM=128, BN=128, BK=64, STAGES=4), 4, lambda c: (c["BM"], c["BN"], c["BK"])
    yield "warp-specialised", "gluon_warp_specialized.tile", dict(HALF=64, BN=256, BK=64, STAGES=3, GROUP=8), 4, lambda c: (c["HALF"], c["BN"], c["BK"])
    yield "warp-specialised", "gluon_warp_specialized.tile", dict(HALF=64, BN=128, BK=64, STAGES=5, GROUP=8), 4, lambda c: (c["HALF"], c["BN"], c["BK"])


def attention_cases():
    for width, causal in ((128, False), (128, True), (64, False)):
        yield "attention", "gluon_attention.tile", dict(HALF=64, BN=128, D=width, STAGES=2, CAUSAL=causal), 4


def label(name, constants, warps):
    return f"{name} {' '.join(f'{k}={v}' for k, v in constants.items())} w{warps}"


def gemm_signature(blocks):
    m, n, k = blocks
    return ", ".join([f"tensordesc<fp16[{m},{k}]>", f"tensordesc<fp16[{k},{n}]>", f"tensordesc<fp16[{m},{n}]>"] + ["i32:16"] * 3)


def attention_signature(c):
    blocks = [(c["HALF"], c["D"]), (c["BN"], c["D"]), (c["BN"], c["D"]), (c["HALF"], c["D"])]
    return ", ".join([f"tensordesc<fp16[{a},{b}]>" for a, b in blocks] + ["i32:16", "fp32"])


class Clock(threading.Thread):
    """Samples the GPU's clock until it is stopped."""

    def __init__(self):
        super().__init__(daemon=True)
        self.samples, self.over = [], threading.Event()

    def run(self):
        query = results.sampler("clocks.sm")
        while not self.over.wait(0.2):
            said = subprocess.run(query, capture_output=True, text=True).stdout.strip()
            if said.isdigit(): self.samples.append(int(said))

    def median(self):
        self.over.set()
        self.join()
        return sorted(self.samples)[len(self.samples) // 2] if self.samples else 0


def descriptor(tensor, block):
    """Triton's descriptor with the layout that tilec's has by default."""
    from triton.experimental.gluon import language as gl
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor
    return TensorDescriptor.from_tensor(tensor, list(block), gl.NVMMASharedLayout.get_default_for(list(block), gl.float16))


def row(bench, lib, name, file, kernel, grid, tensors, rest, constants, warps, want, out, flops):
    """tensors: (tensor, block) of the descriptors; rest: the arguments after them."""
    from bench_common import check, guarded, ours, plain, source

    def run():
        module, path = source(file)
        fn = plain(getattr(module, kernel))
        args = (*(("desc", t, list(block)) for t, block in tensors), *rest)
        mine = ours(lib, path, kernel, grid, args, constants, num_warps=warps)
        descriptors = [descriptor(t, block) for t, block in tensors]
        peer = lambda: fn[grid](*descriptors, *rest, **constants, num_warps=warps)
        for who, f in (("tilec", mine), ("triton", peer)):
            print(f"{MARK}{name}: {who}'s first launch", flush=True)
            out.fill_(float("nan")); f(); check(out, want, FP16_BOUND)
        clock = Clock()
        clock.start()
        bench.compare(name, {"ours": mine, "triton": peer}, "TFLOP/s", flops / 1e9)
        bench.rows[-1]["mhz"] = clock.median()
    guarded(bench, name, run)


def gemm_row(bench, lib, size, case):
    import torch
    (m, n, k), (name, file, constants, warps, blocks) = size, case
    a, b = (torch.randn(*s, device="cuda").half() for s in ((m, k), (k, n)))
    c, want = torch.empty(m, n, device="cuda", dtype=torch.float16), a @ b
    bm, bn, bk = blocks(constants)
    tiles = -(-m // (2 * bm if "HALF" in constants else bm)) * -(-n // bn)
    sms = torch.cuda.get_device_properties(0).multi_processor_count
    grid = (-(-m // bm), -(-n // bn)) if name == "pipelined" else (min(sms, tiles),)
    row(bench, lib, f"{m}x{n}x{k} {label(name, constants, warps)}", file, "matmul", grid,
        [(a, (bm, bk)), (b, (bk, bn)), (c, (bm, bn))], (m, n, k), constants, warps, want, c, 2 * m * n * k)


def attention_row(bench, lib, size, case):
    import torch
    (heads, seq), (name, file, constants, warps) = size, case
    width, causal = constants["D"], constants["CAUSAL"]
    q, k, v = (torch.randn(heads * seq, width, device="cuda").half() for _ in range(3))
    out, scale = torch.empty_like(q), width ** -0.5
    shaped = [x.view(1, heads, seq, width) for x in (q, k, v)]
    want = torch.nn.functional.scaled_dot_product_attention(*shaped, is_causal=causal, scale=scale).reshape(heads * seq, width)
    own, keys = (constants["HALF"], width), (constants["BN"], width)
    row(bench, lib, f"{heads}x{seq} {label(name, constants, warps)}", file, "attention",
        (seq // (2 * constants["HALF"]), heads), [(q, own), (k, keys), (v, keys), (out, own)],
        (seq, scale * 1.4426950408889634), constants, warps, want, out, 4 * heads * seq * seq * width / (2 if causal else 1))


def timed_rows():
    """What `times` measures: the kernel and its constants, and a function of (bench, lib), which measures a row."""
    for make, sizes, cases in ((gemm_row, GEMM_SIZES, gemm_cases), (attention_row, ATTENTION_SIZES, attention_cases)):
        for case in cases():
            for size in sizes:
                yield label(case[0], case[2], case[3]), lambda bench, lib, make=make, size=size, case=case: make(bench, lib, size, case)


def time_rows(options):
    """The process that `times` starts: measures from row --first on, and tells what it is about to do."""
    import tile_ctypes
    from bench_common import Bench
    bench, lib = Bench(options.rounds), tile_ctypes.Library()
    bench.reading_ms = 40
    for i, (_, measure) in enumerate(timed_rows()):
        if i < options.first: continue
        print(f"{MARK}row {i}", flush=True)
        measure(bench, lib)
        print(f"{MARK}is {json.dumps(bench.rows.pop())}", flush=True)


def part_times(budget, options):
    """A kernel that hangs costs its row alone: a process that says nothing for a while is ended, the next goes on after."""
    from importlib.metadata import version
    print(f"PyTorch {version('torch')}, Triton {version('triton')}, {options.rounds} rounds")
    rows, labels = [], [name for name, _ in timed_rows()]
    number = len(labels)
    while len(rows) < number and budget.left() > 0:
        rows += rows_of_process(budget, options, len(rows))
        while rows and rows[-1].get("hangs") and len(rows) < number and labels[len(rows)] == labels[len(rows) - 1]:
            rows.append({"name": labels[len(rows)], "failed": "not tried: it hung before", "hangs": True})
    print(f"\n{'kernel':76} {'ours':>7} {'triton':>7}  ratio (10 %–90 %)       MHz")
    for r in rows:
        if "failed" in r:
            print(f"{r['name']:76} failed: {r['failed'][:100]}")
            continue
        ratio, low, high = r["ratio_triton"]
        print(f"{r['name']:76} {r['ours']:7.0f} {r['triton']:7.0f}  {ratio:.3f} ({low:.3f}–{high:.3f}) {r['mhz']:9.0f}")
    if len(rows) < number: print(f"{number - len(rows)} rows: no time")
    if options.json:
        with open(options.json, "w") as f: json.dump(rows, f)
    return any("failed" in r for r in rows)


def rows_of_process(budget, options, first):
    command = [sys.executable, os.path.abspath(__file__), "rows", "--first", str(first), "--rounds", str(options.rounds)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment())
    lines, rows, doing, said = queue.Queue(), [], "starting", []

    def read():
        for line in process.stdout: lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=max(0.1, min(QUIET_SECONDS, budget.left())))
        except queue.Empty:
            process.kill()
            if budget.left() > 0: rows.append({"name": doing, "failed": f"nothing happened for {QUIET_SECONDS} s", "hangs": True})
            return rows
        if line is None: break
        if not line.startswith(MARK):
            said.append(line)
            print(line, end="", flush=True)
        elif line.startswith(MARK + "is "): rows.append(json.loads(line[len(MARK) + 3:]))
        else: doing = line[len(MARK):].strip()
    if process.wait() or not rows: rows.append({"name": doing, "failed": f"status {process.returncode}: {' '.join(said[-1:])}"})
    return rows


# ---- seed ----
def part_seed(budget, options):
    if not options.seed:
        print("no --seed: nothing to run")
        return 0
    player = [os.path.join(HERE, "turns.py"), options.seed]
    commands = [[*through(who), *player] for who in ("tilec", "triton")]
    rows, said, statuses = turns.alternate(commands, options.rounds, time.monotonic() + budget.left(), env=environment(), cwd=ROOT)
    for who, lines, status in zip(("tilec", "triton"), said, statuses):
        print(f"{who}: {'cut off' if status is None else f'status {status}'}\n{tail(chr(10).join(lines), 60)}", flush=True)
    for label, ours, theirs in rows:
        ratios = [peer / mine for mine, peer in zip(ours, theirs)]
        low, *_, high = statistics.quantiles(ratios, n=10) if len(ratios) > 1 else ratios * 2
        print(f"  {label:60} tilec {statistics.median(ours):8.4f} ms  triton {statistics.median(theirs):8.4f} ms"
              f"  ratio {statistics.median(ratios):.3f} ({low:.3f}–{high:.3f})")
    return not rows or any(status != 0 for status in statuses)


# ---- without a GPU ----
def triton_compiles(file, kernel, warps, constants, blocks, kinds):
    """Compiles by Triton for sm_90a; what it costs, or why not."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import compile as triton_compile
    from triton.experimental.gluon import language as gl
    from triton.experimental.gluon._runtime import GluonASTSource
    from bench_common import plain, source
    fn = plain(getattr(source(file)[0], kernel))
    known = {k: v for k, v in {**constants, "num_warps": warps}.items() if k in fn.arg_names}
    layouts = [gl.NVMMASharedLayout.get_default_for(list(b), gl.float16) for b in blocks]
    types = [f"tensordesc<fp16[{b[0]}, {b[1]}],{layout!r}>" for b, layout in zip(blocks, layouts)] + kinds
    signature = {**dict(zip(fn.arg_names, types)), **dict.fromkeys(known, "constexpr")}
    made = triton_compile(GluonASTSource(fn, signature, known), target=GPUTarget("cuda", 90, 32), options={"num_warps": warps})
    return f"triton {made.metadata.shared} bytes of shared memory"


def dry_run():
    import tile_ctypes
    lib = tile_ctypes.Library(device="sim")
    rows = [(name, file, "matmul", c, w, gemm_signature(blocks(c)), [(blocks(c)[0], blocks(c)[2]), (blocks(c)[2], blocks(c)[1]), blocks(c)[:2]],
             ["i32"] * 3) for name, file, c, w, blocks in gemm_cases()]
    rows += [(name, file, "attention", c, w, attention_signature(c), [(c["HALF"], c["D"]), (c["BN"], c["D"]), (c["BN"], c["D"]), (c["HALF"], c["D"])],
              ["i32", "fp32"]) for name, file, c, w in attention_cases()]
    for name, file, kernel, constants, warps, signature, blocks, kinds in rows:
        lib.build(os.path.join(ROOT, "examples", file), kernel, signature, constants, warps)
        try:
            peer = triton_compiles(file, kernel, warps, constants, blocks, kinds)
        except ImportError as e:
            peer = f"triton is not here: {e}"
        print(f"{label(name, constants, warps)}: compiled; {peer}", flush=True)


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("parts", nargs="*")
    p.add_argument("--seconds", type=float, default=1500)
    p.add_argument("--rounds", type=int, default=10)
    p.add_argument("--file")
    p.add_argument("--seed")
    p.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    p.add_argument("--json")
    p.add_argument("--device", default="gpu", choices=["gpu", "sim", "interp"], help="of the part `right`")
    p.add_argument("--peers", nargs="+", default=["tilec", "triton"], choices=["tilec", "triton"])
    p.add_argument("--dry-run", action="store_true")
    options = p.parse_args()
    if options.dry_run: return dry_run()
    if options.parts == ["rows"]: return time_rows(options)
    wrong = [part for part in options.parts if part not in PARTS]
    if wrong: p.error(f"there is no part {wrong[0]}")
    budget, failed = Budget(options.seconds), 0
    for part in options.parts or PARTS:
        print(f"== {part}, {max(0, budget.left()):.0f} s left", flush=True)
        failed += bool(globals()["part_" + part](budget, options)) if budget.left() > 0 else 0
    sys.exit(1 if failed else 0)


main()
