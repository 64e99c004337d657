// Exact scalar arithmetic on bit patterns: the numeric meaning of every dtype, for constant folding, the interpreter
// and the simulator. Every function rounds once, whatever the host's rounding mode or FMA support. A value of any
// format except F64 is exactly a double. Input bits above a format's width are ignored.
#ifndef TILE_IR_NUM_H
#define TILE_IR_NUM_H

#include "ir/base.h"

typedef enum {
  NUM_F64, NUM_F32,
  NUM_TF32,      // held in 32 bits as the top 19 of an F32; decoding drops the other 13, encoding clears them
  NUM_F16, NUM_BF16,
  NUM_F8E4M3,    // "fn": no infinity, NaN is 0x7f
  NUM_F8E5M2,
  NUM_F8E4B15,   // bias 15, neither infinity nor NaN: always saturates
  NUM_E8M0,      // power of two without sign, 0xff is NaN
  NUM_E2M1,      // neither infinity nor NaN
  NUM_FORMAT_COUNT
} NumFormat;
// RNE/RNA: to nearest, ties to even/away from zero. RTZ/RDN/RUP: towards zero, minus and plus infinity.
typedef enum { NUM_RNE, NUM_RTZ, NUM_RDN, NUM_RUP, NUM_RNA } NumRound;

typedef struct {
  uint8_t width, exp_bits, man_bits, low_zeros;  // width: bits of storage; low_zeros: unused low bits of storage
  int bias;
  bool has_sign, has_inf, has_nan;
  double max_finite;
} NumFormatInfo;
const NumFormatInfo *num_format_info(NumFormat f);

double num_decode(NumFormat f, uint64_t bits);
// saturate: what lies beyond the largest finite value (infinities too) becomes that value; NaN stays NaN if the format
// has one. Without saturate, overflow gives infinity, or NaN in a format without infinity. NaN results are canonical,
// as the GPU makes them: all exponent and mantissa bits set, sign clear.
uint64_t num_encode(NumFormat f, double x, NumRound r, bool saturate);
uint64_t num_encode_f32(NumFormat f, float x, NumRound r, bool saturate);
uint64_t num_encode_i64(NumFormat f, int64_t x, NumRound r, bool saturate);
uint64_t num_encode_u64(NumFormat f, uint64_t x, NumRound r, bool saturate);
uint64_t num_canonical_nan(NumFormat f);
bool num_is_nan(NumFormat f, uint64_t bits);

// To an integer of `width` (8…64) bits, clamped to its range and sign- or zero-extended to 64 bits. NaN gives 0, or 1
// << (width-1) if nan_is_min (as PTX does if either side is 64 bits wide).
uint64_t num_to_int(double x, unsigned width, bool is_signed, NumRound r, bool nan_is_min);
double num_round_to_integral(double x, NumRound r);

// a + b rounded to odd (truncated, low bit set if inexact). Rounding that to any format of at most 51 bits of precision
// equals rounding the exact sum once.
double num_add_odd(double a, double b);

// Correctly rounded arithmetic in any format up to F32 on bit patterns; ftz flushes subnormal inputs and results to
// zeros of the same sign (meaningful for F32).
uint64_t num_add(NumFormat f, uint64_t a, uint64_t b, NumRound r, bool ftz);
uint64_t num_mul(NumFormat f, uint64_t a, uint64_t b, NumRound r, bool ftz);
uint64_t num_fma(NumFormat f, uint64_t a, uint64_t b, uint64_t c, NumRound r, bool ftz);
uint64_t num_div(NumFormat f, uint64_t a, uint64_t b, NumRound r, bool ftz);
uint64_t num_sqrt(NumFormat f, uint64_t a, NumRound r, bool ftz);

float num_add_f32(float a, float b, NumRound r, bool ftz);
float num_sub_f32(float a, float b, NumRound r, bool ftz);
float num_mul_f32(float a, float b, NumRound r, bool ftz);
float num_fma_f32(float a, float b, float c, NumRound r, bool ftz);
float num_div_f32(float a, float b, NumRound r, bool ftz);
float num_sqrt_f32(float a, NumRound r, bool ftz);
float num_ftz_f32(float a);

double num_add_f64(double a, double b, NumRound r);
double num_mul_f64(double a, double b, NumRound r);
double num_fma_f64(double a, double b, double c, NumRound r);
double num_div_f64(double a, double b, NumRound r);
double num_sqrt_f64(double a, NumRound r);

static inline uint64_t num_mulhi_u64(uint64_t a, uint64_t b) { return (uint64_t)(((unsigned __int128)a * b) >> 64); }
static inline int64_t num_mulhi_s64(int64_t a, int64_t b) { return (int64_t)(((__int128)a * b) >> 64); }
static inline uint32_t num_mulhi_u32(uint32_t a, uint32_t b) { return (uint32_t)(((uint64_t)a * b) >> 32); }
static inline int32_t num_mulhi_s32(int32_t a, int32_t b) { return (int32_t)(((int64_t)a * b) >> 32); }
static inline int64_t num_sext(uint64_t x, unsigned width) {
  return width >= 64 ? (int64_t)x : (int64_t)(x << (64 - width)) >> (64 - width);
}
static inline uint64_t num_zext(uint64_t x, unsigned width) { return width >= 64 ? x : x & ((1ull << width) - 1); }
static inline uint32_t num_bits_f32(float x) { uint32_t u; __builtin_memcpy(&u, &x, 4); return u; }
static inline float num_f32_bits(uint32_t u) { float x; __builtin_memcpy(&x, &u, 4); return x; }
static inline uint64_t num_bits_f64(double x) { uint64_t u; __builtin_memcpy(&u, &x, 8); return u; }
static inline double num_f64_bits(uint64_t u) { double x; __builtin_memcpy(&x, &u, 8); return x; }

#endif
