// Tree construction: what the grammar's actions call. Checks what the grammar leaves open (assignment targets, parameter and
// argument order, `as` in parentheses) and keeps every tree within AST_MAX_DEPTH.
#include <string.h>

#include "frontend/parser.h"

Node *ast_node(Parser *p, NodeKind kind, Span span) {
  Node *n = arena_new(&p->ctx->arena, Node);
  n->kind = (uint8_t)kind;
  n->depth = 1;
  n->span = span;
  return n;
}

static void over(Node *n, const Node *child) {
  if (child && child->depth >= n->depth) n->depth = child->depth + 1;
}

static void over_list(Node *n, const NodeList *list) {
  for (uint32_t i = 0; list && i < list->count; i++) over(n, list->data[i]);
}

void ast_too_deep(Parser *p, Span span) {
  if (!p->too_deep) {
    diag_error(p->ctx, span, "nested too deeply");
    diag_note(p->ctx, (Span){0, 0}, "at most %d levels: split it up", AST_MAX_DEPTH);
  }
  p->too_deep = true;
}

// Every builder ends here. A node that would be too deep is dropped, once with a message.
static Node *done(Parser *p, Node *n) {
  if (n->depth <= AST_MAX_DEPTH) return n;
  ast_too_deep(p, (Span){n->span.begin, n->span.begin + 1});
  return ast_node(p, NODE_ERROR, n->span);
}

NodeList *list_new(Parser *p, Node *first) {
  NodeList *list = arena_new(&p->ctx->arena, NodeList);
  return first ? list_add(p, list, first) : list;
}

NodeList *list_add(Parser *p, NodeList *list, Node *node) {
  if (!list->capacity) {   // most lists stay short
    list->data = arena_array(&p->ctx->arena, Node *, 2);
    list->capacity = 2;
  }
  vec_push(&p->ctx->arena, list, node);
  return list;
}

NodeList *list_join(Parser *p, NodeList *a, const NodeList *b) {
  for (uint32_t i = 0; i < b->count; i++) list_add(p, a, b->data[i]);
  return a;
}

static NodeList list_of(const NodeList *list) { return list ? *list : (NodeList){0}; }

NameList *names_add(Parser *p, NameList *list, const char *name) {
  if (!list) list = arena_new(&p->ctx->arena, NameList);
  vec_push(&p->ctx->arena, list, name);
  return list;
}

const char *name_join(Parser *p, const char *a, const char *b) { return intern(p->ctx, arena_printf(&p->ctx->arena, "%s.%s", a, b)); }

// ---- expressions ----

Node *ast_name(Parser *p, Span span, const char *id) {
  Node *n = ast_node(p, NODE_NAME, span);
  n->name.id = id;
  return n;
}

Node *ast_raw_string(Parser *p, Span span) { return ast_node(p, NODE_STR, span); }

Node *ast_unary(Parser *p, NodeKind kind, PyOp op, Span span, Node *value) {
  Node *n = ast_node(p, kind, span);
  n->op = (uint8_t)op;
  n->unary.value = value;
  over(n, value);
  return done(p, n);
}

Node *ast_binary(Parser *p, NodeKind kind, PyOp op, Span span, Node *left, Node *right) {
  Node *n = ast_node(p, kind, span);
  n->op = (uint8_t)op;
  n->binary.left = left;
  n->binary.right = right;
  over(n, left);
  over(n, right);
  return done(p, n);
}

// a or b or c is one node: the left operand is extended unless it stands in parentheses.
Node *ast_boolop(Parser *p, PyOp op, Span span, Node *left, Node *right) {
  Node *n = left;
  if (left->kind != NODE_BOOL_OP || left->op != op || left->is_parenthesized) {
    n = ast_node(p, NODE_BOOL_OP, span);
    n->op = (uint8_t)op;
    list_add(p, &n->boolop.values, left);
    over(n, left);
  }
  n->span = span;
  list_add(p, &n->boolop.values, right);
  over(n, right);
  return done(p, n);
}

Node *ast_compare(Parser *p, PyOp op, Span span, Node *left, Node *right) {
  Node *n = left;
  if (left->kind != NODE_COMPARE || left->is_parenthesized) {
    n = ast_node(p, NODE_COMPARE, span);
    n->compare.left = left;
    over(n, left);
  }
  uint32_t count = n->compare.rights.count;
  if (is_pow2_u64(count + 1)) {   // room for twice as many
    uint8_t *ops = arena_array(&p->ctx->arena, uint8_t, 2 * (count + 1));
    if (count) memcpy(ops, n->compare.ops, count);
    n->compare.ops = ops;
  }
  ((uint8_t *)n->compare.ops)[count] = (uint8_t)op;
  list_add(p, &n->compare.rights, right);
  n->span = span;
  over(n, right);
  return done(p, n);
}

