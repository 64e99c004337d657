// Floating-point arithmetic. A NaN result of .f32 and the 16-bit types is the canonical one (all exponent and
// fraction bits set, sign clear). Approximate functions are computed in double and rounded once. The results lie
// within the bounds of the ISA; their last bits differ from the hardware's. TILE_SIM_APPROX moves them to the bounds.
#include "runtime/sim/exec_arith.h"

#include <math.h>

static inline float f32(uint64_t v) { return num_f32_bits((uint32_t)v); }
static inline uint64_t b32(float x) { return x != x ? 0x7fffffffu : num_bits_f32(x); }
static inline float flush(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }
// .ftz decides after rounding with an unbounded exponent: a result that rounds up to the smallest normal number only
// because the exponent is bounded is flushed. `exact` is the result rounded to odd in double.
static inline float flush_tiny(double exact, float r, NumRound rnd) {
  if (fabsf(r) > 0x1p-126f) return r;
  float scaled = num_f32_bits((uint32_t)num_encode(NUM_F32, exact * 0x1p64, rnd, false));
  return fabsf(scaled) < 0x1p-62f ? copysignf(0, r) : r;
}
static inline float saturate(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }   // NaN gives 0

// The plain form (.rn, no .ftz, no .sat) has its own loop; any other goes through `slow`.
#define F32_BINARY(name, plain, slow, tiny)                                                                    \
  static ExecResult name(Warp *w, const Instr *in, uint32_t mask) {                                      \
    uint64_t *d = dst_at(w, in);                                                               \
    const uint64_t *A = src_at(w, in, 1), *B = src_at(w, in, 2);                           \
    FOR_LANES(l, mask) { float a = f32(A[l]), b = f32(B[l]); d[l] = b32(plain); }                        \
    return EXEC_NEXT;                                                                                    \
  }                                                                                                      \
  static ExecResult name##_slow(Warp *w, const Instr *in, uint32_t mask) {                               \
    uint64_t *d = dst_at(w, in);                                                               \
    const uint64_t *A = src_at(w, in, 1), *B = src_at(w, in, 2);                           \
    NumRound rnd = num_round_of(in->rnd);                                                                \
    bool ftz = in->ftz;                                                                                  \
    FOR_LANES(l, mask) {                                                                                 \
      float a = f32(A[l]), b = f32(B[l]), r;                                                             \
      if (ftz) a = flush(a), b = flush(b);                                                               \
      r = rnd == NUM_RNE ? plain : slow(a, b, rnd, ftz);                                                 \
      if (ftz) r = tiny ? flush_tiny((double)a * b, r, rnd) : flush(r);                                       \
      d[l] = b32(in->sat ? saturate(r) : r);                                                             \
    }                                                                                                    \
    return EXEC_NEXT;                                                                                    \
  }
F32_BINARY(op_add_f32, a + b, num_add_f32, false)
F32_BINARY(op_sub_f32, a - b, num_sub_f32, false)
F32_BINARY(op_mul_f32, a * b, num_mul_f32, true)
F32_BINARY(op_div_f32, a / b, num_div_f32, false)

