// Folds: laws whose right side exists already, as a constant or as an operand. Builders apply them to every op that
// they build, therefore a fold builds nothing but a constant or a splat. A law whose right side is a new op, or that
// changes the op in place, is a rewrite and belongs to passes/rewrite.c, which canonicalize applies. A law that changes
// blocks (loops, conditionals) belongs to passes/canonicalize.c. Every law holds bit for bit, NaNs and signed zeros
// included, with one exception: a NaN operand may keep its payload where the op would have made it canonical. Each case
// has its equation above it; x and y are the operands, c and d constants.
#include "ir/fold.h"

static bool is_bits(const Value *v, uint64_t want) {
  uint64_t bits;
  return value_constant_bits(v, &bits) && bits == want;
}

static bool is_zero(const Value *v) { return is_bits(v, 0); }
static bool is_ones(const Value *v) { return is_bits(v, num_zext(~0ull, type_elem_bits(v->type))); }
static bool is_one(const Value *v) {
  return is_bits(v, type_is_int(v->type)
                        ? 1
                        : num_encode(scalar_num_format(type_elem(v->type)->scalar), 1.0, NUM_RNE, false));
}
static bool is_negative_zero(const Value *v) { return is_bits(v, 1ull << (type_elem_bits(v->type) - 1)); }

static Value *constant_like(Builder *b, const Op *op, uint64_t bits) {
  return build_constant_bits(b, op->results[0].type, bits);
}

// c ∘ d = their value
static Value *fold_constants(Builder *b, const Op *op) {
  uint64_t in[4];
  const Type *types[4];
  if (op->num_operands > countof(in)) return NULL;
  for (uint32_t i = 0; i < op->num_operands; i++) {
    if (!value_constant_bits(op_operand(op, i), &in[i])) return NULL;
    types[i] = type_elem(op_operand(op, i)->type);
  }
  return constant_like(b, op, eval_scalar(op, types, type_elem(op->results[0].type), in));
}

// (x = x) = (x ≤ x) = (x ≥ x) = true;  (x ≠ x) = (x < x) = (x > x) = false
static Value *fold_cmpi(Builder *b, const Op *op) {
  if (op_operand(op, 0) != op_operand(op, 1)) return NULL;
  int64_t p = op_int(op, ATTR_PRED, CMP_EQ);
  bool holds = p == CMP_EQ || p == CMP_SLE || p == CMP_SGE || p == CMP_ULE || p == CMP_UGE;
  return constant_like(b, op, holds);
}

// (c ? x : x) = x;  (true ? x : y) = x;  (false ? x : y) = y
static Value *fold_select(const Op *op) {
  Value *c = op_operand(op, 0), *x = op_operand(op, 1), *y = op_operand(op, 2);
  uint64_t bits;
  if (x == y) return x;
  if (value_constant_bits(c, &bits)) return bits & 1 ? x : y;
  return NULL;
}

// trunc(ext(x)) = x, if the type is x's again
static Value *fold_trunci(const Op *op) {
  const Op *ext = op_operand(op, 0)->def;
  if (!ext || (ext->opcode != OP_EXTSI && ext->opcode != OP_EXTUI)) return NULL;
  return op_operand(ext, 0)->type == op->results[0].type ? op_operand(ext, 0) : NULL;
}

