"""Repositories none of whose kernels had been timed when they were chosen: scattermoe 47b5e15, forgetting-transformer
883f260, trifast c880ef8, TransformerEngine d0067d0, generative-recommenders db1bf8f, DeepSpeed edaa722, flashrnn
d73fb52, accelerated-scan 866fa4c, lion-pytorch 6a74fdc, batch_invariant_ops f22b1fb and DeepSeek-V3 9b4e978 here;
ten more in unseen_sparse.py, unseen_quantised.py and unseen_vllm.py.

Of each repository the `.py` files do; gemlite wants its folder configs, which may be empty. FastVideo's
topk_index_to_map is left out, which Triton 3.6 does not compile. Two launches of a few kernels may differ: the order
of atomic operations decides what invert_indices writes (fastvideo_block_sparse), and how sums round (svg_centroids,
products that split K). rotary, conv_update and most kernels of caches write their results over their inputs."""

import functools
import importlib
import importlib.metadata
import os
import sys
import tempfile
import types

import torch
import triton

from packages import stand_ins, unseen_quantised, unseen_sparse, unseen_vllm
from packages.common import (
    BF16, D, FP16, FP32, BarePackages, fb, folder_of, fp8, gate, ints, leaf, load, rand, scale, starts, stub, whole,
)  # fmt: skip

PATHS = [
    "unseen/" + name
    for name in (
        "scattermoe", "fot/src", "trifast/src", "te", "hstu", "deepspeed", "flashrnn/flashrnn", "ascan", "lion", "bio",
        "dsv3/inference", "nsat", "svg", "fastvideo", "fastvideo/fastvideo-kernel/python", "flexgemm", "minference",
        "megablocks", "gemlite", "gptqmodel", "colossal", "vllm",
    )
]  # fmt: skip
N, C, V = 8192, 4096, 32768


def plain(module):
    """The module, its operators replaced by their functions: an operator hides its kernels from fake tensors."""
    for name, value in list(vars(module).items()):
        if hasattr(value, "_init_fn"):
            setattr(module, name, value._init_fn)
    return module


def scattermoe():
    experts, hidden, inner = 32, 2048, 1024

    def linear(tokens, chosen, grouped_in=False, grouped_out=False, gated=False, bias=False):
        plain(load("scattermoe.kernels.ops"))
        module = load("scattermoe.parallel_experts")
        ids = torch.rand(tokens, experts, device=D).topk(chosen).indices.flatten()
        order, scattered = torch.sort(ids)
        offsets = (ids[:, None] == torch.arange(experts, device=D)).sum(0).cumsum(0)
        x = leaf(tokens * (chosen if grouped_in else 1), hidden)
        gates = torch.rand(tokens, chosen, device=D).to(BF16).requires_grad_() if gated else None
        out = module.ParallelLinear.apply(
            x, leaf(experts, hidden, inner, scale=0.02), 1 if grouped_in else chosen, order, scattered, offsets,
            leaf(experts, inner) if bias else None, gates, grouped_in, grouped_out,
        )  # fmt: skip
        fb(out)

    yield "scattermoe_up", lambda: linear(4096, 4, grouped_out=True)
    yield "scattermoe_down", lambda: linear(4096, 4, grouped_in=True, gated=True)
    yield "scattermoe_bias", lambda: linear(2048, 2, bias=True)
    yield "scattermoe_single", lambda: load("scattermoe.kernels.single").single2scatter(
        rand(1, hidden), rand(experts, hidden, inner), ints(experts, 1, 4)
    )


