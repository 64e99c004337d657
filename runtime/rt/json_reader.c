#include "runtime/rt/json_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ir/utf8.h"

enum { DEEPEST = 64 };
typedef struct { Arena *arena; const char *at, *end; uint32_t depth; } Reader;

static JsonValue *read_value(Reader *r);

static void skip_space(Reader *r) {
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r')) r->at++;
}

static bool accept(Reader *r, char c) {
  skip_space(r);
  if (r->at >= r->end || *r->at != c) return false;
  r->at++;
  return true;
}

static JsonValue *make(Reader *r, JsonKind kind) {
  JsonValue *v = arena_new(r->arena, JsonValue);
  v->kind = kind;
  return v;
}

static int hex_digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

static bool read_hex4(Reader *r, uint32_t *code) {
  *code = 0;
  if (r->end - r->at < 4) return false;
  for (int i = 0; i < 4; i++) {
    int d = hex_digit(*r->at++);
    if (d < 0) return false;
    *code = *code << 4 | (uint32_t)d;
  }
  return true;
}

// After a backslash. NUL and lone surrogates are refused.
static char *read_escape(Reader *r, char *to) {
  static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
  char c = *r->at++;
  const char *known = c ? strchr(from, c) : NULL;
  if (known) {
    *to++ = into[known - from];
    return to;
  }
  uint32_t code, low;
  if (c != 'u' || !read_hex4(r, &code) || !code || (code >= 0xdc00 && code < 0xe000)) return NULL;
  if (code >= 0xd800 && code < 0xdc00) {
    if (r->end - r->at < 6 || r->at[0] != '\\' || r->at[1] != 'u') return NULL;
    r->at += 2;
    if (!read_hex4(r, &low) || low < 0xdc00 || low >= 0xe000) return NULL;
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  return to + utf8_encode(to, code);
}

static const char *read_string(Reader *r) {
  if (!accept(r, '"')) return NULL;
  const char *close = r->at;
  while (close < r->end && *close != '"') close += *close == '\\' ? 2 : 1;
  if (close >= r->end) return NULL;
  // No escape is longer than what it stands for.
  char *text = arena_alloc(r->arena, (size_t)(close - r->at) + 1), *to = text;
  while (r->at < r->end && *r->at != '"') {
    uint32_t code;
    const size_t n = utf8_decode(r->at, (size_t)(r->end - r->at), &code);
    if (!n || code < 0x20) return NULL;
    if (code != '\\') memcpy(to, r->at, n), to += n, r->at += n;
    else if (r->at++, r->at >= r->end || !(to = read_escape(r, to))) return NULL;
  }
  if (r->at >= r->end) return NULL;
  r->at++;
  return text;
}

static JsonValue *read_number(Reader *r) {
  char text[64];
  size_t n = 0;
  while (r->at + n < r->end && n + 1 < sizeof text && r->at[n] && strchr("+-0123456789.eE", r->at[n])) n++;
  if (!n || (r->at[0] != '-' && (r->at[0] < '0' || r->at[0] > '9'))) return NULL;
  memcpy(text, r->at, n);
  text[n] = 0;
  char *end;
  JsonValue *v = make(r, JSON_NUMBER);
  errno = 0;
  v->i = strtoll(text, &end, 10);
  v->is_int = !*end && !errno;
  v->f = strtod(text, &end);
  if (*end) return NULL;
  r->at += n;
  return v;
}

static JsonValue *read_items(Reader *r, JsonKind kind) {
  char close = kind == JSON_OBJECT ? '}' : ']';
  JsonValue *v = make(r, kind);
  VEC(const JsonValue *) items = {0};
  VEC(const char *) keys = {0};
  r->at++;
  while (!accept(r, close)) {
    if (items.count && !accept(r, ',')) return NULL;
    if (kind == JSON_OBJECT) {
      const char *key = read_string(r);
      if (!key || !accept(r, ':')) return NULL;
      vec_push(r->arena, &keys, key);
    }
    const JsonValue *item = read_value(r);
    if (!item) return NULL;
    vec_push(r->arena, &items, item);
  }
  v->items = items.data;
  v->keys = keys.data;
  v->count = items.count;
  return v;
}

static JsonValue *read_word(Reader *r) {
  static const struct { const char *word; JsonKind kind; bool b; } words[] = {
      {"true", JSON_BOOL, true}, {"false", JSON_BOOL, false}, {"null", JSON_NULL, false}};
  for (uint32_t i = 0; i < countof(words); i++) {
    size_t n = strlen(words[i].word);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, words[i].word, n)) continue;
    r->at += n;
    JsonValue *v = make(r, words[i].kind);
    v->b = words[i].b;
    return v;
  }
  return NULL;
}

static JsonValue *read_value(Reader *r) {
  skip_space(r);
  if (r->at >= r->end || r->depth >= DEEPEST) return NULL;
  if (*r->at == '"') {
    JsonValue *v = make(r, JSON_STRING);
    return (v->s = read_string(r)) ? v : NULL;
  }
  if (*r->at != '{' && *r->at != '[')
    return *r->at == '-' || (*r->at >= '0' && *r->at <= '9') ? read_number(r) : read_word(r);
  r->depth++;
  JsonValue *v = read_items(r, *r->at == '{' ? JSON_OBJECT : JSON_ARRAY);
  r->depth--;
  return v;
}

const JsonValue *json_read(Arena *a, const char *text, size_t size, size_t *where) {
  Reader r = {a, text, text + size, 0};
  const JsonValue *v = read_value(&r);
  skip_space(&r);
  *where = (size_t)(r.at - text);
  return v && r.at == r.end ? v : NULL;
}

const JsonValue *json_get(const JsonValue *o, const char *key) {
  for (uint32_t i = 0; o && o->kind == JSON_OBJECT && i < o->count; i++)
    if (!strcmp(o->keys[i], key)) return o->items[i];
  return NULL;
}
int64_t json_get_int(const JsonValue *o, const char *key, int64_t otherwise) {
  const JsonValue *v = json_get(o, key);
  return v && v->kind == JSON_NUMBER && v->is_int ? v->i : otherwise;
}
const char *json_get_string(const JsonValue *o, const char *key, const char *otherwise) {
  const JsonValue *v = json_get(o, key);
  return v && v->kind == JSON_STRING ? v->s : otherwise;
}
bool json_get_bool(const JsonValue *o, const char *key) {
  const JsonValue *v = json_get(o, key);
  return v && v->kind == JSON_BOOL && v->b;
}
uint32_t json_get_items(const JsonValue *o, const char *key, const JsonValue *const **items) {
  const JsonValue *v = json_get(o, key);
  if (!v || v->kind != JSON_ARRAY) return 0;
  *items = v->items;
  return v->count;
}
