// lower_descriptors: descriptor accesses become masked pointers where TMA does not do them: below sm_90, rows by index,
// reductions that TMA does not have, and descriptors that the kernel makes with blocks or strides that TMA does not
// take. (hoist_descriptors has already made parameters of those that the launcher can make; lower_tma writes the tensor
// maps of the others.)
//
//   %x = desc_load %d, i, j     →   rows = i + range ; cols = j + range
//   (%d = make_desc base,           mask = 0 ≤ rows < M and 0 ≤ cols < N
//    M, N, sm, sn)                  %x = load base + rows·sm + cols·sn, mask, padding
// A descriptor parameter then becomes base, extents and strides (desc_fields) for all its accesses.
// In, out: TILE.
#include "ir/num.h"
#include "passes/pass.h"
#include "passes/tma.h"

typedef struct { Context *ctx; Module *module; VEC(const Op *) told; } Lower;
typedef struct { Value *base, *extents[MAX_RANK], *strides[MAX_RANK]; Padding padding; } Fields;
typedef struct { Value *pointers, *mask; } Tile;

// The launcher has checked that addresses are multiples of 16 bytes.
static Value *aligned(Builder *b, Value *v, int64_t divisibility) {
  Op *hint = build_op(b, OP_HINT, &v, 1);
  op_set_ints(b->ctx, hint, ATTR_DIVISIBILITY, &divisibility, 1);
  return op_result(hint, 0);
}

static Fields fields_of(Builder *b, Value *d) {
  Fields f = {.padding = PAD_ZERO};
  const Type *t = d->type;
  if (d->def) {
    f.base = op_operand(d->def, 0);
    f.padding = (Padding)op_int(d->def, ATTR_PADDING, PAD_ZERO);
    for (uint32_t i = 0; i < t->rank; i++)
      f.extents[i] = tma_extent(d->def, i), f.strides[i] = tma_stride(d->def, i);
    return f;
  }
  FuncParam *p = &b->func->params[d->index];
  p->kind = PARAM_DESC_FIELDS;
  f.padding = p->padding;
  const Type *types[1 + 2 * MAX_RANK] = {type_ptr(b->ctx, t->elem, false)};
  for (uint32_t i = 0; i < t->rank; i++)
    types[1 + i] = type_scalar(b->ctx, SC_I32), types[1 + t->rank + i] = type_scalar(b->ctx, SC_I64);
  Op *op = build_op_typed(b, OP_DESC_FIELDS, types, 1 + 2u * t->rank, &d, 1);
  f.base = aligned(b, op_result(op, 0), TMA_ALIGNMENT);
  for (uint32_t i = 0; i < t->rank; i++) {
    f.extents[i] = op_result(op, 1 + i);
    f.strides[i] = i + 1 < t->rank ? aligned(b, op_result(op, 1 + t->rank + i), TMA_ALIGNMENT / type_elem_bytes(t))
                                   : build_int(b, types[1 + t->rank + i], 1);
  }
  return f;
}

// A vector of numbers along `axis` as a tensor of the tile's shape.
static Value *along(Builder *b, Value *v, uint32_t axis, const Type *tile) {
  for (uint32_t i = 0; i < tile->rank; i++)
    if (i != axis) v = build_expand_dims(b, v, i);
  return build_broadcast(b, v, tile);
}

// The pointers and bounds of the tile whose index along axis i is index[i], a vector of i32.
static Tile address_tile(Builder *b, const Fields *f, const Type *tile, Value *const *index) {
  uint32_t rank = tile->rank;
  const Type *i64 = type_scalar(b->ctx, SC_I64), *i64s = type_with_elem(b->ctx, tile, i64);
  Tile t = {0};
  Value *offset = NULL;
  for (uint32_t i = 0; i < rank; i++) {
    Value *extent = build_splat(b, f->extents[i], index[i]->type);
    Value *stride = build_splat(b, f->strides[i], type_with_elem(b->ctx, index[i]->type, i64));
    Value *low = build_cmp(b, CMP_SGE, index[i], build_int(b, index[i]->type, 0));
    Value *inside = along(b, build_binary(b, OP_ANDI, low, build_cmp(b, CMP_SLT, index[i], extent)), i,
                          type_with_elem(b->ctx, tile, type_scalar(b->ctx, SC_I1)));
    Value *part = along(b, build_binary(b, OP_MULI, build_cast(b, OP_EXTSI, index[i], i64), stride), i, i64s);
    offset = offset ? build_binary(b, OP_ADDI, offset, part) : part;
    t.mask = t.mask ? build_binary(b, OP_ANDI, t.mask, inside) : inside;
  }
  Value *base = build_splat(b, f->base, type_with_elem(b->ctx, tile, f->base->type));
  t.pointers = build_binary(b, OP_ADDPTR, base, offset);
  return t;
}

