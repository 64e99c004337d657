// Reductions, scans and functions of elements: a jit function on scalars is lowered into the op's block.
#include "frontend/lower/gluon.h"
#include "frontend/lower/hints.h"
#include "frontend/lower/term.h"
#include "frontend/lower/warnings.h"

#include <string.h>

typedef struct { Term **items; uint32_t count; bool is_tuple; } Inputs;

// One tensor or a tuple of them, broadcast to one shape.
static bool tensor_inputs(Lower *L, Call *c, uint32_t i, Inputs *in) {
  Term *x = c->args[i];
  in->is_tuple = x->kind == TERM_TUPLE;
  in->count = in->is_tuple ? x->tuple.count : 1;
  in->items = arena_array(L->arena, Term *, in->count + 1);
  if (!in->count) return arg_error(L, c, i, "an empty tuple cannot be combined") != NULL;
  for (uint32_t k = 0; k < in->count; k++) {
    in->items[k] = term_to_value(L, in->is_tuple ? x->tuple.items[k] : x, c->spans[i], "the operand");
    if (!in->items[k]) return false;
    if (!ct_is_ptr(term_t(in->items[k]))) continue;
    arg_error(L, c, i, "`%s` works on numbers, not on %s", arg_function(L, c), term_describe(L, in->items[k]));
    return lower_hint(L, "load the elements first: tl.load(…)") != NULL;
  }
  for (uint32_t k = 1; k < in->count; k++)
    if (!lower_broadcast_pair(L, &in->items[0], &in->items[k], c->spans[i])) return false;
  for (uint32_t k = 1; k < in->count; k++) {
    in->items[k] = lower_broadcast_like(L, in->items[k], term_t(in->items[0]), c->spans[i]);
    if (!in->items[k]) return false;
  }
  return true;
}

static Term *outputs(Lower *L, const Inputs *in, Term **items) {
  return in->is_tuple ? term_tuple(L, items, in->count, NULL) : items[0];
}

// tl.max and its like reduce a tensor themselves: they do not combine two elements.
static bool check_combines(Lower *L, Call *c, uint32_t i) {
  static const struct { const char *name, *combines; } reductions[] = {
    {"max", "tl.maximum"}, {"min", "tl.minimum"}, {"sum", "a function that returns a + b"},
    {"xor_sum", "a function that returns a ^ b"},
  };
  const Term *fn = c->args[i];
  if (!term_is_const(fn) || fn->ct->kind != CT_BUILTIN) return true;
  const char *dot = strrchr(fn->ct->builtin.name, '.'), *last = dot ? dot + 1 : fn->ct->builtin.name;
  for (size_t k = 0; k < countof(reductions); k++) {
    const char *name = reductions[k].name;
    if (strcmp(last, name) != 0) continue;
    arg_error(L, c, i, "tl.%s reduces a tensor; `%s` needs a function that combines two elements", name, c->row->name);
    lower_hint(L, "write tl.%s(x, axis), or give `%s` %s", name, c->row->name, reductions[k].combines);
    return false;
  }
  return true;
}

static Term *function_arg(Lower *L, Call *c, uint32_t i) {
  Term *fn = c->args[i];
  if (!check_combines(L, c, i)) return NULL;
  if (fn->kind == TERM_BOUND ||
      (term_is_const(fn) && (fn->ct->kind == CT_FUNCTION || fn->ct->kind == CT_BUILTIN || fn->ct->kind == CT_METHOD)))
    return fn;
  arg_error(L, c, i, "`%s` needs a function here, this is %s", c->row->name, term_describe(L, fn));
  return lower_hint(L, "define one on scalars with @triton.jit");
}

