#!/usr/bin/env python3
"""Mutations of three Gluon kernels on the simulator: each operation that orders something is removed, changed or shifted.

    tests/gluon/mutations.py TILEC [--full] [--seeds N] [--only TEXT] [--out FILE] [-j N]

The kernels are the examples: pipelined, persistent, warp-specialised. A mutation is of one operation of the IR after the last
pass, where the barriers that tilec inserts stand beside what the author wrote. Every mutant that gives a wrong result or does not
end under any seed must be reported by the simulator. A mutant that no seed shows must have its reason in HARMLESS. The originals
may not be reported. Without --full it is every sixth mutant with 3 seeds; with it all, 50 seeds, and the originals with 200."""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(HERE))
import many

TILES = ["--buf", "ba=fp16[{M},{K}]=randint:1:-3:3", "--buf", "bb=fp16[{K},{N}]=randint:2:-3:3", "--buf", "bc=fp16[{M},{N}]=zeros",
         "--arg", "a=desc(ba,[64,64])", "--arg", "b=desc(bb,[64,32])", "--arg", "c=desc(bc,[64,32])",
         "--arg", "M={M}", "--arg", "N={N}", "--arg", "K={K}", "--expect", "bc=ba@bb", "-q"]
DESCS = "tensordesc<fp16[64,64]>, tensordesc<fp16[64,32]>, tensordesc<fp16[64,32]>, i32, i32, i32"
# The example, what specialises it, the grid and the sizes: several tiles, and steps that go round the ring more than once.
KERNELS = {
    "pipelined": ("gluon_matmul", f"{DESCS}, 64, 32, 64, 4, 4", "2,1", dict(M=128, N=32, K=448)),
    "persistent": ("gluon_persistent", f"{DESCS}, 64, 32, 64, 4, 4", "1", dict(M=128, N=64, K=192)),
    "warp-specialised": ("gluon_warp_specialized", f"{DESCS}, 64, 32, 64, 2, 2", "1", dict(M=128, N=64, K=192)),
}
# Why a mutant is as right as the original: kernel, operation and mutation, as regular expressions.
ONE_WARPGROUP = "the kernel has one warpgroup, whose wgmma are issued, and are done, for all of its warps"
HARMLESS = [
    (".*", "mbar_init [123]", "later", "thread 0 initialises the mbarriers one after the other; their order is free"),
    (".*", "mbar_init [234]", "earlier", "thread 0 initialises the mbarriers one after the other; their order is free"),
    ("pipelined|persistent", "mbar_init 4", "later", "other threads first use it after the loop's barrier"),
    ("pipelined|persistent", "barrier 1", ".*", "other threads first use an mbarrier after the loop's barrier"),
    ("pipelined|persistent", "barrier 2", ".*", f"it frees the slot that the next copy overwrites: {ONE_WARPGROUP}"),
    ("pipelined", "barrier 3", ".*", f"it frees the ring, which the result overwrites: {ONE_WARPGROUP}"),
    ("persistent", "barrier 5", ".*", "the barriers of the tile's store come after the last wait for an mbarrier"),
    (".*", "mbar_expect .", "later", "it is the only arrival of its phase, which cannot complete before, whatever has been copied"),
    ("pipelined|persistent", "mbar_expect [12]", "earlier", "nothing that it passes concerns its mbarrier, or other threads"),
    ("pipelined|persistent", "mbar_wait 1", "earlier", "the copy that it passes is for a later step"),
    ("persistent", "tma_wait 1", "earlier", "it is about the store of the tile before, not about the product that it passes"),
    ("persistent", "tma_wait 2", "later", "it is the last, and the barrier that it passes frees the mbarriers"),
    ("warp-specialised", "mbar_arrive [24]", "later", "it frees its slot after the wait for a store, later than it could"),
    ("warp-specialised", "tma_wait [13]", "earlier", "it is about the store of the tile before, not about the slot that the arrival frees"),
]
ORDERS = ("mbar_init", "mbar_expect", "mbar_arrive", "mbar_wait", "fence_async", "barrier", "wgmma_wait", "tma_wait")
EFFECTS = ORDERS + ("mbar_inval", "wgmma", "tma_load", "tma_store", "local_store", "local_load", "load", "store", "keep_alive")
REPORTS = ("race", "asynchronous operation misused", "missing proxy fence", "mbarrier misused", "use of an undefined value", "deadlock",
           "divergent barrier")


