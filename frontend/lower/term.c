// Terms: making them, reading them, and flattening them into IR values and back.
#include "frontend/lower/gluon.h"
#include "frontend/lower/hints.h"
#include "frontend/lower/statements.h"
#include "frontend/lower/term.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static Term *new_term(Lower *L, TermKind kind) {
  Term *t = arena_new(L->arena, Term);
  t->kind = kind;
  return t;
}

Term *term_found(Lower *L, CtValue *v, Span span) {
  if (!v || v->kind != CT_MISSING) return term_const(L, v);
  comptime_report_missing(L->ct, v, span);
  return NULL;
}

Term *term_const(Lower *L, CtValue *v) {
  if (!v) return NULL;
  v = ct_unwrap(v);
  if (ct_has_list(v)) {
    Term **items = arena_array(L->arena, Term *, v->list.count + 1);
    for (uint32_t i = 0; i < v->list.count; i++) items[i] = term_const(L, v->list.data[i]);
    Term *t = term_tuple(L, items, v->list.count, NULL);
    t->tuple.is_list = v->kind == CT_LIST;
    return t;
  }
  if (v->kind == CT_INSTANCE &&
      (v->instance->cls->form == CLASS_NAMEDTUPLE || v->instance->cls->form == CLASS_AGGREGATE)) {
    CtClass *cls = v->instance->cls;
    Term **items = arena_array(L->arena, Term *, cls->num_fields + 1);
    for (uint32_t i = 0; i < cls->num_fields; i++) {
      CtValue *f = ct_instance_get(v->instance, cls->fields[i].name);
      items[i] = f ? term_const(L, f) : term_none(L);
    }
    return term_tuple(L, items, cls->num_fields, cls);
  }
  Term *t = new_term(L, TERM_CONST);
  t->ct = v;
  return t;
}

Term *term_none(Lower *L) { return term_const(L, ct_none()); }
Term *term_bool(Lower *L, bool b) { return term_const(L, ct_bool(b)); }
Term *term_int(Lower *L, int64_t i) { return term_const(L, ct_int(L->ctx, i)); }

Term *term_value(Lower *L, Value *v, const CtType *type) {
  Term *t = new_term(L, TERM_VALUE);
  t->value.v = v;
  t->value.type = type;
  return t;
}

Term *term_tuple(Lower *L, Term *const *items, uint32_t count, CtClass *cls) {
  Term *t = new_term(L, TERM_TUPLE);
  t->tuple.items = arena_array(L->arena, Term *, count + 1);
  if (count) memcpy(t->tuple.items, items, count * sizeof *items);
  t->tuple.count = count;
  t->tuple.cls = cls;
  return t;
}

Term *term_bound(Lower *L, Term *self, Term *fn) {
  Term *t = new_term(L, TERM_BOUND);
  t->bound.self = self;
  t->bound.fn = fn;
  return t;
}

CtValue *term_to_ct(Lower *L, const Term *t) {
  if (!t) return NULL;
  if (t->kind == TERM_CONST) return t->ct;
  if (t->kind != TERM_TUPLE || (t->tuple.cls && t->tuple.cls->form == CLASS_AGGREGATE)) return NULL;
  CtValue **items = arena_array(L->arena, CtValue *, t->tuple.count + 1);
  for (uint32_t i = 0; i < t->tuple.count; i++)
    if (!(items[i] = term_to_ct(L, t->tuple.items[i]))) return NULL;
  if (t->tuple.cls) return comptime_namedtuple(L->ct, t->tuple.cls, items);
  return t->tuple.is_list ? ct_list(L->ctx, items, t->tuple.count) : ct_tuple(L->ctx, items, t->tuple.count);
}

bool term_is_none(const Term *t) { return term_is_const(t) && t->ct->kind == CT_NONE; }
bool term_is_tensor(const Term *t) { return t && t->kind == TERM_VALUE && t->value.type->kind == CT_TYPE_BLOCK; }

