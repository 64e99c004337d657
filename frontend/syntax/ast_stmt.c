// Tree construction: what the grammar's actions call for statements. Checks that `break`, `continue` and `return`
// have something to leave.
#include <string.h>

#include "frontend/syntax/parser.h"

// ---- functions and classes ----

// Reports `break`, `continue` and `return` that have nothing to leave. Functions and classes in the list have been
// checked on their own. After another error nothing is reported, because the statement that could not be parsed may
// be the loop or function.
static void check_exits(PyParser *p, const NodeList *list, bool in_function, bool in_loop) {
  for (uint32_t i = 0; i < list->count; i++) {
    const Node *s = list->data[i];
    const bool is_exit = s->kind == NODE_BREAK || s->kind == NODE_CONTINUE;
    if (s->kind == NODE_FUNCTION_DEF || s->kind == NODE_CLASS_DEF) continue;
    if ((is_exit && !in_loop) || (s->kind == NODE_RETURN && !in_function)) {
      if (diag_error_count(p->ctx) != p->num_bad_exits) continue;
      p->num_bad_exits++;
      diag_error(p->ctx, s->span, "`%s` outside of a %s", ast_kind_name(s->kind), is_exit ? "loop" : "function");
    }
    for (const AstPart *part = ast_parts(s); part->kind; part++)
      if (part->kind == PART_BODY)
        check_exits(p, ast_part_list(s, part), in_function,
                    in_loop || ((s->kind == NODE_FOR || s->kind == NODE_WHILE) &&
                                ast_part_list(s, part) == &s->loop.body));
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
  warning_extend_ignores(p->ctx, name_span, span);
  return ast_done(p, n);
}

Node *ast_class(PyParser *p, Span span, const char *name, Span name_span, const NodeList *args, const NodeList *body) {
  Node *n = ast_node(p, NODE_CLASS_DEF, span);
  n->cls.name = name;
  n->cls.name_span = name_span;
  ast_split_arguments(p, args, &n->cls.bases, &n->cls.keywords);
  n->cls.body = ast_list_of(body);
  check_exits(p, &n->cls.body, false, false);
  return ast_done(p, n);
}

Node *ast_decorate(PyParser *p, const NodeList *decorators, Node *def) {
  if (def->kind == NODE_FUNCTION_DEF) def->func.decorators = *decorators;
  else if (def->kind == NODE_CLASS_DEF) def->cls.decorators = *decorators;
  else return def;
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
  return ast_make(p, (Node){.kind = NODE_ASSIGN, .span = span, .assign = {*ast_list_new(p, target), value}});
}

Node *ast_assign_more(PyParser *p, Span span, Node *assign, Node *value) {
  if (assign->kind != NODE_ASSIGN) return assign;
  ast_check_target(p, assign->assign.value, TARGET_ASSIGN);
  ast_list_add(p, &assign->assign.targets, assign->assign.value);
  assign->assign.value = value;
  assign->span = span;
  return ast_grown(p, assign, value);
}

Node *ast_aug_assign(PyParser *p, PyOp op, Span span, Node *target, Node *value) {
  ast_check_target(p, target, TARGET_SINGLE);
  return ast_binary(p, NODE_AUG_ASSIGN, op, span, target, value);
}

Node *ast_ann_assign(PyParser *p, Span span, Node *target, Node *annotation, Node *value) {
  ast_check_target(p, target, TARGET_SINGLE);
  return ast_make(p, (Node){.kind = NODE_ANN_ASSIGN, .span = span, .ann = {target, annotation, value}});
}

Node *ast_delete(PyParser *p, Span span, Node *targets) {
  ast_check_target(p, targets, TARGET_DELETE);
  bool is_list = targets->kind == NODE_TUPLE && !targets->is_parenthesized;
  return ast_list(p, NODE_DELETE, span, is_list ? &targets->list : ast_list_new(p, targets));
}

Node *ast_loop(PyParser *p, NodeKind kind, Span span, Node *target, Node *iter, const NodeList *body,
               const NodeList *orelse, Span else_span) {
  if (target) ast_check_target(p, target, TARGET_ASSIGN);
  else_span.end = else_span.begin + (uint32_t)strlen("else");
  return ast_make(p, (Node){.kind = kind, .span = span,
                            .loop = {target, iter, ast_list_of(body), ast_list_of(orelse), else_span}});
}

Node *ast_if(PyParser *p, Span span, Node *test, const NodeList *body, const NodeList *orelse) {
  return ast_make(p, (Node){.kind = NODE_IF, .span = span, .cond = {test, ast_list_of(body), ast_list_of(orelse)}});
}

// Claims the `as` inside the brackets of a `with` or a pattern. Later ones are in its body.
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
  return ast_done(p, n);
}

Node *ast_try(PyParser *p, Span span, const NodeList *body, const NodeList *handlers, const NodeList *orelse,
              const NodeList *finalbody) {
  return ast_make(p, (Node){.kind = NODE_TRY, .span = span, .try_ = {ast_list_of(body), ast_list_of(handlers),
                                                                     ast_list_of(orelse), ast_list_of(finalbody)}});
}

Node *ast_except(PyParser *p, Span span, Node *type, const char *name, const NodeList *body, bool is_group) {
  return ast_make(p, (Node){.kind = NODE_EXCEPT, .is_async = is_group, .span = span,
                            .handler = {type, name, ast_list_of(body)}});
}

Node *ast_import(PyParser *p, NodeKind kind, Span span, const char *module, uint32_t level, const NodeList *aliases) {
  return ast_make(p, (Node){.kind = kind, .span = span, .import = {module, ast_list_of(aliases), level}});
}

Node *ast_alias(PyParser *p, Span span, const char *name, const char *asname) {
  return ast_make(p, (Node){.kind = NODE_ALIAS, .span = span, .alias = {intern(p->ctx, name), asname}});
}

Node *ast_names(PyParser *p, NodeKind kind, Span span, const NameList *names) {
  return ast_make(p, (Node){.kind = kind, .span = span, .names = *names});
}

Node *ast_match(PyParser *p, Span span, Node *subject, const NodeList *cases) {
  return ast_make(p, (Node){.kind = NODE_MATCH, .span = span, .match = {subject, ast_list_of(cases)}});
}

Node *ast_case(PyParser *p, Span span, Node *pattern, Node *guard, const NodeList *body) {
  claim_as(p, pattern);
  return ast_make(p, (Node){.kind = NODE_CASE, .span = span, .case_ = {pattern, guard, ast_list_of(body)}});
}

Node *ast_error_line(PyParser *p, Span span) {
  p->error_line_end = p->newline_end;
  return ast_node(p, NODE_ERROR, span);
}

// The error of a header that could not be parsed covers the block below it.
void ast_unexpected_indent(PyParser *p, Span span) {
  if (p->error_line_end != p->newline_end || !p->newline_end) diag_error(p->ctx, span, "unexpected indentation");
}

Node *ast_module(PyParser *p, const NodeList *body) {
  Node *n = ast_node(p, NODE_MODULE, (Span){p->file->base + p->begin, p->file->base + p->end});
  n->block = ast_list_of(body);
  check_exits(p, &n->block, false, false);
  return n;
}
