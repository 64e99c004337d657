// Kernels written in CUDA C and compiled by nvcc, against the same computation on the host.
#include <math.h>

#include "tests/unit/sim_host.h"

static CUmodule module;

static int setup(void **state) {
  host_setup(state);
  char *text = host_read("tests/sim/recorded/kernels.ptx");
  module = host_load(text);
  free(text);
  return 0;
}
static CUfunction kernel(const char *name) { return host_function(module, name); }

static float *random_floats(size_t n, uint32_t seed) {
  float *x = malloc(n * sizeof *x);
  for (size_t i = 0; i < n; i++) x[i] = (float)(host_random(&seed) % 20001) / 10000 - 1;
  return x;
}

TEST(test_vector_add) {
  int n = 1000;
  float *a = random_floats(1000, 1), *b = random_floats(1000, 2), c[1000];
  CUdeviceptr da = host_buffer(a, sizeof c), db = host_buffer(b, sizeof c), dc = host_buffer(NULL, sizeof c);
  LAUNCH(kernel("vector_add"), 8, 128, 0, &da, &db, &dc, &n);
  host_fetch(c, dc, sizeof c);
  for (int i = 0; i < n; i++) assert_true(c[i] == a[i] + b[i]);
  float alpha = 0.5f;
  LAUNCH(kernel("saxpy_strided"), 2, 96, 0, &dc, &da, &alpha, &n);
  float y[1000];
  host_fetch(y, dc, sizeof y);
  for (int i = 0; i < n; i++) assert_true(y[i] == fmaf(alpha, a[i], c[i]));
  free(a), free(b);
}

TEST(test_reductions) {
  int n = 1500;
  float x[1500], out[3];
  int xi[1500], total = 0, want = 0;
  for (int i = 0; i < n; i++) x[i] = (float)(i % 17), xi[i] = i * 7 - 3000, want += xi[i];
  CUdeviceptr dx = host_buffer(x, sizeof x), dout = host_buffer(NULL, sizeof out), di = host_buffer(xi, sizeof xi), dt = host_buffer(NULL, 4);
  LAUNCH(kernel("reduce_shared"), 3, 256, 0, &dx, &dout, &n);
  host_fetch(out, dout, sizeof out);
  for (int b = 0; b < 3; b++) {
    float s = 0;
    for (int i = b * 512; i < n && i < (b + 1) * 512; i++) s += x[i];
    assert_true(out[b] == s);
  }
  LAUNCH(kernel("reduce_shuffle"), 2, 256, 0, &di, &dt, &n);
  host_fetch(&total, dt, 4);
  assert_int_equal(total, want);
}

TEST(test_transpose) {
  int w = 70, h = 45;
  float *in = random_floats((size_t)(w * h), 3), *out = malloc((size_t)(w * h) * 4);
  CUdeviceptr di = host_buffer(in, (size_t)(w * h) * 4), dout = host_buffer(NULL, (size_t)(w * h) * 4);
  host_launch_3d(kernel("transpose"), (unsigned[]){3, 2, 1}, (unsigned[]){32, 8, 1}, 0, ARGS(&di, &dout, &w, &h));
  host_fetch(out, dout, (size_t)(w * h) * 4);
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) assert_true(out[x * h + y] == in[y * w + x]);
  free(in), free(out);
}

TEST(test_scan) {
  int n = 200, in[256], out[256], sum = 0;
  for (int i = 0; i < 256; i++) in[i] = i * i % 13 - 4;
  CUdeviceptr di = host_buffer(in, sizeof in), dout = host_buffer(NULL, sizeof out);
  LAUNCH(kernel("scan_block"), 1, 256, 256 * 4, &di, &dout, &n);
  host_fetch(out, dout, sizeof out);
  for (int i = 0; i < n; i++) assert_int_equal(out[i], sum += in[i]);
}

TEST(test_histogram) {
  int n = 5000;
  unsigned char x[5000];
  unsigned bins[256], want[256] = {0};
  uint32_t seed = 9;
  for (int i = 0; i < n; i++) want[x[i] = (unsigned char)(host_random(&seed) % 200)]++;
  CUdeviceptr dx = host_buffer(x, sizeof x), db = host_buffer(NULL, sizeof bins);
  LAUNCH(kernel("histogram"), 4, 128, 0, &dx, &db, &n);
  host_fetch(bins, db, sizeof bins);
  assert_memory_equal(bins, want, sizeof bins);
}

