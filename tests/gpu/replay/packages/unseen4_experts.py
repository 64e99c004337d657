"""Experts, state spaces and caches of `unseen4`: Megatron-LM d98e8a64dd, VeOmni d9774494 and torchtitan b5bcd76c6.

Left out: what they have in common with mamba_ssm, vLLM, flash-linear-attention, Primus-Turbo and others, which was
timed before; what several GPUs do together; torchtitan's multi-head latent attention, which needs a newer PyTorch than
2.11; and kernels whose rows' places the order of atomic operations decides. It also decides how Megatron-LM's
unpermuted rows round. Most kernels of caches write over their inputs."""

import contextlib
import dataclasses
import logging

import torch

from packages.common import (
    BF16, D, FP32, BarePackages, fb, folder_of, full, ints, leaf, load, rand, starts, stub, whole,
)  # fmt: skip

TOKENS, EXPERTS, CHOSEN, WIDTH = 8192, 64, 8, 2048


def choice(tokens=TOKENS, experts=EXPERTS, chosen=CHOSEN):
    """Different experts for each token."""
    return torch.rand(tokens, experts, device=D).topk(chosen).indices


def sources(rows=TOKENS, tokens=1024):
    """The token of each row; one row of eight is padding."""
    row = torch.arange(rows, device=D, dtype=torch.int32)
    return torch.where(row % 8 == 7, -1, row % tokens)


def order(count=TOKENS * CHOSEN):
    """A permutation of rows."""
    return torch.randperm(count, device=D)


def megatron(name):
    BarePackages("megatron", folder_of("unseen4/megatron"))
    stub("megatron.core.utils", null_decorator=None)
    stub("megatron.core.jit", jit_fuser=lambda f: f)
    stub("megatron.core.transformer.custom_layers.batch_invariant_kernels", grouped_gemm_batch_invariant=None,
         grouped_gemm_batch_invariant_alignment=None, is_batch_invariant_mode_enabled=lambda: False)  # fmt: skip
    return load("megatron.core." + name)


def fusions():
    """Of training: the router's map, and the rotary embeddings of multi-head latent attention."""
    fused = lambda name: megatron("fusions." + name)
    angles = lambda: (rand(4096, 1, 1, 64), rand(4096, 1, 1, 64))
    rope = lambda: fused("fused_mla_yarn_rope_apply")
    yield "rope", lambda: fb(rope().fused_mla_rope_out_of_place(leaf(4096, 1, 128, 192), *angles(), 128, 64))
    yield (
        "rope_split",
        lambda: fb(
            rope().fused_mla_rope_kv_split(leaf(4096, 1, 128, 256), leaf(4096, 1, 1, 64), *angles(), 64, 128, 128)
        ),
    )
    yield (
        "pad_map",
        lambda: fused("fused_pad_routing_map").fused_pad_routing_map(torch.rand(TOKENS, EXPERTS, device=D) < 0.125, 16),
    )


