// Exact scalar arithmetic. One rounding routine serves every format: a value is a sign, a 64-bit mantissa, an exponent
// and a sticky bit for what lies below, and round_parts makes the target's bits of it. Sums, quotients and roots first
// become a double rounded to odd. That keeps enough to round once more, to 51 bits or fewer, without a second error.
#include "ir/num.h"

#include <fenv.h>
#include <math.h>

static const NumFormatInfo formats[NUM_FORMAT_COUNT] = {
  [NUM_F64] = {64, 11, 52, 0, 1023, true, true, true, 0x1.fffffffffffffp1023},
  [NUM_F32] = {32, 8, 23, 0, 127, true, true, true, 0x1.fffffep127},
  [NUM_TF32] = {32, 8, 10, 13, 127, true, true, true, 0x1.ffcp127},
  [NUM_F16] = {16, 5, 10, 0, 15, true, true, true, 65504.0},
  [NUM_BF16] = {16, 8, 7, 0, 127, true, true, true, 0x1.fep127},
  [NUM_F8E4M3] = {8, 4, 3, 0, 7, true, false, true, 448.0},
  [NUM_F8E5M2] = {8, 5, 2, 0, 15, true, true, true, 57344.0},
  [NUM_F8E4B15] = {8, 4, 3, 0, 15, true, false, false, 1.875},
  [NUM_E8M0] = {8, 8, 0, 0, 127, false, false, true, 0x1p127},
  [NUM_E2M1] = {4, 2, 1, 0, 1, true, false, false, 6.0},
};

const NumFormatInfo *num_format_info(NumFormat f) { return &formats[f]; }

static uint64_t mask_bits(unsigned n) { return n >= 64 ? ~0ull : (1ull << n) - 1; }

uint64_t num_canonical_nan(NumFormat f) {
  const NumFormatInfo *i = &formats[f];
  return mask_bits(i->exp_bits + i->man_bits) << i->low_zeros;
}

// E8M0 has no zero: its exponent field 0 is 2^-127, with no subnormals.
static int min_exp_field(NumFormat f) { return f == NUM_E8M0 ? 0 : 1; }

double num_decode(NumFormat f, uint64_t bits) {
  const NumFormatInfo *i = &formats[f];
  if (f == NUM_F64) return num_f64_bits(bits);
  if (f == NUM_F32) return (double)num_f32_bits((uint32_t)bits);
  bits = num_zext(bits, i->width) >> i->low_zeros;
  bool neg = i->has_sign && (bits >> (i->exp_bits + i->man_bits) & 1);
  uint64_t man = bits & mask_bits(i->man_bits);
  uint64_t exp = bits >> i->man_bits & mask_bits(i->exp_bits);
  double v;
  if (exp == mask_bits(i->exp_bits) && i->has_inf) v = man ? NAN : INFINITY;
  else if (exp == mask_bits(i->exp_bits) && i->has_nan && man == mask_bits(i->man_bits)) v = NAN;
  else if ((int)exp < min_exp_field(f)) v = ldexp((double)man, 1 - i->bias - i->man_bits);
  else v = ldexp((double)(man | 1ull << i->man_bits), (int)exp - i->bias - i->man_bits);
  return neg ? -v : v;
}

bool num_is_nan(NumFormat f, uint64_t bits) { return isnan(num_decode(f, bits)); }

static bool round_away(NumRound r, bool neg, bool odd, bool half, bool rest) {
  switch (r) {
  case NUM_RNE: return half && (rest || odd);
  case NUM_RNA: return half;
  case NUM_RTZ: return false;
  case NUM_RDN: return neg && (half || rest);
  case NUM_RUP: return !neg && (half || rest);
  }
  return false;
}

