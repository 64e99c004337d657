// -Wwide-shift, -Wadded-twice, -Wpadded-minimum, -Wpadded-sort, -Wunmasked-histogram, -Wpointer-type, -Wlost-constant,
// -Wfloat-bits, -Wclamp-bounds, -Wsoftmax-axis, -Wtrans-order, -Wkeep-dims, -Wlost-fraction, -Wwidened-load, -Wbool-sum,
// -Wnan-compare, -Wrow-stride: values that are not what the expression seems to give.
#include <math.h>
#include <string.h>

#include "frontend/lower/term.h"
#include "frontend/lower/warnings.h"
#include "ir/fold.h"

// left: the operand as the user wrote it, or NULL.
void lower_warn_shift(Lower *L, bool is_left, const CtType *type, int64_t by, Span span, const char *left) {
  const uint32_t bits = ct_bits(type);
  if ((by >= 0 && by < (int64_t)bits) || lower_in_prelude(L, span)) return;
  if (by < 0) {
    if (diag_warning(L->ctx, WARN_WIDE_SHIFT, span, "a shift by the negative number %lld", (long long)by))
      lower_hint(L, "shift the other way: %s %s %lld", left ? left : "x", is_left ? ">>" : "<<", -(long long)by);
    return;
  }
  const bool keeps_sign = !is_left && ct_is_signed(type);
  if (!diag_warning(L->ctx, WARN_WIDE_SHIFT, span, "a shift by %lld of integers of %u bits (%s) always gives 0%s",
                    (long long)by, bits, ct_type_text(L->ctx, ct_scalar_of(type)), keeps_sign ? " or -1" : ""))
    return;
  if (is_left && by < 64)
    lower_hint(L, "widen it first: %s.to(tl.%sint%u) << %lld", left ? left : "x",
               ct_is_signed(type) || by < 32 ? "" : "u", by < 32 ? 32 : 64, (long long)by);
  else lower_hint(L, "shift by less than %u", bits);
}

static bool has_accumulator(const Value *v, const Value *acc) {
  int64_t zero;
  uint64_t bits;
  return v->def && v->def->opcode == OP_DOT && op_operand(v->def, 2) == acc &&
         !(value_constant_int(acc, &zero) && !zero) && !(value_constant_bits(acc, &bits) && !bits);
}

void lower_warn_added_twice(Lower *L, const Term *a, const Term *b) {
  if (a->kind != TERM_VALUE || b->kind != TERM_VALUE) return;
  const Value *dot = has_accumulator(term_v(b), term_v(a)) ? term_v(b) : term_v(a);
  if (dot == term_v(a) && !has_accumulator(dot, term_v(b))) return;
  const Span span = dot->def->span;
  if (diag_warning(L->ctx, WARN_ADDED_TWICE, span, "this dot has added its accumulator already: the sum has it twice"))
    lower_hint(L, "assign the result: acc = %s", lower_source_text_or(L, span, "tl.dot(a, b, acc)"));
}

// v before axes were added to it.
static const Value *before_broadcasts(const Value *v) {
  while (v->def && (v->def->opcode == OP_BROADCAST || v->def->opcode == OP_EXPAND_DIMS || v->def->opcode == OP_EXTSI ||
                    v->def->opcode == OP_EXTUI))
    v = op_operand(v->def, 0);
  return v;
}

// What the conversions of integers to others start from.
static const Value *converted(const Value *v) {
  while (v->def && op_is(v->def, TRAIT_ELEMENTWISE) && v->def->num_operands == 1) v = op_operand(v->def, 0);
  return v;
}

// Whether a mask of one axis leaves out some elements and not others, as far as can be seen.
static bool cuts(const Value *mask) {
  const Op *def = mask->def;
  int64_t x;
  if (!def || def->opcode == OP_SPLAT || mask->type->rank != 1) return false;
  return def->opcode != OP_CMPI ||
         (!value_constant_int(op_operand(def, 0), &x) && !value_constant_int(op_operand(def, 1), &x));
}

