#include "runtime/compile/json_writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/utf8.h"

JsonWriter json_writer(Buf *out) { return (JsonWriter){.out = out}; }

static void new_line(JsonWriter *w) {
  buf_putc(w->out, '\n');
  buf_fill(w->out, ' ', w->depth * 2);
}

// Puts what separates a value or a key from what is before it: nothing after a key, otherwise a comma and a line break.
static void before_item(JsonWriter *w) {
  if (w->after_key) {
    w->after_key = false;
    return;
  }
  if (!w->depth) return;
  uint32_t d = w->depth - 1;
  if (w->has_items[d]) buf_puts(w->out, w->is_inline[d] ? ", " : ",");
  if (!w->is_inline[d]) new_line(w);
  w->has_items[d] = true;
}

static void begin(JsonWriter *w, char c, bool on_one_line) {
  before_item(w);
  buf_putc(w->out, c);
  assert(w->depth < JSON_MAX_DEPTH);
  w->is_inline[w->depth] = on_one_line || (w->depth && w->is_inline[w->depth - 1]);
  w->has_items[w->depth] = false;
  w->depth++;
}

static void end(JsonWriter *w, char c) {
  assert(w->depth && !w->after_key);
  w->depth--;
  if (w->has_items[w->depth] && !w->is_inline[w->depth]) new_line(w);
  buf_putc(w->out, c);
}

void json_begin_object(JsonWriter *w, bool on_one_line) { begin(w, '{', on_one_line); }
void json_end_object(JsonWriter *w) { end(w, '}'); }
void json_begin_array(JsonWriter *w, bool on_one_line) { begin(w, '[', on_one_line); }
void json_end_array(JsonWriter *w) { end(w, ']'); }

// A character in ASCII: the metadata is also a comment in PTX, and ptxas reads no other.
static void put_escaped(Buf *b, uint32_t c) {
  if (c >= 0x10000) {
    c -= 0x10000;
    buf_printf(b, "\\u%04x", 0xd800 + (c >> 10));
    c = 0xdc00 + (c & 0x3ff);
  }
  buf_printf(b, "\\u%04x", c);
}

static void put_string(Buf *b, const char *s) {
  static const char escapes[][2] = {{'"', '"'},  {'\\', '\\'}, {'\n', 'n'}, {'\r', 'r'},
                                    {'\t', 't'}, {'\b', 'b'},  {'\f', 'f'}};
  buf_putc(b, '"');
  for (const char *end = s + strlen(s); s < end;) {
    uint32_t code;
    size_t n = utf8_decode(s, (size_t)(end - s), &code);
    const char *escape = NULL;
    for (uint32_t i = 0; i < countof(escapes); i++)
      if (*s == escapes[i][0]) escape = &escapes[i][1];
    if (escape) buf_putc(b, '\\'), buf_putc(b, *escape);
    else if (n == 0) buf_puts(b, "\\ufffd"), n = 1;
    else if (code < 0x20 || n > 1) put_escaped(b, code);
    else buf_putc(b, *s);
    s += n;
  }
  buf_putc(b, '"');
}

void json_key(JsonWriter *w, const char *key) {
  before_item(w);
  put_string(w->out, key);
  buf_puts(w->out, ": ");
  w->after_key = true;
}

void json_string(JsonWriter *w, const char *s) {
  before_item(w);
  if (s) put_string(w->out, s);
  else buf_puts(w->out, "null");
}

void json_int(JsonWriter *w, int64_t v) {
  before_item(w);
  buf_printf(w->out, "%lld", (long long)v);
}

void json_double(JsonWriter *w, double v) {
  before_item(w);
  if (!isfinite(v)) {
    buf_puts(w->out, "null");
    return;
  }
  char text[32];
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, v);
    if (strtod(text, NULL) == v) break;
  }
  buf_puts(w->out, text);
}

void json_bool(JsonWriter *w, bool v) {
  before_item(w);
  buf_puts(w->out, v ? "true" : "false");
}

void json_raw(JsonWriter *w, const char *json) {
  before_item(w);
  buf_puts(w->out, json);
}

void json_put_object(JsonWriter *w, const char *key, bool on_one_line) {
  json_key(w, key);
  json_begin_object(w, on_one_line);
}

void json_put_array(JsonWriter *w, const char *key, bool on_one_line) {
  json_key(w, key);
  json_begin_array(w, on_one_line);
}

void json_put_string(JsonWriter *w, const char *key, const char *s) {
  json_key(w, key);
  json_string(w, s);
}

void json_put_int(JsonWriter *w, const char *key, int64_t v) {
  json_key(w, key);
  json_int(w, v);
}

void json_put_double(JsonWriter *w, const char *key, double v) {
  json_key(w, key);
  json_double(w, v);
}

void json_put_bool(JsonWriter *w, const char *key, bool v) {
  json_key(w, key);
  json_bool(w, v);
}
