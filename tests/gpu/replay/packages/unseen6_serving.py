"""Inference of language models of `unseen6`: exllamav3 4f8ad01, Diffulex 184ba97, Quamba c474646, Triton-distributed
1512a811, vllm-triton-backend bfdaac2, RetrievalAttention 6b1228c, FlatQuant 9d88ffc, mixtral-offloading ce54518,
nano-vllm bb823b3, xgrammar 53da3ff8, S-LoRA c1ddf48 and turboquant 7ac9b8d. TokenSpeed has unseen6_tokenspeed.py.

Left out: what Diffulex and vllm-triton-backend have of vLLM, FlatQuant of DeepSeek-V3, RetrievalAttention of XAttention
and S-LoRA of lightllm; what several GPUs of Triton-distributed do together, what it has of flash-linear-attention, and
its copies, which read a register of their thread; and the step of exllamav3's that only its compiled part makes. The
order of atomic operations decides how Diffulex's sums of experts and RetrievalAttention's sums of clusters round, and
the places of the slots and tokens that they sort. Caches and states are written over inputs, also sums of adapters."""

import collections
import types
from unittest import mock

import torch
import triton
import triton.language as tl

from packages.common import (
    BF16, D, FP16, FP32, answer, bytes_, folder_of, full, ints, load, rand, scale, starts, stub, whole,
)  # fmt: skip
from packages.unseen5_serving import eight
from packages.unseen6_tokenspeed import bare, count, pages


def half(*shape):
    return rand(*shape, dtype=FP16)


