// Warnings: code that compiles, and that is probably a mistake.
#ifndef TILE_FRONTEND_LOWER_WARNINGS_H
#define TILE_FRONTEND_LOWER_WARNINGS_H

#include "frontend/lower/builtins.h"

// ---- warn_unused.c, warn_flow.c, warn_compare.c ----
// These check the syntax tree of a function, whatever its specialisation, and report each place once.
void warn_unused_variables(Lower *L, const Node *def);
void warn_unreachable(Lower *L, const Node *def);
void warn_compares(Lower *L, const Node *def);
// Checks a statement that consists of the expression v. It was lowered to t and to the ops of `block` after `before`.
void warn_unused_value(Lower *L, const Node *v, const Term *t, const Block *block, const Op *before);
void lower_warn_left_out(Lower *L, const Func *f);   // warn_atomics.c
void warn_missing_store(Lower *L, const Func *f, const Node *def);
// Of pointers that the kernel does not name, if all of its stores change what it also loads (warn_parameter.c).
void warn_unused_pointers(Lower *L, const Func *f, const Node *def);
void warn_redefinitions(Context *ctx, const Node *module);
bool warn_calls(const NodeList *list);                              // whether code there may have an effect
const CtFunction *lower_called_function(Lower *L, const Node *call);   // the user's that a call is of, or NULL

// ---- warn_flow.c, warn_compare.c: of what is lowered ----
void lower_warn_same_tile(Lower *L, const Node *loop, const Op *op);
void lower_warn_loop_variable(Lower *L, const Node *loop, const Cont *rest);   // rest: what follows the loop
// Warns where e, `a & b` or `a | b`, is the bare operand of a comparison, and one of a and b is a mask, the other not.
void lower_warn_mask(Lower *L, const Node *e, const Term *a, const Term *b);

// ---- warn_values.c, warn_associative.c ----
void lower_warn_shift(Lower *L, bool is_left, const CtType *type, int64_t by, Span span, const char *left);
void lower_warn_shifts(Lower *L, const Term *a, const Term *b, Span span, const char *left);   // of a << b, b a tensor
void lower_warn_pointer_type(Lower *L, const CtValue *a, const CtValue *b, Span span);         // of a == b, a != b
void lower_warn_type_name(Lower *L, const CtValue *a, const CtValue *b, Span span);            // of a == b, a != b
void lower_warn_annotation(Lower *L, const Node *s, const Term *v);                 // of `x: annotation = v`
void lower_warn_pure(Lower *L, const Call *c, const char *text);                    // of inline assembly that is_pure
// Of a constant operand of `what` that becomes `type`.
void lower_warn_lost_constant(Lower *L, const CtValue *c, const CtType *type, const char *what, Span span);
void lower_warn_added_twice(Lower *L, const Term *a, const Term *b);                // of a + b
void lower_warn_padded(Lower *L, const CtFunction *combine, const Term *x);   // of a reduction by combine
void lower_warn_infinite(Lower *L, const CtFunction *combine, const Term *x);   // of a reduction or scan by combine
void lower_warn_softmax(Lower *L, const Term *x, Span span);
void lower_warn_sort(Lower *L, const Term *x, bool descending);
// counted, number: the operands as the user wrote them.
void lower_warn_histogram(Lower *L, Span span, const Value *x, int64_t bins, const char *counted, const char *number);
void lower_warn_float_bits(Lower *L, const Call *c, AtomicKind kind, const CtType *elem);   // of an atomic operation
void lower_warn_signed(Lower *L, const Call *c, Term *const *x);          // of umulhi; x: its operands of one type
void lower_warn_difference(Lower *L, const Call *c, const Term *x, const CtType *to);   // of a conversion of x to `to`
void lower_warn_widened_product(Lower *L, const Term *x, const CtType *to, Span span);   // of a conversion of x to `to`
void lower_warn_clamp(Lower *L, const Call *c, const Term *low, const Term *high);
// Of a load whose pointers and mask are broadcast to `both`.
void lower_warn_widened(Lower *L, const Call *c, const CtType *pointers, const CtType *mask, const CtType *both);
void lower_warn_trans(Lower *L, const Call *c);                           // of two axes that keep their order
void lower_warn_keep_dims(Lower *L, const Call *c, uint32_t i);           // of argument i, a reduction's keep_dims
void lower_warn_fraction(Lower *L, const Call *c, const Term *value, const CtType *elem);   // of an atomic operation
void lower_warn_stored(Lower *L, const Call *c, const Term *value, const CtType *elem);       // of a store
void lower_warn_bool_sum(Lower *L, const Term *a, const Term *b, Span span);                 // of a + b
void lower_warn_nan(Lower *L, PyOp op, const CtValue *a, const CtValue *b, Span span);       // of a comparison
// Of a descriptor or block pointer, whose strides are argument 2.
void lower_warn_row_stride(Lower *L, const Call *c, uint32_t rank, Value *const *shape, Value *const *strides);
void lower_warn_not_associative(Lower *L, const Op *op, const char *function, Span span);   // of a reduce or scan

#endif
