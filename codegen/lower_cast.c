// Conversions. Pairs of elements go through the machine's packed conversions if it has them. Integer and f32
// arithmetic, which rounds once, converts fp8 formats that it lacks: all of them on sm_80, e4b15 everywhere.
#include "codegen/cg.h"

static bool is_fp8(ScalarKind k) { return k == SC_F8E4M3 || k == SC_F8E5M2 || k == SC_F8E4B15; }
static LLVMTypeRef target_type(Cg *c, const Op *op) { return cg_elem_type(c, op->results[0].type); }
static ScalarKind target_kind(const Op *op) { return cg_elem_kind(op->results[0].type); }

// ---- integers ----
SCALAR_EMITTER(extsi) { return LLVMBuildSExt(c->b, in[0], target_type(c, op), ""); }
SCALAR_EMITTER(extui) { return LLVMBuildZExt(c->b, in[0], target_type(c, op), ""); }
SCALAR_EMITTER(trunci) { return LLVMBuildTrunc(c->b, in[0], target_type(c, op), ""); }

// ---- fp8 in software ----

typedef struct { uint32_t man, bias, max_finite; bool has_nan; } SmallFloat;
static SmallFloat small_float(ScalarKind k) {
  switch (k) {
  case SC_F8E4M3: return (SmallFloat){3, 7, 0x7e, true};
  case SC_F8E5M2: return (SmallFloat){2, 15, 0x7b, true};
  default: return (SmallFloat){3, 15, 0x7f, false};
  }
}

static LLVMValueRef fp8_from_f32_software(Cg *c, LLVMValueRef v, ScalarKind k) {
  SmallFloat f = small_float(k);
  uint32_t drop = 23 - f.man;
  LLVMValueRef bits = cg_bitcast(c, v, c->t_i32), sign = cg_op(c, LLVMAnd, cg_op(c, LLVMLShr, bits, 24), 0x80);
  LLVMValueRef mag = cg_op(c, LLVMAnd, bits, 0x7fffffff);
  // Normal: round half to even at the last kept bit, then rebias. A carry runs into the exponent as it should.
  LLVMValueRef odd = cg_op(c, LLVMAnd, cg_op(c, LLVMLShr, mag, drop), 1);
  LLVMValueRef rounded = LLVMBuildAdd(c->b, cg_op(c, LLVMAdd, mag, (1u << (drop - 1)) - 1), odd, "");
  LLVMValueRef normal = cg_op(c, LLVMSub, cg_op(c, LLVMLShr, rounded, drop), (127 - f.bias) << f.man);
  // Subnormal: adding 2^(23 + exponent of the last place) makes the f32 adder round there.
  uint32_t magic = (127 + 23 + 1 - f.bias - f.man) << 23;
  LLVMValueRef sum = LLVMBuildFAdd(c->b, cg_bitcast(c, mag, c->t_f32), cg_bitcast(c, cg_i32(c, magic), c->t_f32), "");
  LLVMValueRef subnormal = cg_op(c, LLVMSub, cg_bitcast(c, sum, c->t_i32), magic);
  LLVMValueRef is_sub = cg_cmp(c, LLVMIntULT, mag, (127 + 1 - f.bias) << 23);
  LLVMValueRef r = cg_select(c, is_sub, subnormal, normal);
  r = cg_select(c, cg_cmp(c, LLVMIntUGT, r, f.max_finite), cg_i32(c, f.max_finite), r);
  r = LLVMBuildOr(c->b, r, sign, "");
  // A format without NaN has zero in its place.
  r = cg_select(c, cg_cmp(c, LLVMIntUGT, mag, 0x7f800000), cg_i32(c, f.has_nan ? 0x7f : 0), r);
  return LLVMBuildTrunc(c->b, r, c->t_i8, "");
}

