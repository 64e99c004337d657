// Statements and functions.
//
// At module level a statement that fails on a missing value does not end the module: every name that it would have
// bound becomes missing. Inside a called function it ends the call, and the caller's statement fails in turn.
#include <string.h>

#include "frontend/comptime/comptime_impl.h"

typedef enum { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN, FLOW_ERROR } Flow;

static Flow exec_block(Comptime *ct, const NodeList *body, CtEnv *env);
static Flow exec(Comptime *ct, const Node *n, CtEnv *env);
static bool recover(Comptime *ct, const Node *n, CtEnv *env);

// ---- conditions that are not known ----

static bool binds_names_only(Node *n) {
  if (n->kind == NODE_ASSIGN) {
    for (uint32_t i = 0; i < n->assign.targets.count; i++)
      if (n->assign.targets.data[i]->kind != NODE_NAME) return false;
    return true;
  }
  return n->kind == NODE_CLASS_DEF || n->kind == NODE_IF ||
         (n->kind == NODE_ANN_ASSIGN && n->ann.target->kind == NODE_NAME) ||
         ct_only_declares(&(NodeList){.data = &n, .count = 1});
}

// Runs one branch of an `if` whose condition is not known: statements that can only bind names run, and what the
// others would change becomes missing.
static Flow exec_guarded(Comptime *ct, const NodeList *body, const CtValue *cause, CtEnv *env) {
  for (uint32_t i = 0; i < body->count; i++) {
    if (!binds_names_only(body->data[i])) {
      ct_forget(ct, body->data[i], cause, env);
      continue;
    }
    Flow flow = exec(ct, body->data[i], env);
    if (flow == FLOW_ERROR && recover(ct, body->data[i], env)) continue;
    if (flow != FLOW_NEXT) return flow;
  }
  return FLOW_NEXT;
}

static bool is_declared(const CtValue *v) {
  return v->kind == CT_FUNCTION || v->kind == CT_CLASS || v->kind == CT_MODULE || v->kind == CT_BUILTIN;
}

static const CtBinding *copy_bindings(Comptime *ct, const CtEnv *env) {
  CtBinding *copy = arena_array(ct->arena, CtBinding, env->count + 1);
  if (env->count) memcpy(copy, env->bindings, env->count * sizeof *copy);
  return copy;
}

// Runs both branches of an `if` whose condition is not known (a version, a device property). A function, class or
// module of the first branch wins if it is usable. Any other name has a value afterwards only if one branch alone
// binds it and no statement before does: the code that uses it was defined in the same branch.
static Flow exec_unknown_if(Comptime *ct, const Node *n, const CtValue *cause, CtEnv *env) {
  uint32_t num_before = env->count;
  const CtBinding *before = copy_bindings(ct, env);
  if (exec_guarded(ct, &n->cond.orelse, cause, env) == FLOW_ERROR) return FLOW_ERROR;
  uint32_t num_between = env->count;
  const CtBinding *between = copy_bindings(ct, env);
  if (exec_guarded(ct, &n->cond.body, cause, env) == FLOW_ERROR) return FLOW_ERROR;
  for (uint32_t i = 0; i < num_between; i++) {
    CtBinding *b = &env->bindings[i];
    if (b->value->kind == CT_MISSING && is_declared(between[i].value)) b->value = between[i].value;
    const CtValue *other = i < num_before ? before[i].value : between[i].value;
    if (b->value != other && !is_declared(b->value))
      b->value = ct_missing(ct, b->name, cause->missing.why, cause->missing.span);
  }
  return FLOW_NEXT;
}

// ---- exceptions ----

