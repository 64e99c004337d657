#!/usr/bin/env python3
"""Runs the conformance kernels and compares what they leave in memory with what Python computes.

usage: run.py [TILEC] [--device=interp|sim|gpu] [--arch=SM] [-j N] [-k WORD] [-v] [--list] [FILE…]
       run.py [TILEC] --assemble=SM,SM,… …    the first case of every kernel through ptxas instead (TILE_PTXAS, PATH, CUDA's folder)
       run.py [TILEC] --round-trip=SM,SM,… …  … compiled instead, without a warning, the IR verified, printed and read back after every pass

TILEC is the compiler (default: TILE_BUILD/tilec, build/tilec or ./tilec). Cases stand in the comments of the .tile and .tir files:

  # tilec run FILE -k KERNEL --grid … --arg x=fp32[64]=randn:1 …            one case
  # for T in INTS for U in FLOATS if …: tilec run FILE … --arg x={T}[64]=…  one per combination; {…} is Python
  # let x = EXPRESSION          what buffer x starts with, in place of the generator
  # want y = EXPRESSION         what buffer y must hold at the end; exactly
  # want y ~2ulp = EXPRESSION   … within 2 units in the last place; ~1e-5: within 1e-5 of the value and of the largest one
  # prints TEXT                 what standard output or error must contain
  # fails STATUS                the exit status (default 0)
  # only DEVICE…                the devices that can run it (default: all)

In a .tir file, where comments begin with //, a function is a template: `$NAME` in it becomes the value of a variable of `for`,
a type in the spelling of the IR.

A comment that begins with three spaces continues the one above. Expressions see what expect.py defines, buffers as lists of
their first values, scalar arguments, constants (-D) and the variables of `for`. Inputs are made here, not by tilec."""
import ast
import concurrent.futures
import multiprocessing
import os
import re
import shlex
import shutil
import string
import subprocess
import sys
import tempfile

import expect

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.append(os.path.dirname(HERE))
import many
BUFFER = re.compile(r"^(\w+)=(\w+)\[([^\]]*)\]=([\w:.+-]+)$")
ASSIGNMENT = re.compile(r"^(\w+)\s*(~\{[^}]*\}\w*|~\S+)?\s*=\s*(.*)$", re.S)
CLAUSE = re.compile(r"^(let|want|prints|fails|only)\s+(.*)$", re.S)


class Case:
    def __init__(self, path, line, command, values):
        self.path, self.line, self.command, self.values = path, line, command, values
        self.lets, self.wants, self.prints, self.status, self.devices = [], [], [], 0, None

    def title(self):
        kernel = re.search(r"(?:-k|-n|--kernel)[ =](\S+)", self.command)
        values = " ".join(f"{k}={v}" for k, v in self.values.items() if not callable(v))
        return f"{os.path.relpath(self.path, ROOT)}:{self.line}: {kernel.group(1) if kernel else ''} {values}".rstrip()


def expand(clause):
    """The values of `for A in … for B in … if …`, as dicts."""
    tree = ast.parse(f"[0 {clause}]", mode="eval").body
    names = [n.id for g in tree.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)]
    return eval(f"[dict({', '.join(f'{n}={n}' for n in names)}) {clause}]", dict(vars(expect)))


def substitute(text, values):
    scope = {**vars(expect), **values}
    return re.sub(r"\{([^{}]+)\}", lambda m: str(eval(m.group(1), scope)), text)


def read_cases(path):
    notes = []
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            text = re.sub("^//", "#", line.rstrip("\n"))
            if text.startswith("#   ") and notes and notes[-1][1] == number - 1:
                notes[-1][1], notes[-1][2] = number, notes[-1][2] + "\n" + text[1:]
            elif text.startswith("# "):
                notes.append([number, number, text[2:].strip()])
    cases, group = [], []
    for number, _, text in notes:
        head = re.match(r"^(?:(for .*?):\s+)?(tilec run .*)$", text, re.S)
        if head:
            combos = expand(head.group(1)) if head.group(1) else [{}]
            group = [Case(path, number, substitute(head.group(2).replace("\n", " "), v) if head.group(1) else head.group(2), v) for v in combos]
            cases += group
            continue
        clause = CLAUSE.match(text)
        if not clause or not group:
            continue
        kind, rest = clause.groups()
        for case in group:
            if kind == "prints":
                case.prints.append(substitute(rest, case.values))
            elif kind == "fails":
                case.status = int(rest)
            elif kind == "only":
                case.devices = rest.split()
            else:
                name, tolerance, expression = ASSIGNMENT.match(rest).groups()
                tolerance = substitute(tolerance or "", case.values).strip("~")
                (case.lets if kind == "let" else case.wants).append((name, tolerance, " ".join(expression.split("\n")).strip()))
    return cases


def scalar(text):
    text = re.sub(r"^\w+:", "", text)
    try:
        return ast.literal_eval({"true": "True", "false": "False", "none": "None"}.get(text, text))
    except (ValueError, SyntaxError):
        return float(text) if re.fullmatch(r"-?(inf|nan)", text) else text


