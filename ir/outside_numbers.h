// The possible values of an offset's terms, and the values found for them.
#ifndef TILE_IR_OUTSIDE_NUMBERS_H
#define TILE_IR_OUTSIDE_NUMBERS_H

#include "ir/outside_terms.h"

// The numbers base + k * step between low and high, inclusive. A single number has step 0.
typedef struct { int64_t low, high, step, base; } NumberSet;

typedef struct {
  NumberSet all, left, right;  // of the term, and of the operands of its last operation
  bool is_known, is_subtracted;
  int64_t value;               // if it is known
} TermNumbers;

TermNumbers outside_numbers(const OutsideTerms *all, const OutsideTerm *t, const Outside *o, const OutsideInputs *in);
// Determines each term that the sum leaves only one value. False if no combination of values gives the sum.
bool outside_solve(TermNumbers *all, uint32_t count, int64_t sum);

#endif
