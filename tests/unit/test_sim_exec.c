// Control flow, memory, atomics, barriers and reports on hand-written PTX.
#include "tests/unit/sim_host.h"

#define HEAD ".version 8.3\n.target sm_90a\n.address_size 64\n"
// A kernel `k(out, in)` with registers to use; %rd1 out, %rd2 in, %r1 tid.x, both pointers advanced by 4 * tid in %rd3, %rd4.
#define KERNEL(decls, body)                                                                                         \
  HEAD decls                                                                                                        \
  ".visible .entry k(.param .u64 out, .param .u64 in) {\n"                                                          \
  ".reg .b64 %rd<30>;\n.reg .b32 %r<60>;\n.reg .b16 %h<20>;\n.reg .pred %p<10>;\n"                                  \
  "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\nmov.u32 %r1, %tid.x;\n"                                     \
  "mul.wide.u32 %rd5, %r1, 4;\nadd.u64 %rd3, %rd1, %rd5;\nadd.u64 %rd4, %rd2, %rd5;\n" body "\nret;\n}\n"

static CUresult try_run(const char *ptx, unsigned grid, unsigned block, unsigned shared, void *out, size_t out_size, const void *in, size_t in_size) {
  CUmodule m = host_load(ptx);
  CUdeviceptr dout = host_buffer(out, out_size), din = host_buffer(in, in_size ? in_size : 4);
  CUresult r = host_try_launch(host_function(m, "k"), grid, block, shared, ARGS(&dout, &din));
  if (!r) host_fetch(out, dout, out_size);
  else cu_ok(CU(cuDevicePrimaryCtxReset_v2, (CUdevice), 0), "reset");
  CU(cuMemFree_v2, (CUdeviceptr), dout);
  CU(cuMemFree_v2, (CUdeviceptr), din);
  CU(cuModuleUnload, (CUmodule), m);
  return r;
}
static void run(const char *ptx, unsigned grid, unsigned block, void *out, size_t out_size, const void *in, size_t in_size) {
  cu_ok(try_run(ptx, grid, block, 0, out, out_size, in, in_size), "launch");
}
static void expect(const char *ptx, unsigned block, CUresult code, const char *text) {
  uint32_t out[64] = {0};
  CUresult r = try_run(ptx, 1, block, 0, out, sizeof out, out, sizeof out);
  if (!strstr(sim_last_report(), text)) fail_msg("code %d, the report lacks \"%s\":\n%s", (int)r, text, sim_last_report());
  assert_int_equal(r, code);
}

// ---------------------------------------------------------------------------------------------------- control flow

TEST(test_divergence) {
  // Lanes leave the loop at different times; the vote after it needs all of them again.
  uint32_t out[32];
  run(KERNEL("", "mov.u32 %r2, 0;\nloop: add.u32 %r2, %r2, %r1;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 40;\n@%p1 bra loop;\n"
                 "shfl.sync.idx.b32 %r3, %r2, 5, 31, -1;\nadd.u32 %r2, %r2, %r3;\nst.global.u32 [%rd3], %r2;"), 1, 32, out, sizeof out, NULL, 0);
  for (uint32_t i = 0; i < 32; i++) {
    uint32_t v = 0, w = 0;
    do v += i + 1; while (v < 40);
    do w += 6; while (w < 40);
    assert_int_equal(out[i], v + w);
  }
}

TEST(test_barrier_in_loop) {
  // The odd lanes reach the barrier at the loop's head while the even ones are still in its body: they meet there.
  uint32_t out[64];
  run(KERNEL("", "mov.u32 %r2, 0;\nand.b32 %r3, %r1, 1;\nsetp.ne.u32 %p1, %r3, 0;\n"
                 "head: bar.sync 0;\n@%p1 bra odd;\nadd.u32 %r2, %r2, 1;\nadd.u32 %r2, %r2, 1;\nbra check;\n"
                 "odd: add.u32 %r2, %r2, 2;\nsetp.lt.u32 %p2, %r2, 10;\n@%p2 bra head;\nbra end;\n"
                 "check: setp.lt.u32 %p2, %r2, 10;\n@%p2 bra head;\nend: st.global.u32 [%rd3], %r2;"), 1, 64, out, sizeof out, NULL, 0);
  for (int i = 0; i < 64; i++) assert_int_equal(out[i], 10);
}

