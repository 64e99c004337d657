// The interpreter, on IR text.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ir/fold.h"
#include "ir/interp.h"
#include "tests/unit/context.h"

static Module *parse(Context *ctx, const char *text) {
  Module *m = ir_parse(ctx, source_add(ctx, "t.tir", text, strlen(text)));
  if (!m || !ir_verify(m)) fail_msg("%s", diag_render(ctx, false));
  return m;
}

// An argument is a buffer of the given bytes, or a plain value when bytes is 0.
typedef struct { void *data; size_t bytes; uint64_t value; const InterpDesc *desc; } Arg;

static bool try_run(Context *ctx, const char *text, uint32_t programs, const Arg *args, uint32_t n, Buf *printed);
static void collect(void *user, const char *text, size_t size) { buf_write(user, text, size); }

static bool try_run(Context *ctx, const char *text, uint32_t programs, const Arg *args, uint32_t n, Buf *printed) {
  Module *m = parse(ctx, text);
  InterpArg in[8];
  InterpBuffer buffers[8];
  uint32_t num_buffers = 0;
  for (uint32_t i = 0; i < n; i++) {
    in[i] = (InterpArg){args[i].data ? (uintptr_t)args[i].data : args[i].value, args[i].desc};
    if (args[i].bytes) buffers[num_buffers++] = (InterpBuffer){(uintptr_t)args[i].data, args[i].bytes};
  }
  InterpLaunch l = {.func = m->funcs, .grid = {programs, 1, 1}, .args = in, .num_args = n, .buffers = buffers, .num_buffers = num_buffers,
                    .print = printed ? collect : NULL, .user = printed};
  return interp_run(ctx, &l);
}

static void run(Context *ctx, const char *text, uint32_t programs, const Arg *args, uint32_t n) {
  if (!try_run(ctx, text, programs, args, n, NULL)) fail_msg("%s", diag_render(ctx, false));
}

static const char add_text[] =
    "func @add(%x: ptr<f32>, %y: ptr<f32>, %out: ptr<f32>, %n: i32) {\n"
    "  %pid = program_id {axis = 0} : i32\n"
    "  %bs = constant {value = 16} : i32\n"
    "  %b = muli %pid, %bs : i32\n"
    "  %r = range {start = 0, end = 16} : tensor<16xi32>\n"
    "  %bb = splat %b : tensor<16xi32>\n"
    "  %o = addi %bb, %r : tensor<16xi32>\n"
    "  %nn = splat %n : tensor<16xi32>\n"
    "  %m = cmpi %o, %nn {pred = slt} : tensor<16xi1>\n"
    "  %a = load %x, %o, %m, _ : tensor<16xf32>\n"
    "  %c = load %y, %o, %m, _ : tensor<16xf32>\n"
    "  %s = addf %a, %c : tensor<16xf32>\n"
    "  store %out, %o, %s, %m\n"
    "  return\n"
    "}\n";

static void test_add(void **state) {
  Context *ctx = *state;
  enum { BYTES = 40 * sizeof(float) };
  float x[48], y[48], out[48];   // a gap after each
  for (int i = 0; i < 40; i++) x[i] = (float)i, y[i] = 0.5f, out[i] = -1;
  run(ctx, add_text, 3, (Arg[]){{x, BYTES, 0, 0}, {y, BYTES, 0, 0}, {out, BYTES, 0, 0}, {0, 0, 37, 0}}, 4);
  for (int i = 0; i < 40; i++) assert_true(out[i] == (i < 37 ? (float)i + 0.5f : -1));
  // n larger than the buffers: the access is named, with the parameter and the program.
  assert_false(try_run(ctx, add_text, 3, (Arg[]){{x, BYTES, 0, 0}, {y, BYTES, 0, 0}, {out, BYTES, 0, 0}, {0, 0, 41, 0}}, 4, NULL));
  const char *text = diag_render(ctx, false);
  assert_non_null(strstr(text, "t.tir:10:"));
  assert_non_null(strstr(text, "out-of-bounds load: program (2, 0, 0) loads element 40 of x, which has 40"));
  assert_non_null(strstr(text, "in program (2, 0, 0) of @add"));
}

