"""Runs kernels made at random and cuts down those that fail. For the scripts beside it: a generator is a class with HEAD and
WORDS, what each kernel's file and command line begin with, and kernel(), the lines of the kernel of a seed."""
import concurrent.futures
import os
import random
import re
import tempfile

import many


def words_of(generator, path, config):
    return [path, "-k", "k", "--grid", "2", *generator.WORDS, "--check", "--rtol=0", "--atol=0", "--verify-each", "-q", *config]


def run(tilec, device, generator, lines, config, schedule, folder, name):
    path = os.path.join(folder, name + ".tile")
    with open(path, "w") as f:
        f.write(generator.HEAD + "\n".join(lines) + "\n")
    status, text = many.run(tilec, device, words_of(generator, path, config), schedule)
    return status, text.strip()


def kind_of(status, text):
    """What went wrong, as far as it must stay the same while a kernel is cut down."""
    if status == 10 and "bytes of shared memory" in text:
        return None
    said = re.search(r"pass \w+ broke|differs|check", text)
    return None if status == 0 else (status, said and said.group())


def configs(r, o):
    """One plain choice and two others; and the simulator's schedule for each."""
    only = ["--compile-only", "-o", os.devnull] if o.compile_only else []
    yield ["--arg", "n=3", "--arch", o.arch[0], *only], {}
    for _ in range(2):
        yield ["--arg", f"n={r.choice([0, 1, 2, 5])}", "-w", r.choice(["1", "2", "4", "8", "16"]), "--num-stages", r.choice(["1", "2", "3", "4"]),
               "--arch", r.choice(o.arch), *only], {"TILE_SIM_SEED": str(r.randrange(100))}


def cut_down(lines, fails):
    """The kernel without what it fails without: blocks first, then single lines."""
    i = len(lines) - 1
    while i >= 0:
        indent = len(lines[i]) - len(lines[i].lstrip())
        end = i + 1
        while end < len(lines) and len(lines[end]) - len(lines[end].lstrip()) > indent:
            end += 1
        shorter = lines[:i] + lines[end:]
        if shorter and fails(shorter):
            lines = shorter
        i -= 1
    return lines


def one(o, generator, seed, folder):
    lines = generator(seed).kernel()
    for n, (config, schedule) in enumerate(configs(random.Random(seed), o)):
        again = lambda some: run(o.tilec, o.device, generator, some, config, schedule, folder, f"{seed}_{n}")
        kind = kind_of(*again(lines))
        if kind:
            lines = cut_down(lines, lambda shorter: kind_of(*again(shorter)) == kind)
            _, text = again(lines)
            path = os.path.join(folder, f"{seed}_{n}.tile")
            return "\n".join([f"seed {seed}: {many.pasted(o.tilec, o.device, words_of(generator, path, config), schedule)}", generator.HEAD + "\n".join(lines),
                              *("    " + s for s in text.splitlines()[-8:])])
    return None


def arguments():
    """A parser with what the scripts have in common."""
    ap = many.arguments()
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--count", type=int, default=40)
    ap.add_argument("--arch", type=lambda text: text.split(","), default=["sm_90a", "sm_90a", "sm_80", "sm_89"], help="the targets to choose from")
    ap.add_argument("--compile-only", action="store_true", help="for targets that the device cannot run")
    ap.add_argument("--show", action="store_true", help="print the kernels instead of running them")
    ap.add_argument("--keep", type=os.path.abspath, help="folder for the kernels' files")
    return ap


def main(o, generator, label):
    """Runs the kernels that the arguments o ask for. The exit status of the script."""
    seeds = range(o.seed, o.seed + o.count)
    if o.show:
        for seed in seeds:
            print(generator.HEAD + "\n".join(generator(seed).kernel()) + "\n")
        return 0
    failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(o.j) as pool:
        for report in pool.map(lambda seed: one(o, generator, seed, o.keep or folder), seeds):
            if report:
                failed += 1
                print(report, flush=True)
    print(f"{label}, {o.device}: {len(seeds) - failed} of {len(seeds)} agree")
    return 1 if failed or not seeds else 0
