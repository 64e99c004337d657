"""Mistakes of host code around kernels: each exception's text, a line each."""
import functools

import torch
import triton
import triton.language as tl
from triton.compiler import ASTSource
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def k(x, n, BLOCK: tl.constexpr = 64):
    tl.store(x + tl.arange(0, BLOCK), n)


@triton.jit
def gives(x):
    return tl.load(x)


@triton.jit
def many(*xs):
    tl.store(xs[0], 1)


@triton.jit
def scale(x, by, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), by)


@triton.jit
def scale(dx, x, by, n, BLOCK: tl.constexpr):   # noqa: F811
    tl.store(x + tl.arange(0, BLOCK), by)


def made(default):
    @triton.jit
    def inner(x, n=default):
        tl.store(x, n)
    return inner


def shown(name, call):
    try:
        call()
        print(f"{name}: done")
    except BaseException as e:
        print(f"{name}: {type(e).__name__}: {e}")


def tuned(configs=None, key=("n",), **kwargs):
    return triton.autotune(configs or [triton.Config({"BLOCK": n}) for n in (64, 32)], key, **kwargs)(k)


def compiled(signature):
    return triton.compile(ASTSource(k, signature, {"BLOCK": 64}))


x = torch.zeros(256)
good = {"x": "*fp32", "n": "i32", "BLOCK": "constexpr"}

# The grid and the options of a launch.
shown("method", lambda: k[x.size](x, 1))
shown("attribute", lambda: k[lambda meta: (meta.BLOCK,)](x, 1))
shown("inside", lambda: k[(lambda meta: 1,)](x, 1))
shown("grid twice", lambda: k[(1,)](x, 1, grid=(1,)))
shown("threads", lambda: k[(1,)](x, 1, num_threads=128))
shown("shared", lambda: k[(1,)](x, 1, shared=128))
shown("tensor", lambda: k[(1,)](x, 1, num_warps=torch.ones(2)))
shown("no warps", lambda: k[(1,)](x, 1, num_warps=0))
shown("stages", lambda: k[(1,)](x, 1, num_stages=-1))
shown("run", lambda: k.run(x, 1, grid=(1,)))
shown("warmup", lambda: k.warmup(x, 1))
shown("loop", lambda: list(k))
shown("two tuples", lambda: k[(1,), 0](x, 1))

# Arguments.
shown("text", lambda: k[(1,)](x, "relu"))
shown("module", lambda: k[(1,)](torch.nn.Linear(2, 2), 1))
shown("negative", lambda: k[(1,)](torch.view_as_complex(torch.ones(64, 2)).conj().imag, 1))
shown("storage", lambda: k[(1,)](x.untyped_storage(), 1))
shown("complex", lambda: k[(1,)](TensorDescriptor.from_tensor(torch.ones(64, dtype=torch.complex64), [64]), 1))

shown("constexpr", lambda: k[(1,)](x, tl.constexpr(64)))
shown("parameters", lambda: many[(1,)](x))
shown("returns", lambda: gives[(1,)](x))

shown("hidden", lambda: scale[(1,)](x, 2.0, BLOCK=64))
shown("hidden, many", lambda: scale[(1,)](x, 1, 2, 3, 4, 5))
shown("hidden, other", lambda: scale[(1,)](x, x, 1, 2, 64, size=3))
shown("made twice", lambda: [made(n)[(1,)]() for n in (1, 2)])

# Functions of the host.
shown("cdiv", lambda: triton.cdiv(None, 64))
shown("no call", lambda: triton.cdiv(x.numel, 64))
shown("zero", lambda: triton.cdiv(64, 0))
shown("shape", lambda: triton.next_power_of_2(x.shape))
shown("text", lambda: triton.next_power_of_2("64"))
shown("number", lambda: print(triton.next_power_of_2(torch.tensor(100))))

