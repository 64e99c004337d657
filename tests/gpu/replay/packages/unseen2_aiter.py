"""AMD's aiter e4048607 for `unseen2`: its Triton kernels, launched without the options that only AMD's compiler knows,
in the configurations of gfx950, whose FP8 is that of NVIDIA's GPUs, too. Of its folder `configs` some `.json` files do.

What comes from vLLM, sglang and flash-linear-attention, and so may have been timed, is left out."""

import functools
import types

import torch
import triton
from triton.runtime.autotuner import Autotuner, Heuristics
from triton.runtime.jit import JITFunction

from packages.common import (
    BF16, D, FP16, FP32, BarePackages, fb, folder_of, fp8, full, ints, leaf, load, rand, scale, starts, stub, whole,
)  # fmt: skip

N, C = 8192, 4096
AMD = ("waves_per_eu", "matrix_instr_nonkdim", "kpack")


def drop_options(kernel):
    """Lets a kernel be launched with AMD's options, which it does not get."""

    def run(*args, **kwargs):
        names = kernel.arg_names
        kwargs = {k: v for k, v in kwargs.items() if k in names or k not in AMD}
        return type(kernel).run(kernel, *args, **kwargs)

    kernel.run = run


@functools.cache
def ready():
    BarePackages("aiter", folder_of("unseen2/aiter"))
    stub("aiter", dtypes=types.SimpleNamespace(fp8=torch.float8_e4m3fn))
    stub("aiter.ops.triton._triton_kernels.flash_attn_triton_amd", flash_attn_2=None)
    stub("aiter.jit.utils.torch_guard", torch_compile_guard=lambda *a, **k: lambda f: f)
    arch = load("aiter.ops.triton.utils._triton.arch_info")
    arch._CACHED_ARCH, arch.is_gluon_avail = "gfx950", lambda: False


def module(name):
    ready()
    m = load("aiter.ops.triton." + name)
    for value in vars(m).values():
        if isinstance(value, (JITFunction, Autotuner, Heuristics)) and "run" not in vars(value):
            drop_options(value)
    return m


def rows(dtype=BF16, width=C):
    return leaf(N, width, dtype=dtype)


def norms():
    m, r = lambda: module("normalization.norm"), lambda: module("normalization.rmsnorm")
    w = lambda: leaf(C)
    empty = lambda dtype=BF16: torch.empty(N, C, device=D, dtype=dtype)
    sums = lambda: torch.empty(N, 1, device=D)
    plain = lambda: rand(N, C)
    yield "aiter_layer_norm", lambda: fb(m().layer_norm(rows(), w(), w()))
    yield "aiter_layer_norm_add", lambda: m().layernorm2d_fwd_with_add(
        empty(), plain(), plain(), empty(), rand(C), rand(C), 1e-5
    )
    yield "aiter_layer_norm_quant", lambda: m().layernorm2d_fwd_with_dynamicquant(
        empty(torch.int8), plain(), sums(), rand(C), rand(C)
    )
    yield "aiter_layer_norm_add_quant", lambda: m().layernorm2d_fwd_with_add_smoothquant(
        empty(torch.int8), plain(), plain(), empty(), scale(C), sums(), rand(C), rand(C)
    )
    yield "aiter_rms_norm", lambda: fb(r().rms_norm(rows(), w(), 1e-6))
    yield "aiter_rms_norm_add", lambda: r().rmsnorm2d_fwd_with_add(empty(), plain(), plain(), empty(), rand(C), 1e-6)
    yield "aiter_rms_norm_quant", lambda: r().rmsnorm2d_fwd_with_dynamicquant(
        empty(torch.int8), plain(), sums(), rand(C), 1e-6
    )
    yield "aiter_rms_norm_add_quant", lambda: r().rmsnorm2d_fwd_with_add_dynamicquant(
        empty(torch.int8), plain(), plain(), empty(), sums(), rand(C), 1e-6
    )
    yield "aiter_rms_norm_many", lambda: r().rmsnorm_forward_inference(rand(4 * N, 1024), rand(1024), 1e-6)
    yield "aiter_rms_norm_pad", lambda: module("normalization.fused_add_rmsnorm_pad").fused_add_rmsnorm_pad(
        rand(N, 2880), rand(2880), 1e-5, rand(N, 2880), 256
    )
    yield "aiter_rms_norm_sum", lambda: module("normalization.fused_rmsnorm_add").fused_rmsnorm_add(
        plain(), rand(C), 1e-6, plain()
    )
    yield "aiter_softmax", lambda: module("softmax").softmax(rand(N, 32000))
    yield "aiter_topk", lambda: module("topk").topk(rand(N, 256, dtype=FP32), 8)


