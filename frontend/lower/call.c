// Calls: their arguments, and what is called: jit functions (inline.c), builtins, classes, compile-time functions.
#include "frontend/lower/gluon.h"
#include "frontend/lower/hints.h"
#include "frontend/lower/term.h"

#include <string.h>

// ---- arguments ----
static NameUse use_of_param(const char *name, size_t size) {
  for (size_t i = 0; i + 5 <= size; i++)
    if (memcmp(name + i, "dtype", 5) == 0) return (NameUse){USE_DTYPE, NULL};
  return (NameUse){USE_VALUE, NULL};
}

// What the positional argument i of a call is used as: the name of its parameter tells.
static NameUse use_of_arg(Lower *L, const Term *callee, uint32_t i) {
  if (callee && callee->kind == TERM_BOUND) return use_of_arg(L, callee->bound.fn, i + 1);
  if (!term_is_const(callee)) return (NameUse){USE_VALUE, NULL};
  const CtValue *c = callee->ct;
  if (c->kind == CT_FUNCTION)
    return i < c->fn->num_params ? use_of_param(c->fn->params[i].name, strlen(c->fn->params[i].name))
                                 : (NameUse){USE_VALUE, NULL};
  const BuiltinRow *row = c->kind == CT_BUILTIN ? builtin_row_of(c->builtin.name) : NULL;
  BuiltinParam p;
  uint32_t k = 0;
  for (const char *s = row ? row->params : ""; (s = builtin_next_param(s, &p)); k++)
    if (k == i) return use_of_param(p.name, p.name_size);
  return (NameUse){USE_VALUE, NULL};
}

// One keyword argument, or the entries of a dict that `**` spreads.
static bool keyword_args(Lower *L, const Node *n, TermList *kwargs, NameVec *keys, SpanList *spans) {
  if (n->attr.name) L->use = use_of_param(n->attr.name, strlen(n->attr.name));
  Term *t = lower_expr(L, n->attr.first);
  if (!t) return false;
  if (n->attr.name) {
    vec_push(L->arena, kwargs, t);
    vec_push(L->arena, keys, n->attr.name);
    vec_push(L->arena, spans, n->span);
    return true;
  }
  if (!term_is_const(t) || t->ct->kind != CT_DICT)
    return lower_error(L, n->span, "`**` spreads a constant dict, not %s", term_describe(L, t)) != NULL;
  for (uint32_t k = 0; k < t->ct->dict->count; k++) {
    const CtEntry *e = &t->ct->dict->entries[k];
    if (e->key->kind != CT_STR) continue;
    vec_push(L->arena, kwargs, term_const(L, e->value));
    vec_push(L->arena, keys, intern(L->ctx, e->key->str.data));
    vec_push(L->arena, spans, n->span);
  }
  return true;
}

bool lower_call_args(Lower *L, const Node *call, const Term *callee, CallArgs *out) {
  TermList args = {0}, kwargs = {0};
  SpanList spans = {0}, key_spans = {0};
  NameVec keys = {0};
  NameUse *uses = arena_array(L->arena, NameUse, call->call.args.count + 1);
  for (uint32_t i = 0; i < call->call.args.count; i++) uses[i] = use_of_arg(L, callee, i);
  bool ok = lower_items(L, &call->call.args, &args, &spans, uses);
  for (uint32_t i = 0; i < call->call.keywords.count; i++)
    ok &= keyword_args(L, call->call.keywords.data[i], &kwargs, &keys, &key_spans);
  *out = (CallArgs){.args = args.data,
                    .spans = spans.data,
                    .num_args = args.count,
                    .keys = keys.data,
                    .kwargs = kwargs.data,
                    .key_spans = key_spans.data,
                    .num_kwargs = kwargs.count,
                    .span = call->span,
                    .fn_span = call->call.func->span,
                    .node = call};
  return ok;
}

Term *lower_call_positional(Lower *L, Term *callee, Term *const *args, uint32_t n, Span span) {
  CallArgs a = {.args = arena_array(L->arena, Term *, n + 1),
                .spans = arena_array(L->arena, Span, n + 1),
                .num_args = n,
                .span = span,
                .fn_span = span};
  for (uint32_t i = 0; i < n; i++) {
    a.args[i] = args[i];
    a.spans[i] = span;
  }
  return lower_call(L, callee, &a);
}

static CallArgs with_self(Lower *L, Term *self, const CallArgs *args) {
  CallArgs a = *args;
  a.num_args = args->num_args + 1;
  a.args = arena_array(L->arena, Term *, a.num_args);
  a.spans = arena_array(L->arena, Span, a.num_args);
  a.args[0] = self;
  a.spans[0] = args->fn_span;
  for (uint32_t i = 0; i < args->num_args; i++) {
    a.args[i + 1] = args->args[i];
    a.spans[i + 1] = args->spans[i];
  }
  return a;
}

