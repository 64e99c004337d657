// `for`: which kind of loop it is, and the loops over static_range and tuples, which are unrolled at compile time.
#include "frontend/lower/statements.h"
#include "frontend/lower/term.h"
#include "frontend/lower/warnings.h"

#include <string.h>

enum { MAX_UNROLL = 1 << 16 };

typedef struct { const Node *s; Term **items; uint32_t i, count; } Unroll;

static void unroll_from(Lower *L, void *user) {
  Unroll *u = user;
  Scope *scope = &L->frame->scope;
  scope_resume(scope, true);
  uint32_t errors = diag_error_count(L->ctx);
  // An iteration with errors is the last, because the others would find the same ones.
  while (u->i < u->count && diag_error_count(L->ctx) == errors) {
    lower_assign_item(L, u->s->loop.target, u->s->loop.iter, u->items[u->i++], true);
    Cont k = {&u->s->loop.body, 0, NULL};
    lower_stmts(L, &k, NULL);
    scope_resume(scope, false);
    FlagState flow = scope_flow(scope);
    if (flow == FLAG_YES) return;
    if (flow == FLAG_MAYBE && u->i < u->count) {
      lower_runtime_if(L, scope_live(L, scope), unroll_from, NULL, u, NULL, NULL, u->s->span);
      return;
    }
  }
}

static void lower_unrolled(Lower *L, const Node *s, Term **items, uint32_t count) {
  Unroll u = {s, items, 0, count};
  unroll_from(L, &u);
  // A path that left by `break` continues here, a path that returned does not.
  L->frame->scope.ended = false;
  L->frame->scope.exits[EXIT_BREAK] = (Flag){FLAG_NO, NULL};
}

static bool lower_static_range(Lower *L, const Node *s, RangeArgs *r) {
  int64_t a, b, step;
  Term *t[3] = {r->start, r->stop, r->step};
  int64_t *v[3] = {&a, &b, &step};
  for (int i = 0; i < 3; i++)
    if (!term_get_int(t[i], v[i])) {
      lower_error(L, s->loop.iter->span, "static_range needs bounds known at compile time, this is %s",
                  term_describe(L, t[i]));
      lower_hint(L, "use range(…) for a loop at run time, or make the bound a constexpr");
      return false;
    }
  if (!step) return lower_refuse_no_step(L, s->loop.iter);
  // The distance of two 64-bit bounds needs 65 bits.
  Int128 n = step > 0 ? ((Int128)b - a + step - 1) / step : ((Int128)a - b - step - 1) / -(Int128)step;
  if ((step > 0 && b <= a) || (step < 0 && b >= a)) n = 0;
  if (n > MAX_UNROLL) {
    lower_error(L, s->loop.iter->span, "static_range has %llu iterations, and at most %d are unrolled",
                (unsigned long long)n, MAX_UNROLL);
    return false;
  }
  Term **items = arena_array(L->arena, Term *, (uint64_t)n + 1);
  for (Int128 i = 0; i < n; i++) items[i] = term_int(L, (int64_t)(a + i * step));
  lower_unrolled(L, s, items, (uint32_t)n);
  return true;
}

// What an expression stands for once its conditional expressions of constants are decided: `f if N <= 4 else g`.
static const Node *chosen(Lower *L, const Node *e) {
  while (e->kind == NODE_IF_EXP) {
    CtValue *c = term_to_ct(L, lower_expr(L, e->slice.upper));
    if (!c) break;
    e = ct_is_true(c) ? e->slice.lower : e->slice.step;
  }
  return e;
}

static const BuiltinRow *iter_row(Lower *L, const Node *iter, Term **other) {
  *other = NULL;
  const Node *func = iter->kind == NODE_CALL ? chosen(L, iter->call.func) : NULL;
  if (!func || !lower_is_name_path(func)) {
    *other = lower_expr(L, iter);
    return NULL;
  }
  Term *fn = lower_expr(L, func);
  if (!fn) return NULL;
  if (term_is_const(fn) && fn->ct->kind == CT_BUILTIN) {
    const BuiltinRow *row = builtin_row_of(fn->ct->builtin.name);
    if (row && (row->fn == tl_range_loop || row->fn == tl_static_range)) return row;
  }
  *other = lower_expr(L, iter);
  return NULL;
}

// False after a diagnostic about what the loop goes over.
static bool lower_over(Lower *L, const Node *s, const Cont *rest) {
  Term *other;
  const BuiltinRow *row = iter_row(L, s->loop.iter, &other);
  if (!row) {
    if (!other) return false;
    if (other->kind == TERM_TUPLE) {
      lower_unrolled(L, s, other->tuple.items, other->tuple.count);
      return true;
    }
    lower_error(L, s->loop.iter->span, "a kernel loops over range, tl.range, tl.static_range or a tuple, not over %s",
                term_describe(L, other));
    lower_hint(L, "a tile has no loop over its elements: compute on the whole of it, or `for i in range(n):`");
    return false;
  }
  CallArgs args;
  Call call;
  RangeArgs r;
  if (!lower_call_args(L, s->loop.iter, NULL, &args) || !builtin_bind(L, row, NULL, &args, &call) ||
      !lower_split_range(L, &call, &r))
    return false;
  r.rest = rest;
  return row->fn == tl_static_range ? lower_static_range(L, s, &r) : lower_counted_loop(L, s, &r);
}

void lower_for(Lower *L, const Node *s, const Cont *rest) {
  if (s->loop.orelse.count) {
    lower_error(L, s->loop.else_span, "`for … else` is not supported in kernels");
    lower_hint(L, "set a flag in the loop, and test it after the loop");
    lower_skip(L, &s->loop.body);
  } else if (!lower_over(L, s, rest)) {
    lower_skip(L, &s->loop.body);
  } else {
    lower_warn_loop_variable(L, s, rest);
  }
}