def activations():
    a, q = lambda: module("activation"), lambda name="quant": module("quant." + name)
    for name in ("silu", "gelu"):
        yield "aiter_fp8_" + name, lambda n=name: a().act_mul_and_fp8_group_quant(
            rand(N, 2 * C), n, 128, torch.float8_e4m3fn
        )
    yield "aiter_mxfp4_silu", lambda: a().act_mul_and_mxfp4_quant(rand(N, 2 * C), "silu")
    yield "aiter_silu_mul", lambda: a().fused_silu_mul(rand(N, 2 * C))
    out = lambda: torch.empty(N, C, device=D, dtype=torch.float8_e4m3fn)
    yield "aiter_quant_static", lambda: q().static_per_tensor_quant_fp8_i8(
        out(), rand(N, C), full(0.01, 1, dtype=FP32)
    )
    yield "aiter_quant_tensor", lambda: q().dynamic_per_tensor_quant_fp8_i8(
        out(), rand(N, C), torch.zeros(1, device=D)
    )
    yield "aiter_quant_token", lambda: q().dynamic_per_token_quant_fp8_i8(
        out(), rand(N, C), torch.empty(N, 1, device=D)
    )
    for name in ("mxfp4", "mxfp8", "nvfp4"):
        yield "aiter_quant_" + name, lambda n=name: getattr(q(), f"dynamic_{n}_quant")(rand(N, C))
    fused = lambda: q("fused_fp8_quant")
    yield "aiter_rms_fp8_static", lambda: fused().fused_rms_fp8_per_tensor_static_quant(
        rand(N, C), rand(C), 1e-6, full(0.01, 1, dtype=FP32), res1=rand(N, C), dtype_quant=torch.float8_e4m3fn
    )
    yield "aiter_rms_fp8_group", lambda: fused().fused_rms_fp8_group_quant(
        rand(N, 1536), rand(1536), 1e-6, rand(N, 512), rand(512), 1e-6, dtype_quant=torch.float8_e4m3fn
    )
    yield "aiter_flatten_fp8", lambda: fused().fused_flatten_fp8_group_quant(
        rand(2048, 32, 128), 128, torch.float8_e4m3fn
    )
    yield "aiter_silu_fp8_static", lambda: fused().fused_silu_mul_fp8_per_tensor_static_quant(
        rand(N, 2 * C), full(0.01, 1, dtype=FP32), torch.float8_e4m3fn
    )
    yield "aiter_reduce_act_fp8", lambda: fused().fused_reduce_act_mul_fp8_group_quant(
        rand(4, 512, 2 * C, dtype=FP32), "silu", rand(4, 512, 2048, dtype=FP32), dtype_quant=torch.float8_e4m3fn
    )
    mx = lambda: q("fused_mxfp8_quant")
    yield "aiter_rms_mxfp8", lambda: mx().fused_rms_mxfp8_quant(rand(N, C), rand(C), 1e-6)
    yield "aiter_dual_rms_mxfp8", lambda: mx().fused_dual_rmsnorm_mxfp8_quant(
        rand(N, 1536), rand(N, 512), rand(1536), rand(512), 1e-6
    )
    yield "aiter_flatten_mxfp8", lambda: mx().fused_flatten_mxfp8_quant(rand(2048, 32, 128))
    yield "aiter_clamp_act", lambda: module("fusions.fused_clamp_act_mul").fused_clamp_act_mul(
        rand(N, 2 * C), swiglu_limit=7.0
    )
    yield "aiter_mul_add", lambda: module("fusions.fused_mul_add").fused_mul_add(rand(N, C), 2.0, 1.0)
    yield "aiter_attention_residual", lambda: module("fusions.attn_res").attn_res_fwd(
        rand(C), rand(2048, 8, C), rand(C), rand(C), layout="packed"
    )


