// The simulated driver: memory, copies, streams, events, graphs. Streams are in order and run work when it is submitted,
// unless they are being captured.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ir/c_locale.h"
#include "ir/deep_stack.h"
#include "runtime/sim/driver_state.h"
#include "runtime/sim/tensormap.h"


// ------------------------------------------------------------------------------------------------------- allocation

CUresult sim_cuMemGetInfo(size_t *free_bytes, size_t *total) {
  LOCKED;
  RETURN_IF_NO_CONTEXT(context);
  *free_bytes = context->device->total_mem - context->device->used_mem;
  *total = context->device->total_mem;
  return CUDA_SUCCESS;
}
static CUresult allocate(uint64_t *address, size_t size, AllocKind kind) {
  RETURN_IF_NO_CONTEXT(context);
  RETURN_INVALID_UNLESS(address && size, "an allocation of %zu bytes", size);
  *address = device_alloc(context->device, size, 512, kind);
  if (!*address) return driver_fail(CUDA_ERROR_OUT_OF_MEMORY, "no %zu bytes left: %llu of %llu are in use", size, (unsigned long long)context->device->used_mem, (unsigned long long)context->device->total_mem);
  if (kind == ALLOC_DEVICE) undef_track_memory(context->device, *address);
  return CUDA_SUCCESS;
}
CUresult sim_cuMemAlloc(CUdeviceptr *address, size_t size) {
  LOCKED;
  uint64_t a = 0;
  CUresult r = allocate(&a, size, ALLOC_DEVICE);
  if (!r) *address = a;
  return r;
}
CUresult sim_cuMemAllocAsync(CUdeviceptr *address, size_t size, CUstream stream) {
  LOCKED;
  (void)stream;
  return sim_cuMemAlloc(address, size);
}
CUresult sim_cuMemAllocPitch(CUdeviceptr *address, size_t *pitch, size_t width, size_t height, unsigned element) {
  LOCKED;
  (void)element;
  RETURN_INVALID_UNLESS(address && pitch, "a null argument");
  size_t row, size;
  if (__builtin_add_overflow(width, 511, &row) || __builtin_mul_overflow(row / 512 * 512, height, &size))
    return driver_fail(CUDA_ERROR_OUT_OF_MEMORY, "%zu rows of %zu bytes are more than any memory", height, width);
  CUresult r = sim_cuMemAlloc(address, size);
  if (!r) *pitch = row / 512 * 512;
  return r;
}
static CUresult release(uint64_t address, bool host) {
  if (!address) return CUDA_SUCCESS;
  Device *d = NULL;
  Alloc *a = driver_find(address, &d);
  RETURN_INVALID_UNLESS(a && a->base == address && (a->kind == ALLOC_DEVICE || a->kind == ALLOC_HOST) && (!host || a->kind == ALLOC_HOST), "%#llx was not allocated or is freed already", (unsigned long long)address);
  device_free(d, address);
  return CUDA_SUCCESS;
}
CUresult sim_cuMemFree(CUdeviceptr address) { LOCKED; return release(address, false); }
CUresult sim_cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  LOCKED;
  (void)stream;
  return release(address, false);
}
CUresult sim_cuMemAllocManaged(CUdeviceptr *address, size_t size, unsigned flags) {
  LOCKED;
  (void)flags;
  uint64_t a = 0;
  CUresult r = allocate(&a, size, ALLOC_HOST);
  if (!r) *address = a;
  return r;
}
CUresult sim_cuMemAllocHost(void **address, size_t size) {
  LOCKED;
  uint64_t a = 0;
  CUresult r = allocate(&a, size, ALLOC_HOST);
  if (!r) *address = (void *)(uintptr_t)a;
  return r;
}
CUresult sim_cuMemHostAlloc(void **address, size_t size, unsigned flags) {
  LOCKED;
  (void)flags;
  return sim_cuMemAllocHost(address, size);
}
CUresult sim_cuMemFreeHost(void *address) { LOCKED; return release((uintptr_t)address, true); }
CUresult sim_cuMemHostGetDevicePointer(CUdeviceptr *address, void *host, unsigned flags) {
  LOCKED;
  (void)flags;
  RETURN_INVALID_UNLESS(driver_find((uintptr_t)host, NULL), "%p is no pinned memory", host);
  *address = (uintptr_t)host;
  return CUDA_SUCCESS;
}
CUresult sim_cuMemGetAddressRange(CUdeviceptr *base, size_t *size, CUdeviceptr address) {
  LOCKED;
  Alloc *a = driver_find(address, NULL);
  RETURN_INVALID_UNLESS(a, "%#llx is not allocated", address);
  if (base) *base = a->base;
  if (size) *size = a->size;
  return CUDA_SUCCESS;
}
CUresult sim_cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr address) {
  LOCKED;
  Device *d = NULL;
  Alloc *a = driver_find(address, &d);
  RETURN_INVALID_UNLESS(a, "%#llx is not allocated", address);
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_CONTEXT: *(CUcontext *)data = &driver_state()->primary[d->ordinal]; break;
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: *(unsigned *)data = a->kind == ALLOC_HOST ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE; break;
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *(CUdeviceptr *)data = address; break;
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    RETURN_INVALID_UNLESS(a->kind == ALLOC_HOST, "%#llx is device memory", address);
    *(void **)data = (void *)(uintptr_t)address;
    break;
  case CU_POINTER_ATTRIBUTE_IS_MANAGED: *(unsigned *)data = 0; break;
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)data = d->ordinal; break;
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *(CUdeviceptr *)data = a->base; break;
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *(size_t *)data = a->size; break;
  default: return driver_fail(CUDA_ERROR_NOT_SUPPORTED, "pointer attribute %d", (int)attribute);
  }
  return CUDA_SUCCESS;
}

