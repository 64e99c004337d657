// What the two files of the axis analysis share: axis_info.c (the solver) and axis_transfer.c (what each op makes of its operands).
#ifndef TILE_PASSES_AXIS_TRANSFER_H
#define TILE_PASSES_AXIS_TRANSFER_H

#include "passes/axis_info.h"

// Divisors are powers of two.
int64_t axis_gcd(int64_t x, int64_t y);
int64_t axis_mul(int64_t x, int64_t y);            // AXIS_MAX_DIVISOR at most
int64_t axis_pow2_divisor(int64_t x);              // the largest power of two that divides x; of 0: AXIS_MAX_DIVISOR

AxisInfo axis_unknown(const Type *t);
AxisInfo axis_join(const AxisInfo *x, const AxisInfo *y);
// Sets lo … hi. Bounds that the type cannot hold mean that the number may have wrapped: then it may be any. Both are moved to multiples
// of what divides all elements.
void axis_set_range(AxisInfo *x, const Type *t, __int128 lo, __int128 hi);
// Result `index` of an op without blocks, from what is known of its operands (NULL: absent).
AxisInfo axis_transfer(const Op *op, uint32_t index, const AxisInfo *const *x);

#endif