// Every fp8 value, times a power of two, is exactly an f16.
static LLVMValueRef fp8_to_f16_software(Cg *c, LLVMValueRef v, ScalarKind k) {
  LLVMValueRef x = cg_op(c, LLVMShl, LLVMBuildZExt(c->b, v, c->t_i16, ""), 8);
  if (k == SC_F8E5M2) return cg_bitcast(c, x, c->t_f16);
  LLVMValueRef sign = cg_op(c, LLVMAnd, x, 0x8000);
  LLVMValueRef mag = cg_op(c, LLVMLShr, cg_op(c, LLVMAnd, x, 0x7f00), 1);
  if (k == SC_F8E4B15) return cg_bitcast(c, LLVMBuildOr(c->b, mag, sign, ""), c->t_f16);
  LLVMValueRef scaled = LLVMBuildFMul(c->b, cg_bitcast(c, LLVMBuildOr(c->b, mag, sign, ""), c->t_f16),
                                      LLVMConstReal(c->t_f16, 256.0), "");
  LLVMValueRef is_nan = cg_cmp(c, LLVMIntEQ, mag, 0x3f80);
  return cg_select(c, is_nan, cg_bitcast(c, cg_int(c->t_i16, 0x7fff), c->t_f16), scaled);
}

// ---- fp8 by machine instruction, two at a time ----

static bool fp8_in_hardware(const Cg *c, ScalarKind k) {
  return c->target->has_fp8_convert && (k == SC_F8E4M3 || k == SC_F8E5M2);
}

static void fp8_pair_from_f32(Cg *c, LLVMValueRef lo, LLVMValueRef hi, ScalarKind k, LLVMValueRef out[2]) {
  InsnId id = k == SC_F8E4M3 ? INSN_CVT_E4M3X2_F32 : INSN_CVT_E5M2X2_F32;
  cg_unpack(c, cg_insn(c, id, c->t_i16, (LLVMValueRef[]){hi, lo}, 2), 2, 8, out);
}

static void fp8_pair_to_f16(Cg *c, LLVMValueRef lo, LLVMValueRef hi, ScalarKind k, LLVMValueRef out[2]) {
  InsnId id = k == SC_F8E4M3 ? INSN_CVT_F16X2_E4M3X2 : INSN_CVT_F16X2_E5M2X2;
  LLVMValueRef pair = cg_pack(c, (LLVMValueRef[]){lo, hi}, 2, 8);
  cg_unpack(c, cg_insn(c, id, c->t_i32, &pair, 1), 2, 16, out);
  for (int i = 0; i < 2; i++) out[i] = cg_bitcast(c, out[i], c->t_f16);
}

// ---- one element between f32 and any float type ----

LLVMValueRef cg_float_to_f32(Cg *c, LLVMValueRef v, ScalarKind k) {
  if (k == SC_F32) return v;
  if (k == SC_F64) return LLVMBuildFPTrunc(c->b, v, c->t_f32, "");
  if (is_fp8(k)) {
    LLVMValueRef h[2];
    if (fp8_in_hardware(c, k))
      fp8_pair_to_f16(c, v, cg_int(c->t_i8, 0), k, h);
    else
      h[0] = fp8_to_f16_software(c, v, k);
    v = h[0];
  }
  return LLVMBuildFPExt(c->b, v, c->t_f32, "");
}

LLVMValueRef cg_f32_to_float(Cg *c, LLVMValueRef v, ScalarKind k, Rounding rounding) {
  if (k == SC_F32) return v;
  if (k == SC_F64) return LLVMBuildFPExt(c->b, v, c->t_f64, "");
  if (is_fp8(k)) {
    LLVMValueRef b[2];
    if (!fp8_in_hardware(c, k)) return fp8_from_f32_software(c, v, k);
    fp8_pair_from_f32(c, v, LLVMConstNull(c->t_f32), k, b);
    return b[0];
  }
  if (rounding == ROUND_RTZ) {
    LLVMValueRef x = cg_insn(c, k == SC_F16 ? INSN_CVT_RZ_F16_F32 : INSN_CVT_RZ_BF16_F32, c->t_i16, &v, 1);
    return cg_bitcast(c, x, c->elem[k]);
  }
  return LLVMBuildFPTrunc(c->b, v, c->elem[k], "");
}

