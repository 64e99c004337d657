# An axis, an index of a shape or a shape that does not fit: the message names the axes that there are.
# RUN: not %tilec %s -n axes -s *fp32,*fp32,i32 -o - 2>&1 | FileCheck %s --check-prefix=AXES
# RUN: not %tilec %s -n shapes -s *fp32,*fp32,i32 -o - 2>&1 | FileCheck %s --check-prefix=SHAPES
import triton
import triton.language as tl


@triton.jit
def axes(x, y, n):
    v = tl.load(x + tl.arange(0, 32))
    s = tl.load(x)
    # AXES: axes.py:[[#@LINE+2]]:5: error: axis 3 of `argmax` is outside a tensor of rank 1
    # AXES: note: its only axis is 0
    tl.argmax(v, 3)
    # AXES: axes.py:[[#@LINE+2]]:5: error: axis 1 of `argmin` is outside a tensor of rank 1
    # AXES: note: its only axis is 0
    tl.argmin(v, 1)
    # AXES: axes.py:[[#@LINE+2]]:5: error: axis 2 of `max` is outside a tensor of rank 2
    # AXES: note: its axes are 0 to 1
    tl.max(v[:, None], 2, return_indices=True)
    # AXES: axes.py:[[#@LINE+1]]:5: error: axis 1 of `flip` is outside a tensor of rank 1
    tl.flip(v, 1)
    # AXES: axes.py:[[#@LINE+1]]:5: error: axis -2 of `sort` is outside a tensor of rank 1
    tl.sort(v, -2)
    # AXES: axes.py:[[#@LINE+1]]:5: error: axis 2 of `topk` is outside a tensor of rank 1
    tl.topk(v, 4, 2)
    # AXES: axes.py:[[#@LINE+1]]:5: error: axis 1 of `cumsum` is outside a tensor of rank 1
    tl.cumsum(v, 1)
    # AXES: axes.py:[[#@LINE+1]]:18: error: axis 1 of `cat` is outside a tensor of rank 1
    tl.cat(v, v, dim=1)
    # AXES: axes.py:[[#@LINE+1]]:36: error: axis 1 of `gather` is outside a tensor of rank 1
    tl.gather(v, tl.arange(0, 32), 1)
    # AXES: axes.py:[[#@LINE+1]]:5: error: axis 1 of `softmax` is outside a tensor of rank 1
    tl.softmax(v, 1)
    # AXES: axes.py:[[#@LINE+2]]:5: error: `flip` needs a tensor, this is a scalar fp32
    # AXES: note: a tensor is loaded from a pointer plus tl.arange(…)
    tl.flip(s)
    # AXES: axes.py:[[#@LINE+1]]:5: error: `argmax` needs a tensor, this is a scalar fp32
    tl.argmax(s, 0)
    # AXES: axes.py:[[#@LINE+2]]:23: error: axis 4 is outside a result of rank 2
    # AXES: note: its axes are 0 to 1
    tl.expand_dims(v, 4)
    # AXES: axes.py:[[#@LINE+2]]:5: error: `axis` of `sort` must be a constant integer, not a scalar i32
    # AXES: note: declare the parameter `n: tl.constexpr`
    tl.sort(v, n)


@triton.jit
def shapes(x, y, n):
    i = tl.arange(0, 32)
    # SHAPES: axes.py:[[#@LINE+2]]:13: error: index 1 is outside `i.shape`: `i` has rank 1
    # SHAPES: note: its only axis is 0
    i.shape[1]
    # SHAPES: axes.py:[[#@LINE+2]]:22: error: index 2 is outside `i[:, None].shape`: `i[:, None]` has rank 2
    # SHAPES: note: its axes are 0 to 1
    i[:, None].shape[2]
    s = i.shape
    # SHAPES: axes.py:[[#@LINE+1]]:7: error: index 3 is outside `s`, which is of a tensor of rank 1
    s[3]
    # SHAPES: axes.py:[[#@LINE+2]]:30: error: cannot broadcast shape [32], which counts as [1, 32], to [32, 1]: dimension 1 is 32, not 1
    # SHAPES: note: index the one of shape [32] with [:, None]: the shape [32, 1] fits
    tl.store(y + i[:, None], tl.load(x + i))
    # SHAPES: axes.py:[[#@LINE+2]]:5: error: shapes [64, 32] and [8], which counts as [1, 8], do not broadcast: dimension 1 is 32 on the left and 8 on the right
    # SHAPES: note: index with [:, None] or [None, :] to say which dimension a smaller tensor spans
    tl.zeros([64, 32], tl.float32) + tl.arange(0, 8)
    # SHAPES: axes.py:[[#@LINE+2]]:5: error: shapes [32, 1] and [8, 1] do not broadcast: dimension 0 is 32 on the left and 8 on the right
    # SHAPES: note: both are columns: to combine each of the one with each of the other, index one of them with [None, :]
    i[:, None] + tl.arange(0, 8)[:, None]
