// Host side of the simulator's tests: the driver by name, buffers, launches. A failed call fails the test with the report.
#ifndef TILE_TESTS_SIM_HOST_H
#define TILE_TESTS_SIM_HOST_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

#include "runtime/rt/cuda_types.h"
#include "runtime/sim/driver.h"

// TILE_TEST_GPU=1 runs the same tests on the real driver: that is how expectations are checked and recorded.
static inline bool host_on_gpu(void) { return getenv("TILE_TEST_GPU") != NULL; }
static inline void *host_symbol(const char *name) {
  if (!host_on_gpu()) return sim_driver_symbol(name);
  void *lib = dlopen("libcuda.so.1", RTLD_NOW);
  return lib ? dlsym(lib, name) : NULL;
}
#define CU(name, type, ...) (((CUresult(*) type)host_symbol(#name))(__VA_ARGS__))

static inline void cu_ok(CUresult r, const char *what) {
  if (r) fail_msg("%s: error %d\n%s", what, (int)r, sim_last_report());
}
static inline void host_start(void) {
  CUcontext c;
  cu_ok(CU(cuInit, (unsigned), 0), "cuInit");
  cu_ok(CU(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice), &c, 0), "cuDevicePrimaryCtxRetain");
  cu_ok(CU(cuCtxSetCurrent, (CUcontext), c), "cuCtxSetCurrent");
}
static inline int host_setup(void **state) {
  (void)state;
  host_start();
  return 0;
}
static inline int host_teardown(void **state) {
  (void)state;
  if (!host_on_gpu()) sim_reset();
  return 0;
}
static inline char *host_read(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f) fail_msg("cannot open %s", path);
  fseek(f, 0, SEEK_END);
  long n = ftell(f);
  rewind(f);
  char *text = calloc(1, (size_t)n + 1);
  assert_int_equal(fread(text, 1, (size_t)n, f), n);
  fclose(f);
  return text;
}
static inline CUresult host_try_load(const char *ptx, CUmodule *m) { return CU(cuModuleLoadData, (CUmodule *, const void *), m, ptx); }
static inline CUmodule host_load(const char *ptx) {
  CUmodule m = NULL;
  cu_ok(host_try_load(ptx, &m), "cuModuleLoadData");
  return m;
}
static inline CUfunction host_function(CUmodule m, const char *name) {
  CUfunction f = NULL;
  cu_ok(CU(cuModuleGetFunction, (CUfunction *, CUmodule, const char *), &f, m, name), name);
  return f;
}
static inline CUdeviceptr host_buffer(const void *data, size_t size) {
  CUdeviceptr p = 0;
  cu_ok(CU(cuMemAlloc_v2, (CUdeviceptr *, size_t), &p, size), "cuMemAlloc");
  if (data) cu_ok(CU(cuMemcpyHtoD_v2, (CUdeviceptr, const void *, size_t), p, data, size), "cuMemcpyHtoD");
  else cu_ok(CU(cuMemsetD8_v2, (CUdeviceptr, unsigned char, size_t), p, 0, size), "cuMemsetD8");
  return p;
}
static inline void host_fetch(void *to, CUdeviceptr from, size_t size) {
  cu_ok(CU(cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t), to, from, size), "cuMemcpyDtoH");
}
// Launches with `args`: pointers to the parameters, in order.
static inline CUresult host_try_launch(CUfunction f, unsigned grid, unsigned block, unsigned shared, void **args) {
  return CU(cuLaunchKernel, (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **), f, grid, 1, 1, block, 1, 1, shared, NULL, args, NULL);
}
#define ARGS(...) ((void *[]){__VA_ARGS__})
#define LAUNCH(f, grid, block, shared, ...) cu_ok(host_try_launch(f, grid, block, shared, ARGS(__VA_ARGS__)), #f)
static inline void host_launch_3d(CUfunction f, const unsigned g[3], const unsigned b[3], unsigned shared, void **args) {
  cu_ok(CU(cuLaunchKernel, (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **), f, g[0], g[1], g[2], b[0], b[1], b[2], shared, NULL, args, NULL), "cuLaunchKernel");
}

static inline uint32_t host_random(uint32_t *s) {
  *s = *s * 1664525u + 1013904223u;
  return *s >> 8 ^ *s << 11;
}

#endif
