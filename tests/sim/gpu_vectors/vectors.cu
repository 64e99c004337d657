// Runs matrix, conversion and copy instructions on a real sm_90 and writes what they gave as data files for the simulator's
// unit test. Build and run on a machine with the GPU:
//   nvcc -std=c++17 -gencode arch=compute_90a,code=sm_90a -o vectors vectors.cu && ./vectors DIR
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>

#include "vectors.h"

#define CHECK(call)                                                                                        \
  do {                                                                                                     \
    cudaError_t e_ = (call);                                                                               \
    if (e_ != cudaSuccess) { fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); exit(1); } \
  } while (0)

static FILE *file;
static void open_file(const char *dir, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  file = fopen(path, "wb");
  if (!file) { perror(path); exit(1); }
}
static void begin(const char *name, uint32_t arrays) {
  VectorHeader h = {};
  snprintf(h.name, sizeof h.name, "%s", name);
  h.count = arrays;
  fwrite(&h, sizeof h, 1, file);
}
static void put(const void *data, size_t bytes) {
  uint32_t n = (uint32_t)bytes;
  fwrite(&n, 4, 1, file);
  fwrite(data, 1, bytes, file);
}

static uint64_t rng_state = 1;
static uint32_t rnd() {
  rng_state = rng_state * 6364136223846793005ull + 1442695040888963407ull;
  return (uint32_t)(rng_state >> 32);
}

// ---- formats: random bit patterns whose exponents lie in a band, so that sums align, cancel and lose bits in all ways

struct Format { int bits, exp, man, low; };
static const Format F16 = {16, 5, 10, 0}, BF16 = {16, 8, 7, 0}, TF32 = {32, 8, 10, 13}, F32 = {32, 8, 23, 0}, E4M3 = {8, 4, 3, 0}, E5M2 = {8, 5, 2, 0}, S8 = {8, 0, 0, 0}, S32 = {32, 0, 0, 0};

// band 0: narrow, 1: wide, 2: anything but infinities and NaNs, 3: anything
static uint32_t random_bits(const Format &f, int band) {
  if (!f.exp) return f.bits == 8 ? rnd() & 0xff : band ? rnd() : rnd() % 2001 - 1000;
  uint32_t top = (1u << f.exp) - 1, bias = top >> 1, exp;
  if (band == 3) exp = rnd() & top;
  else if (band == 2) exp = rnd() % top;
  else {
    int width = band ? 14 : 4;
    int e = (int)bias + (int)(rnd() % (2 * width + 1)) - width;
    exp = e < 0 ? 0 : e >= (int)top ? top - 1 : (uint32_t)e;
  }
  uint32_t man = rnd() & ((1u << f.man) - 1), sign = rnd() & 1;
  if (band && rnd() % 8 == 0) man = 0;
  if (band && rnd() % 16 == 0) exp = man = 0;
  return (sign << (f.exp + f.man) | exp << f.man | man) << f.low;
}
static void fill(std::vector<uint32_t> &v, const Format &f, int band) {
  for (auto &x : v) {
    x = 0;
    for (int at = 0; at < 32; at += f.bits) x |= random_bits(f, band) << at;
  }
}

// ---- mma.sync: registers of each case as [register][lane]

enum { CASES = 48 };
typedef void (*MmaKernel)(const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t *d);
#define MMA_KERNEL(name, text, NA, NB, NC, operands)                                                       \
  __global__ void name(const uint32_t *pa, const uint32_t *pb, const uint32_t *pc, uint32_t *pd) {          \
    uint32_t a[NA], b[NB], c[NC], d[NC];                                                                   \
    int lane = threadIdx.x;                                                                                \
    for (int i = 0; i < NA; i++) a[i] = pa[(blockIdx.x * NA + i) * 32 + lane];                              \
    for (int i = 0; i < NB; i++) b[i] = pb[(blockIdx.x * NB + i) * 32 + lane];                              \
    for (int i = 0; i < NC; i++) c[i] = pc[(blockIdx.x * NC + i) * 32 + lane];                              \
    asm volatile("mma.sync.aligned." text " " operands);                                                   \
    for (int i = 0; i < NC; i++) pd[(blockIdx.x * NC + i) * 32 + lane] = d[i];                              \
  }

