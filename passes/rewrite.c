// Rewrites: laws whose right side is a new op, or that change the op in place. canonicalize applies them until none
// applies. A law whose right side exists already (x + 0 = x) is a fold and belongs to ir/fold.c, because builders apply
// folds, too. A law that changes blocks or removes ops with effects belongs to canonicalize.c. What every rewrite must
// keep is in rewrite.h. Each rule has its equation above it; x, y and z are operands, c and d constants.
#include "passes/rewrite.h"

#include <math.h>
#include <string.h>

#include "ir/fold.h"
#include "ir/num.h"
#include "ir/roles.h"
#include "passes/dot_unit.h"

static bool is_constant(const Value *v) { uint64_t bits; return v && value_constant_bits(v, &bits); }
static bool is_true(const Value *v) { uint64_t bits; return v && value_constant_bits(v, &bits) && (bits & 1); }
static bool is_false(const Value *v) { uint64_t bits; return v && value_constant_bits(v, &bits) && !(bits & 1); }

// An op with the opcode and attributes of `like`.
static Op *build_like(Builder *b, const Op *like, const Type *t, Value *const *operands, uint32_t n) {
  Op *op = build_op_typed(b, like->opcode, &t, 1, operands, n);
  op_copy_attrs(b->ctx, op, like);
  return op;
}

static Value *like_on(Builder *b, const Op *like, Value *x) {
  return op_result(build_like(b, like, like->results[0].type, &x, 1), 0);
}

// f(splat x, splat y) = splat f(x, y);  f(splat x, c) = splat f(x, c): uniform work is done once, on scalars.
Value *rewrite_elementwise(Builder *b, Op *op) {
  const Type *t = op->results[0].type;
  if (op->num_results != 1 || t->kind != TYPE_TENSOR) return NULL;
  Value *scalars[3];
  bool any = false;
  if (op->num_operands > countof(scalars)) return NULL;
  for (uint32_t i = 0; i < op->num_operands; i++) {
    Value *v = op_operand(op, i);
    if (v->type->kind != TYPE_TENSOR) scalars[i] = v;
    else if (value_op(v, OP_SPLAT)) { scalars[i] = op_operand(v->def, 0); any = true; }
    else if (value_op(v, OP_CONSTANT)) scalars[i] = NULL;
    else return NULL;
  }
  if (!any) return NULL;
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (!scalars[i]) {
      uint64_t bits;
      value_constant_bits(op_operand(op, i), &bits);
      scalars[i] = build_constant_bits(b, type_elem(op_operand(op, i)->type), bits);
    }
  const Type *elem = type_elem(t);
  Op *scalar = build_like(b, op, elem, scalars, op->num_operands);
  return build_splat(b, op_result(scalar, 0), t);
}

// c ∘ x = x ∘ c;  (x ∘ c) ∘ d = x ∘ (c ∘ d): every ∘ of this rule commutes and is associative on the
// wrapping integers.
static Value *commute(Builder *b, Op *op) {
  Value *x = op_operand(op, 0), *y = op_operand(op, 1);
  if (is_constant(x) && !is_constant(y)) {
    op_set_operand(op, 0, y);
    op_set_operand(op, 1, x);
    return op_result(op, 0);
  }
  Op *inner = value_op(x, op->opcode);
  if (!inner || !is_constant(y) || !is_constant(op_operand(inner, 1)) || type_is_float(x->type)) return NULL;
  return op_result(build_like(b, op, x->type,
                              (Value *[]){op_operand(inner, 0), build_binary(b, op->opcode, op_operand(inner, 1), y)},
                              2),
                   0);
}

// dot(x, y, 0) + z = dot(x, y, z) for integers. (Of floats both sides round, and fuse_multiply_add decides.) The dot
// moves down to where z is defined.
static Value *add_dot(Op *op) {
  for (uint32_t i = 0; i < 2; i++) {
    Value *v = op_operand(op, i);
    Op *dot = value_op(v, OP_DOT);
    uint64_t bits;
    if (!dot || !value_has_one_use(v) || dot->parent != op->parent) continue;
    if (!value_constant_bits(op_operand(dot, DOT_ACC), &bits) || bits) continue;
    op_move_before(dot, op);
    op_set_operand(dot, DOT_ACC, op_operand(op, 1 - i));
    return v;
  }
  return NULL;
}

static Value *add_rules(Builder *b, Op *op) {
  Value *r = commute(b, op);
  return r ? r : add_dot(op);
}

