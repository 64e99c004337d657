// What the simulator counts: kernels of one warp whose counts follow from the rules in runtime/sim/counts.c by hand. Each
// counted instruction stands on a source line of its own.
#include "tests/unit/sim_host.h"

#include "ir/base.h"
#include "runtime/rt/line_counts.h"

static const char *const prologue =
    ".version 8.6\n.target sm_90a\n.address_size 64\n"
    ".visible .entry k(.param .u64 buf) {\n.shared .align 1024 .b8 sm[8192];\n.shared .align 8 .b8 bar[8];\n"
    ".reg .b32 %r<20>; .reg .b64 %d<20>; .reg .pred %p<4>; .reg .f32 %f<20>;\n.reg .b32 %t, %s, %b;\n"
    ".loc 1 1 0\nld.param.u64 %d1, [buf]; mov.u32 %t, %tid.x; mov.u32 %s, sm; mov.u32 %b, bar; mov.b32 %r1, 0;\n"
    "mov.b32 %r2, 0; mov.b32 %r3, 0; mov.b32 %r4, 0;\n";

enum { BUFFER = 16384, WANTED = 7 };

// Runs body with `blocks` blocks of `threads` threads; returns the counts.
static const LaunchCounts *count(const char *body, unsigned blocks, unsigned threads) {
  const LaunchCounts *(*count_launches)(bool) = host_symbol("simCountLaunches");
  char text[8192];
  snprintf(text, sizeof text, "%s.loc 1 %d 0\n%s\n.loc 1 9 0\nret;\n}\n.file 1 \"k.cu\"\n", prologue, WANTED, body);
  CUmodule m = host_load(text);
  CUdeviceptr buffer = host_buffer(NULL, BUFFER);
  count_launches(true);
  LAUNCH(host_function(m, "k"), blocks, threads, 0, &buffer);
  cu_ok(CU(cuCtxSynchronize, (void)), "cuCtxSynchronize");
  return count_launches(false);
}

static const LineCounts *line_of(const LaunchCounts *c, uint32_t line) {
  assert_non_null(c);
  for (uint32_t i = 0; i < c->num_lines; i++)
    if (c->lines[i].line == line) {
      assert_string_equal(c->lines[i].file, "k.cu");
      return &c->lines[i];
    }
  fail_msg("nothing was counted for line %u", line);
  return NULL;
}

// `setup` runs on line 2, and `access` on the line whose counts are compared: WANTED.
static const LineCounts *count_access(const char *setup, const char *access) {
  char body[2048];
  snprintf(body, sizeof body, "\n.loc 1 2 0\n%s\n.loc 1 %d 0\n%s", setup, WANTED, access);
  return line_of(count(body, 1, 32), WANTED);
}

// ---- global memory

static void test_sectors(void **state) {
  (void)state;
  static const struct { const char *what, *setup, *access; uint64_t sectors, asked; } cases[] = {
    {"coalesced fp32", "mad.wide.u32 %d2, %t, 4, %d1;", "ld.global.b32 %r5, [%d2];", 4, 128},
    {"every second fp32", "mad.wide.u32 %d2, %t, 8, %d1;", "ld.global.b32 %r5, [%d2];", 8, 128},
    {"a column", "mad.wide.u32 %d2, %t, 128, %d1;", "ld.global.b32 %r5, [%d2];", 32, 128},
    {"one element from a sector's end", "mad.wide.u32 %d2, %t, 4, %d1;", "ld.global.b32 %r5, [%d2+4];", 5, 128},
    {"all the same element", "mov.u64 %d2, %d1;", "ld.global.b32 %r5, [%d2];", 1, 4},
    {"bytes", "cvt.u64.u32 %d3, %t; add.u64 %d2, %d1, %d3;", "st.global.b8 [%d2], %r1;", 1, 32},
    {"vectors of four", "mad.wide.u32 %d2, %t, 16, %d1;", "st.global.v4.b32 [%d2], {%r1, %r2, %r3, %r4};", 16, 512},
    {"backwards", "sub.u32 %r6, 31, %t; mad.wide.u32 %d2, %r6, 4, %d1;", "ld.global.b32 %r5, [%d2];", 4, 128},
    {"half of the lanes", "mad.wide.u32 %d2, %t, 4, %d1; setp.lt.u32 %p1, %t, 16;", "@%p1 ld.global.b32 %r5, [%d2];", 2, 64},
    {"a generic address", "mad.wide.u32 %d2, %t, 4, %d1;", "ld.b32 %r5, [%d2];", 4, 128},
    {"cp.async", "mad.wide.u32 %d2, %t, 16, %d1; mad.lo.u32 %r6, %t, 16, %s;", "cp.async.cg.shared.global [%r6], [%d2], 16; cp.async.wait_all;", 16, 512},
    {"a parameter", "", "ld.param.u64 %d2, [buf];", 0, 0},
  };
  for (size_t i = 0; i < countof(cases); i++) {
    const LineCounts *c = count_access(cases[i].setup, cases[i].access);
    if (c->global_sectors != cases[i].sectors || c->global_asked != cases[i].asked || c->global_requests != (cases[i].sectors != 0))
      fail_msg("%s: %d sectors, %d bytes", cases[i].what, (int)c->global_sectors, (int)c->global_asked);
    assert_int_equal(c->shared_requests, !strcmp(cases[i].what, "cp.async"));
    assert_int_equal(c->shared_conflicts, 0);
  }
}

