// By how much an integer or an address (in bytes) changes from one element to the next along an axis, where that is the
// same number everywhere: a constant, or a constant times a scalar such as an array's stride. It holds up to the
// wrapping of the number, and that of an address up to the wrapping of its offset: steps_are_exact and
// steps_are_in_tile say where nothing wraps, by ranges or by the assumption that index arithmetic does not overflow
// (axis_info.h, nonneg).
#ifndef TILE_PASSES_STEPS_H
#define TILE_PASSES_STEPS_H

#include "ir/map.h"
#include "passes/axis_info.h"

#define NO_STEP INT64_MIN             // not known, or not the same number everywhere

// Of a scalar: zeros. `of`: the scalar of 32 bits that `by` multiplies; NULL: 1.
typedef struct { int64_t by[MAX_RANK]; Value *of[MAX_RANK]; } Steps;
typedef struct { Context *ctx; AxisAnalysis *axes; Map known; } StepAnalysis;

// What steps_of returns belongs to the analysis.
const Steps *steps_of(StepAnalysis *a, Value *v);
// Whether two elements of v differ by exactly what their steps say, and not only up to 2^32.
bool steps_are_exact(StepAnalysis *a, Value *v);
// Whether v is an offset within one tile: a small number, or a small number times a scalar. A tile spans less than 2^31
// elements, so such offsets do not wrap.
bool steps_are_in_tile(AxisAnalysis *axes, Value *v);

#endif
