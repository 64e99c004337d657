"""Inference of language models of `unseen5`: PainlessInferenceAcceleration 78c9b00, whose server is flood.

Left out: flood's experts and blockwise product, which are vLLM's; its quantisation in groups, which is sglang's; what
fills its table of drafts, whose slots the order of programs decides; and its sampling, which Triton 3.6 does not
compile: the offset of its random number is a plain 0. Triton 3.6 compiles its rotary embeddings of queries and keys
apart for as many heads of either. These, its states of linear attention and its caches of drafts are written over
inputs."""

import types

import torch

from packages.common import BF16, D, FP32, fp8, full, ints, load, rand, scale, starts, stub, whole


def eight(*shape):
    """8-bit integers of both signs."""
    return ints(256, *shape).sub(128).to(torch.int8)


def lengths_of(queries, keys, **more):
    """What flood keeps of a batch: that many queries and, of one or several pieces, that many keys a sequence."""
    batch, pieces = len(queries), len(keys[0])
    ends = lambda numbers: torch.tensor([0, *numbers], device=D, dtype=torch.int32).cumsum(0).int()
    numbers = lambda values: torch.tensor(values, device=D, dtype=torch.int32)
    key_lengths = [n for each in keys for n in (each if pieces == 1 else [*each, sum(each)])]
    return types.SimpleNamespace(
        batch_size=batch, q_offsets=ends(queries), k_offsets=ends([n for each in keys for n in each]),
        q_lengths=numbers(queries), k_lengths=numbers(key_lengths), k_segs=full(pieces, batch), max_seg=pieces,
        max_q_length=max(queries), s_offsets=torch.arange(batch, device=D, dtype=torch.int32), qls=queries, kls=keys,
        s_scales=torch.ones(batch, device=D, dtype=BF16), mask=more.get("mask"),
    )  # fmt: skip


