"""lightllm's kernels at the sizes of Llama, Mistral, Bloom and DeepSeek-V2: attention over a paged cache, experts, fp8,
sampling. Of `strangers`."""

import importlib
import sys
import types

import torch

from packages.common import (
    BF16, D, FP16, FP32, BarePackages, answer, fp8, ints, rand, scale, starts, stub, unit, whole,
)  # fmt: skip

BATCH, LENGTH = 16, 1024
TOKENS = BATCH * LENGTH
V = 128256


class Frozen(dict):
    """frozendict: a dictionary that is a key."""

    def __hash__(self):
        return hash(tuple(self.items()))


def empty(*shape, dtype=BF16):
    return torch.empty(shape, device=D, dtype=dtype)


def full(value, *shape, dtype=torch.int32):
    return torch.full(shape, value, device=D, dtype=dtype)


def kernel(path):
    return importlib.import_module("lightllm." + path)


def requests():
    """Where each request's tokens are in the cache, and the requests."""
    return torch.arange(TOKENS, device=D, dtype=torch.int32).view(BATCH, LENGTH), torch.arange(
        BATCH, device=D, dtype=torch.int32
    )


def state():
    """What a model's layers know of a batch that is being decoded."""
    table, which = requests()
    return types.SimpleNamespace(
        batch_size=BATCH,
        max_len_in_batch=LENGTH,
        total_token_num=TOKENS,
        b_req_idx=which,
        b_seq_len=full(LENGTH, BATCH),
        req_manager=types.SimpleNamespace(req_to_token_indexs=table),
    )


