// Functions at compile time: makes them of `def` and lambda, binds arguments to parameters, and calls anything.
#include <string.h>

#include "frontend/comptime/comptime_impl.h"

static bool has_yield_list(const NodeList *list);

// Whether a node yields, nested functions and classes aside.
static bool has_yield(const Node *n) {
  if (!n || n->kind == NODE_FUNCTION_DEF || n->kind == NODE_CLASS_DEF || n->kind == NODE_LAMBDA) return false;
  if (n->kind == NODE_YIELD || n->kind == NODE_YIELD_FROM) return true;
  for (const AstPart *part = ast_parts(n); part->kind; part++) {
    if (part->kind == PART_ONE && has_yield(ast_part_node(n, part))) return true;
    if ((part->kind == PART_MANY || part->kind == PART_BODY) && has_yield_list(ast_part_list(n, part))) return true;
  }
  return false;
}

static bool has_yield_list(const NodeList *list) {
  for (uint32_t i = 0; i < list->count; i++)
    if (has_yield(list->data[i])) return true;
  return false;
}

CtFunction *ct_function_new(Comptime *ct, const Node *def, CtEnv *env) {
  CtFunction *fn = arena_new(ct->arena, CtFunction);
  fn->name = def->kind == NODE_LAMBDA ? "<lambda>" : def->func.name;
  fn->def = def;
  fn->env = env;
  fn->is_generator = def->kind == NODE_FUNCTION_DEF && has_yield_list(&def->func.body);
  fn->num_params = def->func.params.count;
  fn->params = arena_array(ct->arena, CtParam, fn->num_params + 1);
  for (uint32_t i = 0; i < fn->num_params; i++) {
    const Node *p = def->func.params.data[i];
    if (p->kind != NODE_PARAM) return NULL;
    fn->params[i] = (CtParam){.name = p->param.name, .kind = p->param.kind, .node = p};
    if (!p->param.default_value) continue;
    CtValue *v = ct_eval(ct, p->param.default_value, env);
    if (!v) {
      // `x=torch.finfo(…).max`: the default value is missing, not the function.
      if (!ct->error || !ct->error->missing) return NULL;
      v = ct_missing_from(ct, ct->error->missing, "%s", p->param.name);
      ct->error = NULL;
    }
    fn->params[i].default_value = v;
  }
  return fn;
}

CtValue *ct_function_value(Comptime *ct, CtFunction *fn) {
  CtValue *v = ct_new(ct->ctx, CT_FUNCTION);
  v->fn = fn;
  return v;
}

CtValue *ct_bind(Comptime *ct, CtValue *self, CtValue *fn) {
  CtValue *v = ct_new(ct->ctx, CT_METHOD);
  v->method.self = self;
  v->method.fn = fn;
  return v;
}

static bool is_named(const CtParam *p, const char *name) {
  return p->name == name && (p->kind == PARAM_NORMAL || p->kind == PARAM_KEYWORD_ONLY);
}

static bool has_param(const CtFunction *fn, const char *name) {
  for (uint32_t i = 0; i < fn->num_params; i++)
    if (is_named(&fn->params[i], name)) return true;
  return false;
}

// What `**p` gets: the keyword arguments that no other parameter takes.
static CtValue *rest_of_keywords(Comptime *ct, const CtFunction *fn, const CtArgs *a) {
  CtValue *v = ct_dict(ct->ctx);
  for (uint32_t k = 0; k < a->num_kwargs; k++)
    if (!has_param(fn, a->kwargs[k].name)) ct_dict_set_str(ct->ctx, v->dict, a->kwargs[k].name, a->kwargs[k].value);
  return v;
}

// What a parameter other than *args and **kwargs gets: the next positional argument, the keyword argument of its name,
// or its default value.
static CtValue *bind_param(Comptime *ct, const CtFunction *fn, const CtParam *p, const CtArgs *a, uint32_t *used) {
  CtValue *v = p->kind != PARAM_KEYWORD_ONLY && *used < a->num_args ? a->args[(*used)++] : NULL;
  for (uint32_t k = 0; k < a->num_kwargs; k++) {
    if (!is_named(p, a->kwargs[k].name)) continue;
    if (v) return ct_fail(ct, a->span, "TypeError", "%s() got two values for '%s'", fn->name, p->name);
    v = a->kwargs[k].value;
  }
  if (!v) v = p->default_value;
  return v ? v : ct_fail(ct, a->span, "TypeError", "%s() needs a value for '%s'", fn->name, p->name);
}

static bool bind_call(Comptime *ct, const CtFunction *fn, const CtArgs *a, CtEnv *env) {
  uint32_t used = 0;
  bool takes_any_keyword = false;
  for (uint32_t i = 0; i < fn->num_params; i++) {
    const CtParam *p = &fn->params[i];
    CtValue *v;
    if (p->kind == PARAM_VARARGS) {
      v = ct_tuple(ct->ctx, a->args + used, a->num_args - used);
      used = a->num_args;
    } else if (p->kind == PARAM_KWARGS) {
      takes_any_keyword = true;
      v = rest_of_keywords(ct, fn, a);
    } else if (!(v = bind_param(ct, fn, p, a, &used))) {
      return false;
    }
    ct_env_set(ct->ctx, env, p->name, v);
  }
  if (used < a->num_args)
    return ct_fail(ct, a->span, "TypeError", "%s() takes %u positional arguments, not %u", fn->name, used,
                   a->num_args) != NULL;
  for (uint32_t k = 0; k < a->num_kwargs && !takes_any_keyword; k++)
    if (!has_param(fn, a->kwargs[k].name))
      return ct_fail(ct, a->span, "TypeError", "%s() has no parameter '%s'", fn->name, a->kwargs[k].name) != NULL;
  return true;
}

