// What the scanner, the indentation layer, the grammar and the tree builders share while they parse one text. Scanning
// and parsing call each other, because each expression in the braces of an f-string is parsed as a separate text.
//   text -> lexer.l (raw tokens) -> indent.c (NEWLINE, INDENT, DEDENT) -> grammar.y -> ast_build.c, ast_stmt.c
#ifndef TILE_FRONTEND_PARSER_H
#define TILE_FRONTEND_PARSER_H

#include "frontend/syntax/syntax.h"

enum { MAX_BRACKETS = 200, MAX_INDENTS = 100, MAX_QUEUE = MAX_INDENTS + 8 };

// name: of a NAME; op: of an augmented assignment
typedef struct { int kind; Span span; const char *name; PyOp op; } Token;
typedef struct { uint32_t column, alt_column; bool is_match; } IndentLevel;

typedef struct PyParser {
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
  Span recent[3];                    // the last three tokens delivered, the last one first
  Loc line_begin;                    // this logical line's first token
  int line_keyword;                  // and its kind
  uint32_t line_column;              // and its column
  bool header_done;                  // the line's first colon outside brackets has been delivered
  uint32_t failed_header;            // 1 + the column of the last header that was given up on; 0: its clauses are over
  bool needs_block;                  // the last line ended in a colon
  bool line_failed;                  // something in this logical line has been reported
  bool is_markdown;                  // the file is: that has been reported, and nothing else is
  bool ended;                        // the closing DEDENTs have been delivered

  // ast_build.c, ast_stmt.c
  Loc error_line_end;                // end of the last statement given up on
  Loc newline_end;                   // end of the last NEWLINE delivered
  bool too_deep;                     // nesting has been reported
  NodeList stray_as;                 // every `… as …` inside brackets that no `with` or pattern has claimed
  uint32_t num_bad_exits;      // reported by ast_stmt: `break` outside of a loop and the like
  struct PyParser *embedded;           // for the expressions in this one's f-strings, one after the other
  Node *result;
  uint32_t marks[8], num_marks, marks_line;   // typographic marks reported in the line that begins at that byte
  Loc marked_line;                   // the logical line of the last one
} PyParser;

// Whether an error may still be reported for this logical line: further ones mostly repeat the first.
static inline bool first_error_of_line(PyParser *p) {
  bool first = !p->line_failed && !p->is_markdown;
  p->line_failed = true;
  return first;
}

// indent.c
void indent_start(PyParser *p, bool joins_lines);
bool indent_is_compound(int kind);   // begins a header: if, elif, def, …
void indent_report_bracket(PyParser *p);
void indent_drop_brackets(PyParser *p, uint32_t at);   // forgets those that open on the line of the byte `at`

// parse.c: an expression inside [begin, end) of p's file, as in an f-string's braces. NULL after an error.
Node *parse_embedded(PyParser *p, uint32_t begin, uint32_t end);

// literal.c
Node *ast_number(PyParser *p, Span span);
Node *ast_strings(PyParser *p, const NodeList *pieces);   // adjacent literals, raw: one STR, BYTES or FSTRING
// The end of the string literal that begins (prefix included) at offset `at`, or 0 if it never closes.
uint32_t literal_string_end(const char *text, uint32_t at, uint32_t limit);

// habits.c. habit_hint notes the way out of an error at span if it is another language's syntax; false if it is not.
// habit_mark notes what to type in place of a typographic mark.
bool habit_hint(PyParser *p, Span span);
void habit_mark(PyParser *p, uint32_t c);

// ast_build.c: one function per grammar action. Lists are passed by pointer and may be NULL for empty.
Node *ast_node(PyParser *p, NodeKind kind, Span span);
NodeList *ast_list_new(PyParser *p, Node *first);              // first may be NULL: empty list
NodeList *ast_list_add(PyParser *p, NodeList *list, Node *node);
NodeList *ast_list_join(PyParser *p, NodeList *a, const NodeList *b);
NodeList ast_list_of(const NodeList *list);
NameList *ast_names_add(PyParser *p, NameList *list, const char *name);
const char *ast_name_join(PyParser *p, const char *a, const char *b);   // "a.b"

// A node is made in one piece by ast_make, or ends with ast_done once its parts are set; ast_grown is for one that has
// got a further child. Each returns an ERROR node, and reports it once, if the tree gets too deep.
Node *ast_make(PyParser *p, Node node);
Node *ast_done(PyParser *p, Node *n);
Node *ast_grown(PyParser *p, Node *n, const Node *child);
typedef enum { TARGET_ASSIGN, TARGET_SINGLE, TARGET_DELETE } TargetUse;
void ast_check_target(PyParser *p, const Node *n, TargetUse use);
void ast_split_arguments(PyParser *p, const NodeList *all, NodeList *args, NodeList *keywords);
// without the bare `*` and `/`; every parameter with its kind
NodeList ast_resolve_params(PyParser *p, const NodeList *all);

