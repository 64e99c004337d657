// The machine-instruction table and the inline assembly made from it.
#include "codegen/cg.h"

#include <string.h>

typedef struct {
  const char *name;
  uint32_t min_sm, min_ptx, effects;
  const char *text, *constraints;
} Insn;

#define INSN(id, sm, ptx, effects, text, constraints)                                                       \
  _Static_assert((sm) == 80 || (sm) == 89 || (sm) == 90, #id ": no target has this as its lowest SM");      \
  _Static_assert((ptx) >= ((sm) == 80 ? 70 : 78), #id ": the lowest SM came with a later PTX version");     \
  _Static_assert(sizeof text > 1 || sizeof constraints == 1, #id ": constraints without a text");
#include "codegen/nvptx.def"

static const Insn insns[NUM_INSNS] = {
#define INSN(id, sm, ptx, effects, text, constraints) {#id, sm, ptx, EFFECT_##effects, text, constraints},
#include "codegen/nvptx.def"
};

LLVMValueRef cg_asm(Cg *c, uint32_t effects, const char *text, const char *constraints, LLVMTypeRef result,
                    LLVMValueRef *args, unsigned n) {
  LLVMTypeRef *types = arena_array(c->arena, LLVMTypeRef, n);
  for (unsigned i = 0; i < n; i++) types[i] = LLVMTypeOf(args[i]);
  LLVMTypeRef ft = LLVMFunctionType(result, types, n, false);
  // LLVM's machine passes do not take a side effect for a store: without the clobber they sink loads past a barrier
  // into a later block.
  if (effects & EFFECT_SIDE)
    constraints = arena_printf(c->arena, "%s%s~{memory}", constraints, *constraints ? "," : "");
  LLVMValueRef fn = LLVMGetInlineAsm(ft, text, strlen(text), constraints, strlen(constraints),
                                     (effects & EFFECT_SIDE) != 0, false, LLVMInlineAsmDialectATT, false);
  LLVMValueRef call = LLVMBuildCall2(c->b, ft, fn, args, n, "");
  // Each convergent call must be marked: the attribute of the function does not cover it.
  if (effects & EFFECT_CONVERGENT) LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, c->convergent);
  if (!(effects & EFFECT_SIDE)) LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, c->memory_none);
  LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, c->nounwind);
  return call;
}

static LLVMValueRef call_insn(Cg *c, InsnId id, const char *text, const char *constraints, LLVMTypeRef result,
                              LLVMValueRef *args, unsigned n) {
  const Insn *in = &insns[id];
  if (!cg_has_insn(c, id)) {
    c->ctx->current_op = c->op;
    ice(c->ctx, "codegen: %s needs sm_%u, the target is %s", in->name, in->min_sm, c->target->name);
  }
  cg_require_ptx(c, in->min_ptx);
  return cg_asm(c, in->effects, text, constraints, result, args, n);
}

bool cg_has_insn(const Cg *c, InsnId id) { return c->target->sm >= insns[id].min_sm; }

LLVMValueRef cg_insn(Cg *c, InsnId id, LLVMTypeRef result, LLVMValueRef *args, unsigned n) {
  return call_insn(c, id, insns[id].text, insns[id].constraints, result, args, n);
}

CgAsm cg_asm_new(Cg *c) { return (CgAsm){.c = c, .text = buf_make(c->arena), .constraints = buf_make(c->arena)}; }

static void add_constraint(CgAsm *a, const char *modifier, LLVMTypeRef t) {
  uint32_t bits = cg_bits(a->c, t);
  const char *class = bits == 64 ? "l" : bits == 32 ? "r" : bits == 16 ? "h" : "b";
  if (t == a->c->t_f32 || t == a->c->t_f64) class = bits == 32 ? "f" : "d";
  buf_printf(&a->constraints, "%s%s%s", a->constraints.size ? "," : "", modifier, class);
}

uint32_t cg_asm_result(CgAsm *a, LLVMTypeRef type) {
  add_constraint(a, "=", type);
  vec_push(a->c->arena, &a->results, type);
  return a->results.count - 1;
}

uint32_t cg_asm_result_from(CgAsm *a, LLVMTypeRef type, uint64_t x) {
  add_constraint(a, "=&", type);   // written before the operands are read
  buf_printf(&a->text, "mov.b%u $%u, %llu; ", cg_bits(a->c, type), a->results.count, (unsigned long long)x);
  vec_push(a->c->arena, &a->results, type);
  return a->results.count - 1;
}

static LLVMValueRef add_arg(CgAsm *a, LLVMValueRef v) {
  if (LLVMTypeOf(v) == a->c->t_i8) v = LLVMBuildZExt(a->c->b, v, a->c->t_i16, "");
  vec_push(a->c->arena, &a->args, v);
  return v;
}

