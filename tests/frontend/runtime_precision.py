# -Wruntime-precision: allow_tf32 that is known at run time only counts as True, as in Triton; for fp16 it means nothing.
# RUN: %tilec %s --emit=tile -W -o %t 2>&1 | FileCheck %s --implicit-check-not=warning:
# RUN: FileCheck %s --check-prefix=DOT --input-file=%t
# DOT: dot {{.*}}precision = tf32
import triton
import triton.language as tl


@triton.jit
def product(x: "*fp32", h: "*fp16", out: "*fp32", tf32: "i1"):
    i = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    a = tl.load(x + i)
    # CHECK: runtime_precision.py:[[#@LINE+4]]:36: warning: this is a run-time value, which counts as True here, whatever it is [-Wruntime-precision]
    # CHECK-NEXT: tl.store
    # CHECK-NEXT: ^~~~
    # CHECK-NEXT: note: make it a constexpr parameter, or write input_precision="tf32"
    tl.store(out + i, tl.dot(a, a, allow_tf32=tf32))
    b = tl.load(h + i)
    tl.store(out + 256 + i, tl.dot(b, b, allow_tf32=tf32))
