// Arguments that are tuples: through the JIT on every device, through compiled kernels and packages.
#include "tile_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TUPLE(name, type, ...)                     \
  const tile_arg name##_items[] = {__VA_ARGS__};   \
  const tile_tuple name##_tuple = {name##_items, sizeof name##_items / sizeof *name##_items, type, 0}; \
  const tile_arg name = tile_arg_tuple(&name##_tuple)

static const char source[] =
  "from collections import namedtuple\n"
  "import triton\nimport triton.language as tl\n"
  "Function = namedtuple('Function', ['fn', 'captured'])\n"
  "Line = namedtuple('Line', ['factor', 'offset'])\n"
  "@triton.jit\n"
  "def plus(x, by):\n"
  "    return x + by\n"
  "@triton.jit\n"
  "def line(arrays, by, n, out):\n"
  "    i = tl.arange(0, 64)\n"
  "    x, bias = arrays\n"
  "    v = tl.load(x + i, i < n, 0.0) * by.factor + by.offset[0]\n"
  "    if bias is not None:\n"
  "        v += tl.load(bias)\n"
  "    tl.store(out[0] + i, v)\n"
  "@triton.jit\n"
  "def apply(f, x, out, sizes):\n"
  "    i = tl.arange(0, sizes[0])\n"
  "    tl.store(out + i, f.fn(tl.load(x + i), *f.captured))\n"
  "@triton.jit\n"
  "def copy(pair, block):\n"
  "    pair[1].store([0, 0], pair[0].load([0, block[0]]))\n"
  "@triton.heuristics({'BIG': lambda args: args['t'][1] > 10})\n"
  "@triton.jit\n"
  "def big(t, BIG: tl.constexpr):\n"
  "    tl.store(t[0], 1.0 if BIG else 2.0)\n"
  "@triton.autotune(configs=[triton.Config({'S': 1}), triton.Config({'S': 2})], key=['t'])\n"
  "@triton.jit\n"
  "def tuned(t, S: tl.constexpr):\n"
  "    tl.store(t[0], t[1] + 0.0)\n";

enum { N = 64 };
typedef struct { tile_device *d; tile_jit *jit; uint64_t x, y, b; } Bench;

static void open_bench(Bench *b, const char *device) {
  b->d = case_device(device);
  tile_jit_options o = TILE_JIT_OPTIONS_INIT;
  o.no_cache = true;
  o.tune = TILE_TUNE_ON;
  OK(tile_jit_open_memory(b->d, "tuples.py", source, strlen(source), &o, &b->jit, &error));
  float in[N];
  for (int i = 0; i < N; i++) in[i] = (float)i;
  uint64_t *const all[] = {&b->x, &b->y, &b->b};
  for (int i = 0; i < 3; i++) OK(tile_memory_alloc(b->d, sizeof in, all[i], &error));
  OK(tile_memory_upload(b->d, b->x, in, sizeof in, &error));
  OK(tile_memory_upload(b->d, b->b, in + 7, sizeof *in, &error));
}

static void close_bench(Bench *b) {
  tile_jit_close(b->jit);
  const uint64_t all[] = {b->x, b->y, b->b};
  for (int i = 0; i < 3; i++) tile_memory_free(b->d, all[i], NULL);
  tile_device_close(b->d);
}

static tile_jit_kernel *kernel(const Bench *b, const char *name) {
  tile_jit_kernel *k;
  OK(tile_jit_get_kernel(b->jit, name, &k, &error));
  return k;
}

static void expect(const Bench *b, uint32_t n, float factor, float add) {
  float out[N];
  case_fetch(b->d, out, b->y, sizeof out);
  for (uint32_t i = 0; i < N; i++) assert_true(out[i] == (i < n ? (float)i * factor : 0) + add);
}

static void through_jit(const char *device) {
  Bench b;
  open_bench(&b, device);
  tile_jit_kernel *k = kernel(&b, "line");
  TUPLE(out, NULL, tile_arg_array(b.y, TILE_FP32));
  TUPLE(arrays, NULL, tile_arg_array(b.x, TILE_FP32), tile_arg_none());
  TUPLE(biased, NULL, tile_arg_array(b.x, TILE_FP32), tile_arg_array(b.b, TILE_FP32));
  TUPLE(offset, NULL, tile_arg_int(5));
  TUPLE(one, NULL, tile_arg_int(1));
  TUPLE(fixed, NULL, tile_arg_text("2 + 1"));
  TUPLE(by, "Line", tile_arg_float(2), offset);
  TUPLE(by_one, "Line", tile_arg_float(2), one);
  TUPLE(by_four, "Line", tile_arg_int(4), one);
  TUPLE(by_fixed, "Line", tile_arg_float(3), fixed);
  const struct { tile_arg arrays, by; int n; float factor, add; size_t variants; } runs[] = {
    {arrays, by, N, 2, 5, 1}, {arrays, by, 48, 2, 5, 1}, {arrays, by, 9, 2, 5, 2}, {arrays, by_one, N, 2, 1, 3}, {arrays, by_four, N, 4, 1, 4},
    {biased, by, N, 2, 12, 5}, {biased, by_fixed, N, 3, 10, 6}, {arrays, by, N, 2, 5, 6}};
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    const tile_arg args[] = {runs[i].arrays, runs[i].by, tile_arg_int(runs[i].n), out};
    OK(tile_jit_launch(k, NULL, args, 4, &error));
    expect(&b, (uint32_t)runs[i].n, runs[i].factor, runs[i].add);
    assert_int_equal(tile_jit_num_variants(k), runs[i].variants);
  }
  const tile_variant *v;
  const tile_arg args[] = {biased, by_one, tile_arg_int(N), out};
  OK(tile_jit_prepare(k, NULL, args, 4, &v, &error));
  OK(tile_variant_launch(v, (const uint32_t[]){1, 1, 1}, NULL, args, 4, &error));
  expect(&b, N, 2, 8);
  assert_string_equal(tile_variant_constexpr(v, "by_1_0"), "1");

  k = kernel(&b, "apply");
  TUPLE(captured, NULL, tile_arg_float(3));
  TUPLE(f, "Function", tile_arg_text("plus"), captured);
  TUPLE(sizes, NULL, tile_arg_text("64"));
  OK(tile_jit_launch(k, NULL, (const tile_arg[]){f, tile_arg_array(b.x, TILE_FP32), tile_arg_array(b.y, TILE_FP32), sizes}, 4, &error));
  expect(&b, N, 1, 3);

  k = kernel(&b, "big");
  TUPLE(small, NULL, tile_arg_array(b.y, TILE_FP32), tile_arg_int(3));
  TUPLE(large, NULL, tile_arg_array(b.y, TILE_FP32), tile_arg_int(30));
  for (int i = 0; i < 2; i++) {
    OK(tile_jit_launch(k, NULL, i ? &large : &small, 1, &error));
    float first;
    case_fetch(b.d, &first, b.y, sizeof first);
    assert_true(first == (i ? 1 : 2));
  }
  k = kernel(&b, "tuned");
  tile_tuning *report;
  OK(tile_jit_tune(k, NULL, &large, 1, &report, &error));
  assert_int_equal(tile_tuning_num_candidates(report), 2);
  assert_null(case_candidate(report, 1).skipped);
  tile_tuning_free(report);
  close_bench(&b);
}

