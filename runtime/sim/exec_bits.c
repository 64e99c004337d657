// Bits: logic, shifts, fields, counts, permutations, dot products of bytes.
#include "runtime/sim/exec_arith.h"

THREE(UNARY, op_not, ~a)
THREE(UNARY, op_cnot, a == 0)
THREE(BINARY, op_and, a & b)
THREE(BINARY, op_or, a | b)
THREE(BINARY, op_xor, a ^ b)
UNARY(op_popc_32, uint32_t, uint32_t, __builtin_popcount(a))
UNARY(op_popc_64, uint32_t, uint64_t, __builtin_popcountll(a))
UNARY(op_clz_32, uint32_t, uint32_t, a ? __builtin_clz(a) : 32)
UNARY(op_clz_64, uint32_t, uint64_t, a ? __builtin_clzll(a) : 64)

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

// Rare instructions, one lane at a time.
static ExecResult op_bits(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t *d = dst_at(w, in);
  const uint64_t *a = src_at(w, in, 1), *b = in->num_ops > 2 ? src_at(w, in, 2) : a,
                 *c = in->num_ops > 3 ? src_at(w, in, 3) : a, *e = in->num_ops > 4 ? src_at(w, in, 4) : a;
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
static inline uint64_t shl(uint64_t a, uint32_t n, unsigned bits) { return n >= bits ? 0 : a << n; }
static inline uint64_t shr_u(uint64_t a, uint32_t n, unsigned bits) { return n >= bits ? 0 : a >> n; }
static inline int64_t shr_s(int64_t a, uint32_t n, unsigned bits) { return a >> (n >= bits ? bits - 1 : n); }
#define SHIFT(name, U, T, expr) \
  HANDLER(name, SOURCE(A, 1) SOURCE(B, 2), T a = (T)A[l]; uint32_t n = (uint32_t)B[l]; d[l] = (U)(expr);)
THREE(SHIFT, op_shl, shl(a, n, sizeof a * 8))
SIX_OF(SHIFT, op_shr, shr_u(a, n, sizeof a * 8), shr_s(a, n, sizeof a * 8))

bool decode_bits(PtxParser *p, Instr *in) {
  static const uint8_t num_srcs[OP_COUNT] =
      {[OP_popc] = 1, [OP_clz] = 1,  [OP_bfind] = 1, [OP_fns] = 3,  [OP_brev] = 1, [OP_bfe] = 3,
       [OP_bfi] = 4,  [OP_bmsk] = 2, [OP_szext] = 2, [OP_cnot] = 1, [OP_shl] = 2,  [OP_shr] = 2};
  if (!decode_regs(p, in, num_srcs[in->op])) return false;
  int i = exec_int_index(in->type[0]);
  if (i < 0) return false;
  bool wide = i % 3 == 2, narrow = i % 3 == 0;
  switch (in->op) {
  case OP_cnot: return exec_pick_int(in, op_cnot);
  case OP_shl: return exec_pick_int(in, op_shl);
  case OP_shr: return exec_pick_int(in, op_shr);
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
  return decode_regs(p, in, unary ? 1 : 2) && exec_pick_int(in, unary              ? op_not
                                                                : in->op == OP_and ? op_and
                                                                : in->op == OP_or  ? op_or
                                                                                   : op_xor);
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
  LANES(l, mask, uint64_t v = (uint64_t)(uint32_t)b[l] << 32 | (uint32_t)a[l]; uint32_t n = (uint32_t)c[l];
        n = clamp ? (n < 32 ? n : 32) : n & 31; d[l] = left ? (uint32_t)((v << n) >> 32) : (uint32_t)(v >> n););
  return EXEC_NEXT;
}
bool decode_shf(PtxParser *p, Instr *in) {
  in->sel = has_mod(in, M_l);
  in->k = has_mod(in, M_clamp);
  in->exec = op_shf;
  return has_mod(in, M_l) != has_mod(in, M_r) && has_mod(in, M_clamp) != has_mod(in, M_wrap) && decode_regs(p, in, 3) &&
         in->type[0] == T_B32;
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
TERNARY(op_prmt, uint32_t, uint32_t, prmt(a, b, c, in->sel))
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
