# a text for a parameter that is no constexpr
# tilec string_mode.py -n k -s "*fp32, *fp32, i32, relu, 128" -o -
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, mode, B: tl.constexpr):
    o = tl.arange(0, B)
    v = tl.load(x + o, mask=o < n)
    if mode == 'relu':
        v = tl.maximum(v, 0.0)
    tl.store(y + o, v)
