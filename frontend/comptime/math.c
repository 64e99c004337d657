// The module math.
#include <math.h>

#include "frontend/comptime/comptime_impl.h"

static CtValue *real_result(Comptime *ct, const CtArgs *a, double x, bool in_domain) {
  return in_domain ? ct_float(ct->ctx, x) : ct_fail(ct, a->span, "ValueError", "math domain error");
}

#define MATH1(name, expr, domain) \
  CT_FN(math_##name) { \
    double x; \
    return ct_number_arg(ct, a, 0, &x) ? real_result(ct, a, (expr), (domain)) : NULL; \
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

#define MATH2(name, expr) \
  CT_FN(math_##name) { \
    double x, y; \
    return ct_number_arg(ct, a, 0, &x) && ct_number_arg(ct, a, 1, &y) ? ct_float(ct->ctx, (expr)) : NULL; \
  }
MATH2(pow, pow(x, y))
MATH2(fmod, fmod(x, y))
MATH2(atan2, atan2(x, y))
MATH2(hypot, hypot(x, y))
MATH2(copysign, copysign(x, y))

#define MATH_TEST(name, expr) \
  CT_FN(math_##name) { \
    double x; \
    return ct_number_arg(ct, a, 0, &x) ? ct_bool(ct->ctx, (expr)) : NULL; \
  }
MATH_TEST(isnan, isnan(x))
MATH_TEST(isinf, isinf(x))
MATH_TEST(isfinite, isfinite(x))

CT_FN(math_log) {
  double x, base = 0;
  if (!ct_number_arg(ct, a, 0, &x) || (a->num_args > 1 && !ct_number_arg(ct, a, 1, &base))) return NULL;
  return real_result(ct, a, a->num_args > 1 ? log(x) / log(base) : log(x), x > 0 && base >= 0);
}

static CtValue *to_int(Comptime *ct, const CtArgs *a, double (*round)(double)) {
  double x;
  if (a->num_args == 1 && is_int(ct_unwrap(a->args[0]))) return ct_int(ct->ctx, int_of(ct_unwrap(a->args[0])));
  if (!ct_number_arg(ct, a, 0, &x)) return NULL;
  CtValue *v = ct_float(ct->ctx, round(x));
  return ct_call_builtin(ct, NULL, "int", &(CtArgs){&v, 1, NULL, 0, a->span});
}
CT_FN(math_ceil) { return to_int(ct, a, ceil); }
CT_FN(math_floor) { return to_int(ct, a, floor); }
CT_FN(math_trunc) { return to_int(ct, a, trunc); }

static Int128 gcd(Int128 x, Int128 y) {
  while (y) {
    Int128 t = x % y;
    x = y;
    y = t;
  }
  return x < 0 ? -x : x;
}

CT_FN(math_gcd) {
  Int128 r = 0, x;
  for (uint32_t i = 0; i < a->num_args; i++) {
    if (!ct_int_arg(ct, a, i, &x)) return NULL;
    r = gcd(r, x);
  }
  return ct_int(ct->ctx, r);
}

CT_FN(math_lcm) {
  Int128 r = 1, x;
  for (uint32_t i = 0; i < a->num_args; i++) {
    if (!ct_int_arg(ct, a, i, &x)) return NULL;
    if (!x) return ct_int(ct->ctx, 0);
    if (__builtin_mul_overflow(r, x / gcd(r, x), &r))
      return ct_fail(ct, a->span, "OverflowError", "integer result does not fit in 128 bits");
  }
  return ct_int(ct->ctx, r < 0 ? -r : r);
}

CT_FN(math_prod) {
  CtList items;
  if (a->num_args != 1 || !ct_iterate(ct, a->args[0], a->span, &items)) return ct->error ? NULL : ct_wrong_args(ct, a);
  CtValue *r = ct_kwarg(a, "start") ? ct_kwarg(a, "start") : ct_int(ct->ctx, 1);
  for (uint32_t i = 0; r && i < items.count; i++) r = ct_binary(ct, PYOP_MUL, r, items.data[i], a->span);
  return r;
}

CT_FN(math_isqrt) {
  Int128 x;
  if (!ct_int_arg(ct, a, 0, &x)) return NULL;
  if (x < 0) return ct_fail(ct, a->span, "ValueError", "isqrt() of a negative number");
  Int128 low = 0, high = (Int128)1 << 63;   // low² <= x < high², as far as 126 bits go
  while (high - low > 1) {
    Int128 mid = low + (high - low) / 2;
    if (mid * mid <= x) low = mid; else high = mid;
  }
  return ct_int(ct->ctx, low);
}

CT_FN(math_factorial) {
  Int128 x, r = 1;
  if (!ct_int_arg(ct, a, 0, &x)) return NULL;
  if (x > 33) return ct_fail(ct, a->span, "OverflowError", "integer result does not fit in 128 bits");
  for (Int128 i = 2; i <= x; i++) r *= i;
  return ct_int(ct->ctx, r);
}

const CtFnRow ct_math_functions[] = {
    {"math.sqrt", math_sqrt}, {"math.exp", math_exp}, {"math.exp2", math_exp2}, {"math.expm1", math_expm1},
    {"math.log", math_log},
    {"math.log2", math_log2}, {"math.log10", math_log10}, {"math.log1p", math_log1p}, {"math.sin", math_sin},
    {"math.cos", math_cos},
    {"math.tan", math_tan}, {"math.asin", math_asin}, {"math.acos", math_acos}, {"math.atan", math_atan},
    {"math.sinh", math_sinh},
    {"math.cosh", math_cosh}, {"math.tanh", math_tanh}, {"math.erf", math_erf}, {"math.erfc", math_erfc},
    {"math.fabs", math_fabs},
    {"math.radians", math_radians}, {"math.degrees", math_degrees}, {"math.pow", math_pow}, {"math.fmod", math_fmod},
    {"math.atan2", math_atan2},
    {"math.hypot", math_hypot}, {"math.copysign", math_copysign}, {"math.isnan", math_isnan},
    {"math.isinf", math_isinf},
    {"math.isfinite", math_isfinite}, {"math.ceil", math_ceil}, {"math.floor", math_floor}, {"math.trunc", math_trunc},
    {"math.gcd", math_gcd},
    {"math.lcm", math_lcm}, {"math.prod", math_prod}, {"math.isqrt", math_isqrt}, {"math.factorial", math_factorial},
    {NULL, NULL}};
