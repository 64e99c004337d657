// Builders. Those of ops with one result fold what they can, and callers need not look for constants. build.c and
// fold.c call each other: a builder folds the op that it makes, and folding builds the constant that replaces an op.
#include "ir/build.h"

#include <string.h>

#include "ir/fold.h"
#include "ir/num.h"

Builder builder_at_end(Context *ctx, Func *f, Block *b, Span span) {
  return (Builder){.ctx = ctx, .func = f, .block = b, .span = span};
}

Builder builder_before(Context *ctx, Op *op) {
  return (Builder){.ctx = ctx,
                   .func = op->parent->func,
                   .block = op->parent,
                   .before = op,
                   .span = op->span,
                   .inlined_at = op->inlined_at};
}

Builder builder_after(Context *ctx, Op *op) {
  Builder b = builder_before(ctx, op);
  b.before = op->next;
  return b;
}

static Op *insert(Builder *b, Op *op) {
  op->inlined_at = b->inlined_at;
  if (b->before) op_insert_before(op, b->before); else op_append(op, b->block);
  return op;
}

Op *build_op_typed(Builder *b, Opcode oc, const Type *const *types, uint32_t num_types, Value *const *operands,
                   uint32_t n) {
  const uint32_t blocks = (uint32_t)max_i64(op_info[oc].num_blocks, 0);
  return insert(b, op_new(b->ctx, b->func, oc, b->span, types, num_types, operands, n, blocks));
}

Op *build_op(Builder *b, Opcode oc, Value *const *operands, uint32_t n) {
  const Type **types = arena_array(&b->ctx->arena, const Type *, n < 2 ? 2 : n);
  int count = infer_types(b->ctx, oc, operands, n, NULL, types);
  if (count < 0) ice(b->ctx, "build_op(%s): the result types must be given, or operands do not fit", op_info[oc].name);
  if (op_has(oc, TRAIT_ELEMENTWISE) && !op_takes(oc, operands[op_subject(oc)]->type))   // before folding could hide it
    ice(b->ctx, "build_op(%s): works on %s", op_info[oc].name, op_elems_text(b->ctx, op_info[oc].takes, scalar_name));
  return build_op_typed(b, oc, types, (uint32_t)count, operands, n);
}

Value *build_value(Builder *b, Opcode oc, const Type *type, Value *const *operands, uint32_t n) {
  return op_result(build_op_typed(b, oc, &type, 1, operands, n), 0);
}

Op *build_clone(Builder *b, const Op *op, ValueMap *map) {
  Op *copy = op_clone(b->ctx, op, map);
  if (b->before) op_insert_before(copy, b->before); else op_append(copy, b->block);
  return copy;
}

void build_clone_range(Builder *b, const Op *from, const Op *to, ValueMap *map) {
  for (const Op *op = from; op != to; op = op->next) build_clone(b, op, map);
}

// The folded value, after erasing op; or op's result if it does not fold.
static Value *folded(Builder *b, Op *op) {
  Builder at = *b;
  at.before = op;
  at.block = op->parent;
  Value *v = fold_op(&at, op);
  if (!v) return op_result(op, 0);
  op_erase(op);
  return v;
}

Value *build_elementwise(Builder *b, Opcode oc, Value *const *x, uint32_t n) {
  return folded(b, build_op(b, oc, x, n));
}
Value *build_unary(Builder *b, Opcode oc, Value *x) { return build_elementwise(b, oc, &x, 1); }
Value *build_binary(Builder *b, Opcode oc, Value *x, Value *y) {
  return build_elementwise(b, oc, (Value *[]){x, y}, 2);
}
Value *build_ternary(Builder *b, Opcode oc, Value *x, Value *y, Value *z) {
  return build_elementwise(b, oc, (Value *[]){x, y, z}, 3);
}

Value *build_cast(Builder *b, Opcode oc, Value *x, const Type *elem) {
  const Type *t = type_with_elem(b->ctx, x->type, elem);
  return folded(b, build_op_typed(b, oc, &t, 1, &x, 1));
}

Value *build_cmp(Builder *b, CmpPred pred, Value *x, Value *y) {
  Op *op = build_op(b, type_is_float(x->type) ? OP_CMPF : OP_CMPI, (Value *[]){x, y}, 2);
  op_set_int(b->ctx, op, ATTR_PRED, pred);
  return folded(b, op);
}