// On the way to a narrower type f32 must not round to nearest: that would round twice. A number that is cut off, and
// whose last bit is set if that lost something, rounds like the original.
static LLVMValueRef round_to_odd(Cg *c, LLVMValueRef cut, LLVMValueRef inexact) {
  LLVMValueRef bits = LLVMBuildOr(c->b, cg_bitcast(c, cut, c->t_i32), LLVMBuildZExt(c->b, inexact, c->t_i32, ""), "");
  return cg_bitcast(c, bits, c->t_f32);
}

static LLVMValueRef f64_to_odd_f32(Cg *c, LLVMValueRef x) {
  LLVMValueRef cut = cg_insn(c, INSN_CVT_RZ_F32_F64, c->t_f32, &x, 1);
  return round_to_odd(c, cut, LLVMBuildFCmp(c->b, LLVMRealUNE, LLVMBuildFPExt(c->b, cut, c->t_f64, ""), x, ""));
}

// x has 32 or 64 bits.
static LLVMValueRef int_to_odd_f32(Cg *c, LLVMValueRef x, bool is_signed) {
  static const InsnId ids[2][2] = {{INSN_CVT_RZ_F32_U32, INSN_CVT_RZ_F32_S32},
                                   {INSN_CVT_RZ_F32_U64, INSN_CVT_RZ_F32_S64}};
  LLVMTypeRef t = LLVMTypeOf(x);
  LLVMValueRef cut = cg_insn(c, ids[LLVMGetIntTypeWidth(t) == 64][is_signed], c->t_f32, &x, 1);
  LLVMValueRef back = is_signed ? LLVMBuildFPToSI(c->b, cut, t, "") : LLVMBuildFPToUI(c->b, cut, t, "");
  return round_to_odd(c, cut, LLVMBuildICmp(c->b, LLVMIntNE, back, x, ""));
}

SCALAR_EMITTER(fpext) {
  ScalarKind to = target_kind(op);
  if (is_fp8(k)) {
    LLVMValueRef f = cg_float_to_f32(c, in[0], k);
    return cg_f32_to_float(c, f, to, ROUND_RNE);
  }
  return LLVMBuildFPExt(c->b, in[0], c->elem[to], "");
}

SCALAR_EMITTER(fptrunc) {
  ScalarKind to = target_kind(op);
  Rounding rounding = (Rounding)op_int(op, ATTR_ROUNDING, ROUND_RNE);
  if (k == SC_F64 && (to == SC_F32 || rounding == ROUND_RNE) && !is_fp8(to))
    return LLVMBuildFPTrunc(c->b, in[0], c->elem[to], "");
  return cg_f32_to_float(c, k == SC_F64 ? f64_to_odd_f32(c, in[0]) : cg_float_to_f32(c, in[0], k), to, rounding);
}

// ---- integer ↔ float ----

// The word of 32 bits that x, of `width` bits, is a part of, if it is an element of a vector that was read; else NULL.
// *part: which.
static LLVMValueRef word_of(Cg *c, LLVMValueRef x, uint32_t width, uint32_t *part) {
  if (!LLVMIsAExtractElementInst(x) || !LLVMIsAConstantInt(LLVMGetOperand(x, 1))) return NULL;
  LLVMValueRef vector = LLVMGetOperand(x, 0);
  const uint32_t bits = LLVMGetVectorSize(LLVMTypeOf(vector)) * width,
                 first = (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(x, 1)) * width;
  if (bits % 32) return NULL;
  *part = first % 32 / width;
  if (bits == 32) return cg_bitcast(c, vector, c->t_i32);
  return cg_element(c, cg_bitcast(c, vector, LLVMVectorType(c->t_i32, bits / 32)), first / 32);
}

