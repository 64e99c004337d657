#!/usr/bin/env python3
"""Programs of Triton's on tilec.triton beside Triton itself, on a GPU:

    programs.py --part launch     what a launch with 12 arguments costs the host
    programs.py --part tests --tests FOLDER --seed 7 --limit 20     each test's verdict here and there
    programs.py --part compile    torch.compile of thirty functions and of a training step: results, times
    programs.py --part first      the first call of each of eight kernels, without and with a cache on disk

Without --part: all but tests. --minutes bounds each part. TILE_LIBRARY names libtile.so. --only ours runs without Triton;
TILE_DEVICE=sim --small tries it without a GPU. --out FILE keeps the figures as lines of JSON,
of which programs_report.py makes pages.
"""
import argparse
import contextlib
import datetime
import importlib.metadata
import json
import math
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import programs_tests
from tile_ctypes import library_path

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import results  # noqa: E402

SIDES = ("ours", "triton")


class Part:
    """The processes of a part: they share its time and its file of results."""

    def __init__(self, options):
        self.options, self.end = options, time.monotonic() + 60 * options.minutes
        self.folder = tempfile.mkdtemp(prefix="programs")
        self.file = os.path.join(self.folder, "results")

    def environment(self, caches):
        folder = os.path.join(self.folder, caches)
        os.makedirs(folder, exist_ok=True)
        e = dict(os.environ, TILE_LIBRARY=library_path(), TILE_CACHE_DIR=f"{folder}/tile", TRITON_CACHE_DIR=f"{folder}/triton",
                 TORCHINDUCTOR_CACHE_DIR=f"{folder}/inductor")
        e["PYTHONPATH"] = os.pathsep.join(filter(None, (os.path.join(ROOT, "runtime", "python"), HERE,
                                                        os.environ.get("PYTHONPATH"))))
        return e

    def run(self, command, environment):
        """Runs a process until it ends or the time is over. Returns its status; None: it was ended."""
        left = self.end - time.monotonic()
        if left <= 0:
            return None
        with open(os.path.join(self.folder, "log"), "a") as log:
            child = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
            try:
                return child.wait(left)
            except subprocess.TimeoutExpired:
                print("  the time is over")
                return None
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)   # and the processes that it started
                child.wait()

    def child(self, part, side, caches, *more):
        command = [sys.executable, os.path.join(HERE, "programs_child.py"), part, side, self.file, *more]
        if self.options.small:
            command.append("--small")
        if self.options.names:
            command += ["--only", *self.options.names]
        status = self.run(command, self.environment(caches))
        if status:
            print(f"  {part}, {side}: status {status}; the end of its log:")
            print("    " + "    ".join(self.log()[-12:]), end="")

    def log(self):
        with open(os.path.join(self.folder, "log")) as f:
            return f.readlines()

    def lines(self, path=None):
        try:
            with open(path or self.file) as f:
                return [json.loads(line) for line in f]
        except FileNotFoundError:
            return []

    def keep(self, **line):
        """Appends a line to the file of --out at once: it is there, too, if this program is ended."""
        if self.options.out:
            with open(self.options.out, "a") as out:
                out.write(json.dumps(line) + "\n")

    def close(self, name):
        for line in [{"part": "head", "of": name, "command": results.command(), "date": str(datetime.date.today()),
                      "commit": results.commit(), "versions": versions()}, *self.lines()]:
            self.keep(**line)
        shutil.rmtree(self.folder, ignore_errors=True)


def versions():
    """Returns what the figures are of: the GPU, its driver, PyTorch and Triton."""
    def of(package):
        try:
            return importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            return "none"
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    gpu = "no GPU"
    with contextlib.suppress(OSError, subprocess.CalledProcessError, IndexError):
        gpu = ", driver ".join(subprocess.check_output(query, text=True).splitlines()[0].split(", "))
    return f"{gpu}, PyTorch {of('torch')}, Triton {of('triton')}"


