// Number and string literals: where a string ends, what it decodes to, and the parts of an f-string.
#include <stdlib.h>
#include <string.h>

#include "frontend/syntax/parser.h"

// ---- numbers ----

static int digit_value(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : 99;
}

static Node *int_literal(PyParser *p, Span span, const char *s, size_t n) {
  Node *node = ast_node(p, NODE_INT, span);
  pynum_read_int(s, n, 0, &node->integer.value, &node->integer.is_too_large);
  return node;
}

Node *ast_number(PyParser *p, Span span) {
  const char *s = p->file->text + (span.begin - p->file->base);
  size_t n = span.end - span.begin;
  if (n > 2 && s[0] == '0' && strchr("xXoObB", s[1])) return int_literal(p, span, s, n);
  bool is_imag = s[n - 1] == 'j' || s[n - 1] == 'J', is_float = false, is_zero = true;
  for (size_t i = 0; i < n; i++) {
    is_float |= strchr(".eE", s[i]) != NULL;
    is_zero &= s[i] == '0' || s[i] == '_';
  }
  if (!is_imag && !is_float) {
    if (s[0] == '0' && !is_zero) {
      diag_error(p->ctx, span, "a decimal integer does not begin with 0");
      diag_note(p->ctx, (Span){0, 0}, "write 0o for octal");
    }
    return int_literal(p, span, s, n);
  }
  char *digits = arena_alloc(&p->ctx->arena, n + 1);
  size_t len = 0;
  for (size_t i = 0; i < n - is_imag; i++)
    if (s[i] != '_') digits[len++] = s[i];
  Node *node = ast_node(p, is_imag ? NODE_IMAG : NODE_FLOAT, span);
  node->floating.value = strtod(digits, NULL);
  return node;
}

// ---- where strings end ----

// body: offset past the quote(s)
typedef struct { bool raw, bytes, format, triple; char quote; uint32_t body; } StringForm;

static StringForm string_form(const char *text, uint32_t at, uint32_t limit) {
  StringForm f = {0};
  uint32_t i = at;
  for (; i < limit && text[i] != '\'' && text[i] != '"'; i++) {
    char c = text[i] | 0x20;
    f.raw |= c == 'r';
    f.bytes |= c == 'b';
    f.format |= c == 'f';
  }
  f.quote = text[i];
  f.triple = i + 2 < limit && text[i + 1] == f.quote && text[i + 2] == f.quote;
  f.body = i + (f.triple ? 3 : 1);
  return f;
}

static bool is_string_prefix(const char *text, uint32_t begin, uint32_t quote) {
  if (quote - begin > 2) return false;
  for (uint32_t i = begin; i < quote; i++)
    if (!strchr("rRbBfFuU", text[i])) return false;
  return true;
}

// A replacement field of an f-string as offsets, 0 if absent; `end` is past the `}`. Brackets and nested strings hide
// the characters that end the expression.
typedef struct { uint32_t expr_end, equals, conversion, spec_begin, spec_end, end; } Field;

enum { FIELD_DEPTH = 8 };
static uint32_t string_end(const char *text, uint32_t at, uint32_t limit, int depth);
static bool scan_field(const char *text, uint32_t at, uint32_t limit, const StringForm *form, int depth, Field *out);

// Skips an f-string's spec up to its closing brace; nested fields are skipped whole. 0 if it never closes.
static uint32_t scan_spec(const char *text, uint32_t at, uint32_t limit, const StringForm *form, int depth) {
  for (uint32_t i = at; i < limit;) {
    if (text[i] == '}') return i;
    if (text[i] == '\n' && !form->triple) return 0;
    if (text[i] == form->quote && !form->triple) return 0;
    if (text[i] != '{') { i++; continue; }
    Field nested;
    if (!scan_field(text, i + 1, limit, form, depth + 1, &nested)) return 0;
    i = nested.end;
  }
  return 0;
}

// Whether the `=` at i, in a field that begins at `at`, is the one of f"{x=}" and no operator. *end: what follows it
// and its spaces.
static bool shows_expression(const char *text, uint32_t at, uint32_t i, uint32_t limit, uint32_t *end) {
  for (*end = i + 1; *end < limit && text[*end] == ' ';) ++*end;
  bool ends_operator = i > at && text[i - 1] && strchr("<>=!", text[i - 1]);
  return !ends_operator && *end < limit && (text[*end] == '}' || text[*end] == ':' || text[*end] == '!');
}