TEST(test_matmul) {
  int n = 64;
  float *a = random_floats(4096, 4), *b = random_floats(4096, 5), *c = malloc(16384);
  CUdeviceptr da = host_buffer(a, 16384), db = host_buffer(b, 16384), dc = host_buffer(NULL, 16384);
  host_launch_3d(kernel("matmul_tiled"), (unsigned[]){4, 4, 1}, (unsigned[]){16, 16, 1}, 0, ARGS(&da, &db, &dc, &n));
  host_fetch(c, dc, 16384);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      float acc = 0;
      for (int k = 0; k < n; k++) acc = fmaf(a[i * n + k], b[k * n + j], acc);
      assert_true(c[i * n + j] == acc);
    }
  free(a), free(b), free(c);
}

TEST(test_softmax) {
  int n = 100;
  float *x = random_floats(300, 6), y[300];
  CUdeviceptr dx = host_buffer(x, sizeof y), dy = host_buffer(NULL, sizeof y);
  LAUNCH(kernel("softmax_row"), 3, 32, 0, &dx, &dy, &n);
  host_fetch(y, dy, sizeof y);
  for (int r = 0; r < 3; r++) {
    double m = -1e30, s = 0;
    for (int i = 0; i < n; i++) m = fmax(m, x[r * n + i]);
    for (int i = 0; i < n; i++) s += exp(x[r * n + i] - m);
    for (int i = 0; i < n; i++) assert_true(fabs(y[r * n + i] - exp(x[r * n + i] - m) / s) < 1e-7);
  }
  free(x);
}

static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

TEST(test_calls) {
  int n = 100, out[128];
  CUdeviceptr d = host_buffer(NULL, sizeof out);
  LAUNCH(kernel("collatz"), 2, 64, 0, &d, &n);
  host_fetch(out, d, sizeof out);
  for (int i = 0; i < n; i++) {
    int steps = 0;
    for (unsigned long long v = (unsigned)i + 1; v != 1; steps++) v = v & 1 ? 3 * v + 1 : v / 2;
    assert_int_equal(out[i], steps);
  }
  LAUNCH(kernel("recursion"), 1, 48, 0, &d);
  host_fetch(out, d, sizeof out);
  for (int i = 0; i < 48; i++) assert_int_equal(out[i], fib(i % 12));
  LAUNCH(kernel("indirect_calls"), 1, 40, 0, &d);
  host_fetch(out, d, sizeof out);
  for (int i = 0; i < 40; i++) assert_int_equal(out[i], i % 3 == 0 ? i + 1 : i % 3 == 1 ? i * 3 : -i);
}

static uint32_t reverse(uint32_t x) {
  uint32_t r = 0;
  for (int i = 0; i < 32; i++) r |= (x >> i & 1) << (31 - i);
  return r;
}
TEST(test_switch) {
  int in[64], out[64];
  for (int i = 0; i < 64; i++) in[i] = i * 5 % 11;
  CUdeviceptr di = host_buffer(in, sizeof in), dout = host_buffer(NULL, sizeof out);
  LAUNCH(kernel("switch_table"), 1, 64, 0, &di, &dout);
  host_fetch(out, dout, sizeof out);
  for (int i = 0; i < 64; i++) {
    int x = in[i], want;
    switch (x) {
    case 0: want = 11; break;
    case 1: want = 12; break;
    case 2: want = __builtin_popcount((unsigned)i); break;
    case 3: want = i ? __builtin_clz((unsigned)i) : 32; break;
    case 4: want = (int)reverse((uint32_t)i); break;
    case 5: want = __builtin_ffs(i); break;
    case 6: want = 99; break;
    case 7: want = -3; break;
    default: want = 1000 + x; break;
    }
    assert_int_equal(out[i], want);
  }
}

TEST(test_half) {
  int n = 4;
  // 1.5 2.0 −0.25 100; 3.0 0.5 8.0 0.125 → a*b + (a+b)
  uint16_t a[] = {0x3e00, 0x4000, 0xb400, 0x5640}, b[] = {0x4200, 0x3800, 0x4800, 0x3000}, c[4], d[4];
  CUdeviceptr da = host_buffer(a, 8), db = host_buffer(b, 8), dc = host_buffer(NULL, 8), dd = host_buffer(NULL, 8);
  LAUNCH(kernel("half_math"), 1, 32, 0, &da, &db, &dc, &dd, &n);
  host_fetch(c, dc, 8);
  host_fetch(d, dd, 8);
  assert_int_equal(c[0], 0x4880);   // 9
  assert_int_equal(c[1], 0x4300);   // 3.5
  assert_int_equal(c[2], 0x45c0);   // 5.75
  assert_int_equal(c[3], 0x570a);   // 112.625
  assert_int_equal(d[0], 0x4110);
  assert_int_equal(d[1], 0x4060);
}

