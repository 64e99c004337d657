// Expressions. Evaluation order is Python's.
#include <string.h>

#include "frontend/comptime/comptime_impl.h"

CtEnv *ct_env_new(Comptime *ct, CtEnv *parent, CtModule *module) {
  CtEnv *env = arena_new(ct->arena, CtEnv);
  env->parent = parent;
  env->module = module;
  return env;
}

bool ct_truth(Comptime *ct, CtValue *v, Span span, bool *out) {
  v = ct_unwrap(v);
  if (v->kind == CT_MISSING) return ct_target_test(v->missing.name, out) || ct_fail_missing(ct, span, v) != NULL;
  if (v->kind == CT_INSTANCE) {
    CtValue *method = ct_class_special(ct, v, "__bool__");
    if (method) {
      CtValue *r = ct_call1(ct, method, v, span);
      return r && ct_truth(ct, r, span, out);
    }
    Int128 n;
    if (v->instance->cls->form == CLASS_NAMEDTUPLE || ct_class_special(ct, v, "__len__"))
      return ct_length(ct, v, span, &n) && (*out = n != 0, true);
  }
  *out = ct_is_true(v);
  return true;
}

CtValue *ct_eval_quietly(Comptime *ct, const Node *n, CtEnv *env) {
  CtError *before = ct->error;
  CtValue *v = ct_eval(ct, n, env);
  if (ct->error && ct->error->is_fatal) return NULL;
  ct->error = before;
  return v;
}

static bool truth_of(Comptime *ct, const Node *n, CtEnv *env, bool *out) {
  CtValue *v = ct_eval(ct, n, env);
  return v && ct_truth(ct, v, n->span, out);
}

// Elements of a display or argument list; starred ones are spread.
static bool eval_items(Comptime *ct, const NodeList *nodes, CtEnv *env, CtList *out) {
  *out = (CtList){0};
  for (uint32_t i = 0; i < nodes->count; i++) {
    const Node *n = nodes->data[i];
    bool starred = n->kind == NODE_STARRED;
    CtValue *v = ct_eval(ct, starred ? n->unary.value : n, env);
    if (!v) return false;
    if (!starred) {
      vec_push(ct->arena, out, v);
      continue;
    }
    CtList items;
    if (!ct_iterate(ct, v, n->span, &items) || !ct_grow(ct, (size_t)out->count + items.count, n->span)) return false;
    ct_extend(ct, out, &items);
  }
  return true;
}

static bool dict_add(Comptime *ct, CtDict *d, CtValue *key, CtValue *value, Span span) {
  if (!(key = ct_key(ct, key, span))) return false;
  ct_dict_set(ct->ctx, d, key, value);
  return true;
}

static CtValue *eval_dict(Comptime *ct, const Node *n, CtEnv *env) {
  CtValue *d = ct_dict(ct->ctx);
  for (uint32_t i = 0; i < n->dict.keys.count; i++) {
    const Node *key_node = n->dict.keys.data[i], *value_node = n->dict.values.data[i];
    CtValue *key = key_node ? ct_eval(ct, key_node, env) : NULL;
    if (key_node && !key) return NULL;
    CtValue *value = ct_eval(ct, value_node, env);
    if (!value) return NULL;
    if (key) {
      if (!dict_add(ct, d->dict, key, value, key_node->span)) return NULL;
      continue;
    }
    value = ct_unwrap(value);
    if (value->kind == CT_MISSING) return ct_fail_missing(ct, value_node->span, value);
    if (value->kind != CT_DICT)
      return ct_fail(ct, value_node->span, "TypeError", "'%s' is not a dictionary", ct_kind_name(value));
    ct_dict_update(ct->ctx, d->dict, value->dict);
  }
  return d;
}

static CtValue *eval_set(Comptime *ct, const Node *n, CtEnv *env) {
  CtList items;
  if (!eval_items(ct, &n->list, env, &items)) return NULL;
  CtValue *s = ct_dict(ct->ctx);
  s->kind = CT_SET;
  for (uint32_t i = 0; i < items.count; i++)
    if (!dict_add(ct, s->dict, items.data[i], ct_none(), n->span)) return NULL;
  return s;
}

// ---- comprehensions ----