// Finds the end of a field's expression. False if there is none.
static bool scan_expression(const char *text, uint32_t at, uint32_t limit, const StringForm *form, int depth,
                            Field *out, uint32_t *end) {
  uint32_t i = at, nesting = 0, word = at;   // word: where the identifier before i begins
  while (i < limit) {
    char c = text[i], after = i + 1 < limit ? text[i + 1] : 0;
    if (c == '\n' && !form->triple && !nesting) return false;
    if (c == '\'' || c == '"') {
      uint32_t begin = is_string_prefix(text, word, i) ? word : i;
      word = i = string_end(text, begin, limit, depth + 1);
      if (!i) return false;
      continue;
    }
    if (!nesting && (c == '!' || c == '=') && after == '=') {   // a comparison
      word = i += 2;
      continue;
    }
    if (c == '(' || c == '[' || c == '{') nesting++;
    else if (nesting && (c == ')' || c == ']' || c == '}')) nesting--;
    else if (!nesting && (c == '}' || c == ':' || c == '!')) break;
    else if (!nesting && c == '=' && shows_expression(text, at, i, limit, &out->equals)) {
      out->expr_end = i;
      *end = out->equals;
      return true;
    }
    bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (c & 0x80);
    i++;
    if (!is_word) word = i;
  }
  out->equals = 0;
  out->expr_end = *end = i;
  return i < limit;
}

static bool scan_field(const char *text, uint32_t at, uint32_t limit, const StringForm *form, int depth, Field *out) {
  *out = (Field){0};
  uint32_t i;
  if (depth > FIELD_DEPTH || !scan_expression(text, at, limit, form, depth, out, &i)) return false;
  if (text[i] == '!') {
    out->conversion = i + 1;
    i += 2;
  }
  if (i < limit && text[i] == ':') {
    out->spec_begin = i + 1;
    out->spec_end = i = scan_spec(text, i + 1, limit, form, depth);
    if (!i) return false;
  }
  if (i >= limit || text[i] != '}') return false;
  out->end = i + 1;
  return true;
}

static uint32_t string_end(const char *text, uint32_t at, uint32_t limit, int depth) {
  StringForm f = string_form(text, at, limit);
  bool has_fields = f.format;   // until one is found that does not close
  for (uint32_t i = f.body; i < limit;) {
    char c = text[i];
    if (c == '\\') {
      // A backslash keeps the next character from ending the string, in raw strings too; CR LF counts as one.
      i += i + 2 < limit && text[i + 1] == '\r' && text[i + 2] == '\n' ? 3 : 2;
      continue;
    }
    if (c == f.quote) {
      if (!f.triple) return i + 1;
      if (i + 2 < limit && text[i + 1] == c && text[i + 2] == c) return i + 3;
    }
    if (!f.triple && (c == '\n' || c == '\r')) return 0;
    if (has_fields && c == '{') {
      Field field;
      if (i + 1 < limit && text[i + 1] == '{') { i += 2; continue; }
      has_fields = scan_field(text, i + 1, limit, &f, depth, &field);
      if (has_fields) { i = field.end; continue; }
      if (depth) return 0;   // else each string of a field might be read to the end of the text, at every depth
    }
    i++;
  }
  return 0;
}

uint32_t literal_string_end(const char *text, uint32_t at, uint32_t limit) { return string_end(text, at, limit, 0); }

// ---- decoding ----

// Reads up to `max` digits of the base at *i. False if there are fewer than `min`.
static bool read_digits(const char *s, uint32_t *i, uint32_t end, int base, uint32_t min, uint32_t max,
                        uint32_t *value) {
  uint32_t n = 0;
  *value = 0;
  for (; n < max && *i < end && digit_value(s[*i]) < base; n++, (*i)++)
    *value = *value * (uint32_t)base + (uint32_t)digit_value(s[*i]);
  return n >= min;
}

static void put_code(Buf *b, const StringForm *f, uint32_t value) {
  if (f->bytes) buf_putc(b, (char)value);
  else pynum_put_utf8(b, value);
}

