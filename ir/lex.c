#include "ir/lex.h"

#include <string.h>

#include "ir/buf.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_'; }

LexToken lex_next(Lexer *l) {
  const char *s = l->file->text;
  size_t n = l->file->size, i = l->at;
  for (;;) {
    while (i < n && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r')) i++;
    if (i + 1 < n && s[i] == '/' && s[i + 1] == '/')
      while (i < n && s[i] != '\n') i++;
    else
      break;
  }
  size_t start = i, text = i;
  LexToken t = {.kind = TOK_END};
  if (i < n) {
    char c = s[i++];
    if (c == '%' || c == '@' || c == '#') {
      t.kind = c == '%' ? TOK_VALUE : c == '@' ? TOK_SYMBOL : TOK_LAYOUT;
      text = i;
      while (i < n && (is_word(s[i]) || (c == '@' && s[i] == '.'))) i++;
      if (i == text) t.kind = TOK_BAD;
    } else if (is_digit(c) || (c == '-' && i < n && is_digit(s[i]))) {
      t.kind = TOK_NUMBER;
      while (i < n &&
             (is_word(s[i]) || s[i] == '.' || ((s[i] == '-' || s[i] == '+') && (s[i - 1] == 'e' || s[i - 1] == 'E'))))
        i++;
    } else if (is_word(c)) {
      t.kind = TOK_WORD;
      while (i < n && is_word(s[i])) i++;
    } else if (c == '"') {
      t.kind = TOK_BAD;
      text = i;
      while (i < n && s[i] != '"' && s[i] != '\n') i += s[i] == '\\' && i + 1 < n ? 2 : 1;
      if (i < n && s[i] == '"') {
        t.kind = TOK_STRING;
        t.size = i++ - text;
      }
    } else {
      t.kind = TOK_PUNCT;
      t.punct = c;
    }
  }
  l->at = i;
  t.text = s + text;
  if (t.kind != TOK_STRING) t.size = i - text;
  t.span = span_of(l->file->base + (Loc)start, l->file->base + (Loc)i);
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
