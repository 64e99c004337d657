// Tensor-core arithmetic and data placement. All fragments of sm_80 to sm_90 follow one rule: with g = lane / 4 and
// t = lane % 4, a register holds consecutive elements along K (A, B) or columns (D) starting at t times their number;
// register numbers step first over the 8-row groups of M, then over K.
//
// Floating sums: the products and the accumulator of one block are aligned to the largest exponent among them, each is
// truncated towards zero at `fraction` bits below it, they are added exactly, and the sum is truncated to the result's
// precision (rounded to nearest even for f16 results). This is the model of arXiv 2512.07004 and arXiv 2511.10909; its
// parameters for Hopper are in sum_model().
#include "runtime/sim/mma.h"

#include <math.h>
#include <string.h>

#include "ir/base.h"

static const MmaTypeInfo types[MMA_TYPE_COUNT] = {
  [MMA_F16] = {"f16", 16, true, true, NUM_F16},     [MMA_BF16] = {"bf16", 16, true, true, NUM_BF16},
  [MMA_TF32] = {"tf32", 32, true, true, NUM_TF32},  [MMA_E4M3] = {"e4m3", 8, true, true, NUM_F8E4M3},
  [MMA_E5M2] = {"e5m2", 8, true, true, NUM_F8E5M2}, [MMA_F64] = {"f64", 64, true, true, NUM_F64},
  [MMA_F32] = {"f32", 32, true, true, NUM_F32},     [MMA_S8] = {"s8", 8, false, true, 0},
  [MMA_U8] = {"u8", 8, false, false, 0},            [MMA_S4] = {"s4", 4, false, true, 0},
  [MMA_U4] = {"u4", 4, false, false, 0},            [MMA_S32] = {"s32", 32, false, true, 0},
};
const MmaTypeInfo *mma_type_info(MmaType t) { return &types[t]; }

static bool is_fp8(MmaType t) { return t == MMA_E4M3 || t == MMA_E5M2; }
static bool is_int8(MmaType t) { return t == MMA_S8 || t == MMA_U8; }
static bool is_int4(MmaType t) { return t == MMA_S4 || t == MMA_U4; }

static bool mma_d_fits(const MmaSpec *s) {
  switch (s->a) {
  case MMA_F16: case MMA_E4M3: case MMA_E5M2: return s->d == MMA_F16 || s->d == MMA_F32;
  case MMA_BF16: case MMA_TF32: return s->d == MMA_F32;
  case MMA_F64: return s->d == MMA_F64;
  default: return s->d == MMA_S32;
  }
}

const char *mma_spec_error(const MmaSpec *s) {
  bool mixed_ok = (is_fp8(s->a) && is_fp8(s->b)) || (is_int8(s->a) && is_int8(s->b)) ||
                  (is_int4(s->a) && is_int4(s->b));
  if (s->a != s->b && !mixed_ok) return "the types of A and B do not go together";
  if (s->a == MMA_F32 || s->a == MMA_S32) return "A and B cannot have an accumulator's type";
  if (!mma_d_fits(s)) return "the type of D does not go with A's";
  if (s->saturate && s->d != MMA_S32) return ".satfinite needs an s32 accumulator";
  unsigned width = types[s->a].bits;
  if (s->wgmma) {
    if (s->m != 64) return "wgmma has M = 64";
    if (s->a == MMA_F64 || is_int4(s->a)) return "wgmma has no such operand type";
    if (s->k * width != 256) return "wgmma's K is 32 bytes of A";
    if (s->n < 8 || s->n > 256 || s->n % 8) return "wgmma's N is a multiple of 8 from 8 to 256";
    if (is_int8(s->a) && s->n > 24 && s->n % 16) return "wgmma's N on integers is 8, 16, 24 or a multiple of 16";
    return NULL;
  }
  if (s->n != 8) return "mma.sync has N = 8";
  if (s->m != 16 && s->m != 8) return "mma.sync has M = 8 or 16";
  bool ok;
  if (s->a == MMA_F64) ok = s->m == 8 ? s->k == 4 : s->k == 4 || s->k == 8 || s->k == 16;
  else if (s->m == 8) ok = (is_int8(s->a) && s->k == 16) || (is_int4(s->a) && s->k == 32);
  else ok = s->k * width == 256 || s->k * width == 128;
  return ok ? NULL : "mma.sync has no such shape for this type";
}

