"""Fine-tuning and optimisers of `unseen4`: axolotl 067b021c and optimi 17a3d54.

Of axolotl's kernels those for experts with LoRA that came from scattermoe and those that came from unsloth and
liger-kernel are left out. The order of atomic operations decides how its gradients of sinks and keys round."""

import operator
import types

import torch
import triton

from packages.common import (
    BF16, D, FP32, Answers, BarePackages, bytes_, fb, folder_of, fp8, ints, leaf, load, rand, scale, stub, whole,
)  # fmt: skip

LIBS = "integrations.kernels.libs."
DTYPES = {torch.float32: triton.language.float32, BF16: triton.language.bfloat16}


def axolotl(name):
    BarePackages("axolotl", folder_of("unseen4/axolotl/src"))
    stub("axolotl.utils")
    stub("axolotl.utils.logging", get_logger=lambda name: None)
    stub("bitsandbytes")
    stub("bitsandbytes.functional", QuantState=object, get_ptr=None, lib=Answers("lib"))
    stub("liger_kernel")
    stub("liger_kernel.ops")
    stub("liger_kernel.ops.utils", calculate_settings=settings, compare_version=newer, ensure_contiguous=lambda f: f,
         torch_to_triton_dtype=DTYPES)  # fmt: skip
    stub("liger_kernel.utils", is_npu_available=lambda: False)
    return load("axolotl." + name)


def settings(count):
    """The block and the warps that liger-kernel gives a row of that length."""
    block = triton.next_power_of_2(count)
    return block, 32 if block >= 32768 else 16 if block >= 8192 else 8 if block >= 2048 else 4


def newer(package, compare, version):
    return compare is operator.ge