bool term_get_int(const Term *t, int64_t *out) {
  const CtValue *c = term_is_const(t) ? t->ct : t && t->kind == TERM_VALUE ? t->value.known : NULL;
  if (!c) return false;
  if (c->kind == CT_BOOL) return *out = c->b, true;
  if (c->kind != CT_INT || c->i < INT64_MIN || c->i > INT64_MAX) return false;
  *out = (int64_t)c->i;
  return true;
}

bool term_get_str(const Term *t, const char **out) {
  if (!term_is_const(t) || t->ct->kind != CT_STR) return false;
  *out = t->ct->str.data;
  return true;
}

bool term_get_dtype(const Term *t, const CtType **out) {
  if (!term_is_const(t) || t->ct->kind != CT_DTYPE) return false;
  *out = t->ct->type;
  return true;
}

static bool is_number(const CtValue *v) { return v->kind == CT_BOOL || v->kind == CT_INT || v->kind == CT_FLOAT; }
bool term_is_number(const Term *t) { return term_is_const(t) && is_number(t->ct); }

const CtType *term_number_type(Lower *L, const CtValue *v) {
  if (v->kind == CT_BOOL) return lower_scalar(L, DT_INT1);
  if (v->kind == CT_FLOAT) {
    double a = fabs(v->f);
    bool single = a == 0 || isinf(a) || isnan(a) || (a >= 0x1p-126 && a <= 0x1.fffffep127);
    return lower_scalar(L, single ? DT_FP32 : DT_FP64);
  }
  if (v->i >= INT32_MIN && v->i <= INT32_MAX) return lower_scalar(L, DT_INT32);
  if (v->i >= 0 && v->i <= UINT32_MAX) return lower_scalar(L, DT_UINT32);
  if (v->i >= INT64_MIN && v->i <= INT64_MAX) return lower_scalar(L, DT_INT64);
  return v->i >= 0 && v->i <= UINT64_MAX ? lower_scalar(L, DT_UINT64) : NULL;
}

static bool is_numeral(const char *text) {
  char *end;
  strtod(text, &end);
  return *text && !*end;
}

// The way out where a tensor or a number is needed. what: the place, which begins with the name of a builtin's
// parameter if it is one.
static Term *hint_value(Lower *L, const Term *t, Span span, const char *what) {
  if (t->kind == TERM_TUPLE && t->tuple.cls) return lower_hint(L, "take one of its fields");
  if (t->kind == TERM_TUPLE && t->tuple.is_fstring) return lower_hint(L, "print it with tl.device_print(f\"…\")");
  if (lower_note_comma(L, t) || lower_hint_returned(L, t)) return NULL;
  if (t->kind == TERM_TUPLE && !strncmp(what, "`mask`", 6))
    return lower_hint(L, "combine conditions by `&`: (a < b) & (c < d)");
  if (t->kind == TERM_TUPLE && t->tuple.is_list && t->tuple.count > 1)
    return lower_hint(L, "a list is no tile: load the numbers from memory, or compute them from tl.arange; one of them is "
                         "t[0]");
  if (t->kind == TERM_TUPLE) return lower_hint(L, "take one of its items: t[0]; tl.join makes one tile of two");
  if (t->kind == TERM_BLOCK_PTR && strstr(what, "operand of `+`"))
    return lower_hint(L, "it moves as a whole: p = tl.advance(p, (rows, columns)); where each row has an offset of its "
                         "own, load through pointers: x + row[:, None] * stride + column[None, :]");
  if (t->kind == TERM_BUFFER) return lower_hint(L, "load its elements: buffer.load(layout)");
  if (t->kind == TERM_DESC && strstr(what, "make_tensor_descriptor"))
    return lower_hint(L, "it is a descriptor already: load a block by x.load([row, column])");
  if (t->kind == TERM_DESC || t->kind == TERM_BLOCK_PTR) return lower_hint(L, "load what it points to");
  if (t->kind != TERM_CONST) {
    lower_hint_kind(L, t);
    return NULL;
  }
  if (strstr(what, "operand of `//`") && lower_hint_comment(L, span, t->ct->kind == CT_NONE)) return NULL;
  switch (t->ct->kind) {
  case CT_STR:
    if (*what == '`' && is_numeral(t->ct->str.data)) return lower_hint(L, "leave out the quotes: %s", t->ct->str.data);
    if (!strncmp(what, "`mask`", 6) && (strpbrk(t->ct->str.data, "<>=&|~") ||
                                        scope_find(&L->frame->scope, intern(L->ctx, t->ct->str.data))))
      return lower_hint(L, "leave out the quotes: %s", t->ct->str.data);
    if (*what == '`') return lower_hint(L, "it takes a number, such as 0.0, or a tensor");
    return lower_hint(L, "a kernel has no texts at run time: print values by tl.device_print(\"text\", value)");
  case CT_NONE: return lower_hint_none(L, span);
  case CT_BUILTIN:
    if (!lower_hint_kind(L, t)) lower_hint_near(L, t->ct->builtin.name);
    return NULL;
  case CT_DICT: return lower_hint(L, "take one of its values: d[key]");
  default:
    lower_hint_kind(L, t);
    return NULL;
  }
}

