# match in a kernel
# tilec match_in_kernel.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    o = tl.arange(0, B)
    v = tl.load(x + o, mask=o < n)
    match n:
        case 1:
            v = v * 2
        case _:
            v = v * 3
    tl.store(y + o, v)