class Node:
    """An operation, or a region with its blocks."""

    def __init__(self, text):
        self.text, self.blocks, self.separators = text, [], []

    def name(self):
        return re.match(r"\s*(?:[#%\w, ]+ = )?(\w+)", self.text).group(1)

    def all(self):
        yield self
        for block in self.blocks:
            for node in block:
                yield from node.all()

    def has_effect(self):
        return any(n.name() in EFFECTS for n in self.all())

    def results(self):
        head = re.match(r"\s*((?:%\w+(?:, )?)+) = ", self.text)
        return set(re.findall(r"%\w+", head.group(1))) if head else set()

    def uses(self):
        return {v for n in self.all() for v in re.findall(r"%\w+", n.text)} - self.results()

    def lines(self):
        yield self.text
        for i, block in enumerate(self.blocks):
            for node in block:
                yield from node.lines()
            yield self.separators[i]


def parse(lines):
    """The module as a block of nodes."""
    top = []
    stack = [top]
    regions = []
    for line in lines:
        if line.strip().startswith("}"):
            regions[-1].separators.append(line)
            stack.pop()
            if line.rstrip().endswith("{"):
                regions[-1].blocks.append([])
                stack.append(regions[-1].blocks[-1])
            else:
                regions.pop()
            continue
        node = Node(line)
        stack[-1].append(node)
        if line.rstrip().endswith("{"):
            node.blocks.append([])
            regions.append(node)
            stack.append(node.blocks[0])
    return top


def blocks_of(block):
    yield block
    for node in block:
        for inner in node.blocks:
            yield from blocks_of(inner)


def later(block, i):
    """The block with operation i after the next one that has an effect, or None."""
    if block[i].results():
        return None
    for k in range(i + 1, len(block)):
        if block[k].has_effect():
            return block[:i] + block[i + 1:k + 1] + [block[i]] + block[k + 1:]
    return None


def earlier(block, i):
    """The block with operation i, and what it is computed from, before the one before it that has an effect, or None."""
    needed, moved = block[i].uses(), [block[i]]
    for k in range(i - 1, -1, -1):
        node = block[k]
        if node.has_effect():
            if node.results() & needed or block[i].results() & node.uses():
                return None
            between = [n for n in block[k:i] if n not in moved]
            return block[:k] + moved + between + block[i + 1:]
        if node.results() & needed:
            needed |= node.uses()
            moved.insert(0, node)
    return None


def with_number(key, change):
    def mutate(block, i):
        found = re.search(rf"{key} = (\d+)", block[i].text)
        value = change(int(found.group(1))) if found else -1
        if value < 0 or (value == 0 and "mbar" in block[i].name()):
            return None
        return block[:i] + [Node(block[i].text.replace(found.group(0), f"{key} = {value}"))] + block[i + 1:]
    return mutate


def other_parity(block, i):
    mbarrier, phase, rest = re.match(r"\s*mbar_wait (%\w+), (%\w+), (.*)", block[i].text).groups()
    return block[:i] + [Node("%one_mutant = constant {value = 1} : i32"), Node(f"%parity_mutant = xori {phase}, %one_mutant : i32"),
                        Node(f"mbar_wait {mbarrier}, %parity_mutant, {rest}")] + block[i + 1:]


def removed(block, i):
    return block[:i] + block[i + 1:]


def mutations(name):
    yield "removed", removed
    yield "earlier", earlier
    yield "later", later
    if name == "mbar_wait":
        yield "other parity", other_parity
    if name in ("mbar_init", "mbar_arrive"):
        yield "count + 1", with_number("count", lambda n: n + 1)
        yield "count - 1", with_number("count", lambda n: n - 1)
    if name == "mbar_expect":
        yield "bytes + 16", with_number("bytes", lambda n: n + 16)
        yield "bytes - 16", with_number("bytes", lambda n: n - 16)
    if name in ("wgmma_wait", "tma_wait"):
        yield "count + 1", with_number("count", lambda n: n + 1)


def mutants(text):
    """Description and text of each: operation, its number among those of its name, mutation."""
    top = parse(text.splitlines())
    seen, number = {}, {}
    for node in (n for outer in top for n in outer.all()):
        seen[node.name()] = number[id(node)] = seen.get(node.name(), 0) + 1
    for block in list(blocks_of(top)):
        for i, node in enumerate(list(block)):
            name = node.name()
            if name not in ORDERS:
                continue
            for what, mutate in mutations(name):
                original = list(block)
                changed = mutate(original, i)
                if not changed:
                    continue
                block[:] = changed
                lines = "\n".join(line for n in top for line in n.lines())
                block[:] = original
                if what == "removed" and node.results():   # wgmma_wait: its operand stands for its result
                    result, operand = re.match(r"\s*(%\w+) = \w+ (%\w+)", node.text).groups()
                    lines = re.sub(rf"{result}\b", operand, lines)
                yield f"{name} {number[id(node)]}", what, lines + "\n"