static Flow exec_try(Comptime *ct, const Node *n, CtEnv *env) {
  bool must_raise = ct_import_must_raise(n);
  Flow flow = FLOW_NEXT;
  ct->tries += n->try_.handlers.count > 0;
  for (uint32_t i = 0; i < n->try_.body.count && flow == FLOW_NEXT; i++) {
    const Node *s = n->try_.body.data[i];
    flow = exec(ct, s, env);
    if (flow == FLOW_NEXT && must_raise && (s->kind == NODE_IMPORT || s->kind == NODE_IMPORT_FROM) &&
        !ct_import_check(ct, s, env))
      flow = FLOW_ERROR;
  }
  ct->tries -= n->try_.handlers.count > 0;
  if (flow == FLOW_NEXT) flow = exec_block(ct, &n->try_.orelse, env);
  else if (flow == FLOW_ERROR && !ct->error->is_fatal && !ct->error->missing) {
    const CtError *e = ct->error;
    for (uint32_t i = 0; i < n->try_.handlers.count; i++) {
      const Node *h = n->try_.handlers.data[i];
      if (!ct_handler_matches(ct, e, h->handler.type, env)) continue;
      const CtError *outer = ct->handled;
      ct->error = NULL;
      ct->handled = e;
      if (h->handler.name) ct_env_set(ct->ctx, env, h->handler.name, ct_exception_value(ct, e));
      flow = exec_block(ct, &h->handler.body, env);
      ct->handled = outer;
      break;
    }
  }
  if (!n->try_.finalbody.count || (ct->error && ct->error->is_fatal)) return flow;
  CtError *pending = ct->error;
  ct->error = NULL;
  Flow last = exec_block(ct, &n->try_.finalbody, env);
  if (last != FLOW_NEXT) return last;
  ct->error = pending;
  return flow;
}

static Flow exec_raise(Comptime *ct, const Node *n, CtEnv *env) {
  if (!n->pair.first) {
    if (ct->handled) {
      ct->error = arena_new(ct->arena, CtError);
      *ct->error = *ct->handled;
    } else {
      ct_fail(ct, n->span, "RuntimeError", "there is no exception to raise again");
    }
    return FLOW_ERROR;
  }
  CtValue *v = ct_eval(ct, n->pair.first, env);
  if (!v) return FLOW_ERROR;
  if (v->kind == CT_BUILTIN || v->kind == CT_CLASS) v = ct_call(ct, v, &(CtArgs){.span = n->span});
  if (!v) return FLOW_ERROR;
  if (v->kind != CT_INSTANCE) {
    if (v->kind == CT_MISSING) ct_fail_missing(ct, n->span, v);
    else ct_fail(ct, n->span, "TypeError", "'%s' cannot be raised", ct_kind_name(v));
    return FLOW_ERROR;
  }
  CtValue *args = ct_attr(ct, v, "args");
  const bool has_args = args && args->kind == CT_TUPLE && args->list.count;
  const char *message = !has_args               ? ""
                        : args->list.count == 1 ? ct_to_str(ct->ctx, args->list.data[0])
                                                : ct_repr(ct->ctx, args);
  ct_fail(ct, n->span, v->instance->cls->name, "%s", message);
  ct->error->exception = v;
  return FLOW_ERROR;
}

// ---- definitions ----

// Whether an error came up in another file than the module's.
static bool is_elsewhere(const Comptime *ct, const CtError *e, const CtModule *module) {
  const SourceFile *file = source_locate(ct->ctx, e->span.begin).file;
  return file && file != module->file;
}

// A decorator leaves a jit function unchanged if it is missing (@libentry(), @torch.compile), fails in another file,
// or wraps the function: it concerns the launch, which is the host's.
static CtValue *decorate(Comptime *ct, const NodeList *decorators, CtValue *v, CtEnv *env) {
  for (uint32_t i = decorators->count; v && i-- > 0;) {
    const Node *d = decorators->data[i];
    bool is_jit = v->kind == CT_FUNCTION && v->fn->role != FN_PLAIN;
    CtValue *decorator = ct_eval(ct, d, env);
    CtValue *decorated = decorator ? ct_call1(ct, decorator, v, d->span) : NULL;
    const CtError *e = decorated ? NULL : ct->error;
    if (is_jit && e && !e->is_fatal && (e->missing || (!e->exception && is_elsewhere(ct, e, env->module)))) {
      ct->error = NULL;
      continue;
    }
    bool is_wrapped = decorated && (decorated->kind != CT_FUNCTION || decorated->fn->role == FN_PLAIN);
    if (is_jit && is_wrapped) continue;
    v = decorated;
  }
  return v;
}

