// Python's operators on terms: promotion, then the op of the operands' type.
#include "frontend/lower/hints.h"
#include "frontend/lower/term.h"
#include "frontend/lower/warnings.h"

#include <string.h>

static Term *unary_op(Lower *L, Opcode oc, Term *x) {
  return term_value(L, build_unary(&L->b, oc, term_v(x)), term_t(x));
}
static Term *binary_op(Lower *L, Opcode oc, Term *a, Term *b) {
  return term_value(L, build_binary(&L->b, oc, term_v(a), term_v(b)), term_t(a));
}

// Float types that the op's row lacks, such as fp8, are computed in fp32 and rounded once.
Term *lower_elementwise(Lower *L, Opcode oc, Term **x, uint32_t n) {
  const CtType *t = ct_scalar_of(term_t(x[0])), *f32 = lower_scalar(L, DT_FP32);
  bool via_f32 = ct_is_float(t) && !op_takes(oc, lower_ir_elem_type(L, t));
  Value *v[3];
  for (uint32_t i = 0; i < n; i++) {
    if (via_f32) x[i] = lower_cast(L, x[i], f32, L->b.span);
    if (!x[i]) return NULL;
    v[i] = term_v(x[i]);
  }
  Term *r = term_value(L, build_elementwise(&L->b, oc, v, n), term_t(x[0]));
  return via_f32 ? lower_cast(L, r, t, L->b.span) : r;
}

// Moves ptr by off; promotion has checked that off is of integers.
static Term *pointer_offset(Lower *L, Term *ptr, Term *off, bool negate, Span span) {
  if (negate) {
    if (ct_is_bool(term_t(off)) || (!ct_is_signed(term_t(off)) && ct_bits(term_t(off)) < 64))
      off = lower_cast_to(L, off, DT_INT64, span);
    off = binary_op(L, OP_SUBI, term_full(L, term_t(off), 0, 0), off);
  }
  const CtType *t = ct_scalar_of(term_t(off));
  if (!ct_is_signed(t) && ct_bits(t) < 64) off = lower_cast_to(L, off, DT_INT64, span);
  else if (ct_bits(t) < 32) off = lower_cast_to(L, off, DT_INT32, span);
  return term_value(L, build_binary(&L->b, OP_ADDPTR, term_v(ptr), term_v(off)), term_t(ptr));
}

// The expression from its operator on: a line may have several sums that begin at the same place.
static Span from_operator(const Lower *L, PyOp op, Span span) {
  const SourceFile *f = source_locate(L->ctx, span.begin).file;
  if (L->left_end <= span.begin || L->left_end >= span.end || !f || span.end - f->base > f->size) return span;
  Loc at = L->left_end;
  while (at < span.end && f->text[at - f->base] != *pyop_text(op)) at++;
  return at < span.end ? (Span){at, span.end} : span;
}

// With --debug and sanitize_overflow, asserts that the result in 64 bits fits the type. 64-bit types are not checked.
void lower_assert(Lower *L, Value *condition, Span span, const char *text) {
  Op *check = build_op(&L->b, OP_ASSERT, &condition, 1);
  check->span = span;
  op_set_str(L->ctx, check, ATTR_TEXT, intern(L->ctx, text));
}

static void check_overflow(Lower *L, PyOp op, Opcode oc, Term *a, Term *b, Span span) {
  const CtType *t = ct_scalar_of(term_t(a)), *wide = lower_scalar(L, DT_INT64);
  uint32_t bits = ct_bits(t);
  if (!L->options->sanitize_overflow || !L->options->debug || L->may_wrap || bits >= 64 || bits == 1 ||
      lower_in_prelude(L, span))
    return;
  a = lower_cast(L, a, wide, span);
  b = lower_cast(L, b, wide, span);
  if (!a || !b) return;
  Term *r = binary_op(L, oc, a, b);
  int64_t most = ct_is_signed(t) ? ((int64_t)1 << (bits - 1)) - 1 : ((int64_t)1 << bits) - 1,
          least = ct_is_signed(t) ? -most - 1 : 0;
  Term *high = lower_binary(L, PYOP_LE, r, term_full(L, wide, 0, most), span),
       *low = lower_binary(L, PYOP_GE, r, term_full(L, wide, 0, least), span);
  Term *fits = high && low ? lower_binary(L, PYOP_AND, high, low, span) : NULL;
  if (!fits) return;
  const char *wider = arena_printf(L->arena, "x.to(tl.int%u)", bits < 32 ? 32 : 64), *sign = pyop_text(op);
  const char *text = arena_printf(L->arena, "%s overflow in %s: widen first, %s%s", ct_type_text(L->ctx, t), sign,
                                  op == PYOP_NEG ? sign : wider,
                                  op == PYOP_NEG ? wider : arena_printf(L->arena, " %s y", sign));
  lower_assert(L, term_v(fits), from_operator(L, op, span), text);
}

