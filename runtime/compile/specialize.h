// What Triton's JIT derives from an argument: its type, its hint (:1, :16), its value for heuristics. `tilec run` and
// the JIT share these rules; the JIT's key must change exactly when these results do.
#ifndef TILE_RUNTIME_SPECIALIZE_H
#define TILE_RUNTIME_SPECIALIZE_H

#include "frontend/frontend.h"

typedef enum {
  VALUE_NONE,
  VALUE_BOOL,
  VALUE_INT,
  VALUE_FLOAT,
  VALUE_POINTER,
  VALUE_DESC,
  VALUE_TUPLE,
  VALUE_CONSTEXPR
} ValueKind;

typedef struct SpecValue SpecValue;
struct SpecValue {
  ValueKind kind;
  const char *text;            // as the user wrote it: for messages, and the value of a constexpr
  bool has_dtype;              // INT, FLOAT: typed. POINTER and DESC always are
  DtypeKind dtype;
  int64_t i;
  double f;
  uint64_t address;            // POINTER: any number with the same remainder by 16
  uint32_t rank;               // DESC
  int64_t block[CT_MAX_RANK];
  bool pad_nan;
  const char *layout;          // DESC: of its block, in Gluon: "NVMMASharedLayout(64, 16)"; NULL: the default
  const SpecValue *items;      // TUPLE
  uint32_t num_items;
  const char *class_name;      // TUPLE: the namedtuple it is, or NULL
  const char *expression;      // CONSTEXPR: evaluated by the kernel's module
};

// The hint for an integer or an address: 1, 16, or 0 for none.
static inline int specialize_hint(bool is_pointer, bool is_annotated, bool never, bool never_aligned, uint64_t value) {
  if (never) return 0;
  if (!is_pointer && value == 1 && !is_annotated) return 1;
  return value % 16 == 0 && !never_aligned ? 16 : 0;
}

// "i32", "*fp16", "tensordesc<fp16[64,32]>"; without a hint.
const char *specialize_type(Arena *a, const SpecValue *v, const CtParam *param);
// Sets parameter i from v. origin says in messages where v comes from. False after a diagnostic; *is_usage_error
// becomes true if the argument's type is not the one that the kernel's annotation says. keep_types: --signature gives
// the types.
bool specialize_param(Frontend *fe, Context *ctx, const CtFunction *k, ParamSpec *specs, uint32_t i, const SpecValue *v,
                      const char *origin, bool keep_types, bool *is_usage_error);
// What a heuristic sees: scalars as values, buffers as their pointer type, tuples of these.
CtValue *specialize_heuristic_value(Frontend *fe, Context *ctx, const SpecValue *v);
CtValue *specialize_scalar_value(Context *ctx, const SpecValue *v);   // NULL for POINTER, DESC and TUPLE

#endif
