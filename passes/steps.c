// The steps of each op's result, from those of its operands: see steps.h.
#include "passes/steps.h"

#include "passes/axis_lattice.h"

static int64_t plus(int64_t x, int64_t y, int64_t factor) {
  int64_t r;
  const bool wraps = x == NO_STEP || y == NO_STEP || __builtin_mul_overflow(y, factor, &r) ||
                     __builtin_add_overflow(x, r, &r);
  return wraps ? NO_STEP : r;
}

static Steps sum(const Steps *x, const Steps *y, int64_t factor) {
  Steps r = {0};
  for (uint32_t i = 0; i < MAX_RANK; i++) {
    const bool alike = x->of[i] == y->of[i] || !x->by[i] || !y->by[i];
    r.by[i] = alike ? plus(x->by[i], y->by[i], factor) : NO_STEP;
    r.of[i] = alike && x->by[i] ? x->of[i] : alike ? y->of[i] : NULL;
  }
  return r;
}

// The scalar of 32 bits by which a tensor multiplies, or NULL.
static Value *factor_of(Value *v) {
  while (value_op(v, OP_BROADCAST) || value_op(v, OP_EXPAND_DIMS) || value_op(v, OP_CONVERT_LAYOUT) ||
         value_op(v, OP_SPLAT) || value_op(v, OP_EXTSI))
    v = op_operand(v->def, 0);
  return type_is_tensor(v->type) || type_elem_bits(v->type) != 32 ? NULL : v;
}

// x · y, or x << y.
static Steps product(StepAnalysis *a, const Op *op) {
  Steps x = *steps_of(a, op_operand(op, 0)), y = *steps_of(a, op_operand(op, 1)), r = {0};
  int64_t p, q;
  bool has_p = value_constant_int(op_operand(op, 0), &p) && op->opcode == OP_MULI;
  bool has_q = value_constant_int(op_operand(op, 1), &q);
  if (has_q && op->opcode == OP_SHLI) {
    has_q = q >= 0 && q < 31;
    q = has_q ? (int64_t)1 << q : 0;
  }
  Value *s = op->opcode == OP_MULI ? factor_of(op_operand(op, 0)) : NULL;
  Value *t = op->opcode == OP_MULI ? factor_of(op_operand(op, 1)) : NULL;
  for (uint32_t i = 0; i < MAX_RANK; i++) {
    if (!x.by[i] && !y.by[i]) continue;
    r.by[i] = has_q ? plus(0, x.by[i], q) : has_p ? plus(0, y.by[i], p) : NO_STEP;
    if (has_q || has_p) r.of[i] = has_q ? x.of[i] : y.of[i];
    else if (t && !x.of[i]) r.by[i] = x.by[i], r.of[i] = t;
    else if (s && !y.of[i]) r.by[i] = y.by[i], r.of[i] = s;
  }
  return r;
}

static Steps moved(StepAnalysis *a, const Op *op) {
  const Steps x = *steps_of(a, op_operand(op, 0));
  Steps r = {0};
  for (uint32_t i = 0; i < op->results[0].type->rank; i++) {
    const int from = axis_of_operand(op, i);
    if (from >= 0) r.by[i] = x.by[from], r.of[i] = x.of[from];
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

enum { SMALL_OFFSET = 1 << 20, MAX_LOCAL_DEPTH = 8 };

static bool is_in_tile(AxisAnalysis *axes, Value *v, uint32_t depth) {
  const AxisInfo *x = axis_info(axes, v);
  if (x->lo > -SMALL_OFFSET && x->hi < SMALL_OFFSET) return true;
  if (!v->def || depth == 0) return false;
  switch (v->def->opcode) {
    case OP_BROADCAST: case OP_EXPAND_DIMS: case OP_CONVERT_LAYOUT:
      return is_in_tile(axes, op_operand(v->def, 0), depth);
    case OP_ADDI:
      return is_in_tile(axes, op_operand(v->def, 0), depth - 1) && is_in_tile(axes, op_operand(v->def, 1), depth - 1);
    case OP_MULI:
      for (uint32_t i = 0; i < 2; i++) {
        const Value *factor = op_operand(v->def, 1 - i);
        if (value_op(factor, OP_SPLAT) && is_in_tile(axes, op_operand(v->def, i), depth - 1)) return true;
      }
      return false;
    default: return false;
  }
}

bool steps_are_in_tile(AxisAnalysis *axes, Value *v) { return is_in_tile(axes, v, MAX_LOCAL_DEPTH); }

static Steps compute(StepAnalysis *a, Value *v) {
  const Op *op = v->def;
  if (!type_is_tensor(v->type)) return (Steps){0};
  if (!op || (!type_is_int(v->type) && !type_is_ptr(v->type))) return equal_elements(a, v);
  switch (op->opcode) {
    case OP_RANGE: return (Steps){.by = {v->type->shape[0] > 1}};
    case OP_SPLAT: return (Steps){0};
    case OP_ADDI: case OP_SUBI:
      return sum(steps_of(a, op_operand(op, 0)), steps_of(a, op_operand(op, 1)), op->opcode == OP_ADDI ? 1 : -1);
    case OP_ADDPTR:
      return sum(steps_of(a, op_operand(op, 0)), steps_of(a, op_operand(op, 1)),
                 type_elem_bytes(type_elem(v->type)->elem));
    case OP_MULI: case OP_SHLI: return product(a, op);
    case OP_HINT: case OP_STRIDED: case OP_CONVERT_LAYOUT: return *steps_of(a, op_operand(op, 0));
    case OP_EXTSI: case OP_EXTUI:
      if (type_elem_bits(op_operand(op, 0)->type) < 32 ||
          !(steps_are_exact(a, op_operand(op, 0)) || steps_are_in_tile(a->axes, op_operand(op, 0))) ||
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
