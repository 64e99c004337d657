// Every IR struct on one page.
//
// A Module holds functions (kernels). A Func has a body Block whose arguments are its parameters. A Block is a list of Ops
// ending in a terminator. Control flow is structured: `for`, `while`, `if`, `reduce`, … own Blocks; there is no CFG before
// LLVM, so dominance is nesting: a Value is visible after its definition, in its Block and the Blocks nested in it.
// Loop-carried values are Block arguments.
//
// Stages (a property of the Module): TILE (tensors without layouts) → LAID_OUT (every tensor has one) → ALLOCATED
// (every shared buffer has an offset, barriers are in place). ops.def says which op may live where.
#ifndef TILE_IR_IR_H
#define TILE_IR_IR_H

#include "ir/context.h"
#include "ir/dtype.h"
#include "ir/target.h"
#include "ir/type.h"

typedef struct Module Module;
typedef struct Func Func;
typedef struct Block Block;
typedef struct Op Op;
typedef struct Value Value;
typedef struct Use Use;

typedef enum {
#define OP(id, name, operands, results, blocks, traits, stages, elems, unit, infer, verify, how) OP_##id,
#include "ir/ops.def"
  NUM_OPS
} Opcode;

typedef enum {
#define ATTR(id, text, kind) ATTR_##id,
#include "ir/attrs.def"
  NUM_ATTRS
} AttrKey;

#define ENUM_BEGIN(name) typedef enum {
#define V(prefix, id, text) prefix##_##id,
#define ENUM_END(name) } name;
#include "ir/enums.def"

typedef enum { STAGE_TILE = 1, STAGE_LAID_OUT = 2, STAGE_ALLOCATED = 4 } Stage;

// Columns of ops.def, where each is explained.
enum {
  TRAIT_PURE = 1 << 0, TRAIT_READS = 1 << 1, TRAIT_WRITES = 1 << 2, TRAIT_SYNC = 1 << 3, TRAIT_TERMINATOR = 1 << 4, TRAIT_REGION = 1 << 5,
  TRAIT_CARRIES = 1 << 6, TRAIT_LOOP = 1 << 7, TRAIT_ELEMENTWISE = 1 << 8, TRAIT_COMMUTES = 1 << 9, TRAIT_CONVERTS = 1 << 10,
  TRAIT_HALVES = 1 << 11, TRAIT_CONDITION = 1 << 12, TRAIT_MOVES = 1 << 13, TRAIT_BASE = 1 << 14, TRAIT_FREE = 1 << 15
};
typedef enum {
  UNIT_NONE, UNIT_ALU, UNIT_SFU, UNIT_FDIV, UNIT_IDIV, UNIT_EXCH, UNIT_DOT, UNIT_GMEM, UNIT_DESC, UNIT_SMEM, UNIT_SYNC, UNIT_FLOW
} Unit;

// An attribute is immutable; an op's attributes are sorted by key.
typedef struct {
  AttrKey key;
  uint32_t num_ints;       // INTS
  union {
    int64_t i;             // INT, enum
    uint64_t bits;         // BITS
    const char *str;       // STR, interned
    const int64_t *ints;   // INTS
  };
} Attr;

struct Use {
  Value *value;            // NULL for an absent optional operand
  Op *user;
  uint32_t index;          // which operand
  Use *next, *prev;        // in value->uses
};

struct Value {
  const Type *type;
  Op *def;                 // the op it is a result of, or NULL
  Block *block;            // the block it is an argument of, or NULL
  uint32_t index;          // result or argument number
  Use *uses;
  const char *name;        // hint for printing and messages, may be NULL (the source's variable name)
  uint32_t number;         // printing and dense tables; assigned by ir_number_values
  void *aux;               // scratch of the running pass or of codegen; undefined between passes
};

struct Op {
  Opcode opcode;
  Span span;               // source position, never empty for ops the frontend made
  const struct CallSite *inlined_at;  // chain of calls the op was inlined through, or NULL
  Block *parent;
  Op *prev, *next;
  Use *operands;
  uint32_t num_operands, cap_operands;
  Value *results;          // contiguous
  uint32_t num_results;
  Attr *attrs;
  uint32_t num_attrs;
  Block **blocks;
  uint32_t num_blocks;
  uint32_t mark;           // scratch of the running pass
};
typedef struct CallSite { Span span; const char *function; const struct CallSite *outer; } CallSite;

struct Block {
  Value **args;
  uint32_t num_args;
  Op *first, *last;
  Op *parent;              // NULL for a function's body
  Func *func;
};