// How far the approximate .f32 form of an operation may be from the exact result y, by the ISA, except: CUDA promises
// 2 ulp for rsqrt; ex2 of x in [0, 1], which libdevice's exponentials use, is within 1.25 ulp on the hardware.
static double error_bound(unsigned op, double x, double y) {
  const double ulp = ldexp(1, ilogb(y) - 23);
  switch (op) {
  case OP_rcp: return ulp;
  case OP_sqrt: return 0x1p-23 * fabs(y);
  case OP_rsqrt: return fmin(0x1.125p-23 * fabs(y), 2 * ulp);   // 2^-22.9
  case OP_lg2: return x > 0.5 && x < 2 ? 0x1p-22 : 0x1p-22 * fabs(y);
  case OP_ex2: return x >= 0 && x <= 1 ? 1.25 * ulp : 2 * ulp;
  case OP_sin:
  case OP_cos: return fabs(x) < 6.2831855 ? 0x1.6ap-21 : 0x1.3bp-15;   // 2^-20.5, 2^-14.7
  case OP_tanh: return 0x1p-11 * fabs(y);
  default: return 2 * ulp;   // div
  }
}
// y rounded once; with TILE_SIM_APPROX as far from y as it may be, up or down by a hash of the operands. A result that
// fp32 holds exactly stays: the hardware is exact for powers of two, zeros and infinities.
static float approximate(const Warp *w, unsigned op, double x, double divisor, double y) {
  const uint64_t seed = w->grid->sim->approx;
  if (!seed || (float)y == y || !(fabs(y) < 0x1p128)) return (float)y;
  uint64_t state = seed ^ (uint64_t)num_bits_f32((float)x) << 32 ^ num_bits_f32((float)divisor) ^ (uint64_t)op << 24;
  const double bound = error_bound(op, x, y);
  const float r = (float)(rng_next(&state) & 1 ? y + bound : y - bound);
  return fabs(r - y) > bound ? nextafterf(r, (float)y) : r;
}

// div.approx multiplies by a reciprocal, which is flushed for divisors above 2^126; div.full does not flush it.
static ExecResult op_div_approx(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t *d = dst_at(w, in);
  const uint64_t *A = src_at(w, in, 1), *B = src_at(w, in, 2);
  const bool full = has_mod(in, M_full);
  FOR_LANES(l, mask) {
    float a = f32(A[l]), b = f32(B[l]);
    if (in->ftz) a = flush(a), b = flush(b);
    float r = !full && fabsf(b) > 0x1p126f && fabsf(b) < INFINITY ? a * copysignf(0, b)
                                                                 : approximate(w, OP_div, a, b, (double)a / b);
    d[l] = b32(in->ftz ? flush(r) : r);
  }
  return EXEC_NEXT;
}

TERNARY(op_fma_f32, uint64_t, uint64_t, b32(fmaf(f32(a), f32(b), f32(c))))
static ExecResult op_fma_f32_slow(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t *d = dst_at(w, in);
  const uint64_t *A = src_at(w, in, 1), *B = src_at(w, in, 2), *C = src_at(w, in, 3);
  NumRound rnd = num_round_of(in->rnd);
  bool ftz = in->ftz;
  FOR_LANES(l, mask) {
    float a = f32(A[l]), b = f32(B[l]), c = f32(C[l]), r;
    if (ftz) a = flush(a), b = flush(b), c = flush(c);
    r = rnd == NUM_RNE ? fmaf(a, b, c) : num_fma_f32(a, b, c, rnd, ftz);
    if (ftz) r = flush_tiny(num_add_odd((double)a * b, c), r, rnd);
    d[l] = b32(in->sat ? saturate(r) : r);
  }
  return EXEC_NEXT;
}

// ----------------------------------------------------------------------------------------------------- min, max, signs

// An .f64 operation returns the first NaN among its operands, made quiet; an invalid operation returns the default
// NaN.
static uint64_t nan64(uint64_t a, uint64_t b, uint64_t c) {
  const uint64_t v[] = {a, b, c};
  for (int i = 0; i < 3; i++)
    if ((v[i] & INT64_MAX) > UINT64_C(0x7ff0000000000000)) return v[i] | UINT64_C(0x0008000000000000);
  return UINT64_C(0xfff8000000000000);
}
static inline uint64_t flush16(NumFormat f, uint64_t v) { return f == NUM_F16 && !(v & 0x7c00) ? v & 0x8000 : v; }

