// The slice of values in a loop: the ops of the body, and the values that the loop carries, from which they are
// computed. Whoever computes them for another iteration clones the slice.
#ifndef TILE_PASSES_LOOP_SLICE_H
#define TILE_PASSES_LOOP_SLICE_H

#include "ir/build.h"

enum { IN_SLICE = 1 };       // Op.mark of an op of the body

typedef struct {
  Op *loop;                  // a `for`
  bool *carried;             // by number of the carried value: the slice needs it
  bool (*takes)(const Op *load, void *user);   // whether this load of the body may be cloned
  void *user;
} LoopSlice;

// An empty slice: clears IN_SLICE of the body's ops.
LoopSlice slice_begin(Context *ctx, Op *loop, bool (*takes)(const Op *load, void *user), void *user);
// Adds what the operands of an op are computed from. False if that contains what is not worth running twice, or must
// not: dots, loops, memory accesses that `takes` refuses. The slice is then of no use.
bool slice_add_operands(LoopSlice *s, const Op *op);
// Whether only the next iteration uses the load's value: its latency costs the slice nothing.
bool slice_is_of_next(const Op *load);

// Lets the loop carry one more value, which begins as `first`: returns the loop that replaces it. The caller appends to
// the body's yield what the next iteration gets.
Op *loop_carry(Context *ctx, Op *loop, Value *first);
// Lets the loop carry the only result of an op of its body: `first` before the loop, `next` from each iteration's end.
// Erases the op and replaces the loop by the one that is returned.
Op *loop_carry_early(Context *ctx, Op *loop, Op *op, Value *first, Value *next);

#endif