def inference():
    """Requests are 256; a block of the cache has 256 tokens."""
    requests, states = 256, lambda *shape: rand(requests, *shape)
    tensors = lambda: megatron("inference.contexts.attention_context.triton.tensor_ops")
    yield "slice", lambda: tensors().tensor_get_slice_after(states(4096), states(4096), full(100, 1))
    yield "merge", lambda: tensors().tensor_merge(states(4096), states(4096), full(100, 1), states(4096))
    places = lambda: torch.where(torch.arange(requests, device=D) % 4 == 3, -1, torch.arange(requests, device=D)).int()
    for shape in ((4096,), (4096, 4), (64, 64, 128)):
        yield (
            f"update_{len(shape) + 1}",
            lambda s=shape: tensors().tensor_masked_update(states(*s), places(), states(*s)),
        )
    yield (
        "append",
        lambda: megatron("inference.contexts.fused_kv_append_kernel").triton_append_key_value_cache(
            1, rand(4096, 1, 8, 128), rand(4096, 1, 8, 128), rand(2, 2, 64, 256, 8, 128), 4096,
            torch.arange(4096, device=D) // 256, torch.arange(4096, device=D) % 256,
        ),
    )  # fmt: skip
    speculation = lambda: megatron("inference.text_generation_controllers.mtp_utils_triton")
    drafts = 3
    yield (
        "rewind",
        lambda: speculation().rewind_kv_cache(
            ints(drafts + 1, requests), full(0, requests), whole(256, requests), full(2000, requests),
            full(8, requests), full(7, requests), whole(4096, requests, 32), drafts, 256,
        ),
    )  # fmt: skip
    flat = requests * (drafts + 1)
    yield (
        "verify",
        lambda: speculation().verify_speculative_tokens(ints(4, flat), ints(4, flat), requests, 0, drafts),
    )
    longs = lambda *shape: torch.zeros(*shape, device=D, dtype=torch.int64)
    yield (
        "next",
        lambda: speculation().prepare_next_forward_pass(
            requests, ints(32000, flat), ints(flat, flat), ints(flat, requests), torch.rand(flat, device=D) < 0.6,
            ints(32000, flat), longs(requests), longs(requests), longs(requests, drafts), longs(requests), drafts,
        ),
    )  # fmt: skip
    yield (
        "mamba_states",
        lambda: speculation().mamba_state_selective_copy(
            rand(2, requests, drafts + 1, 64, 64, 16), rand(2, requests, 64, 64, 16), full(0, requests),
            torch.arange(requests, device=D).int(), ints(drafts + 1, requests), 2,
        ),
    )  # fmt: skip
    yield (
        "mask_padding",
        lambda: megatron("transformer.moe.inference_routing_mask_kernel").mask_routing_padding(choice(), full(6000, 1)),
    )


def rows_of_experts():
    """Rows of tokens that are grouped by their expert; 7,000 of 8,192 are used."""
    moe = lambda name: megatron("inference.moe." + name)
    used, x = lambda: full(7000, 1), lambda width=WIDTH: rand(TOKENS, width)
    valid = lambda: full(7000, 1)
    chances = lambda: torch.rand(TOKENS, device=D)
    yield "squared_relu", lambda: moe("activations").padded_squared_relu(x(), sources(), used())
    yield "swiglu", lambda: moe("activations").padded_swiglu(x(2 * WIDTH), sources(), used())
    yield "silu", lambda: moe("activations").bounded_silu_mul(x(2 * WIDTH), used())
    yield "squared_relu_fp8", lambda: moe("activations").squared_relu_and_quantize_mxfp8(x(), sources(), used())
    count = lambda **options: moe("permute").compute_local_tokens_per_expert(choice(), 0, 32, valid(), **options)
    yield "count", lambda: count()
    yield "count_persistent", lambda: count(persistent=True)
    yield "offsets", lambda: moe("permute").compute_expert_offsets(whole(1000, EXPERTS), 16)
    yield "no_sources", lambda: moe("permute").init_permutation_map(sources(), used())
    yield (
        "unpermute",
        lambda: moe("permute").unpermute_tokens(x(), chances(), sources(), 1024, used(), full(1000, 1)),
    )
    fixed = lambda: moe("batch_invariant")
    yield "squared_relu_weighted", lambda: fixed().squared_relu_with_probs(x(), sources(), used(), chances())
    yield "swiglu_weighted", lambda: fixed().swiglu_with_probs(x(2 * WIDTH), sources(), used(), chances())
    yield "silu_weighted", lambda: fixed().weighted_silu_mul_bounded(x(2 * WIDTH), chances(), full(7000 * WIDTH, 1))
    row_of = lambda: torch.where(torch.rand(1024, 32, device=D) < 0.25, whole(TOKENS, 1024, 32), -1)
    yield (
        "unpermute_fixed",
        lambda: fixed().unpermute_tokens_in_expert_order(x(), row_of(), full(1000, 1), None),
    )
    yield "mxfp8", lambda: megatron("inference.quantization.mxfp8_quantize").mxfp8_quantize(x(4096))