#define OPS_424 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};" : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3])
#define OPS_422 "{%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};" : "=r"(d[0]), "=r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1])
#define OPS_214 "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};" : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3])
#define OPS_212 "{%0, %1}, {%2, %3}, {%4}, {%5, %6};" : "=r"(d[0]), "=r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1])
MMA_KERNEL(mma_0, "m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 4, OPS_424)
MMA_KERNEL(mma_1, "m16n8k16.row.col.f16.f16.f16.f16", 4, 2, 2, OPS_422)
MMA_KERNEL(mma_2, "m16n8k8.row.col.f32.f16.f16.f32", 2, 1, 4, OPS_214)
MMA_KERNEL(mma_3, "m16n8k8.row.col.f16.f16.f16.f16", 2, 1, 2, OPS_212)
MMA_KERNEL(mma_4, "m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2, 4, OPS_424)
MMA_KERNEL(mma_5, "m16n8k8.row.col.f32.bf16.bf16.f32", 2, 1, 4, OPS_214)
MMA_KERNEL(mma_6, "m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2, 4, OPS_424)
MMA_KERNEL(mma_7, "m16n8k4.row.col.f32.tf32.tf32.f32", 2, 1, 4, OPS_214)
MMA_KERNEL(mma_8, "m16n8k32.row.col.f32.e4m3.e4m3.f32", 4, 2, 4, OPS_424)
MMA_KERNEL(mma_9, "m16n8k32.row.col.f32.e5m2.e4m3.f32", 4, 2, 4, OPS_424)
MMA_KERNEL(mma_10, "m16n8k32.row.col.f16.e4m3.e5m2.f16", 4, 2, 2, OPS_422)
MMA_KERNEL(mma_11, "m16n8k32.row.col.satfinite.s32.s8.u8.s32", 4, 2, 4, OPS_424)
MMA_KERNEL(mma_12, "m16n8k16.row.col.s32.u8.s8.s32", 2, 1, 4, OPS_214)
static const struct { const char *name; MmaKernel kernel; int na, nb, nc; Format a, b, d; } mmas[] = {
  {"mma 16 8 16 f32 f16 f16", mma_0, 4, 2, 4, F16, F16, F32},
  {"mma 16 8 16 f16 f16 f16", mma_1, 4, 2, 2, F16, F16, F16},
  {"mma 16 8 8 f32 f16 f16", mma_2, 2, 1, 4, F16, F16, F32},
  {"mma 16 8 8 f16 f16 f16", mma_3, 2, 1, 2, F16, F16, F16},
  {"mma 16 8 16 f32 bf16 bf16", mma_4, 4, 2, 4, BF16, BF16, F32},
  {"mma 16 8 8 f32 bf16 bf16", mma_5, 2, 1, 4, BF16, BF16, F32},
  {"mma 16 8 8 f32 tf32 tf32", mma_6, 4, 2, 4, TF32, TF32, F32},
  {"mma 16 8 4 f32 tf32 tf32", mma_7, 2, 1, 4, TF32, TF32, F32},
  {"mma 16 8 32 f32 e4m3 e4m3", mma_8, 4, 2, 4, E4M3, E4M3, F32},
  {"mma 16 8 32 f32 e5m2 e4m3", mma_9, 4, 2, 4, E5M2, E4M3, F32},
  {"mma 16 8 32 f16 e4m3 e5m2", mma_10, 4, 2, 2, E4M3, E5M2, F16},
  {"mma 16 8 32 s32 s8 u8 satfinite", mma_11, 4, 2, 4, S8, S8, S32},
  {"mma 16 8 16 s32 u8 s8", mma_12, 2, 1, 4, S8, S8, S32},
};

static uint32_t *to_device(const std::vector<uint32_t> &v) {
  uint32_t *p;
  CHECK(cudaMalloc(&p, v.size() * 4));
  CHECK(cudaMemcpy(p, v.data(), v.size() * 4, cudaMemcpyHostToDevice));
  return p;
}
static std::vector<uint32_t> from_device(uint32_t *p, size_t n) {
  std::vector<uint32_t> v(n);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(v.data(), p, n * 4, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(p));
  return v;
}

static void fill_cases(std::vector<uint32_t> &v, const Format &f, int regs) {
  for (int i = 0; i < CASES; i++) {
    std::vector<uint32_t> one(regs * 32);
    fill(one, f, i % 8 == 7 ? 3 : i % 4 == 3 ? 2 : i % 2);
    memcpy(&v[(size_t)i * regs * 32], one.data(), one.size() * 4);
  }
}

static void run_mma() {
  for (auto &m : mmas) {
    std::vector<uint32_t> a(CASES * m.na * 32), b(CASES * m.nb * 32), c(CASES * m.nc * 32);
    fill_cases(a, m.a, m.na), fill_cases(b, m.b, m.nb), fill_cases(c, m.d, m.nc);
    uint32_t *pa = to_device(a), *pb = to_device(b), *pc = to_device(c), *pd = to_device(c);
    m.kernel<<<CASES, 32>>>(pa, pb, pc, pd);
    CHECK(cudaGetLastError());
    std::vector<uint32_t> d = from_device(pd, c.size());
    begin(m.name, 4);
    put(a.data(), a.size() * 4), put(b.data(), b.size() * 4), put(c.data(), c.size() * 4), put(d.data(), d.size() * 4);
    cudaFree(pa), cudaFree(pb), cudaFree(pc);
  }
}

// ---- mma.sync on doubles
template <int NA, int NB, int NC, int SHAPE> __global__ void dmma(const double *pa, const double *pb, const double *pc, double *pd) {
  double a[8], b[4], c[4], d[4];
  int lane = threadIdx.x;
  for (int i = 0; i < NA; i++) a[i] = pa[(blockIdx.x * NA + i) * 32 + lane];
  for (int i = 0; i < NB; i++) b[i] = pb[(blockIdx.x * NB + i) * 32 + lane];
  for (int i = 0; i < NC; i++) c[i] = pc[(blockIdx.x * NC + i) * 32 + lane];
  if constexpr (SHAPE == 0) asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 " "{%0, %1}, {%2}, {%3}, {%4, %5};" : "=d"(d[0]), "=d"(d[1]) : "d"(a[0]), "d"(b[0]), "d"(c[0]), "d"(c[1]));
  if constexpr (SHAPE == 1) asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 " "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};" : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3]) : "d"(a[0]), "d"(a[1]), "d"(b[0]), "d"(c[0]), "d"(c[1]), "d"(c[2]), "d"(c[3]));
  if constexpr (SHAPE == 2) asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 " "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};" : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3]) : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]), "d"(c[0]), "d"(c[1]), "d"(c[2]), "d"(c[3]));
  if constexpr (SHAPE == 3) asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 " "{%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%16, %17, %18, %19};" : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3]) : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]), "d"(c[0]), "d"(c[1]), "d"(c[2]), "d"(c[3]));
  for (int i = 0; i < NC; i++) pd[(blockIdx.x * NC + i) * 32 + lane] = d[i];
}
template <int NA, int NB, int NC, int SHAPE> static void run_dmma(const char *name) {
  std::vector<double> v[3] = {std::vector<double>(8 * NA * 32), std::vector<double>(8 * NB * 32), std::vector<double>(8 * NC * 32)};
  for (auto &x : v) for (auto &e : x) e = ((int)rnd() % 100000 + rnd() / 4294967296.0) * (rnd() % 4 ? 1.0 : 1e-9);
  double *p[4];
  for (int i = 0; i < 4; i++) {
    auto &x = v[i < 3 ? i : 2];
    CHECK(cudaMalloc(&p[i], x.size() * 8));
    CHECK(cudaMemcpy(p[i], x.data(), x.size() * 8, cudaMemcpyHostToDevice));
  }
  dmma<NA, NB, NC, SHAPE><<<8, 32>>>(p[0], p[1], p[2], p[3]);
  std::vector<double> d(v[2].size());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(d.data(), p[3], d.size() * 8, cudaMemcpyDeviceToHost));
  begin(name, 4);
  for (auto &x : v) put(x.data(), x.size() * 8);
  put(d.data(), d.size() * 8);
}

