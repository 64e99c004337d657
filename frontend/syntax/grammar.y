// The shape of the language: Python 3, and `*type` in annotations. Actions are single calls into ast_build.c.
// Errors are recovered at the end of the logical line, so that one run reports many.
%code requires {
#include "frontend/syntax/parser.h"
#define TILE_LTYPE_IS_DECLARED 1
typedef Span TILE_LTYPE;
}

%define api.pure full
%define api.prefix {tile_}
%define api.token.prefix {TOK_}
%define parse.lac full
// The greatest length of the parser's own stack: looking ahead takes no memory from the heap.
%define parse.lac.es-capacity-initial {12000}
%define parse.error custom
%locations
%param {PyParser *p}
%expect 0

%code {
#include <stdio.h>
#include <string.h>

#define YYMAXDEPTH 12000
#define YYLLOC_DEFAULT(cur, rhs, n)                                                \
  do {                                                                             \
    if (n) (cur) = (Span){YYRHSLOC(rhs, 1).begin, YYRHSLOC(rhs, n).end};           \
    else (cur) = (Span){YYRHSLOC(rhs, 0).end, YYRHSLOC(rhs, 0).end};               \
  } while (0)
int tile_lex(TILE_STYPE *value, Span *span, PyParser *p);
// The parser's stacks grow in the Context's memory: a parse that longjmp leaves needs no clean-up.
#define yyoverflow(message, states, states_size, values, values_size, spans, spans_size, capacity)                   \
  do {                                                                                                              \
    void *stacks_[] = {*(states), *(values), *(spans)};                                                             \
    grow_stacks(p, stacks_, (const ptrdiff_t[]){states_size, values_size, spans_size}, capacity);                   \
    *(states) = stacks_[0];                                                                                         \
    *(values) = stacks_[1];                                                                                         \
    *(spans) = stacks_[2];                                                                                          \
  } while (0)
static void grow_stacks(PyParser *p, void *stacks[3], const ptrdiff_t used[3], ptrdiff_t *capacity);
static void tile_error(Span *span, PyParser *p, const char *message);
}

%union {
  Node *node;
  NodeList *list;
  NameList *names;
  const char *name;
  PyOp op;
  uint32_t count;
}

%token END 0 "end of file"
%token START_MODULE START_EXPRESSION
%token NEWLINE "end of line" INDENT "indentation" DEDENT "end of block"
%token <name> NAME "name"
%token NUMBER "number" STRING "string"
%token FALSE "'False'" NONE "'None'" TRUE "'True'" AND "'and'" AS "'as'" ASSERT "'assert'" ASYNC "'async'"
  AWAIT "'await'"
%token BREAK "'break'" CLASS "'class'" CONTINUE "'continue'" DEF "'def'" DEL "'del'" ELIF "'elif'" ELSE "'else'"
%token EXCEPT "'except'" FINALLY "'finally'" FOR "'for'" FROM "'from'" GLOBAL "'global'" IF "'if'" IMPORT "'import'"
  IN "'in'"
%token IS "'is'" LAMBDA "'lambda'" NONLOCAL "'nonlocal'" NOT "'not'" OR "'or'" PASS "'pass'" RAISE "'raise'"
%token RETURN "'return'" TRY "'try'" WHILE "'while'" WITH "'with'" YIELD "'yield'" MATCH "'match'" CASE "'case'"
  TYPE "'type'"
%token LPAREN "'('" RPAREN "')'" LBRACKET "'['" RBRACKET "']'" LBRACE "'{'" RBRACE "'}'"
%token COMMA "','" COLON "':'" SEMI "';'" DOT "'.'" ELLIPSIS "'...'" ARROW "'->'" AT "'@'" ASSIGN "'='" WALRUS "':='"
%token PLUS "'+'" MINUS "'-'" STAR "'*'" SLASH "'/'" DSLASH "'//'" PERCENT "'%'" DSTAR "'**'" LSHIFT "'<<'"
  RSHIFT "'>>'"
%token AMP "'&'" PIPE "'|'" CARET "'^'" TILDE "'~'" LT "'<'" GT "'>'" LE "'<='" GE "'>='" EQ "'=='" NE "'!='"
%token <op> AUG "augmented assignment"

%type <list> stmts stmts1 simple_line small_list block opt_else elif_chain decorators except_clauses finally_block
%type <list> star_items star_named_items expr_items arguments arg_items subscript_items params param_items lparams
  lparam_items
