// What TMA can move, and how its operations are built: see tma.h.
#include "passes/tma.h"

// The shared layout in which TMA moves a tile of this descriptor type: rows of the widest swizzle that the last axis
// fills, in chunks. As a wgmma operand it is K-major if the last axis is K, otherwise MN-major. It is the same for
// every access, because the tensor map carries one swizzle.
static const Layout *tile_layout(Context *ctx, const Type *desc) {
  if (desc->layout) return desc->layout;
  uint32_t order[MAX_RANK], swizzle = type_desc_swizzle_bytes(desc);
  for (uint32_t i = 0; i < desc->rank; i++) order[i] = desc->rank - 1u - i;
  const uint32_t width = type_desc_box(desc, desc->rank - 1u);
  if (!swizzle) return layout_make_shared_chunked(ctx, desc->rank, desc->shape, width, order);
  return layout_make_shared_swizzled(ctx, desc->rank, desc->shape, type_elem_bytes(desc) * 8, swizzle, order);
}

const Type *tma_tile_buffer(Context *ctx, const Type *desc) {
  return type_buffer(ctx, desc->elem, desc->rank, desc->shape, tile_layout(ctx, desc), 0);
}

const Type *tma_load_buffer(Context *ctx, const Op *load) {
  const Type *t = load->results[0].type;
  return tma_tile_buffer(ctx, type_desc(ctx, t->elem, (int)t->rank, t->shape, NULL));
}

bool tma_usable(const Module *m, const Value *desc) {
  if (!m->target->has_tma) return false;
  if (desc->block) return !desc->block->parent && desc->block->func->params[desc->index].kind != PARAM_DESC_FIELDS;
  if (desc->def->opcode == OP_MAKE_TENSOR_MAP) return true;
  if (desc->def->opcode != OP_MAKE_DESC || !m->target->arch_specific) return false;
  const Type *t = desc->type;
  uint32_t bytes = type_elem_bytes(t);
  if (type_desc_box(t, t->rank - 1u) * bytes < TMA_ALIGNMENT) return false;
  if (!tma_can_pad(t, (Padding)op_int(desc->def, ATTR_PADDING, PAD_ZERO))) return false;
  for (uint32_t i = 0; i < t->rank; i++) {
    int64_t stride;
    bool known = value_constant_int(tma_stride(desc->def, i), &stride);
    if (i + 1u == t->rank ? !known || stride != 1 : known && stride * bytes % TMA_ALIGNMENT != 0) return false;
  }
  return true;
}

bool tma_can_pad(const Type *tile, Padding padding) {
  return padding != PAD_NAN || type_elem_bytes(type_elem(tile)) > 1;
}

bool tma_can_reduce(AtomicKind kind, const Type *elem) {
  ScalarKind k = elem->kind == TYPE_SCALAR ? elem->scalar : SC_I64;
  bool half = k == SC_F16 || k == SC_BF16, word = k == SC_I32 || k == SC_I64;
  switch (kind) {
    case ATOMIC_FADD: return half || k == SC_F32;
    case ATOMIC_ADD: case ATOMIC_UMAX: case ATOMIC_UMIN: case ATOMIC_AND: case ATOMIC_OR: case ATOMIC_XOR: return word;
    case ATOMIC_MAX: case ATOMIC_MIN: return half || word;
    default: return false;
  }
}

void tma_guard_empty(Op *access, Op *make) {
  enum { OUTSIDE = 1 << 30 };     // not negative: stores must not begin there
  Builder b = builder_before(make->parent->func->module->ctx, make);
  Value *empty = NULL;
  for (uint32_t i = 0; i < op_result(make, 0)->type->rank; i++) {
    Value *extent = tma_extent(make, i), *none;
    int64_t known;
    if (value_constant_int(extent, &known) && known > 0) continue;
    none = build_cmp(&b, CMP_SLE, extent, build_int(&b, extent->type, 0));
    empty = empty ? build_binary(&b, OP_ORI, empty, none) : none;
  }
  if (!empty) return;
  // It suffices to move one coordinate. A coordinate that is not computed for this access alone, for example the
  // loop's, is best.
  b = builder_before(b.ctx, access);
  uint32_t chosen = access->num_operands - 1;
  for (uint32_t i = access->num_operands - op_result(make, 0)->type->rank; i < access->num_operands; i++)
    if (!op_operand(access, i)->def || op_operand(access, i)->def->parent != access->parent) chosen = i;
  Value *at = op_operand(access, chosen);
  op_set_operand(access, chosen, build_ternary(&b, OP_SELECT, empty, build_int(&b, at->type, OUTSIDE), at));
}


Value *tma_build_index(Builder *b, Value *buffers, Value *i) {
  const Type *t = buffers->type;
  if (t->count == 0) return buffers;
  const Type *tile = type_buffer(b->ctx, t->elem, t->rank, t->shape, t->layout, 0);
  return build_value(b, OP_BUFFER_INDEX, tile, (Value *[]){buffers, i}, 2);
}

Value *tma_build_barriers(Builder *b, uint32_t count) {
  const int64_t one = 1;
  const uint32_t order = 0;
  const Type *t = type_buffer(b->ctx, type_scalar(b->ctx, SC_I64), 1, &one,
                              layout_make_shared_plain(b->ctx, 1, &one, &order), count);
  Value *bars = build_alloc(b, t, NULL);
  for (uint32_t i = 0; i < (count ? count : 1); i++) {
    Value *bar = tma_build_index(b, bars, build_i32(b, i));
    op_set_int(b->ctx, build_op(b, OP_MBAR_INIT, &bar, 1), ATTR_COUNT, 1);
  }
  return bars;
}

void tma_build_invalidate(Builder *b, Value *bars) {
  for (uint32_t i = 0; i < type_tiles(bars->type); i++) {
    Value *bar = tma_build_index(b, bars, build_i32(b, i));
    build_op(b, OP_MBAR_INVAL, &bar, 1);
  }
}

void tma_build_expect(Builder *b, Value *bar, Value *pred, int64_t bytes, int64_t issuer) {
  Op *op = build_op(b, OP_MBAR_EXPECT, (Value *[]){bar, pred}, 2);
  op_set_int(b->ctx, op, ATTR_BYTES, bytes);
  if (issuer) op_set_int(b->ctx, op, ATTR_ISSUER, issuer);
}

void tma_build_load(Builder *b, Value *desc, Value *buf, Value *bar, Value *pred, Value *const *coords,
                    int64_t issuer) {
  Value *args[4 + MAX_RANK] = {desc, buf, bar, pred};
  for (uint32_t i = 0; i < desc->type->rank; i++) args[4 + i] = coords[i];
  Op *op = build_op(b, OP_TMA_LOAD, args, 4u + desc->type->rank);
  if (issuer) op_set_int(b->ctx, op, ATTR_ISSUER, issuer);
}

void tma_build_wait(Builder *b, Value *bar, Value *phase) {
  build_op(b, OP_MBAR_WAIT, (Value *[]){bar, phase, NULL}, 3);
}

Value *tma_build_read(Builder *b, Value *buf, const Type *tensor) {
  const Type *t = tensor;
  if (tensor->rank != buf->type->rank)
    t = type_tensor(b->ctx, tensor->elem, buf->type->rank, buf->type->shape,
                    layout_reshape(b->ctx, tensor->layout, buf->type->rank, buf->type->shape));
  Value *v = build_local_load(b, buf, t);
  return t == tensor ? v : build_value(b, OP_RESHAPE, tensor, &v, 1);
}
