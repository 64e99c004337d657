// Keeps the counters of loops in 32 bits. Where the body widens a counter and compares what it computes from that,
// LLVM's strength reduction counts in 64 bits alone, and the test at the end of the loop takes the low half. ptxas then
// does not see how often the loop runs, and does not unroll it, so the loads of several iterations are not in flight at
// once. The test therefore gets a counter of its own, which LLVM cannot express by the other one.
#include "codegen/cg.h"

// Whether a comparison takes what is computed from v in 64 bits. What only addresses take becomes a pointer that moves.
static bool is_compared_wide(LLVMValueRef v, bool is_wide, int depth) {
  for (LLVMUseRef use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use)) {
    const LLVMValueRef user = LLVMGetUser(use);
    const bool widens = LLVMIsASExtInst(user) || LLVMIsAZExtInst(user);
    if (is_wide && LLVMIsAICmpInst(user)) return true;
    if (depth && (widens || LLVMIsABinaryOperator(user)) && is_compared_wide(user, is_wide || widens, depth - 1))
      return true;
  }
  return false;
}

// What the phi of the loop's head is when the loop is entered from *from; NULL if `next` is not its value afterwards.
static LLVMValueRef start_of(LLVMValueRef phi, LLVMValueRef next, LLVMBasicBlockRef latch, LLVMBasicBlockRef *from) {
  if (!LLVMIsAPHINode(phi) || LLVMCountIncoming(phi) != 2) return NULL;
  const unsigned back = LLVMGetIncomingBlock(phi, 1) == latch;
  if (LLVMGetIncomingBlock(phi, back) != latch || LLVMGetIncomingValue(phi, back) != next) return NULL;
  *from = LLVMGetIncomingBlock(phi, !back);
  return LLVMGetIncomingValue(phi, !back);
}

// `latch` ends with a branch to `head` by a comparison of the counter's next value.
static void keep_counter(Cg *c, LLVMBasicBlockRef latch, LLVMBasicBlockRef head) {
  enum { MAX_DEPTH = 4 };
  const LLVMValueRef compare = LLVMGetCondition(LLVMGetBasicBlockTerminator(latch));
  if (!LLVMIsAICmpInst(compare)) return;
  const LLVMValueRef next = LLVMGetOperand(compare, 0);
  if (!LLVMIsABinaryOperator(next) || LLVMGetInstructionOpcode(next) != LLVMAdd || LLVMTypeOf(next) != c->t_i32) return;
  const LLVMValueRef phi = LLVMGetOperand(next, 0), step = LLVMGetOperand(next, 1);
  LLVMBasicBlockRef from;
  const LLVMValueRef start = start_of(phi, next, latch, &from);
  if (!start || LLVMGetInstructionParent(phi) != head || !LLVMIsAConstantInt(step)) return;
  if (!is_compared_wide(phi, false, MAX_DEPTH) && !is_compared_wide(next, false, MAX_DEPTH)) return;
  LLVMPositionBuilderBefore(c->b, phi);
  const LLVMValueRef counter = LLVMBuildPhi(c->b, c->t_i32, "");
  LLVMPositionBuilderBefore(c->b, compare);
  const LLVMValueRef sum = cg_opaque(c, LLVMBuildAdd(c->b, counter, step, ""));
  LLVMAddIncoming(counter, (LLVMValueRef[]){start, sum}, (LLVMBasicBlockRef[]){from, latch}, 2);
  LLVMSetOperand(compare, 0, sum);
}

void cg_keep_counters(Cg *c) {
  for (LLVMValueRef f = LLVMGetFirstFunction(c->mod); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block)) {
      const LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
      if (!LLVMIsABranchInst(end) || !LLVMIsConditional(end)) continue;
      for (unsigned i = 0; i < 2; i++) keep_counter(c, block, LLVMGetSuccessor(end, i));
    }
}