%type <list> dict_items comp_clauses with_items import_items import_names case_blocks strings opt_bases
%type <node> stmt compound small expr_stmt assign star_tests star_test star_named named test or_test and_test not_test
  comparison
%type <node> expr xor_expr and_expr shift_expr arith_expr term factor power await_primary primary atom exprlist
  expr_or_star
%type <node> yield_expr rhs annotation opt_return_type argument subscript opt_test param_item lparam_item dict_item
  comp_clause
%type <node> with_item list_item pattern_as import_item import_name except_clause decorated def_stmt class_stmt
  async_stmt if_stmt for_stmt while_stmt
%type <node> try_stmt with_stmt match_stmt case_block case_pattern opt_guard subscripts paren_item
%type <list> paren_items
%type <names> name_items
%type <name> dotted_name opt_as
%type <op> comp_op
%type <count> dots

%%

start
  : START_MODULE stmts END                 { p->result = ast_module(p, $2); }
  | START_EXPRESSION star_tests END        { p->result = $2; }
  | START_EXPRESSION yield_expr END        { p->result = $2; }
  ;

// ---- Lines and blocks ----

stmts
  : %empty                                 { $$ = ast_list_new(p, NULL); }
  | stmts stmt                             { $$ = ast_list_add(p, $1, $2); }
  | stmts simple_line                      { $$ = ast_list_join(p, $1, $2); }
  ;

stmts1
  : stmt                                   { $$ = ast_list_new(p, $1); }
  | simple_line
  | stmts1 stmt                            { $$ = ast_list_add(p, $1, $2); }
  | stmts1 simple_line                     { $$ = ast_list_join(p, $1, $2); }
  ;

stmt
  : compound
  | error NEWLINE                          { $$ = ast_error_line(p, @$); yyerrok; }
  | bad_indent stmts1 DEDENT               { $$ = ast_error_line(p, @$); }
  ;

bad_indent
  : INDENT                                 { ast_unexpected_indent(p, @1); }
  ;

simple_line
  : small_list NEWLINE
  | small_list SEMI NEWLINE
  ;

small_list
  : small                                  { $$ = ast_list_new(p, $1); }
  | small_list SEMI small                  { $$ = ast_list_add(p, $1, $3); }
  ;

block
  : simple_line
  | NEWLINE INDENT stmts1 DEDENT           { $$ = $3; }
  ;

// ---- Simple statements ----

small
  : expr_stmt
  | PASS                                   { $$ = ast_node(p, NODE_PASS, @$); }
  | BREAK                                  { $$ = ast_node(p, NODE_BREAK, @$); }
  | CONTINUE                               { $$ = ast_node(p, NODE_CONTINUE, @$); }
  | RETURN                                 { $$ = ast_unary(p, NODE_RETURN, PYOP_NONE, @$, NULL); }
  | RETURN star_tests                      { $$ = ast_unary(p, NODE_RETURN, PYOP_NONE, @$, $2); }
  | RAISE                                  { $$ = ast_pair(p, NODE_RAISE, @$, NULL, NULL); }
  | RAISE test                             { $$ = ast_pair(p, NODE_RAISE, @$, $2, NULL); }
  | RAISE test FROM test                   { $$ = ast_pair(p, NODE_RAISE, @$, $2, $4); }
  | GLOBAL name_items                      { $$ = ast_names(p, NODE_GLOBAL, @$, $2); }
  | NONLOCAL name_items                    { $$ = ast_names(p, NODE_NONLOCAL, @$, $2); }
  | DEL exprlist                           { $$ = ast_delete(p, @$, $2); }
  | ASSERT test                            { $$ = ast_pair(p, NODE_ASSERT, @$, $2, NULL); }
  | ASSERT test COMMA test                 { $$ = ast_pair(p, NODE_ASSERT, @$, $2, $4); }
  | IMPORT import_items                    { $$ = ast_import(p, NODE_IMPORT, @$, NULL, 0, $2); }
  | FROM dotted_name IMPORT import_names        { $$ = ast_import(p, NODE_IMPORT_FROM, @$, $2, 0, $4); }
  | FROM dots IMPORT import_names               { $$ = ast_import(p, NODE_IMPORT_FROM, @$, NULL, $2, $4); }
  | FROM dots dotted_name IMPORT import_names   { $$ = ast_import(p, NODE_IMPORT_FROM, @$, $3, $2, $5); }
  | TYPE NAME opt_type_params ASSIGN test  { $$ = ast_attr(p, NODE_TYPE_ALIAS, @$, $5, $2); }
  ;

