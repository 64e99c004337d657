// The state of one module's translation to LLVM IR, and the functions that every lowering is written with.
//
// How a tile value looks in LLVM:
//   scalar               one LLVM scalar, the same in every thread
//   tensor               one LLVM scalar per register of its layout (register number = index); registers that hold the
//                        same element share one LLVM value, and a splat has one for all
//   buffer               one i32: byte offset from the start of dynamic shared memory. A slice with layout->moved has a
//                        second one, which is xored with the byte offset of each element
//   descriptor           [address of the tensor map (generic), or the base if the target has no maps; rank extents
//                        (i32); rank strides (i64)]
//   token                nothing
// Elements in registers: i1 is i1, fp8 formats are i8, pointers are in address space 1. In memory an i1 takes a byte.
//
// lower.c and the lowerings of ops with blocks (control flow, reductions, scans, combining functions) call each other:
// an op's emitter lowers the blocks inside it, and a block's lowering calls the emitters of its ops.
#ifndef TILE_CODEGEN_CG_H
#define TILE_CODEGEN_CG_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include "codegen/codegen.h"
#include "ir/arena.h"
#include "ir/roles.h"
#include "ir/scratch.h"

typedef enum {
#define INSN(id, sm, ptx, effects, text, constraints) INSN_##id,
#include "codegen/nvptx.def"
  NUM_INSNS
} InsnId;

typedef struct {
  uint32_t count;          // registers; a splat stores only v[0]
  bool splat;              // one value for all elements: in every register and every thread
  const char *pinned;      // name of the PTX registers that hold the accumulators (wgmma_acc.c); v is empty then
  LLVMValueRef v[];
} CgValue;

// Quotients and remainders of 64-bit tensors (lower_division.c).
typedef struct {
  const Value *x, *y;
  const Block *block;
  bool is_signed;
  CgValue *quotient, *remainder;
} CgDivision;

typedef struct DebugLines DebugLines;

typedef struct Cg {
  Context *ctx;
  Arena *arena;
  Module *module;
  Func *func;
  const Target *target;
  const CodegenOptions *options;
  LLVMContextRef ll;
  LLVMModuleRef mod;
  LLVMBuilderRef b;
  LLVMTypeRef t_void, t_i1, t_i8, t_i16, t_i32, t_i64, t_f16, t_bf16, t_f32, t_f64;
  LLVMTypeRef t_ptr, t_gptr;                 // generic, global
  LLVMTypeRef elem[NUM_SCALARS];             // of an element in a register
  LLVMAttributeRef nounwind, convergent, memory_none;
  // Metadata of an assembly that is a load of global memory, and of one that is a product on tensor cores.
  unsigned load_kind, product_kind;
  LLVMValueRef fn;
  LLVMValueRef smem;                         // the dynamic shared array; made on first use
  // Of the warps that run what is being lowered: the thread's number among them, its lane, its warp (i32); how many
  // warps they are; the named barrier at which they meet.
  LLVMValueRef tid, lane, warp;
  LLVMValueRef uniform_warp;                 // of cg_uniform_warp; made on first use
  uint32_t num_warps, barrier;
  RolesInfo roles;                           // of the function
  VEC(CgDivision) divisions;                 // of the function, so far
  VEC(Op *) roles_ops;                       // lowered so far; their workers are lowered after the kernel's own code
  struct { LLVMBasicBlockRef block; LLVMValueRef pred; } elected;   // the last election, of a lane of each warp
  struct { LLVMBasicBlockRef block; LLVMValueRef tid, pred; uint32_t free_thread; } owner;   // the last cg_owner_pred
  bool is_owner;                             // in a loop that only the owner of scalars enters
  LLVMBasicBlockRef entry, workers;          // workers: where those of `roles` go from the entry
  uint32_t ptx;                              // lowest PTX version that suffices so far, ×10
  uint32_t num_pinned;                       // names given to registers of pinned accumulators
  bool has_loops, has_allocas;
  DebugLines *debug;
  LLVMTargetMachineRef machine;              // these three may exist when a compilation is left by longjmp
  LLVMMemoryBufferRef buffer;
  char *message;
  const Op *op;                              // that is being lowered
} Cg;

