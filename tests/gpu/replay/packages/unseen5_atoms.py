"""Atoms of `unseen5`: deepmd-kit bc902daf7.

The configurations are those that it has for the H20, the only GPU of Hopper's kind among its tables. Left out: the
gradient of its product of blocks, which it does not use, and its optimiser's product of a matrix with itself, which is
flash-muon's. The order of atomic operations decides how gradients that are scattered to atoms round."""

from unittest import mock

import torch
import torch.nn.functional as F

from packages.common import D, FP32, bare_of, fb, ints, load, rand, stub

bare = bare_of("unseen5")


def single(*shape, scale=1.0):
    return rand(*shape, dtype=FP32, scale=scale)


def grad(*shape, scale=1.0):
    return single(*shape, scale=scale).requires_grad_()


def deepmd(name):
    bare("deepmd", "deepmd")
    stub("deepmd.dpmodel")
    stub("deepmd.dpmodel.utils")
    stub("deepmd.dpmodel.utils.safe_gradient", safe_for_vector_norm=None)
    return load("deepmd.kernels.triton." + name)


def tuned(case):
    """The case with the configurations of the H20 and all kernels that these allow."""

    def run():
        with mock.patch.object(torch.cuda, "get_device_name", lambda *device: "NVIDIA H20"):
            with mock.patch.dict("os.environ", DP_TRITON_INFER="3"):
                case()

    return run


