// Integer and plain floating-point arithmetic, one element at a time. No instruction carries fast-math flags: passes on
// the tile IR have fused what is fused.
#include "codegen/cg.h"

// ---- integers ----
#define BINARY(name, opcode) SCALAR_EMITTER(name) { return LLVMBuildBinOp(c->b, opcode, in[0], in[1], ""); }
BINARY(addi, LLVMAdd)
BINARY(subi, LLVMSub)
BINARY(andi, LLVMAnd)
BINARY(ori, LLVMOr)
BINARY(xori, LLVMXor)
BINARY(addf, LLVMFAdd)
BINARY(subf, LLVMFSub)
BINARY(mulf, LLVMFMul)
BINARY(divf_rn, LLVMFDiv)

// LLVM may assume that a divisor is not zero and remove what depends on it; a program that selects the result away
// afterwards relies on the opposite. Of a copy that it cannot see through it may assume what it likes. Equal copies are
// one value.
static LLVMValueRef divisor(Cg *c, LLVMValueRef d) {
  uint64_t x;
  if (cg_const_int(d, &x) && x) return d;
  const bool narrow = LLVMTypeOf(d) == c->t_i8;
  CgAsm a = cg_asm_new(c);
  cg_asm_result(&a, narrow ? c->t_i16 : LLVMTypeOf(d));
  cg_asm_tie(&a, 0, d);
  LLVMValueRef copy = cg_asm_call(&a, INSN_COPY);
  return narrow ? LLVMBuildTrunc(c->b, copy, c->t_i8, "") : copy;
}
// LLVM may also assume that nobody divides the least number by −1, which wraps. If the divisor is a constant, it
// would decide comparisons with the quotient by that.
SCALAR_EMITTER(divsi) {
  if (LLVMIsAConstantInt(in[1]) && LLVMConstIntGetSExtValue(in[1]) == -1) return LLVMBuildNeg(c->b, in[0], "");
  return LLVMBuildSDiv(c->b, in[0], divisor(c, in[1]), "");
}
SCALAR_EMITTER(divui) { return LLVMBuildUDiv(c->b, in[0], divisor(c, in[1]), ""); }
SCALAR_EMITTER(remsi) { return LLVMBuildSRem(c->b, in[0], divisor(c, in[1]), ""); }
SCALAR_EMITTER(remui) { return LLVMBuildURem(c->b, in[0], divisor(c, in[1]), ""); }

// (x / y) · y = x − x % y, if nothing else needs the quotient: one correction of it and the product are saved.
static LLVMValueRef multiple_below(Cg *c, const Value *x, const Value *y, LLVMValueRef quotient) {
  const Op *div = x->def;
  if (!div || (div->opcode != OP_DIVSI && div->opcode != OP_DIVUI) || op_operand(div, 1) != y ||
      !value_has_one_use(x) || !LLVMIsABinaryOperator(quotient))
    return NULL;
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(quotient);
  if (opcode != LLVMSDiv && opcode != LLVMUDiv) return NULL;
  LLVMValueRef from = LLVMGetOperand(quotient, 0), by = LLVMGetOperand(quotient, 1);
  if (LLVMIsAConstantInt(by)) return NULL;
  return LLVMBuildSub(c->b, from, LLVMBuildBinOp(c->b, opcode == LLVMSDiv ? LLVMSRem : LLVMURem, from, by, ""), "");
}

SCALAR_EMITTER(muli) {
  const Value *x = op_operand(op, 0), *y = op_operand(op, 1);
  LLVMValueRef below = multiple_below(c, x, y, in[0]);
  if (!below) below = multiple_below(c, y, x, in[1]);
  return below ? below : LLVMBuildMul(c->b, in[0], in[1], "");
}

