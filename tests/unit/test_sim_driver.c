// The driver's entry points: initialisation, devices, contexts, memory, streams, events, graphs, launch limits, several
// devices, schedules by seed.
#include <unistd.h>

#include "tests/unit/sim_host.h"

static const char *const ptx =
  ".version 8.3\n.target sm_90a\n.address_size 64\n.visible .global .align 4 .u32 counter = 3;\n.extern .shared .align 16 .b8 dyn[];\n"
  ".visible .entry scale(.param .u64 x, .param .f32 a, .param .u32 n) .maxntid 256 {\n.reg .b64 %rd<4>;\n.reg .b32 %r<6>;\n.reg .f32 %f<4>;\n.reg .pred %p<2>;\n"
  "ld.param.u64 %rd1, [x];\nld.param.f32 %f1, [a];\nld.param.u32 %r1, [n];\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\nmad.lo.u32 %r5, %r2, %r3, %r4;\n"
  "setp.ge.u32 %p1, %r5, %r1;\n@%p1 ret;\nmul.wide.u32 %rd2, %r5, 4;\nadd.u64 %rd2, %rd1, %rd2;\nld.global.f32 %f2, [%rd2];\nmul.f32 %f2, %f2, %f1;\nst.global.f32 [%rd2], %f2;\nret;\n}\n"
  ".visible .entry dynamic(.param .u64 out) {\n.reg .b64 %rd<3>;\n.reg .b32 %r<4>;\nld.param.u64 %rd1, [out];\nmov.u32 %r1, %dynamic_smem_size;\nmov.u32 %r2, dyn;\nadd.u32 %r2, %r2, %r1;\nst.shared.u32 [%r2+-4], %r1;\n"
  "ld.shared.u32 %r3, [%r2+-4];\nst.global.u32 [%rd1], %r3;\nret;\n}\n"
  ".visible .entry pair(.param .u64 out) .explicitcluster .reqnctapercluster 2, 1, 1 {\n.reg .b64 %rd<3>;\n.reg .b32 %r<4>;\nld.param.u64 %rd1, [out];\nmov.u32 %r1, %ctaid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd1, %rd1, %rd2;\n"
  "mov.u32 %r2, %cluster_ctarank;\nmov.u32 %r3, %clusterid.x;\nmad.lo.u32 %r2, %r3, 10, %r2;\nst.global.u32 [%rd1], %r2;\nret;\n}\n"
  ".visible .entry fixed(.param .u64 out) .reqntid 64 .maxnreg 128 {\nret;\n}\n"
  // Which of two blocks' atomic comes first depends on the schedule.
  ".visible .entry race(.param .u64 out) {\n.reg .b64 %rd<3>;\n.reg .b32 %r<6>;\n.reg .pred %p<2>;\nld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\natom.global.add.u32 %r2, [%rd1], 1;\n"
  "mul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd2, %rd1, %rd2;\nst.global.u32 [%rd2+4], %r2;\nret;\n}\n";

static CUmodule module;
static int setup(void **state) {
  host_setup(state);
  module = host_load(ptx);
  return 0;
}

TEST(test_initialisation) {
  sim_reset();
  int n = 0;
  assert_int_equal(CU(cuDeviceGetCount, (int *), &n), CUDA_ERROR_NOT_INITIALIZED);
  host_start();
  CUdeviceptr p;
  assert_int_equal(CU(cuCtxSetCurrent, (CUcontext), NULL), 0);
  assert_int_equal(CU(cuMemAlloc_v2, (CUdeviceptr *, size_t), &p, 4), CUDA_ERROR_INVALID_CONTEXT);
  host_start();
  int major = 0, sms = 0, optin = 0;
  CU(cuDeviceGetAttribute, (int *, CUdevice_attribute, CUdevice), &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0);
  CU(cuDeviceGetAttribute, (int *, CUdevice_attribute, CUdevice), &sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0);
  CU(cuDeviceGetAttribute, (int *, CUdevice_attribute, CUdevice), &optin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0);
  assert_int_equal(major, 9);
  assert_int_equal(sms, 132);
  assert_int_equal(optin, 232448);
  assert_int_equal(CU(cuDeviceGet, (CUdevice *, int), &n, 1), CUDA_ERROR_INVALID_DEVICE);
  const char *name = NULL;
  CU(cuGetErrorName, (CUresult, const char **), CUDA_ERROR_ILLEGAL_ADDRESS, &name);
  assert_string_equal(name, "CUDA_ERROR_ILLEGAL_ADDRESS");
  void *fn = NULL;
  CUdriverProcAddressQueryResult status;
  assert_int_equal(CU(cuGetProcAddress_v2, (const char *, void **, int, uint64_t, CUdriverProcAddressQueryResult *), "cuMemAlloc", &fn, 12000, 0, &status), 0);
  assert_ptr_equal(fn, sim_driver_symbol("cuMemAlloc_v2"));
  assert_int_equal(CU(cuGetProcAddress_v2, (const char *, void **, int, uint64_t, CUdriverProcAddressQueryResult *), "cuNothing", &fn, 12000, 0, &status), CUDA_ERROR_NOT_FOUND);
  assert_null(sim_driver_symbol("cuNothing"));
  assert_non_null(sim_driver_symbol("cuLaunchKernelEx_ptsz"));
  module = host_load(ptx);
}

