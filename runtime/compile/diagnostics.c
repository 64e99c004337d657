// Diagnostics in the public form, and how contained work ends.
#include <setjmp.h>
#include <string.h>

#include "ir/c_locale.h"
#include "ir/deep_stack.h"
#include "runtime/compile/error.h"

size_t diagnostic_count(const Context *ctx) {
  size_t n = 0;
  for (const Diag *d = ctx->diags; d; d = d->next) n++;
  return n;
}

// The n-th of ctx, and in *owner the number of the message that it would be a note of, or −1.
static const Diag *find(const Context *ctx, size_t n, int32_t *owner) {
  const Diag *d = ctx->diags;
  *owner = -1;
  for (size_t i = 0; d && i < n; i++, d = d->next)
    if (d->level != DIAG_NOTE || d->is_alone) *owner = d->level == DIAG_NOTE ? -1 : (int32_t)i;
  return d;
}

// The end of a span in the file of its beginning; {NULL} if it has none.
static LineCol end_of(const Context *ctx, Span span, LineCol begin) {
  const LineCol end = span.end >= span.begin ? source_locate(ctx, span.end) : (LineCol){0};
  return begin.file && end.file == begin.file ? end : (LineCol){0};
}

bool diagnostic_at(const Context *ctx, size_t n, tile_diagnostic *out) {
  int32_t owner;
  const Diag *d = find(ctx, n, &owner);
  if (!d) return false;
  static const tile_level levels[] = {[DIAG_ERROR] = TILE_LEVEL_ERROR, [DIAG_WARNING] = TILE_LEVEL_WARNING,
                                      [DIAG_REMARK] = TILE_LEVEL_REMARK, [DIAG_NOTE] = TILE_LEVEL_NOTE};
  const LineCol at = source_locate(ctx, d->span.begin);
  const LineCol end = d->span.end > d->span.begin ? end_of(ctx, d->span, at) : (LineCol){0};
  size_t num_fixits = 0;
  for (const Fixit *f = d->fixits; f; f = f->next) num_fixits++;
  *out = (tile_diagnostic){.struct_size = sizeof *out,
                           .level = levels[d->level],
                           .note_of = d->level == DIAG_NOTE && !d->is_alone ? owner : -1,
                           .file = at.file ? at.file->path : NULL,
                           .line = at.line,
                           .column = at.col,
                           .end_line = end.line,
                           .end_column = end.col,
                           .text = d->text,
                           .name = d->warning != WARN_NONE ? warning_info[d->warning].name : NULL,
                           .num_fixits = num_fixits};
  return true;
}

bool fixit_at(const Context *ctx, size_t diagnostic, size_t n, tile_fixit *out) {
  int32_t owner;
  const Diag *d = find(ctx, diagnostic, &owner);
  const Fixit *f = d ? d->fixits : NULL;
  for (; f && n; f = f->next) n--;
  if (!f) return false;
  const LineCol at = source_locate(ctx, f->span.begin), end = end_of(ctx, f->span, at);
  *out = (tile_fixit){.struct_size = sizeof *out,
                      .file = at.file ? at.file->path : NULL,
                      .line = at.line,
                      .column = at.col,
                      .end_line = end.line,
                      .end_column = end.col,
                      .text = f->text};
  return true;
}

tile_status scratch_contain(Arena *a, const char *doing, ScratchWork work, void *user, tile_error **error) {
  IN_C_LOCALE;
  jmp_buf *const *const before = a->on_empty;
  jmp_buf on_empty, *const here = &on_empty;
  tile_status status;
  if (setjmp(on_empty)) {
    status = error_set(error, TILE_ERROR_NO_MEMORY, "out of memory while %s", doing);
  } else {
    a->on_empty = &here;
    status = work(user, a, error);
  }
  a->on_empty = before;
  return status;
}

tile_status scratch_run(ArenaMemory memory, const char *doing, ScratchWork work, void *user, tile_error **error) {
  Arena a;
  arena_init_with(&a, memory, NULL);
  tile_status status = scratch_contain(&a, doing, work, user, error);
  arena_free(&a);
  return status;
}

typedef struct { DeepWork work; void *user; tile_error **error; tile_status status; } Deep;

static void run_deep(void *user) {
  Deep *d = user;
  d->status = d->work(d->user, d->error);
}

tile_status deep_run(const char *doing, DeepWork work, void *user, tile_error **error) {
  Deep d = {work, user, error, TILE_OK};
  if (deep_stack_run(run_deep, &d)) return d.status;
  return error_set(error, TILE_ERROR_NO_MEMORY, "no memory for a thread with enough stack while %s", doing);
}

typedef struct { tile_status status; Context *ctx; bool color; } Messages;

static tile_status set_messages(void *user, Arena *scratch, tile_error **out) {
  const Messages *m = user;
  Context *ctx = m->ctx;
  (void)scratch;
  size_t count = diagnostic_count(ctx);
  Message *all = arena_array(&ctx->arena, Message, count + 1);
  for (size_t i = 0; i < count; i++) {
    diagnostic_at(ctx, i, &all[i].diagnostic);
    const size_t num_fixits = all[i].diagnostic.num_fixits;
    tile_fixit *fixits = arena_array(&ctx->arena, tile_fixit, num_fixits + 1);
    for (size_t k = 0; k < num_fixits; k++) fixit_at(ctx, i, k, &fixits[k]);
    all[i].fixits = fixits;
  }
  const char *text = diag_render(ctx, m->color);
  size_t size = strlen(text);
  return error_set_messages(out, m->status,
                            arena_strndup(&ctx->arena, text, size && text[size - 1] == '\n' ? size - 1 : size), all,
                            count);
}

tile_status error_set_diagnostics(tile_error **out, tile_status status, Context *ctx, bool color) {
  static const tile_resource resources[] = {[FIT_SHARED] = TILE_RESOURCE_SHARED,
                                            [FIT_REGISTERS] = TILE_RESOURCE_REGISTERS,
                                            [FIT_THREADS] = TILE_RESOURCE_THREADS,
                                            [FIT_PARAMETERS] = TILE_RESOURCE_PARAMETERS,
                                            [FIT_CLUSTER] = TILE_RESOURCE_CLUSTER,
                                            [FIT_GRID] = TILE_RESOURCE_GRID};
  const Misfit *m = &ctx->misfit;
  Messages messages = {m->what ? TILE_ERROR_RESOURCES : status, ctx, color};
  status = scratch_contain(&ctx->arena, "writing messages", set_messages, &messages, out);
  if (status == TILE_ERROR_RESOURCES) error_resource(out, resources[m->what], m->needed, m->limit);
  return status;
}

tile_status error_set_left(tile_error **out, int why, const Context *ctx, const char *doing) {
  if (why == ARENA_EMPTY) return error_set(out, TILE_ERROR_NO_MEMORY, "out of memory while %s", doing);
  if (why == CONTEXT_STOPPED) return error_set(out, TILE_ERROR_CANCELLED, "stopped while %s", doing);
  return error_set(out, TILE_ERROR_INTERNAL, "internal error while %s: %s", doing, ctx->ice_text ? ctx->ice_text : "?");
}
