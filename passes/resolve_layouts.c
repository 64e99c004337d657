// resolve_layouts: gives every tensor that its author left without a layout the one that follows from its operands or
// its uses (layout_rules.h, both ways, and through loops and ifs).
//
// CoalescedLayout is open, too: what is left without a layout then gets that of a good access.
//
// In: LAID_OUT, of which some tensors have no layout yet; a convert_layout of such a tensor says which it gets.
// Out: LAID_OUT, every tensor with a layout.
#include "passes/access.h"
#include "passes/layout_rules.h"
#include "passes/pass.h"
#include "passes/ties.h"

#include "ir/roles.h"

typedef struct {
  Context *ctx;
  bool names_scalars;
  VEC(Value *) found;        // values with a layout whose neighbours are still to be looked at
} Resolve;

static bool is_tensor(const Value *v) { return v && v->type->kind == TYPE_TENSOR; }

static Span place_of(const Value *v) { return v->def ? v->def->span : v->block->func->span; }

static void give(Resolve *r, Value *v, const Layout *l) {
  if (!is_tensor(v) || !l || v->type->layout) return;
  v->type = type_with_layout(r->ctx, v->type, l);
  v->aux = r;                // the layout was found here
  vec_push(&r->ctx->arena, &r->found, v);
}

typedef struct { Resolve *r; const Layout *layout; } Tie;
static void give_tied(Value *v, void *user) {
  const Tie *t = user;
  give(t->r, v, t->layout);
}

// Gives the op's tensors what follows from this pivot.
static void spread(Resolve *r, Op *op, const Layout *pivot) {
  if (!pivot) return;
  for (uint32_t i = 0; i < op->num_operands; i++) give(r, op_operand(op, i), layout_rule_operand(r->ctx, op, i, pivot));
  for (uint32_t i = 0; i < op->num_results; i++)
    give(r, &op->results[i], layout_rule_result(r->ctx, op, i, pivot));
}

static void look_around(Resolve *r, Value *v) {
  const Layout *l = v->type->layout;
  EACH_USE(u, v) spread(r, u->user, layout_rule_pivot_of_operand(r->ctx, u->user, u->index, l));
  if (v->def) {
    for (uint32_t i = 0; i < v->def->num_results; i++)
      if (&v->def->results[i] == v) spread(r, v->def, layout_rule_pivot_of_result(r->ctx, v->def, l));
  }
  ties_visit(v, give_tied, &(Tie){r, l});
}

// A conversion of a tensor that has no layout yet gives it one; two that differ contradict each other. One to no layout
// yet hands its operand's on: an iteration leaves it to a variable that began without.
static void begin(Op *op, void *user) {
  Resolve *r = user;
  if (op->opcode != OP_CONVERT_LAYOUT) {
    for (uint32_t i = 0; i < op->num_results; i++)
      if (is_tensor(&op->results[i]) && op->results[i].type->layout)
        vec_push(&r->ctx->arena, &r->found, &op->results[i]);
    return;
  }
  give(r, op_operand(op, 0), op->results[0].type->layout);
  if (op_operand(op, 0)->type->layout && !op_int(op, ATTR_COALESCED, 0))
    give(r, &op->results[0], op_operand(op, 0)->type->layout);
}

// ---- CoalescedLayout ----
// Lanes run along the access' fastest axis, and each thread takes up to 16 bytes.
static const Layout *layout_for_access(Resolve *r, AxisAnalysis *axes, const Op *op) {
  const Type *t = access_type(op);
  const uint32_t warps = op_num_warps(op);
  AccessInfo a;
  if (!access_info(axes, op, &a)) return layout_default(r->ctx, warps, t, 1);
  BlockedChoice choice = {.vec = 1};
  uint32_t n = 0;
  choice.order[n++] = a.fastest;
  for (uint32_t i = t->rank; i-- > 0;)
    if (i != a.fastest) choice.order[n++] = i;
  const int64_t each = max_i64(1, type_numel(t) / (WARP_SIZE * (int64_t)warps));
  choice.vec = (uint32_t)min_i64(each, access_max_vector(&a, a.fastest, access_elem_bytes(op)));
  return layout_blocked_for(r->ctx, warps, t, &choice);
}

typedef struct { Resolve *r; bool any; VEC(Op *) accesses; } Coalesced;
static void find_coalesced(Op *op, void *user) {
  Coalesced *c = user;
  if (op_int(op, ATTR_COALESCED, 0)) {
    c->any |= !op->results[0].type->layout;
    op_remove_attr(op, ATTR_COALESCED);
  }
  if (access_is_tensor(op)) vec_push(&c->r->ctx->arena, &c->accesses, op);
}

static void look_around_all(Resolve *r, uint32_t *done) {
  for (; *done < r->found.count; ++*done) look_around(r, r->found.data[*done]);
}

static void coalesce(Resolve *r, Module *m, uint32_t *done) {
  Coalesced c = {.r = r};
  module_walk(m, find_coalesced, &c);
  if (!c.any) return;
  AxisAnalysis *axes = axis_analyse(r->ctx, m);
  VEC_EACH(op, c.accesses) {
    if (access_type(*op)->layout) continue;
    spread(r, *op, layout_for_access(r, axes, *op));
    look_around_all(r, done);
  }
}

