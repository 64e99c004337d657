"""Kernels compiled by processes of their own: right results, errors as in this process, and crashes that are errors."""
import os
import stat
import sys
import tempfile
import time

import tile

tilec = sys.argv[1]
folder = tempfile.mkdtemp()
device = tile.open_device("sim")
SOURCE = """import triton, triton.language as tl
@triton.jit
def fill(out, n, MODE: tl.constexpr, B: tl.constexpr):
    tl.static_assert(B < 512, 'too wide')
    tl.store(out + tl.arange(0, B), n if MODE == 'plus' else -n, mask=tl.arange(0, B) < 8)
@triton.jit
def move(src, dst):
    dst.store([0, 0], src.load([0, 4]))
"""


class Array:
    dtype = "fp32"

    def __init__(self, values):
        self.address = device.alloc(4 * len(values))
        self.count = len(values)
        device.upload(self.address, memoryview(__import__("array").array("f", values)).tobytes())

    def data_ptr(self):
        return self.address

    def values(self):
        a = __import__("array").array("f")
        device.synchronize()
        a.frombytes(device.download(self.address, 4 * self.count))
        return list(a)


def script(name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as f:
        f.write("#!/bin/sh\n" + text)
    os.chmod(path, stat.S_IRWXU)
    return path


def load(tilec, **more):
    return tile.loads(SOURCE, name="isolated.py", device=device, cache=False, isolate=True, tilec=tilec, **more)


out, events = Array([0.0] * 32), []
program = load(tilec, on_event=lambda kind, *rest: events.append(kind), options=["num-warps=2"])
for n, mode, expected in ((5, "plus", 5.0), (1, "plus", 1.0), (5, "minus", -5.0), (16, "plus", 16.0), (7, "plus", 7.0)):
    program.fill[1](out, n, mode, 32)
    assert out.values() == [expected] * 8 + [0.0] * 24, out.values()
assert events.count("compile_end") == 4 and program.fill.num_variants == 4
src, dst = Array([float(i) for i in range(64)]), Array([0.0] * 16)
program.move[1](tile.desc(src, [4, 4], shape=[8, 8]), tile.desc(dst, [4, 4], shape=[4, 4]))
assert dst.values() == [float(i // 4 * 8 + 4 + i % 4) for i in range(16)]
print("five launches and a descriptor are right")
try:
    program.fill[1](out, 5, "plus", 512)
except tile.Error as e:
    print(e.status, str(e).splitlines()[0])
for path, more in (
    (script("crash", "kill -SEGV $$\n"), {}),
    (script("silent", "exit 3\n"), {}),
    (script("noise", "cat >/dev/null; echo this is no PTX\n"), {}),
    (script("slow", "sleep 60\n"), {"compile_seconds": 0.3}),
    (os.path.join(folder, "absent"), {}),
):
    began = time.monotonic()
    try:
        load(path, **more).fill[1](out, 5, "plus", 32)
        print("it went through")
    except tile.Error as e:
        print(e.status, str(e).replace(folder + "/", ""))
    assert time.monotonic() - began < 20

# One that does not even listen, to a source that does not fit the socket.
began = time.monotonic()
try:
    tile.loads(SOURCE + "# " + "x" * (4 << 20), device=device, cache=False, isolate=True, tilec=script("deaf", "exec sleep 60\n"), compile_seconds=0.3)
except tile.Error as e:
    print(e.status, e)
assert time.monotonic() - began < 20

# The module level: read by a process of its own first, so that what it does to the compiler is an error of opening.
picky = script("picky", f"cat >{folder}/request; if grep -q crashes_here {folder}/request; then kill -SEGV $$; fi; exec {tilec} jit-worker <{folder}/request\n")
for source, more in (
    ("crashes_here = 1\n" + SOURCE, {}),
    ("while True:\n    pass\n" + SOURCE, {"compile_seconds": 0.001}),
    ("while True:\n    pass\n" + SOURCE, {"compile_seconds": 0.001, "isolate": False}),
    ("def forever():\n    while True:\n        pass\nforever()\n" + SOURCE, {}),
    ("x = undefined_name\n" + SOURCE + "@triton.jit\ndef f(:\n", {}),
):
    began = time.monotonic()
    try:
        tile.loads(source, name="module.py", device=device, cache=False, **{"isolate": True, "tilec": picky, **more})
        print("it went through")
    except tile.Error as e:
        print(e.status, str(e).splitlines()[0].replace(folder + "/", ""))
    assert time.monotonic() - began < 20
fine = tile.loads(SOURCE.replace("    tl.store", "    unread = 1\n    tl.store"), name="module.py", device=device, cache=False, isolate=True, tilec=picky)
fine.fill[1](out, 6, "plus", 32)
assert out.values() == [6.0] * 8 + [0.0] * 24
with open(folder + "/request", "rb") as f:
    answer = __import__("subprocess").run([tilec, "jit-worker"], stdin=f, capture_output=True).stdout
assert answer.count(b"`unread` is assigned and never used [-Wunused-variable]") == 1, answer[-200:]
print("a good module")
