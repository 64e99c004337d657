// Diagnostics, recorded in order. diag_render.c makes text of them.
//
// diag.c and source.c call each other: a diagnostic looks up its line, and a file that is too large is a diagnostic.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ir/buf.h"
#include "ir/context.h"

enum { LONGEST_TEXT = 4000 };

// A name of megabytes is not for reading.
static char *shortened(char *text) {
  if (strlen(text) <= LONGEST_TEXT) return text;
  uint32_t end = LONGEST_TEXT;
  while ((text[end] & 0xc0) == 0x80) end--;
  memcpy(text + end, "…", sizeof "…");
  return text;
}

static bool is_same(Span a, Span b) { return a.begin == b.begin && a.end == b.end; }

// The error with that text, at that place or anywhere; NULL if there is none.
static Diag *known_error(const Context *ctx, Span span, bool anywhere, const char *text) {
  for (Diag *d = ctx->diags; d; d = d->next)
    if (d->level == DIAG_ERROR && (anywhere || is_same(d->span, span)) && !strcmp(d->text, text)) return d;
  return NULL;
}

// The last note of the message d, or d.
static Diag *end_of(Diag *d) {
  while (d->next && d->next->level == DIAG_NOTE && !d->next->is_alone) d = d->next;
  return d;
}

// Notes another place of the error, unless the error or one of its notes is there, or it has many notes.
static void add_place(Context *ctx, Diag *error, Span span) {
  enum { MOST = 8 };
  Diag *const last = end_of(error);
  uint32_t notes = 0;
  for (const Diag *d = error; d != last->next; d = d->next, notes++)
    if (is_same(d->span, span) || notes >= MOST) return;
  Diag *note = arena_new(&ctx->arena, Diag);
  *note = (Diag){.level = DIAG_NOTE, .warning = WARN_NONE, .span = span, .text = "the same here", .next = last->next};
  last->next = note;
  if (ctx->last_diag == last) ctx->last_diag = note;
}

static bool ends_name(const char *text, const char *at) {
  return at > text && (at[-1] == '_' || at[-1] == '.' || at[-1] == '/' || isalnum((unsigned char)at[-1]));
}

const char *diag_respelled(Arena *a, const char *text, const char *prefix) {
  if (!strcmp(prefix, "tl.") || !strstr(text, "tl.")) return text;
  Buf b = buf_make(a);
  for (const char *s = text; *s;) {
    if (!strncmp(s, "tl.", 3) && isalpha((unsigned char)s[3]) && !ends_name(text, s)) buf_puts(&b, prefix), s += 3;
    else buf_putc(&b, *s++);
  }
  return buf_str(&b);
}

// The field of the library for the option that begins here with a dash, and *size, what the text has of it; NULL: none.
static const char *field_at(Arena *a, const char *text, const char *at, size_t *size) {
  static const struct { char letter; const char *field; } letters[] = {
      {'D', "defines"}, {'I', "include_paths"}, {'n', "kernel"}};
  if (at > text && !strchr(" (\"", at[-1])) return NULL;
  *size = 2;
  for (uint32_t i = 0; i < countof(letters); i++)
    if (at[1] == letters[i].letter && !isalnum((unsigned char)at[2])) return letters[i].field;
  if (at[1] != '-' || !islower((unsigned char)at[2])) return NULL;
  *size += strspn(at + 2, "abcdefghijklmnopqrstuvwxyz0123456789-");
  char *field = arena_strndup(a, at + 2, *size - 2);
  for (char *c = field; *c; c++)
    if (*c == '-') *c = '_';
  return field;
}

const char *diag_with_fields(Arena *a, const char *text) {
  Buf b = buf_make(a);
  if (!strchr(text, '-') || strstr(text, "`tilec ")) return text;
  for (const char *s = text; *s;) {
    size_t size;
    const char *field = *s == '-' ? field_at(a, text, s, &size) : NULL;
    if (field) buf_printf(&b, "`%s`", field), s += size;
    else buf_putc(&b, *s++);
  }
  return buf_str(&b);
}

