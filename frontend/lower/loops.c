// Loops. A scan of the body finds the names that it may bind. Those that have a value before the loop become block
// arguments, the body is lowered once, and the arguments that it hands on unchanged are removed. A loop that may leave
// early (break, return) becomes a `while` whose condition tests the exit flags.
#include "frontend/lower/gluon.h"
#include "frontend/lower/hints.h"
#include "frontend/lower/statements.h"
#include "frontend/lower/term.h"
#include "frontend/lower/warnings.h"

#include <string.h>

typedef struct {
  const char *name;
  Term *init;
  uint32_t start, count;   // where its values lie among the carried ones
  Span span;
} Carry;

typedef struct {
  VEC(Carry) vars;
  ValueList inits;         // carried values before the loop
  NameVec names;           // all names the body may bind
  Scope before;
} Carried;

// Finds the names with a value before the loop that the body, or the test of a `while`, may bind. Parameters that are
// specialised to 1 become run-time values here.
static void find_carried(Lower *L, const NodeList *body, const Node *test, Carried *c) {
  Scope *scope = &L->frame->scope;
  lower_collect_assigned(L, body, &c->names);
  lower_collect_expr(L, test, &c->names);
  for (uint32_t i = 0; i < c->names.count; i++) {
    Var *v = scope_find(scope, c->names.data[i]);
    if (!v || !v->term) continue;
    if (v->flags & VAR_FOLDED) {
      Term *t = term_to_value(L, v->term, v->span, "the variable");
      if (t && v->folded_type) t = lower_cast(L, t, v->folded_type, v->span);
      v->term = t;
      v->flags = 0;
      if (!t) continue;
    }
    Carry carry = {v->name, v->term, c->inits.count, 0, v->span};
    term_flatten(L, v->term, &c->inits);
    carry.count = c->inits.count - carry.start;
    vec_push(L->arena, &c->vars, carry);
  }
  c->before = scope_copy(L, scope);
}

// Adds block arguments to b and binds the carried names to them.
static void bind_carried(Lower *L, const Carried *c, Block *b) {
  Value **args = arena_array(L->arena, Value *, c->inits.count + 1);
  for (uint32_t i = 0; i < c->inits.count; i++) {
    args[i] = block_add_arg(L->ctx, b, c->inits.data[i]->type);
    map_at(L->arena, &L->inits, args[i])->value = c->inits.data[i];
  }
  for (uint32_t i = 0; i < c->vars.count; i++) {
    const Carry *v = &c->vars.data[i];
    uint32_t pos = v->start;
    Term *t = term_rebuild(L, v->init, args, &pos);
    scope_find(&L->frame->scope, v->name)->term = t;
    if (t->kind == TERM_VALUE) term_v(t)->name = v->name;
  }
}

static void report_type_change(Lower *L, const Carry *v, const Var *now) {
  if (term_is_none(v->init) && now->term->kind == TERM_VALUE) {
    lower_error(L, now->span, "`%s` is None before the loop, and %s after an iteration", v->name,
                term_describe(L, now->term));
    diag_note(L->ctx, v->span, "%s gets its first value here", v->name);
    if (ct_is_ptr(term_t(now->term))) lower_hint(L, "a loop at run time keeps one type: begin with a pointer");
    else if (term_is_tensor(now->term))
      lower_hint(L, "a loop at run time keeps one type: begin with tl.zeros(%s, tl.%s), or what changes nothing",
                 lower_shape_text(L, term_t(now->term)), dtype_info[ct_scalar_of(term_t(now->term))->scalar].name);
    else lower_hint(L, "a loop at run time keeps one type: begin with a number, or what changes nothing");
    return;
  }
  if (v->init->kind == TERM_CONST && now->term->kind == TERM_VALUE) {
    lower_error(L, now->span, "`%s` is a constexpr and cannot become a run-time value in a loop", v->name);
    diag_note(L->ctx, v->span, "%s is declared `tl.constexpr` here", v->name);
    lower_hint(L, "loop with tl.static_range, which unrolls the loop at compile time, or let the loop change a "
                  "variable that is declared without tl.constexpr");
    return;
  }
  lower_error(L, now->span, "`%s` changes its type in the loop: %s before, %s after an iteration", v->name,
              term_describe(L, v->init), term_describe(L, now->term));
  diag_note(L->ctx, v->span, "%s gets its first value here", v->name);
  if (v->init->kind == TERM_TUPLE && now->term->kind == TERM_TUPLE && v->init->tuple.count != now->term->tuple.count) {
    lower_hint(L, "a tuple keeps its length in a loop at run time: unroll the loop with tl.static_range, whose count is "
                  "a constant, or combine each iteration's value with the one before");
    return;
  }
  lower_note_widened(L, now->term);
  if (lower_hint_first_value(L, v->name, v->span, v->init, now->term)) return;
  term_note_types_differ(L, v->init, now->term, "a variable that lives across iterations keeps one type: give it "
                         "that type before the loop, or convert with .to(…)");
}

