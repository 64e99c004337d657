// What a variant is made of, options of single launches, and sources that a program gathered from several files.
#include <stdio.h>
#include <stdlib.h>

#include "tile_case.h"

static const char source[] =
    "import triton\nimport triton.language as tl\n\n@triton.jit\ndef twice(v):\n    return v * 2.0\n\n"
    "@triton.jit\ndef half(v):\n    return v * 0.5\n\n"
    "@triton.jit\ndef k(x, y, n, B: tl.constexpr, F: tl.constexpr = None, T: tl.constexpr = None):\n"
    "    i = tl.arange(0, B)\n    v = tl.load(x + i, mask=i < n) * 3.0 + 1.0\n"
    "    if F is not None:\n        v = F(v)\n    if T is not None:\n        v = T[0](v).to(T[1])\n"
    "    tl.store(y + i, v, mask=i < n)\n";

typedef struct { tile_device *d; tile_jit *jit; tile_jit_kernel *k; uint64_t x, y; } Bench;

static Bench open_bench(const char *spec) {
  Bench b = {.d = case_device(spec)};
  float ones[16];
  for (int i = 0; i < 16; i++) ones[i] = (float)i;
  b.jit = case_jit(b.d, source);
  b.k = case_kernel(b.jit, "k");
  b.x = case_buffer(b.d, ones, sizeof ones);
  b.y = case_buffer(b.d, ones, sizeof ones);
  return b;
}
static void close_bench(Bench *b) {
  tile_jit_close(b->jit);
  tile_device_close(b->d);
}

static const tile_variant *variant(const Bench *b, const tile_jit_launch_options *o) {
  const tile_variant *v = NULL;
  const tile_arg args[] = {tile_arg_array(b->x, TILE_FP32), tile_arg_array(b->y, TILE_FP32), tile_arg_int(16),
                           tile_arg_int(16)};
  OK(tile_jit_prepare(b->k, o, args, 4, &v, &error));
  return v;
}

static const char *output(const tile_variant *v, unsigned emit, size_t *size) {
  const char *data = NULL;
  OK(tile_variant_output(v, emit, &data, size, &error));
  assert_int_equal(data[*size], 0);
  return data;
}

static void outputs(const char *spec) {
  Bench b = open_bench(spec);
  const tile_variant *v = variant(&b, NULL);
  size_t size = 0;
  const struct { unsigned emit; const char *says; } wanted[] = {
      {TILE_EMIT_PTX, ".entry k("}, {TILE_EMIT_METADATA, "\"name\": \"k\""}, {TILE_EMIT_TILE, "func @k("},
      {TILE_EMIT_LAID_OUT, "#"}, {TILE_EMIT_ALLOCATED, "func @k("}, {TILE_EMIT_LLVM, "define"},
      {TILE_EMIT_AST, "twice"}, {TILE_EMIT_REPORT, "\"kernels\""}, {TILE_EMIT_LAYOUT_SVG, "<svg"}};
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    const char *text = output(v, wanted[i].emit, &size);
    if (!strstr(text, wanted[i].says)) fail_msg("'%s' is not in: %s", wanted[i].says, text);
    assert_int_equal(strlen(text), size);
    assert_ptr_equal(output(v, wanted[i].emit, &size), text);
  }
  const char *data;
  REFUSED(tile_variant_output(v, TILE_EMIT_HEADER, &data, NULL, &error), TILE_ERROR_USAGE,
          "emit is 0x100: a variant has one of TILE_EMIT_*, except for _HEADER");
  assert_null(data);
  REFUSED(tile_variant_output(v, 3, &data, NULL, &error), TILE_ERROR_USAGE, "emit is 0x3");
  setenv("TILE_ASSEMBLER", "driver", 1);
  REFUSED(tile_variant_output(v, TILE_EMIT_CUBIN, &data, NULL, &error), TILE_ERROR_FILE,
          "machine code needs an assembler: install ptxas, or name one with TILE_PTXAS");
  tile_resources r = TILE_RESOURCES_INIT;
  OK(tile_variant_resources(v, &r, &error));
  assert_false(r.is_assembled);
  assert_int_equal(r.threads, 128);
  unsetenv("TILE_ASSEMBLER");
  OK(tile_variant_resources(v, &r, &error));
  if (r.is_assembled) {
    assert_in_range(r.registers, 4, 128);
    assert_memory_equal(output(v, TILE_EMIT_CUBIN, &size), "\177ELF", 4);
  }
  close_bench(&b);
}
TEST(outputs_on_sim) { outputs("sim"); }
TEST(outputs_on_interp) { outputs("interp"); }

