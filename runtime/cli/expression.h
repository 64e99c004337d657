// Expressions over arrays, as NumPy would compute them in fp64: what --expect compares a buffer with.
#ifndef TILE_RUNTIME_EXPRESSION_H
#define TILE_RUNTIME_EXPRESSION_H

#include "runtime/cli/nd.h"

// What a name stands for: NULL if it is none of the caller's.
typedef struct {
  const Nd *(*find)(void *user, const char *name);
  void *user;
  const char *const *names;    // all of them, for suggestions
  uint32_t num_names;
  const char *missing;         // what a name is that is none of them: "is not an argument of the kernel"
} ExpressionScope;

// NULL after a diagnostic in ctx, which points into the text; `what` stands for its file.
const Nd *expression_eval(Context *ctx, const char *what, const char *text, const ExpressionScope *scope);

// The same for what picks elements of an array: a name with indices.
const Nd *expression_pick(Context *ctx, const char *what, const char *text, const ExpressionScope *scope);

#endif