// Unused ops need no layout. An unused convert_layout stays: it sets its operand's layout.
typedef struct { Arena *arena; VEC(Op *) ops; } Pure;
static void collect_pure(Op *op, void *user) {
  Pure *p = user;
  if (op_is(op, TRAIT_PURE) && op->opcode != OP_CONVERT_LAYOUT) vec_push(p->arena, &p->ops, op);
}

static void erase_unused(Context *ctx, Module *m) {
  Pure pure = {.arena = &ctx->arena};
  module_walk(m, collect_pure, &pure);
  for (uint32_t i = pure.ops.count; i-- > 0;) {
    bool is_used = false;
    for (uint32_t k = 0; k < pure.ops.data[i]->num_results; k++) is_used |= pure.ops.data[i]->results[k].uses != NULL;
    if (!is_used) op_erase(pure.ops.data[i]);
  }
}

// What is computed from a tensor without a layout has none either: only the first is reported. A scalar that became a
// tensor is so only if there is no other.
static void check(Op *op, void *user) {
  Resolve *r = user;
  if ((op->opcode == OP_SPLAT || op->opcode == OP_CONSTANT) && !r->names_scalars) return;
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (is_tensor(op_operand(op, i)) && !op_operand(op, i)->type->layout && op_operand(op, i)->def) return;
  for (uint32_t i = 0; i < op->num_results; i++) {
    const Value *v = &op->results[i];
    if (!is_tensor(v) || v->type->layout) continue;
    diag_error(r->ctx, place_of(v), "the layout of this tensor is not known");
    diag_note(r->ctx, (Span){0, 0}, "give it one: `layout=` where it is made, or gl.set_auto_layout(x, L)");
    return;
  }
}

static bool is_open(const Op *op) {
  for (uint32_t i = 0; i < op->num_results; i++)
    if (is_tensor(&op->results[i]) && !op->results[i].type->layout) return true;
  return false;
}
static void find_open(Op *op, void *user) { *(bool *)user |= is_open(op); }

// The conversions that only said which layout a tensor gets.
typedef struct { Resolve *r; VEC(Op *) ops; } Settings;
static void collect_setting(Op *op, void *user) {
  Settings *s = user;
  if (op->opcode == OP_CONVERT_LAYOUT && !op_operand(op, 0)->type->layout) vec_push(&s->r->ctx->arena, &s->ops, op);
}

static void contradict(Resolve *r, const Op *op, const Value *x, const Layout *want) {
  Buf text = buf_make(&r->ctx->arena);
  layout_print(&text, x->type->layout);
  diag_error(r->ctx, op->span, "this tensor would get two layouts");
  diag_note(r->ctx, place_of(x), "it has %s by another use", buf_str(&text));
  text = buf_make(&r->ctx->arena);
  layout_print(&text, want);
  diag_note(r->ctx, (Span){0, 0}, "here it would get %s; convert it: gl.convert_layout(x, L)", buf_str(&text));
}

static void remove_setting(Resolve *r, Op *op) {
  Value *x = op_operand(op, 0);
  const Layout *want = op->results[0].type->layout;
  if (x->type->layout == want) op_replace(op, &x);
  else contradict(r, op, x, want);
}

// An operand may have got another layout than the op asks for. What comes from a scalar exists once for each.
static void check_operands(Op *op, void *user) {
  Resolve *r = user;
  const Layout *pivot = op->opcode == OP_CONVERT_LAYOUT ? NULL : layout_rule_pivot(r->ctx, op);
  for (uint32_t i = 0; pivot && i < op->num_operands; i++) {
    Value *x = op_operand(op, i);
    const Layout *want = is_tensor(x) && x->aux ? layout_rule_operand(r->ctx, op, i, pivot) : NULL;
    if (!want || layout_drop_zero_regs(r->ctx, x->type->layout) == layout_drop_zero_regs(r->ctx, want)) continue;
    if (!x->def || (x->def->opcode != OP_SPLAT && x->def->opcode != OP_CONSTANT)) {
      contradict(r, op, x, want);
      return;
    }
    Op *again = op_clone(r->ctx, x->def, value_map_new(r->ctx));
    again->results[0].type = type_with_layout(r->ctx, x->type, want);
    op_insert_before(again, op);
    op_set_operand(op, i, &again->results[0]);
  }
}

void pass_resolve_layouts(PassCtx *p) {
  Resolve r = {.ctx = p->ctx};
  Settings s = {.r = &r};
  bool any = false;
  module_walk(p->module, find_open, &any);
  if (!any) return;
  module_clear_scratch(p->module);
  erase_unused(p->ctx, p->module);
  module_walk(p->module, collect_setting, &s);
  module_walk(p->module, begin, &r);
  uint32_t done = 0;
  look_around_all(&r, &done);
  coalesce(&r, p->module, &done);
  const uint32_t errors = diag_error_count(p->ctx);
  VEC_EACH(op, s.ops) remove_setting(&r, *op);
  module_walk(p->module, check_operands, &r);
  for (uint32_t i = 0; i < 2 && diag_error_count(p->ctx) == errors; i++) {
    r.names_scalars = i == 1;
    module_walk(p->module, check, &r);
  }
}
