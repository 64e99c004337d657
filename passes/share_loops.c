// share_loops: lets lanes share what a loop computes element by element.
//   in, out: LAID_OUT
//
// A tile that is computed from rows after a loop gives the rows its layout, in which several lanes hold each: every one of
// them would compute all iterations for all its rows. If a loop computes what it carries in such a layout by elementwise
// ops alone, from numbers and tensors from outside the loop, each lane takes a part of the rows:
//
//   r = for … iter(x = init : L)              i = convert_layout init : S      (S: fewer registers)
//     y = f(x, n) : L                  →      s = for … iter(x = i : S)
//     yield y                                   yield f(x, n) : S
//   use r                                     r = convert_layout s : L
#include "ir/loop.h"
#include "passes/layout_cost.h"
#include "passes/layout_rules.h"
#include "passes/pass.h"

typedef struct {
  Context *ctx;
  Module *module;
  Op *loop;
  const Layout *from, *to;   // L and S
  VEC(Op *) members;         // of the body: what is computed element by element, and goes into what is carried
  VEC(Value *) brought;      // tensors in layout L that members take and the loop does not compute
} Share;

static bool is_shared(const Share *s, const Value *v) {
  return v && v->type->kind == TYPE_TENSOR && v->type->layout == s->from;
}

static bool is_carried(const Share *s, const Value *v) {
  return v->block == s->loop->blocks[0] && v->index > 0 && is_shared(s, v);
}

// Op.mark. OF_CARRIED: a member that takes a carried tensor, or what is computed of one; ALONE: one that does not.
enum { OUTSIDE, ALONE, OF_CARRIED };

// Whether a user of a carried tensor, or of what is computed of one, is in the body and computes element by element, or
// passes it on as one of the carried tensors.
static bool is_alike(const Share *s, const Use *u) {
  const Op *op = u->user;
  if (op->parent != s->loop->blocks[0]) return false;
  if (op->opcode == OP_YIELD) return is_shared(s, op_result(s->loop, u->index));
  return op_is(op, TRAIT_ELEMENTWISE) && layout_can_redo(op) && op->num_results == 1 && is_shared(s, &op->results[0]);
}

static bool all_alike(const Share *s, const Value *v) {
  EACH_USE(u, v)
    if (!is_alike(s, u)) return false;
  return true;
}

static bool is_member(const Share *s, const Value *v) {
  return v->def && v->def->parent == s->loop->blocks[0] && v->def->mark != OUTSIDE;
}

// Whether v, which a member or the yield takes, can have layout S.
static bool can_bring(const Share *s, const Value *v) {
  if (!v || v->type->kind != TYPE_TENSOR || is_carried(s, v)) return true;
  return is_shared(s, v) && (is_member(s, v) || layout_rule_is_free(v) || value_defined_outside(v, s->loop));
}

static bool can_bring_all(const Share *s, const Op *op) {
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (!can_bring(s, op_operand(op, i))) return false;
  return true;
}

static bool takes_carried(const Share *s, const Op *op) {
  for (uint32_t i = 0; i < op->num_operands; i++) {
    const Value *v = op_operand(op, i);
    if (v && (is_carried(s, v) || (is_member(s, v) && v->def->mark == OF_CARRIED))) return true;
  }
  return false;
}

static void note_brought(Share *s, Value *v) {
  if (!is_shared(s, v) || is_carried(s, v) || is_member(s, v)) return;
  VEC_EACH(x, s->brought)
    if (*x == v) return;
  vec_push(&s->ctx->arena, &s->brought, v);
}

// Finds the members. False if a carried tensor, or what is computed of one, is used otherwise, or passed on from
// elsewhere.
static bool find_members(Share *s) {
  const Block *body = s->loop->blocks[0];
  EACH_OP(op, body) op->mark = OUTSIDE;
  for (uint32_t i = 1; i < body->num_args; i++)
    if (is_carried(s, body->args[i]) && !all_alike(s, body->args[i])) return false;
  EACH_OP(op, body) {
    if (op->opcode == OP_YIELD) break;
    const bool of_carried = takes_carried(s, op), is_layout = op->num_results == 1 && is_shared(s, &op->results[0]);
    const bool joins = is_layout && op_is(op, TRAIT_ELEMENTWISE) && layout_can_redo(op) &&
                       all_alike(s, &op->results[0]) && can_bring_all(s, op);
    if (of_carried && !joins) return false;
    if (!joins) continue;
    op->mark = of_carried ? OF_CARRIED : ALONE;
    vec_push(&s->ctx->arena, &s->members, op);
  }
  for (uint32_t i = 0; i < s->loop->num_results; i++) {
    if (!is_shared(s, op_result(s->loop, i))) continue;
    if (!can_bring(s, op_operand(body->last, i))) return false;
    note_brought(s, op_operand(body->last, i));
  }
  VEC_EACH(x, s->members)
    for (uint32_t i = 0; i < (*x)->num_operands; i++) note_brought(s, op_operand(*x, i));
  return s->members.count;
}