static void test_loops(void **state) {
  Context *ctx = *state;
  // Fibonacci by a for that swaps, then the Collatz length by a while with an if in it.
  int32_t out[2];
  run(ctx,
      "func @f(%out: ptr<i32>, %n: i32) {\n"
      "  %z = constant {value = 0} : i32 %one = constant {value = 1} : i32 %two = constant {value = 2} : i32 %three = constant {value = 3} : i32\n"
      "  %a, %b = for %z, %n, %one, %z, %one : i32, i32 do (%i: i32, %x: i32, %y: i32) { %s = addi %x, %y : i32 yield %y, %s }\n"
      "  %w, %len = while %n, %z : i32, i32 do (%v: i32, %k: i32) { %c = cmpi %v, %one {pred = ne} : i1 condition %c, %v, %k }\n"
      "    do (%v2: i32, %k2: i32) {\n"
      "      %odd = andi %v2, %one : i32 %t = cmpi %odd, %z {pred = ne} : i1\n"
      "      %nv = if %t : i32 do { %p = muli %v2, %three : i32 %q = addi %p, %one : i32 yield %q } do { %h = divsi %v2, %two : i32 yield %h }\n"
      "      %k3 = addi %k2, %one : i32 yield %nv, %k3\n"
      "    }\n"
      "  store %out, _, %a, _\n"
      "  %p1 = addptr %out, %one : ptr<i32>\n"
      "  store %p1, _, %len, _\n"
      "  return\n"
      "}\n",
      1, (Arg[]){{out, sizeof out, 0, 0}, {0, 0, 27, 0}}, 2);
  assert_int_equal(out[0], 196418);
  assert_int_equal(out[1], 111);
}

// The order of a sum is the layout's: registers, then lanes, then warps.
static void test_reduce_order(void **state) {
  Context *ctx = *state;
  float x[64], out[1];
  for (int i = 0; i < 64; i++) x[i] = 1.0f / (float)(3 * i + 1);
#define SUM(header, layout)                                                                                                       \
  header "func @f(%x: ptr<f32>, %out: ptr<f32>) { %r = range {start = 0, end = 64} : tensor<64xi32" layout ">\n"                   \
         " %v = load %x, %r, _, _ : tensor<64xf32" layout ">\n"                                                                   \
         " %s = reduce %v {axis = 0} : f32 do (%a: f32, %b: f32) { %c = addf %a, %b : f32 yield %c }\n"                            \
         " store %out, _, %s, _ return }\n"
  run(ctx, SUM("", ""), 1, (Arg[]){{x, sizeof x, 0, 0}, {out, sizeof out, 0, 0}}, 2);
  float want[64];
  memcpy(want, x, sizeof x);
  for (int bit = 1; bit < 64; bit *= 2)
    for (int i = 0; i < 64; i += 2 * bit) want[i] += want[i + bit];
  assert_memory_equal(out, want, 4);
  // Registers hold bit 5: it is folded first.
  run(ctx, SUM("module {stage = laid_out, num_warps = 1} #0 = layout<64, reg = [32], lane = [1, 2, 4, 8, 16]>\n", ", #0"), 1,
      (Arg[]){{x, sizeof x, 0, 0}, {out, sizeof out, 0, 0}}, 2);
  memcpy(want, x, sizeof x);
  for (int i = 0; i < 32; i++) want[i] += want[i + 32];
  for (int bit = 1; bit < 32; bit *= 2)
    for (int i = 0; i < 32; i += 2 * bit) want[i] += want[i + bit];
  assert_memory_equal(out, want, 4);
}

