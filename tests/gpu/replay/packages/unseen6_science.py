"""Speech, proteins, transport, driving, points, graphs, recommenders, what language models wrote, and contests of
`unseen6`: whisper c0d2f62, MegaFold cdd06ee, flash-sinkhorn a01ee43, conch e2c5ecf, affmae e4ecedf, CxGNN-Compute
88344aa, torchrec 376cac6a, tritonLLM 0e70fe5 and leetgpu-triton-solve a060da5.

Left out: MegaFold's variants without tuned sizes; flash-sinkhorn's step whose programs wait for each other; conch's
copies of blocks, which read addresses that they take as numbers, its choice of boxes, which sam3 has, and its copy of
vLLM's attention; affmae's neighbours in four dimensions and its autotuned variants, and the second half of its
gradients without atomics, which Triton 3.6 does not compile; CxGNN-Compute's sums times weights, whose programs store
to the same place, and its product that sums what its mask leaves out; torchrec's kernels for Blackwell and batches of
different sizes; of tritonLLM all but what GPT-5 and Gemini 2.5 Pro wrote, and of that what Triton 3.6 does not compile
or others have; and of the contests about three quarters. Of conch's gelu Triton 3.6 compiles single precision alone.

fbgemm's operators, which order torchrec's rows, are stand-ins here; a dry run lacks the step of its smallest table,
which asks what the GPU counted. The order of atomic operations decides how many gradients round (MegaFold's, affmae's,
CxGNN-Compute's, torchrec's), and in which places conch's points, affmae's references and torchrec's runs are. Conch's
norms, rotary embeddings and caches, torchrec's optimiser, the sort of top_k and whisper's warp write over their
inputs."""

import enum
import importlib.util
import os
import sys
import types
from unittest import mock

import torch

from packages.common import (
    BF16, D, FP16, FP32, bare_of, bytes_, fb, folder_of, fp8, full, ints, leaf, load, rand, scale, starts, stub, unit,
    whole,
)  # fmt: skip
from packages.unseen5_training import instead

bare = bare_of("unseen6")


def single(*shape, scale=1.0):
    return rand(*shape, dtype=FP32, scale=scale)


def half(*shape):
    return leaf(*shape, dtype=FP16)


def at(folder, name):
    """The module in a file whose path has names that Python cannot import."""
    key = "unseen6_" + folder.rsplit("/", 1)[-1].replace(".", "_").replace("-", "_") + "_" + name
    if key not in sys.modules:
        path = os.path.join(folder_of("unseen6/" + folder.partition("/")[0]), folder.partition("/")[2], name + ".py")
        spec = importlib.util.spec_from_file_location(key, path)
        module = sys.modules[key] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[key]


def speech():
    """Words' times in 30 s of speech: 10 heads of Whisper large, 224 tokens, 1,500 frames."""

    def timing():
        stub("numba", jit=lambda *a, **k: lambda f: f)
        instead("whisper", __path__=[os.path.join(folder_of("unseen6/whisper"), "whisper")])
        instead("whisper.audio", HOP_LENGTH=160, SAMPLE_RATE=16000, TOKENS_PER_SECOND=50)
        instead("whisper.tokenizer", Tokenizer=None)
        return load("whisper.timing")

    yield "median", lambda: timing().median_filter(single(10, 224, 1500).softmax(-1), 7)

    def warp():
        module = timing()
        with mock.patch.object(module, "backtrace", lambda trace: trace):
            with mock.patch.object(torch.Tensor, "numpy", lambda t: t):
                module.dtw_cuda(-single(220, 1500).softmax(0))

    yield "warp", warp