Node *ast_list(Parser *p, NodeKind kind, Span span, const NodeList *items) {
  Node *n = ast_node(p, kind, span);
  n->list = list_of(items);
  over_list(n, items);
  return done(p, n);
}

Node *ast_paren(Parser *p, Span span, Node *inner) {
  (void)p;
  inner->is_parenthesized = true;
  inner->span = span;
  return inner;
}

Node *ast_paren_items(Parser *p, Span span, NodeList *items, bool has_comma) {
  bool is_single = items && items->count == 1 && !has_comma;
  if (is_single && items->data[0]->kind != NODE_WITH_ITEM) {
    Node *inner = items->data[0];
    if (inner->kind == NODE_STARRED) diag_error(p->ctx, inner->span, "a starred expression cannot stand alone");
    return ast_paren(p, span, inner);
  }
  Node *n = ast_list(p, NODE_TUPLE, span, items);
  n->is_parenthesized = true;
  return n;
}

Node *ast_as_in_parens(Parser *p, Span span, Node *value, Node *target) {
  p->num_stray_as++;
  p->stray_as = span;
  return ast_pair(p, NODE_WITH_ITEM, span, value, target);
}

Node *ast_dict_item(Parser *p, Span span, Node *key, Node *value) {
  Node *n = ast_node(p, NODE_KEYWORD, span);   // lives only until ast_dict
  n->pair.first = key;
  n->pair.second = value;
  return n;
}

Node *ast_dict(Parser *p, Span span, const NodeList *items) {
  Node *n = ast_node(p, NODE_DICT, span);
  for (uint32_t i = 0; items && i < items->count; i++) {
    Node *item = items->data[i];
    list_add(p, &n->dict.keys, item->pair.first);
    list_add(p, &n->dict.values, item->pair.second);
    over(n, item->pair.first);
    over(n, item->pair.second);
  }
  return done(p, n);
}

static void split_arguments(Parser *p, const NodeList *all, NodeList *args, NodeList *keywords) {
  bool seen_splat = false;
  for (uint32_t i = 0; all && i < all->count; i++) {
    Node *a = all->data[i];
    if (a->kind == NODE_KEYWORD) {
      for (uint32_t k = 0; a->attr.name && k < keywords->count; k++)
        if (keywords->data[k]->attr.name == a->attr.name) diag_error(p->ctx, a->span, "argument '%s' is given twice", a->attr.name);
      seen_splat |= !a->attr.name;
      list_add(p, keywords, a);
      continue;
    }
    if (keywords->count && (a->kind != NODE_STARRED || seen_splat))
      diag_error(p->ctx, a->span, "a positional argument follows %s", seen_splat ? "a ** argument" : "a keyword argument");
    if (a->kind == NODE_GENERATOR && !a->is_parenthesized && all->count > 1)
      diag_error(p->ctx, a->span, "a generator that is not the only argument needs parentheses");
    list_add(p, args, a);
  }
}

Node *ast_call(Parser *p, Span span, Node *func, const NodeList *args) {
  Node *n = ast_node(p, NODE_CALL, span);
  n->call.func = func;
  split_arguments(p, args, &n->call.args, &n->call.keywords);
  over(n, func);
  over_list(n, args);
  return done(p, n);
}

Node *ast_keyword(Parser *p, Span span, Node *name, Node *value) {
  if (name && (name->kind != NODE_NAME || name->is_parenthesized)) {
    diag_error(p->ctx, name->span, "a keyword argument's name must be a plain name");
    diag_note(p->ctx, (Span){0, 0}, "write == to compare");
    return value;
  }
  return ast_attr(p, NODE_KEYWORD, span, value, name ? name->name.id : NULL);
}

Node *ast_attr(Parser *p, NodeKind kind, Span span, Node *value, const char *name) {
  Node *n = ast_node(p, kind, span);
  n->attr.name = name;
  n->attr.first = value;
  over(n, value);
  return done(p, n);
}

Node *ast_pair(Parser *p, NodeKind kind, Span span, Node *first, Node *second) {
  Node *n = ast_node(p, kind, span);
  n->pair.first = first;
  n->pair.second = second;
  over(n, first);
  over(n, second);
  return done(p, n);
}