def state_spaces():
    """Convolutions of four taps over 4,352 channels, of 64 requests."""
    ops, channels, requests = lambda name: megatron("ssm.ops." + name), 4352, 64
    slots = lambda: torch.arange(requests, device=D).int()
    step = lambda drafts: rand(requests, drafts, channels)
    yield (
        "conv_step",
        lambda: ops("common.causal_conv1d_triton").causal_conv1d_update(
            step(1), rand(requests, channels, 4), rand(channels, 4), rand(channels), "silu", slots()
        ),
    )
    yield (
        "conv_step_drafts",
        lambda: ops("common.causal_conv1d_triton").causal_conv1d_update(
            step(4), rand(requests, channels, 4), rand(channels, 4), rand(channels), "silu", slots(),
            rand(requests, 4, channels, 4),
        ),
    )  # fmt: skip
    varlen, states = lambda: ops("common.causal_conv1d_varlen"), lambda: rand(requests, channels, 4)
    sequence = lambda: torch.arange(requests * 128, device=D).int() // 128
    yield (
        "conv",
        lambda: varlen().causal_conv1d_varlen_fn(
            rand(requests * 128, channels), rand(channels, 4), rand(channels), starts(requests, 128), states()[..., 1:],
            precomputed_seq_idx=sequence(), precomputed_seq_start=sequence() * 128,
        ),
    )  # fmt: skip
    yield (
        "conv_states",
        lambda: varlen().causal_conv1d_varlen_carry_states(
            rand(requests * 128, channels), starts(requests, 128), states()
        ),
    )
    extract = lambda: ops("common.intermediate_extraction")
    yield (
        "chunk_states",
        lambda: extract().scatter_intermediate_ssm(
            rand(128, 64, 64, 128), ints(128, 32), full(28, 1), rand(32, 64, 64, 128)
        ),
    )
    yield (
        "windows",
        lambda: extract().scatter_intermediate_conv(
            rand(1, 8192, channels), whole(8000, 32) + 4, full(28, 1), rand(32, channels, 4), 4
        ),
    )
    yield (
        "update_rows",
        lambda: ops("mamba2.batch_invariant_decode")._masked_update_rows(
            rand(requests, 64 * 4096), slots(), rand(requests, 64 * 4096)
        ),
    )


def veomni(name):
    BarePackages("veomni", folder_of("unseen4/veomni"))
    stub("veomni.utils")
    stub("veomni.utils.logging", get_logger=logging.getLogger)
    stub("veomni.utils.device", get_torch_device=lambda: torch.cuda, get_device_name=torch.cuda.get_device_name)
    stub("veomni.ops.kernels.moe._kernels.utils.pretuned", algo_key_scaled=lambda *a: None, pretuned=fallback)
    return load("veomni.ops.kernels." + name)


def fallback(algo_key=None, fallback=None):
    """Launches with the sizes that VeOmni has for GPUs that it does not know."""

    class Launcher:
        def __init__(self, kernel):
            self.kernel = kernel

        def __getitem__(self, grid):
            return lambda **options: self.kernel[grid](**options, **fallback)

    return Launcher


def grouped():
    """VeOmni: 64 experts of which a token has 8."""
    each, hidden = TOKENS * CHOSEN // EXPERTS, 1024
    yield (
        "balance",
        lambda: fb(
            veomni("load_balancing_loss.triton").load_balancing_loss_triton(
                tuple(leaf(TOKENS, EXPERTS) for _ in range(4)), EXPERTS, CHOSEN
            )
        ),
    )
    moe = lambda: veomni("moe._kernels.kernel.moe")
    rows, place = lambda: rand(TOKENS * CHOSEN, WIDTH), lambda: order().view(TOKENS, CHOSEN)
    yield "histogram", lambda: moe().expert_histogram(choice(), EXPERTS)
    yield "gather", lambda: moe().moe_gather(rows(), place())
    yield "add_gather", lambda: moe().moe_add_gather(rows(), rows(), place())
    yield "scatter", lambda: moe().moe_scatter(rand(TOKENS, WIDTH), place())
    gemm = lambda: veomni("moe._kernels.kernel.group_gemm")
    ends = lambda: starts(EXPERTS, each)[1:]
    yield (
        "gemm",
        lambda: gemm().group_gemm_same_nk(
            rows(), rand(EXPERTS, hidden, WIDTH, scale=0.02), ends(), TOKENS * CHOSEN, transpose_b=True
        ),
    )
    yield (
        "gemm_weights",
        lambda: gemm().group_gemm_same_mn(
            rand(TOKENS * CHOSEN, hidden), rows(), rand(EXPERTS, hidden, WIDTH), ends(), TOKENS * CHOSEN,
            transpose_a=True,
        ),
    )  # fmt: skip
    yield (
        "bmm",
        lambda: veomni("rotary.triton_deterministic").triton_bmm(
            rand(4, 64, 1, dtype=FP32), rand(4, 1, 4096, dtype=FP32)
        ),
    )
    yield (
        "rotary",
        lambda: fb(
            veomni("rotary.triton_wan").apply_rotary_emb(
                leaf(1, 16384, 12 * 128), cos=rand(16384, 64, dtype=FP32), sin=rand(16384, 64, dtype=FP32), head_dim=128
            )
        ),
    )


