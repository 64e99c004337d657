// Tuples of registers in reductions and scans.
#include "codegen/tuple.h"

Tuple tuple_get(const Combine *k, CgValue *const *v, uint32_t r) {
  Tuple t = {0};
  for (uint32_t i = 0; i < k->n; i++) t.x[i] = v[i]->v[r];
  return t;
}

void tuple_put(const Combine *k, CgValue *const *v, uint32_t r, const Tuple *t) {
  for (uint32_t i = 0; i < k->n; i++) v[i]->v[r] = t->x[i];
}

static bool counts_along(const Value *v, uint32_t axis) {
  const Op *op = v->def;
  if (!op) return false;
  const Value *x = op->num_operands ? op_operand(op, 0) : NULL;
  switch (op->opcode) {
  case OP_RANGE: return true;
  case OP_CONVERT_LAYOUT: return counts_along(x, axis);
  case OP_BROADCAST: return x->type->shape[axis] == v->type->shape[axis] && counts_along(x, axis);
  case OP_RESHAPE: return x->type->rank == 1 && type_numel(v->type) == v->type->shape[axis] && counts_along(x, 0);
  case OP_EXPAND_DIMS: {
    const uint32_t added = (uint32_t)op_int(op, ATTR_AXIS, 0);
    return axis != added && counts_along(x, axis - (axis > added));
  }
  default: return false;
  }
}

uint32_t tuple_positions(const Op *op) {
  const Block *b = op->blocks[0];
  const Op *end = block_terminator(b);
  uint32_t n = op->num_results, positions = 0;
  for (uint32_t i = 0; i < n; i++) {
    const Op *choice = op_operand(end, i)->def;
    if (!choice || choice->opcode != OP_SELECT || !counts_along(op_operand(op, i), (uint32_t)op_int(op, ATTR_AXIS, 0)))
      continue;
    const Value *x = op_operand(choice, 1), *y = op_operand(choice, 2), *first = b->args[i], *second = b->args[n + i];
    if ((x == first && y == second) || (x == second && y == first)) positions |= 1u << i;
  }
  return positions;
}

// What the comparison of the two tuples' positions is: 1 or 0, or -1 for another op.
static int known_order(const Combine *k, const Op *op) {
  if (op->opcode != OP_CMPI || !k->rising) return -1;
  const Block *b = k->op->blocks[0];
  for (uint32_t i = 0; i < k->n; i++) {
    if (!(k->rising >> i & 1)) continue;
    const Value *x = op_operand(op, 0), *y = op_operand(op, 1), *first = b->args[i], *second = b->args[k->n + i];
    if (!(x == first && y == second) && !(x == second && y == first)) continue;
    switch (op_int(op, ATTR_PRED, 0)) {
    case CMP_SLT: case CMP_SLE: return x == first;
    case CMP_SGT: case CMP_SGE: return x == second;
    case CMP_EQ: return 0;
    case CMP_NE: return 1;
    default: return -1;
    }
  }
  return -1;
}

Tuple tuple_combine(const Combine *k, const Tuple *acc, const Tuple *x) {
  Block *b = k->op->blocks[0];
  Tuple out = {0};
  for (uint32_t i = 0; i < k->n; i++) {
    cg_set_scalar(k->c, b->args[i], acc->x[i]);
    cg_set_scalar(k->c, b->args[k->n + i], x->x[i]);
  }
  for (Op *op = b->first; op; op = op->next) {
    const int known = known_order(k, op);
    if (known >= 0) cg_set_scalar(k->c, op_result(op, 0), LLVMConstInt(k->c->t_i1, (uint64_t)known, false));
    else if (!op_is(op, TRAIT_TERMINATOR)) cg_lower_op(k->c, op);
  }
  for (uint32_t i = 0; i < k->n; i++) out.x[i] = cg_scalar(op_operand(block_terminator(b), i));
  return out;
}

Tuple tuple_select(const Combine *k, LLVMValueRef p, const Tuple *a, const Tuple *b) {
  Tuple t = {0};
  for (uint32_t i = 0; i < k->n; i++) t.x[i] = cg_select(k->c, p, a->x[i], b->x[i]);
  return t;
}

void tuple_exchange(const Combine *k, const uint32_t *offsets, const PlaceMap *store, CgValue *const *from,
                    const PlaceMap *load,
                    CgValue **to) {
  Cg *c = k->c;
  LLVMValueRef scratch = cg_scratch(c, k->op), at[MAX_COMBINED];
  for (uint32_t i = 0; i < k->n; i++) {
    at[i] = cg_add(c, scratch, cg_i32(c, offsets[i]));
    cg_shared_store(c, at[i], store, type_elem(op_operand(k->op, i)->type), from[i], NULL);
  }
  cg_barrier(c);
  for (uint32_t i = 0; i < k->n; i++) to[i] = cg_shared_load(c, at[i], load, type_elem(op_operand(k->op, i)->type));
}