Node *ast_name(PyParser *p, Span span, const char *id);
Node *ast_raw_string(PyParser *p, Span span);
Node *ast_unary(PyParser *p, NodeKind kind, PyOp op, Span span, Node *value);
Node *ast_binary(PyParser *p, NodeKind kind, PyOp op, Span span, Node *left, Node *right);
Node *ast_boolop(PyParser *p, PyOp op, Span span, Node *left, Node *right);
Node *ast_compare(PyParser *p, PyOp op, Span span, Node *left, Node *right);
Node *ast_list(PyParser *p, NodeKind kind, Span span, const NodeList *items);
Node *ast_tuple(PyParser *p, Span span, Node *first, const NodeList *rest);
Node *ast_paren(Span span, Node *inner);
Node *ast_paren_items(PyParser *p, Span span, NodeList *items, bool has_comma);
Node *ast_dict_item(PyParser *p, Span span, Node *key, Node *value);       // key NULL: **value
Node *ast_dict(PyParser *p, Span span, const NodeList *items);
Node *ast_call(PyParser *p, Span span, Node *func, const NodeList *args);  // args: expressions, STARRED, KEYWORD
Node *ast_keyword(PyParser *p, Span span, Node *name, Node *value);
Node *ast_attr(PyParser *p, NodeKind kind, Span span, Node *value, const char *name);
Node *ast_pair(PyParser *p, NodeKind kind, Span span, Node *first, Node *second);
Node *ast_triple(PyParser *p, NodeKind kind, Span span, Node *a, Node *b, Node *c);
Node *ast_comp(PyParser *p, NodeKind kind, Span span, Node *elt, Node *value, const NodeList *generators);
Node *ast_comp_for(PyParser *p, Span span, Node *target, Node *iter, bool is_async);
NodeList *ast_comp_if(PyParser *p, NodeList *clauses, Node *cond);
Node *ast_lambda(PyParser *p, Span span, const NodeList *params, Node *body);
Node *ast_param(PyParser *p, Span span, const char *name, Node *annotation, Node *default_value, ParamKind kind);
// a bare `*` or `/`; resolved by the list's owner
Node *ast_param_marker(PyParser *p, Span span, ParamKind kind);
Node *ast_as_in_brackets(PyParser *p, Span span, Node *value, Node *target);

// ast_stmt.c: the same for statements.
Node *ast_assign(PyParser *p, Span span, Node *target, Node *value);
Node *ast_assign_more(PyParser *p, Span span, Node *assign, Node *value);
Node *ast_aug_assign(PyParser *p, PyOp op, Span span, Node *target, Node *value);
Node *ast_ann_assign(PyParser *p, Span span, Node *target, Node *annotation, Node *value);
Node *ast_delete(PyParser *p, Span span, Node *targets);
Node *ast_loop(PyParser *p, NodeKind kind, Span span, Node *target, Node *iter, const NodeList *body,
               const NodeList *orelse, Span else_span);
Node *ast_if(PyParser *p, Span span, Node *test, const NodeList *body, const NodeList *orelse);
Node *ast_with(PyParser *p, Span span, const NodeList *items, const NodeList *body);
Node *ast_try(PyParser *p, Span span, const NodeList *body, const NodeList *handlers, const NodeList *orelse,
              const NodeList *finalbody);
Node *ast_except(PyParser *p, Span span, Node *type, const char *name, const NodeList *body, bool is_group);
Node *ast_import(PyParser *p, NodeKind kind, Span span, const char *module, uint32_t level, const NodeList *aliases);
Node *ast_alias(PyParser *p, Span span, const char *name, const char *asname);
Node *ast_names(PyParser *p, NodeKind kind, Span span, const NameList *names);
Node *ast_func(PyParser *p, Span span, const char *name, Span name_span, const NodeList *params, Node *returns,
               const NodeList *body);
Node *ast_class(PyParser *p, Span span, const char *name, Span name_span, const NodeList *args, const NodeList *body);
Node *ast_decorate(PyParser *p, const NodeList *decorators, Node *def);
Node *ast_async(Node *stmt, Span span);
Node *ast_match(PyParser *p, Span span, Node *subject, const NodeList *cases);
Node *ast_case(PyParser *p, Span span, Node *pattern, Node *guard, const NodeList *body);
Node *ast_error_line(PyParser *p, Span span);
void ast_unexpected_indent(PyParser *p, Span span);
Node *ast_module(PyParser *p, const NodeList *body);
void ast_too_deep(PyParser *p, Span span);   // says so once

#endif