name_items
  : NAME                                   { $$ = ast_names_add(p, NULL, $1); }
  | name_items COMMA NAME                  { $$ = ast_names_add(p, $1, $3); }
  ;

dots
  : DOT                                    { $$ = 1; }
  | ELLIPSIS                               { $$ = 3; }
  | dots DOT                               { $$ = $1 + 1; }
  | dots ELLIPSIS                          { $$ = $1 + 3; }
  ;

dotted_name
  : NAME
  | dotted_name DOT NAME                   { $$ = ast_name_join(p, $1, $3); }
  ;

opt_as
  : %empty                                 { $$ = NULL; }
  | AS NAME                                { $$ = $2; }
  ;

import_items
  : import_item                            { $$ = ast_list_new(p, $1); }
  | import_items COMMA import_item         { $$ = ast_list_add(p, $1, $3); }
  ;

import_item
  : dotted_name opt_as                     { $$ = ast_alias(p, @$, $1, $2); }
  ;

import_names
  : STAR                                   { $$ = ast_list_new(p, ast_alias(p, @$, "*", NULL)); }
  | import_name                            { $$ = ast_list_new(p, $1); }
  | import_names COMMA import_name         { $$ = ast_list_add(p, $1, $3); }
  | LPAREN import_names opt_comma RPAREN   { $$ = $2; }
  ;

import_name
  : NAME opt_as                            { $$ = ast_alias(p, @$, $1, $2); }
  ;

opt_comma
  : %empty
  | COMMA
  ;

expr_stmt
  : star_tests                             { $$ = ast_unary(p, NODE_EXPR_STMT, PYOP_NONE, @$, $1); }
  | yield_expr                             { $$ = ast_unary(p, NODE_EXPR_STMT, PYOP_NONE, @$, $1); }
  | assign
  | star_tests AUG rhs                     { $$ = ast_aug_assign(p, $2, @$, $1, $3); }
  | star_tests COLON annotation            { $$ = ast_ann_assign(p, @$, $1, $3, NULL); }
  | star_tests COLON annotation ASSIGN rhs { $$ = ast_ann_assign(p, @$, $1, $3, $5); }
  ;

assign
  : star_tests ASSIGN rhs                  { $$ = ast_assign(p, @$, $1, $3); }
  | assign ASSIGN rhs                      { $$ = ast_assign_more(p, @$, $1, $3); }
  ;

rhs
  : star_tests
  | yield_expr
  ;

annotation
  : test
  | STAR expr                              { $$ = ast_unary(p, NODE_POINTER_TYPE, PYOP_NONE, @$, $2); }
  ;

yield_expr
  : YIELD                                  { $$ = ast_unary(p, NODE_YIELD, PYOP_NONE, @$, NULL); }
  | YIELD star_tests                       { $$ = ast_unary(p, NODE_YIELD, PYOP_NONE, @$, $2); }
  | YIELD FROM test                        { $$ = ast_unary(p, NODE_YIELD_FROM, PYOP_NONE, @$, $3); }
  ;

// ---- Compound statements ----

compound
  : if_stmt | for_stmt | while_stmt | try_stmt | with_stmt | def_stmt | class_stmt | decorated | async_stmt | match_stmt
  ;

if_stmt
  : IF named COLON block elif_chain        { $$ = ast_if(p, @$, $2, $4, $5); }
  ;

elif_chain
  : opt_else
  | ELIF named COLON block elif_chain      { $$ = ast_list_new(p, ast_if(p, @$, $2, $4, $5)); }
  ;

opt_else
  : %empty                                 { $$ = NULL; }
  | ELSE COLON block                       { $$ = $3; }
  ;

while_stmt
  : WHILE named COLON block opt_else       { $$ = ast_loop(p, NODE_WHILE, @$, NULL, $2, $4, $5, @5); }
  ;

for_stmt
  : FOR exprlist IN star_tests COLON block opt_else  { $$ = ast_loop(p, NODE_FOR, @$, $2, $4, $6, $7, @7); }
  ;

try_stmt
  : TRY COLON block except_clauses opt_else          { $$ = ast_try(p, @$, $3, $4, $5, NULL); }
  | TRY COLON block except_clauses opt_else finally_block { $$ = ast_try(p, @$, $3, $4, $5, $6); }
  | TRY COLON block finally_block                    { $$ = ast_try(p, @$, $3, NULL, NULL, $4); }
  ;

finally_block
  : FINALLY COLON block                    { $$ = $3; }
  ;

