// ir/num: every bit pattern of the narrow formats, and rounding against independently derived results.
#include "tests/unit/unit.h"

#include <fenv.h>
#include <math.h>

#include "ir/num.h"

static const NumFormat narrow[] = {NUM_F16, NUM_BF16, NUM_F8E4M3, NUM_F8E5M2, NUM_F8E4B15, NUM_E8M0, NUM_E2M1};

// The finite values of a format with clear sign, in bit order, are increasing; `count` is their number.
static uint32_t finite_count(NumFormat f) {
  uint32_t n = 0, all = 1u << (num_format_info(f)->width - (num_format_info(f)->has_sign ? 1 : 0));
  while (n < all && isfinite(num_decode(f, n))) n++;
  return n;
}

TEST(test_round_trip) {
  for (size_t k = 0; k < countof(narrow); k++) {
    NumFormat f = narrow[k];
    for (uint32_t b = 0; b < 1u << num_format_info(f)->width; b++) {
      double v = num_decode(f, b);
      if (isnan(v)) {
        assert_int_equal(num_encode(f, v, NUM_RNE, false), num_canonical_nan(f));
        continue;
      }
      for (int r = NUM_RNE; r <= NUM_RNA; r++) assert_int_equal(num_encode(f, v, (NumRound)r, false), b);
    }
    assert_true(num_decode(f, finite_count(f) - 1) == num_format_info(f)->max_finite);
  }
}

// Between neighbours lo < hi: the midpoint and points just off it, in every mode and both signs.
TEST(test_halfway) {
  for (size_t k = 0; k < countof(narrow); k++) {
    NumFormat f = narrow[k];
    const NumFormatInfo *i = num_format_info(f);
    uint64_t sign = 1ull << (i->width - 1);
    for (uint32_t b = 0, last = finite_count(f) - 1; b < last; b++) {
      double lo = num_decode(f, b), hi = num_decode(f, b + 1), mid = lo + (hi - lo) / 2;
      uint32_t even = b & 1 ? b + 1 : b;
      if (i->man_bits > 0) assert_int_equal(num_encode(f, mid, NUM_RNE, false), even);
      assert_int_equal(num_encode(f, mid, NUM_RNA, false), b + 1);
      double off[] = {nextafter(lo, hi), nextafter(mid, lo), nextafter(mid, hi), nextafter(hi, lo)};
      for (int j = 0; j < 4; j++) {
        assert_int_equal(num_encode(f, off[j], NUM_RNE, false), j < 2 ? b : b + 1);
        assert_int_equal(num_encode(f, off[j], NUM_RNA, false), j < 2 ? b : b + 1);
        assert_int_equal(num_encode(f, off[j], NUM_RTZ, false), b);
        assert_int_equal(num_encode(f, off[j], NUM_RDN, false), b);
        assert_int_equal(num_encode(f, off[j], NUM_RUP, false), b + 1);
        if (!i->has_sign) continue;
        assert_int_equal(num_encode(f, -off[j], NUM_RNE, false), (j < 2 ? b : b + 1) | sign);
        assert_int_equal(num_encode(f, -off[j], NUM_RDN, false), (b + 1) | sign);
        assert_int_equal(num_encode(f, -off[j], NUM_RUP, false), b | sign);
      }
    }
  }
}

TEST(test_overflow) {
  assert_int_equal(num_encode(NUM_F16, 65519.99, NUM_RNE, false), 0x7bff);
  assert_int_equal(num_encode(NUM_F16, 65520.0, NUM_RNE, false), 0x7c00);
  assert_int_equal(num_encode(NUM_F16, 1e9, NUM_RTZ, false), 0x7bff);
  assert_int_equal(num_encode(NUM_F16, -1e9, NUM_RUP, false), 0xfbff);
  assert_int_equal(num_encode(NUM_F8E4M3, 464.0, NUM_RNE, false), 0x7e);   // tie goes to 448, the even one
  assert_int_equal(num_encode(NUM_F8E4M3, 464.1, NUM_RNE, false), 0x7f);
  assert_int_equal(num_encode(NUM_F8E4M3, 1e9, NUM_RNE, true), 0x7e);
  assert_int_equal(num_encode(NUM_F8E4M3, -INFINITY, NUM_RNE, true), 0xfe);
  assert_int_equal(num_encode(NUM_F8E4M3, -INFINITY, NUM_RNE, false), 0xff);
  assert_int_equal(num_encode(NUM_F8E4M3, NAN, NUM_RNE, true), 0x7f);
  assert_int_equal(num_encode(NUM_F8E5M2, 61440.0, NUM_RNE, false), 0x7c);
  assert_int_equal(num_encode(NUM_F8E5M2, 1e9, NUM_RNE, true), 0x7b);
  assert_int_equal(num_encode(NUM_F8E4B15, 5.0, NUM_RNE, false), 0x7f);
  assert_int_equal(num_encode(NUM_BF16, 0x1.ffp127, NUM_RNE, false), 0x7f80);
  assert_int_equal(num_encode(NUM_TF32, 1.0 + 0x1p-11, NUM_RNA, false), 0x3f802000);
  assert_int_equal(num_encode(NUM_TF32, 1.0 + 0x1p-11, NUM_RNE, false), 0x3f800000);
  assert_true(num_decode(NUM_TF32, 0x3f801fff) == 1.0);
  assert_int_equal(num_encode(NUM_E8M0, -1.0, NUM_RNE, false), 0xff);
}

static uint32_t rng(uint64_t *s) {
  *s = *s * 6364136223846793005ull + 1442695040888963407ull;
  return (uint32_t)(*s >> 32);
}

