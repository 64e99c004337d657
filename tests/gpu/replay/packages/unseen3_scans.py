"""Recurrences, scans and row-wise kernels of `unseen3`: xopes 1dfa3df, flash-bidirectional-linear-attention dd22276,
log-linear-attention 7f86441 and Jet-Nemotron 94cbd12.

Of xopes about a third of the kernels run: most operators of it have several versions. Triton 3.6 does not compile the
backward pass of its grpe. Its multinomial kernels draw random numbers.
For what log-linear-attention takes from flash-linear-attention there are stand-ins."""

import math

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from packages.common import (
    D, FP16, FP32, BarePackages, fb, folder_of, gate, ints, leaf, load, rand, starts, stub, unit,
)  # fmt: skip

B, T, H, K = 4, 2048, 16, 128


def heads(width=K, dtype=None):
    return leaf(B, T, H, width, scale=0.5, **({"dtype": dtype} if dtype else {}))


def ops(name):
    return load("xopes.ops." + name)


def rows_of_xopes():
    rows = lambda *shape: leaf(*(shape or (8192, 4096)))
    yield (
        "linear_cross_entropy",
        lambda: fb(
            ops("linear_cross_entropy.lce_triton").linear_cross_entropy_triton(
                leaf(4096, 2048, scale=0.05), ints(32768, 4096), leaf(32768, 2048, scale=0.05)
            )
        ),
    )
    yield "householder", lambda: fb(ops("householder.householder_triton").householder_triton(rows(), rows()))
    yield (
        "gate_linear",
        lambda: fb(
            ops("gate_linear.gate_linear_triton").gate_linear_triton(rows(), rows(), leaf(4096, 4096), act="silu")
        ),
    )
    yield (
        "normalize",
        lambda: fb(
            ops("normalize.normalize.normalize_triton").normalize_triton(
                rows(),
                rows(4096),
                rows(4096),
                gate=rows(),
                gate_act="silu",
                use_mean=True,
                num_groups=8,
                c=math.sqrt(512),
            )
        ),
    )
    sums = lambda name: ops("cumsum." + name)
    yield "cumsum_middle", lambda: sums("cumsum.cumsum_no_reshape_triton").cumsum_no_reshape_triton(rows(B, T, 2048), 1)
    yield (
        "chunk_cumsum_reduce",
        lambda: sums("chunk_cumsum_reduce.chunk_cumsum_reduce_triton").chunk_cumsum_reduce_triton(
            rand(1024, 8192, dtype=FP32)
        ),
    )
    yield (
        "chunk_cumsum_decay",
        lambda: sums("chunk_cumsum_decay.chunk_cumsum_decay_triton").chunk_cumsum_decay_triton(gate(B, T, H, K)),
    )
    yield (
        "logcumsumexp",
        lambda: fb(ops("logcumsumexp.lcse_parallel_triton").lcse_parallel_triton(leaf(2048, 4096, dtype=FP32))),
    )
    lrpe = lambda name: getattr(ops("lrpe." + name), name.rpartition(".")[2])
    yield (
        "lrpe_rotate",
        lambda: fb(lrpe("rotate._1d.lrpe_rotate_1d_sp_triton")(heads(), rand(H, K // 2, dtype=FP32), act="silu")),
    )
    yield (
        "lrpe_cosine",
        lambda: fb(
            lrpe("cosine._md.lrpe_cosine_md_bp_triton")(
                leaf(B, H, 1024, 64), rand(H, 32, dtype=FP32), (32, 32), act="silu"
            )
        ),
    )
    draws = lambda name: getattr(ops("multinomial." + name), name)
    hidden = lambda: (rand(64, 2048), rand(2048, 32768, scale=0.02), 1)
    for name in ("online_multinomial_triton", "parallel_multinomial_triton", "parallel_gumbel_multinomial_triton"):
        yield name, lambda n=name: draws(n)(*hidden())
    yield (
        "inverse_jacobian",
        lambda: ops("inverse.jacobian.inverse_jacobian_triton").inverse_jacobian_triton(
            rand(B, H, T // 64, 64, 64, dtype=FP32, scale=0.1).tril(-1) + torch.eye(64, device=D)
        ),
    )


def recurrences_of_xopes():
    linear = lambda name: getattr(ops("lightning_attn." + name), name.rpartition(".")[2])
    scalar = lambda: gate(B, T, H)
    yield "scalar", lambda: fb(linear("scalar_decay.lasd_parallel_triton")(heads(), heads(), heads(), scalar()))
    near = lambda: F.normalize(rand(B, T, H, 64), dim=-1).requires_grad_()
    yield (
        "kernel_regression",
        lambda: fb(
            ops("kernel_regression.causal_linear.krcl_parallel_triton").krcl_parallel_triton(
                near(), near(), heads(64), scalar(), unit(B, T, H), unit(B, T, H)
            )
        ),
    )
    first = lambda width=K: leaf(B, H, 1024, width, scale=0.5)
    yield "grpe", lambda: ops("grpe.recurrence_triton").grpe_recurrence_triton(
        first(), first(), first(64), unit(B, H, 1024, K), unit(B, H, 1024),
        F.normalize(rand(B, H, 1024, K), dim=-1).requires_grad_(),
    )  # fmt: skip
    short = lambda *shape: rand(B, *shape)
    yield (
        "tensor_product_attention",
        lambda: ops("flash_attn.tpa.tpa_decode_triton").tpa_decode_parallel_bn_triton(
            short(1, 32, 16), short(8192, 32), short(8192, 32), short(1, 16, K), short(8192, K), short(8192, 64)
        ),
    )


def bidirectional():
    """Linear attention over all patches of images: 8 of 64 by 64."""
    q = lambda width=64: leaf(8, 12, 4096, width, dtype=FP16, scale=0.3)
    bla = lambda name: load("flash_bla.ops." + name)
    positive = lambda: F.relu(rand(8, 12, 4096, 64, dtype=FP16)).detach().requires_grad_()
    yield "bla_linear", lambda: fb(bla("linear_attn.fused").linear_attention(positive(), positive(), q()))
    flat = lambda: F.relu(rand(16384, 12, 64)).detach().requires_grad_()
    yield (
        "bla_varlen",
        lambda: fb(bla("linear_attn.varlen").varlen_linear_attention(flat(), flat(), flat(), starts(8, 2048), 2048)),
    )
    yield "bla_chunks", lambda: bla("piecewise_attn.kernel").chunk_reduce(q(K), q(K), q(K), 64)
    yield "bla_piecewise", lambda: bla("piecewise_attn.kernel").piecewise_sparse_attention(q(K), q(K), q(K))


def chunk_sums(x, size=64, reverse=False, **kwargs):
    """What fla sums along time in chunks."""
    parts = x.float().view(x.shape[0], -1, size, *x.shape[2:])
    return (parts.flip(2).cumsum(2).flip(2) if reverse else parts.cumsum(2)).view(x.shape)


def levels(length, device, **kwargs):
    """The level of each pair of tokens in a binary tree; log-linear-attention computes it pair by pair."""
    t = torch.arange(length, device=device)
    return torch.where(t[:, None] > t, torch.log2((t[:, None] ^ t).float()).floor() + 1, 0).long()


def log_linear():
    def hattention(name):
        stub("jaxtyping", Float=Hint(), Int=Hint(), Bool=Hint())
        stub("fla")
        stub("fla.ops")
        stub("fla.ops.utils", chunk_local_cumsum=chunk_sums, chunk_global_cumsum=chunk_sums)
        stub("fla.ops.utils.op", safe_exp=safe_exp)
        BarePackages("hattention", folder_of("unseen3/loglinear"))
        load("hattention.autotune").autotune = lambda **kwargs: lambda f: f  # of host functions, whose sizes are given
        m = load("hattention." + name)
        m.make_levels_matrix = levels
        return m

    def inputs(length, count):
        q = lambda n=1, width=K: rand(1, length, n, width, scale=0.3)
        weights = torch.rand(1, length, count, int(math.log2(length)) + 1, device=D)
        return q(), q(), q(count, 64), -torch.rand(1, length, count, device=D), weights

    def parallel(length=16384, count=4):  # the only length that the repository has code for
        m, a = hattention("parallel"), inputs(length, count)
        sizes = dict(head_first=False, level_base=2, block_size_K=64, block_size_V=64, chunk_size_T=64, chunk_size_S=64)
        m.parallel_fwd(*a, **sizes)
        m.parallel_bwd(*a, rand(1, length, count, 64), **sizes)

    yield "hattention_parallel", parallel

    def chunkwise(length=8192):
        base, m, a = hattention("base"), hattention("chunkwise"), inputs(length, H)
        sizes = dict(head_first=False, level_base=2, htype=base.HType.WEAK, chunk_size=64)
        m.chunkwise_fwd(*a, **sizes, output_final_state=False)
        m.chunkwise_bwd(*a, rand(1, length, H, 64), **sizes, block_size_K=64, block_size_V=64)

    yield "hattention_chunkwise", chunkwise


@triton.jit
def safe_exp(x):
    """fla's exponential of what is not positive."""
    return tl.exp(tl.where(x <= 0, x, float("-inf")))


class Hint:
    """A type of jaxtyping, of any name and shape."""

    def __getitem__(self, key):
        return torch.Tensor


def convolutions():
    """Jet-Nemotron's convolutions whose taps depend on the token: four taps for each of 3,072 channels."""
    jet = lambda name: load(name)
    yield (
        "jet_conv",
        lambda: fb(jet("dconv_fwdbwd").dynamic_conv_triton_autograd(leaf(2, 4096, 3072), leaf(2, 4096, 3072, 4))),
    )
    yield (
        "jet_conv_varlen",
        lambda: jet("dconv_fwdbwd").DynamicConvTritonFunc.apply(
            rand(1, 4096, 3072), rand(1, 4096, 3072, 4), starts(8, 512)
        ),
    )
    yield (
        "jet_conv_cache",
        lambda: jet("dconv_fwd_cache").dynamic_conv_triton_cache(
            rand(2, 4096, 3072), rand(2, 4096, 3072, 4), rand(2, 3, 3072)
        ),
    )
    yield (
        "jet_conv_step",
        lambda: jet("dconv_step").causal_conv_step_triton(rand(128, 1, 3072), rand(128, 3072, 4), rand(128, 3072, 4)),
    )


def cases():
    for part in (rows_of_xopes, recurrences_of_xopes):
        for name, case in part():
            yield "xopes_" + name, case
    for part in (bidirectional, log_linear, convolutions):
        yield from part()
