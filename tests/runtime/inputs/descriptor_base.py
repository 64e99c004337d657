import triton
import triton.language as tl


@triton.jit
def skip(x, y, first, n):
    d = tl.make_tensor_descriptor(x + first, shape=[n, 32], strides=[32, 1], block_shape=[8, 32])
    tl.store(y + tl.arange(0, 8)[:, None] * 32 + tl.arange(0, 32)[None, :], d.load([0, 0]))
