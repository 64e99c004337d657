// tile_error: an allocation for the object and one for each string: it outlives the Context that it came from.
#include "runtime/rt/given.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tile_error {
  tile_status status;
  int cuda_result;
  tile_resource resource;      // of TILE_ERROR_RESOURCES
  uint64_t needed, limit;
  char *message;
  Message *messages;
  size_t num_messages;
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

// NULL if the caller wants no error.
static tile_error *set_cuda(tile_error **out, tile_status status, int cuda_result, const char *fmt, va_list ap) {
  tile_error *e = make(out, status);
  if (!e) return NULL;
  e->cuda_result = cuda_result;
  format_message(e, fmt, ap);
  return e;
}

tile_status error_set_cuda(tile_error **out, tile_status status, int cuda_result, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  set_cuda(out, status, cuda_result, fmt, ap);
  va_end(ap);
  return status;
}

tile_status error_which_kernel(tile_error **out, const char *where, const char *first, const char *second, bool more) {
  return error_set(out, TILE_ERROR_USAGE, "%s has several kernels (%s, %s%s): name one", where, first, second,
                   more ? ", …" : "");
}

tile_status error_no_kernel(tile_error **out, const char *where, const char *name, const char *near,
                            const char *const *names, size_t count) {
  char all[1024] = "";
  size_t at = 0, i = 0;
  for (; i < count && at + strlen(names[i]) + 8 < sizeof all; i++)
    at += (size_t)snprintf(all + at, sizeof all - at, "%s%s", i ? ", " : "", names[i]);
  return error_set(out, TILE_ERROR_USAGE, "%s has no kernel '%s'; %s%s%s %s %s%s", where, name,
                   near ? "did you mean " : "", near ? near : "", near ? "? There" : "there",
                   count == 1 ? "is" : "are", all, i < count ? ", …" : "");
}

tile_status error_resource(tile_error **out, tile_resource resource, uint64_t needed, uint64_t limit) {
  tile_error *e = out ? *out : NULL;
  if (e && e->status == TILE_ERROR_RESOURCES && !e->resource)
    e->resource = resource, e->needed = needed, e->limit = limit;
  return TILE_ERROR_RESOURCES;
}

static Message copy_message(const Message *from) {
  tile_diagnostic d = from->diagnostic;
  d.file = copy(d.file);
  d.text = copy(d.text);
  d.name = copy(d.name);
  tile_fixit *fixits = d.num_fixits ? calloc(d.num_fixits, sizeof *fixits) : NULL;
  if (!fixits) d.num_fixits = 0;
  for (size_t i = 0; i < d.num_fixits; i++) {
    fixits[i] = from->fixits[i];
    fixits[i].file = copy(fixits[i].file);
    fixits[i].text = copy(fixits[i].text);
  }
  return (Message){d, fixits};
}

static void free_message(const Message *m) {
  const void *strings[] = {m->diagnostic.file, m->diagnostic.text, m->diagnostic.name};
  for (size_t i = 0; i < m->diagnostic.num_fixits; i++)
    free((void *)(uintptr_t)m->fixits[i].file), free((void *)(uintptr_t)m->fixits[i].text);
  for (size_t i = 0; i < countof(strings); i++) free((void *)(uintptr_t)strings[i]);
  free((void *)(uintptr_t)m->fixits);
}

static void add_messages(tile_error *e, const Message *messages, size_t count) {
  e->messages = calloc(count ? count : 1, sizeof *e->messages);
  if (!e->messages) return;
  for (; e->num_messages < count; e->num_messages++)
    e->messages[e->num_messages] = copy_message(&messages[e->num_messages]);
}

tile_status error_set_messages(tile_error **out, tile_status status, const char *text, const Message *messages,
                               size_t count) {
  tile_error *e = make(out, status);
  if (!e) return status;
  e->message = copy(text);
  add_messages(e, messages, count);
  return status;
}

tile_status error_set_report(tile_error **out, tile_status status, int cuda_result, const Message *messages,
                             size_t count, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  tile_error *e = set_cuda(out, status, cuda_result, fmt, ap);
  va_end(ap);
  if (e) add_messages(e, messages, count);
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
  if (is_one && kind) *kind = e->resource;
  if (is_one && needed) *needed = e->needed;
  if (is_one && limit) *limit = e->limit;
  return is_one;
}

size_t tile_error_num_diagnostics(const tile_error *e) { return e ? e->num_messages : 0; }
static const Message *message_at(const tile_error *e, size_t i) {
  return e && i < e->num_messages ? &e->messages[i] : NULL;
}
bool tile_error_get_diagnostic(const tile_error *e, size_t i, tile_diagnostic *out) {
  const Message *m = message_at(e, i);
  return GIVE_OUT(tile_diagnostic, out, m ? &m->diagnostic : NULL);
}
bool tile_error_get_fixit(const tile_error *e, size_t diagnostic, size_t i, tile_fixit *out) {
  const Message *m = message_at(e, diagnostic);
  return GIVE_OUT(tile_fixit, out, m && i < m->diagnostic.num_fixits ? &m->fixits[i] : NULL);
}

// ---- statuses ----

static const struct { tile_status status; const char *name, *text; } statuses[] = {
#define STATUS(name, text) {name, #name, text}
    STATUS(TILE_OK, "no error"),
    STATUS(TILE_ERROR_PROGRAM, "an error in the kernel's source or in its types"),
    STATUS(TILE_ERROR_USAGE, "a wrong option or argument"),
    STATUS(TILE_ERROR_FILE, "a file could not be read or written"),
    STATUS(TILE_ERROR_ASSEMBLER, "the assembler or the driver refused the PTX"),
    STATUS(TILE_ERROR_RUN, "the kernel failed"),
    STATUS(TILE_ERROR_NO_DEVICE, "there is no such device"),
    STATUS(TILE_ERROR_DRIVER, "the CUDA driver returned an error"),
    STATUS(TILE_ERROR_NO_MEMORY, "out of memory"),
    STATUS(TILE_ERROR_CANCELLED, "stopped by the host, or the time given is over"),
    STATUS(TILE_ERROR_RESOURCES, "the kernel does not fit the machine"),
    STATUS(TILE_ERROR_INTERNAL, "a bug in the library"),
#undef STATUS
};
const char *tile_status_name(tile_status status) {
  for (size_t i = 0; i < countof(statuses); i++)
    if (statuses[i].status == status) return statuses[i].name;
  return "unknown status";
}
const char *tile_status_text(tile_status status) {
  for (size_t i = 0; i < countof(statuses); i++)
    if (statuses[i].status == status) return statuses[i].text;
  return "unknown status";
}

void tile_error_free(tile_error *e) {
  if (!e) return;
  for (size_t i = 0; i < e->num_messages; i++) free_message(&e->messages[i]);
  free(e->messages);
  free(e->message);
  free(e);
}
