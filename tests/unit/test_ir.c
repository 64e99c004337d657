// The IR: text form both ways, verifier, use lists, cloning, folding.
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include "ir/buf.h"
#include "ir/build.h"
#include "ir/fold.h"
#include "tests/unit/context.h"

static Module *parse(Context *ctx, const char *text) { return ir_parse(ctx, source_add(ctx, "t.tir", text, strlen(text))); }

static const char *print(Module *m) {
  Buf b = buf_make(&m->ctx->arena);
  ir_print_module(&b, m);
  return buf_str(&b);
}

// What parses prints, parses and prints the same, and the printed form keeps what was written.
static void round_trip(Context *ctx, const char *text) {
  Module *m = parse(ctx, text);
  if (!m || !ir_verify(m)) fail_msg("%s", diag_render(ctx, false));
  const char *once = print(m);
  Module *again = parse(ctx, once);
  if (!again || !ir_verify(again)) fail_msg("%s\n%s", diag_render(ctx, false), once);
  assert_string_equal(print(again), once);
}

static const char loop_text[] =
    "module {stage = tile, target = \"sm_90a\", num_warps = 4, num_stages = 3}\n"
    "func @sum(%x: ptr<f32> {spelling = \"*fp32\", divisible = 16}, %y: ptr<f32>, %n: i32) constexpr {BLOCK = \"64\", MODE = \"'a b'\"} {\n"
    "  %3 = constant {value = 0} : i32\n"
    "  %4 = constant {value = 64} : i32\n"
    "  %5 = range {start = 0, end = 64} : tensor<64xi32>\n"
    "  %6 = constant {value = 0.0} : tensor<64xf32>\n"
    "  %acc = for %3, %n, %4, %6 {num_stages = 2} : tensor<64xf32> do (%i: i32, %acc_1: tensor<64xf32>) {\n"
    "    %10 = splat %i : tensor<64xi32>\n"
    "    %11 = addi %10, %5 : tensor<64xi32>\n"
    "    %12 = splat %n : tensor<64xi32>\n"
    "    %13 = cmpi %11, %12 {pred = slt} : tensor<64xi1>\n"
    "    %14 = load %x, %11, %13, _ : tensor<64xf32>\n"
    "    %15 = addf %acc_1, %14 : tensor<64xf32>\n"
    "    yield %15\n"
    "  }\n"
    "  %total = reduce %acc {axis = 0} : f32 do (%a: f32, %b: f32) {\n"
    "    %19 = addf %a, %b : f32\n"
    "    yield %19\n"
    "  }\n"
    "  %20 = cmpf %total, %total {pred = une} : i1\n"
    "  %21 = if %20 : f32 do {\n"
    "    %22 = constant {value = 0x7fc00000} : f32\n"
    "    yield %22\n"
    "  } do {\n"
    "    yield %total\n"
    "  }\n"
    "  %23 = while %3 : i32 do (%k: i32) {\n"
    "    %25 = cmpi %k, %n {pred = slt} : i1\n"
    "    condition %25, %k\n"
    "  } do (%k_1: i32) {\n"
    "    %27 = addi %k_1, %4 : i32\n"
    "    yield %27\n"
    "  }\n"
    "  store %y, _, %21, _\n"
    "  print %total, %23 {text = \"sum \\\"x\\\"\\n\", names = \"total,k\"}\n"
    "  return\n"
    "}\n";

static const char laid_out_text[] =
    "module {stage = laid_out, target = \"sm_80\", num_warps = 1, num_stages = 2, fp_fusion = 0}\n"
    "#0 = layout<8x16, reg = [1, 2], lane = [4, 8, 16, 32, 64]>\n"
    "#1 = shared<8x16, offset = [1, 2, 4, 8, 16, 32, 64]>\n"
    "#2 = layout<8x1, reg = [1, 2], lane = [0, 0, 0, 0, 4]>\n"
    "func @f(%p: ptr<f16, const>, %d: desc<8x16xf16> {kind = desc, padding = zero, swizzle = 32, box = [8, 16, 0, 0, 0]}) {\n"
    "  %2 = constant {value = -1.5} : tensor<8x16xf16, #0>\n"
    "  %3 = alloc %2 : buffer<8x16xf16, #1>\n"
    "  %4 = alloc _ : buffer<3 * 8x16xf16, #1>\n"
    "  %5 = constant {value = 2} : i32\n"
    "  %6 = buffer_index %4, %5 : buffer<8x16xf16, #1>\n"
    "  local_store %2, %6\n"
    "  %7 = local_load %3, _ : tensor<8x16xf16, #0>\n"
    "  %8 = constant {value = true} : tensor<8x1xi1, #2>\n"
    "  %t = async_commit : token\n"
    "  return\n"
    "}\n";

