// Calls: arguments, inlining of jit functions (each call has its own copy, specialised by its arguments), classes, and
// compile-time functions.
#include "frontend/lower/lower.h"

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

// ---- inlining ----
// The keyword arguments that no parameter took, for `**kwargs`. NULL after diagnostics.
static Term *bind_kwargs(Lower *L, const CtParam *p, CallArgs *args, bool *used) {
  CtValue *d = ct_dict(L->ctx);
  bool ok = true;
  for (uint32_t k = 0; k < args->num_kwargs; k++) {
    if (used[k]) continue;
    used[k] = true;
    CtValue *c = term_to_ct(L, args->kwargs[k]);
    if (c) ct_dict_set_str(L->ctx, d->dict, args->keys[k], c);
    else ok = lower_error(L, args->key_spans[k], "`**%s` of a jit function takes constants only", p->name) != NULL;
  }
  return ok ? term_const(L, d) : NULL;
}

// An argument for a parameter of the language's functions.
static const char *placeholder(const char *name) {
  static const char *const texts[][2] = {{"axis", "0"},    {"dim", "0"},            {"start", "0"},
                                         {"end", "BLOCK"}, {"dtype", "tl.float32"}, {"shape", "[BLOCK]"},
                                         {"order", "(1, 0)"}};
  for (size_t i = 0; i < countof(texts); i++)
    if (!strcmp(name, texts[i][0])) return texts[i][1];
  return name;
}

void lower_hint_call(Lower *L, const CallArgs *args, const char *const *names, const bool *is_optional,
                     uint32_t count) {
  const char *fn = lower_source_text_or(L, args->fn_span, NULL);
  if (!fn || !args->node || lower_in_prelude(L, args->span)) return;
  for (uint32_t i = 0; i < args->node->call.args.count; i++)
    if (args->node->call.args.data[i]->kind == NODE_STARRED) return;
  Buf b = buf_make(L->arena);
  uint32_t next = 0;
  bool by_name = false;
  // arange(N) counts from 0, as Python's range does.
  const bool is_end = args->num_args == 1 && count >= 2 && !strcmp(names[0], "start") && !strcmp(names[1], "end");
  if (is_end) buf_puts(&b, ", 0");
  for (; next < args->num_args; next++)
    if (args->spans[next].begin != args->fn_span.begin)   // the object of a method
      buf_printf(&b, ", %s", lower_source_text(L, args->spans[next]));
  for (next += is_end; next < count; next++) {
    const char *name = names[next], *text = NULL;
    for (uint32_t k = 0; k < args->num_kwargs; k++)
      if (!strcmp(args->keys[k], name)) text = lower_source_text(L, args->key_spans[k]);
    if (text || is_optional[next]) by_name = true;
    if (!text && is_optional[next]) continue;
    if (text) buf_printf(&b, ", %s", text);
    else buf_printf(&b, by_name ? ", %s=%s" : ", %.0s%s", name, placeholder(name));
  }
  lower_hint(L, "write %s(%s)", fn, b.size > 2 ? buf_str(&b) + 2 : "");
}

