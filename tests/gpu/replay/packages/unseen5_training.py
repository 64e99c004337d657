"""Training of `unseen5`: Fast-LLM 7d61a1ba, sonic-moe 8565e84, slime 624b824a8, transformers-qwen3-moe-fused 5ad116a,
lightning-thunder 1e22aacb1, linear_cross_entropy_loss 3da8e5f, moe_layer c9b9c01, Emerging-Optimizers fd77292, LaCT
1f84d47 and recsys-examples 43465aea.

Left out: sonic-moe's products of experts, which are CUTLASS's; slime's casts from 8 bits, which are DeepSeek-V3's;
linear_cross_entropy_loss's variants; and of recsys-examples what generative-recommenders was timed with: HSTU's
attention, norms with a mean, products of jagged batches and embeddings of times. The order of atomic operations decides
how the gradients of linear_cross_entropy_loss and moe_layer round. Fast-LLM's optimiser writes over its inputs, and a
gradient of transformers-qwen3-moe-fused does."""

import sys
import types
from unittest import mock

import torch
import triton

from packages.common import BF16, D, FP32, bare_of, bytes_, fb, ints, leaf, load, rand, stub

bare = bare_of("unseen5")
TOKENS, WIDTH, WORDS = 8192, 4096, 131072


CUTLASS = (
    "cuda", "cuda.bindings", "cuda.bindings.driver", "cutlass", "cutlass.cute", "cutlass.cute.runtime", "cutlass._mlir",
    "cutlass._mlir.dialects", "cutlass.cutlass_dsl", "quack", "quack.cute_dsl_utils", "quack.tile_scheduler",
)  # fmt: skip
PRODUCTS = [
    f"HopperWgmma_MoE_{name}"
    for name in (
        "Up_proj_Fwd", "Down_proj_Fwd", "Down_proj_ActGrad_Bwd", "Down_proj_WeightGrad_Bwd", "Up_proj_ActGrad_Bwd",
        "Up_proj_WeightGrad_Bwd",
    )
]  # fmt: skip
TYPES = {BF16: triton.language.bfloat16, FP32: triton.language.float32}
LINEAR = (
    "input_parallel_linear_forward", "maybe_transpose", "output_parallel_linear_backward",
    "output_parallel_linear_forward", "update_linear_gradients",
)  # fmt: skip


def instead(name, **attributes):
    """A module in the place of the package's own, which Python 3.11 or a machine without CUTLASS cannot import."""
    sys.modules.setdefault(name, types.ModuleType(name)).__dict__.update(attributes)


def plainly(decorator):
    """try_decorate: the decorator takes options or a function."""
    return lambda *args, **kwargs: decorator()(*args, **kwargs) if args or kwargs else decorator()


def equal(x, y):
    assert x == y


def fastllm(name):
    """Its functions on Triton. A module that asks for a GPU when it is imported is told of one."""
    for package in ("engine", "engine.config_utils"):
        instead("fast_llm." + package, __path__=[])
    instead(
        "fast_llm.engine.config_utils.data_type",
        DataType=types.SimpleNamespace(from_torch=lambda dtype: types.SimpleNamespace(triton=TYPES[dtype])),
    )
    instead("fast_llm.tensor", param_get_and_unset_is_zero=lambda parameter: True)
    instead("fast_llm.functional.utils", wrap_forward_backward=lambda *f: None, reduce_losses=lambda x, n: x.sum() / n)
    instead(
        "fast_llm.utils",
        InvalidObject=object,
        try_decorate=plainly,
        div=lambda x, y: x // y,
        Assert=types.SimpleNamespace(eq=equal),
    )
    instead("fast_llm.core.distributed", ReduceOp=None, all_reduce=None, ProcessGroup=object)
    instead("fast_llm.core.ops", gather_op=None)
    instead("fast_llm.functional.linear", **dict.fromkeys(LINEAR))
    with mock.patch.object(torch.cuda, "is_available", lambda: True):
        load("fast_llm.functional.triton")
    return load("fast_llm.functional.triton." + name)


