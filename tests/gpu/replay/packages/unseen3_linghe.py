"""Training kernels of a mixture of experts for `unseen3`: Ant's linghe 02edabd, at the sizes of its models Ling, 8,192
tokens of 2,048 or 4,096 features and 32 experts of which a token has 8.

These are about half of its kernels. Left out are variants of others, among them the older quantisation with smoothed
scales; what several GPUs do together; and kernels that write to addresses they take as numbers, where nothing can be
compared. The order of atomic operations decides how attention's gradients and scatter_add round."""

import torch

from packages.common import BF16, D, FP32, fp8, full, ints, load, rand, scale

TOKENS, WIDTH, EXPERTS, CHOSEN = 8192, 2048, 32, 8
EACH = TOKENS * CHOSEN // EXPERTS


def m(name):
    return load("linghe." + name)


def choice():
    """Each token's experts: those equal to its number modulo 4."""
    return torch.arange(TOKENS, device=D)[:, None] % 4 == torch.arange(EXPERTS, device=D) % 4


def row_ids():
    """Where an expert's copy of a token goes; -1 if the expert does not have it."""
    places = torch.arange(EXPERTS, device=D) * EACH + torch.arange(TOKENS, device=D)[:, None] // 4
    return torch.where(choice(), places, -1).int()


def tokens():
    """The token of each copy, expert after expert."""
    return (torch.arange(EXPERTS, device=D)[:, None] % 4 + 4 * torch.arange(EACH, device=D)).flatten()


def counts(dtype=torch.int32):
    return full(EACH, EXPERTS, dtype=dtype)


def x(rows=TOKENS, width=WIDTH, dtype=BF16):
    return rand(rows, width, dtype=dtype)


