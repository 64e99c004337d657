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

// Of 32-bit elements, by the bits of a word: LLVM would make a select of `and` and `or` again.
static LLVMValueRef choose_bits(Cg *c, LLVMValueRef *in) {
  LLVMTypeRef t = LLVMTypeOf(in[1]);
  LLVMValueRef mask = LLVMBuildSExt(c->b, in[0], c->t_i32, "");
  LLVMValueRef args[] = {mask, cg_bitcast(c, in[1], c->t_i32), cg_bitcast(c, in[2], c->t_i32)};
  return cg_bitcast(c, cg_insn(c, INSN_CHOOSE_BITS, c->t_i32, args, 3), t);
}

SCALAR_EMITTER(select) {
  const bool masks = op_int(op, ATTR_MASKS, 0);
  return masks ? choose_bits(c, in) : cg_select(c, in[0], in[1], in[2]);
}

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
