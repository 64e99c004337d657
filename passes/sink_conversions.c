// sink_conversions: computes a tensor where the fewest registers hold it, and converts the result.
//
// remove_conversions lets the layouts of heavy accesses flow to what is computed for them. A conversion therefore often
// stands at a load of few elements, and what follows is computed by every lane that will need it. Here the elementwise
// ops after conversions from one layout to another, which need nothing else but what is computed of free values alone,
// are taken together. If they and the conversions of their results cost less in the layout before, they move there.
// What is converted onward to a third layout is then converted to that at once.
//
// Lanes that reduce several rows together may each keep a part of them (ir/scratch.h), where each of these lanes would
// otherwise fetch all rows. What is computed for the rows is then computed by one lane, and its result is fetched.
// Reductions of one block with the same layouts are taken together, because what is computed of one's rows often goes
// into what is computed of another's. A reduction whose result is only converted gives it the wanted layout itself, if
// that is such a layout, or if warps exchange partial results anyway.
//
// What is loaded in a layout in which several lanes hold the same elements, because a tile that it goes into has rows
// in each of them, is computed with in each of these lanes. If that is much, the lanes share it: each loads its part and
// computes with that, and the results are fetched.
// In, out: LAID_OUT.
#include "ir/scratch.h"
#include "passes/layout_cost.h"
#include "passes/layout_rules.h"
#include "passes/pass.h"

typedef struct {
  Context *ctx;
  Module *module;
  const Layout *from, *to;   // of the region's conversions
  bool shares;               // the region begins with loads in layout `to`
  AxisAnalysis *axes;        // made when a load is looked at
  VEC(Op *) sources, members;
} Sink;

// Op.mark
enum { OUTSIDE, SOURCE, MEMBER };

enum { MAX_REDONE = 2 };     // a comparison of extended indices

static bool is_source(const Sink *s, const Op *op) {
  if (s->shares) return op->opcode == OP_LOAD && op->results[0].type->layout == s->to && !access_is_copied(op);
  return op->opcode == OP_CONVERT_LAYOUT && op_operand(op, 0)->type->layout == s->from &&
         op->results[0].type->layout == s->to;
}

static bool is_inside(const Value *v, const Block *b) {
  return v->def && v->def->parent == b && v->def->mark != OUTSIDE;
}

// Whether the value can be computed again in another layout by `ops` ops in a row from free values.
static bool is_redone(const Value *v, uint32_t ops) {
  const Op *op = v->def;
  if (layout_rule_is_free(v)) return true;
  if (!ops || !op || !op_is(op, TRAIT_ELEMENTWISE) || !layout_can_redo(op) || op->num_results != 1) return false;
  for (uint32_t i = 0; i < op->num_operands; i++) {
    const Value *x = op_operand(op, i);
    if (x && x->type->kind == TYPE_TENSOR && !is_redone(x, ops - 1)) return false;
  }
  return true;
}

// Whether the op computes each element of its results, in layout `to`, from the elements of its operands alone.
static bool is_by_element(const Sink *s, const Op *op) {
  const bool alone = op_is(op, TRAIT_ELEMENTWISE) && layout_can_redo(op) && op->num_results == 1;
  const bool map = op->opcode == OP_MAP && op_only_computes(op) &&
                   layout_rule_pivot_of_operand(s->ctx, op, 0, s->from) == s->from;
  for (uint32_t i = 0; i < op->num_results; i++) {
    const Type *t = op->results[i].type;
    if (t->kind != TYPE_TENSOR || t->layout != s->to) return false;
  }
  return alone || map;
}

// Whether the op needs only what comes from the conversions, and numbers and what is computed again.
static bool joins(const Sink *s, const Op *op) {
  if (!is_by_element(s, op)) return false;
  bool any = false;
  for (uint32_t i = 0; i < op->num_operands; i++) {
    const Value *v = op_operand(op, i);
    if (!v || v->type->kind != TYPE_TENSOR) continue;
    const bool inside = is_inside(v, op->parent);
    if (!inside && !is_redone(v, MAX_REDONE)) return false;
    any |= inside;
  }
  return any;
}

// Whether the user undoes the region's conversions.
static bool goes_back(const Sink *s, const Op *user) {
  return user->opcode == OP_CONVERT_LAYOUT && user->results[0].type->layout == s->from;
}

