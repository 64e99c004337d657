// Gluon's tensor types: every tensor has the layout that its author wrote or that follows from an operand's.
//
// A layout has two faces. Its map on the tensor's shape is what the IR's types carry, and layouts compare by it. Its
// spelling, a compile-time value, says what it is on a tensor of another shape: an axis of size 1 that is repeated
// keeps the spelling, not the map. An inferred layout has no spelling; the map stands for it.
#include "frontend/lower/gluon.h"
#include "frontend/lower/term.h"

#include <string.h>

#include "ir/roles.h"

CtValue *lower_layout_of(Lower *L, const CtType *t) {
  if (!t->layout) return NULL;
  return t->spelled ? (CtValue *)t->spelled : comptime_layout_from_map(L->ct, t->layout);
}

const char *lower_layout_text(Lower *L, const CtType *t) {
  Buf b = buf_make(L->arena);
  if (!t->layout) return "no layout yet";
  if (t->spelled) buf_printf(&b, "%s, which is ", ct_repr(L->ctx, t->spelled));
  layout_print(&b, t->layout);
  return buf_str(&b);
}

const Layout *lower_layout_map(Lower *L, const CtValue *layout, const int64_t *shape, uint32_t rank, Span span) {
  const char *why = NULL;
  const Layout *map = comptime_layout_map(L->ct, layout, shape, rank, &why);
  const char *text = lower_shape_text(L, ct_type_block(L->ctx, lower_scalar(L, DT_INT32), shape, rank));
  if (!map) {
    lower_error(L, span, "%s does not fit a tensor of shape %s: %s", ct_repr(L->ctx, layout), text, why);
    return comptime_is_tma_layout(layout)
               ? lower_hint(L, "gl.NVMMASharedLayout.get_default_for(shape, dtype) makes one that fits")
               : NULL;
  }
  const uint32_t warps = 1u << map->num_bits[LAYOUT_WARP], ctas = 1u << map->num_bits[LAYOUT_BLOCK];
  const uint32_t have = block_num_warps(L->b.block);
  if (map->kind == LAYOUT_DISTRIBUTED && warps != have) {
    lower_error_once(L, span, "%s is for %u warps, and there are %u",
                     ct_repr(L->ctx, comptime_layout_root(L->ct, layout)), warps, have);
    if (L->b.block->parent && have != L->module->num_warps)
      return lower_hint(L, "make the product of its warps num_warps, which gl.num_warps() gives");
    return lower_hint(L, "make the product of its warps num_warps, which gl.num_warps() gives, or compile with "
                         "num_warps=%u", warps);
  }
  if (ctas != L->module->num_ctas && !comptime_is_mbarrier_layout(layout)) {
    lower_error_once(L, span, "%s is for %u block%s of a cluster, and num_ctas is %u",
                     ct_repr(L->ctx, comptime_layout_root(L->ct, layout)), ctas, ctas == 1 ? "" : "s",
                     L->module->num_ctas);
    return lower_hint(L, "cga_layout has a vector for each bit of a block's number: [[1, 0]] splits rows between two "
                         "blocks, and with [[0, 0]] both hold all");
  }
  if (ctas > 1 && !layout_block_part(L->ctx, map)) {
    lower_error(L, span, "%s does not give each block a part of the tensor, or all of it", ct_repr(L->ctx, layout));
    return lower_hint(L, "vectors of blocks step along one axis each, over what one block holds");
  }
  return map;
}

const CtType *lower_with_layout(Lower *L, const CtType *t, CtValue *layout, Span span) {
  if (comptime_is_auto_layout(layout) || comptime_is_coalesced_layout(layout))
    return t->kind == CT_TYPE_BLOCK ? ct_type_with_layout(L->ctx, t, NULL, NULL) : t;
  if (t->kind != CT_TYPE_BLOCK) return t;
  if (!comptime_is_layout(layout, LAYOUT_DISTRIBUTED)) {
    lower_error(L, span, "a tensor's layout is needed here, this is %s", ct_repr(L->ctx, layout));
    return comptime_is_layout(layout, LAYOUT_SHARED) ? lower_hint(L, "a shared layout is for allocate_shared_memory")
                                                     : NULL;
  }
  const Layout *map = lower_layout_map(L, layout, t->shape, t->rank, span);
  return map ? ct_type_with_layout(L->ctx, t, map, layout) : NULL;
}

