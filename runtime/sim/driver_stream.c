// The simulated driver: streams and their work, events, graphs. A stream runs work when it is submitted, unless the
// stream is being captured.
#include <stdlib.h>
#include <string.h>

#include "ir/c_locale.h"
#include "ir/clock.h"
#include "ir/deep_stack.h"
#include "runtime/sim/driver_state.h"

// ------------------------------------------------------------------------------------------------------------ work

typedef struct { Sim *sim; Device *device; const LaunchParams *launch; CUresult result; } GridRun;

static void run_grid(void *user) {
  IN_C_LOCALE;   // printf of kernels
  GridRun *r = user;
  r->result = grid_run(r->sim, r->device, r->launch);
}

static CUresult run_work(const StreamWork *k) {
  RETURN_IF_NO_CONTEXT(context);
  switch (k->kind) {
  case WORK_LAUNCH: {
    const SimThread *thread = driver_thread();
    driver_state()->sim.should_stop = thread->should_stop;
    driver_state()->sim.stop_user = thread->stop_user;
    GridRun r = {.sim = &driver_state()->sim, .device = context->device, .launch = &k->launch};
    if (!deep_stack_run(run_grid, &r))
      return CUDA_ERROR_OUT_OF_MEMORY;   // tensor-core instructions gather whole matrices
    if (r.result && r.result != GRID_STOPPED) context->failed = r.result;
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

static CUstream stream_of(CUstream s) {
  return !s || s == CU_STREAM_LEGACY || s == CU_STREAM_PER_THREAD ? &driver_state()->legacy : s;
}

// Handles of streams that were destroyed, or never made, must not be looked into.
static bool is_stream(CUstream s) {
  const CUstream wanted = stream_of(s);
  for (CUstream t = &driver_state()->legacy; t; t = t->next)
    if (t == wanted) return true;
  return false;
}
#define RETURN_IF_NO_STREAM(s)                                                                              \
  do {                                                                                                      \
    if (!is_stream(s))                                                                                      \
      return driver_fail(CUDA_ERROR_INVALID_HANDLE, "no such stream: it was never made, or is destroyed"); \
  } while (0)

static bool is_loaded(CUmodule module) {
  for (CUmodule m = driver_state()->modules; m; m = m->next)
    if (m == module) return true;
  return false;
}

// Stored work owns its parameters. A graph may outlive the module of one of its kernels, but can then not be
// launched.
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
  RETURN_IF_NO_STREAM(stream);
  CUstream s = stream_of(stream);
  if (!s->capture) return run_work(k);
  return append_work(s->capture, k);
}

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
CUresult sim_cuStreamCreate(CUstream *stream, unsigned flags) {
  LOCKED;
  return sim_cuStreamCreateWithPriority(stream, flags, 0);
}
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
  RETURN_IF_NO_STREAM(stream);
  if (stream_of(stream)->capture)
    return driver_fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the stream is being captured");
  return CUDA_SUCCESS;
}
CUresult sim_cuStreamQuery(CUstream stream) { LOCKED; return sim_cuStreamSynchronize(stream); }
CUresult sim_cuStreamGetFlags(CUstream stream, unsigned *flags) {
  LOCKED;
  RETURN_IF_NO_STREAM(stream);
  *flags = stream_of(stream)->flags;
  return CUDA_SUCCESS;
}
CUresult sim_cuStreamGetPriority(CUstream stream, int *priority) {
  LOCKED;
  RETURN_IF_NO_STREAM(stream);
  *priority = stream_of(stream)->priority;
  return CUDA_SUCCESS;
}
CUresult sim_cuStreamGetCtx(CUstream stream, CUcontext *out) {
  LOCKED;
  RETURN_IF_NO_CONTEXT(context);
  RETURN_IF_NO_STREAM(stream);
  CUstream s = stream_of(stream);
  *out = s->context ? s->context : context;
  return CUDA_SUCCESS;
}
CUresult sim_cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  LOCKED;
  (void)flags;
  RETURN_IF_NO_CONTEXT(context);
  RETURN_INVALID_UNLESS(event, "no event");
  RETURN_IF_NO_STREAM(stream);
  CUstream s = stream_of(stream);
  // A stream that waits for an event of a captured stream joins the capture.
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
  RETURN_IF_NO_STREAM(stream);
  if (stream_of(stream)->capture)
    return driver_fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the stream is being captured");
  callback(stream, CUDA_SUCCESS, user);
  return CUDA_SUCCESS;
}
CUresult sim_cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  LOCKED;
  (void)mode;
  RETURN_IF_NO_CONTEXT(context);
  RETURN_IF_NO_STREAM(stream);
  CUstream s = stream_of(stream);
  if (s == &driver_state()->legacy)
    return driver_fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the default stream cannot be captured");
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
  RETURN_IF_NO_STREAM(stream);
  CUstream s = stream_of(stream);
  if (!s->capture) return driver_fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is not being captured");
  if (!s->origin) return driver_fail(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "capture began in another stream");
  *graph = end_capture(s->capture);
  return CUDA_SUCCESS;
}
CUresult sim_cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
  LOCKED;
  RETURN_IF_NO_STREAM(stream);
  *status = stream_of(stream)->capture ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
CUresult sim_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  LOCKED;
  *mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  return CUDA_SUCCESS;
}

// ---------------------------------------------------------------------------------------------------------- events

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
  RETURN_IF_NO_STREAM(stream);
  CUstream s = stream_of(stream);
  event->capture = s->capture ? s->capture->serial : 0;
  event->recorded = !event->capture;
  event->time = clock_ms();
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
  return event->capture ? driver_fail(CUDA_ERROR_CAPTURED_EVENT, "the event was last recorded in a captured stream")
                        : CUDA_SUCCESS;
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
  for (size_t i = 0; nodes && i < *count; i++)
    nodes[i] = i < graph->count ? (CUgraphNode)(void *)&graph->work[i] : NULL;
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
CUresult sim_cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, uint64_t flags) {
  LOCKED;
  return sim_cuGraphInstantiateWithFlags(exec, graph, flags);
}
CUresult sim_cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *error_node, char *log,
                                   size_t log_size) {
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

