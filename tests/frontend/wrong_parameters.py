# Values that are not what their use needs: which parameter they come from, what gave it its type, and the way out.
# RUN: not %tilec %s -n offsets -s '*fp32, *fp32' -o /dev/null 2>&1 | FileCheck %s --check-prefix=OFFSETS
# RUN: not %tilec %s -n several -s '*fp32, 16' -o /dev/null 2>&1 | FileCheck %s --check-prefix=SEVERAL
# RUN: not %tilec run %s --device=interp -n several --grid 1 --arg 'xs=fp32[16]=zeros' -DN=16 2>&1 | FileCheck %s --check-prefix=ARG
# RUN: %tilec run %s --device=interp -n several --grid 1 --arg 'xs=(fp32[16]=zeros, fp32[16]=zeros)' -DN=16
# RUN: not %tilec %s -n exchanged -s '*fp32:16, *fp32:16, 16' -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXCHANGED
# RUN: not %tilec %s -n added -s '*fp32:16, *fp32:16, 16' -o /dev/null 2>&1 | FileCheck %s --check-prefix=ADDED
# RUN: not %tilec %s -n nothing -s '*fp32, 16' -o /dev/null 2>&1 | FileCheck %s --check-prefix=NOTHING
# RUN: not %tilec %s -n none -s '*fp32' -DN=16 -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
# RUN: not %tilec %s -n axes -s '*fp32, 16, 64' -o /dev/null 2>&1 | FileCheck %s --check-prefix=AXES
# RUN: not %tilec %s -n chosen -s '*fp32, *fp32' -o /dev/null 2>&1 | FileCheck %s --check-prefix=CHOSEN
# RUN: not %tilec %s -n counted -s '*fp32, i32' -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNTED
import triton
import triton.language as tl


@triton.jit
def offsets(x, ids):
    e = tl.load(ids + tl.program_id(0)) * 16
    # OFFSETS: [[#@LINE+4]]:14: error: `+` does not combine a scalar *fp32 and a scalar fp32
    # OFFSETS: [[#@LINE-3]]:16: note: a scalar fp32 is loaded through `ids`, which is *fp32 by --signature
    # OFFSETS: note: an offset is an integer: give `ids` a tensor of integers, or convert what is loaded by .to(tl.int32); to compute with the elements, load them first with tl.load(…)
    # OFFSETS-NOT: error
    tl.store(x + e, 1.0)


@triton.jit
def several(xs, N: tl.constexpr):
    # SEVERAL: [[#@LINE+6]]:34: error: a scalar *fp32 has no len
    # SEVERAL: [[#@LINE-2]]:13: note: `xs` is one pointer, *fp32, by --signature
    # SEVERAL: note: for several arrays its type is a tuple, (*fp32, *fp32); for the elements of one, pass their number as a parameter of its own
    # ARG: [[#@LINE+3]]:34: error: a scalar *fp32 has no len
    # ARG: [[#@LINE-5]]:13: note: `xs` is one pointer, *fp32, by --arg
    # ARG: note: for several arrays give a tuple, --arg xs='(fp32[128]=randn:1, fp32[128]=randn:2)'; for the elements of one, pass their number as a parameter of its own
    for i in tl.static_range(len(xs)):
        tl.store(xs[i] + tl.arange(0, N), 1.0)


@triton.jit
def exchanged(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [N, N], [N, 1], [N, N])
    out = tl.make_tensor_descriptor(out_ptr, [N, N], [N, 1], [N, N])
    # EXCHANGED: [[#@LINE+2]]:15: error: `descriptor.store` takes the offsets first, and this is fp32[16, 16]
    # EXCHANGED: note: exchange the two: ([0, 0], x.load([0, 0]) * 2.0)
    out.store(x.load([0, 0]) * 2.0, [0, 0])


@triton.jit
def added(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [N, N], [N, 1], [N, N])
    out = tl.make_tensor_descriptor(out_ptr, [N, N], [N, 1], [N, N])
    # ADDED: [[#@LINE+2]]:20: error: `descriptor.atomic_add` takes the offsets first, and this is fp32[16, 16]
    # ADDED: note: exchange the two: ([0, 0], x.load([0, 0]))
    out.atomic_add(x.load([0, 0]), [0, 0])


@triton.jit
def helper(x):
    x = x * 2


# A helper whose None is meant.
@triton.jit
def perhaps(x, wanted: tl.constexpr):
    if wanted:
        return x
    return None


@triton.jit
def nothing(x, N: tl.constexpr):
    offs = tl.arange(0, N)
    # NOTHING: [[#@LINE+2]]:24: error: `helper` returns nothing, and its result is used here
    # NOTHING: :{{[0-9]+}}:5: note: `helper` is defined here, and ends without `return` and a value
    tl.store(x + offs, helper(offs) + 1.0)
    # NOTHING: [[#@LINE+1]]:24: error: `helper` returns nothing
    tl.store(x + offs, helper(offs))
    # NOTHING: [[#@LINE+1]]:24: error: `helper` returns nothing
    tl.store(x + offs, helper(offs).to(tl.float32))
    # NOTHING: [[#@LINE+1]]:5: error: `helper` returns nothing
    a, b = helper(offs)
    # NOTHING: [[#@LINE+1]]:24: error: `helper` returns nothing
    tl.store(x + offs, helper(offs)[0])
    # NOTHING-NOT: error
    if perhaps(offs, False) is None and helper(offs) == None:
        tl.store(x + offs, 1.0)


@triton.jit
def none(x, N: tl.constexpr, scale=None):
    # NONE: [[#@LINE+2]]:35: error: `*` does not combine None and the constant 2.0
    # NONE: note: `scale` is None by its default: give it a value, or guard its use with `if scale is not None:`
    tl.store(x + tl.arange(0, N), scale * 2.0)


@triton.jit
def axes(x, M: tl.constexpr, N: tl.constexpr):
    acc = tl.zeros([M], tl.float32)
    at = x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)
    # AXES: [[#@LINE+2]]:5: error: shapes [16] and [64] do not broadcast
    # AXES: note: tl.sum(tl.load(at), axis=0) reduces axis 0 and leaves [64]; axis=1 leaves [16]
    acc += tl.sum(tl.load(at), axis=0)
    tl.store(x + tl.arange(0, M), acc)


@triton.jit
def chosen(a, b):
    both = (a, b)
    # CHOSEN: [[#@LINE+3]]:19: error: a tuple is indexed by a constant, not by a scalar i32
    # CHOSEN: [[#@LINE+2]]:19: note: declared a constexpr here, but this value is known only at run time
    # CHOSEN: note: compute it on the host, and pass it as a constexpr parameter
    tl.store(both[tl.constexpr(tl.program_id(0))], 1.0)


@triton.jit
def counted(x, n):
    # COUNTED: [[#@LINE+2]]:34: error: a scalar i32 has no len
    # COUNTED: note: pass the number of elements to the kernel as a parameter of its own
    for i in tl.static_range(len(n)):
        tl.store(x + i, 1.0)
