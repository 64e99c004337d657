#include "ir/lex.h"

#include <string.h>

#include "ir/buf.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_'; }

// The offset of the first character from i on that is neither white space nor in a comment.
static size_t skip_blanks(const char *s, size_t n, size_t i) {
  for (;;) {
    while (i < n && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r')) i++;
    if (i + 1 >= n || s[i] != '/' || s[i + 1] != '/') return i;
    while (i < n && s[i] != '\n') i++;
  }
}

static size_t end_of_number(const char *s, size_t n, size_t i) {
  for (; i < n; i++) {
    bool is_exponent_sign = (s[i] == '-' || s[i] == '+') && (s[i - 1] == 'e' || s[i - 1] == 'E');
    if (!is_word(s[i]) && s[i] != '.' && !is_exponent_sign) break;
  }
  return i;
}

// The offset of the quote, newline or end that ends a string whose text begins at i.
static size_t end_of_string(const char *s, size_t n, size_t i) {
  while (i < n && s[i] != '"' && s[i] != '\n') i += s[i] == '\\' && i + 1 < n ? 2 : 1;
  return i;
}

// Scans the token whose first character is at i < n: sets its kind, text and size and returns where it ends.
static size_t scan(const char *s, size_t n, size_t i, LexToken *t) {
  size_t text = i;
  char c = s[i++];
  if (c == '%' || c == '@' || c == '#') {
    t->kind = c == '%' ? TOK_VALUE : c == '@' ? TOK_SYMBOL : TOK_LAYOUT;
    text = i;
    while (i < n && (is_word(s[i]) || (c == '@' && s[i] == '.'))) i++;
    if (i == text) t->kind = TOK_BAD;
  } else if (is_digit(c) || (c == '-' && i < n && is_digit(s[i]))) {
    t->kind = TOK_NUMBER;
    i = end_of_number(s, n, i);
  } else if (is_word(c)) {
    t->kind = TOK_WORD;
    while (i < n && is_word(s[i])) i++;
  } else if (c == '"') {
    text = i;
    i = end_of_string(s, n, i);
    bool closes = i < n && s[i] == '"';
    t->kind = closes ? TOK_STRING : TOK_BAD;
    t->text = s + text;
    t->size = i - text;   // without the quotes
    return closes ? i + 1 : i;
  } else {
    t->kind = TOK_PUNCT;
    t->punct = c;
  }
  t->text = s + text;
  t->size = i - text;
  return i;
}

LexToken lex_next(Lexer *l) {
  const char *s = l->file->text;
  size_t n = l->file->size, start = skip_blanks(s, n, l->at);
  LexToken t = {.kind = TOK_END, .text = s + start};
  l->at = start < n ? scan(s, n, start, &t) : start;
  t.span = span_of(l->file->base + (Loc)start, l->file->base + (Loc)l->at);
  return t;
}

static int hex(char c) {
  return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 0;
}

const char *lex_string(Context *ctx, const LexToken *t) {
  Buf b = buf_make(&ctx->arena);
  for (size_t i = 0; i < t->size; i++) {
    char c = t->text[i];
    if (c != '\\' || i + 1 >= t->size) {
      buf_putc(&b, c);
      continue;
    }
    c = t->text[++i];
    if (c == 'x' && i + 2 < t->size) {
      buf_putc(&b, (char)(hex(t->text[i + 1]) << 4 | hex(t->text[i + 2])));
      i += 2;
    } else {
      buf_putc(&b, c == 'n' ? '\n' : c == 't' ? '\t' : c);
    }
  }
  return intern_n(ctx, buf_str(&b), b.size);
}
