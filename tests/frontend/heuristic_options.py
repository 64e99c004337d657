# @triton.heuristics sets launch options that are no parameters of the kernel; the command line has precedence.
# RUN: %tilec %s -n rows -s "*fp32, 4096" --emit=tile -o - | FileCheck %s --check-prefix=WIDE
# RUN: %tilec %s -n rows -s "*fp32, 64" --emit=tile -o - | FileCheck %s --check-prefix=NARROW
# RUN: %tilec %s -n rows -s "*fp32, 4096" -w 2 --num-stages=5 --emit=tile -o - | FileCheck %s --check-prefix=GIVEN
# RUN: not %tilec %s -n wrong -s "*fp32, 64" -o - 2>&1 | FileCheck %s --check-prefix=WRONG
# RUN: %tilec run %s -k rows --device=interp --grid 1 --arg x=fp32[4096]=zeros -D N=4096 --print x | FileCheck %s --check-prefix=RAN
# WIDE: num_warps = 8, num_stages = 2
# NARROW: num_warps = 1, num_stages = 2
# GIVEN: num_warps = 2, num_stages = 5
# RAN: x = fp32[4096]
import triton
import triton.language as tl


@triton.heuristics({"num_warps": lambda args: 8 if args["N"] > 1024 else 1, "num_stages": lambda args: 2,
                    "maxnreg": lambda args: None})
@triton.jit
def rows(x, N: tl.constexpr):
    tl.store(x + tl.arange(0, N), 1.0)


@triton.heuristics({"num_warps": lambda args: args["N"] / 16})
@triton.jit
# WRONG: [[#@LINE+1]]:5: error: `num_warps` of kernel `wrong` must be a whole number from 1 on; @triton.heuristics gives 4.0
def wrong(x, N: tl.constexpr):
    tl.store(x + tl.arange(0, N), 1.0)
