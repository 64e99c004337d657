// Gluon's shared memory: buffers, views of them, and loads and stores.
#include "frontend/lower/gluon.h"
#include "frontend/lower/term.h"
#include "ir/scratch.h"

#include <string.h>

static Term *new_buffer(Lower *L, Value *v, const CtType *type, const CtType *whole) {
  Term *t = arena_new(L->arena, Term);
  t->kind = TERM_BUFFER;
  t->buffer.v = v;
  t->buffer.type = type;
  t->buffer.whole = whole;
  return t;
}

// The IR's type: of an array of tiles the first extent is a count.
static const Type *buffer_type(Lower *L, const CtType *t) {
  t = lower_block_part(L, t);
  const uint32_t skip = t->rank - t->layout->rank;
  return type_buffer(L->ctx, lower_ir_elem_type(L, t->elem), (int)t->layout->rank, t->shape + skip, t->layout,
                     skip ? (uint32_t)t->shape[0] : 0);
}

// A type of that shape with the layout of its tiles; NULL after a diagnostic.
static const CtType *shared_type(Lower *L, Call *c, uint32_t shape_arg, uint32_t layout_arg, const CtType *elem) {
  int64_t shape[CT_MAX_RANK];
  uint32_t rank;
  CtValue *layout = arg_layout(L, c, layout_arg, LAYOUT_SHARED);
  if (!layout || !arg_ints(L, c, shape_arg, shape, CT_MAX_RANK, &rank)) return NULL;
  const uint32_t tile = comptime_layout_rank(L->ct, layout), skip = rank - tile;
  if (rank < tile || skip > 1) {
    arg_error(L, c, shape_arg, "a buffer in %s has %u axes, or one more for a number of tiles, not %u",
              ct_repr(L->ctx, layout), tile, rank);
    return NULL;
  }
  if (skip && (shape[0] < 1 || shape[0] > 1 << 16))
    return arg_error(L, c, shape_arg, "a buffer of %lld tiles", (long long)shape[0]), NULL;
  if (!lower_check_shape(L, shape + skip, tile, c->spans[shape_arg])) return NULL;
  const Layout *map = lower_layout_map(L, layout, shape + skip, tile, c->spans[layout_arg]);
  if (!map) return NULL;
  return ct_type_with_layout(L->ctx, ct_type_block(L->ctx, elem, shape, rank), map, layout);
}

static bool is_array(const Term *b) { return b->buffer.type->rank != b->buffer.type->layout->rank; }

static Term *buffer_arg(Lower *L, Call *c, uint32_t i, bool tile) {
  Term *b = c->args[i];
  if (b->kind != TERM_BUFFER) {
    arg_error(L, c, i, "`%s` needs a shared-memory buffer, this is %s", c->row->name, term_describe(L, b));
    if (!term_is_tensor(b) || ct_is_ptr(term_t(b))) return NULL;
    return lower_hint(L, "put the tensor there: gl.allocate_shared_memory(x.dtype, x.shape, layout, x)");
  }
  if (!tile || !is_array(b)) return b;
  arg_error(L, c, i, "`%s` needs one tile, this is %s, an array of tiles", c->row->name, term_describe(L, b));
  return lower_hint(L, "choose a tile: buffer.index(i)");
}
Term *lower_buffer_arg(Lower *L, Call *c, uint32_t i) { return buffer_arg(L, c, i, true); }

Term *lower_data_arg(Lower *L, Call *c, uint32_t i) {
  Term *b = buffer_arg(L, c, i, true);
  if (!b || !b->buffer.type->spelled || !comptime_is_mbarrier_layout(b->buffer.type->spelled)) return b;
  arg_error(L, c, i, "an mbarrier holds no data: `%s` needs a buffer in another layout than MBarrierLayout",
            c->row->name);
  return lower_hint(L,
                    "mbarrier.init, expect, arrive and wait use it; gl.SwizzledSharedLayout(1, 1, 1, [0]) is for data");
}

// Returns false, after a diagnostic, if data would get a layout that is for mbarriers.
static bool check_holds(Lower *L, Call *c, const CtType *t) {
  if (!comptime_is_mbarrier_layout(t->spelled) || ct_is_kind(t, DT_INT64)) return true;
  arg_error(L, c, 2, "an MBarrierLayout is for mbarriers, buffers of int64[1], not for data of %s%s",
            ct_type_text(L->ctx, t->elem), lower_shape_text(L, t));
  if (t->shape[t->rank - 1] == 1) return lower_hint(L, "the type of an mbarrier is gl.int64") != NULL;
  return lower_hint(L, "give data that TMA moves the layout of their descriptor, desc.layout, and other data a "
                       "gl.SwizzledSharedLayout") != NULL;
}

