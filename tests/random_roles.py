#!/usr/bin/env python3
"""Random chains of concurrent blocks (`roles`): the interpreter against the simulator, which may report nothing.

    tests/random_roles.py TILEC [--seed N] [--count N] [-j N] [--device sim|gpu] [--show]

The first block of a chain loads tiles, each further one gets them through a ring in shared memory with two mbarriers for each slot, computes, and
passes them on; the last stores them. Which block is block 0, how many warps and registers the others have, the layouts, the slots, and whether the
op is in a loop or an `if` are random."""
import os
import random
import sys
import tempfile

import many

TILE = 256                               # elements
CONSTANTS = (0, 1, 2, 3, TILE)
COMBINE = ["  %z = addi %p, %q : i32", "  yield %z", "}"]


def layouts(r, warps):
    """Three ways to hold a tile."""
    found = []
    for _ in range(3):
        bits = [1 << i for i in range(8)]
        r.shuffle(bits)
        above = 5 + warps.bit_length() - 1
        columns = [f"{name} = {some}" for name, some in (("reg", bits[above:]), ("lane", bits[:5]), ("warp", bits[5:above])) if some]
        found.append(f"layout<{TILE}, {', '.join(columns)}>")
    return found


class Chain:
    def __init__(self, seed):
        self.r = random.Random(seed)
        stages = self.r.randrange(2, 5)
        self.slots = [self.r.randrange(1, 4) for _ in range(stages - 1)]
        self.stages = self.r.sample(range(stages), stages)                 # which stage a block runs
        self.warps = [4] + [self.r.choice([1, 2, 4, 8]) for _ in range(stages - 1)]
        self.tiles, self.rounds = self.r.choice([0, 1, 2, 3, 5, 8]), self.r.randrange(4)

    def rings(self):
        for k, slots in enumerate(self.slots):
            yield f"%buf{k} = alloc _ : buffer<{slots} * {TILE}xi32, #s>"
            for name in ("full", "empty"):
                yield f"%{name}{k} = alloc _ : buffer<{slots} * 1xi64, #b>"
                for i in range(slots):
                    yield f"%{name}{k}_{i} = buffer_index %{name}{k}, %c{i} : buffer<1xi64, #b>"
                    yield f"mbar_init %{name}{k}_{i} {{count = 1}}"

    def end_rings(self):
        for k, slots in enumerate(self.slots):
            yield from (f"mbar_inval %{name}{k}_{i}" for name in ("full", "empty") for i in range(slots))

    def slot(self, k):
        """Filling %i of ring k: its buffer, its mbarriers, their parities."""
        yield f"%slot{k} = remsi %i, %slots{k} : i32"
        yield f"%turn{k} = divsi %i, %slots{k} : i32"
        yield f"%filled{k} = andi %turn{k}, %c1 : i32"
        yield f"%freed{k} = xori %filled{k}, %c1 : i32"
        yield f"%f{k} = buffer_index %full{k}, %slot{k} : buffer<1xi64, #b>"
        yield f"%e{k} = buffer_index %empty{k}, %slot{k} : buffer<1xi64, #b>"
        yield f"%tile{k} = buffer_index %buf{k}, %slot{k} : buffer<{TILE}xi32, #s>"

    def compute(self, a, b, number):
        kind, t = self.r.choice(["add", "convert", "scan", "reduce", "number"]), f"tensor<{TILE}xi32, {a}>"
        if kind == "convert":
            yield f"%v1 = convert_layout %v : tensor<{TILE}xi32, {b}>"
            yield f"%v2 = addi %v1, %v1 : tensor<{TILE}xi32, {b}>"
            yield f"%w = convert_layout %v2 : {t}"
        elif kind == "scan":
            yield from [f"%w = scan %v {{axis = 0}} : {t} do (%p: i32, %q: i32) {{", *COMBINE]
        elif kind == "reduce":
            yield from ["%sum = reduce %v {axis = 0} : i32 do (%p: i32, %q: i32) {", *COMBINE]
            yield from [f"%sums = splat %sum : {t}", f"%w = xori %v, %sums : {t}"]
        elif kind == "number":       # what only the kernel's own warps have
            yield from [f"%more = addi %loaded, {number} : i32", f"%mores = splat %more : {t}", f"%w = addi %v, %mores : {t}"]
        else:
            yield f"%w = addi %v, %elements : {t}"

    def block(self, stage, a, b, number):
        t, last = f"tensor<{TILE}xi32, {a}>", len(self.slots)
        yield from (f"%slots{k} = constant {{value = {n}}} : i32" for k, n in enumerate(self.slots))
        yield f"%elements = range {{start = 0, end = {TILE}}} : {t}"
        yield "for %c0, %n, %c1 do (%i: i32) {"
        yield from [f"%start = muli %i, %c{TILE} : i32", f"%at = splat %start : {t}", f"%index = addi %at, %elements : {t}"]
        if stage < last:
            yield from self.slot(stage)
        if stage == 0 and self.r.random() < 0.3:
            yield f"mbar_wait %e{stage}, %freed{stage}, _"
            yield f"%copy = async_copy %tile{stage}, %x, %index, _, _ : token"
            yield from ["%group = async_commit %copy : token", "%there = async_wait %group {count = 0} : token"]
            yield from [f"mbar_arrive %f{stage}, _ {{count = 1}}", "yield", "}", "yield"]
            return
        if stage == 0:
            yield f"%v = load %x, %index, _, _ : {t}"
        else:
            k = stage - 1
            yield from self.slot(k)
            yield from [f"mbar_wait %f{k}, %filled{k}, _", f"%v = local_load %tile{k}, _ : {t}", f"mbar_arrive %e{k}, _ {{count = 1}}"]
        yield from self.compute(a, b, number)
        if stage == last:
            yield from [f"%old = load %out, %index, _, _ : {t}", f"%new = addi %old, %w : {t}", "store %out, %index, %new, _"]
        else:
            yield from [f"mbar_wait %e{stage}, %freed{stage}, _", f"local_store %w, %tile{stage}", f"mbar_arrive %f{stage}, _ {{count = 1}}"]
        yield from ["yield", "}", "yield"]

    def roles(self, number):
        registers = [self.r.choice([24, 32, 40, 56]) for _ in self.warps[1:]]
        asked = f", registers = {registers}" if self.r.random() < 0.5 else ""
        yield from self.rings()
        yield f"roles {{warps = {self.warps[1:]}{asked}}} do {{"
        for i, stage in enumerate(self.stages):
            if i:
                yield "} do {"
            yield from self.block(stage, f"#l{i}_0", f"#l{i}_1", number)
        yield "}"
        yield from self.end_rings()

    def module(self):
        """The op once, twice in sequence, in a loop, or in the branches of an `if` in a loop."""
        lines = ['module {stage = laid_out, target = "sm_90a", num_warps = 4}', "#s = shared<256, offset = [1, 2, 4, 8, 16, 32, 64, 128]>", "#b = shared<1>"]
        lines += [f"#l{i}_{k} = {text}" for i, warps in enumerate(self.warps) for k, text in enumerate(layouts(self.r, warps))]
        lines += ["func @chain(%x: ptr<i32>, %out: ptr<i32>, %n: i32, %rounds: i32) {"]
        lines += [f"%c{c} = constant {{value = {c}}} : i32" for c in CONSTANTS] + ["%loaded = load %x, _, _, _ : i32"]
        kind = self.r.choice(["once", "twice", "loop", "if"])
        for end in {"once": ["%c1"], "twice": ["%c1", "%c1"]}.get(kind, ["%rounds"]):
            lines += [f"for %c0, {end}, %c1 do (%round: i32) {{"]
            if kind == "if":
                lines += ["%odd = andi %round, %c1 : i32", "%is_odd = cmpi %odd, %c0 {pred = ne} : i1", "if %is_odd do {"]
                lines += [*self.roles("%round"), "yield", "} do {", *self.roles("%odd"), "yield", "}"]
            else:
                lines += self.roles("%round")
            lines += ["yield", "}"]
        return "\n".join(lines + ["return", "}"]) + "\n"

    def words(self, path):
        size = max(self.tiles, 1) * TILE
        return [path, "-q", "--grid", "1", "--check", "--arg", f"x=i32[{size}]=randint:1:-999:999", "--arg", f"out=i32[{size}]=zeros",
                "--arg", f"n={self.tiles}", "--arg", f"rounds={self.rounds}"]


def main():
    ap = many.arguments()
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--count", type=int, default=100)
    ap.add_argument("--show", action="store_true", help="print the modules instead of running them")
    o = ap.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        todo = []
        for seed in range(o.seed, o.seed + o.count):
            chain = Chain(seed)
            text = chain.module()
            if o.show:
                print(f"// seed {seed}\n{text}")
                continue
            path = os.path.join(folder, f"chain_{seed}.tir")
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            todo.append(chain.words(path))
        return 0 if o.show else many.check("chains of roles", o.tilec, o.device, todo, o.j, {"TILE_SIM_SEEDS": "5"})


if __name__ == "__main__":
    sys.exit(main())
