"""lmdeploy's kernels that work token by token: norms, quantised products, experts, sampling, a step's bookkeeping."""

import torch

from packages.common import BF16, D, FP16, FP32, fp8, ints, rand, scale, starts, whole

N, H, V = 8192, 4096, 128256


def eight(*shape):
    """8-bit integers of both signs."""
    return (ints(255, *shape) - 127).to(torch.int8)


def routes(tokens, experts, top):
    """The weights and numbers of each token's experts; some experts are liked more than others."""
    scores = torch.randn(tokens, experts, device=D) + 0.5 * torch.randn(experts, device=D)
    return scores.softmax(-1).topk(top)


def normed(k, _):
    norm, tokens = k("rms_norm").rms_norm, rand(N, H)
    norm(tokens, rand(H), 1e-5, residual=rand(N, H))
    norm(rand(1, N * 32, 128), rand(128), 1e-6)  # of each head


def rotated(k, _):
    rotate = k("apply_rotary_pos_emb").apply_rotary_pos_emb
    rotate(rand(N, 32, 128), rand(N, 8, 128), rand(N, 128), rand(N, 128))
    rotate(rand(N, 16, 64), rand(N, 1, 64), rand(N, 32), rand(N, 32), complex_mode=True)


def activated(k, _):
    k("activation").silu_and_mul(rand(N, 2 * 14336))
    masked = whole(256, 32)
    k("activation").silu_and_mul_masked_post_quant_fwd(
        rand(32, 256, 4096), fp8(32, 256, 2048), scale(32, 256, 16), 128, masked
    )


