"""The examples as benchmark cases: what each is launched with, at a size for the card and at a small one, its configurations, what
it moves or computes, what it should give and PyTorch's own op for it.

A case is a function of a maker `t` of arguments (bench_examples.py has two: PyTorch's tensors and mere descriptions), so this file
needs no PyTorch; `t.pick(large, small)` chooses the size."""
import itertools

CASES = []


class Case:
    def __init__(self, name, file, kernel, configs, bound, build):
        self.name, self.file, self.kernel, self.configs, self.bound, self.build = name, file, kernel, configs, bound, build


class Work:
    """One launch: `args` and `grid` may be functions of the constexprs. `out`: what the kernel writes, as it was before the launch;
    `view` makes of it what is compared; `want` (a list) and `peer` (timed, not compared) are functions."""

    def __init__(self, args, grid, out, moved=None, flops=None, want=None, peer=None, view=None):
        self.args, self.grid, self.out, self.want, self.peer = args, grid, out, want, peer
        self.view = view or (lambda *tensors: tensors)
        self.unit, self.amount = ("GB/s", moved / 1e6) if flops is None else ("TFLOP/s", flops / 1e9)


def case(name, file, kernel, configs, bound=2e-3):
    """configs: (constexprs, warps, stages). bound: the largest relative error of a result."""
    def add(build):
        CASES.append(Case(name, file, kernel, configs, bound, build))
        return build
    return add


