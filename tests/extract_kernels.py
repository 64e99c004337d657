#!/usr/bin/env python3
"""Cuts the kernels out of a guide (markdown, notebook text, plain Python): writes every @triton.jit or @gluon.jit function,
with its decorators and the plain functions and imports they need, verbatim.

usage: extract_kernels.py SOURCE OUTPUT.py [--name NAME] [--occurrence N]

Without --name, the last definition of every name is taken. With --name, that kernel and what it names, the Nth definition
(from 1) where the guide defines it several times."""
import argparse
import re
import sys

DECORATOR = re.compile(r"@(triton|gluon)\.(jit|autotune|heuristics|constexpr_function)\b")
IMPORT = re.compile(r"(import (triton|math|itertools)\b|from (triton|collections|itertools|typing)\b)")
DEF = re.compile(r"def (\w+)\s*\(")


def block_end(lines, start):
    """The line after the indented block whose header begins at start; brackets and blank lines are skipped over."""
    depth, i = 0, start
    while i < len(lines):
        code = re.sub(r"('[^'\n]*'|\"[^\"\n]*\"|#.*)", "", lines[i])
        depth += sum(code.count(c) for c in "([{") - sum(code.count(c) for c in ")]}")
        i += 1
        if depth <= 0 and code.rstrip().endswith(":"):
            break
        if depth <= 0 and re.match(r"def .*:\s*\S", code):
            return i
    end = i
    while i < len(lines) and (not lines[i].strip() or lines[i][0] in " \t"):
        i += 1
        if lines[i - 1].strip():
            end = i
    return end


def definitions(lines):
    """Every top-level function: (name, first line, end, decorated as a kernel or helper of one)."""
    found, i = [], 0
    while i < len(lines):
        start, jit = i, False
        while i < len(lines) and (lines[i].startswith("@") or (i > start and lines[i].startswith("#"))):
            jit |= bool(DECORATOR.match(lines[i]))
            depth = 0
            while i < len(lines):
                code = re.sub(r"('[^'\n]*'|\"[^\"\n]*\"|#.*)", "", lines[i])
                depth += sum(code.count(c) for c in "([{") - sum(code.count(c) for c in ")]}")
                i += 1
                if depth <= 0:
                    break
        head = DEF.match(lines[i]) if i < len(lines) else None
        if not head:
            i = max(i, start + 1)
            continue
        end = block_end(lines, i)
        found.append((head.group(1), start, end, jit))
        i = end
    return found


def imports(lines):
    """Top-level imports that kernels can use, each once."""
    out = []
    for i, line in enumerate(lines):
        if not IMPORT.match(line):
            continue
        text, k = line, i
        while text.count("(") > text.count(")") and k + 1 < len(lines):
            k += 1
            text += "\n" + lines[k]
        if text not in out:
            out.append(text)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("output")
    parser.add_argument("--name")
    parser.add_argument("--occurrence", type=int, default=0)
    args = parser.parse_args()

    with open(args.source, encoding="utf-8", errors="replace") as f:
        lines = f.read().split("\n")
    defs = definitions(lines)
    chosen = {name: (start, end, jit) for name, start, end, jit in defs}
    if args.name:
        same = [d for d in defs if d[0] == args.name]
        if not same:
            sys.exit(f"{args.source}: no function {args.name}")
        pick = same[args.occurrence - 1] if args.occurrence else same[-1]
        chosen[args.name] = pick[1:]

    text = {name: "\n".join(lines[start:end]).rstrip() for name, (start, end, _) in chosen.items()}
    wanted = [args.name] if args.name else [name for name, (_, _, jit) in chosen.items() if jit]
    for name in wanted:  # grows while it is walked: what a wanted function names is wanted too
        for word in re.findall(r"\b\w+\b", text[name]):
            if word in text and word not in wanted:
                wanted.append(word)
    wanted.sort(key=lambda name: chosen[name][0])

    with open(args.output, "w", encoding="utf-8") as f:
        f.write("\n".join(imports(lines)) + "\n")
        for name in wanted:
            f.write("\n\n" + text[name] + "\n")


if __name__ == "__main__":
    main()
