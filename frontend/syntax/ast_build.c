// Tree construction: what the grammar's actions call for expressions. Checks what the grammar leaves open
// (assignment targets, parameter and argument order, `as` in parentheses) and keeps every tree within
// AST_MAX_DEPTH.
#include <string.h>

#include "frontend/syntax/parser.h"

Node *ast_node(PyParser *p, NodeKind kind, Span span) {
  Node *n = arena_new(&p->ctx->arena, Node);
  n->kind = (uint8_t)kind;
  n->depth = 1;
  n->span = span;
  return n;
}

static void cover(Node *n, const Node *child) {
  if (child && child->depth >= n->depth) n->depth = child->depth + 1;
}

void ast_too_deep(PyParser *p, Span span) {
  if (!p->too_deep) {
    diag_error(p->ctx, span, "nested too deeply");
    diag_note(p->ctx, (Span){0, 0}, "at most %d levels: split it up", AST_MAX_DEPTH);
  }
  p->too_deep = true;
}

static Node *check_depth(PyParser *p, Node *n) {
  if (n->depth <= AST_MAX_DEPTH) return n;
  ast_too_deep(p, (Span){n->span.begin, n->span.begin + 1});
  return ast_node(p, NODE_ERROR, n->span);
}

Node *ast_grown(PyParser *p, Node *n, const Node *child) {
  cover(n, child);
  return check_depth(p, n);
}

Node *ast_done(PyParser *p, Node *n) {
  for (const AstPart *part = ast_parts(n); part->kind; part++) {
    if (part->kind == PART_ONE || part->kind == PART_LINE) cover(n, ast_part_node(n, part));
    if (part->kind != PART_MANY && part->kind != PART_BODY) continue;
    const NodeList *list = ast_part_list(n, part);
    for (uint32_t i = 0; i < list->count; i++) cover(n, list->data[i]);
  }
  return check_depth(p, n);
}

Node *ast_make(PyParser *p, Node node) {
  Node *n = arena_new(&p->ctx->arena, Node);
  *n = node;
  n->depth = 1;
  return ast_done(p, n);
}

NodeList *ast_list_new(PyParser *p, Node *first) {
  NodeList *list = arena_new(&p->ctx->arena, NodeList);
  return first ? ast_list_add(p, list, first) : list;
}

NodeList *ast_list_add(PyParser *p, NodeList *list, Node *node) {
  if (!list->capacity) {   // most lists stay short
    list->data = arena_array(&p->ctx->arena, Node *, 2);
    list->capacity = 2;
  }
  vec_push(&p->ctx->arena, list, node);
  return list;
}

NodeList *ast_list_join(PyParser *p, NodeList *a, const NodeList *b) {
  for (uint32_t i = 0; i < b->count; i++) ast_list_add(p, a, b->data[i]);
  return a;
}

NodeList ast_list_of(const NodeList *list) { return list ? *list : (NodeList){0}; }

NameList *ast_names_add(PyParser *p, NameList *list, const char *name) {
  if (!list) list = arena_new(&p->ctx->arena, NameList);
  vec_push(&p->ctx->arena, list, name);
  return list;
}

const char *ast_name_join(PyParser *p, const char *a, const char *b) {
  return intern(p->ctx, arena_printf(&p->ctx->arena, "%s.%s", a, b));
}

// ---- expressions ----

Node *ast_name(PyParser *p, Span span, const char *id) {
  Node *n = ast_node(p, NODE_NAME, span);
  n->name.id = id;
  return n;
}

Node *ast_raw_string(PyParser *p, Span span) { return ast_node(p, NODE_STR, span); }

Node *ast_unary(PyParser *p, NodeKind kind, PyOp op, Span span, Node *value) {
  return ast_make(p, (Node){.kind = kind, .op = op, .span = span, .unary = {value}});
}

Node *ast_binary(PyParser *p, NodeKind kind, PyOp op, Span span, Node *left, Node *right) {
  return ast_make(p, (Node){.kind = kind, .op = op, .span = span, .binary = {left, right}});
}

// a or b or c is one node: extends the left operand unless it is in parentheses.
Node *ast_boolop(PyParser *p, PyOp op, Span span, Node *left, Node *right) {
  Node *n = left;
  if (left->kind != NODE_BOOL_OP || left->op != op || left->is_parenthesized) {
    n = ast_node(p, NODE_BOOL_OP, span);
    n->op = (uint8_t)op;
    ast_list_add(p, &n->boolop.values, left);
    cover(n, left);
  }
  n->span = span;
  ast_list_add(p, &n->boolop.values, right);
  return ast_grown(p, n, right);
}

