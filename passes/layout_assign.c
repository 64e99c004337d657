// Layout assignment: see layout_assign.h. Value.aux is a value's layout, Op.mark an op's number.
#include "passes/layout_assign.h"

#include "ir/loop.h"
#include "passes/layout_rules.h"
#include "passes/access.h"
#include "passes/ties.h"

typedef struct {
  Context *ctx;
  const LayoutChoices *choices;
  const Layout **pivots;             // by Op.mark
  const Layout *(*fixed)[2];         // by Op.mark: operand layouts that the op's meaning fixes (mma)
  VEC(Op *) ops;                     // by Op.mark
  VEC(Value *) work;
  VEC(Value *) indices;              // whose users have not been visited
} Assign;

static const Layout *layout_of(const Value *v) { return v->aux; }

int64_t layout_loop_weight(const Op *op, int64_t weight) {
  const Block *b = op->parent;
  for (const Op *p = b->parent; p && weight < INT64_MAX / 64; b = p->parent, p = b->parent) {
    if (op_is(p, TRAIT_LOOP)) weight *= 16;
    if (p->opcode == OP_IF && b == p->blocks[1] && op_int(p, ATTR_LIKELY, 0)) weight = weight / 64 + 1;
  }
  return weight;
}

static void number(Op *op, void *user) {
  Assign *c = user;
  op->mark = c->ops.count;
  vec_push(&c->ctx->arena, &c->ops, op);
}

static bool is_tensor_core(const Op *op) { return op_unit(op) == UNIT_DOT && op->opcode != OP_DOT; }

static const Layout *operand_layout(Assign *c, const Op *op, uint32_t i, const Layout *pivot) {
  return is_tensor_core(op) && i < 2 ? c->fixed[op->mark][i] : layout_rule_operand(c->ctx, op, i, pivot);
}

typedef struct { Op *op; const Layout *operand[2]; } FixedOperands;
typedef VEC(FixedOperands) FixedList;
typedef struct { Context *ctx; FixedList *list; } FixedSearch;

static void remember_fixed(Op *op, void *user) {
  FixedSearch *f = user;
  if (!is_tensor_core(op)) return;
  vec_push(&f->ctx->arena, f->list,
           ((FixedOperands){op, {op_operand(op, 0)->type->layout, op_operand(op, 1)->type->layout}}));
}

static void take_conversion_away(Op *op, void *user) {
  (void)user;
  if (op->opcode != OP_CONVERT_LAYOUT) return;
  value_replace_all_uses(&op->results[0], op_operand(op, 0));
  op_erase(op);
}

// ---- flow ----

static void assign(Value *v, Assign *c, const Layout *l) {
  if (!v || v->type->kind != TYPE_TENSOR || v->aux || !l) return;
  v->aux = (void *)(uintptr_t)l;
  vec_push(&c->ctx->arena, &c->work, v);
}

static void set_pivot(Assign *c, Op *op, const Layout *pivot) {
  if (c->pivots[op->mark] || !pivot) return;
  c->pivots[op->mark] = pivot;
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (op_operand(op, i)) assign(op_operand(op, i), c, operand_layout(c, op, i, pivot));
  for (uint32_t i = 0; i < op->num_results; i++) assign(&op->results[i], c, layout_rule_result(c->ctx, op, i, pivot));
}

typedef struct { Assign *c; const Layout *layout; } TieVisit;
static void tie(Value *v, void *user) {
  TieVisit *t = user;
  assign(v, t->c, t->layout);
}

static bool may_settle(Assign *c, const Op *op, const Layout *pivot) {
  return !access_is_tensor(op) || c->choices->accepts(c->choices->user, op, pivot);
}

// Whether all that is computed of v, element by element, is written to memory. Looks at `left` uses at most.
static bool is_only_written(const Value *v, uint32_t *left) {
  EACH_USE(u, v) {
    const Op *user = u->user;
    if (!*left) return false;
    --*left;
    const bool computes = op_is(user, TRAIT_ELEMENTWISE) && user->num_results == 1;
    if (computes ? !is_only_written(&user->results[0], left) : !access_is_tensor(user)) return false;
  }
  return true;
}

