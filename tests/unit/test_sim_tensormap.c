// Tensor maps that a kernel makes or edits itself, and the order between proxies over global memory.
#include "tests/unit/sim_case.h"

#include "runtime/sim/tensormap.h"

// A 2-D map of 32-bit words over the buffer's first 1 KB: 16 words by 16 rows, box 8 by 4.
#define BUILD MAP_BEGIN MAP_SET(global_address, b64, "%d1") MAP_SET(rank, b32, "1") MAP_DIM(0, 16, 8, 1) MAP_DIM(1, 16, 4, 1) MAP_STRIDE(0, 64) \
  MAP_SET(elemtype, b32, "2") MAP_SET(interleave_layout, b32, "0") MAP_SET(swizzle_mode, b32, "0") MAP_SET(fill_mode, b32, "0")
#define CHANGE_NOW "@%p4 bra P2; bar.warp.sync -1; tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d8], [%r20], 128; P2:"
#define BAR "setp.ne.u32 %p1, %t, 0; @%p1 bra B1; mbarrier.init.shared.b64 [%b], 1; fence.mbarrier_init.release.cluster; B1: bar.sync 0;\n"
#define LOAD(x, y) "@%p1 bra L2; mov.b32 %r10, " #x "; mov.b32 %r11, " #y "; mbarrier.arrive.expect_tx.shared.b64 _, [%b], 128;" \
  "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%d8, {%r10, %r11}], [%b]; L2:\n" WAIT(0)
#define READ "rem.u32 %r1, %t, 32; shl.b32 %r1, %r1, 2; add.u32 %r2, %s, %r1; ld.shared.u32 %r5, [%r2];" STORE5
// word 2048/4 + 9 is thread 9's: row 1, column 1 of the box
#define AT9 512 + 9

