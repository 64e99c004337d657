"""Writes the pages of docs/results: tables of figures. At the head stand the command, date, commit and versions that
made them."""
import datetime
import os
import shlex
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def commit():
    """What was measured: git's name for it or, in a copy without git, the one that tests/gpu/bundle.sh wrote down."""
    path = os.path.join(ROOT, "commit")
    if os.path.exists(path):
        with open(path) as f: return f.read().strip()
    described = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True)
    return described.stdout.strip() or "unknown"


def sampler(*counters):
    """The nvidia-smi command that prints these counters of the first GPU that this process sees, a line each time."""
    gpu = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
    return ["nvidia-smi", f"--query-gpu={','.join(counters)}", "--format=csv,noheader,nounits", "-i", gpu]


def command():
    """The command line of this process, seen from the repository; absolute paths lose their folders."""
    words = [os.path.basename(w) if os.path.isabs(w) else w for w in sys.argv[1:]]
    return shlex.join(["python3", os.path.relpath(sys.argv[0], ROOT), *words])


def table(title, columns, rows):
    lines = [f"## {title}", "", "| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])


def page(title, versions, *sections, **head):
    """The text of a page of `sections` (texts or tables); `head` replaces the command, date or commit of this run."""
    head = {"command": head.get("command") or f"`{command()}`",
            "date": head.get("date") or datetime.date.today().isoformat(),
            "commit": head.get("commit") or commit(), "versions": versions}
    top = "\n".join(f"| {k} | {v} |" for k, v in head.items())
    return "\n\n".join([f"# {title}", "| | |\n|---|---|\n" + top, *sections]) + "\n"


def write(path, title, versions, *sections, **head):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w") as f:
        f.write(page(title, versions, *sections, **head))
