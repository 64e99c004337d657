// Options: every form of the command line, the library's strings, and the messages for what is wrong.
#include "unit.h"
#include "ir/nearest.h"

#include "runtime/compile/error.h"
#include "runtime/compile/options.h"

typedef struct { Arena arena; Options o; tile_error *error; } Fixture;

static int set_up(void **state) {
  Fixture *f = test_calloc(1, sizeof *f);
  arena_init(&f->arena);
  options_init(&f->o, &f->arena);
  *state = f;
  return 0;
}

static int tear_down(void **state) {
  Fixture *f = *state;
  tile_error_free(f->error);
  arena_free(&f->arena);
  test_free(f);
  return 0;
}

#define PARSE(f, command, ...)                                                                                        \
  options_parse(&(f)->o, command, (int)countof(((const char *[]){__VA_ARGS__})), (const char *[]){__VA_ARGS__}, &(f)->error)

static void every_spelling(void **state) {
  Fixture *f = *state;
  assert_true(PARSE(f, COMMAND_COMPILE, "-k", "add", "-w8", "--num_stages", "2", "-DBLOCK=64", "-D", "M=a=b", "--enable-fp-fusion=0", "-Iinc",
                    "--no-line-info", "-MD", "-MF", "x.d", "-O2", "kernel.tile", "-o", "-"));
  assert_string_equal(f->o.kernel, "add");
  assert_int_equal(f->o.num_warps, 8);
  assert_int_equal(f->o.num_stages, 2);
  assert_int_equal(f->o.defines.count, 2);
  assert_string_equal(f->o.defines.data[1], "M=a=b");
  assert_false(f->o.fp_fusion);
  assert_false(f->o.line_info);
  assert_string_equal(f->o.include_paths.data[0], "inc");
  assert_true(f->o.depfile);
  assert_string_equal(f->o.depfile_name, "x.d");
  assert_int_equal(f->o.opt_level, 2);
  assert_string_equal(f->o.output, "-");
  assert_int_equal(f->o.inputs.count, 1);
  assert_true(PARSE(f, COMMAND_COMPILE, "-n", "sub", "--enable-fp-fusion", "--", "-w8"));
  assert_string_equal(f->o.kernel, "sub");
  assert_true(f->o.fp_fusion);
  assert_string_equal(f->o.inputs.data[1], "-w8");
}

// Warnings go by their letter, also in the library; they never take the next argument, and the last one wins.
static void warnings(void **state) {
  Fixture *f = *state;
  WarningSet set;
  const uint64_t variable = (uint64_t)1 << WARN_UNUSED_VARIABLE, none = (uint64_t)1 << WARN_NONE_COMPARE;
  assert_true(options_warnings(&f->o, &set, &f->error));
  assert_true(set.on & variable && !(set.on & none) && !set.as_error);
  assert_true(PARSE(f, COMMAND_RUN, "-W", "a.tile", "-Wno-unused-variable", "--warn=error=unused-variable", "--warn"));
  assert_int_equal(f->o.inputs.count, 1);
  assert_true(options_warnings(&f->o, &set, &f->error));
  assert_true(set.on & none && set.as_error == variable);
  assert_true(options_set(&f->o, "Wno-none-compare", NULL, &f->error));
  assert_true(options_set(&f->o, "warn", "no-error", &f->error));
  assert_true(options_warnings(&f->o, &set, &f->error));
  assert_true(!(set.on & none) && !set.as_error);
  StrList given = {0};
  options_given(&f->o, (const char *const[]){NULL}, &given);
  assert_int_equal(given.count, 6);
  assert_string_equal(given.data[0], "warn=");
  assert_string_equal(given.data[4], "warn=no-none-compare");
  assert_false(options_set(&f->o, "Wnone-compar", NULL, &f->error));
  assert_string_equal(tile_error_message(f->error), "-Wnone-compar: there is no such warning; did you mean none-compare?");
}

static void defaults(void **state) {
  Fixture *f = *state;
  assert_true(f->o.fp_fusion && f->o.line_info && f->o.auto_tma);
  assert_int_equal(f->o.num_warps, 0);
  assert_int_equal(f->o.stop_after, -1);
  assert_false(f->o.check);
}

