# Host code of a Python file that is beyond the evaluator, or wrong, stops only a kernel that uses it.
# RUN: %tilec %s -n k -s "*fp32" --emit=tile -o - | FileCheck %s
# RUN: not %tilec %s -n uses -s "*fp32" --emit=tile -o - 2>&1 | FileCheck %s --check-prefix=USES
# RUN: echo "import triton" > %t.py && echo "@triton.autotune(configs=3 + 'x')" >> %t.py && echo "@triton.jit" >> %t.py && echo "def f(x): pass" >> %t.py && not %tilec %t.py -n f -o - 2>&1 | FileCheck %s --check-prefix=DECORATOR
# RUN: %tilec %S/inputs/beside_torch.py -n k -s "*fp32" --emit=tile -o - | FileCheck %s --check-prefix=BESIDE
# BESIDE: store
# DECORATOR: :2:26: error: unsupported operand types for +: 'int' and 'str'
import importlib.util
import os
import sys

import triton
import triton.language as tl
from inputs.decorators import remember

if os.path.dirname(__file__) not in sys.path:
  sys.path.insert(0, os.path.dirname(__file__))
assert len(sys.argv) == 0 and not sys.modules   # a compilation depends on neither

class Backend:
  @property
  def kind(self): return self._kind

  @kind.setter
  def kind(self, value): self._kind = value

class Variable:   # a descriptor is told its name
  def __init__(self, default): self.default = default
  def __set_name__(self, owner, name): self.name = owner.__name__ + "." + name
  def get(self): return os.getenv(self.name, self.default)

class Environment:
  WIDTH = Variable(8)

assert Environment.WIDTH.name == "Environment.WIDTH" and Environment.WIDTH.get() == 8

def libdevice_find(name):
  for location in ("triton.language.extra.libdevice", "triton.language.math"):
    if spec := importlib.util.find_spec(location):
      module = importlib.util.module_from_spec(spec)
      assert spec.loader is not None
      spec.loader.exec_module(module)
      return getattr(module, name)

rsqrt = libdevice_find("rsqrt")
has_torch = importlib.util.find_spec("torch")
LIMIT = len(3)
current = getattr(os, triton.no_such_name).current_device

if sys.version_info >= (3, 9) and sys.version_info < (4,) and sys.version_info[:2] == (3, 11):
  STEP = tl.constexpr(4)

# CHECK: rsqrt
# CHECK: constant {value = 4}
@remember
@triton.jit
def k(p):
  tl.store(p, rsqrt(tl.load(p)))
  tl.store(p, STEP)

@triton.jit
def uses(p):
  # USES: [[#@LINE+1]]:15: error: 'LIMIT' is not known at compile time
  tl.store(p, LIMIT)
# USES: :47:9: note: this fails at compile time: TypeError: 'int' has no length
  # USES: [[#@LINE+2]]:15: error: 'importlib.util.find_spec(...)' is not known at compile time
  # USES: note: the compiler does not know which modules the host has
  tl.store(p, has_torch)
