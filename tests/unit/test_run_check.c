// --check's comparison: what passes and what fails by dtype, NaN and infinity, and the report.
#include "unit.h"

#include <math.h>

#include "runtime/cli/run.h"

enum { N = 4 };

// One buffer of `dtype`, zeros before the run; its verdict.
static bool verdict(DtypeKind dtype, const double *got, const double *ref, CheckLimits limits, const char *says) {
  Arena a;
  arena_init(&a);
  HostTensor initial = {.dtype = dtype, .rank = 1, .shape = {N}, .count = N, .data = arena_alloc(&a, N * 8)};
  RunBuffer b = {.name = "out", .initial = initial, .result = initial, .reference = initial};
  b.result.data = arena_alloc(&a, N * 8);
  b.reference.data = arena_alloc(&a, N * 8);
  for (uint32_t i = 0; i < N; i++) host_set(&b.result, i, got[i]), host_set(&b.reference, i, ref[i]);
  const Options options = {0};
  Run run = {.options = &options, .arena = &a, .buffers = &b, .num_buffers = 1};
  Buf out = buf_make(&a);
  bool ok = run_compare(&run, NULL, &limits, &out);
  if (!strstr(buf_str(&out), says)) fail_msg("'%s' is not in: %s", says, buf_str(&out));
  arena_free(&a);
  return ok;
}

TEST(by_dtype) {
  static const struct { DtypeKind dtype; double ref, good, bad; } cases[] = {
    // The bound is rtol * (|ref| + largest |ref|) = 2 rtol |ref| for the largest element.
    {DT_FP32, 1, 1 + 1.9e-4, 1 + 2.1e-4}, {DT_FP16, 1, 1 + 1.9e-2, 1 + 2.2e-2},   {DT_BF16, 1, 1.03, 1.06},
    {DT_FP64, 1, 1 + 1.9e-9, 1 + 2.1e-9}, {DT_FP8E5, 1, 1.25, 1.5}, {DT_INT32, 100000, 100000, 100001},
  };
  for (uint32_t i = 0; i < countof(cases); i++) {
    const double ref[N] = {cases[i].ref, 0, 0, 0}, good[N] = {cases[i].good, 0, 0, 0}, bad[N] = {cases[i].bad, 0, 0, 0};
    assert_true(verdict(cases[i].dtype, good, ref, (CheckLimits){0}, "ok"));
    assert_false(verdict(cases[i].dtype, bad, ref, (CheckLimits){0}, "1 of 4 elements differ; the first is [0]"));
  }
}

TEST(limits) {
  const double ref[N] = {1, 2, 3, 4}, got[N] = {1, 2, 3.01, 4};
  assert_false(verdict(DT_FP32, got, ref, (CheckLimits){0}, "FAILED"));
  assert_true(verdict(DT_FP32, got, ref, (CheckLimits){.uses_tf32 = true}, "rtol 0.002"));
  assert_true(verdict(DT_FP32, got, ref, (CheckLimits){.has_rtol = true, .atol = 0.02}, "ok"));
  assert_false(verdict(DT_FP32, got, ref, (CheckLimits){.has_rtol = true, .atol = 0.005}, "[2]"));
}

TEST(special_values) {
  const double ref[N] = {NAN, INFINITY, -INFINITY, 1};
  assert_true(verdict(DT_FP32, ref, ref, (CheckLimits){0}, "ok"));
  const double wrong[3][N] = {{0, INFINITY, -INFINITY, 1}, {NAN, -INFINITY, -INFINITY, 1}, {NAN, INFINITY, -INFINITY, NAN}};
  for (int i = 0; i < 3; i++) assert_false(verdict(DT_FP32, wrong[i], ref, (CheckLimits){0}, "1 of 4"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(by_dtype), cmocka_unit_test(limits), cmocka_unit_test(special_values)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
