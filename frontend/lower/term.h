// Terms, the types of the language, and operations on them.
#ifndef TILE_FRONTEND_LOWER_TERM_H
#define TILE_FRONTEND_LOWER_TERM_H

#include "frontend/lower/lower.h"

// ---- term.c ----
Term *term_const(Lower *L, CtValue *v);                        // tuples and lists become TERM_TUPLE; NULL for NULL
Term *term_found(Lower *L, CtValue *v, Span span);             // the same; NULL after a diagnostic if v is missing
Term *term_none(Lower *L);
Term *term_bool(Lower *L, bool b);
Term *term_int(Lower *L, int64_t i);
Term *term_value(Lower *L, Value *v, const CtType *type);
Term *term_tuple(Lower *L, Term *const *items, uint32_t count, CtClass *cls);
Term *term_bound(Lower *L, Term *self, Term *fn);
CtValue *term_to_ct(Lower *L, const Term *t);                  // NULL if any part is known only at run time
static inline bool term_is_const(const Term *t) { return t && t->kind == TERM_CONST; }
bool term_is_none(const Term *t);
bool term_get_int(const Term *t, int64_t *out);                // constant int or bool
bool term_get_str(const Term *t, const char **out);
bool term_get_dtype(const Term *t, const CtType **out);
bool term_is_number(const Term *t);                            // a constant bool, int or float
// The type of a number as a run-time value; NULL if no type holds it.
const CtType *term_number_type(Lower *L, const CtValue *v);
bool term_is_tensor(const Term *t);                            // TERM_VALUE of block type
// The run-time value of a term. A constant becomes a scalar of the first type that holds it: int1 for a bool, int32,
// uint32, int64, uint64 for an int, fp32, fp64 for a float. NULL after a diagnostic that calls the term `what`.
Term *term_to_value(Lower *L, Term *t, Span span, const char *what);
Term *term_decay(Lower *L, Term *t, Span span);                // what plain assignment does
// What a function returns. As in Triton, operators take a returned number as a value of its own type; term_recall gives
// the constant back to what needs one.
Term *term_returned(Lower *L, Term *t, Span span);
Term *term_recall(Lower *L, Term *t);
const char *term_describe(Lower *L, const Term *t);            // "int32", "fp16[128, 64]", "constexpr 16", "tuple", …
bool term_same_type(Lower *L, const Term *a, const Term *b);   // equal constants, or equal run-time types
// Returns a with accumulators in place of its tensors wherever b has accumulators (then *to_acc). NULL if a and b differ
// in anything else; a layout that only one of them has is no difference.
Term *term_settle(Lower *L, Term *a, Term *b, bool *to_acc);
// x with the layouts of `like`, also none, where one of them has none.
Term *term_in_layout_of(Lower *L, Term *x, const Term *like);
void term_flatten(Lower *L, const Term *t, ValueList *out);    // the IR values in it, in a fixed order
Term *term_rebuild(Lower *L, const Term *like, Value *const *values, uint32_t *pos);   // the reverse
// Any value of that type, for paths on which nothing reads it.
Value *term_zero(Lower *L, const Type *type);
void values_append(Lower *L, ValueList *to, const ValueList *from);
static inline Value *term_v(const Term *t) { return t->value.v; }
static inline const CtType *term_t(const Term *t) { return t->value.type; }

// ---- ops of the IR, term.c ----
static inline void lower_cursor_to_end(Lower *L, Block *b) {
  L->b.block = b;
  L->b.before = NULL;
}
// An op at the end of the current block that gets its results later, by lower_replace_op.
Op *lower_new_shell(Lower *L, Opcode oc, Value *const *operands, uint32_t n, uint32_t num_blocks);
// An op with one result of type t, and that result.
Op *lower_new_op(Lower *L, Opcode oc, const CtType *t, Value *const *operands, uint32_t n);
static inline Term *term_of_op(Lower *L, Op *op, const CtType *t) { return term_value(L, op_result(op, 0), t); }
// Replaces a shell without results by the op with them, once its blocks are lowered and the types are known.
Op *lower_replace_op(Lower *L, Op *shell, const Type *const *types, uint32_t num_types, Value *const *operands,
                     uint32_t n);

