// Visits the children of a node. nodes.def says what a kind consists of; what it calls OWN is listed here.
#include "frontend/syntax/ast.h"

static void visit_one(const Node *n, AstVisitor visit, void *user) {
  if (n) visit(n, user);
}

static void visit_list(const NodeList *list, AstVisitor visit, void *user) {
  for (uint32_t i = 0; i < list->count; i++) visit_one(list->data[i], visit, user);
}

static void visit_own(const Node *n, AstVisitor visit, void *user) {
  switch (n->kind) {
  case NODE_COMPARE: visit_list(&n->compare.rights, visit, user); break;
  case NODE_DICT:
    visit_list(&n->dict.keys, visit, user);
    visit_list(&n->dict.values, visit, user);
    break;
  case NODE_FORMAT: visit_one(n->format.spec, visit, user); break;
  case NODE_LAMBDA: visit_list(&n->func.params, visit, user); break;
  default: break;
  }
}

void ast_each_child(const Node *n, AstVisitor visit, void *user) {
  for (const AstPart *part = ast_parts(n); part->kind; part++) {
    if (part->kind == PART_ONE || part->kind == PART_LINE) visit_one(ast_part_node(n, part), visit, user);
    else if (part->kind == PART_MANY || part->kind == PART_BODY) visit_list(ast_part_list(n, part), visit, user);
    else if (part->kind == PART_OWN) visit_own(n, visit, user);
  }
}