except_clauses
  : except_clause                          { $$ = ast_list_new(p, $1); }
  | except_clauses except_clause           { $$ = ast_list_add(p, $1, $2); }
  ;

except_clause
  : EXCEPT COLON block                     { $$ = ast_except(p, @$, NULL, NULL, $3, false); }
  | EXCEPT test opt_as COLON block         { $$ = ast_except(p, @$, $2, $3, $5, false); }
  | EXCEPT test COMMA star_items opt_comma COLON block
                                           { $$ = ast_except(p, @$, ast_tuple(p, @2, $2, $4), NULL, $7, false); }
  | EXCEPT STAR test opt_as COLON block    { $$ = ast_except(p, @$, $3, $4, $6, true); }
  ;

with_stmt
  : WITH with_items COLON block            { $$ = ast_with(p, @$, $2, $4); }
  ;

with_items
  : with_item                              { $$ = ast_list_new(p, $1); }
  | with_items COMMA with_item             { $$ = ast_list_add(p, $1, $3); }
  ;

with_item
  : test                                   { $$ = ast_pair(p, NODE_WITH_ITEM, @$, $1, NULL); }
  | test AS expr                           { $$ = ast_pair(p, NODE_WITH_ITEM, @$, $1, $3); }
  ;

decorated
  : decorators def_stmt                    { $$ = ast_decorate(p, $1, $2); }
  | decorators class_stmt                  { $$ = ast_decorate(p, $1, $2); }
  | decorators ASYNC def_stmt              { $$ = ast_decorate(p, $1, ast_async($3, @2)); }
  ;

decorators
  : AT named NEWLINE                       { $$ = ast_list_new(p, $2); }
  | decorators AT named NEWLINE            { $$ = ast_list_add(p, $1, $3); }
  ;

def_stmt
  : DEF NAME opt_type_params LPAREN params RPAREN opt_return_type COLON block
                                           { $$ = ast_func(p, @$, $2, @2, $5, $7, $9); }
  ;

opt_type_params
  : %empty
  | LBRACKET type_params opt_comma RBRACKET
  ;

type_params
  : type_param
  | type_params COMMA type_param
  ;

type_param
  : NAME opt_type_default
  | NAME COLON test opt_type_default
  | STAR NAME opt_type_default
  | DSTAR NAME opt_type_default
  ;

opt_type_default
  : %empty
  | ASSIGN star_test
  ;

opt_return_type
  : %empty                                 { $$ = NULL; }
  | ARROW annotation                       { $$ = $2; }
  ;

params
  : %empty                                 { $$ = NULL; }
  | param_items opt_comma
  ;

param_items
  : param_item                             { $$ = ast_list_new(p, $1); }
  | param_items COMMA param_item           { $$ = ast_list_add(p, $1, $3); }
  ;

param_item
  : NAME                                   { $$ = ast_param(p, @$, $1, NULL, NULL, PARAM_NORMAL); }
  | NAME ASSIGN test                       { $$ = ast_param(p, @$, $1, NULL, $3, PARAM_NORMAL); }
  | NAME COLON annotation                  { $$ = ast_param(p, @$, $1, $3, NULL, PARAM_NORMAL); }
  | NAME COLON annotation ASSIGN test      { $$ = ast_param(p, @$, $1, $3, $5, PARAM_NORMAL); }
  | STAR                                   { $$ = ast_param_marker(p, @$, PARAM_KEYWORD_ONLY); }
  | STAR NAME                              { $$ = ast_param(p, @$, $2, NULL, NULL, PARAM_VARARGS); }
  | STAR NAME COLON annotation             { $$ = ast_param(p, @$, $2, $4, NULL, PARAM_VARARGS); }
  | DSTAR NAME                             { $$ = ast_param(p, @$, $2, NULL, NULL, PARAM_KWARGS); }
  | DSTAR NAME COLON annotation            { $$ = ast_param(p, @$, $2, $4, NULL, PARAM_KWARGS); }
  | SLASH                                  { $$ = ast_param_marker(p, @$, PARAM_POSITIONAL_ONLY); }
  ;

lparams
  : %empty                                 { $$ = NULL; }
  | lparam_items opt_comma
  ;

lparam_items
  : lparam_item                            { $$ = ast_list_new(p, $1); }
  | lparam_items COMMA lparam_item         { $$ = ast_list_add(p, $1, $3); }
  ;

