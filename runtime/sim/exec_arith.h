// What the arithmetic families share: handlers that compute one expression per lane, and number formats.
#ifndef TILE_RUNTIME_SIM_EXEC_ARITH_H
#define TILE_RUNTIME_SIM_EXEC_ARITH_H

#include "ir/num.h"
#include "runtime/sim/exec.h"

// Handlers of one expression: the sources are a, b and c of type T, in lane l; the result is of the unsigned type U.
#define HANDLER(name, sources, body)                                 \
  static ExecResult name(Warp *w, const Instr *in, uint32_t mask) {  \
    uint64_t *d = dst_at(w, in);                                     \
    sources                                                          \
    LANES(l, mask, body);                                            \
    return EXEC_NEXT;                                                \
  }
#define SOURCE(X, i) const uint64_t *X = src_at(w, in, i);
#define UNARY(name, U, T, expr) HANDLER(name, SOURCE(A, 1), T a = (T)A[l]; d[l] = (U)(expr);)
#define BINARY(name, U, T, expr) \
  HANDLER(name, SOURCE(A, 1) SOURCE(B, 2), T a = (T)A[l]; T b = (T)B[l]; d[l] = (U)(expr);)
#define TERNARY(name, U, T, expr) \
  HANDLER(name, SOURCE(A, 1) SOURCE(B, 2) SOURCE(C, 3), T a = (T)A[l]; T b = (T)B[l]; T c = (T)C[l]; d[l] = (U)(expr);)
// Six handlers {u16, u32, u64, s16, s32, s64} and their table, which exec_pick_int reads.
#define THREE_UNSIGNED(KIND, name, expr) \
  KIND(name##_u16, uint16_t, uint16_t, expr) \
  KIND(name##_u32, uint32_t, uint32_t, expr) KIND(name##_u64, uint64_t, uint64_t, expr)
#define SIX_OF(KIND, name, expr, signed_expr)                                       \
  THREE_UNSIGNED(KIND, name, expr)                                                  \
  KIND(name##_s16, uint16_t, int16_t, signed_expr)                                  \
  KIND(name##_s32, uint32_t, int32_t, signed_expr)                                  \
  KIND(name##_s64, uint64_t, int64_t, signed_expr)                                  \
  static const ExecFn name[] = {name##_u16, name##_u32, name##_u64, name##_s16, name##_s32, name##_s64};
#define SIX(KIND, name, expr) SIX_OF(KIND, name, expr, expr)
// The same, where the sign does not matter.
#define THREE(KIND, name, expr)      \
  THREE_UNSIGNED(KIND, name, expr)   \
  static const ExecFn name[] = {name##_u16, name##_u32, name##_u64, name##_u16, name##_u32, name##_u64};

int exec_int_index(PtxType t);   // in these tables; -1 for what is no integer of 16 to 64 bits
bool exec_pick_int(Instr *in, const ExecFn *table);        // by the first type; false when there is none

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
