"""Compiles recorded launches by tilec and Triton without a GPU, and compares what the assemblers report."""

import ast
import contextlib
import hashlib
import importlib.util
import io
import json
import multiprocessing
import os
import re
import resource
import shutil
import subprocess
import tempfile
import time

PTXAS = os.environ.get("TILE_PTXAS") or shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
FLAGS = {"num_warps": "-w{}", "num_stages": "--num-stages={}", "num_ctas": "--num-ctas={}", "maxnreg": "--maxnreg={}"}
SECONDS = 300
SHARED = {80: 166912, 86: 101376, 89: 101376, 120: 101376}  # bytes that a block has; others have 232448


def used(log):
    """Registers and spilled bytes of an entry as ptxas -v tells them."""
    first = lambda pattern: int((re.search(pattern, log) or [0, 0])[1])
    return {
        "registers": first(r"Used (\d+) registers"),
        "spill": first(r"(\d+) bytes spill stores"),
        "spill_loads": first(r"(\d+) bytes spill loads"),
        "stack": first(r"(\d+) bytes stack frame"),
    }


def signature(r):
    return ", ".join(r["constexprs"].get(k, t) for k, t in r["signature"].items())


def timed(words):
    """A child's status, output, wall and processor time in ms."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    p = subprocess.run(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS, errors="replace"
    )
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return (
        p.returncode,
        p.stdout,
        wall * 1e3,
        (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3,
    )


def other_hint(text, use):
    """The PTX of a kernel that spills with the other hint that libtile tries (runtime/rt/kernel.c), or None."""
    threads = int(re.search(r"\n\.reqntid (\d+)", text)[1])
    if asked := int((re.search(r"\n\.minnctapersm (\d+)", text) or [0, 0])[1]):
        need = use["registers"] + use["stack"] // 4
        fits = need <= 255 and threads * need <= 65536
        blocks = min(max(65536 // (threads * (need + 8)), 1) if fits else 0, asked - 1)
        lower = f"\n.minnctapersm {blocks}" if blocks else ""
        return re.sub(r"\n\.minnctapersm \d+", lower, text) if asked > 1 else None
    if asked or "\n.maxnreg " in text:
        return None
    if 2 * use["registers"] > min(255, 65536 // threads) + 1 and use["stack"] > 64:
        return None
    return re.sub(r"\n\.reqntid .*", r"\g<0>\n.minnctapersm 1", text)


def assembled(text, arch, scratch):
    """Status, output and milliseconds of ptxas; of a kernel that spills, of the hint that libtile would keep."""
    best = None
    for _ in range(2):
        ptx = os.path.join(scratch, "k.ptx")
        with open(ptx, "w") as f:
            f.write(text)
        status, log, _, ms = timed([PTXAS, "-v", "-arch=" + arch, ptx, "-o", os.path.join(scratch, "k.cubin")])
        if best is None or (status == 0 and used(log)["stack"] < used(best[1])["stack"]):
            best = status, log, ms
        use = used(log)
        if status or not use["spill"] or not (text := other_hint(text, use)):
            break
    return best


def ours(r, arch, tilec):
    options = [FLAGS[k].format(v) for k, v in r["options"].items() if k in FLAGS]
    with tempfile.TemporaryDirectory() as scratch:
        ptx = os.path.join(scratch, "k.ptx")
        words = [
            tilec,
            "-n",
            r["entry"],
            "-s",
            signature(r),
            "--arch=" + arch,
            *options,
            r["path"],
            "--emit=ptx",
            "-o",
            ptx,
        ]
        try:
            status, log, wall, cpu = timed(words)
            if status:
                return {
                    "status": "refused" if status in (1, 10) else f"status {status}",
                    "why": log[-1500:],
                    "ms": round(cpu, 1),
                }
            with open(ptx) as f:
                text = f.read()
            status, log, ptxas = assembled(text, arch, scratch)
        except subprocess.TimeoutExpired:
            return {"status": "too long", "why": f"no end within {SECONDS} s", "ms": SECONDS * 1e3}
        if status:
            return {"status": "ptxas refused", "why": log[-1500:], "ms": round(cpu, 1)}
        shared = int(re.search(r'"shared_bytes": (\d+)', text)[1])
        return {
            "status": "ok",
            **used(log),
            "shared": shared,
            "ms": round(cpu, 1),
            "wall_ms": round(wall, 1),
            "ptxas_ms": round(ptxas, 1),
        }


def load(path):
    spec = importlib.util.spec_from_file_location("text_" + os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def split(text):
    """The items of a tuple's signature: `(*fp32:16, None, 64, )`."""
    items, depth, item = [], 0, ""
    for c in text.strip()[1:-1]:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            items, item = items + [item.strip()], ""
        else:
            item += c
    return items + ([item.strip()] if item.strip() else [])


def specialised(spec, path, names, constants, attributes):
    """A type as Triton's signature has it; what it specialises on goes to constants and attributes."""
    if spec.startswith("("):
        return tuple(specialised(x, (*path, i), names, constants, attributes) for i, x in enumerate(split(spec)))
    if not re.match(r"\*|tensordesc|([iu]\d+|fp\d+|bf16)(:|$)", spec):
        constants[path] = eval(spec, names)
        return "constexpr"
    kind, _, hint = spec.partition(":")
    if hint == "1":
        constants[path] = 1
        return "constexpr"
    if hint == "16":
        attributes[path] = [["tt.divisibility", 16]]
    if kind.startswith("tensordesc"):
        block = ast.literal_eval(re.search(r"\[.*\]", kind)[0])
        return re.sub(r"\[.*\]", str(block), kind)
    return "u1" if kind == "i1" else kind


