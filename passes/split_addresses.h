// What the files of split_addresses share: the pass, and split_offsets.c, which splits integers into two parts.
#ifndef TILE_PASSES_SPLIT_ADDRESSES_H
#define TILE_PASSES_SPLIT_ADDRESSES_H

#include "passes/axis_info.h"

typedef struct { Value *uniform, *varying; bool balanced; } Parts;   // either may be NULL: zero

typedef struct {
  Context *ctx;
  AxisAnalysis *axes;
  VEC(Value *) failed;       // block arguments whose loop variable stays a tensor of pointers
} Split;

static inline bool split_fits32(__int128 lo, __int128 hi) { return lo >= INT32_MIN && hi <= INT32_MAX; }

// ---- split_offsets.c ----
// o = uniform + varying as mathematical integers, under the assumption at the head of split_addresses.c.
Parts split_offset(Split *s, Value *o);
Value *split_widen(Split *s, Builder *b, Value *v);       // to 64 bits
// x + y (x − y) of signed numbers, of which either may be NULL: in 32 bits if the ranges prove that enough, or if
// `assume32`; otherwise in 64.
Value *split_add(Split *s, Builder *b, Opcode oc, Value *x, Value *y, bool assume32);
// The op that moves elements, on x, whose elements may have another type.
Value *split_move(Builder *b, const Op *op, Value *x);

#endif
