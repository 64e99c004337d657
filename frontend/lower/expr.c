// Expressions of kernels.
#include "frontend/lower/lower.h"

#include <string.h>

enum { MAX_EXPR_DEPTH = 3000 };   // over all inlined calls; bounds the C stack

// ---- names ----
static Term *found(Lower *L, CtValue *v, Span span, NameUse use) {
  Term *t = term_found(L, v, span);
  if (!t && v) lower_hint_missing(L, v, use);
  return t;
}

Term *lower_name(Lower *L, const char *name, Span span, NameUse use) {
  Var *v = scope_find(&L->frame->scope, name);
  if (v && term_is_const(v->term) && v->term->ct->kind == CT_MISSING)   // a parameter's default value
    return found(L, v->term->ct, span, use);
  if (v) return v->term;
  CtValue *c = comptime_lookup(L->ct, L->frame->fn->env, name);
  return c ? found(L, c, span, use) : lower_unknown_name(L, name, span, use);
}

const char *lower_source_text(Lower *L, Span span) {
  enum { LONGEST = 40 };
  const SourceFile *f = source_locate(L->ctx, span.begin).file;
  if (!f || span.end <= span.begin || span.end - span.begin > LONGEST) return "x";
  return arena_strndup(L->arena, f->text + (span.begin - f->base), span.end - span.begin);
}

bool lower_is_name_path(const Node *e) {
  while (e->kind == NODE_ATTRIBUTE) e = e->attr.first;
  return e->kind == NODE_NAME;
}

// ---- attributes ----
// Some attributes are known although their module is missing: torch.version.hip where there is no torch.
static CtValue *known_of_missing(Lower *L, const Node *e) {
  const Node *root = e;
  while (root->kind == NODE_ATTRIBUTE) root = root->attr.first;
  if (root->kind != NODE_NAME || scope_find(&L->frame->scope, root->name.id)) return NULL;
  const CtValue *c = comptime_lookup(L->ct, L->frame->fn->env, root->name.id);
  CtValue *v = c && c->kind == CT_MISSING ? comptime_eval(L->ct, e, L->frame->fn->env) : NULL;
  return v && v->kind != CT_MISSING ? v : NULL;
}

static CtValue *class_value(Lower *L, CtClass *cls) {
  CtValue *v = arena_new(L->arena, CtValue);
  v->kind = CT_CLASS;
  v->cls = cls;
  return v;
}

Term *lower_find_method(Lower *L, Term *self, const char *name) {
  CtValue *m = comptime_get_attr(L->ct, class_value(L, self->tuple.cls), intern(L->ctx, name));
  if (!m || m->kind == CT_MISSING) return NULL;
  Term *t = term_const(L, m);
  return m->kind == CT_FUNCTION ? term_bound(L, self, t) : t;
}

Term *lower_shape_term(Lower *L, const CtType *t) {
  Term *items[CT_MAX_RANK];
  for (uint32_t i = 0; i < ct_rank(t); i++) items[i] = term_int(L, t->shape[i]);
  return term_tuple(L, items, ct_rank(t), NULL);
}

static Term *value_attribute(Lower *L, Term *base, const char *name, Span span) {
  const CtType *t = term_t(base);
  if (strcmp(name, "dtype") == 0) return term_const(L, ct_dtype(L->ctx, ct_scalar_of(t)));
  if (strcmp(name, "type") == 0) return term_const(L, ct_dtype(L->ctx, lower_type_of_tensor(L, t)));
  if (strcmp(name, "shape") == 0 && ct_is_ptr(t) && !ct_rank(t)) {
    lower_error(L, span, "%s is an address and has no shape", term_describe(L, base));
    return lower_hint(L, "pass the extents as parameters: `n: i32`");
  }
  if (strcmp(name, "shape") == 0) return lower_shape_term(L, t);
  if (strcmp(name, "numel") == 0) return term_int(L, ct_numel(t));
  if (strcmp(name, "T") == 0) {
    if (ct_rank(t) != 2) {
      lower_error(L, span, "`.T` is for tensors of rank 2, this is %s", term_describe(L, base));
      return lower_hint(L, ct_rank(t) < 2 ? "make it a column with x[:, None]" : "write tl.permute(x, (0, 2, 1))");
    }
    const int64_t order[2] = {1, 0};
    return lower_trans(L, base, order);
  }
  Term *m = builtin_find_method(L, name);
  if (m) return term_bound(L, base, m);
  return lower_no_attribute(L, base, name, span);
}