static void report_lost(Lower *L, const Carry *v) {
  lower_error(L, v->span, "`%s` has a value before the loop and none after an iteration", v->name);
  scope_note_lost(L, v->name);
  lower_hint(L, "give it a value on every path through the loop, or use another name inside");
}

// A tensor that an iteration leaves as an accumulator is one from the start, as by warpgroup_mma_init. One that begins
// without a layout goes on without one until resolve_layouts. False if the variable's types differ otherwise.
static bool carry_settled(Lower *L, Carry *v, Term *now, Value *const *args, ValueList *next) {
  bool to_acc = false;
  const uint32_t first = next->count;
  Term *init = term_settle(L, v->init, now, &to_acc);
  if (!init) return false;
  term_flatten(L, term_in_layout_of(L, now, init), next);
  const bool ok = !to_acc || lower_may_be_accumulators(args + v->start, next->data + first, v->count);
  if (ok) v->init = init;
  else next->count = first;
  return ok;
}

// Collects the carried values at the end of an iteration. False after a diagnostic if a variable changed its type; it
// has no value then.
static bool collect_next(Lower *L, Carried *c, Value *const *args, ValueList *next) {
  bool ok = true;
  for (uint32_t i = 0; i < c->vars.count; i++) {
    Carry *v = &c->vars.data[i];
    Var *now = scope_find(&L->frame->scope, v->name);
    if (now && now->term && term_same_type(L, v->init, now->term)) {
      term_flatten(L, now->term, next);
      continue;
    }
    if (now && now->term && carry_settled(L, v, now->term, args, next)) continue;
    if (!now) report_lost(L, v);
    Term *t = now ? now->term : NULL;
    // A constant becomes a value if that has the carried type.
    if (t && v->init->kind == TERM_VALUE && term_is_const(t) && ct_rank(term_t(v->init)) == 0) {
      Term *d = term_to_value(L, t, now->span, "the value");
      if (d && ct_type_equal(term_t(d), term_t(v->init))) {
        term_flatten(L, d, next);
        continue;
      }
    }
    if (t) report_type_change(L, v, now);
    ok = false;
    scope_set(L, &c->before, v->name, NULL, v->span, 0);
    for (uint32_t k = 0; k < v->count; k++) vec_push(L->arena, next, args[v->start + k]);
  }
  return ok;
}

// ---- finishing a loop's op ----
typedef struct {
  Op *shell;               // the FOR or WHILE, which has no results yet
  Block *test, *body;      // test: of a WHILE. Both take the same arguments.
  uint32_t first;          // arguments before the carried ones: 1 when the induction variable is one of them
  Carried *c;
  ValueList next;          // carried values at the end of the body
  Scope end;               // scope at the end of the body
  // A loop that may leave early also carries whether it left at all, whether it returned, and the returned values.
  ValueList extra_inits, extra_next;
  bool has_any, has_returned;
} Loop;

static Value *flag_value(Lower *L, Flag f) {
  return f.state == FLAG_MAYBE && f.v ? f.v : build_int(&L->b, type_scalar(L->ctx, SC_I1), f.state == FLAG_YES);
}

