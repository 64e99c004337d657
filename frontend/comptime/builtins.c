// Python's built-in functions and types. sequence.c has those on sequences, modules.c the functions of modules.
#include <math.h>
#include <string.h>

#include "frontend/comptime/comptime_impl.h"
#include "ir/nearest.h"

// ---- arguments ----

static bool no_parameter(Comptime *ct, const CtArgs *a, const char *what, const char *name,
                         const char *const *names, uint32_t n) {
  const char *near = nearest_name(name, names, n);
  Buf all = buf_make(ct->arena);
  for (uint32_t i = 0; i < n; i++) buf_printf(&all, "%s%s", i ? ", " : "", names[i]);
  if (near)
    return ct_fail(ct, a->span, "TypeError", "%s() has no parameter '%s'; did you mean '%s'?", what, name,
                   near) != NULL;
  return ct_fail(ct, a->span, "TypeError", "%s() has no parameter '%s'%s%s", what, name, n ? "; its parameters: " : "",
                 buf_str(&all)) != NULL;
}

bool ct_take_args(Comptime *ct, const char *signature, const CtArgs *a, CtValue **out) {
  enum { MOST = 16 };
  const char *names[MOST];
  bool optional[MOST];
  uint32_t n = 0;
  char *what = arena_strndup(ct->arena, signature, strlen(signature));
  for (char *s = strchr(what, ' '); s; s = strchr(s, ' ')) {
    *s++ = 0;
    optional[n] = *s == '?';
    s += optional[n];
    out[n] = ct_arg(a, n);
    names[n++] = s;
  }
  if (a->num_args > n)
    return ct_fail(ct, a->span, "TypeError", "%s() takes at most %u arguments, not %u", what, n, a->num_args) != NULL;
  for (uint32_t i = 0; i < a->num_kwargs; i++) {
    uint32_t k = 0;
    while (k < n && strcmp(names[k], a->kwargs[i].name)) k++;
    if (k == n) return no_parameter(ct, a, what, a->kwargs[i].name, names, n);
    if (out[k])
      return ct_fail(ct, a->span, "TypeError", "%s() got two values for '%s'", what, a->kwargs[i].name) != NULL;
    out[k] = a->kwargs[i].value;
  }
  for (uint32_t k = 0; k < n; k++)
    if (!out[k] && !optional[k])
      return ct_fail(ct, a->span, "TypeError", "%s() needs a value for '%s'", what, names[k]) != NULL;
  return true;
}

const CtFnRow *ct_find_row(const CtFnRow *table, const char *name) {
  for (; table && table->name; table++)
    if (!strcmp(table->name, name)) return table;
  return NULL;
}

CtValue *ct_call_row(Comptime *ct, const CtFnRow *row, CtValue *self, const CtArgs *a) {
  if (a->num_args >= row->min && a->num_args <= row->max) return row->fn(ct, self, a);
  const char *most = row->max == CT_ANY ? " or more" : arena_printf(ct->arena, " to %u", row->max);
  return ct_fail(ct, a->span, "TypeError", "%s() takes %u%s argument%s, not %u", row->name, row->min,
                 row->min == row->max ? "" : most, row->max == 1 ? "" : "s", a->num_args);
}

CtValue *ct_kwarg(const CtArgs *a, const char *name) {
  for (uint32_t i = 0; i < a->num_kwargs; i++)
    if (!strcmp(a->kwargs[i].name, name)) return a->kwargs[i].value;
  return NULL;
}

CtValue *ct_arg(const CtArgs *a, uint32_t i) { return i < a->num_args ? a->args[i] : NULL; }

CtValue *ct_wrong_type(Comptime *ct, const CtArgs *a, const CtValue *v) {
  return ct_fail(ct, a->span, "TypeError", "this function does not take an argument of type '%s'", ct_kind_name(v));
}

// ---- numbers ----

CT_FN(py_abs) {
  CtValue *v = ct_unwrap(a->args[0]);
  if (v->kind == CT_FLOAT) return ct_float(ct->ctx, fabs(v->f));
  if (!is_int(v)) return ct_wrong_type(ct, a, v);
  return ct_unary(ct, int_of(v) < 0 ? PYOP_NEG : PYOP_POS, v, a->span);
}