def cdiv(a, b):
    return -(-a // b)


# ---- element by element ----

LINEAR = [({"BLOCK": 1024}, 4, 3), ({"BLOCK": 2048}, 4, 3), ({"BLOCK": 4096}, 8, 3)]


def linear_grid(n):
    return lambda meta: (cdiv(n, meta["BLOCK"]),)


@case("copy", "copy.tile", "copy_kernel", LINEAR, bound=0)
def copy(t):
    n = t.pick(2**28, 9000)
    x, z = t.randn("fp16", n), t.empty("fp16", n)
    return Work((x, z, n), linear_grid(n), [z], moved=4 * n, want=lambda: [x], peer=lambda: z.copy_(x))


@case("dropout", "dropout.tile", "dropout", LINEAR)
def dropout(t):
    n = t.pick(2**27, 9000)
    x, out = t.randn("fp32", n), t.empty("fp32", n)
    return Work((x, out, n, 0.25, 123), linear_grid(n), [out], moved=8 * n, peer=lambda: t.torch.nn.functional.dropout(x, 0.25))


def gelu(form, approximate):
    @case(f"gelu {form}", "gelu.tile", f"gelu_{form}", LINEAR)
    def build(t):
        n = t.pick(2**28, 9000)
        x, out = t.randn("fp16", n), t.empty("fp16", n)
        f = lambda v: t.torch.nn.functional.gelu(v, approximate=approximate)
        return Work((x, out, n), linear_grid(n), [out], moved=4 * n, want=lambda: [f(x)], peer=lambda: f(x))


gelu("erf", "none")
gelu("tanh", "tanh")


@case("rope", "rope.tile", "rope", [({"HALF": 64}, w, 3) for w in (1, 2, 4)])
def rope(t):
    positions, heads, half = t.pick((16384, 32, 64), (6, 3, 64))
    q, cos, sin = t.randn("fp16", positions, heads, 2 * half), t.randn("fp16", positions, half), t.randn("fp16", positions, half)

    def want():
        a, b, c, s = q[..., :half].float(), q[..., half:].float(), cos.float()[:, None], sin.float()[:, None]
        return [t.torch.cat([a * c - b * s, b * c + a * s], -1)]
    return Work((q, cos, sin, heads), (positions, heads), [q], moved=4 * positions * heads * 2 * half, want=want)


@case("rgb_to_grey", "rgb_to_grey.tile", "rgb_to_grey", [({"BH": h, "BW": w}, 4, 3) for h, w in ((32, 32), (16, 128), (4, 512))], bound=1e-2)
def rgb_to_grey(t):
    h, w = t.pick((8192, 8192), (70, 600))
    x, out = t.randint("u8", 0, 256, 3, h, w), t.empty("u8", h, w)
    want = lambda: [(x[0].float() * 0.2989 + x[1].float() * 0.587 + x[2].float() * 0.114).to(t.torch.uint8)]
    return Work((x, out, h, w), lambda meta: (cdiv(h, meta["BH"]), cdiv(w, meta["BW"])), [out], moved=4 * h * w, want=want)


@case("swizzle2d", "swizzle2d.tile", "order", [({"GROUP": 8}, w, 3) for w in (1, 4)], bound=0)
def swizzle2d(t):
    m, n = t.pick((1024, 1024), (5, 4))
    out = t.empty("i32", m, n)
    return Work((out, m, n), (m, n), [out], moved=4 * m * n)


@case("transpose", "transpose.tile", "transpose", [({"BM": m, "BN": n}, w, 3) for m, n, w in ((64, 64, 4), (128, 64, 8), (32, 128, 4))], bound=0)
def transpose(t):
    m, n = t.pick((16384, 8192), (200, 136))
    x, out = t.randn("fp16", m, n), t.empty("fp16", n, m)
    return Work((x, out, m, n), lambda meta: (cdiv(m, meta["BM"]), cdiv(n, meta["BN"])), [out], moved=4 * m * n,
                want=lambda: [x.T], peer=lambda: out.copy_(x.T))


# ---- a row per program ----

def row_configs(block, *warps):
    return [({"BLOCK": block}, w, 3) for w in warps]


@case("swiglu", "swiglu.tile", "swiglu", row_configs(8192, 4, 8, 16))
def swiglu(t):
    rows, cols = t.pick((16384, 8192), (5, 1000))
    a, b, out = t.randn("fp16", rows, cols), t.randn("fp16", rows, cols), t.empty("fp16", rows, cols)
    f = t.torch and t.torch.nn.functional.silu
    return Work((a, b, out, cols), (rows,), [out], moved=6 * rows * cols, want=lambda: [f(a.float()) * b], peer=lambda: f(a) * b)


@case("cumsum", "cumsum.tile", "cumsum_rows", row_configs(4096, 4, 8, 16), bound=1e-4)
def cumsum(t):
    rows, cols = t.pick((32768, 4096), (5, 3000))
    x, out = t.randn("fp32", rows, cols), t.empty("fp32", rows, cols)
    return Work((x, out, cols), (rows,), [out], moved=8 * rows * cols, want=lambda: [x.double().cumsum(1)], peer=lambda: t.torch.cumsum(x, 1))


@case("linear_recurrence", "linear_recurrence.tile", "linear_recurrence", row_configs(4096, 4, 8, 16), bound=1e-4)
def linear_recurrence(t):
    rows, steps = t.pick((16384, 4096), (4, 300))
    a, b, h = t.uniform("fp32", rows, steps), t.randn("fp32", rows, steps), t.empty("fp32", rows, steps)

    def want():
        columns, last = [], t.torch.zeros_like(b[:, 0])
        for i in range(steps):
            last = a[:, i] * last + b[:, i]
            columns.append(last)
        return [t.torch.stack(columns, 1)]
    return Work((a, b, h, steps), (rows,), [h], moved=12 * rows * steps, want=want)


@case("softmax_persistent", "softmax_persistent.tile", "softmax_persistent",
      [({"BLOCK": 4096, "STAGES": s}, w, 3) for s, w in ((2, 4), (4, 4), (4, 8))])
def softmax_persistent(t):
    rows, cols = t.pick((32768, 4096), (600, 700))
    x, out = t.randn("fp16", rows, cols), t.empty("fp16", rows, cols)
    return Work((out, x, cols, cols, rows, cols), (t.pick(132 * 4, 3),), [out], moved=4 * rows * cols,
                want=lambda: [t.torch.softmax(x.float(), 1)], peer=lambda: t.torch.softmax(x, 1))


@case("layer_norm_backward", "layer_norm_backward.tile", "layer_norm_bwd_dx", [({"GROUP": 256, "BLOCK": 4096}, w, 3) for w in (4, 8, 16)], bound=1e-2)
def layer_norm_backward(t):
    rows, cols, groups = t.pick((16384, 4096, 256), (20, 500, 256))
    x, dy, dx, w = t.randn("fp16", rows, cols), t.randn("fp16", rows, cols), t.empty("fp16", rows, cols), t.randn("fp16", cols)
    mean, rstd = t.randn("fp32", rows), t.uniform("fp32", rows)
    dw, db, lock = t.zeros("fp16", groups, cols), t.zeros("fp16", groups, cols), t.zeros("i32", 2 * groups)

    def want():
        h, g = (x.float() - mean[:, None]) * rstd[:, None], dy.float()
        wg = w.float() * g
        return [(wg - h * (h * wg).mean(1, keepdim=True) - wg.mean(1, keepdim=True)) * rstd[:, None], (g * h).sum(0), g.sum(0)]

    b = t.randn("fp16", cols)
    backward = lambda: t.torch.ops.aten.native_layer_norm_backward(dy, x, [cols], mean[:, None], rstd[:, None], w, b, [True, True, True])
    # The partial sums depend on the order of the programs, their sum does not.
    return Work((dx, dy, dw, db, x, w, mean, rstd, lock, cols, cols), (rows,), [dx, dw, db, lock], moved=6 * rows * cols, want=want,
                peer=backward, view=lambda dx, dw, db, lock: (dx, dw.float().sum(0), db.float().sum(0)))


@case("rms_norm_residual", "rms_norm_residual.tile", "rms_norm_residual", row_configs(8192, 4, 8, 16), bound=1e-2)
def rms_norm_residual(t):
    rows, cols = t.pick((16384, 8192), (5, 1000))
    x, residual, w, out = t.randn("bf16", rows, cols), t.randn("bf16", rows, cols), t.randn("bf16", cols), t.empty("bf16", rows, cols)

    def want():
        s = x.float() + residual.float()
        return [s, s * t.torch.rsqrt((s * s).mean(1, keepdim=True) + 1e-6) * w.float()]
    return Work((x, residual, w, out, cols, 1e-6), (rows,), [residual, out], moved=8 * rows * cols, want=want,
                peer=lambda: t.torch.nn.functional.rms_norm(x + residual, (cols,), w, 1e-6))


@case("quantize", "quantize.tile", "quantize_rows", row_configs(8192, 4, 8, 16), bound=1e-2)
def quantize(t):
    rows, cols = t.pick((16384, 8192), (5, 1000))
    x, q, scale = t.randn("fp16", rows, cols), t.empty("i8", rows, cols), t.empty("fp32", rows)

    def want():
        s = x.float().abs().amax(1) / 127
        return [(x.float() / s[:, None]).round(), s]
    return Work((x, q, scale, cols), (rows,), [q, scale], moved=3 * rows * cols, want=want)


@case("argmax", "argmax.tile", "argmax_rows", row_configs(8192, 4, 8, 16), bound=0)
def argmax(t):
    rows, cols = t.pick((16384, 8192), (5, 1000))
    x, value, index = t.randn("fp32", rows, cols), t.empty("fp32", rows), t.empty("i32", rows)
    return Work((x, value, index, cols), (rows,), [value, index], moved=4 * rows * cols, want=lambda: list(x.max(1)), peer=lambda: x.max(1))


SORTED = [({"R": 1, "BLOCK": 1024}, 4, 3), ({"R": 4, "BLOCK": 1024}, 8, 3), ({"R": 4, "BLOCK": 1024}, 4, 3)]


@case("sort", "sort.tile", "sort_rows", SORTED, bound=0)
def sort(t):
    rows, cols = t.pick((16384, 1024), (5, 1000))
    x, out = t.randn("fp32", rows, cols), t.empty("fp32", rows, cols)
    return Work((x, out, rows, cols), lambda meta: (cdiv(rows, meta["R"]),), [out], moved=8 * rows * cols,
                want=lambda: [x.sort(1).values], peer=lambda: x.sort(1))


@case("top_k", "sort.tile", "top_k", [({"K": 16, **meta}, w, s) for meta, w, s in SORTED], bound=0)
def top_k(t):
    rows, cols = t.pick((32768, 1024), (5, 1000))
    x, out = t.randn("fp32", rows, cols), t.empty("fp32", rows, 16)
    return Work((x, out, rows, cols), lambda meta: (cdiv(rows, meta["R"]),), [out], moved=4 * rows * (cols + 16),
                want=lambda: [x.topk(16, 1).values], peer=lambda: x.topk(16, 1))


@case("cross_entropy", "cross_entropy.tile", "cross_entropy", [({"BLOCK": b}, w, 3) for b, w in ((2048, 4), (4096, 8), (8192, 8))])
def cross_entropy(t):
    rows, cols = t.pick((4096, 32000), (4, 5000))
    logits, target, loss = t.randn("fp32", rows, cols), t.randint("i64", 0, cols, rows), t.empty("fp32", rows)

    def want():
        grad = t.torch.softmax(logits.double(), 1)
        grad[t.torch.arange(rows, device=grad.device), target] -= 1
        return [grad, t.torch.nn.functional.cross_entropy(logits.double(), target, reduction="none")]
    return Work((logits, target, loss, cols, -100), (rows,), [logits, loss], moved=12 * rows * cols, want=want)


# ---- rows by number ----

@case("embedding", "embedding.tile", "embedding", row_configs(4096, 4, 8))
def embedding(t):
    words, count, dim = t.pick((128000, 32768, 4096), (100, 7, 1000))
    table, tokens, out = t.randn("fp16", words, dim), t.randint("i64", 0, words, count), t.empty("fp16", count, dim)
    return Work((table, tokens, out, dim), (count,), [out], moved=4 * count * dim, want=lambda: [table[tokens]],
                peer=lambda: t.torch.nn.functional.embedding(tokens, table))


@case("embedding_bag", "embedding_bag.tile", "embedding_bag", [({"BLOCK": 1024}, w, 3) for w in (2, 4, 8)])
def embedding_bag(t):
    words, bags, each, dim = t.pick((200000, 8192, 32, 1024), (100, 6, 5, 1000))
    table, items, out = t.randn("fp16", words, dim), t.randint("i64", 0, words, bags * each), t.empty("fp16", bags, dim)
    first = t.steps("i32", each, bags + 1)
    bag = lambda: t.torch.nn.functional.embedding_bag(items.view(bags, each), table, mode="sum")
    return Work((table, items, first, out, dim), (bags,), [out], moved=2 * bags * (each + 1) * dim, peer=bag,
                want=lambda: [t.torch.stack([table[i].float().sum(0) for i in items.view(bags, each)])])


# ---- sums over other axes ----

@case("column_sum", "column_sum.tile", "column_sum", [({"ROWS": 512, "BM": m, "BN": n}, w, 3) for m, n, w in ((16, 128, 4), (32, 64, 4), (16, 256, 8))], bound=1e-3)
def column_sum(t):
    m, n = t.pick((32768, 8192), (700, 200))
    x, out = t.randn("fp16", m, n), t.zeros("fp32", n)
    return Work((x, out, m, n), lambda meta: (cdiv(n, meta["BN"]), cdiv(m, meta["ROWS"])), [out], moved=2 * m * n,
                want=lambda: [x.double().sum(0)], peer=lambda: x.sum(0, dtype=t.torch.float32))


@case("gemv", "gemv.tile", "gemv", [({"BM": m, "BK": k}, w, 3) for m, k, w in ((4, 1024, 4), (16, 256, 4), (8, 1024, 8))])
def gemv(t):
    m, k = t.pick((16384, 16384), (50, 2000))
    a, x, y = t.randn("fp16", m, k), t.randn("fp16", k), t.empty("fp16", m)
    return Work((a, x, y, m, k), lambda meta: (cdiv(m, meta["BM"]),), [y], moved=2 * m * k, want=lambda: [a.float() @ x.float()],
                peer=lambda: t.torch.mv(a, x))


@case("histogram", "histogram.tile", "histogram", [({"BLOCK": b, "STEPS": s, "BINS": 256}, w, 3) for b, s, w in ((4096, 16, 4), (8192, 16, 8))], bound=0)
def histogram(t):
    n = t.pick(2**27, 100000)
    x, counts = t.randint("u8", 0, 256, n), t.zeros("i32", 256)
    return Work((x, counts, n), lambda meta: (cdiv(n, meta["BLOCK"] * meta["STEPS"]),), [counts], moved=n,
                want=lambda: [t.torch.bincount(x, minlength=256)], peer=lambda: t.torch.bincount(x, minlength=256))


# ---- attention of one query ----

@case("decode_part", "attention_decode.tile", "decode_part", [({"SPLIT": 8, "BN": n, "D": 128}, w, 3) for n, w in ((32, 4), (64, 4), (128, 8))])
def decode_part(t):
    heads, length, dim, split = *t.pick((256, 4096), (3, 500)), 128, 8
    q, k, v = t.randn("fp16", heads, dim), t.randn("fp16", heads, length, dim), t.randn("fp16", heads, length, dim)
    part, largest, total = t.empty("fp32", heads, split, dim), t.empty("fp32", heads, split), t.empty("fp32", heads, split)

    def combined(part, largest, total):
        weight = t.torch.exp2(largest - largest.amax(1, keepdim=True))
        return [(part * weight[..., None]).sum(1) / (weight * total).sum(1, keepdim=True)]
    attention = t.torch and t.torch.nn.functional.scaled_dot_product_attention
    return Work((q, k, v, part, largest, total, length, dim ** -0.5), (heads, split), [part, largest, total], moved=4 * heads * length * dim,
                want=lambda: [attention(q[:, None].float(), k.float(), v.float())[:, 0]], view=combined,
                peer=lambda: attention(q[:, None][None], k[None], v[None]))


@case("decode_combine", "attention_decode.tile", "decode_combine", [({"SPLIT": 16, "D": 128}, w, 3) for w in (1, 4)])
def decode_combine(t):
    heads, split, dim = t.pick(32768, 5), 16, 128
    part, largest, total, out = t.randn("fp32", heads, split, dim), t.randn("fp32", heads, split), t.uniform("fp32", heads, split), t.empty("fp16", heads, dim)

    def want():
        weight = t.torch.exp2(largest - largest.amax(1, keepdim=True))
        return [(part * weight[..., None]).sum(1) / (weight * total).sum(1, keepdim=True)]
    return Work((part, largest, total, out), (heads,), [out], moved=heads * (4 * split * (dim + 2) + 2 * dim), want=want)


# ---- products ----

def tiles(*configs):
    """(BM, BN, BK, warps, stages) of products."""
    return [({"BM": bm, "BN": bn, "BK": bk}, w, s) for bm, bn, bk, w, s in configs]


def tile_grid(m, n):
    return lambda meta: (cdiv(m, meta["BM"]), cdiv(n, meta["BN"]))


LARGE_TILES = tiles((128, 256, 64, 8, 3), (128, 128, 64, 4, 4), (128, 128, 64, 8, 3))
BYTE_TILES = tiles((128, 256, 128, 8, 3), (128, 128, 128, 4, 4), (128, 128, 128, 8, 3))


def fp16_operands(t, m, n, k):
    return t.randn("fp16", m, k), t.randn("fp16", k, n), t.empty("fp16", m, n)


@case("matmul_naive", "matmul_naive.tile", "matmul_naive", LARGE_TILES)
def matmul_naive(t):
    m, n, k = t.pick((4096, 4096, 4096), (256, 256, 192))
    a, b, c = fp16_operands(t, m, n, k)
    return Work((a, b, c, m, n, k), tile_grid(m, n), [c], flops=2 * m * n * k, want=lambda: [a.float() @ b.float()], peer=lambda: t.torch.matmul(a, b, out=c))


@case("matmul_descriptors", "matmul_descriptors.tile", "matmul_descriptors", LARGE_TILES)
def matmul_descriptors(t):
    m, n, k = t.pick((4096, 4096, 4096), (200, 136, 192))
    a, b, c = fp16_operands(t, m, n, k)
    args = lambda meta: (("desc", a, [meta["BM"], meta["BK"]]), ("desc", b, [meta["BK"], meta["BN"]]), ("desc", c, [meta["BM"], meta["BN"]]), m, n, k)
    return Work(args, tile_grid(m, n), [c], flops=2 * m * n * k, want=lambda: [a.float() @ b.float()], peer=lambda: t.torch.matmul(a, b, out=c))


@case("matmul_gelu", "matmul_gelu.tile", "matmul_gelu", LARGE_TILES)
def matmul_gelu(t):
    m, n, k = t.pick((4096, 8192, 4096), (200, 136, 192))
    a, b, c = fp16_operands(t, m, n, k)
    bias = t.randn("fp16", n)
    want = lambda: [t.torch.nn.functional.gelu(a.float() @ b.float() + bias.float(), approximate="tanh")]
    return Work((a, b, bias, c, m, n, k), tile_grid(m, n), [c], flops=2 * m * n * k, want=want,
                peer=lambda: t.torch._addmm_activation(bias, a, b, use_gelu=True))


@case("matmul_split_k", "matmul_split_k.tile", "matmul_split_k",
      [({"SPLIT": split, **meta}, w, s) for split, (meta, w, s) in zip((8, 8, 16), tiles((128, 128, 64, 8, 4), (128, 128, 64, 4, 3), (64, 128, 64, 4, 4)))])
def matmul_split_k(t):
    m, n, k = t.pick((512, 512, 65536), (200, 136, 1600))
    a, b, c = t.randn("fp16", m, k), t.randn("fp16", k, n), t.zeros("fp32", m, n)
    return Work((a, b, c, m, n, k), lambda meta: (cdiv(m, meta["BM"]) * cdiv(n, meta["BN"]), meta["SPLIT"]), [c], flops=2 * m * n * k,
                want=lambda: [a.float() @ b.float()], peer=lambda: t.torch.matmul(a, b))


@case("matmul_int8", "matmul_int8.tile", "matmul_int8", BYTE_TILES, bound=0)
def matmul_int8(t):
    m, n, k = t.pick((4096, 8192, 8192), (200, 136, 320))
    a, b, c = t.randint("i8", -128, 128, m, k), t.randint("i8", -128, 128, n, k), t.empty("i32", m, n)
    return Work((a, b, c, m, n, k), tile_grid(m, n), [c], flops=2 * m * n * k, want=lambda: [a.double() @ b.double().T], peer=lambda: t.torch._int_mm(a, b.T))


@case("matmul_fp8", "matmul_fp8.tile", "matmul_fp8", BYTE_TILES, bound=5e-3)   # the tensor cores' fp8 sums keep about 14 bits
def matmul_fp8(t):
    m, n, k = t.pick((4096, 8192, 8192), (200, 136, 320))
    a, b, c = t.randn("fp8e4nv", m, k), t.randn("fp8e4nv", n, k), t.empty("fp16", m, n)
    rows, cols = t.uniform("fp32", m), t.uniform("fp32", n)
    # By rows and columns PyTorch has results in bf16 alone.
    peer = lambda: t.torch._scaled_mm(a, b.T, scale_a=rows[:, None], scale_b=cols[None, :], out_dtype=t.torch.bfloat16, use_fast_accum=True)
    return Work((a, b, c, rows, cols, m, n, k), tile_grid(m, n), [c], flops=2 * m * n * k, peer=peer,
                want=lambda: [(a.float() @ b.float().T) * rows[:, None] * cols[None, :]])


def int4(name, large, configs):
    @case(name, "matmul_int4.tile", "matmul_int4", [({"GROUP": 128, **meta}, w, s) for meta, w, s in configs])
    def build(t):
        m, n, k = t.pick(large, (48, 200, 512))
        a, packed, scales, c = t.randn("fp16", m, k), t.randint("u8", 0, 256, k // 2, n), t.uniform("fp16", k // 128, n), t.empty("fp16", m, n)

        def want():
            pairs = t.torch.stack([packed & 15, packed >> 4], 1).view(k, n).half() - 8
            return [a.float() @ (pairs * scales.repeat_interleave(128, 0)).float()]
        return Work((a, packed, scales, c, m, n, k), tile_grid(m, n), [c], flops=2 * m * n * k, want=want)


int4("matmul_int4", (1024, 8192, 8192), tiles((128, 128, 64, 8, 3), (64, 128, 64, 4, 3), (128, 64, 64, 4, 3)))
int4("matmul_int4 decode", (16, 32768, 16384), tiles((16, 64, 128, 4, 3), (16, 128, 128, 4, 3), (16, 128, 64, 4, 4)))


@case("matmul_batched", "matmul_batched.tile", "matmul_batched",
      [({"BB": bb, "M": 16, "BN": bn, "BK": bk}, w, s) for bb, bn, bk, w, s in ((4, 64, 64, 4, 3), (1, 64, 64, 1, 3), (2, 64, 128, 4, 2))])
def matmul_batched(t):
    batch, m, n, k = t.pick((16384, 16, 64, 256), (10, 16, 48, 160))
    a, b, c = t.randn("fp16", batch, m, k), t.randn("fp16", batch, k, n), t.empty("fp16", batch, m, n)
    return Work((a, b, c, batch, n, k), lambda meta: (cdiv(batch, meta["BB"]), cdiv(n, meta["BN"])), [c], moved=2 * batch * (m * k + k * n + m * n),
                want=lambda: [t.torch.bmm(a.float(), b.float())], peer=lambda: t.torch.bmm(a, b, out=c))


@case("matmul_grouped", "matmul_grouped.tile", "matmul_grouped",
      [({"PROGRAMS": t, **meta}, w, s) for t, (meta, w, s) in zip((132, 264, 132), tiles((128, 128, 64, 8, 3), (128, 128, 64, 4, 3), (128, 256, 64, 8, 3)))])
def matmul_grouped(t):
    groups, most, n, k = t.pick((16, 2048, 4096, 2048), (3, 200, 136, 192))
    rows_of = list(itertools.islice(itertools.cycle([most, most // 2 + 8, most // 4, 24, most - 8]), groups))
    a, b, c = t.randn("fp16", groups, most, k), t.randn("fp16", groups, k, n), t.zeros("fp16", groups, most, n)
    slot, rows = t.steps("i64", 1, groups), t.values("i32", rows_of)

    def want():
        out = t.torch.zeros_like(c, dtype=t.torch.float32)
        for i, m in enumerate(rows_of): out[i, :m] = a[i, :m].float() @ b[i].float()
        return [out]
    return Work((a, b, c, slot, rows, groups, most, n, k), lambda meta: (meta["PROGRAMS"],), [c], flops=2 * sum(rows_of) * n * k, want=want)
