// Division, roots and transcendental functions, by one machine instruction if the op's row promises no more; and the
// exact remainder.
#include "codegen/cg.h"

#define MACHINE(name, id) SCALAR_EMITTER(name) { return cg_insn(c, INSN_##id, c->t_f32, in, 1); }
MACHINE(exp2, EX2_F32)
MACHINE(log2, LG2_F32)
MACHINE(sin, SIN_F32)
MACHINE(cos, COS_F32)
MACHINE(tanh, TANH_F32)
MACHINE(rcp, RCP_F32)

// x / d for many x and one d: what div.full does, but LLVM can do the part that depends on d alone once. d is scaled so
// that its reciprocal is normal, and x by the same factor.
static LLVMValueRef divide_by_one(Cg *c, LLVMValueRef x, LLVMValueRef d) {
  LLVMValueRef size = cg_unary_intrinsic(c, "llvm.fabs", d);
  LLVMValueRef large = LLVMBuildFCmp(c->b, LLVMRealOGT, size, LLVMConstReal(c->t_f32, 0x1p126), "");
  LLVMValueRef small = LLVMBuildFCmp(c->b, LLVMRealOLT, size, LLVMConstReal(c->t_f32, 0x1p-126), "");
  LLVMValueRef scale = cg_select(c, small, LLVMConstReal(c->t_f32, 0x1p24), LLVMConstReal(c->t_f32, 1));
  scale = cg_select(c, large, LLVMConstReal(c->t_f32, 0.25), scale);
  LLVMValueRef scaled = LLVMBuildFMul(c->b, d, scale, ""), reciprocal = cg_insn(c, INSN_RCP_F32, c->t_f32, &scaled, 1);
  return LLVMBuildFMul(c->b, LLVMBuildFMul(c->b, x, scale, ""), reciprocal, "");
}

SCALAR_EMITTER(divf) {
  if (k == SC_F64) return LLVMBuildFDiv(c->b, in[0], in[1], "");
  if (type_is_tensor(op->results[0].type) && cg_get(op_operand(op, 1))->splat) return divide_by_one(c, in[0], in[1]);
  return cg_insn(c, INSN_DIV_FULL_F32, c->t_f32, in, 2);
}

SCALAR_EMITTER(sqrt) {
  if (k == SC_F64) return cg_unary_intrinsic(c, "llvm.sqrt", in[0]);
  return cg_insn(c, INSN_SQRT_F32, c->t_f32, in, 1);
}

SCALAR_EMITTER(rsqrt) {
  if (k == SC_F64)
    return LLVMBuildFDiv(c->b, LLVMConstReal(c->t_f64, 1), cg_unary_intrinsic(c, "llvm.sqrt", in[0]), "");
  return cg_insn(c, INSN_RSQRT_F32, c->t_f32, in, 1);
}

// ---- fmod, exactly: long division of the significands, one quotient bit per step ----

typedef struct { LLVMTypeRef t; uint32_t bits, man; } FloatShape;

static LLVMValueRef ibin(Cg *c, LLVMOpcode o, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildBinOp(c->b, o, a, b, "");
}

// Splits a positive finite number, perhaps subnormal, into significand · 2^exponent. Bit `man` is the top bit of the
// significand.
static void split_float(Cg *c, FloatShape s, LLVMValueRef bits, LLVMValueRef *sig, LLVMValueRef *exponent) {
  LLVMValueRef one = cg_int(s.t, 1), zero = cg_int(s.t, 0);
  LLVMValueRef e = cg_op(c, LLVMLShr, bits, s.man);
  LLVMValueRef m = cg_op(c, LLVMAnd, bits, (1ull << s.man) - 1);
  LLVMValueRef normal = cg_cmp(c, LLVMIntNE, e, 0);
  LLVMValueRef lz = cg_intrinsic_false(c, "llvm.ctlz", m);
  LLVMValueRef up = cg_op(c, LLVMSub, lz, s.bits - 1 - s.man);
  up = cg_select(c, cg_cmp(c, LLVMIntULT, up, s.bits), up, zero);
  *sig = cg_select(c, normal, cg_op(c, LLVMOr, m, 1ull << s.man), ibin(c, LLVMShl, m, up));
  *exponent = cg_select(c, normal, e, ibin(c, LLVMSub, one, up));
}

