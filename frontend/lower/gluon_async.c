// Gluon's asynchronous copies, mbarriers and TMA.
#include "frontend/lower/gluon.h"
#include "frontend/lower/term.h"
#include "ir/scratch.h"

#include <string.h>

// ---- arguments ----
// A predicate: NULL for the constant True. False after a diagnostic.
static bool pred_arg(Lower *L, Call *c, uint32_t i, Value **out) {
  int64_t known;
  *out = NULL;
  if (term_get_int(c->args[i], &known) && known) return true;
  Term *p = arg_value(L, c, i);
  if (!p) return false;
  if (ct_rank(term_t(p))) return arg_error(L, c, i, "a predicate is a scalar, not %s", term_describe(L, p)) != NULL;
  p = lower_not_zero(L, p, c->spans[i]);
  if (p) *out = term_v(p);
  return p != NULL;
}

static Term *barrier_arg(Lower *L, Call *c, uint32_t i) {
  Term *b = lower_buffer_arg(L, c, i);
  if (!b) return NULL;
  const CtType *t = lower_block_part(L, b->buffer.type);
  if (ct_is_kind(t, DT_INT64) && ct_numel(t) == 1 && t->rank == 1) return b;
  arg_error(L, c, i, "an mbarrier is a buffer of int64[1], this is %s", term_describe(L, b));
  return lower_hint(L, "gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())");
}

// ---- cp.async ----
Term *gl_async_copy(Lower *L, Call *c) {
  Term *b = lower_data_arg(L, c, 0), *ptr = b ? arg_value(L, c, 1) : NULL, *mask = NULL;
  static const char *const caches[] = {[CACHE_NONE] = "", [CACHE_CA] = ".ca", [CACHE_CG] = ".cg"};
  int cache;
  if (!ptr || !arg_choice(L, c, 3, caches, countof(caches), &cache)) return NULL;
  const CtType *t = b->buffer.type, *p = term_t(ptr);
  if (!ct_is_ptr(p) || ct_rank(p) != t->rank || memcmp(p->shape, t->shape, t->rank * sizeof *t->shape) ||
      !ct_type_equal(ct_scalar_of(p)->elem, t->elem))
    return arg_error(L, c, 1, "a tensor of pointers to %s%s is needed here, this is %s",
                     ct_type_text(L->ctx, t->elem), lower_shape_text(L, t), term_describe(L, ptr));
  if (!lower_check_same_blocks(L, c->span, "this copy", p, t, -1)) return NULL;
  if (!arg_is_none(c, 2)) {
    if (!(mask = arg_value(L, c, 2)) || !(mask = lower_broadcast_like(L, mask, p, c->spans[2]))) return NULL;
    if (!ct_is_bool(term_t(mask)))
      return arg_error(L, c, 2, "a mask must be int1, this is %s", term_describe(L, mask));
  }
  Value *v[5] = {b->buffer.v, term_v(ptr), NULL, mask ? term_v(mask) : NULL, NULL};
  Op *op = build_op(&L->b, OP_ASYNC_COPY, v, 5);
  if (cache) op_set_int(L->ctx, op, ATTR_CACHE, cache);
  return term_none(L);
}

// The row names the op.
Term *gl_order(Lower *L, Call *c) {
  build_op(&L->b, (Opcode)c->row->data, NULL, 0);
  return term_none(L);
}

Term *gl_wait_groups(Lower *L, Call *c) {
  int64_t n;
  if (!arg_int(L, c, 0, &n)) return NULL;
  if (n < 0) return arg_error(L, c, 0, "at most %lld groups in flight", (long long)n);
  build_wait(&L->b, (Opcode)c->row->data, n);
  return term_none(L);
}

// ---- mbarriers ----
static bool count_arg(Lower *L, Call *c, uint32_t i, int64_t *n) {
  enum { MOST = (1 << 20) - 1 };
  if (!arg_int(L, c, i, n)) return false;
  return (*n >= 1 && *n <= MOST) ||
         arg_error(L, c, i, "the count of an mbarrier is 1 to %d, not %lld", MOST, (long long)*n) != NULL;
}

