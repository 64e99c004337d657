// Structures of a fixed size have reserved fields: a launch, a preparation and a compilation refuse what is set there, so that a
// later version can give it a meaning.
#include <string.h>

#include "tile_case.h"

static const char source[] =
    "@kernel\ndef plain(x: *fp32, n: i32, f: fp32):\n    store(x, n * f)\n"
    "@kernel\ndef load(d: \"tensordesc<fp32[8, 32]>\", x: *fp32):\n    store(x, d.load([0, 0]).sum())\n"
    "@kernel\ndef pair(t, x: *fp32):\n    store(x, t[0] + t[1])\n";

static tile_kernel *load(tile_device *d, const char *name, const char *signature) {
  tile_compile_options o = TILE_COMPILE_OPTIONS_INIT;
  tile_program *p = NULL;
  tile_kernel *k = NULL;
  o.kernel = name;
  o.signature = signature;
  OK(tile_compile_memory("k.tile", source, sizeof source - 1, &o, &p, &error));
  OK(tile_kernel_load(d, p, name, &k, &error));
  tile_program_free(p);
  return k;
}

static tile_arg marked(tile_arg a) {
  a.reserved = 1;
  return a;
}

static tile_jit_kernel *jit_kernel(tile_jit *jit, const char *name) {
  tile_jit_kernel *k = NULL;
  OK(tile_jit_get_kernel(jit, name, &k, &error));
  return k;
}

static tile_tensor tensor(uint64_t base, uint8_t reserved) {
  tile_tensor t = {.base = base, .rank = 2, .type = TILE_FP32, .shape = {8, 32}, .strides = {32, 1}, .block = {8, 32}};
  t.reserved[sizeof t.reserved - 1] = reserved;
  return t;
}

TEST(compiled_kernels) {
  static const float zeros[1024];
  tile_device *d = case_device("sim");
  const uint64_t x = case_buffer(d, zeros, sizeof zeros);
  tile_kernel *k = load(d, "plain", "*fp32:16, i32, fp32");
  const tile_arg good[] = {tile_arg_pointer(x), tile_arg_int(2), tile_arg_float(3)};
  OK(tile_kernel_launch(k, NULL, good, 3, &error));
  static const char *const says[] = {"argument 'x' (*fp32) is a tile_arg whose reserved fields", "argument 'n' (i32) is", "argument 'f' (fp32) is"};
  for (int i = 0; i < 3; i++) {
    tile_arg bad[3];
    memcpy(bad, good, sizeof bad);
    bad[i] = marked(bad[i]);
    REFUSED(tile_kernel_launch(k, NULL, bad, 3, &error), TILE_ERROR_USAGE, says[i]);
    REFUSED(tile_kernel_check(k, NULL, bad, 3, &error), TILE_ERROR_USAGE, says[i]);
  }
  tile_kernel_free(k);
  k = load(d, "load", "tensordesc<fp32[8, 32]>, *fp32:16");
  const tile_tensor fine = tensor(x, 0), odd = tensor(x, 1);
  OK(tile_kernel_launch(k, NULL, (tile_arg[]){tile_arg_tensor(&fine), tile_arg_pointer(x + 2048)}, 2, &error));
  REFUSED(tile_kernel_launch(k, NULL, (tile_arg[]){tile_arg_tensor(&odd), tile_arg_pointer(x)}, 2, &error), TILE_ERROR_USAGE, "is a tensor whose reserved fields");
  tile_kernel_free(k);
  k = load(d, "pair", "(i32, i32), *fp32");
  tile_arg items[] = {tile_arg_int(2), tile_arg_int(3)};
  tile_tuple t = {items, 2, NULL, 0};
  OK(tile_kernel_launch(k, NULL, (tile_arg[]){tile_arg_tuple(&t), tile_arg_pointer(x)}, 2, &error));
  REFUSED(tile_kernel_launch(k, NULL, (tile_arg[]){marked(tile_arg_tuple(&t)), tile_arg_pointer(x)}, 2, &error), TILE_ERROR_USAGE, "argument 1 is a tile_arg whose reserved fields");
  t.reserved = 5;
  REFUSED(tile_kernel_launch(k, NULL, (tile_arg[]){tile_arg_tuple(&t), tile_arg_pointer(x)}, 2, &error), TILE_ERROR_USAGE, "argument 1 is a tuple whose reserved fields");
  t.reserved = 0, items[1] = marked(items[1]);
  REFUSED(tile_kernel_launch(k, NULL, (tile_arg[]){tile_arg_tuple(&t), tile_arg_pointer(x)}, 2, &error), TILE_ERROR_USAGE, "argument 1 has an item whose reserved fields");
  t.items = NULL;
  REFUSED(tile_kernel_launch(k, NULL, (tile_arg[]){tile_arg_tuple(&t), tile_arg_pointer(x)}, 2, &error), TILE_ERROR_USAGE, "argument 1 is a tuple without items");
  tile_arg knot[1];
  const tile_tuple endless = {knot, 1, NULL, 0};
  knot[0] = tile_arg_tuple(&endless);
  REFUSED(tile_kernel_launch(k, NULL, (tile_arg[]){knot[0], tile_arg_pointer(x)}, 2, &error), TILE_ERROR_USAGE, "argument 1 nests tuples too deep");
  tile_kernel_free(k);
  OK(tile_memory_free(d, x, &error));
  tile_device_close(d);
}

