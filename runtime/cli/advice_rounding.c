// How far rounding alone moves the wrong element. The run again, with each inexact result rounded up or down at random,
// to the nearer number with the greater probability (Monte Carlo arithmetic: D. S. Parker, UCLA CSD-970002, 1997).
#include <math.h>

#include "ir/fold.h"
#include "runtime/cli/advice.h"

enum { MOST_OPS = 32, RUNS = 5, MOST_IN = 3 };

typedef struct {
  Advice *to;
  const Op *only;              // the op whose results are rounded otherwise; NULL: all
  const Op *ops[MOST_OPS];     // that round
  uint32_t count;
  uint64_t state;              // of the random numbers
} Wobble;

static double random_number(Wobble *r) {   // from 0 to 1: xorshift64*
  r->state ^= r->state >> 12;
  r->state ^= r->state << 25;
  r->state ^= r->state >> 27;
  return (double)(r->state * 0x2545F4914F6CDD1Dull >> 11) * 0x1p-53;
}

// The result before it is rounded; NAN: nothing is known of it.
static double exact(Opcode oc, const double *x) {
  switch (oc) {
  case OP_ADDF: return x[0] + x[1];
  case OP_SUBF: return x[0] - x[1];
  case OP_MULF: return x[0] * x[1];
  case OP_DIVF: case OP_DIVF_RN: return x[0] / x[1];
  case OP_FMA: return fma(x[0], x[1], x[2]);
  case OP_SQRT: case OP_SQRT_RN: return sqrt(x[0]);
  case OP_FPTRUNC: case OP_SITOFP: return x[0];
  default: return NAN;
  }
}

static bool may_round(const Op *op) {
  static const double ones[MOST_IN] = {1, 1, 1};
  if (op->num_results != 1 || op->num_operands > MOST_IN || isnan(exact(op->opcode, ones))) return false;
  const Type *t = type_elem(op->results[0].type);
  return t->scalar == SC_F16 || t->scalar == SC_BF16 || t->scalar == SC_F32;
}

// The number on the other side of what is exact.
static uint64_t neighbour(const Type *t, uint64_t bits, bool is_above) {
  const uint64_t sign = 1ull << (type_elem_bits(t) - 1);
  if (!(bits & ~sign)) return is_above ? 1 : sign | 1;
  return is_above == !(bits & sign) ? bits + 1 : bits - 1;
}

static void remember(Wobble *r, const Op *op) {
  for (uint32_t i = 0; i < r->count; i++)
    if (r->ops[i] == op) return;
  if (r->count < MOST_OPS) r->ops[r->count++] = op;
}

static bool round_anew(void *user, const InterpStep *step) {
  Wobble *r = user;
  const Op *op = step->op;
  if (!may_round(op) || (r->only && r->only != op)) return true;
  const Value *v = &op->results[0];
  const Type *t = type_elem(v->type);
  const uint32_t bytes = type_elem_bytes(t);
  const void *data[MOST_IN] = {NULL};
  double x[MOST_IN] = {0};
  uint8_t *out = interp_step_data(step, v);
  for (uint32_t k = 0; k < op->num_operands; k++) data[k] = interp_step_data(step, op_operand(op, k));
  for (size_t i = 0, n = interp_step_count(step, v); i < n; i++) {
    for (uint32_t k = 0; k < op->num_operands; k++)
      x[k] = advice_number(op_operand(op, k), advice_bits(data[k], type_elem_bytes(op_operand(op, k)->type), i));
    const uint64_t bits = advice_bits(out, bytes, i);
    const double is = advice_number(v, bits), want = exact(op->opcode, x);
    if (is == want || !isfinite(is) || !isfinite(want)) continue;
    remember(r, op);
    const uint64_t other = neighbour(t, bits, want > is);
    if (random_number(r) < fabs(want - is) / fabs(advice_number(v, other) - is)) memcpy(out + i * bytes, &other, bytes);
  }
  return true;
}

// How far the element moves; `only`: as in Wobble.
static double spread(Wobble *r, const Op *only) {
  const double was = rerun_held(r->to->rerun);
  double most = 0;
  r->only = only;
  for (uint32_t i = 0; i < RUNS; i++) {
    r->state = 0x9E3779B97F4A7C15ull * (i + 1);
    if (!rerun_launch(r->to->rerun, round_anew, r)) break;
    const double moved = fabs(rerun_number(r->to->rerun) - was);
    if (moved > most) most = moved;
  }
  return most;
}

void advise_rounding(Advice *to) {
  Wobble *r = arena_new(to->arena, Wobble);
  *r = (Wobble){.to = to};
  const double error = fabs(host_get(to->c->got, to->first_bad) - host_get(to->c->ref, to->first_bad));
  const double all = spread(r, NULL);
  if (!isfinite(error) || 2 * all < error) return;
  const Op *worst = NULL;
  double most = 0;
  for (uint32_t i = 0, n = r->count; i < n; i++) {
    const double moved = spread(r, r->ops[i]);
    if (moved > most) most = moved, worst = r->ops[i];
  }
  if (!worst) return;
  Context *ctx = worst->parent->func->module->ctx;
  const Span at = op_user_span(ctx, worst);
  const Type *t = type_elem(worst->results[0].type);
  const bool is_half = type_elem_bits(t) < 32;
  advice_note(to, ctx, at, "rounding explains the difference: with the results of %s rounded to %s in another way the "
              "element moves by as much as %.3g; %s", advice_source(to->arena, ctx, at), dtype_name_of(t->scalar), most,
              is_half ? "compute in fp32: .to(tl.float32)"
                      : "subtract large numbers before, not after, or compute in fp64: .to(tl.float64)");
}

void advise_argument(Advice *to) {
  const Func *f = to->rerun->session.program->module->funcs;
  for (uint32_t i = 0; f && i < f->num_params && to->c->dtype == DT_FP64; i++) {
    const RunArg *a = f->params[i].name ? run_find_arg(to->c->run, f->params[i].name) : NULL;
    const bool is_fp32 = type_is_scalar(f->body->args[i]->type, SC_F32);
    if (!a || !is_fp32 || a->spec->kind != ARG_FLOAT || (double)(float)a->spec->f == a->spec->f) continue;
    buf_printf(to->out, "note: `%s` is fp32, which makes %.17g of %.17g: declare it `%s: tl.float64`\n", a->name,
               (double)(float)a->spec->f, a->spec->f, a->name);
    to->notes++;
    return;
  }
}