static bool run_comprehension(Comptime *ct, const Node *n, uint32_t clause, CtEnv *env, CtValue *out) {
  if (!ct_step(ct, n->span)) return false;
  if (clause == n->comp.generators.count) {
    CtValue *elt = ct_eval(ct, n->comp.elt, env);
    if (!elt) return false;
    if (out->kind == CT_DICT) {
      CtValue *value = ct_eval(ct, n->comp.value, env);
      return value && dict_add(ct, out->dict, elt, value, n->comp.elt->span);
    }
    if (out->kind == CT_SET) return dict_add(ct, out->dict, elt, ct_none(), n->comp.elt->span);
    ct_append(ct, out, elt);
    return true;
  }
  const Node *c = n->comp.generators.data[clause];
  // the first iterable is evaluated in the scope around the comprehension
  CtValue *iter = ct_eval(ct, c->loop.iter, clause ? env : env->parent);
  CtCursor cursor;
  if (!iter || !ct_cursor_open(ct, &cursor, iter, c->loop.iter->span)) return false;
  for (CtValue *item; ct_cursor_next(&cursor, &item);) {
    if (!ct_assign(ct, c->loop.target, item, env)) return false;
    bool keep = true;
    for (uint32_t k = 0; keep && k < c->loop.body.count; k++)
      if (!truth_of(ct, c->loop.body.data[k], env, &keep)) return false;
    if (keep && !run_comprehension(ct, n, clause + 1, env, out)) return false;
  }
  return true;
}

// Runs a generator to its end at once.
static CtValue *eval_comprehension(Comptime *ct, const Node *n, CtEnv *env) {
  CtValue *out = n->kind == NODE_LIST_COMP || n->kind == NODE_GENERATOR ? ct_list(ct->ctx, NULL, 0) : ct_dict(ct->ctx);
  if (n->kind == NODE_SET_COMP) out->kind = CT_SET;
  CtEnv *inner = ct_env_new(ct, env, env->module);
  inner->is_comprehension = true;
  if (!run_comprehension(ct, n, 0, inner, out)) return NULL;
  return n->kind == NODE_GENERATOR ? ct_iterator(out, "generator") : out;
}

// ---- calls ----

// Decorators of triton's decide themselves about an option that is missing (@triton.jit(do_not_specialize=…)).
static bool is_triton_builtin(const CtValue *callee) {
  return callee->kind == CT_BUILTIN && !strncmp(callee->builtin.name, "triton.", 7);
}

static CtValue *eval_call(Comptime *ct, const Node *n, CtEnv *env) {
  CtValue *callee = ct_eval(ct, n->call.func, env);
  CtList args;
  if (!callee || !eval_items(ct, &n->call.args, env, &args)) return NULL;
  struct { CtBinding *data; uint32_t count, capacity; } kwargs = {0};
  for (uint32_t i = 0; i < n->call.keywords.count; i++) {
    const Node *k = n->call.keywords.data[i];
    CtValue *v = ct_eval(ct, k->attr.first, env);
    if (!v && k->attr.name && is_triton_builtin(callee) && ct->error->missing && !ct->error->is_fatal) {
      v = ct_missing_from(ct, ct->error->missing, "%s", k->attr.name);
      ct->error = NULL;
    }
    if (!v) return NULL;
    if (k->attr.name) {
      vec_push(ct->arena, &kwargs, ((CtBinding){k->attr.name, v}));
      continue;
    }
    v = ct_unwrap(v);
    if (v->kind == CT_MISSING) return ct_fail_missing(ct, k->span, v);
    if (v->kind != CT_DICT)
      return ct_fail(ct, k->span, "TypeError", "the argument of ** must be a dictionary, not '%s'", ct_kind_name(v));
    for (uint32_t e = 0; e < v->dict->count; e++) {
      const CtValue *key = v->dict->entries[e].key;
      if (key->kind != CT_STR) return ct_fail(ct, k->span, "TypeError", "keyword arguments need text keys");
      const char *name = intern_n(ct->ctx, key->str.data, key->str.size);
      for (uint32_t j = 0; j < kwargs.count; j++)
        if (kwargs.data[j].name == name) return ct_fail(ct, k->span, "TypeError", "argument '%s' is given twice", name);
      vec_push(ct->arena, &kwargs, ((CtBinding){name, v->dict->entries[e].value}));
    }
  }
  // super() needs the class whose method calls it.
  if (callee->kind == CT_BUILTIN && !strcmp(callee->builtin.name, "super") && !args.count)
    return ct_unsupported(ct, n->span, "super()");
  return ct_call(ct, callee, &(CtArgs){args.data, args.count, kwargs.data, kwargs.count, n->span});
}

