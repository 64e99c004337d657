"""Images and video of `unseen5`: TurboDiffusion aaecff5, LTX-2 400fd31, efficientvit de7d773 and LongCat-Video 6b3f4b8.

Left out: TurboDiffusion's products in 8 bits, which are CUDA's and TileLang's, and LTX-2's rounding of sums at random,
whose kernel TurboDiffusion has, too."""

import torch

from packages.common import BF16, D, FP16, FP32, bare_of, fb, leaf, load, rand, stub

bare = bare_of("unseen5")


def nothing(*args, **kwargs):
    raise NotImplementedError  # what would run in the place of a kernel


def turbo():
    """Wan 2.1 of 14 billion parameters, 32,760 tokens in 40 heads; LTX-2, 6,144 tokens of 4,096 features."""
    heads, length, width = 40, 32768, 128

    def attention(name):
        bare("turbodiffusion", "turbo")
        return load("turbodiffusion." + name)

    def sparse(block):
        q, k, v = (leaf(1, heads, length, width, scale=0.5) for _ in range(3))
        chosen, table, count = attention("SLA.utils").get_block_map(q, k, 0.1, block, 64)
        fb(attention("SLA.kernel")._attention.apply(q, k, v, chosen, table, count, block, 64))

    yield "sparse_64", lambda: sparse(64)
    yield "sparse_128", lambda: sparse(128)

    def derivative():
        for name in ("flash_attn", "flash_attn.flash_attn_interface"):
            stub(name)
        stub("flash_attn.flash_attn_interface", _flash_attn_backward=nothing, _flash_attn_varlen_backward=nothing)
        q, k, v, *rates = (rand(1, 12, 8192, width, dtype=FP16, scale=0.5) for _ in range(6))
        attention("rcm.utils.flash_attention_jvp_triton")._attention.apply(q, k, v, *rates)

    yield "derivative", derivative

    def norms(name, *args):
        stub("turbo_diffusion_ops", quant_cuda=nothing, gemm_cuda=nothing)
        getattr(attention("ops.core"), name)(*args)

    x = lambda: rand(1, length, 5120)
    yield "rms_norm", lambda: norms("rmsnorm", x(), rand(5120), 1e-6)
    yield "layer_norm", lambda: norms("layernorm", x(), rand(5120), rand(5120), 1e-6)
    yield "layer_norm_bare", lambda: norms("layernorm", x(), None, None, 1e-6, False)

    tokens, features = 6144, 4096
    y = lambda *shape: rand(1, tokens, *(shape or (features,)))

    def ltx(name, *args):
        bare("ltx_distillation", "turbo/TurboT2AV/LTX-2/packages/ltx-distillation/src")
        getattr(load("ltx_distillation.fast_norm_kernels"), name)(*args, nothing)

    row = lambda: rand(1, 1, features)
    table = lambda: (rand(6, features), y(6, features))
    yield "ltx_norm", lambda: ltx("fast_rms_norm", y(), None, 1e-6)
    yield "ltx_norm_modulated", lambda: ltx("fast_modulated_rms_norm", y(), row(), row(), 1e-6)
    yield "ltx_modulated", lambda: ltx("fast_modulate", y(), row(), row())
    yield "ltx_residual", lambda: ltx("fast_gated_residual", y(), y(), row(), 1.0)
    angles = lambda: rand(1, 32, tokens, 64)
    yield "ltx_rotary", lambda: ltx("fast_split_rotary_emb", y(), angles(), angles())
    yield "ltx_norm_ada", lambda: ltx("fast_modulated_rms_norm_from_ada", y(), *table(), 0, 1, 6, 1e-6)
    yield "ltx_modulated_ada", lambda: ltx("fast_modulate_from_ada", y(), *table(), 0, 1, 6)
    yield "ltx_output", lambda: ltx("fast_output_modulate", y(), rand(2, features), y())
    yield "ltx_residual_ada", lambda: ltx("fast_gated_residual_from_ada", y(), y(), *table(), 2, 6, 1.0)


def ltx2():
    """The decoder of LTX-2: 13 by 32 by 48 patches in 16 heads, and its layers of 1,024 features."""

    def decoder(name):
        bare("ltx_core", "ltx2/packages/ltx-core/src")
        stub("ltx_core.tiling", DimensionInterval=object, split_by_count=nothing, split_by_size=nothing)
        return load("ltx_core.model.video_vae.transformer." + name)

    def near(dtype, causal):
        q, k, v = (rand(1, 13, 32, 48, 16, 64, dtype=dtype) for _ in range(3))
        decoder("fallback_na.triton_na").na3d(q, k, v, (5, 7, 7), [causal, False, False])

    yield "near", lambda: near(BF16, False)
    yield "near_causal", lambda: near(BF16, True)
    tokens, width = 19968, 1024
    weight = lambda: rand(4 * width, width, scale=0.03)
    yield (
        "gated",
        lambda: decoder("swiglu")._fused_gate_up_swiglu_triton(
            rand(tokens, width), weight(), weight(), rand(tokens, 4 * width)
        ),
    )
    yield "up", lambda: decoder("swiglu")._fused_up_mul_triton(rand(tokens, width), weight(), rand(tokens, 4 * width))


def vision():
    """DC-AE's norms over channels, 8 images."""

    def norm(channels, size, dtype):
        bare("efficientvit", "evit")
        function = load("efficientvit.models.nn.triton_rms_norm").TritonRMSNorm2dFunc
        x = leaf(8, channels, size, size, dtype=dtype)
        fb(function.apply(x, leaf(channels, dtype=dtype), leaf(channels, dtype=dtype), 1e-5))

    yield "norm", lambda: norm(512, 64, BF16)
    yield "norm_32", lambda: norm(128, 256, FP32)


def longcat():
    """12 frames of 56 by 96 patches in 16 heads of 128 features; a query's block sees an eighth of the keys' blocks."""

    def interface():
        bare("longcat_video", "longcat")
        stub("longcat_video.context_parallel", context_parallel_util=nothing)
        module = load("longcat_video.block_sparse_attention.bsa_interface")
        module.create_mask_from_indices_varlen = mask  # all indices are valid, and none are counted
        return module

    def mask(indices, columns):
        return torch.zeros(*indices.shape[:3], columns, device=D, dtype=torch.bool).scatter_(3, indices, True)

    def attention(keys, queries=(4, 4, 8)):
        q, k, v = (leaf(1, 16, 12 * 56 * 96, 128, scale=0.5) for _ in range(3))
        shape = (12, 56, 96)
        fb(interface().flash_attn_bsa_3d(q, k, v, shape, shape, 0.875, None, list(queries), keys))

    yield "aligned", lambda: attention([4, 4, 8])
    yield "large", lambda: attention([4, 8, 8])
    yield "small", lambda: attention([4, 4, 4], (4, 4, 4))

    def scores():
        module = interface()
        module.cal_score_triton(rand(1, 16, 1024, 128), rand(1, 16, 1024, 128))
        module.create_mask_from_indices_triton(torch.rand(1, 16, 1024, 1024, device=D).topk(128).indices, 1024)

    yield "scores", scores


def cases():
    for prefix, part in (("turbo_", turbo), ("ltx2_", ltx2), ("efficientvit_", vision), ("longcat_", longcat)):
        for name, case in part():
            yield prefix + name, case
