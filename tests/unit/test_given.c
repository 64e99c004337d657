// What a caller gives: the sizes of structures, NULL, and what is asked for past the end.
#include <stdlib.h>

#include "tile_case.h"

static const char source[] = "@kernel\ndef one(x: *fp32, n: i32, B: constexpr = 16):\n    store(x + n, B)\n";

static tile_program *compiled(void) {
  tile_program *p = NULL;
  OK(tile_compile_memory("one.tile", source, sizeof source - 1, NULL, &p, &error));
  return p;
}

TEST(sizes_of_options) {
  tile_program *p = NULL;
  struct { tile_compile_options known; uint64_t later; } newer = {TILE_COMPILE_OPTIONS_INIT, 0};
  newer.known.struct_size = sizeof newer;
  newer.known.kernel = "one";
  OK(tile_compile_memory("one.tile", source, sizeof source - 1, &newer.known, &p, &error));
  tile_program_free(p);
  newer.later = 1;
  REFUSED(tile_compile_memory("one.tile", source, sizeof source - 1, &newer.known, &p, &error), TILE_ERROR_USAGE,
          "tile_compile_options: it is of a newer header and uses fields that this library, version 0.2.0, does not have");
  assert_null(p);
  const size_t wrong[] = {0, 8, sizeof(tile_compile_options) - 8, (size_t)1 << 40};
  for (size_t i = 0; i < 4; i++) {
    tile_compile_options o = TILE_COMPILE_OPTIONS_INIT;
    o.struct_size = wrong[i];
    REFUSED(tile_compile_memory("one.tile", source, sizeof source - 1, &o, &p, &error), TILE_ERROR_USAGE,
            "tile_compile_options: its struct_size is ");
  }
  tile_hooks hooks = {0};
  tile_compile_options o = TILE_COMPILE_OPTIONS_INIT;
  o.hooks = &hooks;
  REFUSED(tile_compile_memory("one.tile", source, sizeof source - 1, &o, &p, &error), TILE_ERROR_USAGE,
          "tile_hooks: its struct_size is 0, and the structure has at least 56 bytes: start from its _INIT macro");
}

TEST(values_of_options) {
  tile_program *p = NULL;
  tile_jit *jit = NULL;
  tile_device *d = case_device("interp");
  const char *texts[] = {"Wall", NULL};
  tile_compile_options c = TILE_COMPILE_OPTIONS_INIT;
  tile_jit_options j = TILE_JIT_OPTIONS_INIT;
#define COMPILE(says) REFUSED(tile_compile_memory("one.tile", source, sizeof source - 1, &c, &p, &error), TILE_ERROR_USAGE, says)
#define OPEN(says) REFUSED(tile_jit_open_memory(d, "one.tile", source, sizeof source - 1, &j, &jit, &error), TILE_ERROR_USAGE, says)
  c.options = j.options = texts, c.num_options = j.num_options = 2;
  COMPILE("options[1] is NULL");
  OPEN("options[1] is NULL");
  c.options = j.options = NULL;
  COMPILE("`options` is NULL, and there are to be 2");
  OPEN("`options` is NULL, and there are to be 2");
  c.num_options = j.num_options = 0;
  c.include_paths = j.include_paths = texts, c.num_include_paths = j.num_include_paths = 2;
  COMPILE("include_paths[1] is NULL");
  OPEN("include_paths[1] is NULL");
  c.num_include_paths = j.num_include_paths = 0;
  c.seconds = j.compile_seconds = -1;
  COMPILE("seconds is -1; 0 means no limit");
  OPEN("compile_seconds is -1; 0 means no limit");
  j.compile_seconds = 0, j.tune_seconds = -0.5;
  OPEN("tune_seconds is -0.5; 0 means no limit");
  j.tune_seconds = 0, j.tune = (tile_tune_mode)3;
  OPEN("tile_jit_options: tune is 3 and policy 0; there are 0, 1 and 2");
  REFUSED(tile_compile_memory("", source, sizeof source - 1, NULL, &p, &error), TILE_ERROR_USAGE, "`name` is empty: messages need one");
  REFUSED(tile_jit_open_memory(d, "", source, sizeof source - 1, NULL, &jit, &error), TILE_ERROR_USAGE, "`name` is empty: messages need one");
  tile_device_close(d);
}

