// The CUDA driver as a table of functions: the real one by dlopen, or the simulator's.
#ifndef TILE_RUNTIME_RT_CUDA_H
#define TILE_RUNTIME_RT_CUDA_H

#include <stdbool.h>

#include "runtime/rt/cuda_types.h"
#include "runtime/tile/rt.h"

typedef struct {
  void *library;               // dlopen's; NULL for the simulator
#define CUDA_FN(member, symbol, ...) CUresult (*member)(__VA_ARGS__);
#include "runtime/rt/cuda.def"
  // The simulator's account of the last failure; NULL for the real driver.
  const char *(*last_report)(void);
  // Starts or ends its counting of launches, as DeviceOps.count_launches says; NULL for the real driver.
  const struct LaunchCounts *(*count_launches)(bool on);
} CudaDriver;

tile_status cuda_open(CudaDriver *driver, bool simulator, tile_error **error);
void cuda_close(CudaDriver *driver);
// TILE_OK, or an error "<doing>: CUDA_ERROR_X: text". Failures of a kernel give TILE_ERROR_RUN, others
// TILE_ERROR_DRIVER.
tile_status cuda_check(const CudaDriver *driver, CUresult result, const char *doing, tile_error **error);

#endif
