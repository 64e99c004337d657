// Tensor descriptors (TMA): making them on the device, and accesses through them.
#include "frontend/lower/gluon.h"
#include "frontend/lower/term.h"
#include "frontend/lower/warnings.h"

static const char *const paddings[] = {[PAD_ZERO] = "zero", [PAD_NAN] = "nan"};

static Value *make_desc(Lower *L, const Term *t) {
  const CtType *block = t->desc.block;
  uint32_t rank = block->rank;
  Value *operands[1 + 2 * MAX_DESC_RANK] = {t->desc.base};
  for (uint32_t i = 0; i < rank; i++) {
    operands[1 + i] = term_v(t->desc.shape->tuple.items[i]);
    operands[1 + rank + i] = term_v(t->desc.strides->tuple.items[i]);
  }
  operands[2 * rank] = build_int(&L->b, operands[2 * rank]->type, 1);   // the last stride, whatever was joined
  const Type *type = lower_ir_desc_type(L, block);
  Op *op = build_op_typed(&L->b, OP_MAKE_DESC, &type, 1, operands, 1 + 2 * rank);
  if (t->desc.padding) op_set_int(L->ctx, op, ATTR_PADDING, t->desc.padding);
  return op_result(op, 0);
}

static Term *scalar_tuple(Lower *L, Value *const *values, uint32_t n, const CtType *type) {
  Term *items[MAX_DESC_RANK];
  for (uint32_t i = 0; i < n; i++) items[i] = term_value(L, values[i], type);
  return term_tuple(L, items, n, NULL);
}

Term *tl_make_desc(Lower *L, Call *c) { return lower_make_desc(L, c, NULL); }

Term *lower_make_desc(Lower *L, Call *c, CtValue *layout) {
  Term *base = arg_value(L, c, 0);
  int64_t block[MAX_DESC_RANK], last;
  uint32_t rank;
  int padding;
  if (!base) return NULL;
  if (!ct_is_ptr(term_t(base)) || ct_rank(term_t(base)) || term_t(base)->elem->kind != CT_TYPE_SCALAR) {
    arg_error(L, c, 0, "the base of a descriptor must be a scalar pointer, not %s", term_describe(L, base));
    return ct_is_ptr(term_t(base)) ? lower_hint(L, "give the pointer to the first element of the whole tensor: where a "
                                                   "tile begins, its load or store says")
                                   : NULL;
  }
  const CtType *elem = term_t(base)->elem;
  if (!arg_ints(L, c, 3, block, MAX_DESC_RANK, &rank) || !lower_check_shape(L, block, rank, c->spans[3]) ||
      !arg_choice(L, c, 4, paddings, countof(paddings), &padding))
    return NULL;
  if (rank == 0) return arg_error(L, c, 3, "a descriptor has a rank of 1 to %d", MAX_DESC_RANK);
  if (block[rank - 1] * ct_bits(elem) < 128) {
    arg_error(L, c, 3, "the last axis of a descriptor's block must have at least 16 bytes, [%lld] of %s has %lld",
        (long long)block[rank - 1], ct_type_text(L->ctx, elem), (long long)(block[rank - 1] * ct_bits(elem) / 8));
    return lower_hint(L, "make it at least %u elements long: what lies outside the tensor is padding",
                      128 / ct_bits(elem));
  }
  if (padding == PAD_NAN && !ct_is_float(elem))
    return arg_error(L, c, 4, "padding \"nan\" needs a float type, not %s", ct_type_text(L->ctx, elem));
  Term *st = c->args[2];
  if (st->kind != TERM_TUPLE || st->tuple.count != rank)
    return arg_error(L, c, 2, "`strides` must have %u entr%s, as `block_shape` has, this is %s", rank,
                     rank == 1 ? "y" : "ies", term_describe(L, st));
  if (!term_get_int(st->tuple.items[rank - 1], &last) || last != 1) {
    arg_error(L, c, 2, "the last stride of a descriptor must be the constant 1, not %s",
                term_describe(L, st->tuple.items[rank - 1]));
    int64_t stride;
    for (uint32_t i = 0; i + 1 < rank; i++)
      if (term_get_int(st->tuple.items[i], &stride) && stride == 1)
        return lower_hint(L, "axis %u is the contiguous one: put it last in shape, strides, block_shape and offsets, "
                          "then permute what is loaded, as in desc.load(…).T", i);
    return lower_hint(L, "write 1 for it");
  }
  Value *shape[MAX_DESC_RANK], *strides[MAX_DESC_RANK];
  const CtType *i32 = lower_scalar(L, DT_INT32), *i64 = lower_scalar(L, DT_INT64);
  if (!arg_scalars(L, c, 1, i32, rank, shape) || !arg_scalars(L, c, 2, i64, rank, strides)) return NULL;
  lower_warn_row_stride(L, c, rank, shape, strides);
  Term *t = arena_new(L->arena, Term);
  t->kind = TERM_DESC;
  t->desc.base = term_v(base);
  t->desc.block = lower_shaped(L, elem, block, rank);
  if (layout && !(t->desc.block = lower_desc_block(L, t->desc.block, layout, c->span))) return NULL;
  t->desc.shape = scalar_tuple(L, shape, rank, i32);
  t->desc.strides = scalar_tuple(L, strides, rank, i64);
  t->desc.padding = padding;
  t->desc.v = make_desc(L, t);
  return t;
}

