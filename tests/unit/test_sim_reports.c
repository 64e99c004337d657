// Each report of the simulator that the other tests have no reason to provoke, by the smallest kernel that earns it.
#include "tests/unit/sim_case.h"

#define ONE(...) "@%p1 bra L2; " __VA_ARGS__ " L2:\n"
#define BULK(dst, src, bytes) "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [" dst "], [" src "], " bytes ", [%b];"

static const Case plain[] = {
  // cp.async and bulk copies
  {"cp.async of more than it copies", "cp.async.ca.shared.global [%s], [%d1], 4, 5;", 32, 0, "invalid operation: src-size 5 is larger than cp-size 4", 0, 0},
  {"cp.async arrives in global memory", "cp.async.mbarrier.arrive.noinc.b64 [%d1];", 32, 0, "mbarrier misused: an mbarrier lies in shared memory; this address does not", 0, 0},
  {"arrival in global memory", "mbarrier.arrive.b64 _, [%d1];", 32, 0, "mbarrier misused: an mbarrier lies in shared memory; this address does not", 0, 0},
  {"bulk copy of 8 bytes", INIT(1) ONE(BULK("%s", "%d1", "8")), 32, 0, "misaligned access: a bulk copy of 8 bytes: the size must be a multiple of 16", 0, 0},
  {"more bytes than an mbarrier counts", INIT(1) ONE("mbarrier.complete_tx.relaxed.cta.shared.b64 [%b], 1048575;" BULK("%s", "%d1", "256")) WAIT(0), 32, 0,
   "mbarrier misused: completing 256 bytes on the mbarrier at shared+0x2400 of CTA 0: the transaction count leaves its range of 1048575 bytes", 0, 0},
  {"multicast to none", INIT(1) ONE("mov.b16 %h1, 0; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%s], [%d1], 128, [%b], %h1;"), 32, 0,
   "asynchronous operation misused: multicast mask 0x0 in a cluster of 1 CTAs", 0, 0},
  {"multicast beyond the cluster", INIT(1) ONE("mov.b16 %h1, 2; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%s], [%d1], 128, [%b], %h1;"), 32, 0,
   "asynchronous operation misused: multicast mask 0x2 in a cluster of 1 CTAs", 0, 0},
  {"bulk copy over an mbarrier", INIT(1) ONE("mbarrier.arrive.expect_tx.shared.b64 _, [%b], 16;" BULK("%b", "%d1", "16")) WAIT(0), 32, 0,
   "mbarrier misused: an asynchronous operation overwrites shared+0x2400 of CTA 0, which is a live mbarrier", 0, 0},
  {"bulk store not waited for", "shl.b32 %r1, %t, 2; add.u32 %r2, %s, %r1; st.shared.u32 [%r2], %t; fence.proxy.async; bar.warp.sync -1; setp.ne.u32 %p1, %t, 0;" ONE("cp.async.bulk.global.shared::cta.bulk_group [%d1], [%s], 128; cp.async.bulk.commit_group;"), 32, 0,
   "asynchronous operation misused: the CTA exits while this bulk copy may still be reading its shared memory: no cp.async.bulk.wait_group covers it", 0, 0},
  // mbarriers
  {"mbarrier initialised twice", INIT(1) ONE("mbarrier.init.shared.b64 [%b], 1;"), 32, 0, "mbarrier misused: mbarrier.init of the live mbarrier at shared+0x2400", 0, 0},
  {"mbarrier used before a barrier", "setp.ne.u32 %p1, %t, 0; @%p1 bra L1; mbarrier.init.shared.b64 [%b], 32; L1: mbarrier.arrive.shared.b64 _, [%b];", 32, 0,
   "race: uses the mbarrier at shared+0x2400 of CTA 0, which ptx:10 initialises, without a barrier in between", 0, 0},
  {"mbarrier not fenced for the asynchronous proxy", "setp.ne.u32 %p1, %t, 0; @%p1 bra L1; mbarrier.init.shared.b64 [%b], 1; L1: bar.sync 0;" ONE(BULK("%s", "%d1", "256")), 32, 0,
   "missing proxy fence: the asynchronous proxy will use the mbarrier at shared+0x2400 of CTA 0, but no fence.mbarrier_init or fence.proxy.async followed its initialisation (ptx:10)", 0, 0},
  // barriers
  {"barriers by thread", "and.b32 %r1, %t, 1; barrier.sync %r1;", 32, 0, "divergent barrier: the threads of a warp name different barriers (0, 1)", 0, 0},
  {"barrier for more than the block", "bar.sync 0, 64;", 32, 0, "invalid operation: barrier 0 expects 64 threads, the block has 32", 0, 0},
  {"barrier for fewer than arrive", "and.b32 %r1, %t, 31; setp.ge.u32 %p1, %r1, 24; @%p1 bra L1; barrier.arrive 1, 64; L1:", 96, 0, "divergent barrier: 72 threads arrive at barrier 1, which expects 64", 0, 0},
  {"cluster barrier entered twice", "setp.ne.u32 %p1, %t, 0;" ONE("barrier.cluster.arrive; barrier.cluster.arrive;") "bar.warp.sync -1; barrier.cluster.arrive; barrier.cluster.wait;", 32, 0,
   "divergent barrier: second barrier.cluster.arrive without a wait in between", 0, 0},
  {"cluster barrier not entered", "barrier.cluster.wait;", 32, 0, "divergent barrier: barrier.cluster.wait without an arrive before it", 0, 0},
  // addresses
  {"nothing near", "mov.u64 %d2, 0x7ffffffffffff000; ld.global.u32 %r5, [%d2];", 32, 0, "out-of-bounds access: read of 4 bytes at 0x7ffffffffffff000 in global memory: nothing is allocated there", 0, 0},
  {"before the buffer", "red.global.add.u32 [%d1+-4], 1;", 32, 0, "out-of-bounds access: atomic of 4 bytes at 0x* in global memory: 4 bytes before buf (4096 bytes at 0x*)", 0, 0},
  {"shared memory of no block", "add.u32 %r1, %s, 0x1000000; ld.shared::cluster.u32 %r5, [%r1];", 32, 0, "out-of-bounds access: read of 4 bytes at 0x1000400 in shared memory: no such block in the cluster", 0, 0},
  {"parameter written", "mov.b64 %d2, buf; st.global.u32 [%d2], %t;", 32, 0, "out-of-bounds access: write at 0x*: parameter memory cannot be written", 0, 0},
  {"mapa beyond the cluster", "mapa.shared::cluster.u32 %r1, %s, 3;", 32, 0, "invalid operation: mapa to block 3 of a cluster of 1", 0, 0},
  {"mapa of a global address", "mapa.u64 %d2, %d1, 0;", 32, 0, "invalid operation: mapa of 0x*, which is not a shared address", 0, 0},
  // warps that are not whole
  {"ldmatrix with a thread gone", "st.shared.u32 [%s], 0; setp.eq.u32 %p1, %t, 31; @%p1 ret; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%s];", 32, 0, "divergent barrier: ldmatrix needs all 32 threads of the warp", 0, 0},
  {"stmatrix in a block of 8 threads", "mov.b32 %r1, 0; stmatrix.sync.aligned.m8n8.x4.shared.b16 [%s], {%r1, %r1, %r1, %r1};", 8, 0, "divergent barrier: stmatrix needs all 32 threads of the warp", 0, 0},
  {"movmatrix with a thread gone", "mov.b32 %r1, 0; setp.eq.u32 %p1, %t, 0; @%p1 ret; movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r1;", 32, 0, "divergent barrier: movmatrix needs all 32 threads of the warp", 0, 0},
  {"mma with a thread gone", "mov.b32 %r1, 0; setp.eq.u32 %p1, %t, 0; @%p1 ret; mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r1,%r1,%r1,%r1}, {%r1,%r1}, {%r1}, {%r1,%r1,%r1,%r1};", 32, 0, "divergent barrier: mma needs all 32 threads of the warp", 0, 0},
  {"phase that expect_tx completes", INIT(1) ONE("st.shared.u32 [%s], 77; mbarrier.complete_tx.relaxed.cta.shared.b64 [%b], 16; mbarrier.arrive.shared.b64 _, [%b]; mbarrier.expect_tx.relaxed.cta.shared.b64 [%b], 16;") WAIT(0) "setp.lt.u32 %p3, %t, 32; @%p3 bra E; ld.shared.u32 %r5, [%s];" STORE5 "E:", 64, 0, NULL, 512 + 40, 77},
  {"mbarrier between threads of a warp", INIT(1) ONE("st.shared.u32 [%s], 77; mbarrier.arrive.shared.b64 _, [%b];") WAIT(0) "ld.shared.u32 %r5, [%s];" STORE5, 32, 0, NULL, 512 + 4, 77},
  {"mbarrier between all threads of a warp", INIT(32) "shl.b32 %r1, %t, 2; add.u32 %r1, %r1, %s; st.shared.u32 [%r1], %t; mbarrier.arrive.shared.b64 _, [%b];" WAIT(0) "xor.b32 %r2, %t, 3; shl.b32 %r2, %r2, 2; add.u32 %r2, %r2, %s; ld.shared.u32 %r5, [%r2];" STORE5, 32, 0, NULL, 512 + 4, 7},
  {"write after the arrival", INIT(1) ONE("mbarrier.arrive.shared.b64 _, [%b]; st.shared.u32 [%s], 77;") WAIT(0) "ld.shared.u32 %r5, [%s];" STORE5, 32, 0, "race: reads shared+0x400 of CTA 0, which thread 0 of CTA 0 at ptx:11 writes without a barrier in between", 0, 0},
  {"write of a thread that does not arrive", INIT(1) "setp.eq.u32 %p3, %t, 5; @%p3 st.shared.u32 [%s], 77;" ONE("mbarrier.arrive.shared.b64 _, [%b];") WAIT(0) "ld.shared.u32 %r5, [%s];" STORE5, 32, 0, "race: reads shared+0x400 of CTA 0, which thread 5 of CTA 0 at ptx:11 writes without a barrier in between", 0, 0},
  {"matrix in global memory", "ldmatrix.sync.aligned.m8n8.x1.b16 {%r5}, [%d1];", 32, 0, "out-of-bounds access: a matrix lies in shared memory; this address does not", 0, 0},
  // registers of 128 bits
  {"128 bits from two halves", ".reg .b128 %q<3>; mov.u64 %d2, 7; mov.u64 %d3, 8; mov.b128 %q1, {%d2, %d3}; mov.b128 %q2, %q1; st.global.b128 [%d1+64], %q2;", 1, 0, NULL, 18, 8},
  {"upper half never set", ".reg .b128 %q<3>; mov.u64 %d2, 7; mov.b128 %q1, {%d2, %d3}; mov.b128 {%d4, %d5}, %q1; st.global.b64 [%d1+64], %d5;", 1, 0, "use of an undefined value: a value stored to global memory has never been set", 0, 0},
  {"lower half never set", ".reg .b128 %q<3>; mov.u64 %d2, 7; mov.b128 %q1, {%d3, %d2}; mov.b128 {%d4, %d5}, %q1; st.global.b64 [%d1+64], %d5;", 1, 0, NULL, 16, 7},
  // integer division by zero
  {"quotient by zero", "xor.b32 %r1, %t, 3; div.u32 %r5, 7, %r1;" STORE5, 32, 0, "use of an undefined value: a value stored to global memory has never been set", 0, 0},
  {"remainder by zero as an address", "and.b32 %r1, %t, 3; rem.s32 %r2, 7, %r1; mul.wide.s32 %d2, %r2, 4; add.u64 %d2, %d1, %d2; ld.global.u32 %r5, [%d2];", 32, 0, "use of an undefined value: the address has never been set", 0, 0},
  {"remainder by zero as a condition", "cvt.s64.s32 %d2, %t; rem.s64 %d3, 7, %d2; setp.gt.s64 %p3, %d3, 2; @%p3 mov.u32 %r5, 1;", 32, 0, "use of an undefined value: the guard predicate has never been set", 0, 0},
  {"quotient by zero selected away", "div.u32 %r5, 7, %t; setp.eq.u32 %p3, %t, 0; selp.b32 %r5, 9, %r5, %p3;" STORE5, 32, 0, NULL, 512, 9},
  {"quotient by zero masked", "div.u32 %r5, 7, %t; setp.eq.u32 %p3, %t, 0; @%p3 mov.u32 %r5, 9;" STORE5, 32, 0, NULL, 512 + 2, 3},
  {"upper half of a widened quotient by zero", "div.u32 %r5, 7, %t; cvt.u64.u32 %d2, %r5; shr.u64 %d2, %d2, 32; cvt.u32.u64 %r5, %d2;" STORE5, 32, 0, NULL, 512, 0},
  {"sign of a widened quotient by zero", "div.s32 %r5, 7, %t; cvt.s64.s32 %d2, %r5; shr.u64 %d2, %d2, 32; cvt.u32.u64 %r5, %d2;" STORE5, 32, 0, "use of an undefined value: a value stored to global memory has never been set", 0, 0},
  // others
  {"trap", "trap;", 32, 0, "trap: the kernel executed trap", 0, 0},
  {"call of a number", "call %d1, (), proto;", 32, 0, "invalid operation: call of 0x*, which is not a function", 0, 0},
  {"guard never set", "@%p6 mov.u32 %r5, 1;", 32, 0, "use of an undefined value: the guard predicate has never been set (or was computed from a value that has not)", 0, 0},
};