def exllama():
    """Llama of 8 billion parameters, DeepSeek-V2-Lite and DeepSeek-V3.2: pages of 256 tokens in 16 bits or in four."""
    page, heads, kv_heads, width = 256, 32, 8, 128

    def modules(name):
        bare("exllamav3", "exllamav3")
        noise = lambda x, numbers, scales, compand: (numbers.random_(), scales.normal_())
        extension = types.SimpleNamespace(quant_cache_cont=noise)
        answer(["exllamav3.ext"], folder_of("unseen6/exllamav3"), exllamav3_ext=extension)
        return load("exllamav3." + name)

    attention = lambda name: modules("modules.attention_fn." + name)

    def paged(function, batch, queries, past, bits=0, width=width, new=True, **more):
        """The queries' keys are stored behind those of that length, then looked at with them."""
        each = -(-(past + queries) // page)
        if bits:
            words = lambda: ints(1 << 31, batch * each, page, kv_heads * width // 32 * bits, dtype=torch.int32)
            scales = lambda: half(batch * each, page, kv_heads * width // 32)
            keys, values, k, v = words(), words(), None, None
            more.update(qc=(scales(), scales(), bits, bits), pre_appended_len=queries, n_kv_heads_override=kv_heads)
        else:
            keys, values = half(batch * each, page, kv_heads, width), half(batch * each, page, kv_heads, width)
            k, v = half(batch, queries, kv_heads, width), half(batch, queries, kv_heads, width)
        getattr(attention("triton_paged"), function)(
            half(batch, queries, heads, width), k, v, keys, values, pages(batch, each), full(past, batch), causal=True,
            **more,
        )  # fmt: skip

    yield "decode", lambda: paged("paged_attn_triton_decode", 8, 1, 8000)
    yield "decode_full", lambda: paged("paged_attn_triton_decode", 64, 4, 1000, window_size=(512, 0))
    yield "decode_4_bits", lambda: paged("paged_attn_triton_decode", 8, 1, 8000, bits=4)
    yield "decode_3_bits", lambda: paged("paged_attn_triton_decode", 8, 1, 8000, bits=3)
    yield "prefill", lambda: paged("paged_attn_triton_prefill", 1, 2048, 2048)
    yield "prefill_split", lambda: paged("paged_attn_triton_prefill", 1, 128, 16000)
    yield (
        "prefill_4_bits",
        lambda: paged("paged_attn_triton_prefill", 1, 128, 4000, bits=4, num_stages=2),
    )
    yield "few_queries", lambda: paged("paged_attn_triton", 2, 64, 4000, width=256, softcap=30.0)
    yield "many_queries", lambda: paged("paged_attn_triton_longq", 1, 1024, 1000, width=512)
    yield (
        "no_cache",
        lambda: attention("triton_paged").paged_attn_triton_prefill(
            half(2, 2048, heads, width), None, None, None, None, None, None, causal=True,
            k_new=half(2, 2048, kv_heads, width), v_new=half(2, 2048, kv_heads, width),
        ),
    )  # fmt: skip
    yield (
        "images",
        lambda: attention("triton_paged").varlen_attn_triton(
            half(4096, 16, 72), half(4096, 16, 72), half(4096, 16, 72), starts(4, 1024), 1024
        ),
    )

    def latent(queries, past, batch, heads, bits=0):
        """Absorbed attention in a compressed cache."""
        each = -(-(past + queries) // page)
        module, table, lengths = attention("mla_triton"), pages(batch, each), full(past, batch)
        new, roped = half(batch, queries, 512), half(batch, queries, 64)
        keys, more = half(batch * each, page, 64), dict(pre_appended_len=queries, softmax_scale=0.07)
        if bits:
            cache = ints(1 << 31, batch * each, page, 16 * bits, dtype=torch.int32)
            scales = half(batch * each, page, 16)
            module.mla_kv_quant_append(new, roped, cache, scales, keys, table, lengths, bits)
            more.update(qc=(scales, bits))
        else:
            cache = half(batch * each, page, 512)
            module.mla_kv_append(new, roped, cache, keys, table, lengths)
        attend = module.mla_attn_triton_decode if queries < 16 else module.mla_attn_triton_prefill
        queries_of = half(heads, batch * queries, 512), half(heads, batch * queries, 64)
        attend(*queries_of, cache, keys, table, lengths, batch, queries, **more)

    yield "latent_decode", lambda: latent(1, 4000, 8, 128)
    yield "latent_decode_4_bits", lambda: latent(1, 4000, 8, 128, 4)
    yield "latent_prefill", lambda: latent(512, 1000, 1, 16)
    yield "latent_prefill_4_bits", lambda: latent(512, 1000, 1, 16, 4)

    def expanded():
        """Queries are brought into the cache's space, results out of it; long prompts expand the cache instead."""
        module, heads = attention("mla_triton"), 16
        keys, values = half(512, heads * 128), half(512, heads * 128)
        latent_queries = module.mla_absorb(half(64, heads, 192), keys, heads, 128)
        module.mla_unfold(latent_queries, values, 128)
        module.mla_attn_triton_prefill_mha(
            half(2048, heads, 192), keys, values, half(24, page, 512), half(24, page, 64), pages(1, 24), [4096], 1,
            2048, 128, 128, 0.07, pre_appended_len=2048,
        )  # fmt: skip

    yield "latent_expanded", expanded

    def chosen(queries, top=2048, entries=8192, window=0, inner=512):
        """128 heads look at the best 2,048 entries, or at a window and at every fourth token's summary."""
        each = entries // page
        table = pages(1, each).expand(queries, each).contiguous()
        more = dict(indices=whole(entries, queries, top)) if top else dict(pool_len=entries, compress_rate=4)
        place = entries * 4 - queries if window else entries - queries
        if window:
            more.update(
                ring=half(window, inner + 64), kv_chunk=half(queries, inner + 64), win_len=window,
                win_floor=place - window + 1, ring_beg=place - window, sinks=rand(128, dtype=FP32),
                derot_inv_freq=-scale(32), groups=8,
            )  # fmt: skip
        attention("dsa_triton").dsa_attn(
            half(queries, 128, inner + 64), half(each, page, inner), half(each, page, 64), table, q_pos0=place, **more
        )

    yield "chosen_prefill", lambda: chosen(256)
    yield "chosen_decode", lambda: chosen(4)
    yield "window_prefill", lambda: chosen(256, 0, 2048, 128, 448)
    yield "window_decode", lambda: chosen(4, 0, 2048, 128, 448)
    for name, queries in (("index", 1024), ("index_decode", 2)):
        yield (
            name,
            lambda n=queries: attention("dsa_triton").dsa_indexer_scores(
                half(n, 64, 128), half(n, 64), half(8192, 128), 8192 - n, 1, 8192
            ),
        )
    logits = lambda: rand(1024, 128256, dtype=FP16)
    yield (
        "log_likelihood",
        lambda: modules("util.measures").compute_target_log_probs(logits(), ints(128256, 1024), 128256),
    )
    yield "divergence", lambda: modules("util.measures").compute_kl_div(logits(), logits(), 128256)
    for name, length in (("convolve_few", 64), ("convolve", 2048)):
        yield (
            name,
            lambda n=length: modules("modules.gated_delta_net_fn.conv1d").causal_conv1d_update_slotted_triton(
                rand(4, 8192, n), rand(16, 8192, 4), count(4) * 3, rand(8192, 4), transpose_output=True
            ),
        )


def diffulex():
    """Language models that fill in 32 tokens at a time: 32 heads, 8 of them keys; 64 experts, eight for a token."""
    page, heads, kv_heads, width, vocab = 32, 32, 8, 128, 126464

    def kernels(name):
        bare("diffulex", "diffulex")
        stub("diffulex.attention.metadata", AttnMetaDataBase=object)
        stub("diffulex.moe.topk.output", TopKOutput=object)
        return load("diffulex_kernel.python." + name)

    def attention(module, function, batch, queries, past, **more):
        each = past // page
        data = types.SimpleNamespace(
            page_tables=pages(batch, each), status_table=full(1, batch), context_lens=full(past, batch),
            cu_seqlens_q=starts(batch, queries), valid_slices=starts(batch, queries)[1:], max_seqlen_q=queries,
            prefix_lens=full(0, batch), padded_prefix_lens=full(0, batch), block_size=32, is_block_causal=True,
            is_prefix_full=False, **more,
        )  # fmt: skip
        x = lambda n: rand(batch * queries, n, width)
        cache = lambda: rand(batch * each, page, kv_heads, width)
        getattr(kernels(module), function)(x(heads), x(kv_heads), x(kv_heads), cache(), cache(), data)

    plain = ("chunked_prefill_triton", "chunked_prefill_attn_unified")
    grouped = ("chunked_prefill_grouped_triton", "chunked_prefill_attn_grouped_unified")
    yield "prefill", lambda: attention(*plain, 2, 2048, 1024)
    yield "block", lambda: attention(*plain, 32, 32, 2048)
    yield "block_grouped", lambda: attention(*grouped, 32, 32, 2048)

    def caches(apart):
        """The keys of 16 sequences' new blocks are stored; caches of 1,000 tokens and new ones are put together."""
        batch, each, past, module = 16, 32, 1000, kernels("kv_cache_kernels")
        x = lambda: rand(batch * 32, kv_heads, width)
        if apart:
            keys = rand(batch * each, kv_heads, width // 8, page, 8)
            values = rand(batch * each, kv_heads, width, page)
            module.store_kv_cache_distinct(x(), x(), keys, values, count(batch * 32) * 2)
        else:
            keys, values = rand(batch * each, page, kv_heads, width), rand(batch * each, page, kv_heads, width)
            module.store_kv_cache_unified(x(), x(), keys, values, count(batch * 32) * 2)
        data = types.SimpleNamespace(
            block_tables=pages(batch, each), context_lens=full(past, batch), seq_lens_ts=full(32, batch),
            seqs=[types.SimpleNamespace(diffusion_block_size=32)], cu_seqlens_q=starts(batch, 32),
            cu_seqlens_k=starts(batch, past + 32),
        )  # fmt: skip
        module.load_kv_cache(keys, values, data, x(), x())

    yield "cache", lambda: caches(False)
    yield "cache_apart", lambda: caches(True)

    weights = lambda: (rand(64, 2 * 1024, 2048, scale=0.02), rand(64, 2048, 1024, scale=0.02))

    def experts(tokens):
        chosen = torch.rand(tokens, 64, device=D).topk(8)
        kernels("fused_moe_triton").fused_moe(rand(tokens, 2048), *weights(), chosen.indices, chosen.values)

    def packed(aligned, slots=4096):
        module = kernels("fused_moe_triton")
        data = module.ExpertExecutionMetadata(
            packed_token_ids=count(slots) // 8, packed_local_expert_ids=whole(64, slots), packed_weights=scale(slots),
            num_slots=slots, disable_aligned_metadata=not aligned,
        )  # fmt: skip
        module.fused_expert_packed(rand(slots, 2048), *weights(), data)

    yield "experts", lambda: experts(1024)
    yield "experts_packed", lambda: packed(False)
    yield "experts_aligned", lambda: packed(True)
    yield "choice", lambda: kernels("fused_topk_triton").fused_topk(rand(8192, 64), 8, True, "softmax")
    yield (
        "choice_groups",
        lambda: kernels("fused_topk_triton").fused_group_limited_topk(
            rand(8192, 256, dtype=FP32), rand(256, dtype=FP32), 8, 8, 4, 2.5, True
        ),
    )
    yield (
        "norm",
        lambda: kernels("layernorm_kernels").rms_norm_add(rand(8192, 4096), rand(8192, 4096), rand(4096), 1e-6),
    )
    yield (
        "confidence",
        lambda: kernels("sampler_kernels").greedy_confidence(rand(1024, vocab), forbidden_token_id=126336),
    )


@triton.jit
def softplus(dt):
    """Stands in for mamba_ssm's."""
    return tl.where(dt <= 20.0, tl.math.log(tl.math.exp(dt) + 1), dt)


def quamba():
    """Mamba-2 of 8 billion parameters in eight bits: 128 heads of 64 features, 8 groups of states of 128."""
    heads, width, groups, state, length = 128, 64, 8, 128, 2048

    def kernels(name):
        for parent in ("mamba_ssm", "mamba_ssm.ops", "mamba_ssm.ops.triton"):
            stub(parent)
        stub("mamba_ssm.ops.triton.softplus", softplus=softplus)
        bare("quamba", "quamba")
        return load("quamba.triton." + name)

    factor = lambda *shape: 0.01 * (0.5 + torch.rand(*shape, device=D))
    # Each group's 16 heads fall into four, a head's features, too; the numbers are where these end.
    ends = lambda n, *shape: ((count(4) + 1) * n).expand(*shape, 4).contiguous()
    ranges = lambda: (ends(4, groups), ends(16, groups, 4))

    def scan(newer, batch=2):
        x, dt, b, c = (
            eight(batch, length, *shape) for shape in ((heads, width), (heads,), (groups, state), (groups, state))
        )
        module, more = kernels("quant_ssd_combined"), dict(q_D=eight(heads), D_scale=factor(1), dt_softplus=True)
        more.update(dt_bias=rand(heads, dtype=FP16))
        steps = (dt, factor(1), eight(heads), factor(1))
        if newer:
            module._quamba2_mamba_chunk_scan_combined_fwd(
                x, factor(groups * 16), *ranges(), *steps, b, factor(groups), c, factor(groups),
                factor(groups, 4, 4, state), 256, **more,
            )  # fmt: skip
        else:
            module._quant_mamba_chunk_scan_combined_fwd(
                x, factor(1), *steps, b, factor(1), c, factor(1), factor(1), 256, **more
            )

    yield "scan", lambda: scan(False)
    yield "scan_groups", lambda: scan(True)

    def step(newer, batch=64):
        each = lambda t: t[..., None].expand(*t.shape, width)
        x, dt = eight(batch, heads, width), each(eight(batch, heads))
        decay = eight(heads)[:, None, None].expand(heads, width, state)
        b, c, states = eight(batch, groups, state), eight(batch, groups, state), eight(batch, heads, width, state)
        more = dict(q_D=each(eight(heads)), D_scale=factor(1), dt_bias=each(rand(heads, dtype=FP16)), dt_softplus=True)
        module = kernels("selective_state_update")
        if newer:
            module.quamba2_sscan_update_triton(
                states, x, factor(groups * 16), *ranges(), dt, factor(1), decay, factor(1), factor(groups, 4, 4, state),
                b, factor(groups), c, factor(groups), **more,
            )  # fmt: skip
        else:
            module.quant_sscan_update_triton(
                states, x, factor(1), dt, factor(1), decay, factor(1), factor(1), b, factor(1), c, factor(1), **more
            )

    yield "step", lambda: step(False)
    yield "step_groups", lambda: step(True)
    rows = lambda n: (half(8192, n), half(n), None, 1e-5)
    yield (
        "norm",
        lambda: kernels("quant_norm")._qlayer_norm_fwd(*rows(4096), residual=half(8192, 4096), is_rms_norm=True),
    )
    yield (
        "gated_norm",
        lambda: kernels("quant_normgated")._qlayer_normgated_fwd(
            *rows(8192), eight(8192, 8192), 0.02, group_size=1024, norm_before_gate=False, is_rms_norm=True
        ),
    )


def distributed():
    """Qwen3 of 30 billion parameters on one GPU: 128 experts of 768 features, paged caches, gates."""
    tokens, experts = 8192, 128

    def kernels(name):
        bare("triton_dist", "tritondist/python")
        answer(
            ["triton_dist.tools", "triton_dist.kernels.nvidia.common_ops", "triton_dist.kernels.nvidia.memory_ops"],
            folder_of("tritondist/python"), aot_compile_spaces=lambda spaces: lambda kernel: kernel,
            barrier_on_this_grid=None, fill_tensor=lambda tensor, value, **more: tensor.fill_(value),
        )  # fmt: skip
        return load("triton_dist.kernels.nvidia." + name)

    def swiglu(margin):
        x, weights, module = rand(tokens, 2 * 4096), rand(tokens, dtype=FP32), kernels("swiglu")
        module.swiglu_forward(x, weights, margin)
        module.swiglu_backward(rand(tokens, 4096), x, weights, sm_margin=margin)

    yield "swiglu", lambda: swiglu(0)
    yield "swiglu_persistent", lambda: swiglu(4)

    def decode(function, batch=32, each=256, page=16):
        cache = lambda: half(batch * each, page, 8, 128)
        getattr(kernels("flash_decode"), function)(
            half(batch, 32, 128), cache(), cache(), None, None, full(each * page - 5, batch), pages(batch, each), 0.09
        )

    yield "decode", lambda: decode("gqa_fwd_batch_decode")
    yield "decode_rank", lambda: decode("gqa_fwd_batch_decode_intra_rank")

    def products(kind):
        """Each expert has 64 rows: one tile of up to 128 of them."""
        module, rows = kernels("group_gemm"), tokens // experts
        tiles = -(-tokens // 128) + experts
        index = count(tiles).clamp(max=experts - 1)
        table = (index, full(rows, experts), index * rows, full(1, tiles), index + 1, full(experts, 1))
        x = rand(tokens, 2048)
        if kind == "one":
            module.moe_grouped_gemm(x, rand(experts, 768, 2048), *table)
        elif kind == "columns":
            module.moe_grouped_gemm_2weights(x, rand(experts, 768, 2048), rand(experts, 768, 2048), *table)
        elif kind == "rows":
            weights = rand(experts, 1024, 768), rand(experts, 1024, 768)
            module.moe_grouped_gemm_2weights(x, *weights, *table, weight_reduce_last_dim=False)
        else:
            module.transposed_moe_grouped_gemm(
                rand(tokens, 768), x, full(rows, experts), count(experts) * rows, persistent=kind
            )

    for name, kind in (
        ("experts", "one"), ("experts_columns", "columns"), ("experts_rows", "rows"), ("experts_weights", "none"),
        ("experts_weights_persistent", "static"), ("experts_weights_dynamic", "dynamic"),
    ):  # fmt: skip
        yield name, lambda kind=kind: products(kind)


def backend():
    """IBM's kernels for vLLM: sequences of 4,000 tokens, 32 heads, 8 of them keys."""
    batch, heads, kv_heads, width, length = 32, 32, 8, 128, 4000

    def kernels(name):
        bare("ibm_triton_lib", "ibmtriton/ibm-triton-lib")
        return load("ibm_triton_lib.kernels.legacy." + name)

    def split(page=64, batch=4, **more):
        each = -(-length // page)
        cache = lambda: half(batch * each, kv_heads, page, width)
        kernels("fused_gqa_paged.fused_gqa_paged_splitkv").paged_attention_triton_3d(
            half(batch, heads, width), half(batch, heads, width), cache(), cache(), 0.09, pages(batch, each),
            full(length, batch), None, page, batch, heads, heads // kv_heads, width, **more,
        )  # fmt: skip

    yield "decode_split", split
    yield "decode_split_transposed", lambda: split(transposed=True)
    yield "decode_stickbreaking", lambda: split(stickbreaking=True)

    def segments(page=16):
        each = -(-length // page)
        kernels("triton_paged_decode_attention_3d").paged_attention_triton_3d(
            half(batch, heads, width), half(batch, heads, width), half(batch * each, kv_heads, width // 8, page, 8),
            half(batch * each, kv_heads, width, page), 0.09, scale(1), scale(1), "auto", pages(batch, each),
            full(length, batch), None, page, batch, heads, heads // kv_heads, width,
        )  # fmt: skip

    yield "decode_segments", segments


def retro():
    """Keys of 8 heads and 16,384 tokens in 1,024 clusters."""

    def clusters():
        bare("cache_hub", "retro")
        load("cache_hub.kmeans").segment_k_means(rand(8, 16384, 128), rand(8, 16384, 128), 1024, 3)

    yield "clusters", clusters


def flat():
    """Activations of Llama of 8 billion parameters, turned by two small matrices and quantised to four bits."""

    def kernels(name):
        bare("deploy", "flatquant")
        load("deploy")
        stub("deploy", PackedQuantizedTensor=lambda *parts: parts)
        return load("deploy.kernels." + name)

    def kron(rows, columns):
        kernels("kron_matmul").kron_matmul(
            half(rows, rows), half(4096, rows, columns), half(columns, columns), 2048, 0.98, 0.98
        )

    yield "kron", lambda: kron(64, 64)
    yield "kron_wide", lambda: kron(112, 128)
    block = lambda **more: kernels("block_matmul").block_matmul(
        half(4096, 32, 128), half(128, 128), 2048, 0.98, 0.98, **more
    )
    yield "block", block
    yield "block_product", lambda: block(just_quantize=True)


def mixtral():
    """Mixtral's experts with weights of four, three and two bits."""

    def product(bits, rows, columns=14336, depth=4096, group=64):
        bare("src", "mixtral")
        factors = lambda: half(columns // group, depth)
        function = getattr(load("src.triton_kernels"), f"triton_matmul{bits}_transpose")
        if bits == 3:
            words = ints(1 << 30, -(-columns // 10), depth, dtype=torch.int32)
            function(group, half(rows, depth), words, factors(), factors(), columns)
        else:
            function(group, half(rows, depth), bytes_(columns * bits // 8, depth), factors(), factors())

    for bits in (4, 3, 2):
        yield f"{bits}_bits", lambda bits=bits: product(bits, 16)
        yield f"{bits}_bits_prompt", lambda bits=bits: product(bits, 1024)


def small():
    """What nano-vLLM, XGrammar, S-LoRA and TurboQuant have: caches, masks of grammars, adapters, few bits of keys."""

    def store():
        bare("nanovllm", "nanovllm")
        stub("flash_attn", flash_attn_varlen_func=None, flash_attn_with_kvcache=None)
        x, cache = (lambda: rand(8192, 8, 128)), (lambda: rand(64, 256, 1024))
        load("nanovllm.layers.attention").store_kvcache(x(), x(), cache(), cache(), count(8192) * 2)

    yield "store", store

    def masked(dtype, **more):
        bare("xgrammar", "xgrammar/python")
        module, vocab = load("xgrammar.kernels.apply_token_bitmask_inplace_triton"), 128256
        words = ints(1 << 32, 256, vocab // 32).sub(1 << 31).int()
        h200 = types.SimpleNamespace(multi_processor_count=132, gcnArchName="")
        with mock.patch.object(torch.cuda, "get_device_properties", lambda device: h200):
            module.apply_token_bitmask_inplace_triton(rand(256, vocab, dtype=dtype), words, **more)

    yield "mask", lambda: masked(FP32)
    yield "mask_some", lambda: masked(BF16, indices=list(range(0, 256, 2)))

    def adapters(batch=8, length=512, rank=64, hidden=4096, count_of=4):
        """Four adapters of rank 64, whose rows for queries, keys, values and results lie in a pool."""
        bare("slora", "slora")
        module, rows = load("slora.models.peft.triton_kernel.lora.lora_prefill"), 4 * rank
        pool, low = (lambda: half(8192, hidden)), half(batch * length, rank)
        where = (count(count_of * rows) * 3, count(count_of) * rows, full(rows, count_of))
        which = (count(batch) * length, full(length, batch), count(batch, torch.int64) % count_of)
        module.lora_get_qkvo_fwd_shrink(
            half(batch * length, hidden), pool(), low, *where, *which, hidden, 1, rank, length
        )
        module.lora_get_qkvo_fwd_expand(
            low, pool(), half(batch * length, hidden), full(0.5, count_of, dtype=FP16), *where, *which, hidden, 1, rank,
            length,
        )  # fmt: skip

    yield "adapters", adapters

    def turbo(decode, heads=32, length=8192, width=128):
        """Keys of four bits with signs of what is left over; values of 8 bits."""
        bare("turboquant", "turboquant")
        module = load("turboquant.triton_kernels")
        turns = lambda: rand(width, width, dtype=FP32)
        keys = types.SimpleNamespace(
            mse_indices=bytes_(heads, length, width // 2), qjl_signs=bytes_(heads, length, width // 8),
            norms=scale(heads, length), residual_norms=scale(heads, length),
        )  # fmt: skip
        if decode:
            kind = collections.namedtuple("Values", "data scales zeros bits")
            factors = lambda: scale(heads, length, width // 32)
            values = kind(bytes_(heads, length, width), factors(), factors(), 8)
            module.turboquant_fused_decode(
                half(heads, width), keys, values, turns(), turns(), rand(16, dtype=FP32), 4, 0.01, 0.09
            )
        else:
            module.turboquant_attention_score(
                half(1, heads, 1, width), keys, turns(), turns(), rand(16, dtype=FP32), 4, 0.01
            )

    yield "turbo_scores", lambda: turbo(False)
    yield "turbo_decode", lambda: turbo(True)


def cases():
    for prefix, part in (
        ("exllama_", exllama), ("diffulex_", diffulex), ("quamba_", quamba), ("distributed_", distributed),
        ("backend_", backend), ("retro_", retro), ("flat_", flat), ("mixtral_", mixtral), ("", small),
    ):  # fmt: skip
        for name, case in part():
            yield prefix + name, case
