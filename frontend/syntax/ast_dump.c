// The tree as s-expressions, for --emit=ast and tests: one statement per line, blocks indented, absent fields as `-`.
#include <stddef.h>
#include <string.h>

#include "frontend/syntax/syntax.h"

static const char *const kind_names[] = {
#define NODE(kind, name, parts) name,
#include "frontend/syntax/nodes.def"
};

const char *ast_kind_name(NodeKind kind) { return kind_names[kind]; }

#define ONE(x) {PART_ONE, offsetof(Node, x), ""},
#define MANY(x) {PART_MANY, offsetof(Node, x), ""},
#define BODY(x, label) {PART_BODY, offsetof(Node, x), label},
#define LINE(x, label) {PART_LINE, offsetof(Node, x), label},
#define NAME(x) {PART_NAME, offsetof(Node, x), ""},
#define OP {PART_OP, 0, ""},
#define OWN {PART_OWN, 0, ""},
enum { MOST_PARTS = 6 };
static const AstPart parts_of[NUM_NODE_KINDS][MOST_PARTS] = {
#define NODE(kind, name, parts) {parts {PART_END, 0, ""}},
#include "frontend/syntax/nodes.def"
};

const AstPart *ast_parts(const Node *n) { return parts_of[n->kind]; }

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

static void put_body(Buf *b, const char *label, const NodeList *list, uint32_t indent) {
  if (!list->count) return;
  if (*label) {
    line(b, ++indent);
    buf_printf(b, "(%s", label);
  }
  for (uint32_t i = 0; i < list->count; i++) {
    line(b, indent + 1);
    dump(b, list->data[i], indent + 1);
  }
  if (*label) buf_putc(b, ')');
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

// What no other kind of node has.
static void put_own(Buf *b, const Node *n, uint32_t indent) {
  static const char *const marks[] = {"/", "", "*", "kw ", "**"};
  switch ((NodeKind)n->kind) {
    case NODE_IMPORT_FROM: buf_printf(b, " %u", n->import.level); break;
    case NODE_GLOBAL: case NODE_NONLOCAL:
      for (uint32_t i = 0; i < n->names.count; i++) put_name(b, n->names.data[i]);
      break;
    case NODE_INT: buf_putc(b, ' '); pynum_put_int(b, n->integer.value); break;
    case NODE_FLOAT: case NODE_IMAG: buf_putc(b, ' '); pynum_put_float(b, n->floating.value); break;
    case NODE_STR: buf_putc(b, ' '); buf_quote(b, n->str.data, n->str.size); break;
    case NODE_BYTES: put_bytes(b, n); break;
    case NODE_FORMAT:
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
    case NODE_COMPARE:
      for (uint32_t i = 0; i < n->compare.rights.count; i++) {
        buf_printf(b, " %s", pyop_text((PyOp)n->compare.ops[i]));
        put(b, n->compare.rights.data[i], indent);
      }
      break;
    case NODE_KEYWORD: put_name(b, n->attr.name ? n->attr.name : "**"); break;
    case NODE_LAMBDA:
      buf_puts(b, " (params");
      put_all(b, &n->func.params, indent);
      buf_putc(b, ')');
      break;
    case NODE_PARAM: buf_printf(b, " %s%s", marks[n->param.kind], n->param.name); break;
    default: break;
  }
}

static void put_part(Buf *b, const Node *n, const AstPart *part, uint32_t indent) {
  switch (part->kind) {
    case PART_ONE: put(b, ast_part_node(n, part), indent); break;
    case PART_MANY: put_all(b, ast_part_list(n, part), indent); break;
    case PART_BODY: put_body(b, part->label, ast_part_list(n, part), indent); break;
    case PART_LINE:
      if (!ast_part_node(n, part)) break;
      line(b, indent + 1);
      buf_printf(b, "(%s", part->label);
      put(b, ast_part_node(n, part), indent + 1);
      buf_putc(b, ')');
      break;
    case PART_NAME: put_name(b, *(const char *const *)(const void *)((const char *)n + part->offset)); break;
    case PART_OP: buf_printf(b, " %s", pyop_text((PyOp)n->op)); break;
    case PART_OWN: put_own(b, n, indent); break;
    case PART_END: break;
  }
}

static void dump(Buf *b, const Node *n, uint32_t indent) {
  buf_printf(b, "(%s%s", n->is_async ? n->kind == NODE_EXCEPT ? "group-" : "async-" : "", kind_names[n->kind]);
  for (const AstPart *part = ast_parts(n); part->kind; part++) put_part(b, n, part, indent);
  buf_putc(b, ')');
}

const char *ast_dump(Context *ctx, const Node *node) {
  Buf b = buf_make(&ctx->arena);
  dump(&b, node, 0);
  buf_putc(&b, '\n');
  return buf_str(&b);
}