// ------------------------------------------------------------------------------------------------------------ work

static CUresult check_range(uint64_t address, size_t size, const char *what) {
  const Alloc *a = driver_find(address, NULL);
  RETURN_INVALID_UNLESS(a && size <= a->size - (address - a->base), "%s of %zu bytes at %#llx: %s", what, size, (unsigned long long)address, a ? "it runs past the end of the allocation" : "nothing is allocated there");
  return CUDA_SUCCESS;
}

typedef struct { Sim *sim; Device *device; const LaunchParams *launch; CUresult result; } GridRun;

static void run_grid(void *user) {
  IN_C_LOCALE;   // printf of kernels
  GridRun *r = user;
  r->result = grid_run(r->sim, r->device, r->launch);
}

CUresult driver_run(const StreamWork *k) {
  RETURN_IF_NO_CONTEXT(context);
  switch (k->kind) {
  case WORK_LAUNCH: {
    GridRun r = {.sim = &driver_state()->sim, .device = context->device, .launch = &k->launch};
    if (!on_deep_stack(run_grid, &r)) return CUDA_ERROR_OUT_OF_MEMORY;   // tensor-core instructions gather whole matrices
    if (r.result) context->failed = r.result;
    return r.result;
  }
  case WORK_COPY:
    memmove((void *)(uintptr_t)k->to, (const void *)(uintptr_t)k->from, k->size);
    undef_memory_copied(context->device, k->to, k->from, k->size);
    break;
  case WORK_SET: {
    uint8_t *p = (uint8_t *)(uintptr_t)k->to;
    if (k->element == 1) memset(p, (int)k->value, k->size);
    else for (size_t i = 0; i < k->size; i++) memcpy(p + i * k->pitch, &k->value, k->element);
    if (k->pitch == k->element) undef_memory_copied(context->device, k->to, 0, k->size * k->element);
    else for (size_t i = 0; i < k->size; i++) undef_memory_copied(context->device, k->to + i * k->pitch, 0, k->element);
    break;
  }
  case WORK_HOST: k->fn(k->user); break;
  }
  return CUDA_SUCCESS;
}

