// A PTX module in memory: every struct on one page. ptx_module_load (load.c) reads the text (lexer.l, grammar.y,
// parse.c, symbols.c) and decodes each instruction (decode.c and the decode functions that ptx_ops.def names).
#ifndef TILE_RUNTIME_SIM_PTX_H
#define TILE_RUNTIME_SIM_PTX_H

#include "ir/arena.h"
#include "runtime/rt/cuda_types.h"
#include "runtime/rt/fault.h"

typedef struct Device Device;
typedef struct PtxModule PtxModule;
typedef struct PtxFunction PtxFunction;
typedef struct Instr Instr;
typedef struct PtxParser PtxParser;
typedef struct Warp Warp;

// ---------------------------------------------------------------------------------------------- types and modifiers

typedef enum {
  T_NONE,
#define PTX_TYPE(id, text, bits, cls) T_##id,
#include "runtime/sim/ptx_types.def"
#undef PTX_TYPE
  T_COUNT
} PtxType;
typedef enum { CLASS_NONE, CLASS_PRED, CLASS_BITS, CLASS_UINT, CLASS_SINT, CLASS_FLOAT } TypeClass;
typedef struct { const char *name; uint8_t bits; uint8_t cls; } TypeInfo;
extern const TypeInfo ptx_types[T_COUNT];

typedef enum {
#define PTX_MOD(id) M_##id,
#define PTX_MOD_TEXT(id, text) M_##id,
#include "runtime/sim/ptx_mods.def"
  M_COUNT
} PtxMod;
enum { MOD_WORDS = (M_COUNT + 63) / 64 };

typedef enum {
#define PTX_OP(mnemonic, decode, flags) OP_##mnemonic,
#include "runtime/sim/ptx_ops.def"
#undef PTX_OP
  OP_COUNT
} PtxOp;

// Flags of an op row. BITWISE, MOVE, CARRY and SHIFT say how undefined bits propagate from sources to destination
// (shadow_undef.c).
enum {
  OPF_NONE = 0,
  OPF_NO_DST = 1 << 0,         // operand 0 is a source (stores, branches, barriers)
  OPF_RAW_SYMS = 1 << 2,       // the family resolves symbol and special-register operands itself
  OPF_BITWISE = 1 << 4,        // definedness: per bit
  OPF_MOVE = 1 << 5,           // definedness: copied
  OPF_CARRY = 1 << 6,          // definedness: spreads from the lowest undefined bit upwards
  OPF_SHIFT = 1 << 7,          // definedness: shifted as the value
  OPF_OWN_SHADOW = 1 << 8,     // the handler or a memory hook sets the destination's definedness
};

// ------------------------------------------------------------------------------------------------------- module

typedef enum {
  SPACE_GENERIC, SPACE_GLOBAL, SPACE_SHARED, SPACE_SHARED_CLUSTER, SPACE_LOCAL, SPACE_CONST,
  SPACE_PARAM,                 // an entry's parameters: host memory
  SPACE_FRAME,                 // .param of a call or of a device function: the thread's local memory
} Space;

typedef struct SrcLoc SrcLoc;
struct SrcLoc { uint32_t file, line, col; const SrcLoc *inlined_at; };

typedef enum { SYM_VAR, SYM_REG, SYM_PRED, SYM_LABEL, SYM_FUNC, SYM_TARGETS } SymKind;
typedef struct Symbol Symbol;
struct Symbol {
  const char *name;
  const char *argument;        // of an entry's pointer parameter: its name in the source (driver.h), or NULL
  uint32_t elem_bytes;         // of what that pointer points to; 0: not known
  SymKind kind;
  Space space;                 // SYM_VAR
  PtxType type;                // element or register type
  uint64_t size;               // bytes, SYM_VAR; 0 for `.extern .shared x[]`
  uint32_t align;
  uint64_t addr;   // host address (global, const); offset in frame, parameter block; label: instruction index
  uint32_t slot;               // SYM_REG, SYM_PRED: first slot; SYM_VAR shared: index in Module.shared_syms
  uint32_t range;              // SYM_REG, SYM_PRED declared as name<range>; else 0
  bool is_extern;
  PtxFunction *func;              // SYM_FUNC
  struct { uint32_t *pcs; const char **names; uint32_t count; } targets;  // SYM_TARGETS
  uint32_t line;
  struct PtxScope *scope;
};

