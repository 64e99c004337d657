// Elementwise builtins and matrix products.
#include "frontend/lower/gluon.h"
#include "frontend/lower/statements.h"
#include "frontend/lower/term.h"
#include "frontend/lower/warnings.h"

#include <string.h>

static Term *unary(Lower *L, Opcode oc, Term *x) { return term_value(L, build_unary(&L->b, oc, term_v(x)), term_t(x)); }
static Term *binary(Lower *L, Opcode oc, Term *a, Term *b) {
  return term_value(L, build_binary(&L->b, oc, term_v(a), term_v(b)), term_t(a));
}

// Most functions exist in fp32 and fp64 only, as in Triton; the kernel's author decides how to widen an fp16.
static Term *float_arg(Lower *L, Call *c, uint32_t i) {
  Term *x = arg_value(L, c, i);
  if (!x) return NULL;
  if (ct_is_kind(term_t(x), DT_FP32) || ct_is_kind(term_t(x), DT_FP64)) return x;
  arg_error(L, c, i, "`%s` works on fp32 and fp64, not on %s", c->row->name, term_describe(L, x));
  if (ct_is_ptr(term_t(x)))
    return lower_hint(L, "load the elements first: tl.load(%s)", lower_source_text_or(L, c->spans[i], "…"));
  return lower_hint(L, "convert with .to(tl.float32)");
}

// An argument of a function that turns constants into tensors before it promotes. The prelude's constants stay exact.
static Term *strong_arg(Lower *L, Call *c, uint32_t i) {
  return lower_in_prelude(L, c->span) ? c->args[i] : arg_value(L, c, i);
}

// The row's op on its operands, promoted to one type. The op's row must accept that type; fp8 is accepted where fp16
// is.
Term *tl_elementwise(Lower *L, Call *c) {
  Opcode oc = (Opcode)c->row->data;
  uint32_t n = op_num_fixed(oc);
  Term *x[3];
  for (uint32_t i = 0; i < n; i++)
    if (!(x[i] = n == 1 ? arg_value(L, c, i) : strong_arg(L, c, i))) return NULL;
  if (n > 1 && !lower_promote_all(L, x, n, c->row->name, c->span)) return NULL;
  const CtType *t = ct_scalar_of(term_t(x[0]));
  const Type *ir = lower_ir_elem_type(L, ct_is_fp8(t) ? lower_scalar(L, DT_FP16) : t);
  if (op_takes(oc, ir) && type_is_float(ir) == ct_is_float(t)) {
    if (oc == OP_MULHUI) lower_warn_signed(L, c, x);
    return lower_elementwise(L, oc, x, n);
  }
  const char *name = c->row->name + (c->row->name[0] == '_');   // the prelude's own row of a function
  lower_error(L, n == 1 ? c->spans[0] : c->span, "`%s` works on %s, not on %s", name,
              op_elems_text(L->ctx, op_info[oc].takes, dtype_name_of), term_describe(L, x[0]));
  if (ct_is_ptr(t)) lower_hint(L, "load the elements first: tl.load(…)");
  else
    lower_hint(L, "convert with .to(tl.%s)", op_takes(oc, type_scalar(L->ctx, SC_F32)) ? "float32" : "int32");
  return NULL;
}

Term *tl_exp(Lower *L, Call *c) {
  Term *x = float_arg(L, c, 0);
  if (!x) return NULL;
  bool base2 = c->row->data == 1;
  if (ct_is_kind(term_t(x), DT_FP64)) return lower_prelude_call(L, base2 ? "_exp2_f64" : "_exp_f64", &x, 1, c->span);
  if (!base2) x = binary(L, OP_MULF, x, term_full(L, term_t(x), 1.44269504088896340736, 0));
  return unary(L, OP_EXP2, x);
}

Term *tl_abs(Lower *L, Call *c) {
  Term *x = arg_value(L, c, 0);
  if (!x) return NULL;
  const CtType *t = term_t(x);
  if (ct_is_ptr(t)) {
    arg_error(L, c, 0, "`abs` does not work on pointers");
    return lower_hint(L, "load the elements first: tl.load(%s)", lower_source_text_or(L, c->spans[0], "…"));
  }
  if (ct_is_fp8(t)) {   // the sign is the top bit
    if (!lower_check_fp8(L, t, c->span)) return NULL;
    Term *bits = lower_bitcast(L, x, lower_scalar(L, DT_UINT8), c->span);
    bits = binary(L, OP_ANDI, bits, term_full(L, term_t(bits), 0, 0x7f));
    return lower_bitcast(L, bits, ct_scalar_of(t), c->span);
  }
  if (ct_is_float(t)) return unary(L, OP_ABSF, x);
  return ct_is_signed(t) ? unary(L, OP_ABSI, x) : x;
}

