// What other libraries' arrays are as arguments (DLPack, descriptors made by hand), and many variants prepared at once.
#include "tile_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char source[] =
  "import triton\nimport triton.language as tl\n"
  "@triton.jit\n"
  "def scale(x, y, F: tl.constexpr, B: tl.constexpr):\n"
  "    tl.static_assert(F < 100, 'too much')\n"
  "    o = tl.arange(0, B)\n"
  "    tl.store(y + o, tl.load(x + o) * F)\n"
  "@triton.jit\n"
  "def move(src, dst):\n"
  "    dst.store([0, 0], src.load([2, 4]))\n";

enum { N = 64 };
typedef struct { tile_device *d; tile_jit *jit; tile_jit_kernel *scale, *move; uint64_t x, y; } Bench;

static void open_bench(Bench *b) {
  b->d = case_device("sim");
  b->jit = case_jit(b->d, source);
  b->scale = case_kernel(b->jit, "scale");
  b->move = case_kernel(b->jit, "move");
  float in[N];
  for (int i = 0; i < N; i++) in[i] = (float)i;
  b->x = case_buffer(b->d, in, sizeof in);
  b->y = case_buffer(b->d, NULL, sizeof in);
}
static void close_bench(Bench *b) {
  tile_jit_close(b->jit);
  tile_memory_free(b->d, b->x, NULL);
  tile_memory_free(b->d, b->y, NULL);
  tile_device_close(b->d);
}

TEST(dlpack) {
  Bench b;
  open_bench(&b);
  int64_t shape[] = {4, 12}, strides[] = {12, 1}, gaps[] = {16, 1};
  tile_dltensor x = {.data = (void *)(uintptr_t)b.x, .ndim = 2, .code = 2, .bits = 32, .lanes = 1, .shape = shape, .byte_offset = 64}, y = x;
  y.data = (void *)(uintptr_t)b.y;
  tile_arg args[] = {tile_arg_none(), tile_arg_none(), tile_arg_int(3), tile_arg_int(16)};
  size_t bytes = 1;
  OK(tile_arg_from_dlpack(&x, &args[0], &bytes, &error));
  assert_int_equal(bytes, 192);
  assert_int_equal(args[0].value.pointer, b.x + 64);
  assert_int_equal(args[0].type, TILE_FP32);
  x.strides = strides;
  OK(tile_arg_from_dlpack(&x, &args[0], &bytes, &error));
  assert_int_equal(bytes, 192);
  x.strides = gaps;
  OK(tile_arg_from_dlpack(&x, &args[0], &bytes, &error));
  assert_int_equal(bytes, 0);
  OK(tile_arg_from_dlpack(&y, &args[1], NULL, &error));
  OK(tile_jit_launch(b.scale, NULL, args, 4, &error));
  float out[N];
  case_fetch(b.d, out, b.y, sizeof out);
  for (int i = 16; i < 32; i++) assert_true(out[i] == 3 * (float)i);
  const struct { uint8_t code, bits; tile_type type; } kinds[] = {{0, 8, TILE_INT8}, {1, 64, TILE_UINT64}, {4, 16, TILE_BF16}, {10, 8, TILE_FP8E4NV}, {6, 8, TILE_INT1}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    x.code = kinds[i].code, x.bits = kinds[i].bits;
    OK(tile_arg_from_dlpack(&x, &args[0], NULL, &error));
    assert_int_equal(args[0].type, kinds[i].type);
  }
  x.code = 5, x.bits = 64;
  REFUSED(tile_arg_from_dlpack(&x, &args[0], NULL, &error), TILE_ERROR_USAGE, "no kernel type for DLPack's type code 5 with 64 bits and 1 lanes");
  x.code = 2, x.bits = 32, x.lanes = 4;
  REFUSED(tile_arg_from_dlpack(&x, &args[0], NULL, &error), TILE_ERROR_USAGE, "4 lanes");
  close_bench(&b);
}

TEST(descriptors) {
  Bench b;
  open_bench(&b);
  int64_t shape[] = {8, 8}, block[] = {4, 4}, small[] = {4, 4};
  tile_dltensor from = {.data = (void *)(uintptr_t)b.x, .ndim = 2, .code = 2, .bits = 32, .lanes = 1, .shape = shape};
  tile_tensor s, t;
  OK(tile_tensor_from_dlpack(&s, &from, block, &error));
  OK(tile_tensor_init(&t, b.y, TILE_FP32, 2, small, NULL, block, &error));
  assert_int_equal(s.strides[0], 8);
  assert_int_equal(t.strides[0], 4);
  OK(tile_jit_launch(b.move, NULL, (tile_arg[]){tile_arg_tensor(&s), tile_arg_tensor(&t)}, 2, &error));
  float out[16];
  case_fetch(b.d, out, b.y, sizeof out);
  for (int i = 0; i < 16; i++) assert_true(out[i] == (float)((2 + i / 4) * 8 + 4 + i % 4));
  REFUSED(tile_tensor_init(&t, b.y, TILE_FP32, 6, shape, NULL, NULL, &error), TILE_ERROR_USAGE, "1 to 5 axes, not 6");
  from.ndim = 0;
  REFUSED(tile_tensor_from_dlpack(&s, &from, block, &error), TILE_ERROR_USAGE, "not 0");
  close_bench(&b);
}

// Sixteen threads make eight variants, each once; one that does not compile keeps no other from being made.
TEST(prepared_at_once) {
  enum { REQUESTS = 33 };
  Bench b;
  open_bench(&b);
  tile_arg args[REQUESTS][4];
  tile_jit_request requests[REQUESTS];
  for (int i = 0; i < REQUESTS; i++) {
    tile_arg these[] = {tile_arg_array(16, TILE_FP32), tile_arg_array(16, TILE_FP32), tile_arg_int(i == 7 ? 100 : 2 + i % 8), tile_arg_int(32)};
    memcpy(args[i], these, sizeof these);
    requests[i] = (tile_jit_request){b.scale, NULL, args[i], 4, {0}};
  }
  REFUSED(tile_jit_prepare_all(requests, REQUESTS, 16, &error), TILE_ERROR_PROGRAM, "too much");
  assert_int_equal(tile_jit_num_variants(b.scale), 8);
  requests[7] = requests[6];
  OK(tile_jit_prepare_all(requests, REQUESTS, 0, &error));
  OK(tile_jit_prepare_all(requests, 0, 0, &error));
  assert_int_equal(tile_jit_num_variants(b.scale), 8);
  close_bench(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(dlpack), cmocka_unit_test(descriptors), cmocka_unit_test(prepared_at_once)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
