#include "runtime/rt/device_cuda.h"

#include <stdio.h>
#include <stdlib.h>

// ---- memory ----

static tile_status alloc(tile_device *base, size_t size, uint64_t *address, tile_error **error) {
  CudaDevice *d = cuda_device(base);
  char doing[64];
  snprintf(doing, sizeof doing, "allocating %zu bytes", size);
  CUdeviceptr p = 0;
  ENTER_OR_RETURN(d, error);
  *address = 0;
  CALL_OR_RETURN(d, mem_alloc(&p, size ? size : 1), doing);
  *address = p;
  return TILE_OK;
}
static tile_status release(tile_device *base, uint64_t address, tile_error **error) {
  CudaDevice *d = cuda_device(base);
  ENTER_OR_RETURN(d, error);
  return cuda_check(&d->cu, d->cu.mem_free(address), "freeing memory", error);
}
static tile_status upload(tile_device *base, uint64_t to, const void *from, size_t size, tile_error **error) {
  CudaDevice *d = cuda_device(base);
  ENTER_OR_RETURN(d, error);
  return cuda_check(&d->cu, d->cu.memcpy_htod(to, from, size), "copying to the device", error);
}
static tile_status download(tile_device *base, void *to, uint64_t from, size_t size, tile_error **error) {
  CudaDevice *d = cuda_device(base);
  ENTER_OR_RETURN(d, error);
  return cuda_check(&d->cu, d->cu.memcpy_dtoh(to, from, size), "copying from the device", error);
}
static tile_status alloc_host(tile_device *base, size_t size, void **memory, tile_error **error) {
  CudaDevice *d = cuda_device(base);
  ENTER_OR_RETURN(d, error);
  return cuda_check(&d->cu, d->cu.mem_host_alloc(memory, size, 0), "allocating pinned memory", error);
}
static tile_status free_host(tile_device *base, void *memory, tile_error **error) {
  CudaDevice *d = cuda_device(base);
  ENTER_OR_RETURN(d, error);
  return cuda_check(&d->cu, d->cu.mem_free_host(memory), "freeing pinned memory", error);
}
static tile_status memory_info(tile_device *base, uint64_t info[2], tile_error **error) {
  CudaDevice *d = cuda_device(base);
  size_t free_bytes = 0, total = 0;
  ENTER_OR_RETURN(d, error);
  CALL_OR_RETURN(d, mem_get_info(&free_bytes, &total), "asking for free memory");
  info[0] = free_bytes, info[1] = total;
  return TILE_OK;
}

static CUresult fill_elements(const CudaDriver *cu, uint64_t to, uint64_t pattern, uint32_t elem_bytes, size_t count,
                              void *stream) {
  const uint32_t low = (uint32_t)pattern, high = (uint32_t)(pattern >> 32);
  switch (elem_bytes) {
  case 1: return cu->memset_d8_async(to, (unsigned char)low, count, stream);
  case 2: return cu->memset_d16_async(to, (unsigned short)low, count, stream);
  case 4: return cu->memset_d32_async(to, low, count, stream);
  default: break;
  }
  if (low == high) return cu->memset_d32_async(to, low, count * 2, stream);
  CUresult r = cu->memset_d2d32_async(to, 8, low, 1, count, stream);
  return r ? r : cu->memset_d2d32_async(to + 4, 8, high, 1, count, stream);
}
static tile_status fill(tile_device *base, uint64_t to, uint64_t pattern, uint32_t elem_bytes, size_t count,
                        void *stream, tile_error **error) {
  CudaDevice *d = cuda_device(base);
  if (!count) return TILE_OK;
  ENTER_OR_RETURN(d, error);
  return cuda_check(&d->cu, fill_elements(&d->cu, to, pattern, elem_bytes, count, stream), "filling memory", error);
}
static tile_status copy(tile_device *base, uint64_t to, uint64_t from, size_t size, void *stream, tile_error **error) {
  CudaDevice *d = cuda_device(base);
  ENTER_OR_RETURN(d, error);
  return cuda_check(&d->cu, d->cu.memcpy_dtod_async(to, from, size, stream), "copying on the device", error);
}
// While another stream is being captured, the default stream counts as captured too: using it would end the capture.
static bool is_capturing(tile_device *base, void *stream) {
  CudaDevice *d = cuda_device(base);
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  ENTER_OR_RETURN_AS(false, d, NULL);
  CUresult r = d->cu.stream_is_capturing(stream, &capture);
  return r == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT || (r == CUDA_SUCCESS && capture != CU_STREAM_CAPTURE_STATUS_NONE);
}

