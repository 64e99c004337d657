// Division, roots and transcendental functions, by one machine instruction if the op's row promises no more; and the
// exact remainder.
#include <float.h>
#include <math.h>
#include <string.h>

#include "codegen/cg.h"

#define MACHINE(name, id) SCALAR_EMITTER(name) { return cg_insn(c, INSN_##id, c->t_f32, in, 1); }
MACHINE(exp2, EX2_F32)
MACHINE(log2, LG2_F32)
MACHINE(sin, SIN_F32)
MACHINE(cos, COS_F32)
MACHINE(tanh, TANH_F32)
MACHINE(rcp, RCP_F32)

// Whether a thread divides several elements by each divisor.
static bool shares_divisors(const Op *op) {
  const Value *d = op_operand(op, 1);
  if (!type_is_tensor(d->type)) return false;
  const Op *made = d->def;
  return cg_get(d)->splat ||
         (made && made->opcode == OP_BROADCAST && 2 * cg_num_regs(op_operand(made, 0)->type) <= cg_num_regs(d->type));
}

// Whether v is an f32 constant of a normal magnitude that stays normal if divided by four.
static bool normal_constant(const Value *v, float *x) {
  uint64_t bits;
  if (!value_constant_bits(v, &bits)) return false;
  const uint32_t word = (uint32_t)bits;
  memcpy(x, &word, sizeof *x);
  const float size = fabsf(*x);
  return size >= 0x1p-124f && size <= FLT_MAX;
}

// Whether v is 0 or more, or NaN, whatever it is computed of.
static bool is_not_negative(const Value *v) {
  if (value_op(v, OP_MULF)) return op_operand(v->def, 0) == op_operand(v->def, 1);
  return value_op(v, OP_EXP2) || value_op(v, OP_ABSF) || value_op(v, OP_SQRT);
}

// Whether v is at least 2^-124, or NaN, as 1 + exp(x), sqrt(x) + 1e-8 and max(x, 1e-12) are: its reciprocal may be
// subnormal, but not infinite.
static bool is_away_from_zero(const Value *v) {
  float x;
  const Op *op = v->def;
  if (!op || (op->opcode != OP_ADDF && op->opcode != OP_MAXF && op->opcode != OP_FMA)) return false;
  if (op->opcode == OP_FMA)
    return op_operand(op, 0) == op_operand(op, 1) && normal_constant(op_operand(op, 2), &x) && x > 0;
  for (uint32_t i = 0; i < 2; i++)
    if (normal_constant(op_operand(op, i), &x) && x > 0 &&
        (op->opcode == OP_MAXF || is_not_negative(op_operand(op, 1 - i))))
      return true;
  return false;
}

// x / d as div.full computes it: d is scaled so that its reciprocal is normal, and x by the same factor. The assembler
// scales each in two predicated steps; with several divisors it has too few predicates, and then issues each load when
// the quotients before it are done. Of a d that many x share LLVM scales and inverts once; one that is away from zero
// takes one factor instead of two.
static LLVMValueRef divide_by_scaled(Cg *c, LLVMValueRef x, LLVMValueRef d, bool away_from_zero) {
  LLVMValueRef size = away_from_zero ? d : cg_unary_intrinsic(c, "llvm.fabs", d);
  LLVMValueRef scale = LLVMConstReal(c->t_f32, 1);
  LLVMValueRef large = LLVMBuildFCmp(c->b, LLVMRealOGT, size, LLVMConstReal(c->t_f32, 0x1p126), "");
  if (!away_from_zero) {
    LLVMValueRef small = LLVMBuildFCmp(c->b, LLVMRealOLT, size, LLVMConstReal(c->t_f32, 0x1p-126), "");
    scale = cg_select(c, small, LLVMConstReal(c->t_f32, 0x1p24), scale);
  }
  scale = cg_select(c, large, LLVMConstReal(c->t_f32, 0.25), scale);
  LLVMValueRef scaled = LLVMBuildFMul(c->b, d, scale, ""), reciprocal = cg_insn(c, INSN_RCP_F32, c->t_f32, &scaled, 1);
  return LLVMBuildFMul(c->b, LLVMBuildFMul(c->b, x, scale, ""), reciprocal, "");
}

