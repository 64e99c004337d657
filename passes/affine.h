// An affine view of integer values: a sum of terms, each a coefficient times scalars times 1 or the index along an
// axis. For a tensor it describes every element. An axis factor is the element's index on that axis (a `range` seen
// through expand_dims and broadcast), possibly wrapped: (start + index) mod modulus, the idiom that keeps a ragged tile
// in bounds. The analysis assumes that 32-bit arithmetic does not overflow.
#ifndef TILE_PASSES_AFFINE_H
#define TILE_PASSES_AFFINE_H

#include "passes/pass.h"

enum { AFFINE_MAX_SCALARS = 4, AFFINE_MAX_TERMS = 24, AFFINE_NO_AXIS = -1 };

typedef struct {
  int64_t coef;
  uint32_t num_scalars;
  Value *scalars[AFFINE_MAX_SCALARS];   // opaque i32 or i64 scalars, in any order
  bool wide;                            // the program computed it in 64 bits and it may need them
  int axis;                             // AFFINE_NO_AXIS, or the axis whose index is a factor
  Value *wrap_start, *wrap_modulus;     // the factor is (start + index) mod modulus; NULL: the index itself
} AffineTerm;

typedef struct {
  uint32_t num_terms;
  AffineTerm terms[AFFINE_MAX_TERMS];
} Affine;

// False if v is not affine in this sense, or too large. A scalar always is: it is a term by itself.
bool affine_of(Value *v, Affine *out);
bool affine_add(Affine *a, const Affine *b, int64_t factor);             // a += factor · b
bool affine_multiply(Affine *a, const Affine *b);
void affine_constant(Affine *a, int64_t c);
void affine_scalar(Affine *a, Value *v);
// term = quotient · divisor, where divisor has no axis. False if it does not divide.
bool affine_divide_term(const AffineTerm *term, const AffineTerm *divisor, AffineTerm *quotient);
// The term after the tensor's transposition: axis i of the result is axis order[i] of the operand.
void affine_transpose(AffineTerm *t, const Attr *order);
// The sum as a scalar of type t, i32 or i64; it must have no axis factors.
Value *affine_build(Builder *b, const Affine *a, const Type *t);
bool affine_is_zero(const Affine *a);

#endif
