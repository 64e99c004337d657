// Gluon's layouts as maps of ir/layout.h, and what Gluon computes with them.
#include "frontend/comptime/layouts.h"

#include <string.h>

static void add_bases(Comptime *ct, const CtValue *v, const char *name, LayoutTile *t, LayoutDim dim) {
  const CtValue *x = layout_field(ct, v, name);
  for (uint32_t i = 0; x && i < x->list.count; i++) {
    const LayoutVector w = layout_vector(x->list.data[i]);
    layout_tile_add(t, dim, &w);
  }
}

static void last_axis_first(uint32_t rank, uint32_t *order) {
  for (uint32_t i = 0; i < rank; i++) order[i] = rank - 1 - i;
}

// The tile of a layout that is none of another's slice, and in which order it grows.
static void distributed_tile(Comptime *ct, const CtValue *v, const int64_t *shape, LayoutTile *t, uint32_t *order) {
  const LayoutClass c = layout_class(v);
  const CtValue *parent = c == L_DOT_OPERAND ? layout_field(ct, v, "parent") : v;
  const uint32_t rank = layout_class_rank(ct, v);
  uint32_t size[LAYOUT_MAX_RANK], threads[LAYOUT_MAX_RANK], warps[LAYOUT_MAX_RANK], version[LAYOUT_MAX_RANK] = {0},
      instr[LAYOUT_MAX_RANK];
  t->rank = rank;
  last_axis_first(rank, order);
  const uint32_t operand = c == L_DOT_OPERAND ? (uint32_t)layout_field_int(ct, v, "operand_index", 0) : 0;
  layout_field_ints(ct, parent, "warps_per_cta", warps);
  if (c == L_LINEAR) {
    static const char *const names[LAYOUT_DIMS] = {"reg_bases", "lane_bases", "warp_bases", "block_bases"};
    for (uint32_t dim = 0; dim < LAYOUT_DIMS; dim++) add_bases(ct, v, names[dim], t, (LayoutDim)dim);
  } else if (layout_class(parent) == L_BLOCKED) {
    layout_field_ints(ct, parent, "size_per_thread", size);
    layout_field_ints(ct, parent, "threads_per_warp", threads);
    layout_field_ints(ct, parent, "order", order);
    if (c == L_BLOCKED) layout_tile_blocked(t, rank, size, threads, warps, order);
    else layout_tile_fma_operand(t, rank, size, threads, warps, order, operand, (uint32_t)shape[rank - 1 - operand]);
  } else {
    layout_field_ints(ct, parent, "version", version);
    layout_field_ints(ct, parent, "instr_shape", instr);
    const bool m_first = version[0] == 3;
    if (c == L_NVMMA_DISTRIBUTED) {
      layout_tile_mma(t, rank, warps, m_first ? instr[1] : 8, m_first);
    } else {
      layout_tile_mma_operand(t, rank, warps, m_first, operand, (uint32_t)layout_field_int(ct, v, "k_width", 0));
      if (operand == 1) order[0] = rank - 2, order[1] = rank - 1;   // K first
    }
  }
}

// NULL with the reason in *why.
static const Layout *no_map(const char **why, const char *text) {
  *why = text;
  return NULL;
}

static const Layout *distributed_map(Comptime *ct, const CtValue *v, const int64_t *shape, uint32_t rank,
                                     const char **why) {
  if (layout_class(v) == L_SLICE) {
    int64_t whole[LAYOUT_MAX_RANK];
    const uint32_t dim = (uint32_t)layout_field_int(ct, v, "dim", 0);
    for (uint32_t i = 0, k = 0; i <= rank; i++) whole[i] = i == dim ? 1 : shape[k++];
    const Layout *l = distributed_map(ct, layout_field(ct, v, "parent"), whole, rank + 1, why);
    return l ? layout_make_slice(ct->ctx, l, dim) : NULL;
  }
  LayoutTile *t = arena_new(ct->arena, LayoutTile);
  LayoutVector cga[LAYOUT_MAX_BITS];
  uint32_t order[LAYOUT_MAX_RANK];
  distributed_tile(ct, v, shape, t, order);
  const Layout *l = layout_finish(ct->ctx, LAYOUT_DISTRIBUTED, t, shape, order, cga, layout_cga(ct, v, cga));
  if (!l) return no_map(why, "its threads would hold each element too often");
  return layout_is_surjective(l) ? l : no_map(why, "its bases do not reach every element");
}