static uint64_t min_max(NumFormat f, uint64_t a, uint64_t b, const Instr *in) {
  bool max = in->op == OP_max;
  unsigned width = num_format_info(f)->width;
  uint64_t sign = UINT64_C(1) << (width - 1), out_sign = 0;
  double x = num_decode(f, a), y = num_decode(f, b);
  if (has_mod(in, M_xorsign)) {
    out_sign = (a ^ b) & sign;
    a &= ~sign, b &= ~sign;
    x = fabs(x), y = fabs(y);
  }
  if (x != x || y != y) {
    if ((x != x && y != y) || has_mod(in, M_NaN)) return f == NUM_F64 ? nan64(a, b, 0) : num_canonical_nan(f);
    return (x != x ? b : a) | out_sign;
  }
  bool first = x == y ? (signbit(x) != 0) != max : (x < y) != max;   // −0 is below +0
  return (first ? a : b) | out_sign;
}
static inline uint64_t relu16(NumFormat f, uint64_t v) {
  return num_is_nan(f, v) ? num_canonical_nan(f) : v & 0x8000 ? 0 : v;
}
static inline uint64_t sat16(NumFormat f, uint64_t v) {
  double x = num_decode(f, v);
  return !(x > 0) ? 0 : x < 1 ? v : num_encode(f, 1, NUM_RNE, false);
}

static uint64_t scalar(const Instr *in, NumFormat f, uint64_t a, uint64_t b, uint64_t c) {
  NumRound rnd = num_round_of(in->rnd);
  unsigned width = num_format_info(f)->width;
  uint64_t sign = UINT64_C(1) << (width - 1);
  if (in->ftz && f == NUM_F32) {
    a = num_bits_f32(flush(f32(a))), b = num_bits_f32(flush(f32(b)));
  } else if (in->ftz) {
    a = flush16(f, a), b = flush16(f, b), c = flush16(f, c);
  }
  if (f == NUM_F64) {
    double x = num_f64_bits(a), y = num_f64_bits(b), z = num_f64_bits(c), r;
    switch (in->op) {
    case OP_add: r = rnd == NUM_RNE ? x + y : num_add_f64(x, y, rnd); break;
    case OP_sub: r = rnd == NUM_RNE ? x - y : num_add_f64(x, -y, rnd); break;
    case OP_mul: r = rnd == NUM_RNE ? x * y : num_mul_f64(x, y, rnd); break;
    case OP_div: r = rnd == NUM_RNE ? x / y : num_div_f64(x, y, rnd); break;
    case OP_fma: case OP_mad: r = rnd == NUM_RNE ? fma(x, y, z) : num_fma_f64(x, y, z, rnd); break;
    case OP_min: case OP_max: return min_max(f, a, b, in);
    case OP_abs: return a & ~sign;
    default: return x != x ? a : a ^ sign;
    }
    return r != r ? nan64(a, in->num_ops > 2 ? b : 0, in->num_ops > 3 ? c : 0) : num_bits_f64(r);
  }
  uint64_t r;
  switch (in->op) {
  case OP_add: r = num_add(f, a, b, rnd, in->ftz); break;
  case OP_sub: r = num_is_nan(f, b) ? num_canonical_nan(f) : num_add(f, a, b ^ sign, rnd, in->ftz); break;
  case OP_mul: r = num_mul(f, a, b, rnd, in->ftz); break;
  case OP_fma: case OP_mad: r = num_fma(f, a, b, c, rnd, in->ftz); break;
  case OP_min: case OP_max: r = min_max(f, a, b, in); break;
  case OP_abs: r = num_is_nan(f, a) ? num_canonical_nan(f) : a & ~sign; break;
  default: r = num_is_nan(f, a) ? num_canonical_nan(f) : a ^ sign; break;
  }
  if (in->ftz && f == NUM_F16 && (in->op == OP_mul || in->op == OP_fma)) {
    double exact = num_decode(f, a) * num_decode(f, b);
    if (in->op == OP_fma) exact = num_add_odd(exact, num_decode(f, c));
    if (fabs(num_decode(f, num_encode(f, exact * 0x1p14, rnd, false))) < 1) r &= sign;
  }
  if (in->sat) r = sat16(f, r);
  if (has_mod(in, M_relu)) r = relu16(f, r);
  return r;
}