unsigned mma_per_register(MmaType t) { return types[t].bits == 64 ? 1 : 32 / types[t].bits; }

static unsigned warp_rows(const MmaSpec *s) { return s->wgmma ? 16 : s->m; }
unsigned mma_a_registers(const MmaSpec *s) { return warp_rows(s) * s->k / (32 * mma_per_register(s->a)); }
unsigned mma_b_registers(const MmaSpec *s) { return s->n * s->k / (32 * mma_per_register(s->b)); }
unsigned mma_d_registers(const MmaSpec *s) { return warp_rows(s) * s->n / (32 * mma_per_register(s->d)); }

MmaCoord mma_a_coord(const MmaSpec *s, unsigned lane, unsigned reg, unsigned e) {
  unsigned groups = warp_rows(s) / 8, per = mma_per_register(s->a);
  return (MmaCoord){(uint16_t)(lane / 4 + 8 * (reg % groups)), (uint16_t)((reg / groups * 4 + lane % 4) * per + e)};
}
MmaCoord mma_b_coord(const MmaSpec *s, unsigned lane, unsigned reg, unsigned e) {
  return (MmaCoord){(uint16_t)((reg * 4 + lane % 4) * mma_per_register(s->b) + e), (uint16_t)(lane / 4)};
}
MmaCoord mma_d_coord(const MmaSpec *s, unsigned lane, unsigned reg, unsigned e) {
  unsigned per = mma_per_register(s->d);        // 1, or 2 for f16
  unsigned slot = reg * per + e;                // two columns per 8-row group, then the next 8 columns
  unsigned groups = warp_rows(s) / 8;
  return (MmaCoord){(uint16_t)(lane / 4 + 8 * (slot / 2 % groups)),
                    (uint16_t)(slot / (2 * groups) * 8 + lane % 4 * 2 + slot % 2)};
}
MmaCoord mma_matrix_coord(unsigned lane, unsigned e, bool transposed) {
  unsigned major = lane / 4, minor = lane % 4 * 2 + e;
  return transposed ? (MmaCoord){(uint16_t)minor, (uint16_t)major} : (MmaCoord){(uint16_t)major, (uint16_t)minor};
}

// ---- sums ----

// fraction: bits kept below the largest exponent. block: products per aligned sum; a longer K chains blocks through
// D. keep: fraction bits of an f32 result. wgmma on fp8 uses a narrower adder. (mma.sync on fp8 is not native to
// sm_90; see compute_widened.) test_sim_vectors.c compares with an H200 bit for bit.
typedef struct { int fraction, keep; unsigned block; } SumModel;
static SumModel sum_model(const MmaSpec *s) {
  if (is_fp8(s->a) && s->wgmma) return (SumModel){13, 13, 32};
  return (SumModel){25, 23, 256u / types[s->a].bits};
}

// A finite number is sig * 2^(exp - man_bits of its format); zero has sig 0. Zeros take the least exponent.
enum { ZERO_EXP = -100000, MIN_EXP = -126 };
typedef struct { int32_t sig; int32_t exp; } Part;

static bool part_of(NumFormat f, uint64_t bits, bool negate, Part *out) {
  const NumFormatInfo *i = num_format_info(f);
  bits >>= i->low_zeros;
  int32_t man = (int32_t)(bits & ((1u << i->man_bits) - 1));
  int32_t field = (int32_t)(bits >> i->man_bits & ((1u << i->exp_bits) - 1));
  bool neg = bits >> (i->man_bits + i->exp_bits) & 1;
  int32_t top = (1 << i->exp_bits) - 1;
  if (field == top && (i->has_inf || man == (1 << i->man_bits) - 1)) {
    *out = (Part){0, ZERO_EXP};
    return false;
  }
  int32_t sig = field ? man | 1 << i->man_bits : man;
  *out = (Part){neg != negate ? -sig : sig, sig ? (field ? field : 1) - i->bias : ZERO_EXP};
  return true;
}

