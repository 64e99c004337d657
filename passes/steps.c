// Constant differences between neighbours along an axis: see steps.h.
#include "passes/steps.h"

#include "passes/axis_lattice.h"

static int64_t plus(int64_t x, int64_t y, int64_t factor) {
  int64_t r;
  const bool wraps = x == NO_STEP || y == NO_STEP || __builtin_mul_overflow(y, factor, &r) ||
                     __builtin_add_overflow(x, r, &r);
  return wraps ? NO_STEP : r;
}

static Steps sum(const Steps *x, const Steps *y, int64_t factor) {
  Steps r;
  for (uint32_t i = 0; i < MAX_RANK; i++) r.by[i] = plus(x->by[i], y->by[i], factor);
  return r;
}

// x · y, or x << y.
static Steps product(StepAnalysis *a, const Op *op) {
  Steps x = *steps_of(a, op_operand(op, 0)), y = *steps_of(a, op_operand(op, 1)), r;
  int64_t p, q;
  bool has_p = value_constant_int(op_operand(op, 0), &p) && op->opcode == OP_MULI;
  bool has_q = value_constant_int(op_operand(op, 1), &q);
  if (has_q && op->opcode == OP_SHLI) {
    has_q = q >= 0 && q < 31;
    q = has_q ? (int64_t)1 << q : 0;
  }
  for (uint32_t i = 0; i < MAX_RANK; i++) {
    if (!x.by[i] && !y.by[i]) r.by[i] = 0;
    else r.by[i] = has_q ? plus(0, x.by[i], q) : has_p ? plus(0, y.by[i], p) : NO_STEP;
  }
  return r;
}

static Steps moved(StepAnalysis *a, const Op *op) {
  const Steps x = *steps_of(a, op_operand(op, 0));
  Steps r = {0};
  for (uint32_t i = 0; i < op->results[0].type->rank; i++) {
    const int from = axis_of_operand(op, i);
    if (from >= 0) r.by[i] = x.by[from];
  }
  return r;
}

// Equal elements have step 0, whatever computed them.
static Steps equal_elements(StepAnalysis *a, Value *v) {
  const AxisInfo *x = axis_info(a->axes, v);
  Steps r = {0};
  for (uint32_t i = 0; i < v->type->rank; i++)
    if (x->constancy[i] < v->type->shape[i]) r.by[i] = NO_STEP;
  return r;
}

bool steps_are_exact(StepAnalysis *a, Value *v) {
  const AxisInfo *x = axis_info(a->axes, v);
  return type_elem_bits(v->type) >= 64 || x->nonneg || x->hi - x->lo <= INT32_MAX;
}

static Steps compute(StepAnalysis *a, Value *v) {
  const Op *op = v->def;
  if (!type_is_tensor(v->type)) return (Steps){0};
  if (!op || (!type_is_int(v->type) && !type_is_ptr(v->type))) return equal_elements(a, v);
  switch (op->opcode) {
    case OP_RANGE: return (Steps){{v->type->shape[0] > 1}};
    case OP_SPLAT: return (Steps){0};
    case OP_ADDI: case OP_SUBI:
      return sum(steps_of(a, op_operand(op, 0)), steps_of(a, op_operand(op, 1)), op->opcode == OP_ADDI ? 1 : -1);
    case OP_ADDPTR:
      return sum(steps_of(a, op_operand(op, 0)), steps_of(a, op_operand(op, 1)),
                 type_elem_bytes(type_elem(v->type)->elem));
    case OP_MULI: case OP_SHLI: return product(a, op);
    case OP_HINT: case OP_CONVERT_LAYOUT: return *steps_of(a, op_operand(op, 0));
    case OP_EXTSI: case OP_EXTUI:
      if (type_elem_bits(op_operand(op, 0)->type) < 32 || !steps_are_exact(a, op_operand(op, 0)) ||
          (op->opcode == OP_EXTUI && !axis_info(a->axes, op_operand(op, 0))->nonneg))
        break;
      return *steps_of(a, op_operand(op, 0));
    case OP_BROADCAST: case OP_EXPAND_DIMS: case OP_TRANS: return moved(a, op);
    default: break;
  }
  return equal_elements(a, v);
}

const Steps *steps_of(StepAnalysis *a, Value *v) {
  const MapSlot *known = map_get(&a->known, v);
  if (known) return known->value;
  Steps *s = arena_new(&a->ctx->arena, Steps);
  *s = compute(a, v);
  map_at(&a->ctx->arena, &a->known, v)->value = s;
  return s;
}
