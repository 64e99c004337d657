// decompose_dot: a dot of a precision or type that no tensor core has becomes a sum of dots that one has.
//
//   tf32x3    a = a₁ + a₂, each of tf32:     a₁b₁ + (a₁b₂ + a₂b₁)
//   bf16x3    a = a₁ + a₂ in bf16:           a₁b₁ + (a₁b₂ + a₂b₁)
//   bf16x6    a = a₁ + a₂ + a₃ in bf16:      a₁b₁ + (a₁b₂ + a₂b₁ + a₁b₃ + a₃b₁ + a₂b₂)
//   fp8       the same numbers in half precision, if no tensor core multiplies fp8 with this accumulator
//
// Small terms come first. An infinite operand leaves NaNs in its remainder; the pass replaces NaNs of the small terms
// by zero. Therefore the leading term alone decides the result.
// In, out: TILE.
#include "passes/pass.h"

enum { MAX_PARTS = 3, TF32_DROPPED_BITS = 13 };

typedef struct { Context *ctx; const Target *target; } Decompose;

// Which products of parts are summed, smallest first. The leading one, {0, 0}, is not in the list.
typedef struct { uint32_t num_parts, num_terms; uint8_t terms[5][2]; } Scheme;
static const Scheme schemes[] = {
  [PREC_TF32X3] = {2, 2, {{1, 0}, {0, 1}}},
  [PREC_BF16X3] = {2, 2, {{1, 0}, {0, 1}}},
  [PREC_BF16X6] = {3, 5, {{1, 1}, {2, 0}, {0, 2}, {1, 0}, {0, 1}}},
};

// The leading part of x, in f32.
static Value *leading(Builder *b, Value *x, bool tf32, Value **narrow) {
  const Type *f32 = type_scalar(b->ctx, SC_F32), *i32 = type_scalar(b->ctx, SC_I32);
  if (tf32) {
    Value *bits = build_cast(b, OP_BITCAST, x, i32);
    bits = build_binary(b, OP_ANDI, bits, build_int(b, bits->type, -(1 << TF32_DROPPED_BITS)));
    return *narrow = build_cast(b, OP_BITCAST, bits, f32);
  }
  *narrow = build_cast(b, OP_FPTRUNC, x, type_scalar(b->ctx, SC_BF16));
  return build_cast(b, OP_FPEXT, *narrow, f32);
}

static void split(Builder *b, Value *x, bool tf32, uint32_t num_parts, Value *parts[MAX_PARTS]) {
  for (uint32_t i = 0; i + 1 < num_parts; i++) x = build_binary(b, OP_SUBF, x, leading(b, x, tf32, &parts[i]));
  if (tf32) parts[num_parts - 1] = x;   // the tensor core cuts it
  else leading(b, x, tf32, &parts[num_parts - 1]);
}

static Value *product(Builder *b, Value *x, Value *y, Value *acc, DotPrecision precision) {
  Value *args[3] = {x, y, acc};
  Op *dot = build_op(b, OP_DOT, args, 3);
  op_set_int(b->ctx, dot, ATTR_PRECISION, precision);
  return op_result(dot, 0);
}

static void split_precision(Decompose *s, Op *dot, DotPrecision precision) {
  Builder b = builder_before(s->ctx, dot);
  bool tf32 = precision == PREC_TF32X3;
  const Scheme *scheme = &schemes[precision];
  Value *x[MAX_PARTS], *y[MAX_PARTS], *c = op_operand(dot, DOT_ACC);
  split(&b, op_operand(dot, 0), tf32, scheme->num_parts, x);
  split(&b, op_operand(dot, 1), tf32, scheme->num_parts, y);
  DotPrecision of_parts = tf32 ? PREC_TF32 : PREC_IEEE;
  Value *zero = build_float(&b, c->type, 0), *small = zero;
  for (uint32_t i = 0; i < scheme->num_terms; i++)
    small = product(&b, x[scheme->terms[i][0]], y[scheme->terms[i][1]], small, of_parts);
  small = build_ternary(&b, OP_SELECT, build_cmp(&b, CMP_OEQ, small, small), small, zero);
  Value *sum = product(&b, x[0], y[0], build_binary(&b, OP_ADDF, c, small), of_parts);
  op_replace(dot, &sum);
}

static bool is_fp8(const Type *t) {
  return type_is_scalar(type_elem(t), SC_F8E4M3) || type_is_scalar(type_elem(t), SC_F8E5M2);
}

static void visit(Op *op, void *user) {
  Decompose *s = user;
  if (op->opcode != OP_DOT) return;
  Value *a = op_operand(op, 0), *bv = op_operand(op, 1);
  if (type_is_scalar(type_elem(a->type), SC_F32)) {
    int64_t precision = op_int(op, ATTR_PRECISION, PREC_TF32);
    if (precision != PREC_TF32 && precision != PREC_IEEE) split_precision(s, op, (DotPrecision)precision);
    return;
  }
  bool adds_up = s->target->has_fp8_mma && type_is_scalar(type_elem(op_operand(op, DOT_ACC)->type), SC_F32);
  if (!is_fp8(a->type) || !is_fp8(bv->type) || adds_up) return;
  Builder b = builder_before(s->ctx, op);
  const Type *half = type_scalar(s->ctx, SC_F16);
  op_set_operand(op, 0, build_cast(&b, OP_FPEXT, a, half));
  op_set_operand(op, 1, build_cast(&b, OP_FPEXT, bv, half));
  op_remove_attr(op, ATTR_IMPRECISE_ACC);
}

void pass_decompose_dot(PassCtx *p) {
  Decompose s = {p->ctx, p->module->target};
  module_walk(p->module, visit, &s);
}
