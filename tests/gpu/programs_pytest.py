"""A pytest plugin for programs.py: draws a few cases of each test by a seed, limits their time, records their verdicts.

    pytest -p programs_pytest --draw 20 --draw-seed 7 --verdicts FILE --seconds 60
"""
import faulthandler
import inspect
import json
import multiprocessing
import os
import random
import re
import signal
import sys

import pytest


GRACE = 15   # seconds


def pytest_addoption(parser):
    group = parser.getgroup("programs")
    group.addoption("--draw", type=int, default=20, help="cases of a test")
    group.addoption("--draw-seed", type=int, default=7)
    group.addoption("--verdicts", default="", help="the file that verdicts are appended to")
    group.addoption("--known", default="", help="a file of verdicts: its tests are left out")
    group.addoption("--chosen", default="", help="a file of names: of the drawn tests these alone")
    group.addoption("--seconds", type=int, default=60, help="for a test")


def _lines(path):
    try:
        with open(path) as f:
            return [json.loads(line) for line in f]
    except FileNotFoundError:
        return []


def drawn(items, limit, seed):
    """Returns at most `limit` of each function's cases: the same ones wherever the seed is the same. The first case of
    each function comes first, then the second of each: what a short time lets run is a sample, too."""
    groups, rounds = {}, []
    for item in items:
        groups.setdefault(item.nodeid.split("[")[0], []).append(item)
    for name, group in groups.items():
        generator = random.Random(f"{seed} {name.rpartition('/')[2]}")
        rounds.append(generator.sample(group, min(limit, len(group))))
    random.Random(seed).shuffle(rounds)
    return [cases[i] for i in range(limit) for cases in rounds if i < len(cases)]


def pytest_collection_modifyitems(config, items):
    known = {line["id"] for line in _lines(config.getoption("--known"))}
    chosen = drawn(items, config.getoption("--draw"), config.getoption("--draw-seed"))
    chosen = [item for item in chosen if item.nodeid not in known]
    if config.getoption("--chosen"):
        with open(config.getoption("--chosen")) as f:
            names = set(f.read().splitlines())
        chosen = [item for item in chosen if item.nodeid in names]
    kept = set(map(id, chosen))
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
    items[:] = chosen


class Collecting:
    """Records the files that cannot be imported; a plugin of its own, for the sake of the config."""

    def __init__(self, config):
        self.config = config

    def pytest_collectreport(self, report):
        if report.failed:
            lines = str(report.longrepr).splitlines()
            _write(self.config, id=report.nodeid, outcome="failed", reason="\n".join(lines[-3:])[-400:])


def pytest_configure(config):
    config.pluginmanager.register(Collecting(config))


def _write(config, **line):
    path = config.getoption("--verdicts")
    if path:
        with open(path, "a") as f:   # one write: several workers append
            f.write(json.dumps(line) + "\n")


_failed = set()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item, nextitem):
    _write(item.config, id=item.nodeid, outcome="running")   # another verdict follows, unless the process ends
    # what Python's signals do not reach, a kernel without an end or C code, ends the process some seconds later
    faulthandler.dump_traceback_later(item.config.getoption("--seconds") + GRACE, exit=True, file=sys.__stderr__)
    yield
    faulthandler.cancel_dump_traceback_later()
    if item.nodeid in _failed:
        for child in multiprocessing.active_children():   # of a test that did not wait for them: Python would at its end
            child.kill()
        if not _gpu_works():
            os._exit(3)   # nothing that follows in this process would work
    _release_memory()


def _torch_on_gpu():
    torch = sys.modules.get("torch")
    return torch if torch and torch.cuda.is_initialized() else None


def _gpu_works():
    torch = _torch_on_gpu()
    try:
        return not torch or torch.cuda.synchronize() is None
    except RuntimeError:
        return False


def _release_memory():
    """Gives back what PyTorch keeps beyond a few GB: many processes share the GPU."""
    torch = _torch_on_gpu()
    if torch and torch.cuda.memory_reserved() > 4 << 30:
        torch.cuda.empty_cache()


@pytest.hookimpl(optionalhook=True)
def pytest_handlecrashitem(crashitem, report, sched):
    _write(sched.config, id=crashitem, outcome="crashed")


class TooSlow(Exception):
    pass


def _too_slow(number, frame):
    raise TooSlow("the time of a test is over")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    previous = signal.signal(signal.SIGALRM, _too_slow)
    signal.alarm(item.config.getoption("--seconds"))
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.when == "call" or report.outcome != "passed":
        if report.failed:
            _failed.add(item.nodeid)
        reason = "" if report.passed else str(getattr(report.longrepr, "reprcrash", report.longrepr) or "")
        _write(item.config, id=item.nodeid, outcome=report.outcome, seconds=round(report.duration, 2),
               reason=_short(reason), triton=_triton_version(), reads=_reads(item))


# What a test may look at that belongs to one compiler, by what its source says.
_READS = {"ir": r"ttir|ttgir|llir|mlir|filecheck|run_parser", "code": r"[\"'](ptx|sass|cubin)[\"']|nvdisasm",
          "texts": r"match=|str\(e|\.value\b|err_msg|capfd|capsys|\.stderr|\.stdout|pytest\.warns"}


def _reads(item):
    try:
        function = inspect.unwrap(item.function)
        source = inspect.getsource(getattr(function, "fn", function))   # fn: a test may be a kernel
    except (AttributeError, OSError, TypeError):
        return []
    return [kind for kind, pattern in _READS.items() if re.search(pattern, source)]


def _short(text):
    return text if len(text) <= 400 else f"{text[:160]} … {text[-230:]}"


def _triton_version():
    """Returns whose package triton is: the version, and whether it is tilec's."""
    triton = sys.modules.get("triton")
    file = getattr(triton, "__file__", None) or ""
    return f"{'tilec, ' if 'tilec' in file.split(os.sep) else ''}triton {getattr(triton, '__version__', 'none')}"