// Against the host's float unit in the same rounding mode.
TEST(test_f32_against_host) {
  static const int mode[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  uint64_t s = 7;
  for (int n = 0; n < 60000; n++) {
    uint32_t ua = rng(&s), ub = rng(&s), uc = rng(&s);
    if (n & 1) ub = (ua & 0xff800000u) ^ (ub & 0x81ffffffu);  // near exponents: cancellation and ties
    if (n % 3 == 0) ua &= 0x807fffffu;                        // subnormal
    volatile float a = num_f32_bits(ua), b = num_f32_bits(ub), c = num_f32_bits(uc);
    int m = n & 3;
    volatile double wide = (double)a * 1.00000001;
    fesetround(mode[m]);
    volatile float add = a + b, mul = a * b, div = a / b, root = sqrtf(a), mac = fmaf(a, b, c);
    volatile float cv = (float)(double)(int32_t)ua, narrowed = (float)wide;
    fesetround(FE_TONEAREST);
    float got[] = {num_add_f32(a, b, (NumRound)m, false), num_mul_f32(a, b, (NumRound)m, false),
                   num_div_f32(a, b, (NumRound)m, false), num_sqrt_f32(a, (NumRound)m, false),
                   num_fma_f32(a, b, c, (NumRound)m, false),
                   num_f32_bits((uint32_t)num_encode_i64(NUM_F32, (int32_t)ua, (NumRound)m, false)),
                   num_f32_bits((uint32_t)num_encode(NUM_F32, wide, (NumRound)m, false))};
    float want[] = {add, mul, div, root, mac, cv, narrowed};
    for (size_t j = 0; j < countof(got); j++) {
      if (isnan(want[j])) assert_int_equal(num_bits_f32(got[j]), 0x7fffffffu);
      else assert_int_equal(num_bits_f32(got[j]), num_bits_f32(want[j]));
    }
  }
  assert_int_equal(num_bits_f32(num_add_f32(1.0f, -1.0f, NUM_RDN, false)), 0x80000000u);
  assert_int_equal(num_bits_f32(num_mul_f32(-0x1p-100f, 0x1p-30f, NUM_RNE, true)), 0x80000000u);
  assert_int_equal(num_bits_f32(num_add_f32(0x1p-130f, 0.0f, NUM_RNE, true)), 0);
}

// f16 sums and fused products, exactly: everything is a multiple of 2^-48 below 2^33, so 128-bit integers hold it.
TEST(test_f16_fma) {
  uint64_t s = 3;
  for (int n = 0; n < 60000; n++) {
    uint64_t a = rng(&s) & 0xffff, b = rng(&s) & 0xffff, c = rng(&s) & 0xffff;
    double x = num_decode(NUM_F16, a), y = num_decode(NUM_F16, b), z = num_decode(NUM_F16, c);
    if (!isfinite(x) || !isfinite(y) || !isfinite(z)) continue;
    __int128 sum = (__int128)(x * 0x1p24) * (__int128)(y * 0x1p24) + (__int128)(z * 0x1p24) * (1 << 24);
    bool neg = sum < 0;
    unsigned __int128 mag = neg ? -(unsigned __int128)sum : (unsigned __int128)sum;
    bool sticky = false;
    int e = -48;
    while (mag >> 52) sticky |= mag & 1, mag >>= 1, e++;
    double odd = ldexp((double)((uint64_t)mag | sticky), e);
    if (sum == 0) continue;
    for (int r = NUM_RNE; r <= NUM_RNA; r++)
      assert_int_equal(num_fma(NUM_F16, a, b, c, (NumRound)r, false), num_encode(NUM_F16, neg ? -odd : odd, (NumRound)r, false));
  }
}

TEST(test_integers) {
  assert_int_equal(num_to_int(2.5, 32, true, NUM_RNE, false), 2);
  assert_int_equal(num_to_int(-2.5, 32, true, NUM_RDN, false), (uint64_t)-3);
  assert_int_equal(num_to_int(1e20, 32, true, NUM_RTZ, false), 0x7fffffff);
  assert_int_equal(num_to_int(-1e20, 64, true, NUM_RTZ, false), 1ull << 63);
  assert_int_equal(num_to_int(-1.0, 32, false, NUM_RTZ, false), 0);
  assert_int_equal(num_to_int(1e20, 64, false, NUM_RTZ, false), UINT64_MAX);
  assert_int_equal(num_to_int(300.0, 8, false, NUM_RTZ, false), 255);
  assert_int_equal(num_to_int(NAN, 32, true, NUM_RTZ, false), 0);
  assert_int_equal(num_to_int(NAN, 64, true, NUM_RTZ, true), 1ull << 63);
  assert_int_equal(num_encode_u64(NUM_F32, UINT64_MAX, NUM_RTZ, false), 0x5f7fffff);
  assert_int_equal(num_encode_i64(NUM_F32, (1ll << 53) + (1ll << 29) + 1, NUM_RNE, false), 0x5a000001);
  assert_true(num_f64_bits(num_encode_u64(NUM_F64, (1ull << 63) + 1025, NUM_RNE, false)) == 0x1p63 + 2048);
  assert_int_equal(num_mulhi_s64(-1, 5), -1);
  assert_int_equal(num_mulhi_u64(UINT64_MAX, UINT64_MAX), UINT64_MAX - 1);
  assert_true(num_round_to_integral(-0.4, NUM_RNE) == 0 && signbit(num_round_to_integral(-0.4, NUM_RNE)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_round_trip), cmocka_unit_test(test_halfway),  cmocka_unit_test(test_overflow),
    cmocka_unit_test(test_f32_against_host), cmocka_unit_test(test_f16_fma), cmocka_unit_test(test_integers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
