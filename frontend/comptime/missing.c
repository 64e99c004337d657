// A statement that cannot run because it needs a missing value (torch, a device, the host) is forgotten: the names that
// it would have bound are bound to missing values, and only a kernel that uses them fails.
#include <string.h>

#include "frontend/comptime/comptime_impl.h"

const char *ct_import_bound_name(Comptime *ct, const Node *alias) {
  const char *dot = alias->alias.asname ? NULL : strchr(alias->alias.name, '.');
  if (alias->alias.asname) return alias->alias.asname;
  return dot ? intern_n(ct->ctx, alias->alias.name, (size_t)(dot - alias->alias.name)) : alias->alias.name;
}

static void bind_missing(Comptime *ct, const char *name, const CtValue *cause, CtEnv *env) {
  ct_env_set(ct->ctx, env, name, ct_missing(ct, name, cause->missing.why, cause->missing.span));
}

static void forget_target(Comptime *ct, const Node *t, const CtValue *cause, CtEnv *env) {
  switch (t->kind) {
    case NODE_NAME: bind_missing(ct, t->name.id, cause, env); break;
    case NODE_TUPLE: case NODE_LIST:
      for (uint32_t i = 0; i < t->list.count; i++) forget_target(ct, t->list.data[i], cause, env);
      break;
    case NODE_STARRED: forget_target(ct, t->unary.value, cause, env); break;
    // An object into which an unknown value is stored is not known any more.
    case NODE_ATTRIBUTE: forget_target(ct, t->attr.first, cause, env); break;
    case NODE_SUBSCRIPT: forget_target(ct, t->pair.first, cause, env); break;
    default: break;
  }
}

// Forgets what the statements inside a statement bind.
static void forget_bodies(Comptime *ct, const Node *n, const CtValue *cause, CtEnv *env);

void ct_forget(Comptime *ct, const Node *n, const CtValue *cause, CtEnv *env) {
  switch ((NodeKind)n->kind) {
    case NODE_ASSIGN:
      for (uint32_t i = 0; i < n->assign.targets.count; i++) forget_target(ct, n->assign.targets.data[i], cause, env);
      break;
    case NODE_AUG_ASSIGN: forget_target(ct, n->binary.left, cause, env); break;
    case NODE_ANN_ASSIGN: if (n->ann.value) forget_target(ct, n->ann.target, cause, env); break;
    case NODE_EXPR_STMT: {
      // configs.append(…): the list lacks an element.
      const Node *v = n->unary.value;
      if (v->kind != NODE_CALL || v->call.func->kind != NODE_ATTRIBUTE || v->call.func->attr.first->kind != NODE_NAME)
        break;
      const CtValue *object = ct_env_get_local(env, v->call.func->attr.first->name.id);
      if (object && (object->kind == CT_LIST || object->kind == CT_DICT || object->kind == CT_SET))
        forget_target(ct, v->call.func->attr.first, cause, env);
      break;
    }
    case NODE_FUNCTION_DEF: bind_missing(ct, n->func.name, cause, env); break;
    case NODE_CLASS_DEF: bind_missing(ct, n->cls.name, cause, env); break;
    case NODE_IMPORT: case NODE_IMPORT_FROM:
      for (uint32_t i = 0; i < n->import.aliases.count; i++)
        bind_missing(ct, ct_import_bound_name(ct, n->import.aliases.data[i]), cause, env);
      break;
    case NODE_FOR: forget_target(ct, n->loop.target, cause, env); forget_bodies(ct, n, cause, env); break;
    case NODE_WITH:
      for (uint32_t i = 0; i < n->with.items.count; i++)
        if (n->with.items.data[i]->pair.second) forget_target(ct, n->with.items.data[i]->pair.second, cause, env);
      forget_bodies(ct, n, cause, env);
      break;
    default: forget_bodies(ct, n, cause, env); break;
  }
}

static void forget_bodies(Comptime *ct, const Node *n, const CtValue *cause, CtEnv *env) {
  for (const AstPart *part = ast_parts(n); part->kind; part++) {
    if (part->kind != PART_BODY) continue;
    const NodeList *body = ast_part_list(n, part);
    for (uint32_t i = 0; i < body->count; i++) ct_forget(ct, body->data[i], cause, env);
  }
}

// tanh = libdevice.tanh
static bool is_alias(const Node *n) {
  const Node *v = n->kind == NODE_ASSIGN ? n->assign.value : NULL;
  while (v && v->kind == NODE_ATTRIBUTE) v = v->attr.first;
  return v && v->kind == NODE_NAME;
}

bool ct_only_declares(const NodeList *body) {
  for (uint32_t i = 0; i < body->count; i++) {
    const Node *n = body->data[i];
    switch (n->kind) {
      case NODE_IMPORT: case NODE_IMPORT_FROM: case NODE_FUNCTION_DEF: case NODE_PASS: break;
      case NODE_IF: case NODE_TRY: case NODE_EXCEPT:
        for (const AstPart *part = ast_parts(n); part->kind; part++)
          if (part->kind == PART_BODY && !ct_only_declares(ast_part_list(n, part))) return false;
        break;
      default: if (!is_alias(n)) return false;
    }
  }
  return true;
}
