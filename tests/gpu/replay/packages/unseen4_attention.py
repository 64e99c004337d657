"""Sparse attention and state spaces of `unseen4`: FlexPrefill a24b27b, MoA e224fe3, nsa-impl 623e2c5, Linear-MoE
b312754, ttt-video-dit 6c316a7 and mamba3-fused-triton-kernel 31a6c9e.

Left out: what FlexPrefill shares with MInference, and its decoding in blocks, whose call has an argument too many;
nsa-impl's other kernels, which are flash-linear-attention's; what Linear-MoE has of flash-linear-attention and
lightning-attention; and the last repository's step in one kernel, which reads back what it stored without waiting for
it. The gradients of nsa-impl's keys and values are sums of atomics in 32 bits. The decoding steps write over their
states."""

import torch

from packages.common import BF16, D, FP16, FP32, bare_of, fb, full, leaf, load, rand, stub, unit

bare = bare_of("unseen4")


def blocks_below(queries, keys, chosen):
    """For each block of queries that many different blocks of keys: evenly spread up to its own, which is the last.
    Where fewer than that exist, its own is repeated at the end."""
    own = torch.arange(queries, device=D)[:, None] * keys // queries
    step = torch.arange(chosen, device=D)[None, :]
    return torch.where(own < chosen, step.minimum(own), (step + 1) * own // chosen)


def flexprefill():
    """Qwen2 of 7 billion parameters: 28 heads share 4 of keys and values; prompts of 16,384 tokens, then one more."""
    bare("flex_prefill", "flexprefill")
    stub("transformers")
    stub("transformers.utils", is_flash_attn_2_available=lambda: False)
    stub("flash_attn", flash_attn_func=None)
    flex = lambda: load("flex_prefill.ops.flex_prefill_attention")
    length = 16384
    q = lambda n=length: rand(1, n, 28, 128)
    kv = lambda n=length: rand(1, n, 4, 128)
    yield "dense", lambda: flex().triton_flash_prefill(q(8192), kv(8192), kv(8192))
    yield "dense_decode", lambda: flex().triton_flash_decode(q(1), kv(4 * length), kv(4 * length))
    streaming = lambda: load("flex_prefill.ops.streaming_llm_attention").streaming_llm_attention
    yield "streaming", lambda: streaming()(q(), kv(), kv(), 1024, 2048)
    lines = lambda count, step: torch.arange(count, device=D).mul(step).expand(1, 28, count)

    def vertical_slash(heads=4, size=128):
        attention = load("flex_prefill.ops.vertical_slash_attention").triton_vertical_slash_attention
        k, v = rand(1, length, heads, 128), rand(1, length, heads, 128)
        attention(q(), k, v, size, lines(8, 5), lines(16, 3))

    yield "vertical_slash", vertical_slash
    yield "vertical_slash_64", lambda: vertical_slash(28, 64)


def moa():
    """Vicuna of 7 billion parameters, 8,192 tokens of which a query sees a block of keys in four."""
    bare("MoA", "moa")
    kernels = lambda: load("MoA.kernels.block_sparse_attention_prefill")
    x = lambda n=8192, batch=1: rand(batch, 32, n, 128, dtype=FP16)
    table = lambda: blocks_below(128, 128, 32).int().expand(32, 128, 32).contiguous()
    heads = lambda count: full(count, 32)
    yield "table", lambda: kernels()._sparse_attention_prefill.apply(x(), x(), x(), 128**-0.5, table(), 64, 64)
    yield (
        "sink_and_local",
        lambda: kernels()._sparse_attention_moa_prefill.apply(x(), x(), x(), 128**-0.5, heads(1), heads(31), 64, 64),
    )
    decode_table = lambda: torch.arange(3, 128, 4, device=D).int().expand(4, 32, 32).contiguous()
    yield (
        "decode",
        lambda: kernels()._sparse_attention_decode.apply(
            x(1, 4), x(8192, 4), x(8192, 4), 128**-0.5, decode_table(), 64
        ),
    )  # fmt: skip


def nsa():
    """4,096 tokens, 64 heads on 4 of keys and values; a query sees 16 blocks of 64."""
    bare("nsa", "nsa")
    stub("fla")
    stub("fla.ops")
    stub("fla.ops.nsa")
    stub("fla.ops.nsa.parallel", ParallelNSAFunction=None)

    def selected(dtype, length=4096):
        own = torch.arange(length, device=D)[:, None] // 64
        chosen = own - torch.arange(16, device=D) * (1 + own // 32)
        chosen = chosen.where(chosen >= 0, length // 64 - 1)  # the future, which is not seen
        blocks = chosen[None, :, None].expand(1, length, 4, 16).contiguous()
        q, k, v = (leaf(1, length, heads, 128, dtype=dtype) for heads in (64, 4, 4))
        fb(load("nsa.selection").SelectionAttention.apply(q, k, v, blocks, 64, 128**-0.5, True))

    yield "selected", lambda: selected(BF16)
    yield "selected_fp16", lambda: selected(FP16, 2048)


def linear_moe():
    """LASP-2 at 16 heads of 128 and 8,192 tokens on the first of the processes."""
    bare("linear_moe", "linearmoe")
    stub("megatron")
    stub("megatron.core")
    stub("megatron.core.parallel_state", get_context_parallel_rank=None, get_context_parallel_world_size=None)

    def lasp2(batch, length, block, part):
        op = load("linear_moe.sequence_modeling.lasp2.lasp2_with_mask_triton_op")
        q, k, v, do = (rand(batch, 16, length, 128, scale=0.1) for _ in range(4))
        kv = op.prepare_m(q, k, v, block, part)
        op.lasp2_forward(q, k, v, kv, torch.zeros_like(kv[:, :, -1]), block, part)
        dkv = op.prepare_dm(q, k, v, do, block, part)
        op.lasp2_backward(q, k, v, do, kv, dkv, torch.zeros_like(dkv[:, :, -1]), block, part)

    yield "lasp2", lambda: lasp2(1, 8192, 256, 64)


def ttt():
    """CogVideoX of 5 billion parameters: 48 heads of 64, batches of 64 tokens whose states are kept every 16."""
    bare("ttt", "tttdit")

    def linear():
        batches = lambda last=64: leaf(1, 48, 272, 64, last, scale=0.1)
        w, b = leaf(1, 48, 64, 64, dtype=FP32, scale=0.02), leaf(1, 48, 1, 64, dtype=FP32, scale=0.02)
        norm, bias = leaf(48, 64, dtype=FP32), leaf(48, 64, dtype=FP32)
        eta = leaf(1, 48, 272, 64, 64, scale=0.001)
        ttt_linear = load("ttt.models.ssm.linear_triton").TritonLinear
        fb(ttt_linear.apply(norm, bias, w, b, batches(), batches(), batches(), eta, 16))

    yield "linear", linear


def mamba3():
    """A model of width 2,048: 64 heads of 64 with states of 128; one more token of 64 sequences."""
    bare("src", "mamba3")
    kernels = lambda name: load("src.kernels." + name)
    batch, heads, width, state = 64, 64, 64, 128
    x = lambda *shape: rand(batch, *shape, dtype=FP32)
    positive = lambda: unit(batch, heads, dtype=FP32).detach()
    gates = lambda: (-positive(), positive(), positive(), rand(heads, dtype=FP32))
    wide = lambda: (x(heads, width, state), x(heads, width, state))
    siso = lambda: (x(heads, width), x(heads, state), x(heads, state), *gates())
    yield "step", lambda: kernels("siso_decode").mamba3_siso_decode_triton(*siso(), *wide())
    yield (
        "step_gated",
        lambda: kernels("siso_decode_fused").mamba3_siso_decode_fused_triton(*siso(), x(heads, width), *wide()),
    )

    def mimo(rank, *gate):
        ranks = lambda: x(rank, heads, state)
        mixes = (rand(heads, rank, width, dtype=FP32), rand(heads, rank, width, dtype=FP32))
        return (x(heads, width), ranks(), ranks(), *gates(), *mixes, *gate, x(heads, state), x(heads, state))

    for rank in (1, 2, 4, 8):
        yield f"step_{rank}", lambda r=rank: kernels("mimo_decode").mamba3_mimo_decode_triton(*mimo(r))
    yield (
        "step_4_gated",
        lambda: kernels("mimo_decode_fused").mamba3_mimo_decode_fused_triton(*mimo(4, x(heads, width))),
    )


def cases():
    for prefix, part in (
        ("flexprefill_", flexprefill), ("moa_", moa), ("nsa_", nsa), ("linear_moe_", linear_moe),
        ("ttt_", ttt), ("mamba3_", mamba3),
    ):  # fmt: skip
        for name, case in part():
            yield prefix + name, case
