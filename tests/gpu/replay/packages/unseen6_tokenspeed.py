"""TokenSpeed f4d8ec6e of `unseen6`: an inference engine's sampling, caches, rows and attention.

Left out: what it has of sglang and flash-linear-attention; what several GPUs do together; its experts, whose rows only
Blackwell's instructions gather; most of DeepSeek-V4's, Kimi's and Inkling's own kernels; numbers of four bits; and
kernels that write to addresses that they take as numbers. Its fork of Triton gives way to Triton. Caches, penalties,
counts, gates and drawn tokens are written over inputs; tokens are drawn at random, from seeds."""

import torch
import triton
import triton.language as tl

from packages.common import D, FP32, bare_of, bytes_, fp8, full, ints, load, rand, scale, starts, stub, whole

bare = bare_of("unseen6")


def count(n, dtype=torch.int32):
    """The numbers from 0."""
    return torch.arange(n, device=D, dtype=dtype)


def pages(batch, each):
    """A table of pages, of which no two sequences share one."""
    return count(batch * each).view(batch, each)


def tokenspeed_sampling(ops):
    """64 requests, of each four drafted tokens, from a vocabulary of 151,936."""
    batch, drafts, vocab, pool = 64, 4, 151936, 256
    rows = batch * drafts
    sampling = lambda name: ops("sampling.triton." + name)
    logits = lambda: 4 * rand(rows, vocab, dtype=FP32)
    blocks = lambda size=1024: -(-vocab // size)
    numbers = lambda *shape: rand(*(shape or (rows,)), dtype=FP32)
    slots = lambda: count(batch) * 4

    def draw(module, function, *extra, top_k=None, top_p=None, min_p=None, **more):
        """Calls it with logits, requests, temperatures, what limits the choice, seeds, places, what else it takes."""
        limits = [
            *([full(top_k, pool)] if top_k else []),
            *([full(top_p, pool, dtype=FP32)] if top_p else []),
            *([full(min_p, pool, dtype=FP32)] if min_p else []),
        ]
        getattr(sampling(module), function)(
            logits(), slots(), full(0.8, pool, dtype=FP32), *limits, ints(1 << 40, pool), whole(4096, pool),
            *extra, whole(vocab, rows), num_tokens_per_req=drafts, **more,
        )  # fmt: skip

    local = lambda *more: (whole(vocab, rows, blocks(), *more), numbers(rows, blocks(), *more))
    yield "gumbel", lambda: draw("gumbel", "gumbel_sample_from_pools", *local())
    yield "gumbel_compact", lambda: draw("gumbel", "gumbel_sample_from_pools_compact")
    yield "generic", lambda: draw("generic", "gumbel_sample_from_pools_generic", top_k=50, top_p=0.9)
    yield "min_p", lambda: draw("min_p", "gumbel_sample_min_p_from_pools", min_p=0.05)
    yield (
        "min_p_parallel",
        lambda: draw("min_p", "gumbel_sample_min_p_from_pools_parallel", *local(), numbers(), min_p=0.05),
    )
    parallel = lambda: (
        numbers(rows, blocks()), numbers(rows, blocks()), whole(vocab, rows, blocks()), numbers(rows, blocks(), 3),
        numbers(rows, blocks(), 3), whole(vocab, rows, blocks(), 3), numbers(), numbers(), whole(vocab, rows),
        numbers(rows, 3), whole(vocab, rows, 3), whole(2, rows),
    )  # fmt: skip
    yield (
        "top_p_parallel",
        lambda: draw("topp", "gumbel_sample_top_p_parallel_from_pools", *parallel(), top_p=0.9),
    )
    candidates = lambda: (whole(vocab, rows, blocks(2048) * 128), numbers(rows, blocks(2048) * 128))
    yield (
        "top_k_top_p",
        lambda: draw(
            "topk_topp", "gumbel_sample_top_k_top_p_from_pools", *candidates(), top_k=50, top_p=0.9
        ),
    )  # fmt: skip

    def qrita():
        table = sampling("topk_topp")._QRITA_PERCENTILE_TO_STD_TABLE
        extra = numbers(132, vocab), torch.tensor(table, device=D, dtype=FP32)
        draw(
            "topk_topp", "gumbel_sample_top_k_top_p_qrita_from_pools", *extra, top_k=50, top_p=0.9, num_programs=132
        )  # fmt: skip

    yield "qrita", qrita
    yield (
        "scalars",
        lambda: sampling("common").gather_and_expand_scalars(
            slots(), temperature=scale(pool), top_k=whole(50, pool), top_p=scale(pool), min_p=scale(pool),
            seed=ints(1 << 40, pool), offsets=whole(4096, pool), n=drafts,
        ),
    )  # fmt: skip
    yield "logprobs", lambda: sampling("logprobs").selected_token_logprobs(logits(), ints(vocab, rows))
    yield (
        "min_p_renorm",
        lambda: sampling("probability").min_p_renorm_prob(torch.softmax(logits(), -1), full(0.05, rows, dtype=FP32)),
    )
    yield (
        "penalties",
        lambda: sampling("penalties").apply_penalties_logit_bias_inplace(
            logits(), slots(), whole(3, pool, vocab), numbers(pool, vocab), scale(pool), scale(pool), 1 + scale(pool),
            num_tokens_per_req=drafts,
        ),
    )  # fmt: skip
    yield (
        "counts",
        lambda: sampling("penalties").accumulate_counts_inplace(
            whole(3, pool, vocab), whole(pool, 1024), whole(vocab, 1024), whole(2, 1024)
        ),
    )
    yield (
        "verify",
        lambda: sampling("verify").verify_chain_target_sampled(
            whole(vocab, rows), whole(2, batch, drafts), whole(2, batch), whole(2, batch, drafts), whole(2, rows)
        ),
    )


def tokenspeed_caches(ops):
    """8 heads of keys, 4,096 new tokens; a compressed cache of 576 features."""
    tokens, heads, width, slots = 4096, 8, 128, 16384
    cache = lambda: ops("kvcache.triton")
    x = lambda *shape: rand(*(shape or (tokens, heads * width)))
    places = lambda n=tokens: count(n, torch.int64) * 3
    yield (
        "store",
        lambda: cache().store_kv_cache(x(), x(), x(slots, heads * width), x(slots, heads * width), places()),
    )
    yield (
        "store_fp8",
        lambda: cache().fused_fp8_set_kv_buffer(
            x(tokens, heads, width), x(tokens, heads, width), fp8(slots, heads, width), fp8(slots, heads, width),
            places(), 0.5, 0.5, page_size=64,
        ),
    )  # fmt: skip
    yield (
        "store_mxfp8",
        lambda: cache().quantize_store_kv_mxfp8(
            x(tokens, heads, width), x(tokens, heads, width), fp8(slots, heads, width), fp8(slots, heads, width),
            bytes_(slots, heads, 4), bytes_(slots, heads, 4), places(),
        ),
    )  # fmt: skip
    yield (
        "store_scales",
        lambda: cache().store_sf_interleaved(bytes_(tokens, heads, 4), bytes_(slots, heads, 4), places()),
    )
    yield "mxfp8_rows", lambda: cache().quantize_mxfp8_rows(x(tokens * 64, width))
    yield (
        "page_table",
        lambda: cache().gather_page_table_with_padding(
            whole(slots, 256, 512), count(64), whole(512 * 64, 64), whole(1, 64, 512), bs=64, max_num_pages=512,
            page_size=64,
        ),
    )  # fmt: skip
    for name, n in (("transfer", 4096), ("transfer_few", 64)):
        yield (
            name,
            lambda n=n: cache().transfer_kv_per_layer(
                x(slots, heads * width), x(slots, heads * width), x(slots, heads * width), x(slots, heads * width),
                places(n), places(n), 2 * heads * width,
            ),
        )  # fmt: skip
    yield (
        "transfer_latent",
        lambda: cache().transfer_kv_per_layer_mla(x(slots, 576), x(slots, 576), places(), places(), 1152),
    )
    yield (
        "decode_places",
        lambda: cache().compute_group_decode_locs(
            whole(slots // 64, 4, 64, 128), full(64, 4), whole(8000, 64) + 4, whole(1, 4, 256), 64, 4
        ),
    )
    yield (
        "unpack_tables",
        lambda: cache().unpack_group_tables(
            whole(slots, 4 * 64 * 128), torch.tensor([[i * 64 * 128, 128, 1] for i in range(4)], device=D).int(),
            whole(1, 4, 64, 256), 64, 60,
        ),
    )  # fmt: skip
    yield (
        "index_keys",
        lambda: cache().index_k_block_split_scatter(
            bytes_(slots // 64, 64 * 132), fp8(tokens, 128), scale(tokens, 1), places(), page_size=64, head_dim=128,
            group_size=128,
        ),
    )  # fmt: skip


def tokenspeed_rows(ops):
    """Qwen3-Next and Kimi: rows of 2,048 to 7,168 features, 16 heads of 256, a pair of which shares a key."""
    tokens, hidden = 8192, 7168
    norm, act = (lambda: ops("layernorm.triton")), (lambda: ops("activation.triton"))
    x = lambda *shape: rand(*(shape or (tokens, hidden)))
    turns = lambda n: (rand(32768, n, dtype=FP32), ints(32768, tokens))
    yield "norm", lambda: norm().rmsnorm(x(), x(hidden), 1e-6)
    yield "add_norm", lambda: norm().rmsnorm(x(), x(hidden), 1e-6, x())
    yield "qk_norm", lambda: norm().qk_rmsnorm(x(tokens, 32 * 128), x(tokens, 4 * 128), x(128), x(128), 1e-6)
    yield (
        "qk_norm_rotary",
        lambda: norm().fused_qk_rmsnorm_rope(
            x(tokens, 32 * 128), x(tokens, 4 * 128), x(128), x(128), *turns(128), 1e-6, 32, 4, 128
        ),
    )
    yield (
        "qk_norm_rotary_gate",
        lambda: norm().fused_qk_rmsnorm_rope_gate(
            x(tokens, 2 * 16 * 256), x(tokens, 2 * 256), x(256), x(256), *turns(64), 1e-6, 16, 2, 256, 64
        ),
    )
    yield (
        "two_norms",
        lambda: norm().rmsnorm_fused_parallel(
            x(tokens, 1536), x(1536), x(tokens, 1536), x(tokens, 512), x(512), x(tokens, 512), 1e-6
        ),
    )
    yield "sigmoid_mul", lambda: act().sigmoid_mul(x(tokens, 4096), x(tokens, 16, 512)[..., 256:])
    yield "silu", lambda: act().silu_and_mul(x(tokens, 2 * 2048))
    yield "situ", lambda: act().situ_and_mul(x(tokens, 2 * 2048), beta=1.5, linear_beta=2.0)
    yield "swiglu_fp8", lambda: act().fused_swiglu_fp8_ue8m0(x(tokens, 2 * 2048), 7.0)
    for name, expected in (("swiglu_fp8_experts", None), ("swiglu_fp8_experts_loop", 32)):
        yield (
            name,
            lambda e=expected: act().fused_swiglu_fp8_ue8m0_masked_packed(x(32, 256, 2 * 2048), full(48, 32), e),
        )
    yield (
        "gated_norm",
        lambda: act().rmsnorm_gated_sigmoid(x(tokens, 32 * 128), x(tokens, 32 * 128), x(128), 1e-6, 32, 128),
    )
    yield "add3", lambda: act().add3(x(), x(), x())
    few = 2048
    sums = lambda: rand(few, hidden, dtype=FP32)
    scratch = lambda: (rand(few, dtype=FP32), scale(few), sums())
    blocks = lambda: x(4, few, hidden)
    yield "residuals", lambda: act().attnres_partial(blocks(), x(hidden), 1e-6, scratch())
    yield (
        "residuals_dual",
        lambda: act().attnres_partial_dual(blocks(), x(hidden), x(hidden), 1e-6, scratch(), scratch()),
    )
    yield (
        "residuals_combine",
        lambda: act().attnres_combine(x(few, hidden), x(hidden), x(hidden), 1e-6, scratch(), x(few, hidden)),
    )
    quant = lambda: ops("quantization.triton")
    yield "quant_fp8_groups", lambda: quant().triton_quantize_fp8_with_scale(x(), "token_group", 128)
    yield "quant_mxfp8", lambda: quant().mxfp8_quantize(x())
    yield (
        "experts_choice",
        lambda: ops("moe.triton.softmax_topk").triton_softmax_topk(
            router_logits=x(tokens, 128), topk=8, renormalize=True, routed_scaling_factor=1.0
        ),
    )


def tokenspeed_attention(ops):
    """Paged attention: MLA of DeepSeek, heads with relative positions, MiniMax's chosen blocks, Qwen3-Next's heads."""
    attention = lambda name: ops("attention.triton." + name)
    x = rand
    yield (
        "merge",
        lambda: attention("merge_state").triton_attn_merge_state(
            x(4096, 64, 128), x(4096, 64, dtype=FP32), x(4096, 64, 128), x(4096, 64, dtype=FP32), 1.0
        ),
    )
    yield (
        "expand_pages",
        lambda: attention("page_table").expand_page_table(
            whole(4096, 64, 512), whole(1, 64, 2048), ratio=4, max_kernel_pages=2048
        ),
    )
    packed = lambda: (x(16384, 3 * 1280), 1280, 1280, 16, 80)  # a vision tower's
    yield (
        "rotary_complex",
        lambda: attention("qkv_rotary").packed_qkv_complex_rotary(
            *packed(), torch.polar(scale(16384, 40), scale(16384, 40)), copy_v=True
        ),
    )
    yield (
        "rotary_neox",
        lambda: attention("qkv_rotary").packed_qkv_neox_rotary(
            *packed(), x(16384, 80, dtype=FP32), x(16384, 80, dtype=FP32)
        ),
    )
    for name, norm in (("split", False), ("split_norm", True)):
        yield (
            name,
            lambda norm=norm: attention("gdn_qkv_split").fused_qkv_split_gdn_prefill(
                x(8192, 8192), 16, 16, 32, 128, 128, 128, norm
            ),
        )

    def latent_decode():
        attention("mla_decode").triton_mla_decode_with_kvcache(
            x(32, 1, 128, 576), x(32 * 32, 64, 576), pages(32, 32), full(2000, 32), 2048, 128, 512, 64, 0.07
        )

    yield "latent_decode", latent_decode
    yield (
        "latent_prefill",
        lambda: attention("mla_prefill").triton_mla_prefill(
            x(4096, 64, 192), x(4096, 64, 192), x(4096, 64, 128), starts(2, 2048), starts(2, 2048), 2048, 2048, 0.07
        ),
    )

    def relative(heads, kv_heads, decode, batch=16, length=4096, page=64, extent=256):
        each, module = length // page, attention("rel_mha")
        cache = lambda: x(batch * each, page, kv_heads, 128)
        if decode:
            module.triton_rel_mha_decode_with_kvcache(
                x(batch, heads, 128), cache(), cache(), pages(batch, each), full(length - 5, batch), length,
                x(batch, heads, extent), starts(batch, 1),
            )  # fmt: skip
        else:
            module.triton_rel_mha_extend_with_kvcache(
                x(4096, heads, 128), starts(2, 2048), starts(2, length), cache(), cache(), pages(2, each),
                full(length, 2), 2048, length, x(4096, heads, extent),
            )  # fmt: skip

    yield "relative_extend", lambda: relative(32, 8, False)
    yield "relative_decode", lambda: relative(32, 8, True)
    yield "relative_decode_alone", lambda: relative(16, 16, True)
    yield (
        "relative_prefill",
        lambda: attention("rel_mha").triton_rel_mha_prefill(
            x(4096, 32, 128), x(4096, 8, 128), x(4096, 8, 128), x(4096, 32, 256), starts(2, 2048), [0, 2048, 4096],
            2048,
        ),
    )  # fmt: skip

    def chosen(batch, queries, length, decode):
        """Blocks of 128 tokens are scored for four heads; of each 16 heads then look at the best 16 blocks."""
        each, tokens, kv_heads = length // 128, batch * queries, 4
        more = dict(scale=128**-0.5)
        if decode:
            more.update(decode_query_len=queries)
        else:
            more.update(
                cu_seqlens_q=starts(batch, queries), prefix_lens=full(length - queries, batch), max_query_len=queries
            )
        table, lengths = pages(batch, each), full(length, batch)
        slots = (table[:, -(queries // 128 or 1) :, None] * 128 + count(128)).reshape(batch, -1)[:, -queries:]
        best = attention("minimax_indexer").minimax_indexer(
            x(tokens, kv_heads, 128), x(tokens, 128), x(batch * length, 128), slots.reshape(-1).contiguous(), table,
            lengths, topk=16, init_blocks=1, local_blocks=2, **more,
        )  # fmt: skip
        cache = lambda: x(batch * each, kv_heads, 128, 128)
        attention("minimax_sparse_attention").minimax_sparse_attention(
            x(tokens, 64, 128), cache(), cache(), best, table, lengths, **more
        )

    yield "chosen_prefill", lambda: chosen(2, 2048, 8192, False)
    yield "chosen_decode", lambda: chosen(16, 2, 8192, True)


def tokenspeed():
    extra = triton.language.extra

    def ops(name):
        bare("tokenspeed_kernel", "tokenspeed/tokenspeed-kernel/python")
        from triton.tools.tensor_descriptor import TensorDescriptor

        stub("tokenspeed_kernel._triton", triton=triton, tl=tl, libdevice=extra.libdevice, gl=None, gluon=None)
        stub("tokenspeed_kernel._triton", TensorDescriptor=TensorDescriptor)
        return load("tokenspeed_kernel.ops." + name)

    for part in (tokenspeed_sampling, tokenspeed_caches, tokenspeed_rows, tokenspeed_attention):
        for name, case in part(ops):
            yield part.__name__.partition("_")[2] + "_" + name, case


def cases():
    for prefix, part in (("tokenspeed_", tokenspeed),):
        for name, case in part():
            yield prefix + name, case
