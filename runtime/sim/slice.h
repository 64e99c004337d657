// For reports: what the operands of an instruction were computed from, through registers and shared memory (slice.c).
#ifndef TILE_RUNTIME_SIM_SLICE_H
#define TILE_RUNTIME_SIM_SLICE_H

#include "runtime/sim/exec.h"

// Visits the instructions of the function on which the operands of `in` depend, each at least once: loads of global
// memory and copies to shared memory too, but not what their addresses depend on. A store's address counts only if
// with_address.
void slice_walk(const PtxModule *m, const Instr *in, bool with_address, void (*visit)(void *user, const Instr *in),
                void *user);

#endif
