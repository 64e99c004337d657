// Integer arithmetic. Floating-point forms of the same mnemonics are exec_float.c's.
#include "runtime/sim/exec_arith.h"

int exec_int_index(PtxType t) {
  int i = ptx_types[t].bits == 16 ? 0 : ptx_types[t].bits == 32 ? 1 : ptx_types[t].bits == 64 ? 2 : -1;
  if (i < 0 || ptx_types[t].cls == CLASS_FLOAT || ptx_types[t].cls == CLASS_PRED || t == T_S16X2 || t == T_U16X2 ||
      t == T_S8X4 || t == T_U8X4)
    return -1;
  return ptx_types[t].cls == CLASS_SINT ? i + 3 : i;
}
bool exec_pick_int(Instr *in, const ExecFn *table) {
  int i = exec_int_index(in->type[0]);
  if (i < 0) return false;
  in->exec = table[i];
  return true;
}
static bool is_float(const Instr *in) { return in->num_types && ptx_types[in->type[0]].cls == CLASS_FLOAT; }

// Wrapping arithmetic uses 64 unsigned bits and truncates.
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
    else if (in->sat)
      d[l] = (uint32_t)max_i64(INT32_MIN, min_i64(INT32_MAX, (int64_t)(int32_t)mul_hi(a[l], b[l], t) + (int32_t)c[l]));
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
  int i = in->num_types ? exec_int_index(in->type[0]) : -1;
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
  return exec_pick_int(in, op_add);
}
bool decode_sub(PtxParser *p, Instr *in) {
  if (is_float(in)) return decode_float(p, in);
  if (has_mod(in, M_cc)) return decode_carry(p, in);
  if (!decode_regs(p, in, 2)) return false;
  if (in->sat) {
    in->exec = op_sub_sat;
    return in->type[0] == T_S32;
  }
  return exec_pick_int(in, op_sub);
}
bool decode_mul(PtxParser *p, Instr *in) {
  if (is_float(in)) return decode_float(p, in);
  if (!decode_regs(p, in, 2)) return false;
  in->sel = has_mod(in, M_wide) ? M_wide : has_mod(in, M_hi) ? M_hi : M_lo;
  if (in->sel == M_lo) return has_mod(in, M_lo) && exec_pick_int(in, op_mul_lo);
  in->exec = in->sel == M_wide && in->type[0] == T_U32   ? op_mul_wide_u32
             : in->sel == M_wide && in->type[0] == T_S32 ? op_mul_wide_s32
             : in->sel == M_hi && in->type[0] == T_U32   ? op_mul_hi_u32
                                                         : op_mul_any;
  int i = exec_int_index(in->type[0]);
  return i >= 0 && !(in->sel == M_wide && i % 3 == 2);
}
bool decode_mad(PtxParser *p, Instr *in) {
  if (is_float(in)) return decode_float(p, in);
  in->sel = has_mod(in, M_wide) ? M_wide : has_mod(in, M_hi) ? M_hi : M_lo;
  if (in->op == OP_madc || has_mod(in, M_cc))
    return in->sel != M_wide && decode_carry(p, in) && decode_operands(p, in, "....");
  if (!decode_regs(p, in, 3)) return false;
  if (in->sel == M_lo) return has_mod(in, M_lo) && exec_pick_int(in, op_mad_lo);
  in->exec = in->sel == M_wide && in->type[0] == T_U32   ? op_mad_wide_u32
             : in->sel == M_wide && in->type[0] == T_S32 ? op_mad_wide_s32
                                                         : op_mad_any;
  int i = exec_int_index(in->type[0]);
  return i >= 0 && !(in->sel == M_wide && i % 3 == 2) && (!in->sat || in->type[0] == T_S32);
}

static ExecResult op_mul24(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t *d = dst_at(w, in);
  const uint64_t *a = src_at(w, in, 1), *b = src_at(w, in, 2), *c = in->num_ops > 3 ? src_at(w, in, 3) : NULL;
  bool s = in->type[0] == T_S32;
  FOR_LANES(l, mask) {
    int64_t x = s ? num_sext(a[l], 24) : (int64_t)(a[l] & 0xffffff),
            y = s ? num_sext(b[l], 24) : (int64_t)(b[l] & 0xffffff), z = x * y;
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

// Quotient and remainder by zero are all ones, as on the hardware. The smallest value divided by -1 wraps.
static inline uint64_t div_u(uint64_t a, uint64_t b) { return b ? a / b : ~UINT64_C(0); }
static inline int64_t div_s(int64_t a, int64_t b) { return !b ? -1 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b; }
static inline uint64_t rem_u(uint64_t a, uint64_t b) { return b ? a % b : ~UINT64_C(0); }
static inline int64_t rem_s(int64_t a, int64_t b) { return !b ? -1 : b == -1 ? 0 : a % b; }
SIX_OF(BINARY, op_div, div_u(a, b), div_s(a, b))
SIX_OF(BINARY, op_rem, rem_u(a, b), rem_s(a, b))
SIX(BINARY, op_min, a < b ? a : b)
SIX(BINARY, op_max, a > b ? a : b)
static inline uint64_t magnitude(int64_t a) { return a < 0 ? 0 - (uint64_t)a : (uint64_t)a; }
UNARY(op_abs_16, uint16_t, int16_t, magnitude(a))
UNARY(op_abs_32, uint32_t, int32_t, magnitude(a))
UNARY(op_abs_64, uint64_t, int64_t, magnitude(a))
static const ExecFn op_abs[] = {op_abs_16, op_abs_32, op_abs_64, op_abs_16, op_abs_32, op_abs_64};
THREE(UNARY, op_neg, 0 - (uint64_t)a)
SIX(TERNARY, op_sad, (uint64_t)c + (a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b))

static inline uint64_t min_x2(uint64_t a, uint64_t b, bool s, bool max) {
  uint64_t r = 0;
  for (int h = 0; h < 32; h += 16) {
    int32_t x = s ? (int16_t)(a >> h) : (int32_t)(uint16_t)(a >> h),
            y = s ? (int16_t)(b >> h) : (int32_t)(uint16_t)(b >> h);
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
  return ptx_types[t].cls != CLASS_BITS && exec_pick_int(in, max ? op_max : op_min);
}
bool decode_unary(PtxParser *p, Instr *in) {
  if (is_float(in)) return decode_float(p, in);
  return decode_regs(p, in, 1) && exec_pick_int(in, in->op == OP_abs ? op_abs : op_neg);
}
bool decode_int(PtxParser *p, Instr *in) {
  return decode_regs(p, in, in->op == OP_sad ? 3 : 2) && exec_pick_int(in, in->op == OP_sad ? op_sad : op_rem);
}
bool decode_div(PtxParser *p, Instr *in) {
  if (is_float(in)) return decode_float(p, in);
  return decode_regs(p, in, 2) && exec_pick_int(in, op_div);
}
