"""Attention and long convolutions of `unseen5`: MagiAttention 2c641357, SDNQ 21d60c8, AReaL 4aef98d8d, gpt-oss 7b58334
and savanna 0d42c60.

Left out: what several GPUs do together in MagiAttention, and its ranges of a mask of blocks, whose number depends on
data; AReaL's casts, which slime and DeepSeek-V3 have, and its indices of experts, which are torchtitan's; gpt-oss's
experts, whose kernels are triton_kernels', which other sets have; savanna's older convolutions, which its interface no
longer calls; and its convolution forward, which Triton 3.6 does not compile: a string is a default value there. The
order of atomic operations decides how MagiAttention's plain sum of rows rounds; what its ranges reduce to or fill is
written over inputs."""

import types
from unittest import mock

import torch

from packages.common import BF16, D, FP16, FP32, bare_of, fb, fp8, leaf, load, rand, scale, stub
from packages.unseen5_serving import eight

bare = bare_of("unseen5")
TYPES = dict(
    is_fp_dtype_at_least=lambda tensor, dtype: True,
    max_fp_dtype=lambda *dtypes: max(dtypes, key=lambda dtype: torch.finfo(dtype).bits),
    to_higher_fp_dtype=lambda tensor, dtype: tensor,
    to_triton_dtype=lambda dtype: load("triton.language").float32,
)


