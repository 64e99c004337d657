// Warnings about numbers: a kernel that stores NaN though it loaded none, and one that stores an infinite number of 16
// bits that it made of finite ones (numbers.c).
#ifndef TILE_RUNTIME_SIM_NUMBERS_H
#define TILE_RUNTIME_SIM_NUMBERS_H

#include "runtime/sim/exec.h"

typedef enum { NUMBER_NONE, NUMBER_F32, NUMBER_F64, NUMBER_F16, NUMBER_BF16, NUMBER_F16X2, NUMBER_BF16X2,
               NUMBER_CHOICE, NUMBER_WRAP } NumberKind;
// CHOICE: min and max of f32, which leave NaN out. WRAP: integers of 32 bits that should not wrap around (wraps.c).
// What the instruction computes, for Instr.numbers; NONE: no floats, or none that it could make NaN or infinite.
uint8_t numbers_kind(const Instr *in);
// After an instruction whose Instr.numbers is not NONE: remembers if it makes NaN or an infinite number.
void numbers_step(Warp *w, const Instr *in, uint32_t mask);
// Before a load or a store: looks at its numbers.
void numbers_access(Warp *w, const Instr *in, const MemAccess *a);
void numbers_begin(Grid *g);
void numbers_end(Grid *g);
void wraps_begin(Grid *g);
void wraps_step(Warp *w, const Instr *in, uint32_t mask);

#endif
