"""Space, weather and proteins of `unseen4`: EquiTriton 85f38e6, gsplat-triton 46beece, physicsnemo 94b355108, pyg-lib
764e3a49, Protenix 3248f8e and FastFold eba4968.

EquiTriton's first order of the newer kind does not fit its kernel; its fifth was timed as TritonBench's, FastFold's
attention core, too, and its softmax as OpenFold3's. gsplat-triton sorts by CUDA, which is left out; its tests' kernels
run, too, each of which has one of its functions. The order of atomic operations decides how gradients of gsplat-triton
and of physicsnemo round, and what pyg-lib sums."""

import sys
import types
from unittest import mock

import torch
import torch.nn.functional as F
import triton

from packages.common import D, FP32, bare_of, fb, full, ints, leaf, load, rand, stub, whole
from packages.unseen3_scans import Hint

bare = bare_of("unseen4")


def single(*shape):
    return rand(*shape, dtype=FP32)


def directions(*shape):
    return F.normalize(single(*shape, 3), dim=-1)


def harmonics():
    """Spherical harmonics of the edges between atoms, each order with its gradient."""

    def order(module, name):
        stub("e3nn", o3=types.SimpleNamespace(Irreps=object))
        return getattr(load("equitriton.sph_harm." + module), name)

    edges = lambda: directions(65536).requires_grad_()
    names = {2: "Second", 3: "Third", 4: "Fourth", 6: "Sixth", 7: "Seventh", 8: "Eighth", 9: "Ninth", 10: "Tenth"}
    for i, name in names.items():
        yield name.lower(), lambda i=i, n=name: fb(order(f"direct.y_{i}", n + "OrderSphericalHarmonic").apply(edges()))
    yield "joint", lambda: fb(order("direct.special", "FusedSecondOrderSphericalHarmonic").apply(edges()))
    for name in ("First", "Second", "Third", "Fourth"):
        yield (
            "older_" + name.lower(),
            lambda n=name: order("bindings", n + "OrderSphericalHarmonics").apply(
                *(t.contiguous() for t in directions(65536).unbind(-1)), None
            ),
        )


def splats():
    """100,000 Gaussians in an image of 1,024 by 768 pixels, whose tiles have 16 by 16 pixels."""
    count, width, height, tile = 100000, 1024, 768, 16
    columns, rows = width // tile, height // tile

    def gsplat():
        bare("gsplat", "gsplat")
        stub("jaxtyping", Float=Hint(), Int=Hint(), Int32=Hint(), Int64=Hint(), Bool=Hint())
        stub("gsplat.triton_impl.radix_sort", radix_sort=None)
        return load("gsplat.triton_impl._wrapper")

    camera = lambda n=1: torch.tensor([[600.0, 0, 512], [0, 600, 384], [0, 0, 1]], device=D).expand(n, 3, 3)
    ahead = lambda n=count: single(n, 3) + torch.tensor([0.0, 0, 6], device=D)
    quaternions = lambda n=count: F.normalize(single(n, 4), dim=-1)
    sizes = lambda n=count: torch.rand(n, 3, device=D) * 0.05 + 0.01
    places = lambda: torch.rand(1, count, 2, device=D) * torch.tensor([width, height], device=D)
    yield (
        "projection",
        lambda: fb(
            gsplat().fully_fused_projection(
                ahead().requires_grad_(), None, quaternions().requires_grad_(), sizes().requires_grad_(),
                torch.eye(4, device=D)[None], camera(), width, height, calc_compensations=True,
            )
        ),
    )  # fmt: skip
    yield (
        "colours",
        lambda: fb(
            gsplat().spherical_harmonics(3, directions(count).requires_grad_(), single(count, 16, 3).requires_grad_())
        ),
    )
    yield (
        "tiles",
        lambda: gsplat().isect_tiles(
            places(), full(12, 1, count), torch.rand(1, count, device=D) + 1, tile, columns, rows, sort=False
        ),
    )
    each = 128
    ids = lambda: torch.arange(rows * columns, device=D).repeat_interleave(each) << 32
    yield "offsets", lambda: gsplat().isect_offset_encode(ids(), 1, columns, rows)

    def render():
        conics = torch.tensor([0.02, 0.0, 0.02], device=D).expand(1, count, 3)
        offsets = (torch.arange(rows * columns, device=D) * each).int().view(1, rows, columns)
        places_, colours, opaque = places(), torch.rand(1, count, 3, device=D), torch.rand(1, count, device=D) * 0.5
        fb(
            gsplat().rasterize_to_pixels(
                places_.requires_grad_(), conics.contiguous().requires_grad_(), colours.requires_grad_(),
                opaque.requires_grad_(), width, height, tile, offsets, whole(count, rows * columns * each),
            )
        )  # fmt: skip

    yield "render", render

    def piece(name):
        gsplat()
        for missing in ("roma", "quaternion"):
            stub(missing)
        return load("test_" + name)

    def symmetric(n, size):
        m = single(n, size, size)
        return m @ m.transpose(1, 2) + torch.eye(size, device=D)

    n = count
    yield "blur", lambda: fb(piece("add_blur")._AddBlurInv.apply(symmetric(n, 2).requires_grad_(), 0.3))
    yield (
        "perspective",
        lambda: fb(
            piece("cam_proj").PerspProj.apply(
                ahead().requires_grad_(), symmetric(n, 3).requires_grad_(), camera(n).contiguous(), width, height
            )
        ),
    )
    covariance = lambda: piece("quat_scale_to_covar").QuatScaleToCovar
    yield "covariance", lambda: fb(covariance().apply(quaternions().requires_grad_(), sizes().requires_grad_()))
    yield "rotation", lambda: fb(piece("quat_to_R").QuatToR.apply(quaternions().requires_grad_()))
    turns = lambda: torch.linalg.qr(single(n, 3, 3))[0].requires_grad_()
    yield (
        "turned_points",
        lambda: fb(piece("transform").TransformV3D.apply(ahead().requires_grad_(), turns(), single(n, 3))),
    )
    yield (
        "turned_covariances",
        lambda: fb(piece("transform").TransformCov3D.apply(symmetric(n, 3).requires_grad_(), turns())),
    )


