#!/usr/bin/env python3
"""Real packages' Triton kernels through tilec. Each launch that a package makes is made again by tilec, on clones of
the same tensors, compared with what Triton left there, and timed in turn with it.

usage: replay.py run PACKAGE… --out F.jsonl       on a GPU: one line a launch; of several packages, F-PACKAGE.jsonl each
                --packages DIR      the unpacked wheels (default: TILE_REPLAY_PACKAGES)
                --jobs N            first N processes side by side fill both compilers' caches, then one a package times
                                    (default: the cores; 1: the latter alone)
                --no-time           the former alone
                --rounds N (5)      rounds of a ratio; a launch below 0.98 is repeated with 20
                --first-config      autotuners are cut to their first configuration, for both (default)
                --best-config       autotuners try up to 12 configurations on either side; best is compared with best
                --only REGEX        judge the kernels alone whose module.name matches
                --cases REGEX       run these cases alone
                --seconds S         a process begins no further case after S seconds
                --per-kernel N (2)  launches judged of a kernel
                --guard S (120)     seconds after which a launch counts as hung
       replay.py dry PACKAGE… --out F.jsonl       without a GPU: the same launches are recorded, none is made
       replay.py compile F.jsonl… --out G.jsonl   without a GPU: compiles recorded launches by tilec and by Triton
                --arch sm_90a[,…]   for these; --tilec FILE (TILEC, build/tilec); --cache DIR keeps Triton's results
       replay.py list DIR…                        writes launches.txt: the launches recorded in the folders
       replay.py table DIR… --out PAGE.md         writes a page of docs/results from the folders' lines of `run`

A line has kernel, package, case, grid, options, signature, constexprs, sizes, and digest: the text is in
texts/DIGEST.py beside the line's file. `run` adds status, error, noise, ratio (Triton's time over ours), ours_us and
triton_us (p10, median, p90), first_ms, sm_mhz and watts. Status: ok; untimed (right, not timed); differs; refused by
tilec; failed (the launch raised, crashed or hung; `why` says how). Sums of fp16 or bf16 that a kernel does not widen
depend on their order: a "differs" of about 1e-3 there is rounding.

Packages, each unpacked into a folder of that name: liger (liger_kernel), fla (fla_core), flag_gems (and pyyaml),
sglang, unsloth, lmdeploy, mamba_ssm, several (the folders of PATHS in packages/several.py), tritonbench (see
packages/tritonbench.py), strangers and unseen to unseen7 (see the files of packages with these names).
Needs PyTorch, Triton 3.6, the package tilec and libtile.so (TILE_LIBRARY). `run` goes on where it stopped: it does not
judge again what the file has. If a launch crashes or hangs, it becomes a failed line, and a new process does the
rest.
"""

import argparse
import glob
import importlib
import json
import os
import re
import subprocess
import sys
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path[:0] = [HERE, os.path.join(ROOT, "runtime", "python"), os.path.join(ROOT, "tools")]
sys.path.append(os.path.dirname(HERE))
LOST = 17  # the status of a process whose device is lost: a new one goes on
PACKAGES = (
    "liger", "fla", "flag_gems", "sglang", "unsloth", "lmdeploy", "mamba_ssm", "several", "tritonbench", "strangers",
    "unseen", "unseen2", "unseen3", "unseen4", "unseen5", "unseen6", "unseen7",
)  # fmt: skip


def read(*paths):
    """The records of some files; a line that was cut short is left out."""
    out = []
    for path in paths:
        if not os.path.exists(path):
            continue
        with open(path) as f:
            for line in f:
                try:
                    out.append(json.loads(line))
                except ValueError:
                    continue
    return out


def workload(package, folder):
    """The module of a package's cases, its unpacked wheels importable."""
    module = importlib.import_module("packages." + package)
    for name in module.PATHS:
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            sys.path.insert(0, path)
    return module


def run_cases(o, package, prepare=lambda case: None, settle=lambda: None):
    """Runs a slice of a package's cases. One that raises is reported and does not stop the others."""
    number, jobs = map(int, o.slice.split("/"))
    start, skip = time.monotonic(), o.out + ".skip"
    skipped = open(skip).read().split() if os.path.exists(skip) else []
    for i, (name, case) in enumerate(workload(package, o.packages).cases()):
        if i % jobs != number or not re.search(o.cases, name) or name in skipped:
            continue
        if time.monotonic() - start > o.seconds:
            print(f"{package}: out of time before {name}", flush=True)
            break
        try:
            prepare(name)
            case()
            settle()
        except Exception as e:
            print(f"{package} {name}: {type(e).__name__}: {' '.join(str(e).split())[:300]}", flush=True)
            if os.environ.get("TILE_REPLAY_TRACE"):
                traceback.print_exc()
            if type(e).__name__ == "AcceleratorError" and o.command == "worker":  # the next process leaves it out
                with open(skip, "a") as f:
                    f.write(name + "\n")
                os._exit(LOST)


