"""What programs ask of Triton's hooks, and of the constants' functions that torch.compile imports."""
import triton
import triton.language as tl
from triton.language.standard import _is_power_of_two, _log2

from ints import Numbers


@triton.jit
def put(out, n, B: tl.constexpr, more: tl.constexpr = tl.core.CONSTEXPR_0):
    bits: tl.constexpr = _log2(B)
    tl.static_assert(_is_power_of_two(B))
    tl.store(out + tl.arange(0, B), n + bits + more)


out, asked = Numbers(*[0] * 8), []


def refuse(**what):
    asked.append(what["repr"])
    return True


def only_look(**what):
    asked.append(what["repr"])
    return True


runtime = triton.knobs.runtime
runtime.jit_cache_hook = refuse
for _ in range(2):   # a variant that was refused is asked about again
    print("refused:", put[(1,)](out, 7, 8), out.data.tolist(), len(asked))
runtime.jit_cache_hook, runtime.jit_post_compile_hook = None, only_look
put[(1,)](out, 7, 8)
put[(1,)](out, 6, 8)   # known: no hook is called
print("launched:", out.data.tolist(), len(asked))
print(asked[0])
print(_log2(1), _log2(100), _is_power_of_two(64), _is_power_of_two(96))
