// Functions of the built-in modules: math, itertools, functools, collections, dataclasses, …, and those of triton and
// triton.language that compute on plain values.
#include <math.h>
#include <string.h>

#include "frontend/comptime_impl.h"

typedef CtValue *ModuleFn(Comptime *ct, CtValue *self, const CallArgs *a);
typedef struct { const char *name; ModuleFn *fn; } ModuleFunction;

static CtValue *wrong_args(Comptime *ct, const CallArgs *a) { return ct_fail(ct, a->span, "TypeError", "wrong arguments"); }

static bool number_arg(Comptime *ct, const CallArgs *a, uint32_t i, double *out) {
  *out = 0;
  CtValue *v = i < a->num_args ? ct_unwrap(a->args[i]) : NULL;
  if (v && v->kind == CT_FLOAT) return *out = v->f, true;
  if (v && is_int(v)) return *out = (double)int_of(v), true;
  if (v && v->kind == CT_MISSING) return ct_fail_missing(ct, a->span, v) != NULL;
  return wrong_args(ct, a) != NULL;
}

static bool int_arg(Comptime *ct, const CallArgs *a, uint32_t i, Int128 *out) {
  *out = 0;
  CtValue *v = i < a->num_args ? ct_unwrap(a->args[i]) : NULL;
  if (v && is_int(v)) return *out = int_of(v), true;
  if (v && v->kind == CT_MISSING) return ct_fail_missing(ct, a->span, v) != NULL;
  return wrong_args(ct, a) != NULL;
}

static CtValue *method_value(Comptime *ct, CtValue *self, const char *name) {
  CtValue *v = arena_new(&ct->ctx->arena, CtValue);
  v->kind = CT_METHOD;
  v->method.self = self;
  v->method.fn = ct_builtin(ct->ctx, name);
  return v;
}

// ---- math ----

static CtValue *real_result(Comptime *ct, const CallArgs *a, double x, bool in_domain) {
  return in_domain ? ct_float(ct->ctx, x) : ct_fail(ct, a->span, "ValueError", "math domain error");
}

#define MATH1(name, expr, domain)                                                                          \
  static CtValue *math_##name(Comptime *ct, CtValue *self, const CallArgs *a) {                            \
    double x;                                                                                              \
    (void)self;                                                                                            \
    return number_arg(ct, a, 0, &x) ? real_result(ct, a, (expr), (domain)) : NULL;                         \
  }
MATH1(sqrt, sqrt(x), x >= 0)
MATH1(exp, exp(x), true)
MATH1(exp2, exp2(x), true)
MATH1(expm1, expm1(x), true)
MATH1(log2, log2(x), x > 0)
MATH1(log10, log10(x), x > 0)
MATH1(log1p, log1p(x), x > -1)
MATH1(sin, sin(x), true)
MATH1(cos, cos(x), true)
MATH1(tan, tan(x), true)
MATH1(asin, asin(x), fabs(x) <= 1)
MATH1(acos, acos(x), fabs(x) <= 1)
MATH1(atan, atan(x), true)
MATH1(sinh, sinh(x), true)
MATH1(cosh, cosh(x), true)
MATH1(tanh, tanh(x), true)
MATH1(erf, erf(x), true)
MATH1(erfc, erfc(x), true)
MATH1(fabs, fabs(x), true)
MATH1(radians, x * 3.14159265358979323846 / 180, true)
MATH1(degrees, x * 180 / 3.14159265358979323846, true)

#define MATH2(name, expr)                                                                                  \
  static CtValue *math_##name(Comptime *ct, CtValue *self, const CallArgs *a) {                            \
    double x, y;                                                                                           \
    (void)self;                                                                                            \
    return number_arg(ct, a, 0, &x) && number_arg(ct, a, 1, &y) ? ct_float(ct->ctx, (expr)) : NULL;        \
  }
MATH2(pow, pow(x, y))
MATH2(fmod, fmod(x, y))
MATH2(atan2, atan2(x, y))
MATH2(hypot, hypot(x, y))
MATH2(copysign, copysign(x, y))

#define MATH_TEST(name, expr)                                                                              \
  static CtValue *math_##name(Comptime *ct, CtValue *self, const CallArgs *a) {                            \
    double x;                                                                                              \
    (void)self;                                                                                            \
    return number_arg(ct, a, 0, &x) ? ct_bool(ct->ctx, (expr)) : NULL;                                     \
  }
MATH_TEST(isnan, isnan(x))
MATH_TEST(isinf, isinf(x))
MATH_TEST(isfinite, isfinite(x))

static CtValue *math_log(Comptime *ct, CtValue *self, const CallArgs *a) {
  double x, base = 0;
  (void)self;
  if (!number_arg(ct, a, 0, &x) || (a->num_args > 1 && !number_arg(ct, a, 1, &base))) return NULL;
  return real_result(ct, a, a->num_args > 1 ? log(x) / log(base) : log(x), x > 0 && base >= 0);
}

