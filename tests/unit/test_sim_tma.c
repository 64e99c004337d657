// runtime/sim/tensormap: validity rules, box walk against brute force, fills and reductions.
#include "tests/unit/unit.h"

#include "ir/base.h"
#include "runtime/sim/mma.h"
#include "runtime/sim/tensormap.h"

static TensorMap valid_map(void) {
  return (TensorMap){.dtype = TMAP_FLOAT16, .rank = 2, .address = 0x10000, .dim = {100, 50}, .stride = {2, 208},
                     .box = {64, 8}, .element_stride = {1, 1}, .swizzle = TMAP_SWIZZLE_128B};
}

TEST(test_rules) {
  TensorMap m = valid_map();
  assert_null(tensormap_check(&m));
#define REJECTS(change) do { m = valid_map(); change; assert_non_null(tensormap_check(&m)); } while (0)
#define ACCEPTS(change) do { m = valid_map(); change; assert_null(tensormap_check(&m)); } while (0)
  REJECTS(m.dtype = TMAP_DTYPE_COUNT);
  REJECTS(m.rank = 0);
  REJECTS(m.rank = 6);
  REJECTS(m.address += 8);
  REJECTS(m.dim[1] = 0);
  REJECTS(m.dim[0] = (1ull << 32) + 1);
  ACCEPTS(m.dim[0] = 1ull << 32);
  REJECTS(m.stride[1] = 200);
  REJECTS(m.stride[1] = 1ull << 40);
  ACCEPTS(m.stride[1] = (1ull << 40) - 16);
  REJECTS(m.box[1] = 257);
  REJECTS(m.box[1] = 0);
  ACCEPTS(m.box[1] = 256);
  REJECTS(m.box[0] = 4);
  REJECTS(m.box[0] = 72);
  ACCEPTS((m.box[0] = 72, m.swizzle = TMAP_SWIZZLE_NONE));
  REJECTS(m.swizzle = TMAP_SWIZZLE_64B);
  REJECTS(m.element_stride[1] = 9);
  REJECTS(m.element_stride[0] = 0);
  REJECTS((m.dtype = TMAP_UINT16, m.fill = TMAP_FILL_NAN));
  ACCEPTS(m.fill = TMAP_FILL_NAN);
  REJECTS(m.interleave = TMAP_INTERLEAVE_16B);
  REJECTS(m.swizzle = 4);
}

TEST(test_pack) {
  TensorMap m = valid_map(), back;
  m.dim[0] = 1ull << 32;
  uint8_t opaque[TENSORMAP_BYTES];
  tensormap_pack(&m, opaque);
  assert_true(tensormap_unpack(opaque, &back));
  assert_true(back.dim[0] == m.dim[0] && back.box[1] == 8 && back.stride[1] == 208 && back.stride[0] == 2);
  assert_int_equal(back.swizzle, TMAP_SWIZZLE_128B);
  opaque[9] ^= 1;
  assert_false(tensormap_unpack(opaque, &back));
}

enum { SHARED = 1 << 17, SIDE = 1 << 16 };
typedef struct { const TensorMap *m; uint8_t *global, *shared; uint8_t *visits; } Copy;
static bool load_run(void *user, const TensorMapRun *run) {
  Copy *c = user;
  assert_true(run->shared + run->bytes <= SHARED);
  if (run->in_bounds) memcpy(c->shared + run->shared, c->global + (run->global - c->m->address), run->bytes);
  else tensormap_fill(c->m, c->shared + run->shared, run->bytes);
  for (uint32_t i = 0; i < run->bytes; i++) c->visits[run->shared + i]++;
  return true;
}