static void launch_options(const char *spec) {
  Bench b = open_bench(spec);
  const char *const unfused[] = {"enable-fp-fusion=0"};
  tile_jit_launch_options o = TILE_JIT_LAUNCH_OPTIONS_INIT;
  const tile_variant *plain = variant(&b, NULL);
  o.options = unfused;
  o.num_options = 1;
  const tile_variant *other = variant(&b, &o);
  assert_ptr_not_equal(plain, other);
  assert_ptr_equal(variant(&b, &o), other);
  assert_ptr_equal(variant(&b, NULL), plain);
  assert_int_equal(tile_jit_num_variants(b.k), 2);
  size_t size;
  assert_non_null(strstr(output(plain, TILE_EMIT_PTX, &size), "fma.rn.f32"));
  assert_null(strstr(output(other, TILE_EMIT_PTX, &size), "fma.rn.f32"));
  const tile_arg args[] = {tile_arg_array(b.x, TILE_FP32), tile_arg_array(b.y, TILE_FP32), tile_arg_int(16),
                           tile_arg_int(16)};
  const struct { const char *option; const char *says; } wrong[] = {
      {"no-such-option=1", "no-such-option"}, {"arch=sm_80", "`ir_override` and `arch` are no options of a launch"},
      {NULL, "k: launch option 0 is NULL"}};
  for (int i = 0; i < 3; i++) {
    o.options = &wrong[i].option;
    REFUSED(tile_jit_launch(b.k, &o, args, 4, &error), TILE_ERROR_USAGE, wrong[i].says);
  }
  o.num_options = 65;
  REFUSED(tile_jit_launch(b.k, &o, args, 4, &error), TILE_ERROR_USAGE, "k: 65 launch options; at most 64 are possible");
  o.options = NULL;
  REFUSED(tile_jit_launch(b.k, &o, args, 4, &error), TILE_ERROR_USAGE, "tile_jit_launch: `options->options` is NULL");
  close_bench(&b);
}
TEST(launch_options_on_sim) { launch_options("sim"); }
TEST(launch_options_on_interp) { launch_options("interp"); }

// A constexpr may be a function of the source, or a tuple of functions and types.
static void functions(const char *spec) {
  Bench b = open_bench(spec);
  const struct { tile_arg f, t; float wanted; } runs[] = {
      {tile_arg_text("twice"), tile_arg_default(), 8}, {tile_arg_text("half"), tile_arg_default(), 2},
      {tile_arg_default(), tile_arg_text("(twice, tl.float32)"), 8}, {tile_arg_text("half"), tile_arg_text("(half, tl.float16)"), 1}};
  for (int i = 0; i < 4; i++) {
    const tile_arg args[] = {tile_arg_array(b.x, TILE_FP32), tile_arg_array(b.y, TILE_FP32), tile_arg_int(16),
                             tile_arg_int(16), runs[i].f, runs[i].t};
    float got[16];
    OK(tile_jit_launch(b.k, NULL, args, 6, &error));
    OK(tile_memory_download(b.d, got, b.y, sizeof got, &error));
    assert_float_equal(got[1], runs[i].wanted, 0);
  }
  close_bench(&b);
}
TEST(functions_on_sim) { functions("sim"); }
TEST(functions_on_interp) { functions("interp"); }

// ---- source maps ----

static const char gathered[] = "X = 1\n"                                        // 1: of the text itself
                               "@kernel\ndef good(x: *fp32):\n    store(x, 1.0)\n"   // 2: a.py, from 10
                               "@kernel\ndef bad(x: *fp32):\n    store(x, z)\n";     // 5: b.py, from 200
static const tile_source_range map[] = {{2, 10, "a.py", {0}}, {5, 200, "dir/b.py", {0}}};

TEST(mapped_diagnostics) {
  tile_compile_options o = TILE_COMPILE_OPTIONS_INIT;
  o.source_map = map;
  o.num_source_map = 2;
  o.kernel = "bad";
  tile_program *p = NULL;
  tile_error *e = NULL;
  assert_int_equal(tile_compile_memory("gathered.tile", gathered, sizeof gathered - 1, &o, &p, &e), TILE_ERROR_PROGRAM);
  tile_diagnostic d = TILE_DIAGNOSTIC_INIT;
  assert_true(tile_error_get_diagnostic(e, 0, &d));
  assert_string_equal(d.file, "dir/b.py");
  assert_int_equal(d.line, 202);
  assert_int_equal(d.column, 14);
  assert_int_equal(d.end_line, 202);
  assert_non_null(strstr(tile_error_message(e), "dir/b.py:202:14: error: "));
  assert_non_null(strstr(tile_error_message(e), "    store(x, z)"));
  tile_error_free(e);
  const char *const lines[] = {"line-info=1"};
  o.options = lines;
  o.num_options = 1;
  o.kernel = "good";
  OK(tile_compile_memory("gathered.tile", gathered, sizeof gathered - 1, &o, &p, &error));
  assert_non_null(strstr(tile_program_output(p, TILE_EMIT_PTX, NULL), "a.py\""));
  assert_non_null(strstr(tile_program_output(p, TILE_EMIT_PTX, NULL), "\t1 12 5"));
  tile_program_free(p);
  o.num_source_map = 1;   // then the rest is of the first file, too
  o.kernel = "bad";
  REFUSED(tile_compile_memory("gathered.tile", gathered, sizeof gathered - 1, &o, &p, &error), TILE_ERROR_PROGRAM,
          "a.py:15:14: error: ");
}