static CUstream stream_of(CUstream s) { return !s || s == CU_STREAM_LEGACY || s == CU_STREAM_PER_THREAD ? &driver_state()->legacy : s; }

static bool is_loaded(CUmodule module) {
  for (CUmodule m = driver_state()->modules; m; m = m->next)
    if (m == module) return true;
  return false;
}

// Work that is kept owns its parameters; a graph may outlive the module of a kernel in it, but then cannot be launched.
static CUresult append_work(CUgraph g, const StreamWork *k) {
  if (k->kind == WORK_LAUNCH) RETURN_INVALID_UNLESS(is_loaded(k->module), "a kernel of a module that is unloaded");
  StreamWork c = *k;
  c.launch.params = NULL;
  const uint32_t bytes = k->kind == WORK_LAUNCH ? k->launch.func->param_bytes : 0;
  if (g->count == g->capacity) {
    const uint32_t capacity = g->capacity ? g->capacity * 2 : 16;
    StreamWork *more = realloc(g->work, capacity * sizeof *more);
    if (!more) return CUDA_ERROR_OUT_OF_MEMORY;
    g->work = more, g->capacity = capacity;
  }
  if (bytes) {
    uint8_t *p = malloc(bytes);
    if (!p) return CUDA_ERROR_OUT_OF_MEMORY;
    c.launch.params = memcpy(p, k->launch.params, bytes);
  }
  g->work[g->count++] = c;
  return CUDA_SUCCESS;
}
static void free_work(CUgraph g) {
  for (uint32_t i = 0; i < g->count; i++) free((void *)(uintptr_t)g->work[i].launch.params);
  free(g->work);
}

CUresult driver_submit(CUstream stream, const StreamWork *k) {
  RETURN_IF_NO_CONTEXT(context);
  CUstream s = stream_of(stream);
  if (!s->capture) return driver_run(k);
  return append_work(s->capture, k);
}

