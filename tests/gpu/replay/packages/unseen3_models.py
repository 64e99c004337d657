"""Vision, atoms, losses, experts and language models' attention of `unseen3`: sam3 99d02f2, msda-triton 90cda22,
stable-fast 2b9b84e, quantized-training 01607b3, fairchem a73c95be, allegro a52f451, apex 6424da3b, Inf-CLIP d9f2833,
FlashDeBERTa 49cd46c, MoMoE d6e2d68, Automodel 36044ad3, SpecForge a6b6b023 and triton-activations 56f0665.

Of apex's optimiser and of Automodel's losses that are Transformer Engine's nothing runs: the former writes to addresses
that it takes as numbers, the latter were timed before. Triton 3.6 does not compile half of triton-activations, which
asks for tl.libdevice. The order of atomic operations decides how gradients of deformable attention, of apex's attention
and of MoMoE round, and the order of MoMoE's rows."""

import contextlib
import functools

import torch
import triton.language as tl
from torch._subclasses.fake_tensor import DynamicOutputShapeException

from packages.common import (
    BF16, D, FP16, FP32, BarePackages, fb, folder_of, ints, leaf, load, rand, scale, starts, stub, unit,
)  # fmt: skip


def bare(root, name):
    """Leaves out the __init__ files of a package, which would pull in the world."""
    BarePackages(root, folder_of("unseen3/" + name))


def eight(*shape):
    """8-bit integers of both signs."""
    return ints(256, *shape).sub(128).to(torch.int8)


def images():
    def sam(name):
        bare("sam3", "sam3")
        return load("sam3." + name)

    masks = lambda count, size: torch.rand(count, size, size, device=D) < 0.6
    yield "sam3_distance", lambda: sam("model.edt").edt_triton(masks(64, 1024))
    yield (
        "sam3_components",
        lambda: sam("perflib.triton.connected_components").connected_components_triton(masks(64, 1024).to(torch.uint8)),
    )

    def suppress():
        with contextlib.suppress(DynamicOutputShapeException):  # without data, how many boxes are kept is unknown
            sam("perflib.triton.nms").nms_triton(torch.rand(2048, 2048, device=D), torch.rand(2048, device=D), 0.999)

    yield "sam3_nms", suppress
    for name in ("SigmoidFocalLoss", "SigmoidFocalLossReduced"):
        yield (
            "sam3_" + name,
            lambda n=name: fb(
                getattr(sam("train.loss.sigmoid_focal_loss"), n).apply(
                    leaf(4, 200, 288, 288, dtype=FP32), masks(800, 288).view(4, 200, 288, 288).float()
                )
            ),
        )

    def deformable(padding, aligned):
        bare("msda_triton", "msda/src")
        sizes = torch.tensor([[100, 152], [50, 76], [25, 38], [13, 19]], device=D)
        pixels = 100 * 152 + 50 * 76 + 25 * 38 + 13 * 19
        weights = torch.rand(2, 900, 8, 4, 4, device=D).requires_grad_()
        fb(
            load("msda_triton.frontend")._TritonMultiscaleDeformableAttentionFunction.apply(
                leaf(2, pixels, 8, 32, dtype=FP32), sizes, unit(2, 900, 8, 4, 4, 2, dtype=FP32), weights, padding,
                aligned,
            )
        )  # fmt: skip

    yield "msda_zeros", lambda: deformable("zeros", False)
    yield "msda_border", lambda: deformable("border", True)

    @functools.cache
    def copies():
        """The package makes a kernel for each activation from one text, and names it. Here it keeps the text's name."""
        bare("sfast", "sfast/src")
        m = load("sfast.utils.copy_func")
        copy = m.copy_func
        m.copy_func = lambda f, globals=None, module=None, name=None: copy(f, globals, module)

    def sfast(name):
        copies()
        return load("sfast.triton.ops." + name)

    last = lambda t: t.to(memory_format=torch.channels_last)
    pictures = lambda channels=320, size=64: rand(2, channels, size, size, dtype=FP16)
    norm = lambda x, name: getattr(sfast("group_norm"), name)(x, 32, rand(320, dtype=FP16), rand(320, dtype=FP16))

    def conv(x, weight):
        m = sfast("conv")
        for tuner in (m._kernel_delta_x, m._kernel_delta_x_hwc):
            while not hasattr(tuner, "early_config_prune"):
                tuner = tuner.fn
            tuner.early_config_prune = tuner.perf_model = None  # they ask for what Triton 2 had
        m.conv_forward(x, weight, rand(320, dtype=FP16), padding=(1, 1))

    yield "sfast_conv", lambda: conv(last(pictures()), last(rand(320, 320, 3, 3, dtype=FP16)))
    yield "sfast_conv_first", lambda: conv(pictures(4), rand(320, 4, 3, 3, dtype=FP16))
    yield "sfast_group_norm", lambda: norm(pictures(), "group_norm_forward")
    yield "sfast_group_norm_silu", lambda: norm(last(pictures()), "group_norm_silu_forward")
    yield (
        "sfast_layer_norm",
        lambda: fb(
            sfast("layer_norm").LayerNorm.apply(
                leaf(8192, 1280, dtype=FP16), (1280,), leaf(1280, dtype=FP16), leaf(1280, dtype=FP16), 1e-5
            )
        ),
    )
    yield "sfast_copy_4d", lambda: sfast("copy").copy(last(pictures(1280, 32)), pictures(1280, 32))
    yield "sfast_copy_3d", lambda: sfast("copy").copy(rand(16, 4096, 640), rand(16, 640, 4096).transpose(1, 2))
    yield "sfast_copy_2d", lambda: sfast("copy").copy(rand(4096, 8192), rand(8192, 4096).t())