// Lowers fn into op's block, whose arguments are scalars of `types`, and yields what it gives, cast to `results`.
static bool lower_region(Lower *L, Call *c, Op *op, Term *fn, const CtType *const *types, uint32_t num_args,
                         const CtType *const *results, uint32_t num_results) {
  Builder saved = L->b;
  Block *block = op->blocks[0];
  Term **args = arena_array(L->arena, Term *, num_args + 1);
  for (uint32_t i = 0; i < num_args; i++)
    args[i] = term_value(L, block_add_arg(L->ctx, block, lower_ir_elem_type(L, types[i])), types[i]);
  lower_cursor_to_end(L, block);
  const CtFunction *called = term_is_const(fn) && fn->ct->kind == CT_FUNCTION ? fn->ct->fn : NULL;
  Term *r = lower_call_positional(L, fn, args, num_args, c->span);
  if (!r && called && called->num_params != num_args)
    lower_hint(L, "%s(…) takes %u scalars: the left element of each tensor, then the right ones", called->name,
               num_args);
  ValueList yields = {0};
  bool ok = r != NULL;
  if (ok) {
    Term **items = r->kind == TERM_TUPLE ? r->tuple.items : &r;
    uint32_t n = r->kind == TERM_TUPLE ? r->tuple.count : 1;
    if (n != num_results) {
      lower_error(L, c->span, "the function of `%s` gives %u values, %u are needed", c->row->name, n, num_results);
      ok = false;
    }
    for (uint32_t i = 0; ok && i < n; i++) {
      Term *v = term_to_value(L, items[i], c->span, "the result of the function");
      if (v && ct_rank(term_t(v))) {
        lower_error(L, c->span, "the function of `%s` must give scalars, not %s", c->row->name, term_describe(L, v));
        v = NULL;
      }
      if (v && results[i]) v = lower_cast(L, v, results[i], c->span);
      ok = v != NULL;
      if (ok) vec_push(L->arena, &yields, term_v(v));
    }
  }
  build_op(&L->b, OP_YIELD, yields.data, yields.count);
  Span span = saved.span;
  L->b = saved;
  L->b.span = span;
  return ok;
}

// Whether the user wrote the function: the language's own are associative.
static CtFunction *own_function(Lower *L, const Term *fn) {
  CtFunction *f = term_is_const(fn) && fn->ct->kind == CT_FUNCTION ? fn->ct->fn : NULL;
  return f && !lower_in_prelude(L, f->def->span) ? f : NULL;
}

static Op *combine_op(Lower *L, Call *c, Opcode oc, const Inputs *in, int64_t axis, Term *fn,
                      const Type *const *types) {
  if (in->count > MAX_COMBINED) {
    arg_error(L, c, 0, "`%s` of %u tensors at once: at most %d go together", c->row->name, in->count, MAX_COMBINED);
    return NULL;
  }
  Value **operands = arena_array(L->arena, Value *, in->count);
  const CtType **args = arena_array(L->arena, const CtType *, 2 * in->count);
  for (uint32_t i = 0; i < in->count; i++) {
    operands[i] = term_v(in->items[i]);
    args[i] = args[in->count + i] = ct_scalar_of(term_t(in->items[i]));
  }
  Op *op = build_op_typed(&L->b, oc, types, in->count, operands, in->count);
  op_set_int(L->ctx, op, ATTR_AXIS, axis);
  if (!lower_region(L, c, op, fn, args, 2 * in->count, args, in->count)) return NULL;
  const CtFunction *own = own_function(L, fn);
  if (own && !lower_in_prelude(L, c->span)) lower_warn_not_associative(L, op, own->name, c->span);
  return op;
}

Term *tl_reduce_call(Lower *L, Call *c) {
  Inputs in;
  bool keep_dims;
  Term *fn = function_arg(L, c, 2);
  if (!fn || !tensor_inputs(L, c, 0, &in) || !arg_bool(L, c, 3, &keep_dims)) return NULL;
  lower_warn_keep_dims(L, c, 3);
  if (term_is_const(fn) && fn->ct->kind == CT_FUNCTION) lower_warn_padded(L, fn->ct->fn, in.items[0]);
  if (term_is_const(fn) && fn->ct->kind == CT_FUNCTION) lower_warn_infinite(L, fn->ct->fn, in.items[0]);
  const CtType *t = term_t(in.items[0]);
  uint32_t rank = ct_rank(t);
  if (rank == 0) {
    arg_error(L, c, 0, "a scalar cannot be reduced: %s", term_describe(L, in.items[0]));
    return lower_hint_scalar(L, in.items[0], arg_function(L, c));
  }
  int64_t axis = 0;
  bool all = arg_is_none(c, 1);
  if (all) {
    int64_t numel = ct_numel(t);
    for (uint32_t i = 0; i < in.count; i++) in.items[i] = lower_reshape(L, in.items[i], &numel, 1, true);
  } else if (!arg_axis(L, c, 1, rank, &axis)) {
    if (term_get_int(c->args[1], &axis)) lower_note_shape(L, in.items[0], c->span);
    return NULL;
  }
  if (!lower_check_axis_in_block(L, c->span, "a reduction", term_t(in.items[0]), (uint32_t)axis)) return NULL;
  const Type **types = arena_array(L->arena, const Type *, in.count);
  const CtType **result = arena_array(L->arena, const CtType *, in.count);
  for (uint32_t i = 0; i < in.count; i++) {
    const CtType *operand = term_t(in.items[i]);
    result[i] = lower_reduced(L, operand, ct_scalar_of(operand), (uint32_t)axis);
    types[i] = lower_ir_type(L, result[i]);
  }
  Op *op = combine_op(L, c, OP_REDUCE, &in, axis, fn, types);
  if (!op) return NULL;
  Term **items = arena_array(L->arena, Term *, in.count);
  for (uint32_t i = 0; i < in.count; i++) {
    items[i] = term_value(L, op_result(op, i), result[i]);
    if (!keep_dims) continue;
    for (uint32_t k = 0; k < (all ? rank : 1); k++) items[i] = lower_expand_dims(L, items[i], all ? 0 : axis);
  }
  return outputs(L, &in, items);
}

