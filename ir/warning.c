// The table of warnings, which of them are on, and the comments that turn some off.
#include <string.h>

#include "ir/context.h"
#include "ir/nearest.h"

const struct WarningInfo warning_info[NUM_WARNINGS] = {
#define WARNING(id, name, is_default, text) {name, text, is_default},
#include "ir/warnings.def"
};
_Static_assert(NUM_WARNINGS < 64, "WarningSet has a bit for each");
#define WARNING(id, name, is_default, text)                                                              \
  _Static_assert(sizeof(name) > 3 && sizeof(text) > 1 && ((is_default) == 0 || (is_default) == 1),       \
                 #id ": a name, a text, and whether it is a default");
#include "ir/warnings.def"

static const uint64_t all = ((uint64_t)1 << NUM_WARNINGS) - 1;

WarningSet warning_defaults(void) {
  WarningSet s = {0};
  for (uint32_t i = 0; i < NUM_WARNINGS; i++) s.on |= (uint64_t)warning_info[i].is_default << i;
  return s;
}

Warning warning_find(const char *name, size_t n) {
  for (uint32_t i = 0; i < NUM_WARNINGS; i++)
    if (strlen(warning_info[i].name) == n && !memcmp(warning_info[i].name, name, n)) return (Warning)i;
  return WARN_NONE;
}

static bool mask_of(const char *name, uint64_t *mask) {
  const Warning w = warning_find(name, strlen(name));
  *mask = w == WARN_NONE ? all : (uint64_t)1 << w;
  return w != WARN_NONE || !*name || !strcmp(name, "all");
}

static const char *nearest_of(const char *name) {
  const char *names[NUM_WARNINGS];
  for (uint32_t i = 0; i < NUM_WARNINGS; i++) names[i] = warning_info[i].name;
  return nearest_name(name, names, NUM_WARNINGS);
}

bool warning_choose(WarningSet *set, const char *text, const char **near) {
  static const char error[] = "error";
  uint64_t mask;
  const bool off = !strncmp(text, "no-", 3);
  const char *name = off ? text + 3 : text;
  *near = NULL;
  if (!strncmp(name, error, sizeof error - 1) && (name[5] == '=' || !name[5])) {
    const bool is_general = !name[5];
    name += is_general ? 5 : 6;
    if (!mask_of(name, &mask)) return *near = nearest_of(name), false;
    set->as_error = off ? set->as_error & ~mask : set->as_error | mask;
    if (!off && !is_general) set->on |= mask;
    return true;
  }
  if (!mask_of(name, &mask)) return *near = nearest_of(name), false;
  set->on = off ? set->on & ~mask : set->on | mask;
  return true;
}

// ---- comments ----

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

// The line in which `at` is, without its end.
static Span line_of(const Context *ctx, Loc at) {
  const LineCol place = source_locate(ctx, at);
  if (!place.file) return (Span){at, at};
  const SourceFile *f = place.file;
  const Loc begin = f->base + f->line_starts[place.line - 1];
  return (Span){begin, place.line < f->num_lines ? f->base + f->line_starts[place.line] - 1 : f->base + (Loc)f->size};
}

static void unknown(Context *ctx, Span span, const char *name) {
  if (!*name) {
    if (diag_warning(ctx, WARN_UNKNOWN_IGNORE, span, "this comment names no warning"))
      diag_note(ctx, (Span){0, 0}, "write `# tilec: ignore[NAME]`; `tilec --help` lists the names");
    return;
  }
  const char *near = nearest_of(name);
  if (!diag_warning(ctx, WARN_UNKNOWN_IGNORE, span, "there is no warning `%s`", name)) return;
  if (near) diag_fixit(ctx, span, near);
  if (near) diag_note(ctx, (Span){0, 0}, "did you mean `%s`?", near);
  else diag_note(ctx, (Span){0, 0}, "`tilec --help` lists the names");
}

// Past `word` and the blanks before it, if that is what stands at s; otherwise NULL.
static const char *skip_word(const char *s, const char *end, const char *word) {
  const size_t n = strlen(word);
  while (s < end && is_blank(*s)) s++;
  return (size_t)(end - s) >= n && !memcmp(s, word, n) ? s + n : NULL;
}

// The warnings that a list names, which begins at s, the byte at `at` of the source, and ends at `end`. Sets *is_empty.
static uint64_t read_names(Context *ctx, Loc at, const char *s, const char *end, bool *is_empty) {
  uint64_t warnings = 0;
  *is_empty = true;
  for (const char *t = s; t < end; t++) {   // t++: past the comma or blank
    const char *name = t;
    while (t < end && *t != ',' && !is_blank(*t)) t++;
    const size_t size = (size_t)(t - name);
    if (!size) continue;
    *is_empty = false;
    const Warning w = warning_find(name, size);
    const Loc begin = at + (Loc)(name - s);
    if (w != WARN_NONE) warnings |= (uint64_t)1 << w;
    else unknown(ctx, (Span){begin, begin + (Loc)size}, arena_strndup(&ctx->arena, name, size));
  }
  return warnings;
}

void warning_read_comment(Context *ctx, Loc at, const char *text, size_t n) {
  const char *const end = text + n;
  for (const char *s = text; s < end; s++) {
    if (*s != '#' || (s > text && !is_blank(s[-1]))) continue;
    const char *t = skip_word(s + 1, end, "tilec:");
    if (t) t = skip_word(t, end, "ignore");
    if (!t) continue;
    const char *close = t < end && *t == '[' ? memchr(t, ']', (size_t)(end - t)) : NULL;
    Ignore ignore = {line_of(ctx, at), 0};
    bool is_empty = true;
    if (close) ignore.warnings = read_names(ctx, at + (Loc)(t + 1 - text), t + 1, close, &is_empty);
    if (is_empty) unknown(ctx, (Span){at + (Loc)(s - text), at + (Loc)n}, "");
    if (ignore.warnings) vec_push(&ctx->arena, &ctx->ignores, ignore);
    return;
  }
}

void warning_extend_ignores(Context *ctx, Span header, Span function) {
  for (uint32_t i = 0; i < ctx->ignores.count; i++) {
    Ignore *g = &ctx->ignores.data[i];
    if (g->covered.end > header.begin && g->covered.begin < header.end && g->covered.end < function.end)
      g->covered = (Span){g->covered.begin, function.end};
  }
}

static bool covers(Span s, Loc at) { return s.begin <= at && at < s.end; }

bool warning_is_ignored(const Context *ctx, Warning w, Span span) {
  for (uint32_t i = 0; span.begin && i < ctx->ignores.count; i++) {
    const Ignore *g = &ctx->ignores.data[i];
    if (g->warnings >> w & 1 && (covers(g->covered, span.begin) || covers(g->covered, span.end - 1))) return true;
  }
  return false;
}