Term *term_to_value(Lower *L, Term *t, Span span, const char *what) {
  if (!t || t->kind == TERM_VALUE) return t;
  if (t->kind == TERM_CONST) {
    const CtValue *c = ct_integer(t->ct) ? ct_integer(t->ct) : t->ct;
    if (is_number(c)) {
      const CtType *type = term_number_type(L, c);
      if (!type) return lower_error(L, span, "%s does not fit 64 bits: %s", what, ct_repr(L->ctx, c));
      if (c->kind == CT_FLOAT) return term_full(L, type, c->f, 0);
      return term_full(L, type, 0, c->kind == CT_BOOL ? c->b : (int64_t)(uint64_t)c->i);
    }
  }
  if (lower_refuse_nothing(L, t, span)) return NULL;
  // A bare name that no import gives: Python does not know it.
  if (t->kind == TERM_CONST && t->ct->kind == CT_BUILTIN && !strncmp(t->ct->builtin.name, "tl.", 3) &&
      !strcmp(lower_source_text_or(L, span, ""), t->ct->builtin.name + 3) &&
      !ct_env_lookup(L->frame->fn->env, t->ct->builtin.name + 3))
    return lower_unknown_name(L, t->ct->builtin.name + 3, span, (NameUse){.kind = USE_VALUE});
  // A tuple of one element is not a scalar in Python either.
  lower_error(L, span, "%s must be a tensor or a number, not %s", what, term_describe(L, t));
  return t->kind == TERM_ACC ? lower_hint_wait(L) : hint_value(L, t, span, what);
}

Term *term_recall(Lower *L, Term *t) {
  return t && t->kind == TERM_VALUE && t->value.known ? term_const(L, t->value.known) : t;
}

// Whether decay goes into the term: into tuples, lists and namedtuples, but not into an aggregate.
static bool is_plain_tuple(const Term *t) {
  return t->kind == TERM_TUPLE && !t->tuple.is_fstring && (!t->tuple.cls || t->tuple.cls->form == CLASS_NAMEDTUPLE);
}

Term *term_returned(Lower *L, Term *t, Span span) {
  if (!t) return NULL;
  if (is_plain_tuple(t)) {
    Term *r = arena_new(L->arena, Term);
    *r = *t;
    r->tuple.items = arena_array(L->arena, Term *, t->tuple.count + 1);
    for (uint32_t i = 0; i < t->tuple.count; i++) r->tuple.items[i] = term_returned(L, t->tuple.items[i], span);
    return r;
  }
  Term *r = term_decay(L, t, span);
  if (r && r != t && t->kind == TERM_CONST) r->value.known = t->ct;
  return r;
}

Term *term_decay(Lower *L, Term *t, Span span) {
  if (!t) return NULL;
  if (is_plain_tuple(t)) {
    Term *r = arena_new(L->arena, Term);
    *r = *t;
    r->tuple.items = arena_array(L->arena, Term *, t->tuple.count + 1);
    for (uint32_t i = 0; i < t->tuple.count; i++) r->tuple.items[i] = term_decay(L, t->tuple.items[i], span);
    return r;
  }
  if (t->kind != TERM_CONST) return t;
  CtKind k = t->ct->kind;
  return k == CT_BOOL || k == CT_INT || k == CT_FLOAT ? term_to_value(L, t, span, "the value") : t;
}

