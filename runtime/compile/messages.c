// Collects diagnostics, and puts them in the order of the source.
#include "runtime/compile/messages.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/compile/file.h"

Messages *messages_new(Arena *a, MessagesForm form) {
  Messages *m = arena_new(a, Messages);
  m->arena = a;
  m->form = form;
  return m;
}

// ---- adding ----
static const char *copy(const Messages *m, const char *s) { return s ? arena_strndup(m->arena, s, strlen(s)) : NULL; }

static bool same_text(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

// Whether the warning is among the first `count` messages.
static bool is_known_warning(const Messages *m, uint32_t count, const tile_diagnostic *d) {
  for (uint32_t i = 0; d->name && i < count; i++) {
    const tile_diagnostic *k = &m->items.data[i].diagnostic;
    if (k->line == d->line && k->column == d->column && same_text(k->name, d->name) && same_text(k->file, d->file) &&
        same_text(k->text, d->text))
      return true;
  }
  return false;
}

static void add(Messages *m, tile_diagnostic d, tile_fixit *fixits) {
  d.file = copy(m, d.file);
  d.text = copy(m, d.text);
  d.name = copy(m, d.name);
  for (size_t i = 0; i < d.num_fixits; i++) {
    fixits[i].file = copy(m, fixits[i].file);
    fixits[i].text = copy(m, fixits[i].text);
  }
  const MessageItem item = {d, fixits};
  vec_push(m->arena, &m->items, item);
}

// One of the two is NULL.
static void add_all(Messages *m, const tile_program *p, const tile_error *e) {
  tile_diagnostic d = TILE_DIAGNOSTIC_INIT;
  const uint32_t before = m->items.count;
  bool skips = false;
  for (size_t i = 0; p ? tile_program_get_diagnostic(p, i, &d) : tile_error_get_diagnostic(e, i, &d); i++) {
    if (d.note_of < 0) skips = is_known_warning(m, before, &d);
    if (skips) continue;
    tile_fixit *fixits = arena_array(m->arena, tile_fixit, d.num_fixits + 1);
    for (size_t k = 0; k < d.num_fixits; k++) {
      fixits[k] = (tile_fixit)TILE_FIXIT_INIT;
      if (p) tile_program_get_fixit(p, i, k, &fixits[k]);
      else tile_error_get_fixit(e, i, k, &fixits[k]);
    }
    add(m, d, fixits);
  }
}

void messages_add_program(Messages *m, const tile_program *p) {
  if (p) add_all(m, p, NULL);
}

void messages_add_error(Messages *m, const tile_error *e) {
  if (!e) return;
  add_all(m, NULL, e);
  if (!tile_error_num_diagnostics(e)) messages_add_text(m, TILE_LEVEL_ERROR, tile_error_message(e));
}

void messages_add_text(Messages *m, tile_level level, const char *text) {
  tile_diagnostic d = TILE_DIAGNOSTIC_INIT;
  d.level = level;
  d.text = text;
  add(m, d, NULL);
}

// ---- sources ----
void messages_add_source(Messages *m, const char *path, const char *text, size_t size) {
  const MessageSource s = {path, text, size};
  vec_push(m->arena, &m->sources, s);
}

static const char *line_of(Messages *m, const char *path, uint32_t line, size_t *size) {
  uint32_t i = 0;
  while (i < m->sources.count && strcmp(m->sources.data[i].path, path)) i++;
  if (i == m->sources.count) {
    const char *text = NULL;
    size_t n = 0;
    if (file_read_source(m->arena, path, &text, &n, NULL) != TILE_OK) text = "", n = 0;
    messages_add_source(m, path, text, n);
  }
  const char *s = m->sources.data[i].text, *end = s + m->sources.data[i].size;
  while (--line && s < end) {
    const char *next = memchr(s, '\n', (size_t)(end - s));
    s = next ? next + 1 : end;
  }
  *size = (size_t)(end - s);
  return s;
}

uint32_t messages_character(Messages *m, const char *path, uint32_t line, uint32_t column) {
  size_t size;
  const char *s = line && column ? line_of(m, path, line, &size) : NULL;
  uint32_t more = 0;
  for (uint32_t i = 0; s && i < column - 1 && i < size; i++) more += ((unsigned char)s[i] & 0xc0) == 0x80;
  return column - more;
}

// ---- order ----
// Files count in the order in which the first message names them.
static uint32_t file_number(const Messages *m, const char *file) {
  uint32_t i = 0;
  while (i < m->items.count && !same_text(m->items.data[i].diagnostic.file, file)) i++;
  return i;
}

static int by_place(const void *a, const void *b) {
  const MessageGroup *x = a, *y = b;
  const tile_diagnostic *dx = &x->first->diagnostic, *dy = &y->first->diagnostic;
  if (x->file != y->file) return x->file < y->file ? -1 : 1;
  if (x->file < UINT32_MAX && dx->line != dy->line) return dx->line < dy->line ? -1 : 1;
  if (x->file < UINT32_MAX && dx->column != dy->column) return dx->column < dy->column ? -1 : 1;
  return (x->first > y->first) - (x->first < y->first);   // items of one array
}

const MessageGroup *messages_in_order(const Messages *m, uint32_t *count) {
  VEC(MessageGroup) groups = {0};
  for (uint32_t i = 0; i < m->items.count; i++) {
    const MessageItem *item = &m->items.data[i];
    if (groups.count && item->diagnostic.note_of >= 0) {
      groups.data[groups.count - 1].num_notes++;
      continue;
    }
    const MessageGroup g = {item, 0, item->diagnostic.file ? file_number(m, item->diagnostic.file) : UINT32_MAX};
    vec_push(m->arena, &groups, g);
  }
  if (groups.count) qsort(groups.data, groups.count, sizeof *groups.data, by_place);
  *count = groups.count;
  return groups.data;
}

void messages_write(Buf *out, Messages *m, int exit_status) {
  if (m->form == MESSAGES_SARIF) messages_put_sarif(out, m, exit_status);
  else if (m->form == MESSAGES_JSON) messages_put_json(out, m, exit_status);
}
