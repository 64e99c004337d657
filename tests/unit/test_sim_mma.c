// runtime/sim/mma: fragment maps, descriptors and sums.
#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/sim/mma.h"

static MmaSpec sync_spec(unsigned m, unsigned k, MmaType ab, MmaType d) {
  return (MmaSpec){.m = (uint16_t)m, .n = 8, .k = (uint16_t)k, .a = ab, .b = ab, .d = d};
}
static MmaSpec group_spec(unsigned n, MmaType ab, MmaType d) {
  return (MmaSpec){.m = 64, .n = (uint16_t)n, .k = (uint16_t)(256 / mma_type_info(ab)->bits), .a = ab, .b = ab, .d = d, .wgmma = true};
}

TEST(test_shapes) {
  static const struct { MmaSpec s; unsigned a, b, d; } ok[] = {
    {{16, 8, 16, MMA_F16, MMA_F16, MMA_F32, 0, 0, 0, 0}, 4, 2, 4},  {{16, 8, 16, MMA_F16, MMA_F16, MMA_F16, 0, 0, 0, 0}, 4, 2, 2},
    {{16, 8, 8, MMA_BF16, MMA_BF16, MMA_F32, 0, 0, 0, 0}, 2, 1, 4}, {{16, 8, 8, MMA_TF32, MMA_TF32, MMA_F32, 0, 0, 0, 0}, 4, 2, 4},
    {{16, 8, 4, MMA_TF32, MMA_TF32, MMA_F32, 0, 0, 0, 0}, 2, 1, 4}, {{16, 8, 32, MMA_S8, MMA_U8, MMA_S32, 0, 0, 0, 1}, 4, 2, 4},
    {{16, 8, 16, MMA_U8, MMA_U8, MMA_S32, 0, 0, 0, 0}, 2, 1, 4},    {{16, 8, 32, MMA_E4M3, MMA_E5M2, MMA_F32, 0, 0, 0, 0}, 4, 2, 4},
    {{8, 8, 4, MMA_F64, MMA_F64, MMA_F64, 0, 0, 0, 0}, 1, 1, 2},    {{16, 8, 4, MMA_F64, MMA_F64, MMA_F64, 0, 0, 0, 0}, 2, 1, 4},
    {{16, 8, 8, MMA_F64, MMA_F64, MMA_F64, 0, 0, 0, 0}, 4, 2, 4},   {{16, 8, 16, MMA_F64, MMA_F64, MMA_F64, 0, 0, 0, 0}, 8, 4, 4},
    {{64, 256, 16, MMA_F16, MMA_F16, MMA_F32, 1, 0, 0, 0}, 4, 64, 128}, {{64, 8, 32, MMA_E4M3, MMA_E4M3, MMA_F16, 1, 0, 0, 0}, 4, 2, 2},
    {{64, 48, 32, MMA_S8, MMA_S8, MMA_S32, 1, 0, 0, 1}, 4, 12, 24},
  };
  for (size_t i = 0; i < countof(ok); i++) {
    assert_null(mma_spec_error(&ok[i].s));
    assert_int_equal(mma_a_registers(&ok[i].s), ok[i].a);
    assert_int_equal(mma_b_registers(&ok[i].s), ok[i].b);
    assert_int_equal(mma_d_registers(&ok[i].s), ok[i].d);
  }
  MmaSpec s = group_spec(40, MMA_S8, MMA_S32);
  assert_non_null(mma_spec_error(&s));
  s = group_spec(12, MMA_F16, MMA_F32);
  assert_non_null(mma_spec_error(&s));
  s = group_spec(64, MMA_BF16, MMA_F16);
  assert_non_null(mma_spec_error(&s));
  s = sync_spec(16, 32, MMA_F16, MMA_F32);
  assert_non_null(mma_spec_error(&s));
  s = sync_spec(16, 16, MMA_F16, MMA_F32);
  s.b = MMA_BF16;
  assert_non_null(mma_spec_error(&s));
}

