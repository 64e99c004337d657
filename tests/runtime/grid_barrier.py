# Programs that wait for all of the grid: right if all fit, which takes few steps; reported if they do not fit, or if they
# wait for a number that others have passed.
# DEFINE: %{run} = %tilec run %s --device=sim -w 1 --arg count=i32[1]=zeros
# RUN: %{run} -k waits --grid 300 --arg x=i32[300]=zeros --arg n=300 --print x | FileCheck %s --check-prefix=FITS
# RUN: env TILE_SIM_SMS=2 %status 5 %{run} -k waits --grid 9000 --arg x=i32[9000]=zeros --arg n=9000 | FileCheck %s --check-prefix=MORE
# RUN: %status 5 %{run} -k passes --grid 4 --arg x=i32[4]=zeros --arg n=4 | FileCheck %s --check-prefix=PASSES
import triton
import triton.language as tl


@triton.jit
def waits(count, x, n):
    tl.atomic_add(count, 1, sem="release")
    # MORE: grid_barrier.py:[[#@LINE+2]]:11: error: deadlock: this loop of program
    # MORE: {{^}}note: {{[0-9]+}} of 9000 programs have not begun, because no more run at once: a wait for all of the grid needs a grid that fits
    while tl.atomic_add(count, 0, sem="acquire") < n:
        pass
    # FITS: 300
    tl.store(x + tl.program_id(0), n)


@triton.jit
def passes(count, x, n):
    tl.atomic_add(count, 2, sem="release")
    # PASSES: {{^}}note: no program changes what it reads any more: it waits for a value that others have passed or never reach, or for a program that waits, too
    while tl.atomic_add(count, 0, sem="acquire") != n - 1:
        pass
    tl.store(x + tl.program_id(0), 1)
