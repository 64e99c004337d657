// Rewrites what ptxas and LLVM's instruction selection get wrong. `tests/random_kernels.py --expressions
// --device=gpu` looks for it.
//
// ptxas, seen in CUDA 12.8 and 13.0 and in a driver's assembler of that time, for chips from sm_90 on whatever target
// the PTX names:
//   - max(max(a, -b), c) of signed integers, and min likewise, becomes one instruction (VIMNMX3) without the sign of b
//     (reported for sm_100 up to CUDA 13.3 as pytorch/pytorch issue 190973). ptxas does not see ~b + 1 as a negation,
//     and makes the addition part of the maximum (VIADDMNMX): it costs no more.
//   - Maxima of 16 bits are done in pairs (VIMNMX.S16x2), and max(max(a, b), 0) keeps the pair's other half from being
//     less than 0, too. Therefore extrema of less than 32 bits are taken in 32.
//   - neg.s16 and abs.s16 of -2^15 are 2^15 if the result is then extended (llvm-project issue 160482).
//
// LLVM 22: a signed i1 becomes 1 as bf16, not -1.
#include <string.h>

#include "codegen/cg.h"

enum { SMAX, SMIN, UMAX, UMIN, ABS, NUM_INTRINSICS };
static const char *const names[NUM_INTRINSICS] = {"llvm.smax", "llvm.smin", "llvm.umax", "llvm.umin", "llvm.abs"};

// Makes the value of which v is the negation, in a form that ptxas knows as one. NULL if v is no negation.
static LLVMValueRef negated(LLVMBuilderRef b, LLVMValueRef v) {
  if (!LLVMIsAInstruction(v)) return NULL;
  LLVMValueRef first = LLVMGetNumOperands(v) == 2 ? LLVMGetOperand(v, 0) : NULL;
  LLVMValueRef second = first ? LLVMGetOperand(v, 1) : NULL;
  switch (LLVMGetInstructionOpcode(v)) {
  case LLVMSub: return LLVMIsNull(first) ? second : NULL;
  case LLVMShl: {
    LLVMValueRef w = negated(b, first);
    return w ? LLVMBuildShl(b, w, second, "") : NULL;
  }
  case LLVMMul: {   // by −2^k: a shift and a negation
    if (!LLVMIsAConstantInt(second)) return NULL;
    uint64_t magnitude = -(uint64_t)LLVMConstIntGetSExtValue(second);
    bool shifts = LLVMConstIntGetSExtValue(second) < 0 && !(magnitude & (magnitude - 1));
    return shifts ? LLVMBuildMul(b, first, LLVMConstInt(LLVMTypeOf(v), magnitude, false), "") : NULL;
  }
  default: return NULL;
  }
}

static LLVMValueRef extremum_in_32_bits(Cg *c, LLVMValueRef call, unsigned which) {
  LLVMValueRef wide[2];
  for (unsigned i = 0; i < 2; i++)
    wide[i] = LLVMBuildIntCast2(c->b, LLVMGetOperand(call, i), LLVMInt32TypeInContext(c->ll), which <= SMIN, "");
  return LLVMBuildTrunc(c->b, cg_binary_intrinsic(c, names[which], wide[0], wide[1]), LLVMTypeOf(call), "");
}

static void hide_negations(Cg *c, LLVMValueRef extremum) {
  for (unsigned i = 0; i < 2; i++) {
    LLVMValueRef w = negated(c->b, LLVMGetOperand(extremum, i));
    if (w) LLVMSetOperand(extremum, i, cg_insn(c, INSN_NEG_S32, LLVMTypeOf(extremum), &w, 1));
  }
}

// What replaces the instruction: itself, perhaps with other operands, or another value. ids: of the intrinsics.
static LLVMValueRef replacement(Cg *c, const unsigned ids[NUM_INTRINSICS], LLVMValueRef in) {
  LLVMTypeRef type = LLVMTypeOf(in);
  if (LLVMIsASIToFPInst(in) && LLVMTypeOf(LLVMGetOperand(in, 0)) == LLVMInt1TypeInContext(c->ll))
    return cg_select(c, LLVMGetOperand(in, 0), LLVMConstReal(type, -1), LLVMConstNull(type));
  if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind) return in;
  unsigned width = LLVMGetIntTypeWidth(type), which = 0;
  if (!LLVMIsAIntrinsicInst(in)) {
    LLVMValueRef w = width == 16 ? negated(c->b, in) : NULL;
    return w ? cg_insn(c, INSN_NEG_S16, type, &w, 1) : in;
  }
  unsigned id = LLVMGetIntrinsicID(LLVMGetCalledValue(in));
  while (which < NUM_INTRINSICS && ids[which] != id) which++;
  LLVMValueRef x = LLVMGetOperand(in, 0);
  if (which == ABS) return width == 16 ? cg_insn(c, INSN_ABS_S16, type, &x, 1) : in;
  if (which <= UMIN && width < 32) return extremum_in_32_bits(c, in, which);
  if (which <= SMIN && width == 32) hide_negations(c, in);
  return in;
}

static void rewrite_block(Cg *c, const unsigned ids[NUM_INTRINSICS], LLVMBasicBlockRef block) {
  for (LLVMValueRef in = LLVMGetFirstInstruction(block), next; in; in = next) {
    next = LLVMGetNextInstruction(in);
    LLVMPositionBuilderBefore(c->b, in);   // takes its source line, too
    LLVMValueRef other = replacement(c, ids, in);
    if (other == in) continue;
    LLVMReplaceAllUsesWith(in, other);
    LLVMInstructionEraseFromParent(in);
  }
}

void cg_avoid_backend_faults(Cg *c) {
  unsigned ids[NUM_INTRINSICS];
  for (uint32_t i = 0; i < NUM_INTRINSICS; i++) ids[i] = LLVMLookupIntrinsicID(names[i], strlen(names[i]));
  for (LLVMValueRef f = LLVMGetFirstFunction(c->mod); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
      rewrite_block(c, ids, block);
}
