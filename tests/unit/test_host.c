// A host program's situations on the simulator: two devices, contexts of its own, graphs, arguments that are wrong, many threads.
#include "tile_case.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/rt/cuda_types.h"
#include "runtime/sim/driver.h"

static const char scale_source[] =
  "@kernel\n"
  "def scale(x: *fp32, n: i32, by: fp32, BLOCK: constexpr = 128):\n"
  "    offs = program_id(0) * BLOCK + arange(0, BLOCK)\n"
  "    store(x + offs, load(x + offs, offs < n) * by, offs < n)\n";

// Each program makes a descriptor of its own, whose map is in scratch memory.
static const char tile_source[] =
  "@kernel\n"
  "def tiles(a: *fp32, out: *fp32, n: i32):\n"
  "    r = arange(0, 32)\n"
  "    d = make_tensor_descriptor(a + program_id(0) * 2048, [32, n], [64, 1], [32, 32])\n"
  "    store(out + program_id(0) * 1024 + r[:, None] * 32 + r[None, :], d.load([0, 0]))\n";

#define CU(name, type, ...) (((CUresult(*) type)sim_driver_symbol(#name))(__VA_ARGS__))
#define CU_OK(call)                                              \
  do {                                                           \
    if ((call) != CUDA_SUCCESS) fail_msg("%s: %s", #call, sim_last_report()); \
  } while (0)

static tile_kernel *load(tile_device *d, const char *text) {
  tile_program *p;
  tile_kernel *k;
  tile_compile_options o = TILE_COMPILE_OPTIONS_INIT;
  o.arch = tile_device_arch(d);
  OK(tile_compile_memory("k.tile", text, strlen(text), &o, &p, &error));
  OK(tile_kernel_load(d, p, NULL, &k, &error));
  tile_program_free(p);
  return k;
}

enum { N = 300 };
typedef struct { tile_device *device; tile_kernel *kernel; uint64_t x; float data[N]; } Work;

static void start(Work *w, const char *spec) {
  w->device = case_device(spec);
  w->kernel = load(w->device, scale_source);
  for (int i = 0; i < N; i++) w->data[i] = (float)i;
  w->x = case_buffer(w->device, w->data, sizeof w->data);
}
static tile_status scale(const Work *w, float by, void *stream, tile_error **error) {
  tile_launch_options o = TILE_LAUNCH_OPTIONS_INIT;
  o.grid[0] = 3;
  o.stream = stream;
  const tile_arg args[] = {tile_arg_pointer(w->x), tile_arg_int(N), tile_arg_float(by)};
  return tile_kernel_launch(w->kernel, &o, args, 3, error);
}
static void expect(Work *w, float by) {
  OK(tile_memory_download(w->device, w->data, w->x, sizeof w->data, &error));
  for (int i = 0; i < N; i++)
    if (w->data[i] != (float)i * by) fail_msg("element %d is %g, not %g", i, (double)w->data[i], (double)((float)i * by));
}
static void finish(Work *w) {
  tile_memory_free(w->device, w->x, NULL);
  tile_kernel_free(w->kernel);
  tile_device_close(w->device);
}

TEST(two_devices) {
  static Work a, b;
  start(&a, "sim:0");
  start(&b, "sim:1");
  OK(scale(&a, 2, NULL, &error));
  OK(scale(&b, 3, NULL, &error));
  expect(&a, 2);
  expect(&b, 3);
  // A pointer of the other device: a launch does not ask, tile_kernel_check does.
  tile_launch_options o = TILE_LAUNCH_OPTIONS_INIT;
  tile_arg args[] = {tile_arg_pointer(a.x), tile_arg_int(N), tile_arg_float(1)};
  OK(tile_kernel_check(a.kernel, &o, args, 3, &error));
  REFUSED(tile_kernel_check(b.kernel, &o, args, 3, &error), TILE_ERROR_USAGE, "is memory of sim:0, and the kernel is on sim:1");
  args[0] = tile_arg_pointer((uint64_t)(uintptr_t)a.data & ~UINT64_C(15));
  REFUSED(tile_kernel_check(a.kernel, &o, args, 3, &error), TILE_ERROR_USAGE, "argument 'x' (*fp32) is 0x");
  tile_device *none;
  REFUSED(tile_device_open("sim:2", &none, &error), TILE_ERROR_NO_DEVICE, "there is no sim:2; the simulator has 2 devices");
  REFUSED(tile_device_open("sim:x", &none, &error), TILE_ERROR_USAGE, "there is no device 'sim:x'");
  finish(&b);
  finish(&a);
}

// Whatever context is current stays so, and none is left behind.
TEST(two_contexts) {
  static Work w;
  CUcontext mine = NULL, now = NULL;
  start(&w, "sim");
  CU_OK(CU(cuCtxGetCurrent, (CUcontext *), &now));
  assert_null(now);
  OK(scale(&w, 2, NULL, &error));
  CU_OK(CU(cuCtxGetCurrent, (CUcontext *), &now));
  assert_null(now);
  CU_OK(CU(cuCtxCreate, (CUcontext *, unsigned, CUdevice), &mine, 0, 1));
  OK(scale(&w, 1.5f, NULL, &error));
  CU_OK(CU(cuCtxGetCurrent, (CUcontext *), &now));
  assert_ptr_equal(now, mine);
  expect(&w, 3);
  finish(&w);
  CU_OK(CU(cuCtxGetCurrent, (CUcontext *), &now));
  assert_ptr_equal(now, mine);
  CU_OK(CU(cuCtxDestroy, (CUcontext), mine));
}

typedef struct { CUcontext context; CUstream stream; CUgraph graph; CUgraphExec exec; } Capture;

static void begin_capture(Capture *c) {
  CU_OK(CU(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice), &c->context, 0));
  CU_OK(CU(cuCtxPushCurrent, (CUcontext), c->context));
  CU_OK(CU(cuStreamCreate, (CUstream *, unsigned), &c->stream, CU_STREAM_NON_BLOCKING));
  CU_OK(CU(cuStreamBeginCapture, (CUstream, CUstreamCaptureMode), c->stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
}
static void end_capture(Capture *c) {
  CU_OK(CU(cuStreamEndCapture, (CUstream, CUgraph *), c->stream, &c->graph));
  CU_OK(CU(cuGraphInstantiateWithFlags, (CUgraphExec *, CUgraph, uint64_t), &c->exec, c->graph, 0));
}
static void replay(const Capture *c) {
  CU_OK(CU(cuGraphLaunch, (CUgraphExec, CUstream), c->exec, c->stream));
  CU_OK(CU(cuStreamSynchronize, (CUstream), c->stream));
}
static void free_capture(Capture *c) {
  CU_OK(CU(cuGraphExecDestroy, (CUgraphExec), c->exec));
  CU_OK(CU(cuGraphDestroy, (CUgraph), c->graph));
  CU_OK(CU(cuStreamDestroy, (CUstream), c->stream));
  CU_OK(CU(cuCtxPopCurrent, (CUcontext *), NULL));
  CU_OK(CU(cuDevicePrimaryCtxRelease, (CUdevice), 0));
}

TEST(graph) {
  static Work w;
  Capture c;
  start(&w, "sim");
  begin_capture(&c);
  OK(scale(&w, 2, c.stream, &error));
  end_capture(&c);
  expect(&w, 1);   // nothing has run yet
  replay(&c);
  expect(&w, 2);
  replay(&c);
  expect(&w, 4);
  free_capture(&c);
  finish(&w);
}

TEST(graph_with_scratch) {
  tile_device *d = case_device("sim");
  tile_kernel *k = load(d, tile_source);
  assert_true(tile_kernel_scratch_bytes(k) > 0);
  static float a[4 * 2048], out[4 * 1024];
  for (int i = 0; i < 4 * 2048; i++) a[i] = (float)i;
  uint64_t from = case_buffer(d, a, sizeof a), to = case_buffer(d, NULL, sizeof out);
  tile_launch_options o = TILE_LAUNCH_OPTIONS_INIT;
  const tile_arg args[] = {tile_arg_pointer(from), tile_arg_pointer(to), tile_arg_int(40)};
  Capture c;
  begin_capture(&c);
  o.grid[0] = 4;
  o.stream = c.stream;
  REFUSED(tile_kernel_launch(k, &o, args, 3, &error), TILE_ERROR_USAGE, "tiles needs 512 bytes of scratch memory for this grid, and the stream is being captured: call tile_kernel_reserve before the capture");
  // The capture goes on unharmed.
  CUstreamCaptureStatus capturing;
  CU_OK(CU(cuStreamIsCapturing, (CUstream, CUstreamCaptureStatus *), c.stream, &capturing));
  assert_int_equal(capturing, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  end_capture(&c);
  free_capture(&c);
  OK(tile_kernel_reserve(k, o.grid, &error));
  begin_capture(&c);
  o.stream = c.stream;
  OK(tile_kernel_launch(k, &o, args, 3, &error));
  end_capture(&c);
  replay(&c);
  OK(tile_memory_download(d, out, to, sizeof out, &error));
  for (int i = 0; i < 4 * 1024; i++)
    if (out[i] != a[i / 1024 * 2048 + i / 32 % 32 * 64 + i % 32]) fail_msg("element %d is %g", i, (double)out[i]);
  free_capture(&c);
  tile_memory_free(d, from, NULL);
  tile_memory_free(d, to, NULL);
  tile_kernel_free(k);
  tile_device_close(d);
}

// ---- what is wrong is named, and leaves nothing behind ----

TEST(wrong_types) {
  static Work w;
  start(&w, "sim");
  tile_launch_options o = TILE_LAUNCH_OPTIONS_INIT;
  tile_arg args[] = {tile_arg_array(w.x, TILE_FP32), tile_arg_int(N), tile_arg_float(1)};
  OK(tile_kernel_launch(w.kernel, &o, args, 3, &error));
  args[0] = tile_arg_array(w.x, TILE_FP16);
  REFUSED(tile_kernel_launch(w.kernel, &o, args, 3, &error), TILE_ERROR_USAGE, "argument 'x' (*fp32) got the address of an array of fp16");
  args[0] = tile_arg_pointer(w.x + 2);
  REFUSED(tile_kernel_launch(w.kernel, &o, args, 3, &error), TILE_ERROR_USAGE, "divisible by 4");
  args[0] = tile_arg_none();
  REFUSED(tile_kernel_launch(w.kernel, &o, args, 3, &error), TILE_ERROR_USAGE, "expects a pointer, got None");
  args[0] = tile_arg_pointer(w.x);
  args[1] = tile_arg_int(INT64_C(1) << 40);
  REFUSED(tile_kernel_launch(w.kernel, &o, args, 3, &error), TILE_ERROR_USAGE, "'n' (i32) cannot hold 1099511627776");
  finish(&w);
}

TEST(wrong_code) {
  tile_device *d = case_device("sim");
  tile_program *p;
  tile_kernel *k;
  tile_compile_options o = TILE_COMPILE_OPTIONS_INIT;
  o.arch = "sm_100a";
  OK(tile_compile_memory("k.tile", scale_source, strlen(scale_source), &o, &p, &error));
  uint64_t much;
  REFUSED(tile_memory_alloc(d, (size_t)1 << 60, &much, &error), TILE_ERROR_NO_MEMORY, "allocating 1152921504606846976 bytes: CUDA_ERROR_OUT_OF_MEMORY");
  REFUSED(tile_kernel_load(d, p, NULL, &k, &error), TILE_ERROR_USAGE, "the program was compiled for sm_100a and cannot run on Simulated H200, which is sm_90; compile it for sm_90a");
  assert_null(k);
  size_t size;
  const char *ptx = tile_program_output(p, TILE_EMIT_PTX, &size);
  REFUSED(tile_kernel_load_ptx(d, ptx, size, NULL, &k, &error), TILE_ERROR_USAGE, "compiled for sm_100a");
  REFUSED(tile_kernel_load_ptx(d, ptx, size, "skale", &k, &error), TILE_ERROR_USAGE, "the code has no kernel 'skale'; there is scale");
  REFUSED(tile_kernel_load_ptx(d, ptx, 40, NULL, &k, &error), TILE_ERROR_USAGE, "does not begin with the metadata");
  const char *json = tile_program_output(p, TILE_EMIT_METADATA, &size);
  REFUSED(tile_kernel_load_cubin(d, "x", 1, json, size - 5, NULL, &k, &error), TILE_ERROR_USAGE, "the metadata is not JSON from byte ");
  tile_program_free(p);
  o.arch = NULL;
  OK(tile_compile_memory("k.tile", scale_source, strlen(scale_source), &o, &p, &error));
  json = tile_program_output(p, TILE_EMIT_METADATA, &size);
  REFUSED(tile_kernel_load_cubin(d, "x", 1, json, size, NULL, &k, &error), TILE_ERROR_USAGE, "there is machine code for sm_90a alone, which Simulated H200 cannot read; compile it for this device, or load its PTX");
  // A driver that is older than the PTX.
  ptx = tile_program_output(p, TILE_EMIT_PTX, &size);
  char *later = malloc(size + 1), *version;
  memcpy(later, ptx, size + 1);
  version = strstr(later, "\"ptx_version\": \"");
  assert_non_null(version);
  memcpy(version + 16, "9.1", 3);
  REFUSED(tile_kernel_load_ptx(d, later, size, NULL, &k, &error), TILE_ERROR_DRIVER, "the driver (CUDA 13.0) is too old for this PTX, which needs a driver of CUDA 13.1 or later; or give it a cubin");
  char *code = strstr(later, ".entry scale");
  memcpy(version + 16, "8.0", 3);
  code[1] = 'x';
  REFUSED(tile_kernel_load_ptx(d, later, size, NULL, &k, &error), TILE_ERROR_ASSEMBLER, "the driver refused the PTX of scale, which is for sm_90a, on Simulated H200 (sm_90): ");
  free(later);
  tile_program_free(p);
  tile_device_close(d);
}

// ---- threads ----

enum { NUM_THREADS = 16, ROUNDS = 3 };
typedef struct { tile_device *devices[2]; tile_jit *jit; tile_kernel *shared; int index; char wrong[200]; } Thread;

// One round: a kernel of the thread's own, one that all share, and a variant that some others want at the same time.
static tile_status one_round(const Thread *t, int round, tile_error **error) {
  tile_device *d = t->devices[t->index % 2];
  tile_program *p = NULL;
  tile_kernel *k = NULL;
  tile_jit_kernel *jk;
  uint64_t x = 0;
  float data[N];
  tile_compile_options co = TILE_COMPILE_OPTIONS_INIT;
  co.arch = tile_device_arch(d);
  tile_launch_options o = TILE_LAUNCH_OPTIONS_INIT;
  o.grid[0] = 3;
  for (int i = 0; i < N; i++) data[i] = (float)i;
  tile_status s = tile_compile_memory("k.tile", scale_source, strlen(scale_source), &co, &p, error);
  if (s == TILE_OK) s = tile_kernel_load(d, p, NULL, &k, error);
  if (s == TILE_OK) s = tile_memory_alloc(d, sizeof data, &x, error);
  if (s == TILE_OK) s = tile_memory_upload(d, x, data, sizeof data, error);
  const tile_arg args[] = {tile_arg_pointer(x), tile_arg_int(N), tile_arg_float(2)};
  if (s == TILE_OK) s = tile_kernel_launch(k, &o, args, 3, error);
  if (s == TILE_OK && d == t->devices[0]) s = tile_kernel_launch(t->shared, &o, args, 3, error);
  if (s == TILE_OK && d == t->devices[0]) {
    tile_jit_launch_options jo = TILE_JIT_LAUNCH_OPTIONS_INIT;
    jo.grid[0] = N;
    const tile_arg jit_args[] = {tile_arg_array(x, TILE_FP32), tile_arg_int(N), tile_arg_float(0.25), tile_arg_int(32 << (t->index + round) % 4)};
    s = tile_jit_get_kernel(t->jit, NULL, &jk, error);
    if (s == TILE_OK) s = tile_jit_launch(jk, &jo, jit_args, 4, error);
  }
  if (s == TILE_OK) s = tile_memory_download(d, data, x, sizeof data, error);
  const float by = d == t->devices[0] ? 1 : 2;
  for (int i = 0; s == TILE_OK && i < N; i++)
    if (data[i] != (float)i * by) s = TILE_ERROR_RUN;
  tile_memory_free(d, x, NULL);
  tile_kernel_free(k);
  tile_program_free(p);
  return s;
}

static void *run_thread(void *user) {
  Thread *t = user;
  for (int round = 0; round < ROUNDS; round++) {
    tile_error *error = NULL;
    if (one_round(t, round, &error) != TILE_OK) snprintf(t->wrong, sizeof t->wrong, "round %d: %s", round, error ? tile_error_message(error) : "a wrong result");
    tile_error_free(error);
  }
  return NULL;
}

TEST(threads) {
  static Thread all[NUM_THREADS];
  pthread_t ids[NUM_THREADS];
  tile_device *devices[2] = {case_device("sim:0"), case_device("sim:1")};
  tile_jit *jit;
  tile_jit_options o = TILE_JIT_OPTIONS_INIT;
  o.no_cache = true;
  OK(tile_jit_open_memory(devices[0], "k.tile", scale_source, strlen(scale_source), &o, &jit, &error));
  tile_kernel *shared = load(devices[0], scale_source);
  for (int i = 0; i < NUM_THREADS; i++) {
    all[i] = (Thread){.devices = {devices[0], devices[1]}, .jit = jit, .shared = shared, .index = i};
    assert_int_equal(pthread_create(&ids[i], NULL, run_thread, &all[i]), 0);
  }
  for (int i = 0; i < NUM_THREADS; i++) pthread_join(ids[i], NULL);
  for (int i = 0; i < NUM_THREADS; i++)
    if (*all[i].wrong) fail_msg("thread %d, %s", i, all[i].wrong);
  tile_jit_kernel *k;
  OK(tile_jit_get_kernel(jit, NULL, &k, &error));
  assert_int_equal(tile_jit_num_variants(k), 4);
  tile_kernel_free(shared);
  tile_jit_close(jit);
  for (int i = 0; i < 2; i++) tile_device_close(devices[i]);
}

int main(void) {
  setenv("TILE_SIM_DEVICES", "2", 1);
  const struct CMUnitTest tests[] = {cmocka_unit_test(two_devices), cmocka_unit_test(two_contexts), cmocka_unit_test(graph), cmocka_unit_test(graph_with_scratch),
                                     cmocka_unit_test(wrong_types), cmocka_unit_test(wrong_code), cmocka_unit_test(threads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
