// A call of a function of the source, and what the function sees of the launch's arguments.
#ifndef TILE_RUNTIME_JIT_SOURCE_H
#define TILE_RUNTIME_JIT_SOURCE_H

#include "runtime/jit/jit_impl.h"

typedef struct {
  tile_jit_kernel *k;
  const Request *r;
  Context *ctx;
  Comptime *ct;
  CtValue **args;                    // one for each parameter; NULL: not given
  CtValue *log;                      // a list of (index, number or array) for each change of an array
  bool is_blind;                     // hides the values that another launch may have otherwise: a function that looks
                                     // at one fails
} Call;

// objects.c: a dict from name to value of all arguments that are given; values of the configuration (NULL: none) win.
// NULL after diagnostics.
CtValue *objects_of_args(Call *c, const CtConfig *config);

#endif