static uint64_t overflow_bits(NumFormat f, bool neg, NumRound r, bool saturate) {
  const NumFormatInfo *i = &formats[f];
  uint64_t sign = neg ? 1ull << (i->exp_bits + i->man_bits) : 0;
  uint64_t top = mask_bits(i->exp_bits) << i->man_bits;  // infinity where there is one
  uint64_t max = i->has_inf   ? top - 1
                 : i->has_nan ? num_canonical_nan(f) >> i->low_zeros
                              : top | mask_bits(i->man_bits);
  if (!i->has_inf && i->has_nan) max -= 1;
  bool to_max = r == NUM_RTZ || (r == NUM_RDN && !neg) || (r == NUM_RUP && neg);
  uint64_t v = saturate || to_max || (!i->has_inf && !i->has_nan) ? max
               : i->has_inf                                       ? top
                                                                  : num_canonical_nan(f) >> i->low_zeros;
  return (v | sign) << i->low_zeros;
}

// Bits of (-1)^neg * (man * 2^exp + something in (0, 2^exp) if sticky) in format f.
static uint64_t round_parts(NumFormat f, bool neg, uint64_t man, int exp, bool sticky, NumRound r, bool saturate) {
  const NumFormatInfo *i = &formats[f];
  if (!i->has_sign && neg) return num_canonical_nan(f);
  uint64_t sign = neg ? 1ull << (i->exp_bits + i->man_bits) : 0;
  int min_exp = min_exp_field(f) - i->bias;  // exponent of the smallest normal number
  if (man == 0 && !sticky) return f == NUM_E8M0 ? 0 : sign << i->low_zeros;
  if (man != 0) {
    int shift = __builtin_clzll(man);
    man <<= shift;
    exp -= shift;
  }
  int e = exp + 63;  // value is 1.x * 2^e when man's top bit is set
  int lsb = (man == 0 || e < min_exp ? min_exp : e) - i->man_bits;  // weight of the result's last bit
  int drop = lsb - exp;                                             // at least 63 - man_bits - … > 0 for all formats
  uint64_t kept;
  bool half, rest;
  if (drop > 64) kept = 0, half = false, rest = man != 0 || sticky;
  else if (drop == 64) kept = 0, half = man >> 63, rest = (man << 1) != 0 || sticky;
  else kept = man >> drop, half = man >> (drop - 1) & 1, rest = (man & mask_bits((unsigned)drop - 1)) != 0 || sticky;
  if (round_away(r, neg, kept & 1, half, rest)) kept++;
  int field = lsb + i->man_bits + i->bias;  // exponent field of a number whose leading bit is bit man_bits of kept
  if (kept >> (i->man_bits + 1)) kept >>= 1, field++;
  if (kept >> i->man_bits == 0) {
    if (f == NUM_E8M0) return 0;
    field = 0;
  }
  uint64_t bits = (uint64_t)(field < 0 ? 0 : field) << i->man_bits | (kept & mask_bits(i->man_bits));
  uint64_t limit = i->has_inf   ? mask_bits(i->exp_bits) << i->man_bits
                   : i->has_nan ? num_canonical_nan(f) >> i->low_zeros
                                : mask_bits(i->exp_bits + i->man_bits) + 1;
  if (bits >= limit) return overflow_bits(f, neg, r, saturate);
  return (bits | sign) << i->low_zeros;
}

uint64_t num_encode(NumFormat f, double x, NumRound r, bool saturate) {
  const NumFormatInfo *i = &formats[f];
  uint64_t u = num_bits_f64(x);
  bool neg = u >> 63;
  if (isnan(x)) return i->has_nan ? num_canonical_nan(f) : 0;
  if (isinf(x)) return !i->has_sign && neg ? num_canonical_nan(f) : overflow_bits(f, neg, NUM_RNE, saturate);
  if (f == NUM_F64) return u;
  int field = (int)(u >> 52 & 0x7ff);
  uint64_t man = u & mask_bits(52);
  if (field) man |= 1ull << 52;
  else field = 1;
  return round_parts(f, neg, man, field - 1023 - 52, false, r, saturate);
}

