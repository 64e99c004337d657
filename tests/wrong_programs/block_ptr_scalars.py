# a block pointer of one axis with numbers for tuples: https://github.com/triton-lang/triton/issues/3096
# tilec block_ptr_scalars.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    p = tl.make_block_ptr(base=x, shape=n, strides=1, offsets=0, block_shape=B, order=0)
    tl.store(y + tl.arange(0, B), tl.load(p))