static Term *int_arithmetic(Lower *L, PyOp op, Opcode oc, Term *a, Term *b, Span span) {
  check_overflow(L, op, oc, a, b, span);
  return binary_op(L, oc, a, b);
}

static Term *lower_add_sub(Lower *L, PyOp op, Term *a, Term *b, Span span) {
  bool sub = op == PYOP_SUB;
  PromoteRule rule = {.allow_left_ptr = true, .allow_right_ptr = !sub};
  if (!lower_promote(L, &a, &b, rule, pyop_text(op), span)) return NULL;
  bool pa = ct_is_ptr(term_t(a)), pb = ct_is_ptr(term_t(b));
  if (pa && pb) {
    lower_error(L, span, "cannot add two pointers");
    return lower_hint(L, "add the values: tl.load(a + offsets) + tl.load(b + offsets)");
  }
  if (pa) return pointer_offset(L, a, b, sub, span);
  if (pb) return pointer_offset(L, b, a, false, span);
  if (ct_is_float(term_t(a))) return lower_elementwise(L, sub ? OP_SUBF : OP_ADDF, (Term *[]){a, b}, 2);
  return int_arithmetic(L, op, sub ? OP_SUBI : OP_ADDI, a, b, span);
}

static Term *lower_division(Lower *L, PyOp op, Term *a, Term *b, Span span) {
  const char *what = pyop_text(op);
  PromoteRule rule = {.div_or_mod = true};
  int64_t known;
  const int64_t *divisor = term_is_const(b) && term_get_int(b, &known) ? &known : NULL;
  if (!lower_promote(L, &a, &b, rule, what, span)) return NULL;
  bool is_float = ct_is_float(term_t(a)), is_signed = ct_is_signed(term_t(a));
  if (!is_float && op != PYOP_DIV && divisor && *divisor == 0) {
    lower_error(L, span, "integer division by zero");
    const Node *n = lower_node_at(L, span);
    if (n && n->kind == NODE_BINARY) lower_note_computed(L, n->binary.right, 0);
    return lower_hint(L, "the divisor is a constant of this compilation: where it may be 0, divide under an `if`");
  }
  switch (op) {
  case PYOP_DIV:
    if (!is_float) {
      a = lower_cast_to(L, a, DT_FP32, span);
      b = lower_cast_to(L, b, DT_FP32, span);
    }
    return lower_elementwise(L, OP_DIVF, (Term *[]){a, b}, 2);
  case PYOP_FLOORDIV:
    if (is_float) {
      lower_error(L, span, "`//` divides integers, not %s", ct_type_text(L->ctx, ct_scalar_of(term_t(a))));
      if (lower_hint_division(L, b) || lower_hint_division(L, a)) return NULL;
      const char *of = lower_prelude_name(L, span);
      if (of) return lower_hint(L, "`%s` takes integers: convert with .to(tl.int32)", of);
      return lower_hint(L, "write a / b for the quotient, or tl.floor(a / b)");
    }
    return binary_op(L, is_signed ? OP_DIVSI : OP_DIVUI, a, b);
  default:
    if (is_float) return lower_elementwise(L, OP_REMF, (Term *[]){a, b}, 2);
    return binary_op(L, is_signed ? OP_REMSI : OP_REMUI, a, b);
  }
}