def awq(tokens, wide):
    def case(k, _):
        packed = lambda rows: whole(1 << 31, rows, wide // 8)
        k("awq_kernels").awq_linear(
            rand(tokens, H, dtype=FP16), packed(H), rand(H // 128, wide, dtype=FP16, scale=0.01), packed(H // 128)
        )

    return case


def lora(k, _):
    """Four adapters of ranks 8 to 64 in one batch, for prompts and for tokens one by one."""
    ranks = torch.tensor([0, 8, 16, 64, 32], device=D)
    first = ranks.cumsum(0) - ranks
    factors = rand(120, H, scale=0.02), rand(120, H, scale=0.02)
    for count, length in ((8, 1024), (128, 1)):
        k("fused_lora").fused_lora(
            rand(count * length, H),
            *factors,
            torch.ones(5, device=D, dtype=torch.int64),
            first,
            ranks,
            starts(count, length)[:-1],
            torch.full((count,), length, device=D, dtype=torch.int32),
            ints(5, count),
            64,
            length,
            output=rand(count * length, H),
            cum=True,
        )


def blocked_product(k, _):
    """DeepSeek-V3's products in fp8 with a factor for each block of 128 by 128."""
    blocked = k("blocked_gemm_fp8")
    for tokens, deep, wide in ((4096, 7168, 4096), (128, 2048, 7168)):
        x, factors = blocked.quant_fp8(rand(tokens, deep), 128, trans_scale=True)
        blocked.blocked_gemm_fp8(
            x, factors, fp8(wide, deep).t(), scale(wide // 128, deep // 128).t() * 0.02, out_dtype=BF16
        )


def whole_product(kind):
    """A product with a factor for each token and each channel, after a norm that quantises."""

    def case(k, _):
        rows, weights = k("w8a8_triton_kernels"), eight if kind == torch.int8 else fp8
        x, factors = rows.rms_norm_dynamic_quant(rand(N, H), rand(H), 1e-5, quant_dtype=kind)
        rows.matmul_kernel_dynamic_quant(x, weights(6144, H), factors, scale(6144, 1) * 0.01, output_dtype=BF16)
        x, factors, rest = rows.rms_norm_dynamic_quant(rand(N, H), rand(H), 1e-5, rand(N, H), quant_dtype=kind)
        x, factors = rows.per_token_quant_int8(rand(N, H), 1e-7, quant_dtype=kind)
        rows.matmul_kernel_dynamic_quant(
            x, weights(H, H), factors, scale(H, 1) * 0.01, residual=rest, output_dtype=BF16
        )

    return case


def experts(tokens):
    """Qwen3-30B-A3B: 128 experts, 8 for each token."""

    def case(k, _):
        w1, w2 = rand(128, 1536, 2048, scale=0.02), rand(128, 2048, 768, scale=0.02)
        k("moe.fused_moe").fused_moe(rand(tokens, 2048), w1, w2, *routes(tokens, 128, 8), 8, renormalize=True)

    return case


def experts_w8a8(k, _):
    tokens = 1024
    x, factors = k("w8a8_triton_kernels").per_token_quant_int8(rand(tokens, 2048), 1e-7)
    k("moe.w8a8").fused_moe_w8a8(
        x,
        factors,
        eight(128, 1536, 2048),
        scale(128, 1536, 1) * 0.001,
        eight(128, 2048, 768),
        scale(128, 2048, 1) * 0.001,
        *routes(tokens, 128, 8),
        8,
        out_dtype=BF16,
        renormalize=True,
    )


def experts_fp8(tokens, wide, deep):
    """256 experts with a factor for each block of 128 by 128; DeepSeek-V3's, over eight GPUs, are 256 wide."""

    def case(k, _):
        x, factors = k("blocked_gemm_fp8").quant_fp8(rand(tokens, deep), 128)
        k("moe.blocked_fp8").fused_moe_blocked_fp8(
            x,
            factors,
            fp8(256, 2 * wide, deep),
            scale(256, 2 * wide // 128, deep // 128) * 0.02,
            fp8(256, deep, wide),
            scale(256, deep // 128, wide // 128) * 0.02,
            *routes(tokens, 256, 8),
            8,
            out_dtype=BF16,
            renormalize=True,
        )

    return case


def experts_int4(tokens):
    """Experts whose weights are 4 bits, with a factor for each 32."""

    def case(k, _):
        k("compressed_tensors_w4a16").fused_moe_w4a16(
            rand(tokens, 2048),
            whole(1 << 31, 128, 1536, 256),
            rand(128, 1536, 64, scale=0.01),
            whole(1 << 31, 128, 2048, 96),
            rand(128, 2048, 24, scale=0.01),
            *routes(tokens, 128, 8),
            8,
            renormalize=True,
        )

    return case


def experts_fp4(k, _):
    """DeepSeek-V4's weights of 4 bits, with a power of two for each 32; 32 experts of a GPU."""
    tokens, wide, deep = 512, 2048, 4096
    powers = lambda *shape: (ints(4, *shape) + 117).to(torch.uint8).view(torch.float8_e8m0fnu)
    x, factors = k("blocked_gemm_fp8").quant_fp8(rand(tokens, deep), 128, scale_fmt="ue8m0")
    k("moe.v4_fp4").fused_moe_v4_fp4(
        x,
        factors,
        ints(256, 32, 2 * wide, deep // 2, dtype=torch.uint8),
        powers(32, 2 * wide, deep // 32),
        ints(256, 32, deep, wide // 2, dtype=torch.uint8),
        powers(32, deep, wide // 32),
        *routes(tokens, 32, 6),
        6,
        out_dtype=BF16,
        renormalize=True,
        swiglu_limit=10.0,
    )


def scattered(k, _):
    """Tokens go to this GPU's 32 of 256 experts, each of which begins at a multiple of 128, and come back."""
    tokens, deep, local = 4096, 7168, 32
    weights, chosen = routes(tokens, 256, 8)
    chosen = torch.where(chosen < local, chosen, -1)
    count = (chosen[..., None] == torch.arange(local, device=D)).sum((0, 1))
    count = ((count + 127) // 128 * 128).to(torch.int32)
    room = tokens * 8 + local * 128
    numbers = torch.empty(room, device=D, dtype=torch.int32)
    where, firsts = torch.zeros_like(chosen), torch.empty_like(count)
    out = rand(room, deep)
    k("moe.ep").ep_scatter(rand(tokens, deep), chosen, count, firsts, out, numbers, where)
    k("moe.ep").ep_gather(out, chosen, weights, where, rand(tokens, deep))
    small, factors = k("blocked_gemm_fp8").per_token_group_quant_fp8(rand(tokens, deep), 128)
    k("moe.ep_fp8").ep_scatter_fp8(
        small, factors, chosen, count, firsts, fp8(room, deep), scale(room, deep // 128), numbers, where
    )


def routed(k, _):
    k("moe.route_noaux_tc").fused_noaux_tc_routing(rand(4096, 256, dtype=FP32), rand(256, dtype=FP32))
    k("moe.route_single_group").fused_single_group_topk_router(
        torch.rand(4096, 192, device=D),
        torch.rand(192, device=D),
        num_experts=192,
        top_k=8,
        routed_scaling_factor=2.5,
    )


def gated(k, _):
    """Qwen3-Next's gated delta rule."""
    a = lambda: rand(1, N, 32)
    where = torch.zeros(N, device=D, dtype=torch.bool)
    k("gated_delta_preprocess").gated_delta_preprocess(
        rand(1, N, 16, 128), rand(1, N, 16, 128), a(), a(), rand(32), -scale(32), 2, init_token_mask=where
    )


def hyper(k, _):
    """DeepSeek-V4's four streams of a token become one, and one becomes four."""
    streams, one = rand(4096, 4, H), rand(4096, 4, dtype=FP32)
    k("dsv4.hc_prepost").hc_pre_reduce(streams, one, 4)
    k("dsv4.hc_prepost").hc_post_expand(rand(4096, H), streams, one, rand(4096, 4, 4, dtype=FP32), 4)


def sampled(k, _):
    scores = rand(256, V, dtype=FP32, scale=2.0).softmax(-1).sort(descending=True)
    k("multinomial_sampling").multinomial_sampling(scores[0], ints(1 << 31, 256), ints(4096, 256), scores[1])


def speculated(k, _):
    """Three tokens guessed for each of 64 sequences."""
    batch, ahead, rejection = 64, 3, k("rejection_sampling")
    guessed, right = ints(V, batch, ahead), ints(V, batch, ahead + 1)
    right = torch.where(torch.rand(batch, ahead + 1, device=D) < 0.7, torch.cat((guessed, guessed[:, :1]), 1), right)
    outs = lambda: (ints(V, batch, ahead + 1), ints(V, batch), ints(V, batch))
    rejection.greedy_rejection_sample(*outs(), guessed, right[:, :-1], right[:, -1], None)
    likely = lambda: rand(batch, ahead, V, dtype=FP32, scale=2.0).softmax(-1)
    ours, theirs, recovered = likely(), likely(), ints(V, batch, ahead)
    rejection.sample_recovered_tokens(recovered, guessed, ours, theirs, scale(batch, V).reciprocal())
    chances = torch.rand(batch, ahead, device=D, dtype=torch.float64)
    rejection.random_rejection_sample(
        *outs(), guessed, ours, theirs, right[:, -1].contiguous(), recovered, chances, None
    )


def step(k, _):
    """What a step of decoding needs: 120 sequences in buffers for 128, the index's lengths, pages that move."""
    batch, most, columns = 120, 128, 64
    whole_of = lambda *shape: torch.zeros(shape, device=D, dtype=torch.int32)
    one, lengths, table = torch.ones(batch, device=D, dtype=torch.int32), whole(4096, batch) + 4, whole(8192, batch, 64)
    k("step_metadata.fill_graph_common_inputs").fill_graph_common_inputs(
        ints(V, 1, batch),
        ints(4096, 1, batch),
        table,
        starts(batch, 1)[:-1],
        one,
        lengths,
        ints(V, 1, most),
        ints(V, 1, most),
        whole_of(most, columns),
        whole_of(3, most),
        whole_of(2, most + 1),
        1,
    )
    k("step_metadata.fill_dsa_indexer_metadata").fill_dsa_indexer_metadata(
        one * 4, lengths, starts(batch, 4), table, whole_of(batch * 4), whole_of(batch * 4, columns), batch * 4, 4
    )
    places = torch.randperm(1024, device=D)
    k("copy_cache").copy_cache_blocks(rand(16, 1024, 64, 8, 128), 1, places[:64], places[64:128], 1)


ROWS = {
    "normed": normed,
    "rotated": rotated,
    "activated": activated,
    "awq_decode": awq(64, 28672),
    "awq_prefill": awq(4096, 6144),
    "lora": lora,
    "blocked_product": blocked_product,
    "product_int8": whole_product(torch.int8),
    "product_fp8": whole_product(torch.float8_e4m3fn),
    "experts_prefill": experts(4096),
    "experts_decode": experts(64),
    "experts_w8a8": experts_w8a8,
    "experts_fp8_decode": experts_fp8(128, 256, 7168),
    "experts_fp8_prefill": experts_fp8(2048, 256, 7168),
    "experts_fp8_compact": experts_fp8(512, 512, 2048),
    "experts_int4_decode": experts_int4(4),
    "experts_int4_prefill": experts_int4(2048),
    "experts_int4": experts_int4(64),
    "experts_fp4": experts_fp4,
    "scattered": scattered,
    "routed": routed,
    "gated": gated,
    "hyper": hyper,
    "sampled": sampled,
    "speculated": speculated,
    "step": step,
}