Term *gl_mbar_init(Lower *L, Call *c) {
  Term *b = barrier_arg(L, c, 0);
  int64_t n;
  if (!b || !count_arg(L, c, 1, &n)) return NULL;
  op_set_int(L->ctx, build_op(&L->b, OP_MBAR_INIT, &b->buffer.v, 1), ATTR_COUNT, n);
  return term_none(L);
}

Term *gl_mbar_invalidate(Lower *L, Call *c) {
  Term *b = barrier_arg(L, c, 0);
  if (!b) return NULL;
  build_op(&L->b, OP_MBAR_INVAL, &b->buffer.v, 1);
  return term_none(L);
}

Term *gl_mbar_expect(Lower *L, Call *c) {
  Term *b = barrier_arg(L, c, 0);
  int64_t bytes;
  Value *pred;
  if (!b || !arg_int(L, c, 1, &bytes) || !pred_arg(L, c, 2, &pred)) return NULL;
  if (bytes < 0 || bytes >= 1 << 20)
    return arg_error(L, c, 1, "an mbarrier expects less than 2^20 bytes, not %lld", (long long)bytes);
  op_set_int(L->ctx, build_op(&L->b, OP_MBAR_EXPECT, (Value *[]){b->buffer.v, pred}, 2), ATTR_BYTES, bytes);
  return term_none(L);
}

Term *gl_mbar_arrive(Lower *L, Call *c) {
  Term *b = barrier_arg(L, c, 0);
  int64_t n;
  Value *pred;
  if (!b || !count_arg(L, c, 1, &n) || !pred_arg(L, c, 2, &pred)) return NULL;
  op_set_int(L->ctx, build_op(&L->b, OP_MBAR_ARRIVE, (Value *[]){b->buffer.v, pred}, 2), ATTR_COUNT, n);
  return term_none(L);
}

Term *gl_async_arrive(Lower *L, Call *c) {
  Term *b = barrier_arg(L, c, 0);
  bool beside;
  if (!b || !arg_bool(L, c, 1, &beside)) return NULL;
  Op *op = build_op(&L->b, OP_ASYNC_ARRIVE, (Value *[]){b->buffer.v, NULL}, 2);
  if (!beside) op_set_int(L->ctx, op, ATTR_COUNT, 1);
  return term_none(L);
}

Term *gl_mbar_wait(Lower *L, Call *c) {
  Term *b = barrier_arg(L, c, 0), *phase = b ? arg_value(L, c, 1) : NULL;
  Value *pred;
  if (!phase || !pred_arg(L, c, 2, &pred)) return NULL;
  if (ct_rank(term_t(phase)) || !ct_is_int(term_t(phase)))
    return arg_error(L, c, 1, "a phase is a scalar integer, not %s", term_describe(L, phase));
  if (!(phase = lower_cast_to(L, phase, DT_INT32, c->span))) return NULL;
  build_op(&L->b, OP_MBAR_WAIT, (Value *[]){b->buffer.v, term_v(phase), pred}, 3);
  const Term *deps = c->args[3];
  for (uint32_t i = 0; deps->kind == TERM_TUPLE && i < deps->tuple.count; i++)
    if (deps->tuple.items[i]->kind == TERM_BUFFER)
      build_op(&L->b, OP_KEEP_ALIVE, &deps->tuple.items[i]->buffer.v, 1);
  return term_none(L);
}

// ---- TMA ----
// Whether a tile lies as a descriptor's boxes expect it. The boxes of a slice may lie elsewhere than those of a whole
// tile.
static bool lies_in_boxes(const CtType *have, const CtType *want, const Type *desc) {
  uint32_t places[LAYOUT_MAX_BITS], wanted[LAYOUT_MAX_BITS];
  const Layout *h = have->layout, *w = want->layout;
  if (h == w) return true;
  if (h->moved || h->num_pads || h->num_bits[LAYOUT_BLOCK] || w->num_bits[LAYOUT_BLOCK] ||
      !layout_right_inverse(h, places) || !layout_right_inverse(w, wanted))
    return false;
  for (uint32_t axis = 0; axis < want->rank; axis++)
    for (uint32_t i = 0; i < log2_u32((uint32_t)want->shape[axis]); i++) {
      const uint32_t place = places[layout_axis_shift(h, axis) + i];
      const bool begins_box = i >= log2_u32(type_desc_box(desc, axis));
      if (begins_box ? place * (uint32_t)ct_bits(want) / 8 % TMA_TILE_ALIGN != 0
                     : place != wanted[layout_axis_shift(w, axis) + i])
        return false;
    }
  return true;
}