// The left operand as the user wrote it, or NULL. The parentheses around an operator belong to its span.
static const char *left_text(Lower *L, Span span) {
  const char *text = L->left_end ? lower_source_text_or(L, span_of(span.begin, L->left_end), NULL) : NULL;
  int open = 0;
  for (const char *p = text; p && *p; p++) open += (*p == '(') - (*p == ')');
  for (; text && open > 0 && (*text == '(' || *text == ' '); text++) open -= *text == '(';
  return text;
}

static Term *lower_bits(Lower *L, PyOp op, Term *a, Term *b, Span span) {
  const char *what = pyop_text(op);
  // The left operand decides which right shift it is, or the right one if the left is a constant.
  const Term *decides = a->kind == TERM_VALUE ? a : b;
  bool is_signed = decides->kind == TERM_VALUE && ct_is_signed(term_t(decides));
  const bool shifts = op == PYOP_LSHIFT || op == PYOP_RSHIFT;
  const bool has_number = term_is_const(a) || term_is_const(b);
  int64_t by = 0;
  if (shifts && term_is_const(b) && !term_get_int(b, &by)) by = 0;
  if (!lower_promote(L, &a, &b, (PromoteRule){.bits = true}, what, span)) return NULL;
  const CtType *ta = ct_scalar_of(term_t(a)), *tb = ct_scalar_of(term_t(b));
  if (!ct_is_int(ta) || !ct_is_int(tb)) {
    lower_error(L, span, "`%s` works on integers, not on %s and %s", what, ct_type_text(L->ctx, ta),
                ct_type_text(L->ctx, tb));
    if (shifts && ct_is_int(ta))
      return lower_hint(L, "the number of bits to shift by is an integer: convert it with .to(tl.int32)");
    if (shifts)
      return lower_hint(L, "multiply by a power of two, or take the bits: x.to(tl.int32, bitcast=True)");
    if (op == PYOP_XOR && has_number)
      return lower_hint(L, "`^` is an exclusive or: a square is x * x, another power libdevice.pow(x, y)");
    return lower_hint(L, "comparisons need parentheses next to `%s`: (a < b) %s (c < d); of bits take "
                         "x.to(tl.int32, bitcast=True)", what, what);
  }
  if (by) lower_warn_shift(L, op == PYOP_LSHIFT, ta, by, span, left_text(L, span));
  else if (op == PYOP_LSHIFT) lower_warn_shifts(L, a, b, span, left_text(L, span));
  switch (op) {
  case PYOP_AND: return binary_op(L, OP_ANDI, a, b);
  case PYOP_OR: return binary_op(L, OP_ORI, a, b);
  case PYOP_XOR: return binary_op(L, OP_XORI, a, b);
  case PYOP_LSHIFT: return binary_op(L, OP_SHLI, a, b);
  default: return binary_op(L, is_signed ? OP_SHRSI : OP_SHRUI, a, b);
  }
}

static Term *lower_comparison(Lower *L, PyOp op, Term *a, Term *b, Span span) {
  if (!lower_promote(L, &a, &b, (PromoteRule){.compares = !lower_in_prelude(L, span)}, pyop_text(op), span))
    return NULL;
  static const CmpPred preds[][3] = {   // signed, unsigned, float
      [PYOP_EQ] = {CMP_EQ, CMP_EQ, CMP_OEQ},    [PYOP_NE] = {CMP_NE, CMP_NE, CMP_UNE},
      [PYOP_LT] = {CMP_SLT, CMP_ULT, CMP_OLT},  [PYOP_LE] = {CMP_SLE, CMP_ULE, CMP_OLE},
      [PYOP_GT] = {CMP_SGT, CMP_UGT, CMP_OGT},  [PYOP_GE] = {CMP_SGE, CMP_UGE, CMP_OGE},
  };
  const CtType *t = term_t(a);
  if (ct_is_fp8(t)) {
    a = lower_cast_to(L, a, DT_FP32, span);
    b = lower_cast_to(L, b, DT_FP32, span);
    if (!a || !b) return NULL;
  }
  CmpPred p = preds[op][ct_is_float(t) ? 2 : ct_is_signed(t) ? 0 : 1];
  return term_value(L, build_cmp(&L->b, p, term_v(a), term_v(b)), lower_with_elem(L, t, lower_scalar(L, DT_INT1)));
}

