// sum_products: a sum of products takes the factors, and its additions in registers round once with the multiplications
// (ir/reduce_order.h). Where the products are of all pairs of two tiles' elements, and more than a thread's registers
// should hold, the sum is a dot on multiply-adds. The author's layouts would not fit that: a tensor that has one stays.
// In, out: TILE or LAID_OUT.
#include "passes/pass.h"

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
static bool outer_product(Op *sum, Value *x, Value *y) {
  const Type *t = x->type;
  const uint32_t axis = (uint32_t)op_int(sum, ATTR_AXIS, 0);
  uint32_t of_x, of_y;
  if (t->rank != 3 || t->layout) return false;
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
static void sum_products(Op *op, void *user) {
  (void)user;
  if (op->opcode != OP_REDUCE || op->num_operands != 1 || !is_sum(op->blocks[0])) return;
  Value *v = op_operand(op, 0);
  if (!value_op(v, OP_MULF) || !value_has_one_use(v) || v->def->parent != op->parent ||
      !type_is_scalar(type_elem(v->type), SC_F32))
    return;
  Op *product = v->def;
  if (!outer_product(op, op_operand(product, 0), op_operand(product, 1))) {
    Context *ctx = op->parent->func->module->ctx;
    op_set_operand(op, 0, op_operand(product, 0));
    op_append_operand(ctx, op, op_operand(product, 1));
    op_set_int(ctx, op, ATTR_PRODUCT, 1);
  }
  op_erase(product);
}

void pass_sum_products(PassCtx *p) { module_walk(p->module, sum_products, NULL); }