// The load of the user's whose mask gives some elements of x no value; NULL if there is none.
static const Op *padded_load(Lower *L, const Value *x) {
  const Op *load = x->def;
  const Value *mask = load && load->opcode == OP_LOAD ? op_operand(load, 2) : NULL;
  if (!mask || op_operand(load, 3) || !cuts(mask) || lower_in_prelude(L, load->span)) return NULL;
  return type_elem_bits(load->results[0].type) == 1 ? NULL : load;
}

// What to give the elements of such a load so that they come after all others, or before them.
static void hint_other(Lower *L, const Op *load, bool is_large) {
  const uint32_t bits = type_elem_bits(load->results[0].type);
  if (type_is_float(type_elem(load->results[0].type)))
    lower_hint(L, "give them another value: other=%sfloat(\"inf\")", is_large ? "" : "-");
  else if (is_large)
    lower_hint(L, "give them a value above all others, of %u bits: other=2**%u - 1, or 2**%u - 1 if it has no sign",
               bits, bits - 1, bits);
  else lower_hint(L, "give them a value below all others, of %u bits: other=-2**%u", bits, bits - 1);
}

// v before conversions that keep its sign and order.
static const Value *before_casts(const Value *v) {
  while (v->def && (v->def->opcode == OP_FPEXT || v->def->opcode == OP_FPTRUNC || v->def->opcode == OP_EXTSI ||
                    v->def->opcode == OP_RESHAPE))
    v = op_operand(v->def, 0);
  return v;
}

static bool is_one_of(const char *name, const char *const *names, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (!strcmp(name, names[i])) return true;
  return false;
}

void lower_warn_infinite(Lower *L, const CtFunction *combine, const Term *x) {
  static const char *const names[] = {"_add", "_mul"};
  uint64_t bits;
  if (!lower_in_prelude(L, combine->def->span) || !is_one_of(combine->name, names, countof(names)) || !term_is_tensor(x))
    return;
  const Op *load = before_casts(term_v(x))->def;
  const Value *other = load && load->opcode == OP_LOAD && op_operand(load, 2) ? op_operand(load, 3) : NULL;
  if (!other || !type_is_float(type_elem(other->type)) || !value_constant_bits(other, &bits)) return;
  const double v = num_decode(scalar_num_format(type_elem(other->type)->scalar), bits);
  const bool is_sum = combine->name[1] == 'a';
  if (isinf(v) && cuts(op_operand(load, 2)) && !lower_in_prelude(L, load->span) &&
      diag_warning(L->ctx, WARN_INFINITE_SUM, load->span, "the elements that the mask of this load leaves out count as "
                   "%sinf in the %s", v < 0 ? "-" : "", is_sum ? "sum" : "product"))
    lower_hint(L, "give them a value that changes nothing: other=%s, or tl.where(mask, x, %s) before it",
               is_sum ? "0.0" : "1.0", is_sum ? "0.0" : "1.0");
}

// The maximum of integers is left alone: most are counts and sizes, of which none is negative.
void lower_warn_padded(Lower *L, const CtFunction *combine, const Term *x) {
  static const char *const minima[] = {"_min", "_argmin_left", "_argmin_any"};
  static const char *const places[] = {"_argmax_left", "_argmax_any"};
  if (!lower_in_prelude(L, combine->def->span)) return;
  const bool is_minimum = is_one_of(combine->name, minima, countof(minima)), is_float = ct_is_float(term_t(x));
  const bool has_place = (is_float || ct_is_signed(term_t(x))) && is_one_of(combine->name, places, countof(places));
  if (!is_minimum && !has_place && !(is_float && !strcmp(combine->name, "_max"))) return;
  const Op *load = padded_load(L, is_minimum ? converted(term_v(x)) : before_casts(term_v(x)));
  if (load && diag_warning(L->ctx, WARN_PADDED_MINIMUM, load->span,
                           "the elements that the mask of this load leaves out count as 0 in the %s",
                           is_minimum ? "minimum" : "maximum, and 0 is above all negative ones"))
    hint_other(L, load, is_minimum);
}