def layers():
    """Layers and an optimiser's step at the sizes of Mistral 7B."""
    x = lambda *shape: rand(*(shape or (TOKENS, WIDTH)))

    def norm(width, bias, training=True):
        module = fastllm("normalization")
        weights = [leaf(width), leaf(width) if bias else None]
        for weight in weights:
            if weight is not None:
                weight.grad_buffer = rand(width, dtype=FP32)
        rows = TOKENS * WIDTH // width
        out, context = module.triton_normalization_forward(x(rows, width), *weights, 1e-5, True, False)
        module.triton_normalization_backward(torch.randn_like(out), context)

    yield "rms_norm", lambda: norm(WIDTH, False)
    yield "layer_norm", lambda: norm(WIDTH, True)
    yield "rms_norm_wide", lambda: norm(16384, False)
    yield "rms_norm_heads", lambda: norm(128, False)

    def activation(name, gated, recompute):
        mlp = fastllm("mlp")
        out, context = mlp.triton_mlp_activation_forward(x(TOKENS, 14336 * (1 + gated)), gated, name)
        mlp.triton_mlp_activation_backward(torch.randn_like(out), context, recompute)

    yield "swiglu", lambda: activation("silu", True, True)
    yield "gelu", lambda: activation("gelu", False, False)
    for backward in (False, True):
        yield (
            "rotary_back" if backward else "rotary",
            lambda b=backward: fastllm("rotary").triton_rotary_(
                x(2, 4096, 32, 128), x(4096, 128).float(), False, b, False
            ),
        )
    yield (
        "rotary_keys",
        lambda: fastllm("rotary").triton_rotary_(x(2, 4096, 16, 128), x(4096, 128).float(), True, False, False),
    )
    single = lambda: rand(WIDTH, 14336, dtype=FP32)
    yield "copy", lambda: fastllm("pointwise").triton_copy(x(WIDTH, 14336), single(), True)
    yield "fill", lambda: fastllm("pointwise").triton_fill(single(), 0.0, True)
    yield "add", lambda: fastllm("pointwise").triton_add(single(), x(WIDTH, 14336), single(), True)
    yield (
        "adam",
        lambda: fastllm("adam").triton_adam(
            single(), single(), single(), single().abs(), torch.zeros((), device=D, dtype=torch.int64),
            torch.ones((), device=D), 1e-4, 0.9, 0.95, 100, 0.1, 1e-8,
        ),
    )  # fmt: skip


def losses():
    """Losses and their gradients in one kernel, 8,192 tokens over 131,072 words."""
    logits = lambda: rand(TOKENS, WORDS)
    labels = lambda: ints(WORDS, TOKENS)
    numbers = lambda: rand(TOKENS, dtype=FP32)
    kept = lambda: torch.rand(TOKENS, device=D) < 0.8
    lengths = lambda: torch.full((TOKENS,), 1024, device=D)

    def entropy(target, form, kind="cross_entropy", grad=1.0, mask=None, **more):
        config = fastllm("entropy_loss")
        fastllm("entropy_loss").triton_entropy_loss_forward_backward(
            logits(), target(), mask and mask(), grad_output=grad, target_format=config.TargetFormat[form],
            entropy_loss_type=config.EntropyLossType[kind], **more,
        )  # fmt: skip

    yield "labels", lambda: entropy(labels, "labels")
    yield "labels_forward", lambda: entropy(labels, "labels", grad=None)
    yield "teacher", lambda: entropy(logits, "logits", mask=kept)
    yield "forward_kl", lambda: entropy(logits, "logits", "forward_kl", z=(1e-4,))
    yield "reverse_kl", lambda: entropy(logits, "logits", "reverse_kl", mask=kept)
    one = types.SimpleNamespace(rank=lambda: 0, size=lambda: 1)

    def parallel(*args):
        """Of one part of the words, the only one."""
        with mock.patch.object(torch.distributed, "all_reduce"):
            entropy(*args, group=one)

    yield "labels_parallel", lambda: parallel(labels, "labels")
    yield "teacher_parallel", lambda: parallel(logits, "logits")
    yield "reverse_kl_parallel", lambda: parallel(logits, "logits", "reverse_kl")
    yield "z", lambda: fastllm("z_loss").triton_z_loss_forward_backward(logits(), kept(), grad_output=1e-4)
    yield (
        "grpo",
        lambda: fastllm("grpo_loss").triton_grpo_loss_forward_backward(
            logits(), labels(), numbers(), numbers(), grad_output=1.0, num_labels_in_seq=lengths()
        ),
    )
    yield (
        "gspo",
        lambda: fastllm("gspo_loss").triton_gspo_loss_forward_backward(
            logits(), labels(), numbers(), numbers(), torch.arange(TOKENS, device=D) // 1024, 8, TOKENS, lengths(),
            grad_output=1.0,
        ),
    )  # fmt: skip
    yield (
        "monolithic",
        lambda: fastllm("monolithic_loss").triton_monolithic_loss_forward_backward(
            logits(), labels(), None, 1.0, None, TOKENS, ce=(1.0,), z=(kept(), 1e-4)
        ),
    )
    yield (
        "monolithic_grpo",
        lambda: fastllm("monolithic_loss").triton_monolithic_loss_forward_backward(
            logits(), labels(), None, 1.0, None, TOKENS, grpo=(numbers(), numbers(), 1.0, 0.2, 0.2, lengths()),
            compute_metrics=True,
        ),
    )  # fmt: skip


