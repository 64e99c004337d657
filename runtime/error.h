// The error object of the public interface, made by everything in this room. `out` may be NULL everywhere.
#ifndef TILE_RUNTIME_ERROR_H
#define TILE_RUNTIME_ERROR_H

#include "ir/context.h"
#include "runtime/tile/tile.h"

// Puts a new error into *out and returns status, so that callers can `return error_set(…)`. An error already there is kept
// as the cause: the first one wins.
tile_status error_set(tile_error **out, tile_status status, const char *fmt, ...) PRINTF_LIKE(3, 4);
tile_status error_set_cuda(tile_error **out, tile_status status, int cuda_result, const char *fmt, ...) PRINTF_LIKE(4, 5);
// All diagnostics of ctx, rendered with carets and copied.
tile_status error_set_diagnostics(tile_error **out, tile_status status, Context *ctx, bool color);
// The n-th diagnostic of ctx in the public form; strings stay ctx's.
tile_diagnostic diagnostic_at(const Context *ctx, size_t n);
size_t diagnostic_count(const Context *ctx);

#endif
