// The errors that lead reports of accesses out of bounds, misaligned accesses and races, in terms of the source.
#ifndef TILE_RUNTIME_SIM_LEAD_H
#define TILE_RUNTIME_SIM_LEAD_H

#include "ir/outside.h"
#include "runtime/sim/exec.h"

// What does not order two accesses: programs of the grid, the blocks of a program's cluster, its warps; or threads that
// access shared memory.
typedef enum { RACE_PROGRAMS, RACE_BLOCKS, RACE_WARPS, RACE_SHARED } RaceScope;
typedef struct {
  const Instr *in;
  OutsideKind kind;
  uint32_t program[3];
  bool is_atomic;              // or volatile
} RaceSide;
// The error is at a plain store that should have been atomic, or at the access that stands later in the code; the note
// is at the other. address: of global memory, which
// the lane of the warp accesses by `found.in`.
void lead_race(Warp *w, int lane, RaceScope scope, const RaceSide *found, const RaceSide *other, uint64_t address);
// Fills in the access's kind, element size and program. elem_bytes: for a place of which that is not known.
void lead_outside(Warp *w, const Instr *in, Outside *o, AccessKind kind, uint32_t elem_bytes);
// An access of that size at an address that is no multiple of `align`.
void lead_misaligned(Warp *w, const Instr *in, int lane, uint64_t address, uint32_t size, uint32_t align,
                     AccessKind kind);

#endif