// Calls; all functions are declared before each of them.
static const char *const functions =
  ".extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 args);\n.extern .func free(.param .b64 p);\n.extern .func (.param .b64 r) malloc(.param .b64 n);\n"
  ".extern .func nothing();\n.func takes(.param .b32 x) { ret; }\n.func (.param .b32 r) gives() { .reg .b32 %q; mov.u32 %q, 1; st.param.b32 [r], %q; ret; }\n"
  ".global .align 1 .b8 long_spec[128] = {37, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48,\n"
  "48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 49, 100, 10, 0};\n"
  ".global .align 16 .b128 wide = 5;\n.global .align 1 .b8 stars[9] = {37, 42, 42, 46, 42, 42, 100, 10, 0};\n";
#define PRINT(format) "{ .param .b64 f; .param .b64 a; .param .b32 r; .local .align 8 .b8 v[64]; mov.u32 %r1, 3; st.local.u32 [v], %r1; st.local.u32 [v+4], %r1; st.local.u32 [v+8], %r1;" \
  "mov.u64 %d2, " format "; cvta.global.u64 %d2, %d2; mov.u64 %d3, v; cvta.local.u64 %d3, %d3; st.param.b64 [f], %d2; st.param.b64 [a], %d3; call (r), vprintf, (f, a); }"