void lower_warn_sort(Lower *L, const Term *x, bool descending) {
  if (!term_is_tensor(x) || (descending && !ct_is_float(term_t(x)) && !ct_is_signed(term_t(x)))) return;
  const Op *load = padded_load(L, before_casts(term_v(x)));
  if (load && diag_warning(L->ctx, WARN_PADDED_SORT, load->span,
                           "the elements that the mask of this load leaves out are sorted as 0 among the others"))
    hint_other(L, load, !descending);
}

void lower_warn_histogram(Lower *L, Span span, const Value *x, int64_t bins, const char *counted, const char *number) {
  const Op *load = converted(x)->def;
  const Value *mask = load && load->opcode == OP_LOAD ? op_operand(load, 2) : NULL;
  const Value *other = mask ? op_operand(load, 3) : NULL;
  uint64_t always;
  int64_t into = 0;
  if (!mask || value_constant_bits(mask, &always) || (other && !value_constant_int(other, &into))) return;
  if (into < 0 || into >= bins || lower_in_prelude(L, span)) return;
  if (!diag_warning(L->ctx, WARN_UNMASKED_HISTOGRAM, span,
                    "this also counts the elements that the mask of the load leaves out: each counts as %lld",
                    (long long)into))
    return;
  const Span at = mask->def ? mask->def->span : load->span;
  const bool is_own = at.begin != load->span.begin || at.end != load->span.end;
  lower_hint(L, "pass the mask of the load: tl.histogram(%s, %s, mask=%s)", counted, number,
             is_own ? lower_source_text_or(L, at, "mask") : "mask");
}

void lower_warn_shifts(Lower *L, const Term *a, const Term *b, Span span, const char *left) {
  const Value *by = before_broadcasts(term_v(b));
  uint64_t number;
  const uint32_t bits = ct_bits(term_t(a));
  if (!by->def || by->def->opcode != OP_RANGE || !value_constant_bits(term_v(a), &number) || !number) return;
  if (op_int(by->def, ATTR_END, 0) <= (int64_t)bits || lower_in_prelude(L, span)) return;
  if (!diag_warning(L->ctx, WARN_WIDE_SHIFT, span, "a shift by %u or more of integers of %u bits (%s) gives 0, and the "
                    "number of bits goes up to %lld here", bits, bits, ct_type_text(L->ctx, ct_scalar_of(term_t(a))),
                    (long long)op_int(by->def, ATTR_END, 0) - 1))
    return;
  if (bits < 64) lower_hint(L, "widen it first: tl.full([], %s, tl.int64) << …", left ? left : "1");
  else lower_hint(L, "shift by less than %u", bits);
}

void lower_warn_pointer_type(Lower *L, const CtValue *a, const CtValue *b, Span span) {
  if (a->kind != CT_DTYPE || b->kind != CT_DTYPE || ct_is_ptr(a->type) == ct_is_ptr(b->type)) return;
  const CtType *pointer = ct_is_ptr(a->type) ? a->type : b->type, *other = ct_is_ptr(a->type) ? b->type : a->type;
  if (ct_rank(pointer) || ct_rank(other) || lower_in_prelude(L, span)) return;
  if (diag_warning(L->ctx, WARN_POINTER_TYPE, span, "%s, the type of a pointer, never equals %s",
                   ct_type_text(L->ctx, pointer), ct_type_text(L->ctx, other)))
    lower_hint(L, "the type of the elements that it points to is .dtype.element_ty");
}

void lower_warn_lost_constant(Lower *L, const CtValue *c, const CtType *type, const char *what, Span span) {
  if (c->kind != CT_FLOAT || c->f == 0 || isinf(c->f) || isnan(c->f) || lower_in_prelude(L, span)) return;
  const NumFormat format = scalar_num_format(lower_ir_elem_type(L, ct_scalar_of(type))->scalar);
  const double kept = num_decode(format, num_encode(format, c->f, NUM_RNE, false));
  // Where another value is chosen or compared, a number beyond all others does what infinity does.
  if (kept != 0 && (isfinite(kept) || what[0] >= 'a')) return;
  if (diag_warning(L->ctx, WARN_LOST_CONSTANT, span, "%s takes the type of the other operand, %s, and is %s there",
                   ct_repr(L->ctx, c), ct_type_text(L->ctx, ct_scalar_of(type)), kept == 0 ? "0" : "infinite"))
    lower_hint(L, "compute in float32: convert the other operand with .to(tl.float32)");
}