def forgetting():
    BarePackages("forgetting_transformer", folder_of("unseen/fot/src"))
    model = lambda name: load("forgetting_transformer.model.forgetting_transformer." + name)
    attention = lambda: load("forgetting_transformer.ops.forgetting_attention").forgetting_attention
    q = lambda length=4096, width=64: leaf(2, length, 12, width)

    def run(width=64, **kwargs):
        fb(attention()(q(width=width), q(width=width), q(width=width), gate(2, 4096, 12), **kwargs))

    yield "fox_attention", run
    yield "fox_attention_128", lambda: run(128)
    yield "fox_attention_pruned", lambda: run(adaptive_threshold="auto")
    yield "fox_attention_starts", lambda: run(seq_start=whole(1024, 2))
    x, w = lambda: leaf(N, 1024), lambda: leaf(1024)
    yield "fox_norm_gate", lambda: fb(model("fuse_norm_gate").rms_norm_gated(x(), x(), w(), None))
    yield "fox_norm_gate_groups", lambda: fb(
        model("fuse_norm_gate").group_norm_gated(x(), x(), w(), w(), num_groups=16)
    )
    yield "fox_layer_norm", lambda: fb(model("layernorm").layer_norm(x(), w(), w(), residual=x(), prenorm=True))
    yield "fox_group_norm", lambda: fb(model("layernorm").group_norm(x(), w(), w(), num_groups=16, is_rms_norm=True))
    yield "fox_cross_entropy", lambda: fb(
        model("fused_cross_entropy").cross_entropy_loss(leaf(N, 50304), ints(50304, N), lse_square_scale=1e-4)[0]
    )
    yield "fox_rotary", lambda: fb(
        model("rotary").apply_rotary_emb(q(), rand(4096, 32), rand(4096, 32), interleaved=False)
    )
    weight = lambda: torch.rand(2, 4096, 12, device=D).to(BF16).requires_grad_()
    yield "fox_token_shift", lambda: fb(model("token_shift").token_shift(q(), weight(), weight()))


def trifast():
    """Triangle attention of AlphaFold's pair representation; its own tuner times, Triton's takes its place."""

    def run(length, heads, width, dtype):
        stub("jaxtyping", Bool=Hint(), Float=Hint())
        stub("platformdirs", user_config_dir=lambda **k: tempfile.gettempdir())
        tuner = types.ModuleType("trifast.autotune")
        tuner.autotune = lambda configs, key, **k: triton.autotune(configs, key)
        BarePackages("trifast", folder_of("unseen/trifast/src"))
        importlib.metadata.version = functools.partial(version, importlib.metadata.version)
        sys.modules.setdefault("trifast.autotune", tuner)
        module = plain(load("trifast.torch"))
        x = lambda: rand(1, heads, length, length, width, dtype=dtype)
        bias, mask = rand(1, heads, length, length, dtype=dtype), ints(2, 1, length, length).bool()
        q, k, v = x(), x(), x()
        out, sums = module._triangle_attention(q, k, v, bias, mask)
        module.triangle_attention_bwd(x(), q, k, v, bias, out, sums, mask)

    yield "trifast_256", lambda: run(256, 4, 32, BF16)
    yield "trifast_fp32", lambda: run(128, 4, 32, FP32)


def version(known, name):
    """The version of a package that was not installed."""
    try:
        return known(name)
    except importlib.metadata.PackageNotFoundError:
        return "0"


class Hint:
    """A type of jaxtyping, of any name and shape."""

    def __getitem__(self, key):
        return torch.Tensor


