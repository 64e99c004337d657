// Joining paths: run-time `if` and conditional expressions. What differs between the arms' ends becomes results of the
// `if`.
#include "frontend/lower/hints.h"
#include "frontend/lower/statements.h"
#include "frontend/lower/term.h"

#include <string.h>

typedef struct {
  Scope scope;
  Block *block;
  bool ended;              // this arm does not reach what follows
  ValueList yields;
} Arm;

static bool is_plain_number(const Term *t) {
  return term_is_const(t) && (t->ct->kind == CT_BOOL || t->ct->kind == CT_INT || t->ct->kind == CT_FLOAT);
}

static Term *const_as(Lower *L, Term *c, const CtType *type, Span span) {
  if (c->ct->kind == CT_FLOAT && !ct_is_float(type)) return NULL;
  if (c->ct->kind == CT_INT && ct_is_int(type) && !ct_int_fits(c->ct->i, type)) return NULL;
  Term *v = term_to_value(L, c, span, "the value");
  if (!v || ct_type_equal(term_t(v), type)) return v;
  return ct_rank(type) ? NULL : lower_cast(L, v, type, span);
}

// Gives a and b one type; a constant becomes a value in its own arm's block. False, without a diagnostic, if they have
// none in common.
static bool merge_types(Lower *L, Term **a, Block *block_a, Term **b, Block *block_b, Span span) {
  if (term_same_type(L, *a, *b)) return true;
  if (!*a || !*b) return false;
  if ((*a)->kind == TERM_TUPLE && (*b)->kind == TERM_TUPLE && (*a)->tuple.count == (*b)->tuple.count &&
      (*a)->tuple.cls == (*b)->tuple.cls) {
    Term *ra = term_tuple(L, (*a)->tuple.items, (*a)->tuple.count, (*a)->tuple.cls);
    Term *rb = term_tuple(L, (*b)->tuple.items, (*b)->tuple.count, (*b)->tuple.cls);
    for (uint32_t i = 0; i < ra->tuple.count; i++)
      if (!merge_types(L, &ra->tuple.items[i], block_a, &rb->tuple.items[i], block_b, span)) return false;
    *a = ra;
    *b = rb;
    return true;
  }
  bool to_acc = false;
  Term *settled = term_settle(L, *a, *b, &to_acc);
  if (settled && !to_acc) {   // a layout that one side leaves open is the other's
    const bool is_open = term_is_tensor(*a) && !term_t(*a)->layout;
    lower_cursor_to_end(L, is_open ? block_a : block_b);
    if (is_open) *a = term_in_layout_of(L, *a, *b);
    else *b = term_in_layout_of(L, *b, *a);
    return term_same_type(L, *a, *b);
  }
  bool na = is_plain_number(*a), nb = is_plain_number(*b);
  if (na && nb) {
    lower_cursor_to_end(L, block_a);
    *a = term_decay(L, *a, span);
    lower_cursor_to_end(L, block_b);
    *b = term_decay(L, *b, span);
    return term_same_type(L, *a, *b);
  }
  if (na && (*b)->kind == TERM_VALUE) {
    lower_cursor_to_end(L, block_a);
    *a = const_as(L, *a, term_t(*b), span);
  } else if (nb && (*a)->kind == TERM_VALUE) {
    lower_cursor_to_end(L, block_b);
    *b = const_as(L, *b, term_t(*a), span);
  }
  return *a && *b && term_same_type(L, *a, *b);
}

static bool has_desc(const ValueList *values) {
  for (uint32_t i = 0; i < values->count; i++)
    if (values->data[i]->type->kind == TYPE_DESC) return true;
  return false;
}

// What the `if` will result in: a term whose values are its results start, start + 1, …
typedef struct { enum { JOIN_VAR, JOIN_RET, JOIN_FLAG } kind; uint32_t index; Term *like; uint32_t start; } Join;
typedef VEC(Join) JoinList;

