// Errors that a compilation reports: a Context's diagnostics as a tile_error.
#ifndef TILE_RUNTIME_ERROR_H
#define TILE_RUNTIME_ERROR_H

#include "ir/context.h"
#include "runtime/rt/device.h"

// Returns the status of a call from the enclosing function if the call has failed.
#define RETURN_IF_FAILED(call)                    \
  do {                                            \
    tile_status status_ = (call);                 \
    if (status_ != TILE_OK) return status_;       \
  } while (0)

// All diagnostics of ctx, rendered with carets and copied.
tile_status error_set_diagnostics(tile_error **out, tile_status status, Context *ctx, bool color);
// A compilation left by longjmp to ctx->on_ice: setjmp gave `why`.
tile_status error_set_left(tile_error **out, int why, const Context *ctx, const char *doing);
// Work with memory of its own, which is given back afterwards. Running out of memory in an arena ends it with
// TILE_ERROR_NO_MEMORY, by longjmp: it must hold nothing then that is not in `user` for the caller to give back.
typedef tile_status (*ScratchWork)(void *user, Arena *scratch, tile_error **error);
tile_status scratch_run(ArenaMemory memory, const char *doing, ScratchWork work, void *user, tile_error **error);
// The same with an arena that is there. Where it led to when it was empty is put back afterwards.
tile_status scratch_contain(Arena *a, const char *doing, ScratchWork work, void *user, tile_error **error);
// Work that recurses over a program, on as much stack as that needs (ir/deep_stack.h). It must catch its own longjmps.
typedef tile_status (*DeepWork)(void *user, tile_error **error);
tile_status deep_run(const char *doing, DeepWork work, void *user, tile_error **error);
// The n-th diagnostic of ctx in the public form; strings stay ctx's.
tile_diagnostic diagnostic_at(const Context *ctx, size_t n);
size_t diagnostic_count(const Context *ctx);

#endif
