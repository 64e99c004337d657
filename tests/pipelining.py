#!/usr/bin/env python3
"""Pipelined loops on the simulator: depths of 1 to 4 stages × trip counts around the depth × orders of asynchronous work.

    tests/pipelining.py TILEC [--full] [--only TEXT] [-j N] [--device sim|gpu]

The inputs are small integers: the device must agree with the interpreter bit for bit, and the simulator report nothing.
"""
import os
import sys

import many

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(HERE, "kernels", "pipelining.tile")
EXAMPLES = os.path.join(HERE, "..", "examples")
BLOCKS = {"sm_90a": (64, 32, 32), "sm_80": (32, 32, 32)}   # BM, BN, BK
MAX_TRIPS = 9


def ints(dtype, *shape, seed=1):
    return f"{dtype}[{','.join(map(str, shape))}]=randint:{seed}:-2:3"


def small(kernel):
    def command(arch, trips):
        bm, bn, bk = BLOCKS[arch]
        k = bk * MAX_TRIPS
        a, b, c = ints("fp16", bm, k), ints("fp16", k, bn, seed=2), f"fp32[{bm},{bn}]=zeros"
        if kernel == "descriptors":
            a, b, c = f"desc({a},[{bm},{bk}])", f"desc({b},[{bk},{bn}])", f"desc({c},[{bm},{bn}])"
        return [KERNELS, "-k", kernel, "--grid", "1", "--arg", f"a={a}", "--arg", f"b={b}", "--arg", f"c={c}", "--arg", f"n={trips}",
                "-D", f"BM={bm}", "-D", f"BN={bn}", "-D", f"BK={bk}", "-D", f"LD={k}"]
    return command


def converted(arch, trips):
    """Operands of 8 bits that become 16."""
    return [x.replace("fp16[", "i8[") if x[:2] in ("a=", "b=") else x for x in small("converted")(arch, trips)]


def attend(arch, trips):
    """Two warpgroups, which take turns."""
    command = small("attend")(arch, trips) + ["-w", "8"]
    bm = BLOCKS[arch][0]
    return [x.replace(f"[{bm},{MAX_TRIPS * 32}]", f"[128,{MAX_TRIPS * 32}]").replace(f"[{bm},32]=zeros", "[128,32]=zeros").replace(f"BM={bm}", "BM=128") for x in command]


def large(arch, trips):
    """Tiles of which sm_80 does not hold four."""
    bm, bn, bk = 128, 256, 64
    return [KERNELS, "-k", "product", "-w", "8", "--grid", "1", "--arg", "a=" + ints("fp16", bm, bk * MAX_TRIPS), "--arg",
            "b=" + ints("fp16", bk * MAX_TRIPS, bn, seed=2), "--arg", f"c=fp32[{bm},{bn}]=zeros", "--arg", f"n={trips}",
            "-D", f"BM={bm}", "-D", f"BN={bn}", "-D", f"BK={bk}", "-D", f"LD={bk * MAX_TRIPS}"]


def read_late(arch, trips):
    bm, bn, bk = (128, 128, 256) if arch == "sm_90a" else (64, 128, 256)
    return [KERNELS, "-k", "read_late", "-w", "8", "--grid", "1", "--no-auto-tma", "--arg", "a=" + ints("fp16", bm, bk * MAX_TRIPS), "--arg",
            "b=" + ints("fp16", bk * MAX_TRIPS, bn, seed=2), "--arg", f"c=fp32[{bm},{bn}]=zeros", "--arg", f"n={trips}",
            "-D", f"BM={bm}", "-D", f"BN={bn}", "-D", f"BK={bk}", "-D", f"LD={bk * MAX_TRIPS}"]


def tile_sums(arch, trips):
    return [KERNELS, "-k", "tile_sums", "--grid", "1", "--arg", f"a=desc({ints('fp16', 128, 128 * MAX_TRIPS)},[128,128])",
            "--arg", "c=fp32[128]=zeros", "--arg", f"n={trips}", "-D", "BM=128", "-D", "BK=128"]


def tile_sums_beside(arch, trips):
    return [KERNELS, "-k", "tile_sums_beside", "--grid", "1", "--arg", f"a=desc({ints('fp16', 64, 256 * MAX_TRIPS)},[64,256])",
            "--arg", f"b=desc({ints('fp16', 64, 64 * MAX_TRIPS, seed=2)},[64,64])", "--arg", "c=fp32[64,64]=zeros", "--arg", f"n={trips}",
            "-D", "BM=64", "-D", "BK=256"]


