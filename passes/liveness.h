// Lifetimes of shared memory. Ops are numbered in program order, an op with blocks before and after its blocks, so that a
// lifetime is an interval. A buffer lives from its alloc to the last use of it or of a view of it; a use inside a loop that
// does not contain the alloc lasts to the loop's end; an asynchronous use lasts to the wait that completes it.
#ifndef TILE_PASSES_LIVENESS_H
#define TILE_PASSES_LIVENESS_H

#include "ir/build.h"

typedef struct {
  Op *op;                    // an alloc, or an op with scratch
  uint32_t begin, end;       // first and last op number at which the bytes must be kept
  uint32_t bytes, align;
} Lifetime;

typedef struct {
  Lifetime *items;
  uint32_t count;
} Liveness;

// Of all allocs and scratch of the function. Writes op->mark: the op's number.
Liveness liveness_compute(Context *ctx, const Module *m, Func *f);
uint32_t op_end(const Op *op);             // the number after its blocks'

#endif