Value *lower_desc_value(Lower *L, const Term *d) { return d->desc.v ? d->desc.v : make_desc(L, d); }

static Term *desc_arg(Lower *L, Call *c) {
  if (c->args[0]->kind == TERM_DESC) return c->args[0];
  return arg_error(L, c, 0, "a tensor descriptor is needed here, this is %s", term_describe(L, c->args[0]));
}

static bool coords(Lower *L, Call *c, uint32_t i, Term *desc, Value **out) {
  return arg_scalars(L, c, i, lower_scalar(L, DT_INT32), desc->desc.block->rank, out);
}

Term *tl_desc_load(Lower *L, Call *c) {
  Term *d = desc_arg(L, c);
  Value *v[1 + MAX_DESC_RANK];
  if (!d || !coords(L, c, 1, d, v + 1)) return NULL;
  v[0] = lower_desc_value(L, d);
  Op *op = lower_new_op(L, OP_DESC_LOAD, d->desc.block, v, 1 + d->desc.block->rank);
  return term_of_op(L, op, d->desc.block);
}

// The value of a store, cast to the block's type. It has the block's shape, but leading axes of size 1 may be missing.
static Term *block_value(Lower *L, Call *c, uint32_t i, Term *d) {
  Term *x = arg_value(L, c, i);
  if (!x) return NULL;
  const CtType *block = d->desc.block;
  if (ct_numel(term_t(x)) != ct_numel(block) || ct_rank(term_t(x)) > block->rank)
    return arg_error(L, c, i, "cannot store %s through a descriptor of %s", term_describe(L, x),
                       lower_shape_text(L, block));
  uint32_t skip = block->rank - ct_rank(term_t(x));
  for (uint32_t k = 0; k < block->rank; k++) {
    int64_t have = k < skip ? 1 : term_t(x)->shape[k - skip];
    if (have != block->shape[k])
      return arg_error(L, c, i, "cannot store %s through a descriptor of %s", term_describe(L, x),
                         lower_shape_text(L, block));
  }
  x = lower_cast(L, x, block->elem, c->spans[i]);
  return x ? lower_reshape(L, x, block->shape, block->rank, false) : NULL;
}

// Reports that the value and the offsets, in this order the arguments value and offsets of the call, are exchanged.
static bool refuse_exchanged(Lower *L, Call *c, uint32_t offsets, uint32_t value) {
  const Term *x = c->args[offsets], *at = c->args[value];
  if (!term_is_tensor(x) || at->kind != TERM_TUPLE) return false;
  const char *given = lower_source_text_or(L, c->spans[offsets], "value"),
             *list = lower_source_text_or(L, c->spans[value], "[…]");
  arg_error(L, c, offsets, "`%s` takes the offsets first, and this is %s", c->row->name, term_describe(L, x));
  lower_hint(L, "exchange the two: (%s, %s)", list, given);
  return true;
}

static Op *emit_write(Lower *L, Call *c, Opcode oc) {
  Term *d = desc_arg(L, c);
  Value *v[2 + MAX_DESC_RANK];
  if (!d || refuse_exchanged(L, c, 1, 2) || !coords(L, c, 1, d, v + 2)) return NULL;
  Term *x = block_value(L, c, 2, d);
  if (!x) return NULL;
  v[0] = lower_desc_value(L, d);
  v[1] = term_v(x);
  return build_op(&L->b, oc, v, 2 + d->desc.block->rank);
}