void lower_warn_float_bits(Lower *L, const Call *c, AtomicKind kind, const CtType *elem) {
  if (!diag_warning(L->ctx, WARN_FLOAT_BITS, c->span, "`%s` of %s works on the bits of the numbers, not on their "
                    "values", c->row->name, ct_type_text(L->ctx, elem)))
    return;
  lower_hint(L, "for flags use integers%s", kind == ATOMIC_OR ? "; for the larger value tl.atomic_max" : "");
}

void lower_warn_signed(Lower *L, const Call *c, Term *const *x) {
  const CtType *t = ct_scalar_of(term_t(x[0]));
  for (uint32_t i = 0; i < 2; i++)   // a scalar is often the reciprocal of a divisor, which is positive
    if (!term_is_tensor(c->args[i]) || c->args[i]->kind != TERM_VALUE || !ct_is_signed(term_t(c->args[i]))) return;
  if (!ct_is_signed(t) || lower_in_prelude(L, c->span)) return;
  if (diag_warning(L->ctx, WARN_SIGNED_MULHI, c->span, "`%s` multiplies %s as unsigned integers: of a negative number "
                   "the result is another", c->row->name, ct_type_text(L->ctx, t)))
    lower_hint(L, ct_bits(t) == 32 ? "of signed numbers write (x.to(tl.int64) * y) >> 32; if none is negative, convert "
                                     "them with .to(tl.uint32)"
                                   : "if no number is negative, convert them with .to(tl.uint64)");
}

void lower_warn_difference(Lower *L, const Call *c, const Term *x, const CtType *to) {
  const CtType *t = ct_scalar_of(term_t(x));
  const Op *op = before_broadcasts(term_v(x))->def;
  uint64_t bits;
  if (!op || op->opcode != OP_SUBI || !ct_is_int(t) || ct_is_bool(t) || ct_is_signed(t) || ct_bits(t) > 16) return;
  if (!ct_is_float(to) && !(ct_is_int(to) && ct_is_signed(to) && ct_bits(to) > ct_bits(t))) return;
  for (uint32_t i = 0; i < 2; i++)
    if (value_constant_bits(op_operand(op, i), &bits)) return;
  if (lower_in_prelude(L, c->span)) return;
  const char *type = ct_type_text(L->ctx, t);
  if (diag_warning(L->ctx, WARN_WRAPPED_DIFFERENCE, op->span, "this difference is one of %s, where less than 0 becomes "
                   "%llu and less, before it is converted to %s", type, (1ull << ct_bits(t)) - 1,
                   ct_type_text(L->ctx, to)))
    lower_hint(L, "convert both sides of the minus, then subtract");
}

void lower_warn_widened_product(Lower *L, const Term *x, const CtType *to, Span span) {
  if (x->kind != TERM_VALUE || term_is_tensor(x) || !ct_is_int(term_t(x)) || ct_bits(term_t(x)) != 32) return;
  const Op *op = value_op(term_v(x), OP_MULI);
  if (!op || !ct_is_int(to) || ct_bits(to) != 64 || lower_in_prelude(L, span)) return;
  const uint32_t k = value_op(op_operand(op, 0), OP_PROGRAM_ID) ? 1 : 0;
  const Value *program = op_operand(op, 1 - k), *by = op_operand(op, k);
  if (!value_op(program, OP_PROGRAM_ID) || by->def || by->block->parent) return;     // a number that the launch brings
  if (diag_warning(L->ctx, WARN_WIDENED_PRODUCT, op->span, "this product has 32 bits, and wraps around from 2147483648 "
                   "on, before it becomes %s", ct_type_text(L->ctx, to)))
    lower_hint(L, "convert first: tl.program_id(%lld).to(tl.int64) * %s",
               (long long)op_int(program->def, ATTR_AXIS, 0), by->name);
}

