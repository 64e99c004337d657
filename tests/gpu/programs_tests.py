"""The part tests of programs.py: files of pytest's tests, on tilec.triton and on Triton, compared test by test.

Pairs of processes, one of each side, take tests from one list, and both run the same test at the same time, over caches
of the side's own that are empty at first. The first case of each function comes first, then the second of each: what a
short time lets run is a sample, too, and all of it has a verdict of both sides. What one side alone does not pass is
run again by few pairs: beside others a test may lack memory, or run out of its time. Tests that run out of it on both
sides do not count.
"""
import contextlib
import glob
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SECOND_TRY = 0.15      # the share of the time that is kept for second tries
SECOND_PAIRS = 8       # beside few others
GRACE = 15             # seconds that a process has after the time of its test
COLLECT = 120          # seconds for the import of a file
BAD = ("failed", "timeout")


def root_of(tests):
    """Returns the folder that the tests' names begin in, and from which on pytest reads conftest.py."""
    here = os.getcwd()
    paths = [os.path.abspath(t) for t in tests if os.path.exists(t)]
    return here if os.path.commonpath([here, *paths]) == here else os.path.commonpath(paths)


def files_of(tests):
    """Returns the files with tests: those named, and those in the folders named."""
    files = []
    for name in tests:
        files += sorted(glob.glob(f"{name}/**/test_*.py", recursive=True)) if os.path.isdir(name) else [name]
    return list(dict.fromkeys(files))


class Server:
    """The process of a side that workers are forked from."""

    def __init__(self, part, side):
        o = part.options
        self.path = os.path.join(part.folder, side)
        options = {"root": root_of(o.tests), "tests": [t for t in o.tests if os.path.exists(t)], "draw": o.limit,
                   "seed": o.seed, "seconds": o.seconds, "grace": GRACE, "configs": o.configs, "preload": o.preload}
        environment = part.environment(f"tests-{side}")
        environment.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // o.jobs)))
        environment.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")   # not a pool of processes for each worker
        environment.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")   # an import that asks for a GPU does not open it
        command = [sys.executable, *(("-m", "tilec.triton") if side == "ours" else ()),
                   os.path.join(HERE, "programs_worker.py"), self.path, json.dumps(options)]
        with open(os.path.join(part.folder, "log"), "a") as log:
            self.process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=True)

    def connect(self):
        """Returns the connection to a new worker; None: the server has ended."""
        while self.process.poll() is None:
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.connect(self.path)
                return connection
            except (FileNotFoundError, ConnectionRefusedError):   # it does not listen yet
                connection.close()
                time.sleep(0.1)
        return None

    def end(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)   # and the workers, and what they started
        self.process.wait()


class Worker:
    """A process of a side, started again after its end. An answer of None: it died or took too long."""

    def __init__(self, server):
        self.server, self.connection, self.pid, self.imported = server, None, None, set()

    def connect(self):
        if not self.connection:
            self.connection = self.server.connect()
            self.lines = self.connection and self.connection.makefile("r")

    def ask(self, file, **request):
        """Sends a request, after connect, when the worker is ready for it."""
        try:
            if not self.pid:
                self.connection.settimeout(None)
                self.pid = json.loads(self.lines.readline())["pid"]
            self.connection.sendall((json.dumps({"file": file, **request}) + "\n").encode())
            self.imported.add(file)
        except (OSError, ValueError, AttributeError):
            pass   # it has no answer, either

    def answer(self, seconds):
        try:
            self.connection.settimeout(seconds)
            answer = json.loads(self.lines.readline())
        except (OSError, ValueError, AttributeError):
            answer = None
        if answer is None or answer.get("ends"):
            self.end()
        return answer

    def end(self):
        if self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        if self.connection:
            self.connection.close()
        self.connection, self.pid, self.imported = None, None, set()


class Job:
    """A test, or, without a name, a file whose tests are not known yet."""

    def __init__(self, file, name=None, turn=-1, order=0):
        self.file, self.name, self.turn, self.order = file, name, turn, order