// What a launcher must know of a parameter.
// PARAM_DESC_FIELDS: a descriptor where there are no tensor maps: base, extents and strides, in that order.
typedef enum { PARAM_PLAIN, PARAM_DESC, PARAM_AUTO_TENSORMAP, PARAM_SCRATCH, PARAM_DESC_FIELDS, NUM_PARAM_KINDS } FuncParamKind;
typedef struct {
  const char *name;
  FuncParamKind kind;
  const char *spelling;    // Triton's: "*fp16", "i32", "u64", "tensordesc<fp16[128,64]>"
  int64_t divisible;       // value or address is a multiple of this (1 = nothing known)
  // PARAM_DESC, PARAM_AUTO_TENSORMAP: how the tensor map is made
  Padding padding;
  uint32_t swizzle_bytes;  // 0, 32, 64, 128: set by the pass that chooses the tile's shared layout
  bool is_signed;          // its reductions compare elements as signed integers
  int64_t box[MAX_DESC_RANK];   // box in elements, fastest axis last (as the block shape); may be narrower than the block
  // PARAM_AUTO_TENSORMAP: parameter numbers the launcher reads; extents and strides in elements, fastest axis last
  int base_param, extent_params[MAX_DESC_RANK], stride_params[MAX_DESC_RANK];
  int64_t extent_values[MAX_DESC_RANK], stride_values[MAX_DESC_RANK];  // used where the param number is −1
} FuncParam;

struct Func {
  Module *module;
  const char *name;
  Span span;
  FuncParam *params;           // one per body argument; a PARAM_DESC or PARAM_DESC_FIELDS argument has type desc<…>
  uint32_t num_params;
  Block *body;
  Func *next;
  // what was specialised away, for metadata: name = text
  const char **constexpr_names, **constexpr_values;
  uint32_t num_constexprs;
};

struct Module {
  Context *ctx;
  Stage stage;
  const Target *target;
  uint32_t num_warps;      // of the kernel proper
  uint32_t num_stages;     // software pipelining default
  uint32_t num_ctas;
  uint32_t maxnreg;        // 0 = none
  uint32_t min_blocks;     // per SM, that the assembler keeps registers for; 0 = its own choice
  uint32_t shared_bytes;   // dynamic shared memory, from ALLOCATED on
  uint32_t fitting_stages; // where allocate_shared has reported too much: the most num_stages for which it may be enough; 0: none
  uint32_t scratch_bytes;  // global scratch per program
  bool fp_fusion, debug, auto_tma, cooperative, pdl;
  Func *funcs;
};

// Walks a list; the body must not unlink what it stands at.
#define EACH_FUNC(f, module) for (Func *f = (module)->funcs; f; f = f->next)
#define EACH_OP(op, block) for (Op *op = (block)->first; op; op = op->next)
#define EACH_USE(u, value) for (Use *u = (value)->uses; u; u = u->next)

// ---- op_info.c ----
typedef struct {
  const char *name;
  const char *operands;               // as in ops.def: "ptr offset? mask?", "lb ub step inits*"
  int8_t num_results, num_blocks;
  Unit unit;
  uint32_t traits, stages;
  uint16_t takes, gives;              // sets of elements; gives: 0 where the infer rule says
} OpInfo;
extern const OpInfo op_info[NUM_OPS];
static inline bool op_has(Opcode oc, uint32_t traits) { return op_info[oc].traits & traits; }   // any of them
static inline bool op_is(const Op *op, uint32_t traits) { return op_has(op->opcode, traits); }
static inline Unit op_unit(const Op *op) { return op_info[op->opcode].unit; }
static inline bool op_is_atomic(const Op *op) { return op_unit(op) == UNIT_GMEM && op_is(op, TRAIT_READS) && op_is(op, TRAIT_WRITES); }
uint32_t op_subject(Opcode oc);                                   // the operand whose element an elementwise op works on
bool op_takes(Opcode oc, const Type *t);                          // whether the elements may be operands of an elementwise op
bool op_gives(Opcode oc, const Type *t);                          // whether they may be its result, as far as the row says
// "integers", "f16, bf16, f32 and f64"
const char *elems_text(Context *ctx, uint32_t set, const char *(*name_of)(ScalarKind k));
uint32_t op_num_fixed(Opcode oc);                                 // operands before the list
bool op_has_list(Opcode oc);
bool op_operand_is_optional(Opcode oc, uint32_t i);
bool opcode_find(const char *name, size_t n, Opcode *oc);
const char *attr_name(AttrKey k);
// What an attribute holds. For enums, texts[value] is its spelling.
typedef enum { ATTR_CLASS_INT, ATTR_CLASS_INTS, ATTR_CLASS_STR, ATTR_CLASS_BITS, ATTR_CLASS_ENUM } AttrClass;
typedef struct { AttrClass cls; const char *const *texts; uint32_t num_texts; } AttrKind;
const AttrKind *attr_kind(AttrKey k);
bool attr_find(const char *name, size_t n, AttrKey *k);

// ---- op.c ----

Module *module_new(Context *ctx, const Target *target);
Func *func_new(Module *m, const char *name, Span span);           // empty body; appended to m->funcs
Value *func_add_param(Func *f, const Type *type, FuncParam param);
// What a launch passes, and how much that may be: 4096 bytes before PTX 8.1 (CUDA 12.1).
enum { MAX_PARAM_BYTES = 32764, MAX_PARAM_BYTES_OLD = 4096 };
uint32_t func_param_bytes(const Func *f);
Value *block_add_arg(Context *ctx, Block *b, const Type *type);
void block_remove_arg(Block *b, uint32_t index);                  // must have no uses

