// The CUDA driver, or the simulator behind the same functions, as a device. Uses the ordinal's primary context, pushed
// for the time of a call where it is not the thread's current one.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/clock.h"
#include "runtime/rt/device.h"
#include "runtime/rt/error.h"

enum { MAX_FAST_PARAMS = 64, MAX_FAST_DESCS = 4 };
enum { DEFAULT_SHARED = 48 * 1024, PORTABLE_CLUSTER = 8, LOG_BYTES = 8192, FLUSH_BYTES = 256 << 20 };

typedef struct {
  tile_device base;
  CudaDriver cu;
  CUdevice device;
  CUcontext context;
  bool is_sim;
  int shared_optin, num_sms, driver_version;
  CUdeviceptr flush;           // benchmarks overwrite it to empty the caches
  CUdeviceptr
      padding; // EMPTY_BYTES of zeros and as many of NaN, what an empty tensor's map shows; there once a kernel may
               // need it
  pthread_mutex_t padding_lock;
  CUevent start, end;
} CudaDevice;

enum { EMPTY_BYTES = 16 };

// Arguments as the driver takes them: kernelParams points into the other arrays. On the stack of the launch, so that
// threads do not share it; a kernel with more parameters than that takes memory for them.
typedef struct { CUtensorMap map; uint32_t shape[MAX_RANK]; uint64_t strides[MAX_RANK]; } DescStorage;
typedef struct {
  void *fast_params[MAX_FAST_PARAMS + MAX_FAST_DESCS * (1 + 2 * MAX_DESC_RANK)];
  uint64_t fast_values[MAX_FAST_PARAMS];
  DescStorage fast_descs[MAX_FAST_DESCS];
  void **params;
  uint64_t *values;            // one per parameter
  DescStorage *descs;          // one per descriptor or tensor map
  void *memory;                // what the pointers above are in, if it is not this object
} LaunchBlock;

static CudaDevice *of(tile_device *d) { return (CudaDevice *)d; }

static tile_status enter(CudaDevice *d, bool *pushed, tile_error **error) {
  CUcontext current = NULL;
  *pushed = false;
  if (d->cu.ctx_get_current(&current) == CUDA_SUCCESS && current == d->context) return TILE_OK;
  tile_status status = cuda_check(&d->cu, d->cu.ctx_push(d->context), "entering the CUDA context", error);
  *pushed = status == TILE_OK;
  return status;
}

static void leave(CudaDevice *d, bool pushed) {
  CUcontext old;
  if (pushed) d->cu.ctx_pop(&old);
}

// Makes `call` inside the device's context and returns its tile_status.
#define RETURN_IN_CONTEXT(d, call, doing)                                                \
  bool pushed_;                                                                          \
  tile_status status_ = enter(d, &pushed_, error);                                       \
  if (status_ == TILE_OK) {                                                              \
    status_ = cuda_check(&(d)->cu, call, doing, error);                                  \
    leave(d, pushed_);                                                                   \
  }                                                                                      \
  return status_

static tile_status cuda_alloc(tile_device *base, size_t size, uint64_t *address, tile_error **error) {
  CudaDevice *d = of(base);
  char doing[64];
  snprintf(doing, sizeof doing, "allocating %zu bytes", size);
  CUdeviceptr p = 0;
  bool pushed;
  tile_status status = enter(d, &pushed, error);
  if (status != TILE_OK) return status;
  status = cuda_check(&d->cu, d->cu.mem_alloc(&p, size ? size : 1), doing, error);
  leave(d, pushed);
  *address = p;
  return status;
}
static tile_status cuda_free(tile_device *base, uint64_t address, tile_error **error) {
  CudaDevice *d = of(base);
  RETURN_IN_CONTEXT(d, d->cu.mem_free(address), "freeing memory");
}
static tile_status cuda_upload(tile_device *base, uint64_t to, const void *from, size_t size, tile_error **error) {
  CudaDevice *d = of(base);
  RETURN_IN_CONTEXT(d, d->cu.memcpy_htod(to, from, size), "copying to the device");
}
static tile_status cuda_download(tile_device *base, void *to, uint64_t from, size_t size, tile_error **error) {
  CudaDevice *d = of(base);
  RETURN_IN_CONTEXT(d, d->cu.memcpy_dtoh(to, from, size), "copying from the device");
}
static tile_status cuda_synchronize(tile_device *base, tile_error **error) {
  CudaDevice *d = of(base);
  RETURN_IN_CONTEXT(d, d->cu.ctx_synchronize(), "running the kernel");
}