void lower_warn_clamp(Lower *L, const Call *c, const Term *low, const Term *high) {
  uint64_t bits[2];
  if (!value_constant_bits(term_v(low), &bits[0]) || !value_constant_bits(term_v(high), &bits[1])) return;
  const NumFormat format = scalar_num_format(type_elem(term_v(low)->type)->scalar);
  const double lo = num_decode(format, bits[0]), hi = num_decode(format, bits[1]);
  if (!(lo > hi) || lower_in_prelude(L, c->span)) return;
  if (diag_warning(L->ctx, WARN_CLAMP_BOUNDS, c->span,
                   "the lower bound %g of this clamp is above the upper one, %g: every element becomes %g", lo, hi, hi))
    lower_hint(L, "the lower bound comes first: tl.clamp(%s, %g, %g)", lower_source_text_or(L, c->spans[0], "x"), hi,
               lo);
}

void lower_warn_softmax(Lower *L, const Term *x, Span span) {
  if (!term_is_tensor(x) || ct_rank(term_t(x)) < 2) return;
  const CallSite *site = L->b.inlined_at;
  while (site && lower_in_prelude(L, site->span)) site = site->outer;
  if (diag_warning(L->ctx, WARN_SOFTMAX_AXIS, site ? site->span : span,
                   "softmax without dim goes along axis 0 of %s: the sum of each column is 1", term_describe(L, x)))
    lower_hint(L, "write dim=%u for the last axis, dim=0 for this one", ct_rank(term_t(x)) - 1);
}

void lower_warn_trans(Lower *L, const Call *c) {
  if (lower_in_prelude(L, c->span)) return;
  if (diag_warning(L->ctx, WARN_TRANS_ORDER, c->span, "this keeps the axes in their order: dims names the axis that "
                   "comes first, then the next"))
    lower_hint(L, "write tl.trans(%s) to exchange them", lower_source_text_or(L, c->spans[0], "x"));
}

void lower_warn_keep_dims(Lower *L, const Call *c, uint32_t i) {
  const Term *t = c->args[i];
  if (!term_is_const(t) || t->ct->kind != CT_INT || !t->ct->i) return;
  const CallSite *site = L->b.inlined_at;
  while (site && lower_in_prelude(L, site->span)) site = site->outer;
  if (diag_warning(L->ctx, WARN_KEEP_DIMS, site ? site->span : c->span,
                   "the number %lld is keep_dims here, and no second axis", (long long)t->ct->i))
    lower_hint(L, "reduce along one axis after the other, or along all with axis=None; if it is meant, write "
                  "keep_dims=True");
}

// Whether v holds whole numbers, as far as can be seen: rounded or constant ones, or integers made floats.
static bool is_whole(const Value *v) {
  for (uint32_t depth = 0; depth < 8; depth++) {
    uint64_t bits;
    const Op *def = v->def;
    if (!def || value_constant_bits(v, &bits)) return true;
    if (type_is_int(v->type)) return true;
    if (op_is(def, TRAIT_ELEMENTWISE) && def->num_operands > 1) return false;
    if (!def->num_operands || !op_is(def, TRAIT_PURE)) return false;
    if (def->opcode == OP_FLOOR || def->opcode == OP_CEIL || def->opcode == OP_RINT ||
        def->opcode == OP_TRUNC)
      return true;
    v = op_operand(def, 0);
  }
  return false;
}

void lower_warn_stored(Lower *L, const Call *c, const Term *value, const CtType *elem) {
  lower_warn_widened_product(L, value, ct_scalar_of(elem), c->span);
  // Narrow integers often hold quantised numbers; those of a float's own 16 bits look like its bits.
  const bool is_wide = ct_bits(ct_scalar_of(elem)) >= 32;
  if (value->kind != TERM_VALUE || is_whole(term_v(value))) return;
  if (!is_wide && (ct_bits(ct_scalar_of(elem)) != 16 || ct_bits(ct_scalar_of(term_t(value))) != 16)) return;
  if (!lower_in_prelude(L, c->span)) lower_warn_fraction(L, c, value, elem);
}

