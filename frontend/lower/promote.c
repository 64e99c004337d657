// Casts, type promotion and broadcasting: Triton 3.6's rules.
//
// A constant operand ("weak") takes the other side's type if its kind (bool < int < float) is not higher. Run-time
// scalars promote like tensors, kernel arguments and decayed variables among them; in comparisons constants do, too.
#include "frontend/lower/gluon.h"
#include "frontend/lower/hints.h"
#include "frontend/lower/term.h"
#include "frontend/lower/warnings.h"
#include "ir/fold.h"

#include <math.h>
#include <string.h>

Term *term_full(Lower *L, const CtType *type, double f, int64_t i) {
  const Type *t = lower_ir_type(L, type);
  Value *v = ct_is_float(type) ? build_float(&L->b, t, f) : build_int(&L->b, t, i);
  return term_value(L, v, type);
}

static Term *cast_op(Lower *L, Opcode oc, Term *x, const CtType *to) {
  return term_value(L, build_cast(&L->b, oc, term_v(x), lower_ir_elem_type(L, to)), lower_with_elem(L, term_t(x), to));
}

// ---- casts ----
bool lower_check_fp8_exists(Lower *L, const CtType *t, Span span) {
  DtypeKind k = ct_scalar_of(t)->scalar;
  if (ct_is_ptr(t) || (k != DT_FP8E4B8 && k != DT_FP8E5B16)) return true;
  const bool is_e4m3 = k == DT_FP8E4B8;
  lower_error(L, span, "type %s (%s of PyTorch) does not exist on NVIDIA GPUs; fp8e4nv (float8_e4m3fn), fp8e5 "
              "(float8_e5m2) and fp8e4b15 do", dtype_info[k].short_name, is_e4m3 ? "float8_e4m3fnuz" : "float8_e5m2fnuz");
  return false;
}

// The way out where x, which was loaded, has an fp8 type that the target lacks.
static Term *hint_loaded_fp8(Lower *L, const Term *x) {
  const char *name = lower_note_loaded(L, x, NULL);
  const DtypeKind k = ct_scalar_of(term_t(x))->scalar;
  if (!name || (k != DT_FP8E4B8 && k != DT_FP8E5B16)) return NULL;
  return lower_hint(L, "convert it on the host: pass %s.to(torch.float32).to(torch.%s)", name,
                    k == DT_FP8E4B8 ? "float8_e4m3fn" : "float8_e5m2");
}

bool lower_check_fp8(Lower *L, const CtType *t, Span span) {
  if (!lower_check_fp8_exists(L, t, span)) return false;
  if (!ct_is_ptr(t) && ct_scalar_of(t)->scalar == DT_FP8E4NV && L->module->target->sm < 89)
    return lower_error(L, span, "type fp8e4nv needs sm_89 or later, this is %s; fp8e5 and fp8e4b15 work everywhere",
                       L->module->target->name) != NULL;
  return true;
}

const char *lower_inverted_integer(Lower *L, const Term *x) {
  const Op *op = term_v(x)->def;
  while (op && (op->opcode == OP_SPLAT || op->opcode == OP_BROADCAST || op->opcode == OP_EXPAND_DIMS))
    op = op_operand(op, 0)->def;
  if (!op || op->opcode != OP_XORI || lower_in_prelude(L, op->span)) return NULL;
  const char *text = lower_source_text_or(L, op->span, "~x");
  return *text == '~' ? text + 1 : NULL;
}