def experts():
    """A layer of 32 experts of which a token has 4: 8,192 tokens of 2,048 features, each expert's rows a multiple of
    128."""
    count, chosen, width, inner = 32, 4, 2048, 1024

    def sparse():
        copy = fastllm("sparse_copy")
        rows, each = TOKENS * chosen, TOKENS * chosen // count
        ends = (torch.arange(count, device=D, dtype=torch.int32) + 1) * each
        places = torch.randperm(rows, device=D).int().view(TOKENS, chosen)
        return copy.SparseMap(places, ends, ends - 8, TOKENS, rows, rows - 8 * count, count, chosen)

    def copies():
        copy, there = fastllm("sparse_copy"), sparse()
        x = copy.copy_dense_to_sparse(rand(TOKENS, width), None, there)
        scores = rand(TOKENS, chosen, dtype=FP32).softmax(-1)
        out, context = copy.copy_sparse_to_dense_forward(x, scores, there)
        copy.copy_sparse_to_dense_backward(torch.randn_like(out), context)

    yield "copies", copies
    yield "map", lambda: fastllm("sparse_copy").get_sparse_map(ints(count, TOKENS, chosen), count, use_triton=True)
    linear = lambda name, *args: fb(getattr(fastllm("sparse_linear"), name).apply(*args, sparse()))
    rows = TOKENS * chosen
    yield "linear_1", lambda: linear("OutputSparseLinear", leaf(rows, width), leaf(width, count * inner))
    yield "linear_2", lambda: linear("InputSparseLinear", leaf(rows, inner), leaf(count * inner, width))
    yield "dense", lambda: fastllm("sparse_linear").dense_matmul(rand(TOKENS, width), rand(width, 8192))


