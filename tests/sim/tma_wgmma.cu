// C[M,N] (f16) = A[M,K] (f16) * B[N,K]^T (f16): one producer warp feeds a two-stage ring by TMA, one warpgroup multiplies with
// wgmma and keeps a product in flight, and the result leaves through shared memory by a TMA store. Every synchronisation
// instruction of that scheme is here once; test_sim_mutation.c takes them away one by one. The .ptx beside this file is
//   nvcc -ptx -arch=sm_90a tma_wgmma.cu
#include <stdint.h>

struct alignas(64) TensorMap { unsigned char bytes[128]; };

constexpr int BM = 64, BN = 64, BK = 64, STAGES = 2, CONSUMERS = 128;
constexpr uint32_t STAGE_BYTES = (BM + BN) * BK * 2;

__device__ inline uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

__device__ inline void barrier_wait(uint32_t bar, uint32_t parity) {
  asm volatile("{\n.reg .pred done;\nWAIT_%=:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@done bra DONE_%=;\nbra WAIT_%=;\nDONE_%=:\n}" ::"r"(bar), "r"(parity) : "memory");
}
__device__ inline void barrier_arrive(uint32_t bar) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory"); }
__device__ inline void load_tile(uint32_t dst, const TensorMap *map, int x, int y, uint32_t bar) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(dst), "l"(map), "r"(x), "r"(y), "r"(bar) : "memory");
}
__device__ inline uint64_t descriptor(uint32_t address) {  // K-major, 128-byte swizzle
  return (uint64_t)(address >> 4 & 0x3fff) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

__device__ inline void multiply(float (&d)[32], uint64_t a, uint64_t b) {
  asm volatile(
    "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 0;"
    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]),
      "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]),
      "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
      "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
    : "l"(a), "l"(b));
}

struct Shared {
  alignas(1024) unsigned char a[STAGES][BM * BK * 2];
  alignas(1024) unsigned char b[STAGES][BN * BK * 2];
  alignas(1024) uint32_t c[BM * BN / 2];
  alignas(8) uint64_t full[STAGES], empty[STAGES];
};

extern "C" __global__ void __launch_bounds__(CONSUMERS + 32)
tma_wgmma(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b, const __grid_constant__ TensorMap map_c, int k_tiles) {
  __shared__ Shared s;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; i++) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&s.full[i])), "r"(1) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&s.empty[i])), "r"(CONSUMERS / 32) : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("bar.sync 0;" ::: "memory");
  if (warp == CONSUMERS / 32) {
    if (lane == 0) {
#pragma unroll 1
      for (int k = 0; k < k_tiles; k++) {
        int stage = k % STAGES;
        uint32_t full = shared_address(&s.full[stage]);
        barrier_wait(shared_address(&s.empty[stage]), (k / STAGES & 1) ^ 1);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(full), "r"(STAGE_BYTES) : "memory");
        load_tile(shared_address(s.a[stage]), &map_a, k * BK, row0, full);
        load_tile(shared_address(s.b[stage]), &map_b, k * BK, col0, full);
      }
    }
    return;
  }
  float d[32];
#pragma unroll
  for (int i = 0; i < 32; i++) d[i] = 0;
#pragma unroll 1
  for (int k = 0; k < k_tiles; k++) {
    int stage = k % STAGES;
    barrier_wait(shared_address(&s.full[stage]), k / STAGES & 1);
    uint64_t a = descriptor(shared_address(s.a[stage])), b = descriptor(shared_address(s.b[stage]));
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int step = 0; step < BK / 16; step++) multiply(d, a + 2 * step, b + 2 * step);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");  // the product before this one is done: free its stage
    if (k > 0 && lane == 0) barrier_arrive(shared_address(&s.empty[(k - 1) % STAGES]));
  }
#pragma unroll
  for (int i = 0; i < 32; i++) asm volatile("" : "+f"(d[i])::"memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
  for (int i = 0; i < 32; i++) asm volatile("" : "+f"(d[i])::"memory");
  int row = warp * 16 + lane / 4, col = lane % 4;
#pragma unroll
  for (int j = 0; j < 8; j++)
#pragma unroll
    for (int half = 0; half < 2; half++) {
      uint32_t packed;
      asm volatile("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(d[4 * j + 2 * half + 1]), "f"(d[4 * j + 2 * half]));
      s.c[(row + 8 * half) * (BN / 2) + 4 * j + col] = packed;
    }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("bar.sync 1, 128;" ::: "memory");
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map_c), "r"(col0), "r"(row0), "r"(shared_address(s.c)) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