static const Case calls[] = {
  {"printf without its arguments", "call vprintf;", 1, 0, "invalid operation: call of vprintf does not fit its parameters", 0, 0},
  {"call of a function that is not there", "call nothing;", 1, 0, "invalid operation: call of nothing, which is declared but not defined", 0, 0},
  {"call without its argument", "call takes;", 1, 0, "invalid operation: call of takes does not fit its parameters", 0, 0},
  {"call with a register for a parameter", "call takes, (%t);", 1, 0, "invalid operation: argument 1 of takes does not fit", 0, 0},
  {"call with a register for the result", "call (%r1), gives;", 1, 0, "invalid operation: result of gives does not fit", 0, 0},
  {"free of the host's memory", "{ .param .b64 p; st.param.b64 [p], %d1; call free, (p); }", 1, 0, "invalid operation: free of 0x*, which malloc of a kernel did not return or which is freed already", 0, 0},
  {"free of the parameters", "{ .param .b64 p; mov.b64 %d2, buf; st.param.b64 [p], %d2; call free, (p); }", 1, 0, "invalid operation: free of 0x*, which malloc of a kernel did not return or which is freed already", 0, 0},
  {"free of what malloc gave", "{ .param .b64 p; .param .b64 q; mov.u64 %d2, 16; st.param.b64 [p], %d2; call (q), malloc, (p); ld.param.b64 %d3, [q]; st.param.b64 [p], %d3; call free, (p); }", 1, 0, NULL, 5, 5},
  {"upper half of 128 bits", "ld.global.u64 %d2, [wide+8]; st.global.u64 [%d1+16], %d2;", 1, 0, NULL, 4, 0},
  {"printf with a conversion of a hundred characters", PRINT("long_spec"), 1, 0, NULL, 5, 5},
  {"printf with four widths", PRINT("stars"), 1, 0, NULL, 5, 5},
};

