// The error object of the public interface. `out` may be NULL everywhere.
#ifndef TILE_RUNTIME_RT_ERROR_H
#define TILE_RUNTIME_RT_ERROR_H

#include "ir/base.h"
#include "runtime/tile/rt.h"

// Returns the status of a call from the enclosing function if the call has failed.
#define RETURN_IF_FAILED(call)                    \
  do {                                            \
    tile_status status_ = (call);                 \
    if (status_ != TILE_OK) return status_;       \
  } while (0)

// Puts a new error into *out and returns status, for `return error_set(…)`. An error that is there already is the
// cause: it stays.
tile_status error_set(tile_error **out, tile_status status, const char *fmt, ...) PRINTF_LIKE(3, 4);
tile_status error_set_cuda(tile_error **out, tile_status status, int cuda_result, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
// Adds to an error of status TILE_ERROR_RESOURCES, once, what does not fit; returns that status.
tile_status error_resource(tile_error **out, tile_resource resource, uint64_t needed, uint64_t limit);
static inline tile_status error_no_memory(tile_error **out) {
  return error_set(out, TILE_ERROR_NO_MEMORY, "out of memory");
}
// A caller that names no kernel, where there is more than one: the names of two, and whether there are more.
tile_status error_which_kernel(tile_error **out, const char *where, const char *first, const char *second, bool more);
// A caller names a kernel that is not there; `names` are those that are, `near` is the one that may be meant, or NULL.
tile_status error_no_kernel(tile_error **out, const char *where, const char *name, const char *near,
                            const char *const *names, size_t count);
// Gives `why`, which must be an error, to the caller of an API function; frees it if the caller wants none.
tile_status error_pass_on(tile_error **out, tile_error *why);
// A diagnostic and its fix-its, num_fixits of them.
typedef struct { tile_diagnostic diagnostic; const tile_fixit *fixits; } Message;
// A message with the diagnostics that it is made of; all strings are copied.
tile_status error_set_messages(tile_error **out, tile_status status, const char *text, const Message *messages,
                               size_t count);
// The same for a failure of the driver.
tile_status error_set_report(tile_error **out, tile_status status, int cuda_result, const Message *messages,
                             size_t count, const char *fmt, ...) PRINTF_LIKE(6, 7);

#endif
