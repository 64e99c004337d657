"""What programs do with Triton's objects: they look at them, change them, copy them and pickle them."""
import copy
import functools
import os
import pickle
import warnings

import triton
import triton.language as tl
from triton import knobs
from triton.language import libdevice
from triton.runtime.jit import JITCallable, JITFunction
from triton.tools.tensor_descriptor import TensorDescriptor

from ints import Ints


FACTOR = 3


@triton.constexpr_function
def offset():
    return 10


@triton.jit
def scaled(x, factor=FACTOR,
           *, by: tl.constexpr = FACTOR *
           2):
    return x * factor + by


@triton.jit(repr=lambda s: f"put_{s.constants['N']}_{s.signature['out'][1:]}")
def put(out, N: tl.constexpr, times=FACTOR):
    tl.store(out, scaled(N) * times + offset())


def one():
    return 1


@triton.autotune([triton.Config({"N": 4})], key=[])
@triton.heuristics({"times": lambda args: 1})
@triton.jit
def tuned(out, N: tl.constexpr, times):
    tl.store(out, N * times)


def of(cst, function):
    @triton.jit
    def closure(out, F: tl.constexpr):
        tl.store(out, F() + cst)

    @triton.jit
    def called():
        return 0
    return closure, called


def raised(call):
    try:
        return call()
    except Exception as e:
        return f"{type(e).__name__}: {str(e).splitlines()[0]}"


out, seen = Ints(0), []
knobs.runtime.kernel_load_start_hook.add(lambda module, function, name, group, hash: seen.append(("start", name)))
knobs.runtime.kernel_load_end_hook.add(lambda module, function, name, group, hash: seen.append(("end", name)))
FACTOR = 1000   # the defaults are those of the definition
compiled = put[(1,)](out, 2)
put[(1,)](out, 2)
print("defaults:", out.data.tolist(), compiled.name, seen)
put[(1,)](out, 5)
print("variants:", [k.name for k in put.device_caches[0][0].values()])

before, same = put.cache_key, offset.cache_key
offset._unsafe_update_src(offset.src.replace("10", "20"))
put[(1,)](out, 2)
put.hash = None
print("source:", out.data.tolist(), put.cache_key != before, offset.cache_key != same, isinstance(offset, JITCallable))

cst = tl.constexpr(5)
closure, called = of(cst, one)
closure[(1,)](out, called)
first = out.data.tolist()
called._unsafe_update_src(called.src.replace("0", "100"))
closure[(1,)](out, called)
print("callee:", first, out.data.tolist())
cst.value = 6
print("closure:", raised(lambda: closure[(1,)](out, called)))

tuned[(1,)](out)
for kernel in (put, tuned, tuned.fn, tuned.fn.fn):
    assert pickle.loads(pickle.dumps(kernel)) is kernel and type(copy.deepcopy(kernel)) is type(kernel)
other = copy.copy(tuned)
print("pickled:", out.data.tolist(), other is not tuned and other.fn is tuned.fn, isinstance(tuned.fn.fn, JITFunction),
      raised(lambda: pickle.loads(pickle.dumps(closure))))
config = pickle.loads(pickle.dumps(triton.Config({"N": 4}, num_warps=2, num_stages=1)))
print("config:", config, config == triton.Config({"N": 4}, num_warps=2, num_stages=1))

print("override:", raised(lambda: put[(1,)](out, 2, ir_override="other.ttir")))
pruned = triton.autotune([triton.Config({"N": 1}), triton.Config({"N": 2})], key=[],
                         prune_configs_by={"early_config_prune": lambda configs, named, **more: []})(put)
print("pruned:", raised(lambda: pruned[(1,)](out)))


def forgets(configs, named, **more):
    configs.sort(key=lambda config: config.kwargs["N"])


pruned.early_config_prune = forgets
print("pruned:", raised(lambda: pruned[(1,)](out)))
print("bench:", raised(lambda: triton.testing.do_bench(0.5)))
for hooks in ({"early_config_prune": lambda configs: configs}, {"perf_model": lambda N: N, "top_k": 1}):
    odd = triton.autotune([triton.Config({"N": 1}), triton.Config({"N": 2})], key=[], prune_configs_by=hooks)(put)
    print("hook:", raised(lambda: odd[(1,)](out)))


