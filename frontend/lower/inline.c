// Inlining of jit functions: each call has its own copy of the body, specialised by its arguments.
#include "frontend/lower/hints.h"
#include "frontend/lower/statements.h"
#include "frontend/lower/term.h"

#include <inttypes.h>
#include <string.h>

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

// Suggests an axis to a reduction that lacks one: the last axis, or axis 0 of a reshaped tensor for all elements. Returns
// false for every other call.
static bool hint_axis(Lower *L, const CallArgs *args, const char *missing, const char *name) {
  const char *fn = lower_source_text_or(L, args->fn_span, NULL);
  if (strcmp(missing, "`axis`") || !fn || !args->node || args->num_args != 1 || args->num_kwargs ||
      !term_is_tensor(args->args[0]))
    return false;
  const CtType *t = term_t(args->args[0]);
  const Node *f = args->node->call.func;
  const bool is_method = args->spans[0].begin == args->fn_span.begin;
  if (is_method && f->kind != NODE_ATTRIBUTE) return false;
  const char *x = lower_source_text_or(L, is_method ? f->attr.first->span : args->spans[0], NULL);
  if (!x || t->rank < 2) return false;
  int64_t n = 1;
  for (uint32_t i = 0; i < t->rank; i++) n *= t->shape[i];
  const char *all = arena_printf(L->arena, "tl.reshape(%s, (%" PRId64 ",))", x, n);
  if (is_method)
    lower_hint(L, "write %s(%u) for the last axis, or %s.%s(0) for all elements", fn, t->rank - 1, all, name);
  else
    lower_hint(L, "write %s(%s, %u) for the last axis, or %s(%s, 0) for all elements", fn, x, t->rank - 1, fn, all);
  return true;
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
      if (!hidden && !hint_axis(L, args, buf_str(missing), fn->name))
        lower_hint_call(L, args, names, is_optional, fn->num_params);
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

Term *lower_inline(Lower *L, CtFunction *fn, CallArgs *args) {
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