static Flow exec_def(Comptime *ct, const Node *n, CtEnv *env) {
  CtFunction *fn = ct_function_new(ct, n, env);
  CtValue *v = fn ? decorate(ct, &n->func.decorators, ct_function_value(ct, fn), env) : NULL;
  if (!v) return FLOW_ERROR;
  ct_env_set(ct->ctx, env, n->func.name, v);
  return FLOW_NEXT;
}

static Flow exec_class(Comptime *ct, const Node *n, CtEnv *env) {
  CtValue *v = ct_class_new(ct, n, env);
  if (v) v = decorate(ct, &n->cls.decorators, v, env);
  if (!v) return FLOW_ERROR;
  ct_env_set(ct->ctx, env, n->cls.name, v);
  return FLOW_NEXT;
}

// ---- loops ----

// A loop at module level continues after a statement that could not run; only a failure of the loop itself ends it.
static Flow loop_flow(Flow body, bool *leave) {
  *leave = body == FLOW_BREAK || body == FLOW_RETURN || body == FLOW_ERROR;
  return body == FLOW_RETURN || body == FLOW_ERROR ? body : FLOW_NEXT;
}

static Flow exec_for(Comptime *ct, const Node *n, CtEnv *env) {
  CtValue *iter = ct_eval(ct, n->loop.iter, env);
  CtCursor cursor;
  if (!iter || !ct_cursor_open(ct, &cursor, iter, n->loop.iter->span)) return FLOW_ERROR;
  for (CtValue *item; ct_cursor_next(&cursor, &item);) {
    bool leave;
    if (!ct_step(ct, n->span) || !ct_assign(ct, n->loop.target, item, env)) return FLOW_ERROR;
    Flow flow = loop_flow(exec_block(ct, &n->loop.body, env), &leave);
    if (leave) return flow;
  }
  return exec_block(ct, &n->loop.orelse, env);
}

static Flow exec_while(Comptime *ct, const Node *n, CtEnv *env) {
  for (;;) {
    bool go, leave;
    CtValue *test = ct_step(ct, n->span) ? ct_eval(ct, n->loop.iter, env) : NULL;
    if (!test || !ct_truth(ct, test, n->loop.iter->span, &go)) return FLOW_ERROR;
    if (!go) return exec_block(ct, &n->loop.orelse, env);
    Flow flow = loop_flow(exec_block(ct, &n->loop.body, env), &leave);
    if (leave) return flow;
  }
}

// ---- the rest ----

static Flow ok_or_error(bool ok) { return ok ? FLOW_NEXT : FLOW_ERROR; }

static Flow exec_if(Comptime *ct, const Node *n, CtEnv *env) {
  CtValue *test = ct_eval(ct, n->cond.test, env);
  bool b;
  if (test && ct_truth(ct, test, n->cond.test->span, &b))
    return exec_block(ct, b ? &n->cond.body : &n->cond.orelse, env);
  if (!ct->frame && ct->error->missing && !ct->error->is_fatal) {
    const CtValue *cause = ct->error->missing;
    ct->error = NULL;
    return exec_unknown_if(ct, n, cause, env);
  }
  return FLOW_ERROR;
}