// Makes values of the flags at the end of the body.
static void collect_extra(Lower *L, Loop *lp, bool want_any) {
  Arena *arena = L->arena;
  Flag b = lp->end.exits[EXIT_BREAK], r = lp->end.exits[EXIT_RETURN];
  lp->has_any = want_any;
  lp->has_returned = r.state != FLAG_NO;
  if (want_any) {
    Value *any = r.state == FLAG_NO ? flag_value(L, b) : flag_value(L, r);
    if (r.state != FLAG_NO && b.state != FLAG_NO) any = build_binary(&L->b, OP_ORI, flag_value(L, b), any);
    vec_push(arena, &lp->extra_next, any);
  }
  if (lp->has_returned) {
    vec_push(arena, &lp->extra_next, flag_value(L, r));
    term_flatten(L, lp->end.ret, &lp->extra_next);
  }
  Builder inside = L->b;
  L->b = builder_before(L->ctx, lp->shell);
  for (uint32_t i = 0; i < lp->extra_next.count; i++)
    vec_push(arena, &lp->extra_inits, term_zero(L, lp->extra_next.data[i]->type));
  L->b = inside;
}

// Drops the carried arguments that every block hands on unchanged. Each block's terminator has `skip` operands
// before the carried ones. keep[i] says whether value i is still carried.
static void drop_unchanged(Loop *lp, Block **blocks, const uint32_t *skip, uint32_t n, bool *keep) {
  for (uint32_t i = lp->c->inits.count; i-- > 0;) {
    uint32_t a = lp->first + i;
    keep[i] = false;
    for (uint32_t b = 0; b < n; b++)
      keep[i] |= op_operand(block_terminator(blocks[b]), skip[b] + i) != blocks[b]->args[a];
    if (keep[i]) continue;
    for (uint32_t b = 0; b < n; b++) op_remove_operand(block_terminator(blocks[b]), skip[b] + i);
    for (uint32_t b = 0; b < n; b++) {
      value_replace_all_uses(blocks[b]->args[a], lp->c->inits.data[i]);
      block_remove_arg(blocks[b], a);
    }
  }
}

// Builds the op with its results: the carried values that are kept, then the extra ones. `head` stands before them,
// among the operands or among the results.
static Op *rebuild_loop(Lower *L, Loop *lp, Value *const *head, uint32_t num_head, bool head_is_result,
                        const bool *keep) {
  Arena *arena = L->arena;
  ValueList operands = {0}, carried = {0};
  for (uint32_t i = 0; i < num_head; i++) vec_push(arena, head_is_result ? &carried : &operands, head[i]);
  for (uint32_t i = 0; i < lp->c->inits.count; i++)
    if (keep[i]) vec_push(arena, &carried, lp->c->inits.data[i]);
  values_append(L, &carried, &lp->extra_inits);
  const Type **types = arena_array(arena, const Type *, carried.count + 1);
  for (uint32_t i = 0; i < carried.count; i++) {
    types[i] = carried.data[i]->type;
    vec_push(arena, &operands, carried.data[i]);
  }
  if (!carried.count) return lp->shell;
  return lower_replace_op(L, lp->shell, types, carried.count, operands.data, operands.count);
}

// Binds the carried names and the flags to the loop's results, from number `r` on.
static void leave_loop(Lower *L, Loop *lp, Op *op, const bool *keep, uint32_t r) {
  Carried *c = lp->c;
  Value **values = arena_array(L->arena, Value *, c->inits.count + 1);
  for (uint32_t i = 0; i < c->inits.count; i++) values[i] = keep[i] ? op_result(op, r++) : c->inits.data[i];
  Scope *scope = &L->frame->scope;
  *scope = c->before;
  for (uint32_t i = 0; i < c->vars.count; i++) {
    const Carry *v = &c->vars.data[i];
    uint32_t pos = v->start;
    Var *var = scope_find(scope, v->name);
    if (!var->term) continue;
    var->term = term_rebuild(L, v->init, values, &pos);
    if (var->term->kind == TERM_VALUE && !term_v(var->term)->name) term_v(var->term)->name = v->name;
  }
  for (uint32_t i = 0; i < lp->end.count; i++) {
    const Var *v = &lp->end.vars[i];
    if (!scope_find(scope, v->name)) scope_lose(L, v, "inside a loop");
  }
  for (uint32_t i = scope->count; i-- > 0;)   // deleted in the body
    if (!scope_find(&lp->end, scope->vars[i].name)) scope_remove(scope, scope->vars[i].name);
  if (lp->has_any) r++;
  if (!lp->has_returned) return;
  scope->exits[EXIT_RETURN] = (Flag){FLAG_MAYBE, op_result(op, r++)};
  ValueList ret = {0};
  for (; r < op->num_results; r++) vec_push(L->arena, &ret, op_result(op, r));
  uint32_t pos = 0;
  scope->ret = term_rebuild(L, lp->end.ret, ret.data, &pos);
}

