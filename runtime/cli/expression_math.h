// What expression_functions.def names: functions of numbers, and of the numbers along an axis.
#ifndef TILE_RUNTIME_EXPRESSION_MATH_H
#define TILE_RUNTIME_EXPRESSION_MATH_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static inline double reciprocal_root(double x) { return 1 / sqrt(x); }
static inline double squared(double x) { return x * x; }
static inline double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static inline double silu(double x) { return x * sigmoid(x); }
static inline double relu(double x) { return x > 0 ? x : isnan(x) ? x : 0; }
static inline double gelu(double x) { return x / 2 * (1 + erf(x * M_SQRT1_2)); }
static inline double signum(double x) { return isnan(x) ? x : (x > 0) - (x < 0); }
static inline double is_nan(double x) { return isnan(x); }
static inline double is_inf(double x) { return isinf(x) != 0; }
static inline double is_finite(double x) { return isfinite(x) != 0; }
static inline double both(double x, double y) { return x != 0 && y != 0; }
static inline double either(double x, double y) { return x != 0 || y != 0; }
static inline double larger(double x, double y) { return isnan(x) || x > y ? x : y; }
static inline double smaller(double x, double y) { return isnan(x) || x < y ? x : y; }

#define SUM(expression)                                      \
  double total = 0;                                          \
  for (uint64_t i = 0; i < n; i++) total += (expression)

static inline double sum_of(const double *v, uint64_t n) {
  SUM(v[i]);
  return total;
}
static inline double mean_of(const double *v, uint64_t n) { return sum_of(v, n) / (double)n; }
static inline double variance_of(const double *v, uint64_t n) {
  const double mean = mean_of(v, n);
  SUM((v[i] - mean) * (v[i] - mean));
  return total / (double)n;
}
static inline double deviation_of(const double *v, uint64_t n) { return sqrt(variance_of(v, n)); }
static inline double product_of(const double *v, uint64_t n) {
  double total = 1;
  for (uint64_t i = 0; i < n; i++) total *= v[i];
  return total;
}
// A NaN wins, as in NumPy.
static inline uint64_t place(const double *v, uint64_t n, double sign) {
  uint64_t best = 0;
  for (uint64_t i = 1; i < n && !isnan(v[best]); i++)
    if (isnan(v[i]) || sign * v[i] > sign * v[best]) best = i;
  return best;
}
static inline double place_of_largest(const double *v, uint64_t n) { return (double)place(v, n, 1); }
static inline double place_of_smallest(const double *v, uint64_t n) { return (double)place(v, n, -1); }
static inline double largest_of(const double *v, uint64_t n) { return n ? v[place(v, n, 1)] : -INFINITY; }
static inline double smallest_of(const double *v, uint64_t n) { return n ? v[place(v, n, -1)] : INFINITY; }
static inline double any_of(const double *v, uint64_t n) {
  SUM(v[i] != 0);
  return total > 0;
}
static inline double all_of(const double *v, uint64_t n) {
  SUM(v[i] != 0);
  return total == (double)n;
}
static inline double log_sum_exp(const double *v, uint64_t n) {
  const double most = largest_of(v, n), shift = isfinite(most) ? most : 0;
  SUM(exp(v[i] - shift));
  return log(total) + shift;
}

static inline void log_softmax(double *v, uint64_t n) {
  const double all = log_sum_exp(v, n);
  for (uint64_t i = 0; i < n; i++) v[i] -= all;
}
static inline void softmax(double *v, uint64_t n) {
  const double most = largest_of(v, n);
  for (uint64_t i = 0; i < n; i++) v[i] = exp(v[i] - most);
  const double all = sum_of(v, n);
  for (uint64_t i = 0; i < n; i++) v[i] /= all;
}
static inline void running_sum(double *v, uint64_t n) {
  for (uint64_t i = 1; i < n; i++) v[i] += v[i - 1];
}
static inline void running_product(double *v, uint64_t n) {
  for (uint64_t i = 1; i < n; i++) v[i] *= v[i - 1];
}
static inline void flipped(double *v, uint64_t n) {
  for (uint64_t i = 0; i < n / 2; i++) {
    const double x = v[i];
    v[i] = v[n - 1 - i], v[n - 1 - i] = x;
  }
}
static inline int by_size(const void *a, const void *b) {   // NaNs last
  const double x = *(const double *)a, y = *(const double *)b;
  if (isnan(x) || isnan(y)) return !!isnan(x) - !!isnan(y);
  return (x > y) - (x < y);
}
static inline void sorted(double *v, uint64_t n) { qsort(v, n, sizeof *v, by_size); }
typedef struct { double value, place; } Placed;
static inline int by_size_and_place(const void *a, const void *b) {
  const Placed *x = a, *y = b;
  const int order = by_size(&x->value, &y->value);
  return order ? order : (x->place > y->place) - (x->place < y->place);
}
static inline void places_of_sorted(double *v, uint64_t n) {
  Placed *all = malloc(n * sizeof *all);
  for (uint64_t i = 0; all && i < n; i++) all[i] = (Placed){v[i], (double)i};
  if (all) qsort(all, n, sizeof *all, by_size_and_place);
  for (uint64_t i = 0; i < n; i++) v[i] = all ? all[i].place : NAN;
  free(all);
}
#undef SUM

// Python's operators. Of whole numbers, those of bits are those of 64-bit integers.
static inline double op_add(double x, double y) { return x + y; }
static inline double op_sub(double x, double y) { return x - y; }
static inline double op_mul(double x, double y) { return x * y; }
static inline double op_div(double x, double y) { return x / y; }
static inline double op_floordiv(double x, double y) { return floor(x / y); }
static inline double op_mod(double x, double y) { return x - y * floor(x / y); }
// As a 64-bit integer; beyond its range the nearest one, and 0 for a NaN.
static inline int64_t whole(double x) {
  if (isnan(x)) return 0;
  return x >= 0x1p63 ? INT64_MAX : x < -0x1p63 ? INT64_MIN : (int64_t)x;
}
static inline double op_and(double x, double y) { return (double)(whole(x) & whole(y)); }
static inline double op_or(double x, double y) { return (double)(whole(x) | whole(y)); }
static inline double op_xor(double x, double y) { return (double)(whole(x) ^ whole(y)); }
static inline double op_lshift(double x, double y) { return (double)(int64_t)((uint64_t)whole(x) << (whole(y) & 63)); }
static inline double op_rshift(double x, double y) { return (double)(whole(x) >> (whole(y) & 63)); }
static inline double op_eq(double x, double y) { return x == y; }
static inline double op_ne(double x, double y) { return x != y; }
static inline double op_lt(double x, double y) { return x < y; }
static inline double op_le(double x, double y) { return x <= y; }
static inline double op_gt(double x, double y) { return x > y; }
static inline double op_ge(double x, double y) { return x >= y; }
static inline double op_neg(double x) { return -x; }
static inline double op_pos(double x) { return x; }
static inline double op_not(double x) { return x == 0; }
static inline double op_invert(double x) { return (double)~whole(x); }

#endif
