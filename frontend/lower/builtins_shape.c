// Builtins that make tensors and change their shape.
#include "frontend/lower/gluon.h"
#include "frontend/lower/hints.h"
#include "frontend/lower/term.h"
#include "frontend/lower/warnings.h"

#include <string.h>

Term *tl_program_id(Lower *L, Call *c) {
  int64_t axis;
  if (!arg_int(L, c, 0, &axis)) return NULL;
  if (axis < 0 || axis > 2) {
    arg_error(L, c, 0, "axis of `%s` must be 0, 1 or 2, not %lld", c->row->name, (long long)axis);
    return lower_hint(L, "a grid has three axes: put two into one, and take them apart by // and %%");
  }
  Op *op = build_op(&L->b, (Opcode)c->row->data, NULL, 0);
  op_set_int(L->ctx, op, ATTR_AXIS, axis);
  return term_of_op(L, op, lower_scalar(L, DT_INT32));
}

// Says how the bounds of an arange were computed.
static void note_bounds(Lower *L, const Call *c, int64_t start, int64_t end) {
  const NodeList *args = c->node && c->node->kind == NODE_CALL ? &c->node->call.args : NULL;
  if (!args || args->count < 2) return;
  lower_note_computed(L, args->data[0], start);
  lower_note_computed(L, args->data[1], end);
}

Term *tl_arange(Lower *L, Call *c) {
  int64_t start, end;
  if (!arg_int(L, c, 0, &start) || !arg_int(L, c, 1, &end)) return NULL;
  if (start < INT32_MIN || end > INT32_MAX) {
    builtin_error(L, c, "the bounds of arange must fit int32");
    return lower_hint(L, "add the start in 64 bits: start + tl.arange(0, N).to(tl.int64)");
  }
  if (end <= start) {
    builtin_error(L, c, "arange(%lld, %lld) is empty: its end must be above its start", (long long)start,
                  (long long)end);
    note_bounds(L, c, start, end);
    return lower_hint(L, "arange(0, N) counts from 0 to N - 1");
  }
  int64_t n = end - start;
  if (!is_pow2_u64((uint64_t)n)) {
    builtin_error(L, c, "arange of %lld elements: the length must be a power of two", (long long)n);
    note_bounds(L, c, start, end);
    int64_t p = 1;
    while (p < n) p *= 2;
    if (n < MAX_TENSOR_NUMEL)
      lower_hint(L, "use %lld elements and mask off what is beyond %lld", (long long)p, (long long)n);
    return NULL;
  }
  if (!lower_check_shape(L, &n, 1, c->span)) return NULL;
  const CtType *t = arg_block(L, c, lower_scalar(L, DT_INT32), &n, 1);
  if (!t) return NULL;
  Op *op = lower_new_op(L, OP_RANGE, t, NULL, 0);
  op_set_int(L->ctx, op, ATTR_START, start);
  op_set_int(L->ctx, op, ATTR_END, start + lower_block_part(L, t)->shape[0]);
  Value *first = lower_block_start(L, t, 0), *i = op_result(op, 0);
  return term_value(L, first ? build_binary(&L->b, OP_ADDI, i, build_splat(&L->b, first, i->type)) : i, t);
}

static bool shape_arg(Lower *L, Call *c, uint32_t i, int64_t *shape, uint32_t *rank) {
  return arg_ints(L, c, i, shape, CT_MAX_RANK, rank) && lower_check_shape(L, shape, *rank, c->spans[i]);
}