Term *tl_scan_call(Lower *L, Call *c) {
  Inputs in;
  bool reverse;
  int64_t axis;
  Term *fn = function_arg(L, c, 2);
  if (!fn || !tensor_inputs(L, c, 0, &in) || !arg_bool(L, c, 3, &reverse)) return NULL;
  if (term_is_const(fn) && fn->ct->kind == CT_FUNCTION) lower_warn_infinite(L, fn->ct->fn, in.items[0]);
  if (!ct_rank(term_t(in.items[0]))) {
    arg_error(L, c, 0, "a scalar cannot be scanned: %s", term_describe(L, in.items[0]));
    return lower_hint_scalar(L, in.items[0], arg_function(L, c));
  }
  if (!arg_axis(L, c, 1, ct_rank(term_t(in.items[0])), &axis) ||
      !lower_check_axis_in_block(L, c->span, "a scan", term_t(in.items[0]), (uint32_t)axis))
    return NULL;
  const Type **types = arena_array(L->arena, const Type *, in.count);
  for (uint32_t i = 0; i < in.count; i++) types[i] = term_v(in.items[i])->type;
  Op *op = combine_op(L, c, OP_SCAN, &in, axis, fn, types);
  if (!op) return NULL;
  if (reverse) op_set_int(L->ctx, op, ATTR_REVERSE, 1);
  Term **items = arena_array(L->arena, Term *, in.count);
  for (uint32_t i = 0; i < in.count; i++) items[i] = term_value(L, op_result(op, i), term_t(in.items[i]));
  return outputs(L, &in, items);
}

Term *tl_histogram(Lower *L, Call *c) {
  Term *x = arg_value(L, c, 0), *mask = NULL;
  int64_t bins;
  if (!x || !arg_int(L, c, 1, &bins)) return NULL;
  if (ct_rank(term_t(x)) != 1 || !ct_is_int(term_t(x))) {
    arg_error(L, c, 0, "`histogram` counts a 1-D integer tensor, not %s", term_describe(L, x));
    if (!ct_rank(term_t(x))) return lower_hint_scalar(L, x, arg_function(L, c));
    return lower_hint(L, ct_rank(term_t(x)) == 1 ? "number the bins: x.to(tl.int32)" : "flatten it with tl.ravel(x)");
  }
  if (!lower_check_shape(L, &bins, 1, c->spans[1]) ||
      !lower_check_axis_in_block(L, c->span, "a histogram", term_t(x), 0))
    return NULL;
  if (!arg_is_none(c, 2)) {
    mask = arg_value(L, c, 2);
    if (!mask || !(mask = lower_broadcast_like(L, mask, term_t(x), c->spans[2]))) return NULL;
    if (!ct_is_bool(term_t(mask)))
      return arg_error(L, c, 2, "a mask must be int1, this is %s", term_describe(L, mask));
  }
  if (!mask)
    lower_warn_histogram(L, c->span, term_v(x), bins, lower_source_text_or(L, c->spans[0], "x"),
                         lower_source_text_or(L, c->spans[1], "bins"));
  if (ct_bits(term_t(x)) < 32) x = lower_cast_to(L, x, DT_INT32, c->span);
  const CtType *t = arg_block(L, c, lower_scalar(L, DT_INT32), &bins, 1);
  if (!t || !lower_check_axis_in_block(L, c->span, "a histogram", t, 0)) return NULL;
  Value *v[2] = {term_v(x), mask ? term_v(mask) : NULL};
  Op *op = lower_new_op(L, OP_HISTOGRAM, t, v, 2);
  op_set_int(L->ctx, op, ATTR_NUM_BINS, bins);
  return term_of_op(L, op, t);
}