// Whether warps exchange partial results for v, which they then read in any layout. What is written of it has the
// layout of the access: with that of the operand many threads would compute the same, for one of them to write it.
static bool comes_in_any_layout(const Assign *c, const Value *v) {
  const Op *op = v->def;
  if (!op || op->opcode != OP_REDUCE || op->num_results != 1 || !c->pivots[op->mark]) return false;
  const Layout *l = c->pivots[op->mark];
  const uint32_t axis = layout_axis_mask(l, (uint32_t)op_int(op, ATTR_AXIS, 0));
  uint32_t warps = 0, left = 64;
  for (uint32_t w = 0; w < l->num_bits[LAYOUT_WARP]; w++) warps |= layout_basis(l, LAYOUT_WARP, w) & axis;
  return warps && is_only_written(v, &left);
}

// Whether v is a constant, a range or a splat, perhaps in another shape or type.
static bool is_made_anew(const Value *v) {
  while (!layout_rule_is_free(v) && v->def && v->def->num_operands == 1 && op_is(v->def, TRAIT_PURE) &&
         op_is(v->def, TRAIT_MOVES | TRAIT_CONVERTS) && op_unit(v->def) != UNIT_EXCH)
    v = op_operand(v->def, 0);
  return layout_rule_is_free(v);
}

// Whether v is computed from a tensor that a loop carries or a conditional gives: that has one layout for all its users,
// and to convert it costs an exchange. depth: how many ops to look through.
static bool is_of_flow(const Value *v, uint32_t depth) {
  const Op *op = v->def;
  if (v->type->kind != TYPE_TENSOR || layout_rule_is_free(v)) return false;
  if (!op || op->num_blocks) return true;
  if (!depth || !op_is(op, TRAIT_PURE) || !op_is(op, TRAIT_MOVES | TRAIT_ELEMENTWISE)) return false;
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (op_operand(op, i) && is_of_flow(op_operand(op, i), depth - 1)) return true;
  return false;
}

// Whether a user of v takes it to what has a layout of its own, which v, of which it can have a copy, must not decide.
static bool must_not_decide(const Value *v, const Op *user) {
  enum { DEPTH = 5 };
  if (!is_made_anew(v)) return false;
  for (uint32_t i = 0; i < user->num_operands; i++)
    if (op_operand(user, i) && op_operand(user, i) != v && is_of_flow(op_operand(user, i), DEPTH)) return true;
  return false;
}

// Whether v is computed of ranges and scalars alone, by few ops. depth: how many to look through.
static bool is_index(const Value *v, uint32_t depth) {
  const Op *op = v->def;
  if (v->type->kind != TYPE_TENSOR || layout_rule_is_free(v)) return true;
  if (!op || !depth || !op_is(op, TRAIT_PURE) || !op_is(op, TRAIT_MOVES | TRAIT_ELEMENTWISE)) return false;
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (op_operand(op, i) && !is_index(op_operand(op, i), depth - 1)) return false;
  return true;
}

// Whether v is a tile of indices, of two axes, that several threads compute alike, although there are elements for all
// of them.
static bool is_repeated_index(const Value *v) {
  enum { DEPTH = 5 };
  const Layout *l = layout_of(v);
  uint32_t axes = 0;
  for (uint32_t i = 0; i < v->type->rank; i++) axes += v->type->shape[i] > 1;
  const uint32_t threads = 1u << (l->num_bits[LAYOUT_LANE] + l->num_bits[LAYOUT_WARP]);
  return axes > 1 && type_numel(v->type) >= threads &&
         (layout_free_bits(l, LAYOUT_LANE) || layout_free_bits(l, LAYOUT_WARP)) && is_index(v, DEPTH);
}

static void flow_to_users(Assign *c, const Value *v) {
  EACH_USE(u, v) {
    const Layout *pivot = layout_rule_pivot_of_operand(c->ctx, u->user, u->index, layout_of(v));
    if (!pivot || c->pivots[u->user->mark] || must_not_decide(v, u->user)) continue;
    if (may_settle(c, u->user, pivot)) set_pivot(c, u->user, pivot);
  }
}

static void flow(Assign *c) {
  while (c->work.count) {
    Value *v = c->work.data[--c->work.count];
    const Layout *l = layout_of(v);
    const bool is_free = layout_rule_is_free(v);          // each user can have its own copy, a loop that it begins, too
    if (!is_free) ties_visit(v, tie, &(TieVisit){c, l});
    if (v->def && !c->pivots[v->def->mark]) {
      const Layout *pivot = layout_rule_pivot_of_result(c->ctx, v->def, l);
      if (pivot && may_settle(c, v->def, pivot)) set_pivot(c, v->def, pivot);
    }
    if (is_free || comes_in_any_layout(c, v)) continue;
    if (is_repeated_index(v)) vec_push(&c->ctx->arena, &c->indices, v);
    else flow_to_users(c, v);
  }
}

