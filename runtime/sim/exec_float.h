// Floating-point families that exec_arith.c's decode functions hand on.
#ifndef TILE_RUNTIME_SIM_EXEC_FLOAT_H
#define TILE_RUNTIME_SIM_EXEC_FLOAT_H

#include "ir/num.h"
#include "runtime/sim/exec.h"

// add sub mul fma mad div min max abs neg of .f32 .f64 .f16 .f16x2 .bf16 .bf16x2
bool decode_float(PtxParser *p, Instr *in);

static inline NumFormat num_format_of(PtxType t) {
  switch (t) {
  case T_F64: return NUM_F64;
  case T_F16: case T_F16X2: return NUM_F16;
  case T_BF16: case T_BF16X2: return NUM_BF16;
  case T_TF32: return NUM_TF32;
  case T_E4M3: case T_E4M3X2: return NUM_F8E4M3;
  case T_E5M2: case T_E5M2X2: return NUM_F8E5M2;
  default: return NUM_F32;
  }
}
static inline NumRound num_round_of(unsigned rnd) {
  switch (rnd) {
  case RND_RZ: return NUM_RTZ;
  case RND_RM: return NUM_RDN;
  case RND_RP: return NUM_RUP;
  case RND_RNA: return NUM_RNA;
  default: return NUM_RNE;
  }
}
static inline bool is_packed(PtxType t) { return t == T_F16X2 || t == T_BF16X2; }

#endif
