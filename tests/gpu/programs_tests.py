"""The part tests of programs.py: folders of pytest's tests, on tilec.triton and on Triton, compared test by test.

Each side runs in as many processes as there are cores, over caches of its own that are empty at first. What only one
side fails is run again in few processes: beside others a test may lack memory, or run out of its time.
"""
import importlib.util
import os
import shutil
import sys
import time

SECOND_TRY = 0.15      # the share of the time that is kept for second tries
FAILED = ("failed", "crashed")


def root_of(tests):
    """Returns the folder that the tests' names begin in, and from which on pytest reads conftest.py."""
    here = os.getcwd()
    paths = [os.path.abspath(t) for t in tests if os.path.exists(t)]
    return here if os.path.commonpath([here, *paths]) == here else os.path.commonpath(paths)


class Run:
    """The tests of a side, until all have a verdict: a process that dies goes on after the test that killed it."""

    def __init__(self, part, side, tries, end, only=()):
        self.part, self.side, self.end = part, side, end
        # beside the file of results, if there is one: what ends this program leaves the verdicts
        folder = part.options.out and f"{os.path.abspath(part.options.out)}." or os.path.join(part.folder, "")
        self.verdicts, self.known, self.chosen = (f"{folder}{kind}-{side}-{tries}"
                                                  for kind in ("verdicts", "known", "chosen"))
        if only:
            with open(self.chosen, "w") as f:
                f.writelines(f"{name}\n" for name in only)
        self.only = only
        begin = time.monotonic()
        self.status = self.run()
        self.wall = time.monotonic() - begin
        self.found = self.read()
        for path in (self.verdicts, self.known, self.chosen):
            if os.path.exists(path):
                os.remove(path)

    def command(self):
        o, jobs = self.part.options, self.part.options.jobs
        if self.only:
            jobs = min(4, jobs, len(self.only))
        command = [sys.executable, *(("-m", "tilec.triton") if self.side == "ours" else ()), "-m", "pytest"]
        if jobs > 1 and importlib.util.find_spec("xdist"):   # a test at a time: the order holds when the time is over
            command += ["-n", str(jobs), "--maxschedchunk", "1", "--max-worker-restart", "10000"]
        return [*command, "-q", "-p", "programs_pytest", "-p", "no:cacheprovider", "--continue-on-collection-errors",
                "--draw", str(o.limit), "--draw-seed", str(o.seed), "--seconds", str(o.seconds), "--verdicts",
                self.verdicts, "--known", self.known, *(("--chosen", self.chosen) if self.only else ()),
                f"--rootdir={root_of(o.tests)}", *o.tests]

    def run(self):
        part, command = self.part, self.command()
        environment = part.environment(f"tests-{self.side}")
        environment.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // part.options.jobs)))
        end, part.end = part.end, self.end
        for attempt in range(20):
            count = len(part.lines(self.verdicts))
            if count:
                shutil.copyfile(self.verdicts, self.known)
            status = part.run(command, environment)
            if status in (0, 1, 5, None) or len(part.lines(self.verdicts)) == count:
                break
        part.end = end
        if status not in (0, 1, 5, None):
            print(f"  pytest, {self.side}: status {status}; the end of its log:\n    " + "    ".join(part.log()[-12:]),
                  end="")
        return status

    def compiler(self):
        """Returns whose package triton the tests saw."""
        return " and ".join(sorted({line["triton"] for line in self.found.values() if "triton" in line})) or "none"

    def read(self):
        found = {}
        for line in self.part.lines(self.verdicts):
            if line["outcome"] != "crashed" or found.get(line["id"], line)["outcome"] != "failed":   # it is why
                found[line["id"]] = line
        for line in found.values():
            if line["outcome"] == "running":
                line["outcome"] = "not run" if self.status is None else "crashed"
        return found


def verdict(found, test):
    outcome = found.get(test, {}).get("outcome", "not run")
    return "failed" if outcome in FAILED else outcome


