// The solver of the axis analysis (axis_info.h): the table of what is known, sweeps over the structured IR,
// assumptions. What each op makes of its operands is in axis_transfer.c.
#include <string.h>

#include "ir/loop.h"
#include "ir/num.h"
#include "passes/axis_lattice.h"
#include "passes/axis_transfer.h"

// What assumptions say of a value: every element is in lo … hi and a multiple of `divisor`.
typedef struct { int64_t lo, hi, divisor; } Fact;
struct AxisAnalysis {
  Context *ctx;
  Module *module;            // NULL: solved
  Map infos, facts;          // of values
  bool changed, widen;       // of the running sweep
};

// ---- table ----

static const AxisInfo *get_info(AxisAnalysis *a, const Value *v) {
  const MapSlot *s = map_get(&a->infos, v);
  return s ? s->value : NULL;
}

static const Fact *get_fact(AxisAnalysis *a, const Value *v) {
  const MapSlot *s = map_get(&a->facts, v);
  return s ? s->value : NULL;
}

static void set_info(AxisAnalysis *a, const Value *v, const AxisInfo *info) {
  MapSlot *s = map_at(&a->ctx->arena, &a->infos, v);
  const Fact *fact = get_fact(a, v);
  AxisInfo r = *info;
  if (fact && fact->lo <= r.hi && fact->hi >= r.lo) {
    r.lo = max_i64(r.lo, fact->lo);
    r.hi = min_i64(r.hi, fact->hi);
    r.nonneg |= r.lo >= 0;
    for (uint32_t i = 0; i < r.rank; i++)
      if (r.contiguity[i] == 1) r.divisibility[i] = max_i64(r.divisibility[i], fact->divisor);
  }
  if (s->value && !memcmp(s->value, &r, sizeof r)) return;
  AxisInfo *copy = arena_new(&a->ctx->arena, AxisInfo);
  *copy = r;
  s->value = copy;
  a->changed = true;
}

static void add_fact(AxisAnalysis *a, const Value *v, Fact f) {
  MapSlot *s = map_at(&a->ctx->arena, &a->facts, v);
  const Fact *old = s->value;
  Fact *copy = arena_new(&a->ctx->arena, Fact);
  *copy = old ? (Fact){max_i64(f.lo, old->lo), min_i64(f.hi, old->hi), max_i64(f.divisor, old->divisor)} : f;
  s->value = copy;
}

// ---- ops ----

static AxisInfo result_info(AxisAnalysis *a, Op *op, uint32_t index) {
  const AxisInfo **x = arena_array(&a->ctx->arena, const AxisInfo *, op->num_operands);
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (op_operand(op, i)) x[i] = axis_info(a, op_operand(op, i));
  return axis_transfer(op, index, x);
}

// ---- control flow ----

static void analyse_block(AxisAnalysis *a, Block *b);

// Joins x into what is known of arg. In late sweeps a range that still grows goes to the type's limits, which ends the
// sweeps.
static void join_into(AxisAnalysis *a, Value *arg, const AxisInfo *x) {
  const AxisInfo *old = get_info(a, arg);
  if (!old) {
    set_info(a, arg, x);
    return;
  }
  AxisInfo r = axis_join(old, x);
  if (a->widen) {
    AxisInfo top = axis_unknown(arg->type);
    if (r.lo < old->lo) r.lo = top.lo;
    if (r.hi > old->hi) r.hi = top.hi;
  }
  set_info(a, arg, &r);
}

static AxisInfo induction_info(AxisAnalysis *a, Op *loop) {
  const AxisInfo *lb = axis_info(a, for_lower(loop)), *ub = axis_info(a, for_upper(loop)),
                 *step = axis_info(a, for_step(loop));
  const Type *t = for_iv(loop)->type;
  AxisInfo r = axis_unknown(t);
  r.divisibility[0] = axis_gcd(lb->divisibility[0], step->divisibility[0]);
  r.nonneg = lb->nonneg;
  __int128 last = (__int128)ub->hi - 1;
  axis_set_range(&r, t, lb->lo, last < lb->lo ? lb->lo : last);
  return r;
}

static void analyse_loop(AxisAnalysis *a, Op *op) {
  bool is_for = op->opcode == OP_FOR;
  Block *body = op->blocks[0];
  uint32_t first = is_for ? FOR_INITS : 0, shift = is_for ? FOR_CARRIED : 0;
  for (uint32_t i = first; i < op->num_operands; i++)
    join_into(a, body->args[i - first + shift], axis_info(a, op_operand(op, i)));
  bool outer_changed = a->changed, outer_widen = a->widen;
  for (uint32_t sweep = 0;; sweep++) {
    a->changed = false;
    a->widen = sweep >= 3 || outer_widen;
    if (is_for) {
      AxisInfo iv = induction_info(a, op);
      set_info(a, body->args[0], &iv);
    }
    analyse_block(a, body);
    Op *back = block_terminator(body);
    if (!is_for) {
      for (uint32_t i = 1; i < back->num_operands; i++)
        join_into(a, op->blocks[1]->args[i - 1], axis_info(a, op_operand(back, i)));
      analyse_block(a, op->blocks[1]);
      back = block_terminator(op->blocks[1]);
    }
    for (uint32_t i = 0; i < back->num_operands; i++)
      join_into(a, body->args[i + shift], axis_info(a, op_operand(back, i)));
    if (!a->changed) break;
    outer_changed = true;
  }
  a->widen = outer_widen;
  for (uint32_t i = 0; i < op->num_results; i++) {
    AxisInfo r = is_for ? *axis_info(a, body->args[i + 1]) : *axis_info(a, op_operand(block_terminator(body), i + 1));
    set_info(a, &op->results[i], &r);
  }
  a->changed |= outer_changed;
}

