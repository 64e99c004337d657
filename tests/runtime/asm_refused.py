# An instruction of inline assembly that the target lacks: the error leads to the call. With ptxas and on the simulator.
# RUN: %status 4 %tilec run %s --device=sim -k newer --grid 1 --arg x=u32[32]=zeros | FileCheck %s --check-prefixes=ALL,SIM
# RUN: %status 4 %tilec %s -n newer -s *u32 --arch=sm_80 --emit=cubin -o %t.cubin | FileCheck %s --check-prefixes=ALL,PTXAS
# REQUIRES: ptxas
# ALL: error: {{.*}}asm_refused.py:[[#@LINE+14]]:9: error: the assembler does not take this inline assembly for
# SIM-SAME: sm_90a: unknown instruction
# PTXAS-SAME: this target:
# ALL-NEXT: {{^}}      y = tl.inline_asm_elementwise("cvt.rs
# ALL-NEXT: {{^}}          ^{{$}}
# ALL-NEXT: {{^}}note: does {{.*}} have the instruction, and the PTX version? --arch and --ptx-version choose others
import triton
import triton.language as tl


@triton.jit
def newer(x):
    o = x + tl.arange(0, 32)
    v = tl.load(o)
    y = tl.inline_asm_elementwise("cvt.rs.satfinite.e4m3x4.f32 $0, {$1, $1, $1, $1}, $1;", "=r,r", [v], tl.uint32, True, 1)
    tl.store(o, y)
