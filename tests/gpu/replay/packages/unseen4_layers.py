"""Layers and losses of `unseen4`: accelerated-model-architectures 384ed0a7 and mdy_triton 0718faa.

Of the former the experts that came from scattermoe are left out, of the latter what writes to addresses that it takes
as numbers (its optimiser, its fused gates), the attention of others and the norm by tanh, which liger-kernel has. The
order of atomic operations decides how the gradients of weights of recurrences round."""

import os

import torch

from packages.common import D, FP16, FP32, BarePackages, fb, folder_of, ints, leaf, load, rand, starts, stub


def first_config(self, *args, **kwargs):
    """What the package's own autotuner chooses here: the first configuration that is valid, after no trial."""
    given = self._get_function_arguments(load("xma.autotuner").AutotuneConfig({}), args, kwargs)
    return next(c for c in self.configs if c.is_condition_valid(**given)), 0, []


def xma(name):
    """A function of the package with the backend that is Triton's."""
    load("xma.autotuner").AutotunedFunction._autotune = first_config
    module, _, function = name.rpartition(".")
    f, backend = getattr(load("xma." + module), function), load("xma").KernelBackend.triton
    return lambda *args, **kwargs: f(*args, **kwargs, kernel_backend=backend)


def xma_back(name):
    return lambda *args, **kwargs: fb(xma(name)(*args, **kwargs))


def functions():
    logits = lambda: leaf(2048, 50304)
    yield "cross_entropy", lambda: xma_back("functional.cross_entropy")(logits(), ints(50304, 2048))
    yield (
        "linear_cross_entropy",
        lambda: xma_back("functional.fused_linear_cross_entropy")(
            leaf(4096, 2048, scale=0.05), leaf(50304, 2048, scale=0.05), ints(50304, 4096)
        ),
    )
    x = lambda: leaf(8192, 4096)
    yield (
        "residual_norm",
        lambda: xma_back("functional.fused_residual_add_rmsnorm")(x(), x(), leaf(4096), 1e-5, multiplier=0.22),
    )
    yield (
        "residual_norm_lean",
        lambda: xma_back("functional.fused_residual_add_rmsnorm")(x(), x(), leaf(4096), 1e-5, memory_efficient=True),
    )
    yield "norm_2", lambda: xma("functional.p_norm")(rand(8192, 4096))
    yield "norm_max", lambda: xma("functional.p_norm")(rand(8192, 4096), p="inf")
    yield "softmax", lambda: xma_back("functional.softmax")(x())
    yield "softmax_wide", lambda: xma_back("functional.softmax")(leaf(1024, 65536), logits_multiplier=0.5)
    yield "swiglu", lambda: xma_back("functional.swiglu")(leaf(8192, 14336), leaf(8192, 14336))
    yield "pack", lambda: xma_back("functional.pack_sequence")([leaf(16, 1024, 32, 64)], starts(16, 1000), 16000)
    yield (
        "unpack",
        lambda: xma_back("functional.unpack_sequence")([leaf(16000, 32, 64)], starts(16, 1000), 16, 1024, "right"),
    )


def recurrences():
    """Sixteen heads of 64 features; weights so small that states do not grow."""
    batch, length, heads, width = 8, 512, 16, 64
    x, gate = lambda size=width: leaf(batch, length, heads, size, scale=0.3), lambda: leaf(batch, length, heads)
    weight = lambda: leaf(heads, width, width, scale=0.05)
    flat = lambda: leaf(batch * length, heads, width, scale=0.3)
    yield "rnn", lambda: xma_back("layers.rnn")(x(), weight(), gradient_clipping=1.0)
    yield "rnn_varlen", lambda: xma_back("layers.rnn")(flat(), weight(), cu_seqlens=starts(8, 512), max_seqlen=512)
    yield "gru", lambda: xma_back("layers.gru")(x(), weight(), x(), weight(), x(), weight())
    yield "m2rnn", lambda: xma_back("layers.m2rnn")(x(), x(), x(), weight(), gate())
    yield "linear_attention", lambda: xma("layers.linear_attention")(
        leaf(4, 2048, heads, width, scale=0.3), leaf(4, 2048, heads, width, scale=0.3),
        leaf(4, 2048, heads, width, scale=0.3), None,
    )  # fmt: skip

    def step(momentum):
        p, g = rand(4096, 4096, dtype=FP32), rand(4096, 4096, dtype=FP32)
        buffers = [rand(4096, 4096, dtype=FP32) if momentum else None]
        xma("optimizers.sgd.op.sgd")([p], [g], buffers, 0.1, 0.01, momentum, 0.0, bool(momentum), False, 2)

    yield "sgd", lambda: step(0.0)
    yield "sgd_momentum", lambda: step(0.9)


