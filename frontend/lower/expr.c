// Expressions of kernels.
#include "frontend/lower/hints.h"
#include "frontend/lower/statements.h"
#include "frontend/lower/term.h"
#include "frontend/lower/warnings.h"

enum { MAX_EXPR_DEPTH = 3000 };   // over all inlined calls; bounds the C stack

// ---- names ----
Term *lower_found(Lower *L, CtValue *v, Span span, NameUse use) {
  Term *t = term_found(L, v, span);
  if (!t && v) lower_hint_missing(L, v, use);
  return t;
}

static Term *named_term(Lower *L, const char *name, Span span, NameUse use) {
  Var *v = scope_find(&L->frame->scope, name);
  if (v && term_is_const(v->term) && v->term->ct->kind == CT_MISSING)   // a parameter's default value
    return lower_found(L, v->term->ct, span, use);
  if (v) return v->term && v->term->is_broken ? NULL : v->term;
  const LostName *lost = scope_find_lost(L, name);
  CtValue *c = lost && !lost->why ? NULL : comptime_lookup(L->ct, L->frame->fn->env, name);   // deleted: still a local
  if (!c || c->kind == CT_MISSING) {   // reported once in a function
    MapSlot *uses = map_at(L->arena, &L->frame->unknown_names, name);
    if (uses->number & 1u << use.kind) return NULL;
    uses->number |= 1u << use.kind;
  }
  return c ? lower_found(L, c, span, use) : lower_unknown_name(L, name, span, use);
}

const char *lower_source_text_or(Lower *L, Span span, const char *otherwise) {
  enum { LONGEST = 40 };
  const char *text = source_text(L->ctx, L->arena, span, LONGEST);
  return text ? text : otherwise;
}

const char *lower_source_text(Lower *L, Span span) { return lower_source_text_or(L, span, "x"); }

bool lower_is_name_path(const Node *e) {
  while (e->kind == NODE_ATTRIBUTE) e = e->attr.first;
  return e->kind == NODE_NAME;
}

// ---- boolean operators, comparisons ----
static bool is_truth(const Node *e) {
  return e->kind == NODE_COMPARE || e->kind == NODE_BOOL_OP || (e->kind == NODE_UNARY && e->op == PYOP_NOT);
}

// Reports that x, operand n of an `and` or `or`, is not a bool. next: the operand after it, or NULL.
static Term *not_a_truth(Lower *L, const Term *x, const Node *n, const Node *next, bool is_and) {
  const char *text = lower_is_name_path(n) ? lower_source_text(L, n->span) : "x";
  const char *with = "";
  if (!lower_is_name_path(n)) with = arena_printf(L->arena, "x = %s, then ", lower_source_text_or(L, n->span, "…"));
  lower_error(L, n->span, "`%s` works on int1, not on %s", is_and ? "and" : "or", term_describe(L, x));
  if (x->kind != TERM_VALUE) return NULL;
  if (!is_and && next && !is_truth(next))
    return lower_hint(L, "`or` gives a truth value, not one of its operands: for a default write %stl.where(%s != 0, "
                      "%s, %s)", with, text, text, lower_source_text_or(L, next->span, "…"));
  if (ct_is_float(term_t(x))) return lower_hint(L, "compare with 0 first: %s != 0", lower_source_text(L, n->span));
  return lower_hint(L, "compare with 0 first, or use %s for bits", is_and ? "&" : "|");
}

// A float among the operands of run-time truth values looks like a default. left: the operands before it.
static void warn_of_default(Lower *L, const Node *e, const Node *n, Span left, bool decides) {
  const char *op = pyop_text((PyOp)e->op), *constant = lower_source_text(L, n->span);
  const bool told =
      decides ? diag_warning(L->ctx, WARN_LOGICAL_OP, e->span, "this is %s whatever `%s` is", constant,
                             lower_source_text_or(L, left, "…"))
              : diag_warning(L->ctx, WARN_LOGICAL_OP, e->span, "`%s` gives a truth value: the constant %s changes "
                             "nothing", op, constant);
  const bool is_and = e->op == PYOP_BOOL_AND;
  if (told)
    lower_hint(L, "to choose a number, write tl.where(condition, %s, %s)", is_and ? constant : "x",
               is_and ? "0" : constant);
}