// Makes an op, linked nowhere. Operands may be NULL where optional. num_blocks empty blocks are made.
Op *op_new(Context *ctx, Func *func, Opcode oc, Span span, const Type *const *result_types, uint32_t num_results,
           Value *const *operands, uint32_t num_operands, uint32_t num_blocks);
void op_insert_before(Op *op, Op *before);
void op_append(Op *op, Block *b);
void op_unlink(Op *op);                                           // keeps operands and uses
void op_erase(Op *op);                                            // results must have no uses; drops its uses and its blocks
void op_move_before(Op *op, Op *before);
void op_set_operand(Op *op, uint32_t i, Value *v);
void op_append_operand(Context *ctx, Op *op, Value *v);
void op_remove_operand(Op *op, uint32_t i);
// Copies op (blocks too); operands are looked up in map (old Value → new) when present there.
typedef Map ValueMap;
ValueMap *value_map_new(Context *ctx);
void value_map_set(Context *ctx, ValueMap *m, const Value *from, Value *to);
Value *value_map_get(const ValueMap *m, Value *v);                // v itself when not mapped
Op *op_clone(Context *ctx, const Op *op, ValueMap *map);          // linked nowhere; results are added to map
// Makes op anew with other result types (added or dropped carried values): same opcode and attributes, blocks moved over,
// put before op. The caller maps the uses of the old results and erases op.
Op *op_rebuild(Context *ctx, Op *op, const Type *const *result_types, uint32_t num_results, Value *const *operands, uint32_t num_operands);
void value_replace_all_uses(Value *from, Value *to);
const Type **op_result_types(Context *ctx, const Op *op);
Value **op_result_values(Context *ctx, Op *op);
Value **op_operand_values(Context *ctx, const Op *op, uint32_t first);
void op_replace(Op *op, Value *const *values);                    // each result by a value; erases op
bool value_has_one_use(const Value *v);
static inline Value *op_operand(const Op *op, uint32_t i) { return op->operands[i].value; }
static inline Value *op_result(Op *op, uint32_t i) { return &op->results[i]; }
static inline Op *value_op(const Value *v, Opcode oc) { return v && v->def && v->def->opcode == oc ? v->def : NULL; }   // the op that makes v, if it is one of these
Block *value_block(const Value *v);                               // the block it is defined in
bool block_encloses(const Block *outer, const Block *inner);      // outer == inner counts
bool value_defined_outside(const Value *v, const Op *region_op);  // not inside any block of region_op
Op *block_terminator(const Block *b);

const Attr *op_attr(const Op *op, AttrKey k);                     // NULL when absent
int64_t op_int(const Op *op, AttrKey k, int64_t otherwise);
const char *op_str(const Op *op, AttrKey k, const char *otherwise);
void op_set_int(Context *ctx, Op *op, AttrKey k, int64_t v);      // also for enums
void op_set_bits(Context *ctx, Op *op, AttrKey k, uint64_t v);
void op_set_str(Context *ctx, Op *op, AttrKey k, const char *s);
void op_set_ints(Context *ctx, Op *op, AttrKey k, const int64_t *v, uint32_t n);
void op_remove_attr(Op *op, AttrKey k);
void op_copy_attrs(Context *ctx, Op *to, const Op *from);

// A constant's value, when v is made by `constant` (scalar or splat): raw bits.
bool value_constant_bits(const Value *v, uint64_t *bits);
bool value_constant_int(const Value *v, int64_t *x);              // sign-extended (i1: 0 or 1); integers only; sees through splat

// Walks all ops of a block and its nested blocks, outer before inner. The callback may erase or replace the current op.
typedef void (*OpVisitor)(Op *op, void *user);
void block_walk(Block *b, OpVisitor visit, void *user);
void module_walk(Module *m, OpVisitor visit, void *user);
void module_clear_scratch(Module *m);                             // every Op.mark and Value.aux
void module_walk_inside_out(Module *m, OpVisitor visit, void *user);   // an op after those in its blocks; what a visit builds is not visited
bool op_only_computes(const Op *op);                              // pure, or an `if` of what is

// ---- print.c, parse.c, verify.c ----
struct Buf;
void ir_print_module(struct Buf *out, const Module *m);           // deterministic; parses back to the same bytes
void ir_print_op(struct Buf *out, const Op *op);
void ir_print_type(struct Buf *out, const Type *t);
void ir_number_values(Module *m);                                 // from 0 in each function
uint32_t ir_count_values(const Func *f);
Module *ir_parse(Context *ctx, const SourceFile *file);           // NULL after diagnostics
bool ir_verify(Module *m);                                        // false after recording diagnostics that name op and rule

#endif
