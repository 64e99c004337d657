# Reads the JSON report of `count` on 3 blocks of a warp: 128 numbers read and 128 atomic operations in each.
import json
import sys

executed = json.load(sys.stdin)["kernels"][0]["executed"]
total, lines = executed["total"], executed["lines"]
assert (executed["device"], executed["seed"], executed["blocks"], executed["warps"]) == ("sim", 0, 3, 1), executed
assert total["atomics"] == 3 * 128, total
assert (executed["read_once"], executed["written_once"]) == (512 + 8, 8), executed
assert [c["cost"] for c in lines] == sorted((c["cost"] for c in lines), reverse=True), lines
assert abs(sum(c["cost"] for c in lines) - 1) < 1e-9, lines
for name in total:
    assert total[name] == sum(c[name] for c in lines), name
access = next(c for c in lines if c["atomics"])
# A warp's 4 loads of 32 numbers move 4 sectors each, its 4 atomic requests 1 each.
assert access["line"] == 18 and access["file"].endswith("line_counts.tile"), access
assert access["global_bytes"] == 3 * (16 + 4) * 32 and access["unit"] == "global", access
