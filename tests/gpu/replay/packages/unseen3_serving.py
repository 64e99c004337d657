"""Inference engines and sparse attention of `unseen3`: rtp-llm 4b8d39cd (DeepSeek-V4's and common kernels), flashinfer
fb28d724, swiftLLM 682cf9a, lite_llama 3c22cc9, DoubleSparse b0575e6, hydragen 1ea2255 and hip-attention fea42c7.

Left out: what rtp-llm has of flash-linear-attention and lite_llama of others, which was timed before; flashinfer's
kernels that store addresses, where nothing can be compared; and what Triton 3.6 does not compile: hydragen's attention,
whose program rewrites a kernel as Triton 2 had it, DoubleSparse's argsort, and the backward pass of hip-attention's
landmark attention. Most kernels of caches write over their inputs; swiftLLM's norms, rotary embeddings and activations
do, too."""

import functools
import types

import torch

from packages.common import (
    BF16, D, FP16, FP32, BarePackages, fb, folder_of, fp8, full, ints, leaf, load, rand, scale, starts, stub, whole,
)  # fmt: skip

TOKENS, WIDTH, HEADS, HEAD, ROPE = 4096, 4096, 64, 512, 64
CHOSEN, EXPERTS = 8, 256


def bare(root, name):
    """Leaves out the __init__ files of a package, which would pull in the world."""
    BarePackages(root, folder_of("unseen3/" + name))