TEST(test_warp_lock) {
  // All lanes of a warp take one lock in turn: a lane that spins must let the holder go on.
  uint32_t out[64] = {0};
  run(KERNEL("", "spin: atom.global.cas.b32 %r2, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra spin;\n"
                 "ld.volatile.global.u32 %r3, [%rd1+4];\nadd.u32 %r3, %r3, 1;\nst.volatile.global.u32 [%rd1+4], %r3;\n"
                 "membar.gl;\natom.global.exch.b32 %r2, [%rd1], 0;"), 3, 64, out, sizeof out, NULL, 0);
  assert_int_equal(out[1], 192);
}

TEST(test_branch_table) {
  uint32_t out[4];
  run(KERNEL("", "table: .branchtargets a, b, c;\nrem.u32 %r2, %r1, 3;\nbrx.idx %r2, table;\n"
                 "a: mov.u32 %r3, 10; bra end;\nb: mov.u32 %r3, 20; bra end;\nc: mov.u32 %r3, 30;\nend: st.global.u32 [%rd3], %r3;"), 1, 4, out, sizeof out, NULL, 0);
  assert_memory_equal(out, ((uint32_t[]){10, 20, 30, 10}), sizeof out);
}

TEST(test_scopes) {
  // Inline assembly's form: a label and registers of its own, twice.
  uint32_t out[2];
  run(KERNEL("", "mov.u32 %r2, 1;\n{ .reg .pred p; .reg .u32 t; setp.eq.u32 p, %r1, 0; @p bra skip; add.u32 t, %r2, 4; mov.u32 %r2, t; skip: }\n"
                 "{ .reg .pred p; .reg .u32 t; setp.eq.u32 p, %r1, 1; @p bra skip; add.u32 t, %r2, 8; mov.u32 %r2, t; skip: }\nst.global.u32 [%rd3], %r2;"), 1, 2, out, sizeof out, NULL, 0);
  assert_int_equal(out[0], 9);
  assert_int_equal(out[1], 5);
}

TEST(test_calls) {
  uint32_t out[8];
  // Values by .param and by register, a vector through .param, a predicated call.
  run(KERNEL(".func (.param .b32 r) twice(.param .b32 x) {\n.reg .b32 %a<3>;\nld.param.b32 %a1, [x];\nadd.u32 %a2, %a1, %a1;\nst.param.b32 [r], %a2;\nret;\n}\n"
             ".func (.reg .u32 r) inc(.reg .u32 x) {\nadd.u32 r, x, 1;\nret;\n}\n",
             "mov.u32 %r2, 7;\nsetp.gt.u32 %p1, %r1, 3;\n"
             "@%p1 bra skip;\n{ .param .b32 p0; .param .b32 r0; st.param.b32 [p0], %r1; call.uni (r0), twice, (p0); ld.param.b32 %r2, [r0]; }\nskip:\n"
             "call (%r3), inc, (%r2);\nst.global.u32 [%rd3], %r3;"), 1, 8, out, sizeof out, NULL, 0);
  for (uint32_t i = 0; i < 8; i++) assert_int_equal(out[i], i > 3 ? 8 : 2 * i + 1);
}

// ---------------------------------------------------------------------------------------------------------- memory

