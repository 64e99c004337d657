"""unsloth 2026.10.9: its kernels for fine-tuning, forward and backward, 8,192 tokens of 4,096 features."""

import importlib
import logging
import os
import sys
import types

import torch

from packages import stand_ins
from packages.common import BF16, BarePackages, D, answer, fb, fp8, ints, leaf, rand, scale

PATHS = ["unsloth"]
N, H, I, V = 8192, 4096, 11008, 32768
MACHINE = [
    "unsloth_zoo",
    "unsloth_zoo.utils",
    "unsloth_zoo.patching_utils",
    "unsloth_zoo.loss_utils",
    "unsloth_zoo.temporary_patches",
    "unsloth_zoo.log",
    "unsloth_zoo.temporary_patches.common",
    "transformers",
    "transformers.models",
    "transformers.models.llama",
    "transformers.models.llama.modeling_llama",
    "transformers.models.mllama",
    "transformers.models.mllama.modeling_mllama",
    "transformers.integrations",
    "transformers.integrations.finegrained_fp8",
    "bitsandbytes",
    "bitsandbytes.functional",
    "pandas",
    "peft",
    "unsloth.device_type",
    "unsloth.bnb_availability",
]


def load():
    stand_ins.install()
    os.environ.setdefault("UNSLOTH_TRITON_FAST_LAUNCH", "0")
    os.environ.setdefault("UNSLOTH_ZOO_IS_PRESENT", "1")
    folder = next(p for p in sys.path if os.path.isdir(os.path.join(p, "unsloth", "kernels")))
    BarePackages("unsloth", folder)
    known = dict(
        Version=stand_ins.Version,
        DEVICE_TYPE="cuda",
        DEVICE_TYPE_TORCH="cuda",
        DEVICE_COUNT=1,
        ALLOW_PREQUANTIZED_MODELS=False,
        ALLOW_BITSANDBYTES=False,
        __version__="0.48.0",
        cuda_visible_capabilities=lambda *a: [(9, 0)],
        HAS_CUT_CROSS_ENTROPY=False,
        logger=logging.getLogger("unsloth"),
    )
    answer(MACHINE, folder, **known)
    import unsloth

    unsloth.DEVICE_TYPE = "cuda"


def kernels(module):
    return importlib.import_module("unsloth.kernels." + module)


def layer(**attributes):
    """What the functions read of a module: its weights and eps."""
    return types.SimpleNamespace(variance_epsilon=1e-6, eps=1e-6, **attributes)


def rope(by_index):
    q, k = leaf(2, 32, 4096, 128), leaf(2, 8, 4096, 128)
    where = torch.arange(4096, device=D, dtype=torch.int32).repeat(2, 1) if by_index else None
    fb(kernels("rope_embedding").fast_rope_embedding(q, k, rand(4096, 128), rand(4096, 128), where))


def experts(first):
    """The grouped products of a mixture of experts: 32 experts, 4 for each token."""
    gemm, tuning = kernels("moe.grouped_gemm.interface"), kernels("moe.grouped_gemm.kernels.tuning")
    gemm._is_tracing = lambda *tensors: False  # fake tensors look as if a compiler traced them
    tokens, top, count, wide = 4096, 4, 32, 1536
    sizes = torch.full((count,), tokens * top // count, device=D, dtype=torch.int32)
    gather = torch.randperm(tokens * top, device=D).to(torch.int32)
    block = dict(BLOCK_SIZE_M=64, BLOCK_SIZE_N=64, BLOCK_SIZE_K=64, num_warps=4, num_stages=3)
    x, w = (
        (leaf(tokens, 2048), leaf(count, 2 * wide, 2048))
        if first
        else (leaf(tokens * top, wide), leaf(count, 2048, wide))
    )
    fb(
        gemm.grouped_gemm(
            x,
            w,
            sizes,
            top,
            gather,
            permute_x=first,
            permute_y=not first,
            kernel_config_fwd=tuning.KernelConfigForward(**block),
            kernel_config_bwd_dX=tuning.KernelConfigBackward_dX(**block),
            kernel_config_bwd_dW=tuning.KernelConfigBackward_dW(**block),
            is_first_gemm=first,
        )
    )


def cases():
    load()
    x = lambda *shape: rand(1, N, I) if not shape else leaf(*shape)
    for gemma in (False, True):
        yield f"rms_layernorm_{gemma}", lambda gemma=gemma: fb(
            kernels("rms_layernorm").fast_rms_layernorm(layer(weight=leaf(H)), x(2, N // 2, H), gemma)
        )
    yield "layernorm", lambda: fb(
        kernels("layernorm").fast_layernorm(
            layer(weight=leaf(H), bias=leaf(H), elementwise_affine=True), x(2, N // 2, H)
        )
    )
    yield "rope", lambda: rope(False)
    yield "rope_indices", lambda: rope(True)
    yield "swiglu", lambda: kernels("swiglu").swiglu_fg_kernel(x(), x())
    yield "swiglu_backward", lambda: kernels("swiglu").swiglu_DWf_DW_dfg_kernel(rand(N, I), rand(N, I), rand(N, I))
    for kind in ("exact", "approx"):
        yield f"geglu_{kind}", lambda kind=kind: getattr(kernels("geglu"), f"geglu_{kind}_forward_kernel")(x(), x())
        yield f"geglu_{kind}_backward", lambda kind=kind: getattr(kernels("geglu"), f"geglu_{kind}_backward_kernel")(
            rand(N, I), rand(N, I), rand(N, I)
        )
    loss = lambda vocabulary, **more: fb(
        kernels("cross_entropy_loss").fast_cross_entropy_loss(
            leaf(2, 2048, vocabulary), ints(vocabulary, 2, 2048), **more
        )
    )
    yield "cross_entropy", lambda: loss(V)
    yield "cross_entropy_chunked", lambda: loss(128256)
    yield "cross_entropy_softcap", lambda: loss(256000, logit_softcapping=30.0)
    yield "add_rms", lambda: kernels("fused_add_rms_layernorm").fast_add_rms_layernorm_inference(
        rand(1, 64, H), rand(1, 64, H), rand(H), 1e-6
    )
    yield "qk_norm_rope", lambda: fb(
        kernels("qk_norm_rope").fast_qk_norm_rope(
            layer(weight=leaf(128)),
            layer(weight=leaf(128)),
            leaf(2, 4096, 32, 128),
            leaf(2, 4096, 8, 128),
            rand(4096, 128),
            rand(4096, 128),
        )
    )
    yield "weight_dequant", lambda: kernels("fp8").weight_dequant_block(fp8(H, H), scale(32, 32), 128, BF16)
    yield "act_quant", lambda: kernels("fp8").act_quant(rand(N, H), 128)
    yield "fp8_matmul", lambda: kernels("fp8").w8a8_block_fp8_matmul_triton(
        fp8(N, H), fp8(H, H), scale(N, 32), scale(32, 32), [128, 128], BF16
    )
    yield "experts_up", lambda: experts(True)
    yield "experts_down", lambda: experts(False)