// Changes a list, set or dictionary in place, for += and its like. NULL without an error if the value has no such
// operator.
static CtValue *change_in_place(Comptime *ct, PyOp op, CtValue *v, CtValue *by, Span span) {
  const bool is_list = v->kind == CT_LIST, is_collection = v->kind == CT_SET || v->kind == CT_DICT;
  if (is_list && op == PYOP_ADD) {
    CtList items;
    if (!ct_iterate(ct, by, span, &items) || !ct_grow(ct, (size_t)v->list.count + items.count, span)) return NULL;
    ct_extend(ct, &v->list, &items);
    return v;
  }
  if (!(is_list && op == PYOP_MUL) && !(is_collection && by->kind == v->kind)) return NULL;
  CtValue *r = ct_binary(ct, op, v, by, span);
  if (!r || r->kind != v->kind) return r;
  if (is_list) v->list = r->list;
  else v->dict = r->dict;
  return v;
}

static Flow exec_aug(Comptime *ct, const Node *n, CtEnv *env) {
  const Node *target = n->binary.left;
  CtValue *object = NULL, *index = NULL, *left;   // the target is evaluated once
  switch (target->kind) {
    case NODE_ATTRIBUTE:
      object = ct_eval(ct, target->attr.first, env);
      left = object ? ct_get_attr(ct, object, target->attr.name, target->span) : NULL;
      break;
    case NODE_SUBSCRIPT:
      object = ct_eval(ct, target->pair.first, env);
      index = object ? ct_eval(ct, target->pair.second, env) : NULL;
      left = index ? ct_subscript(ct, object, index, target->span) : NULL;
      break;
    default: left = ct_eval(ct, target, env); break;
  }
  CtValue *right = left ? ct_eval(ct, n->binary.right, env) : NULL;
  CtValue *v = right ? change_in_place(ct, (PyOp)n->op, left, right, n->span) : NULL;
  if (!v && right && !ct->error) v = ct_binary(ct, (PyOp)n->op, left, right, n->span);
  if (!v) return FLOW_ERROR;
  if (index) return ok_or_error(ct_store_subscript(ct, object, index, v, target->span));
  if (object) return ok_or_error(ct_set_attr(ct, object, target->attr.name, v, target->span));
  return ok_or_error(ct_assign(ct, target, v, env));
}

static Flow exec_assert(Comptime *ct, const Node *n, CtEnv *env) {
  CtValue *test = ct_eval(ct, n->pair.first, env);
  bool ok;
  if (!test || !ct_truth(ct, test, n->pair.first->span, &ok)) return FLOW_ERROR;
  if (ok) return FLOW_NEXT;
  CtValue *message = n->pair.second ? ct_eval(ct, n->pair.second, env) : NULL;
  if (n->pair.second && !message) return FLOW_ERROR;
  ct_fail(ct, n->span, "AssertionError", "assertion failed%s%s", message ? ": " : "",
          message ? ct_to_str(ct->ctx, message) : "");
  ct->error->argument = message ? message : ct_str(ct->ctx, "");
  return FLOW_ERROR;
}

static bool exec_delete(Comptime *ct, const Node *target, CtEnv *env) {
  switch (target->kind) {
    case NODE_SUBSCRIPT: {
      CtValue *v = ct_eval(ct, target->pair.first, env), *index = v ? ct_eval(ct, target->pair.second, env) : NULL;
      return index && ct_delete_subscript(ct, v, index, target->span);
    }
    case NODE_TUPLE: case NODE_LIST:
      for (uint32_t i = 0; i < target->list.count; i++)
        if (!exec_delete(ct, target->list.data[i], env)) return false;
      return true;
    case NODE_NAME: {
      CtValue *gone = ct_missing(ct, target->name.id, "it was deleted", target->span);
      ct_env_set(ct->ctx, env, target->name.id, gone);
      return true;
    }
    default: return ct_unsupported(ct, target->span, "this del") != NULL;
  }
}

