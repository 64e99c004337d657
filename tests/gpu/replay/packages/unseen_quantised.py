"""Quantised products and paged caches of `unseen`: gemlite fd3f933, GPTQModel f4c327a, ColossalAI 4f9953b."""

import sys
import types

import torch
import triton

from packages.common import BF16, D, FP16, BarePackages, Names, fb, folder_of, full, ints, leaf, load, rand, scale, stub

N, K = 4096, 8192


def words(*shape):
    """Any bits."""
    return ints(2**31 - 1, *shape, dtype=torch.int32)


def half(*shape):
    return rand(*shape, dtype=FP16)


def gemlite():
    def core():
        stub("tqdm", tqdm=lambda x, **k: x)
        module = load("gemlite.core")
        module.forward_functional = getattr(module.forward_functional, "_init_fn", module.forward_functional)
        return module

    def linear(bits, rows, kind, inputs="FP16", group=128):
        m = core()
        dtype = dict(FP16=FP16, BF16=BF16)[inputs]
        layer = m.GemLiteLinear(
            bits, group_size=group, in_features=K, out_features=N, input_dtype=m.DType[inputs],
            output_dtype=m.DType[inputs],
        )  # fmt: skip
        factors = lambda: rand(N, K // group, dtype=dtype)
        layer.pack(ints(2**bits, N, K, dtype=torch.uint8), factors(), factors(), bias=None)
        layer.forward_manual(rand(rows, K, dtype=dtype), kind)

    for bits, rows, kind in (
        (4, 1, "GEMV"), (4, 1, "GEMV_REVSPLITK"), (4, 1, "GEMV_SPLITK"), (4, 16, "GEMM_SPLITK"), (4, 2048, "GEMM"),
        (8, 1, "GEMV_SPLITK"), (8, 2048, "GEMM"), (2, 2048, "GEMM"), (2, 1, "GEMV_REVSPLITK"), (1, 16, "GEMM_SPLITK"),
        (2, 1, "GEMV"),
    ):  # fmt: skip
        yield f"gemlite_{bits}_{rows}_{kind}", lambda a=(bits, rows, kind): linear(*a)
    yield "gemlite_bf16", lambda: linear(4, 2048, "GEMM", "BF16")

    quant = lambda: load("gemlite.quant_utils")
    x = lambda dtype=BF16: rand(N, K, dtype=dtype)
    for version in range(1, 5):
        for to in (torch.int8, torch.float8_e4m3fn):
            yield f"gemlite_per_token_v{version}_{str(to)[6:]}", lambda v=version, t=to: getattr(
                quant(), f"scale_activations_per_token_triton_v{v}"
            )(x(), t)
        yield f"gemlite_mxfp8_v{version}", lambda v=version: getattr(quant(), f"scale_activations_mxfp8_triton_v{v}")(
            x()
        )
    for name in ("mxfp4", "nvfp4"):
        for version in ("", "_v2", "_v3", "_v5"):
            yield f"gemlite_{name}{version}", lambda n=name, v=version: getattr(
                quant(), f"scale_activations_{n}_triton{v}"
            )(x())
    for version in (1, 2):
        yield f"gemlite_per_block_v{version}", lambda v=version: getattr(
            quant(), f"scale_activations_per_block_triton_v{v}"
        )(x(), torch.float8_e4m3fn)
    pack = lambda: load("gemlite.bitpack")
    codes = lambda: ints(16, N, K, dtype=torch.uint8)

    def unpack(way):
        f = getattr(pack(), f"unpack_over_{way}_triton")
        getattr(f, "_init_fn", f)(words(N, K // 8), 4, dict(cols=K, rows=8 * N)[way])

    for way in ("cols", "rows"):
        yield "gemlite_pack_" + way, lambda w=way: getattr(pack(), f"pack_weights_over_{w}_triton")(
            codes(), 4, 32, True
        )
        yield "gemlite_unpack_" + way, lambda w=way: unpack(w)


def gptqmodel():
    """Its tuner times; Triton's takes its place. What gguf_triton.py imports of the model's classes is made up."""

    def module(name):
        tuner = types.ModuleType("gptqmodel.nn_modules.triton_utils.custom_autotune")
        tuner.autotune = lambda configs, key, **k: triton.autotune(configs, key)
        tuner.matmul248_kernel_config_pruner = None
        sys.modules.setdefault(tuner.__name__, tuner)
        load("gptqmodel.nn_modules.triton_utils").custom_autotune = tuner
        made = lambda name: Names(name, (), {})
        stub("gptqmodel.adapter.adapter", Adapter=made("Adapter"), Lora=made("Lora"))
        stub("gptqmodel.models._const", DEVICE=made("DEVICE"), PLATFORM=made("PLATFORM"))
        sys.modules["gptqmodel.quantization"] = quantization = types.ModuleType("gptqmodel.quantization")
        quantization.FORMAT, quantization.METHOD = made("FORMAT"), made("METHOD")
        quantization.__path__ = [folder_of("unseen/gptqmodel") + "/gptqmodel/quantization"]
        stub("gptqmodel.utils.backend", BACKEND=made("BACKEND"))
        stub("gptqmodel.utils.python", has_gil_disabled=lambda: False)
        stub("gptqmodel.utils.env", env_flag=lambda name, default=False: default)
        stub("gptqmodel.utils.torch", HAS_XPU=False)
        stub("gptqmodel.utils.logger", setup_logger=lambda: None)
        stub(
            "gptqmodel.nn_modules.qlinear.gguf", GGUFTorchLinear=type("GGUFTorchLinear", (), {}),
            _unpack_q4_k_scale_min_torch=None,
        )  # fmt: skip
        return load("gptqmodel." + name)

    kernels = lambda name: module("nn_modules.triton_utils." + name)
    group = 128
    of_row = lambda: torch.arange(K, device=D, dtype=torch.int32) // group
    gptq = lambda bits: (
        words(K * bits // 32, N), half(K // group, N), words(K // group, N * bits // 32), of_row(), bits,
    )  # fmt: skip
    for bits in (2, 4, 8):
        yield f"gptq_matmul_{bits}", lambda b=bits: kernels("kernels").quant_matmul_248(
            half(2048, K), *gptq(b), 2**b - 1
        )
        yield f"gptq_matmul_transposed_{bits}", lambda b=bits: kernels("kernels").transpose_quant_matmul_248(
            half(2048, N), *gptq(b), 2**b - 1
        )
    for bits in (2, 3, 4, 8):
        yield f"gptq_dequant_{bits}", lambda b=bits: kernels("dequant").dequant(FP16, *gptq(b), 32, 2**b - 1)
    gguf = lambda: module("nn_modules.qlinear.gguf_triton")
    bytes_of = lambda *shape: ints(256, *shape, dtype=torch.uint8)
    for rows in (1, 256):
        x = lambda r=rows: half(r, K)
        yield f"gguf_q4_k_{rows}", lambda x=x: gguf().fused_q4_k_matmul(
            x(), bytes_of(K // 256, 128, N), half(K // 256, 8, N), half(K // 256, 8, N)
        )
        yield f"gguf_q5_k_{rows}", lambda x=x: gguf().fused_q5_k_matmul(
            x(), bytes_of(K // 256, 128, N), bytes_of(K // 256, 32, N), half(K // 256, 8, N), half(K // 256, 8, N)
        )
        yield f"gguf_q6_k_{rows}", lambda x=x: gguf().fused_q6_k_matmul(
            x(), bytes_of(K // 256, 128, N), bytes_of(K // 256, 64, N), half(K // 256, 16, N)
        )
        yield f"gguf_q1_0_{rows}", lambda x=x: gguf().fused_q1_0_g128_matmul(
            x(), bytes_of(K // 128, 16, N), half(K // 128, N)
        )
        yield f"gguf_q1_0_words_{rows}", lambda x=x: gguf().fused_q1_0_g128_u32_matmul(
            x(), words(K // 128, 4, N), half(K // 128, N)
        )
    yield "gguf_q1_0_k2048", lambda: gguf().fused_q1_0_g128_k2048_matmul(
        half(1, 2048), bytes_of(16, 16, N), half(16, N)
    )
    awq = lambda: module("quantization.awq.modules.triton.gemm")
    paro = lambda: module("quantization.paroquant.modules.triton.gemm")
    packed = lambda: (words(K, N // 8), half(K // group, N), words(K // group, N // 8))
    yield "awq_dequantize", lambda: awq().awq_dequantize_triton(*packed())
    yield "awq_gemm", lambda: awq().awq_gemm_triton(half(64, K), *packed(), 8)
    yield "paroquant_dequantize", lambda: paro().paroquant_dequantize_triton(*packed())
    yield "paroquant_decode", lambda: paro().paroquant_gemm_triton_decode(half(1, K), *packed())
    yield "paroquant_prefill", lambda: paro().paroquant_gemm_triton_prefill(half(512, K), *packed())


def colossal():
    """Caches of 16 requests with 1024 tokens in blocks of 64; the newer layout splits a head into parts of 8."""
    kernels = lambda name: load("colossalai.kernel.triton." + name)
    batch, length, heads, groups, width, block = 16, 1024, 32, 8, 128, 64
    blocks, tokens = batch * length // block, batch * length
    tables = lambda: torch.arange(blocks, device=D, dtype=torch.int32).view(batch, -1)
    lengths = lambda: full(length, batch)
    q, kv = lambda rows=tokens: half(rows, heads, width), lambda rows=tokens: half(rows, groups, width)
    cache = lambda: half(blocks, groups, block, width)
    split = lambda: half(blocks, groups, width // 8, block, 8)
    slopes = lambda: scale(heads)
    for name, newer, biased in (("plain", False, False), ("newer", True, False), ("alibi", False, True)):
        keys = split if newer else cache

        def context(keys=keys, newer=newer, biased=biased):
            kernels("context_attn_unpad").context_attention_unpadded(
                q(), kv(), kv(), keys(), cache(), lengths(), tables(), block, max_seq_len=length,
                alibi_slopes=slopes() if biased else None, use_new_kcache_layout=newer,
            )  # fmt: skip

        def decode(keys=keys, newer=newer, biased=biased):
            kernels("flash_decoding").flash_decoding_attention(
                q(batch), keys(), cache(), lengths(), tables(), block, length, kv_group_num=heads // groups,
                alibi_slopes=slopes() if biased else None, use_new_kcache_layout=newer,
            )  # fmt: skip

        yield "colossal_context_" + name, context
        yield "colossal_decode_" + name, decode
    angles = lambda rows: half(rows, width // 2)
    rotary = lambda: kernels("no_pad_rotary_embedding")
    yield "colossal_rotary", lambda: rotary().rotary_embedding(q(), kv(), angles(tokens), angles(tokens))
    yield "colossal_rotary_cache", lambda: rotary().rotary_embedding(
        q(batch), kv(batch), angles(batch), angles(batch), cache(), tables(), lengths()
    )
    for newer in (False, True):
        yield f"colossal_rotary_decode_{newer}", lambda n=newer: rotary().decoding_fused_rotary_embedding(
            q(batch), kv(batch), kv(batch), angles(batch), angles(batch), (split if n else cache)(), cache(), tables(),
            lengths(), use_new_kcache_layout=n,
        )  # fmt: skip
        yield f"colossal_copy_{newer}", lambda n=newer: kernels("kvcache_copy").copy_kv_to_blocked_cache(
            kv(batch), kv(batch), (split if n else cache)(), cache(), lengths(), tables(), use_new_kcache_layout=n
        )
        yield f"colossal_copy_keys_{newer}", lambda n=newer: kernels("kvcache_copy").copy_k_to_blocked_cache(
            kv(batch * 4), (split if n else cache)(), lengths(), tables(), n=4, use_new_kcache_layout=n
        )
    yield "colossal_fused_rotary", lambda: kernels("fused_rotary_embedding").fused_rotary_embedding(
        q(), kv(), angles(length), angles(length), lengths()
    )
    for prompts in (False, True):
        yield f"colossal_angles_{prompts}", lambda p=prompts: kernels("rotary_cache_copy").get_xine_cache(
            lengths() - 1, angles(4096), angles(4096), p
        )
    yield "colossal_rms_norm", lambda: kernels("rms_layernorm").rms_layernorm(half(tokens, 4096), half(4096), 1e-5)
    yield "colossal_rms_norm_residual", lambda: kernels("rms_layernorm").rms_layernorm(
        half(tokens, 4096), half(4096), 1e-5, residual=half(tokens, 4096)
    )
    yield "colossal_softmax", lambda: kernels("softmax").softmax(half(8192, 4096))
    yield "colossal_swiglu", lambda: fb(
        kernels("llama_act_combine_kernel").LlamaActCombine.apply(
            leaf(4, 2048, 2 * 11008, dtype=FP16), leaf(4, 2048, 11008, dtype=FP16), "swiglu"
        )
    )


def cases():
    for name in ("gptqmodel", "colossalai"):
        BarePackages(name, folder_of("unseen/" + name.removesuffix("ai")))
    for part in (gemlite, gptqmodel, colossal):
        yield from part()
