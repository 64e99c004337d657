// The CUDA driver as a table of functions: the real one by dlopen, or the simulator's.
#ifndef TILE_RUNTIME_RT_CUDA_H
#define TILE_RUNTIME_RT_CUDA_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "runtime/rt/cuda_types.h"
#include "runtime/rt/fault.h"
#include "runtime/tile/rt.h"

// How a kernel failed. After that the driver's context is unusable, and every later call fails because of it.
typedef struct {
  pthread_mutex_t lock;
  CUresult result;             // 0: none has failed
  atomic_bool has_launched;    // through this device; if not, the failed launch is older than the device
  char what[768];              // "running the kernel: CUDA_ERROR_ASSERT"; of the simulator's report also the first line
  bool has_cause;
} CudaLoss;

typedef struct {
  CudaLoss *loss;              // of the device; NULL while there is none
  const char *device;          // "gpu:0"
  void *library;               // dlopen's; NULL for the simulator
#define CUDA_FN(member, symbol, ...) CUresult (*member)(__VA_ARGS__);
#include "runtime/rt/cuda.def"
  // NULL if the driver is too old.
  CUresult (*func_param_info)(CUfunction function, size_t index, size_t *offset, size_t *size);
  // The simulator's account of the last failure; NULL for the real driver.
  const char *(*last_report)(void);
  // The simulator's: launches of this thread ask whether to stop (runtime/sim/driver.h). NULL for the real driver.
  void (*set_stop)(bool (*should_stop)(void *user), void *user);
  // The simulator's: starts or ends counting, as DeviceOps.count_launches does. NULL for the real driver.
  const struct LaunchCounts *(*count_launches)(bool on);
  // The simulator's: says what its reports call a pointer. NULL for the real driver.
  void (*name_pointer)(CUfunction function, uint32_t index, const char *name);
  // The simulator's: says how large the elements are that a pointer points to. NULL for the real driver.
  void (*size_pointer)(CUfunction function, uint32_t index, uint32_t elem_bytes);
  // The simulator's: gives a source text for its reports (runtime/sim/driver.h). NULL for the real driver.
  void (*show_source)(CUfunction function, const char *file, uint32_t first_line, const char *text, size_t size);
  // The simulator's: notes about places in the source, and the last failure as an error at one (runtime/rt/fault.h).
  // NULL for the real driver.
  void (*note_place)(CUfunction function, const PlaceNote *note);
  const KernelFault *(*last_fault)(void);
  const KernelFault *(*next_warning)(void);
  void (*use_schedules)(uint64_t seed, uint32_t num, uint64_t step);
} CudaDriver;

tile_status cuda_open(CudaDriver *driver, bool simulator, tile_error **error);
void cuda_close(CudaDriver *driver);
// TILE_OK, or an error "<doing>: CUDA_ERROR_X: text". The first failure of a kernel gives TILE_ERROR_RUN, every
// other failure TILE_ERROR_DRIVER, or TILE_ERROR_NO_MEMORY if the device's memory is full. Failures after the first say
// that the context is lost.
// Gives the hook `log` the warnings of launches on the simulator.
void cuda_tell_warnings(const CudaDriver *driver, const tile_hooks *hooks);
tile_status cuda_check(const CudaDriver *driver, CUresult result, const char *doing, tile_error **error);

#endif