def mixtures():
    """sonic-moe around its products of experts: 32,768 tokens of 4,096 features and 128 experts of which a token has
    8."""
    tokens, width, count, chosen, inner = 32768, 4096, 128, 8, 1024

    def sonic(name):
        bare("sonicmoe", "sonic")
        absent = [package for package in CUTLASS if package not in sys.modules]
        sys.modules.update((package, mock.MagicMock()) for package in absent)
        instead("sonicmoe.functional.moe_config", **dict.fromkeys(PRODUCTS))
        instead("sonicmoe.functional.tile_scheduler", SonicMoETileScheduler=None)
        instead("sonicmoe.functional.topk_softmax", TopK_Softmax=None)
        module = load("sonicmoe.functional." + name)
        for package in absent:
            del sys.modules[package]
        return module

    indices = lambda: torch.rand(tokens, count, device=D).topk(chosen).indices.int()
    ends = lambda n, each: torch.arange(n + 1, device=D, dtype=torch.int32) * each
    rows = tokens * chosen

    def gather(weighted, one_length):
        sonic("reduction_over_k_gather").token_gather_and_sum_varlen_K_triton(
            rand(rows, width), torch.rand(rows, device=D) if weighted else None, rand(tokens, width),
            torch.randperm(rows, device=D).int(), ends(tokens, chosen), tokens, chosen, width, not one_length,
        )  # fmt: skip

    yield "gather", lambda: gather(True, True)
    yield "gather_lengths", lambda: gather(False, False)
    scores = lambda: rand(tokens, chosen, dtype=FP32).softmax(-1)
    yield (
        "softmax_back",
        lambda: sonic("backward")._softmax_topk_bwd(
            torch.zeros(tokens, count, device=D), None, rand(tokens, chosen, dtype=FP32), scores(), indices(), chosen
        ),
    )
    yield (
        "topk_back",
        lambda: sonic("backward")._topk_bwd(
            torch.zeros(tokens, count, device=D), rand(tokens, chosen, dtype=FP32), indices(), chosen
        ),
    )

    def biases():
        m = sonic("backward")
        offsets = ends(count, rows // count)
        m.db1_kernel[(count,)](rand(rows, 2 * inner), rand(count, 2 * inner), offsets, 2 * inner, count)
        parts, block = 4, 4096
        m.db2_and_ds_kernel[(count, width // block)](
            rand(tokens, width), torch.rand(rows, device=D), rand(rows, width // block, dtype=FP32),
            rand(rows, parts, dtype=FP32), rand(count, width), rand(count, width), ints(tokens, rows).int(),
            torch.randperm(rows, device=D).int(), offsets, width, count, parts, BLOCK_H=block,
            BLOCK_OLD_DS_PARTIAL_N=parts,
        )  # fmt: skip
        m._colsum_smallN_kernel[rows,](
            y_ptr=rand(rows, dtype=FP32), x_ptr=rand(rows, parts, dtype=FP32), stride_xm=parts, stride_xn=1, stride_y=1,
            N=parts, BLOCK_N=parts,
        )  # fmt: skip

    yield "biases", biases


def routes():
    """slime's copies of rows to experts and back: 8,192 tokens of 4,096 features, 8 of 128 experts a token."""
    tokens, width, chosen = 8192, 4096, 8
    slime = lambda name: (bare("slime", "slime"), load("slime.backends.megatron_utils." + name))[1]
    module = lambda: slime("alignment.deterministic_route_kernels")
    rows = tokens * chosen
    places = lambda: torch.randperm(rows, device=D).view(tokens, chosen)
    yield "scatter", lambda: module().scatter_routes_forward(rand(tokens, width), places(), rand(rows, width))
    yield "scatter_back", lambda: module().scatter_routes_backward(rand(rows, width), places(), rand(tokens, width))
    yield (
        "ordered",
        lambda: module().ordered_route_grad(
            rand(tokens, width), rand(tokens, chosen, dtype=FP32), places(), rand(rows, width)
        ),
    )
    yield (
        "compact",
        lambda: module().compact_route_positions(torch.ones(tokens, chosen, device=D, dtype=torch.bool), rows),
    )
    yield "fp8", lambda: slime("kernels.fp8_kernel").blockwise_cast_to_fp8_triton(rand(width, 12288))
    yield "fp8_turned", lambda: slime("kernels.fp8_kernel").blockwise_cast_to_fp8_triton(rand(12288, width).t())


def words():
    """Losses of lightning-thunder and linear_cross_entropy_loss."""

    def thunder(smoothing=0.0, weight=False, classes=True):
        bare("thunder", "thunder")
        stub("looseversion", LooseVersion=str)
        stub("lightning_utilities")
        stub("lightning_utilities.core")
        stub("lightning_utilities.core.imports", package_available=lambda name: False)
        executor = mock.MagicMock()
        instead("thunder.extend", OperatorExecutor=lambda *a, **k: executor, register_executor=lambda executor: None)
        instead("thunder.executors.triton_utils", is_triton_version_at_least=lambda version: True,
                triton_version=lambda: None)  # fmt: skip
        instead("thunder.torch", cross_entropy=None)
        module = load("thunder.executors.triton_crossentropy_impl")
        count, many = 8192, 32000
        target = ints(many, count) if classes else torch.rand(count, many, device=D)
        loss = module.cross_entropy(
            leaf(count, many, dtype=FP32 if weight else BF16), target,
            torch.rand(many, device=D) if weight else None, reduction="mean", label_smoothing=smoothing,
        )  # fmt: skip
        loss.backward()

    yield "thunder_classes", lambda: thunder()
    yield "thunder_weights", lambda: thunder(weight=True)
    yield "thunder_smooth", lambda: thunder(0.1, classes=False)

    def linear(monitoring, dtype):
        module = load("linear_cross_entropy.ops")
        x, weight = leaf(8192, 2048, dtype=dtype), leaf(2048, 32768, dtype=dtype, scale=0.02)
        module.linear_cross_entropy(x, ints(32768, 8192), weight, z_regularization=1e-5, monitoring=monitoring)

    yield "linear", lambda: linear(False, BF16)
    yield "linear_monitored", lambda: linear(True, torch.float16)


def products():
    """Experts of moe_layer: 8,192 tokens, 4 of 32 experts of 128 each; and products of a matrix with itself of
    Emerging-Optimizers."""

    def experts(dtype):
        leave = lambda *words: lambda f: f  # the functions as they are, not as operators
        with mock.patch.multiple(torch.library, define=leave, impl=leave, impl_abstract=leave, create=True):
            module = load("moe_layer.cvmm")
        tokens, width, count, inner, chosen = 8192, 1024, 32, 128, 4
        chosen_ = ints(count, tokens * chosen).int().sort()
        order, none = torch.randperm(tokens * chosen, device=D), torch.tensor(-1, device=D)
        x, keys = rand(tokens * chosen, width, dtype=dtype), rand(count, width, inner, dtype=dtype)
        out = module.cvmm_triton(x, order, chosen_.values, keys, dtype, none)
        module.cvmm_triton_backward(x, order, chosen_.values, torch.randn_like(out), count, dtype, False, none)

    yield "moe_layer", lambda: experts(torch.float16)
    yield "moe_layer_32", lambda: experts(FP32)

    def emerging(name):
        stub("absl", logging=mock.MagicMock())
        bare("emerging_optimizers", "emerging")
        return load("emerging_optimizers.triton_kernels." + name)

    def symmetric(*shape):
        x = rand(*shape)
        return x + x.mT

    yield "emerging", lambda: emerging("syrk").tsyrk_ex(rand(4096, 4096))
    yield "emerging_sum", lambda: emerging("syrk").tsyrk_ex(symmetric(4096, 4096), symmetric(4096, 4096), 0.5, -1.0)
    yield "emerging_small", lambda: emerging("syrk").tsyrk_ex_small_matrix(rand(1024, 4096))
    yield "emerging_turned", lambda: emerging("syrk").tsyrk_ex_small_matrix(rand(4096, 1024).T)
    yield "emerging_batch", lambda: emerging("batched_syrk").batched_tsyrk_ex(rand(8, 2048, 4096))
    yield (
        "emerging_batch_sum",
        lambda: emerging("batched_syrk").batched_tsyrk_ex(
            symmetric(8, 2048, 2048), symmetric(8, 2048, 2048), 0.5, -1.0
        ),
    )


def qwen():
    """Experts of Qwen3 30B: 128 of 768 by 2,048, 8,192 tokens of which each has 8."""
    count, inner, width, tokens = 128, 768, 2048, 65536

    def fused(name):
        stub("bitsandbytes")
        stub("bitsandbytes.functional", QuantState=object, dequantize_blockwise=None)
        bare("qwen3_moe_fused", "qwen3moe")
        return load("qwen3_moe_fused." + name)

    sizes = lambda: torch.full((count,), tokens // count, device=D, dtype=torch.int32)

    def grouped():
        forward, back = fused("grouped_gemm.forward"), fused("grouped_gemm.forward_transposed")
        gradient = fused("grouped_gemm.backward_dw")
        x, w = rand(tokens, width), rand(count, inner, width, scale=0.03)
        y = forward.grouped_gemm_forward(x, w, sizes())
        back.grouped_gemm_forward_transposed(y, w, sizes())
        gradient.grouped_gemm_backward_dw(x, y, sizes(), BF16)

    yield "experts", grouped

    def four_bits():
        numbers = count * inner * width
        state = types.SimpleNamespace(
            quant_type="nf4", blocksize=64, shape=(count, inner, width), code=rand(16, dtype=FP32), nested=False,
            absmax=rand(numbers // 64, dtype=FP32).abs(), dtype=BF16, offset=None, state2=None,
        )  # fmt: skip
        packed = bytes_(numbers // 2, 1)
        fused("grouped_gemm.forward_4bit").grouped_gemm_forward_4bit(rand(tokens, width), packed, state, sizes())

    yield "four_bits", four_bits
    x = lambda: rand(tokens, inner)
    yield "swiglu", lambda: fb(fused("kernels.silu_mul").SiluMul.apply(leaf(tokens, inner), leaf(tokens, inner)))
    yield "swiglu_back", lambda: fused("kernels.silu_mul").silu_mul_backward(x(), x(), x())
    yield "swiglu_inplace", lambda: fused("kernels.silu_mul").silu_mul_backward_inplace(x(), x(), x())


def fast_weights():
    """LaCT: 4 sequences in 4 heads, fast weights of 512 by 512 features that chunks of 2,048 tokens change."""
    batch, inner, width, length = 16, 512, 512, 2048
    lact = lambda name: load("lact_model.lact_triton_kernels." + name)
    start = lambda: bare("lact_model", "lact/lact_llm")
    rate = lambda: rand(batch, length, dtype=FP32).abs().requires_grad_()
    weights = lambda: (leaf(batch, 2 * inner, width, scale=0.05), leaf(batch, width, inner, scale=0.05))
    yield (
        "forward",
        lambda: (
            start(),
            fb(lact("lact_swiglu_ffn").fused_swiglu_ffn_fwd(*weights(), leaf(batch, length, width))),
        ),
    )

    def gradients():
        start()
        x = lambda: leaf(batch, length, width)
        fb(lact("lact_fw_grad").fused_lact_swiglu_ffn_fast_weight_grads(*weights(), x(), x(), rate(), rate(), rate()))

    yield "gradients", gradients
    norms = lambda rows, dtype=BF16, n=width: (leaf(batch, rows, n, dtype=dtype), leaf(batch, rows, n))
    sizes = lambda rows: torch.rand(batch, rows, device=D)

    def norm(*shape):
        start()
        fb(lact("l2norm_triton_kernels").l2_norm_add_fused(*norms(*shape), sizes(shape[0])))

    yield "norm", lambda: norm(inner)
    yield "norm_wide", lambda: norm(inner, BF16, 1024)

    def four():
        start()
        pairs = [t for _ in range(4) for t in (rand(batch, width, inner), rand(batch, width, length))]
        lact("triton_fused_matmul_kernels").fused_four_mm_same_out_interface(*pairs)

    yield "four", four
    yield (
        "momentum",
        lambda: (
            start(),
            fb(
                lact("triton_prenorm_update_with_momentum").fused_prenorm_update_with_momentum_and_l2_norm(
                    *norms(inner, FP32), leaf(batch, inner, width), torch.rand(batch, device=D).requires_grad_(),
                    sizes(inner),
                )
            ),
        ),
    )  # fmt: skip


def recommender():
    """HSTU of recsys-examples: 64 sequences of up to 2,048 items with 512 features."""
    batch, length, width = 64, 2048, 512

    def hstu(name, package="hstu"):
        for root in ("commons", "hstu"):
            bare(root, "recsys/examples")
        return load(f"{package}.ops.triton_ops.{name}")

    jagged = lambda: hstu("triton_jagged", "commons")
    ends = lambda each: torch.arange(batch + 1, device=D) * each
    x = lambda rows, dtype=BF16: leaf(rows, width, dtype=dtype)

    def joined(replace, prefix):
        left, right = x(batch * 1024), x(batch * 512)
        out = jagged().triton_concat_2D_jagged(1536, left, right, ends(1024), ends(512), replace, prefix)
        fb(out)

    yield "joined", lambda: joined(False, 0)
    yield "joined_prefix", lambda: joined(False, 8)
    yield (
        "joined_dense",
        lambda: fb(jagged().triton_concat_2D_dense_jagged(1024, ends(1024), x(batch * 1024), leaf(batch, 64, width))),
    )
    parts = dict(seq_len_a=batch * 1024, seq_len_b=batch * 512)
    yield "parted", lambda: fb(jagged().triton_split_2D_jagged(x(batch * 1536), 1536, ends(1024), ends(512), **parts))
    yield (
        "parted_prefix",
        lambda: fb(
            jagged().triton_split_2D_jagged(x(batch * 1536), 1536, ends(1024), ends(512), n_prefix_to_right=8, **parts)
        ),
    )
    yield "silu", lambda: fb(hstu("triton_silu").triton_silu(leaf(batch * length, 4 * width)))

    def addmm(silu):
        out = hstu("triton_addmm").triton_addmm_silu_fwd(
            rand(32768, width), rand(width, 4 * width), rand(4 * width), silu
        )
        return out

    yield "addmm", lambda: addmm(False)
    yield "addmm_silu", lambda: addmm(True)
    yield "rms_norm", lambda: fb(hstu("triton_layer_norm").triton_rms_norm(x(batch * length), leaf(width), 1e-6))
    yield (
        "positions",
        lambda: fb(
            hstu("triton_position").triton_add_position_embeddings(
                x(batch * length), ends(length), torch.full((batch,), 1024, device=D), length, leaf(length, width), 1.0
            )
        ),
    )


def cases():
    for prefix, parts in (
        ("fastllm_", (layers, losses, experts)), ("sonic_", (mixtures,)), ("slime_", (routes,)),
        ("qwen_", (qwen,)), ("", (words, products)), ("lact_", (fast_weights,)), ("recsys_", (recommender,)),
    ):  # fmt: skip
        for part in parts:
            for name, case in part():
                yield prefix + name, case
