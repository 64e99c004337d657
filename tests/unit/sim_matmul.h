// A simulated device with the TMA + wgmma matmul of tests/sim/recorded/tma_wgmma.ptx on it, for the tests of the asynchronous machine
// and of the checkers.
#ifndef TILE_TESTS_SIM_MATMUL_H
#define TILE_TESTS_SIM_MATMUL_H

#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "ir/num.h"
#include "runtime/sim/sim.h"
#include "runtime/sim/tensormap.h"

enum { MM_M = 64, MM_N = 64, MM_K = 640, MM_TILE = 64, MM_THREADS = 160 };
typedef struct {
  Sim sim;
  Device *device;
  uint16_t *a, *b, *c, *want;
  uint8_t params[3 * TENSORMAP_BYTES + 8];
} Matmul;

static inline char *read_text(const char *path, size_t *size) {
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  fseek(f, 0, SEEK_END);
  *size = (size_t)ftell(f);
  rewind(f);
  char *text = malloc(*size + 1);
  assert_int_equal(fread(text, 1, *size, f), *size);
  text[*size] = 0;
  fclose(f);
  return text;
}

static inline void matmul_open(Matmul *m) {
  memset(m, 0, sizeof *m);
  sim_init(&m->sim);
  m->sim.checks = CHECK_RACES | CHECK_UNDEF | CHECK_ASYNC;
  m->sim.max_steps = 20000000;
  m->device = &m->sim.devices[0];
  m->a = (uint16_t *)(uintptr_t)device_alloc(m->device, MM_M * MM_K * 2, 512, ALLOC_DEVICE);
  m->b = (uint16_t *)(uintptr_t)device_alloc(m->device, MM_N * MM_K * 2, 512, ALLOC_DEVICE);
  m->c = (uint16_t *)(uintptr_t)device_alloc(m->device, MM_M * MM_N * 2, 512, ALLOC_DEVICE);
  m->want = calloc(MM_M * MM_N, 2);
  static double x[MM_M * MM_K], y[MM_N * MM_K];
  uint64_t r = 11;
  for (int i = 0; i < MM_M * MM_K; i++) m->a[i] = (uint16_t)num_encode(NUM_F16, x[i] = (int)(rng_next(&r) % 9) - 4, NUM_RNE, false);
  for (int i = 0; i < MM_N * MM_K; i++) m->b[i] = (uint16_t)num_encode(NUM_F16, y[i] = (int)(rng_next(&r) % 9) - 4, NUM_RNE, false);
  for (int i = 0; i < MM_M; i++)
    for (int j = 0; j < MM_N; j++) {
      double sum = 0;  // small integers: exact in any order
      for (int k = 0; k < MM_K; k++) sum += x[i * MM_K + k] * y[j * MM_K + k];
      m->want[i * MM_N + j] = (uint16_t)num_encode(NUM_F16, sum, NUM_RNE, false);
    }
  TensorMap map = {.dtype = TMAP_FLOAT16, .rank = 2, .address = (uintptr_t)m->a, .dim = {MM_K, MM_M}, .stride = {2, MM_K * 2},
                   .box = {MM_TILE, MM_TILE}, .element_stride = {1, 1}, .swizzle = TMAP_SWIZZLE_128B};
  tensormap_pack(&map, m->params);
  map.address = (uintptr_t)m->b, map.dim[1] = MM_N;
  tensormap_pack(&map, m->params + TENSORMAP_BYTES);
  map = (TensorMap){.dtype = TMAP_FLOAT16, .rank = 2, .address = (uintptr_t)m->c, .dim = {MM_N, MM_M}, .stride = {2, MM_N * 2},
                    .box = {MM_TILE, MM_TILE}, .element_stride = {1, 1}};
  tensormap_pack(&map, m->params + 2 * TENSORMAP_BYTES);
  int32_t tiles = MM_K / MM_TILE;
  memcpy(m->params + 3 * TENSORMAP_BYTES, &tiles, 4);
}

static inline void matmul_close(Matmul *m) {
  free(m->want);
  sim_free(&m->sim);
}

// Runs the kernel once. CUDA_SUCCESS with *wrong elements that differ, or the error; the report is in m->sim.report.
static inline CUresult matmul_run(Matmul *m, PtxModule *mod, uint64_t seed, int *wrong) {
  m->sim.seed = seed;
  memset(m->c, 0xff, MM_M * MM_N * 2);
  LaunchParams lp = {.func = ptx_module_find(mod, "tma_wgmma"), .grid = {MM_N / MM_TILE, MM_M / MM_TILE, 1}, .block = {MM_THREADS, 1, 1},
                     .cluster = {1, 1, 1}, .params = m->params};
  assert_non_null(lp.func);
  CUresult rc = grid_run(&m->sim, m->device, &lp);
  *wrong = 0;
  for (int i = 0; i < MM_M * MM_N; i++) *wrong += m->c[i] != m->want[i];
  return rc;
}

#endif
