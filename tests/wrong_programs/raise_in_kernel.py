# raise in a kernel: https://github.com/triton-lang/triton/pull/1355
# tilec raise_in_kernel.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    if n < 1:
        raise ValueError('n must be positive')
    o = tl.arange(0, B)
    v = tl.load(x + o, mask=o < n)
    tl.store(y + o, v)