static const Case cases[] = {
  {"map made in the kernel", BUILD MAP_PUBLISH MAP_ACQUIRE BAR LOAD(8, 3) READ, 64, 0, NULL, AT9, 4 * 16 + 9},
  {"out of bounds by a map made in the kernel", BUILD MAP_PUBLISH MAP_ACQUIRE BAR LOAD(8, 15) READ, 64, 0, NULL, AT9, 0},
  {"map used without acquire", BUILD MAP_PUBLISH BAR LOAD(8, 3) READ, 64, 0,
   "missing proxy fence: the tensor map at 0x* was written in this launch, and no fence.proxy.tensormap::generic.acquire of it that this thread knows of came since", 0, 0},
  {"acquire before the map is published", BUILD MAP_ACQUIRE "bar.sync 0;" MAP_PUBLISH BAR LOAD(8, 3) READ, 64, 0,
   "missing proxy fence: the tensor map at 0x* was written in this launch, and no fence.proxy.tensormap::generic.acquire of it that this thread knows of came since", 0, 0},
  {"acquire by another warp, after a barrier", BUILD MAP_PUBLISH "@!%p4 bra A1;" MAP_ACQUIRE "A1: bar.sync 0;" BAR LOAD(8, 3) READ, 64, 0, NULL, AT9, 4 * 16 + 9},
  {"acquire by another warp, no barrier after it", BUILD MAP_PUBLISH BAR "@!%p4 bra A1;" MAP_ACQUIRE "A1:" LOAD(8, 3) READ, 64, 0,
   "missing proxy fence: the tensor map at 0x* was written in this launch, and no fence.proxy.tensormap::generic.acquire of it that this thread knows of came since", 0, 0},
  {"acquire by a warp that does not know of the map", BUILD MAP_PUBLISH MAP_ACQUIRE BAR CHANGE_NOW "@!%p4 bra A1;" MAP_ACQUIRE "A1:", 64, 0,
   "race: *es the tensor map at 0x*, which warp * of CTA 0 *es at ptx:28, without a barrier in between", 0, 0},
  {"a field never set", MAP_BEGIN MAP_SET(global_address, b64, "%d1") MAP_SET(rank, b32, "1") MAP_PUBLISH MAP_ACQUIRE BAR LOAD(0, 0) READ, 64, 0,
   "asynchronous operation misused: the tensor map is not valid: each global dimension must be 1 to 2^32", 0, 0},
  {"bytes that are no map", MAP_BEGIN "@%p1 bra Q; mov.b32 %r22, 5; st.shared.b32 [%r20+8], %r22; Q:" MAP_SET(rank, b32, "1") MAP_PUBLISH, 64, 0,
   "asynchronous operation misused: there is neither a tensor map nor zeros here to edit", 0, 0},
  {"edit of memory never set", "setp.ne.u32 %p1, %t, 0; add.u32 %r20, %s, 4096;" MAP_SET(rank, b32, "1"), 32, 0,
   "use of an undefined value: a byte of the tensor map has never been set (or was computed from a value that has not)", 0, 0},
  {"published by a warp that does not know of the edit", MAP_BEGIN "bar.sync 0; @%p1 bra R; tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r20], 1; R: @!%p4 bra P; tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d8], [%r20], 128; P:",
   64, 0, "race", 0, 0},
  {"map edited in global memory", BUILD MAP_PUBLISH MAP_ACQUIRE BAR "@%p1 bra E; tensormap.replace.tile.global_dim.global.b1024.b32 [%d8], 1, 4; fence.proxy.tensormap::generic.release.gpu; fence.proxy.tensormap::generic.acquire.gpu [%d8], 128; E:"
   LOAD(8, 3) READ, 64, 0, NULL, AT9, 0},
  {"map edited in global memory without release", BUILD MAP_PUBLISH MAP_ACQUIRE BAR "@%p1 bra E; tensormap.replace.tile.global_dim.global.b1024.b32 [%d8], 1, 4; fence.proxy.tensormap::generic.acquire.gpu [%d8], 128; E:"
   LOAD(8, 3) READ, 64, 0,
   "missing proxy fence: the tensor map at 0x* was written by CTA 0 in this launch, which executed neither tensormap.cp_fenceproxy nor fence.proxy.tensormap::generic.release since", 0, 0},
#define CHANGE CHANGE_NOW "bar.sync 0;"
#define SEND "mov.b32 %r10, 0; mov.b32 %r11, 12; shl.b32 %r1, %t, 2; add.u32 %r2, %s, %r1; st.shared.u32 [%r2], 700; fence.proxy.async; bar.sync 0; @%p1 bra S; cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d8, {%r10, %r11}], [%s]; cp.async.bulk.commit_group;"
  {"map changed after a store has read it", BUILD MAP_PUBLISH MAP_ACQUIRE BAR SEND "cp.async.bulk.wait_group.read 0; S: bar.sync 0;" CHANGE "@%p1 bra Q; cp.async.bulk.wait_group 0; Q:", 64, 0, NULL, 12 * 16 + 3, 700},
  {"map in shared memory", BUILD BAR "cvta.shared.u64 %d8, %d9;" LOAD(8, 3), 64, 0,
   "asynchronous operation misused: a tensor map must be a kernel parameter or lie in constant or global memory", 0, 0},
  // ordinary writes and bulk copies of the same global bytes
  {"global bytes written, fenced, copied in bulk", BAR "mad.wide.u32 %d3, %t, 4, %d1; add.u32 %r6, %t, 100; st.global.u32 [%d3], %r6; fence.proxy.async; bar.sync 0; @%p1 bra L2;"
   "mbarrier.arrive.expect_tx.shared.b64 _, [%b], 128; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%d1], 128, [%b]; L2:\n" WAIT(0) READ, 64, 0, NULL, AT9, 109},
  {"global bytes written, copied in bulk", BAR "mad.wide.u32 %d3, %t, 4, %d1; add.u32 %r6, %t, 100; st.global.u32 [%d3], %r6; fence.proxy.async.shared::cta; bar.sync 0; @%p1 bra L2;"
   "mbarrier.arrive.expect_tx.shared.b64 _, [%b], 128; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%d1], 128, [%b]; L2:\n" WAIT(0) READ, 64, 0,
   "missing proxy fence: the asynchronous proxy reads global memory at 0x*, which a thread of CTA 0 wrote in this launch; neither CTA executed a fence.proxy.async in between", 0, 0},
  {"global bytes beside those written", BAR "mad.wide.u32 %d3, %t, 4, %d1; st.global.u32 [%d3+128], %t; bar.sync 0; @%p1 bra L2;"
   "mbarrier.arrive.expect_tx.shared.b64 _, [%b], 128; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%d1], 128, [%b]; L2:\n" WAIT(0) READ, 64, 0, NULL, AT9, 9},
#define STAGE BAR "shl.b32 %r1, %t, 2; add.u32 %r2, %s, %r1; add.u32 %r3, %t, 1000; st.shared.u32 [%r2], %r3; fence.proxy.async; bar.sync 0; @%p1 bra L1; cp.async.bulk.global.shared::cta.bulk_group [%d1], [%s], 256; cp.async.bulk.commit_group;"
  {"bulk store read back", STAGE "cp.async.bulk.wait_group 0; L1: bar.sync 0; mad.wide.u32 %d3, %t, 4, %d1; ld.global.u32 %r5, [%d3];" STORE5, 64, 0, NULL, AT9, 1009},
  {"bulk store of nothing", STAGE "mov.b32 %r6, 0; cp.async.bulk.global.shared::cta.bulk_group [%d1], [%s], %r6; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; L1:", 64, 0, NULL, 9, 1009},
  {"bulk store read back too early", STAGE "cp.async.bulk.wait_group.read 0; L1: bar.sync 0; mad.wide.u32 %d3, %t, 4, %d1; ld.global.u32 %r5, [%d3];" STORE5, 64, 0,
   "asynchronous operation misused: reads global memory at 0x*, which the bulk store of ptx:11 may still be writing: no cp.async.bulk.wait_group (without .read) of the storing thread came in between", 0, 0},
  {"bulk store overwritten too early", STAGE "cp.async.bulk.wait_group.read 0; st.global.u32 [%d1+16], %t; L1:", 64, 0,
   "asynchronous operation misused: overwrites global memory at 0x*, which the bulk store of ptx:11 may still be writing: no cp.async.bulk.wait_group (without .read) of the storing thread came in between", 0, 0},
  {"bulk store copied back too early", STAGE "cp.async.bulk.wait_group.read 0; mbarrier.arrive.expect_tx.shared.b64 _, [%b], 128; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%d1], 128, [%b]; L1:\n" WAIT(0),
   64, 0, "asynchronous operation misused", 0, 0},
};

