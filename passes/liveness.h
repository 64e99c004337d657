// Lifetimes of shared memory, as intervals of program order. A buffer lives from its alloc to the last use of it or of
// a view of it. A use inside a loop that does not contain the alloc lasts to the loop's end, an asynchronous use to the
// wait that completes it.
#ifndef TILE_PASSES_LIVENESS_H
#define TILE_PASSES_LIVENESS_H

#include "passes/op_order.h"

typedef struct {
  Op *op;                    // an alloc, or an op with scratch
  uint32_t begin, end;       // first and last op number at which the bytes must be kept
  uint32_t bytes, align;
} Lifetime;

typedef struct {
  Lifetime *items;
  uint32_t count;
  OpOrder order;             // whose numbers the lifetimes have
} Liveness;

// Returns the lifetimes of all allocs and scratch of the function.
Liveness liveness_compute(Context *ctx, const Module *m, Func *f);
#endif