TEST(test_access_widths) {
  uint8_t in[16];
  for (int i = 0; i < 16; i++) in[i] = (uint8_t)(0x81 + i * 17);
  uint32_t out[10];
  run(KERNEL("", "ld.global.s8 %r2, [%rd2];\nst.global.u32 [%rd1], %r2;\nld.global.u8 %r2, [%rd2];\nst.global.u32 [%rd1+4], %r2;\n"
                 "ld.global.s16 %r2, [%rd2+2];\nst.global.u32 [%rd1+8], %r2;\nld.global.v2.u16 {%h1, %h2}, [%rd2+4];\nmov.b32 %r2, {%h2, %h1};\nst.global.u32 [%rd1+12], %r2;\n"
                 "ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%rd2];\nst.global.v4.u32 [%rd1+16], {%r6, %r5, %r4, %r3};\n"
                 "ld.global.nc.L1::no_allocate.L2::128B.v2.b64 {%rd6, %rd7}, [%rd2];\nadd.u64 %rd6, %rd6, %rd7;\nst.global.cs.u64 [%rd1+32], %rd6;"), 1, 1, out, sizeof out, in, sizeof in);
  uint32_t w[4];
  uint64_t q[2], sum;
  memcpy(w, in, 16), memcpy(q, in, 16), memcpy(&sum, out + 8, 8);
  assert_int_equal(out[0], 0xffffff81);
  assert_int_equal(out[1], 0x81);
  assert_int_equal(out[2], (uint32_t)(int32_t)(int16_t)(in[2] | in[3] << 8));
  assert_int_equal(out[3], w[1] >> 16 | w[1] << 16);
  for (int i = 0; i < 4; i++) assert_int_equal(out[4 + i], w[3 - i]);
  assert_true(sum == q[0] + q[1]);
}

TEST(test_spaces) {
  // One generic load serves global, shared, local and constant memory.
  uint32_t out[4], in[1] = {11};
  run(KERNEL(".const .u32 c = 44;\n.shared .align 16 .b8 s[32];\n",
             ".local .align 8 .b8 l[16];\nmov.u64 %rd6, s;\ncvta.shared.u64 %rd6, %rd6;\nmov.u64 %rd7, l;\ncvta.local.u64 %rd7, %rd7;\nmov.u64 %rd8, c;\ncvta.const.u64 %rd8, %rd8;\n"
             "mov.u32 %r2, 22;\nsetp.eq.u32 %p1, %r1, 1;\n@%p1 st.shared.u32 [s+8], %r2;\nadd.u64 %rd6, %rd6, 8;\nmov.u32 %r2, 33;\nst.local.u32 [l+4], %r2;\nadd.u64 %rd7, %rd7, 4;\n"
             "mov.u64 %rd9, %rd2;\nsetp.eq.u32 %p1, %r1, 1;\nselp.b64 %rd9, %rd6, %rd9, %p1;\nsetp.eq.u32 %p1, %r1, 2;\nselp.b64 %rd9, %rd7, %rd9, %p1;\nsetp.eq.u32 %p1, %r1, 3;\nselp.b64 %rd9, %rd8, %rd9, %p1;\n"
             "ld.u32 %r3, [%rd9];\nisspacep.shared %p2, %rd9;\nisspacep.local %p3, %rd9;\nisspacep.global %p4, %rd9;\n@%p2 add.u32 %r3, %r3, 100;\n@%p3 add.u32 %r3, %r3, 200;\n@%p4 add.u32 %r3, %r3, 400;\nst.global.u32 [%rd3], %r3;"),
      1, 4, out, sizeof out, in, sizeof in);
  assert_memory_equal(out, ((uint32_t[]){411, 122, 233, 44}), sizeof out);
}

TEST(test_initialisers) {
  uint32_t out[6];
  run(KERNEL(".global .align 4 .u32 g[3] = {1, 2};\n.global .u64 p = g+4;\n.global .align 2 .b8 bytes[] = {104, 105};\n.global .f32 f = 0f40490FDB;\n.global .s16 n = -2;\n",
             "ld.global.u64 %rd6, [p];\nld.u32 %r2, [%rd6];\nst.global.u32 [%rd1], %r2;\nld.global.u16 %r2, [bytes];\nst.global.u32 [%rd1+4], %r2;\nld.global.u32 %r2, [f];\nst.global.u32 [%rd1+8], %r2;\n"
             "ld.global.s16 %r2, [n];\nst.global.u32 [%rd1+12], %r2;\nld.global.u32 %r2, [g+8];\nst.global.u32 [%rd1+16], %r2;"), 1, 1, out, sizeof out, NULL, 0);
  assert_int_equal(out[0], 2);
  assert_int_equal(out[1], 0x6968);
  assert_int_equal(out[2], 0x40490fdb);
  assert_int_equal(out[3], 0xfffffffe);
  assert_int_equal(out[4], 0);
}

