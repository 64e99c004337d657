// Instructions that a single result does not show: memory, atomics, barriers, mbarriers, copies in bulk and by tensor map, clusters.
// Each kernel's expectation at one word comes from the ISA's text; the rest of its buffer is compared with what an H200 left.
#include "tests/unit/sim_case.h"

// Results of 64 bits: two words per thread from word 512.
#define STORE64 "mad.wide.u32 %d3, %t, 8, %d1; st.global.u64 [%d3+2048], %d5;\n"
// Shared words 0 to 255 out to the buffer's words 512 to 767, by 64 threads; and all of them set beforehand.
#define EACH4(what) "mov.u32 %r30, 0; E" #what ": mad.lo.u32 %r31, %r30, 64, %t; shl.b32 %r32, %r31, 2; add.u32 %r33, %s, %r32; cvt.u64.u32 %d10, %r32; add.u64 %d10, %d10, %d1;\n" what##_BODY \
  "add.u32 %r30, %r30, 1; setp.lt.u32 %p5, %r30, 4; @%p5 bra E" #what ";\n"
#define DUMP_BODY "ld.shared.u32 %r34, [%r33]; st.global.u32 [%d10+2048], %r34;"
#define DUMP EACH4(DUMP)
#define FILL_BODY "st.shared.u32 [%r33], 0xeeeeeeee;"
#define FILL EACH4(FILL) "fence.proxy.async; bar.sync 0;\n"
// shared word i: 1000 + i
#define COUNT_BODY "add.u32 %r34, %r31, 1000; st.shared.u32 [%r33], %r34;"
#define COUNT EACH4(COUNT) "fence.proxy.async; bar.sync 0;\n"
#define ONE_BAR "setp.ne.u32 %p1, %t, 0; @%p1 bra B1; mbarrier.init.shared.b64 [%b], 1; fence.mbarrier_init.release.cluster; B1: bar.sync 0;\n"
#define OWN "mad.wide.u32 %d2, %t, 4, %d1;"

static const Case memory[] = {
  {"ld.v4.u32", "mad.wide.u32 %d2, %t, 16, %d1; ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d2]; mad.lo.u32 %r5, %r2, 10, %r1; mad.lo.u32 %r5, %r3, 100, %r5; mad.lo.u32 %r5, %r4, 1000, %r5;" STORE5, 32, 0, NULL, 514, 8 + 90 + 1000 + 11000},
  {"ld.v2.u64", "mad.wide.u32 %d2, %t, 16, %d1; ld.global.v2.u64 {%d4, %d6}, [%d2]; xor.b64 %d5, %d4, %d6;" STORE64, 32, 0, NULL, 512 + 2, 4 ^ 6},
  {"ld.v4.u8", OWN "ld.global.v4.u8 {%r1, %r2, %r3, %r4}, [%d2]; shl.b32 %r5, %r1, 8; or.b32 %r5, %r5, %r2;" STORE5, 32, 0, NULL, 512 + 7, 7 << 8},
  {"ld.v2.u16", OWN "ld.global.v2.u16 {%h1, %h2}, [%d2]; mov.b32 %r5, {%h2, %h1};" STORE5, 32, 0, NULL, 512 + 7, 7 << 16},
  {"ld.s8 and ld.u8", "add.u32 %r1, %t, 120; shl.b32 %r2, %t, 2; add.u32 %r2, %r2, %s; st.shared.u8 [%r2], %r1; ld.shared.s8 %r3, [%r2]; ld.shared.u8 %r4, [%r2]; mad.lo.u32 %r5, %r3, 1000, %r4;" STORE5, 32, 0, NULL, 512 + 9, (uint32_t)(-127000 + 129)},
  {"ld.s16 and ld.u16", "add.u32 %r1, %t, 32760; shl.b32 %r2, %t, 2; add.u32 %r2, %r2, %s; st.shared.u16 [%r2], %r1; ld.shared.s16 %r3, [%r2]; ld.shared.u16 %r4, [%r2]; add.u32 %r5, %r3, %r4;" STORE5, 32, 0, NULL, 512 + 9, (uint32_t)(-32767 + 32769)},
  {"ld.nc and cache operators", OWN "ld.global.nc.L1::no_allocate.u32 %r1, [%d2]; ld.global.cg.u32 %r2, [%d2+4]; ld.global.L1::evict_last.u32 %r3, [%d2+8]; ld.volatile.global.u32 %r4, [%d2+12]; add.u32 %r5, %r1, %r2; mad.lo.u32 %r5, %r3, 3, %r5; mad.lo.u32 %r5, %r4, 5, %r5;" STORE5,
   32, 0, NULL, 512 + 2, 2 + 3 + 12 + 25},
  {"st.v4 and st.v2", "mad.wide.u32 %d2, %t, 16, %d1; add.u32 %r1, %t, 1; add.u32 %r2, %t, 2; add.u32 %r3, %t, 3; st.global.v4.b32 [%d2+2048], {%t, %r1, %r2, %r3}; st.global.v2.b16 [%d2+2052], {9, 8};", 16, 0, NULL, 512 + 13, 8 << 16 | 9},
  {"relaxed, acquire and release", OWN "ld.relaxed.gpu.global.u32 %r1, [%d2]; ld.acquire.sys.global.u32 %r2, [%d2+4]; add.u32 %r5, %r1, %r2; st.release.gpu.global.u32 [%d2+2048], %r5; fence.acq_rel.gpu; fence.sc.sys; membar.gl;", 32, 0, NULL, 512 + 4, 9},
  {"local array", ".local .align 8 .b8 stack[128]; mov.u32 %r10, 0; N: shl.b32 %r11, %r10, 2; mov.u32 %r12, stack; add.u32 %r12, %r12, %r11; mul.lo.u32 %r13, %r10, %t; st.local.u32 [%r12], %r13; add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, 32; @%p1 bra N;"
   "shl.b32 %r11, %t, 2; mov.u32 %r12, stack; add.u32 %r12, %r12, %r11; ld.local.u32 %r5, [%r12];" STORE5, 32, 0, NULL, 512 + 9, 81},
  {"generic addresses", ".local .align 8 .b8 stack[8]; mov.u64 %d4, stack; cvta.local.u64 %d4, %d4; cvt.u64.u32 %d6, %s; cvta.shared.u64 %d6, %d6; mad.wide.u32 %d6, %t, 4, %d6; st.u32 [%d4], %t; ld.u32 %r1, [%d4]; add.u32 %r1, %r1, 5; st.u32 [%d6], %r1; cvta.global.u64 %d7, %d1;"
   "ld.u32 %r2, [%d6]; ld.u32 %r3, [%d7+40]; add.u32 %r5, %r2, %r3; isspacep.shared %p1, %d6; @!%p1 mov.u32 %r5, 0; isspacep.global %p1, %d6; @%p1 mov.u32 %r5, 0; isspacep.local %p1, %d4; @!%p1 mov.u32 %r5, 0; isspacep.global %p1, %d7; @!%p1 mov.u32 %r5, 0;" STORE5,
   32, 0, NULL, 512 + 9, 9 + 5 + 10},
  {"special registers", "mov.u32 %r1, %laneid; mov.u32 %r2, %ntid.x; mov.u32 %r3, %nctaid.x; mov.u32 %r4, %ctaid.x; mov.u32 %r6, %lanemask_lt; popc.b32 %r6, %r6; mad.lo.u32 %r5, %r1, 100, %r2; mad.lo.u32 %r5, %r3, 10000, %r5; add.u32 %r5, %r5, %r4; mad.lo.u32 %r5, %r6, 1000000, %r5;" STORE5,
   64, 0, NULL, 512 + 35, 300 + 64 + 10000 + 3000000},
  {"loops that diverge", "mov.u32 %r5, 0; mov.u32 %r1, 0; N: setp.ge.u32 %p1, %r1, %t; @%p1 bra M; and.b32 %r2, %r1, 1; setp.eq.u32 %p2, %r2, 0; @%p2 bra Q; add.u32 %r5, %r5, %r1; bra R; Q: add.u32 %r5, %r5, 100; R: add.u32 %r1, %r1, 1; bra N; M:" STORE5, 64, 0, NULL, 512 + 7, 1 + 3 + 5 + 400},
  {"brx.idx", "and.b32 %r1, %t, 3; T: .branchtargets A0, A1, A2, A3; brx.idx %r1, T; A0: mov.u32 %r5, 10; bra Q; A1: mov.u32 %r5, 20; bra Q; A2: mov.u32 %r5, 30; bra Q; A3: mov.u32 %r5, 40; Q:" STORE5, 32, 0, NULL, 512 + 6, 30},
};