static void test_reduce_shapes(void **state) {
  Context *ctx = *state;
  // Largest element of each column with its row (two operands, a region with several results), reading a captured value.
  int32_t x[4 * 8], out[8], row[8];
  for (int i = 0; i < 32; i++) x[i] = (i * 37) % 19;
  run(ctx,
      "func @f(%x: ptr<i32>, %out: ptr<i32>, %row: ptr<i32>) {\n"
      "  %r = range {start = 0, end = 32} : tensor<32xi32>\n"
      "  %o = reshape %r : tensor<4x8xi32>\n"
      "  %v = load %x, %o, _, _ : tensor<4x8xi32>\n"
      "  %i = range {start = 0, end = 4} : tensor<4xi32> %i2 = expand_dims %i {axis = 1} : tensor<4x1xi32> %i3 = broadcast %i2 : tensor<4x8xi32>\n"
      "  %zero = constant {value = 0} : i32\n"
      "  %m, %at = reduce %v, %i3 {axis = 0} : tensor<8xi32>, tensor<8xi32> do (%a: i32, %ia: i32, %b: i32, %ib: i32) {\n"
      "    %c = cmpi %a, %b {pred = sge} : i1\n"
      "    %mv = select %c, %a, %b : i32\n"
      "    %mi = select %c, %ia, %ib : i32\n"
      "    %mz = addi %mv, %zero : i32\n"
      "    yield %mz, %mi\n"
      "  }\n"
      "  %o8 = range {start = 0, end = 8} : tensor<8xi32>\n"
      "  store %out, %o8, %m, _\n"
      "  store %row, %o8, %at, _\n"
      "  return\n"
      "}\n",
      1, (Arg[]){{x, sizeof x, 0, 0}, {out, sizeof out, 0, 0}, {row, sizeof row, 0, 0}}, 3);
  for (int c = 0; c < 8; c++) {
    int best = 0;
    for (int r = 1; r < 4; r++)
      if (x[r * 8 + c] > x[best * 8 + c]) best = r;
    assert_int_equal(out[c], x[best * 8 + c]);
    assert_int_equal(x[row[c] * 8 + c], out[c]);
  }
}

static void test_scan(void **state) {
  Context *ctx = *state;
  int32_t x[2 * 64], out[2 * 64];
  for (int i = 0; i < 128; i++) x[i] = (i * 7919) % 101;
  static const char *const headers[] = {"", "module {stage = laid_out, num_warps = 2} #0 = layout<2x64, reg = [1, 32], lane = [2, 4, 8, 16, 64], warp = [0]>\n"};
  for (int h = 0; h < 2; h++)
    for (int reverse = 0; reverse < 2; reverse++) {
      const char *l = h ? ", #0" : "";
      const char *text = arena_printf(&ctx->arena,
          "%s func @f(%%x: ptr<i32>, %%out: ptr<i32>) { %%o = constant {value = 0} : tensor<2x64xi32%s>\n"
          " %%i, %%p = while %%o, %%o : tensor<2x64xi32%s>, tensor<2x64xi32%s> do (%%a: tensor<2x64xi32%s>, %%b: tensor<2x64xi32%s>) {\n"
          "   %%f = constant {value = false} : i1 condition %%f, %%a, %%b } do (%%c: tensor<2x64xi32%s>, %%d: tensor<2x64xi32%s>) { yield %%c, %%d }\n"
          " %%base = constant {value = 1} : tensor<2x64xi32%s>\n"
          " %%n = scan %%base {axis = 1} : tensor<2x64xi32%s> do (%%q: i32, %%w: i32) { %%e = addi %%q, %%w : i32 yield %%e }\n"
          " %%m = scan %%base {axis = 0} : tensor<2x64xi32%s> do (%%q2: i32, %%w2: i32) { %%e2 = addi %%q2, %%w2 : i32 yield %%e2 }\n"
          " %%k64 = constant {value = 64} : tensor<2x64xi32%s> %%m0 = subi %%m, %%base : tensor<2x64xi32%s> %%m1 = muli %%m0, %%k64 : tensor<2x64xi32%s>\n"
          " %%n0 = subi %%n, %%base : tensor<2x64xi32%s> %%at = addi %%m1, %%n0 : tensor<2x64xi32%s>\n"
          " %%v = load %%x, %%at, _, _ : tensor<2x64xi32%s>\n"
          " %%s = scan %%v {axis = 1, reverse = %d} : tensor<2x64xi32%s> do (%%g: i32, %%j: i32) { %%t = addi %%g, %%j : i32 yield %%t }\n"
          " store %%out, %%at, %%s, _ return }\n",
          headers[h], l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, reverse, l);
      run(ctx, text, 1, (Arg[]){{x, sizeof x, 0, 0}, {out, sizeof out, 0, 0}}, 2);
      for (int r = 0; r < 2; r++) {
        int32_t sum = 0;
        for (int i = 0; i < 64; i++) {
          int at = r * 64 + (reverse ? 63 - i : i);
          sum += x[at];
          assert_int_equal(out[at], sum);
        }
      }
    }
}

