// What the files of auto_tma share: a load that provably reads a dense tile.
#ifndef TILE_PASSES_AUTO_TMA_H
#define TILE_PASSES_AUTO_TMA_H

#include "passes/affine.h"
#include "passes/axis_info.h"
#include "passes/tma.h"

enum { MAX_OUTER = MAX_DESC_RANK - 2 };
// The extent if nothing bounds the axis: the greatest that keeps every i32 coordinate inside.
enum { UNBOUNDED = INT32_MAX };

typedef struct { AffineTerm stride; Affine coord; bool test_size; } Outer;

typedef struct {
  Op *load;
  int base_param;
  int fast;                     // tile axis with unit stride
  AffineTerm stride;            // of the other axis, in elements
  Affine coord[2];              // by tile axis
  Affine extent[2];             // by tile axis; zero: unbounded
  bool masked_below[2];         // the mask keeps out negative coordinates
  Affine least[2];              // the coordinate where it is least in the loop
  bool test_sign[2], test_size[2];
  Padding padding;
  Value *wrap_start[2], *wrap_modulus[2];
  uint32_t num_outer;
  Outer outer[MAX_OUTER];
} Dense;

typedef struct {
  Context *ctx;
  const Module *module;
  Func *func;
  Op *loop;
  AxisAnalysis *axes;
  const char *why;              // the last load was not recognised, for a remark
} AutoTma;

// Which parameter of the function v is, or -1.
static inline int tma_param_index(const AutoTma *s, const Value *v) {
  return v->block == s->func->body ? (int)v->index : -1;
}
// auto_tma_dense.c: whether the load reads a dense tile as a tensor map describes it. False: s->why says why not.
bool tma_recognise(AutoTma *s, Op *load, Dense *d);
// The least or greatest value of a coordinate in the loop. False if it is not known.
bool tma_extreme(AutoTma *s, const Affine *coord, bool greatest, Affine *out);

#endif