TEST(on_sim) { through_jit("sim"); }
TEST(on_interp) { through_jit("interp"); }

TEST(descriptors) {
  Bench b;
  open_bench(&b, "sim");
  tile_tensor x, y;
  OK(tile_tensor_init(&x, b.x, TILE_FP32, 2, (const int64_t[]){8, 8}, NULL, (const int64_t[]){4, 4}, &error));
  OK(tile_tensor_init(&y, b.y, TILE_FP32, 2, (const int64_t[]){8, 8}, NULL, (const int64_t[]){4, 4}, &error));
  TUPLE(pair, NULL, tile_arg_tensor(&x), tile_arg_tensor(&y));
  TUPLE(at, NULL, tile_arg_int(4));
  OK(tile_jit_launch(kernel(&b, "copy"), NULL, (const tile_arg[]){pair, at}, 2, &error));
  float out[N];
  case_fetch(b.d, out, b.y, sizeof out);
  assert_true(out[0] == 4 && out[8] == 12 && out[27] == 31);
  close_bench(&b);
}

TEST(refused) {
  Bench b;
  open_bench(&b, "sim");
  tile_jit_kernel *k = kernel(&b, "line");
  TUPLE(out, NULL, tile_arg_array(b.y, TILE_FP32));
  TUPLE(arrays, NULL, tile_arg_array(b.x, TILE_FP32), tile_arg_none());
  TUPLE(untyped, NULL, tile_arg_pointer(b.x), tile_arg_none());
  TUPLE(missing, NULL, tile_arg_array(b.x, TILE_FP32), tile_arg_default());
  TUPLE(by, "Line", tile_arg_float(2), out);
  TUPLE(short_by, "Line", tile_arg_float(2));
  TUPLE(strange, "Curve", tile_arg_float(2), out);
  TUPLE(pure, NULL, tile_arg_float(2));
  REFUSED(tile_jit_launch(k, NULL, (const tile_arg[]){untyped, by, tile_arg_int(9), out}, 4, &error), TILE_ERROR_USAGE, "'arrays' is a pointer without a type");
  REFUSED(tile_jit_launch(k, NULL, (const tile_arg[]){missing, by, tile_arg_int(9), out}, 4, &error), TILE_ERROR_USAGE, "'arrays' is a tuple with an item that is missing");
  REFUSED(tile_jit_launch(k, NULL, (const tile_arg[]){arrays, short_by, tile_arg_int(9), out}, 4, &error), TILE_ERROR_PROGRAM, "`Line` has 2 fields, not 1");
  REFUSED(tile_jit_launch(k, NULL, (const tile_arg[]){arrays, strange, tile_arg_int(9), out}, 4, &error), TILE_ERROR_PROGRAM, "Curve");
  REFUSED(tile_jit_launch(kernel(&b, "big"), NULL, (const tile_arg[]){pure, out}, 2, &error), TILE_ERROR_USAGE, "is a constexpr: a tuple for it is written as text");
  tile_arg deep = tile_arg_int(3);
  tile_tuple levels[40];
  tile_arg items[40];
  for (int i = 0; i < 40; i++) items[i] = deep, levels[i] = (tile_tuple){&items[i], 1, NULL, 0}, deep = tile_arg_tuple(&levels[i]);
  REFUSED(tile_jit_launch(k, NULL, (const tile_arg[]){arrays, deep, tile_arg_int(9), out}, 4, &error), TILE_ERROR_USAGE, "'by' nests tuples deeper than 16");
  tile_arg many_items[600];
  for (int i = 0; i < 600; i++) many_items[i] = tile_arg_int(2);
  const tile_tuple many = {many_items, 600, NULL, 0};
  REFUSED(tile_jit_launch(k, NULL, (const tile_arg[]){arrays, tile_arg_tuple(&many), tile_arg_int(9), out}, 4, &error), TILE_ERROR_USAGE, "'by' has too many items");
  close_bench(&b);
}