static const Layout *shared_map(Comptime *ct, const CtValue *v, const int64_t *shape, uint32_t rank, const char **why) {
  const LayoutClass c = layout_class(v);
  LayoutTile *t = arena_new(ct->arena, LayoutTile);
  LayoutVector cga[LAYOUT_MAX_BITS];
  uint32_t order[LAYOUT_MAX_RANK], cta[LAYOUT_MAX_RANK];
  const uint32_t num_cga = layout_cga(ct, v, cga);
  layout_cta_shape(rank, shape, cga, num_cga, cta);
  t->rank = rank;
  for (uint32_t d = 0; d < rank; d++) order[d] = d;
  if (c == L_SWIZZLED) {
    layout_field_ints(ct, v, "order", order);
    layout_tile_swizzled(t, rank, cta, order, (uint32_t)layout_field_int(ct, v, "vec", 0),
                         (uint32_t)layout_field_int(ct, v, "per_phase", 0),
                         (uint32_t)layout_field_int(ct, v, "max_phase", 0));
  } else if (c == L_NVMMA_SHARED) {
    const uint32_t s = (uint32_t)layout_field_int(ct, v, "swizzle_byte_width", 0),
                   bits = (uint32_t)layout_field_int(ct, v, "element_bitwidth", 0),
                   axis = layout_field(ct, v, "transposed") ? 0 : rank - 1;
    uint64_t rows = 1;
    for (uint32_t d = 0; d < rank; d++) rows *= d == axis ? 1 : cta[d];
    if (s && cta[axis] * bits < 8 * s)
      return no_map(why, "its contiguous axis must be at least as long as the swizzle");
    if (s && rows < 8) return no_map(why, "a swizzled tile has 8 rows or more");
    layout_tile_nvmma(t, rank, cta, axis, s, bits);
  } else if (c != L_MBARRIER) {
    add_bases(ct, v, "offset_bases", t, LAYOUT_OFFSET);
    add_bases(ct, v, "block_bases", t, LAYOUT_BLOCK);
    const CtValue *pairs = layout_field(ct, v, "interval_padding_pairs");
    for (uint32_t i = 0; pairs && i < pairs->list.count; i++) {
      const LayoutVector pad = layout_vector(pairs->list.data[i]);
      t->pad[t->num_pads].interval = pad.at[0];
      t->pad[t->num_pads++].by = pad.at[1];
    }
  }
  const Layout *l = layout_finish(ct->ctx, LAYOUT_SHARED, t, shape, order, cga, num_cga);
  if (!l) return no_map(why, "it is too large");
  return layout_is_surjective(l) ? l : no_map(why, "its bases do not reach every element");
}

const Layout *comptime_layout_map(Comptime *ct, const CtValue *v, const int64_t *shape, uint32_t rank,
                                  const char **why) {
  const LayoutClass c = layout_class(v);
  if (layout_class_rank(ct, v) != rank)
    return no_map(why, arena_printf(ct->arena, "it is for tensors of rank %u, and this one has rank %u",
                                    layout_class_rank(ct, v), rank));
  return layout_class_is_shared(c) ? shared_map(ct, v, shape, rank, why) : distributed_map(ct, v, shape, rank, why);
}

static CtValue *bases(Comptime *ct, const Layout *l, LayoutDim dim) {
  CtValue *list = ct_list(ct->ctx, NULL, 0);
  for (uint32_t i = 0; i < l->num_bits[dim]; i++) {
    CtValue *v = ct_list(ct->ctx, NULL, 0);
    for (uint32_t d = 0; d < l->rank; d++)
      ct_append(ct, v, ct_int(ct->ctx, (layout_basis(l, dim, i) & layout_axis_mask(l, d)) >> layout_axis_shift(l, d)));
    ct_append(ct, list, v);
  }
  return list;
}

static CtValue *pads(Comptime *ct, const Layout *l) {
  CtValue *list = ct_list(ct->ctx, NULL, 0);
  for (uint32_t i = 0; i < l->num_pads; i++) {
    CtValue *pair = ct_list(ct->ctx, NULL, 0);
    ct_append(ct, pair, ct_int(ct->ctx, 1 << l->pad[i].interval));
    ct_append(ct, pair, ct_int(ct->ctx, 1 << l->pad[i].by));
    ct_append(ct, list, pair);
  }
  return list;
}

