// dot, dot_shared, mma, wgmma. The terms of a floating-point sum are added to the accumulator one by one along k, each with one
// rounding to f32 (f64 for f64). A tensor core's own order of summation is not modelled.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/interp_int.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&               \
    !defined(__SANITIZE_THREAD__)
#define WITH_FMA __attribute__((target_clones("arch=haswell", "default")))
#else
#define WITH_FMA
#endif

// c[i, ·] += Σ_k a[i, k] · b[k, ·]
WITH_FMA static void multiply_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k) {
  for (int64_t i = 0; i < m; i++)
    for (int64_t q = 0; q < k; q++) {
      float x = a[i * k + q];
      for (int64_t j = 0; j < n; j++) c[i * n + j] = __builtin_fmaf(x, b[q * n + j], c[i * n + j]);
    }
}

WITH_FMA static void multiply_f64(const double *a, const double *b, double *c, int64_t m, int64_t n, int64_t k) {
  for (int64_t i = 0; i < m; i++)
    for (int64_t q = 0; q < k; q++)
      for (int64_t j = 0; j < n; j++) c[i * n + j] = __builtin_fma(a[i * k + q], b[q * n + j], c[i * n + j]);
}

static void multiply_i64(const int64_t *a, const int64_t *b, int64_t *c, int64_t m, int64_t n, int64_t k) {
  for (int64_t i = 0; i < m; i++)
    for (int64_t q = 0; q < k; q++)
      for (int64_t j = 0; j < n; j++)
        c[i * n + j] = (int64_t)((uint64_t)c[i * n + j] + (uint64_t)a[i * k + q] * (uint64_t)b[q * n + j]);
}

static void *widen(const Type *elem, const void *in, size_t n, bool f64, bool tf32, bool is_signed) {
  uint32_t bytes = type_elem_bytes(elem), bits = type_elem_bits(elem);
  void *out = interp_malloc(n * 8);
  if (!type_is_float(elem)) {
    for (size_t i = 0; i < n; i++) {
      uint64_t x = element(in, bytes, i);
      ((int64_t *)out)[i] = is_signed ? num_sext(x, bits) : (int64_t)num_zext(x, bits);
    }
    return out;
  }
  NumFormat f = elem->scalar == SC_F32 && tf32 ? NUM_TF32 : scalar_num_format(elem->scalar);
  if (f64)
    for (size_t i = 0; i < n; i++) ((double *)out)[i] = num_decode(f, element(in, bytes, i));
  else if (f == NUM_F32)
    memcpy(out, in, n * sizeof(float));
  else
    for (size_t i = 0; i < n; i++) ((float *)out)[i] = (float)num_decode(f, element(in, bytes, i));
  return out;
}

static void narrow(const Type *elem, const void *wide, void *out, size_t n, bool f64) {
  uint32_t bytes = type_elem_bytes(elem);
  if (!type_is_float(elem)) {
    for (size_t i = 0; i < n; i++) set_element(out, bytes, i, (uint64_t)((const int64_t *)wide)[i]);
    return;
  }
  NumFormat f = scalar_num_format(elem->scalar);
  for (size_t i = 0; i < n; i++)
    set_element(out, bytes, i,
                f64 ? num_encode(f, ((const double *)wide)[i], NUM_RNE, false)
                    : num_encode_f32(f, ((const float *)wide)[i], NUM_RNE, false));
}

// c[M,N] += a[M,K]·b[K,N], dense row-major; elements of the given types.
static void dot_tiles(const Type *a_elem, const void *a, const Type *b_elem, const void *b, const Type *c_elem, void *c,
                      int64_t m, int64_t n, int64_t k, bool tf32, bool is_signed) {
  bool f64 = type_is_scalar(c_elem, SC_F64);
  void *wa = widen(a_elem, a, (size_t)(m * k), f64, tf32, is_signed),
       *wb = widen(b_elem, b, (size_t)(k * n), f64, tf32, is_signed);
  void *wc = widen(c_elem, c, (size_t)(m * n), f64, false, true);
  if (!type_is_float(c_elem)) multiply_i64(wa, wb, wc, m, n, k);
  else if (f64) multiply_f64(wa, wb, wc, m, n, k);
  else multiply_f32(wa, wb, wc, m, n, k);
  narrow(c_elem, wc, c, (size_t)(m * n), f64);
  free(wa);
  free(wb);
  free(wc);
}

// An operand as a dense array: a tensor's own, or a copy of a shared tile, which the caller frees.
static const void *dense(Prog *p, const Op *op, uint32_t i, void **copy) {
  const Type *t = operand_type(op, i);
  *copy = NULL;
  if (t->kind != TYPE_BUFFER) return interp_operand_data(p, op, i);
  *copy = interp_malloc((size_t)type_bytes(t));
  interp_view_read(interp_operand_data(p, op, i), t, *copy);
  return *copy;
}

static bool multiply(Prog *p, Op *op, bool tf32) {
  const Type *at = operand_type(op, 0), *bt = operand_type(op, 1), *ct = op->results[0].type;
  uint32_t r = ct->rank;
  int64_t m = ct->shape[r - 2], n = ct->shape[r - 1], k = at->shape[r - 1], batch = type_numel(ct) / (m * n);
  void *copy_a, *copy_b;
  const char *a = dense(p, op, 0, &copy_a), *b = dense(p, op, 1, &copy_b);
  size_t c_bytes = (size_t)(m * n) * type_elem_bytes(ct);
  const void *init = interp_operand_data(p, op, 2);
  char *c = interp_result_data(p, op, 0);
  if (operand_is_false(p, op, 3)) memset(c, 0, c_bytes * (size_t)batch);
  else if (init != c) memcpy(c, init, c_bytes * (size_t)batch);
  bool is_signed = op_int(op, ATTR_SIGNED, 1) != 0;
  for (int64_t i = 0; i < batch; i++)
    dot_tiles(at->elem, a + i * m * k * type_elem_bytes(at), bt->elem, b + i * k * n * type_elem_bytes(bt), ct->elem,
              c + i * (int64_t)c_bytes, m, n, k, tf32, is_signed);
  free(copy_a);
  free(copy_b);
  return true;
}

bool interp_dot(Prog *p, Op *op) { return multiply(p, op, op_int(op, ATTR_PRECISION, PREC_TF32) == PREC_TF32); }
bool interp_dot_shared(Prog *p, Op *op) { return multiply(p, op, false); }
bool interp_mma(Prog *p, Op *op) { return multiply(p, op, true); }
bool interp_wgmma(Prog *p, Op *op) { return multiply(p, op, true); }

bool interp_wgmma_wait(Prog *p, Op *op) {
  for (uint32_t i = 0; i < op->num_results; i++)
    memcpy(interp_result_data(p, op, i), interp_operand_data(p, op, i), interp_value_bytes(op->results[i].type));
  return true;
}