// Memory of the host counts if the driver knows it: pinned or managed memory.
static bool is_own(tile_device *base, uint64_t address, char *why, size_t size) {
  CudaDevice *d = cuda_device(base);
  unsigned kind = 0;
  int ordinal = -1;
  ENTER_OR_RETURN_AS(true, d, NULL);
  CUresult r = d->cu.pointer_attribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
  if (r == CUDA_SUCCESS && kind == CU_MEMORYTYPE_DEVICE)
    r = d->cu.pointer_attribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address);
  if (r != CUDA_SUCCESS) snprintf(why, size, "is no memory of the driver: perhaps an address on the host, or freed");
  else if (kind == CU_MEMORYTYPE_DEVICE && ordinal != d->device)
    snprintf(why, size, "is memory of %s:%d, and the kernel is on %s:%d", base->kind, ordinal, base->kind, d->device);
  else return true;
  return false;
}

static tile_status properties(const tile_device *base, tile_device_properties *p, tile_error **error) {
  const CudaDevice *d = (const CudaDevice *)base;
  size_t memory = 0;
  const struct { uint32_t *to; CUdevice_attribute attribute; } wanted[] = {
      {&p->compute_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
      {&p->compute_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
      {&p->num_sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
      {&p->warp_size, CU_DEVICE_ATTRIBUTE_WARP_SIZE},
      {&p->threads_per_block, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
      {&p->threads_per_sm, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR},
      {&p->blocks_per_sm, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR},
      {&p->registers_per_block, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK},
      {&p->registers_per_sm, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR},
      {&p->shared_per_block, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
      {&p->shared_per_sm, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR},
      {&p->l2_bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
      {&p->clock_khz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE},
      {&p->memory_clock_khz, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE},
      {&p->memory_bus_bits, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH}};
  for (uint32_t i = 0; i < countof(wanted); i++) {
    int value = 0;
    CALL_OR_RETURN(d, device_attribute(&value, wanted[i].attribute, d->device), "asking the device for an attribute");
    *wanted[i].to = (uint32_t)value;
  }
  CALL_OR_RETURN(d, device_total_mem(&memory, d->device), "asking the device for its memory");
  p->memory_bytes = memory;
  p->warps_per_block = p->warp_size ? p->threads_per_block / p->warp_size : 0;
  p->warps_per_sm = p->warp_size ? p->threads_per_sm / p->warp_size : 0;
  p->ordinal = (uint32_t)d->device;
  p->driver_version = (uint32_t)d->driver_version;
  return TILE_OK;
}

// ---- opening and closing ----

static void close_device(tile_device *base) {
  CudaDevice *d = cuda_device(base);
  const CudaContext context = cuda_enter(d, NULL);
  if (context.status == TILE_OK) {
    if (d->flush) d->cu.mem_free(d->flush);
    if (d->padding) d->cu.mem_free(d->padding);
    if (d->start) d->cu.event_destroy(d->start);
    if (d->end) d->cu.event_destroy(d->end);
    cuda_leave(&context);
  }
  d->cu.primary_ctx_release(d->device);
  cuda_close(&d->cu);
  pthread_mutex_destroy(&d->padding_lock);
  pthread_mutex_destroy(&d->loss.lock);
  free(d);
}

static const LaunchCounts *count_launches(tile_device *base, bool on) {
  const CudaDriver *cu = &cuda_device(base)->cu;
  return cu->count_launches ? cu->count_launches(on) : NULL;
}

static void use_schedules(tile_device *base, uint64_t seed, uint32_t num, uint64_t step) {
  const CudaDriver *cu = &cuda_device(base)->cu;
  if (cu->use_schedules) cu->use_schedules(seed, num, step);
}

static void tell_warnings(tile_device *base) { cuda_tell_warnings(&cuda_device(base)->cu, &base->hooks); }

#define CUDA_OPS \
  .close = close_device, .alloc = alloc, .free = release, .upload = upload, .download = download, \
      .synchronize = cuda_synchronize, .alloc_host = alloc_host, .free_host = free_host, .memory_info = memory_info, \
      .properties = properties, .streams = &cuda_stream_ops, .fill = fill, .copy = copy, \
      .is_capturing = is_capturing, .load = cuda_load, .unload = cuda_unload, .is_own = is_own, \
      .reserve = cuda_reserve, .launch = cuda_launch, .code_use = cuda_code_use, \
      .launch_params = cuda_launch_params, .time = cuda_time
static const DeviceOps gpu_ops = {CUDA_OPS, .checks_bounds = false};
static const DeviceOps sim_ops = {CUDA_OPS, .count_launches = count_launches, .tell_warnings = tell_warnings,
                                 .use_schedules = use_schedules,
                                 .checks_bounds = true};

// The richest architecture that the device runs: its own with the `a` suffix, otherwise the newest below it.
static const char *best_arch(int sm) {
  const Target *best = NULL;
  for (uint32_t i = 0; target_at(i); i++) {
    const Target *t = target_at(i);
    if (target_runs_on(t, sm) && target_is_richer(t, best)) best = t;
  }
  return best ? best->name : NULL;
}

static tile_status open_device(CudaDevice *d, int ordinal, tile_error **error) {
  int count = 0, major = 0, minor = 0;
  CALL_OR_RETURN(d, device_count(&count), "counting devices");
  if (ordinal >= count)
    return error_set(error, TILE_ERROR_NO_DEVICE,
                     d->is_sim ? "there is no sim:%d; the simulator has %d device%s, TILE_SIM_DEVICES says how many"
                               : "there is no gpu:%d; the driver shows %d device%s",
                     ordinal, count, count == 1 ? "" : "s");
  CALL_OR_RETURN(d, device_get(&d->device, ordinal), "opening the device");
  const struct { int *value; CUdevice_attribute attribute; } wanted[] = {
      {&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
      {&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
      {&d->shared_optin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN}};
  for (uint32_t i = 0; i < countof(wanted); i++)
    CALL_OR_RETURN(d, device_attribute(wanted[i].value, wanted[i].attribute, d->device),
                   "asking the device for an attribute");
  CALL_OR_RETURN(d, device_name(d->base.name, sizeof d->base.name, d->device), "asking the device for its name");
  CALL_OR_RETURN(d, driver_version(&d->driver_version), "asking for the driver's version");
  CALL_OR_RETURN(d, primary_ctx_retain(&d->context, d->device), "retaining the primary context");
  d->base.sm = major * 10 + minor;
  d->base.arch = best_arch(d->base.sm);
  return TILE_OK;
}

tile_status device_count_cuda(bool simulator, size_t *count, tile_error **error) {
  CudaDriver cu;
  tile_error *why = NULL;
  int n = 0;
  *count = 0;
  tile_status status = cuda_open(&cu, simulator, &why);
  if (status == TILE_ERROR_NO_DEVICE) return tile_error_free(why), TILE_OK;
  if (status != TILE_OK) return error_pass_on(error, why);
  status = cuda_check(&cu, cu.device_count(&n), "counting devices", error);
  cuda_close(&cu);
  *count = (size_t)n;
  return status;
}

tile_status device_open_cuda(int ordinal, bool simulator, tile_device **device, tile_error **error) {
  CudaDevice *d = calloc(1, sizeof *d);
  if (!d) return error_no_memory(error);
  d->base.ops = simulator ? &sim_ops : &gpu_ops;
  d->base.kind = simulator ? "sim" : "gpu";
  d->is_sim = simulator;
  pthread_mutex_init(&d->padding_lock, NULL);
  tile_status status = cuda_open(&d->cu, simulator, error);
  snprintf(d->spec, sizeof d->spec, "%s:%d", d->base.kind, ordinal);
  pthread_mutex_init(&d->loss.lock, NULL);
  d->cu.loss = &d->loss;
  d->cu.device = d->spec;
  if (status == TILE_OK && (status = open_device(d, ordinal, error)) != TILE_OK) cuda_close(&d->cu);
  if (status != TILE_OK) free(d);
  else *device = &d->base;
  return status;
}
