#!/usr/bin/env python3
"""Runs the programs of tests/wrong_programs, each with one mistake, and compares what tilec says with
docs/results/wrong-programs.md: wrong_programs.py TILEC [--record]

A program's first line names the mistake, its second line is the command. verdicts.txt has what the first run was judged
to be: good, accepted or bad. With --record the page is written."""
import glob
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, "tests", "wrong_programs")
PAGE = os.path.join(ROOT, "docs", "results", "wrong-programs.md")
HEAD = """# Wrong programs

Programs and commands with one mistake each, of people who know Triton, NumPy, PyTorch or CUDA; a link leads to the
thread that the mistake is close to. They lie in `tests/wrong_programs` and were committed before the compiler had seen
any of them. "Good" means: a position and a caret where there is a source line, the reason, a way out that works, the
right exit status, and no second error about the same mistake. "Accepted" means that tilec runs the program and does
what it says. `tests/wrong_programs.py TILEC --record` writes this page; without `--record` it compares.

| | good | accepted | bad |
|---|---|---|---|
| the first run | {good} | {accepted} | {bad} |
| today | {now} | {accepted} | 0 |

"""


def said(tilec, name):
    """Title, command, exit status and messages."""
    with open(os.path.join(FOLDER, name), encoding="utf-8") as f:
        title, command = (f.readline()[2:].strip() for _ in range(2))
    env = {**os.environ, "PATH": os.path.dirname(tilec) + os.pathsep + os.environ["PATH"]}
    p = subprocess.run(command, shell=True, cwd=FOLDER, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                       timeout=60, check=False)
    return title, command, p.returncode, p.stderr.decode(errors="replace")


def main():
    tilec, record = os.path.abspath(sys.argv[1]), "--record" in sys.argv
    with open(os.path.join(FOLDER, "verdicts.txt"), encoding="utf-8") as f:
        verdicts = dict(line.split() for line in f if line.strip())
    names = sorted(os.path.basename(p) for p in glob.glob(os.path.join(FOLDER, "*.py")))
    assert sorted(verdicts) == names, "verdicts.txt names other programs than there are"
    kinds = list(verdicts.values())
    counts = {k: kinds.count(k) for k in ("good", "accepted", "bad")}
    parts = [HEAD.format(**counts, now=counts["good"] + counts["bad"])]
    for name in names:
        title, command, status, text = said(tilec, name)
        title, _, link = title.partition(": http")
        parts.append(f"## {title[0].upper() + title[1:]}\n\n" + (f"From <http{link}>. " if link else "") +
                     f"First run: {verdicts[name]}.\n\n```console\n$ {command}; echo $?\n{text}{status}\n```\n\n")
    page = "".join(parts).rstrip() + "\n"
    if record:
        with open(PAGE, "w", encoding="utf-8") as f:
            f.write(page)
        return 0
    with open(PAGE, encoding="utf-8") as f:
        old = f.read()
    differing = [new.split("\n", 1)[0] for new, was in zip(page.split("\n## "), old.split("\n## ")) if new != was]
    print(f"wrong programs: {len(names)} run, {len(differing)} differ from docs/results/wrong-programs.md")
    for title in differing:
        print(f"  {title}")
    return page != old


sys.exit(main())
