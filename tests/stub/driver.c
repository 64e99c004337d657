// A libcuda.so.1 that runs nothing: launches return at once, memory is the host's. It shows what libtile itself costs, and which
// calls of the driver it makes.
//   cc -O2 -fPIC -shared -I . tests/stub/driver.c tests/stub/defaults.c -o DIR/libcuda.so.1
// STUB_LOAD_MS: how long assembling a module takes. STUB_CAPTURING=1: every stream is being captured. STUB_REFUSES_CUBINS=1: only PTX can be
// loaded. STUB_SPILLS=1: kernels with an occupancy hint use local memory. STUB_CALLS=FILE: counts
// of calls, written when the process ends. STUB_BUSY_MS: how long each launch keeps the device busy. STUB_FAILS=1: launches fail; the
// context then answers all but its release with that failure. STUB_SAYS=TEXT: what assembling tells of code that it takes.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/rt/cuda_types.h"

typedef struct { atomic_int loads, cubins, most_loads_at_once, loading, launches, clusters, cooperative, dependent; } Counts;
static Counts counts;
static _Thread_local CUcontext current;
static _Atomic double busy_until;      // ms on the host's clock
static atomic_int failed, retained;
static char context, hinted;

static int env_int(const char *name) {
  const char *s = getenv(name);
  return s ? atoi(s) : 0;
}

__attribute__((destructor)) static void write_counts(void) {
  const char *path = getenv("STUB_CALLS");
  FILE *f = path ? fopen(path, "w") : NULL;
  if (!f) return;
  fprintf(f, "loads %d\nof machine code %d\nloads at once %d\nlaunches %d\nin clusters of 2 %d\ncooperative %d\ndependent %d\n", counts.loads, counts.cubins, counts.most_loads_at_once, counts.launches, counts.clusters,
          counts.cooperative, counts.dependent);
  fclose(f);
}

CUresult cuDriverGetVersion(int *version) { return *version = 13000, CUDA_SUCCESS; }
CUresult cuGetErrorName(CUresult r, const char **name) { return *name = r ? "CUDA_ERROR_STUB" : "CUDA_SUCCESS", CUDA_SUCCESS; }
CUresult cuGetErrorString(CUresult r, const char **text) { return *text = r ? "the stub driver says so" : "no error", CUDA_SUCCESS; }
CUresult cuDeviceGetCount(int *count) { return *count = 1, CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice *device, int ordinal) { return *device = ordinal, CUDA_SUCCESS; }
CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
  (void)device;
  snprintf(name, (size_t)size, "stub");
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  (void)device;
  *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9 : attribute == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN ? 227 * 1024 : 0;
  return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) { return (void)device, *bytes = (size_t)80 << 30, CUDA_SUCCESS; }
CUresult cuDevicePrimaryCtxRetain(CUcontext *c, CUdevice device) { return (void)device, retained++, *c = (CUcontext)&context, CUDA_SUCCESS; }
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  (void)device;
  if (!--retained) failed = 0;
  return CUDA_SUCCESS;
}