Node *ast_compare(PyParser *p, PyOp op, Span span, Node *left, Node *right) {
  Node *n = left;
  if (left->kind != NODE_COMPARE || left->is_parenthesized) {
    n = ast_node(p, NODE_COMPARE, span);
    n->compare.left = left;
    cover(n, left);
  }
  uint32_t count = n->compare.rights.count;
  if (is_pow2_u64(count + 1)) {   // room for twice as many
    uint8_t *ops = arena_array(&p->ctx->arena, uint8_t, 2 * (count + 1));
    if (count) memcpy(ops, n->compare.ops, count);
    n->compare.ops = ops;
  }
  ((uint8_t *)n->compare.ops)[count] = (uint8_t)op;
  ast_list_add(p, &n->compare.rights, right);
  n->span = span;
  return ast_grown(p, n, right);
}

Node *ast_list(PyParser *p, NodeKind kind, Span span, const NodeList *items) {
  return ast_make(p, (Node){.kind = kind, .span = span, .list = ast_list_of(items)});
}

Node *ast_tuple(PyParser *p, Span span, Node *first, const NodeList *rest) {
  return ast_list(p, NODE_TUPLE, span, ast_list_join(p, ast_list_new(p, first), rest));
}

Node *ast_paren(Span span, Node *inner) {
  inner->is_parenthesized = true;
  inner->span = span;
  return inner;
}

Node *ast_paren_items(PyParser *p, Span span, NodeList *items, bool has_comma) {
  bool is_single = items && items->count == 1 && !has_comma;
  if (is_single && items->data[0]->kind != NODE_WITH_ITEM) {
    Node *inner = items->data[0];
    if (inner->kind == NODE_STARRED) diag_error(p->ctx, inner->span, "a starred expression cannot stand alone");
    return ast_paren(span, inner);
  }
  Node *n = ast_list(p, NODE_TUPLE, span, items);
  n->is_parenthesized = true;
  return n;
}

Node *ast_as_in_brackets(PyParser *p, Span span, Node *value, Node *target) {
  Node *n = ast_pair(p, NODE_WITH_ITEM, span, value, target);
  ast_list_add(p, &p->stray_as, n);
  return n;
}

Node *ast_dict_item(PyParser *p, Span span, Node *key, Node *value) {
  Node *n = ast_node(p, NODE_KEYWORD, span);   // lives only until ast_dict
  n->pair.first = key;
  n->pair.second = value;
  return n;
}

Node *ast_dict(PyParser *p, Span span, const NodeList *items) {
  Node *n = ast_node(p, NODE_DICT, span);
  for (uint32_t i = 0; items && i < items->count; i++) {
    Node *item = items->data[i];
    ast_list_add(p, &n->dict.keys, item->pair.first);
    ast_list_add(p, &n->dict.values, item->pair.second);
    cover(n, item->pair.first);
    cover(n, item->pair.second);
  }
  return check_depth(p, n);
}

void ast_split_arguments(PyParser *p, const NodeList *all, NodeList *args, NodeList *keywords) {
  bool seen_splat = false;
  Map names = {0};
  for (uint32_t i = 0; all && i < all->count; i++) {
    Node *a = all->data[i];
    if (a->kind == NODE_KEYWORD) {
      if (a->attr.name && map_at(&p->ctx->arena, &names, a->attr.name)->number++)
        diag_error(p->ctx, a->span, "argument '%s' is given twice", a->attr.name);
      seen_splat |= !a->attr.name;
      ast_list_add(p, keywords, a);
      continue;
    }
    if (keywords->count && (a->kind != NODE_STARRED || seen_splat)) {
      diag_error(p->ctx, a->span, "a positional argument follows %s",
                 seen_splat ? "a ** argument" : "a keyword argument");
      diag_note(p->ctx, (Span){0, 0}, "write it before those with a name, or give it its name, too");
    }
    if (a->kind == NODE_GENERATOR && !a->is_parenthesized && all->count > 1)
      diag_error(p->ctx, a->span, "a generator that is not the only argument needs parentheses");
    ast_list_add(p, args, a);
  }
}

Node *ast_call(PyParser *p, Span span, Node *func, const NodeList *args) {
  Node *n = ast_node(p, NODE_CALL, span);
  n->call.func = func;
  ast_split_arguments(p, args, &n->call.args, &n->call.keywords);
  return ast_done(p, n);
}

Node *ast_keyword(PyParser *p, Span span, Node *name, Node *value) {
  if (name && (name->kind != NODE_NAME || name->is_parenthesized)) {
    diag_error(p->ctx, name->span, "a keyword argument's name must be a plain name");
    diag_note(p->ctx, (Span){0, 0}, "write == to compare");
    return value;
  }
  return ast_attr(p, NODE_KEYWORD, span, value, name ? name->name.id : NULL);
}