static CUresult fill(const CudaDriver *cu, uint64_t to, uint64_t pattern, uint32_t elem_bytes, size_t count,
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
static tile_status cuda_fill(tile_device *base, uint64_t to, uint64_t pattern, uint32_t elem_bytes, size_t count,
                             void *stream, tile_error **error) {
  CudaDevice *d = of(base);
  if (!count) return TILE_OK;
  RETURN_IN_CONTEXT(d, fill(&d->cu, to, pattern, elem_bytes, count, stream), "filling memory");
}
static tile_status cuda_copy(tile_device *base, uint64_t to, uint64_t from, size_t size, void *stream,
                             tile_error **error) {
  CudaDevice *d = of(base);
  RETURN_IN_CONTEXT(d, d->cu.memcpy_dtod_async(to, from, size, stream), "copying on the device");
}
// The default stream counts as captured while another stream is, in a way that its use would end.
static bool cuda_is_capturing(tile_device *base, void *stream) {
  CudaDevice *d = of(base);
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  bool pushed;
  if (enter(d, &pushed, NULL) != TILE_OK) return false;
  CUresult r = d->cu.stream_is_capturing(stream, &capture);
  leave(d, pushed);
  return r == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT || (r == CUDA_SUCCESS && capture != CU_STREAM_CAPTURE_STATUS_NONE);
}

// The host's memory counts where the driver knows it: it is pinned or managed.
static bool cuda_is_own(tile_device *base, uint64_t address, char *why, size_t size) {
  CudaDevice *d = of(base);
  bool pushed;
  unsigned kind = 0;
  int ordinal = -1;
  if (enter(d, &pushed, NULL) != TILE_OK) return true;
  CUresult r = d->cu.pointer_attribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
  if (r == CUDA_SUCCESS && kind == CU_MEMORYTYPE_DEVICE)
    r = d->cu.pointer_attribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address);
  leave(d, pushed);
  if (r != CUDA_SUCCESS) snprintf(why, size, "is no memory of the driver: perhaps an address on the host, or freed");
  else if (kind == CU_MEMORYTYPE_DEVICE && ordinal != d->device)
    snprintf(why, size, "is memory of %s:%d, and the kernel is on %s:%d", base->kind, ordinal, base->kind, d->device);
  else return true;
  return false;
}

static void cuda_device_close(tile_device *base) {
  CudaDevice *d = of(base);
  bool pushed;
  if (enter(d, &pushed, NULL) == TILE_OK) {
    if (d->flush) d->cu.mem_free(d->flush);
    if (d->padding) d->cu.mem_free(d->padding);
    if (d->start) d->cu.event_destroy(d->start);
    if (d->end) d->cu.event_destroy(d->end);
    leave(d, pushed);
  }
  d->cu.primary_ctx_release(d->device);
  cuda_close(&d->cu);
  pthread_mutex_destroy(&d->padding_lock);
  free(d);
}

// ---- loading ----

static tile_status check_arch(const CudaDevice *d, const Target *t, tile_error **error) {
  if (device_runs(&d->base, t)) return TILE_OK;
  return error_set(error, TILE_ERROR_USAGE, "the program was compiled for %s and cannot run on %s, which is sm_%d%s%s",
                   t->name, d->base.name, d->base.sm, d->base.arch ? "; compile with --arch=" : "",
                   d->base.arch ? d->base.arch : "");
}

// The CUDA release that a PTX version came with, ×10; PTX of a later release than the driver's is refused.
static int cuda_of_ptx(uint32_t ptx_version) {
  static const struct { uint8_t ptx, cuda; } releases[] = {
      {70, 110}, {71, 111}, {72, 112}, {73, 113}, {74, 114}, {75, 115}, {76, 116},
                  {77, 117}, {78, 118}, {80, 120}, {81, 121}, {82, 122}, {83, 123}, {84, 124},
                  {85, 125}, {86, 127}, {87, 128}, {88, 129}, {90, 130}, {91, 131}};
  for (uint32_t i = 0; i < countof(releases); i++)
    if (releases[i].ptx >= ptx_version) return releases[i].cuda;
  return releases[countof(releases) - 1].cuda + 1;   // later than any that is known here
}

