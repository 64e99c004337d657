// What the scanner, the indentation layer, the grammar and the tree builders share while one text is parsed. Scanning and
// parsing form one circle, because the braces of an f-string hold expressions, and each is parsed as a text of its own.
//   text -> lexer.l (raw tokens) -> indent.c (NEWLINE, INDENT, DEDENT) -> grammar.y -> ast_build.c, ast_stmt.c
#ifndef TILE_FRONTEND_PARSER_H
#define TILE_FRONTEND_PARSER_H

#include "frontend/syntax/syntax.h"

enum { MAX_BRACKETS = 200, MAX_INDENTS = 100, MAX_QUEUE = MAX_INDENTS + 8 };

typedef struct { int kind; Span span; const char *name; PyOp op; } Token;   // name: of a NAME; op: of an augmented assignment
typedef struct { uint32_t column, alt_column; bool is_match; } IndentLevel;

typedef struct Parser {
  Context *ctx;
  const SourceFile *file;
  uint32_t begin, end;               // the part of the file's text that is parsed

  // lexer.l
  void *scanner;
  uint32_t pos;                      // offset in the file of the next byte to scan

  // indent.c
  Token pending;                     // one raw token looked at but not delivered
  bool has_pending;
  Token queue[MAX_QUEUE];            // synthesized tokens, delivered first
  uint32_t queue_head, queue_count;
  IndentLevel indents[MAX_INDENTS + 1];
  uint32_t num_indents;
  struct { char open; Span span; } brackets[MAX_BRACKETS];
  uint32_t num_brackets;
  bool at_line_start;                // the next token begins a logical line
  bool joins_lines;                  // an expression: line ends mean nothing
  bool match_pending;                // a `match` header's block comes next
  int last_kind, before_last_kind;   // of the last two tokens delivered
  Loc line_begin;                    // this logical line's first token
  int line_keyword;                  // and its kind
  uint32_t line_column;              // and its column
  bool header_done;                  // the line's first colon outside brackets has been delivered
  uint32_t failed_header;            // 1 + the column of the last header that was given up on; 0: its clauses are over
  bool needs_block;                  // the last line ended in a colon
  bool line_failed;                  // something in this logical line has been reported
  bool ended;                        // the closing DEDENTs have been delivered

  // ast_build.c, ast_stmt.c
  Loc error_line_end;                // end of the last statement given up on
  Loc newline_end;                   // end of the last NEWLINE delivered
  bool too_deep;                     // nesting has been reported
  NodeList stray_as;                 // every `… as …` inside brackets that no `with` or pattern has claimed
  uint32_t num_bad_exits;      // reported by ast_stmt: `break` outside of a loop and the like
  struct Parser *embedded;           // for the expressions in this one's f-strings, one after the other
  Node *result;
} Parser;

// Whether an error may still be reported for this logical line: what follows the first is mostly its echo.
static inline bool first_error_of_line(Parser *p) {
  bool first = !p->line_failed;
  p->line_failed = true;
  return first;
}

// indent.c
void indent_start(Parser *p, bool joins_lines);
bool is_compound_keyword(int kind);   // begins a header: if, elif, def, …
void report_open_bracket(Parser *p);

// parse.c: an expression inside [begin, end) of p's file, as in an f-string's braces. NULL after an error.
Node *parse_embedded(Parser *p, uint32_t begin, uint32_t end);

// literal.c
Node *ast_number(Parser *p, Span span);
Node *ast_strings(Parser *p, const NodeList *pieces);   // adjacent literals, raw: one STR, BYTES or FSTRING
// The end of the string literal that begins (prefix included) at offset `at`, or 0 if it never closes.
uint32_t literal_string_end(const char *text, uint32_t at, uint32_t limit);

// ast_build.c: one function per grammar action. Lists are passed by pointer and may be NULL for empty.
Node *ast_node(Parser *p, NodeKind kind, Span span);
NodeList *list_new(Parser *p, Node *first);              // first may be NULL: empty list
NodeList *list_add(Parser *p, NodeList *list, Node *node);
NodeList *list_join(Parser *p, NodeList *a, const NodeList *b);
NodeList list_of(const NodeList *list);
NameList *names_add(Parser *p, NameList *list, const char *name);
const char *name_join(Parser *p, const char *a, const char *b);   // "a.b"

// Every builder tells a new node's children, and ends with ast_done: a node that would be too deep is dropped, once with a message.
void ast_over(Node *n, const Node *child);
void ast_over_list(Node *n, const NodeList *list);
Node *ast_done(Parser *p, Node *n);
typedef enum { TARGET_ASSIGN, TARGET_SINGLE, TARGET_DELETE } TargetUse;
void ast_check_target(Parser *p, const Node *n, TargetUse use);
void ast_split_arguments(Parser *p, const NodeList *all, NodeList *args, NodeList *keywords);
NodeList ast_resolve_params(Parser *p, const NodeList *all);   // without the bare `*` and `/`; every parameter with its kind

