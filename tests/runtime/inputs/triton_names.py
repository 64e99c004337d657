"""Names that programs import from Triton beside those of kernels: each does what it says, or says what is missing."""
import os
import sys
import warnings

import triton
import triton.language as tl
import triton.profiler as proton
import triton.profiler.language as pl
from triton.profiler.language import scope
import triton.profiler.viewer as viewer
from triton.backends.nvidia.compiler import CUDABackend, get_ptxas, sm_arch_from_capability
from triton.backends.nvidia.driver import ty_to_cpp
from triton.compiler.compiler import GPUTarget, driver, get_cache_manager, triton_key
from triton.language import standard
from triton.language.core import _unwrap_iterable, constexpr_function
from triton.language.standard import _elementwise_max, _elementwise_min
from triton.testing import runtime
from triton.tools.disasm import extract, get_sass

from ints import Ints


def refusal(what, f, *args):
    try:
        f(*args)
    except Exception as e:
        print(what, type(e).__name__, e)


@triton.jit
def marked(x):
    pl.enter_scope("store")
    with scope("inner"):
        tl.store(x, 7)
    pl.exit_scope("store")


x = Ints(0)
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    session = proton.start("name", backend="instrumentation", mode=proton.mode.Default(optimizations="clock32"))
with proton.scope("all", {"bytes": 4}), proton.cpu_timed_scope("host"):
    marked[(1,)](x)
proton.deactivate(session)
proton.finalize(session)
print("profiler:", x.data.tolist(), [str(w.message) for w in found], os.path.exists("name.hatchet"))
print("decorators:", proton.scope("f")(abs)(-1), proton.profile(abs)(-2), proton.profile(name="f")(abs)(-3))
refusal("viewer:", viewer.read, "name.hatchet")
refusal("ops:", getattr, triton, "ops")
refusal("options:", lambda: __import__("triton.backends.nvidia.compiler", fromlist=["x"]).CUDAOptions)

tool = sys.argv[1]
with open(tool, "w") as f:
    f.write('#!/bin/sh\ncase "$*" in *-sass*) shift $(($# - 1)); cat "$1";; *) echo release 12.8;; esac\n')
os.chmod(tool, 0o755)
os.environ["TRITON_CUOBJDUMP_PATH"] = tool
print("sass:", get_sass(b"EXIT ;"), extract(tool, None).startswith("#!/bin/sh"))
refusal("no file:", extract, tool + ".none")
os.environ["TRITON_CUOBJDUMP_PATH"] = "/nonexistent"
refusal("no tool:", get_sass, b"EXIT ;", "add")

print("iterable:", _unwrap_iterable([(2, 3)]), _unwrap_iterable((2, 3)), _unwrap_iterable((2,)))
print("constexpr:", constexpr_function is tl.constexpr_function is triton.constexpr_function)
print("types:", [ty_to_cpp(t) for t in ("*fp32", "tensordesc<fp16[64,64]>", "i1", "u64", "bf16")],
      driver.active.map_python_to_cpp_type("i8"))
print("nvidia:", get_ptxas(100) == triton.knobs.nvidia.ptxas_blackwell, sm_arch_from_capability(86),
      sm_arch_from_capability(90), CUDABackend.supports_target(GPUTarget("cuda", 90, 32)))
print("same:", runtime.driver.active is driver.active, triton_key() == triton.runtime.cache.triton_key(),
      get_cache_manager is triton.runtime.cache.get_cache_manager)


class OwnCacheManager(triton.runtime.cache.FileCacheManager):
    pass


here = os.getcwd()
os.environ["TRITON_CACHE_DIR"], os.environ["TRITON_DUMP_DIR"] = here + "/kept", here + "/dumped"
os.environ["TRITON_CACHE_MANAGER"] = "__main__:OwnCacheManager"
managers = get_cache_manager("a key"), triton.runtime.cache.get_dump_manager("a key")
print("managers:", *(type(m).__name__ for m in managers), *(m.put("text", "f")[len(here):][:8] for m in managers),
      managers[0].get_file("f") is not None, managers[1].lock_path.endswith("/lock"))


@triton.jit
def reduced(x, N: tl.constexpr):
    i = tl.arange(0, N)
    v = i * 3 % 4
    tl.store(x, tl.reduce(v, 0, tl.standard._sum_combine))
    tl.store(x + 1, tl.reduce(v, 0, _elementwise_max) * 10 + tl.reduce(v + 1, 0, _elementwise_min))
    best = tl.reduce((v, i), 0, triton.language.standard._argmax_combine_tie_break_left)
    tl.store(x + 2, best[0] * 10 + best[1])
    least = tl.reduce((v - 2, i), 0, tl.standard._argmin_combine_tie_break_left)
    tl.store(x + 3, least[0] * 10 + least[1])
    tl.store(x + 4, tl.reduce(v + 1, 0, tl.standard._prod_combine))
    tl.store(x + 5, tl.reduce(1 << v, 0, tl.standard._or_combine) * 100 + tl.reduce(v + i, 0, standard._xor_combine))


x = Ints(*[0] * 6)
reduced[(1,)](x, 8)
print("reduced:", x.data.tolist(), tl.core.is_builtin(tl.load), tl.core.is_builtin(reduced))

from triton._C.libtriton import gluon_ir, nvidia
from triton._filecheck import filecheck_test, run_filecheck
from triton._utils import find_paths_if, get_iterable_path
from triton.backends.nvidia.driver import libcuda_dirs
from triton.runtime.cache import _base32
from triton.runtime.interpreter import InterpretedFunction

nested = ((1, [2, "a"]), 3)
paths = find_paths_if(nested, lambda path, value: isinstance(value, int))
print("paths:", paths, [get_iterable_path(nested, path) for path in paths], _base32("ab12"))
refusal("filecheck:", filecheck_test(marked))
refusal("filecheck:", run_filecheck, "name", "", "")
print("clusters:", gluon_ir.make_cga_layout([2, 4], [1, 4], [0, 1]), gluon_ir.make_cga_layout([4, 2], [2, 2], [1, 0]))
print("internals:", nvidia.cublas.CublasLt.__name__, callable(libcuda_dirs), isinstance(marked, InterpretedFunction))

from triton.backends import backends

print("backends:", isinstance(backends, dict), list(backends), len(backends), "cpu" in backends, backends.get("cpu"),
      [(name, backend.compiler is CUDABackend, backend is backends["nvidia"], backend.driver.is_active(),
        isinstance(driver.active, backend.driver)) for name, backend in backends.items()])
lines = []
for disabled in ("0", "1"):
    os.environ["TRITON_DISABLE_LINE_INFO"] = disabled
    lines.append(".loc" in marked.warmup(x, grid=(1,)).asm["ptx"])
print("line information:", lines)