static ExecResult op_scalar(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t *d = dst_at(w, in);
  const uint64_t *a = src_at(w, in, 1), *b = in->num_ops > 2 ? src_at(w, in, 2) : a,
                 *c = in->num_ops > 3 ? src_at(w, in, 3) : a;
  PtxType t = in->type[0];
  NumFormat f = num_format_of(t);
  uint64_t keep = width_mask(num_format_info(f)->width);
  if (is_packed(t)) {
    FOR_LANES(l, mask)
      d[l] = scalar(in, f, a[l] & 0xffff, b[l] & 0xffff, c[l] & 0xffff) |
             scalar(in, f, a[l] >> 16 & 0xffff, b[l] >> 16 & 0xffff, c[l] >> 16 & 0xffff) << 16;
  } else {
    FOR_LANES(l, mask) d[l] = scalar(in, f, a[l] & keep, b[l] & keep, c[l] & keep);
  }
  return EXEC_NEXT;
}

bool decode_float(PtxParser *p, Instr *in) {
  uint32_t srcs = in->op == OP_fma || in->op == OP_mad ? 3 : in->op == OP_abs || in->op == OP_neg ? 1 : 2;
  if (!decode_regs(p, in, srcs) || in->num_types != 1) return false;
  PtxType t = in->type[0];
  if (t != T_F32 && t != T_F64 && t != T_F16 && t != T_F16X2 && t != T_BF16 && t != T_BF16X2) return false;
  in->exec = op_scalar;
  if (in->op == OP_div) {
    if (t == T_F64) return in->rnd != RND_NONE;
    if (t != T_F32 || (in->rnd == RND_NONE && !has_mod(in, M_approx) && !has_mod(in, M_full))) return false;
    in->exec = has_mod(in, M_approx) || has_mod(in, M_full) ? op_div_approx
               : in->rnd > RND_RN || in->ftz                ? op_div_f32_slow
                                                            : op_div_f32;
    return true;
  }
  if (t == T_F64) return (srcs != 3 || in->rnd != RND_NONE) && !in->ftz && !in->sat;
  if (t != T_F32) return in->rnd == RND_NONE || in->rnd == RND_RN;
  bool plain = in->rnd <= RND_RN && !in->ftz && !in->sat;
  switch (in->op) {
  case OP_add: in->exec = plain ? op_add_f32 : op_add_f32_slow; break;
  case OP_sub: in->exec = plain ? op_sub_f32 : op_sub_f32_slow; break;
  case OP_mul: in->exec = plain ? op_mul_f32 : op_mul_f32_slow; break;
  case OP_fma:
  case OP_mad: in->exec = plain ? op_fma_f32 : op_fma_f32_slow; return in->op == OP_mad || in->rnd != RND_NONE;
  default: break;
  }
  return true;
}
bool decode_fma(PtxParser *p, Instr *in) {
  return in->num_types && ptx_types[in->type[0]].cls == CLASS_FLOAT && decode_float(p, in);
}

// ------------------------------------------------------------------------------------------- approximate functions

