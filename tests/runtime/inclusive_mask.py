# A mask that holds for the end itself.
# RUN: %status 5 %tilec run %s --device=sim -k copy --grid 1 --arg x=f32[60]=ones --arg y=f32[64]=zeros --arg n=60 | FileCheck %s
# RUN: %status 5 %tilec run %s --device=interp -k copy --grid 1 --arg x=f32[60]=ones --arg y=f32[64]=zeros --arg n=60 | FileCheck %s
# RUN: %tilec run %s --device=sim -k last --grid 1 --arg x=f32[60]=ones --arg y=f32[64]=zeros --arg n=60 --expect "y=where(arange(64)<60,1,0)"
# CHECK: note: the mask of this load lets it through: `o <= n` holds for the end itself, which is no element: write < in place of <=
import triton
import triton.language as tl


@triton.jit
def copy(x, y, n):
    o = tl.arange(0, 64)
    mask = (o >= 0) & (o <= n)
    tl.store(y + o, tl.load(x + o, mask=mask), mask=o < n)


@triton.jit
def last(x, y, n):
    o = tl.arange(0, 64)
    tl.store(y + o, tl.load(x + o, mask=o <= n - 1), mask=o < n)
