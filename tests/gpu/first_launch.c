/* What the first launch of a matmul costs in a new process, in milliseconds, and which part of it is the driver's:
 *   first_launch MATMUL.tile [gpu|sim]
 * Run it with TILE_CACHE_DIR on an empty folder, then again on the same one. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tile/jit.h"

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static tile_error *e;   /* of the call that failed */

static void check(tile_status status) {
  if (status == TILE_OK) return;
  fprintf(stderr, "%s\n", tile_error_message(e));
  exit(1);
}

typedef struct { double compile, load; } Spent;
static void on_event(void *user, const tile_event *event) {
  Spent *s = user;
  if (event->kind == TILE_EVENT_COMPILE_END) s->compile += event->milliseconds;
  if (event->kind == TILE_EVENT_LOAD) s->load += event->milliseconds;
}

int main(int argc, char **argv) {
  tile_device *device;
  tile_jit *jit;
  tile_jit_kernel *kernel;
  Spent spent = {0, 0};
  double at[5];
  at[0] = now_ms();
  check(tile_device_open(argc > 2 ? argv[2] : "gpu", &device, &e));
  at[1] = now_ms();
  tile_jit_options options = TILE_JIT_OPTIONS_INIT;
  options.on_event = on_event;
  options.user = &spent;
  check(tile_jit_open_file(device, argc > 1 ? argv[1] : "matmul.tile", &options, &jit, &e));
  check(tile_jit_get_kernel(jit, "matmul_kernel", &kernel, &e));
  at[2] = now_ms();
  enum { N = 128 };
  uint64_t matrix[3];
  static uint16_t host[N * N];
  for (int i = 0; i < 3; i++) {
    check(tile_memory_alloc(device, sizeof host, &matrix[i], &e));
    check(tile_memory_upload(device, matrix[i], host, sizeof host, &e));
  }
  tile_arg args[16];
  for (int i = 0; i < 3; i++) args[i] = tile_arg_array(matrix[i], TILE_FP16), args[3 + i] = tile_arg_int(N), args[6 + 2 * i] = tile_arg_int(N), args[7 + 2 * i] = tile_arg_int(1);
  const int blocks[] = {128, 128, 64, 8};
  for (int i = 0; i < 4; i++) args[12 + i] = tile_arg_int(blocks[i]);
  tile_jit_launch_options launch = TILE_JIT_LAUNCH_OPTIONS_INIT;
  launch.num_warps = 8;
  at[3] = now_ms();
  check(tile_jit_launch(kernel, &launch, args, 16, &e));
  at[4] = now_ms();
  check(tile_device_synchronize(device, &e));
  printf("device %.1f, source %.1f, first launch %.1f of which compiling %.1f and the driver's load %.1f; ours without compiling %.1f ms\n", at[1] - at[0],
         at[2] - at[1], at[4] - at[3], spent.compile, spent.load, at[4] - at[3] - spent.compile - spent.load + at[2] - at[1]);
  tile_jit_close(jit);
  tile_device_close(device);
  return 0;
}