static const char *const method_names[NUM_PYOPS][2] = {
    [PYOP_ADD] = {"__add__", "__radd__"},
    [PYOP_SUB] = {"__sub__", "__rsub__"},
    [PYOP_MUL] = {"__mul__", "__rmul__"},
    [PYOP_DIV] = {"__truediv__", "__rtruediv__"},
    [PYOP_FLOORDIV] = {"__floordiv__", "__rfloordiv__"},
    [PYOP_MOD] = {"__mod__", "__rmod__"},
    [PYOP_POW] = {"__pow__", "__rpow__"},
    [PYOP_MATMUL] = {"__matmul__", "__rmatmul__"},
    [PYOP_LSHIFT] = {"__lshift__", "__rlshift__"},
    [PYOP_RSHIFT] = {"__rshift__", "__rrshift__"},
    [PYOP_AND] = {"__and__", "__rand__"},
    [PYOP_OR] = {"__or__", "__ror__"},
    [PYOP_XOR] = {"__xor__", "__rxor__"},
    [PYOP_EQ] = {"__eq__", "__eq__"},
    [PYOP_NE] = {"__ne__", "__ne__"},
    [PYOP_LT] = {"__lt__", "__gt__"},
    [PYOP_LE] = {"__le__", "__ge__"},
    [PYOP_GT] = {"__gt__", "__lt__"},
    [PYOP_GE] = {"__ge__", "__le__"},
};

// The operator whose method has this name; PYOP_NONE: none. side: 0 if x.name(y) is x op y, 1 if it is y op x.
static PyOp find_operator(const char *name, uint32_t *side) {
  for (uint32_t op = 0; op < NUM_PYOPS; op++)
    for (*side = 0; method_names[op][0] && *side < 2; ++*side)
      if (strcmp(method_names[op][*side], name) == 0) return op;
  return PYOP_NONE;
}

Term *lower_operator_method(Lower *L, Term *x, const char *name) {
  uint32_t side;
  return find_operator(name, &side) == PYOP_NONE ? NULL : term_bound(L, x, term_const(L, ct_str(L->ctx, name)));
}

Term *lower_call_operator(Lower *L, Term *self, const char *name, CallArgs *args) {
  if (args->num_args != 1 || args->num_kwargs) {
    lower_error(L, args->span, "`%s` takes one operand", name);
    return lower_hint(L, "write the operator: x + y, x >> y");
  }
  uint32_t side;
  const PyOp op = find_operator(name, &side);
  Term *x[] = {self, args->args[0]};
  return lower_binary(L, op, x[side], x[!side], args->span);
}

// Whether it is what tl.broadcast gives: two tensors of one shape, made by one call.
static bool is_pair_of_shapes(const Term *t) {
  if (t->tuple.cls || t->tuple.is_list || t->tuple.count != 2) return false;
  const Term *x = t->tuple.items[0], *y = t->tuple.items[1];
  if (!term_is_tensor(x) || !term_is_tensor(y)) return false;
  const Op *a = value_op(term_v(x), OP_BROADCAST), *b = value_op(term_v(y), OP_BROADCAST);
  if (a && b) return a->span.begin == b->span.begin && a->span.end == b->span.end;
  return (a || b) && type_same_shape(term_v(x)->type, term_v(y)->type);
}

