// Builds IR at a cursor. The cursor holds a source position, and every op gets it.
#ifndef TILE_IR_BUILD_H
#define TILE_IR_BUILD_H

#include "ir/ir.h"

typedef struct {
  Context *ctx;
  Func *func;
  Block *block;            // where new ops go …
  Op *before;              // … before this op, or at the end if NULL
  Span span;
  const CallSite *inlined_at;
} Builder;

Builder builder_at_end(Context *ctx, Func *f, Block *b, Span span);
Builder builder_before(Context *ctx, Op *op);            // takes span and call chain from op
Builder builder_after(Context *ctx, Op *op);             // likewise

// The result types by the op's infer rule, if operands and attributes (of attrs_of, which may be NULL) decide them.
// Returns how many there are, or −1 if the builder must give them (rule `explicit`). out has room for max(num_operands,
// 2).
int infer_types(Context *ctx, Opcode oc, Value *const *operands, uint32_t n, const Op *attrs_of, const Type **out);

// Any op, with the result types of its infer rule or given ones. The caller sets attributes on the op afterwards; ops
// whose types depend on attributes have their own builder below.
Op *build_op(Builder *b, Opcode oc, Value *const *operands, uint32_t n);
Op *build_op_typed(Builder *b, Opcode oc, const Type *const *types, uint32_t num_types, Value *const *operands,
                   uint32_t n);
// The one result of an op, not folded.
Value *build_value(Builder *b, Opcode oc, const Type *type, Value *const *operands, uint32_t n);
Op *build_clone(Builder *b, const Op *op, ValueMap *map);                    // op_clone at the cursor
// Clones the ops from `from` up to, but not including, `to`.
void build_clone_range(Builder *b, const Op *from, const Op *to, ValueMap *map);
// Ops with one result. These fold what they can (fold.c) and return the folded value.
Value *build_elementwise(Builder *b, Opcode oc, Value *const *x, uint32_t n);
Value *build_unary(Builder *b, Opcode oc, Value *x);
Value *build_binary(Builder *b, Opcode oc, Value *x, Value *y);
Value *build_ternary(Builder *b, Opcode oc, Value *x, Value *y, Value *z);
Value *build_cast(Builder *b, Opcode oc, Value *x, const Type *elem);        // shape and layout of x, element elem
Value *build_cmp(Builder *b, CmpPred pred, Value *x, Value *y);              // cmpi or cmpf by operand type
Value *build_constant_bits(Builder *b, const Type *t, uint64_t bits);
Value *build_int(Builder *b, const Type *t, int64_t v);                      // wrapped to the width
Value *build_float(Builder *b, const Type *t, double v);                     // rounded to the type
Value *build_i32(Builder *b, int64_t v);
// The element type is the scalar's.
Value *build_splat(Builder *b, Value *scalar, const Type *tensor_type);
Value *build_broadcast(Builder *b, Value *x, const Type *to);
Value *build_convert_layout(Builder *b, Value *x, const Layout *layout);     // x itself if it has that layout
Value *build_range(Builder *b, int64_t start, int64_t end, const Layout *layout);
Value *build_expand_dims(Builder *b, Value *x, uint32_t axis);
// The mask, or NULL, of an access to a value of type t, if it is only to be done where the i1 `condition` holds.
Value *build_mask_if(Builder *b, Value *mask, Value *condition, const Type *t);
Value *build_load(Builder *b, Value *ptr, Value *offset, Value *mask, Value *other);
Op *build_store(Builder *b, Value *ptr, Value *offset, Value *value, Value *mask);
Value *build_atomic(Builder *b, AtomicKind kind, Value *ptr, Value *value, Value *mask, int64_t sem, int64_t scope);
// The minimum or maximum of floats of 32 or 64 bits, by the integer atomics that the machine has.
Value *build_atomic_float_minmax(Builder *b, bool is_max, Value *ptr, Value *value, Value *mask, int64_t sem,
                                 int64_t scope);

Value *build_alloc(Builder *b, const Type *buffer, Value *init);             // init NULL: uninitialised
Value *build_local_load(Builder *b, Value *buffer, const Type *tensor);
// An op that waits until at most `count` groups are in flight.
Op *build_wait(Builder *b, Opcode oc, int64_t count);

// Structured control flow. Between begin and end the cursor is inside the block.
typedef struct { Op *op; Block *outer; Op *before; } BuildRegion;
// for: fills carried[] with the block arguments; iv is op->blocks[0]->args[0].
BuildRegion build_for_begin(Builder *b, Value *lb, Value *ub, Value *step, Value *const *inits, uint32_t n,
                            Value **carried);
Op *build_for_end(Builder *b, BuildRegion r, Value *const *yields);          // yields n values; cursor back outside
BuildRegion build_if_begin(Builder *b, Value *cond, const Type *const *types, uint32_t n);
void build_if_else(Builder *b, BuildRegion *r, Value *const *yields);        // yields of then
Op *build_if_end(Builder *b, BuildRegion r, Value *const *yields);           // yields of else
// roles: an op with num_workers + 1 empty blocks, which the caller fills; each ends in a yield, block 0's of n values
// of these types. warps and registers (NULL: nobody asks for any) are of the workers. The cursor stays outside.
Op *build_roles(Builder *b, const Type *const *types, uint32_t n, const int64_t *warps, const int64_t *registers,
                uint32_t num_workers);

#endif