// Each element of the box from first principles: coordinates, bounds, linear place in the box, swizzle.
static void check_load(const TensorMap *m, const int32_t *coords, uint32_t base) {
  static uint8_t global[SIDE], shared[SHARED], visits[SHARED];
  for (int i = 0; i < SIDE; i++) global[i] = (uint8_t)(i * 167 + (i >> 8) * 91 + 1);
  memset(shared, 0xee, sizeof shared);
  memset(visits, 0, sizeof visits);
  Copy copy = {m, global, shared, visits};
  assert_null(tensormap_check(m));
  assert_true(tensormap_walk(m, coords, base, false, load_run, &copy));
  uint32_t es = tensormap_element_bytes(m->dtype), bytes = tensormap_box_bytes(m);
  for (uint32_t b = 0; b < bytes; b += es) {
    uint32_t rest = b / es;
    bool in = true;
    uint64_t at = 0;
    for (uint32_t d = 0; d < m->rank; d++) {
      uint32_t step = d ? m->element_stride[d] : 1, extent = (m->box[d] + step - 1) / step;
      int64_t x = coords[d] + (int64_t)(rest % extent) * step;
      rest /= extent;
      in &= x >= 0 && x < (int64_t)m->dim[d];
      at += (uint64_t)x * m->stride[d];
    }
    uint32_t place = base + b;
    if (m->swizzle == TMAP_SWIZZLE_128B) place ^= (place >> 7 & 7) << 4;
    if (m->swizzle == TMAP_SWIZZLE_64B) place ^= (place >> 7 & 3) << 4;
    if (m->swizzle == TMAP_SWIZZLE_32B) place ^= (place >> 7 & 1) << 4;
    uint64_t got = 0, want = 0;
    memcpy(&got, shared + place, es);
    if (in) memcpy(&want, global + at, es);
    else if (m->fill == TMAP_FILL_NAN) want = es == 2 ? 0x7ff7 : 0x7ff77ff7;
    assert_int_equal(got, want);
    for (uint32_t i = 0; i < es; i++) assert_int_equal(visits[place + i], 1);
  }
  uint32_t total = 0;
  for (uint32_t i = 0; i < SHARED; i++) total += visits[i];
  assert_int_equal(total, bytes);
}

TEST(test_walk) {
  TensorMap m = valid_map();
  static const int32_t at[][2] = {{0, 0}, {64, 48}, {-10, -3}, {96, 10}, {200, 0}, {-64, 0}, {3, 1000}};
  for (size_t i = 0; i < countof(at); i++)
    for (int s = TMAP_SWIZZLE_NONE; s <= TMAP_SWIZZLE_128B; s++) {
      m.swizzle = (TensorMapSwizzle)s;
      m.box[0] = s == TMAP_SWIZZLE_NONE ? 64 : 8u << s;
      m.fill = i & 1 ? TMAP_FILL_NAN : TMAP_FILL_ZERO;
      check_load(&m, at[i], 1024 + 128 * (uint32_t)i);
    }
  TensorMap t = {.dtype = TMAP_FLOAT32, .rank = 5, .address = 0x1000, .dim = {20, 5, 4, 3, 2}, .stride = {4, 80, 400, 1600, 4800},
                 .box = {16, 3, 2, 2, 2}, .element_stride = {1, 2, 1, 1, 1}, .fill = TMAP_FILL_NAN};
  check_load(&t, (int32_t[]){8, -1, 3, 0, 1}, 2048);
  TensorMap line = {.dtype = TMAP_UINT8, .rank = 1, .address = 0x2000, .dim = {1000}, .stride = {1}, .box = {256}, .element_stride = {1}};
  check_load(&line, (int32_t[]){800}, 1024);
}

TEST(test_reduce) {
  uint16_t h[2] = {0x3c00, 0x7e00}, g[2] = {0x4000, 0xc000};   // 1, NaN; 2, -2
  tensormap_reduce(TMAP_FLOAT16, TMAP_MAX, (uint8_t *)h, (uint8_t *)g, 4);
  assert_int_equal(h[0], 0x4000);
  assert_int_equal(h[1], 0xc000);
  tensormap_reduce(TMAP_FLOAT16, TMAP_ADD, (uint8_t *)h, (uint8_t *)g, 4);
  assert_int_equal(h[0], 0x4400);
  uint32_t u[4] = {5, 9, 0, 0xfffffff0u}, v[4] = {5, 4, 7, 1};
  tensormap_reduce(TMAP_UINT32, TMAP_INC, (uint8_t *)u, (uint8_t *)v, 8);
  assert_true(u[0] == 0 && u[1] == 0);
  tensormap_reduce(TMAP_UINT32, TMAP_DEC, (uint8_t *)(u + 2), (uint8_t *)(v + 2), 4);
  assert_int_equal(u[2], 7);
  tensormap_reduce(TMAP_INT32, TMAP_MIN, (uint8_t *)(u + 3), (uint8_t *)(v + 3), 4);
  assert_int_equal(u[3], 0xfffffff0u);
  float x = 1.5f, y = 0.25f;
  tensormap_reduce(TMAP_FLOAT32, TMAP_ADD, (uint8_t *)&x, (uint8_t *)&y, 4);
  assert_true(x == 1.75f);
  assert_false(tensormap_reduce_allowed(TMAP_FLOAT32, TMAP_MIN));
  assert_true(tensormap_reduce_allowed(TMAP_BFLOAT16, TMAP_MIN));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rules), cmocka_unit_test(test_pack), cmocka_unit_test(test_walk), cmocka_unit_test(test_reduce)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
