"""flag_gems 5.0.2: PyTorch's operators as Triton kernels, called directly, on 8,192 tokens of 4,096 features.

Needs PyYAML as well, installed or unpacked beside it (pyyaml)."""

import itertools
import os
import sys
import tempfile
import types

import torch

from packages import stand_ins
from packages.common import BF16, D, FP16, FP32, fb, ints, rand

PATHS = ["flag_gems", "pyyaml"]
N, H = 8192, 4096
KINDS = (BF16, FP32, FP16)
UNARY = """abs acos angle arcsinh atan ceil celu cos cosh elu erf exp exp2 expm1 floor_ gelu hardsigmoid hardswish_ i0
    isfinite isinf isnan isneginf log log10 log1p_ log_sigmoid logical_not logit neg nan_to_num reciprocal relu
    relu6 round rsqrt selu sgn_ sigmoid signbit silu sin sinh_ softplus softshrink special_i1 special_i0e sqrt
    square tan tanh digamma_ arctanh_ contiguous zeros_like ones_like rand_like randn_like normal_ uniform_
    exponential_ bernoulli_ t_copy""".split()
EXPERIMENTAL = (
    """amin erfinv fix frac hardshrink hardtanh leaky_relu log2_ rad2deg_ sgn sign sinc trunc deg2rad""".split()
)
BINARY = """add sub mul true_divide floor_divide remainder atan2 copysign fmin hypot logaddexp maximum minimum polar eq
    ne lt le gt ge greater isclose logical_and logical_or logical_xor pow_tensor_tensor mse_loss
    soft_margin_loss silu_and_mul gelu_and_mul silu_backward sigmoid_backward tanh_backward gelu_backward""".split()
SCALAR = """eq_scalar ge_scalar greater_scalar gt_scalar le_scalar lt_scalar ne_scalar pow_tensor_scalar clamp_min
    fill_scalar""".split()
INTEGER = """bitwise_and_tensor bitwise_or_tensor""".split()
ROWS = (
    """sum_dim mean_dim prod_dim amax argmax argmin max_dim min_dim all_dim any_dim cumsum cummax cummin normed_cumsum
    count_nonzero vector_norm var_mean softmax log_softmax glu""".split()
)
AXES = ("sum_dim", "mean_dim", "amax", "vector_norm", "var_mean")  # these take a list of axes
WHOLE = """sum mean prod max min all any argmax argmin amax trace vector_norm std aminmax""".split()


def load():
    """The package, its data base of tuned configurations in memory, its tuner and its launch cache out of the way."""
    stand_ins.install()
    os.environ.setdefault("GEMS_VENDOR", "nvidia")
    os.environ.setdefault("FLAGGEMS_CACHE_DIR", tempfile.mkdtemp(prefix="flaggems"))
    models = types.ModuleType("flag_gems.utils.models")

    class Memory:
        def __init__(self, *_):
            self.kept = {}

        def get_config(self, name, key):
            return self.kept.get((name, key))

        def put_config(self, name, key, config):
            self.kept[name, key] = config

        def get_benchmark(self, name, key, config):
            return None

        def put_benchmark(self, name, key, config, times):
            pass

    models.PersistantModel = models.SQLPersistantModel = Memory
    sys.modules["flag_gems.utils.models"] = models
    import flag_gems
    import triton
    from flag_gems.utils.libentry import LibEntry, LibTuner

    LibTuner.run = lambda self, *args, **kwargs: triton.runtime.Autotuner.run(self, *args, **kwargs)
    LibEntry.run = lambda self, *args, **kwargs: (self.fn.run(*args, **kwargs), {})
    return flag_gems


