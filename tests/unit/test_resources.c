// runtime/rt/resources.c: occupancy, and tile_program_resources. What a cubin says is compared with ptxas in
// tests/runtime/report.test.
#include <stdlib.h>

#include "runtime/compile/compile.h"
#include "runtime/rt/device.h"
#include "unit.h"

static tile_resources filled(const char *arch, uint32_t threads, uint32_t shared, uint32_t registers, uint32_t local) {
  tile_resources r = TILE_RESOURCES_INIT;
  resources_fill(&r, target_find(arch), threads, shared, &(CodeUse){registers, local}, 16);
  return r;
}

// The figures are those of NVIDIA's occupancy calculator.
static void test_occupancy(void **state) {
  (void)state;
  tile_resources r = filled("sm_90a", 256, 24600, 44, 0);
  assert_int_equal(r.blocks_by_registers, 5);
  assert_int_equal(r.blocks_by_shared, 9);
  assert_int_equal(r.blocks_by_threads, 8);
  assert_int_equal(r.blocks_per_sm, 5);
  assert_int_equal(r.warps_per_sm, 64);
  r = filled("sm_90a", 384, 200 * 1024, 168, 0);
  assert_int_equal(r.blocks_by_registers, 1);
  assert_int_equal(r.blocks_by_shared, 1);
  r = filled("sm_90a", 32, 0, 16, 0);
  assert_int_equal(r.blocks_per_sm, 32);                     // an SM holds no more blocks
  assert_int_equal(filled("sm_86", 256, 0, 64, 0).blocks_per_sm, 4);
  assert_int_equal(filled("sm_80", 128, 100 * 1024, 32, 0).blocks_by_shared, 1);
  assert_int_equal(filled("sm_90a", 1024, 0, 128, 0).blocks_per_sm, 0);   // 131072 registers
}

static void test_spills(void **state) {
  (void)state;
  tile_resources r = filled("sm_90a", 128, 0, 255, 48);
  assert_int_equal(r.local_bytes, 48);
  assert_int_equal(r.spill_bytes, 32);                       // 16 bytes are the PTX's own
  assert_int_equal(filled("sm_90a", 128, 0, 255, 8).spill_bytes, 0);
  assert_int_equal(resources_declared_local("{\n\t.local .align 8 .b8 \t__local_depot0[24];\n\tld.local.b32 %r1, [%r2];\n"
                                            "\tst.local.b32 [%r2], %r1;\n}"), 24);
}

static void test_program(void **state) {
  (void)state;
  static const char source[] = "@kernel\ndef one(x: *fp32):\n    store(x, 1.0)\n"
                               "@kernel\ndef two(x: *fp32):\n    store(x, 2.0)\n";
  tile_program *p = NULL;
  tile_error *e = NULL;
  assert_int_equal(tile_compile_memory("a.tile", source, sizeof source - 1, NULL, &p, &e), TILE_OK);
  tile_resources r = TILE_RESOURCES_INIT;
  assert_int_equal(tile_program_resources(p, "three", &r, &e), TILE_ERROR_USAGE);
  assert_string_equal(tile_error_message(e), "the program has no kernel 'three'; there are one, two");
  tile_error_free(e), e = NULL;
  assert_int_equal(tile_program_resources(p, NULL, &r, &e), TILE_ERROR_USAGE);
  assert_string_equal(tile_error_message(e), "the program has several kernels (one, two): name one");
  tile_error_free(e), e = NULL;
  setenv("TILE_ASSEMBLER", "driver", 1);
  assert_int_equal(tile_program_resources(p, "two", &r, &e), TILE_OK);
  unsetenv("TILE_ASSEMBLER");
  assert_false(r.is_assembled);
  assert_int_equal(r.threads, 128);
  assert_int_equal(r.registers, 0);
  struct { tile_resources known; uint64_t later; } newer = {{.struct_size = sizeof newer, .registers = 77}, 5};
  assert_int_equal(tile_program_resources(p, "two", &newer.known, &e), TILE_OK);
  assert_int_not_equal(newer.known.registers, 77);
  assert_int_equal(newer.known.threads, 128);
  assert_int_equal(newer.later, 5);
  r = (tile_resources){.struct_size = offsetof(tile_resources, registers), .registers = 77};
  assert_int_equal(tile_program_resources(p, "two", &r, &e), TILE_ERROR_USAGE);
  assert_non_null(strstr(tile_error_message(e), "tile_resources: its struct_size is 20"));
  tile_error_free(e), e = NULL;
  assert_int_equal(r.registers, 77);
  tile_program_free(p);
}

// More than there is: a status of its own, with what, how much is needed and the limit.
static void test_misfit(void **state) {
  (void)state;
  static const char source[] = "@kernel\ndef big(x: *fp32, B: constexpr = 512):\n    i = arange(0, B)\n"
                               "    t = load(x + i[:, None] * B + i[None, :])\n"
                               "    store(x + i[:, None] * B + i[None, :], sort(trans(t)))\n";
  tile_program *p = NULL;
  tile_error *e = NULL;
  tile_resource what = TILE_RESOURCE_NONE;
  uint64_t needed = 0, limit = 0;
  assert_int_equal(tile_compile_memory("a.tile", source, sizeof source - 1, NULL, &p, &e), TILE_ERROR_RESOURCES);
  assert_int_equal(tile_error_status(e), TILE_ERROR_RESOURCES);
  assert_true(tile_error_resource(e, &what, &needed, &limit));
  assert_int_equal(what, TILE_RESOURCE_SHARED);
  assert_int_equal(limit, 232448);
  assert_true(needed > limit);
  tile_error_free(e), e = NULL;
  // Another error beside it is an error of the program.
  assert_int_equal(tile_compile_memory("a.tile", "x", 1, &(tile_compile_options){sizeof(tile_compile_options), .kernel = "k"},
                                       &p, &e), TILE_ERROR_PROGRAM);
  assert_false(tile_error_resource(e, &what, &needed, &limit));
  tile_error_free(e), e = NULL;
  assert_false(tile_error_resource(NULL, &what, &needed, &limit));
  // At a launch.
  tile_device *d = NULL;
  tile_kernel *k = NULL;
  assert_int_equal(tile_device_open("interp", &d, &e), TILE_OK);
  static const char small[] = "@kernel\ndef one(x: i32):\n    pass\n";
  assert_int_equal(tile_compile_memory("a.tile", small, sizeof small - 1, NULL, &p, &e), TILE_OK);
  assert_int_equal(tile_kernel_load(d, p, NULL, &k, &e), TILE_OK);
  tile_launch_options o = TILE_LAUNCH_OPTIONS_INIT;
  o.grid[1] = 70000;
  const tile_arg arg = tile_arg_int(3);
  assert_int_equal(tile_kernel_launch(k, &o, &arg, 1, &e), TILE_ERROR_RESOURCES);
  assert_true(tile_error_resource(e, &what, &needed, &limit));
  assert_true(what == TILE_RESOURCE_GRID && needed == 70000 && limit == 65535);
  tile_error_free(e);
  tile_kernel_free(k);
  tile_program_free(p);
  tile_device_close(d);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_occupancy), cmocka_unit_test(test_spills),
                                     cmocka_unit_test(test_program), cmocka_unit_test(test_misfit)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