Term *lower_not_zero(Lower *L, Term *x, Span span) {
  if (ct_is_bool(term_t(x))) return x;
  const char *inverted = lower_inverted_integer(L, x);
  if (inverted && diag_warning(L->ctx, WARN_INVERTED_INTEGER, span, "`~` of %s inverts its bits, so this is true for 0 "
                               "and for 1", term_describe(L, x)))
    lower_hint(L, "for what is 0 write %s == 0", inverted);
  bool is_ptr = ct_is_ptr(term_t(x));
  if (is_ptr || ct_is_fp8(term_t(x)))   // neither is compared
    x = lower_cast_to(L, x, is_ptr ? DT_INT64 : DT_FP32, span);
  if (!x) return NULL;
  Term *zero = term_full(L, term_t(x), 0, 0);
  return term_value(L, build_cmp(&L->b, ct_is_float(term_t(x)) ? CMP_UNE : CMP_NE, term_v(x), term_v(zero)),
                    lower_with_elem(L, term_t(x), lower_scalar(L, DT_INT1)));
}

Term *lower_bitcast(Lower *L, Term *x, const CtType *to, Span span) {
  const CtType *from = ct_scalar_of(term_t(x));
  if (ct_type_equal(from, to)) return x;
  bool src_ptr = ct_is_ptr(from), dst_ptr = ct_is_ptr(to);
  if (src_ptr || dst_ptr) return lower_cast(L, x, to, span);
  if (ct_bits(from) != ct_bits(to)) {
    lower_error(L, span, "cannot bitcast %s (%u bits) to %s (%u bits): the widths differ", ct_type_text(L->ctx, from),
                ct_bits(from), ct_type_text(L->ctx, to), ct_bits(to));
    if (ct_bits(from) < ct_bits(to))
      return lower_hint(L, "x.to(tl.%s) converts each value; for several in one, load through a pointer that was cast, "
                        "p.to(tl.pointer_type(tl.%s)), or shift and combine their bits", dtype_info[to->scalar].name,
                        dtype_info[to->scalar].name);
    if (ct_is_int(from) && ct_is_float(to))
      return lower_hint(L, "x.to(tl.%s) converts the value; for the lowest %u bits, x.to(tl.uint%u).to(tl.%s, bitcast=True), "
                        "and for the ones above, x >> %u first", dtype_info[to->scalar].name, ct_bits(to), ct_bits(to),
                        dtype_info[to->scalar].name, ct_bits(to));
    return lower_hint(L, "x.to(tl.%s) converts the value; for its bits, bitcast to tl.int%u and convert that",
                      dtype_info[to->scalar].name, ct_bits(from));
  }
  if (ct_is_int(from) && ct_is_int(to)) return term_value(L, term_v(x), lower_with_elem(L, term_t(x), to));
  return cast_op(L, OP_BITCAST, x, to);
}

static Term *cast_float(Lower *L, Term *x, const CtType *from, const CtType *to, Downcast rounding) {
  uint32_t a = ct_bits(from), b = ct_bits(to);
  if (a < b) return cast_op(L, OP_FPEXT, x, to);
  // Between fp16 and bf16, two kinds of fp8, or from a half to fp8: fp32 holds x exactly, so the value is rounded once.
  if (a == b || (a == 16 && b == 8)) {
    const CtType *f32 = lower_scalar(L, DT_FP32);
    return cast_float(L, cast_op(L, OP_FPEXT, x, f32), f32, to, rounding);
  }
  Term *r = cast_op(L, OP_FPTRUNC, x, to);
  Op *op = term_v(r)->def;
  if (rounding == DOWNCAST_RTZ && op && op->opcode == OP_FPTRUNC) op_set_int(L->ctx, op, ATTR_ROUNDING, ROUND_RTZ);
  return r;
}

// An fp8e5 is the upper half of an fp16. fp32 holds any `x` exactly, and makes one fp16 of all NaN.
static Term *truncate_to_fp8e5(Lower *L, Term *x, const CtType *from) {
  const CtType *f32 = lower_scalar(L, DT_FP32), *f16 = lower_scalar(L, DT_FP16);
  if (ct_bits(from) < 32) x = cast_op(L, OP_FPEXT, x, f32);
  Term *bits = cast_op(L, OP_BITCAST, cast_float(L, x, f32, f16, DOWNCAST_RTZ), lower_scalar(L, DT_UINT16));
  Value *upper = build_binary(&L->b, OP_SHRUI, term_v(bits), term_v(term_full(L, term_t(bits), 0, 8)));
  Term *byte = cast_op(L, OP_TRUNCI, term_value(L, upper, term_t(bits)), lower_scalar(L, DT_UINT8));
  return cast_op(L, OP_BITCAST, byte, lower_scalar(L, DT_FP8E5));
}