CtValue *comptime_layout_from_map(Comptime *ct, const Layout *l) {
  const bool shared = l->kind == LAYOUT_SHARED;
  CtValue *v = layout_instance(ct, l->num_pads ? L_PADDED : shared ? L_SHARED_LINEAR : L_LINEAR);
  if (l->num_pads) ct_attr_set(ct, v, "interval_padding_pairs", pads(ct, l));
  ct_attr_set(ct, v, shared ? "offset_bases" : "reg_bases", bases(ct, l, LAYOUT_REG));
  if (!shared) {
    ct_attr_set(ct, v, "lane_bases", bases(ct, l, LAYOUT_LANE));
    ct_attr_set(ct, v, "warp_bases", bases(ct, l, LAYOUT_WARP));
  }
  const bool whole = !shared || l->num_pads;   // the class has no defaults
  if (whole || l->num_bits[LAYOUT_BLOCK]) ct_attr_set(ct, v, "block_bases", bases(ct, l, LAYOUT_BLOCK));
  CtValue *shape = ct_list(ct->ctx, NULL, 0);
  for (uint32_t d = 0; d < l->rank; d++) ct_append(ct, shape, ct_int(ct->ctx, 1 << l->log2_size[d]));
  if (whole) ct_attr_set(ct, v, "shape", shape);
  return v;
}

CtValue *comptime_layout_slice(Comptime *ct, CtValue *parent, uint32_t dim) {
  CtValue *v = layout_instance(ct, L_SLICE);
  ct_attr_set(ct, v, "dim", ct_int(ct->ctx, dim));
  ct_attr_set(ct, v, "parent", parent);
  return v;
}

const CtValue *comptime_layout_root(Comptime *ct, const CtValue *v) {
  while (layout_class(v) == L_SLICE || layout_class(v) == L_DOT_OPERAND) v = layout_field(ct, v, "parent");
  return v;
}

CtValue *comptime_layout_parent(Comptime *ct, const CtValue *v, uint32_t dim) {
  return layout_class(v) == L_SLICE && layout_field_int(ct, v, "dim", 0) == dim ? layout_field(ct, v, "parent") : NULL;
}

const CtType *comptime_type_of_auto(Comptime *ct, const CtType *t) {
  CtType *copy = arena_new(&ct->ctx->arena, CtType);
  *copy = *t;
  copy->spelled = layout_instance(ct, L_AUTO);
  return copy;
}

CtValue *comptime_layout_on(Comptime *ct, const CtValue *layout, const Layout *map) {
  CtValue *v = ct_instance_copy(ct, layout);
  v->instance->map = map;
  return v;
}

bool ct_layouts_equal(Comptime *ct, const CtValue *a, const CtValue *b) {
  if (layout_class(a) >= L_AUTO || layout_class(b) >= L_AUTO) return false;
  const Layout *m = a->instance->map ? a->instance->map : b->instance->map;
  if (!m) return false;
  int64_t shape[LAYOUT_MAX_RANK];
  const char *why;
  for (uint32_t d = 0; d < m->rank; d++) shape[d] = (int64_t)1 << m->log2_size[d];
  const CtValue *other = m == a->instance->map ? b : a;
  return comptime_layout_map(ct, other, shape, m->rank, &why) == m;
}

// ---- text ----
// The extents of the layout's own tile: the shape on which every place holds exactly one element. False if it has none.
static bool own_shape(Comptime *ct, const CtValue *v, int64_t shape[LAYOUT_MAX_RANK]) {
  const LayoutClass c = layout_class(v);
  const uint32_t rank = layout_class_rank(ct, v);
  const CtValue *given = layout_field(ct, v, "shape");
  for (uint32_t d = 0; d < rank; d++) shape[d] = given ? (int64_t)int_of(given->list.data[d]) : 1;
  if (given || c == L_MBARRIER) return true;
  if (c == L_SLICE) {
    int64_t whole[LAYOUT_MAX_RANK];
    const uint32_t dim = (uint32_t)layout_field_int(ct, v, "dim", 0);
    if (!own_shape(ct, layout_field(ct, v, "parent"), whole)) return false;
    for (uint32_t i = 0, k = 0; i <= rank; i++)
      if (i != dim) shape[k++] = whole[i];
    return true;
  }
  if (c > L_NVMMA_DISTRIBUTED) return false;
  LayoutTile *t = arena_new(ct->arena, LayoutTile);
  LayoutVector cga[LAYOUT_MAX_BITS];
  uint32_t order[LAYOUT_MAX_RANK];
  distributed_tile(ct, v, shape, t, order);
  for (uint32_t dim = 0; dim < LAYOUT_DIMS; dim++)
    for (uint32_t i = 0; i < t->num[dim]; i++)
      for (uint32_t d = 0; d < rank; d++)
        while (shape[d] <= t->vec[dim][i].at[d]) shape[d] *= 2;
  for (uint32_t i = 0, n = layout_cga(ct, v, cga); i < n; i++)
    for (uint32_t d = 0; d < rank; d++)
      if (cga[i].at[d]) shape[d] *= 2;
  return true;
}

