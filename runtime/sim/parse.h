// The parser's state and the functions that the grammar's actions call.
#ifndef TILE_RUNTIME_SIM_PARSE_H
#define TILE_RUNTIME_SIM_PARSE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/map.h"
#include "runtime/sim/exec.h"

typedef struct { uint64_t bits; uint32_t float_bytes; } Number;   // float_bytes: 4 or 8 for a floating literal, else 0
typedef struct PtxScope PtxScope;
struct PtxScope {
  PtxScope *parent;
  uint32_t frame_top;          // frame offset to return to
  VEC(uint32_t) slots, preds;  // declared here: free for later scopes once this one closes
};
typedef struct OperandList { PtxOperand *data; uint32_t count, capacity; } OperandList;
typedef struct WordList { const char **data; uint32_t count, capacity; } WordList;
typedef struct Initializer Initializer;
struct Initializer {           // one scalar, flattened in order
  Number num;
  bool negative;
  const char *symbol;          // address of symbol + num, shifted right by mask's byte position
  uint64_t mask;
  Initializer *next;
};
typedef struct VarAttrs { Space space; bool is_reg; PtxType type; uint32_t vec, align; } VarAttrs;
typedef struct Declarator {
  const char *name;
  uint64_t elems;              // product of dimensions; 1 for a scalar
  bool is_array, open;         // open: x[]
  uint32_t range;
  Initializer *init;
} Declarator;
enum { LINK_VISIBLE = 1, LINK_EXTERN = 2, LINK_WEAK = 4, LINK_COMMON = 8 };

typedef struct Label { Symbol *use; uint32_t instr; uint32_t line; } Label;

struct PtxParser {
  PtxModule *m;
  Arena *arena;
  uint32_t line;
  PtxFunction *fn;
  PtxScope *scope, *global_scope;
  Map interned;                // the text of names
  Map symbols;                 // by name and scope
  Map mods, ops;               // numbers of modifiers and mnemonics, by name
  Map rows;                    // immediate rows, by their value
  VEC(Instr) code;
  VEC(Label) uses;             // label references of the current function
  SymbolVec params, rets;      // of the signature being read
  SymbolVec tables;        // .branchtargets of the current function
  VEC(uint32_t) free_slots, free_preds;
  const SrcLoc *loc;
  const char *guard;
  bool guard_negated;
  uint32_t instr_line;
  VarAttrs attrs;
  bool ptr_attr, returns;      // inside a parameter's .ptr attributes; inside a return list
  uint32_t linkage;
  uint32_t frame_top;
  uint32_t values[8], num_values;   // of the directive being read
  bool failed;
};

static inline uint64_t align_up(uint64_t x, uint64_t a) { return a ? (x + a - 1) / a * a : x; }

// symbols.c
const char *ptx_intern(PtxParser *p, const char *s, size_t n);
Symbol *ptx_lookup(PtxParser *p, const char *name);
Symbol *ptx_define(PtxParser *p, const char *name, SymKind kind);   // NULL (and an error) when the name is taken here
Symbol *ptx_find_in(PtxParser *p, const char *name, const PtxScope *scope);   // not in its parents
Symbol *ptx_new_symbol(PtxParser *p, const char *name, SymKind kind, PtxScope *scope);
void ptx_give_register(PtxParser *p, Symbol *s);                           // by its type
void ptx_open_scope(PtxParser *p);
void ptx_close_scope(PtxParser *p);
// parse.c
bool ptx_declare(PtxParser *p, const Declarator *d);
void ptx_open_attrs(PtxParser *p, int space_token);
bool ptx_type_attr(PtxParser *p, const char *name);
bool ptx_align_attr(PtxParser *p, uint64_t align);
bool ptx_begin_function(PtxParser *p, bool entry, const char *name);
bool ptx_name_function(PtxParser *p, const char *name);
bool ptx_add_param(PtxParser *p, const Declarator *d, bool is_return);
bool ptx_end_signature(PtxParser *p, bool has_body);
bool ptx_end_function(PtxParser *p);
bool ptx_add_label(PtxParser *p, const char *name);
bool ptx_add_targets(PtxParser *p, const char *name, const WordList *l);
bool ptx_function_directive(PtxParser *p, int token);
bool ptx_add_loc(PtxParser *p, bool inlined);
bool ptx_set_target(PtxParser *p, const char *name);
bool ptx_set_version(PtxParser *p, Number n);
bool ptx_add_file(PtxParser *p, uint64_t index, const char *path);
// decode.c
bool ptx_add_instr(PtxParser *p, const char *mnemonic, const WordList *mods, const OperandList *ops);
bool ptx_operand_name(PtxParser *p, const char *name, const char *suffix, PtxOperand *out);
bool ptx_memory_operand(PtxParser *p, const PtxOperand *base, const OperandList *rest, PtxOperand *out);
void ptx_operand_number(Number n, bool negative, PtxOperand *out);
void ptx_use_label(PtxParser *p,
                   const PtxOperand *label);   // Instr.target of the instruction being added becomes its address
void ptx_init_tables(PtxParser *p);

#endif