def integers():
    """Products and convolutions in 8 bits: gau-nernst's quantized-training."""

    def kernels(name):
        bare("gn_kernels", "qtrain/kernels")
        return load("gn_kernels." + name)

    last = lambda t: t.to(memory_format=torch.channels_last)
    a, b = lambda: eight(8192, 4096), lambda: eight(4096, 4096).t()
    yield "gn_int8", lambda: kernels("triton_mm")._triton_mm(a(), b(), torch.int32, torch.int32)
    yield (
        "gn_fp16",
        lambda: kernels("triton_mm")._triton_mm(
            rand(8192, 4096, dtype=FP16), rand(4096, 4096, dtype=FP16).t(), acc_dtype=torch.float16
        ),
    )

    def scaled(one, two):
        """What the package registers as an operator; a scale for each row and column, or for tiles."""
        m, x, y, c = kernels("triton_mm"), a(), b(), rand(8192, 4096, dtype=FP32)
        vars(m).pop("_", None)  # a host function, whose name the kernels give a loop's counter
        rest = (8192, 4096, 4096, *x.stride(), *y.stride(), *c.stride())
        if one.shape[1] == 1:
            m._scaled_mm_kernel[m._grid](
                x, y, c, one, two, *rest, ACC_DTYPE=tl.int32, EVEN_K=True, COL_SCALE_SCALAR=two.numel() == 1
            )
        else:
            m._tile_scaled_mm_kernel[m._grid](
                x, y, c, one, two, *rest, *one.stride(), *two.stride(), QUANT_BLOCK_M=1, QUANT_BLOCK_N=128,
                QUANT_BLOCK_K=128, BLOCK_K=128, ACC_DTYPE=tl.int32, EVEN_K=True,
            )  # fmt: skip

    yield "gn_scaled", lambda: scaled(scale(8192, 1), scale(1, 4096))
    yield "gn_scaled_tiles", lambda: scaled(scale(8192, 32), scale(32, 32))
    yield (
        "gn_conv",
        lambda: kernels("triton_conv2d")._triton_conv2d(
            last(eight(16, 256, 64, 64)), last(eight(512, 256, 3, 3)), (1, 1), (1, 1)
        ),
    )
    yield (
        "gn_conv_scaled",
        lambda: kernels("triton_conv2d")._triton_scaled_int8_conv2d(
            last(eight(16, 256, 64, 64)), last(eight(512, 256, 3, 3)), scale(512), (2, 2), (1, 1)
        ),
    )