class Suite:
    """The jobs that are left, and the verdicts."""

    def __init__(self, part, servers, jobs):
        self.part, self.servers, self.jobs = part, servers, jobs
        self.found = {side: {} for side in servers}
        self.files = {}        # test -> file
        self.collecting = 0    # how many files are just being imported
        self.changed = threading.Condition()

    def take(self, imported):
        """Returns a job of the first turn, if possible of a file that the workers have imported. None: no more."""
        with self.changed:
            while not self.jobs and self.collecting:
                self.changed.wait()
            if not self.jobs:
                return None
            job = min(self.jobs, key=lambda job: (job.turn, job.file not in imported, job.order))
            self.jobs.remove(job)
            self.collecting += job.name is None
            return job

    def record(self, side, line):
        """Keeps a verdict; of a second one, what the first one was, too."""
        with self.changed:
            first = self.found[side].get(line["id"])
            self.found[side][line["id"]] = dict(line, first=first["outcome"]) if first else line
            self.part.keep(part="tests", side=side, **self.found[side][line["id"]])

    def collected(self, file, answers):
        """Adds the tests that either side has in a file. If there are none and an import failed, that is a verdict."""
        groups = {}
        for answer in answers.values():
            for names in answer["tests"]:
                groups.setdefault(names[0].split("[")[0], names)
        if not groups and any(answer["failed"] for answer in answers.values()):
            for side, answer in answers.items():
                self.record(side, {"id": file, "outcome": "failed" if answer["failed"] else "skipped",
                                   "reason": answer["failed"]})
        with self.changed:
            for function, names in groups.items():
                order = random.Random(f"{self.part.options.seed} {function}").random()
                self.jobs += [Job(file, name, turn, order) for turn, name in enumerate(names)
                              if turn >= self.part.options.begin]
                self.files.update(dict.fromkeys(names, file))
            self.collecting -= 1
            self.changed.notify_all()

    def do(self, job, workers):
        """Lets the workers do a job, at the same time, and keeps what they say."""
        for worker in workers.values():
            worker.connect()
        for worker in workers.values():
            worker.ask(job.file, **({"test": job.name} if job.name else {}))
        begin, seconds = time.monotonic(), self.part.options.seconds
        limit = begin + COLLECT + (seconds + 2 * GRACE if job.name else 0)
        answers, took = {}, {}
        for side, worker in workers.items():
            answers[side] = worker.answer(max(1, limit - time.monotonic()))
            took[side] = time.monotonic() - begin
        if time.monotonic() > self.part.end:
            return   # and the workers were ended
        if not job.name:
            died = {"tests": [], "failed": "the import ended the process or had no end"}
            self.collected(job.file, {side: answer or died for side, answer in answers.items()})
            return
        for side, answer in answers.items():
            late = took[side] > seconds + GRACE   # the worker's watchdog has ended it
            self.record(side, answer or {"id": job.name, "outcome": "timeout" if late else "crashed",
                                         "seconds": round(took[side], 2)})

    def work(self, end):
        workers = {side: Worker(server) for side, server in self.servers.items()}
        while time.monotonic() < end:
            job = self.take(next(iter(workers.values())).imported)
            if not job:
                break
            self.do(job, workers)
        for worker in workers.values():
            worker.end()

    def run(self, pairs, end):
        """Lets pairs of workers do the jobs. No job is begun after the end."""
        threads = [threading.Thread(target=self.work, args=(end,), daemon=True) for _ in range(pairs)]
        for thread in threads:
            thread.start()
        begin = shown = time.monotonic()
        while any(thread.is_alive() for thread in threads) and time.monotonic() < self.part.end:
            time.sleep(0.1)
            if time.monotonic() > shown + 20:
                shown = time.monotonic()
                print(f"  {shown - begin:.0f} s: {len(self.found[next(iter(self.found))])} verdicts, "
                      f"{len(self.jobs)} tests and files are left", flush=True)


def verdict(found, test):
    outcome = found.get(test, {}).get("outcome", "not run")
    return "failed" if outcome == "crashed" else outcome


def verdicts(found, test):
    return tuple(verdict(side, test) for side in found.values())


def try_again(suite, end):
    """Runs again what one side alone does not pass, on that side. A verdict that another takes the place of is kept."""
    for side, server in suite.servers.items():
        tests = [test for test in suite.found[side] if test in suite.files and
                 verdict(suite.found[side], test) in BAD and len(set(verdicts(suite.found, test))) > 1]
        again = Suite(suite.part, {side: server}, [Job(suite.files[test], test, 0, i) for i, test in enumerate(tests)])
        again.run(min(SECOND_PAIRS, len(tests)), end)
        for test, line in again.found[side].items():
            if verdict(again.found[side], test) not in BAD:
                suite.record(side, line)


