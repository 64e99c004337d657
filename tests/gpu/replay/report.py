"""What the lines of a replay say: launches.txt, a summary, a page of docs/results."""

import collections
import glob
import math
import os

import results

HERE = os.path.dirname(os.path.abspath(__file__))
BINS = (0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.97, 0.98, 1, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 4, math.inf)
RANK = {"recorded": 0, "untimed": 0, "ok": 1, "refused": 2, "differs": 3, "failed": 4}


def identity(r):
    return (
        r["package"],
        r["kernel"],
        r["digest"],
        pairs(r["signature"], r["constexprs"]),
        pairs(r["options"]),
        str(r["grid"]),
        str(r["sizes"]),
    )


def pairs(d, values=None):
    """`a=x b=y`; constexprs with their values."""
    return " ".join(f"{k}={(values or {}).get(k, v)}".replace(" ", "") for k, v in d.items())


def merge(records):
    """One record a launch: the timed one before the one without times, whose first launches were the cold ones."""
    out = {}
    for r in records:
        old = out.setdefault(identity(r), r)
        if old is r:
            continue
        low, high = sorted((old, r), key=lambda x: RANK[x["status"]])
        out[identity(r)] = {**low, **high, "first_ms": max(x.get("first_ms", 0) for x in (old, r))}
    return list(out.values())


def folder_records(folders):
    from replay import read

    paths = [p for d in folders for p in (sorted(glob.glob(os.path.join(d, "*.jsonl"))) if os.path.isdir(d) else [d])]
    return merge(read(*paths))


def main_list(o):
    rows = folder_records(o.package)
    lines = sorted(
        {
            f"{r['package']} {r['kernel']}({pairs(r['signature'], r['constexprs'])}) {pairs(r['options'])}"
            f" grid={'x'.join(map(str, r['grid']))}"
            for r in rows
        }
    )
    with open(o.out or os.path.join(HERE, "launches.txt"), "w") as f:
        f.write("\n".join(lines) + "\n")
    print(f"{len(lines)} launches, {len({r['kernel'] for r in rows})} kernels")


def capped_mean(rows):
    return math.exp(sum(math.log(min(r["ratio"], 4)) for r in rows) / len(rows))


def figures(rows):
    """Launches, kernels, launches by status, then of the timed ones: mean, share from 0.97, lowest, total times."""
    status = collections.Counter(r["status"] for r in rows)
    timed = [r for r in rows if "ratio" in r]
    cells = (
        [len(rows), len({r["kernel"] for r in rows})]
        + [status[s] for s in ("differs", "refused", "failed")]
        + [len(timed)]
    )
    if not timed:
        return cells + ["–"] * 5
    total = lambda who: sum(r[who + "_us"][1] for r in timed) / 1e3
    return cells + [
        f"{capped_mean(timed):.3f}",
        f"{sum(r['ratio'] >= .97 for r in timed) / len(timed):.1%}",
        f"{min(r['ratio'] for r in timed):.3f}",
        f"{total('triton'):.1f}",
        f"{total('ours'):.1f}",
    ]


COLUMNS = [
    "package",
    "launches",
    "kernels",
    "differ",
    "refused",
    "failed",
    "timed",
    "geometric mean (capped at 4)",
    "≥ 0.97",
    "lowest",
    "Triton ms",
    "tilec ms",
]


def by_package(rows):
    names = sorted({r["package"] for r in rows})
    out = [(n, *figures([r for r in rows if r["package"] == n])) for n in names]
    return out + ([("all", *figures(rows))] if len(names) > 1 else [])


def summary(rows):
    for cells in by_package(rows):
        print(", ".join(f"{c} {v}" for c, v in zip(COLUMNS, cells)))
    for r in sorted((r for r in rows if r.get("ratio", 1) < 0.97), key=lambda r: r["ratio"])[:60]:
        print(f"  {r['ratio']:.3f} {short(r)} {options(r)} {grid(r)} triton {r['triton_us'][1]} us")
    for r in rows:
        if r["status"] in ("differs", "refused", "failed"):
            text = (
                f"error {r.get('error')}, noise {r.get('noise')}"
                if r["status"] == "differs"
                else r.get("why", "").strip()
            )
            print(f"  {r['status']}: {short(r)}: {' / '.join(text.splitlines()[:3])[:300]}")


def short(r):
    return f"{r['package']} {'.'.join(r['kernel'].split('.')[-2:])}"


def options(r):
    return f"w{r['options'].get('num_warps', 4)} s{r['options'].get('num_stages', '–')}"


def grid(r):
    return "×".join(map(str, r["grid"]))


def histogram(rows):
    count = lambda low, high: sum(low <= r["ratio"] < high for r in rows)
    return results.table(
        "Histogram of the ratios",
        ["from", "below", "launches"],
        [(low, high if high < math.inf else "–", count(low, high)) for low, high in zip(BINS, BINS[1:])],
    )


def rows_of(title, rows):
    us = lambda v: f"{v[1]:.1f} ({v[0]:.1f}–{v[2]:.1f})"
    head = ["ratio", "kernel", "warps, stages", "grid", "Triton µs (p10–p90)", "tilec µs (p10–p90)", "MHz", "W"]
    cells = [
        (
            f"{r['ratio']:.3f}",
            short(r),
            options(r),
            grid(r),
            us(r["triton_us"]),
            us(r["ours_us"]),
            f"{r['sm_mhz']:.0f}" if "sm_mhz" in r else "–",
            f"{r['watts']:.0f}" if "watts" in r else "–",
        )
        for r in rows
    ]
    return results.table(title, head, cells)


def main_table(o):
    rows = folder_records(o.package)
    timed = sorted((r for r in rows if "ratio" in r), key=lambda r: r["ratio"])
    if not timed:
        raise SystemExit("no timed launch in these folders")
    first = sorted(r["first_ms"] for r in rows if "first_ms" in r)
    quantile = lambda f: first[min(len(first) - 1, int(f * len(first)))]
    text = (
        "tilec repeats each launch that a package makes at the sizes of real models, on clones of the same tensors. "
        "A ratio is Triton's time over tilec's: above 1, tilec is faster. It is the median over rounds in "
        "alternating order, L2 flushed before each launch. tilec's first launches, compilation included, took "
        f"{quantile(.5):.0f} ms (median), {quantile(.9):.0f} ms (p90), {first[-1]:.0f} ms (longest)."
    )
    sections = [text, results.table("By package", COLUMNS, by_package(rows)), histogram(timed)]
    wrong = [r for r in rows if r["status"] in ("differs", "refused", "failed")]
    wrong.sort(key=lambda r: (r["status"], short(r)))
    if wrong:
        why = lambda r: (
            f"error {r['error']:.2g}, Triton's own {r['noise']:.2g}"
            if r["status"] == "differs"
            else (r.get("why", "").strip() or "?").splitlines()[0][:160].replace("|", "\\|")
        )
        sections.append(
            results.table(
                "Not compared, or not alike",
                ["status", "kernel", "why"],
                [(r["status"], short(r), why(r)) for r in wrong],
            )
        )
    for package in sorted({r["package"] for r in timed}):
        mine = [r for r in timed if r["package"] == package]
        low, rest = [r for r in mine if r["ratio"] < 0.97], [r for r in mine if r["ratio"] >= 0.97]
        if low:
            sections.append(rows_of(f"{package}: below 0.97", low))
        sections.append(rows_of(f"{package}: from 0.97 on", rest))
    versions = next((r["versions"] for r in rows if "versions" in r), "unknown")
    results.write(o.out, "Real packages' kernels", versions, *sections)