def weather():
    """Observations of the atmosphere: 262,144, on 12,288 pixels of the sphere, 16 or 17 a pixel."""
    count, pixels, heads, width = 196608, 12288, 32, 32

    def healda(name):
        bare("physicsnemo", "physicsnemo")
        stub("jaxtyping", Float=Hint(), Int=Hint(), Int32=Hint(), Int64=Hint(), Bool=Hint())
        stub("physicsnemo.core")
        stub("physicsnemo.core.version_check", OptionalImport=load)
        return load("physicsnemo.experimental.models.healda.kernels." + name)

    def tokens():
        m, (meta, embed, hidden, out) = healda("obs_tokenizer_film"), (28, 8, 64, 32)
        inputs = (
            single(count), single(count, meta), ints(8, count), ints(64, count), ints(16, count), single(8, embed),
            single(64, embed), single(16, embed), single(meta + 3 * embed, hidden), single(hidden), single(hidden),
            single(hidden), single(hidden, 2 * out), single(2 * out),
        )  # fmt: skip
        sizes = (1e-5, meta, embed, embed, embed, out, False)
        m.fused_film_bwd(torch.randn_like(m.fused_film_fwd(*inputs, *sizes)), *inputs, *sizes)

    yield "tokens", tokens

    def attention(kv_heads):
        m = healda("pixel_attention")
        ends = torch.arange(pixels + 1, device=D, dtype=torch.int32) * (count // pixels)
        weight, bias = lambda: rand(kv_heads * width, width, scale=0.2), lambda: rand(kv_heads * width)
        none = torch.empty(0, device=D, dtype=torch.int32)
        sizes = (width**-0.5, count // pixels, heads // kv_heads, width, kv_heads, True, False)
        q, x, weights = rand(pixels, heads, width), rand(count, width), (weight(), weight(), bias(), bias())
        out, lse = m.pixel_attn_fwd(q, x, *weights, ends, none, none, *sizes)
        m.pixel_attn_bwd(torch.randn_like(out), q, x, *weights, out, lse, ends, none, none, *sizes)

    yield "attention", lambda: attention(1)
    yield "attention_two", lambda: attention(2)


def graphs():
    reduce = lambda *names: load("pyg_lib.ops.scatter_reduce").fused_scatter_reduce(
        single(500000, 64), ints(50000, 500000), 50000, list(names)
    )
    yield "all", lambda: (bare("pyg_lib", "pyg"), reduce("sum", "mean", "min", "max"))
    yield "extremes", lambda: (bare("pyg_lib", "pyg"), reduce("min", "max"))


def proteins():
    """Pairs of 256 residues, 4 heads of 32 features."""

    def triangles():
        bare("protenix", "protenix")
        stub("protenix.utils")
        stub("protenix.utils.distributed", DIST_WRAPPER=types.SimpleNamespace(rank=0))
        mine = types.SimpleNamespace(autotune=triton.autotune)  # theirs writes files
        sys.modules["protenix.model.tri_attention.autotune"] = mine
        with mock.patch("pathlib.Path.mkdir"):
            load("protenix.model.tri_attention.autotune_helpers")
        q, n = lambda: leaf(1, 256, 256, 4, 32), 256
        fb(load("protenix.model.tri_attention.op").TriAttentionFunction.apply(
            q(), q(), q(), leaf(1, n, 1, 1, n, dtype=FP32), leaf(1, 1, 4, n, n)
        ))  # fmt: skip

    yield "triangles", triangles

    def fold(name):
        bare("fastfold", "fastfold")
        return load("fastfold.model.fastnn.kernel.triton." + name)

    x = lambda: leaf(1, 256, 256, 128)
    weight = lambda: leaf(128, dtype=FP32)
    yield (
        "fold_norm",
        lambda: fb(fold("layer_norm").LayerNormTritonFunc.apply(x(), (128,), weight(), weight(), 1e-5)),
    )


def cases():
    for prefix, part in (
        ("harmonics_", harmonics), ("splats_", splats), ("weather_", weather),
        ("scatter_", graphs), ("protein_", proteins),
    ):  # fmt: skip
        for name, case in part():
            yield prefix + name, case
