// Plain loads that read a dense tile of two axes, as a tensor map describes it.
//
// For element (i, j) the address is param + Σ uniform + i · s0 + j · s1. One stride is 1; the other, S, is a
// constant or a product of scalars. The uniform part is split by S: what S divides moves the tile along the slow axis,
// the rest along the fast one. Bases, strides and movement along the fast axis must be known multiples of 16 bytes (a
// rule of tensor maps). A mask must bound axes: from above by what becomes the map's extent, from below, if at all, by
// 0. What it leaves out reads as zero or NaN in both forms. Block pointers arrive here as the same addresses and masks.
// Where the address moves along an axis by more than the mask counts, as by `batch * stride`, the map gets an axis for
// that: an outer one.
#ifndef TILE_PASSES_DENSE_TILE_H
#define TILE_PASSES_DENSE_TILE_H

#include "passes/affine.h"
#include "passes/axis_info.h"

enum { DENSE_MAX_OUTER = MAX_DESC_RANK - 2 };
typedef struct { AffineTerm stride; Affine coord; bool test_size; } DenseOuter;

// test_sign and test_size: no proof that a coordinate is not negative, or fits 32 bits, was found.
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
  DenseOuter outer[DENSE_MAX_OUTER];
} DenseTile;

typedef struct {
  Context *ctx;
  AxisAnalysis *axes;
  Func *func;
  Op *loop;                     // the loads are in its body
  const char *why;              // the last load was not recognised, for a remark
} DenseSearch;

// False, with s->why, if the load does not read a dense tile, or no test before the loop can tell whether it does.
bool dense_recognise(DenseSearch *s, Op *load, DenseTile *d);
// The parameter that v is, or −1.
int dense_param(const DenseSearch *s, const Value *v);
// The least or the greatest value of a coordinate in the loop. False if it is not known.
bool dense_extreme(const DenseSearch *s, const Affine *coord, bool greatest, Affine *out);

// The extent if nothing bounds the axis: the greatest that keeps every i32 coordinate inside.
static const int64_t DENSE_UNBOUNDED = 0x7fffffff;

#endif
