// What TMA needs to know of a descriptor's tile; shared by pipeline_loops and lower_tma.
#ifndef TILE_PASSES_TMA_H
#define TILE_PASSES_TMA_H

#include "passes/pass.h"

// The shared layout in which TMA moves a tile of this descriptor type: rows of the widest swizzle the last axis fills, in
// chunks. As a wgmma operand it is K-major when the last axis is K, else MN-major. The same for every access, because the
// tensor map carries one swizzle.
const Layout *tma_tile_layout(Context *ctx, const Type *desc);
// Whether this descriptor reaches TMA on the target.
bool tma_usable(const Module *m, const Value *desc);
uint32_t tma_tile_bytes(const Type *desc);
// Emits the load of one tile into buf, announced on bar (whose expect op the caller has emitted).
void tma_build_load(Builder *b, Value *desc, Value *buf, Value *bar, Value *pred, Value *const *coords);
void tma_build_expect(Builder *b, Value *bar, Value *pred, int64_t bytes);
// A fresh array of `count` barriers (a single one for 0), initialised for one arrival each.
Value *tma_build_barriers(Builder *b, uint32_t count);
void tma_build_invalidate(Builder *b, Value *bars);
Value *tma_build_index(Builder *b, Value *buffers, Value *i);

#endif
