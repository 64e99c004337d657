"""Inference of language and video models of `unseen4`: FLASHNN 528a930, ExecuTorch cff6f4dd32, comfy-kitchen 7d86acf
and LightX2V f8aee98b.

Left out: FLASHNN's products that split K in 16 bits, what it has of vLLM and lightllm, its attention whose kernel reads
a variable of its module, and its penalties, which read addresses that they take as numbers; ExecuTorch's gated delta
rule, which is flash-linear-attention's; what LightX2V has of KIVI, sglang, Sparse-VideoGen 2, SLA and SageAttention,
and shares with comfy-kitchen; and comfy-kitchen's numbers of 4 bits, which only Blackwell has an instruction for.
Several kernels of LightX2V and comfy-kitchen write over their inputs."""

import torch

from packages.common import BF16, D, FP16, FP32, bare_of, bytes_, fp8, full, ints, load, rand, scale, stub, whole

bare = bare_of("unseen4")


def eight(*shape):
    """8-bit integers of both signs."""
    return ints(256, *shape).sub(128).to(torch.int8)


def half(*shape, scale=1.0):
    return rand(*shape, dtype=FP16, scale=scale)


def flashnn():
    """Prompts of 2,048 tokens, then 32 sequences of 4,096 in blocks of 16; 64 experts of which a token has 8."""
    bare("flashnn", "flashnn")
    kernels = lambda name: load("flashnn.triton_kernels." + name)
    q = lambda heads=32: half(2, 2048, heads, 128)
    x = lambda width=4096: half(8192, width)

    def quantise():
        out, factors = torch.empty(8192, 4096, device=D, dtype=torch.int8), torch.empty(8192, 1, device=D, dtype=FP32)
        kernels("dynamic_quant").triton_dynamic_quantize(out, x(), factors)

    yield "quantise", quantise
    yield "attention", lambda: kernels("flash_attn_v2").triton_flash_attention_forward(q(), q(8), q(8), True)
    yield "layer_norm", lambda: kernels("layer_norm").triton_layer_norm_forward(x(), half(4096), half(4096), 1e-5)
    yield (
        "layer_norm_quantise",
        lambda: kernels("layer_norm_dquant").triton_layer_norm_dquant_forward(x(), half(4096), half(4096), 1e-5),
    )
    yield "rms_norm_quantise", lambda: kernels("rms_norm_dquant").triton_rmsnorm_dquant_forward(x(), half(4096), 1e-5)
    yield (
        "a8w8",
        lambda: kernels("gemm_a8w8").triton_gemm_a8w8_forward(
            half(2048, 4096), eight(2048, 4096), eight(4096, 4096),
            half(2048, 1, scale=0.05).abs(), half(1, 4096, scale=0.05).abs(),
        ),
    )  # fmt: skip
    tokens, experts, chosen, size = 512, 64, 8, 32
    each = tokens * chosen // experts
    sort = lambda: torch.randperm(tokens * chosen, device=D).int()
    blocks = lambda: torch.arange(tokens * chosen // size, device=D).mul(size).div(each, rounding_mode="floor").int()
    routes = lambda: (
        half(tokens, chosen).abs(), ints(experts, tokens, chosen), sort(), blocks(), full(tokens * chosen, 1), True,
        chosen, size,
    )  # fmt: skip

    def four_bits(*groups):
        kernels("fused_moe_a16w4").fused_moe_a16w4_forward(
            half(tokens, 2048), eight(experts, 512, 2048), half(tokens, chosen, 1024),
            half(experts, 1024, *groups, scale=0.02), eight(experts, 1024, *groups) // 32, *routes(),
        )  # fmt: skip

    yield "experts_a16w4", lambda: four_bits()
    yield "experts_a16w4_groups", lambda: four_bits(2048 // 64)
    yield (
        "experts_a8w8",
        lambda: kernels("fused_moe_a8w8").fused_moe_a8w8_forward(
            eight(tokens, 2048), eight(experts, 1024, 2048), half(tokens, chosen, 1024),
            half(tokens, scale=0.05).abs(), half(experts, 1024, scale=0.05).abs(), *routes(),
        ),
    )  # fmt: skip
    sequences, length, block = 32, 4096, 16
    cache = lambda heads: half(sequences * length // block, heads, block, 128)
    table = lambda: torch.randperm(sequences * length // block, device=D).int().view(sequences, -1)

    def paged(kv_heads, **options):
        kernels("paged_attn").paged_attention(
            half(sequences, 32, 128), half(sequences, 32, 128), cache(kv_heads), cache(kv_heads),
            full(4000, sequences), table(), 128**-0.5, length, **options,
        )  # fmt: skip

    yield "paged_groups", lambda: paged(8, num_splits=8)
    yield "paged_heads", lambda: paged(32, num_splits=8)
    yield "paged_heads_whole", lambda: paged(32)
    heads = lambda: torch.arange(32, device=D).int()
    single = lambda: (half(sequences, 32, 128), half(sequences, 32, 128), cache(32), cache(32), heads(), 128**-0.5)
    yield (
        "single",
        lambda: kernels("paged_attn_v1").triton_paged_attention_v1(*single(), table(), full(4000, sequences)),
    )


def executorch():
    """Qwen3.5's experts (256, of which a token has 8) and its attention; 4-bit weights in groups of 32 or 128."""
    bare("executorch", "executorch")
    kernels = lambda name: load("executorch.backends.cuda.triton.kernels." + name)
    yield (
        "delta_step",
        lambda: kernels("fused_deltanet_decode").fused_deltanet_decode(
            rand(1, 2 * 2048 + 4096), rand(1, 32), rand(1, 32), rand(32, dtype=FP32), rand(32), rand(1, 32, 128, 128)
        ),
    )

    def experts(tokens, name, group=32, **options):
        count, chosen, width, hidden = 256, 8, 2048, 512
        getattr(kernels("fused_moe"), name)(
            rand(tokens, width),
            eight(count, 2 * hidden, width // 2), scale(count, 2 * hidden, width // group).to(BF16),
            eight(count, width, hidden // 2), scale(count, width, hidden // group).to(BF16),
            torch.rand(tokens, chosen, device=D), torch.rand(tokens, count, device=D).topk(chosen).indices, chosen,
            count, group, **options,
        )  # fmt: skip

    yield "experts", lambda: experts(1, "fused_moe")
    yield "experts_prompt", lambda: experts(1024, "fused_moe_batched_gemm")
    yield "experts_prompt_int8", lambda: experts(1024, "fused_moe_batched_gemm_int8")
    weight = lambda: (eight(4096, 2048), scale(4096, 32).to(BF16), 128)
    yield "int4", lambda: kernels("int4_matmul").int4_matmul(rand(512, 4096), *weight())
    yield "int4_token", lambda: kernels("int4_matmul").int4_matvec(rand(1, 4096), *weight())
    yield "int4_token_rounded", lambda: kernels("int4_matmul").int4_matvec_bf16(rand(1, 4096), *weight())
    yield "int4_weights", lambda: kernels("int4_matmul").dequant_w4_to_bf16(*weight())
    yield "topk", lambda: kernels("topk").topk(rand(1024, 256), 8)
    q = lambda length, heads=16, width=256: rand(1, heads, length, width)
    keys = lambda width=256: (rand(1, 2, 4096, width), rand(1, 2, 4096, width))
    attend = lambda *args, **options: kernels("sdpa").sdpa(*args, enable_gqa=True, **options)
    yield "prompt", lambda: attend(q(4096), *keys(), is_causal=True)
    yield "prompt_96", lambda: attend(q(4096, width=96), *keys(96), is_causal=True)
    mask = lambda length: torch.ones(1, 1, length, 4096, device=D, dtype=torch.bool)
    yield "token", lambda: attend(q(1), *keys(), attn_mask=mask(1), kv_len=full(4000, 1))
    yield "drafts", lambda: attend(q(4), *keys(), attn_mask=mask(4), kv_len=full(4000, 1))

    def packed(length, **options):
        kernels("tq4_sdpa").tq4_sdpa(
            q(length), bytes_(1, 2, 4096, 128), rand(1, 2, 4096, 1).abs(), bytes_(1, 2, 4096, 128),
            rand(1, 2, 4096, 1).abs(), rand(16, dtype=FP32), rand(256, 256, dtype=FP32, scale=1 / 16), **options,
        )  # fmt: skip

    yield "packed_prompt", lambda: packed(4096, is_causal=True)
    yield "packed_token", lambda: packed(1, kv_len=full(4000, 1))


def kitchen():
    """comfy-kitchen: 4,096 tokens of 3,072 features, and video of 16 frames of 32 by 32 patches."""
    bare("comfy_kitchen", "kitchen")
    kernels = lambda name: load("comfy_kitchen.backends.triton." + name)
    x, factor = lambda width=3072: rand(4096, width), lambda: scale(1)
    modulation = lambda: (rand(1, 4096, 3072), rand(1, 1, 3072), rand(1, 1, 3072))
    yield "adaln", lambda: kernels("adaln").adaln(*modulation())
    yield "rms_adaln", lambda: kernels("adaln").rms_adaln(*modulation())
    video = lambda: rand(1, 16, 32, 32, 8, 64)
    yield "neighbours", lambda: kernels("na").na3d(video(), video(), video(), [3, 7, 7])
    heads, angles = lambda: rand(1, 24, 4096, 128), lambda: rand(1, 1, 4096, 64, 2, 2, dtype=FP32)
    yield "norm_rope", lambda: kernels("rms_rope").rms_rope1(heads(), angles(), rand(128))
    yield "norm_rope_halves", lambda: kernels("rms_rope").rms_rope_split_half1(heads(), angles(), rand(128))
    yield "rope", lambda: kernels("rope").apply_rope(heads(), heads(), angles())
    yield "rope_halves", lambda: kernels("rope").apply_rope_split_half1(heads(), angles())
    quant = lambda: kernels("quantization")
    yield "fp8", lambda: quant().quantize_per_tensor_fp8(x(), factor())
    yield "from_fp8", lambda: quant().dequantize_per_tensor_fp8(fp8(4096, 3072), factor())
    yield "mxfp8", lambda: quant().quantize_mxfp8(x())
    yield "int8", lambda: quant().int8_linear(x(), eight(12288, 3072), factor(), rand(12288))
    yield "int8_rows", lambda: quant().int8_linear(x(), eight(12288, 3072), scale(12288))
    yield (
        "w4a8",
        lambda: kernels("w4a8_int8")._dequant_int4_grouped_to_int8(
            bytes_(12288, 1536), scale(12288, 192), rand(16, dtype=FP32), 16
        ),
    )


def video():
    """LightX2V: 21 frames of 30 by 52 patches; 40 heads of 128 features, which 8 GPUs share."""
    frames, rows, columns, heads, width = 21, 30, 52, 40, 128
    tokens = frames * rows * columns
    x = lambda count=heads: rand(tokens, count, width)

    def kernels(name):
        bare("lightx2v", "lightx2v")
        stub("lightx2v.utils")
        stub("lightx2v.utils.registry_factory", ATTN_WEIGHT_REGISTER=lambda name: lambda c: c)
        stub("lightx2v.common.ops.attn.template", AttnWeightTemplate=object)
        return load("lightx2v." + name)

    cache = lambda: kernels("common.kvcache.kernel")
    yield (
        "roll",
        lambda: cache().k_int8_roll_rescale_triton(
            eight(tokens, heads, width), eight(tokens, heads, width), scale(tokens, heads), scale(tokens, heads)
        ),
    )
    yield "values_fp8", lambda: cache().quant_value_per_channel_fp8_static_scale_kernel(x(), scale(heads, width))
    codes = lambda *shape: whole(1 << 31, *shape)
    yield (
        "unpack",
        lambda: cache().unpack_and_dequant_cache_triton(
            codes(1, 12, width, 2048), half(1, 12, width, 128).abs(), half(1, 12, width, 128), 64, 8
        ),
    )
    yield (
        "unpack_ring",
        lambda: cache().kivi_dequant_ring_nhd_triton(
            codes(12, width, 2048), half(12, width, 128).abs(), half(12, width, 128), [(6000, 8192), (0, 6000)], 64, 8
        ),
    )
    layout = lambda: kernels("common.ops.attn.kernels.ulysses_layout")
    local = lambda count=4096: rand(count, heads, width)
    sent = lambda *shape, dtype=BF16: rand(8, *shape).to(dtype)
    text = lambda: (local(512), local(512), local(512), 1, 512, True)
    yield "split", lambda: layout().qkv_pre(local(), local(), local(), 8)
    yield "split_fp8", lambda: layout().qkv_pre_fp8(local(), local(), local(), 8)
    for only in (False, True):
        yield (
            f"join_{only}",
            lambda o=only: layout().qkv_post(sent(4096, 3, 5, width), *text(), q_only=o),
        )
        shapes = (8, 4096, 3, 5, width), (8, 4096, 3, 5, 1)
        yield (
            f"join_fp8_{only}",
            lambda o=only, s=shapes: layout().qkv_post_fp8(fp8(*s[0]), scale(*s[1]), *s, *text(), q_only=o),
        )
    yield "send", lambda: layout().attn_pre(rand(8 * 4096, 5 * width), 4096, 8, 5, width)
    yield "send_fp8", lambda: layout().attn_pre_fp8(rand(8 * 4096, 5 * width), 4096, 8, 5, width)
    yield "receive", lambda: layout().attn_post(sent(5, 4096, width))
    back = (8, 5, 4096, width), (8, 5, 4096, 1)
    yield "receive_fp8", lambda: layout().attn_post_fp8(fp8(*back[0]), scale(*back[1]), *back, BF16)
    moved = lambda: rand(1, heads, tokens, width)
    temporal = lambda: ints(2, 1, heads)
    svg = lambda: kernels("common.ops.attn.svg_attn")
    yield (
        "placed",
        lambda: svg().wan_sparse_head_placement(
            moved(), moved(), moved(), moved(), moved(), moved(), temporal(), 0, frames, rows * columns
        ),
    )
    yield (
        "moved_back",
        lambda: svg().wan_hidden_states_placement(moved(), moved(), temporal(), 0, frames, rows * columns),
    )
    gemm = lambda: kernels("common.ops.mm.triton_kernels")
    a, b = lambda of: of(4096, 5120), lambda of: of(5120, 5120)
    factors = lambda: (scale(4096), scale(5120))
    yield "int8", lambda: gemm().int8_gemm_triton(a(eight), b(eight), *factors(), output_dtype=BF16)
    yield "int8_gelu", lambda: gemm().int8_gemm_bias_triton(a(eight), b(eight), rand(5120), *factors(), True, BF16)
    yield "fp8", lambda: gemm().fp8_gemm_triton(a(fp8), b(fp8), *factors(), output_dtype=BF16)
    yield "fp8_bias", lambda: gemm().fp8_gemm_bias_triton(a(fp8), b(fp8), rand(5120), *factors(), output_dtype=BF16)
    yield "quantise_int8", lambda: gemm().int8_quantize_triton(rand(4096, 5120))
    yield "quantise_fp8", lambda: gemm().fp8_quantize_triton(rand(4096, 5120))
    norm = lambda: kernels("common.ops.norm.triton_ops")
    yield "norm", lambda: norm().norm_infer(rand(4096, 5120), rand(5120), rand(5120), 1e-6)
    yield (
        "query_key_norm",
        lambda: norm().fused_qk_rms_norm(rand(4096, 5120), rand(4096, 5120), rand(5120), rand(5120)),
    )
    angles = lambda: tuple(rand(1, 4096, size) for size in (64, 64, 32, 32, 32, 32))
    yield (
        "norm_rope",
        lambda: norm().fused_qk_norm_3drope(
            rand(4096, 32, width), rand(4096, 8, width), rand(64), rand(64), rand(64), rand(64), *angles()
        ),
    )
    wan = lambda: kernels("models.networks.wan.infer.triton_ops")
    turns = lambda: torch.polar(torch.ones(1024, 64, device=D), torch.rand(1024, 64, device=D))
    yield (
        "audio_rope",
        lambda: wan().apply_audio_cache_rope(
            x(), turns(), h=rows, w=columns, token_start=0, ref_tokens=rows * columns, local_per_frame=rows * columns
        ),
    )
    yield (
        "causal_rope",
        lambda: wan().causal_rope_apply_triton(
            x()[None], torch.tensor([[frames, rows, columns]], device=D), turns(), start_frame=3
        ),
    )
    qwen = lambda: kernels("models.networks.qwen_image.infer.triton_ops")
    six = lambda count: tuple(rand(1, 3072) for _ in range(count))
    picked = lambda: whole(2, 1, 4096)
    yield "select", lambda: qwen().fuse_scale_shift_select01_kernel(rand(1, 4096, 3072), *six(4), picked())
    yield "select_gate", lambda: qwen().fuse_scale_shift_gate_select01_kernel(rand(1, 4096, 3072), *six(6), picked())
    yield (
        "modulate",
        lambda: kernels("models.networks.ltx2.infer.triton_ops").fused_rmsnorm_modulate(
            rand(1, 4096, 4096), rand(1, 4096, 4096), rand(1, 4096, 4096), rand(4096)
        ),
    )


def cases():
    for prefix, part in (
        ("flashnn_", flashnn), ("executorch_", executorch), ("kitchen_", kitchen), ("lightx2v_", video)
    ):  # fmt: skip
        for name, case in part():
            yield prefix + name, case