Term *tl_operator(Lower *L, Call *c) {
  bool check, outer = L->may_wrap;
  if (!arg_bool(L, c, 2, &check)) return NULL;
  L->may_wrap = !check;
  Term *r = lower_binary(L, (PyOp)c->row->data, c->args[0], c->args[1], c->span);
  L->may_wrap = outer;
  return r;
}

Term *tl_logical(Lower *L, Call *c) {
  Term *a = arg_value(L, c, 0), *b = arg_value(L, c, 1);
  if (!a || !b) return NULL;
  if (!ct_is_bool(term_t(a)) || !ct_is_bool(term_t(b)))
    return builtin_error(L, c, "`%s` works on int1, not on %s and %s", c->row->name, term_describe(L, a),
                         term_describe(L, b));
  return lower_binary(L, (PyOp)c->row->data, a, b, c->span);
}

Term *tl_where(Lower *L, Call *c) {
  Term *cond = arg_value(L, c, 0), *x = c->args[1], *y = c->args[2];
  if (!cond) return NULL;
  cond = lower_not_zero(L, cond, c->span);
  PromoteRule rule = {.allow_left_ptr = true, .allow_right_ptr = true};
  if (!cond || !lower_promote(L, &x, &y, rule, "where", c->span)) return NULL;
  if (ct_is_ptr(term_t(x)) != ct_is_ptr(term_t(y))) {
    builtin_error(L, c, "`where` cannot choose between %s and %s", term_describe(L, x), term_describe(L, y));
    return lower_hint(L, "no number is an address: leave the addresses, and mask the access, tl.load(p, mask, other)");
  }
  if (!ct_rank(term_t(cond)) && !ct_rank(term_t(x))) return lower_select(L, cond, x, y);
  Term *with = x;
  if (!lower_broadcast_pair(L, &cond, &with, c->span)) return NULL;
  x = with;
  y = lower_broadcast_like(L, y, term_t(x), c->span);
  return y ? lower_select(L, cond, x, y) : NULL;
}

static Term *widen_bf16(Lower *L, Term *x, Span span) {
  return x && ct_is_kind(term_t(x), DT_BF16) ? lower_cast_to(L, x, DT_FP32, span) : x;
}

// Reads propagate_nan: NONE, or no argument, prefers the number, ALL the NaN. tl.PropagateNan.ALL is an enum member of
// the evaluator.
static bool nan_arg(Lower *L, Call *c, uint32_t i, bool *all) {
  *all = false;
  CtValue *k = term_to_ct(L, c->args[i]);
  if (!k) return arg_error(L, c, i, "`propagate_nan` must be a constant") != NULL;
  if (k->kind == CT_INT || k->kind == CT_FLOAT || k->kind == CT_STR || k->kind == CT_BOOL) {
    arg_error(L, c, i, "`propagate_nan` must be tl.PropagateNan.ALL or NONE, not %s", ct_repr(L->ctx, k));
    if (k->kind == CT_BOOL) lower_hint(L, "write propagate_nan=tl.PropagateNan.%s", ct_is_true(k) ? "ALL" : "NONE");
    else lower_hint(L, "of more than two operands write tl.%s(a, tl.%s(b, c))", c->row->name, c->row->name);
    return false;
  }
  const char *text = k->kind == CT_NONE ? "NONE" : ct_to_str(L->ctx, k);
  size_t n = strlen(text);
  *all = n >= 3 && strcmp(text + n - 3, "ALL") == 0;
  if (k->kind == CT_BUILTIN) *all = strstr(k->builtin.name, "ALL") != NULL;
  return true;
}