// ---- values ----
CgValue *cg_value_new(Cg *c, uint32_t count);
CgValue *cg_splat(Cg *c, uint32_t count, LLVMValueRef v);
static inline LLVMValueRef cg_reg(const CgValue *v, uint32_t r) { return v->v[v->splat ? 0 : r]; }
static inline CgValue *cg_get(const Value *v) { return v->aux; }
static inline void cg_set(Value *v, CgValue *x) {
  if (x->count == 1 && v->type->kind != TYPE_TENSOR) x->splat = true;   // a scalar is one value
  v->aux = x;
}
static inline LLVMValueRef cg_scalar(const Value *v) { return ((const CgValue *)v->aux)->v[0]; }
void cg_set_scalar(Cg *c, Value *v, LLVMValueRef x);
uint32_t cg_num_regs(const Type *t);                       // LLVM scalars that a value of the type needs
LLVMTypeRef cg_elem_type(Cg *c, const Type *t);            // of the element, in a register
ScalarKind cg_elem_kind(const Type *t);                    // i64 for pointers
NORETURN void cg_unsupported(Cg *c, const Op *op, const char *why);

// ---- constants, small instructions ----
LLVMValueRef cg_i32(Cg *c, uint32_t v);
LLVMValueRef cg_i64(Cg *c, uint64_t v);
LLVMValueRef cg_int(LLVMTypeRef t, uint64_t v);
bool cg_const_int(LLVMValueRef v, uint64_t *x);
LLVMValueRef cg_add(Cg *c, LLVMValueRef a, LLVMValueRef b);   // cg_add, cg_xor, cg_and drop neutral operands
LLVMValueRef cg_xor(Cg *c, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef cg_and(Cg *c, LLVMValueRef a, LLVMValueRef b);   // of i1; NULL counts as true
// With a constant of the type of a.
LLVMValueRef cg_op(Cg *c, LLVMOpcode o, LLVMValueRef a, uint64_t b);
LLVMValueRef cg_cmp(Cg *c, LLVMIntPredicate p, LLVMValueRef a, uint64_t b);
LLVMValueRef cg_select(Cg *c, LLVMValueRef p, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef cg_bitcast(Cg *c, LLVMValueRef v, LLVMTypeRef t);
uint32_t cg_bits(Cg *c, LLVMTypeRef t);                       // of a scalar or vector type; pointers 64
// An element as an integer of its storage width (i1: i8) and back.
LLVMValueRef cg_to_storage(Cg *c, LLVMValueRef v, ScalarKind k);
LLVMValueRef cg_from_storage(Cg *c, LLVMValueRef v, LLVMTypeRef elem);
LLVMTypeRef cg_storage_type(Cg *c, const Type *t);
// A vector of the values, or the value if n is 1, and element i of such a vector.
LLVMValueRef cg_vector(Cg *c, const LLVMValueRef *v, uint32_t n);
LLVMValueRef cg_element(Cg *c, LLVMValueRef v, uint32_t i);
// Storage integers packed to one integer of n·bits (at most 64), lowest first, and back.
LLVMValueRef cg_pack(Cg *c, const LLVMValueRef *v, uint32_t n, uint32_t bits);
void cg_unpack(Cg *c, LLVMValueRef word, uint32_t n, uint32_t bits, LLVMValueRef *out);
LLVMValueRef cg_call_intrinsic(Cg *c, const char *name, LLVMTypeRef *overloads, unsigned num_overloads,
                               LLVMValueRef *args, unsigned n);
LLVMValueRef cg_unary_intrinsic(Cg *c, const char *name, LLVMValueRef x);   // overloaded on its argument
LLVMValueRef cg_binary_intrinsic(Cg *c, const char *name, LLVMValueRef x, LLVMValueRef y);
// Calls an intrinsic on x and `false`, which says that no x gives poison.
LLVMValueRef cg_intrinsic_false(Cg *c, const char *name, LLVMValueRef x);
void cg_set_range(Cg *c, LLVMValueRef call, uint64_t first, uint64_t end);   // what the call returns is below end
LLVMValueRef cg_special_register(Cg *c, const char *name, uint32_t axis);   // `tid`, `ctaid` or `nctaid`
LLVMBasicBlockRef cg_block(Cg *c, const char *name);
void cg_require_ptx(Cg *c, uint32_t version);

// ---- machine instructions (nvptx.c) ----
// An instruction whose row has its text.
LLVMValueRef cg_insn(Cg *c, InsnId id, LLVMTypeRef result, LLVMValueRef *args, unsigned n);
bool cg_has_insn(const Cg *c, InsnId id);     // on the target
// Any inline assembly.
LLVMValueRef cg_asm(Cg *c, uint32_t effects, const char *text, const char *constraints, LLVMTypeRef result,
                    LLVMValueRef *args, unsigned n);
enum { EFFECT_NONE = 0, EFFECT_SIDE = 1, EFFECT_CONVERGENT = 2, EFFECT_SYNC = 3 };

// An instruction whose row has no text, under construction. The lowering names the results first and then the
// operands; each gets the next number, $0 first, and the register class of its LLVM type. The lowering writes the
// text.
typedef struct {
  Cg *c;
  Buf text, constraints;
  VEC(LLVMTypeRef) results;
  VEC(LLVMValueRef) args;
} CgAsm;
CgAsm cg_asm_new(Cg *c);
uint32_t cg_asm_result(CgAsm *a, LLVMTypeRef type);        // returns its number
uint32_t cg_asm_result_from(CgAsm *a, LLVMTypeRef type, uint64_t x);   // its register has x before the instruction
uint32_t cg_asm_arg(CgAsm *a, LLVMValueRef v);             // returns its number; a byte is extended to 16 bits
void cg_asm_tie(CgAsm *a, uint32_t result, LLVMValueRef v);   // an operand that is in the register of that result
// Writes `$first, …`, n numbers, between the two.
void cg_asm_list(CgAsm *a, const char *open, uint32_t first, uint32_t n, const char *close);
LLVMValueRef cg_asm_call(CgAsm *a, InsnId id);
void cg_mark(Cg *c, LLVMValueRef in, unsigned kind);   // gives it this metadata, without a value
// A copy that LLVM cannot see through. Equal copies are one value.
LLVMValueRef cg_opaque(Cg *c, LLVMValueRef v);
// Result i of such a call.
LLVMValueRef cg_asm_get(Cg *c, LLVMValueRef call, uint32_t i);
// What an assembly with these results returns: void, the type, or a structure.
LLVMTypeRef cg_asm_type(Cg *c, LLVMTypeRef *results, uint32_t n);
// Chooses among offsets where code chooses among sums with one base (select_offsets.c).
void cg_select_offsets(Cg *c);
// Keeps the counters of loops in 32 bits (loop_counters.c).
void cg_keep_counters(Cg *c);
// Orders blocks that load more than registers hold (stream_loads.c).
void cg_stream_loads(Cg *c);
// Rewrites what LLVM takes superlinear time for, in the module as LLVM's passes leave it (linear_time.c).
void cg_keep_time_linear(Cg *c);
// Rewrites what the back end gets wrong, in the module as LLVM's passes leave it (backend_faults.c).
void cg_avoid_backend_faults(Cg *c);
void cg_barrier(Cg *c);                                    // of the warps that run what is being lowered
// A barrier at which these threads learn whether a predicate holds in all of them, or in any.
LLVMValueRef cg_barrier_vote(Cg *c, bool all, LLVMValueRef pred);
// The value that lane `source` (i32) has, of any element type.
LLVMValueRef cg_shuffle_idx(Cg *c, LLVMValueRef v, LLVMValueRef source);
// The warp's number, in a form from which ptxas knows that it is the same in all lanes.
LLVMValueRef cg_uniform_warp(Cg *c);
LLVMValueRef cg_shuffle_xor(Cg *c, LLVMValueRef v, uint32_t lane_mask);
// What follows, until cg_end_if, runs only in threads where pred holds. NULL: in all.
typedef struct { LLVMBasicBlockRef join; } CgIf;
CgIf cg_begin_if(Cg *c, LLVMValueRef pred);
void cg_end_if(Cg *c, CgIf g);
// The address in the shared window (i32) of, and a pointer to, a byte offset of dynamic shared memory.
LLVMValueRef cg_smem_addr(Cg *c, LLVMValueRef offset);
LLVMValueRef cg_smem_ptr(Cg *c, LLVMValueRef offset);

// ---- linear maps on LLVM values (layout_emit.c) ----
// A map from thread (lane, then warp, then block-in-cluster bits) and registers to an integer.
typedef struct {
  uint32_t num_reg_bits, num_thread_bits;    // thread bits: the lane's 5, then the warp's
  uint32_t reg[16], thread[16];
  uint32_t first;                            // of all registers: what register r's place is combined with, by xor
  uint32_t free_thread, free_reg;            // bits whose clear setting owns the data
  // In shared memory: paddings, and the start of a slice. placemap_scale scales all but `start`, which is in bytes.
  uint32_t num_pads;
  struct { uint32_t interval, by; } pad[LAYOUT_MAX_PADS];   // log2
  uint32_t moved, whole_bits;                // the bits that `start` may have; layout_whole_bits
  LLVMValueRef start;
} PlaceMap;
PlaceMap placemap_of_layout(const Layout *l);                              // → flat index
bool placemap_to_shared(const Layout *l, const Layout *shared, PlaceMap *m);   // → element offset in the tile
void placemap_scale(PlaceMap *m, uint32_t factor_log2);
uint32_t placemap_reg(const PlaceMap *m, uint32_t r);                      // constant part of register r
LLVMValueRef placemap_thread(Cg *c, const PlaceMap *m);                    // the thread's part, with the start
// Finds register bits that step the offset by 1, 2, 4, … and alone change those bits of it: registers along them form
// vectors at aligned offsets, of `most` elements at most. Returns how many bits there are.
enum { PLACEMAP_MAX_VECTOR = 8 };
uint32_t placemap_vector(const PlaceMap *m, uint32_t most, uint32_t bits[PLACEMAP_MAX_VECTOR]);
uint32_t placemap_disjoint(const PlaceMap *m, uint32_t constant);          // those bits that no thread's part has
uint32_t placemap_padded(const PlaceMap *m, uint32_t constant);            // with its paddings
// The xor of the columns at the set bits of tid.
LLVMValueRef cg_thread_bits(Cg *c, const uint32_t *columns, uint32_t n);
// The thread's part xor a constant, with an addition for the bits that are disjoint. In shared memory the result
// includes the paddings.
LLVMValueRef placemap_join(Cg *c, const PlaceMap *m, LLVMValueRef thread, uint32_t constant);
// i1: whether this thread owns its data (all free bits are clear). NULL if there are no free bits; UINT32_MAX: whether it
// is thread 0. Calls that follow each other in an LLVM block share one comparison.
LLVMValueRef cg_owner_pred(Cg *c, uint32_t free_thread);
LLVMValueRef cg_layout_owner(Cg *c, const Type *t);        // for a type; thread 0 owns scalars
// For each of cg_num_regs registers, the lowest register that holds the same element.
const uint32_t *cg_reps(Cg *c, const Type *t);
// Index of register r on `axis` as an i32 (thread part shared between calls through *thread).
LLVMValueRef cg_axis_index(Cg *c, const Layout *l, uint32_t axis, uint32_t r, LLVMValueRef *thread);
// x, whose registers have layout src, as registers of layout dst. NULL if a thread lacks an element.
CgValue *cg_rename(Cg *c, const CgValue *x, const Layout *dst, const Layout *src);

// From the registers of a tensor to the bytes of a buffer's tile, before placemap_scale.
PlaceMap cg_tile_map(Cg *c, const Op *op, const Type *tensor, const Value *buffer);

// ---- shared memory traffic (shared_access.c) ----
// Move elements between registers and shared memory at base (i32 byte offset) + map (element offsets), vectorised as
// the map allows. Only owning threads store; of them only those where pred holds, unless it is NULL.
void cg_shared_store(Cg *c, LLVMValueRef base, const PlaceMap *map, const Type *elem, const CgValue *values,
                     LLVMValueRef pred);
// Stores by stmatrix (lower_shared.c). Returns false, and stores nothing, unless values and tile have its 8×8
// fragments.
bool cg_shared_store_matrices(Cg *c, LLVMValueRef base, const PlaceMap *map, const Type *elem, const CgValue *values);
CgValue *cg_shared_load(Cg *c, LLVMValueRef base, const PlaceMap *map, const Type *elem);
bool cg_can_load_matrices(const PlaceMap *map, const Type *elem);
// Loads by ldmatrix if that is possible, and otherwise by vectors.
CgValue *cg_shared_load_fastest(Cg *c, LLVMValueRef base, const PlaceMap *map, const Type *elem);
LLVMValueRef cg_shared_load_one(Cg *c, LLVMValueRef offset, const Type *elem);
LLVMValueRef cg_scratch(Cg *c, const Op *op);              // i32 byte offset of the op's scratch

// ---- lowering ----
void cg_lower_func(Cg *c, Func *f);
void cg_lower_block(Cg *c, Block *b);                      // lowers all ops but the terminator
void cg_lower_op(Cg *c, Op *op);
// Around the body of a function with `roles` (lower_roles.c): sends the workers' warps elsewhere; ends the function for
// both.
void cg_begin_roles(Cg *c);
void cg_end_roles(Cg *c);
// Emits a region on scalars: binds args, lowers the ops, and writes the terminator's operands to out.
void cg_inline_region(Cg *c, Block *b, const LLVMValueRef *args, LLVMValueRef *out);
typedef LLVMValueRef ScalarEmitter(Cg *c, const Op *op, ScalarKind k, LLVMValueRef *in);
// Conversions of several elements at once (lower_cast.c).
bool cg_is_packed_cast(const Cg *c, const Op *op);
void cg_lower_packed_cast(Cg *c, Op *op, const uint32_t *reps);
bool cg_is_wide_division(Cg *c, const Op *op);             // of several 64-bit numbers
void cg_lower_wide_division(Cg *c, Op *op);
LLVMValueRef cg_float_to_f32(Cg *c, LLVMValueRef v, ScalarKind k);
LLVMValueRef cg_f32_to_float(Cg *c, LLVMValueRef v, ScalarKind k, Rounding rounding);

#define SCALAR_EMITTER(name) LLVMValueRef emit_##name(Cg *c, const Op *op UNUSED, ScalarKind k UNUSED, LLVMValueRef *in)

// The emitters that the op table names: of one element (SCALAR) or of the op (WHOLE). An LLVM row has none.
#define CG_DECLARE_SCALAR(name) ScalarEmitter emit_##name;
#define CG_DECLARE_LLVM(intrinsic) CG_DECLARE_GONE
#define CG_DECLARE_WHOLE(name) void emit_##name(Cg *c, Op *op);
#define CG_DECLARE_GONE(name)
#define OP(id, name, operands, results, blocks, traits, stages, elems, unit, infer, verify, how) CG_DECLARE_##how(name)
#include "ir/ops.def"

// ---- debug_info.c ----
DebugLines *debug_lines_new(Cg *c);
void debug_lines_begin_func(DebugLines *d, Func *f);
void debug_lines_set(DebugLines *d, const Op *op);
void debug_lines_finish(DebugLines *d);
void debug_lines_free(DebugLines *d);

#endif
