// Names of the language, and the builtins that they mean.
#ifndef TILE_FRONTEND_LOWER_BUILTINS_H
#define TILE_FRONTEND_LOWER_BUILTINS_H

#include "frontend/lower/lower.h"

typedef struct BuiltinRow BuiltinRow;
typedef struct {
  const BuiltinRow *row;
  Term **args;                 // one for each parameter; a *list is a TERM_TUPLE
  Span *spans;
  bool *given;
  Span span;
  const Node *node;
} Call;
typedef Term *(*BuiltinFn)(Lower *L, Call *c);
struct BuiltinRow { const char *name, *params; BuiltinFn fn; int32_t data; uint8_t method; const char *mark, *doc; };

// ---- names.c ----
// Resolves a canonical builtin name ("tl.load", "libdevice.tanh", "cdiv") to a row (as TERM_CONST of CT_BUILTIN) or a
// prelude function, bound to its direction if the name has one ("libdevice.add_rz"). If there is neither, returns NULL
// without a diagnostic.
Term *builtin_resolve(Lower *L, const char *canonical);
const BuiltinRow *builtin_row_of(const char *canonical);
Term *builtin_find_method(Lower *L, const char *name);                // of tensors: a row or a prelude function
// Whether the method takes fp16 and bf16, as Triton's x.exp() does, while the function tl.exp(x) does not.
bool builtin_method_takes_half(const Term *fn);
bool lower_in_prelude(Lower *L, Span span);                         // whether the code is in a prelude function
const char *lower_prelude_name(Lower *L, Span span);                // the one that the user called; NULL if it is not
Term *lower_prelude_call(Lower *L, const char *name, Term *const *args, uint32_t n, Span span);
bool lower_is_language_name(const char *name);                      // of a row or a prelude function

// ---- builtins.c ----
const BuiltinRow *builtin_find(const char *name);             // name without `tl.`
const BuiltinRow *builtin_at(uint32_t i);
Term *builtin_call(Lower *L, const BuiltinRow *row, Term *self, CallArgs *args);
bool builtin_bind(Lower *L, const BuiltinRow *row, Term *self, CallArgs *args, Call *out);
// A row of builtins_gluon.def by its name there (`mbarrier.init`); NULL if there is none.
const BuiltinRow *builtin_find_gluon(const char *name);
const BuiltinRow *builtin_at_gluon(uint32_t i);   // NULL after the last row of that table
bool builtin_is_gluon(const BuiltinRow *row);                 // whether it is of that table
// builtins_gluon.def may have two rows for a name, the one with fewer parameters first. Returns the row that the call
// fits.
const BuiltinRow *builtin_overload(const BuiltinRow *row, const CallArgs *args);
// A parameter as its row spells it; `otherwise` is its default, or NULL.
typedef struct { const char *name, *otherwise; uint32_t name_size, otherwise_size; bool is_list; } BuiltinParam;
const char *builtin_next_param(const char *params, BuiltinParam *out);   // NULL after the last

// Arguments of builtins. Each gives false or NULL after a diagnostic that names the parameter.
bool arg_is_none(const Call *c, uint32_t i);
const char *arg_function(Lower *L, const Call *c);            // what the user called: of the prelude, or the row
Term *lower_hint_axes(Lower *L, int64_t rank);                // after an error about an axis or a shape's entry; NULL
Term *arg_value(Lower *L, Call *c, uint32_t i);               // run-time value
bool arg_int(Lower *L, Call *c, uint32_t i, int64_t *out);    // constant
bool arg_bool(Lower *L, Call *c, uint32_t i, bool *out);
// After a constant was needed and t is none: where it was declared one, why a loop's variable is none, or `otherwise`.
void lower_hint_constant(Lower *L, const Term *t, const char *otherwise);
bool arg_str(Lower *L, Call *c, uint32_t i, const char **out);        // None gives ""
bool arg_dtype(Lower *L, Call *c, uint32_t i, const CtType **out);
// several constant integers, or a tuple of them
bool arg_ints(Lower *L, Call *c, uint32_t i, int64_t *out, uint32_t max, uint32_t *count);
// `rank` scalar integers, cast to `type`
bool arg_scalars(Lower *L, Call *c, uint32_t i, const CtType *type, uint32_t rank, Value **out);
// A type with the layout that the parameter `layout` gives, if the row has one; NULL after a diagnostic.
const CtType *arg_block(Lower *L, Call *c, const CtType *elem, const int64_t *shape, uint32_t rank);
CtValue *arg_layout(Lower *L, Call *c, uint32_t i, LayoutKind kind);   // also Auto- and CoalescedLayout, if distributed
// negative counts from the end
bool arg_axis(Lower *L, Call *c, uint32_t i, uint32_t rank, int64_t *out);
bool arg_choice(Lower *L, Call *c, uint32_t i, const char *const *texts, uint32_t n, int *out);
// at the call, and at an argument; they give NULL
Term *builtin_error(Lower *L, const Call *c, const char *fmt, ...) PRINTF_LIKE(3, 4);
Term *arg_error(Lower *L, const Call *c, uint32_t i, const char *fmt, ...) PRINTF_LIKE(4, 5);

// ---- builtins_hints.c ----
const char *builtin_arg_text(Lower *L, const Call *c, uint32_t i);   // as written, without its name
// These say whether a hint was added.
bool builtin_hint_alone(Lower *L, const Call *c);
bool builtin_hint_step(Lower *L, const Call *c, const CallArgs *args);   // of arange with a step; always false
bool builtin_hint_position(Lower *L, const Call *c, uint32_t i);
bool builtin_hint_brackets(Lower *L, const Call *c, uint32_t i, uint32_t rank);

// ---- what the families of builtins give to other files ----
void lower_stop_before(Lower *L, const Node *s);                   // the breakpoint of a debugger
bool lower_is_permutation(const int64_t *axes, uint32_t n, uint32_t rank);   // whether n axes are each of rank once
static inline bool atomic_is_bitwise(AtomicKind k) { return k == ATOMIC_AND || k == ATOMIC_OR || k == ATOMIC_XOR; }
// The kind for elements of that type: add, min and max differ for floats and for unsigned integers.
AtomicKind lower_atomic_kind(AtomicKind k, const CtType *elem);
Value *lower_desc_value(Lower *L, const Term *d);
// Lowers a call of tl.make_tensor_descriptor. layout: in Gluon, that of the block.
Term *lower_make_desc(Lower *L, Call *c, CtValue *layout);

// Families; each builder's name is in builtins.def.
#define BUILTIN(name, params, fn, data, method, mark, doc) Term *fn(Lower *L, Call *c);
#include "frontend/lower/builtins.def"
#define BUILTIN(name, params, fn, data, method, mark, doc) Term *fn(Lower *L, Call *c);
#include "frontend/lower/builtins_gluon.def"

#endif