// The shape or the strides of a descriptor argument, which follow its map in the kernel's binary interface.
static Term *desc_dims(Lower *L, const Term *desc, bool strides, Span span) {
  Value *d = desc->desc.v;
  if (!d->block || d->block->parent) {
    lower_error(L, span, "the %s of a descriptor that is chosen at run time cannot be read",
                strides ? "strides" : "shape");
    return lower_hint(L, "read it in each branch, or pass it as an argument of its own");
  }
  uint32_t rank = desc->desc.block->rank;
  const CtType *dim = lower_scalar(L, strides ? DT_INT64 : DT_INT32);
  const Type *types[1 + 2 * MAX_RANK] = {type_ptr(L->ctx, d->type->elem, false)};
  for (uint32_t i = 0; i < rank; i++)
    types[1 + i] = type_scalar(L->ctx, SC_I32), types[1 + rank + i] = type_scalar(L->ctx, SC_I64);
  Op *op = build_op_typed(&L->b, OP_DESC_FIELDS, types, 1 + 2 * rank, &d, 1);
  Term *items[MAX_RANK];
  for (uint32_t i = 0; i < rank; i++) items[i] = term_value(L, op_result(op, 1 + (strides ? rank : 0) + i), dim);
  return term_tuple(L, items, rank, NULL);
}

static Term *desc_attribute(Lower *L, Term *base, const char *name, Span span) {
  bool strides = strcmp(name, "strides") == 0;
  if (!base->desc.shape && (strides || strcmp(name, "shape") == 0)) return desc_dims(L, base, strides, span);
  if (strcmp(name, "shape") == 0) return base->desc.shape;
  if (strcmp(name, "strides") == 0) return base->desc.strides;
  if (strcmp(name, "layout") == 0 && base->desc.block->layout)
    return term_const(L, comptime_layout_on(L->ct, lower_layout_of(L, base->desc.block), base->desc.block->layout));
  if (L->is_gluon && strcmp(name, "nbytes_per_cta") == 0) {
    const CtType *part = lower_block_part(L, base->desc.block);
    return term_int(L, ct_numel(part) * ct_bits(part->elem) / 8);
  }
  if (strcmp(name, "block_shape") == 0) return lower_shape_term(L, base->desc.block);
  if (strcmp(name, "dtype") == 0) return term_const(L, ct_dtype(L->ctx, base->desc.block->elem));
  if (strcmp(name, "type") == 0 || strcmp(name, "block_type") == 0)
    return term_const(L, ct_dtype(L->ctx, base->desc.block));
  const BuiltinRow *row = builtin_find(arena_printf(L->arena, "descriptor.%s", name));
  if (row) return term_bound(L, base, term_const(L, ct_builtin(L->ctx, intern(L->ctx, row->name))));
  lower_error(L, span, "a tensor descriptor has no attribute `%s`", name);
  return lower_hint(L, "it has load, store, gather, scatter, atomic_add, atomic_min, atomic_max, atomic_and, "
                       "atomic_or, atomic_xor, shape, strides, block_shape and dtype");
}

// What `.type` of a term is; NULL if it has none.
static CtValue *type_of(Lower *L, const Term *t) {
  switch (t->kind) {
  case TERM_CONST: return comptime_constexpr_type(L->ct, t->ct);
  case TERM_VALUE: return ct_dtype(L->ctx, lower_type_of_tensor(L, term_t(t)));
  case TERM_DESC: return ct_dtype(L->ctx, t->desc.block);
  case TERM_BLOCK_PTR: return ct_dtype(L->ctx, ct_type_pointer(L->ctx, t->bp.block, false));
  case TERM_TUPLE: {
    const CtClass *cls = t->tuple.cls;
    CtValue **types = arena_array(L->arena, CtValue *, t->tuple.count + 1),
            **fields = arena_array(L->arena, CtValue *, t->tuple.count + 1);
    for (uint32_t i = 0; i < t->tuple.count; i++) {
      if (!(types[i] = type_of(L, t->tuple.items[i]))) return NULL;
      fields[i] = ct_str(L->ctx, cls ? cls->fields[i].name : "");
    }
    return comptime_tuple_type(L->ct, ct_list(L->ctx, types, t->tuple.count), ct_list(L->ctx, fields, t->tuple.count));
  }
  case TERM_BUFFER: return ct_dtype(L->ctx, t->buffer.type);
  case TERM_ACC: return ct_dtype(L->ctx, t->acc.type);
  case TERM_BOUND: break;
  }
  return NULL;
}

