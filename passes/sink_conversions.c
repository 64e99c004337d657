// sink_conversions: computes a tensor where the fewest registers hold it, and converts the result.
//
// remove_conversions lets the layouts of heavy accesses flow to what is computed for them. A conversion therefore often
// stands at a load of few elements, and what follows is computed by every lane that will need it. Here the elementwise
// ops after conversions from one layout to another, which need nothing else, are taken together. If they and the
// conversions of their results cost less in the layout before, they move there.
//
// Lanes that reduce several rows together may each keep a part of them (ir/scratch.h), where each of these lanes would
// otherwise fetch all rows. What is computed for the rows is then computed by one lane, and its result is fetched. A
// reduction whose result is only converted gives it the wanted layout itself, if that is such a layout, or if warps
// exchange partial results anyway.
// In, out: LAID_OUT.
#include "ir/scratch.h"
#include "passes/layout_cost.h"
#include "passes/layout_rules.h"
#include "passes/pass.h"

typedef struct {
  Context *ctx;
  Module *module;
  const Layout *from, *to;   // of the region's conversions
  VEC(Op *) sources, members;
} Sink;

// Op.mark
enum { OUTSIDE, SOURCE, MEMBER };

static bool is_source(const Sink *s, const Op *op) {
  return op->opcode == OP_CONVERT_LAYOUT && op_operand(op, 0)->type->layout == s->from &&
         op->results[0].type->layout == s->to;
}

static bool is_inside(const Value *v, const Block *b) { return v->def && v->def->parent == b && v->def->mark != OUTSIDE; }

// Whether the op needs only what comes from the conversions, and numbers and constants.
static bool joins(const Sink *s, const Op *op) {
  if (!op_is(op, TRAIT_ELEMENTWISE) || !layout_can_redo(op) || op->num_results != 1) return false;
  const Type *t = op->results[0].type;
  if (t->kind != TYPE_TENSOR || t->layout != s->to) return false;
  bool any = false;
  for (uint32_t i = 0; i < op->num_operands; i++) {
    const Value *v = op_operand(op, i);
    if (!v || v->type->kind != TYPE_TENSOR || layout_rule_is_free(v)) continue;
    if (!is_inside(v, op->parent)) return false;
    any = true;
  }
  return any;
}

// Whether the user undoes the region's conversions.
static bool goes_back(const Sink *s, const Op *user) {
  return user->opcode == OP_CONVERT_LAYOUT && user->results[0].type->layout == s->from;
}

static bool used_outside(const Sink *s, const Op *op) {
  EACH_USE(u, &op->results[0])
    if ((u->user->parent != op->parent || u->user->mark != MEMBER) && !goes_back(s, u->user)) return true;
  return false;
}

// Narrow elements travel together.
static int64_t convert_cost(const Sink *s, const Value *v) {
  const Type *t = type_with_layout(s->ctx, v->type, s->from);
  const int64_t cost = layout_cost_convert(s->ctx, t, s->to, s->module->num_warps);
  return cost ? cost + (int64_t)layout_regs_per_thread(s->to) * type_elem_bits(t) / 16 * s->module->num_warps : 0;
}

// What the region costs more as it is than in the layout before. A source that others use stays.
static int64_t gain(const Sink *s) {
  const uint32_t warps = s->module->num_warps;
  int64_t sum = 0;
  VEC_EACH(x, s->sources)
    if (!used_outside(s, *x)) sum += convert_cost(s, &(*x)->results[0]);
  VEC_EACH(x, s->members) {
    if ((*x)->mark != MEMBER) continue;
    sum += layout_cost_op(*x, s->to, warps) - layout_cost_op(*x, s->from, warps);
    if (used_outside(s, *x)) sum -= convert_cost(s, &(*x)->results[0]);
  }
  return sum;
}

// Ops at the region's end leave it where that is better.
static int64_t shrink(Sink *s) {
  int64_t best = gain(s);
  for (uint32_t i = s->members.count; i-- > 0;) {
    Op *op = s->members.data[i];
    bool feeds = false;
    EACH_USE(u, &op->results[0]) feeds |= u->user->parent == op->parent && u->user->mark == MEMBER;
    if (feeds) continue;
    op->mark = OUTSIDE;
    const int64_t without = gain(s);
    if (without < best) op->mark = MEMBER;
    else best = without;
  }
  return best;
}

// Gives what converts v to the layout before the value that v is made of there.
static void take_back(const Sink *s, const Value *v, Value *before) {
  for (Use *u = v->uses, *next; u; u = next) {
    next = u->next;
    if (goes_back(s, u->user)) value_replace_all_uses(&u->user->results[0], before);
  }
}

