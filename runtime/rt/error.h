// The error object of the public interface. `out` may be NULL everywhere.
#ifndef TILE_RUNTIME_RT_ERROR_H
#define TILE_RUNTIME_RT_ERROR_H

#include "ir/base.h"
#include "runtime/tile/rt.h"

// Puts a new error into *out and returns status, so that callers can `return error_set(…)`. An error already there is
// kept as the cause: the first one wins.
tile_status error_set(tile_error **out, tile_status status, const char *fmt, ...) PRINTF_LIKE(3, 4);
tile_status error_set_cuda(tile_error **out, tile_status status, int cuda_result, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
static inline tile_status error_no_memory(tile_error **out) {
  return error_set(out, TILE_ERROR_NO_MEMORY, "out of memory");
}
// Hands `why`, which must be an error, over to the caller of an API function; frees it if the caller wants none.
tile_status error_pass_on(tile_error **out, tile_error *why);
// A message with the diagnostics that it is made of; all strings are copied.
tile_status error_set_messages(tile_error **out, tile_status status, const char *message,
                               const tile_diagnostic *diagnostics, size_t count);

#endif