// x − c = x + (−c)
static Value *subtract_constant(Builder *b, Op *op) {
  int64_t c;
  Value *x = op_operand(op, 0), *y = op_operand(op, 1);
  if (!value_constant_int(y, &c) || type_elem_bits(x->type) < 8) return NULL;
  return build_binary(b, OP_ADDI, x, build_int(b, y->type, (int64_t)-(uint64_t)c));
}

// (c < x) = (x > c), and likewise for the other predicates
static Value *compare_constant_right(Builder *b, Op *op) {
  static const uint8_t swapped[] = {
      [CMP_EQ] = CMP_EQ,   [CMP_NE] = CMP_NE,   [CMP_SLT] = CMP_SGT, [CMP_SLE] = CMP_SGE, [CMP_SGT] = CMP_SLT,
      [CMP_SGE] = CMP_SLE, [CMP_ULT] = CMP_UGT, [CMP_ULE] = CMP_UGE, [CMP_UGT] = CMP_ULT, [CMP_UGE] = CMP_ULE,
  };
  Value *x = op_operand(op, 0), *y = op_operand(op, 1);
  if (!is_constant(x) || is_constant(y)) return NULL;
  op_set_operand(op, 0, y);
  op_set_operand(op, 1, x);
  op_set_int(b->ctx, op, ATTR_PRED, swapped[op_int(op, ATTR_PRED, 0)]);
  return op_result(op, 0);
}

// ((x ? c : d) == e) is x, ¬x, true or false, and likewise for the other predicates. A widened bit is x ? 1 : 0.
static Value *compare_chosen(Builder *b, Op *op) {
  Value *e = op_operand(op, 1);
  Op *inner = value_op(op_operand(op, 0), OP_SELECT), *widened = value_op(op_operand(op, 0), OP_EXTUI);
  if (!is_constant(e) || !(inner || widened)) return NULL;
  Value *x = op_operand(inner ? inner : widened, 0);
  if (x->type != op->results[0].type) return NULL;
  Value *c = inner ? op_operand(inner, 1) : build_int(b, e->type, 1);
  Value *d = inner ? op_operand(inner, 2) : build_int(b, e->type, 0);
  if (!is_constant(c) || !is_constant(d)) return NULL;
  const CmpPred pred = (CmpPred)op_int(op, ATTR_PRED, 0);
  Value *yes = build_cmp(b, pred, c, e), *no = build_cmp(b, pred, d, e);
  if (is_true(yes) == is_true(no)) return yes;
  return is_true(yes) ? x : build_binary(b, OP_XORI, x, no);
}

static Value *compare_rules(Builder *b, Op *op) {
  Value *turned = compare_constant_right(b, op);
  return turned ? turned : compare_chosen(b, op);
}

static bool is_min(const Op *op) { return op->opcode == OP_MINSI || op->opcode == OP_MINUI; }

// (z ? max(x, y) : min(x, y)) = (z ⊕ x < y ? x : y), and with max and min changed (… ? y : x): a step of a sort. For
// integers of 64 bits, of which machines have no max and min: one comparison and one choice instead of two and three.
static Value *exchange(Builder *b, Op *op) {
  Value *z = op_operand(op, 0), *yes = op_operand(op, 1), *no = op_operand(op, 2);
  if (!yes->def || !no->def || type_elem_bits(yes->type) != 64 || z->type->kind != yes->type->kind) return NULL;
  const Op *least = is_min(yes->def) ? yes->def : no->def, *most = least == yes->def ? no->def : yes->def;
  if (!is_min(least) || most->opcode != (least->opcode == OP_MINSI ? OP_MAXSI : OP_MAXUI)) return NULL;
  if (!value_has_one_use(yes) || !value_has_one_use(no)) return NULL;
  Value *x = op_operand(most, 0), *y = op_operand(most, 1), *p = op_operand(least, 0), *q = op_operand(least, 1);
  if (!((x == p && y == q) || (x == q && y == p))) return NULL;
  Value *below = build_cmp(b, least->opcode == OP_MINSI ? CMP_SLT : CMP_ULT, x, y);
  Value *first = build_binary(b, OP_XORI, z, below);
  Value *chosen[] = {first, most == yes->def ? x : y, most == yes->def ? y : x};
  return build_value(b, OP_SELECT, yes->type, chosen, 3);
}

// (x ? true : false) = x;  (¬x ? y : z) = (x ? z : y)
static Value *select_rules(Builder *b, Op *op) {
  Value *c = op_operand(op, 0), *x = op_operand(op, 1), *y = op_operand(op, 2);
  if (c->type == x->type && type_elem_bits(x->type) == 1 && is_true(x) && is_false(y)) return c;
  Op *inverted = value_op(c, OP_XORI);
  if (!inverted || !is_true(op_operand(inverted, 1))) return exchange(b, op);
  op_set_operand(op, 0, op_operand(inverted, 0));
  op_set_operand(op, 1, y);
  op_set_operand(op, 2, x);
  return op_result(op, 0);
}