// ---- the rest ----

static CtValue *eval_name(Comptime *ct, const Node *n, const CtEnv *env) {
  CtValue *v = comptime_lookup(ct, env, n->name.id);
  if (v) return v;
  ct_fail(ct, n->span, "NameError", "name '%s' is not defined", n->name.id);
  ct->error->hint = ct_name_hint(ct, n->name.id, env);
  return NULL;
}

static CtValue *eval_boolop(Comptime *ct, const Node *n, CtEnv *env) {
  CtValue *v = NULL;
  for (uint32_t i = 0; i < n->boolop.values.count; i++) {
    const Node *operand = n->boolop.values.data[i];
    bool b;
    v = ct_eval(ct, operand, env);
    if (!v) return NULL;
    if (i + 1 == n->boolop.values.count) break;
    if (!ct_truth(ct, v, operand->span, &b)) return NULL;
    if (b == (n->op == PYOP_BOOL_OR)) break;
  }
  return v;
}

static CtValue *eval_compare(Comptime *ct, const Node *n, CtEnv *env) {
  CtValue *left = ct_eval(ct, n->compare.left, env), *result = NULL;
  for (uint32_t i = 0; left && i < n->compare.rights.count; i++) {
    CtValue *right = ct_eval(ct, n->compare.rights.data[i], env);
    if (!right) return NULL;
    result = ct_binary(ct, (PyOp)n->compare.ops[i], left, right, n->span);
    if (!result || i + 1 == n->compare.rights.count) return result;
    bool b;
    if (!ct_truth(ct, result, n->span, &b)) return NULL;
    if (!b) return result;
    left = right;
  }
  return NULL;
}

static CtValue *eval_fstring(Comptime *ct, const Node *n, CtEnv *env) {
  Buf b = buf_make(ct->arena);
  for (uint32_t i = 0; i < n->list.count; i++) {
    const Node *part = n->list.data[i];
    if (part->kind == NODE_STR) {
      buf_write(&b, part->str.data, part->str.size);
      continue;
    }
    CtValue *v = ct_eval(ct, part->format.value, env), *spec = NULL;
    if (!v) return NULL;
    if (part->format.spec && !(spec = eval_fstring(ct, part->format.spec, env))) return NULL;
    char conversion = part->format.conversion;
    if (part->format.text && !conversion && !spec) conversion = 'r';
    CtValue *text = ct_format_value(ct, v, conversion, spec ? spec->str.data : "", part->span);
    if (!text) return NULL;
    if (part->format.text) buf_puts(&b, part->format.text);
    buf_write(&b, text->str.data, text->str.size);
    if (!ct_grow(ct, b.size, part->span)) return NULL;
  }
  return ct_text(ct, &b);
}

static CtValue *eval_slice(Comptime *ct, const Node *n, CtEnv *env) {
  const Node *nodes[3] = {n->slice.lower, n->slice.upper, n->slice.step};
  CtValue *parts[3];
  for (int i = 0; i < 3; i++)
    if (!(parts[i] = nodes[i] ? ct_eval(ct, nodes[i], env) : ct_none())) return NULL;
  CtValue *v = ct_new(ct->ctx, CT_SLICE);
  v->slice.lower = parts[0];
  v->slice.upper = parts[1];
  v->slice.step = parts[2];
  return v;
}

static CtValue *eval_yield(Comptime *ct, const Node *n, CtEnv *env) {
  if (!ct->frame) return ct_fail(ct, n->span, "SyntaxError", "`yield` outside of a function");
  CtValue *v = n->unary.value ? ct_eval(ct, n->unary.value, env) : ct_none();
  if (!v) return NULL;
  CtList items = {0};
  if (n->kind == NODE_YIELD) vec_push(ct->arena, &items, v);
  else if (!ct_iterate(ct, v, n->span, &items)) return NULL;
  if (!ct_grow(ct, (size_t)ct->frame->yields.count + items.count, n->span)) return NULL;
  for (uint32_t i = 0; i < items.count; i++) vec_push(ct->arena, &ct->frame->yields, items.data[i]);
  return ct_none();
}

