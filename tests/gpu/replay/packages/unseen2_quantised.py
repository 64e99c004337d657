"""Quantised and grouped products of `unseen2`: COAT 80ec99f, xtuner b934f46, AutoAWQ 88e4c76, and of kernels-community
40d4194 finegrained-fp8 and deep-gemm.

The order of atomic operations decides how COAT's sums of gradients and AutoAWQ's split products round, and what the
_scatter_kernel of finegrained-fp8 writes."""

import types

import torch

from packages.common import (
    BF16, D, FP16, FP32, BarePackages, folder_of, fp8, full, ints, load, rand, scale, starts, stub, whole,
)  # fmt: skip
from packages.unseen import plain

N, C, GROUP = 8192, 4096, 16
E4M3, E5M2 = "E4M3", "E5M2"


def coat():
    """Activations of a 7B model in FP8, with a scale of each 16 numbers."""

    def op(name, module=None):
        BarePackages("coat", folder_of("unseen2/coat"))
        return getattr(load("coat.activation.real_quantization." + (module or name.removeprefix("fp8"))), name)

    x = lambda *shape, dtype=BF16: rand(*(shape or (N, C)), dtype=dtype)
    quantised = lambda *shape: op("fp8_quantize")(x(*shape), GROUP, torch.float8_e4m3fn)
    w = lambda: rand(C, dtype=FP32)
    one = lambda: full(0.02, 1, dtype=BF16)
    yield "coat_quantize", quantised
    yield "coat_dequantize", lambda: op("fp8_dequantize")(*quantised(), GROUP)
    for name in ("_perblock", "_perblock_transpose", "_perblock_transpose_pergroup"):
        yield "coat_quantize" + name, lambda n=name: op("fp8_quantize" + n)(x(), 128, E4M3)
    yield "coat_quantize_transpose", lambda: op("fp8_quantize_transpose")(x(), GROUP, E4M3)
    for name in ("_pertensor", "_pertensor_transpose"):
        yield "coat_quantize" + name, lambda n=name: op("fp8_quantize" + n)(x(), GROUP, E4M3)
    yield "coat_transpose", lambda: op("fp8_transpose")(fp8(N, C))

    def norm(name, *weights):
        find = lambda f: op(f"fp8_{name}_{f}", "func_" + name)
        (q, s), arrays = quantised(), [w() for _ in weights]
        saved = find("forward")(q, s, *arrays, GROUP, 1e-6)[-1]
        if name == "rmsnorm":
            find("backward")(q, s, x(), *saved[:2], GROUP, saved[-1])
        else:
            find("backward")(q, s, x(), GROUP, *saved)

    yield "coat_rms_norm", lambda: norm("rmsnorm", "w")
    yield "coat_layer_norm", lambda: norm("layernorm_param", "w", "b")
    yield "coat_layer_norm_bare", lambda: norm("layernorm_noparam")

    def activation(name, *extra):
        op(f"fp8_{name}_forward", name + "_fwd")(*quantised(), GROUP)
        op(f"fp8_{name}_backward", name + "_bwd")(*quantised(), x(), GROUP, E5M2)

    for name in ("silu", "gelu"):
        yield "coat_" + name, lambda n=name: activation(n)

    def multiply():
        op("fp8_mul_forward", "mul_fwd")(*quantised(), *quantised(), GROUP)
        op("fp8_mul_backward", "mul_bwd")(*quantised(), *quantised(), x(), GROUP, E5M2)

    yield "coat_mul", multiply

    def add():
        op("fp8_add_Ifp_Ifp_Ofp_Og16", "add_fwd")(x(), x(), torch.float8_e4m3fn, GROUP)
        op("fp8_add_Ifp_Ifp_Ofp_Opt", "add_bwd")(x(), x(), GROUP, E5M2)

    yield "coat_add", add

    def linear(quantise):
        op("fp8_linear_forward", "linear")(fp8(4096, C), one(), fp8(C, C), one(), quantise, GROUP)

    for quantise in (True, False):
        yield f"coat_linear_{quantise}", lambda q=quantise: linear(q)

    def fake():
        BarePackages("coat", folder_of("unseen2/coat"))
        load("coat.activation.fake_quantization.FloatPointQuantizeTriton").floatExMy_quantize_triton(
            x(dtype=FP32), 4, 3, False
        )

    yield "coat_fake", fake


