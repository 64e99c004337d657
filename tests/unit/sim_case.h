// Small kernels for the simulator's checkers: each runs with several seeds, and either gives its result or the report it must
// give. What the good ones leave in their buffer was recorded on an H200 (tests/sim/recorded/cases_h200.txt) and must be the same here:
// TILE_TEST_GPU=1 TILE_TEST_RECORD=FILE runs them there and appends to FILE. TILE_TEST_PTX=FOLDER writes the kernels for ptxas.
#ifndef TILE_TESTS_SIM_CASE_H
#define TILE_TESTS_SIM_CASE_H

#include "tests/unit/sim_host.h"

#include "ir/base.h"
#include "runtime/sim/sim.h"

// Words 768 to 799 are the place of tensor maps, which look different on the GPU: they are not compared.
enum { SEEDS = 12, BUFFER = 4096, WORDS = BUFFER / 4, MAP_WORD = 768, MAP_WORDS = 32 };

// result: NULL: what the kernel leaves in the buffer is checked by `want`; else what the report starts with, * for any text.
typedef struct { const char *what, *body; uint32_t threads, cluster; const char *report; uint32_t at, want; } Case;

// Registers and a shared array for all kernels: %d1 is the buffer, whose words count from 0; %t the thread, %s the address of
// 1 KB aligned shared bytes, %b that of mbarriers.
static const char *const case_prologue =
  ".shared .align 1024 .b8 sm[8192];\n.shared .align 8 .b8 bar[64];\n"
  ".reg .b32 %r<40>; .reg .b64 %d<20>; .reg .pred %p<8>; .reg .f32 %f<40>; .reg .b16 %h<4>;\n"
  ".reg .b32 %t, %s, %b;\n"
  "ld.param.u64 %d1, [buf]; mov.u32 %t, %tid.x; mov.u32 %s, sm; mov.u32 %b, bar;\n";

// decl: what stands before the kernel; directives: after its parameters.
static inline char *case_text(const char *decl, const char *directives, const char *body) {
  char *text = NULL;
  size_t size = 0;
  FILE *o = open_memstream(&text, &size);
  fprintf(o, ".version 8.6\n.target sm_90a\n.address_size 64\n%s.visible .entry k(.param .u64 buf) %s {\n%s%s\nret;\n}\n", decl, directives, case_prologue, body);
  fclose(o);
  return text;
}
static inline uint64_t case_hash(const char *text) {
  uint64_t h = UINT64_C(14695981039346656037);
  for (; *text; text++) h = (h ^ (unsigned char)*text) * UINT64_C(1099511628211);
  return h;
}

// What the H200 left, when this very text was recorded: words that changed, as index:value in hexadecimal.
static inline bool case_recorded(const Case *c, const char *text, uint32_t *words) {
  static char *golden;
  if (!golden) golden = host_read("tests/sim/recorded/cases_h200.txt");
  char head[300];
  snprintf(head, sizeof head, "%s\n%016llx\n", c->what, (unsigned long long)case_hash(text));
  const char *at = strstr(golden, head);
  if (!at) return false;
  for (uint32_t i = 0; i < WORDS; i++) words[i] = i;
  for (at += strlen(head); *at && *at != '\n';) {
    char *end;
    uint32_t i = (uint32_t)strtoul(at, &end, 16);
    assert_true(*end == ':' && i < WORDS);
    words[i] = (uint32_t)strtoul(end + 1, &end, 16);
    at = end + (*end == ' ');
  }
  return true;
}

static inline void case_compare(const Case *c, const char *where, const uint32_t *got, const uint32_t *recorded) {
  if (got[c->at] != c->want) fail_msg("%s, %s: buffer[%u] is %u (%08x), not %u", c->what, where, c->at, got[c->at], got[c->at], c->want);
  for (uint32_t i = 0; recorded && i < WORDS; i++)
    if (got[i] != recorded[i] && i - MAP_WORD >= MAP_WORDS) fail_msg("%s, %s: buffer[%u] is %08x, the H200 left %08x", c->what, where, i, got[i], recorded[i]);
}