static void store(Lower *L, Term *x, Term *b) {
  build_op(&L->b, OP_LOCAL_STORE, (Value *[]){term_v(x), b->buffer.v}, 2);
}

// A tensor of the buffer's shape and type to store there; NULL after a diagnostic.
static Term *value_for(Lower *L, Call *c, uint32_t i, const CtType *buffer) {
  Term *x = arg_value(L, c, i);
  if (!x) return NULL;
  const CtType *t = term_t(x);
  if (ct_rank(t) == buffer->rank && !memcmp(t->shape, buffer->shape, t->rank * sizeof *t->shape) &&
      ct_type_equal(ct_scalar_of(t), buffer->elem))
    return x;
  arg_error(L, c, i, "cannot store %s into a buffer of %s%s", term_describe(L, x),
            ct_type_text(L->ctx, buffer->elem), lower_shape_text(L, buffer));
  return lower_hint(L, "shape and type must be the buffer's: x.to(buffer.dtype)");
}

Term *gl_allocate(Lower *L, Call *c) {
  const CtType *elem;
  if (!arg_dtype(L, c, 0, &elem)) return NULL;
  const CtType *t = shared_type(L, c, 1, 2, elem);
  if (!t || !check_holds(L, c, t)) return NULL;
  Term *x = NULL;
  if (!arg_is_none(c, 3) && !(x = value_for(L, c, 3, t))) return NULL;
  Value *v = build_alloc(&L->b, buffer_type(L, t), NULL);
  Term *b = new_buffer(L, v, t, t);
  if (x && !lower_check_same_blocks(L, c->spans[3], "this store", term_t(x), t, -1)) return NULL;
  if (x) store(L, x, b);
  return b;
}

Term *gl_smem_load(Lower *L, Call *c) {
  Term *b = lower_data_arg(L, c, 0);
  CtValue *layout = b ? arg_layout(L, c, 1, LAYOUT_DISTRIBUTED) : NULL;
  if (!layout) return NULL;
  const CtType *from = b->buffer.type, *t = ct_type_block(L->ctx, from->elem, from->shape, from->rank);
  if (!(t = lower_with_layout(L, t, layout, c->spans[1])) ||
      !lower_check_same_blocks(L, c->span, "this load", t, from, -1))
    return NULL;
  return term_of_op(L, lower_new_op(L, OP_LOCAL_LOAD, t, (Value *[]){b->buffer.v, NULL}, 2), t);
}

Term *gl_smem_store(Lower *L, Call *c) {
  Term *b = lower_data_arg(L, c, 0), *x = b ? value_for(L, c, 1, b->buffer.type) : NULL;
  if (!x || !lower_check_same_blocks(L, c->span, "this store", term_t(x), b->buffer.type, -1)) return NULL;
  store(L, x, b);
  return term_none(L);
}

// ---- views ----
static Term *view(Lower *L, Opcode oc, Term *b, const CtType *t, const CtType *whole, Value *index) {
  Value *v[2] = {b->buffer.v, index};
  const Type *type = buffer_type(L, t);
  return new_buffer(L, build_value(&L->b, oc, type, v, index ? 2 : 1), t, whole);
}

Term *gl_smem_index(Lower *L, Call *c) {
  Term *b = buffer_arg(L, c, 0, false), *i = b ? arg_value(L, c, 1) : NULL;
  if (!i) return NULL;
  if (!is_array(b)) {
    arg_error(L, c, 0, "`index` chooses a tile of an array, this is one tile: %s", term_describe(L, b));
    return lower_hint(L, "allocate an array: gl.allocate_shared_memory(dtype, [n] + shape, layout)");
  }
  if (ct_rank(term_t(i)) || !ct_is_int(term_t(i)) || ct_bits(term_t(i)) > 32)
    return arg_error(L, c, 1, "an index is a scalar int32, not %s", term_describe(L, i));
  const CtType *t = b->buffer.type;
  int64_t known;
  if (term_get_int(c->args[1], &known) && (known < 0 || known >= t->shape[0])) {
    arg_error(L, c, 1, "tile %lld of an array of %lld", (long long)known, (long long)t->shape[0]);
    return lower_hint(L, "the last one has number %lld; a ring's index wraps: i %% %lld", (long long)t->shape[0] - 1,
                      (long long)t->shape[0]);
  }
  i = lower_cast_to(L, i, DT_INT32, c->span);
  const CtType *tile = ct_type_with_layout(L->ctx, ct_type_block(L->ctx, t->elem, t->shape + 1, t->rank - 1), t->layout,
                                           t->spelled);
  return view(L, OP_BUFFER_INDEX, b, tile, tile, term_v(i));
}