// ---- wgmma: a shared-memory image of 32 KB, descriptors relative to its start

__device__ inline uint64_t with_start(uint64_t desc, uint32_t base) { return (desc & ~(uint64_t)0x3fff) | ((base + ((uint32_t)desc & 0x3fff) * 16) >> 4 & 0x3fff); }
#define WGMMA_KERNEL(name, text, ND, D_LIST, D_OUT, IMMS)                                                  \
  __global__ void name(const uint8_t *image, uint64_t da, uint64_t db, const uint32_t *pc, uint32_t *pd) {  \
    extern __shared__ __align__(1024) uint8_t smem[];                                                      \
    for (int i = threadIdx.x; i < WGMMA_IMAGE; i += 128) smem[i] = image[(size_t)blockIdx.x * WGMMA_IMAGE + i]; \
    uint32_t base = (uint32_t)__cvta_generic_to_shared(smem), d[ND];                                       \
    for (int i = 0; i < ND; i++) d[i] = pc[((size_t)blockIdx.x * ND + i) * 128 + threadIdx.x];              \
    uint64_t a = with_start(da, base), b = with_start(db, base);                                           \
    asm volatile("fence.proxy.async;" ::: "memory");                                                       \
    __syncthreads();                                                                                       \
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");                                                \
    asm volatile("wgmma.mma_async.sync.aligned." text " " D_LIST IMMS "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" : D_OUT : "l"(a), "l"(b) : "memory"); \
    for (int i = 0; i < ND; i++) pd[((size_t)blockIdx.x * ND + i) * 128 + threadIdx.x] = d[i];              \
  }
#define D2_LIST "{%0, %1}, %2, %3, "
#define D2_OUT "+r"(d[0]), "+r"(d[1])
#define D4_LIST "{%0, %1, %2, %3}, %4, %5, "
#define D4_OUT "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
#define D32_LIST "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, "
#define D32_OUT "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31])
WGMMA_KERNEL(wgmma_0, "m64n8k16.f32.f16.f16", 4, D4_LIST, D4_OUT, "1, 1, 1, 0, 0; ")
WGMMA_KERNEL(wgmma_1, "m64n8k16.f16.f16.f16", 2, D2_LIST, D2_OUT, "1, 1, 1, 0, 0; ")
WGMMA_KERNEL(wgmma_2, "m64n8k16.f32.bf16.bf16", 4, D4_LIST, D4_OUT, "1, 1, 1, 0, 0; ")
WGMMA_KERNEL(wgmma_3, "m64n8k8.f32.tf32.tf32", 4, D4_LIST, D4_OUT, "1, 1, 1; ")
WGMMA_KERNEL(wgmma_4, "m64n8k32.f32.e4m3.e4m3", 4, D4_LIST, D4_OUT, "1, 1, 1; ")
WGMMA_KERNEL(wgmma_5, "m64n8k32.f32.e5m2.e4m3", 4, D4_LIST, D4_OUT, "1, 1, 1; ")
WGMMA_KERNEL(wgmma_6, "m64n8k32.f16.e4m3.e4m3", 2, D2_LIST, D2_OUT, "1, 1, 1; ")
WGMMA_KERNEL(wgmma_7, "m64n8k32.s32.s8.u8.satfinite", 4, D4_LIST, D4_OUT, "1; ")
WGMMA_KERNEL(wgmma_8, "m64n8k16.f32.f16.f16", 4, D4_LIST, D4_OUT, "1, -1, 1, 0, 0; ")
WGMMA_KERNEL(address_00, "m64n64k16.f32.f16.f16", 32, D32_LIST, D32_OUT, "1, 1, 1, 0, 0; ")
WGMMA_KERNEL(address_01, "m64n64k16.f32.f16.f16", 32, D32_LIST, D32_OUT, "1, 1, 1, 0, 1; ")
WGMMA_KERNEL(address_10, "m64n64k16.f32.f16.f16", 32, D32_LIST, D32_OUT, "1, 1, 1, 1, 0; ")
WGMMA_KERNEL(address_11, "m64n64k16.f32.f16.f16", 32, D32_LIST, D32_OUT, "1, 1, 1, 1, 1; ")
typedef void (*WgmmaKernel)(const uint8_t *, uint64_t, uint64_t, const uint32_t *, uint32_t *);
static const struct { const char *name; WgmmaKernel kernel; int nd; Format ab, d; } wgmmas[] = {
  {"wgmma 64 8 16 f32 f16 f16", wgmma_0, 4, F16, F32},
  {"wgmma 64 8 16 f16 f16 f16", wgmma_1, 2, F16, F16},
  {"wgmma 64 8 16 f32 bf16 bf16", wgmma_2, 4, BF16, F32},
  {"wgmma 64 8 8 f32 tf32 tf32", wgmma_3, 4, TF32, F32},
  {"wgmma 64 8 32 f32 e4m3 e4m3", wgmma_4, 4, E4M3, F32},
  {"wgmma 64 8 32 f32 e5m2 e4m3", wgmma_5, 4, E5M2, F32},
  {"wgmma 64 8 32 f16 e4m3 e4m3", wgmma_6, 2, E4M3, F16},
  {"wgmma 64 8 32 s32 s8 u8 satfinite", wgmma_7, 4, S8, S32},
  {"wgmma 64 8 16 f32 f16 f16 negate", wgmma_8, 4, F16, F32},
};
static uint64_t descriptor(uint32_t start, uint32_t leading, uint32_t stride, int swizzle, int base_offset) {
  uint64_t mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
  return start >> 4 | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 | (uint64_t)base_offset << 49 | mode << 62;
}

// A: 64 rows of 32 bytes at 0, B: 8 rows at 2048, both K-major in plain 8x16-byte cores (128 apart along K, 256 along rows).
static void run_wgmma() {
  enum { N = 16, USED = 2048 + 256 };
  for (auto &w : wgmmas) {
    std::vector<uint32_t> images(N * WGMMA_IMAGE / 4), c(N * w.nd * 128);
    std::vector<uint8_t> kept;
    for (int i = 0; i < N; i++) {
      std::vector<uint32_t> one(USED / 4), acc(w.nd * 128);
      int band = i % 8 == 7 ? 3 : i % 4 == 3 ? 2 : i % 2;
      fill(one, w.ab, band), fill(acc, w.d, band);
      memcpy(&images[i * WGMMA_IMAGE / 4], one.data(), USED);
      memcpy(&c[(size_t)i * w.nd * 128], acc.data(), acc.size() * 4);
      kept.insert(kept.end(), (uint8_t *)one.data(), (uint8_t *)one.data() + USED);
    }
    uint32_t *pi = to_device(images), *pc = to_device(c), *pd = to_device(c);
    CHECK(cudaFuncSetAttribute(w.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, WGMMA_IMAGE));
    w.kernel<<<N, 128, WGMMA_IMAGE>>>((uint8_t *)pi, descriptor(0, 128, 256, 0, 0), descriptor(2048, 128, 256, 0, 0), pc, pd);
    CHECK(cudaGetLastError());
    std::vector<uint32_t> d = from_device(pd, c.size());
    begin(w.name, 3);
    put(kept.data(), kept.size()), put(c.data(), c.size() * 4), put(d.data(), d.size() * 4);
    cudaFree(pi), cudaFree(pc);
  }
}

static void run_addresses() {
  std::vector<uint32_t> image(WGMMA_IMAGE / 4), zero(32 * 128);
  for (uint32_t i = 0; i < WGMMA_IMAGE / 2; i++) {
    static const uint16_t halves[] = {0xc000, 0xbc00, 0, 0x3c00, 0x4000};
    ((uint16_t *)image.data())[i] = halves[vector_small(i) + 2];
  }
  uint32_t *pi = to_device(image), *pc = to_device(zero);
  for (auto &k : wgmma_cases) {
    WgmmaKernel kernel = k.trans_a ? k.trans_b ? address_11 : address_10 : k.trans_b ? address_01 : address_00;
    uint32_t *pd = to_device(zero);
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, WGMMA_IMAGE));
    kernel<<<1, 128, WGMMA_IMAGE>>>((uint8_t *)pi, descriptor(k.a, k.a_leading, k.a_stride, k.swizzle, k.base_offset), descriptor(k.b, k.b_leading, k.b_stride, k.swizzle, k.base_offset), pc, pd);
    CHECK(cudaGetLastError());
    std::vector<uint32_t> d = from_device(pd, zero.size());
    std::vector<int8_t> small(d.size());
    for (size_t i = 0; i < d.size(); i++) { float f; memcpy(&f, &d[i], 4); small[i] = (int8_t)f; }
    begin("address", 1);
    put(small.data(), small.size());
  }
}

