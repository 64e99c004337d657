// remove_conversions: moves and removes layout conversions.
//
// First it takes all conversions away and lets the layouts flow again from ops that have a reason for their layout:
// tensor-core ops and the remaining dots (heaviest first), then memory accesses, which keep the layout they have.
// Therefore a carried accumulator takes the tensor cores' layout, and what is computed between two dots never leaves
// it.
//
// Then it weighs each remaining conversion against recomputing its value in the wanted layout. Going backward from the
// conversion, it either recomputes an op (or, if the op has no other users, moves it) with operands obtained the same
// way, or converts the op's result where it is computed, which hoists conversions to smaller tensors and out of loops.
// Loads are never repeated.
//
// A tile that will be copied ahead is written to the buffer of a dot in the layout that it was loaded in, whatever
// layout others need it in: only then can it be copied to that buffer.
//
// Last, it looks at stores of rows that several lanes hold: each of these lanes computes the addresses, masks and
// values of all its rows, for one of them to store. If that costs less, each lane does so for a part of the rows.
// In, out: LAID_OUT.
#include "ir/map.h"
#include "passes/layout_assign.h"
#include "passes/layout_cost.h"
#include "passes/layout_rules.h"
#include "passes/pass.h"

// ---- layouts flow again ----

typedef struct {
  Context *ctx;
  Module *module;
  AxisAnalysis *axes;
  LayoutAnchors anchors;
  Map own;                   // the layout of each access, which its operands lose with their conversions
} Reflow;

// A tile that is copied ahead can be read from shared memory in any layout. Its own layout comes last. Of several such
// tiles the smallest comes first, because what is unpacked from it has the least choice.
enum { COPIED = 1 << 20 };

static void gather(Op *op, void *user) {
  Reflow *r = user;
  int64_t weight = 0;
  if (op_unit(op) == UNIT_DOT) {
    const Type *a = op_operand(op, 0)->type;
    weight = type_numel(op->results[0].type) * a->shape[a->rank - 1] * 16;
    if (op->opcode != OP_DOT) weight *= 64;       // these cannot have another layout
  } else if (access_is_tensor(op)) {
    weight = type_numel(access_type(op)) * access_elem_bytes(op);
    if (access_is_copied(op)) weight = max_i64(1, COPIED / weight);
  }
  if (!weight) return;
  const Layout *own = layout_rule_pivot(r->ctx, op);
  vec_push(&r->ctx->arena, &r->anchors, ((LayoutAnchor){op, layout_loop_weight(op, weight), own}));
  map_at(&r->ctx->arena, &r->own, op)->value = (void *)(uintptr_t)own;
}

static const Layout *choose(void *user, const Op *op) { return layout_rule_pivot(((Reflow *)user)->ctx, op); }

static bool accepts(void *user, const Op *op, const Layout *l) {
  Reflow *r = user;
  const Layout *own = map_get(&r->own, op)->value;
  AccessInfo a;
  access_info(r->axes, op, &a);
  return layout_access_accepts(r->ctx, op, &a, l, own, r->module->num_warps);
}

static const Layout *otherwise(void *user, const Value *v) {
  (void)user;
  return v->type->layout;
}

// ---- recomputing values ----

typedef struct Plan Plan;
struct Plan {
  Value *value;
  const Layout *layout;
  int64_t cost;
  bool convert;              // false: recompute the op
  Value *made;               // after carry_out
  Plan *next;
};

typedef struct {
  Context *ctx;
  Module *module;
  Plan *plans;
  bool changed;
} Remat;

static int64_t depth_weight(const Op *op) { return layout_loop_weight(op, 1); }

static int64_t convert_cost_at(Remat *r, Value *v, const Layout *l, const Op *place) {
  return layout_cost_convert(r->ctx, v->type, l, r->module->num_warps) * depth_weight(place);
}

static Plan *find_plan(Remat *r, const Value *v, const Layout *l) {
  for (Plan *p = r->plans; p; p = p->next)
    if (p->value == v && p->layout == l) return p;
  return NULL;
}

enum { MAX_PLAN_DEPTH = 48 };