// ---- while ----
typedef struct { const Node *test; } TestArm;
static Term *lower_test(Lower *L, const Node *test) {
  Term *c = lower_expr(L, test);
  int known;
  Value *v;
  if (!lower_condition(L, c, test->span, "`while`", &known, &v)) return NULL;
  const CtType *i1 = lower_scalar(L, DT_INT1);
  return known >= 0 ? term_full(L, i1, 0, known) : term_value(L, v, i1);
}

static Term *exited_or_test(Lower *L, void *user, bool first) {
  return first ? term_full(L, lower_scalar(L, DT_INT1), 0, 0) : lower_test(L, ((TestArm *)user)->test);
}

// Ends both blocks of a while-shaped loop. The cursor is at the end of the body; the test block ends with its
// condition op.
static Op *finish_while(Lower *L, Loop *lp, Value *const *head, uint32_t num_head, Value *const *next_head,
                        uint32_t num_any, bool *keep) {
  Arena *arena = L->arena;
  Op *condition = block_terminator(lp->test);
  for (uint32_t i = num_any; i < lp->extra_next.count; i++) {
    const Type *t = lp->extra_next.data[i]->type;
    op_append_operand(L->ctx, condition, block_add_arg(L->ctx, lp->test, t));
    block_add_arg(L->ctx, lp->body, t);
  }
  ValueList yields = {0};
  for (uint32_t i = 0; i < num_head; i++) vec_push(arena, &yields, next_head[i]);
  values_append(L, &yields, &lp->next);
  values_append(L, &yields, &lp->extra_next);
  build_op(&L->b, OP_YIELD, yields.data, yields.count);
  Block *blocks[2] = {lp->test, lp->body};
  const uint32_t skip[2] = {1 + num_head, num_head};
  drop_unchanged(lp, blocks, skip, 2, keep);
  return rebuild_loop(L, lp, head, num_head, true, keep);
}

static bool test_binds_new(Lower *L, const Node *test) {
  NameVec names = {0};
  lower_collect_expr(L, test, &names);
  for (uint32_t i = 0; i < names.count; i++)
    if (!scope_find(&L->frame->scope, names.data[i])) return true;
  return false;
}

// `while test: body` as `while True: if not test: break; body`, where body sees the names that the test binds.
static const Node *test_in_body(Lower *L, const Node *s) {
  const Node made[] = {{.kind = NODE_TRUE, .span = s->loop.iter->span},
                       {.kind = NODE_BREAK, .span = s->loop.iter->span},
                       {.kind = NODE_UNARY, .span = s->loop.iter->span, .op = PYOP_NOT},
                       {.kind = NODE_IF, .span = s->loop.iter->span},
                       *s};
  Node *n = memcpy(arena_array(L->arena, Node, countof(made)), made, sizeof made);
  n[2].unary.value = s->loop.iter;
  n[3].cond.test = &n[2];
  vec_push(L->arena, &n[3].cond.body, &n[1]);
  n[4].loop.iter = &n[0];
  n[4].loop.body = (NodeList){0};
  vec_push(L->arena, &n[4].loop.body, &n[3]);
  for (uint32_t i = 0; i < s->loop.body.count; i++) vec_push(L->arena, &n[4].loop.body, s->loop.body.data[i]);
  return &n[4];
}

