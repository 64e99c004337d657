import triton
import triton.language as tl


@triton.jit
def twice(x):
    return x * 2


@triton.jit
def sum_of(x, y, out, n, stride, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(out + offs * stride, twice(tl.load(x + offs, mask) + tl.load(y + offs, mask)), mask)


@triton.jit
def tall(n, out):
    shared = tl.make_tensor_descriptor(out, [n, n], [n, 1], [16, 16])
    shared.store([0, 0], tl.zeros((16, 16), tl.float32))