// The cost of the cheapest way to v in the layout. What several users share is paid for once. `moves`: the user that
// asks does not stay where it is.
static int64_t plan_cost(Remat *r, Value *v, const Layout *l, const Op *place, bool moves, uint32_t depth) {
  if (!l || v->type->kind != TYPE_TENSOR || v->type->layout == l || layout_rule_is_free(v)) return 0;
  if (find_plan(r, v, l)) return 0;
  Plan *p = arena_new(&r->ctx->arena, Plan);
  *p = (Plan){.value = v, .layout = l, .convert = true, .next = r->plans};
  r->plans = p;
  const Op *home = v->def ? v->def : place;
  if (!v->def && v->block->first) home = v->block->first;
  p->cost = v->def && access_is_copied(v->def) && value_has_one_use(v) ? 0 : convert_cost_at(r, v, l, home);
  Op *op = v->def;
  if (!op || depth == 0) return p->cost;
  if (op->opcode == OP_LOCAL_LOAD) {      // it can read in the wanted layout
    p->convert = false;
    p->cost = value_has_one_use(v) ? 0 : 2 * layout_regs_per_thread(l) * r->module->num_warps * depth_weight(op);
    return p->cost;
  }
  const Layout *pivot = layout_can_redo(op) ? layout_rule_pivot_of_result(r->ctx, op, l) : NULL;
  if (op->opcode == OP_CONVERT_LAYOUT) {
    // Of two conversions only the second matters.
    Value *x = op_operand(op, 0);
    int64_t direct = x->type->layout == l ? 0 : convert_cost_at(r, x, l, op);
    if (direct < p->cost) p->cost = direct;
    return p->cost;
  }
  if (!pivot) return p->cost;
  Plan *before = r->plans;
  // An op that moves is computed by as many registers more, or fewer, as the layouts say.
  const bool one_use = value_has_one_use(v);
  const uint32_t warps = r->module->num_warps;
  int64_t again = moves || !one_use ? layout_cost_op(op, l, warps) : 0;
  moves &= one_use;
  if (moves) again -= layout_cost_op(op, v->type->layout, warps);
  again *= depth_weight(op);
  for (uint32_t i = 0; i < op->num_operands && again < p->cost; i++)
    if (op_operand(op, i))
      again += plan_cost(r, op_operand(op, i), layout_rule_operand(r->ctx, op, i, pivot), op, moves,
                         depth - 1);
  if (again < p->cost) {
    p->cost = again;
    p->convert = false;
  } else {
    r->plans = before;         // operands planned for nothing
  }
  return p->cost;
}

static Value *carry_out(Remat *r, Value *v, const Layout *l) {
  if (!l || v->type->kind != TYPE_TENSOR || v->type->layout == l) return v;
  const Type *t = type_with_layout(r->ctx, v->type, l);
  if (layout_rule_is_free(v)) {
    Op *copy = op_clone(r->ctx, v->def, value_map_new(r->ctx));
    op_insert_before(copy, v->def);
    copy->results[0].type = t;
    return op_result(copy, 0);
  }
  Plan *p = find_plan(r, v, l);
  if (!p) ice(r->ctx, "a conversion without a plan");
  if (p->made) return p->made;
  if (p->convert) {
    Op *first = v->def ? v->def->next : v->block->first;
    Builder b = builder_before(r->ctx, first);
    if (v->def) b.span = v->def->span;
    Value *x = value_op(v, OP_CONVERT_LAYOUT) ? op_operand(v->def, 0) : v;
    p->made = x->type->layout == l ? x : build_value(&b, OP_CONVERT_LAYOUT, t, &x, 1);
    return p->made;
  }
  Op *op = v->def;
  if (op->opcode == OP_LOCAL_LOAD) {
    Op *copy = op_clone(r->ctx, op, value_map_new(r->ctx));
    op_insert_before(copy, op);
    copy->results[0].type = t;
    return p->made = op_result(copy, 0);
  }
  const Layout *pivot = layout_rule_pivot_of_result(r->ctx, op, l);
  ValueMap *map = value_map_new(r->ctx);
  for (uint32_t i = 0; i < op->num_operands; i++) {
    Value *x = op_operand(op, i);
    if (x) value_map_set(r->ctx, map, x, carry_out(r, x, layout_rule_operand(r->ctx, op, i, pivot)));
  }
  Op *copy = op_clone(r->ctx, op, map);
  op_insert_before(copy, op->next);
  for (uint32_t i = 0; i < copy->num_results; i++) {
    const Layout *made = layout_rule_result(r->ctx, op, i, pivot);
    if (made) copy->results[i].type = type_with_layout(r->ctx, copy->results[i].type, made);
  }
  return p->made = op_result(copy, v->index);
}