static CtValue *eval_named(Comptime *ct, const Node *n, CtEnv *env) {
  CtValue *v = ct_eval(ct, n->pair.second, env);
  CtEnv *at = env;
  while (at->is_comprehension && at->parent) at = at->parent;
  return v && ct_assign(ct, n->pair.first, v, at) ? v : NULL;
}

static CtValue *eval_pointer_type(Comptime *ct, const Node *n, CtEnv *env) {
  CtValue *v = ct_eval(ct, n->unary.value, env);
  if (!v) return NULL;
  if (v->kind != CT_DTYPE)
    return ct_fail(ct, n->span, "TypeError", "bad operand type for unary %s: '%s'", "*", ct_kind_name(v));
  return ct_dtype(ct->ctx, ct_type_pointer(ct->ctx, v->type, false));
}

static CtValue *eval_literal(Comptime *ct, const Node *n) {
  switch ((NodeKind)n->kind) {
    case NODE_INT:
      if (n->integer.is_too_large)
        return ct_fail(ct, n->span, "OverflowError", "integer literal does not fit in 128 bits");
      return ct_int(ct->ctx, n->integer.value);
    case NODE_FLOAT: return ct_float(ct->ctx, n->floating.value);
    case NODE_STR: case NODE_BYTES: {
      CtValue *v = ct_new(ct->ctx, n->kind == NODE_STR ? CT_STR : CT_BYTES);
      v->str.data = n->str.data;
      v->str.size = n->str.size;
      return v;
    }
    case NODE_TRUE: case NODE_FALSE: return ct_bool(n->kind == NODE_TRUE);
    case NODE_ELLIPSIS: return ct_new(ct->ctx, CT_ELLIPSIS);
    default: return ct_none();
  }
}

CtValue *ct_eval(Comptime *ct, const Node *n, CtEnv *env) {
  if (!ct_step(ct, n->span)) return NULL;
  CtList items;
  switch ((NodeKind)n->kind) {
    case NODE_NAME: return eval_name(ct, n, env);
    case NODE_INT: case NODE_FLOAT: case NODE_STR: case NODE_BYTES: case NODE_NONE: case NODE_TRUE: case NODE_FALSE:
    case NODE_ELLIPSIS: return eval_literal(ct, n);
    case NODE_FSTRING: return eval_fstring(ct, n, env);
    case NODE_TUPLE: return eval_items(ct, &n->list, env, &items) ? ct_tuple(ct->ctx, items.data, items.count) : NULL;
    case NODE_LIST: return eval_items(ct, &n->list, env, &items) ? ct_list(ct->ctx, items.data, items.count) : NULL;
    case NODE_SET: return eval_set(ct, n, env);
    case NODE_DICT: return eval_dict(ct, n, env);
    case NODE_UNARY: {
      CtValue *v = ct_eval(ct, n->unary.value, env);
      return v ? ct_unary(ct, (PyOp)n->op, v, n->span) : NULL;
    }
    case NODE_BINARY: {
      CtValue *a = ct_eval(ct, n->binary.left, env), *b = a ? ct_eval(ct, n->binary.right, env) : NULL;
      return b ? ct_binary(ct, (PyOp)n->op, a, b, n->span) : NULL;
    }
    case NODE_BOOL_OP: return eval_boolop(ct, n, env);
    case NODE_COMPARE: return eval_compare(ct, n, env);
    case NODE_CALL: return eval_call(ct, n, env);
    case NODE_ATTRIBUTE: {
      CtValue *v = ct_eval(ct, n->attr.first, env);
      return v ? ct_get_attr(ct, v, n->attr.name, n->span) : NULL;
    }
    case NODE_SUBSCRIPT: {
      CtValue *v = ct_eval(ct, n->pair.first, env), *index = v ? ct_eval(ct, n->pair.second, env) : NULL;
      return index ? ct_subscript(ct, v, index, n->span) : NULL;
    }
    case NODE_SLICE: return eval_slice(ct, n, env);
    case NODE_LAMBDA: {
      CtFunction *fn = ct_function_new(ct, n, env);
      return fn ? ct_function_value(ct, fn) : NULL;
    }
    case NODE_IF_EXP: {
      bool b;
      if (!truth_of(ct, n->slice.upper, env, &b)) return NULL;
      return ct_eval(ct, b ? n->slice.lower : n->slice.step, env);
    }
    case NODE_NAMED_EXPR: return eval_named(ct, n, env);
    case NODE_LIST_COMP:
    case NODE_SET_COMP:
    case NODE_DICT_COMP:
    case NODE_GENERATOR: return eval_comprehension(ct, n, env);
    case NODE_YIELD: case NODE_YIELD_FROM: return eval_yield(ct, n, env);
    case NODE_POINTER_TYPE: return eval_pointer_type(ct, n, env);
    case NODE_IMAG: return ct_unsupported(ct, n->span, "a complex number");
    case NODE_AWAIT: return ct_unsupported(ct, n->span, "await");
    case NODE_STARRED: return ct_fail(ct, n->span, "SyntaxError", "a starred expression cannot stand here");
    default: return ct_unsupported(ct, n->span, ast_kind_name((NodeKind)n->kind));
  }
}