static double transcendental(unsigned op, double x) {
  switch (op) {
  case OP_rcp: return 1 / x;
  case OP_sqrt: return sqrt(x);
  case OP_rsqrt: return 1 / sqrt(x);
  case OP_sin: return sin(x);
  case OP_cos: return cos(x);
  case OP_lg2: return log2(x);
  case OP_ex2: return exp2(x);
  default: return tanh(x);
  }
}
// One 16-bit value. Multiplication by one flushes subnormals where the instruction does.
static uint64_t transcendental_16(unsigned op, NumFormat f, uint64_t bits, bool ftz) {
  uint64_t one = num_encode(f, 1, NUM_RNE, false);
  if (ftz) bits = num_mul(f, bits, one, NUM_RNE, true);
  uint64_t r = num_encode(f, transcendental(op, num_decode(f, bits)), NUM_RNE, false);
  return ftz ? num_mul(f, r, one, NUM_RNE, true) : r;
}
static ExecResult op_transcendental(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t *d = dst_at(w, in);
  const uint64_t *a = src_at(w, in, 1);
  PtxType t = in->type[0];
  NumFormat f = num_format_of(t);
  NumRound rnd = num_round_of(in->rnd);
  FOR_LANES(l, mask) {
    if (t == T_F32) {
      float x = in->ftz ? flush(f32(a[l])) : f32(a[l]), r;
      if (in->rnd && in->op == OP_rcp) r = rnd == NUM_RNE ? 1.0f / x : num_div_f32(1, x, rnd, in->ftz);
      else if (in->rnd) r = rnd == NUM_RNE ? sqrtf(x) : num_sqrt_f32(x, rnd, in->ftz);
      else r = approximate(w, in->op, x, 0, transcendental(in->op, x));
      d[l] = b32(in->ftz ? flush(r) : r);
    } else if (t == T_F64) {
      double x = num_f64_bits(a[l]), r;
      if (in->rnd > RND_RN) r = in->op == OP_rcp ? num_div_f64(1, x, rnd) : num_sqrt_f64(x, rnd);
      else r = transcendental(in->op, x);
      if (r != r) {
        d[l] = nan64(a[l], 0, 0);
        continue;
      }
      if (!in->rnd) {   // the approximate double forms keep only the upper 32 bits' worth of fraction
        if (in->ftz && fabs(x) < 0x1p-1022) r = transcendental(in->op, copysign(0, x));
        r = num_f64_bits(num_bits_f64(r) & ~UINT64_C(0xffffffff));
      }
      d[l] = num_bits_f64(r);
    } else {
      uint64_t lo = transcendental_16(in->op, f, a[l] & 0xffff, in->ftz);
      uint64_t hi = is_packed(t) ? transcendental_16(in->op, f, a[l] >> 16 & 0xffff, in->ftz) : 0;
      d[l] = hi << 16 | lo;
    }
  }
  return EXEC_NEXT;
}
bool decode_transcendental(PtxParser *p, Instr *in) {
  if (!decode_regs(p, in, 1) || in->num_types != 1) return false;
  PtxType t = in->type[0];
  bool approx = has_mod(in, M_approx),
       small = ptx_types[t].cls == CLASS_FLOAT && (ptx_types[t].bits == 16 || is_packed(t));
  in->exec = op_transcendental;
  if (in->op == OP_rcp || in->op == OP_sqrt)
    return approx != (in->rnd != RND_NONE) && (t == T_F32 || (t == T_F64 && !(approx && in->op == OP_sqrt)));
  if (!approx || in->rnd) return false;
  if (in->op == OP_rsqrt) return t == T_F32 || t == T_F64;
  return t == T_F32 || (small && (in->op == OP_ex2 || in->op == OP_tanh));
}

// The sign of a, the magnitude of b.
BINARY(op_copysign_32, uint32_t, uint32_t, (a & 1u << 31) | (b & INT32_MAX))
BINARY(op_copysign_64, uint64_t, uint64_t, (a & UINT64_C(1) << 63) | (b & INT64_MAX))
bool decode_copysign(PtxParser *p, Instr *in) {
  in->exec = in->type[0] == T_F64 ? op_copysign_64 : op_copysign_32;
  return decode_regs(p, in, 2) && (in->type[0] == T_F32 || in->type[0] == T_F64);
}

static ExecResult op_testp(Warp *w, const Instr *in, uint32_t mask) {
  const uint64_t *a = src_at(w, in, 1);
  uint32_t out = 0;
  FOR_LANES(l, mask) {
    int c = in->type[0] == T_F32 ? fpclassify(f32(a[l])) : fpclassify(num_f64_bits(a[l]));
    bool v;
    switch (in->sel) {
    case M_finite: v = c != FP_NAN && c != FP_INFINITE; break;
    case M_infinite: v = c == FP_INFINITE; break;
    case M_number: v = c != FP_NAN; break;
    case M_notanumber: v = c == FP_NAN; break;
    case M_normal: v = c == FP_NORMAL || c == FP_ZERO; break;
    default: v = c == FP_SUBNORMAL; break;
    }
    out |= (uint32_t)v << l;
  }
  set_pred(w, &in->ops[0], mask, out);
  return EXEC_NEXT;
}
bool decode_testp(PtxParser *p, Instr *in) {
  if (!in->num_mods || !decode_operands(p, in, "Ps")) return false;
  in->sel = in->mods[0];
  in->exec = op_testp;
  return in->sel >= M_finite && in->sel <= M_subnormal && (in->type[0] == T_F32 || in->type[0] == T_F64);
}

