// Attributes of values in kernels: x.shape, x.dtype, methods, fields of tuples, members of modules and classes.
#include "frontend/lower/gluon.h"
#include "frontend/lower/hints.h"
#include "frontend/lower/statements.h"
#include "frontend/lower/term.h"

#include <string.h>

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

// A tuple with one item per axis.
static Term *term_shape(Lower *L, Term *const *items, uint32_t rank) {
  Term *t = term_tuple(L, items, rank, NULL);
  t->tuple.is_shape = true;
  return t;
}

Term *lower_shape_term(Lower *L, const CtType *t) {
  Term *items[CT_MAX_RANK];
  for (uint32_t i = 0; i < ct_rank(t); i++) items[i] = term_int(L, t->shape[i]);
  return term_shape(L, items, ct_rank(t));
}

static Term *value_attribute(Lower *L, Term *base, const char *name, Span span) {
  const CtType *t = term_t(base);
  if (strcmp(name, "dtype") == 0) return term_const(L, ct_dtype(L->ctx, ct_scalar_of(t)));
  if (strcmp(name, "type") == 0) return term_const(L, ct_dtype(L->ctx, lower_type_of_tensor(L, t)));
  if (strcmp(name, "shape") == 0 && ct_is_ptr(t) && !ct_rank(t)) {
    lower_error(L, span, "%s is an address and has no shape", term_describe(L, base));
    return lower_hint(L, "pass the extents to the kernel as parameters of their own");
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
  return (m = lower_operator_method(L, base, name)) ? m : lower_no_attribute(L, base, name, span);
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
  return term_shape(L, items, rank);
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
  if (!cls) {
    base->is_broken = base->tuple.is_list;
    return lower_no_attribute(L, base, name, span);
  }
  Term *m = lower_find_method(L, base, name);
  if (m) return m;
  lower_error(L, span, "%s has no attribute `%s`", cls->name, name);
  NameVec fields = {0};
  Buf listed = buf_make(L->arena);
  for (uint32_t i = 0; i < cls->num_fields; i++) {
    vec_push(L->arena, &fields, cls->fields[i].name);
    buf_printf(&listed, "%s`%s`", i ? ", " : "", cls->fields[i].name);
  }
  lower_hint_nearest(L, name, nearest_name(name, fields.data, fields.count));
  return fields.count ? lower_hint(L, "its fields are %s", buf_str(&listed)) : NULL;
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
    return lower_no_block_attribute(L, name, span);
  case TERM_BUFFER: return lower_buffer_attribute(L, base, name, span);
  case TERM_ACC:
    if (strcmp(name, "type") == 0) return term_const(L, type_of(L, base));
    lower_error(L, span, "an accumulator has no attribute `%s` before its wait", name);
    return lower_hint_wait(L);
  case TERM_BOUND: return lower_error(L, span, "a method has no attribute `%s`", name);
  case TERM_CONST: break;
  }
  if (lower_refuse_nothing(L, base, span)) return NULL;
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
                                       : lower_found(L, a, span, (NameUse){USE_VALUE, NULL});
}

const Term *lower_constexpr_tuple(Lower *L, const Node *e) {
  const Var *v = e->kind == NODE_NAME ? scope_find(&L->frame->scope, e->name.id) : NULL;
  const bool is_tuple = v && v->flags & VAR_CONSTEXPR && v->term && v->term->kind == TERM_TUPLE && !v->term->tuple.cls;
  return is_tuple ? v->term : NULL;
}

// `t.type` where t was declared a constexpr and is a tuple: NULL elsewhere. A constexpr has its value as its type.
static Term *constexpr_tuple_type(Lower *L, const Node *e) {
  const Term *t = strcmp(e->attr.name, "type") ? NULL : lower_constexpr_tuple(L, e->attr.first);
  CtValue *value = t ? term_to_ct(L, t) : NULL;
  return value ? term_const(L, comptime_constexpr_type(L->ct, value)) : NULL;
}

// Reports that a variable hides the module of its name, whose member is meant: `tl = n // 2`, then `tl.load(…)`.
static bool refuse_hidden_module(Lower *L, const Node *e) {
  const Node *base = e->attr.first;
  const Var *v = base->kind == NODE_NAME ? scope_find(&L->frame->scope, base->name.id) : NULL;
  if (!v || !v->term || (v->term->kind != TERM_VALUE && !term_is_number(v->term))) return false;
  CtValue *module = comptime_lookup(L->ct, L->frame->fn->env, base->name.id);
  const bool is_own = !strcmp(e->attr.name, "dtype") || !strcmp(e->attr.name, "to");
  if (!module || module->kind != CT_MODULE || is_own) return false;
  CtValue *member = comptime_get_attr(L->ct, module, e->attr.name);
  if (!member || member->kind == CT_MISSING) return false;
  lower_error(L, base->span, "`%s` is a variable here, which hides the module `%s`", base->name.id, base->name.id);
  diag_note(L->ctx, v->span, "it is assigned here: give it another name");
  return true;
}

Term *lower_attribute_node(Lower *L, const Node *e, NameUse use) {
  CtValue *fact = known_of_missing(L, e);
  Term *type = constexpr_tuple_type(L, e);
  if (type) return type;
  if (refuse_hidden_module(L, e)) return NULL;
  L->use = use.kind == USE_BASE ? use : (NameUse){USE_BASE, e->attr.name};
  return fact ? term_const(L, fact) : lower_attribute(L, lower_expr(L, e->attr.first), e->attr.name, e->span);
}