static Term *cast_pointer(Lower *L, Term *x, const CtType *from, const CtType *to, Span span) {
  if (ct_is_ptr(from) && ct_is_ptr(to)) {
    const Type *a = lower_ir_elem_type(L, from), *b = lower_ir_elem_type(L, to);
    return a == b ? term_value(L, term_v(x), lower_with_elem(L, term_t(x), to)) : cast_op(L, OP_BITCAST, x, to);
  }
  if (ct_is_ptr(from)) {
    if (ct_is_bool(to)) return lower_not_zero(L, x, span);
    if (ct_is_int(to) && ct_bits(to) == 64) return cast_op(L, OP_PTRTOINT, x, to);
    lower_error(L, span, "cannot cast a pointer to %s, only to int64, uint64 or another pointer type",
                ct_type_text(L->ctx, to));
    return lower_hint(L, "tl.load(pointer) gives the element there");
  }
  if (!ct_is_int(from)) {
    lower_error(L, span, "cannot cast %s to a pointer, only an integer", ct_type_text(L->ctx, from));
    return lower_hint(L, "p.dtype of a pointer is the pointer's type; its elements have p.dtype.element_ty");
  }
  return cast_op(L, OP_INTTOPTR, lower_cast_to(L, x, DT_INT64, span), to);
}

Term *lower_cast(Lower *L, Term *x, const CtType *to, Span span) {
  return lower_cast_rounded(L, x, to, DOWNCAST_DEFAULT, span);
}

Term *lower_cast_to(Lower *L, Term *x, DtypeKind to, Span span) { return lower_cast(L, x, lower_scalar(L, to), span); }

bool lower_has_rtz(const CtType *from, const CtType *to) {
  return to->scalar == DT_FP8E5 ? ct_bits(from) <= 32 : ct_bits(to) == 16 && ct_bits(from) == 32;
}

Term *lower_cast_rounded(Lower *L, Term *x, const CtType *to, Downcast rounding, Span span) {
  if (!x) return NULL;
  const CtType *from = ct_scalar_of(term_t(x));
  to = ct_scalar_of(to);
  if (ct_type_equal(from, to)) return x;
  if (!lower_check_fp8(L, to, span)) return NULL;
  if (!lower_check_fp8(L, from, span)) return hint_loaded_fp8(L, x);
  bool from_float = ct_is_float(from), to_float = ct_is_float(to);
  bool narrows = from_float && to_float && ct_bits(to) < ct_bits(from);
  if (rounding != DOWNCAST_DEFAULT && !narrows) {
    lower_error(L, span, "fp_downcast_rounding applies to narrowing float conversions only, not to %s -> %s",
                ct_type_text(L->ctx, from), ct_type_text(L->ctx, to));
    return lower_hint(L, !from_float && to_float ? "convert to float32 first, then with the rounding: "
                                                   "x.to(tl.float32).to(…, fp_downcast_rounding=…)"
                         : from_float && !to_float ? "leave it out: the fraction is cut off; tl.floor or "
                                                     "libdevice.rint round before"
                                                   : "leave it out: nothing is rounded");
  }
  if (rounding == DOWNCAST_RTZ && !lower_has_rtz(from, to))
    return lower_error(L, span, "rounding \"rtz\" exists for fp32 -> fp16, fp32 -> bf16 and for fp8e5 of at most 32 "
                       "bits, not for %s -> %s", ct_type_text(L->ctx, from), ct_type_text(L->ctx, to));
  if (rounding == DOWNCAST_RTZ && to->scalar == DT_FP8E5) return truncate_to_fp8e5(L, x, from);
  if (ct_is_ptr(from) || ct_is_ptr(to)) return cast_pointer(L, x, from, to, span);
  if (to->scalar == DT_VOID || from->scalar == DT_VOID) return lower_error(L, span, "cannot cast to or from void");
  if (from_float && to_float) return cast_float(L, x, from, to, rounding);
  if (ct_is_bool(to)) return lower_not_zero(L, x, span);
  if (from_float) {
    if (ct_bits(from) < 32) x = cast_op(L, OP_FPEXT, x, lower_scalar(L, DT_FP32));
    return cast_op(L, ct_is_signed(to) ? OP_FPTOSI : OP_FPTOUI, x, to);
  }
  bool sign = ct_is_signed(from);
  if (to_float) {
    const Opcode convert = sign ? OP_SITOFP : OP_UITOFP;
    return ct_is_fp8(to) ? lower_cast(L, cast_op(L, convert, x, lower_scalar(L, DT_FP32)), to, span)
                         : cast_op(L, convert, x, to);
  }
  if (ct_bits(from) == ct_bits(to)) return term_value(L, term_v(x), lower_with_elem(L, term_t(x), to));
  if (ct_bits(from) > ct_bits(to)) return cast_op(L, OP_TRUNCI, x, to);
  return cast_op(L, sign ? OP_EXTSI : OP_EXTUI, x, to);
}