// -------------------------------------------------------------------------------------------- comparison, selection

static inline bool compare_f(double a, double b, unsigned cmp) {
  if (a != a || b != b) return cmp == CMP_NAN || (cmp & CMP_UNORDERED);
  switch (cmp & 7) {
  case CMP_EQ: return a == b;
  case CMP_NE: return a != b;
  case CMP_LT: return a < b;
  case CMP_LE: return a <= b;
  case CMP_GT: return a > b;
  case CMP_GE: return a >= b;
  default: return cmp == CMP_NUM;
  }
}
#define COMPARE(T)                                                                                       \
  switch (in->cmp) {                                                                                     \
  case CMP_EQ: LANES(l, mask, out[l] = (T)a[l] == (T)b[l];); break;                                      \
  case CMP_NE: LANES(l, mask, out[l] = (T)a[l] != (T)b[l];); break;                                      \
  case CMP_LT: LANES(l, mask, out[l] = (T)a[l] < (T)b[l];); break;                                       \
  case CMP_LE: LANES(l, mask, out[l] = (T)a[l] <= (T)b[l];); break;                                      \
  case CMP_GT: LANES(l, mask, out[l] = (T)a[l] > (T)b[l];); break;                                       \
  default: LANES(l, mask, out[l] = (T)a[l] >= (T)b[l];); break;                                          \
  }

// Lane mask of a cmp b; for packed types *high gets the upper halves'.
static uint32_t compare(Warp *w, const Instr *in, const PtxOperand *x, const PtxOperand *y, PtxType t, uint32_t mask,
                        uint32_t *high) {
  const uint64_t *a = src_row(w, x), *b = src_row(w, y);
  uint8_t out[WARP_SIZE] = {0};
  uint32_t r = 0;
  if (ptx_types[t].cls == CLASS_FLOAT) {
    NumFormat f = num_format_of(t);
    *high = 0;
    FOR_LANES(l, mask) {
      if (t == T_F32) {
        float u = f32(a[l]), v = f32(b[l]);
        if (in->ftz) u = flush(u), v = flush(v);
        out[l] = compare_f(u, v, in->cmp);
      } else {
        out[l] = compare_f(num_decode(f, a[l]), num_decode(f, b[l]), in->cmp);
        if (is_packed(t))
          *high |= (uint32_t)compare_f(num_decode(f, a[l] >> 16), num_decode(f, b[l] >> 16), in->cmp) << l;
      }
    }
  } else {
    bool s = ptx_types[t].cls == CLASS_SINT;
    switch (ptx_types[t].bits) {
    case 16: if (s) { COMPARE(int16_t) } else { COMPARE(uint16_t) } break;
    case 32: if (s) { COMPARE(int32_t) } else { COMPARE(uint32_t) } break;
    default: if (s) { COMPARE(int64_t) } else { COMPARE(uint64_t) } break;
    }
  }
  FOR_LANES(l, mask) r |= (uint32_t)out[l] << l;
  return r;
}
static inline uint32_t combine(uint32_t v, uint32_t c, unsigned boolop) {
  return boolop == BOOL_AND ? v & c : boolop == BOOL_OR ? v | c : boolop == BOOL_XOR ? v ^ c : v;
}