// ---- a device that is busy ----

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}
static int busy, fails;                // what each launch does
__attribute__((constructor)) static void read_environment(void) { busy = env_int("STUB_BUSY_MS"), fails = env_int("STUB_FAILS"); }
static CUresult state(void) { return failed ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS; }
static CUresult query(double until) { return failed ? state() : now_ms() < until ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS; }
static CUresult wait_until(double until) {
  while (query(until) == CUDA_ERROR_NOT_READY) nanosleep(&(struct timespec){0, 200000}, NULL);
  return state();
}
CUresult cuCtxSynchronize(void) { return wait_until(busy_until); }
CUresult cuStreamCreate(CUstream *stream, unsigned flags) { return (void)flags, *stream = malloc(1), CUDA_SUCCESS; }
CUresult cuStreamDestroy_v2(CUstream stream) { return free(stream), CUDA_SUCCESS; }
CUresult cuStreamSynchronize(CUstream stream) { return (void)stream, wait_until(busy_until); }
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, CUfunction function, int block, size_t dynamic_shared) {
  (void)function, (void)block, (void)dynamic_shared;
  return *count = 1, CUDA_SUCCESS;
}
CUresult cuStreamQuery(CUstream stream) { return (void)stream, query(busy_until); }
CUresult cuEventCreate(CUevent *event, unsigned flags) {
  (void)flags;
  *event = calloc(1, sizeof(double));
  return *event ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuEventDestroy_v2(CUevent event) { return free(event), CUDA_SUCCESS; }
CUresult cuEventRecord(CUevent event, CUstream stream) {
  const double until = busy_until, now = now_ms();
  (void)stream;
  return *(double *)event = until > now ? until : now, state();
}
CUresult cuEventSynchronize(CUevent event) { return wait_until(*(double *)event); }
CUresult cuEventQuery(CUevent event) { return query(*(double *)event); }
CUresult cuCtxGetCurrent(CUcontext *c) { return *c = current, CUDA_SUCCESS; }
CUresult cuCtxSetCurrent(CUcontext c) { return current = c, CUDA_SUCCESS; }
CUresult cuCtxPushCurrent_v2(CUcontext c) { return current = c, CUDA_SUCCESS; }
CUresult cuCtxPopCurrent_v2(CUcontext *c) { return *c = current, current = NULL, CUDA_SUCCESS; }
CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t size) {
  if (failed) return state();
  void *p = aligned_alloc(256, (size + 255) / 256 * 256);
  *address = (CUdeviceptr)(uintptr_t)p;
  return p ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuMemFree_v2(CUdeviceptr address) { return free((void *)(uintptr_t)address), CUDA_SUCCESS; }
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size) { return memcpy((void *)(uintptr_t)to, from, size), CUDA_SUCCESS; }
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size) { return memcpy(to, (const void *)(uintptr_t)from, size), CUDA_SUCCESS; }
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, CUstream stream) { return (void)stream, cuMemcpyHtoD_v2(to, from, size); }
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream stream) { return (void)stream, cuMemcpyDtoH_v2(to, from, size); }
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) { return (void)stream, cuMemcpyDtoH_v2((void *)(uintptr_t)to, from, size); }
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  (void)stream;
  for (size_t i = 0; i < count; i++) memcpy((char *)(uintptr_t)to + i * sizeof value, &value, sizeof value);
  return state();
}
CUresult cuMemHostAlloc(void **memory, size_t size, unsigned flags) { return (void)flags, *memory = malloc(size), CUDA_SUCCESS; }
CUresult cuMemFreeHost(void *memory) { return free(memory), CUDA_SUCCESS; }
CUresult cuMemGetInfo_v2(size_t *left, size_t *total) { return *total = (size_t)80 << 30, *left = (size_t)60 << 30, state(); }
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned n, CUjit_option *options, void **values) {
  if (failed) return state();
  for (unsigned i = 0; i < n; i++)
    if (options[i] == CU_JIT_INFO_LOG_BUFFER && getenv("STUB_SAYS")) strcpy(values[i], getenv("STUB_SAYS"));
  if (!memcmp(image, "\177ELF", 4)) {
    if (env_int("STUB_REFUSES_CUBINS")) return CUDA_ERROR_NO_BINARY_FOR_GPU;
    atomic_fetch_add(&counts.cubins, 1);
  }
  int now = atomic_fetch_add(&counts.loading, 1) + 1, most = counts.most_loads_at_once;
  while (now > most && !atomic_compare_exchange_weak(&counts.most_loads_at_once, &most, now)) {}
  atomic_fetch_add(&counts.loads, 1);
  int ms = env_int("STUB_LOAD_MS");
  nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
  atomic_fetch_sub(&counts.loading, 1);
  return *module = (CUmodule)(strstr(image, "\n.minnctapersm") ? &hinted : &context), CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction *f, CUmodule module, const char *name) { return (void)name, *f = (CUfunction)module, CUDA_SUCCESS; }
CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction f) {
  return *value = attribute == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES && f == (CUfunction)&hinted && env_int("STUB_SPILLS") ? 16 : 0, CUDA_SUCCESS;
}
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **params, void **extra) {
  (void)f, (void)params, (void)extra;
  for (unsigned i = 0; i < config->numAttrs; i++) {
    const CUlaunchAttribute *a = &config->attrs[i];
    if (a->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION && a->value.clusterDim.x == 2 && config->gridDimX % 2 == 0) atomic_fetch_add(&counts.clusters, 1);
    if (a->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && a->value.cooperative) atomic_fetch_add(&counts.cooperative, 1);
    if (a->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION && a->value.programmaticStreamSerializationAllowed) atomic_fetch_add(&counts.dependent, 1);
  }
  atomic_fetch_add_explicit(&counts.launches, 1, memory_order_relaxed);
  if (failed) return state();
  if (busy) busy_until = now_ms() + busy;
  if (fails) failed = 1;
  return CUDA_SUCCESS;
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) { return (void)stream, *status = (CUstreamCaptureStatus)env_int("STUB_CAPTURING"), CUDA_SUCCESS; }
CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end) {
  const float elapsed = (float)(*(double *)end - *(double *)start);
  return *ms = elapsed > 0.01f ? elapsed : 0.01f, CUDA_SUCCESS;
}
