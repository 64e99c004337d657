// What TMA can move, and how its operations are built. pipeline_loops and lower_tma share it.
#ifndef TILE_PASSES_TMA_H
#define TILE_PASSES_TMA_H

#include "passes/pass.h"

// What a make_desc says of an axis.
static inline Value *tma_extent(const Op *make, uint32_t axis) { return op_operand(make, 1 + axis); }
static inline Value *tma_stride(const Op *make, uint32_t axis) {
  return op_operand(make, 1 + make->results[0].type->rank + axis);
}
// A buffer of one tile of this descriptor type, in the shared layout in which TMA moves it.
const Type *tma_tile_buffer(Context *ctx, const Type *desc);
const Type *tma_load_buffer(Context *ctx, const Op *load);     // the same memory, with the shape of the load's result
// Whether accesses through this descriptor become TMA on the target. A parameter's do. Those of a descriptor that the
// kernel makes do if the target can write tensor maps and what is known of its block and strides is allowed. What is
// not known is assumed allowed: as in Triton, a base or stride that is no multiple of 16 bytes is the program's error.
bool tma_usable(const Module *m, const Value *desc);
// Whether a tensor map has the padding. It treats a tile of fp8 as bytes, which have no NaN.
bool tma_can_pad(const Type *tile, Padding padding);
// Whether TMA has the reduction for the element type.
bool tma_can_reduce(AtomicKind kind, const Type *elem);
// There is no tensor map of an empty tensor: an extent that is not positive becomes 1. If so, the access through the
// descriptor that `make` makes moves outside, where it reads padding and writes nothing.
void tma_guard_empty(Op *access, Op *make);
enum { TMA_MAX_BOX = 256, TMA_ALIGNMENT = 16 };   // elements of a box along an axis; bytes
// Builds the load of one tile into buf by the warp `issuer`. It completes on bar, whose expect op the caller has built.
void tma_build_load(Builder *b, Value *desc, Value *buf, Value *bar, Value *pred, Value *const *coords, int64_t issuer);
void tma_build_expect(Builder *b, Value *bar, Value *pred, int64_t bytes, int64_t issuer);
void tma_build_wait(Builder *b, Value *bar, Value *phase);
// Reads the tile as the tensor. The buffer's rank exceeds the tensor's if leading block sizes are 1.
Value *tma_build_read(Builder *b, Value *buf, const Type *tensor);
// A new array of `count` mbarriers (a single one for 0), initialised for one arrival each.
Value *tma_build_barriers(Builder *b, uint32_t count);
void tma_build_invalidate(Builder *b, Value *bars);
Value *tma_build_index(Builder *b, Value *buffers, Value *i);

#endif
