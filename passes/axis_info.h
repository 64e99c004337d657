// What is known of the numbers in a value, per axis. For a tensor of integers or pointers (addresses in bytes):
//   contiguity[a] = c   along axis a, aligned groups of c elements count up by one `unit`
//   divisibility[a] = d d divides the first number of each such group
//   constancy[a] = k    along axis a, aligned groups of k elements are equal
//   prefix[a] = p       of an i1: along axis a, the true elements of aligned groups of p come first; at least constancy
// All are powers of two; d is at most AXIS_MAX_DIVISOR. A scalar counts as a tensor of rank 1 and size 1. `lo … hi`
// bounds every element as a signed number of its own width (i1 as 0…1); the bounds hold even if arithmetic wraps.
// `nonneg` is weaker: not negative unless signed arithmetic overflowed on the way, which the analysis assumes index
// arithmetic does not do.
//
// The analysis runs forward over the structured IR, to a fixpoint at loops, when it is first asked. It analyses values
// made after that on demand, from their operands.
#ifndef TILE_PASSES_AXIS_INFO_H
#define TILE_PASSES_AXIS_INFO_H

#include "ir/build.h"

#define AXIS_MAX_DIVISOR ((int64_t)1 << 40)

typedef struct {
  uint8_t rank;
  uint8_t unit;      // what one step of contiguity adds to the number: 1, for addresses the pointee's bytes
  bool nonneg;
  int64_t contiguity[MAX_RANK], divisibility[MAX_RANK], constancy[MAX_RANK], prefix[MAX_RANK];
  int64_t lo, hi;
} AxisInfo;

typedef struct AxisAnalysis AxisAnalysis;
AxisAnalysis *axis_analyse(Context *ctx, Module *m);
const AxisInfo *axis_info(AxisAnalysis *a, Value *v);

// ---- axis_lattice.c ----
// Returns what divides the first numbers of groups of `size` (≤ contiguity) elements along the axis.
int64_t axis_divisor_at(const AxisInfo *x, uint32_t axis, int64_t size);
// Whether x is one known number.
bool axis_known(const AxisInfo *x, int64_t *number);

#endif