TEST(sizes_of_results) {
  tile_program *p = NULL;
  tile_error *e = NULL;
  assert_int_equal(tile_compile_memory("bad.tile", "@kernel\ndef k(x: *fp32):\n    y = z\n    z()\n", 39, NULL, &p, &e),
                   TILE_ERROR_PROGRAM);
  struct { tile_diagnostic known; uint64_t later; } newer = {TILE_DIAGNOSTIC_INIT, 7};
  newer.known.struct_size = sizeof newer;
  assert_true(tile_error_get_diagnostic(e, 0, &newer.known));
  assert_int_equal(newer.known.struct_size, sizeof newer);
  assert_int_equal(newer.known.line, 3);
  assert_int_equal(newer.known.column, 9);
  assert_int_equal(newer.known.end_line, 3);
  assert_int_equal(newer.known.end_column, 10);
  assert_int_equal(newer.known.note_of, -1);
  assert_int_equal(newer.later, 7);
  tile_diagnostic none = {.line = 77};
  assert_false(tile_error_get_diagnostic(e, 0, &none));
  assert_int_equal(none.line, 77);
  tile_diagnostic d = TILE_DIAGNOSTIC_INIT;
  assert_false(tile_error_get_diagnostic(e, tile_error_num_diagnostics(e), &d));
  tile_error_free(e);
  p = compiled();
  assert_false(tile_program_get_diagnostic(p, 0, &d));
  tile_fixit f = TILE_FIXIT_INIT;
  assert_false(tile_program_get_fixit(p, 0, 0, &f));
  tile_program_free(p);
}

TEST(names_of_statuses) {
  assert_string_equal(tile_status_name(TILE_OK), "TILE_OK");
  assert_string_equal(tile_status_name(TILE_ERROR_INTERNAL), "TILE_ERROR_INTERNAL");
  assert_string_equal(tile_status_text(TILE_ERROR_NO_MEMORY), "out of memory");
  for (int i = 0; i <= TILE_ERROR_RESOURCES; i++) assert_string_not_equal(tile_status_name((tile_status)i), "unknown status");
  assert_string_equal(tile_status_name((tile_status)50), "unknown status");
  assert_string_equal(tile_status_text((tile_status)-1), "unknown status");
  assert_string_equal(tile_type_name(TILE_BF16), "bf16");
  assert_null(tile_type_name((tile_type)99));
}

TEST(parameters) {
  static const char text[] =
      "@kernel\ndef k(x: *fp16, d: tensordesc[fp32, [8, 32]], n: i64, f: fp32, B: constexpr = 16):\n"
      "    store(x + arange(0, B) + n, (f + d.load([0, 0]).to(fp32).sum()).to(fp16))\n";
  tile_device *device = case_device("sim");
  tile_compile_options o = TILE_COMPILE_OPTIONS_INIT;
  o.signature = "*fp16:16, tensordesc<fp32[8, 32]>, i64:16, fp32, 16";
  tile_program *p = NULL;
  tile_kernel *k = NULL;
  OK(tile_compile_memory("k.tile", text, sizeof text - 1, &o, &p, &error));
  OK(tile_kernel_load(device, p, NULL, &k, &error));
  const struct { const char *name, *text; tile_arg_kind kind; tile_type type; int64_t divisibility; uint32_t rank; } wanted[] = {
      {"x", "*fp16", TILE_ARG_POINTER, TILE_FP16, 16, 0},
      {"d", "tensordesc<fp32[8,32]>", TILE_ARG_TENSOR, TILE_FP32, 16, 2},
      {"n", "i64", TILE_ARG_INT, TILE_INT64, 16, 0},
      {"f", "fp32", TILE_ARG_FLOAT, TILE_FP32, 1, 0}};
  assert_int_equal(tile_kernel_num_args(k), 4);
  tile_param got = TILE_PARAM_INIT;
  for (size_t i = 0; i < 4; i++) {
    assert_true(tile_kernel_get_param(k, i, &got));
    assert_string_equal(got.name, wanted[i].name);
    assert_string_equal(got.type_text, wanted[i].text);
    assert_int_equal(got.kind, wanted[i].kind);
    assert_int_equal(got.type, wanted[i].type);
    assert_int_equal(got.divisibility, wanted[i].divisibility);
    assert_int_equal(got.rank, wanted[i].rank);
    if (got.rank) assert_int_equal(got.block[0], 8), assert_int_equal(got.block[1], 32);
  }
  assert_false(tile_kernel_get_param(k, 4, &got));
  assert_int_equal(tile_kernel_num_constexprs(k), 1);
  assert_string_equal(tile_kernel_constexpr_name(k, 0), "B");
  assert_null(tile_kernel_constexpr_name(k, 1));
  assert_string_equal(tile_kernel_arch(k), "sm_90a");
  assert_int_equal(tile_kernel_num_warps(k), 4);
  assert_int_equal(tile_kernel_num_ctas(k), 1);
  assert_in_range(tile_kernel_ptx_version(k), 78, 99);
  tile_kernel_free(k);
  tile_program_free(p);
  tile_device_close(device);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_of_options), cmocka_unit_test(sizes_of_results), cmocka_unit_test(values_of_options),
                                     cmocka_unit_test(names_of_statuses), cmocka_unit_test(parameters)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
