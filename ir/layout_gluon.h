// The layouts that users write in Gluon, as maps: a constructor makes a tile, a list of vectors for each group of place
// bits, and layout_finish fits the tile to a tensor.
//
// They differ from layout_make_* in what happens where tile and tensor differ in size: a tile that is larger than the
// tensor keeps its register bits, whose columns become zero. The thread then holds an element several times.
#ifndef TILE_IR_LAYOUT_GLUON_H
#define TILE_IR_LAYOUT_GLUON_H

#include "ir/layout.h"

// One vector moves along several axes: at[d] is the step along axis d.
typedef struct { uint32_t at[LAYOUT_MAX_RANK]; } LayoutVector;
typedef struct {
  uint32_t rank;
  uint32_t num[LAYOUT_DIMS];
  LayoutVector vec[LAYOUT_DIMS][LAYOUT_MAX_BITS];   // a shared tile has its offset in slot 0
  bool too_many;                                    // vectors: layout_finish gives NULL
  uint32_t num_pads;                                // of a shared tile
  struct { uint32_t interval, by; } pad[LAYOUT_MAX_PADS];   // elements
} LayoutTile;

void layout_tile_add(LayoutTile *t, LayoutDim dim, const LayoutVector *v);

// size_per_thread × threads_per_warp × warps along each axis, order[0] the fastest.
void layout_tile_blocked(LayoutTile *t, uint32_t rank, const uint32_t *size_per_thread, const uint32_t *threads,
                         const uint32_t *warps, const uint32_t *order);
// The accumulator of mma.sync (instr_n = 8) or of wgmma (warps_m_first).
void layout_tile_mma(LayoutTile *t, uint32_t rank, const uint32_t *warps, uint32_t instr_n, bool warps_m_first);
// Register operand 0 or 1 of the dot with that accumulator: k_width elements along K in one register of 32 bits.
void layout_tile_mma_operand(LayoutTile *t, uint32_t rank, const uint32_t *warps, bool warps_m_first, uint32_t operand,
                             uint32_t k_width);
// Operand 0 or 1 of a dot by multiply-adds whose accumulator is blocked: a thread holds all of K, which has k elements.
void layout_tile_fma_operand(LayoutTile *t, uint32_t rank, const uint32_t *size_per_thread, const uint32_t *threads,
                             const uint32_t *warps, const uint32_t *order, uint32_t operand, uint32_t k);
// In shared memory; cta: the extents of a block's part.
void layout_tile_swizzled(LayoutTile *t, uint32_t rank, const uint32_t *cta, const uint32_t *order, uint32_t vec,
                          uint32_t per_phase, uint32_t max_phase);
// As TMA writes and wgmma reads; axis is the contiguous one. swizzle_bytes 0: row after row, the last axis fastest.
void layout_tile_nvmma(LayoutTile *t, uint32_t rank, const uint32_t *cta, uint32_t axis, uint32_t swizzle_bytes,
                       uint32_t elem_bits);

// The extents of a block's part of the tensor. cga: a vector for each bit of the block's number in its cluster, in
// units of parts.
void layout_cta_shape(uint32_t rank, const int64_t *shape, const LayoutVector *cga, uint32_t num_cga, uint32_t *cta);
// Fits the tile to the tensor: repeats it in registers (offsets) along the axes, order[0] first, and cuts what lies
// outside. NULL if there are more than LAYOUT_MAX_BITS place bits.
const Layout *layout_finish(Context *ctx, LayoutKind kind, LayoutTile *t, const int64_t *shape, const uint32_t *order,
                            const LayoutVector *cga, uint32_t num_cga);

#endif