static const Case clusters[] = {
#define PEER "mov.u32 %r1, %cluster_ctarank; xor.b32 %r2, %r1, 1; mapa.shared::cluster.u32 %r3, %b, %r2; mapa.shared::cluster.u32 %r4, %s, %r2;"
#define INIT_BOTH "setp.ne.u32 %p1, %t, 0; @%p1 bra L1; mbarrier.init.shared.b64 [%b], 1; fence.mbarrier_init.release.cluster; L1: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
#define END "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
  {"copy here that signals there", PEER INIT_BOTH ONE("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%d1], 128, [%r3];") END, 32, 2, "asynchronous operation misused: the mbarrier is in another CTA than the destination", 0, 0},
  {"state of a remote arrival", PEER INIT_BOTH ONE("mbarrier.arrive.shared::cluster.b64 %d4, [%r3];") END, 32, 2, "mbarrier misused: an arrival on another CTA's mbarrier returns no state", 0, 0},
  {"remote wait", PEER INIT_BOTH ONE("mbarrier.test_wait.parity.shared::cluster.b64 %p2, [%r3], 0;") END, 32, 2, "mbarrier misused: a wait on another CTA's mbarrier does not exist", 0, 0},
  {"remote address in .shared::cta", PEER "ld.shared.u32 %r5, [%r4];" END, 32, 2, "out-of-bounds access: read at 0x*: the address belongs to block * of the cluster, the access is .shared::cta", 0, 0},
};

// Tensor maps: 16 by 16 words, box 8 by 4, of the type numbered `type`.
#define MAP(type, interleave) MAP_BEGIN MAP_SET(global_address, b64, "%d1") MAP_SET(rank, b32, "1") MAP_DIM(0, 16, 8, 1) MAP_DIM(1, 16, 4, 1) MAP_STRIDE(0, 64) \
  MAP_SET(elemtype, b32, type) MAP_SET(interleave_layout, b32, interleave) MAP_SET(swizzle_mode, b32, "0") MAP_SET(fill_mode, b32, "0") MAP_PUBLISH MAP_ACQUIRE
