// Places lifetimes of shared memory: those that overlap in time do not overlap in memory.
#ifndef TILE_PASSES_PACKING_H
#define TILE_PASSES_PACKING_H

#include "passes/liveness.h"

typedef struct { const Lifetime *life; uint32_t offset; } Placed;

// Fills `placed`, an entry for each lifetime, biggest first. Returns the bytes needed in all.
uint32_t packing_place(Context *ctx, const Liveness *l, Placed *placed);
uint32_t packing_bytes(Context *ctx, const Liveness *l);     // needed in all

#endif
