// SPECs of `tilec run`: every form, and what each mistake is told.
#include "unit.h"

#include "runtime/cli/run_spec.h"

TEST(scalars) {
  static const struct { const char *text; ArgSpecKind kind; bool has_dtype; DtypeKind dtype; int64_t i; double f; } cases[] = {
    {"3", ARG_INT, false, 0, 3, 3},           {"-3", ARG_INT, false, 0, -3, -3},       {"0x10", ARG_INT, false, 0, 16, 16},
    {"2.5", ARG_FLOAT, false, 0, 0, 2.5},     {"1e-3", ARG_FLOAT, false, 0, 0, 1e-3},  {"true", ARG_BOOL, false, 0, 1, 0},
    {"False", ARG_BOOL, false, 0, 0, 0},      {"none", ARG_NONE, false, 0, 0, 0},      {"None", ARG_NONE, false, 0, 0, 0},
    {"i64:3", ARG_INT, true, DT_INT64, 3, 3}, {"fp16:2.5", ARG_FLOAT, true, DT_FP16, 0, 2.5}, {"fp32:2", ARG_FLOAT, true, DT_FP32, 2, 2},
    {"18446744073709551615", ARG_INT, true, DT_UINT64, -1, 18446744073709551615.0},
  };
  Arena a;
  arena_init(&a);
  for (uint32_t i = 0; i < countof(cases); i++) {
    const ArgSpec *s = run_spec_parse(&a, cases[i].text, NULL);
    assert_non_null(s);
    assert_int_equal(s->kind, cases[i].kind);
    assert_int_equal(s->has_dtype, cases[i].has_dtype);
    if (s->has_dtype) assert_int_equal(s->dtype, cases[i].dtype);
    assert_true(s->i == cases[i].i);
    assert_true(s->f == cases[i].f);
  }
  arena_free(&a);
}

TEST(buffers) {
  Arena a;
  arena_init(&a);
  const ArgSpec *s = run_spec_parse(&a, "fp16[512,cdiv(n, 2)]=randn:7", NULL);
  assert_non_null(s);
  assert_int_equal(s->kind, ARG_BUFFER);
  assert_int_equal(s->dtype, DT_FP16);
  assert_int_equal(s->dims.count, 2);
  assert_string_equal(s->dims.data[1], "cdiv(n, 2)");
  assert_int_equal(s->fill.kind, FILL_RANDN);
  assert_int_equal(s->fill.seed, 7);
  s = run_spec_parse(&a, "uint8[4]=randint:1:-3:256", NULL);
  assert_int_equal(s->fill.lo, -3);
  assert_int_equal(s->fill.hi, 256);
  s = run_spec_parse(&a, "fp32[]=fill:-0.5", NULL);
  assert_int_equal(s->dims.count, 0);
  assert_true(s->fill.value == -0.5);
  s = run_spec_parse(&a, "@dir/in.npy:bf16", NULL);
  assert_int_equal(s->kind, ARG_FILE);
  assert_string_equal(s->name, "dir/in.npy");
  assert_true(s->has_dtype && s->dtype == DT_BF16);
  s = run_spec_parse(&a, "@C:/x.npy", NULL);
  assert_string_equal(s->name, "C:/x.npy");
  s = run_spec_parse(&a, "qkv+2*n", NULL);
  assert_int_equal(s->kind, ARG_ALIAS);
  assert_string_equal(s->name, "qkv");
  assert_string_equal(s->offset, "2*n");
  arena_free(&a);
}

TEST(descriptors) {
  Arena a;
  arena_init(&a);
  const ArgSpec *s = run_spec_parse(&a, "desc(fp16[200,96]=randn:1,[BM,BN//2],strides=[cdiv(K,8)*8,1],nan)", NULL);
  assert_non_null(s);
  assert_int_equal(s->kind, ARG_DESC);
  assert_int_equal(s->base->kind, ARG_BUFFER);
  assert_int_equal(s->block.count, 2);
  assert_string_equal(s->block.data[1], "BN//2");
  assert_int_equal(s->shape.count, 0);
  assert_string_equal(s->strides.data[0], "cdiv(K,8)*8");
  assert_true(s->pad_nan);
  s = run_spec_parse(&a, "desc(x+4,[16],shape=[n])", NULL);
  assert_int_equal(s->base->kind, ARG_ALIAS);
  assert_string_equal(s->shape.data[0], "n");
  arena_free(&a);
}

TEST(refusals) {
  static const struct { const char *text, *says; } cases[] = {
    {"fp17[4]=zeros", "no dtype 'fp17'"},   {"fp16[4]", "dtype[shape]=fill"},     {"fp16[4]=zero", "starts as zeros"},    {"fp16[4]=randn:x", "starts as zeros"},
    {"fp16[4]=randn:1:2", "starts as"},     {"i32[4]=randint:1:5:5", "LO < HI"},  {"i32[4]=fill", "starts as"},           {"i32[,4]=ones", "extent is missing"},
    {"i32:2.5", "whole numbers"},           {"i32:x", "not a number"},            {"@", "file name"},                     {"x+", "offset is missing"},
    {"desc(x)", "desc(NAME"},               {"desc(3,[4])", "made of a buffer"},  {"desc(x,[4],foo)", "'foo'"},           {"desc(x,[4]", "desc(NAME"},
    {"constexpr(", "constexpr("},            {"(", "("},   {"((((((((((((((((((1,),),),),),),),),),),),),),),),),),)", "deeper than 16"},                              {"constexpr()x", "constexpr()x"},
    {"", "not understood"},                 {"3 4", "not understood"},            {"a/x.npy", "a file is written @a/x.npy"}, {"fp16[1,2,3,4,5,6,7,8,9]=ones", "at most 8"},
  };
  Arena a;
  arena_init(&a);
  for (uint32_t i = 0; i < countof(cases); i++) {
    tile_error *e = NULL;
    assert_null(run_spec_parse(&a, cases[i].text, &e));
    assert_int_equal(tile_error_status(e), TILE_ERROR_USAGE);
    if (!strstr(tile_error_message(e), cases[i].says)) fail_msg("%s: '%s' is not in: %s", cases[i].text, cases[i].says, tile_error_message(e));
    tile_error_free(e);
  }
  arena_free(&a);
}

TEST(commas) {
  static const char text[] = "cdiv(m,BM), x[1,2],'a,b' ,d";
  Arena a;
  arena_init(&a);
  StrList l = run_spec_split(&a, text, strlen(text));
  assert_int_equal(l.count, 4);
  assert_string_equal(l.data[0], "cdiv(m,BM)");
  assert_string_equal(l.data[1], "x[1,2]");
  assert_string_equal(l.data[2], "'a,b'");
  assert_string_equal(l.data[3], "d");
  arena_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(scalars), cmocka_unit_test(buffers), cmocka_unit_test(descriptors), cmocka_unit_test(refusals), cmocka_unit_test(commas)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
