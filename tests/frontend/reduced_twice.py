# A reduction, a scan or a sort of what is a scalar: where it became one, and the way out.
# RUN: not %tilec %s -n k -s *fp32,i32 --emit=tile -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def total(v):
    return tl.sum(v, 0)


@triton.jit
def k(x, n):
    v = tl.load(x + tl.arange(0, 8))
    w = tl.reshape(v, [4, 2])
    r = tl.max(v, 0)
    # CHECK: [[#@LINE+5]]:5: error: a scalar cannot be reduced: a scalar fp32
    # CHECK: {{^}}note: inside `sum`
    # CHECK: [[#@LINE-3]]:9: note: this reduction leaves a scalar
    # CHECK: r = tl.max(v, 0)
    # CHECK: {{^}}note: leave `sum` out{{$}}
    tl.sum(r * 2.0, 0)
    all = tl.sum(w)
    # CHECK: [[#@LINE+3]]:5: error: a scalar cannot be scanned: a scalar fp32
    # CHECK: [[#@LINE-2]]:11: note: this reduction leaves a scalar
    # CHECK: {{^}}note: leave `cumsum` out, or give the first reduction an axis
    tl.cumsum(all, 0)
    # CHECK: error: `sort` needs a tensor, this is a scalar fp32
    # CHECK: {{^}}note: leave `sort` out{{$}}
    tl.sort(r)
    # CHECK: error: `argmax` needs a tensor, this is a scalar fp32
    # CHECK: {{^}}note: give `argmax` the tensor before it is reduced{{$}}
    tl.argmax(r, 0)
    # CHECK: error: `histogram` counts a 1-D integer tensor, not a scalar i32
    # CHECK: {{^}}note: give `histogram` the tensor before it is reduced{{$}}
    tl.histogram(r.to(tl.int32), 4)
    # CHECK: error: a scalar cannot be reduced: a scalar i32
    # CHECK: {{^}}note: leave `sum` out: a scalar is one element
    tl.sum(n, 0)
    # CHECK: [[#@LINE+4]]:5: error: axis 1 of `sum` is outside a tensor of rank 1
    # CHECK: {{^}}note: its only axis is 0
    # CHECK: [[#@LINE+1]]:9: note: shape [2] comes from here
    s = tl.sum(w, 0)
    tl.sum(s, 1)
    # CHECK: [[#@LINE-36]]:12: error: a scalar cannot be reduced: a scalar fp32
    # CHECK: note: in the call of total here
    # CHECK: [[#@LINE+2]]:9: note: this call leaves a scalar
    # CHECK-NOT: leave `sum` out
    t = total(v)
    total(t)