#define SHARED_CELL "shl.b32 %r1, %t, 3; add.u32 %r1, %r1, %s; st.shared.u64 [%r1], 40;\n"
#define A32(op, type, val) "atom.shared." #op "." #type " %r2, [%r1], " val "; mad.lo.u32 %r5, %r5, 3, %r2;\n"
#define G32(op, type, val) "atom.global." #op "." #type " %r2, [%d2], " val "; mad.lo.u32 %r5, %r5, 3, %r2;\n"
static const Case atomics[] = {
  {"atom.shared on 32 bits", SHARED_CELL "mov.u32 %r5, 0;" A32(add, u32, "%t") A32(min, u32, "45") A32(max, s32, "-3") A32(and, b32, "62") A32(or, b32, "5") A32(xor, b32, "%t") A32(inc, u32, "44") A32(dec, u32, "50") A32(exch, b32, "99") "atom.shared.cas.b32 %r2, [%r1], 99, 7; mad.lo.u32 %r5, %r5, 3, %r2; ld.shared.u32 %r2, [%r1]; mad.lo.u32 %r5, %r5, 3, %r2;" STORE5,
   32, 0, NULL, 512, 40 * 59049 + 40 * 19683 + 40 * 6561 + 40 * 2187 + 40 * 729 + 45 * 243 + 45 * 81 + 0 * 27 + 50 * 9 + 99 * 3 + 7},
  {"atom.global on 32 bits", OWN "add.u64 %d2, %d2, 256; mov.u32 %r5, 0;" G32(add, s32, "%t") G32(min, s32, "-7") G32(max, u32, "3") G32(and, b32, "0xfff8") G32(or, b32, "5") G32(xor, b32, "3") G32(inc, u32, "9") G32(dec, u32, "%t") G32(exch, b32, "77") "atom.global.cas.b32 %r2, [%d2], 1, 7; mad.lo.u32 %r5, %r5, 3, %r2; ld.global.u32 %r2, [%d2]; mad.lo.u32 %r5, %r5, 3, %r2;" STORE5,
   32, 0, NULL, 512, 64u * 59049 + 64 * 19683 + 4294967289u * 6561 + 4294967289u * 2187 + 65528u * 729 + 65533u * 243 + 65534u * 81 + 0 * 27 + 0 * 9 + 77 * 3 + 77},
  {"atom on 64 bits", SHARED_CELL "cvt.u64.u32 %d6, %t; atom.shared.add.u64 %d4, [%r1], %d6; atom.shared.max.s64 %d7, [%r1], -5; atom.shared.min.u64 %d8, [%r1], 50; atom.shared.exch.b64 %d9, [%r1], %d6; atom.shared.cas.b64 %d10, [%r1], %d6, 12;"
   "add.u64 %d5, %d4, %d7; add.u64 %d5, %d5, %d8; add.u64 %d5, %d5, %d9; add.u64 %d5, %d5, %d10; shl.b64 %d5, %d5, 8; ld.shared.u64 %d4, [%r1]; add.u64 %d5, %d5, %d4;" STORE64, 32, 0, NULL, 512 + 6, (40 + 43 + 43 + 43 + 3) * 256 + 12},
  {"atom.add on floats", "mad.wide.u32 %d2, %t, 16, %d1; cvt.rn.f32.u32 %f1, %t; st.global.f32 [%d2], 0f3fc00000; atom.global.add.f32 %f2, [%d2], %f1; st.global.f64 [%d2+8], 0d4000000000000000; cvt.f64.f32 %d6, %f1; atom.global.add.f64 %d4, [%d2+8], %d6; ld.global.f32 %f3, [%d2]; add.f32 %f3, %f3, %f2; mov.b32 %r5, %f3;" STORE5,
   32, 0, NULL, 512 + 4, 0x40e00000},   // 1.5 + 5.5
  {"atom.add on halves", "mad.wide.u32 %d2, %t, 16, %d1; st.global.u32 [%d2], 0x3c003c00; st.global.u32 [%d2+4], 0x3f803f80; mov.b32 %r1, 0x40004200; atom.global.add.noftz.f16x2 %r2, [%d2], %r1; mov.b32 %r1, 0x40004040; atom.global.add.noftz.bf16x2 %r3, [%d2+4], %r1; mov.b16 %h1, 0x3c00; red.global.add.noftz.f16 [%d2], %h1; ld.global.u32 %r5, [%d2];" STORE5,
   32, 0, NULL, 512 + 3, 0x42004500},
  {"vector red and atom", "mad.wide.u32 %d2, %t, 16, %d1; st.global.v4.f32 [%d2], {0f3f800000, 0f40000000, 0f40400000, 0f40800000}; red.global.add.v4.f32 [%d2], {0f3f800000, 0f3f800000, 0f3f800000, 0f3f800000}; atom.global.v2.f32.add {%f1, %f2}, [%d2+8], {0f3f800000, 0f3f800000}; add.f32 %f1, %f1, %f2; mov.b32 %r5, %f1;" STORE5,
   32, 0, NULL, 512 + 3, 0x41100000},   // 4 + 5
  {"red", OWN "red.global.add.u32 [%d2], 5; red.relaxed.gpu.global.max.s32 [%d2], 20; red.global.and.b32 [%d2], 0x1e; red.global.xor.b32 [%d2], 1; red.global.inc.u32 [%d2], 0xffff; ld.global.u32 %r5, [%d2];" STORE5, 32, 0, NULL, 512 + 1, 22},
  {"all threads add to one word", "atom.global.add.u32 %r1, [%d1+4], 1; atom.shared.exch.b32 %r2, [%s], 0; bar.sync 0; atom.shared.add.u32 %r3, [%s], %t; bar.sync 0; ld.shared.u32 %r5, [%s];" STORE5, 64, 0, NULL, 1, 65},
  {"atom.cas on 16 bits", OWN "mov.b16 %h1, 40; mov.b16 %h2, 9; cvt.u16.u32 %h3, %t; atom.global.cas.b16 %h1, [%d2], %h3, %h2; ld.global.u32 %r5, [%d2];" STORE5, 32, 0, NULL, 512 + 31, 9},
};

