#!/usr/bin/env python3
"""The cache on disk under attack: never an error, never a wrong kernel.
    python3 tests/stress/cache.py BUILD [--full]
Short: 8 processes, 20 kills, 20 damaged entries. Full: 64, 200, 200. What needs root (a full disk, another owner) is left out
without it and said so."""
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
build = os.path.abspath(sys.argv[1])
full = "--full" in sys.argv
PROCESSES, KILLS, DAMAGES, VARIANTS = (64, 200, 200, 4) if full else (8, 20, 20, 3)
NOBODY = 65534
rng = random.Random(7)
KERNELS = """import triton
import triton.language as tl

@triton.jit
def scale(x, y, F: tl.constexpr, B: tl.constexpr):
    o = tl.arange(0, B)
    tl.store(y + o, tl.load(x + o) * F)
"""

work = tempfile.mkdtemp(prefix="tile-stress-", dir="/tmp")   # where another user gets in, too
os.chmod(work, 0o755)
program, kernels = os.path.join(work, "cache_user"), os.path.join(work, "kernels.py")
shutil.copy(os.path.join(build, "libtile.so.1"), os.path.join(work, "libtile.so.1"))
os.chmod(os.path.join(work, "libtile.so.1"), 0o755)
with open(kernels, "w") as f:
    f.write(KERNELS)
subprocess.run(["cc", "-std=c11", "-O1", f"-I{source}/runtime", f"{source}/tests/runtime/inputs/cache_user.c", f"-L{build}", "-ltile", "-Wl,-rpath,$ORIGIN", "-o", program], check=True)


def environment(folder, **more):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("TILE_", "XDG_"))}
    return {**env, "TILE_CACHE_DIR": folder, **more}


def start(folder, user=None, variants=VARIANTS, **more):
    return subprocess.Popen([program, kernels, str(variants)], env=environment(folder, **more), cwd=work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, user=user)


def finish(process, what):
    out, err = process.communicate(timeout=60)
    match = re.fullmatch(r"hits (\d+) compiled (\d+)\n", out)
    if process.returncode or not match or err:
        sys.exit(f"{what}: exit {process.returncode}\n{out}{err}")
    return int(match[1]), int(match[2])


def run(folder, what, **more):
    return finish(start(folder, **more), what)


def entries(folder):
    return sorted(os.path.join(d, f) for d, _, files in os.walk(folder) for f in files if f.endswith(".tilebin"))


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: (hits, compiled) is {got}, expected {wanted}")


def folder(name):
    path = os.path.join(work, name)
    os.mkdir(path, 0o700)
    return path


def race():
    d = folder("race")
    processes = [start(d) for _ in range(PROCESSES)]
    for p in processes:
        hits, compiled = finish(p, "race")
        assert hits + compiled == VARIANTS
    expect("after the race", run(d, "after the race"), (VARIANTS, 0))
    assert len(entries(d)) == VARIANTS
    return f"{PROCESSES} processes on one empty cache"


def kills():
    d = folder("kills")
    began = time.monotonic()
    run(folder("timing"), "timing")
    length, killed, late = time.monotonic() - began, 0, 0
    while killed < KILLS and late < 20 * KILLS:
        p = start(d)
        time.sleep(rng.random() * length * 1.1)
        p.send_signal(signal.SIGKILL)
        out, err = p.communicate()
        late += p.returncode == 0
        killed += p.returncode == -9
        if p.returncode not in (0, -9) or err:
            sys.exit(f"kills: exit {p.returncode}: {err}")
        if (killed + late) % 5 == 4:
            for e in entries(d)[rng.randrange(VARIANTS):]:   # so that there is always something to write
                os.unlink(e)
    run(d, "after the kills")
    expect("after the kills", run(d, "after the kills"), (VARIANTS, 0))
    if killed < KILLS:
        sys.exit(f"kills: {late} of {killed + late} came when the process had ended")
    return f"{killed} kills at random points ({late} more came too late)"