static Term *minmax(Lower *L, Term *a, Term *b, bool is_max, bool nan) {
  if (!a || !b) return NULL;
  const CtType *t = term_t(a);
  if (ct_is_float(t)) {
    bool narrow = ct_is_fp8(t);
    if (narrow) {
      a = lower_cast_to(L, a, DT_FP32, L->b.span);
      b = lower_cast_to(L, b, DT_FP32, L->b.span);
      if (!a || !b) return NULL;
    }
    Term *r = binary(L, nan ? (is_max ? OP_MAXIMUMF : OP_MINIMUMF) : (is_max ? OP_MAXF : OP_MINF), a, b);
    return narrow ? lower_cast(L, r, ct_scalar_of(t), L->b.span) : r;
  }
  bool sign = ct_is_signed(t);
  return binary(L, is_max ? (sign ? OP_MAXSI : OP_MAXUI) : (sign ? OP_MINSI : OP_MINUI), a, b);
}

Term *tl_minmax(Lower *L, Call *c) {
  bool nan;
  Term *x = widen_bf16(L, arg_value(L, c, 0), c->span), *y = widen_bf16(L, arg_value(L, c, 1), c->span);
  if (!x || !y || !nan_arg(L, c, 2, &nan)) return NULL;
  if (!lower_promote(L, &x, &y, (PromoteRule){0}, c->row->name, c->span)) return NULL;
  return minmax(L, x, y, c->row->data == 1, nan);
}

// Whether the bounds are −c and c in fp32, for a positive constant c.
static bool lie_around_zero(const Term *low, const Term *high) {
  const uint64_t sign = UINT64_C(1) << 31;
  uint64_t a, b;
  if (!ct_is_kind(term_t(low), DT_FP32)) return false;
  return value_constant_bits(term_v(low), &a) && value_constant_bits(term_v(high), &b) &&
         a == (b | sign) && !(b & sign);
}

Term *tl_clamp(Lower *L, Call *c) {
  bool nan;
  Term *x[3];   // the operand last, as in Triton: the bounds promote first
  for (uint32_t i = 0; i < 3; i++)
    if (!(x[(i + 2) % 3] = widen_bf16(L, arg_value(L, c, i), c->span))) return NULL;
  if (!nan_arg(L, c, 3, &nan) || !lower_promote_all(L, x, 3, "clamp", c->span)) return NULL;
  if (!ct_is_float(term_t(x[2]))) {
    builtin_error(L, c, "`clamp` works on floats, not on %s", term_describe(L, x[2]));
    return lower_hint(L, "write tl.minimum(tl.maximum(%s, %s), %s), which take integers, too",
                      lower_source_text_or(L, c->spans[0], "x"), lower_source_text_or(L, c->spans[1], "lo"),
                      lower_source_text_or(L, c->spans[2], "hi"));
  }
  lower_warn_clamp(L, c, x[0], x[1]);
  if (!nan && lie_around_zero(x[0], x[1])) return binary(L, OP_CLIPF, x[2], x[1]);
  return minmax(L, minmax(L, x[2], x[0], true, nan), x[1], false, nan);
}

Term *tl_fdiv(Lower *L, Call *c) {
  Term *x = strong_arg(L, c, 0), *y = strong_arg(L, c, 1);
  if (!lower_promote(L, &x, &y, (PromoteRule){.div_or_mod = true}, "/", c->span)) return NULL;
  if (!ct_is_float(term_t(x))) {
    builtin_error(L, c, "`%s` works on floats, not on %s", c->row->name, term_describe(L, x));
    return lower_hint(L, "write %s / %s for a quotient in float32, or // for one that is an integer",
                      lower_source_text_or(L, c->spans[0], "x"), lower_source_text_or(L, c->spans[1], "y"));
  }
  if (c->row->data == 0) return lower_binary(L, PYOP_DIV, x, y, c->span);
  if (!ct_is_kind(term_t(x), DT_FP32) && !(c->row->data == 2 && ct_is_kind(term_t(x), DT_FP64)))
    return builtin_error(L, c, "`%s` works on fp32, not on %s", c->row->name, term_describe(L, x));
  return binary(L, OP_DIVF_RN, x, y);
}

// ---- matrix product ----
static const char *const precisions[] = {[PREC_TF32] = "tf32",
                                         [PREC_TF32X3] = "tf32x3",
                                         [PREC_IEEE] = "ieee",
                                         [PREC_BF16X3] = "bf16x3",
                                         [PREC_BF16X6] = "bf16x6"};

int frontend_dot_precision(const char *name) {
  for (int i = 0; i < (int)countof(precisions); i++)
    if (!strcmp(precisions[i], name)) return i;
  return -1;
}

