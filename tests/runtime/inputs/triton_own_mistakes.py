"""Mistakes around kernels of the program's own file: numbers that are constexprs, functions that a launch calls, a
parameter with the name of one of run's, a number beyond its type, warnings of the program's kernels."""
import traceback

import torch
import triton
import triton.language as tl

GROUP = tl.constexpr(4)
SHARE = tl.constexpr(-2.5)


@triton.jit
def scaled(out, scale: tl.float16, warmup, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(out + i) * scale + 1e-9 + warmup)


def shown(name, call):
    try:
        call()
        print(f"{name}: done")
    except Exception as e:
        print(f"{name}: {''.join(traceback.format_exception_only(type(e), e)).strip()}")


def chosen(**values):
    return triton.heuristics(values)(scaled)


out = torch.zeros(16, dtype=torch.float16)
print(divmod(10, GROUP), divmod(GROUP, 3), abs(SHARE), round(SHARE), int(SHARE), float(GROUP), f"{GROUP:03d} {GROUP}")
shown("positional", lambda: chosen(N=lambda *args, **meta: args[2])[(1,)](out, 1.0, 2))
shown("grid", lambda: scaled[lambda meta: ([1][meta["N"]],)](out, 1.0, 2, 16))
shown("two", lambda: scaled[lambda meta: [a for a, b in [(1,)]]](out, 1.0, 2, 16))
shown("own", lambda: scaled[(1,)](out, 1.0, warmup=2, N=16))
shown("largest", lambda: scaled[(1,)](out, 65504.0, 2, 16))
shown("infinite", lambda: scaled[(1,)](out, float("inf"), 2, 16))
shown("beyond", lambda: scaled[(1,)](out, 131072.0, 2, 16))
shown("whole", lambda: scaled[(1,)](out, -131072, 2, 16))
if __name__ == "__main__":
    chosen(N=lambda *args: args[1])[(1,)](out, 1.0, 2)
