// The layer between scanner and grammar: turns line ends and leading blanks into NEWLINE, INDENT and DEDENT.
// In: raw tokens, one NEWLINE per physical line end. Out: one NEWLINE per logical line that holds tokens; INDENT
// and DEDENT balanced; nothing inside brackets. This layer reports a missing block and
// delivers an empty one: the grammar's blocks are balanced whatever the input.
#include <string.h>

#include "frontend/syntax/parser.h"
#include "tile_grammar.h"

#define YYSTYPE TILE_STYPE   // the scanner's header asks for them under these names
#define YYLTYPE TILE_LTYPE
#include "tile_lexer.h"

int tile_lex(TILE_STYPE *value, Span *span, PyParser *p);

static void enqueue(PyParser *p, int kind, Span span) {
  p->queue[(p->queue_head + p->queue_count++) % MAX_QUEUE] = (Token){.kind = kind, .span = span};
}

static Loc loc_of(const PyParser *p, uint32_t offset) { return p->file->base + offset; }

void indent_start(PyParser *p, bool joins_lines) {
  enqueue(p, joins_lines ? TOK_START_EXPRESSION : TOK_START_MODULE, (Span){loc_of(p, p->begin), loc_of(p, p->begin)});
  p->num_indents = 1;   // level 0: column 0
  p->at_line_start = !joins_lines;
  p->joins_lines = joins_lines;
}

// Measures the column of the token at `offset` like Python: tabs go to multiples of eight in `column` and count as one
// in `alt`, by which the caller finds an inconsistent mix of tabs and spaces; a form feed starts over.
static void measure(const PyParser *p, uint32_t offset, uint32_t *column, uint32_t *alt) {
  const char *s = p->file->text;
  uint32_t begin = offset;
  while (begin > p->begin && s[begin - 1] != '\n' && s[begin - 1] != '\r') begin--;
  *column = *alt = 0;
  for (uint32_t i = begin; i < offset; i++) {
    if (s[i] == ' ') ++*column, ++*alt;
    else if (s[i] == '\t') *column = (*column / 8 + 1) * 8, ++*alt;
    else if (s[i] == '\f') *column = *alt = 0;
    else break;
  }
}

static uint32_t skip_string(const char *s, uint32_t at, uint32_t end) {
  uint32_t after = literal_string_end(s, at, end);
  return after ? after : at + 1;
}

// Whether the word at [.., at) begins a match or case header: the logical line goes on with something that is not an
// operator of a plain statement, and has a `:` outside brackets (at its end, for a match).
static bool is_soft_header(const PyParser *p, uint32_t at, bool colon_at_end) {
  const char *s = p->file->text;
  uint32_t i = at, depth = 0;
  while (i < p->end && (s[i] == ' ' || s[i] == '\t')) i++;
  if (i >= p->end || strchr("=.,):;]}\n\r#", s[i]) ||
      (strchr("+*/%<>!&|^@-", s[i]) && i + 1 < p->end && s[i + 1] == '='))
    return false;
  bool seen_colon = false, last_is_colon = false;
  while (i < p->end) {
    char c = s[i];
    if (c == '\'' || c == '"') { i = skip_string(s, i, p->end); last_is_colon = false; continue; }
    if (c == '#') { while (i < p->end && s[i] != '\n' && s[i] != '\r') i++; continue; }
    if (c == '\\' && i + 1 < p->end) { i += 2; continue; }
    if ((c == '\n' || c == '\r') && !depth) break;
    if (c == '(' || c == '[' || c == '{') depth++;
    else if ((c == ')' || c == ']' || c == '}') && depth) depth--;
    if (c == ':' && !depth) seen_colon = true;
    if (!strchr(" \t\f\r\n", c)) last_is_colon = c == ':' && !depth;
    i++;
  }
  return colon_at_end ? last_is_colon : seen_colon;
}

static Token fetch(PyParser *p) {
  if (p->has_pending) {
    p->has_pending = false;
    return p->pending;
  }
  TILE_STYPE value = {0};
  Token t = {0};
  t.kind = tile_raw_lex(&value, &t.span, p->scanner);
  if (t.kind == TOK_END) t.span = (Span){loc_of(p, p->end), loc_of(p, p->end)};
  if (t.kind == TOK_NAME) t.name = value.name;
  if (t.kind == TOK_AUG) t.op = value.op;
  return t;
}

static void push_back(PyParser *p, Token t) {
  p->pending = t;
  p->has_pending = true;
}

static bool begins_statement_only(int kind) {
  switch (kind) {
    case TOK_DEF:
    case TOK_CLASS:
    case TOK_RETURN:
    case TOK_IMPORT:
    case TOK_WHILE:
    case TOK_WITH:
    case TOK_TRY:
    case TOK_EXCEPT:
    case TOK_FINALLY: case TOK_RAISE: case TOK_PASS: case TOK_BREAK: case TOK_CONTINUE: case TOK_DEL: case TOK_GLOBAL:
    case TOK_NONLOCAL: case TOK_ASSERT: return true;
    default: return false;
  }
}

