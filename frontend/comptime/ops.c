// Python's operators on compile-time values.
#include <math.h>
#include <string.h>

#include "frontend/comptime/comptime_impl.h"

typedef unsigned __int128 Uint128;

static bool is_number(const CtValue *v) { return is_int(v) || v->kind == CT_FLOAT; }
static double float_of(const CtValue *v) { return v->kind == CT_FLOAT ? v->f : (double)int_of(v); }

static CtValue *too_big(Comptime *ct, Span span) {
  return ct_fail(ct, span, "OverflowError", "integer result does not fit in 128 bits");
}

// The name of an operand's type; for a builtin its own name, because unknown names of libraries are builtins, too.
static const char *operand_name(const CtValue *v) { return v->kind == CT_BUILTIN ? v->builtin.name : ct_kind_name(v); }

static CtValue *bad_operands(Comptime *ct, PyOp op, const CtValue *a, const CtValue *b, Span span) {
  return ct_fail(ct, span, "TypeError", "unsupported operand types for %s: '%s' and '%s'", pyop_text(op),
                 operand_name(a), operand_name(b));
}

static CtValue *divided_by_zero(Comptime *ct, Span span) {
  return ct_fail(ct, span, "ZeroDivisionError", "division by zero");
}

// ---- integers ----

static Int128 floor_div(Int128 a, Int128 b) {
  Int128 q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

static CtValue *int_pow(Comptime *ct, Int128 base, Int128 exponent, Span span) {
  if (exponent < 0) {
    if (!base) return divided_by_zero(ct, span);
    return ct_float(ct->ctx, pow((double)base, (double)exponent));
  }
  Int128 result = 1;
  bool overflow = false;
  if (base == 0 || base == 1) return ct_int(ct->ctx, exponent ? base : 1);
  if (base == -1) return ct_int(ct->ctx, exponent & 1 ? -1 : 1);
  if (exponent > 128) return too_big(ct, span);
  for (; exponent; exponent >>= 1) {
    if (exponent & 1) overflow |= __builtin_mul_overflow(result, base, &result);
    if (exponent > 1) overflow |= __builtin_mul_overflow(base, base, &base);
  }
  return overflow ? too_big(ct, span) : ct_int(ct->ctx, result);
}

static CtValue *int_shift(Comptime *ct, PyOp op, Int128 a, Int128 n, Span span) {
  if (n < 0) return ct_fail(ct, span, "ValueError", "negative shift count");
  if (op == PYOP_RSHIFT) return ct_int(ct->ctx, n > 127 ? (a < 0 ? -1 : 0) : a >> (int)n);
  if (!a) return ct_int(ct->ctx, 0);
  if (n > 126) return too_big(ct, span);
  Int128 shifted = (Int128)((Uint128)a << (int)n);
  return shifted >> (int)n == a ? ct_int(ct->ctx, shifted) : too_big(ct, span);
}

static CtValue *int_binary(Comptime *ct, PyOp op, const CtValue *left, const CtValue *right, Span span) {
  Int128 a = int_of(left), b = int_of(right), r = 0;
  bool both_bool = left->kind == CT_BOOL && right->kind == CT_BOOL;
  switch (op) {
    case PYOP_ADD: return __builtin_add_overflow(a, b, &r) ? too_big(ct, span) : ct_int(ct->ctx, r);
    case PYOP_SUB: return __builtin_sub_overflow(a, b, &r) ? too_big(ct, span) : ct_int(ct->ctx, r);
    case PYOP_MUL: return __builtin_mul_overflow(a, b, &r) ? too_big(ct, span) : ct_int(ct->ctx, r);
    case PYOP_DIV: return b ? ct_float(ct->ctx, (double)a / (double)b) : divided_by_zero(ct, span);
    case PYOP_FLOORDIV: case PYOP_MOD:
      if (!b) return divided_by_zero(ct, span);
      if (b == -1)
        return op == PYOP_MOD                             ? ct_int(ct->ctx, 0)
               : __builtin_sub_overflow((Int128)0, a, &r) ? too_big(ct, span)
                                                          : ct_int(ct->ctx, r);
      return ct_int(ct->ctx, op == PYOP_FLOORDIV ? floor_div(a, b) : a - floor_div(a, b) * b);
    case PYOP_POW: return int_pow(ct, a, b, span);
    case PYOP_LSHIFT: case PYOP_RSHIFT: return int_shift(ct, op, a, b, span);
    case PYOP_AND: return both_bool ? ct_bool(a & b) : ct_int(ct->ctx, a & b);
    case PYOP_OR: return both_bool ? ct_bool(a | b) : ct_int(ct->ctx, a | b);
    case PYOP_XOR: return both_bool ? ct_bool(a ^ b) : ct_int(ct->ctx, a ^ b);
    default: return bad_operands(ct, op, left, right, span);
  }
}

static double float_mod(double a, double b) {
  double m = fmod(a, b);
  if (m != 0) return (m < 0) != (b < 0) ? m + b : m;
  return copysign(0.0, b);
}

static CtValue *float_binary(Comptime *ct, PyOp op, const CtValue *left, const CtValue *right, Span span) {
  double a = float_of(left), b = float_of(right);
  switch (op) {
    case PYOP_ADD: return ct_float(ct->ctx, a + b);
    case PYOP_SUB: return ct_float(ct->ctx, a - b);
    case PYOP_MUL: return ct_float(ct->ctx, a * b);
    case PYOP_DIV: return b != 0 ? ct_float(ct->ctx, a / b) : divided_by_zero(ct, span);
    case PYOP_MOD: return b != 0 ? ct_float(ct->ctx, float_mod(a, b)) : divided_by_zero(ct, span);
    case PYOP_FLOORDIV: {
      if (b == 0) return divided_by_zero(ct, span);
      double m = fmod(a, b), q = (a - m) / b;
      if (m != 0 && (m < 0) != (b < 0)) q -= 1;
      if (q == 0) return ct_float(ct->ctx, copysign(0.0, a / b));
      return ct_float(ct->ctx, q - floor(q) > 0.5 ? floor(q) + 1 : floor(q));   // the division may have rounded
    }
    case PYOP_POW:
      if (a == 0 && b < 0) return divided_by_zero(ct, span);
      if (a < 0 && b != floor(b)) return ct_unsupported(ct, span, "a complex power");
      return ct_float(ct->ctx, pow(a, b));
    default: return bad_operands(ct, op, left, right, span);
  }
}

// ---- sequences and sets ----

static bool is_text(const CtValue *v) { return v->kind == CT_STR || v->kind == CT_BYTES; }
static bool is_sequence(const CtValue *v) { return is_text(v) || v->kind == CT_LIST || v->kind == CT_TUPLE; }

static CtValue *repeat(Comptime *ct, CtValue *seq, Int128 times, Span span) {
  if (times < 0) times = 0;
  size_t unit = is_text(seq) ? seq->str.size : seq->list.count;
  if (unit && times > MAX_ELEMENTS) times = (Int128)MAX_ELEMENTS + 1;
  if (!ct_grow(ct, unit * (size_t)times, span)) return NULL;
  size_t n = unit ? (size_t)times : 0;
  if (is_text(seq)) {
    Buf b = buf_make(ct->arena);
    for (size_t i = 0; i < n; i++) buf_write(&b, seq->str.data, unit);
    CtValue *v = ct_text(ct, &b);
    v->kind = seq->kind;
    ct_work(ct, v);
    return v;
  }
  CtValue *v = ct_new(ct->ctx, seq->kind);
  for (size_t i = 0; i < n; i++) ct_extend(ct, &v->list, &seq->list);
  ct_work(ct, v);
  return v;
}

static CtValue *concat(Comptime *ct, const CtValue *a, const CtValue *b, Span span) {
  if (is_text(a)) {
    if (!ct_grow(ct, a->str.size + b->str.size, span)) return NULL;
    Buf text = buf_make(ct->arena);
    buf_write(&text, a->str.data, a->str.size);
    buf_write(&text, b->str.data, b->str.size);
    CtValue *v = ct_text(ct, &text);
    v->kind = a->kind;
    return v;
  }
  if (!ct_grow(ct, (size_t)a->list.count + b->list.count, span)) return NULL;
  CtValue *v = (a->kind == CT_TUPLE ? ct_tuple : ct_list)(ct->ctx, a->list.data, a->list.count);
  ct_extend(ct, &v->list, &b->list);
  return v;
}

static void add_matching(Context *ctx, CtDict *out, const CtDict *from, const CtDict *other, bool wanted) {
  for (uint32_t i = 0; i < from->count; i++) {
    CtEntry *e = &from->entries[i];
    if ((ct_dict_get(other, e->key) != NULL) == wanted) ct_dict_set(ctx, out, e->key, e->value);
  }
}

static CtValue *set_binary(Comptime *ct, PyOp op, const CtValue *a, const CtValue *b) {
  CtValue *v = ct_dict(ct->ctx);
  v->kind = a->kind;
  if (op == PYOP_OR) ct_dict_update(ct->ctx, v->dict, a->dict), ct_dict_update(ct->ctx, v->dict, b->dict);
  else add_matching(ct->ctx, v->dict, a->dict, b->dict, op == PYOP_AND);
  if (op == PYOP_XOR) add_matching(ct->ctx, v->dict, b->dict, a->dict, false);
  return v;
}

// A namedtuple compares as the tuple that it is.
static CtValue *plain_tuple(Comptime *ct, CtValue *v) {
  if (v->kind != CT_INSTANCE || v->instance->cls->form != CLASS_NAMEDTUPLE) return v;
  CtValue *t = ct_tuple(ct->ctx, NULL, 0);
  for (uint32_t i = 0; i < v->instance->attrs->count; i++) ct_append(ct, t, v->instance->attrs->bindings[i].value);
  return t;
}

// … and is a tuple to operators that its class does not define.
static CtValue *as_tuple(Comptime *ct, CtValue *v) {
  return ct_class_special(ct, v, "__add__") || ct_class_special(ct, v, "__mul__") ? v : plain_tuple(ct, v);
}

// ---- comparisons ----

bool ct_op_equal(Comptime *ct, CtValue *a, CtValue *b, Span span, bool *out) {
  CtValue *with = a->kind == CT_INSTANCE ? a : b;
  ct_work(ct, a);
  CtValue *method = ct_class_special(ct, with, "__eq__");
  if (method) {
    CtValue *r = ct_call(ct, method, CT_ARGS(span, with, with == a ? b : a));
    return r && ct_truth(ct, r, span, out);
  }
  if (a->kind == CT_INSTANCE && b->kind == CT_INSTANCE && ct_layouts_equal(ct, a, b)) return *out = true;
  *out = a->kind == b->kind ? ct_equal(a, b) : ct_equal(plain_tuple(ct, a), plain_tuple(ct, b));
  return true;
}

static const char *order_method(PyOp op) {
  return op == PYOP_LT ? "__lt__" : op == PYOP_GT ? "__gt__" : op == PYOP_LE ? "__le__" : "__ge__";
}

// Compares as a class defines it: `a op b`, or the reflected operator with the operands swapped. *found: whether a
// class defines either.
static bool call_order(Comptime *ct, PyOp op, CtValue *a, CtValue *b, Span span, bool *found, bool *out) {
  const PyOp reflected = op == PYOP_LT ? PYOP_GT : op == PYOP_GT ? PYOP_LT : op == PYOP_LE ? PYOP_GE : PYOP_LE;
  CtValue *own = ct_class_special(ct, a, order_method(op)),
          *method = own ? own : ct_class_special(ct, b, order_method(reflected));
  *found = method != NULL;
  if (!method) return true;
  CtValue *r = ct_call(ct, method, CT_ARGS(span, own ? a : b, own ? b : a));
  return r && ct_truth(ct, r, span, out);
}

// shown: the operator as written, for the message; a and b are swapped if it is > or >=.
static bool less(Comptime *ct, PyOp shown, CtValue *a, CtValue *b, Span span, bool *out) {
  a = ct_unwrap(a);
  b = ct_unwrap(b);
  if (!ct_step(ct, span)) return false;
  if (!ct_class_special(ct, a, "__lt__")) {
    a = plain_tuple(ct, a);
    b = plain_tuple(ct, b);
  }
  if (is_number(a) && is_number(b)) {
    *out = ct_number_order(a, b) == -1;
    return true;
  }
  if (a->kind == b->kind && is_text(a)) {
    size_t n = a->str.size < b->str.size ? a->str.size : b->str.size;
    int order = memcmp(a->str.data, b->str.data, n);
    *out = order ? order < 0 : a->str.size < b->str.size;
    return true;
  }
  a = as_tuple(ct, a);
  b = as_tuple(ct, b);
  if (a->kind == b->kind && (a->kind == CT_TUPLE || a->kind == CT_LIST)) {
    for (uint32_t i = 0; i < a->list.count && i < b->list.count; i++) {
      if (ct_equal(a->list.data[i], b->list.data[i])) continue;
      return less(ct, shown, a->list.data[i], b->list.data[i], span, out);
    }
    *out = a->list.count < b->list.count;
    return true;
  }
  if (a->kind == CT_SET && b->kind == CT_SET) {
    CtValue *rest = set_binary(ct, PYOP_SUB, a, b);
    *out = !rest->dict->count && a->dict->count < b->dict->count;
    return true;
  }
  bool found;
  if (!call_order(ct, PYOP_LT, a, b, span, &found, out)) return false;
  if (found) return true;
  if (a->kind == CT_MISSING || b->kind == CT_MISSING)
    return ct_fail_missing(ct, span, a->kind == CT_MISSING ? a : b) != NULL;
  const bool swapped = shown == PYOP_GT || shown == PYOP_GE;
  bad_operands(ct, shown, swapped ? b : a, swapped ? a : b, span);
  return false;
}

bool ct_less(Comptime *ct, CtValue *a, CtValue *b, Span span, bool *out) { return less(ct, PYOP_LT, a, b, span, out); }

static bool contains(Comptime *ct, CtValue *v, CtValue *item, Span span, bool *out) {
  *out = false;
  if (v->kind != CT_DICT && v->kind != CT_SET) ct_work(ct, v);
  if (v->kind == CT_STR && item->kind == CT_STR) {
    *out = ct_find_text(v->str.data, v->str.size, item->str.data, item->str.size) != NULL;
    return true;
  }
  if (v->kind == CT_STR)
    return ct_fail(ct, span, "TypeError", "a text contains text, not '%s'", ct_kind_name(item)) != NULL;
  if (v->kind == CT_DICT || v->kind == CT_SET) {
    if (!ct_key(ct, item, span)) return false;
    *out = ct_dict_get(v->dict, item) != NULL;
    return true;
  }
  if (v->kind == CT_RANGE && is_int(item)) {
    Int128 i = int_of(item), d = i - v->range.start;
    *out = (v->range.step > 0 ? i >= v->range.start && i < v->range.stop : i <= v->range.start && i > v->range.stop) &&
           d % v->range.step == 0;
    return true;
  }
  CtValue *method = ct_class_special(ct, v, "__contains__");
  if (method) {
    CtValue *r = ct_call(ct, method, CT_ARGS(span, v, item));
    return r && ct_truth(ct, r, span, out);
  }
  CtCursor cursor;
  if (!ct_cursor_open(ct, &cursor, v, span)) return false;
  for (CtValue *one; !*out && ct_cursor_next(&cursor, &one);)
    if (one == item) *out = true;
    else if (!ct_op_equal(ct, one, item, span, out)) return false;
  return true;
}

static CtValue *compare(Comptime *ct, PyOp op, CtValue *a, CtValue *b, Span span) {
  bool r = false, equal = false;
  switch (op) {
    case PYOP_IS: case PYOP_IS_NOT:
      // Python shares small numbers and texts; kernels compare None, booleans and dtypes by `is`.
      r = a == b || (a->kind == b->kind && a->kind != CT_LIST && a->kind != CT_DICT && a->kind != CT_SET &&
                     a->kind != CT_INSTANCE && a->kind != CT_TUPLE && a->kind != CT_MISSING && ct_equal(a, b));
      return ct_bool(r == (op == PYOP_IS));
    case PYOP_EQ: case PYOP_NE:
      if (!ct_op_equal(ct, a, b, span, &r)) return NULL;
      return ct_bool(r == (op == PYOP_EQ));
    case PYOP_IN: case PYOP_NOT_IN:
      if (!contains(ct, b, a, span, &r)) return NULL;
      return ct_bool(r == (op == PYOP_IN));
    default: {
      const bool swapped = op == PYOP_GT || op == PYOP_GE, or_equal = op == PYOP_LE || op == PYOP_GE;
      bool found = false;
      if (!call_order(ct, op, a, b, span, &found, &r)) return NULL;
      if (found) return ct_bool(r);
      if (!less(ct, op, swapped ? b : a, swapped ? a : b, span, &r)) return NULL;
      if (or_equal && !r && !ct_op_equal(ct, a, b, span, &equal)) return NULL;
      return ct_bool(r || equal);
    }
  }
}

// ---- the operators ----

// __add__ and, of the right operand, __radd__ without their underscores; NULL for other operators.
static const char *method_name(PyOp op) {
  static const char *const names[NUM_PYOPS] = {
      [PYOP_ADD] = "add", [PYOP_SUB] = "sub", [PYOP_MUL] = "mul", [PYOP_MATMUL] = "matmul", [PYOP_DIV] = "truediv",
      [PYOP_FLOORDIV] = "floordiv", [PYOP_MOD] = "mod", [PYOP_POW] = "pow", [PYOP_LSHIFT] = "lshift",
      [PYOP_RSHIFT] = "rshift", [PYOP_AND] = "and", [PYOP_OR] = "or", [PYOP_XOR] = "xor"};
  return names[op];
}

// *out is NULL when neither operand's class defines the operator.
static bool call_operator(Comptime *ct, PyOp op, CtValue *a, CtValue *b, Span span, CtValue **out) {
  const char *name = method_name(op);
  *out = NULL;
  for (int reflected = 0; name && reflected < 2; reflected++) {
    CtValue *self = reflected ? b : a;
    if (self->kind != CT_INSTANCE) continue;
    CtValue *method = ct_class_special(ct, self, arena_printf(ct->arena, "__%s%s__", reflected ? "r" : "", name));
    if (method) return (*out = ct_call(ct, method, CT_ARGS(span, self, reflected ? a : b))) != NULL;
  }
  return true;
}

static bool is_type_like(const CtValue *v) {
  if (v->kind == CT_TUPLE) {
    for (uint32_t i = 0; i < v->list.count; i++)
      if (v->list.data[i]->kind == CT_TUPLE || !is_type_like(v->list.data[i])) return false;
    return v->list.count > 0;
  }
  return v->kind == CT_BUILTIN || v->kind == CT_CLASS || v->kind == CT_DTYPE || v->kind == CT_NONE;
}

// int | None, in an annotation or for isinstance, is a tuple of types.
static CtValue *type_union(Comptime *ct, CtValue *a, CtValue *b) {
  CtValue *v = a->kind == CT_TUPLE ? ct_tuple(ct->ctx, a->list.data, a->list.count) : ct_tuple(ct->ctx, &a, 1);
  if (b->kind != CT_TUPLE) ct_append(ct, v, b);
  for (uint32_t i = 0; b->kind == CT_TUPLE && i < b->list.count; i++) ct_append(ct, v, b->list.data[i]);
  return v;
}

static CtValue *binary(Comptime *ct, PyOp op, CtValue *a, CtValue *b, Span span) {
  if (op == PYOP_IS || op == PYOP_IS_NOT) return compare(ct, op, a, b, span);
  a = ct_plain(a), b = ct_plain(b);
  if (a->kind == CT_MISSING || b->kind == CT_MISSING) {
    if (op == PYOP_IN || op == PYOP_NOT_IN) {
      if (b->kind == CT_MISSING) return ct_missing_from(ct, b, "... %s %s", pyop_text(op), b->missing.name);
      return ct_missing_from(ct, a, "%s %s ...", a->missing.name, pyop_text(op));
    } else {
      const CtValue *m = a->kind == CT_MISSING ? a : b;
      return ct_missing_from(ct, m, "%s", m->missing.name);
    }
  }
  if (op >= PYOP_EQ) return compare(ct, op, a, b, span);
  if (is_int(a) && is_int(b)) return int_binary(ct, op, a, b, span);
  if (is_number(a) && is_number(b)) return float_binary(ct, op, a, b, span);
  if (op == PYOP_ADD || op == PYOP_MUL) a = as_tuple(ct, a), b = as_tuple(ct, b);
  if (op == PYOP_ADD && is_sequence(a) && a->kind == b->kind) return concat(ct, a, b, span);
  if (op == PYOP_MUL && is_sequence(a) && is_int(b)) return repeat(ct, a, int_of(b), span);
  if (op == PYOP_MUL && is_sequence(b) && is_int(a)) return repeat(ct, b, int_of(a), span);
  if (op == PYOP_MOD && a->kind == CT_STR) return ct_format_percent(ct, a, b, span);
  if (a->kind == CT_SET && b->kind == CT_SET && (op == PYOP_OR || op == PYOP_AND || op == PYOP_SUB || op == PYOP_XOR))
    return set_binary(ct, op, a, b);
  if (a->kind == CT_DICT && b->kind == CT_DICT && op == PYOP_OR) return set_binary(ct, op, a, b);
  CtValue *r;
  if (!call_operator(ct, op, a, b, span, &r)) return NULL;
  if (r) return r;
  if (op == PYOP_OR && is_type_like(a) && is_type_like(b)) return type_union(ct, a, b);
  return bad_operands(ct, op, a, b, span);
}

CtValue *ct_binary(Comptime *ct, PyOp op, CtValue *a, CtValue *b, Span span) {
  if (!ct_step(ct, span)) return NULL;
  if (a->kind != CT_CONSTEXPR && b->kind != CT_CONSTEXPR) return binary(ct, op, a, b, span);
  CtValue *r = binary(ct, op, ct_unwrap(a), ct_unwrap(b), span);
  bool is_identity = op == PYOP_IS || op == PYOP_IS_NOT;   // Python cannot overload these
  return r && r->kind != CT_MISSING && !is_identity ? ct_constexpr(ct->ctx, r) : r;
}

CtValue *ct_unary(Comptime *ct, PyOp op, CtValue *v, Span span) {
  if (!ct_step(ct, span)) return NULL;
  if (v->kind == CT_CONSTEXPR) {
    CtValue *r = ct_unary(ct, op, v->inner, span);
    return r ? ct_constexpr(ct->ctx, r) : NULL;
  }
  if (op == PYOP_NOT) {
    bool b;
    return ct_truth(ct, v, span, &b) ? ct_bool(!b) : NULL;
  }
  if (v->kind == CT_MISSING) return ct_missing_from(ct, v, "%s%s", pyop_text(op), v->missing.name);
  if (is_int(v)) {
    Int128 i = int_of(v);
    if (op == PYOP_INVERT) return ct_int(ct->ctx, ~i);
    if (op == PYOP_POS) return ct_int(ct->ctx, i);
    return __builtin_sub_overflow((Int128)0, i, &i) ? too_big(ct, span) : ct_int(ct->ctx, i);
  }
  if (v->kind == CT_FLOAT && op != PYOP_INVERT) return op == PYOP_NEG ? ct_float(ct->ctx, -v->f) : v;
  CtValue *method = ct_class_special(ct, v, op == PYOP_NEG ? "__neg__" : op == PYOP_POS ? "__pos__" : "__invert__");
  if (method) return ct_call1(ct, method, v, span);
  return ct_fail(ct, span, "TypeError", "bad operand type for unary %s: '%s'", pyop_text(op), ct_kind_name(v));
}
