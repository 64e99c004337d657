// Asynchronous instructions and the checkers on small kernels: each runs with several seeds, and either gives its result or
// the report it must give.
#include "tests/unit/sim_case.h"

#include "runtime/sim/tensormap.h"

#define COPY16 "shl.b32 %r1, %t, 4; add.u32 %r2, %s, %r1; mad.wide.u32 %d2, %t, 16, %d1; cp.async.cg.shared.global [%r2], [%d2], 16;\n"
// the word that thread ^ 1 copied
#define READ_OTHER "xor.b32 %r3, %t, 1; shl.b32 %r4, %r3, 4; add.u32 %r4, %r4, %s; ld.shared.u32 %r5, [%r4+4];\n"
// Thread 0 copies 256 bytes; its label is where the others go.
#define COPY_256(label) "@%p1 bra " label "; mbarrier.arrive.expect_tx.shared.b64 _, [%b], 256; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%d1], 256, [%b]; " label ":\n"
#define READ_OWN "shl.b32 %r1, %t, 2; add.u32 %r2, %s, %r1; ld.shared.u32 %r5, [%r2];"

static const Case cases[] = {
  {"cp.async with groups", COPY16 "cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;" READ_OTHER STORE5, 64, 0, NULL, 512 + 7, 4 * 6 + 1},
  {"cp.async not waited for", COPY16 "cp.async.commit_group; bar.sync 0;" READ_OTHER STORE5, 64, 0,
   "asynchronous operation misused: reads shared+0x* of CTA 0, which the cp.async of ptx:10 of CTA 0 warp * writes; no thread has waited for that", 0, 0},
  {"cp.async waited for but not committed", COPY16 "cp.async.wait_group 0; bar.sync 0;" READ_OTHER STORE5, 64, 0,
   "asynchronous operation misused: reads shared+0x* of CTA 0, which the cp.async of ptx:10 of CTA 0 warp * writes; no thread has waited for that", 0, 0},
  {"cp.async without a barrier", COPY16 "cp.async.wait_all; " "add.u32 %r3, %t, 32; and.b32 %r3, %r3, 63; shl.b32 %r4, %r3, 4; add.u32 %r4, %r4, %s; ld.shared.u32 %r5, [%r4+4];\n", 64, 0,
   "asynchronous operation misused: *s; no thread has waited for that", 0, 0},
  {"cp.async keeps the last group", COPY16 "cp.async.commit_group; add.u32 %r2, %r2, 2048; cp.async.cg.shared.global [%r2], [%d2], 16; cp.async.commit_group; cp.async.wait_group 1; bar.sync 0;" READ_OTHER STORE5
   "cp.async.wait_all;", 64, 0, NULL, 512 + 2, 4 * 3 + 1},
  {"a group of many cp.async behind the one waited for", COPY16 "cp.async.commit_group; setp.eq.u32 %p1, %t, 0; add.u32 %r6, %s, 2048; mov.u32 %r7, 300;\n"
   "L2: @%p1 cp.async.ca.shared.global [%r6], [%d1], 4; add.u32 %r6, %r6, 4; sub.u32 %r7, %r7, 1; setp.ne.u32 %p2, %r7, 0; @%p2 bra L2;\n"
   "cp.async.commit_group; cp.async.wait_group 1; bar.sync 0;" READ_OTHER STORE5 "cp.async.wait_all;", 64, 0, NULL, 512 + 2, 4 * 3 + 1},
  {"cp.async zero fill", "shl.b32 %r1, %t, 4; add.u32 %r2, %s, %r1; mad.wide.u32 %d2, %t, 16, %d1; cp.async.ca.shared.global [%r2], [%d2], 16, 4; cp.async.wait_all; ld.shared.u32 %r5, [%r2+4];" STORE5, 32, 0, NULL, 512 + 3, 0},
  {"cp.async of no bytes from an address never set", "mov.u32 %r1, 0; cp.async.ca.shared.global [%s], [%d15], 16, %r1; cp.async.wait_all; ld.shared.u32 %r5, [%s+4];" STORE5, 1, 0, NULL, 512, 0},
  {"cp.async of a byte from an address never set", "mov.u32 %r1, 1; cp.async.ca.shared.global [%s], [%d15], 16, %r1; cp.async.wait_all;", 1, 0,
   "use of an undefined value: the address has never been set (or was computed from a value that has not)", 0, 0},
  {"cp.async arrives on an mbarrier", INIT(64) COPY16 "cp.async.mbarrier.arrive.noinc.shared.b64 [%b];" WAIT(0) READ_OTHER STORE5, 64, 0, NULL, 512 + 9, 4 * 8 + 1},
  {"counted arrival changes nothing", INIT(64) COPY16 "cp.async.mbarrier.arrive.shared.b64 [%b]; mbarrier.arrive.shared.b64 _, [%b];" WAIT(0) "cp.async.wait_all; bar.sync 0;" READ_OTHER STORE5, 64, 0, NULL, 512 + 9, 4 * 8 + 1},
  {"bulk copy", INIT(1) COPY_256("L2") WAIT(0) READ_OWN STORE5, 64, 0, NULL, 512 + 60, 60},
  // Each thread reads its word, and a second copy overwrites it.
  {"bulk copy over what threads read", INIT(1) COPY_256("L2") WAIT(0) READ_OWN "fence.proxy.async.shared::cta; bar.sync 0;" COPY_256("L3") WAIT(1) STORE5, 64, 0, NULL, 512 + 60, 60},
  {"bulk copy over what threads read, without a proxy fence", INIT(1) COPY_256("L2") WAIT(0) READ_OWN "bar.sync 0;" COPY_256("L3") WAIT(1) STORE5, 64, 0,
   "missing proxy fence: the asynchronous proxy overwrites shared+0x400 of CTA 0, which thread 0 of CTA 0 at ptx:* read; that thread executed no fence.proxy.async between its read and the synchronisation with this one", 0, 0},
  {"bulk copy to a misaligned address", INIT(1) "@%p1 bra L2; add.u32 %r1, %s, 8; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1], 256, [%b]; L2:", 32, 0,
   "misaligned access: write of 256 bytes at 0x408 in shared::cluster memory is not aligned to 16", 0, 0},
  {"bulk copy beyond the buffer", INIT(1) "@%p1 bra L2; add.u64 %d2, %d1, 4000; and.b64 %d2, %d2, -16; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%d2], 256, [%b]; L2:", 32, 0,
   "out-of-bounds access: read of 256 bytes at 0x* in global memory: 160 bytes past the end of buf (4096 bytes at 0x*)", 0, 0},
  {"bulk store", "shl.b32 %r1, %t, 2; add.u32 %r2, %s, %r1; add.u32 %r3, %t, 1000; st.shared.u32 [%r2], %r3; fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p1, %t, 0; @%p1 bra L1;"
   "add.u64 %d2, %d1, 1024; cp.async.bulk.global.shared::cta.bulk_group [%d2], [%s], 256; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; L1:", 64, 0, NULL, 256 + 33, 1033},
  {"bulk store of bytes never set", "setp.ne.u32 %p1, %t, 0; @%p1 bra L1; cp.async.bulk.global.shared::cta.bulk_group [%d1], [%s], 256; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; L1:", 32, 0,
   "use of an undefined value: shared+0x400, which has never been set, is copied to global memory at 0x*", 0, 0},
  {"bulk reduction", "shl.b32 %r1, %t, 2; add.u32 %r2, %s, %r1; mov.u32 %r3, 5; st.shared.u32 [%r2], %r3; fence.proxy.async; bar.sync 0; setp.ne.u32 %p1, %t, 0; @%p1 bra L1;"
   "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d1], [%s], 256; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; L1:", 64, 0, NULL, 17, 22},
  {"source of a store overwritten", "shl.b32 %r1, %t, 2; add.u32 %r2, %s, %r1; st.shared.u32 [%r2], %t; fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p1, %t, 0; @%p1 bra L1;"
   "cp.async.bulk.global.shared::cta.bulk_group [%d1], [%s], 128; cp.async.bulk.commit_group; L1: bar.sync 0; st.shared.u32 [%r2], 0; cp.async.bulk.wait_group 0;", 32, 0,
   "asynchronous operation misused: overwrites shared+0x400 of CTA 0, which the bulk copy of ptx:10 of CTA 0 warp 0 reads; no thread has waited for that", 0, 0},
  {"source free after wait_group.read", "shl.b32 %r1, %t, 2; add.u32 %r2, %s, %r1; st.shared.u32 [%r2], %t; fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p1, %t, 0; @%p1 bra L1;"
   "add.u64 %d2, %d1, 1024; cp.async.bulk.global.shared::cta.bulk_group [%d2], [%s], 128; cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; L1: bar.sync 0; st.shared.u32 [%r2], 0;", 32, 0, NULL, 256 + 19, 19},
  // clusters
  {"remote arrival", "mov.u32 %r1, %cluster_ctarank; setp.ne.u32 %p1, %t, 0; @%p1 bra L1; mbarrier.init.shared.b64 [%b], 1; fence.mbarrier_init.release.cluster; L1: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
   "xor.b32 %r2, %r1, 1; mapa.shared::cluster.u32 %r3, %b, %r2; mapa.shared::cluster.u32 %r4, %s, %r2; @%p1 bra L2; st.shared::cluster.u32 [%r4], %r1; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3]; L2:\n"
   "W0: mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p2, [%b], 0; @!%p2 bra W0; ld.shared.u32 %r5, [%s]; mad.wide.u32 %d3, %r1, 4, %d1; st.global.u32 [%d3+2048], %r5;", 32, 2, NULL, 512, 1},
  {"multicast", "mov.u32 %r1, %cluster_ctarank; setp.ne.u32 %p1, %t, 0; @%p1 bra L1; mbarrier.init.shared.b64 [%b], 1; fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared.b64 _, [%b], 128; L1: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
   "setp.ne.u32 %p3, %r1, 0; or.pred %p3, %p3, %p1; @%p3 bra L2; mov.b16 %h1, 3; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%s], [%d1], 128, [%b], %h1; L2:\n" WAIT(0)
   "shl.b32 %r2, %t, 2; add.u32 %r2, %r2, %s; ld.shared.u32 %r5, [%r2]; mad.lo.u32 %r3, %r1, 32, %t; mad.wide.u32 %d3, %r3, 4, %d1; st.global.u32 [%d3+2048], %r5; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;", 32, 2, NULL, 512 + 32 + 21, 21},
  {"remote store that signals", "mov.u32 %r1, %cluster_ctarank; setp.ne.u32 %p1, %t, 0; @%p1 bra L1; mbarrier.init.shared.b64 [%b], 1; fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared.b64 _, [%b], 4; L1: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
   "xor.b32 %r2, %r1, 1; mapa.shared::cluster.u32 %r3, %b, %r2; mapa.shared::cluster.u32 %r4, %s, %r2; add.u32 %r6, %r1, 70; @%p1 bra L2; st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r4], %r6, [%r3]; L2:\n" WAIT(0)
   "ld.shared.u32 %r5, [%s]; mad.wide.u32 %d3, %r1, 4, %d1; st.global.u32 [%d3+2048], %r5; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;", 32, 2, NULL, 513, 70},
  {"peer exits before a remote store", "mov.u32 %r1, %cluster_ctarank; xor.b32 %r2, %r1, 1; mapa.shared::cluster.u32 %r4, %s, %r2; setp.ne.u32 %p1, %r1, 0; @%p1 bra L2; ret; L2: nanosleep.u32 100; W: ld.volatile.global.u32 %r5, [%d1]; add.u32 %r6, %r6, 0;\n"
   "mov.u32 %r7, 0; N: add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, 2000; @%p2 bra N; st.shared::cluster.u32 [%r4], %r1;", 32, 2,
   "out-of-bounds access: write of shared memory of block 0 of the cluster, which has exited", 0, 0},
  {"CTA exits while a remote store may come", "mov.u32 %r1, %cluster_ctarank; setp.ne.u32 %p1, %t, 0; @%p1 bra L1; mbarrier.init.shared.b64 [%b], 1; fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared.b64 _, [%b], 4; L1: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
   "xor.b32 %r2, %r1, 1; mapa.shared::cluster.u32 %r3, %b, %r2; mapa.shared::cluster.u32 %r4, %s, %r2; setp.ne.u32 %p3, %r1, 0; or.pred %p3, %p3, %p1; @%p3 bra L2; st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r4], 7, [%r3]; L2:\n"
   "setp.ne.u32 %p3, %r1, 0; @%p3 bra X; nanosleep.u32 10; X: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;", 32, 2,
   "asynchronous operation misused: *", 0, 0},
  {"CTA exits with a bulk copy on its way", INIT(1) "@%p1 bra L2; mbarrier.arrive.expect_tx.shared.b64 _, [%b], 256; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%d1], 256, [%b]; L2:", 32, 0,
   "asynchronous operation misused: CTA 0 exits while this copy into its shared memory may be in flight: no thread has waited for phase 0 of the mbarrier at shared+0x2400", 0, 0},
  {"CTA exits with cp.async on its way", COPY16 "cp.async.commit_group;", 32, 0,
   "asynchronous operation misused: the CTA exits while this cp.async may still be writing its shared memory: no thread has waited for it", 0, 0},
  // wgmma: a warpgroup, both operands in shared memory that thread 0 to 127 set
#define OPERANDS "mov.u32 %r1, 0; N: mad.lo.u32 %r2, %r1, 512, %s; mad.lo.u32 %r2, %t, 4, %r2; st.shared.u32 [%r2], 0x3c003c00; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 8; @%p1 bra N; fence.proxy.async; bar.sync 0;" \
  "shr.u32 %r3, %s, 4; cvt.u64.u32 %d4, %r3; or.b64 %d4, %d4, 0x1000080000; wgmma.fence.sync.aligned;\n"
#define PRODUCT(scale) "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d4, %d4, " #scale ", 1, 1, 0, 0;\n"
#define COMMIT "wgmma.commit_group.sync.aligned;\n"
#define TAKE(n) "wgmma.wait_group.sync.aligned " #n "; cvt.rzi.u32.f32 %r5, %f1;" STORE5
  // Products of one accumulator are ordered. (ptxas 13.0 merges products that are equal in all operands, descriptors included: three
  // like the first here left 32 on an H200.)
#define OTHERS "add.u64 %d5, %d4, 8; add.u64 %d6, %d4, 16;"
#define PRODUCT_OF(desc, scale) "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, " desc ", %d4, " #scale ", 1, 1, 0, 0;\n"
  {"scale-d 0 does not read the accumulator", OPERANDS OTHERS PRODUCT(0) PRODUCT_OF("%d5", 1) PRODUCT_OF("%d6", 1) COMMIT TAKE(0), 128, 0, NULL, 512 + 77, 48},
  {"products: 0 1", OPERANDS PRODUCT(0) PRODUCT(1) COMMIT TAKE(0), 128, 0, NULL, 512 + 77, 32},
  {"products: 0 1 1 in groups", OPERANDS PRODUCT(0) COMMIT "wgmma.wait_group.sync.aligned 0; wgmma.fence.sync.aligned;" PRODUCT(1) COMMIT "wgmma.wait_group.sync.aligned 0; wgmma.fence.sync.aligned;" PRODUCT(1) COMMIT TAKE(0), 128, 0, NULL, 512 + 77, 48},
  {"accumulator never set", OPERANDS PRODUCT(1) COMMIT TAKE(0), 128, 0,
   "use of an undefined value: a value stored to global memory has never been set (or was computed from a value that has not)", 0, 0},
  {"scale-d by predicate", OPERANDS "setp.eq.u32 %p3, %t, 999;" PRODUCT(%p3) COMMIT TAKE(0), 128, 0, NULL, 512 + 77, 16},
  {"scale-d by a predicate never set", OPERANDS PRODUCT(%p6) COMMIT TAKE(0), 128, 0,
   "use of an undefined value: an operand of this instruction has never been set (or was computed from a value that has not)", 0, 0},
  {"accumulator read before the wait", OPERANDS PRODUCT(0) COMMIT "cvt.rzi.u32.f32 %r5, %f1; wgmma.wait_group.sync.aligned 0;" STORE5, 128, 0,
   "asynchronous operation misused: reads an accumulator register of the wgmma of ptx:11, for which no wgmma.wait_group has waited", 0, 0},
  {"accumulator read with its group still out", OPERANDS PRODUCT(0) COMMIT TAKE(1), 128, 0,
   "asynchronous operation misused: reads an accumulator register of the wgmma of ptx:11, for which no wgmma.wait_group has waited", 0, 0},
  {"accumulator written without wgmma.fence", OPERANDS "mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1;" PRODUCT(1) COMMIT TAKE(0), 128, 0,
   "asynchronous operation misused: accumulator register 0 was written since the last wgmma.fence", 0, 0},
  {"operands overwritten in flight", OPERANDS PRODUCT(0) COMMIT "st.shared.u32 [%s], 0;" TAKE(0), 128, 0,
   "asynchronous operation misused: overwrites shared+0x400 of CTA 0, which the wgmma of ptx:11 of CTA 0 warp 0 reads; no thread has waited for that", 0, 0},
  {"operands written without a proxy fence", OPERANDS "mad.lo.u32 %r2, %t, 4, %s; st.shared.u32 [%r2], 0x40004000; bar.sync 0;" PRODUCT(0) COMMIT TAKE(0), 128, 0,
   "missing proxy fence: the asynchronous proxy reads shared+0x400 of CTA 0, which thread 0 of CTA 0 at ptx:11 wrote; that thread executed no fence.proxy.async between its write and the synchronisation with this one", 0, 0},
  {"another shape on accumulators in flight", OPERANDS PRODUCT(0) "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%r1, %r2}, %d4, %d4, 0, 1, 1, 0, 0; wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, %d4, %d4, 0, 1, 1, 0, 0;" COMMIT TAKE(0), 128, 0,
   "asynchronous operation misused: accumulator register 0 belongs to the wgmma of ptx:11, of another shape or order, which is still in flight", 0, 0},
  {"half a warpgroup", OPERANDS "setp.ge.u32 %p3, %t, 64; @%p3 bra Q;" PRODUCT(0) COMMIT "Q: wgmma.wait_group.sync.aligned 0;", 128, 0,
   "deadlock: no thread can go on", 0, 0},
  // races and definedness
  {"exchange with a barrier", "shl.b32 %r1, %t, 2; add.u32 %r1, %r1, %s; st.shared.u32 [%r1], %t; bar.sync 0; xor.b32 %r2, %t, 33; shl.b32 %r2, %r2, 2; add.u32 %r2, %r2, %s; ld.shared.u32 %r5, [%r2];" STORE5, 64, 0, NULL, 512 + 2, 35},
  {"exchange without a barrier", "shl.b32 %r1, %t, 2; add.u32 %r1, %r1, %s; st.shared.u32 [%r1], %t; xor.b32 %r2, %t, 32; shl.b32 %r2, %r2, 2; add.u32 %r2, %r2, %s; bar.warp.sync -1; ld.shared.u32 %r5, [%r2];", 64, 0,
   "race: *s shared+0x* of CTA 0, which thread * of CTA 0 at ptx:10 *s without a barrier in between", 0, 0},
  {"exchange in a warp without bar.warp.sync", "shl.b32 %r1, %t, 2; add.u32 %r1, %r1, %s; st.shared.u32 [%r1], %t; xor.b32 %r2, %t, 1; shl.b32 %r2, %r2, 2; add.u32 %r2, %r2, %s; ld.shared.u32 %r5, [%r2];", 32, 0,
   "race: reads shared+0x404 of CTA 0, which thread 1 of CTA 0 at ptx:10 writes without a barrier in between", 0, 0},
  {"exchange in a warp", "shl.b32 %r1, %t, 2; add.u32 %r1, %r1, %s; st.shared.u32 [%r1], %t; bar.warp.sync -1; xor.b32 %r2, %t, 1; shl.b32 %r2, %r2, 2; add.u32 %r2, %r2, %s; ld.shared.u32 %r5, [%r2];" STORE5, 32, 0, NULL, 512 + 4, 5},
  {"overwrite what others read", "shl.b32 %r1, %t, 2; add.u32 %r1, %r1, %s; st.shared.u32 [%r1], %t; bar.sync 0; xor.b32 %r2, %t, 33; shl.b32 %r2, %r2, 2; add.u32 %r2, %r2, %s; ld.shared.u32 %r5, [%r2]; st.shared.u32 [%r1], 0;", 64, 0,
   "race: *s shared+0x* of CTA 0, which thread * of CTA 0 at ptx:10 *s without a barrier in between", 0, 0},
  {"neighbouring bytes are no race", "add.u32 %r1, %t, %s; st.shared.u8 [%r1], %t; bar.sync 0; ld.shared.u8 %r5, [%r1];" STORE5, 64, 0, NULL, 512 + 5, 5},
  {"one byte too far is", "add.u32 %r1, %t, %s; st.shared.u8 [%r1], %t; ld.shared.u8 %r5, [%r1+1];", 64, 0,
   "race: reads shared+0x* of CTA 0, which thread * of CTA 0 at ptx:10 writes without a barrier in between", 0, 0},
  {"named barriers order their threads", "setp.lt.u32 %p1, %t, 32; @%p1 bra L1; st.shared.u32 [%s], 77; bar.arrive 1, 64; bra L2; L1: bar.sync 1, 64; ld.shared.u32 %r5, [%s]; st.global.u32 [%d1+2048], %r5; L2:", 64, 0, NULL, 512, 77},
  {"atomics do not race", "atom.shared.add.u32 %r5, [%s+64], 0; setp.ne.u32 %p1, %t, 0; @%p1 bra L1; L1:", 64, 0, NULL, 1, 1},
  {"shared memory never set decides a branch", "ld.shared.u32 %r1, [%s]; setp.eq.u32 %p1, %r1, 0; @%p1 bra L1; L1:", 32, 0,
   "use of an undefined value: the condition of this branch has never been set (or was computed from a value that has not)", 0, 0},
  {"register never set is an address", "ld.shared.u32 %r5, [%r30];", 32, 0,
   "use of an undefined value: the address has never been set (or was computed from a value that has not)", 0, 0},
  {"register never set is stored", "mov.b32 %r5, %r31; add.u32 %r5, %r5, 1;" STORE5, 32, 0,
   "use of an undefined value: a value stored to global memory has never been set (or was computed from a value that has not)", 0, 0},
  {"undefined bits masked away", "and.b32 %r5, %r31, 0; or.b32 %r5, %r5, 9;" STORE5, 32, 0, NULL, 513, 9},
  {"undefined bits inserted over", "mov.b32 %r5, 9; bfi.b32 %r5, %r5, %r31, 0, 16; bfi.b32 %r5, 0, %r5, 16, 16;" STORE5, 32, 0, NULL, 513, 9},
  {"undefined bits inserted", "mov.b32 %r5, 9; bfi.b32 %r5, %r31, %r5, 31, 8;" STORE5, 32, 0,
   "use of an undefined value: a value stored to global memory has never been set (or was computed from a value that has not)", 0, 0},
  {"defined bits extracted", "shl.b32 %r5, %r31, 8; or.b32 %r5, %r5, 0; bfe.u32 %r5, %r5, 0, 8; or.b32 %r5, %r5, 9;" STORE5, 32, 0, NULL, 513, 9},
  {"undefined half not used", "ld.shared.u16 %h1, [%s+2]; st.shared.u16 [%s], 7; bar.warp.sync -1; ld.shared.u32 %r5, [%s]; and.b32 %r5, %r5, 65535;" STORE5, 32, 0, NULL, 513, 7},
#define LOWER_ONE "and.b32 %r5, %r31, 0xffff0000; or.b32 %r5, %r5, 0x3c00; add.rn.f16x2 %r5, %r5, %r5;"
  {"undefined half of a pair", LOWER_ONE "and.b32 %r5, %r5, 65535;" STORE5, 32, 0, NULL, 513, 0x4000},
  {"undefined half of a pair is stored", LOWER_ONE "shr.u32 %r5, %r5, 16;" STORE5, 32, 0,
   "use of an undefined value: a value stored to global memory has never been set (or was computed from a value that has not)", 0, 0},
  {"local memory never set is stored", ".local .align 8 .b8 st[64]; st.local.u32 [st], 5; ld.local.u32 %r5, [st+4];" STORE5, 32, 0,
   "use of an undefined value: a value stored to global memory has never been set (or was computed from a value that has not)", 0, 0},
  {"local memory set byte by byte", ".local .align 8 .b8 st[64]; st.local.u16 [st], 5; st.local.u8 [st+2], 1; ld.local.u32 %r5, [st]; and.b32 %r5, %r5, 0xffffff; st.local.u8 [st+3], %r31; ld.local.u16 %r6, [st+2]; and.b32 %r6, %r6, 255; add.u32 %r5, %r5, %r6;" STORE5, 32, 0, NULL, 513, 65536 + 5 + 1},
  {"local memory keeps what is not defined", ".local .align 8 .b8 st[64]; st.local.u32 [st], %r31; ld.local.u32 %r5, [st]; setp.eq.u32 %p1, %r5, 0; @%p1 bra L1; L1:", 32, 0,
   "use of an undefined value: the condition of this branch has never been set (or was computed from a value that has not)", 0, 0},
  // mbarriers
  {"arrivals beyond the count", INIT(1) "@%p1 bra L2; mbarrier.arrive.shared.b64 _, [%b], 2; L2:", 32, 0,
   "mbarrier misused: mbarrier at shared+0x2400 of CTA 0: more arrivals than the phase still expects", 0, 0},
  {"mbarrier not initialised", "mbarrier.arrive.shared.b64 _, [%b];", 1, 0,
   "mbarrier misused: mbarrier at shared+0x2400 of CTA 0: there is no initialised mbarrier at this address", 0, 0},
  {"mbarrier overwritten", INIT(32) "@%p1 bra L2; st.shared.u64 [%b], 0; L2:", 32, 0,
   "mbarrier misused: an ordinary access overwrites shared+0x2400 of CTA 0, which is a live mbarrier", 0, 0},
  {"phase that never comes", INIT(33) "mbarrier.arrive.shared.b64 _, [%b];" WAIT(0), 32, 0,
   "deadlock: no thread can go on", 0, 0},
  {"wait by token", INIT(32) "mbarrier.arrive.shared.b64 %d4, [%b]; W: mbarrier.test_wait.shared.b64 %p2, [%b], %d4; @!%p2 bra W; mbarrier.pending_count.b64 %r6, %d4; setp.gt.u32 %p3, %r6, 0; selp.u32 %r5, 3, 4, %p3;" STORE5, 32, 0, NULL, 514, 3},
};

