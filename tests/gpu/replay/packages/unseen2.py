"""A second choice of repositories none of whose kernels had been timed when they were chosen: stickbreaking-attention
3147a38, native-sparse-attention-pytorch 83fa271, ring-attention-pytorch 373f75b, flash-triangle-attention f90d79b,
modded-nanogpt f411b3d, dion 0a059a4, VMamba 2ed52ea, NeMo 8cfedd7 and transducer 8326393 here; thirteen more in
unseen2_jagged.py, unseen2_quantised.py, unseen2_models.py and unseen2_aiter.py.

Of each repository the `.py` files do. stickbreaking-attention's backward pass is left out, which Triton 3.6 does not
compile: its locked_add has a string as a default value. ring-attention-pytorch asks for Triton's version under the name
of its nightly builds. The order of atomic operations decides how some gradients of attention round: those of
native-sparse-attention-pytorch, flash-triangle-attention and modded-nanogpt."""

import contextlib
import functools
import importlib.metadata
import math
import types

import torch
import triton
import triton.language as tl

from packages import stand_ins, unseen2_aiter, unseen2_jagged, unseen2_models, unseen2_quantised
from packages.common import (
    D, FP16, FP32, BarePackages, fb, folder_of, fp8, full, ints, leaf, load, rand, starts, stub, whole,
)  # fmt: skip

PATHS = [
    "unseen2/" + name
    for name in (
        "stickbreaking", "nsa_pytorch", "ring", "triangle", "nanogpt", "dion", "vmamba/classification/models",
        "nemo/nemo/collections/asr/parts/k2", "nemo/nemo/collections/asr/parts/submodules/ngram_lm", "transducer",
        "fbgemm/fbgemm_gpu", "fbgemm/fbgemm_gpu/experimental/ikbo", "sae", "sparsetriton",
        "fbgemm/fbgemm_gpu/experimental/simplicial_attention", "coat", "xtuner", "awq", "seer", "sparge", "ttt",
        "verl", "openfold", "aiter",
        "hub/finegrained-fp8/torch-ext", "hub/esmfold2-trimul/torch-ext", "hub/deep-gemm/torch-ext",
    )
]  # fmt: skip
C = 4096


def bare(root, name):
    """Leaves out the __init__ files of a package, which would pull in the world."""
    BarePackages(root, folder_of("unseen2/" + name))


def constants(name, *globals):
    """The module, whose globals that are merely annotated as constants become such: Triton 3.6 asks for that."""
    module = load(name)
    for key in globals:
        setattr(module, key, tl.constexpr(getattr(module, key)))
    return module