TEST(jit) {
  tile_device *d = case_device("interp");
  const uint64_t x = case_buffer(d, NULL, 4096);
  tile_jit *jit = NULL;
  tile_jit_options o = TILE_JIT_OPTIONS_INIT;
  o.no_cache = true;
  OK(tile_jit_open_memory(d, "k.tile", source, sizeof source - 1, &o, &jit, &error));
  tile_jit_kernel *plain = jit_kernel(jit, "plain"), *descriptor = jit_kernel(jit, "load"), *pair = jit_kernel(jit, "pair");
  const tile_arg good[] = {tile_arg_array(x, TILE_FP32), tile_arg_int(2), tile_arg_float(3)};
  for (int i = 0; i < 3; i++) {
    tile_arg bad[3];
    memcpy(bad, good, sizeof bad);
    bad[i] = marked(bad[i]);
    REFUSED(tile_jit_launch(plain, NULL, bad, 3, &error), TILE_ERROR_USAGE, "is a tile_arg whose reserved fields");
  }
  OK(tile_jit_launch(plain, NULL, good, 3, &error));
  const tile_tensor odd = tensor(x, 1);
  REFUSED(tile_jit_launch(descriptor, NULL, (tile_arg[]){tile_arg_tensor(&odd), good[0]}, 2, &error), TILE_ERROR_USAGE, "'d' is a tensor whose reserved fields");
  tile_arg items[] = {tile_arg_int(2), tile_arg_int(3)};
  tile_tuple t = {items, 2, NULL, 7};
  REFUSED(tile_jit_launch(pair, NULL, (tile_arg[]){tile_arg_tuple(&t), good[0]}, 2, &error), TILE_ERROR_USAGE, "'t' is a tuple whose reserved fields");
  t.reserved = 0, items[0] = marked(items[0]);
  REFUSED(tile_jit_launch(pair, NULL, (tile_arg[]){tile_arg_tuple(&t), good[0]}, 2, &error), TILE_ERROR_USAGE, "'t' has an item whose reserved fields");
  tile_jit_request request = {plain, NULL, good, 3, {0, 1}};
  REFUSED(tile_jit_prepare_all(&request, 1, 1, &error), TILE_ERROR_USAGE, "requests[0]: its reserved fields");
  tile_jit_close(jit);
  OK(tile_memory_free(d, x, &error));
  tile_device_close(d);
}

TEST(source_maps) {
  const tile_source_range range = {1, 1, "a.tile", {0, 1}};
  tile_compile_options o = TILE_COMPILE_OPTIONS_INIT;
  o.source_map = &range;
  o.num_source_map = 1;
  tile_program *p = NULL;
  REFUSED(tile_compile_memory("k.tile", source, sizeof source - 1, &o, &p, &error), TILE_ERROR_USAGE, "source_map[0]: its reserved fields, which must be zero, are not");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(compiled_kernels), cmocka_unit_test(jit), cmocka_unit_test(source_maps)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