static int64_t cost_between(const Share *s, const Type *t, const Layout *from, const Layout *to) {
  return layout_cost_convert(s->ctx, type_with_layout(s->ctx, t, from), to, s->module->num_warps);
}

// Whether the iterations save more than conversions before and after the loop cost. Of loops whose number of iterations
// is not known, FEW are counted.
static bool is_worth(const Share *s) {
  enum { FEW = 8 };
  int64_t trips, saved = 0, cost = 0;
  if (!for_trips(s->loop, &trips)) trips = FEW;
  VEC_EACH(x, s->members)
    saved += layout_cost_op(*x, s->from, s->module->num_warps) - layout_cost_op(*x, s->to, s->module->num_warps);
  VEC_EACH(x, s->brought)
    if (!layout_rule_is_free(*x)) cost += cost_between(s, (*x)->type, s->from, s->to);
  for (uint32_t i = 0; i < s->loop->num_results; i++) {
    const Value *r = op_result(s->loop, i), *init = for_init(s->loop, i);
    if (!is_shared(s, r)) continue;
    if (r->uses) cost += cost_between(s, r->type, s->to, s->from);
    if (!layout_rule_is_free(init)) cost += cost_between(s, r->type, s->from, s->to);
  }
  return trips * saved > cost;
}

// v in layout S: made again, or converted, before `at`.
static Value *in_layout(const Share *s, Value *v, Op *at) {
  const Type *t = type_with_layout(s->ctx, v->type, s->to);
  Builder b = builder_before(s->ctx, at);
  if (!layout_rule_is_free(v)) return build_value(&b, OP_CONVERT_LAYOUT, t, &v, 1);
  Op *copy = op_clone(s->ctx, v->def, value_map_new(s->ctx));
  copy->results[0].type = t;
  op_insert_before(copy, at);
  return &copy->results[0];
}

static void rewrite(Share *s) {
  Block *body = s->loop->blocks[0];
  VEC_EACH(x, s->brought) {
    Value *v = *x;
    Op *at = value_defined_outside(v, s->loop) ? s->loop : v->def->next;
    Value *now = in_layout(s, v, at);
    for (Use *u = v->uses, *next; u; u = next) {
      next = u->next;
      const bool is_yield = u->user == body->last && is_shared(s, op_result(s->loop, u->index));
      if (u->user->parent == body && (u->user->mark != OUTSIDE || is_yield)) op_set_operand(u->user, u->index, now);
    }
  }
  VEC_EACH(x, s->members) (*x)->results[0].type = type_with_layout(s->ctx, (*x)->results[0].type, s->to);
  for (uint32_t i = 0; i < s->loop->num_results; i++) {
    Value *r = op_result(s->loop, i);
    if (!is_shared(s, r)) continue;
    const Type *before = r->type, *now = type_with_layout(s->ctx, before, s->to);
    op_set_operand(s->loop, FOR_INITS + i, in_layout(s, for_init(s->loop, i), s->loop));
    for_carried(s->loop, i)->type = now;
    r->type = now;
    if (!r->uses) continue;
    Builder b = builder_after(s->ctx, s->loop);
    Op *back = build_op_typed(&b, OP_CONVERT_LAYOUT, &before, 1, &r, 1);
    value_replace_all_uses(r, op_result(back, 0));
    op_set_operand(back, 0, r);
  }
}

// The layout of a carried tensor that several lanes hold; NULL: there is none after the i-th. *i is moved on.
static const Layout *next_layout(const Op *loop, uint32_t *i) {
  while (++*i < loop->blocks[0]->num_args) {
    const Type *t = loop->blocks[0]->args[*i]->type;
    if (t->kind == TYPE_TENSOR && layout_free_bits(t->layout, LAYOUT_LANE)) return t->layout;
  }
  return NULL;
}

static void visit(Op *op, void *user) {
  PassCtx *p = user;
  if (op->opcode != OP_FOR) return;
  uint32_t i = 0;
  for (const Layout *l; (l = next_layout(op, &i));) {
    Share s = {.ctx = p->ctx, .module = p->module, .loop = op, .from = l};
    s.to = layout_share_registers(p->ctx, l, 0, layout_free_bits(l, LAYOUT_LANE));
    if (s.to != l && find_members(&s) && is_worth(&s)) rewrite(&s);
  }
}

void pass_share_loops(PassCtx *p) { module_walk_inside_out(p->module, visit, p); }