CT_FN(py_int) {
  if (!a->num_args) return ct_int(ct->ctx, 0);
  CtValue *v = ct_unwrap(a->args[0]), *base = ct_arg(a, 1) ? ct_unwrap(ct_arg(a, 1)) : ct_kwarg(a, "base");
  if (is_int(v)) return ct_int(ct->ctx, int_of(v));
  if (v->kind == CT_FLOAT) {
    if (!isfinite(v->f)) return ct_fail(ct, a->span, "ValueError", "%s has no integer value", ct_repr(ct->ctx, v));
    if (fabs(v->f) >= 0x1p127) return ct_fail(ct, a->span, "OverflowError", "integer result does not fit in 128 bits");
    return ct_int(ct->ctx, (Int128)v->f);
  }
  if (v->kind != CT_STR) return ct_wrong_type(ct, a, v);
  Int128 i;
  bool too_large;
  if (base && (!is_int(base) || int_of(base) < 0 || int_of(base) > 36 || int_of(base) == 1))
    return ct_fail(ct, a->span, "ValueError", "the base of int() is 0 or 2 to 36, not %s", ct_repr(ct->ctx, base));
  if (!pynum_read_int(v->str.data, v->str.size, base ? (uint32_t)int_of(base) : 10, &i, &too_large))
    return ct_fail(ct, a->span, "ValueError", "%s is not an integer", ct_repr(ct->ctx, v));
  return too_large ? ct_fail(ct, a->span, "OverflowError", "integer does not fit in 128 bits") : ct_int(ct->ctx, i);
}

CT_FN(py_float) {
  if (!a->num_args) return ct_float(ct->ctx, 0);
  CtValue *v = ct_unwrap(a->args[0]);
  double d;
  if (v->kind == CT_FLOAT) return v;
  if (is_int(v)) return ct_float(ct->ctx, (double)int_of(v));
  if (v->kind != CT_STR) return ct_wrong_type(ct, a, v);
  return pynum_read_float(v->str.data, v->str.size, &d)
             ? ct_float(ct->ctx, d)
             : ct_fail(ct, a->span, "ValueError", "%s is not a number", ct_repr(ct->ctx, v));
}

CT_FN(py_bool) {
  bool b = false;
  if (a->num_args && !ct_truth(ct, a->args[0], a->span, &b)) return NULL;
  return ct_bool(b);
}

// Rounds to a multiple of 10 to the power of `digits`: to the nearest, and to the even one of two equally near.
static CtValue *round_int(Comptime *ct, const CtArgs *a, Int128 v, Int128 digits) {
  enum { MOST = 38 };   // 10 to the 38 is the largest power that fits
  Int128 unit = 1, out;
  if (digits > MOST) return ct_int(ct->ctx, 0);
  for (Int128 i = 0; i < digits; i++) unit *= 10;
  const Int128 whole = v / unit, rest = v % unit < 0 ? -(v % unit) : v % unit, up = v < 0 ? -1 : 1;
  const bool beyond = rest > unit - rest || (rest == unit - rest && whole % 2 != 0);
  if (__builtin_mul_overflow(whole + (beyond ? up : 0), unit, &out))
    return ct_fail(ct, a->span, "OverflowError", "integer result does not fit in 128 bits");
  return ct_int(ct->ctx, out);
}

CT_FN(py_round) {
  CtValue *v = ct_unwrap(a->args[0]),
          *digits = ct_arg(a, 1) ? ct_unwrap(ct_arg(a, 1)) : ct_kwarg(a, "ndigits");
  if (is_int(v) && (!digits || digits->kind == CT_NONE || (is_int(digits) && int_of(digits) >= 0)))
    return ct_int(ct->ctx, int_of(v));
  if (is_int(v) && is_int(digits)) return round_int(ct, a, int_of(v), -int_of(digits));
  if (v->kind != CT_FLOAT) return ct_wrong_type(ct, a, v);
  if (!digits || digits->kind == CT_NONE) {
    CtValue *whole = ct_float(ct->ctx, nearbyint(v->f));
    return py_int(ct, NULL, CT_ARGS(a->span, whole));
  }
  if (!is_int(digits)) return ct_wrong_type(ct, a, digits);
  Int128 n = int_of(digits);
  if (n > 300) return v;
  if (n < -300) return ct_float(ct->ctx, 0);
  // Decimal text defines the correctly rounded result.
  double out = v->f;
  const char *text = arena_printf(ct->arena, "%.*f", n < 0 ? 0 : (int)n, v->f);
  if (n >= 0) pynum_read_float(text, strlen(text), &out);
  else out = nearbyint(v->f / pow(10, (double)-n)) * pow(10, (double)-n);
  return ct_float(ct->ctx, out);
}