def expert_sizes(experts, mean, dtype=torch.int64):
    """Tokens of each expert, equal in pairs."""
    half = [13 * i % (mean // 2) for i in range(experts // 2)]
    return torch.tensor([mean + (i % 2 * 2 - 1) * half[i // 2] for i in range(experts)], device=D, dtype=dtype)


def xtuner():
    """Experts of Qwen3-30B-A3B: 128 of 2048x768, 16384 rows."""

    def module(name):
        BarePackages("xtuner", folder_of("unseen2/xtuner"))
        stub("xtuner.v1.utils", maybe_compile=lambda f: f)
        m = plain(load("xtuner.v1." + name))
        vars(m).pop("_", None)  # a function that kernels' loop variables of that name would seem to be
        return m

    moe = lambda name: module("ops.moe.cuda.triton_kernels." + name)
    quantise = lambda name: getattr(module("float8.triton_kernels." + name), name)
    sizes = lambda: expert_sizes(128, 128)
    for transposed in (False, True):
        shape = (128, 1536, 2048) if transposed else (128, 2048, 1536)
        yield f"xtuner_grouped_{transposed}", lambda t=transposed, s=shape: moe(
            "m_grouped_gemm_TMA_triton3_4"
        ).m_grouped_gemm(rand(16384, 2048), rand(*s, scale=0.02), sizes(), t)
    yield "xtuner_grouped_k", lambda: moe("k_grouped_gemm_TMA_triton3_4").k_grouped_gemm(
        rand(16384, 2048), rand(16384, 768), sizes()
    )
    for name in ("per_block_quant_gemm", "per_tile_quant", "trans_per_block_quant_gemm", "trans_per_tile_quant_gemm"):
        yield "xtuner_" + name, lambda n=name: quantise(n)(rand(N, C))
    yield "xtuner_expand_block", lambda: module(
        "float8.triton_kernels.trans_quant_per_block"
    ).trans_per_block_quant_expand_128x(rand(16384, 2048), sizes())
    yield "xtuner_expand_tile", lambda: module(
        "float8.triton_kernels.trans_quant_per_tile"
    ).trans_per_tile_quant_expand_128x(rand(16384, 2048), sizes())


def hub():
    """finegrained-fp8's products, of experts, too, and deep-gemm's Triton products of groups."""
    ops = types.SimpleNamespace()  # torch.ops of a package whose operators are its functions

    def fine(name):
        BarePackages("finegrained_fp8", folder_of("unseen2/hub/finegrained-fp8/torch-ext"))
        stub("finegrained_fp8._ops", add_op_namespace_prefix=lambda n: "finegrained_fp8::" + n, ops=ops)
        tuner = load("finegrained_fp8.bayesian_autotuner").BayesianAutotuner
        if "run" in vars(tuner):
            del tuner.run  # which times; Triton's takes its place
        for each in ("utils", "matmul", "batched", "grouped", "fused_batched"):
            part = plain(load("finegrained_fp8." + each))
            ops.__dict__.update({k[1:]: v for k, v in vars(part).items() if k.startswith("_") and callable(v)})
        return load("finegrained_fp8." + name)

    weights = lambda *shape: fp8(*shape)
    blocks = lambda *shape: scale(*shape) * 0.01
    exponents = lambda *shape: ints(6, *shape, dtype=torch.uint8) + 118
    packed = lambda *shape: ints(256, *shape, dtype=torch.uint8).view(torch.int8)
    rows, k, n = 512, 4096, 4096
    block = [128, 128]
    matmul = lambda *a, **kw: fine("matmul").matmul_2d(rand(rows, k), *a, BF16, **kw)
    yield "fine_block", lambda: matmul(weights(n, k), blocks(n // 128, k // 128), block)
    yield "fine_tensor", lambda: matmul(weights(n, k), blocks(1), None)
    yield "fine_static", lambda: matmul(
        weights(n, k), blocks(n // 128, k // 128), block, activation_scale=full(0.05, 1, dtype=FP32)
    )
    yield "fine_mxfp8", lambda: matmul(weights(n, k), exponents(n, k // 32), None)
    yield "fine_mxfp4", lambda: matmul(packed(n, k // 2), exponents(n, k // 32), None)
    experts, inner, hidden = 64, 768, 2048
    up = lambda kind: {
        "block": (weights(experts, inner, hidden), blocks(experts, inner // 128, hidden // 128)),
        "tensor": (weights(experts, inner, hidden), blocks(experts)),
        "mxfp8": (weights(experts, inner, hidden), exponents(experts, inner, hidden // 32)),
    }[kind]
    size = lambda kind: block if kind == "block" else None
    for kind in ("block", "tensor", "mxfp8"):
        yield "fine_batched_" + kind, lambda d=kind: fine("batched").matmul_batched(
            rand(64, hidden), *up(d), whole(experts, 64), size(d), BF16
        )

        def grouped(kind=kind):
            tokens = expert_sizes(experts, 128, torch.int32)
            fine("grouped").matmul_grouped(
                rand(experts * 128, hidden), *up(kind), tokens.cumsum(0).int(), tokens, size(kind), BF16
            )

        yield "fine_grouped_" + kind, grouped

    def layer(name, tokens):
        chosen = torch.rand(tokens, experts, device=D).topk(8)
        getattr(fine("fused_" + name), f"w8a8_block_dynamic_fp8_moe_{name}")(
            rand(tokens, hidden), chosen.indices, chosen.values, weights(experts, 2 * inner, hidden),
            weights(experts, hidden, inner), blocks(experts, 2 * inner // 128, hidden // 128),
            blocks(experts, hidden // 128, inner // 128), block,
        )  # fmt: skip

    yield "fine_experts_batched", lambda: layer("batched", 16)
    yield "fine_experts_grouped", lambda: layer("grouped", 2048)

    def deep(name):
        BarePackages("deep_gemm", folder_of("unseen2/hub/deep-gemm/torch-ext"))
        stub("deep_gemm._C", get_mk_alignment_for_contiguous_layout=lambda: 128)
        return load("deep_gemm.legacy." + name)

    groups, m = 32, 8192
    owner = lambda: torch.arange(m, device=D, dtype=torch.int32) // (m // groups)
    w = lambda: rand(groups, 1536, 2048, scale=0.02)
    for name in ("nt", "nn"):
        yield "deep_m_" + name, lambda n=name: getattr(
            deep("m_grouped_gemm"), f"m_grouped_bf16_gemm_{n}_contiguous_tl"
        )(rand(m, 2048), w() if n == "nt" else w().mT.contiguous(), rand(m, 1536), owner())
    yield "deep_a_fused_m", lambda: deep("a_fused_m_grouped_gemm").a_fused_m_grouped_bf16_gemm_nt_contiguous_tl(
        rand(2048, 2048), w(), rand(m, 1536), (owner(), whole(2048, m))
    )

    def reduced(first):
        ends = starts(groups, m // groups)
        handle = (whole(2048, m), ends[:-1].contiguous(), ends[1:].contiguous())
        a, b = (rand(2048, 1536), rand(m, 768)) if first else (rand(m, 1536), rand(2048, 768))
        name = "a" if first else "b"
        getattr(deep(name + "_fused_k_grouped_gemm"), name + "_fused_k_grouped_bf16_gemm_tn_contiguous_tl")(
            a, b, torch.empty(groups, 1536, 768, device=D), handle, False
        )

    for first in (True, False):
        yield f"deep_k_{first}", lambda f=first: reduced(f)


def awq():
    def product(rows, splits):
        BarePackages("awq", folder_of("unseen2/awq"))
        words = lambda *shape: ints(1 << 31, *shape, dtype=torch.int32)
        load("awq.modules.triton.gemm").awq_gemm_triton(
            rand(rows, 4096, dtype=FP16), words(4096, 11008 // 8), rand(32, 11008, dtype=FP16, scale=0.01),
            words(32, 11008 // 8), splits,
        )  # fmt: skip

    for rows, splits in ((16, 8), (512, 1)):
        yield f"awq_{rows}", lambda a=(rows, splits): product(*a)


def cases():
    for part in (coat, xtuner, hub, awq):
        yield from part()