uint64_t num_encode_f32(NumFormat f, float x, NumRound r, bool saturate) {
  return num_encode(f, (double)x, r, saturate);
}

uint64_t num_encode_u64(NumFormat f, uint64_t x, NumRound r, bool saturate) {
  return round_parts(f, false, x, 0, false, r, saturate);
}
uint64_t num_encode_i64(NumFormat f, int64_t x, NumRound r, bool saturate) {
  bool neg = x < 0;
  return round_parts(f, neg, neg ? 0 - (uint64_t)x : (uint64_t)x, 0, false, r, saturate);
}

double num_round_to_integral(double x, NumRound r) {
  if (!isfinite(x)) return x;
  double t = trunc(x), frac = fabs(x - t);  // exact: t has the same or a smaller exponent
  if (frac == 0) return x;
  bool away = round_away(r, x < 0, fmod(t, 2) != 0, frac >= 0.5, frac != 0.5);
  return copysign(away ? fabs(t) + 1 : fabs(t), x);
}

uint64_t num_to_int(double x, unsigned width, bool is_signed, NumRound r, bool nan_is_min) {
  if (isnan(x)) {
    uint64_t v = nan_is_min ? 1ull << (width - 1) : 0;
    return is_signed ? (uint64_t)num_sext(v, width) : v;
  }
  x = num_round_to_integral(x, r);
  double top = ldexp(1.0, (int)width - (is_signed ? 1 : 0));
  if (is_signed) {
    if (x >= top) return mask_bits(width - 1);
    if (x < -top) return (uint64_t)num_sext(1ull << (width - 1), width);
    return (uint64_t)(int64_t)x;
  }
  if (x >= top) return mask_bits(width);
  return x <= 0 ? 0 : (uint64_t)x;
}

// s rounded to odd: s is the nearest double to a value that lies off s in the direction of err (err 0: it is s).
static double fix_odd(double s, double err) {
  if (err == 0 || !isfinite(s) || (num_bits_f64(s) & 1)) return s;
  return nextafter(s, err > 0 ? INFINITY : -INFINITY);
}

double num_add_odd(double a, double b) {
  double s = a + b;
  if (!isfinite(s)) return s;
  double bb = s - a;
  return fix_odd(s, (a - (s - bb)) + (b - bb));
}

static uint64_t flush(NumFormat f, uint64_t bits, bool ftz) {
  const NumFormatInfo *i = &formats[f];
  uint64_t mag = mask_bits(i->exp_bits + i->man_bits) << i->low_zeros;
  uint64_t exp = mask_bits(i->exp_bits) << (i->man_bits + i->low_zeros);
  return ftz && (bits & exp) == 0 ? bits & ~mag & mask_bits(i->width) : bits;
}

static double operand(NumFormat f, uint64_t bits, bool ftz) { return num_decode(f, flush(f, bits, ftz)); }
static uint64_t result(NumFormat f, double x, NumRound r, bool ftz) {
  return flush(f, num_encode(f, x, r, false), ftz);
}

// An exact zero sum of operands of opposite sign is -0 only when rounding down.
static double zero_sum(double s, double a, double b, NumRound r) {
  return s == 0 && signbit(a) != signbit(b) ? (r == NUM_RDN ? -0.0 : 0.0) : s;
}