void lower_while(Lower *L, const Node *s) {
  if (s->loop.orelse.count) {
    lower_error(L, s->loop.else_span, "`while … else` is not supported in kernels");
    lower_hint(L, "set a flag in the loop, and test it after the loop");
    lower_skip(L, &s->loop.body);
    return;
  }
  if (!lower_enter_region(L, s->span)) return;
  if (test_binds_new(L, s->loop.iter)) s = test_in_body(L, s);
  bool exits = lower_has_exit(&s->loop.body, true);
  Carried c = {0};
  Block *outer = L->b.block;
  find_carried(L, &s->loop.body, s->loop.iter, &c);
  L->b.span = s->span;
  Op *shell = lower_new_shell(L, OP_WHILE, NULL, 0, 2);
  Loop lp = {.shell = shell, .test = shell->blocks[0], .body = shell->blocks[1], .c = &c};
  L->frame->scope = scope_copy(L, &c.before);
  bind_carried(L, &c, lp.test);
  lower_cursor_to_end(L, lp.test);
  const Type *i1 = type_scalar(L->ctx, SC_I1);
  L->b.span = s->loop.iter->span;
  Term *cond;
  if (exits) {
    TestArm arm = {s->loop.iter};
    cond = lower_runtime_choice(L, block_add_arg(L->ctx, lp.test, i1), exited_or_test, &arm, s->loop.iter->span,
                                "the test");
  } else {
    cond = lower_test(L, s->loop.iter);
  }
  bool failed = !cond;
  if (failed) cond = term_full(L, lower_scalar(L, DT_INT1), 0, 0);
  ValueList forwarded = {0};
  vec_push(L->arena, &forwarded, term_v(cond));
  ValueList now = {0};
  if (!collect_next(L, &c, lp.test->args, &now)) failed = true;
  values_append(L, &forwarded, &now);
  if (exits) vec_push(L->arena, &forwarded, lp.test->args[c.inits.count]);
  build_op(&L->b, OP_CONDITION, forwarded.data, forwarded.count);

  bind_carried(L, &c, lp.body);
  if (exits) block_add_arg(L->ctx, lp.body, i1);
  lower_cursor_to_end(L, lp.body);
  Cont k = {&s->loop.body, 0, NULL};
  LiveOut out = {&c.names, false};
  lower_stmts(L, &k, &out);
  scope_resume(&L->frame->scope, false);
  lp.end = L->frame->scope;
  L->b.span = s->span;
  collect_next(L, &c, lp.body->args, &lp.next);
  collect_extra(L, &lp, exits);
  bool *keep = arena_array(L->arena, bool, c.inits.count + 1);
  Op *op = finish_while(L, &lp, NULL, 0, NULL, exits, keep);
  lower_cursor_to_end(L, outer);
  leave_loop(L, &lp, op, keep, 0);
  L->region_depth--;
}

// ---- for ---- Turns the FOR shell into a WHILE that also tests the exit flags: test(iv, carried…, any…). Only the
// lowered body shows whether the loop needs that: with a `break` that no path reaches at compile time it stays a FOR,
// which can be pipelined and unrolled. The test of a `while` is lowered before its body, so there lower_has_exit
// decides by syntax.
static Op *for_to_while(Lower *L, Loop *lp, Value *lb, Value *ub, Value *step, bool *keep) {
  Op *old = lp->shell;
  const Type *iv_type = lb->type;
  collect_extra(L, lp, true);
  Value *iv_next = build_binary(&L->b, OP_ADDI, lp->body->args[0], step);
  Builder inside = L->b;
  Op *loop = op_new(L->ctx, L->b.func, OP_WHILE, old->span, NULL, 0, NULL, 0, 2);
  loop->inlined_at = old->inlined_at;
  op_insert_before(loop, old);
  loop->blocks[1] = lp->body;
  lp->body->parent = loop;
  old->num_blocks = 0;
  op_erase(old);
  lp->shell = loop;
  lp->test = loop->blocks[0];
  ValueList forwarded = {0};
  vec_push(L->arena, &forwarded, NULL);
  vec_push(L->arena, &forwarded, block_add_arg(L->ctx, lp->test, iv_type));
  for (uint32_t i = 0; i < lp->c->inits.count; i++)
    vec_push(L->arena, &forwarded, block_add_arg(L->ctx, lp->test, lp->c->inits.data[i]->type));
  const Type *i1 = type_scalar(L->ctx, SC_I1);
  Value *any = block_add_arg(L->ctx, lp->test, i1);
  block_add_arg(L->ctx, lp->body, i1);
  vec_push(L->arena, &forwarded, any);
  lower_cursor_to_end(L, lp->test);
  Value *more = build_cmp(&L->b, CMP_SLT, lp->test->args[0], ub);
  Value *live = build_binary(&L->b, OP_XORI, any, build_int(&L->b, i1, 1));
  forwarded.data[0] = build_binary(&L->b, OP_ANDI, more, live);
  build_op(&L->b, OP_CONDITION, forwarded.data, forwarded.count);
  L->b = inside;
  return finish_while(L, lp, &lb, 1, &iv_next, 1, keep);
}