// ---- broadcasting ----
// The shape, and how it reads among `rank` dimensions if it has fewer: "[32], which counts as [1, 32],".
static const char *counts_as(Lower *L, const CtType *t, uint32_t rank) {
  const char *text = lower_shape_text(L, t);
  if (!ct_rank(t) || t->rank >= rank) return text;
  Buf b = buf_make(L->arena);
  for (uint32_t i = t->rank; i < rank; i++) buf_puts(&b, "1, ");
  return arena_printf(L->arena, "%s, which counts as [%s%s,", text, buf_str(&b), text + 1);
}

// The index that gives t the axes of length 1 that only x has, such as "[:, None]". NULL if x has other extra axes.
static const char *index_like(Lower *L, const CtType *x, const CtType *t) {
  Buf b = buf_make(L->arena);
  uint32_t own = 0;
  for (uint32_t i = 0; i < x->rank; i++) {
    const bool is_own = own < ct_rank(t) && x->shape[i] == t->shape[own];
    if (!is_own && x->shape[i] != 1) return NULL;
    buf_printf(&b, "%s%s", i ? ", " : "", is_own ? ":" : "None");
    own += is_own;
  }
  return own == ct_rank(t) ? arena_printf(L->arena, "[%s]", buf_str(&b)) : NULL;
}

// Hints at a way out if x has too many axes.
static Term *hint_rank(Lower *L, const Term *x, const CtType *to) {
  const CtType *t = term_t(x);
  const char *index = index_like(L, t, to), *shape = lower_shape_text(L, to);
  if (index && lower_keeps_dims(x))
    return lower_hint(L, "leave out keep_dims, or write p%s for the other operand", index);
  if (index) return lower_hint(L, "write x.reshape(%s) for this one, or p%s for the other operand", shape, index);
  return lower_hint(L, "reduce this one, or give the other operand its %u axes%s", t->rank,
                    t->rank == 2 ? ", as in p + rows[:, None] * stride + columns[None, :]" : "");
}

