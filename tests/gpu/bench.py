#!/usr/bin/env python3
"""Ours against the peers on one GPU, in one process, interleaved.

usage: bench.py SUITE…      suites: memory small matmul fp8 attention list16 list8 examples      TILE_LIBRARY names libtile.so
options: --rounds N (20) --quick (5 rounds, fewer shapes) --json FILE
         --out FOLDER            write FOLDER/SUITE.md for each suite: docs/results, whose pages a run overwrites
         --peer-attention FILE   Python file whose attention_forward(q, k, v, o, causal, scale) on [batch, heads, sequence, D] tensors
                                 is timed beside ours (it tunes itself on its first call)
         --seed FILE             text with the persistent TMA kernel for list16 and list8: every configuration of its autotune list, ours
                                 and Triton's, then best against best (TILE_PTXAS: assembles ours in parallel)
examples only:
         --check                 check every row at the benchmark's size, and time nothing
         --only NAME             cases whose name has NAME in it
         --dry-run               compile every configuration by libtile and end: no GPU, PyTorch or Triton
         --device sim|interp     launch every case there at a small size and compare with PyTorch on the CPU

Every row is checked before it is timed. A ratio is the median over the rounds of peer's time over ours; both are timed within a
round, in alternating order, as triton.testing.do_bench does (L2 flushed before every launch, at least 100 ms, 40 for examples)."""
import argparse
import importlib
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
SUITES = {"memory": "bench_memory", "small": "bench_memory", "matmul": "bench_matmul", "fp8": "bench_matmul", "list16": "bench_matmul", "list8": "bench_matmul",
          "attention": "bench_attention", "examples": "bench_examples"}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("suites", nargs="+", choices=SUITES)
    p.add_argument("--rounds", type=int, default=20)
    p.add_argument("--quick", action="store_true")
    p.add_argument("--json")
    p.add_argument("--out")
    p.add_argument("--peer-attention")
    p.add_argument("--seed", default=os.path.join(os.environ.get("TILE_SEEDS", os.path.join(HERE, "..", "..", "..", "shared", "seeds")), "matmul_tma_persistent.txt"))
    p.add_argument("--only", default="")
    p.add_argument("--check", action="store_true")
    p.add_argument("--dry-run", action="store_true")
    p.add_argument("--device", default="gpu", choices=["gpu", "sim", "interp"])
    o = p.parse_args()
    if (o.dry_run or o.check or o.device != "gpu") and o.suites != ["examples"]:
        p.error("--check, --dry-run and --device are for the suite examples alone")
    if o.dry_run or o.device != "gpu":
        import bench_examples
        return bench_examples.dry_run(o) if o.dry_run else bench_examples.small(o)

    import torch
    import triton
    import bench_report
    import tile_ctypes
    from bench_common import Bench, guarded
    bench = Bench(0 if o.check else 5 if o.quick and o.rounds == 20 else o.rounds)
    lib = tile_ctypes.Library()
    driver = subprocess.getoutput("nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null || echo unknown").split()[0]
    versions = f"{torch.cuda.get_device_name()}, driver {driver}, CUDA {torch.version.cuda}, PyTorch {torch.__version__}, Triton {triton.__version__}"
    print(f"{versions}, {bench.rounds} rounds" if bench.rounds else versions)
    for s in o.suites:
        first = len(bench.rows)
        guarded(bench, s, lambda: getattr(importlib.import_module(SUITES[s]), "suite_" + s)(bench, lib, o))
        if o.out: bench_report.write(o.out, s, versions, bench.rounds, bench.rows[first:], bench.copy)
    if o.check: return any("failed" in row for row in bench.rows)
    bench.best()
    if o.json:
        json.dump(bench.rows, open(o.json, "w"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
