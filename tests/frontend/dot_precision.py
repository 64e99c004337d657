# --dot-precision is what TRITON_F32_DEFAULT is to Triton: of dots of fp32 that have no input_precision.
# RUN: %tilec %s -s '*fp32' --emit=tile -o - | FileCheck %s --check-prefix=NONE
# RUN: %tilec %s -s '*fp32' --dot-precision=ieee --emit=tile -o - | FileCheck %s --check-prefix=IEEE
# RUN: %tilec %s -s '*fp32' --dot-precision=tf32x3 --emit=tile -o - | FileCheck %s --check-prefix=X3
# RUN: not %tilec %s -s '*fp32' --dot-precision=fp32 -o - 2>&1 | FileCheck %s --check-prefix=WRONG
# WRONG: error: --dot-precision takes tf32, tf32x3, ieee, bf16x3 or bf16x6, not 'fp32'
import triton
import triton.language as tl


@triton.jit
def products(x):
    i = tl.arange(0, 16)
    v = tl.load(x + i[:, None] * 16 + i[None, :])
    # NONE: dot {{.*}}precision = tf32
    # NONE: dot {{.*}}precision = ieee
    # NONE: dot {{.*}}precision = tf32
    # NONE: dot {{.*}}precision = ieee
    # NONE: dot {{.*}}precision = tf32
    # IEEE: dot {{.*}}precision = ieee
    # IEEE: dot {{.*}}precision = ieee
    # IEEE: dot {{.*}}precision = ieee
    # IEEE: dot {{.*}}precision = ieee
    # IEEE: dot {{.*}}precision = tf32
    # X3: dot {{.*}}precision = tf32x3
    # X3: dot {{.*}}precision = tf32x3
    # X3: dot {{.*}}precision = tf32x3
    # X3: dot {{.*}}precision = ieee
    # X3: dot {{.*}}precision = tf32
    a = tl.dot(v, v)
    a += tl.dot(v, v, allow_tf32=False)
    a += tl.dot(v, v, allow_tf32=True)
    a += tl.dot(v, v, input_precision="ieee")
    a += tl.dot(v, v, input_precision="tf32")
    tl.store(x + i[:, None] * 16 + i[None, :], a.to(v.dtype))