// Carries a variable of the target's name and type, which holds the last number after the loop as in Python. If there
// is none before the loop and `rest`, which follows it, reads one, it is 0 after a loop without iterations. False if
// the target hides a variable of another type, which has no value after the loop.
static bool carries_target(Lower *L, const Node *target, const CtType *iv_type, const Cont *rest, Carried *c) {
  if (target->kind != NODE_NAME) return true;
  Scope *scope = &L->frame->scope;
  if (!scope_find(scope, target->name.id) && scope_is_read_next(L, rest, target->name.id))
    scope_set(L, scope, target->name.id, term_full(L, iv_type, 0, 0), target->span, 0);
  const Var *v = scope_find(scope, target->name.id);
  if (!v) return true;
  const CtType *type = v->flags & VAR_FOLDED                    ? v->folded_type
                       : v->term && v->term->kind == TERM_VALUE ? term_t(v->term)
                                                                : NULL;
  bool same = type && ct_type_equal(type, iv_type);
  if (same) vec_push(L->arena, &c->names, v->name);
  return same;
}

static void hide_target(Lower *L, const Node *target) {
  const Var *found = scope_find(&L->frame->scope, target->name.id);
  if (!found) return;
  const Var v = *found;
  scope_lose(L, &v, "and hidden by the loop's variable of that name");
  scope_remove(&L->frame->scope, v.name);
}

bool lower_counted_loop(Lower *L, const Node *s, RangeArgs *r) {
  Span span = s->span;
  Term *bounds[3];
  bool negative;
  const CtType *iv_type = lower_range_bounds(L, s, r, bounds, &negative);
  if (!iv_type) return false;
  Value *lb = term_v(bounds[negative ? 1 : 0]), *ub = term_v(bounds[negative ? 0 : 1]), *step = term_v(bounds[2]);

  if (!lower_enter_region(L, span)) return true;
  Carried c = {0};
  bool hides = !carries_target(L, s->loop.target, iv_type, r->rest, &c);
  find_carried(L, &s->loop.body, NULL, &c);
  Block *outer = L->b.block;
  Value *operands[3] = {lb, ub, step};
  L->b.span = span;
  Op *shell = lower_new_shell(L, OP_FOR, operands, 3, 1);
  lower_range_attrs(L, shell, &r->call);
  Loop lp = {.shell = shell, .body = shell->blocks[0], .first = 1, .c = &c};
  L->frame->scope = scope_copy(L, &c.before);
  Value *iv = block_add_arg(L->ctx, lp.body, lb->type);
  bind_carried(L, &c, lp.body);
  lower_cursor_to_end(L, lp.body);
  Value *seen = iv;
  if (negative) seen = build_binary(&L->b, OP_SUBI, build_binary(&L->b, OP_ADDI, ub, lb), iv);
  lower_assign_item(L, s->loop.target, s->loop.iter, term_value(L, seen, iv_type), false);
  Cont k = {&s->loop.body, 0, NULL};
  LiveOut out = {&c.names, false};
  lower_stmts(L, &k, &out);
  scope_resume(&L->frame->scope, false);
  lp.end = L->frame->scope;
  L->b.span = span;
  collect_next(L, &c, lp.body->args + 1, &lp.next);
  bool *keep = arena_array(L->arena, bool, c.inits.count + 1);
  Op *op;
  uint32_t first_result = 0;
  if (scope_flow(&lp.end) == FLAG_NO) {
    build_op(&L->b, OP_YIELD, lp.next.data, lp.next.count);
    const uint32_t skip = 0;
    drop_unchanged(&lp, &lp.body, &skip, 1, keep);
    op = rebuild_loop(L, &lp, operands, 3, false, keep);
  } else {
    op = for_to_while(L, &lp, lb, ub, step, keep);
    first_result = 1;
  }
  lower_warn_same_tile(L, s, op);
  lower_cursor_to_end(L, outer);
  leave_loop(L, &lp, op, keep, first_result);
  if (hides) hide_target(L, s->loop.target);
  L->region_depth--;
  return true;
}