Node *ast_attr(PyParser *p, NodeKind kind, Span span, Node *value, const char *name) {
  return ast_make(p, (Node){.kind = kind, .span = span, .attr = {name, value, NULL}});
}

Node *ast_pair(PyParser *p, NodeKind kind, Span span, Node *first, Node *second) {
  return ast_make(p, (Node){.kind = kind, .span = span, .pair = {first, second}});
}

Node *ast_triple(PyParser *p, NodeKind kind, Span span, Node *a, Node *b, Node *c) {
  return ast_make(p, (Node){.kind = kind, .span = span, .slice = {a, b, c}});
}

// ---- targets ----

static const char *target_problem(const Node *n) {
  switch (n->kind) {
    case NODE_CALL: return "a call";
    case NODE_INT:
    case NODE_FLOAT:
    case NODE_IMAG:
    case NODE_STR:
    case NODE_BYTES:
    case NODE_FSTRING: return "a literal";
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

void ast_check_target(PyParser *p, const Node *n, TargetUse use) {
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
        ast_check_target(p, item, use);
      }
      return;
    default: break;
  }
  diag_error(p->ctx, n->span, "cannot %s %s", use == TARGET_DELETE ? "delete" : "assign to",
             n->kind == NODE_TUPLE  ? "a tuple here"
             : n->kind == NODE_LIST ? "a list here"
                                    : target_problem(n));
}

// ---- comprehensions, parameters and lambdas ----

Node *ast_comp(PyParser *p, NodeKind kind, Span span, Node *elt, Node *value, const NodeList *generators) {
  if (elt->kind == NODE_STARRED) diag_error(p->ctx, elt->span, "a comprehension's element cannot be starred");
  return ast_make(p, (Node){.kind = kind, .span = span, .comp = {elt, value, ast_list_of(generators)}});
}

Node *ast_comp_for(PyParser *p, Span span, Node *target, Node *iter, bool is_async) {
  ast_check_target(p, target, TARGET_ASSIGN);
  return ast_make(p, (Node){.kind = NODE_COMP_FOR, .is_async = is_async, .span = span,
                            .loop = {.target = target, .iter = iter}});
}

NodeList *ast_comp_if(PyParser *p, NodeList *clauses, Node *cond) {
  Node *last = clauses->data[clauses->count - 1];
  if (last->kind != NODE_COMP_FOR) return clauses;
  ast_list_add(p, &last->loop.body, cond);
  clauses->data[clauses->count - 1] = ast_grown(p, last, cond);
  return clauses;
}

Node *ast_param(PyParser *p, Span span, const char *name, Node *annotation, Node *default_value, ParamKind kind) {
  return ast_make(p, (Node){.kind = NODE_PARAM, .span = span, .param = {name, annotation, default_value, kind}});
}

Node *ast_param_marker(PyParser *p, Span span, ParamKind kind) { return ast_param(p, span, NULL, NULL, NULL, kind); }

NodeList ast_resolve_params(PyParser *p, const NodeList *all) {
  NodeList out = {0};
  Map names = {0};
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
      if (!a->param.name && (i + 1 == all->count ||
                             (all->data[i + 1]->kind == NODE_PARAM && all->data[i + 1]->param.kind != PARAM_NORMAL)))
        diag_error(p->ctx, a->span, "a named parameter must follow the bare '*'");
      after_star = true;
      if (!a->param.name) continue;
    }
    if (map_at(&p->ctx->arena, &names, a->param.name)->number++) {
      diag_error(p->ctx, a->span, "parameter '%s' is declared twice", a->param.name);
      diag_note(p->ctx, (Span){0, 0}, "rename one of them");
    }
    if (a->param.kind == PARAM_NORMAL) {
      if (after_star) a->param.kind = PARAM_KEYWORD_ONLY;
      else if (a->param.default_value) seen_default = true;
      else if (seen_default) {
        diag_error(p->ctx, a->span, "parameter '%s' without a default follows one with a default", a->param.name);
        diag_note(p->ctx, (Span){0, 0}, "give it a default, or let it come before those that have one");
      }
    }
    seen_kwargs |= a->param.kind == PARAM_KWARGS;
    ast_list_add(p, &out, a);
  }
  return out;
}

Node *ast_lambda(PyParser *p, Span span, const NodeList *params, Node *body) {
  Node *n = ast_node(p, NODE_LAMBDA, span);
  n->func.params = ast_resolve_params(p, params);
  ast_list_add(p, &n->func.body, body);
  for (uint32_t i = 0; i < n->func.params.count; i++) cover(n, n->func.params.data[i]);
  return ast_done(p, n);
}