Node *ast_name(Parser *p, Span span, const char *id);
Node *ast_raw_string(Parser *p, Span span);
Node *ast_unary(Parser *p, NodeKind kind, PyOp op, Span span, Node *value);
Node *ast_binary(Parser *p, NodeKind kind, PyOp op, Span span, Node *left, Node *right);
Node *ast_boolop(Parser *p, PyOp op, Span span, Node *left, Node *right);
Node *ast_compare(Parser *p, PyOp op, Span span, Node *left, Node *right);
Node *ast_list(Parser *p, NodeKind kind, Span span, const NodeList *items);
Node *ast_paren(Parser *p, Span span, Node *inner);
Node *ast_paren_items(Parser *p, Span span, NodeList *items, bool has_comma);
Node *ast_dict_item(Parser *p, Span span, Node *key, Node *value);       // key NULL: **value
Node *ast_dict(Parser *p, Span span, const NodeList *items);
Node *ast_call(Parser *p, Span span, Node *func, const NodeList *args);  // args: expressions, STARRED, KEYWORD
Node *ast_keyword(Parser *p, Span span, Node *name, Node *value);
Node *ast_attr(Parser *p, NodeKind kind, Span span, Node *value, const char *name);
Node *ast_pair(Parser *p, NodeKind kind, Span span, Node *first, Node *second);
Node *ast_triple(Parser *p, NodeKind kind, Span span, Node *a, Node *b, Node *c);
Node *ast_comp(Parser *p, NodeKind kind, Span span, Node *elt, Node *value, const NodeList *generators);
Node *ast_comp_for(Parser *p, Span span, Node *target, Node *iter, bool is_async);
NodeList *ast_comp_if(Parser *p, NodeList *clauses, Node *cond);
Node *ast_lambda(Parser *p, Span span, const NodeList *params, Node *body);
Node *ast_param(Parser *p, Span span, const char *name, Node *annotation, Node *default_value, ParamKind kind);
Node *ast_param_marker(Parser *p, Span span, ParamKind kind);            // a bare `*` or `/`; resolved by the list's owner
Node *ast_as_in_brackets(Parser *p, Span span, Node *value, Node *target);

// ast_stmt.c: the same for statements.
Node *ast_assign(Parser *p, Span span, Node *target, Node *value);
Node *ast_assign_more(Parser *p, Span span, Node *assign, Node *value);
Node *ast_aug_assign(Parser *p, PyOp op, Span span, Node *target, Node *value);
Node *ast_ann_assign(Parser *p, Span span, Node *target, Node *annotation, Node *value);
Node *ast_delete(Parser *p, Span span, Node *targets);
Node *ast_loop(Parser *p, NodeKind kind, Span span, Node *target, Node *iter, const NodeList *body, const NodeList *orelse);
Node *ast_if(Parser *p, Span span, Node *test, const NodeList *body, const NodeList *orelse);
Node *ast_with(Parser *p, Span span, const NodeList *items, const NodeList *body);
Node *ast_try(Parser *p, Span span, const NodeList *body, const NodeList *handlers, const NodeList *orelse, const NodeList *finalbody);
Node *ast_except(Parser *p, Span span, Node *type, const char *name, const NodeList *body, bool is_group);
Node *ast_import(Parser *p, NodeKind kind, Span span, const char *module, uint32_t level, const NodeList *aliases);
Node *ast_alias(Parser *p, Span span, const char *name, const char *asname);
Node *ast_names(Parser *p, NodeKind kind, Span span, const NameList *names);
Node *ast_func(Parser *p, Span span, const char *name, Span name_span, const NodeList *params, Node *returns, const NodeList *body);
Node *ast_class(Parser *p, Span span, const char *name, Span name_span, const NodeList *args, const NodeList *body);
Node *ast_decorate(Parser *p, const NodeList *decorators, Node *def);
Node *ast_async(Node *stmt, Span span);
Node *ast_match(Parser *p, Span span, Node *subject, const NodeList *cases);
Node *ast_case(Parser *p, Span span, Node *pattern, Node *guard, const NodeList *body);
Node *ast_error_line(Parser *p, Span span);
void ast_unexpected_indent(Parser *p, Span span);
Node *ast_module(Parser *p, const NodeList *body);
void ast_too_deep(Parser *p, Span span);   // says so once

#endif
