// What a reduction or scan combines, as many values as it has results. They go together, as one tuple per register,
// through one combine region.
#ifndef TILE_CODEGEN_TUPLE_H
#define TILE_CODEGEN_TUPLE_H

#include "codegen/cg.h"

typedef struct { LLVMValueRef x[MAX_COMBINED]; } Tuple;

typedef struct {
  Cg *c;
  Op *op;
  uint32_t n;              // results
  uint32_t rising;         // bits of operands of which the first tuple of a combination has the lesser
} Combine;

// The operands, as bits, that count along the reduced or scanned axis, and of which the region chooses one: whatever is
// combined, an earlier part of the axis has the lesser.
uint32_t tuple_positions(const Op *op);

Tuple tuple_get(const Combine *k, CgValue *const *v, uint32_t r);
void tuple_put(const Combine *k, CgValue *const *v, uint32_t r, const Tuple *t);
// The combine region, emitted inline, on the two.
Tuple tuple_combine(const Combine *k, const Tuple *acc, const Tuple *x);
Tuple tuple_select(const Combine *k, LLVMValueRef p, const Tuple *a, const Tuple *b);
// Stores the registers `from` to the op's scratch, where operand i begins at offsets[i], meets all threads at a
// barrier, and loads.
void tuple_exchange(const Combine *k, const uint32_t *offsets, const PlaceMap *store, CgValue *const *from,
                    const PlaceMap *load,
                    CgValue **to);

#endif
