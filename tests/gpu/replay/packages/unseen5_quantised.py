"""Few bits and sparse features of `unseen5`: AngelSlim 67394ce, prime-rl 559b44772, fms-model-optimizer 308643f and
OpenAI's sparse_autoencoder 4965b94.

Of AngelSlim, what comes from FlexPrefill, MInference, XAttention, DeepSeek-V3, sglang and vLLM is left out, and its
columns of keys, whose places the order of atomic operations decides; of fms-model-optimizer the product of whole
numbers, which Triton 3.6 does not compile: its sum has a type that the product has not. The order of atomic operations
decides how sparse_autoencoder's gradients of weights round. Its optimiser's step and fms-model-optimizer's sum write
over their inputs."""

import torch

from packages.common import D, FP16, FP32, bare_of, fb, fp8, ints, leaf, load, rand, scale, stub

bare = bare_of("unseen5")


def angelslim():
    """Weights of 12,288 by 4,096; blocks of keys of 16,384 tokens."""

    def angel(name):
        bare("angelslim", "angel")
        return load("angelslim.compressor." + name)

    weight = lambda: rand(12288, 4096)
    kernels = "diffusion.kernels.python."
    yield "blocks", lambda: angel(kernels + "quantizers.fp8_per_block").fp8_per_block_quant_triton(weight())
    yield (
        "product",
        lambda: angel(kernels + "gemm.fp8_gemm").fp8_gemm_triton_block(
            fp8(8192, 4096), scale(8192, 32), fp8(12288, 4096), scale(96, 32)
        ),
    )
    factor = lambda *shape: (torch.rand(shape, device=D) + 0.5).requires_grad_()
    yield (
        "int4",
        lambda: fb(
            angel("mcore_qad.quant.kernels.triton_int4_group").triton_int4_group(
                weight(), factor(12288, 32), scale(12288, 32) + 0.1, 128, 0.01
            )
        ),
    )
    yield (
        "nvfp4",
        lambda: fb(
            angel("mcore_qad.quant.kernels.triton_nvfp4").triton_nvfp4(
                rand(8, 1536, 2048), factor(8, 1536, 128), scale(8, 1536, 128) + 0.1, scale(8, 1, 1) + 0.1, 16, 0.01
            )
        ),
    )

    def weights():
        kernel = angel("quant.core.kernels").FP8E4M3Kernel()
        x = rand(12288, 4096, dtype=FP32)
        sizes = kernel.compute_scale(x)
        kernel.quantize(x, sizes.abs() + 0.1)
        kernel.quantize_with_scale_compute(x)

    yield "weights", weights

    def proxy():
        module = angel("sparsity.algorithms.cosa.ops.proxy")
        stride, block, length = 8, 128, 16384
        rows, each = length // stride, block // stride
        module.fused_cosa_proxy(rand(1, 32, rows, rows), each, each, 0, rows, rows, 0.02)

    yield "proxy", proxy


