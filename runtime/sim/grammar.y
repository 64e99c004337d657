/* PTX: modules, declarations, functions, statements. What an instruction means is decode.c's business: here it is a
   mnemonic, modifiers and operands. */
%define api.pure full
%define api.prefix {ptx}
%define parse.error verbose
%param {void *scanner}
%parse-param {struct PtxParser *p}
%code requires {
#include "runtime/sim/parse.h"
}
%union {
  Number num;
  const char *text;
  PtxOperand opnd;
  OperandList *opnds;
  WordList *names;
  Declarator decl;
  Initializer *init;
  struct { Initializer *first, *last; } inits;
  int token;
  uint32_t flags;
}
%code {
int ptxlex(PTXSTYPE *value, void *scanner);
static void ptxerror(void *scanner, struct PtxParser *p, const char *message) {
  (void)scanner;
  ptx_error(p, p->line, "%s", message);
}
#define ABORT_UNLESS(e) do { if (!(e)) YYABORT; } while (0)
static OperandList *list_add(PtxParser *p, OperandList *l, const PtxOperand *o) {
  if (!l) l = arena_new(p->arena, OperandList);
  vec_push(p->arena, l, *o);
  return l;
}
static WordList *name_add(PtxParser *p, WordList *l, const char *s) {
  if (!l) l = arena_new(p->arena, WordList);
  vec_push(p->arena, l, s);
  return l;
}
static PtxOperand *boxed(PtxParser *p, const PtxOperand *o) {
  PtxOperand *b = arena_new(p->arena, PtxOperand);
  *b = *o;
  return b;
}
static void value_add(PtxParser *p, uint64_t v) { if (p->num_values < 8) p->values[p->num_values++] = (uint32_t)v; }
}
%token <num> T_INT T_FLOAT
%token <text> T_WORD T_STRING T_DOT
%token T_BAD
%token <text> D_VERSION D_TARGET D_ADDRESS_SIZE D_FILE D_LOC D_ENTRY D_FUNC D_VISIBLE D_EXTERN D_WEAK D_COMMON
%token <text> D_REG D_SHARED D_GLOBAL D_CONST D_LOCAL D_PARAM D_ALIGN D_PTR D_ATTRIBUTE D_PRAGMA D_REQNTID D_MAXNTID
%token <text> D_MINNCTAPERSM D_MAXNCTAPERSM D_MAXNREG D_NORETURN D_REQNCTAPERCLUSTER D_EXPLICITCLUSTER D_MAXCLUSTERRANK
%token <text> D_BLOCKSARECLUSTERS D_CALLPROTOTYPE D_BRANCHTARGETS D_CALLTARGETS D_ALIAS
%type <opnd> operand name_operand
%type <opnds> operands operand_list
%type <names> mods words
%type <text> mod name_mod
%type <decl> declarator declared_name
%type <init> scalar address
%type <inits> initializer init_list
%type <token> space
%type <flags> linkage
%%
module: %empty | module item ;

item:
    D_VERSION T_FLOAT                             { ABORT_UNLESS(ptx_set_version(p, $2)); }
  | D_TARGET words
      { for (uint32_t i = 0; i < $2->count; i++) ABORT_UNLESS(ptx_set_target(p, $2->data[i])); }
  | D_ADDRESS_SIZE T_INT
      { if ($2.bits != 64) ABORT_UNLESS(ptx_error(p, p->line, "only .address_size 64 is supported")); }
  | D_FILE T_INT T_STRING                         { ABORT_UNLESS(ptx_add_file(p, $2.bits, $3)); }
  | D_FILE T_INT T_STRING ',' T_INT ',' T_INT     { ABORT_UNLESS(ptx_add_file(p, $2.bits, $3)); }
  | D_LOC loc
  | D_PRAGMA strings ';'
  | D_ALIAS T_WORD ',' T_WORD ';'                 { Symbol *f = ptx_lookup(p, $4);
        if (!f || f->kind != SYM_FUNC) ABORT_UNLESS(ptx_error(p, p->line, ".alias of unknown function %s", $4));
        Symbol *s = ptx_define(p, $2, SYM_FUNC); ABORT_UNLESS(s); s->func = f->func; }
  | linkage                                       { p->linkage = $1; } linked
  | ';'
  ;
