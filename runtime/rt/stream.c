// Streams and events: the public functions. A device without StreamOps does all work at once: its streams are numbers,
// its events the host's time.
#include "runtime/rt/device.h"

#include <stdlib.h>
#include <time.h>

#include "ir/clock.h"

// ---- waiting ----

bool device_should_stop(const tile_device *d) { return d->hooks.should_stop && d->hooks.should_stop(d->hooks.user); }

typedef tile_status (*Wait)(tile_device *d, void *what, tile_error **error);
typedef tile_status (*Query)(tile_device *d, void *what, bool *done, tile_error **error);

// Waits, unless the host wants to stop.
static tile_status wait_for(tile_device *d, void *what, Wait wait, Query query, tile_error **error) {
  if (!d->hooks.should_stop) return wait(d, what, error);
  for (long pause = 1000;; pause = pause < 2000000 ? pause * 2 : pause) {   // ns
    bool done = false;
    RETURN_IF_FAILED(query(d, what, &done, error));
    if (done) return TILE_OK;
    if (device_should_stop(d))
      return error_set(error, TILE_ERROR_CANCELLED, "stopped waiting for the device; what runs there goes on");
    nanosleep(&(struct timespec){0, pause}, NULL);
  }
}

tile_status tile_device_synchronize(tile_device *d, tile_error **error) {
  RETURN_IF_NULL(d, "device");
  return d->ops->synchronize(d, error);
}

// ---- streams ----

tile_status tile_stream_create(tile_device *d, void **stream, tile_error **error) {
  RETURN_IF_NULL(d, "device");
  RETURN_IF_NULL(stream, "stream");
  *stream = NULL;
  if (d->ops->streams) return d->ops->streams->create(d, stream, error);
  *stream = (void *)(uintptr_t)(16 * (1 + atomic_fetch_add(&d->num_streams, 1)));
  return TILE_OK;
}

tile_status tile_stream_destroy(tile_device *d, void *stream, tile_error **error) {
  if (!stream) return TILE_OK;
  RETURN_IF_NULL(d, "device");
  if (d->ops->streams) return d->ops->streams->destroy(d, stream, error);
  const uintptr_t number = (uintptr_t)stream;
  if (number % 16 || number / 16 > d->num_streams)
    return error_set(error, TILE_ERROR_USAGE, "%p is no stream that tile_stream_create made", stream);
  return TILE_OK;
}

tile_status tile_stream_synchronize(tile_device *d, void *stream, tile_error **error) {
  RETURN_IF_NULL(d, "device");
  if (!d->ops->streams) return TILE_OK;
  return wait_for(d, stream, d->ops->streams->synchronize, d->ops->streams->query, error);
}

tile_status tile_stream_query(tile_device *d, void *stream, bool *done, tile_error **error) {
  RETURN_IF_NULL(d, "device");
  RETURN_IF_NULL(done, "done");
  *done = true;
  return d->ops->streams ? d->ops->streams->query(d, stream, done, error) : TILE_OK;
}

// ---- events ----

struct tile_stream_event {
  tile_device *device;
  void *handle;                // the driver's; NULL: `at` holds
  double at;                   // ms on the host's clock; 0: it was not recorded
};

tile_status tile_stream_event_create(tile_device *d, tile_stream_event **event, tile_error **error) {
  RETURN_IF_NULL(d, "device");
  RETURN_IF_NULL(event, "event");
  *event = NULL;
  tile_stream_event *e = calloc(1, sizeof *e);
  if (!e) return error_no_memory(error);
  e->device = d;
  const tile_status status = d->ops->streams ? d->ops->streams->event_create(d, &e->handle, error) : TILE_OK;
  if (status == TILE_OK) *event = e;
  else free(e);
  return status;
}

void tile_stream_event_destroy(tile_stream_event *e) {
  if (!e) return;
  if (e->handle) e->device->ops->streams->event_destroy(e->device, e->handle);
  free(e);
}

void *tile_stream_event_handle(const tile_stream_event *e) { return e ? e->handle : NULL; }

tile_status tile_stream_event_record(tile_stream_event *e, void *stream, tile_error **error) {
  RETURN_IF_NULL(e, "event");
  e->at = clock_ms();
  return e->handle ? e->device->ops->streams->event_record(e->device, e->handle, stream, error) : TILE_OK;
}

tile_status tile_stream_wait_event(tile_device *d, void *stream, const tile_stream_event *e, tile_error **error) {
  RETURN_IF_NULL(d, "device");
  RETURN_IF_NULL(e, "event");
  return e->handle ? d->ops->streams->wait_event(d, stream, e->handle, error) : TILE_OK;
}

tile_status tile_stream_event_synchronize(tile_stream_event *e, tile_error **error) {
  RETURN_IF_NULL(e, "event");
  if (!e->handle) return TILE_OK;
  return wait_for(e->device, e->handle, e->device->ops->streams->event_synchronize,
                  e->device->ops->streams->event_query,
                  error);
}

tile_status tile_stream_event_query(const tile_stream_event *e, bool *done, tile_error **error) {
  RETURN_IF_NULL(e, "event");
  RETURN_IF_NULL(done, "done");
  *done = true;
  return e->handle ? e->device->ops->streams->event_query(e->device, e->handle, done, error) : TILE_OK;
}

tile_status tile_stream_event_elapsed_ms(const tile_stream_event *start, const tile_stream_event *end,
                                         double *milliseconds, tile_error **error) {
  RETURN_IF_NULL(start, "start");
  RETURN_IF_NULL(end, "end");
  RETURN_IF_NULL(milliseconds, "milliseconds");
  *milliseconds = 0;
  if (start->device != end->device)
    return error_set(error, TILE_ERROR_USAGE, "the two events are of two devices");
  if (!start->at || !end->at)
    return error_set(error, TILE_ERROR_USAGE, "an event that was never recorded has no time");
  if (start->handle)
    return start->device->ops->streams->event_elapsed(start->device, start->handle, end->handle, milliseconds, error);
  *milliseconds = end->at - start->at;
  return TILE_OK;
}
