// How wgmma reads an operand from shared memory: by a descriptor of where it begins, of the swizzle and of two strides.
#ifndef TILE_IR_WGMMA_TILE_H
#define TILE_IR_WGMMA_TILE_H

#include "ir/layout.h"

typedef struct {
  uint32_t fast;                       // the contiguous axis
  uint32_t span;                       // bytes of the swizzle: 128, 64, 32; 0: none
  uint32_t leading, stride;            // bytes: the descriptor's "leading dimension" and "stride dimension" offsets
  uint32_t places[2][LAYOUT_MAX_BITS]; // bytes that bit i of a coordinate adds, by axis; they are xored
} WgmmaTile;

// Of a tile of that shape, or of a slice of that shape of a tile with that layout. k_axis is the axis of K; an
// instruction reads `outer` elements of the other axis. False if no descriptor describes what it reads.
bool wgmma_tile_read(const Layout *l, const int64_t shape[2], uint32_t elem_bytes, uint32_t k_axis, uint32_t outer,
                     WgmmaTile *out);
// Bytes from the tile's start to an element: what a descriptor that begins there adds.
uint32_t wgmma_tile_offset(const WgmmaTile *t, uint32_t k_axis, uint32_t outer, uint32_t k);
// Columns of one instruction: as far as the accumulator's registers step along N without a gap, 256 at most.
uint32_t wgmma_columns(const Layout *acc);

#endif
