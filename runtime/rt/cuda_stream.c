// Streams, events and asynchronous copies of the CUDA driver or the simulator.
#include "runtime/rt/device_cuda.h"

#include <stdlib.h>
#include <time.h>

// Each runs in the device's context and returns the status of one call of the driver.
#define IN_CONTEXT(base, call, doing)                          \
  do {                                                         \
    CudaDevice *d = cuda_device(base);                         \
    ENTER_OR_RETURN(d, error);                                 \
    return cuda_check(&d->cu, d->cu.call, doing, error);       \
  } while (0)

static tile_status upload_async(tile_device *base, uint64_t to, const void *from, size_t size, void *stream,
                                tile_error **error) {
  IN_CONTEXT(base, memcpy_htod_async(to, from, size, stream), "copying to the device");
}
static tile_status download_async(tile_device *base, void *to, uint64_t from, size_t size, void *stream,
                                  tile_error **error) {
  IN_CONTEXT(base, memcpy_dtoh_async(to, from, size, stream), "copying from the device");
}
static tile_status create(tile_device *base, void **stream, tile_error **error) {
  IN_CONTEXT(base, stream_create((CUstream *)stream, CU_STREAM_NON_BLOCKING), "creating a stream");
}
static tile_status destroy(tile_device *base, void *stream, tile_error **error) {
  IN_CONTEXT(base, stream_destroy(stream), "destroying a stream");
}
static tile_status synchronize(tile_device *base, void *stream, tile_error **error) {
  IN_CONTEXT(base, stream_synchronize(stream), "running the kernel");
}
static tile_status wait_event(tile_device *base, void *stream, void *event, tile_error **error) {
  IN_CONTEXT(base, stream_wait_event(stream, event, 0), "waiting for an event");
}
static tile_status event_create(tile_device *base, void **event, tile_error **error) {
  IN_CONTEXT(base, event_create((CUevent *)event, CU_EVENT_DEFAULT), "creating an event");
}
static tile_status event_record(tile_device *base, void *event, void *stream, tile_error **error) {
  IN_CONTEXT(base, event_record(event, stream), "recording an event");
}
static tile_status event_synchronize(tile_device *base, void *event, tile_error **error) {
  IN_CONTEXT(base, event_synchronize(event), "running the kernel");
}

static void event_destroy(tile_device *base, void *event) {
  CudaDevice *d = cuda_device(base);
  ENTER_OR_RETURN_AS(, d, NULL);
  d->cu.event_destroy(event);
}
static tile_status event_elapsed(tile_device *base, void *start, void *end, double *milliseconds, tile_error **error) {
  CudaDevice *d = cuda_device(base);
  float elapsed = 0;
  ENTER_OR_RETURN(d, error);
  CALL_OR_RETURN(d, event_elapsed(&elapsed, start, end), "reading the time");
  *milliseconds = elapsed;
  return TILE_OK;
}

static tile_status answer(const CudaDevice *d, CUresult r, bool *done, tile_error **error) {
  *done = r == CUDA_SUCCESS;
  return r == CUDA_ERROR_NOT_READY ? TILE_OK : cuda_check(&d->cu, r, "running the kernel", error);
}
static tile_status query(tile_device *base, void *stream, bool *done, tile_error **error) {
  CudaDevice *d = cuda_device(base);
  ENTER_OR_RETURN(d, error);
  return answer(d, d->cu.stream_query(stream), done, error);
}
static tile_status event_query(tile_device *base, void *event, bool *done, tile_error **error) {
  CudaDevice *d = cuda_device(base);
  ENTER_OR_RETURN(d, error);
  return answer(d, d->cu.event_query(event), done, error);
}

const StreamOps cuda_stream_ops = {upload_async, download_async, create, destroy, synchronize, query, wait_event,
                                   event_create, event_destroy, event_record, event_synchronize, event_query,
                                   event_elapsed};

// ---- waiting for all streams, unless the host wants to stop ----

// The driver's wait for a whole context cannot be interrupted. A thread of its own does it. If the host stops waiting,
// the thread goes on alone and frees what it owns.
typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t done;
  pthread_t thread;
  CUresult (*push)(CUcontext context);
  CUresult (*synchronize)(void);
  CUcontext context;
  CUresult result;
  bool is_done, is_left;       // the caller has left: the thread frees this
} Waiting;

static void free_waiting(Waiting *w) {
  pthread_mutex_destroy(&w->lock);
  pthread_cond_destroy(&w->done);
  free(w);
}

static void *wait_in_thread(void *user) {
  Waiting *w = user;
  CUresult r = w->push(w->context);
  if (!r) r = w->synchronize();
  pthread_mutex_lock(&w->lock);
  w->result = r;
  w->is_done = true;
  const bool is_left = w->is_left;
  pthread_cond_signal(&w->done);
  pthread_mutex_unlock(&w->lock);
  if (is_left) free_waiting(w);
  return NULL;
}

// True if all is done, and *result says how; false: the host wants to stop.
static bool wait_stoppably(const CudaDevice *d, Waiting *w, CUresult *result) {
  enum { PAUSE_NS = 5000000 };
  bool stops = false;
  pthread_mutex_lock(&w->lock);
  while (!w->is_done && !stops) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += PAUSE_NS;
    if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, until.tv_sec++;
    pthread_cond_timedwait(&w->done, &w->lock, &until);
    if (w->is_done) break;
    pthread_mutex_unlock(&w->lock);
    stops = device_should_stop(&d->base);
    pthread_mutex_lock(&w->lock);
  }
  const bool is_done = w->is_done;
  *result = w->result;
  w->is_left = !is_done;
  if (!is_done) pthread_detach(w->thread);
  pthread_mutex_unlock(&w->lock);
  if (!is_done) return false;
  pthread_join(w->thread, NULL);
  free_waiting(w);
  return true;
}

tile_status cuda_synchronize(tile_device *base, tile_error **error) {
  CudaDevice *d = cuda_device(base);
  CUresult r = CUDA_SUCCESS;
  ENTER_OR_RETURN(d, error);
  Waiting *w = base->hooks.should_stop && !d->is_sim ? calloc(1, sizeof *w) : NULL;
  if (w) {
    *w = (Waiting){.push = d->cu.ctx_push, .synchronize = d->cu.ctx_synchronize, .context = d->context};
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->done, NULL);
    if (pthread_create(&w->thread, NULL, wait_in_thread, w)) free_waiting(w), w = NULL;
  }
  if (w && !wait_stoppably(d, w, &r))
    return error_set(error, TILE_ERROR_CANCELLED, "stopped waiting for the device; what runs there goes on");
  if (!w) r = d->cu.ctx_synchronize();
  return cuda_check(&d->cu, r, "running the kernel", error);
}