static CUresult copy(CUstream stream, uint64_t to, uint64_t from, size_t size, bool to_device, bool from_device) {
  RETURN_IF_NO_CONTEXT(context);
  if (!size) return CUDA_SUCCESS;
  CUresult r = to_device ? check_range(to, size, "copy to the device") : CUDA_SUCCESS;
  if (!r && from_device) r = check_range(from, size, "copy from the device");
  RETURN_INVALID_UNLESS(to && from, "copy with a null pointer");
  return r ? r : driver_submit(stream, &(StreamWork){.kind = WORK_COPY, .to = to, .from = from, .size = size});
}
static CUresult set(CUstream stream, uint64_t to, uint32_t value, uint32_t element, size_t count) {
  RETURN_IF_NO_CONTEXT(context);
  if (!count) return CUDA_SUCCESS;
  RETURN_INVALID_UNLESS(to % element == 0, "address %#llx is not aligned to %u", (unsigned long long)to, element);
  size_t bytes;
  RETURN_INVALID_UNLESS(!__builtin_mul_overflow(count, element, &bytes), "memset of %zu elements of %u bytes", count, element);
  CUresult r = check_range(to, bytes, "memset");
  return r ? r : driver_submit(stream, &(StreamWork){.kind = WORK_SET, .to = to, .value = value, .element = element, .pitch = element, .size = count});
}
// Rows of one element, which is all that is asked for here.
static CUresult set_rows(CUstream stream, uint64_t to, size_t pitch, uint32_t value, size_t width, size_t height) {
  RETURN_IF_NO_CONTEXT(context);
  if (!width || !height) return CUDA_SUCCESS;
  RETURN_INVALID_UNLESS(width == 1 && pitch >= 4 && pitch % 4 == 0 && to % 4 == 0, "the simulator sets rows of one aligned element, not of %zu at a pitch of %zu", width, pitch);
  size_t bytes;
  RETURN_INVALID_UNLESS(!__builtin_mul_overflow(height - 1, pitch, &bytes) && bytes <= SIZE_MAX - 4, "memset of %zu rows at a pitch of %zu", height, pitch);
  CUresult r = check_range(to, bytes + 4, "memset");
  return r ? r : driver_submit(stream, &(StreamWork){.kind = WORK_SET, .to = to, .value = value, .element = 4, .pitch = pitch, .size = height});
}
static bool known(uint64_t a) { return driver_find(a, NULL) != NULL; }
CUresult sim_cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream s) { LOCKED; return copy(s, to, from, size, known(to), known(from)); }
CUresult sim_cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t size) { LOCKED; return sim_cuMemcpyAsync(to, from, size, NULL); }
CUresult sim_cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t size, CUstream s) { LOCKED; return copy(s, to, (uintptr_t)from, size, true, false); }
CUresult sim_cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t size) { LOCKED; return sim_cuMemcpyHtoDAsync(to, from, size, NULL); }
CUresult sim_cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t size, CUstream s) { LOCKED; return copy(s, (uintptr_t)to, from, size, false, true); }
CUresult sim_cuMemcpyDtoH(void *to, CUdeviceptr from, size_t size) { LOCKED; return sim_cuMemcpyDtoHAsync(to, from, size, NULL); }
CUresult sim_cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream s) { LOCKED; return copy(s, to, from, size, true, true); }
CUresult sim_cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t size) { LOCKED; return sim_cuMemcpyDtoDAsync(to, from, size, NULL); }
CUresult sim_cuMemcpyPeerAsync(CUdeviceptr to, CUcontext tc, CUdeviceptr from, CUcontext fc, size_t size, CUstream s) {
  LOCKED;
  (void)tc; (void)fc;
  return copy(s, to, from, size, true, true);
}
CUresult sim_cuMemcpyPeer(CUdeviceptr to, CUcontext tc, CUdeviceptr from, CUcontext fc, size_t size) { LOCKED; return sim_cuMemcpyPeerAsync(to, tc, from, fc, size, NULL); }
CUresult sim_cuMemsetD8Async(CUdeviceptr to, unsigned char v, size_t n, CUstream s) { LOCKED; return set(s, to, v, 1, n); }
CUresult sim_cuMemsetD16Async(CUdeviceptr to, unsigned short v, size_t n, CUstream s) { LOCKED; return set(s, to, v, 2, n); }
CUresult sim_cuMemsetD32Async(CUdeviceptr to, unsigned v, size_t n, CUstream s) { LOCKED; return set(s, to, v, 4, n); }
CUresult sim_cuMemsetD8(CUdeviceptr to, unsigned char v, size_t n) { LOCKED; return set(NULL, to, v, 1, n); }
CUresult sim_cuMemsetD16(CUdeviceptr to, unsigned short v, size_t n) { LOCKED; return set(NULL, to, v, 2, n); }
CUresult sim_cuMemsetD32(CUdeviceptr to, unsigned v, size_t n) { LOCKED; return set(NULL, to, v, 4, n); }
CUresult sim_cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned v, size_t width, size_t height, CUstream s) { LOCKED; return set_rows(s, to, pitch, v, width, height); }
CUresult sim_cuLaunchHostFunc(CUstream stream, CUhostFn fn, void *user) {
  LOCKED;
  RETURN_INVALID_UNLESS(fn, "no function");
  return driver_submit(stream, &(StreamWork){.kind = WORK_HOST, .fn = fn, .user = user});
}

// --------------------------------------------------------------------------------------------------------- streams