const char *term_describe(Lower *L, const Term *t) {
  Arena *a = L->arena;
  if (!t) return "nothing";
  switch (t->kind) {
  case TERM_CONST:
    if (t->ct->kind == CT_NONE) return "None";
    if (t->ct->kind == CT_DTYPE) return arena_printf(a, "the type %s", ct_type_text(L->ctx, t->ct->type));
    if (t->ct->kind == CT_FUNCTION) return arena_printf(a, "the function %s", t->ct->fn->name);
    if (t->ct->kind == CT_BUILTIN && strncmp(t->ct->builtin.name, "tl.", 3) == 0 &&
        !builtin_resolve(L, t->ct->builtin.name) && !comptime_has_function(t->ct->builtin.name))
      return arena_printf(a, "%s, which does not exist", t->ct->builtin.name);
    if (t->ct->kind == CT_BUILTIN) return arena_printf(a, "the builtin %s", t->ct->builtin.name);
    if (t->ct->kind == CT_CLASS) return arena_printf(a, "the class %s", t->ct->cls->name);
    if (t->ct->kind == CT_MODULE) return arena_printf(a, "the module %s", t->ct->module->name);
    return arena_printf(a, "the constant %s", ct_repr(L->ctx, t->ct));
  case TERM_VALUE: {
    const char *elem = ct_type_text(L->ctx, ct_scalar_of(t->value.type));
    return ct_rank(t->value.type) ? arena_printf(a, "%s%s", elem, lower_shape_text(L, t->value.type))
                                  : arena_printf(a, "a scalar %s", elem);
  }
  case TERM_TUPLE:
    if (t->tuple.cls) return arena_printf(a, "%s", t->tuple.cls->name);
    if (t->tuple.is_fstring) return "an f-string with run-time values";
    return arena_printf(a, "a %s of %u", t->tuple.is_list ? "list" : "tuple", t->tuple.count);
  case TERM_DESC:
    return arena_printf(a, "a tensor descriptor%s of %s%s%s", t->desc.base ? "" : " from the launcher",
                        ct_type_text(L->ctx, t->desc.block->elem), lower_shape_text(L, t->desc.block),
                        t->desc.padding == PAD_NAN ? " padded with NaN" : "");
  case TERM_BLOCK_PTR:
    return arena_printf(a, "a block pointer to %s%s", ct_type_text(L->ctx, t->bp.block->elem),
                        lower_shape_text(L, t->bp.block));
  case TERM_BUFFER:
    return arena_printf(a, "a shared-memory buffer of %s%s", ct_type_text(L->ctx, t->buffer.type->elem),
                        lower_shape_text(L, t->buffer.type));
  case TERM_ACC:
    return arena_printf(a, "an accumulator of %s%s", ct_type_text(L->ctx, t->acc.type->elem),
                        lower_shape_text(L, t->acc.type));
  case TERM_BOUND: {
    const char *name = lower_callee_name(L, t);
    return name ? arena_printf(a, "the method %s", name) : "a method";
  }
  }
  return "?";
}

// 0.0 and -0.0 are equal, but not the same constant.
static bool same_constant(const CtValue *a, const CtValue *b) {
  if (a == b) return true;
  if (a->kind != b->kind) return false;
  return a->kind == CT_FLOAT ? memcmp(&a->f, &b->f, sizeof a->f) == 0 : ct_equal(a, b);
}

