// What to try next after --check or --expect has failed.
#include "runtime/cli/advice.h"

#include <stdarg.h>

// ---- elements that nothing was stored to ----

// The end of the buffer, from the first wrong element on, is as it was before the run.
static bool advise_untouched(Buf *out, const Comparison *c, uint64_t first_bad) {
  const HostTensor *was = c->initial, *now = c->got;
  const uint64_t bytes = host_elem_bytes(now->dtype), from = first_bad * bytes;
  if (memcmp(now->data + from, was->data + from, (now->count - first_bad) * bytes)) return false;
  if (!first_bad) {
    buf_printf(out, "note: %s has its initial values: did the kernel store to it?\n", c->name);
  } else if (now->rank == 1) {
    buf_printf(out, "note: %s[%llu:%llu] has its initial values: do the grid's programs and the masks cover it?\n",
               c->name, (unsigned long long)first_bad, (unsigned long long)now->count);
  } else {
    buf_printf(out, "note: %s has its initial values from ", c->name);
    run_print_index(out, now, first_bad);
    buf_puts(out, " on: do the grid's programs and the masks cover them?\n");
  }
  return true;
}

// The last columns of all rows.
static bool advise_untouched_columns(Buf *out, const Comparison *c) {
  const HostTensor *was = c->initial, *now = c->got;
  const uint64_t width = now->rank > 1 ? (uint64_t)now->shape[now->rank - 1] : 0, bytes = host_elem_bytes(now->dtype);
  uint64_t from = 0;
  for (uint64_t i = 0; width && i < now->count; i++)
    if (memcmp(now->data + i * bytes, was->data + i * bytes, bytes)) from = i % width + 1 > from ? i % width + 1 : from;
  bool matters = false;   // what is expected there is something else
  for (uint64_t i = 0; from && from < width && i < now->count; i++)
    matters |= i % width >= from && memcmp(now->data + i * bytes, c->ref->data + i * bytes, bytes);
  if (!matters || c->ref->dtype != now->dtype || c->ref->count != now->count) return false;
  buf_printf(out, "note: the columns %llu to %llu of %s have their initial values: do the block and the masks cover "
             "them?\n", (unsigned long long)from, (unsigned long long)width - 1, c->name);
  return true;
}

// ---- the notes ----

const char *advice_source(Arena *a, const Context *ctx, Span at) {
  enum { LONGEST = 48 };
  const SourceFile *f = source_locate(ctx, at.begin).file;
  const size_t n = at.end > at.begin ? at.end - at.begin : 0;
  const char *text = f ? f->text + (at.begin - f->base) : "";
  return f && n && n <= LONGEST && !memchr(text, '\n', n) ? arena_strndup(a, text, n) : "this expression";
}

void advice_note(Advice *to, Context *ctx, Span at, const char *fmt, ...) {
  Diag *diags = ctx->diags, *last = ctx->last_diag;
  diag_forget(ctx);
  va_list ap;
  va_start(ap, fmt);
  diag_tell(ctx, at, "%s", arena_vprintf(&ctx->arena, fmt, ap));
  va_end(ap);
  const char *text = diag_render(ctx, false);
  if (!strstr(buf_str(to->out), text)) buf_puts(to->out, text);
  to->notes++;
  diag_forget(ctx);
  ctx->diags = diags;
  ctx->last_diag = last;
}

// Runs the kernel again to find the reason. Integer overflow is suggested only where the error is large.
static void advise_by_rerun(Advice *to, const Comparison *c, uint64_t first_bad, double error, bool expects) {
  enum { SMALL = 32 };
  Rerun r;
  if (rerun_open(&r, c->run) && rerun_find(&r, c->buffer, c->places ? (uint64_t)c->places[first_bad] : first_bad)) {
    if (expects) advise_unstored(to, &r, c, first_bad);
    if (!to->notes) advise_causes(to, &r, c, first_bad);
    if (!to->notes && expects) advise_axes(to, r.session.program->module);
    if (!to->notes && expects) advise_tied_element(to, &r);
    if (!to->notes && expects) advise_padding(to, &r);
    const bool asks = !to->notes && to->has_overflow && !host_is_float(c->dtype) && error >= SMALL;
    if (asks && !c->run->options->debug) buf_puts(to->out, "note: --debug stops where integers overflow\n");
  }
  rerun_close(&r);
}

void run_advise(Buf *out, const Comparison *c, uint64_t first_bad, double error) {
  Advice to = {.out = out, .arena = out->arena};
  const bool expects = !strcmp(c->what, "expect");   // otherwise the interpreter says what is right
  if (advise_untouched(out, c, first_bad) || advise_untouched_columns(out, c)) return;
  if (c->module) advise_combining(&to, c->module);
  if (!to.notes && expects) advise_initial(&to, c);
  if (!to.notes && expects) advise_order(&to, c);
  if (!to.notes && expects) advise_tf32(&to, c);
  if (!to.notes && c->run->job) advise_by_rerun(&to, c, first_bad, error, expects);
}