static Flow exec(Comptime *ct, const Node *n, CtEnv *env) {
  if (!ct_step(ct, n->span)) return FLOW_ERROR;
  switch ((NodeKind)n->kind) {
    case NODE_EXPR_STMT: return ok_or_error(ct_eval(ct, n->unary.value, env) != NULL);
    case NODE_ASSIGN: {
      CtValue *v = ct_eval(ct, n->assign.value, env);
      for (uint32_t i = 0; v && i < n->assign.targets.count; i++)
        if (!ct_assign(ct, n->assign.targets.data[i], v, env)) return FLOW_ERROR;
      return ok_or_error(v != NULL);
    }
    case NODE_ANN_ASSIGN: {
      CtValue *v = n->ann.value ? ct_eval(ct, n->ann.value, env) : NULL;
      return ok_or_error(!n->ann.value || (v && ct_assign(ct, n->ann.target, v, env)));
    }
    case NODE_AUG_ASSIGN: return exec_aug(ct, n, env);
    case NODE_RETURN: {
      CtValue *v = n->unary.value ? ct_eval(ct, n->unary.value, env) : ct_none();
      if (v && ct->frame) ct->frame->result = v;
      return v ? FLOW_RETURN : FLOW_ERROR;
    }
    case NODE_FUNCTION_DEF: return exec_def(ct, n, env);
    case NODE_CLASS_DEF: return exec_class(ct, n, env);
    case NODE_IF: return exec_if(ct, n, env);
    case NODE_FOR: return exec_for(ct, n, env);
    case NODE_WHILE: return exec_while(ct, n, env);
    case NODE_TRY: return exec_try(ct, n, env);
    case NODE_RAISE: return exec_raise(ct, n, env);
    case NODE_ASSERT: return exec_assert(ct, n, env);
    case NODE_IMPORT: return ok_or_error(ct_exec_import(ct, n, env));
    case NODE_IMPORT_FROM: return ok_or_error(ct_exec_import_from(ct, n, env));
    case NODE_GLOBAL: case NODE_NONLOCAL:
      for (uint32_t i = 0; i < n->names.count; i++)
        vec_push(ct->arena, n->kind == NODE_GLOBAL ? &env->globals : &env->nonlocals, n->names.data[i]);
      return FLOW_NEXT;
    case NODE_DELETE:
      for (uint32_t i = 0; i < n->list.count; i++)
        if (!exec_delete(ct, n->list.data[i], env)) return FLOW_ERROR;
      return FLOW_NEXT;
    case NODE_TYPE_ALIAS:   // Python computes its value on demand, and no code here demands it
      ct_env_set(ct->ctx, env, n->attr.name, ct_missing(ct, n->attr.name, "it is a type alias", n->span));
      return FLOW_NEXT;
    case NODE_PASS: return FLOW_NEXT;
    case NODE_BREAK: return FLOW_BREAK;
    case NODE_CONTINUE: return FLOW_CONTINUE;
    default:
      ct_unsupported(ct, n->span, ast_kind_name((NodeKind)n->kind));
      return FLOW_ERROR;
  }
}

static bool is_python_file(const SourceFile *file) {
  size_t n = strlen(file->path);
  return n >= 3 && !strcmp(file->path + n - 3, ".py");
}

// Whether an error belongs to the host program, which Python runs: it arose in a file that the kernels' file imports,
// or in a Python file in code that the evaluator cannot run. It is the user's error if the file raises it itself (an
// ImportError aside: it repeats that a module is missing), if it is an assertion of the kernels' file, or if a
// decorator of a kernel causes it.
static bool is_foreign(Comptime *ct, const CtError *e, const Node *n, CtEnv *env) {
  const CtModule *module = env->module;
  if (e->exception) return ct_exception_matches(e->type, "ImportError");
  if (module->is_imported || is_elsewhere(ct, e, module)) return true;
  if (!is_python_file(module->file) || !strcmp(e->type, "AssertionError")) return false;
  return n->kind != NODE_FUNCTION_DEF || !comptime_is_for_kernels(ct, n, env);
}