Value *build_constant_bits(Builder *b, const Type *t, uint64_t bits) {
  Op *op = build_op_typed(b, OP_CONSTANT, &t, 1, NULL, 0);
  op_set_bits(b->ctx, op, ATTR_VALUE, num_zext(bits, type_elem_bits(t)));
  return op_result(op, 0);
}

Value *build_alloc(Builder *b, const Type *buffer, Value *init) { return build_value(b, OP_ALLOC, buffer, &init, 1); }

Value *build_local_load(Builder *b, Value *buffer, const Type *tensor) {
  return build_value(b, OP_LOCAL_LOAD, tensor, (Value *[]){buffer, NULL}, 2);
}

Op *build_wait(Builder *b, Opcode oc, int64_t count) {
  Op *op = build_op(b, oc, NULL, 0);
  op_set_int(b->ctx, op, ATTR_COUNT, count);
  return op;
}

Value *build_int(Builder *b, const Type *t, int64_t v) { return build_constant_bits(b, t, (uint64_t)v); }

Value *build_float(Builder *b, const Type *t, double v) {
  return build_constant_bits(b, t, num_encode(scalar_num_format(type_elem(t)->scalar), v, NUM_RNE, false));
}

Value *build_i32(Builder *b, int64_t v) { return build_int(b, type_scalar(b->ctx, SC_I32), v); }

Value *build_splat(Builder *b, Value *scalar, const Type *tensor_type) {
  const Type *t = type_with_elem(b->ctx, tensor_type, scalar->type);
  if (!t->rank) return scalar;
  return folded(b, build_op_typed(b, OP_SPLAT, &t, 1, &scalar, 1));
}

Value *build_broadcast(Builder *b, Value *x, const Type *to) {
  if (!x->type->rank) return build_splat(b, x, to);
  const Type *t = type_with_elem(b->ctx, to, type_elem(x->type));
  return folded(b, build_op_typed(b, OP_BROADCAST, &t, 1, &x, 1));
}

Value *build_convert_layout(Builder *b, Value *x, const Layout *layout) {
  if (x->type->layout == layout || !x->type->rank) return x;
  const Type *t = type_with_layout(b->ctx, x->type, layout);
  return folded(b, build_op_typed(b, OP_CONVERT_LAYOUT, &t, 1, &x, 1));
}

Value *build_range(Builder *b, int64_t start, int64_t end, const Layout *layout) {
  const Type *t = type_tensor(b->ctx, type_scalar(b->ctx, SC_I32), 1, (int64_t[]){end - start}, layout);
  Op *op = build_op_typed(b, OP_RANGE, &t, 1, NULL, 0);
  op_set_int(b->ctx, op, ATTR_START, start);
  op_set_int(b->ctx, op, ATTR_END, end);
  return op_result(op, 0);
}

Value *build_expand_dims(Builder *b, Value *x, uint32_t axis) {
  if (x->type->rank == 0) {
    const Type *t = type_tensor(b->ctx, x->type, 1, (int64_t[]){1}, NULL);
    return build_splat(b, x, t);
  }
  Op probe = {.opcode = OP_EXPAND_DIMS};
  op_set_int(b->ctx, &probe, ATTR_AXIS, axis);
  const Type *types[2];
  if (infer_types(b->ctx, OP_EXPAND_DIMS, &x, 1, &probe, types) != 1)
    ice(b->ctx, "build expand_dims: axis %u does not fit", axis);
  Op *op = build_op_typed(b, OP_EXPAND_DIMS, types, 1, &x, 1);
  op_set_int(b->ctx, op, ATTR_AXIS, axis);
  return folded(b, op);
}

Value *build_mask_if(Builder *b, Value *mask, Value *condition, const Type *t) {
  if (type_is_tensor(t)) condition = build_splat(b, condition, type_with_elem(b->ctx, t, type_scalar(b->ctx, SC_I1)));
  return mask ? build_binary(b, OP_ANDI, mask, condition) : condition;
}

Value *build_load(Builder *b, Value *ptr, Value *offset, Value *mask, Value *other) {
  return op_result(build_op(b, OP_LOAD, (Value *[]){ptr, offset, mask, other}, 4), 0);
}

Op *build_store(Builder *b, Value *ptr, Value *offset, Value *value, Value *mask) {
  return build_op(b, OP_STORE, (Value *[]){ptr, offset, value, mask}, 4);
}

