// The door of syntax: text in, syntax tree out. The tree is ast.h's; pynum.h holds numbers as Python writes them.
#ifndef TILE_FRONTEND_SYNTAX_H
#define TILE_FRONTEND_SYNTAX_H

#include "frontend/syntax/ast.h"
#include "frontend/syntax/pynum.h"

// Parses a whole file. Returns its MODULE (statements that failed are ERROR nodes), never NULL; syntax errors are
// in the Context's diagnostics, so compare diag_error_count before and after.
Node *parse_module(Context *ctx, const SourceFile *file);
// The same for the statements in [begin, end) of the file's text.
Node *parse_part(Context *ctx, const SourceFile *file, uint32_t begin, uint32_t end);
// Parses one expression (a `-D` value, a grid). NULL after an error.
Node *parse_expression(Context *ctx, const SourceFile *file);
Node *parse_expression_part(Context *ctx, const SourceFile *file, uint32_t begin, uint32_t end);

// A readable s-expression, one statement per line; owned by the arena.
const char *ast_dump(Context *ctx, const Node *node);

#endif
