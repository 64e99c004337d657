// The root of a compilation: how it begins and ends, and the stop for internal errors.
#include "ir/context.h"

#include <stdio.h>
#include <stdlib.h>

void context_init(Context *ctx) { context_init_with(ctx, (ArenaMemory){0}); }

void context_init_with(Context *ctx, ArenaMemory memory) {
  *ctx = (Context){0};
  arena_init_with(&ctx->arena, memory, &ctx->on_ice);
  ctx->next_loc = 1;
  ctx->warnings = warning_defaults();
}

void context_free(Context *ctx) {
  arena_free(&ctx->arena);
  *ctx = (Context){0};
}

void ice(Context *ctx, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  ctx->ice_text = arena_vprintf(&ctx->arena, fmt, ap);
  va_end(ap);
  if (ctx->on_ice) longjmp(*ctx->on_ice, 1);
  fprintf(stderr, "tilec: internal error%s%s: %s\n", ctx->current_pass ? " in " : "",
          ctx->current_pass ? ctx->current_pass : "", ctx->ice_text);
  abort();
}
