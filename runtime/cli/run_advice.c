// What to try next after --check or --expect has failed.
#include "ir/fold.h"
#include "runtime/cli/advice.h"

#include <math.h>
#include <stdarg.h>

const char *advice_source(Arena *a, const Context *ctx, Span at) {
  enum { LONGEST = 48 };
  const SourceFile *f = source_locate(ctx, at.begin).file;
  const size_t n = at.end > at.begin ? at.end - at.begin : 0;
  const char *text = f ? f->text + (at.begin - f->base) : "";
  return f && n && n <= LONGEST && !memchr(text, '\n', n) ? arena_printf(a, "`%.*s`", (int)n, text) : "this expression";
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

double advice_number(const Value *v, uint64_t bits) {
  const Type *t = type_elem(v->type);
  return type_is_float(t) ? num_decode(scalar_num_format(t->scalar), bits) : (double)num_sext(bits, type_elem_bits(t));
}

double advice_rounding_of(const Comparison *c) { return (host_rtol(c->dtype, true) + 1e-6) * host_largest(c->ref); }

bool advice_is_right(const Advice *to) {
  const Comparison *c = to->c;
  const Writes *w = &to->rerun->writes;
  HostTensor now = w->buffer->initial;
  now.data = (uint8_t *)(uintptr_t)w->buffer->address;
  const double rounding = advice_rounding_of(c);
  if (rerun_bits(to->rerun) == to->rerun->held) return false;
  for (uint64_t i = 0; i < c->ref->count; i++) {
    const uint64_t at = c->places ? (uint64_t)c->places[i] : i;
    const double is = host_get(&now, at), want = host_get(c->ref, i);
    if (w->writers[at] != w->writers[w->element] || is == want || (isnan(is) && isnan(want))) continue;
    if (!(fabs(is - want) <= rounding)) return false;
  }
  return true;
}

// ---- the reasons, the most likely first ----

typedef struct {
  void (*look)(Advice *to);
  enum { OF_BUFFERS, OF_MODULE, OF_RUN } by;   // what it looks at: the module as well; the interpreter's run as well
} Reason;

static const Reason of_expectations[] = {
    {advise_unreached, OF_RUN}, {advise_kept, OF_RUN},     {advise_combining, OF_MODULE},  {advise_initial, OF_MODULE},
    {advise_order, OF_BUFFERS}, {advise_tf32, OF_MODULE},  {advise_causes, OF_RUN},        {advise_axes, OF_RUN},
    {advise_swap, OF_RUN},      {advise_padding, OF_RUN},  {advise_tied_element, OF_RUN},  {advise_extremes, OF_RUN},
    {advise_bins, OF_RUN},      {advise_rounding, OF_RUN}, {advise_programs, OF_RUN},      {advise_overflow, OF_RUN},
    {advise_argument, OF_RUN},  {advise_writer, OF_RUN},
};

// The interpreter says what is right.
static const Reason of_checks[] = {
    {advise_untouched, OF_BUFFERS}, {advise_combining, OF_MODULE}, {advise_overflow, OF_RUN},
};

static void look(Advice *to, const Reason *reasons, size_t n) {
  for (size_t i = 0; i < n && !to->notes; i++) {
    const bool can = reasons[i].by == OF_RUN ? to->rerun != NULL : reasons[i].by == OF_BUFFERS || to->c->module;
    if (can) reasons[i].look(to);
  }
}

// Whether the interpreter reproduces the error: its element is wrong too, and differs from the device's by no more than
// the error itself. Sums in another order may differ by that much.
static bool is_as_run(const Advice *to) {
  const double is = rerun_number(to->rerun), was = host_get(to->c->got, to->first_bad);
  const double want = host_get(to->c->ref, to->first_bad), rounding = advice_rounding_of(to->c);
  if (is == was || !isfinite(is) || !isfinite(was) || fabs(is - was) <= rounding) return true;
  return fabs(is - want) > rounding && fabs(is - was) <= fabs(was - want);
}

void run_advise(Buf *out, const Comparison *c, uint64_t first_bad, double error) {
  Rerun r;
  Advice to = {.out = out, .arena = out->arena, .c = c, .first_bad = first_bad, .error = error};
  const bool expects = !strcmp(c->what, "expect"), is_open = c->run->job != NULL;
  const uint64_t index = c->places ? (uint64_t)c->places[first_bad] : first_bad;
  if (is_open && rerun_open(&r, c->run) && rerun_find(&r, c->buffer, index)) to.rerun = &r;
  if (is_open && expects && r.error) {
    buf_printf(out, "note: the interpreter stops in this run:\n%s\n", r.error);
  } else if (expects) {
    if (to.rerun && !is_as_run(&to)) advise_tied_element(&to);
    if (to.rerun && !to.notes && !is_as_run(&to)) {
      buf_printf(out, "note: the interpreter computes %.9g there: --check compares with it\n", rerun_number(to.rerun));
      to.rerun = NULL;
    }
    if (!to.rerun || to.rerun->writes.has_others) advise_untouched(&to);
    look(&to, of_expectations, countof(of_expectations));
  } else {
    look(&to, of_checks, countof(of_checks));
  }
  if (is_open) rerun_close(&r);
}