Term *lower_broadcast_to(Lower *L, Term *x, const int64_t *shape, uint32_t rank, Span span) {
  if (!x) return NULL;
  const CtType *t = term_t(x), *elem = ct_scalar_of(t);
  const CtType *to = lower_shaped(L, elem, shape, rank);
  if (ct_rank(t) == rank && (!rank || !memcmp(t->shape, shape, rank * sizeof *shape))) return x;
  if (ct_rank(t) == 0) return term_value(L, build_splat(&L->b, term_v(x), lower_ir_type(L, to)), to);
  if (t->rank > rank) {
    lower_error(L, span, "cannot broadcast shape %s to %s: its rank is higher", lower_shape_text(L, t),
                lower_shape_text(L, to));
    lower_note_shape(L, x, span);
    return lower_hint_axis(L, x, to) ? NULL : hint_rank(L, x, to);
  }
  const uint32_t added = rank - t->rank;
  for (uint32_t i = 0; i < t->rank; i++) {
    int64_t have = t->shape[i], want = shape[added + i];
    if (have == want || have == 1) continue;
    lower_error(L, span, "cannot broadcast shape %s to %s: dimension %u is %lld, not %lld%s", counts_as(L, t, rank),
                lower_shape_text(L, to), added + i, (long long)have, (long long)want, want == 1 ? "" : " or 1");
    if (!L->like) lower_note_shape(L, x, span);
    else if (lower_hint_extents(L, x, L->like, added + i, rank, span)) return NULL;
    if (added) return lower_hint(L, "index with [:, None] or [None, :] to say which dimension a smaller tensor spans");
    return lower_hint(L, "make both of one shape: the offsets of one access, its mask and its value belong together");
  }
  if (L->is_gluon) return lower_repeat_laid_out(L, x, shape, rank, span);
  while (ct_rank(term_t(x)) < rank) x = lower_expand_dims(L, x, 0);
  if (ct_type_equal(term_t(x), to)) return x;
  return term_value(L, build_broadcast(&L->b, term_v(x), lower_ir_type(L, to)), to);
}

Term *lower_like(Lower *L, Term *x, const Term *like, Span span) {
  L->like = like;
  x = lower_broadcast_like(L, x, term_t(like), span);
  L->like = NULL;
  return x;
}

bool lower_broadcast_pair(Lower *L, Term **a, Term **b, Span span) {
  const CtType *ta = term_t(*a), *tb = term_t(*b);
  uint32_t ra = ct_rank(ta), rb = ct_rank(tb), rank = ra > rb ? ra : rb;
  int64_t shape[CT_MAX_RANK];
  for (uint32_t i = 0; i < rank; i++) {
    int64_t da = i + ra >= rank ? ta->shape[i + ra - rank] : 1, db = i + rb >= rank ? tb->shape[i + rb - rank] : 1;
    if (da != db && da != 1 && db != 1 && ra && rb) {
      lower_error(L, span, "shapes %s and %s do not broadcast: dimension %u is %lld on the left and %lld on the right",
                  counts_as(L, ta, rank), counts_as(L, tb, rank), i, (long long)da, (long long)db);
      if (lower_hint_extents(L, *a, *b, i, rank, span)) return false;
      if (ra != rb && lower_hint_axis(L, ra > rb ? *a : *b, ra > rb ? tb : ta)) return false;
      if (ra != rb || rank == 1)
        lower_hint(L, "index with [:, None] or [None, :] to say which dimension a smaller tensor spans");
      else if (rank == 2 && ta->shape[1 - i] == 1 && tb->shape[1 - i] == 1)
        lower_hint(L, "both are %s: to combine each of the one with each of the other, index one of them with %s",
                   i ? "rows" : "columns", i ? "[:, None]" : "[None, :]");
      return false;
    }
    shape[i] = da > db ? da : db;
  }
  if (rank && !lower_check_shape(L, shape, rank, span)) return false;
  if (ra && rb && ra != rb) lower_warn_square(L, ra > rb ? *b : *a, ra > rb ? *a : *b, span);
  if (L->is_gluon) return lower_broadcast_laid_out(L, a, b, shape, span);
  *a = lower_broadcast_to(L, *a, shape, rank, span);
  *b = lower_broadcast_to(L, *b, shape, rank, span);
  return *a && *b;
}

