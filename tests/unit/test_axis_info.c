// Axis analysis: contiguity, divisibility, constancy and range of each value, on the idioms that Triton's own alignment tests
// list. Where Triton claims more than holds of every element (a quotient's divisibility), ours claims what holds.
#include <stdio.h>
#include <stdlib.h>

#include "passes/axis_info.h"
#include "tests/unit/context.h"

#define BIG AXIS_MAX_DIVISOR
typedef struct { const char *name; int64_t contiguity[2], divisibility[2], constancy[2]; } Expected;

typedef struct { const char *name; Value *found; } Search;
static void search(Op *op, void *user) {
  Search *s = user;
  for (uint32_t i = 0; i < op->num_results; i++)
    if (op->results[i].name && !strcmp(op->results[i].name, s->name)) s->found = &op->results[i];
  for (uint32_t b = 0; b < op->num_blocks; b++)
    for (uint32_t i = 0; i < op->blocks[b]->num_args; i++)
      if (op->blocks[b]->args[i]->name && !strcmp(op->blocks[b]->args[i]->name, s->name)) s->found = op->blocks[b]->args[i];
}

static Module *parse(Context *ctx, const char *body) {
  const char *text = arena_printf(&ctx->arena, "module {stage = tile, target = \"sm_90a\", num_warps = 4, num_stages = 3}\n"
                                               "func @f(%%p: ptr<f32> {divisible = 16}, %%n16: i32 {divisible = 16}, %%n: i32, %%m: i32) {\n%s  return\n}\n", body);
  Module *m = ir_parse(ctx, source_add(ctx, "t.tir", text, strlen(text)));
  if (!m || !ir_verify(m)) fail_msg("%s", diag_render(ctx, false));
  return m;
}

static Value *find(Module *m, const char *name) {
  Search s = {name, NULL};
  module_walk(m, search, &s);
  if (!s.found) fail_msg("no value %s", name);
  return s.found;
}

static void check(Context *ctx, const char *body, const Expected *e, size_t n) {
  Module *m = parse(ctx, body);
  AxisAnalysis *a = axis_analyse(ctx, m);
  for (size_t k = 0; k < n; k++) {
    Value *v = find(m, e[k].name);
    const AxisInfo *x = axis_info(a, v);
    for (uint32_t i = 0; i < x->rank; i++)
      if (x->contiguity[i] != e[k].contiguity[i] || x->divisibility[i] != e[k].divisibility[i] || x->constancy[i] != e[k].constancy[i])
        fail_msg("%%%s, axis %u: contiguity %lld, divisibility %lld, constancy %lld", e[k].name, i, (long long)x->contiguity[i],
                 (long long)x->divisibility[i], (long long)x->constancy[i]);
  }
}

static void test_arithmetic(void **state) {
  static const Expected e[] = {
    {"r", {128}, {BIG}, {1}}, {"one", {1}, {1}, {128}}, {"add", {128}, {1}, {1}}, {"sub", {128}, {1}, {1}}, {"rsub", {1}, {1}, {1}},
    {"mul1", {128}, {BIG}, {1}}, {"mul64", {1}, {64}, {1}}, {"div64", {1}, {1}, {64}}, {"rem64", {64}, {64}, {1}},
    {"rem16", {16}, {16}, {1}}, {"shl", {1}, {8}, {1}}, {"and", {16}, {16}, {1}}, {"cdiv", {1}, {2}, {128}}, {"prod", {1}, {8192}, {128}}, {"least", {1}, {BIG}, {1}}, {"sum", {1}, {16}, {1}},
  };
  check(*state,
        "  %least = constant {value = -9223372036854775808} : i64\n"
        "  %wide = extsi %n16 : i64\n"
        "  %sum = addi %wide, %least : i64\n"
        "  %r = range {start = 0, end = 128} : tensor<128xi32>\n"
        "  %one = constant {value = 1} : tensor<128xi32>\n"
        "  %c64 = constant {value = 64} : tensor<128xi32>\n"
        "  %c128 = constant {value = 128} : tensor<128xi32>\n"
        "  %c16 = constant {value = 16} : tensor<128xi32>\n"
        "  %c15 = constant {value = 15} : tensor<128xi32>\n"
        "  %c3 = constant {value = 3} : tensor<128xi32>\n"
        "  %add = addi %r, %one : tensor<128xi32>\n"
        "  %sub = subi %r, %one : tensor<128xi32>\n"
        "  %rsub = subi %one, %r : tensor<128xi32>\n"
        "  %mul1 = muli %r, %one : tensor<128xi32>\n"
        "  %mul64 = muli %r, %c64 : tensor<128xi32>\n"
        "  %div64 = divsi %r, %c64 : tensor<128xi32>\n"
        "  %rem64 = remsi %r, %c64 : tensor<128xi32>\n"
        "  %rem16 = remsi %r, %c16 : tensor<128xi32>\n"
        "  %shl = shli %r, %c3 : tensor<128xi32>\n"
        "  %and = andi %r, %c15 : tensor<128xi32>\n"
        "  %cdiv = divsi %c128, %c64 : tensor<128xi32>\n"
        "  %prod = muli %c128, %c64 : tensor<128xi32>\n",
        e, countof(e));
}

