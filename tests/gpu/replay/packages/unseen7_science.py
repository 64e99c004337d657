"""Weather, sparse and dense algebra, sounds, pictures, physics and neurons of `unseen7`: anemoi-core 2cb9b6e18,
FlagSparse 5663f45, FlagBLAS 30d3843, FlagAudio 53ca331, GS2d_Triton 5d136d9, intelliperf d62d447, flash-snn ba26e61 and
aihwkit-lightning 576d98e.

Left out: FlagSparse's solvers, whose programs wait for each other, its products in buckets, whose rows the order of
atomic operations sorts, and most of its double precision; of FlagBLAS about three quarters, variants of others in other
precisions among them; FlagAudio's preemphasis, whose grid is too large for its sounds, and its frequencies masked at
once, whose positions are numbers; GS2d_Triton's gradients, which become infinite; of intelliperf's examples those that
read what other programs write or what a mask leaves out, and copies of Triton's tutorials; flash-snn's other neurons,
which spikingjelly has, too; and aihwkit-lightning's noise on weights, whose call gives its tuner's sizes twice, and
its quantised outputs, whose kernel reads a variable of its module.

The order of atomic operations decides how flash-snn's gradients of weights and aihwkit-lightning's sums of a tile
round. FlagBLAS writes over its vectors and matrices, and FlagAudio's decibels over their own. Where a program without a
GPU would have to read numbers of a sparse matrix or of Gaussians, it is told some."""

import contextlib
import linecache
import os
import sys
import tempfile
from unittest import mock

import torch
from torch._subclasses.fake_tensor import FakeTensor

from packages.common import BF16, D, FP16, FP32, bare_of, fb, full, ints, leaf, load, rand, scale, stub, whole
from packages.unseen5_training import instead
from packages.unseen6_science import single

bare = bare_of("unseen7")


def weather():
    """The graph transformer of a weather model: 40,320 places of a grid, 10,242 of a mesh, 16 heads of 64 features."""
    heads, width = 16, 64

    def attention(sources, targets, near, dtype=BF16):
        edges = targets * near
        row = ints(sources, edges)
        _, by_source = row.sort(stable=True)
        counts = torch.arange(sources + 1, device=D)
        ends = torch.searchsorted(row[by_source], counts)
        targets_of = torch.arange(edges, device=D) // near
        x = lambda n: leaf(n, heads, width, dtype=dtype)
        module = (bare("anemoi", "anemoi/models/src"), load("anemoi.models.triton.gt"))[1]
        fb(
            module.graph_transformer_attention_conv(
                x(targets), x(sources), x(sources), x(edges), (row, torch.arange(targets + 1, device=D) * near),
                (ends, by_source, targets_of),
            )
        )  # fmt: skip

    yield "encoder", lambda: attention(40320, 10242, 12)
    yield "processor", lambda: attention(10242, 10242, 8, FP32)


def compressed(rows, near, columns, dtype=FP32):
    """A sparse matrix with as many numbers in each row: values, columns, where rows start."""
    return (
        rand(rows * near, dtype=dtype), ints(columns, rows * near).int(),
        (torch.arange(rows + 1, device=D) * near).int(),
    )  # fmt: skip


def asked(size, count, near):
    """What a program without a GPU reads from a sparse matrix, by the words in which it asks."""

    def item(tensor):
        frame = sys._getframe(1)
        line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
        if "[-1]" in line:
            return count
        if "max" in line:
            return near if "length" in line or "nnz" in line or "[1:] -" in line else size - 1
        return 0

    def nonzero(tensor, **options):
        return torch.arange(tensor.numel(), device=D) if isinstance(tensor, FakeTensor) else known(tensor, **options)

    def repeated(x, counts, **options):
        return torch.arange(count, device=D, dtype=x.dtype) if isinstance(x, FakeTensor) else many(x, counts, **options)

    known, many, patches = torch.nonzero, torch.repeat_interleave, contextlib.ExitStack()
    patches.enter_context(mock.patch.object(FakeTensor, "item", item))
    patches.enter_context(mock.patch.multiple(torch, nonzero=nonzero, repeat_interleave=repeated))
    return patches