TEST(test_cases) {
  run_cases(cases, countof(cases));
}

// Memory as cuMemAlloc gives it: undefined until the host or the kernel writes it.
TEST(test_fresh_memory) {
  if (host_on_gpu()) skip();
  Sim sim;
  sim_init(&sim);
  Device *dev = &sim.devices[0];
  uint64_t buffer = device_alloc(dev, BUFFER, 512, ALLOC_DEVICE);
  undef_track_memory(dev, buffer);
  static const char *const bodies[] = {
    "ld.global.u32 %r5, [%d1+64]; st.global.u32 [%d1], %r5;",
    "cp.async.ca.shared.global [%s], [%d1+64], 4; cp.async.wait_all; ld.shared.u32 %r5, [%s]; st.global.u32 [%d1], %r5;",
    "red.global.add.u32 [%d1+64], 1;",
    "st.global.u32 [%d1+64], 5; ld.global.u32 %r5, [%d1+64]; st.global.u32 [%d1], %r5;",
  };
  for (int i = 0; i < 4; i++)
    for (int defined = 0; defined < 2; defined++) {
      char *text = case_text("", "", bodies[i]);
      PtxModule *m = ptx_module_load(dev, text, strlen(text));
      assert_null(m->error);
      free(text);
      if (defined) undef_memory_copied(dev, buffer, 0, BUFFER);
      LaunchParams lp = {.func = ptx_module_find(m, "k"), .grid = {1, 1, 1}, .block = {1, 1, 1}, .cluster = {1, 1, 1}, .params = (const uint8_t *)&buffer};
      CUresult rc = grid_run(&sim, dev, &lp);
      if ((rc == CUDA_SUCCESS) != (defined || i == 3)) fail_msg("body %d, memory %sdefined: %s", i, defined ? "" : "not ", rc ? sim.report : "no report");
      if (rc) assert_int_equal(sim.report_kind, REPORT_UNDEFINED);
      if (rc && i == 2) assert_non_null(strstr(sim.report, ", which this atomic operation changes, has never been set"));
      ptx_module_free(m);
      device_free(dev, buffer);
      buffer = device_alloc(dev, BUFFER, 512, ALLOC_DEVICE);
      undef_track_memory(dev, buffer);
    }
  sim_free(&sim);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_fresh_memory)};
  return cmocka_run_group_tests(tests, case_setup, NULL);
}