def close(T, got, want, tolerance, scale):
    if not expect.is_float(T):
        return got == want
    if want != want or got != got:
        return want != want and got != got
    if got == want or got == expect.rnd(T, want):
        return True
    if not tolerance or abs(want) == expect.inf or abs(got) == expect.inf:
        return False
    limit = float(tolerance[:-3]) * expect.ulp(T, want) if tolerance.endswith("ulp") else float(tolerance) * (abs(want) + scale)
    return abs(got - want) <= limit


def compare(name, T, got, want, tolerance):
    want = [float(w) if expect.is_float(T) and tolerance else expect.rnd(T, w) if expect.is_float(T) else int(w) for w in want]
    if len(got) != len(want):
        return [f"{name} has {len(got)} elements, {len(want)} are wanted"]
    scale = max((abs(w) for w in want if abs(w) < expect.inf), default=0)
    bad = [i for i in range(len(got)) if not close(T, got[i], want[i], tolerance, scale)]
    if not bad:
        return []
    shown = ", ".join(f"[{i}] {got[i]!r} for {want[i]!r}" for i in bad[:4])
    return [f"{name}: {len(bad)} of {len(got)} differ: {shown}"]


def command_words(case, folder):
    """The words of the command. A template is written to a file of folder, with this case's values: the module and the one function."""
    words = shlex.split(case.command)
    if case.path.endswith(".tir"):
        with open(case.path, encoding="utf-8") as f:
            text = f.read()
        function = re.search(rf"^func @{words[words.index('-k') + 1]}\b.*?^}}", text, re.M | re.S).group()
        values = {k: expect.IR.get(v, v) for k, v in case.values.items() if isinstance(v, str)}
        words[2] = os.path.join(folder, "case.tir")
        with open(words[2], "w", encoding="utf-8") as f:
            head = "".join(re.findall(r"^(?:module |#\w+ = ).*\n", text, re.M))
            f.write(head + string.Template(function).substitute(values) + "\n")
    return words


def keep(*arguments):
    """In each process: what attempt needs. Cases go there as the process is made, for their functions cannot be sent."""
    attempt.arguments = arguments


def attempt(number):
    cases, tilec, device, extra = attempt.arguments
    try:
        return run_case(cases[number], tilec, device, extra)
    except Exception as error:
        return [f"the case itself is wrong: {type(error).__name__}: {error}"]


def compile_for(case, tilec, arch, options):
    """Compiles the case, runs nothing; what went wrong, in at most six lines. None: the target has not what it needs."""
    with tempfile.TemporaryDirectory() as folder:
        words = [w for w in command_words(case, folder) if not w.startswith("--arch=")]
        made = subprocess.run([tilec, *words[1:], "-q", "--compile-only", f"--arch={arch}", *options], cwd=ROOT, capture_output=True)
    said = made.stderr.decode(errors="replace")
    if made.returncode in (1, 10) and re.search(rf"needs sm_\d+a?( or later)?, this is {arch}\b|memory, but {arch} has \d+ per block", said):
        return None
    return said.splitlines()[:6] or [f"exit status {made.returncode}"] if made.returncode else []


def assemble(case, tilec, ptxas, arch):
    with tempfile.TemporaryDirectory() as folder:
        ptx = os.path.join(folder, "k.ptx")
        problems = compile_for(case, tilec, arch, ["-o", ptx])
        if problems or problems is None:
            return problems
        made = subprocess.run([ptxas, f"-arch={arch}", ptx, "-o", ptx + ".cubin"], capture_output=True)
        said = (made.stdout + made.stderr).decode(errors="replace")
        return said.splitlines()[:6] if made.returncode or re.search("C7[56][0-9][0-9]", said) else []


def round_trip(case, tilec, arch):
    # No kernel gives a warning, unless the case is about one.
    strict = [] if any("warning: " in text for text in case.prints) else ["-Werror"]
    return compile_for(case, tilec, arch, [*strict, "--torture", "--verify-each", "--emit=allocated", "-o", os.devnull])


def every_kernel(cases, archs, jobs, check, done):
    first = {}
    for c in cases:
        first.setdefault((c.path, c.title().split()[1]), c)
    todo = [(c, arch) for c in first.values() for arch in archs]
    failed = lacking = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for (case, arch), problems in zip(todo, pool.map(lambda t: check(*t), todo)):
            lacking += problems is None
            if problems:
                failed += 1
                print(f"FAIL {arch} {case.title()}\n" + "".join(f"    {p}\n" for p in problems), end="", flush=True)
    print(f"conformance, {done}: {len(todo) - lacking - failed} of {len(todo) - lacking}" + (f"; {lacking} need what their target lacks" if lacking else ""))
    return 1 if failed else 0