def mdy(name):
    stub("deep_gemm")
    BarePackages("mdy_triton", folder_of("unseen4/mdy"))
    BarePackages("triton_kernels", folder_of("unseen4/mdy"))
    m = load(name)
    os.environ.pop("TRITON_PRINT_AUTOTUNING", None)  # one of its modules sets it
    return m


def core():
    core = lambda name: mdy("mdy_triton.core." + name)
    x = lambda: leaf(8, 1024, 4096)
    yield (
        "cross_entropy",
        lambda: fb(core("cross_entyopy_loss").triton_entropy_loss(leaf(1, 2048, 151936), ints(151936, 1, 2048))),
    )
    yield "add_norm", lambda: fb(core("fused_add_norm").triton_fused_add_norm(x(), x(), leaf(4096), 1e-6))
    yield "norm", lambda: fb(core("rmsnorm").triton_rmsnorm(x(), leaf(4096), 1e-6))
    angles = lambda: rand(1, 1024, 128)

    def rope():
        q, k = rand(8, 1024, 32, 128).transpose(1, 2), rand(8, 1024, 8, 128).transpose(1, 2)
        fb(core("fused_apply_rope").fused_apply_rope(q.requires_grad_(), k.requires_grad_(), angles(), angles()))

    yield "rope", rope
    wide = lambda: leaf(4, 1024, 14336)
    yield "silu", lambda: fb(core("fused_silu").triton_fused_up_gate_silu(wide(), wide()))
    yield (
        "silu_joined",
        lambda: fb(core("fused_silu").triton_fused_up_gate_silu_no_split(leaf(4, 1024, 28672), "gate-up")),
    )
    for name in ("max", "min"):
        yield name, lambda n=name: getattr(core("triton_maxmin"), "triton_" + n)(rand(8192, 4096))
        yield f"{name}_short", lambda n=name: getattr(core("triton_maxmin"), "triton_" + n)(rand(65536, 128))


def more():
    kernels = lambda name: mdy("triton_kernels." + name)
    yield (
        "conv",
        lambda: fb(
            kernels("causal_conv1d.triton_causal_conv1d").triton_causal_conv1d(
                leaf(4, 4096, 2048), leaf(4096, 4), leaf(4096), "silu"
            )
        ),
    )
    tokens = lambda: ints(151936, 4, 512)
    probabilities = lambda: -rand(4, 512, dtype=FP32).abs()
    yield (
        "grpo",
        lambda: fb(
            kernels("grpo.triton_grpo_loss.core").triton_grpo_loss(
                rand(4, 513, 151936).requires_grad_(), probabilities(), probabilities(), tokens(), rand(4, dtype=FP32),
                torch.ones(4, 512, device=D, dtype=torch.int64), inplace=False,
            )[0]
        ),
    )  # fmt: skip
    yield (
        "grpo_logp",
        lambda: kernels("grpo.triton_grpo_loss.core").fused_selective_log_softmax(rand(4, 513, 151936), tokens()),
    )
    yield "muon", lambda: kernels("flash_muon.triton_flash_muon").matmul(rand(4096, 4096))
    latent = lambda batch, heads, length: rand(batch, heads, length, 576, dtype=FP16, scale=0.3)

    def mla(batch, queries, length, **options):
        kernels("mla_attention.mla").triton_mqa(
            latent(batch, 16, queries), latent(batch, 1, length), latent(batch, 1, length)[..., :512], 192**-0.5,
            **options,
        )  # fmt: skip

    yield "mla_prompt", lambda: mla(1, 2048, 2048)
    yield "mla_token", lambda: mla(32, 1, 4096)
    yield "mla_token_two_stages", lambda: mla(2, 1, 8192)

    def compressed():
        attn = kernels("nsa_attention.compress_attn_v2")
        keys, values = (attn.blcok_compress(leaf(1, 2048, 4, 128), leaf(32), leaf(32, 128), 16) for _ in range(2))
        fb(attn.compress_attn(leaf(1, 2048, 16, 128, scale=0.3), keys, values, 32, 16)[0])

    yield "compressed", compressed
    fp8 = lambda: kernels("megatron_patchs.fp8_matmul")
    yield "fp8_tokens", lambda: fp8().per_token_cast_to_fp8(rand(4096, 4096))


def cases():
    for prefix, parts in (("xma_", (functions, recurrences)), ("mdy_", (core, more))):
        for part in parts:
            for name, case in part():
                yield prefix + name, case