def sparse():
    """Sparse matrices of 65,536 rows with 32 numbers each, times vectors or 64 columns."""
    n, near, width, block = 65536, 32, 64, 16
    bare_name = "flagsparse.sparse_operations."

    def run(name, *args, size=n, near=near, **more):
        bare("flagsparse", "flagsparse/src")
        module, function = name.split(".")
        count = next((a.shape[0] for a in args if isinstance(a, torch.Tensor)), 0)
        with asked(size, count, near):
            getattr(load(bare_name + module), "flagsparse_" + function)(*args, **more)

    def both(name, dtype):
        x = lambda *shape: rand(*(shape or (n,)), dtype=dtype)
        matrix = lambda: compressed(n, near, n, dtype)
        shape, big = (n, n), 1 << 22
        pairs = lambda: (
            x(n * near), torch.arange(n, device=D, dtype=torch.int32).repeat_interleave(near), ints(n, n * near).int()
        )  # fmt: skip
        yield "gather" + name, lambda: run("gather_scatter.gather", x(big), ints(big, big // 2), size=big)
        yield (
            "scatter" + name,
            lambda: run(
                "gather_scatter.scatter", x(big), torch.randperm(big, device=D)[: big // 2], x(big // 2), size=big
            ),
        )
        yield "vector" + name, lambda: run("spmv_csr.spmv_csr", *matrix(), x(), shape)
        yield "vector_columns" + name, lambda: run("spmv_csc.spmv_csc", *matrix(), x(), shape)
        yield "vector_turned" + name, lambda: run("spmv_csc.spmv_csc", *matrix(), x(), shape, transpose=True)
        yield "vector_pairs" + name, lambda: run("spmv_coo.spmv_coo", *pairs(), x(), shape)
        yield "matrix" + name, lambda: run("spmm_csr.spmm_csr", *matrix(), x(n, width), shape)
        yield "matrix_rows" + name, lambda: run("alpha_spmm_alg1.alpha_spmm_alg1", *matrix(), x(n, width), shape)
        for kind in ({}, {"use_opt": True}, {"transpose": True}):
            yield (
                "vector_blocks_" + "".join(kind) + name,
                lambda k=kind: run(
                    "spmv_bsr.spmv_bsr", x(n // 2, block, block), *compressed(n // block, 8, n // block)[1:], x(),
                    shape, block, size=n // block, near=8, **k,
                ),
            )  # fmt: skip

    yield from both("", FP32)
    yield from both("_complex", torch.complex64)
    for each in (4, 128):
        yield (
            f"vector_{each}",
            lambda e=each: run(
                "spmv_csr.spmv_csr", *compressed(n, e, n), rand(n, dtype=FP32), (n, n), near=e, use_opt=True
            ),
        )
    dense = lambda: rand(n, 128, dtype=FP32)
    yield (
        "dense_at",
        lambda: run("sddmm_csr.sddmm_csr", None, *compressed(n, near, n)[1:], dense(), dense(), (n, n)),
    )


def blas(name):
    """FlagBLAS, its tuner and its launch cache out of the way, as flag_gems of the same makers."""
    if "flag_blas" not in sys.modules:
        os.environ.setdefault("BLAS_VENDOR", "nvidia")
        os.environ.setdefault("FLAGGEMS_CACHE_DIR", tempfile.mkdtemp(prefix="flagblas"))
        memory = type("Memory", (), {"__init__": lambda self, *_: None, "__getattr__": lambda self, _: lambda *a: None})
        instead("flag_blas.utils.models", PersistantModel=memory, SQLPersistantModel=memory)
        library = load("flag_blas.utils.libentry")
        library.LibTuner.run = lambda self, *args, **kwargs: load("triton").runtime.Autotuner.run(self, *args, **kwargs)
        library.LibEntry.run = lambda self, *args, **kwargs: (self.fn.run(*args, **kwargs), {})
    return getattr(load("flag_blas.ops"), name)


def dense():
    """BLAS on vectors of 16,777,216 numbers and matrices of 4,096 or 8,192 rows, or of 65,536 with a band of 32."""
    n, m, band = 1 << 24, 4096, 65536
    kinds = {"s": FP32, "c": torch.complex64, "h": FP16}
    x = lambda kind, *shape: rand(*(shape or (m,)), dtype=kinds[kind])
    one = lambda dtype: torch.zeros(1, device=D, dtype=dtype)
    yield "samax", lambda: blas("samax")(n, x("s", n), 1, one(torch.int32))
    yield "scasum", lambda: blas("scasum")(n, x("c", n), 1, one(FP32))
    yield "snrm2", lambda: blas("snrm2")(n, x("s", n), 1, one(FP32))
    for name in ("sdot", "cdotc"):
        kind = name[0]
        yield name, lambda f=name, k=kind: blas(f)(n, x(k, n), 1, x(k, n), 1, one(kinds[k]))
    yield "crot", lambda: blas("crot")(n, x("c", n), 1, x("c", n), 1, 0.8, 0.6)

    def matrix_vector(name, trans, rows, columns, *bands):
        kind, width = name[0], 32 if bands else columns
        inner, outer = (rows, columns) if trans else (columns, rows)
        more = x(kind, rows, width), width, x(kind, inner), 1, 0.5, x(kind, outer), 1
        blas(name)(trans, rows, columns, *bands, 1.5, *more)

    for name, trans in (("sgemv", 0), ("sgemv", 1), ("cgemv", 0)):
        yield f"{name}_{trans}", lambda f=name, t=trans: matrix_vector(f, t, 8192, m)
    for trans in (0, 1):
        yield f"sgbmv_{trans}", lambda t=trans: matrix_vector("sgbmv", t, band, band, 16, 15)
    yield "sger", lambda: blas("sger")(m, m, 1.5, x("s"), 1, x("s"), 1, x("s", m, m), m)
    yield "cher2", lambda: blas("cher2")(0, m, 1.5, x("c"), 1, x("c"), 1, x("c", m, m), m)
    yield "chemv", lambda: blas("chemv")(0, m, 1.5, x("c", m, m), m, x("c"), 1, 0.5, x("c"), 1)
    packed = m * (m + 1) // 2
    yield "sspmv", lambda: blas("sspmv")(0, m, 1.5, x("s", packed), x("s"), 1, 0.5, x("s"), 1)
    yield "sspr", lambda: blas("sspr")(0, m, 1.5, x("s"), 1, x("s", packed))
    yield (
        "chbmv",
        lambda: blas("chbmv")(0, band, 31, 1.5, x("c", band, 32), 32, x("c", band), 1, 0.5, x("c", band), 1),
    )
    yield "strmv", lambda: blas("strmv")(0, 0, 0, m, x("s", m, m), m, x("s"), 1)
    yield "stbmv", lambda: blas("stbmv")(0, 0, 0, band, 31, x("s", band, 32), 32, x("s", band), 1)
    yield "stpmv", lambda: blas("stpmv")(0, 0, 0, m, x("s", packed), x("s"), 1)

    def product(name, size):
        a = lambda: x(name[0], size, size)
        blas(name)(0, 0, size, size, size, 1.0, a(), size, a(), size, 0.0, a(), size)

    for name, size in (("sgemm", 4096), ("hgemm", 4096), ("cgemm", 2048)):
        yield name, lambda f=name, s=size: product(f, s)
    square = lambda: x("s", 2048, 2048)
    yield (
        "strmm",
        lambda: blas("strmm")(0, 0, 0, 0, 2048, 2048, 1.0, square(), 2048, square(), 2048, square(), 2048),
    )


def sounds():
    """32 sounds of 10 s at 16,000 numbers a second, and their spectrograms of 128 by 1,000."""
    wave = lambda: single(32, 160000, scale=0.1)
    image = lambda: scale(32, 128, 1000)

    def op(name):
        bare("flag_audio", "flagaudio/src")
        stub("torchaudio")
        return getattr(load("flag_audio.ops." + name), name)

    yield "noise", lambda: op("add_noise")(wave(), wave(), full(10.0, 32, dtype=FP32))
    yield "decibels", lambda: op("amplitude_to_DB")(image(), 10.0, 1e-10, 0.0, 80.0)
    yield "amplitudes", lambda: op("DB_to_amplitude")(single(32, 128, 1000), 1.0, 0.5)
    yield "gain", lambda: op("gain")(wave(), 6.0)
    yield "shift", lambda: op("dcshift")(wave(), 0.1)
    yield "mu_law", lambda: op("mu_law_encoding")(wave().clamp(-1, 1), 256)
    for axis in (1, 2):
        yield f"mask_{axis}", lambda a=axis: op("mask_along_axis_iid")(image(), 30, 0.0, a)

    def centroid():
        op("spectral_centroid")(wave(), 16000, 0, torch.hann_window(400, device=D), 400, 160, 400)

    yield "centroid", centroid


def reads(*numbers):
    """What a program without a GPU reads from tensors is these numbers in turn."""
    left = iter(numbers)
    return mock.patch.object(FakeTensor, "item", lambda tensor: next(left))


def pictures():
    """32 pictures of 256 by 256 from 2,000 Gaussians each."""

    def render(tile):
        stub("pylab")
        count = 32 * 2000
        unit = lambda n: torch.rand(count, n, device=D)
        draw = load("src.gs2d").Gaussian2dRender(1, 1, tile, tile, 256, 256, FP32)
        inputs = [unit(2) * 256, unit(2) * 20 + 1, unit(1), unit(4), unit(1)]
        batch = torch.arange(count, device=D) // 2000
        with reads(31, 4000000):
            draw(batch.int(), *inputs)

    yield "render", lambda: render(16)
    yield "render_small", lambda: render(4)


def physics():
    """Simulations of intelliperf's examples, at its sizes or a part of them."""
    at = lambda name: load("autogen_science_10." + name)
    bodies = lambda n=16384: single(3, n)
    places = lambda *shape: torch.rand(*shape, device=D)
    yield (
        "gravity",
        lambda: at("gravity_potential").gravity_potential(scale(1024), places(2, 1024) * 4096, 4096, 4096),
    )
    yield "bodies", lambda: at("n_body").n_body_simulation(bodies(), bodies(), 0.01, 1e-3)
    yield "jacobi", lambda: at("jacobi_3d").jacobi_3d_step(single(512, 512, 512))
    yield "ising", lambda: at("ising_model").ising_model_step((whole(2, 4096, 4096) * 2 - 1).to(torch.int8), 0.44)
    yield "lattice", lambda: at("lbm_d2q9").lbm_d2q9_step(scale(9, 2048, 2048), 1.0)
    many, cells = 1 << 24, 1 << 14
    yield (
        "plasma",
        lambda: at("pic_1d").pic_1d_step(places(many) * 16000, single(many), single(cells), 1.0, 0.1),
    )


def neurons():
    """Spiking neurons that see all of their 8 or 16 steps at once, 64 images of 128 by 28 by 28; leaky integrators."""

    def ops(name):
        for part in ("spikingjelly", "spikingjelly.activation_based"):
            stub(part)
        stub("spikingjelly.activation_based.surrogate", atan=mock.MagicMock())
        with mock.patch.object(torch.jit, "script", lambda f: f):
            return load("flashsnn.ops." + name)

    x = lambda steps=16: leaf(steps, 64, 128, 28, 28, dtype=FP32)

    def parallel(steps):
        weight, bias = leaf(steps, steps, dtype=FP32, scale=0.1), leaf(steps, 1, dtype=FP32)
        fb(ops("psn.psn").PSNAtanFunction.apply(x(steps), weight, bias))

    yield "parallel", lambda: parallel(16)
    yield "parallel_few", lambda: parallel(8)

    def quiet():
        with torch.no_grad():
            ops("psn.psn").psn_inference(x(), single(16, 16), single(16, 1))

    yield "inference", quiet
    yield (
        "window",
        lambda: fb(ops("psn.sliding_psn").GenerateSlidingPSNGemmWeightFunction.apply(leaf(32, dtype=FP32), 512)),
    )
    yield "leaky", lambda: fb(ops("leaky_integrator.li_iterative").MultistepLIIterativeFunction.apply(x(), 0.9))
    yield (
        "leaky_learned",
        lambda: fb(
            ops("leaky_integrator.pli_iterative").MultistepPLIIterativeFunction.apply(
                x(), full(0.9, 64, 128, 28, 28, dtype=FP32).requires_grad_()
            )
        ),
    )


def analog():
    """Layers on analog chips, whose tiles have 512 inputs each: 4,096 tokens of 4,096 features."""
    tokens, width, tile = 4096, 4096, 512

    def layer(dynamic):
        config = load("aihwkit_lightning.simulator.configs.configs").TorchInferenceRPUConfig()
        kinds = load("aihwkit_lightning.simulator.parameters.enums")
        config.forward.inp_res, config.forward.out_noise = 254, 0.02
        config.forward.out_res, config.forward.out_bound = -1, 12.0 if dynamic else -1
        config.pre_post.input_range.dynamic = dynamic
        if dynamic:
            config.clip.type = kinds.WeightClipType.LAYER_GAUSSIAN_PER_CHANNEL
        tiles = width // tile
        ranges = () if dynamic else (full(3.0, tiles, dtype=FP16), torch.zeros(tiles, device=D))
        ends = torch.arange(tile, width + 1, tile, device=D, dtype=torch.int32)
        x, weights = rand(tokens, width, dtype=FP16), rand(width, width, dtype=FP16, scale=0.02)
        module = load("aihwkit_lightning.nn.modules.triton_utils.triton_linear")
        with torch.no_grad():
            module.TritonLinear.apply(x, weights, *(ranges or (None, None)), None, ends, config, True)

    yield "dynamic", lambda: layer(True)
    yield "learned", lambda: layer(False)


def cases():
    for prefix, part in (
        ("weather_", weather), ("sparse_", sparse), ("blas_", dense), ("sound_", sounds), ("picture_", pictures),
        ("physics_", physics), ("neuron_", neurons), ("analog_", analog),
    ):  # fmt: skip
        for name, case in part():
            yield prefix + name, case