static Term *tuple_attribute(Lower *L, Term *base, const char *name, Span span) {
  CtClass *cls = base->tuple.cls;
  for (uint32_t i = 0; cls && i < cls->num_fields; i++)
    if (cls->fields[i].name == name) return base->tuple.items[i];
  CtValue *type = strcmp(name, "type") == 0 ? type_of(L, base) : NULL;
  if (type) return term_const(L, type);
  if (!cls) return lower_no_attribute(L, base, name, span);
  Term *m = lower_find_method(L, base, name);
  return m ? m : lower_error(L, span, "%s has no attribute `%s`", cls->name, name);
}

static bool is_number(const CtValue *v) { return v->kind == CT_BOOL || v->kind == CT_INT || v->kind == CT_FLOAT; }

Term *lower_attribute(Lower *L, Term *base, const char *name, Span span) {
  if (!base) return NULL;
  switch (base->kind) {
  case TERM_VALUE: return value_attribute(L, base, name, span);
  case TERM_DESC: return desc_attribute(L, base, name, span);
  case TERM_TUPLE: return tuple_attribute(L, base, name, span);
  case TERM_BLOCK_PTR:
    if (strcmp(name, "type") == 0 || strcmp(name, "dtype") == 0)
      return term_const(L, ct_dtype(L->ctx, ct_type_pointer(L->ctx, base->bp.block, false)));
    if (strcmp(name, "advance") == 0)
      return term_bound(L, base, term_const(L, ct_builtin(L->ctx, intern(L->ctx, "advance"))));
    return lower_error(L, span, "a block pointer has no attribute `%s`", name);
  case TERM_BUFFER: return lower_buffer_attribute(L, base, name, span);
  case TERM_ACC:
    if (strcmp(name, "type") == 0) return term_const(L, type_of(L, base));
    lower_error(L, span, "an accumulator has no attribute `%s` before its wait", name);
    return lower_hint_wait(L);
  case TERM_BOUND: return lower_error(L, span, "a method has no attribute `%s`", name);
  case TERM_CONST: break;
  }
  CtValue *c = base->ct;
  if (strcmp(name, "type") == 0 && (is_number(c) || c->kind == CT_STR || c->kind == CT_NONE))
    return term_const(L, type_of(L, base));
  if (is_number(c)) {
    if (strcmp(name, "value") == 0) return base;
    // A parameter specialised to a constant is still a number to its author: `.to` and the like work on it.
    Term *v = term_to_value(L, base, span, "the value");
    return v ? value_attribute(L, v, name, span) : NULL;
  }
  if (strcmp(name, "value") == 0 && (c->kind == CT_STR || c->kind == CT_NONE || c->kind == CT_DTYPE)) return base;
  CtValue *a = comptime_get_attr(L->ct, c, name);
  if (!a) return lower_no_attribute(L, base, name, span);
  return lower_is_foreign_member(L, a) ? lower_no_builtin(L, a->builtin.name, span)
                                       : found(L, a, span, (NameUse){USE_VALUE, NULL});
}

// ---- subscripts ----
// `:`, of which the bounds and the step are left out or None.
static bool is_full_slice(Lower *L, const Node *n) {
  if (n->kind != NODE_SLICE) return false;
  const Node *parts[3] = {n->slice.lower, n->slice.upper, n->slice.step};
  for (int i = 0; i < 3; i++)
    if (parts[i] && !term_is_none(lower_expr(L, parts[i]))) return false;
  return true;
}

