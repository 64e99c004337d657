// Empty arrays, whose addresses are null pointers: a launch takes them, and only a kernel that reads one fails.
#include "tile_case.h"

static const char source[] =
  "import triton\nimport triton.language as tl\n"
  "@triton.jit\n"
  "def add(x, out, n, bias=None, B: tl.constexpr = 64):\n"
  "    o = tl.arange(0, B)\n"
  "    v = tl.load(x + o, mask=o < n, other=1.0)\n"
  "    if bias is not None:\n"
  "        v += tl.load(bias + o, mask=o < n, other=2.0)\n"
  "    tl.store(out + o, v)\n"
  "@triton.jit\n"
  "def tile(x, out, m, n, B: tl.constexpr):\n"
  "    d = tl.make_tensor_descriptor(x, [m, n], [n, 1], [B, B])\n"
  "    o = tl.arange(0, B)\n"
  "    tl.store(out + o[:, None] * B + o[None, :], d.load([0, 0]) + 3.0)\n"
  "@triton.jit\n"
  "def read(x, out):\n"
  "    tl.store(out, tl.load(x))\n";

static void check(tile_device *d, uint64_t out, float expected) {
  float got[64] = {0};
  case_fetch(d, got, out, sizeof got);
  for (int i = 0; i < 64; i++)
    if (got[i] != expected) fail_msg("element %d is %g, not %g", i, (double)got[i], (double)expected);
}

static void launches_on(const char *device, bool reports_reads) {
  tile_device *d = case_device_or_skip(device);
  tile_jit *jit = case_jit(d, source);
  uint64_t out = case_buffer(d, NULL, 64 * sizeof(float));
  const tile_arg null = tile_arg_array(0, TILE_FP32), to = tile_arg_array(out, TILE_FP32), none = tile_arg_int(0);
  tile_jit_kernel *add = case_kernel(jit, "add"), *tile = case_kernel(jit, "tile"), *read = case_kernel(jit, "read");
  for (int again = 0; again < 2; again++) {
    OK(tile_jit_launch(add, NULL, (const tile_arg[]){null, to, none}, 3, &error));
    check(d, out, 1);
  }
  OK(tile_jit_launch(add, NULL, (const tile_arg[]){null, to, none, null}, 4, &error));
  check(d, out, 3);
  for (int n = 0; n < 9; n += 4) {   // with an empty extent and without one
    const tile_arg args[] = {null, to, tile_arg_int(n), tile_arg_int(n), tile_arg_int(8)};
    if (!n || strcmp(device, "interp")) {
      OK(tile_jit_launch(tile, NULL, args, 5, &error));
      check(d, out, 3);
    }
  }
  if (reports_reads)
    REFUSED(tile_jit_launch(read, NULL, (const tile_arg[]){null, to}, 2, &error), TILE_ERROR_RUN,
            "case.py:17:19: error: load through a null pointer");
  tile_jit_close(jit);
  OK(tile_memory_free(d, out, &error));
  tile_device_close(d);
}

TEST(on_interp) { launches_on("interp", true); }
TEST(on_sim) { launches_on("sim", false); }
TEST(on_gpu) { launches_on("gpu", false); }

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(on_interp), cmocka_unit_test(on_sim), cmocka_unit_test(on_gpu)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