def prime():
    """8,192 tokens of 4,096 features for 32 experts; 32 queries' heads that score 8,192 keys."""
    tokens, width, count = 8192, 4096, 32

    def kernels(name):
        bare("prime_rl", "prime/src")
        return load("prime_rl.trainer.models.kernels." + name)

    numbers = lambda *values: torch.tensor(values, device=D, dtype=torch.int32)

    def scores():
        starts = torch.zeros(tokens, device=D, dtype=torch.int32)
        ends = torch.arange(1, tokens + 1, device=D, dtype=torch.int32)
        kernels("fp8_indexer").fp8_indexer(
            rand(tokens, 32, 128), rand(tokens, 128), rand(tokens, 32, dtype=FP32), starts, ends, 2048
        )

    yield "indexer", scores
    x = lambda: rand(tokens, width)
    utils = lambda: kernels("fp8_utils")
    yield "rows", lambda: utils().per_token_cast_to_fp8_triton(x(), False)
    yield "rows_turned", lambda: utils().per_token_cast_to_fp8_tp_triton(x(), False)
    yield "blocks", lambda: utils().grouped_per_block_cast_to_fp8_triton(rand(count, 2048, width), False)
    yield "blocks_turned", lambda: utils().per_block_cast_to_fp8_tp_triton(rand(width, 12288), True)

    def grouped():
        """Experts have 250 and 262 rows in turn, padded to 256 and 384."""
        m = utils()
        actual = [250, 262] * (count // 2)
        aligned = [256, 384] * (count // 2)
        before = lambda sizes: [sum(sizes[:i]) for i in range(count)]
        starts, sizes, padded = numbers(*before(actual)), numbers(*actual), numbers(*aligned)
        blocks, rows = numbers(*(n // 128 for n in before(aligned))), sum(aligned)
        groups = numbers(*(i for i in range(count) for _ in range(aligned[i] // 128)))
        m._build_grouped_layout_triton(
            torch.empty(rows, device=D, dtype=torch.int32), torch.empty_like(groups), starts, sizes, padded, blocks
        )
        m.grouped_per_token_cast_to_fp8_triton(x(), rows, groups, starts, sizes, blocks, False)
        m.grouped_per_channel_cast_to_fp8_sm90_kmajor_triton(x(), rows, groups, starts, sizes, padded, blocks, False)
        m.grouped_per_channel_cast_to_fp8_rowmajor_triton(x(), rows, groups, starts, sizes, padded, blocks, True)
        m.unpack_rows_triton(rand(rows, width), tokens, groups, starts, sizes, blocks)

    yield "grouped", grouped


def accelerators():
    """fms-model-optimizer's products that round as an accelerator does."""

    def product(a, b, *args, **options):
        stub("fms_mo.utils")
        stub("fms_mo.utils.import_utils", available_packages={"triton": True})
        bare("fms_mo", "fmsmo")
        load("fms_mo.custom_ext_kernels.triton_kernels").tl_matmul_chunk_truncate(a, b, *args, **options)

    half = lambda *shape: rand(*shape, dtype=FP16)
    yield "half", lambda: product(half(4096, 4096), half(4096, 4096), chunk_trun_bits=8, chunk_size=64)
    yield "fp8", lambda: product(fp8(4096, 4096), fp8(4096, 4096), chunk_size=64, clamp_acc_to_dl16=True)
    yield (
        "sum",
        lambda: product(
            half(4096, 4096), half(4096, 4096), rand(4096, 4096, dtype=FP32), chunk_size=64,
            truncate_then_accumulate=False,
        ),
    )  # fmt: skip


def features():
    """32,768 features of GPT-2's 768, of which a token has 32; 8,192 tokens."""
    tokens, count, width, chosen = 8192, 32768, 768, 32

    def openai():
        bare("sparse_autoencoder", "oaisae")
        return load("sparse_autoencoder.kernels")

    half = lambda *shape: rand(*shape, dtype=FP16)
    indices = lambda: ints(count, tokens, chosen)

    def decoder(dtype):
        weight = leaf(count, width, dtype=dtype).T
        fb(openai().TritonDecoderAutograd.apply(indices(), leaf(tokens, chosen, dtype=dtype), weight))

    yield "decoder", lambda: decoder(FP32)
    yield "decoder_half", lambda: decoder(FP16)
    yield "step", lambda: openai().triton_add_mul_(half(count, width), half(count, width), half(count, width), 0.1)
    yield "sum", lambda: openai().triton_sum_dim0_in_fp32(half(tokens, count))
    yield "mse", lambda: openai().mse(half(tokens, width), half(tokens, width))


def cases():
    for prefix, part in (
        ("angelslim_", angelslim), ("prime_", prime), ("fms_", accelerators), ("features_", features),
    ):  # fmt: skip
        for name, case in part():
            yield prefix + name, case