bool term_same_type(Lower *L, const Term *a, const Term *b) {
  if (a == b) return true;
  if (!a || !b || a->kind != b->kind) return false;
  switch (a->kind) {
  case TERM_CONST: return same_constant(a->ct, b->ct);
  case TERM_VALUE: return ct_type_equal(a->value.type, b->value.type);
  case TERM_TUPLE:
    if (a->tuple.count != b->tuple.count || a->tuple.cls != b->tuple.cls) return false;
    for (uint32_t i = 0; i < a->tuple.count; i++)
      if (!term_same_type(L, a->tuple.items[i], b->tuple.items[i])) return false;
    return true;
  case TERM_DESC:
    return !a->desc.base == !b->desc.base && a->desc.padding == b->desc.padding &&
           ct_type_equal(a->desc.block, b->desc.block) && term_same_type(L, a->desc.shape, b->desc.shape) &&
           term_same_type(L, a->desc.strides, b->desc.strides);
  case TERM_BLOCK_PTR: return ct_type_equal(a->bp.pointer, b->bp.pointer) && ct_type_equal(a->bp.block, b->bp.block);
  case TERM_BUFFER:
    return ct_type_equal(a->buffer.type, b->buffer.type) && ct_type_equal(a->buffer.whole, b->buffer.whole);
  case TERM_ACC: return ct_type_equal(a->acc.type, b->acc.type);
  case TERM_BOUND:
    return term_same_type(L, a->bound.self, b->bound.self) && term_same_type(L, a->bound.fn, b->bound.fn);
  }
  return false;
}

static bool is_acc_of(const Term *acc, const Term *tensor) {
  return acc->kind == TERM_ACC && term_is_tensor(tensor) && ct_type_equal(acc->acc.type, term_t(tensor));
}

// Tensors of one shape and element type, of which one has no layout yet. In a cluster the other is divided among blocks.
static bool differ_by_open_layout(const Lower *L, const Term *a, const Term *b) {
  if (!term_is_tensor(a) || !term_is_tensor(b) || !term_t(a)->layout == !term_t(b)->layout) return false;
  if (L->module->num_ctas > 1) return false;
  CtType x = *term_t(a), y = *term_t(b);
  x.layout = y.layout = NULL;
  return ct_type_equal(&x, &y);
}

Term *term_settle(Lower *L, Term *a, Term *b, bool *to_acc) {
  if (!a || !b || term_same_type(L, a, b)) return a;
  if (is_acc_of(a, b)) return a;
  if (differ_by_open_layout(L, a, b)) return a;
  if (is_acc_of(b, a)) {
    *to_acc = true;
    Term *t = new_term(L, TERM_ACC);
    t->acc.v = term_v(a);
    t->acc.type = term_t(a);
    return t;
  }
  if (a->kind != TERM_TUPLE || b->kind != TERM_TUPLE || a->tuple.count != b->tuple.count ||
      a->tuple.cls != b->tuple.cls)
    return NULL;
  Term *t = new_term(L, TERM_TUPLE);
  t->tuple = a->tuple;
  t->tuple.items = arena_array(L->arena, Term *, a->tuple.count + 1);
  for (uint32_t i = 0; i < a->tuple.count; i++)
    if (!(t->tuple.items[i] = term_settle(L, a->tuple.items[i], b->tuple.items[i], to_acc))) return NULL;
  return t;
}

Term *term_in_layout_of(Lower *L, Term *x, const Term *like) {
  if (x && like && x->kind == TERM_TUPLE && like->kind == TERM_TUPLE && x->tuple.count == like->tuple.count) {
    Term *t = new_term(L, TERM_TUPLE);
    t->tuple = x->tuple;
    t->tuple.items = arena_array(L->arena, Term *, x->tuple.count + 1);
    for (uint32_t i = 0; i < x->tuple.count; i++)
      t->tuple.items[i] = term_in_layout_of(L, x->tuple.items[i], like->tuple.items[i]);
    return t;
  }
  return x && like && differ_by_open_layout(L, x, like) ? lower_convert(L, x, term_t(like)) : x;
}

void term_flatten(Lower *L, const Term *t, ValueList *out) {
  Arena *arena = L->arena;
  if (!t) return;
  switch (t->kind) {
  case TERM_CONST: break;
  case TERM_VALUE: vec_push(arena, out, t->value.v); break;
  case TERM_TUPLE:
    for (uint32_t i = 0; i < t->tuple.count; i++) term_flatten(L, t->tuple.items[i], out);
    break;
  case TERM_DESC:
    vec_push(arena, out, t->desc.base ? t->desc.base : t->desc.v);
    term_flatten(L, t->desc.shape, out);
    term_flatten(L, t->desc.strides, out);
    break;
  case TERM_BLOCK_PTR:
    vec_push(arena, out, t->bp.base);
    for (uint32_t i = 0; i < t->bp.block->rank; i++) {
      vec_push(arena, out, t->bp.shape[i]);
      vec_push(arena, out, t->bp.strides[i]);
      vec_push(arena, out, t->bp.offsets[i]);
    }
    break;
  case TERM_BUFFER: vec_push(arena, out, t->buffer.v); break;
  case TERM_ACC: vec_push(arena, out, t->acc.v); break;
  case TERM_BOUND:
    term_flatten(L, t->bound.self, out);
    term_flatten(L, t->bound.fn, out);
    break;
  }
}