static void test_map(void **state) {
  Context *ctx = *state;
  int32_t x[8], out[8];
  for (int i = 0; i < 8; i++) x[i] = i - 3;
  // A branch in the region: elements run one by one. pack = 2: neighbours are swapped.
  run(ctx,
      "func @f(%x: ptr<i32>, %out: ptr<i32>) {\n"
      "  %r = range {start = 0, end = 8} : tensor<8xi32>\n"
      "  %v = load %x, %r, _, _ : tensor<8xi32>\n"
      "  %z = constant {value = 0} : i32\n"
      "  %y = map %v {pack = 2} : tensor<8xi32> do (%a: i32, %b: i32) {\n"
      "    %c = cmpi %a, %z {pred = slt} : i1\n"
      "    %q = if %c : i32 do { %n = subi %z, %a : i32 yield %n } do { yield %a }\n"
      "    yield %b, %q\n"
      "  }\n"
      "  store %out, %r, %y, _\n"
      "  return\n"
      "}\n",
      1, (Arg[]){{x, sizeof x, 0, 0}, {out, sizeof out, 0, 0}}, 2);
  for (int i = 0; i < 8; i += 2) {
    assert_int_equal(out[i], x[i + 1]);
    assert_int_equal(out[i + 1], abs(x[i]));
  }
}

static void test_shapes(void **state) {
  Context *ctx = *state;
  int32_t out[64];
  run(ctx,
      "func @f(%out: ptr<i32>) {\n"
      "  %r = range {start = 0, end = 8} : tensor<8xi32>\n"
      "  %m = reshape %r : tensor<2x4xi32>\n"
      "  %t = trans %m {order = [1, 0]} : tensor<4x2xi32>\n"
      "  %f = reshape %t : tensor<8xi32>\n"                       // 0 4 1 5 2 6 3 7
      "  %j = join %r, %f : tensor<8x2xi32>\n"
      "  %jf = reshape %j : tensor<16xi32>\n"                     // 0 0 1 4 2 1 …
      "  %a, %b = split %j : tensor<8xi32>, tensor<8xi32>\n"
      "  %c = cat %b, %a : tensor<16xi32>\n"
      "  %g = gather %f, %r {axis = 0} : tensor<8xi32>\n"
      "  %r16 = range {start = 0, end = 16} : tensor<16xi32>\n"
      "  store %out, %r16, %jf, _\n"
      "  %k = constant {value = 16} : i32 %p = addptr %out, %k : ptr<i32>\n"
      "  store %p, %r16, %c, _\n"
      "  %p2 = addptr %p, %k : ptr<i32>\n"
      "  store %p2, %r, %g, _\n"
      "  %h = histogram %jf, _ : tensor<8xi32>\n"
      "  %k8 = constant {value = 8} : i32 %p3 = addptr %p2, %k8 : ptr<i32>\n"
      "  store %p3, %r, %h, _\n"
      "  return\n"
      "}\n"
      "func @unused() { return }\n" + 0,
      1, (Arg[]){{out, sizeof out, 0, 0}}, 1);
  static const int f[8] = {0, 4, 1, 5, 2, 6, 3, 7};
  for (int i = 0; i < 8; i++) {
    assert_int_equal(out[2 * i], i);
    assert_int_equal(out[2 * i + 1], f[i]);
    assert_int_equal(out[16 + i], f[i]);
    assert_int_equal(out[24 + i], i);
    assert_int_equal(out[32 + i], f[i]);
    assert_int_equal(out[40 + i], 2);
  }
}

static void test_dot(void **state) {
  Context *ctx = *state;
  static float a[512 * 512], b[512 * 512], c[512 * 512];
  for (int i = 0; i < 512 * 512; i++) a[i] = (float)((i * 31) % 17 - 8), b[i] = (float)((i * 7) % 13 - 6);
  // Small integers: every order of summation gives the same.
  run(ctx,
      "func @f(%a: ptr<f32>, %b: ptr<f32>, %c: ptr<f32>) {\n"
      "  %r = range {start = 0, end = 262144} : tensor<262144xi32>\n"
      "  %o = reshape %r : tensor<512x512xi32>\n"
      "  %x = load %a, %o, _, _ : tensor<512x512xf32>\n"
      "  %y = load %b, %o, _, _ : tensor<512x512xf32>\n"
      "  %z = constant {value = 1.0} : tensor<512x512xf32>\n"
      "  %d = dot %x, %y, %z {precision = ieee} : tensor<512x512xf32>\n"
      "  store %c, %o, %d, _\n"
      "  return\n"
      "}\n",
      1, (Arg[]){{a, sizeof a, 0, 0}, {b, sizeof b, 0, 0}, {c, sizeof c, 0, 0}}, 3);
  for (int i = 0; i < 512; i += 37)
    for (int j = 0; j < 512; j += 41) {
      float want = 1;
      for (int k = 0; k < 512; k++) want += a[i * 512 + k] * b[k * 512 + j];
      assert_true(c[i * 512 + j] == want);
    }
}