// ---- targets ----

static CtEnv *scope_for(CtEnv *env, const char *name) {
  for (uint32_t i = 0; i < env->globals.count; i++)
    if (env->globals.data[i] == name) return env->module->env;
  for (uint32_t i = 0; i < env->nonlocals.count; i++)
    for (CtEnv *e = env->parent; e && env->nonlocals.data[i] == name; e = e->parent)
      if (!e->is_class && ct_env_get_local(e, name)) return e;
  return env;
}

static bool unpack(Comptime *ct, const Node *target, CtValue *value, CtEnv *env) {
  const NodeList *targets = &target->list;
  CtList items;
  if (ct_unwrap(value)->kind == CT_MISSING) {
    for (uint32_t i = 0; i < targets->count; i++) {
      const Node *t = targets->data[i]->kind == NODE_STARRED ? targets->data[i]->unary.value : targets->data[i];
      if (!ct_assign(ct, t, value, env)) return false;
    }
    return true;
  }
  if (!ct_iterate(ct, value, target->span, &items)) return false;
  uint32_t star = targets->count;
  for (uint32_t i = 0; i < targets->count; i++)
    if (targets->data[i]->kind == NODE_STARRED) star = i;
  bool has_star = star < targets->count;
  if (has_star ? items.count + 1 < targets->count : items.count != targets->count) {
    ct_fail(ct, target->span, "ValueError", "%u values cannot be unpacked into %u targets", items.count,
            targets->count);
    return false;
  }
  uint32_t extra = items.count + 1 - targets->count;   // elements that the starred target takes
  for (uint32_t i = 0; i < targets->count; i++) {
    const Node *t = targets->data[i];
    CtValue *v =
        i == star ? ct_list(ct->ctx, items.data + i, extra) : items.data[has_star && i > star ? i + extra - 1 : i];
    if (!ct_assign(ct, i == star ? t->unary.value : t, v, env)) return false;
  }
  return true;
}

bool ct_assign(Comptime *ct, const Node *target, CtValue *value, CtEnv *env) {
  switch (target->kind) {
    case NODE_NAME: ct_env_set(ct->ctx, scope_for(env, target->name.id), target->name.id, value); return true;
    case NODE_TUPLE: case NODE_LIST: return unpack(ct, target, value, env);
    case NODE_ATTRIBUTE: {
      CtValue *v = ct_eval(ct, target->attr.first, env);
      return v && ct_set_attr(ct, v, target->attr.name, value, target->span);
    }
    case NODE_SUBSCRIPT: {
      CtValue *v = ct_eval(ct, target->pair.first, env), *index = v ? ct_eval(ct, target->pair.second, env) : NULL;
      return index && ct_store_subscript(ct, v, index, value, target->span);
    }
    default: ice(ct->ctx, "assignment to %s", ast_kind_name((NodeKind)target->kind));
  }
}
