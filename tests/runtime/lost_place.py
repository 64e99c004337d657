# LLVM moves the load past the loop's test, where it has no line: the report finds its place by what the code lacks.
# DEFINE: %{args} = --grid 1 --arg x=fp32[5]=randn:1 --arg bounds=fp32[5]=arange --arg out=i32[5]=zeros --arg n=5 --arg num=5 -DBLOCK=64
# RUN: %tilec %s -n counts -s "counts(*fp32, *fp32, *i32, i32, i32, 64)" -o - | FileCheck %s --check-prefix=PTX
# RUN: %status 5 %tilec run %s --device=sim -k counts %{args} | FileCheck %s
# PTX: .loc{{[[:space:]]}}1 0 
# CHECK: lost_place.py:[[#@LINE+11]]:9: error: out-of-bounds load: program (0, 0, 0) loads element 5 of x, which has 5
# CHECK: {{^}}note: this load has no mask: mask=offs < n leaves out
# CHECK-NOT: .py:0:
import triton
import triton.language as tl


@triton.jit
def counts(x, bounds, out, n, num, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    v = tl.load(x + offs)
    count = tl.zeros((BLOCK,), tl.int32)
    for i in range(0, num):
        count += (v > tl.load(bounds + i)).to(tl.int32)
    tl.store(out + offs, count, mask=mask)