TEST(test_wide_math) {
  int n = 64;
  double a[64], b[64];
  long long x[64], y[64], z[64];
  for (int i = 0; i < n; i++) a[i] = i * 0.37 + 0.01, x[i] = (long long)(i - 30) * 1234567891011LL, y[i] = i % 9 - 12;
  CUdeviceptr da = host_buffer(a, sizeof a), db = host_buffer(NULL, sizeof b), dx = host_buffer(x, sizeof x), dy = host_buffer(y, sizeof y), dz = host_buffer(NULL, sizeof z);
  LAUNCH(kernel("double_math"), 1, 64, 0, &da, &db, &n);
  host_fetch(b, db, sizeof b);
  for (int i = 0; i < n; i++) {
    double want = sqrt(a[i]) / (1.0 + a[i] * a[i]) + exp(-a[i]) + sin(a[i]) + pow(a[i], 1.5);
    assert_true(fabs(b[i] - want) <= 1e-14 * (1 + fabs(want)));
  }
  LAUNCH(kernel("int64_math"), 1, 64, 0, &dx, &dy, &dz, &n);
  host_fetch(z, dz, sizeof z);
  for (int i = 0; i < n; i++) {
    long long want = x[i] / y[i] + x[i] % y[i] * 3 + (long long)((__int128)x[i] * y[i] >> 64) + (long long)((unsigned long long)x[i] >> 7) + __builtin_popcountll((unsigned long long)x[i]);
    assert_true(z[i] == want);
  }
}

TEST(test_locks) {
  int rounds = 3, counter = 0;
  CUdeviceptr lock = host_buffer(NULL, 4), count = host_buffer(NULL, 4);
  LAUNCH(kernel("spin_lock"), 3, 48, 0, &lock, &count, &rounds);
  host_fetch(&counter, count, 4);
  assert_int_equal(counter, 3 * 48 * 3);

  int n = 3000, x[3000], want = 0, out = 0;
  for (int i = 0; i < n; i++) want += x[i] = i % 91;
  CUdeviceptr dx = host_buffer(x, sizeof x), partial = host_buffer(NULL, 8 * 4), ticket = host_buffer(NULL, 4), dout = host_buffer(NULL, 4);
  LAUNCH(kernel("last_block"), 8, 64, 0, &dx, &partial, &ticket, &dout, &n);
  host_fetch(&out, dout, 4);
  assert_int_equal(out, want);
}

TEST(test_grid_wide) {
  int out[40];
  CUdeviceptr arrived = host_buffer(NULL, 4), d = host_buffer(NULL, sizeof out);
  LAUNCH(kernel("grid_barrier"), 20, 32, 0, &arrived, &d);
  host_fetch(out, d, sizeof out);
  for (int i = 0; i < 20; i++) assert_int_equal(out[20 + i], (i + 1) % 20 + 1);

  int n = 512, data[512], want = 0;
  for (int i = 0; i < n; i++) want += data[i] = i * 3 - 100;
  CUdeviceptr dd = host_buffer(data, sizeof data);
  cu_ok(CU(cuLaunchCooperativeKernel, (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **), kernel("cooperative_sum"), 8, 1, 1, 64, 1, 1, 0, NULL, ARGS(&dd, &n)), "cooperative_sum");
  host_fetch(data, dd, sizeof data);
  assert_int_equal(data[0], want);
}

TEST(test_cluster) {
  int out[256];
  CUdeviceptr d = host_buffer(NULL, sizeof out);
  LAUNCH(kernel("cluster_exchange"), 8, 32, 0, &d);
  host_fetch(out, d, sizeof out);
  for (int b = 0; b < 8; b++)
    for (int t = 0; t < 32; t++) assert_int_equal(out[b * 32 + t], (b % 4 + 1) % 4 * 100 + 31 - t);
}