linkage: %empty { $$ = 0; }
  | linkage D_VISIBLE { $$ = $1 | LINK_VISIBLE; } | linkage D_EXTERN { $$ = $1 | LINK_EXTERN; }
  | linkage D_WEAK { $$ = $1 | LINK_WEAK; } | linkage D_COMMON { $$ = $1 | LINK_COMMON; }
  ;
linked: variable ';' | function ;
words: T_WORD { $$ = name_add(p, NULL, $1); } | words ',' T_WORD { $$ = name_add(p, $1, $3); } ;
strings: T_STRING | strings ',' T_STRING ;

/* ---- declarations */
variable: space { ptx_open_attrs(p, $1); } attrs declarators ;
space: D_GLOBAL { $$ = D_GLOBAL; } | D_CONST { $$ = D_CONST; } | D_SHARED { $$ = D_SHARED; } | D_LOCAL { $$ = D_LOCAL; }
  | D_PARAM { $$ = D_PARAM; } | D_REG { $$ = D_REG; } ;
attrs: %empty | attrs attr ;
attr:
    T_DOT                                         { ABORT_UNLESS(ptx_type_attr(p, $1)); }
  | D_ALIGN T_INT                                 { ABORT_UNLESS(ptx_align_attr(p, $2.bits)); }
  | D_PTR { p->ptr_attr = true; } | D_GLOBAL | D_CONST | D_SHARED | D_LOCAL | D_PARAM
  | D_ATTRIBUTE '(' attr_items ')'
  ;
attr_items: attr_item | attr_items ',' attr_item ;
attr_item: T_DOT | T_DOT '(' T_INT ',' T_INT ')' ;
declarators: declarator { ABORT_UNLESS(ptx_declare(p, &$1)); }
  | declarators ',' declarator { ABORT_UNLESS(ptx_declare(p, &$3)); } ;
declarator: declared_name | declared_name '=' initializer { $$ = $1; $$.init = $3.first; } ;
declared_name:
    T_WORD                                        { $$ = (Declarator){.name = $1, .elems = 1}; }
  | T_WORD '<' T_INT '>'
      { if (!$3.bits || $3.bits > 10000000)
        ABORT_UNLESS(ptx_error(p, p->line, "bad register range <%llu>", (unsigned long long)$3.bits));
        $$ = (Declarator){.name = $1, .elems = 1, .range = (uint32_t)$3.bits}; }
  | declared_name '[' T_INT ']'                   { $$ = $1; $$.is_array = true;
        if ($3.bits > UINT32_MAX || $$.elems * $3.bits > UINT32_MAX)
          ABORT_UNLESS(ptx_error(p, p->line, "array %s is too large", $1.name));
                                                    $$.elems *= $3.bits; }
  | declared_name '[' ']'                         { $$ = $1; $$.is_array = $$.open = true; }
  ;
initializer: scalar { $$.first = $$.last = $1; } | '{' init_list '}' { $$ = $2; }
  | '{' '}' { $$.first = $$.last = NULL; } ;
init_list: initializer
  | init_list ',' initializer
      { $$ = $1; if (!$$.first) $$ = $3; else if ($3.first) { $$.last->next = $3.first; $$.last = $3.last; } } ;
scalar:
    T_INT                                         { $$ = arena_new(p->arena, Initializer); $$->num = $1; }
  | '-' T_INT
      { $$ = arena_new(p->arena, Initializer); $$->num = $2; $$->negative = true; }
  | T_FLOAT                                       { $$ = arena_new(p->arena, Initializer); $$->num = $1; }
  | '-' T_FLOAT
      { $$ = arena_new(p->arena, Initializer); $$->num = $2; $$->negative = true; }
  | address
  | address '+' T_INT                             { $$ = $1; $$->num.bits = $3.bits; }
  | address '-' T_INT                             { $$ = $1; $$->num.bits = -$3.bits; }
  | T_INT '(' address ')'                         { $$ = $3; $$->mask = $1.bits; }
  | T_INT '(' address '+' T_INT ')'               { $$ = $3; $$->mask = $1.bits; $$->num.bits = $5.bits; }
  ;