// ---- promotion ----
static const CtType *promote_ints(const CtType *a, const CtType *b) {
  uint32_t ra = ct_bits(a), rb = ct_bits(b);
  if (ct_is_signed(a) == ct_is_signed(b)) return ra > rb ? a : b;
  if (!ct_is_signed(a)) return ra >= rb ? a : b;
  return rb >= ra ? b : a;
}

static int kind_rank(const CtType *t) { return ct_is_bool(t) ? 0 : ct_is_float(t) ? 2 : 1; }

static const CtType *promoted_type(Lower *L, const CtType *a, bool a_weak, const CtType *b, bool b_weak,
                                   bool div_or_mod, const char *what, Span span) {
  if (a_weak != b_weak) {
    const CtType *weak = a_weak ? a : b, *strong = a_weak ? b : a;
    if (kind_rank(weak) <= kind_rank(strong)) {
      if (div_or_mod && (ct_is_kind(strong, DT_FP16) || ct_is_kind(strong, DT_BF16))) return lower_scalar(L, DT_FP32);
      return strong;
    }
  }
  static const DtypeKind wide[] = {DT_FP64, DT_FP32};
  for (uint32_t i = 0; i < countof(wide); i++)
    if (ct_is_kind(a, wide[i]) || ct_is_kind(b, wide[i])) return lower_scalar(L, wide[i]);
  if (ct_is_kind(a, DT_FP16) || ct_is_kind(b, DT_FP16)) return lower_scalar(L, div_or_mod ? DT_FP32 : DT_FP16);
  if (ct_is_kind(a, DT_BF16) || ct_is_kind(b, DT_BF16))
    return lower_scalar(L, !div_or_mod && ct_is_kind(a, DT_BF16) && ct_is_kind(b, DT_BF16) ? DT_BF16 : DT_FP32);
  if (ct_is_fp8(a) && ct_is_fp8(b)) return ct_type_equal(a, b) ? a : lower_scalar(L, DT_FP16);
  if (!ct_is_int(a) || !ct_is_int(b)) {
    lower_error(L, span, "`%s` does not combine %s and %s", what, ct_type_text(L->ctx, a), ct_type_text(L->ctx, b));
    return lower_hint(L, "convert one side with .to(…)");
  }
  if (div_or_mod && ct_is_signed(a) != ct_is_signed(b)) {
    lower_error(L, span, "`%s` does not combine %s and %s: their signedness differs", what, ct_type_text(L->ctx, a),
                ct_type_text(L->ctx, b));
    const uint32_t unsigned_bits = ct_bits(ct_is_signed(a) ? b : a);
    return lower_hint(L, "convert the side without a sign by .to(tl.int%d), or the other, where it is never negative, "
                         "by .to(tl.uint%u)", unsigned_bits < 32 ? 32 : 64, unsigned_bits < 32 ? 32 : unsigned_bits);
  }
  return promote_ints(a, b);
}

static Int128 const_int(const CtValue *v) {
  return v->kind == CT_BOOL ? v->b : v->kind == CT_FLOAT ? (Int128)v->f : v->i;
}