static bool dot_precision(Lower *L, Call *c, const CtType *elem, int *out) {
  bool f32 = ct_is_kind(elem, DT_FP32);
  *out = f32 ? PREC_TF32 : PREC_IEEE;
  if (!arg_is_none(c, 3) && !arg_is_none(c, 4)) {
    arg_error(L, c, 4, "`dot` takes input_precision or allow_tf32, not both");
    lower_hint(L, "leave out allow_tf32: True is input_precision=\"tf32\", False is \"ieee\"");
    return false;
  }
  if (!arg_is_none(c, 3)) {
    int p;
    if (!arg_choice(L, c, 3, precisions, countof(precisions), &p)) return false;
    if (f32) *out = p;
  } else if (f32 && L->options->dot_precision >= 0) {
    *out = L->options->dot_precision;
  } else if (f32 && !arg_is_none(c, 4)) {   // means nothing for other types: there it may be known at run time only
    bool tf32 = true;
    if (c->args[4]->kind == TERM_VALUE && !ct_rank(term_t(c->args[4])) && !term_to_ct(L, c->args[4])) {
      if (diag_warning(L->ctx, WARN_RUNTIME_PRECISION, c->spans[4], "this is a run-time value, which counts as True here, "
                       "whatever it is"))
        lower_hint(L, "make it a constexpr parameter, or write input_precision=\"tf32\"");
    } else if (!arg_bool(L, c, 4, &tf32)) {
      return false;
    }
    *out = tf32 ? PREC_TF32 : PREC_IEEE;
  }
  return true;
}

// The result's element type, or NULL after a diagnostic.
static const CtType *dot_result(Lower *L, Call *c, const CtType *a, const CtType *b, const CtType *out) {
  bool fp8_mix = ct_is_fp8(a) && ct_is_fp8(b);
  if (!fp8_mix && !ct_type_equal(a, b)) {
    builtin_error(L, c, "`dot` needs both operands of one type, got %s and %s", ct_type_text(L->ctx, a),
                  ct_type_text(L->ctx, b));
    return lower_hint(L, "convert one with .to(…)");
  }
  if (ct_is_kind(out, DT_BF16)) {
    builtin_error(L, c, "`dot` cannot give bf16");
    return lower_hint(L, "leave out_dtype at float32 and convert the result with .to(tl.bfloat16)");
  }
  if (ct_is_kind(a, DT_INT8) || ct_is_kind(a, DT_UINT8)) return lower_scalar(L, DT_INT32);
  if (ct_is_int(a)) {
    builtin_error(L, c, "`dot` of %s: of the integers only int8 and uint8 are supported", ct_type_text(L->ctx, a));
    return lower_hint(L, "convert both operands with .to(tl.int8) or to a floating-point type");
  }
  if (ct_is_kind(a, DT_FP64)) return a;
  if (!ct_is_kind(out, DT_FP16) && !ct_is_kind(out, DT_FP32)) {
    builtin_error(L, c, "`dot` of %s gives float32 or float16, not %s", ct_type_text(L->ctx, a),
                  ct_type_text(L->ctx, out));
    return lower_hint(L, "leave out_dtype at float32 and convert the result");
  }
  if (ct_is_kind(a, DT_FP32) || ct_is_kind(a, DT_BF16)) return lower_scalar(L, DT_FP32);
  return ct_scalar_of(out);
}

static Term *flatten_batch(Lower *L, Term *x) {
  const CtType *t = term_t(x);
  if (ct_rank(t) <= 3) return x;
  int64_t shape[3] = {1, t->shape[t->rank - 2], t->shape[t->rank - 1]};
  for (uint32_t i = 0; i + 2 < t->rank; i++) shape[0] *= t->shape[i];
  return lower_reshape(L, x, shape, 3, false);
}

static Term *swap_last(Lower *L, Term *x) {
  int64_t order[CT_MAX_RANK];
  uint32_t rank = ct_rank(term_t(x));
  for (uint32_t i = 0; i < rank; i++) order[i] = i;
  order[rank - 1] = rank - 2;
  order[rank - 2] = rank - 1;
  return lower_trans(L, x, order);
}

