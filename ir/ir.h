// The tile IR: every struct on one page.
//
// A Module holds functions (kernels). A Func has a body, a Block whose arguments are the function's parameters. A Block
// is a list of Ops that ends in a terminator. An Op reads Values (its operands) and defines Values (its results).
//
// Control flow is structured: `for`, `while`, `if`, `reduce` … own Blocks, and there is no other branch before LLVM.
// Dominance is therefore nesting: a Value is visible after its definition, in its Block and in the Blocks inside that.
// Values that a loop carries are arguments of its Block. In text (ir/print.c):
//
//   func @sum(%x: ptr<f32>, %n: i32) {
//     %zero = constant {value = 0} : i32
//     %one = constant {value = 1} : i32
//     %start = constant {value = 0.0} : f32
//     %total = for %zero, %n, %one, %start : f32 do (%i: i32, %sum: f32) {
//       %p = addptr %x, %i : ptr<f32>
//       %e = load %p, _, _, _ : f32
//       %next = addf %sum, %e : f32
//       yield %next
//     }
//     …
//
// A Module goes through three stages: TILE (tensors have no layouts), LAID_OUT (every tensor has one), ALLOCATED (every
// shared buffer has an offset, and the block barriers are in place). ops.def says which op may be in which stage.
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

// Columns of ops.def, which explains each.
enum {
  TRAIT_PURE = 1 << 0, TRAIT_READS = 1 << 1, TRAIT_WRITES = 1 << 2, TRAIT_SYNC = 1 << 3, TRAIT_TERMINATOR = 1 << 4,
  TRAIT_REGION = 1 << 5, TRAIT_CARRIES = 1 << 6, TRAIT_LOOP = 1 << 7, TRAIT_ELEMENTWISE = 1 << 8,
  TRAIT_COMMUTES = 1 << 9, TRAIT_CONVERTS = 1 << 10, TRAIT_HALVES = 1 << 11, TRAIT_CONDITION = 1 << 12,
  TRAIT_MOVES = 1 << 13, TRAIT_BASE = 1 << 14, TRAIT_FREE = 1 << 15, TRAIT_TMA = 1 << 16, TRAIT_WGMMA = 1 << 17,
  TRAIT_ASYNC_PROXY = 1 << 18
};
typedef enum {
  UNIT_NONE, UNIT_ALU, UNIT_SFU, UNIT_FDIV, UNIT_IDIV, UNIT_EXCH, UNIT_DOT, UNIT_GMEM, UNIT_DESC, UNIT_SMEM, UNIT_SYNC,
  UNIT_FLOW
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
  Op *def;                 // the op whose result it is, or NULL
  Block *block;            // the block whose argument it is, or NULL
  uint32_t index;          // result or argument number
  Use *uses;
  const char *name;        // the variable's name in the source, for printing and messages; may be NULL
  uint32_t number;         // index for printing and dense tables; ir_number_values assigns it
  void *aux;               // belongs to the running pass or to codegen; undefined between passes
};

struct Op {
  Opcode opcode;
  Span span;               // source position; the front end's ops always have one
  const struct CallSite *inlined_at;  // the calls through which the op was inlined, innermost first, or NULL
  Block *parent;
  Op *prev, *next;
  Use *operands;
  uint32_t num_operands, cap_operands;
  Value *results;          // an array
  uint32_t num_results;
  Attr *attrs;
  uint32_t num_attrs;
  Block **blocks;
  uint32_t num_blocks;
  uint32_t mark;           // belongs to the running pass
};
typedef struct CallSite { Span span; const char *function; const struct CallSite *outer; } CallSite;

struct Block {
  Value **args;
  uint32_t num_args;
  Op *first, *last;
  Op *parent;              // NULL for a function's body
  Func *func;
};