static Term *lower_bool_op(Lower *L, const Node *e) {
  bool is_and = e->op == PYOP_BOOL_AND, warned = false;
  Term *left = NULL, *last = NULL;
  Span left_span = e->span;
  for (uint32_t i = 0; i < e->boolop.values.count; i++) {
    const Node *n = e->boolop.values.data[i];
    Term *t = lower_expr(L, n);
    if (!t) return NULL;
    CtValue *c = term_to_ct(L, t);
    if (c) {
      if (lower_refuse_truth(L, t, n)) return NULL;
      last = t;
      if (left && c->kind == CT_FLOAT) warn_of_default(L, e, n, left_span, ct_is_true(c) != is_and);
      if (ct_is_true(c) != is_and) return t;   // decided: the operands that follow are not lowered
      continue;
    }
    if (t->kind == TERM_VALUE && ct_is_ptr(term_t(t))) t = lower_not_zero(L, t, n->span);
    if (!t) return NULL;
    bool is_alone = !left && i + 1 == e->boolop.values.count;   // after constants: the result, of any type
    if (!is_alone && (t->kind != TERM_VALUE || !ct_is_bool(term_t(t)))) {
      const bool is_last = i + 1 == e->boolop.values.count;
      return not_a_truth(L, t, n, is_last ? NULL : e->boolop.values.data[i + 1], is_and);
    }
    if (term_is_tensor(t) && !warned) {
      warned = true;
      diag_warning(L->ctx, WARN_LOGICAL_OP, e->span, "`%s` on a tensor evaluates both sides; write `%s`",
                   pyop_text((PyOp)e->op), is_and ? "&" : "|");
    }
    if (!left) left_span.begin = n->span.begin;
    left_span.end = n->span.end;
    left = left ? lower_binary(L, is_and ? PYOP_AND : PYOP_OR, left, t, span_of(left_span.begin, n->span.end)) : t;
    if (!left) return NULL;
  }
  return left ? left : last;
}

static Term *lower_identity(Lower *L, Term *a, Term *b, bool is_not) {
  CtValue *ca = term_to_ct(L, a), *cb = term_to_ct(L, b);
  bool same;
  if (ca && cb) {
    same = ca == cb || (ca->kind == CT_DTYPE && cb->kind == CT_DTYPE && ct_type_equal(ca->type, cb->type)) ||
           (ca->kind == cb->kind &&
            (ca->kind == CT_BOOL || ca->kind == CT_INT || ca->kind == CT_STR || ca->kind == CT_BUILTIN) &&
            ct_equal(ca, cb)) ||
           (ca->kind == CT_FUNCTION && cb->kind == CT_FUNCTION && ca->fn == cb->fn) ||
           (ca->kind == CT_CLASS && cb->kind == CT_CLASS && ca->cls == cb->cls);
  } else if (ca || cb) {
    same = false;
  } else {
    same = a == b;
  }
  return term_bool(L, same != is_not);
}

static Term *lower_membership(Lower *L, Term *a, Term *b, bool is_not, Span span) {
  CtValue *ca = term_to_ct(L, a), *cb = term_to_ct(L, b);
  if (ca && cb) return term_const(L, comptime_binary(L->ct, is_not ? PYOP_NOT_IN : PYOP_IN, ca, cb, span));
  if (b->kind != TERM_TUPLE) return lower_error(L, span, "`in` looks into tuples, not into %s", term_describe(L, b));
  Term *r = term_bool(L, is_not);
  for (uint32_t i = 0; i < b->tuple.count; i++) {
    Term *eq = lower_binary(L, is_not ? PYOP_NE : PYOP_EQ, a, b->tuple.items[i], span);
    r = lower_binary(L, is_not ? PYOP_AND : PYOP_OR, r, eq, span);
  }
  return r;
}

static Term *compare_operand(Lower *L, const Node *e, const Node *operand) {
  const Node *outer = L->comparison;
  L->comparison = e;
  Term *t = lower_expr(L, operand);
  L->comparison = outer;
  return t;
}

static Term *lower_compare(Lower *L, const Node *e) {
  Term *left = compare_operand(L, e, e->compare.left), *all = NULL;
  Loc begin = e->compare.left->span.begin;
  for (uint32_t i = 0; i < e->compare.rights.count; i++) {
    const Node *rn = e->compare.rights.data[i];
    Term *right = compare_operand(L, e, rn);
    if (!left || !right) return NULL;
    PyOp op = (PyOp)e->compare.ops[i];
    Span span = span_of(begin, rn->span.end);
    Term *one;
    if (op == PYOP_IS || op == PYOP_IS_NOT) one = lower_identity(L, left, right, op == PYOP_IS_NOT);
    else if (op == PYOP_IN || op == PYOP_NOT_IN) one = lower_membership(L, left, right, op == PYOP_NOT_IN, span);
    else one = lower_binary(L, op, left, right, span);
    if (!one) return NULL;
    int64_t known;
    if (term_get_int(one, &known) && !known) return one;   // a < b < c stops at the first that fails
    all = all && !(term_get_int(all, &known) && known)
              ? (term_get_int(one, &known) ? all : lower_binary(L, PYOP_AND, all, one, e->span))
              : one;
    left = right;
    begin = rn->span.begin;
  }
  return all;
}