static const Case barriers[] = {
  {"barrier.red", "rem.u32 %r1, %t, 3; setp.eq.u32 %p1, %r1, 0; bar.red.popc.u32 %r2, 1, %p1; bar.red.and.pred %p2, 2, %p1; bar.red.or.pred %p3, 3, %p1; barrier.cta.red.popc.u32 %r3, 4, 64, !%p1; selp.u32 %r4, 100, 0, %p2; selp.u32 %r6, 1000, 0, %p3; add.u32 %r5, %r2, %r4; add.u32 %r5, %r5, %r6; mad.lo.u32 %r5, %r3, 10000, %r5;" STORE5,
   64, 0, NULL, 512 + 5, 22 + 1000 + 42 * 10000},
  {"barrier.sync and arrive by number", "shr.u32 %r1, %t, 5; setp.eq.u32 %p1, %r1, 0; @%p1 bra L1; st.shared.u32 [%s], 31; barrier.cta.arrive 5, 64; mov.u32 %r5, 1; bra L2; L1: barrier.cta.sync 5, 64; ld.shared.u32 %r5, [%s]; L2:" STORE5, 64, 0, NULL, 512 + 5, 31},
  {"bar.warp.sync in halves", "shl.b32 %r1, %t, 2; add.u32 %r1, %r1, %s; st.shared.u32 [%r1], %t; setp.lt.u32 %p1, %t, 16; mov.u32 %r2, 0xffff0000; @%p1 mov.u32 %r2, 0xffff; bar.warp.sync %r2; xor.b32 %r3, %t, 15; shl.b32 %r3, %r3, 2; add.u32 %r3, %r3, %s; ld.shared.u32 %r5, [%r3];" STORE5, 32, 0, NULL, 512 + 20, 27},
  {"mbarrier counts", "setp.ne.u32 %p1, %t, 0; @%p1 ret; mbarrier.init.shared.b64 [%b], 6; mbarrier.arrive.shared.b64 %d4, [%b]; mbarrier.pending_count.b64 %r1, %d4; mbarrier.arrive.noComplete.shared.b64 %d4, [%b], 2; mbarrier.pending_count.b64 %r2, %d4; mbarrier.arrive_drop.shared.b64 %d4, [%b]; mbarrier.pending_count.b64 %r3, %d4;"
   "mbarrier.test_wait.shared.b64 %p2, [%b], %d4; selp.u32 %r4, 1, 0, %p2; mbarrier.arrive.shared.b64 %d6, [%b], 2; mbarrier.test_wait.shared.b64 %p2, [%b], %d4; selp.u32 %r6, 1, 0, %p2; mbarrier.arrive.shared.b64 %d6, [%b]; mbarrier.pending_count.b64 %r7, %d6;"
   "mbarrier.test_wait.parity.shared.b64 %p2, [%b], 0; selp.u32 %r8, 1, 0, %p2; mbarrier.test_wait.parity.shared.b64 %p2, [%b], 1; selp.u32 %r9, 1, 0, %p2; mbarrier.inval.shared.b64 [%b];"
   "mad.lo.u32 %r5, %r1, 10, %r2; mad.lo.u32 %r5, %r5, 10, %r3; mad.lo.u32 %r5, %r5, 10, %r4; mad.lo.u32 %r5, %r5, 10, %r6; mad.lo.u32 %r5, %r5, 10, %r7; mad.lo.u32 %r5, %r5, 10, %r8; mad.lo.u32 %r5, %r5, 10, %r9;" STORE5, 32, 0, NULL, 512, 65301510},
  {"mbarrier transactions", "setp.ne.u32 %p1, %t, 0; @%p1 ret; mbarrier.init.shared.b64 [%b], 1; mbarrier.expect_tx.relaxed.cta.shared.b64 [%b], 48; mbarrier.arrive.expect_tx.shared.b64 %d4, [%b], 16; mbarrier.test_wait.shared.b64 %p2, [%b], %d4; selp.u32 %r1, 1, 0, %p2;"
   "mbarrier.complete_tx.relaxed.cta.shared.b64 [%b], 60; mbarrier.test_wait.shared.b64 %p2, [%b], %d4; selp.u32 %r2, 1, 0, %p2; mbarrier.complete_tx.relaxed.cta.shared.b64 [%b], 4; mbarrier.try_wait.shared.b64 %p2, [%b], %d4, 1000; selp.u32 %r3, 1, 0, %p2; mad.lo.u32 %r5, %r1, 10, %r2; mad.lo.u32 %r5, %r5, 10, %r3;" STORE5, 32, 0, NULL, 512, 1},
  {"mbarrier over many phases", "setp.ne.u32 %p1, %t, 0; @%p1 bra L1; mbarrier.init.shared.b64 [%b], 64; L1: bar.sync 0; mov.u32 %r1, 0; mov.u32 %r5, 0; N: and.b32 %r2, %r1, 1; mad.lo.u32 %r3, %r1, 64, %t; shl.b32 %r3, %r3, 2; add.u32 %r3, %r3, %s; st.shared.u32 [%r3], %t; mbarrier.arrive.shared.b64 _, [%b];\n"
   "W: mbarrier.try_wait.parity.shared.b64 %p2, [%b], %r2; @!%p2 bra W; xor.b32 %r4, %t, 33; mad.lo.u32 %r4, %r1, 64, %r4; shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %s; ld.shared.u32 %r6, [%r4]; add.u32 %r5, %r5, %r6; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 16; @%p1 bra N;" STORE5, 64, 0, NULL, 512 + 3, 16 * 34},
};