const CtType *lower_inferred(Lower *L, const CtType *elem, const int64_t *shape, uint32_t rank, const Layout *map) {
  const CtType *t = lower_shaped(L, elem, shape, rank);
  return rank && map ? ct_type_with_layout(L->ctx, t, map, NULL) : t;
}

const CtType *lower_reduced(Lower *L, const CtType *t, const CtType *elem, uint32_t axis) {
  int64_t shape[CT_MAX_RANK] = {0};
  uint32_t n = 0;
  for (uint32_t i = 0; i < t->rank; i++)
    if (i != axis) shape[n++] = t->shape[i];
  const CtType *r = lower_shaped(L, elem, shape, n);
  if (!n || !t->layout) return r;
  return ct_type_with_layout(L->ctx, r, layout_make_slice(L->ctx, t->layout, axis),
                             comptime_layout_slice(L->ct, lower_layout_of(L, t), axis));
}

const CtType *lower_half(Lower *L, const CtType *t) {
  const uint32_t rank = t->rank - 1u;
  const Layout *half = t->layout ? layout_split(L->ctx, t->layout) : NULL;
  if (t->layout && !half) return NULL;
  const CtType *r = lower_inferred(L, ct_scalar_of(t), t->shape, rank, half);
  return half ? ct_type_with_layout(L->ctx, r, half, comptime_layout_slice(L->ct, lower_layout_of(L, t), rank)) : r;
}

Term *lower_convert(Lower *L, Term *x, const CtType *to) {
  if (term_t(x)->layout == to->layout) return term_value(L, term_v(x), to);
  if (!term_t(x)->layout && L->module->num_ctas > 1) {
    Value *part = lower_divide(L, term_v(x), to, L->b.span);
    return part ? term_value(L, part, to) : NULL;
  }
  return term_value(L, build_convert_layout(&L->b, term_v(x), lower_block_part(L, to)->layout), to);
}

Term *lower_joined(Lower *L, Term *pair, const CtType *half) {
  const CtType *t = term_t(pair);
  CtValue *parent = half->spelled ? comptime_layout_parent(L->ct, half->spelled, half->rank) : NULL;
  const char *why;
  const Layout *map = parent ? comptime_layout_map(L->ct, parent, t->shape, t->rank, &why) : NULL;
  if (!map || layout_split(L->ctx, map) != half->layout) return pair;
  return lower_convert(L, pair, ct_type_with_layout(L->ctx, t, map, parent));
}

Term *lower_expand_dims_laid_out(Lower *L, Term *x, int64_t axis, Span span) {
  const CtType *t = term_t(x);
  int64_t shape[CT_MAX_RANK];
  for (uint32_t i = 0, j = 0; i <= t->rank; i++) shape[i] = i == axis ? 1 : t->shape[j++];
  CtValue *parent = t->spelled ? comptime_layout_parent(L->ct, t->spelled, (uint32_t)axis) : NULL;
  if (t->spelled && !parent) {
    lower_error_once(L, span,
                     "an axis can only be added to a tensor whose layout is a SliceLayout of that dim, this has %s",
                     lower_layout_text(L, t));
    return lower_hint(L, "convert it first: gl.convert_layout(x, gl.SliceLayout(%lld, L)), L the result's layout",
                      (long long)axis);
  }
  const CtType *to = lower_inferred(L, ct_scalar_of(t), shape, t->rank + 1,
                                    t->layout ? layout_expand_dims(L->ctx, t->layout, (uint32_t)axis) : NULL);
  Value *v = term_v(x);
  Op *op = lower_new_op(L, OP_EXPAND_DIMS, to, &v, 1);
  op_set_int(L->ctx, op, ATTR_AXIS, axis);
  Term *r = term_of_op(L, op, to);
  if (!parent) return r;
  const Layout *map = lower_layout_map(L, parent, shape, t->rank + 1, span);
  return map ? lower_convert(L, r, ct_type_with_layout(L->ctx, to, map, parent)) : NULL;
}

// ---- operands of one layout ----
// x repeated along its axes of size 1, as a tensor of type `to`, whose layout is x's in that shape.
static Term *repeat(Lower *L, Term *x, const CtType *to) {
  const CtType *t = term_t(x);
  to = lower_with_elem(L, to, ct_scalar_of(t));
  if (!memcmp(t->shape, to->shape, t->rank * sizeof *t->shape)) return lower_convert(L, x, to);
  const Layout *from = to->layout;
  for (uint32_t i = 0; from && i < t->rank; i++)
    if (t->shape[i] != to->shape[i]) from = layout_project(L->ctx, from, i);
  if (!(x = lower_convert(L, x, ct_type_with_layout(L->ctx, t, from, NULL)))) return NULL;
  return term_value(L, build_broadcast(&L->b, term_v(x), lower_ir_type(L, to)), to);
}

