"""Serving, few bits and products of `unseen7`: Sparse-vLLM 18d3104, grouped-nf4-gemm 36b8cca, chitu 6261b7a, MinivLLM
e63c96c, KIVI 876b4d2, Palu bb22666, triattention c3744ee, fouroversix dadfad6, FP-Quant d2e3092, lit-llama 2a464de,
BitMat d5cfe41, OneTrainer 23df383, gn-kernels ba18197, tritonBLAS 95e2c47 and ld_triton fc37962.

Left out: what Sparse-vLLM has of lightllm, sglang, vLLM, flash-linear-attention, KIVI and Palu, and its sorting of
tokens, whose places the order of atomic operations decides; the copies of grouped-nf4-gemm that read addresses which
they take as numbers; what chitu has of DeepSeek-V3 and vLLM; BitMat's norms, which are unsloth's; gn-kernels' and
fouroversix' conversions to four bits that only Blackwell has an instruction for, and fouroversix' mxfp4, which Triton
3.6 does not compile; KIVI's product with groups of 64, whose file chooses a GPU; of tritonBLAS products whose programs
wait for each other or count what they have done; and of ld_triton what is Triton's tutorials' or fills a hash table.
BitMat's own autotuner, which is Triton 2's, gives way to Triton's. Caches are written over inputs, and so are sums of
FP-Quant's and some of Gemma's activations."""

import types
from unittest import mock

import torch
import triton

from packages.common import (
    FP16, FP32, answer, bare_of, bytes_, fb, folder_of, fp8, full, ints, leaf, load, rand, scale, starts, stub, whole,
)  # fmt: skip
from packages.unseen6_tokenspeed import count, pages

bare = bare_of("unseen7")


def half(*shape, **more):
    return rand(*shape, dtype=FP16, **more)


def eight(*shape):
    """Signed numbers of 8 bits."""
    return (ints(256, *shape) - 128).to(torch.int8)


def words(*shape):
    """Packed numbers of few bits."""
    return ints(1 << 31, *shape, dtype=torch.int32)