bool indent_is_compound(int kind) {
  switch (kind) {
    case TOK_IF:
    case TOK_ELIF:
    case TOK_ELSE:
    case TOK_FOR:
    case TOK_WHILE:
    case TOK_TRY:
    case TOK_EXCEPT:
    case TOK_FINALLY:
    case TOK_WITH: case TOK_DEF: case TOK_CLASS: case TOK_MATCH: case TOK_CASE: case TOK_ASYNC: return true;
    default: return false;
  }
}

// Clauses of an if, for, while, try or match whose own header stands above.
static bool is_clause(int kind) {
  return kind == TOK_ELIF || kind == TOK_ELSE || kind == TOK_EXCEPT || kind == TOK_FINALLY;
}

static bool ends_operand(int kind) {
  switch (kind) {
    case TOK_NAME: case TOK_NUMBER: case TOK_STRING: case TOK_NONE: case TOK_TRUE: case TOK_FALSE: case TOK_ELLIPSIS:
    case TOK_RPAREN: case TOK_RBRACKET: case TOK_RBRACE: return true;
    default: return false;
  }
}

void indent_report_bracket(PyParser *p) {
  char open = p->brackets[p->num_brackets - 1].open;
  diag_error(p->ctx, p->brackets[p->num_brackets - 1].span, "'%c' is not closed", open);
  p->num_brackets = 0;
}

void indent_drop_brackets(PyParser *p, uint32_t at) {
  while (p->num_brackets) {
    const char *open = p->file->text + (p->brackets[p->num_brackets - 1].span.begin - p->file->base);
    if (memchr(open, '\n', (size_t)(p->file->text + at - open))) return;
    p->num_brackets--;
  }
}

// Ends the token stream here, after the caller has reported why: more tokens would only repeat the error.
static Token give_up(PyParser *p, Span span) {
  p->too_deep = true;
  p->num_brackets = 0;
  p->pos = p->end;
  p->ended = true;
  push_back(p, (Token){.kind = TOK_END, .span = {loc_of(p, p->end), loc_of(p, p->end)}});
  return (Token){.kind = TOK_TILE_error, .span = span};
}

static Token track_bracket(PyParser *p, Token t, char open, char close) {
  if (open) {
    if (p->num_brackets == MAX_BRACKETS) {
      diag_error(p->ctx, t.span, "more than %d nested brackets", MAX_BRACKETS);
      return give_up(p, t.span);
    }
    p->brackets[p->num_brackets].open = open;
    p->brackets[p->num_brackets++].span = t.span;
    return t;
  }
  if (!p->num_brackets) {
    if (first_error_of_line(p)) {
      diag_error(p->ctx, t.span, "'%c' closes nothing", close);
      habit_hint(p, t.span);
    }
    t.kind = TOK_TILE_error;
    return t;
  }
  char want = p->brackets[p->num_brackets - 1].open;
  char match = want == '(' ? ')' : want == '[' ? ']' : '}';
  if (match != close) {
    if (first_error_of_line(p)) {
      diag_error(p->ctx, t.span, "'%c' does not close '%c'", close, want);
      diag_note(p->ctx, p->brackets[p->num_brackets - 1].span, "opened here");
    }
    t.kind = TOK_TILE_error;
  }
  p->num_brackets--;
  return t;
}

// Queues what must come before the first token of a logical line, and puts the token back.
static void begin_line(PyParser *p, Token first) {
  bool is_end = first.kind == TOK_END, is_match = p->match_pending;
  uint32_t column = 0, alt = 0;
  if (!is_end) measure(p, first.span.begin - p->file->base, &column, &alt);
  IndentLevel *top = &p->indents[p->num_indents - 1];
  Span at = {first.span.begin, first.span.begin};
  // The block and the clauses of a header that could not be parsed are not reported.
  if (p->line_failed && indent_is_compound(p->line_keyword)) p->failed_header = 1 + p->line_column;
  if (p->failed_header && (column + 1 < p->failed_header || (column + 1 == p->failed_header && !is_clause(first.kind))))
    p->failed_header = 0;
  p->at_line_start = p->match_pending = p->header_done = false;
  p->line_failed = p->failed_header == column + 1;
  p->line_column = column;
  p->line_begin = first.span.begin;
  p->line_keyword = first.kind;
  p->ended = is_end;
  push_back(p, first);

  if (!is_end &&
      ((column > top->column) != (alt > top->alt_column) || (column < top->column) != (alt < top->alt_column))) {
    diag_error(p->ctx, first.span, "inconsistent use of tabs and spaces in indentation"),
        diag_note(p->ctx, (Span){0, 0}, "indent all lines with spaces");
    p->error_line_end = p->newline_end;   // what its depth would mean is not reported
  }
  if (column > top->column) {
    if (p->num_indents > MAX_INDENTS) {
      diag_error(p->ctx, first.span, "more than %d levels of indentation", MAX_INDENTS);
      enqueue(p, give_up(p, first.span).kind, first.span);
      return;
    }
    p->indents[p->num_indents++] = (IndentLevel){column, alt, is_match};
    enqueue(p, TOK_INDENT, at);
    return;
  }
  if (p->needs_block) {
    if (!p->is_markdown) {
      diag_error(p->ctx, first.span, "expected an indented block");
      diag_note(p->ctx, (Span){0, 0}, "a body has a statement at least, and a comment is none: pass does nothing");
    }
    enqueue(p, TOK_INDENT, at);
    enqueue(p, is_match ? TOK_TILE_error : TOK_PASS, at);
    enqueue(p, TOK_NEWLINE, at);
    enqueue(p, TOK_DEDENT, at);
  }
  while (p->num_indents > 1 && column < p->indents[p->num_indents - 1].column) {
    p->num_indents--;
    enqueue(p, TOK_DEDENT, at);
  }
  top = &p->indents[p->num_indents - 1];
  if (column != top->column) {
    diag_error(p->ctx, first.span, "this indentation matches no outer block");
    if (p->num_indents > 1) top->column = column, top->alt_column = alt;   // continue as if it matched
  }
}

