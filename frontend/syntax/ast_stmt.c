// Tree construction: what the grammar's actions call for statements. Checks that `break`, `continue` and `return`
// have something to leave.
#include "frontend/syntax/parser.h"

// ---- functions and classes ----

// `break`, `continue` and `return` where nothing is to be left. Functions and classes in the list have been through
// it. After another error nothing is said: what begins the loop or function may be what could not be parsed.
static void check_exits(PyParser *p, const NodeList *list, bool in_function, bool in_loop) {
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
        if (s->try_.handlers.data[k]->kind != NODE_ERROR)
          check_exits(p, &s->try_.handlers.data[k]->handler.body, in_function, in_loop);
      break;
    default: break;
    }
  }
}

Node *ast_func(PyParser *p, Span span, const char *name, Span name_span, const NodeList *params, Node *returns,
               const NodeList *body) {
  Node *n = ast_node(p, NODE_FUNCTION_DEF, span);
  n->func.name = name;
  n->func.name_span = name_span;
  n->func.params = ast_resolve_params(p, params);
  n->func.returns = returns;
  n->func.body = ast_list_of(body);
  check_exits(p, &n->func.body, true, false);
  ast_over_list(n, &n->func.params);
  ast_over(n, returns);
  ast_over_list(n, body);
  return ast_done(p, n);
}

Node *ast_class(PyParser *p, Span span, const char *name, Span name_span, const NodeList *args, const NodeList *body) {
  Node *n = ast_node(p, NODE_CLASS_DEF, span);
  n->cls.name = name;
  n->cls.name_span = name_span;
  ast_split_arguments(p, args, &n->cls.bases, &n->cls.keywords);
  n->cls.body = ast_list_of(body);
  check_exits(p, &n->cls.body, false, false);
  ast_over_list(n, args);
  ast_over_list(n, body);
  return ast_done(p, n);
}

Node *ast_decorate(PyParser *p, const NodeList *decorators, Node *def) {
  if (def->kind == NODE_FUNCTION_DEF) def->func.decorators = *decorators;
  else if (def->kind == NODE_CLASS_DEF) def->cls.decorators = *decorators;
  else return def;
  ast_over_list(def, decorators);
  return ast_done(p, def);
}

Node *ast_async(Node *stmt, Span span) {
  stmt->is_async = true;
  stmt->span.begin = span.begin;
  return stmt;
}

// ---- statements ----

Node *ast_assign(PyParser *p, Span span, Node *target, Node *value) {
  ast_check_target(p, target, TARGET_ASSIGN);
  Node *n = ast_node(p, NODE_ASSIGN, span);
  ast_list_add(p, &n->assign.targets, target);
  n->assign.value = value;
  ast_over(n, target);
  ast_over(n, value);
  return ast_done(p, n);
}

Node *ast_assign_more(PyParser *p, Span span, Node *assign, Node *value) {
  if (assign->kind != NODE_ASSIGN) return assign;
  ast_check_target(p, assign->assign.value, TARGET_ASSIGN);
  ast_list_add(p, &assign->assign.targets, assign->assign.value);
  assign->assign.value = value;
  assign->span = span;
  ast_over(assign, value);
  return ast_done(p, assign);
}

Node *ast_aug_assign(PyParser *p, PyOp op, Span span, Node *target, Node *value) {
  ast_check_target(p, target, TARGET_SINGLE);
  return ast_binary(p, NODE_AUG_ASSIGN, op, span, target, value);
}

Node *ast_ann_assign(PyParser *p, Span span, Node *target, Node *annotation, Node *value) {
  ast_check_target(p, target, TARGET_SINGLE);
  Node *n = ast_node(p, NODE_ANN_ASSIGN, span);
  n->ann.target = target;
  n->ann.annotation = annotation;
  n->ann.value = value;
  ast_over(n, target);
  ast_over(n, annotation);
  ast_over(n, value);
  return ast_done(p, n);
}

Node *ast_delete(PyParser *p, Span span, Node *targets) {
  ast_check_target(p, targets, TARGET_DELETE);
  bool is_list = targets->kind == NODE_TUPLE && !targets->is_parenthesized;
  return ast_list(p, NODE_DELETE, span, is_list ? &targets->list : ast_list_new(p, targets));
}

Node *ast_loop(PyParser *p, NodeKind kind, Span span, Node *target, Node *iter, const NodeList *body,
               const NodeList *orelse) {
  if (target) ast_check_target(p, target, TARGET_ASSIGN);
  Node *n = ast_node(p, kind, span);
  n->loop.target = target;
  n->loop.iter = iter;
  n->loop.body = ast_list_of(body);
  n->loop.orelse = ast_list_of(orelse);
  ast_over(n, target);
  ast_over(n, iter);
  ast_over_list(n, body);
  ast_over_list(n, orelse);
  return ast_done(p, n);
}

Node *ast_if(PyParser *p, Span span, Node *test, const NodeList *body, const NodeList *orelse) {
  Node *n = ast_node(p, NODE_IF, span);
  n->cond.test = test;
  n->cond.body = ast_list_of(body);
  n->cond.orelse = ast_list_of(orelse);
  ast_over(n, test);
  ast_over_list(n, body);
  ast_over_list(n, orelse);
  return ast_done(p, n);
}

