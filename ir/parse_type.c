// Reads the numbers, types and layouts of the IR's text form, and refuses malformed ones.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ir/parser.h"

bool parse_word(Parser *p, const char *what, const char **out) {
  if (p->tok.kind != TOK_WORD) return fail(p, what);
  *out = token_text(p);
  next(p);
  return true;
}

bool parse_int(Parser *p, int64_t *out) {
  if (p->tok.kind != TOK_NUMBER) return fail(p, "an integer");
  const char *s = token_text(p);
  char *end;
  errno = 0;
  *out = s[0] == '-' ? strtoll(s, &end, 0) : (int64_t)strtoull(s, &end, 0);
  if (*end || errno) return fail(p, "an integer");
  next(p);
  return true;
}

bool parse_ints(Parser *p, int64_t *out, uint32_t max, uint32_t *n) {
  *n = 0;
  if (!expect(p, '[')) return false;
  while (!is_punct(p, ']')) {
    if (*n == max) return diag_error(p->ctx, p->tok.span, "too many numbers in the list");
    if (*n && !expect(p, ',')) return false;
    if (!parse_int(p, &out[(*n)++])) return false;
  }
  next(p);
  return true;
}

// ---- layouts and types ----

// 128x64x…: dimensions, each with an x after it, except that the final x is missing if `last`. The lexer would take
// "x64" for a word.
static bool parse_dims(Parser *p, bool last, int64_t *shape, uint32_t *rank) {
  const char *s = p->lexer.file->text;
  size_t i = p->tok.span.begin - p->lexer.file->base, n = p->lexer.file->size;
  int64_t total = 1;
  *rank = 0;
  while (i < n && s[i] >= '0' && s[i] <= '9') {
    int64_t d = 0;
    for (; i < n && s[i] >= '0' && s[i] <= '9'; i++)
      if (d < (int64_t)1 << 32) d = d * 10 + (s[i] - '0');
    if (*rank == MAX_RANK) return diag_error(p->ctx, p->tok.span, "more than %d dimensions", MAX_RANK);
    if (!is_pow2_u64((uint64_t)d) || (total *= d) > (int64_t)1 << 30)
      return diag_error(p->ctx, p->tok.span, "dimensions must be powers of two, and their product at most 2^30");
    shape[(*rank)++] = d;
    if (i >= n || s[i] != 'x') {
      if (!last) return fail(p, "'x' after the dimension");
      break;
    }
    i++;
  }
  p->lexer.at = i;
  next(p);
  return *rank || fail(p, "dimensions");
}

// `pad` or `moved` of a shared layout, after the equals sign.
static bool parse_place(Parser *p, bool is_pad, Layout *l) {
  Span at = p->tok.span;
  int64_t n[LAYOUT_MAX_BITS];
  uint32_t count = 0;
  if (!parse_ints(p, n, LAYOUT_MAX_BITS, &count)) return false;
  for (uint32_t i = 0; i < count; i++)
    if (!is_pow2_u64((uint64_t)n[i]) || n[i] > 1 << 20) return diag_error(p->ctx, at, "powers of two are needed here");
  if (is_pad && (count % 2 || count > 2 * LAYOUT_MAX_PADS))
    return diag_error(p->ctx, at, "pad has pairs of numbers, at most %d", LAYOUT_MAX_PADS);
  for (uint32_t i = 0; i < count; i++) {
    const uint8_t log2 = (uint8_t)log2_u32((uint32_t)n[i]);
    if (!is_pad) l->moved |= (uint32_t)n[i];
    else if (i % 2) l->pad[l->num_pads++].by = log2;
    else l->pad[l->num_pads].interval = log2;
  }
  return true;
}