// The layout without the axis' bits from number `bits` on. NULL if the remaining elements would get other places.
static const Layout *cut_axis(Lower *L, const Layout *l, uint32_t axis, uint32_t bits, const uint32_t *places) {
  Layout r = *l;
  uint32_t own[LAYOUT_MAX_BITS];
  const uint32_t drop = l->log2_size[axis] - bits, kept = layout_axis_shift(l, axis) + bits;
  for (uint32_t i = 0; i < LAYOUT_MAX_BITS; i++)
    r.basis[i] = (l->basis[i] & ((1u << kept) - 1)) | l->basis[i] >> (kept + drop) << kept;
  r.log2_size[axis] = (uint8_t)bits;
  const Layout *cut = layout_intern(L->ctx, &r);
  if (!layout_right_inverse(cut, own)) return NULL;
  for (uint32_t i = 0, n = layout_tensor_bits(cut); i < n; i++)
    if (own[i] != places[i < kept ? i : i + drop]) return NULL;
  return cut;
}

// The layout of slices of that length. If the offsets of their elements have no bits in common with the offsets of any
// possible start, a slice has a layout of its own, from its start's address on. Otherwise it keeps the tile's layout.
static const Layout *slice_layout(Lower *L, const CtType *t, uint32_t axis, int64_t length) {
  const Layout *l = t->layout;
  uint32_t places[LAYOUT_MAX_BITS], used = 0, starts = 0;
  const uint32_t bits = log2_u32((uint32_t)length);
  if (!layout_right_inverse(l, places)) ice(L->ctx, "a buffer's layout has holes");
  for (uint32_t d = 0; d < t->rank; d++)
    for (uint32_t i = 0; i < log2_u32((uint32_t)t->shape[d]); i++)
      *(d == axis && i >= bits ? &starts : &used) |= places[layout_axis_shift(l, d) + i];
  const Layout *cut = l->moved || starts & used ? NULL : cut_axis(L, l, axis, bits, places);
  if (cut) return cut;
  Layout r = *l;
  r.moved |= starts;
  return layout_intern(L->ctx, &r);
}

Term *gl_smem_slice(Lower *L, Call *c) {
  Term *b = buffer_arg(L, c, 0, true);
  int64_t start, length, axis;
  if (!b || !arg_int(L, c, 1, &start) || !arg_int(L, c, 2, &length) || !arg_axis(L, c, 3, b->buffer.type->rank, &axis))
    return NULL;
  const CtType *t = b->buffer.type;
  if (length <= 0 || !is_pow2_u64((uint64_t)length) || start < 0 || start % length ||
      start + length > t->shape[axis]) {
    builtin_error(L, c, "a slice of %lld elements from %lld on, of an axis of %lld", (long long)length,
                  (long long)start, (long long)t->shape[axis]);
    return lower_hint(L, "the length is a power of two, the start a multiple of it, and the end inside the axis");
  }
  if (!lower_check_axis_in_block(L, c->span, "a slice", t, (uint32_t)axis)) return NULL;
  const Layout *map = slice_layout(L, t, (uint32_t)axis, length);
  int64_t shape[CT_MAX_RANK];
  memcpy(shape, t->shape, sizeof shape);
  shape[axis] = length;
  const CtType *to = ct_type_with_layout(L->ctx, ct_type_block(L->ctx, t->elem, shape, t->rank), map, t->spelled);
  Term *r = view(L, OP_BUFFER_SLICE, b, to, b->buffer.whole, NULL);
  op_set_int(L->ctx, r->buffer.v->def, ATTR_AXIS, axis);
  op_set_int(L->ctx, r->buffer.v->def, ATTR_START, start);
  return r;
}

Term *gl_smem_permute(Lower *L, Call *c) {
  Term *b = buffer_arg(L, c, 0, true);
  int64_t order[CT_MAX_RANK], shape[CT_MAX_RANK];
  uint32_t n, seen = 0;
  if (!b || !arg_ints(L, c, 1, order, CT_MAX_RANK, &n)) return NULL;
  const CtType *t = b->buffer.type;
  for (uint32_t i = 0; i < n && n == t->rank; i++) {
    if (order[i] < 0 || order[i] >= t->rank) break;
    seen |= 1u << order[i];
    shape[i] = t->shape[order[i]];
  }
  if (n != t->rank || seen != (1u << n) - 1)
    return arg_error(L, c, 1, "the order must name each of the %u axes of the buffer once", t->rank);
  const CtType *to = ct_type_with_layout(L->ctx, ct_type_block(L->ctx, t->elem, shape, n),
                                         layout_transpose(L->ctx, t->layout, order), NULL);
  to = ct_type_with_layout(L->ctx, to, to->layout, comptime_layout_permuted(L->ct, t->spelled, order, n));
  Term *r = view(L, OP_BUFFER_TRANS, b, to, to, NULL);
  op_set_ints(L->ctx, r->buffer.v->def, ATTR_ORDER, order, n);
  return r;
}