def rotary():
    """Half of each head's 128 numbers, in (sequence, batch, heads, width) or tokens."""
    m = lambda: module("rope.rope")
    x = lambda heads=32: rand(2048, 2, heads, 128)
    angles = lambda length=2048: rand(length, 1, 1, 64)
    for name in ("fwd", "bwd"):
        yield "aiter_rope_" + name, lambda n=name: getattr(m(), "rope_" + n)(x(), angles(), 0, True, False)
        yield "aiter_rope_thd_" + name, lambda n=name: getattr(m(), "rope_thd_" + n)(
            rand(N, 32, 128), starts(8, N // 8), angles(N // 8), 0, True, False
        )
        yield "aiter_rope_cached_" + name, lambda n=name: getattr(m(), "rope_cached_" + n)(
            x(), angles(), angles(), 1, True, False
        )
        for heads in (32, 8):
            yield f"aiter_rope_two_{heads}_{name}", lambda n=name, h=heads: getattr(
                m(), "rope_cached_thd_positions_2c_" + n
            )(rand(N, 32, 128), rand(N, h, 128), rand(N, 64), rand(N, 64), ints(N, N), 0, True, False)
    yield "aiter_rope_image", lambda: m().rope_fwd_2d(
        rand(64, 16 * 16, 16, 128), rand(1, 16, 1, 64), rand(1, 16, 1, 64), rand(1, 16, 1, 64), rand(1, 16, 1, 64), 16,
        16, 0, False, False,
    )  # fmt: skip
    qkv = lambda: rand(N, (32 + 8 + 8) * 128)
    yield "aiter_split_rope", lambda: module("rope.fused_qkv_split_qk_rope").fused_qkv_split_qk_rope(
        qkv(), rand(N, 64), rand(N, 64), ints(N, N), 32, 8, 128
    )
    yield "aiter_concat", lambda: module("fusions.fused_qk_concat").fused_qk_cat(
        rand(N, 16, 128), rand(N, 16, 64), rand(N, 1, 128), rand(N, 1, 64)
    )
    yield "aiter_concat_rope", lambda: module("fusions.fused_qk_concat").fused_qk_rope_cat(
        rand(N, 16, 512), rand(N, 16, 64), rand(N, 1, 512), rand(N, 1, 64), ints(N, N), rand(N, 1, 1, 32),
        rand(N, 1, 1, 32), True,
    )  # fmt: skip

    def store():
        module("kv_cache").cat_and_cache_mla(
            rand(N, 1, 512), rand(N, 1, 64), rand(2 * N, 1, 576), torch.randperm(2 * N, device=D)[:N],
            full(1.0, 1, dtype=FP32),
        )  # fmt: skip

    yield "aiter_store_mla", store


def products():
    """4096x4096 matrices and 64 experts."""
    basic = lambda name: module("gemm.basic." + name)
    x, w = lambda rows=2048: rand(rows, C), lambda: rand(C, C, scale=0.02)
    x8, w8 = lambda rows=2048: fp8(rows, C), lambda: fp8(C, C)
    for rows in (64, 2048):
        yield f"aiter_gemm_{rows}", lambda r=rows: basic("gemm_a16w16").gemm_a16w16(x(r), w())
        yield f"aiter_gemm_blocks_{rows}", lambda r=rows: basic("gemm_a8w8_blockscale").gemm_a8w8_blockscale(
            x8(r), w8(), scale(r, 32) * 0.1, scale(32, 32) * 0.1
        )
    yield "aiter_gemm_atomic", lambda: basic("gemm_a16w16_atomic").gemm_a16w16_atomic(
        x(64), w(), FP32, torch.zeros(64, C, device=D)
    )
    yield "aiter_gemm_gated", lambda: basic("gemm_a16w16_gated").gemm_a16w16_gated(x(), w(), activation="silu")
    yield "aiter_gemm_fp8", lambda: basic("gemm_a8w8").gemm_a8w8(x8(), w8(), scale(2048, 1), scale(1, C))
    yield "aiter_gemm_token", lambda: basic("gemm_a8w8_per_token_scale").gemm_a8w8_per_token_scale(
        x8(), w8(), scale(2048, 1), scale(C, 1)
    )
    yield "aiter_gemm_weights", lambda: basic("gemm_a16w8_blockscale").gemm_a16w8_blockscale(
        x(), w8(), scale(32, 32) * 0.1
    )
    batched = lambda name: module("gemm.batched." + name)
    yield "aiter_batched", lambda: batched("batched_gemm_bf16").batched_gemm_bf16(
        rand(16, 512, 1024), rand(16, 1024, 1024, scale=0.03)
    )
    yield "aiter_batched_fp8", lambda: batched("batched_gemm_a8w8").batched_gemm_a8w8(
        fp8(16, 512, 1024), fp8(16, 1024, 1024), scale(16, 512, 1), scale(16, 1, 1024)
    )
    for name in ("gated", "ungated"):
        width = 2 * 2048 if name == "gated" else 2048
        yield "aiter_feed_forward_" + name, lambda n=name, w=width: getattr(
            module("gemm.feed_forward.ff_a16w16_fused_" + n), "ff_a16w16_fused_" + n
        )(rand(64, 2048), rand(w, 2048, scale=0.02), rand(2048, 2048, scale=0.02), activation="silu")
    sizes = lambda: torch.tensor([256 + 32 * (i % 2 * 2 - 1) for i in range(64)], device=D, dtype=torch.int32)
    groups = lambda: module("gmm")
    yield "aiter_gmm", lambda: groups().gmm(rand(16384, 2048), rand(64, 2048, 1536, scale=0.02), sizes())
    for name in ("ptgmm", "nptgmm"):
        yield "aiter_" + name, lambda n=name: getattr(groups(), n)(
            rand(16384, 2048).t().contiguous(), rand(16384, 1536), sizes()
        )

    def align():
        ids, block, experts = whole(64, 4096, 8), 64, 64
        most = ids.numel() + experts * (block - 1)
        module("moe.moe_align_block_size").moe_align_block_size_triton(
            ids, experts, block, full(ids.numel(), most), torch.zeros(-(-most // block), device=D, dtype=torch.int32),
            full(0, 1),
        )  # fmt: skip

    yield "aiter_align", align
    yield "aiter_route", lambda: module("moe.moe_routing_sigmoid_top1_fused").routing_sigmoid_top1(
        rand(2048, 5120), rand(5120, 16, scale=0.02), 1
    )
    yield "aiter_routing", lambda: module("moe.moe_routing.routing").routing(rand(4096, 128, dtype=FP32), 4)


def convolutions():
    m = lambda: module("conv.conv2d")
    image = lambda channels=128: rand(8, channels, 56, 56, dtype=FP16)
    weight = lambda k, channels=128: rand(256, channels, k, k, dtype=FP16, scale=0.05)
    yield "aiter_conv_1x1", lambda: m().conv2d_1x1(image(), weight(1))
    yield "aiter_conv_5x5", lambda: m().conv2d_general(image(), weight(5), padding=(2, 2))
    yield "aiter_conv_3x3_last", lambda: m().conv2d_nhwc_3x3(
        image().contiguous(memory_format=torch.channels_last), weight(3), padding=(1, 1)
    )
    yield "aiter_conv_3x3_blocks", lambda: m().conv2d_nchw_cblocked(image(), weight(3), padding=(1, 1))
    yield "aiter_conv_winograd", lambda: m().conv2d_winograd_f4x3(image(), weight(3), padding=(1, 1))


def attention():
    """Llama's heads, 2 sequences of 2048 or 4 in one row; 64 sequences of up to 4096 in pages of 16."""
    m = lambda: module("attention.mha")
    q = lambda heads=32: leaf(2, 2048, heads, 128)
    where = lambda: starts(4, 1024)

    def flash(fused, varlen=False, **kwargs):
        module("attention.mha_fused_bwd"), module("attention.mha_onekernel_bwd")
        m().mha_set_use_fused_bwd_kernel(fused)
        if varlen:
            x = lambda heads=32: leaf(4096, heads, 128)
            fb(m().flash_attn_varlen_func(x(), x(8), x(8), where(), where(), 1024, 1024, **kwargs))
        else:
            fb(m().flash_attn_func(q(), q(8), q(8), **kwargs))

    for causal in (False, True):
        yield f"aiter_flash_{causal}", lambda c=causal: flash(False, causal=c)
        yield f"aiter_flash_fused_{causal}", lambda c=causal: flash(True, causal=c)
    yield "aiter_flash_varlen", lambda: flash(False, True, causal=True)

    def paged(version, heads):
        batch, longest, page, groups = 64, 4096, 16, 8
        pages = batch * longest // page
        cache = lambda: rand(pages, groups, page, 128)
        tables = torch.randperm(pages, device=D).int().reshape(batch, longest // page)
        lengths = torch.tensor([longest - 40 * i for i in range(batch)], device=D, dtype=torch.int32)
        decode = getattr(module("attention.pa_decode"), "paged_attn_decode_" + version)
        decode(
            rand(batch, heads, 128), rand(batch, heads, 128), cache(), cache(), tables, lengths, longest,
            triton.language.bfloat16, groups, 128**-0.5, None, 1.0, 1.0,
            *((longest // 512,) if version == "v2" else ()),
        )  # fmt: skip

    for version in ("v1", "v2"):
        for heads in (8, 32):
            yield f"aiter_paged_{version}_{heads}", lambda a=(version, heads): paged(*a)


def cases():
    for part in (norms, activations, rotary, products, convolutions, attention):
        yield from part()