CT_FN(py_pow) {
  return ct_binary(ct, PYOP_POW, ct_unwrap(a->args[0]), ct_unwrap(a->args[1]), a->span);
}

CT_FN(py_divmod) {
  CtValue *x = ct_unwrap(a->args[0]), *y = ct_unwrap(a->args[1]), *q = ct_binary(ct, PYOP_FLOORDIV, x, y, a->span),
          *r = q ? ct_binary(ct, PYOP_MOD, x, y, a->span) : NULL;
  return r ? ct_tuple(ct->ctx, (CtValue *[]){q, r}, 2) : NULL;
}

static CtValue *in_base(Comptime *ct, const CtArgs *a, uint32_t base, const char *mark) {
  CtValue *v = ct_unwrap(a->args[0]);
  if (!is_int(v)) return ct_wrong_type(ct, a, v);
  Buf b = buf_make(ct->arena);
  pynum_put_int_base(&b, int_of(v), base, false);
  const char *digits = buf_str(&b);
  bool negative = *digits == '-';
  return ct_str(ct->ctx, arena_printf(ct->arena, "%s%s%s", negative ? "-" : "", mark, digits + negative));
}
CT_FN(py_hex) { return in_base(ct, a, 16, "0x"); }
CT_FN(py_oct) { return in_base(ct, a, 8, "0o"); }
CT_FN(py_bin) { return in_base(ct, a, 2, "0b"); }

CT_FN(py_ord) {
  CtValue *v = ct_unwrap(a->args[0]);
  if (v->kind != CT_STR || !v->str.size) return ct_wrong_type(ct, a, v);
  const unsigned char *s = (const unsigned char *)v->str.data;
  size_t len = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
  Int128 c = len == 1 ? s[0] : s[0] & (0x7f >> len);
  if (len != v->str.size)
    return ct_fail(ct, a->span, "TypeError", "ord() takes one character, not %s", ct_repr(ct->ctx, v));
  for (size_t i = 1; i < len; i++) c = c << 6 | (s[i] & 0x3f);
  return ct_int(ct->ctx, c);
}

CT_FN(py_chr) {
  CtValue *v = ct_unwrap(a->args[0]);
  if (!is_int(v)) return ct_wrong_type(ct, a, v);
  if (int_of(v) < 0 || int_of(v) > 0x10ffff)
    return ct_fail(ct, a->span, "ValueError", "chr() takes 0 to 0x10ffff, not %s", ct_repr(ct->ctx, v));
  if (int_of(v) >= 0xd800 && int_of(v) < 0xe000) return ct_unsupported(ct, a->span, "half of a surrogate pair");
  Buf b = buf_make(ct->arena);
  pynum_put_utf8(&b, (uint32_t)int_of(v));
  return ct_str_n(ct->ctx, b.data, b.size);
}

// ---- objects ----

CT_FN(py_str) {
  if (!a->num_args) return ct_str(ct->ctx, "");
  return ct_format_value(ct, a->args[0], 0, "", a->span);
}

CT_FN(py_repr) {
  CtValue *v = ct_unwrap(a->args[0]);
  return ct_format_value(ct, v, 'r', "", a->span);
}

CT_FN(py_format) {
  CtValue *spec = ct_arg(a, 1);
  return ct_format_value(ct, a->args[0], 0, spec && spec->kind == CT_STR ? spec->str.data : "", a->span);
}

// The output of a compilation is its result: what the host program prints is dropped.
CT_FN(py_print) { return ct_none(); }

CT_FN(py_type) {
  CtValue *v = a->args[0];
  if (a->num_args > 1) return ct_unsupported(ct, a->span, "type() with three arguments");
  if (v->kind == CT_CONSTEXPR) return ct_builtin(ct->ctx, "tl.constexpr");
  if (v->kind == CT_DTYPE) return ct_builtin(ct->ctx, "tl.dtype");
  return v->kind == CT_INSTANCE ? ct_find_attr(ct, v, intern(ct->ctx, "__class__"), a->span)
                                : ct_builtin(ct->ctx, ct_kind_name(v));
}

