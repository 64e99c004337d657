"""TRITON_F32_DEFAULT, as a program may set it between its imports and its launches."""
import os

import triton
import triton.language as tl


@triton.jit
def product(x, PRECISION: tl.constexpr):
    i = tl.arange(0, 16)
    at = x + i[:, None] * 16 + i[None, :]
    v = tl.load(at)
    tl.store(at, tl.dot(v, v, input_precision=PRECISION))


def uses_tf32(precision=None):
    return "tf32" in product.warmup(triton.MockTensor(tl.float32), precision, grid=(1,)).asm["ptx"]


print("not set:", uses_tf32())
os.environ["TRITON_F32_DEFAULT"] = "ieee"
print("ieee:", uses_tf32(), uses_tf32("tf32"))
os.environ["TRITON_F32_DEFAULT"] = "tf32x3"
print("tf32x3:", uses_tf32(), uses_tf32("ieee"))
os.environ["TRITON_F32_DEFAULT"] = "fp32"
try:
    uses_tf32()
except Exception as e:
    print("wrong:", type(e).__name__, e)
