// Linear algebra over GF(2) on 32-bit columns: the arithmetic of layouts. A map is a list of columns; the image of an
// input is the xor of the columns at its set bits.
#ifndef TILE_IR_GF2_H
#define TILE_IR_GF2_H

#include "ir/base.h"

// A subspace in echelon form: vec[b] is 0 or a vector whose highest bit is b; pre[b] is a preimage of it, in the terms
// of the preimages that gf2_add got.
typedef struct { uint32_t vec[32], pre[32]; uint32_t dim; } Gf2Space;

static inline uint32_t gf2_apply(const uint32_t *cols, uint32_t n, uint32_t x) {
  uint32_t y = 0;
  for (uint32_t i = 0; i < n; i++) y ^= -(x >> i & 1) & cols[i];
  return y;
}
// Adds a vector; false when it already lies in the space.
bool gf2_add(Gf2Space *s, uint32_t vec, uint32_t pre);
// Reduces vec modulo the space; *pre gets the preimage of what was taken away. The result is 0 if vec lies in the
// space.
uint32_t gf2_reduce(const Gf2Space *s, uint32_t vec, uint32_t *pre);
// The span of the columns; column i has preimage 1 << i. A column that depends on earlier ones is left out: preimages
// use the earliest columns possible.
Gf2Space gf2_span(const uint32_t *cols, uint32_t n);
uint32_t gf2_rank(const uint32_t *cols, uint32_t n);
// A basis of the intersection of two spans, at most 32 vectors; returns how many.
uint32_t gf2_intersect(const uint32_t *a, uint32_t num_a, const uint32_t *b, uint32_t num_b, uint32_t *out);

#endif
