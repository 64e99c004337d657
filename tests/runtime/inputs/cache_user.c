/* Launches a few variants on the simulator with the cache that the environment names, and checks what they compute. Prints how many
 * came from the cache and how many were compiled.
 *   cache_user KERNELS.py VARIANTS */
#include <stdio.h>
#include <stdlib.h>

#include "tile/jit.h"

enum { N = 64 };
typedef struct { int hits, compiled; } Counts;

static void on_event(void *user, const tile_event *event) {
  Counts *c = user;
  c->hits += event->kind == TILE_EVENT_CACHE_HIT;
  c->compiled += event->kind == TILE_EVENT_COMPILE_END;
}

static tile_error *e;   /* of the call that failed */

static void check(tile_status status) {
  if (status == TILE_OK) return;
  fprintf(stderr, "failed: %s\n", tile_error_message(e));
  exit(2);
}

int main(int argc, char **argv) {
  if (argc < 3) return 64;
  tile_device *device;
  tile_jit *jit;
  tile_jit_kernel *kernel;
  Counts counts = {0, 0};
  tile_jit_options options = TILE_JIT_OPTIONS_INIT;
  options.on_event = on_event;
  options.user = &counts;
  check(tile_device_open("sim", &device, &e));
  check(tile_jit_open_file(device, argv[1], &options, &jit, &e));
  check(tile_jit_get_kernel(jit, "scale", &kernel, &e));
  float in[N], out[N];
  uint64_t x, y;
  for (int i = 0; i < N; i++) in[i] = (float)i;
  check(tile_memory_alloc(device, sizeof in, &x, &e));
  check(tile_memory_alloc(device, sizeof in, &y, &e));
  check(tile_memory_upload(device, x, in, sizeof in, &e));
  for (int v = 1; v <= atoi(argv[2]); v++) {
    /* Each factor is compiled in: a wrong kernel gives a wrong product. */
    tile_arg args[] = {tile_arg_array(x, TILE_FP32), tile_arg_array(y, TILE_FP32), tile_arg_int(v), tile_arg_int(N)};
    check(tile_jit_launch(kernel, NULL, args, 4, &e));
    check(tile_device_synchronize(device, &e));
    check(tile_memory_download(device, out, y, sizeof out, &e));
    for (int i = 0; i < N; i++)
      if (out[i] != in[i] * (float)v) {
        fprintf(stderr, "wrong kernel: %d times %d is not %g\n", i, v, (double)out[i]);
        return 3;
      }
  }
  printf("hits %d compiled %d\n", counts.hits, counts.compiled);
  tile_jit_close(jit);
  tile_device_close(device);
  return 0;
}
