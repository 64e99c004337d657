// Conversion plans of ir/scratch.c, executed on paper: every register of every lane must end up with its element.
#include <stdlib.h>

#include "ir/scratch.h"
#include "unit.h"

enum { LANES = 32, ELEMENT_BITS = 9 };

static uint32_t apply(const uint32_t *columns, uint32_t n, uint32_t x) {
  uint32_t y = 0;
  for (uint32_t i = 0; i < n; i++)
    if (x >> i & 1) y ^= columns[i];
  return y;
}

// A layout of 2^ELEMENT_BITS elements in one warp: random independent columns, then duplicates.
static const Layout *random_layout(Context *ctx, uint32_t duplicates, bool mixed) {
  Layout l = {.kind = LAYOUT_DISTRIBUTED, .rank = 1, .log2_size = {ELEMENT_BITS}, .num_bits = {ELEMENT_BITS - 5 + duplicates, 5}};
  uint32_t columns[16], n = ELEMENT_BITS + duplicates;
  for (uint32_t i = 0; i < n; i++) columns[i] = i < ELEMENT_BITS ? 1u << i : 0;
  for (uint32_t i = n; i-- > 1;) {
    uint32_t k = (uint32_t)rand() % (i + 1), t = columns[i];
    columns[i] = columns[k];
    columns[k] = t;
  }
  if (mixed)
    for (uint32_t i = 1; i < n; i++)
      if (columns[i] && rand() % 3 == 0) columns[i] ^= columns[(uint32_t)rand() % i];
  for (uint32_t i = 0; i < n; i++) l.basis[i] = columns[i];
  return layout_intern(ctx, &l);
}

static void check_plan(const Layout *from, const Layout *to, const ShufflePlan *p) {
  uint32_t src = 1u << p->src_reg_bits, dst = 1u << p->dst_reg_bits;
  uint32_t *tmp = calloc(LANES * src, sizeof *tmp), *got = calloc(LANES * dst, sizeof *got);
  for (uint32_t l = 0; l < LANES; l++)
    for (uint32_t r = 0; r < src; r++) tmp[l * src + r] = layout_apply(from, r ^ apply(p->before, 5, l), l, 0, 0);
  for (uint32_t j = 0; j < dst; j++)
    for (uint32_t l = 0; l < LANES; l++) {
      uint32_t lane = apply(p->from_lane, 5, l) ^ apply(p->from_round, p->dst_reg_bits, j);
      got[l * dst + j] = tmp[lane * src + apply(p->take, p->dst_reg_bits, j)];
    }
  for (uint32_t l = 0; l < LANES; l++)
    for (uint32_t r = 0; r < dst; r++) assert_int_equal(got[l * dst + (r ^ apply(p->after, 5, l))], layout_apply(to, r, l, 0, 0));
  free(tmp);
  free(got);
}

TEST(test_shuffle_plans) {
  Context ctx;
  context_init(&ctx);
  srand(7);
  uint32_t found = 0, total = 3000;
  for (uint32_t i = 0; i < total; i++) {
    bool mixed = i % 2;
    const Layout *from = random_layout(&ctx, i % 3 == 0 ? (uint32_t)rand() % 3 : 0, mixed), *to = random_layout(&ctx, i % 5 == 0 ? (uint32_t)rand() % 3 : 0, mixed);
    ShufflePlan plan;
    if (!scratch_shuffle_plan(from, to, &plan)) continue;
    found++;
    check_plan(from, to, &plan);
  }
  // A plan is allowed to be missing (the conversion then goes through shared memory), but seldom.
  assert_true(found > total * 3 / 4);
  context_free(&ctx);
}

TEST(test_kinds) {
  Context ctx;
  context_init(&ctx);
  const int64_t shape[] = {512};
  const Type *elem = type_scalar(&ctx, SC_F32);
  Layout a = {.kind = LAYOUT_DISTRIBUTED, .rank = 1, .log2_size = {9}, .num_bits = {2, 5, 2}, .basis = {1, 2, 4, 8, 16, 32, 64, 128, 256}};
  Layout r = a, l = a, w = a;
  r.basis[0] = 2, r.basis[1] = 1;
  l.basis[0] = 4, l.basis[2] = 1;
  w.basis[0] = 256, w.basis[8] = 1;
  const Type *ta = type_tensor(&ctx, elem, 1, shape, layout_intern(&ctx, &a)), *tr = type_tensor(&ctx, elem, 1, shape, layout_intern(&ctx, &r));
  const Type *tl = type_tensor(&ctx, elem, 1, shape, layout_intern(&ctx, &l)), *tw = type_tensor(&ctx, elem, 1, shape, layout_intern(&ctx, &w));
  assert_int_equal(scratch_convert_kind(ta, ta), CONVERT_NONE);
  assert_int_equal(scratch_convert_kind(ta, tr), CONVERT_REGISTERS);
  assert_int_equal(scratch_convert_kind(ta, tl), CONVERT_SHUFFLE);
  assert_int_equal(scratch_convert_kind(ta, tw), CONVERT_SHARED);
  context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_shuffle_plans), cmocka_unit_test(test_kinds)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
