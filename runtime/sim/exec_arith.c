// Integer arithmetic and bit manipulation.
#include "ir/num.h"
#include "runtime/sim/exec_float.h"
#include "runtime/sim/sim.h"

// Handlers come per width, unsigned and signed: U the unsigned type, T the type the operation is done in.
#define UNARY(name, U, T, expr)                                                                         \
  static ExecResult name(Warp *w, const Instr *in, uint32_t mask) {                                     \
    uint64_t *d = dst_at(w, in);                                                              \
    const uint64_t *A = src_at(w, in, 1);                                                        \
    LANES(l, mask, T a = (T)A[l]; d[l] = (U)(expr););                                                   \
    return EXEC_NEXT;                                                                                   \
  }
#define BINARY(name, U, T, expr)                                                                        \
  static ExecResult name(Warp *w, const Instr *in, uint32_t mask) {                                     \
    uint64_t *d = dst_at(w, in);                                                              \
    const uint64_t *A = src_at(w, in, 1), *B = src_at(w, in, 2);                          \
    LANES(l, mask, T a = (T)A[l]; T b = (T)B[l]; d[l] = (U)(expr););                                    \
    return EXEC_NEXT;                                                                                   \
  }
#define TERNARY(name, U, T, expr)                                                                       \
  static ExecResult name(Warp *w, const Instr *in, uint32_t mask) {                                     \
    uint64_t *d = dst_at(w, in);                                                              \
    const uint64_t *A = src_at(w, in, 1), *B = src_at(w, in, 2), *C = src_at(w, in, 3); \
    LANES(l, mask, T a = (T)A[l]; T b = (T)B[l]; T c = (T)C[l]; d[l] = (U)(expr););                     \
    return EXEC_NEXT;                                                                                   \
  }
