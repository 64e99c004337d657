#include "ir/buf.h"

#include <stdio.h>
#include <string.h>

static void reserve(Buf *b, size_t more) {
  size_t need = b->size + more + 1;
  if (need <= b->capacity) return;
  size_t cap = b->capacity ? b->capacity * 2 : 256;
  if (cap < need) cap = need;
  char *data = arena_alloc(b->arena, cap);
  if (b->size) memcpy(data, b->data, b->size);
  b->data = data;
  b->capacity = cap;
}

void buf_write(Buf *b, const char *s, size_t n) {
  reserve(b, n);
  if (n) memcpy(b->data + b->size, s, n);
  b->size += n;
  b->data[b->size] = 0;
}

void buf_puts(Buf *b, const char *s) { buf_write(b, s, strlen(s)); }
void buf_putc(Buf *b, char c) { buf_write(b, &c, 1); }

void buf_fill(Buf *b, char c, size_t n) {
  reserve(b, n);
  memset(b->data + b->size, c, n);
  b->size += n;
  b->data[b->size] = 0;
}

void buf_printf(Buf *b, const char *fmt, ...) {
  va_list ap, again;
  va_start(ap, fmt);
  va_copy(again, ap);
  reserve(b, 64);   // most texts fit and are formatted once
  const size_t room = b->capacity - b->size, n = (size_t)vsnprintf(b->data + b->size, room, fmt, ap);
  if (n >= room) {
    reserve(b, n);
    vsnprintf(b->data + b->size, n + 1, fmt, again);
  }
  b->size += n;
  va_end(again);
  va_end(ap);
}

void buf_quote(Buf *b, const char *s, size_t n) {
  buf_putc(b, '"');
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)s[i];
    if (c == '"' || c == '\\') buf_printf(b, "\\%c", c);
    else if (c == '\n') buf_puts(b, "\\n");
    else if (c == '\t') buf_puts(b, "\\t");
    else if (c < 32 || c == 127) buf_printf(b, "\\x%02x", c);
    else buf_putc(b, (char)c);
  }
  buf_putc(b, '"');
}

const char *buf_str(Buf *b) {
  reserve(b, 0);
  b->data[b->size] = 0;
  return b->data;
}