static void analyse_if(AxisAnalysis *a, Op *op) {
  analyse_block(a, op->blocks[0]);
  analyse_block(a, op->blocks[1]);
  for (uint32_t i = 0; i < op->num_results; i++) {
    AxisInfo r = axis_join(axis_info(a, op_operand(block_terminator(op->blocks[0]), i)),
                           axis_info(a, op_operand(block_terminator(op->blocks[1]), i)));
    // The condition is uniform; therefore a tensor that is one of two is constant where both are.
    set_info(a, &op->results[i], &r);
  }
}

// What assume(cond) says of a value holds wherever the value is visible if the assumption is in the value's own block.
static void apply_assume(AxisAnalysis *a, Op *assume, Value *cond) {
  Op *def = cond->def;
  if (!def) return;
  if (def->opcode == OP_ANDI) {
    apply_assume(a, assume, op_operand(def, 0));
    apply_assume(a, assume, op_operand(def, 1));
    return;
  }
  if (def->opcode != OP_CMPI) return;
  CmpPred pred = (CmpPred)op_int(def, ATTR_PRED, 0);
  for (uint32_t side = 0; side < 2; side++) {
    Value *v = op_operand(def, side), *other = op_operand(def, 1 - side);
    int64_t k;
    if (!type_is_int(v->type) || type_elem_bits(v->type) == 1 || !axis_known(axis_info(a, other), &k)) continue;
    if (pred == CMP_EQ && v->def && (v->def->opcode == OP_REMSI || v->def->opcode == OP_REMUI) && k == 0) {
      // assume(x % m == 0)
      int64_t m;
      Value *x = op_operand(v->def, 0);
      if (axis_known(axis_info(a, op_operand(v->def, 1)), &m) && m != 0 && value_block(x) == assume->parent)
        add_fact(a, x, (Fact){INT64_MIN, INT64_MAX, axis_pow2_divisor(m)});
      continue;
    }
    bool less = pred == CMP_EQ || (side == 0 ? pred == CMP_SLT || pred == CMP_SLE : pred == CMP_SGT || pred == CMP_SGE);
    bool more = pred == CMP_EQ || (side == 0 ? pred == CMP_SGT || pred == CMP_SGE : pred == CMP_SLT || pred == CMP_SLE);
    bool strict = pred == CMP_SLT || pred == CMP_SGT;
    // Or it never holds.
    if (value_block(v) != assume->parent || !(less || more) || (strict && k == (less ? INT64_MIN : INT64_MAX)))
      continue;
    add_fact(a, v, (Fact){more ? k + strict : INT64_MIN, less ? k - strict : INT64_MAX, 1});
  }
}

static void analyse_op(AxisAnalysis *a, Op *op) {
  switch (op->opcode) {
    case OP_FOR: case OP_WHILE: analyse_loop(a, op); return;
    case OP_IF: analyse_if(a, op); return;
    case OP_ROLES:
      for (uint32_t b = 0; b < op->num_blocks; b++) analyse_block(a, op->blocks[b]);
      for (uint32_t i = 0; i < op->num_results; i++)
        set_info(a, &op->results[i], axis_info(a, op_operand(block_terminator(op->blocks[0]), i)));
      return;
    case OP_REDUCE: case OP_SCAN: case OP_MAP:
      for (uint32_t b = 0; b < op->num_blocks; b++)
        for (uint32_t i = 0; i < op->blocks[b]->num_args; i++) {
          AxisInfo u = axis_unknown(op->blocks[b]->args[i]->type);
          set_info(a, op->blocks[b]->args[i], &u);
        }
      for (uint32_t b = 0; b < op->num_blocks; b++) analyse_block(a, op->blocks[b]);
      break;
    default: break;
  }
  for (uint32_t i = 0; i < op->num_results; i++) {
    AxisInfo r = result_info(a, op, i);
    set_info(a, &op->results[i], &r);
  }
}

static void analyse_block(AxisAnalysis *a, Block *b) {
  EACH_OP(op, b) analyse_op(a, op);
  EACH_OP(op, b)
    if (op->opcode == OP_ASSUME) apply_assume(a, op, op_operand(op, 0));
}

static void seed_params(AxisAnalysis *a, Func *f) {
  for (uint32_t i = 0; i < f->body->num_args; i++) {
    Value *v = f->body->args[i];
    AxisInfo r = axis_unknown(v->type);
    if (i < f->num_params && f->params[i].divisible > 1) r.divisibility[0] = axis_pow2_divisor(f->params[i].divisible);
    if (type_is_int(v->type)) axis_set_range(&r, v->type, r.lo, r.hi);
    set_info(a, v, &r);
  }
}

static void sweep(AxisAnalysis *a, Func *f) {
  seed_params(a, f);
  analyse_block(a, f->body);
}

static void solve(AxisAnalysis *a) {
  Module *m = a->module;
  a->module = NULL;
  EACH_FUNC(f, m) {
    sweep(a, f);
    // Assumptions follow what was computed from the value. The second sweep knows them from the start.
    if (a->facts.count) sweep(a, f);
  }
}

AxisAnalysis *axis_analyse(Context *ctx, Module *m) {
  AxisAnalysis *a = arena_new(&ctx->arena, AxisAnalysis);
  a->ctx = ctx;
  a->module = m;
  return a;
}

const AxisInfo *axis_info(AxisAnalysis *a, Value *v) {
  if (a->module) solve(a);
  if (!get_info(a, v)) {
    AxisInfo r =
        v->def && !op_info[v->def->opcode].num_blocks ? result_info(a, v->def, v->index) : axis_unknown(v->type);
    set_info(a, v, &r);
  }
  return get_info(a, v);
}
