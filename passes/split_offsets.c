// Of split_addresses: the uniform and the varying part of an integer. Why they may stay in 32 bits is at the head of
// split_addresses.c.
#include "passes/split_addresses.h"

Value *split_widen(Split *s, Builder *b, Value *v) {
  return type_elem_bits(v->type) < 64 ? build_cast(b, OP_EXTSI, v, type_scalar(s->ctx, SC_I64)) : v;
}

// x + y (x − y, x · y) of signed numbers: in 32 bits if the ranges prove that enough, or if `assume32`; otherwise in
// 64.
static Value *arithmetic(Split *s, Builder *b, Opcode oc, Value *x, Value *y, bool assume32) {
  const AxisInfo *p = axis_info(s->axes, x), *q = axis_info(s->axes, y);
  bool narrow = type_elem_bits(x->type) == 32 && type_elem_bits(y->type) == 32;
  if (narrow && !assume32) {
    if (oc == OP_ADDI) narrow = split_fits32((__int128)p->lo + q->lo, (__int128)p->hi + q->hi);
    else if (oc == OP_SUBI) narrow = split_fits32((__int128)p->lo - q->hi, (__int128)p->hi - q->lo);
    else {
      __int128 a = (__int128)p->lo * q->lo, c = (__int128)p->lo * q->hi, d = (__int128)p->hi * q->lo,
               e = (__int128)p->hi * q->hi;
      narrow = split_fits32(a, a) && split_fits32(c, c) && split_fits32(d, d) && split_fits32(e, e);
    }
  }
  if (!narrow) {
    x = split_widen(s, b, x);
    y = split_widen(s, b, y);
  }
  return build_binary(b, oc, x, y);
}

Value *split_add(Split *s, Builder *b, Opcode oc, Value *x, Value *y, bool assume32) {
  if (!y) return x;
  if (x) return arithmetic(s, b, oc, x, y, assume32);
  if (oc == OP_ADDI) return y;
  return arithmetic(s, b, OP_SUBI, build_int(b, y->type, 0), y, assume32);
}

static bool nonneg(Split *s, Value *v) { return !v || axis_info(s->axes, v)->nonneg; }

// Value.aux keeps the parts of an integer, as it keeps the addresses of pointers, because many may share a sum. The
// parts are valid as long as they are linked.
static bool in_place(const Value *v) { return !v || !v->def || v->def->parent; }

Value *split_move(Builder *b, const Op *op, Value *x) {
  const Type *t = type_with_elem(b->ctx, op->results[0].type, type_elem(x->type));
  Op *made = build_op_typed(b, op->opcode, &t, 1, &x, 1);
  op_copy_attrs(b->ctx, made, op);
  return op_result(made, 0);
}

static Parts sum_parts(Split *s, Op *op) {
  Value *o = op_result(op, 0);
  Parts whole = {NULL, o, true};
  Parts x = split_offset(s, op_operand(op, 0)), y = split_offset(s, op_operand(op, 1));
  if (!x.uniform && !y.uniform) return whole;
  Builder b = builder_before(s->ctx, op);
  bool is_sum = op->opcode == OP_ADDI;
  bool signs_agree =
      is_sum && nonneg(s, x.uniform) && nonneg(s, x.varying) && nonneg(s, y.uniform) && nonneg(s, y.varying);
  // A pure uniform plus a pure varying part of unknown signs may cancel; two balanced sums may not.
  bool mixed = (!x.varying && !y.uniform) || (!x.uniform && !y.varying);
  Parts r;
  r.balanced = signs_agree || (x.balanced && y.balanced && !mixed);
  r.uniform = split_add(s, &b, op->opcode, x.uniform, y.uniform, false);
  r.varying = split_add(s, &b, op->opcode, x.varying, y.varying, r.balanced);
  return r;
}

static Parts product_parts(Split *s, Op *op) {
  Parts whole = {NULL, op_result(op, 0), true};
  Parts x = split_offset(s, op_operand(op, 0)), y = split_offset(s, op_operand(op, 1));
  if (x.uniform && !x.varying) {
    Parts swap = x;
    x = y;
    y = swap;
  }
  if (y.varying || !y.uniform || !x.uniform) return whole;
  Builder b = builder_before(s->ctx, op);
  Parts r = {.balanced = x.balanced};
  if (x.varying) {
    Value *factor = build_splat(&b, y.uniform, type_with_elem(s->ctx, x.varying->type, y.uniform->type));
    const AxisInfo *p = axis_info(s->axes, x.varying), *q = axis_info(s->axes, y.uniform);
    int64_t most_p = max_i64(p->hi, -(p->lo + 1)), most_q = max_i64(q->hi, -(q->lo + 1));
    bool proved = (__int128)(most_p + (__int128)1) * (most_q + (__int128)1) <= INT32_MAX;
    if (!proved && !x.balanced && type_elem_bits(op->results[0].type) < 64) return whole;
    r.varying = arithmetic(s, &b, OP_MULI, x.varying, factor, x.balanced);
  }
  r.uniform = arithmetic(s, &b, OP_MULI, x.uniform, y.uniform, false);
  return r;
}

static Parts parts_of(Split *s, Value *o) {
  Parts whole = {NULL, o, true};
  Op *op = o->def;
  if (!op || type_elem_bits(o->type) < 32) return whole;
  switch (op->opcode) {
    case OP_SPLAT: return (Parts){op_operand(op, 0), NULL, true};
    case OP_CONSTANT: {
      int64_t c;
      if (!value_constant_int(o, &c)) return whole;
      Builder b = builder_before(s->ctx, op);
      return (Parts){build_int(&b, type_elem(o->type), c), NULL, true};
    }
    case OP_ADDI: case OP_SUBI: return sum_parts(s, op);
    case OP_MULI: return product_parts(s, op);
    case OP_EXTSI: {
      Parts x = split_offset(s, op_operand(op, 0));
      // The parts stay narrow; only the sum with the base is wide.
      return x.uniform || (x.varying && type_elem_bits(x.varying->type) >= 32) ? x : whole;
    }
    case OP_BROADCAST: case OP_EXPAND_DIMS: case OP_RESHAPE: case OP_TRANS: {
      if (op_operand(op, 0)->type->kind != TYPE_TENSOR || o->type->kind != TYPE_TENSOR) return whole;
      Parts x = split_offset(s, op_operand(op, 0));
      if (!x.uniform && x.varying == op_operand(op, 0)) return whole;
      if (x.varying) {
        Builder b = builder_before(s->ctx, op);
        x.varying = split_move(&b, op, x.varying);
      }
      return x;
    }
    default: return whole;
  }
}

Parts split_offset(Split *s, Value *o) {
  Parts *known = o->aux;
  if (known && in_place(known->uniform) && in_place(known->varying)) return *known;
  Parts parts = parts_of(s, o);
  known = arena_new(&s->ctx->arena, Parts);
  *known = parts;
  o->aux = known;
  return parts;
}
