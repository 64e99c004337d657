// What ops do to the bytes of shared memory, once buffers have offsets. Scratch is not among it (ir/scratch.h).
#ifndef TILE_PASSES_SHARED_MEMORY_H
#define TILE_PASSES_SHARED_MEMORY_H

#include "passes/buffer.h"

typedef enum { SHARED_BY_THREADS, SHARED_BY_COPY, SHARED_BY_WGMMA, SHARED_BY_TMA } SharedBy;   // COPY: cp.async
typedef struct { SharedBy by; bool is_write; uint32_t lo, hi; } SharedAccess;                  // bytes
typedef VEC(SharedAccess) SharedAccesses;
void shared_accesses(Context *ctx, const Op *op, SharedAccesses *out);

#endif