CUresult sim_cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
  LOCKED;
  RETURN_IF_NO_CONTEXT(context);
  CUstream s = calloc(1, sizeof *s), head = &driver_state()->legacy;
  if (!s) return CUDA_ERROR_OUT_OF_MEMORY;
  *s = (struct CUstream_st){.next = head->next, .flags = flags, .priority = priority, .context = context};
  head->next = s;
  *stream = s;
  return CUDA_SUCCESS;
}
CUresult sim_cuStreamCreate(CUstream *stream, unsigned flags) { LOCKED; return sim_cuStreamCreateWithPriority(stream, flags, 0); }
// All streams leave the capture.
static CUgraph end_capture(CUgraph g) {
  for (CUstream s = &driver_state()->legacy; s; s = s->next)
    if (s->capture == g) s->capture = NULL, s->origin = false;
  return g;
}
CUresult sim_cuStreamDestroy(CUstream stream) {
  LOCKED;
  for (CUstream *at = &driver_state()->legacy.next; *at; at = &(*at)->next)
    if (*at == stream) {
      if (stream->origin) {
        CUgraph g = end_capture(stream->capture);
        free_work(g);
        free(g);
      }
      *at = stream->next;
      free(stream);
      return CUDA_SUCCESS;
    }
  return driver_fail(CUDA_ERROR_INVALID_HANDLE, "no such stream");
}
CUresult sim_cuStreamSynchronize(CUstream stream) {
  LOCKED;
  RETURN_IF_NO_CONTEXT(context);
  if (stream_of(stream)->capture) return driver_fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the stream is being captured");
  return CUDA_SUCCESS;
}
CUresult sim_cuStreamQuery(CUstream stream) { LOCKED; return sim_cuStreamSynchronize(stream); }
CUresult sim_cuStreamGetFlags(CUstream stream, unsigned *flags) {
  LOCKED;
  *flags = stream_of(stream)->flags;
  return CUDA_SUCCESS;
}
CUresult sim_cuStreamGetPriority(CUstream stream, int *priority) {
  LOCKED;
  *priority = stream_of(stream)->priority;
  return CUDA_SUCCESS;
}
CUresult sim_cuStreamGetCtx(CUstream stream, CUcontext *out) {
  LOCKED;
  RETURN_IF_NO_CONTEXT(context);
  CUstream s = stream_of(stream);
  *out = s->context ? s->context : context;
  return CUDA_SUCCESS;
}
CUresult sim_cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  LOCKED;
  (void)flags;
  RETURN_IF_NO_CONTEXT(context);
  RETURN_INVALID_UNLESS(event, "no event");
  CUstream s = stream_of(stream);
  // Waiting for an event of a captured stream takes this stream into the capture.
  if (!event->capture || s->capture) return CUDA_SUCCESS;
  for (CUstream t = &driver_state()->legacy; t; t = t->next)
    if (t->origin && t->capture->serial == event->capture) {
      s->capture = t->capture;
      return CUDA_SUCCESS;
    }
  return driver_fail(CUDA_ERROR_CAPTURED_EVENT, "the capture in which the event was recorded has ended");
}
CUresult sim_cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *user, unsigned flags) {
  LOCKED;
  (void)flags;
  RETURN_IF_NO_CONTEXT(context);
  RETURN_INVALID_UNLESS(callback, "no function");
  if (stream_of(stream)->capture) return driver_fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the stream is being captured");
  callback(stream, CUDA_SUCCESS, user);
  return CUDA_SUCCESS;
}
CUresult sim_cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  LOCKED;
  (void)mode;
  RETURN_IF_NO_CONTEXT(context);
  CUstream s = stream_of(stream);
  if (s == &driver_state()->legacy) return driver_fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the default stream cannot be captured");
  if (s->capture) return driver_fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is being captured already");
  s->capture = calloc(1, sizeof *s->capture);
  if (!s->capture) return CUDA_ERROR_OUT_OF_MEMORY;
  s->capture->serial = ++driver_state()->captures;
  s->origin = true;
  return CUDA_SUCCESS;
}
CUresult sim_cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  LOCKED;
  RETURN_IF_NO_CONTEXT(context);
  CUstream s = stream_of(stream);
  if (!s->capture) return driver_fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is not being captured");
  if (!s->origin) return driver_fail(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "capture began in another stream");
  *graph = end_capture(s->capture);
  return CUDA_SUCCESS;
}
CUresult sim_cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
  LOCKED;
  *status = stream_of(stream)->capture ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
