// The simulated driver: state, initialisation, devices, contexts, errors.
#define _GNU_SOURCE
#include "runtime/sim/driver_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The driver's functions take no state argument: the driver is one per process. This is its state; all other files
// take a Sim or a Device.
SimDriver *driver_state(void) {
  static SimDriver driver;
  return &driver;
}

SimThread *driver_thread(void) {
  static _Thread_local SimThread thread;
  if (thread.generation != driver_state()->generation) thread = (SimThread){.generation = driver_state()->generation};
  return &thread;
}

// Recursive, because the driver's functions call each other, and a host function in a stream may call the driver.
static pthread_mutex_t *mutex(void) {
  static pthread_mutex_t driver_mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  return &driver_mutex;
}
SimDriver *driver_lock(void) {
  pthread_mutex_lock(mutex());
  return driver_state();
}
void driver_unlock(SimDriver **locked) {
  (void)locked;
  pthread_mutex_unlock(mutex());
}

const char *sim_last_report(void) {
  LOCKED;
  SimThread *t = driver_thread();
  if (t->message[0]) return t->message;
  snprintf(t->report, sizeof t->report, "%s", driver_state()->sim.report ? driver_state()->sim.report : "");
  return t->report;
}

const KernelFault *sim_last_fault(void) {
  LOCKED;
  SimThread *t = driver_thread();
  t->fault = driver_state()->sim.fault;
  return t->fault.error.file[0] && !t->message[0] ? &t->fault : NULL;
}

const KernelFault *sim_next_warning(void) {
  LOCKED;
  SimThread *t = driver_thread();
  Sim *sim = &driver_state()->sim;
  if (!sim->num_warnings) return NULL;
  t->fault = sim->warnings[0];
  memmove(sim->warnings, sim->warnings + 1, --sim->num_warnings * sizeof *sim->warnings);
  return &t->fault;
}

void sim_use_schedules(uint64_t seed, uint32_t num, uint64_t step) {
  LOCKED;
  Sim *sim = &driver_state()->sim;
  sim->seed = seed;
  sim->num_seeds = num;
  sim->seed_step = step;
}

const LaunchCounts *sim_count_launches(bool on) {
  LOCKED;
  Sim *sim = &driver_state()->sim;
  sim->counts_launches = on;
  return sim->launch_counts;
}

void sim_set_stop(bool (*should_stop)(void *user), void *user) {
  SimThread *t = driver_thread();
  t->should_stop = should_stop;
  t->stop_user = user;
}

void sim_reset(void) {
  LOCKED;
  SimDriver *d = driver_state();
  for (CUstream s = d->legacy.next, next; s; s = next) next = s->next, free(s);
  for (CUmodule m = d->modules, next; m; m = next) next = m->next, ptx_module_free(m->module), free(m);
  if (d->ready) sim_free(&d->sim);
  *d = (SimDriver){.generation = d->generation + 1};
}

CUresult driver_fail(CUresult code, const char *fmt, ...) {
  SimThread *t = driver_thread();
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(t->message, sizeof t->message, fmt, ap);
  va_end(ap);
  return code;
}

CUresult driver_context(CUcontext *out) {
  SimDriver *d = driver_state();
  SimThread *t = driver_thread();
  RETURN_IF_NOT_READY(d);
  if (!t->depth || !t->stack[t->depth - 1]) return driver_fail(CUDA_ERROR_INVALID_CONTEXT, "no context is current");
  *out = t->stack[t->depth - 1];
  if ((*out)->failed) return (*out)->failed;   // sticky, as on the device; the report stays
  t->message[0] = 0;
  return CUDA_SUCCESS;
}

Alloc *driver_find(uint64_t addr, Device **device) {
  Sim *sim = &driver_state()->sim;
  for (int i = 0; i < sim->num_devices; i++) {
    Alloc *a = device_find(&sim->devices[i], addr);
    if (a) {
      if (device) *device = &sim->devices[i];
      return a;
    }
  }
  return NULL;
}

// ---------------------------------------------------------------------------------------------------------- errors