def deepseek():
    module = lambda name: kernel("models.deepseek2.triton_kernel." + name)
    heads, nope, rope = 16, 512, 64
    config = dict(
        BLOCK_N=16, BLOCK_Q_HEAD=16, stage1_num_warps=4, stage1_num_stages=2, stage2_num_warps=4, stage2_num_stages=1
    )

    def decode(quantized):
        make = fp8 if quantized else rand
        cache = make(TOKENS, 1, nope + rope)
        parts = (rand(BATCH, heads, nope), rand(BATCH, heads, rope), cache[:, :, :nope], cache[:, :, nope:])
        rest = (state(), heads, nope, rope, 128, 0.1)
        if quantized:
            module("gqa_flash_decoding_fp8").gqa_token_decode_attention_flash_decoding_fp8(
                *parts, rand(TOKENS, 1, 1), *rest, out=empty(BATCH, heads, nope), **config
            )
        else:
            module("gqa_flash_decoding").gqa_token_decode_attention_flash_decoding(
                *parts, *rest, out=empty(BATCH, heads, nope), **config
            )

    yield "mla_decode", lambda: decode(False)
    yield "mla_decode_fp8", lambda: decode(True)

    def context(quantized):
        table, which = requests()
        make = fp8 if quantized else rand
        cache = make(TOKENS, 1, nope + rope)
        factors = (rand(TOKENS, 1, 1),) if quantized else ()
        name = "context_flashattention_nopad" + "_fp8" * quantized
        getattr(module(name), "context_attention_fwd" + "_fp8" * quantized)(
            rand(TOKENS, heads, nope), rand(TOKENS, heads, rope), cache[:, :, :nope], cache[:, :, nope:], *factors,
            empty(TOKENS, heads, nope), which, starts(BATCH, LENGTH)[:-1], full(LENGTH, BATCH), full(0, BATCH), LENGTH,
            table, 0.1,
        )  # fmt: skip

    yield "mla_context", lambda: context(False)
    yield "mla_context_fp8", lambda: context(True)
    yield "mla_context_uncached", lambda: module(
        "context_flashattention_nopad"
    ).context_attention_fwd_no_prompt_cache(
        rand(TOKENS, heads, nope), rand(TOKENS, heads, rope), rand(TOKENS, 1, nope), rand(TOKENS, 1, rope),
        empty(TOKENS, heads, nope), starts(BATCH, LENGTH)[:-1], full(LENGTH, BATCH), LENGTH, 0.1,
    )  # fmt: skip
    yield "mla_context_with_v", lambda: module(
        "context_flashattention_nopad_with_v"
    ).context_attention_fwd_with_v(
        rand(TOKENS, heads, 128), rand(TOKENS, heads, rope), rand(TOKENS, heads, 128), rand(TOKENS, 1, rope),
        rand(TOKENS, heads, 128), empty(TOKENS, heads, 128), starts(BATCH, LENGTH)[:-1], starts(BATCH, LENGTH)[:-1],
        full(LENGTH, BATCH), full(0, BATCH), LENGTH, 0.1,
    )  # fmt: skip

    def sample():
        table, which = requests()
        module("sample_kv").sample_kv(
            rand(TOKENS, 1, nope + rope), empty(TOKENS, 1, nope), empty(TOKENS, 1, rope), which, LENGTH,
            full(LENGTH, BATCH), table, starts(BATCH, LENGTH)[:-1],
        )  # fmt: skip

    def repack():
        table, which = requests()
        module("repack_kv_index").repack_kv_index(
            table, which, full(LENGTH, BATCH), starts(BATCH, LENGTH)[:-1], LENGTH, full(0, TOKENS)
        )

    yield "mla_sample_kv", sample
    yield "mla_repack_kv_index", repack
    places = lambda: torch.randperm(TOKENS, device=D).int()
    yield "mla_copy_kv_fp8", lambda: module("destindex_copy_kv_fp8").destindex_copy_kv_fp8(
        rand(TOKENS, 1, nope), rand(TOKENS, 1, rope), places(), empty(TOKENS, 1, nope, dtype=torch.float8_e4m3fn),
        empty(TOKENS, 1, rope, dtype=torch.float8_e4m3fn), empty(TOKENS, 1, 1),
    )  # fmt: skip
    yield "mla_rotary", lambda: module("rotary_emb").rotary_emb_fwd(
        rand(TOKENS, heads, rope), rand(TOKENS, 1, rope), rand(TOKENS, rope // 2), rand(TOKENS, rope // 2)
    )
    yield "mla_repeat_rope", lambda: module("repeat_rope").repeat_rope(
        empty(TOKENS, heads, rope), rand(TOKENS, 1, rope)
    )
    yield "mla_weight_dequant", lambda: module("weight_dequant").weight_dequant(fp8(7168, 2048), scale(56, 16))


def models():
    llama = lambda name: kernel("models.llama.triton_kernel." + name)
    q, kv = lambda heads=32: rand(TOKENS, heads, 128, dtype=FP16), lambda heads=8: rand(TOKENS, heads, 128, dtype=FP16)
    one = lambda heads=32: rand(BATCH, heads, 128, dtype=FP16)

    def grouped_decode():
        table, which = requests()
        lengths, split = full(LENGTH, BATCH), 256
        middle, sums = empty(BATCH, 32, LENGTH // split, 128, dtype=FP32), empty(BATCH, 32, LENGTH // split, dtype=FP32)
        llama("gqa_flash_decoding_stage1").flash_decode_stage1(
            one(), kv(), kv(), table, which, lengths, LENGTH, middle, sums, split
        )
        llama("gqa_flash_decoding_stage2").flash_decode_stage2(middle, sums, lengths, one(), split)

    yield "gqa_decode", grouped_decode
    yield "gqa_decode_vsm", lambda: llama("gqa_flash_decoding_vsm").gqa_token_decode_attention_flash_decoding_vsm(
        one(), kv(), kv(), state(), BLOCK_N=32, BLOCK_Q_HEAD=16, stage1_num_warps=4, stage1_num_stages=2,
        stage2_num_warps=4, stage2_num_stages=1,
    )  # fmt: skip

    def quantised_cache():
        table, which = requests()
        values, factors = ints(127, TOKENS, 8, 128, dtype=torch.int8), rand(TOKENS, 8, 16, dtype=FP16)
        copy = llama("ppl_quant_copy_kv")
        copy.destindex_copy_quantize_kv(kv(), torch.randperm(TOKENS, device=D).int(), values, factors)
        copy.destindex_copy_dequantize_kv(
            values, factors, table, full(LENGTH, BATCH), which, LENGTH, empty(BATCH, 8, LENGTH * 128, dtype=FP16)
        )

    yield "int8_cache", quantised_cache

    def bloom(name):
        table, which = requests()
        begins, lengths, slopes = starts(BATCH, LENGTH)[:-1], full(LENGTH, BATCH), scale(32)
        if name == "context":
            kernel("models.bloom.triton_kernel.context_flashattention_nopad").context_attention_fwd(
                q(), q(), q(), q(), which, slopes, begins, lengths, full(0, BATCH), LENGTH, table
            )
        else:
            kernel("models.bloom.triton_kernel.token_flashattention_nopad").token_attention_fwd(
                one(), q(), q(), one(), slopes, table, which, begins, lengths, LENGTH, TOKENS
            )

    yield "bloom_context", lambda: bloom("context")
    yield "bloom_token", lambda: bloom("token")
    yield "mistral_context", lambda: kernel(
        "models.mistral.triton_kernel.context_flashattention_nopad"
    ).context_attention_fwd(q(), kv(), kv(), q(), starts(BATCH, LENGTH)[:-1], full(LENGTH, BATCH), LENGTH, 512)

    def mistral_token():
        table, which = requests()
        module = lambda name: kernel("models.mistral.triton_kernel." + name)
        lengths, window, begins = full(LENGTH, BATCH), full(0, BATCH), starts(BATCH, LENGTH)[:-1]
        module("init_att_sliding_window_info").init_att_window_info_fwd(BATCH, lengths, window, 512)
        logits, seen = rand(32, BATCH * 512, dtype=FP32), full(512, BATCH)
        where = (begins, lengths, starts(BATCH, 512)[:-1], seen, 512)
        module("token_attention_nopad_att1").token_att_fwd(one(), kv(), logits, table, which, *where)
        module("token_attention_softmax_and_reducev").token_softmax_reducev_fwd(
            logits, kv(), one(), table, which, *where
        )
        module("token_attention_nopad_reduceV").token_att_fwd2(logits, kv(), one(), table, which, *where)

    yield "mistral_token", mistral_token
    angles = lambda width=64: rand(TOKENS, width, dtype=FP16)
    rotary = lambda path: kernel(path).rotary_emb_fwd(q(), kv(), angles(), angles())
    yield "cohere_rotary", lambda: rotary("models.cohere.triton_kernels.rotary_emb")
    yield "phi3_rotary", lambda: rotary("models.phi3.triton_kernel.rotary_emb")
    yield "chatglm_rotary", lambda: kernel("models.chatglm2.triton_kernel.rotary_emb").rotary_emb_fwd(
        q(), kv(), angles(32), angles(32)
    )
    yield "cohere_layernorm", lambda: kernel("models.cohere.triton_kernels.layernorm").layernorm_forward(
        q(), rand(32, 128, dtype=FP16), 1e-5
    )
    yield "qwen2_vl_mrope", lambda: kernel("models.qwen2_vl.triton_kernel.mrope").mrope_triton(
        rand(1, 28, 8192, 128), rand(1, 4, 8192, 128), rand(3, 1, 8192, 128), rand(3, 1, 8192, 128),
        torch.arange(128, device=D, dtype=torch.int32) % 3,
    )  # fmt: skip
    vit = lambda name: kernel("models.vit.triton_kernel." + name)
    yield "vit_attention", lambda: vit("flashattention_nopad")._flash_attention_triton_fwd(
        *(rand(8 * 1025, 16, 80, dtype=FP16) for _ in range(4)), starts(8, 1025), 1025
    )
    yield "vit_gelu", lambda: vit("gelu_vit").gelu_fwd(rand(8 * 1025, 12800, dtype=FP16))
    yield "vit_rms_norm", lambda: vit("rms_norm_vit").rms_norm(rand(8 * 1025, 3200, dtype=FP16), rand(3200, dtype=FP16))
    yield "gemma_gelu_and_mul", lambda: kernel("models.gemma_2b.triton_kernel.gelu_and_mul").gelu_and_mul_fwd(
        rand(TOKENS, 2 * 8192, dtype=FP16), empty(TOKENS, 8192, dtype=FP16)
    )


def experts():
    module = lambda name: kernel("common.fused_moe." + name)
    count, chosen, hidden, inner, tokens = 64, 6, 2048, 1408, 4096

    def fused(tokens, quantized):
        make = fp8 if quantized else rand
        factors = dict(
            use_fp8_w8a8=True, w1_scale=scale(count, 2 * inner // 128, hidden // 128),
            w2_scale=scale(count, hidden // 128, inner // 128),
        ) if quantized else {}  # fmt: skip
        config = dict(BLOCK_SIZE_M=64, BLOCK_SIZE_N=64, BLOCK_SIZE_K=64, GROUP_SIZE_M=8, num_warps=4, num_stages=3)
        ids = torch.rand(tokens, count, device=D).topk(chosen).indices.int()
        module("grouped_fused_moe").fused_experts_impl(
            rand(tokens, hidden), make(count, 2 * inner, hidden), make(count, hidden, inner), scale(tokens, chosen),
            ids, **factors, **config,
        )  # fmt: skip

    for tokens_, quantized in ((64, False), (4096, False), (4096, True)):
        yield f"moe_{tokens_}_{quantized}", lambda a=(tokens_, quantized): fused(*a)
    yield "moe_softmax_topk", lambda: module("softmax_topk").softmax_topk(rand(tokens, count, dtype=FP32), chosen, True)
    yield "moe_grouped_topk", lambda: module("grouped_topk").triton_grouped_topk(
        rand(tokens, 7168), rand(tokens, 256, dtype=FP32), rand(256, dtype=FP32), 8, True, 8, 4, "sigmoid"
    )

    def silu_quantized():
        module("moe_silu_and_mul_mix_quant_ep").silu_and_mul_masked_post_quant_fwd(
            rand(32, 512, 4096), empty(32, 512, 2048, dtype=torch.float8_e4m3fn), empty(32, 512, 16, dtype=FP32), 128,
            full(400, 32),
        )  # fmt: skip

    def scatter():
        local, each, width = 32, 128, 7168
        rows = local * each
        ids = torch.arange(rows, device=D).view(-1, 8) % local
        index = full(0, rows // 8, 8)
        module("deepep_scatter_gather").ep_scatter(
            fp8(rows // 8, width), scale(rows // 8, width // 128), ids, full(each, local), full(0, local),
            empty(rows, width, dtype=torch.float8_e4m3fn), empty(rows, width // 128, dtype=FP32), full(0, rows), index,
        )  # fmt: skip
        module("deepep_scatter_gather").ep_gather(
            rand(rows, width), ids, scale(rows // 8, 8), index, empty(rows // 8, width)
        )

    yield "moe_silu_quantized", silu_quantized
    yield "moe_scatter_gather", scatter


def basics():
    base = lambda name: kernel("common.basemodel.triton_kernel." + name)
    quant = lambda name: kernel("common.quantization.triton_quant.fp8." + name)
    batch = 256
    yield "bmm_fp8", lambda: base("bmm_scaled_fp8").bmm_scaled_fp8(
        fp8(16, 256, 128), rand(16, 256, 1), fp8(16, 512, 128).transpose(1, 2), rand(16, 512, 1), empty(16, 256, 512),
        BLOCK_SIZE_M=64, BLOCK_SIZE_N=128, BLOCK_SIZE_K=64, GROUP_SIZE_M=8, num_stages=3, num_warps=4,
    )  # fmt: skip
    yield "fp8_block_gemm", lambda: quant("fp8w8a8_block_gemm_kernel").w8a8_block_fp8_matmul(
        fp8(4096, 7168), fp8(2048, 7168).t(), scale(4096, 56), scale(16, 56).t(), empty(4096, 2048), [128, 128],
        BLOCK_M=64, BLOCK_N=128, BLOCK_K=128, GROUP_M=32, num_warps=4, num_stages=3,
    )  # fmt: skip
    yield "fp8_weight_quant", lambda: quant("fp8w8a8_block_quant_kernel").mm_weight_quant(rand(7168, 2048))
    yield "fp8_token_quant", lambda: quant("fp8act_quant_kernel").lightllm_per_token_group_quant_fp8(
        rand(4096, 7168), 128, empty(4096, 7168, dtype=torch.float8_e4m3fn), empty(4096, 56, dtype=FP32)
    )
    yield "fp8_align_scale", lambda: quant("fp8act_quant_kernel").tma_align_input_scale(scale(4095, 56))
    yield "prefill_params", lambda: base("gen_prefill_params").gen_prefill_params(
        batch * 512, full(512, batch), full(1024, batch)
    )
    yield "mtp_input_ids", lambda: base("gen_mtp_prefill_params").gen_mtp_new_input_ids(
        ints(V, batch * 512), ints(V, batch), full(512, batch)
    )

    def sampling():
        params = "presence_penalty frequency_penalty repetition_penalty temperature exponential_decay_length_penalty"
        manager = types.SimpleNamespace(**{"req_to_" + name: scale(1024) for name in params.split()})
        which = torch.arange(batch, device=D, dtype=torch.int32)
        module = base("gen_sampling_params")
        module.gen_sampling_params(which, manager)
        module.token_id_counter(ints(V, 8192), full(0, V))
        module.update_req_to_token_id_counter(which, ints(V, batch), full(0, batch, V))

    yield "sampling_params", sampling

    def repair():
        ids, counter = ints(256, 4096, 8), ints(1, 512)
        module = base("redundancy_topk_ids_repair")
        module.redundancy_topk_ids_repair(ids, ints(256, 4), 32, 1, counter, True)
        module.expert_id_counter(ids, counter)

    yield "topk_ids_repair", repair
    yield "multimodal_emb", lambda: base("multimodal_emb").multimodal_emb(
        empty(8192, 4096), ints(V + 1024, 8192), rand(V, 4096), rand(1024, 4096), full(256, 4, dtype=torch.int64),
        torch.arange(4, device=D) * 256 + V, torch.arange(4, device=D) * 256, 0, V,
    )  # fmt: skip
    yield "mark_multimodal", lambda: base("multimodal_emb").mark_multimodal_obj(
        ints(V, 16), full(256, 16, dtype=torch.int64), ints(V, 8192)
    )
    yield "add_in_place", lambda: base("add_in_place").add_in_place(rand(4096, 4096), rand(4096, 4096))
    yield "sp_pad_copy", lambda: base("sp_pad_copy").sp_pad_copy(rand(8191, 4096), 7, 8)
    yield "kv_trans", lambda: kernel("common.kv_trans_kernel.kv_trans").kv_trans(
        rand(TOKENS, 16, 128), torch.arange(4096, device=D), rand(TOKENS, 16, 128), torch.arange(4096, device=D)
    )
    yield "penalty_cache", penalties


def penalties():
    batch = 64
    manager = types.SimpleNamespace(
        req_to_presence_penalty=scale(batch), req_to_frequency_penalty=scale(batch),
        req_to_repetition_penalty=scale(batch) + 1, req_to_exponential_decay_length_penalty=scale(batch) + 1,
        req_to_out_token_id_counter=ints(3, batch, V, dtype=torch.int32), vocab_size=V,
    )  # fmt: skip
    kernel("common.basemodel.triton_kernel.apply_penalty_gpu_cache").apply_penalty_gpu_cache(
        rand(batch, V, dtype=FP32), torch.arange(batch, device=D, dtype=torch.int32), full(10, batch),
        full(0, batch, dtype=torch.bool), full(2, 1), manager,
    )  # fmt: skip


def cases():
    folder = next(path for path in sys.path if path.endswith("strangers/lightllm"))
    stub("frozendict", frozendict=Frozen)
    stub("deep_gemm", ceil_div=lambda a, b: -(-a // b))
    BarePackages("lightllm", folder)
    answer(
        [
            "lightllm.common.req_manager",
            "lightllm.common.basemodel.layer_infer.cache_tensor_manager",
            "lightllm.utils.dist_utils",
        ],
        folder,
    )
    for part in (deepseek, models, experts, basics):
        for name, case in part():
            yield "lightllm_" + name, case
