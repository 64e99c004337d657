/* 16 threads on one GPU: each compiles variants of its own, launches them on a stream of its own and checks what they
 * wrote, while the others do the same with the same JIT.
 *   threads VECTOR_ADD.tile [gpu|sim] [ROUNDS]
 * Exits with 0 if every result was right. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "tile/jit.h"

enum { THREADS = 16, N = 100003 };

static tile_device *device;
static tile_jit_kernel *kernel;
static int rounds = 50;

static _Thread_local tile_error *e;   /* of the call that failed */

static void check(tile_status status) {
  if (status == TILE_OK) return;
  fprintf(stderr, "%s\n", tile_error_message(e));
  exit(1);
}

static void *work(void *number) {
  const int t = *(int *)number;
  void *stream;
  uint64_t array[3];
  float *host = malloc(sizeof(float) * N), *out = malloc(sizeof(float) * N);
  if (!host || !out) exit(1);
  check(tile_stream_create(device, &stream, &e));
  for (int i = 0; i < N; i++) host[i] = (float)(i % 1000 + t);
  for (int i = 0; i < 3; i++) check(tile_memory_alloc(device, sizeof(float) * N, &array[i], &e));
  for (int i = 0; i < 2; i++) check(tile_memory_upload(device, array[i], host, sizeof(float) * N, &e));
  for (int round = 0; round < rounds; round++) {
    const int block = 128 << (t + round) % 6, n = N - 16 * t - round % 3;
    tile_jit_launch_options launch = TILE_JIT_LAUNCH_OPTIONS_INIT;
    launch.grid[0] = (uint32_t)((n + block - 1) / block);
    launch.num_warps = 1u << (t + round) % 4;
    launch.stream = stream;
    const tile_arg args[] = {tile_arg_array(array[0], TILE_FP32), tile_arg_array(array[1], TILE_FP32),
                             tile_arg_array(array[2], TILE_FP32), tile_arg_int(n), tile_arg_int(block)};
    check(tile_jit_launch(kernel, &launch, args, 5, &e));
    check(tile_stream_synchronize(device, stream, &e));
    check(tile_memory_download(device, out, array[2], sizeof(float) * N, &e));
    for (int i = 0; i < n; i++)
      if (out[i] != 2 * host[i]) {
        fprintf(stderr, "thread %d, round %d: element %d is %g, not %g\n", t, round, i, (double)out[i], 2 * (double)host[i]);
        exit(1);
      }
  }
  for (int i = 0; i < 3; i++) check(tile_memory_free(device, array[i], &e));
  check(tile_stream_destroy(device, stream, &e));
  free(host), free(out);
  return NULL;
}

int main(int argc, char **argv) {
  tile_jit *jit;
  pthread_t threads[THREADS];
  int numbers[THREADS];
  if (argc > 3) rounds = atoi(argv[3]);
  check(tile_device_open(argc > 2 ? argv[2] : "gpu", &device, &e));
  check(tile_jit_open_file(device, argc > 1 ? argv[1] : "vector_add.tile", NULL, &jit, &e));
  check(tile_jit_get_kernel(jit, "add", &kernel, &e));
  for (int i = 0; i < THREADS; i++) {
    numbers[i] = i;
    if (pthread_create(&threads[i], NULL, work, &numbers[i])) return 1;
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  printf("%d threads, %d launches each: right\n", THREADS, rounds);
  tile_jit_close(jit);
  tile_device_close(device);
  return 0;
}