// Python's operators + * == != on tuples with run-time parts.
static Term *lower_tuple_binary(Lower *L, PyOp op, Term *a, Term *b, Span span) {
  bool ta = a->kind == TERM_TUPLE, tb = b->kind == TERM_TUPLE;
  int64_t n;
  if (op == PYOP_ADD && ta && tb) {
    Term *r = term_tuple(L, a->tuple.items, a->tuple.count, NULL);
    Term **items = arena_array(L->arena, Term *, a->tuple.count + b->tuple.count + 1);
    memcpy(items, a->tuple.items, a->tuple.count * sizeof *items);
    memcpy(items + a->tuple.count, b->tuple.items, b->tuple.count * sizeof *items);
    r->tuple.items = items;
    r->tuple.count += b->tuple.count;
    return r;
  }
  if (op == PYOP_MUL && ta && term_get_int(b, &n) && n >= 0 && n * a->tuple.count < 4096) {
    Term **items = arena_array(L->arena, Term *, (uint64_t)n * a->tuple.count + 1);
    for (int64_t i = 0; i < n; i++) memcpy(items + i * a->tuple.count, a->tuple.items, a->tuple.count * sizeof *items);
    Term *r = term_tuple(L, items, (uint32_t)(n * a->tuple.count), NULL);
    r->result_of = a->result_of;
    r->tuple.num_returned = a->tuple.num_returned;
    return r;
  }
  if ((op == PYOP_EQ || op == PYOP_NE) && ta && tb) {
    bool eq = op == PYOP_EQ;
    if (a->tuple.count != b->tuple.count) return term_bool(L, !eq);
    Term *all = NULL;
    for (uint32_t i = 0; i < a->tuple.count; i++) {
      Term *one = lower_binary(L, op, a->tuple.items[i], b->tuple.items[i], span);
      if (!one) return NULL;
      int64_t c;
      if (term_get_int(one, &c)) {
        if ((c != 0) != eq) return term_bool(L, !eq);
        continue;
      }
      all = all ? lower_bits(L, eq ? PYOP_AND : PYOP_OR, all, one, span) : one;
    }
    return all ? all : term_bool(L, eq);
  }
  lower_error(L, span, "`%s` does not combine %s and %s", pyop_text(op), term_describe(L, a), term_describe(L, b));
  const Term *list = a->kind == TERM_TUPLE ? a : b;
  if (lower_note_listed(L, list) || lower_note_comma(L, list) || lower_hint_returned(L, list)) return NULL;
  return lower_hint(L, list->tuple.is_fstring ? "print values by tl.device_print(\"text\", value)"
                       : is_pair_of_shapes(list) ? "tl.broadcast gives both operands in their common shape: a, b = "
                                                   "tl.broadcast(a, b); operators broadcast by themselves"
                       : op == PYOP_ADD && (term_is_tensor(a) || term_is_tensor(b) || list->tuple.is_list)
                           ? "tl.arange makes a tile of numbers; a list is extended by a list: l + [x]"
                           : "take its items: t[0]");
}

// In a kernel a list equals the tuple of its elements: x.shape == [16, 16].
static CtValue *list_as_tuple(Lower *L, CtValue *v) {
  v = ct_unwrap(v);
  return v->kind == CT_LIST ? ct_tuple(L->ctx, v->list.data, v->list.count) : v;
}

// A member of an IntEnum is a number to operators, one of a StrEnum a text.
static Term *plain(Lower *L, Term *t) {
  return t->kind == TERM_CONST && ct_plain(t->ct) != t->ct ? term_const(L, ct_plain(t->ct)) : t;
}

// Whether an operand is an option of the launch by its name, which is a function here; then there is an error.
static bool refuse_option(Lower *L, const CtValue *operand, Span span) {
  const BuiltinRow *row = operand && operand->kind == CT_BUILTIN ? builtin_row_of(operand->builtin.name) : NULL;
  if (!row || row->fn != tl_launch_query) return false;
  lower_error(L, span, "`%s` is an option of the launch, and no number in a kernel", row->name);
  lower_hint(L, "give the kernel a parameter for it, such as WARPS: tl.constexpr, and pass it");
  return true;
}