static void test_round_trip(void **state) {
  Context *ctx = *state;
  Module *m = parse(ctx, loop_text);
  if (!m || !ir_verify(m)) fail_msg("%s", diag_render(ctx, false));
  assert_string_equal(print(m), loop_text);
  m = parse(ctx, laid_out_text);
  if (!m || !ir_verify(m)) fail_msg("%s", diag_render(ctx, false));
  assert_string_equal(print(m), laid_out_text);
  round_trip(ctx, "func @f() { return }");
  round_trip(ctx, "func @f(%x: f32 {name = \"odd name\"}) { // comment\n %q = addf %x, %x\n %q2 = mulf %q, %q : f32 return }");
}

static void test_files(void **state) {
  Context *ctx = *state;
  glob_t g;
  assert_int_equal(glob("tests/*/*.tir", 0, NULL, &g), 0);
  for (size_t i = 0; i < g.gl_pathc; i++) {
    if (strstr(g.gl_pathv[i], "tests/conformance/")) continue;   // templates, which run.py --round-trip fills in
    FILE *f = fopen(g.gl_pathv[i], "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    size_t n = (size_t)ftell(f);
    rewind(f);
    char *text = arena_alloc(&ctx->arena, n + 1);
    assert_int_equal(fread(text, 1, n, f), n);
    fclose(f);
    // Tests of the verifier and the reader are wrong on purpose.
    if (!strstr(text, "EXPECT-ERROR")) round_trip(ctx, text);
  }
  globfree(&g);
}

// Constants of every type read back to their bits.
static void test_constants(void **state) {
  Context *ctx = *state;
  static const char *const types[] = {"f8e4m3", "f8e5m2", "f16", "bf16", "f32", "f64", "i1", "i8", "i32", "i64"};
  uint64_t x = 88172645463325252ull;
  for (uint32_t k = 0; k < countof(types); k++)
    for (int i = 0; i < 300; i++) {
      x ^= x << 13, x ^= x >> 7, x ^= x << 17;
      Module *m = module_new(ctx, NULL);
      Func *f = func_new(m, "f", (Span){0, 0});
      Builder b = builder_at_end(ctx, f, f->body, (Span){0, 0});
      const Type *t = NULL;
      for (uint32_t s = 0; s < NUM_SCALARS; s++)
        if (strcmp(scalar_name((ScalarKind)s), types[k]) == 0) t = type_scalar(ctx, (ScalarKind)s);
      Value *v = build_constant_bits(&b, t, x);
      build_op(&b, OP_RETURN, NULL, 0);
      uint64_t want = op_attr(v->def, ATTR_VALUE)->bits, got;
      Module *again = parse(ctx, print(m));
      if (!again) fail_msg("%s", diag_render(ctx, false));
      assert_true(value_constant_bits(op_result(again->funcs->body->first, 0), &got));
      assert_true(got == want);
    }
}

static void expect_error(Context *ctx, const char *text, const char *want) {
  uint32_t before = diag_error_count(ctx);
  Module *m = parse(ctx, text);
  bool ok = m && ir_verify(m);
  const char *messages = diag_render(ctx, false);
  if (ok || diag_error_count(ctx) == before || !strstr(messages, want)) fail_msg("wanted '%s', got:\n%s", want, messages);
  diag_forget(ctx);
}

static void test_errors(void **state) {
  Context *ctx = *state;
  expect_error(ctx, "func @f() {", "expected '}', found the end of the file");
  expect_error(ctx, "func @f() { %a = frob return }", "unknown operation 'frob'");
  expect_error(ctx, "func @f() { %a = addi %b, %b : i32 return }", "%b is not defined here");
  expect_error(ctx, "func @f(%a: i32, %a: i32) { return }", "%a is already defined");
  expect_error(ctx, "func @f(%a: i32) { %b = addi %a : i32 return }", "addi takes 2 operands, not 1");
  expect_error(ctx, "func @f(%a: i32) { %b = addi %a, _ : i32 return }", "not optional");
  expect_error(ctx, "func @f() { %b = range {start = 0, end = 12} : tensor<12xi32> return }", "powers of two");
  expect_error(ctx, "func @f() { %b = constant {value = 1} : tensor<8xi32, layout<8, lane = [8]>> return }", "outside the tensor");
  expect_error(ctx, "func @f(%a: i32, %c: i64) { %b = addi %a, %c : i32 return }", "addi: operands must have one type");
  expect_error(ctx, "func @f(%a: f32) { %b = addi %a, %a : f32 return }", "addi: works on integers, not on f32");
  expect_error(ctx, "func @f(%a: f32) { %b = addf %a, %a : i32 return }", "addf: result 0 must have type f32");
  expect_error(ctx, "func @f(%a: f32) { %b = convert_layout %a : f32 return }", "convert_layout: is not allowed in this stage");
  expect_error(ctx, "module {stage = laid_out} func @f() { %b = range {start = 0, end = 8} : tensor<8xi32> return }", "tensor without a layout");
  expect_error(ctx, "func @f() { yield }", "a function must end in return");
  expect_error(ctx, "func @f() { %a = constant {value = 1} : i32 }", "a block must end in a terminator");
  expect_error(ctx, "func @f() { return return }", "must be the last operation");
  expect_error(ctx, "func @f(%p: ptr<f32, const>, %v: f32) { store %p, _, %v, _ return }", "pointer is to const");
  expect_error(ctx, "func @f(%c: i1, %v: f32) { %r = if %c : f32 do { yield %v } do { yield } return }", "yields 0 values, not 1");
  expect_error(ctx, "func @f(%c: i1) { if %c do { %v = constant {value = 1} : i32 yield } do { yield } print %v return }", "%v is not defined here");
  expect_error(ctx, "module {num_warps = 2, stage = laid_out} func @f() { %b = constant {value = 1} : tensor<2xi32, layout<2, lane = [1, 0, 0, 0, 0]>> return }",
               "layout is for 32 lanes and 1 warps, the module has 32 and 2");
  expect_error(ctx, "module {num_warps = 3} func @f() { return }", "num_warps is 3; it must be a power of two");
  expect_error(ctx, "module {num_warps = -1} func @f() { return }", "num_warps is 4294967295");
  // Every prefix of a correct text, and every text with one byte changed, is read without a crash.
  for (size_t n = 0; n < strlen(loop_text); n += 3) {
    char *part = arena_strndup(&ctx->arena, loop_text, n);
    parse(ctx, part);
    char *changed = arena_strndup(&ctx->arena, loop_text, strlen(loop_text));
    changed[n] = "#<%{(x0"[n % 7];
    Module *m = parse(ctx, changed);
    if (m) ir_verify(m);
  }
}

static void test_uses(void **state) {
  Context *ctx = *state;
  Module *m = module_new(ctx, NULL);
  Func *f = func_new(m, "f", (Span){0, 0});
  Value *x = func_add_param(f, type_scalar(ctx, SC_I32), (FuncParam){.name = "x"});
  Value *y = func_add_param(f, type_scalar(ctx, SC_I32), (FuncParam){.name = "y"});
  Builder b = builder_at_end(ctx, f, f->body, (Span){0, 0});
  Value *s = build_binary(&b, OP_ADDI, x, x);
  Op *show = build_op(&b, OP_PRINT, (Value *[]){s, x}, 2);
  build_op(&b, OP_RETURN, NULL, 0);
  for (int i = 0; i < 20; i++) op_append_operand(ctx, show, i & 1 ? s : x);
  assert_true(ir_verify(m));
  op_remove_operand(show, 1);
  assert_ptr_equal(op_operand(show, 1), x);
  assert_true(ir_verify(m));
  value_replace_all_uses(x, y);
  assert_null(x->uses);
  assert_true(ir_verify(m));
  assert_ptr_equal(op_operand(s->def, 0), y);
  value_replace_all_uses(s, y);
  op_erase(s->def);
  assert_true(ir_verify(m));
  Op *copy = op_clone(ctx, show, NULL);
  op_insert_before(copy, show);
  op_move_before(show, copy);
  assert_ptr_equal(f->body->first, show);
  assert_true(ir_verify(m));
  assert_null(strstr(print(m), "%x,"));
}

static void test_clone(void **state) {
  Context *ctx = *state;
  Module *m = parse(ctx, loop_text);
  Op *loop = NULL;
  for (Op *op = m->funcs->body->first; op; op = op->next)
    if (op->opcode == OP_FOR) loop = op;
  ValueMap *map = value_map_new(ctx);
  Op *copy = op_clone(ctx, loop, map);
  op_insert_before(copy, loop);
  assert_true(ir_verify(m));
  assert_ptr_equal(value_map_get(map, &loop->results[0]), &copy->results[0]);
  value_replace_all_uses(&loop->results[0], &copy->results[0]);
  op_erase(loop);
  assert_true(ir_verify(m));
  assert_non_null(strstr(print(m), "%acc = for %3, %n"));
}

static void test_builder(void **state) {
  Context *ctx = *state;
  Module *m = module_new(ctx, target_find("sm_90a"));
  Func *f = func_new(m, "f", (Span){0, 0});
  const Type *i32 = type_scalar(ctx, SC_I32);
  Value *n = func_add_param(f, i32, (FuncParam){.name = "n"});
  Builder b = builder_at_end(ctx, f, f->body, (Span){0, 0});
  Value *zero = build_i32(&b, 0), *one = build_i32(&b, 1), *carried[2], *inits[] = {zero, n};
  BuildRegion loop = build_for_begin(&b, zero, n, one, inits, 2, carried);
  Value *c = build_cmp(&b, CMP_SGT, carried[0], one);
  BuildRegion branch = build_if_begin(&b, c, &i32, 1);
  build_if_else(&b, &branch, &carried[1]);
  Op *picked = build_if_end(&b, branch, &one);
  Op *done = build_for_end(&b, loop, (Value *[]){op_result(picked, 0), carried[0]});
  build_binary(&b, OP_ADDI, op_result(done, 0), one);
  assert_int_equal(build_expand_dims(&b, build_range(&b, 0, 16, NULL), 0)->type->shape[1], 16);
  build_op(&b, OP_RETURN, NULL, 0);
  if (!ir_verify(m)) fail_msg("%s", diag_render(ctx, false));
  round_trip(ctx, print(m));
}

static void test_fold(void **state) {
  Context *ctx = *state;
  Module *m = module_new(ctx, NULL);
  Func *f = func_new(m, "f", (Span){0, 0});
  const Type *i32 = type_scalar(ctx, SC_I32), *f32 = type_scalar(ctx, SC_F32);
  Value *x = func_add_param(f, i32, (FuncParam){.name = "x"}), *y = func_add_param(f, f32, (FuncParam){.name = "y"});
  Builder b = builder_at_end(ctx, f, f->body, (Span){0, 0});
  Value *zero = build_i32(&b, 0), *one = build_i32(&b, 1);
  int64_t v;
#define IS(value, want) assert_true(value_constant_int(value, &v) && v == (want))
#define I(n) build_i32(&b, n)
  IS(build_binary(&b, OP_DIVSI, I(-7), I(2)), -3);
  IS(build_binary(&b, OP_REMSI, I(-7), I(2)), -1);
  IS(build_binary(&b, OP_DIVSI, I(5), I(0)), 0);
  IS(build_binary(&b, OP_DIVSI, I(INT32_MIN), I(-1)), INT32_MIN);
  IS(build_binary(&b, OP_DIVUI, I(-1), I(2)), INT32_MAX);
  IS(build_binary(&b, OP_SHLI, I(1), I(32)), 0);
  IS(build_binary(&b, OP_SHRSI, I(-8), I(40)), -1);
  IS(build_binary(&b, OP_SHRUI, I(-8), I(28)), 15);
  IS(build_binary(&b, OP_MULHUI, I(-1), I(16)), 15);
  IS(build_unary(&b, OP_CLZ, I(1)), 31);
  IS(build_unary(&b, OP_CLZ, I(0)), 32);
  IS(build_unary(&b, OP_POPC, I(-1)), 32);
  IS(build_cmp(&b, CMP_ULT, I(1), I(-1)), 1);
  IS(build_cmp(&b, CMP_SLT, I(1), I(-1)), 0);
  IS(build_cast(&b, OP_EXTSI, build_int(&b, type_scalar(ctx, SC_I8), -3), i32), -3);
  IS(build_cast(&b, OP_EXTUI, build_int(&b, type_scalar(ctx, SC_I8), -3), i32), 253);
  IS(build_cast(&b, OP_FPTOSI, build_float(&b, f32, 3e9), i32), INT32_MAX);
  IS(build_cast(&b, OP_FPTOSI, build_float(&b, f32, -2.9), i32), -2);
  IS(build_cast(&b, OP_BITCAST, build_float(&b, f32, 1.0), i32), 0x3f800000);
  assert_ptr_equal(build_binary(&b, OP_ADDI, x, zero), x);
  assert_ptr_equal(build_binary(&b, OP_MULI, one, x), x);
  assert_ptr_equal(build_binary(&b, OP_MULI, x, zero), zero);
  assert_ptr_equal(build_binary(&b, OP_ANDI, x, I(-1))->def, NULL);
  IS(build_binary(&b, OP_SUBI, x, x), 0);
  IS(build_cmp(&b, CMP_SLE, x, x), 1);
  // Floating point: only what holds for NaN and −0 too.
  assert_ptr_equal(build_binary(&b, OP_MULF, y, build_float(&b, f32, 1.0)), y);
  assert_ptr_not_equal(build_binary(&b, OP_ADDF, y, build_float(&b, f32, 0.0)), y);
  assert_ptr_equal(build_binary(&b, OP_ADDF, y, build_float(&b, f32, -0.0)), y);
  assert_ptr_not_equal(build_binary(&b, OP_MULF, y, build_float(&b, f32, 0.0))->def, NULL);
  uint64_t bits;
  assert_true(value_constant_bits(build_binary(&b, OP_ADDF, build_float(&b, f32, 0.1), build_float(&b, f32, 0.2)), &bits));
  assert_int_equal(bits, num_bits_f32(0.1f + 0.2f));
  const Type *bf16 = type_scalar(ctx, SC_BF16);
  assert_true(value_constant_bits(build_binary(&b, OP_MINF, build_constant_bits(&b, bf16, 0x7fff), build_float(&b, bf16, 2.0)), &bits));
  assert_int_equal(bits, 0x4000);
  assert_true(value_constant_bits(build_binary(&b, OP_MINF, build_float(&b, f32, 0.0), build_float(&b, f32, -0.0)), &bits));
  assert_int_equal(bits, 0x80000000u);
  // Shapes of equal elements.
  const Type *t = type_tensor(ctx, i32, 2, (int64_t[]){4, 1}, NULL), *wide = type_tensor(ctx, i32, 2, (int64_t[]){4, 8}, NULL);
  Value *s = build_splat(&b, I(7), t);
  assert_int_equal(s->def->opcode, OP_CONSTANT);
  IS(build_broadcast(&b, s, wide), 7);
  assert_int_equal(build_broadcast(&b, build_splat(&b, x, t), wide)->def->opcode, OP_SPLAT);
  build_op(&b, OP_RETURN, NULL, 0);
  assert_true(ir_verify(m));
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
  const struct CMUnitTest tests[] = {T(test_round_trip), T(test_files), T(test_constants), T(test_errors), T(test_uses), T(test_clone), T(test_builder), T(test_fold)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
