// What the matrix instructions of a warp and of a warpgroup share.
#ifndef TILE_RUNTIME_SIM_EXEC_MATRIX_H
#define TILE_RUNTIME_SIM_EXEC_MATRIX_H

#include "runtime/sim/async.h"

bool decode_mma_type(PtxType t, MmaType *out);
bool decode_registers(PtxParser *p, Instr *in, uint32_t i, uint32_t count);   // operand i: a vector of that many

// Moves a fragment between the registers of a frame (32 lanes each) and a matrix, whose element (row, col) is at
// row * row_stride + col * col_stride.
typedef MmaCoord (*CoordFn)(const MmaSpec *s, unsigned lane, unsigned reg, unsigned e);
typedef struct { const MmaSpec *spec; MmaType type; CoordFn coord; unsigned row_stride, col_stride; } Fragment;
void fragment_gather(const Fragment *f, const uint64_t *frame, const PtxOperand *registers, uint64_t *matrix);
void fragment_scatter(const Fragment *f, uint64_t *frame, const PtxOperand *registers, const uint64_t *matrix);

// A whole warp must be there: the .aligned instructions.
static inline bool whole_warp(const Warp *w, uint32_t mask) { return mask == live_lanes(w); }

#endif