#define ROW "mad.wide.u32 %d2, %t, 16, %d1; shl.b32 %r1, %t, 4; add.u32 %r2, %s, %r1;"
#define LOAD_ROW "ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%r2]; mad.lo.u32 %r5, %r7, 10, %r6; mad.lo.u32 %r5, %r8, 100, %r5; mad.lo.u32 %r5, %r9, 1000, %r5;" STORE5
static const Case copies[] = {
  {"cp.async of 4, 8 and 16 bytes", ROW "cp.async.ca.shared.global [%r2], [%d2], 4; cp.async.ca.shared.global [%r2+8], [%d2+8], 8; cp.async.ca.shared.global [%r2+4], [%d2+16], 4; cp.async.wait_all;" LOAD_ROW, 32, 0, NULL, 512 + 1, 4 + 80 + 600 + 7000},
  {"cp.async with a source size", ROW "and.b32 %r3, %t, 15; cp.async.cg.shared.global.L2::128B [%r2], [%d2], 16, %r3; cp.async.wait_all;" LOAD_ROW, 32, 0, NULL, 512 + 10, 40 + 410 + 42 * 100},
  {"cp.async that ignores its source", ROW "and.b32 %r3, %t, 1; setp.eq.u32 %p1, %r3, 1; cp.async.cg.shared.global [%r2], [%d2], 16, %p1; cp.async.commit_group; cp.async.wait_group 0;" LOAD_ROW, 32, 0, NULL, 512 + 4, 16 + 170 + 1800 + 19000},
  {"cp.async in three groups", ROW "cp.async.cg.shared.global [%r2], [%d2], 16; cp.async.commit_group; cp.async.cg.shared.global [%r2+1024], [%d2+16], 16; cp.async.commit_group; cp.async.cg.shared.global [%r2+2048], [%d2+32], 16; cp.async.commit_group; cp.async.wait_group 1; ld.shared.u32 %r6, [%r2+1024]; cp.async.wait_group 0; ld.shared.u32 %r7, [%r2+2048]; add.u32 %r5, %r6, %r7;" STORE5,
   32, 0, NULL, 512 + 2, 12 + 16},
#define BULK_IN(bytes) "@%p1 bra L2; mbarrier.arrive.expect_tx.shared.b64 _, [%b], " #bytes "; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s+64], [%d1+32], " #bytes ", [%b]; L2:\n" WAIT(0)
  {"cp.async.bulk in", FILL ONE_BAR BULK_IN(512) DUMP, 64, 0, NULL, 512 + 16 + 5, 13},
  {"cp.async.bulk with hints and prefetch", FILL ONE_BAR "@%p1 bra L2; cp.async.bulk.prefetch.L2.global [%d1], 256; createpolicy.fractional.L2::evict_last.b64 %d5, 1.0; mbarrier.arrive.expect_tx.shared.b64 _, [%b], 64;"
   "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%s], [%d1+64], 64, [%b], %d5; L2:\n" WAIT(0) DUMP, 64, 0, NULL, 512 + 5, 21},
#define BULK_OUT(code) "setp.ne.u32 %p1, %t, 0; @%p1 bra L1;" code "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; L1: bar.sync 0;"
  {"cp.async.bulk out", COUNT BULK_OUT("cp.async.bulk.global.shared::cta.bulk_group [%d1+2048], [%s+128], 256;"), 64, 0, NULL, 512 + 5, 1037},
  {"two groups of stores", COUNT "setp.ne.u32 %p1, %t, 0; @%p1 bra L1; cp.async.bulk.global.shared::cta.bulk_group [%d1+2048], [%s], 64; cp.async.bulk.commit_group; cp.async.bulk.global.shared::cta.bulk_group [%d1+2112], [%s], 64; cp.async.bulk.commit_group;"
   "cp.async.bulk.wait_group.read 1; cp.async.bulk.wait_group 0; L1:", 64, 0, NULL, 512 + 17, 1001},
};

// global words 0 to 63 reduced with shared words 1000 + i
#define REDUCE(op) COUNT BULK_OUT("cp.reduce.async.bulk.global.shared::cta.bulk_group." op " [%d1], [%s], 256;")
#define FLOATS_BODY "cvt.rn.f32.u32 %f1, %r31; mul.f32 %f2, %f1, 0f3f000000; st.shared.f32 [%r33], %f1; st.global.f32 [%d10], %f2;"
#define FLOATS EACH4(FLOATS) "fence.proxy.async; bar.sync 0;\n"
// pairs of halves: 1 + i, and 2 in each
#define HALVES_BODY "cvt.rn.f32.u32 %f1, %r31; add.f32 %f1, %f1, 0f3f800000; cvt.rn.f16.f32 %h1, %f1; mov.b32 %r34, {%h1, %h1}; st.shared.u32 [%r33], %r34; st.global.u32 [%d10], 0x40004000;"
#define HALVES EACH4(HALVES) "fence.proxy.async; bar.sync 0;\n"
static const Case reductions[] = {
  {"bulk add u32", REDUCE("add.u32"), 64, 0, NULL, 7, 1014}, {"bulk add s32", REDUCE("add.s32"), 64, 0, NULL, 8, 1016}, {"bulk add u64", REDUCE("add.u64"), 64, 0, NULL, 9, 1018},
  {"bulk min u32", REDUCE("min.u32"), 64, 0, NULL, 7, 7}, {"bulk max s32", REDUCE("max.s32"), 64, 0, NULL, 7, 1007}, {"bulk min s64", REDUCE("min.s64"), 64, 0, NULL, 6, 6}, {"bulk max u64", REDUCE("max.u64"), 64, 0, NULL, 6, 1006},
  {"bulk inc", REDUCE("inc.u32"), 64, 0, NULL, 7, 8}, {"bulk dec", REDUCE("dec.u32"), 64, 0, NULL, 0, 1000},
  {"bulk and", REDUCE("and.b32"), 64, 0, NULL, 63, 1063 & 63}, {"bulk or", REDUCE("or.b32"), 64, 0, NULL, 9, 1009 | 9}, {"bulk xor", REDUCE("xor.b32"), 64, 0, NULL, 9, 1009 ^ 9},
  {"bulk and b64", REDUCE("and.b64"), 64, 0, NULL, 62, 1062 & 62},
  {"bulk add f32", FLOATS BULK_OUT("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%d1], [%s], 256;"), 64, 0, NULL, 10, 0x41700000},
  {"bulk add f16", HALVES BULK_OUT("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%d1], [%s], 256;"), 64, 0, NULL, 4, 0x47004700},
  {"bulk max f16", HALVES BULK_OUT("cp.reduce.async.bulk.global.shared::cta.bulk_group.max.f16 [%d1], [%s], 256;"), 64, 0, NULL, 4, 0x45004500},
  {"bulk add bf16", HALVES BULK_OUT("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%d1], [%s], 256;"), 64, 0, NULL, 0, 0x40004000},
  {"bulk min bf16", HALVES BULK_OUT("cp.reduce.async.bulk.global.shared::cta.bulk_group.min.bf16 [%d1], [%s], 256;"), 64, 0, NULL, 0, 0x3c003c00},
  {"bulk add f64", "cvt.rn.f64.u32 %d5, %t; shl.b32 %r1, %t, 3; add.u32 %r1, %r1, %s; st.shared.f64 [%r1], %d5; mad.wide.u32 %d2, %t, 8, %d1; st.global.f64 [%d2], 0d3ff0000000000000; fence.proxy.async; bar.sync 0;" BULK_OUT("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f64 [%d1], [%s], 256;"),
   32, 0, NULL, 7, 0x40100000},
};