static CtValue *to_int(Comptime *ct, const CallArgs *a, double (*round)(double)) {
  double x;
  if (a->num_args == 1 && is_int(ct_unwrap(a->args[0]))) return ct_int(ct->ctx, int_of(ct_unwrap(a->args[0])));
  if (!number_arg(ct, a, 0, &x)) return NULL;
  CtValue *v = ct_float(ct->ctx, round(x));
  return call_builtin(ct, NULL, "int", &(CallArgs){&v, 1, NULL, 0, a->span});
}
static CtValue *math_ceil(Comptime *ct, CtValue *self, const CallArgs *a) { (void)self; return to_int(ct, a, ceil); }
static CtValue *math_floor(Comptime *ct, CtValue *self, const CallArgs *a) { (void)self; return to_int(ct, a, floor); }
static CtValue *math_trunc(Comptime *ct, CtValue *self, const CallArgs *a) { (void)self; return to_int(ct, a, trunc); }

static Int128 gcd(Int128 x, Int128 y) {
  while (y) {
    Int128 t = x % y;
    x = y;
    y = t;
  }
  return x < 0 ? -x : x;
}

static CtValue *math_gcd(Comptime *ct, CtValue *self, const CallArgs *a) {
  Int128 r = 0, x;
  (void)self;
  for (uint32_t i = 0; i < a->num_args; i++) {
    if (!int_arg(ct, a, i, &x)) return NULL;
    r = gcd(r, x);
  }
  return ct_int(ct->ctx, r);
}

static CtValue *math_lcm(Comptime *ct, CtValue *self, const CallArgs *a) {
  Int128 r = 1, x;
  (void)self;
  for (uint32_t i = 0; i < a->num_args; i++) {
    if (!int_arg(ct, a, i, &x)) return NULL;
    if (!x) return ct_int(ct->ctx, 0);
    if (__builtin_mul_overflow(r, x / gcd(r, x), &r)) return ct_fail(ct, a->span, "OverflowError", "integer result does not fit in 128 bits");
  }
  return ct_int(ct->ctx, r < 0 ? -r : r);
}

static CtValue *math_prod(Comptime *ct, CtValue *self, const CallArgs *a) {
  CtList items;
  (void)self;
  if (a->num_args != 1 || !op_iterate(ct, a->args[0], a->span, &items)) return ct->error ? NULL : wrong_args(ct, a);
  CtValue *r = kwarg(a, "start") ? kwarg(a, "start") : ct_int(ct->ctx, 1);
  for (uint32_t i = 0; r && i < items.count; i++) r = op_binary(ct, PYOP_MUL, r, items.data[i], a->span);
  return r;
}

static CtValue *math_isqrt(Comptime *ct, CtValue *self, const CallArgs *a) {
  Int128 x;
  (void)self;
  if (!int_arg(ct, a, 0, &x)) return NULL;
  if (x < 0) return ct_fail(ct, a->span, "ValueError", "isqrt() of a negative number");
  Int128 low = 0, high = (Int128)1 << 63;   // low² <= x < high², as far as 126 bits go
  while (high - low > 1) {
    Int128 mid = low + (high - low) / 2;
    if (mid * mid <= x) low = mid; else high = mid;
  }
  return ct_int(ct->ctx, low);
}

static CtValue *math_factorial(Comptime *ct, CtValue *self, const CallArgs *a) {
  Int128 x, r = 1;
  (void)self;
  if (!int_arg(ct, a, 0, &x)) return NULL;
  if (x > 33) return ct_fail(ct, a->span, "OverflowError", "integer result does not fit in 128 bits");
  for (Int128 i = 2; i <= x; i++) r *= i;
  return ct_int(ct->ctx, r);
}

// ---- itertools ----

static CtValue *iter_product(Comptime *ct, CtValue *self, const CallArgs *a) {
  CtValue *repeat = kwarg(a, "repeat");
  uint32_t times = repeat && is_int(repeat) && int_of(repeat) >= 0 && int_of(repeat) < 64 ? (uint32_t)int_of(repeat) : 1, n = a->num_args * times;
  CtList *lists = arena_array(&ct->ctx->arena, CtList, n + 1);
  double total = 1;
  (void)self;
  for (uint32_t i = 0; i < n; i++) {
    if (!op_iterate(ct, a->args[i % a->num_args], a->span, &lists[i])) return NULL;
    total *= lists[i].count;
  }
  if (!ct_grow(ct, total > MAX_ELEMENTS ? (size_t)MAX_ELEMENTS + 1 : (size_t)total * (n + 1), a->span)) return NULL;
  CtValue *out = ct_list(ct->ctx, NULL, 0);
  uint32_t *at = arena_array(&ct->ctx->arena, uint32_t, n + 1);
  for (uint32_t row = 0; row < (uint32_t)total; row++) {
    CtValue *t = ct_tuple(ct->ctx, NULL, 0);
    for (uint32_t i = 0; i < n; i++) vec_push(&ct->ctx->arena, &t->list, lists[i].data[at[i]]);
    vec_push(&ct->ctx->arena, &out->list, t);
    for (uint32_t i = n; i-- > 0;) {
      if (++at[i] < lists[i].count) break;
      at[i] = 0;
    }
  }
  return out;
}