CUresult sim_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  LOCKED;
  *mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  return CUDA_SUCCESS;
}

// ---------------------------------------------------------------------------------------------------------- events

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}
CUresult sim_cuEventCreate(CUevent *event, unsigned flags) {
  LOCKED;
  RETURN_IF_NO_CONTEXT(context);
  *event = calloc(1, sizeof **event);
  if (!*event) return CUDA_ERROR_OUT_OF_MEMORY;
  (*event)->flags = flags;
  return CUDA_SUCCESS;
}
CUresult sim_cuEventDestroy(CUevent event) {
  LOCKED;
  if (!event) return driver_fail(CUDA_ERROR_INVALID_HANDLE, "no event");
  free(event);
  return CUDA_SUCCESS;
}
CUresult sim_cuEventRecord(CUevent event, CUstream stream) {
  LOCKED;
  RETURN_IF_NO_CONTEXT(context);
  if (!event) return driver_fail(CUDA_ERROR_INVALID_HANDLE, "no event");
  CUstream s = stream_of(stream);
  event->capture = s->capture ? s->capture->serial : 0;
  event->recorded = !event->capture;
  event->time = now();
  return CUDA_SUCCESS;
}
CUresult sim_cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  LOCKED;
  (void)flags;
  return sim_cuEventRecord(event, stream);
}
CUresult sim_cuEventSynchronize(CUevent event) {
  LOCKED;
  RETURN_IF_NO_CONTEXT(context);
  if (!event) return driver_fail(CUDA_ERROR_INVALID_HANDLE, "no event");
  return event->capture ? driver_fail(CUDA_ERROR_CAPTURED_EVENT, "the event was last recorded in a captured stream") : CUDA_SUCCESS;
}
CUresult sim_cuEventQuery(CUevent event) { LOCKED; return sim_cuEventSynchronize(event); }
CUresult sim_cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
  LOCKED;
  RETURN_IF_NO_CONTEXT(context);
  if (!start || !end || !start->recorded || !end->recorded || (start->flags | end->flags) & CU_EVENT_DISABLE_TIMING)
    return driver_fail(CUDA_ERROR_INVALID_HANDLE, "an event that has no time");
  *milliseconds = (float)(end->time - start->time);
  return CUDA_SUCCESS;
}

// ---------------------------------------------------------------------------------------------------------- graphs