// x, of 8 or 16 bits, as f32. The machine converts numbers of 32 bits at four times the rate of signed ones of fewer
// bits, which ptxas recognises, too, unless bytes of a word are permuted. Elsewhere the last bits of 2^23 count from
// the smallest x.
static LLVMValueRef narrow_to_f32(Cg *c, LLVMValueRef x, bool is_signed) {
  if (!is_signed) return LLVMBuildUIToFP(c->b, x, c->t_f32, "");
  const uint32_t width = LLVMGetIntTypeWidth(LLVMTypeOf(x)), least = 1u << (width - 1);
  uint32_t part;
  LLVMValueRef word = word_of(c, x, width, &part);
  if (word) {
    LLVMValueRef bytes = cg_i32(c, width == 8 ? 0x8880 + 0x1111 * part : 0x9910 + 0x2222 * part);
    word = cg_insn(c, INSN_PRMT, c->t_i32, (LLVMValueRef[]){word, bytes}, 2);
    return cg_insn(c, INSN_CVT_F32_S32, c->t_f32, &word, 1);
  }
  x = LLVMBuildXor(c->b, x, LLVMConstInt(LLVMTypeOf(x), least, 0), "");
  word = cg_op(c, LLVMOr, LLVMBuildZExt(c->b, x, c->t_i32, ""), 0x4B000000);
  return LLVMBuildFAdd(c->b, cg_bitcast(c, word, c->t_f32), LLVMConstReal(c->t_f32, -(double)((1u << 23) + least)), "");
}

static LLVMValueRef int_to_float(Cg *c, const Op *op, LLVMValueRef x, bool is_signed) {
  ScalarKind to = target_kind(op);
  const uint32_t width = LLVMGetIntTypeWidth(LLVMTypeOf(x));
  if ((width == 8 || width == 16) && to != SC_F64 && c->target->sm >= 86) {
    LLVMValueRef f = narrow_to_f32(c, x, is_signed);
    return to == SC_F32 ? f : cg_f32_to_float(c, f, to, ROUND_RNE);
  }
  // Without an instruction for it, LLVM would convert to f32 and round twice.
  if (to == SC_BF16 && !c->target->has_bf16 && width >= 32)
    return cg_f32_to_float(c, int_to_odd_f32(c, x, is_signed), to, ROUND_RNE);
  LLVMTypeRef t = is_fp8(to) ? c->t_f32 : c->elem[to];
  LLVMValueRef f = is_signed ? LLVMBuildSIToFP(c->b, x, t, "") : LLVMBuildUIToFP(c->b, x, t, "");
  return is_fp8(to) ? cg_f32_to_float(c, f, to, ROUND_RNE) : f;
}
SCALAR_EMITTER(sitofp) { return int_to_float(c, op, in[0], true); }
SCALAR_EMITTER(uitofp) { return int_to_float(c, op, in[0], false); }

// The machine's conversion clamps to the range of 32 and 64 bits; narrower results are clamped from 32. For NaN it
// gives 0 at 32 bits, but the smallest number at 64.
static LLVMValueRef float_to_int(Cg *c, const Op *op, ScalarKind k, LLVMValueRef x, bool is_signed) {
  static const InsnId ids[2][2][2] = {{{INSN_CVT_U32_F32, INSN_CVT_S32_F32}, {INSN_CVT_U64_F32, INSN_CVT_S64_F32}},
                                      {{INSN_CVT_U32_F64, INSN_CVT_S32_F64}, {INSN_CVT_U64_F64, INSN_CVT_S64_F64}}};
  LLVMTypeRef to = target_type(c, op);
  uint32_t width = LLVMGetIntTypeWidth(to);
  bool wide = width == 64, is_double = k == SC_F64;
  LLVMValueRef f = is_double ? x : cg_float_to_f32(c, x, k);
  LLVMValueRef v = cg_insn(c, ids[is_double][wide][is_signed], wide ? c->t_i64 : c->t_i32, &f, 1);
  if (wide || is_double) {
    // For an f64 NaN it gives the smallest number at 32 bits, too.
    LLVMValueRef ordered = LLVMBuildFCmp(c->b, LLVMRealORD, f, f, "");
    v = cg_select(c, ordered, v, LLVMConstNull(LLVMTypeOf(v)));
  }
  if (width >= 32) return v;
  if (width == 1) return cg_cmp(c, LLVMIntNE, v, 0);
  if (is_signed) {
    v = cg_binary_intrinsic(c, "llvm.smax", v, cg_i32(c, (uint32_t) - (1 << (width - 1))));
    v = cg_binary_intrinsic(c, "llvm.smin", v, cg_i32(c, (1u << (width - 1)) - 1));
  } else {
    v = cg_binary_intrinsic(c, "llvm.umin", v, cg_i32(c, (1u << width) - 1));
  }
  return LLVMBuildTrunc(c->b, v, to, "");
}
SCALAR_EMITTER(fptosi) { return float_to_int(c, op, k, in[0], true); }
SCALAR_EMITTER(fptoui) { return float_to_int(c, op, k, in[0], false); }