# Decorators.
shown("options", lambda: triton.jit(num_warps=4))
shown("index", lambda: triton.jit(k.fn, do_not_specialize=[7]))
shown("class", lambda: triton.jit(staticmethod(k.fn)))
shown("signature", lambda: triton.jit("void(f32*)"))
shown("heuristics", lambda: triton.heuristics(k))
shown("list", lambda: triton.heuristics([64])(k))
shown("index", lambda: triton.heuristics({2: lambda args: 64})(k))
shown("attribute", lambda: triton.heuristics({"BLOCK": lambda args: args.n})(k)[(1,)](x, 1))

# Autotuning.
shown("dict", lambda: tuned([{"BLOCK": 64}]))
shown("key", lambda: tuned(key=lambda args: args["n"]))
shown("constants", lambda: triton.Config({0: 64}))
shown("place", lambda: triton.Config({}, cache_results=True))
shown("hash", lambda: hash(triton.Config({"BLOCK": [64]})))
shown("unchosen", lambda: tuned().best_config)
shown("number", lambda: tuned(reset_to_zero=["n"])[(1,)](x, 1))
shown("prune", lambda: tuned(prune_configs_by={
    "early_config_prune": lambda configs, named, **kwargs: [c.kwargs for c in configs]})[(1,)](x, 1))
shown("argument", lambda: tuned(prune_configs_by={
    "early_config_prune": lambda configs, named, **kwargs: [c for c in configs if named["N"]]})[(1,)](x, 1))
shown("other place", lambda: tuned(prune_configs_by={
    "early_config_prune": lambda configs, named, **kwargs: [c for c in configs if kwargs["n"]]})[(1,)](x, 1))
shown("model", lambda: tuned(prune_configs_by={"perf_model": lambda **kwargs: None, "top_k": 1})[(1,)](x, 1))
shown("timer", lambda: tuned(do_bench=lambda launch, quantiles: None)[(1,)](x, 1))

# What a launch returns, and triton.compile.
shown("index", lambda: k[(1,)](x, 1)[0])
shown("unpack", lambda: [*k[(1,)](x, 1)])
shown("sum", lambda: k[(1,)](x, 1).sum())
shown("arithmetic", lambda: k[(1,)](x, 1) + 1)
shown("metadata", lambda: k[(1,)](x, 1).metadata["num_warps"])
shown("field", lambda: k[(1,)](x, 1).metadata.regs)
shown("name", lambda: triton.jit(k.fn, repr=lambda special: f"k{special.num_warps}")[(1,)](x, 1).name)
shown("kernel", lambda: triton.compile(k))
shown("list", lambda: compiled(["*fp32", "i32"]))
shown("type", lambda: compiled({**good, "x": "*float32"}))
shown("no type", lambda: compiled({**good, "x": "*what"}))
shown("function", lambda: ASTSource(k.fn, good))
shown("target", lambda: triton.compile(ASTSource(k, good, {"BLOCK": 64}), target="sm_80"))
shown("tuple", lambda: triton.compile(ASTSource(k, good, {"BLOCK": 64}), target=("cuda", 90)))
shown("name", lambda: compiled(good)[(1, 1, 1)](x, n=1))

# Descriptors, benchmarks and comparisons.
shown("block", lambda: TensorDescriptor.from_tensor(x, [64.0]))
shown("padding", lambda: TensorDescriptor.from_tensor(x, [64], padding="zeros"))
bench = functools.partial(triton.testing.Benchmark, x_names=["n"], line_arg="how", line_vals=["a"], plot_name="p")
shown("values", lambda: bench(x_vals=64, line_names=["A"], args={}))
shown("args", lambda: bench(x_vals=[64], line_names=["A"], args=None))
shown("names", lambda: bench(x_vals=[64], line_names=["A", "B"], args={}))
report = triton.testing.perf_report(bench(x_vals=[64], line_names=["A"], args={}))
shown("parameter", lambda: report(lambda n, provider: 1.0).run())
shown("folder", lambda: report(lambda n, how: 1.0).run(save_path=True))
shown("nothing", lambda: triton.testing.assert_close(x, None))
