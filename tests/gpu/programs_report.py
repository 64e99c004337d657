#!/usr/bin/env python3
"""Makes a page of docs/results of what programs.py --out kept:

    programs_report.py tests FILE… --out docs/results/triton-tests.md
    programs_report.py compile FILE… --out docs/results/torch-compile.md

Without --out the page is printed. The head has what the run wrote down, unless --command, --date, --commit or
--versions say it; the page ends with the text of the file that --text names: what people have to say of the tables.
"""
import argparse
import json
import re

import programs
import programs_tests
import results   # of tools; programs knows the folder

NAMES = {"ours": "tilec", "triton": "Triton"}
HEAD = ("command", "date", "commit", "versions")


def read(paths):
    lines = []
    for path in paths:
        with open(path) as f:
            lines += map(json.loads, f)
    return lines


# ---- folders of tests

def counts(both, reads):
    """The table of how many tests have the same verdict."""
    rows = []
    for what, tests in (("all", both), ("without those whose source reads IR, machine code or message texts",
                                        [test for test in both if test not in reads])):
        same = sum(len(set(both[test])) == 1 for test in tests)
        rows.append((what, same, len(tests), f"{100 * same / max(1, len(tests)):.1f} %"))
    return results.table("The same verdict", ["cases", "same verdict", "of", "share"], rows)


def cell(text, limit=160):
    """A message within a table: one line, no markup, not where Python raised it, its end if it is long."""
    text = re.sub(r"^/\S+:\d+: ", "", " ".join(text.split())).replace("|", "\\|").replace("`", "'").replace("<", "&lt;")
    return text if len(text) <= limit else "…" + text[-limit:]


def differing_table(title, groups, found):
    rows = [(f"`{function}`", len(tests), *pair, cell(programs_tests.failure(found, tests[0]).get("reason", "")))
            for (pair, function), tests in groups]
    return results.table(title, ["test", "cases", *map(NAMES.get, found), "the first one's message"], rows)


def tests_page(lines):
    found = {}
    for line in lines:
        if "id" in line:
            found.setdefault(line["side"], {})[line["id"]] = line
    pairs, both, reads = programs_tests.compared(found)
    times = [(NAMES[side], f"{sum(its[test].get('seconds', 0) for test in both):.0f}",
              sum("first" in line for line in its.values())) for side, its in found.items()]
    walls = [f", in {line['wall']:.0f} s with {line['jobs']} pairs of processes" for line in lines if "wall" in line]
    sections = [f"Each case was run with {' and with '.join(map(NAMES.get, found))}. {len(both)} of {len(pairs)} cases "
                f"reached a verdict{' and'.join(walls)}.",
                *([counts(both, reads)] if len(found) > 1 else []),
                results.table("Verdicts", [*map(NAMES.get, found), "cases"],
                              [(*pair, list(pairs.values()).count(pair)) for pair in sorted(set(pairs.values()))]),
                results.table("The runs", ["side", "s in the cases that both ran", "second tries passed"], times)]
    groups = programs_tests.differing(both).items()
    title = "Tests that differ" if len(found) > 1 else "Tests that fail"
    for title, reading in ((title, False), (title + " and read IR, machine code or texts", True)):
        its = [group for group in groups if (group[1][0] in reads) == reading]
        if its:
            sections.append(differing_table(title, its, found))
    return "Triton's own tests through tilec.triton", sections


# ---- torch.compile

def compile_page(lines):
    figures = programs.compile_figures(lines)
    means = []
    for key, what in (("cold", "first call, no caches"), ("warm", "first call, caches on disk"), ("ms", "later calls")):
        ratios = [1 / r for r in programs.compile_ratios(figures, key)]
        if ratios:
            means.append((what, len(ratios), f"{programs.geometric_mean(ratios):.3f}", f"{min(ratios):.3f}",
                          f"{max(ratios):.3f}"))
    wrong = {name: f["wrong"] for name, f in figures.items() if f["wrong"]}
    sections = ["Error: the largest difference from eager's result, relative to its largest number. Seconds: from the "
                f"call to the first result, without (cold) and with (warm) caches. {len(figures) - len(wrong)} of "
                f"{len(figures)} functions give eager's results with tilec."]
    if means:
        sections.append("A ratio is Triton's time over tilec's: above 1, tilec is faster.")
        sections.append(results.table("Geometric means of the ratios",
                                      ["time", "functions", "geometric mean", "lowest", "highest"], means))
    if wrong:
        sections.append(results.table("Wrong or failed", ["function", "why"],
                                      [(name, cell(why)) for name, why in wrong.items()]))
    sections.append(results.table("All functions", ["function", "error", "cold, s: tilec", "Triton", "warm, s: tilec",
                                                    "Triton", "ms: eager", "tilec", "Triton"],
                                  [programs.compile_cells(name, f) for name, f in figures.items()]))
    return "torch.compile through tilec.triton", sections


PAGES = {"tests": tests_page, "compile": compile_page}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PAGES)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--out")
    parser.add_argument("--text", help="a file whose text ends the page")
    for name in HEAD:
        parser.add_argument("--" + name)
    options = parser.parse_args()
    lines = read(options.files)
    its = [line for line in lines if line["part"] == options.part]
    if not its:
        parser.error(f"no line of the part {options.part} in {' '.join(options.files)}")
    kept = [line for line in lines if line["part"] == "head" and line["of"] == options.part]
    head = {name: getattr(options, name) or (kept[-1][name] if kept else "unknown") for name in HEAD}
    head["command"] = f"`{head['command']}`"
    title, sections = PAGES[options.part](its)
    if options.text:
        with open(options.text) as f:
            sections.append(f.read().strip())
    if options.out:
        results.write(options.out, title, head.pop("versions"), *sections, **head)
    else:
        print(results.page(title, head.pop("versions"), *sections, **head), end="")


if __name__ == "__main__":
    main()
