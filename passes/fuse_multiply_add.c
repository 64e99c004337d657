// fuse_multiply_add: a·b + c with one rounding. An add of a product becomes fma. A difference does, too, with a sign
// turned (which is exact). If something else uses the product, it stays. Of 16 bits the sum fuses all the same, as in
// Triton: there one rounding more is much of a result's error. Of 32 bits and more it does not: programs compute the
// error of a product, and of a sum with it, from what they were rounded to. The tile IR says what is fused; therefore
// interpreter, simulator and GPU round alike. A sum of products takes the factors: its additions in registers fuse
// (ir/reduce_order.h). Where these products are of all pairs of two tiles' elements, and more than a thread's registers
// should hold, the sum is a dot on multiply-adds. A sum with a dot whose accumulator is zero becomes that accumulator.
// (Of integers canonicalize does so, because nothing rounds.)
// In, out: TILE.
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

static bool is_sum(const Block *b) {
  const Op *add = b->first, *end = block_terminator(b);
  if (b->num_args != 2 || add->opcode != OP_ADDF || add->next != end || op_operand(end, 0) != &add->results[0])
    return false;
  Value *x = op_operand(add, 0), *y = op_operand(add, 1);
  return (x == b->args[0] && y == b->args[1]) || (x == b->args[1] && y == b->args[0]);
}

// A tile that is repeated along an axis of a tensor of rank 3, or NULL; *along: the axis.
static Value *repeated_tile(Value *v, uint32_t *along) {
  const Type *t = v->type;
  if (!value_op(v, OP_BROADCAST) || !value_op(op_operand(v->def, 0), OP_EXPAND_DIMS)) return NULL;
  const Op *expand = op_operand(v->def, 0)->def;
  const Type *expanded = expand->results[0].type;
  *along = (uint32_t)op_int(expand, ATTR_AXIS, 0);
  for (uint32_t i = 0; i < t->rank; i++)
    if (i != *along && expanded->shape[i] != t->shape[i]) return NULL;
  return op_operand(expand, 0);
}

// Whether a product of all pairs is large: as a tensor of rank 3 it would take many registers, also of each factor.
static bool is_large(const Module *m, const Type *t, uint32_t axis) {
  enum { LEAST = 16, RESULTS = 4, PRODUCTS = 128 };      // elements of an axis; of each thread
  const int64_t threads = m->num_warps * WARP_SIZE, all = t->shape[0] * t->shape[1] * t->shape[2];
  for (uint32_t i = 0; i < 3; i++)
    if (t->shape[i] < LEAST) return false;
  return all >= PRODUCTS * threads && all / t->shape[axis] >= RESULTS * threads;
}

static Value *transposed_if(Builder *b, Value *x, bool turn) {
  if (!turn) return x;
  const int64_t shape[] = {x->type->shape[1], x->type->shape[0]};
  const Type *t = type_tensor(b->ctx, type_elem(x->type), 2, shape, NULL);
  Op *r = build_op_typed(b, OP_TRANS, &t, 1, &x, 1);
  op_set_ints(b->ctx, r, ATTR_ORDER, (const int64_t[]){1, 0}, 2);
  return op_result(r, 0);
}

//   sum over k of a(m, k) · b(k, n) → dot(a, b, 0)
static bool fuse_outer_product(Op *sum, Value *x, Value *y) {
  const Type *t = x->type;
  const uint32_t axis = (uint32_t)op_int(sum, ATTR_AXIS, 0);
  uint32_t of_x, of_y;
  if (t->rank != 3) return false;
  Value *a = repeated_tile(x, &of_x), *b = repeated_tile(y, &of_y);
  if (!a || !b || of_x == of_y || of_x == axis || of_y == axis || !is_large(sum->parent->func->module, t, axis))
    return false;
  const uint32_t row = of_x < of_y ? of_x : of_y, column = of_x < of_y ? of_y : of_x;    // of the result
  Builder at = builder_before(sum->parent->func->module->ctx, sum);
  Value *rows = transposed_if(&at, of_x == column ? a : b, axis < row),
        *columns = transposed_if(&at, of_x == column ? b : a, axis > column);
  const Type *result = sum->results[0].type;
  Value *args[] = {rows, columns, build_constant_bits(&at, result, 0)};
  Op *dot = build_op_typed(&at, OP_DOT, &result, 1, args, 3);
  op_set_int(at.ctx, dot, ATTR_PRECISION, PREC_IEEE);
  Value *r = op_result(dot, 0);
  op_replace(sum, &r);
  return true;
}

//   sum(x · y) → sum of products of x and y
static bool fuse_products(Op *op) {
  if (op->opcode != OP_REDUCE || op->num_operands != 1 || !is_sum(op->blocks[0])) return false;
  Value *v = op_operand(op, 0);
  if (!is_only_product(v) || v->def->parent != op->parent || type_elem(v->type)->kind != TYPE_SCALAR ||
      type_elem(v->type)->scalar != SC_F32)
    return false;
  Op *product = v->def;
  if (fuse_outer_product(op, op_operand(product, 0), op_operand(product, 1))) {
    op_erase(product);
    return true;
  }
  op_set_operand(op, 0, op_operand(product, 0));
  op_append_operand(op->parent->func->module->ctx, op, op_operand(product, 1));
  op_set_int(op->parent->func->module->ctx, op, ATTR_PRODUCT, 1);
  op_erase(product);
  return true;
}

static void fuse(Op *op, void *user) {
  (void)user;
  if (fuse_dot(op) || fuse_products(op)) return;
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
