"""A pytest plugin for programs.py: draws a few cases of each test by a seed, limits their time, records their verdicts.

    pytest -p programs_pytest --draw 20 --draw-seed 7 --verdicts FILE --seconds 60
"""
import json
import random
import signal

import pytest


def pytest_addoption(parser):
    group = parser.getgroup("programs")
    group.addoption("--draw", type=int, default=20, help="cases of a test")
    group.addoption("--draw-seed", type=int, default=7)
    group.addoption("--verdicts", default="", help="the file that verdicts are appended to")
    group.addoption("--known", default="", help="a file of verdicts: its tests are left out")
    group.addoption("--seconds", type=int, default=60, help="for a test")


def _lines(path):
    try:
        with open(path) as f:
            return [json.loads(line) for line in f]
    except FileNotFoundError:
        return []


def drawn(items, limit, seed):
    """Returns at most `limit` of each function's cases: the same ones wherever the seed is the same."""
    groups, chosen = {}, set()
    for item in items:
        groups.setdefault(item.nodeid.split("[")[0], []).append(item)
    for name, group in groups.items():
        generator = random.Random(f"{seed} {name.rpartition('/')[2]}")
        chosen.update(map(id, group if len(group) <= limit else generator.sample(group, limit)))
    return [item for item in items if id(item) in chosen]


def pytest_collection_modifyitems(config, items):
    known = {line["id"] for line in _lines(config.getoption("--known"))}
    chosen = drawn(items, config.getoption("--draw"), config.getoption("--draw-seed"))
    chosen = [item for item in chosen if item.nodeid not in known]
    kept = set(map(id, chosen))
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
    items[:] = chosen


def _write(config, **line):
    path = config.getoption("--verdicts")
    if path:
        with open(path, "a") as f:   # one write: several workers append
            f.write(json.dumps(line) + "\n")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item, nextitem):
    _write(item.config, id=item.nodeid, outcome="crashed")   # unless another verdict follows
    yield


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
        reason = "" if report.passed else str(getattr(report.longrepr, "reprcrash", report.longrepr) or "")
        _write(item.config, id=item.nodeid, outcome=report.outcome, seconds=round(report.duration, 2),
               reason=reason[-400:])