def atoms():
    """Edges between 4,000 atoms, of 9 coefficients and 128 channels each: fairchem; tensor products: allegro."""
    nodes, edges, width = 4000, 60000, 128

    def uma(name):
        load("fairchem.core.models.uma.triton")
        return load("fairchem.core.models.uma.triton." + name)

    pairs = lambda: ints(nodes, 2, edges)
    at_nodes, turns = lambda: leaf(nodes, 9, width, dtype=FP32), lambda: leaf(edges, 9, 9, dtype=FP32)
    at_edges = lambda count: leaf(edges, count, dtype=FP32)
    yield (
        "uma_to_edges",
        lambda: fb(
            uma("node_to_edge_wigner_permute").NodeToEdgeWignerPermuteFunction.apply(at_nodes(), pairs(), turns())
        ),
    )
    yield (
        "uma_to_nodes",
        lambda: fb(
            uma("permute_wigner_inv_edge_to_node").PermuteWignerInvEdgeToNodeFunction.apply(
                leaf(edges, 9, width, dtype=FP32), turns()
            )
        ),
    )
    yield (
        "uma_first_conv",
        lambda: fb(
            uma("fused_wigner").wigner_conv1_fused_op(at_nodes(), pairs(), turns(), at_edges(12 * width), width)
        ),
    )
    yield (
        "uma_second_conv",
        lambda: fb(
            uma("fused_wigner").wigner_inv_conv2_fused_op(
                at_edges(3 * width), at_edges(4 * width), at_edges(2 * width), turns(), width
            )
        ),
    )

    def product(mode, each=5):
        """Products of 9 by 9 coefficients; each of 16 results has five."""
        bare("allegro", "allegro")
        stub("allegro.nn._strided._contract", Contracter=object)
        count = 16 * each
        ends = torch.arange(17, device=D).mul(each).to(torch.int16)
        paths = (torch.arange(count, device=D) // each % 4).to(torch.int16)
        weights = rand(64, 4, dtype=FP32) if mode == "up" else rand(4, dtype=FP32)
        load("allegro.nn._strided._flashallegro")._triton_kernel_allegro(
            mode, rand(30000, 64, 9, dtype=FP32), rand(30000, 64, 9, dtype=FP32), ends, ints(9, count), ints(9, count),
            rand(count, dtype=FP32), paths, weights, 16, 9, 9, count, FP32,
        )  # fmt: skip

    for mode in ("p", "up"):
        yield "allegro_" + mode, lambda m=mode: product(m)


def proteins():
    """OpenFold's layer norms and attention in apex."""

    def fold(name):
        bare("apex", "apex")
        return load("apex.contrib.openfold_triton." + name)

    def norm(x):
        width = x.shape[-1]
        fb(fold("layer_norm").LayerNormSmallShapeOptImpl.apply(x, (width,), leaf(width), leaf(width), 1e-5))

    yield "apex_layer_norm", lambda: norm(leaf(1, 256, 256, 128))
    yield "apex_layer_norm_strided", lambda: norm(rand(1, 256, 256, 128).transpose(1, 2).requires_grad_())

    def attention(batch, heads, length, width):
        q = lambda: leaf(1, batch, heads, length, width)
        mask = torch.ones(1, batch, 1, 1, length, device=D, dtype=BF16)
        fb(fold("mha").AttnTri(q(), q(), q(), mask, leaf(1, 1, heads, length, length)))

    yield "apex_attention_32", lambda: attention(128, 8, 256, 32)


def losses():
    def contrast():
        bare("inf_cl", "infclip")
        stub("numpy")
        x = lambda: torch.nn.functional.normalize(rand(16384, 768, dtype=FP32), dim=-1).requires_grad_()
        fb(load("inf_cl.flash").cal_flash_loss(x(), x(), scale=50.0))

    yield "inf_clip", contrast

    def distil():
        bare("specforge", "specforge")
        logits, target = leaf(1, 4096, 32000), torch.rand(1, 4096, 32000, device=D).softmax(-1)
        fb(load("specforge.core.loss").LogSoftmaxLoss.apply(logits, target, torch.ones(1, 4096, 1, device=D).bool()))

    yield "specforge_loss", distil

    def model(name):
        bare("nemo_automodel", "automodel")
        stub("nemo_automodel.shared")
        stub("nemo_automodel.shared.import_utils", MISSING_TRITON_MSG="", null_decorator=lambda f: f)
        return load("nemo_automodel.components." + name)

    yield "automodel_soft_cross_entropy", lambda: fb(
        model("loss.triton.soft_cross_entropy").fused_soft_cross_entropy(
            leaf(1, 4096, 32768), torch.rand(1, 4096, 32768, device=D).softmax(-1),
            torch.ones(1, 4096, device=D, dtype=torch.bool),
        )
    )  # fmt: skip
    lora = lambda: model("_peft.lora_kernel")
    yield (
        "automodel_lora",
        lambda: lora().lora_forward_wrapper(
            rand(8192, 4096), rand(4096, 16), rand(16, 4096), rand(8192, 4096), 2.0, BF16
        ),
    )
    yield (
        "automodel_lora_dx",
        lambda: lora().lora_da_dx_update_wrapper(
            rand(4096, 8192), rand(8192, 4096), rand(4096, 16), rand(16, 4096), 2.0, BF16
        ),
    )
    yield (
        "automodel_lora_db",
        lambda: lora().lora_db_update_wrapper(rand(16, 4096), rand(4096, 8192), rand(8192, 4096), 2.0, BF16),
    )
    x = lambda: rand(8192, 14336)
    yield (
        "automodel_swiglu",
        lambda: (
            model("_peft.lora_mlp")._swiglu_fwd(x(), x()),
            model("_peft.lora_mlp")._swiglu_bwd_inplace(x(), x(), x()),
        ),
    )
    for name in ("hard_tanh", "softplus", "sigmoid", "leaky_relu"):
        yield (
            "activation_" + name,
            lambda n=name: getattr(load("triton_activations.activations"), n + "_activation")(
                rand(4096, 4096, dtype=FP32)
            ),
        )


def experts():
    """MoMoE: 16 experts of which each of 4,096 tokens has four, chosen by its number."""
    tokens, count, chosen, width, hidden = 4096, 16, 4, 2048, 1024

    def mixture():
        load("momoe.momoe")
        mine = torch.arange(tokens, device=D) % 4 == torch.arange(count, device=D)[:, None] % 4
        x, mask, weights = leaf(1, tokens, width), mine.int(), (torch.rand(count, tokens, device=D) * mine)
        out, _ = load("momoe.momoe").MoEFunction.apply(
            x, leaf(count, width, 2 * hidden, scale=0.02), leaf(count, hidden, width, scale=0.02), mask,
            weights.requires_grad_(), chosen, 50,
        )  # fmt: skip
        fb(out)

    yield "momoe", mixture

    def router():
        m = load("momoe.topk_router")
        outs = m.TopKRouterFunction.apply(leaf(1, tokens, width), leaf(width, count), torch.zeros(count), count, 4, 0)
        torch.autograd.backward([outs[0], outs[2]], [torch.randn_like(outs[0]), torch.randn_like(outs[2])])

    yield "momoe_router", router


def disentangled():
    """DeBERTa's attention, whose bias depends on the distance by 256 buckets."""

    def padded():
        bare("flashdeberta", "deberta/src")
        q, positions = lambda: leaf(4, 12, 2048, 64, dtype=FP16), lambda: leaf(4, 12, 2048, 512, dtype=FP16)
        fb(
            load("flashdeberta.ops.flash_attention").flash_attention_with_disentangled(
                q(), q(), q(), positions(), positions(), sm_scale=1 / 192**0.5, position_buckets=256,
                max_relative_distance=512,
            )
        )  # fmt: skip

    yield "deberta", padded

    def varlen():
        bare("flashdeberta", "deberta/src")
        q, positions = lambda: rand(8192, 12, 64, dtype=FP16), lambda: rand(8192, 12, 512, dtype=FP16)
        ends = starts(4, 2048)
        m = load("flashdeberta.ops.flash_attention_varlen")
        m.get_mid = blocks_of(4, 2048)
        m.flash_attention_with_disentangled_varlen(
            q(), q(), q(), positions(), positions(), ends, ends, 2048, 2048, sm_scale=1 / 192**0.5,
            position_buckets=256, max_relative_distance=512,
        )  # fmt: skip

    yield "deberta_varlen", varlen


def blocks_of(count, length):
    """Of each block of queries its sequence and first token; the package reads the sequences' ends one by one."""

    def blocks(ends, batch, size):
        first = [(i, i * length + j) for i in range(count) for j in range(0, length, size)]
        return [i for i, _ in first], [j for _, j in first], len(first)

    return blocks


def cases():
    for part in (images, integers, atoms, proteins, losses, experts, disentangled):
        yield from part()
