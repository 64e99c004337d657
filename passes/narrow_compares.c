// narrow_compares: compares 64-bit indices with bounds in 32 bits. A program that computes its indices in 64 bits adds
// its start to each of a thread's indices and compares in two steps; what differs between the elements fits 32 bits.
//
//   %i = splat %start + extsi %y          %d = clamp (%n − %start) to ± 2^30 as i32
//   %m = %i < splat %n             →      %m = %y < splat %d                          where |%y| < 2^30
//
// Only if by their ranges neither the sum nor the difference wraps, and if a thread compares often enough to pay for
// the bound.
// In, out: LAID_OUT.
#include "passes/axis_info.h"
#include "passes/pass.h"

enum {
  LIMIT = 1 << 30,                    // a power of two: what divides the bound divides it still
  MIN_COMPARES = 4,                   // of a thread: a 64-bit sum and comparison are four instructions, a bound ten
};

typedef struct { Context *ctx; AxisAnalysis *axes; } Narrow;
typedef struct { Value *start, *rest; } Index;   // start + extsi rest; start may be NULL

// The scalar that all elements are, or NULL.
static Value *uniform(Builder *b, Value *v) {
  int64_t c;
  if (value_op(v, OP_SPLAT)) return op_operand(v->def, 0);
  return value_constant_int(v, &c) ? build_int(b, type_elem(v->type), c) : NULL;
}

static bool is_small(Narrow *s, Value *v) {
  const AxisInfo *x = axis_info(s->axes, v);
  return type_elem_bits(v->type) == 32 && x->lo > -LIMIT && x->hi < LIMIT;
}

static bool index_of(Narrow *s, Builder *b, Value *v, Index *out) {
  *out = (Index){0};
  if (value_op(v, OP_ADDI))
    for (uint32_t k = 0; k < 2 && !out->start; k++) {
      Value *other = op_operand(v->def, 1 - k);
      if (!value_op(other, OP_EXTSI)) continue;
      out->start = uniform(b, op_operand(v->def, k));
      if (out->start) v = other;
    }
  if (!value_op(v, OP_EXTSI)) return false;
  out->rest = op_operand(v->def, 0);
  return is_small(s, out->rest);
}

static bool fits(__int128 lo, __int128 hi) { return lo >= INT64_MIN && hi <= INT64_MAX; }

// n − start as an i32 that compares alike with every number below LIMIT.
static Value *bound_of(Narrow *s, Builder *b, const Index *i, Value *n) {
  const AxisInfo *rest = axis_info(s->axes, i->rest), *bound = axis_info(s->axes, n);
  __int128 lo = bound->lo, hi = bound->hi;
  Value *d = n;
  if (i->start) {
    const AxisInfo *start = axis_info(s->axes, i->start);
    if (!fits((__int128)start->lo + rest->lo, (__int128)start->hi + rest->hi) ||
        !fits((__int128)bound->lo - start->hi, (__int128)bound->hi - start->lo))
      return NULL;
    d = build_binary(b, OP_SUBI, n, i->start);
    lo -= start->hi, hi -= start->lo;
  }
  if (hi > LIMIT) d = build_binary(b, OP_MINSI, d, build_int(b, d->type, LIMIT));
  if (lo < -LIMIT) d = build_binary(b, OP_MAXSI, d, build_int(b, d->type, -LIMIT));
  return build_cast(b, OP_TRUNCI, d, type_scalar(s->ctx, SC_I32));
}

static bool mirrored(CmpPred pred, CmpPred *out) {
  static const CmpPred of[][2] = {{CMP_SLT, CMP_SGT}, {CMP_SLE, CMP_SGE}, {CMP_SGT, CMP_SLT}, {CMP_SGE, CMP_SLE}};
  for (uint32_t i = 0; i < countof(of); i++)
    if (of[i][0] == pred) return *out = of[i][1], true;
  return false;
}

// The comparisons of a thread: one for each group of registers that are known to compare alike.
static int64_t compares_of(Narrow *s, Value *v) {
  const Layout *l = v->type->layout;
  const AxisInfo *x = axis_info(s->axes, v);
  int64_t n = layout_regs_per_thread(l);
  for (uint32_t i = 0; i < l->rank; i++) n /= min_i64(x->constancy[i], layout_contiguity(l, i));
  return n;
}

static void visit(Op *op, void *user) {
  Narrow *s = user;
  CmpPred pred = op->opcode == OP_CMPI ? (CmpPred)op_int(op, ATTR_PRED, CMP_EQ) : CMP_EQ, swapped;
  if (!mirrored(pred, &swapped)) return;
  const Type *t = op_operand(op, 0)->type;
  if (!type_is_tensor(t) || type_elem_bits(t) != 64 || compares_of(s, op_result(op, 0)) < MIN_COMPARES) return;
  Builder b = builder_before(s->ctx, op);
  for (uint32_t k = 0; k < 2; k++) {
    Index i;
    Value *n = uniform(&b, op_operand(op, 1 - k)), *d;
    if (!n || !index_of(s, &b, op_operand(op, k), &i) || !(d = bound_of(s, &b, &i, n))) continue;
    value_replace_all_uses(op_result(op, 0),
                           build_cmp(&b, k ? swapped : pred, i.rest, build_splat(&b, d, i.rest->type)));
    return;
  }
}

void pass_narrow_compares(PassCtx *p) {
  Narrow s = {p->ctx, axis_analyse(p->ctx, p->module)};
  module_walk(p->module, visit, &s);
}