def run_case(case, tilec, device, extra):
    with tempfile.TemporaryDirectory() as folder:
        words, scope, buffers = command_words(case, folder), {**vars(expect), **case.values}, {}
        for i, word in enumerate(words[:-1]):
            name, _, value = words[i + 1].partition("=")
            if word in ("--arg", "--buf"):
                made = BUFFER.match(words[i + 1])
                if made:
                    shape = [int(eval(d, dict(scope))) for d in made.group(3).split(",") if d.strip()]
                    count = 1
                    for d in shape:
                        count *= d
                    buffers[name] = (made.group(2), shape, i + 1)
                    scope[name] = expect.fill(made.group(4), made.group(2), count)
                else:
                    scope[name] = scalar(value)
            elif word == "-D":
                scope.setdefault(name, scalar(value))
        for name, _, expression in case.lets:
            T, shape, at = buffers[name]
            values = list(eval(expression, scope))
            count = 1
            for d in shape:
                count *= d
            if len(values) != count:
                return [f"let {name}: {len(values)} values for {count} elements"]
            scope[name] = values
        for name, (T, shape, at) in buffers.items():
            path = os.path.join(folder, name + ".in.npy")
            with open(path, "wb") as f:
                f.write(expect.npy(T, shape, scope[name]))
            words[at] = f"{name}=@{path}:{T}"
        words += extra
        for name in {name for name, _, _ in case.wants}:
            words += ["--save", f"{name}={os.path.join(folder, name + '.npy')}"]
        status, said = many.run(tilec, device, words[2:])
        if status is None:
            return ["no end after 120 s, or tilec stopped"] + said.splitlines()[-8:]
        if status != case.status:
            return [f"exit status {status}, not {case.status}"] + said.splitlines()[-8:]
        problems = [f"does not print {text!r}" for text in case.prints if text not in said]
        if problems:
            problems += said.splitlines()[-8:]
        for name, tolerance, expression in case.wants:
            try:
                want = list(eval(expression, dict(scope)))
            except Exception as error:
                return [f"want {name}: {type(error).__name__}: {error}"]
            with open(os.path.join(folder, name + ".npy"), "rb") as f:
                problems += compare(name, buffers[name][0], expect.npy_values(buffers[name][0], f.read()), want, tolerance)
        return problems


def main(arguments):
    tilec, device, jobs, word, verbose, listing, files, extra, assembled, read_back = None, "interp", os.cpu_count() or 1, "", False, False, [], [], None, None
    words = iter(arguments)
    for a in words:
        if a.startswith("--device="):
            device = a.partition("=")[2]
        elif a.startswith("-j"):
            jobs = int(a[2:] or next(words))
        elif a == "-k":
            word = next(words)
        elif a == "-v":
            verbose = True
        elif a.startswith("--arch="):
            extra.append(a)
        elif a.startswith("--assemble="):
            assembled = a.partition("=")[2].split(",")
        elif a.startswith("--round-trip="):
            read_back = a.partition("=")[2].split(",")
        elif a == "--list":
            listing = True
        elif a.startswith("-"):
            sys.exit(__doc__)
        elif a.endswith((".tile", ".tir")):
            files.append(os.path.abspath(a))
        else:
            tilec = a
    if not tilec:
        places = [os.path.join(os.environ.get("TILE_BUILD", os.path.join(ROOT, "build")), "tilec"), os.path.join(ROOT, "tilec")]
        tilec = next((p for p in places if os.path.exists(p)), places[0])
    tilec = os.path.abspath(tilec)
    files = files or sorted(os.path.join(HERE, f) for f in os.listdir(HERE) if f.endswith((".tile", ".tir")))
    cases = [c for f in files for c in read_cases(f) if word in c.title() and (not c.devices or device in c.devices)]
    if listing:
        print("\n".join(c.title() for c in cases))
        return 0
    compiled = [c for c in cases if c.status != 1]
    if read_back:
        return every_kernel(compiled, read_back, jobs, lambda case, arch: round_trip(case, tilec, arch), "IR read back after every pass")
    if assembled:
        ptxas = os.environ.get("TILE_PTXAS") or shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
        if not os.path.exists(ptxas):
            print("skipped: conformance, assembler: ptxas is not here")
            return 77
        return every_kernel(compiled, assembled, jobs, lambda case, arch: assemble(case, tilec, ptxas, arch), "assembled")
    failed, per_file = 0, {}
    with multiprocessing.get_context("fork").Pool(jobs, keep, (cases, tilec, device, extra)) as pool:
        for case, problems in zip(cases, pool.imap(attempt, range(len(cases)), chunksize=8)):
            total = per_file.setdefault(case.path, [0, 0])
            total[0] += not problems
            total[1] += 1
            if problems or verbose:
                print(("FAIL " if problems else "pass ") + case.title())
            if problems:
                failed += 1
                print("".join(f"    {p}\n" for p in problems), end="", flush=True)
    for path, (good, total) in per_file.items():
        print(f"{os.path.basename(path):28} {good} of {total}")
    print(f"conformance, {device}: {len(cases) - failed} of {len(cases)} passed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
