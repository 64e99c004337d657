# A parameter that is None where a number is needed: its name, and who gives it None.
# RUN: not %tilec %s -n chosen -s *fp32,i32 -o - 2>&1 | FileCheck %s --check-prefix=CHOSEN
# RUN: not %tilec %s -n given -s *fp32,i32 -DS=None -o - 2>&1 | FileCheck %s --check-prefix=GIVEN
import triton
import triton.language as tl


def block_for(args):
    if False:
        return 128


@triton.heuristics({"BLOCK": block_for})
@triton.jit
def chosen(x, n, BLOCK: tl.constexpr):
    # CHOSEN: none_values.py:[[#@LINE+2]]:12: error: the right operand of `*` must be a tensor or a number, not None
    # CHOSEN: {{^}}note: `BLOCK` is None by its function in @triton.heuristics, which gives None where it ends without a `return`: return a value in every case
    offs = tl.program_id(0) * BLOCK + tl.arange(0, 16)
    tl.store(x + offs, 1.0, mask=offs < n)


@triton.jit
def scaled(y, SCALE: tl.constexpr):
    # GIVEN: {{^}}note: guard its use with `if SCALE is not None:`, which is decided at compile time
    return y * SCALE


@triton.jit
def given(x, n, S: tl.constexpr, B: tl.constexpr = None):
    tl.store(x, scaled(n, S))
    # GIVEN: error: `end` of `arange` must be a constant integer, not None
    # GIVEN: {{^}}note: `B` is None by its default: give it a value, or guard its use with `if B is not None:`, which is decided at compile time
    tl.store(x + tl.arange(0, B), 1.0)
    # GIVEN: error: entry 0 of `shape` of `zeros` must be a constant integer, not None
    # GIVEN: {{^}}note: `S` is None by -D: give it a value, or guard its use with `if S is not None:`
    tl.store(x, tl.zeros((S,), tl.float32))