static tile_status refuse_old_driver(const CudaDevice *d, const tile_kernel *k, CUresult r, tile_error **error) {
  int needed = cuda_of_ptx(k->ptx_version);
  char wants[64] = "a newer driver";
  if (k->ptx_version) snprintf(wants, sizeof wants, "a driver of CUDA %d.%d or later", needed / 10, needed % 10);
  return error_set_cuda(error, TILE_ERROR_DRIVER, (int)r,
                        "%s: the driver (CUDA %d.%d) is too old for this PTX, which needs %s; or give it a cubin",
                        k->name, d->driver_version / 1000, d->driver_version % 1000 / 10, wants);
}

// Of what a load can fail with; the rest is the device's: no memory, a kernel that failed before.
static bool is_about_code(CUresult r) {
  return (r >= CUDA_ERROR_INVALID_IMAGE && r < CUDA_ERROR_FILE_NOT_FOUND && r != CUDA_ERROR_INVALID_CONTEXT) ||
         r == CUDA_ERROR_NOT_SUPPORTED;
}

static tile_status load_code(CudaDevice *d, tile_kernel *k, const void *code, const char *what, tile_error **error) {
  char *log = calloc(1, LOG_BYTES);
  if (!log) return error_set(error, TILE_ERROR_NO_MEMORY, "out of memory");
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, (void *)(uintptr_t)(LOG_BYTES - 1)};
  CUresult r = d->cu.module_load(&k->module, code, countof(options), options, values);
  tile_status status = TILE_OK;
  if (r == CUDA_ERROR_UNSUPPORTED_PTX_VERSION) {
    status = refuse_old_driver(d, k, r, error);
  } else if (r != CUDA_SUCCESS) {
    status = cuda_check(&d->cu, r, "loading code", NULL);
    const char *name = NULL;
    d->cu.error_name(r, &name);
    if (is_about_code(r)) status = TILE_ERROR_ASSEMBLER;
    error_set_cuda(error, status, (int)r, "the driver refused the %s of %s, which is for %s, on %s (sm_%d): %s%s%s",
                   what, k->name, k->target->name, d->base.name, d->base.sm, name ? name : "?", *log ? "\n" : "", log);
  }
  free(log);
  return status;
}

// Machine code runs on its own architecture, and later ones of the same major number where it is not specific.
static bool runs_cubin(const CudaDevice *d, const Target *t) {
  return !d->is_sim && (int)t->sm / 10 == d->base.sm / 10 &&
         (t->arch_specific ? (int)t->sm == d->base.sm : (int)t->sm <= d->base.sm);
}

// The PTX stands in where there is no machine code for this device, or the driver does not take it.
static tile_status load_module(CudaDevice *d, tile_kernel *k, tile_error **error) {
  tile_error *why = NULL;
  bool runs = runs_cubin(d, k->target);
  if (!k->ptx && !runs)
    return error_set(error, TILE_ERROR_USAGE,
                     "%s: there is machine code for %s alone, which %s%s; compile it for this device, or load its PTX",
                     k->name, k->target->name, d->base.name, d->is_sim ? " cannot read" : " does not run");
  if (k->cubin && runs) {
    if (load_code(d, k, k->cubin, "machine code", &why) == TILE_OK) return TILE_OK;
    if (!k->ptx || tile_error_status(why) == TILE_ERROR_NO_MEMORY) return error_pass_on(error, why);
    if (d->base.hooks.log) d->base.hooks.log(d->base.hooks.user, TILE_LEVEL_WARNING, tile_error_message(why));
    tile_error_free(why);
  }
  int needed = cuda_of_ptx(k->ptx_version);
  if (d->driver_version / 1000 * 10 + d->driver_version % 1000 / 10 < needed)
    return refuse_old_driver(d, k, CUDA_ERROR_UNSUPPORTED_PTX_VERSION, error);
  return load_code(d, k, k->ptx, "PTX", error);
}

