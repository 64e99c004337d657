"""sglang's kernels of attention, state spaces and mixtures of experts."""

import torch

from packages.common import BF16, D, FP32, fp8, rand, scale, starts, whole
from packages.sglang_rows import N


def pages(batch, length):
    """The tokens of each sequence in a cache: where they start, and which slots they have."""
    return starts(batch, length), torch.arange(batch * length, device=D)


def decode(f, heads=32, kv=8, width=128, value=128, batch=64, length=4096, mla=False):
    indptr, indices = pages(batch, length)
    cache = rand(batch * length, kv, width)
    f(
        rand(batch, heads, width),
        cache,
        cache[..., :value] if mla else rand(batch * length, kv, value),
        rand(batch, heads, value),
        indptr,
        indices,
        rand(batch, heads, 8, value, dtype=FP32),
        rand(batch, heads, 8, dtype=FP32),
        torch.full((batch,), 8, device=D, dtype=torch.int32),
        8,
        width**-0.5,
        1.0,
        1.0,
    )


def extend(f, batch=8, prefix=1024, new=1024, width=128):
    indptr, indices = pages(batch, prefix)
    q = lambda heads: rand(batch * new, heads, width)
    f(
        q(32),
        q(8),
        q(8),
        q(32),
        rand(batch * prefix, 8, width),
        rand(batch * prefix, 8, width),
        starts(batch, new),
        indptr,
        indices,
        None,
        True,
        None,
        new,
        1.0,
        1.0,
    )


def prefill(f, batch=8, length=1024, width=128):
    q = lambda heads: rand(batch * length, heads, width)
    f(
        q(32),
        q(8),
        q(8),
        q(32),
        starts(batch, length)[:-1],
        torch.full((batch,), length, device=D, dtype=torch.int32),
        length,
    )


def recurrent(f, batch=128, heads=16, values=32, width=128):
    q = lambda n: rand(1, batch, n, width)
    f(
        rand(values, dtype=FP32),
        rand(batch, values),
        rand(values),
        1.0,
        20.0,
        q(heads),
        q(heads),
        q(values),
        rand(batch, values),
        rand(batch, values, width, width, dtype=FP32),
        torch.arange(batch, device=D, dtype=torch.int32),
        use_qk_l2norm_in_kernel=True,
        cu_seqlens=starts(batch, 1),
    )