// What a launcher passes for a parameter:
//   PARAM_PLAIN           a scalar or a pointer
//   PARAM_DESC            a descriptor: its tensor map, extents and strides
//   PARAM_AUTO_TENSORMAP  a tensor map that the launcher makes from other parameters
//   PARAM_SCRATCH         the address of the grid's global scratch
//   PARAM_DESC_FIELDS     a descriptor on targets without tensor maps: base, extents and strides, in that order
typedef enum {
  PARAM_PLAIN, PARAM_DESC, PARAM_AUTO_TENSORMAP, PARAM_SCRATCH, PARAM_DESC_FIELDS, NUM_PARAM_KINDS
} FuncParamKind;
typedef struct {
  const char *name;
  FuncParamKind kind;
  const char *spelling;    // Triton's: "*fp16", "i32", "u64", "tensordesc<fp16[128,64]>"
  int64_t divisible;       // the value or address is a multiple of this; 1: nothing is known
  // PARAM_DESC, PARAM_AUTO_TENSORMAP: how to make the tensor map.
  Padding padding;
  uint32_t swizzle_bytes;  // 0, 32, 64 or 128; the pass that chooses the tile's shared layout sets it
  bool is_signed;          // reductions through it compare elements as signed integers
  int64_t box[MAX_DESC_RANK];   // in elements, fastest axis last; may be narrower than the block shape
  // PARAM_AUTO_TENSORMAP: the numbers of the parameters that give base, extents and strides. Extents and strides are in
  // elements, fastest axis last; where a number is −1, the value below counts.
  int base_param, extent_params[MAX_DESC_RANK], stride_params[MAX_DESC_RANK];
  int64_t extent_values[MAX_DESC_RANK], stride_values[MAX_DESC_RANK];
  Span made_at;            // where the source makes the descriptor, or empty
} FuncParam;

struct Func {
  Module *module;
  const char *name;
  Span span;
  FuncParam *params;           // one for each argument of the body; DESC and DESC_FIELDS are of type desc<…>
  uint32_t num_params;
  Block *body;
  Func *next;
  // The constexpr parameters, which have no argument: name = value as text, for the metadata.
  const char **constexpr_names, **constexpr_values;
  uint32_t num_constexprs;
};

struct Module {
  Context *ctx;
  Stage stage;
  const Target *target;
  uint32_t num_warps;      // of the kernel proper
  uint32_t num_stages;     // stages of a pipelined loop that does not say how many
  uint32_t num_ctas;       // blocks in a cluster
  uint32_t maxnreg;        // most registers for each thread; 0: no limit
  uint32_t min_blocks;     // blocks per SM for which the assembler keeps registers; 0: its own choice
  uint32_t shared_bytes;   // dynamic shared memory of a block, from ALLOCATED on
  uint32_t fitting_stages; // if allocate_shared reported too much: the most num_stages that may fit; 0: none
  uint32_t scratch_bytes;  // global scratch of one program
  bool fp_fusion, debug, auto_tma, cooperative, pdl;
  bool as_written;         // layouts, copies and barriers are the author's: passes that choose them do not run
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
  uint16_t takes, gives;              // sets of element types; gives is 0 if the infer rule decides
} OpInfo;
extern const OpInfo op_info[NUM_OPS];
// Whether an op has any of the traits, by opcode and by op.
static inline bool op_has(Opcode oc, uint32_t traits) { return op_info[oc].traits & traits; }
static inline bool op_is(const Op *op, uint32_t traits) { return op_has(op->opcode, traits); }
static inline Unit op_unit(const Op *op) { return op_info[op->opcode].unit; }
// Instructions that a warp issues for an op of the unit on one element of each thread; 0: it depends on more.
static inline uint32_t unit_instructions(Unit unit) {
  switch (unit) {
    case UNIT_ALU: case UNIT_SFU: return 1;
    case UNIT_FDIV: return 12;
    case UNIT_IDIV: return 24;
    default: return 0;
  }
}
static inline bool op_is_int_division(const Op *op) {
  return op->opcode == OP_DIVSI || op->opcode == OP_DIVUI || op->opcode == OP_REMSI || op->opcode == OP_REMUI;
}
static inline bool op_is_atomic(const Op *op) {
  return op_unit(op) == UNIT_GMEM && op_is(op, TRAIT_READS) && op_is(op, TRAIT_WRITES);
}
static inline bool op_is_tma_copy(const Op *op) { return op_is(op, TRAIT_ASYNC_PROXY) && op_unit(op) == UNIT_SMEM; }
static inline bool op_is_tma_write(const Op *op) { return op_is_tma_copy(op) && op->opcode != OP_TMA_LOAD; }
uint32_t op_subject(Opcode oc);                    // the operand whose element type an elementwise op works on
bool op_takes(Opcode oc, const Type *t);           // whether an elementwise op's row accepts such elements
bool op_gives(Opcode oc, const Type *t);           // whether its row allows such elements in the result
// A set of element types in words: "integers", "f16, bf16, f32 and f64". name_of names a scalar.
const char *op_elems_text(Context *ctx, uint32_t set, const char *(*name_of)(ScalarKind k));
uint32_t op_num_fixed(Opcode oc);                  // operands before the list
bool op_has_list(Opcode oc);
bool op_operand_is_optional(Opcode oc, uint32_t i);
// Operands that ops have at different places. An op that lacks one gives −1 and NULL; an absent one is NULL, too.
typedef enum {
  OPERAND_PTR, OPERAND_OFFSET, OPERAND_MASK, OPERAND_OTHER, OPERAND_VALUE, OPERAND_BUF, OPERAND_BAR
} OperandName;
int op_operand_at(Opcode oc, OperandName name);
Value *op_named(const Op *op, OperandName name);
enum { DOT_A, DOT_B, DOT_ACC, DOT_USE_ACC };      // of all ops of UNIT_DOT; the last of wgmma alone
bool op_find(const char *name, size_t n, Opcode *oc);
const char *attr_name(AttrKey k);
// What an attribute holds. The word for value v of an enum is texts[v].
typedef enum { ATTR_CLASS_INT, ATTR_CLASS_INTS, ATTR_CLASS_STR, ATTR_CLASS_BITS, ATTR_CLASS_ENUM } AttrClass;
typedef struct { AttrClass cls; const char *const *texts; uint32_t num_texts; } AttrKind;
const AttrKind *attr_kind(AttrKey k);
bool attr_find(const char *name, size_t n, AttrKey *k);