// What is computed of such indices has the layout of the ops with a reason for theirs that it reaches; that of another
// use of the indices, in which threads would repeat all of it, only if there are none.
static void flow_from_indices(Assign *c) {
  while (c->indices.count) {
    flow_to_users(c, c->indices.data[--c->indices.count]);
    flow(c);
  }
}

static void assign_default(Assign *c, Value *v) {
  if (v->type->kind != TYPE_TENSOR || v->aux) return;
  assign(v, c, c->choices->otherwise(c->choices->user, v));
  flow(c);
}

// If no anchor reaches what is reduced, but one reaches the result, each thread reduces in its registers what it needs.
// What it fetches along the axis, a row for example that the tile is multiplied by, should then serve several elements.
// Where threads hold duplicates of the result, they had better share the work.
enum { SERVED = 4 };

static void reduce_in_registers(Assign *c, Op *op) {
  if (op->opcode != OP_REDUCE || c->pivots[op->mark] || op_operand(op, 0)->aux || !op->results[0].aux) return;
  const Layout *l = layout_of(&op->results[0]);
  const uint32_t axis = (uint32_t)op_int(op, ATTR_AXIS, 0);
  if (layout_regs_per_thread(l) < SERVED || layout_free_bits(l, LAYOUT_LANE) ||
      layout_free_bits(l, LAYOUT_WARP) || layout_free_bits(l, LAYOUT_BLOCK))
    return;
  set_pivot(c, op, layout_stretch(c->ctx, layout_expand_dims(c->ctx, l, axis), axis,
                                  op_operand(op, 0)->type->shape[axis]));
  flow(c);
}

static void assign_all(Assign *c, const LayoutAnchors *anchors) {
  // Heaviest first. Insertion sort keeps the program's order among equals.
  uint32_t *order = arena_array(&c->ctx->arena, uint32_t, anchors->count + 1);
  for (uint32_t i = 0; i < anchors->count; i++) {
    uint32_t k = i;
    for (; k > 0 && anchors->data[i].weight > anchors->data[order[k - 1]].weight; k--) order[k] = order[k - 1];
    order[k] = i;
  }
  for (uint32_t i = 0; i < anchors->count; i++) {
    const LayoutAnchor *a = &anchors->data[order[i]];
    if (c->pivots[a->op->mark]) continue;
    set_pivot(c, a->op, a->pivot ? a->pivot : c->choices->choose(c->choices->user, a->op));
    flow(c);
  }
  flow_from_indices(c);
  for (uint32_t i = 0; i < c->ops.count; i++) {
    const Layout *own = c->pivots[i] ? NULL : layout_rule_own(c->ctx, c->ops.data[i]);
    if (!own) continue;
    set_pivot(c, c->ops.data[i], own);
    flow(c);
  }
  // What a descriptor brings has a reason for its default; what it is combined with, masks for example, has none.
  VEC_EACH(x, c->ops)
    for (uint32_t k = 0; k < (*x)->num_results && op_unit(*x) == UNIT_DESC; k++) assign_default(c, &(*x)->results[k]);
  VEC_EACH(x, c->ops) reduce_in_registers(c, *x);
  VEC_EACH(x, c->ops) {
    Op *op = *x;
    for (uint32_t k = 0; k < op->num_results; k++) assign_default(c, &op->results[k]);
    for (uint32_t b = 0; b < op->num_blocks; b++)
      for (uint32_t k = 0; k < op->blocks[b]->num_args; k++) assign_default(c, op->blocks[b]->args[k]);
  }
}

// ---- rewriting ----

// Returns v in the layout, as an operand of op.
static Value *in_layout(Assign *c, Op *op, Value *v, const Layout *l) {
  if (!l || v->type->kind != TYPE_TENSOR || v->type->layout == l) return v;
  Builder b = builder_before(c->ctx, op);
  if (layout_rule_is_free(v)) {
    Op *copy = op_clone(c->ctx, v->def, value_map_new(c->ctx));
    op_insert_before(copy, op);
    copy->results[0].type = type_with_layout(c->ctx, v->type, l);
    return op_result(copy, 0);
  }
  return build_convert_layout(&b, v, l);
}