const char *comptime_layout_text(Comptime *ct, const CtValue *v) {
  int64_t shape[LAYOUT_MAX_RANK];
  const char *why, *text = ct_repr(ct->ctx, v);
  const Layout *map = v->instance->map;
  if (!map && layout_class(v) < L_AUTO && own_shape(ct, v, shape))
    map = comptime_layout_map(ct, v, shape, layout_class_rank(ct, v), &why);
  if (!map) return text;
  Buf b = buf_make(ct->arena);
  buf_printf(&b, "%s, which is ", text);
  layout_print(&b, map);
  return buf_str(&b);
}

// ---- what operations ask ----
bool comptime_is_mbarrier_layout(const CtValue *v) { return layout_class(v) == L_MBARRIER; }

bool comptime_is_tma_layout(const CtValue *v) {
  if (layout_class(v) != L_NVMMA_SHARED) return false;
  for (uint32_t i = 0; i < v->instance->attrs->count; i++)
    if (!strcmp(v->instance->attrs->bindings[i].name, "transposed")) return false;
  return true;
}

bool comptime_is_wgmma_layout(Comptime *ct, const CtValue *v) {
  uint32_t version[LAYOUT_MAX_RANK] = {0}, warps[LAYOUT_MAX_RANK] = {0};
  if (layout_class(v) != L_NVMMA_DISTRIBUTED) return false;
  layout_field_ints(ct, v, "version", version);
  layout_field_ints(ct, v, "warps_per_cta", warps);
  return version[0] == 3 && warps[0] % 4 == 0;
}

CtValue *comptime_layout_permuted(Comptime *ct, const CtValue *v, const int64_t *order, uint32_t n) {
  if (!v || layout_class(v) != L_NVMMA_SHARED || n != 2 || layout_field(ct, v, "cga_layout")) return NULL;
  CtValue *r = ct_instance_copy(ct, v);
  if (order[0] == 0) return r;
  r = layout_instance(ct, L_NVMMA_SHARED);
  for (uint32_t i = 0; i < v->instance->attrs->count; i++) {
    const CtBinding *b = &v->instance->attrs->bindings[i];
    if (strcmp(b->name, "transposed")) ct_attr_set(ct, r, b->name, b->value);
  }
  if (!layout_field(ct, v, "transposed")) ct_attr_set(ct, r, "transposed", ct_bool(true));
  return r;
}

CtValue *comptime_layout_operand(Comptime *ct, const CtValue *acc, uint32_t k_width) {
  if (!acc || !comptime_is_wgmma_layout(ct, acc)) return NULL;
  CtValue *v = layout_instance(ct, L_DOT_OPERAND);
  ct_attr_set(ct, v, "operand_index", ct_int(ct->ctx, 0));
  ct_attr_set(ct, v, "parent", (CtValue *)acc);
  ct_attr_set(ct, v, "k_width", ct_int(ct->ctx, k_width));
  return v;
}

bool comptime_layout_is_operand(Comptime *ct, const CtValue *v, const CtValue *acc, uint32_t i) {
  return layout_class(v) == L_DOT_OPERAND && layout_field_int(ct, v, "operand_index", 0) == i &&
         ct_equal(layout_field(ct, v, "parent"), acc);
}

// ---- functions ----
static bool take_ints(Comptime *ct, CtValue *v, const char *what, Span span, uint32_t *n,
                      int64_t out[LAYOUT_MAX_RANK]) {
  const Field f = {what, FIELD_INTS, false, 0};
  const CtValue *list = layout_normal(ct, "the layout", &f, v, span);
  if (!list) return false;
  *n = list->list.count;
  for (uint32_t i = 0; i < *n; i++) {
    out[i] = (int64_t)int_of(list->list.data[i]);
    if (!strcmp(what, "shape") && !is_pow2_u64((uint64_t)out[i]))
      return ct_fail(ct, span, "ValueError", "a shape is of powers of two, not %s", ct_repr(ct->ctx, list)) != NULL;
  }
  return true;
}