// ---- conditional expressions ----
static Term *choice_arm(Lower *L, void *user, bool first) {
  const Node *e = user;
  return lower_expr(L, first ? e->slice.lower : e->slice.step);
}

static Term *lower_if_exp(Lower *L, const Node *e) {
  Term *c = lower_expr(L, e->slice.upper);
  int known;
  Value *v;
  if (!lower_condition(L, c, e->slice.upper->span, "`… if … else …`", &known, &v)) return NULL;
  if (known >= 0) return lower_expr(L, known ? e->slice.lower : e->slice.step);
  return lower_runtime_choice(L, v, choice_arm, (void *)e, e->span, "this conditional expression");
}

// ---- all of them ----
static Term *lower_expr_inner(Lower *L, const Node *e, NameUse use) {
  switch (e->kind) {
  case NODE_NAME: return named_term(L, e->name.id, e->span, use);
  case NODE_INT:
    if (e->integer.is_too_large) return lower_error(L, e->span, "integer literal does not fit in 128 bits");
    return term_const(L, ct_int(L->ctx, e->integer.value));
  case NODE_FLOAT: return term_const(L, ct_float(L->ctx, e->floating.value));
  case NODE_STR: return term_const(L, ct_str_n(L->ctx, e->str.data, e->str.size));
  case NODE_NONE: return term_none(L);
  case NODE_TRUE: case NODE_FALSE: return term_bool(L, e->kind == NODE_TRUE);
  case NODE_FSTRING: return lower_fstring(L, e);
  case NODE_TUPLE: case NODE_LIST: return lower_sequence(L, e);
  case NODE_DICT: return lower_dict(L, e);
  case NODE_UNARY: {
    Term *x = lower_expr(L, e->unary.value);
    if (x && e->op == PYOP_NOT && lower_refuse_truth(L, x, e->unary.value)) return NULL;
    return lower_unary(L, (PyOp)e->op, x, e->span);
  }
  case NODE_BINARY: {
    Term *a = lower_expr(L, e->binary.left), *b = lower_expr(L, e->binary.right);
    lower_warn_mask(L, e, a, b);
    L->left_end = e->binary.left->span.end;
    Term *r = lower_binary(L, (PyOp)e->op, a, b, e->span);
    L->left_end = 0;
    return r;
  }
  case NODE_BOOL_OP: return lower_bool_op(L, e);
  case NODE_COMPARE: return lower_compare(L, e);
  case NODE_CALL: return lower_call_node(L, e);
  case NODE_ATTRIBUTE: return lower_attribute_node(L, e, use);
  case NODE_SUBSCRIPT: return lower_subscript(L, lower_expr(L, e->pair.first), e->pair.second, e->span);
  case NODE_IF_EXP: return lower_if_exp(L, e);
  case NODE_NAMED_EXPR: {
    Term *v = lower_expr(L, e->pair.second);
    lower_assign_target(L, e->pair.first, v, false, true);
    return v ? lower_expr(L, e->pair.first) : NULL;
  }
  case NODE_LIST_COMP: case NODE_GENERATOR: return lower_comprehension(L, e);
  case NODE_LAMBDA:
    lower_error(L, e->span, "a lambda cannot be made inside a kernel");
    return lower_hint(L, "define a function at module level with @triton.jit");
  case NODE_ELLIPSIS:
    lower_error(L, e->span, "`...` is not supported in kernels");
    return lower_hint(L, "write the `:` of each axis: x[:, None]");
  case NODE_IMAG:
    lower_error(L, e->span, "kernels have no complex numbers");
    return lower_hint(L, "keep the real and the imaginary part in two tiles");
  default:
    lower_error(L, e->span, "this expression (%s) is not supported in kernels", ast_kind_name((NodeKind)e->kind));
    return lower_hint(L, "a kernel runs from its first line to its last: store results with tl.store(…)");
  }
}

Term *lower_expr(Lower *L, const Node *e) {
  if (!e) return NULL;
  if (L->gave_up) return NULL;
  if (L->expr_depth >= MAX_EXPR_DEPTH) L->gave_up = true;
  if (L->gave_up) return lower_error(L, e->span, "expressions and calls nest deeper than %d", MAX_EXPR_DEPTH);
  L->expr_depth++;
  Span saved = L->b.span;
  L->b.span = e->span;
  const NameUse use = L->use;
  L->use = (NameUse){USE_VALUE, NULL};
  Term *t = lower_expr_inner(L, e, use);
  L->b.span = saved;
  L->expr_depth--;
  return t;
}
