// Source files share one 32-bit address space: a position is one number. Each file takes size + 1 positions; the last
// is its end, where "unexpected end of file" points.
#include <string.h>

#include "ir/context.h"

static SourceFile *push_file(Context *ctx, SourceFile file) {
  SourceFile *f = arena_new(&ctx->arena, SourceFile);
  *f = file;
  if (ctx->num_files == ctx->cap_files)
    ctx->files = vec_grow_(&ctx->arena, (void *)ctx->files, sizeof *ctx->files, ctx->num_files, &ctx->cap_files);
  ctx->files[ctx->num_files++] = f;
  return f;
}

// The text begins with the file's line first_line; entries for the lines above it are 0.
static void find_lines(Context *ctx, SourceFile *f, uint32_t first_line) {
  uint32_t lines = first_line;
  for (size_t i = 0; i < f->size; i++) lines += f->text[i] == '\n';
  uint32_t *starts = arena_array(&ctx->arena, uint32_t, lines);
  for (size_t i = 0, n = first_line; i < f->size; i++)
    if (f->text[i] == '\n') starts[n++] = (uint32_t)i + 1;
  f->line_starts = starts;
  f->num_lines = lines;
}

static SourceFile *add(Context *ctx, const char *path, const char *text, size_t size) {
  if (size >= (size_t)UINT32_MAX - ctx->next_loc) {
    diag_error(ctx, (Span){0, 0}, "%s: file too large", path);
    return NULL;
  }
  SourceFile *f = push_file(ctx, (SourceFile){.path = intern(ctx, path),
                                              .text = arena_strndup(&ctx->arena, text, size),
                                              .size = size,
                                              .base = ctx->next_loc});
  ctx->next_loc += (Loc)size + 1;
  find_lines(ctx, f, 1);
  return f;
}

// Each range is a file of its own, which lies in the positions of f and is located before it.
static void add_ranges(Context *ctx, const SourceFile *f) {
  for (uint32_t i = 0; i < ctx->num_source_ranges; i++) {
    const SourceRange *r = &ctx->source_ranges[i], *next = i + 1 < ctx->num_source_ranges ? r + 1 : NULL;
    if (r->first_line > f->num_lines) return;
    const uint32_t begin = f->line_starts[r->first_line - 1];
    const bool ends = next && next->first_line <= f->num_lines;
    const size_t end = ends ? f->line_starts[next->first_line - 1] : f->size;
    find_lines(ctx, push_file(ctx, (SourceFile){.path = intern(ctx, r->file),
                                                .text = f->text + begin,
                                                .size = end - begin,
                                                .base = f->base + begin}), r->file_line);
  }
}

const SourceFile *source_add(Context *ctx, const char *path, const char *text, size_t size) {
  const SourceFile *f = add(ctx, path, text, size);
  if (f && ctx->ranges_path && !strcmp(path, ctx->ranges_path)) add_ranges(ctx, f);
  return f;
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

const char *source_text(const Context *ctx, Arena *a, Span span, uint32_t most) {
  const SourceFile *f = source_locate(ctx, span.begin).file;
  if (!f || span.end <= span.begin || span.end - span.begin > most) return NULL;
  const char *text = f->text + (span.begin - f->base);
  return memchr(text, '\n', span.end - span.begin) ? NULL : arena_strndup(a, text, span.end - span.begin);
}
