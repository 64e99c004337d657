// Errors that a compilation reports: a Context's diagnostics as a tile_error.
#ifndef TILE_RUNTIME_ERROR_H
#define TILE_RUNTIME_ERROR_H

#include "ir/context.h"
#include "runtime/rt/error.h"

// All diagnostics of ctx, rendered with carets and copied.
tile_status error_set_diagnostics(tile_error **out, tile_status status, Context *ctx, bool color);
// A compilation left by longjmp to ctx->on_ice: setjmp gave `why`.
tile_status error_set_left(tile_error **out, int why, const Context *ctx, const char *doing);
// The n-th diagnostic of ctx in the public form; strings stay ctx's.
tile_diagnostic diagnostic_at(const Context *ctx, size_t n);
size_t diagnostic_count(const Context *ctx);

#endif