lparam_item
  : NAME                                   { $$ = ast_param(p, @$, $1, NULL, NULL, PARAM_NORMAL); }
  | NAME ASSIGN test                       { $$ = ast_param(p, @$, $1, NULL, $3, PARAM_NORMAL); }
  | STAR                                   { $$ = ast_param_marker(p, @$, PARAM_KEYWORD_ONLY); }
  | STAR NAME                              { $$ = ast_param(p, @$, $2, NULL, NULL, PARAM_VARARGS); }
  | DSTAR NAME                             { $$ = ast_param(p, @$, $2, NULL, NULL, PARAM_KWARGS); }
  | SLASH                                  { $$ = ast_param_marker(p, @$, PARAM_POSITIONAL_ONLY); }
  ;

class_stmt
  : CLASS NAME opt_type_params opt_bases COLON block { $$ = ast_class(p, @$, $2, @2, $4, $6); }
  ;

opt_bases
  : %empty                                 { $$ = NULL; }
  | LPAREN arguments RPAREN                { $$ = $2; }
  ;

async_stmt
  : ASYNC def_stmt                         { $$ = ast_async($2, @$); }
  | ASYNC for_stmt                         { $$ = ast_async($2, @$); }
  | ASYNC with_stmt                        { $$ = ast_async($2, @$); }
  ;

match_stmt
  : MATCH star_named_items opt_comma COLON NEWLINE INDENT case_blocks DEDENT
                                           { $$ = ast_match(p, @$, ast_paren_items(p, @2, $2, $2->count > 1), $7); }
  ;

case_blocks
  : case_block                             { $$ = ast_list_new(p, $1); }
  | case_blocks case_block                 { $$ = ast_list_add(p, $1, $2); }
  ;

case_block
  : CASE case_pattern opt_guard COLON block { $$ = ast_case(p, @$, $2, $3, $5); }
  | error NEWLINE                          { $$ = ast_error_line(p, @$); yyerrok; }
  | bad_indent stmts1 DEDENT               { $$ = ast_error_line(p, @$); }
  ;

case_pattern
  : exprlist
  | exprlist AS NAME                       { $$ = ast_pair(p, NODE_WITH_ITEM, @$, $1, ast_name(p, @3, $3)); }
  ;

opt_guard
  : %empty                                 { $$ = NULL; }
  | IF named                               { $$ = $2; }
  ;

// ---- Expressions ----

star_tests
  : star_test
  | star_test COMMA                        { $$ = ast_list(p, NODE_TUPLE, @$, ast_list_new(p, $1)); }
  | star_test COMMA star_items opt_comma   { $$ = ast_tuple(p, @$, $1, $3); }
  ;

star_items
  : star_test                              { $$ = ast_list_new(p, $1); }
  | star_items COMMA star_test             { $$ = ast_list_add(p, $1, $3); }
  ;

star_test
  : test
  | STAR expr                              { $$ = ast_unary(p, NODE_STARRED, PYOP_NONE, @$, $2); }
  ;

star_named_items
  : list_item                              { $$ = ast_list_new(p, $1); }
  | star_named_items COMMA list_item       { $$ = ast_list_add(p, $1, $3); }
  ;

list_item
  : star_named
  | pattern_as
  ;

// An expression has no `as`: it belongs to a pattern.
pattern_as
  : test AS NAME                           { $$ = ast_as_in_brackets(p, @$, $1, ast_name(p, @3, $3)); }
  ;

star_named
  : named
  | STAR expr                              { $$ = ast_unary(p, NODE_STARRED, PYOP_NONE, @$, $2); }
  ;

named
  : test
  | NAME WALRUS test                       { $$ = ast_pair(p, NODE_NAMED_EXPR, @$, ast_name(p, @1, $1), $3); }
  ;

test
  : or_test
  | or_test IF or_test ELSE test           { $$ = ast_triple(p, NODE_IF_EXP, @$, $1, $3, $5); }
  | LAMBDA lparams COLON test              { $$ = ast_lambda(p, @$, $2, $4); }
  ;

or_test
  : and_test
  | or_test OR and_test                    { $$ = ast_boolop(p, PYOP_BOOL_OR, @$, $1, $3); }
  ;

and_test
  : not_test
  | and_test AND not_test                  { $$ = ast_boolop(p, PYOP_BOOL_AND, @$, $1, $3); }
  ;

not_test
  : comparison
  | NOT not_test                           { $$ = ast_unary(p, NODE_UNARY, PYOP_NOT, @$, $2); }
  ;

comparison
  : expr
  | comparison comp_op expr                { $$ = ast_compare(p, $2, @$, $1, $3); }
  ;