// The `as` inside the brackets of a `with` or a pattern are its own. Later ones than these are in its body.
static bool claim_as(PyParser *p, const Node *owner) {
  NodeList *stray = &p->stray_as;
  uint32_t first = stray->count, kept;
  while (first && stray->data[first - 1]->span.begin >= owner->span.begin) first--;
  kept = first;
  for (uint32_t i = first; i < stray->count; i++)
    if (stray->data[i]->span.begin >= owner->span.end) stray->data[kept++] = stray->data[i];
  const bool any = kept < stray->count;
  stray->count = kept;
  return any;
}

Node *ast_with(PyParser *p, Span span, const NodeList *items, const NodeList *body) {
  Node *n = ast_node(p, NODE_WITH, span);
  n->with.items = ast_list_of(items);
  n->with.body = ast_list_of(body);
  // with (a as b, c as d): the parenthesised list is the items.
  Node *only = items->count == 1 && items->data[0]->kind == NODE_WITH_ITEM && !items->data[0]->pair.second
                   ? items->data[0]->pair.first
                   : NULL;
  if (only && only->kind == NODE_TUPLE && only->is_parenthesized) {
    if (claim_as(p, only)) {
      n->with.items = (NodeList){0};
      for (uint32_t i = 0; i < only->list.count; i++) {
        Node *item = only->list.data[i];
        ast_list_add(p, &n->with.items,
                     item->kind == NODE_WITH_ITEM ? item : ast_pair(p, NODE_WITH_ITEM, item->span, item, NULL));
      }
    }
  }
  for (uint32_t i = 0; i < n->with.items.count; i++) {
    const Node *item = n->with.items.data[i];
    if (item->kind == NODE_WITH_ITEM && item->pair.second) ast_check_target(p, item->pair.second, TARGET_ASSIGN);
  }
  ast_over_list(n, &n->with.items);
  ast_over_list(n, body);
  return ast_done(p, n);
}

Node *ast_try(PyParser *p, Span span, const NodeList *body, const NodeList *handlers, const NodeList *orelse,
              const NodeList *finalbody) {
  Node *n = ast_node(p, NODE_TRY, span);
  n->try_.body = ast_list_of(body);
  n->try_.handlers = ast_list_of(handlers);
  n->try_.orelse = ast_list_of(orelse);
  n->try_.finalbody = ast_list_of(finalbody);
  ast_over_list(n, body);
  ast_over_list(n, handlers);
  ast_over_list(n, orelse);
  ast_over_list(n, finalbody);
  return ast_done(p, n);
}

Node *ast_except(PyParser *p, Span span, Node *type, const char *name, const NodeList *body, bool is_group) {
  Node *n = ast_node(p, NODE_EXCEPT, span);
  n->handler.type = type;
  n->handler.name = name;
  n->handler.body = ast_list_of(body);
  n->is_async = is_group;
  ast_over(n, type);
  ast_over_list(n, body);
  return ast_done(p, n);
}

Node *ast_import(PyParser *p, NodeKind kind, Span span, const char *module, uint32_t level, const NodeList *aliases) {
  Node *n = ast_node(p, kind, span);
  n->import.module = module;
  n->import.level = level;
  n->import.aliases = ast_list_of(aliases);
  ast_over_list(n, aliases);
  return ast_done(p, n);
}

Node *ast_alias(PyParser *p, Span span, const char *name, const char *asname) {
  Node *n = ast_node(p, NODE_ALIAS, span);
  n->alias.name = intern(p->ctx, name);
  n->alias.asname = asname;
  return n;
}

Node *ast_names(PyParser *p, NodeKind kind, Span span, const NameList *names) {
  Node *n = ast_node(p, kind, span);
  n->names = *names;
  return n;
}

Node *ast_match(PyParser *p, Span span, Node *subject, const NodeList *cases) {
  Node *n = ast_node(p, NODE_MATCH, span);
  n->match.subject = subject;
  n->match.cases = ast_list_of(cases);
  ast_over(n, subject);
  ast_over_list(n, cases);
  return ast_done(p, n);
}

Node *ast_case(PyParser *p, Span span, Node *pattern, Node *guard, const NodeList *body) {
  claim_as(p, pattern);
  Node *n = ast_node(p, NODE_CASE, span);
  n->case_.pattern = pattern;
  n->case_.guard = guard;
  n->case_.body = ast_list_of(body);
  ast_over(n, pattern);
  ast_over(n, guard);
  ast_over_list(n, body);
  return ast_done(p, n);
}

Node *ast_error_line(PyParser *p, Span span) {
  p->error_line_end = p->newline_end;
  return ast_node(p, NODE_ERROR, span);
}

// A block under a header that was given up on has been reported with it.
void ast_unexpected_indent(PyParser *p, Span span) {
  if (p->error_line_end != p->newline_end || !p->newline_end) diag_error(p->ctx, span, "unexpected indentation");
}

Node *ast_module(PyParser *p, const NodeList *body) {
  Node *n = ast_node(p, NODE_MODULE, (Span){p->file->base + p->begin, p->file->base + p->end});
  n->block = ast_list_of(body);
  check_exits(p, &n->block, false, false);
  ast_over_list(n, body);
  return n;
}