// The note for a kernel that uses a name of the failed statement: what Python would have said at the import.
static const char *why_import_failed(Comptime *ct, const Node *n, const CtError *e, const CtModule *module) {
  const NodeList *decorators = n->kind == NODE_FUNCTION_DEF ? &n->func.decorators
                               : n->kind == NODE_CLASS_DEF  ? &n->cls.decorators
                                                            : NULL;
  const Loc begin = decorators && decorators->count ? decorators->data[0]->span.begin : n->span.begin;
  const bool in_call = e->span.begin < begin || e->span.begin >= n->span.end;
  const char *where =
      in_call ? arena_printf(ct->arena, ", called from line %u", source_locate(ct->ctx, n->span.begin).line) : "";
  if (!module->is_imported)
    return arena_printf(ct->arena, "this fails at compile time%s: %s: %s%s%s", where, e->type, e->message,
                        e->hint ? "; " : "", e->hint ? e->hint : "");
  return arena_printf(ct->arena, "importing '%s' fails here%s: %s: %s", module->name, where, e->type, e->message);
}

// At module level, continues after a statement that needs a missing value; in an imported module, after any failure.
static bool recover(Comptime *ct, const Node *n, CtEnv *env) {
  const CtError *e = ct->error;
  if (ct->frame || e->is_fatal || (!e->missing && (ct->tries || !is_foreign(ct, e, n, env)))) return false;
  const CtValue *cause =
      e->missing ? e->missing : ct_missing(ct, "", why_import_failed(ct, n, e, env->module), e->span);
  ct->error = NULL;
  ct_forget(ct, n, cause, env);
  return true;
}

static Flow exec_block(Comptime *ct, const NodeList *body, CtEnv *env) {
  for (uint32_t i = 0; i < body->count; i++) {
    Flow flow = exec(ct, body->data[i], env);
    if (flow == FLOW_ERROR && recover(ct, body->data[i], env)) continue;
    if (flow != FLOW_NEXT) return flow;
  }
  return FLOW_NEXT;
}

bool ct_exec_statements(Comptime *ct, const NodeList *body, CtEnv *env) {
  return exec_block(ct, body, env) != FLOW_ERROR;
}

static void bind(Comptime *ct, const CtModule *module, const char *name, CtValue *value) {
  ct_env_set(ct->ctx, module->env, intern(ct->ctx, name), value);
}

// Binds __path__ and __package__: a package has its folder and its own name, another module its package's name.
static void set_package(Comptime *ct, CtModule *module) {
  const char *path = module->file->path, *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path,
             *name = module->name;
  bool is_package = !strcmp(base, "__init__.py");
  const char *dot = strrchr(name, '.');
  CtValue *folder = ct_str(ct->ctx, slash ? arena_strndup(ct->arena, path, (size_t)(slash - path)) : ".");
  if (is_package) bind(ct, module, "__path__", ct_list(ct->ctx, &folder, 1));
  else name = dot ? arena_strndup(ct->arena, name, (size_t)(dot - name)) : "";
  bind(ct, module, "__package__", ct_str(ct->ctx, name));
}

bool ct_exec_top_level(Comptime *ct, const NodeList *body, CtEnv *env) {
  CtFrame *caller = ct->frame;
  const uint32_t tries = ct->tries;
  ct->frame = NULL;
  ct->tries = 0;
  bool ok = exec_block(ct, body, env) != FLOW_ERROR;
  ct->frame = caller;
  ct->tries = tries;
  return ok;
}

bool ct_exec_module(Comptime *ct, CtModule *module) {
  bind(ct, module, "__name__", ct_str(ct->ctx, module->name));
  bind(ct, module, "__file__", ct_str(ct->ctx, module->file->path));
  bind(ct, module, "__doc__", ct_none());
  set_package(ct, module);
  return ct_exec_top_level(ct, &module->tree->block, module->env);
}