def dpa1():
    """DPA-1: 8,192 atoms with 120 neighbours each, embeddings of 25, 50 and 100 and of 32, 64 and 128 features."""
    atoms, near, kinds = 8192, 120, 4
    edges = atoms * near // 2

    def environment(radial, switch=False):
        width = 1 if radial else 4
        out = deepmd("env_mat").env_mat(
            grad(1, 2 * atoms, 3, scale=5.0), ints(2 * atoms, 1, atoms, near), ints(kinds, 1, atoms),
            single(kinds, near, width), single(kinds, near, width).abs() + 0.1, 6.0, 0.5, radial, 0.0, switch,
        )  # fmt: skip
        fb(out)

    yield "environment", lambda: environment(False)
    yield "environment_radial", lambda: environment(True, True)
    yield (
        "environment_edges",
        lambda: fb(
            deepmd("env_mat").edge_env_mat(
                grad(edges, 3, scale=3.0), ints(kinds, edges), single(kinds, 4), single(kinds, 4).abs() + 0.1, 6.0, 0.5,
                0.0, torch.rand(edges, device=D) < 0.95, True,
            )
        ),
    )  # fmt: skip

    def convolution(width, basis, gated, act):
        shape, count = (atoms // 2, near), atoms // 2 * near
        fb(
            deepmd("dpa1.se_conv").se_conv(
                grad(*shape, width), grad(*shape, width // 2), torch.ones(width, device=D), single(4096, width),
                ints(4096, count), torch.rand(*shape, device=D).requires_grad_(), grad(*shape, basis), 2, act, gated,
            )
        )  # fmt: skip

    yield "convolution", lambda: convolution(128, 4, 1, 0)
    yield "convolution_100", lambda: convolution(100, 4, 0, 1)

    def edge_convolution(width, gated):
        nodes = atoms // 2
        centres = torch.arange(nodes, device=D).repeat_interleave(edges // nodes)
        fb(
            deepmd("dpa1.edge_conv").edge_conv(
                grad(edges, width), grad(edges, width // 2), torch.ones(width, device=D), single(4096, width),
                ints(4096, edges), torch.rand(edges, device=D).requires_grad_(), grad(edges, 4), centres,
                (torch.rand(edges, device=D) < 0.95).float(), nodes, 2, 0, gated,
            )
        )  # fmt: skip

    yield "edge_convolution", lambda: edge_convolution(128, 1)
    yield "edge_convolution_100", lambda: edge_convolution(100, 0)
    gemm = lambda: deepmd("dpa1.gemm_fp16x3").embed_gemm_fp16x3
    yield "embedding", lambda: fb(gemm()(grad(edges, 64), single(64, 128, scale=0.1)))


def sezm():
    """An equivariant model up to degree 3, two streams of 64 channels: 512 atoms, 128 neighbours each."""
    degree, streams, width, atoms, edges = 3, 2, 64, 512, 65536
    full, local, wide = 16, 10, 128
    order = [0, 2, 6, 12, 1, 5, 11, 3, 7, 13]  # by order m, then by degree

    def wigner():
        rows = torch.zeros(edges, full, full, device=D)
        for i in range(degree + 1):
            rows[:, i * i : (i + 1) ** 2, i * i : (i + 1) ** 2] = single(edges, 2 * i + 1, 2 * i + 1)
        return rows.requires_grad_()

    sources = lambda: ints(atoms, edges)
    index = lambda: torch.tensor(order, device=D)
    rotation = lambda name, *args: fb(getattr(deepmd("sezm.so2_rotation"), name)(*args))
    yield (
        "to_local",
        lambda: rotation("rotate_to_local_dense", grad(atoms, full, wide), sources(), wigner(), index(), full),
    )
    yield "back", lambda: rotation("rotate_back_dense", grad(edges, local, wide), wigner(), index(), full)
    yield (
        "to_local_blocks",
        lambda: rotation("rotate_to_local_block", grad(atoms, full, wide), sources(), wigner(), degree),
    )
    yield "back_blocks", lambda: rotation("rotate_back_block", grad(edges, local, wide), wigner(), degree)
    yield (
        "back_streams",
        lambda: rotation("rotate_back_block_so2", grad(edges, streams, local, width), wigner(), degree),
    )
    kernel = full + degree * degree
    yield (
        "radial_mix",
        lambda: fb(
            deepmd("sezm.radial_mix").radial_mix_block(
                grad(edges, kernel, 2), grad(edges, local, wide), single(2, wide), degree
            )
        ),
    )
    blocks = [(0, 256, 0, 256), (256, 640, 256, 640)]
    yield (
        "block_product",
        lambda: fb(
            deepmd("sezm.so2_block_gemm").block_diag_gemm(
                grad(streams, edges, 640), single(streams, 640, 640, scale=0.05), blocks
            )
        ),
    )
    ends = lambda: torch.arange(atoms + 1, device=D) * (edges // atoms)
    centres = lambda: torch.arange(atoms, device=D).repeat_interleave(edges // atoms)

    def attention(features, heads):
        fb(
            deepmd("sezm.flash_atten").flash_atten_aggregate(
                grad(edges, streams, local, features), wigner(), single(full).abs() + 0.5,
                torch.rand(edges, streams, heads, device=D).requires_grad_(), ends(), centres(), degree, heads,
            )
        )  # fmt: skip

    yield "attention", lambda: attention(64, 4)
    yield "attention_32", lambda: attention(32, 1)

    def forces():
        edge_order = lambda: torch.randperm(edges, device=D)
        deepmd("sezm.force_assembly").edge_force_assembly(
            single(edges, 3), single(edges, 3), edge_order(), ends(), edge_order(), ends()
        )

    yield "forces", forces
    powers = [(a, b, c, 6 - a - b - c) for a in range(7) for b in range(7 - a) for c in range(7 - a - b)]
    yield (
        "monomials",
        lambda: fb(
            deepmd("sezm.wigner_monomials").wigner_monomials(
                F.normalize(single(edges, 4), dim=-1).requires_grad_(), [n for row in powers for n in row], 6
            )
        ),
    )

    def rotate_mix(features):
        path, channels = deepmd("sezm.so2_value_path"), streams * features
        x, kc, cb = grad(atoms, full, channels), grad(edges, kernel), single(1, channels)
        fb(path._rotate_mix_op(x, sources(), wigner(), kc, cb, degree, streams, 1))

    yield "rotate_mix", lambda: rotate_mix(64)
    yield "rotate_mix_32", lambda: rotate_mix(32)

    def segments():
        path = deepmd("sezm.so2_value_path")
        path._segment_sum_op(single(edges, full, wide), torch.randperm(edges, device=D), ends())

    yield "segments", segments

    def stack(features, halves):
        half, layers = degree * features, 3
        deepmd("sezm.so2_value_path")
        module = deepmd("sezm.so2_stack_fp16x3" if halves else "sezm.so2_value_path")
        operator = module.mixing_stack_fp16x3 if halves else module._mixing_stack_op
        weight = lambda size, n=layers: single(n, streams, size, size, scale=0.1)
        out = operator(
            grad(streams, edges, local * features), torch.rand(edges, streams, device=D).requires_grad_(),
            weight((degree + 1) * features), weight(2 * half), single(layers - 1, streams, features, half, scale=0.1),
            degree, features, True,
        )  # fmt: skip
        fb(out)

    yield "stack", lambda: stack(64, False)
    yield "stack_96", lambda: stack(96, False)
    yield "stack_halves", lambda: stack(64, True)


def cases():
    for prefix, part in (("dpa1_", dpa1), ("sezm_", sezm)):
        for name, case in part():
            yield "deepmd_" + prefix + name, tuned(case)
