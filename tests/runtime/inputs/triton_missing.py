"""Names of other releases, misspelt ones, and calls that nothing takes: each exception's text, a line each."""
import functools
import warnings

import triton
import triton.language as tl


@triton.jit
def k(x, B: tl.constexpr):
    if x is not None:
        tl.store(x + tl.arange(0, B), 1.0)


def plain_function():
    pass


def shown(name, call):
    try:
        print(f"{name}:", call())
    except BaseException as e:
        print(f"{name}: {type(e).__name__}: {e}")


def imported(text):
    return lambda: exec(f"from {text}", {})


shown("class", lambda: triton.Function)
shown("misspelt", lambda: triton.Confg)
shown("unlike", lambda: triton.Fnc)
shown("testing", lambda: triton.testing.assert_almost_equal)
shown("imported", imported("triton.testing import assert_almost_equal"))
shown("imported misspelt", imported("triton.testing import do_bnch"))
shown("imported unlike", imported("triton.testing import qqq"))
shown("language", lambda: tl.printf)
shown("language misspelt", lambda: tl.float33)
shown("libdevice", imported("triton.language.math import tanh"))
shown("module", imported("triton.code_gen import JITFunction"))
shown("deep module", imported("triton.compiler.backends.cuda import x"))
shown("own module", imported("triton.qqq.www import x"))
shown("driver", imported("triton.runtime.jit import get_cuda_stream"))
shown("compiler", imported("triton.compiler import llir_to_ptx"))
shown("kernel", lambda: k.cache)
shown("has", lambda: (hasattr(k, "cache"), hasattr(triton, "ops")))
shown("keyword", lambda: triton.testing.do_bench(lambda: 0, percentiles=[0.5]))
shown("misspelt keyword", lambda: triton.testing.do_bench(lambda: 0, quantile=[0.5]))
shown("unlike keyword", lambda: triton.testing.assert_close(1, 1, qqq=1))
shown("too many", lambda: triton.Config({}, 1, 2, 3, 4, 5, 6, 7, 8))
shown("class keyword", lambda: triton.compiler.ASTSource(k, {}, constants={}))
shown("decorator", lambda: triton.jit(interpret=True))
shown("its own", lambda: triton.testing.do_bench(3))
shown("mode", lambda: triton.testing.do_bench(lambda: 0, return_mode="avg"))
shown("mode of graphs", lambda: triton.testing.do_bench_cudagraph(lambda: 0, return_mode=None))
shown("dtype", lambda: tl.dtype("bfloat16"))
shown("no dtype", lambda: tl.dtype("qqq"))
shown("option", lambda: k[(1,)](None, B=4, num_warps=4, num_warp=4))
shown("other case", lambda: k[(1,)](None, b=4))
shown("other option", lambda: k[(1,)](None, B=4, waves_per_eu=1, BB=4))
config = triton.Config({"B": 4})
shown("twice", lambda: triton.autotune([config], [])(triton.autotune([config], [])(k))[(1,)](None))
@triton.heuristics({"B": lambda args: 4 if args["x"] else None})
@triton.jit
def chosen(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), 1.0)


shown("none", lambda: chosen[(1,)](0))
shown("configured", lambda: triton.autotune([triton.Config({"B": None})], [])(triton.jit(chosen.fn.fn))[(1,)](0))
later = triton.heuristics({"A": lambda args: args["B"], "B": lambda args: 4})(k)
shown("later", lambda: later[(1,)](None))


shown("part", lambda: triton.testing.do_bench_proton)
shown("utils", lambda: triton.runtime.driver.active.utils.fill_2d_tma_descriptor)
shown("utils misspelt", lambda: triton.runtime.driver.active.utils.get_device_propertys)
shown("utils unlike", lambda: triton.runtime.driver.active.utils.qqq)
shown("number", lambda: triton.jit(do_not_specialize=2)(plain_function))
shown("positional", lambda: triton.autotune([config], [])(k)[(1,)](None, 4))
shown("builtin", lambda: triton.jit(len))
shown("constants", lambda: triton.Config(64))
shown("string", lambda: triton.autotune([config], [], reset_to_zero="x")(k))
with warnings.catch_warnings():
    warnings.simplefilter("error")
    shown("no parameter", lambda: triton.autotune([config], [], restore_value=["y"])(k))
shown("pruning", lambda: triton.autotune([config], [], prune_configs_by=len)(k))
triton.knobs.runtime.launch_enter_hook = lambda metadata: metadata.num_warps
shown("metadata", lambda: k[(1,)](None, B=4))
triton.knobs.runtime.launch_enter_hook = lambda: None
shown("hook", lambda: k[(1,)](None, B=4))
triton.knobs.runtime.launch_enter_hook = None


def wrapped(f):
    return functools.wraps(f)(lambda *args: f(*args))


plain = wrapped(k)
plain[(1,)](None, B=4)