static void test_shapes(void **state) {
  // col·n16 + row: along the last axis runs of 64 that begin at a multiple of 16; down a column nothing counts up by one.
  static const Expected e[] = {
    {"row", {1, 64}, {1, BIG}, {1, 1}}, {"col", {64, 1}, {BIG, 1}, {1, 1}}, {"rowb", {1, 64}, {1, BIG}, {64, 1}},
    {"offs", {1, 64}, {1, 16}, {1, 1}}, {"offt", {64, 1}, {1, 1}, {1, 64}}, {"ptr", {1, 64}, {4, 16}, {1, 1}},
    {"tr", {64, 1}, {16, 1}, {1, 1}}, {"flat", {64}, {16}, {1}},
  };
  check(*state,
        "  %r = range {start = 0, end = 64} : tensor<64xi32>\n"
        "  %row = expand_dims %r {axis = 0} : tensor<1x64xi32>\n"
        "  %col = expand_dims %r {axis = 1} : tensor<64x1xi32>\n"
        "  %rowb = broadcast %row : tensor<64x64xi32>\n"
        "  %st = splat %n16 : tensor<64x1xi32>\n"
        "  %cs = muli %col, %st : tensor<64x1xi32>\n"
        "  %csb = broadcast %cs : tensor<64x64xi32>\n"
        "  %offs = addi %csb, %rowb : tensor<64x64xi32>\n"
        "  %colb = broadcast %col : tensor<64x64xi32>\n"
        "  %odd = splat %n : tensor<64x64xi32>\n"
        "  %offt = addi %colb, %odd : tensor<64x64xi32>\n"
        "  %ps = splat %p : tensor<64x64xptr<f32>>\n"
        "  %ptr = addptr %ps, %offs : tensor<64x64xptr<f32>>\n"
        "  %tr = trans %offs {order = [1, 0]} : tensor<64x64xi32>\n"
        "  %flat = reshape %offs : tensor<4096xi32>\n",
        e, countof(e));
}

static void test_masks(void **state) {
  static const Expected e[] = {
    {"lt16", {1}, {1}, {16}}, {"lt", {1}, {1}, {1}}, {"ge", {1}, {1}, {16}}, {"le", {1}, {1}, {1}}, {"gt", {1}, {1}, {16}},
    {"both", {1}, {1}, {16}}, {"sel", {16}, {16}, {1}}, {"before", {1}, {1}, {4}}, {"inside", {1}, {1}, {1}},
  };
  check(*state,
        "  %r = range {start = 0, end = 128} : tensor<128xi32>\n"
        "  %b16 = splat %n16 : tensor<128xi32>\n"
        "  %b = splat %n : tensor<128xi32>\n"
        "  %lt16 = cmpi %r, %b16 {pred = slt} : tensor<128xi1>\n"
        "  %lt = cmpi %r, %b {pred = slt} : tensor<128xi1>\n"
        "  %ge = cmpi %r, %b16 {pred = sge} : tensor<128xi1>\n"
        "  %le = cmpi %r, %b16 {pred = sle} : tensor<128xi1>\n"
        "  %gt = cmpi %b16, %r {pred = sgt} : tensor<128xi1>\n"
        "  %both = andi %lt16, %ge : tensor<128xi1>\n"
        "  %sel = select %lt16, %r, %r : tensor<128xi32>\n"
        "  %ps = splat %p : tensor<128xptr<f32>>\n"
        "  %pr = addptr %ps, %r : tensor<128xptr<f32>>\n"
        "  %one = constant {value = 1} : i32\n"
        "  %p1 = addptr %p, %one : ptr<f32>\n"
        "  %p1s = splat %p1 : tensor<128xptr<f32>>\n"
        "  %before = cmpi %pr, %ps {pred = ult} : tensor<128xi1>\n"
        "  %inside = cmpi %pr, %p1s {pred = ult} : tensor<128xi1>\n",
        e, countof(e));
}