static Value *counting(Builder *b, Value *start, int64_t n) {
  Value *range = build_range(b, 0, n, NULL);
  return build_binary(b, OP_ADDI, range, build_splat(b, start, range->type));
}

static Value *padding(Builder *b, const Fields *f, const Type *tile) {
  bool nan = f->padding == PAD_NAN && type_is_float(tile);
  return nan ? build_float(b, tile, __builtin_nan("")) : NULL;
}

// Reports what cuTensorMapEncodeTiled would refuse at the launch.
static void check_box(Context *ctx, const Op *op, const Type *desc) {
  uint32_t bytes = type_elem_bytes(desc), width = type_desc_box(desc, desc->rank - 1u);
  if (width * bytes >= TMA_ALIGNMENT) return;
  diag_error(ctx, op->span, "a block of %u bytes on the last axis: TMA moves at least %d", width * bytes,
             TMA_ALIGNMENT);
  diag_note(ctx, (Span){0, 0}, "make the last axis of the block at least %u elements long, or use plain pointers",
            TMA_ALIGNMENT / bytes);
}

// A descriptor that the kernel makes may break a rule of tensor maps: it then works without TMA. The program is told
// once.
static void tell_pointers(Lower *l, const Op *make) {
  if (!l->module->target->has_tma) return;
  VEC_EACH(x, l->told)
    if (*x == make) return;
  vec_push(&l->ctx->arena, &l->told, make);
  const Type *t = make->results[0].type;
  uint32_t bytes = type_elem_bytes(t);
  static const char by_pointers[] = "its tiles are moved by plain pointers";
  if (!tma_can_pad(t, (Padding)op_int(make, ATTR_PADDING, PAD_ZERO))) {
    if (diag_warning(l->ctx, WARN_POINTER_DESCRIPTOR, make->span,
                     "an fp8 descriptor that pads with NaN, which TMA does for wider types only: %s", by_pointers))
      diag_note(l->ctx, (Span){0, 0}, "leave the padding at zero, and TMA moves them");
    return;
  }
  for (uint32_t i = 0; i + 1u < t->rank; i++) {
    int64_t stride;
    if (!value_constant_int(tma_stride(make, i), &stride) || stride * bytes % TMA_ALIGNMENT == 0)
      continue;
    if (diag_warning(l->ctx, WARN_POINTER_DESCRIPTOR, make->span,
                     "a descriptor whose stride on axis %u, %lld elements of %u bytes, is no multiple of %d bytes: %s",
                     i, (long long)stride, bytes, TMA_ALIGNMENT, by_pointers))
      diag_note(l->ctx, (Span){0, 0}, "pad its rows, and TMA moves them");
    return;
  }
}

// TMA has rows by index from sm_100 on only.
static bool tma_has(const Op *op) {
  if (op->opcode == OP_DESC_REDUCE)
    return tma_can_reduce((AtomicKind)op_int(op, ATTR_ATOMIC, ATOMIC_ADD), type_elem(op_operand(op, 0)->type));
  return op->opcode != OP_DESC_GATHER && op->opcode != OP_DESC_SCATTER;
}

// A tensor map does not tell its address. Therefore a parameter with an access or a padding that TMA does not have
// comes as base, extents and strides.
static void choose_params(Func *f) {
  for (uint32_t i = 0; i < f->num_params; i++) {
    if (f->params[i].kind != PARAM_DESC) continue;
    if (!tma_can_pad(f->body->args[i]->type, f->params[i].padding)) f->params[i].kind = PARAM_DESC_FIELDS;
    EACH_USE(u, f->body->args[i])
      if (op_unit(u->user) == UNIT_DESC && !tma_has(u->user)) f->params[i].kind = PARAM_DESC_FIELDS;
  }
}