def proteins():
    """AlphaFold 3: 384 residues, pairs of 128 features, alignments of 64."""

    def mega(name):
        bare("megafold", "megafold")
        stub("liger_kernel")
        stub("liger_kernel.ops")
        settings = lambda n: (1 << (n - 1).bit_length(), 4 if n < 2048 else 8)
        stub("liger_kernel.ops.utils", calculate_settings=settings, ensure_contiguous=lambda f: f)
        stub("liger_kernel.utils", infer_device=lambda: "cuda")
        return load("megafold.model." + name)

    def attention(batch, sequences, heads, width):
        n = 384
        q = lambda: leaf(batch, sequences, n, heads, width)
        mask = torch.where(torch.rand(batch, sequences, 1, 1, n, device=D) < 0.95, 0.0, -1e9)
        fb(
            mega("FusedEvoAttention.evoattention").TritonEvoformer(
                q(), q(), q(), mask, leaf(batch, 1, heads, n, n, dtype=FP32)
            )
        )

    yield "triangles", lambda: attention(1, 384, 4, 32)
    yield "pair_bias", lambda: attention(4, 1, 16, 64)
    linear = lambda *sizes: mega("FusedLayernormLinear.fused_layernorm_linear").LayernormLinear(
        *sizes, has_linear_bias=False, device=D, dtype=BF16
    )
    yield "norm_linear", lambda: fb(linear(128, 16)(leaf(1, 384, 384, 128)))
    yield "norm_linear_wide", lambda: fb(linear(128, 1024)(leaf(1, 384, 384, 128)))
    transition = lambda *args: mega("FusedTransition.fused_transition").FusedTransition(*args, device=D, dtype=BF16)
    yield "transition", lambda: fb(transition(64)(leaf(1, 256, 384, 64)))


def transport():
    """Optimal transport between two clouds of 8,192 points, 64 or 3 or 1,024 features each."""
    n, eps = 8192, 0.1
    cloud = lambda d=64, grad=False: single(n, d, scale=d**-0.5).requires_grad_(grad)
    even = lambda: torch.full((n,), 1 / n, device=D)
    numbers = lambda: single(n, scale=0.1)
    logs = lambda: torch.full((n,), 1 / n, device=D).log()
    kernels = lambda name: load("flash_sinkhorn.kernels." + name)

    def loss(d, **options):
        options = dict(use_epsilon_scaling=False, eps=eps, n_iters=4, **options)
        fb(load("flash_sinkhorn").SamplesLoss("sinkhorn", **options)(cloud(d, True), cloud(d)))

    yield "symmetric", lambda: loss(64, debias=False)
    yield "alternating", lambda: loss(64, backend="alternating", debias=False)
    flash = lambda name: getattr(kernels("sinkhorn_flashstyle_sqeuclid"), name)
    yield "lse", lambda: flash("flashsinkhorn_lse")(cloud(), cloud(), numbers(), eps)
    yield "lse_fused", lambda: flash("flashsinkhorn_lse_fused")(cloud(), cloud(), numbers(), logs(), eps)

    def labelled(function, *args, **more):
        """Points of 10 kinds. That their numbers are below 10 is not asked: without data there is no answer."""
        kinds = dict(label_x=whole(10, n), label_y=whole(10, n), label_cost_matrix=scale(10, 10))
        with mock.patch.multiple(torch.Tensor, max=lambda t: 0, min=lambda t: 0):
            function(*args, **kinds, lambda_x=1.0, lambda_y=0.5, **more)

    yield (
        "labels",
        lambda: labelled(
            flash("flashsinkhorn_symmetric_step"), cloud(), cloud(), numbers(), numbers(), logs(), logs(), eps
        ),
    )
    for axis in (0, 1):
        yield (
            f"plan_vector_{axis}",
            lambda a=axis: kernels("apply_flash").apply_plan_vec_flashstyle(
                cloud(), cloud(), numbers(), numbers(), logs(), logs(), numbers(), eps=eps, axis=a
            ),
        )
        yield (
            f"plan_matrix_{axis}",
            lambda a=axis: kernels("apply_flash").apply_plan_mat_flashstyle(
                cloud(), cloud(), numbers(), numbers(), logs(), logs(), cloud(), eps=eps, axis=a
            ),
        )
        yield (
            f"ott_{axis}",
            lambda a=axis: kernels("sinkhorn_triton_ott_sqeuclid").apply_lse_kernel_sqeuclid(
                cloud(), cloud(), numbers(), numbers(), eps, a, vec=scale(n)
            ),
        )
    yield "mat5", lambda: kernels("apply_ott").mat5_sqeuclid(cloud(), cloud(), numbers(), numbers(), cloud(), eps=eps)

    gradient = lambda: kernels("sinkhorn_triton_grad_sqeuclid").sinkhorn_geomloss_online_grad_sqeuclid
    inputs = lambda d=64: (cloud(d), cloud(d), even(), even(), numbers(), numbers())
    yield "gradient_labels", lambda: labelled(gradient(), *inputs(), eps=eps)
    yield "gradient_1024", lambda: gradient()(*inputs(1024), eps=eps)
    yield "nearest", lambda: fb(load("flash_sinkhorn").c_transform_cost(cloud(64, True), cloud(), numbers()))