def angles(length, width):
    """Rotary frequencies, twice."""
    freqs = torch.outer(torch.arange(length, device=D).float(), 10000.0 ** -torch.linspace(0, 1, width // 2, device=D))
    return torch.cat([freqs, freqs], -1)


def products():
    blocks = lambda rows, width: scale(rows // 128, width // 128)
    yield (
        "gemm_blocks",
        lambda: m("gemm.blockwise_fp8_gemm").triton_bb_fp8_gemm(
            fp8(TOKENS, WIDTH), fp8(4096, WIDTH), blocks(TOKENS, WIDTH), blocks(4096, WIDTH)
        ),
    )
    yield (
        "gemm_channels",
        lambda: m("gemm.channelwise_fp8_gemm").triton_scaled_mm(
            fp8(TOKENS, WIDTH), fp8(4096, WIDTH), scale(TOKENS), scale(4096), accum=False
        ),
    )
    yield "gemm_fp32", lambda: m("gemm.fp32_gemm").triton_fp32_gemm(x(), x(256))


def quantisation():
    yield "blockwise_quant", lambda: m("quant.block").triton_blockwise_quant(x(), round_scale=True)
    for name in ("tokenwise_row_quant", "transpose_row_quant"):
        yield name, lambda n=name: getattr(m("quant.channel"), "triton_" + n)(x())
    yield "hadamard_quant", lambda: m("quant.hadamard").triton_hadamard_quant(x(), rand(64, 64))


def routing():
    """Copies of tokens for experts, and their way back."""
    utils = lambda file, name: getattr(m("utils." + file), "triton_" + name)
    yield "row_id_map_and_index", lambda: utils("gather", "make_row_id_map_and_index")(choice(), TOKENS * CHOSEN)
    yield (
        "permute",
        lambda: utils("gather", "permute_with_mask_map")(
            fp8(TOKENS, WIDTH), scale(TOKENS), scale(TOKENS, EXPERTS), row_ids(), TOKENS * CHOSEN
        ),
    )
    yield "scatter_add", lambda: utils("scatter", "scatter_add")(x(TOKENS * CHOSEN), x(), tokens())
    yield (
        "unpermute",
        lambda: utils("scatter", "unpermute_with_mask_map")(x(TOKENS * CHOSEN), row_ids(), scale(TOKENS * CHOSEN)),
    )
    yield "topk", lambda: utils("topk", "topk_forward")(x(width=256, dtype=FP32), CHOSEN)

    def topk_back():
        places = torch.rand(TOKENS, 256, device=D).topk(CHOSEN).indices
        utils("topk", "topk_backward")(x(width=CHOSEN, dtype=FP32), places, 256)

    yield "topk_backward", topk_back
    yield (
        "group_topk",
        lambda: utils("topk", "group_topk_score_forward")(
            x(width=256, dtype=FP32), 8, expert_bias=rand(256, dtype=FP32), num_groups=8, group_topk=4
        ),
    )
    yield (
        "group_topk_backward",
        lambda: utils("topk", "group_topk_score_backward")(
            x(width=EXPERTS, dtype=FP32), x(width=EXPERTS, dtype=FP32), choice()
        ),
    )
    yield (
        "moe_z_loss",
        lambda: (
            utils("loss", "moe_z_loss_forward")(x(width=256, dtype=FP32)),
            utils("loss", "moe_z_loss_backward")(rand(1, dtype=FP32), x(width=256, dtype=FP32)),
        ),
    )


def rows():
    """Norms, rotary embeddings, activations, sums."""
    utils = lambda file, name: getattr(m("utils." + file), "triton_" + name)
    weight = lambda width=WIDTH: rand(width)
    yield "scan_and_count", lambda: utils("emb", "scan_and_count")(torch.arange(TOKENS, device=D).int() // 5)
    yield (
        "group_norm_gate",
        lambda: (
            utils("gate", "group_rms_norm_gate_forward")(rand(2, 4096, WIDTH), rand(4096, 2, WIDTH), weight()),
            utils("gate", "group_rms_norm_gate_backward")(
                rand(4096, 2, WIDTH), rand(2, 4096, WIDTH), rand(4096, 2, WIDTH), weight()
            ),
        ),
    )
    yield "cross_entropy", lambda: utils("loss", "softmax_cross_entropy_forward")(x(4096, 131072), ints(131072, 4096))
    yield "cross_entropy_backward", lambda: utils("loss", "softmax_cross_entropy_backward")(
        x(4096, 131072), ints(131072, 4096), full(1e5, 4096, dtype=FP32), full(4.0, 4096, dtype=FP32),
        rand(4096, dtype=FP32),
    )  # fmt: skip
    yield (
        "rms_norm",
        lambda: (
            utils("norm", "rms_norm_forward")(x(width=1664), weight(1664)),
            utils("norm", "rms_norm_backward")(x(width=1664), x(width=1664), weight(1664)),
        ),
    )
    yield (
        "rms_norm_block_quant",
        lambda: utils("norm", "rms_norm_and_block_quant_forward")(x(), weight(), output_mode=2, round_scale=True),
    )
    yield (
        "rms_norm_gemm_quant",
        lambda: utils("norm", "rms_norm_fp32_gemm_block_quant_forward")(
            x(), weight(), x(256), output_mode=0, round_scale=True
        ),
    )
    yield "transpose", lambda: utils("transpose", "transpose")(x())
    yield "transpose_inner", lambda: utils("transpose", "transpose")(rand(32, WIDTH, 512))


def rotary():
    rope = lambda name: getattr(m("utils.rope"), "triton_" + name)
    ends = lambda: torch.tensor([0, 1024, 4096, 4608, TOKENS], device=D)

    def varlen(heads, groups):
        qkv = rand(TOKENS, (heads + 2 * groups) * 128)
        rest = (rand(128), rand(128), angles(TOKENS, 64), ends(), ends())
        rope("varlen_qk_norm_and_half_rope_forward")(qkv, *rest, H=heads, h=groups)
        grads = (rand(TOKENS, n, 128) for n in (heads, groups, groups))
        rope("varlen_qk_norm_and_half_rope_backward")(*grads, qkv, *rest)

    yield "varlen_qk_norm_rope", lambda: varlen(20, 4)
    freqs = lambda: angles(4096, 64)[:, None, None]
    yield (
        "mla_rope",
        lambda: (
            rope("mla_rope_forward")(rand(4096, 2, 16, 192), rand(4096, 2, 16, 256), rand(4096, 2, 1, 64), freqs()),
            rope("mla_rope_backward")(rand(4096, 2, 16, 192), rand(4096, 2, 16, 192), rand(4096, 2, 16, 128), freqs()),
        ),
    )


def activations():
    silu = lambda name: getattr(m("utils.silu"), "triton_" + name)
    total = EACH * EXPERTS
    yield (
        "silu_block_quant",
        lambda: (
            silu("silu_and_block_quant_forward")(x(width=4096), round_scale=True),
            silu("silu_and_block_quant_backward")(x(), x(width=4096), round_scale=True),
        ),
    )
    yield (
        "batch_silu_block_quant",
        lambda: silu("batch_weighted_silu_and_block_quant_forward")(
            x(total, 1024), scale(total, 1), counts(), splits=[EACH] * EXPERTS, round_scale=True
        ),
    )


def attention():
    q = lambda width, dtype=BF16: rand(2, 4096, 16, width, dtype=dtype)
    linear = lambda name: getattr(m("attn.la"), "triton_" + name)
    slopes = lambda: torch.linspace(0.01, 0.5, 16, device=D)

    def lightning():
        args = (q(128), q(128), q(128), slopes())
        linear("lightning_attention_forward")(*args)
        linear("lightning_attention_backward")(q(128), *args)

    yield "lightning", lightning
    mla = lambda name: getattr(m("attn.mla"), "triton_" + name)

    def latent(atomic):
        a = (q(192), q(192), q(128))
        o, lse, largest = mla("mla_forward")(*a)
        mla("mla_backward")(q(128), o, *a, lse, largest, atomic=atomic)

    def varlen(atomic):
        t = lambda width: rand(TOKENS, 16, width)
        a, ends = (t(192), t(192), t(128)), torch.tensor([0, 1024, 4096, 4608, TOKENS], device=D)
        o, lse, largest = mla("varlen_mla_forward")(*a, ends, 3584)
        mla("varlen_mla_backward")(t(128), o, *a, lse, largest, ends, 3584, atomic=atomic)

    yield "mla", lambda: latent(True)
    yield "mla_varlen", lambda: varlen(False)
    per_head = lambda: scale(2, 16, 4096)
    yield (
        "mla_fp8",
        lambda: mla("fp8_mla_forward")(fp8(2, 4096, 16, 192), fp8(2, 4096, 16, 192), q(128), per_head(), per_head()),
    )


def cases():
    for part in (products, quantisation, routing, rows, rotary, activations, attention):
        for name, case in part():
            yield "linghe_" + name, case