// A kernel that fails or hangs takes its context with it: after a failure the next one gets a new context, and one that hung is
// named in the file TILE_TEST_SKIP when the test is run again.
static inline void run_on_gpu(const Case *c, const char *text) {
  uint32_t words[WORDS];
  const char *skipped = getenv("TILE_TEST_SKIP");
  if (c->report || (skipped && strstr(host_read(skipped), c->what))) return;
  for (uint32_t i = 0; i < WORDS; i++) words[i] = i;
  fprintf(stderr, "case %s\n", c->what);
  CUmodule m = NULL;
  CUresult r = host_try_load(text, &m);
  if (!r) {
    CUdeviceptr buffer = host_buffer(words, BUFFER);
    CUlaunchAttribute cluster = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
    uint32_t n = c->cluster ? c->cluster : 1;
    cluster.value.clusterDim.x = n, cluster.value.clusterDim.y = cluster.value.clusterDim.z = 1;
    CUlaunchConfig config = {.gridDimX = n, .gridDimY = 1, .gridDimZ = 1, .blockDimX = c->threads, .blockDimY = 1, .blockDimZ = 1, .attrs = &cluster, .numAttrs = 1};
    r = CU(cuLaunchKernelEx, (const CUlaunchConfig *, CUfunction, void **, void **), &config, host_function(m, "k"), ARGS(&buffer), NULL);
    if (!r) r = CU(cuCtxSynchronize, (void));
    if (!r) host_fetch(words, buffer, BUFFER);
  }
  if (r) {
    print_error("%s: error %d\n", c->what, (int)r);
    CU(cuDevicePrimaryCtxReset_v2, (CUdevice), 0);
    host_start();
    return;
  }
  const char *record = getenv("TILE_TEST_RECORD");
  FILE *o = record ? fopen(record, "a") : NULL;
  if (o) {
    fprintf(o, "%s\n%016llx\n", c->what, (unsigned long long)case_hash(text));
    for (uint32_t i = 0, first = 1; i < WORDS; i++)
      if (words[i] != i && i - MAP_WORD >= MAP_WORDS) fprintf(o, "%s%x:%x", first ? "" : " ", i, words[i]), first = 0;
    fprintf(o, "\n");
    fclose(o);
  }
  if (words[c->at] != c->want) print_error("%s: the GPU has buffer[%u] = %u, not %u\n", c->what, c->at, words[c->at], c->want);
}

static inline void case_write_ptx(const Case *c, const char *text) {
  char path[400], name[100];
  size_t n = 0;
  for (; c->what[n] && n + 1 < sizeof name; n++) name[n] = strchr(" ,.'/:", c->what[n]) ? '_' : c->what[n];
  name[n] = 0;
  snprintf(path, sizeof path, "%s/%s.ptx", getenv("TILE_TEST_PTX"), name);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
}

// Whether report begins with what is expected, where * is any text within a line.
static inline bool case_reports(const char *report, const char *expected) {
  for (; *expected; report++, expected++) {
    if (*expected == '*') {
      for (; *report && *report != '\n'; report++)
        if (case_reports(report, expected + 1)) return true;
      return case_reports(report, expected + 1);
    }
    if (*report != *expected) return false;
  }
  return true;
}