def unpacked(arch, trips):
    """Weights of four bits and their scales, which threads read, beside an operand of tensor cores."""
    m, n, k = 16 if arch == "sm_80" else 128, 64 if arch == "sm_80" else 128, 64
    return [os.path.join(EXAMPLES, "matmul_int4.tile"), "-k", "matmul_int4", "-w", "4" if arch == "sm_80" else "8", "--grid", "1",
            "--arg", "a=" + ints("fp16", m, k * MAX_TRIPS), "--arg", f"packed=u8[{k * MAX_TRIPS // 2},{n}]=randint:2:0:256",
            "--arg", "scales=" + ints("fp16", k * MAX_TRIPS // 32, n, seed=3), "--arg", f"c=fp16[{m},{n}]=zeros", "--arg", f"M={m}", "--arg", f"N={n}",
            "--arg", f"K={k * trips}", "-D", "GROUP=32", "-D", f"BM={m}", "-D", f"BN={n}", "-D", f"BK={k}"]


def by_threads(kernel):
    """Copies by cp.async alone."""
    return lambda arch, trips: small(kernel)(arch, trips) + ["--no-auto-tma"]


def left_of_row(by):
    return lambda arch, trips: small("left_of_row")(arch, trips) + ["--arg", f"by={by}", "--arg", f"ld={BLOCKS[arch][2] * MAX_TRIPS}"]


def grouped(arch, trips):
    k, m, n = 32 * MAX_TRIPS, 96, 80
    v = [os.path.join(EXAMPLES, "matmul.tile"), "-k", "matmul_kernel", "--grid", "cdiv(M,BM)*cdiv(N,BN)", "--arg", "a=" + ints("fp16", m, k),
         "--arg", "b=" + ints("fp16", k, n, seed=2), "--arg", f"c=fp16[{m},{n}]=zeros"]
    for name, value in (("M", m), ("N", n), ("K", 32 * trips), ("sam", k), ("sak", 1), ("sbk", n), ("sbn", 1), ("scm", n), ("scn", 1)):
        v += ["--arg", f"{name}={value}"]
    return v + ["-D", "BM=64", "-D", "BN=64", "-D", "BK=32", "-D", "GROUP=8"]


def persistent(arch, trips):
    k, m, n = 32 * max(trips, 1), 136, 96
    return [os.path.join(EXAMPLES, "matmul_persistent.tile"), "-k", "matmul_persistent", "--grid", "2", "--arg", f"a=desc({ints('fp16', m, k)},[BM,BK])",
            "--arg", f"b=desc({ints('fp16', n, k, seed=2)},[BN,BK])", "--arg", f"c=desc(fp16[{m},{n}]=zeros,[BM,BN//2])", "--arg", f"M={m}",
            "--arg", f"N={n}", "--arg", f"K={32 * trips}", "-D", "BM=64", "-D", "BN=64", "-D", "BK=32", "-D", "GROUP=8", "-D", "SUBTILE=True",
            "-D", "NUM_SMS=2"]


def gathered(twice):
    """The tables have no numbers beyond the last iteration's."""
    def command(arch, trips):
        bk = BLOCKS[arch][2]
        count = bk * max(trips, 1)
        return small("gathered")(arch, trips) + ["--arg", f"rows=i32[{count}]=randint:3:0:{bk * MAX_TRIPS}", "--arg",
                                                 f"places=i64[{count}]=randint:4:0:{count}", "-D", f"TWICE={twice}"]
    return command


def next_block(arch, trips):
    return small("next_block")(arch, trips) + ["--arg", f"blocks=i32[{trips + 1}]=randint:5:0:{MAX_TRIPS}"]


KINDS = {name: small(name) for name in ("product", "masked", "descriptors", "made", "conditional", "two_products", "row_sums", "indirect", "indexed", "fed_back")}
KINDS["left_of_row"], KINDS["left_of_row, argument"] = left_of_row(1), left_of_row(-1)
KINDS["attend"], KINDS["attend_one"], KINDS["grouped"], KINDS["persistent"] = attend, small("attend"), grouped, persistent
KINDS["converted"], KINDS["large"], KINDS["tile_sums"] = converted, large, tile_sums
KINDS["read_late"] = read_late
KINDS["attend, cp.async"] = lambda arch, trips: attend(arch, trips) + ["--no-auto-tma"]
for kind in ("read_first", "nested", "chained", "scaled", "decoded"):
    KINDS[kind], KINDS[kind + ", cp.async"] = small(kind), by_threads(kind)
KINDS["gathered"], KINDS["gathered twice"], KINDS["next_block"] = gathered(False), gathered(True), next_block
KINDS["next_block, cp.async"] = lambda arch, trips: next_block(arch, trips) + ["--no-auto-tma"]
KINDS["tile_sums_beside"], KINDS["unpacked"] = tile_sums_beside, unpacked


def cases(full):
    for arch in ("sm_90a", "sm_80"):
        for name, command in KINDS.items():
            for stages in (1, 2, 3, 4) if full else (2, 3):
                trips = range(2 * stages + 2) if full else (0, 1, stages, 2 * stages + 1)
                for n in trips:
                    yield command(arch, n) + [f"--arch={arch}", f"--num-stages={stages}"]


def main():
    o = many.case_arguments().parse_args()
    todo = [[*c, "-q", "--verify-each", "--check", "--rtol=0"] for c in cases(o.full) if o.only in " ".join(c)]
    # The results checked are the last schedule's: one in which copies arrive at once.
    return many.check("pipelining", o.tilec, o.device, todo, o.j, {"TILE_SIM_SEEDS": "21" if o.full else "3"})


if __name__ == "__main__":
    sys.exit(main())