comp_op
  : LT     { $$ = PYOP_LT; }
  | GT     { $$ = PYOP_GT; }
  | LE     { $$ = PYOP_LE; }
  | GE     { $$ = PYOP_GE; }
  | EQ     { $$ = PYOP_EQ; }
  | NE     { $$ = PYOP_NE; }
  | IN     { $$ = PYOP_IN; }
  | NOT IN { $$ = PYOP_NOT_IN; }
  | IS     { $$ = PYOP_IS; }
  | IS NOT { $$ = PYOP_IS_NOT; }
  ;

expr
  : xor_expr
  | expr PIPE xor_expr                     { $$ = ast_binary(p, NODE_BINARY, PYOP_OR, @$, $1, $3); }
  ;

xor_expr
  : and_expr
  | xor_expr CARET and_expr                { $$ = ast_binary(p, NODE_BINARY, PYOP_XOR, @$, $1, $3); }
  ;

and_expr
  : shift_expr
  | and_expr AMP shift_expr                { $$ = ast_binary(p, NODE_BINARY, PYOP_AND, @$, $1, $3); }
  ;

shift_expr
  : arith_expr
  | shift_expr LSHIFT arith_expr           { $$ = ast_binary(p, NODE_BINARY, PYOP_LSHIFT, @$, $1, $3); }
  | shift_expr RSHIFT arith_expr           { $$ = ast_binary(p, NODE_BINARY, PYOP_RSHIFT, @$, $1, $3); }
  ;

arith_expr
  : term
  | arith_expr PLUS term                   { $$ = ast_binary(p, NODE_BINARY, PYOP_ADD, @$, $1, $3); }
  | arith_expr MINUS term                  { $$ = ast_binary(p, NODE_BINARY, PYOP_SUB, @$, $1, $3); }
  ;

term
  : factor
  | term STAR factor                       { $$ = ast_binary(p, NODE_BINARY, PYOP_MUL, @$, $1, $3); }
  | term AT factor                         { $$ = ast_binary(p, NODE_BINARY, PYOP_MATMUL, @$, $1, $3); }
  | term SLASH factor                      { $$ = ast_binary(p, NODE_BINARY, PYOP_DIV, @$, $1, $3); }
  | term DSLASH factor                     { $$ = ast_binary(p, NODE_BINARY, PYOP_FLOORDIV, @$, $1, $3); }
  | term PERCENT factor                    { $$ = ast_binary(p, NODE_BINARY, PYOP_MOD, @$, $1, $3); }
  ;

factor
  : power
  | PLUS factor                            { $$ = ast_unary(p, NODE_UNARY, PYOP_POS, @$, $2); }
  | MINUS factor                           { $$ = ast_unary(p, NODE_UNARY, PYOP_NEG, @$, $2); }
  | TILDE factor                           { $$ = ast_unary(p, NODE_UNARY, PYOP_INVERT, @$, $2); }
  ;

power
  : await_primary
  | await_primary DSTAR factor             { $$ = ast_binary(p, NODE_BINARY, PYOP_POW, @$, $1, $3); }
  ;

await_primary
  : primary
  | AWAIT primary                          { $$ = ast_unary(p, NODE_AWAIT, PYOP_NONE, @$, $2); }
  ;

primary
  : atom
  | primary DOT NAME                       { $$ = ast_attr(p, NODE_ATTRIBUTE, @$, $1, $3); }
  | primary LPAREN arguments RPAREN        { $$ = ast_call(p, @$, $1, $3); }
  | primary LBRACKET subscripts RBRACKET   { $$ = ast_pair(p, NODE_SUBSCRIPT, @$, $1, $3); }
  ;

