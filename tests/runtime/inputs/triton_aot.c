// Launches what triton.tools.link joined, at the driver of LD_LIBRARY_PATH: stride 1 and 2, each set of constants.
#include <cuda.h>
#include <stdio.h>

#include "sum_of.h"

enum { N = 300 };
static float x[N], y[N], out[2 * N];

int main(void) {
  CUcontext context;
  CUdeviceptr px, py, pout;
  CUdevice device;
  if (cuInit(0) || cuDeviceGet(&device, 0) || cuCtxCreate(&context, 0, device)) return 1;
  for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = 1;
  if (cuMemAlloc(&px, sizeof x) || cuMemAlloc(&py, sizeof y) || cuMemAlloc(&pout, sizeof out)) return 2;
  if (cuMemcpyHtoD(px, x, sizeof x) || cuMemcpyHtoD(py, y, sizeof y)) return 3;
  load_sum_of();
  for (int algorithm = 0; algorithm < sum_of_get_num_algos(); algorithm++)
    for (int stride = 1; stride <= 2; stride++) {
      for (int i = 0; i < 2 * N; i++) out[i] = -1;
      if (cuMemcpyHtoD(pout, out, sizeof out)) return 4;
      CUresult status = sum_of(0, px, py, pout, N, stride, algorithm);
      if (status || cuMemcpyDtoH(out, pout, sizeof out)) return 5;
      int wrong = 0;
      for (int i = 0; i < N; i++) wrong += out[i * stride] != 2 * (x[i] + 1);
      const float next = out[N * stride - stride + 1];
      printf("algorithm %d, stride %d: %d wrong, the next is %g\n", algorithm, stride, wrong, next);
    }
  printf("no such algorithm: %d, ", sum_of(0, px, py, pout, N, 1, 7));
  printf("no block: %d\n", sum_of_default(0, px, py, pout, 0, 1));
  unload_sum_of();
  return 0;
}