// Over all lanes, registers and elements, each coordinate occurs exactly once; and some that the manual draws.
TEST(test_fragments) {
  static const MmaType types[] = {MMA_F16, MMA_TF32, MMA_S8, MMA_F64, MMA_E4M3};
  for (size_t i = 0; i < countof(types); i++)
    for (int wg = 0; wg < 2; wg++) {
      MmaType d = types[i] == MMA_S8 ? MMA_S32 : types[i] == MMA_F64 ? MMA_F64 : MMA_F32;
      MmaSpec s = wg ? group_spec(24, types[i], d) : sync_spec(16, types[i] == MMA_F64 ? 8 : 256u / mma_type_info(types[i])->bits, types[i], d);
      if (mma_spec_error(&s)) continue;
      uint8_t a[16][64] = {0}, b[64][256] = {0}, c[16][256] = {0};
      for (unsigned lane = 0; lane < 32; lane++) {
        for (unsigned r = 0; r < mma_a_registers(&s); r++)
          for (unsigned e = 0; e < mma_per_register(s.a); e++) { MmaCoord x = mma_a_coord(&s, lane, r, e); a[x.row][x.col]++; }
        if (!wg)
          for (unsigned r = 0; r < mma_b_registers(&s); r++)
            for (unsigned e = 0; e < mma_per_register(s.b); e++) { MmaCoord x = mma_b_coord(&s, lane, r, e); b[x.row][x.col]++; }
        for (unsigned r = 0; r < mma_d_registers(&s); r++)
          for (unsigned e = 0; e < mma_per_register(s.d); e++) { MmaCoord x = mma_d_coord(&s, lane, r, e); c[x.row][x.col]++; }
      }
      for (unsigned r = 0; r < 16; r++) {
        for (unsigned k = 0; k < s.k; k++) assert_int_equal(a[r][k], 1);
        for (unsigned n = 0; n < s.n; n++) assert_int_equal(c[r][n], 1);
      }
      if (!wg)
        for (unsigned k = 0; k < s.k; k++)
          for (unsigned n = 0; n < s.n; n++) assert_int_equal(b[k][n], 1);
    }
#define AT(coord, r, c) do { MmaCoord x_ = (coord); assert_int_equal(x_.row, r); assert_int_equal(x_.col, c); } while (0)
  MmaSpec h = sync_spec(16, 16, MMA_F16, MMA_F32);
  AT(mma_a_coord(&h, 13, 1, 1), 11, 3);
  AT(mma_a_coord(&h, 13, 2, 0), 3, 10);
  AT(mma_b_coord(&h, 13, 1, 1), 11, 3);
  AT(mma_d_coord(&h, 13, 3, 0), 11, 3);
  MmaSpec t = sync_spec(16, 8, MMA_TF32, MMA_F32);
  AT(mma_a_coord(&t, 6, 2, 0), 1, 6);
  MmaSpec g = group_spec(64, MMA_F16, MMA_F16);
  AT(mma_d_coord(&g, 5, 7, 1), 9, 27);
  MmaSpec f = group_spec(64, MMA_BF16, MMA_F32);
  AT(mma_d_coord(&f, 5, 14, 0), 9, 26);
  MmaSpec b8 = group_spec(64, MMA_E4M3, MMA_F32);
  AT(mma_a_coord(&b8, 5, 2, 3), 1, 23);
  AT(mma_matrix_coord(5, 1, false), 1, 3);
  AT(mma_matrix_coord(5, 1, true), 3, 1);
}

