#!/usr/bin/env python3
"""Runs a sample of a package's pytest tests on the simulator, several schedules of each launch.

    cd SUITE; sim_suites.py --out F.jsonl FOLDER… [-- OPTIONS OF PYTEST]

The functions come in an order drawn from --seed, those first whose source matches --first. Of each function the case
with the smallest product of its integer parameters runs, in a process of its own that does what
`TILE_DEVICE=sim TILE_SIM_SEEDS=3 python -m tilec.triton -m pytest CASE` does. Tests for a GPU run on tensors of the CPU
(gpu/pretend_gpu.py). Autotuned kernels keep their first configuration, torch.compile compiles nothing. What failed
after a launch runs again with one schedule.

A line of F.jsonl is a case: id, function, outcome (passed, skipped, failed, crashed, timeout), seconds, kernels (name:
launches, seconds), report (what the simulator said), reason (the end of another failure; of a timeout, the place in
the program), one_schedule (the outcome with one). A case that F.jsonl has does not run again. Needs PyTorch and pytest.
"""
import argparse
import collections
import concurrent.futures
import faulthandler
import inspect
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = os.path.join(os.path.dirname(HERE), "runtime", "python")


# ---- in the process of a case

class Plugin:
    """What a pytest here has beside its tests: it tells `out` what is collected, launched and found."""

    def __init__(self, out, first):
        self.out, self.first, self.outcome = open(out, "a"), first, {}

    def tell(self, **line):
        self.out.write(json.dumps(line) + "\n")
        self.out.flush()

    def watch(self):
        from triton import knobs
        enter, leave = knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook
        enter.add(lambda metadata: self.tell(kernel=metadata.get()["name"], at=time.monotonic()))
        leave.add(lambda metadata: self.tell(left=time.monotonic()))

    def pytest_collection_finish(self, session):
        if session.config.option.collectonly:
            for item in session.items:
                self.tell(id=item.nodeid, function=item.nodeid.split("[")[0], size=_size(item),
                          is_first=bool(re.search(self.first, _source(item))))

    def pytest_collectreport(self, report):
        if report.failed:
            self.tell(uncollected=report.nodeid, reason=_end(report.longrepr))

    def pytest_exception_interact(self, call):
        text = str(call.excinfo.value)
        if re.search(r"^\s+kernel .*, seed \d+$", text, re.M):
            self.outcome["report"] = text

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or not report.passed:
            before = self.outcome.get("outcome")
            self.outcome["outcome"] = "failed" if "failed" in (before, report.outcome) else report.outcome
            if not report.passed:
                self.outcome.setdefault("reason", _end(report.longrepr))

    def pytest_sessionfinish(self):
        if self.outcome:
            self.tell(**self.outcome)


def _size(item):
    """The product of a case's integers; of a list of them the largest counts."""
    def largest(value):
        if isinstance(value, (list, tuple)):
            return max(map(largest, value), default=1)
        return value if isinstance(value, int) and value > 0 else 1
    return math.prod(map(largest, item.callspec.params.values() if hasattr(item, "callspec") else ()))


def _source(item):
    try:
        return inspect.getsource(inspect.unwrap(item.function))
    except (AttributeError, OSError, TypeError):
        return ""


def _end(what):
    if isinstance(what, tuple):   # of a skip: file, line, reason
        return str(what[-1])
    return "\n".join(str(what).splitlines()[-12:])[-1500:]


def in_case(out, first, end, arguments):
    """Runs pytest in this process, which `python -m tilec.triton` has prepared. Its time is over at `end`."""
    sys.path[0] = os.getcwd()   # as with -m pytest
    sys.path += [os.path.join(HERE, "gpu"), PACKAGES]
    import pretend_gpu
    mode = pretend_gpu.pretend()
    import programs_pytest
    programs_pytest.keep_configurations(1)
    import pytest
    plugin = Plugin(out, first)
    plugin.watch()
    errors = os.fdopen(os.dup(2), "w")   # pytest captures 2
    faulthandler.dump_traceback_later(max(1, end - time.monotonic() - 1), file=errors)
    status = pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:faulthandler", "--tb=short",
                          f"--rootdir={os.getcwd()}", *arguments], plugins=[plugin])
    mode.__exit__(None, None, None)
    sys.stdout.flush()
    os._exit(status)


# ---- in the script's own process

def start(o, seeds, seconds, arguments):
    """Runs a process of in_case. Returns the lines that it told, the text that it printed, whether it ended in time,
    and its seconds."""
    environment = dict(os.environ, TILE_DEVICE="sim", TILE_SIM_SEEDS=str(seeds), TORCHDYNAMO_DISABLE="1")
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (PACKAGES, os.environ.get("PYTHONPATH"))))
    environment.setdefault("OMP_NUM_THREADS", "1")
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        told, log = os.path.join(folder, "told"), os.path.join(folder, "log")
        command = [sys.executable, "-m", "tilec.triton", os.path.abspath(__file__), "--in-case", told, o.first,
                   str(begin + seconds), *arguments]
        with open(log, "w") as printed:
            process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=printed,
                                       stderr=subprocess.STDOUT, start_new_session=True)
            try:
                process.wait(seconds)
                in_time = True
            except subprocess.TimeoutExpired:
                in_time = False
            finally:
                try:
                    os.killpg(process.pid, signal.SIGKILL)   # and what it started
                except ProcessLookupError:
                    pass
                process.wait()
        lines = [json.loads(line) for line in open(told) if line.endswith("\n")] if os.path.exists(told) else []
        return lines, open(log, errors="replace").read(), in_time, round(time.monotonic() - begin, 1)


