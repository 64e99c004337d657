// Tokens of the IR text form.
#ifndef TILE_IR_LEX_H
#define TILE_IR_LEX_H

#include "ir/context.h"

typedef enum {
  TOK_END,
  TOK_WORD,
  TOK_NUMBER,
  TOK_STRING,
  TOK_VALUE /* %x */,
  TOK_SYMBOL /* @f */,
  TOK_LAYOUT /* #0 */,
  TOK_PUNCT,
  TOK_BAD
} TokenKind;
typedef struct {
  TokenKind kind;
  char punct;              // TOK_PUNCT
  // WORD, NUMBER as written; VALUE, SYMBOL, LAYOUT without the sigil; STRING raw, without quotes.
  const char *text;
  size_t size;
  Span span;
} LexToken;
typedef struct { const SourceFile *file; size_t at; } Lexer;

LexToken lex_next(Lexer *l);
// The characters of a string token with its escapes resolved, interned.
const char *lex_string(Context *ctx, const LexToken *t);

#endif