def table(head, rows):
    widths = [max(len(str(row[i])) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, *rows]:
        print("  " + "  ".join(str(v).ljust(w) if i == 0 else str(v).rjust(w)
                               for i, (v, w) in enumerate(zip(row, widths))))


def number(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


# ---- the parts

def part_launch(part):
    part.child("launch", "both" if "triton" in part.options.sides else "ours", "launch")
    rows = [(line["name"], number(line["us"])) for line in part.lines()]
    table(("launch with 12 arguments", "us"), rows)
    return 0 if rows else 1


def compile_figures(lines):
    """Returns the figures of each function of the compile part's lines, and what is wrong with it, None for nothing:
    cold and warm are the seconds of the first call without and with caches on disk, by side; ms is a later call's."""
    found = {(line["name"], line["side"], line["round"]): line for line in lines}
    figures = {}
    for name in dict.fromkeys(line["name"] for line in lines):
        def of(key, which="cold", side="ours"):
            return found.get((name, side, which), {}).get(key)
        failed, error = of("failed") or of("failed", "warm"), of("error")
        if not failed and error is not None and not error < 2e-2:
            failed = f"the error is {error:.3g}"
        figures[name] = {"error": error, "eager": of("eager"), "wrong": failed,
                         **{which: {side: of("first_s", which, side) for side in SIDES} for which in ("cold", "warm")},
                         "ms": {side: of("ms", "cold", side) for side in SIDES}}
    return figures


def compile_ratios(figures, key):
    """Returns tilec's figure over Triton's for each function that has both."""
    pairs = [(f[key]["ours"], f[key]["triton"]) for f in figures.values()]
    return [ours / triton for ours, triton in pairs if ours and triton]


def compile_cells(name, figures):
    sides = [number(figures[key][side], digits)
             for key, digits in (("cold", 2), ("warm", 2), ("ms", 3)) for side in SIDES]
    return name, number(figures["error"], 5), *sides[:4], number(figures["eager"], 3), *sides[4:]


def geometric_mean(ratios):
    return math.exp(statistics.fmean(map(math.log, ratios)))


def part_compile(part):
    for side in part.options.sides:
        for which in ("cold", "warm"):   # a new process each; warm finds the caches on disk
            part.child("compile", side, f"compile-{side}", "--round", which)
    figures = compile_figures(part.lines())
    table(("torch.compile", "error", "cold s: ours", "Triton", "warm s: ours", "Triton", "ms: eager", "ours", "Triton"),
          [compile_cells(name, f) for name, f in figures.items()])
    ratios = compile_ratios(figures, "ms")
    if ratios:
        print(f"  time of ours / Triton's, geometric mean of {len(ratios)}: {geometric_mean(ratios):.3f}, "
              f"worst {max(ratios):.3f}")
    wrong = [f"{name}: {f['wrong']}" for name, f in figures.items() if f["wrong"]]
    print("".join(f"  WRONG {text}\n" for text in wrong), end="")
    return 1 if wrong or not figures else 0


def part_first(part):
    for side in part.options.sides:
        for which in ("cold", "warm"):
            part.child("first", side, f"first-{side}", "--round", which)
    found = {(line["name"], line["side"], line["round"]): line for line in part.lines()}
    rows, wrong = [], []
    for name in dict.fromkeys(line["name"] for line in part.lines()):
        rows.append((name, *(number(found.get((name, side, which), {}).get("ms"), 1) for which in ("cold", "warm")
                             for side in SIDES)))
        for which in ("cold", "warm"):
            line = found.get((name, "ours", which), {})
            if not line.get("right"):
                wrong.append(f"{name} ({which}): {line.get('failed', 'the result is wrong')}")
    table(("first call", "no cache, ms: ours", "Triton", "cache, ms: ours", "Triton"), rows)
    print("".join(f"  WRONG {text}\n" for text in wrong), end="")
    return 1 if wrong or not rows else 0


PARTS = {"launch": part_launch, "tests": programs_tests.part_tests, "compile": part_compile, "first": part_first}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--only", choices=SIDES, help="one side alone")
    parser.add_argument("--minutes", type=float, default=8, help="for each part (default 8)")
    parser.add_argument("--out", help="a file that the figures are appended to")
    parser.add_argument("--small", action="store_true", help="small sizes and few repetitions")
    parser.add_argument("--names", nargs="*", help="of functions and kernels: these alone")
    parser.add_argument("--tests", nargs="*", default=[], help="folders and files; PYTEST_ADDOPTS has more options")
    parser.add_argument("--preload", nargs="*", default=["torch", "triton"], metavar="MODULE",
                        help="what the tests' processes have imported before they are forked (torch triton)")
    parser.add_argument("--configs", type=int, help="autotuned kernels keep that many configurations, on both sides")
    parser.add_argument("--seed", type=int, default=7, help="which cases of a test are drawn (default 7)")
    parser.add_argument("--limit", type=int, default=20, help="how many cases of a test (default 20)")
    parser.add_argument("--begin", type=int, default=0,
                        help="leave out that many cases of each test, of those drawn: an earlier run had them")
    parser.add_argument("--seconds", type=int, default=60, help="for one test (default 60)")
    parser.add_argument("--list", type=int, default=60, help="how many functions with differing verdicts are shown")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="pairs of processes of the tests")
    options = parser.parse_args()
    options.sides = (options.only,) if options.only else SIDES
    if options.part and "tests" in options.part and not options.tests:
        parser.error("--part tests needs --tests FOLDER")
    if options.tests and not any(map(os.path.exists, options.tests)):
        parser.error(f"there is no {options.tests[0]}")
    status = 0
    for name in options.part or [p for p in PARTS if p != "tests"]:
        print(f"{name}:")
        part = Part(options)
        try:
            status |= PARTS[name](part)
        finally:
            part.close(name)
    return status


if __name__ == "__main__":
    sys.exit(main())
