// Chooses among offsets where the code chooses among sums with one base:
//   p ? b + x : b + y = b + (p ? x : y)
// A reduction that carries an index does so for each of a thread's elements. Their indices are the thread's own plus a
// constant. The constants stand in the instructions; the sums would be in registers all through a loop, and leave too
// few of those for the loads. LLVM does this for sums with no other use only.
#include "codegen/cg.h"

typedef struct { LLVMValueRef base, offset; } Sum;

// v as base + offset, where the offset is a constant or a choice of such; the offset 0 is NULL.
static Sum sum_of(LLVMValueRef v) {
  if (!LLVMIsAInstruction(v)) return (Sum){v, NULL};
  LLVMOpcode o = LLVMGetInstructionOpcode(v);
  if (o != LLVMAdd && !(o == LLVMOr && LLVMGetIsDisjoint(v))) return (Sum){v, NULL};
  LLVMValueRef offset = LLVMGetOperand(v, 1);
  bool known = LLVMIsAConstantInt(offset) || LLVMIsASelectInst(offset);
  return known ? (Sum){LLVMGetOperand(v, 0), offset} : (Sum){v, NULL};
}

static bool feeds_select(LLVMValueRef v) {
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u))
    if (LLVMIsASelectInst(LLVMGetUser(u))) return true;
  return false;
}

// What replaces a choice of two integers, or NULL. A choice that ends no chain and begins none stays.
static LLVMValueRef replacement(Cg *c, LLVMValueRef select) {
  LLVMTypeRef t = LLVMTypeOf(select);
  if (LLVMGetTypeKind(t) != LLVMIntegerTypeKind) return NULL;
  Sum x = sum_of(LLVMGetOperand(select, 1)), y = sum_of(LLVMGetOperand(select, 2));
  if (x.base != y.base || (!x.offset && !y.offset)) return NULL;
  bool chained = x.offset && y.offset && (LLVMIsASelectInst(x.offset) || LLVMIsASelectInst(y.offset));
  if (!chained && !feeds_select(select)) return NULL;
  LLVMValueRef zero = LLVMConstNull(t);
  LLVMValueRef offset = LLVMBuildSelect(c->b, LLVMGetOperand(select, 0), x.offset ? x.offset : zero,
                                        y.offset ? y.offset : zero, "");
  return LLVMIsAConstantInt(offset) ? NULL : LLVMBuildAdd(c->b, x.base, offset, "");
}

void cg_select_offsets(Cg *c) {
  for (LLVMValueRef f = LLVMGetFirstFunction(c->mod); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
      for (LLVMValueRef in = LLVMGetFirstInstruction(block), next; in; in = next) {
        next = LLVMGetNextInstruction(in);
        if (!LLVMIsASelectInst(in)) continue;
        LLVMPositionBuilderBefore(c->b, in);
        LLVMValueRef other = replacement(c, in);
        if (!other) continue;
        LLVMReplaceAllUsesWith(in, other);
        LLVMInstructionEraseFromParent(in);
      }
}
