#!/usr/bin/env python3
"""Says what is missing beside what there is: complete.py
A pass is a row of passes.def, a file passes/NAME.c and a test tests/passes/NAME.tir (more of its tests: NAME_WHAT); an operation has a row in ops.def and stands in a test;
a variable of the environment has a row in variables.def; a link between pages leads to a page and a heading; the page of codegen lists its files; a script that the docs name exists, and one that begins with #! can be executed;
files and functions keep to their limits."""
import glob
import os
import re
import sys

os.chdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
missing = []


def read(*patterns):
    return "\n".join(open(p, encoding="utf-8").read() for pattern in patterns for p in sorted(glob.glob(pattern, recursive=True)))


passes = set(re.findall(r"^PASS\((\w+),", read("passes/passes.def"), re.M))
for name in sorted(passes):
    missing += [f"pass {name}: no {p}" for p in (f"passes/{name}.c", f"tests/passes/{name}.tir") if not os.path.exists(p)]
for test in sorted(os.listdir("tests/passes")):
    if test.endswith((".tir", ".test")) and not any(re.match(rf"{name}[._]", test) for name in passes):
        missing.append(f"tests/passes/{test}: tests no pass of passes/passes.def")
for name in sorted(set(re.findall(r"^void pass_(\w+)\(PassCtx", read("passes/*.c"), re.M)) - passes):
    missing.append(f"pass {name}: no row in passes/passes.def")

# An operation of a test's IR stands where a line or a block begins, after `=`, or in the tables of conformance/ops.tir.
# In a file of the language, which is lowered, it stands in what a FileCheck line expects.
ir = read("tests/**/*.tir", "tests/**/*.test", "tests/unit/*.c") + "\n".join(re.findall(r"# *[A-Z][A-Z0-9-]*:(.*)", read("tests/**/*.tile")))
used = set(re.findall(r"""(?:^|[={"}:])\s*([a-z]\w*)(?=[ ",]|$)""", ir, re.M))
for name in re.findall(r"^OP\(\w+,\s*(\w+),", read("ir/ops.def"), re.M):
    if name not in used:
        missing.append(f"operation {name}: no test names it")

variables = set(re.findall(r'^VARIABLE\("(\w+)"', read("runtime/compile/variables.def"), re.M))
sources = read("runtime/**/*.c", "runtime/**/*.py", "codegen/*.c", "passes/*.c", "ir/*.c", "frontend/**/*.c")
wanted = set(re.findall(r"""["'](TILE_[A-Z_]*[A-Z])["']""", sources))
missing += [f"variable {v}: a source reads it, and runtime/compile/variables.def has no row" for v in sorted(wanted - variables)]
missing += [f"variable {v}: has a row in runtime/compile/variables.def, and no source reads it" for v in sorted(variables - wanted)]

scripts = sorted(p for folder in ("tests", "tools") for end in ("py", "sh") for p in glob.glob(f"{folder}/**/*.{end}", recursive=True))
missing += [f"{p}: begins with #! and is not executable" for p in scripts if read(p).startswith("#!") and not os.access(p, os.X_OK)]
named = set(re.findall(r"\b(?:tests|tools)/[\w/]+\.(?:py|sh)\b", read("*.md", "docs/**/*.md")))
missing += [f"{p}: named in the docs, not there" for p in sorted(named - set(scripts))]

# Links between pages lead somewhere, to a heading if they name one; the index lists every page.
pages = sorted(glob.glob("*.md") + glob.glob("docs/*.md"))


def headings(page):
    """The anchors of a page, as they are made from its headings."""
    titles = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", read(page), flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w -]", "", t.lower()).replace(" ", "-") for t in titles}


for page in pages:
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)", read(page)):
        path = os.path.normpath(os.path.join(os.path.dirname(page), target)) if target else page
        if not os.path.exists(path):
            missing.append(f"{page}: links to {target}, which is not there")
        elif anchor and path.endswith(".md") and anchor not in headings(path):
            missing.append(f"{page}: links to {target}#{anchor}, and there is no such heading")
table = read("docs/codegen.md")
missing += [f"{p}: docs/codegen.md does not list it" for p in sorted(glob.glob("codegen/*.c")) if f"`{os.path.basename(p)}`" not in table]
index = read("docs/README.md")
missing += [f"{p}: docs/README.md does not list it" for p in pages if p.startswith("docs/") and p != "docs/README.md" and f"({os.path.basename(p)})" not in index]

# The limits of docs/style.md; the replay's lists of launches are tables.
ROOMS = ("ir", "frontend", "passes", "codegen", "runtime")
code = [p for room in (*ROOMS, "tests", "tools") for end in ("c", "h", "py") for p in sorted(glob.glob(f"{room}/**/*.{end}", recursive=True))]
for path in code:
    lines = read(path).splitlines()
    if len(lines) > 500 and not path.startswith("tests/gpu/replay/packages/"):
        missing.append(f"{path}: has {len(lines)} lines; files have 500 at most")
    begin = 0
    for at, line in enumerate(lines):
        if re.match(r"\w", line):
            begin = at
        elif line == "}" and path.endswith(".c") and path.startswith(ROOMS) and at - begin >= 60:
            missing.append(f"{path}:{begin + 1}: a function of {at - begin + 1} lines; functions have 60 at most")

print("\n".join(missing) or "complete: ok")
sys.exit(bool(missing))