#define MAP(type, fill, swizzle, rank_1, dims) MAP_BEGIN MAP_SET(global_address, b64, "%d1") MAP_SET(rank, b32, rank_1) dims MAP_SET(elemtype, b32, type) MAP_SET(interleave_layout, b32, "0") MAP_SET(swizzle_mode, b32, swizzle) \
  MAP_SET(fill_mode, b32, fill) MAP_PUBLISH MAP_ACQUIRE
#define COORDS(a, b, c, d, e) "mov.b32 %r10, " #a "; mov.b32 %r11, " #b "; mov.b32 %r12, " #c "; mov.b32 %r13, " #d "; mov.b32 %r14, " #e ";"
#define C1 "{%r10}"
#define C2 "{%r10, %r11}"
#define C3 "{%r10, %r11, %r12}"
#define C4 "{%r10, %r11, %r12, %r13}"
#define C5 "{%r10, %r11, %r12, %r13, %r14}"
#define TENSOR_IN(nd, coords, bytes) FILL ONE_BAR "@%p1 bra L2; mbarrier.arrive.expect_tx.shared.b64 _, [%b], " #bytes "; cp.async.bulk.tensor." nd ".shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%d8, " coords "], [%b]; L2:\n" WAIT(0) DUMP
#define TENSOR_OUT(nd, coords) COUNT BULK_OUT("cp.async.bulk.tensor." nd ".global.shared::cta.bulk_group [%d8, " coords "], [%s];")
#define TENSOR_REDUCE(op, nd, coords) BULK_OUT("cp.reduce.async.bulk.tensor." nd ".global.shared::cta." op ".bulk_group [%d8, " coords "], [%s];")
// 16 by 16 words; 4 by 4 by 4 by 4 words with gaps of none
#define SQUARE(box0, box1) MAP_DIM(0, 16, box0, 1) MAP_DIM(1, 16, box1, 1) MAP_STRIDE(0, 64)
#define CUBE(box0, box1, box2) MAP_DIM(0, 8, box0, 1) MAP_DIM(1, 5, box1, 1) MAP_DIM(2, 4, box2, 1) MAP_STRIDE(0, 32) MAP_STRIDE(1, 160)
#define FIVE MAP_DIM(0, 4, 4, 1) MAP_DIM(1, 3, 2, 1) MAP_DIM(2, 3, 2, 1) MAP_DIM(3, 3, 2, 1) MAP_DIM(4, 2, 2, 1) MAP_STRIDE(0, 16) MAP_STRIDE(1, 48) MAP_STRIDE(2, 144) MAP_STRIDE(3, 432)
#define FILL_CASE(type, box, bytes) MAP(type, "1", "0", "1", MAP_DIM(0, 16, box, 1) MAP_DIM(1, 4, 4, 1) MAP_STRIDE(0, 128)) COORDS(0, 2, 0, 0, 0) TENSOR_IN("2d", C2, bytes)
static const Case tensors[] = {
  {"tensor load 1d", MAP("0", "0", "0", "0", MAP_DIM(0, 1000, 256, 1)) COORDS(960, 0, 0, 0, 0) TENSOR_IN("1d", C1, 256), 64, 0, NULL, 512 + 9, 249},
  {"tensor load 3d", MAP("2", "0", "0", "2", CUBE(8, 3, 2)) COORDS(-4, 3, 1, 0, 0) TENSOR_IN("3d", C3, 192), 64, 0, NULL, 512 + 5, 40 + 24 + 1},
  {"tensor load 4d", MAP("1", "0", "0", "3", MAP_DIM(0, 8, 8, 1) MAP_DIM(1, 3, 2, 1) MAP_DIM(2, 3, 2, 1) MAP_DIM(3, 3, 2, 1) MAP_STRIDE(0, 16) MAP_STRIDE(1, 48) MAP_STRIDE(2, 144)) COORDS(0, 1, -1, 2, 0) TENSOR_IN("4d", C4, 128), 64, 0, NULL, 512 + 9, 72 + 4 + 1},
  {"tensor load 5d", MAP("2", "0", "0", "4", FIVE) COORDS(0, 1, 2, 0, 1) TENSOR_IN("5d", C5, 256), 64, 0, NULL, 512 + 5, 108 + 24 + 8 + 1},
  {"tensor load with element strides", MAP("2", "0", "0", "1", MAP_DIM(0, 16, 8, 1) MAP_DIM(1, 16, 9, 3) MAP_STRIDE(0, 64)) COORDS(4, 1, 0, 0, 0) TENSOR_IN("2d", C2, 96), 64, 0, NULL, 512 + 9, 64 + 5},
  {"tensor load swizzled 32", MAP("2", "0", "1", "1", SQUARE(8, 16)) COORDS(4, -2, 0, 0, 0) TENSOR_IN("2d", C2, 512), 64, 0, NULL, 512 + 8 * 4 + 4, 2 * 16 + 4},
  {"tensor load swizzled 64", MAP("2", "0", "2", "1", SQUARE(16, 16)) COORDS(0, 0, 0, 0, 0) TENSOR_IN("2d", C2, 1024), 64, 0, NULL, 512 + 32 + 4, 32 + 0},
  {"tensor load swizzled 128", MAP("2", "0", "3", "1", MAP_DIM(0, 32, 32, 1) MAP_DIM(1, 8, 8, 1) MAP_STRIDE(0, 128)) COORDS(0, 0, 0, 0, 0) TENSOR_IN("2d", C2, 1024), 64, 0, NULL, 512 + 32 + 4, 32 + 0},
  {"fill f16", FILL_CASE("6", 16, 128), 64, 0, NULL, 512 + 8 * 2, 0x7ff77ff7}, {"fill f32", FILL_CASE("7", 16, 256), 64, 0, NULL, 512 + 16 * 2, 0x7ff77ff7},
  {"fill f32.ftz", FILL_CASE("8", 16, 256), 64, 0, NULL, 512 + 1, 65}, {"fill f64", FILL_CASE("9", 16, 512), 64, 0, NULL, 512 + 1, 65},
  {"fill bf16", FILL_CASE("10", 16, 128), 64, 0, NULL, 512 + 1, 65}, {"fill tf32", FILL_CASE("11", 16, 256), 64, 0, NULL, 512 + 1, 0}, {"fill tf32.ftz", FILL_CASE("12", 16, 256), 64, 0, NULL, 512 + 1, 0},
  {"load s32", MAP("3", "0", "0", "1", SQUARE(4, 2)) COORDS(0, 3, 0, 0, 0) TENSOR_IN("2d", C2, 32), 64, 0, NULL, 512 + 1, 49},
  {"load u64", MAP("4", "0", "0", "1", SQUARE(4, 2)) COORDS(0, 3, 0, 0, 0) TENSOR_IN("2d", C2, 64), 64, 0, NULL, 512 + 1, 49}, {"load s64", MAP("5", "0", "0", "1", SQUARE(4, 2)) COORDS(14, 3, 0, 0, 0) TENSOR_IN("2d", C2, 64), 64, 0, NULL, 512 + 4, 0},
  {"tensor load with hint and prefetch", MAP("2", "0", "0", "1", SQUARE(8, 4)) COORDS(0, 3, 0, 0, 0) "@%p1 bra X; prefetch.tensormap [%d8]; cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%d8, {%r10, %r11}]; X:" TENSOR_IN("2d", C2, 128), 64, 0, NULL, 512 + 1, 49},
  {"tensor store 2d", MAP("2", "0", "0", "1", SQUARE(8, 4)) COORDS(12, 14, 0, 0, 0) TENSOR_OUT("2d", C2), 64, 0, NULL, 15 * 16 + 13, 1009},
  {"tensor store 2d swizzled", MAP("2", "0", "3", "1", SQUARE(16, 8)) COORDS(0, 1, 0, 0, 0) TENSOR_OUT("2d", C2), 64, 0, NULL, 2 * 16 + 1, 1037},
  {"tensor store 1d", MAP("2", "0", "0", "0", MAP_DIM(0, 100, 32, 1)) COORDS(80, 0, 0, 0, 0) TENSOR_OUT("1d", C1), 64, 0, NULL, 99, 1019},
  {"tensor store 3d", MAP("2", "0", "0", "2", CUBE(8, 3, 2)) COORDS(0, 3, 3, 0, 0) TENSOR_OUT("3d", C3), 64, 0, NULL, 120 + 32 + 1, 1009},
  {"tensor store 5d", MAP("2", "0", "0", "4", FIVE) COORDS(0, 2, 1, 2, 1) TENSOR_OUT("5d", C5), 64, 0, NULL, 108 + 72 + 12 + 8 + 1, 1001},
  {"tensor add u32", MAP("2", "0", "0", "1", SQUARE(8, 4)) COORDS(12, 14, 0, 0, 0) COUNT TENSOR_REDUCE("add", "2d", C2), 64, 0, NULL, 15 * 16 + 13, 1009 + 253},
  {"tensor min s32", MAP("3", "0", "0", "1", SQUARE(8, 4)) COORDS(0, 1, 0, 0, 0) COUNT TENSOR_REDUCE("min", "2d", C2), 64, 0, NULL, 17, 17},
  {"tensor max u64", MAP("4", "0", "0", "1", SQUARE(4, 4)) COORDS(0, 1, 0, 0, 0) COUNT TENSOR_REDUCE("max", "2d", C2), 64, 0, NULL, 17, 1001},
  {"tensor inc", MAP("2", "0", "0", "1", SQUARE(8, 4)) COORDS(0, 1, 0, 0, 0) COUNT TENSOR_REDUCE("inc", "2d", C2), 64, 0, NULL, 17, 18},
  {"tensor dec", MAP("2", "0", "0", "1", SQUARE(8, 4)) COORDS(0, 0, 0, 0, 0) COUNT TENSOR_REDUCE("dec", "2d", C2), 64, 0, NULL, 17, 16},
  {"tensor and", MAP("2", "0", "0", "1", SQUARE(8, 4)) COORDS(0, 0, 0, 0, 0) COUNT TENSOR_REDUCE("and", "2d", C2), 64, 0, NULL, 17, 1009 & 17},
  {"tensor or", MAP("3", "0", "0", "1", SQUARE(8, 4)) COORDS(0, 0, 0, 0, 0) COUNT TENSOR_REDUCE("or", "2d", C2), 64, 0, NULL, 17, 1009 | 17},
  {"tensor xor", MAP("2", "0", "0", "1", SQUARE(8, 4)) COORDS(0, 0, 0, 0, 0) COUNT TENSOR_REDUCE("xor", "2d", C2), 64, 0, NULL, 17, 1009 ^ 17},
  {"tensor add f32", MAP("7", "0", "0", "1", SQUARE(8, 4)) COORDS(0, 0, 0, 0, 0) FLOATS TENSOR_REDUCE("add", "2d", C2), 64, 0, NULL, 17, 0x418c0000},
  {"tensor add f16", MAP("6", "0", "0", "1", SQUARE(8, 4)) COORDS(0, 0, 0, 0, 0) HALVES TENSOR_REDUCE("add", "2d", C2), 64, 0, NULL, 1, 0x44004400},
  {"tensor max bf16", MAP("10", "0", "0", "1", SQUARE(8, 4)) COORDS(0, 0, 0, 0, 0) HALVES TENSOR_REDUCE("max", "2d", C2), 64, 0, NULL, 1, 0x40004000},
  {"map edited between two loads", MAP("2", "0", "0", "1", SQUARE(8, 4)) FILL ONE_BAR COORDS(0, 3, 0, 0, 0) "@%p1 bra L2; mbarrier.arrive.expect_tx.shared.b64 _, [%b], 128; cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%d8, {%r10, %r11}], [%b]; L2:\n" WAIT(0)
   "bar.sync 0;" "add.u64 %d12, %d1, 128; @!%p1 tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r20], %d12; @%p4 bra P2; bar.warp.sync -1; tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d8], [%r20], 128; P2: bar.sync 0;"
   MAP_ACQUIRE "@%p1 bra L3; mbarrier.arrive.expect_tx.shared.b64 _, [%b], 128; cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%s+128], [%d8, {%r10, %r11}], [%b]; L3:\n" WAIT(1) DUMP, 64, 0, NULL, 512 + 33, 81},
};