static ExecResult op_setp(Warp *w, const Instr *in, uint32_t mask) {
  uint32_t high = 0, v = compare(w, in, &in->ops[1], &in->ops[2], in->type[0], mask, &high);
  uint32_t c = in->num_ops > 3 ? src_pred(w, &in->ops[3]) : 0;
  if (!is_packed(in->type[0])) high = ~v;
  set_pred(w, &in->ops[0], mask, combine(v, c, in->boolop));
  if (in->ops[0].pair) set_pred(w, in->ops[0].pair, mask, combine(high, c, in->boolop));
  return EXEC_NEXT;
}
static ExecResult op_set(Warp *w, const Instr *in, uint32_t mask) {
  uint32_t high = 0, v = compare(w, in, &in->ops[1], &in->ops[2], in->type[1], mask, &high);
  uint32_t c = in->num_ops > 3 ? src_pred(w, &in->ops[3]) : 0;
  v = combine(v, c, in->boolop), high = combine(high, c, in->boolop);
  uint64_t *d = dst_at(w, in), yes;
  PtxType t = in->type[0];
  switch (t) {
  case T_F32: yes = 0x3f800000; break;
  case T_F16: case T_F16X2: yes = 0x3c00; break;
  case T_BF16: case T_BF16X2: yes = 0x3f80; break;
  default: yes = is_packed(in->type[1]) ? 0xffff : width_mask(ptx_types[t].bits); break;
  }
  FOR_LANES(l, mask) {
    d[l] = v >> l & 1 ? yes : 0;
    if (is_packed(in->type[1]) && (high >> l & 1)) d[l] |= yes << 16;
  }
  return EXEC_NEXT;
}
bool decode_setp(PtxParser *p, Instr *in) {
  bool set = in->op == OP_set;
  if (!decode_want_type(p, in, set ? 2 : 1) || !decode_operands(p, in, in->boolop ? ".ssp" : ".ss")) return false;
  PtxType t = in->type[set ? 1 : 0];
  if (has_mod(in, M_lo)) in->cmp = CMP_LT;
  if (has_mod(in, M_hi)) in->cmp = CMP_GT;
  if (ptx_types[t].bits < 16 || ptx_types[t].bits > 64) return false;
  if (ptx_types[t].cls != CLASS_FLOAT && (in->cmp & CMP_UNORDERED || in->cmp >= CMP_NUM)) return false;
  in->exec = set ? op_set : op_setp;
  if (set) return decode_operand(p, in, 0, 'd');
  if (in->ops[0].kind != OPND_PRED && in->ops[0].kind != OPND_SINK) return decode_operand(p, in, 0, 'P');
  return !in->ops[0].pair || in->ops[0].pair->kind == OPND_PRED || in->ops[0].pair->kind == OPND_SINK;
}

static ExecResult op_selp(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t *d = dst_at(w, in), keep = width_mask(ptx_types[in->type[0]].bits);
  const uint64_t *a = src_at(w, in, 1), *b = src_at(w, in, 2);
  uint32_t c = src_pred(w, &in->ops[3]);
  LANES(l, mask, d[l] = (c >> l & 1 ? a[l] : b[l]) & keep;);
  return EXEC_NEXT;
}
bool decode_selp(PtxParser *p, Instr *in) {
  in->exec = op_selp;
  return decode_want_type(p, in, 1) && decode_operands(p, in, "dssp") && ptx_types[in->type[0]].bits >= 16;
}

static ExecResult op_slct(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t *d = dst_at(w, in), keep = width_mask(ptx_types[in->type[0]].bits);
  const uint64_t *a = src_at(w, in, 1), *b = src_at(w, in, 2), *c = src_at(w, in, 3);
  FOR_LANES(l, mask) {
    bool first = in->type[1] == T_S32 ? (int32_t)c[l] >= 0 : (in->ftz ? flush(f32(c[l])) : f32(c[l])) >= 0;
    d[l] = (first ? a[l] : b[l]) & keep;
  }
  return EXEC_NEXT;
}
bool decode_slct(PtxParser *p, Instr *in) {
  in->exec = op_slct;
  return decode_regs(p, in, 3) && in->num_types == 2 && (in->type[1] == T_S32 || in->type[1] == T_F32);
}