// A spin lock: every program needs the one before it.
static void test_spin(void **state) {
  Context *ctx = *state;
  int32_t turn[1] = {0}, order[64] = {0};
  static const char text[] =
      "func @f(%turn: ptr<i32>, %order: ptr<i32>) {\n"
      "  %n = num_programs {axis = 0} : i32 %pid = program_id {axis = 0} : i32 %one = constant {value = 1} : i32\n"
      "  %last = subi %n, %one : i32 %mine = subi %last, %pid : i32 %z = constant {value = 0} : i32\n"
      "  while do { %t = atomic_cas %turn, _, %mine, %mine {sem = acquire} : i32 %c = cmpi %t, %mine {pred = ne} : i1 condition %c } do { yield }\n"
      "  %p = addptr %order, %mine : ptr<i32>\n"
      "  store %p, _, %pid, _\n"
      "  %old = atomic_rmw %turn, _, %one, _ {atomic = add, sem = release} : i32\n"
      "  return\n"
      "}\n";
  run(ctx, text, 64, (Arg[]){{turn, sizeof turn, 0, 0}, {order, sizeof order, 0, 0}}, 2);
  for (int i = 0; i < 64; i++) assert_int_equal(order[i], 63 - i);
  // Nobody ever takes this turn.
  turn[0] = 1000;
  assert_false(try_run(ctx, text, 4, (Arg[]){{turn, sizeof turn, 0, 0}, {order, sizeof order, 0, 0}}, 2, NULL));
  assert_non_null(strstr(diag_render(ctx, false), "deadlock: 4 programs wait"));
}

static void test_atomics(void **state) {
  Context *ctx = *state;
  float sum[1] = {0};
  int32_t old[32];
  uint16_t half[1] = {0x3c00};
  run(ctx,
      "func @f(%sum: ptr<f32>, %old: ptr<i32>, %half: ptr<f16>) {\n"
      "  %r = range {start = 0, end = 32} : tensor<32xi32> %z = constant {value = 0} : tensor<32xi32>\n"
      "  %v = sitofp %r : tensor<32xf32>\n"
      "  %three = constant {value = 3} : tensor<32xi32> %m = cmpi %r, %three {pred = ne} : tensor<32xi1>\n"
      "  %o = atomic_rmw %sum, %z, %v, %m {atomic = fadd} : tensor<32xf32>\n"
      "  %oi = fptosi %o : tensor<32xi32>\n"
      "  store %old, %r, %oi, _\n"
      "  %h = constant {value = 1.5} : f16\n"
      "  %ho = atomic_rmw %half, _, %h, _ {atomic = max} : f16\n"
      "  return\n"
      "}\n",
      1, (Arg[]){{sum, sizeof sum, 0, 0}, {old, sizeof old, 0, 0}, {half, sizeof half, 0, 0}}, 3);
  assert_true(sum[0] == 31 * 32 / 2 - 3);
  assert_int_equal(old[3], 0);
  assert_int_equal(old[5], 0 + 1 + 2 + 4);
  assert_int_equal(half[0], 0x3e00);
}

#define SHARED_HEADER                                                                          \
  "module {stage = laid_out, num_warps = 1}\n"                                                 \
  "#l = layout<4x16, reg = [1], lane = [2, 4, 8, 16, 32]>\n"                                   \
  "#s = shared<4x16, offset = [1, 2, 4, 8, 16, 32]>\n"                                         \
  "#t = shared<16x4, offset = [4, 8, 16, 32, 1, 2]>\n"                                         \
  "#b = shared<1>\n"