Term *tl_full(Lower *L, Call *c) {
  int64_t shape[CT_MAX_RANK];
  uint32_t rank;
  const CtType *dtype;
  if (!shape_arg(L, c, 0, shape, &rank) || !arg_dtype(L, c, 2, &dtype)) return NULL;
  if (!lower_check_fp8(L, dtype, c->spans[2])) return NULL;
  dtype = ct_scalar_of(dtype);
  const CtType *t = arg_block(L, c, dtype, shape, rank);
  if (!t) return NULL;
  Term *v = c->args[1];
  if (term_is_const(v) && !ct_is_ptr(dtype)) {
    // The constant is converted to the type at once, not by way of int32 or fp32.
    CtValue *k = v->ct;
    if (k->kind == CT_BOOL || k->kind == CT_INT) {
      int64_t i = k->kind == CT_BOOL ? k->b : (int64_t)(uint64_t)k->i;
      if (ct_is_bool(dtype)) i = i != 0;
      return term_full(L, t, k->kind == CT_BOOL ? (double)k->b : (double)k->i, i);
    }
    if (k->kind == CT_FLOAT && ct_is_float(dtype)) return term_full(L, t, k->f, 0);
  }
  v = arg_value(L, c, 1);
  if (!v) return NULL;
  if (ct_rank(term_t(v))) {
    arg_error(L, c, 1, "the value of `full` must be a scalar, not %s", term_describe(L, v));
    return lower_hint(L, "repeat a tensor along axes of size 1 by tl.broadcast_to(x, shape)");
  }
  v = lower_cast(L, v, dtype, c->span);
  return v && rank ? term_value(L, build_splat(&L->b, term_v(v), lower_ir_type(L, t)), t) : v;
}

Term *tl_zeros(Lower *L, Call *c) {
  int64_t shape[CT_MAX_RANK];
  uint32_t rank;
  const CtType *dtype;
  if (!shape_arg(L, c, 0, shape, &rank) || !arg_dtype(L, c, 1, &dtype)) return NULL;
  if (!lower_check_fp8(L, dtype, c->spans[1])) return NULL;
  const CtType *t = arg_block(L, c, ct_scalar_of(dtype), shape, rank);
  return t ? term_full(L, t, 0, 0) : NULL;
}

Term *tl_zeros_like(Lower *L, Call *c) {
  Term *x = arg_value(L, c, 0);
  return x ? term_full(L, term_t(x), 0, 0) : NULL;
}

// "rtz" is offered where it exists; where it does not, lower_cast_rounded says more.
static uint32_t num_roundings(const Call *c, const CtType *to) {
  const char *given;
  const Term *x = c->args[0];
  const bool offers = x->kind != TERM_VALUE || lower_has_rtz(ct_scalar_of(term_t(x)), ct_scalar_of(to));
  return offers || (term_get_str(c->args[2], &given) && !strcmp(given, "rtz")) ? 3 : 2;
}

Term *tl_cast_to(Lower *L, Call *c) {
  const CtType *to;
  bool bitcast;
  static const char *const roundings[] = {"", "rtne", "rtz"};
  int rounding;
  if (!arg_dtype(L, c, 1, &to) || !arg_choice(L, c, 2, roundings, num_roundings(c, to), &rounding) ||
      !arg_bool(L, c, 3, &bitcast))
    return NULL;
  to = ct_scalar_of(to);
  if (c->args[0]->kind == TERM_TUPLE) return arg_error(L, c, 0, "a tuple cannot be cast");
  Term *x = c->args[0];
  CtValue *k = term_to_ct(L, x);
  if (k && !bitcast && !ct_is_ptr(to) && (k->kind == CT_INT || k->kind == CT_BOOL) && ct_is_int(to) && !ct_is_bool(to))
    return term_full(L, to, 0, k->kind == CT_BOOL ? k->b : (int64_t)(uint64_t)k->i);
  if (!(x = arg_value(L, c, 0))) return NULL;
  if (!bitcast) lower_warn_difference(L, c, x, to);
  if (!bitcast) lower_warn_widened_product(L, x, to, c->span);
  return bitcast ? lower_bitcast(L, x, to, c->span) : lower_cast_rounded(L, x, to, (Downcast)rounding, c->span);
}

Term *tl_to_tensor(Lower *L, Call *c) { return arg_value(L, c, 0); }

