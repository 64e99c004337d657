// Folds: an op that can be had as a constant or as one of its operands. Only what holds bit for bit, NaNs and signed zeros
// included, except that a NaN operand may keep its payload where the op would have made it canonical.
#include "ir/fold.h"

static bool is_bits(const Value *v, uint64_t want) {
  uint64_t bits;
  return value_constant_bits(v, &bits) && bits == want;
}

static bool is_zero(const Value *v) { return is_bits(v, 0); }
static bool is_ones(const Value *v) { return is_bits(v, num_zext(~0ull, type_elem_bits(v->type))); }
static bool is_one(const Value *v) { return is_bits(v, type_is_int(v->type) ? 1 : num_encode(scalar_num_format(type_elem(v->type)->scalar), 1.0, NUM_RNE, false)); }
static bool is_negative_zero(const Value *v) { return is_bits(v, 1ull << (type_elem_bits(v->type) - 1)); }

static Value *constant_like(Builder *b, const Op *op, uint64_t bits) { return build_constant_bits(b, op->results[0].type, bits); }

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

static Value *fold_cmpi(Builder *b, const Op *op) {
  if (op_operand(op, 0) != op_operand(op, 1)) return NULL;
  int64_t p = op_int(op, ATTR_PRED, CMP_EQ);
  bool holds = p == CMP_EQ || p == CMP_SLE || p == CMP_SGE || p == CMP_ULE || p == CMP_UGE;
  return constant_like(b, op, holds);
}

static Value *fold_select(const Op *op) {
  Value *c = op_operand(op, 0), *x = op_operand(op, 1), *y = op_operand(op, 2);
  uint64_t bits;
  if (x == y) return x;
  if (value_constant_bits(c, &bits)) return bits & 1 ? x : y;
  return NULL;
}

// Identities of two-operand ops; x is the first, y the second.
static Value *fold_identity(Builder *b, const Op *op) {
  Value *x = op_operand(op, 0), *y = op->num_operands > 1 ? op_operand(op, 1) : NULL;
  switch (op->opcode) {
    case OP_ADDI: case OP_ORI: case OP_XORI:
      if (is_zero(y)) return x;
      if (is_zero(x)) return y;
      if (op->opcode == OP_XORI && x == y) return constant_like(b, op, 0);
      if (op->opcode == OP_ORI && (x == y || is_ones(x))) return x;
      if (op->opcode == OP_ORI && is_ones(y)) return y;
      return NULL;
    case OP_SUBI:
      if (is_zero(y)) return x;
      return x == y ? constant_like(b, op, 0) : NULL;
    case OP_SHLI: case OP_SHRSI: case OP_SHRUI: return is_zero(y) ? x : NULL;
    case OP_MULI:
      if (is_one(y) || is_zero(x)) return x;
      return is_one(x) || is_zero(y) ? y : NULL;
    case OP_DIVSI: case OP_DIVUI: return is_one(y) ? x : NULL;
    case OP_REMSI: case OP_REMUI: return is_one(y) ? constant_like(b, op, 0) : NULL;
    case OP_ANDI:
      if (x == y || is_ones(y) || is_zero(x)) return x;
      return is_ones(x) || is_zero(y) ? y : NULL;
    case OP_MINSI: case OP_MAXSI: case OP_MINUI: case OP_MAXUI: case OP_MINF: case OP_MAXF: case OP_MINIMUMF: case OP_MAXIMUMF:
      return x == y ? x : NULL;
    case OP_ADDF:
      if (is_negative_zero(y)) return x;
      return is_negative_zero(x) ? y : NULL;
    case OP_SUBF: return is_zero(y) ? x : NULL;
    case OP_MULF:
      if (is_one(y)) return x;
      return is_one(x) ? y : NULL;
    case OP_DIVF: case OP_DIVF_RN: return is_one(y) ? x : NULL;
    case OP_NEGF: return x->def && x->def->opcode == OP_NEGF ? op_operand(x->def, 0) : NULL;
    case OP_ADDPTR: return is_zero(y) && x->type == op->results[0].type ? x : NULL;
    case OP_BITCAST: return x->type == op->results[0].type ? x : NULL;
    case OP_CMPI: return fold_cmpi(b, op);
    case OP_SELECT: return fold_select(op);
    case OP_TRUNCI: {
      // Truncating what was extended from that very type.
      Op *d = x->def;
      if (d && (d->opcode == OP_EXTSI || d->opcode == OP_EXTUI) && op_operand(d, 0)->type == op->results[0].type) return op_operand(d, 0);
      return NULL;
    }
    default: return NULL;
  }
}

static bool is_identity_order(const Op *op) {
  const Attr *order = op_attr(op, ATTR_ORDER);
  for (uint32_t i = 0; i < order->num_ints; i++)
    if (order->ints[i] != i) return false;
  return true;
}

// Ops that move elements: nothing moves when all are equal.
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
  if (op->opcode != OP_SPLAT && x->def && x->def->opcode == OP_SPLAT && t->rank) return build_splat(b, op_operand(x->def, 0), t);
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