static bool is_first_on_its_line(const PyParser *p, Token t) {
  const char *s = p->file->text;
  uint32_t i = t.span.begin - p->file->base;
  while (i > p->begin && (s[i - 1] == ' ' || s[i - 1] == '\t' || s[i - 1] == '\f')) i--;
  return i == p->begin || s[i - 1] == '\n' || s[i - 1] == '\r';
}

// Whether a token that is first on its line shows that a bracket above was left open: a word that no expression
// contains, or a name after an operand that is indented no deeper than the statement.
static bool begins_line_below(const PyParser *p, Token t) {
  uint32_t column, alt;
  if (begins_statement_only(t.kind)) return true;
  if (t.kind != TOK_NAME || !ends_operand(p->last_kind)) return false;
  measure(p, t.span.begin - p->file->base, &column, &alt);
  return column <= p->line_column;
}

static Token next_token(PyParser *p) {
  for (;;) {
    if (p->queue_count) {
      Token t = p->queue[p->queue_head];
      p->queue_head = (p->queue_head + 1) % MAX_QUEUE;
      p->queue_count--;
      return t;
    }
    Token t = fetch(p);
    Span before = {t.span.begin, t.span.begin};
    if (t.kind == TOK_NEWLINE) {
      if (p->num_brackets || p->joins_lines || p->at_line_start) continue;   // joined, or a blank line
      p->at_line_start = true;
      return t;
    }
    if (p->num_brackets && !p->joins_lines &&
        (t.kind == TOK_END || (is_first_on_its_line(p, t) && begins_line_below(p, t)))) {
      indent_report_bracket(p);
      push_back(p, t);
      p->at_line_start = true;
      enqueue(p, TOK_NEWLINE, before);
      return (Token){.kind = TOK_TILE_error, .span = before};
    }
    if (p->at_line_start) {
      begin_line(p, t);
      continue;
    }
    if (t.kind == TOK_END && !p->ended && !p->joins_lines) {   // the last line has no line end
      push_back(p, t);
      p->at_line_start = true;
      return (Token){.kind = TOK_NEWLINE, .span = t.span};
    }
    if (t.kind == TOK_NAME && t.span.begin == p->line_begin && !p->joins_lines) {
      uint32_t after = t.span.end - p->file->base;
      if (!strcmp(t.name, "match") && is_soft_header(p, after, true)) t.kind = TOK_MATCH, p->match_pending = true;
      else if (!strcmp(t.name, "case") && p->indents[p->num_indents - 1].is_match && is_soft_header(p, after, false))
        t.kind = TOK_CASE;
      p->line_keyword = t.kind;
    }
    // a keyword before a name: `type Row = tuple[int, int]`
    if (t.kind == TOK_NAME && !p->joins_lines && !strcmp(t.name, "type")) {
      Token next = fetch(p);
      push_back(p, next);
      if (next.kind == TOK_NAME) t.kind = TOK_TYPE;
    }
    switch (t.kind) {
      case TOK_LPAREN: return track_bracket(p, t, '(', 0);
      case TOK_LBRACKET: return track_bracket(p, t, '[', 0);
      case TOK_LBRACE: return track_bracket(p, t, '{', 0);
      case TOK_RPAREN: return track_bracket(p, t, 0, ')');
      case TOK_RBRACKET: return track_bracket(p, t, 0, ']');
      case TOK_RBRACE: return track_bracket(p, t, 0, '}');
      default: return t;
    }
  }
}

int tile_lex(TILE_STYPE *value, Span *span, PyParser *p) {
  Token t = next_token(p);
  *span = t.span;
  if (t.kind == TOK_NAME) value->name = t.name;
  if (t.kind == TOK_AUG) value->op = t.op;
  if (t.kind == TOK_COLON && !p->num_brackets) p->header_done = true;
  if (t.kind == TOK_NEWLINE) {
    p->needs_block = p->last_kind == TOK_COLON;
    p->newline_end = t.span.end;
  }
  p->before_last_kind = p->last_kind;
  p->last_kind = t.kind;
  p->recent[2] = p->recent[1];
  p->recent[1] = p->recent[0];
  p->recent[0] = t.span;
  return t.kind;
}
