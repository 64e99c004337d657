// The state and the tokens of the IR reader, which parse.c and parse_type.c share.
#ifndef TILE_IR_PARSER_H
#define TILE_IR_PARSER_H

#include <string.h>

#include "ir/ir.h"
#include "ir/lex.h"

enum { MAX_PARSE_DEPTH = 200 };

typedef struct {
  Context *ctx;
  Lexer lexer;
  LexToken tok;
  Module *module;
  Func *func;
  VEC(struct { const char *name; const Layout *layout; }) layouts;
  VEC(const char *) scope;             // names in the order of their definition; a block's are undone at its end
  Map names;                           // interned name → its Value, NULL out of scope
  uint32_t depth;
} Parser;

static inline void next(Parser *p) { p->tok = lex_next(&p->lexer); }

static inline bool fail(Parser *p, const char *what) {
  LexToken *t = &p->tok;
  if (t->kind == TOK_END) return diag_error(p->ctx, t->span, "expected %s, found the end of the file", what);
  return diag_error(p->ctx, t->span, "expected %s", what);
}

static inline bool is_punct(const Parser *p, char c) { return p->tok.kind == TOK_PUNCT && p->tok.punct == c; }
static inline bool is_word(const Parser *p, const char *w) {
  return p->tok.kind == TOK_WORD && p->tok.size == strlen(w) && memcmp(p->tok.text, w, p->tok.size) == 0;
}
static inline bool accept(Parser *p, char c) {
  if (!is_punct(p, c)) return false;
  next(p);
  return true;
}
static inline bool expect(Parser *p, char c) {
  if (accept(p, c)) return true;
  return fail(p, (char[]){'\'', c, '\'', 0});
}
static inline const char *token_text(Parser *p) { return intern_n(p->ctx, p->tok.text, p->tok.size); }

// ---- parse_type.c ----
// Each reads one thing at the current token and returns false after a diagnostic. `what` is what the message expects.
bool parse_word(Parser *p, const char *what, const char **out);
bool parse_int(Parser *p, int64_t *out);
bool parse_ints(Parser *p, int64_t *out, uint32_t max, uint32_t *n);
bool parse_layout(Parser *p, const Layout **out);   // by its name, or written out
bool parse_type(Parser *p, const Type **out);

#endif
