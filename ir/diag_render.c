// Diagnostics as text:
//   path:line:col: error: text
//     source line
//        ^~~~
//        a replacement for it
// The caret stands by display width: tabs expand to stops of eight, wide characters take two columns, combining ones
// none. Control bytes and bytes that are not UTF-8 become <XX>. A message without a place is a line of its own.
#include <string.h>

#include "ir/buf.h"
#include "ir/context.h"
#include "ir/utf8.h"

enum { TAB = 8, WINDOW = 160, BEFORE_CARET = 100 };

// One character of s[0..n): its length in bytes, and its code point, or -1 if the first byte begins no valid sequence.
static size_t decode(const char *s, size_t n, int32_t *code) {
  uint32_t c;
  const size_t len = utf8_decode(s, n, &c);
  *code = len ? (int32_t)c : -1;
  return len ? len : 1;
}

typedef struct { int32_t first, last; } Range;

static bool in_ranges(int32_t c, const Range *r, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (c >= r[i].first && c <= r[i].last) return true;
  return false;
}

// C0, DEL, C1, and the characters that reorder or hide text. They are shown by number.
static bool is_control(int32_t c) {
  static const Range hidden[] = {{0, 0x1f},        {0x7f, 0x9f},     {0x200b, 0x200f},
                                 {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}};
  return in_ranges(c, hidden, countof(hidden));
}

