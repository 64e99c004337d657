// Launches: arguments as the driver takes them, scratch memory and timing.
#include "runtime/rt/device_cuda.h"

#include <stdio.h>
#include <stdlib.h>

#include "ir/clock.h"

enum { MAX_FAST_PARAMS = FEW_ARGS, MAX_FAST_DESCS = 4, FLUSH_BYTES = 256 << 20 };

// Arguments as the driver takes them: kernelParams points into the other arrays. Each launch has its own, on its stack;
// a kernel with more parameters than fit allocates the arrays.
typedef struct { CUtensorMap map; uint32_t shape[MAX_RANK]; uint64_t strides[MAX_RANK]; } DescStorage;
typedef struct {
  void *fast_params[MAX_FAST_PARAMS + MAX_FAST_DESCS * (1 + 2 * MAX_DESC_RANK)];
  uint64_t fast_values[MAX_FAST_PARAMS];
  DescStorage fast_descs[MAX_FAST_DESCS];
  void **params;
  uint64_t *values;            // one per parameter
  DescStorage *descs;          // one per descriptor or tensor map
  void *memory;                // what the pointers above point into; NULL: this object
} LaunchBlock;

// The caller holds the kernel's scratch_lock.
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
    return error_set(error, TILE_ERROR_USAGE,
                     "%s needs %llu bytes of scratch memory for this grid, and the stream is being captured: call "
                     "tile_kernel_reserve before the capture",
                     k->name, (unsigned long long)need);
  if (k->scratch) d->cu.mem_free(k->scratch);
  k->scratch = k->scratch_size = 0;
  CUdeviceptr p = 0;
  CALL_OR_RETURN(d, mem_alloc(&p, need), "allocating scratch memory");
  k->scratch = p, k->scratch_size = need;
  return TILE_OK;
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
    return error_no_memory(error);
  b->descs = b->memory;
  b->values = (uint64_t *)((char *)b->memory + descs);
  b->params = (void **)((char *)b->memory + descs + values);
  return TILE_OK;
}

// A descriptor becomes its map, or its base, and then its shape and strides; an automatic map is alone.
static tile_status pack_tensor(CudaDevice *d, const tile_kernel *k, uint32_t i, const tile_arg *args, LaunchBlock *b,
                               DescStorage *s, uint32_t *n, tile_error **error) {
  const KernelParam *p = &k->params[i];
  const bool is_automatic = p->kind == PARAM_AUTO_TENSORMAP, has_map = p->kind != PARAM_DESC_FIELDS;
  b->params[(*n)++] = has_map ? (void *)&s->map : (void *)&b->values[i];
  if (is_automatic) return tensor_map_of_kernel(d, k, p, args, &s->map, error);
  const tile_tensor *t = args[i].value.tensor;
  b->values[i] = t->base;
  for (uint32_t a = 0; a < p->rank; a++) s->shape[a] = (uint32_t)t->shape[a], b->params[(*n)++] = &s->shape[a];
  for (uint32_t a = 0; a < p->rank; a++) s->strides[a] = (uint64_t)t->strides[a], b->params[(*n)++] = &s->strides[a];
  return has_map ? tensor_map_of_arg(d, k, p, t, &s->map, error) : TILE_OK;
}

static tile_status pack(CudaDevice *d, tile_kernel *k, LaunchBlock *b, const tile_arg *args, tile_error **error) {
  tile_status status = TILE_OK;
  for (uint32_t i = 0, n = 0, desc = 0; status == TILE_OK && i < k->num_params; i++) {
    const KernelParam *p = &k->params[i];
    if (p->rank) {
      status = pack_tensor(d, k, i, args, b, &b->descs[desc++], &n, error);
      continue;
    }
    b->values[i] = p->kind == PARAM_SCRATCH ? k->scratch : launch_arg_bits(p, args[i]);
    b->params[n++] = &b->values[i];
  }
  return status;
}

// doing: the launch, which was cooperative and has too many blocks.
static tile_status too_many_at_once(const CudaDevice *d, const tile_kernel *k, const CUlaunchConfig *config, CUresult r,
                                    const char *doing, tile_error **error) {
  int blocks = 0, sms = 0;
  const int threads = (int)(config->blockDimX * config->blockDimY * config->blockDimZ);
  const uint64_t programs = (uint64_t)config->gridDimX / k->num_ctas * config->gridDimY * config->gridDimZ;
  if (d->cu.max_active_blocks(&blocks, k->function, threads, config->sharedMemBytes) != CUDA_SUCCESS ||
      d->cu.device_attribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, d->device) != CUDA_SUCCESS)
    return cuda_check(&d->cu, r, doing, error);
  const unsigned most = (unsigned)blocks * (unsigned)sms / k->num_ctas;
  return error_set_cuda(
      error, TILE_ERROR_DRIVER, (int)r,
      "%s: CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE: launch_cooperative_grid needs all %llu programs to run at once, and "
      "at most %u do (%d on each of %d SMs): launch %u programs or fewer, each with a loop over its tiles, for tile in "
      "range(tl.program_id(0), num_tiles, tl.num_programs(0)), or use fewer warps; if no program waits for another, leave "
      "launch_cooperative_grid out",
      doing, (unsigned long long)programs, most, blocks, sms, most);
}

