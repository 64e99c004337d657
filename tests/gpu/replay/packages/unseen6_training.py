"""Training of `unseen6`: spikingjelly afb13226, lorafusion c48d7fd, flash-clifford 8800de0, evabyte 432331a,
rational_kat_cu 181bae8, triton-variable-moe 5756880, metta a8d1ecee19, onebitllms 66f212b, token-order-prediction
b347f48, TN-PCFG fa519b5, wind_rwkv d1d85d9, unilm 768a3c8 (its ReSA), efficient_cross_entropy 049d444, halite e474c70
and flash-muon 80ac87f.

The files of flash-clifford, token-order-prediction, TN-PCFG, ReSA and efficient_cross_entropy lie in a folder more, by
whose name their modules begin here.

Left out: spikingjelly's neurons in 8 bits, which first ask the GPU what it can do, and those whose kernels it writes
itself; lorafusion's layers with several adapters, whose addresses are numbers, and what Triton 3.6 does not compile of
it: products by descriptors of an older Triton, and numbers of 4 bits, whose table is a plain list; of metta the cells
that are mlstm-kernels', and scans in which programs read what others write; triton-variable-moe's root, which it does
not use; of wind_rwkv what is CUDA's; of unilm and halite what others have, too. evabyte's forward pass with masks in 16
bits asks for more shared memory than the H200 has, and so does metta's LSTM with more than 64 features. The order of
atomic operations decides how flash-clifford's norms and the gradients of lorafusion, flash-clifford, rational_kat_cu
and TN-PCFG round. The losses of token-order-prediction and efficient_cross_entropy write gradients over their logits,
TN-PCFG over its chart, and flash-clifford's norm over its input."""

import os
import sys
import types
from unittest import mock

import torch
import triton.language as tl
from torch._subclasses.fake_tensor import FakeTensor

from packages import stand_ins
from packages.common import (
    BF16, D, FP16, FP32, bare_of, fb, full, gate, ints, leaf, load, normal, rand, scale, stub,
)  # fmt: skip
from packages.unseen5_training import instead

bare = bare_of("unseen6")
OPERATORS = {}


def spiking(name):
    """spikingjelly's neurons, whose operators are functions here."""
    operator = lambda name, **options: lambda f: OPERATORS.setdefault(name, stand_ins.PlainOperator(f))
    autograd = lambda name, backward, setup_context: OPERATORS[name].register_autograd(
        backward, setup_context=setup_context
    )
    bare("spikingjelly", "spikingjelly")
    os.environ["SJ_USE_WRAP_TRITON"] = "0"
    with mock.patch.multiple(
        torch.library, triton_op=operator, custom_op=operator, register_fake=lambda name: lambda f: f,
        register_autograd=autograd,
    ), mock.patch.object(torch.cuda, "is_available", lambda: True):  # fmt: skip
        return load("spikingjelly.activation_based." + name)


