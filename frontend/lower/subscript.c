// Subscripts in kernels: x[:, None] of tensors, items and slices of tuples and constants.
#include "frontend/lower/builtins.h"
#include "frontend/lower/hints.h"
#include "frontend/lower/term.h"

#include <string.h>

// `:`, of which the bounds and the step are left out or None.
static bool is_full_slice(Lower *L, const Node *n) {
  if (n->kind != NODE_SLICE) return false;
  const Node *parts[3] = {n->slice.lower, n->slice.upper, n->slice.step};
  for (int i = 0; i < 3; i++)
    if (parts[i] && !term_is_none(lower_expr(L, parts[i]))) return false;
  return true;
}

// x[::-1]
static bool is_reversed(Lower *L, const Node *n) {
  int64_t step;
  return n->kind == NODE_SLICE && n->slice.step && term_get_int(lower_expr(L, n->slice.step), &step) && step == -1;
}

static bool is_address(const Term *t) { return t->kind == TERM_VALUE && ct_is_ptr(term_t(t)) && !ct_rank(term_t(t)); }

// An expression as the right operand of another one, for messages.
static const char *operand_text(Lower *L, const Node *e, const char *otherwise) {
  const char *text = lower_source_text_or(L, e->span, otherwise);
  const bool is_open = e->kind == NODE_BINARY || e->kind == NODE_UNARY || e->kind == NODE_COMPARE ||
                       e->kind == NODE_BOOL_OP || e->kind == NODE_IF_EXP;
  return is_open && text != otherwise ? arena_printf(L->arena, "(%s)", text) : text;
}

// The address of x[i] as an expression, for messages.
static const char *address_text(Lower *L, const Node *index, Span span) {
  const char *p = lower_source_text(L, span_of(span.begin, index->span.begin - 1));
  if (index->kind == NODE_SLICE || index->kind == NODE_TUPLE || index->kind == NODE_ELLIPSIS)
    return arena_printf(L->arena, "%s + row * stride + column", p);
  const bool is_sum = index->kind == NODE_BINARY && (index->op == PYOP_ADD || index->op == PYOP_MUL);
  return arena_printf(L->arena, "%s + %s", p, is_sum ? lower_source_text_or(L, index->span, "offset")
                                                     : operand_text(L, index, "offset"));
}

// x[i] of a pointer.
static Term *index_pointer(Lower *L, const Term *base, const Node *index, Span span) {
  lower_error(L, span, "%s is an address, which is not indexed", term_describe(L, base));
  return lower_hint(L, "write tl.load(%s, mask)", address_text(L, index, span));
}

bool lower_assign_to_address(Lower *L, const Term *base, const Node *target, const char *op, const Node *value) {
  if (!is_address(base)) return false;
  lower_error(L, target->span, "%s is an address, which is not assigned by index", term_describe(L, base));
  const char *address = address_text(L, target->pair.second, target->span);
  if (op) lower_hint(L, "write tl.store(%s, tl.load(%s, mask) %s %s, mask)", address, address, op,
                     operand_text(L, value, "value"));
  else lower_hint(L, "write tl.store(%s, %s, mask)", address,
                  value ? lower_source_text_or(L, value->span, "value") : "value");
  return true;
}

static Term *index_tensor(Lower *L, Term *base, const Node *index, Span span) {
  if (is_address(base) && index->kind != NODE_SLICE && index->kind != NODE_TUPLE)
    return index_pointer(L, base, index, span);
  const Node *const *items = (const Node *const *)&index;
  uint32_t n = 1;
  if (index->kind == NODE_TUPLE) items = (const Node *const *)index->list.data, n = index->list.count;
  for (uint32_t axis = 0; axis < n; axis++) {
    const Node *e = items[axis];
    // As in Triton, there may be more `:` than axes, and a scalar[:, None] has one axis.
    if (is_full_slice(L, e)) continue;
    if (e->kind != NODE_SLICE && e->kind != NODE_ELLIPSIS) {
      Term *t = lower_expr(L, e);
      if (!t) return NULL;
      if (term_is_none(t)) {
        uint32_t rank = ct_rank(term_t(base));
        if (rank >= MAX_RANK) return lower_error(L, e->span, "a tensor has at most %d axes", MAX_RANK);
        if (rank && axis > rank) return lower_error(L, index->span, "too many indices for %s", term_describe(L, base));
        base = lower_expand_dims(L, base, rank ? axis : 0);
        continue;
      }
    }
    lower_error(L, e->span, "a tensor is indexed by `:` and `None` only");
    if (e->kind == NODE_ELLIPSIS) return lower_hint(L, "in place of ... write a `:` for each axis, as in x[:, None]");
    if (is_reversed(L, e)) {   // what follows is checked with the tensor as it is
      lower_hint(L, "tl.flip(x, %u) reverses this axis", axis);
      continue;
    }
    const bool is_part = e->kind == NODE_SLICE || e->kind == NODE_INT;
    return lower_hint(L, "load the part that you need from memory, %s",
                      is_part ? "or take elements with tl.gather, tl.split or a masked tl.sum"
                              : "take elements with tl.gather or tl.split, or choose by a condition: tl.where(mask, x, "
                                "0), also for a sum");
  }
  return base;
}