static void refuse(Fixture *f, bool parsed, const char *says) {
  assert_false(parsed);
  assert_int_equal(tile_error_status(f->error), TILE_ERROR_USAGE);
  if (!strstr(tile_error_message(f->error), says)) fail_msg("'%s' is not in: %s", says, tile_error_message(f->error));
  tile_error_free(f->error);
  f->error = NULL;
}

static void refusals(void **state) {
  Fixture *f = *state;
  refuse(f, PARSE(f, COMMAND_COMPILE, "--num-warp=4"), "did you mean --num-warps?");
  refuse(f, PARSE(f, COMMAND_COMPILE, "--zzzzzzzz"), "there is no option --zzzzzzzz");
  refuse(f, PARSE(f, COMMAND_COMPILE, "-w", "64"), "from 1 to 32");
  refuse(f, PARSE(f, COMMAND_COMPILE, "-w", "4x"), "not '4x'");
  refuse(f, PARSE(f, COMMAND_COMPILE, "-w", "99999999999999999999"), "whole number");
  refuse(f, PARSE(f, COMMAND_COMPILE, "-o"), "needs a value: FILE");
  refuse(f, PARSE(f, COMMAND_COMPILE, "--grid=4"), "tilec run");
  refuse(f, PARSE(f, COMMAND_COMPILE, "-DBLOCK"), "NAME=VALUE");
  refuse(f, PARSE(f, COMMAND_COMPILE, "--verify-each=maybe"), "0 or 1");
  refuse(f, PARSE(f, COMMAND_COMPILE, "--no-arch"), "--no-arch");
  f->o.defines.count = 0;
  refuse(f, PARSE(f, COMMAND_COMPILE, "--color=red"), "auto, always or never");
  f->o.color = NULL;
  refuse(f, PARSE(f, COMMAND_COMPILE, "-w", "3"), "power of two");
}

static void by_string(void **state) {
  Fixture *f = *state;
  assert_true(options_set(&f->o, "num-warps", "16", &f->error));
  assert_true(options_set(&f->o, "--enable-fp-fusion=0", NULL, &f->error));
  assert_true(options_set(&f->o, "verify_each", NULL, &f->error));
  assert_int_equal(f->o.num_warps, 16);
  assert_false(f->o.fp_fusion);
  assert_true(f->o.verify_each);
  refuse(f, options_set(&f->o, "output", "x", &f->error), "not a compile option");
  refuse(f, options_set(&f->o, "arch", NULL, &f->error), "needs a value");
}

static void table_as_text(void **state) {
  Fixture *f = *state;
  const OptionsForm forms[] = {OPTIONS_HELP, OPTIONS_MAN, OPTIONS_JSON, OPTIONS_BASH, OPTIONS_ZSH, OPTIONS_FISH};
  const char *const has[] = {"-n, -k, --kernel=NAME", "\\-\\-kernel=NAME", "\"name\": \"kernel\"", "--kernel=", "--kernel=[", "-l kernel"};
  for (uint32_t i = 0; i < countof(forms); i++) {
    Buf b = buf_make(&f->arena);
    options_print(&b, forms[i], COMMAND_COMPILE);
    assert_non_null(strstr(buf_str(&b), has[i]));
  }
}

TEST(nearest) {
  static const char *const names[] = {"sm_80", "sm_90", "sm_90a"};
  assert_string_equal(nearest_name("sm_90b", names, 3), "sm_90");
  assert_null(nearest_name("gfx942", names, 3));
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(every_spelling, set_up, tear_down), cmocka_unit_test_setup_teardown(defaults, set_up, tear_down),
    cmocka_unit_test_setup_teardown(refusals, set_up, tear_down),       cmocka_unit_test_setup_teardown(by_string, set_up, tear_down),
    cmocka_unit_test_setup_teardown(table_as_text, set_up, tear_down),  cmocka_unit_test(nearest),
    cmocka_unit_test_setup_teardown(warnings, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