def with_hooks(**hooks):
    return triton.autotune([triton.Config({"N": 1}), triton.Config({"N": 2})], key=[], **hooks)(put)


print("hook:", raised(lambda: with_hooks(post_hook=lambda args, failed: None)[(1,)](out)))
print("hook:", raised(lambda: with_hooks(pre_hook=lambda args: None)[(1,)](out)))
print("hook:", raised(lambda: with_hooks(pre_hook=lambda args, reset_only=False: args[0])[(1,)](out)))
print("threads:", raised(lambda: put[(1,)](out, 1, num_warps=64)))

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    with_hooks(reset_to_zero=["out"], restore_value=["out"])
print("both:", caught[0].message, os.path.basename(caught[0].filename))
print("top_k:", raised(lambda: with_hooks(prune_configs_by={"perf_model": lambda **all: 1, "top_k": 0})[(1,)](out)))
odd = triton.autotune([triton.Config({"N": 1}), triton.Config({"N": 2}, num_warps=12)], key=[])(put)
print("warps:", raised(lambda: odd[(1,)](out)))
print("object:", raised(lambda: put[(1,)](out, 1, knobs)))
print("grid:", raised(lambda: put[(2, -3)](out, 1)))
print("method:", raised(lambda: put[(1,)](out, 1, out.numel)))
class Sized:
    def size(self, axis=None): ...
print("size:", raised(lambda: put[(1,)](out, 1, Sized().size)))
print("lambda:", raised(lambda: triton.jit(lambda x: x)))
print("configs:", raised(lambda: triton.autotune(one, key=[])(put)))
def adapted(hook):
    @functools.wraps(hook)
    def adapter(args, reset_only=False, exception=None):
        return hook(args["out"], args["N"])
    return adapter


@adapted
def by_value(out, N):
    return None


def warned(make):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        make()
    return [f"{os.path.basename(w.filename)}: {w.message}" for w in caught]


class Holder:
    @triton.jit
    def method(self, out):
        tl.store(out, 1)


with_hooks(pre_hook=by_value, post_hook=by_value)[(1,)](out)
with_hooks(prune_configs_by={"perf_model": lambda N, **all: N, "top_k": -1})[(1,)](out)
print("words:", warned(lambda: with_hooks(prune_configs_by={"early_prune": None})),
      warned(lambda: triton.autotune([], key="out")(put)), warned(lambda: triton.jit(do_not_specialize=["n"])(one)))
print("plain:", raised(lambda: triton.autotune([], key=[])(one)))
print("self:", raised(lambda: Holder().method[(1,)](out)))
print("quotient:", raised(lambda: triton.next_power_of_2(1000 / 8)))
print("gone:", raised(lambda: triton.kernel))
print("called:", raised(lambda: scaled(1)))


class At(Ints):
    """An array that begins `data_ptr` bytes after an aligned address."""

    def __init__(self, at):
        self.data_ptr = lambda: at


print("block:", raised(lambda: TensorDescriptor(At(0), [64, 64], [64, 1], [64])))
print("base:", raised(lambda: TensorDescriptor(At(4), [64, 64], [64, 1], [64, 64])))
words = At(0)
words.dtype = type("Word", (), {"itemsize": 4})
print("strides:", raised(lambda: TensorDescriptor(words, [64, 63], [63, 1], [64, 64])))
print("libdevice:", libdevice is tl.extra.libdevice)

# Settings: what is set, otherwise the environment.
os.environ["TRITON_PRINT_AUTOTUNING"] = "yes"
with knobs.autotuning.scope():
    was, knobs.autotuning.print = knobs.autotuning.print, False
    now = knobs.autotuning.print, os.environ["TRITON_PRINT_AUTOTUNING"]
print("knobs:", was, now, knobs.autotuning.print, knobs.autotuning.knobs, knobs.redis.port, knobs.runtime.what)
os.environ["TRITON_REDIS_PORT"] = "here"
print("knobs:", raised(lambda: knobs.redis.port))