def deepseek():
    """DeepSeek-V4: 64 heads of 512 features, one key for all; a window of 128 tokens, and one of four kept."""
    v4 = lambda name: axolotl(LIBS + "dsv4." + name)
    heads, length, width = 64, 2048, 512
    q = lambda: leaf(1, heads, length, width, scale=0.3)
    keys = lambda count=length: leaf(1, 1, count, width, scale=0.3)
    yield "sliding", lambda: fb(v4("attention").sliding_attn(q(), keys(), keys(), leaf(heads)))
    yield (
        "compressed",
        lambda: fb(
            v4("attention_csa").csa_attn(
                q(), keys(), keys(length // 4), rand(1, 1, length, length // 4, dtype=FP32), leaf(heads)
            )
        ),
    )
    yield (
        "compressed_chosen",
        lambda: fb(
            v4("attention_gather").csa_attn_topk(
                q(), keys(), keys(length // 4), whole(length // 4, 1, length, 256), leaf(heads)
            )
        ),
    )
    pool = lambda count, window: fb(
        v4("gated_pool").gated_softmax_pool(leaf(count, window, width), leaf(count, window, width))
    )
    yield "pool_128", lambda: pool(64, 128)
    yield (
        "indexer",
        lambda: v4("indexer").indexer_scores(
            rand(1, length, heads, 128), rand(1, length // 4, 128), rand(1, length, heads, dtype=FP32), 128**-0.5
        ),
    )
    norm = types.SimpleNamespace(eps=1e-6)
    yield (
        "hyperconnection",
        lambda: fb(
            v4("mhc").hyperconnection_forward(
                leaf(1, length, 4, 4096), norm, leaf(24, 4 * 4096, scale=0.01), leaf(24), leaf(3), 4, 20, 1e-6
            )
        ),
    )
    yield (
        "rope",
        lambda: fb(v4("rope").apply_rotary_pos_emb_triton(q(), rand(1, length, 32), rand(1, length, 32))),
    )
    gates = lambda: rand(1, 4096, 2048)
    yield (
        "swiglu",
        lambda: (
            v4("lora_mlp")._clamped_swiglu_forward(gates(), gates(), 10.0),
            v4("lora_mlp")._clamped_swiglu_backward(gates(), gates(), gates(), 10.0),
        ),
    )


def rewards():
    """Losses over a vocabulary of 128,256 words."""
    ebft = lambda: axolotl("core.trainers.ebft.kernels")
    trainer = lambda: axolotl("monkeypatch.trainer.utils")
    logits = lambda: leaf(2, 1024, 128256)
    yield "logp", lambda: ebft().fused_log_softmax_gather(logits(), ints(128256, 2, 1024))
    yield (
        "reinforce",
        lambda: ebft().fused_reinforce_loss(
            rand(16, 4096, dtype=FP32), rand(16, 4096, dtype=FP32), torch.rand(16, 4096, device=D) < 0.8
        ),
    )
    yield "entropy", lambda: trainer().entropy_from_logits(logits())
    yield "entropy_strided", lambda: trainer().entropy_from_logits(logits()[:, :-1])
    yield "selective", lambda: fb(trainer().selective_log_softmax(logits(), ints(128256, 2, 1024)))


def layers():
    kernels = lambda name: axolotl("kernels." + name)
    yield (
        "dora",
        lambda: kernels("dora").triton_dora_scale(
            rand(4096, 4096), None, rand(16, 4096), rand(4096, 16), 2.0, rand(4096), BF16
        ),
    )
    angles = lambda: rand(1, 2048, 256)
    yield (
        "gemma_norm_rope",
        lambda: fb(
            kernels("gemma4_fused_rope").fused_rms_norm_rope(leaf(2, 2048, 16, 256), leaf(256), angles(), angles())
        ),
    )
    x = lambda: leaf(2, 2048, 32, 128)
    yield (
        "gated_norm",
        lambda: fb(kernels("rms_norm_gated").FusedRMSNormGatedFunction.apply(x(), x(), leaf(128), 1e-6)),
    )
    wide = lambda: leaf(1, 8, 2048, 512, scale=0.3)
    yield (
        "attention_512",
        lambda: fb(axolotl("monkeypatch.attention.flash_attn_d512").flash_d512(wide(), wide(), wide())),
    )


def few_bits():
    """Eight experts of 1,536 by 2,048 weights in 4 bits."""
    lora = lambda name: axolotl(LIBS + "scattermoe_lora." + name)
    packed = lambda: (bytes_(8, 1536, 1024), fp8(8, 1536, 128), scale(8))
    yield "nvfp4", lambda: lora("dequant_grouped").nvfp4_dequant_bf16(*packed())
    tiles = lambda: torch.arange(32, device=D).div(4, rounding_mode="floor").int()
    yield "fp8_dx", lambda: lora("dequant_grouped").grouped_dx_fp8(rand(4096, 1536), fp8(8, 1536, 2048), tiles())
    yield (
        "nf4",
        lambda: lora("selective_dequant_kernel").selective_dequant_nf4_triton(
            bytes_(16 * 1536 * 1024), scale(16 * 1536 * 2048 // 64), torch.arange(0, 16, 2, device=D), (1536, 2048), 64
        ),
    )
    yield "nvfp4_quant", lambda: lora("cutlass_fp4.quant_nvfp4").nvfp4_quant(rand(4096, 4096))
    yield "nvfp4_dx", lambda: lora("cutlass_fp4.fused_dx").fused_dx(rand(4096, 1536), *packed()[:2], tiles(),
                                                                    packed()[2], 2048)  # fmt: skip


def optimisers():
    """A step of each optimiser; parameters in 16 bits keep what rounding lost."""

    def step(name, dtype, **options):
        parameter = leaf(4096, 4096, dtype=dtype)
        parameter.grad = rand(4096, 4096, dtype=dtype)
        getattr(load("optimi"), name)([parameter], lr=1e-3, triton=True, **options).step()

    for name in ("Adam", "AdamW", "Adan", "Lion", "RAdam", "Ranger", "SGD", "StableAdamW"):
        yield name, lambda n=name: step(n, BF16, weight_decay=0.01)
    yield "Adam_32", lambda: step("Adam", FP32)
    yield "SGD_momentum", lambda: step("SGD", FP32, momentum=0.9)


def cases():
    for prefix, parts in (("axolotl_", (deepseek, rewards, layers, few_bits)), ("optimi_", (optimisers,))):
        for part in parts:
            for name, case in part():
                yield prefix + name, case
