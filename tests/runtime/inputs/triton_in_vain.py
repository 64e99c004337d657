"""Settings that there are not, tensors in the key of autotune, a constexpr that changes at every launch."""
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


def stepped(x_ptr, step: tl.constexpr, scale: tl.constexpr, BLOCK: tl.constexpr = 16):
    tl.store(x_ptr + tl.arange(0, BLOCK), step * scale)


def kernel(module="__main__"):
    stepped.__module__ = module
    return triton.jit(stepped)


def launched(kernel, arguments):
    for given in arguments:
        kernel[(1,)](*given)
    return x[0].item()


every, tuned = kernel(), triton.autotune([triton.Config({"step": n}) for n in range(20)], key=[],
                                         do_bench=lambda launch, quantiles: (launch(), [1.0] * 3)[1])(kernel())
print("few:", launched(kernel(), [(x, n, 1) for n in range(16)]))
print("two:", launched(kernel(), [(x, n, n % 2) for n in range(20)]))
print("types:", launched(kernel(), [(t, n, 1) for n in range(10) for t in (x, x.int())]))
print("again:", launched(kernel(), [(x, 1 + n % 3, 1 + n % 2 / 2) for n in range(40)]))
print("another's:", launched(kernel("imported"), [(x, n, 1) for n in range(20)]))
tuned[(1,)](x, scale=1)
print("tuned:", len(tuned.configs_timings))
print("every:", launched(every, [(x, 0.5, 2.5), *((x, n, 1) for n in range(40))]))
print("done")