static const Case matrices[] = {
// each warp has 512 bytes: 32 rows of a matrix
#define ROWS "mad.lo.u32 %r2, %t, 16, %s; bar.sync 0;\n"
  {"ldmatrix.x4", COUNT ROWS "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r8}, [%r2]; mad.lo.u32 %r5, %r6, 3, %r5; mad.lo.u32 %r5, %r7, 5, %r5; mad.lo.u32 %r5, %r8, 7, %r5;" STORE5, 64, 0, NULL, 512 + 5, 1005 + 3 * 1037 + 5 * 1069 + 7 * 1101},
  {"ldmatrix.x2.trans", COUNT ROWS "ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {%r5, %r6}, [%r2]; mad.lo.u32 %r5, %r6, 3, %r5;" STORE5, 64, 0, NULL, 512 + 8, (1001 | 1005u << 16) + 3 * (1033 | 1037u << 16)},
  {"ldmatrix.x1", COUNT ROWS "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r2];" STORE5, 64, 0, NULL, 512 + 31, 1031},
  {"stmatrix.x4", FILL ROWS "add.u32 %r5, %t, 0x10000; add.u32 %r6, %t, 0x20000; add.u32 %r7, %t, 0x30000; add.u32 %r8, %t, 0x40000; stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r2], {%r5, %r6, %r7, %r8}; bar.sync 0;" DUMP, 64, 0, NULL, 512 + 32 + 5, 0x20005},
  {"stmatrix.x2.trans", FILL ROWS "add.u32 %r5, %t, 0x10000; add.u32 %r6, %t, 0x20000; stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%r2], {%r5, %r6}; bar.sync 0;" DUMP, 64, 0, NULL, 512 + 1, 8 | 12 << 16},
  {"movmatrix", "add.u32 %r1, %t, 0x640000; movmatrix.sync.aligned.m8n8.trans.b16 %r5, %r1;" STORE5, 32, 0, NULL, 512 + 1, 8 | 12 << 16},
};