// Only TMA has minimum and maximum of 16-bit elements; atomics on pointers have 32 and 64 bits.
static bool needs_tma(const Op *op) {
  if (op->opcode != OP_DESC_REDUCE) return false;
  AtomicKind kind = (AtomicKind)op_int(op, ATTR_ATOMIC, ATOMIC_ADD);
  return (kind == ATOMIC_MIN || kind == ATOMIC_MAX) && type_elem_bits(op_named(op, OPERAND_VALUE)->type) < 32;
}

// A tile that is read only to give it another shape of the same rows is read in that shape: TMA writes one like the
// other. dce removes the reshape.
static void read_reshaped(Op *load) {
  if (load->opcode != OP_DESC_LOAD || !value_has_one_use(op_result(load, 0))) return;
  Value *tile = op_result(load, 0);
  Op *reshape = tile->uses->user;
  if (reshape->opcode != OP_RESHAPE) return;
  const Type *from = tile->type, *to = reshape->results[0].type;
  if (to->rank < 2 || to->rank > from->rank || to->shape[to->rank - 1] != from->shape[from->rank - 1]) return;
  value_replace_all_uses(op_result(reshape, 0), tile);
  tile->type = to;
}

static void lower(Op *op, void *user) {
  Lower *l = user;
  if (op_unit(op) != UNIT_DESC) return;
  Value *d = op_operand(op, 0);
  bool by_rows = op->opcode == OP_DESC_GATHER || op->opcode == OP_DESC_SCATTER;
  if (tma_usable(l->module, d) && tma_has(op)) {
    check_box(l->ctx, op, d->type);
    if (value_op(d, OP_MAKE_DESC)) tma_guard_empty(op, d->def);
    read_reshaped(op);
    return;
  }
  if (d->def ? d->def->opcode != OP_MAKE_DESC : d->block->parent != NULL) {
    diag_error(l->ctx, op->span, "the descriptor of this access is one of several, chosen at run time");
    diag_note(l->ctx, (Span){0, 0}, "make the access in each branch, through the descriptor that is chosen there");
    return;
  }
  if (needs_tma(op)) {
    diag_error(l->ctx, op->span, "atomic_min and atomic_max of 16-bit elements need TMA, which %s",
               l->module->target->has_tma ? "does not take this descriptor" : "this target does not have");
    diag_note(l->ctx, (Span){0, 0},
              "compile for sm_90a with a descriptor that is an argument or made of arguments, or keep the array in "
              "fp32 and use tl.atomic_min, tl.atomic_max");
    return;
  }
  if (d->def) tell_pointers(l, d->def);
  Builder b = builder_before(l->ctx, op);
  Value *value = op_named(op, OPERAND_VALUE);
  const Type *tile = value ? value->type : op->results[0].type;
  uint32_t first = value ? 2 : 1;
  Value *index[MAX_RANK];
  if (by_rows) {
    index[0] = op_operand(op, first);
    index[1] = counting(&b, op_operand(op, first + 1), tile->shape[1]);
  } else {
    for (uint32_t i = 0; i < tile->rank; i++) index[i] = counting(&b, op_operand(op, first + i), tile->shape[i]);
  }
  Fields f = fields_of(&b, d);
  Tile t = address_tile(&b, &f, tile, index);
  if (!value)
    value_replace_all_uses(&op->results[0], build_load(&b, t.pointers, NULL, t.mask, padding(&b, &f, tile)));
  else if (op->opcode == OP_DESC_REDUCE) {
    AtomicKind kind = (AtomicKind)op_int(op, ATTR_ATOMIC, ATOMIC_ADD);
    bool is_max = kind == ATOMIC_MAX;
    if ((is_max || kind == ATOMIC_MIN) && type_is_float(tile))
      build_atomic_float_minmax(&b, is_max, t.pointers, value, t.mask, SEM_RELAXED, SCOPE_GPU);
    else build_atomic(&b, kind, t.pointers, value, t.mask, SEM_RELAXED, SCOPE_GPU);
  } else build_store(&b, t.pointers, NULL, value, t.mask);
  op_erase(op);
}

void pass_lower_descriptors(PassCtx *p) {
  Lower l = {.ctx = p->ctx, .module = p->module};
  EACH_FUNC(f, p->module) choose_params(f);
  module_walk(p->module, lower, &l);
}