Node *ast_triple(Parser *p, NodeKind kind, Span span, Node *a, Node *b, Node *c) {
  Node *n = ast_node(p, kind, span);
  n->slice.lower = a;
  n->slice.upper = b;
  n->slice.step = c;
  over(n, a);
  over(n, b);
  over(n, c);
  return done(p, n);
}

// ---- targets ----

static const char *target_problem(const Node *n) {
  switch (n->kind) {
    case NODE_CALL: return "a call";
    case NODE_INT: case NODE_FLOAT: case NODE_IMAG: case NODE_STR: case NODE_BYTES: case NODE_FSTRING: return "a literal";
    case NODE_NONE: return "None";
    case NODE_TRUE: return "True";
    case NODE_FALSE: return "False";
    case NODE_COMPARE: return "a comparison";
    case NODE_LAMBDA: return "a lambda";
    case NODE_IF_EXP: return "a conditional expression";
    case NODE_DICT: case NODE_SET: return "a display";
    default: return "an expression";
  }
}

typedef enum { TARGET_ASSIGN, TARGET_SINGLE, TARGET_DELETE } TargetUse;

static void check_target(Parser *p, const Node *n, TargetUse use) {
  switch (n->kind) {
    case NODE_NAME: case NODE_ATTRIBUTE: case NODE_SUBSCRIPT: case NODE_ERROR: return;
    case NODE_TUPLE: case NODE_LIST:
      if (use == TARGET_SINGLE) break;
      for (uint32_t i = 0, stars = 0; i < n->list.count; i++) {
        const Node *item = n->list.data[i];
        if (item->kind == NODE_STARRED && use == TARGET_ASSIGN) {
          if (stars++) diag_error(p->ctx, item->span, "only one target may be starred");
          item = item->unary.value;
        }
        check_target(p, item, use);
      }
      return;
    default: break;
  }
  diag_error(p->ctx, n->span, "cannot %s %s", use == TARGET_DELETE ? "delete" : "assign to", n->kind == NODE_TUPLE ? "a tuple here" : n->kind == NODE_LIST ? "a list here" : target_problem(n));
}

Node *ast_comp(Parser *p, NodeKind kind, Span span, Node *elt, Node *value, const NodeList *generators) {
  if (elt->kind == NODE_STARRED) diag_error(p->ctx, elt->span, "a comprehension's element cannot be starred");
  Node *n = ast_node(p, kind, span);
  n->comp.elt = elt;
  n->comp.value = value;
  n->comp.generators = list_of(generators);
  over(n, elt);
  over(n, value);
  over_list(n, generators);
  return done(p, n);
}

Node *ast_comp_for(Parser *p, Span span, Node *target, Node *iter, bool is_async) {
  check_target(p, target, TARGET_ASSIGN);
  Node *n = ast_node(p, NODE_COMP_FOR, span);
  n->loop.target = target;
  n->loop.iter = iter;
  n->is_async = is_async;
  over(n, target);
  over(n, iter);
  return done(p, n);
}

NodeList *ast_comp_if(Parser *p, NodeList *clauses, Node *cond) {
  Node *last = clauses->data[clauses->count - 1];
  if (last->kind != NODE_COMP_FOR) return clauses;
  list_add(p, &last->loop.body, cond);
  over(last, cond);
  clauses->data[clauses->count - 1] = done(p, last);
  return clauses;
}

// ---- parameters and functions ----

Node *ast_param(Parser *p, Span span, const char *name, Node *annotation, Node *default_value, ParamKind kind) {
  Node *n = ast_node(p, NODE_PARAM, span);
  n->param.name = name;
  n->param.annotation = annotation;
  n->param.default_value = default_value;
  n->param.kind = kind;
  over(n, annotation);
  over(n, default_value);
  return done(p, n);
}

Node *ast_param_marker(Parser *p, Span span, ParamKind kind) { return ast_param(p, span, NULL, NULL, NULL, kind); }

