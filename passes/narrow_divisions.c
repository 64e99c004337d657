// narrow_divisions: divides in 32 bits what is 64 bits wide but fits. Machines divide 64-bit integers by a function of
// a hundred instructions; programs that compute their indices in 64 bits divide numbers that their ranges bound.
//
//   %q = divsi %x, %y : i64       →      %q = extsi (divsi (trunci %x), (trunci %y))       also remainders
//
// Only if by their ranges both fit 32 bits with a sign, and the quotient does: not −2^31 / −1. Scalars over a constant
// stay: they are multiplied.
// In, out: TILE.
#include "passes/axis_info.h"
#include "passes/pass.h"

typedef struct { Context *ctx; AxisAnalysis *axes; } Narrow;

static bool fits(const AxisInfo *x, bool is_signed) {
  return x->hi <= INT32_MAX && x->lo >= (is_signed ? INT32_MIN : 0);
}

static void visit(Op *op, void *user) {
  Narrow *s = user;
  const bool is_signed = op->opcode == OP_DIVSI || op->opcode == OP_REMSI;
  if (!is_signed && op->opcode != OP_DIVUI && op->opcode != OP_REMUI) return;
  Value *x = op_operand(op, 0), *y = op_operand(op, 1);
  int64_t known;
  if (type_elem_bits(x->type) != 64 || (!type_is_tensor(x->type) && value_constant_int(y, &known))) return;
  const AxisInfo *p = axis_info(s->axes, x), *q = axis_info(s->axes, y);
  if (!fits(p, is_signed) || !fits(q, is_signed)) return;
  if (p->lo == INT32_MIN && q->lo <= -1 && q->hi >= -1) return;
  Builder b = builder_before(s->ctx, op);
  const Type *narrow = type_scalar(s->ctx, SC_I32);
  Value *made = build_binary(&b, op->opcode, build_cast(&b, OP_TRUNCI, x, narrow),
                             build_cast(&b, OP_TRUNCI, y, narrow));
  made = build_cast(&b, OP_EXTSI, made, type_elem(x->type));
  op_replace(op, &made);
}

void pass_narrow_divisions(PassCtx *p) {
  Narrow s = {p->ctx, axis_analyse(p->ctx, p->module)};
  module_walk(p->module, visit, &s);
}