def chunked(f, heads=16, values=32, width=128, length=8192, kda=False):
    q = lambda n: rand(1, length, n, width)
    gates = -scale(1, length, values, width) if kda else -scale(1, length, values)
    f(
        q(values if kda else heads),
        q(values if kda else heads),
        q(values),
        gates,
        torch.rand(1, length, values, device=D, dtype=BF16),
        width**-0.5,
        rand(8, values, width, width, dtype=FP32),
        torch.arange(8, device=D, dtype=torch.int32),
        cu_seqlens=starts(8, length // 8).long(),
        use_qk_l2norm_in_kernel=True,
    )


def conv(f, channels=8192, length=N):
    f(
        rand(channels, length),
        rand(channels, 4),
        rand(channels),
        rand(8, channels, 3),
        starts(8, length // 8),
        [length // 8] * 8,
        torch.arange(8, device=D, dtype=torch.int32),
        torch.ones(8, device=D, dtype=torch.bool),
    )


def state_space(f, batch=128, heads=64, width=64, state=128):
    each = lambda *shape: rand(batch, heads, *shape)
    head = lambda: rand(heads, dtype=FP32)[:, None].expand(heads, width)
    f(
        each(width, state),
        each(width),
        rand(batch, heads)[..., None].expand(batch, heads, width),
        -head().abs()[..., None].expand(heads, width, state),
        rand(batch, 8, state),
        rand(batch, 8, state),
        D=head(),
        z=each(width),
        dt_bias=head(),
        dt_softplus=True,
        out=each(width),
    )


def mamba(f, length=4096, heads=64, width=64, state=128):
    f(
        rand(2, length, heads, width),
        rand(2, length, heads, dtype=FP32),
        -scale(heads),
        rand(2, length, 8, state),
        rand(2, length, 8, state),
        256,
        D=rand(heads, dtype=FP32),
        dt_bias=rand(heads, dtype=FP32),
        dt_softplus=True,
        out=rand(2, length, heads, width),
    )


def experts(f, tokens=4096, hidden=2048, wide=1536, count=128, top=8, narrow=False, block=128):
    """A grouped product of a mixture of experts, as sglang's fused_experts launches it."""
    import triton.language as tl

    pairs = tokens * top
    padded = pairs + count * (block - 1)
    config = dict(
        BLOCK_SIZE_M=block,
        BLOCK_SIZE_N=128,
        BLOCK_SIZE_K=128 if narrow else 64,
        GROUP_SIZE_M=16,
        num_warps=8 if block > 64 else 4,
        num_stages=3,
    )
    make = fp8 if narrow else rand
    blocks = (padded + block - 1) // block
    ids = torch.arange(blocks * block, device=D, dtype=torch.int32)
    f(
        make(tokens, hidden),
        make(count, wide, hidden),
        None,
        rand(tokens, top, wide),
        scale(tokens, hidden // 128) if narrow else None,
        scale(count, wide // 128, hidden // 128) if narrow else None,
        None,
        rand(tokens, top, dtype=FP32),
        whole(count, tokens, top),
        ids,
        torch.arange(blocks, device=D, dtype=torch.int32) * count // blocks,
        torch.tensor([pairs // block * block], device=D, dtype=torch.int32),
        False,
        top,
        config,
        tl.bfloat16,
        narrow,
        False,
        False,
        False,
        False,
        [128, 128] if narrow else None,
    )


MODELS = [
    ("attention.decode_attention", "decode_attention_fwd", decode),
    ("attention.decode_attention", "decode_attention_fwd", lambda f: decode(f, kv=32, batch=32)),
    (
        "attention.decode_attention",
        "decode_attention_fwd",
        lambda f: decode(f, heads=16, kv=1, width=576, value=512, mla=True),
    ),
    ("attention.extend_attention", "extend_attention_fwd", extend),
    ("attention.prefill_attention", "context_attention_fwd", prefill),
    (
        "attention.merge_state",
        "merge_state_triton",
        lambda f: f(rand(N, 32, 128), rand(N, 32, dtype=FP32), rand(N, 32, 128), rand(N, 32, dtype=FP32)),
    ),
    (
        "attention.mla_qk_prep",
        "concat_and_cast_mha_k_triton",
        lambda f: f(rand(N, 128, 192), rand(N, 128, 128), rand(N, 1, 64)),
    ),
    (
        "attention.triton_gdn_fused_proj",
        "fused_qkvzba_split_reshape_cat",
        lambda f: f(rand(N, 16 * (2 * 128 + 4 * 128)), rand(N, 64), 16, 32, 128, 128),
    ),
    ("attention.linear.fused_sigmoid_gating_recurrent", "fused_sigmoid_gating_delta_rule_update", recurrent),
    ("attention.fla.chunk", "chunk_gated_delta_rule", chunked),
    ("attention.fla.kda", "chunk_kda", lambda f: chunked(f, kda=True)),
    (
        "attention.fla.layernorm_gated",
        "layernorm_fn",
        lambda f: f(rand(N * 32, 128), rand(128), None, z=rand(N * 32, 128), is_rms_norm=True),
    ),
    (
        "attention.fla.fused_norm_gate",
        "rms_norm_gated",
        lambda f: f(rand(1, N, 32, 128), rand(1, N, 32, 128), rand(128), None),
    ),
    ("attention.fla.l2norm", "l2norm_fwd", lambda f: f(rand(1, N, 16, 128))),
    (
        "attention.linear.lightning_attn",
        "lightning_attention",
        lambda f: f(*(rand(2, 32, 4096, 128) for _ in range(3)), scale(32)),
    ),
    ("mamba.causal_conv1d_triton", "causal_conv1d_fn", conv),
    (
        "mamba.causal_conv1d_triton",
        "causal_conv1d_update",
        lambda f: f(rand(128, 8192), rand(128, 8192, 3), rand(8192, 4), rand(8192), "silu"),
    ),
    ("mamba.triton_ops.mamba_ssm", "selective_state_update", state_space),
    ("mamba.triton_ops.ssd_combined", "mamba_chunk_scan_combined", mamba),
    ("moe.fused_moe_triton_kernels", "invoke_fused_moe_kernel", experts),
    ("moe.fused_moe_triton_kernels", "invoke_fused_moe_kernel", lambda f: experts(f, narrow=True)),
    ("moe.fused_moe_triton_kernels", "invoke_fused_moe_kernel", lambda f: experts(f, tokens=64, block=16)),
    (
        "moe.fused_moe_triton_kernels",
        "act_and_mul_triton",
        lambda f: f(rand(N, 2 * 1536), rand(N, 1536), dict(BLOCK_SIZE_M=64, BLOCK_SIZE_N=128)),
    ),
    ("moe.fused_moe_triton_kernels", "moe_sum_reduce_triton", lambda f: f(rand(N, 8, 2048), rand(N, 2048), 1.0)),
    (
        "moe.ep_moe_kernels",
        "silu_and_mul_masked_fwd",
        lambda f: f(rand(16, 1024, 4096), rand(16, 1024, 2048), torch.full((16,), 512, device=D, dtype=torch.int32)),
    ),
    (
        "moe.ep_moe_kernels",
        "silu_and_mul_masked_post_quant_fwd",
        lambda f: f(
            rand(16, 1024, 4096),
            fp8(16, 1024, 2048),
            scale(16, 1024, 16),
            128,
            torch.full((16,), 512, device=D, dtype=torch.int32),
        ),
    ),
    ("moe.gate_topk", "gate_topk", lambda f: f(rand(N, 256, dtype=FP32), 8)),
    ("moe.inkling_moe", "silu_and_mul", lambda f: f(rand(N, 2 * 1536))),
]