#define PREFETCH(nd, coords) ONE("cp.async.bulk.prefetch.tensor." nd ".L2.global.tile [%d8, {" coords "}];")
#define STAGE "shl.b32 %r1, %t, 2; add.u32 %r2, %s, %r1; st.shared.u32 [%r2], 700; fence.proxy.async; bar.sync 0;"
static const Case maps[] = {
  {"no map", "add.u64 %d8, %d1, 3072; setp.ne.u32 %p1, %t, 0;" PREFETCH("2d", "0, 0"), 32, 0, "asynchronous operation misused: there is no valid tensor map at 0x*", 0, 0},
  {"map of another rank", MAP("2", "0") PREFETCH("3d", "0, 0, 0"), 32, 0, "asynchronous operation misused: the instruction is 3d and the tensor map has 2 dimensions", 0, 0},
  {"interleaved map", MAP_BEGIN MAP_SET(global_address, b64, "%d1") MAP_SET(rank, b32, "2") MAP_DIM(0, 4, 4, 1) MAP_DIM(1, 4, 4, 1) MAP_DIM(2, 4, 2, 1) MAP_STRIDE(0, 64) MAP_STRIDE(1, 256)
   MAP_SET(elemtype, b32, "2") MAP_SET(interleave_layout, b32, "1") MAP_SET(swizzle_mode, b32, "0") MAP_SET(fill_mode, b32, "0") MAP_PUBLISH MAP_ACQUIRE PREFETCH("3d", "0, 0, 0"), 32, 0,
   "asynchronous operation misused: interleaved tensor maps are not simulated", 0, 0},
  {"box that begins within 16 bytes", MAP("2", "0") PREFETCH("2d", "1, 0"), 32, 0, "misaligned access: the tensor copy begins at element 1 of the innermost axis, which is not a multiple of 16 bytes", 0, 0},
  {"store that begins below 0", MAP("2", "0") STAGE ONE("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d8, {0, -1}], [%s];"), 32, 0,
   "asynchronous operation misused: a tensor store cannot begin below 0: coordinate 1 is -1", 0, 0},
  {"bits of a float", MAP("7", "0") STAGE ONE("cp.reduce.async.bulk.tensor.2d.global.shared::cta.and.bulk_group [%d8, {0, 0}], [%s];"), 32, 0,
   "asynchronous operation misused: this reduction does not exist for the tensor map's data type", 0, 0},
  {"fence of a map in shared memory", "cvta.shared.u64 %d2, %d1; cvt.u64.u32 %d2, %s; cvta.shared.u64 %d2, %d2; fence.proxy.tensormap::generic.acquire.gpu [%d2], 128;", 32, 0,
   "asynchronous operation misused: the tensor map of this fence must lie in global memory", 0, 0},
  {"one map to many places", MAP_BEGIN "bar.sync 0; mad.wide.u32 %d8, %t, 128, %d1; tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d8], [%r20], 128;", 32, 0,
   "invalid operation: the addresses of tensormap.cp_fenceproxy differ between the threads of a warp", 0, 0},
  {"words that are no map published", MAP_BEGIN "bar.sync 0; add.u32 %r21, %r20, 8; @!%p1 st.shared.u32 [%r21], 5; bar.sync 0; tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d8], [%r20], 128;", 32, 0,
   "asynchronous operation misused: there is no tensor map here to copy", 0, 0},
};

// wgmma: both operands are ones in shared memory, %d4 the descriptor, A in registers %r10 to %r13.
#define OPERANDS "mov.u32 %r1, 0; N: mad.lo.u32 %r2, %r1, 512, %s; mad.lo.u32 %r2, %t, 4, %r2; st.shared.u32 [%r2], 0x3c003c00; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 8; @%p1 bra N; fence.proxy.async; bar.sync 0;" \
  "shr.u32 %r3, %s, 4; cvt.u64.u32 %d4, %r3; or.b64 %d4, %d4, 0x1000080000; mov.u32 %r10, 0x3c003c00; mov.u32 %r11, %r10; mov.u32 %r12, %r10; mov.u32 %r13, %r10; setp.ge.u32 %p5, %t, 32; setp.eq.u32 %p4, %t, 5; mov.u64 %d5, %d4; wgmma.fence.sync.aligned;\n"