typedef enum {
  OPND_NONE, OPND_SINK,        // `_`
  OPND_REG, OPND_PRED, OPND_IMM,
  OPND_SREG,                   // special register (slot: SpecialReg); only mov sees it
  OPND_SYM,                    // address of sym + offset; only mov sees it
  OPND_MEM,                    // [base + offset], base by base_kind; sub: further bracket elements (tensor coordinates)
  OPND_VEC,                    // {sub[0], …}
  OPND_LABEL,                  // sym: label, function or target table
  OPND_COUNT
} OperandKind;
typedef struct PtxOperand PtxOperand;
struct PtxOperand {
  uint8_t kind;
  uint8_t bits;                // width of the register or element
  uint8_t base_kind;           // OPND_MEM: OPND_REG, OPND_SYM or OPND_IMM (absolute)
  bool negated;                // !p
  uint8_t float_bytes;         // OPND_IMM written as a floating-point literal: 4 or 8
  uint32_t slot;               // register slot, predicate index, special register
  uint32_t count;              // of sub
  const uint64_t *lanes;       // OPND_IMM: 32 equal values (offset keeps the value)
  Symbol *sym;
  int64_t offset;              // OPND_MEM, OPND_SYM
  PtxOperand *sub;
  PtxOperand *pair;               // second of `p|q`
};

typedef enum {
  EXEC_NEXT,   // done; lanes go to the following instruction
  EXEC_STALL,   // these lanes stay here until other lanes of the warp arrive or state changes
  EXEC_WAIT,   // as STALL, but they wait for something outside the warp; the scheduler polls
  EXEC_JUMP,   // the handler has set pc (and frame) of the active lanes
  EXEC_FAULT,   // a report has been made; the grid stops
} ExecResult;
typedef ExecResult (*ExecFn)(Warp *w, const Instr *in, uint32_t mask);
// Checks modifiers and operands, and sets in->exec. On an error it reports by decode_error and returns false.
typedef bool (*DecodeFn)(PtxParser *p, Instr *in);

enum { RND_NONE, RND_RN, RND_RZ, RND_RM, RND_RP, RND_RNA, RND_RS };
enum { CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE, CMP_NUM, CMP_NAN };  // | CMP_UNORDERED
enum { CMP_UNORDERED = 8 };
enum { BOOL_NONE, BOOL_AND, BOOL_OR, BOOL_XOR };

struct Instr {
  ExecFn exec;
  uint16_t op;                 // PtxOp
  uint16_t num_ops;
  int32_t guard;               // predicate index or -1
  bool guard_negated;
  bool ftz, sat, rint;         // rint: .rni .rzi .rmi .rpi
  uint8_t rnd;                 // RND_*; RND_NONE when not written
  uint8_t num_types;
  uint8_t type[5];             // PtxType, in the order written
  uint8_t space;               // Space of a memory access; GENERIC when not written
  uint8_t vec;                 // 1, 2, 4, 8
  uint8_t cmp, boolop;
  uint16_t sel;                // a decision of the family's own
  uint8_t num_mods;
  uint8_t numbers;             // NumberKind (numbers.h)
  uint16_t m, n, k;            // .mMnNkK
  uint32_t target;             // branch target, instruction index
  uint64_t modset[MOD_WORDS];  // which modifiers are written
  uint16_t *mods;              // in the order written (PtxMod)
  PtxOperand *ops;
  void *aux;                   // family's own decoded data
  const SrcLoc *loc;
  uint32_t line;               // of the PTX text
  uint32_t access;             // the number of an access of memory in the module, from 1; 0: of another instruction
  PtxFunction *func;
};
static inline bool has_mod(const Instr *in, PtxMod m) { return in->modset[m / 64] >> (m % 64) & 1; }
// The first of the modifiers that is written, or 0 (which is a type, .pred).
static inline PtxMod first_mod(const Instr *in, const PtxMod *mods, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (has_mod(in, mods[i])) return mods[i];
  return (PtxMod)0;
}
#define one_of(in, ...) \
  first_mod(in, (const PtxMod[]){__VA_ARGS__}, sizeof((const PtxMod[]){__VA_ARGS__}) / sizeof(PtxMod))
