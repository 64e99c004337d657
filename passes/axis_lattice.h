// The lattice of the axis analysis: what is known of a type's values before anything else is, what two infos have in
// common, and the arithmetic of powers of two.
#ifndef TILE_PASSES_AXIS_LATTICE_H
#define TILE_PASSES_AXIS_LATTICE_H

#include "passes/axis_info.h"

// All sizes and divisors are powers of two.
int64_t axis_gcd(int64_t x, int64_t y);
int64_t axis_mul(int64_t x, int64_t y);            // AXIS_MAX_DIVISOR at most
int64_t axis_floor_pow2(int64_t x);                // the largest power of two up to x, at least 1
int64_t axis_pow2_divisor(int64_t x);              // the largest power of two that divides x; of 0: AXIS_MAX_DIVISOR

// The operand's axis that becomes this axis of a broadcast, expand_dims or trans; -1: none, all elements along it are
// equal.
int axis_of_operand(const Op *op, uint32_t axis);
int64_t axis_size(const Type *t, uint32_t axis);   // 1 of a scalar
AxisInfo axis_unknown(const Type *t);
AxisInfo axis_constant(const Type *t, int64_t v);
AxisInfo axis_join(const AxisInfo *x, const AxisInfo *y);
// Sets lo … hi. If the type cannot hold the bounds, the number may have wrapped and may be any. Rounds both inward to
// multiples of what divides all elements.
void axis_set_range(AxisInfo *x, const Type *t, __int128 lo, __int128 hi);

#endif