// Whether x has the shape of s without the axis.
static bool lacks_axis(const CtType *s, const CtType *x, int64_t axis) {
  bool same = s->rank == x->rank + 1;
  for (uint32_t i = 0; same && i < x->rank; i++) same = x->shape[i] == s->shape[i < axis ? i : i + 1];
  return same;
}

// Of a vector of positions along the axis, all whose elements are wanted: "tl.broadcast_to(i[:, None], [16, 32])".
static const char *hint_positions(Lower *L, const CtType *s, const CtType *x, int64_t axis, const char *index) {
  Buf all = buf_make(L->arena), shape = buf_make(L->arena);
  for (uint32_t i = 0; i < s->rank; i++) {
    buf_printf(&all, "%s%s", i ? ", " : "", i == axis ? ":" : "None");
    buf_printf(&shape, "%s%lld", i ? ", " : "", (long long)(i == axis ? x->shape[0] : s->shape[i]));
  }
  return arena_printf(L->arena, "tl.broadcast_to(%s[%s], [%s])", index, buf_str(&all), buf_str(&shape));
}

// After ranks that differ: an index that lacks the axis along which one element is picked, or a vector of positions.
static Term *hint_gather(Lower *L, Call *c, const CtType *s, const CtType *x) {
  int64_t axis;
  if (ct_rank(s) && ct_rank(s) < ct_rank(x))
    return lower_hint(L, "to index a vector by a matrix, flatten the index, and give the result its shape: "
                      "tl.gather(x, tl.ravel(index), 0).reshape(%s)", lower_shape_text(L, x));
  if (!ct_rank(s)) return lower_hint(L, "gather from a tensor: tl.load(p + tl.arange(0, …))");
  if (ct_rank(s) == ct_rank(x) || !ct_rank(x) || !arg_axis(L, c, 2, s->rank, &axis)) return NULL;
  const char *src = lower_source_text_or(L, c->spans[0], "x"), *index = lower_source_text_or(L, c->spans[1], "index");
  if (!lacks_axis(s, x, axis))
    return x->rank > 1 ? NULL
                       : lower_hint(L, "for all elements at these positions of the axis: tl.gather(%s, %s, axis=%lld)",
                                    src, hint_positions(L, s, x, axis, index), (long long)axis);
  return lower_hint(L, "for one element along the axis: tl.gather(%s, tl.expand_dims(%s, %lld), axis=%lld).reshape(%s)",
                    src, index, (long long)axis, (long long)axis, lower_shape_text(L, x));
}

Term *tl_gather(Lower *L, Call *c) {
  Term *src = arg_value(L, c, 0), *index = arg_value(L, c, 1);
  int64_t axis;
  if (!src || !index) return NULL;
  const CtType *s = term_t(src), *x = term_t(index);
  if (!ct_is_int(x)) {
    arg_error(L, c, 1, "an index must be an integer tensor, not %s", term_describe(L, index));
    return ct_is_ptr(x) ? lower_hint(L, "load the indices first: tl.load(…)")
                        : lower_hint(L, "convert it with .to(tl.int32)");
  }
  if (!ct_rank(s) || ct_rank(s) != ct_rank(x)) {
    builtin_error(L, c, "`gather` needs tensors of one rank, got %s and %s", term_describe(L, src),
                  term_describe(L, index));
    return hint_gather(L, c, s, x);
  }
  if (!arg_axis(L, c, 2, s->rank, &axis)) return NULL;
  for (uint32_t i = 0; i < s->rank; i++)
    if (i != axis && s->shape[i] != x->shape[i])
      return builtin_error(L, c, "shapes %s and %s of `gather` may differ along axis %lld only", lower_shape_text(L, s),
                           lower_shape_text(L, x), (long long)axis);
  if (!lower_check_same_blocks(L, c->span, "this gather", s, x, axis)) return NULL;
  if (ct_bits(x) < 32) index = lower_cast_to(L, index, DT_INT32, c->span);
  const CtType *t = lower_with_elem(L, x, ct_scalar_of(s));
  Value *v[2] = {term_v(src), term_v(index)};
  Op *op = lower_new_op(L, OP_GATHER, t, v, 2);
  op_set_int(L->ctx, op, ATTR_AXIS, axis);
  return term_of_op(L, op, t);
}