// Returns whether a record of the H200 was compared with.
static inline bool run_case(const Case *c, const char *decl, const char *directives) {
  char *text = case_text(decl, directives, c->body);
  if (getenv("TILE_TEST_PTX")) case_write_ptx(c, text);
  if (host_on_gpu()) {
    run_on_gpu(c, text);
    free(text);
    return false;
  }
  Sim sim;
  sim_init(&sim);
  sim.max_steps = 1000000;
  Device *dev = &sim.devices[0];
  uint32_t *buffer = (uint32_t *)(uintptr_t)device_alloc(dev, BUFFER, 512, ALLOC_DEVICE), recorded[WORDS];
  bool has_record = !c->report && case_recorded(c, text, recorded);
  PtxModule *m = ptx_module_load(dev, text, strlen(text));
  if (m->error) fail_msg("%s: %s", c->what, m->error);
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    for (uint32_t i = 0; i < WORDS; i++) buffer[i] = i;
    sim.seed = seed;
    uint64_t param = (uintptr_t)buffer;
    uint32_t n = c->cluster ? c->cluster : 1;
    char where[32];
    snprintf(where, sizeof where, "seed %d", (int)seed);
    LaunchParams lp = {.func = ptx_module_find(m, "k"), .grid = {n, 1, 1}, .block = {c->threads, 1, 1}, .cluster = {n, 1, 1}, .params = (const uint8_t *)&param};
    CUresult rc = grid_run(&sim, dev, &lp);
    if (!c->report && rc) fail_msg("%s, %s: %s", c->what, where, sim.report);
    if (!c->report) case_compare(c, where, buffer, has_record ? recorded : NULL);
    if (c->report && !rc) fail_msg("%s, %s: no report", c->what, where);
    if (c->report && !case_reports(sim.report, c->report)) fail_msg("%s, %s: another report: %s", c->what, where, sim.report);
  }
  free(text);
  ptx_module_free(m);
  sim_free(&sim);
  return has_record;
}

static inline void run_cases(const Case *cases, size_t count) {
  uint32_t good = 0, recorded = 0;
  for (size_t i = 0; i < count; i++) {
    recorded += run_case(&cases[i], "", "");
    good += !cases[i].report;
  }
  print_message("%u kernels give their result, %u of them compared word for word with an H200; %u give their report\n", good, recorded, (uint32_t)count - good);
}

static inline int case_setup(void **state) {
  (void)state;
  if (host_on_gpu()) host_start();
  return 0;
}

#define STORE5 "mad.wide.u32 %d3, %t, 4, %d1; st.global.u32 [%d3+2048], %r5;\n"
#define INIT(count) "setp.ne.u32 %p1, %t, 0; @%p1 bra L1; mbarrier.init.shared.b64 [%b], " #count "; fence.mbarrier_init.release.cluster; L1: bar.sync 0;\n"
#define WAIT(parity) "W" #parity ": mbarrier.try_wait.parity.shared.b64 %p2, [%b], " #parity "; @!%p2 bra W" #parity ";\n"

// Tensor maps: thread 0 builds one at shared+4096, the first warp publishes it at the buffer's word 768 (%d8).
#define MAP_BEGIN "add.u32 %r20, %s, 4096; shl.b32 %r21, %t, 2; add.u32 %r21, %r21, %r20; setp.ge.u32 %p4, %t, 32; @%p4 bra Z; mov.b32 %r22, 0; st.shared.b32 [%r21], %r22; bar.warp.sync -1; Z:\n" \
                  "setp.ne.u32 %p1, %t, 0; cvt.u64.u32 %d9, %r20; add.u64 %d8, %d1, 3072;\n"
#define MAP_SET(field, type, ...) "@!%p1 tensormap.replace.tile." #field ".shared::cta.b1024." #type " [%r20], " __VA_ARGS__ ";\n"
#define MAP_DIM(i, dim, box, step) MAP_SET(global_dim, b32, #i ", " #dim) MAP_SET(box_dim, b32, #i ", " #box) MAP_SET(element_stride, b32, #i ", " #step)
#define MAP_STRIDE(i, bytes) MAP_SET(global_stride, b64, #i ", " #bytes)
#define MAP_PUBLISH "@%p4 bra P; bar.warp.sync -1; tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d8], [%r20], 128; P: bar.sync 0;\n"
#define MAP_ACQUIRE "fence.proxy.tensormap::generic.acquire.gpu [%d8], 128;\n"

#endif