def blocks_seen(count, batch, heads, length, block):
    """Of each query, distinct random blocks before its own, and whether it has so many."""
    own = torch.arange(length, device=D) // block
    scores = torch.rand(batch, heads, length, length // block, device=D)
    top = scores.masked_fill(torch.arange(length // block, device=D) >= own[:, None], -1.0).topk(count)
    return torch.where(top.values < 0, 0, top.indices), top.values >= 0


def attention():
    softplus = lambda: constants(
        "stickbreaking_attention.sb_varlen.softplus", "NUM_REG", "asm_str", "constraints_str"
    )

    def sticks(width, **kwargs):
        softplus()
        q = lambda: leaf(2, 16, 2048, width)
        load("stickbreaking_attention.sb_attn").sb_attn(q(), q(), q(), **kwargs)

    yield "stick_64", lambda: sticks(64)
    yield "stick_128", lambda: sticks(128, attend_current=True)

    def varlen():
        softplus()
        q = lambda: leaf(16, 4096, 64)
        load("stickbreaking_attention.sb_varlen").sb_attn_varlen(q(), q(), q(), starts(4, 1024), 1024)

    yield "stick_varlen", varlen

    def selected(heads, groups, width, sliding):
        bare("native_sparse_attention_pytorch", "nsa_pytorch")
        stub("native_sparse_attention_pytorch.tensor_typing", Float=Hint(), Int=Hint(), Bool=Hint())
        stub("einx")
        q = lambda h: leaf(1, h, 4096, width, dtype=FP16)
        indices, mask = blocks_seen(8, 1, groups, 4096, 64)
        out = load("native_sparse_attention_pytorch.triton_native_sparse_attention").native_sparse_attend(
            q(heads), q(groups), q(groups), 64, indices, mask, return_sliding_window_out=sliding
        )
        fb(out)

    yield "nsa2_64", lambda: selected(16, 4, 64, False)
    yield "nsa2_sliding", lambda: selected(16, 4, 128, True)

    def ring(bias=None, **kwargs):
        bare("ring_attention_pytorch", "ring")
        m = load("ring_attention_pytorch.triton_flash_attn")
        m.math = math  # which it does not import
        q = lambda: rand(2, 2048, 16, 64)
        x, k, v = q(), q(), q()
        out, _, sums = m.flash_attn_forward(
            x, k, v, bias=bias, return_normalized_output=True, load_accumulated=False, **kwargs
        )
        grads = [torch.zeros_like(t) for t in (x, k, v)]
        m.flash_attn_backward(q(), x, k, v, out, sums, *grads, bias=bias, **kwargs)

    yield "ring_causal", lambda: ring(causal=True)
    yield "ring_softclamp", lambda: ring(causal=True, softclamp_qk_sim=True)

    def triangle(length, width):
        stub("pytest", mark=types.SimpleNamespace(parametrize=lambda *a: lambda f: f))
        q = lambda: leaf(1, 4, length, length, width, dtype=FP16, scale=0.5)
        bias = leaf(1, 4, length, length, dtype=FP16)
        fb(constants("flash_tt_attn", "INV_LN2", "LN2").attention(q(), q(), q(), bias, width**-0.5))

    yield "triangle_256", lambda: triangle(256, 32)


def version(known, name):
    """Triton's version under either of its names, installed or not."""
    return triton.__version__ if name in ("triton", "triton-nightly") else known(name)


class Hint:
    """A type of jaxtyping, of any name and shape."""

    def __getitem__(self, key):
        return torch.Tensor


def optimisers():
    """Matrices of GPT-2's and a 1B model's sizes: modded-nanogpt and Microsoft's dion."""

    @contextlib.contextmanager
    def without_nvrtc():
        """modded-nanogpt compiles a CUDA kernel when it is imported."""

        class Kernel:
            def set_shared_memory_config(self, size):
                pass

        known = torch.cuda._compile_kernel
        torch.cuda._compile_kernel = lambda *a, **k: Kernel()
        try:
            yield
        finally:
            torch.cuda._compile_kernel = known

    def nano():
        with without_nvrtc():
            return load("triton_kernels")

    square = lambda: rand(12, 768, 768, scale=0.05)
    yield "nanogpt_xxt", lambda: nano().XXT(rand(12, 768, 3072, scale=0.05), square())
    yield "nanogpt_xtx", lambda: nano().XTX(rand(12, 3072, 768, scale=0.05), square())
    yield "nanogpt_polynomial", lambda: nano().ba_plus_cAA(square(), 2.0, -1.5, square())
    yield "nanogpt_relu_square", lambda: fb(
        nano().FusedLinearReLUSquareFunction.apply(leaf(16384, 768), leaf(3072, 768), leaf(3072, 768))
    )
    yield "nanogpt_relu_square_fp8", lambda: nano().linear_relu_square(
        rand(16384, 768), rand(3072, 768), a_f8=fp8(16384, 768), b_f8=fp8(3072, 768),
        dequant_scale_ptr=full(0.01, 1, dtype=FP32), activation_scale=full(1.0, 1, dtype=FP32),
        partial_amax=torch.zeros(256, device=D),
    )  # fmt: skip

    def weights():
        layers, hidden, width = 12, 3072, 768
        used = full(0.02, layers, dtype=FP32)
        nano().quantize_transpose_mlp_down_weights(
            rand(layers, hidden, width), fp8(layers, width, hidden), used.clone(), used,
            torch.zeros(layers, (hidden // 64) * (width // 64), device=D),
        )  # fmt: skip

    yield "nanogpt_quantize", weights
    yield "nanogpt_transpose", lambda: nano().transpose_copy(rand(50304, 768), rand(768, 50304))
    yield "nanogpt_transpose_add", lambda: nano().transpose_add(rand(50304, 768), rand(768, 50304))

    def corrected():
        """Attention in a window of 112 tokens whose heads' weights are mixed; 8 documents."""
        tokens = 16384
        q, w = lambda: leaf(1, tokens, 6, 128), lambda: leaf(1, tokens, 6)
        fb(
            load("dc_triton_kernels").dc_attention_postonly_nodd_correction_add_base_triton(
                leaf(tokens, 6, 128), q(), q(), q(), (w(), w()), None, 128**-0.5, 112, starts(8, tokens // 8)
            )
        )

    yield "nanogpt_corrected", corrected

    def module(name):
        bare("dion", "dion")
        return load("dion." + name)

    yield "dion_newton_schulz", lambda: module("newton_schulz_triton").newton_schulz_triton(rand(2048, 5632))
    yield "dion_newton_schulz_fast", lambda: module("newton_schulz_triton").newton_schulz_triton_fast(
        rand(8, 1024, 4096)
    )

    def update(dim):
        x, chosen = rand(C, C, dtype=FP32), torch.rand(C, device=D).topk(C // 4).indices
        u = rand(C // 4, C) if dim == -2 else rand(C, C // 4)
        rates = (torch.tensor(value, device=D) for value in (0.01, 0.02, 0.1))
        module("dion2_triton").dion2_post_orthogonalize_triton([x], [u], [chosen], *rates, dim)

    yield "dion_update_rows", lambda: update(-2)
    yield "dion_update_columns", lambda: update(-1)


def speech():
    """NeMo's and transducer's losses of speech recognition, a language model of n-grams, VMamba's scans of images."""

    def logprobs():
        m = load("rnnt_logprobs_triton")
        fb(m.rnnt_logprobs_triton(leaf(8, 128, 33, 1025, dtype=FP32), ints(1024, 8, 32), 1024, None, None))

    yield "nemo_rnnt_logprobs", logprobs

    def ngrams(batch=256, states=20000, each=64, vocabulary=1024):
        """State 0 has an arc of every token; each other state has 64, and falls back to a state before it."""
        offsets = torch.arange(states, device=D) * each + vocabulary - each
        first = torch.where(torch.arange(states, device=D) == 0, 0, offsets)
        arcs = vocabulary + (states - 1) * each
        labels = (ints(vocabulary, states - 1, 1) + torch.arange(each, device=D) * 7) % vocabulary
        labels = torch.cat([torch.arange(vocabulary, device=D), labels.flatten()])
        load("ngram_lm_triton").ngram_advance_triton_kernel[(batch,)](
            vocab_size=vocabulary, states_ptr=ints(states, batch), new_states_ptr=ints(1, batch, vocabulary),
            scores_ptr=rand(batch, vocabulary, dtype=FP32), start_state=0, to_states_ptr=ints(states, arcs),
            ilabels_ptr=labels, arcs_weights_ptr=rand(arcs, dtype=FP32),
            start_end_arcs_ptr=torch.stack([first, offsets + each], 1),
            backoff_to_states_ptr=torch.arange(states, device=D) // 8, backoff_weights_ptr=rand(states, dtype=FP32),
            BLOCK_SIZE=vocabulary,
        )  # fmt: skip

    yield "nemo_ngrams", ngrams
    losses = lambda name: load("transducer.kernels.triton_kernels." + name)

    def transducer(duration):
        bare("transducer", "transducer")
        batch, frames, labels, vocabulary = 16, 24 if duration else 48, 17, 1025
        acts = rand(batch, frames, labels, vocabulary, dtype=FP32)
        words = (whole(1024, batch, labels - 1), full(frames, batch), full(labels - 1, batch), 1024)
        if duration:
            sizes = rand(batch, frames, labels, 5, dtype=FP32).log_softmax(-1)
            losses("tdt").tdt_loss_triton(acts, sizes, *words, [0, 1, 2, 3, 4], 0.0, 0.0, 0.05, 0.0)
        else:
            losses("rnnt").rnnt_loss_triton(acts, *words, 0.001, 0.0)

    for duration in (False, True):
        yield "transducer_tdt" if duration else "transducer_rnnt", lambda d=duration: transducer(d)
    scans = lambda: load("csm_triton")
    for dtype in (FP32, FP16):
        yield f"vmamba_scan_{str(dtype)[6:]}", lambda d=dtype: fb(scans().CrossScanTritonF.apply(
            leaf(64, 192, 56, 56, dtype=d)
        ))
    yield "vmamba_merge_last", lambda: fb(
        scans().CrossMergeTritonF.apply(leaf(64, 56, 56, 4, 96, dtype=FP16), False, False)
    )


def cases():
    stand_ins.install()
    torch._dynamo.config.disable = True
    importlib.metadata.version = functools.partial(version, importlib.metadata.version)
    for part in (attention, optimisers, speech):
        yield from part()
    yield from unseen2_jagged.cases()
    yield from unseen2_quantised.cases()
    yield from unseen2_models.cases()
    yield from unseen2_aiter.cases()
