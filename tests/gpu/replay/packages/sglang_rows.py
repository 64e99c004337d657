"""sglang's kernels that work row by row, and its products: quantization, activations, norms, sampling."""

import torch

from packages.common import BF16, D, FP16, FP32, fp8, ints, rand, scale, whole

N, H = 8192, 4096


def rows(a=N, b=H, dtype=BF16):
    return rand(a, b, dtype=dtype)


# module under sglang.kernels.ops, function, what calls it
QUANTIZED = [
    ("quantization.act_quant_triton", "act_quant", lambda f: f(rows())),
    (
        "quantization.awq_triton",
        "awq_dequantize_triton",
        lambda f: f(whole(99, H, H // 8), rand(32, H, dtype=FP16), whole(99, 32, H // 8)),
    ),
    ("quantization.int8_kernel", "per_token_quant_int8", lambda f: f(rows())),
    ("quantization.int8_kernel", "per_token_group_quant_int8", lambda f: f(rows(), 128)),
    (
        "quantization.fp8_kernel",
        "_per_token_group_quant_8bit_raw",
        lambda f: (f(rows(), 128), f(rows(), 128, column_major_scales=True)),
    ),
    ("quantization.fp8_kernel", "static_quant_fp8", lambda f: f(rows(), scale(1))),
    ("quantization.fp8_kernel", "per_tensor_quant_mla_fp8", lambda f: f(rand(16, N, 512), torch.zeros(1, device=D))),
    ("quantization.fp8_kernel", "per_token_group_quant_mla_deep_gemm_masked_fp8", lambda f: f(rand(16, 1024, 512))),
    ("quantization.fp8_kernel", "dequant_group_fp8_to_bf16", lambda f: f(fp8(N, H), scale(N, H // 32))),
    ("quantization.fp8_quantize", "fp8_quantize", lambda f: f(rows())),
    ("quantization.mxfp8_quant", "to_mxfp8", lambda f: f(rows())),
    ("quantization.mxfp8_swizzled_triton", "mxfp8_quantize_swizzled", lambda f: f(rows())),
    ("quantization.bf16x3_split", "split_fp32_to_bf16x3", lambda f: f(rows(dtype=FP32))),
    ("quantization.dsa_quant_k_cache", "quantize_k_cache_separate", lambda f: f(rand(N, 512), rand(N, 64))),
    (
        "gemm.fp8_kernel",
        "w8a8_block_fp8_matmul_triton",
        lambda f: (
            f(fp8(N, H), fp8(H, H), scale(N, 32), scale(32, 32), [128, 128], BF16),
            f(fp8(32, H), fp8(H, H), scale(32, 32), scale(32, 32), [128, 128], BF16),
        ),
    ),
    ("gemm.fp8_kernel", "triton_scaled_mm", lambda f: f(fp8(N, H), fp8(H, H).t(), scale(N, 1), scale(H, 1), BF16)),
    (
        "gemm.int8_kernel",
        "w8a8_block_int8_matmul",
        lambda f: f(rows().to(torch.int8), rows(H).to(torch.int8), scale(N, 32), scale(32, 32), [128, 128], BF16),
    ),
    ("gemm.router_gemv", "router_gemv", lambda f: f(rows(4), rows(256))),
    ("gemm.router_gate_matvec", "router_gate_matvec", lambda f: f(rows(4), rows(256))),
    ("gemm.dsv4_wo_a", "wo_a_bf16_gemv", lambda f: f(rand(1, 8, 4096), rand(8, 1024, 4096))),
]
POINTWISE = [
    ("activation.gelu_and_mul_triton", "gelu_and_mul_triton", lambda f: f(rows(N, 2 * H))),
    ("activation.minimax_m3_swiglu", "swiglu_oai_split", lambda f: f(rows(N, 2 * H), 1.7, 1.0, 7.0)),
    ("activation.softcap", "softcap_inplace_logits", lambda f: f(rows(256, 128256, FP32), 30.0)),
    ("activation.swiglu_mxfp8_swizzled", "silu_mul_mxfp8", lambda f: f(rows(N, 2 * H))),
    ("elementwise.elementwise", "fused_sigmoid_mul", lambda f: f(rows(), rows())),
    ("elementwise.elementwise", "fused_gate_sigmoid_mul_add", lambda f: f(rows(), rand(H), rows(), rows())),
    (
        "embeddings.vocab_parallel_embedding",
        "vocab_parallel_embedding",
        lambda f: f(ints(32768, N), rand(32768, H), 0, 32768, 0, 32768, 32768),
    ),
    ("sampling.temperature_softmax", "temperature_softmax", lambda f: f(rows(256, 128256, FP32), scale(256, 1))),
    ("sampling.murmur_hash", "murmur_hash32", lambda f: f(ints(99, 256), ints(99, 256), ints(99, 128256))),
    (
        "sampling.renorm_triton",
        "top_p_renorm_probs_triton",
        lambda f: f(torch.softmax(rows(64, 32768, FP32), -1), scale(64).clamp(0.1, 0.9)),
    ),
    (
        "sampling.renorm_triton",
        "top_k_renorm_probs_triton",
        lambda f: f(torch.softmax(rows(64, 32768, FP32), -1), whole(90, 64) + 1),
    ),
    ("sampling.softcap_row_argmax", "softcap_row_argmax", lambda f: f(rows(256, 128256, FP32), 30.0, 128256, 0)),
    (
        "kvcache.mla_buffer",
        "set_mla_kv_buffer_triton",
        lambda f: f(rand(16384, 1, 576), torch.arange(N, device=D), rand(N, 1, 512), rand(N, 1, 64)),
    ),
    (
        "kvcache.mla_buffer",
        "get_mla_kv_buffer_triton",
        lambda f: f(rand(16384, 1, 576), torch.arange(N, device=D), rand(N, 1, 512), rand(N, 1, 64)),
    ),
    ("memory.gpu_tensor_hash", "gpu_tensor_hash", lambda f: f(rows())),
]
NORMS = [
    ("layernorm.fused_rmsnorm", "fused_rmsnorm", lambda f: f(rows(), rand(H), 1e-6)),
    ("layernorm.fused_rmsnorm", "fused_dual_residual_rmsnorm", lambda f: f(rows(), rows(), rand(H), rand(H), 1e-6)),
    ("layernorm.gemma4_fused_ops", "gemma_rmsnorm_residual_scalar", lambda f: f(rows(), rand(H), rows(), rand(1))),
    (
        "layernorm.gemma4_fused_ops",
        "gemma_dual_rmsnorm_residual_scalar",
        lambda f: f(rows(), rand(H), rows(), rand(H), rand(H), rows(), rand(1)),
    ),
    (
        "layernorm.gemma4_fused_ops",
        "gemma_qkv_rmsnorm",
        lambda f: f(rand(N, 32 * 128), rand(N, 8 * 128), rand(N, 8 * 128), rand(128), rand(128), 32, 8, 128),
    ),
    ("layernorm.minimax_m3_rmsnorm", "gemma_rmsnorm", lambda f: f(rows(), rand(H), 1e-6)),
    ("layernorm.minimax_m3_rmsnorm", "gemma_fused_add_rmsnorm", lambda f: f(rows(), rows(), rand(H), 1e-6)),
    ("layernorm.rmsnorm_fp32", "rmsnorm_fp32", lambda f: f(rows(), rand(H, dtype=FP32), 1e-6)),
    ("layernorm.rmsnorm_fp8_e8m0", "rmsnorm_fp8_e8m0_quant", lambda f: f(rows(), rand(H), 1e-6)),
    ("layernorm.rmsnorm_mxfp8", "rmsnorm_mxfp8", lambda f: f(rows(), rand(H), 1e-6)),
    (
        "layernorm.beam_fused",
        "fused_sandwich_residual_rmsnorm",
        lambda f: f(rows(), rows(), rand(H), rand(H), 1e-6, 1.0, 1.0),
    ),
    (
        "layernorm.hc_combine_norm",
        "hc_combine_norm",
        lambda f: f(rand(N, 20480), rand(N, 4, dtype=FP32), rand(5120), 1e-6),
    ),
    (
        "layernorm.mhc_head",
        "fused_hc_head",
        lambda f: f(rand(1024, 4, H), rand(4, 4 * H, dtype=FP32), rand(1, dtype=FP32), rand(4, dtype=FP32), 1e-6, 1e-6),
    ),
    (
        "layernorm.mhc_post_split_h",
        "mhc_post_split_h",
        lambda f: f(rand(1024, H), rand(1024, 4, H), rand(1024, 4, 1, dtype=FP32), rand(1024, 4, 4, dtype=FP32)),
    ),
    (
        "diffusion.norm.group_norm_silu_triton",
        "triton_group_norm_silu",
        lambda f: f(rand(4, 512, 128, 128), rand(512), rand(512), 32),
    ),
    ("diffusion.norm.rmsnorm_onepass_triton", "triton_one_pass_rms_norm", lambda f: f(rand(N * 32, 128), rand(128))),
    (
        "diffusion.norm.rmsnorm_scale_shift_triton",
        "rmsnorm_scale_shift_per_token",
        lambda f: f(rand(1, N, H), rand(H), rand(1, N, H), rand(1, N, H), 1e-6),
    ),
    (
        "diffusion.norm.scale_residual_norm_scale_shift_triton",
        "fused_scale_residual_norm_scale_shift_triton",
        lambda f: f(
            residual=rand(1, N, H),
            x=rand(1, N, H),
            gate=rand(1, 1, H),
            shift=rand(1, 1, H),
            scale=rand(1, 1, H),
            weight=rand(H),
            bias=rand(H),
            eps=1e-6,
        ),
    ),
    (
        "diffusion.modulate.scale_shift_triton",
        "fuse_scale_shift_kernel",
        lambda f: f(rand(1, N, H), rand(1, 1, H), rand(1, 1, H)),
    ),
    ("diffusion.modulate.head_gate_triton", "head_gate_mul", lambda f: f(rand(1, N, 32 * 128), rand(1, N, 32))),
    (
        "diffusion.rope.rotary_triton",
        "apply_rotary_embedding",
        lambda f: f(rand(1, N, 24, 128), rand(N, 64), rand(N, 64), True),
    ),
    (
        "diffusion.rope.complex_rope_triton",
        "fused_complex_rope",
        lambda f: f(rand(1, N, 24, 128), torch.polar(scale(N, 64), scale(N, 64))),
    ),
    ("diffusion.activation.silu_mul_bitexact", "fused_silu_mul_bitexact", lambda f: f(rows(), rows())),
    ("diffusion.activation.sana_conv_post_triton", "fused_bias_silu", lambda f: f(rand(4, 512, 64, 64), rand(512))),
]