// f(f(x)) = f(x), if both are the same cast, or broadcasts
static Value *repeated(Builder *b, Op *op) {
  Op *inner = value_op(op_operand(op, 0), op->opcode);
  return inner ? like_on(b, op, op_operand(inner, 0)) : NULL;
}

// reshape(reshape(x)) = reshape(x), if both may or both may not reorder. (A worker may use a scalar from outside, but
// not the tensor that it comes from.)
static Value *reshape_rules(Builder *b, Op *op) {
  Value *x = op_operand(op, 0);
  Op *inner = value_op(x, OP_RESHAPE);
  if (!inner || block_worker(inner->parent) != block_worker(op->parent)) return NULL;
  if (op_int(inner, ATTR_REORDER, 0) != op_int(op, ATTR_REORDER, 0)) return NULL;
  return like_on(b, op, op_operand(inner, 0));
}

// trans(trans(x, p), q) = trans(x, p ∘ q), and x itself if p ∘ q is the identity
static Value *trans_rules(Builder *b, Op *op) {
  Op *inner = value_op(op_operand(op, 0), OP_TRANS);
  if (!inner) return NULL;
  const Attr *outer_order = op_attr(op, ATTR_ORDER), *inner_order = op_attr(inner, ATTR_ORDER);
  int64_t order[MAX_RANK];
  bool same = true;
  for (uint32_t i = 0; i < outer_order->num_ints; i++) {
    order[i] = inner_order->ints[outer_order->ints[i]];
    same &= order[i] == i;
  }
  if (same && op_operand(inner, 0)->type == op->results[0].type) return op_operand(inner, 0);
  Value *made = like_on(b, op, op_operand(inner, 0));
  op_set_ints(b->ctx, made->def, ATTR_ORDER, order, outer_order->num_ints);
  return made;
}

// convert(convert(x)) = convert(x);  convert(f()) = f(), if f can be computed in any layout at no cost (constant,
// range, splat)
static Value *convert_rules(Builder *b, Op *op) {
  Value *x = op_operand(op, 0);
  const Type *t = op->results[0].type;
  Op *inner = value_op(x, OP_CONVERT_LAYOUT);
  if (inner) return build_convert_layout(b, op_operand(inner, 0), t->layout);
  if (!x->def || !op_is(x->def, TRAIT_FREE)) return NULL;
  Value *operand = x->def->num_operands ? op_operand(x->def, 0) : NULL;
  return op_result(build_like(b, x->def, t, &operand, x->def->num_operands), 0);
}

// load(p, mask true, other) = load(p);  load(p, mask false, other) = other, and 0 if there is no other
static Value *load_rules(Builder *b, Op *op) {
  Value *mask = op_named(op, OPERAND_MASK), *other = op_named(op, OPERAND_OTHER);
  if (mask && is_true(mask)) {
    op_set_named(op, OPERAND_MASK, NULL);
    op_set_named(op, OPERAND_OTHER, NULL);
    return op_result(op, 0);
  }
  if (!mask || !is_false(mask) || op_int(op, ATTR_VOLATILE, 0)) return NULL;
  return other                                                 ? other
         : type_elem(op->results[0].type)->kind == TYPE_SCALAR ? build_constant_bits(b, op->results[0].type, 0)
                                                               : NULL;
}

// The 16-bit numbers that were widened to give v, or what v is the transpose of; NULL if there are none.
static Value *before_widening(Value *v) {
  while (value_op(v, OP_TRANS)) v = op_operand(v->def, 0);
  Value *narrow = value_op(v, OP_FPEXT) ? op_operand(v->def, 0) : NULL;
  return narrow && type_elem_bits(narrow->type) == 16 ? narrow : NULL;
}

// v, of which these are the numbers before they were widened, in their type.
static Value *unwidened(Builder *b, const Value *v, Value *narrow) {
  if (value_op(v, OP_FPEXT)) return narrow;
  Value *x = unwidened(b, op_operand(v->def, 0), narrow);
  return op_result(build_like(b, v->def, type_with_elem(b->ctx, v->type, type_elem(x->type)), &x, 1), 0);
}

