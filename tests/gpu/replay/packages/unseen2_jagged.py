"""Batches of sequences of different lengths, embedding bags, 2-simplicial attention and sparse convolutions of
`unseen2`: FBGEMM 71d6f8b, EleutherAI's sae e657340, SparseTriton 2034546.

The order of atomic operations decides which slots build_hash_table_kernel fills and what map_embeddings_and_outputs_k
writes, and how the simplicial gradients round. Of FBGEMM, what MSLK has, too, is left out."""

import torch

from packages.common import D, FP16, FP32, BarePackages, fb, folder_of, ints, leaf, load, rand, stub

USERS, LONGEST, WIDTH = 64, 512, 128
LENGTHS = [64 + 37 * i % (LONGEST - 63) for i in range(USERS)]  # 64 to 512
TOTAL, SQUARES = sum(LENGTHS), sum(n * n for n in LENGTHS)


def offsets(lengths, dtype=torch.int64):
    return torch.tensor([sum(lengths[:i]) for i in range(len(lengths) + 1)], device=D, dtype=dtype)


def rows():
    return offsets(LENGTHS)


def squares():
    return offsets([n * n for n in LENGTHS])


def sizes():
    return torch.tensor(LENGTHS, device=D)


class Torch:
    """torch whose zeros takes a size that is a sum of lengths: fake tensors do not know it."""

    def __getattr__(self, name):
        return getattr(torch, name)

    @staticmethod
    def zeros(size, *rest, **kwargs):
        return torch.zeros(SQUARES if isinstance(size, torch.Tensor) else size, *rest, **kwargs)


def sequences():
    """FBGEMM's operators of long sequences of users."""

    def sll(name):
        BarePackages("fbgemm_gpu", folder_of("unseen2/fbgemm/fbgemm_gpu"))
        return load("fbgemm_gpu.sll.triton.triton_" + name)

    x = lambda width=WIDTH, dtype=FP16: leaf(TOTAL, width, dtype=dtype, scale=0.2)
    square = lambda: leaf(SQUARES, dtype=FP16)
    yield "fbgemm_cat", lambda: sll("dense_jagged_cat_jagged_out").dense_jagged_cat_jagged_out(
        ints(1 << 20, USERS), ints(1 << 20, TOTAL), rows(), LONGEST
    )

    def pad():
        m = sll("jagged2_to_padded_dense")
        padded = m.jagged2_to_padded_dense_fwd(square().detach(), sizes().int(), squares(), LONGEST, 0.0)
        m.padded_dense_to_jagged2_fwd(padded, sizes().int(), squares(), LONGEST)

    yield "fbgemm_pad_squares", pad
    for dtype in (FP16, FP32):
        yield f"fbgemm_dense_bmm_{str(dtype)[6:]}", lambda d=dtype: fb(
            sll("jagged_bmm").JaggedDenseBmm.apply(x(256, d), leaf(USERS, 256, 128, dtype=d), rows(), LONGEST, True)
        )
    yield "fbgemm_jagged_bmm", lambda: fb(
        sll("jagged_bmm").JaggedJaggedBmm.apply(x(256), x(), rows(), LONGEST, False)
    )

    def no_padding(first):
        m = sll("jagged_bmm_jagged_out")
        m.torch = Torch()
        one, two = (sizes(), rows()), (sizes() ** 2, squares())
        if first:
            fb(m.ArrayJaggedBmmNopadding.apply(square(), x(), *two, *one, *one, LONGEST, True))
        else:
            fb(m.JaggedJaggedBmmNoPadding.apply(x(), x(), *one, *one, *two, LONGEST, True))

    for first in (True, False):
        yield "fbgemm_array_bmm" if first else "fbgemm_jagged_bmm_out", lambda f=first: no_padding(f)
    yield "fbgemm_add", lambda: fb(
        sll("jagged_dense_elementwise_add").JaggedDenseAdd.apply(x(), rows(), leaf(USERS, LONGEST, WIDTH), LONGEST)
    )
    yield "fbgemm_mul", lambda: fb(
        sll("jagged_dense_elementwise_mul_jagged_out").jagged_dense_elementwise_mul_jagged_out(
            square(), rand(LONGEST, LONGEST, dtype=FP16), sizes(), squares(), LONGEST
        )
    )
    yield "fbgemm_dense_attention", lambda: fb(
        sll("jagged_dense_flash_attention").jagged_dense_flash_attention(
            x(64, FP32), leaf(USERS, 64, 128, dtype=FP32), x(64, FP32), leaf(USERS, LONGEST, 128, dtype=FP32), rows(),
            LONGEST,
        )
    )
    yield "fbgemm_attention", lambda: fb(
        sll("jagged_flash_attention_basic").jagged_flash_attention_basic(x(64), x(64), x(64), rows(), LONGEST)
    )
    heads = lambda: leaf(8, TOTAL, 64, dtype=FP16, scale=0.3)
    yield "fbgemm_attention_heads", lambda: fb(
        sll("multi_head_jagged_flash_attention").multi_head_jagged_flash_attention(
            heads(), heads(), heads(), rows(), LONGEST
        )
    )
    yield "fbgemm_softmax", lambda: fb(sll("jagged_softmax").jagged_softmax(x(), rows(), LONGEST, False))
    yield "fbgemm_softmax_squares", lambda: fb(
        sll("jagged_softmax").jagged2_softmax(square(), rows(), squares(), LONGEST, True)
    )

    def differences():
        fewer = offsets([(n - 1) ** 2 for n in LENGTHS])
        sll("jagged_self_substraction_jagged_out").triton_jagged_self_substraction_jagged_out(
            ints(1 << 20, TOTAL), rows(), fewer, LONGEST
        )

    yield "fbgemm_differences", differences

    def tensor_ops():
        BarePackages("fbgemm_gpu", folder_of("unseen2/fbgemm/fbgemm_gpu"))
        return load("fbgemm_gpu.triton.jagged.triton_jagged_tensor_ops")

    for name in ("add", "mul"):
        yield f"fbgemm_jagged_{name}", lambda n=name: getattr(tensor_ops(), f"triton_jagged_{n}_jagged")(
            rand(TOTAL, 256), rand(TOTAL, 256)
        )
    yield "fbgemm_vector_matmul", lambda: tensor_ops().batched_dense_vec_jagged_2d_matmul(
        rand(USERS * 8, LONGEST, dtype=FP32), rand(TOTAL, 8 * WIDTH, dtype=FP32), rows()
    )