// A matrix stored as each descriptor mode says, element by element, then found again through the descriptor.
TEST(test_descriptors) {
  MmaDescriptor d;
  assert_null(mma_descriptor_decode(UINT64_C(1) << 62 | UINT64_C(64) << 32 | UINT64_C(1) << 16 | 0x41, &d));
  assert_int_equal(d.start, 0x410);
  assert_int_equal(d.stride, 1024);
  assert_int_equal(d.leading, 16);
  assert_int_equal(d.swizzle, 128);
  assert_non_null(mma_descriptor_decode(UINT64_C(1) << 14, &d));
  // K-major, 128-byte swizzle: row r is 128 bytes, its 16-byte chunks are XORed with r % 8. Advancing K by 32 bytes adds 32.
  d = (MmaDescriptor){.start = 4096, .leading = 16, .stride = 1024, .swizzle = 128};
  for (unsigned step = 0; step < 4; step++) {
    d.start = 4096 + 32 * step;
    for (unsigned r = 0; r < 64; r++)
      for (unsigned k = 0; k < 16; k++) {
        unsigned byte = 32 * step + 2 * k;
        assert_int_equal(mma_descriptor_address(&d, false, 2, r, k), 4096 + r * 128 + ((byte / 16) ^ (r % 8)) * 16 + byte % 16);
      }
  }
  // K-major, no swizzle: 8x16-byte cores; leading steps K, stride steps rows.
  d = (MmaDescriptor){.start = 1024, .leading = 128, .stride = 256};
  assert_int_equal(mma_descriptor_address(&d, false, 2, 11, 9), 1024 + 256 + 3 * 16 + 128 + 2);
  // MN-major, no swizzle: stride steps chunks of M, leading steps 8 k.
  assert_int_equal(mma_descriptor_address(&d, true, 2, 11, 9), 1024 + 256 + 128 + 16 + 6);
  // MN-major, 128-byte swizzle: 64 elements per run, k-groups of 8 runs.
  d = (MmaDescriptor){.start = 8192, .leading = 4096, .stride = 1024, .swizzle = 128};
  assert_int_equal(mma_descriptor_address(&d, true, 2, 70, 13), 8192 + 4096 + 1024 + 5 * 128 + ((0 ^ 5) * 16) + 12);
  // A pattern that starts 3 rows past its alignment, with and without telling so.
  d = (MmaDescriptor){.start = 4096 + 384, .leading = 16, .stride = 1024, .swizzle = 128, .base_offset = 3};
  assert_int_equal(mma_descriptor_address(&d, false, 2, 0, 0), 4096 + 384);
  d.base_offset = 0;
  assert_int_equal(mma_descriptor_address(&d, false, 2, 0, 0), 4096 + 384 + 48);
  // 64 and 32 bytes.
  d = (MmaDescriptor){.start = 4096, .leading = 16, .stride = 512, .swizzle = 64};
  assert_int_equal(mma_descriptor_address(&d, false, 2, 6, 8), 4096 + 6 * 64 + ((1 ^ 3) * 16));
  d = (MmaDescriptor){.start = 4096, .leading = 16, .stride = 256, .swizzle = 32};
  assert_int_equal(mma_descriptor_address(&d, false, 2, 5, 0), 4096 + 5 * 32 + 16);
}

static uint64_t bits_of(MmaType t, double x) {
  const MmaTypeInfo *i = mma_type_info(t);
  return i->is_float ? num_encode(i->format, x, NUM_RNE, false) : num_zext((uint64_t)(int64_t)x, i->bits);
}

// One dot product of row 0 and column 0; everything else is zero.
static uint64_t dot(MmaSpec s, const double *a, const double *b, unsigned count, double c) {
  static uint64_t va[64 * 64], vb[256 * 64], vd[64 * 256];
  memset(va, 0, sizeof va), memset(vb, 0, sizeof vb), memset(vd, 0, sizeof vd);
  for (unsigned k = 0; k < count; k++) va[k] = bits_of(s.a, a[k]), vb[k] = bits_of(s.b, b[k]);
  vd[0] = bits_of(s.d, c);
  assert_null(mma_spec_error(&s));
  mma_compute(&s, 16, va, vb, vd, true);
  return vd[0];
}
static float dot_f32(MmaSpec s, const double *a, const double *b, unsigned count, double c) { return num_f32_bits((uint32_t)dot(s, a, b, count, c)); }