def one_fails(found, test):
    verdicts = [verdict(side, test) for side in found.values()]
    return verdicts.count("failed") == 1 and "not run" not in verdicts


def try_again(part, found):
    """Runs again what one side alone fails. A verdict that another takes the place of is kept as `first`."""
    for side in found:
        tests = [test for test in found[side] if verdict(found[side], test) == "failed" and one_fails(found, test)]
        if not tests or time.monotonic() > part.end:
            continue
        for test, line in Run(part, side, 2, part.end, tests).found.items():
            if test in found[side] and line["outcome"] not in (*FAILED, "not run"):
                found[side][test] = dict(line, first=found[side][test]["outcome"])


def counted(pairs):
    counts = {}
    for pair in pairs:
        counts[pair] = counts.get(pair, 0) + 1
    return ", ".join(f"{n} {'/'.join(pair)}" for pair, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def share_of_same(pairs):
    same = [len(set(pair)) == 1 for pair in pairs]
    return f"{sum(same)} of {len(same)} ({100 * sum(same) / max(1, len(same)):.2f} %)"


def compared(found):
    """Returns each test's verdicts, those of the tests that every side ran, and the tests whose source reads IR,
    machine code or texts."""
    tests = dict.fromkeys(test for side in found.values() for test in side)
    pairs = {test: tuple(verdict(side, test) for side in found.values()) for test in tests}
    both = {test: pair for test, pair in pairs.items() if "not run" not in pair}
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
    return next((side[test] for side in found.values() if verdict(side, test) == "failed"), {})


def print_differing(groups, found, count):
    """Prints a line for each function and pair of verdicts: how many cases, and why the first of them failed."""
    for (pair, function), tests in list(groups.items())[:count]:
        line = failure(found, tests[0])
        reads = f" (reads {', '.join(line['reads'])})" if line.get("reads") else ""
        print(f"  {'/'.join(pair)}: {len(tests)} of {function}{reads}\n      "
              f"{tests[0][len(function):]} {' '.join(line.get('reason', '').split())[-200:]}")
    if len(groups) > count:
        print(f"  … and {len(groups) - count} functions more")


def summary(part, runs, found):
    pairs, both, reads = compared(found)
    files = {}
    for test, pair in pairs.items():
        files.setdefault(test.split("::")[0], []).append(pair)
    for file, its in files.items():
        if any(len(set(pair)) > 1 for pair in its):
            print(f"  {file}: {counted(its)}")
    print_differing(differing(both), found, part.options.list)
    print(f"  all ({'/'.join(found)}): {counted(pairs.values())}")
    print(f"  the same verdict: {share_of_same(both.values())}")
    print("  the same verdict, without tests whose source reads IR, machine code or texts: "
          f"{share_of_same(pair for test, pair in both.items() if test not in reads)}")
    for side, run in runs.items():
        seconds = sum(found[side][test].get("seconds", 0) for test in both)
        again = sum("first" in line for line in found[side].values())
        print(f"  {side} ({run.compiler()}): {run.wall:.0f} s{' (its time was over)' if run.status is None else ''} with "
              f"{part.options.jobs} processes; {seconds:.0f} s in the tests that have a verdict of each side"
              f"{f'; {again} passed at the second try' if again else ''}")
    return 0 if both else 1


def part_tests(part):
    """Runs the part. The first side has half of the time, the second one what then is left."""
    begin, sides = time.monotonic(), part.options.sides
    last = part.end - SECOND_TRY * (part.end - begin) * (len(sides) > 1)
    runs = {}
    for i, side in enumerate(sides):
        now = time.monotonic()
        runs[side] = Run(part, side, 1, now + (last - now) / (len(sides) - i))
    found = {side: run.found for side, run in runs.items()}
    if len(sides) > 1:
        try_again(part, found)
    with open(part.file, "a") as f:
        for side, run in runs.items():
            part.write(f, part="tests", side=side, wall=run.wall, ended=run.status is None, jobs=part.options.jobs)
            for line in found[side].values():
                part.write(f, part="tests", side=side, **line)
    return summary(part, runs, found)
