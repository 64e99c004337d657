"""Sparse attention, sparse convolutions and experts' gathers of `unseen`: native-sparse-attention-triton 9bea856,
Sparse-VideoGen 5ce7b01, FastVideo 2f3d407, FlexGEMM 6dd94a8, MInference fb56c91, megablocks 78eea65."""

import sys
import types

import torch
import triton

from packages.common import (
    BF16, D, FP16, FP32, BarePackages, fb, folder_of, full, ints, leaf, load, rand, scale, starts, stub, whole,
)  # fmt: skip


class Torch:
    """torch with some functions replaced: those whose results' sizes depend on numbers, which fake tensors lack."""

    def __init__(self, **others):
        self.__dict__.update(others)

    def __getattr__(self, name):
        return getattr(torch, name)


def best(count, *shape):
    """Distinct sorted indices below the last size."""
    return torch.rand(*shape, device=D).topk(count).indices.sort(-1).values


def native():
    """Native sparse attention: 2 sequences of 4096, 64 heads on 4; blocks of 64, compressed from 32 every 16."""
    ops = lambda name: load("native_sparse_attention.ops.triton." + name)
    sequences, length, heads, groups, width, compressed = 2, 4096, 64, 4, 128, 255
    tokens = sequences * length
    q = lambda: leaf(tokens, heads, width)
    kv = lambda rows=tokens: leaf(rows, groups, width)
    where = lambda each=length: starts(sequences, each)

    def chosen():
        """The 16 blocks that a query sees, then -1 where it has fewer."""
        block = torch.arange(tokens, device=D) % length // 64
        scores = torch.rand(groups, tokens, length // 64, device=D)
        scores = scores.masked_fill(torch.arange(length // 64, device=D) > block[:, None], -1.0)
        top = scores.topk(16)
        index = torch.where(top.values < 0, length, top.indices).sort(-1).values
        return torch.where(index == length, -1, index).int()


    def compress():
        m = ops("compressed_attention")
        m.torch = Torch(histc=lambda t, **k: (t.flatten()[:, None] == torch.arange(5, device=D)).sum(0))
        x, keys, values = q(), kv(sequences * compressed), kv(sequences * compressed)
        sizes = (32, 16, where(), where(compressed), length, compressed)
        out, sums = m.CompressedAttention.apply(x, keys, values, *sizes, width**-0.5)
        fb(out)
        score = m._get_attention_score(x.detach(), keys.detach(), sums.detach(), *sizes, width**-0.5)
        m.transform_score(score, 32, 16, 64, *sizes[2:], 1, 2)

    yield "nsa_compressed", compress
    yield "nsa_selected", lambda: fb(
        ops("topk_sparse_attention").topk_sparse_attention(q(), kv(), kv(), chosen(), 64, where())
    )
    for causal in (False, True):
        yield f"nsa_flash_{causal}", lambda c=causal: fb(
            ops("flash_attention").flash_attention_varlen(q(), kv(), kv(), where(), where(), length, length, c)
        )
    cache = lambda: rand(32, 8192, groups, width)
    lengths = lambda: full(8000, 32)
    yield "nsa_decode", lambda: ops("flash_attention_decode").flash_attention_decode(
        rand(32, heads, width), cache(), cache(), lengths()
    )
    yield "nsa_decode_selected", lambda: ops("topk_sparse_attention_decode").topk_sparse_attention_decode(
        rand(32, heads, width), cache(), cache(), best(16, groups, 32, 125).int(), 64, lengths()
    )

    def linear_compress():
        m, rows = ops("linear_compress"), iter((sequences * compressed, tokens))
        size = lambda count: count if isinstance(count, int) else next(rows)
        m.torch = Torch(zeros=lambda count, *rest, **k: torch.zeros(size(count), *rest, **k))
        fb(m.linear_compress(kv(), leaf(groups, 32 * width, width), where(), 32, 16)[0])

    yield "nsa_linear_compress", linear_compress
    yield "nsa_pool_compress", lambda: fb(
        ops("weighted_pool").weightedpool_compress(kv(), leaf(groups, 32), where(), 32, 16)[0]
    )

    def fill():
        stub("native_sparse_attention.module.utils")
        load("native_sparse_attention.module.kv_cache")._fill_kv_cache(
            torch.zeros(2, 8, length, groups, width, device=D, dtype=BF16), kv(), kv(), starts(8, 1024)[:-1],
            starts(8, 1024)[1:],
        )

    yield "nsa_fill_cache", fill


def sparse_video():
    """Wan's and HunyuanVideo's rows, k-means of queries, and attention between clusters."""
    kernels = lambda name: load("svg.kernels.triton." + name)
    rows = lambda dtype=BF16: rand(1, 32760, 5120, dtype=dtype)
    vector = lambda: rand(5120, dtype=FP32)
    yield "svg_layer_norm", lambda: kernels("layernorm").triton_layernorm_forward(rows(), vector(), vector(), 1e-6)
    yield "svg_layer_norm_bare", lambda: kernels("layernorm").triton_layernorm_forward(
        rows(), None, None, 1e-6, elementwise_affine=False
    )
    yield "svg_rms_norm", lambda: kernels("rmsnorm").triton_rmsnorm_forward(rows(), rand(5120), 1e-6)
    one = lambda: rand(1, 1, 5120, dtype=FP32)
    yield "svg_modulate", lambda: kernels("modulate").triton_modulate_shift_forward(rows(FP32), one(), one(), BF16)
    yield "svg_modulate_gate", lambda: kernels("modulate").triton_modulate_gate_residual_forward(
        rows(), rows(), one(), BF16
    )

    def permute():
        x, order = rand(1, 40, 32760, 128), torch.rand(1 * 40, 32760, device=D).argsort(-1).int()
        y, order = kernels("permute").permute_tensor_by_labels_triton(x, None, 2, sorted_indices=order)
        kernels("permute").apply_inverse_permutation_triton(y, order, 2)

    yield "svg_permute", permute

    def module():
        stub("flashinfer")
        stub("cuvs")
        stub("cuvs.cluster")
        stub("cuvs.cluster.kmeans", KMeansParams=None, fit=None)
        return load("svg.kmeans_utils")

    points = lambda dtype=BF16: rand(8, 32760, 128, dtype=dtype)
    yield "svg_assign", lambda: module().euclid_assign_triton(points(), rand(8, 256, 128), scale(8, 32760))
    yield "svg_centroids", lambda: module().triton_centroid_update_euclid(
        points(), ints(256, 8, 32760), rand(8, 256, 128)
    )
    yield "svg_centroids_sorted", lambda: module().triton_centroid_update_sorted_euclid(
        points(), ints(256, 8, 32760), rand(8, 256, 128)
    )

    def clusters():
        q = lambda: rand(1, 8, 8192, 128)
        size = lambda count: full(8192 // count, 1, 8, count)
        m = module()
        m.torch = Torch(sum=lambda sizes: 8192)  # the check of the sizes, which fake tensors do not pass
        m.dynamic_block_sparse_fwd_triton(q(), q(), q(), torch.rand(1, 8, 64, 128, device=D) < 0.3, size(64), size(128))

    yield "svg_clusters", clusters


def fast_video():
    kernels = lambda name: load("fastvideo_kernel.triton_kernels." + name)
    fused = lambda name: load("fastvideo.models.dits.minimax_h3_fusions." + name)
    heads, length, width = 12, 8192, 128
    blocks, kept = length // 64, 24
    q = lambda: leaf(1, heads, length, width)

    def block_sparse():
        m, index = kernels("block_sparse_attn_triton"), best(kept, 1, heads, blocks, blocks).int()
        counts, sizes = full(kept, 1, heads, blocks), full(64, blocks)
        x, k, v = q().detach(), q().detach(), q().detach()
        out, sums = m.triton_block_sparse_attn_forward(x, k, v, index, counts, sizes)
        back, back_counts = kernels("index").invert_indices(index, counts, blocks)
        m.triton_block_sparse_attn_backward(
            torch.randn_like(out), x, k, v, out, sums, index, counts, back, back_counts, sizes
        )

    yield "fastvideo_block_sparse", block_sparse

    yield "fastvideo_map_to_index", lambda: kernels("index").map_to_index(
        torch.rand(1, heads, blocks, blocks, device=D) < 0.2
    )

    def linear_sparse(rows):
        lut = best(kept, 1, heads, length // rows, blocks).int()
        chosen = torch.zeros(1, heads, length // rows, blocks, device=D, dtype=torch.int8).scatter_(3, lut.long(), 1)
        fb(kernels("sla_triton")._attention.apply(q(), q(), q(), chosen, lut, kept, rows, 64))

    for rows in (64, 128):
        yield f"fastvideo_sla_{rows}", lambda r=rows: linear_sparse(r)
    yield "fastvideo_block_mean", lambda: fb(
        kernels("fused_compress_topk").fused_block_mean(q(), full(64, blocks), 64)
    )
    yield "fastvideo_topk_mask", lambda: kernels("fused_compress_topk").fused_topk_mask(
        rand(1, heads, 512, 512, dtype=FP32), 64
    )
    yield "fastvideo_sliding_tile", lambda: kernels("st_attn_triton").sliding_tile_attention_triton(
        *(rand(1, 2, 69120, width) for _ in range(3)), [(3, 3, 3), (3, 1, 10)], 0, False, "18x48x80"
    )
    for causal, cross in ((False, False), (True, False), (False, True)):

        def trained(causal=causal, cross=cross):
            x, kv = leaf(1, 8, 4096, width), lambda: leaf(1, 8, 512 if cross else 4096, width)
            fb(kernels("attn_qat_train").attention(x, kv(), kv(), causal, width**-0.5, True, True, False))

        yield f"fastvideo_qat_{causal}_{cross}", trained
    ops = lambda: load("fastvideo_kernel.turbodiffusion_ops")
    yield "fastvideo_rms_norm", lambda: ops().rmsnorm(rand(32760, 5120), rand(5120), 1e-6)
    yield "fastvideo_layer_norm", lambda: ops().layernorm(rand(32760, 1536), rand(1536), rand(1536), 1e-6)
    row, table = lambda: rand(2, 4096, 5120), lambda: rand(24, 5120)
    yield "fastvideo_norm_modulate", lambda: fused("modulation").fused_rmsnorm_modulate(
        row(), rand(5120), table(), table(), ints(24, 4096), 1e-6
    )
    yield "fastvideo_gate_norm_modulate", lambda: fused("modulation").fused_residual_gate_rmsnorm_modulate(
        row(), row(), table(), rand(5120), table(), table(), ints(24, 4096), 1e-6
    )
    yield "fastvideo_qk_norm_rope", lambda: fused("qknorm_rope").fused_qknorm_rope(
        rand(2, 4096, 40, 128), rand(128), rand(4096, 64), rand(4096, 64), 1e-6
    )
    yield "fastvideo_swiglu", lambda: fused("swiglu").minimax_h3_swiglu(rand(2, 4096, 2 * 13824))
    longcat = lambda: load("fastvideo.third_party.longcat_video.block_sparse_attention.bsa_interface")

    def longcat_sparse(side):
        m = longcat()
        m.create_mask_from_indices_varlen = lambda index, columns: torch.zeros(
            *index.shape[:3], columns, device=D, dtype=torch.bool
        ).scatter_(3, index, True)
        fb(m.flash_attn_bsa(q(), q(), q(), side, side, 0.75, None, width**-0.5))

    for side in (64, 128):
        yield f"longcat_sparse_{side}", lambda s=side: longcat_sparse(s)
    yield "longcat_scores", lambda: longcat().cal_score_triton(rand(1, heads, 1024, width), rand(1, heads, 1024, width))


def sparse_convolution():
    """FlexGEMM's submanifold convolutions of 3x3x3: 65,536 voxels of which two thirds of the neighbours exist. Its
    tuners keep a cache; Triton's, and the first configuration, take their place."""
    voxels, volume = 65536, 27

    def module(name):
        tuner = types.ModuleType("flex_gemm.utils.autotuner")
        tuner.triton_autotune = lambda configs, key, **k: triton.autotune(configs, key)
        tuner.autotune = lambda config_fn, **k: lambda f: lambda *a: f(*a, **config_fn(*a)[-1])
        sys.modules.setdefault("flex_gemm.utils.autotuner", tuner)
        return load("flex_gemm.kernels.triton." + name)

    def neighbours(rows=voxels):
        there = torch.rand(rows, volume, device=D) < 0.67
        return torch.where(there, ints(voxels, rows, volume), -1).int().view(torch.uint32)

    def run(kind, channels, dtype=FP16):
        conv = lambda way: getattr(
            module(f"spconv.sparse_submanifold_conv_{way}_{kind}"), f"sparse_submanifold_conv_{way}_{kind}"
        )
        x, weight = leaf(voxels, channels, dtype=dtype), leaf(channels, volume, channels, dtype=dtype)
        bias, near, out = leaf(channels, dtype=dtype), neighbours(), rand(voxels, channels, dtype=dtype)
        if "masked" not in kind:
            conv("fwd")(x, weight, bias, near)
            conv("bwd")(out, x, weight, bias, near)
            return
        order = torch.randperm(voxels, device=D)
        valid = lambda rows: torch.arange(volume, device=D, dtype=torch.int32).repeat(-(-voxels // rows))
        segments = lambda rows: torch.arange(-(-voxels // rows) + 1, device=D, dtype=torch.int32) * volume
        pairs = lambda: whole(voxels, volume * voxels // 2)
        conv("fwd")(x, weight, bias, near, order, valid, segments)
        conv("bwd")(
            out, x, weight, bias, near, order, valid, segments, pairs(), pairs(), starts(volume, voxels // 2)
        )

    for kind in ("implicit_gemm", "implicit_gemm_splitk", "masked_implicit_gemm", "masked_implicit_gemm_splitk"):
        yield "flexgemm_" + kind, lambda k=kind: run(k, 128)
    yield "flexgemm_fp32", lambda: run("implicit_gemm", 64, FP32)

    def strided():
        m = module("spconv.sparse_conv_implicit_gemm")
        x, weight, near = leaf(voxels, 64, dtype=FP16), leaf(128, volume, 64, dtype=FP16), neighbours(voxels // 4)
        m.sparse_conv_fwd_implicit_gemm(x, weight, None, near)
        back = torch.where(torch.rand(voxels, volume, device=D) < 0.2, ints(voxels // 4, voxels, volume), -1)
        m.sparse_conv_bwd_implicit_gemm(
            rand(voxels // 4, 128, dtype=FP16), x, weight, None, near, back.int().view(torch.uint32)
        )

    yield "flexgemm_strided", strided

    def sample():
        m = lambda way: module("grid_sample.indice_weighed_sum_" + way)
        near, weight = whole(voxels, voxels, 8).view(torch.uint32), scale(voxels, 8)
        m("fwd").indice_weighed_sum_fwd(rand(voxels, 128, dtype=FP32), near, weight)
        m("bwd").indice_weighed_sum_bwd_input(rand(voxels, 128, dtype=FP32), near, weight, voxels)

    yield "flexgemm_grid_sample", sample


def minference():
    ops = lambda name: load("minference.ops." + name)
    heads, length, width = 8, 16384, 128
    q = lambda dtype=BF16, length=length: rand(1, heads, length, width, dtype=dtype)
    rows = length // 64

    def v2():
        stub("minference.cuda", convert_vertical_slash_indexes=None)
        return ops("pit_sparse_flash_attention_v2")

    causal = lambda count, step: (  # what a row of blocks sees: none of the blocks after it
        torch.rand(1, heads, rows, count, device=D) * torch.arange(1, rows + 1, device=D)[:, None] * 64
    ).int() // step * step
    yield "minference_block_sparse", lambda: ops("block_sparse_flash_attention")._triton_block_sparse_attention(
        q(), q(), q(), full(length, 1), causal(100, 64) // 64, 0.1
    )
    yield "minference_vertical_slash", lambda: v2()._triton_mixed_sparse_attention(
        q(), q(), q(), full(length, 1), full(50, 1, heads, rows), causal(50, 64), full(500, 1, heads, rows),
        causal(512, 1), 0.1,
    )  # fmt: skip
    yield "minference_streaming", lambda: ops("streaming_kernel").streaming_forward(q(), q(), q(), 128, 2048)
    yield "minference_streaming_fp16", lambda: ops("streaming_kernel").streaming_forward(
        *(q(FP16, 8192) for _ in range(3)), 64, 1024
    )
    fa = lambda: ops("xattention_fa")
    for causal_ in (False, True):
        yield f"minference_block_sum_{causal_}", lambda c=causal_: fa().softmax_fuse_block_sum(
            rand(1, heads, 2048, 2048, dtype=BF16), 16, 1024, 0, 2048, 2048, 0.1, c
        )
    yield "minference_strided_scores", lambda: fa().flat_group_gemm_fuse_reshape(q(), q(), 16, 0, 1024, True)
    yield "minference_scores", lambda: fa().flat_group_gemm(q(length=4096), q(length=4096), 0, 4096)
    flex = lambda: load("minference.modules.flexprefill")
    shape = lambda length: rand(1, length, heads, width)
    yield "minference_flex_decode", lambda: flex().triton_block_wise_decode_attention(
        shape(1), shape(length), shape(length), best(64, 1, heads, 128), 128
    )

    def flex_prefill():
        side = 64
        lower = torch.ones(side, side, device=D).tril().flatten()
        score = torch.rand(1, heads, side * side, device=D) * lower + torch.eye(side, device=D).flatten()
        chosen = score.topk(1000).indices
        flex().triton_block_wise_prefill_attention(*(shape(8192) for _ in range(3)), chosen, 128)

    yield "minference_flex_prefill", flex_prefill
    for kind in ("avg", "max"):
        yield "minference_pool_" + kind, lambda k=kind: flex().triton_bnhd_pool(shape(length), 128, k)
    yield "minference_sum_pool", lambda: flex().triton_bhn_sumpool(rand(1, heads, length, dtype=FP32), 128)

    def kivi():
        stub("transformers")
        for name in ("models", "models.llama"):
            stub("transformers." + name)
        stub("transformers.models.llama.modeling_llama", Cache=object, repeat_kv=None)
        stub("transformers.utils")
        stub("transformers.utils.import_utils", _is_package_available=lambda name: False)
        return load("minference.modules.kivi")

    for bits in (2, 4):
        yield f"kivi_pack_{bits}", lambda b=bits: kivi().triton_quantize_and_pack_along_last_dim(
            rand(4, 8, width, 8192, dtype=FP16), 64, b
        )
        yield f"kivi_bmm_{bits}", lambda b=bits: kivi().triton_bmm_fA_qB_outer(
            64, rand(4, 32, 1, width, dtype=FP16), ints(2**31 - 1, 4, 32, width, 8192 * b // 32, dtype=torch.int32),
            rand(4, 32, width, 128, dtype=FP16), rand(4, 32, width, 128, dtype=FP16), b,
        )  # fmt: skip


def megablocks():
    """8 of 64 experts a token; an expert has 512 rows, padded to 640."""
    m = lambda: load("megablocks.backend.kernels")
    tokens, experts, chosen, hidden = 4096, 64, 8, 2048
    rows = tokens * chosen
    indices = lambda: torch.randperm(rows, device=D).int()
    bins = lambda each=rows // experts: starts(experts, each)[1:]
    expert = lambda: torch.arange(rows, device=D, dtype=torch.int32) // (rows // experts)
    x, y, padded = lambda: rand(tokens, hidden), lambda: rand(rows, hidden), lambda: rand(experts * 640, hidden)
    weight = lambda: rand(rows)
    yield "megablocks_gather", lambda: m().gather(x(), indices(), expert(), None, bins(), chosen)
    yield "megablocks_gather_weighted", lambda: m().gather(x(), indices(), expert(), weight(), bins(), chosen)
    yield "megablocks_padded_scatter", lambda: m().padded_scatter(
        padded(), indices(), expert(), weight(), bins(), bins(640), chosen
    )
    yield "megablocks_padded_scatter_wgrad", lambda: m().padded_scatter_wgrad(
        padded(), x(), indices(), expert(), bins(), bins(640), chosen
    )
    yield "megablocks_binned_gather", lambda: m().binned_gather(x(), indices(), None, bins(), 640, chosen)
    binned = lambda: rand(experts, 640, hidden)
    yield "megablocks_binned_scatter", lambda: m().binned_scatter(binned(), indices(), weight(), bins(), chosen)
    yield "megablocks_binned_scatter_wgrad", lambda: m().binned_scatter_wgrad(
        binned(), x(), indices(), bins(), chosen
    )


def cases():
    for name, folder in (
        ("native_sparse_attention", "nsat"), ("svg", "svg"), ("fastvideo", "fastvideo"), ("flex_gemm", "flexgemm"),
        ("fastvideo_kernel", "fastvideo/fastvideo-kernel/python"), ("minference", "minference"),
        ("megablocks", "megablocks"),
    ):  # fmt: skip
        BarePackages(name, folder_of("unseen/" + folder))
    for part in (native, sparse_video, fast_video, sparse_convolution, minference, megablocks):
        yield from part()
