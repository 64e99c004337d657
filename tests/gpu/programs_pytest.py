"""A worker of programs.py: pytest, with a plugin that collects the files and runs the tests that are asked for, limits
their time, and answers with their verdicts. Requests and answers are lines of JSON:

    (it is ready)               {"pid": ID}
    {"file": F}                 {"tests": [[NAME, …], …], "failed": WHY}   the drawn cases, a list for each function
    {"file": F, "test": NAME}   {"id": NAME, "outcome": …, "seconds": …, "reason": …, "triton": …, "reads": […]}
"""
import faulthandler
import functools
import inspect
import json
import multiprocessing
import os
import pathlib
import random
import re
import signal
import sys
import time

import pytest

KEPT = 2 << 30     # bytes of the GPU's memory that PyTorch may keep between tests: many processes share it


class TooSlow(Exception):
    pass


def drawn(items, limit, seed):
    """Returns for each function a list of at most `limit` cases: the same ones wherever the seed is the same."""
    groups = {}
    for item in items:
        groups.setdefault(item.nodeid.split("[")[0], []).append(item)
    return [random.Random(f"{seed} {name.rpartition('/')[2]}").sample(group, min(limit, len(group)))
            for name, group in groups.items()]


def keep_configurations(count):
    """Makes autotuned kernels of Triton's keep their first `count` configurations. One is not even timed."""
    from triton.runtime.autotuner import Autotuner
    make = Autotuner.__init__

    @functools.wraps(make)
    def make_with_few(self, fn, arg_names, configs, *rest, **named):
        make(self, fn, arg_names, (configs or [])[:count], *rest, **named)
    Autotuner.__init__ = make_with_few


def open_gpu():
    torch = sys.modules.get("torch")
    if torch and torch.cuda.is_available():
        torch.zeros(1, device="cuda")


def _offer_conftests(session):
    """pytest 9.1 gives the fixtures of a conftest.py to its folder when that is first collected. Each collection makes
    the folder anew."""
    manager = session._fixturemanager
    if hasattr(manager, "_pending_conftests"):
        for name, plugin in session.config.pluginmanager.list_name_plugin():
            if plugin and name.endswith("conftest.py"):
                manager._pending_conftests[pathlib.Path(name).parent] = plugin


class Plugin:
    """Answers requests until the connection ends."""

    def __init__(self, connection, options):
        self.requests, self.answers = connection.makefile("r"), connection.makefile("w")
        self.options = options
        self.files = {}        # file -> (drawn items, a list for each function; why it cannot be imported)
        self.collected = ""    # why the file that is being collected cannot be imported
        self.verdict = None    # of the test that runs
        self.is_late = False   # its time is over

    def answer(self, **line):
        self.answers.write(json.dumps(line) + "\n")
        self.answers.flush()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self):
        return True   # each file is collected when it is asked for

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        open_gpu()   # which takes seconds that are not the first test's
        self.answer(pid=os.getpid())
        for line in self.requests:
            request = json.loads(line)
            groups, failed = self.collect(session, request["file"])
            if "test" in request:
                items = {item.nodeid: item for group in groups for item in group}
                self.run(items.get(request["test"]), request["test"], failed)
            else:
                self.answer(tests=[[item.nodeid for item in group] for group in groups], failed=failed)
        return True

    def collect(self, session, file):
        """Returns the drawn tests of a file, a list for each function, and why it cannot be imported or ""."""
        if file not in self.files:
            self.collected = ""
            _offer_conftests(session)
            try:
                items = session.perform_collect([file])
            except pytest.UsageError as error:
                items, self.collected = [], str(error)
            self.files[file] = drawn(items, self.options["draw"], self.options["seed"]), self.collected
        return self.files[file]

    def pytest_collectreport(self, report):
        if report.failed:
            self.collected = "\n".join(str(report.longrepr).splitlines()[-3:])[-400:]

    def run(self, item, name, failed):
        """Runs a test and answers; ends the process if nothing that followed in it would work."""
        begin = time.monotonic()
        self.verdict, self.is_late = {"outcome": "failed", "reason": failed or "there is no such test"}, False
        if item:
            self.verdict = {"outcome": "skipped"}
            # what Python's signals do not reach, a kernel without an end or C code, ends the process some seconds later
            faulthandler.dump_traceback_later(self.options["seconds"] + self.options["grace"], exit=True,
                                              file=sys.__stderr__)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            faulthandler.cancel_dump_traceback_later()
        ends = self.verdict["outcome"] in ("failed", "timeout") and not _gpu_works()
        self.answer(id=name, **self.verdict, seconds=round(time.monotonic() - begin, 2), triton=_triton_version(),
                    reads=_reads(item), **({"ends": True} if ends else {}))
        if ends:
            os._exit(3)
        _release_memory()

    def too_slow(self, number, frame):
        self.is_late = True   # the exception may come out as another one
        raise TooSlow("the time of a test is over")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item):
        previous = signal.signal(signal.SIGALRM, self.too_slow)
        signal.alarm(self.options["seconds"])
        try:
            yield
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, previous)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = (yield).get_result()
        if report.when != "call" and report.passed:
            return
        reason = "" if report.passed else str(getattr(report.longrepr, "reprcrash", report.longrepr) or "")
        self.verdict = {"outcome": "timeout" if report.failed and self.is_late else report.outcome,
                        "reason": _short(reason)}
        if report.failed:
            for child in multiprocessing.active_children():   # of a test that did not wait for them
                child.kill()


def work(connection, options):
    """Runs pytest in this process until the connection ends. Returns its status."""
    if options["configs"]:
        keep_configurations(options["configs"])
    return pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "log_cli=false",
                        f"--rootdir={options['root']}", *options["tests"]], plugins=[Plugin(connection, options)])


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
    torch = _torch_on_gpu()
    if torch and torch.cuda.memory_reserved() > KEPT:
        torch.cuda.empty_cache()


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