TEST(test_async_pipeline) {
  int tiles = 5;
  char *text = host_read("tests/sim/recorded/async.ptx");
  CUmodule m = host_load(text);
  free(text);
  float *x = random_floats(640, 8), y[640];
  CUdeviceptr dx = host_buffer(x, sizeof y), dy = host_buffer(NULL, sizeof y);
  LAUNCH(host_function(m, "async_pipeline"), 1, 128, 0, &dx, &dy, &tiles);
  host_fetch(y, dy, sizeof y);
  for (int i = 0; i < 640; i++) assert_true(y[i] == x[i / 128 * 128 + 127 - i % 128] * 2);
  free(x);
}

static CUtensorMap half_map(CUdeviceptr p, uint64_t rows, uint64_t cols, CUtensorMapSwizzle swizzle) {
  CUtensorMap map;
  uint64_t dims[] = {cols, rows}, strides[] = {2 * cols};
  uint32_t box[] = {64, 64}, steps[] = {1, 1};
  cu_ok(CU(cuTensorMapEncodeTiled,
           (CUtensorMap *, CUtensorMapDataType, uint32_t, void *, const uint64_t *, const uint64_t *, const uint32_t *, const uint32_t *,
            CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill),
           &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, (void *)(uintptr_t)p, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
           CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE), "cuTensorMapEncodeTiled");
  return map;
}

static uint16_t half_of(int x) {   // exact for |x| <= 2048
  union { _Float16 f; uint16_t u; } h = {.f = (_Float16)x};
  return h.u;
}

// A producer warp with TMA, a warpgroup with wgmma, two stages: C = A·Bᵀ over 6 tiles of 64×64.
TEST(test_tma_wgmma) {
  enum { M = 128, N = 192, K = 640 };
  char *text = host_read("tests/sim/recorded/tma_wgmma.ptx");
  CUmodule m = host_load(text);
  free(text);
  static int x[M * K], y[N * K];
  static uint16_t a[M * K], b[N * K], c[M * N];
  uint32_t seed = 3;
  for (int i = 0; i < M * K; i++) a[i] = half_of(x[i] = (int)(host_random(&seed) % 5) - 2);
  for (int i = 0; i < N * K; i++) b[i] = half_of(y[i] = (int)(host_random(&seed) % 5) - 2);
  CUdeviceptr da = host_buffer(a, sizeof a), db = host_buffer(b, sizeof b), dc = host_buffer(NULL, sizeof c);
  CUtensorMap map_a = half_map(da, M, K, CU_TENSOR_MAP_SWIZZLE_128B), map_b = half_map(db, N, K, CU_TENSOR_MAP_SWIZZLE_128B), map_c = half_map(dc, M, N, CU_TENSOR_MAP_SWIZZLE_NONE);
  int tiles = K / 64;
  host_launch_3d(host_function(m, "tma_wgmma"), (unsigned[]){N / 64, M / 64, 1}, (unsigned[]){160, 1, 1}, 0, ARGS(&map_a, &map_b, &map_c, &tiles));
  host_fetch(c, dc, sizeof c);
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      int sum = 0;
      for (int k = 0; k < K; k++) sum += x[i * K + k] * y[j * K + k];
      assert_int_equal(c[i * N + j], half_of(sum));
    }
}

TEST(test_votes) {
  int x[32], sum = 0, max = 0;
  unsigned out[64], ballot = 0;
  for (int i = 0; i < 32; i++) {
    x[i] = i % 5;
    sum += x[i];
    if (x[i] > max) max = x[i];
    ballot |= (unsigned)(x[i] > 0) << i;
  }
  CUdeviceptr dx = host_buffer(x, sizeof x), d = host_buffer(NULL, sizeof out);
  LAUNCH(kernel("warp_votes"), 1, 32, 0, &dx, &d);
  host_fetch(out, d, sizeof out);
  for (int i = 0; i < 32; i++) {
    unsigned m = 0;
    for (int k = 0; k < 32; k++) m |= (unsigned)(x[k] == x[i]) << k;
    assert_int_equal(out[i], ballot ^ m * 3 ^ 0xffffffffu ^ 0 << 4 ^ 1 << 5 ^ (unsigned)(sum ^ max));
    assert_int_equal(out[32 + i], i < 16 ? x[(i + 1) % 16] : x[16 + (i + 3) % 16]);
  }
}