def pointwise(g):
    kinds = itertools.cycle(KINDS)
    x = lambda dtype: rand(N, H, dtype=dtype)
    for name in UNARY:
        yield name, lambda f=getattr(g, name), t=next(kinds): f(x(t))
    for name in EXPERIMENTAL:
        f = getattr(g.experimental_ops, name, None)
        if callable(f):
            yield "experimental_" + name, lambda f=f, t=next(kinds): f(x(t))
    for name in BINARY:
        kind = FP32 if name == "polar" else next(kinds)
        yield name, lambda f=getattr(g, name), t=kind: f(x(t), x(t))
    for name in SCALAR:
        yield name, lambda f=getattr(g, name), t=next(kinds): f(x(t), 2)
    for name in INTEGER:
        yield name, lambda f=getattr(g, name): f(ints(8, N, H, dtype=torch.int32), ints(8, N, H, dtype=torch.int32))
    for name in ("bitwise_left_shift", "bitwise_right_shift"):
        f = vars(sys.modules["flag_gems.ops." + name])[name + "_kernel"]
        yield name, lambda f=f: f(ints(8, N, H, dtype=torch.int32), ints(8, N, H, dtype=torch.int32))
    yield "bitwise_not", lambda: g.bitwise_not(ints(9, N, H, dtype=torch.int32))
    yield "add_broadcast", lambda: g.add(x(BF16), rand(H))
    yield "add_transposed", lambda: g.add(rand(H, H).t(), rand(H, H))
    yield "mul_scalar", lambda: g.mul(x(BF16), 0.5)
    yield "div_mode", lambda: g.div_mode(x(FP32), x(FP32), rounding_mode="trunc")
    yield "addcdiv", lambda: g.addcdiv(x(FP32), x(FP32), x(FP32))
    yield "addcmul", lambda: g.addcmul(x(BF16), x(BF16), x(BF16), value=0.5)
    yield "clamp", lambda: g.clamp(x(BF16), -1.0, 1.0)
    yield "clamp_tensor", lambda: g.clamp_tensor(x(FP32), x(FP32), x(FP32))
    yield "where", lambda: g.where_self(x(FP32) > 0, x(BF16), x(BF16))
    yield "lerp", lambda: (g.lerp_scalar(x(BF16), x(BF16), 0.3), g.lerp_tensor(x(FP32), x(FP32), x(FP32)))
    yield "masked_fill", lambda: g.masked_fill(x(BF16), x(FP32) > 0, 0.0)
    yield "prelu", lambda: g.prelu(x(BF16), rand(H))
    yield "threshold", lambda: (g.threshold(x(BF16), 0.1, 2.0), g.threshold_backward(x(BF16), x(BF16), 0.1))
    yield "elu_backward", lambda: g.elu_backward(x(BF16), 1.0, 1.0, 1.0, False, x(BF16))
    yield "dropout", lambda: (g.dropout(x(BF16), 0.1), g.dropout_backward(x(BF16), x(FP32) > 0, 1.25))
    yield "rrelu_backward", lambda: g.rrelu_with_noise_backward(x(BF16), x(BF16), x(BF16), 0.1, 0.3, True)
    yield "to_copy", lambda: g.to_copy(x(BF16), dtype=FP32)
    yield "margin_ranking", lambda: g.margin_ranking_loss(
        rand(N * H, dtype=FP32), rand(N * H, dtype=FP32), rand(N * H, dtype=FP32).sign()
    )
    for name in ("geglu", "reglu", "swiglu"):
        yield name, lambda f=getattr(g, name): f(rand(N, 2 * H))
        yield "d" + name, lambda f=getattr(g, "d" + name): f(rand(N, H), rand(N, 2 * H))