def machines():
    """Driving: 100,000 points of a lidar, cameras' features seen from above; and 7-billion models."""

    def conch(name):
        return load("conch.ops." + name)

    voxels = lambda: conch("vision.voxelization")

    def voxelise():
        m = voxels()
        m.generate_voxels(
            single(100000, 4) * torch.tensor([20.0, 20.0, 1.0, 1.0], device=D),
            m.VoxelizationParameter((-51.2, -51.2, -5.0), (51.2, 51.2, 3.0), (0.2, 0.2, 8.0), 20),
        )

    yield "voxels", voxelise

    cells, channels, each = 128, 80, 16

    def cells_of():
        """Each cell's x, y, z and batch, as many times as it has points; where its points start; how many it has."""
        cell = torch.arange(cells * cells, device=D, dtype=torch.int32)
        where = torch.stack([cell // cells, cell % cells, 0 * cell, 0 * cell], 1)
        return where.repeat_interleave(each, 0), cell * each, full(each, cells * cells)

    yield (
        "above",
        lambda: conch("vision.bev_pool").bev_pool(
            single(cells * cells * each, channels), *cells_of(), 1, 1, cells, cells
        ),
    )
    yield (
        "above_back",
        lambda: conch("vision.bev_pool").bev_pool_backward(single(1, 1, cells, cells, channels), *cells_of()),
    )
    tokens, width, inner, heads, kv_heads = 4096, 4096, 14336, 32, 8
    x = lambda *shape: rand(*(shape or (tokens, width)), dtype=FP16)
    yield "gelu_mul", lambda: conch("activation.gelu_tanh_and_mul").gelu_tanh_and_mul(single(tokens, 2 * inner))
    yield "silu_mul", lambda: conch("activation.silu_and_mul").silu_and_mul(x(tokens, 2 * inner))
    yield "gemma_norm", lambda: conch("normalization.gemma_rms_norm").gemma_rms_norm(x(), x(width), 1e-6)
    yield "norm", lambda: conch("normalization.rms_norm").rms_norm(x(), x(width), 1e-6)
    yield "add_norm", lambda: conch("normalization.rms_norm").fused_add_rms_norm(x(), x(), x(width), 1e-6)
    yield (
        "rotary",
        lambda: conch("embedding.rotary_embedding").rotary_embedding(
            ints(8192, tokens), x(tokens, heads * 128), x(tokens, kv_heads * 128), 128, x(8192, 128)
        ),
    )
    yield "fp8", lambda: conch("quantization.fp8").scaled_fp8_quant(x(), full(0.02, 1, dtype=FP32))
    yield "int8", lambda: conch("quantization.int8").scaled_int8_quant(x(), full(0.02, 1, dtype=FP32))
    yield (
        "product_4",
        lambda: conch("quantization.gemm").mixed_precision_gemm(
            x(2048, width), ints(2**31 - 1, width // 8, width).int(), x(width // 128, width), None, 4, 8, 128
        ),
    )
    yield (
        "product_fp8",
        lambda: conch("quantization.gemm").scaled_gemm(
            fp8(2048, width), fp8(width, width), scale(2048, 1), scale(1, width), FP16
        ),
    )
    few = lambda: conch("quantization.bitsandbytes.functional")

    def there_and_back(kind):
        code = few()._create_dynamic_map().to(D) if kind == "fp8" else None
        out, state = few().quantize_blockwise(x(tokens * width), code=code, blocksize=64, quant_type=kind)
        few().dequantize_blockwise(out, state, blocksize=64, quant_type=kind)

    for kind in ("nf4", "fp8"):
        yield "few_" + kind, lambda k=kind: there_and_back(k)
    pages = lambda batch, length: torch.randperm(batch * length // 32, device=D).int().view(batch, -1)
    cache = lambda batch, length: x(batch * length // 32, 32, kv_heads, 128)

    def attention(batch, queries, length):
        conch("attention.varlen_attention").varlen_attention(
            x(batch * queries, heads, 128), cache(batch, length), cache(batch, length), starts(batch, queries), queries,
            full(length, batch), length, pages(batch, length), causal=queries > 1, scale=128**-0.5,
        )  # fmt: skip

    yield "attention", lambda: attention(4, 2048, 2048)
    yield "attention_decoding", lambda: attention(16, 1, 8192)
    yield (
        "attention_pages",
        lambda: conch("attention.paged_attention").paged_attention(
            x(32, heads, 128), cache(32, 2048), cache(32, 2048), pages(32, 2048), full(2048, 32), scale=128**-0.5
        ),
    )
    yield (
        "cache",
        lambda: conch("vllm.reshape_and_cache").reshape_and_cache(
            x(tokens, kv_heads, 128), x(tokens, kv_heads, 128), cache(16, 2048), cache(16, 2048),
            torch.randperm(16 * 2048, device=D)[:tokens],
        ),
    )  # fmt: skip


def pictures():
    """A masked autoencoder of points: 16 pictures, 4,096 or 1,024 points each, 8 heads of 32 features."""
    batch, n, heads, width, near = 16, 4096, 8, 32, 4

    def kernels(name):
        stub("pytest")
        instead("affmae_kernels", __path__=[os.path.join(folder_of("unseen6/affmae"), "src", "layers", "kernels")])
        return load("affmae_kernels." + name)

    places = lambda count=n, d=2: torch.rand(batch, count, d, device=D, dtype=FP16)
    power = lambda: torch.tensor(3.0, device=D)
    attention = lambda *shape: half(*shape).softmax(-1).detach().requires_grad_()
    for k in (4, 8):
        for d in (2, 3):
            yield (
                f"near_{k}_{d}",
                lambda k=k, d=d: kernels("knn").knn_forward(places(2048, d).float(), places(1024, d).float(), k, d),
            )

    def points(count):
        offsets = half(batch, count, heads, near, 2).detach() * 0.05
        return offsets.requires_grad_(), attention(batch, count, heads, near)

    def attend(name, free, *inputs):
        """Left out are the second kernels of gradients without atomics, which Triton 3.6 does not compile."""
        module = kernels("fused_deform_attn")
        absent = ("_atomic_free_bwd_stage2_dvalues_kernel", "_atomic_free_bwd_stage2_dpos_kernel")
        others = {kernel: mock.MagicMock() for kernel in absent} if free else {}
        with mock.patch.multiple(module, USE_ATOMIC_FREE_BACKWARD=free, **others):
            fb(getattr(module, f"fused_knn_deformable_{name}_attention")(*inputs, power()))

    grown = lambda count: places(count).requires_grad_()
    v = lambda count: half(batch, count, heads, width)
    yield "self", lambda: attend("self", True, grown(1024), *points(1024), v(1024))
    yield "self_atomics", lambda: attend("self", False, grown(1024), *points(1024), v(1024))
    yield "cross", lambda: attend("cross", False, grown(2048), grown(512), *points(2048), v(512))

    def inference():
        module = kernels("fused_deform_attn")
        with torch.no_grad():
            module.fused_knn_deform_self_attn_forward(places(1024), *points(1024), v(1024), power())
            module.fused_knn_deform_cross_attn_forward(places(2048), places(512), *points(2048), v(512), power())

    yield "inference", inference
    yield (
        "fused",
        lambda: fb(
            kernels("fused_deform_attn").fused_deformable_attention(
                places(1024 * near).requires_grad_(), places(512).requires_grad_(), whole(512, batch, 1024 * near, 4),
                power(), attention(batch, 1024 * near), half(batch, 512, 64),
            )
        ),
    )  # fmt: skip
    yield (
        "sample",
        lambda: fb(
            kernels("mssample").mssample(
                places(n).requires_grad_(), places(1024).requires_grad_(), whole(1024, batch, n, 4), power(), 2
            )
        ),
    )
    yield (
        "gather_points",
        lambda: fb(
            kernels("msdetrpc").MSDETRPCFunction.apply(
                whole(2048, batch, 1024, 8, 4), attention(batch, 1024, 8, 4), attention(batch, 1024, 8),
                half(batch, 2048, 256),
            )
        ),
    )  # fmt: skip
    yield (
        "features",
        lambda: fb(
            kernels("weighted_features").weighted_features(
                unit(batch, 256, 64, 4, dtype=FP16), half(batch, 1024, 128), whole(1024, batch, 256, 64)
            )
        ),
    )
    yield (
        "gather",
        lambda: fb(
            kernels("weighted_gather").weighted_gather(
                whole(1024, batch, n, 8), unit(batch, n, 8, dtype=FP16), half(batch, 1024, 128)
            )
        ),
    )

    def neighbourhood():
        members, q = 48, lambda: half(batch, heads, 1024, width)
        fb(
            kernels("local_attn").FlashLocalAttentionFunction.apply(
                q(), q(), q(), whole(1024, batch, 1024, members), half(batch, heads, 1024, members),
                full(1, batch, 1, 1024, members), half(heads, width), half(heads, width), width**-0.5,
            )
        )  # fmt: skip

    yield "neighbourhood", neighbourhood


def graphs():
    """A graph of 100,000 nodes with 16 neighbours each, 8 kinds of edges."""
    nodes, near, width, kinds = 100000, 16, 256, 8

    def codegen(name):
        bare("cxgnncomp", "cxgnn")
        stub("cxgnncomp_backend")
        return load("cxgnncomp.codegen." + name)

    ptr = lambda: torch.arange(nodes + 1, device=D) * near
    idx = lambda count=nodes * near: ints(nodes, count)
    x = lambda count=nodes: single(count, width)
    yield "sums", lambda: codegen("triton_spmm").spmm_triton(x(), ptr(), idx(), nodes)
    yield "sums_weighted", lambda: codegen("triton_spmm").spmm_triton(x(), ptr(), idx(), nodes, scale(nodes * near))
    few = 4096
    yield (
        "kinds",
        lambda: codegen("rgcn_kernel").rgcn_triton(
            single(nodes, 64), ptr()[: few + 1], idx(few * near), ints(kinds, few * near), single(kinds, 64, 64), few
        ),
    )
    edges = 131072
    kind = lambda: torch.arange(edges, device=D) // (edges // kinds)
    product = lambda *args, **more: codegen("triton_typed_matmul").typed_matmul(
        x(edges), single(kinds, width, width, scale=0.06), kind(), *args, **more
    )
    order = lambda: torch.randperm(edges, device=D)
    yield "product", lambda: product()
    yield "product_from", lambda: product(edges, order())
    yield "product_in_order", lambda: product(edges, order(), seq_output=True)
    yield "product_from_to", lambda: product(edges, order(), order())
    yield (
        "edge_scores",
        lambda: codegen("triton_sddmm").sddmm_dense(
            x(edges), single(1024, width, 64), order(), ints(1024, edges // 32).repeat_interleave(32), edges
        ),
    )


class Kind(enum.Enum):
    """fbgemm_gpu's types of weights."""

    FP32, FP16, INT8, INT4, INT2, FP8 = range(6)

    def as_int(self):
        return self.value


AMD = (
    "_expand_long_runs", "_FIXED_GRID", "_nbit_TBE_forward_kernel_16bits", "_nbit_TBE_forward_kernel_32bits",
    "triton_tbe_backward_long_run_apply_unweighted", "triton_tbe_backward_long_run_grad_accum_unweighted",
    "triton_tbe_backward_long_run_grad_accum_weighted", "triton_tbe_backward_short_run_unweighted",
    "triton_tbe_backward_short_run_weighted", "triton_tbe_forward_unweighted_kernel",
    "triton_tbe_forward_weighted_kernel",
)  # fmt: skip
BITS = 20


def transposed(before, bits, indices, offsets, **options):
    """fbgemm's transpose_embedding_input: the rows of all tables in order, and how often each occurs."""
    count, features = indices.numel(), before.numel() - 1
    bags = offsets.numel() - 1
    bag = torch.searchsorted(offsets[1:], torch.arange(count, device=D), right=True)
    feature = bag // (bags // features)
    rows = indices + before[feature]
    info = (feature << BITS | bag % (bags // features)).int()
    ordered, places = rows.sort()
    run = torch.cat([torch.zeros(1, device=D, dtype=torch.int64), (ordered[1:] != ordered[:-1]).long().cumsum(0)])
    begin = torch.full((count + 1,), count, device=D)
    begin = begin.scatter_reduce(0, run, torch.arange(count, device=D), "amin").int()
    firsts = torch.zeros_like(rows).scatter(0, run, ordered)
    return rows, ordered, info[places], firsts, None, (run[-1:] + 1).int(), begin


def recommender():
    """Tables of embeddings: 8 of 100,000 rows of 128 features, 4,096 people with 20 items of each."""
    batch, each, tables, rows, width = 4096, 20, 8, 100000, 128
    optimisers = types.SimpleNamespace(EXACT_SGD="sgd", EXACT_ROWWISE_ADAGRAD="adagrad", NONE="none")

    def rec(name):
        bare("torchrec", "torchrec")
        off = types.SimpleNamespace(is_enabled=lambda: False)
        stub("fbgemm_gpu")
        stub("fbgemm_gpu.config", FeatureGateName=types.SimpleNamespace(DISABLE_OFFSETS_ADJUSTMENT=off))
        stub("fbgemm_gpu.split_embedding_configs", EmbOptimType=optimisers, SparseType=Kind)
        modes = enum.Enum("BoundsCheckMode", "FATAL WARNING IGNORE NONE V2_IGNORE V2_WARNING V2_FATAL")
        stub(
            "fbgemm_gpu.split_table_batched_embeddings_ops_common",
            BoundsCheckMode=modes,
            PoolingMode=types.SimpleNamespace(SUM=0),
        )
        stub("fbgemm_gpu.split_table_batched_embeddings_ops_training_common", generate_vbe_metadata=None)
        for package in ("", ".ops", ".ops.triton", ".ops.triton.amd"):
            stub("ads_mkl" + package)
        stub("ads_mkl.ops.triton.amd.triton_table_batched_embeddings", **dict.fromkeys(AMD, 0))
        operators = torch.ops.fbgemm
        operators.get_infos_metadata = lambda *a: (BITS, (1 << BITS) - 1)
        operators.transpose_embedding_input = transposed
        operators.bounds_check_indices = lambda *a, **k: None
        return load("torchrec." + name)

    tbe = lambda: rec("distributed.triton_tbe.triton_table_batched_embeddings")
    offsets = lambda: torch.arange(batch * tables + 1, device=D) * each

    def hot():
        """Items of which a few are in hundreds of lists."""
        return (torch.rand(batch * tables * each, device=D) ** 4 * rows).long().clamp(max=rows - 1)

    def bags(dtype, optimiser, weighted=False, few=False, **more):
        """The first table has 50 rows or as many as the others, and lists of 64 items of it or of 20."""
        first, length = (50, 64) if few else (rows, each)
        module = tbe().TritonTableBatchedEmbeddingBags(
            [(first, width)] + [(rows, width)] * (tables - 1), weights_precision=dtype, optimizer=optimiser,
            device=torch.device(D), stochastic_rounding=dtype == FP16,
            bag_size_hints=[length] + [each] * (tables - 1), **more,
        )  # fmt: skip
        module.weight.data.copy_(torch.rand_like(module.weight.data.float()))
        indices = torch.cat([ints(first, batch * length), hot()[batch * each :]])
        ends = torch.cat([torch.arange(batch, device=D) * length, offsets()[batch:] + batch * (length - each)])
        fb(module(indices, ends, unit(indices.numel(), dtype=FP32) if weighted else None))

    yield "bags", lambda: bags(FP16, optimisers.EXACT_ROWWISE_ADAGRAD, fused_bounds_check=True)
    yield "bags_few", lambda: bags(FP16, optimisers.EXACT_ROWWISE_ADAGRAD, few=True, fused_bounds_check=True)
    yield "bags_fp32", lambda: bags(FP32, optimisers.EXACT_SGD)
    yield "bags_weighted", lambda: bags(FP32, optimisers.EXACT_ROWWISE_ADAGRAD, True)

    def bits(*kinds):
        specs = [(rows, width, kind) for kind in kinds for _ in range(tables // len(kinds))]
        module = tbe().TritonNBitTBE(specs, device=torch.device(D))
        module.copy_weight(ints(60, module.weight.numel()).to(torch.uint8))  # no part of one is infinite
        module(ints(rows, batch * tables * each).int(), offsets().int())

    yield "bits_8_4", lambda: bits(Kind.INT8, Kind.INT4)
    yield "bits_16_2", lambda: bits(Kind.FP16, Kind.INT2)

    def permute(mean, weighted):
        keys, people = 64, 16384
        total = keys * people * mean
        rec("sparse.triton_permute_2d").triton_permute_2d_sparse_data(
            torch.randperm(keys, device=D).int(), full(mean, keys, people), ints(rows, total),
            scale(total) if weighted else None, total,
        )  # fmt: skip

    yield "permute", lambda: permute(128, False)
    yield "permute_weighted", lambda: permute(4, True)
    yield (
        "select",
        lambda: fb(rec("modules.sorted_index_select").sorted_index_select(leaf(2048, width), ints(2048, 524288))),
    )


def generated():
    """KernelBench's problems as GPT-5 and Gemini 2.5 Pro solved them, some with smaller batches."""

    def model(folder, name, *args, train=False):
        with torch.device(D):
            m = at("tritonllm/" + folder, name).ModelNew(*args)
        return m if train else m.eval()

    searched = lambda name, *args: model("search/openai-gpt-5", name, *args)
    gpt = lambda name, *args, **more: model("zeroshot/gpt-5", name, *args, **more)
    gemini = lambda name, *args: model("zeroshot/gemini-2.5-pro", name, *args)
    images = lambda n=32: single(n, 64, 128, 128)
    conv, mish = "1_Conv2D_ReLU_BiasAdd", "35_Conv2d_Subtract_HardSwish_MaxPool_Mish"
    swish = "97_Matmul_BatchNorm_BiasAdd_Divide_Swish"
    alexnet = "50_conv_standard_2D__square_input__square_kernel"

    def run(make, *inputs):
        with torch.no_grad():
            make()(*inputs)

    yield "conv", lambda: run(lambda: searched(conv, 64, 128, 3, (128, 1, 1)), images())
    yield "norm", lambda: run(lambda: searched("40_LayerNorm", (64, 256, 256)), single(16, 64, 256, 256))
    yield "alexnet", lambda: run(lambda: searched(alexnet), single(256, 3, 224, 224))
    yield "linear", lambda: run(lambda: searched("66_Matmul_Dropout_Softmax", 16384, 16384, 0.2), single(128, 16384))
    yield (
        "split",
        lambda: run(
            lambda: searched("6_Matmul_with_large_K_dimension"), single(256, 131072 * 4), single(131072 * 4, 256)
        ),
    )
    yield "cumprod", lambda: run(lambda: searched("90_cumprod", 1), single(4096, 32768, scale=0.01) + 1)
    yield "swish", lambda: run(lambda: searched(swish, 8192, 8192), single(1024, 8192))
    yield "softmax", lambda: run(lambda: gpt("23_Softmax"), single(512, 393216))
    yield "alexnet_direct", lambda: run(lambda: gpt(alexnet), single(64, 3, 224, 224))
    yield (
        "dropout",
        lambda: fb(gpt("66_Matmul_Dropout_Softmax", 16384, 16384, 0.2, train=True)(leaf(128, 16384, dtype=FP32))),
    )
    yield "swish_after", lambda: run(lambda: gpt(swish, 8192, 8192), single(1024, 8192))
    yield (
        "swish_training",
        lambda: run(lambda: gpt(swish, 8192, 8192, train=True), single(1024, 8192)),
    )
    yield "gemini_mish", lambda: run(lambda: gemini(mish, 64, 128, 3, 0.5, 2), images())


def contest():
    """LeetGPU's challenges at the largest sizes that they allow, or near them."""
    solve = lambda name, *args: at("leetgpu", name).solve(*args)
    empty = torch.empty
    on = dict(device=D)
    n = 1 << 24
    numbers = lambda *shape: single(*shape)
    yield "fourier", lambda: solve("medium-2d_fft", numbers(2048 * 2048 * 2), empty(2048 * 2048 * 2, **on), 2048, 2048)
    yield "radix_sort", lambda: solve("hard-radix_sort", whole(2**31 - 1, n), whole(1, n), n)
    yield "jacobi", lambda: solve("medium-2d_jacobi_stencil", numbers(8192, 8192), empty(8192, 8192, **on), 8192, 8192)
    yield "nearest", lambda: solve("medium-nearest_neighbor", numbers(30000, 3), whole(1, 30000), 30000)
    yield "compact", lambda: solve("medium-stream-compaction", numbers(n), n, empty(n, **on))
    yield "top", lambda: solve("medium-top_k_selection", numbers(1 << 20), empty(100, **on), 1 << 20, 100)

    def merge():
        a, b = (numbers(n).sort().values for _ in range(2))
        solve("medium-parallel_merge", a, b, empty(2 * n, **on), n, n)

    yield "merge", merge
    yield (
        "conv_3d",
        lambda: solve(
            "medium-3D_convolution", numbers(256, 256, 256), numbers(5, 5, 5), empty(252, 252, 252, **on), 256, 256,
            256, 5, 5, 5,
        ),
    )  # fmt: skip
    yield (
        "advantages",
        lambda: solve(
            "medium-parallel_reverse_scan_gae", numbers(256, 16384), numbers(256, 16385), empty(256, 16384, **on), 0.99,
            0.95, 256, 16384,
        ),
    )  # fmt: skip
    yield (
        "segments",
        lambda: solve(
            "medium-segmented_exclusive_prefix_sum", numbers(n), (torch.rand(n, **on) < 0.01).int(), empty(n, **on), n
        ),
    )
    yield (
        "int4",
        lambda: solve(
            "medium-int4_weight_only_quantized_matmul", rand(1024, 4096, dtype=FP16), bytes_(4096, 2048),
            rand(4096, 32, dtype=FP16), empty(1024, 4096, dtype=FP16, **on), 1024, 4096, 4096, 128,
        ),
    )  # fmt: skip

    def int8_cache():
        heads, length, width = 32, 8192, 128
        kv = lambda: (ints(256, heads, length, width) - 128).to(torch.int8)
        solve(
            "medium-int8_kv_cache_attnetion", numbers(heads, width), kv(), kv(), scale(heads, length),
            scale(heads, length), empty(heads, width, **on), heads, length, width,
        )  # fmt: skip

    yield "int8_cache", int8_cache

    def scan():
        batch, length, width, state = 4, 2048, 1024, 16
        solve(
            "medium-ssm_selective_scan_2", numbers(batch, length, width), torch.rand(batch, length, width, **on) * 0.1,
            -scale(width, state),
            numbers(batch, length, state), numbers(batch, length, state), numbers(width),
            empty(batch, length, width, **on), batch, length, width, state,
        )  # fmt: skip

    yield "selective_scan", scan
    q = lambda: numbers(4096, 128)
    yield "alibi", lambda: solve("medium-attention_with_linear_biases", q(), q(), q(), q(), 4096, 4096, 128, -0.1)
    yield "sinks", lambda: solve("medium-attention_with_sinks", q(), q(), q(), q(), 4096, 128, 4, 512)
    yield "linear_attention", lambda: solve("hard-linear_self_attention", q(), q(), q(), q(), 4096, 128)


def cases():
    for prefix, part in (
        ("whisper_", speech), ("protein_", proteins), ("sinkhorn_", transport), ("conch_", machines),
        ("affmae_", pictures), ("cxgnn_", graphs), ("torchrec_", recommender), ("generated_", generated),
        ("contest_", contest),
    ):  # fmt: skip
        for name, case in part():
            yield prefix + name, case