class Kernel:
    def __init__(self, tilec, name, folder):
        example, signature, grid, sizes = KERNELS[name]
        self.name, self.tilec, self.folder = name, tilec, folder
        path = os.path.join(folder, f"{name}.tir")
        subprocess.run([tilec, f"examples/{example}.tile", "-n", "matmul", "-s", signature, "--arch=sm_90a", "--emit=allocated", "-o", path],
                       cwd=many.ROOT, check=True)
        with open(path) as f:
            self.text = f.read()
        self.words = ["-k", "matmul", "--grid", grid, *(w.format(**sizes) for w in TILES)]

    def outcome(self, text, seeds):
        """What the simulator reports with the first seed that shows something, or None; and what is wrong if no report says so."""
        handle, path = tempfile.mkstemp(".tir", dir=self.folder)
        with os.fdopen(handle, "w") as f:
            f.write(text)
        schedule = {"TILE_SIM_SEED": "0", "TILE_SIM_SEED_STEP": "1", "TILE_SIM_MAX_STEPS": "2000000", "TILE_MUTANT": path}
        try:
            for seed in range(seeds):
                status, said = many.run(self.tilec, "sim", [path, *self.words], schedule)
                found = re.search(rf"^({'|'.join(REPORTS)}).*", said, re.M)
                if found:
                    return f"{found.group(1)}, seed {seed}", None
                if status == 1:
                    return "refused by the compiler", None
                if status != 0:
                    return None, f"seed {seed}: {said.strip()[-300:] or 'does not end'}"
        finally:
            os.remove(path)
        return None, None


def reason(kernel, operation, what):
    return next((why for k, o, w, why in HARMLESS if re.fullmatch(k, kernel) and re.fullmatch(o, operation) and re.fullmatch(w, what)), None)


def judge(kernel, found):
    """Prints what is amiss, and returns the lines of the table, the number of reported mutants, and whether all is well."""
    ok, reported, table = True, 0, []
    for operation, what, (report, wrong) in found:
        why = reason(kernel.name, operation, what)
        if report:
            reported += 1
            if why:
                print(f"{kernel.name}: {operation}, {what}: listed as harmless, and reported: {report}")
                ok = False
        elif wrong:
            print(f"{kernel.name}: {operation}, {what}: wrong, and not reported: {wrong}")
            ok = False
        elif why:
            table.append((kernel.name, operation, what, why))
        else:
            print(f"{kernel.name}: {operation}, {what}: no seed shows it, and HARMLESS has no reason")
            ok = False
    return table, reported, ok


def write_page(path, rows, table, seeds):
    with open(path, "w") as f:
        f.write("# Mutations of Gluon kernels\n\nWritten by `tests/gluon/mutations.py build/tilec --full --out`, which describes what a mutation is. "
                f"The simulator runs\neach mutant with {seeds} seeds.\n\n"
                "| kernel | mutants | reported | harmless | wrong and not reported |\n|---|---|---|---|---|\n")
        f.writelines(f"| {name} | {total} | {reported} | {harmless} | {total - reported - harmless} |\n" for name, total, reported, harmless in rows)
        f.write("\nThe harmless ones, and why. Operations are counted in the order in which `--emit=allocated` shows them.\n\n"
                "| kernel | operation | mutation | reason |\n|---|---|---|---|\n")
        f.writelines(f"| {' | '.join(row)} |\n" for row in table)


def main():
    ap = many.case_arguments()
    ap.add_argument("--seeds", type=int, default=0)
    ap.add_argument("--out", default="")
    o = ap.parse_args()
    seeds = o.seeds or (50 if o.full else 3)
    ok, rows, table = True, [], []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(o.j) as pool:
        for name in KERNELS:
            kernel = Kernel(o.tilec, name, folder)
            first = kernel.outcome(kernel.text, 200 if o.full else seeds)
            if first != (None, None):
                print(f"{name}: the original: {first}")
                ok = False
            todo = [m for m in mutants(kernel.text) if o.only in f"{name} {m[0]} {m[1]}"]
            todo = todo if o.full or o.only else todo[::6]
            results = pool.map(lambda m: kernel.outcome(m[2], seeds), todo)
            found = [(m[0], m[1], r) for m, r in zip(todo, results)]
            found = [f for f in found if f[2][0] != "refused by the compiler"]
            harmless, reported, well = judge(kernel, found)
            ok &= well and bool(found or o.only)
            table += harmless
            rows.append((name, len(found), reported, len(harmless)))
            print(f"{name}: {len(found)} mutants, {reported} reported, {len(harmless)} harmless")
    if o.out:
        write_page(o.out, rows, table, seeds)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
