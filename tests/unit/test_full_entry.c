// A kernel with a second entry for launches of full tiles, in many waves or in one (metadata `full_entry`): which one a launch takes, on either way through launch.c,
// and metadata of it that cannot be.
#include "tile_case.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096, MULTIPROCESSORS = 2, WAVE = 6 * MULTIPROCESSORS, LARGE = 10 * WAVE };

static const char source[] =
  "import triton\nimport triton.language as tl\n"
  "@triton.jit\n"
  "def row(x, y, n, f, BLOCK: tl.constexpr):\n"
  "    o = tl.arange(0, BLOCK)\n"
  "    v = tl.load(x + tl.program_id(0) * n + o, mask=o < n, other=1.0)\n"
  "    tl.store(y + tl.program_id(0) * n + o, v * f / tl.max(v, axis=0), mask=o < n)\n";

// The kernel's PTX with `from`, which it must contain, overwritten by `to`, which is no longer.
static char *edited_ptx(size_t *size, const char *from, const char *to) {
  tile_program *p = NULL;
  tile_compile_options o = TILE_COMPILE_OPTIONS_INIT;
  o.signature = "*fp16:16, *fp16:16, i32:16, fp32, 4096";
  OK(tile_compile_memory("row.py", source, strlen(source), &o, &p, &error));
  const char *ptx = tile_program_output(p, TILE_EMIT_PTX, size);
  char *text = malloc(*size + 1);
  memcpy(text, ptx, *size + 1);
  tile_program_free(p);
  char *at = strstr(text, from);
  if (!at) fail_msg("'%s' is not in the PTX", from);
  memset(at, ' ', strlen(from));
  memcpy(at, to, strlen(to));
  return text;
}

// Whether a launch with rows of n elements ran the entry for full tiles, which in this kernel returns at once.
static bool takes_full(tile_device *d, const tile_kernel *k, const uint32_t grid[3], uint64_t x, uint64_t y, int64_t n, tile_arg factor) {
  uint16_t first = 0;
  tile_launch_options o = TILE_LAUNCH_OPTIONS_INIT;
  memcpy(o.grid, grid, sizeof o.grid);
  OK(tile_memory_upload(d, y, &first, sizeof first, &error));
  OK(tile_kernel_launch((tile_kernel *)k, &o, (tile_arg[]){tile_arg_pointer(x), tile_arg_pointer(y), tile_arg_int(n), factor}, 4, &error));
  case_fetch(d, &first, y, sizeof first);
  return first == 0;
}

static void launches(void **state) {
  (void)state;
  static uint16_t ones[LARGE * 2 * BLOCK];
  for (size_t i = 0; i < sizeof ones / sizeof *ones; i++) ones[i] = 0x3c00;
  setenv("TILE_SIM_SMS", "2", 1);
  tile_device *d = case_device("sim");
  uint64_t x = case_buffer(d, ones, sizeof ones), y = case_buffer(d, NULL, sizeof ones);
  size_t size;
  char *ptx = edited_ptx(&size, "setmaxnreg.dec.sync.aligned.u32 \t80;", "exit;");
  tile_kernel *k = NULL;
  OK(tile_kernel_load_ptx(d, ptx, size, NULL, &k, &error));
  free(ptx);
  const struct { uint32_t grid[3]; int64_t n; bool full; } cases[] = {
    {{LARGE, 1, 1}, 16, false}, {{LARGE, 1, 1}, BLOCK - 16, false}, {{LARGE, 1, 1}, BLOCK, true}, {{LARGE, 1, 1}, 2 * BLOCK, true}, {{LARGE, 1, 1}, 1024, false},
    {{LARGE - 1, 1, 1}, BLOCK, false}, {{LARGE / 4, 2, 2}, BLOCK, true}, {{LARGE / 4, 1, 2}, BLOCK, false},
    {{1, 1, 1}, BLOCK, true}, {{1, 1, 1}, 1024, false}, {{WAVE, 1, 1}, BLOCK, true}, {{1, WAVE / 2, 2}, BLOCK, true}, {{WAVE + 1, 1, 1}, BLOCK, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(takes_full(d, k, cases[i].grid, x, y, cases[i].n, tile_arg_float(1)), cases[i].full);   // the quick way
    assert_int_equal(takes_full(d, k, cases[i].grid, x, y, cases[i].n, tile_arg_int(1)), cases[i].full);     // an integer for a float is not for it
  }
  tile_kernel_free(k);
  tile_memory_free(d, x, NULL);
  tile_memory_free(d, y, NULL);
  tile_device_close(d);
}

static void wrong_metadata(void **state) {
  (void)state;
  static const struct { const char *from, *to; } cases[] = {{"\"param\": 2", "\"param\": 0"}, {"\"param\": 2", "\"param\": 3"}, {"\"param\": 2", "\"param\": 9"},
                                                            {"\"param\": 2", "\"parma\": 2"}, {"\"at_least\"", "\"at_most\""}, {"{\"name\": \"row$full\"", "{\"name\": \"\""},
                                                            {"\"blocks_per_sm\": 60", "\"blocks_per_sm\": -1"}, {"\"blocks_per_sm\": 60", "\"blocks_per_sm\": 0"}, {"\"blocks_per_sm\"", "\"blocks\""},
                                                            {"\"blocks_per_wave\": 6", "\"blocks_per_wave\":61"}, {"\"blocks_per_wave\": 6", "\"blocks_per_wave\":-1"}};
  tile_device *d = case_device("sim");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    size_t size;
    char *ptx = edited_ptx(&size, cases[i].from, cases[i].to);
    tile_kernel *k = NULL;
    REFUSED(tile_kernel_load_ptx(d, ptx, size, NULL, &k, &error), TILE_ERROR_USAGE, "the kernel's metadata cannot be used: the entry for full tiles is missing or wrong");
    free(ptx);
  }
  size_t size;
  char *ptx = edited_ptx(&size, "{\"name\": \"row$full\"", "{\"name\": \"row$fool\"");
  tile_kernel *k = NULL;
  REFUSED(tile_kernel_load_ptx(d, ptx, size, NULL, &k, &error), TILE_ERROR_DRIVER, "finding the kernel in its module");
  free(ptx);
  tile_device_close(d);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(launches), cmocka_unit_test(wrong_metadata)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