def flood():
    """Ling 2.0's sizes: 32 heads of 128 features, four of them keys; 16 heads of linear attention."""
    stub("flood_cuda")
    stub("flood.utils")
    stub("flood.utils.benchmark", benchmark_func=None)
    ops = lambda name: load("flood.ops." + name)
    x = lambda *shape: rand(*(shape or (8192, 4096)))
    prompts, decoding = [4096, 4096], [1] * 64
    tree = lambda count: torch.ones(count, 16, 16, device=D, dtype=torch.int8).tril()

    def attention(queries, keys, heads=32, kv_heads=4, width=128, **more):
        total = sum(map(sum, keys))
        q, k, v = x(sum(queries), heads, width), x(total, kv_heads, width), x(total, kv_heads, width)
        ops("seg_attn").seg_attn_fwd(q, k, v, lengths_of(queries, keys, **more))

    yield "attention", lambda: attention(prompts, [[n] for n in prompts])
    yield "attention_decoding", lambda: attention(decoding, [[2048]] * 64)
    yield "attention_drafts", lambda: attention([16] * 8, [[2048]] * 8, mask=tree(8))
    yield "attention_pieces", lambda: attention([2048], [[1024, 1024]])
    yield "attention_pieces_decoding", lambda: attention(decoding, [[1024, 1024]] * 64)

    def latent(queries, keys):
        q, kv = x(sum(queries), 128, 576), x(sum(map(sum, keys)), 576)
        ops("seg_mla").seg_mla_fwd(q, kv, lengths_of(queries, keys))

    yield "latent", lambda: latent([1024], [[1024]])
    yield "latent_pieces", lambda: latent([1] * 32, [[1024, 1024]] * 32)

    def linear(queries, **more):
        total, heads, width = sum(queries), 16, 128
        q, k, v = (x(total, heads, width) for _ in range(3))
        decay = 2 ** (-0.5 * torch.arange(1, heads + 1, device=D, dtype=FP32))
        states = x(len(queries), heads, width, width)
        ops("seg_la").seg_la_fwd(q, k, v, states, decay, lengths_of(queries, [[n] for n in queries], **more))

    yield "linear", lambda: linear(prompts)
    yield "linear_one", lambda: linear([8192])
    yield "linear_drafts", lambda: linear([16] * 8, mask=tree(8))
    yield "linear_decoding", lambda: linear(decoding)

    yield "int8", lambda: ops("gemm").static_int8_gemm_nt(eight(8192, 4096), eight(4096, 4096), 0.01, 0.02, BF16)
    yield (
        "int8_rows",
        lambda: ops("gemm").dynamic_int8_gemm_nt(eight(8192, 4096), eight(4096, 4096), scale(8192), scale(4096), BF16),
    )
    yield (
        "fp8_tiles",
        lambda: ops("gemm").fp8_tb_gemm(fp8(8192, 4096), scale(8192, 32), fp8(4096, 4096), scale(32, 32), BF16),
    )
    yield "quant", lambda: ops("quantization").static_int8_quant(x(), 0.05)
    yield "quant_older", lambda: ops("quantization").deprecated_static_int8_quant(x(), 0.05)
    yield "quant_rows", lambda: ops("quantization").dynamic_int8_quant(x())
    yield "quant_rows_older", lambda: ops("quantization").deprecated_dynamic_int8_quant(x())
    yield "quant_blocks", lambda: ops("quantization").block_quant(x())
    yield "quant_tiles", lambda: ops("quantization").tile_quant(x())
    yield (
        "group_norm",
        lambda: ops("norm").triton_rms_groupnorm_sigmoid(x(8192, 2048), x(2048), x(8192, 2048), 1e-6, 512),
    )

    def rotary(rotary_dim, together, interleave=False):
        heads, kv_heads, width = (32, 4, 128) if together else (16, 16, 128)
        more = (rand(width), rand(width), rand(8192, rotary_dim, dtype=FP32), starts(2, 4096), full(0, 2), 4096)
        options = dict(q_head=heads, kv_head=kv_heads, rotary_dim=rotary_dim, interleave=interleave)
        if together:
            ops("rope").triton_qk_norm_and_rope_forward(x(8192, (heads + 2 * kv_heads) * width), *more, **options)
        else:
            ops("rope").triton_q_k_norm_and_rope_forward(
                x(8192, heads, width), x(8192, kv_heads, width), *more, **options
            )

    for name, width in (("", 128), ("half_", 64)):
        yield name + "rotary", lambda w=width: rotary(w, True)
        yield name + "rotary_apart", lambda w=width: rotary(w, False)

    table, branches, length = 1 << 16, 8, 8

    def retrieve():
        tokens = [[7 * i + 3, 11 * i + 5] for i in range(64)]
        ops("draft").retrieve_draft_table(
            tokens, rand(table, dtype=FP32).abs() * 64, whole(128256, table, length), table, retrieve_count=4
        )

    yield "retrieve", retrieve
    count = 64 * branches * length
    yield (
        "verify",
        lambda: ops("draft").verify_draft(
            whole(4, count), whole(4, count), torch.arange(64, device=D, dtype=torch.int32) * 4096, None, 64, branches,
            length,
        ),
    )  # fmt: skip
    moves = lambda: torch.arange(512, device=D, dtype=torch.int32)
    yield "draft_cache", lambda: ops("draft").update_draft_cache(x(8192, 1024), moves() + 1024, moves())
    yield (
        "draft_states",
        lambda: ops("draft").update_draft_fix_size_cache(
            x(16, 16 * 128 * 128), torch.arange(16, device=D), x(16 * 64, 16, 128), x(16 * 64, 16, 128),
            whole(64, 16, 16), 0.1 * torch.rand(16, device=D),
        ),
    )  # fmt: skip


def cases():
    for prefix, parts in (("flood_", (flood,)),):
        for part in parts:
            for name, case in part():
                yield prefix + name, case
