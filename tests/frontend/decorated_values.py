# RUN: %tilec %s -n k -s "*fp32" --emit=tile -o - | FileCheck %s
# What Triton's decorators make has a type that host code asks for, and constexpr_function takes a function that is built in.
import triton
import triton.language as tl
from triton.language import core
from triton.runtime.autotuner import Autotuner, Heuristics
from triton.runtime.jit import JITFunction

constexpr_function = getattr(triton.runtime.jit, 'constexpr_function', None)
get_int_dtype = core.get_int_dtype if constexpr_function is None else constexpr_function(core.get_int_dtype)

@triton.jit
def add(x, y): return x + y

@triton.heuristics({"B": lambda args: 32})
@triton.jit
def guided(x, B: tl.constexpr): tl.store(x, B)

@triton.autotune([triton.Config({"B": 32})], key=[])
@triton.jit
def tuned(x, B: tl.constexpr): tl.store(x, B)

def host(x): return x

@triton.constexpr_function
def unsigned(bits): return tl.core.get_int_dtype(bits, signed=False)

assert unsigned(16) == tl.uint16 and core.get_int_dtype(64, True) == tl.int64

assert isinstance(add, JITFunction) and not isinstance(add, (Autotuner, Heuristics))
assert isinstance(guided, Heuristics) and isinstance(guided.fn, triton.JITFunction)
assert isinstance(tuned, Autotuner) and not isinstance(tuned, JITFunction) and isinstance(tuned.fn, JITFunction)
assert not isinstance(host, JITFunction) and not isinstance(16, JITFunction)

# CHECK-LABEL: func @k
# CHECK: bitcast %{{.*}} : tensor<16xi32>
@triton.jit
def k(p):
  i = tl.arange(0, 16)
  t: tl.constexpr = get_int_dtype(bitwidth=p.dtype.element_ty.primitive_bitwidth, signed=True)
  tl.static_assert(unsigned(p.dtype.element_ty.primitive_bitwidth) == tl.uint32)
  x = tl.load(p + i).to(t, bitcast=True)
  tl.store(p + i, add(x, 1).to(p.dtype.element_ty, bitcast=True))