#define PRODUCT(d, a, scale) "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {" d "}, " a ", %d4, " scale ", 1, 1"
#define SS(d, a, scale) PRODUCT(d, a, scale) ", 0, 0;\n"
#define RS(d) PRODUCT(d, "{%r10, %r11, %r12, %r13}", "0") ", 0;\n"
#define DONE "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"
static const Case products[] = {
  {"product not waited for", OPERANDS SS("%r14, %r15", "%d4", "0") "wgmma.commit_group.sync.aligned;", 128, 0, "asynchronous operation misused: the CTA exits while this wgmma may still be in flight: no wgmma.wait_group covers it", 0, 0},
  {"product of three warps", OPERANDS SS("%r14, %r15", "%d4", "0") DONE, 96, 0, "divergent barrier: wgmma needs the 128 threads of a warpgroup", 0, 0},
  {"products of different lines", OPERANDS "@%p5 bra Q;" SS("%r14, %r15", "%d4", "0") "bra R; Q:" SS("%r14, %r15", "%d4", "0") "R:" DONE, 128, 0, "divergent barrier: the warps of a warpgroup execute different wgmma: ptx:1* and ptx:1*", 0, 0},
  {"descriptor by thread", OPERANDS "@%p4 add.u64 %d5, %d5, 8;" SS("%r14, %r15", "%d5", "0") DONE, 128, 0, "invalid operation: a wgmma descriptor differs between the threads of a warp", 0, 0},
  {"descriptor by warp", OPERANDS "@%p5 add.u64 %d5, %d5, 8;" SS("%r14, %r15", "%d5", "0") DONE, 128, 0, "invalid operation: the warps of a warpgroup give wgmma different descriptors or scale-d", 0, 0},
  {"descriptor with wrong bits", OPERANDS "or.b64 %d5, %d5, 0xc000;" SS("%r14, %r15", "%d5", "0") DONE, 128, 0, "invalid operation: wgmma descriptor: bits that must be zero are set", 0, 0},
  {"descriptor beyond shared memory", OPERANDS "or.b64 %d5, %d5, 0x3000;" SS("%r14, %r15", "%d5", "0") DONE, 128, 0, "out-of-bounds access: wgmma reads shared memory at 0x*, outside the CTA's 8256 bytes", 0, 0},
  {"scale-d by thread", OPERANDS SS("%r14, %r15", "%d4", "%p4") DONE, 128, 0, "invalid operation: scale-d differs between the threads of a warp", 0, 0},
  {"accumulator among A", OPERANDS RS("%r14, %r15") SS("%r10, %r16", "%d4", "0") DONE, 128, 0, "asynchronous operation misused: accumulator register 0 is an A operand of a wgmma still in flight", 0, 0},
  {"A among accumulators", OPERANDS SS("%r10, %r16", "%d4", "0") RS("%r14, %r15") DONE, 128, 0, "asynchronous operation misused: A register 0 is the accumulator of a wgmma still in flight", 0, 0},
  {"A written after the fence", OPERANDS "mov.u32 %r11, 0;" RS("%r14, %r15") DONE, 128, 0, "asynchronous operation misused: A register 1 was written since the last wgmma.fence", 0, 0},
  {"A written in flight", OPERANDS RS("%r14, %r15") "mov.u32 %r11, 0;" DONE, 128, 0, "asynchronous operation misused: overwrites an A register of the wgmma of ptx:11, for which no wgmma.wait_group has waited", 0, 0},
};

// Global memory within a cluster. Thread t has word t, and t + 32 times its block's rank in a cluster; a word that
// another warp has is %d3's.
#define WORDS_OF(mine) "mov.u32 %r6, %cluster_ctarank; shl.b32 %r6, %r6, 5; add.u32 %r6, %r6, %t; xor.b32 %r7, %r6, 32; mul.wide.u32 %d2, " mine ", 4; add.u64 %d2, %d1, %d2; mul.wide.u32 %d3, %r7, 4; add.u64 %d3, %d1, %d3; add.u32 %r5, %r6, 7;"
#define PUT "st.global.u32 [%d2], %r5;"
#define GET "ld.global.u32 %r5, [%d3];"
#define WARP0 "setp.lt.u32 %p2, %t, 32; "
#define RACE(mine, theirs, way_out) "race: " mine " global memory at 0x*, which warp * of block (*,0,0) " theirs ", without a barrier in between: " way_out " orders the two"
#define RACE_IN_BLOCK RACE("*", "*", "tl.debug_barrier()")
#define FLAG(before, after) WORDS_OF("%r6") WARP0 "@!%p2 bra W;" before "fence.acq_rel.gpu; bar.warp.sync -1; setp.eq.u32 %p3, %t, 0; @%p3 atom.global.exch.b32 %r8, [%d1+2400], 1;" after "bra E;" \
  "W: ld.volatile.global.u32 %r8, [%d1+2400]; setp.ne.u32 %p3, %r8, 1; @%p3 bra W;" GET STORE5 "E:"