static CtValue *chain(Comptime *ct, CtValue *const *parts, uint32_t n, Span span) {
  CtValue *out = ct_list(ct->ctx, NULL, 0);
  for (uint32_t i = 0; i < n; i++) {
    CtList items;
    if (!op_iterate(ct, parts[i], span, &items) || !ct_grow(ct, (size_t)out->list.count + items.count, span)) return NULL;
    for (uint32_t k = 0; k < items.count; k++) vec_push(&ct->ctx->arena, &out->list, items.data[k]);
  }
  return out;
}

static CtValue *iter_chain(Comptime *ct, CtValue *self, const CallArgs *a) {
  (void)self;
  return chain(ct, a->args, a->num_args, a->span);
}

static CtValue *iter_chain_from(Comptime *ct, CtValue *self, const CallArgs *a) {
  CtList parts;
  (void)self;
  if (a->num_args != 1) return wrong_args(ct, a);
  return op_iterate(ct, a->args[0], a->span, &parts) ? chain(ct, parts.data, parts.count, a->span) : NULL;
}

static bool choose(Comptime *ct, const CtList *from, uint32_t k, bool ordered, bool *used, CtList *picked, uint32_t first, CtValue *out, Span span) {
  if (!ct_step(ct, span)) return false;
  if (picked->count == k) {
    vec_push(&ct->ctx->arena, &out->list, ct_tuple(ct->ctx, picked->data, picked->count));
    return true;
  }
  for (uint32_t i = ordered ? 0 : first; i < from->count; i++) {
    if (used[i]) continue;
    used[i] = true;
    vec_push(&ct->ctx->arena, picked, from->data[i]);
    bool ok = choose(ct, from, k, ordered, used, picked, i + 1, out, span);
    picked->count--;
    used[i] = false;
    if (!ok) return false;
  }
  return true;
}

static CtValue *choices(Comptime *ct, const CallArgs *a, bool ordered) {
  CtList from, picked = {0};
  Int128 k;
  if (!a->num_args || !op_iterate(ct, a->args[0], a->span, &from)) return ct->error ? NULL : wrong_args(ct, a);
  k = from.count;
  if (a->num_args > 1 && !int_arg(ct, a, 1, &k)) return NULL;
  CtValue *out = ct_list(ct->ctx, NULL, 0);
  if (k < 0 || k > from.count) return out;
  return choose(ct, &from, (uint32_t)k, ordered, arena_array(&ct->ctx->arena, bool, from.count + 1), &picked, 0, out, a->span) ? out : NULL;
}
static CtValue *iter_combinations(Comptime *ct, CtValue *self, const CallArgs *a) { (void)self; return choices(ct, a, false); }
static CtValue *iter_permutations(Comptime *ct, CtValue *self, const CallArgs *a) { (void)self; return choices(ct, a, true); }

static CtValue *iter_repeat(Comptime *ct, CtValue *self, const CallArgs *a) {
  Int128 n;
  (void)self;
  if (a->num_args != 2) return ct_unsupported(ct, a->span, "itertools.repeat without a count");
  if (!int_arg(ct, a, 1, &n) || !ct_grow(ct, n < 0 ? 0 : n > MAX_ELEMENTS ? (size_t)MAX_ELEMENTS + 1 : (size_t)n, a->span)) return NULL;
  CtValue *out = ct_list(ct->ctx, NULL, 0);
  for (Int128 i = 0; i < n; i++) vec_push(&ct->ctx->arena, &out->list, a->args[0]);
  return out;
}

// ---- functools, copy, operator, typing ----

static CtValue *func_partial(Comptime *ct, CtValue *self, const CallArgs *a) {
  if (!self) {
    if (!a->num_args) return wrong_args(ct, a);
    CtValue *kwargs = ct_dict(ct->ctx);
    for (uint32_t i = 0; i < a->num_kwargs; i++) dict_set_str(ct->ctx, kwargs->dict, a->kwargs[i].name, a->kwargs[i].value);
    CtValue *parts[2] = {ct_tuple(ct->ctx, a->args, a->num_args), kwargs};
    return method_value(ct, ct_tuple(ct->ctx, parts, 2), "functools.partial");
  }
  const CtList *bound = &self->list.data[0]->list;
  const CtDict *named = self->list.data[1]->dict;
  CtList args = {0};
  struct { CtBinding *data; uint32_t count, capacity; } kwargs = {0};
  for (uint32_t i = 1; i < bound->count; i++) vec_push(&ct->ctx->arena, &args, bound->data[i]);
  for (uint32_t i = 0; i < a->num_args; i++) vec_push(&ct->ctx->arena, &args, a->args[i]);
  for (uint32_t i = 0; i < named->count; i++) {
    const char *name = intern(ct->ctx, named->entries[i].key->str.data);
    if (!kwarg(a, name)) vec_push(&ct->ctx->arena, &kwargs, ((CtBinding){name, named->entries[i].value}));
  }
  for (uint32_t i = 0; i < a->num_kwargs; i++) vec_push(&ct->ctx->arena, &kwargs, a->kwargs[i]);
  return call(ct, bound->data[0], &(CallArgs){args.data, args.count, kwargs.data, kwargs.count, a->span});
}

