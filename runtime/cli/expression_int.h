// What the two files of expressions share: expression.c walks the tree, expression_calls.c knows the functions.
#ifndef TILE_RUNTIME_EXPRESSION_INT_H
#define TILE_RUNTIME_EXPRESSION_INT_H

#include "runtime/cli/expression.h"

typedef struct { Context *ctx; Arena *a; const ExpressionScope *scope; } Eval;

const Nd *expression_node(Eval *e, const Node *n);
const Nd *expression_call(Eval *e, const Node *n);
bool expression_is_module(const Eval *e, const Node *n);                // np, np.linalg, …
const Nd *expression_unary(Eval *e, const Nd *x, NdUnary f);
bool expression_int(Eval *e, const Node *n, int64_t *out);
NodeList expression_parts(Node **n);                         // of a tuple or list; of anything else, itself

// False, and no array, after a diagnostic.
#define refuse(e, n, ...) (diag_error((e)->ctx, (n)->span, __VA_ARGS__), false)
#define no_array(e, n, ...) (diag_error((e)->ctx, (n)->span, __VA_ARGS__), (const Nd *)NULL)

// r, or NULL after a diagnostic that says why there is none.
static inline const Nd *checked(Eval *e, const Node *n, const Nd *r, const char **why) {
  return r ? r : no_array(e, n, "%s", *why);
}

#endif