Term *term_rebuild(Lower *L, const Term *like, Value *const *values, uint32_t *pos) {
  if (!like) return NULL;
  Term *t = arena_new(L->arena, Term);
  *t = *like;
  switch (like->kind) {
  case TERM_CONST: return t;
  case TERM_VALUE:
    t->value.v = values[(*pos)++];
    t->value.known = NULL;   // another path may have given another constant
    return t;
  case TERM_TUPLE:
    t->tuple.items = arena_array(L->arena, Term *, like->tuple.count + 1);
    for (uint32_t i = 0; i < like->tuple.count; i++)
      t->tuple.items[i] = term_rebuild(L, like->tuple.items[i], values, pos);
    return t;
  case TERM_DESC:
    *(like->desc.base ? &t->desc.base : &t->desc.v) = values[(*pos)++];
    if (like->desc.base) t->desc.v = NULL;
    t->desc.shape = term_rebuild(L, like->desc.shape, values, pos);
    t->desc.strides = term_rebuild(L, like->desc.strides, values, pos);
    return t;
  case TERM_BLOCK_PTR: {
    uint32_t n = like->bp.block->rank;
    t->bp.base = values[(*pos)++];
    t->bp.shape = arena_array(L->arena, Value *, n);
    t->bp.strides = arena_array(L->arena, Value *, n);
    t->bp.offsets = arena_array(L->arena, Value *, n);
    for (uint32_t i = 0; i < n; i++) {
      t->bp.shape[i] = values[(*pos)++];
      t->bp.strides[i] = values[(*pos)++];
      t->bp.offsets[i] = values[(*pos)++];
    }
    return t;
  }
  case TERM_BUFFER: t->buffer.v = values[(*pos)++]; return t;
  case TERM_ACC: t->acc.v = values[(*pos)++]; return t;
  case TERM_BOUND:
    t->bound.self = term_rebuild(L, like->bound.self, values, pos);
    t->bound.fn = term_rebuild(L, like->bound.fn, values, pos);
    return t;
  }
  return t;
}

void values_append(Lower *L, ValueList *to, const ValueList *from) {
  for (uint32_t i = 0; i < from->count; i++) vec_push(L->arena, to, from->data[i]);
}

Op *lower_new_shell(Lower *L, Opcode oc, Value *const *operands, uint32_t n, uint32_t num_blocks) {
  Op *shell = op_new(L->ctx, L->b.func, oc, L->b.span, NULL, 0, operands, n, num_blocks);
  shell->inlined_at = L->b.inlined_at;
  op_append(shell, L->b.block);
  return shell;
}

Op *lower_new_op(Lower *L, Opcode oc, const CtType *t, Value *const *operands, uint32_t n) {
  const Type *type = lower_ir_type(L, t);
  return build_op_typed(&L->b, oc, &type, 1, operands, n);
}

Value *term_zero(Lower *L, const Type *type) {
  const Type *elem = type_elem(type);
  if (elem->kind != TYPE_PTR) return build_constant_bits(&L->b, type, 0);
  Value *zero = build_constant_bits(&L->b, type_with_elem(L->ctx, type, type_scalar(L->ctx, SC_I64)), 0);
  return build_cast(&L->b, OP_INTTOPTR, zero, elem);
}

Op *lower_replace_op(Lower *L, Op *shell, const Type *const *types, uint32_t num_types, Value *const *operands,
                     uint32_t n) {
  Op *op = op_rebuild(L->ctx, shell, types, num_types, operands, n);
  op_erase(shell);
  return op;
}