void lower_warn_bool_sum(Lower *L, const Term *a, const Term *b, Span span) {
  if (a->kind != TERM_VALUE || b->kind != TERM_VALUE || lower_in_prelude(L, span)) return;
  if (ct_bits(ct_scalar_of(term_t(a))) != 1 || ct_bits(ct_scalar_of(term_t(b))) != 1) return;
  if (diag_warning(L->ctx, WARN_BOOL_SUM, span, "a sum of int1 is int1: True + True is False"))
    lower_hint(L, "to count, write a.to(tl.int32) + b; for either, a | b");
}

static bool is_nan(const CtValue *c) { return c && c->kind == CT_FLOAT && isnan(c->f); }

void lower_warn_nan(Lower *L, PyOp op, const CtValue *a, const CtValue *b, Span span) {
  if ((!is_nan(a) && !is_nan(b)) || lower_in_prelude(L, span)) return;
  if (diag_warning(L->ctx, WARN_NAN_COMPARE, span, "nothing equals NaN, not even NaN: this is always %s",
                   op == PYOP_NE ? "true" : "false"))
    lower_hint(L, "x != x holds for NaN alone");
}

void lower_warn_row_stride(Lower *L, const Call *c, uint32_t rank, Value *const *shape, Value *const *strides) {
  int64_t last, rows;
  const Value *extent[2], *stride;
  if (rank != 2 || !value_constant_int(strides[1], &last) || last != 1 || value_constant_int(strides[0], &rows)) return;
  for (uint32_t i = 0; i < 2; i++) extent[i] = before_broadcasts(shape[i]);
  stride = before_broadcasts(strides[0]);
  if (stride != extent[0] || extent[0] == extent[1]) return;
  if (diag_warning(L->ctx, WARN_ROW_STRIDE, c->spans[2], "these strides put rows as far apart as the shape has rows, "
                   "whatever their length"))
    lower_hint(L, "in memory without gaps rows are as far apart as each is long: the shape is (rows, columns), the "
                  "strides are (columns, 1)");
}

void lower_warn_fraction(Lower *L, const Call *c, const Term *value, const CtType *elem) {
  if (value->kind != TERM_VALUE || !ct_is_float(term_t(value))) return;
  if (elem->kind != CT_TYPE_SCALAR || !ct_is_int(elem)) return;
  if (diag_warning(L->ctx, WARN_LOST_FRACTION, c->spans[1], "%s is rounded toward zero to %s before `%s`",
                   term_describe(L, value), ct_type_text(L->ctx, elem), c->row->name))
    lower_hint(L, "let the pointer point to %s, or write .to(tl.%s) if whole numbers are meant%s",
               ct_bits(elem) == 16 ? "numbers of its type" : "float32", dtype_info[elem->scalar].name,
               ct_bits(elem) != ct_bits(ct_scalar_of(term_t(value))) ? "" :
               arena_printf(L->arena, ", or .to(tl.%s, bitcast=True) for its bits", dtype_info[elem->scalar].name));
}

void lower_warn_widened(Lower *L, const Call *c, const CtType *pointers, const CtType *mask, const CtType *both) {
  const bool grows = ct_numel(both) > ct_numel(pointers);
  if (!grows || ct_rank(mask) >= ct_rank(pointers) || lower_in_prelude(L, c->span)) return;
  if (diag_warning(L->ctx, WARN_WIDENED_LOAD, c->spans[1], "the mask lacks an axis, so that this loads %s through "
                   "pointers %s", lower_shape_text(L, both), lower_shape_text(L, pointers)))
    lower_hint(L, "give the mask the axes of the pointers, as in (%s)[:, None]", builtin_arg_text(L, c, 1));
}