Term *gl_smem_reshape(Lower *L, Call *c) {
  Term *b = buffer_arg(L, c, 0, true);
  int64_t shape[CT_MAX_RANK];
  uint32_t n;
  if (!b || !arg_ints(L, c, 1, shape, CT_MAX_RANK, &n) || !lower_check_shape(L, shape, n, c->spans[1])) return NULL;
  const CtType *t = b->buffer.type, *to = ct_type_block(L->ctx, t->elem, shape, n);
  if (!n || ct_numel(to) != ct_numel(t))
    return arg_error(L, c, 1, "cannot reshape %s to %s", term_describe(L, b), lower_shape_text(L, to));
  if (!ct_type_equal(b->buffer.whole, t) && ct_numel(b->buffer.whole) != ct_numel(t))
    return builtin_error(L, c, "a slice cannot be reshaped: its elements are not together"),
           lower_hint(L, "reshape the buffer before, or the tensor after: buffer.load(L).reshape(shape)");
  to = ct_type_with_layout(L->ctx, to, layout_reshape(L->ctx, t->layout, n, shape), NULL);
  return view(L, OP_BUFFER_RESHAPE, b, to, to, NULL);
}

static int64_t bytes_of(const Type *t) {
  return type_numel(t) * (t->count ? t->count : 1) * (int64_t)type_elem_bytes(t);
}

// The bytes that the memory of a buffer has: of a tile of an array those of the array, because a tile may be taken
// together with those after it.
static int64_t room(const Value *v) {
  return bytes_of(value_op(v, OP_BUFFER_INDEX) ? op_operand(v->def, 0)->type : v->type);
}

// A tile of an array begins at a multiple of its size, which a swizzle of more bytes does not allow.
static bool check_tile_begins(Lower *L, Call *c, const Value *v, const Type *to) {
  if (!value_op(v, OP_BUFFER_INDEX) || scratch_tile_align(to) < SWIZZLE_ALIGN) return true;
  const uint32_t tile = scratch_tile_bytes(to), align = tile < SWIZZLE_ALIGN ? tile : SWIZZLE_ALIGN;
  const uint32_t step = scratch_tile_stride(op_operand(v->def, 0)->type);
  if (step % align == 0) return true;
  builtin_error(L, c, "the tiles of the array begin at multiples of %u bytes, and this layout needs %u", step, align);
  return lower_hint(L, "reinterpret the array, and index it then") != NULL;
}

Term *gl_smem_reinterpret(Lower *L, Call *c) {
  Term *b = buffer_arg(L, c, 0, false);
  const CtType *elem;
  if (!b || !arg_dtype(L, c, 1, &elem)) return NULL;
  const CtType *to = shared_type(L, c, 2, 3, elem);
  if (!to) return NULL;
  const int64_t have = room(b->buffer.v), want = bytes_of(buffer_type(L, to));
  if (want > have)
    return builtin_error(L, c, "a buffer of %lld bytes does not fit into one of %lld", (long long)want,
                         (long long)have);
  if (!check_tile_begins(L, c, b->buffer.v, buffer_type(L, to))) return NULL;
  return view(L, OP_BUFFER_REINTERPRET, b, to, to, NULL);
}

Term *gl_smem_keep(Lower *L, Call *c) {
  Term *b = buffer_arg(L, c, 0, false);
  if (!b) return NULL;
  build_op(&L->b, OP_KEEP_ALIVE, &b->buffer.v, 1);
  return term_none(L);
}

// ---- attributes ----
Term *lower_buffer_attribute(Lower *L, Term *base, const char *name, Span span) {
  const CtType *t = base->buffer.type;
  if (strcmp(name, "dtype") == 0) return term_const(L, ct_dtype(L->ctx, t->elem));
  if (strcmp(name, "type") == 0) return term_const(L, ct_dtype(L->ctx, t));
  if (strcmp(name, "shape") == 0) return lower_shape_term(L, t);
  if (strcmp(name, "rank") == 0) return term_int(L, t->rank);
  if (strcmp(name, "numel") == 0) return term_int(L, ct_numel(t));
  if (strcmp(name, "layout") == 0) {
    Layout whole = *t->layout;   // a slice has its parent's
    whole.moved = 0;
    return term_const(L, comptime_layout_on(L->ct, lower_layout_of(L, t), layout_intern(L->ctx, &whole)));
  }
  const BuiltinRow *row = builtin_find_gluon(arena_printf(L->arena, "buffer.%s", name));
  if (row && row->method == 3)
    return term_bound(L, base, term_const(L, ct_builtin(L->ctx, arena_printf(L->arena, "gl.%s", row->name))));
  lower_error(L, span, "a shared-memory buffer has no attribute `%s`", name);
  return lower_hint(
      L, "it has load, store, index, slice, permute, reshape, _reinterpret, dtype, shape, layout and type");
}