// dot(fpext x, fpext y, z) = dot(x, y, z) for x and y of the same 16 bits, transposed or not, where tensor cores may
// compute it: their products are exact, and they multiply twice as many of these, from half as much memory.
static Value *dot_rules(Builder *b, Op *op) {
  const Type *t = op_operand(op, 0)->type;
  if (!type_is_scalar(type_elem(t), SC_F32) || op_int(op, ATTR_PRECISION, PREC_TF32) == PREC_IEEE) return NULL;
  if (t->shape[t->rank - 1] < 8 * (int64_t)dot_k_width(16)) return NULL;
  Value *x = before_widening(op_operand(op, 0)), *y = before_widening(op_operand(op, 1));
  if (!x || !y || type_elem(x->type) != type_elem(y->type)) return NULL;
  Value *args[3] = {unwidened(b, op_operand(op, 0), x), unwidened(b, op_operand(op, 1), y), op_operand(op, DOT_ACC)};
  return op_result(build_like(b, op, op_result(op, 0)->type, args, 3), 0);
}

// The x of min(max(x, c), d), or of the other order, with integers c and d of the type t; NULL for other values. A NaN
// gives c or d.
static Value *clamped(const Value *y, const Type *t, bool is_signed) {
  const uint32_t width = scalar_bits(t->scalar);
  const double most = ldexp(1, (int)width - is_signed) - 1, least = is_signed ? -most - 1 : 0;
  const Op *outer = value_op(y, OP_MINF) ? y->def : value_op(y, OP_MAXF);
  const Op *inner = outer ? value_op(op_operand(outer, 0), outer->opcode == OP_MINF ? OP_MAXF : OP_MINF) : NULL;
  if (!inner || type_elem(y->type)->scalar != SC_F32) return NULL;
  for (const Op *op = inner;; op = outer) {
    uint64_t bits;
    if (!value_constant_bits(op_operand(op, 1), &bits)) return NULL;
    const double c = num_decode(scalar_num_format(SC_F32), bits);
    if (!(c >= least && c <= most) || c != rint(c)) return NULL;
    if (op == outer) return op_operand(inner, 0);
  }
}

// What y = min(max(…)) is of x instead.
static Value *clamp_like(Builder *b, const Value *y, Value *x) {
  const Op *outer = y->def, *inner = op_operand(outer, 0)->def;
  return build_binary(b, outer->opcode, build_binary(b, inner->opcode, x, op_operand(inner, 1)), op_operand(outer, 1));
}

// For y between numbers of a type of 8 or 16 bits, of which nothing is cut off:
//   fptosi(rint(y)) = the last bits of y + 3 · 2^22, in f32;  fptosi(y) = trunc(fptosi(y) with 32 bits)
// Rounding and conversion take four times as long as other arithmetic; an integer clamps after a conversion.
static Value *to_integer_rules(Builder *b, Op *op) {
  Value *y = op_operand(op, 0);
  const Type *elem = type_elem(op->results[0].type);
  const bool is_signed = op->opcode == OP_FPTOSI;
  const uint32_t width = scalar_bits(elem->scalar);
  const Op *round = value_op(y, OP_RINT);
  if (width != 8 && width != 16) return NULL;
  if (round) y = op_operand(round, 0);
  Value *x = clamped(y, elem, is_signed);
  if (!x) return NULL;
  if (!round && value_op(x, OP_RINT)) {
    round = x->def;
    y = clamp_like(b, y, op_operand(round, 0));
  }
  if (round) y = build_binary(b, OP_ADDF, y, build_float(b, y->type, 3 << 22));
  y = build_cast(b, round ? OP_BITCAST : op->opcode, y, type_scalar(b->ctx, SC_I32));
  return build_cast(b, OP_TRUNCI, y, elem);
}

static const RewriteRule rules[] = {
  {OP_ADDI, add_rules}, {OP_MULI, commute}, {OP_ANDI, commute}, {OP_ORI, commute}, {OP_XORI, commute},
  {OP_MINSI, commute}, {OP_MAXSI, commute}, {OP_MINUI, commute}, {OP_MAXUI, commute},
  {OP_SUBI, subtract_constant},
  {OP_CMPI, compare_rules},
  {OP_SELECT, select_rules},
  {OP_EXTSI, repeated}, {OP_EXTUI, repeated}, {OP_TRUNCI, repeated}, {OP_FPEXT, repeated}, {OP_BITCAST, repeated},
  {OP_RESHAPE, reshape_rules}, {OP_BROADCAST, repeated}, {OP_TRANS, trans_rules},
  {OP_CONVERT_LAYOUT, convert_rules}, {OP_DOT, dot_rules},
  {OP_LOAD, load_rules},
  {OP_FPTOSI, to_integer_rules}, {OP_FPTOUI, to_integer_rules},
};

RewriteRules rewrite_rules(void) { return (RewriteRules){rules, countof(rules)}; }