// Yields a from arm 0 and b from arm 1, which have one type. Returns a, which stands as it is if the values are the
// same.
static Term *join_terms(Lower *L, Arm *arms, JoinList *joins, int kind, uint32_t index, Term *a, Term *b) {
  ValueList va = {0}, vb = {0};
  term_flatten(L, a, &va);
  term_flatten(L, b, &vb);
  bool same = true;
  for (uint32_t i = 0; i < va.count; i++) same &= va.data[i] == vb.data[i];
  if (same) return a;
  Join j = {kind, index, a, arms[0].yields.count};
  vec_push(L->arena, joins, j);
  values_append(L, &arms[0].yields, &va);
  values_append(L, &arms[1].yields, &vb);
  return a;
}

// Yields t from one side, and values that nothing reads from the other.
static Term *join_with_filler(Lower *L, Arm *arms, JoinList *joins, int kind, uint32_t index, Term *t, int side) {
  ValueList values = {0};
  term_flatten(L, t, &values);
  if (!values.count) return t;
  if (has_desc(&values)) return NULL;
  Join j = {kind, index, t, arms[0].yields.count};
  vec_push(L->arena, joins, j);
  lower_cursor_to_end(L, arms[!side].block);
  for (uint32_t i = 0; i < values.count; i++) {
    vec_push(L->arena, &arms[side].yields, values.data[i]);
    vec_push(L->arena, &arms[!side].yields, term_zero(L, values.data[i]->type));
  }
  return t;
}

static bool is_needed(const LiveOut *out, const char *name) {
  if (!out) return true;
  if (out->is_function_end || !out->names) return false;
  for (uint32_t i = 0; i < out->names->count; i++)
    if (out->names->data[i] == name) return true;
  return false;
}

const LostName *scope_find_lost(const Lower *L, const char *name) {
  for (uint32_t i = L->frame->lost.count; i-- > 0;)
    if (L->frame->lost.data[i].name == name) return &L->frame->lost.data[i];
  return NULL;
}

void scope_lose(Lower *L, const Var *v, const char *why) {
  const LostName *last = scope_find_lost(L, v->name);
  if (why && last && !last->why && last->span.begin > v->span.begin) return;   // the `del` says more
  LostName lost = {v->name, v->span, why};
  vec_push(L->arena, &L->frame->lost, lost);
}

const LostName *scope_note_lost(Lower *L, const char *name) {
  const LostName *lost = scope_find_lost(L, name);
  if (lost && lost->why) diag_note(L->ctx, lost->span, "it is assigned here, %s", lost->why);
  else if (lost) diag_note(L->ctx, lost->span, "`%s` is deleted here", name);
  return lost;
}

// Points at the later of the two assignments: the earlier one may stand before the `if`.
static void report_mismatch(Lower *L, const char *name, const Var *a, const Var *b) {
  const Var *later = a->span.begin > b->span.begin ? a : b, *earlier = later == a ? b : a;
  lower_error(L, later->span, "`%s` is %s after one arm of the `if` and %s after the other", name,
              term_describe(L, later->term), term_describe(L, earlier->term));
  if (a->span.begin != b->span.begin)
    diag_note(L->ctx, earlier->span, "assigned %s here", term_describe(L, earlier->term));
  lower_note_widened(L, earlier->term);
  lower_note_widened(L, later->term);
  if (lower_hint_first_value(L, name, earlier->span, earlier->term, later->term) ||
      lower_hint_first_value(L, name, later->span, later->term, earlier->term))
    return;
  term_note_types_differ(L, earlier->term, later->term,
                         "a variable keeps its type across a run-time `if`; convert with .to(…)");
}

// The value that both a and b are but for hints, or NULL. It is the same for both arms and therefore older than they.
static Value *but_for_hints(Value *a, Value *b) {
  for (; a; a = a->def && a->def->opcode == OP_HINT ? op_operand(a->def, 0) : NULL)
    for (Value *x = b; x; x = x->def && x->def->opcode == OP_HINT ? op_operand(x->def, 0) : NULL)
      if (a == x) return a;
  return NULL;
}

