// The SPEC of --arg and --buf, as the user writes it. Expressions in it stay text until run_bind.c has the kernel's
// module to evaluate them.
#ifndef TILE_RUNTIME_RUN_SPEC_H
#define TILE_RUNTIME_RUN_SPEC_H

#include "runtime/compile/compile.h"

typedef enum {
  ARG_NONE,
  ARG_BOOL,
  ARG_INT,
  ARG_FLOAT,
  ARG_BUFFER,
  ARG_FILE,
  ARG_ALIAS,
  ARG_DESC,
  ARG_TUPLE,
  ARG_CONSTEXPR
} ArgSpecKind;

typedef struct ArgSpec ArgSpec;
struct ArgSpec {
  ArgSpecKind kind;
  const char *text;            // as written, for messages
  bool has_dtype;              // INT, FLOAT: typed; FILE: reinterpreted
  bool is_typed;               // INT, FLOAT: dtype stands before it
  bool is_large;               // FLOAT: a whole number beyond 64 bits
  DtypeKind dtype;
  int64_t i;
  double f;
  StrList dims;                // BUFFER: expressions
  Fill fill;
  const char *name; // FILE: path; ALIAS: whose buffer; TUPLE: the namedtuple it is, or NULL; CONSTEXPR: an expression
  const char *offset;          // ALIAS: expression or NULL
  ArgSpec *base;               // DESC: ALIAS or BUFFER or FILE
  StrList block, shape, strides;   // DESC: expressions; shape and strides empty when not given
  bool pad_nan;
  const char *layout;          // DESC: as SpecValue's
  ArgSpec **items;             // TUPLE
  uint32_t num_items;
};

// Whether a number that has no type of its own is one of the dtype, rounded if need be.
bool run_spec_holds(DtypeKind dtype, const ArgSpec *s);
// NULL after an error of status TILE_ERROR_USAGE.
ArgSpec *run_spec_parse(Arena *a, const char *text, tile_error **error);
// Splits text at the commas outside brackets and quotes.
StrList run_spec_split(Arena *a, const char *text, size_t size);

#endif
