// What leads the reports of races and misaligned accesses: the same in the words of the source.
#ifndef TILE_RUNTIME_SIM_LEAD_H
#define TILE_RUNTIME_SIM_LEAD_H

#include "ir/outside.h"
#include "runtime/sim/exec.h"

OutsideKind lead_kind(AccessKind kind);

// What does not order two accesses: programs of the grid, the blocks of a program's cluster, its warps; or threads that
// access shared memory.
typedef enum { RACE_PROGRAMS, RACE_BLOCKS, RACE_WARPS, RACE_SHARED } RaceScope;
typedef struct {
  const Instr *in;
  OutsideKind kind;
  uint32_t program[3];
} RaceSide;
// The error is at the access that stands later in the code, the note at the other. address: of global memory, which
// the lane of the warp accesses by `found.in`.
void lead_race(Warp *w, int lane, RaceScope scope, const RaceSide *found, const RaceSide *other, uint64_t address);
// An access of that size at an address that is no multiple of `align`.
void lead_misaligned(Warp *w, const Instr *in, int lane, uint64_t address, uint32_t size, uint32_t align,
                     OutsideKind kind);

#endif