atom
  : NAME                                   { $$ = ast_name(p, @$, $1); }
  | NUMBER                                 { $$ = ast_number(p, @$); }
  | strings                                { $$ = ast_strings(p, $1); }
  | NONE                                   { $$ = ast_node(p, NODE_NONE, @$); }
  | TRUE                                   { $$ = ast_node(p, NODE_TRUE, @$); }
  | FALSE                                  { $$ = ast_node(p, NODE_FALSE, @$); }
  | ELLIPSIS                               { $$ = ast_node(p, NODE_ELLIPSIS, @$); }
  | LPAREN RPAREN                          { $$ = ast_paren_items(p, @$, NULL, true); }
  | LPAREN yield_expr RPAREN               { $$ = ast_paren(@$, $2); }
  | LPAREN paren_items RPAREN              { $$ = ast_paren_items(p, @$, $2, false); }
  | LPAREN paren_items COMMA RPAREN        { $$ = ast_paren_items(p, @$, $2, true); }
  | LPAREN star_named comp_clauses RPAREN  { $$ = ast_paren(@$, ast_comp(p, NODE_GENERATOR, @$, $2, NULL, $3)); }
  | LBRACKET RBRACKET                      { $$ = ast_list(p, NODE_LIST, @$, NULL); }
  | LBRACKET star_named_items opt_comma RBRACKET      { $$ = ast_list(p, NODE_LIST, @$, $2); }
  | LBRACKET star_named comp_clauses RBRACKET         { $$ = ast_comp(p, NODE_LIST_COMP, @$, $2, NULL, $3); }
  | LBRACE RBRACE                          { $$ = ast_dict(p, @$, NULL); }
  | LBRACE dict_items opt_comma RBRACE     { $$ = ast_dict(p, @$, $2); }
  | LBRACE test COLON test comp_clauses RBRACE        { $$ = ast_comp(p, NODE_DICT_COMP, @$, $2, $4, $5); }
  | LBRACE star_named_items opt_comma RBRACE          { $$ = ast_list(p, NODE_SET, @$, $2); }
  | LBRACE star_named comp_clauses RBRACE  { $$ = ast_comp(p, NODE_SET_COMP, @$, $2, NULL, $3); }
  ;

paren_items
  : paren_item                             { $$ = ast_list_new(p, $1); }
  | paren_items COMMA paren_item           { $$ = ast_list_add(p, $1, $3); }
  ;

paren_item
  : star_named
  | test AS expr                           { $$ = ast_as_in_brackets(p, @$, $1, $3); }
  ;

strings
  : STRING                                 { $$ = ast_list_new(p, ast_raw_string(p, @1)); }
  | strings STRING                         { $$ = ast_list_add(p, $1, ast_raw_string(p, @2)); }
  ;

dict_items
  : dict_item                              { $$ = ast_list_new(p, $1); }
  | dict_items COMMA dict_item             { $$ = ast_list_add(p, $1, $3); }
  ;

dict_item
  : test COLON test                        { $$ = ast_dict_item(p, @$, $1, $3); }
  | test COLON pattern_as                  { $$ = ast_dict_item(p, @$, $1, $3); }
  | DSTAR expr                             { $$ = ast_dict_item(p, @$, NULL, $2); }
  ;

comp_clauses
  : comp_clause                            { $$ = ast_list_new(p, $1); }
  | comp_clauses comp_clause               { $$ = ast_list_add(p, $1, $2); }
  | comp_clauses IF or_test                { $$ = ast_comp_if(p, $1, $3); }
  ;

comp_clause
  : FOR exprlist IN or_test                { $$ = ast_comp_for(p, @$, $2, $4, false); }
  | ASYNC FOR exprlist IN or_test          { $$ = ast_comp_for(p, @$, $3, $5, true); }
  ;

exprlist
  : expr_or_star
  | expr_or_star COMMA                     { $$ = ast_list(p, NODE_TUPLE, @$, ast_list_new(p, $1)); }
  | expr_or_star COMMA expr_items opt_comma { $$ = ast_tuple(p, @$, $1, $3); }
  ;

expr_items
  : expr_or_star                           { $$ = ast_list_new(p, $1); }
  | expr_items COMMA expr_or_star          { $$ = ast_list_add(p, $1, $3); }
  ;

expr_or_star
  : expr
  | STAR expr                              { $$ = ast_unary(p, NODE_STARRED, PYOP_NONE, @$, $2); }
  ;

arguments
  : %empty                                 { $$ = NULL; }
  | arg_items opt_comma
  ;

arg_items
  : argument                               { $$ = ast_list_new(p, $1); }
  | arg_items COMMA argument               { $$ = ast_list_add(p, $1, $3); }
  ;

argument
  : named
  | named comp_clauses                     { $$ = ast_comp(p, NODE_GENERATOR, @$, $1, NULL, $2); }
  | pattern_as
  | test ASSIGN test                       { $$ = ast_keyword(p, @$, $1, $3); }
  | test ASSIGN pattern_as                 { $$ = ast_keyword(p, @$, $1, $3); }
  | STAR test                              { $$ = ast_unary(p, NODE_STARRED, PYOP_NONE, @$, $2); }
  | DSTAR test                             { $$ = ast_keyword(p, @$, NULL, $2); }
  ;