def counted(pairs):
    counts = {}
    for pair in pairs:
        counts[pair] = counts.get(pair, 0) + 1
    order = sorted(counts, key=lambda pair: (-counts[pair], pair))
    return ", ".join(f"{counts[pair]} {'/'.join(pair)}" for pair in order)


def share_of_same(pairs):
    same = [len(set(pair)) == 1 for pair in pairs]
    return f"{sum(same)} of {len(same)} ({100 * sum(same) / max(1, len(same)):.2f} %)"


def compared(found):
    """Returns each test's verdicts, those of the tests that every side ran, without those that timed out on each, and
    the tests whose source reads IR, machine code or texts."""
    tests = dict.fromkeys(test for side in found.values() for test in side)
    pairs = {test: verdicts(found, test) for test in tests}
    both = {test: pair for test, pair in pairs.items() if "not run" not in pair and set(pair) != {"timeout"}}
    return pairs, both, {test for side in found.values() for test, line in side.items() if line.get("reads")}


def differing(both):
    """Returns the tests on which the sides differ, or that the only side fails: {(verdicts, function): tests}."""
    groups = {}
    for test, pair in both.items():
        if len(set(pair)) > 1 or len(pair) == 1 and "failed" in pair:
            groups.setdefault((pair, test.split("[")[0]), []).append(test)
    return groups


def failure(found, test):
    """Returns the line of the first side that fails the test."""
    return next((side[test] for side in found.values() if verdict(side, test) in BAD), {})


def print_differing(groups, found, count):
    """Prints a line for each function and pair of verdicts: how many cases, and why the first of them failed."""
    for (pair, function), tests in list(groups.items())[:count]:
        line = failure(found, tests[0])
        reads = f" (reads {', '.join(line['reads'])})" if line.get("reads") else ""
        print(f"  {'/'.join(pair)}: {len(tests)} of {function}{reads}\n      "
              f"{tests[0][len(function):]} {' '.join(line.get('reason', '').split())[-200:]}")
    if len(groups) > count:
        print(f"  … and {len(groups) - count} functions more")


def compiler(found):
    """Returns whose package triton the tests saw."""
    return " and ".join(sorted({line["triton"] for line in found.values() if "triton" in line})) or "none"


def summary(suite, wall):
    found = suite.found
    pairs, both, reads = compared(found)
    files = {}
    for test, pair in pairs.items():
        files.setdefault(test.split("::")[0], []).append(pair)
    for file, its in files.items():
        if any(len(set(pair)) > 1 for pair in its):
            print(f"  {file}: {counted(its)}")
    print_differing(differing(both), found, suite.part.options.list)
    print(f"  all ({'/'.join(found)}): {counted(pairs.values())}")
    print(f"  the same verdict: {share_of_same(both.values())}")
    print("  the same verdict, without tests whose source reads IR, machine code or texts: "
          f"{share_of_same(pair for test, pair in both.items() if test not in reads)}")
    for side, its in found.items():
        seconds = sum(its[test].get("seconds", 0) for test in both)
        again = sum("first" in line for line in its.values())
        print(f"  {side} ({compiler(its)}): {seconds:.0f} s in the tests that have a verdict of each side"
              f"{f'; {again} passed at the second try' if again else ''}")
    functions = len({test.split("[")[0] for test in both})
    print(f"  {wall:.0f} s with {suite.part.options.jobs} pairs of processes: {len(both)} tests of {functions} "
          f"functions, {len(suite.jobs)} tests and files not begun")
    return 0 if both else 1


def part_tests(part):
    """Runs the part."""
    begin, options = time.monotonic(), part.options
    servers = {side: Server(part, side) for side in options.sides}
    suite = Suite(part, servers, [Job(file) for file in files_of(options.tests)])
    try:
        suite.run(options.jobs, part.end - SECOND_TRY * (part.end - begin) * (len(servers) > 1))
        if len(servers) > 1:
            try_again(suite, part.end)
    finally:
        for server in servers.values():
            server.end()
    wall = time.monotonic() - begin
    part.keep(part="tests", wall=wall, jobs=options.jobs)
    if not all(any("triton" in line for line in found.values()) for found in suite.found.values()):
        print("  no test ended on one side; the end of the log:\n    " + "    ".join(part.log()[-12:]), end="")
    return summary(suite, wall)
