"""Quantisation and what serving keeps in tables, of `unseen4`: text-generation-inference db931fcf,
TensorRT-Model-Optimizer 5a4242fa, cache-dit f86744af, auto-round b9f3d0079, gguf-triton-kernel f16cb67 and
ring-flash-attention 8996282.

Left out: the first repository's attention and quantised product, which are AMD's and AutoGPTQ's; the second's unpacking
of numbers of 4 bits, which only Blackwell has an instruction for; gguf-triton-kernel's q6_k, whose product is too short
for Triton 3.6; and the last one's packing of lengths, which reads a size from the GPU."""

import unittest.mock

import torch

from packages.common import FP16, FP32, bare_of, bytes_, fp8, full, ints, load, rand, starts, stub, unit, whole

bare = bare_of("unseen4")


def tables():
    """Batches of 128 sequences of at most 4,096 tokens, of which 512 are new."""
    bare("text_generation_server", "tgi/server")
    stub("text_generation_server.utils")
    stub("text_generation_server.utils.import_utils", SYSTEM="cuda")
    stub("text_generation_server.utils.log", log_master=None)
    batch, old, new = 128, 3584, 512
    length = old + new

    def kernels():
        module = load("text_generation_server.models.metadata_kernels")
        module._HAS_TRITON = True
        return module

    blocks = lambda: whole(100000, batch, length)
    yield (
        "padded",
        lambda: kernels().block_tables_to_padded(
            length, starts(batch, length), blocks(), whole(100000, batch * length)
        ),
    )  # fmt: skip
    yield (
        "ragged",
        lambda: kernels().block_tables_to_ragged(
            block_tables=blocks(), input_lengths=[new] * batch, cache_lengths=[old] * batch,
            input_lengths_tensor=full(new, batch), cache_lengths_tensor=full(old, batch), max_current_length=length,
        ),
    )  # fmt: skip
    yield (
        "next_tokens",
        lambda: kernels().copy_next_input_ids_inplace(
            4, ints(32000, batch, length), full(1000, batch), full(1, batch), full(512, batch), ints(32000, batch * 3),
            starts(batch, 3),
        ),
    )  # fmt: skip
    yield (
        "positions",
        lambda: kernels().prepare_position_slot_ids(
            new, full(old, batch), starts(batch, new), starts(batch, length), full(0, batch * new),
            full(0, batch * new, dtype=torch.int64),
        ),
    )  # fmt: skip
    yield (
        "slots",
        lambda: kernels().slots_filtering(
            length, ints(100000, 2 * batch * length), full(0, batch * length, dtype=torch.int64),
            starts(batch, length).long(), (2 * starts(batch, length)[:-1]).long(),
        ),
    )  # fmt: skip


def four_bits():
    """Llama of 8 billion parameters in NVFP4 and MXFP4."""
    x = lambda: rand(4096, 4096)
    model = lambda: load("modelopt.torch.quantization.triton.fp4_kernel")
    bare("modelopt", "modelopt")
    yield "nvfp4", lambda: model().fp4_fake_quant_block(x(), full(6.0, 1, dtype=FP32))
    yield (
        "nvfp4_wide",
        lambda: model().fp4_fake_quant_block(rand(4096, 14336, dtype=FP16), full(6.0, 1, dtype=FP32), tile_cols=128),
    )
    bare("auto_round", "autoround")
    mxfp4 = lambda: load("auto_round.algorithms.transforms.hadamard.utils.triton.mxfp4").mxfp4_forward_kernel_wrapper
    hadamard = lambda: rand(32, 32, scale=32**-0.5)
    yield "mxfp4", lambda: mxfp4()(x(), hadamard())
    yield "mxfp4_quest", lambda: mxfp4()(x(), hadamard(), return_clip_mask=True, quest=True)


def transfers():
    """FLUX.1 on 2 GPUs: 4,608 tokens, 24 heads of 128, sent in 8 bits; and parts of an attention put together."""
    bare("cache_dit", "cachedit/src")

    def ops():
        """Its operators as the functions that they are made of."""
        with unittest.mock.patch("torch.library.impl", lambda *names: lambda function: function):
            return load("cache_dit.kernels.triton._ops_registery")

    yield "quantise", lambda: ops()._fp8_comm_per_token_quant(rand(1, 2304, 2, 12, 128))
    yield "dequantise", lambda: ops()._fp8_comm_per_token_dequant(sent(2304 * 24, 128, 2))
    yield "permute_quantise", lambda: ops()._fp8_comm_qkv_permute_quant(rand(1, 2304, 2, 36, 128))
    yield "permute_dequantise", lambda: ops()._fp8_comm_qkv_permute_dequant(sent(4608, 1, 36, 128, 4))
    part = lambda: (rand(1, 4608, 24, 128), rand(1, 4608, 24, 1, dtype=FP32))
    yield "merge", lambda: ops()._fused_merge_attn_states(*part(), *part())
    ring = lambda: load("ring_flash_attn.triton_utils")
    bare("ring_flash_attn", "ring")
    yield "unflatten", lambda: ring().unflatten_varlen_lse(rand(8 * 4096, 32, dtype=FP32), starts(8, 4096), 4096)


def sent(*sizes):
    """8-bit numbers, their factor behind the last dimension in as many bytes as the last size says."""
    *shape, width, tail = sizes
    factor = unit(*shape, 1, dtype={2: torch.bfloat16, 4: FP32}[tail]).detach()
    return torch.cat((fp8(*shape, width), factor.view(torch.float8_e4m3fn)), -1)


def weights(rows, blocks, *parts):
    """Rows of blocks of bytes. A part is a number of bytes of any value, or "d" for a small factor of 2 bytes."""
    factor = lambda: (unit(rows, blocks, 1, dtype=FP16) * 0.01).detach().view(torch.uint8)
    return torch.cat([factor() if part == "d" else bytes_(rows, blocks, part) for part in parts], -1).flatten()


def gguf():
    """Products of llama.cpp's formats with 8 rows in 16 bits."""
    rows, columns, width = 4096, 8, 4096
    for name, blocks, *parts in (
        ("q8_0", width // 32, "d", 32), ("q4_k", width // 256, "d", "d", 12, 128)
    ):  # fmt: skip

        def product(name=name, blocks=blocks, parts=parts):
            x = rand(columns, width, dtype=FP16)
            quantised = weights(rows, blocks, *parts).view(torch.int8 if name == "q8_0" else torch.uint8)
            getattr(load("mmq_" + name), "mmq_" + name)(quantised, x, rows, columns, width)

        yield name, product


def cases():
    for prefix, part in (
        ("tgi_", tables), ("fp4_", four_bits), ("transfer_", transfers), ("gguf_", gguf)
    ):  # fmt: skip
        for name, case in part():
            yield prefix + name, case
