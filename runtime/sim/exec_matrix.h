// What the matrix instructions of a warp and of a warpgroup share.
#ifndef TILE_RUNTIME_SIM_EXEC_MATRIX_H
#define TILE_RUNTIME_SIM_EXEC_MATRIX_H

#include "runtime/sim/async.h"

bool decode_mma_type(PtxType t, MmaType *out);
bool decode_registers(PtxParser *p, Instr *in, uint32_t i, uint32_t count);   // operand i: a vector of that many

static inline uint64_t mma_element(uint64_t reg, unsigned e, unsigned bits) { return bits == 64 ? reg : reg >> (e * bits) & ((1ull << bits) - 1); }
static inline uint64_t mma_with_element(uint64_t reg, unsigned e, unsigned bits, uint64_t v) {
  if (bits == 64) return v;
  uint64_t mask = ((1ull << bits) - 1) << (e * bits);
  return (reg & ~mask) | (v << (e * bits) & mask);
}

// A whole warp must be there: the .aligned instructions.
static inline bool whole_warp(const Warp *w, uint32_t mask) { return mask == live_lanes(w); }

#endif