// Narrow elements travel together.
static int64_t cost_between(const Sink *s, const Type *t, const Layout *from, const Layout *to) {
  const uint32_t warps = s->module->num_warps;
  t = type_with_layout(s->ctx, t, from);
  const int64_t cost = layout_cost_convert(s->ctx, t, to, warps);
  return cost ? cost + (int64_t)layout_regs_per_thread(to) * type_elem_bits(t) / 16 * warps : 0;
}

static int64_t convert_cost(const Sink *s, const Value *v) { return cost_between(s, v->type, s->from, s->to); }

// The layout of what the op, a conversion or one after a new axis, converts, if its value comes in layout l.
static const Layout *layout_before(const Sink *s, const Op *convert, const Layout *l) {
  const Op *axis = op_operand(convert, 0)->def;
  return axis->opcode == OP_EXPAND_DIMS ? layout_rule_pivot_of_operand(s->ctx, axis, 0, l) : l;
}

// Whether the conversion, to a third layout, takes no more from the layout before.
static bool converts_onward(const Sink *s, const Op *op, const Block *block) {
  if (op->opcode != OP_CONVERT_LAYOUT || op->parent != block) return false;
  const Type *t = op_operand(op, 0)->type;
  const Layout *to = op->results[0].type->layout, *before = layout_before(s, op, s->from);
  return before && cost_between(s, t, before, to) <= cost_between(s, t, t->layout, to);
}

// Whether all that the user does with a value of the region is to convert it onward.
static bool goes_onward(const Sink *s, const Op *user, const Block *block) {
  if (user->opcode != OP_EXPAND_DIMS) return converts_onward(s, user, block);
  EACH_USE(u, &user->results[0])
    if (!converts_onward(s, u->user, block)) return false;
  return user->parent == block;
}

static bool is_member(const Op *user, const Block *block) { return user->parent == block && user->mark == MEMBER; }

static bool used_outside(const Sink *s, const Value *v) {
  const Block *block = v->def->parent;
  EACH_USE(u, v)
    if (!is_member(u->user, block) && !goes_back(s, u->user) && !goes_onward(s, u->user, block)) return true;
  return false;
}

static bool feeds_members(const Op *op) {
  for (uint32_t i = 0; i < op->num_results; i++)
    EACH_USE(u, &op->results[i])
      if (is_member(u->user, op->parent)) return true;
  return false;
}

// What computing the op's operands again costs more than it saves.
static int64_t redo_cost(const Sink *s, const Op *op) {
  int64_t sum = 0;
  for (uint32_t i = 0; i < op->num_operands; i++) {
    const Value *v = op_operand(op, i);
    if (!v || v->type->kind != TYPE_TENSOR || is_inside(v, op->parent) || layout_rule_is_free(v)) continue;
    sum += layout_cost_op(v->def, s->from, s->module->num_warps) + redo_cost(s, v->def);
    if (value_has_one_use(v)) sum -= layout_cost_op(v->def, s->to, s->module->num_warps);
  }
  return sum;
}

// Whether the load can be one in the layout before. One that others use stays, and each lane chooses its part.
static bool loads_part(const Sink *s, const Op *load) {
  if (used_outside(s, &load->results[0])) return false;
  for (uint32_t i = 0; i < load->num_operands; i++) {
    const Value *v = op_operand(load, i);
    if (v && v->type->kind == TYPE_TENSOR && !is_redone(v, MAX_REDONE)) return false;
  }
  return true;
}

// What a source adds to what the region costs more as it is. A conversion that others use stays.
static int64_t gain_of_source(const Sink *s, const Op *op) {
  const uint32_t warps = s->module->num_warps;
  AccessInfo a;
  if (!s->shares) return used_outside(s, &op->results[0]) ? 0 : convert_cost(s, &op->results[0]);
  if (!feeds_members(op)) return 0;
  if (!loads_part(s, op) || !access_info(s->axes, op, &a)) return -(int64_t)layout_regs_per_thread(s->to) * warps;
  return layout_cost_access(op, &a, s->to, warps) - layout_cost_access(op, &a, s->from, warps) - redo_cost(s, op);
}

// What the ops of the region save, if nothing else costs anything. For conversions that need not be made, without end.
static int64_t saved(const Sink *s) {
  const uint32_t warps = s->module->num_warps;
  int64_t sum = 0;
  VEC_EACH(x, s->members) sum += layout_cost_op(*x, s->to, warps) - layout_cost_op(*x, s->from, warps);
  return s->shares ? sum : INT64_MAX;
}

