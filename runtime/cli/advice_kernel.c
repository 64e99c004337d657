// What the kernel has that often explains the difference: products in TF32, rows that should be columns, histograms of
// values without a bin.
#include "ir/num.h"
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

void advise_tf32(Advice *to) {
  const Comparison *c = to->c;
  const CheckLimits usual = {.rtol = host_rtol(c->dtype, true), .has_rtol = true};
  uint64_t first;
  if (!run_differs(c->got, c->ref, &usual, &first)) module_walk(c->module, tell_tf32, to);
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
                "%s is along axis %lld, and its elements meet those along axis %lld here: keep_dims=True keeps "
                "the axis", advice_source(to->arena, ctx, from), (long long)axis, (long long)!axis);
  }
}

void advise_axes(Advice *to) { module_walk(to->rerun->session.program->module, tell_axes, to); }

// ---- rows for columns ----

typedef struct { VEC(const Op *) all; Arena *arena; } Broadcasts;

// Of a row or a column to a square.
static void find_broadcast(Op *op, void *user) {
  enum { MOST = 16 };
  Broadcasts *b = user;
  const Type *t = op->opcode == OP_BROADCAST ? op->results[0].type : NULL;
  const bool is_square = t && t->rank == 2 && t->shape[0] == t->shape[1] && type_elem(t)->kind == TYPE_SCALAR;
  if (is_square && b->all.count < MOST) vec_push(b->arena, &b->all, op);
}

static bool transpose(void *user, const InterpStep *step) {
  if (step->op != user) return true;
  const Value *v = &step->op->results[0];
  const uint32_t bytes = type_elem_bytes(v->type);
  const size_t n = (size_t)v->type->shape[0];
  uint8_t *data = interp_step_data(step, v);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < i; k++) {
      uint8_t *a = data + (i * n + k) * bytes, *b = data + (k * n + i) * bytes;
      const uint64_t x = advice_bits(a, bytes, 0);
      memmove(a, b, bytes);
      memcpy(b, &x, bytes);
    }
  return true;
}

void advise_swap(Advice *to) {
  Module *m = to->rerun->session.program->module;
  Broadcasts b = {.arena = to->arena};
  module_walk(m, find_broadcast, &b);
  VEC_EACH(op, b.all) {
    if (!rerun_launch(to->rerun, transpose, (void *)(uintptr_t)*op) || !advice_is_right(to)) continue;
    const Value *from = op_operand(*op, 0);
    const Span at = op_user_span(m->ctx, from->def ? from->def : *op);
    const bool is_row = from->type->shape[0] == 1;
    advice_note(to, m->ctx, at, "%s has its elements along axis %d; along axis %d, by %s, the wrong element is right",
                advice_source(to->arena, m->ctx, at), is_row, !is_row, is_row ? "[:, None]" : "[None, :]");
    return;
  }
}

// ---- histograms ----

typedef struct { const Op *op; int64_t example; size_t outside; } Bins;

static bool find_outside(void *user, const InterpStep *step) {
  Bins *b = user;
  const Op *op = step->op;
  if (op->opcode != OP_HISTOGRAM || (b->op && b->op != op)) return true;
  const Value *v = op_operand(op, 0), *mask = op_operand(op, 1);
  const uint32_t bytes = type_elem_bytes(v->type);
  const uint8_t *on = mask ? interp_step_data(step, mask) : NULL, *data = interp_step_data(step, v);
  for (size_t i = 0, n = interp_step_count(step, v); i < n; i++) {
    const int64_t x = num_sext(advice_bits(data, bytes, i), 8 * bytes);
    if ((on && !on[i]) || (x >= 0 && x < op->results[0].type->shape[0])) continue;
    *b = (Bins){op, x, b->outside + 1};
  }
  return true;
}

void advise_bins(Advice *to) {
  Bins b = {.op = NULL};
  if (!rerun_launch(to->rerun, find_outside, &b) || !b.op) return;
  Context *ctx = b.op->parent->func->module->ctx;
  advice_note(to, ctx, op_user_span(ctx, b.op), "this leaves out %zu values, one of them %lld, which are outside of the "
              "bins 0 to %lld: clamp them, or have more bins", b.outside, (long long)b.example,
              (long long)b.op->results[0].type->shape[0] - 1);
}
