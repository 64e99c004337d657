"""Joins what triton.tools.compile wrote: one C function for each set of constants, which takes the variant that its
arguments allow, and one that chooses among the sets by a number.

    python -m tilec.triton -m triton.tools.link add.*.h -o add

writes add.h and add.c with `CUresult add(CUstream stream, …, int algo_id)`, `add_default`, `add_get_num_algos`, and
load_add and unload_add.
"""
import argparse
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

_LINE = re.compile(r"// tt-linker: (\w+)_([0-9a-f]{8})_(\w+):(.*):(.*)")


class LinkerError(Exception):
    pass


@dataclass
class Variant:
    function: str    # of the C code
    kernel: str
    params: list     # (type, name)
    hints: list      # 1, 16 or None for each parameter
    algorithm: str

    def condition(self):
        tests = [f"{name} == 1" if hint == 1 else f"{name} % 16 == 0"
                 for (_, name), hint in zip(self.params, self.hints) if hint]
        return " && ".join(tests)

    def free(self):
        return [(kind, name) for (kind, name), hint in zip(self.params, self.hints) if hint != 1]


def _variant_of(match):
    kernel, digest, suffix, signature, algorithm = match.groups()
    params = [tuple(p.strip().rpartition(" ")[::2]) for p in signature.split(",") if p.strip()]
    # The suffix has a number for each argument of the kernel; those of constants are not in the signature.
    letters = [letter for _, letter in _split_suffix(suffix)]
    hints = [{"c": 1, "d": 16}.get(letter) for letter in letters]
    if len(hints) < len(params):
        raise LinkerError(f"{suffix} is not a suffix of ({signature})")
    return Variant(f"{kernel}_{digest}_{suffix}", kernel, params, hints[:len(params)], algorithm)


def _split_suffix(suffix):
    """Yields (number, letter) of "0d1c2": the numbers are 0, 1, 2, …"""
    at, number = 0, 0
    while at < len(suffix):
        digits = str(number)
        if not suffix.startswith(digits, at):
            raise LinkerError(f"{suffix} is not a suffix of triton.tools.compile")
        at += len(digits)
        letter = suffix[at] if at < len(suffix) and suffix[at] in "cd" else ""
        at += len(letter)
        yield number, letter
        number += 1


def read_headers(paths):
    """Returns the variants by the names of their constants' sets, in the order of the files."""
    sets = defaultdict(list)
    for path in paths:
        found = [_variant_of(m) for m in map(_LINE.match, Path(path).read_text().splitlines()) if m]
        if not found:
            raise LinkerError(f"{path} is no header of triton.tools.compile")
        for v in found:
            sets[f"{v.kernel}_{v.algorithm}"].append(v)
    variants = [v for variants in sets.values() for v in variants]
    for v in variants:
        if (v.kernel, v.params) != (variants[0].kernel, variants[0].params):
            raise LinkerError(f"{v.function} has other arguments than {variants[0].function}: one call cannot be both")
    return dict(sets)


def _signature(params):
    return "".join(f", {kind} {name}" for kind, name in params)


def _call(function, params):
    return f"{function}(stream{''.join(f', {name}' for _, name in params)})"


def _dispatcher(name, variants):
    """Returns the C function of a set: the variants that ask for most come first."""
    ordered = sorted(variants, key=lambda v: -sum(hint is not None for hint in v.hints))
    lines = [f"CUresult {v.function}(CUstream stream{_signature(v.free())});" for v in ordered]
    lines += [f"void load_{v.function}(void);\nvoid unload_{v.function}(void);" for v in ordered]
    lines += [f"static CUresult {name}(CUstream stream{_signature(ordered[0].params)}) {{"]
    for v in ordered:
        condition = v.condition()
        lines.append(f"  {f'if ({condition}) ' if condition else ''}return {_call(v.function, v.free())};")
        if not condition:
            break
    else:
        lines.append("  return CUDA_ERROR_INVALID_VALUE;")
    return "\n".join([*lines, "}", ""])


def _source(sets, header):
    first = next(iter(sets.values()))[0]
    kernel, signature, names = first.kernel, _signature(first.params), ", ".join(sets)
    arguments = "".join(f", {name}" for _, name in first.params)
    parts = [f'#include "{header}"\n', *(_dispatcher(name, variants) for name, variants in sets.items())]
    parts.append(f"typedef CUresult (*Algorithm)(CUstream stream{signature});\n"
                 f"static const Algorithm algorithms[] = {{{names}}};\n"
                 f"enum {{ NUM_ALGORITHMS = sizeof algorithms / sizeof *algorithms }};\n\n"
                 f"int {kernel}_get_num_algos(void) {{ return NUM_ALGORITHMS; }}\n\n"
                 f"CUresult {kernel}(CUstream stream{signature}, int algo_id) {{\n"
                 f"  if (algo_id < 0 || algo_id >= NUM_ALGORITHMS) return CUDA_ERROR_INVALID_VALUE;\n"
                 f"  return algorithms[algo_id](stream{arguments});\n}}\n\n"
                 f"CUresult {kernel}_default(CUstream stream{signature}) {{ "
                 f"return {kernel}(stream{arguments}, 0); }}\n")
    for verb in ("load", "unload"):
        calls = "".join(f"  {verb}_{v.function}();\n" for variants in sets.values() for v in variants)
        parts.append(f"void {verb}_{kernel}(void) {{\n{calls}}}\n")
    return "\n".join(parts)


def _header(sets):
    first = next(iter(sets.values()))[0]
    kernel, signature = first.kernel, _signature(first.params)
    return (f"#pragma once\n#include <cuda.h>\n#include <stdint.h>\n\n"
            f"int {kernel}_get_num_algos(void);\nvoid load_{kernel}(void);\nvoid unload_{kernel}(void);\n"
            f"CUresult {kernel}(CUstream stream{signature}, int algo_id);\n"
            f"CUresult {kernel}_default(CUstream stream{signature});\n")


def main():
    parser = argparse.ArgumentParser(prog="triton.tools.link", description="Joins variants of one kernel.")
    parser.add_argument("headers", nargs="+", help="headers of triton.tools.compile")
    parser.add_argument("--out", "-o", type=Path, required=True, help="the first part of the files' names")
    parser.add_argument("--prefix", default="", help="accepted because Triton has it; no effect")
    args = parser.parse_args()
    try:
        sets = read_headers(args.headers)
    except (LinkerError, OSError) as e:
        raise SystemExit(str(e)) from None
    header = args.out.with_suffix(".h")
    header.write_text(_header(sets))
    args.out.with_suffix(".c").write_text(_source(sets, header.name))


if __name__ == "__main__":
    main()
