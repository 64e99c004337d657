// The CUDA driver, or the simulator in its place, as a device: what the files that implement it share. device_cuda.c
// opens it and has its memory, cuda_load.c loads kernels, cuda_launch.c launches them, tensor_map.c makes tensor maps.
#ifndef TILE_RUNTIME_RT_DEVICE_CUDA_H
#define TILE_RUNTIME_RT_DEVICE_CUDA_H

#include "runtime/rt/device.h"

typedef struct {
  tile_device base;
  CudaDriver cu;
  CUdevice device;
  CUcontext context;
  bool is_sim;
  int shared_optin, driver_version;
  CUdeviceptr flush;           // timing overwrites it to empty the caches
  CUdeviceptr padding;         // EMPTY_BYTES of zeros, then of NaN: what the map of an empty tensor shows. 0 until a
                               // kernel may need it
  pthread_mutex_t padding_lock;
  CudaLoss loss;
  char spec[16];               // "gpu:0"
  CUevent start, end;
} CudaDevice;

enum { EMPTY_BYTES = 16 };

static inline CudaDevice *cuda_device(tile_device *d) { return (CudaDevice *)d; }

// Makes the device's primary context the thread's current one, if it is not, until cuda_leave.
typedef struct { CudaDevice *pushed; tile_status status; } CudaContext;
static inline CudaContext cuda_enter(CudaDevice *d, tile_error **error) {
  CUcontext current = NULL;
  if (d->cu.ctx_get_current(&current) == CUDA_SUCCESS && current == d->context) return (CudaContext){NULL, TILE_OK};
  tile_status status = cuda_check(&d->cu, d->cu.ctx_push(d->context), "entering the CUDA context", error);
  return (CudaContext){status == TILE_OK ? d : NULL, status};
}
static inline void cuda_leave(const CudaContext *c) {
  CUcontext old;
  if (c->pushed) c->pushed->cu.ctx_pop(&old);
}
// The rest of the block runs in the context; returns `failed` if that cannot be entered.
#define ENTER_OR_RETURN_AS(failed, d, error)                                                  \
  __attribute__((cleanup(cuda_leave))) const CudaContext context_ = cuda_enter(d, error);     \
  if (context_.status != TILE_OK) return failed
#define ENTER_OR_RETURN(d, error) ENTER_OR_RETURN_AS(context_.status, d, error)
// Calls a function of the driver and returns its status, with an error that says what it was `doing`, if it fails.
#define CALL_OR_RETURN(d, call, doing)                                                        \
  do {                                                                                        \
    tile_status status_ = cuda_check(&(d)->cu, (d)->cu.call, doing, error);                   \
    if (status_ != TILE_OK) return status_;                                                   \
  } while (0)

// cuda_load.c, cuda_launch.c: what DeviceOps asks for.
tile_status cuda_load(tile_kernel *k, tile_error **error);
void cuda_unload(tile_kernel *k);
tile_status cuda_code_use(const tile_kernel *k, CodeUse *out, tile_error **error);
tile_status cuda_reserve(tile_kernel *k, const uint32_t grid[3], tile_error **error);
tile_status cuda_launch(tile_kernel *k, const tile_launch_options *o, const tile_arg *args, tile_error **error);
tile_status cuda_launch_params(const tile_kernel *k, const uint32_t grid[3], void *stream, void **params,
                               tile_error **error);
// cuda_stream.c
extern const StreamOps cuda_stream_ops;
tile_status cuda_synchronize(tile_device *base, tile_error **error);
tile_status cuda_time(tile_kernel *k, const tile_launch_options *o, const tile_arg *args, double *milliseconds,
                      tile_error **error);

// tensor_map.c: the map of a descriptor parameter, of the tensor that its argument is (tensor_map_of_arg) or that an
// automatic map is of (tensor_map_of_kernel).
tile_status tensor_map_of_arg(const CudaDevice *d, const tile_kernel *k, const KernelParam *p, const tile_tensor *t,
                              CUtensorMap *map, tile_error **error);
tile_status tensor_map_of_kernel(const CudaDevice *d, const tile_kernel *k, const KernelParam *p, const tile_arg *args,
                                 CUtensorMap *map, tile_error **error);

#endif
