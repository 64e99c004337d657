"""Few bits, sparse weights and AMD's training kernels of `unseen3`: Jetfire 5556355, 2by4-pretrain 9e33012, TEAL
5baaec8, BitDelta ecbee1e, AQLM e79a896, and Primus-Turbo a6a16cdc, launched without the options that only AMD's
compiler knows.

The order of atomic operations decides how TEAL's products round. What Primus-Turbo has of Transformer Engine (the
permutation of tokens) is left out, and what asks for AMD's GPUs: its products of microscaled numbers, its work-stealing
ones, and the backward pass of its geglu."""

import functools

import torch
from triton.runtime.autotuner import Autotuner, Heuristics
from triton.runtime.jit import JITFunction

from packages.common import (
    D, FP16, FP32, BarePackages, fb, folder_of, fp8, ints, leaf, load, rand, scale, starts, stub,
)  # fmt: skip
from packages.unseen2_aiter import drop_options


def bare(root, name):
    """Leaves out the __init__ files of a package, which would pull in the world."""
    BarePackages(root, folder_of("unseen3/" + name))


def eight(*shape):
    """8-bit integers of both signs."""
    return ints(256, *shape).sub(128).to(torch.int8)


def half(*shape):
    return rand(*shape, dtype=FP16)


class Nothing:
    """A kernel that is not launched."""

    def __getitem__(self, grid):
        return lambda *args, **kwargs: None


