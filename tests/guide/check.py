#!/usr/bin/env python3
"""Runs the kernels of texts from outside the repository, cut out of them by extract_kernels.py, against Python.

usage: check.py GUIDE PERSISTENT [TILEC] [--device=interp|sim|gpu] [-j N] [-k WORD]

GUIDE is the practice guide, PERSISTENT the notebook with the persistent product."""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(TESTS, "conformance"))
import run  # noqa: E402


def extract(source, folder, output, *more):
    tool = os.path.join(TESTS, "extract_kernels.py")
    subprocess.run([sys.executable, tool, source, os.path.join(folder, output), *more], check=True)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    guide, persistent, *rest = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        extract(guide, folder, "guide.py")
        for occurrence in "123":
            extract(guide, folder, f"copy_k_{occurrence}.py", "--name", "copy_k", "--occurrence", occurrence)
        extract(persistent, folder, "persistent.py")
        with open(os.path.join(HERE, "cases.tile"), encoding="utf-8") as f:
            text = f.read().replace("KERNELS/", folder + "/")
        cases = os.path.join(folder, "guide.tile")
        with open(cases, "w", encoding="utf-8") as f:
            f.write(text)
        return run.main([*rest, cases])


if __name__ == "__main__":
    sys.exit(main())
