// Result types from operands: infer_<rule> for each rule that ops.def names. The builder makes ops with them, and the
// verifier checks ops by them.
#include "ir/build.h"
#include "ir/layout.h"

typedef struct {
  Context *ctx;
  Value *const *operands;
  uint32_t num_operands;
  const Op *attrs;         // NULL: attributes are not known
  const Type **out;
} In;

static const Type *type_at(const In *in, uint32_t i) {
  return i < in->num_operands && in->operands[i] ? in->operands[i]->type : NULL;
}

static int one(const In *in, const Type *t) {
  if (!t) return -1;
  in->out[0] = t;
  return 1;
}

static int infer_explicit(const In *in) { (void)in; return -1; }
static int infer_none(const In *in) { (void)in; return 0; }
static int infer_i32(const In *in) { return one(in, type_scalar(in->ctx, SC_I32)); }
static int infer_token(const In *in) { return one(in, type_token(in->ctx)); }
static int infer_same(const In *in) { return one(in, type_at(in, 0)); }
static int infer_same_first(const In *in) { return one(in, type_at(in, 0)); }
static int infer_first(const In *in) { return type_at(in, 1) ? one(in, type_at(in, 0)) : -1; }
static int infer_second(const In *in) { return one(in, type_at(in, 1)); }
static int infer_third(const In *in) { return one(in, type_at(in, 2)); }
static int infer_value(const In *in) { return one(in, type_at(in, 2)); }

static int infer_i1(const In *in) {
  const Type *t = type_at(in, 0);
  return t ? one(in, type_with_elem(in->ctx, t, type_scalar(in->ctx, SC_I1))) : -1;
}

static int infer_inits(const In *in) {
  if (in->num_operands < 3) return -1;
  for (uint32_t i = 3; i < in->num_operands; i++) in->out[i - 3] = type_at(in, i);
  return (int)in->num_operands - 3;
}

static int infer_same_all(const In *in) {
  for (uint32_t i = 0; i < in->num_operands; i++) in->out[i] = type_at(in, i);
  return (int)in->num_operands;
}

static int infer_expand_dims(const In *in) {
  const Type *t = type_at(in, 0);
  if (!t || !in->attrs || t->kind != TYPE_TENSOR || t->rank == MAX_RANK) return -1;
  int64_t axis = op_int(in->attrs, ATTR_AXIS, -1), shape[MAX_RANK];
  if (axis < 0 || axis > t->rank) return -1;
  for (int i = 0, k = 0; i <= t->rank; i++) shape[i] = i == axis ? 1 : t->shape[k++];
  return one(in, type_tensor(in->ctx, t->elem, t->rank + 1, shape,
                             t->layout ? layout_expand_dims(in->ctx, t->layout, (uint32_t)axis) : NULL));
}

static int infer_trans(const In *in) {
  const Type *t = type_at(in, 0);
  const Attr *order = in->attrs ? op_attr(in->attrs, ATTR_ORDER) : NULL;
  if (!t || !order || order->num_ints != t->rank || t->kind != TYPE_TENSOR) return -1;
  int64_t shape[MAX_RANK];
  uint32_t seen = 0;
  for (uint32_t i = 0; i < t->rank; i++) {
    if (order->ints[i] < 0 || order->ints[i] >= t->rank || seen >> order->ints[i] & 1) return -1;
    seen |= 1u << order->ints[i];
    shape[i] = t->shape[order->ints[i]];
  }
  return one(in, type_tensor(in->ctx, t->elem, t->rank, shape,
                             t->layout ? layout_transpose(in->ctx, t->layout, order->ints) : NULL));
}

static int infer_join(const In *in) {
  const Type *t = type_at(in, 0);
  if (!t || t->rank == MAX_RANK) return -1;
  int64_t shape[MAX_RANK] = {0};
  for (uint32_t i = 0; i < t->rank; i++) shape[i] = t->shape[i];
  shape[t->rank] = 2;
  return one(in, type_tensor(in->ctx, type_elem(t), t->rank + 1, shape,
                             t->layout ? layout_join(in->ctx, t->layout) : NULL));
}

static int infer_split(const In *in) {
  const Type *t = type_at(in, 0);
  if (!t || t->kind != TYPE_TENSOR || t->shape[t->rank - 1] != 2) return -1;
  const Layout *layout = NULL;
  if (t->layout && t->rank > 1) {
    layout = layout_split(in->ctx, t->layout);
    if (!layout) return -1;
  }
  in->out[0] = in->out[1] = type_shaped(in->ctx, t->elem, t->rank - 1, t->shape, layout);
  return 2;
}

static int infer_load(const In *in) {
  const Type *p = type_at(in, 0), *offset = type_at(in, 1), *mask = type_at(in, 2);
  if (!p || !type_is_ptr(p)) return -1;
  const Type *elem = type_elem(p)->elem, *shape = p;
  if (!p->rank && mask && mask->rank) shape = mask;
  if (!p->rank && offset && offset->rank) shape = offset;
  return one(in, type_shaped(in->ctx, elem, shape->rank, shape->shape, shape->layout));
}

static int infer_reduce(const In *in) {
  if (!in->attrs) return -1;
  int64_t axis = op_int(in->attrs, ATTR_AXIS, -1);
  const uint32_t n = op_int(in->attrs, ATTR_PRODUCT, 0) ? 1 : in->num_operands;
  for (uint32_t i = 0; i < n; i++) {
    const Type *t = type_at(in, i);
    if (!t || t->kind != TYPE_TENSOR || axis < 0 || axis >= t->rank) return -1;
    int64_t shape[MAX_RANK];
    for (int k = 0, kept = 0; k < t->rank; k++)
      if (k != axis) shape[kept++] = t->shape[k];
    const Layout *layout = t->layout && t->rank > 1 ? layout_make_slice(in->ctx, t->layout, (uint32_t)axis) : NULL;
    in->out[i] = type_shaped(in->ctx, t->elem, t->rank - 1, shape, layout);
  }
  return (int)n;
}

static int infer_gather(const In *in) {
  const Type *x = type_at(in, 0), *index = type_at(in, 1);
  return x && index ? one(in, type_with_elem(in->ctx, index, type_elem(x))) : -1;
}

typedef int (*InferFn)(const In *in);
static const InferFn infer_fns[NUM_OPS] = {
#define OP(id, name, operands, results, blocks, traits, stages, elems, unit, infer, verify, how)                       \
  [OP_##id] = infer_##infer,
#include "ir/ops.def"
};

int infer_types(Context *ctx, Opcode oc, Value *const *operands, uint32_t n, const Op *attrs_of, const Type **out) {
  In in = {ctx, operands, n, attrs_of, out};
  return infer_fns[oc](&in);
}
