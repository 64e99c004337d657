"""What bench.py says of its rows as a whole: the distribution of the ratios, the best configurations, and a page for docs/results."""
import math
import os
import statistics
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import results  # noqa: E402

NAMES = {"ours": "tilec", "triton": "Triton", "cublas": "cuBLAS", "cudnn": "cuDNN", "torch": "PyTorch", "peer": "peer's kernel"}
TITLES = {"memory": "Memory-bound kernels", "small": "Launches of few rows", "matmul": "Matmul in fp16", "fp8": "Matmul in fp8",
          "attention": "Attention forward", "examples": "The other examples", "list16": "The persistent matmul's autotune list, fp16",
          "list8": "The persistent matmul's autotune list, fp8"}


def family(name):
    """The words of a row's name before its first number: `matmul ptr` of `matmul ptr fp16 …`."""
    words = name.split()
    return " ".join(words[:next((i for i, w in enumerate(words) if any(c.isdigit() for c in w)), len(words))])


def best_of(rows):
    """For each group of more than one row our best configuration against each peer's best, with the ratio's median, lowest and highest."""
    groups, out = {}, []
    for row in rows:
        if row.get("group"): groups.setdefault(row["group"], []).append(row)
    for group, rows in groups.items():
        if len(rows) == 1: continue
        # A peer that knows nothing of blocks and warps is in one of the rows.
        top = {k: max((row for row in rows if k in row), key=lambda row: row[k]) for k in rows[0]["times_ms"]}
        best = {"name": group, "unit": rows[0]["unit"]}
        for k, row in top.items():
            best[k], best["label_" + k] = row[k], row["name"].split(group)[-1].strip()
            if k == "ours": continue
            ratios = sorted(p / o for p, o in zip(row["times_ms"][k], top["ours"]["times_ms"]["ours"]))
            best["ratio_" + k] = (statistics.median(ratios), ratios[0], ratios[-1])
        out.append(best)
    return out


def peers_of(rows):
    return [k for k in NAMES if any("ratio_" + k in row for row in rows)]


def spread(ratio):
    """A ratio with the ends of its range, where it has one."""
    return "–" if not ratio else f"{ratio[0]:.3f}" + (f" ({ratio[1]:.3f}–{ratio[2]:.3f})" if len(ratio) > 1 else "")


def distribution(rows):
    """One line per family and peer, and one per peer for all: how many rows, geometric mean, lowest and highest ratio."""
    families = list(dict.fromkeys(row["family"] for row in rows if "family" in row))
    out = []
    for peer in peers_of(rows):
        for name in families + (["all"] if len(families) > 1 else []):
            ratios = [row["ratio_" + peer][0] for row in rows if "ratio_" + peer in row and name in (row["family"], "all")]
            if not ratios: continue
            mean = math.exp(statistics.fmean(map(math.log, ratios)))
            out.append((name, NAMES[peer], len(ratios), f"{mean:.3f}", f"{min(ratios):.3f}", f"{max(ratios):.3f}"))
    return results.table("Distribution of the ratios", ["kernels", "peer", "rows", "geometric mean", "lowest", "highest"], out)


def rows_table(title, rows, copy):
    peers = peers_of(rows)
    shown = [k for k in NAMES if any(k in row for row in rows)]
    copy = copy if any(row.get("unit") == "GB/s" for row in rows) else None

    def cells(row):
        if "failed" in row: return [row["name"], "failed: " + row["failed"].strip().splitlines()[0].replace("|", "\\|")]
        label = lambda k: f" ({row['label_' + k]})" if row.get("label_" + k) else ""
        out = [row["name"], row["unit"]] + [f"{row[k]:.0f}{label(k)}" if k in row else "–" for k in shown]
        out += [spread(row.get("ratio_" + k)) for k in peers]
        return out + ([f"{row['ours'] / copy:.2f}" if row["unit"] == "GB/s" else "–"] if copy else [])
    columns = ["kernel", "unit"] + [NAMES[k] for k in shown] + [f"tilec / {NAMES[k]}" for k in peers] + (["of the copy"] if copy else [])
    return results.table(title, columns, map(cells, rows))


def write(folder, suite, versions, rounds, rows, copy=None, best=None, **head):
    """Overwrites docs/results/SUITE.md with the rows of one suite."""
    best = best_of(rows) if best is None else best
    text = [f"A ratio is the peer's time over tilec's: above 1, tilec is faster. In the table of all rows it is the median of {rounds} rounds with p10 and p90."]
    if copy: text.append(f"PyTorch copies 1 GiB at {copy:.0f} GB/s in the same run.")
    sections = [" ".join(text), distribution(rows)]
    if best: sections.append(rows_table("The best configuration of each (median, lowest and highest ratio)", best, copy))
    results.write(os.path.join(folder, suite + ".md"), TITLES[suite], versions, *sections, rows_table("All rows", rows, copy), **head)