// What stands after an `if` for a value that one arm, or each, only gave hints. NULL if that is not all they did.
static Term *join_hinted(Lower *L, Term *a, Term *b) {
  if (!a || !b || a->kind != TERM_VALUE || b->kind != TERM_VALUE || term_v(a) == term_v(b)) return NULL;
  Value *v = but_for_hints(term_v(a), term_v(b));
  return v && ct_type_equal(term_t(a), term_t(b)) ? term_value(L, v, term_t(a)) : NULL;
}

// A variable that both arms have, with different terms: v is the one of arm `side`. Sets *t to what stands after the
// `if`, or to NULL after a diagnostic. False if the variable has no value there.
static bool join_both(Lower *L, Arm *arms, JoinList *joins, uint32_t index, const Var *v, const Var *other, int side,
                      Term **t) {
  Term *a = v->term, *b = other->term;
  *t = NULL;
  if (!a || !b) return true;
  if (merge_types(L, &a, arms[side].block, &b, arms[!side].block, v->span)) {
    *t = join_terms(L, arms, joins, JOIN_VAR, index, side ? b : a, side ? a : b);
    return true;
  }
  int gone = arms[0].ended ? 0 : 1;
  if (arms[0].ended != arms[1].ended && arms[gone].scope.exits[EXIT_RETURN].state == FLAG_YES) {
    // A path that has returned gives no value.
    *t = join_with_filler(L, arms, joins, JOIN_VAR, index, gone == side ? other->term : v->term, !gone);
    return *t;
  }
  report_mismatch(L, v->name, v, other);
  return true;
}

// Puts the variable v of arm `side` into `merged`, the names after the `if`, if it has a value there.
static void join_var(Lower *L, Arm *arms, JoinList *joins, const LiveOut *out, Scope *merged, Var v, int side) {
  const Var *other = scope_find(&arms[!side].scope, v.name);
  if (side == 1 && other) return;   // arm 0 had it
  if (other && other->term == v.term) {
    scope_set(L, merged, v.name, v.term, v.span, v.flags);
    scope_find(merged, v.name)->folded_type = v.folded_type;
    return;
  }
  if (!is_needed(out, v.name)) return;
  Term *t = NULL;
  if (!other) {
    if (!arms[!side].ended || arms[side].ended) {
      scope_lose(L, &v, "on one path only");
      return;
    }
    if (v.term && !(t = join_with_filler(L, arms, joins, JOIN_VAR, merged->count, v.term, side))) return;
  } else {
    t = join_hinted(L, v.term, other->term);
    if (!t && !join_both(L, arms, joins, merged->count, &v, other, side, &t)) return;
    v.flags &= other->flags;
  }
  scope_set(L, merged, v.name, t, v.span, v.flags);
}

static void join_vars(Lower *L, Arm *arms, JoinList *joins, const LiveOut *out, Scope *merged) {
  for (int side = 0; side < 2; side++)
    for (uint32_t i = 0; i < arms[side].scope.count; i++)
      join_var(L, arms, joins, out, merged, arms[side].scope.vars[i], side);
}

static void join_flags(Lower *L, Arm *arms, JoinList *joins, const LiveOut *out, const Scope *before, bool guard,
                       Scope *merged) {
  for (int i = 0; i < NUM_EXITS; i++) {
    Flag a = arms[0].scope.exits[i], b = arms[1].scope.exits[i];
    if (a.state == b.state && (a.state != FLAG_MAYBE || a.v == b.v)) {
      merged->exits[i] = a;
      continue;
    }
    if (guard && a.state == FLAG_NO) {   // all flags are false at the start of the guarded arm
      merged->exits[i] = before->exits[i];
      continue;
    }
    merged->exits[i] = (Flag){FLAG_MAYBE, NULL};
    if ((out && out->is_function_end) || (out && i == EXIT_CONTINUE)) continue;
    Term *t[2];
    const CtType *i1 = lower_scalar(L, DT_INT1);
    for (int side = 0; side < 2; side++) {
      Flag f = arms[side].scope.exits[i];
      lower_cursor_to_end(L, arms[side].block);
      t[side] = f.state == FLAG_MAYBE && f.v ? term_value(L, f.v, i1) : term_full(L, i1, 0, f.state != FLAG_NO);
    }
    join_terms(L, arms, joins, JOIN_FLAG, (uint32_t)i, t[0], t[1]);
  }
  merged->ended = arms[0].ended && arms[1].ended;
}