static CtValue *unwrap_deep(Comptime *ct, CtValue *v, int depth) {
  v = ct_unwrap(v);
  if (v->kind != CT_TUPLE || depth > 8) return v;
  CtValue *copy = ct_tuple(ct->ctx, v->list.data, v->list.count);
  for (uint32_t i = 0; i < copy->list.count; i++) copy->list.data[i] = unwrap_deep(ct, copy->list.data[i], depth + 1);
  return copy;
}

static void note_call(Comptime *ct, const CtFunction *fn, Span span) {
  CtError *e = ct->error;
  if (e && e->num_notes < MAX_ERROR_NOTES) {
    e->notes[e->num_notes].span = span;
    e->notes[e->num_notes++].name = fn->name;
  }
}

static CtValue *call_function(Comptime *ct, CtFunction *fn, const CtArgs *a) {
  if (!ct_step(ct, a->span)) return NULL;
  if (fn->role == FN_JIT)
    return ct_missing(ct, fn->name, "a jit function runs in a kernel, not at compile time", a->span);
  if (fn->def->is_async) return ct_unsupported(ct, a->span, "an async function");
  if (ct->depth >= MAX_CALLS) {
    ct_fail(ct, a->span, "RecursionError", "more than %d nested calls of '%s' at compile time", MAX_CALLS, fn->name);
    ct->error->is_fatal = true;
    return NULL;
  }
  CtEnv *env = ct_env_new(ct, fn->env, fn->env->module);
  CtArgs unwrapped = *a;
  if (fn->role == FN_CONSTEXPR) {   // a constexpr function computes on plain values
    CtValue **args = arena_array(ct->arena, CtValue *, a->num_args + 1);
    CtBinding *kwargs = arena_array(ct->arena, CtBinding, a->num_kwargs + 1);
    for (uint32_t i = 0; i < a->num_args; i++) args[i] = unwrap_deep(ct, a->args[i], 0);
    for (uint32_t i = 0; i < a->num_kwargs; i++)
      kwargs[i] = (CtBinding){a->kwargs[i].name, unwrap_deep(ct, a->kwargs[i].value, 0)};
    unwrapped.args = args;
    unwrapped.kwargs = kwargs;
  }
  if (!bind_call(ct, fn, &unwrapped, env)) return NULL;
  CtFrame frame = {.env = env, .caller = ct->frame};
  ct->frame = &frame;
  ct->depth++;
  CtValue *result = NULL;
  if (fn->def->kind == NODE_LAMBDA) {
    result = ct_eval(ct, fn->def->func.body.data[0], env);
  } else if (ct_exec_statements(ct, &fn->def->func.body, env)) {
    result = fn->is_generator ? ct_iterator(ct_list(ct->ctx, frame.yields.data, frame.yields.count), "generator")
             : frame.result   ? frame.result
                              : ct_none();
  }
  ct->depth--;
  ct->frame = frame.caller;
  if (!result) note_call(ct, fn, a->span);
  return result;
}

CtValue *ct_call1(Comptime *ct, CtValue *callee, CtValue *arg, Span span) {
  return ct_call(ct, callee, CT_ARGS(span, arg));
}

CtValue *ct_call(Comptime *ct, CtValue *callee, const CtArgs *a) {
  callee = ct_unwrap(callee);
  switch (callee->kind) {
    case CT_FUNCTION: return call_function(ct, callee->fn, a);
    case CT_BUILTIN: return ct_call_builtin(ct, NULL, callee->builtin.name, a);
    case CT_METHOD: {
      if (callee->method.fn->kind == CT_BUILTIN)
        return ct_call_builtin(ct, callee->method.self, callee->method.fn->builtin.name, a);
      CtValue **args = arena_array(ct->arena, CtValue *, a->num_args + 1);
      args[0] = callee->method.self;
      if (a->num_args) memcpy(args + 1, a->args, a->num_args * sizeof *args);
      CtArgs with_self = *a;
      with_self.args = args;
      with_self.num_args++;
      return ct_call(ct, callee->method.fn, &with_self);
    }
    case CT_CLASS: return ct_instantiate(ct, callee, a);
    case CT_INSTANCE: {
      CtValue *method = ct_class_special(ct, callee, "__call__");
      CtValue bound = {.kind = CT_METHOD, .method = {callee, method}};
      if (method) return ct_call(ct, &bound, a);
      break;
    }
    case CT_MISSING: {
      CtValue *derived = ct_missing_from(ct, callee, "%s(...)", callee->missing.name),
              *fact = ct_target_fact(ct, derived->missing.name);
      return fact ? fact : derived;
    }
    default: break;
  }
  return ct_fail(ct, a->span, "TypeError", "'%s' cannot be called", ct_kind_name(callee));
}