// Takes the bare `*` and `/` out of a parameter list and gives every parameter its kind.
static NodeList resolve_params(Parser *p, const NodeList *all) {
  NodeList out = {0};
  bool after_star = false, seen_default = false, seen_kwargs = false, seen_slash = false;
  for (uint32_t i = 0; all && i < all->count; i++) {
    Node *a = all->data[i];
    if (a->kind != NODE_PARAM) continue;
    if (seen_kwargs) diag_error(p->ctx, a->span, "a parameter follows the ** parameter");
    if (!a->param.name && a->param.kind == PARAM_POSITIONAL_ONLY) {
      if (seen_slash || after_star || !out.count) diag_error(p->ctx, a->span, "'/' is not allowed here");
      seen_slash = true;
      for (uint32_t k = 0; k < out.count; k++) out.data[k]->param.kind = PARAM_POSITIONAL_ONLY;
      continue;
    }
    if (!a->param.name || a->param.kind == PARAM_VARARGS) {
      if (after_star) diag_error(p->ctx, a->span, "only one '*' parameter is allowed");
      if (!a->param.name && (i + 1 == all->count || (all->data[i + 1]->kind == NODE_PARAM && all->data[i + 1]->param.kind != PARAM_NORMAL)))
        diag_error(p->ctx, a->span, "a named parameter must follow the bare '*'");
      after_star = true;
      if (!a->param.name) continue;
    }
    for (uint32_t k = 0; k < out.count; k++)
      if (out.data[k]->param.name == a->param.name) diag_error(p->ctx, a->span, "parameter '%s' is declared twice", a->param.name);
    if (a->param.kind == PARAM_NORMAL) {
      if (after_star) a->param.kind = PARAM_KEYWORD_ONLY;
      else if (a->param.default_value) seen_default = true;
      else if (seen_default) diag_error(p->ctx, a->span, "parameter '%s' without a default follows one with a default", a->param.name);
    }
    seen_kwargs |= a->param.kind == PARAM_KWARGS;
    list_add(p, &out, a);
  }
  return out;
}

Node *ast_lambda(Parser *p, Span span, const NodeList *params, Node *body) {
  Node *n = ast_node(p, NODE_LAMBDA, span);
  n->func.params = resolve_params(p, params);
  list_add(p, &n->func.body, body);
  over_list(n, &n->func.params);
  over(n, body);
  return done(p, n);
}

// `break`, `continue` and `return` where nothing is to be left. Functions and classes in the list have been through it. After
// another error nothing is said: what begins the loop or function may be what could not be parsed.
static void check_exits(Parser *p, const NodeList *list, bool in_function, bool in_loop) {
  for (uint32_t i = 0; i < list->count; i++) {
    const Node *s = list->data[i];
    switch (s->kind) {
    case NODE_BREAK: case NODE_CONTINUE:
      if (!in_loop && diag_error_count(p->ctx) == p->num_bad_exits) {
        p->num_bad_exits++;
        diag_error(p->ctx, s->span, "`%s` outside of a loop", s->kind == NODE_BREAK ? "break" : "continue");
      }
      break;
    case NODE_RETURN:
      if (!in_function && diag_error_count(p->ctx) == p->num_bad_exits) {
        p->num_bad_exits++;
        diag_error(p->ctx, s->span, "`return` outside of a function");
      }
      break;
    case NODE_IF:
      check_exits(p, &s->cond.body, in_function, in_loop);
      check_exits(p, &s->cond.orelse, in_function, in_loop);
      break;
    case NODE_FOR: case NODE_WHILE:
      check_exits(p, &s->loop.body, in_function, true);
      check_exits(p, &s->loop.orelse, in_function, in_loop);
      break;
    case NODE_WITH: check_exits(p, &s->with.body, in_function, in_loop); break;
    case NODE_TRY:
      check_exits(p, &s->try_.body, in_function, in_loop);
      check_exits(p, &s->try_.orelse, in_function, in_loop);
      check_exits(p, &s->try_.finalbody, in_function, in_loop);
      for (uint32_t k = 0; k < s->try_.handlers.count; k++)
        if (s->try_.handlers.data[k]->kind != NODE_ERROR) check_exits(p, &s->try_.handlers.data[k]->handler.body, in_function, in_loop);
      break;
    default: break;
    }
  }
}

Node *ast_func(Parser *p, Span span, const char *name, Span name_span, const NodeList *params, Node *returns, const NodeList *body) {
  Node *n = ast_node(p, NODE_FUNCTION_DEF, span);
  n->func.name = name;
  n->func.name_span = name_span;
  n->func.params = resolve_params(p, params);
  n->func.returns = returns;
  n->func.body = list_of(body);
  check_exits(p, &n->func.body, true, false);
  over_list(n, &n->func.params);
  over(n, returns);
  over_list(n, body);
  return done(p, n);
}