Term *lower_binary(Lower *L, PyOp op, Term *a, Term *b, Span span) {
  if (!a || !b) return NULL;
  L->b.span = span;
  const bool may_be_none = op == PYOP_EQ || op == PYOP_NE;
  if (!may_be_none && (lower_refuse_nothing(L, a, span) || lower_refuse_nothing(L, b, span))) return NULL;
  a = plain(L, a);
  b = plain(L, b);
  CtValue *ca = term_to_ct(L, a), *cb = term_to_ct(L, b);
  if (refuse_option(L, ca, span) || refuse_option(L, cb, span)) return NULL;
  bool compares = op == PYOP_EQ || op == PYOP_NE;
  if (compares && ca && cb) {
    ca = list_as_tuple(L, ca), cb = list_as_tuple(L, cb);
    lower_warn_pointer_type(L, ca, cb, span), lower_warn_type_name(L, ca, cb, span);
  }
  // tuple + list too
  if (!may_be_none && ((ca && ca->kind == CT_NONE) || (cb && cb->kind == CT_NONE)) && ca && cb) {
    lower_error(L, span, "`%s` does not combine %s and %s", pyop_text(op), term_describe(L, a), term_describe(L, b));
    return lower_hint_none(L, span);
  }
  bool joins = op == PYOP_ADD && a->kind == TERM_TUPLE && b->kind == TERM_TUPLE && !a->tuple.cls && !b->tuple.cls;
  const bool is_uncalled = !compares && (lower_is_uncalled(L, a) || lower_is_uncalled(L, b));
  if (ca && cb && !joins && !is_uncalled) return term_const(L, comptime_binary(L->ct, op, ca, cb, span));
  for (int side = 0; side < 2; side++) {
    Term *self = side ? b : a, *other = side ? a : b;
    if (self->kind != TERM_TUPLE || !self->tuple.cls || !method_names[op][side]) continue;
    Term *m = lower_find_method(L, self, method_names[op][side]);
    if (m) return lower_call_positional(L, m, &other, 1, span);
  }
  if (a->kind == TERM_TUPLE || b->kind == TERM_TUPLE) return lower_tuple_binary(L, op, a, b, span);
  switch (op) {
  case PYOP_ADD:
    lower_warn_added_twice(L, a, b);
    lower_warn_bool_sum(L, a, b, span);
    /* fallthrough */
  case PYOP_SUB: return lower_add_sub(L, op, a, b, span);
  case PYOP_MUL:
    if (!lower_promote(L, &a, &b, (PromoteRule){0}, "*", span)) return NULL;
    return ct_is_float(term_t(a)) ? lower_elementwise(L, OP_MULF, (Term *[]){a, b}, 2)
                                  : int_arithmetic(L, op, OP_MULI, a, b, span);
  case PYOP_DIV: case PYOP_FLOORDIV: case PYOP_MOD: return lower_division(L, op, a, b, span);
  case PYOP_LSHIFT: case PYOP_RSHIFT: case PYOP_AND: case PYOP_OR: case PYOP_XOR: return lower_bits(L, op, a, b, span);
  case PYOP_EQ: case PYOP_NE: case PYOP_LT: case PYOP_LE: case PYOP_GT: case PYOP_GE:
    // None, strings and types equal no number.
    if ((op == PYOP_EQ || op == PYOP_NE) && ((ca && !term_is_number(a)) || (cb && !term_is_number(b))))
      return term_bool(L, op == PYOP_NE);
    lower_warn_nan(L, op, ca, cb, span);
    return lower_comparison(L, op, a, b, span);
  case PYOP_POW:
    lower_error(L, span, "`**` works between constants only");
    if (cb && ct_integer(cb) && ct_integer(cb)->kind == CT_INT && ct_integer(cb)->i == 2)
      return lower_hint(L, "write x * x");
    if (lower_is_bare(L)) return lower_hint(L, "multiply, or call pow(x, y)");
    return lower_hint(L, "multiply, or call libdevice.pow(x, y) after `from triton.language.extra import libdevice`");
  case PYOP_MATMUL:
    lower_error(L, span, "`@` is not an operator of tensors");
    return lower_hint(L, "call tl.dot(a, b)");
  default: ice(L->ctx, "operator %s between values", pyop_text(op));
  }
}

