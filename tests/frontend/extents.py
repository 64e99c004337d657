# Where two shapes that do not go together come from, and which other shape would fit.
# RUN: not %tilec %s -n carried -s "*fp32, *fp32, i32, 16, 32" -o - 2>&1 | FileCheck %s --check-prefix=CARRIED
# RUN: not %tilec %s -n stored -s "*fp32, *fp32, i32, 16, 32" -o - 2>&1 | FileCheck %s --check-prefix=STORED
# RUN: not %tilec %s -n masked -s "*fp32, *fp32, i32, 16, 32" -o - 2>&1 | FileCheck %s --check-prefix=MASKED
# RUN: not %tilec %s -n turned -s "*fp32, *fp32, i32, 16, 32" -o - 2>&1 | FileCheck %s --check-prefix=TURNED
# RUN: not %tilec %s -n vectors -s "*fp32, *fp32, i32, 16, 32" -o - 2>&1 | FileCheck %s --check-prefix=VECTORS
# RUN: not %tilec %s -n product -s "*fp32, *fp32, i32, 16, 32" -o - 2>&1 | FileCheck %s --check-prefix=PRODUCT
import triton
import triton.language as tl


@triton.jit
def carried(x, y, n, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.arange(0, BM)
    columns = tl.arange(0, BM)
    # CARRIED: extents.py:[[#@LINE+7]]:9: error: shapes [16, 32] and [16, 16] do not broadcast: dimension 1 is 32 on the left and 16 on the right
    # CARRIED: extents.py:[[#@LINE+4]]:11: note: shape [16, 32] comes from here: BN is 32
    # CARRIED: extents.py:[[#@LINE-3]]:15: note: the 16 of dimension 1 comes from here: BM is 16
    # CARRIED: {{^}}note: give dimension 1 one extent on both sides: BN or BM{{$}}
    p = x + rows[:, None] * n + columns[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(n):
        acc += tl.load(p)
        p += BN
    tl.store(y, tl.sum(acc))


@triton.jit
def stored(x, y, n, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.arange(0, BM)
    if n > 3:
        q = x + rows
    else:
        q = y + rows
    # STORED: extents.py:[[#@LINE+4]]:17: error: cannot broadcast shape [32] to [16]: dimension 0 is 32, not 16 or 1
    # STORED: extents.py:[[#@LINE-6]]:12: note: shape [16] comes from here: BM is 16
    # STORED: {{^}}note: give dimension 0 one extent on both sides: BN or BM{{$}}
    # STORED-NOT: [:, None]
    tl.store(q, tl.arange(0, BN) * 1.0)


@triton.jit
def masked(x, y, n, BM: tl.constexpr, BN: tl.constexpr):
    rows, columns = tl.arange(0, BM), tl.arange(0, BN)
    # MASKED: {{^}}note: index with [None, :] in place of [:, None] where the one of shape [32, 1] is made: the shape [1, 32] fits{{$}}
    v = tl.load(x + rows[:, None] * n + columns[None, :], mask=columns[:, None] < n)
    # MASKED: {{^}}note: index with [:, None] in place of [None, :] where the one of shape [1, 16] is made: the shape [16, 1] fits{{$}}
    tl.store(y, tl.sum(tl.where(rows[None, :] < n, tl.zeros((BM, BN), tl.float32), 1.0)))


@triton.jit
def turned(x, y, n, BM: tl.constexpr, BN: tl.constexpr):
    rows, columns = tl.arange(0, BM), tl.arange(0, BN)
    a = tl.load(x + rows[:, None] * n + columns[None, :])
    b = tl.load(x + columns[:, None] * n + rows[None, :])
    # TURNED: error: shapes [16, 32] and [32, 16] do not broadcast: dimension 0 is 16 on the left and 32 on the right
    # TURNED: {{^}}note: the one of shape [16, 32] fits transposed, tl.trans(x), or with [:, None] and [None, :] exchanged where it is made{{$}}
    a + b
    # TURNED: error: shapes [16, 32] and [16], which counts as [1, 16], do not broadcast
    # TURNED: {{^}}note: index the one of shape [16] with [:, None]: the shape [16, 1] fits{{$}}
    tl.store(y, tl.sum(a - tl.max(a, axis=1)))


@triton.jit
def added(a, b):
    return a + b


@triton.jit
def vectors(x, y, n, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.arange(0, BM)
    # VECTORS: error: shapes [16] and [32] do not broadcast
    # VECTORS: note: in the call of added here
    # VECTORS: extents.py:[[#@LINE-3]]:12: note: shape [16] comes from here: BM is 16
    # VECTORS: extents.py:[[#@LINE+2]]:28: note: shape [32] comes from here: BN is 32
    # VECTORS: {{^}}note: give dimension 0 one extent on both sides: BM or BN; to combine each of the one with each of the other, index them with [:, None] and [None, :]{{$}}
    v = added(rows * 1.0, (tl.arange(0, BN) * 1.0))
    tl.store(y, tl.sum(v))


@triton.jit
def product(x, y, n, BM: tl.constexpr, BN: tl.constexpr):
    rows, columns = tl.arange(0, BM), tl.arange(0, BN)
    a = tl.load(x + rows[:, None] * n + columns[None, :])
    c = tl.dot(a, tl.trans(a))
    # PRODUCT: error: shapes [16, 32] and [16, 16] do not broadcast
    # PRODUCT: extents.py:[[#@LINE-4]]:21: note: the 16 of dimension 1 comes from here: BM is 16
    tl.store(y, tl.sum(tl.zeros((BM, BN), tl.float32) + c))