// The class of what a decorator of Triton's made, for isinstance(fn, triton.runtime.Autotuner); NULL for other values.
static const char *triton_class(const CtValue *v) {
  if (v->kind != CT_FUNCTION || v->fn->role == FN_PLAIN) return NULL;
  if (v->fn->role == FN_CONSTEXPR) return "ConstexprFunction";
  return v->fn->autotune ? "Autotuner" : v->fn->num_heuristics ? "Heuristics" : "JITFunction";
}

static bool is_callable(const CtValue *v) {
  return v->kind == CT_FUNCTION || v->kind == CT_BUILTIN || v->kind == CT_METHOD || v->kind == CT_CLASS;
}

static bool is_builtin_instance(const CtValue *v, const char *type) {
  const char *dot = strrchr(type, '.'), *last = dot ? dot + 1 : type, *made = triton_class(v);
  if (made && !strcmp(made, last)) return true;
  if (!strcmp(type, "object")) return true;
  if (!strcmp(last, "constexpr")) return v->kind == CT_CONSTEXPR;
  v = v->kind == CT_CONSTEXPR ? v->inner : v;
  if (!strcmp(type, "int")) return is_int(v);
  if (!strcmp(type, "tl.dtype")) return v->kind == CT_DTYPE;
  if (!strcmp(type, "tl.pointer_type")) return v->kind == CT_DTYPE && v->type->kind == CT_TYPE_POINTER;
  if (!strcmp(type, "tl.block_type")) return v->kind == CT_DTYPE && v->type->kind == CT_TYPE_BLOCK;
  if (!strcmp(type, "tl.tuple") || !strcmp(type, "tuple"))
    return v->kind == CT_TUPLE || (v->kind == CT_INSTANCE && v->instance->cls->form == CLASS_NAMEDTUPLE);
  if (!strcmp(last, "Sequence") || !strcmp(last, "List"))
    return v->kind == CT_LIST || v->kind == CT_TUPLE || (v->kind == CT_STR && last[0] == 'S');
  if (!strcmp(last, "Iterator")) return v->kind == CT_ITERATOR;
  if (!strcmp(last, "Iterable"))
    return ct_has_list(v) || v->kind == CT_DICT || v->kind == CT_SET || v->kind == CT_STR || v->kind == CT_RANGE;
  if (!strcmp(last, "Mapping") || !strcmp(last, "Dict")) return v->kind == CT_DICT;
  if (!strcmp(last, "Callable")) return is_callable(v);
  if (!strcmp(type, "type")) return v->kind == CT_CLASS || v->kind == CT_BUILTIN;
  if (v->kind == CT_INSTANCE) {
    for (const CtClass *c = v->instance->cls; c; c = c->base)
      if (!strcmp(c->name, type) || (v->instance->cls->form == CLASS_EXCEPTION && ct_exception_matches(c->name, type)))
        return true;
    return false;
  }
  return !strcmp(ct_kind_name(v), type);
}

CT_FN(py_isinstance) {
  CtValue *v = a->args[0];
  CtList types = {0};
  vec_push(ct->arena, &types, a->args[1]);
  const CtValue *missing = NULL;
  for (uint32_t i = 0; i < types.count; i++) {
    const CtValue *t = types.data[i];
    if (t->kind == CT_MISSING) missing = t;
    else if (t->kind == CT_TUPLE) {
      if (!ct_step(ct, a->span)) return NULL;
      for (uint32_t k = 0; k < t->list.count; k++) vec_push(ct->arena, &types, t->list.data[k]);
    } else if (t->kind == CT_NONE) { if (v->kind == CT_NONE) return ct_bool(true);
    } else if (t->kind == CT_CLASS) {
      if (v->kind == CT_INSTANCE && ct_class_is_subclass(v->instance->cls, t->cls)) return ct_bool(true);
    } else if (t->kind == CT_BUILTIN) {
      if (is_builtin_instance(v, t->builtin.name)) return ct_bool(true);
    } else return ct_fail(ct, a->span, "TypeError", "'%s' is not a type", ct_kind_name(t));
  }
  // A plain value is not an instance of a type that is missing (torch.Tensor).
  if (missing && v->kind == CT_MISSING) return ct_missing_from(ct, missing, "isinstance(...)");
  return ct_bool(false);
}