TEST(test_wide_values) {
  uint64_t out[4] = {0}, in[2] = {0x1122334455667788, 0x99aabbccddeeff00};
  run(KERNEL("", ".reg .b128 %q<3>;\nld.global.v2.u64 {%rd6, %rd7}, [%rd2];\nmov.b128 %q1, {%rd6, %rd7};\nmov.b128 {%rd8, %rd9}, %q1;\nst.global.v2.u64 [%rd1], {%rd9, %rd8};\n"
                 "atom.global.exch.b128 %q2, [%rd1+16], %q1;"), 1, 1, out, sizeof out, in, sizeof in);
  assert_true(out[0] == in[1] && out[1] == in[0] && out[2] == in[0] && out[3] == in[1]);
}

// --------------------------------------------------------------------------------------------------------- atomics

TEST(test_atomics) {
  // 64 threads on one word per operation.
  uint32_t out[24] = {0};
  out[1] = 1000, out[3] = 0xffffffff, out[4] = 0, out[5] = 5, out[7] = 77, out[8] = 1000;
  run(KERNEL("", "add.u32 %r2, %r1, 1;\nshl.b32 %r3, 1, %r1;\nnot.b32 %r4, %r3;\n"
                 "red.global.add.u32 [%rd1], %r2;\nred.global.min.u32 [%rd1+4], %r2;\nred.relaxed.gpu.global.max.s32 [%rd1+8], %r2;\nred.global.and.b32 [%rd1+12], %r4;\nred.global.xor.b32 [%rd1+16], %r2;\n"
                 "atom.global.inc.u32 %r5, [%rd1+20], 9;\natom.acq_rel.sys.global.or.b32 %r5, [%rd1+24], %r3;\natom.global.exch.b32 %r5, [%rd1+28], 78;\natom.global.dec.u32 %r5, [%rd1+32], 2000;\n"
                 "red.global.add.f32 [%rd1+36], 0f3F000000;\nmov.b64 %rd6, 0d3FF8000000000000;\nred.global.add.f64 [%rd1+40], %rd6;\ncvt.u64.u32 %rd7, %r2;\nred.global.add.u64 [%rd1+48], %rd7;\n"
                 "mov.u32 %r6, 0x3c003800;\nred.global.add.noftz.f16x2 [%rd1+56], %r6;\nmov.u32 %r7, 0x3f803f00;\nred.global.add.noftz.bf16x2 [%rd1+60], %r7;\n"
                 "red.global.add.v2.f32 [%rd1+64], {0f3F800000, 0f40000000};\nmov.b16 %h1, 0x3c00;\nred.global.add.noftz.f16 [%rd1+72], %h1;"),
      1, 64, out, sizeof out, NULL, 0);
  uint32_t x = 0;
  for (uint32_t i = 1; i <= 64; i++) x ^= i;
  assert_int_equal(out[0], 64 * 65 / 2);
  assert_int_equal(out[1], 1);
  assert_int_equal(out[2], 64);
  assert_int_equal(out[3], 0);
  assert_int_equal(out[4], x);
  assert_int_equal(out[5], (5 + 64) % 10);
  assert_int_equal(out[6], 0xffffffff);
  assert_int_equal(out[7], 78);
  assert_int_equal(out[8], 1000 - 64);
  assert_int_equal(out[9], 0x42000000);      // 32
  double d;
  uint64_t q;
  memcpy(&d, out + 10, 8), memcpy(&q, out + 12, 8);
  assert_true(d == 96 && q == 64 * 65 / 2);
  assert_int_equal(out[14], 0x54005000);     // 64, 32
  assert_int_equal(out[15], 0x42804200);
  assert_int_equal(out[16], 0x42800000);
  assert_int_equal(out[17], 0x43000000);
  assert_int_equal(out[18], 0x5400);
}

