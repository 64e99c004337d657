// What TMA needs to know of a descriptor's tile; shared by pipeline_loops and lower_tma.
#ifndef TILE_PASSES_TMA_H
#define TILE_PASSES_TMA_H

#include "passes/pass.h"

// The shared layout in which TMA moves a tile of this descriptor type: rows of the widest swizzle the last axis fills, in
// chunks. As a wgmma operand it is K-major when the last axis is K, else MN-major. The same for every access, because the
// tensor map carries one swizzle.
const Layout *tma_tile_layout(Context *ctx, const Type *desc);
const Type *tma_tile_buffer(Context *ctx, const Type *desc);   // of one tile in it
// Whether this descriptor reaches TMA on the target: a parameter does, one that the kernel makes where the target can write tensor
// maps and what is known of its block and strides is as TMA has it. What is not known must be so: as with Triton, a base and
// strides that are no multiples of 16 bytes are the program's error.
bool tma_usable(const Module *m, const Value *desc);
// Whether a tensor map has what is read outside: to it, a tile of fp8 is one of bytes, which have no NaN.
bool tma_can_pad(const Type *tile, Padding padding);
// Whether TMA has the reduction for the element type.
bool tma_can_reduce(AtomicKind kind, const Type *elem);
// There is no tensor map of an empty tensor: its extents are 1 then. The access through what `make` makes goes outside of it, which reads
// padding and writes nothing, when an extent is not positive.
void tma_guard_empty(Op *access, Op *make);
// The axis along which TMA cannot move the block in boxes of at most TMA_MAX_BOX elements, or −1.
enum { TMA_MAX_BOX = 256, TMA_ALIGNMENT = 16 };
int tma_axis_too_long(const Type *desc);
uint32_t tma_tile_bytes(const Type *desc);
// Emits the load of one tile into buf, announced on bar (whose expect op the caller has emitted), by the warp `issuer`.
void tma_build_load(Builder *b, Value *desc, Value *buf, Value *bar, Value *pred, Value *const *coords, int64_t issuer);
void tma_build_expect(Builder *b, Value *bar, Value *pred, int64_t bytes, int64_t issuer);
void tma_build_wait(Builder *b, Value *bar, Value *phase);
// The tile as the tensor that was asked for: the buffer's rank may exceed the tensor's when leading block sizes are 1.
Value *tma_build_read(Builder *b, Value *buf, const Type *tensor);
// A fresh array of `count` barriers (a single one for 0), initialised for one arrival each.
Value *tma_build_barriers(Builder *b, uint32_t count);
void tma_build_invalidate(Builder *b, Value *bars);
Value *tma_build_index(Builder *b, Value *buffers, Value *i);

#endif