// Six handlers {u16, u32, u64, s16, s32, s64} and their table, indexed by int_index.
#define SIX(KIND, name, expr)                                                                           \
  KIND(name##_u16, uint16_t, uint16_t, expr) KIND(name##_u32, uint32_t, uint32_t, expr) KIND(name##_u64, uint64_t, uint64_t, expr) \
  KIND(name##_s16, uint16_t, int16_t, expr) KIND(name##_s32, uint32_t, int32_t, expr) KIND(name##_s64, uint64_t, int64_t, expr)    \
  static const ExecFn name[] = {name##_u16, name##_u32, name##_u64, name##_s16, name##_s32, name##_s64};
#define THREE(KIND, name, expr)                                                                         \
  KIND(name##_u16, uint16_t, uint16_t, expr) KIND(name##_u32, uint32_t, uint32_t, expr) KIND(name##_u64, uint64_t, uint64_t, expr) \
  static const ExecFn name[] = {name##_u16, name##_u32, name##_u64, name##_u16, name##_u32, name##_u64};

static int int_index(PtxType t) {
  int i = ptx_types[t].bits == 16 ? 0 : ptx_types[t].bits == 32 ? 1 : ptx_types[t].bits == 64 ? 2 : -1;
  if (i < 0 || ptx_types[t].cls == CLASS_FLOAT || ptx_types[t].cls == CLASS_PRED || t == T_S16X2 || t == T_U16X2 || t == T_S8X4 || t == T_U8X4) return -1;
  return ptx_types[t].cls == CLASS_SINT ? i + 3 : i;
}
static bool pick(Instr *in, const ExecFn *table) {
  int i = int_index(in->type[0]);
  if (i < 0) return false;
  in->exec = table[i];
  return true;
}
static bool is_float(const Instr *in) { return in->num_types && ptx_types[in->type[0]].cls == CLASS_FLOAT; }

// Wrapping arithmetic is done in 64 unsigned bits and cut.
THREE(BINARY, op_add, (uint64_t)a + (uint64_t)b)
THREE(BINARY, op_sub, (uint64_t)a - (uint64_t)b)
THREE(BINARY, op_mul_lo, (uint64_t)a * (uint64_t)b)
THREE(TERNARY, op_mad_lo, (uint64_t)a * (uint64_t)b + (uint64_t)c)
BINARY(op_add_x2, uint32_t, uint32_t, ((a + b) & 0xffff) | (((a >> 16) + (b >> 16)) << 16))
BINARY(op_add_sat, uint32_t, int32_t, max_i64(INT32_MIN, min_i64(INT32_MAX, (int64_t)a + b)))
BINARY(op_sub_sat, uint32_t, int32_t, max_i64(INT32_MIN, min_i64(INT32_MAX, (int64_t)a - b)))

static inline uint64_t mul_hi(uint64_t a, uint64_t b, PtxType t) {
  switch (t) {
  case T_U16: return (uint16_t)((uint32_t)(uint16_t)a * (uint16_t)b >> 16);
  case T_S16: return (uint16_t)((int32_t)(int16_t)a * (int16_t)b >> 16);
  case T_U32: return num_mulhi_u32((uint32_t)a, (uint32_t)b);
  case T_S32: return (uint32_t)num_mulhi_s32((int32_t)a, (int32_t)b);
  case T_S64: return (uint64_t)num_mulhi_s64((int64_t)a, (int64_t)b);
  default: return num_mulhi_u64(a, b);
  }
}
static inline uint64_t mul_wide(uint64_t a, uint64_t b, PtxType t) {
  switch (t) {
  case T_U16: return (uint32_t)(uint16_t)a * (uint16_t)b;
  case T_S16: return (uint32_t)((int32_t)(int16_t)a * (int16_t)b);
  case T_U32: return (uint64_t)(uint32_t)a * (uint32_t)b;
  default: return (uint64_t)((int64_t)(int32_t)a * (int32_t)b);
  }
}
BINARY(op_mul_wide_u32, uint64_t, uint64_t, (uint64_t)(uint32_t)a * (uint32_t)b)
BINARY(op_mul_wide_s32, uint64_t, int64_t, (int64_t)(int32_t)a * (int32_t)b)
TERNARY(op_mad_wide_u32, uint64_t, uint64_t, (uint64_t)(uint32_t)a * (uint32_t)b + c)
TERNARY(op_mad_wide_s32, uint64_t, uint64_t, (uint64_t)((int64_t)(int32_t)a * (int32_t)b) + c)
BINARY(op_mul_hi_u32, uint32_t, uint64_t, (uint64_t)(uint32_t)a * (uint32_t)b >> 32)

static ExecResult op_mul_any(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t *d = dst_at(w, in);
  const uint64_t *a = src_at(w, in, 1), *b = src_at(w, in, 2);
  PtxType t = in->type[0];
  FOR_LANES(l, mask) d[l] = in->sel == M_wide ? mul_wide(a[l], b[l], t) : mul_hi(a[l], b[l], t);
  return EXEC_NEXT;
}
static ExecResult op_mad_any(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t *d = dst_at(w, in);
  const uint64_t *a = src_at(w, in, 1), *b = src_at(w, in, 2), *c = src_at(w, in, 3);
  PtxType t = in->type[0];
  unsigned bits = ptx_types[t].bits;
  FOR_LANES(l, mask) {
    if (in->sel == M_wide) d[l] = (mul_wide(a[l], b[l], t) + c[l]) & width_mask(bits * 2);
    else if (in->sat) d[l] = (uint32_t)max_i64(INT32_MIN, min_i64(INT32_MAX, (int64_t)(int32_t)mul_hi(a[l], b[l], t) + (int32_t)c[l]));
    else d[l] = (mul_hi(a[l], b[l], t) + c[l]) & width_mask(bits);
  }
  return EXEC_NEXT;
}

// add.cc, addc, sub.cc, subc, mad.cc, madc. m: carry in; k: carry out.
static ExecResult op_carry(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t *d = dst_at(w, in);
  const uint64_t *A = src_at(w, in, 1), *B = src_at(w, in, 2);
  const uint64_t *C = in->num_ops > 3 ? src_at(w, in, 3) : NULL;
  unsigned bits = ptx_types[in->type[0]].bits;
  uint64_t keep = width_mask(bits);
  uint32_t carry = w->carry;
  FOR_LANES(l, mask) {
    uint64_t a = A[l] & keep, b = B[l] & keep, cin = in->m ? carry >> l & 1 : 0;
    unsigned __int128 r;
    bool out;
    if (C) a = in->sel == M_hi ? mul_hi(a, b, in->type[0]) & keep : (a * b) & keep, b = C[l] & keep;
    if (in->op == OP_sub || in->op == OP_subc) {
      r = (unsigned __int128)a - b - cin;
      out = (unsigned __int128)a < (unsigned __int128)b + cin;
    } else {
      r = (unsigned __int128)a + b + cin;
      out = r >> bits & 1;
    }
    d[l] = (uint64_t)r & keep;
    if (in->k) w->carry = (w->carry & ~(1u << l)) | (uint32_t)out << l;
  }
  return EXEC_NEXT;
}
bool decode_carry(PtxParser *p, Instr *in) {
  in->m = in->op == OP_addc || in->op == OP_subc || in->op == OP_madc;
  in->k = has_mod(in, M_cc);
  in->exec = op_carry;
  int i = in->num_types ? int_index(in->type[0]) : -1;
  return i >= 0 && i % 3 != 0 && decode_regs(p, in, in->num_ops > 3 ? 3 : 2);
}

bool decode_add(PtxParser *p, Instr *in) {
  if (is_float(in)) return decode_float(p, in);
  if (has_mod(in, M_cc)) return decode_carry(p, in);
  if (!decode_regs(p, in, 2)) return false;
  if (in->type[0] == T_S16X2 || in->type[0] == T_U16X2) {
    in->exec = op_add_x2;
    return true;
  }
  if (in->sat) {
    in->exec = op_add_sat;
    return in->type[0] == T_S32;
  }
  return pick(in, op_add);
}
bool decode_sub(PtxParser *p, Instr *in) {
  if (is_float(in)) return decode_float(p, in);
  if (has_mod(in, M_cc)) return decode_carry(p, in);
  if (!decode_regs(p, in, 2)) return false;
  if (in->sat) {
    in->exec = op_sub_sat;
    return in->type[0] == T_S32;
  }
  return pick(in, op_sub);
}
bool decode_mul(PtxParser *p, Instr *in) {
  if (is_float(in)) return decode_float(p, in);
  if (!decode_regs(p, in, 2)) return false;
  in->sel = has_mod(in, M_wide) ? M_wide : has_mod(in, M_hi) ? M_hi : M_lo;
  if (in->sel == M_lo) return has_mod(in, M_lo) && pick(in, op_mul_lo);
  in->exec = in->sel == M_wide && in->type[0] == T_U32 ? op_mul_wide_u32 : in->sel == M_wide && in->type[0] == T_S32 ? op_mul_wide_s32
           : in->sel == M_hi && in->type[0] == T_U32 ? op_mul_hi_u32 : op_mul_any;
  int i = int_index(in->type[0]);
  return i >= 0 && !(in->sel == M_wide && i % 3 == 2);
}
bool decode_mad(PtxParser *p, Instr *in) {
  if (is_float(in)) return decode_float(p, in);
  in->sel = has_mod(in, M_wide) ? M_wide : has_mod(in, M_hi) ? M_hi : M_lo;
  if (in->op == OP_madc || has_mod(in, M_cc)) return in->sel != M_wide && decode_carry(p, in) && decode_operands(p, in, "....");
  if (!decode_regs(p, in, 3)) return false;
  if (in->sel == M_lo) return has_mod(in, M_lo) && pick(in, op_mad_lo);
  in->exec = in->sel == M_wide && in->type[0] == T_U32 ? op_mad_wide_u32 : in->sel == M_wide && in->type[0] == T_S32 ? op_mad_wide_s32 : op_mad_any;
  int i = int_index(in->type[0]);
  return i >= 0 && !(in->sel == M_wide && i % 3 == 2) && (!in->sat || in->type[0] == T_S32);
}

static ExecResult op_mul24(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t *d = dst_at(w, in);
  const uint64_t *a = src_at(w, in, 1), *b = src_at(w, in, 2), *c = in->num_ops > 3 ? src_at(w, in, 3) : NULL;
  bool s = in->type[0] == T_S32;
  FOR_LANES(l, mask) {
    int64_t x = s ? num_sext(a[l], 24) : (int64_t)(a[l] & 0xffffff), y = s ? num_sext(b[l], 24) : (int64_t)(b[l] & 0xffffff), z = x * y;
    uint32_t r = in->sel == M_hi ? (uint32_t)(z >> 16) : (uint32_t)z;
    d[l] = (uint32_t)(r + (c ? (uint32_t)c[l] : 0));
  }
  return EXEC_NEXT;
}
bool decode_mul24(PtxParser *p, Instr *in) {
  in->sel = has_mod(in, M_hi) ? M_hi : M_lo;
  in->exec = op_mul24;
  return !in->sat && decode_regs(p, in, in->op == OP_mad24 ? 3 : 2) && (in->type[0] == T_S32 || in->type[0] == T_U32);
}

// ------------------------------------------------------------------------------------- division and other families

// Quotient and remainder by zero are all ones, as the hardware's sequence has it; the smallest value over -1 wraps.
static inline uint64_t div_u(uint64_t a, uint64_t b) { return b ? a / b : ~UINT64_C(0); }
static inline int64_t div_s(int64_t a, int64_t b) { return !b ? -1 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b; }
static inline uint64_t rem_u(uint64_t a, uint64_t b) { return b ? a % b : ~UINT64_C(0); }
static inline int64_t rem_s(int64_t a, int64_t b) { return !b ? -1 : b == -1 ? 0 : a % b; }
#define DIVS(name, f)                                                                                    \
  BINARY(name##_u16, uint16_t, uint16_t, f##_u(a, b)) BINARY(name##_u32, uint32_t, uint32_t, f##_u(a, b)) BINARY(name##_u64, uint64_t, uint64_t, f##_u(a, b)) \
  BINARY(name##_s16, uint16_t, int16_t, f##_s(a, b)) BINARY(name##_s32, uint32_t, int32_t, f##_s(a, b)) BINARY(name##_s64, uint64_t, int64_t, f##_s(a, b))    \
  static const ExecFn name[] = {name##_u16, name##_u32, name##_u64, name##_s16, name##_s32, name##_s64};
DIVS(op_div, div)
DIVS(op_rem, rem)
SIX(BINARY, op_min, a < b ? a : b)
SIX(BINARY, op_max, a > b ? a : b)
UNARY(op_abs_s16, uint16_t, int16_t, a < 0 ? 0 - (uint64_t)a : (uint64_t)a)
UNARY(op_abs_s32, uint32_t, int32_t, a < 0 ? 0 - (uint64_t)a : (uint64_t)a)
UNARY(op_abs_s64, uint64_t, int64_t, a < 0 ? 0 - (uint64_t)a : (uint64_t)a)
static const ExecFn op_abs[] = {op_abs_s16, op_abs_s32, op_abs_s64, op_abs_s16, op_abs_s32, op_abs_s64};
THREE(UNARY, op_neg, 0 - (uint64_t)a)
THREE(UNARY, op_not, ~a)
THREE(UNARY, op_cnot, a == 0)
THREE(BINARY, op_and, a & b)
THREE(BINARY, op_or, a | b)
THREE(BINARY, op_xor, a ^ b)
SIX(TERNARY, op_sad, (uint64_t)c + (a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b))
UNARY(op_popc_32, uint32_t, uint32_t, __builtin_popcount(a))
UNARY(op_popc_64, uint32_t, uint64_t, __builtin_popcountll(a))
UNARY(op_clz_32, uint32_t, uint32_t, a ? __builtin_clz(a) : 32)
UNARY(op_clz_64, uint32_t, uint64_t, a ? __builtin_clzll(a) : 64)

static inline uint64_t min_x2(uint64_t a, uint64_t b, bool s, bool max) {
  uint64_t r = 0;
  for (int h = 0; h < 32; h += 16) {
    int32_t x = s ? (int16_t)(a >> h) : (int32_t)(uint16_t)(a >> h), y = s ? (int16_t)(b >> h) : (int32_t)(uint16_t)(b >> h);
    r |= (uint64_t)(uint16_t)((x < y) != max ? x : y) << h;
  }
  return r;
}
BINARY(op_min_u16x2, uint32_t, uint64_t, min_x2(a, b, false, false))
BINARY(op_max_u16x2, uint32_t, uint64_t, min_x2(a, b, false, true))
BINARY(op_min_s16x2, uint32_t, uint64_t, min_x2(a, b, true, false))
BINARY(op_max_s16x2, uint32_t, uint64_t, min_x2(a, b, true, true))
static ExecResult op_relu(Warp *w, const Instr *in, uint32_t mask) {   // min/max.relu: clamp at zero afterwards
  uint64_t *d = dst_at(w, in);
  const uint64_t *a = src_at(w, in, 1), *b = src_at(w, in, 2);
  bool max = in->op == OP_max;
  FOR_LANES(l, mask) {
    if (in->type[0] == T_S32) {
      int32_t x = (int32_t)a[l], y = (int32_t)b[l], r = (x < y) != max ? x : y;
      d[l] = (uint32_t)(r < 0 ? 0 : r);
    } else {
      d[l] = min_x2(min_x2(a[l], b[l], true, max), 0, true, true);
    }
  }
  return EXEC_NEXT;
}
bool decode_minmax(PtxParser *p, Instr *in) {
  if (is_float(in)) return decode_float(p, in);
  if (!decode_regs(p, in, 2)) return false;
  bool max = in->op == OP_max;
  PtxType t = in->type[0];
  if (has_mod(in, M_relu)) {
    in->exec = op_relu;
    return t == T_S32 || t == T_S16X2;
  }
  if (t == T_U16X2 || t == T_S16X2) {
    in->exec = t == T_U16X2 ? (max ? op_max_u16x2 : op_min_u16x2) : (max ? op_max_s16x2 : op_min_s16x2);
    return true;
  }
  return ptx_types[t].cls != CLASS_BITS && pick(in, max ? op_max : op_min);
}
bool decode_unary(PtxParser *p, Instr *in) {
  if (is_float(in)) return decode_float(p, in);
  return decode_regs(p, in, 1) && pick(in, in->op == OP_abs ? op_abs : op_neg);
}
bool decode_div(PtxParser *p, Instr *in) {
  if (is_float(in)) return decode_float(p, in);
  return decode_regs(p, in, 2) && pick(in, op_div);
}

// --------------------------------------------------------------------------------------------------------------- bits

static inline uint64_t bfind(uint64_t a, PtxType t, bool shiftamt) {
  unsigned bits = ptx_types[t].bits;
  if (ptx_types[t].cls == CLASS_SINT && num_sext(a, bits) < 0) a = ~a;
  a &= width_mask(bits);
  if (!a) return UINT32_MAX;
  unsigned at = 63 - (unsigned)__builtin_clzll(a);
  return shiftamt ? bits - 1 - at : at;
}
static inline uint64_t brev(uint64_t a, unsigned bits) {
  uint64_t r = 0;
  for (unsigned i = 0; i < bits; i++) r |= (a >> i & 1) << (bits - 1 - i);
  return r;
}
static inline uint32_t fns(uint32_t a, uint32_t base, int32_t offset) {
  base &= 31;
  if (!offset) return a >> base & 1 ? base : UINT32_MAX;
  int pos = (int)base, step = offset > 0 ? 1 : -1;
  int64_t count = (offset > 0 ? (int64_t)offset : -(int64_t)offset) - 1;
  for (; pos >= 0 && pos < 32; pos += step)
    if (a >> pos & 1 && count-- == 0) return (uint32_t)pos;
  return UINT32_MAX;
}
static inline uint32_t bmsk(uint32_t a, uint32_t b, bool clamp) {
  if (clamp) {
    if (a > 31) return 0;
  } else {
    a &= 31, b &= 31;
  }
  return (uint32_t)(width_mask(b > 32 ? 32 : b) << a);
}
static inline uint32_t szext(uint32_t a, uint32_t b, bool clamp, bool s) {
  if (clamp ? b >= 32 : (b &= 31, false)) return a;
  if (!b) return 0;
  return s ? (uint32_t)num_sext(a, b) : a & (uint32_t)width_mask(b);
}

// The rarer ones, one lane at a time.
static ExecResult op_bits(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t *d = dst_at(w, in);
  const uint64_t *a = src_at(w, in, 1), *b = in->num_ops > 2 ? src_at(w, in, 2) : a, *c = in->num_ops > 3 ? src_at(w, in, 3) : a,
                 *e = in->num_ops > 4 ? src_at(w, in, 4) : a;
  PtxType t = in->type[0];
  unsigned bits = ptx_types[t].bits;
  FOR_LANES(l, mask) switch (in->op) {
    case OP_bfind: d[l] = bfind(a[l], t, in->sel); break;
    case OP_brev: d[l] = brev(a[l], bits); break;
    case OP_bfe: d[l] = bit_field_extract(a[l], (uint32_t)b[l], (uint32_t)c[l], t); break;
    case OP_bfi: d[l] = bit_field_insert(a[l], b[l], (uint32_t)c[l], (uint32_t)e[l], bits); break;
    case OP_fns: d[l] = fns((uint32_t)a[l], (uint32_t)b[l], (int32_t)c[l]); break;
    case OP_bmsk: d[l] = bmsk((uint32_t)a[l], (uint32_t)b[l], in->sel); break;
    default: d[l] = szext((uint32_t)a[l], (uint32_t)b[l], in->sel, t == T_S32); break;
    }
  return EXEC_NEXT;
}

// Shift amounts are 32-bit and clamp at the width.
#define SHIFT(name, U, T, bits, expr)                                                                   \
  static ExecResult name(Warp *w, const Instr *in, uint32_t mask) {                                     \
    uint64_t *d = dst_at(w, in);                                                              \
    const uint64_t *A = src_at(w, in, 1), *B = src_at(w, in, 2);                          \
    LANES(l, mask, T a = (T)A[l]; uint32_t n = (uint32_t)B[l]; bool over = n >= bits; n = over ? bits - 1 : n; d[l] = (U)(expr);); \
    return EXEC_NEXT;                                                                                   \
  }
SHIFT(shl_16, uint16_t, uint16_t, 16, over ? 0 : a << n) SHIFT(shl_32, uint32_t, uint32_t, 32, over ? 0 : a << n) SHIFT(shl_64, uint64_t, uint64_t, 64, over ? 0 : a << n)
SHIFT(shr_u16, uint16_t, uint16_t, 16, over ? 0 : a >> n) SHIFT(shr_u32, uint32_t, uint32_t, 32, over ? 0 : a >> n) SHIFT(shr_u64, uint64_t, uint64_t, 64, over ? 0 : a >> n)
SHIFT(shr_s16, uint16_t, int16_t, 16, a >> n) SHIFT(shr_s32, uint32_t, int32_t, 32, a >> n) SHIFT(shr_s64, uint64_t, int64_t, 64, a >> n)
static const ExecFn op_shl[] = {shl_16, shl_32, shl_64, shl_16, shl_32, shl_64};
static const ExecFn op_shr[] = {shr_u16, shr_u32, shr_u64, shr_s16, shr_s32, shr_s64};

bool decode_int(PtxParser *p, Instr *in) {
  static const uint8_t num_srcs[OP_COUNT] = {[OP_sad] = 3, [OP_rem] = 2, [OP_popc] = 1, [OP_clz] = 1, [OP_bfind] = 1, [OP_fns] = 3, [OP_brev] = 1,
                                             [OP_bfe] = 3, [OP_bfi] = 4, [OP_bmsk] = 2, [OP_szext] = 2, [OP_cnot] = 1, [OP_shl] = 2, [OP_shr] = 2};
  if (!decode_regs(p, in, num_srcs[in->op])) return false;
  int i = int_index(in->type[0]);
  if (i < 0) return false;
  bool wide = i % 3 == 2, narrow = i % 3 == 0;
  switch (in->op) {
  case OP_sad: return pick(in, op_sad);
  case OP_rem: return pick(in, op_rem);
  case OP_cnot: return pick(in, op_cnot);
  case OP_shl: return pick(in, op_shl);
  case OP_shr: return pick(in, op_shr);
  case OP_popc: in->exec = wide ? op_popc_64 : op_popc_32; return !narrow;
  case OP_clz: in->exec = wide ? op_clz_64 : op_clz_32; return !narrow;
  case OP_bfind: in->sel = has_mod(in, M_shiftamt); break;
  case OP_bmsk: case OP_szext:
    in->sel = has_mod(in, M_clamp);
    if (wide || has_mod(in, M_clamp) == has_mod(in, M_wrap)) return false;
    break;
  default: break;
  }
  in->exec = op_bits;
  return !narrow;
}

// --------------------------------------------------------------------------------------------------------- logic, lop3

static ExecResult op_pred_logic(Warp *w, const Instr *in, uint32_t mask) {
  uint32_t a = src_pred(w, &in->ops[1]), b = in->op == OP_not ? 0 : src_pred(w, &in->ops[2]), r;
  switch (in->op) {
  case OP_and: r = a & b; break;
  case OP_or: r = a | b; break;
  case OP_xor: r = a ^ b; break;
  default: r = ~a; break;
  }
  set_pred(w, &in->ops[0], mask, r);
  return EXEC_NEXT;
}
bool decode_logic(PtxParser *p, Instr *in) {
  bool unary = in->op == OP_not;
  if (!decode_want_type(p, in, 1)) return false;
  if (in->type[0] == T_PRED) return decode_as(p, in, op_pred_logic, unary ? "Pp" : "Ppp");
  return decode_regs(p, in, unary ? 1 : 2) && pick(in, unary ? op_not : in->op == OP_and ? op_and : in->op == OP_or ? op_or : op_xor);
}

static inline uint32_t lop3(uint32_t a, uint32_t b, uint32_t c, unsigned lut) {
  uint32_t r = 0;
  for (unsigned i = 0; i < 8; i++)
    if (lut >> i & 1) r |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  return r;
}
static ExecResult op_lop3(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t *d = dst_at(w, in);
  const uint64_t *a = src_at(w, in, 1), *b = src_at(w, in, 2), *c = src_at(w, in, 3);
  unsigned lut = in->n;
  switch (lut) {
  case 0x80: LANES(l, mask, d[l] = (uint32_t)(a[l] & b[l] & c[l]);); break;
  case 0xfe: LANES(l, mask, d[l] = (uint32_t)(a[l] | b[l] | c[l]);); break;
  case 0x96: LANES(l, mask, d[l] = (uint32_t)(a[l] ^ b[l] ^ c[l]);); break;
  case 0xea: LANES(l, mask, d[l] = (uint32_t)((a[l] & b[l]) | c[l]);); break;
  default: FOR_LANES(l, mask) d[l] = lop3((uint32_t)a[l], (uint32_t)b[l], (uint32_t)c[l], lut); break;
  }
  if (in->ops[0].pair) {
    uint32_t nonzero = 0, q = src_pred(w, &in->ops[5]);
    FOR_LANES(l, mask) nonzero |= (uint32_t)(d[l] != 0) << l;
    set_pred(w, in->ops[0].pair, mask, in->boolop == BOOL_AND ? nonzero & q : nonzero | q);
  }
  return EXEC_NEXT;
}
bool decode_lop3(PtxParser *p, Instr *in) {
  bool with_pred = in->boolop != BOOL_NONE;
  if (!decode_as(p, in, op_lop3, with_pred ? "dsssip" : "dsssi") || !decode_want_type(p, in, 1)) return false;
  if (with_pred && (!in->ops[0].pair || in->ops[0].pair->kind != OPND_PRED)) return false;
  in->n = (uint16_t)in->ops[4].offset & 255;
  return in->type[0] == T_B32 && (with_pred || !in->ops[0].pair);
}

// ---------------------------------------------------------------------------------------------------- shf, prmt, dp4a

static ExecResult op_shf(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t *d = dst_at(w, in);
  const uint64_t *a = src_at(w, in, 1), *b = src_at(w, in, 2), *c = src_at(w, in, 3);
  bool left = in->sel, clamp = in->k;
  LANES(l, mask, uint64_t v = (uint64_t)(uint32_t)b[l] << 32 | (uint32_t)a[l]; uint32_t n = (uint32_t)c[l]; n = clamp ? (n < 32 ? n : 32) : n & 31;
        d[l] = left ? (uint32_t)((v << n) >> 32) : (uint32_t)(v >> n););
  return EXEC_NEXT;
}
bool decode_shf(PtxParser *p, Instr *in) {
  in->sel = has_mod(in, M_l);
  in->k = has_mod(in, M_clamp);
  in->exec = op_shf;
  return has_mod(in, M_l) != has_mod(in, M_r) && has_mod(in, M_clamp) != has_mod(in, M_wrap) && decode_regs(p, in, 3) && in->type[0] == T_B32;
}

static inline uint32_t prmt(uint32_t a, uint32_t b, uint32_t c, unsigned mode) {
  uint64_t v = (uint64_t)b << 32 | a;
  uint32_t r = 0;
  for (unsigned i = 0; i < 4; i++) {
    unsigned s = c & 3, at;
    bool sign = false;
    switch (mode) {
    case M_f4e: at = (s + i) & 7; break;
    case M_b4e: at = (s - i) & 7; break;
    case M_rc8: at = s; break;
    case M_ecl: at = s > i ? s : i; break;
    case M_ecr: at = s < i ? s : i; break;
    case M_rc16: at = (s & 1) * 2 + (i & 1); break;
    default: at = c >> (4 * i) & 7, sign = c >> (4 * i + 3) & 1; break;
    }
    uint32_t byte = v >> (8 * at) & 255;
    if (sign) byte = byte & 128 ? 255 : 0;
    r |= byte << (8 * i);
  }
  return r;
}
static ExecResult op_prmt(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t *d = dst_at(w, in);
  const uint64_t *a = src_at(w, in, 1), *b = src_at(w, in, 2), *c = src_at(w, in, 3);
  FOR_LANES(l, mask) d[l] = prmt((uint32_t)a[l], (uint32_t)b[l], (uint32_t)c[l], in->sel);
  return EXEC_NEXT;
}
bool decode_prmt(PtxParser *p, Instr *in) {
  static const PtxMod modes[] = {M_f4e, M_b4e, M_rc8, M_ecl, M_ecr, M_rc16};
  for (size_t i = 0; i < countof(modes); i++)
    if (has_mod(in, modes[i])) in->sel = (uint16_t)modes[i];
  in->exec = op_prmt;
  return decode_regs(p, in, 3) && in->type[0] == T_B32;
}

static ExecResult op_dp(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t *d = dst_at(w, in);
  const uint64_t *a = src_at(w, in, 1), *b = src_at(w, in, 2), *c = src_at(w, in, 3);
  bool sa = in->type[0] == T_S32, sb = in->type[1] == T_S32, four = in->op == OP_dp4a;
  FOR_LANES(l, mask) {
    uint32_t acc = (uint32_t)c[l];
    for (unsigned i = 0; i < (four ? 4 : 2); i++) {
      unsigned wa = four ? 8 : 16, ib = four ? i : i + (in->sel == M_hi ? 2 : 0);
      uint64_t x = a[l] >> (wa * i) & width_mask(wa), y = b[l] >> (8 * ib) & 255;
      acc += (uint32_t)((sa ? num_sext(x, wa) : (int64_t)x) * (sb ? num_sext(y, 8) : (int64_t)y));
    }
    d[l] = acc;
  }
  return EXEC_NEXT;
}
bool decode_dp(PtxParser *p, Instr *in) {
  in->sel = has_mod(in, M_hi) ? M_hi : M_lo;
  in->exec = op_dp;
  if (in->op == OP_dp2a && has_mod(in, M_hi) == has_mod(in, M_lo)) return false;
  return decode_regs(p, in, 3) && in->num_types == 2;
}