static void join_return(Lower *L, Arm *arms, JoinList *joins, Scope *merged, Span span) {
  Term *a = arms[0].scope.ret, *b = arms[1].scope.ret;
  if (!a && !b) return;
  if (!a || !b) {
    Term *given = a ? a : b;
    merged->ret = join_with_filler(L, arms, joins, JOIN_RET, 0, given, a ? 0 : 1);
    if (merged->ret || L->frame->failed_return) return;
    lower_error(L, span, "`%s` returns %s on one path and nothing on another", L->frame->fn->name,
                term_describe(L, given));
    lower_hint(L, "end every path with a `return` of one type");
    L->frame->failed_return = true;
    return;
  }
  Term *pa = a, *pb = b;
  if (!merge_types(L, &a, arms[0].block, &b, arms[1].block, span)) {
    if (!L->frame->failed_return) {
      lower_error(L, span, "`%s` returns %s on one path and %s on another", L->frame->fn->name, term_describe(L, pa),
                  term_describe(L, pb));
      lower_hint(L, "all returns of a function give one type; put one that is dead at compile time into an `else`");
    }
    L->frame->failed_return = true;
    merged->ret = NULL;
    return;
  }
  merged->ret = join_terms(L, arms, joins, JOIN_RET, 0, a, b);
}

// Ends both arms with their yields and gives the `if` shell its results.
static Op *finish_if(Lower *L, Op *shell, Arm *arms, Block *outer) {
  for (int side = 0; side < 2; side++) {
    lower_cursor_to_end(L, arms[side].block);
    build_op(&L->b, OP_YIELD, arms[side].yields.data, arms[side].yields.count);
  }
  uint32_t n = arms[0].yields.count;
  const Type **types = arena_array(L->arena, const Type *, n + 1);
  for (uint32_t i = 0; i < n; i++) types[i] = arms[0].yields.data[i]->type;
  lower_cursor_to_end(L, outer);
  if (!n) return shell;
  Value *cond = op_operand(shell, 0);
  return lower_replace_op(L, shell, types, n, &cond, 1);
}

static Op *begin_if(Lower *L, Value *v, Span span, Arm *arms) {
  L->b.span = span;
  Op *shell = lower_new_shell(L, OP_IF, &v, 1, 2);
  for (int i = 0; i < 2; i++) arms[i] = (Arm){.block = shell->blocks[i]};
  return shell;
}

static Term *rebuild_from_results(Lower *L, Op *op, const Join *j) {
  uint32_t pos = j->start;
  Value **values = arena_array(L->arena, Value *, op->num_results + 1);
  for (uint32_t i = 0; i < op->num_results; i++) values[i] = op_result(op, i);
  return term_rebuild(L, j->like, values, &pos);
}