def damage():
    d = folder("damage")
    run(d, "damage")
    for i in range(DAMAGES):
        path = rng.choice(entries(d))
        with open(path, "rb") as f:
            data = bytearray(f.read())
        kind = i % 4
        if kind == 0:
            bit = rng.randrange(len(data) * 8)
            data[bit // 8] ^= 1 << bit % 8
        elif kind == 1:
            data = data[:rng.randrange(len(data))]
        elif kind == 2:
            data += rng.randbytes(rng.randrange(1, 100))
        else:   # another entry's bytes under this name
            with open(rng.choice([e for e in entries(d) if e != path]), "rb") as f:
                data = f.read()
        with open(path, "wb") as f:
            f.write(data)
        expect(f"damage {i}", run(d, f"damage {i}"), (VARIANTS - 1, 1))
    expect("after the damage", run(d, "after the damage"), (VARIANTS, 0))
    return f"{DAMAGES} entries with flipped bits, cut, lengthened, exchanged"


def odd_entries():
    """What is no file of ours under an entry's name."""
    d = folder("odd")
    run(d, "odd")
    path = entries(d)[0]
    for make in (lambda: os.mkdir(path), lambda: os.symlink("/dev/zero", path), lambda: os.mkfifo(path), lambda: os.symlink(path, path), lambda: open(path, "w").close()):
        if os.path.isdir(path) and not os.path.islink(path):
            os.rmdir(path)
        elif os.path.lexists(path):
            os.unlink(path)
        make()
        hits, compiled = run(d, "odd entries")
        assert (hits, compiled) == (VARIANTS - 1, 1), (hits, compiled)
    return "folders, links, pipes and empty files in the place of entries"


def trimmed():
    d = folder("trimmed")
    processes = [start(d, TILE_CACHE_SIZE="1K") for _ in range(PROCESSES // 4)]
    for p in processes:
        finish(p, "trimmed")
    future = time.time() + 10 * 365 * 86400
    for e in entries(d):
        os.utime(e, (future, future))
    run(d, "entries from the future")
    return "a limit below one entry; entries from the future"


def read_only_layer():
    layer, own = folder("layer"), folder("own")
    run(layer, "layer")
    before = {e: os.stat(e).st_mtime_ns for e in entries(layer)}
    expect("read-only layer", run(own, "layer", TILE_CACHE_RO=layer), (VARIANTS, 0))
    assert before == {e: os.stat(e).st_mtime_ns for e in entries(layer)} and not entries(own)
    return "a read-only second layer"


def unusable():
    d = folder("unusable")
    for path in ("/dev/null/x", os.path.join(kernels, "x"), "/proc/tile-cache", "x" * 5000, "relative/../" + d[1:]):
        hits, compiled = run(path, f"folder {path[:40]}")
        assert hits + compiled == VARIANTS
    os.chmod(d, 0o777)
    expect("a folder that others can write to", run(d, "shared"), (0, VARIANTS))
    assert not entries(d)
    return "folders that cannot be"


def full_disk():
    d = folder("full")
    if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={4 * (VARIANTS - 1)}k,mode=700", "tmpfs", d], stderr=subprocess.DEVNULL).returncode:
        return "LEFT OUT: a full disk (no tmpfs can be mounted)"
    try:
        for _ in range(3):
            hits, compiled = run(d, "full disk")
            assert hits + compiled == VARIANTS
        assert len(entries(d)) < VARIANTS
        subprocess.run(["mount", "-o", "remount,ro", d], check=True)
        run(d, "read-only file system")
    finally:
        subprocess.run(["umount", d], check=True)
    return "a full disk, a read-only file system"


def owners():
    if os.geteuid():
        return "LEFT OUT: other owners (needs root)"
    d = folder("owners")
    run(d, "owners")
    os.chmod(d, 0o755)
    for e in entries(d):
        os.chmod(os.path.dirname(e), 0o755)
        os.chmod(e, 0o644)
    expect("another's folder", run(d, "another's folder", user=NOBODY), (0, VARIANTS))
    assert len(entries(d)) == VARIANTS
    expect("another's folder as read-only layer", run("/dev/null/x", "layer of another", user=NOBODY, TILE_CACHE_RO=d), (VARIANTS, 0))
    for path, _, _ in os.walk(d):
        os.chown(path, NOBODY, NOBODY)
        os.chmod(path, 0o555)
    for e in entries(d):
        os.chown(e, NOBODY, NOBODY)
    os.unlink(entries(d)[0])
    expect("read-only folder", run(d, "read-only folder", user=NOBODY), (VARIANTS - 1, 1))
    assert len(entries(d)) == VARIANTS - 1
    return "a folder of another owner, a read-only folder"


try:
    for scenario in (race, kills, damage, odd_entries, trimmed, read_only_layer, unusable, full_disk, owners):
        began = time.monotonic()
        print(f"{scenario()}: right ({time.monotonic() - began:.1f} s)", flush=True)
finally:
    shutil.rmtree(work, ignore_errors=True)
