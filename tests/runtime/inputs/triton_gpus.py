"""The launcher in C beside hooks, texts, devices and memory of the host: which launches it makes, and what they do."""
import os
import pickle
import sys
import threading

import torch
import triton
import triton.language as tl

from slow_launches import slowly


@triton.jit
def put(out, n, MODE: tl.constexpr, B: tl.constexpr = 4):
    if MODE == "add":
        n += 1
    tl.store(out + tl.arange(0, B), n)


out = torch.Tensor(0, 0, 0, 0)
print("new, known:", [slowly(lambda: put[(1,)](out, 6, "add"))[0] for _ in range(3)], out.tolist())
print("equal text:", slowly(lambda: put[(1,)](out, 7, "".join(("a", "dd"))))[0], out.tolist())

# More texts than the launcher keeps: each works, the last ones quickly.
names = [f"mode {i}" for i in range(40)]
print("texts:", slowly(lambda: [put[(1,)](out, 2, name) for name in names])[0],
      slowly(lambda: [put[(1,)](out, 2, name) for name in names[-20:]])[0],
      slowly(lambda: put[(1,)](out, 8, "add"))[0], out.tolist(),
      slowly(lambda: put[(1,)](out, 9, "add"))[0], out.tolist())


@triton.jit
def number(out, N: tl.constexpr):
    tl.store(out, N)


# Variants without end are launched quickly, also with a grid that is a function.
for grid in ((1,), lambda meta: (meta["N"] // meta["N"],)):
    print("variants:", [slowly(lambda: [number[grid](out, n) for n in range(1, 151)])[0] for _ in range(2)],
          int(out.tolist()[0]))

# A hook refuses a new variant each time that it is asked for, and no other.
asked = []
triton.knobs.runtime.jit_cache_hook = lambda **what: asked.append(what["compile"]["constants"]["B"]) or True
print("refused:", put[(1,)](out, 1, "add", 2), put[(1,)](out, 1, "add", 2), out.tolist(), asked)
put[(1,)](out, 3, "add")
print("known:", out.tolist(), asked)
triton.knobs.runtime.jit_cache_hook = None
put[(1,)](out, 1, "add", 2)
print("allowed:", out.tolist(), slowly(lambda: put[(1,)](out, 1, "add", 2))[0])

# Memory of the host.
pinned = torch.HostTensor(True, 0, 0, 0, 0)
put[(1,)](pinned, 5, "add")
try:
    put[(1,)](torch.HostTensor(False, 0, 0, 0, 0), 5, "add")
except ValueError as e:
    print("host:", pinned.tolist(), e)

# Two gpus: a launch is on the current one.
torch.cuda.set_device(1)
other = torch.Tensor(0, 0, 0, 0)
counts = [slowly(lambda: put[(1,)](other, 20, "add"))[0] for _ in range(2)]
torch.cuda.set_device(0)
counts.append(slowly(lambda: put[(1,)](out, 10, "add"))[0])
torch.cuda.set_device(1)
counts.append(slowly(lambda: put[(1,)](other, 30, "add"))[0])
print("gpus:", counts, out.tolist(), other.tolist(), sorted(put.device_caches))
torch.cuda.set_device(0)


@triton.autotune([triton.Config({"B": 4}, num_warps=1)], key=[])
@triton.heuristics({"MODE": lambda args: "add" if args["n"] > 5 else "set"})
@triton.jit
def tuned(out, n, MODE: tl.constexpr, B: tl.constexpr):
    if MODE == "add":
        n += 1
    tl.store(out + tl.arange(0, B), n)


@triton.jit
def raced(out, i, B: tl.constexpr):
    tl.store(out + i * B + tl.arange(0, B), i + B)


def launches(i, results):
    mine = torch.Tensor(*[0] * 64)
    for k in range(8):
        raced[(1,)](mine, k, 8 if i % 2 else 4)
    results[i] = mine.tolist()


results = {}
threads = [threading.Thread(target=launches, args=(i, results)) for i in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
wanted = [[sum(([k + b] * b for k in range(8)), []) + [0] * (64 - 8 * b)] for b in (4, 8)]
print("threads:", all(results[i] == wanted[i % 2][0] for i in range(8)))
for n in (3, 9, 12):
    print("tuned:", slowly(lambda: tuned[(1,)](out, n))[0], out.tolist())
source = triton.compiler.ASTSource(put, {"out": "*i32", "n": "i32"}, {"MODE": "add", "B": 4})
bound = triton.compile(source, options={"num_warps": 4, "debug": False})
for n in (20, 30):   # as torch.compile launches
    print("bound:", slowly(lambda: bound.run(2, 1, 1, 0, None, None, None, None, None, out, n))[0], out.tolist())
function, put.fn, put.__globals__ = put.fn, None, None
bare = pickle.loads(pickle.dumps(put))   # as torch.compile pickles a kernel
bare.fn = put.fn = function
bare[(1,)](out, 50, "add")
print("bare:", bare is not put, out.tolist(), os.environ["TORCHINDUCTOR_COMPILE_THREADS"])
assert "numpy" not in sys.modules