// ---- compile-time functions ----
// After a function of the language was called inside fn, which runs at compile time.
static bool hint_jit(Lower *L, const CtValue *fn, const CtValue *missing) {
  if (fn->kind != CT_FUNCTION || !lower_is_call_of_language(missing)) return false;
  const Span at = missing->missing.span, def = fn->fn->def->span;
  if (at.begin < def.begin || at.end > def.end) return false;
  return !lower_hint(L, "`%s` runs at compile time: with %s%s it is a function of kernels", fn->fn->name,
                     lower_decorator(L), fn->fn->role == FN_CONSTEXPR ? " in place of its decorator" : "");
}

static Term *call_comptime(Lower *L, CtValue *fn, CallArgs *args, const char *what) {
  Arena *arena = L->arena;
  CtValue **values = arena_array(arena, CtValue *, args->num_args + 1);
  CtBinding *kwargs = arena_array(arena, CtBinding, args->num_kwargs + 1);
  for (uint32_t i = 0; i < args->num_args + args->num_kwargs; i++) {
    bool kw = i >= args->num_args;
    Term *t = kw ? args->kwargs[i - args->num_args] : args->args[i];
    CtValue *c = term_to_ct(L, t);
    if (!c) {
      lower_error(L, kw ? args->key_spans[i - args->num_args] : args->spans[i],
                  "%s runs at compile time, but this argument is %s", what, term_describe(L, t));
      if (fn->kind == CT_FUNCTION && fn->fn->role == FN_PLAIN)
        diag_note(L->ctx, fn->fn->def->kind == NODE_FUNCTION_DEF ? fn->fn->def->func.name_span : fn->fn->def->span,
                  "`%s` is host code; decorate it with %s to call it on run-time values", fn->fn->name,
                  lower_decorator(L));
      else if (fn->kind == CT_BUILTIN) lower_hint_function(L, fn->builtin.name, t);
      return NULL;
    }
    if (kw) kwargs[i - args->num_args] = (CtBinding){args->keys[i - args->num_args], c};
    else values[i] = c;
  }
  CtValue *r = comptime_call(L->ct, fn, values, args->num_args, kwargs, args->num_kwargs, args->span);
  Term *t = term_found(L, r, args->span);
  if (!t && r && !hint_jit(L, fn, r)) lower_hint_missing(L, r, (NameUse){USE_VALUE, NULL});
  return t;
}

static Term *call_function(Lower *L, CtValue *v, CallArgs *args) {
  CtFunction *fn = v->fn;
  if (fn->role == FN_JIT) return lower_inline(L, fn, args);
  return call_comptime(L, v, args, arena_printf(L->arena, "`%s`", fn->name));
}

// ---- classes ----
static Term *construct_fields(Lower *L, CtClass *cls, CallArgs *args) {
  Term **items = arena_array(L->arena, Term *, cls->num_fields + 1);
  if (args->num_args > cls->num_fields)
    return lower_error(L, args->span, "%s has %u fields, %u are given", cls->name, cls->num_fields, args->num_args);
  for (uint32_t i = 0; i < args->num_args; i++) items[i] = args->args[i];
  for (uint32_t k = 0; k < args->num_kwargs; k++) {
    uint32_t i = 0;
    while (i < cls->num_fields && cls->fields[i].name != args->keys[k]) i++;
    if (i == cls->num_fields)
      return lower_error(L, args->key_spans[k], "%s has no field `%s`", cls->name, args->keys[k]);
    if (items[i]) return lower_error(L, args->key_spans[k], "field `%s` is given twice", args->keys[k]);
    items[i] = args->kwargs[k];
  }
  for (uint32_t i = 0; i < cls->num_fields; i++) {
    if (!items[i] && cls->fields[i].default_value) items[i] = term_const(L, cls->fields[i].default_value);
    if (!items[i]) return lower_error(L, args->span, "field `%s` of %s is not given", cls->fields[i].name, cls->name);
  }
  return term_tuple(L, items, cls->num_fields, cls);
}

static Term *construct(Lower *L, CtValue *v, CallArgs *args) {
  CtClass *cls = v->cls;
  if (cls->form == CLASS_NAMEDTUPLE) return construct_fields(L, cls, args);
  if (cls->form != CLASS_AGGREGATE) return call_comptime(L, v, args, arena_printf(L->arena, "`%s`", cls->name));
  CtValue *init = comptime_get_attr(L->ct, v, intern(L->ctx, "__init__"));
  if (!init || init->kind != CT_FUNCTION) return construct_fields(L, cls, args);
  Term **none = arena_array(L->arena, Term *, cls->num_fields + 1);
  Term *self = term_tuple(L, none, cls->num_fields, cls);
  self->tuple.is_open = true;
  CallArgs a = with_self(L, self, args);
  if (!lower_inline(L, init->fn, &a)) return NULL;
  self->tuple.is_open = false;
  for (uint32_t i = 0; i < cls->num_fields; i++)
    if (!self->tuple.items[i])
      return lower_error(L, args->span, "`%s.__init__` does not set field `%s`", cls->name, cls->fields[i].name);
  return self;
}

