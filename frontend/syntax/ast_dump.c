// The tree as s-expressions, for --emit=ast and tests: one statement per line, blocks indented, absent fields as `-`.
#include <string.h>

#include "frontend/syntax/syntax.h"

static const char *const kind_names[] = {
#define NODE(kind, name, member) name,
#include "frontend/syntax/nodes.def"
};

const char *ast_kind_name(NodeKind kind) { return kind_names[kind]; }

const char *pyop_text(PyOp op) {
  static const char *const text[NUM_PYOPS] = {
    "",   "-",  "+", "~",  "not", "+",  "-",  "*",  "@",  "/",  "//", "%",      "**", "<<",
    ">>", "&",  "^", "|",  "and", "or", "==", "!=", "<",  "<=", ">",  ">=",     "is", "is not",
    "in", "not in"};
  return text[op];
}

static void dump(Buf *b, const Node *n, uint32_t indent);

static void line(Buf *b, uint32_t indent) {
  buf_putc(b, '\n');
  buf_fill(b, ' ', 2 * (size_t)indent);
}

static void put(Buf *b, const Node *n, uint32_t indent) {
  buf_putc(b, ' ');
  if (n) dump(b, n, indent); else buf_putc(b, '-');
}

static void put_name(Buf *b, const char *name) { buf_printf(b, " %s", name ? name : "-"); }

static void put_all(Buf *b, const NodeList *list, uint32_t indent) {
  for (uint32_t i = 0; i < list->count; i++) put(b, list->data[i], indent);
}

static void put_block(Buf *b, const char *label, const NodeList *list, uint32_t indent) {
  if (!list->count) return;
  if (label) {
    line(b, ++indent);
    buf_printf(b, "(%s", label);
  }
  for (uint32_t i = 0; i < list->count; i++) {
    line(b, indent + 1);
    dump(b, list->data[i], indent + 1);
  }
  if (label) buf_putc(b, ')');
}

// Bytes need not be UTF-8: what is not ASCII is shown by number.
static void put_bytes(Buf *b, const Node *n) {
  buf_puts(b, " \"");
  for (size_t i = 0; i < n->str.size; i++) {
    unsigned char c = (unsigned char)n->str.data[i];
    if (c == '"' || c == '\\') buf_printf(b, "\\%c", c);
    else if (c >= 0x20 && c < 0x7f) buf_putc(b, (char)c);
    else buf_printf(b, "\\x%02X", c);
  }
  buf_putc(b, '"');
}

static void put_param(Buf *b, const Node *n, uint32_t indent) {
  static const char *const marks[] = {"/", "", "*", "kw ", "**"};
  buf_printf(b, " %s%s", marks[n->param.kind], n->param.name);
  put(b, n->param.annotation, indent);
  put(b, n->param.default_value, indent);
}