Term *tl_constexpr(Lower *L, Call *c) {
  Term *t = term_recall(L, c->args[0]);
  if (t->kind != TERM_VALUE || lower_in_prelude(L, c->span)) return t;
  Term *v = arena_new(L->arena, Term);   // as in Triton, a run-time value stays one: what needs a constant reports it
  *v = *t;
  v->value.declared = c->span;
  return v;
}

Term *tl_broadcast_pair(Lower *L, Call *c) {
  Term *p[2] = {arg_value(L, c, 0), arg_value(L, c, 1)};
  if (!p[0] || !p[1] || !lower_broadcast_pair(L, &p[0], &p[1], c->span)) return NULL;
  return term_tuple(L, p, 2, NULL);
}

Term *tl_broadcast_to(Lower *L, Call *c) {
  int64_t shape[CT_MAX_RANK];
  uint32_t rank;
  Term *x = arg_value(L, c, 0);
  if (!x || !shape_arg(L, c, 1, shape, &rank)) return NULL;
  if (ct_rank(term_t(x)) && ct_rank(term_t(x)) != rank)
    return builtin_error(L, c, "broadcast_to keeps the rank: %s to rank %u; use expand_dims or [:, None] first",
                         term_describe(L, x), rank);
  return lower_broadcast_to(L, x, shape, rank, c->span);
}

// ---- single steps, which other files use as well ----
Term *lower_expand_dims(Lower *L, Term *x, int64_t axis) {
  const CtType *t = term_t(x);
  int64_t shape[CT_MAX_RANK];
  uint32_t rank = ct_rank(t);
  if (rank && L->is_gluon) return lower_expand_dims_laid_out(L, x, axis, L->b.span);
  for (uint32_t i = 0, j = 0; i <= rank; i++) shape[i] = i == axis ? 1 : t->shape[j++];
  const CtType *to = lower_shaped(L, ct_scalar_of(t), shape, rank + 1);
  if (rank == 0) return term_value(L, build_splat(&L->b, term_v(x), lower_ir_type(L, to)), to);
  Value *v = term_v(x);
  Op *op = lower_new_op(L, OP_EXPAND_DIMS, to, &v, 1);
  op_set_int(L->ctx, op, ATTR_AXIS, axis);
  return term_of_op(L, op, to);
}

Term *lower_reshape(Lower *L, Term *x, const int64_t *shape, uint32_t rank, bool reorder) {
  const Layout *from = term_t(x)->layout;
  const CtType *to = lower_inferred(L, ct_scalar_of(term_t(x)), shape, rank,
                                    from && rank ? layout_reshape(L->ctx, from, rank, shape) : NULL);
  if (ct_type_equal(to, term_t(x))) return x;
  if (ct_rank(term_t(x)) == 0) return term_value(L, build_splat(&L->b, term_v(x), lower_ir_type(L, to)), to);
  Value *v = term_v(x);
  Op *op = lower_new_op(L, OP_RESHAPE, to, &v, 1);
  if (reorder && !from) op_set_int(L->ctx, op, ATTR_REORDER, 1);
  return term_of_op(L, op, to);
}

Term *lower_trans(Lower *L, Term *x, const int64_t *order) {
  const CtType *t = term_t(x);
  int64_t shape[CT_MAX_RANK];
  bool same = true;
  for (uint32_t i = 0; i < ct_rank(t); i++) {
    shape[i] = t->shape[order[i]];
    same &= order[i] == i;
  }
  if (same) return x;
  const CtType *to = lower_inferred(L, ct_scalar_of(t), shape, ct_rank(t),
                                    t->layout ? layout_transpose(L->ctx, t->layout, order) : NULL);
  Value *v = term_v(x);
  Op *op = lower_new_op(L, OP_TRANS, to, &v, 1);
  op_set_ints(L->ctx, op, ATTR_ORDER, order, ct_rank(t));
  return term_of_op(L, op, to);
}