static void weigh(Op *op, void *user) {
  Remat *r = user;
  if (op->opcode != OP_CONVERT_LAYOUT) return;
  Value *x = op_operand(op, 0);
  const Layout *want = op->results[0].type->layout;
  r->plans = NULL;
  int64_t now = convert_cost_at(r, x, want, op), then = plan_cost(r, x, want, op, true, MAX_PLAN_DEPTH);
  if (x->type->layout != want && then >= now) return;
  Value *made = carry_out(r, x, want);
  op_replace(op, &made);
  r->changed = true;
}

static void alloc_as_loaded(Op *op, void *user) {
  (void)user;
  if (op->opcode != OP_ALLOC || !value_op(op_operand(op, 0), OP_CONVERT_LAYOUT)) return;
  Value *loaded = op_operand(op_operand(op, 0)->def, 0);
  if (loaded->def && access_is_copied(loaded->def)) op_set_operand(op, 0, loaded);
}

// ---- stores of rows that several lanes hold ----

typedef struct { Remat *remat; AxisAnalysis *axes; } Stores;

// What the store costs more in its layout than in the other; plans the way to its operands there. The registers of a
// vector have one address and one mask, of which nothing is won; and each lane has to select its element.
static int64_t gain(Remat *r, Op *store, const AccessInfo *a, const Layout *own, const Layout *other, bool in_vectors) {
  enum { STORED = 2 };
  const uint32_t warps = r->module->num_warps;
  int64_t sum = (layout_cost_access(store, a, own, warps) - layout_cost_access(store, a, other, warps)) *
                depth_weight(store);
  r->plans = NULL;
  for (uint32_t i = 0; i < store->num_operands; i++) {
    Value *v = op_operand(store, i);
    if (!v) continue;
    const int64_t cost = plan_cost(r, v, layout_rule_operand(r->ctx, store, i, other), store, true, MAX_PLAN_DEPTH);
    if (in_vectors && i == STORED) sum -= (int64_t)layout_regs_per_thread(own) * warps * depth_weight(store);
    sum -= in_vectors && i != STORED ? max_i64(cost, 0) : cost;
  }
  return sum;
}

static void share_rows(Op *op, void *user) {
  const Stores *s = user;
  Remat *r = s->remat;
  AccessInfo a;
  if (op->num_results || !access_is_tensor(op) || !access_info(s->axes, op, &a)) return;
  const Layout *own = layout_rule_pivot(r->ctx, op), *best = own;
  if (!own) return;
  const uint32_t vector = log2_u32((uint32_t)layout_access_width(op, &a, own));
  const uint32_t lanes = layout_free_bits(own, LAYOUT_LANE);
  const Layout *choices[] = {layout_share_registers(r->ctx, own, vector, lanes),     // vectors stay
                             layout_share_registers(r->ctx, own, 0, lanes)};
  int64_t best_gain = 0;
  for (uint32_t i = 0; i < countof(choices); i++) {
    const int64_t won = choices[i] == own ? 0 : gain(r, op, &a, own, choices[i], i && vector);
    if (won <= best_gain) continue;
    best = choices[i];
    best_gain = won;
  }
  if (best == own) return;
  gain(r, op, &a, own, best, false);
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (op_operand(op, i))
      op_set_operand(op, i, carry_out(r, op_operand(op, i), layout_rule_operand(r->ctx, op, i, best)));
}

void pass_remove_conversions(PassCtx *p) {
  Reflow reflow = {.ctx = p->ctx, .module = p->module, .axes = axis_analyse(p->ctx, p->module)};
  module_walk(p->module, gather, &reflow);
  layout_assign(p->ctx, p->module, &reflow.anchors, &(LayoutChoices){choose, accepts, otherwise, &reflow});
  Remat r = {.ctx = p->ctx, .module = p->module};
  for (uint32_t round = 0; round < 8; round++) {
    r.changed = false;
    module_walk(p->module, weigh, &r);
    if (!r.changed) break;
  }
  module_walk(p->module, alloc_as_loaded, NULL);
  module_walk(p->module, share_rows, &(Stores){&r, reflow.axes});
}