static void dump(Buf *b, const Node *n, uint32_t indent) {
  buf_printf(b, "(%s%s", n->is_async ? n->kind == NODE_EXCEPT ? "group-" : "async-" : "", kind_names[n->kind]);
  switch ((NodeKind)n->kind) {
    case NODE_MODULE: put_block(b, NULL, &n->block, indent); break;
    case NODE_FUNCTION_DEF:
      put_name(b, n->func.name);
      put_block(b, "decorators", &n->func.decorators, indent);
      put_block(b, "params", &n->func.params, indent);
      if (n->func.returns) {
        line(b, indent + 1);
        buf_puts(b, "(returns");
        put(b, n->func.returns, indent + 1);
        buf_putc(b, ')');
      }
      put_block(b, "body", &n->func.body, indent);
      break;
    case NODE_LAMBDA:
      buf_puts(b, " (params");
      put_all(b, &n->func.params, indent);
      buf_putc(b, ')');
      put_all(b, &n->func.body, indent);
      break;
    case NODE_CLASS_DEF:
      put_name(b, n->cls.name);
      put_block(b, "decorators", &n->cls.decorators, indent);
      put_block(b, "bases", &n->cls.bases, indent);
      put_block(b, "keywords", &n->cls.keywords, indent);
      put_block(b, "body", &n->cls.body, indent);
      break;
    case NODE_RETURN: case NODE_YIELD: put(b, n->unary.value, indent); break;
    case NODE_EXPR_STMT:
    case NODE_STARRED:
    case NODE_AWAIT:
    case NODE_YIELD_FROM:
    case NODE_POINTER_TYPE: put(b, n->unary.value, indent); break;
    case NODE_UNARY: buf_printf(b, " %s", pyop_text((PyOp)n->op)); put(b, n->unary.value, indent); break;
    case NODE_BINARY: case NODE_AUG_ASSIGN:
      buf_printf(b, " %s", pyop_text((PyOp)n->op));
      put(b, n->binary.left, indent);
      put(b, n->binary.right, indent);
      break;
    case NODE_BOOL_OP: buf_printf(b, " %s", pyop_text((PyOp)n->op)); put_all(b, &n->boolop.values, indent); break;
    case NODE_COMPARE:
      put(b, n->compare.left, indent);
      for (uint32_t i = 0; i < n->compare.rights.count; i++) {
        buf_printf(b, " %s", pyop_text((PyOp)n->compare.ops[i]));
        put(b, n->compare.rights.data[i], indent);
      }
      break;
    case NODE_ASSIGN: put_all(b, &n->assign.targets, indent); put(b, n->assign.value, indent); break;
    case NODE_ANN_ASSIGN:
      put(b, n->ann.target, indent);
      put(b, n->ann.annotation, indent);
      put(b, n->ann.value, indent);
      break;
    case NODE_DELETE:
    case NODE_TUPLE:
    case NODE_LIST:
    case NODE_SET:
    case NODE_FSTRING: put_all(b, &n->list, indent); break;
    case NODE_FOR: case NODE_WHILE:
      if (n->kind == NODE_FOR) put(b, n->loop.target, indent);
      put(b, n->loop.iter, indent);
      put_block(b, "body", &n->loop.body, indent);
      put_block(b, "else", &n->loop.orelse, indent);
      break;
    case NODE_COMP_FOR:
      put(b, n->loop.target, indent);
      put(b, n->loop.iter, indent);
      put_all(b, &n->loop.body, indent);
      break;
    case NODE_IF:
      put(b, n->cond.test, indent);
      put_block(b, "then", &n->cond.body, indent);
      put_block(b, "else", &n->cond.orelse, indent);
      break;
    case NODE_WITH: put_all(b, &n->with.items, indent); put_block(b, "body", &n->with.body, indent); break;
    case NODE_WITH_ITEM: case NODE_RAISE: case NODE_ASSERT: case NODE_SUBSCRIPT: case NODE_NAMED_EXPR:
      put(b, n->pair.first, indent);
      put(b, n->pair.second, indent);
      break;
    case NODE_TRY:
      put_block(b, "body", &n->try_.body, indent);
      put_block(b, "handlers", &n->try_.handlers, indent);
      put_block(b, "else", &n->try_.orelse, indent);
      put_block(b, "finally", &n->try_.finalbody, indent);
      break;
    case NODE_EXCEPT:
      put(b, n->handler.type, indent);
      put_name(b, n->handler.name);
      put_block(b, NULL, &n->handler.body, indent);
      break;
    case NODE_IMPORT: put_all(b, &n->import.aliases, indent); break;
    case NODE_IMPORT_FROM:
      buf_printf(b, " %u", n->import.level);
      put_name(b, n->import.module);
      put_all(b, &n->import.aliases, indent);
      break;
    case NODE_ALIAS: put_name(b, n->alias.name); put_name(b, n->alias.asname); break;
    case NODE_GLOBAL: case NODE_NONLOCAL:
      for (uint32_t i = 0; i < n->names.count; i++) put_name(b, n->names.data[i]);
      break;
    case NODE_MATCH: put(b, n->match.subject, indent); put_block(b, NULL, &n->match.cases, indent); break;
    case NODE_CASE:
      put(b, n->case_.pattern, indent);
      put(b, n->case_.guard, indent);
      put_block(b, NULL, &n->case_.body, indent);
      break;
    case NODE_NAME: put_name(b, n->name.id); break;
    case NODE_INT: buf_putc(b, ' '); pynum_put_int(b, n->integer.value); break;
    case NODE_FLOAT: case NODE_IMAG: buf_putc(b, ' '); pynum_put_float(b, n->floating.value); break;
    case NODE_STR: buf_putc(b, ' '); buf_quote(b, n->str.data, n->str.size); break;
    case NODE_BYTES: put_bytes(b, n); break;
    case NODE_FORMAT:
      put(b, n->format.value, indent);
      if (n->format.conversion) buf_printf(b, " !%c", n->format.conversion);
      if (n->format.text) { buf_puts(b, " text="); buf_quote(b, n->format.text, strlen(n->format.text)); }
      if (n->format.spec) put(b, n->format.spec, indent);
      break;
    case NODE_DICT:
      for (uint32_t i = 0; i < n->dict.keys.count; i++) {
        if (n->dict.keys.data[i]) put(b, n->dict.keys.data[i], indent); else buf_puts(b, " **");
        put(b, n->dict.values.data[i], indent);
      }
      break;
    case NODE_CALL:
      put(b, n->call.func, indent);
      put_all(b, &n->call.args, indent);
      put_all(b, &n->call.keywords, indent);
      break;
    case NODE_KEYWORD: put_name(b, n->attr.name ? n->attr.name : "**"); put(b, n->attr.first, indent); break;
    case NODE_TYPE_ALIAS: put_name(b, n->attr.name); put(b, n->attr.first, indent); break;
    case NODE_ATTRIBUTE: put(b, n->attr.first, indent); put_name(b, n->attr.name); break;
    case NODE_SLICE:
    case NODE_IF_EXP:
      put(b, n->slice.lower, indent);
      put(b, n->slice.upper, indent);
      put(b, n->slice.step, indent);
      break;
    case NODE_PARAM: put_param(b, n, indent); break;
    case NODE_LIST_COMP: case NODE_SET_COMP: case NODE_DICT_COMP: case NODE_GENERATOR:
      put(b, n->comp.elt, indent);
      if (n->kind == NODE_DICT_COMP) put(b, n->comp.value, indent);
      put_all(b, &n->comp.generators, indent);
      break;
    case NODE_PASS:
    case NODE_BREAK:
    case NODE_CONTINUE:
    case NODE_ERROR:
    case NODE_NONE:
    case NODE_TRUE:
    case NODE_FALSE:
    case NODE_ELLIPSIS: case NUM_NODE_KINDS: break;
  }
  buf_putc(b, ')');
}

const char *ast_dump(Context *ctx, const Node *node) {
  Buf b = buf_make(&ctx->arena);
  dump(&b, node, 0);
  buf_putc(&b, '\n');
  return buf_str(&b);
}
