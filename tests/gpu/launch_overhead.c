/* What a warm launch with 12 arguments costs on the host, in microseconds: the bare cuLaunchKernelEx, tile_kernel_launch and
 * tile_jit_launch, medians over batches that the launch queue holds.
 *   cc -O2 launch_overhead.c -I runtime -L build -ltile -ldl */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rt/cuda_types.h"
#include "tile/jit.h"

static const char source[] =
  "import triton\nimport triton.language as tl\n"
  "@triton.jit\n"
  "def many(a, b, c, m, n, k, p, q, r, s, t, u, B: tl.constexpr):\n"
  "    o = tl.arange(0, B)\n"
  "    tl.store(c + o, tl.load(a + o) + tl.load(b + o) + m + n + k + p + q + r + s + t + u)\n";

enum { BATCH = 200, BATCHES = 101, ARGS = 12 };

static tile_error *e;   /* of the call that failed */

static void check(tile_status status) {
  if (status == TILE_OK) return;
  fprintf(stderr, "%s\n", tile_error_message(e));
  exit(1);
}
static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}
static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(void) {
  tile_device *device;
  tile_jit *jit;
  tile_jit_kernel *kernel;
  const tile_variant *variant;
  uint64_t x;
  double start = now_us();
  check(tile_device_open("gpu", &device, &e));
  printf("device opened in %.1f ms\n", (now_us() - start) * 1e-3);
  start = now_us();
  check(tile_jit_open_memory(device, "many.py", source, strlen(source), NULL, &jit, &e));
  check(tile_jit_get_kernel(jit, "many", &kernel, &e));
  check(tile_memory_alloc(device, 4096, &x, &e));
  tile_arg args[ARGS + 1];
  for (int i = 0; i < 3; i++) args[i] = tile_arg_array(x + (uint64_t)i * 1024, TILE_FP32);
  for (int i = 3; i < ARGS; i++) args[i] = tile_arg_int(100 + i);
  args[ARGS] = tile_arg_int(128);
  check(tile_jit_prepare(kernel, NULL, args, ARGS + 1, &variant, &e));
  printf("source to a loaded kernel in %.1f ms\n", (now_us() - start) * 1e-3);
  CUresult (*launch)(const CUlaunchConfig *, CUfunction, void **, void **);
  *(void **)&launch = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuLaunchKernelEx");
  CUresult (*set_current)(CUcontext), (*retain)(CUcontext *, CUdevice);
  *(void **)&set_current = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuCtxSetCurrent");
  *(void **)&retain = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuDevicePrimaryCtxRetain");
  CUcontext context;
  if (retain(&context, 0) || set_current(context)) return 1;
  uint64_t values[ARGS];
  void *params[ARGS];
  for (int i = 0; i < ARGS; i++) values[i] = i < 3 ? args[i].value.pointer : (uint64_t)args[i].value.i, params[i] = &values[i];
  CUlaunchConfig config = {1, 1, 1, tile_kernel_num_threads(tile_variant_kernel(variant)), 1, 1, tile_kernel_shared_bytes(tile_variant_kernel(variant)), NULL, NULL, 0};
  static double times[4][BATCHES];
  const char *const names[] = {"bare cuLaunchKernelEx", "tile_kernel_launch", "tile_variant_launch", "tile_jit_launch"};
  const uint32_t grid[3] = {1, 1, 1};
  tile_launch_options o = TILE_LAUNCH_OPTIONS_INIT;
  for (int b = 0; b < BATCHES; b++)
    for (int way = 0; way < 4; way++) {
      check(tile_device_synchronize(device, &e));
      start = now_us();
      for (int i = 0; i < BATCH; i++) {
        tile_status status = TILE_OK;
        if (way == 0) status = launch(&config, tile_kernel_function(tile_variant_kernel(variant)), params, NULL) ? TILE_ERROR_DRIVER : TILE_OK;
        if (way == 1) status = tile_kernel_launch(tile_variant_kernel(variant), &o, args, ARGS, &e);
        if (way == 2) status = tile_variant_launch(variant, grid, NULL, args, ARGS + 1, &e);
        if (way == 3) status = tile_jit_launch(kernel, NULL, args, ARGS + 1, &e);
        check(status);
      }
      times[way][b] = (now_us() - start) / BATCH;
    }
  for (int way = 0; way < 4; way++) {
    qsort(times[way], BATCHES, sizeof(double), by_value);
    printf("%-22s %.2f us\n", names[way], times[way][BATCHES / 2]);
  }
  tile_jit_close(jit);
  tile_device_close(device);
  return 0;
}