// x[i] of a pointer.
static Term *index_pointer(Lower *L, const Term *base, const Node *index, Span span) {
  lower_error(L, span, "%s is an address, which is not indexed", term_describe(L, base));
  const char *i = lower_source_text(L, index->span), *p = lower_source_text(L, span_of(span.begin, index->span.begin - 1));
  const bool is_plain = index->kind == NODE_NAME || index->kind == NODE_INT || index->kind == NODE_BINARY;
  if (is_plain) return lower_hint(L, "write tl.load(%s + %s, mask)", p, i);
  return lower_hint(L, "compute the offsets: tl.load(%s + row * stride + column, mask)", p);
}

static Term *index_tensor(Lower *L, Term *base, const Node *index, Span span) {
  if (ct_is_ptr(term_t(base)) && !ct_rank(term_t(base)) && index->kind != NODE_SLICE && index->kind != NODE_TUPLE)
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
    return lower_hint(
        L, "load the part that you need from memory, or take elements with tl.gather, tl.split or a masked tl.sum");
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

Term *lower_subscript(Lower *L, Term *base, const Node *index, Span span) {
  if (!base) return NULL;
  if (base->kind == TERM_VALUE) return index_tensor(L, base, index, span);
  if (base->kind == TERM_TUPLE) {
    if (index->kind == NODE_SLICE) return slice_tuple(L, base, index);
    Term *t = lower_expr(L, index);
    if (!t) return NULL;
    int64_t i;
    if (!term_get_int(t, &i)) {
      Term *m = base->tuple.cls ? lower_find_method(L, base, "__getitem__") : NULL;
      if (m) return lower_call_positional(L, m, &t, 1, span);
      lower_error(L, index->span, "a tuple is indexed by a constant, not by %s", term_describe(L, t));
      return lower_hint(L, "loop with tl.static_range to have constant indices");
    }
    int64_t n = base->tuple.count;
    if (i < -n || i >= n)
      return lower_error(L, index->span, "index %lld is outside a tuple of %lld", (long long)i, (long long)n);
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

// ---- boolean operators, comparisons ----
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
      last = t;
      if (ct_is_true(c) != is_and) return t;   // decided: the operands that follow are not lowered
      continue;
    }
    if (t->kind == TERM_VALUE && ct_is_ptr(term_t(t))) t = lower_not_zero(L, t, n->span);
    if (!t) return NULL;
    bool is_alone = !left && i + 1 == e->boolop.values.count;   // after constants: the result, of any type
    if (!is_alone && (t->kind != TERM_VALUE || !ct_is_bool(term_t(t)))) {
      lower_error(L, n->span, "`%s` works on int1, not on %s", pyop_text((PyOp)e->op), term_describe(L, t));
      return lower_hint(L, "compare with 0 first, or use %s for bits", is_and ? "&" : "|");
    }
    if (term_is_tensor(t) && !warned) {
      warned = true;
      diag_warning(L->ctx, WARN_LOGICAL_OP, e->span, "`%s` on a tensor evaluates both sides; write `%s`",
                   pyop_text((PyOp)e->op), is_and ? "&" : "|");
    }
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

static Term *lower_compare(Lower *L, const Node *e) {
  Term *left = lower_expr(L, e->compare.left), *all = NULL;
  Loc begin = e->compare.left->span.begin;
  for (uint32_t i = 0; i < e->compare.rights.count; i++) {
    const Node *rn = e->compare.rights.data[i];
    Term *right = lower_expr(L, rn);
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
  case NODE_NAME: return lower_name(L, e->name.id, e->span, use);
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
  case NODE_UNARY: return lower_unary(L, (PyOp)e->op, lower_expr(L, e->unary.value), e->span);
  case NODE_BINARY: {
    Term *a = lower_expr(L, e->binary.left), *b = lower_expr(L, e->binary.right);
    return lower_binary(L, (PyOp)e->op, a, b, e->span);
  }
  case NODE_BOOL_OP: return lower_bool_op(L, e);
  case NODE_COMPARE: return lower_compare(L, e);
  case NODE_CALL: return lower_call_node(L, e);
  case NODE_ATTRIBUTE: {
    CtValue *fact = known_of_missing(L, e);
    L->use = use.kind == USE_BASE ? use : (NameUse){USE_BASE, e->attr.name};
    return fact ? term_const(L, fact) : lower_attribute(L, lower_expr(L, e->attr.first), e->attr.name, e->span);
  }
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