static LLVMValueRef exact_fmod(Cg *c, LLVMValueRef a, LLVMValueRef b, FloatShape s) {
  c->has_loops = true;
  LLVMTypeRef ft = LLVMTypeOf(a), t = s.t;
  uint64_t sign_bit = 1ull << (s.bits - 1), inf = ((1ull << (s.bits - 1 - s.man)) - 1) << s.man;
  LLVMValueRef zero = cg_int(t, 0);
  LLVMValueRef ab = cg_bitcast(c, a, t), bb = cg_bitcast(c, b, t), sign = cg_op(c, LLVMAnd, ab, sign_bit);
  LLVMValueRef x = cg_op(c, LLVMAnd, ab, sign_bit - 1), y = cg_op(c, LLVMAnd, bb, sign_bit - 1);
  LLVMValueRef bad = cg_cmp(c, LLVMIntUGE, x, inf);
  bad = ibin(c, LLVMOr, bad, cg_cmp(c, LLVMIntUGT, y, inf));
  bad = ibin(c, LLVMOr, bad, cg_cmp(c, LLVMIntEQ, y, 0));
  LLVMValueRef small = LLVMBuildICmp(c->b, LLVMIntULT, x, y, "");   // |a| < |b|, b infinite included: a itself
  LLVMValueRef sx, ex, sy, ey;
  split_float(c, s, x, &sx, &ex);
  split_float(c, s, y, &sy, &ey);
  LLVMValueRef steps = cg_select(c, ibin(c, LLVMOr, bad, small), zero, ibin(c, LLVMSub, ex, ey));

  LLVMBasicBlockRef before = LLVMGetInsertBlock(c->b), loop = cg_block(c, "fmod"), after = cg_block(c, "fmod.end");
  LLVMBuildBr(c->b, loop);
  LLVMPositionBuilderAtEnd(c->b, loop);
  LLVMValueRef m = LLVMBuildPhi(c->b, t, ""), left = LLVMBuildPhi(c->b, t, "");
  LLVMAddIncoming(m, &sx, &before, 1);
  LLVMAddIncoming(left, &steps, &before, 1);
  LLVMValueRef reduced = cg_select(c, LLVMBuildICmp(c->b, LLVMIntUGE, m, sy, ""), ibin(c, LLVMSub, m, sy), m);
  LLVMValueRef doubled = cg_op(c, LLVMShl, reduced, 1), less = cg_op(c, LLVMSub, left, 1);
  LLVMAddIncoming(m, &doubled, &loop, 1);
  LLVMAddIncoming(left, &less, &loop, 1);
  LLVMBuildCondBr(c->b, cg_cmp(c, LLVMIntSGT, left, 0), loop, after);

  LLVMPositionBuilderAtEnd(c->b, after);
  // reduced · 2^ey becomes a float again: its top bit moves to bit `man`, as far as the exponent allows.
  LLVMValueRef lz = cg_intrinsic_false(c, "llvm.ctlz", reduced);
  LLVMValueRef up = cg_op(c, LLVMSub, lz, s.bits - 1 - s.man);
  LLVMValueRef room = cg_op(c, LLVMSub, ey, 1);
  LLVMValueRef is_sub = LLVMBuildICmp(c->b, LLVMIntSGT, up, room, "");   // also when nothing is left
  LLVMValueRef normal_bits = ibin(c, LLVMAdd, cg_op(c, LLVMShl, ibin(c, LLVMSub, room, up), s.man),
                                  ibin(c, LLVMShl, reduced, cg_select(c, is_sub, zero, up)));
  // With a negative exponent (a subnormal divisor) the significand goes down; its low bits are zero there.
  LLVMValueRef down = cg_select(c, cg_cmp(c, LLVMIntSLT, room, 0), ibin(c, LLVMSub, zero, room), zero);
  LLVMValueRef lift = cg_select(c, cg_cmp(c, LLVMIntSGT, room, 0), room, zero);
  lift = cg_select(c, is_sub, lift, zero);
  LLVMValueRef sub_bits = ibin(c, LLVMLShr, ibin(c, LLVMShl, reduced, lift), down);
  LLVMValueRef r = cg_select(c, is_sub, sub_bits, normal_bits);
  r = cg_select(c, cg_cmp(c, LLVMIntEQ, reduced, 0), zero, r);
  r = cg_select(c, small, x, r);
  r = cg_select(c, bad, cg_int(t, inf | inf >> 1), ibin(c, LLVMOr, r, sign));
  return cg_bitcast(c, r, ft);
}

SCALAR_EMITTER(remf) {
  return exact_fmod(c, in[0], in[1], k == SC_F64 ? (FloatShape){c->t_i64, 64, 52} : (FloatShape){c->t_i32, 32, 23});
}