static void test_async_copy(void **state) {
  Context *ctx = *state;
  int32_t x[64], early[64], late[64];
  for (int i = 0; i < 64; i++) x[i] = i + 1;
  static const char text[] = SHARED_HEADER
      "func @f(%x: ptr<i32>, %early: ptr<i32>, %late: ptr<i32>, %o: i32) {\n"
      "  %c = constant {value = 0} : tensor<4x16xi32, #l>\n"
      "  %one = constant {value = 1} : tensor<4x16xi32, #l>\n"
      "  %n = scan %one {axis = 1} : tensor<4x16xi32, #l> do (%a: i32, %b: i32) { %e = addi %a, %b : i32 yield %e }\n"
      "  %m = scan %one {axis = 0} : tensor<4x16xi32, #l> do (%a: i32, %b: i32) { %e = addi %a, %b : i32 yield %e }\n"
      "  %k = constant {value = 16} : tensor<4x16xi32, #l> %k17 = constant {value = 17} : tensor<4x16xi32, #l>\n"
      "  %m16 = muli %m, %k : tensor<4x16xi32, #l> %mn = addi %m16, %n : tensor<4x16xi32, #l> %i = subi %mn, %k17 : tensor<4x16xi32, #l>\n"
      "  %buf = alloc _ : buffer<2 * 4x16xi32, #s>\n"
      "  %b0 = buffer_index %buf, %o : buffer<4x16xi32, #s>\n"
      "  %t = async_copy %b0, %x, %i, _, _ : token\n"
      "  %g = async_commit %t : token\n"
      "  %w1 = async_wait %g {count = 1} : token\n"
      "  %v0 = local_load %b0, _ : tensor<4x16xi32, #l>\n"
      "  store %early, %i, %v0, _\n"
      "  %w0 = async_wait %g {count = 0} : token\n"
      "  %tr = buffer_trans %b0 {order = [1, 0]} : buffer<16x4xi32, #t>\n"
      "  %back = buffer_trans %tr {order = [1, 0]} : buffer<4x16xi32, #s>\n"
      "  %v1 = local_load %back, %w0 : tensor<4x16xi32, #l>\n"
      "  store %late, %i, %v1, _\n"
      "  return\n"
      "}\n";
  run(ctx, text, 1, (Arg[]){{x, sizeof x, 0, 0}, {early, sizeof early, 0, 0}, {late, sizeof late, 0, 0}, {0, 0, 1, 0}}, 4);
  assert_memory_equal(late, x, sizeof x);
  for (int i = 0; i < 64; i++) assert_int_equal((uint32_t)early[i], 0xA5A5A5A5u);
  assert_false(try_run(ctx, text, 1, (Arg[]){{x, sizeof x, 0, 0}, {early, sizeof early, 0, 0}, {late, sizeof late, 0, 0}, {0, 0, 2, 0}}, 4, NULL));
  assert_non_null(strstr(diag_render(ctx, false), "tile 2 of a buffer that has 2"));
}

static void test_tma(void **state) {
  Context *ctx = *state;
  int32_t x[6 * 20], out[6 * 20];
  for (int i = 0; i < 120; i++) x[i] = i + 1, out[i] = 0;
  InterpDesc dx = {.address = (uintptr_t)x, .extents = {6, 20}, .strides = {20, 1}}, dout = dx;
  dout.address = (uintptr_t)out;
#define TMA_TEXT(bytes)                                                                                              \
  SHARED_HEADER                                                                                                      \
  "func @f(%dx: desc<4x16xi32> {kind = desc, padding = zero, swizzle = 0, box = [4, 16, 0, 0, 0]},\n"               \
  "        %dout: desc<4x16xi32> {kind = desc, padding = zero, swizzle = 0, box = [4, 16, 0, 0, 0]}, %r: i32, %c: i32) {\n" \
  "  %bar = alloc _ : buffer<1xi64, #b>\n"                                                                          \
  "  %tile = alloc _ : buffer<4x16xi32, #s>\n"                                                                      \
  "  mbar_init %bar {count = 1}\n"                                                                                  \
  "  mbar_expect %bar, _ {bytes = " #bytes "}\n"                                                                    \
  "  tma_load %dx, %tile, %bar, _, %r, %c\n"                                                                        \
  "  %zero = constant {value = 0} : i32\n"                                                                          \
  "  mbar_wait %bar, %zero, _\n"                                                                                    \
  "  tma_store %dout, %tile, %r, %c\n"                                                                              \
  "  tma_wait {count = 0}\n"                                                                                        \
  "  return\n"                                                                                                      \
  "}\n"
  Arg args[] = {{x, sizeof x, 0, &dx}, {out, sizeof out, 0, &dout}, {0, 0, 3, 0}, {0, 0, 10, 0}};
  run(ctx, TMA_TEXT(256), 1, args, 4);
  for (int r = 0; r < 6; r++)
    for (int c = 0; c < 20; c++) assert_int_equal(out[r * 20 + c], r >= 3 && c >= 10 ? x[r * 20 + c] : 0);
  assert_false(try_run(ctx, TMA_TEXT(512), 1, args, 4, NULL));
  assert_non_null(strstr(diag_render(ctx, false), "waits for ever: 0 arrivals and 256 bytes are missing, and nothing that could bring them is under way"));
}