// -------------------------------------------------------------------------------------------------------- barriers

TEST(test_named_barriers) {
  // Warp 0 produces for warp 1 through barriers 1 and 2 of 64 threads; warps 2 and 3 use barrier 3 of their own.
  uint32_t out[128];
  run(KERNEL(".shared .u32 s[128];\n",
             "shr.u32 %r2, %r1, 5;\nmov.u32 %r9, s;\nshl.b32 %r8, %r1, 2;\nadd.u32 %r9, %r9, %r8;\nsetp.eq.u32 %p1, %r2, 0;\nsetp.eq.u32 %p2, %r2, 1;\n@%p1 bra produce;\n@%p2 bra consume;\n"
             "st.shared.u32 [%r9], %r1;\nbar.sync 3, 64;\nxor.b32 %r3, %r8, 128;\nmov.u32 %r4, s;\nadd.u32 %r4, %r4, %r3;\nld.shared.u32 %r5, [%r4];\nbra end;\n"
             "produce: add.u32 %r3, %r1, 500;\nst.shared.u32 [%r9], %r3;\nbar.arrive 1, 64;\nbar.sync 2, 64;\nld.shared.u32 %r5, [%r9+128];\nbra end;\n"
             "consume: bar.sync 1, 64;\nld.shared.u32 %r5, [%r9+-128];\nadd.u32 %r6, %r5, 1;\nst.shared.u32 [%r9], %r6;\nbar.arrive 2, 64;\nend: st.global.u32 [%rd3], %r5;"), 1, 128, out, sizeof out, NULL, 0);
  for (uint32_t i = 0; i < 32; i++) {
    assert_int_equal(out[i], 501 + i);
    assert_int_equal(out[32 + i], 500 + i);
    assert_int_equal(out[64 + i], 96 + i);
    assert_int_equal(out[96 + i], 64 + i);
  }
}

TEST(test_barrier_reductions) {
  uint32_t out[96];
  run(KERNEL("", "setp.lt.u32 %p1, %r1, 70;\nbarrier.cta.red.popc.aligned.u32 %r2, 0, %p1;\nbar.red.and.pred %p2, 1, %p1;\nbar.red.or.pred %p3, 2, %p1;\nbar.red.popc.u32 %r3, 0, !%p1;\n"
                 "@%p2 add.u32 %r2, %r2, 1000;\n@%p3 add.u32 %r2, %r2, 2000;\nmad.lo.u32 %r2, %r3, 10000, %r2;\nst.global.u32 [%rd3], %r2;"), 1, 96, out, sizeof out, NULL, 0);
  for (int i = 0; i < 96; i++) assert_int_equal(out[i], 262070);
}

TEST(test_exited_threads) {
  // Half of the warps, and some lanes of the others, exit before the barrier.
  uint32_t out[128] = {0};
  run(KERNEL("", "setp.ge.u32 %p1, %r1, 50;\n@%p1 ret;\nbar.sync 0;\nst.global.u32 [%rd3], %r1;\nbar.warp.sync -1;\nshfl.sync.idx.b32 %r2, %r1, 0, 31, -1;\nst.global.u32 [%rd3], %r2;"), 1, 128, out, sizeof out, NULL, 0);
  for (uint32_t i = 0; i < 128; i++) assert_int_equal(out[i], i < 50 ? i / 32 * 32 : 0);
}

// --------------------------------------------------------------------------------------------------------- reports

TEST(test_null_pointer) {
  if (host_on_gpu()) skip();
  CUmodule m = host_load(KERNEL("", "add.u64 %rd6, %rd2, 64;\nld.global.u32 %r2, [%rd6];"));
  CUdeviceptr out = host_buffer(NULL, 128), none = 0;
  assert_int_equal(host_try_launch(host_function(m, "k"), 1, 1, 0, ARGS(&out, &none)), CUDA_ERROR_ILLEGAL_ADDRESS);
  assert_non_null(strstr(sim_last_report(), "read of 4 bytes at 0x40 in global memory: in is a null pointer"));
  cu_ok(CU(cuDevicePrimaryCtxReset_v2, (CUdevice), 0), "reset");
}