#define COPIES INIT(64) WORDS_OF("%r6") "shl.b32 %r1, %t, 2; add.u32 %r1, %r1, %s; cp.async.ca.shared.global [%r1], [%d2], 4;"
#define DUPLICATES(between) WORDS_OF("%r9") WARP0 "ld.global.u32 %r5, [%d2]; " between " ld.global.u32 %r8, [%d2]; add.u32 %r5, %r5, 9; @%p2 st.global.u32 [%d2], %r5;"
static const Case in_global[] = {
  {"store and load", WORDS_OF("%r6") PUT GET STORE5, 64, 0, RACE_IN_BLOCK, 0, 0},
  {"store, barrier and load", WORDS_OF("%r6") PUT "bar.sync 0;" GET STORE5, 64, 0, NULL, 512 + 33, 8},
  {"store, barrier of other threads and load", WORDS_OF("%r6") WARP0 PUT "@%p2 bar.sync 1, 32; @!%p2 bar.sync 2, 32;" GET STORE5, 64, 0, RACE_IN_BLOCK, 0, 0},
  {"load and store", WORDS_OF("%r6") GET PUT, 64, 0, RACE_IN_BLOCK, 0, 0},
  {"load, barrier and store", WORDS_OF("%r6") GET "bar.sync 0; add.u32 %r5, %r5, 7;" PUT, 64, 0, NULL, 33, 8},
  {"store, barrier and load in a loop", WORDS_OF("%r6") "mov.u32 %r8, 0; N: add.u32 %r8, %r8, 1; st.global.u32 [%d2], %r8; bar.sync 0;" GET "setp.lt.u32 %p3, %r8, 3; @%p3 bra N;", 64, 0, RACE_IN_BLOCK, 0, 0},
  {"store, mbarrier and load", INIT(64) WORDS_OF("%r6") PUT "mbarrier.arrive.shared.b64 _, [%b];" WAIT(0) GET STORE5, 64, 0, NULL, 512 + 33, 8},
  {"store within a warp", WORDS_OF("%r6") PUT "xor.b32 %r7, %r6, 1; mul.wide.u32 %d3, %r7, 4; add.u64 %d3, %d1, %d3;" GET STORE5, 64, 0, NULL, 512 + 33, 39},
  {"the same value", "st.global.u32 [%d1+2400], 5; ld.global.u32 %r5, [%d1+2400];" STORE5, 96, 0, NULL, 512 + 40, 5},
  {"the value that is there", "st.global.u32 [%d1+2400], 600; ld.global.u32 %r5, [%d1+2400];" STORE5, 96, 0, NULL, 512 + 40, 600},
  {"different values", "shr.u32 %r5, %t, 5; st.global.u32 [%d1+2400], %r5;", 64, 0, RACE("store to", "stores to", "tl.debug_barrier()"), 0, 0},
  {"bytes", "cvt.u64.u32 %d2, %t; add.u64 %d2, %d1, %d2; st.global.u8 [%d2+2400], %t; ld.global.u8 %r5, [%d2+2400];" STORE5, 64, 0, NULL, 512 + 33, 33},
  {"atomics", "atom.global.add.u32 %r5, [%d1+2400], 1;", 64, 0, NULL, 600, 664},
  {"atomic and load", "red.global.add.u32 [%d1+2400], 1; ld.global.u32 %r5, [%d1+2400];", 64, 0, RACE_IN_BLOCK, 0, 0},
  {"atomic, barrier and load", "red.global.add.u32 [%d1+2400], 1; bar.sync 0; ld.global.u32 %r5, [%d1+2400];" STORE5, 64, 0, NULL, 512 + 33, 664},
  {"flag after a store", FLAG(PUT, ""), 64, 0, NULL, 512 + 33, 8},
  {"flag before a store", FLAG("", PUT), 64, 0, RACE_IN_BLOCK, 0, 0},
  {"duplicates", "and.b32 %r9, %t, 31;" DUPLICATES(""), 96, 0, NULL, 3, 12},
  {"duplicates exchanged", "and.b32 %r9, %t, 31;" DUPLICATES("shfl.sync.bfly.b32 %r8, %r5, 1, 31, -1;"), 96, 0, NULL, 3, 12},
  {"load, barrier and store in a loop", "mov.u32 %r8, 0; and.b32 %r9, %t, 31;" WORDS_OF("%r9") WARP0 "N: add.u32 %r8, %r8, 1; ld.global.u32 %r5, [%d2]; bar.sync 0; @%p2 st.global.u32 [%d2], %r8; setp.lt.u32 %p3, %r8, 3; @%p3 bra N;", 64, 0, RACE_IN_BLOCK, 0, 0},
  {"cp.async and store", COPIES "st.global.u32 [%d3], %r5; cp.async.wait_all;", 64, 0, RACE_IN_BLOCK, 0, 0},
  {"cp.async that arrives, and store", COPIES "cp.async.mbarrier.arrive.noinc.shared.b64 [%b];" WAIT(0) "st.global.u32 [%d3], %r5;", 64, 0, NULL, 33, 8},
  {"store and load in a cluster", WORDS_OF("%r6") PUT GET STORE5, 32, 2, RACE("*", "*", "a barrier of the cluster"), 0, 0},
  {"store, cluster barrier and load", WORDS_OF("%r6") PUT "barrier.cluster.arrive; barrier.cluster.wait;" GET "st.global.u32 [%d2+2048], %r5;", 32, 2, NULL, 512 + 33, 8},
};

