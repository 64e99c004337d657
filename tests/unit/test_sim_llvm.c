// Kernels from LLVM's backend, against the same computation on the host.
#include "tests/unit/sim_host.h"

static CUmodule module;
static int setup(void **state) {
  host_setup(state);
  char *text = host_read("tests/sim/recorded/llvm.ptx");
  module = host_load(text);
  free(text);
  return 0;
}

TEST(test_wide) {
  unsigned __int128 x[32], out[32];
  for (int i = 0; i < 32; i++) x[i] = (unsigned __int128)(i + 1) * 0x123456789abcdefULL * 0xfedcba987ULL;
  CUdeviceptr a = host_buffer(x, sizeof x), o = host_buffer(NULL, sizeof out);
  LAUNCH(host_function(module, "wide"), 1, 32, 0, &a, &o);
  host_fetch(out, o, sizeof out);
  for (int i = 0; i < 32; i++) assert_true(out[i] == ((x[i] * 1000003) >> 37) - x[i]);
}

static uint32_t pick(uint32_t x) {
  static const uint32_t v[] = {7, 70, (uint32_t)-7, 6, 44};
  return x < 5 ? v[x] : 3 * x;
}
static uint32_t rotated(uint32_t t) {
  uint32_t k = t & 7, h = k * t, c = pick(k), n = t & 31;
  return n ? h << n | c >> (32 - n) : h;
}
TEST(test_mixed) {
  uint32_t out[32];
  CUdeviceptr o = host_buffer(NULL, sizeof out);
  LAUNCH(host_function(module, "mixed"), 1, 32, 0, &o, &o);
  host_fetch(out, o, sizeof out);
  for (uint32_t t = 0; t < 32; t++) assert_int_equal(out[t], rotated(t ^ 3) + pick(t & 7));
}

TEST(test_halves) {
  // {2, 0.5, 3, 4}: (2·4+2)·(0.5·3+0.5)+1 = 21; {1, −1, 2, 0.25}: (1·0.25+1)·(−1·2−1)+1 = −2.75
  uint16_t in[] = {0x4000, 0x3800, 0x4200, 0x4400, 0x3c00, 0xbc00, 0x4000, 0x3400};
  float out[2];
  CUdeviceptr a = host_buffer(in, sizeof in), o = host_buffer(NULL, sizeof out);
  LAUNCH(host_function(module, "halves"), 1, 2, 0, &a, &o);
  host_fetch(out, o, sizeof out);
  assert_true(out[0] == 7 && out[1] == -2.75f / 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_wide), cmocka_unit_test(test_mixed), cmocka_unit_test(test_halves)};
  return cmocka_run_group_tests(tests, setup, host_teardown);
}