TEST(test_reports) {
  if (host_on_gpu()) skip();
  expect(KERNEL("", "st.global.u32 [%rd1+-4], %r1;"), 1, CUDA_ERROR_ILLEGAL_ADDRESS, "in global memory: 4 bytes before out (256 bytes at");
  expect(KERNEL("", "mov.u64 %rd6, 0;\nld.global.u32 %r2, [%rd6];"), 1, CUDA_ERROR_ILLEGAL_ADDRESS, "out-of-bounds access: read of 4 bytes at 0 in global memory: ");
  expect(KERNEL("", "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd1+4];"), 1, CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned access: read of 16 bytes at");
  expect(KERNEL(".shared .u32 s[4];\n", "mov.u32 %r9, s;\nst.shared.u32 [%r9+16], %r1;"), 1, CUDA_ERROR_ILLEGAL_ADDRESS, "out-of-bounds access: write of 4 bytes at 0x410 in shared memory: the block has 16 bytes from 0x400 on");
  expect(KERNEL("", "mov.u32 %r9, 0;\nld.shared.u32 %r2, [%r9];"), 1, CUDA_ERROR_ILLEGAL_ADDRESS, "out-of-bounds access: read of 4 bytes at 0 in shared memory: the block has 0 bytes from 0x400 on");
  expect(KERNEL("", ".local .u32 l[2];\nst.local.u32 [l+200], %r1;"), 1, CUDA_ERROR_ILLEGAL_ADDRESS, "out-of-bounds access: write of 4 bytes at 0x148 in local memory: the thread has 256 bytes");
  expect(KERNEL(".const .u32 c = 1;\n", "mov.u64 %rd6, c;\nst.global.u32 [%rd6], %r1;"), 1, CUDA_ERROR_ILLEGAL_ADDRESS, ": constant memory cannot be written");
  expect(KERNEL("", "setp.eq.u32 %p1, %r1, 3;\n@%p1 trap;"), 8, CUDA_ERROR_LAUNCH_FAILED, "thread (3,0,0)");
  expect(KERNEL("", "setp.lt.u32 %p1, %r1, 32;\n@%p1 bar.sync 1, 64;\n@!%p1 bar.sync 2, 64;"), 64, CUDA_ERROR_LAUNCH_TIMEOUT, "barrier 2: 32 of 64 threads have arrived");
  expect(KERNEL("", "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra a;\nbar.sync 0;\nbra end;\na: bar.sync 0;\nend:"), 32, CUDA_ERROR_LAUNCH_FAILED, "divergent barrier: threads of a warp wait for others that never reach the same instruction");
  expect(KERNEL("", "bar.sync 0, 40;"), 64, CUDA_ERROR_ILLEGAL_INSTRUCTION, "invalid operation: thread count 40 of barrier 0 is not a multiple of 32");
  expect(KERNEL("", "bar.sync 16;"), 64, CUDA_ERROR_ILLEGAL_INSTRUCTION, "invalid operation: barrier 16: there are 16");
  expect(KERNEL("", "shr.u32 %r2, %r1, 5;\nadd.u32 %r2, %r2, 1;\nmul.lo.u32 %r2, %r2, 64;\nbar.sync 0, %r2;"), 128, CUDA_ERROR_LAUNCH_FAILED, "divergent barrier: barrier 0 is used with 64 and with 128 threads at a time (0: all)");
  expect(KERNEL("", "mov.u32 %r2, 1;\nshfl.sync.idx.b32 %r3, %r1, 0, 31, %r2;"), 32, CUDA_ERROR_LAUNCH_FAILED, "divergent barrier: lane 1 executes it, but its member mask 0x1 does not name that lane");
  expect(KERNEL("", "setp.eq.u32 %p1, %r1, 0;\nwait: ld.volatile.global.u32 %r2, [%rd1];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra wait;"), 1, CUDA_ERROR_LAUNCH_TIMEOUT, "poll without end");
  expect(KERNEL("", "table: .branchtargets a;\nadd.u32 %r2, %r1, 5;\nbrx.idx %r2, table;\na:"), 1, CUDA_ERROR_ILLEGAL_INSTRUCTION, "invalid operation: index 5 beyond the 1 targets of table");
  expect(KERNEL(".func f(.param .b32 x);\n.func g(.param .b32 x) {\n{ .param .b32 p; call f, (p); }\nret;\n}\n.func f(.param .b32 x) {\n{ .param .b32 p; call g, (p); }\nret;\n}\n",
                "{ .param .b32 p; st.param.b32 [p], 1; call f, (p); }"), 1, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "limit exceeded: more than 1024 nested calls");
  expect(KERNEL("", "setmaxnreg.inc.sync.aligned.u32 24;"), 128, CUDA_ERROR_ILLEGAL_INSTRUCTION, "invalid operation: setmaxnreg.inc to 24 from 255 registers");
  // A warpgroup's warps agree on setmaxnreg: warp 0 takes another path, none, or one more than the others.
#define WARP0 "setp.lt.u32 %p1, %r1, 32;\n"
#define DEC(n) "setmaxnreg.dec.sync.aligned.u32 " #n ";\n"
  expect(KERNEL("", WARP0 "@%p1 bra a;\n" DEC(64) "bra b;\na: " DEC(64) "b:"), 128, CUDA_ERROR_ILLEGAL_INSTRUCTION, "invalid operation: warp 0 of the same warpgroup executed another setmaxnreg (ptx:19)");
  expect(KERNEL("", WARP0 "@%p1 bra a;\n" DEC(64) "a:"), 128, CUDA_ERROR_ILLEGAL_INSTRUCTION, "invalid operation: warp 0 of the same warpgroup has exited without this setmaxnreg");
  expect(KERNEL("", DEC(64) DEC(32)), 128, CUDA_ERROR_ILLEGAL_INSTRUCTION, "invalid operation: warp 1 of the same warpgroup has executed 0 setmaxnreg, this one 1: they must meet in between");
  uint32_t out[1];
  run(KERNEL("", "setp.lt.u32 %p1, %r1, 128;\n@%p1 bra a;\n" DEC(64) "bra b;\na: " DEC(32) "b: bar.sync 0;\n" DEC(24)), 1, 256, out, sizeof out, NULL, 0);
}

TEST(test_source_lines) {
  if (host_on_gpu()) skip();
  expect(KERNEL("", ".loc 1 42 7\nst.global.u32 [%rd1+-4], %r1;") ".file 1 \"kernel.tile\"\n", 1, CUDA_ERROR_ILLEGAL_ADDRESS, "source kernel.tile:42:7");
  expect(KERNEL("", ".loc 1 42 7, function_name $L__info_string0, inlined_at 2 9 3\nst.global.u32 [%rd1+-4], %r1;") ".file 1 \"library.tile\"\n.file 2 \"kernel.tile\"\n.section .debug_str { $L__info_string0: .b8 102 }\n",
         1, CUDA_ERROR_ILLEGAL_ADDRESS, "inlined at kernel.tile:9:3");
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_divergence), cmocka_unit_test(test_barrier_in_loop), cmocka_unit_test(test_warp_lock), cmocka_unit_test(test_branch_table),
    cmocka_unit_test(test_scopes), cmocka_unit_test(test_calls), cmocka_unit_test(test_access_widths), cmocka_unit_test(test_spaces),
    cmocka_unit_test(test_initialisers), cmocka_unit_test(test_wide_values), cmocka_unit_test(test_atomics), cmocka_unit_test(test_named_barriers),
    cmocka_unit_test(test_barrier_reductions), cmocka_unit_test(test_exited_threads), cmocka_unit_test(test_null_pointer), cmocka_unit_test(test_reports), cmocka_unit_test(test_source_lines),
  };
  return cmocka_run_group_tests(tests, host_setup, host_teardown);
}