address:
    T_WORD                                        { $$ = arena_new(p->arena, Initializer); $$->symbol = $1; }
  | T_WORD '(' T_WORD ')'                         { $$ = arena_new(p->arena, Initializer); $$->symbol = $3; }
  ;

/* ---- functions */
function: signature directives ';'                { ABORT_UNLESS(ptx_end_signature(p, false)); }
  | signature directives '{'
      { ABORT_UNLESS(ptx_end_signature(p, true)); } statements '}' { ABORT_UNLESS(ptx_end_function(p)); }
  ;
signature: D_ENTRY T_WORD                         { ABORT_UNLESS(ptx_begin_function(p, true, $2)); } params
  | D_FUNC T_WORD                                 { ABORT_UNLESS(ptx_begin_function(p, false, $2)); } params
  | D_FUNC '('
      { ABORT_UNLESS(ptx_begin_function(p, false, NULL)); p->returns = true; } param_list ')'
    T_WORD                                        { p->returns = false; ABORT_UNLESS(ptx_name_function(p, $6)); } params
  ;
params: %empty | '(' param_list ')' | '(' ')' ;
param_list: param | param_list ',' param ;
param: space { ptx_open_attrs(p, $1); } attrs declared_name { ABORT_UNLESS(ptx_add_param(p, &$4, p->returns)); } ;
directives: %empty | directives directive ;
directive:
    D_REQNTID values                              { ABORT_UNLESS(ptx_function_directive(p, D_REQNTID)); }
  | D_MAXNTID values                              { ABORT_UNLESS(ptx_function_directive(p, D_MAXNTID)); }
  | D_MINNCTAPERSM values                         { p->num_values = 0; }
  | D_MAXNCTAPERSM values                         { p->num_values = 0; }
  | D_MAXNREG values                              { ABORT_UNLESS(ptx_function_directive(p, D_MAXNREG)); }
  | D_REQNCTAPERCLUSTER values                    { ABORT_UNLESS(ptx_function_directive(p, D_REQNCTAPERCLUSTER)); }
  | D_MAXCLUSTERRANK values                       { ABORT_UNLESS(ptx_function_directive(p, D_MAXCLUSTERRANK)); }
  | D_EXPLICITCLUSTER                             { ABORT_UNLESS(ptx_function_directive(p, D_EXPLICITCLUSTER)); }
  | D_BLOCKSARECLUSTERS
      { ABORT_UNLESS(ptx_error(p, p->line, ".blocksareclusters is not supported")); }
  | D_NORETURN
  | D_PRAGMA strings ';'
  | D_ATTRIBUTE '(' attr_items ')'
  ;
values: T_INT { p->num_values = 0; value_add(p, $1.bits); } | values ',' T_INT { value_add(p, $3.bits); } ;

/* ---- statements */
statements: %empty | statements statement ;
statement:
    variable ';'
  | T_WORD ':'                                    { ABORT_UNLESS(ptx_add_label(p, $1)); }
  | T_WORD ':' D_BRANCHTARGETS words ';'          { ABORT_UNLESS(ptx_add_targets(p, $1, $4)); }
  | T_WORD ':' D_CALLTARGETS words ';'            { ABORT_UNLESS(ptx_define(p, $1, SYM_TARGETS)); }
  | T_WORD ':' D_CALLPROTOTYPE prototype ';'      { ABORT_UNLESS(ptx_define(p, $1, SYM_TARGETS)); }
  | '@' T_WORD                                    { p->guard = $2; p->guard_negated = false; } instruction
  | '@' '!' T_WORD                                { p->guard = $3; p->guard_negated = true; } instruction
  | instruction
  | '{'                                           { ptx_open_scope(p); } statements '}' { ptx_close_scope(p); }
  | D_LOC loc
  | D_PRAGMA strings ';'
  | ';'
  ;