bool lower_runtime_if(Lower *L, Value *v, ArmFn then, ArmFn otherwise, void *user, const Cont *rest, const LiveOut *out,
                      Span span) {
  if (!lower_enter_region(L, span)) return true;
  Arm arms[2];
  Block *outer = L->b.block;
  Frame *f = L->frame;
  bool guard = !otherwise;
  Op *shell = begin_if(L, v, span, arms);
  Scope before = f->scope;
  for (int side = 0; side < 2; side++) {
    f->scope = scope_copy(L, &before);
    lower_cursor_to_end(L, arms[side].block);
    ArmFn fn = side ? otherwise : then;
    if (fn) fn(L, user);
    arms[side].block = L->b.block;
    arms[side].scope = f->scope;
    arms[side].ended = scope_flow(&f->scope) == FLAG_YES || (guard && side == 1);
  }
  while (rest && rest->from >= rest->list->count) rest = rest->next;
  bool consumed = rest && arms[0].ended != arms[1].ended;
  if (consumed) {
    Arm *on = &arms[arms[0].ended ? 1 : 0];
    f->scope = on->scope;
    lower_cursor_to_end(L, on->block);
    lower_stmts(L, rest, out);
    on->block = L->b.block;
    on->scope = f->scope;
    on->ended = scope_flow(&f->scope) == FLAG_YES;
  }
  JoinList joins = {0};
  Scope merged = {0};
  const LiveOut *needed = consumed || !rest ? out : NULL;
  join_vars(L, arms, &joins, needed, &merged);
  join_flags(L, arms, &joins, needed, &before, guard, &merged);
  join_return(L, arms, &joins, &merged, span);
  L->b.span = span;
  Op *op = finish_if(L, shell, arms, outer);
  for (uint32_t i = 0; i < joins.count; i++) {
    Term *t = rebuild_from_results(L, op, &joins.data[i]);
    switch (joins.data[i].kind) {
    case JOIN_VAR: {
      Var *var = &merged.vars[joins.data[i].index];
      var->term = t;
      if (t->kind == TERM_VALUE && !term_v(t)->name) term_v(t)->name = var->name;
      break;
    }
    case JOIN_RET: merged.ret = t; break;
    case JOIN_FLAG: merged.exits[joins.data[i].index].v = term_v(t); break;
    }
  }
  f->scope = merged;
  L->region_depth--;
  return consumed;
}

static bool binds_more(const Scope *s, const Scope *before) {
  bool more = s->count != before->count;
  for (uint32_t i = 0; i < s->count && !more; i++) more = s->vars[i].term != before->vars[i].term;
  return more;
}

Term *lower_runtime_choice(Lower *L, Value *c, Term *(*arm)(Lower *L, void *user, bool first), void *user, Span span,
                           const char *what) {
  if (!lower_enter_region(L, span)) return NULL;
  Arm arms[2];
  Block *outer = L->b.block;
  Op *shell = begin_if(L, c, span, arms);
  Term *t[2];
  Scope before = L->frame->scope, merged = before;
  for (int side = 0; side < 2; side++) {
    L->frame->scope = scope_copy(L, &before);
    lower_cursor_to_end(L, arms[side].block);
    t[side] = arm(L, user, side == 0);
    arms[side].block = L->b.block;
    arms[side].scope = L->frame->scope;
  }
  L->region_depth--;
  Term *r = NULL;
  JoinList joins = {0};
  // `:=` in an arm
  if (t[0] && t[1] && (binds_more(&arms[0].scope, &before) || binds_more(&arms[1].scope, &before))) {
    merged = (Scope){.ended = before.ended, .ret = before.ret};
    memcpy(merged.exits, before.exits, sizeof merged.exits);
    join_vars(L, arms, &joins, NULL, &merged);
  }
  const uint32_t num_vars = joins.count;
  if (t[0] && t[1]) {
    Term *a = t[0], *b = t[1];
    if (merge_types(L, &a, arms[0].block, &b, arms[1].block, span)) {
      r = join_terms(L, arms, &joins, JOIN_RET, 0, a, b);
    } else {
      lower_error(L, span, "%s gives %s on one side and %s on the other", what, term_describe(L, t[0]),
                  term_describe(L, t[1]));
      term_note_types_differ(L, t[0], t[1], "convert one side with .to(…), or use tl.where(…) to choose per element");
    }
  }
  L->b.span = span;
  Op *op = finish_if(L, shell, arms, outer);
  for (uint32_t i = 0; i < num_vars; i++)
    merged.vars[joins.data[i].index].term = rebuild_from_results(L, op, &joins.data[i]);
  L->frame->scope = merged;
  return joins.count > num_vars ? rebuild_from_results(L, op, &joins.data[num_vars]) : r;
}