// Whether the operands' shapes can be multiplied.
static bool check_dot_shapes(Lower *L, Call *c, const Term *const operands[2]) {
  const CtType *a = term_t(operands[0]), *b = term_t(operands[1]);
  uint32_t rank = ct_rank(a);
  for (uint32_t i = 0; i + 2 < rank; i++) {
    if (a->shape[i] == b->shape[i]) continue;
    builtin_error(L, c, "shapes %s and %s do not multiply: they have different numbers of matrices",
                  lower_shape_text(L, a), lower_shape_text(L, b));
    if (a->shape[i] == 1 || b->shape[i] == 1) lower_hint(L, "repeat the one with tl.broadcast_to");
    else lower_hint(L, "load as many matrices for both; where one serves several, repeat it with tl.broadcast_to");
    return false;
  }
  int64_t depth = a->shape[rank - 1], least = ct_bits(a) == 8 ? 32 : 16;
  if (depth != b->shape[rank - 2]) {
    builtin_error(
        L, c,
        "shapes %s and %s do not multiply: the last axis of the first must equal the second last of the second (K)",
        lower_shape_text(L, a), lower_shape_text(L, b));
    for (uint32_t i = 0; i < 2; i++) {
      const char *name = intern(L->ctx, lower_source_text_or(L, c->spans[i], ""));
      const Var *v = scope_find(&L->frame->scope, name);
      if (v && !lower_in_prelude(L, v->span))
        diag_note(L->ctx, v->span, "`%s` has the shape %s: its K is %lld", name,
                  lower_shape_text(L, term_t(operands[i])), (long long)(i ? b->shape[rank - 2] : depth));
    }
    const bool second = depth == b->shape[rank - 1], first = a->shape[rank - 2] == b->shape[rank - 2];
    // If the other operand is square, the sizes may agree by chance.
    const bool is_chance = second ? a->shape[rank - 2] == depth : b->shape[rank - 2] == b->shape[rank - 1];
    const char *or_else = is_chance ? "load both with one K, or, if one lies transposed, " : "";
    if (rank == 2 && (first || second))
      lower_hint(L,
                 second ? "%stranspose the second: tl.dot(%s, tl.trans(%s))"
                        : "%stranspose the first: tl.dot(tl.trans(%s), %s)",
                 or_else, lower_source_text_or(L, c->spans[0], "a"), lower_source_text_or(L, c->spans[1], "b"));
    else if (rank == 3 && (first || second))
      lower_hint(L, "%stranspose the %s: tl.trans(%s, 0, 2, 1)", or_else, second ? "second" : "first",
                 lower_source_text_or(L, c->spans[second], "x"));
    else
      lower_hint(L, "load both with one K: (…, M, K) times (…, K, N)");
    return false;
  }
  if (depth >= least) return true;
  builtin_error(L, c, "`dot` of %s needs K of at least %lld, and K is %lld here", ct_type_text(L->ctx, ct_scalar_of(a)),
                (long long)least, (long long)depth);
  lower_hint(L, "load wider tiles and mask what lies beyond K with zeros, or write tl.sum(a.to(tl.float32)[:, :, None] "
                "* b.to(tl.float32)[None, :, :], axis=1)");
  return false;
}

static bool check_dot_acc(Lower *L, Call *c, const Term *acc, const CtType *product) {
  const CtType *have = term_t(acc);
  if (ct_type_equal(have, product)) return true;
  const char *elem = dtype_info[ct_scalar_of(product)->scalar].name;
  arg_error(L, c, 2, "the accumulator of `dot` is %s, but the product is %s%s", term_describe(L, acc),
              ct_type_text(L->ctx, ct_scalar_of(product)), lower_shape_text(L, product));
  if (builtin_hint_position(L, c, 2)) return false;
  if (ct_is_ptr(have)) lower_hint(L, "load it: acc=tl.load(…)");
  else if (ct_rank(have) != ct_rank(product) ||
           memcmp(have->shape, product->shape, ct_rank(have) * sizeof *have->shape))
    lower_hint(L, "begin with tl.zeros(%s, tl.%s), or widen it with tl.broadcast_to", lower_shape_text(L, product),
               elem);
  else {
    const char *name = intern(L->ctx, lower_source_text_or(L, c->spans[2], ""));
    const Var *v = scope_find(&L->frame->scope, name);
    if (v && !lower_in_prelude(L, v->span))
      diag_note(L->ctx, v->span, "`%s` gets its type here: create it with dtype=tl.%s", name, elem);
    if (ct_is_int(product))
      lower_hint(L, "int8 and uint8 are multiplied and added up in int32");
    else
      lower_hint(L, "convert it with .to(tl.%s), or choose the product's type with out_dtype where the operands allow "
                 "it", elem);
  }
  return false;
}