TEST(wrong_maps) {
  tile_compile_options o = TILE_COMPILE_OPTIONS_INIT;
  tile_program *p = NULL;
  const struct { tile_source_range r[2]; const char *says; } wrong[] = {
      {{{1, 1, NULL, {0}}, {2, 1, "a", {0}}}, "source_map[0] names no file"},
      {{{1, 1, "a", {0}}, {1, 1, "a", {0}}}, "source_map[1]: lines count from 1 to 1048576, and first_line ascends from range to range; there are first_line 1 and file_line 1"},
      {{{0, 1, "a", {0}}, {1, 1, "a", {0}}}, "source_map[0]: lines"},
      {{{1, 1 << 30, "a", {0}}, {2, 1, "a", {0}}}, "source_map[0]: lines"}};
  o.num_source_map = 2;
  REFUSED(tile_compile_memory("x.tile", "", 0, &o, &p, &error), TILE_ERROR_USAGE, "source_map is NULL, and num_source_map 2");
  for (int i = 0; i < 4; i++) {
    o.source_map = wrong[i].r;
    REFUSED(tile_compile_memory("x.tile", "", 0, &o, &p, &error), TILE_ERROR_USAGE, wrong[i].says);
  }
}

TEST(mapped_jit) {
  tile_device *d = case_device("sim");
  tile_jit_options o = TILE_JIT_OPTIONS_INIT;
  tile_jit *jit = NULL;
  o.source_map = map;
  o.num_source_map = 2;
  o.no_cache = true;
  OK(tile_jit_open_memory(d, "gathered.tile", gathered, sizeof gathered - 1, &o, &jit, &error));
  const tile_arg arg = tile_arg_array(case_buffer(d, NULL, 4), TILE_FP32), wild = tile_arg_array(1 << 20, TILE_FP32);
  OK(tile_jit_launch(case_kernel(jit, "good"), NULL, &arg, 1, &error));
  REFUSED(tile_jit_launch(case_kernel(jit, "bad"), NULL, &arg, 1, &error), TILE_ERROR_PROGRAM, "dir/b.py:202:14: error: ");
  REFUSED(tile_jit_launch(case_kernel(jit, "good"), NULL, &wild, 1, &error), TILE_ERROR_RUN, "a.py:12");
  tile_jit_close(jit);
  tile_device_close(d);
}

// ---- warnings of the JIT's compilations ----

static void keep_log(void *user, tile_level level, const char *message) {
  snprintf(user, 256, "%d %s", (int)level, message);
}

TEST(logged) {
  char said[256] = "";
  tile_device *d = case_device("sim");
  tile_hooks hooks = TILE_HOOKS_INIT;
  hooks.user = said;
  hooks.log = keep_log;
  tile_jit_options o = TILE_JIT_OPTIONS_INIT;
  tile_jit *jit = NULL;
  const char *const remarks[] = {"remarks"};
  o.hooks = &hooks;
  o.no_cache = true;
  o.options = remarks;
  o.num_options = 1;
  static const char text[] = "@kernel\ndef k(x: *fp32, s: i32):\n    i = arange(0, 256)\n    store(x + i, load(x + i * s))\n";
  OK(tile_jit_open_memory(d, "logged.tile", text, sizeof text - 1, &o, &jit, &error));
  const tile_arg args[] = {tile_arg_array(1 << 20, TILE_FP32), tile_arg_int(3)};
  OK(tile_jit_prepare(case_kernel(jit, "k"), NULL, args, 2, NULL, &error));
  assert_string_not_equal(said, "");
  tile_jit_close(jit);
  tile_device_close(d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(outputs_on_sim), cmocka_unit_test(outputs_on_interp), cmocka_unit_test(launch_options_on_sim),
      cmocka_unit_test(launch_options_on_interp), cmocka_unit_test(functions_on_sim),
      cmocka_unit_test(functions_on_interp), cmocka_unit_test(mapped_diagnostics), cmocka_unit_test(wrong_maps),
      cmocka_unit_test(mapped_jit), cmocka_unit_test(logged)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
