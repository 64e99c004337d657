// Errors with the chain of calls that led to them, and hints in the words of the kernel that they are about.
#include "frontend/lower/builtins.h"

#include <string.h>

void *lower_hint_wait(Lower *L) {
  return lower_hint(L, "an accumulator becomes a tensor by a wait: x = warpgroup_mma_wait(0, deps=(acc,))");
}

// The user's function that is lowered: the prelude is called by one.
static const CtFunction *users_function(Lower *L) {
  const Frame *f = L->frame;
  while (f && f->caller && lower_in_prelude(L, f->fn->def->span)) f = f->caller;
  return f ? f->fn : NULL;
}

bool lower_is_bare(Lower *L) {
  const CtFunction *fn = users_function(L);
  return fn && fn->is_bare;
}

const char *lower_prefix(Arena *a, const CtFunction *fn) {
  const char *gluon = NULL;
  if (fn && fn->is_bare) return "";
  for (const CtEnv *e = fn ? fn->env : NULL; e; e = e->parent)
    for (uint32_t i = 0; i < e->count; i++) {
      const CtValue *v = e->bindings[i].value;
      if (v->kind != CT_MODULE || !v->module->prefix) continue;
      if (!strcmp(v->module->prefix, "tl")) return arena_printf(a, "%s.", e->bindings[i].name);
      if (!strcmp(v->module->prefix, "gl")) gluon = e->bindings[i].name;
    }
  return gluon ? arena_printf(a, "%s.", gluon) : "tl.";
}

const char *lower_decorator(Lower *L) { return lower_is_bare(L) ? "@jit" : L->is_gluon ? "@gluon.jit" : "@triton.jit"; }

// The text in the spelling of the function that is lowered.
static const char *spelled(Lower *L, const char *text) {
  return strstr(text, "tl.") ? diag_respelled(L->arena, text, lower_prefix(L->arena, users_function(L))) : text;
}

void *lower_hint(Lower *L, const char *fmt, ...) {
  va_list ap;
  if (L->ctx->caller != CALLER_TILEC) fmt = diag_with_fields(L->arena, fmt);
  va_start(ap, fmt);
  const char *text = spelled(L, arena_vprintf(L->arena, fmt, ap));
  va_end(ap);
  static const char jit[] = "@triton.jit";
  Buf b = buf_make(L->arena);
  for (const char *s = text; *s;) {
    if (!strncmp(s, jit, strlen(jit))) buf_puts(&b, lower_decorator(L)), s += strlen(jit);
    else buf_putc(&b, *s++);
  }
  diag_note(L->ctx, (Span){0, 0}, "%s", buf_str(&b));
  return NULL;
}

static void report(Lower *L, Span span, bool once, const char *text) {
  // The prelude's lines mean nothing to its user, so an error there is reported at the call that entered the prelude.
  const CallSite *chain = L->b.inlined_at;
  const char *through = NULL;
  while (chain && lower_in_prelude(L, span)) {
    span = chain->span;
    through = chain->function;
    chain = chain->outer;
  }
  (once ? diag_error_once : diag_error)(L->ctx, span, "%s", spelled(L, text));
  if (through) lower_hint(L, "inside `%s`, which is written in the language itself", through);
  const CallSite *last = NULL;
  uint32_t shown = 0;
  for (; chain; chain = chain->outer) {
    const bool repeats = last && last->span.begin == chain->span.begin && last->span.end == chain->span.end;
    if (repeats || (++shown > 8 && chain->outer)) continue;
    last = chain;
    diag_note(L->ctx, chain->span, "in the call of %s here", chain->function);
  }
}

Term *lower_error(Lower *L, Span span, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  report(L, span, false, arena_vprintf(L->arena, fmt, ap));
  va_end(ap);
  return NULL;
}

Term *lower_error_once(Lower *L, Span span, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  report(L, span, true, arena_vprintf(L->arena, fmt, ap));
  va_end(ap);
  return NULL;
}
