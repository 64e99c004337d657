// cvt: every pair of scalar types, and the packed 16- and 8-bit forms. cvt.pack (sm_80 integer packing) is not
// supported.
#include <math.h>

#include "runtime/sim/exec_arith.h"

static inline float flush(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }
static inline bool is_float(PtxType t) { return ptx_types[t].cls == CLASS_FLOAT; }

// Extends a result to the width of the destination register, with the sign of its type.
static inline uint64_t extend(uint64_t v, PtxType t, unsigned reg_bits) {
  unsigned bits = ptx_types[t].bits;
  if (ptx_types[t].cls != CLASS_SINT || reg_bits <= bits) return v & width_mask(bits);
  return (uint64_t)num_sext(v, bits) & width_mask(reg_bits);
}

// A NaN converted from or to .f64 keeps its sign and the upper bits of its payload, and becomes quiet.
static uint64_t convert_nan(NumFormat from, NumFormat to, uint64_t v) {
  const NumFormatInfo *a = num_format_info(from), *b = num_format_info(to);
  uint64_t payload = v & width_mask(a->man_bits), sign = v >> (a->width - 1) & 1;
  payload = a->man_bits > b->man_bits ? payload >> (a->man_bits - b->man_bits) : payload << (b->man_bits - a->man_bits);
  return sign << (b->width - 1) | width_mask(b->exp_bits) << b->man_bits | UINT64_C(1) << (b->man_bits - 1) | payload;
}

static uint64_t float_to_float(const Instr *in, PtxType from, PtxType to, uint64_t v) {
  NumFormat ff = num_format_of(from), ft = num_format_of(to);
  NumRound rnd = num_round_of(in->rnd);
  double x = num_decode(ff, v);
  if (x != x && !in->sat && (to == T_F64 || from == T_F64))
    return convert_nan(ff, ft, in->ftz && from == T_F32 ? num_canonical_nan(ff) : v);
  if (x != x && in->rnd == RND_RNA) return v & ~UINT64_C(0x1fff);
  if (in->ftz && from == T_F32) x = flush((float)x);
  if (in->rint) x = num_round_to_integral(x, rnd);
  if (in->sat) x = x > 0 ? (x < 1 ? x : 1) : 0;
  if (to == T_F64) return num_bits_f64(x);
  uint64_t r = num_encode(ft, x, in->rint ? NUM_RNE : rnd, has_mod(in, M_satfinite));
  if (in->ftz && to == T_F32) r = num_bits_f32(flush(num_f32_bits((uint32_t)r)));
  if (has_mod(in, M_relu)) {
    uint64_t sign = UINT64_C(1) << (num_format_info(ft)->width - 1);
    if ((r & sign) && !num_is_nan(ft, r)) r = 0;
  }
  return r;
}

static uint64_t convert(const Instr *in, PtxType to, PtxType from, uint64_t v) {
  unsigned fb = ptx_types[from].bits, tb = ptx_types[to].bits;
  bool fs = ptx_types[from].cls == CLASS_SINT, ts = ptx_types[to].cls == CLASS_SINT;
  v &= width_mask(fb);
  if (is_float(from) && is_float(to)) return float_to_float(in, from, to, v);
  if (is_float(from)) {
    double x = num_decode(num_format_of(from), v);
    if (in->ftz && from == T_F32) x = flush((float)x);
    return num_to_int(x, tb, ts, num_round_of(in->rnd), fb == 64 || tb == 64) & width_mask(tb);
  }
  if (is_float(to)) {
    NumFormat f = num_format_of(to);
    uint64_t r = fs ? num_encode_i64(f, num_sext(v, fb), num_round_of(in->rnd), false)
                    : num_encode_u64(f, v, num_round_of(in->rnd), false);
    if (in->sat) {
      double x = num_decode(f, r);
      r = num_encode(f, x > 0 ? (x < 1 ? x : 1) : 0, NUM_RNE, false);
    }
    return r;
  }
  if (in->sat) {
    __int128 x = fs ? (__int128)num_sext(v, fb) : (__int128)v;
    __int128 lo = ts ? -((__int128)1 << (tb - 1)) : 0,
             hi = ts ? ((__int128)1 << (tb - 1)) - 1 : (__int128)width_mask(tb);
    v = (uint64_t)(x < lo ? lo : x > hi ? hi : x);
  } else if (fs) {
    v = (uint64_t)num_sext(v, fb);
  }
  return v & width_mask(tb);
}