def worker(o):
    """One process of `run`: judges what its file does not have yet."""
    import torch
    from hook import Hook
    from judge import Judge

    warm = [] if o.no_time else glob.glob(o.out.removesuffix(".jsonl") + ".warm*.jsonl")
    skip = [r for r in read(*warm) if r["status"] in ("differs", "refused", "failed")]
    seen = {r["key"]: 1 for r in skip}
    for r in read(o.out):
        seen[r["kernel"]] = seen.get(r["kernel"], 0) + 1
        seen[r["key"]] = 1
    judge = Judge(o.out, not o.no_time, o.rounds, o.guard)
    hook = Hook(judge.take, o.per_kernel, o.only, seen, "best" if o.best_config else "first")
    hook.best = judge.best
    hook.install()
    package = judge.package = o.package[0]

    def prepare(case):
        judge.case = case
        torch.cuda.empty_cache()
        torch.manual_seed(0)

    run_cases(o, package, prepare, torch.cuda.synchronize)
    if judge.power:
        judge.power.end()
    os._exit(0)  # a lost context must not hang the exit


def spawn(o, package, out, piece, no_time):
    words = [
        sys.executable,
        os.path.abspath(__file__),
        "worker",
        package,
        "--out",
        out,
        "--slice",
        piece,
        "--packages",
        o.packages,
        "--rounds",
        str(o.rounds),
        "--only",
        o.only,
        "--cases",
        o.cases,
        "--seconds",
        str(o.seconds),
        "--guard",
        str(o.guard),
        "--per-kernel",
        str(o.per_kernel),
    ]
    return subprocess.Popen(words + ["--no-time"] * no_time + ["--best-config"] * o.best_config)


def supervise(jobs):
    """Runs processes until all have ended: {file: function that starts one}. A crash becomes a line of the file."""
    running = {out: start() for out, start in jobs.items()}
    tries = {}
    while running:
        time.sleep(0.2)
        for out, process in list(running.items()):
            if process.poll() is None:
                continue
            del running[out]
            pending = out + ".pending"
            for record in read(pending):
                why = record.get("why") or f"the process ended with status {process.returncode}"
                with open(out, "a") as f:
                    f.write(json.dumps({**record, "status": "failed", "why": why}) + "\n")
                print(f"{record['package']} {record['case']}: {record['kernel']}: {why}", flush=True)
            crashed = os.path.exists(pending)
            if crashed:
                os.remove(pending)
            tries[out] = tries.get(out, 0) + 1
            if process.returncode and (crashed or process.returncode == LOST) and tries[out] <= 8:
                running[out] = jobs[out]()
            elif process.returncode:
                print(f"{out}: status {process.returncode}", flush=True)


def run(o):
    """Fills both caches in processes side by side, then times alone."""
    home = os.path.dirname(os.path.abspath(o.out))
    os.makedirs(home, exist_ok=True)
    os.environ.setdefault("TRITON_CACHE_DIR", os.path.join(home, "triton-cache"))
    os.environ.setdefault("TILE_CACHE_DIR", os.path.join(home, "tile-cache"))
    stem = o.out.removesuffix(".jsonl")
    outs = {p: o.out if len(o.package) == 1 else f"{stem}-{p}.jsonl" for p in o.package}
    start, jobs = time.monotonic(), {}
    share = max(1, o.jobs // len(o.package))
    if o.jobs > 1 or o.no_time:
        for p, out in outs.items():
            for i in range(share):
                warm = f"{out.removesuffix('.jsonl')}.warm{i}.jsonl"
                jobs[warm] = lambda p=p, i=i, warm=warm: spawn(o, p, warm, f"{i}/{share}", True)
        supervise(jobs)
        print(f"without times: {time.monotonic() - start:.0f} s", flush=True)
    for p, out in outs.items() if not o.no_time else ():
        supervise({out: lambda: spawn(o, p, out, "0/1", False)})
        print(f"{p}: {time.monotonic() - start:.0f} s", flush=True)
    import report

    report.summary(report.merge(read(*outs.values(), *jobs)))


def main():
    p = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    p.add_argument("command", choices=["run", "worker", "dry", "compile", "list", "table"])
    p.add_argument("package", nargs="+")
    p.add_argument("--out")
    p.add_argument("--packages", default=os.environ.get("TILE_REPLAY_PACKAGES", "."))
    p.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    p.add_argument("--no-time", action="store_true")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--first-config", action="store_true")
    p.add_argument("--best-config", action="store_true")
    p.add_argument("--only", default="")
    p.add_argument("--cases", default="")
    p.add_argument("--seconds", type=float, default=1e9)
    p.add_argument("--per-kernel", type=int, default=2)
    p.add_argument("--guard", type=float, default=120, help="seconds after which a launch counts as hung")
    p.add_argument("--slice", default="0/1", help=argparse.SUPPRESS)
    p.add_argument("--arch", default="sm_90a")
    p.add_argument("--tilec", default=os.environ.get("TILEC", "build/tilec"))
    p.add_argument("--cache", help="folder of Triton's results by digest (default: beside --out)")
    o = p.parse_args()
    if o.command in ("run", "worker", "dry") and (unknown := set(o.package) - set(PACKAGES)):
        p.error(f"no workload {', '.join(unknown)}; there are {', '.join(PACKAGES)}")
    if not o.out and o.command != "list":
        p.error("--out is missing")
    if o.command == "run":
        return run(o)
    if o.command == "worker":
        return worker(o)
    module = importlib.import_module({"dry": "dry", "compile": "ahead", "list": "report", "table": "report"}[o.command])
    return getattr(module, "main_" + o.command)(o)


if __name__ == "__main__":
    sys.exit(main())