Node *ast_class(Parser *p, Span span, const char *name, Span name_span, const NodeList *args, const NodeList *body) {
  Node *n = ast_node(p, NODE_CLASS_DEF, span);
  n->cls.name = name;
  n->cls.name_span = name_span;
  split_arguments(p, args, &n->cls.bases, &n->cls.keywords);
  n->cls.body = list_of(body);
  check_exits(p, &n->cls.body, false, false);
  over_list(n, args);
  over_list(n, body);
  return done(p, n);
}

Node *ast_decorate(Parser *p, const NodeList *decorators, Node *def) {
  if (def->kind == NODE_FUNCTION_DEF) def->func.decorators = *decorators;
  else if (def->kind == NODE_CLASS_DEF) def->cls.decorators = *decorators;
  else return def;
  over_list(def, decorators);
  return done(p, def);
}

Node *ast_async(Node *stmt, Span span) {
  stmt->is_async = true;
  stmt->span.begin = span.begin;
  return stmt;
}

// ---- statements ----

Node *ast_assign(Parser *p, Span span, Node *target, Node *value) {
  check_target(p, target, TARGET_ASSIGN);
  Node *n = ast_node(p, NODE_ASSIGN, span);
  list_add(p, &n->assign.targets, target);
  n->assign.value = value;
  over(n, target);
  over(n, value);
  return done(p, n);
}

Node *ast_assign_more(Parser *p, Span span, Node *assign, Node *value) {
  if (assign->kind != NODE_ASSIGN) return assign;
  check_target(p, assign->assign.value, TARGET_ASSIGN);
  list_add(p, &assign->assign.targets, assign->assign.value);
  assign->assign.value = value;
  assign->span = span;
  over(assign, value);
  return done(p, assign);
}

Node *ast_aug_assign(Parser *p, PyOp op, Span span, Node *target, Node *value) {
  check_target(p, target, TARGET_SINGLE);
  return ast_binary(p, NODE_AUG_ASSIGN, op, span, target, value);
}

Node *ast_ann_assign(Parser *p, Span span, Node *target, Node *annotation, Node *value) {
  check_target(p, target, TARGET_SINGLE);
  Node *n = ast_node(p, NODE_ANN_ASSIGN, span);
  n->ann.target = target;
  n->ann.annotation = annotation;
  n->ann.value = value;
  over(n, target);
  over(n, annotation);
  over(n, value);
  return done(p, n);
}

Node *ast_delete(Parser *p, Span span, Node *targets) {
  check_target(p, targets, TARGET_DELETE);
  bool is_list = targets->kind == NODE_TUPLE && !targets->is_parenthesized;
  return ast_list(p, NODE_DELETE, span, is_list ? &targets->list : list_new(p, targets));
}

Node *ast_loop(Parser *p, NodeKind kind, Span span, Node *target, Node *iter, const NodeList *body, const NodeList *orelse) {
  if (target) check_target(p, target, TARGET_ASSIGN);
  Node *n = ast_node(p, kind, span);
  n->loop.target = target;
  n->loop.iter = iter;
  n->loop.body = list_of(body);
  n->loop.orelse = list_of(orelse);
  over(n, target);
  over(n, iter);
  over_list(n, body);
  over_list(n, orelse);
  return done(p, n);
}

Node *ast_if(Parser *p, Span span, Node *test, const NodeList *body, const NodeList *orelse) {
  Node *n = ast_node(p, NODE_IF, span);
  n->cond.test = test;
  n->cond.body = list_of(body);
  n->cond.orelse = list_of(orelse);
  over(n, test);
  over_list(n, body);
  over_list(n, orelse);
  return done(p, n);
}

Node *ast_with(Parser *p, Span span, const NodeList *items, const NodeList *body) {
  Node *n = ast_node(p, NODE_WITH, span);
  n->with.items = list_of(items);
  n->with.body = list_of(body);
  // with (a as b, c as d): the parenthesised list is the items.
  Node *only = items->count == 1 && items->data[0]->kind == NODE_WITH_ITEM && !items->data[0]->pair.second ? items->data[0]->pair.first : NULL;
  if (only && only->kind == NODE_TUPLE && only->is_parenthesized) {
    uint32_t claimed = 0;
    for (uint32_t i = 0; i < only->list.count; i++) claimed += only->list.data[i]->kind == NODE_WITH_ITEM;
    if (claimed) {
      n->with.items = (NodeList){0};
      for (uint32_t i = 0; i < only->list.count; i++) {
        Node *item = only->list.data[i];
        list_add(p, &n->with.items, item->kind == NODE_WITH_ITEM ? item : ast_pair(p, NODE_WITH_ITEM, item->span, item, NULL));
      }
      p->num_stray_as -= claimed;
    }
  }
  for (uint32_t i = 0; i < n->with.items.count; i++) {
    const Node *item = n->with.items.data[i];
    if (item->kind == NODE_WITH_ITEM && item->pair.second) check_target(p, item->pair.second, TARGET_ASSIGN);
  }
  over_list(n, &n->with.items);
  over_list(n, body);
  return done(p, n);
}

