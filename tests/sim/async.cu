// Asynchronous copies in CUDA C (async.ptx, made by make_ptx.sh).
#include <cuda_pipeline.h>

extern "C" __global__ void async_pipeline(const float *x, float *y, int tiles) {
  __shared__ float buf[2][128];
  auto fetch = [&](int t) { __pipeline_memcpy_async(&buf[t & 1][threadIdx.x], &x[t * 128 + threadIdx.x], 4); };
  fetch(0);
  __pipeline_commit();
  for (int t = 0; t < tiles; t++) {
    if (t + 1 < tiles) fetch(t + 1);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    y[t * 128 + threadIdx.x] = buf[t & 1][127 - threadIdx.x] * 2;
    __syncthreads();
  }
}