static void test_each_byte_once(void **state) {
  (void)state;
  // Two blocks of two warps read the same 128 bytes and write 128 bytes for each block.
  const LaunchCounts *c = count("and.b32 %r6, %t, 31; mad.wide.u32 %d2, %r6, 4, %d1; ld.global.b32 %r5, [%d2];\n"
                                "mov.u32 %r7, %ctaid.x; mad.wide.u32 %d3, %r7, 128, %d2; st.global.b32 [%d3+4096], %r5;", 2, 64);
  assert_int_equal(c->total.global_sectors, 4 * 4 + 4 * 4);
  assert_int_equal(c->read_once, 128);
  assert_int_equal(c->written_once, 256);
  assert_int_equal(c->blocks, 2);
  assert_int_equal(c->warps, 2);
  assert_string_equal(c->kernel, "k");
}

static void test_atomics(void **state) {
  (void)state;
  const LineCounts *c = count_access("", "red.global.add.u32 [%d1], 1;");
  assert_int_equal(c->atomics, 32);
  assert_int_equal(c->global_sectors, 1);
  const LaunchCounts *l = count("atom.global.add.u32 %r5, [%d1], 1;", 3, 32);
  assert_int_equal(l->total.atomics, 96);
  assert_int_equal(l->read_once, 4);
  assert_int_equal(l->written_once, 4);
}

static void test_bulk_copies(void **state) {
  (void)state;
  // 512 bytes, and 32 from the middle of a sector on: two sectors.
  const LaunchCounts *c = count(
      "setp.ne.u32 %p1, %t, 0; @%p1 bra END;\n"
      "mbarrier.init.shared.b64 [%b], 1; fence.mbarrier_init.release.cluster;\n"
      "mbarrier.arrive.expect_tx.shared.b64 _, [%b], 544;\n.loc 1 3 0\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%d1], 512, [%b];\n.loc 1 4 0\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s+512], [%d1+16], 32, [%b];\n.loc 1 5 0\n"
      "W: mbarrier.try_wait.parity.shared.b64 %p2, [%b], 0; @!%p2 bra W;\nEND:", 1, 32);
  assert_int_equal(line_of(c, 3)->tma_bytes, 512);
  assert_int_equal(line_of(c, 3)->global_sectors, 16);
  assert_int_equal(line_of(c, 3)->global_requests, 0);
  assert_int_equal(line_of(c, 4)->tma_bytes, 32);
  assert_int_equal(line_of(c, 4)->global_sectors, 2);
  assert_int_equal(c->read_once, 512);
}

// ---- shared memory

static void test_banks(void **state) {
  (void)state;
  static const struct { const char *what, *setup, *access; uint64_t wavefronts, conflicts; } cases[] = {
    {"a row", "mad.lo.u32 %r6, %t, 4, %s;", "st.shared.b32 [%r6], %r1;", 1, 0},
    {"a column of 32 × 32 fp32", "mad.lo.u32 %r6, %t, 128, %s;", "st.shared.b32 [%r6], %r1;", 32, 31},
    {"a column of 32 × 33 fp32", "mad.lo.u32 %r6, %t, 132, %s;", "st.shared.b32 [%r6], %r1;", 1, 0},
    {"every second word", "mad.lo.u32 %r6, %t, 8, %s;", "st.shared.b32 [%r6], %r1;", 2, 1},
    {"one word", "mov.b32 %r6, %s; st.shared.b32 [%r6], %r1; bar.warp.sync -1;", "ld.shared.b32 %r5, [%r6];", 1, 0},
    {"bytes", "add.u32 %r6, %t, %s;", "st.shared.b8 [%r6], %r1;", 1, 0},
    {"pairs", "mad.lo.u32 %r6, %t, 8, %s;", "st.shared.v2.b32 [%r6], {%r1, %r2};", 2, 0},
    {"vectors of four", "mad.lo.u32 %r6, %t, 16, %s;", "st.shared.v4.b32 [%r6], {%r1, %r2, %r3, %r4};", 4, 0},
    {"every second vector of four", "mad.lo.u32 %r6, %t, 32, %s;", "st.shared.v4.b32 [%r6], {%r1, %r2, %r3, %r4};", 8, 4},
    {"a column, half of the lanes", "mad.lo.u32 %r6, %t, 128, %s; setp.lt.u32 %p1, %t, 16;", "@%p1 st.shared.b32 [%r6], %r1;", 16, 15},
    {"stmatrix of rows of 16 bytes", "mad.lo.u32 %r6, %t, 16, %s;", "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r6], {%r1, %r2, %r3, %r4};", 4, 0},
    {"stmatrix of rows of 128 bytes", "mad.lo.u32 %r6, %t, 128, %s;", "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r6], {%r1, %r2, %r3, %r4};", 32, 28},
    {"atomics on one word", "mov.b32 %r6, %s; setp.ne.u32 %p1, %t, 0; @!%p1 st.shared.b32 [%r6], %r1; bar.warp.sync -1;", "red.shared.add.u32 [%r6], 1;", 1, 0},
  };
  for (size_t i = 0; i < countof(cases); i++) {
    const LineCounts *c = count_access(cases[i].setup, cases[i].access);
    if (c->shared_wavefronts != cases[i].wavefronts || c->shared_conflicts != cases[i].conflicts || c->shared_requests != 1)
      fail_msg("%s: %d wavefronts, %d conflicts", cases[i].what, (int)c->shared_wavefronts, (int)c->shared_conflicts);
    assert_int_equal(c->global_sectors, 0);
  }
}