// ---- types.c ----
const Type *lower_ir_type(Lower *L, const CtType *t);
const Type *lower_ir_desc_type(Lower *L, const CtType *block);     // of a descriptor of such blocks
const Type *lower_ir_elem_type(Lower *L, const CtType *t);           // of a scalar or pointer type
const CtType *lower_with_elem(Lower *L, const CtType *t, const CtType *elem);
const CtType *lower_shaped(Lower *L, const CtType *elem, const int64_t *shape, uint32_t rank);
const char *lower_shape_text(Lower *L, const CtType *t);          // "[128, 64]"
static inline const CtType *lower_scalar(Lower *L, DtypeKind k) { return ct_type_scalar(L->ctx, k); }
// Checks sizes: powers of two, at most 2^20 elements, rank at most MAX_RANK. False after a diagnostic.
bool lower_check_shape(Lower *L, const int64_t *shape, uint32_t rank, Span span);
enum { MAX_TENSOR_NUMEL = 1 << 20 };

// ---- promote.c, operators.c ----
typedef enum { DOWNCAST_DEFAULT, DOWNCAST_RTNE, DOWNCAST_RTZ } Downcast;
// `to`: scalar or pointer type; NULL x gives NULL
Term *lower_cast(Lower *L, Term *x, const CtType *to, Span span);
Term *lower_cast_to(Lower *L, Term *x, DtypeKind to, Span span);
Term *lower_cast_rounded(Lower *L, Term *x, const CtType *to, Downcast rounding, Span span);
bool lower_has_rtz(const CtType *from, const CtType *to);   // whether a narrowing of floats can round toward 0
// Whether the target computes with values of the type: it may be an fp8 type that it lacks. False after a diagnostic.
bool lower_check_fp8(Lower *L, const CtType *t, Span span);
bool lower_check_fp8_exists(Lower *L, const CtType *t, Span span);   // on any target: what a dot takes
Term *lower_bitcast(Lower *L, Term *x, const CtType *to, Span span);
// of values of one type and shape
Term *lower_elementwise(Lower *L, Opcode oc, Term **x, uint32_t n);
// arithmetic, bits, comparison
Term *lower_binary(Lower *L, PyOp op, Term *a, Term *b, Span span);
Term *lower_operator_method(Lower *L, Term *x, const char *name);   // x.__add__ and the like; NULL: no operator's
Term *lower_call_operator(Lower *L, Term *self, const char *name, CallArgs *args);   // what lower_operator_method found
void lower_assert(Lower *L, Value *condition, Span span, const char *text);   // of --debug
Term *lower_unary(Lower *L, PyOp op, Term *x, Span span);
// Gives both operands one type and one shape, by the rules of binary operators. bits: only integers are promoted.
typedef struct { bool allow_left_ptr, allow_right_ptr, div_or_mod, bits, compares; } PromoteRule;
bool lower_promote(Lower *L, Term **a, Term **b, PromoteRule rule, const char *what, Span span);
// The same for two operands or more, any of which may be constants.
bool lower_promote_all(Lower *L, Term **x, uint32_t n, const char *what, Span span);
bool lower_broadcast_pair(Lower *L, Term **a, Term **b, Span span);
Term *lower_broadcast_to(Lower *L, Term *x, const int64_t *shape, uint32_t rank, Span span);
Term *lower_like(Lower *L, Term *x, const Term *like, Span span);   // x in the shape of `like`, which a message may trace
Term *term_full(Lower *L, const CtType *type, double f, int64_t i);
Term *lower_not_zero(Lower *L, Term *x, Span span);                                       // x != 0 as int1
const char *lower_inverted_integer(Lower *L, const Term *x);   // if x is the user's ~y: the text of y; otherwise NULL
Term *lower_logical_not(Lower *L, Term *x, Span span);
// a and b have one type and c's shape
Term *lower_select(Lower *L, Term *c, Term *a, Term *b);
// Evaluates a condition: *known is 0 or 1 for a constant, or -1 for a run-time i1 scalar, which is *v then. False after
// a diagnostic.
bool lower_condition(Lower *L, Term *c, Span span, const char *what, int *known, Value **v);

// ---- builtins_shape.c ----
Term *lower_expand_dims(Lower *L, Term *x, int64_t axis);
Term *lower_reshape(Lower *L, Term *x, const int64_t *shape, uint32_t rank, bool reorder);
Term *lower_trans(Lower *L, Term *x, const int64_t *order);

#endif