TEST(test_memory) {
  size_t before, after, total;
  CU(cuMemGetInfo_v2, (size_t *, size_t *), &before, &total);
  uint16_t back[8];
  CUdeviceptr p = host_buffer(NULL, 16), q = host_buffer(NULL, 16);
  cu_ok(CU(cuMemsetD16_v2, (CUdeviceptr, unsigned short, size_t), p, 0x1234, 8), "memset");
  cu_ok(CU(cuMemcpyDtoD_v2, (CUdeviceptr, CUdeviceptr, size_t), q, p, 16), "copy");
  host_fetch(back, q, 16);
  for (int i = 0; i < 8; i++) assert_int_equal(back[i], 0x1234);
  assert_int_equal(CU(cuMemcpyHtoD_v2, (CUdeviceptr, const void *, size_t), p, back, 17), CUDA_ERROR_INVALID_VALUE);
  assert_non_null(strstr(sim_last_report(), "it runs past the end of the allocation of 16 bytes; sizes are in bytes"));
  assert_int_equal(CU(cuMemsetD32_v2, (CUdeviceptr, unsigned, size_t), p + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr base;
  size_t size;
  cu_ok(CU(cuMemGetAddressRange_v2, (CUdeviceptr *, size_t *, CUdeviceptr), &base, &size, p + 5), "range");
  assert_true(base == p && size == 16);
  assert_int_equal(CU(cuMemFree_v2, (CUdeviceptr), p), 0);
  assert_int_equal(CU(cuMemFree_v2, (CUdeviceptr), p), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(CU(cuMemFree_v2, (CUdeviceptr), q), 0);
  CU(cuMemGetInfo_v2, (size_t *, size_t *), &after, &total);
  assert_true(before == after);
  assert_int_equal(CU(cuMemAlloc_v2, (CUdeviceptr *, size_t), &p, total + 1), CUDA_ERROR_OUT_OF_MEMORY);
  // Pinned memory is reached from the kernel.
  float *pinned;
  cu_ok(CU(cuMemAllocHost_v2, (void **, size_t), (void **)&pinned, 64), "cuMemAllocHost");
  for (int i = 0; i < 16; i++) pinned[i] = (float)i;
  float a = 3;
  unsigned n = 16;
  LAUNCH(host_function(module, "scale"), 1, 32, 0, &pinned, &a, &n);
  for (int i = 0; i < 16; i++) assert_true(pinned[i] == 3 * (float)i);
  cu_ok(CU(cuMemFreeHost, (void *), pinned), "cuMemFreeHost");
}

static long resident_pages(void) {
  long all = 0, resident = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (!f) return -1;
  if (fscanf(f, "%ld %ld", &all, &resident) != 2) resident = -1;
  fclose(f);
  return resident;
}

// Freed memory goes back to the operating system, however small it is.
TEST(test_freed_memory) {
  enum { TIMES = 20000 };
  CUdeviceptr p;
  const long before = resident_pages();
  if (before < 0) skip();
  for (int i = 0; i < TIMES; i++) {
    cu_ok(CU(cuMemAlloc_v2, (CUdeviceptr *, size_t), &p, 4), "cuMemAlloc");
    cu_ok(CU(cuMemFree_v2, (CUdeviceptr), p), "cuMemFree");
  }
  const long pages = resident_pages() - before;
  if (pages > TIMES / 2) fail_msg("%ld pages are resident after %d allocations that were freed", pages, TIMES);
}

TEST(test_modules) {
  CUfunction f;
  assert_int_equal(CU(cuModuleGetFunction, (CUfunction *, CUmodule, const char *), &f, module, "none"), CUDA_ERROR_NOT_FOUND);
  CUdeviceptr g;
  size_t size;
  uint32_t v;
  cu_ok(CU(cuModuleGetGlobal_v2, (CUdeviceptr *, size_t *, CUmodule, const char *), &g, &size, module, "counter"), "cuModuleGetGlobal");
  host_fetch(&v, g, 4);
  assert_int_equal(v, 3);
  int value;
  f = host_function(module, "fixed");
  CU(cuFuncGetAttribute, (int *, CUfunction_attribute, CUfunction), &value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f);
  assert_int_equal(value, 64);
  CU(cuFuncGetAttribute, (int *, CUfunction_attribute, CUfunction), &value, CU_FUNC_ATTRIBUTE_NUM_REGS, f);
  assert_int_equal(value, 128);
  CUlibrary lib;
  CUkernel kernel;
  cu_ok(CU(cuLibraryLoadData, (CUlibrary *, const void *, CUjit_option *, void **, unsigned, CUlibraryOption *, void **, unsigned), &lib, ptx, NULL, NULL, 0, NULL, NULL, 0), "cuLibraryLoadData");
  cu_ok(CU(cuLibraryGetKernel, (CUkernel *, CUlibrary, const char *), &kernel, lib, "scale"), "cuLibraryGetKernel");
  cu_ok(CU(cuKernelGetFunction, (CUfunction *, CUkernel), &f, kernel), "cuKernelGetFunction");
  cu_ok(CU(cuLibraryUnload, (CUlibrary), lib), "cuLibraryUnload");
}

static void refused(CUresult code, CUfunction f, unsigned grid, unsigned block, unsigned shared, void **args, const char *message) {
  assert_int_equal(host_try_launch(f, grid, block, shared, args), code);
  if (!strstr(sim_last_report(), message)) fail_msg("\"%s\" lacks \"%s\"", sim_last_report(), message);
}
TEST(test_launch_limits) {
  CUdeviceptr out = host_buffer(NULL, 64);
  float a = 1;
  unsigned n = 1;
  CUfunction scale = host_function(module, "scale"), fixed = host_function(module, "fixed"), dynamic = host_function(module, "dynamic"), pair = host_function(module, "pair");
  refused(CUDA_ERROR_INVALID_VALUE, scale, 0, 32, 0, ARGS(&out, &a, &n), "scale: a dimension of the grid, block or cluster is 0");
  refused(CUDA_ERROR_INVALID_VALUE, scale, 1, 1025, 0, ARGS(&out, &a, &n), "scale: block (1025,1,1) exceeds 1024 threads or (1024,1024,64)");
  refused(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, scale, 1, 512, 0, ARGS(&out, &a, &n), "scale: 512 threads per block, but the kernel has .maxntid 256");
  refused(CUDA_ERROR_INVALID_VALUE, fixed, 1, 32, 0, ARGS(&out), "fixed: block (32,1,1), but the kernel has .reqntid 64,1,1");
  refused(CUDA_ERROR_INVALID_VALUE, scale, 1, 32, 0, NULL, "scale: no parameters are given, the kernel takes 3");
  refused(CUDA_ERROR_INVALID_VALUE, dynamic, 1, 1, 50000, ARGS(&out), "dynamic: 50000 bytes of dynamic shared memory exceed the function's limit of 49152 (CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES raises it)");
  cu_ok(CU(cuFuncSetAttribute, (CUfunction, CUfunction_attribute, int), dynamic, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 227 * 1024), "cuFuncSetAttribute");
  assert_int_equal(CU(cuFuncSetAttribute, (CUfunction, CUfunction_attribute, int), dynamic, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 228 * 1024), CUDA_ERROR_INVALID_VALUE);
  LAUNCH(dynamic, 1, 1, 227 * 1024, &out);
  uint32_t got[4];
  host_fetch(got, out, 4);
  assert_int_equal(got[0], 227 * 1024);
  refused(CUDA_ERROR_INVALID_CLUSTER_SIZE, pair, 3, 32, 0, ARGS(&out), "pair: grid (3,1,1) is no multiple of cluster (2,1,1)");
  LAUNCH(pair, 4, 1, 0, &out);
  host_fetch(got, out, 16);
  assert_memory_equal(got, ((uint32_t[]){0, 1, 10, 11}), 16);
  CUlaunchAttribute attr = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value = {.clusterDim = {16, 1, 1}}};
  CUlaunchConfig config = {.gridDimX = 16, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1, .attrs = &attr, .numAttrs = 1};
  assert_int_equal(CU(cuLaunchKernelEx, (const CUlaunchConfig *, CUfunction, void **, void **), &config, dynamic, ARGS(&out), NULL), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  cu_ok(CU(cuFuncSetAttribute, (CUfunction, CUfunction_attribute, int), dynamic, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1), "non-portable");
  config.sharedMemBytes = 16;
  cu_ok(CU(cuLaunchKernelEx, (const CUlaunchConfig *, CUfunction, void **, void **), &config, dynamic, ARGS(&out), NULL), "cluster of 16");
  assert_int_equal(CU(cuLaunchCooperativeKernel, (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **), scale, 132 * 8 + 1, 1, 1, 256, 1, 1, 0, NULL, ARGS(&out, &a, &n)), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  // Launches of a stream run one after another, which programmatic serialization allows.
  CUlaunchAttribute early = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, .value = {.programmaticStreamSerializationAllowed = 1}};
  config = (CUlaunchConfig){.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1, .sharedMemBytes = 16, .attrs = &early, .numAttrs = 1};
  cu_ok(CU(cuLaunchKernelEx, (const CUlaunchConfig *, CUfunction, void **, void **), &config, dynamic, ARGS(&out), NULL), "programmatic launch");
  int blocks;
  cu_ok(CU(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *, CUfunction, int, size_t), &blocks, dynamic, 128, 100 * 1024), "occupancy");
  assert_int_equal(blocks, 2);
  // Parameters as one buffer.
  struct { CUdeviceptr x; float a; unsigned n; } packed = {out, 2, 0};
  size_t size = sizeof packed;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  cu_ok(CU(cuLaunchKernel, (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **), scale, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, extra), "extra");
}

TEST(test_streams_and_graphs) {
  CUstream s, t;
  CUevent e, f;
  CUgraph g;
  CUgraphExec exec;
  float x[4] = {1, 2, 3, 4}, a = 10;
  unsigned n = 4;
  CUdeviceptr d = host_buffer(x, sizeof x), c = host_buffer(NULL, sizeof x);
  cu_ok(CU(cuStreamCreate, (CUstream *, unsigned), &s, CU_STREAM_NON_BLOCKING), "stream");
  cu_ok(CU(cuStreamCreate, (CUstream *, unsigned), &t, CU_STREAM_NON_BLOCKING), "stream");
  cu_ok(CU(cuEventCreate, (CUevent *, unsigned), &e, 0), "event");
  cu_ok(CU(cuEventCreate, (CUevent *, unsigned), &f, 0), "event");
  cu_ok(CU(cuStreamBeginCapture_v2, (CUstream, CUstreamCaptureMode), s, CU_STREAM_CAPTURE_MODE_RELAXED), "begin");
  cu_ok(CU(cuLaunchKernel, (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **), host_function(module, "scale"), 1, 1, 1, 32, 1, 1, 0, s, ARGS(&d, &a, &n), NULL), "launch");
  cu_ok(CU(cuEventRecord, (CUevent, CUstream), e, s), "fork");
  cu_ok(CU(cuStreamWaitEvent, (CUstream, CUevent, unsigned), t, e, 0), "fork");
  cu_ok(CU(cuMemcpyDtoDAsync_v2, (CUdeviceptr, CUdeviceptr, size_t, CUstream), c, d, sizeof x, t), "copy");
  assert_int_equal(CU(cuStreamSynchronize, (CUstream), s), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  cu_ok(CU(cuStreamEndCapture, (CUstream, CUgraph *), s, &g), "end");
  float back[4];
  host_fetch(back, d, sizeof back);
  assert_memory_equal(back, x, sizeof x);   // captured, not run
  size_t nodes = 0;
  cu_ok(CU(cuGraphGetNodes, (CUgraph, CUgraphNode *, size_t *), g, NULL, &nodes), "nodes");
  assert_int_equal(nodes, 2);
  cu_ok(CU(cuGraphInstantiateWithFlags, (CUgraphExec *, CUgraph, unsigned long long), &exec, g, 0), "instantiate");
  a = 0;   // the capture has its own copy
  cu_ok(CU(cuEventRecord, (CUevent, CUstream), e, s), "record");
  cu_ok(CU(cuGraphLaunch, (CUgraphExec, CUstream), exec, s), "launch");
  cu_ok(CU(cuGraphLaunch, (CUgraphExec, CUstream), exec, s), "launch");
  cu_ok(CU(cuEventRecord, (CUevent, CUstream), f, s), "record");
  host_fetch(back, c, sizeof back);
  for (int i = 0; i < 4; i++) assert_true(back[i] == 100 * x[i]);
  float ms = -1;
  cu_ok(CU(cuEventElapsedTime, (float *, CUevent, CUevent), &ms, e, f), "elapsed");
  assert_true(ms >= 0);
  CU(cuGraphExecDestroy, (CUgraphExec), exec);
  CU(cuGraphDestroy, (CUgraph), g);
  CU(cuEventDestroy_v2, (CUevent), e);
  CU(cuEventDestroy_v2, (CUevent), f);
  cu_ok(CU(cuStreamDestroy_v2, (CUstream), s), "destroy");
  assert_int_equal(CU(cuStreamDestroy_v2, (CUstream), s), CUDA_ERROR_INVALID_HANDLE);
}

static void told(CUresult r, CUresult code, const char *message) {
  if (r != code || !strstr(sim_last_report(), message)) fail_msg("%d, not %d; \"%s\", not \"%s\"", (int)r, (int)code, sim_last_report(), message);
}

// Calls that a program gets wrong, by what it is told.
TEST(test_refusals) {
  CUdeviceptr p = 0, q = host_buffer(NULL, 64);
  size_t size;
  int value;
  void *fn;
  CUfunction f = host_function(module, "fixed"), pair = host_function(module, "pair");
  told(CU(cuGetProcAddress_v2, (const char *, void **, int, uint64_t, CUdriverProcAddressQueryResult *), "cuNothing", &fn, 12000, 0, NULL), CUDA_ERROR_NOT_FOUND, "the simulator has no cuNothing");
  told(CU(cuModuleLoad, (CUmodule *, const char *), &module, "/nowhere.ptx"), CUDA_ERROR_FILE_NOT_FOUND, "cannot open /nowhere.ptx");
  told(CU(cuModuleUnload, (CUmodule), (CUmodule)&p), CUDA_ERROR_INVALID_HANDLE, "no such module");
  told(CU(cuModuleGetFunction, (CUfunction *, CUmodule, const char *), &f, module, "none"), CUDA_ERROR_NOT_FOUND, "the module has no kernel none");
  told(CU(cuModuleGetGlobal_v2, (CUdeviceptr *, size_t *, CUmodule, const char *), &p, &size, module, "none"), CUDA_ERROR_NOT_FOUND, "the module has no global none");
  told(CU(cuFuncSetAttribute, (CUfunction, CUfunction_attribute, int), f, CU_FUNC_ATTRIBUTE_NUM_REGS, 1), CUDA_ERROR_INVALID_VALUE, "function attribute 4 cannot be set");
  told(CU(cuPointerGetAttribute, (void *, CUpointer_attribute, CUdeviceptr), &value, (CUpointer_attribute)99, q), CUDA_ERROR_NOT_SUPPORTED, "pointer attribute 99");
  // memory: sizes that wrap around
  size_t unused, total;
  char message[128];
  CU(cuMemGetInfo_v2, (size_t *, size_t *), &unused, &total);
  snprintf(message, sizeof message, "no 18446744073709551615 bytes left: %zu of %zu are in use", total - unused, total);
  told(CU(cuMemAlloc_v2, (CUdeviceptr *, size_t), &p, SIZE_MAX), CUDA_ERROR_OUT_OF_MEMORY, message);
  told(CU(cuMemAllocPitch_v2, (CUdeviceptr *, size_t *, size_t, size_t, unsigned), &p, &size, SIZE_MAX - 5, 1, 4), CUDA_ERROR_OUT_OF_MEMORY, "1 rows of 18446744073709551610 bytes are more than any memory");
  told(CU(cuMemAllocPitch_v2, (CUdeviceptr *, size_t *, size_t, size_t, unsigned), &p, &size, 512, SIZE_MAX / 512 + 2, 4), CUDA_ERROR_OUT_OF_MEMORY, "bytes are more than any memory");
  told(CU(cuMemsetD32_v2, (CUdeviceptr, unsigned, size_t), q, 0, SIZE_MAX / 4 + 2), CUDA_ERROR_INVALID_VALUE, "memset of 4611686018427387905 elements of 4 bytes");
  told(CU(cuMemsetD2D32Async, (CUdeviceptr, size_t, unsigned, size_t, size_t, CUstream), q, 8, 0, 1, SIZE_MAX / 8 + 2, NULL), CUDA_ERROR_INVALID_VALUE, "memset of 2305843009213693953 rows at a pitch of 8");
  // launches
  CUlaunchAttribute cluster = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value = {.clusterDim = {4, 1, 1}}};
  CUlaunchConfig c = {.gridDimX = 16, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 32, .blockDimY = 1, .blockDimZ = 1, .attrs = &cluster, .numAttrs = 1};
#define TRY(function) CU(cuLaunchKernelEx, (const CUlaunchConfig *, CUfunction, void **, void **), &c, function, ARGS(&q), NULL)
  told(TRY(pair), CUDA_ERROR_INVALID_CLUSTER_SIZE, "pair: cluster (4,1,1), but the kernel has .reqnctapercluster 2,1,1");
  cluster.value.clusterDim.x = 16;
  told(TRY(host_function(module, "race")), CUDA_ERROR_INVALID_CLUSTER_SIZE, "race: a cluster of 16 blocks, at most 8 are allowed");
  c.numAttrs = 0, c.gridDimX = 1u << 20;
  CUlaunchAttribute together = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value = {.cooperative = 1}};
  c.attrs = &together, c.numAttrs = 1;
  told(TRY(host_function(module, "race")), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "race: 1048576 blocks, but only 4224 are resident at a time");
  void *extra[] = {&value, &value, CU_LAUNCH_PARAM_END};
  told(CU(cuLaunchKernel, (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **), f, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, extra), CUDA_ERROR_INVALID_VALUE, "unknown entry in `extra`");
  // registers and shared memory of which 32 bits are not enough to count: refused, not taken for little
  CUmodule large = host_load(".version 8.3\n.target sm_90a\n.address_size 64\n.shared .b8 big[4294967295];\n.shared .b8 more[4096];\n"
                             ".visible .entry regs() .maxnreg 134217728 { ret; }\n"
                             ".visible .entry much() { .reg .b32 %r<2>; mov.u32 %r1, big; mov.u32 %r1, more; ret; }\n");
  int blocks = -1;
  cu_ok(CU(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *, CUfunction, int, size_t), &blocks, host_function(large, "regs"), 32, 0), "occupancy");
  assert_int_equal(blocks, 0);
  refused(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, host_function(large, "regs"), 1, 32, 0, NULL, "regs: 32 threads of 134217728 registers exceed 65536 registers");
  refused(CUDA_ERROR_INVALID_VALUE, host_function(large, "much"), 1, 32, 0, NULL, "much: 1073741824 + 0 bytes of shared memory exceed the block's 232448");
  cu_ok(CU(cuModuleUnload, (CUmodule), large), "unload");
  c.blockDimX = 1u << 31, c.blockDimY = 2, c.blockDimZ = 1, c.numAttrs = 0;
  cu_ok(CU(cuOccupancyMaxActiveClusters, (int *, CUfunction, const CUlaunchConfig *), &value, f, &c), "occupancy");
  assert_int_equal(value, 0);
  // contexts
  CUcontext context;
  CU(cuCtxPopCurrent_v2, (CUcontext *), &context);
  told(CU(cuMemAlloc_v2, (CUdeviceptr *, size_t), &p, 4), CUDA_ERROR_INVALID_CONTEXT, "no context is current");
  told(CU(cuCtxPopCurrent_v2, (CUcontext *), &context), CUDA_ERROR_INVALID_CONTEXT, "no context to pop");
  // the last release frees the context's memory
  cu_ok(CU(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice), &context, 0), "retain");
  cu_ok(CU(cuCtxSetCurrent, (CUcontext), context), "cuCtxSetCurrent");
  cu_ok(CU(cuMemAlloc_v2, (CUdeviceptr *, size_t), &p, 4), "cuMemAlloc");
  cu_ok(CU(cuDevicePrimaryCtxRelease_v2, (CUdevice), 0), "release");
  cu_ok(CU(cuMemGetAddressRange_v2, (CUdeviceptr *, size_t *, CUdeviceptr), NULL, NULL, p), "still allocated");
  while (!CU(cuDevicePrimaryCtxRelease_v2, (CUdevice), 0)) {}
  told(CU(cuMemGetAddressRange_v2, (CUdeviceptr *, size_t *, CUdeviceptr), NULL, NULL, p), CUDA_ERROR_INVALID_VALUE, "is not allocated");
  told(CU(cuDevicePrimaryCtxRelease_v2, (CUdevice), 0), CUDA_ERROR_INVALID_CONTEXT, "the primary context of device 0 is not retained");
  sim_reset();
  told(CU(cuMemAlloc_v2, (CUdeviceptr *, size_t), &p, 4), CUDA_ERROR_NOT_INITIALIZED, "cuInit has not been called");
  host_start();
  module = host_load(ptx);
}