Value *build_atomic(Builder *b, AtomicKind kind, Value *ptr, Value *value, Value *mask, int64_t sem, int64_t scope) {
  Op *op = build_op_typed(b, OP_ATOMIC_RMW, &value->type, 1, (Value *[]){ptr, NULL, value, mask}, 4);
  op_set_int(b->ctx, op, ATTR_ATOMIC, kind);
  op_set_int(b->ctx, op, ATTR_SEM, sem);
  op_set_int(b->ctx, op, ATTR_SCOPE, scope);
  return op_result(op, 0);
}

// Ordered as integers, the bits of non-negative floats rise and those of negative ones fall.
Value *build_atomic_float_minmax(Builder *b, bool is_max, Value *ptr, Value *value, Value *mask, int64_t sem,
                                 int64_t scope) {
  const Type *elem = type_elem(value->type), *bits = type_scalar(b->ctx, type_elem_bits(elem) == 64 ? SC_I64 : SC_I32);
  Value *as_int = build_cast(b, OP_BITCAST, value, bits), *zero = build_int(b, as_int->type, 0);
  Value *ints = build_cast(b, OP_BITCAST, ptr, type_ptr(b->ctx, bits, false));
  Value *rising = build_cmp(b, CMP_SGE, as_int, zero), *falling = build_cmp(b, CMP_SLT, as_int, zero);
  Value *up = build_atomic(b, is_max ? ATOMIC_MAX : ATOMIC_MIN, ints, as_int,
                           mask ? build_binary(b, OP_ANDI, mask, rising) : rising, sem, scope);
  Value *down = build_atomic(b, is_max ? ATOMIC_UMIN : ATOMIC_UMAX, ints, as_int,
                             mask ? build_binary(b, OP_ANDI, mask, falling) : falling, sem, scope);
  return build_cast(b, OP_BITCAST, build_ternary(b, OP_SELECT, rising, up, down), elem);
}

// ---- structured control flow ----

static BuildRegion enter(Builder *b, Op *op, uint32_t block) {
  BuildRegion r = {op, b->block, b->before};
  b->block = op->blocks[block];
  b->before = NULL;
  return r;
}

static Op *leave(Builder *b, BuildRegion r) {
  b->block = r.outer;
  b->before = r.before;
  return r.op;
}

static void yield(Builder *b, Value *const *values, uint32_t n) { build_op_typed(b, OP_YIELD, NULL, 0, values, n); }

BuildRegion build_for_begin(Builder *b, Value *lb, Value *ub, Value *step, Value *const *inits, uint32_t n,
                            Value **carried) {
  const Type **types = arena_array(&b->ctx->arena, const Type *, n);
  Value **operands = arena_array(&b->ctx->arena, Value *, n + 3);
  operands[0] = lb, operands[1] = ub, operands[2] = step;
  for (uint32_t i = 0; i < n; i++) {
    types[i] = inits[i]->type;
    operands[i + 3] = inits[i];
  }
  Op *op = build_op_typed(b, OP_FOR, types, n, operands, n + 3);
  block_add_arg(b->ctx, op->blocks[0], lb->type);
  for (uint32_t i = 0; i < n; i++) carried[i] = block_add_arg(b->ctx, op->blocks[0], types[i]);
  return enter(b, op, 0);
}

Op *build_for_end(Builder *b, BuildRegion r, Value *const *yields) {
  yield(b, yields, r.op->num_results);
  return leave(b, r);
}

BuildRegion build_if_begin(Builder *b, Value *cond, const Type *const *types, uint32_t n) {
  return enter(b, build_op_typed(b, OP_IF, types, n, &cond, 1), 0);
}

void build_if_else(Builder *b, BuildRegion *r, Value *const *yields) {
  yield(b, yields, r->op->num_results);
  b->block = r->op->blocks[1];
  b->before = NULL;
}

Op *build_roles(Builder *b, const Type *const *types, uint32_t n, const int64_t *warps, const int64_t *registers,
                uint32_t num_workers) {
  Op *op = build_op_typed(b, OP_ROLES, types, n, NULL, 0);
  op_set_ints(b->ctx, op, ATTR_WARPS, warps, num_workers);
  if (registers) op_set_ints(b->ctx, op, ATTR_REGISTERS, registers, num_workers);
  for (uint32_t i = 0; i <= num_workers; i++) op_add_block(b->ctx, b->func, op);
  return op;
}

Op *build_if_end(Builder *b, BuildRegion r, Value *const *yields) {
  if (b->block == r.op->blocks[0]) build_if_else(b, &r, yields);   // no else: nothing is yielded
  yield(b, yields, r.op->num_results);
  return leave(b, r);
}

