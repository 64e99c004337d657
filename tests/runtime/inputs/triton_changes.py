"""What changes between launches that the launcher in C makes: dtypes, keywords, hooks, globals, streams."""
import torch
import triton
import triton.language as tl

from slow_launches import slowly

timed, asked = [], []
torch._C._cuda_getCurrentRawStream = lambda ordinal: asked.append(ordinal) or 0


def bench(launch, quantiles):
    launch()
    timed.append(launch)
    return [len(timed) % 2] * 3


@triton.autotune([triton.Config({"B": b}) for b in (2, 4)], key=["n"], do_bench=bench)
@triton.jit
def tuned(out, n, m, B: tl.constexpr):
    tl.store(out + tl.arange(0, B), n + m)


SCALE = 1


@triton.jit
def scaled(out, n, B: tl.constexpr):
    tl.store(out + tl.arange(0, B), n * SCALE)


def times(call):
    """Returns how often configurations were timed."""
    timed.clear()
    call()
    return len(timed)


out, floats = torch.Tensor(0, 0, 0, 0), torch.Tensor(0, 0, 0, 0)
floats.dtype = "torch.float32"
print("key:", [times(lambda: tuned[(1,)](out, n, m)) for n, m in ((1, 1), (1, 2), (2, 2), (1, 3))], sorted(tuned.cache))
print("dtype:", [times(lambda: tuned[(1,)](floats, 1, 1)) for _ in range(2)], len(tuned.cache))
print("names:", [times(lambda: tuned[(1,)](out, m=1, n=n)) for n in (1, 3, 3)], out.tolist()[:2])
print("quick:", slowly(lambda: tuned[(1,)](out, m=1, n=3))[0], slowly(lambda: tuned[(1,)](out, 3, 5))[0], out.tolist()[:2])
tuned.cache.clear()
print("cleared:", times(lambda: tuned[(1,)](out, 1, 1)))
try:
    tuned[(1,)](out, 1, 1, B=2)
except TypeError as e:
    print("twice:", e)

given = []
tuned[lambda meta: given.append(dict(meta)) or (1,)](out, 1, 7)
print("grid:", [meta["m"] for meta in given], {"B", "n", "num_warps", "num_stages"} <= set(given[0]))

kernel = scaled[(1,)]
kernel(out, 3, 4)
kernel = scaled[(1,)]
launch = scaled[(1,)]
print("plain:", slowly(lambda: launch(out, 3, 4))[0], slowly(lambda: launch(out, 3, B=4))[0])
asked.clear()
print("streams:", slowly(lambda: [launch(out, 3, 4), tuned[(1,)](out, 1, 1)])[0], asked)
runtime = triton.knobs.runtime
seen = []
runtime.launch_enter_hook.add(lambda metadata: seen.append(metadata.get()["name"]))
launch(out, 4, 4)
runtime.launch_enter_hook.calls.clear()
launch(out, 4, 4)
print("hook added:", seen, slowly(lambda: launch(out, 4, 4))[0])
runtime.launch_exit_hook = lambda metadata: seen.append("left")
launch(out, 4, 4)
runtime.launch_exit_hook = None
print("hook set:", seen, [slowly(lambda: scaled[(1,)](out, 4, 4))[0] for _ in range(2)])
scaled.add_pre_run_hook(lambda *args, **kwargs: seen.append("before"))
launch(out, 5, 4)
scaled.pre_run_hooks.clear()
print("before:", seen, slowly(lambda: scaled[(1,)](out, 5, 4))[0], out.tolist())

SCALE = 2
try:
    launch(out, 5, 4)
except RuntimeError as e:
    print("global:", str(e).split(":")[0])
SCALE = 1
print("global back:", slowly(lambda: launch(out, 6, 4))[0], out.tolist())