// Writes what the escape after a backslash means and moves *i past it. False if it is malformed or named: nothing is
// written.
static bool decode_escape(const char *s, uint32_t *i, uint32_t end, const StringForm *f, Buf *b) {
  uint32_t value = 0;
  char c = s[(*i)++];
  switch (c) {
    case '\r': if (*i < end && s[*i] == '\n') ++*i; break;
    case '\n': break;
    case '\\': case '\'': case '"': buf_putc(b, c); break;
    case 'a': buf_putc(b, '\a'); break;
    case 'b': buf_putc(b, '\b'); break;
    case 'f': buf_putc(b, '\f'); break;
    case 'n': buf_putc(b, '\n'); break;
    case 'r': buf_putc(b, '\r'); break;
    case 't': buf_putc(b, '\t'); break;
    case 'v': buf_putc(b, '\v'); break;
    case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7':
      --*i;
      read_digits(s, i, end, 8, 1, 3, &value);
      put_code(b, f, value);
      break;
    case 'x':
      if (!read_digits(s, i, end, 16, 2, 2, &value)) return false;
      put_code(b, f, value);
      break;
    case 'u': case 'U': case 'N':
      if (f->bytes) { buf_putc(b, '\\'); buf_putc(b, c); break; }
      if (c == 'N' || !read_digits(s, i, end, 16, c == 'u' ? 4 : 8, c == 'u' ? 4 : 8, &value) || value >= 0x110000)
        return false;
      pynum_put_utf8(b, value >= 0xd800 && value < 0xe000 ? 0xfffd : value);
      break;
    default: buf_putc(b, '\\'); buf_putc(b, c); break;
  }
  return true;
}

static void decode(PyParser *p, Buf *b, const StringForm *f, uint32_t begin, uint32_t end) {
  const char *s = p->file->text;
  for (uint32_t i = begin; i < end;) {
    char c = s[i++];
    if (c == '\r') {
      if (i < end && s[i] == '\n') i++;
      c = '\n';
    }
    if (f->format && (c == '{' || c == '}') && i < end && s[i] == c) i++;
    if (c != '\\' || f->raw || i >= end) {
      buf_putc(b, c);
      continue;
    }
    uint32_t escape = i - 1;
    if (decode_escape(s, &i, end, f, b)) continue;
    Span at = {p->file->base + escape, p->file->base + i};
    char kind = s[escape + 1];
    if (kind == 'N')
      diag_warning(p->ctx, WARN_NAMED_ESCAPE, at,
                   "named characters are not supported; the escape is kept as written");
    else diag_error(p->ctx, at, "malformed \\%c escape", kind);
    buf_write(b, s + escape, i - escape);
  }
}

static Node *str_node(PyParser *p, NodeKind kind, Span span, const Buf *b) {
  Node *node = ast_node(p, kind, span);
  node->str.data = b->size ? b->data : "";
  node->str.size = b->size;
  return node;
}

// The parts of an f-string until now. `text` collects literal text until a field or the end follows: adjacent pieces
// become one.
typedef struct { NodeList *list; Buf text; Span span; } Parts;

static void add_text(Parts *parts, Span span, const Buf *text) {
  if (!text->size) return;
  parts->span = (Span){parts->text.size ? parts->span.begin : span.begin, span.end};
  buf_write(&parts->text, text->data, text->size);
}

static void end_text(PyParser *p, Parts *parts) {
  if (!parts->text.size) return;
  ast_list_add(p, parts->list, str_node(p, NODE_STR, parts->span, &parts->text));
  parts->text = buf_make(&p->ctx->arena);
}

static Node *format_parts(PyParser *p, const StringForm *f, uint32_t begin, uint32_t end, Span span, int depth);

static Node *format_field(PyParser *p, const StringForm *f, uint32_t open, const Field *field, int depth) {
  Loc base = p->file->base;
  Span span = {base + open, base + field->end};
  uint32_t first = open + 1, last = field->expr_end;
  const char *s = p->file->text;
  while (first < last && strchr(" \t\r\n", s[first])) first++;
  if (first == last) {
    diag_error(p->ctx, span, "empty expression in an f-string");
    return ast_node(p, NODE_ERROR, span);
  }
  Node *value = parse_embedded(p, open + 1, field->expr_end);
  if (!value) return ast_node(p, NODE_ERROR, span);
  Node *node = ast_unary(p, NODE_FORMAT, PYOP_NONE, span, value);   // for the depth; the fields follow
  if (node->kind != NODE_FORMAT) return node;
  node->format.value = value;
  if (field->equals) node->format.text = arena_strndup(&p->ctx->arena, s + open + 1, field->equals - open - 1);
  if (field->conversion) {
    node->format.conversion = s[field->conversion];
    if (!strchr("rsa", s[field->conversion]))
      diag_error(p->ctx, (Span){base + field->conversion, base + field->conversion + 1},
                 "unknown conversion, expected !r, !s or !a");
  }
  if (field->spec_begin)
    node->format.spec = format_parts(p, f, field->spec_begin, field->spec_end,
                                     (Span){base + field->spec_begin, base + field->spec_end}, depth + 1);
  return node;
}