// ---- shape calls ----
Term *tl_expand_dims(Lower *L, Call *c) {
  Term *x = arg_value(L, c, 0);
  int64_t axes[CT_MAX_RANK];
  uint32_t n;
  if (!x || !arg_ints(L, c, 1, axes, CT_MAX_RANK, &n)) return NULL;
  int64_t rank = ct_rank(term_t(x)) + n;
  if (rank > MAX_RANK)
    return builtin_error(L, c, "a tensor has at most %d axes, not %lld", MAX_RANK, (long long)rank);
  bool is_new[CT_MAX_RANK] = {0};
  for (uint32_t i = 0; i < n; i++) {
    int64_t a = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (a < 0 || a >= rank)
      return arg_error(L, c, 1, "axis %lld is outside a result of rank %lld", (long long)axes[i], (long long)rank),
             lower_hint_axes(L, rank);
    if (is_new[a]) return arg_error(L, c, 1, "axis %lld is given twice", (long long)axes[i]);
    is_new[a] = true;
  }
  for (int64_t a = 0; a < rank; a++)
    if (is_new[a]) x = lower_expand_dims(L, x, a);
  return x;
}

Term *tl_squeeze(Lower *L, Call *c) {
  Term *x = arg_value(L, c, 0);
  int64_t axis, shape[CT_MAX_RANK];
  if (!x || !arg_axis(L, c, 1, ct_rank(term_t(x)), &axis)) return NULL;
  const CtType *t = term_t(x);
  if (t->shape[axis] != 1) {
    arg_error(L, c, 1, "axis %lld of %s is not of size 1", (long long)axis, term_describe(L, x));
    for (uint32_t i = 0; i < t->rank; i++)
      if (t->shape[i] == 1) return lower_hint(L, "axis %u is", i);
    return lower_hint(L, "tl.sum, tl.max and tl.min reduce an axis; tl.reshape merges axes");
  }
  uint32_t n = 0;
  for (uint32_t i = 0; i < t->rank; i++)
    if (i != axis) shape[n++] = t->shape[i];
  return lower_reshape(L, x, shape, n, false);
}

Term *tl_reshape_to(Lower *L, Call *c) {
  Term *x = arg_value(L, c, 0);
  int64_t shape[CT_MAX_RANK], numel = 1;
  uint32_t rank;
  bool reorder = c->row->data == 1;
  if (!x || !arg_ints(L, c, 1, shape, CT_MAX_RANK, &rank)) return NULL;
  if (!reorder && !arg_bool(L, c, 2, &reorder)) return NULL;
  int64_t others = 1;
  for (uint32_t i = 0; i < rank; i++) {
    if (__builtin_mul_overflow(numel, shape[i], &numel)) numel = INT64_MAX;
    if (shape[i] > 0 && __builtin_mul_overflow(others, shape[i], &others)) others = INT64_MAX;
  }
  if (numel != ct_numel(term_t(x))) {
    builtin_error(L, c, "cannot reshape %s (%lld elements) to %s (%lld elements)", lower_shape_text(L, term_t(x)),
                  (long long)ct_numel(term_t(x)),
                  lower_shape_text(L, lower_shaped(L, lower_scalar(L, DT_INT32), shape, rank)), (long long)numel);
    if (numel < 0 && ct_numel(term_t(x)) % others == 0)
      return lower_hint(L, "-1 stands for nothing here: write %lld", (long long)(ct_numel(term_t(x)) / others));
    lower_note_shape(L, x, c->span);
    return lower_hint(L, "a reshape keeps the number of elements; tl.broadcast_to repeats them");
  }
  if (!lower_check_shape(L, shape, rank, c->spans[1])) return NULL;
  return lower_reshape(L, x, shape, rank, reorder);
}