// The widest swizzle that a block's rows are multiples of.
CT_FN(nvmma_default) {
  CtValue *v[5], *args[6];
  int64_t shape[LAYOUT_MAX_RANK];
  uint32_t rank, cta[LAYOUT_MAX_RANK];
  if (!ct_take_args(ct, "get_default_for block_shape dtype ?transposed ?fp4_padded ?cga_layout", a, v) ||
      !take_ints(ct, v[0], "shape", a->span, &rank, shape))
    return NULL;
  const CtValue *dtype = ct_unwrap(v[1]);
  if (dtype->kind != CT_DTYPE || !rank) return ct_wrong_type(ct, a, dtype);
  const Field cga_field = {"cga_layout", FIELD_VECTORS, true, 0};
  CtValue *cga = layout_normal(ct, "gl.NVMMASharedLayout", &cga_field, v[4] ? v[4] : ct_none(), a->span);
  if (!cga || !layout_lists_have(cga, rank)) return ct->error ? NULL : ct_wrong_type(ct, a, cga);
  LayoutVector vectors[LAYOUT_MAX_BITS];
  for (uint32_t i = 0; i < cga->list.count; i++) vectors[i] = layout_vector(cga->list.data[i]);
  layout_cta_shape(rank, shape, vectors, cga->list.count, cta);
  const bool transposed = v[2] && ct_is_true(v[2]);
  const uint32_t axis = transposed ? 0 : rank - 1;
  const uint64_t bytes = (uint64_t)cta[axis] * ct_bits(dtype->type) / 8;
  uint64_t rows = 1;
  for (uint32_t d = 0; d < rank; d++) rows *= d == axis ? 1 : cta[d];
  int64_t swizzle = 128;
  while (swizzle >= 32 && bytes % (uint64_t)swizzle) swizzle /= 2;
  if (swizzle < 32 || rows < 8) swizzle = 0;
  args[0] = ct_int(ct->ctx, swizzle);
  args[1] = ct_int(ct->ctx, ct_bits(dtype->type));
  args[2] = ct_int(ct->ctx, rank);
  args[3] = ct_bool(transposed);
  args[4] = v[3] ? v[3] : ct_bool(false);
  args[5] = cga;
  return ct_layout_new(ct, "gl.NVMMASharedLayout", &(CtArgs){args, 6, NULL, 0, a->span});
}

CtValue *comptime_layout_default(Comptime *ct, const CtType *block) {
  CtValue *args[2] = {ct_list(ct->ctx, NULL, 0), ct_dtype(ct->ctx, block->elem)};
  for (uint32_t d = 0; d < block->rank; d++) ct_append(ct, args[0], ct_int(ct->ctx, block->shape[d]));
  return nvmma_default(ct, NULL, &(CtArgs){args, 2, NULL, 0, {0, 0}});
}

CT_FN(padded_identity) {
  CtValue *v[3];
  int64_t shape[LAYOUT_MAX_RANK], order[LAYOUT_MAX_RANK];
  uint32_t rank, n;
  if (!ct_take_args(ct, "with_identity_for interval_padding_pairs shape order", a, v) ||
      !take_ints(ct, v[1], "shape", a->span, &rank, shape) || !take_ints(ct, v[2], "order", a->span, &n, order))
    return NULL;
  CtValue *offsets = ct_list(ct->ctx, NULL, 0);
  for (uint32_t i = 0; i < n; i++) {
    if (n != rank || order[i] >= rank)
      return ct_fail(ct, a->span, "ValueError", "order names each axis of the shape once");
    for (int64_t step = 1; step < shape[order[i]]; step *= 2) {
      CtValue *basis = ct_list(ct->ctx, NULL, 0);
      for (uint32_t d = 0; d < rank; d++) ct_append(ct, basis, ct_int(ct->ctx, d == order[i] ? step : 0));
      ct_append(ct, offsets, basis);
    }
  }
  CtValue *args[4] = {v[0], offsets, ct_list(ct->ctx, NULL, 0), v[1]};
  return ct_layout_new(ct, "gl.PaddedSharedLayout", &(CtArgs){args, 4, NULL, 0, a->span});
}

CT_FN(to_linear_layout) {
  CtValue *v[2];
  int64_t shape[LAYOUT_MAX_RANK];
  uint32_t rank;
  const char *why;
  if (!ct_take_args(ct, "to_linear_layout layout shape", a, v) ||
      !take_ints(ct, v[1], "shape", a->span, &rank, shape))
    return NULL;
  const CtValue *layout = ct_unwrap(v[0]);
  if (layout_class(layout) >= L_AUTO) return ct_wrong_type(ct, a, layout);
  const Layout *map = comptime_layout_map(ct, layout, shape, rank, &why);
  if (!map) return ct_fail(ct, a->span, "ValueError", "%s has no map here: %s", ct_repr(ct->ctx, layout), why);
  return comptime_layout_from_map(ct, map);
}

const CtFnRow ct_layout_functions[] = {{"gl.NVMMASharedLayout.get_default_for", nvmma_default, 0, CT_ANY},
                                       {"gl.PaddedSharedLayout.with_identity_for", padded_identity, 0, CT_ANY},
                                       {"gl.to_linear_layout", to_linear_layout, 0, CT_ANY},
                                       {NULL, NULL, 0, 0}};