subscripts
  : subscript
  | subscript COMMA                        { $$ = ast_list(p, NODE_TUPLE, @$, ast_list_new(p, $1)); }
  | subscript COMMA subscript_items opt_comma { $$ = ast_tuple(p, @$, $1, $3); }
  ;

subscript_items
  : subscript                              { $$ = ast_list_new(p, $1); }
  | subscript_items COMMA subscript        { $$ = ast_list_add(p, $1, $3); }
  ;

subscript
  : star_named
  | opt_test COLON opt_test                { $$ = ast_triple(p, NODE_SLICE, @$, $1, $3, NULL); }
  | opt_test COLON opt_test COLON opt_test { $$ = ast_triple(p, NODE_SLICE, @$, $1, $3, $5); }
  ;

opt_test
  : %empty                                 { $$ = NULL; }
  | test
  ;

%%

static void tile_error(Span *span, PyParser *p, const char *message) {
  (void)message;   // only the parser's stack running out comes here; syntax errors go to yyreport_syntax_error
  ast_too_deep(p, *span);
}

// used is in bytes; the last stack is that of the spans. Stacks that cannot grow end the parse.
static void grow_stacks(PyParser *p, void *stacks[3], const ptrdiff_t used[3], ptrdiff_t *capacity) {
  const ptrdiff_t count = used[2] / (ptrdiff_t)sizeof(Span),
                  room = *capacity * 2 < YYMAXDEPTH ? *capacity * 2 : YYMAXDEPTH;
  if (room == *capacity) {
    tile_error((Span *)stacks[2] + count - 1, p, "");
    return;
  }
  for (int i = 0; i < 3; i++) {
    void *bigger = arena_alloc(&p->ctx->arena, (size_t)(room * (used[i] / count)));
    stacks[i] = memcpy(bigger, stacks[i], (size_t)used[i]);
  }
  *capacity = room;
}

static bool ends_line(const PyParser *p, Span span) {
  const char *s = p->file->text + (span.end - p->file->base);
  s += strspn(s, " \t\f");
  return !*s || strchr("\r\n#", *s);
}

// Reports the unexpected token and, if few are possible, the expected ones; for a header without its colon only that.
static int yyreport_syntax_error(const yypcontext_t *ctx, PyParser *p) {
  enum { SHOWN = 4 };
  if (!first_error_of_line(p)) return 0;
  Span span = *yypcontext_location(ctx);
  yysymbol_kind_t token = yypcontext_token(ctx);
  if (token == YYSYMBOL_COLON && p->num_brackets && indent_is_compound(p->line_keyword) && ends_line(p, span)) {
    indent_report_bracket(p);
    return 0;
  }
  yysymbol_kind_t expected[YYNTOKENS];
  int n = yypcontext_expected_tokens(ctx, expected, YYNTOKENS);
  if (n < 0) return n;

  const char *got = token == YYSYMBOL_YYEMPTY ? "input" : yysymbol_name(token);
  bool is_word = token == YYSYMBOL_NAME || token == YYSYMBOL_NUMBER;
  const char *text = p->file->text + (span.begin - p->file->base);
  int len = (int)(span.end - span.begin);
  const char *what = is_word && len < 60 ? arena_printf(&p->ctx->arena, "%s '%.*s'", got, len, text) : got;
  if (token == YYSYMBOL_AUG) what = arena_printf(&p->ctx->arena, "'%.*s'", len, text);

  bool wants_colon = false;
  for (int i = 0; i < n; i++) wants_colon |= expected[i] == YYSYMBOL_COLON;
  bool in_header = indent_is_compound(p->line_keyword) && !p->num_brackets && !p->header_done;
  char list[160] = "";
  if (wants_colon && in_header && token != YYSYMBOL_ASSIGN) {
    snprintf(list, sizeof list, ", expected ':'");
  } else if (n > 0 && n <= SHOWN) {
    size_t used = 0;
    for (int i = 0; i < n && used < sizeof list; i++)
      used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                               i == 0 ? ", expected " : i == n - 1 ? " or " : ", ", yysymbol_name(expected[i]));
  }
  diag_error(p->ctx, span, "unexpected %s%s", what, list);
  if (habit_hint(p, span)) return 0;
  if (token == YYSYMBOL_ASSIGN && in_header)
    diag_note(p->ctx, (Span){0, 0}, "write == to compare, := to assign in an expression");
  if (token == YYSYMBOL_STRING && p->before_last_kind == TOK_NAME)
    diag_note(p->ctx, (Span){0, 0}, "a call needs parentheses");
  return 0;
}