// A shift by the width or more is poison in LLVM; in the tile IR it gives 0, or the sign.
static LLVMValueRef shift(Cg *c, LLVMValueRef *in, LLVMOpcode opcode) {
  LLVMTypeRef t = LLVMTypeOf(in[0]);
  uint32_t width = LLVMGetIntTypeWidth(t);
  uint64_t x;
  bool known = cg_const_int(in[1], &x);
  if (known && x < width) return LLVMBuildBinOp(c->b, opcode, in[0], in[1], "");
  LLVMValueRef fits = cg_cmp(c, LLVMIntULT, in[1], width);
  LLVMValueRef amount = cg_select(c, fits, in[1], cg_int(t, opcode == LLVMAShr ? width - 1 : 0));
  LLVMValueRef r = LLVMBuildBinOp(c->b, opcode, in[0], amount, "");
  return opcode == LLVMAShr ? r : cg_select(c, fits, r, LLVMConstNull(t));
}
SCALAR_EMITTER(shli) { return shift(c, in, LLVMShl); }
SCALAR_EMITTER(shrsi) { return shift(c, in, LLVMAShr); }
SCALAR_EMITTER(shrui) { return shift(c, in, LLVMLShr); }

SCALAR_EMITTER(mulhui) {
  uint32_t width = LLVMGetIntTypeWidth(LLVMTypeOf(in[0]));
  if (width == 32) return cg_insn(c, INSN_MULHI_U32, c->t_i32, in, 2);
  if (width == 64) return cg_insn(c, INSN_MULHI_U64, c->t_i64, in, 2);
  LLVMValueRef a = LLVMBuildZExt(c->b, in[0], c->t_i32, ""), b = LLVMBuildZExt(c->b, in[1], c->t_i32, "");
  LLVMValueRef p = cg_op(c, LLVMLShr, LLVMBuildMul(c->b, a, b, ""), width);
  return LLVMBuildTrunc(c->b, p, LLVMTypeOf(in[0]), "");
}

SCALAR_EMITTER(absi) { return cg_intrinsic_false(c, "llvm.abs", in[0]); }
SCALAR_EMITTER(clz) { return cg_intrinsic_false(c, "llvm.ctlz", in[0]); }

SCALAR_EMITTER(cmpi) {
  static const LLVMIntPredicate preds[] = {
    [CMP_EQ] = LLVMIntEQ, [CMP_NE] = LLVMIntNE,
    [CMP_SLT] = LLVMIntSLT, [CMP_SLE] = LLVMIntSLE, [CMP_SGT] = LLVMIntSGT, [CMP_SGE] = LLVMIntSGE,
    [CMP_ULT] = LLVMIntULT, [CMP_ULE] = LLVMIntULE, [CMP_UGT] = LLVMIntUGT, [CMP_UGE] = LLVMIntUGE,
  };
  return LLVMBuildICmp(c->b, preds[op_int(op, ATTR_PRED, CMP_EQ)], in[0], in[1], "");
}

SCALAR_EMITTER(select) { return cg_select(c, in[0], in[1], in[2]); }

// ---- floating point ----
SCALAR_EMITTER(negf) { return LLVMBuildFNeg(c->b, in[0], ""); }

SCALAR_EMITTER(cmpf) {
  static const LLVMRealPredicate preds[] = {
    [CMP_OEQ] = LLVMRealOEQ, [CMP_UNE] = LLVMRealUNE, [CMP_OLT] = LLVMRealOLT,
    [CMP_OLE] = LLVMRealOLE, [CMP_OGT] = LLVMRealOGT, [CMP_OGE] = LLVMRealOGE,
  };
  return LLVMBuildFCmp(c->b, preds[op_int(op, ATTR_PRED, CMP_OEQ)], in[0], in[1], "");
}

// ---- pointers ----
SCALAR_EMITTER(addptr) {
  const Type *p = type_elem(op_operand(op, 0)->type);
  LLVMValueRef offset = LLVMBuildIntCast2(c->b, in[1], c->t_i64, true, "");
  LLVMTypeRef unit = LLVMIntTypeInContext(c->ll, type_elem_bytes(p->elem) * 8);
  return LLVMBuildGEP2(c->b, unit, in[0], &offset, 1, "");
}
SCALAR_EMITTER(inttoptr) {
  return LLVMBuildIntToPtr(c->b, LLVMBuildIntCast2(c->b, in[0], c->t_i64, false, ""), c->t_gptr, "");
}
SCALAR_EMITTER(ptrtoint) { return LLVMBuildPtrToInt(c->b, in[0], cg_elem_type(c, op->results[0].type), ""); }
SCALAR_EMITTER(bitcast) {
  const Type *to = op->results[0].type;
  return cg_bitcast(c, in[0], cg_elem_type(c, to));
}
