// The numbers that the terms of an offset may be, and those that they are.
#ifndef TILE_IR_OUTSIDE_NUMBERS_H
#define TILE_IR_OUTSIDE_NUMBERS_H

#include "ir/outside_terms.h"

// base + k * step from low to high; a single number has the step 0.
typedef struct { int64_t low, high, step, base; } NumberSet;

typedef struct {
  NumberSet all, left, right;  // of the term, and of the operands of its last operation
  bool is_known, is_subtracted;
  int64_t value;               // if it is known
} TermNumbers;

TermNumbers outside_numbers(const OutsideTerms *all, const OutsideTerm *t, const Outside *o, const OutsideInputs *in);
// Finds values of which the sum leaves no choice. False if no choice of values gives the sum.
bool outside_solve(TermNumbers *all, uint32_t count, int64_t sum);

#endif