// What the function gave for `pack` elements, as values to yield, and a type for each of its results.
static bool map_results(Lower *L, Call *c, Term *r, const CtType *shape, int64_t pack, const CtType **results,
                        ValueList *yields) {
  Term **items = r->kind == TERM_TUPLE ? r->tuple.items : &r;
  uint32_t count = r->kind == TERM_TUPLE ? r->tuple.count : 1;
  if (!count || count % pack)
    return builtin_error(L, c, "the function gives %u values, not a multiple of pack = %lld", count,
                         (long long)pack) != NULL;
  for (uint32_t i = 0; i < count; i++) {
    Term *v = term_to_value(L, items[i], c->span, "the result of the function");
    if (v && i % pack) v = lower_cast(L, v, ct_scalar_of(results[i / pack]), c->span);
    if (!v) return false;
    if (ct_rank(term_t(v)))
      return builtin_error(L, c, "the function of `map_elementwise` must give scalars, not %s",
                           term_describe(L, v)) != NULL;
    if (i % pack == 0) results[i / pack] = lower_with_elem(L, shape, term_t(v));
    vec_push(L->arena, yields, term_v(v));
  }
  return true;
}

// Calls fn on the scalars of each element, or of `pack` elements at a time: its arguments are a0 … a(pack−1), b0 …, and
// its results are ordered likewise.
Term *tl_map(Lower *L, Call *c) {
  Inputs in;
  int64_t pack;
  Term *fn = function_arg(L, c, 0);
  if (!fn || !tensor_inputs(L, c, 1, &in) || !arg_int(L, c, 2, &pack)) return NULL;
  const CtType *shape = term_t(in.items[0]);
  if (pack < 1 || pack > 64 || !is_pow2_u64((uint64_t)pack) || pack > ct_numel(shape))
    return arg_error(L, c, 2, "`pack` must be a power of two of at most the number of elements");
  if (!ct_rank(shape)) return lower_call_positional(L, fn, in.items, in.count, c->span);
  uint32_t n = in.count * (uint32_t)pack;
  Value **operands = arena_array(L->arena, Value *, in.count);
  const CtType **args = arena_array(L->arena, const CtType *, n);
  for (uint32_t i = 0; i < in.count; i++) operands[i] = term_v(in.items[i]);
  for (uint32_t i = 0; i < n; i++) args[i] = ct_scalar_of(term_t(in.items[i / pack]));
  // The function's results give the types, so it is lowered into a shell, which is then replaced by the op with
  // results.
  Op *shell = lower_new_shell(L, OP_MAP, operands, in.count, 1);
  op_set_int(L->ctx, shell, ATTR_PACK, pack);
  Builder saved = L->b;
  Term **params = arena_array(L->arena, Term *, n);
  for (uint32_t i = 0; i < n; i++)
    params[i] = term_value(L, block_add_arg(L->ctx, shell->blocks[0], lower_ir_elem_type(L, args[i])), args[i]);
  lower_cursor_to_end(L, shell->blocks[0]);
  Term *r = lower_call_positional(L, fn, params, n, c->span);
  if (!r) {
    L->b = saved;
    return NULL;
  }
  uint32_t count = r->kind == TERM_TUPLE ? r->tuple.count : 1, num_results = count / (uint32_t)pack;
  ValueList yields = {0};
  const CtType **results = arena_array(L->arena, const CtType *, count + 1);
  bool ok = map_results(L, c, r, shape, pack, results, &yields);
  build_op(&L->b, OP_YIELD, yields.data, yields.count);
  L->b = saved;
  if (!ok) return NULL;
  const Type **types = arena_array(L->arena, const Type *, num_results);
  for (uint32_t i = 0; i < num_results; i++) types[i] = lower_ir_type(L, results[i]);
  Op *op = lower_replace_op(L, shell, types, num_results, operands, in.count);
  Term **out = arena_array(L->arena, Term *, num_results);
  for (uint32_t i = 0; i < num_results; i++) out[i] = term_value(L, op_result(op, i), results[i]);
  return num_results == 1 && r->kind != TERM_TUPLE ? out[0]
         : pack > 1 && num_results == 1            ? out[0]
                                                   : term_tuple(L, out, num_results, NULL);
}