def magi():
    """Rows of other GPUs' queries: 32,768 tokens of 32 heads, in 256 ranges of 128 tokens."""
    tokens, heads, width, count = 32768, 32, 128, 256

    def attention(name):
        bare("magi_attention", "magi")
        nvtx = types.SimpleNamespace(instrument_nvtx=lambda f: f)
        stub("magi_attention.utils", nvtx=nvtx, is_blackwell=lambda: False, **TYPES)
        stub("magi_attention.common.enum", GroupReduceOp=str, OutMaybeWithLSE=object, AttnSinkLayout=str)
        stub("magi_attention.common.ranges", NaiveRanges=list)
        return load("magi_attention." + name)

    x = lambda rows=tokens, dtype=BF16: rand(rows, heads, width, dtype=dtype)
    each = tokens // count
    lists = lambda n=count: [[i * each, (i + 1) * each] for i in range(n)]
    ranges = lambda n=count: torch.tensor(lists(n), device=D)
    more = lambda n=count: dict(
        cu_range_sizes=torch.arange(n + 1, device=D) * each, total_size=n * each,
        row_map=torch.arange(n, device=D).repeat_interleave(each),
    )  # fmt: skip
    yield "gather", lambda: attention("common.range_op._range_gather").range_gather(x(), ranges(), **more())
    yield (
        "gather_ranges",
        lambda: attention("common.range_op._range_gather").range_gather(
            x(), ranges(), kernel_backend="per_range", **more()
        ),
    )
    yield (
        "fill",
        lambda: attention("common.range_op._range_fill").range_fill_(x(), ranges(128), 0.0, **more(128)),
    )

    def reduce(operation, deterministic=True, dtype=FP32):
        """Two ranges of the input go to each of the output's."""
        half = count // 2
        there = torch.tensor(lists(half) * 2, device=D)
        options = more(half) if deterministic else more()
        if deterministic:
            pairs = torch.tensor([[i, i + half] for i in range(half)], device=D)
            options.update(out2inp_range_map=pairs, unique_ordered_out_ranges=ranges(half))
        if operation == "lse":
            options.update(input_lse=rand(tokens, heads, dtype=FP32), output_lse=rand(tokens // 2, heads, dtype=FP32))
        attention("common.range_op._range_reduce").range_reduce(
            x(dtype=dtype), x(tokens // 2, dtype), ranges(), there, deterministic=deterministic, reduce_op=operation,
            **options,
        )  # fmt: skip

    yield "sum", lambda: reduce("sum", False)
    yield "sum_ordered", lambda: reduce("sum", dtype=BF16)
    yield "average", lambda: reduce("avg")
    yield "weighted", lambda: reduce("lse")
    lse = lambda: rand(tokens, heads, dtype=FP32)
    yield "correct", lambda: attention("functional.utils").correct_attn_out_lse(x(), lse(), x(), lse())
    yield (
        "chosen_blocks",
        lambda: attention("utils.sparse_utils").generate_ranges_from_topk_indices_triton(
            torch.rand(8, 512, 512, device=D).topk(64).indices.int(), 64, 64, 512
        ),
    )


def sdnq():
    """Stable Diffusion XL and Flux: 4,096 tokens in 24 heads of 128 features; layers of 3,072 by 12,288."""

    def kernels(name):
        bare("sdnq", "sdnq/src")
        return load("sdnq.kernels." + name)

    heads, tokens, width = 24, 4608, 128
    q = lambda make=leaf: make(1, heads, tokens, width, dtype=BF16)
    attention = lambda **options: (
        lambda: kernels("triton_atten").sdnq_triton_atten(q(rand), q(rand), q(rand), **options)
    )
    yield "attention", attention()
    yield "attention_fp8", attention(matmul_dtype="float8_e4m3fn", pv_matmul_dtype="float8_e4m3fn")
    yield "attention_causal", attention(is_causal=True, pv_matmul_dtype="int8")
    yield (
        "attention_back",
        lambda: fb(kernels("triton_atten_backward").sdnq_triton_atten_with_backward(q(), q(), q(), is_causal=True)),
    )
    a, b = (lambda: rand(tokens, 3072, dtype=FP16)), (lambda: rand(12288, 3072, dtype=FP16).t())
    yield "product", lambda: kernels("triton_mm").sdnq_triton_mm(a(), b(), rand(12288, dtype=FP16), FP16)
    yield "product_int8", lambda: kernels("triton_mm").sdnq_triton_mm(eight(tokens, 3072), eight(12288, 3072).t())

    def scaled(a, b, rows, columns, **more):
        kernels("triton_scaled_mm").sdnq_scaled_mm(a, b, rows, columns, out_dtype=BF16, **more)

    rows, columns = lambda: scale(tokens, 1), lambda: scale(1, 12288)
    yield (
        "scaled_int8",
        lambda: scaled(eight(tokens, 3072), eight(12288, 3072).t(), rows(), columns(), bias=rand(12288)),
    )
    yield "scaled_fp8", lambda: scaled(fp8(tokens, 3072), fp8(12288, 3072).t(), scale(1), columns())


def tree():
    """4 trees of a trunk of 2,048 tokens and two branches of 1,024; 32 heads, 8 of keys."""
    length, trunk, block, word = 4096, 2048, 128, 64

    def attention():
        bare("areal", "areal")
        module = load("areal.models.tree_attn.triton_kernel")
        place = torch.arange(length, device=D)
        branch = (place - trunk).clamp(min=-1).div(1024, rounding_mode="floor")
        seen = (place[:, None] >= place) & ((branch < 0)[None, :] | (branch[:, None] == branch))
        bits = torch.ones((), device=D, dtype=torch.int64) << torch.arange(word, device=D)
        mask = (seen.view(length, length // word, word).long() * bits).sum(-1).expand(4, -1, -1).contiguous()
        start = lambda i: trunk if i < trunk else i // 1024 * 1024  # of the branch of token i
        near = lambda i, j: j <= i and (j < trunk or start(i) <= j)
        meet = [[near((m + 1) * block - 1, n * word) for n in range(length // word)] for m in range(length // block)]
        keys = [[n for n, hit in enumerate(row) if hit] for row in meet]
        queries = [[m for m in range(length // block) if meet[m][n]] for n in range(length // word)]

        def packed(groups):
            sizes = [0]
            for group in groups:
                sizes.append(sizes[-1] + len(group))
            each = torch.tensor([i for group in groups for i in group] * 4, device=D, dtype=torch.int32)
            return each, torch.tensor(
                [[b * sizes[-1] + n for n in sizes] for b in range(4)], device=D, dtype=torch.int32
            )

        q, k, v = leaf(4, 32, length, 128), leaf(4, 8, length, 128), leaf(4, 8, length, 128)
        fb(module.tree_attention(q, k, v, mask, *packed(keys), *packed(queries)))

    yield "attention", attention


def gpt_oss():
    """64 heads of 64 features, 8 of them keys, a sink each; a layer that sees all tokens, one that sees 128."""

    def attention(queries, window, first):
        stub("pytest", mark=mock.MagicMock())
        bare("gpt_oss", "gptoss")
        module = load("gpt_oss.triton.attention")
        q, k, v = rand(1, queries, 8, 8, 64), rand(1, 4096, 8, 64), rand(1, 4096, 8, 64)
        module.attention(q, k, v, rand(64), 0.125, window, torch.tensor([first], device=D))

    yield "prompt", lambda: attention(4096, None, 0)
    yield "window", lambda: attention(1024, 128, 3072)


def hyena():
    """Evo 2 of 7 billion parameters: 8,192 bases, 256 groups of 16 features with filters of 128 bases or of 7."""
    batch, length, groups, width = 2, 8192, 256, 16

    def savanna(name):
        bare("savanna", "savanna")
        return load("savanna.kernels.triton_src." + name)

    def medium():
        config = savanna("cgcg.src.kernel_utils").BwdKernelConfigRefactor()
        grad, products, out, x, before, after = (rand(batch, length, groups, width) for _ in range(6))
        filters = rand(groups, 1, 128, scale=0.1)
        savanna("cgcg.src.bwd").two_pass_bwd_refactor(
            grad, products, out, x, before, after, filters, batch, length, groups, width, True, False, config
        )

    yield "medium", medium

    def short():
        x = lambda: leaf(length, batch, groups, width)
        fb(savanna("short_hyena.interface").run_short_hyena(x(), x(), x(), leaf(groups, 1, 7), autotune=True))

    yield "short", short


def cases():
    for prefix, part in (("magi_", magi), ("sdnq_", sdnq), ("areal_", tree), ("gptoss_", gpt_oss), ("savanna_", hyena)):
        for name, case in part():
            yield prefix + name, case