// What is wrong with the arguments once each parameter has taken its own: positional ones left from `next` on, keywords
// that none took, and parameters that got nothing.
static bool report_unbound(Lower *L, const CtFunction *fn, const CallArgs *args, uint32_t next, const bool *used,
                           Buf *missing) {
  bool ok = next >= args->num_args && !missing->size;
  for (uint32_t k = 0; k < args->num_kwargs; k++) ok &= used[k];
  if (ok) return true;
  ok = true;
  // A function of the prelude for several names, add_rz and add_rn, has a first argument that tells them apart.
  const bool in_prelude = lower_in_prelude(L, fn->def->span);
  const uint32_t hidden = fn->def->kind == NODE_FUNCTION_DEF && in_prelude && fn->def->func.name != fn->name;
  const char **names = arena_array(L->arena, const char *, fn->num_params + 1);
  bool *is_optional = arena_array(L->arena, bool, fn->num_params + 1);
  Buf all = buf_make(L->arena);
  for (uint32_t i = 0; i < fn->num_params; i++) {
    names[i] = fn->params[i].name;
    is_optional[i] = fn->params[i].default_value != NULL || fn->params[i].kind == PARAM_VARARGS ||
                     fn->params[i].kind == PARAM_KWARGS;
    if (i >= hidden) buf_printf(&all, "%s%s", i > hidden ? ", " : "", names[i]);
  }
  if (next < args->num_args) {
    uint32_t most = 0;
    for (uint32_t i = hidden; i < fn->num_params; i++) most += fn->params[i].kind < PARAM_VARARGS;
    const uint32_t given = args->num_args - hidden;
    lower_error(L, args->spans[next], "`%s` takes %u positional argument%s, %u %s given", fn->name, most,
                most == 1 ? "" : "s", given, given == 1 ? "is" : "are");
    if (in_prelude) lower_hint(L, "its parameters: %s", buf_str(&all));
    else if (most + hidden < fn->num_params)
      lower_hint(L, "what stands after `*` is given by its name: %s=…", names[most + hidden]);
    ok = false;
  }
  for (uint32_t k = 0; k < args->num_kwargs; k++) {
    if (used[k]) continue;
    lower_error(L, args->key_spans[k], "`%s` has no parameter `%s`", fn->name, args->keys[k]);
    lower_hint_param(L, args->keys[k], buf_str(&all), names, fn->num_params);
    if (ok && missing->size) lower_hint(L, "what has no value is %s", buf_str(missing));
    ok = false;
  }
  // A parameter may lack its value because that has the wrong name.
  if (missing->size && ok) {
    lower_error(L, args->span, "the call of `%s` lacks %s", fn->name, buf_str(missing));
    if (in_prelude) {
      lower_hint(L, "its parameters: %s", buf_str(&all));
      if (!hidden) lower_hint_call(L, args, names, is_optional, fn->num_params);
    } else if (fn->def->kind == NODE_FUNCTION_DEF) {
      diag_note(L->ctx, fn->def->func.name_span, "`%s` is defined here", fn->name);
    }
    ok = false;
  }
  return ok;
}

// The argument of a parameter that is neither *args nor **kwargs, or its default value; NULL if it has neither. *next:
// the first positional argument that no parameter has taken. *span: where the argument is.
static Term *take_argument(Lower *L, const CtFunction *fn, const CtParam *p, const CallArgs *args, uint32_t *next,
                           bool *used, Span *span, bool *ok) {
  Term *t = NULL;
  if (p->kind != PARAM_KEYWORD_ONLY && *next < args->num_args) {
    *span = args->spans[*next];
    t = args->args[(*next)++];
  }
  for (uint32_t k = 0; k < args->num_kwargs && p->kind != PARAM_POSITIONAL_ONLY; k++) {
    if (args->keys[k] != p->name) continue;
    if (t) {
      lower_error(L, args->key_spans[k], "`%s` is given twice to `%s`", p->name, fn->name);
      *ok = false;
    }
    used[k] = true;
    *span = args->key_spans[k];
    t = args->kwargs[k];
  }
  return !t && p->default_value ? term_const(L, p->default_value) : t;
}

static bool bind_params(Lower *L, CtFunction *fn, CallArgs *args, Scope *scope) {
  Arena *arena = L->arena;
  uint32_t next = 0;
  bool *used = arena_array(arena, bool, args->num_kwargs + 1);
  bool ok = true;
  Buf missing = buf_make(arena);
  for (uint32_t i = 0; i < fn->num_params; i++) {
    const CtParam *p = &fn->params[i];
    Term *t = NULL;
    Span span = args->span;
    if (p->kind == PARAM_VARARGS) {
      TermList rest = {0};
      while (next < args->num_args) vec_push(arena, &rest, args->args[next++]);
      t = term_tuple(L, rest.data, rest.count, NULL);
    } else if (p->kind == PARAM_KWARGS) {
      if (!(t = bind_kwargs(L, p, args, used))) {
        ok = false;
        continue;
      }
    } else if (!(t = take_argument(L, fn, p, args, &next, used, &span, &ok))) {
      buf_printf(&missing, "%s`%s`", missing.size ? ", " : "", p->name);
      continue;
    }
    if (p->is_constexpr) t = term_recall(L, t);
    // As in Triton, a function's constexpr parameter also takes a run-time value: what needs a constant in the body
    // reports it.
    bool is_constant = p->is_constexpr && (t->kind == TERM_TUPLE || term_to_ct(L, t));
    scope_set(L, scope, p->name, t, p->node ? p->node->span : span, is_constant ? VAR_CONSTEXPR : 0);
  }
  return report_unbound(L, fn, args, next, used, &missing) && ok;
}