bool parse_layout(Parser *p, const Layout **out) {
  static const char *const groups[] = {"reg", "lane", "warp", "block", "offset"};
  if (p->tok.kind == TOK_LAYOUT) {
    const char *name = token_text(p);
    for (uint32_t i = 0; i < p->layouts.count; i++)
      if (p->layouts.data[i].name == name) {
        *out = p->layouts.data[i].layout;
        next(p);
        return true;
      }
    return diag_error(p->ctx, p->tok.span, "#%s is not defined", name);
  }
  Span span = p->tok.span;
  Layout l = {.kind = is_word(p, "shared") ? LAYOUT_SHARED : LAYOUT_DISTRIBUTED};
  if (!is_word(p, "layout") && !is_word(p, "shared")) return fail(p, "a layout");
  next(p);
  if (!expect(p, '<')) return false;
  int64_t shape[MAX_RANK], cols[LAYOUT_DIMS][LAYOUT_MAX_BITS] = {{0}};
  uint32_t rank = 0, total = 0;
  if (!parse_dims(p, true, shape, &rank)) return false;
  l.rank = (uint8_t)rank;
  for (uint32_t i = 0; i < rank; i++) l.log2_size[i] = (uint8_t)log2_u32((uint32_t)shape[i]);
  while (accept(p, ',')) {
    const char *word = "";
    Span at = p->tok.span;
    if (!parse_word(p, "reg, lane, warp, block or offset", &word) || !expect(p, '=')) return false;
    uint32_t g = 0, n = 0;
    const bool is_pad = strcmp(word, "pad") == 0;
    if (l.kind == LAYOUT_SHARED && (is_pad || strcmp(word, "moved") == 0)) {
      if (l.num_pads && is_pad) return diag_error(p->ctx, at, "pad is given twice");
      if (!parse_place(p, is_pad, &l)) return false;
      continue;
    }
    while (g < countof(groups) && strcmp(groups[g], word) != 0) g++;
    if (g == countof(groups)) return diag_error(p->ctx, at, "expected reg, lane, warp, block or offset");
    if (g == 4) g = LAYOUT_OFFSET;
    if (!parse_ints(p, cols[g], LAYOUT_MAX_BITS, &n)) return false;
    l.num_bits[g] = (uint8_t)n;
  }
  if (!expect(p, '>')) return false;
  for (uint32_t g = 0; g < LAYOUT_DIMS; g++)
    for (uint32_t i = 0; i < l.num_bits[g]; i++) {
      if (total == LAYOUT_MAX_BITS)
        return diag_error(p->ctx, span, "layout with more than %d columns", LAYOUT_MAX_BITS);
      if (cols[g][i] < 0 || cols[g][i] >> layout_tensor_bits(&l))
        return diag_error(p->ctx, span, "layout column outside the tensor");
      l.basis[total++] = (uint32_t)cols[g][i];
    }
  *out = layout_intern(p->ctx, &l);
  return true;
}

// ptr<elem> or ptr<elem, const>, from `<` on.
static bool parse_ptr(Parser *p, Span span, const Type **out) {
  const Type *elem = NULL;
  p->depth++;
  if (!expect(p, '<') || !parse_type(p, &elem)) return false;
  p->depth--;
  if (elem->kind != TYPE_SCALAR && elem->kind != TYPE_PTR)
    return diag_error(p->ctx, span, "pointer to something other than a scalar");
  bool is_const = accept(p, ',');
  if (is_const && !is_word(p, "const")) return fail(p, "'const'");
  if (is_const) next(p);
  *out = type_ptr(p->ctx, elem, is_const);
  return expect(p, '>');
}

bool parse_type(Parser *p, const Type **out) {
  Span span = p->tok.span;
  const char *word = "";
  if (++p->depth > MAX_PARSE_DEPTH) return diag_error(p->ctx, span, "nested too deeply");
  if (!parse_word(p, "a type", &word)) return false;
  p->depth--;
  ScalarKind scalar;
  if (scalar_find(word, &scalar)) return *out = type_scalar(p->ctx, scalar), true;
  if (strcmp(word, "token") == 0) {
    *out = type_token(p->ctx);
    return true;
  }
  const Type *elem = NULL;
  if (strcmp(word, "ptr") == 0) return parse_ptr(p, span, out);
  bool tensor = strcmp(word, "tensor") == 0, buffer = strcmp(word, "buffer") == 0;
  if (!tensor && !buffer && strcmp(word, "desc") != 0) return diag_error(p->ctx, span, "unknown type '%s'", word);
  if (!expect(p, '<')) return false;
  int64_t shape[MAX_RANK], count = 0;
  uint32_t rank = 0;
  if (buffer) {
    // A count is a number, a space and '*'.
    Lexer ahead = p->lexer;
    LexToken star = lex_next(&ahead);
    if (p->tok.kind == TOK_NUMBER && star.kind == TOK_PUNCT && star.punct == '*') {
      if (!parse_int(p, &count) || !expect(p, '*')) return false;
      if (count < 1 || count > 1024) return diag_error(p->ctx, span, "a multi-buffer has 1 to 1024 tiles");
    }
  }
  if (!parse_dims(p, false, shape, &rank) || !parse_type(p, &elem)) return false;
  if (elem->kind != TYPE_SCALAR && !(tensor && elem->kind == TYPE_PTR))
    return diag_error(p->ctx, span, "%s of something other than scalars", word);
  if (!tensor && !buffer && rank > MAX_DESC_RANK)
    return diag_error(p->ctx, span, "a descriptor of more than %d dimensions", MAX_DESC_RANK);
  const Layout *layout = NULL;
  if (accept(p, ',')) {
    Span at = p->tok.span;
    if (!parse_layout(p, &layout)) return false;
    if (layout->kind != (tensor ? LAYOUT_DISTRIBUTED : LAYOUT_SHARED))
      return diag_error(p->ctx, at, "a %s cannot have a layout of this kind", word);
  }
  if (!expect(p, '>')) return false;
  *out = tensor ? type_tensor(p->ctx, elem, (int)rank, shape, layout)
         : buffer ? type_buffer(p->ctx, elem, (int)rank, shape, layout, (uint32_t)count)
                  : type_desc(p->ctx, elem, (int)rank, shape, layout);
  return true;
}