// ---- op.c ----
Module *module_new(Context *ctx, const Target *target);
Func *func_new(Module *m, const char *name, Span span);           // with an empty body; appended to m->funcs
Value *func_add_param(Func *f, const Type *type, FuncParam param);
// The bytes that a launch passes, and how many it may pass: 4096 before PTX 8.1 (CUDA 12.1).
enum { MAX_PARAM_BYTES = 32764, MAX_PARAM_BYTES_OLD = 4096 };
uint32_t func_param_bytes(const Func *f);
enum { MAX_STAGES = 64 };   // of a pipeline; a program that asks for more gets these
Value *block_add_arg(Context *ctx, Block *b, const Type *type);
void block_remove_arg(Block *b, uint32_t index);                  // the argument must have no uses

// Makes an op with num_blocks empty blocks, in no block itself. Optional operands may be NULL.
Op *op_new(Context *ctx, Func *func, Opcode oc, Span span, const Type *const *result_types, uint32_t num_results,
           Value *const *operands, uint32_t num_operands, uint32_t num_blocks);
Block *op_add_block(Context *ctx, Func *func, Op *op);            // an empty one, after its others
void op_insert_before(Op *op, Op *before);
void op_append(Op *op, Block *b);
void op_unlink(Op *op);                                           // takes it out of its block; operands and uses stay
void op_erase(Op *op);                                            // with its blocks; its results must have no uses
void op_move_before(Op *op, Op *before);
void op_set_operand(Op *op, uint32_t i, Value *v);
static inline void op_set_named(Op *op, OperandName name, Value *v) {
  op_set_operand(op, (uint32_t)op_operand_at(op->opcode, name), v);
}
void op_append_operand(Context *ctx, Op *op, Value *v);
void op_remove_operand(Op *op, uint32_t i);
// Old Values to new ones.
typedef Map ValueMap;
ValueMap *value_map_new(Context *ctx);
void value_map_set(Context *ctx, ValueMap *m, const Value *from, Value *to);
Value *value_map_get(const ValueMap *m, Value *v);                // v itself if it is not in the map
// Copies op and its blocks, in no block itself. Operands that are in the map are replaced; the results are added to it.
Op *op_clone(Context *ctx, const Op *op, ValueMap *map);
// Makes op again with other result types and operands (carried values were added or dropped), before op. The new op
// has op's attributes and takes over its blocks. The caller replaces the uses of the old results and erases op.
Op *op_rebuild(Context *ctx, Op *op, const Type *const *result_types, uint32_t num_results, Value *const *operands,
               uint32_t num_operands);