// What is captured outlives neither its module nor, for events, its capture.
TEST(test_captures) {
  CUstream s, t;
  CUevent e;
  CUgraph g;
  CUgraphExec exec;
  float ms;
  cu_ok(CU(cuStreamCreate, (CUstream *, unsigned), &s, CU_STREAM_NON_BLOCKING), "stream");
  cu_ok(CU(cuStreamCreate, (CUstream *, unsigned), &t, CU_STREAM_NON_BLOCKING), "stream");
  cu_ok(CU(cuEventCreate, (CUevent *, unsigned), &e, 0), "event");
#define BEGIN(stream) CU(cuStreamBeginCapture_v2, (CUstream, CUstreamCaptureMode), stream, CU_STREAM_CAPTURE_MODE_RELAXED)
#define END_CAPTURE(stream) CU(cuStreamEndCapture, (CUstream, CUgraph *), stream, &g)
  told(BEGIN(NULL), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the default stream cannot be captured");
  told(END_CAPTURE(s), CUDA_ERROR_ILLEGAL_STATE, "the stream is not being captured");
  told(CU(cuEventElapsedTime, (float *, CUevent, CUevent), &ms, e, e), CUDA_ERROR_INVALID_HANDLE, "an event that has no time");
  cu_ok(BEGIN(s), "begin");
  told(BEGIN(s), CUDA_ERROR_ILLEGAL_STATE, "the stream is being captured already");
  cu_ok(CU(cuEventRecord, (CUevent, CUstream), e, s), "record");
  cu_ok(CU(cuStreamWaitEvent, (CUstream, CUevent, unsigned), t, e, 0), "fork");
  told(END_CAPTURE(t), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "capture began in another stream");
  told(CU(cuEventSynchronize, (CUevent), e), CUDA_ERROR_CAPTURED_EVENT, "the event was last recorded in a captured stream");
  CUmodule other = host_load(ptx);
  CUdeviceptr out = host_buffer(NULL, 1024);
  cu_ok(CU(cuLaunchKernel, (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **), host_function(other, "race"), 1, 1, 1, 32, 1, 1, 0, s, ARGS(&out), NULL), "launch");
  cu_ok(END_CAPTURE(s), "end");
  told(CU(cuStreamWaitEvent, (CUstream, CUevent, unsigned), t, e, 0), CUDA_ERROR_CAPTURED_EVENT, "the capture in which the event was recorded has ended");
  cu_ok(CU(cuGraphInstantiateWithFlags, (CUgraphExec *, CUgraph, unsigned long long), &exec, g, 0), "instantiate");
  cu_ok(CU(cuGraphLaunch, (CUgraphExec, CUstream), exec, s), "launch");
  cu_ok(CU(cuModuleUnload, (CUmodule), other), "unload");
  told(CU(cuGraphLaunch, (CUgraphExec, CUstream), exec, s), CUDA_ERROR_INVALID_VALUE, "a kernel of a module that is unloaded");
  CUgraphExec again;
  told(CU(cuGraphInstantiateWithFlags, (CUgraphExec *, CUgraph, unsigned long long), &again, g, 0), CUDA_ERROR_INVALID_VALUE, "a kernel of a module that is unloaded");
  cu_ok(CU(cuGraphExecDestroy, (CUgraphExec), exec), "destroy");
  cu_ok(CU(cuGraphDestroy, (CUgraph), g), "destroy");
  // A stream that goes away while it is captured takes the capture with it.
  cu_ok(BEGIN(s), "begin");
  cu_ok(CU(cuEventRecord, (CUevent, CUstream), e, s), "record");
  cu_ok(CU(cuStreamWaitEvent, (CUstream, CUevent, unsigned), t, e, 0), "fork");
  cu_ok(CU(cuStreamDestroy_v2, (CUstream), s), "destroy");
  told(CU(cuStreamDestroy_v2, (CUstream), s), CUDA_ERROR_INVALID_HANDLE, "no such stream");
  told(CU(cuStreamSynchronize, (CUstream), s), CUDA_ERROR_INVALID_HANDLE, "no such stream: it was never made, or is destroyed");
  told(CU(cuStreamIsCapturing, (CUstream, CUstreamCaptureStatus *), s, &(CUstreamCaptureStatus){0}), CUDA_ERROR_INVALID_HANDLE, "no such stream");
  told(CU(cuStreamSynchronize, (CUstream), (CUstream)(uintptr_t)0x1234), CUDA_ERROR_INVALID_HANDLE, "no such stream");
  cu_ok(CU(cuStreamSynchronize, (CUstream), t), "synchronize");
  cu_ok(CU(cuStreamDestroy_v2, (CUstream), t), "destroy");
  cu_ok(CU(cuEventDestroy_v2, (CUevent), e), "destroy");
}

TEST(test_sticky_errors) {
  CUdeviceptr bad = 64, p;
  float a = 1;
  unsigned n = 1;
  assert_int_equal(host_try_launch(host_function(module, "scale"), 1, 32, 0, ARGS(&bad, &a, &n)), CUDA_ERROR_ILLEGAL_ADDRESS);
  assert_int_equal(CU(cuMemAlloc_v2, (CUdeviceptr *, size_t), &p, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
  assert_int_equal(CU(cuCtxSynchronize, (void)), CUDA_ERROR_ILLEGAL_ADDRESS);
  assert_non_null(strstr(sim_last_report(), "kernel scale"));
  cu_ok(CU(cuDevicePrimaryCtxReset_v2, (CUdevice), 0), "reset");
  cu_ok(CU(cuMemAlloc_v2, (CUdeviceptr *, size_t), &p, 4), "cuMemAlloc");
}

TEST(test_seeds) {
  // The same seed gives the same schedule; among several seeds schedules differ.
  uint32_t first[65], again[65];
  int differ = 0;
  for (int seed = 0; seed < 8; seed++) {
    uint32_t got[65];
    for (int k = 0; k < 2; k++) {
      char text[8];
      snprintf(text, sizeof text, "%d", seed);
      setenv("TILE_SIM_SEED", text, 1);
      sim_reset();
      host_start();
      module = host_load(ptx);
      CUdeviceptr d = host_buffer(NULL, sizeof got);
      LAUNCH(host_function(module, "race"), 1, 64, 0, &d);
      host_fetch(k ? again : got, d, sizeof got);
    }
    assert_memory_equal(got, again, sizeof got);
    assert_int_equal(got[0], 64);
    if (!seed) memcpy(first, got, sizeof first);
    differ += memcmp(first, got, sizeof first) != 0;
  }
  assert_true(differ > 0);
  unsetenv("TILE_SIM_SEED");
  // Several schedules of one launch start from the same memory.
  setenv("TILE_SIM_SEEDS", "5", 1);
  sim_reset();
  host_start();
  module = host_load(ptx);
  CUdeviceptr d = host_buffer(NULL, sizeof first);
  LAUNCH(host_function(module, "race"), 1, 64, 0, &d);
  host_fetch(first, d, sizeof first);
  assert_int_equal(first[0], 64);
  unsetenv("TILE_SIM_SEEDS");
}

TEST(test_devices) {
  setenv("TILE_SIM_DEVICES", "2", 1);
  sim_reset();
  host_start();
  int n = 0;
  CU(cuDeviceGetCount, (int *), &n);
  assert_int_equal(n, 2);
  CUdeviceptr on0 = host_buffer(NULL, 64);
  CUcontext second;
  cu_ok(CU(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice), &second, 1), "retain");
  cu_ok(CU(cuCtxPushCurrent_v2, (CUcontext), second), "push");
  CUdeviceptr on1 = host_buffer("0123456789abcde", 16);
  cu_ok(CU(cuMemcpyDtoD_v2, (CUdeviceptr, CUdeviceptr, size_t), on0, on1, 16), "peer copy");
  int ordinal = -1;
  cu_ok(CU(cuPointerGetAttribute, (void *, CUpointer_attribute, CUdeviceptr), &ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, on1), "ordinal");
  assert_int_equal(ordinal, 1);
  float fours[] = {4, 4}, factor = 2.5f;
  unsigned count = 2;
  CUdeviceptr scaled = host_buffer(fours, sizeof fours);
  LAUNCH(host_function(host_load(ptx), "scale"), 1, 32, 0, &scaled, &factor, &count);
  host_fetch(fours, scaled, sizeof fours);
  assert_true(fours[0] == 10 && fours[1] == 10);
  CUcontext popped;
  cu_ok(CU(cuCtxPopCurrent_v2, (CUcontext *), &popped), "pop");
  assert_ptr_equal(popped, second);
  char text[16];
  host_fetch(text, on0, 16);
  assert_string_equal(text, "0123456789abcde");
  unsetenv("TILE_SIM_DEVICES");
  // A smaller device.
  setenv("TILE_SIM_SMS", "4", 1), setenv("TILE_SIM_SHARED", "102400", 1), setenv("TILE_SIM_MEMORY", "16777216", 1);
  sim_reset();
  host_start();
  int sms = 0, optin = 0;
  CU(cuDeviceGetAttribute, (int *, CUdevice_attribute, CUdevice), &sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0);
  CU(cuDeviceGetAttribute, (int *, CUdevice_attribute, CUdevice), &optin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0);
  assert_int_equal(sms, 4);
  assert_int_equal(optin, 102400);
  module = host_load(ptx);
  CUfunction dynamic = host_function(module, "dynamic");
  assert_int_equal(CU(cuFuncSetAttribute, (CUfunction, CUfunction_attribute, int), dynamic, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 102401), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(CU(cuMemAlloc_v2, (CUdeviceptr *, size_t), &on0, 16777217), CUDA_ERROR_OUT_OF_MEMORY);
  unsetenv("TILE_SIM_SMS"), unsetenv("TILE_SIM_SHARED"), unsetenv("TILE_SIM_MEMORY");
  sim_reset();
  host_start();
  module = host_load(ptx);
}

TEST(test_timeline) {
  char path[] = "/tmp/tile-sim-trace-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  setenv("TILE_SIM_TRACE", path, 1);
  sim_reset();
  host_start();
  module = host_load(ptx);
  CUdeviceptr d = host_buffer(NULL, 65 * 4);
  LAUNCH(host_function(module, "race"), 1, 64, 0, &d);
  unsetenv("TILE_SIM_TRACE");
  char *text = host_read(path);
  unlink(path);
  assert_non_null(strstr(text, "\"kernel\":\"race\""));
  assert_non_null(strstr(text, "\"name\":\"warp 1\""));
  assert_non_null(strstr(text, "\"ph\":\"X\""));
  const char *totals = strstr(text, "\n],\"warpInstructions\":");
  assert_non_null(totals);
  assert_string_equal(text + strlen(text) - 2, "}\n");
  free(text);
}

TEST(test_tensor_map) {
  CUtensorMap map;
  CUdeviceptr p = host_buffer(NULL, 64 * 128 * 2);
  uint64_t dims[] = {128, 64}, strides[] = {256};
  uint32_t box[] = {64, 32}, step[] = {1, 1};
#define ENCODE(base, sw)                                                                                                        \
  CU(cuTensorMapEncodeTiled,                                                                                                    \
     (CUtensorMap *, CUtensorMapDataType, uint32_t, void *, const uint64_t *, const uint64_t *, const uint32_t *, const uint32_t *, \
      CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill),                              \
     &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, (void *)(uintptr_t)(base), dims, strides, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE, sw, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
  assert_int_equal(ENCODE(p, CU_TENSOR_MAP_SWIZZLE_128B), 0);
  assert_int_equal(ENCODE(p + 8, CU_TENSOR_MAP_SWIZZLE_128B), CUDA_ERROR_INVALID_VALUE);
  assert_non_null(strstr(sim_last_report(), "tensor map"));
  assert_int_equal(ENCODE(p, CU_TENSOR_MAP_SWIZZLE_64B), CUDA_ERROR_INVALID_VALUE);   // 128 bytes of box do not fit 64
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_initialisation), cmocka_unit_test(test_memory), cmocka_unit_test(test_freed_memory), cmocka_unit_test(test_modules), cmocka_unit_test(test_launch_limits),
    cmocka_unit_test(test_streams_and_graphs), cmocka_unit_test(test_refusals), cmocka_unit_test(test_captures), cmocka_unit_test(test_sticky_errors), cmocka_unit_test(test_seeds), cmocka_unit_test(test_devices),
    cmocka_unit_test(test_timeline), cmocka_unit_test(test_tensor_map),
  };
  return cmocka_run_group_tests(tests, setup, host_teardown);
}