def neurons():
    """Neurons of a spiking ResNet on images, 4 steps of 16 images of 64 by 112 by 112, and on sequences of 128 steps of
    sounds, 256 by 1,024."""
    steps, sound = (4, 16, 64, 112, 112), (128, 256, 1024)
    neuron = lambda name: spiking("triton_kernel.neuron_kernel." + name)
    surrogate = lambda name="Sigmoid": getattr(spiking("surrogate"), name)()
    x = lambda shape, dtype: leaf(*shape, dtype=dtype)
    start = lambda shape, dtype: torch.zeros(shape[1:], device=D, dtype=dtype)

    def lif(shape, dtype, *name, **more):
        args = (True, 2.0, 1.0, 0.0, True, surrogate(*name))
        fb(neuron("lif").multistep_lif(x(shape, dtype), start(shape, dtype), *args, **more))

    yield "lif", lambda: lif(steps, FP32)
    yield "lif_half", lambda: lif(steps, FP16, "ATan", store_v_seq=False)
    yield "lif_long", lambda: lif(sound, FP32, "ATan")

    def plif(shape, dtype, reset):
        r_tau = torch.full((), 0.5, device=D, dtype=dtype, requires_grad=True)
        args = (r_tau, True, 1.0, reset, False, surrogate("ATan"))
        fb(neuron("plif").multistep_plif(x(shape, dtype), start(shape, dtype), *args))

    yield "plif", lambda: plif(steps, FP32, None)
    yield "plif_long", lambda: plif(sound, FP32, 0.0)

    def integrate(shape, dtype, reset):
        args = (1.0, reset, False, surrogate())
        fb(neuron("integrate_and_fire").multistep_if(x(shape, dtype), start(shape, dtype), *args))

    yield "if", lambda: integrate(steps, FP32, None)
    yield "if_long", lambda: integrate(sound, FP16, 0.0)

    def ilif(shape, dtype):
        fb(neuron("ilif")._multistep_ilif(x(shape, dtype), start(shape, dtype), 0.25, 1.0, 4, 0.0, 4.0, True, True))

    yield "ilif", lambda: ilif(steps, FP32)
    yield "ilif_long", lambda: ilif(sound, FP32)

    def aware(shape):
        channels, inner = shape[2], torch.Size(shape[3:]).numel()
        neuron("activation_aware_if")._multistep_activation_aware_if(
            rand(*shape, dtype=FP32), start(shape, FP32), scale(channels), rand(channels, dtype=FP32, scale=0.1),
            channel_size=channels, inner_size=inner, v_reset=None, store_v_seq=False,
        )  # fmt: skip

    yield "aware", lambda: aware(steps)
    yield "aware_long", lambda: aware((128, 8, 384, 196))
    ones = lambda *values: [torch.tensor(float(v), device=D) for v in values]

    def ternary(shape, whole=True):
        """Neurons that remember how often they have fired, as in a converted BERT."""
        x, zero = rand(*shape, dtype=FP32), torch.zeros(shape[1:], device=D)
        args = (zero + 0.5, zero, *ones(0.1, 15, -16))
        if whole:
            neuron("stbif").multi_step_stbif(x, *args)
        else:
            neuron("stbif").single_step_stbif(x[0], *args)

    yield "ternary", lambda: ternary((8, 32, 512, 768))
    yield "ternary_long", lambda: ternary((32, 8, 512, 768))
    yield "ternary_step", lambda: ternary((1, 32, 512, 768), False)

    def packed():
        compress = spiking("triton_kernel.compress")
        spikes = (torch.rand(steps, device=D) < 0.2).float()
        compress.bit_spike_decompress(compress.bit_spike_compress(spikes), steps)

    yield "packed", packed


def fused_lora(name):
    """lorafusion's functions, with the sizes of blocks that it has for the H100."""
    bare("lorafusion", "lorafusion")
    stub("loguru", logger=mock.MagicMock())
    root = "lorafusion.ops.triton_ops."
    instead("lorafusion.utils.benchmark", benchmark=None, set_warmup_and_number=None)
    instead("lorafusion.utils.testing", assert_verbose_allclose_two_rounds=None)
    instead(root + "tma_utils", HAS_TMA_DESC=False)
    for each in ("fused_lora_xw_sb_tma", "fused_lora_dyw_dsa_tma"):
        instead(root + each, **{each: None})
    load(root + "config").get_device_short_name = lambda: "h100-80gb-hbm3"
    return load("lorafusion.ops." + name)


