"""Packages that were first timed together: attorch 67c2772, trident 6c429c6, FlagAttention ee91638, lightning-attention
d15c385, stk 7363137, xformers ca6d2aa, MSLK 2a3c897, applied-ai 4f8c39e, tritonbench's operators 0efdc53, and lightllm
fc72ffa (strangers_lightllm.py).

Of each repository the `.py` files do; of MSLK without moe/__init__.py, which asks for compiled operators. trident calls
exp, max, pow and tanh, and passes arguments to autotune, as Triton 2.1 had them: there they were replaced."""

import importlib
import os

import torch

from packages import stand_ins, strangers_lightllm
from packages.common import BF16, D, FP16, FP32, fb, fp8, ints, leaf, rand, scale, starts, stub, unit, whole

AI = "strangers/applied_ai/"
PATHS = [
    "strangers/attorch",
    "strangers/trident",
    "strangers/flag_attn/src",
    "strangers/lightning",
    "strangers/stk",
    "strangers/xformers",
    "strangers/mslk",
    "strangers/tb_ops",
    "strangers/lightllm",
    AI + "kernels/triton/inference/col_major_moe_gemm",
    AI + "kernels/triton/inference/flash_attention",
    AI + "kernels/triton/inference/fp8",
    AI + "kernels/triton/inference/gptq",
    AI + "kernels/triton/inference/mamba/causal_1d_conv/causal_1d_conv",
    AI + "kernels/triton/inference/paged_attention",
    AI + "kernels/triton/training/fused_softmax",
    AI + "kernels/triton/training/rms_norm",
]
N, C, V = 8192, 4096, 32768


def attorch():
    module = lambda: importlib.import_module("attorch")
    half, single = dict(device=D, dtype=FP16), dict(device=D, dtype=FP32)

    def layer(name, make, shape, dtype=FP16):
        return "attorch_" + name, lambda: fb(make(module())(leaf(*shape, dtype=dtype)))

    for name in ("Sigmoid", "GELU", "Mish", "SELU", "Softplus", "Tanhshrink", "Hardswish", "LogSigmoid"):
        yield layer(name, lambda m, n=name: getattr(m, n)(), (N, C))
    yield layer("GELU_dropout", lambda m: m.GELU(drop_p=0.1), (N, C))
    yield layer("Dropout", lambda m: m.Dropout(0.1), (N, C))
    yield layer("GLU", lambda m: m.GLU(act_func="silu"), (N, 2 * C))
    yield layer("LayerNorm", lambda m: m.LayerNorm(C, **half), (N, C))
    yield layer("RMSNorm", lambda m: m.RMSNorm(C, **half), (N, C))
    yield layer("Softmax", lambda m: m.Softmax(dim=-1), (N, C))
    yield layer("LogSoftmax", lambda m: m.LogSoftmax(dim=-1), (N, C))
    yield layer("Linear", lambda m: m.Linear(C, C, **half), (N, C))
    yield layer("Linear_act", lambda m: m.Linear(C, C, act_func="gelu", **half), (N, C))
    yield layer("BatchNorm2d", lambda m: m.BatchNorm2d(256, **single), (32, 256, 56, 56), FP32)
    yield layer("BatchNorm1d_act", lambda m: m.BatchNorm1d(1024, act_func="relu", **single), (N, 1024), FP32)
    yield layer("Conv2d", lambda m: m.Conv2d(64, 128, 3, padding=1, **half), (16, 64, 56, 56))
    yield layer("AvgPool2d", lambda m: m.AvgPool2d(2), (16, 64, 56, 56))

    def loss(make, shape, target):
        x = leaf(*shape, dtype=FP32)
        fb(make(module())(x, target(x)))

    yield "attorch_CrossEntropyLoss", lambda: loss(lambda m: m.CrossEntropyLoss(), (N, C), lambda x: ints(C, N))
    yield "attorch_NLLLoss", lambda: loss(lambda m: m.NLLLoss(), (N, C), lambda x: ints(C, N))
    for name in ("MSELoss", "L1Loss", "HuberLoss"):
        yield "attorch_" + name, lambda n=name: loss(lambda m: getattr(m, n)(), (N, C), lambda x: torch.randn_like(x))


