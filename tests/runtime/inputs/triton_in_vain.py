"""Settings that there are not, tensors in the key of autotune."""
import torch
import torch
import triton
import triton.language as tl

triton.knobs.autotuning.print_autotuning = True
setattr(triton.knobs.redis, "qqq", 1)
triton.knobs.amd.use_async_copy = triton.knobs.proton.cupti_lib_dir = None   # Triton has these
triton.knobs.compilation.listener = triton.knobs.runtime.jit_cache_hook = None
with triton.knobs.language.scope():
    triton.knobs.language.fp32_default = "ieee"
print("knobs:", triton.knobs.autotuning.print_autotuning, triton.knobs.redis.qqq, triton.knobs.amd.use_async_copy)


CONFIGS = [triton.Config({"BLOCK": n}) for n in (16, 32)]


@triton.autotune(CONFIGS, key=["x_ptr", "y_ptr", "n"])
@triton.jit
def copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + o, tl.load(x_ptr + o, mask=o < n), mask=o < n)


@triton.autotune(CONFIGS, key=["x_ptr"])
@triton.jit
def fill(x_ptr, value, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + o, value, mask=o < n)


by_block = lambda META: (triton.cdiv(64, META["BLOCK"]),)
for _ in range(3):
    x, y = torch.ones(64), torch.zeros(64)
    copy[by_block](x, y, 64)
    fill[by_block](x, 2.0, n=64)
print("keys:", len(copy.cache), len(fill.cache), torch.equal(y, torch.ones(64)))
print("done")