def adapters():
    """Layers of Llama 3 8B with LoRA of rank 16 or 32, 8,192 tokens."""
    tokens = 8192

    def linear(inner, outer, rank, dropout=0.1):
        weights = (rand(outer, inner, scale=0.02), leaf(rank, inner, scale=0.02), leaf(outer, rank, scale=0.02))
        fb(fused_lora("lora_v1").fused_linear_lora(leaf(2, tokens // 2, inner), *weights, 2.0, 7, dropout))

    yield "linear", lambda: linear(4096, 4096, 16)
    yield "linear_up", lambda: linear(4096, 14336, 32, 0.05)
    x = lambda: rand(tokens, 4096)
    yield (
        "dropout_product",
        lambda: fused_lora("triton_ops.fused_dropout_matmul").fused_dropout_matmul(
            x(), rand(16, 4096), 0.1, 7, store_mask=True, store_masked_scaled_x=True
        ),
    )
    yield (
        "dropouts",
        lambda: fused_lora("triton_ops.blocked_dropout").blocked_seeded_dropout(
            x(), torch.rand(tokens // 128, device=D) * 0.2, 128, 7
        ),
    )


def algebras():
    """Geometric products of flash-clifford: 4,096 points with 512 multivectors each."""
    for size, weights, grade in ((4, 10, "2"), (8, 20, "3")):
        x = lambda n=size: leaf(n, 4096, 512, dtype=FP32)

        def product(x=x, weights=weights, grade=grade):
            module = load(f"flash_clifford.ops.p{grade}m0")
            weight = leaf(512, weights, dtype=FP32)
            fb(getattr(module, f"fused_gelu_sgp_norm_{grade}d")(x(), x(), weight))

        yield "product_" + grade, product

        def full_product(x=x, weights=weights, grade=grade):
            module = load(f"flash_clifford.ops.fc_p{grade}m0")
            weight = leaf(weights, 512, 512, dtype=FP32, scale=0.05)
            fb(getattr(module, f"fused_gelu_fcgp_norm_{grade}d")(x(), x(), weight))

        yield "full_" + grade, full_product


def evabyte():
    """EvaByte 6.5B: 8,192 bytes in 32 heads of 128, windows of 2,048, chunks of 16."""
    length, window, chunk, heads, size = 8192, 2048, 16, 32, 128

    def attention(masked, dtype=BF16):
        prepare, gather = (load(f"evabyte_hf.eva_{name}_kernel") for name in ("prep_kv", "agg"))
        q, k, v = (leaf(1, heads, length, size, dtype=dtype) for _ in range(3))
        parameters = [leaf(1, heads, 1, 1, size, dtype=dtype, scale=0.1) for _ in range(2)]
        places = torch.arange(length, device=D)
        masks, tokens = (None, None), None
        if masked:
            # nothing before its own place, no chunk that is not in an earlier window
            near = torch.arange(window, device=D) > (places % window)[:, None]
            far = torch.arange(length // chunk, device=D) >= (places // window * (window // chunk))[:, None]
            masks = near[None, None].contiguous(), far[None, None].contiguous()
            tokens = torch.zeros(1, 1, length, 1, device=D, dtype=torch.bool)
        far_k, far_v = prepare.eva_prep_kv_func_triton(k, v, *parameters, tokens, size**-0.5, chunk)
        fb(gather.eva_agg_func_triton(q, k, v, far_k, far_v, *masks, size**-0.5, window, window // chunk))

    yield "attention", lambda: attention(False)
    yield "attention_masked", lambda: attention(True, FP32)


def rational():
    """Rational functions of a vision transformer with KAN layers: 4 images, 196 places, 3,072 features in 8 groups."""

    def function(module, name, *shape):
        bare("kat_rational", "kat")
        x, top, bottom = (leaf(*sizes, dtype=FP32) for sizes in (shape, (8, 6), (8, 4)))
        fb(getattr(load("kat_rational." + module), name).apply(x, top, bottom, 8))

    yield "places", lambda: function("rational_triton", "RationalTriton1DGroup", 4, 196, 3072)
    yield "images", lambda: function("rational_triton2d", "RationalTriton2D", 4, 768, 28, 28)


def reads(number):
    """What a program without a GPU reads from a tensor is this number."""
    return mock.patch.object(FakeTensor, "item", lambda tensor: number)


def widths():
    """Experts of several widths: 16,384 tokens of 1,024 features, 8 experts of 1,024 and 24 of 256, a token has 4."""
    tokens, width, chosen = 16384, 1024, 4
    sizes = [1024] * 8 + [256] * 24
    rows, count = tokens * chosen, len(sizes)

    def layer():
        k, zero = load("triton_moe.kernels"), torch.zeros(1, device=D, dtype=torch.int32)
        experts = torch.arange(rows, device=D) % count
        numbers, places, each, bins, padded = k.fused_route(experts, count, 128)
        where = places, numbers, bins, padded
        every = torch.tensor(sizes, device=D, dtype=torch.int32)
        starts = torch.cat([zero, every.cumsum(0).int()])
        x, offsets = leaf(tokens, width), torch.cat([zero, padded])
        map_ = k.precompute_gather_map(*where, chosen)
        gathered = k.padded_gather_autograd(x, *where, chosen)
        up, down = leaf(width, sum(sizes), scale=0.03), leaf(sum(sizes), width, scale=0.03)
        parts = offsets, starts, every, each
        inner = k.grouped_gemm_up_autograd(gathered, up, *parts, 1024, width, "relu_squared", x_flat=x, gather_map=map_)
        y = k.grouped_gemm_down_autograd(inner, down, *parts, width, 1024)
        fb(k.padded_scatter_autograd(y, places, numbers, rand(rows).softmax(-1), bins, padded, chosen))

    def counted():
        with reads(rows), mock.patch.object(torch, "bincount", lambda x, minlength: full(rows // count, minlength)):
            layer()

    yield "layer", counted


def agents():
    """Recurrent cells of metta's agents: 256 agents, 128 steps, 64 or 256 features."""
    cells = lambda name: (bare("cortex", "cortex/src"), load("cortex.kernels.triton." + name))[1]

    def lstm(width, dtype):
        weight, bias = lambda: leaf(4 * width, width, dtype=dtype, scale=0.05), lambda: leaf(4 * width, dtype=dtype)
        cell = types.SimpleNamespace(
            num_layers=1, proj_size=0, hidden_size=width, bias=True, weight_ih_l0=weight(), weight_hh_l0=weight(),
            bias_ih_l0=bias(), bias_hh_l0=bias(),
        )  # fmt: skip
        x, start = leaf(256, 128, width, dtype=dtype), lambda: torch.zeros(256, 1, width, device=D, dtype=dtype)
        resets = torch.rand(256, 128, device=D) < 0.02
        with reads(-1.0):
            fb(cells("lstm").lstm_sequence_triton(lstm=cell, x_seq=x, h0_bf=start(), c0_bf=start(), resets=resets))

    yield "lstm", lambda: lstm(64, FP32)
    yield "lstm_half", lambda: lstm(64, BF16)
    yield (
        "convolution",
        lambda: fb(
            cells("conv1d.channel_mixing").channelmix_causal_conv1d_with_resets_triton(
                leaf(256, 4, 256, dtype=FP32), leaf(256, 128, 256, dtype=FP32), leaf(256, 256, 4, dtype=FP32),
                leaf(256, dtype=FP32), torch.rand(256, 128, device=D) < 0.02,
            )
        ),
    )  # fmt: skip


def few_bits():
    """Layers whose weights have three values: onebitllms, at the sizes of Falcon-E 3B."""
    yield "numbers", lambda: load("onebitllms.kernels.activation_quant").activation_quant_triton(rand(4, 2048, 4096))
    yield "weights", lambda: load("onebitllms.kernels.weight_quant").weight_quant_triton(rand(8192, 2048))


def orders():
    """What follows a token within 128 others, of 4 sequences of 2,048 tokens and 32,000 words, and its loss."""
    order = lambda name: load("token_order_prediction." + name)
    yield "places", lambda: order("seq_to_top_triton").seq_to_top(ints(32000, 4, 2048 + 128), 32000, 128)

    def loss():
        """What it asks of flash-linear-attention is PyTorch's, and only while it is imported."""
        sums = lambda x, scale=1.0, dtype=FP32: (x.to(dtype) * scale).logsumexp(-1)
        names = ("fla", "fla.ops", "fla.ops.utils", "fla.ops.utils.op", "fla.utils")
        kept = {name: sys.modules.pop(name) for name in names if name in sys.modules}
        for name in names:
            instead(name, __path__=[], logsumexp_fwd=sums, exp=tl.exp, input_guard=lambda f: f)
        module = order("fused_linear_listnet_loss")
        for name in names:
            del sys.modules[name]
        sys.modules.update(kept)
        near = torch.where(torch.rand(4096, 32000, device=D) < 0.01, ints(128, 4096, 32000).half(), -float("inf"))
        fb(module.fused_linear_listnet_loss(leaf(4096, 1024), near, leaf(32000, 1024, scale=0.02)))

    yield "loss", loss


def grammars():
    """Spans of 20 words in 16 sentences of 40, for a grammar of rank 512."""
    batch, ends, rank, words = 16, 41, 512, 20
    spans = ends - words
    chart = lambda: leaf(batch, ends, ends, 2, rank, dtype=FP32)
    norms = lambda: rand(batch, spans, dtype=FP32)
    merge = lambda: load("tn_pcfg.parser.triton.fn")._merge(norms(), leaf(batch, spans, dtype=FP32), chart())
    yield "merge", lambda: fb(merge()[0])

    def copy():
        sums = torch.rand(batch, spans, 2 * rank, device=D).requires_grad_()
        fb(load("tn_pcfg.parser.triton.fn")._log_then_diagonal_copy_(sums, norms(), chart()))

    yield "copy", copy


def recurrences():
    """RWKV-7 with 8 heads of 256, 4 sequences of 1,024 tokens."""

    def rwkv(precision):
        bare("wind_rwkv", "windrwkv")
        x = lambda: leaf(4, 1024, 8, 256)
        decay = gate(4, 1024, 8, 256, dtype=BF16)
        key = normal(rand(4, 1024, 8, 256))
        module = load("wind_rwkv.rwkv7.triton_bighead")
        fb(module.attn_triton_bighead(x(), decay, x(), x(), (-key).detach().requires_grad_(), key, dot_prec=precision))

    yield "rwkv", lambda: rwkv("bf16")
    yield "rwkv_single", lambda: rwkv("fp32")


def sparse_decoding():
    """Qwen2.5 7B: 28 heads, 4 of keys, blocks of 16 tokens."""
    heads, groups, size = 28, 4, 128
    cache = lambda batch, length: rand(batch, length, groups, size)

    def few():
        batch, length, kept = 8, 32768, 205
        blocks = torch.rand(batch, groups, length // 16, device=D).topk(kept).indices.sort().values.int()
        load("resa.kernel.flash_sparse_decoding").flash_block_sparse_decoding(
            rand(batch, heads, size), cache(batch, length), cache(batch, length), full(length - 3, batch), blocks,
            block_size=16,
        )  # fmt: skip

    yield "few", few

    def all_():
        batch, length = 32, 8192
        load("resa.kernel.flash_attention_with_kv_cache").flash_attention_with_kv_cache(
            rand(batch, 64, heads, size), cache(batch, length), cache(batch, length), full(length - 3, batch)
        )

    yield "all", all_

    def blocks():
        with reads(2048):
            load("resa.arch.context_manager").block_attn_decoding(
                rand(8, groups, size), cache(8, 2048), cache(8, 2048), full(2048, 8), 1
            )

    yield "blocks", blocks


def products():
    """A loss of 8,192 tokens over 32,000 words with its product, the entropy of 4,096 tokens over 131,072 words, and
    products of a matrix with itself."""

    def loss():
        function = load("efficient_cross_entropy.modules").FusedCrossEntropyLossFunction
        fb(function.apply(leaf(8192, 4096), leaf(32000, 4096, scale=0.02), ints(32000, 8192), 8, -100, "mean"))

    yield "loss", loss
    square = lambda *shape: load("flash_muon.matmul_transpose_triton").matmul_transpose(rand(*shape))
    entropy = lambda: (bare("halite", "halite/src"), load("halite.nn.entropy"))[1]
    yield "entropy", lambda: fb(entropy().entropy_from_logits(leaf(2, 2048, 131072)))
    yield "square", lambda: square(4096, 4096)
    yield "square_wide", lambda: square(2048, 8192)


def cases():
    for prefix, part in (
        ("spiking_", neurons), ("lora_", adapters), ("clifford_", algebras), ("evabyte_", evabyte),
        ("rational_", rational), ("widths_", widths), ("agents_", agents), ("bits_", few_bits), ("orders_", orders),
        ("grammar_", grammars), ("wind_", recurrences), ("resa_", sparse_decoding), ("", products),
    ):  # fmt: skip
        for name, case in part():
            yield prefix + name, case
