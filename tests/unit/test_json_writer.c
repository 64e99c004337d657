// The JSON writer: separators, nesting, escapes, numbers.
#include "unit.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/compile/json_writer.h"

TEST(document) {
  Arena a;
  arena_init(&a);
  Buf b = buf_make(&a);
  JsonWriter w = json_writer(&b);
  json_begin_object(&w, false);
  json_key(&w, "empty");
  json_begin_array(&w, false);
  json_end_array(&w);
  json_key(&w, "list");
  json_begin_array(&w, true);
  json_int(&w, -3);
  json_double(&w, 0.1);
  json_double(&w, INFINITY);
  json_bool(&w, true);
  json_begin_object(&w, false);
  json_key(&w, "k");
  json_string(&w, NULL);
  json_end_object(&w);
  json_end_array(&w);
  json_end_object(&w);
  assert_string_equal(buf_str(&b), "{\n  \"empty\": [],\n  \"list\": [-3, 0.1, null, true, {\"k\": null}]\n}");
  arena_free(&a);
}

TEST(strings) {
  static const struct { const char *in, *out; } cases[] = {
    {"a\"b\\c\n\t", "\"a\\\"b\\\\c\\n\\t\""}, {"\x01", "\"\\u0001\""}, {"\xc3\xa9", "\"\\u00e9\""}, {"\xe2\x82\xac", "\"\\u20ac\""}, {"\xf0\x9f\x98\x80", "\"\\ud83d\\ude00\""}, {"\xff", "\"\\ufffd\""}, {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},
  };
  Arena a;
  arena_init(&a);
  for (uint32_t i = 0; i < countof(cases); i++) {
    Buf b = buf_make(&a);
    JsonWriter w = json_writer(&b);
    json_string(&w, cases[i].in);
    assert_string_equal(buf_str(&b), cases[i].out);
  }
  arena_free(&a);
}

TEST(doubles_read_back) {
  static const double values[] = {0, -0.5, 1e300, 5e-324, 1.0 / 3, 123456789.123456789};
  Arena a;
  arena_init(&a);
  for (uint32_t i = 0; i < countof(values); i++) {
    Buf b = buf_make(&a);
    JsonWriter w = json_writer(&b);
    json_double(&w, values[i]);
    assert_true(strtod(buf_str(&b), NULL) == values[i]);
  }
  arena_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(document), cmocka_unit_test(strings), cmocka_unit_test(doubles_read_back)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