// ---- TMA loads

__global__ void tma_load(const __grid_constant__ CUtensorMap map, int x, int y, uint32_t bytes, uint32_t *out) {
  extern __shared__ __align__(1024) uint8_t smem[];
  __shared__ uint64_t bar;
  for (int i = 0; i < 16384; i++) smem[i] = 0xee;
  uint32_t b = (uint32_t)__cvta_generic_to_shared(&bar), dst = (uint32_t)__cvta_generic_to_shared(smem);
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.proxy.async;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b), "r"(bytes) : "memory");
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(dst), "l"(&map), "r"(x), "r"(y), "r"(b) : "memory");
  asm volatile("{\n.reg .pred p;\nW_%=: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra W_%=;\n}" ::"r"(b) : "memory");
  for (int i = 0; i < 4096; i++) out[i] = ((uint32_t *)smem)[i];
}

static void run_tma() {
  typedef CUresult (*Encode)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  Encode encode = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000, cudaEnableDefault, &found));
  std::vector<uint32_t> source(96 * 40 / 2);
  for (int i = 0; i < 96 * 40; i++) ((uint16_t *)source.data())[i] = (uint16_t)(i + 1);
  uint32_t *p = to_device(source);
  for (auto &t : tma_cases) {
    CUtensorMap map;
    cuuint64_t dims[] = {96, 40}, strides[] = {192};
    cuuint32_t box[] = {t.box0, t.box1}, steps[] = {1, t.stride1};
    CUresult r = encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, p, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle)t.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, t.nan_fill ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (r != CUDA_SUCCESS) { fprintf(stderr, "cuTensorMapEncodeTiled: %d\n", (int)r); exit(1); }
    std::vector<uint32_t> image(4096);
    uint32_t *out = to_device(image);
    CHECK(cudaFuncSetAttribute(tma_load, cudaFuncAttributeMaxDynamicSharedMemorySize, 20480));
    tma_load<<<1, 1, 16384>>>(map, t.x, t.y, t.box0 * ((t.box1 + t.stride1 - 1) / t.stride1) * 2, out);
    CHECK(cudaGetLastError());
    image = from_device(out, 4096);
    begin("tma", 1);
    put(image.data(), image.size() * 4);
  }
}