def run(o, case, seeds):
    """Returns the line of a case."""
    lines, text, in_time, seconds = start(o, seeds, o.seconds, [case["id"], *o.pytest])
    kernels, entered = {}, None
    for line in lines:
        if "kernel" in line:
            entered = line
            kernels.setdefault(line["kernel"], [0, 0])[0] += 1
        elif "left" in line:
            took = kernels[entered["kernel"]]
            took[1] = round(took[1] + line["left"] - entered["at"], 3)
            entered = None
    found = next((line for line in reversed(lines) if "outcome" in line), None)
    if not in_time:
        main_thread = text.partition("Timeout (")[2].rpartition("hread 0x")[2]
        place = [f"in {entered['kernel']}"] if entered else re.findall(r"^  File .*", main_thread, re.M)[:6]
        found = {"outcome": "timeout", "reason": "\n".join(place)}
    elif not found:
        found = {"outcome": "crashed", "reason": "\n".join(text.splitlines()[-15:])[-1500:]}
    elif entered and "report" not in found and found["outcome"] == "failed":
        found["reason"] = f"in {entered['kernel']}\n{found.get('reason', '')}"
    return {"id": case["id"], "function": case["function"], **found, "seconds": seconds, "kernels": kernels}


def draw(o):
    """Returns a case of each function, in the order in which they run."""
    lines, text, in_time, _ = start(o, 1, 600, ["--collect-only", *o.folders, *o.pytest])
    for line in lines:
        if "uncollected" in line:
            print(f"not collected: {line['uncollected']}: {line['reason'].splitlines()[-1]}")
    functions = {}
    for line in lines:
        if "function" in line:
            functions.setdefault(line["function"], []).append(line)
    if not functions:
        sys.exit(f"sim_suites.py: no tests in {' '.join(o.folders)}:\n{text[-1500:]}")
    drawn = [min(functions[name], key=lambda line: line["size"]) for name in sorted(functions)]
    random.Random(o.seed).shuffle(drawn)
    return sorted(drawn, key=lambda case: not case["is_first"])


def read(path):
    if not os.path.exists(path):
        return {}
    return {line["id"]: line for line in map(json.loads, open(path))}


def table(drawn, done):
    """Prints how the cases that ran ended, and what failed."""
    lines = [done[case["id"]] for case in drawn if case["id"] in done]
    outcomes = ("passed", "skipped", "timeout", "failed", "crashed")
    print("| | functions | " + " | ".join(outcomes) + " |\n|---|---|" + "---|" * len(outcomes))
    for title, chosen in (("run", lines), ("that launched a kernel", [line for line in lines if line["kernels"]])):
        count = collections.Counter(line["outcome"] for line in chosen)
        print(f"| {title} | {len(chosen)} of {len(drawn)} |", *(f"{count[name]} |" for name in outcomes))
    kernels = {name for line in lines for name in line["kernels"]}
    launches = sum(number for line in lines for number, _ in line["kernels"].values())
    reports = sum("report" in line for line in lines)
    print(f"different kernels: {len(kernels)}, launches: {launches}, reports: {reports}")
    for line in lines:
        if line["outcome"] not in ("passed", "skipped"):
            alone = f", with one schedule {line['one_schedule']}" if "one_schedule" in line else ""
            print(f"\n{line['outcome']}: {line['id']}{alone}\n{line.get('report') or line.get('reason', '')}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="FOLDER", help="or file, or test")
    parser.add_argument("--out", required=True, metavar="FILE",
                        help="a line for each case; those that it has do not run again")
    parser.add_argument("--seed", type=int, default=7, help="of the order of the functions")
    parser.add_argument("--seconds", type=int, default=60, help="of a case, with its imports")
    parser.add_argument("--minutes", type=float, default=60, help="after these no case begins")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--schedules", type=int, default=3, help="of each launch: TILE_SIM_SEEDS")
    parser.add_argument("--first", metavar="REGEX", default=r"device|cuda|triton",
                        help="functions whose source matches are drawn before the others (%(default)s)")
    arguments, own = sys.argv[1:], []
    if "--" in arguments:
        arguments, own = arguments[:arguments.index("--")], arguments[arguments.index("--") + 1:]
    o = parser.parse_args(arguments)
    o.pytest = own
    end = time.monotonic() + o.minutes * 60
    drawn, done = draw(o), read(o.out)

    def step(case):
        if case["id"] in done or time.monotonic() > end:
            return
        line = run(o, case, o.schedules)
        if o.schedules > 1 and line["outcome"] in ("failed", "crashed") and line["kernels"]:
            line["one_schedule"] = run(o, case, 1)["outcome"]
        done[case["id"]] = line
        with open(o.out, "a") as f:
            f.write(json.dumps(line) + "\n")

    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        list(pool.map(step, drawn))
    table(drawn, done)
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--in-case"]:
        in_case(sys.argv[2], sys.argv[3], float(sys.argv[4]), sys.argv[5:])
    sys.exit(main())