// Makes a constant operand a value of the type that promotion chose.
static Term *weak_operand(Lower *L, Term *x, const CtType *type, const char *what, Span span) {
  const CtValue *c = x->ct;
  if (ct_is_int(type)) {
    if (c->kind == CT_FLOAT)
      return lower_cast(L, term_to_value(L, x, span, "the operand"), type, span);
    Int128 v = const_int(c);
    if (v < 0 && !ct_is_signed(type)) {
      lower_error(L, span, "negative constant %s combined with unsigned type %s", ct_repr(L->ctx, c),
                  ct_type_text(L->ctx, type));
      if (ct_bits(type) == 32)
        return lower_hint(L, "convert the other operand first: x.to(tl.int64), or x.to(tl.int32) of values below "
                             "2**31");
      return lower_hint(L, "convert the other operand to a signed type first: x.to(tl.int%d)",
                        ct_bits(type) == 64 ? 64 : 32);
    }
    if (!ct_int_fits(v, type)) {
      lower_error(L, span, "constant %s is out of range for type %s", ct_repr(L->ctx, c), ct_type_text(L->ctx, type));
      const CtType *same = lower_scalar(L, ct_bits(type) == 64 ? DT_UINT64 : DT_UINT32);
      const bool fits = v > 0 && ct_is_signed(type) && ct_int_fits(v, same);
      return lower_hint(L, "it takes the type of the other operand: widen that first, x.to(tl.int64)%s%s%s",
                        fits ? ", or compute without a sign, x.to(tl." : "", fits ? dtype_info[same->scalar].name : "",
                        fits ? ")" : "");
    }
    return term_full(L, type, 0, (int64_t)(uint64_t)v);
  }
  double f = c->kind == CT_FLOAT ? c->f : (double)const_int(c);
  if (!lower_check_fp8(L, type, span)) return NULL;
  lower_warn_lost_constant(L, c, type, what, span);
  return term_full(L, type, f, 0);
}

// Whether constant c takes `type`; its type by itself is `own`. In arithmetic it does. A comparison uses `own`, which
// is fp32 for most floats, unless `type` gives the same result. In bit operations a constant that `type` does not hold
// keeps its own.
static bool takes_type(Lower *L, const Term *c, const CtType *own, const CtType *type, PromoteRule rule) {
  bool is_float = c->ct->kind == CT_FLOAT;
  if (rule.bits || (rule.compares && ct_is_int(type))) return !is_float && ct_int_fits(const_int(c->ct), type);
  if (!rule.compares || ct_is_ptr(type)) return true;
  if (ct_is_fp8(type)) return !is_float;
  double v = !is_float ? (double)const_int(c->ct) : ct_is_kind(own, DT_FP32) ? (double)(float)c->ct->f : c->ct->f;
  if (ct_is_kind(type, DT_FP64) && is_float && v != c->ct->f) return false;
  NumFormat format = scalar_num_format(lower_ir_elem_type(L, type)->scalar);
  return isnan(v) || num_decode(format, num_encode(format, v, NUM_RNE, false)) == v;
}

// One operand: its value, which is NULL for a constant number until its type is known, and its element type.
typedef struct { Term *term, *value; const CtType *type; const char *what; } Operand;

static bool make_value(Lower *L, Operand *o, Span span) {
  if (!o->value) o->value = term_to_value(L, o->term, span, o->what);
  return o->value != NULL;
}

static bool take_operand(Lower *L, Operand *o, Term *t, const char *side, const char *what, Span span) {
  *o = (Operand){.term = t, .type = term_is_number(t) ? term_number_type(L, t->ct) : NULL};
  o->what = arena_printf(L->arena, "the %s operand of `%s`", side, what);
  if (o->type) return true;
  if (!make_value(L, o, span)) return false;
  o->type = ct_scalar_of(term_t(o->value));
  return true;
}

// Gives both operands one element type.
static bool promote_pair(Lower *L, Operand *a, Operand *b, PromoteRule rule, const char *what, Span span) {
  bool a_weak = !a->value && takes_type(L, a->term, a->type, b->type, rule);
  bool b_weak = !b->value && takes_type(L, b->term, b->type, a->type, rule);
  if ((!a_weak && !make_value(L, a, span)) || (!b_weak && !make_value(L, b, span))) return false;
  const CtType *t = promoted_type(L, a->type, a_weak, b->type, b_weak, rule.div_or_mod, what, span);
  if (!t) return false;
  a->value = a_weak ? weak_operand(L, a->term, t, what, span) : lower_cast(L, a->value, t, span);
  b->value = b_weak ? weak_operand(L, b->term, t, what, span) : lower_cast(L, b->value, t, span);
  return a->value && b->value;
}