static CtValue *func_reduce(Comptime *ct, CtValue *self, const CallArgs *a) {
  CtList items;
  (void)self;
  if (a->num_args < 2 || !op_iterate(ct, a->args[1], a->span, &items)) return ct->error ? NULL : wrong_args(ct, a);
  uint32_t i = a->num_args > 2 ? 0 : 1;
  if (i && !items.count) return ct_fail(ct, a->span, "TypeError", "reduce() of nothing");
  CtValue *r = i ? items.data[0] : a->args[2];
  for (; r && i < items.count; i++) r = call(ct, a->args[0], &(CallArgs){(CtValue *[]){r, items.data[i]}, 2, NULL, 0, a->span});
  return r;
}

// lru_cache, cache, wraps(f): what they return calls what it is given.
static CtValue *func_transparent(Comptime *ct, CtValue *self, const CallArgs *a) {
  bool is_function = a->num_args == 1 && (a->args[0]->kind == CT_FUNCTION || a->args[0]->kind == CT_MISSING);
  if (self || is_function) return a->num_args == 1 ? a->args[0] : wrong_args(ct, a);
  return method_value(ct, ct_none(ct->ctx), "functools.cache");
}
static CtValue *func_wraps(Comptime *ct, CtValue *self, const CallArgs *a) {
  (void)self; (void)a;
  return method_value(ct, ct_none(ct->ctx), "functools.cache");
}

static CtValue *copy_value(Comptime *ct, CtValue *v, bool deep, int depth, Span span) {
  if (depth > 50) return ct_fail(ct, span, "RecursionError", "copy of a structure nested too deeply");
  CtValue *out = v;
  if (v->kind == CT_LIST || (v->kind == CT_TUPLE && deep)) {
    out = v->kind == CT_LIST ? ct_list(ct->ctx, v->list.data, v->list.count) : ct_tuple(ct->ctx, v->list.data, v->list.count);
    for (uint32_t i = 0; deep && i < out->list.count; i++)
      if (!(out->list.data[i] = copy_value(ct, out->list.data[i], true, depth + 1, span))) return NULL;
  } else if (v->kind == CT_DICT || v->kind == CT_SET) {
    out = ct_dict(ct->ctx);
    out->kind = v->kind;
    for (uint32_t i = 0; i < v->dict->count; i++) {
      CtValue *item = deep ? copy_value(ct, v->dict->entries[i].value, true, depth + 1, span) : v->dict->entries[i].value;
      if (!item) return NULL;
      dict_set(ct->ctx, out->dict, v->dict->entries[i].key, item);
    }
  } else if (v->kind == CT_INSTANCE && v->instance->cls->form != CLASS_ENUM) {
    out = instance_new(ct, v->instance->cls);
    for (uint32_t i = 0; i < v->instance->attrs->count; i++) {
      CtValue *item = deep ? copy_value(ct, v->instance->attrs->bindings[i].value, true, depth + 1, span) : v->instance->attrs->bindings[i].value;
      if (!item) return NULL;
      env_set(ct->ctx, out->instance->attrs, v->instance->attrs->bindings[i].name, item);
    }
  }
  return out;
}
static CtValue *copy_copy(Comptime *ct, CtValue *self, const CallArgs *a) {
  (void)self;
  return a->num_args == 1 ? copy_value(ct, a->args[0], false, 0, a->span) : wrong_args(ct, a);
}
static CtValue *copy_deepcopy(Comptime *ct, CtValue *self, const CallArgs *a) {
  (void)self;
  return a->num_args == 1 ? copy_value(ct, a->args[0], true, 0, a->span) : wrong_args(ct, a);
}

#define OPERATOR(name, op)                                                                                 \
  static CtValue *operator_##name(Comptime *ct, CtValue *self, const CallArgs *a) {                        \
    (void)self;                                                                                            \
    return a->num_args == 2 ? op_binary(ct, op, a->args[0], a->args[1], a->span) : wrong_args(ct, a);      \
  }
OPERATOR(add, PYOP_ADD) OPERATOR(sub, PYOP_SUB) OPERATOR(mul, PYOP_MUL) OPERATOR(floordiv, PYOP_FLOORDIV) OPERATOR(truediv, PYOP_DIV)
OPERATOR(mod, PYOP_MOD) OPERATOR(lt, PYOP_LT) OPERATOR(le, PYOP_LE) OPERATOR(gt, PYOP_GT) OPERATOR(ge, PYOP_GE) OPERATOR(eq, PYOP_EQ)
OPERATOR(ne, PYOP_NE) OPERATOR(and_, PYOP_AND) OPERATOR(or_, PYOP_OR) OPERATOR(xor, PYOP_XOR)

