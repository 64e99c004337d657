// tile_error: an allocation for the object and one for each string: it outlives the Context that it came from.
#include "runtime/rt/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tile_error {
  tile_status status;
  int cuda_result;
  tile_resource resource;      // of TILE_ERROR_RESOURCES
  uint64_t needed, limit;
  char *message;
  tile_diagnostic *diagnostics;
  size_t num_diagnostics;
};

static char *copy(const char *s) {
  if (!s) return NULL;
  size_t n = strlen(s) + 1;
  char *p = malloc(n);
  if (p) memcpy(p, s, n);
  return p;
}

static tile_error *make(tile_error **out, tile_status status) {
  if (!out || *out) return NULL;
  tile_error *e = calloc(1, sizeof *e);
  if (!e) return NULL;
  e->status = status;
  *out = e;
  return e;
}

static void format_message(tile_error *e, const char *fmt, va_list ap) {
  va_list again;
  va_copy(again, ap);
  int n = vsnprintf(NULL, 0, fmt, ap);
  e->message = n < 0 ? NULL : malloc((size_t)n + 1);
  if (e->message) vsnprintf(e->message, (size_t)n + 1, fmt, again);
  va_end(again);
}

tile_status error_set(tile_error **out, tile_status status, const char *fmt, ...) {
  tile_error *e = make(out, status);
  if (!e) return status;
  va_list ap;
  va_start(ap, fmt);
  format_message(e, fmt, ap);
  va_end(ap);
  return status;
}

tile_status error_set_cuda(tile_error **out, tile_status status, int cuda_result, const char *fmt, ...) {
  tile_error *e = make(out, status);
  if (!e) return status;
  e->cuda_result = cuda_result;
  va_list ap;
  va_start(ap, fmt);
  format_message(e, fmt, ap);
  va_end(ap);
  return status;
}

tile_status error_resource(tile_error **out, tile_resource resource, uint64_t needed, uint64_t limit) {
  tile_error *e = out ? *out : NULL;
  if (e && e->status == TILE_ERROR_RESOURCES && !e->resource) e->resource = resource, e->needed = needed, e->limit = limit;
  return TILE_ERROR_RESOURCES;
}

tile_status error_set_messages(tile_error **out, tile_status status, const char *message,
                               const tile_diagnostic *diagnostics, size_t count) {
  tile_error *e = make(out, status);
  if (!e) return status;
  e->message = copy(message);
  e->diagnostics = calloc(count ? count : 1, sizeof *e->diagnostics);
  if (!e->diagnostics) return status;
  for (; e->num_diagnostics < count; e->num_diagnostics++) {
    tile_diagnostic d = diagnostics[e->num_diagnostics];
    d.file = copy(d.file);
    d.text = copy(d.text);
    e->diagnostics[e->num_diagnostics] = d;
  }
  return status;
}

tile_status error_pass_on(tile_error **out, tile_error *why) {
  tile_status status = why ? why->status : TILE_ERROR_NO_MEMORY;   // there was none for the error itself
  if (out && !*out) *out = why;
  else tile_error_free(why);
  return status;
}

tile_status tile_error_status(const tile_error *e) { return e ? e->status : TILE_OK; }
const char *tile_error_message(const tile_error *e) { return !e ? "" : e->message ? e->message : "out of memory"; }
int tile_error_cuda_result(const tile_error *e) { return e ? e->cuda_result : 0; }
bool tile_error_resource(const tile_error *e, tile_resource *kind, uint64_t *needed, uint64_t *limit) {
  const bool is_one = e && e->status == TILE_ERROR_RESOURCES && e->resource;
  if (is_one) *kind = e->resource, *needed = e->needed, *limit = e->limit;
  return is_one;
}
size_t tile_error_num_diagnostics(const tile_error *e) { return e ? e->num_diagnostics : 0; }
tile_diagnostic tile_error_diagnostic(const tile_error *e, size_t i) {
  return e && i < e->num_diagnostics ? e->diagnostics[i] : (tile_diagnostic){0};
}

void tile_error_free(tile_error *e) {
  if (!e) return;
  for (size_t i = 0; i < e->num_diagnostics; i++) {
    free((void *)(uintptr_t)e->diagnostics[i].file);
    free((void *)(uintptr_t)e->diagnostics[i].text);
  }
  free(e->diagnostics);
  free(e->message);
  free(e);
}