TEST(test_sums) {
  const double ones[32] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  MmaSpec h = sync_spec(16, 16, MMA_F16, MMA_F32), q = group_spec(8, MMA_E4M3, MMA_F32), qh = group_spec(8, MMA_E4M3, MMA_F16);
  double a[32], b[32];
  for (int i = 0; i < 16; i++) a[i] = i - 7.5, b[i] = 0.25 * i;
  assert_true(dot_f32(h, a, b, 16, 3) == 88.0f);
  // Two bits below f32's last are kept, further ones are cut off, each term by itself; the sum is truncated.
  assert_true(dot_f32(h, (double[]){1, 0x1p-12}, (double[]){1, 0x1p-12}, 2, 0) == 1.0f);                // 1 + 2^-24
  assert_true(dot_f32(h, (double[]){1, 0x1p-12, 0x1p-12}, (double[]){1, 0x1p-12, 0x1p-12}, 3, 0) == 1.0f + 0x1p-23f);
  assert_true(dot_f32(h, (double[]){1, 0x1p-13, 0x1p-13}, (double[]){1, 0x1p-13, 0x1p-13}, 3, 0) == 1.0f);   // 2^-26 each: gone
  assert_true(dot_f32(h, (double[]){-1, -0x1p-12, 0}, (double[]){1, 0x1p-12, 1}, 3, 0) == -1.0f);       // towards zero
  // fp8 in a warpgroup keeps 13 bits, also of its accumulator; 16-bit instructions do not.
  assert_true(dot_f32(q, ones, ones, 1, 0x1p14) == 0x1p14f);
  assert_true(dot_f32(q, ones, ones, 1, 0x1p13) == 0x1p13f + 1);
  assert_true(dot_f32(q, ones, ones, 32, 0x1p15) == 0x1p15f);
  assert_true(dot_f32(h, ones, ones, 16, 0x1p15) == 0x1p15f + 16);
  assert_true(num_decode(NUM_F16, dot(qh, ones, ones, 32, 0.5)) == 32.5);
  // f16 results round to nearest even: 2048 + 1 ties to 2048, + 3 to 2052.
  MmaSpec hh = sync_spec(16, 16, MMA_F16, MMA_F16);
  assert_true(num_decode(NUM_F16, dot(hh, ones, ones, 1, 2048)) == 2048);
  assert_true(num_decode(NUM_F16, dot(hh, ones, ones, 3, 2048)) == 2052);
  assert_int_equal(dot(hh, (double[]){60000}, (double[]){2}, 1, 0), 0x7c00);
  // Subnormal products of bf16, infinities and NaNs.
  MmaSpec bf = sync_spec(16, 16, MMA_BF16, MMA_F32);
  assert_true(dot_f32(bf, (double[]){0x1p-100}, (double[]){0x1p-40}, 1, 0) == 0x1p-140f);
  assert_true(isinf(dot_f32(bf, (double[]){0x1p127}, (double[]){2}, 1, 0)));
  assert_true(dot_f32(bf, (double[]){-INFINITY}, (double[]){2}, 1, 1) == -INFINITY);
  assert_int_equal(dot(bf, (double[]){INFINITY, -INFINITY}, (double[]){1, 1}, 2, 0), 0x7fffffff);
  assert_int_equal(dot(bf, (double[]){INFINITY}, (double[]){0}, 1, 0), 0x7fffffff);
  // scale-a of -1.
  MmaSpec neg = group_spec(16, MMA_F16, MMA_F32);
  neg.negate_a = true;
  assert_true(dot_f32(neg, ones, ones, 16, 1) == -15.0f);
  // Doubles are a chain of fused multiply-adds; integers wrap or saturate.
  MmaSpec d = sync_spec(8, 4, MMA_F64, MMA_F64);
  assert_true(num_f64_bits(dot(d, (double[]){0x1p53, 1, -0x1p53}, (double[]){1, 1, 1}, 3, 0)) == 0);
  MmaSpec s8 = sync_spec(16, 32, MMA_S8, MMA_S32);
  assert_int_equal((int32_t)dot(s8, (double[]){-128, 5}, (double[]){127, -3}, 2, 1000), 1000 - 128 * 127 - 15);
  assert_int_equal((int32_t)dot(s8, ones, ones, 32, 2147483647.0), INT32_MIN + 31);
  s8.saturate = true;
  assert_int_equal((int32_t)dot(s8, ones, ones, 32, 2147483647.0), INT32_MAX);
}

// tf32 blocks are 8 wide and 16-bit ones 16 wide: a longer K would be chained, and here it is one block.
TEST(test_no_accumulator) {
  MmaSpec s = group_spec(8, MMA_TF32, MMA_F32);
  uint64_t a[64 * 8], b[8 * 8], d[64 * 8];
  for (int i = 0; i < 64 * 8; i++) a[i] = num_bits_f32((float)(i % 7)) | 0x1fff, d[i] = 0x7fc00000;
  for (int i = 0; i < 64; i++) b[i] = num_bits_f32((float)(i % 5));
  mma_compute(&s, 64, a, b, d, false);
  for (int r = 0; r < 64; r++)
    for (int n = 0; n < 8; n++) {
      float want = 0;
      for (int k = 0; k < 8; k++) want += (float)((r * 8 + k) % 7) * (float)((n * 8 + k) % 5);
      assert_int_equal(d[r * 8 + n], num_bits_f32(want));
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_shapes), cmocka_unit_test(test_fragments), cmocka_unit_test(test_descriptors),
                                     cmocka_unit_test(test_sums), cmocka_unit_test(test_no_accumulator)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
