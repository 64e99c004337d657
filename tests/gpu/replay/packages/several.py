"""Packages with few kernels each: mlstm-kernels 2.0.6, flash-attn 2.8, cut-cross-entropy 25.1.1, SageAttention 1.0.6,
bitsandbytes 0.50.2 and torchao 0.18.0."""

import importlib

import torch

from packages import stand_ins
from packages.common import BF16, D, FP16, FP32, fb, fp8, gate, ints, leaf, rand, scale, starts, stub

PATHS = ["mlstm_kernels", "flash_attn", "cut_cross_entropy", "sageattention", "bitsandbytes", "torchao"]
B, H, T, K = 4, 8, 4096, 128
N, C, V = 8192, 4096, 32768


def mlstm():
    state = lambda *shape: rand(*shape, dtype=FP32)
    for module, function, chunk in (
        ("triton_xl_chunk", "mlstm_chunkwise__xl_chunk", 128),
        ("triton_xl_chunk_siging", "mlstm_siging_chunkwise__xl_chunk", 128),
        ("triton_limit_chunk", "mlstm_chunkwise__limit_chunk", 64),
    ):

        def run(module=module, function=function, chunk=chunk):
            f = getattr(importlib.import_module("mlstm_kernels.torch.chunkwise." + module), function)
            q, k, v = leaf(B, H, T, K), leaf(B, H, T, K), leaf(B, H, T, 2 * K)
            fb(f(q, k, v, gate(B, H, T), gate(B, H, T), chunk_size=chunk, autocast_kernel_dtype=BF16))

        yield function, run

    def parallel():
        f = importlib.import_module("mlstm_kernels.torch.parallel.triton_limit_headdim").mlstm_parallel__limit_headdim
        q, k, v = (leaf(1, H, 2048, K) for _ in range(3))
        fb(f(q, k, v, gate(1, H, 2048), gate(1, H, 2048)))

    yield "mlstm_parallel", parallel

    def step():
        f = importlib.import_module("mlstm_kernels.torch.recurrent.triton_step").mlstm_recurrent_step__triton
        q, v = rand(64, H, 256), rand(64, H, 512)
        f(q, q, v, state(64, H, 1), state(64, H, 1), state(64, H, 256, 512), state(64, H, 256), state(64, H, 1))

    yield "mlstm_step", step


def flash_attn():
    ops = "flash_attn.ops.triton."
    rotary = lambda: importlib.import_module(ops + "rotary").apply_rotary
    entropy = lambda: importlib.import_module(ops + "cross_entropy").cross_entropy_loss
    for interleaved in (False, True):
        yield f"rotary_{interleaved}", lambda i=interleaved: rotary()(
            rand(B, T, 32, K), rand(T, K // 2), rand(T, K // 2), interleaved=i
        )
    yield "rotary_varlen", lambda: rotary()(
        rand(B * T, 32, K), rand(T, K // 2), rand(T, K // 2), cu_seqlens=starts(B, T), max_seqlen=T
    )
    yield "flash_cross_entropy", lambda: fb(entropy()(leaf(N, V), ints(V, N), label_smoothing=0.1))


def quantised():
    def sage(causal, width, layout):
        f = importlib.import_module("sageattention").sageattn
        shape = (B, 16, T, width) if layout == "HND" else (B, T, 16, width)
        f(*(rand(*shape, dtype=FP16) for _ in range(3)), tensor_layout=layout, is_causal=causal)

    for causal, width, layout in ((False, 128, "HND"), (True, 128, "NHD"), (False, 64, "HND"), (True, 96, "HND")):
        yield f"sage_{causal}_{width}_{layout}", lambda a=(causal, width, layout): sage(*a)

    bits = lambda: importlib.import_module("bitsandbytes.backends.triton.ops")
    codes = lambda: torch.linspace(-1, 1, 256, device=D)
    bytes_of = lambda *shape: ints(256, *shape, dtype=torch.uint8)
    for kind in ("nf4", "fp4"):
        yield f"quantize_{kind}", lambda k=kind: bits().quantize_4bit(rand(C, C), 64, k, torch.uint8)
        yield f"dequantize_{kind}", lambda k=kind: bits().dequantize_4bit(
            bytes_of(C * C // 2, 1), scale(C * C // 64), 64, k, (C, C), BF16
        )
    yield "quantize_8bit", lambda: bits().quantize_blockwise(rand(C, C, dtype=FP32), codes(), 256)
    yield "dequantize_8bit", lambda: bits().dequantize_blockwise(bytes_of(C, C), scale(C * C // 256), codes(), 256, BF16)
    for name in ("adam", "lion", "momentum", "ademamix"):

        def optimise(name=name):
            of_two = lambda x: x if name in ("adam", "ademamix") else None
            parts = 2 if name == "ademamix" else 1
            sums = lambda: bytes_of(*(parts, C, C) if parts == 2 else (C, C))
            maxima = lambda: scale(*((parts, C * C // 256) if parts == 2 else (C * C // 256,)))
            bits().optimizer_update_8bit_blockwise(
                name, rand(C, C), rand(C, C), sums(), of_two(bytes_of(C, C)), 0.9, 0.99, 0.999, 5.0, 1e-8, 3, 1e-3,
                codes(), of_two(codes()), maxima(), of_two(scale(C * C // 256)), 0.01,
            )  # fmt: skip

        yield "optimizer_8bit_" + name, optimise


def torchao():
    training = lambda: importlib.import_module("torchao.prototype.blockwise_fp8_training.kernels")
    int8 = lambda: importlib.import_module("torchao.prototype.quantized_training.int8_mm")
    jagged = lambda: importlib.import_module("torchao.prototype.moe_training.kernels.jagged_float8_scales")
    whole = lambda *shape: ints(255, *shape, dtype=torch.int16).sub(127).to(torch.int8)
    for name in ("act_quant_lhs", "act_quant_rhs", "act_quant_transposed_lhs", "weight_quant_rhs"):
        yield "blockwise_" + name, lambda n=name: getattr(training(), "triton_fp8_blockwise_" + n)(rand(N, C))
    yield "blockwise_gemm", lambda: training().triton_fp8_gemm_1x128_128x128(
        fp8(N, C), fp8(C, C).t(), scale(C // 128, N).t(), scale(C // 128, C // 128).t()
    )
    yield "scaled_int8_mm", lambda: int8().scaled_int8_mm_cuda(
        whole(N, C), whole(C, C).t(), rand(N), rand(C)
    )
    for name in ("row", "col"):
        yield "jagged_" + name, lambda n=name: getattr(jagged(), f"triton_fp8_per_group_{n}wise_scales")(
            rand(N, C) if n == "col" else rand(C, N), starts(8, N // 8)[1:]
        )


def cases():
    stand_ins.install()
    stub("flash_attn_2_cuda")
    torch._dynamo.config.disable = True  # mlstm_kernels compiles parts of its Python code by torch.compile
    yield from mlstm()
    yield from flash_attn()
    yield from quantised()
    yield from torchao()

    def cce(softcap):
        f = importlib.import_module("cut_cross_entropy").linear_cross_entropy
        fb(f(leaf(4096, 2048), leaf(V, 2048, scale=0.05), ints(V, 4096), softcap=softcap))

    yield "cce", lambda: cce(None)
    yield "cce_softcap", lambda: cce(20.0)