// Appends to `parts` the literal and replacement parts of s[begin, end).
static void add_parts(PyParser *p, Parts *parts, const StringForm *f, uint32_t begin, uint32_t end, int depth) {
  const char *s = p->file->text;
  Loc base = p->file->base;
  uint32_t from = begin;
  for (uint32_t i = begin; i <= end;) {
    bool is_field = i < end && s[i] == '{' && !(depth == 0 && i + 1 < end && s[i + 1] == '{');
    if (i < end && !is_field) {
      if (s[i] == '}' && !(i + 1 < end && s[i + 1] == '}')) {
        diag_error(p->ctx, (Span){base + i, base + i + 1}, "single '}' in an f-string");
        diag_note(p->ctx, (Span){0, 0}, "write }} for the character");
      }
      if (s[i] == '\\' && !f->raw) i++;
      else if ((s[i] == '{' || s[i] == '}') && i + 1 < end && s[i + 1] == s[i]) i++;
      i++;
      if (i > end) i = end;
      continue;
    }
    if (i > from) {
      Buf b = buf_make(&p->ctx->arena);
      decode(p, &b, f, from, i);
      add_text(parts, (Span){base + from, base + i}, &b);
    }
    if (i >= end) break;
    Field field;
    if (depth > FIELD_DEPTH || !scan_field(s, i + 1, end, f, depth, &field)) {
      diag_error(p->ctx, (Span){base + i, base + i + 1}, "'{' is not closed in the f-string");
      diag_note(p->ctx, (Span){0, 0}, "write {{ for the character");
      break;
    }
    end_text(p, parts);
    ast_list_add(p, parts->list, format_field(p, f, i, &field, depth));
    from = i = field.end;
  }
}

static Node *format_parts(PyParser *p, const StringForm *f, uint32_t begin, uint32_t end, Span span, int depth) {
  Parts parts = {ast_list_new(p, NULL), buf_make(&p->ctx->arena), span};
  add_parts(p, &parts, f, begin, end, depth);
  end_text(p, &parts);
  return ast_list(p, NODE_FSTRING, span, parts.list);
}

Node *ast_strings(PyParser *p, const NodeList *pieces) {
  Span span = {pieces->data[0]->span.begin, pieces->data[pieces->count - 1]->span.end};
  bool any_format = false, any_bytes = false, any_text = false;
  for (uint32_t i = 0; i < pieces->count; i++) {
    StringForm f = string_form(p->file->text, pieces->data[i]->span.begin - p->file->base, p->end);
    any_format |= f.format;
    any_bytes |= f.bytes;
    any_text |= !f.bytes;
  }
  if (any_bytes && any_text) diag_error(p->ctx, span, "bytes and text literals cannot be joined");
  Parts parts = {ast_list_new(p, NULL), buf_make(&p->ctx->arena), span};
  Buf b = buf_make(&p->ctx->arena);
  for (uint32_t i = 0; i < pieces->count; i++) {
    Span piece = pieces->data[i]->span;
    uint32_t begin = piece.begin - p->file->base, end = piece.end - p->file->base;
    StringForm f = string_form(p->file->text, begin, end);
    end -= f.triple ? 3 : 1;
    if (f.format) {
      add_parts(p, &parts, &f, f.body, end, 0);
    } else if (any_format) {
      Buf piece_text = buf_make(&p->ctx->arena);
      decode(p, &piece_text, &f, f.body, end);
      add_text(&parts, piece, &piece_text);
    } else {
      decode(p, &b, &f, f.body, end);
    }
  }
  end_text(p, &parts);
  return any_format ? ast_list(p, NODE_FSTRING, span, parts.list)
                    : str_node(p, any_bytes ? NODE_BYTES : NODE_STR, span, &b);
}
