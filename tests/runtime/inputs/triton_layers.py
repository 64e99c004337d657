"""Autotuned kernels and heuristics by their methods in C: what goes through Python, and what programs may replace."""
import torch
import triton
import triton.language as tl
from triton.runtime.autotuner import Autotuner, Heuristics

slow, asked = [], []
for kind, way in ((Autotuner, "_launch_slowly"), (Heuristics, "launch_by_run")):
    def counted(self, grid, *args, _python=getattr(kind, way), **kwargs):
        slow.append(type(self).__name__)
        return _python(self, grid, *args, **kwargs)
    setattr(kind, way, counted)


def store(out, n, m, B: tl.constexpr):
    tl.store(out + tl.arange(0, B), n + m)


def bench(launch, quantiles):
    launch()
    return [1.0] * 3


def layers_of(call):
    """Returns which layers went through Python in a call, or the error."""
    slow.clear()
    asked.clear()
    try:
        call()
    except (TypeError, ValueError, LookupError) as e:
        return f"{type(e).__name__}: {e}"
    return list(slow)


def choose(args):
    asked.append({name: value for name, value in args.items() if name != "out"})
    if args["n"] < 0:
        raise ValueError("n is negative")
    args["n"] = 7   # of a dict of its own
    return 4 if args["m"] < 100 else 2


configs = [triton.Config({"B": 2}), triton.Config({"B": 4})]
tuned = triton.autotune(configs, key=("n", "absent"), do_bench=bench)(triton.jit(store))
chosen = triton.heuristics({"B": choose})(triton.jit(store))
both = triton.autotune([triton.Config({}, num_warps=w) for w in (1, 2)], key=["m"], do_bench=bench)(
    triton.heuristics({"B": choose})(triton.jit(store)))
plain = triton.jit(store)
out, other = torch.Tensor(0, 0, 0, 0), torch.Tensor(0, 0, 0, 0)
other.dtype = "torch.float32"

print("tuned:", [layers_of(lambda: tuned[(1,)](out, n, 1)) for n in (1, 1, 2, 2)], out.tolist())
print("best:", tuned.best_config is tuned.cache[1, "torch.int32"], len(tuned.cache))
print("mixed:", [layers_of(lambda: tuned[(1,)](out, m=3, **{"".join("n"): n})) for n in (1, 3, 3)])
print("twice:", layers_of(lambda: tuned[(1,)](out, 1, 1, B=4)))
print("many:", layers_of(lambda: tuned[(1,)](out, 1, 1, 1, 1)))
print("no hash:", layers_of(lambda: tuned[(1,)](out, [1], 1)))
print("missing:", layers_of(lambda: tuned[(1,)](out, 1)))
print("no grid:", layers_of(lambda: tuned.run(out, 1, 1)), "|", layers_of(lambda: chosen.run(out, 1, 1)))
tuned.cache[1, "torch.int32"].kwargs["B"] = 4
print("changed:", layers_of(lambda: tuned[(1,)](out, 1, 5)), out.tolist())
hooked = tuned.cache[1, "torch.int32"]
hooked.pre_hook = lambda given: asked.append(given["m"])
print("hook:", layers_of(lambda: tuned[(1,)](out, 1, 6)), asked)
hooked.pre_hook, tuned.configs = None, configs[:1]
print("one:", layers_of(lambda: tuned[(1,)](out, 9, 1)), out.tolist())

print("chosen:", [layers_of(lambda: chosen[(1,)](out, 1, m)) for m in (1, 1)], asked, out.tolist())
print("given:", layers_of(lambda: chosen[(1,)](out, 1, 1, B=2)), len(asked))
print("raises:", layers_of(lambda: chosen[(1,)](out, -1, 1)), len(asked))
chosen.values["B"] = lambda args: 2
print("replaced:", layers_of(lambda: chosen[(1,)](out, 2, 2)), out.tolist())
print("both:", [layers_of(lambda: both[(1,)](out, 1, 1, num_stages=3)) for _ in range(2)], end=" ")
print([layers_of(lambda: both[(1,)](out, n, m)) for n, m in ((1, 1), (2, 1), (2, 2))], len(asked))


class Mine(Autotuner):
    def run(self, *args, **kwargs):
        asked.append(sorted(kwargs))
        return super().run(*args, **kwargs)


mine = Mine(tuned.fn, tuned.arg_names, configs, ["n"], do_bench=bench)
print("subclass:", [layers_of(lambda: mine[(1,)](out, 1, 1)) + asked for _ in range(2)])
chosen.run = lambda *args, **kwargs: asked.append("mine")
print("run:", layers_of(lambda: chosen[(1,)](out, 1, 1)), asked)
chosen.run = mine.run
print("run of another:", layers_of(lambda: chosen[(1,)](out, 1, 1)), asked)
chosen.run = triton.heuristics({"B": choose})(tuned.fn).run
print("run of its kind:", layers_of(lambda: chosen[(1,)](out, 1, 1)), len(asked))
print("no object:", layers_of(lambda: Autotuner._quick_launch()))
print("no name:", layers_of(lambda: triton.heuristics({1: lambda args: 4})(plain)[(1,)](out, 1, m=1)))


def constant(out, n, B: tl.constexpr, K: tl.constexpr):
    tl.store(out + tl.arange(0, B), n + (K == 10 ** 12))


class Shared(triton.Config):
    def all_kwargs(self):
        return self.kwargs


shared = Shared({"B": 4, "K": int("1" + 12 * "0")})
holder = triton.autotune([shared], key=[])(triton.jit(constant))
for _ in range(2):
    holder[(1,)](out, 5)


def clear(args):
    args.clear()
    shared.kwargs.clear()
    asked.extend(2 * 10 ** 12 + i for i in range(99))   # in memory that is free now
    return [1]   # a list goes through Python


holder[clear](out, 7)
print("shared:", shared.kwargs, out.tolist())


def interrupted(call):
    """Returns what a call that is interrupted once in the code of the program raises."""
    global interrupts
    interrupts = 1
    try:
        call()
    except BaseException as e:
        return type(e).__name__


def interrupt():
    global interrupts
    if interrupts:
        interrupts -= 1
        raise KeyboardInterrupt


def grid(args):
    interrupt()
    return (1,)


class Interrupted(triton.Config):
    def all_kwargs(self):
        interrupt()
        return super().all_kwargs()


class Typed(int):
    @property
    def dtype(self):
        interrupt()
        return "int"


interrupts = 0
plain[(1,)](out, 1, 1, B=4)
single = triton.autotune([Interrupted({"B": 4})], key=[])(plain)
print("interrupted:", [interrupted(call) for call in (
    lambda: plain[grid](out, 1, 1, B=4), lambda: single[(1,)](out, 1, 1), lambda: mine[(1,)](out, Typed(1), 1))])