#define RANK "mov.u32 %r1, %cluster_ctarank; xor.b32 %r2, %r1, 1; mapa.shared::cluster.u32 %r3, %b, %r2; mapa.shared::cluster.u32 %r4, %s, %r2;\n"
#define MEET "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
// each CTA of a pair has its own half of the results
#define STORE_HALF "mad.lo.u32 %r35, %r1, 64, %t; mad.wide.u32 %d3, %r35, 4, %d1; st.global.u32 [%d3+2048], %r5;\n"
#define PAIR_BAR(bytes) "setp.ne.u32 %p1, %t, 0; @%p1 bra B1; mbarrier.init.shared.b64 [%b], 1; fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared.b64 _, [%b], " #bytes "; B1:" MEET
#define REMOTE(bytes, code) RANK COUNT PAIR_BAR(bytes) "@%p1 bra L2;" code "L2:\n" WAIT(0) "mad.lo.u32 %r5, %t, 4, %s; ld.shared.u32 %r5, [%r5];" STORE_HALF MEET
static const Case clusters[] = {
  {"cluster registers", "mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %cluster_nctarank; mov.u32 %r3, %clusterid.x; mov.u32 %r4, %nclusterid.x; mov.u32 %r6, %cluster_ctaid.x; mad.lo.u32 %r5, %r1, 10, %r2; mad.lo.u32 %r5, %r5, 10, %r3; mad.lo.u32 %r5, %r5, 10, %r4; mad.lo.u32 %r5, %r5, 10, %r6;" STORE_HALF, 32, 2, NULL, 512 + 64 + 5, 12011},
  {"mapa and getctarank", RANK "getctarank.shared::cluster.u32 %r5, %r4; cvt.u64.u32 %d4, %s; cvta.shared.u64 %d4, %d4; mapa.u64 %d5, %d4, %r2; getctarank.u64 %r6, %d5; mad.lo.u32 %r5, %r5, 10, %r6;" STORE_HALF, 32, 2, NULL, 512 + 5, 11},
  {"remote loads, stores and atomics", RANK "shl.b32 %r6, %t, 2; add.u32 %r7, %s, %r6; add.u32 %r8, %r4, %r6; mad.lo.u32 %r9, %r1, 1000, %t; st.shared.u32 [%r7], %r9; st.shared.u32 [%r7+512], 3;" MEET "ld.shared::cluster.u32 %r5, [%r8]; atom.shared::cluster.add.u32 %r10, [%r8+512], %t; red.shared::cluster.add.u32 [%r8+512], 1;" MEET
   "ld.shared.u32 %r11, [%r7+512]; mad.lo.u32 %r5, %r11, 10000, %r5;" STORE_HALF, 32, 2, NULL, 512 + 5, 1005 + 90000},
  {"cp.async.bulk to another CTA", REMOTE(256, "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r4], [%s+512], 256, [%r3];"), 64, 2, NULL, 512 + 64 + 5, 1000 + 128 + 5},
  {"cp.reduce.async.bulk to another CTA", REMOTE(256, "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%r4], [%s+512], 256, [%r3];"), 64, 2, NULL, 512 + 64 + 5, 1005 + 1133},
  {"cp.reduce.async.bulk min to another CTA", REMOTE(256, "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.max.s32 [%r4], [%s+512], 256, [%r3];"), 64, 2, NULL, 512 + 64 + 5, 1133},
  {"st.async", REMOTE(20, "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r4], {1, 2, 3, %r1}, [%r3]; st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r4+16], 77, [%r3];"), 64, 2, NULL, 512 + 64 + 4, 77},
  {"st.async of 64 bits", REMOTE(24, "mov.b64 %d5, 0x1234567890; st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%r4+16], %d5, [%r3]; st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.u64 [%r4], {%d5, %d5}, [%r3];"), 64, 2, NULL, 512 + 64 + 4, 0x34567890},
  {"red.async", REMOTE(16, "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r4], 5, [%r3]; red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.xor.b32 [%r4+4], 1, [%r3]; red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.max.s32 [%r4+8], 2000, [%r3];"
   "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 [%r4+12], 5000, [%r3];"), 64, 2, NULL, 512 + 64, 1005},
  {"tensor load multicast", "mov.u32 %r1, %cluster_ctarank;" FILL PAIR_BAR(128) "setp.ne.u32 %p6, %r1, 0; @%p6 bra S0;" MAP("2", "0", "0", "1", SQUARE(8, 4)) COORDS(0, 3, 0, 0, 0) "@%p1 bra S0; mov.b16 %h1, 3; cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%s], [%d8, {%r10, %r11}], [%b], %h1; S0:\n" WAIT(0)
   "mad.lo.u32 %r5, %t, 4, %s; ld.shared.u32 %r5, [%r5];" STORE_HALF MEET, 64, 2, NULL, 512 + 64 + 9, 65},
};

static void test_memory(void **state) { (void)state, run_cases(memory, countof(memory)); }
static void test_atomics(void **state) { (void)state, run_cases(atomics, countof(atomics)); }
static void test_barriers(void **state) { (void)state, run_cases(barriers, countof(barriers)); }
static void test_copies(void **state) { (void)state, run_cases(copies, countof(copies)); }
static void test_reductions(void **state) { (void)state, run_cases(reductions, countof(reductions)); }
static void test_tensors(void **state) { (void)state, run_cases(tensors, countof(tensors)); }
static void test_matrices(void **state) { (void)state, run_cases(matrices, countof(matrices)); }
static void test_clusters(void **state) { (void)state, run_cases(clusters, countof(clusters)); }

// Bit patterns of floats through tensor maps of the types that change them: specials, ties of tf32's rounding, then anything.
#define PATTERN_BODY "mul.lo.u32 %r34, %r31, 0x9e3779b1; setp.lt.u32 %p6, %r31, 16; mov.u64 %d12, tab; add.u64 %d12, %d12, %d11; @%p6 ld.const.u32 %r34, [%d12];"
#define PATTERN "mov.u32 %r30, 0; EP: mad.lo.u32 %r31, %r30, 64, %t; shl.b32 %r32, %r31, 2; add.u32 %r33, %s, %r32; cvt.u64.u32 %d11, %r32; add.u64 %d10, %d11, %d1;\n" PATTERN_BODY \
  "st.global.u32 [%d10], %r34; st.shared.u32 [%r33], %r34; add.u32 %r30, %r30, 1; setp.lt.u32 %p5, %r30, 4; @%p5 bra EP; fence.proxy.async; bar.sync 0;\n"