static void move_up(Sink *s) {
  ValueMap *map = value_map_new(s->ctx);
  VEC_EACH(x, s->sources) {
    value_map_set(s->ctx, map, &(*x)->results[0], op_operand(*x, 0));
    take_back(s, &(*x)->results[0], op_operand(*x, 0));
  }
  VEC_EACH(x, s->members) {
    Op *op = *x;
    if (op->mark != MEMBER) continue;
    for (uint32_t i = 0; i < op->num_operands; i++) {
      Value *v = op_operand(op, i);
      if (!v || v->type->kind != TYPE_TENSOR || !layout_rule_is_free(v)) continue;
      Op *copy = op_clone(s->ctx, v->def, value_map_new(s->ctx));
      copy->results[0].type = type_with_layout(s->ctx, v->type, s->from);
      op_insert_before(copy, op);
      value_map_set(s->ctx, map, v, &copy->results[0]);
    }
    Op *copy = op_clone(s->ctx, op, map);
    op_insert_before(copy, op);
    copy->mark = OUTSIDE;
    copy->results[0].type = type_with_layout(s->ctx, op->results[0].type, s->from);
    value_map_set(s->ctx, map, &op->results[0], &copy->results[0]);
  }
  for (uint32_t i = s->members.count; i-- > 0;) {
    Op *op = s->members.data[i];
    if (op->mark != MEMBER) continue;
    Value *v = value_map_get(map, &op->results[0]);
    take_back(s, &op->results[0], v);
    Builder b = builder_before(s->ctx, op);
    b.span = op->span;
    if (op->results[0].uses) {
      v = build_value(&b, OP_CONVERT_LAYOUT, op->results[0].type, &v, 1);
      v->def->mark = OUTSIDE;
    }
    op_replace(op, &v);
  }
}

// The region after the conversion `first` and those after it that are like it, if more than `least` is gained.
static bool sink_after(Sink *s, Op *first, int64_t least) {
  s->from = op_operand(first, 0)->type->layout;
  s->to = first->results[0].type->layout;
  s->sources.count = s->members.count = 0;
  EACH_OP(op, first->parent) op->mark = OUTSIDE;
  for (Op *op = first; op; op = op->next) {
    if (is_source(s, op)) {
      op->mark = SOURCE;
      vec_push(&s->ctx->arena, &s->sources, op);
    } else if (joins(s, op)) {
      op->mark = MEMBER;
      vec_push(&s->ctx->arena, &s->members, op);
    }
  }
  if (!s->members.count || shrink(s) <= least) return false;
  move_up(s);
  return true;
}

// Lets lanes keep the rows of a reduction if what follows is cheaper then, by more than the fetch is waited for: a
// shuffle's latency, in which the warps that share a scheduler issue STEP instructions each.
static void keep_rows(Sink *s, Op *reduce) {
  enum { STEP = 8 };
  Value *v = &reduce->results[0];
  const Type *all = v->type;
  if (reduce->opcode != OP_REDUCE || reduce->num_results != 1 || all->kind != TYPE_TENSOR) return;
  const uint32_t folded = layout_free_bits(all->layout, LAYOUT_LANE) &
                          ~layout_free_bits(op_operand(reduce, 0)->type->layout, LAYOUT_LANE);
  const Type *kept = type_with_layout(s->ctx, all, layout_share_registers(s->ctx, all->layout, 0, folded));
  if (kept == all || scratch_reduce_plan(s->ctx, reduce).through_shared) return;
  v->type = kept;
  const bool reached = !scratch_reduce_plan(s->ctx, reduce).through_shared;
  Builder b = builder_before(s->ctx, reduce->next);
  b.span = reduce->span;
  Op *fetch = build_op_typed(&b, OP_CONVERT_LAYOUT, &all, 1, (Value *[]){v}, 1);
  value_replace_all_uses(v, op_result(fetch, 0));
  op_set_operand(fetch, 0, v);
  if (reached && sink_after(s, fetch, STEP * (int64_t)s->module->num_warps)) return;
  value_replace_all_uses(op_result(fetch, 0), v);
  v->type = all;
  op_erase(fetch);
}

// A reduction gives its result the layout that it is converted to.
static void convert_in_reduction(Context *ctx, Op *convert) {
  Value *v = op_operand(convert, 0), *result = &convert->results[0];
  Op *reduce = v->def;
  if (!value_op(v, OP_REDUCE) || reduce->num_results != 1 || !value_has_one_use(v)) return;
  const Type *own = v->type;
  const ReducePlan before = scratch_reduce_plan(ctx, reduce);
  v->type = result->type;
  if (!before.through_shared && scratch_reduce_plan(ctx, reduce).through_shared) {
    v->type = own;
    return;
  }
  op_replace(convert, &v);
}

static void sink_block(Sink *s, Block *b) {
  EACH_OP(op, b)
    for (uint32_t i = 0; i < op->num_blocks; i++) sink_block(s, op->blocks[i]);
  // Conversions that the pass makes come after what it has looked at; those it removes are never the next op.
  for (Op *op = b->first, *next; op; op = next) {
    if (op->opcode == OP_CONVERT_LAYOUT && op->results[0].uses) sink_after(s, op, 0);
    keep_rows(s, op);
    next = op->next;
  }
  for (Op *op = b->first, *next; op; op = next) {
    next = op->next;
    if (op->opcode != OP_CONVERT_LAYOUT) continue;
    if (op->results[0].uses) convert_in_reduction(s->ctx, op);
    else op_erase(op);
  }
}

void pass_sink_conversions(PassCtx *p) {
  Sink s = {.ctx = p->ctx, .module = p->module};
  EACH_FUNC(f, p->module) sink_block(&s, f->body);
}