// What the region costs more as it is than in the layout before.
static int64_t gain(const Sink *s) {
  const uint32_t warps = s->module->num_warps;
  int64_t sum = 0;
  VEC_EACH(x, s->sources) sum += gain_of_source(s, *x);
  VEC_EACH(x, s->members) {
    if ((*x)->mark != MEMBER) continue;
    sum += layout_cost_op(*x, s->to, warps) - layout_cost_op(*x, s->from, warps) - redo_cost(s, *x);
    for (uint32_t i = 0; i < (*x)->num_results; i++)
      if (used_outside(s, &(*x)->results[i])) sum -= convert_cost(s, &(*x)->results[i]);
  }
  return sum;
}

// Ops at the region's end leave it where that is better.
static int64_t shrink(Sink *s) {
  int64_t best = gain(s);
  for (uint32_t i = s->members.count; i-- > 0;) {
    Op *op = s->members.data[i];
    if (feeds_members(op)) continue;
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

// What goes onward from v does so from the value that v is made of.
static void send_onward(const Sink *s, const Value *v, Value *before) {
  for (Use *u = v->uses, *next; u; u = next) {
    next = u->next;
    Op *user = u->user;
    if (user->mark == MEMBER || goes_back(s, user) || !goes_onward(s, user, v->def->parent)) continue;
    if (user->opcode == OP_EXPAND_DIMS && user->results[0].uses) {
      const Layout *l = layout_before(s, user->results[0].uses->user, s->from);
      user->results[0].type = type_with_layout(s->ctx, user->results[0].type, l);
    }
    op_set_operand(user, u->index, before);
  }
}

static Value *redo(const Sink *s, const Value *v, Op *before) {
  ValueMap *map = value_map_new(s->ctx);
  for (uint32_t i = 0; !layout_rule_is_free(v) && i < v->def->num_operands; i++) {
    const Value *x = op_operand(v->def, i);
    if (x && x->type->kind == TYPE_TENSOR) value_map_set(s->ctx, map, x, redo(s, x, before));
  }
  Op *copy = op_clone(s->ctx, v->def, map);
  copy->results[0].type = type_with_layout(s->ctx, v->type, s->from);
  copy->mark = OUTSIDE;
  op_insert_before(copy, before);
  return &copy->results[0];
}

// What the source brings, in the layout before.
static Value *brought(const Sink *s, Op *source) {
  Value *v = &source->results[0];
  const Type *before = type_with_layout(s->ctx, v->type, s->from);
  if (!s->shares) return op_operand(source, 0);
  if (!loads_part(s, source)) {
    Builder b = builder_after(s->ctx, source);
    Value *part = build_value(&b, OP_CONVERT_LAYOUT, before, &v, 1);
    part->def->mark = OUTSIDE;
    return part;
  }
  for (uint32_t i = 0; i < source->num_operands; i++) {
    Value *x = op_operand(source, i);
    if (x && x->type->kind == TYPE_TENSOR) op_set_operand(source, i, redo(s, x, source));
  }
  v->type = before;
  return v;
}

static void move_up(Sink *s) {
  ValueMap *map = value_map_new(s->ctx);
  VEC_EACH(x, s->sources) {
    if (s->shares && !feeds_members(*x)) continue;
    Value *before = brought(s, *x);
    value_map_set(s->ctx, map, &(*x)->results[0], before);
    take_back(s, &(*x)->results[0], before);
    send_onward(s, &(*x)->results[0], before);
  }
  VEC_EACH(x, s->members) {
    Op *op = *x;
    if (op->mark != MEMBER) continue;
    for (uint32_t i = 0; i < op->num_operands; i++) {
      Value *v = op_operand(op, i);
      if (!v || v->type->kind != TYPE_TENSOR || is_inside(v, op->parent)) continue;
      value_map_set(s->ctx, map, v, redo(s, v, op));
    }
    Op *copy = op_clone(s->ctx, op, map);
    op_insert_before(copy, op);
    copy->mark = OUTSIDE;
    for (uint32_t i = 0; i < op->num_results; i++)
      copy->results[i].type = type_with_layout(s->ctx, op->results[i].type, s->from);
  }
  for (uint32_t i = s->members.count; i-- > 0;) {
    Op *op = s->members.data[i];
    if (op->mark != MEMBER) continue;
    Builder b = builder_before(s->ctx, op);
    b.span = op->span;
    for (uint32_t k = 0; k < op->num_results; k++) {
      Value *old = &op->results[k], *v = value_map_get(map, old);
      take_back(s, old, v);
      send_onward(s, old, v);
      if (!old->uses) continue;
      v = build_value(&b, OP_CONVERT_LAYOUT, old->type, &v, 1);
      v->def->mark = OUTSIDE;
      value_replace_all_uses(old, v);
    }
    op_erase(op);
  }
}

// Moves the region after the source `first` and those after it that are like it, if more than `least` is gained.
static bool move_region(Sink *s, Op *first, int64_t least) {
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
  if (saved(s) <= least || shrink(s) <= least) return false;
  move_up(s);
  return true;
}

// The region after the conversion `first` and those after it that are like it, if more than `least` is gained.
static bool sink_after(Sink *s, Op *first, int64_t least) {
  s->from = op_operand(first, 0)->type->layout;
  s->to = first->results[0].type->layout;
  s->shares = false;
  return move_region(s, first, least);
}

// Lets lanes share what is computed of the load, and of those after it with the same layout, if that saves LEAST
// instructions of a thread: what is fetched is waited for.
static void share_after(Sink *s, Op *first) {
  enum { LEAST = 32 };
  if (first->opcode != OP_LOAD || first->results[0].type->kind != TYPE_TENSOR) return;
  s->to = first->results[0].type->layout;
  s->from = layout_share_registers(s->ctx, s->to, 0, layout_free_bits(s->to, LAYOUT_LANE));
  s->shares = true;
  if (s->from == s->to || access_is_copied(first)) return;
  if (!s->axes) s->axes = axis_analyse(s->ctx, s->module);
  move_region(s, first, LEAST * (int64_t)s->module->num_warps);
}

// The type of a reduction's result if each of the lanes that reduce several rows together keeps its part; NULL if there
// are none, or if that is not reached without shared memory.
static const Type *kept_type(Sink *s, Op *reduce) {
  if (reduce->opcode != OP_REDUCE || reduce->num_results != 1) return NULL;
  Value *v = &reduce->results[0];
  const Type *all = v->type;
  if (all->kind != TYPE_TENSOR || scratch_reduce_plan(s->ctx, reduce).through_shared) return NULL;
  const uint32_t folded = layout_free_bits(all->layout, LAYOUT_LANE) &
                          ~layout_free_bits(op_operand(reduce, 0)->type->layout, LAYOUT_LANE);
  const Type *kept = type_with_layout(s->ctx, all, layout_share_registers(s->ctx, all->layout, 0, folded));
  if (kept == all) return NULL;
  v->type = kept;
  const bool reached = !scratch_reduce_plan(s->ctx, reduce).through_shared;
  v->type = all;
  return reached ? kept : NULL;
}

// Gives the reduction's result the type, and fetches all rows after it.
static Op *fetch_after(Sink *s, Op *reduce, const Type *kept) {
  Value *v = &reduce->results[0];
  const Type *all = v->type;
  v->type = kept;
  Builder b = builder_before(s->ctx, reduce->next);
  b.span = reduce->span;
  Op *fetch = build_op_typed(&b, OP_CONVERT_LAYOUT, &all, 1, (Value *[]){v}, 1);
  value_replace_all_uses(v, op_result(fetch, 0));
  op_set_operand(fetch, 0, v);
  return fetch;
}

// Lets lanes keep the rows of a reduction, and `together` those of all reductions after it with the same layouts, if
// what follows is cheaper then, by more than the fetch is waited for: a shuffle's latency, in which the warps that
// share a scheduler issue STEP instructions each.
static bool keep_rows(Sink *s, Op *first, bool together) {
  enum { STEP = 8 };
  const Type *kept = kept_type(s, first), *all = first->num_results ? first->results[0].type : NULL;
  VEC(Op *) fetches = {0};
  for (Op *op = kept ? first : NULL, *next; op; op = next) {
    next = together ? op->next : NULL;
    if (op->opcode != OP_REDUCE || op->results[0].type != all || kept_type(s, op) != kept) continue;
    vec_push(&s->ctx->arena, &fetches, fetch_after(s, op, kept));
  }
  if (!fetches.count) return false;
  if (sink_after(s, fetches.data[0], STEP * (int64_t)s->module->num_warps)) return true;
  VEC_EACH(x, fetches) {
    Value *v = op_operand(*x, 0);
    value_replace_all_uses(op_result(*x, 0), v);
    v->type = all;
    op_erase(*x);
  }
  return false;
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
    if (!keep_rows(s, op, true)) keep_rows(s, op, false);
    next = op->next;
  }
  EACH_OP(op, b) share_after(s, op);
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