bool lower_is_permutation(const int64_t *axes, uint32_t n, uint32_t rank) {
  uint32_t named = 0;
  for (uint32_t i = 0; i < n; i++)
    if (axes[i] >= 0 && axes[i] < rank) named |= 1u << axes[i];
  return n == rank && named == (1u << rank) - 1;
}

Term *tl_trans_to(Lower *L, Call *c) {
  Term *x = arg_value(L, c, 0);
  int64_t order[CT_MAX_RANK];
  uint32_t n;
  if (!x || !arg_ints(L, c, 1, order, CT_MAX_RANK, &n)) return NULL;
  uint32_t rank = ct_rank(term_t(x));
  if (n == 0 && c->row->data == 0) {
    if (rank < 2) {
      builtin_error(L, c, "`trans` without dims swaps the last two axes, this is %s", term_describe(L, x));
      return lower_hint(L, "make a vector a column with x[:, None] or a row with x[None, :]");
    }
    n = rank;
    for (uint32_t i = 0; i < rank; i++) order[i] = i;
    order[rank - 1] = rank - 2;
    order[rank - 2] = rank - 1;
  }
  for (uint32_t i = 0; i < n; i++)
    if (order[i] < 0) order[i] += rank;
  if (!lower_is_permutation(order, n, rank))
    return arg_error(L, c, 1, "dims of `%s` must name each of the %u axes of %s once", c->row->name, rank,
                       term_describe(L, x));
  if (c->row->data == 0 && n == 2 && order[0] == 0) lower_warn_trans(L, c);
  return lower_trans(L, x, order);
}

// Casts b to a's type if both are integers of one width, which may differ in signedness.
static Term *like_first(Lower *L, Term *a, Term *b, Span span) {
  const CtType *ta = ct_scalar_of(term_t(a)), *tb = ct_scalar_of(term_t(b));
  return ct_is_int(ta) && ct_is_int(tb) && ct_bits(ta) == ct_bits(tb) ? lower_bitcast(L, b, ta, span) : b;
}

Term *tl_join(Lower *L, Call *c) {
  Term *a = arg_value(L, c, 0), *b = arg_value(L, c, 1);
  if (!a || !b) return NULL;
  b = like_first(L, a, b, c->span);
  if (!ct_type_equal(ct_scalar_of(term_t(a)), ct_scalar_of(term_t(b)))) {
    builtin_error(L, c, "`join` needs one element type, got %s and %s", term_describe(L, a), term_describe(L, b));
    const bool one_is_address = ct_is_ptr(term_t(a)) != ct_is_ptr(term_t(b));
    return lower_hint(L, one_is_address ? "load what the pointer points to: tl.load(pointer)"
                                        : "convert one with .to(…)");
  }
  if (!lower_broadcast_pair(L, &a, &b, c->span)) return NULL;
  const CtType *t = term_t(a);
  uint32_t rank = ct_rank(t);
  if (rank >= MAX_RANK)
    return builtin_error(L, c, "`join` of tensors of rank %u adds an axis, and a tensor has at most %d", rank,
                         MAX_RANK);
  bool was_scalar = rank == 0;
  if (was_scalar) {
    int64_t one = 1;
    a = lower_broadcast_to(L, a, &one, 1, c->span);
    b = lower_broadcast_to(L, b, &one, 1, c->span);
    t = term_t(a);
    rank = 1;
  }
  int64_t shape[CT_MAX_RANK];
  for (uint32_t i = 0; i < rank; i++) shape[i] = t->shape[i];
  shape[rank] = 2;
  const CtType *to = lower_inferred(L, ct_scalar_of(t), shape, rank + 1,
                                    t->layout ? layout_join(L->ctx, t->layout) : NULL);
  Value *v[2] = {term_v(a), term_v(b)};
  Term *r = lower_joined(L, term_of_op(L, lower_new_op(L, OP_JOIN, to, v, 2), to), t);
  int64_t two = 2;
  return was_scalar ? lower_reshape(L, r, &two, 1, false) : r;
}