// once: an error of the same text is the same error wherever it is.
static Diag *record(Context *ctx, DiagLevel level, Span span, bool once, const char *fmt, va_list ap) {
  if (level != DIAG_NOTE) {
    ctx->last_message = NULL;
    ctx->is_repeated = false;
  }
  // Past the limit nothing is kept: a note would belong to an error that is not shown.
  if (ctx->num_errors > diag_limit(ctx)) {
    ctx->num_errors += level == DIAG_ERROR;
    return NULL;
  }
  if (ctx->is_repeated) return NULL;
  if (ctx->caller != CALLER_TILEC) fmt = diag_with_fields(&ctx->arena, fmt);
  char *text = arena_vprintf(&ctx->arena, fmt, ap);
  if (ctx->is_bare) text = (char *)diag_respelled(&ctx->arena, text, "");
  if (level == DIAG_ERROR) {
    text = shortened(text);
    Diag *known = known_error(ctx, span, once, text);
    if (known) {
      add_place(ctx, known, span);
      ctx->is_repeated = true;
      ctx->num_repeated++;
      return NULL;
    }
    if (ctx->num_errors++) ctx->misfit.what = FIT_ALL;
    if (ctx->num_errors > diag_limit(ctx)) return NULL;
  }
  Diag *d = arena_new(&ctx->arena, Diag);
  d->level = level;
  d->warning = WARN_NONE;
  d->span = span;
  d->text = text;
  if (ctx->last_diag) ctx->last_diag->next = d; else ctx->diags = d;
  ctx->last_diag = d;
  if (level != DIAG_NOTE) ctx->last_message = d;
  return d;
}

bool diag_error(Context *ctx, Span span, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  record(ctx, DIAG_ERROR, span, false, fmt, ap);
  va_end(ap);
  return false;
}

bool diag_error_once(Context *ctx, Span span, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  record(ctx, DIAG_ERROR, span, true, fmt, ap);
  va_end(ap);
  return false;
}

static bool same_warning(const void *kept, const void *key) {
  const Diag *a = kept, *b = key;
  return a->warning == b->warning && is_same(a->span, b->span) && !strcmp(a->text, b->text);
}

bool diag_warning(Context *ctx, Warning w, Span span, const char *fmt, ...) {
  if (!(ctx->warnings.on >> w & 1) || warning_is_ignored(ctx, w, span)) return false;
  const SourceFile *file = source_locate(ctx, span.begin).file;
  if (file && file->is_embedded) return false;
  va_list ap, again;
  va_start(ap, fmt);
  va_copy(again, ap);
  const Diag key = {.warning = w, .span = span, .text = arena_vprintf(&ctx->arena, fmt, again)};
  va_end(again);
  MapSlot *known = map_find(&ctx->arena, &ctx->warned, map_hash_number((uint64_t)span.begin << 32 | w), &key,
                            same_warning);
  Diag *d = NULL;
  if (!known->key) {
    d = arena_new(&ctx->arena, Diag);
    *d = key;
    known->key = d;
    d = record(ctx, DIAG_WARNING, span, false, fmt, ap);
  }
  va_end(ap);
  if (!d) return false;
  d->warning = w;
  if (ctx->warnings.as_error >> w & 1) d->level = DIAG_ERROR, ctx->has_raised = true;
  return true;
}

void diag_remark(Context *ctx, Span span, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  record(ctx, DIAG_REMARK, span, false, fmt, ap);
  va_end(ap);
}

void diag_note(Context *ctx, Span span, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  record(ctx, DIAG_NOTE, span, false, fmt, ap);
  va_end(ap);
}

