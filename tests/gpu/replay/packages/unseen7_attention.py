"""Attention, images and video of `unseen7`: Wan2GP 8681e9f, ffpa-attn 92e1d3b, Flash-Sparse-Attention 1da34f3, InfLLM
12b7079, flashattention2-custom-mask 8170916, LongLM cdbbb06, ring-sliding-window-attention f571258, segment-anything-
fast e6aadeb, dynamic-sparse-flash-attention 266f36a, ComfyUI-ZImage-Triton 76ca242 and ai-compiler-study's triton-
kernels d068688.

Left out: what Wan2GP has of Sparse-VideoGen, SageAttention, sam3, LongCat-Video and nano-vllm; what Flash-Sparse-
Attention has of native-sparse-attention-triton, and its sum of parts, which Triton 3.6 does not compile: a pointer
there is a tuple; its other kernels are called one by one, as data decide how many rows they get; and what ring-
sliding-window-attention pads, where a size is a tensor. The order of atomic operations decides how some of ffpa-attn's
gradients round. Wan2GP's neighbours and rotations, its cache, and merged attention are written over inputs."""

from unittest import mock

import torch

from packages.common import BF16, D, FP16, FP32, fb, full, leaf, load, rand, scale, starts, stub
from packages.unseen6_tokenspeed import count
from packages.unseen7_serving import bare, eight, half


