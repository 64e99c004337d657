// uniform_loads: a tensor's load that reads one address for all elements becomes a scalar load, for example of a scale
// that a block of columns shares:
//
//   %v = load %p, %o, %m, %x : tensor<…>    →      %s = load (addptr %p, %o[0]), _, %m[0], %x[0]
//                                                  %v = splat %s
//
// Its value then has any layout, and what is computed of it alone is computed once. The first elements of the operands
// are computed as scalars.
// In, out: TILE.
#include "passes/axis_info.h"
#include "passes/pass.h"

enum { DEEPEST = 16 };      // ops from a tensor's first element to scalars

typedef struct { Context *ctx; AxisAnalysis *axes; } Uniform;

static bool is_uniform(Uniform *s, Value *v) {
  if (!v || !type_is_tensor(v->type)) return true;
  const AxisInfo *x = axis_info(s->axes, v);
  for (uint32_t a = 0; a < v->type->rank; a++)
    if (x->constancy[a] < v->type->shape[a]) return false;
  return true;
}

// Whether the first element of v can be computed from scalars.
static bool has_first(const Value *v, uint32_t depth) {
  uint64_t bits;
  if (!v || !type_is_tensor(v->type) || value_constant_bits(v, &bits)) return true;
  const Op *op = v->def;
  if (!op || !depth) return false;
  if (op->opcode == OP_SPLAT || op->opcode == OP_RANGE) return true;
  const bool keeps_first = op_is(op, TRAIT_MOVES) && op_unit(op) == UNIT_NONE && op->num_operands == 1 &&
                           op->num_results == 1;
  if (!keeps_first && !(op_is(op, TRAIT_ELEMENTWISE) && op_is(op, TRAIT_PURE))) return false;
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (!has_first(op_operand(op, i), depth - 1)) return false;
  return true;
}

static Value *first(Builder *b, Value *v) {
  uint64_t bits;
  if (!v || !type_is_tensor(v->type)) return v;
  Op *op = v->def;
  if (value_constant_bits(v, &bits)) return build_constant_bits(b, type_elem(v->type), bits);
  if (op->opcode == OP_RANGE) return build_int(b, type_elem(v->type), op_int(op, ATTR_START, 0));
  if (op_is(op, TRAIT_MOVES)) return first(b, op_operand(op, 0));
  ValueMap *map = value_map_new(b->ctx);
  for (uint32_t i = 0; i < op->num_operands; i++)
    value_map_set(b->ctx, map, op_operand(op, i), first(b, op_operand(op, i)));
  Op *copy = build_clone(b, op, map);
  copy->results[0].type = type_elem(v->type);
  return op_result(copy, 0);
}

static void visit(Op *load, void *user) {
  Uniform *s = user;
  if (load->opcode != OP_LOAD || !type_is_tensor(load->results[0].type) || op_int(load, ATTR_VOLATILE, 0)) return;
  Value *ptr = op_named(load, OPERAND_PTR), *offset = op_named(load, OPERAND_OFFSET);
  if (type_is_tensor(ptr->type) || !offset) return;
  for (uint32_t i = 1; i < load->num_operands; i++) {
    Value *v = op_operand(load, i);
    if (!is_uniform(s, v) || !has_first(v, DEEPEST)) return;
  }
  const Type *t = load->results[0].type;
  Builder b = builder_before(s->ctx, load);
  Value *at = op_result(build_op(&b, OP_ADDPTR, (Value *[]){ptr, first(&b, offset)}, 2), 0);
  Value *mask = first(&b, op_named(load, OPERAND_MASK)), *other = first(&b, op_named(load, OPERAND_OTHER));
  Op *scalar = build_clone(&b, load, value_map_new(s->ctx));
  scalar->results[0].type = type_elem(t);
  Value *operands[] = {at, NULL, mask, other};
  for (uint32_t i = 0; i < countof(operands); i++) op_set_operand(scalar, i, operands[i]);
  Value *made = build_splat(&b, op_result(scalar, 0), t);
  op_replace(load, &made);
}

void pass_uniform_loads(PassCtx *p) {
  Uniform s = {p->ctx, axis_analyse(p->ctx, p->module)};
  module_walk(p->module, visit, &s);
}