// The descriptor and the tile that an access moves, which must agree. NULL after a diagnostic.
static Term *desc_arg(Lower *L, Call *c, const Term *tile) {
  Term *d = c->args[0];
  if (d->kind != TERM_DESC)
    return arg_error(L, c, 0, "a tensor descriptor is needed here, this is %s", term_describe(L, d));
  const CtType *have = tile->buffer.type, *want = d->desc.block;
  if (have->rank != want->rank || memcmp(have->shape, want->shape, want->rank * sizeof *want->shape) ||
      !ct_type_equal(have->elem, want->elem))
    return builtin_error(L, c, "%s cannot be copied by %s", term_describe(L, tile), term_describe(L, d));
  if (lies_in_boxes(have, want, lower_desc_value(L, d)->type)) return d;
  builtin_error(L, c, "the buffer's layout is not the descriptor's");
  lower_hint(L, "the buffer's is %s", lower_layout_text(L, have));
  lower_hint(L, "the descriptor's is %s", lower_layout_text(L, want));
  return lower_hint(L, "allocate the buffer with desc.layout");
}

// Of the block's part.
static bool coords_arg(Lower *L, Call *c, const Term *d, Value **out) {
  const CtType *block = d->desc.block;
  if (!arg_scalars(L, c, 1, lower_scalar(L, DT_INT32), block->rank, out)) return false;
  for (uint32_t i = 0; i < block->rank; i++) {
    Value *start = lower_block_start(L, block, i);
    if (start) out[i] = build_binary(&L->b, OP_ADDI, out[i], start);
  }
  return true;
}

Term *gl_tma_load(Lower *L, Call *c) {
  Term *bar = barrier_arg(L, c, 2), *tile = bar ? lower_buffer_arg(L, c, 3) : NULL,
       *d = tile ? desc_arg(L, c, tile) : NULL;
  Value *v[4 + MAX_DESC_RANK];
  if (!d || !pred_arg(L, c, 4, &v[3]) || !coords_arg(L, c, d, v + 4)) return NULL;
  v[0] = lower_desc_value(L, d);
  v[1] = tile->buffer.v;
  v[2] = bar->buffer.v;
  build_op(&L->b, OP_TMA_LOAD, v, 4 + d->desc.block->rank);
  return term_none(L);
}

Term *gl_tma_store(Lower *L, Call *c) {
  Term *tile = lower_buffer_arg(L, c, 2), *d = tile ? desc_arg(L, c, tile) : NULL;
  Value *v[2 + MAX_DESC_RANK];
  if (!d || !coords_arg(L, c, d, v + 2)) return NULL;
  v[0] = lower_desc_value(L, d);
  v[1] = tile->buffer.v;
  build_op(&L->b, OP_TMA_STORE, v, 2 + d->desc.block->rank);
  return term_none(L);
}

const CtType *lower_desc_block(Lower *L, const CtType *block, CtValue *layout, Span span) {
  if (!layout) layout = comptime_layout_default(L->ct, block);
  if (!comptime_is_tma_layout(layout)) {
    lower_error(L, span, "a descriptor has an NVMMASharedLayout, not %s", ct_repr(L->ctx, layout));
    lower_hint(L, "gl.NVMMASharedLayout.get_default_for(block_shape, dtype) makes one");
    return NULL;
  }
  const Layout *map = lower_layout_map(L, layout, block->shape, block->rank, span);
  return map ? ct_type_with_layout(L->ctx, block, map, layout) : NULL;
}

Term *gl_make_desc(Lower *L, Call *c) {
  CtValue *layout = arg_layout(L, c, 4, LAYOUT_SHARED);
  if (!layout) return NULL;
  // tl's builder, which has no layout among its arguments
  Term *args[5] = {c->args[0], c->args[1], c->args[2], c->args[3], c->args[5]};
  Span spans[5] = {c->spans[0], c->spans[1], c->spans[2], c->spans[3], c->spans[5]};
  Call plain = *c;
  plain.row = builtin_find("make_tensor_descriptor");
  plain.args = args;
  plain.spans = spans;
  return lower_make_desc(L, &plain, layout);
}
