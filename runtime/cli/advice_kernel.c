// What the kernel has that often explains the difference: products in TF32, and a row sum that is spread over columns.
#include "runtime/cli/advice.h"

// ---- products in TF32 ----

static void tell_tf32(Op *op, void *user) {
  Advice *to = user;
  Context *ctx = op->parent->func->module->ctx;
  if (to->notes || !run_is_tf32(op)) return;
  const Span at = op_user_span(ctx, op);
  advice_note(to, ctx, at, "the product rounds its fp32 operands to TF32, which has 10 bits of fraction; "
              "input_precision=\"ieee\" does not, and takes longer");
}

void advise_tf32(Advice *to, const Comparison *c) {
  const CheckLimits usual = {.rtol = host_rtol(c->dtype, true), .has_rtol = true};
  uint64_t first;
  if (c->module && !run_differs(c->got, c->ref, &usual, &first)) module_walk(c->module, tell_tf32, to);
}

// ---- rows and columns of a square ----

// Looks through conversions and broadcasts.
static const Value *source_of(const Value *v) {
  for (const Op *d; (d = v->def); v = op_operand(d, 0)) {
    const bool keeps = op_is(d, TRAIT_CONVERTS) || d->opcode == OP_CONVERT_LAYOUT || d->opcode == OP_BROADCAST;
    if (!keeps) return v;
  }
  return v;
}

// A reduction along one axis of a square, of which an operator without [:, None] or [None, :] makes the other axis.
static void tell_axes(Op *op, void *user) {
  Advice *to = user;
  if (to->notes || !op_is(op, TRAIT_ELEMENTWISE) || op->num_operands != 2) return;
  for (uint32_t i = 0; i < 2; i++) {
    const Op *expand = source_of(op_operand(op, i))->def;
    const Op *reduce = expand && expand->opcode == OP_EXPAND_DIMS ? source_of(op_operand(expand, 0))->def : NULL;
    const bool is_implied = reduce && expand->span.begin == op->span.begin && expand->span.end == op->span.end;
    if (!is_implied || reduce->opcode != OP_REDUCE) continue;
    const Type *t = op_operand(reduce, 0)->type;
    const bool is_square = t->rank == 2 && t->shape[0] == t->shape[1];
    const int64_t axis = op_int(reduce, ATTR_AXIS, 0);
    if (!is_square || axis == op_int(expand, ATTR_AXIS, 0)) continue;
    if (source_of(op_operand(op, !i)) != source_of(op_operand(reduce, 0))) continue;
    Context *ctx = op->parent->func->module->ctx;
    const Span from = op_user_span(ctx, reduce);
    advice_note(to, ctx, op_user_span(ctx, op),
                "`%s` is along axis %lld, and its elements meet those along axis %lld here: keep_dims=True keeps "
                "the axis", advice_source(to->arena, ctx, from), (long long)axis, (long long)!axis);
  }
}

void advise_axes(Advice *to, Module *m) { module_walk(m, tell_axes, to); }