def reductions(g):
    kinds = itertools.cycle(KINDS)
    for name in ROWS:
        f, t = getattr(g, name), next(kinds)
        last = dict(half_to_float=False) if "softmax" in name else {}
        axis = [1] if name in AXES else 1
        yield name, lambda f=f, t=t, last=last, axis=axis: f(rand(N, H, dtype=t), dim=axis, **last)
    for name in ("sum_dim", "argmax", "softmax", "cumsum", "max_dim", "amax"):
        last = dict(half_to_float=False) if "softmax" in name else {}
        yield name + "_columns", lambda f=getattr(g, name), last=last, axis=[0] if name in AXES else 0: f(
            rand(N, H), axis, **last
        )
    for name in WHOLE:
        yield name + "_whole", lambda f=getattr(g, name): f(rand(H, H, dtype=FP32))
    yield "softmax_backward", lambda: g.softmax_backward(rand(N, H), rand(N, H), -1, BF16)
    yield "log_softmax_backward", lambda: g.log_softmax_backward(rand(N, 32768), rand(N, 32768), -1, BF16)
    yield "scaled_softmax", lambda: g.scaled_softmax_forward(rand(4, 16, 1024, 1024), 0.1)
    yield "scaled_softmax_backward", lambda: g.scaled_softmax_backward(
        rand(4, 16, 1024, 1024), rand(4, 16, 1024, 1024), 0.1
    )
    yield "dot", lambda: (
        g.dot(rand(1 << 24, dtype=FP32), rand(1 << 24, dtype=FP32)),
        g.vdot(rand(1 << 24, dtype=FP32), rand(1 << 24, dtype=FP32)),
    )
    yield "glu_backward", lambda: g.glu_backward(rand(N, H // 2), rand(N, H))
    yield "nll_loss", lambda: g.nll_loss_forward(rand(N, 32768, dtype=FP32), ints(32768, N))
    yield "nll_loss_backward", lambda: g.nll_loss_backward(
        rand(dtype=FP32), rand(N, 32768, dtype=FP32), ints(32768, N), None, 1, -100, rand(dtype=FP32)
    )
    yield "cross_entropy", lambda: g.cross_entropy_loss(
        rand(4096, 32768).requires_grad_(), ints(32768, 4096)
    ).backward()
    yield "quantile", lambda: g.quantile(rand(1024, H, dtype=FP32), torch.tensor([0.1, 0.5], device=D), dim=-1)


def norms(g):
    x = lambda: rand(N, H)
    w = lambda: rand(H)
    yield "layer_norm", lambda: g.layer_norm(x(), [H], w(), w())
    yield "layer_norm_backward", lambda: g.layer_norm_backward(
        x(), x(), [H], rand(N, dtype=FP32), rand(N, dtype=FP32), w(), w(), [True] * 3
    )
    yield "rms_norm", lambda: g.rms_norm_forward(x(), [H], w())
    yield "rms_norm_backward", lambda: g.rms_norm_backward(x(), x(), rand(N, dtype=FP32), [H], w())
    yield "fused_add_rms_norm", lambda: g.fused_add_rms_norm(x(), x(), [H], w())
    yield "skip_layer_norm", lambda: g.skip_layer_norm(x(), x(), [H], w(), w())
    image = lambda: rand(32, 256, 56, 56, dtype=FP32)
    channels = lambda: rand(256, dtype=FP32)
    yield "group_norm", lambda: g.group_norm(image(), channels(), channels(), 32, 256, 56 * 56, 32)
    yield "group_norm_backward", lambda: g.group_norm_backward(
        image(),
        image(),
        rand(32, 32, dtype=FP32),
        rand(32, 32, dtype=FP32),
        channels(),
        32,
        256,
        56 * 56,
        32,
        [True] * 3,
    )
    yield "batch_norm", lambda: g.batch_norm(
        image(), channels(), channels(), channels(), channels().abs(), training=True
    )
    yield "batch_norm_backward", lambda: g.batch_norm_backward(
        image(), image(), channels(), channels(), channels(), channels(), channels(), True, 1e-5, [True] * 3
    )
    yield "instance_norm", lambda: g.instance_norm(image(), channels(), channels())
    yield "weight_norm", lambda: g.weight_norm_interface(rand(H, H), rand(H, 1))


def products(g):
    a = lambda *shape: rand(*(shape or (H, H)))
    yield "mm", lambda: (g.mm(a(), a()), g.mm(a().half(), a().half().t()))
    yield "mm_fp32", lambda: g.mm(rand(2048, 2048, dtype=FP32), rand(2048, 2048, dtype=FP32))
    yield "mm_skinny", lambda: g.mm(a(16, H), a())
    yield "addmm", lambda: g.addmm(a(H), a(), a())
    yield "bmm", lambda: g.bmm(a(32, 1024, 128), a(32, 128, 1024))
    yield "baddbmm", lambda: g.baddbmm(a(32, 1024, 1024), a(32, 1024, 128), a(32, 128, 1024))
    yield "mv", lambda: (g.mv(a(), a(H)), g.addmv(a(H), a(), a(H)))
    yield "outer", lambda: (g.outer(a(H), a(H)), g.addr(a(), a(H), a(H)))
    yield "kron", lambda: g.kron(rand(64, 64, dtype=FP32), rand(64, 64, dtype=FP32))
    fp8 = lambda *shape: rand(*shape).to(torch.float8_e4m3fn)
    scale = lambda *shape: rand(*shape, dtype=FP32).abs()
    yield "w8a8_block_fp8", lambda: g.w8a8_block_fp8_matmul(
        fp8(N, H), fp8(H, H), scale(N, 32), scale(32, 32), [128, 128]
    )
    yield "fp8_matmul", lambda: g.fp8_matmul(fp8(N, H), scale(N, 32), fp8(H, H), scale(32, 32))
    yield "group_mm", lambda: g.group_mm(
        a(N, H), a(8, H, H), torch.arange(1024, N + 1, 1024, device=D, dtype=torch.int32)
    )
    yield "hadamard", lambda: g.hadamard_transform(a(N, H))
    yield "sdpa", lambda: g.scaled_dot_product_attention(
        a(2, 16, 2048, 128), a(2, 16, 2048, 128), a(2, 16, 2048, 128), is_causal=True
    )
    grad = lambda *shape: rand(*shape, dtype=FP16).requires_grad_()
    yield "sdpa_backward", lambda: fb(g.ScaleDotProductAttention.apply(*(grad(2, 16, 2048, 64) for _ in range(3))))
    yield "flash_forward", lambda: g.flash_attention_forward(
        a(2, 2048, 16, 128), a(2, 2048, 16, 128), a(2, 2048, 16, 128), None, None, 2048, 2048, 0.0, True, False
    )
    yield "conv1d", lambda: g.conv1d(a(8, 256, 4096), a(256, 256, 3), padding=1)
    yield "conv2d", lambda: g.conv2d(rand(32, 128, 56, 56, dtype=FP16), rand(128, 128, 3, 3, dtype=FP16), padding=1)
    yield "conv3d", lambda: g.conv3d(rand(2, 64, 16, 56, 56, dtype=FP16), rand(64, 64, 3, 3, 3, dtype=FP16), padding=1)
    yield "conv_depthwise", lambda: g._conv_depthwise2d(
        rand(32, 256, 56, 56, dtype=FP16), rand(256, 1, 3, 3, dtype=FP16), (3, 3), None, (1, 1), (1, 1), (1, 1)
    )


def shapes(g):
    x = lambda dtype=BF16: rand(H, H, dtype=dtype)
    image = lambda: rand(16, 64, 112, 112, dtype=FP32)
    yield "cat", lambda: (g.cat([x(), x()], 1), g.hstack([x(), x()]), g.vstack([x(), x()]), g.stack([x(), x()], 0))
    yield "copies", lambda: (g.flip(x(), [1]), g.roll(x(), 3, 1), g.repeat(x(), (2, 2)), g.tile(x(), (2, 2)))
    yield "repeat_interleave", lambda: g.repeat_interleave_self_int(x(), 2, 1)
    yield "triangles", lambda: (g.tril(x()), g.triu(x()), g.diag(rand(H)), g.diag_embed(rand(64, 128)))
    yield "pad", lambda: (g.pad(x(), (1, 2, 3, 4)), g.pad(image(), (1, 1), "reflect"))
    yield "pads", lambda: (
        g.reflection_pad2d(image(), (1, 1, 1, 1)),
        g.reflection_pad1d(rand(64, 512, 512), (2, 2)),
        g.replication_pad1d(rand(64, 512, 512), (2, 2)),
    )
    yield "fills", lambda: (
        g.full([N, H], 2.0, device=D),
        g.zeros([N, H], device=D),
        g.ones([N, H], device=D),
        g.arange(1 << 24, device=D),
        g.linspace(0, 1, 1 << 24, device=D),
        g.eye(H, device=D),
    )
    yield "random", lambda: (g.rand([N, H], device=D), g.randn([N, H], device=D))
    yield "randperm", lambda: g.randperm(1 << 20, device=D)
    yield "slices", lambda: (
        g.select_scatter(x(), rand(H), 0, 5),
        g.slice_scatter(x(), rand(H, H // 2), 1, 0, H // 2, 1),
        g.slice_backward(x(), [H, 2 * H], 1, 0, H, 1),
    )
    yield "pixel_unshuffle", lambda: g.pixel_unshuffle(image(), 2)
    yield "upsample_bicubic", lambda: (
        g.upsample_bicubic2d(image(), [224, 224]),
        g._upsample_bicubic2d_aa(image(), [224, 224], False, None, None),
    )
    yield "upsample_nearest", lambda: (
        g.upsample_nearest2d(image(), (224, 224)),
        g.upsample_nearest1d(rand(64, 512, 512), (1024,)),
        g.upsample_nearest3d(rand(2, 32, 16, 56, 56), (32, 112, 112)),
    )
    yield "upsample_linear", lambda: g.upsample_linear1d(rand(64, 512, 512, dtype=FP32), [1024], False)
    yield "max_pool", lambda: g.max_pool2d_with_indices(image(), 3, 2, 1)
    yield "max_pool_backward", lambda: g.max_pool2d_backward(
        rand(16, 64, 56, 56, dtype=FP32), image(), ints(99, 16, 64, 56, 56), 3, 2, 1, 1, False
    )
    yield "avg_pool", lambda: (
        g.avg_pool2d(image(), 3, 2, 1),
        g.avg_pool2d_backward(rand(16, 64, 56, 56, dtype=FP32), image(), [3, 3], [2, 2], [1, 1], False, True, None),
    )


def indexing(g):
    x = lambda dtype=BF16: rand(H, H, dtype=dtype)
    columns = lambda: ints(H, H, H)
    yield "embedding", lambda: (
        g.embedding(rand(32768, H), ints(32768, N)),
        g.embedding_dense_backward(rand(N, H), ints(32768, N), 32768, -1, False),
    )
    yield "index_select", lambda: g.index_select(x(), 0, ints(H, H))
    yield "gather", lambda: (g.gather(x(), 1, columns()), g.gather(x(), 0, columns()))
    yield "scatter", lambda: (
        g.scatter(x(), 1, columns(), x()),
        g.scatter(x(FP32), 1, columns(), x(FP32), reduce="add"),
    )
    yield "scatter_add", lambda: g.scatter_add_(x(FP32), 1, columns(), x(FP32))
    yield "index", lambda: g.index(x(), [ints(H, 8192)])
    yield "index_put", lambda: g.index_put(x(), [ints(H, 8192)], rand(8192, H))
    yield "index_add", lambda: g.index_add(x(FP32), 0, torch.randperm(H, device=D), x(FP32))
    yield "masked_select", lambda: g.masked_select(x(), x() > 0)
    yield "masked_scatter", lambda: g.masked_scatter(x(), x() > 0, rand(H * H))
    yield "nonzero", lambda: g.nonzero(x() > 0)
    yield "isin", lambda: g.isin(ints(1 << 20, 1 << 20), ints(1 << 20, 1024))
    yield "unique", lambda: g._unique2(ints(9999, 1 << 20), True, True, True)
    yield "one_hot", lambda: g.one_hot(ints(1000, N), 1000)
    yield "sort", lambda: (g.sort(rand(1024, 4096)), g.sort(rand(64, 65536, dtype=FP32)))
    yield "topk", lambda: (g.topk(rand(4096, 128, dtype=FP32), 8), g.topk(rand(64, 32768, dtype=FP32), 50))
    yield "multinomial", lambda: g.multinomial(rand(64, 32768, dtype=FP32).abs(), 1, True)
    yield "bincount", lambda: g.bincount(ints(1000, 1 << 20), minlength=1000)


def inference(g):
    q = lambda heads: rand(N, heads, 128)
    by_sequence = lambda heads: rand(2, N // 2, heads, 128)
    angles = lambda: rand(N, 64, dtype=FP32)
    yield "rotary", lambda: g.apply_rotary_pos_emb(by_sequence(32), by_sequence(8), angles(), angles())
    yield "topk_softmax", lambda: g.topk_softmax(
        rand(N, 8, dtype=FP32),
        ints(9, N, 8, dtype=torch.int32),
        ints(9, N, 8, dtype=torch.int32),
        rand(N, 128, dtype=FP32),
    )
    yield "grouped_topk", lambda: g.grouped_topk(rand(N, 256, dtype=FP32), 8, 4, 8, True, 1.0, rand(256, dtype=FP32))
    yield "moe_sum", lambda: g.moe_sum(rand(N, 8, 2048), rand(N, 2048))
    yield "fused_experts", lambda: g.fused_experts_impl(
        rand(2048, 2048),
        rand(64, 2048, 2048),
        rand(64, 2048, 1024),
        rand(2048, 8, dtype=FP32),
        ints(64, 2048, 8, dtype=torch.int32),
    )
    yield "group_quant", lambda: (g.per_token_group_quant_fp8(rand(N, H), 128), g.act_quant_triton(rand(N, H)))
    yield "penalties", lambda: g.apply_repetition_penalties(
        rand(256, 32768, dtype=FP32), rand(256, 32768) > 1, rand(256, 32768) > 1, rand(256, dtype=FP32).abs()
    )
    slots = lambda: torch.arange(N, device=D)
    one = lambda: torch.ones(1, device=D, dtype=FP32)
    yield "reshape_and_cache", lambda: g.reshape_and_cache_flash(
        q(8), q(8), rand(1024, 16, 8, 128), rand(1024, 16, 8, 128), slots(), "auto", one(), one()
    )
    yield "reshape_and_cache_x", lambda: g.reshape_and_cache(
        q(8), q(8), rand(1024, 8, 16, 16, 8), rand(1024, 8, 128, 16), slots(), "auto", one(), one()
    )
    yield "cache_mla", lambda: g.concat_and_cache_mla(
        rand(N, 512), rand(N, 64), rand(1024, 16, 576), slots(), "auto", one()
    )
    yield "mhc_post", lambda: g.mhc_post(
        rand(N, 2560), rand(N, 4, 2560), rand(N, 4, 1, dtype=FP32), rand(N, 4, 4, dtype=FP32)
    )
    yield "sinkhorn", lambda: g.sinkhorn_forward(rand(N, 4, 4, dtype=FP32))
    yield "rwkv_ka", lambda: g.rwkv_ka_fusion(rand(N, 4096), rand(4096), rand(N, 4096), rand(4096), 64, 64)
    heads = lambda width: rand(4, 2048, 16, width)
    gates = lambda: -rand(4, 2048, 16, dtype=FP32).abs()
    # Keys of length 1 and steps below 1: with longer ones the state grows beyond all bounds.
    yield "gated_delta", lambda: g.chunk_gated_delta_rule_fwd(
        heads(128),
        torch.nn.functional.normalize(heads(128), dim=-1),
        heads(128),
        gates(),
        rand(4, 2048, 16, dtype=FP32).sigmoid(),
        0.1,
        None,
        True,
    )
    yield "sparse_attention", lambda: g.sparse_attn_triton(
        rand(1, 1024, 64, 512),
        rand(1, 4096, 512),
        rand(64, dtype=FP32),
        ints(4096, 1, 1024, 128, dtype=torch.int32),
        0.05,
    )


def cases():
    g = load()
    for part in (pointwise, reductions, norms, products, shapes, indexing, inference):
        yield from part(g)
