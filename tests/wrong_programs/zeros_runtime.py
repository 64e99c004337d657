# zeros of a run-time length
# tilec zeros_runtime.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    acc = tl.zeros([n], dtype=tl.float32)
    tl.store(y, tl.sum(acc))
