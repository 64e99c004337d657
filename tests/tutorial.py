#!/usr/bin/env python3
"""Follows docs/tutorial.md as its reader does, in a home folder of its own, and compares what appears: tutorial.py BUILD
A fenced block with a file's name beside its language is that file. In a block `console`, lines that begin with `$ ` are
commands, and what follows is what they print: `…` stands for anything within a line, alone for any number of lines. The
comment `<!-- not run: WHY -->` above a block leaves it out."""
import contextlib
import glob
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = "docs/tutorial.md"
MARK = "\x1e"


def blocks(text):
    """The blocks in their order: line, language, file's name or "", text."""
    for m in re.finditer(r"^(<!-- not run: .*-->\n)?```(\w+)(?: (\S+))?\n(.*?)^```$", text, re.M | re.S):
        if not m[1]:
            yield text.count("\n", 0, m.start(4)) + 1, m[2], m[3] or "", m[4]


def commands(first, text):
    """The commands of a block, each with its line and the lines that it should print."""
    found = []
    for number, line in enumerate(text.splitlines(), first):
        if line.startswith("$ "):
            found.append((number, line[2:], []))
        else:
            found[-1][2].append(line)
    return found


def script(steps, build):
    """One shell does everything, as the reader's: writes the files, and marks where a command's output begins."""
    yield "set -o pipefail"
    for number, (kind, what) in enumerate(steps):
        if kind == "file":
            name, text = what
            yield f"cat >{name} <<'END_OF_FILE'\n{text}END_OF_FILE"
        else:
            command = what[1].replace("--install build ", f"--install '{build}' ")
            yield f"status=$?; printf '{MARK}{number}\\n'; (exit $status)\n{command}"
    yield f"printf '{MARK}\\n'"


@contextlib.contextmanager
def kept(pattern):
    """Files that are afterwards as they were before: what a user installed stays what `uninstall` removes."""
    files = {}
    for path in glob.glob(pattern):
        with open(path, "rb") as f:
            files[path] = f.read()
    try:
        yield
    finally:
        for path in glob.glob(pattern):
            os.remove(path)
        for path, content in files.items():
            with open(path, "wb") as f:
                f.write(content)


def run(steps, build):
    """What each step printed, on a terminal."""
    with tempfile.TemporaryDirectory() as home, kept(os.path.join(build, "install_manifest*.txt")):
        path = os.path.join(home, "script")
        with open(path, "w", encoding="utf-8") as f:
            f.write("\n".join(script(steps, build)) + "\n")
        env = {"HOME": home, "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TERM": "dumb"}
        env.update({k: os.environ[k] for k in ("TILE_PTXAS", "ASAN_OPTIONS", "UBSAN_OPTIONS") if k in os.environ})
        ours, theirs = pty.openpty()
        process = subprocess.Popen(["bash", path], cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
        os.close(theirs)
        said = bytearray()

        def read():
            try:
                while part := os.read(ours, 65536):
                    said.extend(part)
            except OSError:   # the last program has closed the terminal
                pass
        reader = threading.Thread(target=read)
        reader.start()
        process.wait(300)
        reader.join()
    parts = said.decode(errors="replace").replace("\r\n", "\n").split(MARK)[1:]
    return {int(number): text for number, _, text in (p.partition("\n") for p in parts) if number}


def fits(expected, said):
    pattern = ""
    for line in expected:
        pattern += r"(?:.*\n)*?" if line == "…" else re.escape(line).replace("…", ".*?") + r"[ ]*\n"
    return re.fullmatch(pattern, said if not said or said.endswith("\n") else said + "\n") is not None


def main():
    build = os.path.realpath(sys.argv[1])
    for tool in ("cc", "pkg-config"):
        if not shutil.which(tool):
            print(f"skipped: tutorial: {tool} is not here")
            sys.exit(77)
    steps = []
    with open(os.path.join(ROOT, PAGE), encoding="utf-8") as f:
        for line, language, name, text in blocks(f.read()):
            if name:
                steps.append(("file", (name, text)))
            elif language == "console":
                steps += [("command", c) for c in commands(line, text)]
    said = run(steps, build)
    wrong = 0
    for number, (kind, what) in enumerate(steps):
        if kind == "command" and not fits(what[2], said.get(number, "")):
            wrong += 1
            print(f"{PAGE}:{what[0]}: $ {what[1]}\n--- the page says\n" + "\n".join(what[2]) +
                  f"\n--- it prints\n{said.get(number, '(it was not reached)')}")
    count = sum(kind == "command" for kind, _ in steps)
    print(f"tutorial: {count} commands, {wrong} differ")
    sys.exit(wrong > 0 or count == 0)


main()