def theirs(r, arch):
    import triton
    from triton import knobs
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    knobs.nvidia.dump_ptxas_log = True
    knobs.compilation.always_compile = True
    log, start = io.StringIO(), time.process_time()
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    try:
        module = load(r["path"])
        constants, attributes, types = {}, {}, {}
        for i, (k, t) in enumerate(r["signature"].items()):
            types[k] = specialised(r["constexprs"].get(k, t), (i,), vars(module), constants, attributes)
        source = ASTSource(getattr(module, r["entry"]), types, constants, attributes)
        with contextlib.redirect_stdout(log), contextlib.redirect_stderr(io.StringIO()):
            kernel = triton.compile(
                source, target=GPUTarget("cuda", int(re.sub(r"\D", "", arch)), 32), options=dict(r["options"])
            )
    except BaseException as e:
        first = e
        while first.__cause__:
            first = first.__cause__
        return {"status": type(e).__name__, "why": f"{str(e)[-600:]}: {first}"}
    spent = time.process_time() - start + resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - children
    return {"status": "ok", **used(log.getvalue()), "shared": kernel.metadata.shared, "ms": round(spent * 1e3, 1)}


def one(work):
    r, arch, o = work
    os.makedirs(o.cache, exist_ok=True)
    what = [r["digest"], r["entry"], r["signature"], r["constexprs"], r["options"], arch]
    kept = os.path.join(o.cache, hashlib.sha1(json.dumps(what).encode()).hexdigest()[:20] + ".json")
    try:
        with open(kept) as f:
            peer = json.load(f)
    except (OSError, ValueError):
        os.environ["TRITON_CACHE_DIR"] = os.path.join(o.cache, "triton")
        peer = theirs(r, arch)
        with open(kept, "w") as f:
            json.dump(peer, f)
    if peer.get("shared", 0) > SHARED.get(int(re.sub(r"\D", "", arch)), 232448):
        peer = {"status": "OutOfResources", "why": f"{peer['shared']} bytes of shared memory"}
    return {**{k: v for k, v in r.items() if k != "path"}, "arch": arch, "ours": ours(r, arch, o.tilec), "triton": peer}


def main_compile(o):
    from replay import read

    o.cache = os.path.abspath(o.cache or os.path.join(os.path.dirname(os.path.abspath(o.out)), "triton-results"))
    os.makedirs(os.path.dirname(os.path.abspath(o.out)), exist_ok=True)
    jobs, only = {}, re.compile(o.only)
    for path in o.package:
        for r in read(path):
            if not only.search(r["kernel"]):
                continue
            r["path"] = os.path.join(os.path.dirname(os.path.abspath(path)), "texts", r["digest"] + ".py")
            for arch in o.arch.split(","):
                jobs.setdefault(
                    str((r["digest"], r["entry"], r["signature"], r["constexprs"], r["options"], arch)), (r, arch, o)
                )
    rows = []
    with multiprocessing.get_context("fork").Pool(o.jobs) as pool, open(o.out, "w") as f:
        for row in pool.imap_unordered(one, jobs.values()):
            rows.append(row)
            f.write(json.dumps(row) + "\n")
            f.flush()
    show(rows)
    return 0


def show(rows):
    ok = lambda who: [r for r in rows if r[who]["status"] == "ok"]
    kernels = len({r["kernel"] for r in rows})
    print(f"{len(rows)} variants of {kernels} kernels; compiled: tilec {len(ok('ours'))}, Triton {len(ok('triton'))}")
    for r in rows:
        if r["ours"]["status"] != "ok" and r["triton"]["status"] == "ok":
            why = " / ".join(r["ours"]["why"].strip().splitlines()[:2])
            print(f"  {r['ours']['status']}: {line(r)}: {why[:250]}")
    both = [r for r in ok("ours") if r["triton"]["status"] == "ok"]
    count = lambda who: sum(r[who]["spill"] > 0 for r in both)
    more = lambda what: [r for r in both if r["ours"][what] > r["triton"][what]]
    worse = sorted(more("spill"), key=lambda r: r["triton"]["spill"] - r["ours"]["spill"])
    print(f"variants that spill: tilec {count('ours')}, Triton {count('triton')}; more than Triton: {len(worse)}")
    for r in worse:
        a, b = r["ours"], r["triton"]
        print(f"  {a['spill']} bytes for {b['spill']}, registers {a['registers']} for {b['registers']}: {line(r)}")
    total = lambda who: sum(r[who]["registers"] for r in both)
    print(f"more shared memory than Triton: {len(more('shared'))} variants")
    print(f"registers in all: {total('ours')} for {total('triton')}")
    for who, what in (("ours", "without ptxas"), ("triton", "with ptxas")):
        times = sorted((r[who]["ms"], line(r)) for r in ok(who))
        quantile = lambda f: times[min(len(times) - 1, int(f * len(times)))][0]
        if times:
            print(
                f"{who}, processor ms of a compilation {what}: median {quantile(.5):.0f}, p90 {quantile(.9):.0f}, "
                f"p99 {quantile(.99):.0f}, most {times[-1][0]:.0f} ({times[-1][1]})"
            )


def line(r):
    options = " ".join(f"{k.removeprefix('num_')}={v}" for k, v in r["options"].items())
    return f"{r['package']} {r['kernel']} {options} {r['arch']} {r['digest']}"