Term *tl_split(Lower *L, Call *c) {
  Term *x = arg_value(L, c, 0);
  if (!x) return NULL;
  uint32_t rank = ct_rank(term_t(x));
  if (rank == 0 || term_t(x)->shape[rank - 1] != 2) {
    builtin_error(L, c, "`split` needs a last axis of size 2, this is %s", term_describe(L, x));
    if (rank == 0 || term_t(x)->shape[rank - 1] == 1) return NULL;
    Buf shape = buf_make(L->arena);
    for (uint32_t i = 0; i < rank; i++)
      buf_printf(&shape, "%lld, ", (long long)(i + 1 < rank ? term_t(x)->shape[i] : term_t(x)->shape[i] / 2));
    return lower_hint(L, "pair neighbours: tl.split(tl.reshape(%s, [%s2]))",
                      lower_source_text_or(L, c->spans[0], "x"), buf_str(&shape));
  }
  bool to_scalar = rank == 1;
  if (to_scalar) {   // [2] → two tensors [1] → two scalars
    const int64_t shape[2] = {1, 2};
    x = lower_reshape(L, x, shape, 2, false);
  }
  const CtType *to = lower_half(L, term_t(x));
  if (!to) {
    builtin_error(L, c, "the two elements of `split` are not in one thread: the layout is %s",
                  lower_layout_text(L, term_t(x)));
    return lower_hint(L, "bring it to one in which the last axis is in registers: gl.convert_layout(x, L)");
  }
  const Type *types[2] = {lower_ir_type(L, to), lower_ir_type(L, to)};
  Value *v = term_v(x);
  Op *op = build_op_typed(&L->b, OP_SPLIT, types, 2, &v, 1);
  Term *halves[2];
  for (uint32_t i = 0; i < 2; i++) {
    halves[i] = term_value(L, op_result(op, i), to);
    if (to_scalar) halves[i] = lower_reshape(L, halves[i], NULL, 0, false);
  }
  return term_tuple(L, halves, 2, NULL);
}

// Two tensors one after the other along `axis`. Other than along axis 0 they are joined, and the new axis is moved
// before `axis` and merged with it.
Term *tl_cat(Lower *L, Call *c) {
  Term *a = arg_value(L, c, 0), *b = arg_value(L, c, 1);
  bool reorder;
  int64_t axis;
  if (!a || !b) return NULL;
  if (c->given[2] && term_is_tensor(c->args[2])) {
    arg_error(L, c, 2, "`cat` takes two tensors, and this is a third");
    return lower_hint(L, "put pairs together: tl.cat(tl.cat(a, b), tl.cat(c, d))");
  }
  if (!arg_bool(L, c, 2, &reorder)) return NULL;
  b = like_first(L, a, b, c->span);
  const CtType *ta = term_t(a);
  if (!ct_rank(ta) || !ct_type_equal(ta, term_t(b))) {
    builtin_error(L, c, "`cat` needs two tensors of one type and shape, got %s and %s", term_describe(L, a),
                  term_describe(L, b));
    const bool same_elem = ct_type_equal(ct_scalar_of(ta), ct_scalar_of(term_t(b)));
    return lower_hint(L, "%s", !ct_rank(ta) || !ct_rank(term_t(b)) ? "tl.join makes a tensor of two scalars"
                      : same_elem ? "an axis is a power of two, which sizes that differ do not add up to: load both "
                                    "parts with masks, or store each by itself"
                                  : "convert one with .to(…)");
  }
  if (!arg_axis(L, c, 3, ta->rank, &axis)) return NULL;
  int64_t shape[CT_MAX_RANK];
  memcpy(shape, ta->shape, sizeof shape);
  shape[axis] *= 2;
  if (!lower_check_shape(L, shape, ta->rank, c->span)) return NULL;
  const CtType *to = lower_shaped(L, ct_scalar_of(ta), shape, ta->rank);
  if (axis == 0) {
    Value *v[2] = {term_v(a), term_v(b)};
    Op *op = lower_new_op(L, OP_CAT, to, v, 2);
    if (reorder) op_set_int(L->ctx, op, ATTR_REORDER, 1);
    return term_of_op(L, op, to);
  }
  if (ta->rank >= MAX_RANK)
    return builtin_error(L, c, "`cat` along axis %lld of a tensor of rank %u is not supported", (long long)axis,
                         ta->rank);
  int64_t joined[CT_MAX_RANK], order[CT_MAX_RANK];
  memcpy(joined, ta->shape, sizeof joined);
  joined[ta->rank] = 2;
  const CtType *jt = lower_shaped(L, ct_scalar_of(ta), joined, ta->rank + 1);
  Value *v[2] = {term_v(a), term_v(b)};
  Term *j = term_of_op(L, lower_new_op(L, OP_JOIN, jt, v, 2), jt);
  for (uint32_t i = 0; i <= ta->rank; i++) order[i] = i < axis ? i : i == axis ? ta->rank : i - 1;
  return lower_reshape(L, lower_trans(L, j, order), shape, ta->rank, false);
}