// Buffers that share memory while both live, and scratch laid over one, show.
static void test_overlap(void **state) {
  Context *ctx = *state;
  int32_t out[2];
#define OVERLAP(second, scratch)                                                                                                      \
  "module {stage = allocated, num_warps = 1, shared = 512}\n"                                                                         \
  "#l = layout<32, lane = [1, 2, 4, 8, 16]> #k = layout<32, lane = [16, 8, 4, 2, 1]> #s = shared<32, offset = [1, 2, 4, 8, 16]>\n"     \
  "func @f(%out: ptr<i32>) {\n"                                                                                                       \
  "  %one = constant {value = 1} : tensor<32xi32, #l> %two = constant {value = 2} : tensor<32xi32, #l>\n"                             \
  "  %a = alloc %one {offset = 0} : buffer<32xi32, #s>\n"                                                                             \
  "  %b = alloc %two {offset = " second "} : buffer<32xi32, #s>\n"                                                                    \
  "  %h = histogram %one, _ {offset = " scratch "} : tensor<32xi32, #k>\n"                                                            \
  "  %va = local_load %a, _ : tensor<32xi32, #l> %vb = local_load %b, _ : tensor<32xi32, #l>\n"                                       \
  "  %z = constant {value = 0} : tensor<32xi32, #l> %o = constant {value = 1} : tensor<32xi32, #l>\n"                                 \
  "  store %out, %z, %va, _ store %out, %o, %vb, _ return }\n"
  Arg args[] = {{out, sizeof out, 0, 0}};
  run(ctx, OVERLAP("128", "256"), 1, args, 1);
  assert_true(out[0] == 1 && out[1] == 2);
  run(ctx, OVERLAP("64", "256"), 1, args, 1);
  assert_true(out[0] != 1 || out[1] != 2);
  run(ctx, OVERLAP("128", "0"), 1, args, 1);
  assert_true(out[0] != 1);
  assert_false(try_run(ctx, OVERLAP("448", "0"), 1, args, 1, NULL));
}

static void test_debug(void **state) {
  Context *ctx = *state;
  Buf out = buf_make(&ctx->arena);
  static const char text[] =
      "func @f(%x: f32, %c: i1) {\n"
      "  %r = range {start = 9, end = 11} : tensor<2xi32>\n"
      "  print %r {text = \"r: \"}\n"
      "  print %x {text = \"x\"}\n"
      "  assert %c {text = \"c must hold\"}\n"
      "  return\n"
      "}\n";
  assert_true(try_run(ctx, text, 1, (Arg[]){{0, 0, 0x3fc00000, 0}, {0, 0, 1, 0}}, 2, &out));
  assert_string_equal(buf_str(&out), "pid (0, 0, 0) idx (0) r: 9\npid (0, 0, 0) idx (1) r: 10\npid (0, 0, 0) idx () x: 1.500000\n");
  assert_false(try_run(ctx, text, 1, (Arg[]){{0, 0, 0, 0}, {0, 0, 0, 0}}, 2, NULL));
  assert_non_null(strstr(diag_render(ctx, false), "device_assert failed: c must hold"));
}