// After a pointer with what does not move it.
static void hint_offset(Lower *L, const Term *given, const Term *number, const Term *pointer, bool may_move) {
  const char *through;
  if (term_is_const(given) && given->ct->kind == CT_FLOAT && may_move)
    lower_hint(L, "an offset is an integer, not %s: write // to divide integers", ct_repr(L->ctx, given->ct));
  else if (lower_note_division(L, number)) lower_hint(L, "an offset is an integer: write a // b in place of a / b");
  else if (may_move && ct_is_float(term_t(number)) && (through = lower_note_loaded(L, number, pointer)))
    lower_hint(L, "an offset is an integer: give `%s` a tensor of integers, or convert what is loaded by .to(tl.int32)"
               "; to compute with the elements, load them first with tl.load(…)", through);
  else if (!may_move || !ct_is_float(term_t(number))) lower_hint(L, "load the elements first with tl.load(…)");
  else lower_hint(L, "an offset is an integer: convert it with .to(tl.int32); to compute with the elements, load them "
                     "first with tl.load(…)");
}

bool lower_promote(Lower *L, Term **a, Term **b, PromoteRule rule, const char *what, Span span) {
  Operand x, y;
  if (!*a || !*b || !take_operand(L, &x, *a, "left", what, span) || !take_operand(L, &y, *b, "right", what, span))
    return false;
  bool pa = ct_is_ptr(x.type), pb = ct_is_ptr(y.type);
  if ((pa && !rule.allow_left_ptr) || (pb && !rule.allow_right_ptr) || (pa && pb && !ct_type_equal(x.type, y.type)) ||
      (pa && ct_is_float(y.type)) || (pb && ct_is_float(x.type))) {
    if (!make_value(L, &x, span) || !make_value(L, &y, span)) return false;
    if (pa != pb && lower_is_told(L, pa ? x.value : y.value)) return false;
    lower_error(L, span, "`%s` does not combine %s and %s", what, term_describe(L, x.value), term_describe(L, y.value));
    const bool equals = !strcmp(what, "==") || !strcmp(what, "!=");
    int64_t zero = 1;
    if (pa != pb && equals && term_get_int(pa ? *b : *a, &zero) && !zero) {
      lower_hint(L, "for an array that may be missing pass None, and test `if %s is not None:`",
                 term_v(pa ? x.value : y.value)->name ? term_v(pa ? x.value : y.value)->name : "p");
      return false;
    }
    if (pa && pb) lower_hint(L, "pointers are moved by integers; load the elements first with tl.load(…)");
    else if ((pa || pb) && !rule.allow_left_ptr) lower_note_pointer(L, pa ? x.value : y.value);
    if (pa != pb) hint_offset(L, pa ? *b : *a, pa ? y.value : x.value, pa ? x.value : y.value, rule.allow_left_ptr);
    return false;
  }
  bool both_ints = ct_is_int(x.type) && ct_is_int(y.type);
  if (!pa && !pb && (both_ints || !rule.bits)) {
    if (!promote_pair(L, &x, &y, rule, what, span)) return false;
  } else if (!make_value(L, &x, span) || !make_value(L, &y, span)) return false;
  if (!lower_broadcast_pair(L, &x.value, &y.value, span)) return false;
  *a = x.value;
  *b = y.value;
  return true;
}

bool lower_promote_all(Lower *L, Term **x, uint32_t n, const char *what, Span span) {
  uint32_t first = n;   // the first that is no constant number, or the last operand
  for (uint32_t i = n; i-- > 0;) {
    if (!x[i]) return false;
    if (first == n || !term_is_number(x[i])) first = i;
  }
  // Constants after the others, so that they take the type of all of them; twice, because a later operand may widen
  // those before it.
  for (uint32_t round = 0; round < 3; round++)
    for (uint32_t i = 0; i < n; i++)
      if (i != first && (round > 0 || !term_is_number(x[i])) &&
          !lower_promote(L, &x[first], &x[i], (PromoteRule){0}, what, span))
        return false;
  return true;
}
