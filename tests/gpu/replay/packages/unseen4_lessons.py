"""Examples, courses and contests of `unseen4`: kernels eeeebdd, triton_docs_tutorials 1d79d23, KernelAgent a3001c7,
reference-kernels f83cb92 and transformer_nuggets 0e6d4fc.

Left out: the first repository's dense product, which asks nvidia-smi for the GPU's clock, its block-sparse products
that need tables made from the data, and its attention, which is Triton's tutorial; the second's sum, softmax, dropout
and layer norm, which other sets have; and the last one's products by descriptors of an older Triton and its
quantisation that waits in the kernel for other programs."""

import torch

from packages.common import BF16, D, FP16, FP32, fb, fp8, full, ints, leaf, load, rand, scale, stub


def examples():
    """Llama's vocabulary, and 12 heads of BigBird on 4,096 tokens."""
    logits = lambda dtype: (leaf(4096, 32000, dtype=dtype), ints(32000, 4096))
    ops = lambda name: load("kernels." + name)
    yield "cross_entropy", lambda: fb(ops("cross_entropy").cross_entropy(*logits(BF16)))
    yield "cross_entropy_fp32", lambda: fb(ops("cross_entropy").cross_entropy(*logits(FP32)))
    heads, rows, size = 12, 64, 64
    columns = [[0, *range(max(1, row - 7), row + 1)] if row else [0] for row in range(rows)]
    chosen = heads * sum(map(len, columns))

    def product():
        blocks = [(head, row, c) for head in range(heads) for row in range(rows) for c in columns[row]]
        lut = torch.tensor(blocks, device=D, dtype=torch.int32)
        q, k = (rand(2, heads, rows * size, 64, dtype=FP16) for _ in range(2))
        ops("blocksparse.matmul").sdd_matmul(q, k, False, True, False, (heads, rows, rows), size, lut, None)

    def softmax(dtype):
        lengths = [len(row) for _ in range(heads) for row in columns]
        header = [n for i, length in enumerate(lengths) for n in (length, sum(lengths[:i]))]
        lut = torch.tensor(header + heads * sum(columns, []), device=D, dtype=torch.int32)
        x = leaf(2, chosen, size, size, dtype=dtype)
        longest = size * max(lengths)
        shape = (heads, rows, rows)
        fb(ops("blocksparse.softmax")._softmax.apply(x, 0.125, None, True, shape, size, lut, longest, False))

    yield "sparse_product", product
    yield "sparse_softmax", lambda: softmax(FP16)
    yield "sparse_softmax_fp32", lambda: softmax(FP32)


def lessons():
    """At the sizes of the benchmarks of the lessons."""
    yield "matmul", lambda: load("06_matmul.matmul").matmul(rand(4096, 4096, dtype=FP16), rand(4096, 4096, dtype=FP16))
    x = lambda: leaf(2, 8, 2048, 64, dtype=FP32)
    yield "attention", lambda: fb(load("09_flash_attention.flash_attention").triton_attention(x(), x(), x(), 0.125))
    yield (
        "cross_entropy",
        lambda: load("10_CEloss_project.celoss").fused_CELoss(
            rand(8, 1024, 384, dtype=FP32), rand(384, 8192, dtype=FP32, scale=0.05), ints(8192, 8, 1024)
        ),
    )


def generated():
    """KernelBench's problems; matrices of 32 rows; and casts to 8 bits."""
    agent = lambda name: load(name + ".input").kernel_function
    yield "matvec", lambda: agent("optimize_01_matvec")(rand(2048, 131072), rand(131072, 1))
    images = lambda: rand(16, 64, 512, 512, dtype=FP16)
    yield "rms_norm", lambda: agent("optimize_02_rmsnorm")(images(), out=torch.empty_like(images()))
    yield "max_pool", lambda: agent("optimize_03_max_pooling")(rand(8, 32, 96, 96, 96), 3, 2, 1, 3)
    stub("task", input_t=None, output_t=None)
    contest = lambda name: load(name)

    def cholesky():
        x = rand(4096, 32, 32, dtype=FP32)
        definite = x @ x.transpose(1, 2) + 32 * torch.eye(32, device=D)
        contest("cholesky_py.submissions.triton_cholesky32").custom_kernel(definite)

    yield "cholesky", cholesky
    yield (
        "diagonal_vectors",
        lambda: contest("eigh_py.submissions.triton_diagonal_fast_path")._diagonal_eigh(
            torch.diag_embed(rand(64, 512, dtype=FP32))
        ),
    )
    stub("triton.tools.experimental_descriptor")
    stub("triton.language.extra.cuda._experimental_tma", experimental_device_tensormap_create2d=None)
    fp8_of = lambda name: load("transformer_nuggets.fp8." + name)
    one = lambda: full(0.5, 1, dtype=FP32)
    largest = lambda: full(0.0, 1, dtype=FP32)
    yield "cast", lambda: fp8_of("scaled_quant").scaled_quant(rand(4096, 4096), one(), largest(), saturated=True)
    yield (
        "cast_e5m2",
        lambda: fp8_of("scaled_quant").scaled_quant(
            rand(4096, 4096, dtype=FP32), one(), largest(), torch.float8_e5m2
        ),
    )  # fmt: skip

    def product(*scales):
        fp8_of("fp8_matmul").matmul_persistent(fp8(4096, 4096), scales[0], fp8(4096, 4096).t(), scales[1], BF16)

    yield "fp8_product", lambda: product(scale(1, 1), scale(1, 1))
    yield "fp8_product_rows", lambda: product(scale(4096, 1), scale(1, 4096))


def cases():
    for prefix, part in (
        ("kernels_", examples), ("lesson_", lessons), ("generated_", generated)
    ):  # fmt: skip
        for name, case in part():
            yield prefix + name, case