def wan():
    """Wan2GP: attention to chosen blocks of 64 tokens, and products in eight bits, of its video models."""
    batch, tokens, heads, width = 1, 8192, 24, 128

    def kernels(name):
        bare("shared", "wan2gp")
        return load("shared." + name)

    x = lambda: rand(batch, tokens, heads, width)

    def sol(**more):
        kernels("sol_attn.triton_kernels.fwd").sol_attn(x(), x(), x(), **more)

    def pointers(**more):
        with mock.patch.object(kernels("sol_attn.triton_kernels.fwd"), "_use_tma", lambda device: False):
            sol(**more)

    yield "blocks", sol
    yield "blocks_exact", lambda: sol(thresh_type="exact", sink_tokens=512)
    yield "blocks_pointers", pointers
    yield "blocks_pointers_exact", lambda: pointers(thresh_type="exact")

    def saganaki(pointers=False, **more):
        module = kernels("sol_attn.saganaki.fwd")
        with mock.patch.object(module, "_use_pointer_arch", lambda arch: pointers):
            module.sol_attn(x(), x(), x(), **more)

    for name, pointers_ in (("saganaki", False), ("saganaki_pointers", True)):
        yield name, lambda p=pointers_: saganaki(p)
        yield name + "_exact", lambda p=pointers_: saganaki(p, thresh_type="exact")
        yield name + "_int8", lambda p=pointers_: saganaki(p, int8_qk=True)
        yield name + "_int8_values", lambda p=pointers_: saganaki(p, int8_qk=True, int8_pv=True)
    yield (
        "rotate",
        lambda: kernels("sol_attn.qk_norm_rope").qk_rms_norm_rope_(
            x(), x(), rand(width), rand(width), rand(1, tokens, 1, width // 2, 2), 1e-6
        ),
    )

    def fixed(kind):
        module = kernels("kernels.quanto_int8_triton")
        with (
            mock.patch.object(module, "is_available", lambda device=None: True),
            mock.patch.object(
                module, "_select_triton_int8_config",
                lambda m, k, n, **more: module._select_static_triton_int8_config(m, k, n),
            ),
        ):  # fmt: skip
            if kind == "fused":
                module.fused_quant_scaled_mm(rand(4096, 5120), eight(5120, 5120), scale(5120))
            else:
                module.scaled_int8_mm(eight(4096, 5120), eight(5120, 5120), scale(4096), scale(5120))

    yield "int8_fused", lambda: fixed("fused")
    yield "int8", lambda: fixed("scaled")

    def neighbours():
        qkv = [rand(1, 8, 32, 48, 8, 64) for _ in range(3)]
        load("triton_na").na3d(qkv, (3, 7, 7), 0.125)

    yield "neighbours", neighbours

    def cache(int8, tokens=4096, heads=8, width=128):
        for parent in ("shared.llm_engines.nanovllm.utils", "shared.llm_engines.nanovllm.utils.context"):
            stub(parent, get_context=None)
        module = kernels("llm_engines.nanovllm.layers.attention")
        new = lambda: rand(tokens, heads, width)
        if int8:
            kept = lambda: eight(64, 256, heads, width)
            factors = lambda: rand(64, 256, heads)
            module.store_kvcache(
                new(), new(), kept(), kept(), count(tokens) * 2, factors(), factors(), use_triton_kv_cache=True
            )

    yield "cache_int8", lambda: cache(True)


def ffpa():
    """Attention of 512 features a head."""
    width = 512

    def kernels(name="_ffpa_fwd"):
        bare("ffpa_attn", "ffpa/src")
        return load("ffpa_attn.triton." + name)

    def forward(batch=1, heads=16, queries=2048, keys=2048, kv_heads=None, **more):
        q, k, v = rand(batch, heads, queries, width), *(rand(batch, kv_heads or heads, keys, width) for _ in range(2))
        o, lse = torch.empty_like(q), full(0.0, batch, heads, -(-queries // 128) * 128, dtype=FP32)
        return q, k, v, o, lse, more

    def generic(**more):
        *tensors, rest = forward(**more)
        kernels()._ffpa_attn_forward_generic_impl(*tensors, **rest)

    yield "prompt", lambda: generic(causal=True)
    yield "prompt_groups", lambda: generic(kv_heads=4)
    yield "prompt_biased", lambda: generic(attn_bias=rand(1, 1, 2048, 2048))

    def decode(queries, **more):
        *tensors, rest = forward(batch=4, queries=queries, keys=8192, num_splits=8, **more)
        kernels()._ffpa_attn_forward_decode_impl(*tensors, **rest)

    yield "decode", lambda: decode(1)
    yield "decode_few", lambda: decode(4)

    def descriptors(**more):
        *tensors, rest = forward(**more)
        kernels("_ffpa_fwd_sm90")._ffpa_attn_forward_sm90_impl(*tensors, **rest)

    yield "prompt_descriptors", lambda: descriptors(causal=True)

    def backward(queries=2048, keys=2048, causal=True, **more):
        q, k, v, o, lse, _ = forward(queries=queries, keys=keys)
        grads = [torch.zeros_like(t) for t in (q, k, v)]
        kernels("_ffpa_bwd")._ffpa_attn_backward_triton_impl(
            rand(*q.shape), q, k, v, rand(*o.shape), lse, None, *grads, None, causal=causal, **more
        )

    yield "gradients", backward
    yield "gradients_split", lambda: backward(enable_split_launch=True)
    yield "gradients_descriptors", lambda: backward(enable_tma=True)
    yield "gradients_decode", lambda: backward(1, 8192, False)


def sparse():
    """Flash-Sparse-Attention: each query looks at 16 blocks of 64 keys."""
    length, heads, kv_heads, width, block, top = 8192, 8, 4, 128, 64, 16

    def attention():
        """A query looks at the first block, at its own and at 14 before; the kernels that its parts go through."""
        bare("fsa", "fsa")
        bare("nsa_ref", "fsa")
        module, blocks, near = load("fsa.ops.FSA_topk_sparse_attention"), length // block, top - 1
        own = torch.arange(length, device=D)[:, None] // block
        places = (own - near + 1).clamp(min=1) + torch.arange(near, device=D)[None, :]
        table = torch.cat([torch.zeros_like(own), torch.where(places <= own, places, -1)], 1).int()[None].contiguous()
        ends = [length] + [min(length, (b + near) * block) for b in range(1, blocks)]
        begins = [b * block for b in range(blocks)]
        tokens = torch.cat([torch.arange(b, e, device=D, dtype=torch.int32) for b, e in zip(begins, ends)])
        each = [e - b for b, e in zip(begins, ends)]
        lens = torch.tensor(each, device=D)
        first = torch.nn.functional.pad(lens.cumsum(0)[:-1], (1, 0))
        one, most = starts(1, length), max(each[1:])
        q, k, v = (rand(length, h, width) for h in (heads, kv_heads, kv_heads))
        q, k, v = q[:, :1], k[:, :1], v[:, :1]
        tile, zero = full(-1, 1, blocks, length), lambda *shape: full(0.0, *shape, dtype=FP32)
        module.build_block_to_token_triton(tile, table, 0, blocks, padding_value=-1)
        index, best = full(0, 1, blocks, length), full(float("-inf"), 1, blocks, length, dtype=FP32)
        with mock.patch.object(torch.Tensor, "max", lambda t: max(each)):
            module.index_mapping(index, tokens, lens, first, blocks)
        tiles, _ = module.online_softmax(
            q, k, best, tokens, lens, first, 0, length, block, blocks, 1, width, 0.09, one, one
        )
        tiles[:, :, :] = tiles[:, :, 0][:, :, None]
        near_o, far_o = rand(1, 1, length, width), rand(1, blocks - 1, most, width)
        sums, factors = (zero(1, 1, length), zero(1, blocks - 1, most)), (zero(1, 1, length), zero(1, blocks - 1, most))
        for step, (out, most_of, count_of) in enumerate(((near_o, length, 1), (far_o, most, blocks - 1))):
            some = (lens[step], first[step]) if step == 0 else (lens[step:], first[step:])
            module.qkv_kernel(
                q, k, v, out, factors[step], tiles, sums[step], index, tokens, *some, step, most_of, 1, count_of, one,
                one, width, 0.09, block,
            )  # fmt: skip
        module.fused_fill(tile, best)
        results = dict(
            global_max_valid_tokens=most, num_blocks=blocks, valid_topk_idx_permuted_tile=[tokens], valid_lens=[lens],
            valid_start_indices=[first],
        )  # fmt: skip
        with mock.patch.object(torch.Tensor, "max", lambda t: max(each)):
            module.backward_dq_opt_per_seq(
                q, k, v, table, rand(1, length, dtype=FP32), rand(1, length, dtype=FP32), rand(length, 1, width),
                torch.zeros_like(q), one, one, 1, 1, width, top, 0.09, block, results,
            )  # fmt: skip

    yield "blocks", attention

    def decode(kept=1024):
        bare("fsa_preview", "fsa")
        bare("nsa_ref", "fsa")
        module = load("fsa_preview.ops.compressed_attention_decode")
        q, k = rand(1, 64, width), rand(kept, kv_heads, width)
        one, all_ = starts(1, 1), starts(1, kept)
        o, lse = module._compressed_attention_fwd_decode(
            q, k, rand(kept, kv_heads, width), 32, 16, one, all_, 1, kept, 0.09, kept * 16 + 15
        )
        module._get_attention_score_decode(q, k, lse, 32, 16, one, all_, 1, kept, 0.09, kept * 16 + 15)

    yield "decode", decode

    def score(length=8192):
        bare("fsa", "fsa")
        bare("nsa_ref", "fsa")
        kept = length // 16 - 1
        load("fsa.ops.fused_score_kernels")._fused_attention_score_and_transform_per_seq(
            rand(length, kv_heads, width), rand(kept, kv_heads, width), rand(kv_heads, length, dtype=FP32),
            rand(kv_heads, length, length // block), 32, 16, block, full(1.0, 5, dtype=FP32), 5, starts(1, length),
            starts(1, kept), length, kept, 0.09,
        )  # fmt: skip

    yield "score", score


def variants():
    """Windows and remote blocks, masks, self-extended positions, relative positions of images, and rings."""

    def inf(**more):
        bare("inf_llm", "infllm")
        module = load("inf_llm.attention.dot_production_attention.triton_impl")
        x = lambda h, n: half(1, h, n, 128)
        attend = module.TritonMultiStageDotProductionAttention((1, 32, 1024, 128), FP16, D)
        attend.append(x(32, 1024), x(8, 5120), x(8, 5120), sliding_window=4096)
        attend.append(
            x(32, 1024), x(8, 2048), x(8, 2048), end=True, get_score=True, sliding_window=(3072, 4096),
            complement_sliding_window=True,
        )  # fmt: skip

    yield "infllm", inf

    def masked(causal):
        bare("fa2_custom_mask", "custommask")
        module = load("fa2_custom_mask.fa2_custom_mask")
        x = lambda: leaf(2, 16, 2048, 64, dtype=FP16)
        mask = None if causal else (torch.rand(2, 16, 2048, 2048, device=D) > 0.1).to(torch.int32)
        fb(module._attention.apply(x(), x(), x(), mask, 0.125))

    yield "mask", lambda: masked(False)
    yield "mask_none", lambda: masked(True)

    def extended(new, length=4096):
        bare("self_extend_patch", "longlm")
        x = lambda: rand(1, 32, length, 128, dtype=FP16 if new else BF16)
        if new:
            load("self_extend_patch.triton_selfextend_flash_attn").prefill_flash_forward(
                x(), x(), x(), x(), x(), length, length, 1024
            )
        else:
            load("self_extend_patch.selfextend_flash_attn_triton")._self_extend_flash_forward_triton(
                x(), x(), x(), x(), x(), True, 0.09, 1024
            )

    yield "extend", lambda: extended(False)
    yield "extend_prompt", lambda: extended(True)

    def images(width):
        bare("segment_anything_fast", "samfast")
        x = lambda: rand(1, 16, 4096, width)
        load("segment_anything_fast.flash_4")._attention_rel_h_rel_w_kernel_aligned_device(
            x(), x(), x(), rand(1, 16, 4096, 128), width**-0.5, rand(1, 16, 4096, width), 128, 64, 8, 2
        )

    yield "sam", lambda: images(128)
    yield "sam_narrow", lambda: images(64)

    def ring(what):
        bare("ring_swa", "ringswa")
        names = "_flash_attn_backward _flash_attn_forward _flash_attn_varlen_forward _flash_attn_varlen_backward"
        stub("flash_attn")
        stub("flash_attn.flash_attn_interface", **dict.fromkeys(names.split()))
        if what == "merge":
            load("ring_swa.ops.merge").triton_merge_attn_out(
                rand(1, 8192, 32, 128, dtype=FP32), rand(1, 32, 8192, dtype=FP32), rand(1, 8192, 32, 128),
                rand(1, 32, 8192, dtype=FP32),
            )  # fmt: skip
            return
        with mock.patch("importlib.metadata.version", lambda name: "2.8.0"):
            module = load("ring_swa.ops.wrap_flash")
        module.rmpad_softmax_lse(rand(4, 32, 2048, dtype=FP32), starts(4, 2048))

    for what in ("merge", "unpad"):
        yield "ring_" + what, lambda what=what: ring(what)

    def hashed(kind, batch=4, heads=12, length=4096):
        x = lambda: rand(batch, heads, length, 64).requires_grad_()
        order = lambda: count(length).expand(batch, heads, length).contiguous()
        if kind == "hash":
            buckets = lambda: (count(length, torch.int64) // 256).expand(batch, heads, length).contiguous()
            module = load("hsparse_attn")
            fb(module._attention.apply(x(), x(), x(), order(), order(), buckets(), buckets(), 0.125))
        else:
            fb(load("qksparse_attn")._attention.apply(x(), x(), x(), order(), order(), 0.125))

    yield "hash", lambda: hashed("hash")
    yield "drop", lambda: hashed("drop")


def images():
    """Z-Image's blocks of 30 heads, and Flux's of 24."""

    def z(name):
        bare("zimage_triton", "zimage/src")
        return load("zimage_triton.kernels." + name)

    tokens, hidden = 4096, 3840
    rows = lambda n=hidden: rand(1, tokens, n)
    phases = lambda: torch.polar(scale(1, tokens, 64), rand(1, tokens, 64, dtype=FP32))
    yield "z_modulate", lambda: z("adaln_modulation").triton_adaln_modulation(rand(32, 1, 4 * hidden), hidden)
    yield (
        "z_residual",
        lambda: z("fused_norm_residual").triton_fused_norm_gate_residual(
            rows(), rows(), rand(1, 1, hidden), rand(hidden)
        ),
    )
    yield (
        "z_norm_rotate",
        lambda: z("fused_qknorm_rope").triton_fused_qknorm_rope(rand(1, tokens, 30, 128), rand(128), phases()),
    )
    yield "z_norm", lambda: z("rms_norm").triton_rms_norm(rows(), rand(hidden))
    yield "z_rotate", lambda: z("rope_3d").triton_rope_3d(rand(1, tokens, 30, 128), phases())
    yield "z_swiglu", lambda: z("swiglu").triton_swiglu_forward(rows(10240), rows(10240))

    def flux(name):
        bare("triton_kernels", "fluxkernels")
        return load("triton_kernels." + name)

    batch, length, width = 1, 4608, 3072
    yield (
        "flux_attention",
        lambda: flux("kernels.attention").scaled_dot_product_attention(
            *(rand(batch, 24, length, 128) for _ in range(3))
        ),
    )
    yield (
        "flux_linear",
        lambda: flux("kernels.linear").linear(
            rand(batch, length, width), rand(4 * width, width), rand(4 * width), "GELU"
        ),
    )
    yield (
        "flux_norm_modulate",
        lambda: flux("kernels.normalization").layer_norm_modulation(
            rand(batch, length, width, dtype=FP32), rand(batch, width, dtype=FP32), rand(batch, width, dtype=FP32)
        ),
    )
    yield (
        "flux_norm",
        lambda: fb(
            flux("kernels.normalization").rms_norm(leaf(batch, 24, length, 128, dtype=FP32), leaf(128, dtype=FP32))
        ),
    )
    yield (
        "flux_rotate",
        lambda: flux("kernels.positional_embedding").apply_rope(
            rand(batch, 24, length, 128), rand(batch, 24, length, 128), rand(1, 1, length, 64, 2, 2, dtype=FP32)
        ),
    )

    def modulate(second):
        module, n = flux("ops.modulation"), batch * length * width
        x, factors, out = rand(n, dtype=FP32), rand(batch, 6 * width, dtype=FP32), rand(n, dtype=FP32)
        if second:
            module.triton_modulation_gate_proj[(n // 512,)](
                x, factors, rand(n, dtype=FP32), out, length * width, width, 6 * width, XBLOCK=512
            )
        else:
            module.triton_modulation_scale_shift[(n // 512,)](
                x, factors, out, length * width, width, 6 * width, True, XBLOCK=512
            )

    yield "flux_modulate", lambda: modulate(False)
    yield "flux_gate", lambda: modulate(True)

    def together(text=512, picture=4096):
        out = lambda: rand(batch, 24, length, 128)
        flux("ops.qkv_concat").triton_qkv_concat[(batch * length * width // 512,)](
            rand(batch, text, 3 * width), rand(batch, picture, 3 * width), out(), out(), out(), length, 24, 128, width,
            text, text * 3 * width, 3 * width, picture * 3 * width, 3 * width, 24 * length * 128, length * 128, 128,
            XBLOCK=512,
        )  # fmt: skip

    yield "flux_together", together
    n = 4608 * 12288
    yield (
        "flux_silu",
        lambda: flux("ops.silu").triton_silu[(n // 1024,)](rand(n), rand(n), n, XBLOCK=1024),
    )

    def product(m=4608, n=3072, k=12288):
        flux("ops.linear").triton_linear[(m // 128 * (n // 128),)](
            rand(m, k), rand(n, k).t(), rand(n), rand(m, n), m, n, k, k, 1, 1, k, GROUP_M=8, EVEN_K=True,
            ALLOW_TF32=False, ACC_TYPE=flux("ops.linear").tl.float32, B_PROLOGUE_CAST_TYPE=None, BLOCK_M=128,
            BLOCK_N=128, BLOCK_K=32, num_warps=4, num_stages=4,
        )  # fmt: skip

    yield "flux_product", product


def cases():
    for prefix, part in (
        ("wan_", wan), ("ffpa_", ffpa), ("fsa_", sparse), ("", variants), ("", images),
    ):  # fmt: skip
        for name, case in part():
            yield prefix + name, case
