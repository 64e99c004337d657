"""vLLM 0.11.2's own kernels (its source package), at the sizes of Llama 70B, Mixtral and Qwen2-VL. Of `unseen`. What it
shares with lightllm, sglang, fla and mamba_ssm is left out."""

import importlib
import types

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from packages.common import (
    BF16, D, FP32, BarePackages, answer, folder_of, fp8, full, ints, rand, scale, starts, stub, whole,
)  # fmt: skip

BATCH, LENGTH, BLOCK = 64, 2048, 16
HEADS, GROUPS, WIDTH = 64, 8, 128
PAGES = BATCH * LENGTH // BLOCK


class Capability(tuple):
    def to_int(self):
        return 90


def load(name):
    return importlib.import_module("vllm." + name)


def tables():
    return torch.randperm(PAGES, device=D).int().view(BATCH, -1)


def one():
    return torch.ones(1, device=D, dtype=FP32)


def attention():
    ops = lambda name: load("attention.ops." + name)
    cache = lambda make=rand: make(PAGES, BLOCK, GROUPS, WIDTH)
    split = lambda: rand(PAGES, GROUPS, WIDTH // 8, BLOCK, 8)
    columns = lambda: rand(PAGES, GROUPS, WIDTH, BLOCK)

    def unified(queries, batch=BATCH, window=-1, softcap=0.0, sinks=False, make=rand, biased=False):
        q = rand(batch * queries, HEADS, WIDTH)
        ops("triton_unified_attention").unified_attention(
            q, cache(make), cache(make), torch.empty_like(q), starts(batch, queries), queries, full(LENGTH, batch),
            LENGTH, WIDTH**-0.5, True, (window - 1 if window > 0 else -1, 0 if window > 0 else -1), tables()[:batch],
            softcap, None, one(), one(), alibi_slopes=scale(HEADS) if biased else None,
            sinks=rand(HEADS) if sinks else None,
        )  # fmt: skip

    yield "vllm_unified_prefill", lambda: unified(1024, 8)
    yield "vllm_unified_window", lambda: unified(1024, 8, window=512, sinks=True)
    yield "vllm_unified_softcap", lambda: unified(256, softcap=50.0)
    yield "vllm_unified_decode", lambda: unified(1, 8)
    yield "vllm_unified_decode_fp8", lambda: unified(1, 8, make=fp8)
    yield "vllm_unified_decode_alibi", lambda: unified(1, 4, biased=True)

    def prefix(biased, window=None):
        batch, queries = 16, 256
        x = lambda heads: rand(batch * queries, heads, WIDTH)
        q = x(HEADS)
        ops("prefix_prefill").context_attention_fwd(
            q, x(GROUPS), x(GROUPS), torch.empty_like(q), "auto", split(), columns(), tables()[:batch],
            starts(batch, queries), full(LENGTH, batch), LENGTH, queries, one(), one(),
            alibi_slopes=scale(HEADS) if biased else None, sliding_window=window,
        )  # fmt: skip

    for biased in (False, True):
        yield f"vllm_prefix_{biased}", lambda b=biased: prefix(b)
    yield "vllm_prefix_window", lambda: prefix(False, 1024)

    def paged():
        q, kv = rand(BATCH, HEADS, WIDTH), lambda: rand(BATCH, GROUPS, WIDTH)
        ops("chunked_prefill_paged_decode").chunked_prefill_paged_decode(
            q, kv(), kv(), torch.empty_like(q), "auto", split(), columns(), tables(), starts(BATCH, 1),
            full(LENGTH, BATCH), LENGTH, 1, one(), one(),
        )  # fmt: skip

    yield "vllm_paged_decode", paged
    tokens = 8192
    kv = lambda: rand(tokens, GROUPS, WIDTH)
    slots = lambda: torch.randperm(PAGES * BLOCK, device=D)[:tokens]
    for kind in ("auto", "fp8"):
        yield "vllm_write_cache_" + kind, lambda k=kind: ops(
            "triton_reshape_and_cache_flash"
        ).triton_reshape_and_cache_flash(
            kv(), kv(), cache(rand if k == "auto" else fp8), cache(rand if k == "auto" else fp8), slots(), k, one(),
            one(),
        )  # fmt: skip
    out, sums = lambda: rand(tokens, HEADS, WIDTH), lambda: rand(HEADS, tokens, dtype=FP32)
    yield "vllm_merge_states", lambda: ops("triton_merge_attn_states").merge_attn_states(
        out(), out(), sums(), out(), sums(), sums()
    )
    yield "vllm_correct_parallel", lambda: ops("common").correct_attn_out(
        rand(BATCH, 128, 512), rand(8, BATCH, 128, dtype=FP32), 3, None
    )

    def packed():
        m, lengths = ops("common"), full(500, 16)
        m.pack_seq_triton(rand(8000, 4096), lengths)
        m.unpack_seq_triton(rand(16, 500, 4096), lengths)

    yield "vllm_pack", packed
    linear = lambda: load("model_executor.layers.lightning_attn")
    x = lambda *shape: rand(*shape, dtype=FP32, scale=0.1)  # what its own tests take: Triton refuses bf16
    yield "vllm_lightning", lambda: linear().lightning_attention(
        x(2, 32, 4096, 128), x(2, 32, 4096, 128), x(2, 32, 4096, 128), scale(32) * 0.1
    )
    yield "vllm_lightning_decode", lambda: linear().linear_decode_forward_triton(
        x(BATCH, 32, 1, 128), x(BATCH, 32, 1, 128), x(BATCH, 32, 1, 128), rand(BATCH, 32, 128, 128, dtype=FP32),
        scale(32) * 0.1, torch.arange(BATCH, device=D),
    )  # fmt: skip


def lora():
    """Eight adapters of rank 16 on layers of 8192."""
    ops = lambda name: load("lora.ops.triton_ops." + name)
    adapters, rank, hidden = 8, 16, 8192

    def where(tokens):
        of_token = torch.arange(tokens, device=D, dtype=torch.int32) % adapters
        return (
            of_token, of_token.argsort(stable=True).int(), full(tokens // adapters, adapters + 1),
            starts(adapters + 1, tokens // adapters).clamp(max=tokens),
            torch.cat([torch.arange(adapters, device=D, dtype=torch.int32), full(-1, 1)]),
            types.SimpleNamespace(numel=lambda: 1, item=lambda: False),
        )  # fmt: skip

    def run(tokens, slices):
        low, out = rand(slices, tokens, rank, dtype=FP32), rand(tokens, slices * hidden)
        ops("lora_shrink_op")._lora_shrink(
            rand(tokens, hidden), [rand(adapters, 1, rank, hidden) for _ in range(slices)], low, *where(tokens), 0.5
        )
        ops("lora_expand_op")._lora_expand(
            low, [rand(adapters, 1, hidden, rank) for _ in range(slices)], out, *where(tokens), add_inputs=True
        )

    for tokens, slices in ((64, 1), (4096, 1), (4096, 3)):
        yield f"vllm_lora_{tokens}_{slices}", lambda a=(tokens, slices): run(*a)


def layers():
    module = lambda name: load("model_executor.layers." + name)
    int8 = lambda *shape: ints(127, *shape, dtype=torch.int8)
    for name, make in (("int8", int8), ("fp8", fp8)):
        yield "vllm_scaled_mm_" + name, lambda m=make: module(
            "quantization.compressed_tensors.triton_scaled_mm"
        ).triton_scaled_mm(m(2048, 8192), m(8192, 4096), scale(2048, 1), scale(4096, 1), BF16, rand(4096))
    utils = lambda: module("quantization.utils.int8_utils")
    yield "vllm_int8_token", lambda: utils().per_token_quant_int8(rand(8192, 4096))
    yield "vllm_int8_block_matmul", lambda: utils().w8a8_block_int8_matmul(
        int8(2048, 4096), int8(4096, 4096), scale(2048, 32), scale(32, 32), [128, 128], BF16
    )
    yield "vllm_mx_rearrange", lambda: module("quantization.qutlass_utils").triton_mx_block_rearrange(
        ints(255, 4096, 256, dtype=torch.uint8)
    )
    yield "vllm_invariant_rms_norm", lambda: module("batch_invariant").rms_norm(rand(8192, 8192), rand(8192))
    for interleaved in (False, True):
        yield f"vllm_mrope_{interleaved}", lambda i=interleaved: module("rotary_embedding.mrope").triton_mrope(
            rand(8192, HEADS * WIDTH), rand(8192, GROUPS * WIDTH), rand(3, 8192, 64), rand(3, 8192, 64),
            [16, 24, 24], WIDTH, WIDTH, i,
        )  # fmt: skip
    moe = lambda name: module("fused_moe." + name)
    experts, rows, hidden, inner = 32, 256, 4096, 1536
    yield "vllm_count_experts", lambda: moe("utils").count_expert_num_tokens(ints(experts, 8192, 8), experts, None)

    def batched(quantized):
        make = fp8 if quantized else rand
        config = dict(BLOCK_SIZE_M=64, BLOCK_SIZE_N=64, BLOCK_SIZE_K=64, num_warps=4, num_stages=3)
        moe("fused_batched_moe").invoke_moe_batched_triton_kernel(
            make(experts, rows, hidden), make(experts, inner, hidden), rand(experts, rows, inner), full(200, experts),
            tl.bfloat16, scale(experts, rows, hidden // 128) if quantized else None,
            scale(experts, inner // 128, hidden // 128) if quantized else None, None, quantized, False, False, config,
            False, [128, 128] if quantized else None,
        )  # fmt: skip

    for quantized in (False, True):
        yield f"vllm_batched_experts_{quantized}", lambda q=quantized: batched(q)
    conv = lambda: module("mamba.ops.causal_conv1d")

    def convolve():
        channels, tokens, batch = 8192, 8192, 8
        of_block = torch.arange(tokens // 8, device=D, dtype=torch.int32)  # blocks of 8 tokens
        places = dict(batch_ptr=of_block // 128, token_chunk_offset_ptr=of_block % 128)
        sizes = dict(tot=tokens // 8, mlist=None, mlist_len=tokens // 8, offsetlist=None, **places)
        conv().causal_conv1d_fn(
            rand(tokens, channels).t(), rand(channels, 4), rand(channels), rand(batch, 3, channels).transpose(1, 2),
            starts(batch, tokens // batch), torch.arange(batch, device=D, dtype=torch.int32),
            torch.ones(batch, device=D, dtype=torch.bool), activation="silu",
            metadata=types.SimpleNamespace(nums_dict={8: sizes}, cu_seqlen=tokens, **places),
        )  # fmt: skip

    yield "vllm_conv", convolve
    yield "vllm_conv_update", lambda: conv().causal_conv1d_update(
        rand(BATCH, 8192), rand(BATCH, 3, 8192).transpose(1, 2), rand(8192, 4), rand(8192), "silu",
        conv_state_indices=torch.arange(BATCH, device=D, dtype=torch.int32),
    )  # fmt: skip


def sampling():
    """Four drafted tokens of each of 64 requests."""
    m = lambda: load("v1.sample.rejection_sampler")
    vocabulary, drafted = 128256, 4
    rows = BATCH * drafted
    ends = lambda: starts(BATCH, drafted)[1:]
    probs = lambda: rand(rows, vocabulary, dtype=FP32).softmax(-1)
    draft = lambda: whole(vocabulary, rows)
    kinds = lambda: types.SimpleNamespace(
        all_greedy=False, all_random=False, temperature=(torch.arange(BATCH, device=D) % 2).float(), generators={}
    )
    yield "vllm_reject", lambda: m().rejection_sample(
        draft(), [drafted] * BATCH, drafted, ends(), probs(), probs(), whole(vocabulary, BATCH, 1), kinds()
    )
    yield "vllm_expand", lambda: m().expand_batch_to_tokens(rand(BATCH, dtype=FP32), ends(), rows, 0, 1)


def cases():
    folder = folder_of("unseen/vllm")
    BarePackages("vllm", folder)
    yes, no = lambda *a, **k: True, lambda *a, **k: False
    platform = types.SimpleNamespace(
        is_cuda=yes, is_cuda_alike=yes, is_rocm=no, is_xpu=no, is_cpu=no, is_tpu=no, has_device_capability=yes,
        get_device_capability=lambda *a: Capability((9, 0)), fp8_dtype=lambda: torch.float8_e4m3fn,
        get_device_name=lambda *a: "NVIDIA H100", is_fp8_fnuz=no, is_device_capability=no,
        is_arch_support_pdl=no, num_compute_units=lambda *a: 132,
    )  # fmt: skip
    answer(["vllm.platforms"], folder, current_platform=platform)
    stub("vllm.triton_utils", triton=triton, tl=tl, tldevice=libdevice, HAS_TRITON=True)
    stub("vllm.attention.backends.utils", PAD_SLOT_ID=-1)
    logger = types.SimpleNamespace(**{k: no for k in "debug info warning warning_once info_once".split()})
    answer(["vllm.logger"], folder, init_logger=lambda name: logger)
    layers_of = "vllm.model_executor.layers."
    answer(
        [
            "vllm.envs", "vllm.config", "vllm._custom_ops", "vllm.platforms.rocm", "vllm.distributed",
            "vllm.distributed.parallel_state", "vllm.utils.torch_utils",
            "vllm.utils.deep_gemm", "vllm.utils.flashinfer", layers_of + "fused_moe.modular_kernel",
            layers_of + "fused_moe.config", layers_of + "fused_moe.fused_moe",
            layers_of + "fused_moe.topk_weight_and_reduce", layers_of + "quantization.utils.quant_utils",
            layers_of + "quantization.utils.fp8_utils", layers_of + "quantization.utils.mxfp4_utils",
            layers_of + "quantization.utils.mxfp6_utils", layers_of + "quantization.utils.mxfp8_utils",
            layers_of + "rotary_embedding.base", layers_of + "rotary_embedding.common",
            layers_of + "rotary_embedding.yarn_scaling_rope", "vllm.v1.outputs", "vllm.v1.sample.metadata",
            "vllm.v1.sample.ops.bad_words", "vllm.v1.sample.ops.penalties", "vllm.v1.sample.ops.topk_topp_sampler",
            "vllm.v1.sample.sampler", "vllm.v1.spec_decode.metadata",
        ],
        folder,
    )  # fmt: skip
    for part in (attention, lora, layers, sampling):
        yield from part()