Term *tl_item(Lower *L, Call *c) {
  Term *x = arg_value(L, c, 0);
  if (!x) return NULL;
  if (ct_numel(term_t(x)) != 1) {
    builtin_error(L, c, "`item` needs a tensor of one element, this is %s", term_describe(L, x));
    return lower_hint(L, "load the one element, or reduce the tensor: tl.sum(x), tl.max(x)");
  }
  return lower_reshape(L, x, NULL, 0, false);
}

// As in Triton, a hint is about its argument: every variable that holds that value has the hint from here on, whether
// the call's result is used or not.
static Term *mark(Lower *L, const Term *x, Term *marked) {
  Scope *s = &L->frame->scope;
  marked->value.known = x->value.known;
  for (uint32_t i = 0; i < s->count; i++)
    if (s->vars[i].term == x) s->vars[i].term = marked;
  return marked;
}

Term *tl_hint(Lower *L, Call *c) {
  Term *x = arg_value(L, c, 0);
  int64_t values[CT_MAX_RANK];
  uint32_t n;
  if (!x || !arg_ints(L, c, 1, values, CT_MAX_RANK, &n)) return NULL;
  uint32_t rank = ct_rank(term_t(x));
  if (n != (rank ? rank : 1))
    return builtin_error(L, c, "`%s` takes one value per axis: %s, %u value%s", c->row->name, term_describe(L, x), n,
                         n == 1 ? "" : "s");
  for (uint32_t i = 0; i < n; i++)
    if (values[i] < 1)
      return arg_error(L, c, 1, "`%s` takes positive numbers, not %lld", c->row->name, (long long)values[i]);
  Value *v = term_v(x);
  const Type *type = v->type;
  Op *op = build_op_typed(&L->b, OP_HINT, &type, 1, &v, 1);
  op_set_ints(L->ctx, op, (AttrKey)c->row->data, values, n);
  return mark(L, x, term_of_op(L, op, term_t(x)));
}

Term *tl_no_effect(Lower *L, Call *c) {
  (void)c;
  return term_none(L);
}

Term *tl_assume(Lower *L, Call *c) {
  Term *x = c->args[0];
  int known;
  Value *v;
  if (term_is_tensor(x) && ct_numel(term_t(x)) != 1) {
    arg_error(L, c, 0, "`assume` takes a condition on numbers, not %s", term_describe(L, x));
    return lower_hint(L, "of a tile tl.multiple_of, tl.max_contiguous and tl.max_constancy tell the compiler more; "
                         "tl.device_assert checks it");
  }
  if (!lower_condition(L, x, c->spans[0], "`assume`", &known, &v)) return NULL;
  if (known < 0) build_op(&L->b, OP_ASSUME, &v, 1);
  return term_none(L);
}