TEST(test_kernels) {
  run_cases(plain, countof(plain));
  run_cases(clusters, countof(clusters));
  run_cases(maps, countof(maps));
  run_cases(products, countof(products));
  run_cases(in_global, countof(in_global));
  for (size_t i = 0; i < countof(calls); i++) run_case(&calls[i], functions, "");
}

// What comes of these depends on the order in which things happen: one seed at least gives the report. checks: of CHECK_*.
static void report_of_some_seed(const char *what, const char *checks, uint32_t threads, const char *body, const char *report) {
  if (host_on_gpu()) skip();
  setenv("TILE_SIM_CHECKS", checks, 1);
  char *text = case_text("", "", body);
  bool found = false;
  for (uint64_t seed = 0; seed < 40 && !found; seed++) {
    Sim sim;
    sim_init(&sim);
    sim.max_steps = 100000;
    sim.seed = seed;
    Device *dev = &sim.devices[0];
    uint64_t buffer = device_alloc(dev, BUFFER, 512, ALLOC_DEVICE);
    PtxModule *m = ptx_module_load(dev, text, strlen(text));
    if (m->error) fail_msg("%s: %s", what, m->error);
    LaunchParams lp = {.func = ptx_module_find(m, "k"), .grid = {1, 1, 1}, .block = {threads, 1, 1}, .cluster = {1, 1, 1}, .params = (const uint8_t *)&buffer};
    found = grid_run(&sim, dev, &lp) && case_reports(sim.report, report);
    if (!found && seed == 39) fail_msg("%s: no seed gives the report; the last gave: %s", what, sim.report);
    ptx_module_free(m);
    sim_free(&sim);
  }
  unsetenv("TILE_SIM_CHECKS");
  free(text);
}

TEST(test_orders) {
  report_of_some_seed("a kernel without end", "7", 1, "L: atom.global.add.u32 %r5, [%d1], 1; bra L;", "deadlock: the launch has not ended after 1* warp instructions");
  report_of_some_seed("a copy over what a thread writes", "7", 64, INIT(1) ONE("mbarrier.arrive.expect_tx.shared.b64 _, [%b], 256;" BULK("%s", "%d1", "256")) "setp.eq.u32 %p3, %t, 33; @%p3 st.shared.u32 [%s], 1;" WAIT(0),
                      "asynchronous operation misused: the asynchronous operation overwrites shared+0x400 of CTA 0, which thread 33 of CTA 0 at ptx:12 writes; no thread has waited for that");
  report_of_some_seed("bytes that a phase did not expect", "7", 32, INIT(1) ONE(BULK("%s", "%d1", "256") "mbarrier.arrive.shared.b64 _, [%b];") WAIT(0) "mov.u32 %r7, 0; N: add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, 2000; @%p2 bra N;",
                      "mbarrier misused: the copy was issued in phase 0 of the mbarrier at shared+0x2400 of CTA 0 and its bytes arrive in phase 1, which does not expect them");
  report_of_some_seed("a copy in flight when its block ends", "4", 32, INIT(1) ONE("mbarrier.arrive.expect_tx.shared.b64 _, [%b], 256;" BULK("%s", "%d1", "256")),
                      "asynchronous operation misused: the CTA 0 exits while this bulk copy to shared memory (ptx:11) may still access its shared memory");
  report_of_some_seed("a map changed under a copy", "4", 64, MAP("2", "0") STAGE ONE("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d8, {0, 0}], [%s]; cp.async.bulk.commit_group; tensormap.replace.tile.rank.global.b1024.b32 [%d8], 1; cp.async.bulk.wait_group 0;"),
                      "asynchronous operation misused: the tensor map is changed while the tensor copy of ptx:*, which uses it, is still in flight");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels), cmocka_unit_test(test_orders)};
  return cmocka_run_group_tests(tests, case_setup, NULL);
}