def transformer_engine():
    def module(name):
        BarePackages("transformer_engine", folder_of("unseen/te"))
        stub("transformer_engine.pytorch.cpp_extensions.gemm", general_gemm=None)
        return load("transformer_engine.pytorch.triton." + name)

    def entropy(smoothing):
        m = module("cross_entropy")
        logits = rand(4, 2048, V)
        _, grad = m.cross_entropy_forward(logits, ints(V, 4, 2048), smoothing, False, None, -100)[:2]
        m.cross_entropy_backward(grad, rand(4, 2048, dtype=FP32))

    for smoothing in (0.0, 0.1):
        yield f"te_cross_entropy_{smoothing}", lambda s=smoothing: entropy(s)

    def permute(dtype, experts=64, chosen=8, tokens=4096, hidden=2048):
        m = module("permutation")
        best = torch.rand(tokens, experts, device=D).topk(chosen).indices
        routing = torch.zeros(tokens, experts, device=D, dtype=torch.int32).scatter_(1, best, 1)
        rows = m.make_row_id_map(routing, tokens, experts)
        x, out = rand(tokens, hidden, dtype=dtype), tokens * chosen
        probs = rand(tokens, experts, dtype=FP32).sigmoid()
        y, _, y_probs = m.permute_with_mask_map(x, rows, probs, None, None, tokens, experts, out, hidden, 0)
        m.unpermute_with_mask_map(y, rows, None, y_probs, None, tokens, experts, hidden)
        m.unpermute_with_mask_map(y, rows, probs, None, None, tokens, experts, hidden)
        m.unpermute_with_mask_map_bwd_with_merging_probs(x, rows, y, probs, None, tokens, experts, out, hidden)

    yield "te_permute", lambda: permute(BF16)
    yield "te_permute_fp32", lambda: permute(FP32)

    def chunks():
        m, splits, tokens = module("permutation"), 64, 16384
        sizes = torch.full((splits,), tokens // splits, device=D, dtype=torch.int32)
        rows = m.make_chunk_sort_map(sizes, torch.randperm(splits, device=D).int(), tokens, splits)
        for forward in (True, False):
            m.sort_chunks_by_map(rand(tokens, 2048), rows, rand(tokens, dtype=FP32), tokens, 2048, forward)

    yield "te_sort_chunks", chunks
    yield "te_pad", lambda: module("pad").pad_columnwise_scale_inv(whole(255, 60, 4000).to(torch.uint8))
    yield "te_grouped_dbias", lambda: module("grouped_dbias_dscales").compute_grouped_dbias(
        rand(N, C), starts(8, N // 8).long(), 8
    )
    yield "te_grouped_dbias_dscales", lambda: module("grouped_dbias_dscales").compute_grouped_dbias_dscales(
        rand(N, C), rand(N, dtype=FP32), rand(8, C), starts(8, N // 8).long()
    )
    wide = lambda *shape: leaf(*shape, dtype=FP32)

    def hyper(split):
        """Hyper-connections of DeepSeek: four streams of 4096."""
        m = module("mhc")
        m.check_deterministic = lambda *a, **k: None
        x = leaf(2048, 1, C, 4)
        out, post, mixed = m.mhc_generate_mix_and_aggregate(
            x, wide(24, 4 * C), wide(3), wide(1, 24), norm_weight=wide(4 * C), use_split_k=split
        )
        fb(m.mhc_fused_expand_combine(out, leaf(C), post, x, mixed, 4))

    for split in (False, True):
        yield f"te_hyper_{split}", lambda s=split: hyper(s)
    yield "te_sinkhorn", lambda: fb(module("mhc").mhc_fused_sinkhorn(wide(4096, 2, 4, 4), 4, False, 20))


def recommenders():
    """Meta's HSTU: jagged batches of 32 users with up to 2048 events."""
    ops = lambda name: load("generative_recommenders.ops.triton.triton_" + name)
    users, length, hidden = 32, 1024, 512
    longest, total = 2048, users * length
    offsets = lambda: starts(users, length).long()
    rows = lambda width=hidden, **k: leaf(total, width, **k)

    def attention(**kwargs):
        q = lambda: leaf(total, 4, 128, scale=0.1)
        words = dict(
            N=longest, alpha=128**-0.5, q=q(), k=q(), v=q(), seq_offsets=offsets(), num_targets=None, max_attn_len=0,
            contextual_seq_len=0, sort_by_length=False, enable_tma=False,
        )  # fmt: skip
        f = ops("hstu_attention")._AttentionFunction
        words.update(kwargs)
        fb(f.apply(*words.values()))

    yield "hstu_attention", attention
    yield "hstu_attention_targets", lambda: attention(num_targets=ints(32, users) + 1, max_attn_len=256)
    yield "hstu_attention_sorted", lambda: attention(sort_by_length=True, contextual_seq_len=8)
    yield "hstu_attention_cached", lambda: ops("hstu_attention").triton_cached_hstu_mha(
        N=longest, alpha=0.1, delta_q=rand(users * 64, 4, 128), k=rand(total, 4, 128), v=rand(total, 4, 128),
        seq_offsets=offsets(), num_targets=None,
    )  # fmt: skip
    norm = lambda: ops("layer_norm")
    weight = lambda width=hidden: leaf(width)
    yield "hstu_layer_norm", lambda: fb(norm().triton_layer_norm(rows(), weight(), weight(), 1e-5))
    yield "hstu_layer_norm_bare", lambda: fb(norm().triton_layer_norm(rows(), None, None, 1e-5))
    yield "hstu_rms_norm", lambda: fb(norm().triton_rms_norm(rows(), weight(), 1e-5))
    yield "hstu_swish_norm", lambda: fb(norm().triton_swish_layer_norm(rows(), [hidden], weight(), weight(), 1e-5))
    yield "hstu_addmm", lambda: fb(ops("addmm").triton_addmm(weight(2048), rows(), leaf(hidden, 2048)))
    yield "hstu_swiglu", lambda: ops("swiglu").triton_swiglu(rand(N, C), rand(2 * C, C), rand(2 * C, C))

    def output(groups):
        fb(
            ops("hstu_linear").triton_norm_mul_dropout(
                rows(), rows(), weight(4 if groups else hidden), weight(4 if groups else hidden), 1e-5, 0.1, True, True,
                group_norm=groups, num_heads=4, linear_dim=hidden // 4, seed=7,
            )
        )  # fmt: skip

    yield "hstu_norm_mul_dropout", lambda: output(False)
    yield "hstu_group_norm_mul_dropout", lambda: output(True)
    yield "hstu_helion_norm", lambda: fb(
        ops("hstu_linear").helion_norm_mul_dropout(rows(), rows(), weight(), weight(), 1e-5, 0.1, True, seed=7)
    )

    def position(kind):
        fb(
            ops("position").triton_add_timestamp_positional_embeddings(
                rows(), offsets(), leaf(4096, hidden), leaf(2049, hidden), ints(10**6, total).sort().values, longest, 0,
                torch.full((users,), length, device=D), None, False, kind,
            )
        )  # fmt: skip

    for kind in ("sqrt", "log"):
        yield f"hstu_position_{kind}", lambda k=kind: position(k)
    jagged = lambda: ops("jagged")
    yield "hstu_concat", lambda: fb(jagged().triton_concat_2D_jagged(2 * longest, rows(), rows(), offsets(), offsets()))
    yield "hstu_concat_dense", lambda: fb(
        jagged().triton_concat_2D_dense_jagged(longest, offsets(), rows(), leaf(users, 16, hidden))
    )
    yield "hstu_split", lambda: fb(
        jagged().triton_split_2D_jagged(
            rows(), longest, starts(users, 768).long(), starts(users, 256).long(), seq_len_a=users * 768,
            seq_len_b=users * 256, total_seq_len=total,
        )
    )  # fmt: skip
    yield "hstu_bmm", lambda: fb(
        jagged().triton_jagged_dense_bmm(longest, offsets(), rows(), leaf(users, hidden, hidden))
    )
    yield "hstu_bmm_add", lambda: fb(
        jagged().triton_jagged_dense_bmm_add(
            longest, offsets(), rows(), leaf(users, hidden, hidden), leaf(users, hidden), False
        )
    )
    yield "hstu_broadcast_add", lambda: fb(
        jagged().triton_jagged_dense_broadcast_add(longest, offsets(), rows(), leaf(users, hidden))
    )


def deepspeed():
    def module(name):
        BarePackages("deepspeed", folder_of("unseen/deepspeed"))
        accelerator = types.SimpleNamespace(device_name=lambda *a: D, on_accelerator=lambda t: True)
        stub("deepspeed.accelerator", get_accelerator=lambda: accelerator)
        stub("deepspeed.comm")
        return load("deepspeed." + name)

    inference = lambda name: module("ops.transformer.inference.triton." + name)
    ends = lambda: starts(16, N // 16)[1:]
    for transposed in (False, True):
        shape = (16, 1408, 2048) if transposed else (16, 2048, 1408)
        yield f"deepspeed_group_gemm_{transposed}", lambda t=transposed, s=shape: fb(
            module("ops.triton_ops.group_gemm_triton").group_gemm_triton(leaf(N, 2048), leaf(*s), ends(), t)
        )
    yield "deepspeed_swiglu", lambda: fb(module("ops.triton_ops.swiglu_triton").swiglu(leaf(N, C), leaf(N, C)))

    def fill():
        counts = torch.full((64 * 8,), 16, device=D, dtype=torch.int32)
        module("moe.ep_kernels").generate_permute_indices(counts, 64, 8, 16384, 16)

    yield "deepspeed_fill_indices", fill
    half = lambda *shape: rand(*shape, dtype=FP16)
    yield "deepspeed_gelu", lambda: inference("gelu").gelu(half(2, N, C))
    yield "deepspeed_layer_norm", lambda: inference("layer_norm").layer_norm(half(N, C), half(C), half(C), 1e-5)
    yield "deepspeed_layer_norm_residual", lambda: inference("layer_norm").layer_norm_residual(
        half(N, C), half(C), half(N, C), half(C), half(C), 1e-5
    )
    yield "deepspeed_residual_add", lambda: inference("residual_add").residual_add_bias(
        half(2, 2048, C), half(2, 2048, C), half(2, 2048, C), half(C), half(C), 1, False, True, True
    )
    yield "deepspeed_softmax", lambda: inference("softmax").softmax(half(16, 12, 512, 512))
    yield "deepspeed_softmax_masked", lambda: inference("softmax").softmax(
        half(16, 12, 512, 512), half(16, 1, 1, 512)
    )
    for dtype in (BF16, FP16):
        yield f"deepspeed_fp8_gemm_{str(dtype)[6:]}", lambda d=dtype: module(
            "ops.fp_quantizer.fp8_gemm_triton"
        ).matmul_fp8_triton(rand(64, C, dtype=d), ints(255, C, C, dtype=torch.uint8) & 0x77, scale(C * C // 128), 128)


def recurrences():
    fused = lambda: load("flashrnn.triton_fused.fwbw")

    def rnn(kind, gates, states, dtype):
        BarePackages("flashrnn", folder_of("unseen/flashrnn/flashrnn"))
        batch, length, heads, width = 16, 256, 4, 64
        f = getattr(fused(), kind + "_tr_fwbw")
        fb(
            f(
                leaf(states, batch, heads, width, dtype=FP32), leaf(batch, length, gates, heads, width, dtype=FP32),
                leaf(gates, heads, width, width, dtype=FP32, scale=0.1), leaf(gates, heads, width, dtype=FP32),
                autocast_kernel_dtype=dtype,
            )
        )  # fmt: skip

    yield "flashrnn_lstm", lambda: rnn("lstm", 4, 2, "bfloat16")
    yield "flashrnn_slstm", lambda: rnn("slstm", 4, 4, "bfloat16")
    forget = lambda dtype=FP32: torch.rand(8, 1024, 4096, device=D, dtype=dtype).requires_grad_()
    for name, dtype in (("scalar", FP32), ("scalar", BF16)):
        yield f"scan_{name}_{str(dtype)[6:]}", lambda d=dtype: fb(
            load("accelerated_scan.scalar").scan(forget(d), leaf(8, 1024, 4096, dtype=d))
        )

    def complex_scan():
        x = lambda: torch.randn(4, 512, 4096, device=D, dtype=torch.complex64) * 0.5
        load("accelerated_scan.complex").scan(x(), x())

    yield "scan_complex", complex_scan


def few():
    """Repositories of one file with kernels."""
    yield "lion", lambda: load("lion_pytorch.triton").update_fn(
        rand(C, C, dtype=FP32), rand(C, C, dtype=FP32), rand(C, C, dtype=FP32), 1e-4, 0.01, 0.9, 0.99
    )
    ops = lambda: load("batch_invariant_ops.batch_invariant_ops")
    for dtype in (BF16, FP16, FP32):
        yield f"invariant_matmul_{str(dtype)[6:]}", lambda d=dtype: ops().matmul_persistent(
            rand(2048, C, dtype=d), rand(C, C, dtype=d), rand(C, dtype=d)
        )
    yield "invariant_log_softmax", lambda: ops().log_softmax(rand(2048, 128256))
    yield "invariant_mean", lambda: ops().mean_dim(rand(64, 1024, C, dtype=FP32), 1)
    v3 = lambda: load("kernel")
    yield "deepseek_act_quant", lambda: v3().act_quant(rand(C, 7168))
    yield "deepseek_act_quant_ue8m0", lambda: v3().act_quant(rand(C, 7168), scale_fmt="ue8m0")
    yield "deepseek_weight_dequant", lambda: v3().weight_dequant(fp8(7168, 2048), scale(56, 16))
    yield "deepseek_fp8_gemm", lambda: v3().fp8_gemm(fp8(2048, 7168), scale(2048, 56), fp8(4096, 7168), scale(32, 56))


def cases():
    stand_ins.install()
    os.environ["AOTI_LOWER"] = "1"  # generative_recommenders then registers no operators
    torch._dynamo.config.disable = True
    for part in (
        scattermoe, forgetting, trifast, transformer_engine, recommenders, deepspeed, recurrences, few,
    ):  # fmt: skip
        yield from part()
    yield from unseen_sparse.cases()
    yield from unseen_quantised.cases()
    yield from unseen_vllm.cases()
