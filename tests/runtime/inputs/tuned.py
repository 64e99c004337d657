import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[triton.Config({"BM": bm}, num_warps=w, num_stages=1) for bm, w in ((1024, 8), (64, 2))],
    key=["m"],
)
@triton.heuristics({"EVEN": lambda args: args["m"] % args["BM"] == 0})
@triton.jit
def product(a, b, c, m, BM: tl.constexpr, EVEN: tl.constexpr):
    tl.static_print("EVEN", EVEN)
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.arange(0, 128)
    mask = rm[:, None] < m
    x = tl.load(a + rm[:, None] * 128 + rn[None, :], mask=mask, other=0.0)
    y = tl.load(b + rn[:, None] * 128 + rn[None, :])
    tl.store(c + rm[:, None] * 128 + rn[None, :], tl.dot(x, y).to(tl.float16), mask=mask)


def host(a, b):
    c = torch.empty_like(a)
    product[lambda meta: (triton.cdiv(a.shape[0], meta["BM"]),)](a, b, c, a.shape[0])
    return c
