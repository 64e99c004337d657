// The front end's door: specialisation of parameters, and the IR that scoping and promotion rules lead to.
#include <string.h>

#include "frontend/frontend.h"
#include "ir/buf.h"
#include "tests/unit/unit.h"

typedef struct { Context ctx; Frontend *fe; CtFunction *kernel; ParamSpec *specs; } Fixture;

static void load(Fixture *f, const char *text) {
  context_init(&f->ctx);
  FrontendOptions options = {0};
  f->fe = frontend_load_text(&f->ctx, "t.tile", text, strlen(text), &options);
  assert_non_null(f->fe);
  f->kernel = frontend_kernel(f->fe, 0);
  f->specs = frontend_new_specs(f->fe, f->kernel);
}

static Module *lower(Fixture *f) {
  LaunchOptions launch = launch_options_default();
  Module *m = frontend_lower(f->fe, f->kernel, f->specs, &launch);
  if (m) assert_true(ir_verify(m));
  return m;
}

typedef struct { Opcode opcode; int count; } Count;
static void count_op(Op *op, void *user) {
  Count *c = user;
  c->count += op->opcode == c->opcode;
}
static int count_ops(Module *m, Opcode opcode) {
  Count c = {opcode, 0};
  module_walk(m, count_op, &c);
  return c.count;
}

static bool says(Fixture *f, const char *text) { return strstr(diag_render(&f->ctx, false), text) != NULL; }

TEST(test_signature) {
  Fixture f;
  load(&f, "@kernel\ndef k(a, d, n, one, B: constexpr, C: constexpr = 3):\n  pass\n");
  assert_int_equal(frontend_count_open(f.kernel, f.specs), 5);
  assert_true(frontend_apply_signature(f.fe, f.kernel, f.specs, "*fp32:16, tensordesc<fp16[128,64]>, i32, i64:1, (1, 2)"));
  assert_string_equal(f.specs[0].type, "*fp32");
  assert_int_equal(f.specs[0].divisible, 16);
  assert_string_equal(f.specs[1].type, "tensordesc<fp16[128,64]>");
  assert_int_equal(f.specs[2].divisible, 1);
  assert_int_equal(f.specs[3].kind, SPEC_CONSTEXPR);
  assert_int_equal((int)f.specs[3].value->i, 1);
  assert_int_equal(f.specs[4].value->kind, CT_TUPLE);
  assert_int_equal((int)f.specs[5].value->i, 3);
  assert_int_equal(frontend_count_open(f.kernel, f.specs), 0);
  // A default gives way, a value said twice must agree.
  assert_true(frontend_apply_define(f.fe, f.kernel, f.specs, "C=4", "-D"));
  assert_int_equal((int)f.specs[5].value->i, 4);
  assert_true(frontend_apply_define(f.fe, f.kernel, f.specs, "C=2*2", "-D"));
  assert_false(frontend_apply_define(f.fe, f.kernel, f.specs, "C=5", "-D"));
  assert_true(says(&f, "parameter `C` of `k` is 4 by -D but 5 by -D"));
  Module *m = lower(&f);
  assert_non_null(m);
  // The two constants are compiled in: three arguments are left.
  assert_int_equal(m->funcs->num_params, 3);
  assert_int_equal(m->funcs->params[1].kind, PARAM_DESC);
  context_free(&f.ctx);
}

TEST(test_signature_without_constexprs) {
  Fixture f;
  load(&f, "@kernel\ndef k(a, B: constexpr, n):\n  pass\n");
  assert_true(frontend_apply_signature(f.fe, f.kernel, f.specs, "*fp16, i32"));
  assert_string_equal(f.specs[2].type, "i32");
  assert_int_equal(frontend_count_open(f.kernel, f.specs), 1);
  assert_null(lower(&f));
  assert_true(says(&f, "-D B="));
  context_free(&f.ctx);
}

TEST(test_bad_signatures) {
  static const struct { const char *text, *message; } cases[] = {
      {"*fp33", "`*fp33` is not a type"}, {"*fp32:7", "must be :16 or :1"}, {"*fp32:1", "only integers can be specialised to 1"},
      {"*fp32, i32, i32", "--signature has 3 items"}, {"*fp32, *i32", "where a value belongs"}};
  for (size_t i = 0; i < countof(cases); i++) {
    Fixture f;
    load(&f, "@kernel\ndef k(a, B: constexpr):\n  pass\n");
    assert_false(frontend_apply_signature(f.fe, f.kernel, f.specs, cases[i].text));
    assert_true(says(&f, cases[i].message));
    context_free(&f.ctx);
  }
}

// Loops carry what changes, and nothing else; a body is lowered once however deep it lies.
TEST(test_carried_values) {
  Fixture f;
  load(&f, "@kernel\ndef k(a: *i32, n: i32):\n"
           "  same = 5\n  acc = 0\n"
           "  for i in range(n):\n    for j in range(n):\n      for l in range(n):\n        acc += same\n        same = same\n"
           "  store(a, acc)\n");
  Module *m = lower(&f);
  assert_non_null(m);
  Op *loop = NULL;
  for (Op *op = m->funcs->body->first; op; op = op->next)
    if (op->opcode == OP_FOR) loop = op;
  assert_int_equal(loop->num_results, 1);
  assert_int_equal(count_ops(m, OP_FOR), 3);
  assert_int_equal(count_ops(m, OP_ADDI), 1);
  context_free(&f.ctx);
}

// A branch decided at compile time is not looked at; an early return nests what follows.
TEST(test_pruning_and_return) {
  Fixture f;
  load(&f, "@kernel\ndef k(a: *i32, n: i32, F: constexpr = None):\n"
           "  if F is not None:\n    no_such(F)\n"
           "  if n > 3:\n    return\n"
           "  store(a, n)\n  store(a + 1, n)\n");
  Module *m = lower(&f);
  assert_non_null(m);
  assert_int_equal(count_ops(m, OP_IF), 1);
  assert_int_equal(count_ops(m, OP_STORE), 2);
  for (Op *op = m->funcs->body->first; op; op = op->next) assert_int_not_equal(op->opcode, OP_STORE);
  context_free(&f.ctx);
}

// A loop without break stays a counted loop; with one it asks a flag.
TEST(test_break_makes_while) {
  Fixture f;
  load(&f, "@kernel\ndef k(a: *i32, n: i32, B: constexpr):\n"
           "  for i in range(n):\n    if B:\n      if i == 3:\n        break\n    store(a + i, i)\n");
  assert_true(frontend_apply_define(f.fe, f.kernel, f.specs, "B=True", "-D"));
  Module *m = lower(&f);
  assert_int_equal(count_ops(m, OP_FOR), 0);
  assert_int_equal(count_ops(m, OP_WHILE), 1);
  ParamSpec *specs = frontend_new_specs(f.fe, f.kernel);
  f.specs = specs;
  assert_true(frontend_apply_define(f.fe, f.kernel, f.specs, "B=False", "-D"));
  m = lower(&f);
  assert_int_equal(count_ops(m, OP_FOR), 1);
  assert_int_equal(count_ops(m, OP_WHILE), 0);
  context_free(&f.ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_signature),      cmocka_unit_test(test_signature_without_constexprs), cmocka_unit_test(test_bad_signatures),
      cmocka_unit_test(test_carried_values), cmocka_unit_test(test_pruning_and_return),           cmocka_unit_test(test_break_makes_while)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