static tile_status set_up_function(CudaDevice *d, tile_kernel *k, tile_error **error) {
  tile_status status = cuda_check(&d->cu, d->cu.module_function(&k->function, k->module, k->name),
                                  "finding the kernel in its module", error);
  if (status == TILE_OK && k->shared_bytes > DEFAULT_SHARED) {
    if ((int)k->shared_bytes > d->shared_optin)
      return error_set(error, TILE_ERROR_RUN, "%s needs %u bytes of shared memory per block; %s has %d", k->name,
                       k->shared_bytes, d->base.name, d->shared_optin);
    status = cuda_check(&d->cu,
                        d->cu.func_set_attribute(k->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                 (int)k->shared_bytes),
                        "asking for more than 48 KB of shared memory", error);
  }
  if (status == TILE_OK && k->num_ctas > PORTABLE_CLUSTER)
    status = cuda_check(&d->cu,
                        d->cu.func_set_attribute(k->function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
                        "asking for a large cluster", error);
  return status;
}

// A launch allocates nothing, so what an empty tensor shows is made here.
static tile_status prepare_padding(CudaDevice *d, const tile_kernel *k, tile_error **error) {
  bool needed = false;
  for (uint32_t i = 0; i < k->num_params; i++) needed = needed || k->params[i].kind == PARAM_AUTO_TENSORMAP;
  if (!needed) return TILE_OK;
  tile_status status = TILE_OK;
  pthread_mutex_lock(&d->padding_lock);
  if (!d->padding) {
    CUdeviceptr p = 0;
    status = cuda_check(&d->cu, d->cu.mem_alloc(&p, 2 * EMPTY_BYTES), "allocating padding", error);
    if (status == TILE_OK) status = cuda_check(&d->cu, d->cu.memset_d8(p, 0, EMPTY_BYTES), "writing zeros", error);
    // All bits set are a NaN of every format.
    if (status == TILE_OK)
      status = cuda_check(&d->cu, d->cu.memset_d8(p + EMPTY_BYTES, 0xff, EMPTY_BYTES), "writing NaN", error);
    if (status == TILE_OK) d->padding = p;
  }
  pthread_mutex_unlock(&d->padding_lock);
  return status;
}

static void make_config(tile_kernel *k) {
  CUlaunchAttribute *attrs = k->attributes;
  unsigned n = 0;
  if (k->num_ctas > 1) {
    attrs[n].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attrs[n].value.clusterDim.x = k->num_ctas;
    attrs[n].value.clusterDim.y = attrs[n].value.clusterDim.z = 1;
    n++;
  }
  if (k->cooperative) attrs[n].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, attrs[n++].value.cooperative = 1;
  if (k->pdl)
    attrs[n].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
    attrs[n++].value.programmaticStreamSerializationAllowed = 1;
  k->config = (CUlaunchConfig){1, 1, 1, k->num_threads, 1, 1, k->shared_bytes, NULL, n ? attrs : NULL, n};
}

static tile_status cuda_load(tile_kernel *k, tile_error **error) {
  CudaDevice *d = of(k->device);
  if (!k->ptx && !k->cubin)
    return error_set(error, TILE_ERROR_USAGE,
                     "the program was compiled without PTX and can only run on the interpreter");
  tile_status status = check_arch(d, k->target, error);
  if (status != TILE_OK) return status;
  bool pushed;
  if ((status = enter(d, &pushed, error)) != TILE_OK) return status;
  status = load_module(d, k, error);
  if (status == TILE_OK) status = set_up_function(d, k, error);
  if (status == TILE_OK) status = prepare_padding(d, k, error);
  leave(d, pushed);
  make_config(k);
  return status;
}

static void cuda_unload(tile_kernel *k) {
  CudaDevice *d = of(k->device);
  bool pushed;
  if (enter(d, &pushed, NULL) != TILE_OK) return;
  if (k->scratch) d->cu.mem_free(k->scratch);
  if (k->module) d->cu.module_unload(k->module);
  leave(d, pushed);
}

// ---- launching ----

// Signedness matters to reductions alone; 64-bit sums exist for unsigned maps only.
static const CUtensorMapDataType map_types[NUM_SCALARS] = {
    [SC_I8] = CU_TENSOR_MAP_DATA_TYPE_UINT8,      [SC_I16] = CU_TENSOR_MAP_DATA_TYPE_UINT16,
    [SC_I32] = CU_TENSOR_MAP_DATA_TYPE_UINT32,    [SC_I64] = CU_TENSOR_MAP_DATA_TYPE_UINT64,
    [SC_F8E4M3] = CU_TENSOR_MAP_DATA_TYPE_UINT8,  [SC_F8E5M2] = CU_TENSOR_MAP_DATA_TYPE_UINT8,
    [SC_F8E4B15] = CU_TENSOR_MAP_DATA_TYPE_UINT8, [SC_F16] = CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
    [SC_BF16] = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, [SC_F32] = CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
    [SC_F64] = CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
};

// The tensor map of a descriptor parameter. The driver lists axes fastest first.
static tile_status encode_map(const CudaDevice *d, const tile_kernel *k, const KernelParam *p, const tile_tensor *t,
                              CUtensorMap *map, tile_error **error) {
  uint32_t rank = p->rank, bytes = scalar_bits(p->scalar) / 8, box[MAX_RANK], ones[MAX_RANK];
  uint64_t dims[MAX_RANK], strides[MAX_RANK];
  for (uint32_t i = 0; i < rank; i++) {
    uint32_t axis = rank - 1 - i;
    dims[i] = (uint64_t)t->shape[axis];
    box[i] = (uint32_t)p->box[axis];
    ones[i] = 1;
    if (i && __builtin_mul_overflow((uint64_t)t->strides[axis], bytes, &strides[i - 1]))
      strides[i - 1] = UINT64_MAX; // which the driver refuses
  }
  CUtensorMapSwizzle swizzle = p->swizzle_bytes ? (CUtensorMapSwizzle)(log2_u32(p->swizzle_bytes) - 4)
                                                : CU_TENSOR_MAP_SWIZZLE_NONE;
  bool is_nan = p->padding == PAD_NAN && scalar_is_float(p->scalar);
  CUtensorMapDataType type = map_types[p->scalar];
  if (!p->is_unsigned && type == CU_TENSOR_MAP_DATA_TYPE_UINT32) type = CU_TENSOR_MAP_DATA_TYPE_INT32;
  if (!p->is_unsigned && type == CU_TENSOR_MAP_DATA_TYPE_UINT64) type = CU_TENSOR_MAP_DATA_TYPE_INT64;
  char doing[128];
  snprintf(doing, sizeof doing, "%s: making the tensor map of '%s'", k->name, p->name);
  return cuda_check(&d->cu,
                    d->cu.tensor_map_encode(map, type, rank, (void *)(uintptr_t)t->base, dims, strides, box, ones,
                                            CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                                            is_nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                                                   : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
                    doing, error);
}

// Why there is no map of a descriptor that the kernel makes of its arguments, where that is known; else `error` stays
// as it is.
static tile_status explain_map(const tile_kernel *k, const KernelParam *p, const tile_tensor *t, tile_status status,
                               tile_error **error) {
  const char *of = k->params[p->base_param].name;
  uint32_t bytes = scalar_bits(p->scalar) / 8;
  tile_error *e = NULL;
  if (t->base % 16)
    error_set(
        &e, TILE_ERROR_USAGE,
        "%s: the descriptor made of '%s' needs a base aligned to 16 bytes, got 0x%llx; pass such an address, or load by plain pointers",
        k->name, of, (unsigned long long)t->base);
  for (uint32_t i = 0; !e && i + 1 < p->rank; i++)
    if (!is_map_stride(t->strides[i], bytes))
      error_set(
          &e, TILE_ERROR_USAGE,
          "%s: the descriptor made of '%s' needs strides that are positive multiples of 16 bytes, axis %u has %lld elements of %u bytes; pad its rows, or load by plain pointers",
          k->name, of, i, (long long)t->strides[i], bytes);
  if (!e) return status;
  if (error) tile_error_free(*error), *error = e;
  else tile_error_free(e);
  return TILE_ERROR_USAGE;
}

static tile_tensor automatic_tensor(const KernelParam *p, const tile_arg *args) {
  tile_tensor t = {.base = args[p->base_param].value.pointer, .rank = p->rank};
  for (uint32_t i = 0; i < p->rank; i++) {
    t.shape[i] = p->extent_params[i] < 0 ? p->extent_values[i] : args[p->extent_params[i]].value.i;
    t.strides[i] = p->stride_params[i] < 0 ? p->stride_values[i] : args[p->stride_params[i]].value.i;
  }
  return t;
}

// There is no map of an empty tensor: one of a single zero, or NaN, reads the same. (Accesses through descriptors go
// outside of it.) Strides may be zero then, too.
static void show_empty(const CudaDevice *d, const KernelParam *p, tile_tensor *t) {
  bool empty = false;
  for (uint32_t i = 0; i < p->rank; i++) empty |= t->shape[i] <= 0;
  if (!empty) return;
  t->base = p->padding == PAD_NAN ? d->padding + EMPTY_BYTES : d->padding;
  for (uint32_t i = 0; i < p->rank; i++) t->shape[i] = 1, t->strides[i] = EMPTY_BYTES;
}

// Called with the kernel's scratch_lock.
static tile_status ensure_scratch(CudaDevice *d, tile_kernel *k, const uint32_t grid[3], CUstream stream,
                                  tile_error **error) {
  unsigned __int128 all = (unsigned __int128)k->scratch_bytes * grid[0] * k->num_ctas * grid[1] * grid[2];
  if (all > INT64_MAX)
    return error_set(error, TILE_ERROR_NO_MEMORY,
                     "%s: the scratch memory for a grid of %u x %u x %u is more than there can be", k->name, grid[0],
                     grid[1], grid[2]);
  const uint64_t need = (uint64_t)all;
  if (need <= k->scratch_size) return TILE_OK;
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  if (d->cu.stream_is_capturing(stream, &capture) != CUDA_SUCCESS || capture != CU_STREAM_CAPTURE_STATUS_NONE)
    return error_set(
        error, TILE_ERROR_USAGE,
        "%s needs %llu bytes of scratch memory for this grid, and the stream is being captured: call tile_kernel_reserve before the capture",
        k->name, (unsigned long long)need);
  if (k->scratch) d->cu.mem_free(k->scratch);
  k->scratch = k->scratch_size = 0;
  CUdeviceptr p = 0;
  tile_status status = cuda_check(&d->cu, d->cu.mem_alloc(&p, need), "allocating scratch memory", error);
  if (status == TILE_OK) k->scratch = p, k->scratch_size = need;
  return status;
}

static tile_status block_init(LaunchBlock *b, const tile_kernel *k, tile_error **error) {
  uint32_t num_descs = 0;
  for (uint32_t i = 0; i < k->num_params; i++) num_descs += k->params[i].rank != 0;
  b->params = b->fast_params;
  b->values = b->fast_values;
  b->descs = b->fast_descs;
  b->memory = NULL;
  if (k->num_params <= MAX_FAST_PARAMS && num_descs <= MAX_FAST_DESCS) return TILE_OK;
  // CUtensorMaps, which must be aligned, come first.
  size_t descs = (num_descs + 1) * sizeof(DescStorage), values = k->num_params * sizeof(uint64_t);
  size_t params = (k->num_params + num_descs * 2 * MAX_DESC_RANK) * sizeof(void *);
  size_t align = _Alignof(DescStorage);
  if (!(b->memory = aligned_alloc(align, (descs + values + params + align) / align * align)))
    return error_set(error, TILE_ERROR_NO_MEMORY, "out of memory");
  b->descs = b->memory;
  b->values = (uint64_t *)((char *)b->memory + descs);
  b->params = (void **)((char *)b->memory + descs + values);
  return TILE_OK;
}

static tile_status pack(CudaDevice *d, tile_kernel *k, LaunchBlock *b, const tile_arg *args, tile_error **error) {
  uint32_t n = 0, desc = 0;
  for (uint32_t i = 0; i < k->num_params; i++) {
    const KernelParam *p = &k->params[i];
    if (p->rank) {
      bool automatic = p->kind == PARAM_AUTO_TENSORMAP, fields = p->kind == PARAM_DESC_FIELDS;
      tile_tensor t = automatic ? automatic_tensor(p, args) : *args[i].value.tensor;
      DescStorage *s = &b->descs[desc++];
      tile_status status = TILE_OK;
      if (automatic) show_empty(d, p, &t);
      if (!fields) status = encode_map(d, k, p, &t, &s->map, error);
      if (status != TILE_OK && automatic) status = explain_map(k, p, &t, status, error);
      if (status != TILE_OK) return status;
      b->values[i] = t.base;
      b->params[n++] = fields ? (void *)&b->values[i] : (void *)&s->map;
      for (uint32_t a = 0; !automatic && a < p->rank; a++)
        s->shape[a] = (uint32_t)t.shape[a], b->params[n++] = &s->shape[a];
      for (uint32_t a = 0; !automatic && a < p->rank; a++)
        s->strides[a] = (uint64_t)t.strides[a], b->params[n++] = &s->strides[a];
    } else {
      b->values[i] = p->kind == PARAM_SCRATCH ? k->scratch : launch_arg_bits(p, args[i]);
      b->params[n++] = &b->values[i];
    }
  }
  return TILE_OK;
}

static tile_status launch_failed(const CudaDevice *d, const tile_kernel *k, const CUlaunchConfig *config, CUresult r,
                                 tile_error **error) {
  char doing[256];
  snprintf(doing, sizeof doing, "launching %s on a grid of %u x %u x %u with %u threads and %u bytes of shared memory",
           k->name, config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX, config->sharedMemBytes);
  return cuda_check(&d->cu, r, doing, error);
}

// In the device's context.
static inline tile_status launch_config(const CudaDevice *d, const tile_kernel *k, const uint32_t grid[3], void *stream,
                                        void **params, tile_error **error) {
  CUlaunchConfig config = k->config;
  config.gridDimX = grid[0] * k->num_ctas;
  config.gridDimY = grid[1];
  config.gridDimZ = grid[2];
  config.hStream = stream;
  CUresult r = d->cu.launch(&config, k->function, params, NULL);
  return r == CUDA_SUCCESS ? TILE_OK : launch_failed(d, k, &config, r, error);
}

static tile_status launch_packed(const CudaDevice *d, const tile_kernel *k, const LaunchBlock *b,
                                 const tile_launch_options *o, tile_error **error) {
  return launch_config(d, k, o->grid, o->stream, b->params, error);
}

// Events round the launch, after a store to more memory than the caches hold. The simulator's own time is the host's.
static tile_status time_in_context(CudaDevice *d, tile_kernel *k, const LaunchBlock *b, const tile_launch_options *o,
                                   double *ms, tile_error **error) {
  const CudaDriver *cu = &d->cu;
  if (d->is_sim) {
    double start = clock_ms();
    tile_status status = launch_packed(d, k, b, o, error);
    if (status == TILE_OK) status = cuda_check(cu, cu->ctx_synchronize(), "running the kernel", error);
    *ms = clock_ms() - start;
    return status;
  }
  tile_status status = TILE_OK;
  if (!d->end) {
    if (!d->flush)
      status = cuda_check(cu, cu->mem_alloc(&d->flush, FLUSH_BYTES), "allocating the buffer that flushes the caches",
                          error);
    if (status == TILE_OK && !d->start)
      status = cuda_check(cu, cu->event_create(&d->start, CU_EVENT_DEFAULT), "creating an event", error);
    if (status == TILE_OK)
      status = cuda_check(cu, cu->event_create(&d->end, CU_EVENT_DEFAULT), "creating an event", error);
  }
  float elapsed = 0;
  if (status == TILE_OK)
    status = cuda_check(cu, cu->memset_d8_async(d->flush, 0, FLUSH_BYTES, o->stream), "flushing the caches", error);
  if (status == TILE_OK) status = cuda_check(cu, cu->event_record(d->start, o->stream), "recording an event", error);
  if (status == TILE_OK) status = launch_packed(d, k, b, o, error);
  if (status == TILE_OK) status = cuda_check(cu, cu->event_record(d->end, o->stream), "recording an event", error);
  if (status == TILE_OK) status = cuda_check(cu, cu->event_synchronize(d->end), "running the kernel", error);
  if (status == TILE_OK)
    status = cuda_check(cu, cu->event_elapsed(&elapsed, d->start, d->end), "reading the time", error);
  *ms = elapsed;
  return status;
}

// One launch, or one that is timed where milliseconds is not NULL.
static tile_status launch_in_context(CudaDevice *d, tile_kernel *k, const tile_launch_options *o, const tile_arg *args,
                                     double *milliseconds, tile_error **error) {
  LaunchBlock block;
  tile_status status = block_init(&block, k, error);
  if (status != TILE_OK) return status;
  if (k->scratch_bytes) {
    pthread_mutex_lock(&k->scratch_lock);
    status = ensure_scratch(d, k, o->grid, o->stream, error);
  }
  if (status == TILE_OK) status = pack(d, k, &block, args, error);
  if (status == TILE_OK)
    status = milliseconds ? time_in_context(d, k, &block, o, milliseconds, error)
                          : launch_packed(d, k, &block, o, error);
  if (k->scratch_bytes) pthread_mutex_unlock(&k->scratch_lock);
  free(block.memory);
  return status;
}

static tile_status launch_or_time(tile_kernel *k, const tile_launch_options *o, const tile_arg *args,
                                  double *milliseconds, tile_error **error) {
  CudaDevice *d = of(k->device);
  bool pushed;
  tile_status status = enter(d, &pushed, error);
  if (status != TILE_OK) return status;
  status = launch_in_context(d, k, o, args, milliseconds, error);
  leave(d, pushed);
  return status;
}

static tile_status cuda_launch(tile_kernel *k, const tile_launch_options *o, const tile_arg *args, tile_error **error) {
  return launch_or_time(k, o, args, NULL, error);
}
static tile_status cuda_reserve(tile_kernel *k, const uint32_t grid[3], tile_error **error) {
  CudaDevice *d = of(k->device);
  bool pushed;
  tile_status status = enter(d, &pushed, error);
  if (status != TILE_OK) return status;
  pthread_mutex_lock(&k->scratch_lock);
  status = ensure_scratch(d, k, grid, NULL, error);
  pthread_mutex_unlock(&k->scratch_lock);
  leave(d, pushed);
  return status;
}
static tile_status cuda_launch_params(const tile_kernel *k, const uint32_t grid[3], void *stream, void **params,
                                      tile_error **error) {
  CudaDevice *d = of(k->device);
  bool pushed;
  tile_status status = enter(d, &pushed, error);
  if (status != TILE_OK) return status;
  status = launch_config(d, k, grid, stream, params, error);
  leave(d, pushed);
  return status;
}
static tile_status cuda_time(tile_kernel *k, const tile_launch_options *o, const tile_arg *args, double *milliseconds,
                             tile_error **error) {
  return launch_or_time(k, o, args, milliseconds, error);
}

// ---- opening ----

static const DeviceOps gpu_ops = {cuda_device_close, cuda_alloc,  cuda_free,    cuda_upload,       cuda_download,
                                  cuda_synchronize,  cuda_fill,   cuda_copy,    cuda_is_capturing, cuda_load,
                                  cuda_unload,       cuda_is_own, cuda_reserve, cuda_launch,       cuda_launch_params,
                                  cuda_time,         false};
static const DeviceOps sim_ops = {cuda_device_close, cuda_alloc,  cuda_free,    cuda_upload,       cuda_download,
                                  cuda_synchronize,  cuda_fill,   cuda_copy,    cuda_is_capturing, cuda_load,
                                  cuda_unload,       cuda_is_own, cuda_reserve, cuda_launch,       cuda_launch_params,
                                  cuda_time,         true};

// The richest architecture that the device runs: its own with the `a` suffix, else the newest below it.
static const char *best_arch(int sm) {
  const Target *best = NULL;
  for (uint32_t i = 0; target_at(i); i++) {
    const Target *t = target_at(i);
    bool runs = t->arch_specific ? (int)t->sm == sm : (int)t->sm <= sm;
    if (runs && (!best || t->sm > best->sm || (t->sm == best->sm && t->arch_specific))) best = t;
  }
  return best ? best->name : NULL;
}

static tile_status open_device(CudaDevice *d, int ordinal, tile_error **error) {
  const CudaDriver *cu = &d->cu;
  int count = 0;
  tile_status status = cuda_check(cu, cu->device_count(&count), "counting devices", error);
  if (status != TILE_OK) return status;
  if (ordinal >= count)
    return error_set(error, TILE_ERROR_NO_DEVICE,
                     d->is_sim ? "there is no sim:%d; the simulator has %d device%s, TILE_SIM_DEVICES says how many"
                               : "there is no gpu:%d; the driver shows %d device%s",
                     ordinal, count, count == 1 ? "" : "s");
  int major = 0, minor = 0;
  const struct { int *value; CUdevice_attribute attribute; } wanted[] = {
      {&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
                {&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
                {&d->shared_optin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
                {&d->num_sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT}};
  status = cuda_check(cu, cu->device_get(&d->device, ordinal), "opening the device", error);
  for (uint32_t i = 0; status == TILE_OK && i < countof(wanted); i++)
    status = cuda_check(cu, cu->device_attribute(wanted[i].value, wanted[i].attribute, d->device),
                        "asking the device for an attribute", error);
  if (status == TILE_OK)
    status = cuda_check(cu, cu->device_name(d->base.name, sizeof d->base.name, d->device),
                        "asking the device for its name", error);
  if (status == TILE_OK)
    status = cuda_check(cu, cu->driver_version(&d->driver_version), "asking for the driver's version", error);
  if (status == TILE_OK)
    status = cuda_check(cu, cu->primary_ctx_retain(&d->context, d->device), "retaining the primary context", error);
  d->base.sm = major * 10 + minor;
  d->base.arch = best_arch(d->base.sm);
  return status;
}

tile_status device_open_cuda(int ordinal, bool simulator, tile_device **device, tile_error **error) {
  CudaDevice *d = calloc(1, sizeof *d);
  if (!d) return error_set(error, TILE_ERROR_NO_MEMORY, "out of memory");
  d->base.ops = simulator ? &sim_ops : &gpu_ops;
  d->base.kind = simulator ? "sim" : "gpu";
  d->is_sim = simulator;
  pthread_mutex_init(&d->padding_lock, NULL);
  tile_status status = cuda_open(&d->cu, simulator, error);
  if (status == TILE_OK && (status = open_device(d, ordinal, error)) != TILE_OK) cuda_close(&d->cu);
  if (status != TILE_OK) free(d);
  else *device = &d->base;
  return status;
}
