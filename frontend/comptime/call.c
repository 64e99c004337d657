// Functions at compile time: what a `def` or lambda becomes, how arguments are bound to parameters, and calls of
// anything.
#include <string.h>

#include "frontend/comptime/comptime_impl.h"

static bool has_yield_list(const NodeList *list);

// Whether an expression or statement yields, nested functions aside.
static bool has_yield(const Node *n) {
  if (!n) return false;
  switch ((NodeKind)n->kind) {
    case NODE_YIELD: case NODE_YIELD_FROM: return true;
    case NODE_EXPR_STMT: case NODE_RETURN: return has_yield(n->unary.value);
    case NODE_ASSIGN: return has_yield(n->assign.value);
    case NODE_AUG_ASSIGN: return has_yield(n->binary.right);
    case NODE_ANN_ASSIGN: return has_yield(n->ann.value);
    case NODE_IF: return has_yield_list(&n->cond.body) || has_yield_list(&n->cond.orelse);
    case NODE_FOR: case NODE_WHILE: return has_yield_list(&n->loop.body) || has_yield_list(&n->loop.orelse);
    case NODE_WITH: return has_yield_list(&n->with.body);
    case NODE_TRY: {
      if (has_yield_list(&n->try_.body) || has_yield_list(&n->try_.orelse) || has_yield_list(&n->try_.finalbody))
        return true;
      for (uint32_t i = 0; i < n->try_.handlers.count; i++)
        if (has_yield_list(&n->try_.handlers.data[i]->handler.body)) return true;
      return false;
    }
    default: return false;
  }
}

static bool has_yield_list(const NodeList *list) {
  for (uint32_t i = 0; i < list->count; i++)
    if (has_yield(list->data[i])) return true;
  return false;
}

CtFunction *ct_function_new(Comptime *ct, const Node *def, CtEnv *env) {
  CtFunction *fn = arena_new(ct->arena, CtFunction);
  fn->name = fn->qualified_name = def->kind == NODE_LAMBDA ? "<lambda>" : def->func.name;
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
      // vLLM's `x=torch.finfo(…).max`: the default is what is missing, not the function.
      if (!ct->error || !ct->error->missing) return NULL;
      v = ct_missing_from(ct, ct->error->missing, "%s", p->param.name);
      ct->error = NULL;
    }
    fn->params[i].default_value = v;
  }
  return fn;
}

CtValue *ct_function_value(Comptime *ct, CtFunction *fn) {
  CtValue *v = arena_new(ct->arena, CtValue);
  v->kind = CT_FUNCTION;
  v->fn = fn;
  return v;
}

static bool bind_call(Comptime *ct, const CtFunction *fn, const CtArgs *a, CtEnv *env) {
  uint32_t used = 0;
  bool *taken = arena_array(ct->arena, bool, a->num_kwargs + 1);
  for (uint32_t i = 0; i < fn->num_params; i++) {
    const CtParam *p = &fn->params[i];
    CtValue *v = NULL;
    if (p->kind == PARAM_VARARGS) {
      v = ct_tuple(ct->ctx, a->args + used, a->num_args - used);
      used = a->num_args;
    } else if (p->kind == PARAM_KWARGS) {
      v = ct_dict(ct->ctx);
      for (uint32_t k = 0; k < a->num_kwargs; k++) {
        bool named = false;
        for (uint32_t j = 0; j < fn->num_params; j++)
          named |= fn->params[j].name == a->kwargs[k].name &&
                   (fn->params[j].kind == PARAM_NORMAL || fn->params[j].kind == PARAM_KEYWORD_ONLY);
        if (named) continue;
        ct_dict_set_str(ct->ctx, v->dict, a->kwargs[k].name, a->kwargs[k].value);
        taken[k] = true;
      }
    } else {
      if (p->kind != PARAM_KEYWORD_ONLY && used < a->num_args) v = a->args[used++];
      for (uint32_t k = 0; k < a->num_kwargs && p->kind != PARAM_POSITIONAL_ONLY; k++) {
        if (a->kwargs[k].name != p->name) continue;
        if (v) return ct_fail(ct, a->span, "TypeError", "%s() got two values for '%s'", fn->name, p->name) != NULL;
        v = a->kwargs[k].value;
        taken[k] = true;
      }
      if (!v) v = p->default_value;
      if (!v) return ct_fail(ct, a->span, "TypeError", "%s() needs a value for '%s'", fn->name, p->name) != NULL;
    }
    ct_env_set(ct->ctx, env, p->name, v);
  }
  if (used < a->num_args)
    return ct_fail(ct, a->span, "TypeError", "%s() takes %u positional arguments, not %u", fn->name, used,
                   a->num_args) != NULL;
  for (uint32_t k = 0; k < a->num_kwargs; k++)
    if (!taken[k])
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
    return ct_missing(ct, fn->name, "a @triton.jit function runs in a kernel, not at compile time", a->span);
  if (fn->def->is_async) return ct_unsupported(ct, a->span, "an async function");
  if (ct->depth >= MAX_CALLS) {
    ct_fail(ct, a->span, "RecursionError", "more than %d nested calls of '%s' at compile time", MAX_CALLS, fn->name);
    ct->error->is_fatal = true;
    return NULL;
  }
  CtEnv *env = ct_env_new(ct, fn->env, fn->env->module);
  CtArgs unwrapped = *a;
  if (fn->role == FN_CONSTEXPR) {   // works on plain values, whatever it is given
    CtValue **args = arena_array(ct->arena, CtValue *, a->num_args + 1);
    CtBinding *kwargs = arena_array(ct->arena, CtBinding, a->num_kwargs + 1);
    for (uint32_t i = 0; i < a->num_args; i++) args[i] = unwrap_deep(ct, a->args[i], 0);
    for (uint32_t i = 0; i < a->num_kwargs; i++)
      kwargs[i] = (CtBinding){a->kwargs[i].name, unwrap_deep(ct, a->kwargs[i].value, 0)};
    unwrapped.args = args;
    unwrapped.kwargs = kwargs;
  }
  if (!bind_call(ct, fn, &unwrapped, env)) return NULL;
  CtFrame frame = {.env = env, .fn = fn, .caller = ct->frame};
  ct->frame = &frame;
  ct->depth++;
  CtValue *result = NULL;
  if (fn->def->kind == NODE_LAMBDA) {
    result = ct_eval(ct, fn->def->func.body.data[0], env);
  } else if (ct_exec_statements(ct, &fn->def->func.body, env)) {
    result = fn->is_generator ? ct_iterator(ct_list(ct->ctx, frame.yields.data, frame.yields.count), "generator")
             : frame.result   ? frame.result
                              : ct_none(ct->ctx);
  }
  ct->depth--;
  ct->frame = frame.caller;
  if (!result) note_call(ct, fn, a->span);
  return result;
}

CtValue *ct_call1(Comptime *ct, CtValue *callee, CtValue *arg, Span span) {
  return ct_call(ct, callee, &(CtArgs){&arg, 1, NULL, 0, span});
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