// The layout that x has on the shape, as a type; NULL after a diagnostic.
static const CtType *layout_on(Lower *L, const Term *x, const int64_t *shape, uint32_t rank, Span span) {
  const CtType *t = term_t(x), *to = lower_shaped(L, ct_scalar_of(t), shape, rank);
  if (!t->layout) return to;
  if (!memcmp(t->shape, shape, rank * sizeof *shape)) return ct_type_with_layout(L->ctx, to, t->layout, t->spelled);
  CtValue *layout = lower_layout_of(L, t);
  const Layout *map = lower_layout_map(L, layout, shape, rank, span);
  return map ? ct_type_with_layout(L->ctx, to, map, layout) : NULL;
}

static void *layouts_differ(Lower *L, const Term *a, const Term *b, Span span) {
  lower_error(L, span, "the operands have different layouts");
  lower_hint(L, "one is %s with %s", term_describe(L, a), lower_layout_text(L, term_t(a)));
  lower_hint(L, "the other is %s with %s", term_describe(L, b), lower_layout_text(L, term_t(b)));
  return lower_hint(L, "bring one to the other's: gl.convert_layout(x, L)");
}

static bool ranks_differ(Lower *L, const CtType *a, const CtType *b, Span span) {
  lower_error(L, span, "shapes %s and %s have different ranks: Gluon adds no axes by itself", lower_shape_text(L, a),
              lower_shape_text(L, b));
  lower_hint(L, "add them with [:, None] or [None, :] to a tensor in a SliceLayout");
  return false;
}

Term *lower_repeat_laid_out(Lower *L, Term *x, const int64_t *shape, uint32_t rank, Span span) {
  if (term_t(x)->rank != rank) {
    ranks_differ(L, term_t(x), lower_shaped(L, ct_scalar_of(term_t(x)), shape, rank), span);
    return NULL;
  }
  const CtType *to = layout_on(L, x, shape, rank, span);
  return to ? repeat(L, x, to) : NULL;
}

bool lower_broadcast_laid_out(Lower *L, Term **a, Term **b, const int64_t *shape, Span span) {
  const CtType *ta = term_t(*a), *tb = term_t(*b);
  if (!ct_rank(ta) && !ct_rank(tb)) return true;
  if (!ct_rank(ta) || !ct_rank(tb)) {
    Term **scalar = ct_rank(ta) ? b : a;
    const CtType *to = lower_with_elem(L, ct_rank(ta) ? ta : tb, term_t(*scalar));
    *scalar = term_value(L, build_splat(&L->b, term_v(*scalar), lower_ir_type(L, to)), to);
    return true;
  }
  if (ta->rank != tb->rank) return ranks_differ(L, ta, tb, span);
  const CtType *la = layout_on(L, *a, shape, ta->rank, span), *lb = layout_on(L, *b, shape, ta->rank, span);
  if (!la || !lb) return false;
  if (la->layout && lb->layout && la->layout != lb->layout) return layouts_differ(L, *a, *b, span) != NULL;
  *a = repeat(L, *a, la->layout ? la : lb);
  *b = repeat(L, *b, la->layout ? la : lb);
  return *a && *b;
}

Term *lower_broadcast_like(Lower *L, Term *x, const CtType *like, Span span) {
  if (!x || !L->is_gluon) return lower_broadcast_to(L, x, like->shape, ct_rank(like), span);
  const CtType *t = term_t(x);
  if (!ct_rank(like)) return lower_broadcast_to(L, x, NULL, 0, span);
  if (!ct_rank(t)) {
    const CtType *to = lower_with_elem(L, like, t);
    return term_value(L, build_splat(&L->b, term_v(x), lower_ir_type(L, to)), to);
  }
  Term *r = lower_broadcast_to(L, x, like->shape, like->rank, span);
  if (!r || term_t(r)->layout == like->layout || !like->layout) return r;
  if (!term_t(r)->layout) return lower_convert(L, r, lower_with_elem(L, like, ct_scalar_of(t)));
  // The other operand is known by its type only.
  return layouts_differ(L, x, term_value(L, NULL, like), span);
}