static int64_t align(int64_t sig, int shift) {
  int64_t mag = sig < 0 ? -sig : sig;
  mag = shift >= 0 ? mag << shift : shift > -63 ? mag >> -shift : 0;
  return sig < 0 ? -mag : mag;
}

// sum * 2^exp in D's format.
static uint64_t sum_result(MmaType d, int keep, int64_t sum, int exp) {
  uint64_t mag = sum < 0 ? (uint64_t)-sum : (uint64_t)sum;
  int top = mag ? 63 - __builtin_clzll(mag) : 0, e = top + exp;
  if (d == MMA_F16 || !mag || e < -126) {
    double v = ldexp((double)sum, exp);  // exact: sums are far below 2^53 units
    return num_encode(d == MMA_F16 ? NUM_F16 : NUM_F32, v, d == MMA_F16 ? NUM_RNE : NUM_RTZ, false);
  }
  uint64_t sign = sum < 0 ? 1ull << 31 : 0;
  if (e > 127) return sign | 0x7f800000;
  uint64_t man = top > 23 ? mag >> (top - 23) : mag << (23 - top);
  return sign | (uint64_t)(e + 127) << 23 | (man & (0x7fffffu & ~0u << (23 - keep)));
}

// The sum for a row and column with an infinity or NaN, by IEEE's rules. Finite products do not contribute.
static uint64_t special_sum(const MmaSpec *s, const uint64_t *a, const uint64_t *b, double c) {
  double sum = c;
  for (unsigned k = 0; k < s->k; k++) {
    double x = num_decode(types[s->a].format, a[k]), y = num_decode(types[s->b].format, b[k]);
    double p = (s->negate_a ? -x : x) * (s->negate_b ? -y : y);
    if (!isfinite(p)) sum += p;
  }
  return num_encode(types[s->d].format, sum, NUM_RTZ, false);
}

// The two inner loops run over columns. Where the CPU can be tested at run time they are also compiled for AVX2.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define VECTORISED __attribute__((target_clones("avx2", "default")))
#else
#define VECTORISED
#endif

VECTORISED static void raise_exponents(unsigned n, int32_t ea, const int32_t *eb, int32_t *max) {
  for (unsigned j = 0; j < n; j++) max[j] = ea + eb[j] > max[j] ? ea + eb[j] : max[j];
}

// Adds the products of one k, each truncated towards zero at its column's last kept bit. Products and sums fit 32
// bits: an aligned product is below 2^27 (22 or fewer bits, moved up to the fraction), and a block has at most 16 of
// that size.
VECTORISED static void add_products(unsigned n, int32_t sa, int32_t ea, const int32_t *sb, const int32_t *eb,
                                    const int32_t *max, int up, int32_t *sum) {
  for (unsigned j = 0; j < n; j++) {
    int32_t product = sa * sb[j], down = max[j] - ea - eb[j];
    uint32_t mag = (uint32_t)(product < 0 ? -product : product) << up;
    mag >>= down > 31 ? 31 : down;
    sum[j] += product < 0 ? -(int32_t)mag : (int32_t)mag;
  }
}