static CtValue *typing_cast(Comptime *ct, CtValue *self, const CallArgs *a) {
  (void)self;
  return a->num_args == 2 ? a->args[1] : wrong_args(ct, a);
}

static CtValue *nothing(Comptime *ct, CtValue *self, const CallArgs *a) {
  (void)self; (void)a;
  return ct_none(ct->ctx);
}

static CtValue *os_getenv(Comptime *ct, CtValue *self, const CallArgs *a) {
  (void)self;
  return a->num_args > 1 ? a->args[1] : ct_none(ct->ctx);
}

// ---- collections, dataclasses, enum ----

static CtValue *collections_namedtuple(Comptime *ct, CtValue *self, const CallArgs *a) {
  static const char *const names[] = {"typename", "field_names", "?rename", "?defaults", "?module", NULL};
  CtValue *v[5];
  CtList fields;
  (void)self;
  if (!take_args(ct, "namedtuple", a, names, v) || v[0]->kind != CT_STR) return ct->error ? NULL : wrong_args(ct, a);
  CtValue *list = v[1];
  if (list->kind == CT_STR) {
    CtValue *spaced[2] = {ct_str(ct->ctx, ","), ct_str(ct->ctx, " ")};
    list = call_method(ct, list, "replace", &(CallArgs){spaced, 2, NULL, 0, a->span});
    if (list) list = call_method(ct, list, "split", &(CallArgs){.span = a->span});
  }
  if (!list || !op_iterate(ct, list, a->span, &fields)) return NULL;
  CtList defaults = {0};
  if (v[3] && v[3]->kind != CT_NONE && !op_iterate(ct, v[3], a->span, &defaults)) return NULL;
  CtValue *out = arena_new(&ct->ctx->arena, CtValue);
  out->kind = CT_CLASS;
  CtClass *cls = out->cls = arena_new(&ct->ctx->arena, CtClass);
  cls->name = intern_n(ct->ctx, v[0]->str.data, v[0]->str.size);
  cls->form = CLASS_NAMEDTUPLE;
  cls->env = env_new(ct, NULL, NULL);
  cls->env->is_class = true;
  cls->num_fields = fields.count;
  cls->fields = arena_array(&ct->ctx->arena, CtField, fields.count + 1);
  for (uint32_t i = 0; i < fields.count; i++) {
    if (fields.data[i]->kind != CT_STR) return wrong_args(ct, a);
    bool has_default = i + defaults.count >= fields.count;
    cls->fields[i] = (CtField){intern_n(ct->ctx, fields.data[i]->str.data, fields.data[i]->str.size), NULL,
                               has_default ? defaults.data[i + defaults.count - fields.count] : NULL};
  }
  return out;
}

static CtValue *dataclasses_dataclass(Comptime *ct, CtValue *self, const CallArgs *a) {
  if (!a->num_args && !self) return method_value(ct, ct_none(ct->ctx), "dataclasses.dataclass");
  CtValue *v = a->num_args == 1 ? a->args[0] : NULL;
  if (v && v->kind == CT_MISSING) return v;
  if (!v || v->kind != CT_CLASS) return wrong_args(ct, a);
  if (v->cls->form == CLASS_PLAIN) v->cls->form = CLASS_DATACLASS;
  return v;
}

static CtValue *dataclasses_field(Comptime *ct, CtValue *self, const CallArgs *a) {
  CtValue *value = kwarg(a, "default"), *factory = kwarg(a, "default_factory");
  (void)self;
  if (value) return value;
  return factory ? call(ct, factory, &(CallArgs){.span = a->span}) : ct_unsupported(ct, a->span, "a dataclass field without a default");
}

static CtValue *dataclasses_replace(Comptime *ct, CtValue *self, const CallArgs *a) {
  (void)self;
  if (a->num_args != 1 || a->args[0]->kind != CT_INSTANCE) return wrong_args(ct, a);
  CtValue *v = copy_value(ct, a->args[0], false, 0, a->span);
  for (uint32_t i = 0; i < a->num_kwargs; i++) env_set(ct->ctx, v->instance->attrs, a->kwargs[i].name, a->kwargs[i].value);
  return v;
}

static CtValue *enum_auto(Comptime *ct, CtValue *self, const CallArgs *a) {
  (void)self;
  return ct_missing(ct, "enum.auto", "its class gives it a value", a->span);
}

// ---- triton ----

static CtValue *triton_cdiv(Comptime *ct, CtValue *self, const CallArgs *a) {
  static const char *const names[] = {"x", "y", NULL};
  CtValue *v[2];
  (void)self;
  CallArgs renamed = *a;
  CtBinding kwargs[2];
  for (uint32_t i = 0; i < a->num_kwargs && i < 2; i++) {   // tl.cdiv calls its second parameter div
    kwargs[i] = a->kwargs[i];
    if (!strcmp(kwargs[i].name, "div")) kwargs[i].name = names[1];
  }
  if (a->num_kwargs <= 2) renamed.kwargs = kwargs;
  if (!take_args(ct, "cdiv", &renamed, names, v)) return NULL;
  CtValue *one = ct_int(ct->ctx, 1), *sum = op_binary(ct, PYOP_ADD, v[0], v[1], a->span);
  if (sum) sum = op_binary(ct, PYOP_SUB, sum, one, a->span);
  return sum ? op_binary(ct, PYOP_FLOORDIV, sum, v[1], a->span) : NULL;
}

