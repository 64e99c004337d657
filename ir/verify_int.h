// Inside the verifier: what the rules of verify_rules.c and verify_shared.c share. A rule may rely on the checks of
// verify.c: counts, links, visibility and layouts.
#ifndef TILE_IR_VERIFY_INT_H
#define TILE_IR_VERIFY_INT_H

#include "ir/ir.h"

typedef struct { Module *m; Context *ctx; uint32_t order; bool ok; } Verifier;

bool verify_fail(Verifier *v, const Op *op, const char *fmt, ...) PRINTF_LIKE(3, 4);
#define RETURN_UNLESS(cond, ...)                         \
  do {                                                   \
    if (!(cond)) return verify_fail(v, op, __VA_ARGS__); \
  } while (0)

// The types of operands (NULL if absent) and of results.
static inline const Type *in(const Op *op, uint32_t i) {
  return i < op->num_operands && op_operand(op, i) ? op_operand(op, i)->type : NULL;
}
static inline const Type *out(const Op *op, uint32_t i) { return op->results[i].type; }
static inline bool is_i1(const Type *t) { return type_is_scalar(type_elem(t), SC_I1); }
static inline bool is_i32(const Type *t) { return type_is_scalar(t, SC_I32); }
static inline bool like(const Type *a, const Type *b) { return type_same_shape(a, b) && a->layout == b->layout; }
// An access through operands `ptr` and `ptr` + 1 (the offset, optional). *shape is the shape of the access.
bool verify_address(Verifier *v, const Op *op, uint32_t ptr, const Type **shape);
// A mask of that shape, or NULL for none.
bool verify_mask(Verifier *v, const Op *op, const Type *mask, const Type *shape);
// The operands from `first` on are `rank` coordinates.
bool verify_coords(Verifier *v, const Op *op, uint32_t first, uint32_t rank);
// The shapes and elements of c += a·b.
bool verify_product(Verifier *v, const Op *op, const Type *a, const Type *b, const Type *c);

#define OP(id, name, operands, results, blocks, traits, stages, elems, unit, infer, verify, how)                       \
  bool verify_##verify(Verifier *v, const Op *op);
#include "ir/ops.def"

#endif
