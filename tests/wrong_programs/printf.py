# device_print with a printf format
# tilec printf.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    tl.device_print('pid = %d', tl.program_id(0))
    o = tl.arange(0, B)
    v = tl.load(x + o, mask=o < n)
    tl.store(y + o, v)