static bool slice_bound(Lower *L, const Node *e, int64_t otherwise, int64_t *out) {
  *out = otherwise;
  if (!e) return true;
  Term *t = lower_expr(L, e);
  if (!t) return false;
  if (term_is_none(t) || term_get_int(t, out)) return true;
  lower_error(L, e->span, "a tuple is sliced by constants only");
  return false;
}

static Term *slice_tuple(Lower *L, Term *base, const Node *s) {
  int64_t n = base->tuple.count, step, lo, hi;
  if (!slice_bound(L, s->slice.step, 1, &step)) return NULL;
  if (step == 0) return lower_error(L, s->span, "slice step cannot be zero");
  step = min_i64(max_i64(step, -n - 1), n + 1);
  if (!slice_bound(L, s->slice.lower, step > 0 ? 0 : n - 1, &lo) ||
      !slice_bound(L, s->slice.upper, step > 0 ? n : -1 - n, &hi))
    return NULL;
  if (lo < 0) lo += n;
  if (hi < 0) hi += n;
  lo = step > 0 ? max_i64(lo, 0) : min_i64(lo, n - 1);
  hi = step > 0 ? min_i64(hi, n) : max_i64(hi, -1);
  TermList items = {0};
  for (int64_t i = lo; step > 0 ? i < hi : i > hi; i += step) vec_push(L->arena, &items, base->tuple.items[i]);
  return term_tuple(L, items.data, items.count, NULL);
}

static CtValue *const_slice(Lower *L, const Node *s) {
  CtValue *v = arena_new(L->arena, CtValue);
  v->kind = CT_SLICE;
  const Node *parts[3] = {s->slice.lower, s->slice.upper, s->slice.step};
  CtValue **to[3] = {&v->slice.lower, &v->slice.upper, &v->slice.step};
  for (int i = 0; i < 3; i++) {
    *to[i] = ct_none();
    if (!parts[i]) continue;
    Term *t = lower_expr(L, parts[i]);
    if (!t) return NULL;
    if (!(*to[i] = term_to_ct(L, t))) {
      lower_error(L, parts[i]->span, "a constant is indexed by constants only");
      return NULL;
    }
  }
  return v;
}

static Term *index_outside(Lower *L, const Term *base, int64_t i, const Node *index, Span span) {
  const uint32_t n = base->tuple.count;
  if (!base->tuple.is_shape)
    return lower_error(L, index->span, "index %lld is outside a tuple of %u", (long long)i, n);
  // `v.shape` of v.shape[1]
  const char *shape = lower_source_text(L, span_of(span.begin, index->span.begin - 1)), *dot = strrchr(shape, '.');
  if (dot)
    lower_error(L, index->span, "index %lld is outside `%s`: `%.*s` has rank %u", (long long)i, shape,
                (int)(dot - shape), shape, n);
  else
    lower_error(L, index->span, "index %lld is outside `%s`, which is of a tensor of rank %u", (long long)i, shape, n);
  return lower_hint_axes(L, n);
}

Term *lower_subscript(Lower *L, Term *base, const Node *index, Span span) {
  if (!base) return NULL;
  if (base->kind == TERM_VALUE) return index_tensor(L, base, index, span);
  if (lower_refuse_nothing(L, base, span)) return NULL;
  if (base->kind == TERM_TUPLE) {
    if (index->kind == NODE_SLICE) return slice_tuple(L, base, index);
    Term *t = lower_expr(L, index);
    if (!t) return NULL;
    int64_t i;
    if (!term_get_int(t, &i)) {
      Term *m = base->tuple.cls ? lower_find_method(L, base, "__getitem__") : NULL;
      if (m) return lower_call_positional(L, m, &t, 1, span);
      lower_error(L, index->span, "a tuple is indexed by a constant, not by %s", term_describe(L, t));
      const Term *first = base->tuple.count ? base->tuple.items[0] : t;
      const bool has_arrays = first->kind == TERM_VALUE && ct_is_ptr(term_t(first));
      if (!has_arrays && lower_note_listed(L, base)) return NULL;
      lower_hint_constant(L, t, "loop with tl.static_range to have constant indices");
      return NULL;
    }
    int64_t n = base->tuple.count;
    if (i < -n || i >= n) return index_outside(L, base, i, index, span);
    return base->tuple.items[i < 0 ? i + n : i];
  }
  if (base->kind == TERM_CONST) {
    if (base->ct->kind == CT_INT || base->ct->kind == CT_FLOAT || base->ct->kind == CT_BOOL) {
      Term *v = term_to_value(L, base, span, "the value");
      return v ? index_tensor(L, v, index, span) : NULL;
    }
    CtValue *i;
    if (index->kind == NODE_SLICE) {
      if (!(i = const_slice(L, index))) return NULL;
    } else {
      Term *t = lower_expr(L, index);
      if (!t) return NULL;
      if (!(i = term_to_ct(L, t))) return lower_error(L, index->span, "a constant is indexed by constants only");
    }
    return term_const(L, comptime_subscript(L->ct, base->ct, i, span));
  }
  lower_error(L, span, "%s cannot be indexed", term_describe(L, base));
  return base->kind == TERM_ACC ? lower_hint_wait(L) : NULL;
}