#define has_any(in, ...) (one_of(in, __VA_ARGS__) != 0)

struct PtxFunction {
  const char *name;
  PtxModule *module;
  bool is_entry, is_defined;
  bool names_pointers;         // entry: the pointers among params are those that have an argument's name
  Symbol **params, **rets;     // formal parameters; space PARAM (entry) or FRAME, or SYM_REG in the old style
  uint32_t num_params, num_rets;
  uint32_t param_bytes;        // entry: size of the parameter block
  uint32_t frame_bytes;        // .local and .param of one activation, per thread
  uint32_t num_slots, num_preds;
  uint32_t first, end;         // instructions [first, end)
  uint32_t reqntid[3], maxntid[3], reqcluster[3], maxnreg, max_cluster_rank;  // 0: not given
  bool explicit_cluster, nonportable_cluster;
  uint32_t *shared_offset;     // entry: by Module.shared_syms index; UINT32_MAX when the kernel does not use it
  uint32_t static_shared;      // entry: bytes, without SHARED_BASE
  uint32_t dynamic_align;
  int32_t max_dynamic_shared;  // function attribute; default 48 KB less static
  VEC(uint32_t) shared_used;   // shared_syms named by this function's own code
  VEC(PtxFunction *) callees;     // called, or address taken
  bool mark;                   // while walking the call graph
};

typedef VEC(Symbol *) SymbolVec;
// The text of a source file, or of a part that begins with its line first_line.
typedef struct { const char *file, *text; size_t size; uint32_t first_line; } SourceText;
// What numbers.c knows of an access: the format of its numbers plus 1, and what is not said, or has been.
typedef struct { uint8_t format, quiet, told; bool is_known; } AccessFormat;
struct PtxModule {
  Arena arena;
  Device *device;
  const char *text;            // NUL-terminated copy
  size_t text_size;
  const uint32_t *line_starts;
  uint32_t num_lines;
  uint32_t version, sm;        // 83, 90
  bool arch_specific;          // sm_90a
  Instr *code;                 // all functions, one after another; closed by OP_exit
  uint32_t num_code, num_accesses;
  bool knows_wraps;            // Instr.numbers has NUMBER_WRAP
  AccessFormat *formats;       // by Instr.access; or NULL
  VEC(PtxFunction *) funcs;
  SymbolVec globals;           // .global and .const
  SymbolVec shared_syms;
  VEC(const char *) files;     // by .file number
  VEC(SourceText) sources;     // of them that sim_show_source gave
  VEC(PlaceNote) notes;        // that sim_note_place gave
  VEC(SrcLoc) note_locs;       // their places
  const char *error;           // what is wrong with the text, or NULL
  CUresult error_code;
  struct CUmod_st *handle;     // the driver's, which owns this module
};

// Never NULL: module->error says what is wrong with the text, if anything. Allocates the module's globals on d.
PtxModule *ptx_module_load(Device *d, const char *text, size_t size);
void ptx_module_free(PtxModule *m);
PtxFunction *ptx_module_find(const PtxModule *m, const char *name);
const char *ptx_op_name(PtxOp op);
uint32_t ptx_op_flags(PtxOp op);
const char *ptx_mod_name(PtxMod mod);
// Does the instruction write operand 0? Of the barriers only barrier.red has a result.
static inline bool instr_has_dst(const Instr *in) {
  if (!in->num_ops) return false;
  return !(ptx_op_flags((PtxOp)in->op) & OPF_NO_DST) || ((in->op == OP_bar || in->op == OP_barrier) && in->sel);
}

#endif
