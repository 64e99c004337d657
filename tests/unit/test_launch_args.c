// Every kind of scalar reaches the kernel as it was given, whichever way a launch takes, and what does not fit is refused by name.
#include "tile_case.h"

#include <stdio.h>
#include <string.h>

static const char source[] =
  "import triton\nimport triton.language as tl\n"
  "@triton.jit\n"
  "def put(out, v):\n"
  "    tl.store(out, v.to(out.dtype.element_ty))\n"
  "@triton.jit\n"
  "def put2(out, v, n, h):\n"
  "    tl.store(out, v * n + h.to(tl.float32))\n";

static tile_kernel *load(tile_device *d, const char *name, const char *signature) {
  tile_compile_options o = TILE_COMPILE_OPTIONS_INIT;
  tile_program *p = NULL;
  tile_kernel *k = NULL;
  o.kernel = name;
  o.signature = signature;
  OK(tile_compile_memory("put.py", source, strlen(source), &o, &p, &error));
  OK(tile_kernel_load(d, p, name, &k, &error));
  tile_program_free(p);
  return k;
}

TEST(integers) {
  tile_device *d = case_device("sim");
  uint64_t out = case_buffer(d, NULL, 16);
  const struct { const char *signature; int64_t lowest, highest; } types[] = {
    {"*i64:16, i1", 0, 1},          {"*i64:16, i8", INT8_MIN, INT8_MAX},   {"*i64:16, i16", INT16_MIN, INT16_MAX}, {"*i64:16, i32", INT32_MIN, INT32_MAX},
    {"*i64:16, i64", INT64_MIN, INT64_MAX}, {"*i64:16, u8", 0, UINT8_MAX}, {"*i64:16, u16", 0, UINT16_MAX},        {"*i64:16, u32", 0, UINT32_MAX}};
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    tile_kernel *k = load(d, "put", types[t].signature);
    const int64_t values[] = {types[t].lowest, types[t].highest, 0, 1};
    for (size_t i = 0; i < 4; i++) {
      int64_t got = 77;
      OK(tile_kernel_launch(k, NULL, (tile_arg[]){tile_arg_pointer(out), tile_arg_int(values[i])}, 2, &error));
      case_fetch(d, &got, out, sizeof got);
      if (got != values[i]) fail_msg("%s: %lld became %lld", types[t].signature, (long long)values[i], (long long)got);
    }
    if (types[t].highest < INT64_MAX) {
      REFUSED(tile_kernel_launch(k, NULL, (tile_arg[]){tile_arg_pointer(out), tile_arg_int(types[t].highest + 1)}, 2, &error), TILE_ERROR_USAGE, "argument 'v'");
      REFUSED(tile_kernel_launch(k, NULL, (tile_arg[]){tile_arg_pointer(out), tile_arg_int(types[t].lowest - 1)}, 2, &error), TILE_ERROR_USAGE, "cannot hold");
    }
    REFUSED(tile_kernel_launch(k, NULL, (tile_arg[]){tile_arg_pointer(out + 8), tile_arg_int(0)}, 2, &error), TILE_ERROR_USAGE, "addresses divisible by 16");
    REFUSED(tile_kernel_launch(k, NULL, (tile_arg[]){tile_arg_int(16), tile_arg_int(0)}, 2, &error), TILE_ERROR_USAGE, "expects a pointer, got an integer");
    REFUSED(tile_kernel_launch(k, NULL, (tile_arg[]){tile_arg_pointer(out), tile_arg_float(0)}, 2, &error), TILE_ERROR_USAGE, "expects an integer, got a float");
    REFUSED(tile_kernel_launch(k, NULL, (tile_arg[]){tile_arg_pointer(out), tile_arg_bool(true)}, 2, &error), TILE_ERROR_USAGE, "got a boolean");
    REFUSED(tile_kernel_launch(k, NULL, (tile_arg[]){tile_arg_pointer(out)}, 1, &error), TILE_ERROR_USAGE, "takes 2 arguments, got 1");
    tile_launch_options o = TILE_LAUNCH_OPTIONS_INIT;
    o.grid[1] = 65536;
    REFUSED(tile_kernel_launch(k, &o, (tile_arg[]){tile_arg_pointer(out), tile_arg_int(0)}, 2, &error), TILE_ERROR_RESOURCES, "at most 65535");
    o.grid[1] = 0;
    const int64_t before = -1;
    int64_t got;
    OK(tile_memory_upload(d, out, &before, sizeof before, &error));
    OK(tile_kernel_launch(k, &o, (tile_arg[]){tile_arg_pointer(out), tile_arg_int(0)}, 2, &error));
    case_fetch(d, &got, out, sizeof got);
    if (got != -1) fail_msg("%s: a launch without programs wrote %lld", types[t].signature, (long long)got);
    REFUSED(tile_kernel_launch(k, &o, (tile_arg[]){tile_arg_int(16), tile_arg_int(0)}, 2, &error), TILE_ERROR_USAGE, "expects a pointer, got an integer");
    tile_kernel_free(k);
  }
  tile_kernel *k = load(d, "put", "*i64:16, i32:16");
  REFUSED(tile_kernel_launch(k, NULL, (tile_arg[]){tile_arg_pointer(out), tile_arg_int(24)}, 2, &error), TILE_ERROR_USAGE, "multiples of 16, got 24");
  tile_kernel_free(k);
  tile_memory_free(d, out, NULL);
  tile_device_close(d);
}

TEST(floats) {
  tile_device *d = case_device("sim");
  uint64_t out = case_buffer(d, NULL, 16);
  const struct { const char *signature; double given, expected; } cases[] = {{"*fp64, fp64", 0.1, 0.1}, {"*fp64, fp32", 0.1, (double)0.1f}, {"*fp64, fp16", 0.1, 0.0999755859375},
                                                                             {"*fp64, bf16", 0.1, 0.10009765625}, {"*fp64, fp32", -1e30, (double)-1e30f}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tile_kernel *k = load(d, "put", cases[i].signature);
    double got = 77;
    OK(tile_kernel_launch(k, NULL, (tile_arg[]){tile_arg_pointer(out), tile_arg_float(cases[i].given)}, 2, &error));
    case_fetch(d, &got, out, sizeof got);
    if (got != cases[i].expected) fail_msg("%s: %.17g became %.17g", cases[i].signature, cases[i].given, got);
    // An integer is a float too.
    OK(tile_kernel_launch(k, NULL, (tile_arg[]){tile_arg_pointer(out), tile_arg_int(3)}, 2, &error));
    case_fetch(d, &got, out, sizeof got);
    assert_true(got == 3);
    tile_kernel_free(k);
  }
  // A parameter that goes the slow way takes the others along.
  tile_kernel *k = load(d, "put2", "*fp32, fp32, i32, fp16");
  float got;
  OK(tile_kernel_launch(k, NULL, (tile_arg[]){tile_arg_pointer(out), tile_arg_float(2.5), tile_arg_int(-4), tile_arg_float(0.5)}, 4, &error));
  case_fetch(d, &got, out, sizeof got);
  assert_true(got == -9.5f);
  tile_kernel_free(k);
  tile_memory_free(d, out, NULL);
  tile_device_close(d);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(integers), cmocka_unit_test(floats)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