Term *tl_desc_store(Lower *L, Call *c) { return emit_write(L, c, OP_DESC_STORE) ? term_none(L) : NULL; }

Term *tl_desc_atomic(Lower *L, Call *c) {
  Term *d = desc_arg(L, c);
  if (!d) return NULL;
  AtomicKind kind = (AtomicKind)c->row->data;
  const CtType *elem = d->desc.block->elem;
  bool logic = atomic_is_bitwise(kind);
  if (ct_bits(elem) < 16 || (logic && (ct_is_float(elem) || ct_bits(elem) < 32)) ||
      (ct_bits(elem) == 16 && !ct_is_float(elem))) {
    builtin_error(L, c, "`%s` does not exist for %s", c->row->name, ct_type_text(L->ctx, elem));
    return lower_hint(L, "it works on integers of 32 and 64 bits%s", logic ? "" : ", and floats of 16 to 64 bits");
  }
  Op *op = emit_write(L, c, OP_DESC_REDUCE);
  if (!op) return NULL;
  op_set_int(L->ctx, op, ATTR_ATOMIC, lower_atomic_kind(kind, elem));
  return term_none(L);
}

// The arguments of gather and scatter, which take rows of a [1, N] block by number.
static bool row_args(Lower *L, Call *c, uint32_t rows_i, uint32_t y_i, Term *d, Term **rows, Term **y) {
  const CtType *block = d->desc.block;
  if (block->rank != 2 || block->shape[0] != 1)
    return arg_error(L, c, 0, "`%s` needs a descriptor with a block of shape [1, N], this has %s",
                       c->row->name, lower_shape_text(L, block)) != NULL;
  *rows = arg_value(L, c, rows_i);
  *y = arg_value(L, c, y_i);
  if (!*rows || !*y) return false;
  if (ct_rank(term_t(*rows)) != 1 || !ct_is_int(term_t(*rows)) || term_t(*rows)->shape[0] < 8)
    return arg_error(L, c, rows_i, "rows must be a 1-D integer tensor of at least 8 elements, not %s",
                       term_describe(L, *rows)) != NULL;
  uint32_t least = 32 / ct_bits(block->elem) * 8;
  if (block->shape[1] < (int64_t)least) {
    arg_error(L, c, 0, "a row must have at least %u elements of %s", least, ct_type_text(L->ctx, block->elem));
    lower_hint(L, "give the descriptor a block of [1, %u]", least);
    return false;
  }
  if (ct_rank(term_t(*y)) || !ct_is_int(term_t(*y)))
    return arg_error(L, c, y_i, "the first column must be a scalar integer, not %s", term_describe(L, *y)) !=
           NULL;
  *rows = lower_cast_to(L, *rows, DT_INT32, c->span);
  *y = lower_cast_to(L, *y, DT_INT32, c->span);
  return *rows && *y;
}

Term *tl_desc_gather(Lower *L, Call *c) {
  Term *d = desc_arg(L, c), *rows, *y;
  if (!d || !row_args(L, c, 1, 2, d, &rows, &y)) return NULL;
  const int64_t shape[2] = {term_t(rows)->shape[0], d->desc.block->shape[1]};
  if (!lower_check_shape(L, shape, 2, c->span)) return NULL;
  const CtType *t = lower_shaped(L, d->desc.block->elem, shape, 2);
  Value *v[3] = {lower_desc_value(L, d), term_v(rows), term_v(y)};
  return term_of_op(L, lower_new_op(L, OP_DESC_GATHER, t, v, 3), t);
}

Term *tl_desc_scatter(Lower *L, Call *c) {
  Term *d = desc_arg(L, c), *rows, *y;
  if (!d || !row_args(L, c, 2, 3, d, &rows, &y)) return NULL;
  Term *x = arg_value(L, c, 1);
  if (!x) return NULL;
  const int64_t shape[2] = {term_t(rows)->shape[0], d->desc.block->shape[1]};
  const CtType *want = lower_shaped(L, d->desc.block->elem, shape, 2);
  x = lower_cast(L, x, d->desc.block->elem, c->spans[1]);
  if (!x) return NULL;
  if (!ct_type_equal(term_t(x), want))
    return arg_error(L, c, 1, "cannot scatter %s, the rows are %s", term_describe(L, x), lower_shape_text(L, want));
  Value *v[4] = {lower_desc_value(L, d), term_v(x), term_v(rows), term_v(y)};
  build_op(&L->b, OP_DESC_SCATTER, v, 4);
  return term_none(L);
}