// A kernel that was compiled with a signature takes the tuple, or its items.
TEST(compiled) {
  Bench b;
  open_bench(&b, "sim");
  tile_compile_options o = TILE_COMPILE_OPTIONS_INIT;
  o.kernel = "line";
  o.signature = "(*fp32, None), Line(fp32, (1,)), i32, (*fp32,)";
  tile_program *p;
  tile_kernel *k;
  OK(tile_compile_memory("tuples.py", source, strlen(source), &o, &p, &error));
  OK(tile_kernel_load(b.d, p, NULL, &k, &error));
  tile_program_free(p);
  assert_int_equal(tile_kernel_num_args(k), 4);
  TUPLE(out, NULL, tile_arg_pointer(b.y));
  TUPLE(arrays, NULL, tile_arg_pointer(b.x), tile_arg_none());
  TUPLE(one, NULL, tile_arg_int(1));
  TUPLE(two, NULL, tile_arg_int(2));
  TUPLE(by, NULL, tile_arg_float(2), one);
  TUPLE(by_two, NULL, tile_arg_float(2), two);
  TUPLE(biased, NULL, tile_arg_pointer(b.x), tile_arg_pointer(b.b));
  OK(tile_kernel_launch(k, NULL, (const tile_arg[]){arrays, by, tile_arg_int(9), out}, 4, &error));
  expect(&b, 9, 2, 1);
  OK(tile_kernel_launch(k, NULL, (const tile_arg[]){tile_arg_pointer(b.x), tile_arg_float(3), tile_arg_int(9), tile_arg_pointer(b.y)}, 4, &error));
  expect(&b, 9, 3, 1);
  OK(tile_kernel_check(k, NULL, (const tile_arg[]){arrays, by, tile_arg_int(9), out}, 4, &error));
  REFUSED(tile_kernel_launch(k, NULL, (const tile_arg[]){arrays, by_two, tile_arg_int(9), out}, 4, &error), TILE_ERROR_USAGE, "'by_1_0', an item of argument 2, was compiled in as 1");
  REFUSED(tile_kernel_launch(k, NULL, (const tile_arg[]){biased, by, tile_arg_int(9), out}, 4, &error), TILE_ERROR_USAGE, "'arrays_1', an item of argument 1, was compiled in as None");
  REFUSED(tile_kernel_launch(k, NULL, (const tile_arg[]){arrays, by, tile_arg_int(9)}, 3, &error), TILE_ERROR_USAGE, "takes 4 arguments, got 3 with the items of tuples");
  REFUSED(tile_kernel_launch(k, NULL, (const tile_arg[]){arrays, out, tile_arg_int(9), out}, 4, &error), TILE_ERROR_USAGE, "argument 'by_0' (fp32) expects a float, got a pointer");
  tile_kernel_free(k);
  close_bench(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(on_sim), cmocka_unit_test(on_interp), cmocka_unit_test(descriptors), cmocka_unit_test(refused), cmocka_unit_test(compiled)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