// x / d as (x / 4) / (d / 4), where dividing both by four is exact: 1 / (d / 4) is then normal, or 0 if d is infinite.
static LLVMValueRef divide_by_quarters(Cg *c, float x, LLVMValueRef d) {
  LLVMValueRef quarter = LLVMBuildFMul(c->b, d, LLVMConstReal(c->t_f32, 0.25), "");
  LLVMValueRef reciprocal = cg_insn(c, INSN_RCP_F32, c->t_f32, &quarter, 1);
  return LLVMBuildFMul(c->b, reciprocal, LLVMConstReal(c->t_f32, x / 4), "");
}

SCALAR_EMITTER(divf) {
  if (k == SC_F64) return LLVMBuildFDiv(c->b, in[0], in[1], "");
  const bool away_from_zero = is_away_from_zero(op_operand(op, 1));
  float x;
  if (away_from_zero && normal_constant(op_operand(op, 0), &x)) return divide_by_quarters(c, x, in[1]);
  if (away_from_zero || shares_divisors(op)) return divide_by_scaled(c, in[0], in[1], away_from_zero);
  return cg_insn(c, INSN_DIV_FULL_F32, c->t_f32, in, 2);
}

SCALAR_EMITTER(clipf) {
  enum { SIGN = 1u << 31 };
  if (cg_has_insn(c, INSN_CLIP_F32)) return cg_insn(c, INSN_CLIP_F32, c->t_f32, in, 2);
  LLVMValueRef size[2], bits[2];
  for (uint32_t i = 0; i < 2; i++) {
    size[i] = cg_unary_intrinsic(c, "llvm.fabs", in[i]);
    bits[i] = LLVMBuildBitCast(c->b, in[i], c->t_i32, "");
  }
  LLVMValueRef least = LLVMBuildBitCast(c->b, cg_binary_intrinsic(c, "llvm.minnum", size[0], size[1]), c->t_i32, "");
  LLVMValueRef sign = cg_op(c, LLVMAnd, cg_xor(c, bits[0], bits[1]), SIGN);
  return LLVMBuildBitCast(c->b, LLVMBuildOr(c->b, least, sign, ""), c->t_f32, "");
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

// ---- fmod, exactly: division by the reciprocal, `step` bits of the quotient at a time ----

// The float type, its integer type, widths, exponent bias, and the step. With |a| < 2·|b|, the quotient of a·2^step and
// b is below 2^(step+1) and comes out of a reciprocal with an error below 3/8, rounding not counted.
typedef struct {
  LLVMTypeRef f, i;
  uint32_t bits, man, bias, step;
} FloatShape;

static LLVMValueRef ibin(Cg *c, LLVMOpcode o, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildBinOp(c->b, o, a, b, "");
}

static LLVMValueRef reciprocal(Cg *c, const FloatShape *s, LLVMValueRef x) {
  if (s->bits == 64) return LLVMBuildFDiv(c->b, LLVMConstReal(s->f, 1), x, "");
  return cg_insn(c, INSN_RCP_F32, s->f, &x, 1);
}

// x − n·y for a whole n near x / y; r is the reciprocal of y. Its magnitude is below 7/8 of y. It is exact because it
// is a multiple of the last place of y, or else x itself or the difference of two numbers within a factor of 2.
static LLVMValueRef reduce_once(Cg *c, const FloatShape *s, LLVMValueRef x, LLVMValueRef y, LLVMValueRef r) {
  LLVMValueRef whole = LLVMConstReal(s->f, s->bits == 64 ? 0x1.8p52 : 0x1.8p23);   // added, it rounds to whole numbers
  LLVMValueRef n = LLVMBuildFAdd(c->b, LLVMBuildFMul(c->b, x, r, ""), whole, "");
  LLVMValueRef args[] = {LLVMBuildFNeg(c->b, LLVMBuildFSub(c->b, n, whole, ""), ""), y, x};
  return cg_call_intrinsic(c, "llvm.fma", (LLVMTypeRef[]){s->f}, 1, args, 3);
}

// x, or x + y if x is negative
static LLVMValueRef make_positive(Cg *c, const FloatShape *s, LLVMValueRef x, LLVMValueRef y) {
  LLVMValueRef negative = LLVMBuildFCmp(c->b, LLVMRealOLT, x, LLVMConstReal(s->f, 0), "");
  return cg_select(c, negative, LLVMBuildFAdd(c->b, x, y, ""), x);
}

// 2^e; e is an integer of the width of the float, not biased.
static LLVMValueRef power_of_two(Cg *c, const FloatShape *s, LLVMValueRef e) {
  return cg_bitcast(c, cg_op(c, LLVMShl, cg_op(c, LLVMAdd, e, s->bias), s->man), s->f);
}

// Splits a positive finite number into a significand in [1, 2) and a biased exponent, which is 0 or less for subnormal
// numbers.
static LLVMValueRef split_float(Cg *c, const FloatShape *s, LLVMValueRef bits, LLVMValueRef *exponent) {
  LLVMValueRef e = cg_op(c, LLVMLShr, bits, s->man), m = cg_op(c, LLVMAnd, bits, (1ull << s->man) - 1);
  LLVMValueRef subnormal = cg_cmp(c, LLVMIntEQ, e, 0);
  LLVMValueRef up = cg_op(c, LLVMSub, cg_intrinsic_false(c, "llvm.ctlz", m), s->bits - 1 - s->man);
  up = cg_select(c, subnormal, cg_op(c, LLVMAnd, up, s->bits - 1), cg_int(s->i, 0));   // of zero: any width
  *exponent = ibin(c, LLVMSub, cg_select(c, subnormal, cg_int(s->i, 1), e), up);
  m = cg_op(c, LLVMAnd, ibin(c, LLVMShl, m, up), (1ull << s->man) - 1);
  return cg_bitcast(c, cg_op(c, LLVMOr, m, (uint64_t)s->bias << s->man), s->f);
}

// fmod of any two magnitudes, given as bits: a loop over the difference of their exponents.
static LLVMValueRef fmod_by_steps(Cg *c, const FloatShape *s, LLVMValueRef x, LLVMValueRef y) {
  c->has_loops = true;
  uint64_t inf = (2ull * s->bias + 1) << s->man;
  LLVMValueRef zero = cg_int(s->i, 0), ex, ey, sx = split_float(c, s, x, &ex), sy = split_float(c, s, y, &ey);
  LLVMValueRef bad = ibin(c, LLVMOr, cg_cmp(c, LLVMIntUGE, x, inf), cg_cmp(c, LLVMIntUGT, y, inf));
  bad = ibin(c, LLVMOr, bad, cg_cmp(c, LLVMIntEQ, y, 0));
  LLVMValueRef small = LLVMBuildICmp(c->b, LLVMIntULT, x, y, "");   // y infinite included
  LLVMValueRef steps = cg_select(c, ibin(c, LLVMOr, bad, small), zero, ibin(c, LLVMSub, ex, ey));
  LLVMValueRef r = reciprocal(c, s, sy);

  LLVMBasicBlockRef before = LLVMGetInsertBlock(c->b), loop = cg_block(c, "fmod"), after = cg_block(c, "fmod.end");
  LLVMBuildBr(c->b, loop);
  LLVMPositionBuilderAtEnd(c->b, loop);
  LLVMValueRef m = LLVMBuildPhi(c->b, s->f, ""), left = LLVMBuildPhi(c->b, s->i, "");
  LLVMValueRef now = cg_select(c, cg_cmp(c, LLVMIntULT, left, s->step), left, cg_int(s->i, s->step));
  LLVMValueRef next = reduce_once(c, s, LLVMBuildFMul(c->b, m, power_of_two(c, s, now), ""), sy, r);
  LLVMValueRef less = ibin(c, LLVMSub, left, now);
  LLVMAddIncoming(m, (LLVMValueRef[]){sx, next}, (LLVMBasicBlockRef[]){before, loop}, 2);
  LLVMAddIncoming(left, (LLVMValueRef[]){steps, less}, (LLVMBasicBlockRef[]){before, loop}, 2);
  LLVMBuildCondBr(c->b, cg_cmp(c, LLVMIntNE, less, 0), loop, after);

  // back to the exponent of y, which may be that of a subnormal number
  LLVMPositionBuilderAtEnd(c->b, after);
  LLVMValueRef low = ibin(c, LLVMShl, cg_int(s->i, 1), cg_op(c, LLVMAdd, ey, s->man - 1));
  LLVMValueRef unit = cg_select(c, cg_cmp(c, LLVMIntSGT, ey, 0), cg_op(c, LLVMShl, ey, s->man), low);
  LLVMValueRef result = LLVMBuildFMul(c->b, make_positive(c, s, next, sy), cg_bitcast(c, unit, s->f), "");
  result = cg_select(c, small, cg_bitcast(c, x, s->f), result);
  return cg_select(c, bad, cg_bitcast(c, cg_int(s->i, inf | inf >> 1), s->f), result);
}

// One reduction where the quotient is below 2^step and neither y nor its reciprocal is near the ends of the range.
static LLVMValueRef exact_fmod(Cg *c, LLVMValueRef a, LLVMValueRef b, const FloatShape *s) {
  LLVMValueRef x = cg_unary_intrinsic(c, "llvm.fabs", a), y = cg_unary_intrinsic(c, "llvm.fabs", b);
  LLVMValueRef x_bits = cg_bitcast(c, x, s->i), y_bits = cg_bitcast(c, y, s->i);
  uint64_t lowest = (s->bias / 4ull) << s->man, range = (s->bias * 3ull / 2) << s->man;
  LLVMValueRef limit = LLVMBuildFMul(c->b, y, LLVMConstReal(s->f, (double)(1ull << s->step)), "");
  LLVMValueRef near = LLVMBuildFCmp(c->b, LLVMRealOLT, x, limit, "");
  near = ibin(c, LLVMAnd, near, cg_cmp(c, LLVMIntULT, cg_op(c, LLVMSub, y_bits, lowest), range));
  LLVMBasicBlockRef quick = cg_block(c, "fmod.near"), slow = cg_block(c, "fmod.far"), join = cg_block(c, "fmod.join");
  LLVMBuildCondBr(c->b, near, quick, slow);
  LLVMPositionBuilderAtEnd(c->b, quick);
  LLVMValueRef one = make_positive(c, s, reduce_once(c, s, x, y, reciprocal(c, s, y)), y);
  LLVMBuildBr(c->b, join);
  LLVMPositionBuilderAtEnd(c->b, slow);
  LLVMValueRef many = fmod_by_steps(c, s, x_bits, y_bits);
  slow = LLVMGetInsertBlock(c->b);
  LLVMBuildBr(c->b, join);
  LLVMPositionBuilderAtEnd(c->b, join);
  LLVMValueRef r = LLVMBuildPhi(c->b, s->f, "");
  LLVMAddIncoming(r, (LLVMValueRef[]){one, many}, (LLVMBasicBlockRef[]){quick, slow}, 2);
  LLVMValueRef sign = cg_op(c, LLVMAnd, cg_bitcast(c, a, s->i), 1ull << (s->bits - 1));
  return cg_bitcast(c, ibin(c, LLVMOr, cg_bitcast(c, r, s->i), sign), s->f);
}

SCALAR_EMITTER(remf) {
  FloatShape single = {c->t_f32, c->t_i32, 32, 23, 127, 20}, wide = {c->t_f64, c->t_i64, 64, 52, 1023, 48};
  return exact_fmod(c, in[0], in[1], k == SC_F64 ? &wide : &single);
}
