# RUN: %tilec %s -n k --emit=tile -o - | FileCheck %s
# A file whose name `import` cannot spell.
# CHECK: constant {value = 12} : i32
import importlib
import triton
import triton.language as tl

other = importlib.import_module("inputs.07-numbers")


@triton.jit
def k(x: "*i32"):
    tl.store(x, other.TWELVE)
