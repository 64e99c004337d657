// mirror_gathers: marks gathers whose index is i ^ c for a constant c: c = N−1 mirrors an axis of N elements, as flips
// do (N−1−i = i ^ N−1), and smaller ones exchange neighbours.
//
//   %i = broadcast(subi 63, range 0…63)
//   %y = gather %x, %i {axis = 1}            →      … {axis = 1, mirror = 63}
//
// The place of element i ^ c is, in any layout, the place of element i xor a place that depends on c alone. Operand
// and result therefore have one layout (layout_rules.h), and the exchange is a renaming of registers and at most one
// shuffle for each word (codegen/lower_combine.c). Gathers of so few rows that warps will share the axis are not
// marked. Two of them, one after the other, are one: their masks of the row-major index combine. A rotation of
// halves is written so: each half mirrored, then the whole row.
// In, out: TILE.
#include "ir/roles.h"
#include "passes/pass.h"

// v, or what it holds in another shape.
static const Value *reshaped(const Value *v) {
  while (value_op(v, OP_RESHAPE) || value_op(v, OP_EXPAND_DIMS) || value_op(v, OP_EXTSI)) v = op_operand(v->def, 0);
  return v;
}

static bool is_range(const Value *v, int64_t n) {
  v = reshaped(v);
  return value_op(v, OP_RANGE) && op_int(v->def, ATTR_START, 0) == 0 && type_numel(v->type) == n;
}

// The mask c if v[i] = i ^ c for i from 0 to n − 1, otherwise 0.
static uint32_t mask_of(const Value *v, int64_t n) {
  v = reshaped(v);
  if (!value_op(v, OP_SUBI) && !value_op(v, OP_XORI)) return 0;
  const Op *op = v->def;
  const uint32_t at = op->opcode == OP_XORI && is_range(op_operand(op, 0), n) ? 0 : 1;
  uint64_t c;
  if (!is_range(op_operand(op, at), n) || !value_constant_bits(op_operand(op, 1 - at), &c)) return 0;
  if (c >= (uint64_t)n) return 0;
  return op->opcode == OP_XORI || c == (uint64_t)n - 1 ? (uint32_t)c : 0;
}

// The position of the axis's lowest bit in the row-major index of all elements.
static uint32_t shift_of(const Type *t, uint32_t axis) {
  uint32_t shift = 0;
  for (uint32_t a = axis + 1; a < t->rank; a++) shift += log2_u32((uint32_t)t->shape[a]);
  return shift;
}

static uint32_t flat_mask(const Op *gather) {
  return (uint32_t)op_int(gather, ATTR_MIRROR, 0)
         << shift_of(gather->results[0].type, (uint32_t)op_int(gather, ATTR_AXIS, 0));
}

// Returns element i ^ mask of x for every row-major index i, as a tensor of type t.
static Value *mirror(Builder *b, Value *x, uint32_t mask, const Type *t) {
  if (!mask) return build_value(b, OP_RESHAPE, t, &x, 1);
  const uint32_t low = (uint32_t)__builtin_ctz(mask), above = 32 - (uint32_t)__builtin_clz(mask);
  const int64_t n = (int64_t)1 << (above - low), shape[] = {type_numel(t) >> above, n, (int64_t)1 << low};
  const int64_t line[] = {1, n, 1};
  const Type *parts = type_tensor(b->ctx, type_elem(t), 3, shape, NULL);
  Value *range = build_range(b, 0, n, NULL);
  Value *index = build_binary(b, OP_XORI, build_int(b, range->type, mask >> low), range);
  index = build_value(b, OP_RESHAPE, type_tensor(b->ctx, type_elem(range->type), 3, line, NULL), &index, 1);
  Value *operands[] = {build_value(b, OP_RESHAPE, parts, &x, 1),
                       build_broadcast(b, index, type_tensor(b->ctx, type_elem(range->type), 3, shape, NULL))};
  Value *v = build_value(b, OP_GATHER, parts, operands, 2);
  op_set_int(b->ctx, v->def, ATTR_AXIS, 1);
  op_set_int(b->ctx, v->def, ATTR_MIRROR, mask >> low);
  return build_value(b, OP_RESHAPE, t, &v, 1);
}

static void visit(Op *op, void *user) {
  if (op->opcode != OP_GATHER) return;
  const Value *index = op_operand(op, 1);
  const uint32_t axis = (uint32_t)op_int(op, ATTR_AXIS, 0);
  Value *x = op_operand(op, 0);
  if (!type_same_shape(x->type, index->type)) return;
  while (value_op(index, OP_BROADCAST)) index = op_operand(index->def, 0);
  if (index->type->shape[axis] != x->type->shape[axis]) return;
  if (type_numel(x->type) / x->type->shape[axis] < op_num_warps(op)) return;     // warps share the axis
  const uint32_t mask = mask_of(index, x->type->shape[axis]);
  if (!mask) return;
  op_set_int(user, op, ATTR_MIRROR, mask);
  while (value_op(x, OP_RESHAPE) && !op_int(x->def, ATTR_REORDER, 0)) x = op_operand(x->def, 0);
  if (!value_op(x, OP_GATHER) || !op_int(x->def, ATTR_MIRROR, 0)) return;
  Builder b = builder_before(user, op);
  Value *both = mirror(&b, op_operand(x->def, 0), flat_mask(x->def) ^ flat_mask(op), op->results[0].type);
  op_replace(op, &both);
}

void pass_mirror_gathers(PassCtx *p) { module_walk(p->module, visit, p->ctx); }
