// Division, roots and transcendental functions: one machine instruction where the row promises no more, and the exact
// remainder.
#include "codegen/cg.h"

#define EMIT(name) LLVMValueRef emit_##name(Cg *c, const Op *op UNUSED, ScalarKind k UNUSED, LLVMValueRef *in)

EMIT(exp2) { return cg_insn(c, INSN_EX2_F32, c->t_f32, in, 1); }
EMIT(log2) { return cg_insn(c, INSN_LG2_F32, c->t_f32, in, 1); }
EMIT(sin) { return cg_insn(c, INSN_SIN_F32, c->t_f32, in, 1); }
EMIT(cos) { return cg_insn(c, INSN_COS_F32, c->t_f32, in, 1); }
EMIT(tanh) { return cg_insn(c, INSN_TANH_F32, c->t_f32, in, 1); }
EMIT(rcp) { return cg_insn(c, INSN_RCP_F32, c->t_f32, in, 1); }

// x / d for many x and one d: what div.full does, with the part that depends on d alone made once. The reciprocal is normal
// because d is scaled to where that is so; x is scaled likewise.
static LLVMValueRef divide_by_one(Cg *c, LLVMValueRef x, LLVMValueRef d) {
  LLVMValueRef size = cg_unary_intrinsic(c, "llvm.fabs", d);
  LLVMValueRef large = LLVMBuildFCmp(c->b, LLVMRealOGT, size, LLVMConstReal(c->t_f32, 0x1p126), "");
  LLVMValueRef small = LLVMBuildFCmp(c->b, LLVMRealOLT, size, LLVMConstReal(c->t_f32, 0x1p-126), "");
  LLVMValueRef scale = LLVMBuildSelect(c->b, small, LLVMConstReal(c->t_f32, 0x1p24), LLVMConstReal(c->t_f32, 1), "");
  scale = LLVMBuildSelect(c->b, large, LLVMConstReal(c->t_f32, 0.25), scale, "");
  LLVMValueRef scaled = LLVMBuildFMul(c->b, d, scale, ""), reciprocal = cg_insn(c, INSN_RCP_F32, c->t_f32, &scaled, 1);
  return LLVMBuildFMul(c->b, LLVMBuildFMul(c->b, x, scale, ""), reciprocal, "");
}

EMIT(divf) {
  if (k == SC_F64) return LLVMBuildFDiv(c->b, in[0], in[1], "");
  if (type_is_tensor(op->results[0].type) && cg_get(op_operand(op, 1))->splat) return divide_by_one(c, in[0], in[1]);
  return cg_insn(c, INSN_DIV_FULL_F32, c->t_f32, in, 2);
}
EMIT(divf_rn) { return LLVMBuildFDiv(c->b, in[0], in[1], ""); }

EMIT(sqrt) {
  if (k == SC_F64) return cg_unary_intrinsic(c, "llvm.sqrt", in[0]);
  return cg_insn(c, INSN_SQRT_F32, c->t_f32, in, 1);
}

EMIT(rsqrt) {
  if (k == SC_F64) return LLVMBuildFDiv(c->b, LLVMConstReal(c->t_f64, 1), cg_unary_intrinsic(c, "llvm.sqrt", in[0]), "");
  return cg_insn(c, INSN_RSQRT_F32, c->t_f32, in, 1);
}

// ---- fmod, exactly: long division of the significands, one quotient bit per step ----

typedef struct { LLVMTypeRef t; uint32_t bits, man; } FloatShape;

static LLVMValueRef ibin(Cg *c, LLVMOpcode o, LLVMValueRef a, LLVMValueRef b) { return LLVMBuildBinOp(c->b, o, a, b, ""); }
static LLVMValueRef choose(Cg *c, LLVMValueRef p, LLVMValueRef a, LLVMValueRef b) { return LLVMBuildSelect(c->b, p, a, b, ""); }

// A positive finite number as significand · 2^exponent, the significand's top bit being bit `man`, subnormals included.
static void split_float(Cg *c, FloatShape s, LLVMValueRef bits, LLVMValueRef *sig, LLVMValueRef *exponent) {
  LLVMValueRef one = cg_int(s.t, 1), zero = cg_int(s.t, 0);
  LLVMValueRef e = ibin(c, LLVMLShr, bits, cg_int(s.t, s.man)), m = ibin(c, LLVMAnd, bits, cg_int(s.t, (1ull << s.man) - 1));
  LLVMValueRef normal = LLVMBuildICmp(c->b, LLVMIntNE, e, zero, "");
  LLVMValueRef lz = cg_call_intrinsic(c, "llvm.ctlz", &s.t, 1, (LLVMValueRef[]){m, cg_i1(c, false)}, 2);
  LLVMValueRef up = ibin(c, LLVMSub, lz, cg_int(s.t, s.bits - 1 - s.man));
  up = choose(c, LLVMBuildICmp(c->b, LLVMIntULT, up, cg_int(s.t, s.bits), ""), up, zero);
  *sig = choose(c, normal, ibin(c, LLVMOr, m, cg_int(s.t, 1ull << s.man)), ibin(c, LLVMShl, m, up));
  *exponent = choose(c, normal, e, ibin(c, LLVMSub, one, up));
}