class Titan:
    """Enough of torchtitan's configurable modules and of its types for classes that derive from them."""

    @dataclasses.dataclass
    class Config:
        pass

    V = R = S = None
    PartitionSpec = assert_type = staticmethod(lambda *a, **k: None)
    local = staticmethod(contextlib.nullcontext)
    local_map = staticmethod(lambda **k: lambda f: f)
    register_autograd_function = staticmethod(lambda f: f)


def titan(name):
    BarePackages("torchtitan", folder_of("unseen4/torchtitan"))
    spmd = ("V", "R", "S", "PartitionSpec", "assert_type", "local", "local_map", "register_autograd_function")
    stub("spmd_types", **{n: getattr(Titan, n) for n in spmd})
    stub("torchtitan.config", derive=None, override=lambda **k: lambda f: f)
    stub("torchtitan.protocols")
    stub("torchtitan.protocols.sharding", ShardingConfig=Titan)
    stub("torchtitan.models")
    stub("torchtitan.models.common")
    stub("torchtitan.models.common.decoder_sharding", dense_param_placement=None)
    stub("torchtitan.models.common.feed_forward", FeedForward=Titan)
    stub("torchtitan.models.common.moe", GroupedExperts=Titan)
    return load("torchtitan." + name)


def overrides():
    """torchtitan: what its experts' rows need."""
    wide = lambda: rand(TOKENS, 7168)
    swiglu = lambda: titan("overrides.fused_swiglu")
    yield "swiglu", lambda: swiglu().silu_and_mul_forward_kernel(wide(), wide())
    yield (
        "swiglu_back",
        lambda: swiglu().silu_and_mul_backward_kernel(wide(), wide(), wide(), starts(EXPERTS, 100)[1:]),
    )
    kernels, rows = lambda: titan("distributed.minimal_async_ep.kernels"), TOKENS * CHOSEN
    each = rows // EXPERTS
    counts = lambda: full(each, EXPERTS, dtype=torch.int64)
    begins = lambda: torch.arange(EXPERTS, device=D) * each
    yield (
        "dispatch",
        lambda: kernels().fill_dispatch_metadata_kernel(
            counts(), begins() % (rows // 8), begins(), num_routed_tokens=rows, num_local_experts=8,
            max_tokens_per_segment=each,
        ),
    )  # fmt: skip
    yield (
        "combine",
        lambda: kernels().fill_combine_metadata_kernel(
            counts(), begins(), begins().repeat(8).view(8, EXPERTS), ep_rank=1, ep_size=8,
            num_local_experts=8, receive_capacity=rows, max_tokens_per_segment=each,
        ),
    )  # fmt: skip
    yield "invert", lambda: kernels().invert_flat_indices_kernel(order(), num_rows=rows)
    out, scores = lambda: rand(rows, WIDTH), lambda: torch.rand(rows, device=D)
    yield (
        "reduce",
        lambda: kernels().reduce_topk_slots_kernel(out(), order(), scores(), num_tokens=TOKENS, top_k=CHOSEN),
    )
    gradient = lambda: rand(TOKENS, WIDTH)
    yield (
        "expand",
        lambda: kernels().expand_topk_grad_kernel(gradient(), order(), scores(), top_k=CHOSEN, dtype=BF16),
    )
    yield (
        "scores",
        lambda: kernels().topk_scores_grad_kernel(out(), gradient(), order(), top_k=CHOSEN, dtype=FP32),
    )


def cases():
    for prefix, parts in (
        ("megatron_", (fusions, inference, rows_of_experts, state_spaces)), ("veomni_", (grouped,)),
        ("titan_", (overrides,)),
    ):  # fmt: skip
        for part in parts:
            for name, case in part():
                yield prefix + name, case
