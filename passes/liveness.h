// Lifetimes of shared memory, as intervals of program order. A buffer lives from its alloc to the last use of it or of
// a view of it. A use inside a loop that does not contain the alloc lasts to the loop's end, an asynchronous use to the
// wait that completes it, and a use in a block of a `roles` that does not contain the alloc, to the end of the roles.
#ifndef TILE_PASSES_LIVENESS_H
#define TILE_PASSES_LIVENESS_H

#include "passes/op_order.h"

typedef struct {
  Op *op;                    // an alloc, or an op with scratch
  uint32_t begin, end;       // first and last op number at which the bytes must be kept
  uint32_t bytes, align;
  const Block *role;         // the block of a `roles` that op is in, or NULL
} Lifetime;

typedef struct {
  Lifetime *items;
  uint32_t count;
  OpOrder order;             // whose numbers the lifetimes have
} Liveness;

// Whether both must be kept at some time. Blocks of one `roles` run at once.
bool liveness_overlap(const Lifetime *a, const Lifetime *b);
// Returns the lifetimes of all allocs and scratch of the function.
Liveness liveness_compute(Context *ctx, const Module *m, Func *f);
#endif
