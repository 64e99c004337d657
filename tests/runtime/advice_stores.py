# After --expect has failed: a buffer that did not begin with zeros, and a rectangle that no program stores.
# DEFINE: %{add} = %status 5 %tilec run %s -k add --grid 2 --arg x=fp32[128]=randn:1
# RUN: %{add} --device=sim --arg sums=fp32[64]=randn:3 -D HOW=0 --expect "sums=x[:64] + x[64:]" | FileCheck %s --check-prefix=ADDED
# RUN: %{add} --device=interp --arg sums=fp32[64]=randn:3 -D HOW=0 --expect "sums=x[:64] + x[64:]" | FileCheck %s --check-prefix=ADDED
# RUN: %{add} --device=interp --arg sums=fp32[64]=randn:3 -D HOW=0 --expect "sums[8:]=x[8:64] + x[72:]" | FileCheck %s --check-prefix=ADDED
# RUN: %{add} --device=interp --arg sums=fp32[64]=zeros -D HOW=0 --expect "sums=x[:64]" | FileCheck %s --implicit-check-not="{{note: [^p]}}"
# RUN: %{add} --device=interp --arg sums=fp32[64]=randn:3 -D HOW=0 --expect "sums=x[:64]" | FileCheck %s --implicit-check-not="{{note: [^p]}}"
# RUN: %{add} --device=interp --arg sums=fp32[64]=ones -D HOW=1 --expect "sums=1+0*x[:64]" | FileCheck %s --implicit-check-not="{{note: [^p]}}"
# DEFINE: %{tile} = %status 5 %tilec run %s -k tile --arg x=fp32[64,64]=randn:1 --arg y=fp32[64,64]=zeros
# RUN: %{tile} --device=sim --grid 3 -D COUNT=1 --expect "y=x" | FileCheck %s --check-prefix=CORNER
# RUN: %{tile} --device=interp --grid 2 -D COUNT=2 --expect "y=x" | FileCheck %s --check-prefix=CORNER
# RUN: %status 5 %tilec run %s -k zeros --device=interp --grid 1 --arg y=fp32[64,64]=zeros --expect "y=1" | FileCheck %s --implicit-check-not="no program"
# CHECK: FAILED
import triton
import triton.language as tl


@triton.jit
def add(x, sums, HOW: tl.constexpr):
    i = tl.arange(0, 64)
    v = tl.load(x + tl.program_id(0) * 64 + i)
    if HOW == 0:
        # ADDED: advice_stores.py:[[#@LINE+3]]:9: note: got is what is expected plus what sums held before the run: the kernel adds to it here, so let it begin with zeros
        # ADDED-NEXT: tl.atomic_add(sums + i, v)
        # ADDED-NEXT: ^~~~~~~~~~~~~~~~~~~~~~~~~~
        tl.atomic_add(sums + i, v)
    else:
        tl.store(sums + i, tl.load(sums + i) * 0 + 2)


# Tiles (1, 0), (0, 1) and (0, 0), or with COUNT 2 the row 0 and the tile (1, 0).
@triton.jit
def tile(x, y, COUNT: tl.constexpr):
    # CORNER: FAILED
    # CORNER: {{^}}note: no program stores to y[32:64, 32:64]: do the grid's programs and the masks cover it?
    p = tl.program_id(0)
    r, c = tl.arange(0, 32), tl.arange(0, 32)
    for k in range(COUNT):
        q = p * COUNT + k
        if q < 3:
            at = (q // 2 * 32 + r)[:, None] * 64 + (q % 2 * 32 + c)[None, :]
            tl.store(y + at, tl.load(x + at))


# All elements are stored; what is stored in a corner is what was there.
@triton.jit
def zeros(y):
    r, c = tl.arange(0, 64)[:, None], tl.arange(0, 64)[None, :]
    tl.store(y + r * 64 + c, tl.where((r >= 32) & (r < 48) & (c < 32), 0.0, 1.0))