CT_FN(py_issubclass) {
  if (a->args[0]->kind != CT_CLASS || a->args[1]->kind != CT_CLASS)
    return ct_bool(ct_equal(a->args[0], a->args[1]));
  return ct_bool(ct_class_is_subclass(a->args[0]->cls, a->args[1]->cls));
}

// The name that getattr, hasattr and setattr take second; NULL after a failure.
static const char *attr_name(Comptime *ct, const CtArgs *a) {
  const CtValue *name = ct_unwrap(a->args[1]);
  if (name->kind == CT_STR) return intern_n(ct->ctx, name->str.data, name->str.size);
  ct_wrong_type(ct, a, name);
  return NULL;
}

// Clears the AttributeError by which a class's __getattr__ says that it has no such attribute.
static void forget_absence(Comptime *ct) {
  if (ct->error && !ct->error->is_fatal && !strcmp(ct->error->type, "AttributeError")) ct->error = NULL;
}

CT_FN(py_getattr) {
  if (a->args[1]->kind == CT_MISSING) return ct_missing_from(ct, a->args[1], "getattr(...)");
  const char *name = attr_name(ct, a);
  CtValue *v = name ? ct_find_attr(ct, a->args[0], name, a->span) : NULL;
  if (!v && name && a->num_args == 3) forget_absence(ct);
  if (v || ct->error) return v;
  return a->num_args == 3 ? a->args[2] : ct_get_attr(ct, a->args[0], name, a->span);
}

CT_FN(py_hasattr) {
  for (int i = 1; i >= 0; i--)
    if (a->args[i]->kind == CT_MISSING) return ct_missing_from(ct, a->args[i], "hasattr(...)");
  const char *name = attr_name(ct, a);
  const CtValue *v = name ? ct_find_attr(ct, a->args[0], name, a->span) : NULL;
  if (!v && name) forget_absence(ct);
  return ct->error ? NULL : ct_bool(v != NULL);
}

CT_FN(py_setattr) {
  const char *name = attr_name(ct, a);
  return name && ct_set_attr(ct, a->args[0], name, a->args[2], a->span) ? ct_none() : NULL;
}

CT_FN(py_callable) { return ct_bool(is_callable(ct_unwrap(a->args[0]))); }

CT_FN(py_slice) {
  CtValue *v = ct_new(ct->ctx, CT_SLICE), *none = ct_none();
  v->slice.lower = a->num_args > 1 ? a->args[0] : none;
  v->slice.upper = a->num_args > 1 ? a->args[1] : a->args[0];
  v->slice.step = a->num_args > 2 ? a->args[2] : none;
  return v;
}

static CtValue *rebind(Comptime *ct, const CtArgs *a, FnBinding binding) {
  CtValue *v = ct_unwrap(a->args[0]);
  if (v->kind != CT_FUNCTION) return v;
  CtFunction *fn = arena_new(ct->arena, CtFunction);
  *fn = *v->fn;
  fn->binding = binding;
  return ct_function_value(ct, fn);
}
CT_FN(py_staticmethod) { return rebind(ct, a, BIND_NOTHING); }
CT_FN(py_classmethod) { return rebind(ct, a, BIND_CLASS); }
CT_FN(py_property) { return rebind(ct, a, BIND_PROPERTY); }

CT_FN(py_bytes) {
  if (a->num_args) return ct_unsupported(ct, a->span, "bytes()");
  CtValue *v = ct_str(ct->ctx, "");
  v->kind = CT_BYTES;
  return v;
}

CT_FN(py_object) { return ct_object_new(ct, "object"); }

// object.__new__(cls): an instance that __init__ has not seen. Its attributes are named arguments, which Python does
// not take: tilec.triton writes objects of the host in this way.
CT_FN(object_new) {
  if (a->args[0]->kind != CT_CLASS) return ct_wrong_type(ct, a, a->args[0]);
  CtValue *v = ct_instance_new(ct, a->args[0]->cls);
  for (uint32_t i = 0; i < a->num_kwargs; i++) ct_attr_set(ct, v, a->kwargs[i].name, a->kwargs[i].value);
  return v;
}