TEST(test_cases) {
  run_cases(cases, countof(cases));
}

// Edits in another order than a host would make them, and the values that instructions and driver number differently.
TEST(test_elements) {
  if (host_on_gpu()) skip();
  static const struct { int value; TensorMapDtype type; } types[] = {{0, TMAP_UINT8}, {6, TMAP_FLOAT16}, {7, TMAP_FLOAT32}, {8, TMAP_FLOAT32_FTZ}, {9, TMAP_FLOAT64}, {10, TMAP_BFLOAT16}, {12, TMAP_TFLOAT32_FTZ}};
  Sim sim;
  sim_init(&sim);
  Device *dev = &sim.devices[0];
  uint64_t buffer = device_alloc(dev, BUFFER, 512, ALLOC_DEVICE);
  for (size_t i = 0; i < countof(types); i++) {
    static const char *const before = MAP_BEGIN MAP_SET(box_dim, b32, "3, 7") MAP_SET(global_stride, b64, "3, 4096") MAP_SET(fill_mode, b32, "1");
    static const char *const after = MAP_SET(rank, b32, "4") MAP_SET(global_dim, b32, "4, 3000000000") MAP_PUBLISH;
    char text[8192];
    snprintf(text, sizeof text, "%s@!%%p1 tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%%r20], %d;\n%s", before, types[i].value, after);
    char *whole = case_text("", "", text);
    PtxModule *m = ptx_module_load(dev, whole, strlen(whole));
    free(whole);
    if (m->error) fail_msg("%s", m->error);
    LaunchParams lp = {.func = ptx_module_find(m, "k"), .grid = {1, 1, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}, .params = (const uint8_t *)&buffer};
    if (grid_run(&sim, dev, &lp)) fail_msg("%s", sim.report);
    TensorMap map;
    assert_true(tensormap_unpack((const void *)(uintptr_t)(buffer + 3072), &map));
    assert_int_equal(map.dtype, types[i].type);
    assert_int_equal(map.rank, 5);
    assert_int_equal(map.box[3], 7);
    assert_int_equal(map.fill, TMAP_FILL_NAN);
    assert_true(map.stride[4] == 4096 && map.dim[4] == 3000000000u);
    ptx_module_free(m);
  }
  sim_free(&sim);
}