Term *tl_dot(Lower *L, Call *c) {
  Term *a = arg_value(L, c, 0), *b = arg_value(L, c, 1);
  if (!a || !b) return NULL;
  uint32_t rank = ct_rank(term_t(a));
  if (rank < 2 || rank != ct_rank(term_t(b))) {
    builtin_error(L, c, "`dot` needs two tensors of one rank, 2 or 3, got %s and %s", term_describe(L, a),
                  term_describe(L, b));
    return lower_hint(
        L, "make a vector a column with x[:, None] or a row with x[None, :]; repeat a matrix with tl.broadcast_to");
  }
  if (ct_is_ptr(term_t(a)) || ct_is_ptr(term_t(b))) {
    builtin_error(L, c, "`dot` multiplies numbers, got %s and %s", term_describe(L, a), term_describe(L, b));
    return lower_hint(L, "load the elements first: tl.load(…)");
  }
  bool trans_a, trans_b;
  if (!lower_check_fp8_exists(L, term_t(a), c->spans[0]) || !lower_check_fp8_exists(L, term_t(b), c->spans[1]))
    return NULL;
  if (!arg_bool(L, c, 7, &trans_a) || !arg_bool(L, c, 8, &trans_b)) return NULL;
  if (trans_a) a = swap_last(L, a);
  if (trans_b) b = swap_last(L, b);
  const CtType *ta = term_t(a), *tb = term_t(b);
  if (!check_dot_shapes(L, c, (const Term *const[]){a, b})) return NULL;
  const CtType *out = NULL;
  if (!arg_is_none(c, 6) && !arg_dtype(L, c, 6, &out)) return NULL;
  Term *acc = arg_is_none(c, 2) ? NULL : arg_value(L, c, 2);
  if (!acc && !arg_is_none(c, 2)) return NULL;
  if (!out)
    out = acc && ct_is_kind(term_t(acc), DT_FP16) && ct_bits(ta) <= 16 ? ct_scalar_of(term_t(acc))
                                                                       : lower_scalar(L, DT_FP32);
  const CtType *elem = dot_result(L, c, ct_scalar_of(ta), ct_scalar_of(tb), out);
  int precision;
  int64_t imprecise = 1 << 30;
  if (!elem || !dot_precision(L, c, ct_scalar_of(ta), &precision) ||
      (!arg_is_none(c, 5) && !arg_int(L, c, 5, &imprecise)))
    return NULL;
  int64_t depth = ta->shape[rank - 1];
  if (ct_is_fp8(ta) && !arg_is_none(c, 5) && (imprecise < 0 || imprecise > depth))
    return arg_error(L, c, 5, "`max_num_imprecise_acc` must be from 0 to K, which is %lld here, not %lld",
                       (long long)depth, (long long)imprecise);
  int64_t shape[CT_MAX_RANK];
  memcpy(shape, ta->shape, sizeof shape);
  shape[rank - 1] = tb->shape[rank - 1];
  const CtType *type = lower_shaped(L, elem, shape, rank);
  if (!lower_check_shape(L, shape, rank, c->span)) return NULL;
  if (acc && !check_dot_acc(L, c, acc, type)) return NULL;
  if (!acc) acc = term_full(L, type, 0, 0);
  Term *fa = flatten_batch(L, a), *fb = flatten_batch(L, b), *facc = flatten_batch(L, acc);
  Value *v[3] = {term_v(fa), term_v(fb), term_v(facc)};
  const Type *result = v[2]->type;
  Op *op = build_op_typed(&L->b, OP_DOT, &result, 1, v, 3);
  op_set_int(L->ctx, op, ATTR_PRECISION, precision);
  if (ct_is_kind(ct_scalar_of(ta), DT_UINT8)) op_set_int(L->ctx, op, ATTR_SIGNED, 0);
  if (ct_is_fp8(ta)) op_set_int(L->ctx, op, ATTR_IMPRECISE_ACC, imprecise);
  return lower_reshape(L, term_of_op(L, op, term_t(facc)), shape, rank, false);
}