uint32_t cg_asm_arg(CgAsm *a, LLVMValueRef v) {
  add_constraint(a, "", LLVMTypeOf(add_arg(a, v)));
  return a->results.count + a->args.count - 1;
}

void cg_asm_tie(CgAsm *a, uint32_t result, LLVMValueRef v) {
  buf_printf(&a->constraints, ",%u", result);
  add_arg(a, v);
}

void cg_asm_list(CgAsm *a, const char *open, uint32_t first, uint32_t n, const char *close) {
  for (uint32_t i = 0; i < n; i++) buf_printf(&a->text, "%s$%u", i ? ", " : open, first + i);
  buf_puts(&a->text, close);
}

LLVMTypeRef cg_asm_type(Cg *c, LLVMTypeRef *results, uint32_t n) {
  return n == 0 ? c->t_void : n == 1 ? results[0] : LLVMStructTypeInContext(c->ll, results, n, false);
}

void cg_mark(Cg *c, LLVMValueRef in, unsigned kind) {
  LLVMSetMetadata(in, kind, LLVMMetadataAsValue(c->ll, LLVMMDNodeInContext2(c->ll, NULL, 0)));
}

LLVMValueRef cg_asm_call(CgAsm *a, InsnId id) {
  LLVMTypeRef result = cg_asm_type(a->c, a->results.data, a->results.count);
  return call_insn(a->c, id, buf_str(&a->text), buf_str(&a->constraints), result, a->args.data, a->args.count);
}

LLVMValueRef cg_opaque(Cg *c, LLVMValueRef v) {
  const bool narrow = LLVMTypeOf(v) == c->t_i8;   // no register has 8 bits
  CgAsm a = cg_asm_new(c);
  cg_asm_result(&a, narrow ? c->t_i16 : LLVMTypeOf(v));
  cg_asm_tie(&a, 0, v);
  const LLVMValueRef copy = cg_asm_call(&a, INSN_COPY);
  return narrow ? LLVMBuildTrunc(c->b, copy, c->t_i8, "") : copy;
}

LLVMValueRef cg_asm_get(Cg *c, LLVMValueRef call, uint32_t i) {
  return LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMStructTypeKind ? LLVMBuildExtractValue(c->b, call, i, "") : call;
}

// The threads of a part of one warp meet as a warp, which takes fewer cycles.
void cg_barrier(Cg *c) {
  LLVMValueRef part[] = {cg_i32(c, c->barrier), cg_i32(c, c->num_warps * WARP_SIZE)};
  if (c->num_warps == 1) cg_insn(c, INSN_WARP_SYNC, c->t_void, NULL, 0);
  else if (!c->roles.num_ops) cg_insn(c, INSN_BARRIER, c->t_void, NULL, 0);
  else cg_insn(c, INSN_BARRIER_PART, c->t_void, part, 2);
}

LLVMValueRef cg_barrier_vote(Cg *c, bool all, LLVMValueRef pred) {
  LLVMValueRef args[] = {cg_i32(c, c->barrier), cg_i32(c, c->num_warps * WARP_SIZE), pred};
  return cg_insn(c, all ? INSN_BARRIER_ALL : INSN_BARRIER_ANY, c->t_i1, args, 3);
}

// Shuffles each 32-bit word; narrower values are widened.
static LLVMValueRef shuffle_words(Cg *c, LLVMValueRef v, InsnId id, LLVMValueRef selector) {
  LLVMTypeRef t = LLVMTypeOf(v);
  uint32_t bits = cg_bits(c, t);
  LLVMValueRef x = cg_bitcast(c, v, LLVMIntTypeInContext(c->ll, bits));
  if (bits < 32) x = LLVMBuildZExt(c->b, x, c->t_i32, "");
  LLVMValueRef words[2];
  uint32_t n = bits > 32 ? 2 : 1;
  cg_unpack(c, x, n, 32, words);
  for (uint32_t i = 0; i < n; i++) words[i] = cg_insn(c, id, c->t_i32, (LLVMValueRef[]){words[i], selector}, 2);
  x = cg_pack(c, words, n, 32);
  if (bits < 32) x = LLVMBuildTrunc(c->b, x, LLVMIntTypeInContext(c->ll, bits), "");
  return cg_bitcast(c, x, t);
}

LLVMValueRef cg_shuffle_idx(Cg *c, LLVMValueRef v, LLVMValueRef source) {
  return shuffle_words(c, v, INSN_SHFL_IDX, source);
}
LLVMValueRef cg_shuffle_xor(Cg *c, LLVMValueRef v, uint32_t mask) {
  return shuffle_words(c, v, INSN_SHFL_BFLY, cg_i32(c, mask));
}
