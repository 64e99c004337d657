# a function defined in a kernel
# tilec nested_def.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    def twice(a):
        return a * 2
    o = tl.arange(0, B)
    v = tl.load(x + o, mask=o < n)
    tl.store(y + o, twice(v))