static void compute_float(const MmaSpec *s, unsigned rows, const uint64_t *a, const uint64_t *b, uint64_t *d,
                          bool use_c) {
  enum { MAX_K = 32, MAX_N = 256 };
  int32_t sig_b[MAX_K][MAX_N], exp_b[MAX_K][MAX_N], max[MAX_N], sum[MAX_N];
  Part c[MAX_N], part;
  bool fin_b[MAX_N], fin_c[MAX_N];
  NumFormat fa = types[s->a].format, fb = types[s->b].format, fd = types[s->d].format;
  SumModel model = sum_model(s);
  unsigned K = s->k, N = s->n, block = model.block < K ? model.block : K;
  int up = model.fraction - num_format_info(fa)->man_bits - num_format_info(fb)->man_bits;
  int up_c = model.fraction - num_format_info(fd)->man_bits;
  for (unsigned j = 0; j < N; j++) {
    fin_b[j] = true;
    for (unsigned k = 0; k < K; k++) {
      fin_b[j] &= part_of(fb, b[j * K + k], s->negate_b, &part);
      sig_b[k][j] = part.sig, exp_b[k][j] = part.exp;
    }
  }
  for (unsigned i = 0; i < rows; i++) {
    uint64_t *out = d + i * N;
    Part x[MAX_K];
    bool fin_a = true;
    for (unsigned k = 0; k < K; k++) fin_a &= part_of(fa, a[i * K + k], s->negate_a, &x[k]);
    for (unsigned j = 0; j < N; j++) {
      if (!use_c) out[j] = 0;
      if (!fin_a || !fin_b[j]) out[j] = special_sum(s, a + i * K, b + j * K, num_decode(fd, out[j]));
    }
    for (unsigned k0 = 0; fin_a && k0 < K; k0 += block) {
      for (unsigned j = 0; j < N; j++) {
        fin_c[j] = part_of(fd, out[j], false, &c[j]);
        max[j] = c[j].exp > MIN_EXP ? c[j].exp : MIN_EXP;
        sum[j] = 0;
      }
      for (unsigned k = k0; k < k0 + block; k++) raise_exponents(N, x[k].exp, exp_b[k], max);
      for (unsigned k = k0; k < k0 + block; k++)
        if (x[k].sig) add_products(N, x[k].sig, x[k].exp, sig_b[k], exp_b[k], max, up, sum);
      for (unsigned j = 0; j < N; j++) {
        if (!fin_b[j]) continue;
        if (fin_c[j])
          out[j] = sum_result(s->d, model.keep, sum[j] + align(c[j].sig, up_c + c[j].exp - max[j]),
                              max[j] - model.fraction);
        else if (num_is_nan(fd, out[j])) out[j] = num_canonical_nan(fd);
      }
    }
  }
}

// mma.sync on fp8: sm_90 widens the operands to f16 and multiplies twice without C, first the even pairs of K, then
// the odd ones, and adds C to that, rounded to nearest.
static void compute_widened(const MmaSpec *s, unsigned rows, const uint64_t *a, const uint64_t *b, uint64_t *d,
                            bool use_c) {
  uint64_t half_a[16 * 16], half_b[8 * 16], sum[16 * 8];
  MmaSpec half = *s;
  half.a = half.b = MMA_F16;
  half.k = s->k / 2;
  for (unsigned odd = 0; odd < 2; odd++) {
    for (unsigned k = 0; k < half.k; k++) {
      unsigned from = k / 2 * 4 + 2 * odd + k % 2;
      for (unsigned i = 0; i < rows; i++)
        half_a[i * half.k + k] = num_encode(NUM_F16, num_decode(types[s->a].format, a[i * s->k + from]), NUM_RNE,
                                            false);
      for (unsigned j = 0; j < s->n; j++)
        half_b[j * half.k + k] = num_encode(NUM_F16, num_decode(types[s->b].format, b[j * s->k + from]), NUM_RNE,
                                            false);
    }
    compute_float(&half, rows, half_a, half_b, sum, odd);
  }
  for (unsigned i = 0; i < rows * s->n; i++)
    d[i] = use_c ? num_add(types[s->d].format, sum[i], d[i], NUM_RNE, false) : sum[i];
}