def jetfire():
    """Activations in 8 bits with a scale for each 32 by 32 of them: 2 sequences of 2,048 tokens, 4,096 features."""
    batch, length, width = 2, 2048, 4096

    def kernels(name):
        bare("Jetfire", "jetfire")
        stub("IPython")
        return load("Jetfire.Nonlinear." + name)

    flat = lambda: (eight(batch * length, width), scale(batch * length // 32, width // 32).half())
    deep = lambda: (eight(batch, length, width), scale(batch, length // 32, width // 32).half())
    yield "quantize", lambda: kernels("quantize").int8_quantize(half(batch * length, width), 32)
    yield (
        "quantize_stochastic",
        lambda: kernels("quantize").int8_quantize(half(batch * length, width), 32, stochastic=True),
    )
    yield (
        "quantize_transpose",
        lambda: kernels("quantize_transpose").int8_quantize_transpose(
            half(batch * length, width), 32, transpose_output_2d=True
        ),
    )
    yield "dequantize", lambda: kernels("dequantize").int8_dequantize(*deep(), 32)
    yield "gelu", lambda: kernels("gelu_fwd").int8_gelu_forward(*flat(), 32)
    yield "gelu_backward", lambda: kernels("gelu_bwd").int8_gelu_backward(*flat(), *flat(), 32)
    yield "add", lambda: kernels("add").int8_add_Ifp_Ig16_Ofp_Og(rand(batch * length, width, dtype=FP32), *flat(), 32)
    yield (
        "add_mean",
        lambda: kernels("add_mean_var").int8_add_Ifp_Ig16_Ofp_Og_MeanVar(
            rand(batch * length, width, dtype=FP32), *flat(), 32
        ),
    )
    yield (
        "dropout",
        lambda: kernels("dropout_fwd").int8_dropout_forward(
            *deep(), (torch.rand(batch, length, width, device=D) < 0.9).to(torch.int8), scale(1), 32
        ),
    )
    each = lambda: scale(batch * length)
    yield "layer_norm", lambda: kernels("layernorm").int8_layernorm_forward(*flat(), half(width), each(), each(), 32)

    def layer_norm_back():
        m = kernels("layernorm")
        m._int8_layer_norm_bwd_dwdb = Nothing()  # which is COAT's, too
        m.int8_layernorm_backward(*flat(), *flat(), half(width), 32, each(), each())

    yield "layer_norm_backward", layer_norm_back


def two_of_four():
    """Weights of which two of four are zero: 2by4-pretrain on matrices of 4,096 by 4,096."""

    def kernels(name):
        bare("sparse", "two4")
        return load("sparse." + name)

    dense = lambda: half(4096, 4096)
    for name in ("MVUE24_approx", "sparse24", "soft_threshold24"):
        yield name, lambda n=name: getattr(kernels("triton_ops"), n + "_triton")(dense())

    def compress(dtype, turned):
        x = dense().t() if turned else dense()
        columns = 4096 // (torch.iinfo(dtype).bits // 4 * 4)
        kernels("_semi_structured_conversions").sparse_semi_structured_from_dense_triton(
            x, torch.empty(4096, 2048, device=D, dtype=FP16), torch.empty(4096, columns, device=D, dtype=dtype),
            MVUE24=turned,
        )  # fmt: skip

    yield "compress", lambda: compress(torch.int16, False)
    yield "compress_turned", lambda: compress(torch.int16, True)
    yield "matmul", lambda: kernels("matmul").matmul(half(8192, 4096), dense())
    yield "geglu", lambda: fb(kernels("GELUglu").gelu_glu.apply(leaf(4, 2048, 8192, dtype=FP16)))

    def transposable():
        m = kernels("transposable_semi_structured")
        patterns = (torch.rand(90, 16, device=D) < 0.5).to(FP16)
        m._to_transposable_sparse_semi_structured(dense(), patterns, True)

    yield "transposable", transposable


def vectors():
    """A token times compressed matrices of a 7B model."""

    def teal():
        stub("compile_wrapper", BaseKernel=object)
        return load("sparse_gemv")

    yield "teal", lambda: teal().splitk_sparse_gemv(half(1, 1, 4096), half(4096, 11008).t(), 0.5, 0)
    yield "teal_qkv", lambda: teal().qkv_gemv(half(1, 1, 4096), half(4096, 6144).t(), 0.5, 0.6, 0.7, 0, 1024)
    bits = lambda *shape: ints(1 << 31, *shape).to(torch.int32)

    def delta():
        bare("bitdelta", "bitdelta")
        return load("bitdelta.binary_gemm_kernel")

    yield "bitdelta", lambda: delta().binary_matmul(half(64, 4096), bits(128, 4096))
    yield "bitdelta_batch", lambda: delta().binary_bmm(half(16, 16, 4096), bits(16, 128, 4096))

    def aqlm():
        bare("aqlm", "aqlm/inference_lib/src")
        load("aqlm.inference_kernels.triton_kernel").triton_matmul(
            half(1, 4096), ints(32767, 11008, 512, 1).to(torch.int16), half(1, 65536, 1, 8), half(11008, 1, 1, 1), None
        )

    yield "aqlm", aqlm


@functools.cache
def primus_turbo():
    bare("primus_turbo", "primus")
    stub("primus_turbo.pytorch.core.low_precision", float8_e4m3=torch.float8_e4m3fn, float8_e5m2=torch.float8_e5m2)
    stub("primus_turbo.pytorch.core.stream")


def primus(name):
    """The module; its kernels do not get AMD's options, and have a setting of PyTorch's, a default, as a constant."""
    primus_turbo()
    setting = "torch.backends.cuda.matmul.allow_tf32"
    m = load("primus_turbo." + name)
    for kernel in vars(m).values():
        while isinstance(kernel, (JITFunction, Autotuner, Heuristics)):
            if "run" not in vars(kernel):
                drop_options(kernel)
            if setting in getattr(kernel, "src", ""):
                kernel._unsafe_update_src(kernel.src.replace(setting, "False"))
            kernel = getattr(kernel, "fn", None)
    return m


def training():
    rows, tokens, width, experts = 8192, 8192, 4096, 16
    triton_part, impl = lambda name: primus("triton." + name), lambda name: primus("pytorch.kernels." + name)
    mask = lambda: (torch.arange(rows, device=D) < 8000).int()

    def activate(name, back):
        m, rest = impl(f"activation.{name}_impl"), (scale(rows), mask())
        x = rand(rows, 8192)
        getattr(m, name + "_fwd_with_probs")(x, *rest)
        if back:
            getattr(m, name + "_bwd_with_probs")(rand(rows, 4096), x, *rest)

    yield "swiglu", lambda: activate("swiglu", True)
    yield "geglu", lambda: activate("geglu", False)

    def norm(count, size, residual):
        m = impl("normalization.rmsnorm_impl")
        x = lambda: rand(count, size)
        if residual:
            _, sums, inverse, *sizes = m.rmsnorm_fwd_residual_impl(x(), x(), rand(size), 1e-6)
            m.rmsnorm_bwd_residual_impl(x(), x(), sums, rand(size), inverse, *sizes)
        else:
            _, inverse, *rest = m.rmsnorm_fwd_impl(x(), rand(size), 1e-6)
            m.rmsnorm_bwd_impl(x(), x(), rand(size), inverse, *rest[-4:])

    for count, size in ((8192, 4096), (131072, 128)):
        for residual in (False, True):
            yield f"rms_norm_{size}" + "_residual" * residual, lambda c=count, s=size, r=residual: norm(c, s, r)

    def blocks(name, *args):
        m = triton_part("quantization.quant_blockwise")
        getattr(m, name + "_kernel")[(rows // 128, width // 128)](*args)

    codes = lambda: torch.empty(rows, width, device=D, dtype=torch.float8_e4m3fn)
    factors = lambda: torch.empty(rows, width // 128, device=D)
    yield (
        "quant_rows",
        lambda: blocks("quant_fp8_blockwise", rand(rows, width), codes(), factors(), rows, width, 128, 448.0, 1),
    )
    yield "quant_both", lambda: blocks(
        "quant_fp8_blockwise_dual", rand(rows, width), codes(), factors(), codes(),
        torch.empty(rows // 128, width, device=D), rows, width, 128, 448.0,
    )  # fmt: skip

    def segments():
        m = triton_part("quantization.quant_blockwise")
        ends, longest = starts(experts, rows // experts).long(), rows + experts * 128
        m.quant_fp8_blockwise_segment_m_row_col_kernel[(longest // 128, width // 128)](
            rand(rows, width), codes(), torch.empty(longest, width, device=D, dtype=torch.float8_e4m3fn),
            torch.empty(width // 128, rows, device=D), torch.empty(longest // 128, width, device=D), ends, ends, rows,
            width, experts, 128, 448.0,
        )  # fmt: skip

    yield "quant_segments", segments

    def route():
        m = impl("moe.fused_moe_router_impl")
        logits = rand(tokens, 256, dtype=FP32)
        m.fused_moe_router_fwd_triton(logits, tokens, 256, 8, 8, 4, "sigmoid", 1.0)

    yield "route", route

    def multihot():
        m = triton_part("moe.multihot_to_indices")
        places = torch.rand(tokens, 32, device=D).topk(8).indices
        hot, probs = torch.empty(tokens, 32, device=D, dtype=torch.bool), torch.empty(tokens, 32, device=D)
        where = torch.empty(tokens, 32, device=D, dtype=torch.int32)
        grid = (tokens,)
        m._indices_to_multihot_kernel[grid](
            places, scale(tokens, 8), hot, probs, where, 32, 32, 8, 8, BLOCK_SIZE=32, num_warps=1
        )
        order = places.sort(-1).values
        back = torch.full((tokens, 32), -1, device=D, dtype=torch.int32)
        back.scatter_(1, order, torch.arange(8, device=D, dtype=torch.int32).expand(tokens, 8))
        m._multihot_to_indices_kernel[grid](
            scale(tokens, 32), back, torch.empty(tokens, 8, device=D), 32, 32, 8, 8, BLOCK_SIZE=32, num_warps=1
        )

    yield "multihot", multihot
    ends = lambda: starts(experts, tokens // experts).long()
    yield "gemm", lambda: triton_part("gemm.gemm_kernel").gemm_triton_kernel(rand(8192, 4096), rand(4096, 4096))
    yield (
        "gemm_fp8_rows",
        lambda: triton_part("gemm.gemm_fp8_kernel").gemm_fp8_rowwise_triton_kernel(
            fp8(8192, 4096), scale(8192), fp8(4096, 4096), scale(4096)
        ),
    )
    yield (
        "grouped",
        lambda: triton_part("grouped_gemm.grouped_gemm_kernel").grouped_gemm_triton_kernel(
            rand(tokens, width), rand(experts, 2048, width), ends(), trans_b=True
        ),
    )
    yield (
        "grouped_weights",
        lambda: triton_part("grouped_gemm.grouped_gemm_kernel").grouped_gemm_variable_k_triton_kernel(
            rand(tokens, width), rand(tokens, 2048), ends()
        ),
    )
    yield (
        "grouped_fp8_rows",
        lambda: triton_part("grouped_gemm.grouped_gemm_fp8_kernel").grouped_gemm_fp8_rowwise_triton_kernel(
            fp8(tokens, width), fp8(experts, 2048, width), scale(tokens), scale(experts, 2048), ends(), trans_b=True
        ),
    )

    def latent():
        """DeepSeek's attention to 512 chosen tokens. With 64 heads a kernel wants more shared memory than there is."""
        m = triton_part("attention.sparse_mla")
        for config in m._sparse_mla_fwd_tr_kernel.configs:
            config.kwargs.pop("waves_per_eu", None)
        q, keys = rand(2048, 128, 576, scale=0.1), rand(2048, 1, 576, scale=0.1)
        chosen = torch.rand(2048, 2048, device=D).topk(512).indices.int()
        out, sums = m.sparse_mla_fwd_triton(q, keys, chosen)
        m._build_inverted_topk_slice = inverted
        m.sparse_mla_bwd_triton(q, keys, out, rand(2048, 128, 512), chosen, sums)

    yield "latent", latent

    def attention():
        m = impl("attention.attention_triton_impl")
        m.wrap_triton = lambda kernel: kernel
        q = lambda: rand(2, 2048, 16, 128)
        one = scale(1)
        x, k, v = q(), q(), q()
        rest = (1.0, one, one, one, 0.0, 128**-0.5, True, -1, -1, None, None, False, False)
        forward = getattr(m.attention_triton_forward_impl, "_init_fn", m.attention_triton_forward_impl)
        out, sums, _ = forward(x, k, v, *rest)
        backward = getattr(m.attention_triton_backward_impl, "_init_fn", m.attention_triton_backward_impl)
        backward(
            q(), x, k, v, out, one, one, one, 1.0, sums, None, None, None, None, None, 2048, 2048, 128**-0.5, True, -1,
            -1, None, False,
        )  # fmt: skip

    yield "attention", attention


def inverted(places, first, width, num_kv=None):
    """Where each key was chosen, as Primus-Turbo computes it, of a number of keys known without data."""
    flat = places.reshape(-1)
    counts = torch.zeros(num_kv + 1, device=D, dtype=torch.int32)
    counts.scatter_add_(0, (flat + 1).long(), torch.ones_like(flat))
    return counts.cumsum(0).int(), torch.argsort(flat, stable=True).int()


def cases():
    for prefix, part in (
        ("jetfire_", jetfire), ("two4_", two_of_four), ("vector_", vectors), ("primus_", training),
    ):  # fmt: skip
        for name, case in part():
            yield prefix + name, case