Term *lower_unary(Lower *L, PyOp op, Term *x, Span span) {
  if (!x) return NULL;
  L->b.span = span;
  CtValue *c = term_to_ct(L, x);
  if (c && (op == PYOP_NOT || !lower_is_uncalled(L, x))) return term_const(L, comptime_unary(L->ct, op, c, span));
  if (x->kind == TERM_TUPLE && x->tuple.cls) {
    static const char *const names[] = {
        [PYOP_NEG] = "__neg__", [PYOP_POS] = "__pos__", [PYOP_INVERT] = "__invert__", [PYOP_NOT] = "__not__"};
    Term *m = lower_find_method(L, x, names[op]);
    if (m) return lower_call_positional(L, m, NULL, 0, span);
  }
  if (x->kind != TERM_VALUE)
    return term_to_value(L, x, span, arena_printf(L->arena, "the operand of `%s`", pyop_text(op)));
  if (op == PYOP_NOT) return lower_logical_not(L, x, span);
  const CtType *t = term_t(x);
  if (ct_is_ptr(t)) {
    lower_error(L, span, "`%s` does not work on pointers", pyop_text(op));
    return lower_hint(L, "load the elements first: tl.load(…)");
  }
  switch (op) {
  case PYOP_POS: return x;
  case PYOP_NEG:
    if (ct_is_fp8(t)) return lower_elementwise(L, OP_SUBF, (Term *[]){term_full(L, t, 0, 0), x}, 2);
    if (ct_is_float(t)) return unary_op(L, OP_NEGF, x);
    if (ct_is_signed(ct_scalar_of(t))) check_overflow(L, op, OP_SUBI, term_full(L, t, 0, 0), x, span);
    return binary_op(L, OP_SUBI, term_full(L, t, 0, 0), x);
  default:
    if (ct_is_float(t)) {
      lower_error(L, span, "`~` works on integers, not on %s", term_describe(L, x));
      return lower_hint(L, "compare it: x == 0, or take its bits: x.to(tl.int32, bitcast=True)");
    }
    return binary_op(L, OP_XORI, x, term_full(L, t, 0, -1));
  }
}

Term *lower_logical_not(Lower *L, Term *x, Span span) {
  if (ct_is_ptr(term_t(x)) && !(x = lower_not_zero(L, x, span))) return NULL;
  if (!ct_is_bool(term_t(x))) {
    lower_error(L, span, "`not` works on int1, not on %s", term_describe(L, x));
    return lower_hint(L, "compare with 0 first");
  }
  return binary_op(L, OP_XORI, x, term_full(L, term_t(x), 0, 1));
}

Term *lower_select(Lower *L, Term *c, Term *a, Term *b) {
  return term_value(L, build_ternary(&L->b, OP_SELECT, term_v(c), term_v(a), term_v(b)), term_t(a));
}

bool lower_condition(Lower *L, Term *c, Span span, const char *what, int *known, Value **v) {
  if (!c) return false;
  c = term_recall(L, c);
  if (c->kind == TERM_CONST) {
    CtKind k = c->ct->kind;
    if (k != CT_BOOL && k != CT_INT && k != CT_NONE) {
      lower_error(L, span, "the condition of %s must be a bool, an int or None, not %s", what, term_describe(L, c));
      if (k == CT_STR) lower_hint(L, "compare it: `if NAME == \"…\"`");
      else lower_hint_kind(L, c);
      return false;
    }
    *known = ct_is_true(c->ct);
    return true;
  }
  if (c->kind != TERM_VALUE) {
    lower_error(L, span, "the condition of %s cannot be %s", what, term_describe(L, c));
    lower_hint_kind(L, c);
    return false;
  }
  if (ct_rank(term_t(c))) {
    if (ct_numel(term_t(c)) != 1) {
      lower_error(L, span, "the condition of %s must be a scalar, not %s", what, term_describe(L, c));
      lower_hint(L, "to load and store only where it holds, give tl.load(…) and tl.store(…) a `mask=`; to choose "
                    "values, tl.where(…); for one decision of the whole tile, reduce it with tl.max(…)");
      return false;
    }
    c = lower_reshape(L, c, NULL, 0, false);
  }
  c = lower_not_zero(L, c, span);
  if (!c) return false;
  *known = -1;
  *v = term_v(c);
  return true;
}