def trident():
    f = lambda: importlib.import_module("trident").function
    wide = lambda: leaf(N, 2048, dtype=FP16)
    weight = lambda *shape: leaf(*shape, dtype=FP16)
    image = lambda: leaf(16, 256, 4096, dtype=FP16)
    exact = lambda *shape: leaf(*shape, dtype=FP32)  # of gelu, whose tanh is libdevice's
    yield "trident_gelu", lambda: fb(f().gelu(exact(N, 2048)))
    for name in ("relu", "leaky_relu", "silu"):
        yield "trident_" + name, lambda n=name: fb(getattr(f(), n)(wide()))
    for name in ("argmax", "max", "sum", "mean", "var", "var_mean", "softmax"):
        for dim in (0, 1):
            yield f"trident_{name}_{dim}", lambda n=name, d=dim: fb(getattr(f(), n)(wide(), d))
    yield "trident_masked_softmax", lambda: fb(f().masked_softmax(wide(), ints(2, N, 2048).to(FP16), 1))
    yield "trident_dropout", lambda: fb(f().dropout(wide(), 0.1))
    yield "trident_prelu", lambda: fb(f().prelu(image(), weight(256)))
    yield "trident_shift_gelu", lambda: fb(f().shift_gelu(exact(N, 2048), exact(2048)))
    yield "trident_layer_norm", lambda: fb(f().layer_norm(wide(), [2048], weight(2048), weight(2048)))
    yield "trident_rms_norm", lambda: fb(f().rms_norm(wide(), -1.0, weight(2048), weight(2048)))
    yield "trident_rms_norm_partial", lambda: fb(f().rms_norm(wide(), 0.5, weight(2048), weight(2048)))
    yield "trident_group_norm", lambda: fb(f().group_norm(image(), 32, weight(256), weight(256)))
    yield "trident_batch_norm", lambda: fb(
        f().batch_norm(leaf(16, 256, 196, dtype=FP32), None, None, leaf(256, dtype=FP32), leaf(256, dtype=FP32))
    )
    yield "trident_instance_norm", lambda: fb(
        f().instance_norm(image(), None, None, weight(256), weight(256), True)
    )
    yield "trident_cosine_similarity", lambda: fb(
        f().cosine_similarity(leaf(64, 512, 1024, dtype=FP32), leaf(64, 512, 1024, dtype=FP32), 2)
    )
    for name, columns, of in (("linear", 4096, weight), ("geglu", 8192, exact)):
        yield "trident_" + name, lambda n=name, c=columns, of=of: fb(
            getattr(f(), n)(of(8, 1024, 1024), of(c, 1024), of(c), True)
        )
    for causal in (False, True):
        yield f"trident_attention_{causal}", lambda c=causal: fb(
            f().scaled_dot_product_attention(*(leaf(4, 16, 2048, 64, dtype=FP16) for _ in range(3)), None, 0.0, c, True)
        )


def flag_attn():
    f = lambda: importlib.import_module("flag_attn")
    q = lambda length=4096, heads=16, width=128: leaf(2, heads, length, width, dtype=FP16)
    for causal in (False, True):
        yield f"flag_flash_{causal}", lambda c=causal: fb(f().flash_attention(q(), q(), q(), causal=c))
        yield f"flag_piecewise_{causal}", lambda c=causal: fb(
            f().piecewise_attention(q(), q(), q(), q(), q(), 2048, causal=c)
        )
    yield "flag_flash_grouped", lambda: fb(f().flash_attention(q(), q(heads=4), q(heads=4), causal=True))
    yield "flag_flash_dropout", lambda: fb(f().flash_attention(q(), q(), q(), causal=True, dropout_p=0.1))
    yield "flag_flash_total", lambda: f().flash_attention(q(), q(), q(), return_total_attention=True)
    yield "flag_split_kv", lambda: f().flash_attention_split_kv(q(1), q(8192), q(8192))

    def paged(batch, heads, length):
        blocks = batch * length // 16
        cache = lambda: rand(blocks, 8, 16, 128, dtype=FP16)
        tables = torch.arange(blocks, device=D, dtype=torch.int32).view(batch, -1)
        lengths = torch.full((batch,), length, device=D, dtype=torch.int32)
        f().paged_attention(
            rand(batch, heads, 128, dtype=FP16), cache(), cache(), lengths, tables, 128**-0.5, length
        )

    for batch, heads, length in ((64, 8, 1024), (64, 32, 2048), (8, 32, 8192)):
        yield f"flag_paged_{heads}_{length}", lambda a=(batch, heads, length): paged(*a)


