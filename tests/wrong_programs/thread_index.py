# threadIdx of CUDA
# tilec thread_index.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + threadIdx.x
    tl.store(y + i, tl.load(x + i))