static Value *fold_identity(Builder *b, const Op *op) {
  Value *x = op_operand(op, 0), *y = op->num_operands > 1 ? op_operand(op, 1) : NULL;
  switch (op->opcode) {
    // x + 0 = x | 0 = x ⊕ 0 = x, and with the operands swapped;  x ⊕ x = 0;  x | x = x;  x | ~0 = ~0
    case OP_ADDI: case OP_ORI: case OP_XORI:
      if (is_zero(y)) return x;
      if (is_zero(x)) return y;
      if (op->opcode == OP_XORI && x == y) return constant_like(b, op, 0);
      if (op->opcode == OP_ORI && (x == y || is_ones(x))) return x;
      if (op->opcode == OP_ORI && is_ones(y)) return y;
      return NULL;
    // x − 0 = x;  x − x = 0
    case OP_SUBI:
      if (is_zero(y)) return x;
      return x == y ? constant_like(b, op, 0) : NULL;
    // x << 0 = x >> 0 = x
    case OP_SHLI: case OP_SHRSI: case OP_SHRUI: return is_zero(y) ? x : NULL;
    // x · 1 = 1 · x = x;  x · 0 = 0 · x = 0
    case OP_MULI:
      if (is_one(y) || is_zero(x)) return x;
      return is_one(x) || is_zero(y) ? y : NULL;
    // x / 1 = x
    case OP_DIVSI: case OP_DIVUI: return is_one(y) ? x : NULL;
    // x mod 1 = 0
    case OP_REMSI: case OP_REMUI: return is_one(y) ? constant_like(b, op, 0) : NULL;
    // x & x = x & ~0 = ~0 & x = x;  x & 0 = 0 & x = 0
    case OP_ANDI:
      if (x == y || is_ones(y) || is_zero(x)) return x;
      return is_ones(x) || is_zero(y) ? y : NULL;
    // min(x, x) = max(x, x) = x
    case OP_MINSI: case OP_MAXSI: case OP_MINUI: case OP_MAXUI:
    case OP_MINF: case OP_MAXF: case OP_MINIMUMF: case OP_MAXIMUMF: return x == y ? x : NULL;
    // x + −0.0 = −0.0 + x = x (x + 0.0 is not: −0.0 + 0.0 = 0.0)
    case OP_ADDF:
      if (is_negative_zero(y)) return x;
      return is_negative_zero(x) ? y : NULL;
    // x − 0.0 = x
    case OP_SUBF: return is_zero(y) ? x : NULL;
    // x · 1.0 = 1.0 · x = x
    case OP_MULF:
      if (is_one(y)) return x;
      return is_one(x) ? y : NULL;
    // x / 1.0 = x
    case OP_DIVF: case OP_DIVF_RN: return is_one(y) ? x : NULL;
    // −(−x) = x
    case OP_NEGF: return value_op(x, OP_NEGF) ? op_operand(x->def, 0) : NULL;
    // addptr(x, 0) = x, if a scalar did not become a tensor
    case OP_ADDPTR: return is_zero(y) && x->type == op->results[0].type ? x : NULL;
    // bitcast(x) = x, if the type stays
    case OP_BITCAST: return x->type == op->results[0].type ? x : NULL;
    case OP_CMPI: return fold_cmpi(b, op);
    case OP_SELECT: return fold_select(op);
    case OP_TRUNCI: return fold_trunci(op);
    default: return NULL;
  }
}

static bool is_identity_order(const Op *op) {
  const Attr *order = op_attr(op, ATTR_ORDER);
  for (uint32_t i = 0; i < order->num_ints; i++)
    if (order->ints[i] != i) return false;
  return true;
}

// move(x) = x, if the type (of a transpose, the order of axes) stays;  move(c) = c;  move(splat x) = splat x, in the
// new shape: nothing moves when all elements are equal.
static Value *fold_shape(Builder *b, const Op *op) {
  Value *x = op_operand(op, 0);
  const Type *t = op->results[0].type;
  uint64_t bits;
  if (op->opcode == OP_TRANS) {
    if (is_identity_order(op)) return x;
  } else if (x->type == t && op->opcode != OP_SPLAT) {
    return x;
  }
  if (value_constant_bits(x, &bits) && type_elem(t)->kind == TYPE_SCALAR) return build_constant_bits(b, t, bits);
  if (op->opcode != OP_SPLAT && value_op(x, OP_SPLAT) && t->rank) return build_splat(b, op_operand(x->def, 0), t);
  return NULL;
}

Value *fold_op(Builder *b, Op *op) {
  if (op->num_results != 1 || op->num_operands == 0) return NULL;
  switch (op->opcode) {
    case OP_SPLAT: case OP_BROADCAST: case OP_EXPAND_DIMS: case OP_RESHAPE: case OP_TRANS: case OP_CONVERT_LAYOUT:
      return fold_shape(b, op);
    default: break;
  }
  if (!eval_is_scalar_op(op->opcode)) return NULL;
  Value *v = fold_constants(b, op);
  return v ? v : fold_identity(b, op);
}
