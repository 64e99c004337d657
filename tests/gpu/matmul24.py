#!/usr/bin/env python3
# The grouped matmul over 24 configurations: what `tilec tune` is measured with.
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BM": bm, "BN": bn, "BK": bk, "GROUP": 8}, num_stages=s, num_warps=w)
        for bm, bn, bk, w in [(128, 256, 64, 8), (256, 128, 64, 8), (128, 128, 64, 4), (128, 128, 64, 8), (64, 256, 64, 4), (256, 64, 64, 4),
                              (128, 64, 64, 4), (64, 128, 64, 4), (128, 256, 128, 8), (128, 128, 128, 8), (64, 64, 64, 4), (128, 128, 32, 4)]
        for s in (3, 4)
    ],
    key=["M", "N", "K"],
)
@triton.jit
def matmul_kernel(a, b, c, M, N, K, sam, sak, sbk, sbn, scm, scn,
                  BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
                  ACC: tl.constexpr = tl.float32, PREC: tl.constexpr = None):
    pid = tl.program_id(0)
    num_m = tl.cdiv(M, BM)
    num_n = tl.cdiv(N, BN)
    per_group = GROUP * num_n
    group = pid // per_group
    first_m = group * GROUP
    rows = min(num_m - first_m, GROUP)
    pid_m = first_m + (pid % per_group) % rows
    pid_n = (pid % per_group) // rows

    rm = (pid_m * BM + tl.arange(0, BM)) % M
    rn = (pid_n * BN + tl.arange(0, BN)) % N
    rk = tl.arange(0, BK)
    pa = a + rm[:, None] * sam + rk[None, :] * sak
    pb = b + rk[:, None] * sbk + rn[None, :] * sbn
    acc = tl.zeros((BM, BN), dtype=ACC)
    for k in range(0, tl.cdiv(K, BK)):
        av = tl.load(pa, mask=rk[None, :] < K - k * BK, other=0.0)
        bv = tl.load(pb, mask=rk[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(av, bv, acc, input_precision=PREC, out_dtype=ACC)
        pa += BK * sak
        pb += BK * sbk
    out = acc.to(c.dtype.element_ty)
    cm = pid_m * BM + tl.arange(0, BM)
    cn = pid_n * BN + tl.arange(0, BN)
    tl.store(c + scm * cm[:, None] + scn * cn[None, :], out, mask=(cm[:, None] < M) & (cn[None, :] < N))
