# A device_assert without a mask also looks at what the mask of a load leaves out.
# RUN: %status 5 %tilec run %s -k asserts --device=sim --debug --grid 1 --arg x=fp32[100]=ones -D MASKED=False | FileCheck %s
# RUN: %tilec run %s -k asserts --device=sim --debug --grid 1 --arg x=fp32[100]=ones -D MASKED=True
# RUN: %status 5 %tilec run %s -k asserts --device=sim --debug --grid 1 --arg x=fp32[100]=zeros -D MASKED=True | FileCheck %s --check-prefix=WITH --implicit-check-not=note:
# WITH: error: assertion failed in program (0, 0, 0): not positive
import triton
import triton.language as tl


@triton.jit
def asserts(x, MASKED: tl.constexpr):
    i = tl.arange(0, 128)
    v = tl.load(x + i, mask=i < 100, other=0.0)
    if MASKED:
        tl.device_assert(v > 0, "not positive", mask=i < 100)
    else:
        # CHECK: assert_all.py:[[#@LINE+4]]:9: error: assertion failed in program (0, 0, 0): not positive
        # CHECK-NEXT: tl.device_assert(v > 0, "not positive")
        # CHECK-NEXT: ^~~
        # CHECK-NEXT: note: it looks at all elements, also at those that the mask of a load leaves out: to leave them out here too, pass mask=… to device_assert
        tl.device_assert(v > 0, "not positive")
    tl.store(x + i, v, mask=i < 100)