static CtValue *triton_next_power_of_2(Comptime *ct, CtValue *self, const CallArgs *a) {
  Int128 n, p = 1;
  (void)self;
  if (a->num_args == 1 && a->args[0]->kind == CT_MISSING) return a->args[0];
  if (!int_arg(ct, a, 0, &n)) return NULL;
  if (n <= 0) return ct_int(ct->ctx, 0);
  if (n > (Int128)1 << 126) return ct_fail(ct, a->span, "OverflowError", "integer result does not fit in 128 bits");
  while (p < n) p <<= 1;
  CtValue *v = ct_int(ct->ctx, p);
  return a->args[0]->kind == CT_CONSTEXPR ? ct_constexpr(ct->ctx, v) : v;
}

static CtValue *tl_constexpr(Comptime *ct, CtValue *self, const CallArgs *a) {
  (void)self;
  if (a->num_args != 1) return wrong_args(ct, a);
  return a->args[0]->kind == CT_MISSING ? a->args[0] : ct_constexpr(ct->ctx, a->args[0]);
}

static CtValue *tl_pointer_type(Comptime *ct, CtValue *self, const CallArgs *a) {
  static const char *const names[] = {"element_ty", "?address_space", "?const", NULL};
  CtValue *v[3];
  (void)self;
  if (!take_args(ct, "pointer_type", a, names, v)) return NULL;
  CtValue *elem = ct_unwrap(v[0]);
  if (elem->kind != CT_DTYPE) return elem->kind == CT_MISSING ? elem : wrong_args(ct, a);
  CtType *t = (CtType *)ct_type_pointer(ct->ctx, elem->type, v[2] && ct_is_true(v[2]));
  if (v[1] && ct_unwrap(v[1])->kind == CT_INT) t->address_space = (uint32_t)ct_unwrap(v[1])->i;
  return ct_dtype(ct->ctx, t);
}

static CtValue *tl_block_type(Comptime *ct, CtValue *self, const CallArgs *a) {
  static const char *const names[] = {"element_ty", "shape", NULL};
  CtValue *v[2];
  CtList dims;
  int64_t shape[CT_MAX_RANK];
  (void)self;
  if (!take_args(ct, "block_type", a, names, v) || !op_iterate(ct, v[1], a->span, &dims)) return NULL;
  if (ct_unwrap(v[0])->kind != CT_DTYPE || dims.count > CT_MAX_RANK) return wrong_args(ct, a);
  for (uint32_t i = 0; i < dims.count; i++) {
    CtValue *d = ct_unwrap(dims.data[i]);
    if (!is_int(d)) return wrong_args(ct, a);
    shape[i] = (int64_t)int_of(d);
  }
  return ct_dtype(ct->ctx, ct_type_block(ct->ctx, ct_unwrap(v[0])->type, shape, dims.count));
}

static CtValue *tl_dtype(Comptime *ct, CtValue *self, const CallArgs *a) {
  CtValue *name = a->num_args == 1 ? ct_unwrap(a->args[0]) : NULL;
  DtypeKind k;
  (void)self;
  if (!name || name->kind != CT_STR || !dtype_find(name->str.data, &k)) return wrong_args(ct, a);
  return ct_dtype(ct->ctx, ct_type_scalar(ct->ctx, k));
}

static CtValue *tl_tuple(Comptime *ct, CtValue *self, const CallArgs *a) {
  (void)self;
  return call_builtin(ct, NULL, "tuple", a);
}

static CtValue *target_is_cuda(Comptime *ct, CtValue *self, const CallArgs *a) {
  (void)self; (void)a;
  return ct_bool(ct->ctx, true);
}
static CtValue *target_is_hip(Comptime *ct, CtValue *self, const CallArgs *a) {
  (void)self; (void)a;
  return ct_bool(ct->ctx, false);
}
static CtValue *target_capability_geq(Comptime *ct, CtValue *self, const CallArgs *a) {
  Int128 major, minor = 0;
  (void)self;
  if (!int_arg(ct, a, 0, &major) || (a->num_args > 1 && !int_arg(ct, a, 1, &minor))) return NULL;
  return ct_bool(ct->ctx, ct->options.cuda_capability >= major * 10 + minor);
}

// What the host would be told about the GPU that is compiled for.
static CtValue *capability(Comptime *ct) {
  CtValue *parts[2] = {ct_int(ct->ctx, ct->options.cuda_capability / 10), ct_int(ct->ctx, ct->options.cuda_capability % 10)};
  return ct_tuple(ct->ctx, parts, 2);
}