prototype: prototype_params T_WORD prototype_params prototype_end | T_WORD prototype_params prototype_end ;
prototype_params: '(' ')' | '(' prototype_list ')' ;
prototype_list: prototype_param | prototype_list ',' prototype_param ;
prototype_param: space { ptx_open_attrs(p, $1); } attrs declared_name ;
prototype_end: %empty | D_NORETURN ;
loc: loc_values loc_tail ;
loc_values: T_INT T_INT T_INT
      { p->num_values = 0; value_add(p, $1.bits); value_add(p, $2.bits); value_add(p, $3.bits); } ;
loc_tail: %empty                                  { ABORT_UNLESS(ptx_add_loc(p, false)); }
  | ',' T_WORD T_WORD loc_offset ',' T_WORD T_INT T_INT T_INT
      { value_add(p, $7.bits); value_add(p, $8.bits); value_add(p, $9.bits); ABORT_UNLESS(ptx_add_loc(p, true)); }
  ;
loc_offset: %empty | '+' T_INT ;
instruction: T_WORD { p->instr_line = p->line; } mods operands ';' { ABORT_UNLESS(ptx_add_instr(p, $1, $3, $4)); } ;
mods: %empty { $$ = NULL; } | mods mod { $$ = name_add(p, $1, $2); } ;
mod: T_DOT | D_SHARED | D_GLOBAL | D_LOCAL | D_CONST | D_PARAM | D_WEAK | D_ALIAS | D_BRANCHTARGETS ;
name_mod: T_DOT ;
operands: %empty { $$ = NULL; } | operand_list ;
operand_list: operand { $$ = list_add(p, NULL, &$1); } | operand_list ',' operand { $$ = list_add(p, $1, &$3); } ;
name_operand:
    T_WORD                                        { ABORT_UNLESS(ptx_operand_name(p, $1, NULL, &$$)); }
  | T_WORD name_mod                               { ABORT_UNLESS(ptx_operand_name(p, $1, $2, &$$)); }
  | T_WORD '+' T_INT
      { ABORT_UNLESS(ptx_operand_name(p, $1, NULL, &$$)); $$.offset = (int64_t)$3.bits; }
  | T_WORD '+' '-' T_INT
      { ABORT_UNLESS(ptx_operand_name(p, $1, NULL, &$$)); $$.offset = -(int64_t)$4.bits; }   // not "base-1", as ptxas
  ;
operand:
    name_operand
  | '!' T_WORD
      { ABORT_UNLESS(ptx_operand_name(p, $2, NULL, &$$)); $$.negated = true; }
  | T_WORD '|' T_WORD
      { PtxOperand q; ABORT_UNLESS(ptx_operand_name(p, $1, NULL, &$$));
        ABORT_UNLESS(ptx_operand_name(p, $3, NULL, &q)); $$.pair = boxed(p, &q); }
  | T_INT                                         { ptx_operand_number($1, false, &$$); }
  | '-' T_INT                                     { ptx_operand_number($2, true, &$$); }
  | T_FLOAT                                       { ptx_operand_number($1, false, &$$); }
  | '-' T_FLOAT                                   { ptx_operand_number($2, true, &$$); }
  | '{' operand_list '}'
      { $$ = (PtxOperand){.kind = OPND_VEC, .sub = $2->data, .count = $2->count}; }
  | '(' operand_list ')'
      { $$ = (PtxOperand){.kind = OPND_VEC, .sub = $2->data, .count = $2->count}; }
  | '(' ')'                                       { $$ = (PtxOperand){.kind = OPND_VEC}; }
  | '[' operand ']'                               { ABORT_UNLESS(ptx_memory_operand(p, &$2, NULL, &$$)); }
  | '[' operand ',' operand_list ']'              { ABORT_UNLESS(ptx_memory_operand(p, &$2, $4, &$$)); }
  ;
%%