#define PATTERN_IN(type) MAP(type, "0", "0", "1", MAP_DIM(0, 32, 32, 1) MAP_DIM(1, 8, 8, 1) MAP_STRIDE(0, 128)) PATTERN COORDS(0, 0, 0, 0, 0) ONE_BAR "@%p1 bra L2; mbarrier.arrive.expect_tx.shared.b64 _, [%b], 1024; cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%d8, {%r10, %r11}], [%b]; L2:\n" WAIT(0) DUMP
#define PATTERN_OUT(type) MAP(type, "0", "0", "1", MAP_DIM(0, 32, 32, 1) MAP_DIM(1, 16, 8, 1) MAP_STRIDE(0, 128)) PATTERN COORDS(0, 8, 0, 0, 0) BULK_OUT("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d8, {%r10, %r11}], [%s];")
TEST(test_float_types) {
  static const char *const table = ".const .align 4 .u32 tab[16] = {0x3f800000, 0x7f800001, 0x7fc00000, 0xff800000, 1, 0x80000001, 0x007fffff, 0x3f801000, 0x3f803000, 0x3f800fff, 0x3f801001, 0x7f7fffff, 0xbf801000, 0xbf803001, 0x00801000, 0xff7ff000};\n";
  static const Case types[] = {
    {"pattern as f32", PATTERN_IN("7"), 64, 0, NULL, 512, 0x3f800000}, {"pattern as f32.ftz", PATTERN_IN("8"), 64, 0, NULL, 512, 0x3f800000},
    {"pattern as tf32", PATTERN_IN("11"), 64, 0, NULL, 512, 0x3f800000}, {"pattern as tf32.ftz", PATTERN_IN("12"), 64, 0, NULL, 512, 0x3f800000},
    {"pattern stored as f32.ftz", PATTERN_OUT("8"), 64, 0, NULL, 256, 0x3f800000}, {"pattern stored as tf32", PATTERN_OUT("11"), 64, 0, NULL, 256, 0x3f800000},
    {"pattern stored as tf32.ftz", PATTERN_OUT("12"), 64, 0, NULL, 256, 0x3f800000},
  };
  for (size_t i = 0; i < countof(types); i++) run_case(&types[i], table, "");
}

// What stands outside the kernel, or after its parameters.
TEST(test_functions) {
  static const char *const twice = ".const .align 4 .u32 tab[4] = {7, 70, 700, 7000};\n.global .align 4 .u32 cell = 5;\n"
    ".func (.param .b32 r) twice(.param .b32 x) { .reg .b32 %q<3>; ld.param.b32 %q1, [x]; add.u32 %q2, %q1, %q1; st.param.b32 [r], %q2; ret; }\n"
    ".func (.param .b32 r) sum(.param .b32 x) { .reg .b32 %q<6>; .reg .pred %z; ld.param.b32 %q1, [x]; mov.u32 %q2, 0; setp.eq.u32 %z, %q1, 0; @%z bra D; sub.u32 %q3, %q1, 1;\n"
    "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %q3; call (b), sum, (a); ld.param.b32 %q4, [b]; } add.u32 %q2, %q4, %q1; D: st.param.b32 [r], %q2; ret; }\n";
  static const Case calls[] = {
    {"call", "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %t; call (b), twice, (a); ld.param.b32 %r5, [b]; } and.b32 %r1, %t, 3; shl.b32 %r1, %r1, 2; mov.u64 %d4, tab; cvt.u64.u32 %d5, %r1; add.u64 %d4, %d4, %d5; ld.const.u32 %r2, [%d4]; ld.global.u32 %r3, [cell]; add.u32 %r5, %r5, %r2; add.u32 %r5, %r5, %r3;" STORE5, 32, 0, NULL, 512 + 6, 12 + 700 + 5},
    {"recursive call", "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %t; call (b), sum, (a); ld.param.b32 %r5, [b]; }" STORE5, 32, 0, NULL, 512 + 6, 21},
    {"indirect call", "and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 0; mov.u64 %d4, twice; mov.u64 %d5, sum; selp.b64 %d4, %d4, %d5, %p1; { .param .b32 a; .param .b32 b; st.param.b32 [a], %t; proto: .callprototype (.param .b32 _) _ (.param .b32 _); call (b), %d4, (a), proto; ld.param.b32 %r5, [b]; }" STORE5, 32, 0, NULL, 512 + 7, 28},
  };
  for (size_t i = 0; i < countof(calls); i++) run_case(&calls[i], twice, "");
  // A second activation must not see what the first left in its frame and registers.
  static const char *const forgetful = ".func (.param .b32 r) once(.param .b32 x) { .reg .b32 %q<3>; .reg .pred %z; .local .align 4 .b8 st[8]; ld.param.b32 %q1, [x]; setp.eq.u32 %z, %q1, 0; @%z bra D; st.local.u32 [st], %q1; mov.u32 %q2, 3; D: ld.local.u32 %q1, [st]; st.param.b32 [r], %q1; ret; }\n";
  static const Case undefined[] = {
    {"frame of an earlier call", "{ .param .b32 a; .param .b32 b; st.param.b32 [a], 1; call (b), once, (a); ld.param.b32 %r5, [b]; } { .param .b32 a; .param .b32 b; st.param.b32 [a], 0; call (b), once, (a); ld.param.b32 %r5, [b]; }" STORE5, 32, 0,
   "use of an undefined value: a value stored to global memory has never been set (or was computed from a value that has not)", 0, 0},
    {"argument never set", "{ .param .b32 a; .param .b32 b; call (b), once, (a); ld.param.b32 %r5, [b]; }" STORE5, 32, 0,
   "use of an undefined value: the condition of this branch has never been set (or was computed from a value that has not)", 0, 0},
  };
  for (size_t i = 0; i < countof(undefined); i++) run_case(&undefined[i], forgetful, "");
  static const Case registers[] = {
    {"setmaxnreg", "setp.lt.u32 %p1, %t, 128; @%p1 bra D; setmaxnreg.inc.sync.aligned.u32 152; mov.u32 %r5, 2; bra Q; D: setmaxnreg.dec.sync.aligned.u32 40; mov.u32 %r5, 1; Q: bar.sync 0;" "griddepcontrol.launch_dependents; griddepcontrol.wait; nanosleep.u32 10;" STORE5, 256, 0, NULL, 512 + 200, 2},
  };
  for (size_t i = 0; i < countof(registers); i++) run_case(&registers[i], "", ".reqntid 256, 1, 1 .maxnreg 96");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory), cmocka_unit_test(test_atomics), cmocka_unit_test(test_barriers), cmocka_unit_test(test_copies), cmocka_unit_test(test_reductions),
                                     cmocka_unit_test(test_tensors), cmocka_unit_test(test_matrices), cmocka_unit_test(test_clusters), cmocka_unit_test(test_functions), cmocka_unit_test(test_float_types)};
  return cmocka_run_group_tests(tests, case_setup, NULL);
}
