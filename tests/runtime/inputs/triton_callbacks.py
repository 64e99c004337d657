"""Functions of the program that do not take what a launch calls them with: each exception's text, a line each."""
import triton
import triton.language as tl


@triton.jit
def k(n, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK > 0)


def shown(name, call):
    try:
        call()
        print(f"{name}: launched")
    except BaseException as e:
        print(f"{name}: {type(e).__name__}: {e}")


class Grid:

    def of(self):
        return (1,)

    __call__ = of


def inner(meta):
    return len()   # its own TypeError


def configs(pre_hook=None, **kwargs):
    return triton.autotune([triton.Config({"BLOCK": n}, pre_hook=pre_hook) for n in (64, 128)], [], **kwargs)(k)


shown("grid", lambda: k[lambda: (1,)](1, 64))
shown("method", lambda: k[Grid().of](1, 64))
shown("object", lambda: k[Grid()](1, 64))
shown("own", lambda: k[inner](1, 64))
shown("none", lambda: k[None](1, 64))
shown("tuned none", lambda: configs()[None](1))
shown("warmup", lambda: k.warmup(1, 64, grid=None))
shown("heuristic", lambda: triton.heuristics({"BLOCK": lambda: 64})(k)[(1,)](1))
shown("number", lambda: triton.heuristics({"BLOCK": 64})(k)[(1,)](1))
shown("its own", lambda: triton.heuristics({"BLOCK": inner})(k)[(1,)](1))
shown("heuristic", lambda: triton.heuristics({"BLOCK": lambda args: 64})(k)[(1,)](1))
shown("pre_hook", lambda: configs(pre_hook=lambda: 0)[(1,)](1))
shown("timer", lambda: configs(do_bench=lambda launch: [0.0])[(1,)](1))
shown("prune", lambda: configs(prune_configs_by={"early_config_prune": lambda: []})[(1,)](1))
shown("model", lambda: configs(prune_configs_by={"perf_model": lambda: 1, "top_k": 1})[(1,)](1))
shown("name", lambda: triton.jit(k.fn, repr=lambda: "name").repr(None))
