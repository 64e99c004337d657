"""Training of `unseen7`: Bi-Mamba2 08b3cd3, Triformer fc2ea63, AdamW-Triton-PyTorch e5ae616, fusedswiglu a47bd09,
ISTA-DASLab-Optimizers 4c98e6e, PoPE-pytorch ee11cab, hyper-connections 4775103, jvp_flash_attention 9d04360,
Flash-Attention-with-Bias-Triton 71e2749, pytorch-approx-topk c09e8c2, rCM 5b41aa9, annotated-mamba 310e98b,
flash-linear-rnn 6ea8980, landmark-attention d963e50 and flash-dmattn f024c28.

Left out: of Bi-Mamba2 what is Mamba's, and its sums along a chunk, which Triton 3.6 does not compile: there are
stand-ins; of Triformer what is unsloth's, and its dropout, which Triton 3.6 does not compile; AdamW's momentum in 8
bits, which makes bytes of negative numbers; of ISTA-DASLab-Optimizers the products of Newton and Schulz, which are
dion's, and what is CUDA's; rCM's backward pass, which is flash-attn's; and of annotated-mamba its comparison with
Mamba, which it makes when it is imported. The order of atomic operations decides how the gradients of Bi-Mamba2,
PoPE-pytorch, Flash-Attention-with-Bias-Triton and flash-dmattn round. The optimisers write over their inputs, and
Triformer's loss over its logits."""

import os
import sys
import types
from unittest import mock

import torch

from packages.common import BF16, D, FP16, FP32, bare_of, fb, folder_of, ints, leaf, load, rand, scale, stub, unit

bare = bare_of("unseen7")
TOKENS, WIDTH = 8192, 4096