// ---- one-operand instructions on 32-bit values: conversions and approximations

#define UNARY(name, ...)                                                                                   \
  __global__ void name(const uint32_t *in, uint32_t n, uint64_t *out) {                                     \
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;                                                    \
    if (i >= n) return;                                                                                    \
    uint32_t x = in[i], y = in[(i + 1) % n], r = y & 0;                                                     \
    uint16_t h = 0;                                                                                        \
    uint64_t l = 0;                                                                                        \
    __VA_ARGS__;                                                                                           \
    out[i] = l | r | h;                                                                                    \
  }
UNARY(unary_0, asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(__uint_as_float(x))))
UNARY(unary_1, asm("cvt.rz.f16.f32 %0, %1;" : "=h"(h) : "f"(__uint_as_float(x))))
UNARY(unary_2, asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(__uint_as_float(x))))
UNARY(unary_3, asm("cvt.rz.bf16.f32 %0, %1;" : "=h"(h) : "f"(__uint_as_float(x))))
UNARY(unary_4, asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(__uint_as_float(x))))
UNARY(unary_5, asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(r) : "f"(__uint_as_float(x))))
UNARY(unary_6, float f; asm("cvt.rni.f32.f32 %0, %1;" : "=f"(f) : "f"(__uint_as_float(x))); r = __float_as_uint(f))
UNARY(unary_7, float f; asm("cvt.rmi.f32.f32 %0, %1;" : "=f"(f) : "f"(__uint_as_float(x))); r = __float_as_uint(f))
UNARY(unary_8, asm("cvt.rni.s32.f32 %0, %1;" : "=r"(r) : "f"(__uint_as_float(x))))
UNARY(unary_9, asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(r) : "f"(__uint_as_float(x))))
UNARY(unary_10, asm("cvt.rpi.u32.f32 %0, %1;" : "=r"(r) : "f"(__uint_as_float(x))))
UNARY(unary_11, asm("cvt.rzi.s64.f32 %0, %1;" : "=l"(l) : "f"(__uint_as_float(x))))
UNARY(unary_12, asm("cvt.rzi.u64.f32 %0, %1;" : "=l"(l) : "f"(__uint_as_float(x))))
UNARY(unary_13, float f; asm("cvt.rn.f32.s32 %0, %1;" : "=f"(f) : "r"(x)); r = __float_as_uint(f))
UNARY(unary_14, float f; asm("cvt.rz.f32.u32 %0, %1;" : "=f"(f) : "r"(x)); r = __float_as_uint(f))
UNARY(unary_15, asm("cvt.rn.f16.s32 %0, %1;" : "=h"(h) : "r"(x)))
UNARY(unary_16, float f; asm("ex2.approx.f32 %0, %1;" : "=f"(f) : "f"(__uint_as_float(x))); r = __float_as_uint(f))
UNARY(unary_17, float f; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(f) : "f"(__uint_as_float(x))); r = __float_as_uint(f))
UNARY(unary_18, float f; asm("lg2.approx.f32 %0, %1;" : "=f"(f) : "f"(__uint_as_float(x))); r = __float_as_uint(f))
UNARY(unary_19, float f; asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(f) : "f"(__uint_as_float(x))); r = __float_as_uint(f))
UNARY(unary_20, float f; asm("rsqrt.approx.f32 %0, %1;" : "=f"(f) : "f"(__uint_as_float(x))); r = __float_as_uint(f))
UNARY(unary_21, float f; asm("sqrt.approx.f32 %0, %1;" : "=f"(f) : "f"(__uint_as_float(x))); r = __float_as_uint(f))
UNARY(unary_22, float f; asm("sin.approx.f32 %0, %1;" : "=f"(f) : "f"(__uint_as_float(x))); r = __float_as_uint(f))
UNARY(unary_23, float f; asm("cos.approx.f32 %0, %1;" : "=f"(f) : "f"(__uint_as_float(x))); r = __float_as_uint(f))
UNARY(unary_24, float f; asm("tanh.approx.f32 %0, %1;" : "=f"(f) : "f"(__uint_as_float(x))); r = __float_as_uint(f))
UNARY(unary_25, float f; asm("rcp.rn.f32 %0, %1;" : "=f"(f) : "f"(__uint_as_float(x))); r = __float_as_uint(f))
UNARY(unary_26, float f; asm("sqrt.rn.f32 %0, %1;" : "=f"(f) : "f"(__uint_as_float(x))); r = __float_as_uint(f))
UNARY(unary_27, float f; asm("sqrt.rz.f32 %0, %1;" : "=f"(f) : "f"(__uint_as_float(x))); r = __float_as_uint(f))
UNARY(unary_28, asm("ex2.approx.ftz.bf16x2 %0, %1;" : "=r"(r) : "r"(x)))
UNARY(unary_29, asm("tanh.approx.bf16x2 %0, %1;" : "=r"(r) : "r"(x)))
UNARY(unary_30, asm("ex2.approx.f16x2 %0, %1;" : "=r"(r) : "r"(x)))
UNARY(unary_31, asm("tanh.approx.f16x2 %0, %1;" : "=r"(r) : "r"(x)))
UNARY(unary_32, asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(r) : "h"((uint16_t)x)))
UNARY(unary_33, asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(r) : "h"((uint16_t)x)))
UNARY(unary_34, asm("cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;" : "=h"(h) : "r"(x)))
UNARY(unary_35, asm("cvt.rn.satfinite.e5m2x2.f16x2 %0, %1;" : "=h"(h) : "r"(x)))
UNARY(unary_36, asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(h) : "f"(__uint_as_float(x)), "f"(__uint_as_float(y))))
UNARY(unary_37, asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(h) : "f"(__uint_as_float(x)), "f"(__uint_as_float(y))))
UNARY(unary_38, asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(__uint_as_float(x)), "f"(__uint_as_float(y))))
UNARY(unary_39, asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(__uint_as_float(x)), "f"(__uint_as_float(y))))
UNARY(unary_40, asm("cvt.rn.relu.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(__uint_as_float(x)), "f"(__uint_as_float(y))))
static const struct { const char *name; void (*kernel)(const uint32_t *, uint32_t, uint64_t *); } unaries[] = {
  {"cvt.rn.f16.f32", unary_0},
  {"cvt.rz.f16.f32", unary_1},
  {"cvt.rn.bf16.f32", unary_2},
  {"cvt.rz.bf16.f32", unary_3},
  {"cvt.rna.tf32.f32", unary_4},
  {"cvt.rn.tf32.f32", unary_5},
  {"cvt.rni.f32.f32", unary_6},
  {"cvt.rmi.f32.f32", unary_7},
  {"cvt.rni.s32.f32", unary_8},
  {"cvt.rzi.s32.f32", unary_9},
  {"cvt.rpi.u32.f32", unary_10},
  {"cvt.rzi.s64.f32", unary_11},
  {"cvt.rzi.u64.f32", unary_12},
  {"cvt.rn.f32.s32", unary_13},
  {"cvt.rz.f32.u32", unary_14},
  {"cvt.rn.f16.s32", unary_15},
  {"ex2.approx.f32", unary_16},
  {"ex2.approx.ftz.f32", unary_17},
  {"lg2.approx.f32", unary_18},
  {"rcp.approx.ftz.f32", unary_19},
  {"rsqrt.approx.f32", unary_20},
  {"sqrt.approx.f32", unary_21},
  {"sin.approx.f32", unary_22},
  {"cos.approx.f32", unary_23},
  {"tanh.approx.f32", unary_24},
  {"rcp.rn.f32", unary_25},
  {"sqrt.rn.f32", unary_26},
  {"sqrt.rz.f32", unary_27},
  {"ex2.approx.ftz.bf16x2", unary_28},
  {"tanh.approx.bf16x2", unary_29},
  {"ex2.approx.f16x2", unary_30},
  {"tanh.approx.f16x2", unary_31},
  {"cvt.rn.f16x2.e4m3x2", unary_32},
  {"cvt.rn.f16x2.e5m2x2", unary_33},
  {"cvt.rn.satfinite.e4m3x2.f16x2", unary_34},
  {"cvt.rn.satfinite.e5m2x2.f16x2", unary_35},
  {"cvt.rn.satfinite.e4m3x2.f32", unary_36},
  {"cvt.rn.satfinite.e5m2x2.f32", unary_37},
  {"cvt.rn.f16x2.f32", unary_38},
  {"cvt.rn.bf16x2.f32", unary_39},
  {"cvt.rn.relu.bf16x2.f32", unary_40},
};
static void run_unary() {
  std::vector<uint32_t> in;
  static const uint32_t special[] = {0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 1, 0x807fffff, 0x00800000, 0x7f7fffff, 0x4f000000, 0xcf000000, 0x5f000000, 0x477fefff, 0x477ff000, 0x43e00000, 0x43e80000, 0x43e80001, 0x3f000000, 0x3fc00000, 0x40200000};
  for (uint32_t s : special) in.push_back(s);
  while (in.size() < 700) in.push_back(random_bits(F32, 0));
  while (in.size() < 1400) in.push_back(random_bits(F32, 1));
  while (in.size() < 2048) in.push_back(rnd());
  begin("inputs", 1);
  put(in.data(), in.size() * 4);
  uint32_t *p = to_device(in);
  for (auto &u : unaries) {
    uint64_t *out;
    CHECK(cudaMalloc(&out, in.size() * 8));
    u.kernel<<<(in.size() + 127) / 128, 128>>>(p, (uint32_t)in.size(), out);
    CHECK(cudaGetLastError());
    std::vector<uint64_t> v(in.size());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(v.data(), out, v.size() * 8, cudaMemcpyDeviceToHost));
    cudaFree(out);
    begin(u.name, 1);
    put(v.data(), v.size() * 8);
  }
}

int main(int argc, char **argv) {
  if (argc != 2) { fprintf(stderr, "usage: vectors DIR\n"); return 2; }
  open_file(argv[1], "mma.bin");
  run_mma();
  run_dmma<1, 1, 2, 0>("mma 8 8 4 f64 f64 f64");
  run_dmma<2, 1, 4, 1>("mma 16 8 4 f64 f64 f64");
  run_dmma<4, 2, 4, 2>("mma 16 8 8 f64 f64 f64");
  run_dmma<8, 4, 4, 3>("mma 16 8 16 f64 f64 f64");
  fclose(file);
  open_file(argv[1], "wgmma.bin");
  run_wgmma();
  run_addresses();
  fclose(file);
  open_file(argv[1], "tma.bin");
  run_tma();
  fclose(file);
  open_file(argv[1], "unary.bin");
  run_unary();
  fclose(file);
  return 0;
}
