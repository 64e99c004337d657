"""Kernels that programs.py launches: the same text for tilec.triton and for Triton."""
import triton
import triton.language as tl


@triton.jit
def many(a, b, c, m, n, k, p, q, r, s, t, u, B: tl.constexpr):
    o = tl.arange(0, B)
    tl.store(c + o, tl.load(a + o) + tl.load(b + o) + m + n + k + p + q + r + s + t + u)


@triton.autotune([triton.Config({"B": 128}, num_warps=w) for w in (1, 2, 4)], key=["m"])
@triton.jit
def many_tuned(a, b, c, m, n, k, p, q, r, s, t, u, B: tl.constexpr):
    o = tl.arange(0, B)
    tl.store(c + o, tl.load(a + o) + tl.load(b + o) + m + n + k + p + q + r + s + t + u)


@triton.heuristics({"B": lambda args: 128 if args["m"] < 1 << 20 else 256})
@triton.jit
def many_chosen(a, b, c, m, n, k, p, q, r, s, t, u, B: tl.constexpr):
    o = tl.arange(0, B)
    tl.store(c + o, tl.load(a + o) + tl.load(b + o) + m + n + k + p + q + r + s + t + u)


@triton.autotune([triton.Config({}, num_warps=w) for w in (1, 2, 4)], key=["m"])
@triton.heuristics({"B": lambda args: 128 if args["m"] < 1 << 20 else 256})
@triton.jit
def many_both(a, b, c, m, n, k, p, q, r, s, t, u, B: tl.constexpr):
    o = tl.arange(0, B)
    tl.store(c + o, tl.load(a + o) + tl.load(b + o) + m + n + k + p + q + r + s + t + u)


@triton.jit
def add(x, y, out, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + o, tl.load(x + o, o < n) + tl.load(y + o, o < n), o < n)


@triton.jit
def softmax(x, out, columns, B: tl.constexpr):
    o = tl.arange(0, B)
    row = tl.load(x + tl.program_id(0) * columns + o, o < columns, float("-inf"))
    e = tl.exp(row - tl.max(row, 0))
    tl.store(out + tl.program_id(0) * columns + o, e / tl.sum(e, 0), o < columns)


@triton.jit
def layer_norm(x, weight, bias, out, columns, eps, B: tl.constexpr):
    o = tl.arange(0, B)
    row = tl.load(x + tl.program_id(0) * columns + o, o < columns, 0.0).to(tl.float32)
    mean = tl.sum(row, 0) / columns
    d = tl.where(o < columns, row - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(d * d, 0) / columns + eps)
    y = d * rstd * tl.load(weight + o, o < columns) + tl.load(bias + o, o < columns)
    tl.store(out + tl.program_id(0) * columns + o, y, o < columns)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    om = tl.program_id(0) * BM + tl.arange(0, BM)
    on = tl.program_id(1) * BN + tl.arange(0, BN)
    ok = tl.arange(0, BK)
    pa, pb = a + om[:, None] * K + ok[None, :], b + ok[:, None] * N + on[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(tl.load(pa), tl.load(pb), acc)
        pa += BK
        pb += BK * N
    tl.store(c + om[:, None] * N + on[None, :], acc.to(c.dtype.element_ty))


@triton.jit
def attention(q, k, v, out, T, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    om, od = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    base = tl.program_id(1) * T * D
    tile = tl.load(q + base + om[:, None] * D + od[None, :])
    most = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, T, BN):
        on = start + tl.arange(0, BN)
        score = tl.dot(tile, tl.trans(tl.load(k + base + on[:, None] * D + od[None, :]))) * scale
        now = tl.maximum(most, tl.max(score, 1))
        p = tl.exp(score - now[:, None])
        shrink = tl.exp(most - now)
        total = total * shrink + tl.sum(p, 1)
        acc = tl.dot(p.to(tile.dtype), tl.load(v + base + on[:, None] * D + od[None, :]), acc * shrink[:, None])
        most = now
    tl.store(out + base + om[:, None] * D + od[None, :], (acc / total[:, None]).to(out.dtype.element_ty))


@triton.jit
def scan(x, out, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + o, tl.cumsum(tl.load(x + o, o < n, 0.0), 0), o < n)


@triton.jit
def histogram(x, out, n, B: tl.constexpr, BINS: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    counts = tl.histogram(tl.load(x + o, o < n, 0), BINS)
    tl.atomic_add(out + tl.arange(0, BINS), counts)


@triton.jit
def dropout(x, out, n, p, seed, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    kept = tl.rand(seed, o) > p
    tl.store(out + o, tl.where(kept, tl.load(x + o, o < n) / (1 - p), 0.0), o < n)


def first_calls(device, torch):
    """Yields (name, launch, right): launch() launches, right() says whether the result is right."""
    generator = torch.Generator().manual_seed(7)

    def made(*shape, dtype=torch.float32):
        return torch.randn(*shape, generator=generator).to(device, dtype)

    x, y, z = made(64, 512), made(64, 512), torch.empty(64, 512, device=device)
    weight, bias, h = made(512), made(512), torch.float16
    a, b, c = made(128, 64, dtype=h), made(64, 128, dtype=h), torch.empty(128, 128, device=device, dtype=h)
    q, k, v = (made(2, 128, 64, dtype=h) for _ in range(3))
    o = torch.empty_like(q)
    codes = torch.arange(4096, device=device, dtype=torch.int32) % 64
    bins = torch.zeros(64, device=device, dtype=torch.int32)
    F = torch.nn.functional

    def near(got, wanted, atol=2e-2):
        return lambda: bool(torch.allclose(got.float(), wanted().float(), atol=atol, rtol=1e-2))

    n = x.numel()
    yield "add", lambda: add[(triton.cdiv(n, 1024),)](x, y, z, n, B=1024), near(z, lambda: x + y)
    yield "softmax", lambda: softmax[(64,)](x, z, 512, B=512), near(z, lambda: torch.softmax(x, 1))
    yield ("layer_norm", lambda: layer_norm[(64,)](x, weight, bias, z, 512, 1e-5, B=512),
           near(z, lambda: F.layer_norm(x, (512,), weight, bias)))
    yield ("matmul", lambda: matmul[(1, 1)](a, b, c, 128, 128, 64, BM=128, BN=128, BK=64, num_warps=8),
           near(c, lambda: a.float() @ b.float(), 0.1))
    yield ("attention", lambda: attention[(2, 2)](q, k, v, o, 128, 0.125, BM=64, BN=64, D=64),
           near(o, lambda: torch.softmax(q.float() @ k.float().transpose(1, 2) * 0.125, 2) @ v.float()))
    yield "scan", lambda: scan[(64,)](x, z, n, B=512), near(z, lambda: torch.cumsum(x, 1), 0.1)
    yield ("histogram", lambda: histogram[(4,)](codes, bins, 4096, B=1024, BINS=64),
           near(bins, lambda: torch.full_like(bins, 64)))
    yield ("dropout", lambda: dropout[(triton.cdiv(n, 1024),)](x, z, n, 0.25, 11, B=1024),
           lambda: bool(((z == 0) | ((z - x / 0.75).abs() < 1e-4)).all())
           and abs(float((z != 0).sum()) / n - 0.75) < 0.05)
