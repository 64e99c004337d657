// The module math.
#include <math.h>

#include "frontend/comptime/comptime_impl.h"

static CtValue *real_result(Comptime *ct, const CtArgs *a, double x, bool in_domain) {
  return in_domain ? ct_float(ct->ctx, x) : ct_fail(ct, a->span, "ValueError", "math domain error");
}

// REAL(name, value for x, domain), REAL2(name, value for x and y), TEST(name, truth for x)
#define REAL_FUNCTIONS(REAL, REAL2, TEST)                                                                            \
  REAL(sqrt, sqrt(x), x >= 0)                                                                                        \
  REAL(exp, exp(x), true)                                                                                            \
  REAL(exp2, exp2(x), true)                                                                                          \
  REAL(expm1, expm1(x), true)                                                                                        \
  REAL(log2, log2(x), x > 0)                                                                                         \
  REAL(log10, log10(x), x > 0)                                                                                       \
  REAL(log1p, log1p(x), x > -1)                                                                                      \
  REAL(sin, sin(x), true)                                                                                            \
  REAL(cos, cos(x), true)                                                                                            \
  REAL(tan, tan(x), true)                                                                                            \
  REAL(asin, asin(x), fabs(x) <= 1)                                                                                  \
  REAL(acos, acos(x), fabs(x) <= 1)                                                                                  \
  REAL(atan, atan(x), true)                                                                                          \
  REAL(sinh, sinh(x), true)                                                                                          \
  REAL(cosh, cosh(x), true)                                                                                          \
  REAL(tanh, tanh(x), true)                                                                                          \
  REAL(erf, erf(x), true)                                                                                            \
  REAL(erfc, erfc(x), true)                                                                                          \
  REAL(fabs, fabs(x), true)                                                                                          \
  REAL(radians, x * PI / 180, true)                                                                                  \
  REAL(degrees, x * 180 / PI, true)                                                                                  \
  REAL2(pow, pow(x, y))                                                                                              \
  REAL2(fmod, fmod(x, y))                                                                                            \
  REAL2(atan2, atan2(x, y))                                                                                          \
  REAL2(hypot, hypot(x, y))                                                                                          \
  REAL2(copysign, copysign(x, y))                                                                                    \
  TEST(isnan, isnan(x))                                                                                              \
  TEST(isinf, isinf(x))                                                                                              \
  TEST(isfinite, isfinite(x))

static const double PI = 3.14159265358979323846;

#define REAL_FN(name, value, domain)                                                                                 \
  CT_FN(math_##name) {                                                                                               \
    double x;                                                                                                        \
    return ct_number_arg(ct, a, 0, &x) ? real_result(ct, a, value, domain) : NULL;                                   \
  }
#define REAL2_FN(name, value)                                                                                        \
  CT_FN(math_##name) {                                                                                               \
    double x, y;                                                                                                     \
    return ct_number_arg(ct, a, 0, &x) && ct_number_arg(ct, a, 1, &y) ? ct_float(ct->ctx, value) : NULL;             \
  }
#define TEST_FN(name, truth)                                                                                         \
  CT_FN(math_##name) {                                                                                               \
    double x;                                                                                                        \
    return ct_number_arg(ct, a, 0, &x) ? ct_bool(truth) : NULL;                                                      \
  }
REAL_FUNCTIONS(REAL_FN, REAL2_FN, TEST_FN)

CT_FN(math_log) {
  double x, base = 0;
  if (!ct_number_arg(ct, a, 0, &x) || (a->num_args > 1 && !ct_number_arg(ct, a, 1, &base))) return NULL;
  return real_result(ct, a, a->num_args > 1 ? log(x) / log(base) : log(x), x > 0 && base >= 0);
}

static CtValue *to_int(Comptime *ct, const CtArgs *a, double (*round)(double)) {
  double x;
  const CtValue *v = ct_unwrap(a->args[0]);
  if (is_int(v)) return ct_int(ct->ctx, int_of(v));
  if (!ct_number_arg(ct, a, 0, &x)) return NULL;
  return ct_call_builtin(ct, NULL, "int", CT_ARGS(a->span, ct_float(ct->ctx, round(x))));
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
  if (!ct_iterate(ct, a->args[0], a->span, &items)) return NULL;
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

#define ROW(name, ...) {"math." #name, math_##name, 1, 1},
#define ROW2(name, ...) {"math." #name, math_##name, 2, 2},
const CtFnRow ct_math_functions[] = {
    REAL_FUNCTIONS(ROW, ROW2, ROW)
    {"math.log", math_log, 1, 2}, {"math.ceil", math_ceil, 1, 1}, {"math.floor", math_floor, 1, 1},
    {"math.trunc", math_trunc, 1, 1}, {"math.gcd", math_gcd, 0, CT_ANY}, {"math.lcm", math_lcm, 0, CT_ANY},
    {"math.prod", math_prod, 1, 1}, {"math.isqrt", math_isqrt, 1, 1}, {"math.factorial", math_factorial, 1, 1},
    {NULL, NULL, 0, 0}};
