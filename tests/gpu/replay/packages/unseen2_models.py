"""Attention to few blocks, test-time training, a loss and protein models of `unseen2`: SeerAttention aba03e3,
SpargeAttn bfd980b, ttt-lm-kernels 99851e6, verl b178a3c, openfold-3 b7940cb, and esmfold2-trimul of kernels-community
40d4194.

ttt-lm-kernels writes its states over its inputs. The order of atomic operations decides how some gradients of
esmfold2-trimul round."""

import torch

from packages.common import BF16, D, FP16, FP32, BarePackages, fb, folder_of, full, ints, leaf, load, rand, starts, stub

HEADS, GROUPS, WIDTH, BLOCK = 32, 8, 128, 64


def some_blocks(*shape, causal=True):
    """A mask of blocks, half of them, the diagonal among them."""
    mask = (torch.rand(*shape, device=D) < 0.5) | torch.eye(shape[-1], device=D, dtype=torch.bool)
    return mask.tril() if causal else mask


def seer():
    """Llama-3-8B's heads; two sequences of 4096 tokens, or 16 of 8192 in a cache."""

    def kernels(name):
        BarePackages("seer_attn", folder_of("unseen2/seer"))
        stub("flash_attn", flash_attn_varlen_func=None, flash_attn_with_kvcache=None)
        stub("seer_attn.modules.common", repeat_kv=None)
        return load("seer_attn.kernels." + name)

    length, count = 4096, 4096 // BLOCK
    q = lambda heads=HEADS: rand(1, heads, length, WIDTH)
    yield "seer_pooling", lambda: kernels("attn_pooling_kernel_2d").attn_with_pooling(
        q(), q(GROUPS), q(GROUPS), True, WIDTH**-0.5, BLOCK
    )
    yield "seer_sparse", lambda: kernels("block_sparse_attn").block_sparse_triton_fn(
        q(), q(), q(), some_blocks(1, HEADS, count, count), WIDTH**-0.5
    )
    rows = lambda heads=HEADS: leaf(2 * length, heads, WIDTH)
    where = lambda: starts(2, length)
    for name in ("maxpool", "avgpool"):
        yield "seer_" + name, lambda n=name: fb(
            getattr(kernels("varlen.pooling_varlen"), n + "_varlen")(rows(), where(), length, BLOCK)
        )
    yield "seer_pooling_varlen", lambda: kernels("varlen.attn_pooling_qkv_varlen_1d").attn_pooling_qkv_varlen(
        rand(4096, HEADS, WIDTH), rand(4096, GROUPS, WIDTH), rand(4096, GROUPS, WIDTH), starts(2, 2048), 2048,
        WIDTH**-0.5,
    )  # fmt: skip
    yield "seer_sparse_varlen", lambda: fb(
        kernels("varlen.block_sparse_attn_varlen_2d").block_2d_sparse_attn_varlen_func(
            rows(), rows(), rows(), where(), where(), length, WIDTH**-0.5, some_blocks(2, HEADS, count, count)
        )
    )

    def tokens():
        """Each token of a group of heads has blocks of its own."""
        short = 1024
        own = torch.arange(short, device=D)[:, None] // BLOCK == torch.arange(short // BLOCK, device=D)
        before = torch.arange(short, device=D)[:, None] // BLOCK >= torch.arange(short // BLOCK, device=D)
        mask = (torch.rand(2, GROUPS, short, short // BLOCK, device=D) < 0.5) & before | own
        x = lambda heads: leaf(2 * short, heads, WIDTH)
        fb(
            kernels("varlen.block_sparse_attn_varlen_gqa").block_1d_gqa_sparse_attn_varlen_func(
                x(HEADS), x(GROUPS), x(GROUPS), starts(2, short), starts(2, short), short, WIDTH**-0.5, mask
            )
        )

    yield "seer_sparse_tokens", tokens
    batch, longest = 16, 8192
    cache = lambda: rand(batch, longest, GROUPS, WIDTH)
    one, lengths = lambda: rand(batch, HEADS, WIDTH), lambda: full(longest, batch)
    chosen = lambda: torch.rand(batch, GROUPS, longest // BLOCK, device=D).topk(32).indices.int()
    yield "seer_decode_indices", lambda: kernels(
        "varlen.block_sparse_flash_decode_varlen_indice"
    ).block_sparse_flash_decode_gqa_indice(one(), cache(), cache(), lengths(), longest, 32, chosen(), BLOCK)
    yield "seer_decode_mask", lambda: kernels(
        "varlen.block_sparse_flash_decode_varlen_mask"
    ).block_sparse_flash_decode_gqa_mask(
        one(), cache(), cache(), lengths(), longest, torch.rand(batch, GROUPS, longest // BLOCK, device=D) < 0.5, BLOCK
    )
    yield "seer_decode_padded", lambda: kernels("varlen.flash_decode_varlen_left_pad_max_v2").flash_decode_leftpad(
        one(), cache(), cache(), full(8000, batch)
    )
    yield "seer_oracle", lambda: kernels("varlen.oracle_sparse").oracle_sparse(one(), cache(), lengths())


def sparge():
    """Which blocks of 128 queries and 64 keys matter, by their means."""

    def utils(name="utils"):
        BarePackages("spas_sage_attn", folder_of("unseen2/sparge"))
        return load("spas_sage_attn." + name)

    x = lambda: rand(1, HEADS, 8192, WIDTH, dtype=FP16)
    mean = lambda: rand(1, HEADS, 1, WIDTH, dtype=FP16)
    chance = lambda: full(0.1, HEADS, dtype=FP32)
    yield "sparge_quantize", lambda: utils().get_vanilla_qk_quant(x(), x(), mean())
    yield "sparge_pool", lambda: utils().get_pool_sim_triton_simmean(x(), 128, chance())
    yield "sparge_pool_quantize", lambda: utils().get_pool_sim_triton_simmean_fuse_quant(x(), mean(), 64, chance())
    yield "sparge_causal", lambda: utils().fill_causal_mask_triton(
        torch.empty(1024, 2048, device=D, dtype=torch.bool), 2.0
    )
    sizes = (1, HEADS, 64, 128)
    yield "sparge_fill", lambda: utils().fill_block_map_triton(
        torch.zeros(*sizes, device=D, dtype=torch.bool), ints(128, *sizes[:3]), torch.rand(*sizes, device=D).argsort(-1)
    )
    yield "sparge_table", lambda: utils().block_map_lut_triton(torch.rand(*sizes, device=D) < 0.5)
    yield "sparge_quantize_block", lambda: utils("quant_per_block").per_block_int8(x(), x())


def test_time_training():
    """A token of 128 sequences in each of 32 heads of 64; the state is a linear layer or an MLP. Triton 3.6 has no
    square root of FP16, which the models use."""
    batch, heads, width = 128, 32, 64
    x = lambda *shape, scale=0.5: rand(batch, heads, *shape, dtype=FP32, scale=scale)

    def decode(kind, last):
        BarePackages("ttt", folder_of("unseen2/ttt"))
        m = load(f"ttt.triton_kernel.ttt_{kind}_decode")
        sizes = [(width, width)] if kind == "linear" else [(width, 4 * width), (4 * width, width)]
        layers = [[x(*s, scale=0.02), x(*s, scale=0.02), x(1, s[1]), x(1, s[1])] for s in sizes]
        norm = [rand(1, heads, 1, width, dtype=FP32) for _ in range(2)]
        rows, rate, out = [x(1, width) for _ in range(3)], x(1, 1).abs(), x(1, width)
        kernel = m._decode_last_token_in_mini_batch_ker if last else m._decode_token_ker
        strides = [t.stride()[:3] for layer in layers for t in (layer[0], layer[2])]
        kernel[(batch, heads, 1)](
            *[t for layer in layers for t in layer], *rows, *norm, rate, full(0.5, 1, dtype=FP32), out,
            *[n for s in strides for n in s], *rows[0].stride()[:3], *norm[0].stride()[1:3], *rate.stride()[:2],
            1, width, *[4 * width] * (len(sizes) - 1),
        )  # fmt: skip

    for kind in ("linear", "mlp"):
        for last in (False, True):
            yield f"ttt_{kind}_{last}", lambda a=(kind, last): decode(*a)

    def gate():
        BarePackages("ttt", folder_of("unseen2/ttt"))
        rows = lambda: rand(4096, 1, 2048, dtype=FP32)
        weight = lambda: rand(2048, dtype=FP32)
        load("ttt.triton_kernel.fused_gate_outln")._fuse_gate_ln_kernel[(4096, 1, 1)](
            rows(), rows(), rows(), weight(), weight(), 2048, 2048
        )

    yield "ttt_gate", gate


def verl():
    """Log probabilities and entropies of a 7B model's last layer."""

    def module(name):
        BarePackages("verl", folder_of("unseen2/verl"))
        stub(
            "verl.utils.device", get_device_capability=lambda *a: (9, 0), get_device_name=lambda: D,
            is_cuda_available=True, get_torch_device=lambda: torch.cuda,
        )  # fmt: skip
        return load("verl.utils.kernel." + name)

    def entropy(reduction):
        weight = leaf(32000, 4096, scale=0.02)
        fb(
            module("linear_cross_entropy").linear_cross_entropy(
                leaf(2048, 4096), weight, ints(32000, 2048), 1.0, reduction
            )
        )

    yield "verl_entropy", lambda: entropy("none")
    yield "verl_cast", lambda: module("fp8_kernel").blockwise_cast_to_fp8_triton(rand(8192, 4096))


def proteins():
    """Pairs of 384 residues; triangles of ESMFold's second version."""

    def softmax(length, dtype):
        mask = torch.zeros(1, length, 1, 1, length, device=D, dtype=dtype)
        BarePackages("openfold3", folder_of("unseen2/openfold"))
        fb(
            load("openfold3.core.kernels.triton.fused_softmax").fused_softmax(
                leaf(1, length, 4, length, length, dtype=dtype), mask, leaf(1, 1, 4, length, length, dtype=dtype)
            )
        )

    for length, dtype in ((384, BF16), (384, FP32), (128, BF16)):
        yield f"openfold_softmax_{length}_{str(dtype)[6:]}", lambda a=(length, dtype): softmax(*a)

    def triangle(direction, length=384, width=128):
        BarePackages("esmfold2_trimul", folder_of("unseen2/hub/esmfold2-trimul/torch-ext"))
        pair = leaf(1, length, length, width)
        square, vector = lambda n=width: leaf(n, width, scale=0.05), lambda: leaf(width)
        fb(
            load("esmfold2_trimul.trimul_with_residual").triangle_multiplicative_update_with_residual(
                pair, direction, pair, None, norm_in_weight=vector(), norm_in_bias=vector(),
                p_in_weight=square(2 * width), g_in_weight=square(2 * width), norm_out_weight=vector(),
                norm_out_bias=vector(), p_out_weight=square(), g_out_weight=square(),
            )
        )  # fmt: skip

    for direction in ("outgoing", "incoming"):
        yield "esm_triangle_" + direction, lambda d=direction: triangle(d)


def cases():
    for part in (seer, sparge, test_time_training, verl, proteins):
        yield from part()