def sparse_delta():
    """Sparse-vLLM's caches of differences: 8 heads of keys of 128 features, each token's nearest four kept ones."""
    tokens, slots, heads, width, fathers = 2048, 16384, 8, 128, 4

    def kernels(name="deltakv_kernels"):
        bare("sparsevllm", "sparsevllm/src")
        return load("sparsevllm.kernels.triton." + name)

    cache = lambda n=slots: rand(n, heads, width)
    table = lambda: rand(8192, width, dtype=FP32)
    where = lambda n=tokens: count(n) * 3
    kept = lambda n=tokens: whole(slots, n, fathers)
    places = lambda n=slots: whole(8192, n)
    yield (
        "store",
        lambda: kernels().deltakv_store_pre_rope_k(rand(tokens, heads, width), cache(), where()),
    )
    for name, function in (("gather", ""), ("gather_groups", "_grouped_heads")):
        yield (
            name,
            lambda f=function: getattr(kernels(), "deltakv_gather_raw_kv" + f)(
                slots=whole(slots, tokens), pos=whole(8192, tokens), cos_sin=table(), k_cache=cache(), v_cache=cache()
            ),
        )
    delta = lambda: (
        rand(tokens, 2 * heads * width), whole(slots // 2, tokens, fathers), places(), count(tokens) + slots // 2,
        whole(8192, tokens), table(),
    )  # fmt: skip
    yield "writeback", lambda: kernels().deltakv_reconstruct_writeback(*delta(), cache(), cache())
    yield "writeback_groups", lambda: kernels().deltakv_reconstruct_writeback_grouped_heads(*delta(), cache(), cache())
    yield (
        "writeback_normed",
        lambda: kernels().deltakv_reconstruct_writeback_grouped_heads(
            *delta(), cache(), cache(), k_norm_weight=rand(width, dtype=FP32), raw_k_cache=True
        ),
    )
    yield (
        "writeback_apart",
        lambda: kernels().deltakv_reconstruct_writeback_grouped_heads_srcdst(
            *delta(), cache(), cache(), cache(), cache()
        ),
    )

    def packed(bits, group=128):
        kernels().deltakv_less_memory_reconstruct_writeback_quantized(
            words(slots, 2 * heads * width * bits // 32), rand(slots, 2 * heads * width // group),
            rand(slots, 2 * heads * width // group), whole(slots, tokens), *delta()[1:], cache(), cache(),
            quant_bits=bits, group_size=group,
        )  # fmt: skip

    yield "writeback_4_bits", lambda: packed(4)
    yield "writeback_2_bits", lambda: packed(2)
    yield "distance", lambda: kernels().batch_l2_distance(rand(8, 512, 128), rand(8, 1024, 128))
    yield "gather_mean", lambda: kernels().batch_gather_mean(rand(slots, 2048), whole(slots, 4, 1024, fathers))
    yield (
        "gather_add",
        lambda: kernels().batch_reconstruct_kv(rand(tokens, 2048), rand(slots, 2048), kept()),
    )
    yield (
        "nearest",
        lambda: kernels().deltakv_l2_topk_blockwise(
            tokens=rand(512, 1024), centers=rand(2048, 1024), m0=1984, cluster_step=8, k=fathers
        ),
    )
    yield (
        "view",
        lambda: kernels().deltakv_materialize_sparse_view(
            whole(slots, 8, 1024), full(1000, 8), places(), whole(2, slots), cache(), cache(), cache(8192), cache(8192),
            table(),
        ),
    )  # fmt: skip

    def plan(batch=32, chosen=1024, sink=64, buffer=256, length=8192):
        width = sink + chosen + buffer
        empty = lambda *shape: full(0, *shape)
        kernels().deltakv_static_decode_plan(
            raw_slots_map=pages(batch, length), latent_slots_map=pages(batch, length),
            active_compressed_indices=count(chosen).expand(batch, chosen).contiguous() * 7, req_indices=count(batch),
            context_lens=full(8000, batch), compressed_lens=full(7744, batch), temp_slots=pages(batch, chosen),
            active_slots_out=empty(batch, width), active_pos_out=empty(batch, width), new_context_lens_out=empty(batch),
            recon_pos_out=empty(batch * chosen), recon_latent_out=empty(batch * chosen),
            recon_out_slot_out=empty(batch * chosen), sink=sink, max_buffer=buffer,
        )  # fmt: skip

    yield "plan", plan

    def kivi(kind, batch=8, length=4096, group=32, q_heads=32, recent=512):
        """All but the last 512 keys are packed into four bits, in blocks of 32 tokens."""
        old, blocks = length - recent, batch * (length - recent) // group
        packs = dict(
            key_packed=words(blocks, heads, width, group // 8), key_scales=rand(blocks, heads, width),
            key_mins=rand(blocks, heads, width), value_packed=words(blocks, heads, group, width // 8),
            value_scales=rand(blocks, heads, group, width // group),
            value_mins=rand(blocks, heads, group, width // group),
        )  # fmt: skip
        place = count(length).expand(batch, length)
        raw = torch.where(place >= old, place - old + count(batch)[:, None] * recent, -1).int()
        block = torch.where(place < old, place // group + count(batch)[:, None] * (old // group), -1).int()
        new = dict(raw_k=cache(batch * recent), raw_v=cache(batch * recent))
        if kind == "tokens":
            n = blocks * group
            return kernels().full_layer_kivi_dequant_tokens(
                **packs, block_slots=count(n) // group, local_offsets=count(n) % group, out_slots=count(n),
                out_k=cache(n), out_v=cache(n), group_size=group,
            )  # fmt: skip
        which = dict(req_indices=count(batch), context_lens=full(length, batch), max_len_in_batch=length)
        begin = count(old // group).repeat(batch) * group
        if kind == "view":
            return kernels().full_layer_kivi_build_dense_decode_view(
                **new, **packs, **which, raw_slots_map=raw, kivi_block_slots_map=block, kivi_block_start_pos=begin,
                row_kivi_quantized_lens=full(old, batch), dense_req_to_tokens=full(0, batch, length),
                dense_k=cache(batch * length), dense_v=cache(batch * length), group_size=group,
            )  # fmt: skip
        parts = length // 256
        more = dict(
            q=rand(batch, q_heads, width), **new, raw_slots_map=raw, **packs, **which, group_size=group, block_seq=256,
            mid_out=rand(batch, q_heads, parts, width, dtype=FP32),
            mid_out_logsumexp=rand(batch, q_heads, parts, dtype=FP32),
        )  # fmt: skip
        if kind == "blocks":
            kernels().full_layer_kivi_flash_decode_stage1(
                **more, kivi_block_slots_map=block, kivi_block_start_pos=begin
            )
        elif kind == "grouped":
            kernels().full_layer_kivi_flash_decode_stage1_grouped(
                **more, kivi_block_slots_map=block, row_kivi_quantized_lens=full(old, batch), kivi_start=0
            )
        else:
            kernels().full_layer_kivi_flash_decode_stage1_token_map(
                **more, kivi_token_slots_map=block, kivi_token_offsets_map=(place % group).int().contiguous()
            )

    for kind in ("tokens", "view", "blocks", "grouped", "map"):
        yield "kivi_" + kind, lambda kind=kind: kivi(kind)
    yield (
        "copy",
        lambda: kernels().full_layer_copy_raw_or_zero(
            raw_k=cache(), raw_v=cache(), raw_slots=whole(slots, tokens), raw_mask=whole(2, tokens).bool(),
            out_k=cache(tokens), out_v=cache(tokens),
        ),
    )  # fmt: skip
    yield "pack", lambda: kernels("quant").triton_quantize_and_pack_2d_int4_grouped(half(8192, 2048), 64)
    yield (
        "unpack",
        lambda: kernels("quant").triton_dequantize_2d_int4_grouped(
            words(8192, 256), half(8192, 32), half(8192, 32), 64, 2048
        ),
    )
    yield (
        "keep",
        lambda: kernels("omnikv_fused").build_omnikv_keep_and_slots(
            whole(7000, 32, 2048), full(2048, 32), full(8000, 32), full(64, 32), pages(32, 8192), count(32), 16, 2128
        ),
    )

    def scores(mode, batch=4, length=8192, window=32):
        kernels("prefill_score").prefill_score_fwd(
            rand(batch * window, 32, width), cache(batch * length), rand(batch, length, dtype=FP32), count(batch),
            starts(batch, window)[:-1], full(length, batch), full(length - window, batch), window,
            pages(batch, length), full(length - window, batch), full(length, batch), score_mode=mode,
        )  # fmt: skip

    yield "scores", lambda: scores("probability")
    yield "scores_logits", lambda: scores("logits")


def sparse_models():
    """Sparse-vLLM's Gemma 4, MiniMax M2 and Qwen 3.5."""

    def kernels(name):
        bare("sparsevllm", "sparsevllm/src")
        return load("sparsevllm.kernels.triton." + name)

    heads, kv_heads = 16, 8

    def decode(kind, width=256, batch=16, length=4096, part=256, kv_heads=kv_heads, window=1024):
        cache = lambda: rand(batch * length, kv_heads, width)
        parts = length // part
        q, output = rand(batch, heads, width), rand(batch, heads, width)
        start = (q, cache(), cache(), pages(batch, length), count(batch), full(length - 5, batch))
        middle = rand(batch, heads, parts, width, dtype=FP32), rand(batch, heads, parts, dtype=FP32)
        if kind == "plain":
            module = kernels("gemma4_decode_attention")
            module.gemma4_decode_stage1(*start, *middle, block_seq=part, sliding_window=window)
            module.gemma4_decode_stage2(*middle, start[-1], output, block_seq=part, sliding_window=window)
        elif kind == "global":
            kernels("gemma4_global_decode_attention").gemma4_global_decode_stage1(*start, *middle, block_seq=part)
        elif kind == "window":
            kernels("gemma4_window_decode_attention").gemma4_window_decode(
                *start, *middle, output, block_seq=part, sliding_window=window
            )
        else:
            kernels("gemma4_single_block_decode_attention").gemma4_single_block_decode(
                *start, output, block_seq=length, sliding_window=window
            )

    yield "gemma_decode", lambda: decode("plain")
    yield "gemma_decode_full", lambda: decode("plain", 512, kv_heads=2, window=None)
    yield "gemma_decode_global", lambda: decode("global", 512, kv_heads=2)
    yield "gemma_decode_window", lambda: decode("window")
    yield "gemma_decode_short", lambda: decode("single", length=512)

    def prompt(images, width=256, batch=2, length=2048, kv_heads=kv_heads):
        x = lambda h: rand(batch * length, h, width)
        more = (
            x(heads), x(kv_heads), x(kv_heads), x(heads), count(batch), starts(batch, length)[:-1], full(length, batch),
            full(0, batch), length, pages(batch, length),
        )  # fmt: skip
        if images:
            kernels("gemma4_multimodal_context_attention").gemma4_multimodal_context_attention(
                *more, count(batch * length) // 256 % 4 - 1, sliding_window=1024
            )
        else:
            kernels("gemma4_context_attention").gemma4_context_attention(
                *more, sliding_window=1024 if width == 256 else None
            )

    yield "gemma_prompt", lambda: prompt(False)
    yield "gemma_prompt_full", lambda: prompt(False, 512, kv_heads=2)
    yield "gemma_prompt_images", lambda: prompt(True)
    hidden = 2816
    rows = lambda n=4096, width=hidden: rand(n, width)
    yield "gemma_norm", lambda: kernels("gemma4_rmsnorm").gemma4_rmsnorm(rows(), rand(hidden), 1e-6)
    yield (
        "gemma_norm_add",
        lambda: kernels("gemma4_fused_ops").gemma4_rmsnorm_residual(rows(), rand(hidden), rows(), 1e-6, rand(1)),
    )
    yield "gemma_gelu", lambda: kernels("gemma4_fused_ops").gemma4_gelu_mul(rows(4096, 2112), rows(4096, 2112))
    yield "gemma_gelu_halves", lambda: kernels("gemma4_gelu_and_mul").gelu_tanh_and_mul_fwd(rows(8192, 1408))
    yield (
        "gemma_rotate",
        lambda: kernels("gemma4_qkv_norm_rope").gemma4_qkv_norm_rope(
            rand(4096, heads, 256), rand(4096, kv_heads, 256), rand(4096, kv_heads, 256), rand(256), rand(256),
            rand(8192, 256, dtype=FP32), whole(8192, 4096), 1e-6,
        ),
    )  # fmt: skip
    yield (
        "gemma_router",
        lambda: kernels("gemma4_fused_router").gemma4_fused_router_topk(rand(4096, 128), rand(128), 8),
    )
    yield (
        "gemma_router_input",
        lambda: kernels("gemma4_router").gemma4_router_input(rows(), rand(hidden), hidden**-0.5, 1e-6),
    )
    yield "gemma_router_best", lambda: kernels("gemma4_router").gemma4_router_topk(rand(4096, 128), rand(128), 8)
    yield "best", lambda: kernels("moe_topk").topk_softmax(rand(8192, 256), top_k=8, norm_topk_prob=True)
    sigmoid = lambda f, experts, top, **more: getattr(kernels("moe_biased_sigmoid"), f)(
        rand(8192, experts, dtype=FP32), rand(experts, dtype=FP32), top_k=top, **more
    )
    yield "best_sigmoid", lambda: sigmoid("topk_biased_sigmoid", 256, 8)
    yield "best_sigmoid_weights", lambda: sigmoid("fused_topk_biased_sigmoid", 64, 4, routed_scaling_factor=1.8)
    yield (
        "shared_expert",
        lambda: kernels("moe").append_shared_expert_route(ints(256, 4096, 8), scale(4096, 8), shared_expert_id=256),
    )
    yield (
        "local_experts",
        lambda: kernels("moe").localize_expert_ids(ints(256, 4096, 8), local_expert_start=64, local_expert_end=128),
    )

    def aligned(tokens, top, experts, block):
        """Experts take turns, so that each gets as many tokens."""
        bare("sparsevllm", "sparsevllm/src")
        each = tokens * top // experts
        places = count(tokens * top).view(each, experts).t().contiguous().view(-1)
        return load("sparsevllm.kernels.moe").MoeAlignment(
            sorted_token_ids=places, expert_ids=count(experts).repeat_interleave(each // block),
            num_tokens_post_padded=full(tokens * top, 1), block_size=block, naive=False,
        )  # fmt: skip

    def swiglu(bits, tokens=2048, top=8, experts=64, block=64, inner=768, hidden=2048):
        alignment = aligned(tokens, top, experts, block)
        x, out = rand(tokens, hidden), rand(tokens * top, inner)
        if bits == 8:
            kernels("minimax_m2_moe")._fused_gate_up_swiglu_fp8(
                x, fp8(experts, 2 * inner, hidden), scale(experts, 2 * inner // 128, hidden // 128), out, alignment,
                top_k=top,
            )  # fmt: skip
        else:
            kernels("moe")._routed_gate_up_swiglu(
                x, rand(experts, 2 * inner, hidden, scale=0.02), out, alignment, input_top_k=top,
                launch_config=dict(
                    BLOCK_SIZE_M=block, BLOCK_SIZE_N=64, BLOCK_SIZE_K=64, GROUP_SIZE_M=8, num_warps=4, num_stages=3
                ),
            )  # fmt: skip

    yield "experts", lambda: swiglu(16)
    yield "experts_fp8", lambda: swiglu(8)
    yield (
        "experts_sum",
        lambda: kernels("moe").moe_sum(
            rand(2048, 8, 2048), ints(256, 2048, 8), num_experts=256, local_expert_start=0, local_expert_end=128
        ),
    )
    yield "swiglu", lambda: kernels("gate_up_swiglu").h20_gate_up_swiglu(rand(1, 2048), rand(1024, 2048))
    yield (
        "fp8",
        lambda: kernels("fp8_blockwise").fp8_blockwise_matmul(rand(64, 4096), fp8(6144, 4096), scale(48, 32)),
    )

    def paired():
        module, x, other = kernels("column_parallel_rmsnorm"), rand(4096, 3072), rand(4096, 512)
        sums = module.paired_square_sums(x, other)
        module.paired_rms_apply(
            x, other, sums, rand(3072), rand(512), x_global_hidden_size=6144, other_global_hidden_size=1024,
            x_eps=1e-6, other_eps=1e-6,
        )  # fmt: skip

    yield "norms", paired
    yield (
        "gated_add",
        lambda: kernels("qwen3_5.gated_shared_add").triton_gated_shared_add(
            rand(4096, 2048), rand(4096, 2048), rand(4096, 1)
        ),
    )


def grouped():
    """grouped-nf4-gemm: products of experts in four bits, and keys in FP8: Qwen3's 30 billion parameters, gpt-oss."""
    experts, inner, hidden = 128, 1536, 2048

    def nf4(sizes, **more):
        rows = sum(sizes)
        load("nf4_grouped").gemm_4bit_grouped(
            rand(rows, hidden), bytes_(experts, inner, hidden // 2), scale(experts, inner, hidden // 64), sizes,
            list(range(len(sizes))), **more,
        )  # fmt: skip

    yield "nf4", lambda: nf4([64] * 32)
    yield "nf4_lanes", lambda: nf4([48] * 64, prefill_variant=0)
    yield "nf4_one", lambda: nf4([1] * 64, split_k=1)
    yield "nf4_one_split", lambda: nf4([1] * 8, split_k=4)
    yield (
        "nf4_gradient",
        lambda: load("nf4_grouped").dgrad_4bit_grouped(
            rand(2048, inner), bytes_(experts, inner, hidden // 2), scale(experts, inner, hidden // 64), [64] * 32,
            list(range(32)),
        ),
    )  # fmt: skip

    def mxfp4(sizes, experts=32, inner=5760, hidden=2880, **more):
        load("mxfp4_grouped").gemm_mxfp4_grouped(
            rand(sum(sizes), hidden), bytes_(experts, inner, hidden // 2),
            (ints(8, experts, inner, hidden // 32) + 120).to(torch.uint8), sizes, list(range(len(sizes))), **more,
        )  # fmt: skip

    yield "mxfp4", lambda: mxfp4([64] * 32)
    yield "mxfp4_lanes", lambda: mxfp4([128] * 32, prefill_variant=0)
    yield "mxfp4_one", lambda: mxfp4([1] * 16)

    def paged(batch=8, length=4096, heads=32, kv_heads=8, width=128, block=16, **more):
        h200 = types.SimpleNamespace(multi_processor_count=132, major=9, minor=0)
        row = load("fp8_kv").kv_block_bytes(block, kv_heads, width)
        blocks = batch * length // block

        def pool():
            """Each block's numbers, and their factors behind them."""
            numbers = fp8(blocks, block * kv_heads * width).view(torch.uint8)
            factors = scale(blocks, block * kv_heads).view(torch.uint8)
            assert numbers.shape[1] + factors.shape[1] == row
            return torch.cat([numbers, factors], 1).view(-1)

        with (
            mock.patch.object(torch.cuda, "get_device_properties", lambda device: h200),
            mock.patch.object(load("fp8_paged_attn"), "paged_attn_available", lambda: True),
        ):
            load("fp8_paged_attn").fp8_paged_decode_attention(
                rand(batch, heads, width), pool(), pool(), pages(batch, length // block), full(length - 3, batch),
                n_kv_heads=kv_heads, head_dim=width, block_tokens=block, fuse_combine=False, **more,
            )  # fmt: skip

    yield "paged", paged
    yield "paged_heads", lambda: paged(pack_heads=True)
    yield "paged_fp8", lambda: paged(compute="fp8")
    yield "paged_fp8_heads", lambda: paged(compute="fp8", pack_heads=True)


def chitu():
    """DeepSeek-V3's weights in FP8, taken apart in software; latent attention; Llama's rotary embeddings."""

    def ops(name="ops"):
        bare("chitu", "chitu")
        return load("chitu." + name)

    yield (
        "append",
        lambda: ops().append_to_paged_kv_cache(
            rand(2048, 64, 576), pages(32, 64), rand(32, 576), full(2000, 32)
        ),
    )
    for kind in ("hf-llama", "llama"):
        yield (
            "rotate_" + kind,
            lambda kind=kind: ops().apply_rotary_pos_emb_triton(
                rand(4096, 32, 128), rand(4096, 8, 128), rand(4096, 64 if kind == "llama" else 128, dtype=FP32),
                rand(4096, 64 if kind == "llama" else 128, dtype=FP32), kind,
            ),
        )  # fmt: skip
    yield "weights", lambda: ops().weight_dequant_soft_fp8_deepseek_v3(fp8(4096, 7168), scale(32, 56))
    yield "soft_fp8", lambda: ops().soft_fp8_gemm_deepseek_v3(rand(64, 7168), fp8(4096, 7168), scale(32, 56))

    def latent(batch=16, heads=128, length=4096, splits=4):
        x, blocks = rand, batch * length // 64
        ops("triton_decode_attention").mla_decode(
            x(batch, heads, 512), x(batch, heads, 64), x(blocks, 64, 512), x(blocks, 64, 64), x(batch, heads, 512),
            pages(batch, length // 64), full(length, batch),
            rand(batch, heads, splits, 513, dtype=FP32), splits, 0.07, 64,
        )  # fmt: skip

    yield "latent", latent


def small():
    """Caches, keys and weights of few bits, and products of eight bits."""

    def mini(what, tokens=4096, heads=16, kv_heads=8, width=128, block=256):
        bare("myvllm", "minivllm/src")
        stub("myvllm.utils", get_context=None)
        module, x = load("myvllm.layers.attention"), lambda h: rand(tokens, h, width)
        cache = lambda: rand(128, block, kv_heads, width)
        if what == "store":
            module.store_kvcache(x(kv_heads), x(kv_heads), cache(), cache(), count(tokens) * 2, block)
        elif what == "prompt":
            module.flash_attention_prefill(
                x(heads), x(kv_heads), x(kv_heads), starts(4, tokens // 4), 0.09, heads, kv_heads, width
            )
        else:
            module.paged_attention_decode(
                rand(16, heads, width), cache(), cache(), pages(16, 8), full(2000, 16), 0.09, heads, kv_heads, width,
                block,
            )  # fmt: skip

    yield "mini_store", lambda: mini("store")
    yield "mini_prompt", lambda: mini("prompt")
    yield "mini_decode", lambda: mini("decode")

    def kivi(bits, batch=8, heads=32, width=128, length=4096, group=64):
        stub("kivi_gemv")
        load("quant.new_pack").triton_quantize_and_pack_along_last_dim(half(batch, heads, width, length), group, bits)

    def kivi_product(bits, values, batch=8, heads=32, width=128, length=4096, group=64):
        stub("kivi_gemv")
        bare("quant", "kivi")
        rows, columns = (length, width) if values else (width, length)
        factors = lambda: half(batch, heads, rows, columns // group)
        load("quant.matmul").triton_bmm_fA_qB_outer(
            group, half(batch, heads, 1, rows), words(batch, heads, rows, columns * bits // 32), factors(), factors(),
            bits,
        )  # fmt: skip

    for bits in (2, 4):
        yield f"kivi_{bits}", lambda bits=bits: kivi(bits)
        yield f"kivi_keys_{bits}", lambda bits=bits: kivi_product(bits, False)
    yield "kivi_values", lambda: kivi_product(2, True)

    def palu(heads=32, groups=8, rank=128, length=16384):
        bare("kernel", "palu")
        stub("kernel.pytorch_reference", LlamaRotaryEmbedding=None, apply_rotary_pos_emb_pytorch=None)
        load("kernel.abx_rope").abx(half(heads, 1, 128), half(heads, rank, 128), half(groups, length, rank))

    yield "palu", palu

    def tri(cached, **more):
        bare("triattention", "triattention")
        heads, width = 8, 64
        numbers = lambda: rand(heads, width, dtype=FP32)
        tables = (rand(16, width, dtype=FP32), rand(16, width, dtype=FP32)) if cached else None
        load("triattention.vllm.core.kernels.triton_scoring").triattention_scoring(
            rand(4, heads, 16384, 128), None, numbers(), numbers(), scale(heads, width), scale(heads, width),
            scale(width), count(16).float() * 4, 16384, trig_values=tables, **more,
        )  # fmt: skip

    yield "tri", lambda: tri(False)
    yield "tri_tables", lambda: tri(True, aggregation="mean", rope_style="half")

    def lama(rows):
        bare("lit_llama", "litllama")
        load("lit_llama.quantization").qlinear_4bit_weight(
            half(rows, 4096), bytes_(11008, 2048), half(11008, 1), half(11008, 1)
        )

    yield "lit_4_bits", lambda: lama(256)

    def ternary(rows, pack):
        bare("bitmat", "bitmat")
        tuner = load("bitmat.utils.custom_autotune")
        tuner.autotune = lambda configs, key, **more: triton.autotune(configs=configs, key=key)  # its own is Triton 2's
        kind = {4: torch.int8, 16: torch.int32}[pack]
        load("bitmat.triton_kernels.bitmat_kernel").bitmat_(
            eight(rows, 4096), ints(127, 4096 // pack, 4096).to(kind), pack
        )

    yield "ternary", lambda: ternary(512, 4)

    def mm8(kind):
        a, b = (eight(4096, 3072), eight(3072, 3072)) if kind == "int8" else (fp8(4096, 3072), fp8(3072, 3072))
        load("triton_mm_8bit").mm_8bit(a, b.t().contiguous().t())

    yield "one_int8", lambda: mm8("int8")
    yield "one_fp8", lambda: mm8("fp8")

    def gn(name):
        bare("gn_kernels", "gn")
        return load("gn_kernels." + name)

    columns = lambda t: t.t().contiguous().t()
    yield "gn_mm", lambda: gn("triton_mm").triton_mm(rand(4096, 4096), columns(rand(4096, 4096)), rand(4096))
    yield (
        "gn_int8",
        lambda: gn("triton_mm").triton_mm(
            eight(4096, 4096), columns(eight(4096, 4096)), scale_A=scale(4096, 1), scale_B=scale(1, 4096)
        ),
    )
    heads = lambda h=16: rand(2, 2048, h, 128)
    yield "gn_attention", lambda: gn("triton_attn").triton_attn(heads(), heads(8), heads(8), causal=True)
    yield (
        "gn_attention_int8",
        lambda: gn("triton_attn").triton_attn(
            eight(2, 2048, 16, 128), eight(2, 2048, 16, 128), heads(), 0.01 * scale(2, 16, 2048),
            0.01 * scale(2, 16, 2048),
        ),
    )  # fmt: skip
    yield (
        "gn_attention_jagged",
        lambda: gn("triton_attn").triton_varlen_attn(
            rand(4096, 16, 128), rand(4096, 8, 128), rand(4096, 8, 128), starts(4, 1024), starts(4, 1024), 1024,
            causal=True,
        ),
    )  # fmt: skip

    def fpq(kind):
        bare("fp_quant", "fpquant/inference_lib/src")
        x, turn = rand(4096, 4096), rand(32 if kind != "nvfp4" else 16, 32 if kind != "nvfp4" else 16, scale=0.2)
        module = load("fp_quant.module.triton." + kind)
        if kind == "nvfp4":
            module.nvfp4_forward_kernel_wrapper(x, turn, scale(1))
        else:
            module.mxfp4_forward_kernel_wrapper(x, turn, True)

    yield "fpquant_mxfp4", lambda: fpq("mxfp4")
    yield "fpquant_nvfp4", lambda: fpq("nvfp4")
    yield (
        "fpquant_hessian",
        lambda: load("accumulate_hessian").accumulate_hessian(
            rand(4096, 4096, dtype=FP32), rand(2048, 4096, dtype=FP32)
        ),
    )


def four():
    """fouroversix: weights of 4,096 by 4,096 numbers in three to six bits with factors of sixteen or more."""

    def kernels(name="kernels.triton.ops"):
        answer(["fouroversix"], folder_of("unseen7/fouroversix/src"))
        return load("fouroversix." + name)

    def kind(name, what="DataType"):
        return getattr(getattr(kernels("utils"), what), name)

    def quantise(name, pseudo=False, **more):
        module = kernels()
        (module.pseudo_quantize if pseudo else module.quantize)(
            rand(4096, 4096), full(5.0, 1, dtype=FP32), dtype=kind(name), **more
        )

    for name in ("nvfp4", "nvint4", "if4", "nvfp6_e2m3", "nvint3"):
        yield name, lambda name=name: quantise(name)
    yield "rounded_any", lambda: quantise("nvfp4", scale_rule=kind("static_6", "ScaleRule"))
    yield "turned", lambda: quantise("nvfp4", had=rand(128, 128), transpose=True)
    for name in ("nvfp4", "if4", "mxfp6_e3m2"):
        yield "pseudo_" + name, lambda name=name: quantise(name, True)

    def packed(name, rows=4096, columns=4096):
        data = kind(name)
        low, many = (120, 8) if name.startswith("mx") else (24, 64)
        factors = (ints(many, rows * columns // data.block_size) + low).to(torch.uint8)
        per = data.quantized_value_type.packing_factor
        return types.SimpleNamespace(
            values=bytes_(rows, columns // per), scale_factors=factors.view(data.scale_type.torch_dtype), dtype=data,
            padded_shape=(rows, columns), original_shape=(rows, columns), amax=scale(1),
            scale_rule=kind("mse", "ScaleRule"), round_style=kind("nearest", "RoundStyle"),
            scale_factors_are_in_blackwell_layout=True,
        )  # fmt: skip

    for name in ("nvfp6_e2m3", "mxfp3"):
        yield "back_" + name, lambda name=name: kernels().dequantize_values(packed(name))
    yield (
        "product",
        lambda: kernels().matmul(packed("nvfp4"), packed("nvfp4"), out_dtype=kind("bfloat16")),
    )


def products():
    """Persistent products of tritonBLAS and of ld_triton, and convolutions as products."""

    def blas(monolithic, kind="half", m=4096, n=4096, k=4096):
        answer(["tritonblas", "tritonblas.kernels"], folder_of("unseen7/tritonblas/include"))
        kernel = load("tritonblas.kernels.persistent_gemm" + "_monolithic" * monolithic).persistent_matmul
        a, b = (half(m, k), half(n, k).t()) if kind == "half" else (eight(m, k), eight(n, k).t())
        quantised, c, bias = kind != "half", half(m, n), half(n)
        kernel[(132 if monolithic else m // 128 * (n // 128),)](
            a, b, c, scale(m) if quantised else None, scale(n) if quantised else None, bias, m, n, k, a.stride(0),
            b.stride(1), c.stride(0), c.stride(1), bias.stride(0), stride_ak=a.stride(1), stride_bk=b.stride(0),
            BLOCK_SIZE_M=128, BLOCK_SIZE_N=128, BLOCK_SIZE_K=64, GROUP_SIZE_M=8,
            NUM_SMS=132 if monolithic else m // 128 * (n // 128), NUM_XCDS=1, CHUNK_SIZE=64, BIAS=True, EVEN_K=True,
            CACHE_MODIFIER_A=None, CACHE_MODIFIER_B=None, QUANTIZED=quantised, num_stages=3, num_warps=8,
        )  # fmt: skip

    yield "blas", lambda: blas(False)
    yield "blas_whole", lambda: blas(True)
    yield "blas_whole_int8", lambda: blas(True, "int8")
    h200 = types.SimpleNamespace(multi_processor_count=132, major=9, minor=0)

    def linear():
        bare("ld_triton", "ldtriton")
        x, weight, bias = leaf(2048, 2048, dtype=FP16), leaf(4096, 2048, dtype=FP16), leaf(4096, dtype=FP16)
        with mock.patch.object(torch.cuda, "get_device_properties", lambda device: h200):
            fb(load("ld_triton.ops.linear.persistent_linear")._persistent_linear.apply(x, weight, bias))

    yield "linear_persistent", linear

    def convolution():
        bare("ld_triton", "ldtriton")
        marks = types.SimpleNamespace(parametrize=lambda *a, **k: lambda function: function)
        stub("pytest", mark=marks)
        module = load("ld_triton.ops.convolution.triton_conv2d")
        x, weight, bias = leaf(4, 320, 64, 64, dtype=FP16), leaf(320, 320, 3, 3, dtype=FP16), leaf(320, dtype=FP16)
        fb(module._triton_conv2d_func.apply(x, weight, bias, (1, 1), (1, 1), (1, 1)))

    yield "convolution", convolution


def cases():
    for prefix, part in (
        ("delta_", sparse_delta), ("sparse_", sparse_models), ("grouped_", grouped), ("chitu_", chitu),
        ("four_", four), ("", small), ("", products),
    ):  # fmt: skip
        for name, case in part():
            yield prefix + name, case
