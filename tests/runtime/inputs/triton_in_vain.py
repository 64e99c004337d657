"""Settings that there are not."""
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
print("done")
