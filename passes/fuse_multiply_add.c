// a·b + c with one rounding: an add whose operand is a product that nothing else uses becomes fma; so do the differences, with
// a sign turned (which is exact). The tile IR says what is fused, so that interpreter, simulator and GPU round alike.
// In, out: TILE.
#include "passes/pass.h"

static bool is_product(const Value *v) { return v->def && v->def->opcode == OP_MULF && value_has_one_use(v); }

static void fuse(Op *op, void *user) {
  bool *changed = user;
  if (op->opcode != OP_ADDF && op->opcode != OP_SUBF) return;
  Value *x = op_operand(op, 0), *y = op_operand(op, 1);
  bool left = is_product(x), subtract = op->opcode == OP_SUBF;
  if ((!left && !is_product(y)) || type_elem_bits(op->results[0].type) < 16) return;
  Op *product = left ? x->def : y->def;
  if (product->parent != op->parent) return;     // a loop-invariant product is cheaper where it is
  Builder b = builder_before(op->parent->func->module->ctx, op);
  Value *a = op_operand(product, 0), *c = left ? y : x;
  if (subtract && left) c = build_unary(&b, OP_NEGF, c);
  if (subtract && !left) a = build_unary(&b, OP_NEGF, a);
  Value *r = build_ternary(&b, OP_FMA, a, op_operand(product, 1), c);
  value_replace_all_uses(&op->results[0], r);
  op_erase(op);
  op_erase(product);
  *changed = true;
}

bool pass_fuse_multiply_add(PassCtx *p) {
  bool changed = false;
  module_walk(p->module, fuse, &changed);
  return changed;
}