static tile_status launch_failed(const CudaDevice *d, const tile_kernel *k, const CUlaunchConfig *config, CUresult r,
                                 tile_error **error) {
  char doing[256];
  snprintf(doing, sizeof doing, "launching %s on a grid of %u x %u x %u with %u threads and %u bytes of shared memory",
           k->name, config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX, config->sharedMemBytes);
  if (r == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE) return too_many_at_once(d, k, config, r, doing, error);
  tile_resources use = TILE_RESOURCES_INIT;
  if (r != CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES || tile_kernel_resources(k, &use, NULL) != TILE_OK || !use.is_assembled)
    return cuda_check(&d->cu, r, doing, error);
  const uint32_t needed = use.registers * use.threads;
  error_set(error, TILE_ERROR_RESOURCES, "%s: a block needs %u registers of the %d that there are: use fewer warps or "
            "smaller tiles", doing, needed, SM_REGISTERS);
  return error_resource(error, TILE_RESOURCE_REGISTERS, needed, SM_REGISTERS);
}

// The simulator runs the launch now, and asks the host meanwhile.
static tile_status launch_stoppable(const CudaDevice *d, const tile_kernel *k, const CUlaunchConfig *config,
                                    void **params, tile_error **error) {
  LaunchStop stop = {.kernel = k};
  d->cu.set_stop(launch_should_stop, &stop);
  const CUresult r = d->cu.launch(config, k->function, params, NULL);
  d->cu.set_stop(NULL, NULL);
  if (stop.stopped && r == CUDA_ERROR_NOT_READY) return launch_stopped(k, error);
  return r == CUDA_SUCCESS ? TILE_OK : launch_failed(d, k, config, r, error);
}

// The caller has entered the context.
static inline tile_status launch_config(const CudaDevice *d, const tile_kernel *k, const uint32_t grid[3], void *stream,
                                        void **params, tile_error **error) {
  CUlaunchConfig config = k->config;
  config.gridDimX = grid[0] * k->num_ctas;
  config.gridDimY = grid[1];
  config.gridDimZ = grid[2];
  config.hStream = stream;
  atomic_store_explicit(&d->cu.loss->has_launched, true, memory_order_relaxed);
  if (d->cu.set_stop && launch_can_stop(k)) return launch_stoppable(d, k, &config, params, error);
  CUresult r = d->cu.launch(&config, k->function, params, NULL);
  return r == CUDA_SUCCESS ? TILE_OK : launch_failed(d, k, &config, r, error);
}

static tile_status launch_packed(const CudaDevice *d, const tile_kernel *k, const LaunchBlock *b,
                                 const tile_launch_options *o, tile_error **error) {
  return launch_config(d, k, o->grid, o->stream, b->params, error);
}

static tile_status make_timing(CudaDevice *d, tile_error **error) {
  if (!d->flush) CALL_OR_RETURN(d, mem_alloc(&d->flush, FLUSH_BYTES), "allocating the buffer that flushes the caches");
  if (!d->start) CALL_OR_RETURN(d, event_create(&d->start, CU_EVENT_DEFAULT), "creating an event");
  if (!d->end) CALL_OR_RETURN(d, event_create(&d->end, CU_EVENT_DEFAULT), "creating an event");
  return TILE_OK;
}

// The simulator's own time is the host's. On a gpu there are events around the launch, after a store to more memory
// than the caches hold.
static tile_status time_in_context(CudaDevice *d, tile_kernel *k, const LaunchBlock *b, const tile_launch_options *o,
                                   double *ms, tile_error **error) {
  double start = clock_ms();
  tile_status status = d->is_sim ? TILE_OK : make_timing(d, error);
  if (status != TILE_OK) return status;
  if (!d->is_sim) {
    CALL_OR_RETURN(d, memset_d8_async(d->flush, 0, FLUSH_BYTES, o->stream), "flushing the caches");
    CALL_OR_RETURN(d, event_record(d->start, o->stream), "recording an event");
  }
  if ((status = launch_packed(d, k, b, o, error)) != TILE_OK) return status;
  if (d->is_sim) {
    CALL_OR_RETURN(d, ctx_synchronize(), "running the kernel");
    *ms = clock_ms() - start;
    return TILE_OK;
  }
  float elapsed = 0;
  CALL_OR_RETURN(d, event_record(d->end, o->stream), "recording an event");
  CALL_OR_RETURN(d, event_synchronize(d->end), "running the kernel");
  CALL_OR_RETURN(d, event_elapsed(&elapsed, d->start, d->end), "reading the time");
  *ms = elapsed;
  return TILE_OK;
}

// Times the launch if milliseconds is not NULL.
static tile_status launch_or_time(tile_kernel *k, const tile_launch_options *o, const tile_arg *args,
                                  double *milliseconds, tile_error **error) {
  CudaDevice *d = cuda_device(k->device);
  ENTER_OR_RETURN(d, error);
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

tile_status cuda_launch(tile_kernel *k, const tile_launch_options *o, const tile_arg *args, tile_error **error) {
  return launch_or_time(k, o, args, NULL, error);
}
tile_status cuda_time(tile_kernel *k, const tile_launch_options *o, const tile_arg *args, double *milliseconds,
                      tile_error **error) {
  *milliseconds = 0;
  return launch_or_time(k, o, args, milliseconds, error);
}
tile_status cuda_reserve(tile_kernel *k, const uint32_t grid[3], tile_error **error) {
  CudaDevice *d = cuda_device(k->device);
  ENTER_OR_RETURN(d, error);
  pthread_mutex_lock(&k->scratch_lock);
  tile_status status = ensure_scratch(d, k, grid, NULL, error);
  pthread_mutex_unlock(&k->scratch_lock);
  return status;
}
tile_status cuda_launch_params(const tile_kernel *k, const uint32_t grid[3], void *stream, void **params,
                               tile_error **error) {
  CudaDevice *d = cuda_device(k->device);
  ENTER_OR_RETURN(d, error);
  return launch_config(d, k, grid, stream, params, error);
}