static CtValue *current_target(Comptime *ct, CtValue *self, const CallArgs *a) {
  CtClass *cls = arena_new(&ct->ctx->arena, CtClass);
  cls->name = "GPUTarget";
  CtValue *v = instance_new(ct, cls);
  (void)self; (void)a;
  env_set(ct->ctx, v->instance->attrs, intern(ct->ctx, "backend"), ct_str(ct->ctx, "cuda"));
  env_set(ct->ctx, v->instance->attrs, intern(ct->ctx, "arch"), ct_int(ct->ctx, ct->options.cuda_capability));
  env_set(ct->ctx, v->instance->attrs, intern(ct->ctx, "warp_size"), ct_int(ct->ctx, 32));
  return v;
}

CtValue *target_fact(Comptime *ct, const char *name) {
  if (!strcmp(name, "torch.version.hip")) return ct_none(ct->ctx);
  if (!strcmp(name, "torch.cuda.is_available(...)")) return ct_bool(ct->ctx, true);
  if (!strcmp(name, "torch.cuda.get_device_capability(...)")) return capability(ct);
  return NULL;
}

static bool ends_with(const char *s, const char *end) {
  size_t n = strlen(s), m = strlen(end);
  return n >= m && !strcmp(s + n - m, end);
}

bool target_test(const char *name, bool *out) {
  static const char *const others[] = {"is_hip", "is_amd", "is_rocm", "is_xpu", "is_npu", "is_musa", "is_intel", "is_cpu", "IS_HIP", "IS_AMD", "IS_ROCM", "IS_XPU", "IS_NPU"};
  static const char *const ours[] = {"is_cuda", "is_nvidia", "IS_CUDA", "IS_NVIDIA"};
  size_t n = strlen(name);
  char bare[80];
  if (n >= sizeof bare) return false;
  memcpy(bare, name, n + 1);
  if (ends_with(bare, "(...)")) bare[n - 5] = 0;
  for (size_t i = 0; i < countof(others); i++)
    if (ends_with(bare, others[i])) return *out = false, true;
  for (size_t i = 0; i < countof(ours); i++)
    if (ends_with(bare, ours[i])) return *out = true, true;
  return false;
}

// packaging.version.Version("3.6.0"): compared by its numbers.
static CtValue *packaging_version(Comptime *ct, CtValue *self, const CallArgs *a) {
  CtValue *text = a->num_args == 1 ? ct_unwrap(a->args[0]) : NULL;
  (void)self;
  if (text && text->kind == CT_MISSING) return text;
  if (!text || text->kind != CT_STR) return wrong_args(ct, a);
  CtValue *v = ct_tuple(ct->ctx, NULL, 0);
  for (const char *s = text->str.data; *s >= '0' && *s <= '9';) {
    Int128 number = 0;
    for (; *s >= '0' && *s <= '9' && number < 1000000; s++) number = number * 10 + (*s - '0');
    vec_push(&ct->ctx->arena, &v->list, ct_int(ct->ctx, number));
    if (*s == '.') s++;
  }
  return v;
}

// ---- Gluon's layouts ----

// Fields in the order of positional arguments.
static const struct { const char *name, *fields[7]; } layouts[] = {
    {"BlockedLayout", {"size_per_thread", "threads_per_warp", "warps_per_cta", "order"}},
    {"SliceLayout", {"dim", "parent"}},
    {"DistributedLinearLayout", {"reg_bases", "lane_bases", "warp_bases", "block_bases", "shape"}},
    {"DotOperandLayout", {"operand_index", "parent", "k_width"}},
    {"NVMMADistributedLayout", {"version", "warps_per_cta", "instr_shape"}},
    {"NVMMASharedLayout", {"swizzle_byte_width", "element_bitwidth", "rank", "transposed", "fp4_padded"}},
    {"SwizzledSharedLayout", {"vec", "per_phase", "max_phase", "order"}},
    {"SharedLinearLayout", {"offset_bases", "block_bases", "alignment"}},
    {"PaddedSharedLayout", {"interval_padding_pairs", "offset_bases", "block_bases", "shape"}},
    {"MBarrierLayout", {NULL}},
    {"AutoLayout", {NULL}},
    {"CoalescedLayout", {NULL}}};

static CtValue *make_layout(Comptime *ct, const char *name, const CallArgs *a) {
  const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
  for (size_t i = 0; i < countof(layouts); i++) {
    if (strcmp(layouts[i].name, last)) continue;
    CtClass *cls = arena_new(&ct->ctx->arena, CtClass);
    cls->name = intern(ct->ctx, arena_printf(&ct->ctx->arena, "gl.%s", last));
    CtValue *v = instance_new(ct, cls);
    for (uint32_t k = 0; k < a->num_args; k++) {
      if (k >= countof(layouts[i].fields) || !layouts[i].fields[k]) return ct_fail(ct, a->span, "TypeError", "%s takes at most %u arguments, not %u", last, k, a->num_args);
      env_set(ct->ctx, v->instance->attrs, intern(ct->ctx, layouts[i].fields[k]), ct_unwrap(a->args[k]));
    }
    for (uint32_t k = 0; k < a->num_kwargs; k++) env_set(ct->ctx, v->instance->attrs, a->kwargs[k].name, ct_unwrap(a->kwargs[k].value));
    return v;
  }
  return NULL;
}