UNARY(op_cvt, uint64_t, uint64_t, extend(convert(in, in->type[0], in->type[1], a), in->type[0], in->ops[0].bits))
static ExecResult op_cvt_int(Warp *w, const Instr *in, uint32_t mask) {   // no .sat: shifts only
  uint64_t *d = dst_at(w, in);
  const uint64_t *a = src_at(w, in, 1);
  unsigned up = 64 - in->m;
  uint64_t keep = width_mask(in->n);
  bool s = in->sel;
  LANES(l, mask, uint64_t v = a[l] << up; d[l] = (s ? (uint64_t)((int64_t)v >> up) : v >> up) & keep;);
  return EXEC_NEXT;
}
UNARY(op_cvt_f32_s32, uint64_t, int32_t, num_bits_f32((float)a))
UNARY(op_cvt_f32_bf16, uint64_t, uint32_t, a << 16)   // a NaN as it is

// cvt.x2.f32 d, a, b: a gives the upper half, b the lower. Other packed sources are converted half by half.
static ExecResult op_cvt_packed(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t *d = dst_at(w, in);
  const uint64_t *a = src_at(w, in, 1), *b = in->num_ops > 2 ? src_at(w, in, 2) : NULL;
  PtxType to = in->type[0], from = in->type[1];
  unsigned th = ptx_types[to].bits / 2, fh = ptx_types[from].bits / 2;
  FOR_LANES(l, mask) {
    uint64_t hi = b ? float_to_float(in, T_F32, to, (uint32_t)a[l])
                    : float_to_float(in, from, to, a[l] >> fh & width_mask(fh));
    uint64_t lo = b ? float_to_float(in, T_F32, to, (uint32_t)b[l])
                    : float_to_float(in, from, to, a[l] & width_mask(fh));
    d[l] = hi << th | lo;
  }
  return EXEC_NEXT;
}

static bool is_pair(PtxType t) { return t == T_F16X2 || t == T_BF16X2 || t == T_E4M3X2 || t == T_E5M2X2; }

// Between integers, without saturation: the low in->m bits, extended to in->n bits, by their sign if in->sel.
static void decode_cvt_int(Instr *in, const TypeInfo *to, const TypeInfo *from) {
  bool shrinks = to->bits <= from->bits, is_signed = to->cls == CLASS_SINT;
  in->m = shrinks ? to->bits : from->bits;
  in->sel = shrinks ? is_signed : from->cls == CLASS_SINT;
  // A signed result fills the register, which may be wider than the type.
  bool fills = is_signed && (shrinks || from->cls == CLASS_SINT);
  in->n = !fills ? to->bits : in->ops[0].bits ? in->ops[0].bits : 64;
  if (in->n > 64) in->n = 64;
  in->exec = op_cvt_int;
}

bool decode_cvt(PtxParser *p, Instr *in) {
  if (!decode_want_type(p, in, 2)) return false;
  PtxType to = in->type[0], from = in->type[1];
  if (is_pair(to)) {
    in->exec = op_cvt_packed;
    bool two = from == T_F32;
    if (!two && !is_pair(from)) return false;
    if (!decode_regs(p, in, two ? 2 : 1)) return false;
    return in->rnd == RND_RN || (in->rnd == RND_RZ && two && (to == T_F16X2 || to == T_BF16X2));
  }
  if (!decode_regs(p, in, 1) || in->num_types != 2 || is_pair(from)) return false;
  const TypeInfo *ti = &ptx_types[to], *fi = &ptx_types[from];
  if (ti->bits < 8 || ti->bits > 64 || fi->bits < 8 || fi->bits > 64 || (is_float(to) && ti->bits == 8) ||
      (is_float(from) && fi->bits == 8))
    return false;
  if (ti->cls == CLASS_BITS || fi->cls == CLASS_BITS) return false;
  if (is_float(from) && !is_float(to) && !in->rint)
    return decode_error(p, "cvt from a floating-point to an integer type needs .rni, .rzi, .rmi or .rpi");
  if (is_float(to) && !is_float(from) && (in->rnd == RND_NONE || in->rint))
    return decode_error(p, "cvt from an integer to a floating-point type needs .rn, .rz, .rm or .rp");
  in->exec = op_cvt;
  if (!is_float(from) && !is_float(to) && !in->sat) decode_cvt_int(in, ti, fi);
  if (to == T_F32 && from == T_S32 && in->rnd == RND_RN && !in->sat) in->exec = op_cvt_f32_s32;
  if (to == T_F32 && from == T_BF16 && !in->sat && !in->ftz && !has_mod(in, M_relu) && !in->rint)
    in->exec = op_cvt_f32_bf16;
  return true;
}