TEST(test_params_and_locals) {
  struct { int v[12]; long long w; } big;
  for (int i = 0; i < 12; i++) big.v[i] = i * i;
  big.w = 1LL << 40;
  int k = 5;
  long long out[24];
  CUdeviceptr d = host_buffer(NULL, sizeof out);
  LAUNCH(kernel("struct_param"), 1, 24, 0, &big, &d, &k);
  host_fetch(out, d, sizeof out);
  for (int i = 0; i < 24; i++) assert_true(out[i] == (i + k) % 12 * ((i + k) % 12) + big.w);

  int idx[32], got[32];
  for (int i = 0; i < 32; i++) idx[i] = i * 3;
  CUdeviceptr di = host_buffer(idx, sizeof idx), dg = host_buffer(NULL, sizeof got);
  LAUNCH(kernel("local_array"), 1, 32, 0, &di, &dg);
  host_fetch(got, dg, sizeof got);
  for (int t = 0; t < 32; t++) {
    int a[16];
    unsigned s = 0;
    for (int i = 0; i < 16; i++) a[i] = i * i + t;
    a[idx[t] & 15] = -1;
    for (int i = 0; i < 16; i++) s = s * 3 + (unsigned)a[(i * idx[t]) & 15];
    assert_int_equal((unsigned)got[t], s);
  }
  float *x = random_floats(64, 10), y[64];
  int n = 64;
  CUdeviceptr dx = host_buffer(x, sizeof y), dy = host_buffer(NULL, sizeof y);
  LAUNCH(kernel("polynomial"), 1, 64, 0, &dx, &dy, &n);
  host_fetch(y, dy, sizeof y);
  const float c[] = {0.5f, -1.25f, 3.0f, 0.125f, 2.0f};
  for (int i = 0; i < 64; i++) {
    float r = 0;
    for (int j = 0; j < 5; j++) r = fmaf(r, x[i], c[j]);
    assert_true(y[i] == r);
  }
  free(x);
}

static void expect_report(const char *name, CUresult code, const char *text, unsigned block, void **args) {
  assert_int_equal(host_try_launch(kernel(name), 1, block, 0, args), code);
  if (!strstr(sim_last_report(), text)) fail_msg("report of %s lacks \"%s\":\n%s", name, text, sim_last_report());
  cu_ok(CU(cuDevicePrimaryCtxReset_v2, (CUdevice), 0), "reset");
}
TEST(test_reports) {
  if (host_on_gpu()) skip();   // the GPU reports nothing, and a fault ends its context
  int n = 30;
  CUdeviceptr d = host_buffer(NULL, 128);
  expect_report("out_of_bounds", CUDA_ERROR_ILLEGAL_ADDRESS, "4 bytes past the end of out_of_bounds_param_0 (128 bytes at ", 32, ARGS(&d, &n));
  expect_report("out_of_bounds", CUDA_ERROR_ILLEGAL_ADDRESS, "thread (2,0,0)", 32, ARGS(&d, &n));
  expect_report("misaligned", CUDA_ERROR_MISALIGNED_ADDRESS, "not aligned to 4", 1, ARGS(&d));
  expect_report("check_positive", CUDA_ERROR_ASSERT, "x[threadIdx.x] > 0", 32, ARGS(&d));
  expect_report("barrier_deadlock", CUDA_ERROR_LAUNCH_TIMEOUT, "wait at barrier 0", 64, ARGS(&d));
}

TEST(test_printf) {
  fflush(stdout);
  int n = 2;
  LAUNCH(kernel("say_hello"), 1, 32, 0, &n);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_vector_add), cmocka_unit_test(test_reductions), cmocka_unit_test(test_transpose), cmocka_unit_test(test_scan),
    cmocka_unit_test(test_histogram), cmocka_unit_test(test_matmul), cmocka_unit_test(test_softmax), cmocka_unit_test(test_calls),
    cmocka_unit_test(test_switch), cmocka_unit_test(test_half), cmocka_unit_test(test_wide_math), cmocka_unit_test(test_locks),
    cmocka_unit_test(test_grid_wide), cmocka_unit_test(test_cluster), cmocka_unit_test(test_votes), cmocka_unit_test(test_params_and_locals),
    cmocka_unit_test(test_async_pipeline), cmocka_unit_test(test_tma_wgmma), cmocka_unit_test(test_reports), cmocka_unit_test(test_printf),
  };
  return cmocka_run_group_tests(tests, setup, host_teardown);
}