uint64_t num_add(NumFormat f, uint64_t a, uint64_t b, NumRound r, bool ftz) {
  double x = operand(f, a, ftz), y = operand(f, b, ftz);
  return result(f, zero_sum(num_add_odd(x, y), x, y, r), r, ftz);
}
uint64_t num_mul(NumFormat f, uint64_t a, uint64_t b, NumRound r, bool ftz) {
  return result(f, operand(f, a, ftz) * operand(f, b, ftz), r, ftz);
}
uint64_t num_fma(NumFormat f, uint64_t a, uint64_t b, uint64_t c, NumRound r, bool ftz) {
  double p = operand(f, a, ftz) * operand(f, b, ftz), z = operand(f, c, ftz);
  return result(f, zero_sum(num_add_odd(p, z), p, z, r), r, ftz);
}
uint64_t num_div(NumFormat f, uint64_t a, uint64_t b, NumRound r, bool ftz) {
  double x = operand(f, a, ftz), y = operand(f, b, ftz), q = x / y;
  if (isfinite(q) && isfinite(y) && y != 0) {
    double rem = fma(-q, y, x);  // exact; the true quotient is q + rem / y
    q = fix_odd(q, signbit(y) ? -rem : rem);
  }
  return result(f, q, r, ftz);
}
uint64_t num_sqrt(NumFormat f, uint64_t a, NumRound r, bool ftz) {
  double x = operand(f, a, ftz), s = sqrt(x);
  if (isfinite(s) && s != 0) s = fix_odd(s, fma(-s, s, x));
  return result(f, s, r, ftz);
}

#define F32_BITS(x) num_bits_f32(x)
static float f32(uint64_t bits) { return num_f32_bits((uint32_t)bits); }
float num_ftz_f32(float a) { return f32(flush(NUM_F32, F32_BITS(a), true)); }
float num_add_f32(float a, float b, NumRound r, bool ftz) {
  return f32(num_add(NUM_F32, F32_BITS(a), F32_BITS(b), r, ftz));
}
float num_sub_f32(float a, float b, NumRound r, bool ftz) {
  return f32(num_add(NUM_F32, F32_BITS(a), F32_BITS(b) ^ 0x80000000u, r, ftz));
}
float num_mul_f32(float a, float b, NumRound r, bool ftz) {
  return f32(num_mul(NUM_F32, F32_BITS(a), F32_BITS(b), r, ftz));
}
float num_fma_f32(float a, float b, float c, NumRound r, bool ftz) {
  return f32(num_fma(NUM_F32, F32_BITS(a), F32_BITS(b), F32_BITS(c), r, ftz));
}
float num_div_f32(float a, float b, NumRound r, bool ftz) {
  return f32(num_div(NUM_F32, F32_BITS(a), F32_BITS(b), r, ftz));
}
float num_sqrt_f32(float a, NumRound r, bool ftz) { return f32(num_sqrt(NUM_F32, F32_BITS(a), r, ftz)); }

// F64 uses the host's floating-point unit in the mode that r asks for. The volatile operands keep the operation between
// the changes of mode.
static int host_mode(NumRound r) {
  return r == NUM_RTZ ? FE_TOWARDZERO : r == NUM_RDN ? FE_DOWNWARD : r == NUM_RUP ? FE_UPWARD : FE_TONEAREST;
}
typedef enum { HOST_ADD, HOST_MUL, HOST_FMA, HOST_DIV, HOST_SQRT } HostOp;
static double host_op(HostOp op, double a, double b, double c, NumRound r) {
  volatile double x = a, y = b, z = c, v = 0;
  int old = fegetround();
  fesetround(host_mode(r));
  switch (op) {
  case HOST_ADD: v = x + y; break;
  case HOST_MUL: v = x * y; break;
  case HOST_FMA: v = fma(x, y, z); break;
  case HOST_DIV: v = x / y; break;
  case HOST_SQRT: v = sqrt(x); break;
  }
  fesetround(old);
  return isnan(v) ? num_f64_bits(num_canonical_nan(NUM_F64)) : v;
}
double num_add_f64(double a, double b, NumRound r) { return host_op(HOST_ADD, a, b, 0, r); }
double num_mul_f64(double a, double b, NumRound r) { return host_op(HOST_MUL, a, b, 0, r); }
double num_fma_f64(double a, double b, double c, NumRound r) { return host_op(HOST_FMA, a, b, c, r); }
double num_div_f64(double a, double b, NumRound r) { return host_op(HOST_DIV, a, b, 0, r); }
double num_sqrt_f64(double a, NumRound r) { return host_op(HOST_SQRT, a, 0, 0, r); }