static const CtFnRow builtins[] = {
    {"abs", py_abs, 1, 1}, {"bin", py_bin, 1, 1}, {"bool", py_bool, 0, 1}, {"bytes", py_bytes, 0, CT_ANY},
    {"callable", py_callable, 1, 1}, {"chr", py_chr, 1, 1}, {"classmethod", py_classmethod, 1, 1},
    {"divmod", py_divmod, 2, 2}, {"float", py_float, 0, 1}, {"format", py_format, 1, 2},
    {"getattr", py_getattr, 2, 3}, {"hasattr", py_hasattr, 2, 2}, {"hex", py_hex, 1, 1}, {"int", py_int, 0, 2},
    {"isinstance", py_isinstance, 2, 2}, {"issubclass", py_issubclass, 2, 2}, {"object", py_object, 0, 0},
    {"object.__new__", object_new, 1, 1},
    {"oct", py_oct, 1, 1}, {"ord", py_ord, 1, 1}, {"pow", py_pow, 2, 2}, {"print", py_print, 0, CT_ANY},
    {"property", py_property, 1, 1}, {"repr", py_repr, 1, 1}, {"round", py_round, 1, 2},
    {"setattr", py_setattr, 3, 3}, {"slice", py_slice, 1, 3}, {"staticmethod", py_staticmethod, 1, 1},
    {"str", py_str, 0, 3}, {"type", py_type, 1, 3}, {NULL, NULL, 0, 0}};

bool ct_has_word(const char *words, const char *word) {
  const size_t n = strlen(word);
  for (const char *s = words; n && (s = strstr(s, word)); s += n)
    if ((s == words || s[-1] == ' ') && (!s[n] || s[n] == ' ')) return true;
  return false;
}

static const CtFnRow *find_builtin(const char *name) {
  const CtFnRow *row = ct_find_row(builtins, name);
  return row ? row : ct_find_row(ct_sequence_functions, name);
}

// Python's own, and the names that exist but belong to the host.
bool ct_is_python_builtin(const char *name) {
  return find_builtin(name) ||
         ct_has_word("open input eval exec compile globals locals vars dir id hash super help complex bytearray"
                     " memoryview delattr breakpoint __import__ ascii NotImplemented exit quit __build_class__"
                     " __debug__ display", name);
}

// ---- dispatch ----

// Functions that look at a value and need not know it.
static bool accepts_missing(const char *name) {
  return ct_has_word("print isinstance hasattr getattr type repr callable dict list tuple set setattr staticmethod"
                  " classmethod property object next", name);
}

CtValue *ct_call_builtin(Comptime *ct, CtValue *self, const char *name, const CtArgs *a) {
  if (!ct_step(ct, a->span)) return NULL;
  bool known;
  CtValue *v = ct_call_triton(ct, name, self, a, &known);
  if (known) return v;
  v = ct_call_module_function(ct, name, self, a, &known);
  if (known) return v;
  const char *dot = strrchr(name, '.');
  if (self) return ct_call_method(ct, self, dot ? dot + 1 : name, a);
  const CtFnRow *row = find_builtin(name);
  if (row) {
    for (uint32_t i = 0; i < a->num_args && !accepts_missing(name); i++)
      if (a->args[i]->kind == CT_MISSING)
        return ct_missing_from(ct, a->args[i], "%s(%s)", name, a->args[i]->missing.name);
    return ct_call_row(ct, row, NULL, a);
  }
  if (ct_is_exception_name(name)) return ct_exception_new(ct, name, a);
  // str.lower(x)
  if (dot && a->num_args && find_builtin(arena_strndup(ct->arena, name, (size_t)(dot - name))) &&
      ct_has_method(a->args[0], dot + 1)) {
    CtArgs rest = *a;
    rest.args++;
    rest.num_args--;
    return ct_call_method(ct, a->args[0], dot + 1, &rest);
  }
  const char *hint = ct_call_hint(ct, name);
  return ct_missing(ct, arena_printf(ct->arena, "%s(...)", name),
                    arena_printf(ct->arena, "'%s' cannot be called at compile time%s%s", name, hint ? "; " : "",
                                 hint ? hint : ""), a->span);
}