void diag_tell(Context *ctx, Span span, const char *fmt, ...) {
  va_list ap;
  ctx->is_repeated = false;
  va_start(ap, fmt);
  Diag *d = record(ctx, DIAG_NOTE, span, false, fmt, ap);
  va_end(ap);
  if (d) d->is_alone = true;
  ctx->last_message = NULL;
}

void diag_fixit(Context *ctx, Span span, const char *text) {
  if (!ctx->last_message) return;
  Fixit *f = arena_new(&ctx->arena, Fixit), **end = &ctx->last_message->fixits;
  *f = (Fixit){span, text, NULL};
  while (*end) end = &(*end)->next;
  *end = f;
}

void diag_rename(Context *ctx, const char *name, const char *instead) {
  const Diag *d = ctx->last_message;
  const LineCol at = source_locate(ctx, d ? d->span.begin : 0);
  const Loc size = (Loc)strlen(name);
  if (!at.file || d->fixits || d->span.end < d->span.begin + size) return;
  const char *text = at.file->text + (d->span.begin - at.file->base);
  const char *last = text + (d->span.end - d->span.begin - size);
  const char *found = memcmp(last, name, size) ? text : last;
  const Loc begin = d->span.begin + (Loc)(found - text);
  if (!memcmp(found, name, size)) diag_fixit(ctx, (Span){begin, begin + size}, instead);
}

void diag_misfit(Context *ctx, Fit what, uint64_t needed, uint64_t limit) {
  if (!ctx->num_errors) ctx->misfit = (Misfit){what, needed, limit};
}

void diag_drop(Context *ctx, Warning w) {
  Diag **link = &ctx->diags;
  ctx->last_diag = ctx->last_message = NULL;
  ctx->has_raised = false;
  while (*link) {
    Diag *const d = *link, *const last = end_of(d);
    if (d->warning == w) {
      *link = last->next;
      continue;
    }
    ctx->has_raised |= d->warning != WARN_NONE && d->level == DIAG_ERROR;
    ctx->last_diag = last;
    link = &last->next;
  }
}

// A message with its notes; number: in which it was recorded.
typedef struct { Diag *first, *last; uint32_t number; } Group;

static int by_place(const void *a, const void *b) {
  const Group *x = a, *y = b;
  const Loc at = x->first->span.begin, other = y->first->span.begin;
  return at != other ? (at < other ? -1 : 1) : (x->number > y->number) - (x->number < y->number);
}

void diag_sort_warnings(Context *ctx) {
  VEC(Group) all = {0}, warnings = {0};
  for (Diag *d = ctx->diags; d;) {
    const Group g = {d, end_of(d), all.count};
    d = g.last->next;
    vec_push(&ctx->arena, &all, g);
    if (g.first->warning != WARN_NONE) vec_push(&ctx->arena, &warnings, g);
  }
  if (warnings.count) qsort(warnings.data, warnings.count, sizeof *warnings.data, by_place);
  Diag **link = &ctx->diags;
  for (uint32_t i = 0, w = 0; i < all.count; i++) {
    const Group g = all.data[i].first->warning == WARN_NONE ? all.data[i] : warnings.data[w++];
    *link = g.first;
    ctx->last_diag = g.last;
    link = &g.last->next;
  }
  *link = NULL;
}

uint32_t diag_error_count(const Context *ctx) { return ctx->num_errors + ctx->num_repeated; }

void diag_forget(Context *ctx) {
  ctx->diags = ctx->last_diag = ctx->last_message = NULL;
  ctx->num_errors = ctx->num_repeated = 0;
  ctx->is_repeated = false;
}
bool diag_failed(const Context *ctx) { return ctx->num_errors || ctx->has_raised; }

const char *diag_text(Context *ctx, const Diag *d) {
  if (d->warning == WARN_NONE) return d->text;
  return arena_printf(&ctx->arena, "%s [-W%s%s]", d->text, d->level == DIAG_ERROR ? "error=" : "",
                      warning_info[d->warning].name);
}