def recommendation():
    """More of FBGEMM: candidates that share a user's keys, MX4, and attention to pairs of keys in two windows."""

    def shared(name):
        stub("triton.language.extra.tlx")
        return load("ikbo.ops.triton_ikbo_" + name)

    users, candidates = 16, 256
    owner = lambda: torch.arange(candidates, device=D, dtype=torch.int32) // (candidates // users)
    yield "fbgemm_candidates_attention", lambda: shared("fa").triton_flash_attn_ikbo_tma(
        rand(candidates * 64, 4, 128), rand(users * 1024, 4, 128), rand(users * 1024, 4, 128), owner(), 64, 1024
    )
    yield "fbgemm_candidates_matmul", lambda: shared("lce").triton_ikbo_lce(
        rand(512, 1024), rand(512, 1024), rand(candidates, 1024, 256, scale=0.1), rand(users, 1024, 256), owner()
    )

    def quantize():
        BarePackages("fbgemm_gpu", folder_of("unseen2/fbgemm/fbgemm_gpu"))
        return load("fbgemm_gpu.triton.quantize")

    yield "fbgemm_quantize_mx4", lambda: quantize().triton_quantize_mx4(rand(4096, 4096))
    yield "fbgemm_dequantize_mx4", lambda: quantize().triton_dequantize_mx4(
        ints(120, 4096 * 128, 17, dtype=torch.uint8)
    )

    def simplicial():
        m = lambda name: load("simplicial.ops.triton." + name)
        length, heads, width = 512, 64, 128
        q, kv = rand(1, length, heads, width), [rand(1, length, 1, width) for _ in range(4)]
        out, maxima = m("fwd").triton_fwd(q, *kv, 128, 32)
        kv = [t.repeat(1, 1, heads, 1) for t in kv]  # the backward kernels want one for each head
        m("bwd").triton_bwd(q, *kv, out, rand(1, length, heads, width), maxima, 128, 32)

    yield "fbgemm_simplicial", simplicial


def embeddings():
    """Decoders of sparse autoencoders: 32 of 65536 features a token."""
    BarePackages("sparsify", folder_of("unseen2/sae"))
    for width in (1024, 4096):
        yield f"sae_embedding_bag_{width}", lambda w=width: fb(
            load("sparsify.xformers").xFormersEmbeddingBag.apply(
                torch.rand(4096, 65536, device=D).topk(32).indices, leaf(65536, w, scale=0.02), leaf(4096, 32)
            )
        )


def convolutions():
    """Points in two grids of 128x128x128."""

    def tensor(points, channels, dtype):
        at = torch.randperm(2 * 128**3, device=D)[:points]
        places = torch.stack([at // 128**3, at // 16384 % 128, at // 128 % 128, at % 128], 1)
        return load("sparsetriton").SparseTensor(
            leaf(points, channels, dtype=dtype), places, spatial_shape=(128, 128, 128), batch_size=2
        )

    weight = lambda: leaf(27, 64, 64, dtype=FP16, scale=0.05)
    functions = lambda name: load("sparsetriton.nn.functional.conv.funcs." + name)

    def convolve(precomputed):
        """The neighbours of each point; those outside of the grids are not found."""
        x, table = tensor(100000, 64, FP16), load("sparsetriton.utils.hash").HashTable(200000, D)
        table.insert(x.C)
        three = torch.arange(-1, 2, device=D, dtype=x.C.dtype)
        around = torch.cartesian_prod(torch.zeros_like(three[:1]), three, three, three)
        if precomputed:
            found = table.query((x.C[:, None] + around).reshape(-1, 4)).reshape(-1, 27)
            fb(functions("implicit_precomputed_gemm").ConvPrecomputedNeighborGEMM.apply(x.F, weight(), found))
        else:
            fb(
                functions("implicit_hashfly_gemm").ConvHashOnTheFlyImplicitGEMM.apply(
                    x.F, weight(), x.C, around[:, 1:], table.table_keys, table.table_values, x.spatial_shape, 1
                )
            )

    for precomputed in (False, True):
        yield f"sparse_conv_{precomputed}", lambda p=precomputed: convolve(p)
    spatial = lambda: load("sparsetriton.nn.functional.spatial")

    def upsample():
        x = tensor(40000, 64, FP16)
        fb(spatial().SparseUpsampleFunction.apply(x.F, x.C, x.spatial_shape, 2)[0])

    yield "sparse_upsample", upsample

    def dense():
        x = tensor(100000, 64, FP16)
        fb(load("sparsetriton.utils.to_dense").ToDenseFunction.apply(x.F, x.C, (128, 128, 128), 2))

    yield "sparse_to_dense", dense

    def limits():
        x = tensor(1000000, 16, FP16)
        load("sparsetriton.utils.spatial.tile").mask_spatial_range(x.C, (8, 119), (8, 119), (0, 100))

    yield "sparse_mask_range", limits


def cases():
    for part in (sequences, recommendation, embeddings, convolutions):
        yield from part()