CUresult sim_cuGraphCreate(CUgraph *graph, unsigned flags) {
  LOCKED;
  (void)flags;
  RETURN_IF_NO_CONTEXT(context);
  *graph = calloc(1, sizeof **graph);
  return *graph ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult sim_cuGraphDestroy(CUgraph graph) {
  LOCKED;
  RETURN_INVALID_UNLESS(graph, "no graph");
  free_work(graph);
  free(graph);
  return CUDA_SUCCESS;
}
CUresult sim_cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
  LOCKED;
  RETURN_INVALID_UNLESS(graph && count, "no graph");
  for (size_t i = 0; nodes && i < *count; i++) nodes[i] = i < graph->count ? (CUgraphNode)(void *)&graph->work[i] : NULL;
  *count = graph->count;
  return CUDA_SUCCESS;
}
CUresult sim_cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, uint64_t flags) {
  LOCKED;
  (void)flags;
  RETURN_IF_NO_CONTEXT(context);
  RETURN_INVALID_UNLESS(exec && graph, "no graph");
  CUgraphExec e = calloc(1, sizeof *e);
  if (!e) return CUDA_ERROR_OUT_OF_MEMORY;
  CUresult r = CUDA_SUCCESS;
  for (uint32_t i = 0; i < graph->count && !r; i++) r = append_work(&e->graph, &graph->work[i]);
  if (!r) *exec = e;
  else free_work(&e->graph), free(e);
  return r;
}
CUresult sim_cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, uint64_t flags) { LOCKED; return sim_cuGraphInstantiateWithFlags(exec, graph, flags); }
CUresult sim_cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *error_node, char *log, size_t log_size) {
  LOCKED;
  if (error_node) *error_node = NULL;
  if (log && log_size) *log = 0;
  return sim_cuGraphInstantiateWithFlags(exec, graph, 0);
}
CUresult sim_cuGraphUpload(CUgraphExec exec, CUstream stream) {
  LOCKED;
  (void)exec; (void)stream;
  RETURN_IF_NO_CONTEXT(context);
  return CUDA_SUCCESS;
}
CUresult sim_cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  LOCKED;
  RETURN_IF_NO_CONTEXT(context);
  RETURN_INVALID_UNLESS(exec, "no graph");
  for (uint32_t i = 0; i < exec->graph.count; i++) {
    const StreamWork *k = &exec->graph.work[i];
    RETURN_INVALID_UNLESS(k->kind != WORK_LAUNCH || is_loaded(k->module), "a kernel of a module that is unloaded");
    CUresult r = driver_submit(stream, k);
    if (r) return r;
  }
  return CUDA_SUCCESS;
}
CUresult sim_cuGraphExecDestroy(CUgraphExec exec) {
  LOCKED;
  RETURN_INVALID_UNLESS(exec, "no graph");
  free_work(&exec->graph);
  free(exec);
  return CUDA_SUCCESS;
}

// ------------------------------------------------------------------------------------------------------ tensor maps

CUresult sim_cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, uint32_t rank, void *base, const uint64_t *dims,
                                    const uint64_t *strides, const uint32_t *box, const uint32_t *element_strides,
                                    CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                    CUtensorMapFloatOOBfill fill) {
  LOCKED;
  RETURN_INVALID_UNLESS(map && dims && box && element_strides && (strides || rank <= 1), "a null argument");
  RETURN_INVALID_UNLESS((uintptr_t)map % 64 == 0, "the tensor map must be aligned to 64 bytes");
  RETURN_INVALID_UNLESS(rank >= 1 && rank <= TENSORMAP_MAX_RANK, "rank %u: a tensor map has 1 to %d dimensions", rank, TENSORMAP_MAX_RANK);
  RETURN_INVALID_UNLESS((unsigned)type < TMAP_DTYPE_COUNT, "data type %d", (int)type);
  TensorMap m = {.dtype = (TensorMapDtype)type, .rank = rank, .address = (uintptr_t)base, .interleave = (TensorMapInterleave)interleave,
                 .swizzle = (TensorMapSwizzle)swizzle, .l2_promotion = promotion, .fill = (TensorMapFill)fill};
  for (uint32_t i = 0; i < rank; i++) {
    m.dim[i] = dims[i];
    m.stride[i] = i ? strides[i - 1] : tensormap_element_bytes(m.dtype);
    m.box[i] = box[i];
    m.element_stride[i] = element_strides[i];
  }
  const char *wrong = tensormap_check(&m);
  RETURN_INVALID_UNLESS(!wrong, "tensor map: %s", wrong);
  tensormap_pack(&m, map);
  return CUDA_SUCCESS;
}
CUresult sim_cuTensorMapReplaceAddress(CUtensorMap *map, void *base) {
  LOCKED;
  TensorMap m;
  RETURN_INVALID_UNLESS(map && tensormap_unpack(map, &m), "not a tensor map");
  m.address = (uintptr_t)base;
  const char *wrong = tensormap_check(&m);
  RETURN_INVALID_UNLESS(!wrong, "tensor map: %s", wrong);
  tensormap_pack(&m, map);
  return CUDA_SUCCESS;
}