def angles(count, width=ROPE // 2):
    return torch.polar(torch.ones(count, width, device=D), torch.rand(count, width, device=D))


def empty(*shape, dtype=BF16):
    return torch.empty(*shape, device=D, dtype=dtype)


@functools.cache
def rtp_llm():
    bare("rtp_llm", "rtp")


def rtp(name):
    rtp_llm()
    return load("rtp_llm.models_py." + name)


def rows_of_rtp():
    v4 = lambda name: rtp("modules.dsv4." + name)
    yield (
        "inverse_rope_quant",
        lambda: v4("_fused_inv_rope_fp8_quant_triton").fused_inv_rope_fp8_quant_optimized(
            rand(TOKENS, HEADS, HEAD), angles(TOKENS), 8, 8, HEAD - ROPE, ROPE
        ),
    )
    yield (
        "rms_norm_quant",
        lambda: v4("_fused_rmsnorm_fp8_quant_triton").rmsnorm_fp8_quant_ue8m0(
            rand(TOKENS, WIDTH), rand(WIDTH), eps=1e-6
        ),
    )
    yield (
        "rms_norm_rope",
        lambda: v4("_fused_rmsnorm_rope_triton").fused_rmsnorm_rope(
            rand(TOKENS, HEADS, HEAD), None, angles(TOKENS), ROPE, group_heads=8
        ),
    )
    yield (
        "rope",
        lambda: v4("_rope_only_triton").rope_only_inplace(rand(TOKENS, HEADS, ROPE), angles(TOKENS), group_heads=8),
    )
    yield (
        "gate",
        lambda: v4("_gate_fused_triton").fused_sqrtsoftplus_gate(
            rand(TOKENS, EXPERTS, dtype=FP32), rand(EXPERTS, dtype=FP32), 6
        ),
    )
    yield "indexer_score", lambda: v4("_indexer_score_triton").v4_indexer_score(
        rand(1, 1024, HEADS, 128), rand(1, 4096, 128), rand(1, 1024, HEADS),
        torch.arange(1024, device=D).add(15360)[None].int(), 4,
    )  # fmt: skip
    yield (
        "silu_split",
        lambda: v4("_silu_mul_split_triton").silu_mul_split(
            rand(TOKENS, 2048, dtype=FP32), rand(TOKENS, 2048, dtype=FP32), 10.0
        ),
    )
    packed = lambda: (
        empty(TOKENS, WIDTH, dtype=torch.float8_e4m3fn), empty(TOKENS, WIDTH // 128, dtype=torch.int32),
        empty(TOKENS, CHOSEN, dtype=torch.int64), empty(TOKENS, CHOSEN, dtype=FP32),
    )  # fmt: skip
    yield (
        "moe_inputs",
        lambda: v4("moe._mega_input_pack_triton").fused_pack_mega_moe_inputs_optimized(
            rand(TOKENS, WIDTH), scale(TOKENS, CHOSEN), ints(EXPERTS, TOKENS, CHOSEN), *packed()
        ),
    )
    yield (
        "moe_gate",
        lambda: v4("moe._mega_gate_pack_triton").fused_mega_moe_gate_pack_nonhash(
            rand(TOKENS, WIDTH), rand(TOKENS, EXPERTS), rand(EXPERTS, dtype=FP32), *packed(), route_scale=1.5
        ),
    )
    yield "moe_gate_hash", lambda: v4("moe._mega_gate_pack_triton").fused_mega_moe_gate_pack_hash(
        rand(TOKENS, WIDTH), rand(TOKENS, EXPERTS), ints(129280, TOKENS), ints(EXPERTS, 129280, CHOSEN), *packed(),
        route_scale=1.5,
    )  # fmt: skip
    yield "silu_quant", lambda: v4("moe._silu_mul_fp8_quant_triton").silu_mul_fp8_quant_packed(rand(TOKENS, 4096), 10.0)
    common = lambda name: rtp("triton_kernels.common." + name)
    yield (
        "sigmoid_gate",
        lambda: common("moe_gating").sigmoid_gate_scale_add_triton(
            rand(TOKENS, 1), rand(TOKENS, WIDTH), rand(TOKENS, WIDTH)
        ),
    )
    yield "scatter_qkv", lambda: common("scatter_qkv").scatter_qkv(rand(TOKENS, 8192), 16, 32, 128, 128)


def caches_of_rtp():
    """Pages of 64 tokens: DeepSeek-V4's compressed keys, windows of 128 tokens, and 8 sequences of 2,048 tokens."""
    f = lambda name: rtp("modules.dsv4.fp8." + name)
    slots = lambda count=TOKENS: torch.randperm(512 * 64, device=D)[:count]
    keys, index_keys = lambda: ints(120, 512, 64, 584).to(torch.uint8), lambda: ints(120, 512, 64, 132).to(torch.uint8)
    table, lengths = lambda: torch.arange(512, device=D).view(8, 64).int(), lambda: full(2048, 8)
    pool = lambda: rtp("modules.dsv4._pool_triton")
    yield "to_pool", lambda: pool().masked_copy_to_pool(rand(TOKENS, HEAD), slots(), rand(512 * 64, HEAD))
    yield (
        "from_pool",
        lambda: pool().masked_gather_from_pool(
            rand(512 * 64, HEAD), slots(), torch.rand(TOKENS, device=D) < 0.9, out_shape=(TOKENS, HEAD)
        ),
    )
    yield "index_quant", lambda: f("_indexer_quant_triton").quantize_indexer_k(rand(TOKENS, 128), slots(), index_keys())
    yield (
        "index_rope_fold",
        lambda: f("_indexer_q_quant_triton").indexer_q_rope_fp8_quant_fold(
            rand(1, TOKENS, HEADS, 128), rand(1, TOKENS, HEADS, dtype=FP32), angles(TOKENS), ROPE
        ),
    )
    yield (
        "insert_keys",
        lambda: f("_swa_kv_insert_triton").quantize_and_insert_k_cache(rand(TOKENS, HEAD), keys(), slots()),
    )
    yield (
        "gather_keys",
        lambda: f("_swa_dequant_triton").dequantize_and_gather_k_cache(
            empty(8, 2048, HEAD), keys(), lengths(), full(1024, 8), table(), 64, 128
        ),
    )
    yield (
        "window_indices",
        lambda: f("_swa_ops_triton").combine_topk_swa_indices(
            whole(512, TOKENS, 512), starts(8, 512), lengths(), full(639, 8), 128, 4, 512, 4096, 512
        ),
    )


def flashinfer():
    @functools.cache
    def ready():
        bare("flashinfer", "flashinfer")
        stub("flashinfer.utils", get_compute_capability=lambda device: (9, 0), GPUArchitectureError=RuntimeError)

    def kernels(name):
        ready()
        return load("flashinfer.triton." + name)

    parts = lambda *shape: (rand(*shape, 128), rand(*shape, dtype=FP32))
    yield (
        "silu",
        lambda: kernels("activation").silu_and_mul(
            rand(8192, 28672), x_scale=scale(1), o_scale=scale(1), dtype=torch.float8_e4m3fn
        ),
    )
    yield "merge_in_place", lambda: kernels("cascade").merge_state_in_place(*parts(8192, 32), *parts(8192, 32))
    yield "merge_states", lambda: kernels("cascade").merge_states(*parts(512, 16, 32))
    yield "merge_lengths", lambda: kernels("cascade").variable_length_merge_states(*parts(8192, 32), starts(512, 16))
    yield (
        "rms_norm",
        lambda: kernels("norm").rms_norm(
            rand(8192, 4096), rand(4096), empty(8192, 4096, dtype=torch.float8_e4m3fn), 1e-6, out_scale=scale(1)
        ),
    )
    yield (
        "rms_norm_residual",
        lambda: kernels("norm").rms_norm_add_residual(rand(8192, 4096), rand(8192, 4096), rand(4096), 1e-6),
    )
    gemm = lambda name: getattr(kernels("sm_constraint_gemm"), name)
    yield "gemm", lambda: gemm("gemm")(rand(4096, 4096), rand(4096, 4096).t())
    yield "gemm_persistent", lambda: gemm("gemm_persistent")(rand(4096, 4096), rand(4096, 4096).t(), num_sms=64)
    yield "gemm_persistent_fp8", lambda: gemm("gemm_persistent")(fp8(4096, 4096), fp8(4096, 4096).t(), num_sms=64)
    yield "gemm_descriptor", lambda: gemm("gemm_descriptor_persistent")(rand(4096, 4096), rand(4096, 4096), num_sms=64)

    def positions():
        kernels("page").get_batch_indices_positions_kernel[(64,)](
            starts(64, 128), full(1000, 64), empty(8192, dtype=torch.int32), empty(8192, dtype=torch.int32),
            num_stages=2,
        )  # fmt: skip

    yield "positions", positions


def swift():
    """Llama-3-8B: 8 prompts of 512 tokens, then 64 sequences of 2,048 tokens in blocks of 16."""
    model = types.SimpleNamespace(num_layers=4, num_q_heads=32, num_kv_heads=8, head_dim=128)
    engine = types.SimpleNamespace(block_size=16, max_blocks_per_seq=256)

    def state(prompts, decoding):
        return types.SimpleNamespace(
            softmax_scale=128**-0.5, seq_ids=torch.arange(prompts + decoding, device=D).int(),
            num_prefill_seqs=prompts, num_prefill_tokens=prompts * 512,
            prefill_seq_start_locs=starts(prompts, 512)[:-1], prefill_seq_lens=full(512, prompts), max_prefill_len=512,
            num_decoding_seqs=decoding,
            decoding_seq_lens=full(2048, decoding), max_decoding_len=2048, seq_block_size=512, num_seq_blocks=4,
            position_cos=rand(4096, 64, dtype=FP16), position_sin=rand(4096, 64, dtype=FP16),
        )  # fmt: skip

    def kernels(name):
        bare("swiftllm", "swiftllm")
        for part, classes in (("model_config", "LlamaModelConfig"), ("engine_config", "EngineConfig")):
            stub("swiftllm." + part, **{classes: object})
        return load("swiftllm.worker.kernels." + name)

    half = lambda *shape: rand(*shape, dtype=FP16)
    cache = lambda: half(16384, 4, 8, 16, 128)
    table = lambda: torch.arange(64 * 256, device=D).view(64, 256).int()
    yield (
        "prefill",
        lambda: kernels("prefill_attn").prefill_attention(
            half(4096, 32, 128), half(4096, 8, 128), half(4096, 8, 128), half(4096, 32, 128), model, engine, state(8, 0)
        ),
    )
    yield (
        "paged",
        lambda: kernels("paged_attn").paged_attention(
            half(64, 32, 128), cache(), cache(), table(), model, engine, state(0, 64), 1, half(64, 32, 128)
        ),
    )
    for prompts, decoding in ((8, 0), (0, 64)):
        yield f"store_{prompts}", lambda p=prompts, d=decoding: kernels("kvcache_mgmt").store_kvcache(
            half(p * 512 + d, 8, 128), half(p * 512 + d, 8, 128), cache(), cache(), table(), model, engine,
            state(p, d), 1,
        )  # fmt: skip
    yield "rms_norm", lambda: kernels("rmsnorm").rmsnorm_inplace(half(4096, 4096), half(4096), 1e-5)
    yield (
        "add_rms_norm",
        lambda: kernels("rmsnorm").fused_add_rmsnorm_inplace(half(4096, 4096), half(4096, 4096), half(4096), 1e-5),
    )
    yield (
        "rope",
        lambda: kernels("rotary_emb").rotary_embedding_inplace(half(4096, 32, 128), half(4096, 8, 128), state(8, 0)),
    )
    yield "silu", lambda: kernels("silu_and_mul").silu_and_mul_inplace(half(4096, 28672))
    yield (
        "blocks",
        lambda: kernels("block_mgmt").set_block_table_and_num_seq_alloc_blocks(
            full(0, 64),
            table(),
            torch.arange(64 * 128, device=D).int(),
            torch.arange(64, device=D).int(),
            full(128, 64),
        ),
    )


def lite():
    def kernels(name):
        bare("lite_llama", "lite")
        return load("lite_llama.kernels." + name)

    half = lambda *shape: rand(*shape, dtype=FP16)
    yield "prefill", lambda: kernels("flashattention2_nopad").flash_attention2_no_pad(
        half(4096, 32, 128), half(4096, 8, 128), half(4096, 8, 128), 128**-0.5, starts(4, 1024)[:-1], full(1024, 4),
        1024,
    )  # fmt: skip
    q = lambda heads=32: half(2, heads, 2048, 128)
    yield "attention_1", lambda: kernels("flashattention").flash_attention_v1(q(), q(8), q(8))
    yield "attention_2", lambda: kernels("flashattentionv2").flash_attention_v2(q(), q(8), q(8))
    table = lambda: torch.arange(32 * 2048, device=D).view(32, 2048).int()
    rows = lambda: torch.arange(32, device=D).int()
    yield (
        "decoding",
        lambda: kernels("flashdecoding").flash_decoding(
            half(32, 32, 128),
            half(65536, 8, 128),
            half(65536, 8, 128),
            128**-0.5,
            table(),
            rows(),
            full(2048, 32),
            2048,
        ),
    )
    yield "experts", lambda: kernels("fused_moe").fused_moe(
        half(2048, 2048), half(64, 2816, 2048), half(64, 2048, 1408), torch.rand(2048, 6, device=D),
        torch.rand(2048, 64, device=D).topk(6).indices,
    )  # fmt: skip
    yield (
        "rope",
        lambda: kernels("rope_emb").rope_emb_forward(
            half(4096, 32, 128), half(4096, 8, 128), half(4096, 128), half(4096, 128), 4, 1024
        ),
    )
    yield (
        "skip_rms_norm",
        lambda: kernels("skip_rmsnorm").skip_rmsnorm(half(4, 1024, 4096), half(4, 1024, 4096), half(4096)),
    )
    products = lambda name: kernels("quantization." + name)
    yield (
        "w4a16",
        lambda: products("w4a16").w4a16_matmul(
            half(256, 4096), whole(1 << 31, 4096, 512), scale(4096, 32), scale(4096, 32)
        ),
    )
    yield (
        "w8a16",
        lambda: products("w8a16").w8a16_matmul(
            half(256, 4096), ints(120, 4096, 4096).to(torch.uint8), scale(32, 32), group_n=128, group_k=128
        ),
    )
    yield (
        "w8a8",
        lambda: products("w8a8").smoothquant_matmul(
            half(2048, 4096), ints(256, 4096, 4096).sub(128).to(torch.int8), scale(4096)
        ),
    )


def selected():
    """DoubleSparse: 16 sequences of 4,096 tokens, whose keys have 16 important channels; 512 keys are chosen."""
    batch, length, heads, channels, kept = 16, 4096, 32, 16, 512
    half = lambda *shape: rand(*shape, dtype=FP16)
    chosen = lambda: torch.rand(batch, heads, length, device=D).topk(kept).indices

    def kernels(name):
        bare("triton_kernels", "doublesparse/models")
        stub("numpy")
        return load("triton_kernels." + name)

    yield (
        "bgemv",
        lambda: kernels("bgemv").bgemv(
            half(batch, heads, channels), half(batch * length, heads, channels), half(batch, heads, length)
        ),
    )
    yield "bgemv_int8", lambda: kernels("bgemv_int8").bgemv_int8(
        half(batch, heads, channels), ints(256, batch * length, heads, channels).sub(128).to(torch.int8),
        half(batch * length, heads), half(batch, heads, length),
    )  # fmt: skip
    yield (
        "channels",
        lambda: kernels("channel").get_label_tensor(
            half(16384, heads, 128), ints(128, heads, channels), half(16384, heads, channels), channels
        ),
    )
    keys = lambda: half(batch * length, heads, 128)
    yield (
        "sparse",
        lambda: kernels("sparse").fwd_sparse_no_mask(
            half(batch, heads, 128), keys(), keys(), half(batch, heads, 128), chosen()
        ),
    )


def shared():
    """hydragen joins the attention to a prompt that 64 sequences share with that to their own tokens."""

    stub("flash_attn")
    stub("flash_attn.flash_attn_interface", _flash_attn_forward=None, _flash_attn_varlen_forward=None)
    yield "combine", lambda: load("hydragen.attention").combine_lse_triton(
        rand(64, 1, 32, 64, dtype=FP16), rand(64, 1, 32, dtype=FP32), rand(64, 1, 32, 64, dtype=FP16),
        rand(64, 1, 32, dtype=FP32),
    )  # fmt: skip


def hip():
    def tool(name):
        bare("hip_attn", "hip/src")
        bare("hip_research", "hip/src")
        return load(name)

    half = lambda *shape: rand(*shape, dtype=FP16)
    q = lambda: leaf(2, 16, 2048, 64, dtype=FP16)
    yield "norm", lambda: tool("hip_attn.utils.attention_norm").attention_norm(half(32, 2048, 128), half(32, 2048, 128))
    yield (
        "lp_loss",
        lambda: fb(tool("hip_attn.utils.attn_l1_loss").compute_attn_lp_loss_triton(q(), q(), 0.5, do_average=False)),
    )
    yield (
        "cross_entropy",
        lambda: tool("hip_attn.utils.memory_efficient_llm_ce").memory_efficient_llm_ce(
            half(2048, 2048), half(32768, 2048), ints(32768, 2048)
        ),
    )
    yield (
        "hashes",
        lambda: fb(tool("hip_research.models.dynamic_sparse_flash_attention").attention_fn(q(), q(), q(), nb_hash=8)),
    )
    yield (
        "landmarks",
        lambda: tool("hip_research.models.landmark_attention").FusedLandmarkAttention.apply(
            q(), q(), q(), 0, 0.125, 64
        ),
    )
    yield (
        "sinks",
        lambda: tool("hip_research.models.sink_attention").AttentionScoreFunc.apply(
            half(32, 2048, 128), half(32, 2048, 128), half(2048, 128), half(2048, 128), 4, 512
        ),
    )


def cases():
    for prefix, parts in (
        ("rtp_", (rows_of_rtp, caches_of_rtp)), ("flashinfer_", (flashinfer,)), ("swift_", (swift,)),
        ("lite_", (lite,)), ("sparse_", (selected,)), ("hydragen_", (shared,)), ("hip_", (hip,)),
    ):  # fmt: skip
        for part in parts:
            for name, case in part():
                yield prefix + name, case
