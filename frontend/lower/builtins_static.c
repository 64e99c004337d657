// Builtins that are evaluated at compile time: ranges outside a `for`, checks, and queries of the launch and the
// target.
#include "frontend/lower/gluon.h"
#include "frontend/lower/hints.h"
#include "frontend/lower/term.h"
#include "frontend/lower/warnings.h"

#include <string.h>

#include "ir/roles.h"

Term *tl_range_loop(Lower *L, Call *c) {
  CtValue *values[3];
  uint32_t n = 0;
  for (uint32_t i = 0; i < 3; i++) {
    if (arg_is_none(c, i)) break;
    if ((values[n++] = term_to_ct(L, c->args[i]))) continue;
    arg_error(L, c, i, "range over run-time bounds works in a `for` only");
    return lower_hint(L, "compute in the body of `for i in range(n):`, backwards `for i in range(n - 1, -1, -1):`, or "
                         "declare the bound `n: tl.constexpr`");
  }
  CtValue *range = ct_builtin(L->ctx, intern(L->ctx, "range"));
  return term_const(L, comptime_call(L->ct, range, values, n, NULL, 0, c->span));
}
Term *tl_static_range(Lower *L, Call *c) { return tl_range_loop(L, c); }

// The attributes have no effect.
Term *tl_condition_call(Lower *L, Call *c) {
  (void)L;
  return c->args[0];
}

// ---- compile time ----
static bool is_layout(const CtValue *k) {
  return comptime_is_layout(k, LAYOUT_DISTRIBUTED) || comptime_is_layout(k, LAYOUT_SHARED);
}

static const char *static_text(Lower *L, Term *t) {
  CtValue *k = term_to_ct(L, t);
  if (!k) return term_describe(L, t);
  return is_layout(k) ? comptime_layout_text(L->ct, k) : ct_to_str(L->ctx, k);
}

Term *tl_static_print(Lower *L, Call *c) {
  Buf b = buf_make(L->arena);
  for (uint32_t i = 0; i < c->args[0]->tuple.count; i++)
    buf_printf(&b, "%s%s", i ? " " : "", static_text(L, c->args[0]->tuple.items[i]));
  diag_tell(L->ctx, c->span, "%s", buf_str(&b));
  return term_none(L);
}

bool lower_print_layout(Lower *L, Term *t, Span span) {
  const CtValue *k = t->kind == TERM_CONST ? ct_unwrap(t->ct) : NULL;
  if (!k || !is_layout(k)) return false;
  diag_tell(L->ctx, span, "%s", comptime_layout_text(L->ct, k));
  return true;
}

// A function of the prelude checks its arguments by a call of these. It ends where a check fails, because what follows
// relies on it.
static Term *end_function(Lower *L, const Call *c) {
  if (!lower_in_prelude(L, c->span)) return NULL;
  L->frame->scope.exits[EXIT_RETURN] = (Flag){FLAG_YES, NULL};
  L->frame->failed_return = true;
  return NULL;
}

Term *tl_static_assert(Lower *L, Call *c) {
  bool ok;
  CtValue *k = term_to_ct(L, c->args[0]);
  if (!k) {
    arg_error(L, c, 0, "static_assert needs a condition known at compile time, this is %s",
              term_describe(L, c->args[0]));
    return lower_hint(
        L, "check values of the run by tl.device_assert(condition, \"message\"), and compile with --debug");
  }
  if (lower_is_uncalled(L, c->args[0])) {
    arg_error(L, c, 0, "static_assert needs a condition, this is %s", term_describe(L, c->args[0]));
    return lower_hint_kind(L, c->args[0]) ? end_function(L, c) : NULL;
  }
  ok = ct_is_true(k);
  if (ok) return term_none(L);
  CtValue *msg = term_to_ct(L, c->args[1]);
  const char *text = msg ? ct_to_str(L->ctx, msg) : "";
  builtin_error(L, c, "static assertion failed%s%s", *text ? ": " : "", text);
  lower_note_constants(L, lower_node_at(L, c->spans[0]));
  return end_function(L, c);
}

Term *tl_axis_of(Lower *L, Call *c) {
  const Term *x = c->args[0];
  const uint32_t rank = x->kind == TERM_VALUE ? ct_rank(term_t(x)) : 0;
  if (!rank) {
    builtin_error(L, c, "`%s` needs a tensor, this is %s", arg_function(L, c), term_describe(L, x));
    lower_hint_scalar(L, x, arg_function(L, c));
    if (x->kind == TERM_TUPLE && !strcmp(arg_function(L, c), "sort"))
      lower_hint(L, "it sorts one tensor: to carry indices along, sort key.to(tl.int64) << 32 | index and take that "
                    "apart; the key of a float32 is k ^ (k >> 31 & 0x7fffffff) with k = x.to(tl.int32, bitcast=True)");
    return end_function(L, c);
  }
  int64_t axis = rank - 1;
  return arg_is_none(c, 1) || arg_axis(L, c, 1, rank, &axis) ? term_int(L, axis) : end_function(L, c);
}

Term *tl_warn_softmax(Lower *L, Call *c) {
  lower_warn_softmax(L, c->args[0], c->span);
  return term_none(L);
}

Term *tl_warn_sort(Lower *L, Call *c) {
  bool descending;
  if (!arg_bool(L, c, 1, &descending)) return NULL;
  lower_warn_sort(L, c->args[0], descending);
  return term_none(L);
}

Term *tl_fail(Lower *L, Call *c) {
  const char *text;
  if (!arg_str(L, c, 0, &text)) return NULL;
  lower_error(L, c->span, "%s", text);
  return end_function(L, c);
}

// ---- queries ----
Term *tl_launch_query(Lower *L, Call *c) {
  const uint32_t warps = block_num_warps(L->b.block);
  return term_int(L, c->row->data == 0 ? warps : c->row->data == 1 ? warps * WARP_SIZE : L->module->num_ctas);
}

Term *tl_target_query(Lower *L, Call *c) {
  if (c->row->data < 2) return term_bool(L, c->row->data == 0);
  int64_t major, minor;
  if (!arg_int(L, c, 0, &major) || !arg_int(L, c, 1, &minor)) return NULL;
  return term_bool(L, L->module->target->sm >= major * 10 + minor);
}
