// fuse_multiply_add: a·b + c with one rounding. An add of a product becomes fma. A difference does, too, with a sign
// turned (which is exact). If something else uses the product, it stays. Of 16 bits the sum fuses all the same, as in
// Triton: there one rounding more is much of a result's error. Of 32 bits and more it does not: programs compute the
// error of a product, and of a sum with it, from what they were rounded to. The tile IR says what is fused; therefore
// interpreter, simulator and GPU round alike. A sum with a dot whose accumulator is zero becomes that accumulator. (Of
// integers canonicalize does so, because nothing rounds.)
// In, out: TILE or LAID_OUT.
#include "passes/pass.h"

static bool is_only_product(const Value *v) { return value_op(v, OP_MULF) && value_has_one_use(v); }
static bool is_product(const Value *v) {
  return is_only_product(v) || (value_op(v, OP_MULF) && type_elem_bits(v->type) == 16);
}

static bool is_plain_dot(const Value *v, const Op *user) {
  uint64_t bits;
  return value_op(v, OP_DOT) && value_has_one_use(v) && v->def->parent == user->parent &&
         value_constant_bits(op_operand(v->def, DOT_ACC), &bits) && bits == 0;
}

//   c + dot(a, b, 0) → dot(a, b, c)
static bool fuse_dot(Op *op) {
  if (op->opcode != OP_ADDF) return false;
  uint32_t which = is_plain_dot(op_operand(op, 0), op) ? 0 : 1;
  Value *product = op_operand(op, which);
  if (!is_plain_dot(product, op)) return false;
  Op *dot = product->def;
  op_move_before(dot, op);       // after the definition of what it now adds to
  op_set_operand(dot, DOT_ACC, op_operand(op, 1 - which));
  op_replace(op, &product);
  return true;
}

static void fuse(Op *op, void *user) {
  (void)user;
  if (fuse_dot(op)) return;
  if (op->opcode != OP_ADDF && op->opcode != OP_SUBF) return;
  Value *x = op_operand(op, 0), *y = op_operand(op, 1);
  const bool left = is_only_product(x) || (is_product(x) && !is_only_product(y)), subtract = op->opcode == OP_SUBF;
  if (x == y || (!left && !is_product(y)) || type_elem_bits(op->results[0].type) < 16) return;
  Op *product = left ? x->def : y->def;
  if (product->parent != op->parent) return;     // a loop-invariant product is cheaper where it is
  Builder b = builder_before(op->parent->func->module->ctx, op);
  Value *a = op_operand(product, 0), *c = left ? y : x;
  if (subtract && left) c = build_unary(&b, OP_NEGF, c);
  if (subtract && !left) a = build_unary(&b, OP_NEGF, a);
  Value *r = build_ternary(&b, OP_FMA, a, op_operand(product, 1), c);
  op_replace(op, &r);
  if (!op_result(product, 0)->uses) op_erase(product);
}

void pass_fuse_multiply_add(PassCtx *p) {
  module_walk(p->module, fuse, NULL);
}