void value_replace_all_uses(Value *from, Value *to);
const Type **op_result_types(Context *ctx, const Op *op);
Value **op_result_values(Context *ctx, Op *op);
Value **op_operand_values(Context *ctx, const Op *op, uint32_t first);   // from operand `first` on
void op_replace(Op *op, Value *const *values);                    // uses of each result by a value; erases op
bool value_has_one_use(const Value *v);
static inline Value *op_operand(const Op *op, uint32_t i) { return op->operands[i].value; }
static inline Value *op_result(Op *op, uint32_t i) { return &op->results[i]; }
// The op that makes v if its opcode is oc, or NULL.
static inline Op *value_op(const Value *v, Opcode oc) { return v && v->def && v->def->opcode == oc ? v->def : NULL; }
Block *value_block(const Value *v);                               // the block in which it is defined
bool block_encloses(const Block *outer, const Block *inner);      // also true if they are the same
bool value_defined_outside(const Value *v, const Op *region_op);  // outside all blocks of region_op
bool op_operands_outside(const Op *op, const Op *region_op);      // all of the op's are
Op *block_terminator(const Block *b);

// Whether a comes before b, of two ops of a block.
static inline bool op_is_before(const Op *a, const Op *b) {
  while ((a = a->next) && a != b) {}
  return a != NULL;
}
// Whether both are computed by the same pure ops, of which it looks at a few.
bool value_is_alike(const Value *a, const Value *b);
bool op_is_alike(const Op *a, const Op *b);   // opcode, attributes, result types and number of operands are equal
const Attr *op_attr(const Op *op, AttrKey k);                     // NULL if absent
int64_t op_int(const Op *op, AttrKey k, int64_t otherwise);
const char *op_str(const Op *op, AttrKey k, const char *otherwise);
void op_set_int(Context *ctx, Op *op, AttrKey k, int64_t v);      // also for enums
void op_set_bits(Context *ctx, Op *op, AttrKey k, uint64_t v);
void op_set_str(Context *ctx, Op *op, AttrKey k, const char *s);
void op_set_ints(Context *ctx, Op *op, AttrKey k, const int64_t *v, uint32_t n);
void op_remove_attr(Op *op, AttrKey k);
void op_copy_attrs(Context *ctx, Op *to, const Op *from);

// The value of v if a `constant` makes it, directly or through `splat`: the element's bits; or the integer,
// sign-extended (i1: 0 or 1).
bool value_constant_bits(const Value *v, uint64_t *bits);
bool value_constant_int(const Value *v, int64_t *x);

// Visits all ops of a block and its nested blocks, an op before those in its blocks. A visit may erase or replace the
// op that it gets.
typedef void (*OpVisitor)(Op *op, void *user);
void block_walk(Block *b, OpVisitor visit, void *user);
void module_walk(Module *m, OpVisitor visit, void *user);
// Visits an op after those in its blocks; ops that a visit builds are not visited.
void module_walk_inside_out(Module *m, OpVisitor visit, void *user);
void module_clear_scratch(Module *m);                             // every Op.mark and Value.aux
// The op's place in a file of the user; for an op of the prelude, the user's call. site: the calls around that place.
Span op_user_span(const Context *ctx, const Op *op);
Span op_user_place(const Context *ctx, const Op *op, const CallSite **site);
bool op_only_computes(const Op *op);                              // it is pure, or an `if` or a `map` of such ops

// ---- print.c, parse.c, verify.c ----
struct Buf;
void ir_print_module(struct Buf *out, const Module *m);           // deterministic; ir_parse reads it back
void ir_print_op(struct Buf *out, const Op *op);
void ir_print_type(struct Buf *out, const Type *t);
void ir_number_values(Module *m);                                 // Value.number, from 0 in each function
uint32_t ir_count_values(const Func *f);
Module *ir_parse(Context *ctx, const SourceFile *file);           // NULL after diagnostics
bool ir_verify(Module *m);                                        // false after diagnostics that name op and rule

#endif