def both_ways():
    """Mamba 2 in both directions: 4 sequences of 2,048, 24 heads of 64, states of 128 or 64."""

    def chunks(x, size):
        batch, length, groups, width = x.shape
        return x.view(batch, length // size, size, groups, width).transpose(2, 3)

    def sums(dt, A, size, dt_bias, **options):
        """_chunk_cumsum_fwd: what Triton 3.6 does not compile of it."""
        steps = torch.nn.functional.softplus(dt.float() + dt_bias)
        steps = steps.transpose(1, 2).reshape(dt.shape[0], dt.shape[2], -1, size)
        products = steps * A[:, None, None]
        return products.cumsum(-1), products.flip(-1).cumsum(-1).flip(-1).contiguous(), steps

    def sums_back(ddA, ddt_out, dt, A, dt_bias, ddt=None, **options):
        steps = (ddt_out + ddA * A[:, None, None]).flatten(2).transpose(1, 2)
        return ddt.copy_(steps), ddA.sum((0, 2, 3)), steps.sum((0, 1))

    def product(a, b, size, output_dtype=None, **options):
        return (chunks(a, size) @ chunks(b, size).transpose(-1, -2)).to(output_dtype)

    def product_back(a, dout, residual=None, out=None):
        x = dout.transpose(-1, -2).to(a.dtype) @ chunks(a, dout.shape[-1])
        return out.copy_(x.transpose(2, 3).reshape(a.shape) + residual)

    def scan(states):
        bare("ssd", "bimamba/src")
        length, heads, size = 2048, 24, 64
        x = lambda *shape: leaf(4, length, *shape, dtype=FP16, scale=0.5)
        module = load("ssd.bi.ssd_combined")
        with mock.patch.multiple(
            module, _chunk_cumsum_fwd=sums, _chunk_cumsum_bwd=sums_back, _bmm_chunk_fwd=product,
            _bmm_chunk_bwd=product_back,
        ):
            fb(
                module.bimamba_chunk_scan_combined(
                    x(heads, size), x(heads), (-scale(heads)).requires_grad_(), x(1, states), x(1, states), 256,
                    D=leaf(heads, dtype=FP32), dt_bias=leaf(heads, dtype=FP32), dt_softplus=True,
                )
            )  # fmt: skip

    yield "scan", lambda: scan(128)
    yield "scan_few", lambda: scan(64)


def layers():
    """Triformer's layers on 8,192 tokens of 11,008 features, 32 heads of 2,048 tokens; a loss over 32,000 words."""
    part = lambda name: (bare("triformer", "triformer"), load("triformer." + name))[1]
    yield "swiglu", lambda: fb(part("swiglu").FastSwigluFunction.apply(leaf(TOKENS, 11008), leaf(TOKENS, 11008)))
    scores = lambda: leaf(32, 2048, 2048, dtype=FP32)
    yield "softmax", lambda: fb(part("softmax").SoftmaxFunction.apply(scores(), False))
    yield "softmax_causal", lambda: fb(part("softmax").SoftmaxFunction.apply(scores(), True))
    yield (
        "loss",
        lambda: part("cross_entropy").CrossEntropyLossFunction.apply(
            rand(TOKENS, 32000), ints(32000, TOKENS), -100, "mean", 1
        ),
    )


def optimisers():
    """Steps for 67,108,864 weights; sums of gradients' products, 16 blocks of 1,024 by 1,024."""

    def step(*shape):
        weights = leaf(*shape, dtype=FP32)
        weights.grad = rand(*shape, dtype=FP32)
        load("adamw.triton_adamw").TritonAdamW([weights]).step()

    yield "adamw", lambda: step(8192, 8192)
    yield "adamw_bias", lambda: step(11008)

    def sums(left):
        bare("ista_daslab_optimizers", "istaopt")
        update = load("ista_daslab_optimizers.utils.triton_kernels").update_dash_preconditioner
        update(rand(16, 1024, 1024, dtype=FP32), rand(16, 1024, 1024, dtype=FP32), 0.95, left)

    yield "dash_left", lambda: sums(True)
    yield "dash_right", lambda: sums(False)


def products():
    """A gated layer of Llama 7B on 4 sequences of 2,048 tokens; the largest of buckets of words."""

    def gated(name, dtype):
        module = load("fused_swiglu." + name)
        function = getattr(module, "FusedSwiGLU" if name == "swiglu" else "FastAccumFusedSwiGLU")
        weight = lambda: leaf(WIDTH, 11008, dtype=dtype, scale=0.02)
        fb(function.apply(leaf(4, 2048, WIDTH, dtype=dtype), weight(), weight()))

    yield "swiglu", lambda: gated("swiglu", BF16)
    yield "swiglu_half", lambda: gated("swiglu_f16", FP16)

    def largest(kernel, block, interleaved):
        bare("approx_topk", "approxtopk")
        top = load("approx_topk.experimental.bucketed_argmax").topk_triton
        top(rand(256, 131072, dtype=FP32), k=1024, dim=-1, interleaved=interleaved, block_size=block, kernel=kernel)

    yield "buckets", lambda: largest("bk", 128, True)
    yield "buckets_blocks", lambda: largest("bkn", 16, False)


def places():
    """Attention with polar places, 16 heads of 64, 2,048 tokens; and doubly stochastic matrices of 4 streams."""
    heads, length, size = 16, 2048, 64
    angles = lambda: leaf(length, size, dtype=FP32)
    bias = lambda: leaf(heads, size, dtype=FP32)

    def similarity():
        q = lambda: leaf(2, heads, length, size, dtype=FP32)
        module = (bare("PoPE_pytorch", "pope"), load("PoPE_pytorch.triton_pope"))[1]
        fb(module.triton_compute_qk_similarity(q(), q(), angles(), bias(), size))

    yield "similarity", similarity

    def attention(causal):
        q = lambda: leaf(2, length, heads, size, dtype=FP32)
        module = (bare("PoPE_pytorch", "pope"), load("PoPE_pytorch.triton_pope_flash_attn"))[1]
        fb(module.flash_attn(q(), q(), q(), angles(), bias(), causal=causal))

    yield "attention", lambda: attention(False)
    yield "attention_causal", lambda: attention(True)

    def stochastic(rows, size):
        module = (bare("hyper_connections", "hyperconn"), load("hyper_connections.triton_sinkhorn"))[1]
        fb(module.TritonSinkhornFunction.apply(leaf(rows, size, size, dtype=FP32), 20))

    yield "streams", lambda: stochastic(16384, 4)
    yield "streams_wide", lambda: stochastic(1024, 64)


def tangents():
    """Attention with derivatives along a direction, for consistency models: 2 pictures, 16 heads, 4,096 places."""
    q = lambda size=64: rand(2, 16, 4096, size, dtype=FP16)

    def both(causal, tma, size=64):
        attention = load("jvp_flash_attention.jvp_attention").JVPAttn
        with torch.no_grad():
            attention.forward(*(q(size) for _ in range(6)), None, 0.0, causal, None, False, tma, False)

    yield "tangent", lambda: both(False, False)
    yield "tangent_causal", lambda: both(True, False)
    yield "tangent_descriptors", lambda: both(False, True)

    def backward(causal):
        attention = load("jvp_flash_attention.jvp_attention").JVPAttn
        inputs = [q().requires_grad_() for _ in range(3)]
        fb(attention.fwd(*inputs, causal=causal, warp_specialize=False, USE_TMA=False))

    yield "gradient", lambda: backward(False)
    yield "gradient_causal", lambda: backward(True)

    def video():
        stub("flash_attn")
        stub("flash_attn.flash_attn_interface", _flash_attn_backward=None, _flash_attn_varlen_backward=None)
        with torch.no_grad():
            load("rcm.utils.flash_attention_jvp_triton")._attention.apply(*(q(128) for _ in range(6)))

    yield "video", video


def biases():
    """Attention with a bias that has a gradient (4 heads of 32, 1,024 residues), with landmarks, and to chosen keys."""

    def pairs(causal):
        q = lambda: leaf(4, 1024, 8, 64, dtype=FP16)
        fb(load("flash_attn_w_bias").FlashAttnFunc.apply(q(), q(), q(), leaf(4, 8, 1024, 1024, dtype=FP16), causal))

    yield "pairs", lambda: pairs(False)
    yield "pairs_causal", lambda: pairs(True)

    def landmarks(length, history):
        q, k = (lambda n: leaf(1, 32, n, 128, dtype=BF16)), length + history
        memory = torch.arange(k, device=D) % 64 == 63
        load_ = load("ltriton.flash_landmark_attention").fused_landmark_attention
        fb(load_(q(length), q(k), q(k), memory[None]))

    yield "landmarks", lambda: landmarks(2048, 0)

    def chosen(causal):
        x = lambda *shape: leaf(2, *shape, dtype=BF16)
        places = torch.rand(2, 4, 4096, device=D).topk(1024).indices.sort().values
        module = (bare("flash_sparse_attn", "dmattn"), load("flash_sparse_attn.flash_dmattn_triton"))[1]
        fb(
            module.triton_dmattn_func(
                x(16, 4096, 64), x(4, 4096, 64), x(4, 4096, 64), x(4, 4096), places, is_causal=causal
            )
        )

    yield "chosen", lambda: chosen(True)


def recurrences():
    """Linear recurrences: 8 sequences of 2,048 tokens with 1,024 features; Mamba in a lesson, 8 of 1,024 with 256."""
    x = lambda: leaf(8, 2048, 1024, dtype=FP32)
    gate = lambda: unit(8, 2048, 1024, dtype=FP32)

    def scans(name, *inputs):
        fb(getattr(load("linear_rnn.scan_triton." + name[0]), name[1]).apply(*inputs))

    yield "complex", lambda: scans(("complex_rnn", "TritonSequentialScan_Complex"), x(), x(), gate(), gate())
    yield "tied", lambda: scans(("real_rnn_tie_input_gate", "TritonSequentialScan"), x(), gate())
    yield "tied_fused", lambda: scans(("real_rnn_tie_input_gate", "TritonSequentialScanFused"), x(), x())

    def lesson():
        """The lesson's functions, without what it does when it is read: it compares itself with Mamba's."""
        if "annotated_mamba" not in sys.modules:
            path = os.path.join(folder_of("unseen7/annmamba"), "final.py")
            with open(path) as f:
                text = f.read().partition("\nx, a, b, c, delta, extra = create()")[0]
            module = types.ModuleType("annotated_mamba")
            module.__file__ = path
            sys.modules["annotated_mamba"] = module
            with mock.patch.dict(sys.modules, selective_scan_cuda=types.ModuleType("selective_scan_cuda")):
                exec(compile(text, path, "exec"), module.__dict__)
        return sys.modules["annotated_mamba"]

    def mamba():
        module = lesson()
        x, a, b, c, delta, extra = module.create(S=2048, Ba=8, D=256, N=4, K=128)
        module.mamba(x, a, b, c, delta, extra, K=128, D_step=16)

    yield "lesson", mamba


def cases():
    for prefix, part in (
        ("both_", both_ways), ("triformer_", layers), ("optimiser_", optimisers), ("", products), ("polar_", places),
        ("jvp_", tangents), ("bias_", biases), ("recurrence_", recurrences),
    ):  # fmt: skip
        for name, case in part():
            yield prefix + name, case
