// Source files share one 32-bit address space: a position is one number. Each file takes size + 1 positions; the last
// is its end, where "unexpected end of file" points.
#include <string.h>

#include "ir/context.h"

static SourceFile *add(Context *ctx, const char *path, const char *text, size_t size) {
  if (size >= (size_t)UINT32_MAX - ctx->next_loc) {
    diag_error(ctx, (Span){0, 0}, "%s: file too large", path);
    return NULL;
  }
  SourceFile *f = arena_new(&ctx->arena, SourceFile);
  f->path = intern(ctx, path);
  f->text = arena_strndup(&ctx->arena, text, size);
  f->size = size;
  f->base = ctx->next_loc;
  ctx->next_loc += (Loc)size + 1;

  uint32_t lines = 1;
  for (size_t i = 0; i < size; i++) lines += f->text[i] == '\n';
  uint32_t *starts = arena_array(&ctx->arena, uint32_t, lines);
  for (size_t i = 0, n = 1; i < size; i++)
    if (f->text[i] == '\n') starts[n++] = (uint32_t)i + 1;
  f->line_starts = starts;
  f->num_lines = lines;

  if (ctx->num_files == ctx->cap_files)
    ctx->files = vec_grow_(&ctx->arena, (void *)ctx->files, sizeof *ctx->files, ctx->num_files, &ctx->cap_files);
  ctx->files[ctx->num_files++] = f;
  return f;
}

const SourceFile *source_add(Context *ctx, const char *path, const char *text, size_t size) {
  return add(ctx, path, text, size);
}

const SourceFile *source_add_embedded(Context *ctx, const char *path, const char *text, size_t size) {
  SourceFile *f = add(ctx, path, text, size);
  if (f) f->is_embedded = true;
  return f;
}

LineCol source_locate(const Context *ctx, Loc loc) {
  if (!loc || loc >= ctx->next_loc) return (LineCol){0};
  uint32_t lo = 0, hi = ctx->num_files;
  while (hi - lo > 1) {
    uint32_t mid = (lo + hi) / 2;
    if (ctx->files[mid]->base <= loc) lo = mid; else hi = mid;
  }
  const SourceFile *f = ctx->files[lo];
  uint32_t at = loc - f->base;
  lo = 0, hi = f->num_lines;
  while (hi - lo > 1) {
    uint32_t mid = (lo + hi) / 2;
    if (f->line_starts[mid] <= at) lo = mid; else hi = mid;
  }
  return (LineCol){f, lo + 1, at - f->line_starts[lo] + 1};
}