// Every element-wise op: the fast loops give what eval_scalar gives.
static void test_fast_paths(void **state) {
  Context *ctx = *state;
  static const struct { const char *op, *elem, *result, *attr; uint32_t num; } cases[] = {
      {"addf", "f32", "f32", "", 2}, {"subf", "f32", "f32", "", 2}, {"mulf", "f32", "f32", "", 2}, {"divf", "f32", "f32", "", 2}, {"fma", "f32", "f32", "", 3},
      {"sqrt_rn", "f32", "f32", "", 1}, {"cmpf", "f32", "i1", "{pred = olt}", 2}, {"cmpf", "f32", "i1", "{pred = une}", 2}, {"addi", "i32", "i32", "", 2},
      {"subi", "i32", "i32", "", 2}, {"muli", "i32", "i32", "", 2}, {"minsi", "i32", "i32", "", 2}, {"maxsi", "i64", "i64", "", 2}, {"muli", "i64", "i64", "", 2},
      {"cmpi", "i32", "i1", "{pred = slt}", 2}, {"cmpi", "i32", "i1", "{pred = ult}", 2}, {"cmpi", "i64", "i1", "{pred = sge}", 2}, {"xori", "i64", "i64", "", 2}};
  uint64_t seed = 12345;
  for (uint32_t k = 0; k < countof(cases); k++) {
    bool wide = strstr(cases[k].elem, "64") != NULL;
    uint64_t x[3][256], out[256];
    for (int i = 0; i < 256; i++)
      for (int j = 0; j < 3; j++) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        uint64_t bits = seed >> 16;
        static const uint32_t odd[] = {0, 0x80000000u, 0x7f800000u, 0xff800000u, 0x7fc00000u, 1, 0x3f800000u, 0xffffffffu};
        if (bits % 3 == 0) bits = odd[seed >> 40 & 7];
        if (wide) x[j][i] = bits << 11; else ((uint32_t *)x[j])[i] = (uint32_t)bits;
      }
    const char *text = arena_printf(&ctx->arena,
        "func @f(%%x: ptr<%s>, %%y: ptr<%s>, %%z: ptr<%s>, %%o: ptr<%s>) { %%r = range {start = 0, end = 256} : tensor<256xi32>\n"
        " %%a = load %%x, %%r, _, _ : tensor<256x%s> %%b = load %%y, %%r, _, _ : tensor<256x%s> %%c = load %%z, %%r, _, _ : tensor<256x%s>\n"
        " %%d = %s %%a%s%s %s : tensor<256x%s> store %%o, %%r, %%d, _ return }\n",
        cases[k].elem, cases[k].elem, cases[k].elem, cases[k].result, cases[k].elem, cases[k].elem, cases[k].elem, cases[k].op,
        cases[k].num > 1 ? ", %b" : "", cases[k].num > 2 ? ", %c" : "", cases[k].attr, cases[k].result);
    run(ctx, text, 1, (Arg[]){{x[0], sizeof x[0], 0, 0}, {x[1], sizeof x[1], 0, 0}, {x[2], sizeof x[2], 0, 0}, {out, sizeof out, 0, 0}}, 4);
    Module *m = parse(ctx, text);
    Op *op = m->funcs->body->first;
    while (strcmp(op_info[op->opcode].name, cases[k].op) != 0) op = op->next;
    const Type *types[3];
    for (uint32_t j = 0; j < cases[k].num; j++) types[j] = type_elem(op_operand(op, j)->type);
    const Type *rt = type_elem(op->results[0].type);
    for (int i = 0; i < 256; i++) {
      uint64_t in[3], got;
      for (int j = 0; j < 3; j++) in[j] = wide ? x[j][i] : ((uint32_t *)x[j])[i];
      uint32_t bytes = type_elem_bytes(rt);
      got = bytes == 8 ? out[i] : bytes == 4 ? ((uint32_t *)out)[i] : ((uint8_t *)out)[i];
      uint64_t want = eval_scalar(op, types, rt, in);
      if (got != want) fail_msg("%s: %llx, %llx -> %llx, not %llx", cases[k].op, (unsigned long long)in[0], (unsigned long long)in[1], (unsigned long long)got, (unsigned long long)want);
    }
  }
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
  const struct CMUnitTest tests[] = {T(test_add),   T(test_loops), T(test_reduce_order), T(test_reduce_shapes), T(test_scan),  T(test_map),
                                     T(test_shapes), T(test_dot),  T(test_spin),         T(test_atomics),       T(test_async_copy), T(test_tma), T(test_overlap),
                                     T(test_debug), T(test_fast_paths)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
