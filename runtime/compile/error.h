// How work in a Context or an Arena ends: diagnostics, internal errors and lack of memory become a tile_error.
#ifndef TILE_RUNTIME_ERROR_H
#define TILE_RUNTIME_ERROR_H

#include "ir/context.h"
#include "runtime/rt/device.h"

// Copies all diagnostics of ctx, rendered with carets.
tile_status error_set_diagnostics(tile_error **out, tile_status status, Context *ctx, bool color);
// For work that a longjmp to ctx->on_ice has ended: `why` is what setjmp returned.
tile_status error_set_left(tile_error **out, int why, const Context *ctx, const char *doing);
// Runs work with an arena that is freed afterwards. If an arena runs out of memory, a longjmp ends the work with
// TILE_ERROR_NO_MEMORY; what the work holds by then must be in `user`, where the caller can free it.
typedef tile_status (*ScratchWork)(void *user, Arena *scratch, tile_error **error);
tile_status scratch_run(ArenaMemory memory, const char *doing, ScratchWork work, void *user, tile_error **error);
// The same with an existing arena, whose on_empty is restored afterwards.
tile_status scratch_contain(Arena *a, const char *doing, ScratchWork work, void *user, tile_error **error);
// Runs work that recurses over a program on a large stack (ir/deep_stack.h). The work must catch its own longjmps.
typedef tile_status (*DeepWork)(void *user, tile_error **error);
tile_status deep_run(const char *doing, DeepWork work, void *user, tile_error **error);
// Fill *out with the n-th diagnostic of ctx and with the n-th fix-it of a diagnostic; false past the end. The strings
// belong to ctx.
bool diagnostic_at(const Context *ctx, size_t n, tile_diagnostic *out);
bool fixit_at(const Context *ctx, size_t diagnostic, size_t n, tile_fixit *out);
size_t diagnostic_count(const Context *ctx);

#endif