Node *ast_try(Parser *p, Span span, const NodeList *body, const NodeList *handlers, const NodeList *orelse, const NodeList *finalbody) {
  Node *n = ast_node(p, NODE_TRY, span);
  n->try_.body = list_of(body);
  n->try_.handlers = list_of(handlers);
  n->try_.orelse = list_of(orelse);
  n->try_.finalbody = list_of(finalbody);
  over_list(n, body);
  over_list(n, handlers);
  over_list(n, orelse);
  over_list(n, finalbody);
  return done(p, n);
}

Node *ast_except(Parser *p, Span span, Node *type, const char *name, const NodeList *body, bool is_group) {
  Node *n = ast_node(p, NODE_EXCEPT, span);
  n->handler.type = type;
  n->handler.name = name;
  n->handler.body = list_of(body);
  n->is_async = is_group;
  over(n, type);
  over_list(n, body);
  return done(p, n);
}

Node *ast_import(Parser *p, NodeKind kind, Span span, const char *module, uint32_t level, const NodeList *aliases) {
  Node *n = ast_node(p, kind, span);
  n->import.module = module;
  n->import.level = level;
  n->import.aliases = list_of(aliases);
  over_list(n, aliases);
  return done(p, n);
}

Node *ast_alias(Parser *p, Span span, const char *name, const char *asname) {
  Node *n = ast_node(p, NODE_ALIAS, span);
  n->alias.name = intern(p->ctx, name);
  n->alias.asname = asname;
  return n;
}

Node *ast_names(Parser *p, NodeKind kind, Span span, const NameList *names) {
  Node *n = ast_node(p, kind, span);
  n->names = *names;
  return n;
}

Node *ast_match(Parser *p, Span span, Node *subject, const NodeList *cases) {
  Node *n = ast_node(p, NODE_MATCH, span);
  n->match.subject = subject;
  n->match.cases = list_of(cases);
  over(n, subject);
  over_list(n, cases);
  return done(p, n);
}

// `as` inside a pattern's parentheses belongs to the pattern.
static uint32_t count_as(const Node *n) {
  if (n->kind == NODE_WITH_ITEM) return 1 + count_as(n->pair.first);
  uint32_t count = 0;
  if (n->kind == NODE_TUPLE || n->kind == NODE_LIST)
    for (uint32_t i = 0; i < n->list.count; i++) count += count_as(n->list.data[i]);
  if (n->kind == NODE_BINARY) return count_as(n->binary.left) + count_as(n->binary.right);
  return count;
}

Node *ast_case(Parser *p, Span span, Node *pattern, Node *guard, const NodeList *body) {
  uint32_t claimed = count_as(pattern->kind == NODE_WITH_ITEM ? pattern->pair.first : pattern);
  p->num_stray_as -= claimed < p->num_stray_as ? claimed : p->num_stray_as;
  Node *n = ast_node(p, NODE_CASE, span);
  n->case_.pattern = pattern;
  n->case_.guard = guard;
  n->case_.body = list_of(body);
  over(n, pattern);
  over(n, guard);
  over_list(n, body);
  return done(p, n);
}

Node *ast_error_line(Parser *p, Span span) {
  p->error_line_end = p->newline_end;
  return ast_node(p, NODE_ERROR, span);
}

// A block under a header that was given up on has been reported with it.
void ast_unexpected_indent(Parser *p, Span span) {
  if (p->error_line_end != p->newline_end || !p->newline_end) diag_error(p->ctx, span, "unexpected indentation");
}

Node *ast_module(Parser *p, const NodeList *body) {
  if (p->num_stray_as && !diag_error_count(p->ctx)) diag_error(p->ctx, p->stray_as, "'as' is not allowed in an expression");
  Node *n = ast_node(p, NODE_MODULE, (Span){p->file->base + p->begin, p->file->base + p->end});
  n->block = list_of(body);
  check_exits(p, &n->block, false, false);
  over_list(n, body);
  return n;
}
