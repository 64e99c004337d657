// The JIT with many parameters: more than a launch keeps on its stack, constexprs, tuples and tuning among them.
#include "tile_case.h"

#include <stdio.h>
#include <stdlib.h>

enum { NUMBERS = 300, CONSTANTS = 100, PARAMS = 1 + NUMBERS + CONSTANTS };

// def wide(out, a0, …, c0: tl.constexpr, …): what it stores depends on the last of each.
static char *wide_source(const char *decorator) {
  char *text = malloc(1 << 16), *at = text;
  at += sprintf(at, "import triton\nimport triton.language as tl\n%s@triton.jit\ndef wide(out", decorator);
  for (int i = 0; i < NUMBERS; i++) at += sprintf(at, ", a%d", i);
  for (int i = 0; i < CONSTANTS; i++) at += sprintf(at, ", c%d: tl.constexpr", i);
  sprintf(at, "):\n    tl.store(out, a0 + a%d * 2 + c0 + c%d * 3)\n", NUMBERS - 1, CONSTANTS - 1);
  return text;
}

static void fill(tile_arg *args, uint64_t out) {
  args[0] = tile_arg_array(out, TILE_INT32);
  for (int i = 1; i < PARAMS; i++) args[i] = tile_arg_int(i + 1);
}

enum { EXPECTED = 2 + (NUMBERS + 1) * 2 + (NUMBERS + 2) + (NUMBERS + CONSTANTS + 1) * 3 };

static void launches_on(const char *device) {
  tile_device *d = case_device_or_skip(device);
  char *source = wide_source("");
  tile_jit *jit = case_jit(d, source);
  tile_jit_kernel *k = case_kernel(jit, "wide");
  assert_int_equal(tile_jit_num_params(k), PARAMS);
  int32_t got = 0;
  uint64_t out = case_buffer(d, &got, sizeof got);
  tile_arg args[PARAMS + 1];
  fill(args, out);
  OK(tile_jit_launch(k, NULL, args, PARAMS, &error));
  OK(tile_memory_download(d, &got, out, sizeof got, &error));
  assert_int_equal(got, EXPECTED);
  args[NUMBERS] = tile_arg_int(7);                  // the same variant
  const tile_variant *v = NULL;
  OK(tile_jit_prepare(k, NULL, args, PARAMS, &v, &error));
  OK(tile_variant_launch(v, (uint32_t[3]){1, 1, 1}, NULL, args, PARAMS, &error));
  OK(tile_memory_download(d, &got, out, sizeof got, &error));
  assert_int_equal(got, EXPECTED - 2 * (NUMBERS + 1 - 7));
  assert_int_equal(tile_jit_num_variants(k), 1);
  args[PARAMS - 1] = tile_arg_text("2 + 3");        // another
  OK(tile_jit_launch(k, NULL, args, PARAMS, &error));
  OK(tile_memory_download(d, &got, out, sizeof got, &error));
  assert_int_equal(got, EXPECTED - 2 * (NUMBERS + 1 - 7) - 3 * (PARAMS - 5));
  assert_int_equal(tile_jit_num_variants(k), 2);
  args[3] = args[0];
  REFUSED(tile_jit_launch(k, NULL, args, PARAMS + 1, &error), TILE_ERROR_USAGE, "wide takes 401 arguments, got 402");
  tile_jit_close(jit);
  free(source);
  OK(tile_memory_free(d, out, &error));
  tile_device_close(d);
}

TEST(on_interp) { launches_on("interp"); }
TEST(on_sim) { launches_on("sim"); }
TEST(on_gpu) { launches_on("gpu"); }

// A tuple with more items than a launch's usual room.
TEST(tuples) {
  tile_device *d = case_device("sim");
  tile_jit *jit = case_jit(d, "import triton\nimport triton.language as tl\n@triton.jit\ndef last(out, t):\n"
                              "    tl.store(out, t[-1] + t[0])\n");
  tile_jit_kernel *k = case_kernel(jit, "last");
  int32_t got = 0;
  uint64_t out = case_buffer(d, &got, sizeof got);
  tile_arg items[300];
  for (int i = 0; i < 300; i++) items[i] = tile_arg_int(i + 2);
  const tile_tuple t = {items, 300, NULL, 0};
  for (int round = 0; round < 2; round++) {
    OK(tile_jit_launch(k, NULL, (const tile_arg[]){tile_arg_array(out, TILE_INT32), tile_arg_tuple(&t)}, 2, &error));
    OK(tile_memory_download(d, &got, out, sizeof got, &error));
    assert_int_equal(got, items[0].value.i + 301);
    items[0] = tile_arg_int(5);
  }
  assert_int_equal(tile_jit_num_variants(k), 1);
  tile_jit_close(jit);
  OK(tile_memory_free(d, out, &error));
  tile_device_close(d);
}

TEST(tuned) {
  tile_device *d = case_device("interp");
  char *source = wide_source("@triton.autotune([triton.Config({'c0': 302}), triton.Config({'c0': 302}, num_warps=2)], "
                             "key=['a1'])\n");
  tile_jit *jit = case_jit(d, source);
  tile_jit_kernel *k = case_kernel(jit, "wide");
  int32_t got = 0;
  uint64_t out = case_buffer(d, &got, sizeof got);
  tile_arg args[PARAMS];
  fill(args, out);
  args[1 + NUMBERS] = tile_arg_default();
  OK(tile_jit_launch(k, NULL, args, PARAMS, &error));
  OK(tile_memory_download(d, &got, out, sizeof got, &error));
  assert_int_equal(got, EXPECTED);
  tile_jit_close(jit);
  free(source);
  OK(tile_memory_free(d, out, &error));
  tile_device_close(d);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(on_interp), cmocka_unit_test(on_sim), cmocka_unit_test(on_gpu),
                                     cmocka_unit_test(tuples), cmocka_unit_test(tuned)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