// Where the copy is late, a change of its map is seen to come before it; an early copy hides that.
TEST(test_change_in_flight) {
  if (host_on_gpu()) skip();
  Sim sim;
  sim_init(&sim);
  Device *dev = &sim.devices[0];
  uint64_t buffer = device_alloc(dev, BUFFER, 512, ALLOC_DEVICE);
  char *text = case_text("", "", BUILD MAP_PUBLISH MAP_ACQUIRE BAR SEND "S: bar.sync 0;" CHANGE "@%p1 bra Q; cp.async.bulk.wait_group 0; Q:");
  PtxModule *m = ptx_module_load(dev, text, strlen(text));
  free(text);
  if (m->error) fail_msg("%s", m->error);
  uint32_t reports = 0;
  for (sim.seed = 0; sim.seed < SEEDS; sim.seed++) {
    LaunchParams lp = {.func = ptx_module_find(m, "k"), .grid = {1, 1, 1}, .block = {64, 1, 1}, .cluster = {1, 1, 1}, .params = (const uint8_t *)&buffer};
    if (grid_run(&sim, dev, &lp) == CUDA_SUCCESS) continue;
    reports++;
    assert_non_null(strstr(sim.report, "the tensor map is changed while the tensor copy"));
  }
  assert_true(reports >= SEEDS / 3);
  ptx_module_free(m);
  sim_free(&sim);
}

TEST(test_forms) {
  if (host_on_gpu()) skip();
  static const struct { const char *text; bool good; } forms[] = {
    {"tensormap.replace.tile.rank.b1024.b32 [%d1], 1;", true},
    {"tensormap.replace.tile.rank.global.b1024.b64 [%d1], 1;", false},
    {"tensormap.replace.tile.box_dim.global.b1024.b32 [%d1], 5, 1;", false},
    {"tensormap.replace.tile.box_dim.global.b1024.b32 [%d1], %r1, 1;", false},
    {"tensormap.replace.tile.global_stride.global.b1024.b64 [%d1], 4, 16;", false},
    {"tensormap.replace.tile.elemtype.global.b1024.b32 [%d1], 13;", false},
    {"tensormap.replace.tile.elemtype.global.b1024.b32 [%d1], %r1;", false},
    {"tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%d1], 4;", false},
    {"tensormap.replace.tile.global.b1024.b32 [%d1], 4;", false},
    {"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d1], [%s], 64;", false},
    {"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu [%d1], [%s], 128;", false},
    {"fence.proxy.tensormap::generic.acquire.gpu [%d1], 128;", true},
    {"fence.proxy.tensormap::generic.acquire.gpu;", false},
    {"fence.proxy.tensormap::generic.acquire.gpu [%d1], 64;", false},
    {"fence.proxy.tensormap::generic.release.sys;", true},
    {"fence.proxy.async.global;", true},
    {"fence.proxy.alias;", true},
    {"fence.proxy;", false},
    {"fence.gpu;", false},
    {"fence.acq_rel.cluster;", true},
    {"membar.gl;", true},
  };
  Sim sim;
  sim_init(&sim);
  for (size_t i = 0; i < countof(forms); i++) {
    char *text = case_text("", "", forms[i].text);
    PtxModule *m = ptx_module_load(&sim.devices[0], text, strlen(text));
    if (!m->error != forms[i].good) fail_msg("%s: %s", forms[i].text, m->error ? m->error : "accepted");
    ptx_module_free(m);
    free(text);
  }
  sim_free(&sim);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_elements), cmocka_unit_test(test_change_in_flight), cmocka_unit_test(test_forms)};
  return cmocka_run_group_tests(tests, case_setup, NULL);
}
