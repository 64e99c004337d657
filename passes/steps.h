// By how much an integer or an address (in bytes) changes from one element to the next along an axis, where that is the
// same number everywhere. Numbers of 64 bits wrap; narrower ones do not, by their ranges or by the assumption that
// index arithmetic does not overflow (axis_info.h, nonneg).
#ifndef TILE_PASSES_STEPS_H
#define TILE_PASSES_STEPS_H

#include "ir/map.h"
#include "passes/axis_info.h"

#define NO_STEP INT64_MIN             // not known, or not the same number everywhere

typedef struct { int64_t by[MAX_RANK]; } Steps;   // of a scalar: zeros
typedef struct { Context *ctx; AxisAnalysis *axes; Map known; } StepAnalysis;

// What steps_of returns belongs to the analysis.
const Steps *steps_of(StepAnalysis *a, Value *v);
// Whether two elements of v differ by exactly what their steps say, and not only up to 2^32.
bool steps_are_exact(StepAnalysis *a, Value *v);

#endif
