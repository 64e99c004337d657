"""What a launch is given by name: each exception's text, a line each, and warnings."""
import sys
import warnings

import torch
import triton
import triton.language as tl


@triton.jit
def k(x, n, BLOCK: tl.constexpr = 64):
    tl.store(x + tl.arange(0, BLOCK), tl.load(x + tl.arange(0, BLOCK)) + n)


@triton.jit
def first(x):
    tl.extra.cuda.gdc_launch_dependents()
    tl.store(x, tl.load(x) + 1)


@triton.jit
def late(x, y):
    tl.store(y, tl.load(x))


@triton.jit
def waits(x, y):
    tl.extra.cuda.gdc_wait()
    tl.store(y, tl.load(x))


@triton.jit
def writes(x):
    tl.store(x, 1.0)


def shown(name, call):
    try:
        call()
        print(f"{name}: done")
    except BaseException as e:
        print(f"{name}: {type(e).__name__}: {e}")


def warned(message, category, file, line, *rest):
    print(f"line {line}: {category.__name__}: {message}")


x, y, options = torch.zeros(64), torch.zeros(64), {"num_warps": 4}
shown("twice", lambda: k[(1,)](x, 1, num_warps=8, **options))
shown("parameter twice", lambda: k[(1,)](x, 1, BLOCK=32, **{"BLOCK": 16}))
shown("many", lambda: k[(1,)](x, 1, 16, 4))
shown("Intel", lambda: k[(1,)](x, 1, threads_per_warp=16))
shown("Config", lambda: triton.Config({"BLOCK": 16}, waves_per_eu=2))
shown("block", lambda: k[(1,)](x, 1, block=(128, 1, 1)))
shown("unknown", lambda: k[(1,)](x, 1, out_shape=x.shape))
shown("near", lambda: k[(1,)](x, 1, num_warp=8, num_warps=8))
shown("cooperative", lambda: k[(512,)](x, 1, BLOCK=8, num_warps=32, launch_cooperative_grid=True))
shown("module", lambda: __import__("triton.lang"))
warnings.showwarning = warned
if sys.argv[1:]:
    first[(1,)](x, launch_pdl=True)
    late[(1,)](x, y, launch_pdl=True)
    late[(1,)](x, y, launch_pdl=True, num_warps=2)
    waits[(1,)](x, y, launch_pdl=True)
    writes[(1,)](x, launch_pdl=True)
    k[(1,)](x, 1, launch_pdl=True)
