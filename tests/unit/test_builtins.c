// The table of builtins: what the compiler cannot check of its rows.
#include "tests/unit/context.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/lower/builtins.h"
#include "frontend/prelude/prelude.h"

static bool is_one_of(const char *s, size_t n, const char *const *texts) {
  for (; *texts; texts++)
    if (strlen(*texts) == n && memcmp(s, *texts, n) == 0) return true;
  return false;
}

// None, True, False, (), a whole number or a 'string': what binding makes a value of.
static bool is_default(const char *s, size_t n) {
  static const char *const words[] = {"None", "True", "False", "()", NULL};
  if (is_one_of(s, n, words)) return true;
  if (*s == '\'') return n >= 2 && s[n - 1] == '\'';
  size_t digits = *s == '-';
  for (; digits < n; digits++)
    if (!isdigit((unsigned char)s[digits])) return false;
  return n > 0;
}

static void check_params(const BuiltinRow *row) {
  BuiltinParam p;
  bool optional = false, list = false;
  size_t seen = 0;
  for (const char *s = row->params; (s = builtin_next_param(s, &p)); seen = (size_t)(s - row->params)) {
    if (!p.name_size) fail_msg("%s: a parameter without a name in \"%s\"", row->name, row->params);
    for (uint32_t i = 0; i < p.name_size; i++)
      if (!isalnum((unsigned char)p.name[i]) && p.name[i] != '_') fail_msg("%s: \"%s\" has a name that is none", row->name, row->params);
    if (p.otherwise && !is_default(p.otherwise, p.otherwise_size)) fail_msg("%s: a default in \"%s\" is no value", row->name, row->params);
    if (optional && !list && !p.otherwise && !p.is_list) fail_msg("%s: \"%s\" wants a value after a default", row->name, row->params);
    optional |= p.otherwise != NULL;
    list |= p.is_list;
  }
  if (seen != strlen(row->params)) fail_msg("%s: \"%s\" is not read to its end", row->name, row->params);
}

static uint32_t count_params(const BuiltinRow *row) {
  BuiltinParam p;
  uint32_t n = 0;
  for (const char *s = row->params; (s = builtin_next_param(s, &p));) n++;
  return n;
}

static void test_rows(void **state) {
  (void)state;
  static const char *const marks[] = {"core", "common", "rare", "hidden", NULL};
  const BuiltinRow *row;
  for (uint32_t i = 0; (row = builtin_at(i)); i++) {
    check_params(row);
    if (builtin_find(row->name) != row) fail_msg("%s has two rows", row->name);
    if (!is_one_of(row->mark, strlen(row->mark), marks)) fail_msg("%s: there is no mark \"%s\"", row->name, row->mark);
    if (!*row->doc || !row->fn || row->method > 2) fail_msg("%s: a column is wrong", row->name);
    Opcode op = (Opcode)row->data;
    if (row->fn == tl_elementwise && (!op_has(op, TRAIT_ELEMENTWISE) || count_params(row) != op_num_fixed(op)))
      fail_msg("%s: takes (%s), its op %s takes %s", row->name, row->params, op_info[op].name, op_info[op].operands);
    if (row->method && !*row->params) fail_msg("%s: a method needs a parameter", row->name);
  }
}

static bool in_prelude(const char *name) {
  bool defined = false;
  for (uint32_t k = 0; prelude_file(k); k++) defined |= prelude_defines(prelude_file(k), name);
  return defined;
}

static void test_prelude_methods(void **state) {
  (void)state;
  static const char *const names[] = {
#define BUILTIN(name, params, fn, data, method, mark, doc)
#define PRELUDE_METHOD(name, method) name,
#include "frontend/lower/builtins.def"
  };
  for (uint32_t i = 0; i < countof(names); i++) {
    if (builtin_find(names[i])) fail_msg("%s is a row of its own: its method column says it", names[i]);
    if (!in_prelude(names[i])) fail_msg("the prelude has no %s", names[i]);
  }
}

// A function that a row of its name hides is never called, unless libdevice's name means the function.
static void test_hidden_functions(void **state) {
  (void)state;
  size_t length;
  for (uint32_t k = 0; prelude_file(k); k++)
    for (const char *at = prelude_file(k)->text, *found; (found = prelude_next_function(&at, &length));) {
      char name[80];
      snprintf(name, sizeof name, "libdevice.%.*s", (int)length, found);
      if (!builtin_find(name + 10) || (prelude_file(k)->is_math && !builtin_row_of(name))) continue;
      fail_msg("%s defines %s, which a row of builtins.def hides", prelude_file(k)->path, name + 10);
    }
}

// The functions' parts follow one another from the imports to the end of the text.
static void test_prelude_parts(void **state) {
  (void)state;
  size_t length;
  for (uint32_t k = 0; prelude_file(k); k++) {
    const PreludeFile *f = prelude_file(k);
    uint32_t end = prelude_imports_size(f);
    for (const char *at = f->text, *name; (name = prelude_next_function(&at, &length));) {
      const PreludePart part = prelude_function(f, name);
      if (part.begin != end) fail_msg("%s: %.*s has not one decorator", f->path, (int)length, name);
      end = part.end;
    }
    assert_int_equal(end, f->size);
  }
}

static void test_prelude_directions(void **state) {
  (void)state;
  assert_true(in_prelude("add_rn") && in_prelude("add_rz") && in_prelude("fma_rd") && in_prelude("double2int_ru"));
  assert_true(in_prelude("rsqrt_rn") && !in_prelude("rsqrt_rz"));
  assert_false(in_prelude("add_rx") || in_prelude("add_r") || in_prelude("add_r_") || in_prelude("_rz"));
}

static void test_node_names(void **state) {
  (void)state;
  for (uint32_t a = 0; a < NUM_NODE_KINDS; a++)
    for (uint32_t b = 0; b < a; b++) assert_string_not_equal(ast_kind_name((NodeKind)a), ast_kind_name((NodeKind)b));
}

// A builder that asks for an argument which its row lacks.
static void test_arg_beyond(void **state) {
  Context *ctx = *state;
  Lower L = {.ctx = ctx, .arena = &ctx->arena};
  Term *x = arena_new(&ctx->arena, Term);
  CallArgs args = {.args = &x, .spans = &(Span){0, 0}, .num_args = 1};
  Call c;
  assert_true(builtin_bind(&L, builtin_find("floor"), NULL, &args, &c));
  jmp_buf stop;
  ctx->on_ice = &stop;
  if (setjmp(stop) == 0) {
    assert_false(arg_is_none(&c, 1));
    arg_value(&L, &c, 1);
    fail_msg("there is an argument 1 of floor(x)");
  }
  assert_string_equal(ctx->ice_text, "the builder of `floor` reads argument 1 of (x)");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows), cmocka_unit_test(test_prelude_methods),
      cmocka_unit_test(test_hidden_functions), cmocka_unit_test(test_prelude_parts),
      cmocka_unit_test(test_prelude_directions), cmocka_unit_test(test_node_names),
      cmocka_unit_test_setup_teardown(test_arg_beyond, setup, teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