// ---- dispatch ----
static Term *call_builtin(Lower *L, CtValue *v, Term *self, CallArgs *args) {
  const char *name = v->builtin.name;
  const BuiltinRow *row = builtin_row_of(name), *instead = row && L->is_gluon ? builtin_find_gluon(row->name) : NULL;
  if (instead) row = instead;
  if (row && !L->is_gluon && builtin_is_gluon(row)) {
    lower_error(L, args->fn_span, "`gl.%s` is for kernels of Gluon, and this kernel is not", row->name);
    return lower_hint(L, "decorate the kernel with @gluon.jit");
  }
  if (row) return builtin_call(L, builtin_overload(row, args), self, args);
  Term *fn = builtin_resolve(L, name);
  if (fn) {
    CallArgs a = self ? with_self(L, self, args) : *args;
    return lower_call(L, fn, &a);
  }
  const bool is_ours =
      strncmp(name, "tl.", 3) == 0 || strncmp(name, "gl.", 3) == 0 || strncmp(name, "libdevice.", 10) == 0;
  if (is_ours && !comptime_has_function(name)) {
    const char *last = strrchr(name, '.') + 1;
    if (!lower_is_blackwell(name)) return lower_no_builtin(L, name, args->fn_span);
    lower_error(L, args->fn_span, "`%s` is of Blackwell GPUs (sm_100), and tilec compiles Gluon for Hopper", last);
    return lower_hint(L, "warpgroup_mma multiplies on Hopper, tma.async_copy_global_to_shared copies");
  }
  CallArgs a = self ? with_self(L, self, args) : *args;
  return call_comptime(L, v, &a, arena_printf(L->arena, "`%s`", name));
}

static Term *call_method(Lower *L, Term *self, Term *fn, CallArgs *args) {
  if (term_is_const(fn) && fn->ct->kind == CT_STR) return lower_call_operator(L, self, fn->ct->str.data, args);
  bool is_half = self->kind == TERM_VALUE && (ct_is_kind(term_t(self), DT_FP16) || ct_is_kind(term_t(self), DT_BF16));
  const CtType *back_to = is_half && builtin_method_takes_half(fn) ? ct_scalar_of(term_t(self)) : NULL;
  if (back_to) self = lower_cast_to(L, self, DT_FP32, args->span);
  CallArgs a = with_self(L, self, args);
  Term *r =
      term_is_const(fn) && fn->ct->kind == CT_BUILTIN ? call_builtin(L, fn->ct, self, args) : lower_call(L, fn, &a);
  return back_to ? lower_cast(L, r, back_to, args->span) : r;
}

Term *lower_call(Lower *L, Term *callee, CallArgs *args) {
  if (!callee) return NULL;
  L->b.span = args->span;
  if (callee->kind == TERM_BOUND) return call_method(L, callee->bound.self, callee->bound.fn, args);
  if (callee->kind == TERM_TUPLE && callee->tuple.cls) {
    Term *m = lower_find_method(L, callee, "__call__");
    if (m) return lower_call(L, m, args);
  }
  if (callee->kind != TERM_CONST) {
    lower_error(L, args->fn_span, "%s cannot be called", term_describe(L, callee));
    if (!args->num_args && !args->num_kwargs) return lower_hint(L, "leave out the parentheses");
    if (callee->kind != TERM_VALUE) return NULL;
    return lower_hint(L, ct_is_ptr(term_t(callee)) ? "load from it: tl.load(p + offsets, mask)"
                         : lower_is_language_name(lower_source_text(L, args->fn_span))
                             ? "a variable of this name hides the function: rename it"
                             : "a product needs its *");
  }
  CtValue *c = callee->ct;
  switch (c->kind) {
  case CT_FUNCTION: return call_function(L, c, args);
  case CT_METHOD: {
    CtValue *fn = c->method.fn;
    if (fn->kind == CT_FUNCTION && fn->fn->role == FN_JIT) {
      CallArgs a = with_self(L, term_const(L, c->method.self), args);
      return lower_inline(L, fn->fn, &a);
    }
    return call_comptime(L, c, args, "this method");
  }
  case CT_BUILTIN: return call_builtin(L, c, NULL, args);
  case CT_CLASS: return construct(L, c, args);
  case CT_DTYPE:
    if (args->num_args == 1 && !args->num_kwargs)
      return lower_cast(L, term_to_value(L, args->args[0], args->spans[0], "the operand of a cast"), c->type,
                        args->span);
    lower_error(L, args->span, "a type is called with one value to cast it");
    return args->num_args || args->num_kwargs ? NULL : lower_hint(L, "leave out the parentheses");
  case CT_MISSING: return term_found(L, c, args->fn_span);
  default:
    lower_error(L, args->fn_span, "%s cannot be called", term_describe(L, callee));
    if (c->kind == CT_STR) return lower_hint(L, "pass the function itself, not its name");
    return args->num_args || args->num_kwargs ? NULL : lower_hint(L, "leave out the parentheses");
  }
}

Term *lower_call_node(Lower *L, const Node *call) {
  L->use = (NameUse){USE_CALLED, NULL};
  Term *callee = lower_expr(L, call->call.func);
  CallArgs args;
  bool ok = lower_call_args(L, call, callee, &args);
  return callee && ok ? lower_call(L, callee, &args) : NULL;
}