static void set_type(Assign *c, Value *v) {
  if (v->type->kind == TYPE_TENSOR) v->type = type_with_layout(c->ctx, v->type, layout_of(v));
}

// Carried values: the initial and the yielded values agree with the block argument or result.
static void convert_carried(Assign *c, Op *op) {
  Op *parent = op->parent->parent;
  for (uint32_t i = 0; i < op->num_operands; i++) {
    const Value *like = NULL;
    if (op->opcode == OP_FOR && i >= FOR_INITS) like = for_carried(op, i - FOR_INITS);
    else if (op->opcode == OP_WHILE) like = op->blocks[0]->args[i];
    else if (op->opcode == OP_YIELD && parent && (parent->opcode == OP_IF || parent->opcode == OP_ROLES))
      like = op_result(parent, i);
    else if (op->opcode == OP_YIELD && parent && parent->opcode == OP_FOR) like = for_carried(parent, i);
    else if (op->opcode == OP_YIELD && parent && parent->opcode == OP_WHILE) like = parent->blocks[0]->args[i];
    else if (op->opcode == OP_CONDITION && i > 0) like = parent->blocks[1]->args[i - 1];
    if (like && like->type->kind == TYPE_TENSOR)
      op_set_operand(op, i, in_layout(c, op, op_operand(op, i), like->type->layout));
  }
}

// A loop's result has the layout of the argument that carries it.
static const Layout *carried_layout(const Op *op, uint32_t k) {
  const Value *arg = op->opcode == OP_FOR     ? for_carried(op, k)
                     : op->opcode == OP_WHILE ? op->blocks[1]->args[k]
                                              : NULL;
  return arg && arg->type->kind == TYPE_TENSOR ? arg->type->layout : NULL;
}

// A result whose layout was settled before that of the op: the op keeps its own, and the users get what they expect.
static void settle_result(Assign *c, Op *op, uint32_t k, const Layout *made) {
  Value *r = &op->results[k];
  if (!made || made == r->type->layout) return;
  const Type *expected = r->type;
  r->type = type_with_layout(c->ctx, r->type, made);
  if (!r->uses) return;
  Builder b = builder_before(c->ctx, op->next);
  b.span = op->span;
  Op *convert = build_op_typed(&b, OP_CONVERT_LAYOUT, &expected, 1, (Value *[]){r}, 1);
  value_replace_all_uses(r, op_result(convert, 0));
  op_set_operand(convert, 0, r);
}

static void rewrite(Assign *c) {
  VEC_EACH(x, c->ops) {
    Op *op = *x;
    for (uint32_t k = 0; k < op->num_results; k++) set_type(c, &op->results[k]);
    for (uint32_t b = 0; b < op->num_blocks; b++)
      for (uint32_t k = 0; k < op->blocks[b]->num_args; k++) set_type(c, op->blocks[b]->args[k]);
  }
  VEC_EACH(it, c->ops) {
    Op *op = *it;
    convert_carried(c, op);
    for (uint32_t k = 0; k < op->num_results; k++) settle_result(c, op, k, carried_layout(op, k));
    const Layout *pivot = c->pivots[op->mark];
    if (!pivot) pivot = layout_rule_pivot(c->ctx, op);
    if (!pivot) continue;
    for (uint32_t k = 0; k < op->num_operands; k++)
      if (op_operand(op, k))
        op_set_operand(op, k, in_layout(c, op, op_operand(op, k), operand_layout(c, op, k, pivot)));
    for (uint32_t k = 0; k < op->num_results; k++) settle_result(c, op, k, layout_rule_result(c->ctx, op, k, pivot));
  }
}

void layout_assign(Context *ctx, Module *m, const LayoutAnchors *anchors, const LayoutChoices *choices) {
  Assign c = {.ctx = ctx, .choices = choices};
  module_clear_scratch(m);
  FixedList fixed = {0};
  module_walk(m, remember_fixed, &(FixedSearch){ctx, &fixed});
  module_walk(m, take_conversion_away, NULL);
  module_walk(m, number, &c);
  c.pivots = arena_array(&ctx->arena, const Layout *, c.ops.count + 1);
  c.fixed = arena_alloc(&ctx->arena, sizeof *c.fixed * (c.ops.count + 1));
  VEC_EACH(x, fixed)
    for (uint32_t k = 0; k < 2; k++) c.fixed[x->op->mark][k] = x->operand[k];
  assign_all(&c, anchors);
  rewrite(&c);
}