static void test_control(void **state) {
  static const Expected e[] = {
    {"x", {64}, {16}, {1}}, {"i", {1}, {16}, {1}}, {"y", {1}, {8}, {64}}, {"odd", {1}, {1}, {1}},
  };
  check(*state,
        "  %zero = constant {value = 0} : i32\n"
        "  %c16 = constant {value = 16} : i32\n"
        "  %c16s = constant {value = 16} : tensor<64xi32>\n"
        "  %c8s = constant {value = 8} : tensor<64xi32>\n"
        "  %one = constant {value = 1} : i32\n"
        "  %r = range {start = 0, end = 64} : tensor<64xi32>\n"
        "  %out, %o2, %o3 = for %zero, %n, %c16, %r, %c8s, %zero : tensor<64xi32>, tensor<64xi32>, i32 do (%i: i32, %x: tensor<64xi32>, %y: tensor<64xi32>, %odd: i32) {\n"
        "    %x2 = addi %x, %c16s : tensor<64xi32>\n"
        "    %y2 = addi %y, %c16s : tensor<64xi32>\n"
        "    %odd2 = addi %odd, %one : i32\n"
        "    yield %x2, %y2, %odd2\n"
        "  }\n",
        e, countof(e));
}

static void check_range(AxisAnalysis *a, Module *m, const char *name, int64_t lo, int64_t hi, bool nonneg) {
  const AxisInfo *x = axis_info(a, find(m, name));
  if (x->lo != lo || x->hi != hi || x->nonneg != nonneg) fail_msg("%%%s in %lld … %lld, nonneg %d", name, (long long)x->lo, (long long)x->hi, x->nonneg);
}

static void test_ranges(void **state) {
  Module *m = parse(*state,
                    "  %pid = program_id {axis = 1} : i32\n"
                    "  %c128 = constant {value = 128} : i32\n"
                    "  %c7 = constant {value = 7} : i32\n"
                    "  %zero = constant {value = 0} : i32\n"
                    "  %s = muli %pid, %c128 : i32\n"
                    "  %big = program_id {axis = 0} : i32\n"
                    "  %wraps = muli %big, %c128 : i32\n"
                    "  %rem = remsi %n, %c7 : i32\n"
                    "  %div = divsi %s, %c7 : i32\n"
                    "  %min = minsi %s, %c7 : i32\n"
                    "  %wide = extsi %s : i64\n"
                    "  %pos = cmpi %m, %zero {pred = sgt} : i1\n"
                    "  assume %pos\n"
                    "  %mm = addi %m, %zero : i32\n"
                    "  for %zero, %c128, %c7 do (%i: i32) {\n"
                    "    %j = addi %i, %c7 : i32\n"
                    "    yield\n"
                    "  }\n");
  AxisAnalysis *a = axis_analyse(*state, m);
  check_range(a, m, "pid", 0, 65534, true);
  check_range(a, m, "s", 0, 65534 * 128, true);
  // May wrap, but stays a multiple of 128; not negative unless it wraps.
  check_range(a, m, "wraps", INT32_MIN, INT32_MAX - 127, true);
  check_range(a, m, "rem", -6, 6, false);
  check_range(a, m, "div", 0, 65534 * 128 / 7, true);
  check_range(a, m, "min", 0, 7, true);
  check_range(a, m, "wide", 0, 65534 * 128, true);
  check_range(a, m, "mm", 1, INT32_MAX, true);
  check_range(a, m, "i", 0, 127, true);
  check_range(a, m, "j", 7, 134, true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(test_arithmetic, setup, teardown), cmocka_unit_test_setup_teardown(test_shapes, setup, teardown),
    cmocka_unit_test_setup_teardown(test_masks, setup, teardown),      cmocka_unit_test_setup_teardown(test_control, setup, teardown),
    cmocka_unit_test_setup_teardown(test_ranges, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