// ---- pairs ----

static void packed_trunc(Cg *c, LLVMValueRef lo, LLVMValueRef hi, ScalarKind to, Rounding rounding,
                         LLVMValueRef out[2]) {
  static const InsnId ids[2][2] = {{INSN_CVT_F16X2_F32, INSN_CVT_RZ_F16X2_F32},
                                   {INSN_CVT_BF16X2_F32, INSN_CVT_RZ_BF16X2_F32}};
  if (is_fp8(to)) {
    fp8_pair_from_f32(c, lo, hi, to, out);
    return;
  }
  LLVMValueRef pair = cg_insn(c, ids[to == SC_BF16][rounding == ROUND_RTZ], c->t_i32, (LLVMValueRef[]){hi, lo}, 2);
  cg_unpack(c, pair, 2, 16, out);
  for (int i = 0; i < 2; i++) out[i] = cg_bitcast(c, out[i], c->elem[to]);
}

static bool narrows_packed(const Cg *c, const Op *op) {
  const ScalarKind to = target_kind(op);
  return op->opcode == OP_FPTRUNC && cg_elem_kind(op_operand(op, 0)->type) != SC_F64 &&
         (to == SC_F16 || to == SC_BF16 || fp8_in_hardware(c, to));
}

bool cg_is_packed_cast(const Cg *c, const Op *op) {
  return narrows_packed(c, op) ||
         (op->opcode == OP_FPEXT && fp8_in_hardware(c, cg_elem_kind(op_operand(op, 0)->type)));
}

void cg_lower_packed_cast(Cg *c, Op *op, const uint32_t *reps) {
  const bool narrows = narrows_packed(c, op);
  const ScalarKind from = cg_elem_kind(op_operand(op, 0)->type), to = target_kind(op);
  const CgValue *in = cg_get(op_operand(op, 0));
  CgValue *out = cg_value_new(c, in->count);
  Rounding rounding = (Rounding)op_int(op, ATTR_ROUNDING, ROUND_RNE);
  uint32_t held[2], num_held = 0;
  for (uint32_t r = 0; r <= in->count; r++) {
    if (r < in->count && reps[r] != r) continue;
    if (r < in->count) held[num_held++] = r;
    if (num_held == 0 || (num_held == 1 && r < in->count)) continue;
    LLVMValueRef lo = cg_reg(in, held[0]), hi = cg_reg(in, held[num_held - 1]), pair[2];
    if (narrows && num_held == 1) {
      out->v[held[0]] = cg_f32_to_float(c, cg_float_to_f32(c, lo, from), to, rounding);
    } else if (narrows) {
      packed_trunc(c, cg_float_to_f32(c, lo, from), cg_float_to_f32(c, hi, from), to, rounding, pair);
    } else {
      fp8_pair_to_f16(c, lo, hi, from, pair);
      for (int i = 0; i < 2; i++)
        if (to != SC_F16) pair[i] = cg_f32_to_float(c, LLVMBuildFPExt(c->b, pair[i], c->t_f32, ""), to, ROUND_RNE);
    }
    if (num_held == 2 || !narrows)
      for (uint32_t i = 0; i < num_held; i++) out->v[held[i]] = pair[i];
    num_held = 0;
  }
  for (uint32_t r = 0; r < in->count; r++) out->v[r] = out->v[reps[r]];
  cg_set(op_result(op, 0), out);
}