// ---- instructions

static void test_divergence(void **state) {
  (void)state;
  // Line 3 runs for all, 4 for the lower half, 5 for the upper half, 6 for all again.
  const LaunchCounts *c = count("\n.loc 1 3 0\nsetp.lt.u32 %p1, %t, 16; @%p1 bra LOW;\n"
                                ".loc 1 5 0\nadd.u32 %r5, %t, 1; add.u32 %r5, %r5, 1; bra.uni JOIN;\n"
                                "LOW:\n.loc 1 4 0\nadd.u32 %r5, %t, 2;\n"
                                "JOIN:\n.loc 1 6 0\nadd.u32 %r5, %r5, 1;", 1, 32);
  static const struct { uint32_t line; uint64_t instructions, threads, divergent; } want[] = {
    {3, 2, 32 + 16, 0}, {4, 1, 16, 1}, {5, 3, 48, 3}, {6, 1, 32, 0}};
  for (size_t i = 0; i < countof(want); i++) {
    const LineCounts *l = line_of(c, want[i].line);
    if (l->instructions != want[i].instructions || l->thread_instructions != want[i].threads || l->divergent != want[i].divergent)
      fail_msg("line %u: %d instructions, %d of threads, %d divergent", l->line, (int)l->instructions, (int)l->thread_instructions, (int)l->divergent);
  }
  assert_int_equal(line_of(c, 3)->guarded, 1);
  assert_int_equal(c->total.divergent, 4);
}

static void test_waiting_counts_once(void **state) {
  (void)state;
  // The second warp reaches the barrier late.
  const LaunchCounts *c = count("setp.lt.u32 %p1, %t, 32; @%p1 bra B;\nmov.u32 %r5, 0;\nL: add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 300; @%p2 bra L;\n"
                                "B:\n.loc 1 3 0\nbar.sync 0;", 1, 64);
  assert_int_equal(line_of(c, 3)->instructions, 2);
  assert_int_equal(line_of(c, 3)->divergent, 0);
}

static void test_tensor_cores(void **state) {
  (void)state;
  const char *setup = "mov.b32 %f1, 0f00000000; mov.b32 %f2, %f1; mov.b32 %f3, %f1; mov.b32 %f4, %f1;";
  const LineCounts *c = count_access(setup, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r1,%r2}, {%f1,%f2,%f3,%f4};");
  assert_int_equal(c->tensor_instructions, 1);
  assert_int_equal(c->tensor_flops, 2 * 16 * 8 * 16);
  assert_int_equal(c->tensor_work, c->tensor_flops);
  c = count_access(setup, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r1,%r2}, {%f1,%f2,%f3,%f4};");
  assert_int_equal(c->tensor_flops, 2 * 16 * 8 * 8);
  assert_int_equal(c->tensor_work, 2 * c->tensor_flops);
}

static void test_counts_only_when_asked(void **state) {
  (void)state;
  const LaunchCounts *(*count_launches)(bool) = host_symbol("simCountLaunches");
  assert_null(count_launches(false));
  assert_int_equal(count("", 2, 32)->blocks, 2);
  CUmodule m = host_load(".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n");
  cu_ok(host_try_launch(host_function(m, "k"), 5, 32, 0, NULL), "k");
  assert_int_equal(count_launches(false)->blocks, 2);   // still those of the launch that was counted
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(test_sectors, host_setup, host_teardown),
    cmocka_unit_test_setup_teardown(test_each_byte_once, host_setup, host_teardown),
    cmocka_unit_test_setup_teardown(test_atomics, host_setup, host_teardown),
    cmocka_unit_test_setup_teardown(test_bulk_copies, host_setup, host_teardown),
    cmocka_unit_test_setup_teardown(test_banks, host_setup, host_teardown),
    cmocka_unit_test_setup_teardown(test_divergence, host_setup, host_teardown),
    cmocka_unit_test_setup_teardown(test_waiting_counts_once, host_setup, host_teardown),
    cmocka_unit_test_setup_teardown(test_tensor_cores, host_setup, host_teardown),
    cmocka_unit_test_setup_teardown(test_counts_only_when_asked, host_setup, host_teardown),
  };
  if (host_on_gpu()) return 77;   // the driver does not count
  return cmocka_run_group_tests(tests, NULL, NULL);
}