static uint32_t width_of(int32_t c) {
  static const Range wide[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},  {0xac00, 0xd7a3},
                               {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},  {0xffe0, 0xffe6},
                               {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
  static const Range none[] = {{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},    {0x610, 0x61a},
                               {0x64b, 0x65f},   {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},  {0x20d0, 0x20ff},
                               {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef}};
  if (in_ranges(c, none, countof(none))) return 0;
  return in_ranges(c, wide, countof(wide)) ? 2 : 1;
}

// Appends the character at s, which begins in column col; returns its width and sets *len.
static uint32_t put_char(Buf *b, const char *s, size_t n, uint32_t col, size_t *len) {
  int32_t c;
  *len = decode(s, n, &c);
  if (c == '\t') {
    uint32_t w = TAB - col % TAB;
    buf_fill(b, ' ', w);
    return w;
  }
  if (c < 0 || is_control(c)) {
    size_t before = b->size;
    if (c < 0) buf_printf(b, "<%02X>", (unsigned char)*s);
    else buf_printf(b, c < 0x100 ? "<%02X>" : "<U+%04X>", (unsigned)c);
    return (uint32_t)(b->size - before);
  }
  buf_write(b, s, *len);
  return width_of(c);
}

static void put_escaped(Buf *b, const char *s) {
  size_t n = strlen(s), len;
  for (size_t i = 0; i < n; i += len) put_char(b, s + i, n - i, 0, &len);
}

// The part of a line that is shown, in bytes; a very long one is shown from a little before the caret.
typedef struct { const char *text; size_t first, last, size; bool cut_left, cut_right; } Line;

static Line line_of(const char *text, size_t n, size_t caret) {
  Line l = {.text = text};
  if (n && l.text[n - 1] == '\r') n--;
  l.size = l.last = n;
  if (caret > n) caret = n;
  l.cut_left = caret > WINDOW;
  if (l.cut_left) l.first = caret - BEFORE_CARET;
  if (l.last - l.first > WINDOW) l.last = l.first + WINDOW, l.cut_right = true;
  while (l.first && ((unsigned char)l.text[l.first] & 0xc0) == 0x80) l.first--;
  while (l.cut_right && l.last > l.first && ((unsigned char)l.text[l.last] & 0xc0) == 0x80) l.last--;
  return l;
}

static Line line_at(LineCol at) {
  const SourceFile *f = at.file;
  const size_t begin = f->line_starts[at.line - 1];
  return line_of(f->text + begin, (at.line < f->num_lines ? f->line_starts[at.line] - 1 : f->size) - begin, at.col - 1);
}

// The column in which byte `at` of the line is shown. b takes the text up to it and may be scratch.
static uint32_t column_of(Buf *b, const Line *l, size_t at) {
  uint32_t col = l->cut_left ? 3 : 0;
  size_t len;
  for (size_t i = l->first; i < l->last && i < at; i += len) col += put_char(b, l->text + i, l->size - i, col, &len);
  return col;
}

// The replacements that belong into the line, each below what it replaces.
static void put_fixits(Buf *b, const Context *ctx, LineCol at, const Line *l, const Fixit *fixits) {
  uint32_t col = 0;
  for (const Fixit *f = fixits; f; f = f->next) {
    const LineCol place = source_locate(ctx, f->span.begin);
    const bool is_shown = place.file == at.file && place.line == at.line && *f->text && !strchr(f->text, '\n');
    if (!is_shown) continue;
    Buf scratch = buf_make(b->arena);
    const uint32_t wanted = column_of(&scratch, l, place.col - 1);
    if (col && wanted < col) continue;
    buf_fill(b, ' ', wanted + (col ? 0 : 2) - col);
    const size_t before = b->size;
    put_escaped(b, f->text);
    col = wanted + (uint32_t)(b->size - before);
  }
  if (col) buf_putc(b, '\n');
}

// The line, and below it a mark of `marked` bytes that begins at byte `caret`.
static void put_marked(Buf *b, uint32_t indent, const Line *l, size_t caret, size_t marked, const char *mark,
                       const char *reset) {
  if (caret > l->size) caret = l->size;
  const size_t end = marked < l->size - caret ? caret + marked : l->size;
  buf_fill(b, ' ', indent);
  buf_puts(b, l->cut_left ? "..." : "");
  const uint32_t caret_col = column_of(b, l, caret);
  Buf scratch = buf_make(b->arena);
  const uint32_t end_col = column_of(&scratch, l, end);
  uint32_t col = caret_col;
  size_t len;
  for (size_t i = l->first > caret ? l->first : caret; i < l->last; i += len)
    col += put_char(b, l->text + i, l->size - i, col, &len);
  buf_puts(b, l->cut_right ? "...\n" : "\n");
  buf_fill(b, ' ', indent + caret_col);
  buf_puts(b, mark);
  buf_putc(b, '^');
  if (end_col > caret_col + 1) buf_fill(b, '~', end_col - caret_col - 1);
  buf_printf(b, "%s\n", reset);
}

void diag_put_line(Buf *b, uint32_t indent, const char *text, size_t size, uint32_t col,
                   uint32_t marked) {
  const Line l = line_of(text, size, col - 1);
  put_marked(b, indent, &l, col - 1, marked ? marked : 1, "", "");
}

static void put_snippet(Buf *b, const Context *ctx, LineCol at, const Diag *d, const char *mark, const char *reset) {
  const Line l = line_at(at);
  put_marked(b, 2, &l, at.col - 1, d->span.end > d->span.begin ? d->span.end - d->span.begin : 1, mark, reset);
  put_fixits(b, ctx, at, &l, d->fixits);
}

typedef struct { const char *bold, *mark, *reset, *const *levels; } Colors;

static const char *const plain_levels[] = {"", "", "", ""};
static const Colors plain = {"", "", "", plain_levels};

static void put_diag(Buf *b, Context *ctx, const Diag *d, const Colors *c) {
  static const char *const words[] = {"error", "warning", "remark", "note"};
  const LineCol at = source_locate(ctx, d->span.begin);
  buf_puts(b, c->bold);
  if (at.file) {
    put_escaped(b, at.file->path);
    buf_printf(b, ":%u:%u: ", at.line, at.col);
  } else if (d->level != DIAG_NOTE) {
    buf_puts(b, "tilec: ");
  }
  buf_printf(b, "%s%s%s:%s%s ", c->reset, c->levels[d->level], words[d->level], c->reset,
             d->level == DIAG_NOTE ? "" : c->bold);
  put_escaped(b, diag_text(ctx, d));
  buf_printf(b, "%s\n", c->reset);
  if (at.file) put_snippet(b, ctx, at, d, c->mark, c->reset);
}

const char *diag_render(Context *ctx, bool color) {
  static const char *const levels[] = {"\033[1;31m", "\033[1;35m", "\033[1;34m", "\033[1;36m"};
  static const Colors colors = {"\033[1m", "\033[1;32m", "\033[0m", levels};
  Buf b = buf_make(&ctx->arena);
  for (const Diag *d = ctx->diags; d; d = d->next) put_diag(&b, ctx, d, color ? &colors : &plain);
  if (ctx->num_errors > diag_limit(ctx))
    buf_printf(&b, "tilec: %u more errors not shown\n", ctx->num_errors - diag_limit(ctx));
  return buf_str(&b);
}

const char *diag_render_one(Context *ctx, const Diag *d) {
  Buf b = buf_make(&ctx->arena);
  do put_diag(&b, ctx, d, &plain);
  while ((d = d->next) && d->level == DIAG_NOTE && !d->is_alone);
  return buf_str(&b);
}
