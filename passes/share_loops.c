// share_loops: lets lanes share what a loop computes element by element.
//   in, out: LAID_OUT
//
// A tile that is computed from rows after a loop gives the rows its layout, in which several lanes hold each: every one of
// them would compute all iterations for all its rows. If a loop computes what it carries in such a layout by elementwise
// ops and loads alone, from numbers and tensors from outside the loop, each lane takes a part of the rows:
//
//   r = for … iter(x = init : L)              i = convert_layout init : S      (S: fewer registers)
//     y = f(x, n) : L                  →      s = for … iter(x = i : S)
//     yield y                                   yield f(x, n) : S
//   use r                                     r = convert_layout s : L
//
// Inner loops come first. The conversions that they get, to S and back, vanish if the outer loop is shared as well.
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

// Op.mark
enum { OUTSIDE, MEMBER };

static bool is_member(const Share *s, const Value *v) {
  return v->def && v->def->parent == s->loop->blocks[0] && v->def->mark == MEMBER;
}

// A conversion from L to S or back.
static bool is_switch(const Share *s, const Op *op) {
  if (op->opcode != OP_CONVERT_LAYOUT) return false;
  const Layout *from = op_operand(op, 0)->type->layout, *to = op->results[0].type->layout;
  return (from == s->from && to == s->to) || (from == s->to && to == s->from);
}

// A switch that vanishes: it takes or gives what the loop computes in layout S.
static bool is_idle(const Share *s, const Op *op) {
  const Value *v = is_switch(s, op) ? op_operand(op, 0) : NULL;
  return v && (op->mark == MEMBER || is_carried(s, v) || is_member(s, v));
}

// Whether the op gives a tensor in layout L, element by element.
static bool is_by_element(const Share *s, const Op *op) {
  if (op->num_results != 1 || !is_shared(s, &op->results[0])) return false;
  if (op->opcode == OP_LOAD) return !op_int(op, ATTR_VOLATILE, 0);
  return is_switch(s, op) || (op_is(op, TRAIT_ELEMENTWISE) && layout_can_redo(op));
}

static void join(Share *s, Op *op) {
  op->mark = MEMBER;
  vec_push(&s->ctx->arena, &s->members, op);
}

static bool takes_carried(const Share *s, const Op *op) {
  for (uint32_t i = 0; i < op->num_operands; i++) {
    const Value *v = op_operand(op, i);
    if (v && (is_carried(s, v) || is_member(s, v))) return true;
  }
  return false;
}

// Makes v, which a member or the yield takes, available in layout S. False: it cannot be.
static bool bring(Share *s, Value *v) {
  if (!v || v->type->kind != TYPE_TENSOR || is_carried(s, v) || is_member(s, v)) return true;
  if (!is_shared(s, v)) return false;
  if (layout_rule_is_free(v) || value_defined_outside(v, s->loop)) {
    VEC_EACH(x, s->brought)
      if (*x == v) return true;
    vec_push(&s->ctx->arena, &s->brought, v);
    return true;
  }
  if (!v->def || v->def->parent != s->loop->blocks[0] || !is_by_element(s, v->def)) return false;
  join(s, v->def);
  return true;
}

// Whether only members, the yield and conversions to S use a value that will have layout S.
static bool is_used_inside(const Share *s, const Value *v) {
  EACH_USE(u, v) {
    const Op *op = u->user;
    if (op->parent != s->loop->blocks[0]) return false;
    const bool fits = op->opcode == OP_YIELD ? is_shared(s, op_result(s->loop, u->index))
                                             : op->mark == MEMBER || is_switch(s, op);
    if (!fits) return false;
  }
  return true;
}

// What the members from the m-th on take joins, too. False if that cannot be, or if others use one of them.
static bool close_members(Share *s, uint32_t m) {
  for (uint32_t k = m; k < s->members.count; k++) {
    const Op *op = s->members.data[k];
    for (uint32_t i = 0; i < op->num_operands && !is_switch(s, op); i++)
      if (!bring(s, op_operand(op, i))) return false;
  }
  for (; m < s->members.count; m++)
    if (!is_used_inside(s, &s->members.data[m]->results[0])) return false;
  return true;
}

// What the body converts to S, as for an inner loop, need not have L before, if it is computed element by element.
static void take_converted(Share *s) {
  EACH_OP(op, s->loop->blocks[0]) {
    if (!is_switch(s, op) || is_shared(s, &op->results[0]) || is_idle(s, op)) continue;
    const uint32_t members = s->members.count, brought = s->brought.count;
    if (bring(s, op_operand(op, 0)) && close_members(s, members)) continue;
    while (s->members.count > members) s->members.data[--s->members.count]->mark = OUTSIDE;
    s->brought.count = brought;
  }
}

// Finds the members. False if a carried tensor, or what is computed of one, is used otherwise, or passed on from
// elsewhere.
static bool find_members(Share *s) {
  const Block *body = s->loop->blocks[0];
  EACH_OP(op, body) op->mark = OUTSIDE;
  EACH_OP(op, body) {
    const bool leaves = op->opcode == OP_YIELD || (is_switch(s, op) && !is_shared(s, &op->results[0]));
    if (leaves || !takes_carried(s, op)) continue;
    if (!is_by_element(s, op)) return false;
    join(s, op);
  }
  for (uint32_t i = 0; i < s->loop->num_results; i++)
    if (is_shared(s, op_result(s->loop, i)) && !bring(s, for_next(s->loop, i))) return false;
  if (!close_members(s, 0)) return false;
  for (uint32_t i = FOR_CARRIED; i < body->num_args; i++)
    if (is_carried(s, body->args[i]) && !is_used_inside(s, body->args[i])) return false;
  take_converted(s);
  return s->members.count;
}

static int64_t cost_of_conversion(const Share *s, const Type *t, const Layout *to) {
  return layout_cost_convert(s->ctx, t, to, s->module->num_warps);
}

static int64_t cost_between(const Share *s, const Type *t, const Layout *from, const Layout *to) {
  return cost_of_conversion(s, type_with_layout(s->ctx, t, from), to);
}

// Whether the iterations save more than conversions before and after the loop cost. Of loops whose number of iterations
// is not known, FEW are counted.
static bool is_worth(const Share *s) {
  enum { FEW = 8 };
  int64_t trips, saved = 0, cost = 0;
  if (!for_trips(s->loop, &trips)) trips = FEW;
  VEC_EACH(x, s->members)
    saved += layout_cost_op(*x, s->from, s->module->num_warps) - layout_cost_op(*x, s->to, s->module->num_warps);
  EACH_OP(op, s->loop->blocks[0])
    if (is_idle(s, op)) saved += cost_of_conversion(s, op_operand(op, 0)->type, op->results[0].type->layout);
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
      if (u->user->parent == body && (u->user->mark == MEMBER || is_yield)) op_set_operand(u->user, u->index, now);
    }
  }
  VEC(Op *) idle = {0};
  EACH_OP(op, body)
    if (is_idle(s, op)) vec_push(&s->ctx->arena, &idle, op);
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
  VEC_EACH(x, idle) op_replace(*x, (Value *[]){op_operand(*x, 0)});
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