def lightning():
    f = lambda: importlib.import_module("lightning_attn.ops.triton")
    q = lambda: leaf(2, 16, 4096, 128)
    slopes = lambda: scale(16, 1, 1) * 0.1
    yield "lightning_2", lambda: fb(f().lightning_attn2(q(), q(), leaf(2, 16, 4096, 64), slopes()))
    yield "lightning_2_no_decay", lambda: fb(f().lightning_attn2_no_decay(q(), q(), leaf(2, 16, 4096, 64)))
    yield "lightning_2_parallel", lambda: fb(f().lightning_attn2_parallel(q(), q(), q(), slopes()))
    yield "lightning_srmsnorm", lambda: fb(f().SimpleRMSNorm(2048)(leaf(N, 2048)))


def stk():
    """Block-diagonal weights of 8 experts, as megablocks multiplies them."""
    ops = lambda: importlib.import_module("stk.backend.sputnik")
    experts, tokens, inner = 8, 8, 16  # blocks of 128 rows of an expert, and of 128 columns
    rows, columns = experts * tokens, experts * inner

    def topology():
        of_row = torch.arange(rows, device=D, dtype=torch.int32)
        row_indices = of_row.repeat_interleave(inner)
        column_indices = (of_row[:, None] // tokens * inner + torch.arange(inner, device=D)).flatten()
        of_column = torch.arange(columns, device=D, dtype=torch.int32)
        blocks = of_row.view(experts, tokens)[:, None, :].expand(experts, inner, tokens)
        inside = torch.arange(inner, device=D, dtype=torch.int32)[None, :, None]
        return (
            starts(rows, inner), row_indices.short(), column_indices.short(), starts(columns, tokens),
            (of_column[:, None] // inner * tokens + torch.arange(tokens, device=D)).flatten().short(),
            (blocks * inner + inside).flatten().int(),
        )  # fmt: skip

    shape = (rows * 128, columns * 128)
    values = lambda: leaf(rows * inner, 128, 128, dtype=FP16)

    def sdd():
        lhs, rhs = leaf(shape[0], 1024, dtype=FP16), leaf(1024, shape[1], dtype=FP16)
        fb(ops().sdd(lhs, rhs, shape, values(), *topology()))

    yield "stk_sdd", sdd
    yield "stk_dsd", lambda: fb(ops().dsd(shape, values(), *topology(), False, leaf(shape[1], 1024, dtype=FP16)))
    yield "stk_dds", lambda: fb(ops().dds(leaf(1024, shape[0], dtype=FP16), shape, values(), *topology(), False))
    yield "stk_row_indices", lambda: ops().row_indices(
        shape, values(), topology()[0], topology()[2]
    )


def xformers():
    ops = lambda name: importlib.import_module("xformers.ops." + name)
    kernels = lambda name: importlib.import_module("xformers.ops._triton." + name)
    yield "xformers_rms_norm", lambda: ops("rmsnorm").rms_norm(rand(N, C), rand(C))
    yield "xformers_rms_norm_add", lambda: ops("rmsnorm").rms_norm_add(rand(N, C), rand(N, C), rand(C))

    def index_add():
        kernel = kernels("k_scaled_index_add")
        x, source, factors = rand(64, 256, 1024), rand(48, 256, 1024), rand(1024)
        index = torch.arange(48, device=D)
        kernel.scaled_index_add_fwd(x, index, source, factors, 0.5)
        kernel.scaled_index_add_bwd(
            rand(64, 256, 1024), torch.empty_like(source), rand(48, 256, 1024, dtype=FP32), source,
            factors, index, 0.5,
        )  # fmt: skip

    def index_select():
        kernel, index = kernels("k_index_select_cat"), torch.arange(N // 2, device=D)
        kernel.index_select_cat_fwd(rand(N // 2, C), rand(N, C), index)
        kernel.index_select_cat_bwd(rand(N, C), index, rand(N // 2, C))

    yield "xformers_index_add", index_add
    yield "xformers_index_select", index_select

    def biased(queries, keys, padding):
        bias = importlib.import_module("mslk.attention.fmha.attn_bias").BlockDiagonalCausalWithOffsetPaddedKeysMask
        return bias.from_seqlens(queries, padding, keys, device=torch.device("cpu")).to(torch.device(D))

    def rope():
        x = lambda heads: rand(1, 16 * 256, heads, 128)
        cache = lambda: rand(1, 16 * 4096, 8, 128)
        ops("rope_padded").rope_padded(x(32), x(8), x(8), cache(), cache(), biased([256] * 16, [1024] * 16, 4096))

    yield "xformers_rope_padded", rope

    def split_attention(queries, heads):
        q = rand(1, 16 * queries, 8, heads, 128)
        kv = lambda: rand(1, 16 * 4096, 8, 1, 128).expand(1, 16 * 4096, 8, heads, 128)
        importlib.import_module("mslk.attention.fmha.triton_splitk").FwOp.apply(
            importlib.import_module("mslk.attention.fmha.common").Inputs(
                q, kv(), kv(), biased([queries] * 16, [4000] * 16, 4096)
            ),
            needs_gradient=False,
        )

    for queries, heads in ((1, 1), (1, 4), (4, 4)):
        yield f"xformers_splitk_{queries}_{heads}", lambda a=(queries, heads): split_attention(*a)

    def tiled():
        part = lambda rows, columns: [[rand(rows, columns) for _ in range(2)] for _ in range(2)]
        kernels("tiled_matmul_kernels")._launch_triton_matmul(
            part(2048, 1024), part(1024, 2048), part(2048, 2048), [2048] * 2, [2048] * 2, [1024] * 2
        )

    yield "xformers_tiled_matmul", tiled


def mslk():
    gemm = lambda name: importlib.import_module("mslk.gemm.triton." + name)
    moe = lambda name: importlib.import_module("mslk.moe." + name)
    quantize = lambda: importlib.import_module("mslk.quantize.triton.fp8_quantize")
    plain = lambda f: getattr(f, "_init_fn", f)  # not the operator, which has no kernels for tensors without data
    experts, rows = 16, 2048
    shares = lambda: torch.full((experts,), rows // experts, device=D, dtype=torch.int32)
    x, weights = lambda: rand(rows, C), lambda: rand(experts * 1024, C)
    for persistent in (False, True):
        yield f"mslk_fp8_row_{persistent}", lambda p=persistent: plain(gemm("fp8_gemm").matmul_fp8_row)(
            fp8(rows, C), fp8(C, C), scale(rows), scale(C), tma_persistent=p, no_use_persistent=not p
        )
    yield "mslk_fp8_block", lambda: plain(gemm("fp8_gemm").matmul_fp8_block)(
        fp8(rows, C), fp8(C, C), scale(rows // 128, C // 128), scale(C // 128, C // 128), 128, 128, 128
    )
    yield "mslk_grouped_gemm", lambda: gemm("grouped_gemm").grouped_gemm(
        x(), weights(), shares(), _use_warp_specialization=False
    )
    yield "mslk_grouped_gemm_fp8", lambda: gemm("grouped_gemm").grouped_gemm_fp8_rowwise(
        fp8(rows, C), fp8(experts * 1024, C), shares(), scale(rows), scale(experts * 1024),
        _use_warp_specialization=False,
    )  # fmt: skip
    yield "mslk_bf16i4", lambda: gemm("int4_gemm").matmul_bf16i4_rowwise(
        x(), ints(127, C, C // 2, dtype=torch.int8), scale(C // 128, C), scale(C // 128, C)
    )
    for name in ("row", "block", "group", "tensor"):
        yield "mslk_quantize_" + name, lambda n=name: plain(getattr(quantize(), "quantize_fp8_" + n))(rand(N, C))
    yield "mslk_dequantize_row", lambda: quantize().dequantize_fp8_row(fp8(N, C), scale(N))
    yield "mslk_dequantize_block", lambda: quantize().dequantize_fp8_block(fp8(N, C), scale(N // 256, C // 256))
    tokens = lambda: (ints(rows, rows, dtype=torch.int32), ints(experts, rows, dtype=torch.int32), rand(rows, experts))
    yield "mslk_silu_mul", lambda: moe("activation").silu_mul(x(), x())
    yield "mslk_silu_mul_quant", lambda: moe("activation").silu_mul_quant(x(), x())
    yield "mslk_gather_scale", lambda: moe("gather_scatter").gather_scale_dense_tokens(x(), *tokens())
    yield "mslk_gather_scale_quant", lambda: moe("gather_scatter").gather_scale_quant_dense_tokens(x(), *tokens())
    yield "mslk_scatter_add", lambda: moe("gather_scatter").scatter_add_dense_tokens(x(), x(), tokens()[0].long())
    counts = lambda: torch.full((8, experts), rows // 8 // experts, device=D, dtype=torch.int32)
    yield "mslk_combine_shuffling", lambda: moe("shuffling").combine_shuffling(x(), counts())
    yield "mslk_split_shuffling", lambda: moe("shuffling").split_shuffling(x(), counts())

    def latent(name, batch, queries):
        pages, page = batch * 4096 // 16, 16
        attend = getattr(importlib.import_module("mslk.attention.mla.triton_mla"), f"mla_{name}_fwd")
        attend(
            rand(batch * queries, 16, 576), rand(pages, page, 1, 576),
            torch.arange(pages, device=D, dtype=torch.int32).view(batch, -1), starts(batch, queries),
            torch.full((batch,), 4096, device=D, dtype=torch.int32), 576**-0.5,
        )  # fmt: skip

    yield "mslk_mla_decode", lambda: latent("decode", 32, 1)
    yield "mslk_mla_prefill", lambda: latent("prefill", 2, 1024)


def applied_ai():
    module = importlib.import_module
    packed = lambda *shape: whole((1 << 31) - 1, *shape)
    yield "ai_softmax", lambda: fb(module("softmax").triton_softmax.apply(leaf(N, C)))
    yield "ai_rms_norm", lambda: fb(module("fused_rms_norm").fused_rms_norm_fn(leaf(N, C), leaf(C)))
    yield "ai_conv1d", lambda: module("causal_1d_conv").causal_conv1d_fwd(
        rand(4, 4096, 2048).transpose(1, 2), rand(2048, 4), rand(2048), activation="silu"
    )
    for name, function in (("scaled_fp8_gemm", "scaled_mm_splitk"), ("splitk_gemm_fp8", "gemm_split_k")):
        yield "ai_" + function, lambda n=name, f=function: getattr(module(n), f)(fp8(64, C), fp8(C, C).t())

    def stay():
        module("stay_attention").flash_fn(*(rand(1, 32, 4096, 128, dtype=FP16) for _ in range(3)))

    yield "ai_stay_attention", stay

    def gptq(name, kernel, tile, split, stages):
        m, n, k = 16, C, C
        a, b, c = rand(m, k, dtype=FP16), packed(k // 8, n), torch.zeros(m, n, device=D, dtype=FP16)
        scales, zeros = rand(k // 128, n, dtype=FP16), packed(k // 128, n // 8)
        getattr(module(name), kernel)[(n // 32, split)](
            a, b, c, scales, zeros, *a.stride(), *b.stride(), *c.stride(), *scales.stride(), *zeros.stride(), 128,
            m, n, k, 16, 32, tile, 8, *((split,) if split > 1 else (False,) if name == "h100_qlinear" else ()),
            num_warps=4, num_stages=stages,
        )  # fmt: skip

    for name, kernel, split, stages in (
        ("h100_qlinear", "_h100_quantized_matmul", 1, 4),
        ("a100_qlinear", "_a100_quantized_matmul", 1, 4),
        ("splitk_dequant_gemm", "matmul_split_k_kernel", 4, 3),
    ):
        yield "ai_" + name, lambda a=(name, kernel, 128, split, stages): gptq(*a)

    def moe(version, tokens):
        experts, inner = 8, 3584
        module(version).fused_moe(
            rand(tokens, C), rand(experts, 2 * inner, C), rand(experts, C, inner), unit(tokens, 2).detach(),
            whole(experts, tokens, 2),
        )  # fmt: skip

    for version in ("v0_moe_fused", "v1_moe_fused", "v2_moe_fused"):
        for tokens in (2, 512):
            yield f"ai_{version}_{tokens}", lambda a=(version, tokens): moe(*a)

    def paged():
        batch, heads, length, block = 8, 16, 512, 16
        cache = lambda: rand(batch * length // block, heads, 128, block, dtype=FP16)
        tables = torch.arange(batch * length // block, device=D, dtype=torch.int32).view(batch, -1)
        lengths = torch.full((batch,), length, device=D, dtype=torch.int32)
        module("attention_triton").paged_attention_triton_v1(
            torch.empty(batch, heads, 128, device=D, dtype=FP16), rand(batch, heads, 128, dtype=FP16), cache(), cache(),
            128**-0.5, tables, lengths, block, batch, heads, length, length // block, 128,
        )  # fmt: skip

    yield "ai_paged_v1", paged


def tritonbench():
    operator = lambda name: importlib.import_module(f"tritonbench.operators.{name}")
    batch, length, width = 256, 512, 1024

    def jagged(name, kind, bounded, row_output):
        kernels = operator(f"jagged_{name}.kernels")
        output = torch.zeros(batch if row_output else batch * length, width, device=D)
        extra = {"MAX_SEQLEN": length} if bounded else {"profile_mem": ints(2, 0)} if name == "sum" else {}
        grid = lambda meta: (batch * (width // meta["BLOCK_SIZE_M"]),)
        getattr(kernels, f"triton_jagged_{name}_kernel_{kind}")[grid](
            rand(batch * length, width, dtype=FP32), starts(batch, length).long(), output, M=width, **extra
        )

    for name in ("sum", "mean", "softmax"):
        for loop in ("simple_fused", "variable_length_loop"):
            for order in ("buffer_then_sum", "sum_then_buffer"):
                if name == "softmax" and order == "sum_then_buffer":
                    continue
                kind = f"{loop}_{order}"
                bounded = loop == "simple_fused"
                yield f"tb_jagged_{name}_{kind}", lambda a=(name, kind, bounded, name != "softmax"): jagged(*a)

    def dropout(kernel, *arguments):
        x = rand(N * C, dtype=FP32)
        f = getattr(operator("low_mem_dropout.kernels"), kernel)
        keep = (ints(2, N * C, dtype=torch.int32),) if kernel == "_triton_dropout" else ()
        f[(N * C // 1024,)](x, *keep, torch.empty_like(x), x.numel(), 0.5, *arguments, BLOCK_SIZE=1024)

    yield "tb_dropout", lambda: dropout("_triton_dropout")
    yield "tb_dropout_seeded", lambda: dropout("_seeded_triton_dropout", 123)
    yield "tb_int4_gemm", lambda: operator("int4_gemm.kernel").matmul(
        rand(1024, C), ints(127, C // 2, C, dtype=torch.int8)
    )
    yield "tb_bf16xint16_gemm", lambda: operator("bf16xint16_gemm.kernel").bf16xint16_matmul(
        rand(1024, C), ints(127, C, C, dtype=torch.int16)
    )


class Operators:
    """In the place of vllm's compiled operators."""

    @staticmethod
    def moe_align_block_size(topk_ids, experts, block, sorted_ids, expert_ids, count):
        """Tokens by expert, each expert's share padded to blocks by ids past the end."""
        flat = topk_ids.flatten().long()
        of_expert = torch.nn.functional.one_hot(flat, experts)
        ends = ((of_expert.sum(0) + block - 1) // block * block).cumsum(0)
        begins = torch.cat([ends.new_zeros(1), ends])[flat]
        rank = (of_expert.cumsum(0) - 1).gather(1, flat[:, None])[:, 0]
        sorted_ids[begins + rank] = torch.arange(flat.numel(), device=D, dtype=torch.int32)
        blocks = torch.arange(expert_ids.numel(), device=D) * block
        expert_ids.copy_(torch.searchsorted(ends, blocks, right=True).clamp(max=experts - 1))
        count.copy_(ends[-1:])

    @staticmethod
    def silu_and_mul(out, x):
        gate, up = x.chunk(2, dim=-1)
        out.copy_(torch.nn.functional.silu(gate) * up)


def cases():
    stand_ins.install()
    os.environ.setdefault("MSLK_PYTHON_ONLY", "1")
    stub("nvtx")
    stub("vllm")
    stub("vllm._C", ops=Operators)
    stub("tabulate", tabulate=lambda *a, **k: "")
    stub("tritonbench.utils")
    stub("tritonbench.utils.env_utils", is_cuda=lambda: True, is_hip=lambda: False)
    stub("pynvml", nvmlInit=int, nvmlDeviceGetHandleByIndex=int, NVML_CLOCK_SM=1)
    stub("pynvml", nvmlDeviceGetMaxClockInfo=lambda *a: 1980)
    yield from attorch()
    yield from trident()
    yield from flag_attn()
    yield from lightning()
    yield from stk()
    yield from xformers()
    yield from mslk()
    yield from applied_ai()
    yield from tritonbench()
    yield from strangers_lightllm.cases()