// ---- dispatch ----

static const ModuleFunction functions[] = {
    {"math.sqrt", math_sqrt}, {"math.exp", math_exp}, {"math.exp2", math_exp2}, {"math.expm1", math_expm1}, {"math.log", math_log}, {"math.log2", math_log2},
    {"math.log10", math_log10}, {"math.log1p", math_log1p}, {"math.sin", math_sin}, {"math.cos", math_cos}, {"math.tan", math_tan}, {"math.asin", math_asin},
    {"math.acos", math_acos}, {"math.atan", math_atan}, {"math.sinh", math_sinh}, {"math.cosh", math_cosh}, {"math.tanh", math_tanh}, {"math.erf", math_erf},
    {"math.erfc", math_erfc}, {"math.fabs", math_fabs}, {"math.radians", math_radians}, {"math.degrees", math_degrees}, {"math.pow", math_pow},
    {"math.fmod", math_fmod}, {"math.atan2", math_atan2}, {"math.hypot", math_hypot}, {"math.copysign", math_copysign}, {"math.isnan", math_isnan},
    {"math.isinf", math_isinf}, {"math.isfinite", math_isfinite}, {"math.ceil", math_ceil}, {"math.floor", math_floor}, {"math.trunc", math_trunc},
    {"math.gcd", math_gcd}, {"math.lcm", math_lcm}, {"math.prod", math_prod}, {"math.isqrt", math_isqrt}, {"math.factorial", math_factorial},
    {"itertools.product", iter_product}, {"itertools.chain", iter_chain}, {"itertools.chain.from_iterable", iter_chain_from},
    {"itertools.combinations", iter_combinations}, {"itertools.permutations", iter_permutations}, {"itertools.repeat", iter_repeat},
    {"functools.partial", func_partial}, {"functools.reduce", func_reduce}, {"functools.lru_cache", func_transparent}, {"functools.cache", func_transparent},
    {"functools.wraps", func_wraps}, {"copy.copy", copy_copy}, {"copy.deepcopy", copy_deepcopy}, {"typing.cast", typing_cast}, {"warnings.warn", nothing},
    {"warnings.filterwarnings", nothing}, {"warnings.simplefilter", nothing}, {"os.getenv", os_getenv}, {"collections.namedtuple", collections_namedtuple},
    {"dataclasses.dataclass", dataclasses_dataclass}, {"dataclasses.field", dataclasses_field}, {"dataclasses.replace", dataclasses_replace}, {"enum.auto", enum_auto},
    {"operator.add", operator_add}, {"operator.sub", operator_sub}, {"operator.mul", operator_mul}, {"operator.floordiv", operator_floordiv},
    {"operator.truediv", operator_truediv}, {"operator.mod", operator_mod}, {"operator.lt", operator_lt}, {"operator.le", operator_le}, {"operator.gt", operator_gt},
    {"operator.ge", operator_ge}, {"operator.eq", operator_eq}, {"operator.ne", operator_ne}, {"operator.and_", operator_and_}, {"operator.or_", operator_or_},
    {"operator.xor", operator_xor},
    {"packaging.version.Version", packaging_version}, {"packaging.version.parse", packaging_version},
    {"triton.runtime.driver.active.get_current_target", current_target}, {"triton.cdiv", triton_cdiv}, {"tl.cdiv", triton_cdiv}, {"gl.cdiv", triton_cdiv}, {"triton.next_power_of_2", triton_next_power_of_2},
    {"tl.constexpr", tl_constexpr}, {"gl.constexpr", tl_constexpr}, {"tl.pointer_type", tl_pointer_type}, {"gl.pointer_type", tl_pointer_type},
    {"tl.block_type", tl_block_type}, {"tl.dtype", tl_dtype}, {"tl.tuple", tl_tuple}, {"gl.tuple", tl_tuple}, {"tl.target_info.is_cuda", target_is_cuda},
    {"tl.target_info.is_hip", target_is_hip}, {"tl.target_info.is_hip_cdna3", target_is_hip}, {"tl.target_info.is_hip_cdna4", target_is_hip},
    {"tl.target_info.cuda_capability_geq", target_capability_geq}};

bool comptime_has_function(const char *name) {
  for (size_t i = 0; i < countof(functions); i++)
    if (!strcmp(functions[i].name, name)) return true;
  return false;
}

CtValue *call_module_function(Comptime *ct, const char *name, CtValue *self, const CallArgs *a, bool *known) {
  *known = true;
  bool is_collection = !strcmp(name, "collections.OrderedDict");
  if (is_collection) return call_builtin(ct, NULL, "dict", a);
  for (size_t i = 0; i < countof(functions); i++)
    if (!strcmp(functions[i].name, name)) return functions[i].fn(ct, self, a);
  CtValue *layout = !self && !strncmp(name, "gl.", 3) ? make_layout(ct, name, a) : NULL;
  *known = layout || ct->error;
  return layout;
}
