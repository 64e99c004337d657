#!/usr/bin/env python3
"""Tries each row of foreign.def and habits.def: foreign.py TILEC SOURCE FOLDER. A line of a kernel uses each name, and
tilec must add the row's text to an error there."""
import os
import re
import subprocess
import sys

TILEC, SOURCE, FOLDER = sys.argv[1:]
STRING = r'"((?:[^"\\]|\\.)*)"'
# what a line says for each use
USES = {"VALUE": "    v = {0}", "MODULE": "    v = {0}.something(1)", "FORK": "    v = {0}.something(1)", "FUNCTION": "    v = {0}(a)", "LANGUAGE": "    v = tl.{0}(a)", "METHOD": "    v = {1}.{0}",
        "SEQUENCE": "    v = [1, 2].{0}", "PARAM": "    v = {1}(a, {0}=1)", "DTYPE": "    v = tl.full((8,), 0, \"{0}\")"}
# the function whose parameter a keyword means
CALLS = {"axis": "tl.sum", "keep_dims": "tl.sum", "other": "tl.load", "mask": "tl.load", "descending": "tl.sort"}
OF_POINTERS = "stride strides data_ptr data ptr ctypes load append extend insert push push_back".split()


SHOWN = 12   # tilec shows only so many errors


def rows(name, macro):
    text = open(os.path.join(SOURCE, "frontend", name), encoding="utf-8").read()
    for line in text.splitlines():
        m = re.match(macro + r"\((.*)\)\s*$", line)
        if m:
            yield m[1].split(",")[0].strip(), [re.sub(r"\\(.)", r"\1", s) for s in re.findall(STRING, m[1])]


def errors(path, lines):
    """By line: the notes that follow the first error there."""
    open(path, "w", encoding="utf-8").write("\n".join(lines) + "\n")
    r = subprocess.run([TILEC, path, "-n", "k", "-s", "*fp32,i32", "--emit=tile", "-o", os.devnull], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
    found, at = {}, 0
    for line in r.stdout.splitlines():
        m = re.match(r".*:(\d+):\d+: (error|note): ", line)
        if m and m[2] == "error":
            at = int(m[1])
        if line.startswith("note: "):
            found.setdefault(at, []).append(line[6:])
    return found


def names():
    head = ["import triton", "import triton.language as tl", "", "@triton.jit", "def k(p, n):", "    a = tl.arange(0, 8)"]
    cases = []
    for use, (all_names, text) in rows("comptime/foreign.def", "FOREIGN"):
        for name in all_names.split():
            if name in ("tl", "triton"):   # this file imports them
                continue
            instead = re.match(r"write (\w+)=", text)
            other = CALLS.get(instead[1], "tl.sum") if use == "PARAM" and instead else "tl.sum" if use == "PARAM" else "p" if name in OF_POINTERS else "a"
            if use == "PARAM" and "dot" in text:
                other = "tl.dot"
            if use == "FUNCTION" and name == "next_power_of_2":
                name = "triton." + name
            cases.append((use, name, USES[use].format(name, other), "write tl." + text if use == "DTYPE" else text))
    for first in range(0, len(cases), SHOWN):
        some = cases[first:first + SHOWN]
        found = errors(os.path.join(FOLDER, "foreign_names.py"), head + [line for _, _, line, _ in some])
        for i, (use, name, line, text) in enumerate(some):
            notes = found.get(len(head) + 1 + i, [])
            if text not in notes:
                yield f"{use} {name}: {line.strip()}: {notes} instead of {text!r}"


WORDS = {"@type": "float", "@word": "value", "@number": "2", "@end": "", "": "v"}
# lines whose rows need more than their tokens around them
LINES = {"def * ,": "def f(x: fp32*, y):", "def * )": "def f(x: fp32*):", "def * =": "def f(x: fp32* = 1):", "def > ,": "def f(x: ptr<fp32>, y):",
         "def > )": "def f(x: ptr<fp32>):", "def ] > ,": "def f(d: tensordesc<fp32[8]>, y):", "def ] > )": "def f(d: tensordesc<fp32[8]>):",
         "def ] > =": "def f(d: tensordesc<fp32[8]> = 1):", "def @type @word": "def f(float x):", "def @type *": "def f(float* x):", "for  ;": "for (i; i < 3; i++):",
         " & &": "v = a && b", " | |": "v = a || b", " + + ": "i++", " - - ": "i--", "  ?": "v = a ? b : c", "  !": "v = !a", "  =>": "v = a => b",
         " = >": "v = a => b", " = <": "v = a =< b", " == =": "v = a === b", " < >": "v = a <> b", "  ->": "v = a->b", "  ::": "v = a::b", " : :": "v = {a::b}",
         "  :=": "v := 3", "  //": "// text", "  /*": "/* text */", " / *": "v = a /* text */", " @type ) @word": "v = (float) a", " @type ) @number": "v = (float) 2",
         "  then": "if a then:", "  {": "while a {", "  }": "}", "  def": "@jit def f():", "  void": "__global__ void f():", " do {": "do {",
         " else if": "if a:\n        pass\n    else if b:", "assert  ,": "assert a, b, c", "  ": "",
         "def * const @word": "def f(x: *const fp32):", "def * @word const": "def f(x: *fp32 const):",
         "def : const @word": "def f(x: const fp32):", "def : @type @word": "def f(x: unsigned int):"}


def habits():
    for i, (_, (line, before, at, text)) in enumerate(rows("syntax/habits.def", "HABIT")):
        key = f"{line} {before} {at}"
        spelled = LINES.get(key) or " ".join([line] * bool(line) + [WORDS.get(w, w) for w in before.split()] + [WORDS.get(at, at)])
        source = "import triton\ndef k(p, n):\n    " + spelled + ("\n        pass" if spelled.endswith(":") else "") + "\n"
        found = errors(os.path.join(FOLDER, f"foreign_habit.py"), source.splitlines())
        notes = [n for all_notes in found.values() for n in all_notes]
        if text not in notes:
            yield f"habit {key!r}: {spelled}: {notes} instead of {text!r}"
        if "tl." in text:   # a file that has no `tl` names the builtins without it
            bare = sum(errors(os.path.join(FOLDER, "foreign_habit.py"), source.splitlines()[1:]).values(), [])
            if text.replace("tl.", "") not in bare:
                yield f"habit {key!r} without tl: {bare}"
    for first, _ in rows("syntax/habits.def", "MARK"):
        ascii_text = next(s[0] for f, s in rows("syntax/habits.def", "MARK") if f == first)
        found = errors(os.path.join(FOLDER, "foreign_mark.py"), ["v = 3 " + chr(int(first, 16)) + " 4"])
        if ["write " + ascii_text] not in found.values():
            yield f"mark {first}: {found} instead of {ascii_text!r}"


failed = list(names()) + list(habits())
print("\n".join(failed))
print(f"{len(failed)} rows give another text")
sys.exit(bool(failed))
