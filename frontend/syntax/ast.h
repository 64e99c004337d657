// The syntax tree: all of Python 3's statements and expressions, plus `*fp32` as a type in an annotation.
// Nodes live in the Context's arena. A field that may be absent says so; everything else is set in a tree that parsed
// without errors. Identifiers are interned: compare them by pointer with intern(ctx, "…").
#ifndef TILE_FRONTEND_AST_H
#define TILE_FRONTEND_AST_H

#include "ir/context.h"

typedef enum {
#define NODE(kind, name, parts) NODE_##kind,
#include "frontend/syntax/nodes.def"
  NUM_NODE_KINDS
} NodeKind;

// Operators of UNARY, BINARY, AUG_ASSIGN, BOOL_OP and COMPARE.
typedef enum {
  PYOP_NONE,
  PYOP_NEG, PYOP_POS, PYOP_INVERT, PYOP_NOT,
  PYOP_ADD, PYOP_SUB, PYOP_MUL, PYOP_MATMUL, PYOP_DIV, PYOP_FLOORDIV, PYOP_MOD, PYOP_POW,
  PYOP_LSHIFT, PYOP_RSHIFT, PYOP_AND, PYOP_XOR, PYOP_OR,
  PYOP_BOOL_AND, PYOP_BOOL_OR,
  PYOP_EQ, PYOP_NE, PYOP_LT, PYOP_LE, PYOP_GT, PYOP_GE, PYOP_IS, PYOP_IS_NOT, PYOP_IN, PYOP_NOT_IN,
  NUM_PYOPS
} PyOp;
const char *pyop_text(PyOp op);   // "+", "and", "is not", …

typedef enum { PARAM_POSITIONAL_ONLY, PARAM_NORMAL, PARAM_VARARGS, PARAM_KEYWORD_ONLY, PARAM_KWARGS } ParamKind;

typedef __int128 Int128;          // integers beyond 128 bits are diagnosed where they are used or computed

typedef struct Node Node;
typedef struct { Node **data; uint32_t count, capacity; } NodeList;   // a VEC(Node *)
typedef struct { const char **data; uint32_t count, capacity; } NameList;

enum { AST_MAX_DEPTH = 1000 };    // deeper trees are refused while parsing, so that recursion over a tree is safe

struct Node {
  uint8_t kind;        // NodeKind
  uint8_t op;          // PyOp, where the kind has one
  bool is_parenthesized;   // an expression written in its own parentheses
  bool is_async;       // async def, async for, async with; on EXCEPT: `except*`
  uint16_t depth;      // 1 + the deepest child's
  Span span;           // begin of the first byte, end one past the last
  union {
    NodeList block;                                                       // MODULE: statements
    // ATTRIBUTE first.name; KEYWORD name=first (name NULL: **first); TYPE_ALIAS type name = first
    struct { const char *name; Node *first, *second; } attr;
    struct { Node *first, *second; } pair;
      // WITH_ITEM first as second?; RAISE first? from second?; ASSERT first, second?; SUBSCRIPT
      // first[second]; NAMED_EXPR first := second
    struct { Node *value; } unary;
      // RETURN value?; EXPR_STMT; UNARY op value; STARRED *value; AWAIT; YIELD value?; YIELD_FROM; POINTER_TYPE *value
    // BINARY left op right; AUG_ASSIGN left op= right
    struct { Node *left, *right; } binary;
    // TUPLE LIST SET DELETE: elements; FSTRING: STR and FORMAT parts
    NodeList list;
    struct { NodeList values; } boolop;                                   // v0 op v1 op v2 …
    struct { Node *left; NodeList rights; const uint8_t *ops; } compare;  // left ops[0] rights[0] ops[1] rights[1] …
    // args: expressions and STARRED; keywords: KEYWORD
    struct { Node *func; NodeList args; NodeList keywords; } call;
    struct { NodeList keys, values; } dict;                               // keys[i] NULL: **values[i]
    // SLICE, each may be NULL; IF_EXP: lower if upper else step
    struct { Node *lower, *upper, *step; } slice;
    // elt; DICT_COMP elt: value; generators: COMP_FOR
    struct { Node *elt, *value; NodeList generators; } comp;
    struct { Node *target, *iter; NodeList body, orelse; Span else_span; } loop;   // else_span: the word
      // FOR; WHILE: iter is the test, target NULL; COMP_FOR: body holds the `if` conditions
    struct { Node *test; NodeList body, orelse; } cond;                   // IF; an elif is an IF alone in orelse
    struct { NodeList targets; Node *value; } assign;                     // t0 = t1 = … = value
    struct { Node *target, *annotation, *value; } ann;                    // value may be NULL
    struct { NodeList items, body; } with;
    struct { NodeList body, handlers, orelse, finalbody; } try_;
    struct { Node *type; const char *name; NodeList body; } handler;      // type, name may be NULL
    struct { const char *module; NodeList aliases; uint32_t level; } import;
      // IMPORT: module NULL; IMPORT_FROM: dotted module (NULL for `from . import x`), level dots; `*` is an
      // ALIAS of that name
    struct { const char *name, *asname; } alias;                          // dotted name; asname may be NULL
    NameList names;
    struct { Node *subject; NodeList cases; } match;
    // guard may be NULL; patterns are kept as expressions
    struct { Node *pattern, *guard; NodeList body; } case_;
    struct { const char *name; NodeList params, body, decorators; Node *returns; Span name_span; } func;
      // FUNCTION_DEF; LAMBDA: name NULL, body holds one expression; returns may be NULL
    struct { const char *name; NodeList bases, keywords, body, decorators; Span name_span; } cls;
    struct { const char *name; Node *annotation, *default_value; ParamKind kind; } param;   // a bare `*` is not a node
    struct { const char *id; } name;
    // is_too_large: to be reported where it is used
    struct { Int128 value; bool is_too_large; } integer;
    struct { double value; } floating;
    // decoded; UTF-8; NUL-terminated beside its size
    struct { const char *data; size_t size; } str;
    struct { Node *value; Node *spec; const char *text; char conversion; } format;
      // {value!conversion:spec}; spec an FSTRING or NULL; conversion 'r' 's' 'a' or 0; text: `x=` as written, or NULL
  };
};

const char *ast_kind_name(NodeKind kind);

// What a node consists of, in source order; nodes.def says it for each kind.
typedef enum { PART_END, PART_ONE, PART_MANY, PART_BODY, PART_LINE, PART_NAME, PART_OP, PART_OWN } AstPartKind;
typedef struct { AstPartKind kind; uint16_t offset; const char *label; } AstPart;
const AstPart *ast_parts(const Node *n);   // ends at PART_END
// The node of a PART_ONE or PART_LINE; the list of a PART_MANY or PART_BODY.
static inline Node *ast_part_node(const Node *n, const AstPart *part) {
  return *(Node *const *)(const void *)((const char *)n + part->offset);
}
static inline const NodeList *ast_part_list(const Node *n, const AstPart *part) {
  return (const NodeList *)(const void *)((const char *)n + part->offset);
}

// Visits what a node consists of, each child once, absent ones left out; it does not go deeper.
typedef void (*AstVisitor)(const Node *child, void *user);
void ast_each_child(const Node *n, AstVisitor visit, void *user);

#endif