static Term *function_result(Lower *L, Frame *f, Span span) {
  Scope *s = &f->scope;
  FlagState flow = scope_flow(s);
  if (f->failed_return) return NULL;
  if (flow == FLAG_NO || !s->ret) return flow != FLAG_NO && !s->ret ? NULL : term_none(L);
  if (flow == FLAG_MAYBE && !term_is_none(s->ret))
    diag_warning(L->ctx, WARN_RETURN_TYPE, span,
                 "`%s` returns %s on one path and nothing on another, where its result is undefined", f->fn->name,
                 term_describe(L, s->ret));
  return s->ret;
}

static void find_return(const Node *n, void *user) {
  if (n->kind == NODE_RETURN && n->unary.value) *(bool *)user = true;
  else if (n->kind != NODE_FUNCTION_DEF && n->kind != NODE_LAMBDA) ast_each_child(n, find_return, user);
}

// Whether some `return` in it has a value, be it None.
static bool returns_value(const CtFunction *fn) {
  bool found = false;
  ast_each_child(fn->def, find_return, &found);
  return found;
}

void lower_visit(Lower *L, const CtFunction *fn) {
  MapSlot *seen = map_at(L->arena, &L->is_visited, fn->def);
  if (seen->number++ || fn->def->kind != NODE_FUNCTION_DEF || lower_in_prelude(L, fn->def->span)) return;
  vec_push(L->arena, &L->visited, fn->def);
}

static Term *inline_function(Lower *L, CtFunction *fn, CallArgs *args) {
  if (L->gave_up) return NULL;
  if (L->depth >= MAX_INLINE_DEPTH) {
    L->gave_up = true;
    lower_error(L, args->span, "calls of `%s` nest deeper than %d", fn->name, MAX_INLINE_DEPTH);
    return lower_hint(L, "functions are inlined, so a recursion must be ended by a condition known at compile time");
  }
  if (fn->is_generator) return lower_error(L, args->span, "`%s` is a generator; kernels cannot call it", fn->name);
  Frame frame = {.fn = fn, .caller = L->frame};
  if (!bind_params(L, fn, args, &frame.scope)) return NULL;
  CallSite *site = arena_new(L->arena, CallSite);
  *site = (CallSite){args->span, fn->name, L->b.inlined_at};
  Span span = L->b.span;
  L->b.inlined_at = site;
  lower_visit(L, fn);
  L->frame = &frame;
  L->depth++;
  Term *r;
  if (fn->def->kind == NODE_LAMBDA) {
    r = lower_expr(L, fn->def->func.body.data[0]);
  } else {
    Cont k = {&fn->def->func.body, 0, NULL};
    LiveOut out = {NULL, true};
    uint32_t errors = diag_error_count(L->ctx);
    lower_stmts(L, &k, &out);
    r = function_result(L, &frame, args->span);
    if (r && term_is_none(r) && diag_error_count(L->ctx) > errors) r = NULL;
  }
  L->depth--;
  // Back in the kernel, lowering goes on after a nesting limit, because what follows may be right.
  if (!L->depth && L->num_stmts < L->fe->max_statements) L->gave_up = false;
  L->frame = frame.caller;
  L->b.inlined_at = site->outer;
  L->b.span = span;
  bool by_user = !lower_in_prelude(L, args->span) && !lower_in_prelude(L, fn->def->span);
  if (!by_user || fn->def->kind == NODE_LAMBDA) return r;
  if (r && term_is_none(r) && !returns_value(fn)) r->result_of = fn;
  r = term_returned(L, r, args->span);
  if (r && r->kind == TERM_TUPLE && !r->tuple.cls && fn->def->kind == NODE_FUNCTION_DEF) {
    r->result_of = fn;
    r->tuple.num_returned = r->tuple.count;
  }
  return r;
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
  if (fn->role == FN_JIT) return inline_function(L, fn, args);
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
  if (!inline_function(L, init->fn, &a)) return NULL;
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
      return inline_function(L, fn->fn, &a);
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
