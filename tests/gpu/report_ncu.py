#!/usr/bin/env python3
"""What `tilec run --report` says of ten examples beside what Nsight Compute reads from the card.

usage: report_ncu.py [TILEC] [--kernels N]      on a GPU machine with ncu

Registers, shared memory per block and occupancy are compared with the launch's, local memory with the loads and stores
of it that ncu counts. The simulator's sectors of 32 bytes of global memory are compared with L1's, unless TMA moves some.
Exits with 1 if anything differs."""
import argparse
import csv
import glob
import io
import json
import math
import os
import re
import shlex
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
METRICS = {
    "launch__registers_per_thread": "registers",
    "launch__shared_mem_per_block_dynamic": "shared",
    "sm__maximum_warps_per_active_cycle_pct": "occupancy",
    "smsp__inst_executed_op_local_ld.sum": "local",
    "smsp__inst_executed_op_local_st.sum": "local",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": "sectors",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": "sectors",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum": "sectors",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum": "sectors",
}
UNITS = {"byte/block": 1, "Kbyte/block": 1000, "byte": 1, "Kbyte": 1000}


def lines():
    """The run line of every example that has one kernel, as words."""
    for path in sorted(glob.glob(os.path.join(ROOT, "examples", "*.tile"))):
        with open(path) as f:
            found = re.findall(r"^[#\s]*(tilec run .*)$", f.read(), re.M)
        if len(found) == 1:
            yield os.path.basename(path), shlex.split(found[0])[1:]


def said(tilec, words, device):
    command = [tilec, *(w for w in words if w != "--check"), "-q", f"--device={device}", "--report=json"]
    out = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    kernel = json.loads(out[out.index("{"):out.rindex("}") + 1])["kernels"][0]
    use, total = kernel["resources"], kernel.get("executed", {}).get("total", {})
    return {"registers": use["registers"], "shared": use["shared_bytes"], "occupancy": 100 * use["occupancy"],
            "local": use["local_bytes"], "sectors": float("nan") if total.get("tma_bytes") else total.get("global_sectors")}


def counted(tilec, words):
    command = ["ncu", "--csv", "--metrics", ",".join(METRICS), "--clock-control", "none", tilec,
               *(w for w in words if w != "--check"), "-q", "--device=gpu"]
    out = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    rows, totals = csv.DictReader(io.StringIO(out[out.index('"ID"'):])), {}
    for row in rows:
        if row["ID"] != "0" or row["Metric Name"] not in METRICS:
            continue
        name, value = METRICS[row["Metric Name"]], row["Metric Value"].replace(",", "")
        if re.fullmatch(r"[\d.]+", value):
            totals[name] = totals.get(name, 0) + float(value) * UNITS.get(row["Metric Unit"], 1)
    return totals


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("tilec", nargs="?", default=os.environ.get("TILEC", os.path.join(ROOT, "build", "tilec")))
    p.add_argument("--kernels", type=int, default=10)
    o = p.parse_args()
    tilec, every = os.path.abspath(o.tilec), list(lines())
    step, differing = max(1, len(every) // o.kernels), 0
    print(f"{'example':28} {'registers':>16} {'shared':>18} {'occupancy %':>16} {'local':>12} {'global sectors':>20}   (tilec, ncu)")
    for name, words in every[::step][:o.kernels]:
        ours, sim, ncu = said(tilec, words, "gpu"), said(tilec, words, "sim"), counted(tilec, words)
        ours["sectors"] = sim["sectors"]
        same = (ours["registers"] == ncu["registers"] and ours["shared"] == ncu["shared"]
                and abs(ours["occupancy"] - ncu["occupancy"]) < 0.1 and (ours["local"] > 0) == (ncu["local"] > 0)
                and (math.isnan(ours["sectors"]) or ours["sectors"] == ncu.get("sectors")))
        differing += not same
        pairs = [f"{ours[k]:g} {ncu.get(k, float('nan')):g}" for k in ("registers", "shared", "occupancy", "local", "sectors")]
        print(f"{name:28} {pairs[0]:>16} {pairs[1]:>18} {pairs[2]:>16} {pairs[3]:>12} {pairs[4]:>20}{'' if same else '   differs'}", flush=True)
    print(f"{differing} differ")
    return differing > 0


sys.exit(main())