static LLVMValueRef exact_fmod(Cg *c, LLVMValueRef a, LLVMValueRef b, FloatShape s) {
  c->has_loops = true;
  LLVMTypeRef ft = LLVMTypeOf(a), t = s.t;
  uint64_t sign_bit = 1ull << (s.bits - 1), inf = ((1ull << (s.bits - 1 - s.man)) - 1) << s.man;
  LLVMValueRef zero = cg_int(t, 0), one = cg_int(t, 1);
  LLVMValueRef ab = cg_bitcast(c, a, t), bb = cg_bitcast(c, b, t), sign = ibin(c, LLVMAnd, ab, cg_int(t, sign_bit));
  LLVMValueRef x = ibin(c, LLVMAnd, ab, cg_int(t, sign_bit - 1)), y = ibin(c, LLVMAnd, bb, cg_int(t, sign_bit - 1));
  LLVMValueRef bad = LLVMBuildICmp(c->b, LLVMIntUGE, x, cg_int(t, inf), "");
  bad = ibin(c, LLVMOr, bad, LLVMBuildICmp(c->b, LLVMIntUGT, y, cg_int(t, inf), ""));
  bad = ibin(c, LLVMOr, bad, LLVMBuildICmp(c->b, LLVMIntEQ, y, zero, ""));
  LLVMValueRef small = LLVMBuildICmp(c->b, LLVMIntULT, x, y, "");   // |a| < |b|, b infinite included: a itself
  LLVMValueRef sx, ex, sy, ey;
  split_float(c, s, x, &sx, &ex);
  split_float(c, s, y, &sy, &ey);
  LLVMValueRef steps = choose(c, ibin(c, LLVMOr, bad, small), zero, ibin(c, LLVMSub, ex, ey));

  LLVMBasicBlockRef before = LLVMGetInsertBlock(c->b), loop = cg_block(c, "fmod"), after = cg_block(c, "fmod.end");
  LLVMBuildBr(c->b, loop);
  LLVMPositionBuilderAtEnd(c->b, loop);
  LLVMValueRef m = LLVMBuildPhi(c->b, t, ""), left = LLVMBuildPhi(c->b, t, "");
  LLVMAddIncoming(m, &sx, &before, 1);
  LLVMAddIncoming(left, &steps, &before, 1);
  LLVMValueRef reduced = choose(c, LLVMBuildICmp(c->b, LLVMIntUGE, m, sy, ""), ibin(c, LLVMSub, m, sy), m);
  LLVMValueRef doubled = ibin(c, LLVMShl, reduced, one), less = ibin(c, LLVMSub, left, one);
  LLVMAddIncoming(m, &doubled, &loop, 1);
  LLVMAddIncoming(left, &less, &loop, 1);
  LLVMBuildCondBr(c->b, LLVMBuildICmp(c->b, LLVMIntSGT, left, zero, ""), loop, after);

  LLVMPositionBuilderAtEnd(c->b, after);
  // reduced · 2^ey back to a float: move its top bit to bit `man` as far as the exponent allows.
  LLVMValueRef lz = cg_call_intrinsic(c, "llvm.ctlz", &t, 1, (LLVMValueRef[]){reduced, cg_i1(c, false)}, 2);
  LLVMValueRef up = ibin(c, LLVMSub, lz, cg_int(t, s.bits - 1 - s.man));
  LLVMValueRef room = ibin(c, LLVMSub, ey, one);
  LLVMValueRef is_sub = LLVMBuildICmp(c->b, LLVMIntSGT, up, room, "");   // also when nothing is left
  LLVMValueRef normal_bits = ibin(c, LLVMAdd, ibin(c, LLVMShl, ibin(c, LLVMSub, room, up), cg_int(t, s.man)),
                                  ibin(c, LLVMShl, reduced, choose(c, is_sub, zero, up)));
  // With a negative exponent (a subnormal divisor) the significand goes down; its low bits are zero there.
  LLVMValueRef down = choose(c, LLVMBuildICmp(c->b, LLVMIntSLT, room, zero, ""), ibin(c, LLVMSub, zero, room), zero);
  LLVMValueRef lift = choose(c, LLVMBuildICmp(c->b, LLVMIntSGT, room, zero, ""), room, zero);
  lift = choose(c, is_sub, lift, zero);
  LLVMValueRef sub_bits = ibin(c, LLVMLShr, ibin(c, LLVMShl, reduced, lift), down);
  LLVMValueRef r = choose(c, is_sub, sub_bits, normal_bits);
  r = choose(c, LLVMBuildICmp(c->b, LLVMIntEQ, reduced, zero, ""), zero, r);
  r = choose(c, small, x, r);
  r = choose(c, bad, cg_int(t, inf | inf >> 1), ibin(c, LLVMOr, r, sign));
  return cg_bitcast(c, r, ft);
}

EMIT(remf) {
  return exact_fmod(c, in[0], in[1], k == SC_F64 ? (FloatShape){c->t_i64, 64, 52} : (FloatShape){c->t_i32, 32, 23});
}
