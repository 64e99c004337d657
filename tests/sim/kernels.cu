// CUDA C kernels whose PTX the simulator is tested with (kernels.ptx, made by make_ptx.sh).
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cstdio>
#include <cassert>
namespace cg = cooperative_groups;

extern "C" __global__ void vector_add(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" __global__ void saxpy_strided(float *y, const float *x, float a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void reduce_shared(const float *x, float *out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, i = blockIdx.x * 512 + t;
  float v = 0;
  if (i < n) v += x[i];
  if (i + 256 < n) v += x[i + 256];
  s[t] = v;
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

extern "C" __global__ void reduce_shuffle(const int *x, int *out, int n) {
  __shared__ int part[32];
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  for (int d = 16; d; d >>= 1) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x == 0) atomicAdd(out, sum);
  }
}

extern "C" __global__ void transpose(const float *in, float *out, int w, int h) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < w && y + j < h) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < h && y + j < w) out[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void scan_block(const int *in, int *out, int n) {
  extern __shared__ int s[];
  int t = threadIdx.x;
  s[t] = t < n ? in[t] : 0;
  __syncthreads();
  for (int d = 1; d < blockDim.x; d <<= 1) {
    int v = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  if (t < n) out[t] = s[t];
}

extern "C" __global__ void histogram(const unsigned char *x, unsigned *bins, int n) {
  __shared__ unsigned local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[x[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) if (local[i]) atomicAdd(&bins[i], local[i]);
}

extern "C" __global__ void matmul_tiled(const float *a, const float *b, float *c, int n) {
  __shared__ float as[16][16], bs[16][16];
  int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  float acc = 0;
  for (int k = 0; k < n; k += 16) {
    as[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + col];
    __syncthreads();
    for (int i = 0; i < 16; i++) acc += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + col] = acc;
}

extern "C" __global__ void softmax_row(const float *x, float *y, int n) {
  int lane = threadIdx.x;
  const float *row = x + blockIdx.x * n;
  float m = -INFINITY, s = 0;
  for (int i = lane; i < n; i += 32) m = fmaxf(m, row[i]);
  for (int d = 16; d; d >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
  for (int i = lane; i < n; i += 32) s += expf(row[i] - m);
  for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
  for (int i = lane; i < n; i += 32) y[blockIdx.x * n + i] = expf(row[i] - m) / s;
}

__device__ __noinline__ int collatz_steps(unsigned long long v) {
  int n = 0;
  while (v != 1) {
    v = v & 1 ? 3 * v + 1 : v / 2;
    n++;
  }
  return n;
}
extern "C" __global__ void collatz(int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = collatz_steps(i + 1);
}

__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
extern "C" __global__ void recursion(int *out) { out[threadIdx.x] = fib(threadIdx.x % 12); }

typedef int (*unary)(int);
__device__ int plus1(int x) { return x + 1; }
__device__ int times3(int x) { return x * 3; }
__device__ int negate(int x) { return -x; }
__device__ unary table[3] = {plus1, times3, negate};
extern "C" __global__ void indirect_calls(int *out) { out[threadIdx.x] = table[threadIdx.x % 3](threadIdx.x); }

extern "C" __global__ void switch_table(const int *in, int *out) {
  int x = in[threadIdx.x], r;
  switch (x) {
  case 0: r = 11; break;
  case 1: r = x * 7 + 5; break;
  case 2: r = __popc(threadIdx.x); break;
  case 3: r = __clz(threadIdx.x); break;
  case 4: r = __brev(threadIdx.x); break;
  case 5: r = __ffs(threadIdx.x); break;
  case 6: r = 99; break;
  case 7: r = -3; break;
  default: r = 1000 + x; break;
  }
  out[threadIdx.x] = r;
}

extern "C" __global__ void half_math(const __half *a, const __half *b, __half *c, __nv_bfloat16 *d, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * i + 1 < n) {
    __half2 x = ((const __half2 *)a)[i], y = ((const __half2 *)b)[i];
    __half2 r = __hfma2(x, y, __hadd2(x, y));
    ((__half2 *)c)[i] = r;
    ((__nv_bfloat162 *)d)[i] = __float22bfloat162_rn(__half22float2(r));
  }
}

extern "C" __global__ void double_math(const double *a, double *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = sqrt(a[i]) / (1.0 + a[i] * a[i]) + exp(-a[i]) + sin(a[i]) + pow(a[i], 1.5);
}

extern "C" __global__ void int64_math(const long long *a, const long long *b, long long *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] / b[i] + a[i] % b[i] * 3 + __mul64hi(a[i], b[i]) + ((unsigned long long)a[i] >> 7) + __popcll(a[i]);
}

extern "C" __global__ void spin_lock(int *lock, int *counter, int rounds) {
  for (int r = 0; r < rounds; r++) {
    bool done = false;
    while (!done) {
      if (atomicCAS(lock, 0, 1) == 0) {
        __threadfence();
        *(volatile int *)counter = *(volatile int *)counter + 1;
        __threadfence();
        atomicExch(lock, 0);
        done = true;
      }
    }
  }
}

extern "C" __global__ void last_block(const int *x, int *partial, unsigned *ticket, int *out, int n) {
  __shared__ bool last;
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  atomicAdd(&partial[blockIdx.x], sum);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int s = 0;
    for (int i = 0; i < gridDim.x; i++) s += ((volatile int *)partial)[i];
    *out = s;
  }
}

// Every block waits for all others: needs them resident together.
extern "C" __global__ void grid_barrier(unsigned *arrived, int *out) {
  if (threadIdx.x == 0) {
    out[blockIdx.x] = blockIdx.x + 1;
    __threadfence();
    atomicAdd(arrived, 1u);
    while (*(volatile unsigned *)arrived < gridDim.x) {}
    __threadfence();
    out[gridDim.x + blockIdx.x] = ((volatile int *)out)[(blockIdx.x + 1) % gridDim.x];
  }
}

extern "C" __global__ void cooperative_sum(int *data, int n) {
  cg::grid_group g = cg::this_grid();
  int i = g.thread_rank();
  for (int d = n / 2; d > 0; d /= 2) {
    if (i < d) data[i] += data[i + d];
    g.sync();
  }
}

extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_exchange(int *out) {
  __shared__ int value[32];
  cg::cluster_group c = cg::this_cluster();
  value[threadIdx.x] = c.block_rank() * 100 + threadIdx.x;
  c.sync();
  int *peer = c.map_shared_rank(value, (c.block_rank() + 1) % 4);
  out[blockIdx.x * 32 + threadIdx.x] = peer[31 - threadIdx.x];
  c.sync();
}

extern "C" __global__ void warp_votes(const int *x, unsigned *out) {
  int v = x[threadIdx.x];
  unsigned b = __ballot_sync(~0u, v > 0), m = __match_any_sync(~0u, v), a = __activemask();
  int any = __any_sync(~0u, v == 7), all = __all_sync(~0u, v < 100);
  unsigned r = __reduce_add_sync(~0u, (unsigned)v) ^ __reduce_max_sync(~0u, (unsigned)v);
  out[threadIdx.x] = b ^ m * 3 ^ a ^ any << 4 ^ all << 5 ^ r;
  int half = 0;
  if (threadIdx.x < 16) half = __shfl_sync(0xffff, v, (threadIdx.x + 1) % 16);
  else half = __shfl_sync(0xffff0000, v, 16 + (threadIdx.x + 3) % 16);
  out[32 + threadIdx.x] = half;
}

__constant__ float coefficients[5] = {0.5f, -1.25f, 3.0f, 0.125f, 2.0f};
extern "C" __global__ void polynomial(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float r = 0;
  for (int k = 0; k < 5; k++) r = r * x[i] + coefficients[k];
  y[i] = r;
}

struct Big { int v[12]; long long w; };
extern "C" __global__ void struct_param(Big b, long long *out, int k) { out[threadIdx.x] = b.v[(threadIdx.x + k) % 12] + b.w; }

extern "C" __global__ void local_array(const int *idx, int *out) {
  int a[16];
  for (int i = 0; i < 16; i++) a[i] = i * i + threadIdx.x;
  a[idx[threadIdx.x] & 15] = -1;
  int s = 0;
  for (int i = 0; i < 16; i++) s = s * 3 + a[(i * idx[threadIdx.x]) & 15];
  out[threadIdx.x] = s;
}

extern "C" __global__ void say_hello(int n) {
  if (threadIdx.x < n) printf("thread %d of %s: %5.2f %llx %c|\n", (int)threadIdx.x, "block", 1.5 * threadIdx.x, 0x123456789abcull + threadIdx.x, 'a' + threadIdx.x);
}
extern "C" __global__ void check_positive(const int *x) { assert(x[threadIdx.x] > 0); }

extern "C" __global__ void out_of_bounds(int *x, int n) { x[threadIdx.x + n] = 1; }
extern "C" __global__ void misaligned(char *x) { *(int *)(x + 1) = 1; }
extern "C" __global__ void barrier_deadlock(int *x) {
  if (threadIdx.x < 32) __syncthreads();
  else while (((volatile int *)x)[0] == 0) {}
}
