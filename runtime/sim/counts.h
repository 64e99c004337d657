// Counts what a launch does, by source line. Grid.counts is NULL unless counting is on; this test is the only cost of a
// launch that is not counted.
#ifndef TILE_RUNTIME_SIM_COUNTS_H
#define TILE_RUNTIME_SIM_COUNTS_H

#include "runtime/rt/line_counts.h"
#include "runtime/sim/exec.h"

void counts_begin(Grid *g);    // if the simulation counts; without memory nothing is counted
void counts_end(Grid *g);      // puts the sums into Sim.launch_counts
void counts_free(Sim *sim);

// Counts an executed instruction. active: the lanes that were at it; mask: those of them in which its guard held.
void counts_instruction(Warp *w, const Instr *in, uint32_t active, uint32_t mask);
void counts_access(Warp *w, const Instr *in, const MemAccess *a);
// Counts a contiguous part of a bulk copy in global memory. *last: the sector in which the previous part of the copy
// ended, or 0.
typedef struct { Alloc *alloc; uint64_t addr; uint32_t bytes; AccessKind kind; } BulkPart;
void counts_bulk(Grid *g, const Instr *in, const BulkPart *part, uint64_t *last);

#endif