static void compute_f64(const MmaSpec *s, unsigned rows, const uint64_t *a, const uint64_t *b, uint64_t *d,
                        bool use_c) {
  for (unsigned i = 0; i < rows; i++)
    for (unsigned j = 0; j < s->n; j++) {
      double acc = use_c ? num_f64_bits(d[i * s->n + j]) : 0;
      for (unsigned k = 0; k < s->k; k++) acc = fma(num_f64_bits(a[i * s->k + k]), num_f64_bits(b[j * s->k + k]), acc);
      d[i * s->n + j] = isnan(acc) ? num_canonical_nan(NUM_F64) : num_bits_f64(acc);
    }
}

static int64_t integer_of(MmaType t, uint64_t bits) {
  return types[t].is_signed ? num_sext(bits, types[t].bits) : (int64_t)num_zext(bits, types[t].bits);
}

static void compute_int(const MmaSpec *s, unsigned rows, const uint64_t *a, const uint64_t *b, uint64_t *d,
                        bool use_c) {
  for (unsigned i = 0; i < rows; i++)
    for (unsigned j = 0; j < s->n; j++) {
      int64_t acc = use_c ? num_sext(d[i * s->n + j], 32) : 0;
      for (unsigned k = 0; k < s->k; k++) acc += integer_of(s->a, a[i * s->k + k]) * integer_of(s->b, b[j * s->k + k]);
      if (s->saturate) acc = min_i64(max_i64(acc, INT32_MIN), INT32_MAX);
      d[i * s->n + j] = (uint32_t)acc;
    }
}

void mma_compute(const MmaSpec *s, unsigned rows, const uint64_t *a, const uint64_t *b, uint64_t *d, bool use_c) {
  if (s->a == MMA_F64) compute_f64(s, rows, a, b, d, use_c);
  else if (is_fp8(s->a) && !s->wgmma) compute_widened(s, rows, a, b, d, use_c);
  else if (types[s->a].is_float) compute_float(s, rows, a, b, d, use_c);
  else compute_int(s, rows, a, b, d, use_c);
}

// ---- descriptors ----

enum { DESC_SPAN = 1 << 18 };  // 14 bits of 16-byte units

const char *mma_descriptor_decode(uint64_t bits, MmaDescriptor *out) {
  static const uint16_t swizzles[] = {0, 128, 64, 32};
  *out = (MmaDescriptor){.start = (uint32_t)(bits & 0x3fff) << 4,
                         .leading = (uint32_t)(bits >> 16 & 0x3fff) << 4,
                         .stride = (uint32_t)(bits >> 32 & 0x3fff) << 4,
                         .base_offset = (uint8_t)(bits >> 49 & 7),
                         .swizzle = swizzles[bits >> 62]};
  if (bits & (3ull << 14 | 3ull << 30 | 7ull << 46 | 0x3ffull << 52)) return "bits that must be zero are set";
  return NULL;
}

uint32_t mma_descriptor_address(const MmaDescriptor *d, bool mn_major, unsigned elem_bytes, unsigned row, unsigned k) {
  uint32_t offset;
  unsigned width = d->swizzle ? d->swizzle : 16;  // bytes of one contiguous run
  if (mn_major) {
    // Runs lie along M or N, one per k. Without swizzle the two strides swap roles.
    uint32_t byte = row * elem_bytes, chunk = byte / width;
    offset = d->swizzle ? k / 8 * d->stride + chunk * d->leading : k / 8 * d->leading + chunk * d->stride;
    offset += k % 8 * width + byte % width;
  } else {
    uint32_t byte = k * elem_bytes;
    offset = row / 8 * d->stride + row % 8 * width;
    offset += d->swizzle ? byte : byte / 16 * d->leading + byte % 16;
  }
  uint32_t address = d->start + offset;
  // The pattern repeats from its start; base_offset gives the start when it is not aligned to the pattern.
  uint32_t shift = (uint32_t)d->base_offset << 7;
  uint32_t chunks = d->swizzle / 16;
  if (chunks >= 2) address ^= ((address - shift) >> 7 & (chunks - 1)) << 4;
  return address & (DESC_SPAN - 1);
}