typedef struct { CUresult code; const char *name, *text; } ErrorRow;
#define ERROR(code, text) {code, #code, text}
static const ErrorRow errors[] = {
  ERROR(CUDA_SUCCESS, "no error"),
  ERROR(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
  ERROR(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
  ERROR(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
  ERROR(CUDA_ERROR_DEINITIALIZED, "driver shutting down"),
  ERROR(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
  ERROR(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
  ERROR(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
  ERROR(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
  ERROR(CUDA_ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for execution on the device"),
  ERROR(CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed"),
  ERROR(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "PTX JIT compiler library not found"),
  ERROR(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "the provided PTX was compiled with an unsupported toolchain"),
  ERROR(CUDA_ERROR_INVALID_SOURCE, "device kernel image is invalid"),
  ERROR(CUDA_ERROR_FILE_NOT_FOUND, "file not found"),
  ERROR(CUDA_ERROR_OPERATING_SYSTEM, "OS call failed or operation not supported on this OS"),
  ERROR(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
  ERROR(CUDA_ERROR_ILLEGAL_STATE, "the operation cannot be performed in the present state"),
  ERROR(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
  ERROR(CUDA_ERROR_NOT_READY, "device not ready"),
  ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
  ERROR(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"),
  ERROR(CUDA_ERROR_LAUNCH_TIMEOUT, "the launch timed out and was terminated"),
  ERROR(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access is already enabled"),
  ERROR(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, "cannot set while device is active in this process"),
  ERROR(CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"),
  ERROR(CUDA_ERROR_ASSERT, "device-side assert triggered"),
  ERROR(CUDA_ERROR_HARDWARE_STACK_ERROR, "hardware stack error"),
  ERROR(CUDA_ERROR_ILLEGAL_INSTRUCTION, "an illegal instruction was encountered"),
  ERROR(CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address"),
  ERROR(CUDA_ERROR_INVALID_ADDRESS_SPACE, "operation not supported on global/shared address space"),
  ERROR(CUDA_ERROR_INVALID_PC, "invalid program counter"),
  ERROR(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
  ERROR(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "too many blocks in cooperative launch"),
  ERROR(CUDA_ERROR_NOT_PERMITTED, "operation not permitted"),
  ERROR(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
  ERROR(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing"),
  ERROR(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "operation failed due to a previous error during capture"),
  ERROR(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "capture was not ended in the same stream as it began"),
  ERROR(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "capturing stream has unjoined work"),
  ERROR(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
          "operation would make the legacy stream depend on a capturing blocking stream"),
  ERROR(CUDA_ERROR_CAPTURED_EVENT, "operation not permitted on an event last recorded in a capturing stream"),
  ERROR(CUDA_ERROR_INVALID_CLUSTER_SIZE, "invalid cluster size"),
  ERROR(CUDA_ERROR_UNKNOWN, "unknown error"),
};
#undef ERROR
static const ErrorRow *find_error(CUresult code) {
  static const ErrorRow none = {.name = NULL, .text = NULL};
  for (size_t i = 0; i < countof(errors); i++)
    if (errors[i].code == code) return &errors[i];
  return &none;
}
CUresult sim_cuGetErrorName(CUresult result, const char **name) {
  LOCKED;
  *name = find_error(result)->name;
  return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult sim_cuGetErrorString(CUresult result, const char **text) {
  LOCKED;
  *text = find_error(result)->text;
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// --------------------------------------------------------------------------------------------------- initialisation

CUresult sim_cuInit(unsigned flags) {
  LOCKED;
  SimDriver *d = driver_state();
  RETURN_INVALID_UNLESS(!flags, "cuInit takes no flags");
  if (d->ready) return CUDA_SUCCESS;
  sim_init(&d->sim);
  if (d->sim.refused[0]) {
    driver_fail(CUDA_ERROR_INVALID_VALUE, "%s", d->sim.refused);
    sim_free(&d->sim);
    return CUDA_ERROR_INVALID_VALUE;
  }
  for (int i = 0; i < d->sim.num_devices; i++)
    d->primary[i] = (struct CUctx_st){.device = &d->sim.devices[i], .primary = true};
  d->ready = true;
  return CUDA_SUCCESS;
}
CUresult sim_cuDriverGetVersion(int *version) {
  LOCKED;
  *version = 13000;
  return CUDA_SUCCESS;
}
// ---------------------------------------------------------------------------------------------------------- devices

CUresult driver_device(CUdevice device, Device **out) {
  SimDriver *d = driver_state();
  RETURN_IF_NOT_READY(d);
  if (device < 0 || device >= d->sim.num_devices)
    return driver_fail(CUDA_ERROR_INVALID_DEVICE, "device %d of %d", device, d->sim.num_devices);
  *out = &d->sim.devices[device];
  return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetCount(int *count) {
  LOCKED;
  SimDriver *d = driver_state();
  RETURN_IF_NOT_READY(d);
  *count = d->sim.num_devices;
  return CUDA_SUCCESS;
}
CUresult sim_cuDeviceGet(CUdevice *device, int ordinal) {
  LOCKED;
  RETURN_IF_NO_DEVICE(dev, ordinal);
  *device = dev->ordinal;
  return CUDA_SUCCESS;
}
CUresult sim_cuDeviceGetName(char *name, int size, CUdevice device) {
  LOCKED;
  RETURN_IF_NO_DEVICE(dev, device);
  RETURN_INVALID_UNLESS(name && size > 0, "no room for the name");
  snprintf(name, (size_t)size, "%s", dev->name);
  return CUDA_SUCCESS;
}
CUresult sim_cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
  LOCKED;
  RETURN_IF_NO_DEVICE(dev, device);
  memset(uuid, 0, sizeof *uuid);
  uuid->bytes[15] = (char)(dev->ordinal + 1);
  return CUDA_SUCCESS;
}
CUresult sim_cuDeviceTotalMem(size_t *bytes, CUdevice device) {
  LOCKED;
  RETURN_IF_NO_DEVICE(dev, device);
  *bytes = dev->total_mem;
  return CUDA_SUCCESS;
}
CUresult sim_cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
  LOCKED;
  RETURN_IF_NO_DEVICE(dev, device);
  *major = dev->cc_major;
  *minor = dev->cc_minor;
  return CUDA_SUCCESS;
}
CUresult sim_cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
  LOCKED;
  RETURN_IF_NO_DEVICE(dev, device);
  CUresult r = driver_device(peer, &dev);
  *can = !r && device != peer;
  return r;
}
CUresult sim_cuDeviceGetPCIBusId(char *id, int size, CUdevice device) {
  LOCKED;
  RETURN_IF_NO_DEVICE(dev, device);
  snprintf(id, (size_t)size, "0000:%02x:00.0", dev->ordinal + 1);
  return CUDA_SUCCESS;
}
CUresult sim_cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  LOCKED;
  RETURN_IF_NO_DEVICE(dev, device);
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: *value = 1024; break;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: *value = 64; break;
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: *value = INT32_MAX; break;
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y: case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: *value = 65535; break;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: *value = 48 * 1024; break;
  case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY: *value = 65536; break;
  case CU_DEVICE_ATTRIBUTE_WARP_SIZE: *value = 32; break;
  case CU_DEVICE_ATTRIBUTE_MAX_PITCH: *value = INT32_MAX; break;
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR: *value = 65536; break;
  case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: *value = 1980000; break;
  case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT: *value = 512; break;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = dev->num_sms; break;
  case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: *value = 3201000; break;
  case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: *value = 6144; break;
  case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: *value = 50 * 1024 * 1024; break;
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: *value = 2048; break;
  case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT: *value = 3; break;
  case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID: *value = dev->ordinal + 1; break;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = dev->cc_major; break;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = dev->cc_minor; break;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: *value = dev->shared_per_sm; break;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = dev->shared_optin; break;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR: *value = 32; break;
  case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK: *value = SHARED_BASE; break;
  case CU_DEVICE_ATTRIBUTE_GPU_OVERLAP:
  case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
  case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
  case CU_DEVICE_ATTRIBUTE_ECC_ENABLED:
  case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
  case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
  case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:
  case CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
  case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH:
  case CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED: *value = 1; break;
  default: *value = 0; break;
  }
  return CUDA_SUCCESS;
}

// --------------------------------------------------------------------------------------------------------- contexts

CUresult sim_cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  LOCKED;
  RETURN_IF_NO_DEVICE(dev, device);
  *context = &driver_state()->primary[device];
  (*context)->refs++;
  return CUDA_SUCCESS;
}
CUresult sim_cuDevicePrimaryCtxRelease(CUdevice device) {
  LOCKED;
  RETURN_IF_NO_DEVICE(dev, device);
  CUcontext c = &driver_state()->primary[device];
  if (!c->refs)
    return driver_fail(CUDA_ERROR_INVALID_CONTEXT, "the primary context of device %d is not retained", device);
  if (--c->refs) return CUDA_SUCCESS;
  c->failed = CUDA_SUCCESS;
  device_free_all(dev);
  return CUDA_SUCCESS;
}
CUresult sim_cuDevicePrimaryCtxReset(CUdevice device) {
  LOCKED;
  RETURN_IF_NO_DEVICE(dev, device);
  driver_state()->primary[device].failed = CUDA_SUCCESS;
  return CUDA_SUCCESS;
}
CUresult sim_cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  LOCKED;
  (void)flags;
  RETURN_IF_NO_DEVICE(dev, device);
  return CUDA_SUCCESS;
}
CUresult sim_cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
  LOCKED;
  RETURN_IF_NO_DEVICE(dev, device);
  *flags = 0;
  *active = driver_state()->primary[device].refs > 0;
  return CUDA_SUCCESS;
}
CUresult sim_cuCtxCreate(CUcontext *context, unsigned flags, CUdevice device) {
  LOCKED;
  (void)flags;
  RETURN_IF_NO_DEVICE(dev, device);
  CUcontext c = calloc(1, sizeof *c);
  if (!c) return CUDA_ERROR_OUT_OF_MEMORY;
  *c = (struct CUctx_st){.device = dev, .refs = 1};
  *context = c;
  return sim_cuCtxPushCurrent(c);
}
CUresult sim_cuCtxDestroy(CUcontext context) {
  LOCKED;
  SimThread *t = driver_thread();
  RETURN_INVALID_UNLESS(context && !context->primary, "not a context made by cuCtxCreate");
  for (uint32_t i = 0; i < t->depth; i++)
    if (t->stack[i] == context) t->stack[i] = NULL;
  while (t->depth && !t->stack[t->depth - 1]) t->depth--;
  free(context);
  return CUDA_SUCCESS;
}
CUresult sim_cuCtxPushCurrent(CUcontext context) {
  LOCKED;
  SimDriver *d = driver_state();
  SimThread *t = driver_thread();
  RETURN_IF_NOT_READY(d);
  RETURN_INVALID_UNLESS(context && t->depth < MAX_CONTEXT_STACK, "cannot push that context");
  t->stack[t->depth++] = context;
  return CUDA_SUCCESS;
}
CUresult sim_cuCtxPopCurrent(CUcontext *context) {
  LOCKED;
  SimThread *t = driver_thread();
  if (!t->depth) return driver_fail(CUDA_ERROR_INVALID_CONTEXT, "no context to pop");
  t->depth--;
  if (context) *context = t->stack[t->depth];
  return CUDA_SUCCESS;
}
CUresult sim_cuCtxSetCurrent(CUcontext context) {
  LOCKED;
  SimDriver *d = driver_state();
  SimThread *t = driver_thread();
  RETURN_IF_NOT_READY(d);
  if (t->depth) t->depth--;
  if (context) t->stack[t->depth++] = context;
  return CUDA_SUCCESS;
}
CUresult sim_cuCtxGetCurrent(CUcontext *context) {
  LOCKED;
  SimDriver *d = driver_state();
  SimThread *t = driver_thread();
  RETURN_IF_NOT_READY(d);
  *context = t->depth ? t->stack[t->depth - 1] : NULL;
  return CUDA_SUCCESS;
}
CUresult sim_cuCtxGetDevice(CUdevice *device) {
  LOCKED;
  RETURN_IF_NO_CONTEXT(context);
  *device = context->device->ordinal;
  return CUDA_SUCCESS;
}
CUresult sim_cuCtxGetApiVersion(CUcontext context, unsigned *version) {
  LOCKED;
  (void)context;
  *version = 3020;
  return CUDA_SUCCESS;
}
CUresult sim_cuCtxGetFlags(unsigned *flags) {
  LOCKED;
  *flags = 0;
  return CUDA_SUCCESS;
}
CUresult sim_cuCtxSynchronize(void) {
  LOCKED;
  RETURN_IF_NO_CONTEXT(context);
  return CUDA_SUCCESS;
}
CUresult sim_cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  LOCKED;
  (void)peer; (void)flags;
  RETURN_IF_NO_CONTEXT(context);
  return CUDA_SUCCESS;
}
CUresult sim_cuCtxDisablePeerAccess(CUcontext peer) {
  LOCKED;
  (void)peer;
  RETURN_IF_NO_CONTEXT(context);
  return CUDA_SUCCESS;
}
CUresult sim_cuCtxSetLimit(int limit, size_t value) {
  LOCKED;
  (void)limit; (void)value;
  return CUDA_SUCCESS;
}
CUresult sim_cuCtxGetLimit(size_t *value, int limit) {
  LOCKED;
  *value = limit == 0 ? 512 * 1024 : 8 * 1024 * 1024;
  return CUDA_SUCCESS;
}
CUresult sim_cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  LOCKED;
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return CUDA_SUCCESS;
}
CUresult sim_cuProfilerStart(void) { LOCKED; return CUDA_SUCCESS; }
CUresult sim_cuProfilerStop(void) { LOCKED; return CUDA_SUCCESS; }
