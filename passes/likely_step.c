// How far apart neighbours probably lie: see likely_step.h.
#include "passes/likely_step.h"

#include "ir/loop.h"
#include "passes/axis_lattice.h"

enum { ROW = 32, MAX_OPS = 256 };   // what an unknown number is at least taken to be; the ops that a guess looks at

typedef struct { AxisAnalysis *axes; uint32_t left; } Guess;

static int64_t times(int64_t x, int64_t y) { return y && x > LIKELY_FAR / y ? LIKELY_FAR : x * y; }

// The size of a number that is the same along the axis.
static int64_t magnitude(Guess *g, Value *v, uint32_t axis) {
  const AxisInfo *x = axis_info(g->axes, v);
  int64_t known;
  if (axis_known(x, &known)) return known < 0 ? -max_i64(known, -LIKELY_FAR) : min_i64(known, LIKELY_FAR);
  return times(ROW, min_i64(x->divisibility[axis < x->rank ? axis : 0], LIKELY_FAR));
}

static int64_t step(Guess *g, Value *v, uint32_t axis);

static int64_t step_of_binary(Guess *g, const Op *op, uint32_t axis) {
  Value *x = op_operand(op, 0), *y = op_operand(op, 1);
  const int64_t p = step(g, x, axis), q = step(g, y, axis);
  switch (op->opcode) {
  case OP_ADDI: case OP_SUBI: case OP_ADDPTR: return min_i64(p + q, LIKELY_FAR);
  case OP_MULI:
    if (p && q) return LIKELY_FAR;
    return p ? times(p, magnitude(g, y, axis)) : q ? times(q, magnitude(g, x, axis)) : 0;
  case OP_DIVSI: case OP_DIVUI:
    if (q || p >= LIKELY_GATHER) return p || q ? LIKELY_FAR : 0;
    return p / max_i64(1, magnitude(g, y, axis));
  case OP_REMSI: case OP_REMUI: return q ? LIKELY_FAR : p;
  default: return max_i64(p, q);
  }
}

static int64_t step_of_moved(Guess *g, const Op *op, uint32_t axis) {
  const int from = axis_of_operand(op, axis);
  return from < 0 ? 0 : step(g, op_operand(op, 0), (uint32_t)from);
}

static int64_t step(Guess *g, Value *v, uint32_t axis) {
  if (!type_is_tensor(v->type) || v->type->shape[axis] == 1) return 0;
  const AxisInfo *x = axis_info(g->axes, v);
  if (x->constancy[axis] >= v->type->shape[axis]) return 0;
  if (!g->left) return LIKELY_FAR;
  g->left--;
  uint32_t carried;
  const Op *op = v->def, *loop = for_carrying(v, &carried);
  if (loop) return step(g, for_init(loop, carried), axis);
  if (!op) return LIKELY_FAR;
  switch (op->opcode) {
  case OP_RANGE: return 1;
  case OP_LOAD: return LIKELY_GATHER;
  case OP_ADDI: case OP_SUBI: case OP_ADDPTR: case OP_MULI: case OP_DIVSI: case OP_DIVUI: case OP_REMSI: case OP_REMUI:
  case OP_MINSI: case OP_MINUI: case OP_MAXSI: case OP_MAXUI: return step_of_binary(g, op, axis);
  case OP_SELECT: return max_i64(step(g, op_operand(op, 1), axis), step(g, op_operand(op, 2), axis));
  case OP_EXTSI: case OP_EXTUI: case OP_TRUNCI: case OP_HINT: case OP_CONVERT_LAYOUT:
    return step(g, op_operand(op, 0), axis);
  case OP_BROADCAST: case OP_EXPAND_DIMS: case OP_TRANS: return step_of_moved(g, op, axis);
  default: return LIKELY_FAR;
  }
}

int64_t likely_step(AxisAnalysis *a, Value *v, uint32_t axis) {
  Guess g = {a, MAX_OPS};
  return step(&g, v, axis);
}
